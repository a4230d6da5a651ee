"""A ``while`` that counts to a bound, as a ``for``: ``while j < n: ...; j += 1`` is ``for j in range(j, n): ...; j += 1``.

What is known of loops with numbered steps, as that one is a sweep, is then known of it.  Nothing of the body is changed: a
``for`` binds the name anew in each step, to what it holds already.  What it holds behind the last step is said once more, so
that no step has to hand it on.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import Any

from pytocu.errors import CompileError
from pytocu.frontend.expressions import evaluate
from pytocu.frontend.frames import Frame
from pytocu.frontend.values import is_array
from pytocu.ir.core import Value
from pytocu.ir.types import WEAK_INT

_OPPOSITE = {ast.Lt: ast.Gt, ast.Gt: ast.Lt, ast.LtE: ast.GtE, ast.GtE: ast.LtE}


def as_for(frame: Frame, node: ast.While) -> tuple[ast.stmt, ast.For] | None:
    """The loop as a ``for``, and what stands before it, if it is known to count."""
    counted = _counter(node)
    if counted is None or frame.context.elements is not None:
        return None
    name, comparison, bound = counted
    step = _step_of(node.body, name)
    up = comparison in (ast.Lt, ast.LtE)
    if step is None or (step > 0) is not up or _is_elsewhere(frame, {name, *_names(bound)}):
        return None
    stored = {n.id for s in node.body for n in ast.walk(s) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    if stored & {*_names(bound)} or not is_of_lengths(frame, bound) or not _is_int(frame, ast.Name(name, ast.Load())):
        return None
    past: ast.expr = bound
    if comparison in (ast.LtE, ast.GtE):
        past = ast.BinOp(bound, ast.Add() if up else ast.Sub(), ast.Constant(1))
    begin = f"the first number in line {node.lineno}, column {node.col_offset}"
    first = ast.Assign([ast.Name(begin, ast.Store())], ast.Name(name, ast.Load()))
    numbers = lambda: _call(range, ast.Name(begin, ast.Load()), past, ast.Constant(step))  # noqa: E731
    last = ast.BinOp(ast.Constant(step), ast.Mult(), _call(len, numbers()))
    end = ast.Assign([ast.Name(name, ast.Store())], ast.BinOp(ast.Name(begin, ast.Load()), ast.Add(), last))
    # Behind a break the name holds what it does there.
    orelse = node.orelse if any(_leaves(s, ast.Break) for s in node.body) else [end, *node.orelse]
    loop = ast.For(ast.Name(name, ast.Store()), numbers(), node.body, orelse)
    ast.copy_location(loop, node)
    for part in (loop.target, *ast.walk(first), *ast.walk(loop.iter), *ast.walk(end)):
        if not hasattr(part, "lineno"):
            ast.copy_location(part, node.test)
    return first, loop


def _call(function: Any, *args: ast.expr) -> ast.Call:
    return ast.Call(ast.Constant(function), [*args], [])


def _counter(node: ast.While) -> tuple[str, type[ast.cmpop], ast.expr] | None:
    """The name that is compared with a bound, and how."""
    match node.test:
        case ast.Compare(left=ast.Name(id=name), ops=[op], comparators=[bound]) if type(op) in _OPPOSITE:
            if _step_of(node.body, name) is not None:
                return name, type(op), bound
    match node.test:
        case ast.Compare(left=bound, ops=[op], comparators=[ast.Name(id=name)]) if type(op) in _OPPOSITE:
            return name, _OPPOSITE[type(op)], bound
    return None


def _step_of(body: Sequence[ast.stmt], name: str) -> int | None:
    """By how much each step changes the name, where that is known: once, and no other way leads to the next step."""
    found: int | None = None
    for statement in body:
        step = _added(statement, name)
        if step is not None and found is None:
            found = step
        elif any(_binds(part, name) for part in ast.walk(statement)) or (found is None and _leaves(statement, ast.Continue)):
            return None
    return found


def _added(statement: ast.stmt, name: str) -> int | None:
    match statement:
        case ast.AugAssign(target=ast.Name(id=target), op=op, value=ast.Constant(value=int(step))) if target == name:
            pass
        case ast.Assign(
            targets=[ast.Name(id=target)],
            value=ast.BinOp(left=ast.Name(id=left), op=op, right=ast.Constant(value=int(step))),
        ) if target == left == name:
            pass
        case ast.Assign(
            targets=[ast.Name(id=target)],
            value=ast.BinOp(left=ast.Constant(value=int(step)), op=ast.Add() as op, right=ast.Name(id=right)),
        ) if target == right == name:
            pass
        case _:
            return None
    if type(step) is not int or step <= 0 or not isinstance(op, ast.Add | ast.Sub):
        return None
    return step if isinstance(op, ast.Add) else -step


def _binds(part: ast.AST, name: str) -> bool:
    match part:
        case ast.Name(id=found, ctx=ast.Store() | ast.Del()):
            return found == name
        case ast.FunctionDef(name=found) | ast.ClassDef(name=found) | ast.ExceptHandler(name=found):
            return found == name
        case ast.Attribute(ctx=ast.Store()) | ast.MatchAs() | ast.MatchStar() | ast.MatchMapping():
            # x.shape = ... says how long something is; a pattern binds names that are no nodes.
            return True
    return False


def _leaves(statement: ast.stmt, how: type[ast.stmt]) -> bool:
    """Whether there is a ``continue`` or ``break`` of the loop in it."""
    if isinstance(statement, how):
        return True
    if isinstance(statement, ast.For | ast.While):
        return any(_leaves(inner, how) for inner in statement.orelse)
    inner = (child for child in ast.iter_child_nodes(statement) if not isinstance(statement, ast.FunctionDef | ast.ClassDef))
    return any(_leaves(child, how) for child in _statements(inner))


def _statements(nodes: Iterator[ast.AST]) -> Iterator[ast.stmt]:
    for node in nodes:
        if isinstance(node, ast.stmt):
            yield node
        elif isinstance(node, ast.ExceptHandler | ast.match_case):
            yield from node.body


def _names(bound: ast.expr) -> Iterator[str]:
    return (part.id for part in ast.walk(bound) if isinstance(part, ast.Name))


def _is_elsewhere(frame: Frame, names: set[str]) -> bool:
    """Whether functions may bind a name of another function anew."""
    node = frame.scope.node
    while frame.parent is not None:
        frame = frame.parent
        node = frame.scope.node or node
    declared = (part for part in ast.walk(node) if isinstance(part, ast.Nonlocal | ast.Global)) if node is not None else ()
    return node is None or any(names & {*part.names} for part in declared)


def is_of_lengths(frame: Frame, bound: ast.expr) -> bool:
    """Whether an expression is one of Python's ints and of lengths of arrays, none of which changes where no name is bound."""
    match bound:
        case ast.Constant(value=value):
            return type(value) is int
        case ast.Name():
            return _is_int(frame, bound)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return is_of_lengths(frame, operand)
        case ast.BinOp(left=left, op=ast.Add() | ast.Sub() | ast.Mult() | ast.FloorDiv(), right=right):
            return is_of_lengths(frame, left) and is_of_lengths(frame, right)
        case ast.Call(func=ast.Name() as function, args=[ast.Name() as array], keywords=[]):
            return _value(frame, function) is len and is_array(_value(frame, array))
        case ast.Attribute(value=ast.Name() as array, attr=attribute) if attribute in ("size", "ndim"):
            return is_array(_value(frame, array))
        case ast.Subscript(value=ast.Attribute(value=ast.Name() as array, attr="shape"), slice=place):
            return is_array(_value(frame, array)) and is_of_lengths(frame, place)
    return False


def _is_int(frame: Frame, name: ast.Name) -> bool:
    value = _value(frame, name)
    return type(value) is int or (isinstance(value, Value) and value.type == WEAK_INT)


def _value(frame: Frame, name: ast.Name) -> Any:
    """What a name holds; None where nobody knows that now."""
    try:
        with frame.context.builder.nested():
            return evaluate(frame, ast.copy_location(ast.Name(name.id, ast.Load()), name))
    except CompileError:
        return None


__all__ = ["as_for", "is_of_lengths"]
