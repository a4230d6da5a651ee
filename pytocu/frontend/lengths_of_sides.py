"""Arrays whose lengths a side of a branch finds out, as ``x = x[x > 0]``.

Such a side hands on as many elements as there can be, and how many of them there are; the host cuts them off behind the branch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pytocu.frontend.ranges import bound_count, new_name
from pytocu.frontend.reshaping import filled
from pytocu.frontend.values import Context, Masked, as_value, dim_value
from pytocu.ir import regions
from pytocu.ir.core import Value, named
from pytocu.ir.dims import DimLike, ends_of, greatest
from pytocu.ir.types import ArrayType, scalar

if TYPE_CHECKING:
    from pytocu.frontend.merging import Merge, Side


class Handed:
    """An array that two sides hand on.

    Attributes
    ----------
    pairs : list of pairs of Value
        Of both sides: the elements, and behind them any others up to a common length; how many are the array's.
    array : Value
        The array behind the branch, once it was read.
    """

    array: Value

    def __init__(
        self, context: Context, pairs: list[tuple[Value, Value]], given: tuple[Value, Value], room: tuple[DimLike, ...]
    ):
        self.context, self.pairs, self._given, self._room = context, pairs, given, room

    def read(self, results: Sequence[Value], name: str) -> tuple[Value, tuple[Value, Value], set[Value]]:
        """Read the array of what the branch gives for the pairs; it, those of the sides, and the memories that it may be in."""
        builder = self.context.builder
        whole, count = results
        length = bound_count(self.context, count, new_name(self.context, "length"))
        most, *rest = self._room
        self.context.most[str(length)] = most
        zeros, ones = (0,) * len(self._room), (1,) * len(self._room)
        part = builder.emit("slice", (whole,), {"start": zeros, "step": ones, "size": (length, *rest)})
        self.array = builder.emit("copy", (part,), name=name)
        return self.array, self._given, {memory for array in self._given for memory in builder.memories(array)}


def handed_on(merge: Merge, sides: Sequence[Side], arrays: tuple[Value, Value]) -> Handed | None:
    """What the sides hand on of arrays of which a length is known in one of them only; None where they differ in more."""
    context = merge.context
    if context.elements is not None:
        return None
    first, second = (regions.bare(array.type) for array in arrays)
    assert isinstance(first, ArrayType)
    assert isinstance(second, ArrayType)
    if not first.shape or not second.shape:
        return None
    rest = first.shape[1:]
    if first.dtype is not second.dtype or rest != second.shape[1:] or named(rest) & merge.inner:
        return None
    limits = [(name, most + 1, False) for name, most in context.most.items() if name in merge.inner]
    ends = [end for type in (first, second) for end in ends_of(type.shape[0], limits) or (None,)]
    if None in ends or named(tuple(ends)) & merge.inner:
        return None
    room = greatest([end for end in ends if end is not None])
    whole: list[Value] = []
    counts: list[Value] = []
    for side, array, type in zip(sides, arrays, (first, second), strict=True):
        with _behind(merge, side):
            counts.append(as_value(context, dim_value(context, type.shape[0])))
            whole.append(context.builder.contents(array))
            if type.shape[0] != room:
                zero = context.builder.const(0, scalar(type.dtype))
                others = filled(context, zero, (room - type.shape[0], *rest), blank=True)
                whole[-1] = context.builder.emit("concatenate", (whole[-1], others), {"axis": 0})
    return Handed(context, [(whole[0], whole[1]), (counts[0], counts[1])], arrays, (room, *rest))


def array_in_side(merge: Merge, side: Side, value: Value | Masked) -> Value:
    """The array that a value is at the end of a side, whose elements a mask may choose."""
    if isinstance(value, Value):
        return value
    if value.elements is not None:
        return value.elements
    key = id(side), id(value)
    if key not in merge.compacted:
        with _behind(merge, side):
            merge.compacted[key] = merge.context.hooks.compact(merge.context, value)
    return merge.compacted[key]


@contextmanager
def _behind(merge: Merge, side: Side) -> Iterator[None]:
    """Write at the end of a side, where memories hold what they do there; what is found out there is known nowhere else."""
    context, before = merge.context, len(side.insts)
    known = context.compacted, context.read
    now = context.builder.state()
    context.compacted, context.read = [], []
    context.builder.go_back(side.state.storage)
    try:
        with context.builder.behind(side.insts):
            yield
    finally:
        side.state.storage = context.builder.state()
        context.builder.go_back(now)
        context.compacted, context.read = known
        merge.note(side.insts[before:])
