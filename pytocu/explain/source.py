"""Pieces of the user's source by their places."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Sequence

from pytocu.errors import Loc
from pytocu.explain.model import SourceLine


def line_of(loc: Loc) -> SourceLine:
    """The line of a place, without its indentation."""
    return SourceLine(loc.file, loc.line, linecache.getline(loc.file, loc.line).strip())


def indented(places: Sequence[tuple[str, int, str]]) -> tuple[SourceLine, ...]:
    """The lines at places (file, line, function), as deep as they stand below the least indented one of their function."""
    depth: dict[tuple[str, str], int] = {}
    texts = [linecache.getline(file, line).rstrip().expandtabs() for file, line, _ in places]
    for (file, _, function), text in zip(places, texts, strict=True):
        own = len(text) - len(text.lstrip())
        depth[file, function] = min(depth.get((file, function), own), own)
    lines = (SourceLine(f, n, text[depth[f, g] :]) for (f, n, g), text in zip(places, texts, strict=True))
    return tuple(dict.fromkeys(lines))


def segment(loc: Loc) -> str:
    """The text between the columns of a place; its line where they are not known, and a dot line where it goes on."""
    line = linecache.getline(loc.file, loc.line).rstrip("\n")
    text = line[loc.column - 1 : loc.end_column - 1] if loc.end_column > loc.column else line.strip()
    if not text.startswith(_STATEMENTS) and not _is_whole(text):
        # The end is on another line.
        text = line[max(loc.column - 1, 0) :].strip()
        text = text if _is_whole(text) else f"{text} …"
    return text


_STATEMENTS = ("for ", "while ", "if ", "elif ", "with ", "def ", "else", "return", "@")


def _is_whole(text: str) -> bool:
    try:
        return bool(ast.parse(text.strip()).body)
    except (SyntaxError, ValueError):
        return False


def operand_texts(text: str) -> tuple[str, ...]:
    """The operands of an expression or of an assignment with an operator.

    Examples
    --------
    >>> operand_texts("x * np.sqrt(2)"), operand_texts("np.add(a, 1)"), operand_texts("y += C")
    (('x', 'np.sqrt(2)'), ('a', '1'), ('y', 'C'))
    """
    try:
        (statement,) = ast.parse(text).body
    except (SyntaxError, ValueError):
        return ()
    match statement:
        case ast.AugAssign(target, _, value):
            nodes = [target, value]
        case ast.Expr(value) | ast.Assign(value=value) | ast.Return(value=value):
            nodes = _operands(value)
        case _:
            nodes = []
    return tuple(ast.get_source_segment(text, node) or "" for node in nodes)


def _operands(node: ast.expr | None) -> list[ast.expr]:
    match node:
        case ast.BinOp(left, _, right):
            return [left, right]
        case ast.Compare(left, _, [right]):
            return [left, right]
        case ast.UnaryOp(_, operand):
            return [operand]
        case ast.Call(ast.Attribute(value, _), args) if not (isinstance(value, ast.Name) and value.id in ("np", "numpy")):
            return [value, *args]
        case ast.Call(_, args):
            return list(args)
    return []
