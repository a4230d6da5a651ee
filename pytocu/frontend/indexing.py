"""Subscripts: basic indexing becomes views, written as index maps.

Bounds are clamped as Python clamps them, in formulas over the lengths, so one compiled
function serves every length.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pytocu.errors import AxisError, IndexingError, ShapeError, UnsupportedError
from pytocu.frontend.values import Context, as_dim, describe, dimensions, is_array
from pytocu.ir.core import Value
from pytocu.ir.dims import DimLike, dim_max, dim_min, floordiv
from pytocu.ir.types import ScalarType, WeakType


def normal_axis(context: Context, axis: Any, ndim: int) -> int:
    """A constant axis counted from 0.

    Raises
    ------
    AxisError
        NumPy's sentence.
    """
    if isinstance(axis, Value) or not isinstance(axis, (int, np.integer)) or isinstance(axis, bool):
        raise UnsupportedError("an axis must be an integer constant", context.loc)
    if not -ndim <= axis < ndim:
        raise AxisError(f"axis {int(axis)} is out of bounds for array of dimension {ndim}", context.loc)
    return int(axis) % ndim


def slice_bounds(
    length: DimLike, start: DimLike | None, stop: DimLike | None, step: int
) -> tuple[DimLike, DimLike]:
    """First position and number of elements of ``start:stop:step`` on an axis.

    The start is only right where the number is not 0, which is where it is used.

    Examples
    --------
    >>> from pytocu.ir.dims import symbol
    >>> slice_bounds(symbol("n"), 1, -1, 1)
    (1, max(n - 2, 0))
    """
    if step > 0:
        first = 0 if start is None else _from_start(start, length, 0)
        last = length if stop is None else _capped(stop, length)
        return first, dim_max(_ceil(last - first, step), 0)
    first = length - 1 if start is None else _downward_start(start, length)
    last = -1 if stop is None else _downward_stop(stop, length)
    return first, dim_max(_ceil(first - last, -step), 0)


def _negative(bound: DimLike) -> bool:
    return isinstance(bound, int) and bound < 0


def _from_start(bound: DimLike, length: DimLike, floor: int) -> DimLike:
    return dim_max(length + bound, floor) if _negative(bound) else bound


def _capped(bound: DimLike, length: DimLike) -> DimLike:
    return length + bound if _negative(bound) else dim_min(bound, length)


def _downward_start(bound: DimLike, length: DimLike) -> DimLike:
    return length + bound if _negative(bound) else dim_min(bound, length - 1)


def _downward_stop(bound: DimLike, length: DimLike) -> DimLike:
    return dim_max(length + bound, -1) if _negative(bound) else bound


def _ceil(distance: DimLike, step: int) -> DimLike:
    return distance if step == 1 else floordiv(distance + (step - 1), step)


def subscript(context: Context, value: Value, key: Any) -> Value:
    """``value[key]`` for integers, slices, ``None`` and ``...`` known now.

    Raises
    ------
    IndexingError
        Too many indices, or an index outside a length known now; NumPy's sentences.
    UnsupportedError
        Indexing by arrays or run-time numbers.
    """
    if isinstance(value.type, WeakType):
        raise UnsupportedError(f"a Python {value.type.kind} is indexed", context.loc)
    keys = key if isinstance(key, tuple) else (key,)
    for item in keys:
        _check_item(context, item)
    used = sum(1 for k in keys if k is not None and k is not Ellipsis)
    ndim = len(dimensions(value))
    if sum(1 for k in keys if k is Ellipsis) > 1:
        raise IndexingError("an index can only have a single ellipsis ('...')", context.loc)
    if used > ndim:
        if isinstance(value.type, ScalarType):
            raise IndexingError("invalid index to scalar variable.", context.loc)
        raise IndexingError(
            f"too many indices for array: array is {ndim}-dimensional, but {used} were indexed", context.loc
        )
    expanded: list[Any] = []
    has_ellipsis = Ellipsis in keys
    for item in keys:
        if item is Ellipsis:
            expanded.extend([slice(None)] * (ndim - used))
        else:
            expanded.append(item)
    if not has_ellipsis:
        expanded.extend([slice(None)] * (ndim - used))
    return _apply(context, value, expanded, has_ellipsis)


def _check_item(context: Context, item: Any) -> None:
    if item is None or item is Ellipsis:
        return
    if isinstance(item, slice):
        for bound in (item.start, item.stop, item.step):
            if bound is not None and as_dim(_plain(bound)) is None:
                raise UnsupportedError(
                    "a slice bound known only at run time", context.loc, "use constants, static arguments or lengths of arrays"
                )
        if item.step is not None and type(_plain(item.step)) is not int:
            raise UnsupportedError("a slice step must be a constant", context.loc)
        if item.step is not None and _plain(item.step) == 0:
            raise ShapeError("slice step cannot be zero", context.loc)
        return
    if isinstance(item, bool) or (is_array(item)) or isinstance(item, (list, np.ndarray)):
        raise UnsupportedError(
            "indexing with an array, a list or a mask", context.loc, "select per element with np.where(mask, x, other)"
        )
    if as_dim(_plain(item)) is None:
        if isinstance(item, Value):
            raise UnsupportedError("an index known only at run time", context.loc, "use constants or static arguments")
        raise IndexingError(
            "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid indices"
            f" (this is {describe(item)})",
            context.loc,
        )


def _plain(bound: Any) -> Any:
    return int(bound) if isinstance(bound, np.integer) else bound


def _apply(context: Context, value: Value, keys: list[Any], has_ellipsis: bool) -> Value:
    builder = context.builder
    shape = dimensions(value)
    # Slices first, on all axes at once; then integers from the last axis; then new axes.
    starts: list[DimLike] = []
    steps: list[int] = []
    sizes: list[DimLike] = []
    axis = 0
    integers: list[tuple[int, DimLike]] = []
    for item in keys:
        if item is None:
            continue
        length = shape[axis]
        if isinstance(item, slice):
            step = 1 if item.step is None else int(item.step)
            start, stop = (None if b is None else as_dim(_plain(b)) for b in (item.start, item.stop))
            first, size = slice_bounds(length, start, stop, step)
        else:
            step, first, size = 1, 0, length
            integers.append((axis, _position(context, as_dim(_plain(item)), length, axis)))
        starts.append(first)
        steps.append(step)
        sizes.append(context.length(size))
        axis += 1
    whole = all(s == 0 for s in starts) and all(s == 1 for s in steps) and tuple(sizes) == shape
    result = value
    if not whole:
        result = builder.emit("slice", (result,), {"start": tuple(starts), "step": tuple(steps), "size": tuple(sizes)})
    for place, at in reversed(integers):
        attrs: dict[str, Any] = {"axis": place, "at": at}
        if has_ellipsis:
            attrs["keep"] = True
        result = builder.emit("index", (result,), attrs)
    new = 0
    for item in keys:
        if item is None:
            result = builder.emit("newaxis", (result,), {"axis": new})
            new += 1
        elif isinstance(item, slice):
            new += 1
    return result


def _position(context: Context, index: DimLike | None, length: DimLike, axis: int) -> DimLike:
    assert index is not None
    if isinstance(index, int) and isinstance(length, int):
        if not -length <= index < length:
            raise IndexingError(f"index {index} is out of bounds for axis {axis} with size {length}", context.loc)
        return index % length
    context.builder.emit("check", (), {"kind": "index", "dims": (index, length, axis), "shapes": ()})
    return length + index if _negative(index) else index
