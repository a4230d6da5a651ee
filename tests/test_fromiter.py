"""``np.fromiter``: an array of what an iterable gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.testing.cases import call_interpreted
from pytocu.testing.compare import compare

X = np.array([2.5, -1.5, 7.0, 0.25])

FUNCTIONS: list[Callable[..., Any]] = [
    lambda x, n: np.fromiter((v * 2 for v in x), float),
    lambda x, n: np.fromiter((v for v in x), int),
    lambda x, n: np.fromiter([v * 2 for v in x], dtype=np.float32, count=len(x)),
    lambda x, n: np.fromiter((i * i for i in range(n)), int, n),
    lambda x, n: np.fromiter((x[i] + i for i in range(1, n)), x.dtype, count=2),
    lambda x, n: np.fromiter((v for v in x if v > 1), None),
    lambda x, n: np.fromiter((a * b for a in x for b in x if a > b), "f4"),
    lambda x, n: np.fromiter((v > 1 for v in x), bool),
    lambda x, n: np.fromiter(map(np.sqrt, abs(x)), float),
    lambda x, n: (np.fromiter(x, np.float16), np.fromiter(x, float, n), np.fromiter(x[:0], float)),
    lambda x, n: (np.fromiter(range(n), np.float32), np.fromiter(range(3), np.uint8), np.fromiter(range(n), np.uint8, 0)),
    lambda x, n: np.fromiter([1, 2.5, x[0], n], complex, count=3),
    lambda x, n: (np.fromiter({2: x, 5: n}, int), np.fromiter({2: x[0], 5: 1}.values(), float), np.fromiter([1, 2], int, -5)),
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_numbers(function: Callable[..., Any]) -> None:
    compare(call_interpreted(function, X, 3), function(X, 3))
    compare(pytocu.jit(function)(X, 3), function(X, 3))


@pytest.mark.parametrize(
    "function",
    [
        lambda x, n: np.fromiter(x, float, 5),
        lambda x, n: np.fromiter(x, float, n + 2),
        lambda x, n: np.fromiter((1 for _ in range(2)), float, n),
        lambda x, n: np.fromiter((300 for _ in range(n)), np.uint8),
        lambda x, n: np.fromiter((n * 100 for _ in range(n)), np.uint8),
        lambda x, n: np.fromiter(zip(x, x, strict=False), float),
        lambda x, n: np.fromiter(x[None], float),
        lambda x, n: np.fromiter(([1.0] for _ in range(n)), float),
        lambda x, n: np.fromiter(n, float),
        lambda x, n: np.fromiter(x, float, 2.0),  # pyright: ignore
    ],
)
def test_exceptions(function: Callable[..., Any]) -> None:
    with pytest.raises(Exception) as wanted:
        function(X, 3)
    with pytest.raises(wanted.type, match=f"^{wanted.value}"):
        pytocu.jit(function)(X, 3)


def test_a_count_below_0_of_a_run_is_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"count= of np.fromiter is -1"):
        pytocu.jit(lambda x, n: np.fromiter(x, float, n))(X, -1)
