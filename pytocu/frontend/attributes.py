"""Attributes and methods of arrays and NumPy scalars."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pytocu.errors import DTypeError, MissingAttributeError, ShapeError, UnsupportedError
from pytocu.frontend.indexing import normal_axis
from pytocu.frontend.operators import binary, elementwise
from pytocu.frontend.values import Context, cast, checked_dtype, dim_value, dimensions, is_array
from pytocu.ir.core import Value
from pytocu.ir.types import DType, ScalarType, WeakType, dtype_of, element


@dataclass(frozen=True, slots=True)
class Method:
    """A method of an IR value, waiting for its arguments."""

    value: Value
    name: str


def attribute(context: Context, value: Value, name: str) -> Any:
    """``value.name``.

    Raises
    ------
    UnsupportedError
        NumPy has the attribute and pytocu does not.
    MissingAttributeError
        NumPy has no such attribute.
    """
    if isinstance(value.type, WeakType):
        if name in ("real", "imag", "conjugate"):
            raise UnsupportedError(f"the attribute {name} of a Python scalar", context.loc)
        raise MissingAttributeError(
            f"'{value.type.kind}' object has no attribute '{name}'",
            context.loc,
            "this is a Python scalar; np.float64(x) makes it a NumPy scalar",
        )
    shape = dimensions(value)
    match name:
        case "shape":
            return tuple(dim_value(context, d) for d in shape)
        case "ndim":
            return len(shape)
        case "dtype":
            return element(value.type).numpy
        case "itemsize":
            return element(value.type).itemsize
        case "size":
            total: Any = 1
            for dim in shape:
                total = binary(context, "multiply", total, dim_value(context, dim))
            return total
        case "T":
            return transpose(context, value, ())
        case "mT":
            if len(shape) < 2:
                raise ShapeError("matrix transpose with ndim < 2 is undefined", context.loc)
            return transpose(context, value, (*range(len(shape) - 2), len(shape) - 1, len(shape) - 2))
        case "real":
            return value
    if name in METHODS:
        return Method(value, name)
    owner = np.ndarray if is_array(value) else np.generic
    if hasattr(owner, name):
        raise UnsupportedError(
            f"ndarray.{name} is not supported", context.loc, f"the methods are {', '.join(sorted(METHODS))}"
        )
    kind = "numpy.ndarray" if is_array(value) else f"numpy.{element(value.type).numpy.name}"
    raise MissingAttributeError(f"'{kind}' object has no attribute '{name}'", context.loc)


def target_dtype(context: Context, value: Any) -> DType:
    """The dtype an argument such as ``np.float32`` or ``"f4"`` names.

    Raises
    ------
    DTypeError
        It names none.
    UnsupportedError
        It names one without code (float16, complex, object, big-endian).
    """
    if isinstance(value, Value):
        raise UnsupportedError("a dtype known only at run time", context.loc)
    try:
        numpy_dtype = np.dtype(value)
    except TypeError as error:
        raise DTypeError(str(error), context.loc) from None
    found = dtype_of(numpy_dtype)
    if found is None or value is None:
        raise UnsupportedError(f"dtype {numpy_dtype} is not supported", context.loc, "name a bool, integer or float dtype")
    return checked_dtype(found, context.loc)


def transpose(context: Context, value: Value, axes: tuple[Any, ...]) -> Value:
    """The axes in another order; reversed when none are given."""
    ndim = len(dimensions(value))
    if not axes or axes == (None,):
        order = tuple(reversed(range(ndim)))
    else:
        if len(axes) == 1 and isinstance(axes[0], (tuple, list)):
            axes = tuple(axes[0])
        if len(axes) != ndim:
            raise ShapeError("axes don't match array", context.loc)
        order = tuple(normal_axis(context, a, ndim) for a in axes)
        if len(set(order)) != ndim:
            raise ShapeError("repeated axis in transpose", context.loc)
    if ndim < 2 and isinstance(value.type, ScalarType):
        return value
    return context.builder.emit("transpose", (value,), {"axes": order})


def swapaxes(context: Context, value: Value, first: Any, second: Any) -> Value:
    """Two axes exchanged."""
    ndim = len(dimensions(value))
    order = list(range(ndim))
    a, b = normal_axis(context, first, ndim), normal_axis(context, second, ndim)
    order[a], order[b] = order[b], order[a]
    return transpose(context, value, tuple(order))


def expand_dims(context: Context, value: Value, axis: Any) -> Value:
    """New axes of length 1 at the given places of the result."""
    axes = axis if isinstance(axis, tuple) else (axis,)
    ndim = len(dimensions(value)) + len(axes)
    for place in sorted(normal_axis(context, a, ndim) for a in axes):
        value = context.builder.emit("newaxis", (value,), {"axis": place})
    return value


def squeeze(context: Context, value: Value, axis: Any = None) -> Value:
    """Axes of length 1 removed."""
    shape = dimensions(value)
    if axis is None:
        places = [a for a, d in enumerate(shape) if d == 1]
    else:
        axes = axis if isinstance(axis, tuple) else (axis,)
        places = [normal_axis(context, a, len(shape)) for a in axes]
    for place in sorted(places, reverse=True):
        if shape[place] != 1:
            raise ShapeError("cannot select an axis to squeeze out which has size not equal to one", context.loc)
        value = context.builder.emit("index", (value,), {"axis": place, "at": 0, "keep": True})
    return value


def astype(context: Context, value: Value, dtype: Any, copy: Any = True) -> Value:
    """``x.astype(dtype, copy=...)``."""
    target = target_dtype(context, dtype)
    if isinstance(value.type, WeakType) or element(value.type) is not target:
        return cast(context, value, target)
    if copy is False or isinstance(value.type, ScalarType):
        return value
    return context.builder.emit("copy", (value,))


def clip(context: Context, value: Any, low: Any = None, high: Any = None) -> Any:
    """``np.clip``: either bound may be None."""
    if low is None and high is None:
        return elementwise(context, "positive", value)
    if _beyond(value, low, upper=False):
        low = None
    if _beyond(value, high, upper=True):
        high = None
    if low is None and high is None:
        return elementwise(context, "positive", value)
    if low is None:
        return elementwise(context, "minimum", value, high)
    if high is None:
        return elementwise(context, "maximum", value, low)
    return elementwise(context, "clip", value, low, high)


def _beyond(value: Any, bound: Any, upper: bool) -> bool:
    """A Python int at or past the dtype's own end bounds nothing."""
    if type(bound) is not int or not isinstance(value, Value) or isinstance(value.type, WeakType):
        return False
    if not element(value.type).is_integer:
        return False
    limits = np.iinfo(element(value.type).numpy)
    return bound >= limits.max if upper else bound <= limits.min


def copy(context: Context, value: Value, order: Any = None) -> Value:
    """``x.copy()``."""
    return context.builder.emit("copy", (value,)) if is_array(value) else value


METHODS: dict[str, Callable[..., Any]] = {
    "astype": astype,
    "clip": clip,
    "copy": copy,
    "squeeze": squeeze,
    "swapaxes": swapaxes,
    "transpose": lambda context, value, *axes: transpose(context, value, axes),
    "conj": lambda context, value: elementwise(context, "positive", value),
    "conjugate": lambda context, value: elementwise(context, "positive", value),
}
"""Methods by name: ``(context, value, *args, **kwargs)``."""
