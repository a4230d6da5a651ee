"""Names that a loop of run time first binds and that are read behind it: Python's value of the last step, or its error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_run_time_positions import agrees

import pytocu
from pytocu.errors import CompileError, UnsupportedError
from pytocu.testing.cases import call_interpreted
from pytocu.testing.compare import compare

X, ROWS = np.array([0.5, 2.0, 3.0]), np.arange(6.0).reshape(3, 2)


def scaled(x, n):
    for i in range(n):
        y = x * i
    return y


def total(x, n):
    for _ in range(n):
        a = x.sum()
        x = x + a
    return x, a


def counted(x, n):
    i = 0
    while i < n:
        y = x * i
        i += 1
    return y


def number(x, n):
    for i in range(n):  # noqa: B007
        x = x * 2
    return x, i


def left(x, n):
    for k in range(n):  # noqa: B007
        x = x * 2
        error = x.sum()
        if error > 100:
            break
    else:
        error = error * 2
    return x, k, error


def written(x, n):
    for i in range(n):
        y = np.zeros(3)
        y[0] = i
    y[1] = 5
    y[2] += y[0]
    return y + y


def nested(x, n):
    for i in range(n):
        for j in range(n):
            y = x * i + j
        x = x + y
    return x, y, j


def again(x, n):
    for i in range(n):
        y = x * i
        k = i
    for j in range(n):
        y = y + j
        k = k + j
    return y, k


def pairs(x, n):
    for i in range(n):
        t = (x * i, i)
    return t


def last_of_each(x, n):
    for i, v in enumerate(x):
        s = v * i + n
    return s, i, v


def on_one_side(x, n):
    for i in range(n):
        y = x * i
    if x.sum() < 0:
        return y
    return x


def replaced(x, n):
    for i in range(n):
        y = x * i
    if n < 2:
        y = x
    return y


def until(x, n):
    while x.sum() < 6 * n:
        x = x * 2
        most = x.max()
    return most


FUNCTIONS = [scaled, total, counted, number, left, written, nested, again, pairs, last_of_each, on_one_side, replaced, until]


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("n", [1, 3, 40])
def test_the_last_step_goes_on(function: Callable[..., Any], n: int) -> None:
    compare(call_interpreted(function, X.copy(), n), function(X.copy(), n))


def outcome(run: Callable[[], Any]) -> Any:
    try:
        return run()
    except (UnboundLocalError, CompileError) as error:
        return error


@pytest.mark.parametrize("function", FUNCTIONS)
def test_without_a_step(function: Callable[..., Any]) -> None:
    """Python's error, a refusal, or the value where the name is not read; never another value."""
    wanted = outcome(lambda: function(X.copy(), 0))
    found = outcome(lambda: call_interpreted(function, X.copy(), 0))
    if isinstance(wanted, UnboundLocalError):
        assert isinstance(found, UnboundLocalError) or "had no step" in str(found) or "depends on data" in str(found)
    else:
        compare(found, wanted)


@pytest.mark.parametrize("function", [left, nested, written])
def test_on_the_cpu_and_thread_by_thread(function: Callable[..., Any]) -> None:
    agrees(function, (X.copy(), 3))


@pytocu.vectorize
def collatz(n):
    while n > 1:
        odd = n % 2
        n = 3 * n + 1 if odd else n // 2
    return odd


def test_in_a_vectorized_function() -> None:
    assert collatz(np.array([2, 3, 7])).tolist() == [0, 0, 0]
    with pytest.raises(UnboundLocalError, match="cannot access local variable 'odd'"):
        collatz(np.array([2, 1, 7]))


def row_of_argument(x):
    for row in x:
        last = row
    last[0] = 5
    return last


def same_as_another(x, n):
    for i in range(n):
        y = x * i
        x = y
    y[0] = 7
    return x


def test_a_change_that_another_name_would_see_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="may share its memory"):
        call_interpreted(row_of_argument, ROWS)
    with pytest.raises(UnsupportedError, match="may share its memory"):
        call_interpreted(same_as_another, X, 2)
