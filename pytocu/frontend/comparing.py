"""Whether two arrays are equal or close: one answer, as Python's bool.

NumPy's functions give Python's bool, so that ``if`` and ``while not`` may ask them; the host waits for it.  What lengths
decide alone is known before anything runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pytocu.frontend.array_functions import isclose
from pytocu.frontend.gathering import taken
from pytocu.frontend.operators import attempt, binary, elementwise, known_option
from pytocu.frontend.reading import read_bool
from pytocu.frontend.reductions import combined, reduce
from pytocu.frontend.requirements import is_length
from pytocu.frontend.reshaping import array_of
from pytocu.frontend.tables import Handler
from pytocu.frontend.values import Context, as_value, contains_dynamic, dim_value, dimensions, is_array
from pytocu.ir.core import Value
from pytocu.ir.dims import DimLike, dim_max, dim_min
from pytocu.ir.types import element


def allclose(
    context: Context, a: Any, b: Any, rtol: Any = 1.0e-5, atol: Any = 1.0e-8, equal_nan: Any = False
) -> Any:
    """Whether all elements are close, as ``np.isclose`` finds them; Python's bool"""
    first, second = (array_of(context, v) if isinstance(v, (list, tuple)) else v for v in (a, b))
    known_option(context, equal_nan, "equal_nan=")
    near = as_value(context, isclose(context, first, second, rtol, atol, equal_nan))
    return read_bool(context, _all(context, near))


def _all(context: Context, condition: Value) -> Value:
    """Whether a condition holds everywhere, as a NumPy scalar."""
    if not is_array(condition):
        return condition
    return reduce(context, "logical_and", condition)


def array_equal(context: Context, a1: Any, a2: Any, equal_nan: Any = False) -> Any:
    """Whether two arrays have one shape and the same elements; Python's bool"""
    if not all(_is_even(context, a) for a in (a1, a2)):
        return False
    first, second = array_of(context, a1), array_of(context, a2)
    nan_too = bool(known_option(context, equal_nan, "equal_nan="))
    if len(dimensions(first)) != len(dimensions(second)):
        return False
    return _equal(context, first, second, nan_too, False)


def array_equiv(context: Context, a1: Any, a2: Any) -> Any:
    """Whether two arrays broadcast to one shape in which their elements are the same; Python's bool"""
    if not all(_is_even(context, a) for a in (a1, a2)):
        return False
    return _equal(context, array_of(context, a1), array_of(context, a2), False, True)


def _is_even(context: Context, given: Any) -> bool:
    """Whether lists are as long as their neighbours: others are no array, and equal to none."""

    def zeros(value: Any) -> Any:
        return [zeros(one) for one in value] if isinstance(value, (list, tuple)) else value if is_array(value) else 0

    known = zeros(given)
    return contains_dynamic(known) or attempt(context, np.array_equal, known, known)


def _equal(context: Context, first: Value, second: Value, nan_too: bool, broadcast: bool) -> Any:
    """Whether lengths and elements are equal.

    Where lengths differ nothing is wrong, so the parts that both arrays have are compared.  With `broadcast`, lengths that only
    a run knows to be 1 are those of one element that is read at every place.
    """
    attempt(context, np.equal, *(np.zeros((), element(v.type).numpy) for v in (first, second)))
    shapes = [list(dimensions(v)) for v in (first, second)]
    same: Any = True
    repeated: dict[int, DimLike] = {}
    for back in range(1, min(map(len, shapes)) + 1):
        ours, theirs = (s[-back] for s in shapes)
        if ours == theirs or (broadcast and 1 in (ours, theirs)):
            continue
        if isinstance(ours, int) and isinstance(theirs, int):
            return False
        fits = binary(context, "equal", dim_value(context, ours), dim_value(context, theirs))
        once = [length for length in (ours, theirs) if broadcast and is_length(context, length, 1) is None]
        for length in once:
            fits = binary(context, "bitwise_or", fits, binary(context, "equal", dim_value(context, length), 1))
        same = fits if same is True else binary(context, "bitwise_and", same, fits)
        if once:
            # None where either has none, or else as many as the longer one.
            repeated[back] = dim_max(ours, theirs) * dim_min(dim_min(ours, theirs), 1)
            continue
        for shape in shapes:
            shape[-back] = dim_min(ours, theirs)
    x, y = (_first(context, v, tuple(s)) for v, s in zip((first, second), shapes, strict=True))
    x, y = (_repeated(context, v, repeated) for v in (x, y))
    alike = elementwise(context, "equal", x, y)
    if nan_too and all(element(v.type).kind in "fc" for v in (x, y)):
        both = elementwise(context, "bitwise_and", elementwise(context, "isnan", x), elementwise(context, "isnan", y))
        alike = elementwise(context, "bitwise_or", alike, both)
    axes = tuple(range(len(dimensions(alike))))
    found = read_bool(context, combined(context, "bitwise_and", (alike,), axes, False)[0])
    return found if same is True else binary(context, "bitwise_and", same, found)


def _first(context: Context, value: Value, shape: tuple[DimLike, ...]) -> Value:
    """The part of an array that has these lengths, from the first element on."""
    if dimensions(value) == shape:
        return value
    ndim = len(shape)
    return context.builder.emit("slice", (value,), {"start": (0,) * ndim, "step": (1,) * ndim, "size": shape})


def _repeated(context: Context, value: Value, lengths: Mapping[int, DimLike]) -> Value:
    """An array made as long as stated along axes that are counted from the last one, by its last elements there."""
    for back, length in lengths.items():
        axis = len(dimensions(value)) - back
        place = context.builder.emit("iota", (), {"axis": 0, "shape": (length,)})
        last = dim_value(context, dimensions(value)[axis] + (-1))
        value = taken(context, value, (axis,), (elementwise(context, "minimum", place, last),), axis)
    return value


FUNCTIONS: dict[str, Handler] = {"allclose": allclose, "array_equal": array_equal, "array_equiv": array_equiv}
"""By NumPy's name; parameters are called as NumPy calls them."""
