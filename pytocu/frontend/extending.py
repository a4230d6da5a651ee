"""Lists whose length a run decides that a line makes longer by several members, and the ends of queues.

``extend`` and ``+=`` take what is gone over for the rows that they append; how many these are at most, the lists say.
``name = name + [...]`` of a list that has no other name is ``+=``, since nobody sees that it is another object, and
``name = [...] + name`` puts the members in front.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from pytocu.deferred import Deferred
from pytocu.errors import UnsupportedError
from pytocu.frontend.counted import append, as_mixed, ask, ask_grown, begin_here, make_room, pop, refuse_full, settled
from pytocu.frontend.expressions import elements, evaluate
from pytocu.frontend.frames import Frame
from pytocu.frontend.grown import length_of, member_of, put_all, rows_of, unlike
from pytocu.frontend.grown_members import same_held
from pytocu.frontend.list_kinds import put_all_marks
from pytocu.frontend.operators import binary, is_queue
from pytocu.frontend.ordering import listed
from pytocu.frontend.pieces import run_piece
from pytocu.frontend.state import State
from pytocu.frontend.values import Counted, Generated, Grown, Masked, Steps, as_value, dimensions, is_array
from pytocu.ir.core import Value
from pytocu.ir.types import WEAK_INT

_insert = Deferred("pytocu.frontend.list_methods", "insert")
_iterate = Deferred("pytocu.frontend.builtin_calls", "iterate")


def extend(frame: Frame, held: list[Any] | Grown, values: Any, what: str) -> None:
    """``list.extend``, or ``+=``, of a list that need not be such a one yet."""
    context = frame.context
    if isinstance(values, Masked):
        values = as_value(context, values)
    if isinstance(held, Counted):
        _extend(frame, held, values)
        return
    if isinstance(held, Grown):
        ask_grown(context, held)
    elif not _is_gone_over(values):
        held.extend(_iterate(frame, values, what))
        return
    else:
        before = State(frame)
        with context.builder.nested():
            sample = member_of(frame, values if isinstance(values, Grown) else listed(frame, values), 0, True)
        # What made it is not in the program, nor is its memory.
        before.go_back()
        ask(context, held, [sample])
        counted = begin_here(frame, held, sample)
        if counted is not None:
            _extend(frame, counted, values)
            return
    text = f"{what} makes a list longer by as many members as are known only at run time"
    raise UnsupportedError(text, context.loc, "use a loop that appends them one by one")


def alone_in(frame: Frame, name: str, node: ast.BinOp) -> list[Any] | Grown | None:
    """The list of a name to which other values are added, if that is the first or last of them and has no other name."""
    left: ast.expr = node
    while isinstance(left, ast.BinOp) and isinstance(left.op, ast.Add):
        left = left.left
    ends = (left, node.right if isinstance(node.left, ast.List) else None)
    if not any(isinstance(end, ast.Name) and end.id == name for end in ends) or frame.context.elements is not None:
        return None
    held = frame.locals.get(name)
    if not isinstance(held, list | Grown) or is_queue(frame.context, held):
        return None
    state = State(frame)
    return held if state.is_own(held) and state.has_names_alone(held, 1) else None


_IN_FRONT = """
size = len(self)
self += values
for place in range(size - 1, -1, -1):
    self[place + count] = self[place]
for place in range(count):
    self[place] = values[place]
"""


def with_members(frame: Frame, held: list[Any] | Grown, node: ast.BinOp) -> Any:
    """What is in a name behind ``name = name + a + b`` or ``name = [...] + name``: `held` itself where lists are added."""
    context = frame.context
    if isinstance(node.left, ast.List):
        values = elements(frame, node.left.elts)
        run_piece(
            frame, _IN_FRONT if len(values) != 1 else "self.insert(0, *values)", self=held, values=values, count=len(values)
        )
        return held
    parts: list[ast.BinOp] = []
    left: ast.expr = node
    while isinstance(left, ast.BinOp):
        parts.insert(0, left)
        left = left.left
    values = [evaluate(frame, part.right) for part in parts]
    added = all(isinstance(value, list | Grown) and not is_queue(context, value) for value in values)
    result: Any = held
    for part, value in zip(parts, values, strict=True):
        context.builder.loc = frame.loc(part)
        if not added:
            result = binary(context, "add", result, value)
        elif isinstance(held, Grown) or isinstance(value, Grown):
            extend(frame, held, value, "+")
        else:
            held.extend(value)
    return result


def _is_gone_over(values: Any) -> bool:
    """Whether a loop of run time goes over something."""
    long = is_array(values) and bool(dimensions(values)) and not isinstance(dimensions(values)[0], int)
    return long or isinstance(values, Steps | Generated | Grown)


def _extend(frame: Frame, counted: Counted, values: Any) -> None:
    context = frame.context
    if counted.queue is not None and counted.queue.most is not None:
        raise UnsupportedError("deque.extend of one that has a maxlen is not compiled", context.loc, "append one by one")
    values = listed(frame, values) if _is_gone_over(values) and not isinstance(values, Grown) else values
    if isinstance(values, Grown):
        if values.type != counted.type or not same_held(values.inner, counted.inner) or _words_differ(values, counted):
            raise unlike(context, counted.name, [counted.type, values.type])
        as_mixed(context, counted, values)
        if values.ints or values.type == WEAK_INT:
            context.shortened.add((counted.kinds, "ints"))
        # How many a list has is known later than how many it has room for.
        most = dimensions(values.rows)[0]
        # It may be the list itself.
        values = settled(context, values) if isinstance(values, Counted) else values
        rows = context.builder.emit("copy", (rows_of(context, values),))
        make_room(context, counted, most)
        place = binary(context, "add", counted.begin, counted.length)
        end = binary(context, "add", place, length_of(context, values))
        if (context.loc, 0) in counted.watched:
            refuse_full(context, counted, binary(context, "subtract", end, 1))
        put_all(frame, counted.rows, slice(place, end), rows, counted.name)
        put_all_marks(frame, counted, slice(place, end), values)
        counted.length = binary(context, "subtract", end, counted.begin)
        return
    for number, value in enumerate(list(_iterate(frame, values, "list.extend()"))):
        append(frame, counted, value, number)


def _words_differ(one: Grown, other: Grown) -> bool:
    """Whether rows of words stand for tuples of other numbers."""
    return one.inner is not None and (one.inner.columns, one.inner.form) != (other.inner.columns, other.inner.form)


def _append(frame: Frame, counted: Counted, value: Any, /) -> None:
    most = None if counted.queue is None else counted.queue.most
    if most != 0:
        append(frame, counted, value)
    if isinstance(most, Value) or most:
        run_piece(frame, "if len(self) > most:\n    self.popleft()", self=counted, most=most)


_APPEND_LEFT = """
if most > 0:
    if len(self) >= most:
        self.pop()
    self.insert(0, value)
"""


def _append_left(frame: Frame, counted: Counted, value: Any, /) -> None:
    most = None if counted.queue is None else counted.queue.most
    if most is None:
        _insert(frame, counted, 0, value)
    elif most != 0:
        # What is inserted is appended first, which would take away the first member.
        run_piece(frame, _APPEND_LEFT, self=counted, most=most, value=value)


def _pop_left(frame: Frame, counted: Counted) -> Any:
    return pop(frame, counted, 0)


def methods() -> dict[str, Callable[..., Any]]:
    """By their names; those of queues hold no more members than these may."""
    return {"append": _append, "extend": _extend, "appendleft": _append_left, "popleft": _pop_left}


__all__ = ["alone_in", "extend", "methods", "with_members"]
