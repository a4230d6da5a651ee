"""What the subcommands print with: plain text, and colour where `rich` is installed and a person reads."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from pytocu import config
from pytocu.errors import PytocuError, closest


class CommandError(PytocuError):
    """The command line asks for something that does not exist; the text says what does."""


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name most like the one that was written, capital letters aside, as ``: did you mean X?``, or nothing.

    Examples
    --------
    >>> nearest("infer-type", ["fold", "infer-types"])
    ': did you mean infer-types?'
    >>> nearest("qqq", ["fold"])
    ''
    """
    close = closest(name, known, 0.5, capitals=False)
    return f": did you mean {close}?" if close else ""


def suggestion(name: str, known: Iterable[str], otherwise: str = "choose from") -> str:
    """The nearest known name, or all of them where none is like it.

    Examples
    --------
    >>> suggestion("gpu", ["cpu", "cuda"])
    ': did you mean cpu?'
    >>> suggestion("7", ["cpu", "cuda"])
    ': choose from cpu, cuda'
    """
    known = list(known)
    return nearest(name, known) or f": {otherwise} {', '.join(known) or 'none'}"


_PATTERNS: dict[str, tuple[tuple[str, str], ...]] = {
    "ir": (
        (r"%\w+", "cyan"),
        (r"@\w+", "bold"),
        (r"\b(?:weak (?:bool|int|float|complex)|(?:[fiu]|c)\d+|bool|index|ptr)\b", "green"),
        (r"\b(?:func|loop|host|facts|for|if|while|return|yield|const)\b", "magenta"),
        (r"#.*", "bright_black"),
    ),
    "cuda": (
        (r"\b(?:extern|const|for|if|else|while|return|unsigned|__\w+)\b", "magenta"),
        (r"\b(?:void|float|double|bool|char|short|int|long)\b", "green"),
        (r"//.*", "bright_black"),
    ),
    "llvm": (
        (r"%[\w.]+", "cyan"),
        (r"@[\w.]+", "bold"),
        (r"\b(?:i\d+|float|double|ptr|void)\b", "green"),
        (r"\b(?:define|declare|br|ret|phi|load|store|call|switch|select)\b", "magenta"),
        (r";.*", "bright_black"),
    ),
    "asm": ((r"^[\w.$]+:", "bold"), (r"%\w+", "cyan"), (r"#.*", "bright_black"), (r"^\s+\.\w+", "bright_black")),
    "plan": ((r"^(?:plan|steps|kernels)\b.*", "bold"), (r"\b(?:allocate|check|launch|return|raise)\b", "magenta")),
    "diff": ((r"^-.*", "red"), (r"^\+.*", "green"), (r"^(?:---|\+\+\+).*", "bright_black")),
    "ptx": (
        (r"%[\w.]+", "cyan"),
        (r"^\s*\.\w+", "bright_black"),
        (r"^\s+(?:@%\w+ )?[a-z][\w.]+", "magenta"),
        (r"//.*", "bright_black"),
    ),
    "header": ((r".+", "bold yellow"),),
    "plain": (),
}
"""Colours of each kind of text: a regular expression and a style of `rich`; later ones win."""


def show(text: str, kind: str = "plain") -> None:
    """Print a text, coloured where a person reads it.

    Parameters
    ----------
    text : str
        As it is written where nobody colours it.
    kind : str
        ``ir``, ``plan``, ``diff``, ``cuda``, ``llvm``, ``ptx``, ``asm``, ``header`` or ``plain``.
    """
    if not sys.stdout.isatty() or not _PATTERNS[kind]:
        print(text)
        return
    try:
        from rich.console import Console
        from rich.text import Text
    except ImportError:
        print(text)
        return
    coloured = Text(text)
    for pattern, style in _PATTERNS[kind]:
        for match in re.finditer(pattern, text, re.MULTILINE):
            coloured.stylize(style, *match.span())
    # Code is read as it is: lines that the terminal would break are left to the terminal.
    Console().print(coloured, soft_wrap=True)


def show_rich(told: Any) -> None:
    """Print what has a form of its own for `rich`, plainly where nobody reads or `rich` is not there."""
    if sys.stdout.isatty():
        try:
            from rich.console import Console
        except ImportError:
            pass
        else:
            Console().print(told, soft_wrap=True)
            return
    print(told)


def fail(message: str) -> None:
    """Print what went wrong, to the error stream."""
    print(f"pytocu: {message}", file=sys.stderr)


def debugging() -> bool:
    """Whether errors are shown with pytocu's own frames."""
    return config.enabled("debug")


def table(rows: Iterable[tuple[str, str]], indent: str = "  ") -> str:
    """Two columns, the second one aligned.

    Examples
    --------
    >>> print(table([("a", "1"), ("long", "2")]))
      a     1
      long  2
    """
    rows = list(rows)
    width = max((len(left) for left, _ in rows), default=0)
    return "\n".join(f"{indent}{left:<{width}}  {right}".rstrip() for left, right in rows)


@contextmanager
def progress(total: int, what: str) -> Iterator[Callable[[int], None]]:
    """Shows on the error stream how many are done, once it takes longer than a person waits without asking."""
    if sys.stderr.isatty():
        try:
            from rich.console import Console
            from rich.progress import Progress
        except ImportError:
            pass
        else:
            with Progress(console=Console(stderr=True), transient=True) as bar:
                task = bar.add_task(what, total=total)
                yield lambda done: bar.update(task, completed=done)
            return
    last = time.monotonic()

    def advance(done: int) -> None:
        nonlocal last
        if time.monotonic() - last >= 2:
            last = time.monotonic()
            print(f"{what} {done} of {total}", file=sys.stderr, flush=True)

    yield advance
