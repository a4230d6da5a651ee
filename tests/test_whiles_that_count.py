"""A ``while`` that counts to a bound is a ``for``: what is one kernel of the one is one of the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.testing.compare import compare


def column(a, b, c):
    n = a.shape[1]
    j = 1
    while j < n:
        a[:, j] = a[:, j - 1] * c + b[:, j]
        j += 1
    return a, j


def backward(a, b, c):
    i = len(a) - 2
    while i >= 0:
        a[i] -= b[i] * a[i + 1] * c
        i = i - 1
    return a, i


def two(a, b, c):
    i = 1
    while i <= a.shape[0] - 1:
        j = 2
        while j < a.shape[1]:
            a[i, j] = 0.5 * (a[i - 1, j] + a[i, j - 2]) + b[i, j]
            j = 1 + j
        i += 1
    return a


def in_the_middle(a, b, c):
    i = 0
    while len(a) - 1 > i:
        a[i + 1] = a[i] * c + b[i]
        i += 1
        b[i] = a[i] + 1
    return a, b


def launches(function: Callable[..., Any]) -> list[str]:
    plan = pytocu.jit(function).lower("f64[n, m]", "f64[n, m]", "weak float").compile("cuda:sm_90").plan
    return [step[0] for step in plan.steps if step[0] in ("launch", "for", "while", "library")]


def agree(function: Callable[..., Any], *args: Any) -> None:
    copies = [a.copy() if isinstance(a, np.ndarray) else a for a in args]
    compare(pytocu.jit(function)(*args), function(*copies))
    compare(args, tuple(copies))


@pytest.mark.parametrize("function", [column, backward, two, in_the_middle])
def test_sweeps(function: Callable[..., Any]) -> None:
    assert launches(function) == ["launch"]
    for size in (1, 2, 5, 33):
        random = np.random.default_rng(size).random
        agree(function, random((size, size)), random((size, size)), 0.5)


def leaves(x, n):
    i, total = 0, 0.0
    while i < n:
        if x[i] > 0.9:
            break
        total += x[i]
        i += 1
    else:
        total = -total
    return total, i


def goes_on_behind(x, n):
    i = 0
    while i < n:
        i += 1
        if x[i - 1] < 0.5:
            continue
        x[i - 1] = 2
    return x, i


def goes_on_before(x, n):
    i = 0
    while i < n:
        if x[i] > 0.5:
            i += 1
            continue
        x[i] += 1
        i += 1
    return x, i


def jumps(x, n):
    i = 0
    while i < n:
        if i == 2:
            i += 2
        x[i] += 1
        i += 1
    return x


def another_function_counts(x, n):
    i = 0

    def count():
        nonlocal i
        i += 1

    while i < n:
        x[i] += 1
        i += 1
        count()
    return x, i


def the_bound_moves(x, n):
    i = 0
    while i < n:
        n = n - 1
        x[i] += 1
        i += 1
    return x, i, n


def the_array_gets_shorter(x, n):
    i = 0
    while i < len(x):
        x = x[1:]
        i += 1
    return x


def a_number_of_numpy(x, n):
    i = np.int64(0)
    while i < n:
        x[i] += 1
        i += 1
    return x, i


def many(x, n):
    k = 0
    while k < 500:
        x = x * 0.75 + k
        k += 3
    return x, k, x[:n]


@pytest.mark.parametrize(
    "function",
    [leaves, goes_on_behind, goes_on_before, jumps, another_function_counts, the_bound_moves, the_array_gets_shorter,
     a_number_of_numpy, many],
)  # fmt: skip
def test_loops_that_count_and_others(function: Callable[..., Any]) -> None:
    for n in (0, 1, 2, 4, 7):
        agree(function, np.random.default_rng(3).random(9), n)


def forward_filled(a, b, c):
    for i in range(1, len(a)):
        m = np.isnan(a[i])
        a[i, m] = a[i - 1, m]
    return a


def columns_filled(a, b, c):
    j = 1
    while j < a.shape[1]:
        m = a[:, j] > c
        a[m, j] = a[m, j - 1] + b[m, j]
        j += 1
    return a


@pytest.mark.parametrize("function", [forward_filled, columns_filled])
def test_masks_beside_the_number_of_a_step(function: Callable[..., Any]) -> None:
    """They were positions, which another kernel counted in each step."""
    assert launches(function) == ["launch"]
    for size in (1, 2, 5, 33):
        random = np.random.default_rng(size).random
        a = random((size, size))
        a[random((size, size)) > 0.5] = np.nan
        agree(function, a, random((size, size)), 0.25)
