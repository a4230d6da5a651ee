"""Random programs in which several names are of one memory give NumPy's answer, or are refused."""

from __future__ import annotations

import copy
import linecache
import random
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.testing.alias_programs import random_alias_program
from pytocu.testing.compare import compare

PROGRAMS = 10


def make(source: str) -> Any:
    name = f"<names {hash(source)}>"
    linecache.cache[name] = (0, None, source.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {"np": np}
    exec(compile(source, name, "exec"), namespace)
    return namespace["program"]


def check(source: str, seed: int) -> bool:
    """Compare one program with what it returns and leaves in its arguments; whether it is compiled."""
    function = make(source)
    compiled = pytocu.jit(function)
    values = np.random.default_rng(seed)
    taken = False
    for steps in ((2, 3), (0, 2), (3, 0)):
        ours = (*(values.random(3) for _ in range(3)), *steps)
        given = copy.deepcopy(ours)
        expected = function(*given)
        try:
            found = compiled(*ours)
        except pytocu.UnsupportedError as error:
            assert "copy" in str(error), f"{source}\n{error}"
            continue
        taken = True
        try:
            compare((found, ours), (expected, given))
        except AssertionError as error:
            raise AssertionError(f"{source}\n{error}") from None
    return taken


@pytest.mark.parametrize("part", range(24))
def test_programs_of_names(part: int) -> None:
    seeds = range(part * PROGRAMS, (part + 1) * PROGRAMS)
    taken = [check(random_alias_program(random.Random(seed).choice), seed) for seed in seeds]
    assert sum(taken) > PROGRAMS // 4


# What such programs have found.


def a_loop_on_a_side(a, x, y, n, m):
    v = a
    if y[0] < 0.3:
        for _ in range(n):
            v = a + x
    a *= 0.5
    return v


def behind_a_loop_the_one_and_on_a_side_the_other(a, x, y, n, m):
    w = np.zeros(3)
    v = x + 1
    u = v
    for _ in range(n):
        w = v - x
    if y[0] < w[0]:
        u = u - x
        w = v
    else:
        v = u - x
    w[:] = w * 0.5
    return w, v, u


def one_on_a_side_and_one_behind_a_loop(a, x, y, n, m):
    w = np.zeros(3)
    v = w
    u = w
    if y[0] < 0.5:
        u = u - x
    w = v - x
    for _ in range(n):
        v = w - x
    v[1] = 1.5
    return w, v, u


def sides_within_a_side(a, x, y, n, m):
    w = np.zeros(3)
    v = w
    u = w
    if y[2] < 0.3:
        w = v - x
    else:
        u = v - x
        if y[0] < w[0]:
            u = v
        v = v - x
    u[:] = w * 0.5
    return w, v, u


def a_name_that_takes_no_turn(a, x, y, n, m):
    w = np.zeros(3)
    v = x + 1
    u = v
    for _ in range(n):
        w, v = v, w
        for _ in range(m):
            u = v - x
    w[0] = x[0]
    return w, v, u


def read_by_a_name_that_takes_no_turn(a, x, y, n, m):
    w = np.zeros(3)
    v = x + 1
    u = v
    s = np.zeros(3)
    for _ in range(n):
        w, v = v, w
        v[0] += 1
        s = s + u
        for _ in range(m):
            u = x * 2
    return w, v, u, s


def turns_before_a_first_step_apart(a, x, y, n, m):
    w = np.zeros(3)
    v = a
    u = np.ones(3)
    for _ in range(n):
        if y[2] < 0.3:
            w, u = u, w
    v, w = w, v
    for _ in range(m):
        u = v - x
        for _ in range(m):
            v *= x
            v = v - x
    return w, v, u


FOUND = [
    a_loop_on_a_side,
    behind_a_loop_the_one_and_on_a_side_the_other,
    one_on_a_side_and_one_behind_a_loop,
    sides_within_a_side,
    a_name_that_takes_no_turn,
    read_by_a_name_that_takes_no_turn,
    turns_before_a_first_step_apart,
]
VALUES = [np.array([0.1, 0.2, 0.9]), np.array([0.9, 0.2, 0.1])]


@pytest.mark.parametrize("function", FOUND)
def test_what_is_not_known_is_refused(function: Any) -> None:
    compiled = pytocu.jit(function)
    for y in VALUES:
        for n, m in ((2, 3), (0, 2), (3, 0), (1, 1)):
            ours = (np.array([1.0, 2, 3]), np.array([0.5, 0, -2]), y, n, m)
            given = copy.deepcopy(ours)
            expected = function(*given)
            try:
                found = compiled(*ours)
            except pytocu.UnsupportedError as error:
                assert "copy" in str(error)
                continue
            compare((found, ours), (expected, given))


@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("y", VALUES)
def test_a_loop_with_a_step_on_a_side_is_known(n: int, y: np.ndarray) -> None:
    ours = (np.array([1.0, 2, 3]), np.array([0.5, 0, -2]), y, n, 0)
    given = copy.deepcopy(ours)
    compare((pytocu.jit(a_loop_on_a_side)(*ours), ours), (a_loop_on_a_side(*given), given))


def changed_on_a_side_and_new_on_the_other(x, labels, rate, rounds):
    w = np.zeros(x.shape[1])
    history = []
    for _ in range(rounds):
        for i in range(len(x)):
            if labels[i] * (x[i] @ w) < 1:
                w = w + rate * labels[i] * x[i]
            else:
                w -= rate * w
        history.append(w @ w)
    return w, history


def of_an_argument(x, labels, w, rounds):
    for _ in range(rounds):
        for i in range(len(x)):
            if labels[i] > 0:
                w = w + x[i]
            else:
                w *= 0.5
    return w


@pytest.mark.parametrize("rounds", [0, 1, 3])
def test_a_name_of_loops_within_loops(rounds: int) -> None:
    values = np.random.default_rng(5)
    x, labels = values.integers(-4, 5, (7, 3)) * 0.5, values.choice([-1.0, 1.0], 7)
    given = (x, labels, 0.5, rounds)
    compare(pytocu.jit(changed_on_a_side_and_new_on_the_other)(*given), changed_on_a_side_and_new_on_the_other(*given))
    ours, theirs = np.ones(3), np.ones(3)
    found, expected = pytocu.jit(of_an_argument)(x, labels, ours, rounds), of_an_argument(x, labels, theirs, rounds)
    compare((found, ours), (expected, theirs))
    assert (found is ours) is (expected is theirs)
