"""Python's ``max``, ``min``, ``sorted``, ``list.sort``, ``any`` and ``all`` of what is known only at run time."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mask_tools import everywhere

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.testing.operands import make_function

X = np.array([3.0, -5.0, 2.0, -3.0, 7.0, 5.0, 2.0])
K = np.array([3, 1, 2, 3, 1, 0, 7])


def best_of_a_tuple(a, b, c):
    by_key = max((a, b, c), key=abs), min([a, b, c], key=lambda v: -v), max(a, b, c, key=lambda v: v % 5)
    return by_key, max([a, b], default=0), max((), default=c), max((a, b), key=None)


def best_of_pairs(a, b, c):
    return max([(a, 1), (b, 2), (c, 3)], key=lambda p: p[0]), min((a, c), (a, b), (b, a)), max({"p": a, "q": b}.values())


def in_order(a, b, c):
    listed = [a, b, c]
    listed.sort(key=lambda v: -v)
    plain = [b, a, c]
    plain.sort(reverse=True)
    pairs = sorted([(a % 2, 1), (b % 2, 0), (c % 2, 2)])
    return listed, plain, sorted((a, b, c)), sorted([a, b, c], key=lambda v: v % 2, reverse=True), pairs


def truths(a, b, c):
    known = any((a == 3, True)), 1 if any([a, b]) else 2
    return any([a > 2, b > 20]), all([a > 2, b > 2, c]), all(v > 0 for v in (a, b, c)), known


@pytest.mark.parametrize("function", [best_of_a_tuple, best_of_pairs, in_order, truths])
@pytest.mark.parametrize("numbers", [(3, 7, -9), (0, 0, 0), (7, -7, 3), (4, 4, 2)])
def test_members_that_are_written(function: Callable[..., Any], numbers: tuple[int, ...]) -> None:
    everywhere(function, *numbers)


def positions(x):
    return max(range(len(x)), key=lambda i: x[i]), min(range(len(x)), key=lambda i: x[i] * x[i])


def largest(x):
    return max(x), min(x), max(abs(v) for v in x), min(v * 2 for v in x), max([v + 1 for v in x])


def elements(x):
    return any(v > 6 for v in x), all(v > -9 for v in x), any(x > 6), all(x > -5), any(v < -4 for v in x[1:])


def some_elements(x):
    """What stands behind the element that decides is not computed."""
    n = len(x)
    return any(x[i] > x[i + 1] for i in range(n - 1)), all(i < 1 or 1 // i < 9 for i in range(n)), any(
        x[i] == x[j] for i in range(n) for j in range(i)
    )


@pytest.mark.parametrize("function", [positions, largest, elements, some_elements])
def test_as_many_as_a_run_decides(function: Callable[..., Any]) -> None:
    for x in (X, X[::-1].copy(), X[:1], np.array([0.0, -0.0, 0.0]), np.zeros(0)):
        everywhere(function, x)


def test_nan_where_python_sees_it() -> None:
    for x in ([math.nan, 1.0, 2.0], [1.0, math.nan, 3.0], [1.0, math.nan, 0.5], [-math.inf, math.nan], [math.nan]):
        everywhere(lambda x: (max(x), min(x)), np.array(x))


def test_nothing_and_a_default() -> None:
    def function(x):
        return max([v for v in x if v > 0], default=0.0), min((v for v in x if v > 0), default=9.0)

    for x in (X, -np.abs(X)):
        everywhere(function, x)
    with pytest.raises(TypeError, match="default"):
        pytocu.jit(lambda a, b: max(a, b, default=0))(1, 2)


def some(x):
    found = []
    for v in x:
        if v > 0:
            found.append(v)
    found.sort(key=lambda v: -v)
    return found


def pairs(k):
    found = []
    for i in range(len(k)):
        if k[i] > 0:
            found.append((int(k[i]), i))
    found.sort()
    found.append((0, 0))
    other = sorted(found, key=lambda p: p[0], reverse=True)
    return np.array(found), np.array(other)


def ranks(k):
    order = sorted(range(len(k)), key=lambda i: k[i], reverse=True)
    places = sorted([(int(k[i]), i) for i in range(len(k))])
    two_types = sorted(range(len(k)), key=lambda i: (k[i] % 2, k[i] * -0.5))
    return order, sorted(range(len(k)), key=lambda i: (k[i] % 2, k[i])), two_types, np.array(places)


@pytest.mark.parametrize("function", [some, pairs, ranks])
def test_lists_whose_length_a_run_decides(function: Callable[..., Any]) -> None:
    for x in (K, K[::-1].copy(), K[:1]):
        everywhere(function, x)


def test_two_lists_of_one_line() -> None:
    """Loops that stand at one place see other lists."""
    everywhere(lambda x: (max([v for v in x if v > 0], key=lambda v: v % 4), len([v for v in x if v < 0])), X)


def test_refused() -> None:
    with pytest.raises(UnsupportedError, match="what is sorted holds NaN"):
        pytocu.jit(lambda a, b: sorted([a, b]))(1.0, math.nan)
    with pytest.raises(UnsupportedError, match=r"by such a key is not compiled"):
        pytocu.jit(lambda x, k: sorted(range(len(k)), key=lambda i: [k[i], x[i]]))(X, K)
    names = [f"a{k}" for k in range(34)]
    function = make_function(names, [f"sorted([{', '.join(names)}])"], {"sorted": sorted})
    with pytest.raises(UnsupportedError, match="more than 32 members"):
        pytocu.jit(function)(*range(34))
