"""Lists that the steps of a ``for`` make longer or shorter while it goes over them: ``for u in order: order.append(v)``.

Python goes on while there is a member at the place of the step.  So where a list whose length a run decides is changed, the
function is read again with the loop as ``while place < len(order): u = order[place]; place += 1; ...``.
"""

from __future__ import annotations

import ast
from typing import Any

from pytocu.errors import UnsupportedError
from pytocu.frontend.frames import Frame
from pytocu.frontend.state import holder
from pytocu.frontend.storage import HandOn
from pytocu.frontend.values import Counted

_ITERATORS = ("enumerate", "zip", "reversed", "map", "filter", "iter")


def names_over(node: ast.For) -> list[str]:
    """The names of what a loop goes over where it stands, and not of copies."""
    match node.iter:
        case ast.Name(id=name):
            return [name]
        case ast.Call(func=ast.Name(id=function), args=args) if function in _ITERATORS:
            return [arg.id for arg in args if isinstance(arg, ast.Name)]
    return []


def lengths(frame: Frame, names: list[str]) -> dict[str, Any]:
    """The lengths of those that are lists of which a run decides how long they are."""
    found: dict[str, Any] = {}
    for name in names:
        owner = holder(frame, name)
        value = None if owner is None else owner.locals.get(name)
        if isinstance(value, Counted):
            found[name] = value, value.length
    return found


def refuse_changed(frame: Frame, node: ast.For, before: dict[str, Any]) -> None:
    """Behind a step: let the function be read again where it made a list longer or shorter.

    Raises
    ------
    UnsupportedError
        The loop goes over an iterator of the list, or binds its name to another one.
    """
    now = lengths(frame, list(before))
    same = lambda a, b: a is b or (type(a) is int and a == b)  # noqa: E731
    changed = [n for n, (one, length) in before.items() if n in now and now[n][0] is one and not same(now[n][1], length)]
    if not changed:
        return
    bound = {n.id for s in node.body for n in ast.walk(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    if isinstance(node.iter, ast.Name) and changed[0] not in bound:
        raise HandOn(_key(frame, node))
    text = f"the list {changed[0]} gets longer or shorter in the steps of a loop that goes over it"
    help = f"go over a copy, list({changed[0]}), or write while i < len({changed[0]}): ...; i += 1"
    raise UnsupportedError(text, frame.loc(node), help)


def _key(frame: Frame, node: ast.For) -> tuple[Any, ...]:
    return "gone over", frame.loc(node)


def by_place(frame: Frame, node: ast.For) -> list[ast.stmt] | None:
    """The loop as a ``while`` with what stands before it, if it was found to change what it goes over."""
    if _key(frame, node) not in frame.context.handed:
        return None
    place = f"the place in line {node.lineno}, column {node.col_offset}"
    here = lambda: ast.Name(place, ast.Load())  # noqa: E731
    length_of: Any = len
    length = ast.Call(ast.Constant(length_of), [node.iter], [])
    statements: list[ast.stmt] = [
        ast.Assign([ast.Name(place, ast.Store())], ast.Constant(0)),
        ast.While(
            ast.Compare(here(), [ast.Lt()], [length]),
            [
                ast.Assign([node.target], ast.Subscript(node.iter, here(), ast.Load())),
                ast.AugAssign(ast.Name(place, ast.Store()), ast.Add(), ast.Constant(1)),
                *node.body,
            ],
            node.orelse,
        ),
    ]
    for statement in statements:
        for part in ast.walk(statement):
            if not hasattr(part, "lineno"):
                ast.copy_location(part, node)
    ast.copy_location(statements[1], node)
    return statements
