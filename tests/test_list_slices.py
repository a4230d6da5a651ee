"""Slices of lists with bounds that only a run knows."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.testing.compare import compare
from pytocu.testing.operands import make_function

BOUNDS = (0, 1, 3, 5, 9, -1, -3, -9)


@pytest.mark.parametrize("step", ["", ":2", ":-1", ":-3"])
@pytest.mark.parametrize("bounds", ["a:b", ":b", "a:"])
def test_every_pair_of_bounds(bounds: str, step: str) -> None:
    function = make_function("ab", [f"[2, 3, 5, 7, 11][{bounds}{step}]", f"len([2.5, 3.5][{bounds}{step}])"], {})
    jitted = pytocu.jit(function)
    for a, b in itertools.product(BOUNDS, BOUNDS):
        compare(jitted(a, b), function(a, b))


def of_steps(x: Any) -> Any:
    p, total = [2.0, 3.0, 5.0, 7.0], 0.0
    for i in range(len(x)):
        for q in p[:i]:
            total += q * x[i]
    return total


def changed(x: Any) -> Any:
    p, k = [2.0, 3.0, 5.0, 7.0], np.argmax(x)
    q = p[:k]
    q.append(9.0)
    q[0] = 1.0
    return p, q, p[:k] + p[k:], sum([2, 3, 5][k - 1 :]), max(p[:k]), sorted(p[::-1][:k]), 5.0 in p[:k]


def of_elements(x: Any) -> Any:
    p = [x[2], x[1], x[0]]
    return np.array(p[: np.argmax(x)]), [][: np.argmax(x)]


@pytest.mark.parametrize("function", [of_steps, changed, of_elements])
def test_in_programs(function: Any) -> None:
    x = np.array([1.5, -2.0, 4.0, 0.5])
    compare(pytocu.jit(function)(x), function(x))


@pytest.mark.parametrize(
    ("text", "error", "sentence"),
    [
        ("[2, 3][:n / 2]", TypeError, "slice indices must be integers or None or have an __index__ method"),
        ("[2, 3][:n:0]", ValueError, "slice step cannot be zero"),
        ("[2, 3][::n]", pytocu.UnsupportedError, "a slice of a list with bounds that are known only at run time"),
        ("(2, 3)[:n]", pytocu.UnsupportedError, "a slice of a tuple with bounds that are known only at run time"),
        ("[2, 3.5][:n]", pytocu.UnsupportedError, "not all of its members are numbers of one type"),
    ],
)
def test_what_is_refused(text: str, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        pytocu.jit(make_function("n", [text], {}))(3)
