"""Numbers in a row: ``np.arange``, ``linspace``, ``logspace``, ``geomspace``.

As with all new arrays, elements are computed where they are used: an ``arange`` in an expression takes no memory.
"""

from __future__ import annotations

import contextlib
import math
import operator
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from pytocu.errors import UnsupportedError, raised
from pytocu.frontend.attributes import expand_dims, moveaxis, target_dtype
from pytocu.frontend.creation import check_bools, dtype_or, number
from pytocu.frontend.devices import check_device
from pytocu.frontend.gathering import along
from pytocu.frontend.literals import known_array
from pytocu.frontend.math_calls import on_host
from pytocu.frontend.operators import TOO_LARGE, attempt, binary, elementwise, is_c_long, is_python_complex
from pytocu.frontend.ranges import known_here, most, number_as_dim
from pytocu.frontend.reading import read_float, read_int, scalar_of
from pytocu.frontend.reductions import reduce
from pytocu.frontend.requirements import require, require_equal
from pytocu.frontend.reshaping import (
    SIZE,
    array_of,
    as_length,
)
from pytocu.frontend.tables import Handler
from pytocu.frontend.values import (
    Context,
    as_strong,
    as_value,
    cast,
    describe,
    dim_value,
    dimensions,
    is_number,
    is_weak,
)
from pytocu.frontend.worded import after
from pytocu.ir import promote
from pytocu.ir.core import Value
from pytocu.ir.dims import DimLike, dim_max, dim_min, floordiv
from pytocu.ir.types import (
    BOOL,
    C64,
    C128,
    F16,
    F32,
    F64,
    I64,
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
        attempt(context, operator.truediv, _example(last) - _example(first), by)
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
        if _is_int(by) and any(map(_is_narrow, (given[0], given[2]))):
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
    return _range(context, first, by, second, size, target)


def _range_dtype(context: Context, *bounds: Any) -> DType | None:
    """NumPy's dtype of a range between such numbers, None where it is of Python's objects."""
    kinds = [np.asarray(_example(b)).dtype for b in bounds]
    return dtype_of(attempt(context, np.result_type, np.int64, *kinds))


def _counts_in_ints(first: Any, last: Any, by: Any) -> bool:
    """Whether Python's ints give the number of elements that NumPy computes, where narrow differences are looked at."""
    if not all(_is_int(b) and not _is_unsigned(b) for b in (first, last)):
        return not any(map(_is_numpys, (first, last, by))) and not any(_is_complex(b) for b in (first, last, by))
    if isinstance(by, Value):
        # A quotient of NumPy's by zero is no exception.
        return is_weak(by) and by.type != WEAK_COMPLEX and not any(map(_is_numpys, (first, last)))
    return by != 0 and (isinstance(by, (int, float)) or (_is_int(by) and not _is_unsigned(by)))


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
        if not _is_int(plain) or not _is_int(other) or _is_numpys(plain) or not _is_numpys(other):
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


def _is_int(bound: Any) -> bool:
    if not isinstance(bound, Value):
        return isinstance(bound, (int, np.integer, np.bool_))
    if is_weak(bound):
        return bound.type in (WEAK_INT, WEAK_BOOL)
    return element(bound.type).is_integer or element(bound.type) is BOOL


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


def _is_complex(bound: Any) -> bool:
    return bool(np.iscomplexobj(_example(bound)))


def _example(bound: Any) -> Any:
    """A number of the kind that a bound is."""
    if not isinstance(bound, Value):
        return bound
    if is_weak(bound):
        return 0.0 if bound.type == WEAK_FLOAT else 0j if bound.type == WEAK_COMPLEX else 0
    return element(bound.type).numpy.type(0)


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


def signed_number(context: Context, first: Any, last: Any, by: Any) -> DimLike:
    """``ceil((last - first) / by)``, which is negative where a range goes the other way."""
    if not isinstance(by, Value) and by == 0:
        # Python's sentence for ints or floats.
        attempt(context, operator.truediv, _example(last) - _example(first), by)
    whole = int(by) if not isinstance(by, Value) and float(by).is_integer() else None
    low, high = (_whole(context, b) for b in (first, last))
    if low is not None and high is not None and whole is not None:
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
    elif _is_complex(quotient):
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


def _range(context: Context, first: Any, by: Any, second: Any, size: DimLike, dtype: DType) -> Value:
    """``first + i * step`` as NumPy fills a range: the step is the difference of the first two elements.

    `second` is None where ``first + by`` is Python's.
    """
    if dtype.kind in "iu" or dtype is BOOL:
        return _range_of_ints(context, first, by, second, size, dtype)
    if second is None:
        second = binary(context, "add", first, by)
    if dtype.kind == "c":
        names = ("real", "imag") if any(map(_is_complex, (first, second))) else ("real",)
        wide = F32 if dtype is C64 else F64
        parts = [_floats(context, _part(context, first, n), _part(context, second, n), size, wide) for n in names]
        return context.builder.emit("compose", parts) if len(parts) > 1 else cast(context, parts[0], dtype)
    first, second = _real_elements(context, (first, second), size, dtype)
    return _floats(context, first, second, size, dtype)


def _part(context: Context, value: Any, name: str) -> Any:
    """The real or imaginary part of a number."""
    if not _is_complex(value):
        return value if name == "real" else 0.0
    if not isinstance(value, Value):
        return getattr(value, name)
    return context.builder.emit(name, (as_strong(context, value),))


def _real_elements(context: Context, values: Sequence[Any], size: DimLike, dtype: DType) -> list[Any]:
    """The first two elements of a range of real numbers; those of NumPy's complex ones are their real parts."""
    made = []
    for n, value in enumerate(values):
        if is_python_complex(context, value):
            try:
                np.zeros(1, dtype.numpy)[0] = 1j
            except TypeError as error:
                require_equal(context, dim_max(dim_min(size, n + 1) - n, 0), 0, "TypeError", str(error))
        made.append(_part(context, value, "real"))
    return made


def _range_of_ints(context: Context, first: Any, by: Any, second: Any, size: DimLike, dtype: DType) -> Value:
    place = along(context, size, 0, 1)
    following = binary(context, "add", first, by) if second is None else second
    if dtype is BOOL:
        _check_two(context, size)
        begin, end = (elementwise(context, "not_equal", as_strong(context, value), 0) for value in (first, following))
        return elementwise(context, "where", elementwise(context, "equal", place, 1), end, begin)
    first, following = _real_elements(context, (first, following), size, dtype)
    checked = _check_first_two(context, first, following, size, dtype)
    start = cast(context, as_strong(context, checked[0]), dtype) if isinstance(first, Value) else checked[0]
    made = cast(context, place, dtype)
    step = _whole_step(context, first, by, None if second is None else checked[1], dtype)
    if step != 1:
        step = number(context, _known(step, dtype), dtype) if isinstance(step, int) else step
        made = elementwise(context, "multiply", made, step)
    if isinstance(start, int):
        if start == 0:
            return made
        start = number(context, _known(start, dtype), dtype)
    return elementwise(context, "add", made, start)


def _floats(context: Context, first: Any, second: Any, size: DimLike, dtype: DType) -> Value:
    """Real numbers of which the first two are known, in a floating dtype."""
    place = along(context, size, 0, 1)
    wide = F32 if dtype is F16 else dtype
    made = cast(context, place, wide)
    if isinstance(first, Value) or isinstance(second, Value):
        start, second = (cast(context, as_strong(context, b), dtype) for b in (first, second))
        begin = cast(context, start, wide)
        step = elementwise(context, "subtract", cast(context, second, wide), begin)
        made = _rounded(context, elementwise(context, "add", _steps(context, place, step, wide), begin), dtype)
        ends = elementwise(context, "where", elementwise(context, "equal", place, 1), second, start)
        return elementwise(context, "where", elementwise(context, "less", place, 2), ends, made)
    with np.errstate(all="ignore"):
        start, second = dtype.numpy.type(first), dtype.numpy.type(second)
        begin = wide.numpy.type(start)
        step = wide.numpy.type(second) - begin
        again = [np.asarray(wide.numpy.type(n) * step + begin, dtype.numpy) for n in (0, 1)]
    if step != 1:
        made = _steps(context, place, number(context, step.item(), wide), wide)
    if start != 0:
        made = elementwise(context, "add", made, number(context, float(start), wide))
    made = _rounded(context, made, dtype)
    # NumPy computes what stands behind the first two elements.
    for n, (computed, element_there) in enumerate(zip(again, (start, second), strict=True)):
        if computed.tobytes() != np.asarray(element_there).tobytes():
            here = elementwise(context, "equal", place, n)
            made = elementwise(context, "where", here, number(context, float(element_there), dtype), made)
    return made


def _check_two(context: Context, size: DimLike) -> None:
    """NumPy's error of a range of more than two bools."""
    if isinstance(size, int):
        check_bools(context, size)
        return
    sentence = "arange() is only supported for booleans when the result has at most length 2."
    require_equal(context, dim_max(size - 2, 0), 0, "TypeError", sentence)


def _check_first_two(context: Context, first: Any, second: Any, size: DimLike, dtype: DType) -> list[Any]:
    """The first two elements of a range of integers, which as far as there are any must be numbers that the dtype holds."""
    limits = np.iinfo(dtype.numpy)
    made, told = [first, second], None
    for n, value in enumerate((first, second)):
        if isinstance(value, Value) and value.type == WEAK_FLOAT:
            value = on_host(context, "python_int", value)
        if isinstance(value, Value) and value.type != WEAK_INT:
            made[n], told = _held_element(context, value, dim_min(size, n + 1) - n, dtype, told)
            continue
        if isinstance(value, Value) and dtype is I64:
            continue
        if not isinstance(value, Value):
            value = made[n] = _cut_off(context, value, size, n)
        held = number_as_dim(context, value)
        if held is None or (isinstance(held, int) and limits.min <= held <= limits.max):
            continue
        there = dim_max(dim_min(size, n + 1) - n, 0)
        if isinstance(held, int) and not is_c_long(held):
            # No text of pytocu's holds it.
            require_equal(context, there, 0, "OverflowError", _said_of(held, dtype))
            continue
        if isinstance(held, int):
            outside: DimLike = 1
        else:
            outside = dim_max(limits.min - held, 0)
            if dtype is not U64:
                outside = outside + dim_max(held - int(limits.max), 0)
        sentence = f"Python integer {{2}} out of bounds for {dtype.numpy}"
        require_equal(context, there * outside, 0, "OverflowError", sentence, held)
    return made


def _held_element(
    context: Context, value: Value, there: DimLike, dtype: DType, told: Value | None
) -> tuple[Value, Value | None]:
    """An element of NumPy's, where there is one, with NumPy's error of a number that the dtype does not hold.

    Parameters
    ----------
    told : Value, optional
        Whether an error of another element is said before.

    Returns
    -------
    tuple of Value
        The element, and whether one of the errors was said.
    """
    kind = element(value.type)
    if kind is BOOL or np.can_cast(kind.numpy, dtype.numpy, "safe"):
        return value, told
    whole = elementwise(context, "trunc", cast(context, value, F64)) if kind.kind == "f" else value
    fine = as_strong(context, binary(context, "less_equal", dim_value(context, there), 0))
    fits = fine = fine if told is None else elementwise(context, "logical_or", fine, told)
    holding = [np.iinfo(np.int64)] if dtype is not U64 and (kind is U64 or kind.kind == "f") else []
    for limits in (*holding, np.iinfo(dtype.numpy)):
        ends = [float(end) if kind.kind == "f" else end for end in (int(limits.min), int(limits.max) + 1)]
        low, high = (elementwise(context, row, whole, end) for row, end in zip(("greater_equal", "less"), ends, strict=True))
        fits = elementwise(context, "logical_and", low, high)
        said = f"Python integer {{0}} out of bounds for {dtype.numpy}" if limits.dtype == dtype.numpy else str(TOO_LARGE)
        passed = elementwise(context, "logical_or", fits, fine)
        value = require(context, value, passed, "OverflowError", said, cast(context, whole, I64))
    return value, elementwise(context, "logical_or", fine, elementwise(context, "logical_not", fits))


def _cut_off(context: Context, value: Any, size: DimLike, n: int) -> int:
    """A known element as an int; one that is none is no element, or has Python's error where there is one."""
    try:
        return int(value)
    except (OverflowError, ValueError) as error:
        there = dim_max(dim_min(size, n + 1) - n, 0)
        require_equal(context, there, 0, type(error).__name__, str(error))
        return 0


def _said_of(held: int, dtype: DType) -> str:
    """What NumPy says of an int that an element does not take."""
    try:
        np.zeros(1, dtype.numpy)[0] = held
    except OverflowError as error:
        return str(error)
    raise AssertionError(f"{dtype} takes {held}")


def _known(value: int, dtype: DType) -> int:
    """An int in a dtype, with its lower bits; what 64 bits do not hold is no element of a range."""
    return int(np.uint64(value % 2**64).astype(dtype.numpy)) if -(2**63) <= value < 2**64 else 0


def _whole_step(context: Context, first: Any, by: Any, second: Any, dtype: DType) -> Any:
    """From the first element to the second, each cut off to an integer."""
    if second is None:
        if isinstance(by, int) and _is_int(first):
            return int(by)
        if isinstance(by, Value) and by.type == WEAK_INT and _is_int(first):
            return cast(context, as_strong(context, by), dtype)
        second = binary(context, "add", first, by)
    if not isinstance(first, Value) and not isinstance(second, Value):
        with contextlib.suppress(OverflowError, ValueError):
            return int(second) - int(first)
        # There are not both of them.
        return 0
    begin, end = (cast(context, as_strong(context, v), dtype) for v in (first, second))
    return elementwise(context, "subtract", end, begin)


def _steps(context: Context, place: Value, step: Value, dtype: DType) -> Value:
    return elementwise(context, "multiply", cast(context, place, dtype), step)


def _rounded(context: Context, value: Value, dtype: DType) -> Value:
    return cast(context, value, dtype)


def linspace(
    context: Context,
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: Any = True,
    retstep: Any = False,
    dtype: Any = None,
    axis: Any = 0,
    *,
    device: Any = None,
) -> Any:
    """Numbers at equal distances, NumPy's formula; the end is exact.

    Raises
    ------
    UnsupportedError
        `num` is computed of data.
    """
    check_device(context, device)
    sentence = "Number of samples, {0}, must be non-negative."
    count = as_length(context, num, sentence, beyond=SIZE)
    if isinstance(count, int) and count < 0:
        raise raised(ValueError(sentence.format(count)), context.loc)
    ends = [array_of(context, e) if isinstance(e, (list, tuple)) else as_value(context, e) for e in (start, stop)]
    found = promote.result_dtype((*(promote.operand(v.type) for v in ends), "float"))
    target = dtype_or(context, dtype, found)
    low, high = (cast(context, as_strong(context, v), found) for v in ends)
    gaps = count - 1 if endpoint else count
    ndim = max(len(dimensions(low)), len(dimensions(high)))
    place = along(context, count, 0, ndim + 1)
    position = cast(context, place, found)
    delta = elementwise(context, "subtract", high, low)
    divisor = dim_value(context, dim_max(gaps, 1))
    step = elementwise(context, "divide", delta, divisor)
    if isinstance(gaps, int) and gaps <= 0:
        made = elementwise(context, "multiply", position, delta)
    else:
        scaled = elementwise(context, "multiply", elementwise(context, "divide", position, divisor), delta)
        zero = elementwise(context, "equal", step, 0)
        axes = tuple(range(len(dimensions(zero))))
        if axes:
            zero = reduce(context, "logical_or", zero, axes)
        made = elementwise(context, "where", zero, scaled, elementwise(context, "multiply", position, step))
    made = cast(context, elementwise(context, "add", made, low), found)
    if endpoint and not (isinstance(count, int) and count <= 1):
        last = elementwise(context, "equal", place, dim_value(context, count - 1))
        last = elementwise(context, "bitwise_and", last, elementwise(context, "greater", place, 0))
        made = elementwise(context, "where", last, high, made)
    if target.is_integer:
        made = elementwise(context, "floor", made)
    made = cast(context, made, target)
    if axis != 0:
        made = moveaxis(context, made, 0, axis)
    if not retstep:
        return made
    if isinstance(gaps, int):
        return made, (step if gaps > 0 else math.nan)
    # NumPy's step is Python's NaN where there is none.
    refused = "np.linspace with retstep=True has no step, as there is no more than one number"
    require_equal(context, dim_min(gaps, 1), 1, "UnsupportedError", refused)
    return made, step


def logspace(
    context: Context,
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: Any = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: Any = 0,
) -> Value:
    """A base to the power of numbers at equal distances."""
    below: Any = array_of(context, base) if isinstance(base, (list, tuple)) else base
    if isinstance(below, Value) and dimensions(below):
        ends = [as_strong(context, v) for v in (start, stop)]
        ndim = max(len(dimensions(v)) for v in (*ends, below))
        start, stop, below = (_with_axes(context, v, ndim) for v in (*ends, below))
        below = expand_dims(context, below, axis)
    powers = linspace(context, start, stop, num, endpoint, axis=axis)
    made = elementwise(context, "power", below, powers)
    return made if dtype is None else cast(context, made, target_dtype(context, dtype))


def _with_axes(context: Context, value: Value, ndim: int) -> Value:
    """As ``np.array`` with `ndmin`."""
    made = array_of(context, value)
    while len(dimensions(made)) < ndim:
        made = context.builder.emit("newaxis", (made,), {"axis": 0})
    return made


def geomspace(
    context: Context, start: Any, stop: Any, num: Any = 50, endpoint: Any = True, dtype: Any = None, axis: Any = 0
) -> Value:
    """Numbers of equal ratios, for real ends known now; the ends are exact.

    Raises
    ------
    UnsupportedError
        Ends known only at run time, or complex ones.
    """
    if not is_number(start) or not is_number(stop) or np.iscomplexobj(start) or np.iscomplexobj(stop):
        help = "use np.logspace of the logarithms"
        raise UnsupportedError("np.geomspace of ends that are no real numbers known now", context.loc, help)
    if start == 0 or stop == 0:
        raise raised(ValueError("Geometric sequence cannot include zero"), context.loc)
    first, last = np.float64(start), np.float64(stop)
    sign = np.sign(first)
    if sign != np.sign(last):
        raise UnsupportedError("np.geomspace between numbers of two signs", context.loc, "its elements are complex or NaN")
    if axis != 0:
        # There is one.
        moveaxis(context, known_array(context, np.zeros(1)), 0, axis)
    made = logspace(context, np.log10(first / sign), np.log10(last / sign), num, endpoint)
    (count,) = dimensions(made)
    place = along(context, count, 0, 1)
    made = elementwise(context, "where", elementwise(context, "equal", place, 0), np.float64(first / sign), made)
    if endpoint:
        end = elementwise(context, "equal", place, dim_value(context, count - 1))
        end = elementwise(context, "bitwise_and", end, elementwise(context, "greater", place, 0))
        made = elementwise(context, "where", end, np.float64(last / sign), made)
    made = elementwise(context, "multiply", made, np.float64(sign))
    return made if dtype is None else cast(context, made, target_dtype(context, dtype))


FUNCTIONS: dict[str, Handler] = {
    "arange": arange,
    "linspace": linspace,
    "logspace": logspace,
    "geomspace": geomspace,
}
"""By NumPy's name; parameters are called as NumPy calls them."""
