"""Compaction: the elements and positions that a mask chooses, one after the other.

A scan counts the chosen elements up to each one, the host reads how many there are in all, and each
element of the result finds the one it stands for by halves.  Order is kept, and nothing depends on the
order in which threads run.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pytocu.deferred import Deferred
from pytocu.errors import IndexingError, UnsupportedError, raised
from pytocu.frontend.indexing import bool_beside_others, has_bool, is_bool
from pytocu.frontend.masked import is_mask, likeness, require_mask, same
from pytocu.frontend.operators import attempt, elementwise, truths
from pytocu.frontend.reductions import combined, known_axis, length
from pytocu.frontend.reshaping import along_axis, array_of, ravel
from pytocu.frontend.tables import Handler
from pytocu.frontend.values import Context, Masked, as_strong, cast, dimensions, is_array
from pytocu.ir.core import Value
from pytocu.ir.dims import DimLike, product, symbol
from pytocu.ir.types import BOOL, I64, WEAK_BOOL, WeakType, element


def read_length(context: Context, count: Value, limit: DimLike, name: str) -> DimLike:
    """The length that a number computed of data is, once the host has read it; a number that was read is not read again.

    Parameters
    ----------
    count : Value
        int64 without axes.
    limit : DimLike
        What it never exceeds.
    name : str
        What it is called; a number is put behind it where the name is taken.
    """
    alike = likeness(context, count)
    for known, most, found in context.read:
        if likeness(context, known) == alike and most == limit and same(known, count):
            return symbol(found)
    # A region's own lengths have names that no region around it has.
    unique = context.name(name)
    context.most[unique] = limit
    stored = context.builder.emit("keep", (array_of(context, count),), name=unique)
    context.builder.inst("read_length", (stored,), {"name": unique, "limit": limit})
    context.read.append((count, limit, unique))
    return symbol(unique)


def places(context: Context, mask: Value) -> Value:
    """The positions, counted over all elements in row-major order, at which a mask is true; int64."""
    frozen = context.builder.emit("copy", (mask,), name=mask.name)
    for known, found in context.compacted:
        if same(known, frozen):
            return found
    flat = cast(context, ravel(context, frozen), I64)
    (count,) = combined(context, "add", (flat,), (0,), False)
    (total,) = dimensions(flat)
    ranks = context.builder.emit("keep", (context.builder.emit("scan", (flat,), {"op": "add", "axis": 0}),))
    chosen = read_length(context, count, total, "chosen")
    numbers = context.builder.emit("iota", (), {"axis": 0, "shape": (chosen,)})
    found = context.builder.emit("search", (ranks, elementwise(context, "add", numbers, length(context, 1))))
    context.compacted.append((frozen, found))
    return found


def ranks(context: Context, mask: Value) -> tuple[Value, Value]:
    """How many elements a mask chooses, and how many it chooses before each element; int64."""
    lengths = dimensions(mask)
    numbers = cast(context, ravel(context, mask), I64)
    (count,) = combined(context, "add", (numbers,), (0,), False)
    before = elementwise(context, "subtract", context.builder.emit("scan", (numbers,), {"op": "add", "axis": 0}), numbers)
    if len(lengths) > 1:
        before = context.builder.emit("reshape", (before,), {"shape": lengths, "source": dimensions(before)})
    return count, before


def compact(context: Context, value: Masked) -> Value:
    """The chosen elements as an array, in order."""
    count = len(dimensions(value.mask))
    shape = dimensions(value.array)
    array = value.array
    if count > 1:
        merged = (product(shape[:count]), *shape[count:])
        array = context.builder.emit("reshape", (array,), {"shape": merged, "source": shape})
    found = places(context, value.mask)
    return context.builder.emit("gather", (array, found), {"axes": (0,), "at": 0}, name=value.array.name)


def nonzero(context: Context, a: Any) -> tuple[Value, ...]:
    """The positions of elements that are not zero, an array for each axis"""
    value = as_strong(context, a)
    shape = dimensions(value)
    if not shape:
        # NumPy says another sentence of a bool.
        attempt(context, np.nonzero, np.zeros((), element(value.type).numpy))
        # Older versions have an answer.
        return nonzero(context, ravel(context, value))
    mask = context.builder.emit("copy", (truths(context, value),))
    found = places(context, mask)
    if len(shape) == 1:
        context.positions[found,] = mask
        return (found,)
    parts: list[Value] = []
    for axis, size in enumerate(shape):
        behind = product(shape[axis + 1 :])
        part = found if behind == 1 else elementwise(context, "floor_divide", found, length(context, behind))
        parts.append(part if axis == 0 else elementwise(context, "remainder", part, length(context, size)))
    context.positions[tuple(parts)] = mask
    return tuple(parts)


def flatnonzero(context: Context, a: Any) -> Value:
    """The positions of elements that are not zero, counted over all elements"""
    return nonzero(context, ravel(context, array_of(context, a)))[0]


def argwhere(context: Context, a: Any) -> Value:
    """The positions of elements that are not zero, a row for each element"""
    value = array_of(context, a)
    if not dimensions(value):
        # A row without columns for what is true.
        rows = argwhere(context, ravel(context, value))
        return context.builder.emit("slice", (rows,), {"start": (0, 0), "step": (1, 1), "size": (dimensions(rows)[0], 0)})
    columns = [context.builder.emit("newaxis", (p,), {"axis": 1}) for p in nonzero(context, value)]
    if len(columns) == 1:
        return columns[0]
    # NumPy turns rows of positions.
    return context.builder.emit("copy", (context.builder.emit("concatenate", columns, {"axis": 1}),), {"order": "F"})


_write_taken = Deferred("pytocu.frontend.gathering", "write_taken")
_checked = Deferred("pytocu.frontend.gathering", "checked")
_refuse_empty = Deferred("pytocu.frontend.gathering", "refuse_empty")


def compress(context: Context, condition: Any, a: Any, axis: Any = None, out: Any = None) -> Value:
    """The slices along an axis whose condition is true"""
    if out is not None:
        return _write_taken(context, compress(context, condition, a, axis), out)
    chosen = truths(context, array_of(context, condition))
    if len(dimensions(chosen)) != 1:
        raise raised(ValueError("condition must be a 1-d array"), context.loc)
    value, place = along_axis(context, array_of(context, a), known_axis(context, axis))
    positions = places(context, chosen)
    _refuse_empty(context, positions, dimensions(value)[place], "cannot do a non-empty take from an empty axes.")
    if dimensions(chosen)[0] != dimensions(value)[place]:
        # A shorter condition is false behind its end, and a longer one may be.
        positions = _checked(context, positions, dimensions(value)[place], place)
    return context.builder.emit("gather", (value, positions), {"axes": (place,), "at": place})


def extract(context: Context, condition: Any, arr: Any) -> Value:
    """The elements of the flat array at which the flat condition is true"""
    flat = ravel(context, array_of(context, arr))
    return compress(context, ravel(context, array_of(context, condition)), flat, 0)


def masks_to_positions(context: Context, keys: tuple[Any, ...]) -> tuple[Any, ...]:
    """Items of an index with the positions of each mask, an array for each of its axes, in its place.

    Raises
    ------
    IndexingError
        A mask is a scalar.
    """
    found: list[Any] = []
    for item in keys:
        item = context.hooks.compact(context, item) if isinstance(item, Masked) else item
        if is_mask(item):
            found.extend(nonzero(context, item))
        elif isinstance(item, Value) and is_array(item) and element(item.type) is BOOL:
            raise UnsupportedError("an index that is one bool is not compiled", context.loc, "use np.where")
        else:
            found.append(item)
    return tuple(found)


def check_masks(context: Context, value: Value, keys: tuple[Any, ...]) -> None:
    """State that masks in an index have the lengths of the axes at which they stand.

    Raises
    ------
    IndexingError
        More items than axes, or a second ellipsis.
    UnsupportedError
        A bool beside them.
    """
    axis = 0
    count = _count_axes(context, value, keys)
    shape = dimensions(value)
    if has_bool(keys):
        raise bool_beside_others(context)
    for item in keys:
        if item is Ellipsis:
            axis += len(shape) - count
        elif is_mask(item):
            for own in dimensions(item):
                require_mask(context, own, shape[axis], axis)
                axis += 1
        else:
            axis += _axes_of(item)


def _count_axes(context: Context, value: Value, keys: tuple[Any, ...]) -> int:
    """How many axes of an array an index with masks names, besides those for which an ellipsis stands.

    Raises
    ------
    IndexingError
        More than the array has, or a second ellipsis.
    """
    count, ndim = sum(map(_axes_of, keys)), len(dimensions(value))
    if sum(k is Ellipsis for k in keys) > 1:
        raise IndexingError("an index can only have a single ellipsis ('...')", context.loc)
    if count > ndim:
        text = f"too many indices for array: array is {ndim}-dimensional, but {count} were indexed"
        raise IndexingError(text, context.loc)
    return count


def _axes_of(item: Any) -> int:
    """How many axes an item of an index names; one bool names none."""
    if isinstance(item, Value) and not isinstance(item.type, WeakType) and element(item.type) is BOOL:
        return len(dimensions(item))
    return 0 if item is None or item is Ellipsis or is_bool(item) or getattr(item, "type", None) == WEAK_BOOL else 1


def known_masks(context: Context, value: Value, key: Any) -> Any:
    """An index with lists of bools as the positions that they choose; another index is itself."""
    items = key if isinstance(key, tuple) else (key,)
    if not any(map(_is_listed_mask, items)):
        return key
    shape = dimensions(value)
    count = _count_axes(context, value, items)
    axis, made = 0, []
    for item in items:
        if _is_listed_mask(item):
            require_mask(context, len(item), shape[axis], axis)
            made.append([place for place, chosen in enumerate(item) if chosen])
        else:
            made.append(item)
        if item is Ellipsis:
            axis += len(shape) - count
        else:
            axis += _axes_of(item)
    return tuple(made) if isinstance(key, tuple) else made[0]


def _is_listed_mask(item: Any) -> bool:
    return isinstance(item, list) and bool(item) and all(isinstance(m, (bool, np.bool_)) for m in item)


METHODS: dict[str, Handler] = {
    "nonzero": nonzero,
    "compress": lambda context, a, condition, axis=None, out=None: compress(context, condition, a, axis, out),
}

FUNCTIONS: dict[str, Any] = {
    "nonzero": nonzero,
    "flatnonzero": flatnonzero,
    "argwhere": argwhere,
    "compress": compress,
    "extract": extract,
}
"""By NumPy's name; parameters are called as NumPy calls them."""

__all__ = ["FUNCTIONS", "check_masks", "compact", "known_masks", "masks_to_positions", "places", "read_length"]
