"""``match`` statements: what their patterns say is a branch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.testing.compare import compare

X = np.arange(5.0)


def values(x, op):
    match op:
        case "add":
            return x + 1
        case "times" | "product":
            return x * 2
        case None:
            return x - 1
        case 3 | -2.5:
            return x * 3
        case _:
            raise ValueError("no such operation")


def of_run_time(x, n):
    match n % 3:
        case 0:
            x = x + 10
        case 1 | 2 if n > 5:
            x = x * 20
        case rest:
            x = x - rest
    return x


def sequences(x, p):
    match p:
        case (3, (b, c), *_):
            return x * b + c
        case (a, b):
            return x * a + b
        case [a, *rest, b]:
            return x + a + b + sum(rest[1:]) + len(rest)
        case (a,):
            return x * a
        case _:
            return x


def a_display(x, a, b):
    match (a, b):
        case (0, y):
            return x * y
        case (y, 0):
            return x + y
        case (b, a) if b > a:
            return x - b
        case (b, a):
            return x + b * a


def classes(x, v):
    match v:
        case bool():
            return x
        case int(n):
            return x * n
        case float() as f if f > 0:
            return x + f
        case str():
            return -x
    return x * 0


def in_a_loop(x, n):
    state = 0
    for _ in range(n):
        match state:
            case 0:
                x = x + 1
                state = 1
            case 1:
                x = x * 2
                state = 2
            case s:
                x = x - s
                state = 0
    return x, state


class Wave(NamedTuple):
    height: float
    field: np.ndarray


def attributes(wave):
    match wave:
        case Wave(height=0.0, field=f):
            return f
        case Wave(height=h, field=f):
            return f * h


CALLS: list[tuple[Callable[..., Any], list[tuple[Any, ...]]]] = [
    (values, [(X, one) for one in ("add", "product", None, 3, -2.5)]),
    (of_run_time, [(X, n) for n in (0, 1, 5, 7, 8, 9)]),
    (sequences, [(X, p) for p in ((1, 2), [3.0, 4], (1,), (), (3, (4, 5)), (3, (4, 5), 6), [1, 2, 3, 4], 7)]),
    (a_display, [(X, 1, 2), (X, 0, 2), (X, 3, 0), (X, 5, 4)]),
    (classes, [(X, v) for v in (True, 3, 2.5, -2.5, "s", None)]),
    (in_a_loop, [(X, n) for n in (0, 1, 2, 3, 40)]),
    (attributes, [(Wave(0.0, X),), (Wave(2.0, X),)]),
]


@pytest.mark.parametrize(("function", "arguments"), [(f, a) for f, calls in CALLS for a in calls])
def test_as_python_matches(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    compare(pytocu.jit(function)(*arguments), function(*arguments))


def test_what_raises() -> None:
    with pytest.raises(ValueError, match="no such operation"):
        pytocu.jit(values)(X, "minus")


def a_mapping(x, p):
    match p:
        case {"scale": s}:
            return x * s


def names_in_alternatives(x, p):
    match p:
        case (0, a) | (a, 0):
            return x * a


@pytest.mark.parametrize(("function", "p"), [(a_mapping, {"scale": 2.0}), (names_in_alternatives, (0, 1))])
def test_what_is_refused(function: Callable[..., Any], p: Any) -> None:
    with pytest.raises(UnsupportedError, match="a match statement with a mapping"):
        pytocu.jit(function)(X, p)
