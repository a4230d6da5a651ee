"""What a condition shows of ints of run time, on its sides and behind an exception: positions need no check then."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mask_tools import builds, everywhere

import pytocu

X = np.arange(1.0, 6.0)


def raised(x, n):
    if n < 0 or n >= x.shape[0]:
        raise IndexError(f"no {n}")
    return x[n] * 2


def raised_twice(x, n):
    if n < 1:
        raise ValueError("too small")
    if n >= x.shape[0]:
        raise ValueError("too large")
    y = x.copy()
    for i in range(1, n):
        y[i] = x[n - i]
    return y


def asserted(x, n):
    if not 0 <= n < len(x):
        raise AssertionError(f"{n} is none")
    y = x * 1
    for i in range(n):
        y[i] = x[n - i]
    return y


def returned(x, n):
    if n < 1:
        return x * 3
    if n > len(x):
        return x * 2
    return x + x[n - 1]


def side(x, n):
    if 0 <= n < len(x):
        y = x[n] + x
    else:
        y = x * 2
    return y


def expression(x, n):
    return x + (x[n - 1] if n > 0 and n <= len(x) else x[0])


def other_side(x, n):
    y = x
    if n < 0 or len(x) <= n:
        y = x - 1
    else:
        y = x * x[n]
    return y


def in_a_loop(x, n):
    y = x * 0
    for _ in range(3):
        if n < 0:
            raise ValueError("negative")
        if n < len(x):
            y = y + x[n]
        n += 2
    return y


def of_a_loop_without_steps(x, n):
    y = x
    for _ in range(n - 2):
        if n >= 9:
            raise ValueError("too many")
        y = y + x[n]
    return y + x[n]


def by_its_sign(x, n):
    y = x[n] if n else x[0]
    if n >= 0:
        y = y + np.zeros(n).sum()
    return y


CHECKED = [raised, raised_twice, asserted, returned, side, expression, other_side, in_a_loop]
OTHERS = [of_a_loop_without_steps, by_its_sign]


@pytest.mark.parametrize("function", CHECKED + OTHERS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [-6, -5, -1, 0, 1, 4, 5, 6])
def test_what_numpy_gives(function: Callable[..., Any], n: int) -> None:
    everywhere(function, X, n)


@pytest.mark.parametrize("function", CHECKED, ids=lambda f: f.__name__)
def test_no_position_is_compared(function: Callable[..., Any]) -> None:
    plan = pytocu.jit(function).lower(X, 2).compile("cpu").plan
    assert not [step for step in plan.steps if step[:2] == ("check", "index")]


@pytest.mark.parametrize("function", OTHERS, ids=lambda f: f.__name__)
def test_where_it_does_not_tell_positions_are_compared(function: Callable[..., Any]) -> None:
    plan = pytocu.jit(function).lower(X, 2).compile("cpu").plan
    assert [step for step in plan.steps if step[:2] == ("check", "index")]


def test_a_gpu_runs_them() -> None:
    builds(asserted, X, 3)
    builds(side, X, 3)
