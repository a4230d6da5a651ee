"""``np.arange`` of numbers of every dtype, known while compiling and of run time, with NumPy's differences and sums."""

from __future__ import annotations

import numpy as np
import pytest
from edge_tools import check

from pytocu.ir.types import ALL_DTYPES
from pytocu.testing.cases import call_interpreted

LOW = {"b": "False", "i": "-3", "u": "1", "f": "-1.5", "c": "1 + 1j"}
HIGH = {"b": "True", "i": "5", "u": "7", "f": "4.25", "c": "5 + 3j"}
LOWEST, HIGHEST = ({d.name: f"np.{d.numpy}({ends[d.kind]})" for d in ALL_DTYPES} for ends in (LOW, HIGH))
LOWEST |= {"int": "1", "float": "0.25", "complex": "1j", "python bool": "True"}
HIGHEST |= {"int": "6", "float": "4.5", "complex": "4 + 2j", "python bool": "True"}


@pytest.mark.parametrize("dtype", LOWEST)
def test_numbers_of_every_dtype(dtype: str) -> None:
    rows = (
        "np.arange(a, b)",
        "np.arange({0}, b, 2, dtype='u2')",
        "np.arange(a, {1}, dtype='c8')",
        "np.arange({0}, {1}, b, dtype='f2')",
        "np.arange(a, b, {0}, dtype='i4')",
        "np.arange(0, b, a, dtype=bool)",
        "np.arange(b, dtype='f4')",
    )
    low = LOWEST[dtype]
    for high in HIGHEST.values():
        check([low, high], [row.format(low, high) for row in rows], call=call_interpreted)


WRAPPING = (
    ("np.int8(-127)", "np.int8(126)", "np.int8(-2)"),
    ("np.uint8(252)", "np.uint8(100)", "np.uint8(10)"),
    ("np.uint8(254)", "np.uint8(252)", "np.uint8(3)"),
    ("np.int8(100)", "np.int8(-100)", "1"),
    ("np.uint16(65532)", "np.uint16(100)", "np.uint16(100)"),
    ("np.uint8(255)", "100", "1"),
    ("np.int16(7)", "300", "np.int8(100)"),
    ("np.bool_(True)", "5", "np.bool_(True)"),
    ("np.uint64(2**64 - 3)", "np.uint64(2**64 - 1)", "1"),
    ("np.uint64(5)", "np.uint64(2)", "np.uint64(2**62)"),
    ("np.uint8(7)", "10", "-1"),
    ("np.uint64(5)", "2", "-1"),
    ("np.float16(1)", "300", "np.float16(0.1)"),
    ("2", "np.uint64(0)", "np.uint64(2**62 + 2**61)"),
    ("np.uint8(3)", "np.uint8(9)", "300"),
    ("np.uint8(9)", "np.uint8(3)", "300"),
    ("-2", "-2", "np.uint32(5)"),
)


@pytest.mark.parametrize("numbers", WRAPPING, ids=", ".join)
@pytest.mark.parametrize(
    "dtype", ["", ", dtype='i1'", ", dtype=int", ", dtype='u8'", ", dtype='f4'", ", dtype='c16'", ", dtype='?'"]
)
def test_steps_and_ends_that_wrap_around(numbers: tuple[str, str, str], dtype: str) -> None:
    a, b, c = numbers
    rows = [
        "np.arange(a, b, c{})",
        f"np.arange({a}, b, c{{}})",
        f"np.arange(a, {b}, c{{}})",
        f"np.arange(a, b, {c}{{}})",
        f"np.arange({a}, {b}, {c}{{}})",
    ]
    check(numbers, [row.format(dtype) for row in rows], call=call_interpreted)


LENGTHS = (
    ("0.5", "np.float64(np.inf)", "1"),
    ("np.float32(1)", "2", "np.float32(np.inf)"),
    ("1", "5", "np.float64(np.inf)"),
    ("np.float64(1)", "5", "np.float64(-np.inf)"),
    ("np.nan", "np.float32(2)", "1"),
    ("np.inf", "np.int8(2)", "1"),
    ("3", "np.int8(3)", "0"),
    ("np.int8(3)", "np.int8(3)", "np.int8(0)"),
    ("np.int8(3)", "5", "np.int8(0)"),
    ("np.float16(-1.5)", "2", "1"),
    ("np.complex64(1)", "3", "1"),
    ("np.complex128(1)", "3", "1"),
    ("1j", "3 + 1j", "1"),
    ("0", "5 + 9j", "1 + 1j"),
)


@pytest.mark.parametrize("numbers", LENGTHS, ids=", ".join)
def test_what_is_no_number_of_elements(numbers: tuple[str, str, str]) -> None:
    a, b, c = numbers
    rows = ["np.arange(a, b, c{})", f"np.arange({a}, b, c{{}})", f"np.arange(a, {b}, {c}{{}})", f"np.arange(a, b, {c}{{}})"]
    dtypes = ("", ", dtype='u4'", ", dtype='f4'", ", dtype='c8'")
    check(numbers, [row.format(dtype) for row in rows for dtype in dtypes], call=call_interpreted)


LONG_STEPS = (
    ("100", "200", "np.inf"),
    ("100.0", "200", "-np.inf"),
    ("100", "200.5", "2**63 - 1"),
    ("100", "1e19", "9.3e18"),
    ("0.0", "1e20", "9e19"),
    ("0", "2**62 + 1", "2**60"),
    ("2**62 + 1", "0", "-2**60"),
)


@pytest.mark.parametrize("numbers", LONG_STEPS, ids=", ".join)
@pytest.mark.parametrize("dtype", ["i1", "i8", "u8", "f2", "f4", "f8", "c8", "?"])
def test_long_steps_of_run_time(numbers: tuple[str, str, str], dtype: str) -> None:
    check(numbers, [f"np.arange(a, b, c, dtype='{dtype}')", f"np.arange(a, b, {numbers[2]}, dtype='{dtype}')"])


@pytest.mark.parametrize("end", ["np.uint64(4)", "np.float32(2.5)", "np.complex64(3)", "np.int8(3)"])
def test_compiled_code(end: str) -> None:
    rows = ("np.arange(a)", "np.arange(a, 9, dtype='f4')", "np.arange(a, 5, a, dtype='c8')", "np.arange(1, a, dtype='u1')")
    rows += ("np.arange(-a, 3.0, dtype='u8')", "np.arange(-a, b, dtype='u1')", "np.arange(a, 1e30, 1e29, dtype='i2')")
    check([end, "7"], [*rows, "np.arange(a, dtype=bool)", "np.arange(1, 2, a, dtype=bool)"])


def test_a_number_with_axes_is_refused() -> None:
    with pytest.raises(Exception, match=r"a bound of np.arange must be a number.*(\n.*)*x\[0\]"):
        call_interpreted(lambda x: np.arange(x), np.ones(2))
