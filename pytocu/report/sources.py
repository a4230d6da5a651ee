"""The lines of Python that a function was made of: its own, and those of the functions that were inlined."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterable

from pytocu.errors import Loc
from pytocu.record import Record


class SourceLine(Record):
    """A line of a file; `text` is None where lines are left out."""

    file: str
    line: int
    text: str | None


def source_lines(places: Iterable[Loc]) -> tuple[SourceLine, ...]:
    """The lines of all functions that the places are in, file by file in order of first sight.

    A file that cannot be parsed as a whole (a notebook's magic commands) shows the lines from the first place to the last.
    """
    wanted: dict[str, set[int]] = {}
    for place in places:
        for loc in place.chain():
            if loc.line:
                wanted.setdefault(loc.file, set()).add(loc.line)
    return tuple(line for file, lines in wanted.items() for line in _of_file(file, lines))


def _of_file(file: str, wanted: set[int]) -> list[SourceLine]:
    texts = linecache.getlines(file)
    shown = sorted({n for span in _spans(texts, wanted) for n in range(span[0], span[1] + 1) if n <= len(texts)})
    found: list[SourceLine] = []
    for before, number in zip([0, *shown], shown, strict=False):
        if before and number != before + 1:
            found.append(SourceLine(file, 0, None))
        found.append(SourceLine(file, number, texts[number - 1].rstrip("\n").expandtabs(1)))
    return found


def _spans(texts: list[str], wanted: set[int]) -> set[tuple[int, int]]:
    """First and last line of each function that a line is in."""
    try:
        tree = ast.parse("".join(texts))
    except SyntaxError:
        return {(min(wanted), max(wanted))}
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.Lambda)]
    spans: list[tuple[int, int]] = []
    for node in functions:
        decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
        first = min((d.lineno for d in decorators), default=node.lineno)
        spans.append((first, node.end_lineno or node.lineno))
    return {
        min((s for s in spans if s[0] <= line <= s[1]), key=lambda s: s[1] - s[0], default=(line, line)) for line in wanted
    }


def expression(loc: Loc) -> str:
    """The text of the expression at a place, on one line.

    Where the end is not known, or on another line, the text goes to the end of the line.
    """
    text = linecache.getline(loc.file, loc.line).rstrip("\n").expandtabs(1)
    end = loc.end_column - 1 if loc.end_column > loc.column else len(text)
    return text[max(loc.column - 1, 0) : end].strip()
