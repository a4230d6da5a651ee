"""Numbers in a row: ``np.arange``, ``linspace``, ``logspace``, ``geomspace``.

As with all new arrays, elements are computed where they are used: an ``arange`` in an expression takes no memory.
"""

from __future__ import annotations

import math
import operator
import sys
from typing import Any

import numpy as np

from pytocu.errors import UnsupportedError, raised
from pytocu.frontend.attributes import expand_dims, moveaxis, target_dtype
from pytocu.frontend.creation import check_bools, dtype_or, number
from pytocu.frontend.devices import check_device
from pytocu.frontend.gathering import along
from pytocu.frontend.literals import known_array
from pytocu.frontend.math_calls import on_host
from pytocu.frontend.operators import attempt, binary, elementwise, is_c_long
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
    WeakType,
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
        A bound that is a number with axes, an unsigned one of 64 bits or a complex one.
    """
    check_device(context, device, like)
    if start is not None and args:
        raise raised(TypeError("argument for arange() given by name ('start') and position (position 0)"), context.loc)
    first, last, by = _bounds(context, args, start, stop, step)
    if dtype is None and len(args) > 3:
        dtype = args[3]
    first_given, by_given, short = first, by, None
    if any(isinstance(b, Value) for b in (first, last, by)):
        _check_bools(context, first, last, by)
        _check_kinds(context, first, last, by)
    else:
        short = _short(context, first, last, by, dtype)
        if short is not None and short.size <= 2 and short.dtype.kind in "biuf":
            return known_array(context, short)
    if not isinstance(by, Value) and by == 0 and any(map(_is_numpys, (first, last, by))):
        # NumPy divides a difference that is its own, which gives no exception.
        if not any(isinstance(b, Value) for b in (first, last)):
            attempt(context, np.arange, first, last, by)
        raise raised(SIZE, context.loc)
    # The dtype is that of the numbers as they are given.
    given = [type(b)(n) if isinstance(b, np.integer) else None for n, b in enumerate((first, last))]
    if all(map(_is_int, (first, last))) and any(map(_is_narrow, (first, last))):
        # NumPy counts with the difference, which a narrow dtype may not hold.
        _check_held(context, first, last)
        try:
            distance = _bound(context, binary(context, "subtract", last, first))
        except OverflowError:
            raise raised(SIZE, context.loc) from None
        first, distance = (int(b) if isinstance(b, np.integer) else b for b in (_bound(context, first), distance))
        last = binary(context, "add", first, distance)
        if isinstance(last, int) and not is_c_long(last):
            raise raised(SIZE, context.loc)
    if isinstance(by, Value) and not is_weak(by) and not dimensions(by):
        # NumPy divides by a NumPy scalar, which gives no exception of its own.
        fine = elementwise(context, "not_equal", by, 0)
        by = require(context, by, fine, "ValueError", str(SIZE))
    first, last, by = (_bound(context, bound) for bound in (first, last, by))
    examples = [_example(b) for b in (first, last)]
    if any(g is not None for g in given):
        plain = [type(e)(n) if isinstance(e, (int, float)) else e for n, e in enumerate(examples)]
        examples = [e if g is None else g for e, g in zip(plain, given, strict=True)]
    made = (attempt(context, np.arange, *examples, _long_step(by, *examples)) if short is None else short).dtype
    if isinstance(by, (float, np.floating)) and not np.isfinite(by):
        raise UnsupportedError(f"np.arange with the step {by}", context.loc, "write the numbers themselves")
    known = made if dtype is None else None
    target = dtype_of(known) if known is not None else target_dtype(context, dtype)
    if known is not None and known.kind == "O":
        # Ints that int64 does not hold; a range of as many numbers is NumPy's error.
        number_of_elements(context, first, last, by)
    if target is BOOL:
        if not any(isinstance(b, Value) for b in (first, last, by)):
            return known_array(context, attempt(context, np.arange, first, last, by, dtype=bool))
        check_bools(context, number_of_elements(context, first, last, by))
    if target is None or target.kind in "bc":
        raise UnsupportedError(f"np.arange of {known if target is None else target.numpy}", context.loc, "cast the result")
    size = number_of_elements(context, first, last, by)
    # A second element is computed where there is a first one.
    _check_held(context, first_given, by_given, dim_min(size, 1))
    if isinstance(first, np.integer) and type(by) is int and not np.iinfo(first.dtype).min <= by <= np.iinfo(first.dtype).max:
        first = int(first)
    return _range(context, first, by, size, target)


def _check_kinds(context: Context, *bounds: Any) -> None:
    """Refuse complex bounds, and ints that int64 does not hold, beside such of run time."""
    for bound in bounds:
        if np.iscomplexobj(_example(bound)):
            raise UnsupportedError("np.arange of complex numbers", context.loc, "write start + step * np.arange(n)")
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


def _bound(context: Context, bound: Any) -> Any:
    """A bound as a number of Python's, where NumPy computes the range with the same numbers then; else a NumPy scalar."""
    if not isinstance(bound, Value) or bound.type in (WEAK_INT, WEAK_FLOAT):
        return bound
    if bound.type == WEAK_BOOL:
        return on_host(context, "python_int", bound)
    if not isinstance(bound.type, WeakType) and not dimensions(bound):
        kind = element(bound.type)
        if kind is BOOL or (kind.is_integer and kind is not U64):
            return read_int(context, scalar_of(context, bound, "int"), "np.arange")
        if kind is F64:
            return read_float(context, scalar_of(context, bound, "float"))
        if kind.kind == "f":
            return scalar_of(context, bound, "float")
    raise UnsupportedError(
        f"a bound of np.arange must be an int or a float, and this is {describe(bound)}",
        context.loc,
        "write int(...) or float(...) around it",
    )


def _example(bound: Any) -> Any:
    """A number of the kind that a bound is."""
    if not isinstance(bound, Value):
        return bound
    if is_weak(bound):
        return 0.0 if bound.type == WEAK_FLOAT else 0j if bound.type == WEAK_COMPLEX else 0
    return element(bound.type).numpy.type(0)


def _check_bools(context: Context, first: Any, last: Any, by: Any) -> None:
    """NumPy subtracts and adds the bounds, which means something else for two truth values of which one is NumPy's."""
    kinds = [_bool_kind(b) for b in (first, last, by)]
    if None not in kinds[:2] and "numpy" in kinds[:2]:
        attempt(context, np.arange, np.False_, np.True_)
    if None not in (kinds[0], kinds[2]) and "numpy" in (kinds[0], kinds[2]):
        raise UnsupportedError("np.arange with a start and a step that are bools", context.loc, "write int(...) around them")


def _bool_kind(bound: Any) -> str | None:
    if isinstance(bound, Value):
        numpys = not is_weak(bound) and element(bound.type) is BOOL
        return "numpy" if numpys else "python" if bound.type == WEAK_BOOL else None
    return "numpy" if isinstance(bound, np.bool_) else "python" if isinstance(bound, bool) else None


def _long_step(by: Any, first: Any, last: Any) -> Any:
    """A step of the same kind with which a range is short: NumPy makes the range to say what its dtype is."""
    if isinstance(by, Value):
        by = _example(by) + type(_example(by))(1)
    numbers = (by, first, last)
    if not all(isinstance(b, (int, float, np.integer, np.floating)) and -np.inf < b < np.inf for b in numbers):
        return by
    gap = abs(last - first)
    if gap <= abs(by) or (not isinstance(gap, int) and not np.isfinite(gap)):
        return by
    if isinstance(by, np.integer):
        return by.dtype.type(np.iinfo(by.dtype).max)
    if isinstance(by, np.floating):
        return np.finfo(by.dtype).max
    return float(gap) if isinstance(by, float) else min(int(gap) + 1, sys.maxsize)


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
    quotient = binary(context, "divide", distance, by)
    if isinstance(quotient, Value) and not is_weak(quotient):
        quotient = read_float(context, _finite(context, quotient))
    elif isinstance(quotient, Value) and any(map(_is_float, (first, last, by))):
        quotient = after(context, _CHECKED, {"quotient": quotient, "distance": distance, "by": by}, "quotient")
    return number_as_dim(context, on_host(context, "math_ceil", quotient)) or 0


_CHECKED = f"""\
if quotient != quotient:
    raise ValueError("arange: cannot compute length")
if not -{2.0**63} <= quotient < {2.0**63}:
    raise ValueError("{SIZE}")
if quotient == 0.0 and distance != 0 and (distance > 0) == (by > 0):
    quotient = 1.0
"""
"""How often a step fits as NumPy takes it: a quotient that is too small for a float is one element."""


def _is_float(bound: Any) -> bool:
    return bound.type == WEAK_FLOAT if isinstance(bound, Value) else isinstance(bound, float)


def _finite(context: Context, quotient: Value) -> Value:
    """How often a step fits, a NumPy scalar, with NumPy's exceptions of what is no number of elements."""
    number = elementwise(context, "logical_not", elementwise(context, "isnan", quotient))
    quotient = require(context, quotient, number, "ValueError", "arange: cannot compute length")
    fits = elementwise(context, "less", elementwise(context, "absolute", cast(context, quotient, F64)), 2.0**63)
    return require(context, quotient, fits, "ValueError", str(SIZE))


def _whole(context: Context, bound: Any) -> DimLike | None:
    if isinstance(bound, (float, np.floating)) and float(bound).is_integer():
        return int(bound)
    return number_as_dim(context, int(bound) if isinstance(bound, np.integer) else bound)


def _range(context: Context, first: Any, by: Any, size: DimLike, dtype: DType) -> Value:
    """``first + i * step`` as NumPy fills a range: the step is the difference of the first two elements."""
    place = along(context, size, 0, 1)
    if dtype.is_integer:
        _check_first_two(context, first, by, size, dtype)
        start = cast(context, as_strong(context, first), dtype) if isinstance(first, Value) else int(first)
        made = cast(context, place, dtype)
        step = _whole_step(context, first, by, dtype)
        if step != 1:
            step = number(context, _known(step, dtype), dtype) if isinstance(step, int) else step
            made = elementwise(context, "multiply", made, step)
        if isinstance(start, int):
            if start == 0:
                return made
            start = number(context, _known(start, dtype), dtype)
        return elementwise(context, "add", made, start)
    wide = F32 if dtype is F16 else dtype
    made = cast(context, place, wide)
    if isinstance(first, Value) or isinstance(by, Value):
        start, second = (cast(context, as_strong(context, b), dtype) for b in (first, binary(context, "add", first, by)))
        begin = cast(context, start, wide)
        step = elementwise(context, "subtract", cast(context, second, wide), begin)
        made = _rounded(context, elementwise(context, "add", _steps(context, place, step, wide), begin), dtype)
        ends = elementwise(context, "where", elementwise(context, "equal", place, 1), second, start)
        return elementwise(context, "where", elementwise(context, "less", place, 2), ends, made)
    with np.errstate(all="ignore"):
        start, second = dtype.numpy.type(first), dtype.numpy.type(first + by)
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


def _check_first_two(context: Context, first: Any, by: Any, size: DimLike, dtype: DType) -> None:
    """The first two elements of a range of integers, as far as there are any, are numbers that the dtype holds."""
    limits = np.iinfo(dtype.numpy)
    by = int(by) if isinstance(by, np.integer) else by
    for n, value in enumerate((first, binary(context, "add", first, by))):
        if isinstance(value, Value) and value.type == WEAK_FLOAT:
            value = on_host(context, "python_int", value)
        if isinstance(value, Value) and (value.type != WEAK_INT or dtype is I64):
            continue
        held = int(value) if not isinstance(value, Value) else number_as_dim(context, value)
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


def _said_of(held: int, dtype: DType) -> str:
    """What NumPy says of an int that an element does not take."""
    try:
        np.zeros(1, dtype.numpy)[0] = held
    except OverflowError as error:
        return str(error)
    raise AssertionError(f"{dtype} takes {held}")


def _known(value: int, dtype: DType) -> int:
    """An int in a dtype; what 64 bits do not hold is no element of a range."""
    return int(np.int64(value).astype(dtype.numpy)) if is_c_long(value) else 0


def _whole_step(context: Context, first: Any, by: Any, dtype: DType) -> Any:
    """From the first element to the second, each cut off to an integer."""
    if isinstance(by, (int, np.integer)) and _is_int(first):
        return int(by)
    if not isinstance(first, Value) and not isinstance(by, Value):
        return int(first + by) - int(first)
    if isinstance(by, Value) and by.type == WEAK_INT and _is_int(first):
        return cast(context, as_strong(context, by), dtype)
    begin, second = (cast(context, as_strong(context, v), dtype) for v in (first, binary(context, "add", first, by)))
    return elementwise(context, "subtract", second, begin)


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
