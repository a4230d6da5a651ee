"""Random programs in which names hold numbers of Python's or NumPy's give Python's answer, in its kind, or are refused."""

from __future__ import annotations

import linecache
import math
import random
import warnings
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.testing.compare import compare
from pytocu.testing.kind_programs import random_kind_program

PROGRAMS = 25


def make(source: str) -> Any:
    name = f"<kinds {hash(source)}>"
    linecache.cache[name] = (0, None, source.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {"np": np, "math": math}
    exec(compile(source, name, "exec"), namespace)
    return namespace["program"]


def check(source: str, seed: int) -> tuple[int, int]:
    """Compare one program; how many of its calls were compiled, and how many Python runs."""
    function = make(source)
    compiled = pytocu.jit(function)
    values = np.random.default_rng(seed)
    x, y = values.integers(-4, 5, 5) / 2, values.integers(-3, 4, 5)
    taken = run = 0
    for n in (0, 1, 4):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                expected = function(x, y, n)
        except (ArithmeticError, OverflowError, ValueError):
            continue
        run += 1
        try:
            found = compiled(x, y, n)
        except pytocu.UnsupportedError:
            continue
        taken += 1
        try:
            compare(found, expected)
        except AssertionError as error:
            raise AssertionError(f"{source}\n{n} steps: {error}") from None
    return taken, run


@pytest.mark.parametrize("part", range(6))
def test_programs_of_numbers_of_both_kinds(part: int) -> None:
    seeds = range(part * PROGRAMS, (part + 1) * PROGRAMS)
    counts = [check(random_kind_program(random.Random(seed).choice), seed) for seed in seeds]
    taken, run = (sum(count) for count in zip(*counts, strict=True))
    assert taken > run // 3


# What such programs have found.


def exchanged(x, y, n):
    a = 0.5
    b = x[0]
    for _ in range(n):
        a, b = b, a
    return a, b


def exchanged_ints(x, y, n):
    a = 1
    b = y[0]
    for _ in range(n):
        a, b = b, a
    return a


def of_either_in_front(x, y, n):
    b = 1 if n > 2 else x[0]
    a = 0.0
    for _ in x:
        a = b
    return a


def begins_as_numpys(x, y, n):
    a = x[0]
    b = 0.5
    for _ in x:
        b += n
        a, b = y[1], a
        for _ in range(2):
            a, b = min(a, y[1]), b
            a = 1
    return b


def second_loops(x, y, n):
    a = x[0]
    b = 0.5
    for _ in x:
        a += n
        a, b = b, a
    for _ in range(1, n):
        a = x[0]
    return a, b


def loops_inside(x, y, n):
    a = 0.0
    for i in range(n):
        if x[i] > 1.6:
            a = x[i]
        for j in range(i):
            if x[j] < 0:
                a = 2.5
    return a


def left_of_what_cannot_be_carried(x, y, n):
    a = 2
    b = -1
    for i in range(len(x)):
        a, b = b, x[i]
        b = 0.5
    return a


FOUND = [
    exchanged, exchanged_ints, second_loops, loops_inside, left_of_what_cannot_be_carried, begins_as_numpys, of_either_in_front,
]  # fmt: skip


@pytest.mark.parametrize("function", FOUND)
def test_the_kind_of_a_number_goes_with_it_through_loops(function: Any) -> None:
    compiled = pytocu.jit(function)
    x, y = np.array([1.5, 2, 3, -1, 0]), np.array([2, 1, 3, -1, 0])
    for n in range(5):
        try:
            found = compiled(x, y, n)
        except pytocu.UnsupportedError as error:
            assert function is begins_as_numpys and "Python number behind the loop" in str(error)
            continue
        compare(found, function(x, y, n))


def labelled(y):
    label = -1
    for v in y:
        label = v
    return label


def best_of_small(y):
    best = -1
    for v in y:
        if v > best:
            best = v
    return best


def beside_either(y, n):
    a = -1
    b = y[0]
    if n < 1:
        for _ in range(3):
            b = -n
    return a + b


def test_an_int_that_the_dtype_does_not_hold() -> None:
    y = np.array([3, 1, 2], np.uint8)
    compare(pytocu.jit(labelled)(y), labelled(y))
    with pytest.raises(pytocu.UnsupportedError, match=r"-1 stands beside an np\.uint8, which does not hold it"):
        pytocu.jit(best_of_small)(y)
    with pytest.raises(pytocu.UnsupportedError, match=r"-1 stands beside a number that is Python's or an np\.uint8"):
        pytocu.jit(beside_either)(y, 0)
    with pytest.raises(OverflowError, match="Python integer -1 out of bounds for uint8"):
        pytocu.jit(lambda y: y[0] + -1)(y)
    best = np.array([3, 1, 2], np.int16)
    compare(pytocu.jit(best_of_small)(best), best_of_small(best))
