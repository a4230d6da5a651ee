"""Names that a step of a loop binds to a new array, always or in some steps, of memory that it changes and others see."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mask_tools import everywhere
from test_changing_places import memories

import pytocu
from pytocu.errors import UnsupportedError

RNG = np.random.default_rng(7)
B, V = RNG.standard_normal((6, 6)), RNG.standard_normal(6)
STEPS = (0, 1, 2, 5)
TESTS = (0.3, -9.0, 9.0)
"""What the data are compared with: some are greater, all, and none."""


def in_some_steps(b, v, t, n):
    for i in range(n):
        if b[i, 0] > t:
            v = v * 0.75
        v[: i + 1] += b[i, i]
    return v


def as_the_number_of_the_step_says(b, v, t, n):
    for i in range(n):
        if t > i:
            v = v * 0.75
        v[: i + 1] += b[i, i]
    return v


def in_each_step(b, v, t, n):
    for i in range(n):
        v[: i + 1] += b[i, i]
        v = v * 0.75
    v[0] = 7
    return v


def bound_and_not_changed(b, v, t, n):
    for _ in range(n):
        v = v * 0.5
    v[0] = 3
    return v


def in_loops(b, v, t, n):
    for i in range(n):
        for j in range(i):
            v[:j] += b[i, j]
            v = v * 0.75
        v[i:] -= b[i, i:]
    return v


def changed_around_a_loop_that_binds(b, v, t, n):
    for i in range(n):
        for j in range(i):
            if b[i, j] > t:
                v = v * 0.75
        v[i:] -= 1
    return v


def in_branches_around_a_loop(b, v, t, n):
    for i in range(n):
        if b[i, 0] > t:
            v = v * 0.5
        for j in range(n - i):
            if b[i, j] > t:
                v = v * 0.5
            v[j] += 1
        if b[i, 1] > t:
            v = v * 0.5
        v[i] += 1
    return v


def in_one_loop_and_another(b, v, t, n):
    for i in range(n):
        if b[i, 0] > t:
            v = v * 0.5
        v[i] += 1
    for i in range(n):
        if b[i, 1] > t:
            v = v * 0.5
        v[i] += 1
    if b[0, 0] > t:
        v = v + 1
    v[3] = 3
    return v


def while_something_holds(b, v, t, n):
    w = 0
    while w < n and v[0] < 5:
        w += 1
        v[w:] += 1
        if w > t:
            v = v + b[w]
    return v, w


def a_row_takes_its_elements(b, v, t, n):
    for i in range(n):
        for j in range(i):
            v, b[j] = b[j] * 1, v
        b[i] = b[i] - v
        v[i] += t
    return b, v


def steps_that_end_early(b, v, t, n):
    for i in range(n):
        v[0] += 1
        if b[i, i] > t:
            break
        v = v + b[i]
        if b[i, 0] > t:
            continue
        v[1] -= 3
    v[2] = 9
    return v


def a_loop_that_comes_to_its_end(b, v, t, n):
    for i in range(n):
        v[0] += 1
        if b[i, i] > t:
            v = v * 2
            break
    else:
        v[1] = 8
    v[2] = 9
    return v


def returned_early(b, v, t, n):
    for i in range(n):
        v[0] += 1
        if b[i, i] > t:
            return t
        v = v + b[i]
    v[2] = 9
    return v.max()


def beside_places_that_change(b, v, t, n):
    u = v * 2
    for i in range(n):
        if b[i, 0] > t:
            u, v = v, u
        if b[i, 1] > t:
            v = v * 0.5
        v[i] += 1
        u[0] -= 1
    return u, v


def the_one_before(b, v, t, n):
    old = v + 1
    for i in range(n):
        v[i] += 1
        old, v = v, old * 0.5
        old[0] -= b[i, 0]
    return old, v


def with_another_name(b, v, t, n):
    w = v
    for i in range(n):
        if b[i, 0] > t:
            v = v * 0.5
        v[i] += 1
    w[0] = 5
    v[1] = 6
    return v, w


def with_a_view(b, v, t, n):
    w = v[1:]
    for i in range(n):
        if b[i, 0] > t:
            v = v * 0.5
        v[i] += 1
    w[0] = 5
    return v[:2] * 1, w


def a_name_of_the_step(b, v, t, n):
    for i in range(n):
        w = v
        if b[i, 0] > t:
            v = v * 0.5
        w[i] += 1
        v[0] -= 1
    return v


def of_an_array_of_its_own(b, v, t, n):
    x = v + 1
    y = x
    for i in range(n):
        if b[i, 0] > t:
            x = x * 0.5
        x[i] += 1
    return x, y * 1


def scaled(x, b, t, n):
    for i in range(n):
        x[i] += 1
        if b[i, 0] > t:
            x = x * 2
    x[0] = 4
    return x


def in_a_function(b, v, t, n):
    w = scaled(v, b, t, n)
    w[1] = 5
    return w, v


def by_a_function_in_a_loop(b, v, t, n):
    for i in range(n):
        w = scaled(v, b, t, i)
        if w[2] > t:
            v = w
    v[3] = 1
    return v


def in_a_list(b, v, t, n):
    held = [v]
    for i in range(n):
        if b[i, 0] > t:
            held[0] = held[0] * 2
        held[0][i] = i
    return held[0]


def a_matrix(b, v, t, n):
    for i in range(n):
        b[i] += v
        if v[i] > t:
            b = np.where(b > t, b, b.T)
    b[0] = v
    return b, v


def both_of_two(b, v, t, n):
    for i in range(n):
        if v[i] > t:
            b = b * 0.5
        v[i] -= 1
        b[i] = v
        if b[i, i] > t:
            v = v + b[i]
    return b, v


def short_loops(b, v, t, n):
    for i in range(n):
        for j in range(3):
            if b[i, j] > t:
                v = v * 0.5
            v[j] += 1
    return v


FUNCTIONS = [
    in_some_steps, as_the_number_of_the_step_says, in_each_step, bound_and_not_changed, in_loops,
    changed_around_a_loop_that_binds, in_branches_around_a_loop, in_one_loop_and_another, while_something_holds,
    a_row_takes_its_elements, steps_that_end_early, a_loop_that_comes_to_its_end, returned_early, beside_places_that_change,
    the_one_before, with_another_name, with_a_view, a_name_of_the_step, of_an_array_of_its_own, in_a_function,
    by_a_function_in_a_loop, in_a_list, a_matrix, both_of_two, short_loops,
]  # fmt: skip


@pytest.mark.parametrize("t", TESTS)
@pytest.mark.parametrize("n", STEPS)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_the_argument_holds_what_its_name_left(function: Callable[..., Any], n: int, t: float) -> None:
    everywhere(function, B, V, t, n)
    if function is not the_one_before or n != 1:
        # What the first step alone leaves an argument is a copy.
        assert memories(pytocu.jit(function), (B, V, t, n)) == memories(function, (B, V, t, n))


# What is refused: another name of the memory is used in the loop, or may be the new array.


def read_by_another_name(b, v, t, n):
    w, total = v, 0.0
    for i in range(n):
        if b[i, 0] > t:
            v = v * 2
        v[i] += 1
        total = total + w[i]
    return v, total


def changed_by_another_name(b, v, t, n):
    w = v
    for i in range(n):
        if b[i, 0] > t:
            v = v * 2
        w[i] += 1
    v[0] = 3
    return v, w


def another_name_of_the_new_array(b, v, t, n):
    w = v
    for i in range(n):
        if b[i, 0] > t:
            v = v * 2
            w = v
        v[i] += 1
    w[0] = 3
    return v, w


def bound_to_it_again(b, v, t, n):
    first = v
    for i in range(n):
        if b[i, 0] > t:
            v = v * 2
        v[i] += 1
        if b[i, 1] > t:
            v = first
    return v


def a_row_of_it(b, v, t, n):
    w = b[2]
    for i in range(n):
        if b[i, 0] > t:
            w = w * 2
        w[i] = 3
    return w


def two_names_of_what_a_step_makes(b, v, t, n):
    w = v + 1
    for i in range(n):
        v[i] += 1
        if b[i, 0] > t:
            w = v = v * 2
    w[0] = 4
    return v


REFUSED = [
    read_by_another_name, changed_by_another_name, another_name_of_the_new_array, bound_to_it_again, a_row_of_it,
    two_names_of_what_a_step_makes,
]  # fmt: skip


@pytest.mark.parametrize("function", REFUSED, ids=lambda f: f.__name__)
def test_what_is_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(UnsupportedError, match=r"share its memory|another memory|one memory") as caught:
        pytocu.jit(function)(B.copy(), V.copy(), 0.3, 4)
    assert ".copy()" in (caught.value.help or "")


def test_one_array_passed_twice() -> None:
    """Two names of one memory: the step changes it by one of them and reads it by the other."""
    x = V.copy()
    with pytest.raises(UnsupportedError, match=r"share its memory|another memory"):
        pytocu.jit(both_arguments)(x, x, 0.3, 4)
    for n in STEPS:
        everywhere(both_arguments, V, V.copy(), 0.3, n)


def both_arguments(x, y, t, n):
    for i in range(n):
        if y[i] > t:
            x = x * 2
        x[i] += 1
    return x


def test_one_that_may_not_be_written_is_refused_before_anything_is_changed() -> None:
    v = V.copy()
    v.flags.writeable = False
    with pytest.raises(ValueError, match="assignment destination is read-only"):
        pytocu.jit(in_some_steps)(B, v, 0.3, 4)
    assert (v == V).all()
