"""``name = name + [...]`` and ``name = [...] + name`` of lists in loops and branches of run time."""

# ruff: noqa: RUF005
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mask_tools import everywhere

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.testing.compare import compare

X = np.random.default_rng(2).standard_normal(7) * 2


def region(x, n):
    inside = np.add.outer(x, x) > 0
    seeds, filled = [(n, n)], np.zeros(inside.shape, dtype=bool)
    while seeds:
        i, j = seeds.pop()
        if i < 0 or j < 0 or i >= len(x) or j >= len(x) or filled[i, j] or inside[i, j]:
            continue
        filled[i, j] = True
        seeds = seeds + [(i + 1, j), (i - 1, j), (i, j + 1), (i, j - 1)]
    return filled


def what_masks_choose(x, n):
    found = [0.0]
    for k in range(n):
        found = found + list(x[x > k])
    return np.array(found)


def of_a_comprehension(x, n):
    found = []
    for k in range(n):
        found = found + [v for v in x if v > k]
    return found


def on_some_sides(x, n):
    found = []
    for v in x:
        if v > n:
            found = found + [v]
        elif v < -1:
            found = found + [v, v * 2]
    return found


def two_at_once(x, n):
    found = [0]
    for k in range(n):
        found = found + [k] + [2 * k, len(found)]
    return found


def with_itself(x, n):
    found = [1, 2]
    for _ in range(n):
        found = found + found
    return found


def with_its_own_members(x, n):
    found = [n]
    for k in range(1, n):
        found = found + [found[-1] * k, len(found)]
    return found


def primes(x, n):
    found = []
    for k in range(2, 9 * n):
        for p in found:
            if k % p == 0:
                break
        else:
            found = found + [k]
    return found


def way_back(x, n):
    before = np.arange(len(x)) - 1
    before[before > 2] -= 1
    v = len(x) - 1
    way = [v]
    while before[v] >= 0:
        v = before[v]
        way = [v] + way
    return [int(v) for v in way]


def in_front(x, n):
    found = []
    for k in range(n):
        if x[k % len(x)] > 0:
            found = [k, -k] + found
    return found


def kept(x, n):
    found = [x[0]]
    other = found
    found = found + [x[-1]]
    return found, other


PROGRAMS = [
    region, what_masks_choose, of_a_comprehension, on_some_sides, two_at_once, with_itself, with_its_own_members, primes,
    way_back, in_front, kept,
]  # fmt: skip


@pytest.mark.parametrize("x", [X, X[:1]], ids=len)
@pytest.mark.parametrize("n", [0, 1, 4])
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_lists_added(function: Callable[..., Any], n: int, x: np.ndarray) -> None:
    everywhere(function, x, n)


def of_the_caller(found, n):
    for k in range(n):
        found = found + [k]
    return found


def test_the_list_of_the_caller_stays() -> None:
    given = [1, 2]
    compare(pytocu.jit(of_the_caller)(given, 3), [1, 2, 0, 1, 2])
    assert given == [1, 2]


@pytest.mark.parametrize("added", [(1,), np.arange(2.0), 3])
def test_what_is_no_list(added: Any) -> None:
    def function(x):
        found = [x[0], x[1]]
        found = found + added
        return found

    def given(x, added):
        found = [x[0], x[1]]
        found = found + added
        return found

    everywhere(given if isinstance(added, np.ndarray) else function, *([X, added] if isinstance(added, np.ndarray) else [X]))


def appended(x):
    found = []
    for v in x:
        if v > 0:
            found = np.append(found, v)
    return found


def test_a_list_that_an_array_takes_the_place_of_begins_as_one() -> None:
    with pytest.raises(
        UnsupportedError, match=r"found is f64\[1\] on one side of a branch .* and a list on the other"
    ) as caught:
        pytocu.jit(appended)(X)
    assert "found = np.zeros(0)" in (caught.value.help or "")
