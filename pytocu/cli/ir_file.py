"""``FILE.ir``: IR as text, as ``pytocu dump`` prints it, to the function it states."""

from __future__ import annotations

import linecache

from pytocu.cli.load import existing
from pytocu.cli.terminal import CommandError
from pytocu.errors import CompileError
from pytocu.ir.core import Function
from pytocu.ir.parser import parse_function

ENDING = ".ir"


def is_ir(place: str) -> bool:
    """Whether a place is a file of IR and not a function of a Python file."""
    return place.endswith(ENDING)


def read_ir(place: str) -> Function:
    """The function in a file.

    Raises
    ------
    CommandError
        No such file, or text that is no IR; with the line.
    """
    path = existing(place)
    try:
        text = path.read_text()
    except UnicodeDecodeError:
        raise CommandError(f"{place!r} is no text: IR is what pytocu dump prints") from None
    except OSError as error:
        raise CommandError(f"{place!r} cannot be read: {error.strerror or error}") from None
    if not text.strip():
        raise CommandError(f"{place!r} is empty: it should hold a function as pytocu dump prints it")
    # What the message shows of the line is what was read, whatever happens to the file.
    linecache.cache[place] = (len(text), None, text.splitlines(keepends=True), place)
    try:
        return parse_function(text, place)
    except CompileError as error:
        raise CommandError(str(error)) from None
