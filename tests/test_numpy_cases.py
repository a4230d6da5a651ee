"""Cases at which NumPy's own tests of promotion, ufuncs and mathematics look, compared with NumPy itself."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.testing.cases import call_jit
from pytocu.testing.compare import compare
from pytocu.testing.operands import make_function

INF, NAN = np.inf, np.nan
SCOPE = {"np": np, "inf": INF, "nan": NAN}


def agree(texts: list[str], *arguments: Any, ulp: float = 0) -> None:
    """Every expression has NumPy's dtype, kind of result and value."""
    function = make_function("abc"[: len(arguments)], texts, dict(SCOPE))
    with np.errstate(all="ignore"):
        expected = function(*arguments)
    compare(call_jit(function, *arguments), expected, exact=not ulp, ulp=ulp)


def refuse(text: str, *arguments: Any) -> None:
    """The expression has NumPy's exception and the beginning of its sentence."""
    function = make_function("abc"[: len(arguments)], [text], dict(SCOPE))
    with np.errstate(all="ignore"), pytest.raises(Exception) as wanted:
        function(*arguments)
    with pytest.raises(wanted.type.__mro__[1] if wanted.type.__module__ != "builtins" else wanted.type) as found:
        call_jit(function, *arguments)
    assert str(found.value).startswith(str(wanted.value))


# Promotion.

WEAK = [
    "np.uint8(1) + 2", "np.uint8(100) + 100", "np.float32(1) + 3e100", "np.array([1.0], np.float32) + 3.0",
    "np.int8(3) * 2.0",
    "np.array([1], np.uint8) + 1", "np.array([1], np.uint8) + np.int64(1)", "np.array([1], np.uint8) + np.array(1, np.int64)",
    "np.array([0.1], np.float32) == 0.1", "np.array([0.1], np.float32) == np.float64(0.1)", "np.float32(0.1) == 0.1",
    "np.array([1.0], np.float32) + np.float64(3)", "np.float32(3) + np.float64(3)", "np.int64(3) + np.float32(3)",
    "np.array([1], np.int8) / 1", "np.array([1], np.int16) + 1.5", "np.array([1], np.int8) + 1j", "np.float16(1) + 1j",
    "np.array([True]) + 1", "np.array([True]) + 1.0", "np.True_ + True", "np.array([True]) + np.uint8(2)", "np.uint64(1) + 1",
    "np.uint64(2**63) + np.int64(1)", "np.array([1], np.uint32) - np.int32(2)", "np.minimum(np.uint8(3), 2)",
    "np.array([3], np.int8) ** 2", "np.array([3], np.int8) ** np.int64(2)", "2 ** np.array([3], np.uint8)",
    "np.float16(60000) * 2",
    "np.array([7], np.int8) // 2", "np.array([7], np.int8) // 2.0", "np.array([7], np.int8) % np.uint8(4)",
    "np.uint8(1) - 2 * 1.0",
    "np.array([200], np.uint8) > -1", "np.array([200], np.uint8) < 300", "np.int8(-1) == 2**40",
    "np.array([5], np.uint64) < -2**63",
    "np.where(True, np.uint8(1), 2)", "np.where(True, np.float32(1), 2.5)",
    "np.where(np.array([True]), np.int8(1), np.uint8(2))",
    "np.array([1.5], np.float32).astype(np.float64) + np.float32(1)", "np.add(1, np.float32(2))", "np.add(1.5, np.int8(2))",
    "np.multiply(np.uint8(200), 2, dtype=np.uint16)", "np.divide(1, np.float16(3))", "np.left_shift(np.uint8(255), 1)",
    "np.isclose(np.float32(1), 1 + 1e-9)", "np.clip(np.uint8(200), 0, 100)", "np.array(3, np.int16) + 1", "-np.uint8(1)",
    "abs(np.int8(-128))", "~np.uint16(0)", "np.array(5, np.float32) * np.array([2.0])",
    "np.array(5.0) * np.array([2], np.float32)",
]  # fmt: skip


@pytest.mark.parametrize("text", WEAK)
def test_promotion_at_run_time(text: str) -> None:
    """The strong operands as arguments, the weak ones in the source."""
    strong: list[Any] = []
    source = text
    for found in re.findall(r"np\.(?:array\((?:\[.*?\]|[^,()]*)(?:, np\.\w+)?\)|(?:u?int|float)\d+\([^()]*\)|True_)",
    text)[:3]:
        value = eval(found, {"np": np})
        source = source.replace(found, "abc"[len(strong)], 1)
        strong.append(value)
    assert strong
    agree([source], *strong)


@pytest.mark.parametrize(
    ("text", "value"),
    [("a + 300", np.uint8(1)), ("a + 300", np.array([1], np.uint8)), ("a - -1", np.uint16(3)), ("np.maximum(a, -1)",
    np.uint8(3)),
     ("a * 2**40", np.array([1], np.int32)), ("a & 256", np.array([1], np.uint8)), ("a ^ True", np.float32(1)),
     ("a << 1.5", np.int8(1)),
     ("np.sqrt(a, dtype=np.int8)", np.array([4.0])), ("a - a", np.array([True])), ("-a", np.array([True])),
     ("a // 1j", np.array([2 + 1j])), ("a % 2", np.array([2 + 1j])), ("np.floor(a)", np.array([1j])),
     ("np.arctan2(a, 1)", np.array([1j])),
     ("np.gcd(a, 2)", np.array([2.0])), ("np.ldexp(a, 2.0)", np.array([1.0])), ("~a", np.array([1.5])), ("np.spacing(a)",
     np.array([1j])),
     ("a ** -1", np.array([2])), ("np.power(2, -1) * a", np.array([2])), ("np.invert(a)", np.float16(1))],
)  # fmt: skip
def test_refusals_are_numpys(text: str, value: Any) -> None:
    refuse(text, value)


# Mathematics at special values.

SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, 2.0, -2.5, 3.0, 1e-310, -1e-310, 1e308, -1e308, INF, -INF, NAN])
PAIRS = np.repeat(SPECIAL, SPECIAL.size), np.tile(SPECIAL, SPECIAL.size)
EXACT_PAIRS = ["a // b", "a % b", "np.divmod(a, b)", "np.fmod(a, b)", "np.floor_divide(a, b)", "np.copysign(a, b)",
    "np.nextafter(a, b)",
               "np.heaviside(a, b)", "np.maximum(a, b) + 0", "np.fmin(a, b) + 0", "np.logical_xor(a, b)", "a < b",
               "a >= b", "a != b",
               "a / b", "np.isclose(a, b)", "np.isclose(a, b, equal_nan=True)"]  # fmt: skip
CLOSE_PAIRS = ["np.power(a, b)", "np.hypot(a, b)", "np.arctan2(a, b)", "np.logaddexp(a, b)", "np.logaddexp2(a, b)",
    "np.float_power(a, b)"]
EXACT = ["np.sign(a)", "np.floor(a)", "np.ceil(a)", "np.trunc(a)", "np.rint(a)", "np.modf(a)", "np.frexp(a)",
    "np.spacing(a)", "np.sqrt(a)",
         "np.reciprocal(a)", "np.square(a)", "np.signbit(a)", "np.isfinite(a)", "np.nan_to_num(a)", "abs(a)",
         "np.fabs(a)", "a ** 2",
         "a ** 0.5", "a ** -1", "a ** 0", "a ** 1", "np.positive(a)", "np.round(a, 2)", "np.deg2rad(a)",
         "np.logical_not(a)"]  # fmt: skip
CLOSE = ["np.exp(a)", "np.exp2(a)", "np.expm1(a)", "np.log(a)", "np.log2(a)", "np.log10(a)", "np.log1p(a)", "np.cbrt(a)",
    "np.sin(a)",
         "np.cos(a)", "np.tan(a)", "np.arcsin(a)", "np.arccos(a)", "np.arctan(a)", "np.sinh(a)", "np.cosh(a)", "np.tanh(a)",
         "np.arcsinh(a)", "np.arccosh(a)", "np.arctanh(a)", "np.sinc(a)"]  # fmt: skip


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2"])
def test_special_values(dtype: str) -> None:
    with np.errstate(all="ignore"):
        pairs = tuple(p.astype(dtype) for p in PAIRS)
        single = SPECIAL.astype(dtype)
    # What nextafter gives for equal float16 zeros depends on NumPy's version.
    agree([text for text in EXACT_PAIRS if "nextafter" not in text or dtype != "f2"], *pairs)
    agree(EXACT, single)
    agree(CLOSE_PAIRS, *pairs, ulp=4)
    agree(CLOSE, np.concatenate([single, np.array([0.5, -0.5, 0.999, 1.001, 20, 80, -80, 700, -700, 1e-5], dtype)]), ulp=5)


def test_scaling_by_powers_of_two() -> None:
    x = np.array([1.0, -0.75, 5e-324, 1.7e308, 0.0, -0.0, INF, NAN])
    for shift in (0, 1, -1, 52, -52, 1022, -1074, -1075, 2000, -2000, 2**31 - 1, -(2**31)):
        agree(["np.ldexp(a, b)"], x, np.int32(shift))
    for dtype in (np.int64, np.int32, np.int16):
        agree(["np.ldexp(a, b)"], x.astype(np.float32), np.array([3, -150, 100, -1, 7, 7, 1, 1], dtype))
    agree(["np.ldexp(a, b)"], x, np.array([2**40, -(2**40), 2**62, -(2**62), 1, 1, 1, 1]))


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u4", "i8", "u8"])
def test_integers_at_their_ends(dtype: str) -> None:
    info = np.iinfo(dtype)
    values = np.array([info.min, info.min + 1, info.max, info.max - 1, 0, 1, 2, 7, info.bits - 1,
    info.bits % (info.max + 1)], dtype)
    if info.min < 0:
        values = np.concatenate([values, np.array([-1, -2, -7], dtype)])
    a, b = np.repeat(values, values.size), np.tile(values, values.size)
    agree(["a // b", "a % b", "np.divmod(a, b)", "np.fmod(a, b)", "a << b", "a >> b", "np.gcd(a, b)", "np.lcm(a, b)",
    "a * b", "a + b",
           "a - b", "a / b", "a & b", "a | b", "a ^ b", "a < b", "a == b", "np.bitwise_count(a)", "abs(a)", "-a",
           "np.sign(a)"], a, b)  # fmt: skip
    agree(["a < b", "a == b", "np.maximum(a, b)", "a + b", "a // b"], a, b.astype("i8" if dtype != "u8" else "u8"))


def test_complex_special_values() -> None:
    parts = np.array([0.0, -0.0, 1.0, -2.0, INF, -INF, NAN])
    z = np.array([complex(x, y) for x in parts for y in parts])
    w = z[::-1].copy()
    agree(["np.abs(a)", "np.isnan(a)", "np.isinf(a)", "np.isfinite(a)", "a == b", "a != b", "np.less(a, b)",
    "np.greater_equal(a, b)",
           "np.conj(a)", "-a", "a + b", "a - b", "a.real", "a.imag", "np.logical_not(a)", "np.logical_and(a, b)",
           "np.sign(a)",
           "np.maximum(a, b) + 0", "np.fmin(a, b) + 0", "np.rint(a)", "np.positive(a)", "np.isreal(a)",
           "np.iscomplex(a)"], z, w)  # fmt: skip


def test_where_and_out_of_ufuncs() -> None:
    x = np.arange(6.0)

    def function(x, out, mask):
        np.sqrt(x, out=out, where=x > 2)
        np.add(x, 1, out=out, where=mask)
        return out, np.negative(x, out=x), np.multiply(out, 2, out, casting="unsafe", dtype=np.float32)

    wanted = [np.arange(6.0), np.full(6, -9.0), np.arange(6) % 2 == 0]
    given = [v.copy() for v in wanted]
    compare(pytocu.jit(function)(*given), function(*wanted))
    compare(given, wanted)
    refuse("np.add(a, 1, out=b)", x, np.zeros(5))
    refuse("np.add(a, 1.5, out=b)", x, np.zeros(6, np.int32))
    refuse("np.less(a, 1, out=b, casting='no')", x, np.zeros(6))
