"""Between which numbers floats lie, and casts that need no comparison where that is known."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.ir.bounds import MOST, Bounds, bounds
from pytocu.ir.builder import Builder
from pytocu.ir.core import Value
from pytocu.ir.types import F32, F64, U8, scalar

SPECIAL = np.array([0.0, -0.0, 0.5, 254.5, 255.5, -1e30, 1e30, np.inf, -np.inf, np.nan, -128.5, 127.49999], np.float32)


def made(name: str, *args: Value | float) -> Value:
    return B.emit(name, [a if isinstance(a, Value) else B.const(a, scalar(F32)) for a in args])


B = Builder()
BYTE = B.emit("convert_raw", (Value(scalar(U8)),), {}, (scalar(F32),))
ANYTHING = Value(scalar(F32))
LOW, HIGH, NAN = (B.const(number, scalar(F32)) for number in (-1.5, 2.5, float("nan")))
ANGLE = float(np.float32(1.58))
CLIPPED = made("where", made("less_equal", ANYTHING, LOW), LOW, ANYTHING)


def kept(comparison: str, number: Value, bound: Value, other: Value) -> Value:
    """The number, NaN too, unless `other` is past the bound."""
    condition = made("bitwise_or", made(comparison, other, bound), made("not_equal", number, number))
    return made("where", condition, number, bound)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (BYTE, Bounds(0.0, 255.0, False)),
        (made("negative", BYTE), Bounds(-255.0, 0.0, False)),
        (made("subtract", made("multiply", BYTE, -2.0), 0.25), Bounds(-510.25, -0.25, False)),
        (made("add", BYTE, 2.0**25), Bounds(2.0**25, 2.0**25 + 256, False)),
        (made("multiply", BYTE, 3e38), Bounds(0.0, float("inf"), False)),
        (made("multiply", ANYTHING, 0.0), None),
        (made("divide", BYTE, 2.0), None),
        (B.emit("convert_raw", (Value(scalar(F64)),), {}, (scalar(F32),)), None),
        (CLIPPED, Bounds(-1.5, float("inf"), True)),
        (made("where", made("greater", CLIPPED, HIGH), HIGH, CLIPPED), Bounds(-1.5, 2.5, True)),
        (made("rint", made("where", made("greater", CLIPPED, HIGH), HIGH, CLIPPED)), Bounds(-2.0, 2.0, True)),
        (made("where", made("greater", ANYTHING, BYTE), 2.5, ANYTHING), None),
        (made("where", made("greater", ANYTHING, 0.0), BYTE, made("negative", BYTE)), Bounds(-255.0, 255.0, False)),
        (made("where", made("greater", ANYTHING, NAN), NAN, ANYTHING), None),
        (kept("greater_equal", ANYTHING, LOW, ANYTHING), Bounds(-1.5, float("inf"), True)),
        (kept("less_equal", CLIPPED, HIGH, CLIPPED), Bounds(-1.5, 2.5, True)),
        (kept("greater_equal", ANYTHING, LOW, BYTE), None),
        (kept("greater_equal", ANYTHING, NAN, ANYTHING), None),
        (made("multiply", made("arctan", ANYTHING), 2.0), Bounds(-2 * ANGLE, 2 * ANGLE, True)),
        (made("absolute", made("subtract", BYTE, 5.0)), Bounds(0.0, 250.0, False)),
        (made("absolute", made("add", BYTE, 5.0)), Bounds(5.0, 260.0, False)),
        (made("absolute", CLIPPED), Bounds(0.0, float("inf"), True)),
    ],
)
def test_bounds(value: Value, expected: Bounds | None) -> None:
    assert bounds(value) == expected


def test_so_many_instructions_are_looked_at() -> None:
    value = BYTE
    for count in range(2 * MOST):
        value = made("add", value, 1.0)
        assert (bounds(value) is None) == (2 * count + 4 > MOST)


def comparisons(function: Any, *specs: str, **options: Any) -> int:
    (kernel,) = pytocu.jit(function, **options).lower(*specs).compile("cpu").kernels
    return len(re.findall(r"= (?:equal|less|absolute) ", kernel.ir))


def clipped(x):
    wide = np.clip(x, -1, 4e9).astype(np.int64)
    return np.clip(x, -128, 127).astype(np.int8), np.clip(np.rint(x), 0, 255).astype(np.uint8), wide


def weighted(x):
    return (x * np.float32(0.25) + np.float32(0.5)).astype(np.uint8), (np.sqrt(x.astype(np.float64)) * 2).astype(np.int32)


def test_casts_of_what_lies_in_range() -> None:
    with np.errstate(invalid="ignore"):
        wanted = clipped(SPECIAL)
    for found, expected in zip(pytocu.jit(clipped)(SPECIAL), wanted, strict=True):
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)
    x = np.arange(256, dtype=np.uint8)
    for found, expected in zip(pytocu.jit(weighted)(x), weighted(x), strict=True):
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)


def test_what_is_in_range_is_not_compared() -> None:
    assert comparisons(lambda x: (x * np.float32(0.25)).astype(np.uint8), "u8[n]") == 0
    assert comparisons(lambda x: np.clip(x, -128, 127).astype(np.int8), "f32[n]") == 1
    assert comparisons(lambda x: np.clip(x, 0, 255).astype(np.uint8), "f32[n]") == 1
    assert comparisons(lambda x: np.minimum(np.maximum(x, -200), 0.0).astype(np.int16), "f32[n]") == 2
    assert comparisons(lambda x: x.astype(np.int8), "f32[n]") == 2
    assert comparisons(lambda x: np.clip(x, -128, 3e9).astype(np.int32), "f32[n]") == 2
    # Where sums may be computed in another order, numbers are not where their operands say.
    assert comparisons(lambda x: (x * np.float32(0.25)).astype(np.uint8), "u8[n]", fastmath=True) == 2
