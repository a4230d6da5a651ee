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


def launches(function: Any) -> int:
    return len(pytocu.jit(function).lower("f64[60]", "f64[60]").compile("cpu").kernels)


@pytest.mark.parametrize(
    "function",
    [recurrence, backward, swapped, nested, of_functions, terms, many_terms, of_a_list, deciding, of_a_shape],
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
