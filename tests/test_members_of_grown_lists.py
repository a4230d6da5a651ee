"""Members of lists whose length a run decides: numbers that are assigned, and lists and tuples that stand in them."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mask_tools import everywhere

import pytocu
from pytocu.errors import UnsupportedError

X = np.random.default_rng(8).normal(size=9)
K = np.array([3, 1, 4, 1, 5, 9, 2, 6])


def longest(x):
    best = [1] * len(x)
    for i in range(len(x)):
        for j in range(i):
            if x[j] < x[i]:
                best[i] = max(best[i], best[j] + 1)
    return max(best), min(best), best[-1]


def ways(coins, amount):
    found = [0] * (amount + 1)
    found[0] = 1
    for c in coins:
        for a in range(c, amount + 1):
            found[a] += found[a - c]
    return found[amount]


def distance(a, b):
    m, n = len(a), len(b)
    d = [[0] * (n + 1) for _ in range(m + 1)]
    for i in range(m + 1):
        d[i][0] = i
    for j in range(n + 1):
        d[0][j] = j
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            cost = 0 if a[i - 1] == b[j - 1] else 1
            d[i][j] = min(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + cost)
    return d[m][n], len(d), len(d[0])


def pairs(x):
    found = []
    for i in range(len(x)):
        for j in range(2):
            found.append((i, j))
    total = 0
    for a, b in found:
        total += a * b
    return total, found[0] + found[1], found[-1], found[2][0]


def rows_of_three(x):
    rows = []
    for v in x:
        row = [v, 2 * v, 3 * v]
        rows.append(row)
    total = 0.0
    for a, b, c in rows:
        total += a + b * c
    return total, np.array(rows), rows[1][2]


def changed_rows(x):
    rows = [[0, 0] for _ in x]
    for i in range(len(x)):
        rows[i][1] = i
        rows[i][0] += 2 * rows[i - 1][1]
    return np.array(rows)


def a_copy(x):
    row, rows = [0, 0], []
    for i in range(len(x)):
        row[0] = i
        rows.append(list(row))
    return np.array(rows)


def of_both_kinds(x):
    n = len(x) - 4
    bins = [0.0] * n
    for i in range(len(x)):
        bins[i % n] += x[i]
    return np.array(bins), bins[0] * x, float(bins[1])


def truth(x):
    made = [2 * v for v in x]
    return (1 if made else 2) + (0 if not made else 4), bool(made), isinstance(made, list), isinstance(made, np.ndarray)


def extremes(x):
    made = [v * 2 for v in x]
    return max(made), min(made)


@pytest.mark.parametrize("function", [longest, pairs, rows_of_three, changed_rows, a_copy, of_both_kinds, truth, extremes])
def test_members(function: Callable[..., Any]) -> None:
    everywhere(function, X)


def test_tables() -> None:
    everywhere(ways, np.array([1, 2, 5]), 11)
    everywhere(distance, K[:5], K[2:])
    everywhere(longest, K)
    assert type(pytocu.jit(distance)(K[:5], K[2:])[0]) is int


def joined(x):
    return len([0] * len(x) + [1])


def slices(x):
    y = [0] * len(x)
    y[1:3] = [4, 5]
    return y[0]


@pytest.mark.parametrize("function", [joined, slices])
def test_joined_and_changed_in_part(function: Callable[..., Any]) -> None:
    everywhere(function, X)


def test_no_member() -> None:
    everywhere(truth, X[:0])
    with pytest.raises(ValueError) as raised:
        extremes(X[:0])
    with pytest.raises(ValueError, match=re.escape(str(raised.value))):
        pytocu.jit(extremes)(X[:0])


@pytest.mark.parametrize("order", [[0, 1, 2], [1, 0, 2], [2, 1, 0]])
def test_extremes_with_nan(order: list[int]) -> None:
    everywhere(extremes, np.array([np.nan, 1.0, 3.0])[order])


def outside(n, k):
    y = [0] * n
    y[k] = 5
    return np.array(y)


@pytest.mark.parametrize("k", [2, -1, -3, 3, -4])
def test_a_place_outside(k: int) -> None:
    everywhere(outside, 3, k)


def histories(x, n):
    losses, counts, kept = [], [], []
    for k in range(n):
        x = 0.5 * (x + 1 / x)
        losses.append(x[0])
        counts.append(2 * k)
        kept.append(k % 2 == 0)
    return x, losses, {"counts": counts, "kept": kept}


def table(x, n):
    made = [[i * j for j in range(n)] for i in range(n)]
    return (made,)


def row(x, n):
    made = [[i * j for j in range(n)] for i in range(n)]
    made[-1][0] = 7
    return made[-1], np.array(made)


def halves(x, n):
    return [float(v) / 2 for v in x], [v / 2 for v in x[:n]]


def same(found, expected):
    """Both are the same, members of lists with their classes."""
    assert type(found) is type(expected)
    if isinstance(expected, (list, tuple)):
        assert len(found) == len(expected)
        for one, wanted in zip(found, expected, strict=True):
            same(one, wanted)
    elif isinstance(expected, dict):
        same(list(found.items()), list(expected.items()))
    else:
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("function", [histories, table, row, halves])
@pytest.mark.parametrize("dtype", ["f8", "f4"])
def test_results(function: Callable[..., Any], dtype: str) -> None:
    jitted, x = pytocu.jit(function), X.astype(dtype)
    for n in (3, 1, 4, 3, 3, 3, 3):
        same(jitted(x, n), function(x, n))
    # None at all.
    same(pytocu.jit(halves)(x, 0)[1], [])


def same_row_again(x):
    row, rows = [0, 0], []
    for i in range(len(x)):
        row[0] = i
        rows.append(row)
    return np.array(rows)


def one_row(x):
    row = [0] * len(x)
    rows = []
    for _ in range(len(x)):
        rows.append(row)
    rows[0][0] = 5
    return np.array(rows)


def of_another_type(x):
    y = [0] * len(x)
    y[0] = x[0]
    return np.array(y)


def narrower(x):
    y = [0.0] * len(x)
    y[0] = np.float32(x[0])
    return np.array(y)


def repeated(x):
    return len([1] * len(x) * len(x))


def unlike(x):
    made = []
    for i in range(len(x)):
        made.append((i, x[i] * 1j))
    return made[0]


def in_the_loop(x):
    y = []
    for v in x:
        y.append(v)
        y[0] = v
    return np.array(y)


def returned_with_a_row(x):
    y = [[k, k] for k in range(len(x))]
    return y, y[0]


def rows_assigned(x):
    y = [[0, 1] for _ in x]
    y[0] = [1, 2]
    return np.array(y)


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (same_row_again, r"row\[0\] = ... changes a list that may be one that has other names"),
        (one_row, r"rows.append\(x.copy\(\)\)"),
        (of_another_type, "may hold Python's ints alone, and so the dtype of an array of it is known only at run time"),
        (narrower, r"which holds a Python float, to f32(.|\n)*np.zeros\(n, np.float32\)"),
        (repeated, r"\* of the list of a comprehension, whose length is known only at run time"),
        (unlike, "holds tuples whose members are not of one type"),
        (returned_with_a_row, "return an array of it"),
        (rows_assigned, "whose members are lists or tuples"),
    ],
)
def test_refused(function: Callable[..., Any], said: str) -> None:
    with pytest.raises(UnsupportedError, match=said):
        pytocu.jit(function)(X)


def of_numpys_kind(x):
    y = [np.float64(0)] * len(x)
    y[1] = x[0]
    return y[1], y[0]


def test_the_way_out_of_both_kinds() -> None:
    everywhere(of_numpys_kind, X)


def empty_rows(x, n):
    return np.array([[0] * n for _ in x])


def test_rows_without_members_would_be_float64() -> None:
    np.testing.assert_array_equal(pytocu.jit(empty_rows)(X, 2), empty_rows(X, 2))
    with pytest.raises(UnsupportedError, match="where the list has no member"):
        pytocu.jit(empty_rows)(X, 0)


def test_members_change_in_the_loop_that_makes_the_list() -> None:
    everywhere(in_the_loop, np.arange(4.0))
