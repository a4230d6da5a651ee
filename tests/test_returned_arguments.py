"""Arguments that a function returns where a loop or branch of run time ends: the caller gets the array that it gave."""

from __future__ import annotations

import numpy as np
import pytest

import pytocu
from pytocu.testing.compare import compare


def search(x, n):
    for j in range(n):
        if x[j] > 1:
            return x, j
    return x, -1


def in_the_first_step(x, n):
    for _ in range(n):
        return x
    return x


def after_a_change(x, n):
    for j in range(n):
        if x[j] > 1:
            x[j] = 0
            return x
        x[j] += 1
    return x + 1


def without_end(x, n):
    while True:
        n += 1
        x[0] += 1
        if x.sum() > 20:
            return x


def at_two_places(x, n):
    for j in range(n):
        if x[j] > 2:
            return x, x[j], j
        elif x[j] > 1:
            return x, x[0], j
    return x, x[0], 5


def in_a_dict(x, n):
    for _ in range(2):
        for v in x:
            if v > n:
                return x, {"a": x}
    return x, {"a": x}


def of_a_branch(x, n):
    a = x
    if x[0] < n:
        return a, x
    a = x + 0
    return a, x


def through_a_function(x, n):
    def found(y):
        for j in range(n):
            if y[j] > 1:
                return y
        return y + 1

    z = found(x)
    z[0] = 7
    return z


FUNCTIONS = [
    search, in_the_first_step, after_a_change, without_end, at_two_places, in_a_dict, of_a_branch, through_a_function,
]  # fmt: skip


def leaves_in(value) -> list:
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else None
    return [value] if parts is None else [leaf for part in parts for leaf in leaves_in(part)]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("n", [0, 1, 3])
def test_the_caller_gets_the_array_that_it_gave(function, n) -> None:
    expected_of, given = np.array([1.5, 3.0, 1.0]), np.array([1.5, 3.0, 1.0])
    expected, found = function(expected_of, n), pytocu.jit(function, device="cpu")(given, n)
    compare(leaves_in(found), leaves_in(expected))
    compare(given, expected_of)
    assert [a is given for a in leaves_in(found)] == [a is expected_of for a in leaves_in(expected)]
