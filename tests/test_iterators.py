"""Lists and dicts that are changed while they are gone over, or between that and ``zip`` and its like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mask_tools import everywhere

import pytocu
from pytocu.errors import UnsupportedError

X = np.array([0.5, -1, 2, 3.0])


def the_next_of_a_list(x):
    p = [x, x + 1, x + 2]
    for i, a in enumerate(p):
        if i < 2:
            p[i + 1] = p[i + 1] + a
    return p


def zipped(x):
    p = [x, x + 1, x + 2]
    q = []
    for a, b in zip(p, reversed(p), strict=True):
        p[1] = p[1] * 2
        q.append(a + b)
    return q


def the_list_itself(x):
    p = [x, x + 1, x + 2]
    for a in p:
        p[2] = p[2] + a
    return p


def items(x):
    d = {"a": x, "b": x + 1}
    s = 0
    for _, v in d.items():
        d["b"] = d["b"] * 3
        s = s + v
    return s


def values(x):
    d = {"a": x, "b": x + 1}
    v = d.values()
    d["b"] = x * 0
    return sum(v)


def a_list_that_grows(x):
    p = [x, x + 1, x + 2]
    for a in p:
        if len(p) < 5:
            p.append(a * 2)
    return p


def a_list_that_shrinks(x):
    p = [x, x + 1, x + 2]
    return [p.pop() for a in p]


def enumerated(x):
    p = [x, x + 1]
    e = enumerate(p)
    p[1] = x * 5
    return [i * y for i, y in e]


def turned(x):
    p = [x, x + 1]
    r = reversed(p)
    p[1] = x * 5
    return list(r)


def iterated(x):
    p = [x, x + 1]
    members = iter(p)
    p[0] = x * 5
    return list(members)


def left_in_a_step(x):
    p = [x, x + 1, x + 2]
    for i, a in enumerate(p):
        if x[0] > 5:
            break
        if i < 2:
            p[i + 1] = p[i + 1] * a
    return p


def on_one_side(x):
    p = [x, x + 1]
    members = zip(p, p, strict=True)
    if x[0] > 0:
        p[0] = p[0] * 2
    return [a + b for a, b in members]


def chosen_elements(x):
    chosen = x[x > 0]
    p = [chosen, chosen, chosen]
    found = []
    for i, y in enumerate(p):
        found.append(y)
        if i < 2:
            p[i + 1] = y * 2
    return found


def chosen_elements_side_by_side(x):
    chosen = x[x > 0]
    p = [chosen, chosen]
    members = iter(p)
    p[1] = chosen + 1
    found = []
    for y, z in zip(p, reversed(p), strict=True):
        found.append(y - z)
        p[1] = chosen * 3
    return found, list(members)


PROGRAMS = [
    chosen_elements, chosen_elements_side_by_side, the_next_of_a_list, zipped, the_list_itself, items, values,
    a_list_that_grows, a_list_that_shrinks, enumerated, turned, iterated, left_in_a_step, on_one_side,
]  # fmt: skip


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_members_are_those_of_the_moment(function: Callable[..., Any]) -> None:
    everywhere(function, X)


def a_generator(x):
    p = [x, x + 1]
    members = (y * 2 for y in p)
    p[1] = x * 5
    return sum(members)


def a_name_in_it(x):
    c = 2
    members = (y * c for y in (x, x))
    c = 3
    return sum(members)


def an_array_in_it(x):
    y = x.copy()
    members = (z * 2 for z in (y, y))
    y += 1
    return sum(members)


def mapped(x):
    p = [x, x + 1]
    members = map(lambda y: y * p[0], p)  # noqa: C417
    p[0] = x * 3
    return list(members)


def filtered(x):
    p = [1, 2, 3]
    members = filter(lambda y: y > 1, p)
    p[0] = 4
    return x * sum(members)


@pytest.mark.parametrize("function", [a_generator, a_name_in_it, an_array_in_it, mapped, filtered], ids=lambda f: f.__name__)
def test_members_computed_of_what_was_changed_are_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(UnsupportedError, match="an iterator computes its members when it is gone over") as caught:
        pytocu.jit(function)(X.copy())
    assert caught.value.help and "make a list of it" in caught.value.help


def both_ends(x):
    total = 0.0
    for u, v in zip(x, reversed(x), strict=False):
        total = total * 0.5 + u * v
    return total


def counted_from_the_end(x):
    total = 0.0
    for i, v in enumerate(reversed(x), 2):
        total = total * 0.5 + i * v
    return total


def beside_a_range(x, n):
    total = 0.0
    for i, (k, v) in enumerate(zip(range(n, -2, -2), x, strict=False)):
        total = total * 0.5 + k * v - i
    return total, [k * i for i, k in enumerate(range(1, n, 3))]


def by_a_function(x, n):
    scale = 2.0
    total = 0.0
    for v in map(lambda u, k: u * scale + k, x, range(n)):
        total = total * 0.5 + v
        scale += 1
    return total, np.array(list(map(abs, x)))


def of_a_mask(x):
    y = x[x > 0]
    total = 0.0
    for v in y:
        total = total * 0.5 + v
    return total, np.array([v * 2 for v in y if v > 0.6]), any(v > 2 for v in y), all(v > 2 for v in x[x > 2])


def rows_of_a_mask(a):
    chosen = a[a[:, 0] > 0]
    for row in chosen:
        row[1:] = row[0] + row[1]
    return chosen


@pytest.mark.parametrize("function", [both_ends, counted_from_the_end, of_a_mask], ids=lambda f: f.__name__)
@pytest.mark.parametrize("x", [X, X[:0], -X[::-1], np.float32(X)], ids=str)
def test_arrays_whose_length_a_run_knows(function: Callable[..., Any], x: np.ndarray) -> None:
    everywhere(function, x)


@pytest.mark.parametrize("n", [-5, 0, 1, 4, 30])
def test_ranges_of_run_time(n: int) -> None:
    everywhere(beside_a_range, X, n)
    everywhere(by_a_function, X, n)


def test_rows_that_a_mask_chooses() -> None:
    everywhere(rows_of_a_mask, np.random.default_rng(3).random((6, 3)) - 0.5)
