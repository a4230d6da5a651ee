"""Names that are one array or another: arrays that take each other's places in loops, and names that branches bind."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mask_tools import everywhere

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.runtime.plan_loops import Steady, judged

RNG = np.random.default_rng(3)
X, Y, Z = (RNG.standard_normal(9) for _ in range(3))
GRIDS = RNG.standard_normal((2, 6, 7))


def relax(v, u):
    v[1:-1] = 0.5 * (u[2:] + u[:-2])


def heat(u, v, n):
    for _ in range(n):
        v[1:-1, 1:-1] = 0.25 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2])
        u, v = v, u
    return u


def with_room_of_its_own(u, v, n):
    new = np.zeros_like(u)
    for _ in range(n):
        relax(new, u)
        u, new = new, u
    return u


def both_returned(u, v, n):
    for _ in range(n):
        relax(v, u)
        u, v = v, u
    return u, [v[1:-1], u[::2]]


def by_a_third_name(u, v, n):
    for _ in range(n):
        old = u
        relax(v, u)
        u = v
        v = old
    return u


def both_changed(u, v, n):
    for t in range(n):
        v[1:-1] += u[2:]
        u[0] = t
        u, v = v, u
    return v


def by_out(u, v, n):
    for _ in range(n):
        np.multiply(u, 2, out=v)
        u, v = v, u
    return u.max()


def in_a_list(u, v, n):
    p = [u, v]
    for _ in range(n):
        relax(p[1], p[0])
        p = [p[1], p[0]]
    return p[0]


def in_loops(u, v, n):
    for _ in range(n):
        for _ in range(n - 1):
            relax(v, u)
            u, v = v, u
    return u


def one_loop_and_another(u, v, n):
    for _ in range(n):
        relax(v, u)
        u, v = v, u
    for _ in range(n):
        relax(v, u)
        v += 1
        u, v = v, u
    return u


def until_small(u, v, n):
    k = 0
    while np.abs(u).max() > 0.1 and k < n * 5:
        relax(v, u)
        v[0] = v[-1] = 0
        u, v = v, u
        k += 1
    return u, k


def broken_off(u, v, n):
    for i in range(n):
        relax(v, u)
        if np.abs(v - u).max() < 0.5 or i > 3:
            break
        u, v = v, u
    return u


def some_left_out(u, v, n):
    for i in range(n):
        if i % 3 == 1:
            continue
        relax(v, u)
        u, v = v, u
    return u


def changing_places_in_some_steps(u, v, n):
    for i in range(n):
        if i % 2:
            u, v = v, u
        relax(v, u)
    return u


def returned_from_a_step(u, v, n):
    for i in range(n):
        relax(v, u)
        if i == 3:
            return v
        u, v = v, u
    return u


def on_a_side(u, v, n):
    if n > 2:
        for _ in range(n):
            relax(v, u)
            u, v = v, u
    return u


def changed_behind(u, v, n):
    for _ in range(n):
        relax(v, u)
        u, v = v, u
    u[0] = 7
    v *= 2
    return v


def only_turned(u, v, n):
    for _ in range(n):
        u, v = v, u
    return u


def a_name_from_before(u, v, n):
    first = u
    for _ in range(n):
        relax(v, u)
        u, v = v, u
    return u + first


def in_no_order(u, v, n):
    for _ in range(n):
        relax(v, u)
        v = u
    return u


def given_to_an_argument(u, v, n):
    u = u.copy()
    for i in range(n):
        u[0] = i
        u = v
    return v


def of_two_of_its_own(u, v, n):
    a, b = u * 1, v * 1
    kept = a
    for _ in range(n):
        relax(b, a)
        a, b = b, a
    return a, kept


TURNS = [
    with_room_of_its_own, both_returned, by_a_third_name, both_changed, by_out, in_a_list, in_loops, one_loop_and_another,
    until_small, broken_off, some_left_out, changing_places_in_some_steps, returned_from_a_step, on_a_side, changed_behind,
    only_turned, a_name_from_before, in_no_order, given_to_an_argument, of_two_of_its_own,
]  # fmt: skip


def leapfrog(a, b, c, n):
    for _ in range(n):
        c[1:-1] = 2 * b[1:-1] - a[1:-1] + 0.1 * (b[2:] + b[:-2])
        a, b, c = b, c, a
    return b


def leapfrog_in_loops(a, b, c, n):
    for _ in range(2):
        for _ in range(n):
            c[1:-1] = 2 * b[1:-1] - a[1:-1]
            a, b, c = b, c, a
    return c


# Names that a branch binds.


def one_of_them(x, y, n):
    if n > 2:
        a, b = x, y
    else:
        a, b = y, x
    a[1:] = a[:-1] + b[1:]
    return a


def one_or_a_new_one(x, y, n):
    z = x
    if n > 2:
        z = x * 2
    z[0] = 3
    return z


def one_of_three(x, y, n):
    if n > 4:
        z = x
    elif n > 2:
        z = y
    else:
        z = x + y
    z += 1
    return z, x + y


def by_data(x, y, n):
    z = x if x[0] > y[0] + n - 2 else y
    z *= 2
    return z


def returned_early(x, y, n):
    if n > 2:
        return x
    return y[1:]


def a_part_of_one(x, y, n):
    z = x if n > 2 else y
    part = z[2:5]
    part[...] = 0
    return part


def changed_by_the_other_name(x, y, n):
    z = x if n > 2 else y
    x[0] = 100
    y[1] = 200
    return z * 1


def changed_in_steps(x, y, n):
    z = x if n > 2 else y
    for i in range(n):
        z[i] = i
        x[i] += 1
    return z, z.max()


def changed_by_a_function(x, y, n):
    z = x if n > 2 else y
    relax(z, y)
    return z


def changed_behind_a_loop(x, y, n):
    z = x
    while True:
        if n <= 0:
            break
        z = z * 2
        n -= 2
    x += z
    return y * 2


CHOICES = [
    one_of_them, one_or_a_new_one, one_of_three, by_data, returned_early, a_part_of_one, changed_by_the_other_name,
    changed_in_steps, changed_by_a_function, changed_behind_a_loop,
]  # fmt: skip


def arrays_in(result: Any) -> list[np.ndarray]:
    return [a for part in result for a in arrays_in(part)] if isinstance(result, (tuple, list)) else [result]


def memories(function: Callable[..., Any], arguments: tuple[Any, ...]) -> list[tuple[bool, bool]]:
    """Of each result: whether it is an argument, and whether it is in one's memory."""
    given = copy.deepcopy(arguments)
    found = arrays_in(function(*given))
    return [(a is g, np.shares_memory(a, g)) for a in found for g in given if isinstance(g, np.ndarray)]


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5])
@pytest.mark.parametrize("function", [*TURNS, *CHOICES], ids=lambda f: f.__name__)
def test_names_of_one_array_or_another(function: Callable[..., Any], n: int) -> None:
    everywhere(function, X, Y, n)
    if function is not returned_from_a_step:
        # What a step returns is a copy.
        assert memories(pytocu.jit(function), (X, Y, n)) == memories(function, (X, Y, n))


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 7])
@pytest.mark.parametrize("function", [leapfrog, leapfrog_in_loops], ids=lambda f: f.__name__)
def test_three_arrays(function: Callable[..., Any], n: int) -> None:
    everywhere(function, X, Y, Z, n)
    assert memories(pytocu.jit(function), (X, Y, Z, n)) == memories(function, (X, Y, Z, n))


@pytest.mark.parametrize("n", [0, 1, 6, 99])
def test_a_stencil(n: int) -> None:
    everywhere(heat, *GRIDS, n)


def test_steps_are_launched_as_graphs() -> None:
    """The numbers of the memories take turns as their addresses do: nothing of a step is computed on the host."""
    plan = pytocu.jit(heat).lower("f64[n, m]", "f64[n, m]", "int").compile("cuda:sm_90").plan
    (found,) = judged(plan).values()
    assert isinstance(found, Steady)
    assert sum(step[0] == "launch" for step in plan.steps) == 4


def test_one_that_may_not_be_written_is_refused_before_anything_is_changed() -> None:
    u, v = X.copy(), Y.copy()
    u.flags.writeable = False
    with pytest.raises(ValueError, match="assignment destination is read-only"):
        pytocu.jit(heat)(u.reshape(3, 3), v.reshape(3, 3), 3)
    assert (v == Y).all()


def bound_where_it_returns(x, y, n):
    z, total = y, 0.0
    for i in range(n):
        if i > 3:
            z = x
            return z * 1
        z = y
        total += z[0]
    return z * total


@pytest.mark.parametrize("n", [1, 2, 5])
def test_a_side_that_returns_may_bind_an_array_of_another_length(n: int) -> None:
    everywhere(bound_where_it_returns, X, Y[1:], n)


# What is refused.


def read_by_another_name(u, v, n):
    first, total = u, 0.0
    for _ in range(n):
        relax(v, u)
        total += first[1]
        u, v = v, u
    return total


def parts_of_one(u, v, n):
    a, b = u[:4], u[4:8]
    for _ in range(n):
        relax(b, a)
        a, b = b, a
    return a


@pytest.mark.parametrize("function", [read_by_another_name, parts_of_one], ids=lambda f: f.__name__)
def test_what_is_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(UnsupportedError) as caught:
        pytocu.jit(function)(X.copy(), Y.copy(), 3)
    assert "copy()" in (caught.value.help or "")


def test_arrays_of_other_types() -> None:
    def turned(u, v, n):
        for _ in range(n):
            u, v = v, u
        return u

    with pytest.raises(UnsupportedError, match="before a step of the loop"):
        pytocu.jit(turned)(X, Y.astype(np.float32), 3)
    with pytest.raises(UnsupportedError, match="before a step of the loop"):
        pytocu.jit(turned)(X, np.zeros((2, 2)), 3)
    with pytest.raises(UnsupportedError, match="differ"):
        pytocu.jit(turned)(X, Y[1:], 3)


def test_arguments_that_are_one_memory() -> None:
    x = X.copy()
    for arguments in ((x, x, 3), (x[1:], x[:-1], 3)):
        with pytest.raises(UnsupportedError, match="names another memory after each step"):
            pytocu.jit(by_a_third_name)(*arguments)
