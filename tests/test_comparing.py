"""``allclose``, ``array_equal`` and ``array_equiv``: Python's bool, also where lengths differ, and in conditions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from function_tools import agree
from mask_tools import builds, everywhere

import pytocu

X = np.arange(12.0).reshape(3, 4)
Y = np.where(X == 6, np.nan, X)


@pytest.mark.parametrize("b", [X, Y, X + 1e-9, X[1:], X[0], X[:, :1], X[0, 0], X.astype("f4"), X[:0]])
def test_of_all_shapes(b: Any) -> None:
    agree(["np.array_equal(a, b)", "np.array_equal(b, b * 1, equal_nan=True)", "np.array_equiv(a, b)",
           "np.array_equiv(b, a)"], X, b)
    if b.shape != (2, 4) and b.size:
        agree("np.allclose(a, b)", X, b)
    agree(["np.allclose(b, b, equal_nan=True)", "np.allclose(b, 3, 0, 2)"], X, b)


@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "f2", "c8"])
def test_of_all_dtypes(dtype: str) -> None:
    x = np.array([0, 1, 1, 0]).astype(dtype)
    agree(["np.array_equal(a, a * b)", "np.array_equal(a, b, equal_nan=True)", "np.allclose(a, a * b)", "np.array_equiv(a, 0)"],
          x, x + np.ones((), dtype))  # fmt: skip


def test_of_known_numbers_and_lists() -> None:
    agree(["np.allclose(1.0, 1 + 1e-9)", "np.array_equal(1, 1)", "np.array_equiv(2, 3)", "np.allclose(a, [0, 1, 2, 3])",
           "np.array_equal(a[0], (0, 1, 2, 3))", "np.array_equal([1, 2], [1, 2])", "np.array_equal(a, 3)"], X)  # fmt: skip


def settled(x: np.ndarray, steps: int) -> Any:
    for _ in range(steps):
        following = np.minimum(x + 1, 7)
        if np.allclose(x, following):
            break
        x = following
    return x, not np.array_equal(x, x[::-1])


def settled_at_last(x: np.ndarray) -> np.ndarray:
    following = x + 1
    while not np.array_equal(x, following):
        x, following = following, np.minimum(following + 1, 7)
    return x


def part_of_columns(x: np.ndarray, y: np.ndarray, n: int) -> bool:
    return np.array_equiv(x, y[:, :n])


def first_row(x: np.ndarray, y: np.ndarray, n: int) -> bool:
    return np.array_equiv(x[:1], y[:, n - 1 :])


def chosen_elements(x: np.ndarray, y: np.ndarray, n: int) -> bool:
    return np.array_equiv(y[y < n], x)


@pytest.mark.parametrize("rows", [0, 1, 2, 3])
@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_lengths_of_a_run_that_are_one_are_repeated(rows: int, n: int) -> None:
    everywhere(part_of_columns, np.zeros((1, 2)), np.zeros((rows, 3)), n)
    everywhere(part_of_columns, np.ones((rows, 2)), np.array([[1.0, 1, 0], [1, 1, 1]])[:rows], n)
    everywhere(chosen_elements, np.zeros(rows), np.array([0.0, 2, 2]), n)
    everywhere(first_row, np.ones((rows, 2)), np.ones((1, 2)), n)


def test_in_conditions() -> None:
    everywhere(settled, X[0], 20)
    everywhere(settled_at_last, X[0])


def test_in_a_vectorized_function() -> None:
    @pytocu.vectorize
    def kind(x, y):
        return 1 if np.allclose(x, y) else 2 if np.array_equal(x, y) else 3

    assert kind(X[0], np.array([0, 1 + 1e-12, 5, 3])).tolist() == [1, 1, 3, 1]


def test_cubins() -> None:
    builds(lambda x, y: (np.allclose(x, y), np.array_equal(x, y), np.array_equiv(x, y[0])), X, Y)
