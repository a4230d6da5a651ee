"""Loops over numbers known now: which of them are written out step by step, and which are loops of run time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.errors import IndexingError

GAINS = [1.0, 2.0] * 30


def recurrence(a: Any, b: Any) -> Any:
    for i in range(1, 60):
        a[i] = a[i - 1] * 0.5 + b[i]
    return a


def backward(a: Any, b: Any) -> Any:
    for i in range(59, -1, -1):
        a[i] = max(i, 3) * b[-i]
    return a, i


def swapped(a: Any, b: Any) -> Any:
    for i in range(60):
        a[i], b[59 - i] = b[i], a[59 - i]
    return a - b


def nested(a: Any, b: Any) -> Any:
    c = a.reshape(2, 30)
    for i in range(2):
        for j in range(1, 30):
            c[i, j] = c[i, j - 1] + b[j]
    return c


def of_functions(a: Any, b: Any) -> Any:
    for i in range(60):
        a[i] = abs(np.floor(b[i] * i)) + float(i)
    return a


def terms(a: Any, b: Any) -> Any:
    y = np.zeros(10)
    for k in range(50):
        y += b[k] * a[k : k + 10]
    return y


def many_terms(a: Any, b: Any) -> Any:
    y = np.zeros(10)
    for k in range(200):
        y += b[k % 60] * a[k % 50 : k % 50 + 10]
    return y


def of_a_list(a: Any, b: Any) -> Any:
    for i in range(60):
        a[i] = GAINS[i] * b[i]
    return a


def deciding(a: Any, b: Any) -> Any:
    for i in range(60):
        if i % 2:
            a[i] = b[i]
        else:
            a[i] += b[i] + i
    return a


def of_a_shape(a: Any, b: Any) -> Any:
    for i in range(40):
        a[i] = np.full((i % 2 + 1,), i).sum()
    return a


def candidates(board: Any, b: Any) -> Any:
    left = np.ones((9, 9, 10), dtype=bool)
    for r in range(9):
        for c in range(9):
            v = board[r, c]
            if v != 0:
                left[r, :, v] = False
                left[:, c, v] = False
                i, j = 3 * (r // 3), 3 * (c // 3)
                left[i : i + 3, j : j + 3, v] = False
    return left


def of_a_list_in_loops(a: Any, b: Any) -> Any:
    for i in range(3):
        for j in range(4):
            for k in range(5):
                place = 20 * i + 5 * j + k
                a[place] = GAINS[place] * b[place]
    return a


def filled(board: Any, b: Any) -> Any:
    board = board.copy()
    changed = True
    while changed:
        changed = False
        for r in range(9):
            for c in range(9):
                if board[r, c] == 0:
                    used = np.zeros(10, bool)
                    used[board[r]] = True
                    used[board[:, c]] = True
                    if used[1:].sum() == 8:
                        board[r, c] = np.argmin(used)
                        changed = True
    return board


def launches(function: Any) -> int:
    return len(pytocu.jit(function).lower("f64[60]", "f64[60]").compile("cpu").kernels)


@pytest.mark.parametrize(
    "function",
    [
        *(recurrence, backward, swapped, nested, of_functions, terms, many_terms),
        *(of_a_list, of_a_list_in_loops, deciding, of_a_shape),
    ],
    ids=lambda f: f.__name__,
)
def test_results_are_numpys(function: Any) -> None:
    a, b = np.random.default_rng(0).random((2, 60))
    given, expected = (a.copy(), b.copy()), (a.copy(), b.copy())
    found, wanted = pytocu.jit(function)(*given), function(*expected)
    for one, other in zip((found, *given), (wanted, *expected), strict=True):
        np.testing.assert_equal(one, other)


def test_steps_that_write_parts_of_arrays_are_one_loop() -> None:
    assert launches(recurrence) == 1
    assert launches(of_functions) == 1


def test_terms_are_one_kernel() -> None:
    assert launches(terms) == 1


def test_steps_beyond_the_end() -> None:
    def beyond(a: Any, b: Any) -> None:
        for i in range(100):
            a[i] = b[i]

    with pytest.raises(IndexingError, match="index 60 is out of bounds for axis 0 with size 60"):
        pytocu.jit(beyond)(np.ones(60), np.ones(60))


@pytest.mark.parametrize("function", [candidates, filled], ids=lambda f: f.__name__)
def test_loops_in_loops_of_many_steps_are_loops(function: Any) -> None:
    board = np.zeros((9, 9), int)
    board[0, :8], board[4, 7], board[8, 2] = range(1, 9), 9, 1
    np.testing.assert_array_equal(pytocu.jit(function)(board, 0.0), function(board, 0.0))
    assert len(pytocu.jit(function).lower("i64[9, 9]", "f64").compile("cpu").kernels) < 30
