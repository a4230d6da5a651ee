"""Lists made by repetition whose members change kind: Python's ints among floats, and numbers in the place of None."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mask_tools import everywhere

import pytocu
from pytocu.errors import UnsupportedError

RNG = np.random.default_rng(5)
X = RNG.standard_normal(7)
INF = float("inf")


def shortest(u, v, w, n):
    dist = [INF] * n
    dist[0] = 0
    parent = [None] * n
    for _ in range(n - 1):
        changed = False
        for e in range(len(u)):
            if dist[u[e]] != INF and dist[u[e]] + w[e] < dist[v[e]]:
                dist[v[e]] = dist[u[e]] + w[e]
                parent[v[e]] = u[e]
                changed = True
        if not changed:
            break
    return dist, parent


def test_shortest_ways() -> None:
    everywhere(shortest, RNG.integers(0, 5, 8), RNG.integers(0, 5, 8), RNG.random(8), 6)


def counted_on(x, n):
    d = [INF] * n
    d[0] = 0
    for i in range(1, n):
        d[i] = d[i - 1] + 1
    return d


def begun_with_ints(x, n):
    d = [0] * n
    d[1] = 0.5
    for i in range(2, n):
        d[i] = d[i - 2] + d[i - 1]
    return d, d[0], d[n - 1]


def ints_or_numpys(x, n):
    d = [0] * n
    for i in range(n):
        if x[i] > 0:
            d[i] = x[i]
        else:
            d[i] = 2 * i
    return d


def tables(x, n):
    m = [[0] * n for _ in range(n)]
    m[1][2] = INF
    m[2][1] = x[0]
    return m


def ints_in_tables(x, n):
    m = [[1.0] * n for _ in range(n)]
    for i in range(n):
        m[i][i] = 0
    return m


def greatest_so_far(x, n):
    a = [0.0] * n
    for i in range(n):
        a[i] = max(a[i - 1] + x[i], a[i])
    return a


def at_places_of_data(x, n):
    counts = [0] * 10
    for v in x:
        counts[int(v * v) % 10] += 1
    dist = [INF] * 10
    dist[int(x[0] * x[0]) % 10] = 0
    return counts, dist


def handed_to_a_function(x, n):
    def add(c, k):
        c[k] += 1

    counts = [0] * 4
    for v in x:
        add(counts, int(v > 0))
    return counts


def greatest_of_both(x, n):
    d = [0] * n
    for i in range(n):
        d[i] = np.int64(x[i] * 2)
    d[1] = 0
    return max(d), min(d)


def read_of_a_list_of_both(n, e):
    found = [i for i in range(n) if e[i] == 0]
    found.append(e[-1])
    more = []
    for u in found:
        if u >= 0:
            more.append(u + 1)
    return more


@pytest.mark.parametrize("x", [X, -X], ids=["first", "second"])
@pytest.mark.parametrize(
    "function",
    [
        counted_on, begun_with_ints, ints_or_numpys, tables, ints_in_tables, greatest_so_far, at_places_of_data,
        handed_to_a_function, greatest_of_both,
    ],
)  # fmt: skip
def test_ints_and_floats(function: Callable[..., Any], x: Any) -> None:
    everywhere(function, x, 5)


def test_members_of_a_list_of_both() -> None:
    everywhere(read_of_a_list_of_both, 3, np.array([0, 1, 0, 2]))


# None.


def set_by_some(x, n):
    p = [None] * n
    for i in range(n):
        if x[i] > 0:
            p[i] = i
    return p


def of_numpys(x, n):
    p = [None] * n
    for i in range(n):
        if x[i] > 0:
            p[i] = x[i]
    return p, p[0], p[1]


def of_floats_and_none_again(x, n):
    p = [None] * n
    for i in range(n):
        if x[i] > 0 and p[(i * 2) % n] is None:
            p[(i * 2) % n] = i * 0.5
        else:
            p[0] = None
    k = 0
    for v in p:
        if v is not None:
            k += 1
    return p, k


def copied(x, n):
    p = [None] * n
    p[0] = 1
    p[1] = p[0]
    p[2] = p[3]
    q = p[:]
    q[0] = 7
    return p, q, p[1:3], p[2] is None, len(q)


def of_both(x, n):
    p = [None] * n
    p[0] = 1
    p[1] = np.int64(3)
    return p


def exchanged(x, n):
    p = [None] * n
    for i in range(len(x)):
        c = p[:]
        c[i % n] = i
        if x[i] > 0:
            p = c
    return p


def longest_rise(x, n):
    best = [1] * n
    prev = [None] * n
    for i in range(n):
        for j in range(i):
            if x[j] < x[i] and best[j] + 1 > best[i]:
                best[i] = best[j] + 1
                prev[i] = j
    k = 0
    for i in range(n):
        if best[i] > best[k]:
            k = i
    total = 0
    while k is not None:
        total += 10**k
        k = prev[k]
    return total


def as_positions(x, n):
    parent = [None] * n
    for v in range(1, n):
        if x[v] > 0:
            parent[v] = v - 1
    total = 0.0
    w = np.outer(x, x)
    for v in range(n):
        if parent[v] is not None:
            total += w[parent[v], v]
    return total


@pytest.mark.parametrize("x", [X, -X], ids=["first", "second"])
@pytest.mark.parametrize(
    "function", [set_by_some, of_numpys, of_floats_and_none_again, copied, of_both, exchanged, longest_rise, as_positions]
)
def test_none(function: Callable[..., Any], x: Any) -> None:
    everywhere(function, x, 5)


# What is refused.


def beyond_float64(x, n):
    d = [1.5] * n
    d[0] = n * 2**52 + 1
    return d


def of_a_branch(x, n):
    a = [x[k] for k in range(n)]
    a[0] = x[0] / x[1] if x[1] else 0.0
    return a


def of_two_dtypes(x, n):
    p = [None] * n
    p[0] = 1
    p[1] = np.int64(3)
    p[2] = 0.5
    return p


def as_array(x, n):
    p = [None] * n
    p[1] = 2
    return np.array(p)


def in_order(x, n):
    p = [None] * n
    p[1] = 2
    return sorted(p)


def none_as_a_number(x, n):
    p = [None] * n
    p[1] = 2
    return p[0] + 1


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (beyond_float64, r"holds floats, and gets a Python int beyond 2\*\*53"),
        (of_a_branch, "which of them decides what the list that is returned holds"),
        (of_two_dtypes, "which holds a Python float, to i64"),
        (as_array, "whose members may be None is used as an array"),
        (in_order, "whose members may be None is used to sort"),
        (none_as_a_number, r"p\[0\] is None where it is used as a value"),
    ],
)
def test_refused(function: Callable[..., Any], said: str) -> None:
    with pytest.raises(UnsupportedError, match=said):
        pytocu.jit(function)(X, 5)
