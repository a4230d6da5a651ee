"""Arithmetic, comparisons and choices at the edges at which NumPy's own tests look, as tables of expressions."""

from __future__ import annotations

import numpy as np
import pytest
from edge_tools import check, refused
from mask_tools import everywhere

import pytocu

INTEGERS = (
    "np.array([7, -7, 0, 127, -128, 5], 'i1')", "np.array([7, 0, 255, 1], 'u1')", "np.array([7, -7, 0, 2**63 - 1, -2**63])",
    "np.array([2**63, 2**64 - 1, 0], 'u8')", "np.int8(-128)", "np.uint8(7)", "np.array(-7, 'i2')", "np.uint64(2**64 - 1)",
    "np.array([True, False])", "np.bool_(True)",
)  # fmt: skip
FLOATS = ("f2", "f4", "f8")


def forms(dtype: str, values: str, one: str) -> list[str]:
    """An array, an array without axes, and a NumPy scalar of a dtype."""
    return [f"np.array([{values}], '{dtype}')", f"np.array({one}, '{dtype}')", f"np.dtype('{dtype}').type({one})"]


# Division: by zero, by infinities, of the smallest integer by -1, signs of zeros.

DIVISION = (
    "a // 0", "a % 0", "a / 0", "divmod(a, 0)", "np.fmod(a, 0)", "a // -1", "a % -1", "divmod(a, -1)", "np.fmod(a, -1)",
    "a // 2", "a % 2", "a / 2", "a // 2.0", "a % 2.0", "a // -2.5", "a % -2.5", "a // inf", "a % inf", "a % -inf",
    "np.fmod(a, inf)", "np.fmod(a, 2.5)", "3 // a", "3 % a", "-3 // a", "-3 % a", "3 / a", "divmod(3, a)", "divmod(a, 3)",
    "np.divmod(a, 3)", "np.remainder(a, 3)", "np.mod(a, -3)", "np.floor_divide(a, 3)", "np.true_divide(a, 3)", "a // a",
    "a % a", "a / a", "a // True", "a % False", "a / True", "a // 1j", "a % 1j", "a / 1j", "a // np.float32(2)",
    "a // np.int8(2)", "a % np.uint64(3)", "a // np.int64(-1)", "a // np.array(0)", "a // -0.0", "a % -0.0", "a / -0.0",
)  # fmt: skip
FLOAT_DIVISION = (
    "a // 0", "a % 0", "a / 0", "divmod(a, 0)", "np.fmod(a, 0)", "a // -0.0", "a % -0.0", "a / -0.0", "a // inf", "a % inf",
    "a // -inf", "a % -inf", "a / inf", "np.fmod(a, inf)", "np.fmod(a, -inf)", "a // nan", "a % nan", "divmod(a, inf)",
    "divmod(a, nan)", "0 // a", "0 % a", "0 / a", "-0.0 // a", "-0.0 % a", "1 // a", "1 % a", "-1 % a", "-1 // a", "inf // a",
    "inf % a", "-inf // a", "divmod(1, a)", "divmod(inf, a)", "np.fmod(1, a)", "np.fmod(-1, a)", "a // a", "a % a",
    "divmod(a, a)", "a // True", "a % 0.1", "a // 0.1", "a % -0.1", "a // -0.1", "np.fmod(a, 0.1)", "a // np.int8(2)",
    "a % np.int64(2)", "a // np.float64(0.1)", "np.modf(a)", "np.frexp(a)",
)  # fmt: skip


@pytest.mark.parametrize("argument", INTEGERS)
def test_division_of_integers(argument: str) -> None:
    check([argument], DIVISION)


@pytest.mark.parametrize("dtype", FLOATS)
def test_division_of_floats(dtype: str) -> None:
    for argument in forms(dtype, "0, -0.0, 1, -1, inf, -inf, nan, 6.5, -6.5, 0.1, 1e-7", "-5.5"):
        check([argument], FLOAT_DIVISION)
    check([f"np.array(inf, '{dtype}')"], FLOAT_DIVISION)


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_division_of_complex_numbers(dtype: str) -> None:
    rows = ["a / 1", "a / 2", "a / 1j", "a / (1+0j)", "a / (1-2j)", "1 / a", "a // 1", "a % 1", "divmod(a, 2)", "np.fmod(a, 1)",
            "a / np.float32(2)", "a / np.array(2)", "np.reciprocal(a)"]  # fmt: skip
    check([f"np.array([0, 1, 1j, inf, nan, 1+2j, complex(0, -0.0)], '{dtype}')"], rows, 4)
    check([f"np.dtype('{dtype}').type(1+1j)"], ["a / 0", "a / 0.0", "a / 0j", "a / complex(0, -0.0)", "a / a", "a // a"], 4)


def test_division_of_python_numbers() -> None:
    check(["3", "2.5"], ["a // 0", "a % 0", "a / 0", "divmod(a, 0)", "b // 0", "b % 0", "a // b", "a % b", "-a // b", "-a % b",
                         "divmod(-a, b)", "np.divmod(a, b)", "np.floor_divide(a, 0)", "np.remainder(a, 0)", "np.fmod(b, 0)",
                         "np.true_divide(a, 0)", "b % inf", "-b % inf", "a % -inf", "a ** -1"])  # fmt: skip


# Powers.

INTEGER_POWERS = (
    "a ** -1", "a ** 0", "a ** 1", "a ** 2", "a ** 3", "a ** -1.0", "a ** 2.0", "2 ** a", "0 ** a", "(-2) ** a", "2.0 ** a",
    "0.0 ** a", "a ** True", "a ** False", "np.power(a, -1)", "np.power(a, 2)", "np.power(a, 2.0)", "np.float_power(a, 2)",
    "np.float_power(a, -1)", "np.power(a, np.int8(-1))", "np.power(a, np.uint8(2))", "pow(a, 2)", "np.square(a)",
    "np.reciprocal(a)", "a ** np.float32(2)", "a ** np.array(2)", "a ** np.array([2])", "(-1) ** a", "1 ** a", "np.pow(a, 3)",
    "a ** np.int64(-2)", "a ** 300", "300 ** a", "a ** 2**70",
)  # fmt: skip
FLOAT_POWERS = ("a ** -1", "a ** 0", "a ** 1", "a ** 2", "a ** 2.0", "a ** 0.0", "a ** True", "np.power(a, 0)",
                "np.power(a, 1)", "np.power(a, 2)")  # fmt: skip
CLOSE_POWERS = ("a ** 3", "a ** -0.5", "a ** -2", "a ** inf", "a ** -inf", "a ** nan", "2 ** a", "0 ** a", "1 ** a",
                "(-1) ** a", "(-0.0) ** a", "inf ** a", "(-inf) ** a", "nan ** a", "np.power(a, a)", "np.float_power(a, 2)",
                "np.float_power(a, a)", "a ** np.int8(2)", "a ** np.array([2])", "2.0 ** a", "a ** 0.5")  # fmt: skip
COMPLEX_POWERS = ("a ** 0", "a ** 1", "a ** 2", "a ** 3", "a ** -1", "a ** -2", "a ** 0.5", "2 ** a", "0 ** a",
                  "np.power(a, 2)", "a ** np.float32(2)", "np.float_power(a, 2)", "pow(a, 2)", "a ** True", "a ** (1+0j)",
                  "a ** (2+0j)")  # fmt: skip
ZERO_POWERS = ("a ** 0", "a ** 1", "a ** 2", "a ** 0.5", "a ** (1+1j)", "a ** (-1+1j)", "a ** -1j", "a ** -1",
               "np.power(a, 0.33)", "np.power(a, -1+0.2j)", "np.power(a, np.array([0.33, 0.5, 1, 1.5, 2, 3, 4, 5, 6.6]))",
               "np.power(a, np.array([-0.33, -1, -2.5]))")  # fmt: skip


@pytest.mark.parametrize(
    "argument",
    ["np.array([0, 1, 2, -1, -3, 5], 'i4')", "np.int64(3)", "np.array([0, 1, 2, 200], 'u1')", "np.uint8(3)",
     "np.array(2, 'i2')", "np.array([True, False])", "np.array(True)", "np.bool_(True)"],
)  # fmt: skip
def test_powers_of_integers(argument: str) -> None:
    check([argument], INTEGER_POWERS)
    check([argument], ["a **= 2\nreturn a", "a **= 3\nreturn a", "a **= 0.5\nreturn a", "a **= -1\nreturn a"])


@pytest.mark.parametrize("dtype", FLOATS)
def test_powers_of_floats(dtype: str) -> None:
    for argument in forms(dtype, "0, -0.0, 1, -1, 2, 0.5, inf, -inf, nan, -8, 1e-5", "2.5"):
        check([argument], FLOAT_POWERS)
        check([argument], CLOSE_POWERS, 4)


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_powers_of_complex_numbers(dtype: str) -> None:
    check([f"np.array([0, 1, -1, 1j, -1j, 2+3j, -2-3j, 0.5], '{dtype}')"], COMPLEX_POWERS, 6)
    check([f"np.dtype('{dtype}').type(1+2j)"], COMPLEX_POWERS, 6)
    check([f"np.dtype('{dtype}').type(0)"], ZERO_POWERS, 4)


def test_a_power_of_bools_by_an_int_of_run_time_has_no_dtype() -> None:
    said = "a power of bools by a Python int known only at run time is int8 or int64"
    refused(["np.array([True, False])", "2"], "a ** b", said, "x.astype(np.int64) ** n")


# Python ints that do not fit, beside integers of every dtype.

NUMBERS = ("-200", "-1", "0", "10", "200", "2**31", "2**63", "2**64", "-2**63", "-2**63 - 1", "2**200", "-2**200", "1.5", "inf",
           "nan", "-inf", "True")  # fmt: skip
COMPARISONS = [
    text.format(number)
    for number in NUMBERS
    for text in ("a == {}", "a < {}", "a >= {}", "({}) != a", "({}) <= a")
]
BESIDE_INTEGERS = (
    "np.equal(a, 2**70)", "np.less(a, -2**70)", "np.less(2**63, a)", "np.greater(a, 2**63, dtype=bool)", "np.maximum(a, 200)",
    "np.minimum(a, -1)", "a + 2**63", "a + 2**64", "a + 2**200", "2**63 - a", "a & 2**63", "a | -1", "a ^ -1", "a << 1",
    "a << 200", "a >> 200", "a << -1", "1 << a", "a << a", "a >> a", "-1 >> a", "np.left_shift(a, 7)", "np.right_shift(a, 8)",
    "~a", "np.where(a > 5, a, 300)", "np.where(a > 5, a, -1)", "np.where(a > 5, 1, 2)", "np.where(a > 5, a, 2.5)",
    "np.where(a > 5, True, a)", "np.where(True, a, 2**70)", "np.where(a, 1.0, 0)", "np.where(a > 5, a, 1j)",
    "np.where(a > 5, a, nan)", "np.where(5, a, a)", "np.where(a > 5, a, 1, 2)", "np.where(a > 5, a)",
)  # fmt: skip


@pytest.mark.parametrize("dtype", ["i1", "u1", "i4", "u4", "i8", "u8"])
def test_python_ints_that_do_not_fit(dtype: str) -> None:
    for argument in forms(dtype, "10, 0, 100", "10"):
        check([argument], COMPARISONS)
        check([argument], BESIDE_INTEGERS)


def test_int64_against_uint64() -> None:
    check(
        ["np.array([1, 2, 2**63 - 1, -1])", "np.array([1, 2**63, 2**64 - 1, 2**63 - 1], 'u8')"],
        ["a == b", "a < b", "a <= b", "b < a", "b >= a", "a != b", "a + b", "a * b", "np.maximum(a, b)", "a // b", "a % b",
         "np.equal(a, b, dtype='f8')", "a < np.uint64(2**63)", "b > np.int64(-1)", "b == 2**63", "a < 2**63",
         "np.isclose(a, b)", "a & b", "a << b", "np.gcd(a, b)", "a / b", "divmod(a, b)", "a == b.astype('f8')",
         "np.where(True, a, b)", "np.int64(-1) < np.uint64(1)", "np.int64(-1) == np.uint64(2**64 - 1)", "a[3] < b[2]",
         "a[3] == b[2]", "a[3] > b[0]", "np.clip(a, b, None)", "np.minimum(b, a)"],
    )  # fmt: skip


# Python numbers beside floats.

BESIDE_FLOATS = (
    "a == 0.1", "a == np.float64(0.1)", "a + 3e100", "a * 1e-50", "a + 1e400", "a + 2**63", "a + 2**200", "a + 2**1025",
    "a == 2**1025", "a < 2**200", "a < 2**1025", "a + 10**400", "a > -10**400", "a * 65536", "a + True", "a + 1j",
    "a + 2**300 * 1j", "a > 1e300", "a < inf", "a == nan", "a != nan", "np.maximum(a, 1e300)", "np.minimum(a, 2**200)",
    "np.where(a > 0, a, 1e300)", "np.where(a > 0, 1e300, 0)", "np.where(a > 0, a, 2**70)", "np.nextafter(a, 1e300)",
    "np.copysign(a, -1)", "np.heaviside(a, 2**70)", "np.clip(a, 0.5, 1e300)", "np.clip(a, -10**400, None)", "np.add(1, a)",
    "np.add(a, np.int8(1))", "np.add(a, np.int64(1))", "np.add(a, np.uint16(1))", "np.add(a, np.bool_(1))",
    "np.isclose(a, 0.1)", "np.isclose(a, 1e300)", "a * np.complex64(1)", "a + np.float16(1)", "a.astype('f4') + 1", "a == True",
    "a // True", "abs(a)", "-a", "+a",
)  # fmt: skip


@pytest.mark.parametrize("dtype", FLOATS)
def test_python_numbers_beside_floats(dtype: str) -> None:
    for argument in forms(dtype, "0.1, 1, 3e4, nan, inf", "0.1"):
        check([argument], BESIDE_FLOATS)


# Bounds.

CLIPS = (
    "np.clip(a, 3, 5)", "np.clip(a, -1, 5)", "np.clip(a, 3, 300)", "np.clip(a, -300, 300)", "np.clip(a, -1, None)",
    "np.clip(a, None, 300)", "np.clip(a, 5, 3)", "np.clip(a, 2.5, 5)", "np.clip(a, nan, 5)", "np.clip(a, 3, nan)",
    "np.clip(a, None, None)", "a.clip(3)", "a.clip(max=4)", "a.clip(min=3)", "a.clip(min=3, max=4)", "np.clip(a, min=2, max=3)",
    "np.clip(a, 2, 3, max=3)", "np.clip(a, a_min=2)", "np.clip(a, a_max=2)", "np.clip(a, 2)", "np.clip(a, -2**70, 2**70)",
    "np.clip(a, np.int8(-1), 5)", "np.clip(a, np.arange(10), 5)", "np.clip(a, True, 5)", "np.clip(a, 3, 1j)", "a.clip()",
    "np.clip(a, 3, 5, dtype='f4')", "np.clip(a, 3, 5, dtype='i1', casting='unsafe')", "np.clip(a, 3, 5, casting='no')",
    "np.clip(a, inf, -inf)", "np.clip(a, -inf, inf)", "np.clip(a, np.float32(3), 5)", "np.clip(a, np.array(3), 5)",
    "np.clip(5, 0, a)", "np.clip(5, 0, 3)", "np.clip(5.5, 0, 3)", "np.clip(True, 0, 3)", "np.clip(a > 3, 0, 1)",
    "np.clip(a, 3, 5, out=a)", "np.clip(a, 2.5, 5, out=a)", "np.clip(a, a[::-1], a + 2)", "np.clip(a, 3, 5, out=...)",
    "np.clip(a[2], 3, 5, out=...)",
)  # fmt: skip


def test_bounds_of_integers() -> None:
    check(["np.arange(10, dtype='u1')"], CLIPS)


@pytest.mark.parametrize("dtype", FLOATS)
def test_bounds_of_floats(dtype: str) -> None:
    check(
        [f"np.array([nan, -inf, inf, 1, 5, -3], '{dtype}')"],
        ["np.clip(a, 0, 1)", "np.clip(a, nan, 1)", "np.clip(a, 0, nan)", "np.clip(a, nan, nan)", "np.clip(a, -inf, inf)",
         "np.clip(a, 1, 0)", "np.clip(a, 2, -2)", "np.clip(a, 0.1, None)", "np.clip(a, None, np.float64(0.1))",
         "np.clip(a, np.array([nan] * 6), 1)", "np.clip(a, 0, 1, out=a)", "np.clip(a, 1e300, None)", "np.clip(a, 0, 2**70)",
         "np.clip(a, True, 3)"],
    )  # fmt: skip


@pytest.mark.parametrize("dtype", FLOATS)
def test_bounds_that_are_zeros(dtype: str) -> None:
    def clipped(a, low):
        return np.clip(a, 0, 2), np.clip(a, -0.0, 2), np.clip(a, -5, 0), np.clip(a, -5, -0.0), np.clip(a, low, low)

    everywhere(clipped, np.resize(np.array([0.0, -0.0, 1, -3, np.nan], dtype), 17), 0.0)


# Truth.

LOGIC = (
    "np.logical_and(a, 1)", "np.logical_or(a, 0)", "np.logical_xor(a, True)", "np.logical_not(a)", "np.logical_and(a, a)",
    "np.logical_or(a, nan)", "np.logical_xor(a, 0.0)", "np.logical_not(a, dtype=bool)",
    "np.logical_and(a, 1, dtype=np.float64)", "np.logical_and.reduce(a)", "np.any(a)", "np.all(a)", "np.bitwise_and(a, 1)",
    "a & a", "np.bool_(a)", "np.asarray(a).astype(bool)", "np.count_nonzero(a)", "np.where(a, 1, 2)",
)  # fmt: skip


@pytest.mark.parametrize(
    "argument",
    ["np.array([0.0, -0.0, nan, inf, 1e-300])", "np.array([0, 1, -1])", "np.array([True, False])", "np.float32(0)",
     "np.float16(nan)", "np.array(0j)", "np.array([complex(0, nan), 0, 1j])", "2.5", "0", "True"],
)  # fmt: skip
def test_truth(argument: str) -> None:
    check([argument], LOGIC)


# Complex numbers: order by the real parts first, NaN in either part.

COMPLEX_ROWS = (
    "np.clip(a, 0, 1)", "np.clip(a, 1j, 2)", "np.clip(a, None, 1+2j)", "np.maximum(a, 1)", "np.minimum(a, 1+0j)",
    "np.fmax(a, 1)", "np.fmin(a, 1)", "a < 1", "a >= 1+1j", "a == 1", "np.max(a)", "np.min(a)", "np.max(a[:2])",
    "np.min(a[:2])", "np.argmax(a)", "np.argmin(a)", "np.argmax(a[:2])", "np.argmin(a[[0, 1, 4]])", "np.sort(a)",
    "np.argsort(a)", "np.nanmax(a)", "np.nanmin(a)", "np.nanargmax(a)", "np.ptp(a[:2])", "np.sign(a)", "np.conj(a)",
    "np.real(a)", "np.imag(a)", "np.isreal(a)", "np.iscomplex(a)", "np.isnan(a)", "np.isinf(a)", "np.isfinite(a)",
    "np.signbit(a)", "np.floor(a)", "np.rint(a)", "np.round(a, 1)", "np.trunc(a)", "np.ceil(a)", "a // 1", "np.any(a)",
    "np.all(a)", "np.logical_and(a, 1)", "np.logical_not(a)", "np.count_nonzero(a)", "np.nonzero(a)", "a.astype(bool)",
    "a.astype('f8')", "a.real.astype('i4')", "np.nan_to_num(a)", "np.isclose(a, 1)", "np.square(a)", "np.cbrt(a)",
    "np.hypot(a, 1)", "np.arctan2(a, 1)", "np.copysign(a, 1)", "np.degrees(a)", "np.fabs(a)", "np.ldexp(a, 1)", "np.frexp(a)",
    "np.modf(a)", "np.heaviside(a, 1)", "np.logaddexp(a, 1)", "np.nextafter(a, 1)", "np.positive(a)", "-a", "+a", "~a", "a & 1",
    "a << 1", "np.gcd(a, 1)", "np.bitwise_count(a)", "round(a[0], 1)", "a[0].real", "a[0].imag", "a[0].conjugate()",
    "np.max(a[:2], initial=5)", "np.maximum.reduce(a[:2])",
)  # fmt: skip
CLOSE_COMPLEX = (
    "np.var(a[:2])", "np.std(a[:2])", "np.mean(a[:2])", "np.sum(a[:2])", "np.prod(a[:2])", "np.cumsum(a)", "np.cumprod(a[:2])",
    "np.abs(a)", "np.angle(a)", "np.angle(a, deg=True)", "np.linalg.norm(a[:2])", "np.vdot(a[:2], a[:2])", "np.nansum(a)",
    "np.sqrt(a)", "np.exp(a[:2])", "np.log(a)", "np.sin(a[:2])", "np.arctan(a[:2])", "np.exp2(a[:2])", "np.log2(a[:2])",
    "np.log10(a[:2])", "np.log1p(a[:2])", "np.expm1(a[:2])", "np.sinc(a[:2])", "np.tanh(a[:2])", "np.reciprocal(a[:2])",
    "abs(a[0])",
)  # fmt: skip


def test_complex_numbers() -> None:
    argument = "np.array([1+1j, 2-1j, nan, complex(1, nan), 0], 'c16')"
    check([argument], COMPLEX_ROWS)
    check([argument], CLOSE_COMPLEX, 4)


# Choices between operands of two kinds.

CHOICES = (
    "np.where(True, a, b)", "np.where(False, a, b)", "np.where(np.True_, a, b)", "np.where(np.array([[True], [False]]), a, b)",
    "np.where(1, a, b)", "np.where(0.0, a, b)", "np.where(a, a, b)", "np.where(b, a, b)", "np.select([True], [a], b)",
    "np.select([False, True], [a, b])", "np.choose(0, [a, b])", "np.maximum(a, b)", "np.concatenate([a, b], axis=None)",
    "np.result_type(a, b) == np.where(True, a, b).dtype", "np.hstack([a, b])",
)  # fmt: skip


@pytest.mark.parametrize(
    ("first", "second"),
    [("np.float32(1)", "np.float64(2)"), ("1", "2.5"), ("np.int8(1)", "2"), ("np.array(1)", "2.0"), ("True", "2"), ("1", "2j"),
     ("np.array([1, 2], 'u1')", "np.int8(-1)"), ("np.array([1.5, 2], 'f4')", "3"), ("np.array([True, False])", "2")],
)  # fmt: skip
def test_choices_between_two_kinds(first: str, second: str) -> None:
    check([first, second], CHOICES)
    check([second, first], CHOICES)


# Rounding, shifts and the like, where one row says all.

ROUNDED = ("np.round(a)", "np.round(a, 1)", "np.round(a, -1)", "a.round(2)", "np.around(a, -2)", "np.rint(a)", "np.fix(a)",
           "np.trunc(a)", "np.ceil(a)", "np.floor(a)", "round(a[0], 1)", "round(a[0], 0)", "round(a, 1)")  # fmt: skip


@pytest.mark.parametrize("dtype", FLOATS)
def test_rounding_halves_to_even(dtype: str) -> None:
    check([f"np.array([0.5, 1.5, 2.5, -0.5, 15, 25, -25, 250, 350, nan, inf], '{dtype}')"], ROUNDED)


@pytest.mark.parametrize("dtype", ["i1", "u2", "i8", "?", "c8"])
def test_rounding_of_other_dtypes(dtype: str) -> None:
    check([f"np.array([15, 25, 35, 1, 0], '{dtype}')"], ROUNDED)


def test_python_numbers_have_their_own_rounding() -> None:
    for argument in ("1j", "True", "2.5", "-3", "np.bool_(1)", "np.complex64(1)", "np.float32(2.5)"):
        check([argument], ["round(a, 1)", "round(a, 0)"])
    check(["1j"], ["round(a)"])


STEPS = ("np.ldexp(a, 3)", "np.ldexp(a, -2000)", "np.ldexp(a, 2000)", "np.ldexp(a, np.int64(2**40))", "np.frexp(a)",
         "np.spacing(a)", "np.nextafter(a, inf)", "np.nextafter(a, -inf)", "np.nextafter(a, nan)", "np.sign(a)",
         "np.signbit(a)", "np.copysign(a, -0.0)", "np.copysign(1, a)", "np.heaviside(a, 0.5)", "np.heaviside(a, nan)",
         "np.fabs(a)", "np.positive(a)", "np.isposinf(a)", "np.isneginf(a)", "np.nan_to_num(a)",
         "np.nan_to_num(a, nan=-1, posinf=2, neginf=3)", "np.fmax(a, nan)", "np.fmin(nan, a)", "np.maximum(a, nan)",
         "np.minimum(nan, a)")  # fmt: skip


@pytest.mark.parametrize("dtype", FLOATS)
def test_steps_and_signs(dtype: str) -> None:
    tiny = f"np.finfo('{dtype}').smallest_subnormal, np.finfo('{dtype}').max, np.finfo('{dtype}').tiny"
    check([f"np.array([1, -1, 0.0, -0.0, inf, -inf, nan, 1.5, {tiny}], '{dtype}')"], STEPS)
    check([f"np.array([0.0, 1, -1, inf, -inf, nan, 700, -700], '{dtype}')"],
          ["np.logaddexp(a, a[::-1])", "np.logaddexp2(a, a[::-1])", "np.hypot(a, a[::-1])", "np.logaddexp(a, -inf)",
           "np.hypot(a, inf)", "np.hypot(nan, a)", "np.arctan2(a, a[::-1])", "np.arctan2(a, -0.0)"], 4)  # fmt: skip


# Zeros beside conversions, which LLVM makes a minimum or maximum of: the sign of the zero is that of NumPy.

ZEROS = [
    f"np.where({condition}, {first}, {second})"
    for condition in ("a > 0", "a < 0", "a >= 0", "a <= 0", "~(a <= 0)", "(a < 0) | np.isnan(a)", "wide(a) > 0", "0 < wide(a)")
    for values in (("wide(0)", "wide(a)"), ("wide(-0.0)", "wide(a)"))
    for first, second in (values, values[::-1])
]


KINDS = [("f2", "np.float32"), ("f2", "np.float64"), ("f4", "np.float64"), ("f8", "np.float32")]


@pytest.mark.parametrize(("dtype", "wide"), KINDS)
def test_zeros_beside_conversions(dtype: str, wide: str) -> None:
    argument = f"np.array([-0.0, 0.0, 1, -1, nan, inf, 5e-324] * 4, '{dtype}')"
    rows = [text.replace("wide(a)", f"a.astype({wide})").replace("wide", wide) for text in ZEROS]
    check([argument], [*rows, "np.fmin(1j, a)", "np.maximum(a, -1j)"])


def power_of_a_scalar(c):
    return c[:, :1] ** np.int8(-3)


def power_of_a_literal(c):
    return c**-2 + 1


def power_in_place(c):
    c **= -1
    return c


def power_of_a_function(c):
    return np.power(c, np.array([-1])), np.power(c, -1)


def power_of_a_number(c, n):
    return c**n


@pytest.mark.parametrize("dtype", ["i4", "i8"])
@pytest.mark.parametrize("shape", [(0, 1), (3, 0), (2, 1)])
def test_an_integer_without_elements_has_negative_powers(dtype: str, shape: tuple[int, int]) -> None:
    c = np.ones(shape, dtype)
    for function in (power_of_a_scalar, power_of_a_literal, power_in_place):
        everywhere(function, c)
    for call in (power_of_a_function, pytocu.jit(power_of_a_function)):
        if c.size:
            with pytest.raises(ValueError, match="Integers to negative integer powers"):
                call(c)
        else:
            assert [(made.shape, made.dtype) for made in call(c)] == [(c.shape, np.dtype(t)) for t in ("i8", dtype)]
    for n in (-3, 2):
        everywhere(power_of_a_number, c, n)
    everywhere(power_of_a_scalar, c.astype("u2"))
