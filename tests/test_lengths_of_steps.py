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


def quickselect_with_returns(x, k):
    while len(x) > 1:
        p = x[len(x) // 2]
        below, same = x[x < p], x[x == p]
        if k < len(below):
            x = below
        elif k < len(below) + len(same):
            return p
        else:
            k -= len(below) + len(same)
            x = x[x > p]
    return x[0]


def chosen_behind_a_return(x, limit):
    while len(x) > 1:
        if x[0] > limit:
            return x[0]
        x = x[x > x[0]]
    return x.sum()


@pytest.mark.parametrize("k", [0, 3, 8])
def test_what_a_mask_chooses_behind_a_return(k: int) -> None:
    everywhere(quickselect_with_returns, np.round(X[:9] * 5), k)
    everywhere(chosen_behind_a_return, X, 0.1 * k)


def longer_and_changed(x, n):
    for _ in range(n):
        x += 1
        x = np.append(x, x.sum())
    return x


def shorter_and_changed(x, n):
    for _ in range(n):
        x[0] = 3
        x = x[1:] * 2
    return x


@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize("function", [longer_and_changed, shorter_and_changed])
def test_the_first_step_changes_the_argument(function: Callable[..., Any], n: int) -> None:
    everywhere(function, X[:6].copy(), n)


def minors(m, n):
    d = 1.0
    for _ in range(n):
        d = d * m[0, 0]
        m = m[1:, 1:] - np.outer(m[1:, 0], m[0, 1:]) / m[0, 0]
    return d, m


def pyramid(m, n):
    total = 0.0
    for _ in range(n):
        total += m.sum()
        m = (m[:-1:2, :-1:2] + m[1::2, 1::2]) / 2
    return total, m


def inner_parts(m, n):
    s = m * 0
    for _ in range(n):
        m = m[1:-1, 1:-1]
        s[: m.shape[0], : m.shape[1]] += m
    return m, s


def every_other_of_both(m, n):
    for _ in range(n):
        m = m[::2, ::2]
    return m


def borders(m, n):
    for _ in range(n):
        m = np.pad(m, 1)
    return m


def seams(m, n):
    for _ in range(n):
        e = np.abs(m - m.mean(0)).sum(0)
        m = np.delete(m, np.argmin(e), axis=1)
    return m


def columns_chosen(m, n):
    for k in range(n):
        m = m[:, m.sum(0) > 4 + k]
    return m


def two_of_one_length(m, n):
    w = np.arange(m.shape[1])
    for _ in range(n):
        m, w = m[:, 1:] + w[1:], w[1:] * 2
    return m, w


def with_a_return(m, n):
    for _ in range(n):
        if m.sum() > 20:
            return m[0]
        m = m[:, 1:] + 0.5
    return m.sum(1)[:1]


def matrix_changed_first(m, n):
    for _ in range(n):
        m[0] += 1
        m = m[:, :-1] - m[:, 1:]
    return m


OF_SEVERAL_AXES = (
    minors, pyramid, inner_parts, every_other_of_both, borders, seams, columns_chosen, two_of_one_length, with_a_return,
)  # fmt: skip


@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize("function", OF_SEVERAL_AXES, ids=lambda f: f.__name__)
def test_lengths_of_several_axes(function: Callable[..., Any], n: int) -> None:
    everywhere(function, np.random.default_rng(6).random((9, 11)), n)


def test_the_first_of_several_steps_changes_a_matrix() -> None:
    everywhere(matrix_changed_first, RNG.random((9, 11)), 3)


@pytest.mark.parametrize("function", [inner_parts, every_other_of_both, columns_chosen, chosen_rows])
def test_arrays_in_column_major_order(function: Callable[..., Any]) -> None:
    everywhere(function, np.asfortranarray(np.random.default_rng(6).random((9, 11))), 2)


def changed_where_it_lies(m, n):
    for _ in range(n):
        m[0, 0] = 3
        m = m[1:, 1:]
    return m


def changed_behind_its_view(m, n):
    for _ in range(n):
        m = m[::2, ::2]
        m[:, 0] *= 2
    return m


@pytest.mark.parametrize("function", [changed_where_it_lies, changed_behind_its_view])
def test_a_change_of_a_part_of_an_argument_is_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(UnsupportedError, match="m names another memory after each step of the loop"):
        pytocu.jit(function)(RNG.random((9, 9)), 3)


def last_of_a_step(x, k, n):
    for _ in range(n):
        if x.sum() < -4:
            return k
        if x.sum() > 40:
            break
        x = x[1:] * 1
        k = x[-1:].copy()
    return k


@pytest.mark.parametrize("n", [0, 1, 3])
def test_lengths_of_the_side_that_goes_on(n: int) -> None:
    for x in (X[:6], X[:6] * 20, X[:6] - 3):
        everywhere(last_of_a_step, x, X[:1], n)


def columns_behind_a_return(m, n):
    total = 0.0
    for _ in range(n):
        if m[0, 0] > 2:
            return total
        part = m[:, m.sum(0) > 3]
        total += part.sum()
        m = m * 1.5
    return total


def columns_of_the_last_step(m, n):
    part = m
    for _ in range(n):
        if m[0, 0] > 2:
            break
        if m[0, 0] > 1:
            part = m[:, m.sum(0) > 3]
        m = m * 1.5
    return part


def test_shapes_of_the_side_that_goes_on() -> None:
    everywhere(columns_behind_a_return, np.random.default_rng(6).random((4, 5)), 6)
    everywhere(columns_of_the_last_step, np.random.default_rng(7).random((4, 5)), 6)


def best_split(x, y):
    best = (None, 9.0)
    for k in range(len(x)):
        below, above = y[x < x[k]], y[x >= x[k]]
        if len(below) == 0:
            continue
        worth = below.std() + above.std()
        if worth < best[1]:
            best = (k, worth)
    return best


def test_what_no_other_step_reads_needs_no_room() -> None:
    # The first step is written apart, and what it chooses is shorter than what others do.
    x = np.array([2.0, 3.0, 5.0, 1.0, 4.0, 0.0])
    everywhere(best_split, x, x**2)
    assert np.sum(x < x[0]) < np.sum(x < x[2])


def columns_found(m, n):
    for i in range(3):
        if m[i, 0] > 0.6:
            return m[:, m[0] > 0.4]
    return m


def columns_up_to(m, n):
    for i in range(len(m)):
        if m[i, 0] > 0.6:
            return m[:, : i + 1]
    return m[:, n:]


def distinct_or_all(m, n):
    x = m[0] * 4 // 1
    for i in range(n):
        if x[i] > 2:
            return np.unique(x), i
        if x[i] < 0:
            raise ValueError("negative")
    return x, -1


def columns_or_rows(m, n):
    if m[0, 0] > 0.5:
        part = m[:, m[0] > 0.5]
    elif m[1, 1] > 0.5:
        part = m[:, ::2]
    else:
        part = m[m[:, 0] > 0.3, n:]
    part = part + 1
    return part, part.T, part.ravel(), part.shape


def columns_until_enough(m, n):
    while True:
        least = m.sum(0)
        if least.min() > 0.4 * len(m) or m.shape[1] < 3:
            return m
        m = m[:, least > least.min()]


def last_columns(m, n):
    total, part = 0.0, m
    for i in range(len(m)):
        if m[i, 0] > 0.5:
            part = m[:, m[i] > 0.5]
        else:
            part = m[m[i] > 0.5]
        total += part.shape[0] * 10 + part.shape[1]
    return total


@pytest.mark.parametrize(
    "function",
    [columns_found, columns_up_to, distinct_or_all, columns_or_rows, columns_until_enough, last_columns],
)
def test_sides_find_out_lengths_of_any_axis(function: Callable[..., Any]) -> None:
    for seed in range(4):
        everywhere(function, np.random.default_rng(seed).random((4, 4)), 2)


def of_another_length_and_changed(n):
    n = abs(n) % 5 + 1
    part, whole = np.ones(n + 1)[1:], np.zeros(n)
    for _ in range(n):
        part = whole
        part[0] += 1
    return part, whole


def of_another_length_and_perhaps_unbound(n):
    n = abs(n) % 5 + 1
    part, whole = np.ones(n + 1)[1:], np.zeros(n)
    for step in range(n):
        if whole[0] > 1:
            last = step
        part = whole
        part[step % 2] += 1
    return part, whole, last


@pytest.mark.parametrize("function", [of_another_length_and_changed, of_another_length_and_perhaps_unbound])
def test_an_array_that_a_step_binds_to_a_changed_one_of_another_length(function: Callable[..., Any]) -> None:
    everywhere(function, 9)


def the_one_before(x, n):
    counts = np.zeros(abs(n) + 1)
    before = np.ones(abs(n) + 1)
    for _ in range(abs(n) + 1):
        before = x
        x = counts[counts > -1]
    return before


@pytest.mark.parametrize("n", [0, 1, 4])
def test_a_length_of_which_another_one_is_made_later(n: int) -> None:
    everywhere(the_one_before, np.arange(5.0), n)


def test_three_names_in_turns_are_refused() -> None:
    def function(a, b, c, n):
        for _ in range(n):
            a, b, c = b, c, a
        return a, b, c

    with pytest.raises(UnsupportedError, match=r"b is f64\[b_0\] before a step of the loop and f64\[1\] after it"):
        pytocu.jit(function)(np.ones(2), np.ones(3), np.ones(1), 1)
