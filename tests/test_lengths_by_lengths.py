"""Arrays that get longer in the steps of a loop by as much as their own lengths say."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mask_tools import everywhere

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.frontend import length_laws, rounds

X = np.random.default_rng(3).random(3)


def thue_morse(x, n):
    t = np.array([0])
    for _ in range(n):
        t = np.concatenate([t, 1 - t])
    return t


def hadamard(x, n):
    h = np.array([[1]])
    for _ in range(n):
        h = np.block([[h, h], [h, -h]])
    return h


def carpet(x, n):
    s = np.ones((1, 1), dtype=int)
    hole = np.array([[1, 1, 1], [1, 0, 1], [1, 1, 1]])
    for _ in range(n):
        s = np.kron(s, hole)
    return s


def dragon(x, n):
    z = np.array([0, 1 + 0j])
    for _ in range(n):
        z = np.concatenate([z, z[-1] + (z[:-1] - z[-1])[::-1] * 1j])
    return z


def koch(x, n):
    z = np.array([0, 1 + 1j])
    for _ in range(n):
        a, d = z[:-1], np.diff(z) / 4
        z = np.append(np.stack([a, a + d, a + d + d * 1j, a + 2 * d], axis=1).ravel(), z[-1])
    return z


def subdivided(x, n):
    for _ in range(n):
        y = np.zeros(2 * len(x) - 1)
        y[::2] = x
        y[1::2] = (x[:-1] + x[1:]) / 2
        x = y
    return x


def two_together(x, n):
    y = -x
    for i in range(n):
        x = np.concatenate([x, y])
        y = np.repeat(y, 2) * i
    return x, y


def one_by_the_other(x, n):
    y = x[:1]
    for _ in range(n):
        x = np.concatenate([x, y])
        y = np.repeat(y, 2)
    return x, y


def two_names(x, n):
    a, b = np.array([0]), np.array([0, 1])
    for _ in range(n):
        a, b = b, np.concatenate([b, a])
    return a, b


def shorter_then_longer(x, n):
    for _ in range(n):
        x = np.repeat(x[1:], 3)
    return x


def in_a_loop(x, n):
    t = 0.0
    for i in range(n):
        z = x
        for j in range(i):
            z = np.concatenate([z, z + j])
        t += z.max()
    return t


def on_both_sides(x, n):
    for _ in range(n):
        x = np.concatenate([x, x * 2]) if x[0] > 0.5 else np.concatenate([-x, x])
    return x


def both_axes(x, n):
    m = np.outer(x, x)
    for _ in range(n):
        m = np.repeat(np.repeat(m, 2, axis=0), 3, axis=1)[:-1]
        m = (m + np.roll(m, 1, 0)) / 2
    return m


def ended(x, n):
    for _ in range(n):
        x = np.concatenate([x, x])
        if x.sum() > 4:
            break
    return x


def returned(x, n):
    for _ in range(n):
        x = np.concatenate([x, x])
        if x.sum() > 4:
            return x
    return x[:1]


BY_STEPS = [
    thue_morse, hadamard, carpet, dragon, koch, subdivided, two_together, one_by_the_other, two_names, shorter_then_longer,
    in_a_loop, on_both_sides, both_axes, ended, returned,
]  # fmt: skip


@pytest.mark.parametrize("n", [0, 1, 4])
@pytest.mark.parametrize("function", BY_STEPS, ids=lambda f: f.__name__)
def test_as_often_as_there_are_steps(function: Callable[..., Any], n: int) -> None:
    everywhere(function, X, n)


def doubled_to(x, n):
    while len(x) < n:
        x = np.repeat(x, 2)
    return x


def appended_to(x, n):
    k = 0
    while x.size <= n:
        x = np.append(x, [k, k + 1])
        k += 2
    return x, k


def halfway(x, n):
    while n >= 2 * x.shape[0]:
        x = np.concatenate([x, x[::-1]])
    return x


def butterflies(x, n):
    rows = np.resize(x, n).reshape(1, -1)
    while rows.shape[0] < n:
        even, odd = rows[:, : rows.shape[1] // 2], rows[:, rows.shape[1] // 2 :]
        turns = np.arange(rows.shape[0])[:, None]
        rows = np.vstack([even + turns * odd, even - turns * odd])
    return rows.ravel()


def until_data_say(x, n):
    while len(x) < n and x.sum() < 9:
        x = np.concatenate([x, x * 1.5])
    return x


def displaced(x, n):
    h, scale, i = np.zeros(2), 1.0, 0
    while len(h) < n:
        finer = np.empty(2 * len(h) - 1)
        finer[::2] = h
        finer[1::2] = 0.5 * (h[1:] + h[:-1]) + scale * x[i % 3]
        scale, i, h = scale / 2, i + 1, finer
    return h


def to_what_data_say(x, n):
    m = int(x.max() * n)
    while m > len(x) and n > 1:
        x = np.concatenate([x, x[:1]])
    return x


def unless_it_is_long(x, n):
    while x[0] < 5:
        if len(x) > 2 * n:
            raise ValueError("long")
        x = np.repeat(x, 2) + 1
    return x


def ended_before_it_is_long(x, n):
    while len(x) < 40:
        x = np.repeat(x, 2)
        if x.sum() > 3:
            break
        if len(x) > n:
            raise ValueError("long")
    return x


LIMIT = 7


def in_a_function(x, n):
    def grown(z):
        while len(z) < LIMIT:
            z = np.append(z, n)
        return z

    return grown(x) - grown(x[1:])


WHILE = [
    doubled_to, appended_to, halfway, butterflies, until_data_say, displaced, to_what_data_say, in_a_function,
    unless_it_is_long, ended_before_it_is_long,
]  # fmt: skip


@pytest.mark.parametrize("n", [1, 2, 16])
@pytest.mark.parametrize("function", WHILE, ids=lambda f: f.__name__)
def test_while_lengths_say_so(function: Callable[..., Any], n: int) -> None:
    everywhere(function, X, n)


def with_another(x, y, n):
    for _ in range(n):
        x = np.concatenate([x, y])
    return x


def with_a_part_of_another(x, y, n):
    for _ in range(n):
        x = np.append(x, y[:2])
    return x


def without_as_many(x, y, n):
    for _ in range(n):
        x = x[len(y) :]
    return x


def another(x, y, n):
    for _ in range(n):
        x = y + 1
    return x


@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize("lengths", [(3, 2), (3, 3), (9, 1), (4, 0)], ids=str)
@pytest.mark.parametrize("function", [with_another, with_a_part_of_another, without_as_many, another])
def test_lengths_of_another_array(function: Callable[..., Any], lengths: tuple[int, int], n: int) -> None:
    first, second = lengths
    everywhere(function, np.arange(first) * 0.5, -np.arange(second) * 0.5, n)


def in_turns(x, y, n):
    for _ in range(n):
        x, y = y, x
    return x


def test_arrays_in_turns_are_those_of_the_caller() -> None:
    with pytest.raises(UnsupportedError, match="lengths 3 and 2 of a value that a loop or branch hands on differ"):
        pytocu.jit(in_turns)(X, X[:2], 1)


def by_a_bound_that_changes(x, n):
    while len(x) < n:
        n = n - 1
        x = np.append(x, 1.0)
    return x


def by_data(x, n):
    while x[-1] < n:
        x = np.concatenate([x, x + len(x)])
    return x


@pytest.mark.parametrize("n", [0, 1, 9])
@pytest.mark.parametrize("function", [by_a_bound_that_changes, by_data])
def test_what_no_length_says(function: Callable[..., Any], n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rounds, "_ROUNDS", (4, 64))
    everywhere(function, X, n)


def to_the_square(x, n):
    while x.sum() < n:
        x = np.kron(x, x)
    return x


def test_what_gets_longer_by_more_than_a_few_times_is_refused() -> None:
    with pytest.raises(UnsupportedError, match=r"x is f64\[x_0\] before a step of the loop and f64\[") as caught:
        pytocu.jit(to_the_square)(X, 9)
    assert "while len(x) < n" in (caught.value.help or "")


def left_at_the_top(x, n):
    for _ in range(2000):
        if len(x) >= n:
            break
        x = np.concatenate([x, x + 1])
    return x


def left_in_the_middle(x, n):
    y = x[:1]
    for k in range(n):
        x = np.repeat(x, 2) + k
        if x.max() > n / 4:
            y = np.append(y, x.max())
            break
        y = np.concatenate([y, x])
    return x, y


@pytest.mark.parametrize("n", [0, 1, 20])
@pytest.mark.parametrize("function", [left_at_the_top, left_in_the_middle])
def test_there_may_be_more_steps_than_room(function: Callable[..., Any], n: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # The cache knows nothing of it.
    monkeypatch.setenv("PYTOCU_CACHE", "0")
    monkeypatch.setattr(length_laws, "MOST", 1000)
    everywhere(function, X, n)


def left_late(x, n):
    for _ in range(2000):
        if n <= len(x):
            break
        x = np.concatenate([x, x - 1])
    return x


def test_steps_that_may_end_the_loop_are_not_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    # The cache knows nothing of it.
    monkeypatch.setenv("PYTOCU_CACHE", "0")
    monkeypatch.setattr(length_laws, "MOST", 50)
    everywhere(left_late, X, 40)
    with pytest.raises(UnsupportedError, match="x gets a length of 96 in a loop, which has room for 50 elements") as caught:
        pytocu.jit(left_late)(X, 90)
    assert "fewer steps" in (caught.value.help or "")


def test_a_new_number_of_steps_is_no_new_compile() -> None:
    function = pytocu.jit(thue_morse)
    for n in (1, 2, 7):
        function(X, n)
    assert len(function.specializations) == 1
