"""The page of the docs about Python's names of pytocu, written from their docstrings.

``python -m pytocu.testing.reference --write docs/api.md``; a test holds that the page is up to date.
"""

from __future__ import annotations

import argparse
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytocu
from pytocu.backend.cubin import Resources
from pytocu.driver import Compiled, KernelInfo, Lowered
from pytocu.elementwise import VectorizedFunction
from pytocu.explain.model import Explanation
from pytocu.record import Record
from pytocu.runtime.bundle import Bundle, BundledFunction
from pytocu.runtime.dispatcher import Specialization

_HEAD = """# The Python interface

Every public name of `pytocu`, and what its functions return. Other names may change, unless a page of the docs imports
them; what is promised of these is in [versions and deprecation](policy.md). The commands have `--help`, and the variables
of the environment are in [start](start.md).

This page is written by `python -m pytocu.testing.reference --write docs/api.md` from the docstrings.
"""

_ERRORS = """## Errors

`except` clauses for Python's and NumPy's own classes catch these too: see [errors](errors.md).

"""

FUNCTIONS = (pytocu.jit, pytocu.vectorize, pytocu.load, pytocu.stream, pytocu.synchronize, pytocu.check)
"""Functions of the package."""

CLASSES: dict[type, tuple[str, ...]] = {
    pytocu.JitFunction: ("lower", "explain", "precompile", "specializations"),
    VectorizedFunction: (),
    Lowered: ("ir", "history", "kernels", "compile"),
    Compiled: (),
    KernelInfo: (),
    Resources: (),
    Specialization: (),
    Explanation: (),
    Bundle: (),
    BundledFunction: (),
}
"""Classes of what they return, with the methods and properties that are listed apart from the attributes."""

ERRORS = tuple(
    value for name in pytocu.__all__ if isinstance(value := getattr(pytocu, name), type) and issubclass(value, Exception)
)
"""Exceptions and warnings, by name."""


class Part(Record):
    """A section of a docstring: its heading, empty for the text in front, and its text."""

    heading: str
    text: str


def parts(docstring: str) -> tuple[Part, ...]:
    """The sections of a docstring in NumPy's style.

    Examples
    --------
    >>> [(p.heading, p.text) for p in parts("One.\\n\\nReturns\\n-------\\nint\\n    Two.")]
    [('', 'One.'), ('Returns', 'int\\n    Two.')]
    """
    pieces = re.split(r"^(\w+)\n-{3,}\n", inspect.cleandoc(docstring), flags=re.MULTILINE)
    headings = ["", *pieces[1::2]]
    return tuple(Part(h, t.strip("\n")) for h, t in zip(headings, pieces[::2], strict=True))


def entries(text: str) -> Iterator[tuple[str, str, str]]:
    """The names, the type and the text of each entry of a section.

    Examples
    --------
    >>> list(entries("*args, **kwargs\\n    Types.\\nn : int, optional"))
    [('*args, **kwargs', '', 'Types.'), ('n', 'int, optional', '')]
    """
    for piece in re.split(r"\n(?=\S)", text):
        first, _, rest = piece.partition("\n")
        names, _, kind = first.partition(" : ")
        yield names, kind, " ".join(rest.split())


def named(text: str) -> set[str]:
    """The names that the entries of a section describe."""
    return {name.strip().lstrip("*") for names, _, _ in entries(text) for name in names.split(",")}


def _sentence(text: str) -> str:
    """Text of a docstring as Markdown: what it refers to is its name, and stars are stars."""
    code = re.sub(r":\w+:`(?:~[\w.]*\.)?([\w.]+)`", r"`\1`", text).replace("``", "`")
    return re.sub(r"`.*?`|\*", lambda match: match[0] if len(match[0]) > 1 else "\\*", code)


def _names(names: str) -> str:
    return ", ".join(f"`{name.strip()}`" for name in names.split(","))


def _section(part: Part, results: bool) -> Iterator[str]:
    yield f"**{part.heading}**\n\n"
    for names, kind, text in entries(part.text):
        if results and not kind:
            # The type of a result, or an exception, has no name.
            yield f"* {_sentence(names)}{': ' * bool(text)}{_sentence(text)}\n"
        else:
            about = ". ".join(filter(None, (_sentence(kind), _sentence(text))))
            yield f"* {_names(names)}{': ' * bool(about)}{about}\n"
    yield "\n"


def _described(docstring: str) -> Iterator[str]:
    for part in parts(docstring):
        if part.heading == "Examples":
            yield "".join(f"```python\n{block.strip(chr(10))}\n\n```\n\n" for block in part.text.split("\n\n") if block)
        elif part.heading:
            yield from _section(part, part.heading in ("Returns", "Raises", "Yields", "Warns"))
        else:
            yield f"{_sentence(part.text)}\n\n"


def signature(value: Any) -> str:
    """The parameters without their types.

    Examples
    --------
    >>> signature(pytocu.check), signature(pytocu.load)
    ('()', '(folder)')
    """
    found = inspect.signature(value)
    kept = [p.replace(annotation=p.empty) for p in found.parameters.values() if p.name != "self"]
    return str(found.replace(parameters=kept, return_annotation=found.empty))


def _member(owner: type, name: str) -> Iterator[str]:
    value = inspect.getattr_static(owner, name)
    call = "" if isinstance(value, property) else signature(value)
    yield f"### `{owner.__name__}.{name}{call}`\n\n"
    yield from _described(value.__doc__ or "")


def page() -> str:
    """The page."""
    made = [_HEAD, "\n## Functions\n\n"]
    for function in FUNCTIONS:
        made.append(f"### `pytocu.{function.__name__}{signature(function)}`\n\n")
        made.extend(_described(function.__doc__ or ""))
    made.append("## What they return\n\n")
    for owner, members in CLASSES.items():
        public = getattr(pytocu, owner.__name__, None) is owner
        made.append(f"### `{'pytocu.' * public}{owner.__name__}`\n\n")
        made.extend(_described(owner.__doc__ or ""))
        for name in members:
            made.extend(_member(owner, name))
    made.append(_ERRORS)
    for error in ERRORS:
        bases = ", ".join(f"`{base.__name__}`" for base in error.__bases__)
        made.append(f"### `pytocu.{error.__name__}`\n\nA {bases}. ")
        made.extend(_described(error.__doc__ or ""))
    return "".join(made).rstrip("\n") + "\n"


def main() -> int:
    """Print the page, or write it."""
    parser = argparse.ArgumentParser(prog="python -m pytocu.testing.reference", description=main.__doc__)
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the page there")
    target = parser.parse_args().write
    if target is None:
        sys.stdout.write(page())
    else:
        target.write_text(page(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
