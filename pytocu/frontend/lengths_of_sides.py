"""Arrays whose lengths a side of a branch finds out, as ``x = x[x > 0]``.

Such a side hands on as many elements as there can be, and how many of them there are; the host cuts them off behind the branch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pytocu.deferred import Deferred
from pytocu.errors import UnsupportedError
from pytocu.frontend.aliases import mark_shared
from pytocu.frontend.layouts import is_row_major
from pytocu.frontend.length_bounds import at_most
from pytocu.frontend.lengths_of_steps import Change, Changing, Part, behind_loop, carried
from pytocu.frontend.list_forms import LEAVE_BEFORE, OfGrown, holding, in_parts
from pytocu.frontend.merging import at_end
from pytocu.frontend.values import Context, Counted, Grown, Masked
from pytocu.ir import regions
from pytocu.ir.core import Value, named
from pytocu.ir.dims import DimLike, greatest
from pytocu.ir.types import ArrayType, Type

if TYPE_CHECKING:
    from pytocu.frontend.merging import Merge, Side

_of_members = Deferred("pytocu.frontend.list_kinds", "of_members")
_settled = Deferred("pytocu.frontend.counted", "settled")


class Handed:
    """An array that two sides hand on.

    Attributes
    ----------
    pairs : list of pairs of Value
        Of both sides: as many elements as there can be, and the lengths of the axes that differ.
    array : Value
        The array behind the branch, once it was read.
    """

    array: Value

    def __init__(self, context: Context, pairs: list[tuple[Value, Value]], given: tuple[Value, Value], changing: Changing):
        self.context, self.pairs, self._given, self._changing = context, pairs, given, changing

    def read(self, results: Sequence[Value], name: str) -> tuple[Value, tuple[Value, Value], set[Value]]:
        """Read the array of what the branch gives for the pairs; it, those of the sides, and the memories that it may be in."""
        whole, *counts = results
        whole.name = name if name.isidentifier() else ""
        self.array = behind_loop(self.context, Part(whole, counts), self._changing)
        return self.array, self._given, {m for array in self._given for m in self.context.builder.memories(array)}


def handed_on(merge: Merge, sides: Sequence[Side], arrays: tuple[Value, Value]) -> Handed | None:
    """What the sides hand on of arrays of which a length is known in one of them only; None where there is no limit of it."""
    context = merge.context
    first, second = (regions.bare(array.type) for array in arrays)
    rooms = _rooms(merge, first, second)
    if rooms is None:
        return None
    assert isinstance(first, ArrayType)
    assert isinstance(second, ArrayType)
    changes = tuple(Change(axis, first.shape[axis], axis, None, room) for axis, room in rooms.items())
    dense = [*rooms] == [0] or all(is_row_major(context, array) for array in arrays)
    changing = Changing(first.shape, changes, dense)
    parts: list[Part] = []
    for side, array, type in zip(sides, arrays, (first, second), strict=True):
        with _behind(merge, side):
            lengths = [type.shape[axis] for axis in rooms]
            parts.append(carried(context, context.builder.contents(array), changing, lengths))
    pairs = list(zip(*((part.whole, *part.counts) for part in parts), strict=True))
    return Handed(context, pairs, arrays, changing)


def _rooms(merge: Merge, first: Type, second: Type) -> dict[int, DimLike] | None:
    """How long the axes that differ of arrays of these types are at most, by numbers known outside of both sides."""
    context = merge.context
    if context.elements is not None or not isinstance(first, ArrayType) or not isinstance(second, ArrayType):
        return None
    if not first.shape or first.dtype is not second.dtype or len(first.shape) != len(second.shape):
        return None
    known = (context.most | merge.axes).items()
    limits = [(name, most + 1, False) for name, most in known if name in merge.inner]
    rooms: dict[int, DimLike] = {}
    for axis, lengths in enumerate(zip(first.shape, second.shape, strict=True)):
        if lengths[0] != lengths[1] or named(lengths) & merge.inner or (axis == 0 and len(first.shape) == 1):
            most = [at_most(length, limits, merge.inner) for length in lengths]
            if None in most:
                return None
            rooms[axis] = greatest([length for length in most if length is not None])
    return rooms or None


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


def lists_with_rows(merge: Merge, sides: Sequence[Side], a: Any, b: Any, how: str = "bound") -> list[Any]:
    """What the sides leave, with the members that lists have at their ends as rows, where a run has made one of two lists.

    They are bound to one name, returned, or the value of an expression.
    """
    if isinstance(a, tuple) and type(a) is type(b) is tuple and len(a) == len(b):
        members = [lists_with_rows(merge, sides, x, y, how) for x, y in zip(a, b, strict=True)]
        return [tuple(pair[0] for pair in members), tuple(pair[1] for pair in members)]
    lists = [a, b]
    made = next((one for one in lists if isinstance(one, Grown)), None)
    if a is b or made is None or not all(map(_is_alone, sides, lists)):
        return lists
    for k, (side, one) in enumerate(zip(sides, lists, strict=True)):
        if isinstance(one, Counted):
            with _behind(merge, side), _as_left(side, one):
                lists[k] = made = _settled(merge.context, one)
    for k, (side, one) in enumerate(zip(sides, lists, strict=True)):
        if isinstance(one, list):
            with _behind(merge, side):
                lists[k] = _of_members(merge.context, one, made) or one
    if not all(isinstance(one, Grown) for one in lists):
        return [a, b]
    first, second = (regions.bare(one.rows.type) for one in lists)
    if _note_names(merge, sides, (a, b), how):
        for one in lists:
            one.named = True
    # Else the sentence speaks of the lists.
    return lists if not merge.hides(first, second) or _rooms(merge, first, second) is not None else [a, b]


def list_left(merge: Merge, side: Side, one: Grown) -> OfGrown | None:
    """The arrays of a list that the side makes which goes on alone; None where it has other names, or its members have."""
    if not _is_alone(side, one):
        return None
    if not isinstance(one, Counted):
        return holding(merge.context, one)
    with _behind(merge, side), _as_left(side, one):
        return holding(merge.context, _settled(merge.context, one))


def lists_in_parts(merge: Merge, side: Side, value: Any) -> Any:
    """What one side returns, with the arrays of the lists that it has made in their places.

    Raises
    ------
    UnsupportedError
        How many members there are the side finds out.
    """
    with _behind(merge, side):
        found = in_parts(merge.context, value, side.insts)
    for rows in _rows_in(found):
        if merge.hides(rows.type, rows.type):
            text = "a list is returned out of a loop, and how many members it has is found out where it is returned"
            raise UnsupportedError(text, merge.context.loc, LEAVE_BEFORE)
    return found


def _rows_in(value: Any) -> list[Value]:
    """The rows of the lists in what is returned."""
    if isinstance(value, OfGrown):
        return [value[0]]
    return [rows for member in value for rows in _rows_in(member)] if isinstance(value, tuple) else []


def _is_alone(side: Side, one: Any) -> bool:
    """Whether a value is a list that has one name on a side, or none, and that nobody else can change."""
    lists = type(one) is list or (isinstance(one, Grown) and one.queue is None)
    return lists and side.state.is_own(one) and side.state.uses(one) < 2


def _note_names(merge: Merge, sides: Sequence[Side], lists: Sequence[Any], how: str) -> bool:
    """Note that lists have names behind a branch besides what it gives, which none of these may be changed by from there on."""
    found = False
    for side, one in zip(sides, lists, strict=True):
        # Who returns it has no names behind that.
        frames = side.state.locals[: side.state.own_frames()] if how == "returned" else []
        if how == "bound" or side.state.uses(one) == sum(held is one for names in frames for held in names.values()):
            continue
        found = True
        if isinstance(one, Grown):
            one.named = True
        elif one:
            # What begins as an empty list, best = [], is mostly that which is bound to what this gives.
            mark_shared(merge.context, one)
    return found


@contextmanager
def _as_left(side: Side, counted: Counted) -> Iterator[None]:
    """Let a list hold what it holds at the end of a side."""
    now = dict(counted.held)
    counted.held.update(zip(now, side.state.members(counted.held), strict=True))
    try:
        yield
    finally:
        counted.held.update(now)


@contextmanager
def _behind(merge: Merge, side: Side) -> Iterator[None]:
    """Write at the end of a side, where memories hold what they do there; what is found out there is known nowhere else."""
    context, before = merge.context, len(side.insts)
    known = context.compacted, context.read
    context.compacted, context.read = [], []
    try:
        with at_end(context, side.insts, side.state):
            yield
    finally:
        context.compacted, context.read = known
        merge.note(side.insts[before:])
