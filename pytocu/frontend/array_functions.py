"""NumPy's array functions that work element by element, in terms of the op table's rows."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from pytocu.errors import UnsupportedError, raised
from pytocu.frontend import attributes
from pytocu.frontend.conversions import copy_mode
from pytocu.frontend.inplace import assign_elements, fitted, known_number, out_array
from pytocu.frontend.layouts import laid_out_as, row_major
from pytocu.frontend.operators import attempt, binary, elementwise, is_beyond, truths
from pytocu.frontend.reductions import stand_in
from pytocu.frontend.reshaping import contiguous_as, together
from pytocu.frontend.rounding import by_parts
from pytocu.frontend.tables import Handler
from pytocu.frontend.ufunc_calls import compute_ufunc, without_axes
from pytocu.frontend.values import (
    Context,
    Grown,
    Steps,
    all_strong,
    as_strong,
    as_value,
    cast,
    const_inst,
    dimensions,
    is_array,
    is_weak,
)
from pytocu.ir import promote
from pytocu.ir.core import Value
from pytocu.ir.types import BOOL, F64, WEAK_BOOL, WEAK_COMPLEX, WEAK_FLOAT, DType, ScalarType, WeakType, element


def where(context: Context, condition: Any, /, *rest: Any) -> Any:
    """``np.where`` with three arguments."""
    if len(rest) > 2:
        text = f"where() takes from 1 to 3 positional arguments but {1 + len(rest)} were given"
        raise raised(TypeError(text), context.loc)
    if len(rest) != 2:
        raise raised(ValueError("either both or neither of x and y should be given"), context.loc)
    a, b = rest
    if is_weak(a) and is_weak(b):
        # NumPy makes arrays of both first: np.where(c, 1, 2.0) is float64.
        a, b = all_strong(context, a, b, wrap=promote.where_wraps())
    known = const_inst(as_value(context, condition)) if is_weak(condition) else None
    # A Python int is true or not also where no dtype holds it.
    holds = truths(context, condition if known is None else bool(known.attr("value")))
    return _as_array(context, elementwise(context, "where", holds, a, b))


def _as_array(context: Context, value: Value) -> Value:
    return context.builder.emit("as_array", (value,)) if isinstance(value.type, ScalarType) else value


def _constant(context: Context, value: Any, dtype: DType) -> Any:
    return dtype.numpy.type(value)


def _checked_cast(context: Context, value: Value, dtype: DType, what: str = "array data") -> Value:
    """A conversion as ``np.copyto`` makes it.

    Raises
    ------
    TypeError
        It is not of the same kind.
    """
    _check_cast(context, element(value.type).numpy, dtype, what)
    return cast(context, value, dtype)


def _check_cast(context: Context, source: np.dtype, dtype: DType, what: str) -> None:
    if not np.can_cast(source, dtype.numpy, "same_kind"):
        text = f"Cannot cast {what} from {source!r} to {dtype.numpy!r} according to the rule 'same_kind'"
        raise raised(TypeError(text), context.loc)


def is_infinity(sign: float) -> Handler:
    """``np.isposinf`` and ``np.isneginf``."""

    def handler(context: Context, x: Any, out: Any = None) -> Any:
        """Whether it is the infinity of this sign."""
        value = as_strong(context, x)
        if is_complex(value):
            dtype = element(value.type).numpy
            text = f"This operation is not supported for {dtype} values because it would be ambiguous."
            raise raised(TypeError(text), context.loc)
        if element(value.type).kind != "f":
            made = elementwise(context, "isinf", value)
        else:
            made = elementwise(context, "equal", value, _constant(context, sign * np.inf, element(value.type)))
        return made if out is None else compute_ufunc(context, "logical_and", (made, made), {"out": out_array(context, out)[0]})

    return handler


def nan_to_num(context: Context, x: Any, copy: Any = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """NaN and infinities replaced; by default by 0 and the dtype's ends."""
    copy = copy_mode(context, copy)
    if isinstance(x, (list, tuple, range, Steps, Grown)):
        # Their array is a new one, which copy=False does not allow.
        attempt(context, np.nan_to_num, [0.0], copy=copy)
        copy = True
    value = as_strong(context, x)
    dtype = element(value.type)
    copy = copy or (copy is None and not is_array(value))
    if not copy and not is_array(value):
        attempt(context, np.nan_to_num, np.float64(1), copy=False)
        raise UnsupportedError(
            "np.nan_to_num of a scalar with copy=False: NumPy has no array to change", context.loc, "leave copy= out"
        )
    if not copy and dtype.kind in "fc":
        assign_elements(context, value, nan_to_num(context, value, True, nan, posinf, neginf))
        return without_axes(context, value)
    if dtype.kind not in "fc":
        return without_axes(context, context.builder.emit("copy", (value,)) if copy and is_array(value) else value)
    if dtype.kind == "c":
        return by_parts(context, value, lambda part: nan_to_num(context, part, True, nan, posinf, neginf))
    limits = np.finfo(dtype.numpy)
    ends = (limits.max if posinf is None else posinf), (limits.min if neginf is None else neginf)
    made = value
    for row, replacement in ((is_infinity(-1.0), ends[1]), (is_infinity(1.0), ends[0]), (_is_nan, nan)):
        number = as_strong(context, replacement, F64 if is_beyond(replacement, 2**64) else None)
        # A complex number of Python's adapts first.
        weak = is_weak(replacement) and is_complex(number)
        source = np.result_type(dtype.numpy, 1j) if weak else element(number.type).numpy
        _check_cast(context, source, dtype, "array data" if dimensions(number) else "scalar")
        other = fitted(context, cast(context, number, dtype), value)
        made = elementwise(context, "where", row(context, value), other, made)
    return without_axes(context, laid_out_as(context, made, value, "K") if is_array(made) else made)


def _is_nan(context: Context, x: Value) -> Value:
    return elementwise(context, "isnan", x)


def fix(context: Context, x: Any, out: Any = None) -> Any:
    """``np.trunc`` by its old name; in older versions of what ``np.ceil`` makes of other numbers."""
    value = as_strong(context, x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = attempt(context, np.fix, stand_in(value)).dtype
    value = value if made == element(value.type).numpy else cast(context, value, attributes.target_dtype(context, made))
    return compute_ufunc(context, "trunc", (value,), {"out": out})


def sinc(context: Context, x: Any) -> Any:
    """``sin(pi x) / (pi x)``, and 1 at zero."""
    angle = elementwise(context, "multiply", as_strong(context, x), np.pi)
    one = _constant(context, 1, element(angle.type))
    at_zero = elementwise(context, "equal", angle, 0)
    divided = elementwise(context, "divide", elementwise(context, "sin", angle), angle)
    return elementwise(context, "where", at_zero, one, divided)


def angle(context: Context, z: Any, deg: Any = False) -> Any:
    """The angle of complex numbers; 0 or pi of real ones."""
    value = as_strong(context, z)
    parts = (0, value)
    if is_complex(value):
        parts = tuple(attributes.attribute(context, value, name) for name in ("imag", "real"))
    made = elementwise(context, "arctan2", *parts)
    return elementwise(context, "multiply", made, 180 / np.pi) if deg else made


def real(context: Context, val: Any) -> Any:
    """A real array itself, a view of a complex one; of a Python bool an int."""
    value = as_value(context, val)
    if not isinstance(val, Value) and isinstance(value.type, WeakType):
        return val.real
    if is_complex(value):
        return attributes.attribute(context, value, "real")
    return binary(context, "add", value, 0) if value.type == WEAK_BOOL else value


def imag(context: Context, val: Any) -> Any:
    """Zeros of a real array; what Python has of a Python scalar."""
    value = as_value(context, val)
    if not isinstance(val, Value) and isinstance(value.type, WeakType):
        return val.imag
    if isinstance(value.type, WeakType) and value.type.kind != "complex":
        return 0.0 if value.type.kind == "float" else 0
    return attributes.attribute(context, value, "imag")


def isreal(context: Context, x: Any) -> Any:
    """Every real number is; complex ones whose imaginary part is 0."""
    value = as_value(context, x)
    if not isinstance(x, Value) and isinstance(value.type, WeakType):
        return x.imag == 0
    if is_complex(value):
        return elementwise(context, "equal", attributes.attribute(context, value, "imag"), 0)
    if isinstance(value.type, WeakType):
        return True
    return contiguous_as(context, elementwise(context, "logical_or", elementwise(context, "isnan", value), True), value)


def iscomplex(context: Context, x: Any) -> Any:
    """No real number is; complex ones whose imaginary part is not 0."""
    value = as_strong(context, x)
    if is_complex(value):
        return elementwise(context, "not_equal", attributes.attribute(context, value, "imag"), 0)
    return row_major(context, elementwise(context, "logical_and", elementwise(context, "isnan", value), False))


def is_complex(value: Any) -> bool:
    """Whether a value is complex by its type."""
    if isinstance(value, Value):
        return value.type == WEAK_COMPLEX if isinstance(value.type, WeakType) else element(value.type).kind == "c"
    return bool(np.iscomplexobj(value))


def isclose(
    context: Context, a: Any, b: Any, rtol: Any = 1.0e-5, atol: Any = 1.0e-8, equal_nan: Any = False
) -> Any:
    """``|a - b| <= atol + rtol * |b|`` for finite `b`, or equal."""

    def apply(name: str, *operands: Any) -> Any:
        return without_axes(context, elementwise(context, name, *operands))

    for bound in (atol, rtol):
        known = known_number(bound)
        if known is not None:
            # NumPy looks whether it is finite, which is its TypeError of a Python int that no dtype holds.
            attempt(context, np.isclose, 1.0, 1.0, 0.0, known)
    x, y = a, b
    if not is_weak(y):
        other = as_value(context, y)
        y = cast(context, other, promote.result_dtype((promote.operand(other.type), "float")))
        if dimensions(y):
            # NumPy makes this array, and its own order decides with that of the others.
            y = laid_out_as(context, y, other, "K")
    else:
        if as_value(context, y).type not in (WEAK_FLOAT, WEAK_COMPLEX):
            y = elementwise(context, "multiply", y, 1.0)
        if is_weak(x):
            x, y = as_strong(context, x), as_strong(context, y)
    distance = apply("absolute", apply("subtract", x, y))
    tolerance = apply("add", atol, apply("multiply", rtol, apply("absolute", y)))
    finite = elementwise(context, "isfinite", as_strong(context, y))
    near = apply("bitwise_and", apply("less_equal", distance, tolerance), finite)
    made = apply("bitwise_or", near, apply("equal", x, y))
    if equal_nan:
        for known in (const_inst(as_value(context, v)) for v in (x, y) if is_weak(v)):
            if known is not None:
                # Of a Python int that no dtype holds this is NumPy's TypeError.
                attempt(context, np.isnan, known.attr("value"))
        both = (elementwise(context, "isnan", as_strong(context, v)) for v in (x, y))
        made = apply("bitwise_or", made, apply("bitwise_and", *both))
    return made


def _together(context: Context, values: Sequence[Value]) -> Value:
    """One of several values, of which NumPy makes arrays of one shape; lengths that differ are an error."""
    arrays = [(n, v) for n, v in enumerate(values) if dimensions(v)]
    if len({dimensions(v) for _, v in arrays}) < 2:
        return arrays[0][1] if arrays else values[0]
    return together(context, [v for _, v in arrays], numbers=[n for n, _ in arrays])[0]


def select(context: Context, condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """The first choice whose condition holds."""
    loc = context.loc
    if not isinstance(condlist, (list, tuple)) or not isinstance(choicelist, (list, tuple)):
        raise UnsupportedError("np.select takes lists of conditions and choices here", loc, "write np.select([c, d], [x, y])")
    if len(condlist) != len(choicelist):
        raise raised(ValueError("list of cases must be same length as list of conditions"), loc)
    if not condlist:
        raise raised(ValueError("select with an empty condition list is not possible"), loc)
    given = [as_value(context, c) for c in (*choicelist, default)]
    dtype = attempt(context, promote.result_dtype, tuple(promote.operand(v.type) for v in given))
    conditions = [as_strong(context, c) for c in condlist]
    together = [_together(context, conditions), _together(context, given)]
    for number, condition in enumerate(conditions):
        if element(condition.type) is not BOOL:
            raise raised(TypeError(f"invalid entry {number} in condlist: should be boolean ndarray"), loc)
    _together(context, together)
    # As np.copyto does: a Python scalar is an array of its default dtype here.
    *choices, other = given
    what = "array data" if any(dimensions(v) for v in choices) or dimensions(other) else "scalar"
    if any(is_beyond(choice, 2**64) for choice in choices):
        _check_cast(context, np.dtype(object), dtype, what)
    made = cast(context, as_strong(context, other, dtype if is_beyond(other, 2**64) else None), dtype)
    for condition, choice in zip(reversed(conditions), reversed(choices), strict=True):
        converted = _checked_cast(context, as_strong(context, choice), dtype, what)
        made = elementwise(context, "where", condition, converted, made)
    return _as_array(context, row_major(context, made))


def real_if_close(context: Context, a: Any, tol: Any = 100) -> Any:
    """A real array itself; of complex numbers the dtype would depend on their values."""
    value = as_strong(context, a)
    if is_complex(value):
        raise UnsupportedError(
            "np.real_if_close of complex numbers has a dtype that depends on the data", context.loc, "write x.real, or keep x"
        )
    return _as_array(context, value)


FUNCTIONS: dict[str, Handler] = {
    "where": where,
    "isposinf": is_infinity(1.0),
    "isneginf": is_infinity(-1.0),
    "nan_to_num": nan_to_num,
    "fix": fix,
    "sinc": sinc,
    "angle": angle,
    "real": real,
    "imag": imag,
    "isreal": isreal,
    "iscomplex": iscomplex,
    "isclose": isclose,
    "select": select,
    "real_if_close": real_if_close,
}
"""By NumPy's name; parameters are called as NumPy calls them."""

__all__ = ["FUNCTIONS", "is_complex", "truths"]
