"""The elements of ``np.arange``, as NumPy fills a range of each dtype.

As with all new arrays, elements are computed where they are used: a range in an expression takes no memory.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from pytocu.frontend.creation import check_bools, number
from pytocu.frontend.gathering import along
from pytocu.frontend.operators import TOO_LARGE, binary, elementwise, is_c_long, is_python_complex
from pytocu.frontend.ranges import number_as_dim
from pytocu.frontend.requirements import require, require_equal
from pytocu.frontend.values import (
    Context,
    as_strong,
    cast,
    convert,
    dim_value,
    is_weak,
)
from pytocu.ir.core import Value
from pytocu.ir.dims import DimLike, dim_max, dim_min
from pytocu.ir.types import (
    BOOL,
    C64,
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
    element,
)


def range_of(context: Context, first: Any, by: Any, second: Any, size: DimLike, dtype: DType) -> Value:
    """``first + i * step`` as NumPy fills a range: the step is the difference of the first two elements.

    `second` is None where ``first + by`` is Python's.
    """
    if dtype.kind in "iu" or dtype is BOOL:
        return _range_of_ints(context, first, by, second, size, dtype)
    if second is None:
        second = binary(context, "add", first, by)
    if dtype.kind == "c":
        names = ("real", "imag") if any(map(is_complex_number, (first, second))) else ("real",)
        wide = F32 if dtype is C64 else F64
        parts = [_floats(context, _part(context, first, n), _part(context, second, n), size, wide) for n in names]
        return context.builder.emit("compose", parts) if len(parts) > 1 else cast(context, parts[0], dtype)
    first, second = _real_elements(context, (first, second), size, dtype)
    return _floats(context, first, second, size, dtype)


def _part(context: Context, value: Any, name: str) -> Any:
    """The real or imaginary part of a number."""
    if not is_complex_number(value):
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
        begin, end = (as_strong(context, binary(context, "not_equal", value, 0)) for value in (first, following))
        return elementwise(context, "where", elementwise(context, "equal", place, 1), end, begin)
    first, following = _real_elements(context, (first, following), size, dtype)
    checked = _check_first_two(context, first, following, size, dtype)
    start = cast(context, as_strong(context, checked[0]), dtype) if isinstance(first, Value) else checked[0]
    made = cast(context, place, dtype)
    plain = second is None and checked[1] is following
    step = _whole_step(context, first, by, None if plain else checked[1], dtype)
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
        start, second = (cast(context, as_strong(context, b, F64), dtype) for b in (first, second))
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
            # It may be infinite where there is none.
            value = convert(context, value, F64)
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
    limits = np.iinfo(dtype.numpy)
    checks = [(int(limits.min), int(limits.max) + 1, f"Python integer {{0}} out of bounds for {dtype.numpy}")]
    if kind.kind == "f" or (dtype is not U64 and kind is U64):
        checks.insert(0, (-(2**63), 2**64 if dtype is U64 else 2**63, str(TOO_LARGE)))
    for *limits, said in checks:
        ends = [float(end) if kind.kind == "f" else end for end in limits]
        low, high = (elementwise(context, row, whole, end) for row, end in zip(("greater_equal", "less"), ends, strict=True))
        fits = elementwise(context, "logical_and", low, high)
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
        if isinstance(by, int) and is_int(first):
            return int(by)
        if isinstance(by, Value) and by.type == WEAK_INT and is_int(first):
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


def is_int(bound: Any) -> bool:
    """Whether a bound of a range is an int or bool, of Python's or NumPy's."""
    if not isinstance(bound, Value):
        return isinstance(bound, (int, np.integer, np.bool_))
    if is_weak(bound):
        return bound.type in (WEAK_INT, WEAK_BOOL)
    return element(bound.type).is_integer or element(bound.type) is BOOL


def is_complex_number(bound: Any) -> bool:
    """Whether a bound of a range is complex, of Python's or NumPy's."""
    return bool(np.iscomplexobj(example_number(bound)))


def example_number(bound: Any) -> Any:
    """A number of the kind that a bound is."""
    if not isinstance(bound, Value):
        return bound
    if is_weak(bound):
        return 0.0 if bound.type == WEAK_FLOAT else 0j if bound.type == WEAK_COMPLEX else 0
    return element(bound.type).numpy.type(0)
