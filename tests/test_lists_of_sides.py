"""Lists that a side of a branch makes with a number of members of run time, beside a known one or another on the other side."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from edge_tools import written
from mask_tools import everywhere

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.explain.plan_text import plan_text
from pytocu.ir import interp
from pytocu.testing.compare import compare

X = np.array([0.5, -1, 2, 3.0])


def known_on_the_other(x, n):
    if n > 2:
        out = [x[i] * 2 for i in range(n)]
    else:
        out = []
    return out, len(out)


def an_early_return(x, n):
    if n < 3:
        return [], 0.0
    out = []
    for v in x:
        if v > 0:
            out.append(v + 1)
    return out, x.sum()


def filled_under_a_condition(x, n):
    out = []
    if n > 2:
        for v in x:
            out.append(v + 1)
    return out


def chosen_under_a_condition(x, n):
    out = [x[0]]
    if n > 2:
        for v in x:
            if v > 0:
                out.append(v + 1)
    return out, len(out), out[-1]


def python_numbers(x, n):
    out = [i for i in range(n) if x[i] > 0] if n > 2 else [7, 8]
    return out, out[::-1], sum(out), [v + 1 for v in out], sorted(out), (out[0] if out else -1)


def numbers_of_both_kinds(x, n):
    if n > 2:
        out = [v * 2 for v in x]
    else:
        out = [1.5]
    return out


def two_branches(x, n):
    out = []
    if n > 3:
        out = [v for v in x if v > 0]
    elif n > 1:
        for i in range(n):
            out.append(x[i])
    return out


def shorter_than_the_floats(x, n):
    out = [1, 2.5]
    if n > 3:
        return [n]
    out.pop()
    if n > 2:
        out.append(int(x[0]))
    return out


def extended_behind_a_return(x, n):
    out = []
    if n > 3:
        return len(x)
    out.extend(range(n))
    return len(out)


FUNCTIONS = [
    extended_behind_a_return, shorter_than_the_floats, known_on_the_other, an_early_return, filled_under_a_condition,
    chosen_under_a_condition, python_numbers, numbers_of_both_kinds, two_branches,
]  # fmt: skip


@pytest.mark.parametrize("n", [4, 3, 2, 0])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_pythons_answer(function: Callable[..., Any], n: int) -> None:
    everywhere(function, X, n)
    everywhere(function, -X[::-1], n)


def by_a_loop_of_unknown_length(x, n):
    path = []
    if n > 0:
        while n > 0:
            path.append(n)
            n = n // 2
    return path


def returned_beside_an_empty_one(x, n):
    if x[n % 4] < 0:
        return []
    path = [n]
    while n > 0:
        n = n // 2
        path.append(n)
    return path


def several_of_both_kinds(x, n):
    if x[n % 4] < 0:
        return [], []
    path, found = [n], [0.5]
    while path[-1] > 0:
        if n % 2 == 1:
            found.append(x[n % 4])
        n = n // 2
        path.append(n)
    return path, found


def returned_with_others(x, n):
    if x[n % 4] < 0:
        return [], np.inf
    path = [(n, n)]
    k = n
    while path[-1][0] > 0:
        path.append((k // 2, n))
        k = k // 2
    path.reverse()
    return path, x[0]


OF_UNKNOWN_LENGTH = [
    by_a_loop_of_unknown_length, returned_beside_an_empty_one, several_of_both_kinds, returned_with_others,
]  # fmt: skip


@pytest.mark.parametrize("n", [7, 3, 1, 0])
@pytest.mark.parametrize("function", OF_UNKNOWN_LENGTH, ids=lambda f: f.__name__)
def test_lists_of_a_loop_of_unknown_length(function: Callable[..., Any], n: int) -> None:
    compare(pytocu.jit(function)(X, n), function(X, n))


def appended_behind_the_loop(x, n):
    factors, d = [], 2
    while d * d <= n:
        while n % d == 0:
            factors.append(d)
            n //= d
        d += 1
    if n > 1:
        factors.append(n)
    for _ in range(3):
        factors.append(d)
    factors.append(0)
    factors.append(1)
    factors.append(2)
    factors.append(3)
    factors.append(4)
    factors.append(5)
    factors.append(6)
    factors.append(7)
    return factors


@pytest.mark.parametrize("n", [7, 360])
def test_appends_behind_a_loop_of_unknown_length(n: int) -> None:
    """The first have room that the loop has left free, and the others make the array larger."""
    compare(pytocu.jit(appended_behind_the_loop)(X, n), appended_behind_the_loop(X, n))


def prime_factors(x, n):
    factors, d = [], 2
    while d * d <= n:
        while n % d == 0:
            factors.append(d)
            n //= d
        d += 1
    if n > 1:
        factors.append(n)
    return factors


@pytest.mark.parametrize("function", [returned_beside_an_empty_one, prime_factors], ids=lambda f: f.__name__)
def test_the_list_of_such_a_loop_on_a_gpu(function: Callable[..., Any]) -> None:
    low = pytocu.jit(function).lower(X, 60)
    found = interp.arrange(low.function.body.terminator.attr("tree"), interp.run(low.host("cuda"), [X, 60]))
    compare(found, function(X, 60))


NOT_WRITTEN = [returned_beside_an_empty_one, several_of_both_kinds, prime_factors]


@pytest.mark.parametrize("function", NOT_WRITTEN, ids=lambda f: f.__name__)
def test_room_for_millions_of_members_is_not_written_on_a_cpu(function: Callable[..., Any]) -> None:
    """Of what a side changes or hands on, all but the members is memory that nobody reads."""
    text = plan_text(pytocu.jit(function).lower(X, 2).compile("cpu").plan)
    # A thread writes 4096 elements at once.
    iterations = [int(number) for number in re.findall(r"rows, (\d+) iterations", text)]
    assert iterations and max(iterations) == 1


def other_names(x, n):
    out = [n]
    same = out
    if n > 2:
        out = [i + 1 for i in range(n)]
    same.append(3)
    return out, same


@pytest.mark.parametrize("function", [other_names], ids=lambda f: f.__name__)
def test_what_is_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(UnsupportedError, match="is a list that a loop of run time made longer on one side of a branch and a"):
        pytocu.jit(function)(X, 3)


def returned_by_a_step(x, n):
    for k in range(n):
        r = [v + k for v in x]
        if r[0] > 2:
            return r
    return [0.5]


def returned_by_an_endless_loop(x, n):
    k = 0
    while True:
        r = [v + k for v in x]
        if r[0] > 2:
            return r, k
        k += 1


def a_member_that_is_a_list(x, n):
    rows = [[v, v + 1] for v in x]
    for k in range(n):
        for r in rows:
            if r[0] > k:
                return r
    return rows[0]


def made_where_it_is_returned(x, n):
    for k in range(n):
        if x[1] + k > 1:
            return [v * k for v in x]
    return []


def in_a_tuple_of_tuples(x, n):
    for k in range(n):
        r = [v + k for v in x]
        if r[0] > 2:
            return (r, k), x
    return ([0.5], -1), x


STEPS = [
    returned_by_a_step, returned_by_an_endless_loop, a_member_that_is_a_list, made_where_it_is_returned, in_a_tuple_of_tuples,
]  # fmt: skip


@pytest.mark.parametrize("n", [6, 2, 0])
@pytest.mark.parametrize("function", STEPS, ids=lambda f: f.__name__)
def test_lists_that_steps_return(function: Callable[..., Any], n: int) -> None:
    everywhere(function, X, n)
    everywhere(function, -X[::-1], n)


def a_length_that_a_step_finds_out(x, n):
    for k in range(n):
        if x[1] + k > 1:
            return [v * k for v in x if v > 0]
    return []


def in_a_tuple(x, n):
    for k in range(n):
        if x[1] + k > 1:
            return ([v * k for v in x if v > 0], k), x
    return ([], 0), x


@pytest.mark.parametrize("function", [a_length_that_a_step_finds_out, in_a_tuple], ids=lambda f: f.__name__)
def test_a_length_that_a_step_finds_out_is_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(UnsupportedError, match="a list is returned out of a loop, and how many members it has is") as error:
        pytocu.jit(function)(X, 4)
    assert "leave the loop with break" in error.value.help


@pytest.mark.parametrize("member", ["None", "(x[0], None)", "np.sum", "np.float32", "lambda y: y", "slice(1, 2)"])
def test_members_that_are_no_numbers_are_refused(member: str) -> None:
    text = f"out = [0]\nif n > 1:\n    out.append({member})\nreturn len(out)"
    function = written(("x", "n"), text, {"np": np})
    with pytest.raises(UnsupportedError, match="a list whose length is known only at run time gets"):
        pytocu.jit(function)(X, 3)


def members_chosen_where_another_side_returns(x, t):
    found = [1, 2]
    if x[0] > 1:
        if x[1] > 1:
            assert t < 4
        if x[0] > 3:
            found.pop(0)
        elif x[0] > 2:
            return 3
        found = [v for v in found if v > 1]
    if t > 2:
        assert t < 4
    return len(found)


def arrays_that_become_lists(x, t):
    found = x
    for _ in x:
        for _ in found[:3]:
            found = sorted(found)
            if x[0] > t:
                return t
    return len(found)


@pytest.mark.parametrize("function", [members_chosen_where_another_side_returns, arrays_that_become_lists])
@pytest.mark.parametrize("first", [0.5, 1.5, 2.5, 3.5])
def test_a_list_that_the_side_makes_which_goes_on(function: Callable[..., Any], first: float) -> None:
    """What follows is not read on that side, and finds the list as the branch hands it on."""
    everywhere(function, np.array([first, 5.75, 3.25]), 3)
