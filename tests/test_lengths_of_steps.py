"""Arrays whose lengths change from step to step of a loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mask_tools import everywhere

import pytocu
from pytocu.errors import UnsupportedError

RNG = np.random.default_rng(5)
X, Y = RNG.random(60), RNG.random(60)
ROWS = RNG.random((20, 3))


def chosen(x, n):
    p = 0.1
    for _ in range(n):
        x = x[x > p]
        p = p * 1.5
    return x


def differences(x, n):
    for _ in range(n):
        x = x[1:] - x[:-1]
    return x


def every_other(x, n):
    for _ in range(n):
        x = x[::2]
    return x.max(), x


def first_ones(x, n):
    for k in range(n):
        x = x[: len(x) - k]
    return x


def two_with_one_mask(x, n):
    y = x * 2
    t = 0.0
    for _ in range(n):
        m = x > x.min()
        x = x[m]
        y = y[m]
        t += (x * y).max()
    return x, y, t


def two_with_their_own(x, n):
    y = x[::-1]
    for k in range(n):
        x = x[x > 0.1 * k]
        y = y[1:]
    return x, y


def on_one_side(x, n):
    for k in range(n):
        if k % 2:
            x = x[x > 0.1 * k]
        else:
            x = x * 0.9
    return x


def appended(x, n):
    for k in range(n):
        x = np.append(x, x[-1] * 2 + k)
    return x


def appended_until(x, n):
    for k in range(n):
        if x.max() > 3 * n:
            break
        x = np.append(x, 2.0 * k)
    return x


def changed_first(x, n):
    for k in range(n):
        x[0] = 9.0
        x = x[x > 0.05 * k]
    return x


def changed_behind(x, n):
    for k in range(n):
        x = x[x > 0.05 * k]
        x[0] += 9.0
    return x


def begun_by_a_mask(x, n):
    x = x[x > 0.3]
    for _ in range(n):
        x = x[x > x.min()]
    return x


def in_two_loops(x, n):
    for i in range(n):
        for j in range(i):
            x = x[x > 0.02 * i * j]
    return x


def without_the_largest(x, n):
    for _ in range(n):
        i = int(x.argmax())
        x = np.concatenate([x[:i], x[i + 1 :]])
    return x


def deleted(x, n):
    for k in range(n):
        x = np.delete(x, (7 * k) % len(x))
    return x


def distinct(x, n):
    i = np.floor(x * 50).astype(np.int64)
    for _ in range(n):
        i = np.unique(i // 2)
    return i


def returned_from_a_step(x, n):
    for k in range(n):
        x = x[x > 0.2 * k]
        if len(x) < 45:
            return x, k
    return x, n


def a_choice_returned_from_a_step(x, n):
    for k in range(n):
        y = x[x > 0.2 * k]
        if len(y) < 45:
            return [y, y[1:]]
    return [x, x]


FUNCTIONS = [
    chosen, differences, every_other, first_ones, two_with_one_mask, two_with_their_own, on_one_side, appended, appended_until,
    changed_first, changed_behind, begun_by_a_mask, in_two_loops, without_the_largest, deleted, distinct,
    returned_from_a_step, a_choice_returned_from_a_step,
]  # fmt: skip


@pytest.mark.parametrize("n", [0, 1, 2, 5])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_loops_over_numbers(function: Callable[..., Any], n: int) -> None:
    everywhere(function, X, n)


def folded(x):
    while len(x) > 1:
        x = x[1:] + x[:-1]
    return x


def quickselect(x, k):
    while True:
        pivot = x[len(x) // 2]
        low, high = x[x < pivot], x[x > pivot]
        if k < len(low):
            x = low
        elif k >= len(x) - len(high):
            k -= len(x) - len(high)
            x = high
        else:
            return pivot


def merged(x, y):
    t = 0.0
    while len(x) and len(y):
        if x[0] < y[0]:
            t += x[0]
            x = x[1:]
        else:
            t -= y[0]
            y = y[1:]
    return t, x, y


def sieve(n):
    left, primes = np.arange(2, n), []
    while left.size:
        primes.append(left[0])
        left = left[left % left[0] != 0]
    return np.array(primes)


@pytest.mark.parametrize("n", [0, 1, 2, 9])
def test_loops_while_something_is_left(n: int) -> None:
    everywhere(folded, X[:n])
    everywhere(merged, np.sort(X[:n]), np.sort(Y[:5]))
    everywhere(quickselect, X, n)


@pytest.mark.parametrize("n", [3, 4, 50])
def test_a_sieve(n: int) -> None:
    everywhere(sieve, n)


def chosen_rows(a, n):
    for k in range(n):
        a = a[a[:, 0] > 0.1 * k] * 1.1
    return a


def stacked_rows(a, n):
    for _ in range(n):
        a = np.vstack([a, a[-1:] + 1])
    return a


@pytest.mark.parametrize("n", [0, 1, 4])
@pytest.mark.parametrize("function", [chosen_rows, stacked_rows], ids=lambda f: f.__name__)
def test_rows(function: Callable[..., Any], n: int) -> None:
    everywhere(function, ROWS, n)
    everywhere(function, ROWS[:1], n)


def other_ends(x, y, n):
    for k in range(n):
        x = y[: k + 2]
    return x


def test_what_has_no_room_is_said() -> None:
    everywhere(other_ends, X[:5], Y, 4)
    with pytest.raises(UnsupportedError, match="x gets longer in a loop: there is no room for 1 of its elements") as caught:
        pytocu.jit(other_ends)(X[:3], Y, 4)
    assert "begin with an array that is long enough" in (caught.value.help or "")


def a_view_that_is_changed(x, n):
    y = x
    for _ in range(n):
        y = y[1:]
    y[0] = 5.0
    return y


def test_a_view_of_an_argument_may_be_changed_as_a_copy_only() -> None:
    with pytest.raises(UnsupportedError, match="may share its memory with an array that is changed"):
        pytocu.jit(a_view_that_is_changed)(X.copy(), 3)


def with_a_piece_of_the_last_step(x, n):
    for k in range(n):
        x = x[:k]
    return x


@pytest.mark.parametrize("n", [0, 1, 3])
def test_pieces_of_what_steps_carry(n: int) -> None:
    """In one kernel, in which a step's elements are pieces of those of the step before."""
    everywhere(with_a_piece_of_the_last_step, X, n)
