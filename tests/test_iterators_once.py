"""Iterators give their members once: a second reading of one is refused, and what reads it once on every way is not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mask_tools import everywhere

import pytocu
from pytocu.errors import UnsupportedError

X, Y = np.array([0.5, -1, 2, 3.0]), np.array([1.0, 2, 3, 5])


def a_generator(x, y):
    g = (v * 2 for v in (x, y))
    return list(g), list(g)


def arrays_of_run_time(x, y):
    pairs, t = zip(x, y, strict=False), 0.0
    for a, b in pairs:
        t += a * b
    for a, _ in pairs:
        t += a
    return t


def in_steps(x, y):
    members, t = enumerate(x), 0.0
    for i in range(3):
        for k, v in members:
            t += v * k + i
    return t


def in_a_comprehension(x, y):
    m = map(abs, (x, y))
    return [sum(m) for _ in range(2)]


def by_another_name(x, y):
    r = reversed([x, y])
    s = r
    return [*s], [*r]


def _both(g):
    return sum(g) + sum(g)


def by_a_function(x, y):
    return _both(v for v in (x, y))


def in_a_lambda(x, y):
    z = zip((1, 2), (x, y), strict=True)
    f = lambda: [a * b for a, b in z]  # noqa: E731
    return f(), f()


def behind_a_break(x, y):
    z = enumerate((x, y, x + y))
    for i, _ in z:
        if i:
            break
    return [v for _, v in z]


AGAIN = [
    a_generator, arrays_of_run_time, in_steps, in_a_comprehension, by_another_name, by_a_function, in_a_lambda, behind_a_break,
]  # fmt: skip


@pytest.mark.parametrize("function", AGAIN, ids=lambda f: f.__name__)
def test_what_is_read_again_is_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(UnsupportedError, match=r"is an iterator, which gives its members once") as error:
        pytocu.jit(function)(X, Y)
    assert "= list(...)" in str(error.value)


def bound_again(x, y):
    pairs, t = zip(x, y, strict=False), 0.0
    for a, b in pairs:
        t += a * b
    pairs = zip(y, x, strict=False)
    for a, b in pairs:
        t += a - b
    return t


def bound_in_each_step(x, y):
    t = 0.0
    for i in range(3):
        members = enumerate(x)
        for k, v in members:
            t += v * k + i
    return t


def once_on_each_side(x, y):
    g = (v * 2 for v in (x, y))
    if x[0] > 0:
        r = sum(g)
    elif x[1] > 0:
        r = list(g)[1]
    else:
        r = y
    return r, sum(h if x[0] > 0 else h + 1 for h in (x, y))


def not_iterators(x, y):
    r, d, p, t = range(len(x)), {"a": x, "b": y}, [x, y], 0.0
    v = d.values()
    for i in r:
        for k in r:
            t += x[i] * y[k]
    return t, sum(v) + sum(v), sum(p) + sum(p), sum(x) + sum(x), [len(v), *v]


def by_a_comprehension(x, y):
    z = zip((1, 2), (x, y), strict=True)
    return [a * b for a, b in z], [*{k: v * 2 for k, v in zip("ab", (x, y), strict=True)}.values()]


def by_an_early_return(x, y):
    g = (v * 2 for v in (x, y))
    if x[0] > 2:
        return sum(g)
    if x[1] > 0:
        raise ValueError("nothing")
    return list(g)[1]


ONCE = [bound_again, bound_in_each_step, once_on_each_side, not_iterators, by_a_comprehension, by_an_early_return]


@pytest.mark.parametrize("x", [X, -X, X[::-1]], ids=str)
@pytest.mark.parametrize("function", ONCE, ids=lambda f: f.__name__)
def test_what_is_read_once_is_not(function: Callable[..., Any], x: np.ndarray) -> None:
    everywhere(function, x, Y)


def in_a_repeated_list(x, y):
    return [a + b for a, b in zip(*[iter([1, 2, 3, 4])] * 2, strict=True)]


def pairs_of_an_array(x, y):
    t = 0.0
    for a, b in zip(*[iter(x)] * 2, strict=True):
        t += a * b
    return t


def in_two_places(x, y):
    parts = (iter([1, 2, 3]),) * 2
    first, second = parts
    return next(first), next(second)


def by_a_position(x, y):
    parts = [iter([1, 2, 3])]
    return next(parts[0]), next(parts[0])


def by_a_key(x, y):
    parts = {"a": iter([1, 2, 3])}
    return next(parts["a"]), next(parts["a"])


class Source:
    def __init__(self, members):
        self.members = iter(members)

    def give(self):
        return next(self.members)


def by_an_attribute(x, y):
    source = Source([1, 2, 3])
    return source.give(), source.give()


def by_a_position_in_steps(x, y):
    parts, t = [iter(range(10))], 0
    for _ in range(len(x)):
        t += next(parts[0])
    return t


def by_an_attribute_in_steps(x, y):
    source, t = Source([1, 2, 3, 4, 5]), 0.0
    while t < x[3]:
        t += source.give()
    return t


HELD = [
    in_a_repeated_list, pairs_of_an_array, in_two_places, by_a_position, by_a_key, by_an_attribute, by_a_position_in_steps,
    by_an_attribute_in_steps,
]  # fmt: skip


@pytest.mark.parametrize("function", HELD, ids=lambda f: f.__name__)
def test_what_a_container_holds_is_read_once(function: Callable[..., Any]) -> None:
    """It gave its first member each time, or all of them to each reader."""
    with pytest.raises(UnsupportedError, match="one that stands in a list or an object is read more than once"):
        pytocu.jit(function)(X, Y)


def of_each_one_reading(x, y):
    parts = [zip([1, 2], [x, y], strict=True), enumerate([x, y])]
    first, second = iter([3, 4]), map(abs, [-1, 2])
    source = Source([5, 6])
    return [[b for _, b in part] for part in parts], next(first), list(second), source.give()


def test_held_iterators_that_are_read_once() -> None:
    everywhere(of_each_one_reading, X, Y)
