"""Names that a loop or branch of run time binds to one memory or another: what a change is seen through, or a refusal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mask_tools import everywhere

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.testing.compare import compare

STEPS = [(0, 1), (1, 0), (3, 1), (4, -1)]
"""How many steps a loop has, and the number that branches compare with."""


def a_view_of_what_a_later_statement_changes(x, n, c):
    total = np.float64(0)
    v = x[:, :1]
    for _ in range(n):
        total = total + v.sum()
        v = x[::-1, :1]
        x *= 2
    return total, v + 1


def two_that_change_places(x, n, c):
    a, b = x.copy(), x * 3
    for _ in range(n):
        a += b
        a, b = b, a
    return a, b


def parts_of_two_that_change_places(x, n, c):
    a, b = x * 3, x * 4
    for _ in range(n):
        a[1:] += b[:-1]
        a, b = b, a
        b[0] = 1
    return a + b


def a_step_that_leaves_before_they_change_places(x, n, c):
    old = x * 3
    new = old.copy()
    for i in range(n):
        new[1:-1] = (old[:-2] + old[2:]) / 2
        if i == c:
            break
        old, new = new, old
    return new, old


def they_change_places_through_a_third_name(x, n, c):
    old = x * 3
    new = old.copy()
    for _ in range(n):
        new[1:-1] = (old[:-2] + old[2:]) / 2
        if abs(new - old).max() < 0.3:
            break
        spare = old
        old = new
        new = spare
    return new


def they_change_places_on_one_side(x, n, c):
    old = x * 3
    new = old.copy()
    i = 0
    while i < n:
        new[1:-1] = (old[:-2] + old[2:]) / 2
        if i > c:
            old, new = new, old
        else:
            new += 1
        i += 1
        old[0] = i
    return new, old


def a_branch_changes_places(x, n, c):
    a = x * 3
    b = a + 1
    if n > c:
        a, b = b, a
    a += 1
    b *= 2
    return a, b, a + b


def a_new_one_in_each_step(x, n, c):
    a = x * 3
    last = a
    for _ in range(n):
        new = a + 1
        last = a
        a = new
        a[0] = 7
    return a, last


def changed_before_it_is_named(x, n, c):
    a, b = x * 3, x * 4
    v = a
    if c > 0:
        v = b
        b *= 2
    return v, a, b


def bound_at_the_end_of_a_step(x, n, c):
    v = x.copy()
    total = np.float64(0)
    for _ in range(n):
        total = total + v.sum()
        x *= 2
        total = total + v.sum()
        v = x
    return total


def two_names_from_both_sides(x, n, c):
    if n > c:
        y = x * 2
        w = y
    else:
        y = x * 3
        w = y
    y += 1
    return y, w


def two_names_from_the_side_that_goes_on(x, n, c):
    y = x * 1
    while True:
        y += 1
        if n > c:
            return y
        w = y = y * 1.5
        break
    return w + y


@pytest.mark.parametrize(
    "function",
    [
        a_view_of_what_a_later_statement_changes,
        two_that_change_places,
        parts_of_two_that_change_places,
        a_step_that_leaves_before_they_change_places,
        they_change_places_through_a_third_name,
        they_change_places_on_one_side,
        a_branch_changes_places,
        a_new_one_in_each_step,
        changed_before_it_is_named,
        bound_at_the_end_of_a_step,
        two_names_from_both_sides,
        two_names_from_the_side_that_goes_on,
    ],
)
def test_what_names_hold(function: Callable[..., Any]):
    compiled = pytocu.jit(function)
    for n, c in STEPS:
        given, ours = np.arange(8.0).reshape(4, 2), np.arange(8.0).reshape(4, 2)
        compare(compiled(ours, n, c), function(given, n, c))
        compare(ours, given)


# What cannot be known.


def changed_in_a_loop_behind_the_branch(x, n, c):
    v = x[:, :1] if c > 0 else x[::-1, :1]
    for _ in range(n):
        x[...] = x[::-1] + 2
    return (v,)


def changed_in_a_branch_behind_the_branch(x, n, c):
    v = x[:, :1] if c > 0 else x[::-1, :1]
    if n > 1:
        x[...] = x[::-1] + 1
    return v + 1


def read_in_the_next_step(x, n, c):
    v = x[:, :1] if c > 0 else x[::-1, :1]
    total = np.float64(0)
    for _ in range(n):
        total = total + v.sum()
        x += 1
    return total


def bound_in_some_steps(x, n, c):
    w = x.copy()
    v = w
    total = np.float64(0)
    i = 0
    while i < n:
        w *= 2
        total = total + v.sum()
        if i > c:
            v = w[::-1]
        i += 1
    return total


def two_views_that_change_places(x, n, c):
    other = x * 3
    v, w = x[:1], other[:1]
    total = np.float64(0)
    for _ in range(n):
        x += 1
        total = total + w.sum()
        v, w = w, v
    return total


def one_name_becomes_the_other(x, n, c):
    a, b = x.copy(), x * 3
    total = np.float64(0)
    for i in range(n):
        a += 1
        total = total + b.sum()
        if i > c:
            a = b
    return total


def another_name_from_a_branch(x, n, c):
    a, b = x.copy(), x * 3
    v = a if c > 0 else a[::-1]
    for _ in range(n):
        a += b
        a, b = b, a
    return v


def read_behind_a_change_in_the_step(x, n, c):
    a, b = x * 3, x * 4
    total = np.float64(0)
    for i in range(n):
        w = a if i > c else b
        total = total + w.sum()
        a += 1
        total = total + w.sum()
    return total


def changed_through_either(x, n, c):
    a, b = x * 3, x * 4
    for i in range(n):
        w = a[1:] if i > c else b[1:]
        w += 1
    return a, b


def changed_through_either_in_a_branch(x, n, c):
    a, b = x * 3, x * 4
    if n > 1:
        w = a[1:] if n > c else b[1:]
        w += 1
    return a, b


def read_before_it_is_changed_through_either(x, n, c):
    a, b = x * 3, x * 4
    total = np.float64(0)
    for i in range(n):
        total = total + a.sum()
        w = a[1:] if i > c else b[1:]
        w += 1
    return total


def two_names_from_one_side(x, n, c):
    y, w = x * 1, x * 1
    if n > c:
        y = x * 2
        w = y
    y += 1
    return y, w


def a_part_from_both_sides(x, n, c):
    if n > c:
        y = x * 2
        w = y[1:]
    else:
        y = x * 3
        w = y[:-1]
    w += 1
    return y


def two_names_from_a_step(x, n, c):
    y, w = x * 1, x * 1
    for _ in range(n):
        y = y * 2
        w = y
    y += 1
    return y, w


def two_names_from_a_step_that_changes_one(x, n, c):
    w, k = None, 0
    while True:
        x += 1
        if k >= n:
            return x
        if w is not None:
            x = x + w
        w = x = x * 1.5
        k += 1


@pytest.mark.parametrize(
    "function",
    [
        changed_in_a_branch_behind_the_branch,
        read_in_the_next_step,
        bound_in_some_steps,
        two_views_that_change_places,
        one_name_becomes_the_other,
        another_name_from_a_branch,
        changed_through_either,
        changed_through_either_in_a_branch,
        read_before_it_is_changed_through_either,
        two_names_from_one_side,
        a_part_from_both_sides,
        two_names_from_a_step,
    ],
)
def test_what_only_the_data_knows_is_refused(function: Callable[..., Any]):
    with pytest.raises(UnsupportedError, match=r"one memory|share its memory|names another memory") as caught:
        pytocu.jit(function)(np.arange(8.0).reshape(4, 2), 3, 1)
    assert "copy" in str(caught.value)


@pytest.mark.parametrize("function", [changed_in_a_loop_behind_the_branch, read_behind_a_change_in_the_step])
@pytest.mark.parametrize(("n", "c"), STEPS)
def test_what_decides_is_known_behind_a_branch(function: Callable[..., Any], n: int, c: int) -> None:
    everywhere(function, np.arange(8.0).reshape(4, 2), n, c)


def test_a_first_step_apart_leaves_no_name_of_two_memories() -> None:
    with pytest.raises(UnsupportedError, match="w is None before a step"):
        pytocu.jit(two_names_from_a_step_that_changes_one)(np.arange(3.0), 3, 1)


def a_view_from_before_the_branch(x, n, c):
    u = x[1:]
    if n > c:
        u += 1
    return x


def a_view_of_a_view(x, n, c):
    u = x[1:]
    x += 1
    w = u * 2
    v = u[:, ::-1]
    if n > c:
        if n > 2:
            v[0] += w[0]
        v[:, 1] = n
    return w, u


def a_view_in_a_side_and_in_a_loop(x, n, c):
    u = x.T[1]
    for k in range(n):
        if k >= c:
            u *= 2
        else:
            u[:2] = k
    return u


@pytest.mark.parametrize("function", [a_view_from_before_the_branch, a_view_of_a_view, a_view_in_a_side_and_in_a_loop])
@pytest.mark.parametrize(("n", "c"), STEPS)
def test_a_side_changes_a_view_that_was_taken_before(function: Callable[..., Any], n: int, c: int) -> None:
    everywhere(function, np.arange(8.0).reshape(4, 2), n, c)


@pytest.mark.parametrize("n", [0, 3])
def test_a_side_changes_another_argument_of_the_same_memory(n: int) -> None:
    def function(x, v, n):
        x += 1
        w = v * 2
        if n > 1:
            v += w
        return w

    found, expected = np.arange(5.0), np.arange(5.0)
    compare(pytocu.jit(function)(found, found, n), function(expected, expected, n))
    compare(found, expected)


def one_from_a_branch_in_the_side_that_makes_one(x, y, n):
    a = x
    if n > 0:
        a = a * 2
        if n > 2:
            a = y
    return a


def a_view_from_a_branch_in_the_other_side(x, y, n):
    a = x
    if n > 0:
        a = (a * 2)[::-1]
        if n > 2:
            a = y
    elif n < -1:
        a = x[::-1]
    return a


def one_that_the_end_of_the_function_makes(x, y, n):
    a = x
    if n > 0:
        a = x * 2
        if n > 2:
            return a
        a = y
    return a


def one_that_a_clause_makes(x, y, n):
    a = x
    try:
        if n < 0:
            raise ValueError
        a = y
    except ValueError:
        a = a * 2
    a[0] = 5
    return a


def one_that_a_called_function_makes(x, y, n):
    def at_least_1(p, c):
        if c:
            return p
        p = p + 1
        return p

    return at_least_1(x, n > 0), at_least_1(y, n > 2)


@pytest.mark.parametrize("n", [-2, -1, 1, 3])
@pytest.mark.parametrize(
    "function",
    [
        one_from_a_branch_in_the_side_that_makes_one,
        a_view_from_a_branch_in_the_other_side,
        one_that_the_end_of_the_function_makes,
        one_that_a_clause_makes,
        one_that_a_called_function_makes,
    ],
)
def test_a_result_is_an_argument_or_a_view_of_one_where_numpys_is(function: Callable[..., Any], n: int) -> None:
    wanted, found = [(np.arange(4.0), np.arange(4.0) - 2) for _ in range(2)]
    made = [function(*wanted, n), pytocu.jit(function)(*found, n)]
    results = [(one,) if isinstance(one, np.ndarray) else one for one in made]
    compare((*results[1], *found), (*results[0], *wanted))
    for numpys, ours in zip(*results, strict=True):
        assert [ours is given for given in found] == [numpys is given for given in wanted]
        assert [np.shares_memory(ours, given) for given in found] == [np.shares_memory(numpys, given) for given in wanted]


def changed_and_reshaped(x, y):
    x[0] = 7
    x.reshape(-1)[1] = 0
    return y.sum()


def changed_as_a_row(x, y):
    t = x.ravel()
    t[0] = 1
    return y.sum()


def added_and_in_order(x, y):
    x += y
    np.ascontiguousarray(x)[0] = 5
    return y.sum()


@pytest.mark.parametrize("function", [changed_and_reshaped, changed_as_a_row, added_and_in_order])
def test_a_change_of_what_may_be_a_view_of_overlapping_arguments_is_not_lost(function: Any) -> None:
    """Two arguments that lie in one memory are read as elements of it, of which the layout is not known."""
    base = np.arange(48.0).reshape(6, 8)
    for x, y in ((base, base[::-1]), (base[:4], base[2:])):
        with pytest.raises(UnsupportedError, match=r"is a view of .* or a copy.*(?s:.)*write .copy\(\) where it is made"):
            pytocu.jit(function)(x, y)
        assert np.array_equal(base, np.arange(48.0).reshape(6, 8))
    # Of arguments apart it is known.
    x, y = base[:3].copy(), base[3:].copy()
    given = x.copy()
    assert pytocu.jit(function)(x, y) == function(given, y) and np.array_equal(x, given)
