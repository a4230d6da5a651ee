"""Loops and branches that change arguments which overlap: NumPy's values, in the caller's memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.testing.compare import compare
from pytocu.testing.fuzz import RUNS


def recurrence(a, b, n):
    for k in range(1, len(a)):
        a[k] = a[k - 1] * 0.5 + b[k]
    return a


def parts(a, b, n):
    for k in range(n):
        b[k:] = a[k:] + b[: len(b) - k] * 0.5
        a[-k - 1] = b[k]
    return a, b


def wholes(a, b, n):
    for _ in range(n):
        a[:] = b[::-1] - a
    return a.sum(), b + 1


def until(a, b, n):
    while a.max() < 30:
        a += b
        b[0] += 1
    return b


def either(a, b, n):
    if a.sum() > b.sum():
        a[1:] = b[:-1]
    else:
        b[1:] = a[:-1] * 2
    return a


def nested(a, b, n):
    for _ in range(n):
        for j in range(1, len(a)):
            a[-j - 1] += b[j - 1] + a[j]
            a[:-1] *= a[:-1] + b[:-1]
    return a + b


def swept(a, b, n):
    for _ in range(n):
        for k in range(len(a)):
            b[k] = a[k] * 0.5 + b[0]
    return a, b


WAYS: dict[str, Callable[[Any], tuple[Any, Any]]] = {
    "ahead": lambda m: (m[:6], m[1:7]),
    "behind": lambda m: (m[2:8], m[:6]),
    "back": lambda m: (m[:6], m[5::-1]),
    "apart": lambda m: (m[:12:2], m[1:12:2]),
    "gaps": lambda m: (m[:6], m[:12:2]),
    "same": lambda m: (m[:6], m[:6]),
}


@pytest.mark.parametrize("function", [recurrence, parts, wholes, until, either, nested, swept])
def test_arguments_that_overlap(function: Callable[..., Any]) -> None:
    for on in ("cpu", "threads"):
        for two in WAYS.values():
            for n in (0, 1, 3):
                expected, memory = np.arange(1.0, 13.0) / 4, np.arange(1.0, 13.0) / 4
                with np.errstate(all="ignore"):
                    wanted = function(*two(expected), n)
                compare(RUNS[on](function, *two(memory), n), wanted, exact=False)
                compare(memory, expected, exact=False)


def test_rows_and_columns_of_one_matrix() -> None:
    def shifted(a, b, n):
        for k in range(n):
            a[k] = b[:, k] + a[k]
        return b

    for first, second in ((slice(0, 4), slice(1, 5)), (slice(1, 5), slice(0, 4))):
        expected, memory = np.arange(20.0).reshape(5, 4), np.arange(20.0).reshape(5, 4)
        wanted = shifted(expected[first], expected[second].T, 4)
        compare(RUNS["cpu"](shifted, memory[first], memory[second].T, 4), wanted)
        compare(memory, expected)


def test_the_loop_is_written_for_a_gpu() -> None:
    memory = np.arange(9.0)
    compiled = pytocu.jit(recurrence).lower(memory[:-1], memory[1:], 2).compile("cuda:sm_90")
    assert compiled.kernels and compiled.plan.sharing == (("overlap", (0, 1)),)
