"""Python's ``max``, ``min``, ``sorted``, ``any`` and ``all`` where members are known only at run time: the programs they are.

What is compared is a number or a tuple of numbers, so a comparison chooses between values of one kind, as ``a if c else b``
does.  Lists whose length a run decides are gone over by a loop, and sorted by the order that NumPy finds.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pytocu.deferred import Deferred
from pytocu.errors import UnsupportedError
from pytocu.frontend.flags import both, either
from pytocu.frontend.frames import Failing, Frame, Raised
from pytocu.frontend.operators import attempt, binary, truth, truths
from pytocu.frontend.pieces import run_piece
from pytocu.frontend.raising import refuse_if
from pytocu.frontend.reading import read_bool, scalar_of
from pytocu.frontend.values import Generated, Grown, as_value, contains_dynamic, decides, dimensions, flattened
from pytocu.ir.core import Value
from pytocu.ir.dims import empty_sentence
from pytocu.ir.types import WeakType, element

_reduce = Deferred("pytocu.frontend.reductions", "reduce")
_comprehension = Deferred("pytocu.frontend.grown", "comprehension")

_BEST = """
found = self[0]
top = key(found)
for member in self[1:]:
    rank = key(member)
    more = rank {after} top
    found = member if more else found
    top = rank if more else top
"""

_BEST_OF_SOME = """
if len(self) == 0:
    {none}
else:
    found = self[0]
    top = key(found)
    for k in range(1, len(self)):
        rank = key(self[k])
        if rank {after} top:
            found = self[k]
            top = rank
"""

_OF_FLOATS = """
if len(self) == 0:
    {none}
else:
    found = self[0] if isnan(self[0]) else self[place(where(isnan(self), last, self))]
"""

_ANY = """
found = False
for member in self:
    if member:
        found = True
        break
"""

_ALL = """
found = True
for member in self:
    if not member:
        found = False
        break
"""

_LISTED = "found = [member for member in self]"

_MOST = 32
"""How many members known only at run time ``sorted`` puts in order by exchanging neighbours."""

_NOTHING: Any = object()


def extreme_by_key(
    frame: Frame, function: Callable[..., Any], values: Any, key: Any = None, default: Any = _NOTHING
) -> Any:
    """``max`` or ``min`` of what is gone over, by what `key` gives, or a default where there is nothing.

    Raises
    ------
    ValueError
        There is nothing and no default.
    """
    text = empty_sentence(f"{function.__name__}()")
    given = {"key": key, "default": default, "text": text}
    after = "<" if function is min else ">"
    if not isinstance(values, Sequence):
        none = "raise ValueError(text)" if default is _NOTHING else "found = default"
        if isinstance(values, Value) and element(values.type).kind == "f" and key is None:
            return run_piece(
                frame, _OF_FLOATS.format(none=none), self=values, isnan=np.isnan, where=np.where,
                place=np.argmin if function is min else np.argmax, last=np.inf if function is min else -np.inf, **given,
            )  # fmt: skip
        self = values if isinstance(values, Grown | Value) else listed(frame, values)
        return _by_key(frame, _BEST_OF_SOME.format(after=after, none=none), self, given)
    if not values:
        return default if default is not _NOTHING else run_piece(frame, "raise ValueError(text)", text=text)
    return _by_key(frame, _BEST.format(after=after), list(values), given)


def _by_key(frame: Frame, source: str, self: Any, given: dict[str, Any]) -> Any:
    if given["key"] is None:
        source = source.replace("key(found)", "found").replace("key(self[k])", "self[k]").replace("key(member)", "member")
    return run_piece(frame, source, self=self, **given)


def listed(frame: Frame, values: Any) -> Any:
    """A list of what a generator or a range of run time gives."""
    if isinstance(values, Generated):
        node = ast.ListComp(values.node.elt, values.node.generators)
        ast.copy_location(node, values.node)
        return _comprehension(values.frame, node, values.steps)
    return run_piece(frame, _LISTED, self=values)


# Truth.


def any_of(frame: Frame, members: Sequence[Any], function: Callable[..., Any]) -> Any:
    """``any`` or ``all`` of members that are there already, of which only a scalar has a truth that a run decides."""
    context = frame.context
    join = either if function is any else both
    use = "a | b, or np.logical_or(a, b)" if function is any else "a & b, or np.logical_and(a, b)"
    found: Any = function is all
    data: Any = None
    for member in members:
        if not decides(member):
            known = truth(context, member, f"{function.__name__}()", f"use {use}")
            if known is (function is any):
                # What comes behind it nobody asks.
                found = known
                data = None
                break
        elif isinstance(member.type, WeakType):
            found = join(context, found, member if member.type.kind == "bool" else binary(context, "not_equal", member, 0))
        else:
            one = truths(context, scalar_of(context, member, "bool"))
            data = one if data is None else join(context, data, one)
    return found if data is None else join(context, found, read_bool(context, data))


def any_long(frame: Frame, values: Any, function: Callable[..., Any]) -> Any:
    """``any`` or ``all`` of an array, a list or a range whose length is known only at run time."""
    context = frame.context
    if isinstance(values, Value) and len(dimensions(values)) == 1:
        row = "logical_or" if function is any else "logical_and"
        return read_bool(context, _reduce(context, row, truths(context, values), 0))
    return run_piece(frame, _ANY if function is any else _ALL, self=values)


# Order.


def sort_known(frame: Frame, members: Sequence[Any], /, *, key: Any = None, reverse: Any = False) -> list[Any]:
    """The members of a list of known length in order, by exchanges of neighbours.

    Raises
    ------
    UnsupportedError
        There are many. A run is refused in which one of them, or what `key` gives of it, is NaN: where Python puts the others
        then depends on how it sorts.
    """
    context = frame.context
    ranks = [member if key is None else context.hooks.call(frame, key, (member,), {}) for member in members]
    if not contains_dynamic(ranks):
        order = attempt(context, sorted, range(len(ranks)), key=ranks.__getitem__, reverse=reverse)
        return [members[place] for place in order]
    if len(members) > _MOST:
        text = f"sorting more than {_MOST} members of a tuple or list that are known only at run time is not compiled"
        raise UnsupportedError(text, context.loc, "sort an array of them: np.sort(np.array(...))")
    for rank in ranks:
        refuse_unordered(frame, rank)
    source = _EXCHANGED if key is None else _EXCHANGED + _RANKS
    source = source.format(after=">" if reverse else "<")
    made, ranks = list(members), ranks if key is not None else None
    for end in range(1, len(made)):
        for place in range(end, 0, -1):
            given = {"a": made[place - 1], "b": made[place]}
            order = {"p": given["a"], "q": given["b"]} if ranks is None else {"p": ranks[place - 1], "q": ranks[place]}
            made[place - 1], made[place], *others = run_piece(frame, source, **given, **order)
            if ranks is not None:
                ranks[place - 1], ranks[place] = others
    return made


_EXCHANGED = """
less = q {after} p
found = (b if less else a, a if less else b)
"""

_RANKS = "found = (*found, q if less else p, p if less else q)\n"


def refuse_unordered(frame: Frame, value: Any) -> None:
    """Let a run be refused in which a number, or one in a tuple, is NaN."""
    context = frame.context
    value = flattened(value)
    for member in value if isinstance(value, tuple | list) else (value,):
        if isinstance(member, Value) and not dimensions(member) and _kind(member) == "f":
            ordered = as_value(context, binary(context, "equal", member, member))
            text, help = "what is sorted holds NaN", "sort an array of it: np.sort(np.array(...))"
            failing = Failing("UnsupportedError", text, context.loc, (), (help,))
            refuse_if(context, ordered, False, Raised(UnsupportedError(text, context.loc, help), failing))


def _kind(value: Value) -> str:
    return value.type.kind[0] if isinstance(value.type, WeakType) else element(value.type).kind


__all__ = [
    "any_long", "any_of", "extreme_by_key", "listed", "refuse_unordered", "sort_known",
]  # fmt: skip
