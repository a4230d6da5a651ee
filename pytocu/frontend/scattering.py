"""Assignment through integer arrays: ``x[i] = e``, ``x[i, j] += e``, ``np.put``, ``np.put_along_axis``.

Where several positions are one element, the last of them is what NumPy leaves there: a `combine_at` by ``last``, which one
thread of a CPU makes in order, and of which `pytocu.passes.combining` says how a GPU does it.
"""

from __future__ import annotations

import builtins
import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from pytocu.errors import IndexingError, UnsupportedError, raised
from pytocu.frontend import gathering, inplace
from pytocu.frontend.literals import known_array
from pytocu.frontend.masked import is_mask
from pytocu.frontend.operators import attempt, elementwise
from pytocu.frontend.reductions import repeated
from pytocu.frontend.reshaping import array_of, copied, ravel, reshape
from pytocu.frontend.tables import Handler
from pytocu.frontend.values import (
    Context,
    as_value,
    cast,
    contains_dynamic,
    convert,
    dim_value,
    dimensions,
    is_array,
    is_numpy_scalar,
    python_type_name,
    strong_dtype,
)
from pytocu.ir.core import Value
from pytocu.ir.dims import DimLike, dim_max, dim_min, product
from pytocu.ir.types import I64, WeakType, element

Shape = tuple[DimLike, ...]


def assign(context: Context, base: Value, key: Any, value: Any) -> None:
    """``base[key] = value``; with several values for one element the last one counts.

    Raises
    ------
    IndexingError, ShapeError
        As for reading; NumPy's sentence for a value that does not broadcast to what is indexed.
    UnsupportedError
        Positions of numbers known only at run time beside arrays.
    """
    inplace.note_write(context, base, inplace.DESTINATION)
    items = key if isinstance(key, tuple) else (key,)
    lead, items = _leading(context, base, items)
    # The number of each element, read as the elements would be.
    numbers = numbered(context, dimensions(base)[:lead])
    places = gathering.subscript(context, numbers, items)
    _place(context, base, array_of(context, places), lead, value)


def _leading(context: Context, base: Value, items: Sequence[Any]) -> tuple[int, tuple[Any, ...]]:
    """How many leading axes arrays index, all others being taken whole, and those arrays; else all axes and all items."""
    ndim = len(dimensions(base))
    arrays = tuple(itertools.takewhile(lambda item: isinstance(item, (list, np.ndarray)) or is_array(item), items))
    axes = sum(len(dimensions(item)) if is_mask(item) else 1 for item in arrays)
    if axes > ndim:
        sentence = f"too many indices for array: array is {ndim}-dimensional, but {axes} were indexed"
        raise IndexingError(sentence, context.loc)
    rest = items[len(arrays) :]
    whole = all(k is Ellipsis or (isinstance(k, slice) and k == slice(None)) for k in rest)
    fits = axes + sum(k is not Ellipsis for k in rest) <= ndim and sum(k is Ellipsis for k in rest) <= 1
    return (axes, arrays) if axes and whole and fits else (ndim, tuple(items))


def numbered(context: Context, shape: Shape) -> Value:
    """The numbers of the elements of an array of a shape."""
    flat = context.builder.emit("iota", (), {"axis": 0, "shape": (product(shape),)})
    return flat if len(shape) == 1 else reshape(context, flat, tuple(_length(context, d) for d in shape))


def _length(context: Context, dim: DimLike) -> Any:
    return dim_value(context, dim)


def _place(context: Context, base: Value, places: Value, lead: int, value: Any) -> None:
    """Give elements their values: `places` numbers those of the leading axes."""
    shape = dimensions(base)
    rest = shape[lead:]
    target = (*dimensions(places), *rest)
    values = repeated(context, given(context, base, value, target), target)
    count = product(dimensions(places))
    rows = reshape(context, values, tuple(_length(context, d) for d in (count, *rest))) if rest else ravel(context, values)
    combine(context, base, "last", places, rows)


def combine(context: Context, base: Value, by: str, places: Value, values: Value) -> None:
    """Change elements, or all behind a position, by their numbers, one after the other: combined with values, or replaced."""
    shape = dimensions(base)
    whole = base if shape else ravel(context, base)
    made = context.builder.emit("combine_at", (whole, ravel(context, places), values), {"op": by})
    if not shape:
        made = context.builder.emit("reshape", (made,), {"shape": shape, "source": (1,)})
    if shape and context.builder.root(base) is base:
        context.builder.replace(base, made)
    else:
        context.builder.update(base, made)


def given(context: Context, base: Value, value: Any, target: Shape) -> Value:
    """What is assigned, in the dtype of the array, checked to broadcast to the shape."""
    dtype = element(base.type)
    known = inplace.known_number(value)
    if known is not None:
        return inplace.number_at(context, known, dtype)
    made = inplace.fitted(context, inplace.assigned_value(context, value, dtype), target, "value array")
    if isinstance(made.type, WeakType):
        inplace.ask_for(context, made, dtype)
    return cast(context, made, dtype)


def put(context: Context, a: Any, ind: Any, v: Any, mode: Any = "raise") -> None:
    """``np.put(a, ind, v)``: values for positions among all elements in a row, repeated as often as needed.

    Raises
    ------
    CompileError
        Indices that NumPy does not cast to integers, another mode.
    """
    if isinstance(a, np.generic) or is_numpy_scalar(a):
        # The method of a NumPy scalar changes an array of its own, which nobody reads: no kernel looks at the positions.
        if not contains_dynamic(ind):
            target = np.zeros((), strong_dtype(a).numpy) if isinstance(a, Value) else np.asarray(a).copy()
            attempt(context, np.put, target, ind, 0 if contains_dynamic(v) else v, mode=mode)
        a = copied(context, array_of(context, a))
    if not is_array(a):
        # NumPy's sentence, which is another one in older versions.
        attempt(context, np.put, getattr(builtins, python_type_name(a))() if isinstance(a, Value) else a, 0, 0)
    inplace.note_write(context, a, "put: output array")
    if isinstance(ind, (list, tuple)):
        if contains_dynamic(ind):
            raise UnsupportedError("a list of values known only at run time", context.loc, "np.stack makes an array of them")
        positions = known_array(context, attempt(context, lambda: np.asarray(ind).astype(np.int64)))
    else:
        positions = as_value(context, ind)
    if isinstance(positions.type, WeakType):
        positions = convert(context, positions, I64)
    if type(mode) is int and not 0 <= mode <= 2:
        raise UnsupportedError(f"np.put with mode={mode}", context.loc, "name it: 'raise', 'wrap' or 'clip'")
    attempt(context, np.zeros(1).put, np.zeros(1, element(positions.type).numpy), 0, mode=mode)
    if type(mode) is int:
        # As NumPy's own constants number them.
        mode = ("clip", "wrap", "raise")[mode]
    places = ravel(context, array_of(context, cast(context, positions, I64)))
    shape = dimensions(a)
    gathering.refuse_empty(context, places, product(shape), "cannot replace elements of an empty array")
    flat = gathering.take(context, numbered(context, (product(shape),)), places, None, None, mode)
    put_values(context, a, flat, v)


def put_values(context: Context, a: Value, flat: Value, v: Any) -> None:
    """Give the elements whose numbers are in the vector `flat` their values, which begin again behind the last one."""
    if inplace.known_number(v) is None:
        made = inplace.assigned_value(context, v, element(a.type))
        values = ravel(context, array_of(context, inplace.taken(context, made, element(a.type))))
        (given,), (wanted,) = dimensions(values), dimensions(flat)
        if given == 0:
            return
        if not isinstance(given, int):
            # No values change nothing.
            wanted = wanted * dim_min(given, 1)
            flat = context.builder.emit("slice", (flat,), {"start": (0,), "step": (1,), "size": (wanted,)})
        if given != wanted:
            # The values begin again behind the last one.
            order = context.builder.emit("iota", (), {"axis": 0, "shape": (wanted,)})
            order = elementwise(context, "remainder", order, dim_value(context, dim_max(given, 1)))
            values = gathering.gather(context, values, (0,), (order,), 0)
        v = values
    _place(context, a, flat, len(dimensions(a)), v)


def put_along_axis(context: Context, arr: Any, indices: Any, values: Any, axis: Any) -> None:
    """``np.put_along_axis(arr, indices, values, axis)``: a position along the axis for each value.

    Raises
    ------
    CompileError
        Other numbers of axes, indices of another dtype.
    """
    if not is_array(arr):
        raise raised(TypeError("argument 1 must be numpy.ndarray"), context.loc)
    inplace.note_write(context, arr, inplace.DESTINATION)
    shape = dimensions(arr)
    if axis is None:
        flat = gathering.take_along_axis(context, numbered(context, (product(shape),)), indices, None)
        _place(context, arr, flat, len(shape), values)
        return
    places = gathering.take_along_axis(context, numbered(context, shape), indices, axis)
    _place(context, arr, places, len(shape), values)


METHODS: dict[str, Handler] = {"put": lambda context, a, indices, values, mode="raise": put(context, a, indices, values, mode)}

FUNCTIONS: dict[str, Handler] = {"put": put, "put_along_axis": put_along_axis}
"""By NumPy's name; parameters are called as NumPy calls them."""
