"""Lists that grow in loops inside of loops, as often as data say: there is room for the most."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mask_tools import everywhere

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.testing.compare import compare


def run_lengths(x, n):
    found = []
    for r in range(x.shape[0]):
        i = 0
        while i < x.shape[1]:
            j = i
            while j < x.shape[1] and x[r, j] == x[r, i]:
                j += 1
            found.append(j - i)
            i = j
    return found


def collatz(x, n):
    out = []
    for i in range(1, n):
        k = i
        while k != 1:
            out.append(k)
            k = k // 2 if k % 2 == 0 else 3 * k + 1
    return np.array(out, dtype=np.int64), len(out)


def factors(x, n):
    found = [0]
    for m in range(2, n):
        k = m
        p = 2
        while k > 1:
            while k % p == 0:
                found.append(p)
                k //= p
            p += 1
        found.append(found[-1] * 10)
    return found


def reached(x, n):
    seen = np.zeros(n, dtype=bool)
    order = []
    for s in range(n):
        if seen[s]:
            continue
        stack = [s]
        seen[s] = True
        while stack:
            u = stack.pop()
            order.append(u)
            for v in range(n):
                if x[u % x.shape[0], v % x.shape[1]] == 1 and not seen[v]:
                    seen[v] = True
                    stack.append(v)
    return order


def shorter_again(x, n):
    held = [5]
    most = 0
    for i in range(n):
        k = 0
        while k < 3 + x[i % x.shape[0], 0]:
            held.append(i * k)
            k += 1
        most = max(most, len(held))
        while len(held) > 2:
            most += held.pop()
    return held, most


def a_while_in_a_while(x, n):
    out = []
    i = 0
    while i < n:
        k = int(x[i % x.shape[0], 1]) * 3 + i
        while k > 0:
            out.append(k)
            k -= 2
        i += 1
    return out


def beside_an_array(x, n):
    out = []
    counts = np.zeros(n, int)
    for i in range(n):
        while counts[i] < x[0, i % x.shape[1]] + i % 3:
            counts[i] += 1
            if counts[i] % 2 == 0:
                out.append(counts[i])
        x[0, i % x.shape[1]] = 7
    return out, counts


X = np.random.default_rng(6).integers(0, 2, (4, 9))
PROGRAMS = [run_lengths, collatz, factors, reached, shorter_again, a_while_in_a_while, beside_an_array]


def as_often_as_counted(x, n):
    counts = [0] * n
    for v in x.ravel():
        counts[v % n] += 1
    out = []
    for v in range(n):
        for _ in range(counts[v]):
            out.append(v)
    return out


def test_steps_append_as_often_as_they_read() -> None:
    everywhere(as_often_as_counted, np.random.default_rng(0).integers(0, 9, 8), 5)


@pytest.mark.parametrize("function", PROGRAMS)
def test_programs(function: Callable[..., Any]) -> None:
    jitted = pytocu.jit(function)
    for n in (9, 0, 1, 30):
        given, wanted = X.copy(), X.copy()
        assert repr(jitted(given, n)) == repr(function(wanted, n))
        np.testing.assert_array_equal(given, wanted)


@pytest.mark.parametrize("function", [run_lengths, shorter_again])
def test_thread_by_thread(function: Callable[..., Any]) -> None:
    everywhere(function, X[:2, :4], 3)


def filled(n, each, by):
    out = []
    for i in range(n):
        k = 0
        while k < each:
            out.append(i)
            k += by
    return len(out), out[-1]


def test_more_members_than_there_is_room_for_are_refused() -> None:
    jitted = pytocu.jit(filled)
    assert jitted(3, 100_000, 1) == (300_000, 2)
    with pytest.raises(UnsupportedError, match="the list out holds more than 16,777,216 members, or 131,072 on a GPU"):
        jitted(9, 2**21, 1)


def test_a_list_that_two_loops_make_longer() -> None:
    """The host knows behind the second whether it is written again, by a number that comes behind a loop with checks."""

    def pairs(x, n):
        s = x.dtype.type(1)
        found = []
        k = 0
        while k < n:
            k += 1
            if s % 2 == 0:
                break
            if found:
                s, _ = found.pop()
            found.append((s, s))
        m = 0
        while found and m < 20:
            m += 1
            found.append((np.maximum(s, s), s))
        return len(found)

    for n in (0, 2):
        everywhere(pairs, np.ones(1, np.int32), n)


def test_arrays_beside_a_list_that_is_made_anew() -> None:
    def function(a, n):
        found, parts = [a[0]], [a]
        for i in range(len(a)):
            for _ in range(i, len(a)):
                parts.append(a[:n])
                found = [x for x in found]  # noqa: C416 (a list of its own)
        return found

    # Not an internal error: the names that a loop carries are found out reading by reading.
    with pytest.raises(UnsupportedError, match="length known only at run time is 1"):
        pytocu.jit(function)(np.array([1.0, 2.0]), 1)


def of_two_loops(x):
    c, found = x, []
    for _ in range(len(x)):
        for v in c:
            found.append(v)
            c = x + c
            x[0] = 2
    return found


def of_three_loops(x):
    c, found = x, []
    for i in range(len(x)):
        for _ in range(2):
            for v in c:
                if i:
                    found.append(v)
                c = x + 1
                x[0] = 2
    return found


def by_a_key(x):
    found = []

    def note(v):
        if v > 0:
            found.append(v)
        return v

    for v in x:
        note(v)
        sorted((3.5, 1.5, v), key=note)
        max(v, 2.5, key=note)
    return found


def by_members(x):
    found = []

    def note(v):
        if v > 0:
            found.append(v)

    def twice(v):
        note(v)
        note(v)

    for v in x:
        twice(v)
        twice(v + 1)
        [note(v + k) for k in range(3)]
        {k: note(v - k) for k in (1, 2)}
    return found


@pytest.mark.parametrize("function", [of_two_loops, of_three_loops, by_a_key, by_members])
def test_there_is_room_for_what_a_line_appends_in_a_first_step_and_for_each_call_of_a_function(function) -> None:
    """First steps of loops inside are written before these, and a function is called more than once at one place."""
    x = np.array([4.0, 5, 2, 1, 4])
    given, found = x.copy(), x.copy()
    compare(pytocu.jit(function)(found), function(given))
    compare(found, given)
