"""Kernels on the CPU that read along one axis and write along another: tiles."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.passes.lower_loops import TILE
from pytocu.runtime import threads

ROWS, COLUMNS = TILE
SHAPES = ((1, 1), (0, 5), (5, 0), (ROWS - 1, COLUMNS + 1), TILE, (COLUMNS, ROWS), (2 * ROWS + 3, 40), (1, 700), (300, 1))


def add_transposed(x, y):
    return x.T + y


def rotate(x):
    return np.transpose(x, (2, 0, 1)) * 2


def both(x, y):
    return x.T.copy(), y * 2, y.T - 1


def into(x, out):
    out[...] = x.T
    return out


def swap(x):
    x[...] = x.T
    return x


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape)).random(shape, np.float32)


def same(function: Any, *arguments: np.ndarray) -> None:
    expected = function(*(a.copy("K") for a in arguments))
    found = pytocu.jit(function)(*(a.copy("K") for a in arguments))
    pairs = zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]
    for actual, wanted in pairs:
        np.testing.assert_array_equal(actual, wanted)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_transposed(shape: tuple[int, int]) -> None:
    x, y = numbers(*shape), numbers(*shape[::-1])
    same(add_transposed, x, y)
    same(both, x, y)
    same(into, x, np.zeros_like(y))
    same(into, x, np.asfortranarray(np.zeros_like(y)))


@pytest.mark.parametrize("size", [1, 17, TILE[0] + 5])
def test_transposed_in_place(size: int) -> None:
    same(swap, numbers(size, size))


@pytest.mark.parametrize("shape", [(3, 4, 5), (40, 50, 60), (1, 70, 2), (33, 0, 2), (2, 3, 600)], ids=str)
def test_axes_rotated(shape: tuple[int, ...]) -> None:
    same(rotate, numbers(*shape))


def loops(function: Any, *specs: str) -> list[str]:
    (kernel,) = pytocu.jit(function).lower(*specs).compile("cpu").kernels
    return re.findall(r'over = "(\w+)"', kernel.ir)


def test_only_what_crosses_memory_has_tiles() -> None:
    assert loops(add_transposed, "f32[n, m]", "f32[m, n]") == ["parallel", "serial", "serial"]
    assert loops(rotate, "f32[n, m, k]") == ["parallel", "serial", "serial"]


def test_few_long_iterations_are_spread_over_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    shares: list[tuple[int, int]] = []
    monkeypatch.setattr(threads, "_KERNEL", lambda address: lambda slots, begin, end: shares.append((begin, end)))
    monkeypatch.setenv("PYTOCU_NUM_THREADS", "2")
    threads.run(0, 0, 40, 1)
    assert min(shares)[0] == 0 and max(shares)[1] == 40 and max(end - begin for begin, end in shares) <= 5
    shares.clear()
    threads.run(0, 0, 10_000, 1000)
    assert len(shares) > 3 and all(begin % 1024 == 0 for begin, _ in shares)
