"""Returned lists whose members are Python's numbers and NumPy's: it is kept of each which it is."""

from __future__ import annotations

import collections

import numpy as np
import pytest

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.ir.parser import parse_function
from pytocu.ir.printer import print_function
from pytocu.testing.compare import compare


def ready(n, e):
    queue = collections.deque([i for i in range(n) if e[i] == 0])
    order = []
    while queue:
        u = queue.popleft()
        order.append(u)
        if e[u] == 0 and e[-1] > 0:
            queue.append(e[-1])
            e[-1] = 0
    return order


def ordered(n, e):
    found = [i for i in range(n) if e[i] == 0]
    found.append(e[-1])
    found.insert(1, e[1])
    found.insert(0, 5)
    found.sort(reverse=True)
    last = found.pop()
    found.remove(5)
    return found, last


def either_in_a_branch(n, e):
    found = [0]
    for k in range(n):
        if e[k] == 0:
            found.append(k)
        else:
            found.append(e[k])
    found[0] = e[0]
    return found


def turned(n, e):
    found = [n]
    while found[-1] > 0 and len(found) < 9:
        found.append(e[found[-1]])
    return found[::-1], found[1:]


@pytest.mark.parametrize("function", [ready, ordered, either_in_a_branch, turned])
def test_returned_lists_hold_numbers_of_both_kinds(function) -> None:
    jitted = pytocu.jit(function)
    for e in ([0, 1, 0, 2], [0, 0, 0, 1], [0, 1, 1, 0]):
        assert repr(jitted(3, np.array(e))) == repr(function(3, np.array(e)))
    text = jitted.lower(3, np.array([0, 1, 0, 2])).ir()
    assert "\"either\"" in text and print_function(parse_function(text)) == text


def floats_are_replaced(n, e):
    found = [0.5, e[0] / 2]
    for k in range(n):
        if e[k] == 0:
            found.append(k)
    found[0] = 1
    found[1] = 2
    return np.array(found)


def floats_are_taken(n, e):
    found = [e[0] / 2]
    for k in range(n):
        if e[k] == 0:
            found.append(k)
    found.pop(0)
    return np.array(found)


def a_float_stays(n, e):
    found = [e[0] / 2]
    for k in range(n):
        if e[k] == 0:
            found.append(k)
    return np.array(found), np.array(found[:1], dtype=float)


def begins_with_an_int(n, e):
    t, k = 0, 0
    found = [t]
    while k < n:
        t += e[k] / 2
        if t > 0:
            found.append(t)
        k += 1
    return np.array(found)


def test_an_array_of_ints_that_stand_among_floats() -> None:
    given = 3, np.array([0, 1, 0, 2])
    compare(pytocu.jit(begins_with_an_int)(*given), begins_with_an_int(*given))
    with pytest.raises(UnsupportedError, match="may hold Python's ints alone"):
        pytocu.jit(begins_with_an_int)(1, given[1])
    for made, expected in zip(pytocu.jit(a_float_stays)(*given), a_float_stays(*given), strict=True):
        compare(made, expected)
    for function in (floats_are_replaced, floats_are_taken):
        with pytest.raises(UnsupportedError, match="may hold Python's ints alone"):
            pytocu.jit(function)(*given)
