"""Pieces of the user's source by their places."""

from __future__ import annotations

import ast
import inspect
import linecache
from collections.abc import Sequence

import numpy as np

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


_DTYPE_AT = {
    "zeros": 1,
    "ones": 1,
    "empty": 1,
    "identity": 1,
    "array": 1,
    "asarray": 1,
    "full": 2,
    "arange": 3,
    "eye": 3,
    "astype": 0,
}
"""Where functions that are called with a dtype take it, by position."""


def dtype_text(text: str) -> str:
    """The dtype that a call is given; empty where it is given none.

    Examples
    --------
    >>> dtype_text("np.zeros(n, x.dtype)"), dtype_text("x.sum(dtype=float)"), dtype_text("np.zeros(n)")
    ('x.dtype', 'float', '')
    """
    call = _expression(text)
    if not isinstance(call, ast.Call):
        return ""
    found = next((k.value for k in call.keywords if k.arg == "dtype"), None)
    at = _DTYPE_AT.get(call.func.attr) if isinstance(call.func, ast.Attribute) else None
    if found is None and at is not None and len(call.args) > at:
        found = call.args[at]
    return "" if found is None else ast.get_source_segment(text.strip(), found) or ""


def takes_dtype(name: str) -> bool:
    """Whether a function or method of NumPy can be given a dtype.

    Examples
    --------
    >>> takes_dtype("mean"), takes_dtype("interp")
    (True, False)
    """
    function = getattr(np, name, None)
    if isinstance(function, np.ufunc):
        return True
    try:
        return "dtype" in inspect.signature(function).parameters if callable(function) else False
    except ValueError:
        # Written in C, without a signature.
        return name in _DTYPE_AT


def is_choice(text: str) -> bool:
    """Whether a text is an expression that chooses one of two.

    Examples
    --------
    >>> is_choice("x if y else z"), is_choice("x > 3")
    (True, False)
    """
    return isinstance(_expression(text), ast.IfExp)


def is_primary(text: str) -> bool:
    """Whether an attribute can follow an expression as it is written.

    Examples
    --------
    >>> is_primary("x[1:]"), is_primary("f(x)"), is_primary("x + y")
    (True, True, False)
    """
    return isinstance(_expression(text), ast.Name | ast.Attribute | ast.Subscript | ast.Call)


def _expression(text: str) -> ast.expr | None:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return None


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
