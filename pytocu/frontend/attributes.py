"""Attributes and methods of arrays and NumPy scalars."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np

from pytocu.deferred import Deferred
from pytocu.errors import CompileError, DTypeError, MissingAttributeError, ShapeError, UnsupportedError, closest
from pytocu.frontend.axes import normal_axis
from pytocu.frontend.operators import attempt, binary, compute, elementwise, known_option
from pytocu.frontend.refused import REFUSED
from pytocu.frontend.tables import Handler, Table
from pytocu.frontend.ufunc_calls import check_where, checked_keywords, compute_ufunc
from pytocu.frontend.values import (
    Context,
    Flat,
    as_value,
    called,
    cast,
    contains_dynamic,
    describe,
    dim_value,
    dimensions,
    is_array,
    is_numpy_scalar,
    python_type_name,
    several,
)
from pytocu.guards import MISSING
from pytocu.ir.core import Value
from pytocu.ir.dims import Dim, may_repeat
from pytocu.ir.types import (
    ALL_DTYPES,
    BOOL,
    I64,
    U64,
    WEAK_INT,
    ArrayType,
    DType,
    ScalarType,
    WeakType,
    dtype_of,
    element,
    scalar,
)

_extreme = Deferred("pytocu.frontend.choices", "extreme")
_note_write = Deferred("pytocu.frontend.inplace", "note_write")
_number_attribute = Deferred("pytocu.frontend.python_methods", "number_attribute")
_stand_in = Deferred("pytocu.frontend.reductions", "stand_in")
_view_of_another_size = Deferred("pytocu.frontend.bytes_as", "view_of_another_size")
_in_order = Deferred("pytocu.frontend.reshaping", "in_order")
_contiguous_order = Deferred("pytocu.frontend.reshaping", "contiguous_order")
_contiguous_as = Deferred("pytocu.frontend.reshaping", "contiguous_as")
_laid_out_as = Deferred("pytocu.frontend.layouts", "laid_out_as")
_is_length = Deferred("pytocu.frontend.requirements", "is_length")
_require_equal = Deferred("pytocu.frontend.requirements", "require_equal")
_copied_unless = Deferred("pytocu.frontend.reshaping", "copied_unless")
_is_given_empty = Deferred("pytocu.frontend.reshaping", "is_given_empty")
_spread = Deferred("pytocu.frontend.reshaping", "spread")
_repeated = Deferred("pytocu.frontend.reshaping", "repeated")


@called("builtin_function_or_method")
class Method:
    """A method of an IR value, waiting for its arguments."""

    __pytocu_plain__ = True
    __slots__ = ("name", "value")

    def __init__(self, value: Any, name: str):
        self.value, self.name = value, name


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
        return _number_attribute(context, value, name)
    kind = python_type_name(value)
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
        case "mT" if is_array(value):
            if len(shape) < 2:
                raise ShapeError("matrix transpose with ndim < 2 is undefined", context.loc)
            return transpose(context, value, (*range(len(shape) - 2), len(shape) - 1, len(shape) - 2))
        case "nbytes":
            return binary(context, "multiply", attribute(context, value, "size"), element(value.type).itemsize)
        case "flat" if is_array(value):
            return Flat(value)
        case "real":
            return context.builder.emit("real", (value,)) if element(value.type).kind == "c" else value
        case "imag":
            return imag(context, value)
    owner = np.ndarray if is_array(value) else element(value.type).numpy.type
    if name in METHODS and hasattr(owner, name):
        return Method(value, name)
    if hasattr(owner, name):
        raise UnsupportedError(f"ndarray.{name} is not supported", context.loc, instead_of(name))
    close = closest(name, dir(owner))
    raise MissingAttributeError(
        f"'{kind}' object has no attribute '{name}'", context.loc, f"did you mean {close}?" if close else None
    )


def instead_of(name: str) -> str:
    """What to do where a NumPy function or method has no compiled form."""
    if name in REFUSED:
        return REFUSED[name]
    if name.startswith("__"):
        return "write the operator or the function of Python that calls it, as -x, x[i], len(x) or float(x)"
    methods = ", ".join(m for m in sorted(METHODS) if m[0] != "_")
    return f"compiled are elementwise functions, np.where, np.clip, casts and views; the methods are {methods}"


def target_dtype(context: Context, value: Any) -> DType:
    """The dtype an argument such as ``np.float32`` or ``"f4"`` names.

    Raises
    ------
    DTypeError
        It names none.
    UnsupportedError
        It names one without code (object, long double, big-endian).
    """
    if isinstance(value, Value) and not isinstance(value.type, WeakType):
        # NumPy reads the dtype of a scalar, and none of an array.
        example = np.zeros((1,) if is_array(value) else (), element(value.type).numpy)
        return target_dtype(context, attempt(context, np.dtype, example if is_array(value) else example[()]))
    if isinstance(value, Value):
        raise DTypeError(f"{describe(value)} is used as a dtype", context.loc, "write np.float32, 'f4' or x.dtype")
    try:
        numpy_dtype = compute(context, np.dtype, value)
    except CompileError as error:
        close = closest(value, [d.numpy.name for d in ALL_DTYPES]) if isinstance(value, str) else ""
        error.help = error.help or (f"did you mean {close}?" if close else None)
        raise
    found = dtype_of(numpy_dtype)
    if found is None:
        widest = {"f": "float64 is the widest float", "c": "complex128 is the widest complex dtype"}
        help = widest.get(numpy_dtype.kind, "name a bool, integer, float or complex dtype")
        if not numpy_dtype.isnative:
            help = f"name the dtype in this machine's order of bytes: {numpy_dtype.newbyteorder('=').name}"
        raise UnsupportedError(f"dtype {numpy_dtype} is not supported", context.loc, help)
    return found


def transpose(context: Context, value: Value, axes: tuple[Any, ...]) -> Value:
    """The axes in another order; reversed when none are given."""
    axes = known_option(context, axes, "axes=")
    # Axes whose strides are their numbers tell the order in which NumPy puts them.
    ndim = len(dimensions(value))
    numbered = np.ndarray((1,) * ndim, np.int8, strides=tuple(range(ndim)))
    order = attempt(context, numbered.transpose, *axes).strides
    return context.builder.emit("transpose", (value,), {"axes": order}) if is_array(value) else value


def swapaxes(context: Context, value: Value, axis1: Any, axis2: Any) -> Value:
    """Two axes exchanged."""
    ndim = len(dimensions(value))
    order = list(range(ndim))
    a, b = normal_axis(context, axis1, ndim, "axis1"), normal_axis(context, axis2, ndim, "axis2")
    order[a], order[b] = order[b], order[a]
    return transpose(context, value, tuple(order))


def expand_dims(context: Context, value: Value, axis: Any) -> Value:
    """New axes of length 1 at the given places of the result."""
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    ndim = len(dimensions(value)) + len(axes)
    places = sorted(normal_axis(context, a, ndim) for a in axes)
    if len(set(places)) != len(places):
        raise ShapeError("repeated axis", context.loc)
    if not axes:
        # A view of its own.
        return context.builder.emit("transpose", (value,), {"axes": tuple(range(ndim))})
    for place in places:
        value = context.builder.emit("newaxis", (value,), {"axis": place})
    return value


def squeeze(context: Context, value: Value, axis: Any = None) -> Value:
    """Axes of length 1 removed.

    Raises
    ------
    UnsupportedError
        Which axes have length 1 is known only at run time.
    """
    shape = dimensions(value)
    if not shape and type(axis) is not tuple and axis in (0, -1):
        # NumPy takes a number for an array with one axis here.
        return value
    if axis is None:
        places = [a for a, d in enumerate(shape) if d == 1 or may_repeat(d)]
        for place, dim in enumerate(shape):
            if may_repeat(dim):
                text = "squeeze() of a slice of one element that is not there: it is compiled as one that exists"
                _require_equal(context, dim, 1, "UnsupportedError", text)
            elif isinstance(dim, Dim):
                _assume_not_one(context, dim, place)
    else:
        axes = axis if isinstance(axis, tuple) else (axis,)
        places = [normal_axis(context, a, len(shape)) for a in axes]
        if len(set(places)) != len(places):
            raise ShapeError("duplicate value in 'axis'", context.loc)
    for place in sorted(places, reverse=True):
        if isinstance(shape[place], Dim) and not (axis is None and may_repeat(shape[place])):
            context.builder.emit("check", (), {"kind": "squeeze", "dims": (shape[place],), "shapes": ()})
        elif isinstance(shape[place], int) and shape[place] != 1:
            raise ShapeError("cannot select an axis to squeeze out which has size not equal to one", context.loc)
        value = context.builder.emit("index", (value,), {"axis": place, "at": 0, "keep": True})
    return value


def _assume_not_one(context: Context, dim: Dim, axis: int) -> None:
    if _is_length(context, dim, 1) is None:
        which = f"the length of axis {axis}, which only a run knows, may or may not be 1"
        help = f"name the axes to remove: x.squeeze(axis={axis})"
        raise UnsupportedError(f"squeeze() must know which axes have length 1, and {which}", context.loc, help)


def _different_axes(context: Context, axes: Any, ndim: int, name: str) -> list[int]:
    places = [normal_axis(context, a, ndim, name) for a in several(axes)]
    if len(set(places)) != len(places):
        raise ShapeError(f"repeated axis in `{name}` argument", context.loc)
    return places


def moveaxis(context: Context, value: Value, source: Any, destination: Any) -> Value:
    """Axes moved to new places, the others in order."""
    ndim = len(dimensions(value))
    sources, places = (
        _different_axes(context, axes, ndim, name) for axes, name in ((source, "source"), (destination, "destination"))
    )
    if len(sources) != len(places):
        raise ShapeError("`source` and `destination` arguments must have the same number of elements", context.loc)
    order = [axis for axis in range(ndim) if axis not in sources]
    for place, axis in sorted(zip(places, sources, strict=True)):
        order.insert(place, axis)
    return transpose(context, value, tuple(order))


def astype(
    context: Context,
    value: Value,
    dtype: Any,
    order: Any = "K",
    casting: Any = "unsafe",
    subok: Any = True,
    copy: Any = True,
) -> Value:
    """``x.astype(dtype)``; a new array unless `copy` is False and the array has the dtype and the order."""
    target = target_dtype(context, dtype)
    order = compute(context, _astype_order, order)
    compute(context, np.zeros(()).astype, float, subok=subok)
    if casting != "unsafe" and not isinstance(value.type, WeakType):
        example = np.zeros((1,) * len(dimensions(value)), element(value.type).numpy)
        compute(context, example.astype, target.numpy, casting=casting)
        if casting == "same_value":
            help = "compare afterwards: np.all(x.astype(dtype) == x)"
            raise UnsupportedError("astype with casting='same_value' is not supported", context.loc, help)
    made = cast(context, value, target)
    if order == "A" and made is value and not copy:
        # An array in neither order is copied.
        order = _contiguous_order(context, made)
    lies = not dimensions(made) or order not in ("C", "F")
    if not lies and made is value:
        apart = _spread(context, made if order == "C" else transpose(context, made, ()))
        lies = apart == 0 or (not copy and _is_given_empty(context, made))
        if not lies and not copy:
            return _copied_unless(context, made, made, apart, order)
    if not dimensions(made) and (made is not value or isinstance(value.type, ScalarType)):
        return made
    if not lies or (made is value and copy):
        return _in_order(context, made, order)
    if order == "A" and made is not value:
        return _contiguous_as(context, made, value)
    return _laid_out_as(context, made, value, order) if dimensions(made) else made


def _astype_order(order: Any) -> Any:
    np.zeros(()).astype(float, order=order)
    return order.upper() if isinstance(order, str) else order


def view(context: Context, value: Value, dtype: Any = MISSING, type: Any = MISSING) -> Value:
    """``x.view(dtype)``: the same memory as numbers of another dtype.

    Raises
    ------
    UnsupportedError
        Arbitrary bytes would become bools.
    """
    if type is None:
        attempt(context, np.zeros(()).view, type=None)
    if type is not MISSING or (isinstance(dtype, builtins.type) and issubclass(dtype, np.ndarray)):
        raise UnsupportedError("view() as another class of arrays is not compiled", context.loc, "name a dtype")
    source = element(value.type)
    # None names a dtype here too, float64.
    target = source if dtype is MISSING else target_dtype(context, dtype)
    if source.bits != target.bits:
        return _view_of_another_size(context, value, target)
    if target is BOOL and source is not BOOL:
        raise UnsupportedError(
            f"a view of {source.numpy} as bool is not compiled: bytes other than 0 and 1 are no bools",
            context.loc,
            "write x != 0",
        )
    made = ArrayType(target, value.type.shape) if isinstance(value.type, ArrayType) else scalar(target)
    return context.builder.emit("view", (value,), {}, (made,))


def imag(context: Context, value: Value) -> Value:
    """A view of complex numbers; zeros of the same dtype and shape for real ones, which NumPy lets nobody write."""
    if element(value.type).kind == "c":
        return context.builder.emit("imag", (value,))
    zero = element(value.type).numpy.type(0)
    zeros = elementwise(context, "where", np.False_, value, zero)
    return _repeated(context, _contiguous_as(context, zeros, value), dimensions(zeros)) if is_array(zeros) else zeros


def conjugate(context: Context, value: Value) -> Value:
    """``x.conj()``: a real array is its own conjugate, and NumPy returns the array itself."""
    return elementwise(context, "conjugate", value) if element(value.type).kind == "c" else value


def array_namespace(context: Context, value: Value, *, api_version: Any = None) -> Any:
    """``x.__array_namespace__()``: NumPy, whose functions stand for those of every library."""
    return np


def clip(
    context: Context,
    value: Any,
    a_min: Any = MISSING,
    a_max: Any = MISSING,
    out: Any = None,
    *,
    min: Any = MISSING,
    max: Any = MISSING,
    **kwargs: Any,
) -> Any:
    """``np.clip``: either bound may be None."""
    given = {"a_min": a_min, "a_max": a_max, "min": min, "max": max}
    # Which of them there are, and whether one of them may be missing, is not the same in all versions.
    named = {name: _shown(bound) for name, bound in given.items() if bound is not MISSING}
    if is_array(out):
        _note_write(context, out, "output array")
    numbers = _stand_in(value)
    # Of two bounds that are None NumPy has another function, which method_clip asks for.
    numbers = np.ones_like(numbers, np.int8) if isinstance(numbers, np.ndarray) and numbers.dtype == np.bool_ else numbers
    attempt(context, np.clip, numbers, **named, **({"out": out} if out is Ellipsis else {}))
    low, high = (next((b for b in bounds if b is not MISSING), None) for bounds in ((a_min, min), (a_max, max)))
    return method_clip(context, value, low, high, out, **kwargs)


def _shown(bound: Any) -> Any:
    """What stands for a bound where NumPy is asked; whether a Python int fits it is asked where it is converted."""
    if type(bound) is int:
        return 1
    return _stand_in(bound) if isinstance(bound, Value) or not contains_dynamic(bound) else 1


def method_clip(context: Context, value: Any, min: Any = None, max: Any = None, out: Any = None, **kwargs: Any) -> Any:
    """``x.clip``: either bound may be None; the arguments of ufuncs are those of the ufunc that is called."""
    kwargs = checked_keywords(context, "clip", kwargs)
    if is_array(out):
        _note_write(context, out, "output array")
    if min is None or max is None:
        loop = {name: kwargs[name] for name in ("dtype", "casting", "signature", "sig") if name in kwargs}
        attempt(context, _stand_in(value).clip, _shown(min), _shown(max), **loop)
    if out is Ellipsis and is_numpy_scalar(value):
        # The method of a scalar gives a scalar again.
        out = None
    check_where(context, "clip", kwargs.get("where", True), (out,))
    kwargs = {**kwargs, "out": out}
    low = None if _beyond(value, min, upper=False) else _bounding(context, value, min, max, upper=False)
    high = None if _beyond(value, max, upper=True) else _bounding(context, value, max, min, upper=True)
    if low is None and high is None:
        return compute_ufunc(context, "positive", (value,), kwargs)
    if low is None:
        return compute_ufunc(context, "minimum", (value, high), kwargs)
    if high is None:
        return compute_ufunc(context, "maximum", (value, low), kwargs)
    return compute_ufunc(context, "clip", (value, low, high), kwargs)


def _beyond(value: Any, bound: Any, upper: bool) -> bool:
    """A Python int at or past the dtype's own end bounds nothing."""
    if type(bound) is not int or not isinstance(value, Value) or isinstance(value.type, WeakType):
        return False
    if not element(value.type).is_integer:
        return False
    limits = np.iinfo(element(value.type).numpy)
    return bound >= limits.max if upper else bound <= limits.min


def _bounding(context: Context, value: Any, bound: Any, other: Any, upper: bool) -> Any:
    """A Python int of run time, which bounds nothing where it lies past the dtype's own end: it is that end, or infinity.

    Another bound that is a float may lie past the end, too.
    """
    if not isinstance(bound, Value) or bound.type != WEAK_INT or context.elements is not None:
        return bound
    if not isinstance(value, Value) or isinstance(value.type, WeakType):
        return bound
    dtype = element(value.type)
    if not dtype.is_integer or (upper and dtype is U64) or dtype is I64:
        return bound
    limits = np.iinfo(dtype.numpy)
    comparison, end = ("less", int(limits.max)) if upper else ("greater", int(limits.min))
    if _is_float(other):
        emit, inside = context.builder.emit, binary(context, comparison, bound, end)
        infinity = as_value(context, builtins.float("inf" if upper else "-inf"))
        return emit("python_choose", (inside, emit("python_float", (bound,)), infinity))
    if _is_complex(other):
        text = f"a bound that is complex beside an int of run time, which bounds nothing where {dtype.numpy} does not hold it"
        raise UnsupportedError(text, context.loc, "convert the array first: x.astype(complex)")
    return _extreme(context, "min" if upper else "max", "", comparison, [bound, end])


def _is_float(value: Any) -> bool:
    if not isinstance(value, Value):
        return isinstance(value, (builtins.float, np.floating))
    return value.type.kind == "float" if isinstance(value.type, WeakType) else element(value.type).kind == "f"


def _is_complex(value: Any) -> bool:
    if not isinstance(value, Value):
        return isinstance(value, (builtins.complex, np.complexfloating))
    return value.type.kind == "complex" if isinstance(value.type, WeakType) else element(value.type).kind == "c"


def copy(context: Context, value: Value, order: Any = "C") -> Value:
    """``x.copy()``."""
    return _in_order(context, value, compute(context, _astype_order, order)) if is_array(value) else value


ATTRIBUTES = ("T", "dtype", "flat", "imag", "itemsize", "mT", "nbytes", "ndim", "real", "shape", "size")
"""What :func:`attribute` has besides the methods."""

_OWN: dict[str, Handler] = {
    "__array_namespace__": array_namespace,
    "astype": astype,
    "clip": method_clip,
    "copy": copy,
    "squeeze": squeeze,
    "swapaxes": lambda context, value, axis1, axis2, /: swapaxes(context, value, axis1, axis2),
    "view": view,
    "transpose": lambda context, value, *axes: transpose(context, value, axes),
    "conj": conjugate,
    "conjugate": conjugate,
}

METHODS = Table(
    "METHODS",
    _OWN,
    {
        "compaction": "nonzero compress",
        "diagonals": "trace",
        "gathering": "take choose",
        "inplace": "fill",
        "joining": "repeat",
        "library_calls": "sort argsort searchsorted",
        "matrix_products": "dot",
        "partitions": "partition argpartition",
        "reading": "item",
        "positions": "argmin argmax",
        "python_lists": "tolist",
        "reductions": "sum prod min max any all",
        "rounding": "round",
        "scans": "cumsum cumprod",
        "statistics": "mean var std",
        "reshaping": "reshape ravel flatten diagonal",
        "scattering": "put",
    },
)
"""Methods by name: ``(context, value, *args, **kwargs)``."""
