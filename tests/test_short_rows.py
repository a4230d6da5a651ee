"""Many short rows that a CPU reduces together, and columns: extremes, ties, NaN, and what lies behind the last row."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.ir import interp
from pytocu.passes.short_row_loops import LONGEST, TILE, ShortRows
from pytocu.testing.compare import compare

RANDOM = np.random.default_rng(0)
DTYPES = ("float32", "float64", "float16", "int8", "uint16", "int32", "int64", "bool", "complex64")
LENGTHS = (5, 7, 8, 9, LONGEST - 1)
COUNTS = (17, TILE - 1, TILE, TILE + 1, 2 * TILE + 7)


def numbers(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Few different numbers, so that there are ties, and of floats NaN, infinities and both zeros too."""
    if dtype == "bool":
        return RANDOM.random(shape) < 0.2
    x = RANDOM.integers(0, 4, shape).astype(dtype)
    if x.dtype.kind in "fc":
        for special in (np.nan, -np.inf, np.inf, -0.0):
            x[RANDOM.random(shape) < 0.05] = special
        x[:2] = -np.inf
        x[2:4] = np.nan
    return x


def extremes(x: np.ndarray) -> Any:
    return np.argmax(x, 1), np.argmin(x, 1), x.max(1), (x != 0).any(1), np.count_nonzero(x, 1)


def columns(x: np.ndarray) -> Any:
    return np.argmax(x, 0), np.argmin(x, 0), x.max(0), x.min(0)


def same(function: Callable[..., Any], *arguments: Any) -> None:
    with np.errstate(all="ignore"):
        expected = function(*arguments)
    for found, wanted in zip(jitted(function)(*arguments), expected, strict=True):
        compare(found, wanted)


@functools.cache
def jitted(function: Callable[..., Any]) -> Callable[..., Any]:
    return pytocu.jit(function)


@pytest.mark.parametrize("dtype", DTYPES)
def test_extremes_of_short_rows(dtype: str) -> None:
    for length in LENGTHS:
        for count in COUNTS:
            same(extremes, numbers((count, length), dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_extremes_of_columns(dtype: str) -> None:
    for shape in ((40, 100), (3, 70), (17, 33)):
        same(columns, numbers(shape, dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_each_row_is_summed_in_the_order_of_numpy(dtype: str) -> None:
    # One after the other, but for the first eight, which are a tree.
    f = pytocu.jit(lambda x: x.sum(1))
    for length in LENGTHS:
        for count in COUNTS:
            x = RANDOM.standard_normal((count, length)).astype(dtype)
            compare(f(x), x.sum(1))
            # Where a row lies changes nothing: neither its place in a tile nor what stands around it.
            compare(f(x[1:].copy()), x[1:].sum(1))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sums_of_computed_rows_are_in_that_order_too(dtype: str) -> None:
    def of_rows(x: np.ndarray, y: np.ndarray) -> Any:
        return (x[::-1] * y).sum(1), (x - y).max(1), np.add.reduce(x, 1, where=y > 0), (x.T + y.T).T.sum(1)

    for length in range(16):
        x, y = (RANDOM.standard_normal((70, length)).astype(dtype) for _ in range(2))
        sums, tops = (x[::-1] * y).sum(1), (x - y).max(1, initial=-np.inf).astype(dtype)
        if length:
            found = pytocu.jit(of_rows)(x, y)
            compare(found[0], sums)
            compare(found[1], tops)
            np.testing.assert_allclose(found[2], np.add.reduce(x, 1, where=y > 0), rtol=1e-5, atol=1e-5)
            compare(found[3], np.ascontiguousarray(x + y).sum(1))
        compare(pytocu.jit(lambda x, y: (x[::-1] * y).sum(1))(x, y), sums)


def test_what_rows_are_made_of() -> None:
    def several(x: np.ndarray, y: np.ndarray, w: np.ndarray, b: np.ndarray) -> Any:
        z = x * w + b[:, None] - y
        top = z.max(axis=1, keepdims=True)
        return z - top, top[:, 0] * b, (z == top).sum(1), z[:, ::-1].max(1), (x > y).all(1)

    for count, length in ((100, 8), (TILE, 5), (200, 13)):
        x, y = (RANDOM.integers(-9, 9, (count, length)) * 0.25 for _ in range(2))
        w, b = RANDOM.integers(1, 5, length) * 0.5, RANDOM.integers(1, 5, count) * 0.5
        same(several, x, y, w, b)


def test_rows_however_they_lie() -> None:
    def of_rows(x: np.ndarray) -> Any:
        return x.max(1), np.argmin(x, 1), (x + 1).sum(1)

    whole = RANDOM.integers(0, 9, (150, 14))
    views = (whole[:, :9], whole[::2], whole[::-1], whole[:, ::-1], np.asfortranarray(whole), whole[5:, 3:13], whole[:0])
    for x in (whole, *views):
        same(of_rows, x)
    same(lambda x: (x.max(2), x.sum((1, 2)), x.min((0, 2))), RANDOM.integers(0, 9, (30, 20, 7)))
    same(lambda x: (x.max(-1), np.argmax(x, -1)), np.broadcast_to(whole[:, :1], (150, 9)))
    same(lambda x, y: ((x[:, None, :] - y).max(2),), whole, whole[:40])


def test_rows_that_change_beside_their_sums() -> None:
    def normalised(x: np.ndarray, out: np.ndarray) -> Any:
        x -= x.max(1, keepdims=True)
        out[1:] = x.sum(1)[:-1]
        x[3:] = x[:-3] * 2
        return x.min(1), x, out

    f = pytocu.jit(normalised)
    x, out = RANDOM.integers(0, 99, (130, 9)) * 0.5, np.zeros(130)
    expected = normalised(x.copy(), out.copy())
    for found, wanted in zip(f(x.copy(), out.copy()), expected, strict=True):
        compare(found, wanted)


def test_rows_without_elements() -> None:
    f = pytocu.jit(lambda x: (x.sum(1), (x > 0).any(1), x.prod(1)))
    for shape in ((100, 0), (0, 8), (100, 8)):
        x = np.ones(shape, np.float32)
        for found, wanted in zip(f(x), (x.sum(1), (x > 0).any(1), x.prod(1)), strict=True):
            compare(found, wanted)


@pytest.mark.parametrize(("dtype", "length"), [("float32", 8), ("float64", 9), ("int8", 7)])
def test_nothing_outside_of_memory_is_read(dtype: str, length: int) -> None:
    def extremes(x: np.ndarray) -> Any:
        return x.max(1), np.argmax(x, 1)

    for count in (17, TILE + 9):
        x = numbers((count, length), dtype)
        # The interpreter says what is read or written outside, or read before it is written.
        found = interp.run(pytocu.jit(extremes).lower(x).host("cpu"), [x])
        for one, wanted in zip(found, extremes(x), strict=True):
            np.testing.assert_array_equal(one, wanted)


def test_many_rows_are_walked_together(monkeypatch: pytest.MonkeyPatch) -> None:
    walked: list[bool] = []
    fits = ShortRows.fits
    monkeypatch.setattr(ShortRows, "fits", lambda self: walked.append(fits(self)) or walked[-1])
    f = pytocu.jit(lambda x: x.max(1))
    whole = RANDOM.random((100, 20))
    for x in (whole[:, :8].copy(), whole[:9, :8].copy(), whole[:, :16].copy(), whole[:, :8], whole[:, :8] > 0.5):
        f.lower(x).compile("cpu")
    assert walked == [True, False, False]
