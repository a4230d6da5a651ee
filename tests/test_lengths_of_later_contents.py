"""What is made of the contents that memory had before a change, and waits for a length that is read behind it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mask_tools import everywhere


def longer_by_a_later_mask(x):
    first = x[:1] * 2
    x[1:] = 3
    return first + np.zeros(len(x[x > 2]))


def cut_by_a_later_mask(x):
    turned = x[::-1] * 2
    x[1:] = 3
    return turned[: len(x[x > 2])]


def cut_by_two_masks(x):
    turned = x[::-1] * 2
    x[1:] = 3
    count = len(x[x > 2])
    x[0] = 7
    return turned[:count], turned[: len(x[x > 6])]


def sorted_behind_a_comparison(x):
    twice = x * 2
    x[1:] = 3
    added = x[x > 2] + x[1:]
    return np.sort(twice), added


def a_copy_sorted_behind_a_comparison(x):
    turned = x[::-1].copy()
    x[1:] = 3
    added = x[x > 2] + x[1:]
    x[:] = np.sort(turned)
    return added, np.sort(x)


def changed_twice(x):
    ordered = np.sort(x)
    x[1:] = 3
    x[0] = len(x[x > 2])
    return ordered[: len(x[x == 3])]


@pytest.mark.parametrize(
    "function",
    [
        longer_by_a_later_mask,
        cut_by_a_later_mask,
        cut_by_two_masks,
        sorted_behind_a_comparison,
        a_copy_sorted_behind_a_comparison,
        changed_twice,
    ],
)
def test_what_memory_held_before_a_change_waits_for_a_length(function: Callable[..., Any]) -> None:
    everywhere(function, np.array([1.0, 0, 9, 2]))


def exchanged(n, steps):
    p = np.ones(n)
    q = np.zeros(n)
    for _ in range(steps):
        p = p * 0.5 + q
        for _ in range(2):
            p[np.argmax(p)] += 1
            p, q = q, p
            p[1:] = np.sort(p)[:-1]
    return p


def bound_again(n, steps):
    p = np.ones(n)
    q = np.zeros(n)
    for _ in range(steps):
        p = p * 0.5 + q
        for _ in range(2):
            k = np.searchsorted(np.cumsum(p), 0.5)
            p[k % n] += 1
            p, q = q, p
            k = int(np.searchsorted(np.sort(p), 1.5)) % n
            p[1:] = q[:-1]
    return np.append(p, k)


@pytest.mark.parametrize("function", [exchanged, bound_again])
@pytest.mark.parametrize(("n", "steps"), [(1, 1), (4, 1), (4, 3), (5, 4)])
def test_arrays_that_exchange_their_names_and_are_sorted(function: Callable[..., Any], n: int, steps: int) -> None:
    """A step sorts what was made of an array before the step changes it, behind positions that it reads of it then."""
    everywhere(function, n, steps)
