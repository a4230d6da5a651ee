"""Names of lists that loops and branches bind to other lists: ``tour = new``, ``best = list(new)``, ``a, b = b, a``."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mask_tools import everywhere

import pytocu
from pytocu.errors import UnsupportedError

RNG = np.random.default_rng(5)
X = RNG.standard_normal(7)


def anneal(d, u, n):
    tour = list(range(n))

    def cost(t):
        s = 0.0
        for i in range(n):
            s += d[t[i], t[i - 1]]
        return s

    current = cost(tour)
    best = tour[:]
    best_cost = current
    temperature = 1.0
    for k in range(u.shape[0]):
        i = int(u[k, 0] * n)
        j = int(u[k, 1] * n)
        new = list(tour)
        new[i], new[j] = new[j], new[i]
        c = cost(new)
        if c < current or u[k, 2] < math.exp((current - c) / temperature):
            tour = new
            current = c
            if current < best_cost:
                best = list(tour)
                best_cost = current
        temperature *= 0.9
    return best


def two_opt(d, u, n):
    tour = list(range(n))
    best = 0.0
    for i in range(n):
        best += d[tour[i], tour[(i + 1) % n]]
    for i in range(1, n - 1):
        for j in range(i + 1, n):
            new = tour[:i] + tour[i : j + 1][::-1] + tour[j + 1 :]
            length = 0.0
            for k in range(n):
                length += d[new[k], new[(k + 1) % n]]
            if length < best:
                tour = new[:]
                best = length
    return tour


@pytest.mark.parametrize("function", [anneal, two_opt])
def test_tours(function: Callable[..., Any]) -> None:
    d = RNG.random((5, 5))
    everywhere(function, d + d.T, RNG.random((6, 3)), 5)


def one_of_two(x, n):
    a = list(range(n))
    b = [0] * n
    if x[0] > 0:
        a = b
    b[0] = 5
    return a, b


def changed_by_the_other_name(x, n):
    a = list(range(n))
    b = [0] * n
    if x[0] > 0:
        a = b
    a[0] = 5
    return b


def in_turns(x, n):
    a = list(range(n))
    b = [0] * n
    for i in range(len(x)):
        a, b = b, a
        a[i % n] += i
    return a, b


def best_of_steps(x, n):
    best = None
    for i in range(len(x)):
        c = [x[i] * k for k in range(n)]
        if best is None or c[n - 1] > best[n - 1]:
            best = c
    return best


def of_other_lengths(x, n):
    a = [0] * n
    if x[0] > 0:
        a = [1] * (n + 2)
    if x[1] > 0:
        a = [2] * (n + 4)
    return a, len(a)


def made_in_each_step(x, n):
    prev = [0.0] * n
    for i in range(len(x)):
        cur = [0.0] * n
        for k in range(1, n):
            cur[k] = max(prev[k - 1] + x[i], cur[k - 1])
        prev, cur = cur, prev
    return prev


def until(x, n):
    a = list(range(n))
    while sum(a) < 30:
        a = [v + 1 for v in a]
    return a


def of_both_kinds(x, n):
    a = [x[k] for k in range(n)]
    for i in range(len(x)):
        if x[i] > 0:
            a = [v * 0.5 for v in a]
        else:
            a = [0.0] * n
    return a


def tables(g, steps):
    h, w = 3, len(g)
    grid = [[int(g[j] > i) for j in range(w)] for i in range(steps)]
    for _ in range(h):
        new = [[0] * w for _ in range(steps)]
        for i in range(steps):
            for j in range(w):
                new[i][j] = grid[i - 1][j] + grid[i][j - 1]
        grid = new
    return grid


@pytest.mark.parametrize("x", [X, -X], ids=["first", "second"])
@pytest.mark.parametrize(
    "function",
    [
        one_of_two, changed_by_the_other_name, in_turns, best_of_steps, of_other_lengths, made_in_each_step, until,
        of_both_kinds, tables,
    ],
)  # fmt: skip
def test_one_or_the_other(function: Callable[..., Any], x: Any) -> None:
    everywhere(function, x, 4)


def put_before(x, n):
    row = [0] * n
    for i in range(n):
        row = [i] + row[1:]  # noqa: RUF005
    return row


def put_around(x, n):
    a = [7] + [0] * n + [1, 2]
    b = [x[0]] + [0.0] * n
    c = [1] + [0.5] * n
    d = [v for v in x if v > 0]
    return a, b, c, [] + c, d + [1.0], [x[0], 2.0] + d  # noqa: RUF005


def edit_distance(x, n):
    prev = list(range(n + 1))
    for i in range(1, len(x) + 1):
        cur = [i] + [0] * n
        for j in range(1, n + 1):
            cost = 0 if (x[i - 1] > 0) == (j % 2 == 0) else 1
            cur[j] = min(prev[j] + 1, cur[j - 1] + 1, prev[j - 1] + cost)
        prev = cur
    return prev[n]


def parts(x, n):
    a = list(range(n))
    a[1:3] = [7, 8]
    a[::2] = a[::2][::-1]
    b = a[:]
    b[:] = a
    b[n // 2 :] = a[n // 2 :][::-1]
    c = [0.5] * n
    c[1:3] = [1, x[0]]
    d = [None] * n
    d[1:3] = [1, 2]
    return a, b, c, d


def parts_in_steps(x, n):
    a = [0] * n
    for i in range(n - 1):
        for j in range(i + 1, n):
            if x[i] < x[j]:
                a[i:j] = [k * i for k in range(i, j)]
    return a


@pytest.mark.parametrize("function", [put_before, put_around, edit_distance, parts, parts_in_steps])
def test_joined_and_in_parts(function: Callable[..., Any]) -> None:
    everywhere(function, X[:4], 4)


def put_before_arrays(x, n):
    row = np.zeros(n)
    for i in range(n):
        row = np.concatenate((np.array([i * 0.5]), row[1:].copy()))
    return row


def test_a_step_reads_what_it_carries_in_a_piece_of_a_concatenation() -> None:
    everywhere(put_before_arrays, X, 4)


def too_many(x, n):
    a = [0] * n
    a[1:3] = [1, 2, 3]
    return a


def changed_before_it_is_bound(x, n):
    a = list(range(n))
    b = [0] * n
    for i in range(len(x)):
        b[i % n] += i
        if x[i] > 0:
            a = b
    return a


def of_another_length_in_a_step(x, n):
    a = [0] * n
    for i in range(len(x)):
        if x[i] > 0:
            a = [0] * (n + 1)
    return a


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (changed_before_it_is_bound, "may share its memory with an array that is changed"),
        (too_many, r"a\[1:3\] = ... replaces 2 members by 3"),
    ],
)
def test_refused(function: Callable[..., Any], said: str) -> None:
    with pytest.raises(UnsupportedError, match=said):
        pytocu.jit(function)(X, 5)


def test_a_list_of_another_length_in_a_step() -> None:
    for n in (0, 1, 5):
        everywhere(of_another_length_in_a_step, X, n)
