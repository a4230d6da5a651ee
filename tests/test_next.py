"""Python's ``next``: the first member of a generator or an iterator, a default, and what is no iterator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mask_tools import everywhere

import pytocu
from pytocu.errors import UnsupportedError

X = np.array([0.5, -1, 2, 3.0])


def place_of_the_first(x, t):
    return next((i for i, v in enumerate(x) if v > t), -1)


def the_first_or_none(x, t):
    k = next((i for i in range(len(x)) if x[i] > t), None)
    return x[k] if k is not None else t, next((v for v in x if v > t), None)


def two_loops(x, t):
    return next((i + j for i in range(len(x)) for j in range(i) if x[i] > x[j] + t), 7)


def in_each_step(x, t):
    y = np.zeros(3)
    for n in range(3):
        y[n] = next((v for v in x if v > t + n), -1.0)
    return y


def of_iterators(x, t):
    return next(iter(x), t), next(zip(x, x + 1, strict=True), (t, t)), next(enumerate(x), (4, t)), next(iter(range(len(x))), 9)


def of_known_members(x, t):
    d = {"a": 1, "b": 2}
    parts = next(iter([x, 2])), next(reversed([x, 4])), next(iter([]), 3), next((v for v in ()), x)
    keys = next(iter(d)), next(iter(d.values())), next(k for k, v in d.items() if v == 2)
    return *parts, *keys, next(map(abs, (-1, 2))), next(v for v in (x, t) if v is x)


FUNCTIONS = [place_of_the_first, the_first_or_none, two_loops, in_each_step, of_iterators, of_known_members]


@pytest.mark.parametrize("t", [-5.0, 1.0, 2.5, 10.0])
@pytest.mark.parametrize("x", [X, -X[::-1], X[:1], X[:0]], ids=str)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_the_first_member(function: Callable[..., Any], x: np.ndarray, t: float) -> None:
    everywhere(function, x, t)


def without_a_default(x, t):
    return next(i for i, v in enumerate(x) if v > t)


def behind_the_last(x, t):
    return next(zip(x[:0], x, strict=False)), next(iter(()))


def test_nothing_to_give() -> None:
    everywhere(without_a_default, X, 1.0)
    for function in (without_a_default, behind_the_last):
        with pytest.raises(StopIteration):
            pytocu.jit(function)(X, 10.0)


@pytest.mark.parametrize("kind", ["'list'", "'numpy.ndarray'", "'range'", "'dict'", "'int'"])
def test_no_iterators(kind: str) -> None:
    def f(x, n):
        if kind == "'list'":
            return next([x])
        if kind == "'dict'":
            return next({1: x})
        return next(x if kind == "'numpy.ndarray'" else range(n) if kind == "'range'" else n)

    with pytest.raises(TypeError, match=f"{kind} object is not an iterator") as error:
        pytocu.jit(f)(X, 3)
    assert "next(iter(...))" in str(error.value)


def caught(x, t):
    try:
        return next(i for i, v in enumerate(x) if v > t)
    except StopIteration:
        return -1


def test_a_default_is_to_be_given_in_place_of_a_clause() -> None:
    with pytest.raises(UnsupportedError, match="a run may raise StopIteration here"):
        pytocu.jit(caught)(X, 1.0)
