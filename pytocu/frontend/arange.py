"""``np.arange``: how many numbers a range has, with NumPy's differences and sums of the bounds.

Its elements are those of :mod:`pytocu.frontend.range_elements`.
"""

from __future__ import annotations

import math
import operator
import sys
from typing import Any

import numpy as np

from pytocu.errors import UnsupportedError, raised
from pytocu.frontend.attributes import target_dtype
from pytocu.frontend.devices import check_device
from pytocu.frontend.literals import known_array
from pytocu.frontend.math_calls import on_host
from pytocu.frontend.operators import TOO_LARGE, attempt, binary, elementwise, is_c_long, is_python_complex
from pytocu.frontend.range_elements import example_number, is_complex_number, is_int, range_of
from pytocu.frontend.ranges import known_here, most, number_as_dim
from pytocu.frontend.reading import read_float, read_int, scalar_of
from pytocu.frontend.requirements import require_equal
from pytocu.frontend.reshaping import (
    SIZE,
)
from pytocu.frontend.tables import Handler
from pytocu.frontend.values import (
    Context,
    as_strong,
    as_value,
    describe,
    dim_value,
    dimensions,
    is_weak,
)
from pytocu.frontend.worded import after
from pytocu.ir.core import Value
from pytocu.ir.dims import DimLike, dim_max, dim_min, floordiv
from pytocu.ir.types import (
    BOOL,
    C128,
    U64,
    WEAK_BOOL,
    WEAK_COMPLEX,
    WEAK_FLOAT,
    WEAK_INT,
    DType,
    dtype_of,
    element,
)


def arange(
    context: Context,
    *args: Any,
    dtype: Any = None,
    start: Any = None,
    stop: Any = None,
    step: Any = None,
    device: Any = None,
    like: Any = None,
) -> Value:
    """Numbers from a start on by a step.

    Raises
    ------
    UnsupportedError
        A bound that is a number with axes, or an int that int64 does not hold beside numbers of run time.
    """
    check_device(context, device, like)
    if start is not None and args:
        raise raised(TypeError("argument for arange() given by name ('start') and position (position 0)"), context.loc)
    first, last, by = _bounds(context, args, start, stop, step)
    if dtype is None and len(args) > 3:
        dtype = args[3]
    short = None
    if any(isinstance(b, Value) for b in (first, last, by)):
        _check_kinds(context, first, last, by)
        _check_bools(context, first, last)
    else:
        short = _short(context, first, last, by, dtype)
        if short is not None and short.size <= 2 and dtype_of(short.dtype) is not None:
            return known_array(context, short)
    if not isinstance(by, Value) and by == 0 and not isinstance(by, np.generic) and not any(map(_is_numpys, (first, last))):
        # Python's sentence for ints or floats.
        attempt(context, operator.truediv, example_number(last) - example_number(first), by)
    target = _range_dtype(context, first, last, by) if dtype is None else target_dtype(context, dtype)
    given = first, last, by
    second = None
    known = not any(isinstance(b, Value) for b in given)
    if _counts_in_ints(first, last, by) and not (known and any(map(_is_numpys, given))):
        end = _as_python(context, last)
        if any(map(_is_narrow, (first, last))):
            # NumPy counts with the difference, which a narrow dtype may not hold.
            distance = _as_python(context, _distance(context, first, last))
            end = binary(context, "add", _as_python(context, first), distance)
            if isinstance(end, int) and not is_c_long(end):
                raise raised(SIZE, context.loc)
        first, by = (_as_python(context, bound) for bound in (first, by))
        size = number_of_elements(context, first, end, by)
        if is_int(by) and any(map(_is_narrow, (given[0], given[2]))):
            second = _second(context, given[0], given[2], size)
    elif short is not None:
        size = short.size
        second = _second(context, first, by, size)
    else:
        if isinstance(first, Value) and first.type == WEAK_BOOL and _bool_kind(by) != "numpy":
            first = _as_python(context, first)
        distance = _distance(context, first, last)
        with np.errstate(all="ignore"):
            quotient = binary(context, "divide", distance, by)
        size = _number_within(context, distance, by, quotient, target is not None and target.kind == "c")
        second = _second(context, first, by, size)
    if target is None:
        raise UnsupportedError("np.arange of object", context.loc, "cast the result")
    if dtype is None:
        _require_held(context, first, last)
    return range_of(context, first, by, second, size, target)


def _require_held(context: Context, first: Any, last: Any) -> None:
    """Let the call refuse an end that int64 does not hold, with which NumPy's range has another dtype.

    Of a start that is known such a range is empty or has more elements than any array.  Other bounds the call converts.
    """
    if isinstance(first, Value) and isinstance(last, Value) and last.type == WEAK_INT and last.inst is not None:
        held = number_as_dim(context, last)
        assert held is not None
        outside = dim_max(held - (2**63 - 1), 0) + dim_max(-(2**63) - held, 0)
        require_equal(context, outside, 0, "OverflowError", str(TOO_LARGE))


def _range_dtype(context: Context, *bounds: Any) -> DType | None:
    """NumPy's dtype of a range between such numbers, None where it is of Python's objects."""
    kinds = [np.asarray(example_number(b)).dtype for b in bounds]
    return dtype_of(attempt(context, np.result_type, np.int64, *kinds))


def _counts_in_ints(first: Any, last: Any, by: Any) -> bool:
    """Whether Python's ints give the number of elements that NumPy computes, where narrow differences are looked at."""
    if not all(is_int(b) and not _is_unsigned(b) for b in (first, last)):
        return not any(map(_is_numpys, (first, last, by))) and not any(is_complex_number(b) for b in (first, last, by))
    if isinstance(by, Value):
        # A quotient of NumPy's by zero is no exception.
        return is_weak(by) and by.type != WEAK_COMPLEX and not any(map(_is_numpys, (first, last)))
    return by != 0 and (isinstance(by, (int, float)) or (is_int(by) and not _is_unsigned(by)))


def _distance(context: Context, first: Any, last: Any) -> Any:
    """From the start to the end, with NumPy's error of an int that the other's dtype does not hold."""
    _check_held(context, first, last)
    try:
        return binary(context, "subtract", last, first)
    except OverflowError:
        raise raised(SIZE, context.loc) from None


def _second(context: Context, first: Any, by: Any, size: DimLike) -> Any:
    """The second element, as NumPy adds numbers that are not both Python's."""
    # NumPy adds where there is a first element; where an int does not fit, that is an error of its own.
    _check_held(context, first, by, dim_min(size, 1))
    if any(map(_is_numpys, (first, by))) and not isinstance(size, int):
        some = as_value(context, binary(context, "not_equal", dim_value(context, size), 0))
        first, by = (
            context.builder.emit("python_choose", (some, b, as_value(context, 0)))
            if isinstance(b, Value) and b.type == WEAK_INT
            else b
            for b in (first, by)
        )
    try:
        return binary(context, "add", first, by)
    except OverflowError:
        return first


def _check_kinds(context: Context, *bounds: Any) -> None:
    """Refuse numbers with axes, and ints that int64 does not hold, beside such of run time."""
    for bound in bounds:
        if isinstance(bound, Value) and dimensions(bound):
            text = f"a bound of np.arange must be a number, and this is {describe(bound)}"
            raise UnsupportedError(text, context.loc, "say which element: x[0]")
        if isinstance(bound, int) and not is_c_long(bound):
            text = f"np.arange of the int {bound} and numbers known only at run time"
            raise UnsupportedError(text, context.loc, "write it as a float")


_SHORT = 4096


def _short(context: Context, first: Any, last: Any, by: Any, dtype: Any) -> np.ndarray | None:
    """NumPy's own range, or what it refuses, unless the range is long."""
    try:
        with np.errstate(all="ignore"):
            size = (last - first) / by
        if not np.iscomplexobj(size) and _SHORT < size < sys.maxsize:
            return None
    except (ArithmeticError, TypeError):
        # So is it for NumPy.
        pass
    return attempt(context, np.arange, first, last, by, dtype=dtype)


def _check_held(context: Context, first: Any, second: Any, count: DimLike = 1) -> None:
    """Of two numbers that NumPy adds or subtracts, an int of Python's must fit the dtype of an int of NumPy's."""
    for plain, other in ((first, second), (second, first)):
        if not is_int(plain) or not is_int(other) or _is_numpys(plain) or not _is_numpys(other):
            continue
        dtype = element(other.type).numpy if isinstance(other, Value) else other.dtype
        if (isinstance(plain, Value) and plain.type != WEAK_INT) or dtype.kind == "b":
            continue
        held, limits = number_as_dim(context, plain), np.iinfo(dtype)
        if held is not None:
            outside = dim_max(int(limits.min) - held, 0)
            if dtype.itemsize < 8:
                outside = outside + dim_max(held - int(limits.max), 0)
            require_equal(context, count * outside, 0, "ValueError", str(SIZE))


def _is_narrow(bound: Any) -> bool:
    """Whether a difference has the dtype of an int of NumPy's; that of a known one of 64 bits is as Python's."""
    if isinstance(bound, Value):
        return not is_weak(bound)
    return isinstance(bound, np.integer) and bound.dtype != np.int64


def _is_numpys(bound: Any) -> bool:
    return not is_weak(bound) if isinstance(bound, Value) else isinstance(bound, np.generic)


def _as_python(context: Context, bound: Any) -> Any:
    """An int of NumPy's as Python's; other numbers as they are."""
    if isinstance(bound, np.integer):
        return int(bound)
    if isinstance(bound, Value) and bound.type == WEAK_BOOL:
        return on_host(context, "python_int", bound)
    if isinstance(bound, Value) and not is_weak(bound):
        return read_int(context, scalar_of(context, bound, "int"), "np.arange")
    return bound


def _is_unsigned(bound: Any) -> bool:
    """Whether it is a NumPy int that int64 may not hold."""
    if isinstance(bound, Value):
        return not is_weak(bound) and element(bound.type) is U64
    return isinstance(bound, np.integer) and bound.dtype == np.uint64


def _check_bools(context: Context, first: Any, last: Any) -> None:
    """NumPy subtracts the bounds, which it does not do with two truth values of which one is its own."""
    kinds = [_bool_kind(b) for b in (first, last)]
    if None not in kinds and "numpy" in kinds:
        attempt(context, np.arange, np.False_, np.True_)


def _bool_kind(bound: Any) -> str | None:
    if isinstance(bound, Value):
        numpys = not is_weak(bound) and element(bound.type) is BOOL
        return "numpy" if numpys else "python" if bound.type == WEAK_BOOL else None
    return "numpy" if isinstance(bound, np.bool_) else "python" if isinstance(bound, bool) else None


def _bounds(context: Context, args: tuple[Any, ...], start: Any, stop: Any, step: Any) -> tuple[Any, Any, Any]:
    given = list(args[:3])
    if given and given[0] is None:
        # NumPy's exception.
        attempt(context, np.arange, *args[:2])
    if len(given) == 1 and stop is None:
        given = [0 if start is None else start, given[0]]
    elif len(given) == 1:
        given = [given[0], stop]
    elif not given:
        given = [0 if start is None else start, stop]
    if len(given) == 2:
        given.append(1 if step is None else step)
    first, last, by = given
    if last is None:
        if start is None and not args:
            raise raised(TypeError("arange() requires stop to be specified."), context.loc)
        first, last = 0, first
    return (0 if first is None else first), last, (1 if by is None else by)


def number_of_elements(context: Context, first: Any, last: Any, by: Any) -> DimLike:
    """How many numbers a range has, 0 where it goes the other way."""
    size = not_negative(context, signed_number(context, first, last, by))
    if isinstance(size, int) and not is_c_long(size):
        raise raised(SIZE, context.loc)
    return size


def not_negative(context: Context, signed: DimLike) -> DimLike:
    """A length, which is 0 where the number is negative."""
    return context.length(most(signed, 0, known_here(context)))


_LONG_STEP = 2**13
"""With smaller steps there is no memory for a range so long that the float quotient of ints is not theirs."""


def signed_number(context: Context, first: Any, last: Any, by: Any) -> DimLike:
    """``ceil((last - first) / by)``, which is negative where a range goes the other way."""
    if not isinstance(by, Value) and by == 0:
        # Python's sentence for ints or floats.
        attempt(context, operator.truediv, example_number(last) - example_number(first), by)
    whole = int(by) if not isinstance(by, Value) and float(by).is_integer() else None
    low, high = (_whole(context, b) for b in (first, last))
    if low is not None and high is not None and whole is not None and abs(whole) < _LONG_STEP:
        distance = high - low if whole > 0 else low - high
        return distance if abs(whole) == 1 else floordiv(distance + (abs(whole) - 1), abs(whole))
    if not any(isinstance(v, Value) for v in (first, last, by)):
        with np.errstate(all="ignore"):
            quotient = (last - first) / by
        if not math.isfinite(quotient):
            raise raised(ValueError("arange: cannot compute length") if math.isnan(quotient) else SIZE, context.loc)
        return math.ceil(quotient)
    # NumPy computes the number of elements with Python's numbers as well.
    distance = binary(context, "subtract", last, first)
    return _ceiling(context, distance, by, binary(context, "divide", distance, by), any(map(_is_float, (first, last, by))))


def _number_within(context: Context, distance: Any, by: Any, quotient: Any, of_complex: bool) -> DimLike:
    """How many numbers a range has that begins or ends with NumPy's, or steps by one; the real ones or both parts count."""
    if not of_complex and is_python_complex(context, quotient):
        attempt(context, math.ceil, 1j)
    if not isinstance(quotient, Value):
        parts = [quotient.real, quotient.imag] if of_complex and isinstance(quotient, complex) else [np.real(quotient)]
        numbers: list[DimLike] = []
        for part in map(float, parts):
            if not -(2.0**63) <= part < 2.0**63:
                raise raised(ValueError("arange: cannot compute length") if math.isnan(part) else SIZE, context.loc)
            numbers.append(math.ceil(part))
    elif is_complex_number(quotient):
        strong = as_strong(context, quotient)
        # NumPy asks Python for the parts, for which complex64 is none of its complex numbers.
        parts = ("real", "imag") if of_complex and element(strong.type) is C128 else ("real",)
        numbers = [_ceiling(context, distance, by, context.builder.emit(part, (strong,)), None) for part in parts]
    else:
        numbers = [_ceiling(context, distance, by, quotient)]
    return not_negative(context, dim_min(*numbers) if len(numbers) > 1 else numbers[0])


def _ceiling(context: Context, distance: Any, by: Any, quotient: Any, floats: bool | None = True) -> DimLike:
    """The quotient of run time as an int, with NumPy's exceptions of floats that are no number of elements.

    A quotient that is too small for a float is one element, but for complex numbers (`floats` is None).
    """
    if isinstance(quotient, Value) and not is_weak(quotient):
        if floats is not None:
            small = elementwise(context, "logical_not", elementwise(context, "signbit", quotient))
            for name, one in (("equal", quotient), ("not_equal", distance)):
                small = elementwise(context, "logical_and", small, as_strong(context, binary(context, name, one, 0)))
            quotient = elementwise(context, "where", small, element(quotient.type).numpy.type(1), quotient)
        quotient = after(context, _CHECKED, {"quotient": read_float(context, quotient)}, "quotient")
    elif isinstance(quotient, Value) and floats:
        quotient = after(context, _CHECKED + _SMALL, {"quotient": quotient, "distance": distance, "by": by}, "quotient")
    return number_as_dim(context, on_host(context, "math_ceil", quotient)) or 0


_CHECKED = f"""\
if quotient != quotient:
    raise ValueError("arange: cannot compute length")
if not -{2.0**63} <= quotient < {2.0**63}:
    raise ValueError("{SIZE}")
"""
_SMALL = """\
if quotient == 0.0 and distance != 0 and (distance > 0) == (by > 0):
    quotient = 1.0
"""


def _is_float(bound: Any) -> bool:
    return bound.type == WEAK_FLOAT if isinstance(bound, Value) else isinstance(bound, float)


def _whole(context: Context, bound: Any) -> DimLike | None:
    if isinstance(bound, (float, np.floating)) and float(bound).is_integer():
        return int(bound)
    return number_as_dim(context, int(bound) if isinstance(bound, np.integer) else bound)


FUNCTIONS: dict[str, Handler] = {"arange": arange}
"""By NumPy's name; parameters are called as NumPy calls them."""
