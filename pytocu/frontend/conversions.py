"""Arrays made of other arrays, numbers, lists and iterables: ``np.array``, ``asarray``, ``copy``, ``fromiter``."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from pytocu.deferred import Deferred
from pytocu.errors import raised
from pytocu.frontend import attributes
from pytocu.frontend.devices import check_device
from pytocu.frontend.gathering import subscript
from pytocu.frontend.literals import listed
from pytocu.frontend.operators import attempt, compute, known_option, refuse_complex
from pytocu.frontend.ranges import length_of
from pytocu.frontend.reading import read_int
from pytocu.frontend.requirements import require_equal
from pytocu.frontend.reshaping import copied_unless, in_order, is_given_empty, spread
from pytocu.frontend.tables import Handler
from pytocu.frontend.values import (
    Context,
    Flat,
    Grown,
    Steps,
    as_strong,
    as_value,
    dim_value,
    dimensions,
    is_array,
    python_type_name,
)
from pytocu.ir.core import Value
from pytocu.ir.dims import DimLike, dim_min, product
from pytocu.ir.types import WEAK_INT, ScalarType, weak_type_of

_evaluated = Deferred("pytocu.frontend.worded", "evaluated")


def copy_mode(context: Context, copy: Any) -> bool | None:
    """`copy=` as NumPy takes it: None where a copy is made if one is needed, else whether one is made.

    Raises
    ------
    ValueError
        Text; NumPy's sentence.
    """
    known = known_option(context, copy, "copy=")
    if known is None:
        return None
    attempt(context, np.array, np.zeros(1), copy=known)
    return compute(context, bool, known)


def array(
    context: Context,
    object: Any,
    dtype: Any = None,
    copy: Any = True,
    order: Any = "K",
    subok: Any = False,
    ndmin: Any = 0,
    *,
    like: Any = None,
) -> Value:
    """``np.array``: a new array, or with `copy` None one where it is needed; with axes of length 1 in front up to `ndmin`."""
    check_device(context, None, like)
    copy = copy_mode(context, copy)
    least = attempt(context, np.array, 0, copy=copy or None, order=order, ndmin=known_option(context, ndmin, "ndmin=")).ndim
    if isinstance(object, Flat) and copy:
        # x.flat hands out a view of x, which NumPy takes for a copy.
        copy = None
    made = _converted(context, object, dtype, order, copy)
    for _ in range(least - len(dimensions(made))):
        made = attributes.expand_dims(context, made, 0)
    return made


def asarray(
    context: Context,
    a: Any,
    dtype: Any = None,
    order: Any = None,
    *,
    device: Any = None,
    copy: Any = None,
    like: Any = None,
) -> Value:
    """``np.asarray``: the array itself where it has the dtype and the order, and `copy` is not set."""
    check_device(context, device, like)
    copy = copy_mode(context, copy)
    attempt(context, np.asarray, 0, order=order)
    return _converted(context, a, dtype, order, copy)


def ascontiguousarray(context: Context, a: Any, dtype: Any = None, *, like: Any = None) -> Value:
    """The array itself where its elements lie next to each other in row-major order, else a copy."""
    return array(context, a, dtype, None, "C", ndmin=1, like=like)


def asfortranarray(context: Context, a: Any, dtype: Any = None, *, like: Any = None) -> Value:
    """The array itself where its elements lie next to each other in column-major order, else a copy."""
    return array(context, a, dtype, None, "F", ndmin=1, like=like)


def copy(context: Context, a: Any, order: Any = "K", subok: Any = False) -> Value:
    """``np.copy``: a new array."""
    return array(context, a, None, True, order)


def fromiter(context: Context, iter: Any, dtype: Any, count: Any = -1, *, like: Any = None) -> Value:
    """``np.fromiter``: an array of the numbers that an iterable gives, or of the first `count` of them."""
    check_device(context, None, like)
    if dtype is None:
        dtype = np.float64
    if weak_type_of(iter) is not None:
        compute(context, np.fromiter, iter, np.float64)
    if is_array(iter) and len(dimensions(iter)) > 1:
        raise raised(ValueError("setting an array element with a sequence."), context.loc, "write x.astype(dtype)")
    held = isinstance(iter, Grown) or type(iter) is list
    members = iter if held else _evaluated(context, "[member for member in members]", {"members": iter})
    sequence = [m for m in members if isinstance(m, tuple | list)] if type(members) is list else []
    made = listed(context, members, dtype)
    if sequence or len(dimensions(made)) != 1:
        raise raised(ValueError("setting an array element with a sequence."), context.loc, "write np.array([...], dtype)")
    if not isinstance(count, Value):
        wanted = attempt(context, operator.index, count)
        if wanted == -1:
            return made
        most: DimLike = max(wanted, 0)
    else:
        count = read_int(context, count) if isinstance(count.type, ScalarType) else count
        if count.type != WEAK_INT:
            raise raised(TypeError(f"'{python_type_name(count)}' object cannot be interpreted as an integer"), context.loc)
        text = "count= of np.fromiter is {0}, and known only at run time: leave it out to take all"
        most = length_of(context, count, "UnsupportedError", text)
    length = dimensions(made)[0]
    text = "iterator too short: Expected {1} but iterator had only {0} items."
    require_equal(context, dim_min(length, most), most, "ValueError", text)
    return made if length == most else subscript(context, made, slice(None, dim_value(context, most)))


def _converted(context: Context, value: Any, dtype: Any, order: Any, copy: Any) -> Value:
    free = copy is not False
    strong = _strong_as(context, value, dtype) if free or (isinstance(value, Value) and is_array(value)) else None
    order = order.upper() if isinstance(order, str) else order
    turned = strong if strong is None or order != "F" else attributes.transpose(context, strong, ())
    apart = spread(context, turned) if turned is not None and is_array(turned) and order in ("C", "F") else 0
    lies = turned is not None and is_array(turned) and apart == 0
    if not lies and strong is not None and strong is value and not free and apart is not None:
        elements = dim_min(product(dimensions(strong)), 1)
        require_equal(context, dim_min(apart, 1) * elements, 0, "ValueError", str(_uncopied()), operands=(strong,))
        return strong
    if not lies and not copy and strong is not None and order in ("C", "F"):
        lies = is_given_empty(context, strong)
    if strong is None or not (free or (lies and strong is value)):
        # NumPy's sentence.
        return compute(context, np.array, 0, copy=False)
    if lies and not copy:
        return strong
    if strong is value and not copy:
        return copied_unless(context, strong, strong, apart, order)
    return in_order(context, strong, order)


def _uncopied() -> Exception | None:
    """What NumPy raises where it has to make a copy and must not."""
    try:
        np.array(0, copy=False)
    except ValueError as error:
        return error


def _strong_as(context: Context, value: Any, dtype: Any) -> Value:
    """A Python scalar goes to the dtype at once: no detour over NumPy's default; lists become arrays."""
    if isinstance(value, (list, tuple, range, Steps, Grown, Flat)):
        return listed(context, value, dtype)
    if dtype is None:
        return as_strong(context, value)
    made = as_value(context, value)
    target = attributes.target_dtype(context, dtype)
    refuse_complex(context, made, target)
    return attributes.astype(context, made, dtype, copy=False)


FUNCTIONS: dict[str, Handler] = {
    "array": array,
    "asarray": asarray,
    "asanyarray": asarray,
    "ascontiguousarray": ascontiguousarray,
    "asfortranarray": asfortranarray,
    "copy": copy,
    "fromiter": fromiter,
}
"""By NumPy's name; parameters are called as NumPy calls them."""

__all__ = ["FUNCTIONS"]
