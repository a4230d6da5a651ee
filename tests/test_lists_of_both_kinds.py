"""Returned lists whose members are Python's numbers and NumPy's: it is kept of each which it is."""

from __future__ import annotations

import collections

import numpy as np
import pytest
from mask_tools import everywhere

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


def walked(x):
    path = [0.0]
    for i in range(len(x)):
        path.append(path[-1] + x[i])
    return np.array(path), path


def positions(x):
    pos = 0.0
    path, before = [pos], []
    for step in x:
        before.append(pos)
        pos += step
        path.append(pos)
    return path, before, np.array(path)


def pairs(x):
    path = [(0.0, 0.5)]
    for i in range(len(x)):
        path.append((x[i], path[i][1] + x[i]))
    return np.array(path), path


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("function", [walked, positions, pairs])
def test_a_list_of_pythons_floats_gets_numpys_numbers(function, dtype) -> None:
    jitted = pytocu.jit(function)
    for size in (0, 1, 2, 7):
        x = np.random.default_rng(size).random(size).astype(dtype)
        if size or function is not positions:
            assert repr(jitted(x)) == repr(function(x))


def test_a_loop_that_begins_with_a_python_float_is_a_sweep() -> None:
    plan = pytocu.jit(lambda x: walked(x)[0]).lower("f64[n]").compile("cuda:sm_90").plan
    assert sum(step[0] == "launch" for step in plan.steps) <= 3 and not any(step[0] == "for" for step in plan.steps)


def of_smaller_dtypes(x, n, first):
    found = [first]
    while len(found) < n:
        found.append(x[0])
    return np.array(found)


def is_taken(x, n, first):
    found = [first]
    while len(found) < n:
        found.append(x[0])
    found[0] = x[0]
    return np.array(found)


def returned(x, n, first):
    found = [first]
    while len(found) < n:
        found.append(x[0])
    return found


@pytest.mark.parametrize(("first", "dtypes"), [(0, "i8 i4 u1 f4 f2 c8"), (2, "f4"), (0.5, "f8 f4 f2 c16"), (1j, "c8 c16")])
def test_an_array_of_pythons_numbers_and_smaller_dtypes(first, dtypes) -> None:
    jitted = pytocu.jit(static="first")(of_smaller_dtypes)
    for dtype in dtypes.split():
        x = np.array([2], dtype)
        compare(jitted(x, 4, first), of_smaller_dtypes(x, 4, first))
        if np.asarray(first).dtype != x.dtype:
            with pytest.raises(UnsupportedError, match="may hold Python's"):
                pytocu.jit(static="first")(is_taken)(x, 4, first)


def test_pythons_numbers_that_a_dtype_does_not_hold() -> None:
    held = "holds numbers of float32, and gets a Python float that is none of these"
    x = np.ones(1, np.float32)
    assert repr(pytocu.jit(returned)(x, 3, 0.5)) == repr(returned(x, 3, 0.5))
    for jitted in (pytocu.jit(returned), pytocu.jit(static="first")(returned)):
        with pytest.raises(UnsupportedError, match=held):
            jitted(x, 3, 0.1)
    assert repr(pytocu.jit(returned)(x.astype(np.int16), 3, -(2**15))) == f"[{-2**15}, np.int16(1), np.int16(1)]"
    for dtype, first in (("i2", 2**15), ("u1", -1), ("f4", 2**24 + 1), ("f2", 2**11 + 1)):
        with pytest.raises(UnsupportedError, match="is none of these"):
            pytocu.jit(returned)(x.astype(dtype), 3, first)
    with pytest.raises(UnsupportedError, match="is returned, and holds a Python float beside c128"):
        pytocu.jit(returned)(x.astype(complex), 3, 0.5)
    with pytest.raises(UnsupportedError, match="beside uint64"):
        pytocu.jit(of_smaller_dtypes)(x.astype(np.uint64), 3, 0)


def spanning_tree(edges, weights, n):
    parent = list(range(n))
    total, taken = 0.0, []

    def root_of(u):
        while parent[u] != u:
            parent[u] = parent[parent[u]]
            u = parent[u]
        return u

    for k in np.argsort(weights, kind="stable"):
        u, v = edges[k]
        a, b = root_of(u), root_of(v)
        if a != b:
            parent[a] = b
            total += weights[k]
            taken.append(k)
    return total, taken


def test_a_sum_on_a_side_that_changes_such_a_list() -> None:
    rng = np.random.default_rng(4)
    jitted = pytocu.jit(spanning_tree)
    for count in (0, 1, 2, 12):
        given = rng.integers(0, 6, (count, 2)), rng.random(count), 6
        assert repr(jitted(*given)) == repr(spanning_tree(*given))


def in_a_loop_that_returns(a, n):
    found = []
    if n > 2:
        for x in a:
            found.append(x)
            return len(found)
    found.append(n)
    return len(found) + n


def emptied_on_a_side(a, n):
    found = [1]
    if n > 1:
        found.pop()
        if a.sum() > n:
            found.append(a[0])
    return len(found)


@pytest.mark.parametrize("function", [in_a_loop_that_returns, emptied_on_a_side])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_sides_of_which_one_holds_pythons_ints(function, n: int) -> None:
    everywhere(function, np.array([1, 2]), n)
