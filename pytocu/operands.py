"""Where the operands of an expression stand in the source, and where their names come from.

Read from the text when an error is shown, so that nothing is kept for it while all is well.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Sequence

from pytocu.errors import Loc, Note


def operand_notes(loc: Loc, described: Sequence[str]) -> tuple[Note, ...]:
    """What each operand of the expression at a place is, with its span and its origin.

    Parameters
    ----------
    loc : Loc
        Of the expression.
    described : sequence of str
        What each operand is, in order, as ``f32[n, 3]``; empty for what is not told.

    Returns
    -------
    tuple of Note
        None where the text cannot be taken apart into as many operands.
    """
    line = linecache.getline(loc.file, loc.line)
    if not line or loc.end_column <= loc.column:
        return ()
    text = line[loc.column - 1 : loc.end_column - 1]
    nodes = operands(text)
    if len(nodes) != len(described):
        nodes = operands(text, outputs=True)
    if len(nodes) != len(described):
        return ()
    notes: list[Note] = []
    for node, what in zip(nodes, described, strict=True):
        if not what:
            continue
        first, last = (_columns(text, offset) for offset in (node.col_offset, node.end_col_offset or 0))
        span = Loc(loc.file, loc.line, loc.column + first, loc.column + last, loc.function)
        name = node.id if isinstance(node, ast.Name) else ""
        notes.append(Note(span, f"{what}{origin(loc, name)}"))
    return tuple(notes)


def operands(text: str, outputs: bool = False) -> list[ast.expr]:
    """The operands of an expression, or of an assignment with an operator; none where it is no such thing.

    With `outputs` also what a call is given as ``out=``.

    Examples
    --------
    >>> [ast.unparse(node) for node in operands("np.add(x, y[0], out=z)", outputs=True)]
    ['x', 'y[0]', 'z']
    """
    try:
        (statement,) = ast.parse(text).body
    except (SyntaxError, ValueError):
        return []
    match statement:
        case ast.AugAssign(target, _, value):
            return [target, value]
        case ast.Expr(ast.BinOp(left, _, right)) | ast.Expr(ast.Compare(left, _, [right])):
            return [left, right]
        case ast.Expr(ast.UnaryOp(_, operand)):
            return [operand]
        case ast.Expr(ast.Call(_, args, keywords)):
            return [*args, *(k.value for k in keywords if outputs and k.arg == "out")]
    return []


def _columns(text: str, offset: int) -> int:
    """Characters before an offset in bytes, which is how Python counts."""
    return len(text.encode()[:offset].decode(errors="ignore"))


def origin(loc: Loc, name: str) -> str:
    """Where a name of a function got its value, as text; without the line where that cannot be told.

    Examples
    --------
    >>> origin(Loc("no such file", 3), "x")
    ' from `x`'
    """
    if not name:
        return ""
    line = _origin_line(loc, name)
    if line is None:
        return f" from `{name}`"
    return f" from `{name}`, line {line}"


def _origin_line(loc: Loc, name: str) -> int | None:
    """The line of the last assignment before a place, else of the parameter."""
    lines = linecache.getlines(loc.file)
    try:
        tree = ast.parse("".join(lines))
    except (SyntaxError, ValueError):
        # A cell of a notebook, or a lambda cut out of its line.
        return None
    inside = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.Lambda) and node.lineno <= loc.line <= (node.end_lineno or 0)
    ]
    if not inside:
        return None
    function = max(inside, key=lambda node: (node.lineno, node.col_offset))
    assigned = [
        node.lineno
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store) and node.lineno < loc.line
    ]
    if assigned:
        return max(assigned)
    arguments = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    return next((a.lineno for a in arguments if a.arg == name), None)
