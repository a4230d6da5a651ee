"""Arrays of parts of others: blocks, and arrays with more elements, without some of theirs or repeated to a shape."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from pytocu.errors import UnsupportedError, raised
from pytocu.frontend.axes import normal_axis
from pytocu.frontend.compaction import places, read_length
from pytocu.frontend.conversions import array
from pytocu.frontend.gathering import checked
from pytocu.frontend.indexing import subscript
from pytocu.frontend.inplace import assign_elements, fitted
from pytocu.frontend.joining import as_row, concatenate
from pytocu.frontend.layouts import laid_out
from pytocu.frontend.literals import known_array
from pytocu.frontend.masked import is_mask
from pytocu.frontend.operators import attempt, elementwise, known_option, truths
from pytocu.frontend.reductions import length, reduce
from pytocu.frontend.requirements import require_equal
from pytocu.frontend.reshaping import (
    along_axis,
    array_of,
    as_shape,
    broadcast,
    contiguous_as,
    copied,
    filled,
    ravel,
    reshape,
    with_zero,
)
from pytocu.frontend.scattering import assign
from pytocu.frontend.tables import Handler
from pytocu.frontend.values import Context, cast, contains_dynamic, dim_value, dimensions
from pytocu.ir.core import Value
from pytocu.ir.dims import DimLike, dim_max, dim_min, lower_bound, product
from pytocu.ir.layouts import chosen_ranks
from pytocu.ir.types import BOOL, I64, element, scalar


def block(context: Context, arrays: Any) -> Value:
    """Arrays side by side, as nested lists say: those of the innermost lists along the last axis"""
    depth = _depth(context, arrays)
    leaves = list(_leaves(context, arrays))
    ndim = max(depth, *(len(dimensions(v)) for v in leaves))
    wide = iter([_with_axes(context, v, ndim) for v in leaves])
    return _joined(context, arrays, depth, lambda: next(wide))


def _depth(context: Context, arrays: Any) -> int:
    """How deeply lists are nested, everywhere alike; NumPy's sentences where they are not."""
    depths = list(_depths(context, arrays, "arrays", 0))
    for depth, path in depths:
        if depth != depths[0][0]:
            text = (
                f"List depths are mismatched. First element was at depth {depths[0][0]}, but there is an element at depth "
                f"{depth} ({path})"
            )
            raise raised(ValueError(text), context.loc)
    return depths[0][0]


def _depths(context: Context, arrays: Any, path: str, depth: int) -> Iterator[tuple[int, str]]:
    """How many lists each array is in, and where."""
    if isinstance(arrays, tuple):
        text = (
            f"{path} is a tuple. Only lists can be used to arrange blocks, and np.block does not allow implicit conversion "
            "from tuple to ndarray."
        )
        raise raised(TypeError(text), context.loc)
    if not isinstance(arrays, list):
        yield depth, path
        return
    if not arrays:
        raise raised(ValueError(f"List at {path} cannot be empty"), context.loc)
    for number, member in enumerate(arrays):
        yield from _depths(context, member, f"{path}[{number}]", depth + 1)


def _leaves(context: Context, arrays: Any) -> Iterator[Value]:
    if isinstance(arrays, list):
        for member in arrays:
            yield from _leaves(context, member)
    else:
        yield array_of(context, arrays)


def _with_axes(context: Context, value: Value, ndim: int) -> Value:
    while len(dimensions(value)) < ndim:
        value = as_row(context, value)
    return value


def _joined(context: Context, arrays: Any, depth: int, leaf: Any) -> Value:
    if not isinstance(arrays, list):
        value = leaf()
        return copied(context, value) if depth == 0 else value
    return concatenate(context, [_joined(context, a, depth - 1, leaf) if depth > 1 else leaf() for a in arrays], -depth)


def _axis_of(context: Context, arr: Any, axis: Any) -> tuple[Value, int]:
    """The operand and the axis, or its elements in a row; an array without axes has none to name."""
    value = array_of(context, arr)
    if axis is not None:
        normal_axis(context, axis, len(dimensions(value)))
    return along_axis(context, value, axis)


def delete(context: Context, arr: Any, obj: Any, axis: Any = None) -> Value:
    """An array without the elements at positions, in a slice or of a mask, along an axis"""
    value, place = _axis_of(context, arr, axis)
    before = [slice(None)] * place

    def part(start: Any, stop: Any) -> Value:
        return subscript(context, value, (*before, slice(start, stop), ...))

    size = dimensions(value)[place]
    if isinstance(obj, (list, tuple)):
        obj = array_of(context, obj) if contains_dynamic(obj) else _known_positions(context, obj)
    if is_mask(obj):
        sentence = "boolean array argument obj to delete must be one dimensional and match the axis length of {0}"
        # No length is its own successor.
        flags = array_of(context, obj)
        vector = len(dimensions(flags)) == 1
        require_equal(context, size, dimensions(flags)[0] if vector else size + 1, "ValueError", sentence)
        if not vector:
            return value
        return _kept(context, value, place, elementwise(context, "invert", flags))
    if isinstance(obj, slice) and obj.step in (None, 1) and _plain(obj.start) and _plain(obj.stop):
        start = 0 if obj.start is None else obj.start
        if obj.stop is None:
            return contiguous_as(context, copied(context, part(None, start)), value)
        same_side = (start >= 0) == (obj.stop >= 0)
        if same_side:
            made = concatenate(context, (part(None, start), part(max(start, obj.stop), None)), place)
            return contiguous_as(context, made, value)
    if isinstance(obj, (int, np.integer)) and not isinstance(obj, bool):
        # The index is compared with the length.
        subscript(context, value, (*before, int(obj), ...))
        behind = part(int(obj) + 1, None) if obj != -1 else part(0, 0)
        return contiguous_as(context, concatenate(context, (part(None, int(obj)), behind), place), value)
    if isinstance(obj, list) and not obj:
        return _chosen(context, copied(context, value), value, place)
    if isinstance(obj, list):
        for position in obj:
            _inside(context, position, size, 0, position + 1)
        if min(obj) >= 0 or max(obj) < 0:
            return _chosen(context, concatenate(context, [part(*ends) for ends in _stretches(obj)], place), value, place)
    positions = None if isinstance(obj, slice) else _positions(context, obj, size, place)
    if isinstance(positions, Value) and dimensions(positions) == (1,):
        return contiguous_as(context, _without_one(context, value, positions, place), value)
    kept = filled(context, context.builder.const(True, scalar(BOOL)), (size,))
    if positions is None:
        assign_elements(context, subscript(context, kept, (obj, ...)), False)
    else:
        assign(context, kept, (positions,), False)
    return _kept(context, value, place, kept)


def _without_one(context: Context, value: Value, position: Value, place: int) -> Value:
    """An axis without the position that a run states: those from there on are read one further."""
    count = dim_max(dimensions(value)[place] - 1, 0)
    each = context.builder.emit("iota", (), {"axis": 0, "shape": (count,)})
    # It is looked at, too, where nothing is left of the axis.
    behind = elementwise(context, "greater_equal", each, context.builder.emit("keep", (position,)))
    places = elementwise(context, "add", each, cast(context, behind, I64))
    return context.builder.emit("gather", (value, places), {"axes": (place,), "at": place})


def _stretches(positions: list[int]) -> list[tuple[int | None, int | None]]:
    """The parts between positions of one sign.

    Examples
    --------
    >>> _stretches([3, 0, 3])
    [(None, 0), (1, 3), (4, None)]
    """
    ordered = sorted({*positions})
    starts = [None, *(p + 1 for p in ordered)]
    return [(s, e) for s, e in zip(starts, [*ordered, None], strict=True) if not (s == 0 and e is None and ordered[-1] < 0)]


def _inside(context: Context, position: int, size: DimLike, axis: int, behind: int) -> None:
    """Let the call compare a position with the length of its axis, which is at least `behind` for one from the front."""
    least = behind if position >= 0 else -position
    sentence = f"index {position} is out of bounds for axis {axis} with size {{0}}"
    require_equal(context, dim_min(size, least), least, "IndexError", sentence)


def _known_positions(context: Context, obj: Any) -> Any:
    """Positions known now as an int, a list of ints or a mask."""
    found = attempt(context, np.array, obj)
    if found.size == 0 or found.dtype.kind == "b":
        return [] if found.size == 0 else known_array(context, found)
    if found.dtype.kind not in "iu":
        attempt(context, np.delete, np.zeros(1), found)
    return found.item() if found.size == 1 else found.ravel().tolist()


def _positions(context: Context, obj: Any, size: DimLike, axis: int) -> Any:
    """Positions of an axis of that length; a single one that is outside is said with the axis."""
    if isinstance(obj, list):
        return obj
    given = array_of(context, obj)
    if not element(given.type).is_integer:
        attempt(context, np.delete, np.zeros(1), np.zeros((1,) * len(dimensions(given)), element(given.type).numpy))
    single = product(dimensions(given)) == 1
    flat = ravel(context, given)
    return array_of(context, checked(context, cast(context, flat, I64), size, axis if single else 0))


def _kept(context: Context, value: Value, place: int, mask: Value) -> Value:
    """The elements of an axis that a mask chooses."""
    made = context.builder.emit("gather", (value, places(context, mask)), {"axes": (place,), "at": place})
    return _chosen(context, made, value, place)


def _chosen(context: Context, made: Value, value: Value, place: int) -> Value:
    """Elements of an axis in the order in which indexing by positions makes them."""
    return laid_out(context, made, (value,), partial(chosen_ranks, value, (place,), place, (), dimensions(made)))


def insert(context: Context, arr: Any, obj: Any, values: Any, axis: Any = None) -> Value:
    """An array with values before a position, or before each of several, along an axis"""
    value, place = _axis_of(context, arr, axis)
    shape = dimensions(value)
    known = (int, np.integer)
    positions = list(obj) if isinstance(obj, (list, tuple)) else [obj]
    if not all(isinstance(p, known) and not isinstance(p, (bool, np.bool_)) for p in positions):
        raise UnsupportedError(
            "np.insert takes an int, or a list of ints, here",
            context.loc,
            "join the parts: np.concatenate((x[:i], values, x[i:]))",
        )
    if positions and min(positions) < 0 <= max(positions):
        raise UnsupportedError(
            "np.insert takes positions of one sign, since their order depends on the length",
            context.loc,
            "count all from the beginning, or all from the end",
        )
    for position in positions:
        # A position is valid as the bound of a slice is, behind the last element, too.
        _inside(context, int(position), shape[place], place, int(position))
    given = added = array(context, values, dtype=element(value.type).numpy)
    while len(dimensions(added)) < len(shape):
        added = as_row(context, added)
    if not isinstance(obj, (list, tuple)):
        axes = [a for a in range(len(dimensions(added))) if a != 0]
        added = context.builder.emit("transpose", (added,), {"axes": (*axes[:place], 0, *axes[place:])})
    one = len(positions) == 1
    count = dimensions(added)[place] if one else len(positions)
    target = (*shape[:place], count, *shape[place + 1 :])
    checked = fitted(context, added, target) if one else fitted(context, given, target, "value array")
    added = broadcast(context, checked, target)
    before = [slice(None)] * place

    def part(whole: Value, start: Any, stop: Any) -> Value:
        return subscript(context, whole, (*before, slice(start, stop), ...))

    if one:
        at = int(positions[0])
        made = concatenate(context, (part(value, None, at), added, part(value, at, None)), place)
        return contiguous_as(context, made, value)
    pieces: list[Value] = []
    last = None
    for number in sorted(range(len(positions)), key=lambda k: positions[k]):
        at = int(positions[number])
        pieces += (part(value, last, at), part(added, number, number + 1))
        last = at
    return contiguous_as(context, concatenate(context, (*pieces, part(value, last, None)), place), value)


def _plain(bound: Any) -> bool:
    return bound is None or (isinstance(bound, (int, np.integer)) and not isinstance(bound, bool))


_NO_INDEX = OverflowError("cannot fit 'int' into an index-sized integer")


def resize(context: Context, a: Any, new_shape: Any) -> Value:
    """All elements in a row, again and again, in a new shape"""
    flat = ravel(context, array_of(context, a))
    sentence = "all elements of `new_shape` must be non-negative"
    shape = as_shape(context, new_shape, sentence, beyond=_NO_INDEX)
    if any(isinstance(d, int) and d < 0 for d in shape):
        raise raised(ValueError(sentence), context.loc)
    (count,), size = dimensions(flat), product(shape)
    if not (lower_bound(count) or 0) > 0:
        # Of no elements NumPy makes zeros.
        flat = with_zero(context, flat)
    place = context.builder.emit("iota", (), {"axis": 0, "shape": (size,)})
    order = elementwise(context, "remainder", place, dim_value(context, dim_max(count, 1)))
    made = context.builder.emit("gather", (flat, order), {"axes": (0,), "at": 0})
    return copied(context, reshape(context, made, tuple(dim_value(context, d) for d in shape)))


def trim_zeros(context: Context, filt: Any, trim: Any = "fb", axis: Any = None) -> Value:
    """A vector without the zeros at its ends, or at one of them"""
    value, trim = array_of(context, filt), known_option(context, trim, "trim=")
    if isinstance(filt, (tuple, list)) or len(dimensions(value)) != 1 or axis not in (None, 0, -1):
        text = "np.trim_zeros of what is no array with one axis is not compiled"
        raise UnsupportedError(text, context.loc, "give it np.array(...) of numbers, or a row")
    attempt(context, np.trim_zeros, np.zeros(1), trim)
    (size,) = dimensions(value)
    place = context.builder.emit("iota", (), {"axis": 0, "shape": (size,)})
    held = truths(context, value)
    ends: list[Any] = [None, None]
    if "f" in trim.lower():
        found = elementwise(context, "where", held, place, length(context, size))
        first = reduce(context, "minimum", found, initial=length(context, size))
        ends[0] = dim_value(context, read_length(context, first, size, "first"))
    if "b" in trim.lower():
        found = elementwise(context, "where", held, elementwise(context, "add", place, 1), 0)
        behind = reduce(context, "maximum", found, initial=0)
        ends[1] = dim_value(context, read_length(context, behind, size, "end"))
    return subscript(context, value, slice(*ends))


FUNCTIONS: dict[str, Handler] = {"block": block, "delete": delete, "insert": insert, "resize": resize, "trim_zeros": trim_zeros}
"""By NumPy's name; parameters are called as NumPy calls them."""
