"""Random loops in loops give NumPy's answer on a CPU, where most of them are native functions, or are refused."""

from __future__ import annotations

import linecache
import math
import random
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.testing.compare import compare
from pytocu.testing.guarded import Guards, guarded
from pytocu.testing.nest_programs import random_nest_program

PROGRAMS = 5


def make(source: str) -> Any:
    name = f"<nest {hash(source)}>"
    linecache.cache[name] = (0, None, source.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {"np": np, "math": math}
    exec(compile(source, name, "exec"), namespace)
    return namespace["program"]


def arguments(size: int, steps: int, seed: int) -> list[Any]:
    """Multiples of a quarter, whose products with halves and quarters are seldom rounded."""
    draw = np.random.default_rng(seed)
    return [*(draw.integers(-8, 9, shape) / 4 for shape in ((size, size), (size, size), size)), 1.5, steps]


def plain(value: Any) -> Any:
    """The values without the signs of zeros: of two zeros a maximum may be either."""
    return tuple(v + 0.0 if isinstance(v, np.ndarray | float) else v for v in value)


def check(function: Any, seed: int) -> int:
    """Compare a program, and look whether it writes beside its arrays; how many of its calls were compiled."""
    with guarded() as guards:
        return compare_calls(function, seed, guards)


def compare_calls(function: Any, seed: int, guards: Guards) -> int:
    compiled = pytocu.jit(function)
    for count, (size, steps) in enumerate(((12, 4), (5, 2), (23, 9))):
        given = arguments(size, steps, seed)
        passed = [guards.copy(v) if isinstance(v, np.ndarray) else v for v in given]
        try:
            with np.errstate(all="ignore"):
                expected = function(*given)
        except (ValueError, IndexError) as error:
            with pytest.raises((type(error), pytocu.UnsupportedError)):
                compiled(*passed)
            continue
        try:
            found = compiled(*passed)
        except pytocu.UnsupportedError:
            return count
        compare(plain(found), plain(expected))
        compare(plain(passed), plain(given))
    return 3


@pytest.mark.parametrize("part", range(6))
def test_random_loops_in_loops(part: int) -> None:
    taken = 0
    for seed in range(part * PROGRAMS, (part + 1) * PROGRAMS):
        source = random_nest_program(random.Random(seed).choice)
        try:
            taken += check(make(source), seed)
        except AssertionError as error:
            raise AssertionError(f"{source}\nseed {seed}\n{error}") from None
    assert taken > PROGRAMS


# What such programs have found.


def written_in_a_branch_only(a, b, v, s, k):
    for i in range(len(a)):
        v = v + b[:, i]
        if v[i] < 1:
            v[i:] = b[i, : len(a) - i] * 0.25
        else:
            b[i] = b[i]
    return a, b, v


def changed_in_a_branch_of_an_inner_loop(a, b, v, s, k):
    t = s
    c = k
    for i in range(1, len(a)):
        w = 0
        while a[i, 0] > b[i, i] and w < 4:
            w += 1
            if t > 2:
                c = (c * 3 + i) % 7
            v = v * 0.75
            t = t + 1.5
    return v, t, c


def exchanged_as_often_as_the_step_says(a, b, v, s, k):
    for i in range(len(a)):
        for j in range(i):
            a, b = b, a
            b[j] = b[j] * 0.5
    return a, b, v


def a_branch_of_numbers_that_only_python_has(a, b, v, s, k):
    m = len(a)
    for i in range(m - 2, 0, -1):
        for j in range(m - i):
            v[:i] = b[i, :i] * b[i, i] * 0.0625
            a[i] = np.minimum(a[i], i)
            for h in range(i, -1, -1):
                if k > j:
                    v[: i + 1] -= b[h, m - 1 - i :] * b[i, h] * 0.0625
    return a, b, v


def parts_of_two_lengths_in_a_loop_whose_first_step_has_no_loop(a, b, v, s, k):
    m = len(a)
    t = s
    for i in range(m - 1, -1, -1):
        a[:, i] = a[:, i] - a[i] * 0.25
        for j in range(i + 1, m):
            if v[j] < 1:
                t = t + a[j, i] * 0.25
            a[j, j:] += v[: m - j] * 0.5
            for h in range(j + 1, m):
                if t > h * 2 + 5:
                    break
    return a, b, v, t


def made_of_a_column_that_is_stored_anew(a, b, v, s, k):
    for i in range(k):
        b = np.where(a > s, b, b * 0.5)
        v = v * 0.5 + b[:, i]
        for j in range(k):
            if a[i, i] > b[i, i]:
                a[j] = a[i]
            w = a[i] * 0.5
            w[i:] -= v[i:] * 0.5
            b[i] = b[i] * 0.5 + w
    return a, b, v


def memory_of_a_step_in_front_of_a_loop_without_steps(a, b, v, s, k):
    m = len(a)
    for i in range(m):
        a[i, i:] -= a[i - 1, : m - i] * s * 0.125
        for j in range(i):
            a[j, j:] += v[j:] * b[j, j] * 0.0625
    return a, b, v


def rows_that_an_inner_loop_has_exchanged(a, b, v, s, k):
    m = len(a)
    for i in range(m - 1, -1, -1):
        for j in range(m - i):
            v, b[j] = b[j] * 1, v
        a[i] = a[i] - b[i] * s * 0.25
    return a, b, v, s, k


FOUND = [
    written_in_a_branch_only, changed_in_a_branch_of_an_inner_loop, exchanged_as_often_as_the_step_says,
    a_branch_of_numbers_that_only_python_has, parts_of_two_lengths_in_a_loop_whose_first_step_has_no_loop,
    made_of_a_column_that_is_stored_anew, memory_of_a_step_in_front_of_a_loop_without_steps,
    rows_that_an_inner_loop_has_exchanged,
]  # fmt: skip


@pytest.mark.parametrize("function", FOUND)
def test_found_loops(function: Any) -> None:
    assert check(function, 0) == 3


def begins_in_front_of_a_loop_without_steps(a, b, v, s, k):
    m = len(a)
    for i in range(1, m):
        for j in range(i + 1, m):
            v[: i + 1] -= b[i, m - 1 - i :] * a[j, j] * 0.125
            v = v * 0.5 + s
    return v


def test_a_loop_without_steps_is_no_wrong_index() -> None:
    """The positions of its first step, of which there is none, were compared before."""
    assert check(begins_in_front_of_a_loop_without_steps, 0) == 3
