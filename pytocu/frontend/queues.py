"""``collections.deque``: a list of which is noted that it is a queue, with the methods of one.

Where it grows in loops of run time it becomes a `Counted` as any list does, whose first member may be taken as well.
"""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

from pytocu.deferred import Deferred
from pytocu.errors import MissingAttributeError, UnsupportedError, raised
from pytocu.frontend.calls import call
from pytocu.frontend.frames import Frame
from pytocu.frontend.operators import attempt
from pytocu.frontend.values import Context, Generated, Grown, GrownMethod, Steps, contains_dynamic, is_array
from pytocu.ir.core import Value
from pytocu.ir.types import WEAK_INT

_ask = Deferred("pytocu.frontend.counted", "ask")
_iterate = Deferred("pytocu.frontend.builtin_calls", "iterate")
_list_of = Deferred("pytocu.frontend.builtin_calls", "list_of")
_listed = Deferred("pytocu.frontend.ordering", "listed")
_run_piece = Deferred("pytocu.frontend.pieces", "run_piece")

_METHODS = ("append", "appendleft", "clear", "count", "extend", "index", "insert", "pop", "popleft", "remove", "reverse")
"""What is compiled of a queue."""


class Queue(NamedTuple):
    """That a list is a queue, which holds no more than so many members."""

    most: int | Value | None


def make(frame: Frame, iterable: Any = (), maxlen: Any = None) -> Any:
    """``collections.deque``.

    Raises
    ------
    UnsupportedError
        How many members it may hold is known only at run time, and it is begun with some.
    """
    context = frame.context
    most = maxlen if isinstance(maxlen, Value) else None
    if most is not None and most.type == WEAK_INT:
        if not isinstance(iterable, list | tuple) or iterable:
            text = "a deque that is begun with members and whose maxlen is known only at run time is not compiled"
            raise UnsupportedError(text, context.loc, "append the members one by one")
        _run_piece(frame, 'if most < 0:\n    raise ValueError("maxlen must be non-negative")', most=most)
        empty: list[Any] = []
        context.queues[id(empty)] = empty, Queue(most)
        return empty
    attempt(context, deque, (), maxlen)
    queue = Queue(maxlen)
    long = is_array(iterable) and contains_dynamic(iterable)
    if isinstance(iterable, Steps | Generated | Grown) or long:
        grown = iterable if isinstance(iterable, Grown) else _listed(frame, iterable)
        made = _list_of(frame, grown) if isinstance(iterable, Grown) else grown
        if isinstance(made, Grown) and maxlen is None:
            made.queue = queue
            return made
        if isinstance(made, Grown):
            text = "a deque of as many members as a run decides that has a maxlen is not compiled"
            raise UnsupportedError(text, context.loc, "append the members one by one")
        iterable = made
    members = list(_iterate(frame, iterable, "deque()"))
    members = members[len(members) - maxlen :] if isinstance(maxlen, int) and len(members) > maxlen else members
    context.queues[id(members)] = members, queue
    return members


def noted(context: Context, held: Any) -> Queue | None:
    """That a list is a queue, if it is one."""
    if isinstance(held, Grown):
        return held.queue
    return context.queues[id(held)][1] if id(held) in context.queues else None


def method(context: Context, held: list[Any], name: str) -> GrownMethod:
    """A method of a queue whose members are written out."""
    refuse_others(context, name)
    return GrownMethod(held, name)


def refuse_others(context: Context, name: str) -> None:
    """Refuse what no queue has, or what is not compiled of it."""
    if name in _METHODS:
        return
    if not hasattr(deque, name):
        raise MissingAttributeError(f"'collections.deque' object has no attribute '{name}'", context.loc)
    raise UnsupportedError(f"deque.{name} is not compiled", context.loc, "use append, appendleft, pop and popleft")


def call_method(frame: Frame, held: list[Any], name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call a method of a queue whose members are written out."""
    context = frame.context
    queue = noted(context, held)
    assert queue is not None
    if name in ("extend", "insert") and queue.most is not None:
        text = f"deque.{name} of one that has a maxlen is not compiled"
        raise UnsupportedError(text, context.loc, "append one by one")
    if name not in ("count", "index") and any(id(held) in one.known for one in context.growing):
        # How many members it has a run decides.
        _ask(context, held, [*held, *args] if name.startswith("append") else held)
        text = "a deque that a loop changes is not compiled here"
        raise UnsupportedError(text, context.loc, "use an array and two positions")
    if name in ("pop", "popleft"):
        attempt(context, getattr(deque([0]), name), *args, **kwargs)
        if not held:
            raise raised(IndexError("pop from an empty deque"), context.loc)
        return call(frame, held.pop, (0,) if name == "popleft" else (), {})
    if name not in ("append", "appendleft"):
        return call(frame, getattr(held, name), args, kwargs)
    attempt(context, getattr(deque(), name), *(None for _ in args), **kwargs)
    if isinstance(queue.most, Value):
        text = f"deque.{name} outside of a loop, of one whose maxlen is known only at run time, is not compiled"
        raise UnsupportedError(text, context.loc, "append in a loop: for x in values: d.append(x)")
    if queue.most == 0:
        return None
    if queue.most == len(held):
        call(frame, held.pop, (0,) if name == "append" else (), {})
    return call(frame, held.append, args, {}) if name == "append" else call(frame, held.insert, (0, *args), {})


__all__ = ["Queue", "call_method", "make", "method", "noted", "refuse_others"]
