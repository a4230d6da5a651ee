"""``list + list`` of lists whose lengths a run decides: a new list, which keeps what the two held then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.testing.compare import compare


def hull(points):
    """Andrew's monotone chain."""
    order = np.lexsort((points[:, 1], points[:, 0]))

    def turn(i, j, k):
        a, b, c = points[i], points[j], points[k]
        return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

    lower = []
    for k in order:
        while len(lower) >= 2 and turn(lower[-2], lower[-1], k) <= 0:
            lower.pop()
        lower.append(k)
    upper = []
    for k in order[::-1]:
        while len(upper) >= 2 and turn(upper[-2], upper[-1], k) <= 0:
            upper.pop()
        upper.append(k)
    return points[lower[:-1] + upper[:-1]], lower + upper


def parted(points):
    below = []
    above = []
    for i in range(points.shape[0]):
        if points[i, 0] < 0.5:
            below.append(i)
        else:
            above.append(i)
    both = below + above
    twice = both + both
    below.append(77)
    if len(both) > 2:
        both[1] = -5
    return both, twice, below, len(above + below), sum(both)


def of_pairs(points):
    one = []
    other = []
    for i in range(points.shape[0]):
        if points[i, 0] < points[i, 1]:
            one.append((i, points[i, 0]))
        else:
            other.append((i, points[i, 1]))
    found = other + one
    total = 0.0
    for k, v in found:
        total = total + v * k
    return total, len(found)


def with_itself_in_a_loop(points):
    found = []
    for i in range(points.shape[0]):
        if points[i, 0] > 0.3:
            found.append(points[i, 1])
    more = found + found
    found.pop()
    return more, found


def at_positions(points):
    found = []
    for i in range(points.shape[0]):
        if points[i, 0] > 0.6:
            found.append(i)
    changed = points.copy()
    changed[found] = 0
    changed[found, 1] += 2
    return points[found], points[found, 0], points[:, 1][found + found], changed


def quicksort(points):
    x = points[:, 0]
    stack = []
    for k in range(x.shape[0]):
        if x[k] > 0.2:
            stack.append(x[k])
    small = []
    large = []
    for v in stack:
        if v < 0.5:
            small.append(v)
        else:
            large.append(v)
    small.sort()
    large.sort()
    return small + large


RNG = np.random.default_rng(8)


@pytest.mark.parametrize("function", [hull, parted, of_pairs, with_itself_in_a_loop, at_positions, quicksort])
def test_programs(function: Callable[..., Any]) -> None:
    jitted = pytocu.jit(function)
    for n in (12, 5, 3):
        points = np.round(RNG.random((n, 2)) * (n > 3) + np.arange(2 * n).reshape(n, 2) % 5 / 9, 1)
        assert repr(jitted(points)) == repr(function(points))
    if function is at_positions:
        assert repr(jitted(0 * points)) == repr(function(0 * points))


def test_lists_of_other_members_are_refused() -> None:
    def mixed(x):
        one = []
        other = []
        for i in range(x.shape[0]):
            if x[i] > 0.5:
                one.append(i)
                other.append(x[i])
        return one + other

    with pytest.raises(UnsupportedError, match=r"\+ of the list one, whose length is known only at run time"):
        pytocu.jit(mixed)(RNG.random(5))


def turns(a, b, c):
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def half_of_hull(points):
    out = []
    for p in points:
        while len(out) >= 2 and turns(out[-2], out[-1], p) <= 0:
            out.pop()
        out.append(p)
    return out


def hull_of_rows(points):
    points = points[np.lexsort((points[:, 1], points[:, 0]))]
    lower, upper = half_of_hull(points), half_of_hull(points[::-1])
    around = lower[:-1] + upper[:-1]
    area = 0.0
    for k in range(len(around)):
        a, b = around[k - 1], around[k]
        area += a[0] * b[1] - a[1] * b[0]
    return np.array(around), len(lower), area


@pytest.mark.parametrize("count", [2, 3, 9, 30])
def test_lists_of_arrays(count: int) -> None:
    points = np.random.default_rng(count).integers(-9, 9, (count, 2)).astype(float)
    compare(pytocu.jit(hull_of_rows)(points), hull_of_rows(points))


def of_rows_that_change(points):
    left, right = [], []
    for p in points:
        if p[0] > 0:
            left.append(p)
        else:
            right.append(-p)
    joined = left + right
    points += 1
    return np.array(joined)


def test_members_of_a_joined_list_are_those_of_both() -> None:
    with pytest.raises(UnsupportedError, match="an array that is a member of the list left, or may be, is changed"):
        pytocu.jit(of_rows_that_change)(np.arange(6.0).reshape(3, 2) - 2)
