"""Where the operands of an expression stand in the source, and where their names come from.

Read from the text when an error is shown, so that nothing is kept for it while all is well.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable, Sequence

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
    # What is changed in place is an operand and the output: it is told of once.
    told = {ast.dump(node): what for node, what in reversed([*zip(nodes, described, strict=True)])}
    unlike = [node for n, node in enumerate(nodes) if ast.dump(node) not in {ast.dump(before) for before in nodes[:n]}]
    return _notes(loc, text, loc.column, unlike, [told[ast.dump(node)] for node in unlike])


def output_notes(loc: Loc, described: str) -> tuple[Note, ...]:
    """What the array is into which the expression at a place writes; none where it is not named there."""
    line = linecache.getline(loc.file, loc.line)
    text = line[loc.column - 1 : max(loc.end_column - 1, 0)]
    nodes = operands(text, outputs=True)[len(operands(text)) :]
    return _notes(loc, text, loc.column, nodes, [described]) if len(nodes) == 1 else ()


def array_notes(loc: Loc, described: Sequence[str]) -> tuple[Note, ...]:
    """As :func:`operand_notes` of a call, an operator or an index, of which the first operands are told.

    An array whose method is called, or that is indexed, is the first one; a list of arrays is as many.
    """
    line = linecache.getline(loc.file, loc.line)
    if not line or loc.end_column <= loc.column:
        return ()
    text = line[loc.column - 1 : loc.end_column - 1]
    nodes = array_operands(text, lambda name: _origin_line(loc, name) is not None)
    return _notes(loc, text, loc.column, nodes, described) if len(nodes) >= len(described) else ()


def assignment_notes(loc: Loc, target: str, value: str) -> tuple[Note, ...]:
    """What the target at a place is, and what is assigned to it."""
    line = linecache.getline(loc.file, loc.line).rstrip("\n")
    text = line[loc.column - 1 :]
    try:
        (statement,) = ast.parse(text).body
    except (SyntaxError, ValueError):
        return ()
    match statement:
        case ast.Assign([place], given) if place.end_col_offset == len(line[loc.column - 1 : loc.end_column - 1].encode()):
            return _notes(loc, text, loc.column, [place, given], [target, value])
    return ()


def _notes(loc: Loc, text: str, column: int, nodes: Sequence[ast.expr], described: Sequence[str]) -> tuple[Note, ...]:
    notes: list[Note] = []
    for node, what in zip(nodes, described, strict=False):
        if not what:
            continue
        first, last = (_columns(text, offset) for offset in (node.col_offset, node.end_col_offset or 0))
        span = Loc(loc.file, loc.line, column + first, column + last, loc.function)
        name = node.id if isinstance(node, ast.Name) else ""
        notes.append(Note(span, f"{what}{origin(loc, name)}"))
    return tuple(notes)


def operands(text: str, outputs: bool = False) -> list[ast.expr]:
    """The operands of an expression, or of an assignment with an operator; none where it is no such thing.

    With `outputs` also what a call is given as ``out=``, or what is assigned to.

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
            return [target, value, *([target] if outputs else [])]
        case ast.Expr(ast.BinOp(left, _, right)) | ast.Expr(ast.Compare(left, _, [right])):
            return [left, right]
        case ast.Expr(ast.UnaryOp(_, operand)):
            return [operand]
        case ast.Expr(ast.Call(_, args, keywords)):
            return [*args, *(k.value for k in keywords if outputs and k.arg == "out")]
    return []


def array_operands(text: str, is_value: Callable[[str], bool]) -> list[ast.expr]:
    """The operands of an expression that may be arrays, with the array whose method is called.

    Parameters
    ----------
    text : str
    is_value : callable
        Whether a name is one of the function's own, not that of a module.

    Examples
    --------
    >>> found = array_operands("np.concatenate([x, y[0]], axis=1)", lambda name: name != "np")
    >>> [ast.unparse(node) for node in found]
    ['x', 'y[0]']
    >>> [ast.unparse(node) for node in array_operands("x.T.dot(y)", lambda name: name != "np")]
    ['x.T', 'y']
    """
    try:
        (statement,) = ast.parse(text).body
    except (SyntaxError, ValueError):
        return []
    match statement:
        case ast.Expr(ast.Call(function, args)):
            nodes = [part for arg in args for part in (arg.elts if isinstance(arg, ast.List | ast.Tuple) else [arg])]
            nodes = [n for n in nodes if not isinstance(n, ast.Constant)]
            if isinstance(function, ast.Attribute) and _is_value(function.value, is_value):
                nodes.insert(0, function.value)
            return nodes
        case ast.Expr(ast.Subscript(base, index)):
            return [base, *(index.elts if isinstance(index, ast.Tuple) else [index])]
    return operands(text)


def _is_value(node: ast.expr, is_value: Callable[[str], bool]) -> bool:
    while isinstance(node, ast.Attribute):
        node = node.value
    return not isinstance(node, ast.Name) or is_value(node.id)


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
