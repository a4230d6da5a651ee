"""Scans on a real GPU against NumPy: every dtype, rows and columns of every class, long ones in pieces, both backends.

Run with ``pytest -m gpu``.  Sums are of small whole numbers, which are exact in any order, or are compared by
their error.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.testing.compare import compare
from pytocu.testing.operands import make_function

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from reduction_tools import DTYPES

pytestmark = pytest.mark.gpu

SHAPES = ((7, 5), (3, 700), (700, 30), (2, 5000), (1, 40_000), (40_000, 1), (3000, 40), (130, 260), (0, 3), (3, 0))


def sparse(dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """Whole numbers whose running sums are exact in every dtype: mostly 0, and both signs where the dtype has them."""
    r = np.random.default_rng(6)
    values = r.integers(-3 if np.dtype(dtype).kind in "ifc" else 0, 4, shape)
    values = np.where(r.random(shape) < min(1.0, 400 / max(values.size, 1)), values, 0)
    return (values + 1j * values[..., ::-1] if np.dtype(dtype).kind == "c" else values).astype(dtype)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("backend", ["nvvm", "cuda_c"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(cupy: Any, dtype: str, backend: str) -> None:
    kind = np.dtype(dtype).kind
    texts = ["np.cumsum(a, 1)", "np.cumsum(a, 0)", "np.cumsum(a)", "np.cumsum(a[::-1, ::-1], 1)", "np.cumsum(a.T, 0)",
             "np.logical_xor.accumulate(a, 1)"]  # fmt: skip
    texts += ["np.maximum.accumulate(a, 1)", "np.fmin.accumulate(a, 0)"] if kind != "c" else []
    texts += ["np.cumprod(a, 0)", "np.bitwise_xor.accumulate(a, 1)", "np.gcd.accumulate(a, 1)"] if kind in "iu" else []
    function = make_function("a", texts, {"np": np})
    compiled = pytocu.jit(function, backend=backend)
    for shape in SHAPES:
        values = sparse(dtype, shape)
        for text, found, wanted in zip(texts, compiled(cupy.asarray(values)), function(values), strict=True):
            try:
                compare(np.asarray(found.get()), np.asarray(wanted), exact=kind not in "fc")
            except AssertionError as error:
                raise AssertionError(f"{text} of {dtype} {shape}: {error}") from None


LENGTHS = (1, 15, 16, 17, 31, 32, 33, 127, 128, 129, 255, 256, 257, 1023, 1024, 1025, 4095, 4096, 4097, 16383, 16384, 16385,
           32767, 32769, 65_537, 1_000_003)  # fmt: skip
"""Around a lane's elements, a warp, a tile, a block and a piece."""


@pytest.mark.parametrize("dtype", ["i4", "i8", "f4", "f8"])
def test_lengths(cupy: Any, dtype: str) -> None:
    rows, columns = pytocu.jit(lambda x: np.cumsum(x, 1)), pytocu.jit(lambda x: np.cumsum(x, 0))
    shifted = pytocu.jit(lambda x: np.cumsum(x[:, 1:], 1))
    for length in LENGTHS:
        x = np.random.default_rng(length).integers(-3, 4, (3, length)).astype(dtype)
        given = cupy.asarray(x)
        wanted = np.cumsum(x, 1)
        for found in (rows(given), columns(given.T).T, columns(cupy.ascontiguousarray(given.T)).T):
            np.testing.assert_array_equal(found.get(), wanted, err_msg=str(length))
        np.testing.assert_array_equal(shifted(given).get(), np.cumsum(x[:, 1:], 1), err_msg=str(length))
    for length in (100, 129, 1000, 1025, 5000):
        for width in (17, 31, 300):
            x = np.random.default_rng(length).integers(-3, 4, (length, width)).astype(dtype)
            np.testing.assert_array_equal(columns(cupy.asarray(x)).get(), np.cumsum(x, 0), err_msg=f"{length} {width}")


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shape", [(1, 10_000_000), (100, 10_000), (10_000, 100), (5, 16_000), (300_000, 3)], ids=str)
def test_sums_are_accurate_and_the_same_every_time(cupy: Any, dtype: str, shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(7).standard_normal(shape).astype(dtype)
    function = pytocu.jit(lambda x: (np.cumsum(x, 0), np.cumsum(x, 1)))
    given = cupy.asarray(x)
    first = [v.get() for v in function(given)]
    again = [v.get() for v in function(given)]
    assert all(a.tobytes() == b.tobytes() for a, b in zip(first, again, strict=True))
    for axis, ours in enumerate(first):
        exact = np.cumsum(x.astype(np.longdouble), axis)
        numpys = float(np.abs(np.cumsum(x, axis) - exact).max())
        assert float(np.abs(ours - exact).max()) <= 2 * numpys


def test_whole_array_of_two_to_the_26(cupy: Any) -> None:
    x = (cupy.arange(2**26, dtype=cupy.int32) * 40503 % 7 - 3).astype(cupy.float32)
    function = pytocu.jit(lambda x: np.cumsum(x))
    assert len(function.lower(x).kernels) == 3
    found = function(x)
    np.testing.assert_array_equal(found.get(), np.cumsum(x.get().astype(np.float64)).astype(np.float32))


def test_kernels_with_reductions_and_several_scans(cupy: Any) -> None:
    def program(x):
        shares = np.cumsum(x, 1) / x.sum(1, keepdims=True)
        fall = (np.maximum.accumulate(x, 1) - x).max(1)
        return shares, fall, np.cumsum(np.cumsum(x, 1), 1), np.diff(np.cumsum(x, 0), axis=0), np.cumsum(x)[::-1]

    x = np.random.default_rng(8).random((40, 900)) + 1
    expected = program(x)
    for found, wanted in zip(pytocu.jit(program)(cupy.asarray(x)), expected, strict=True):
        np.testing.assert_allclose(found.get(), wanted, rtol=1e-11)
    long = np.random.default_rng(8).random(100_000) + 1
    shares = pytocu.jit(lambda x: np.cumsum(x) / x.sum())
    np.testing.assert_allclose(shares(cupy.asarray(long)).get(), np.cumsum(long) / long.sum(), rtol=1e-11)


def test_in_place_and_into_given_arrays(cupy: Any) -> None:
    def program(a, b):
        np.cumsum(a, 1, out=b)
        a[:] = np.cumsum(a, 1)
        a[1:, 2:] = np.maximum.accumulate(a, 0)[1:, 2:]
        return np.add.accumulate(a, 1, out=b[:, ::-1])

    arrays = [np.random.default_rng(9).integers(0, 5, (50, 800)).astype("f4"), np.zeros((50, 800))]
    given = [cupy.asarray(a) for a in arrays]
    pytocu.jit(program)(*given)
    program(*arrays)
    for found, wanted in zip(given, arrays, strict=True):
        np.testing.assert_array_equal(found.get(), wanted)


def test_unwrap_and_the_initial_element(cupy: Any) -> None:
    x = np.random.default_rng(10).random((3, 20_000)) * 30
    for function in (lambda x: np.unwrap(x), lambda x: np.unwrap(x, axis=0, period=4.0)):
        np.testing.assert_allclose(pytocu.jit(function)(cupy.asarray(x)).get(), function(x), rtol=0, atol=1e-9)
    ints = np.random.default_rng(11).integers(0, 9, (3, 700))
    for function in (lambda x: np.unwrap(x, period=9), lambda x: np.cumulative_sum(x, axis=1, include_initial=True)):
        np.testing.assert_array_equal(pytocu.jit(function)(cupy.asarray(ints)).get(), function(ints))
