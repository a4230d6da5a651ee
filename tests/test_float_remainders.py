"""Remainders of floats on a CPU: the bits of the C library's `fmod`, as operations of vectors and of single elements."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from test_backend_cpu import on_x86_64, same_bits

import pytocu
from pytocu.backend import cpu
from pytocu.ir import interp
from pytocu.ir.expand import FRACTIONS
from pytocu.ir.types import F32, F64

DIGITS = {np.float32: FRACTIONS[F32], np.float64: FRACTIONS[F64]}


def of_any_bits(rng: np.random.Generator, count: int, dtype: Any) -> np.ndarray:
    word = np.uint32 if dtype is np.float32 else np.uint64
    return rng.integers(0, np.iinfo(word).max, count, dtype=word, endpoint=True).view(dtype)


def near_multiples(rng: np.random.Generator, count: int, dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    """Numbers next to multiples of others, whose quotients round to whole ones from either side."""
    y = np.ldexp(rng.random(count) + 0.5, rng.integers(-30, 30, count)).astype(dtype)
    times = np.floor(2.0 ** (rng.random(count) * (DIGITS[dtype] + 2)))
    x = (times * y).astype(dtype)
    for _ in range(2):
        x = np.where(rng.random(count) < 0.3, np.nextafter(x, dtype(np.inf)), x)
        x = np.where(rng.random(count) < 0.3, np.nextafter(x, dtype(0)), x)
    return x * rng.choice(np.array([1, -1], dtype), count), y * rng.choice(np.array([1, -1], dtype), count)


def odd_ones(dtype: Any) -> tuple[np.ndarray, np.ndarray]:
    """Every pair of zeros, subnormal numbers, the ends of the range, infinities and NaN."""
    info = np.finfo(dtype)
    ends = [info.smallest_subnormal, 3 * info.smallest_subnormal, info.tiny, np.nextafter(info.tiny, 0), info.max, info.max / 2]
    bound = 2.0 ** DIGITS[dtype]
    some = np.array([0, 1, 3, 0.1, np.inf, np.nan, bound, bound - 1, bound + 1, 2 * bound, *ends], dtype)
    some = np.concatenate([some, -some])
    x, y = np.meshgrid(some, some)
    return x.ravel(), y.ravel()


def operands(dtype: Any, count: int = 20_000) -> list[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(7)
    same = np.ldexp(rng.random(count) - 0.5, rng.integers(-5, 5, count)).astype(dtype)
    # Quotients that a float has, rounded, up to where their last digit is four.
    far = (rng.random(count) * 2.0 ** (DIGITS[dtype] + 3)).astype(dtype), (rng.random(count) / 2 + 0.5).astype(dtype)
    return [
        far,
        (of_any_bits(rng, count, dtype), of_any_bits(rng, count, dtype)),
        near_multiples(rng, count, dtype),
        odd_ones(dtype),
        (same, same[::-1].copy()),
    ]


def remainders(x, y):
    return np.fmod(x, y), x % y, x // y, np.divmod(x, y)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bits(dtype: Any) -> None:
    compiled = pytocu.jit(remainders)
    for x, y in operands(dtype):
        fmod, modulus, floored, both = remainders(x, y)
        found = compiled(x, y)
        for got, expected in zip((*found[:3], *found[3]), (fmod, modulus, floored, *both), strict=True):
            same_bits(got, expected)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_lengths_and_one_divisor(dtype: Any) -> None:
    """Vectors, what is left behind them, and vectors in which a single element is rare."""
    compiled = pytocu.jit(lambda x, y: (np.fmod(x, y), x % y))
    rng = np.random.default_rng(8)
    for count in [*range(1, 40), 63, 64, 65, 130]:
        x = ((rng.random(count) - 0.5) * 1000).astype(dtype)
        x[rng.integers(0, count)] = rng.choice([np.inf, np.nan, 1e30, 0.0, -0.0])
        for divisor in (0.1, -7.0, 0.0, np.inf, 2 * np.pi):
            y = dtype(divisor)
            for got, expected in zip(compiled(x, y), (np.fmod(x, y), x % y), strict=True):
                same_bits(got, expected)


@pytest.mark.filterwarnings("ignore")
def test_the_interpreter_agrees() -> None:
    for dtype in (np.float32, np.float64):
        x, y = near_multiples(np.random.default_rng(9), 300, dtype)
        low = pytocu.jit(lambda x, y: np.fmod(x, y)).lower(x, y)
        (found,) = interp.run(low.host("cpu"), (x, y))
        same_bits(found, np.fmod(x, y))


@on_x86_64
@pytest.mark.parametrize("spec", ["f32[n]", "f64[n]"])
def test_a_loop_of_remainders_is_vector_code(spec: str) -> None:
    compiled = pytocu.jit(lambda x: x % 0.1).lower(spec).compile("cpu")
    text = cpu.assembly(compiled.source, ("skylake", "+avx2,+fma"))
    assert re.search(r"\bvfn?madd\w+p[sd]\b.*%ymm", text) and re.search(r"\bvdivp[sd]\b.*%ymm", text)


def test_fastmath_leaves_it_to_the_library() -> None:
    """A quotient by the reciprocal may be wrong by one either way."""
    source = pytocu.jit(lambda x, y: np.fmod(x, y), fastmath=True).lower("f64[n]", "f64[n]").compile("cpu").source
    assert "math.fmod" in source and "large.fmod" not in source
