"""Branches that data decide and of which Python scalars are left, once what nobody reads is dropped."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mask_tools import everywhere


def doubled_if_longer(a, b):
    found = a > 0
    if a[0] > 1:
        if a.size > b.size:
            a = a * 2.0
        found = np.cumsum(a) > 4
    found ^ True
    return a


def doubled_if_any(a, b):
    found = False
    if a[0] > 1:
        if a.size > b.size:
            a = a * 2.0
        found = a.any()
    found ^ True
    return a


def the_length_of_one_side(a, b):
    sums, length = a, 0
    if a[0] > 1:
        length = a.size
        sums = np.cumsum(a)
    sums[1:]
    return length


def halved_in_steps(a, b):
    total = a.sum()
    if a[0] > 1:
        for k in range(b.size):
            if a.size > k + 1:
                a = a * 0.5
        total = np.cumsum(a)[-1]
    total + 1
    return a


def called_twice(a, b):
    first = doubled_if_any(a, b)
    return doubled_if_any(first, b), doubled_if_any(b, a), halved_in_steps(first, b)


@pytest.mark.parametrize(
    "function",
    [doubled_if_longer, doubled_if_any, the_length_of_one_side, halved_in_steps, called_twice],
)
@pytest.mark.parametrize("first", [0.5, 2.0])
def test_what_is_left_of_a_branch_is_the_number_of_the_side_that_is_taken(function: Callable[..., Any], first: float) -> None:
    a, b = np.array([first, 3, 4, -5]), np.array([3.0, 1, 2])
    everywhere(function, a, b)


def raises_before(b, count):
    x = np.arange(count + 3) * 0.75 - 1
    a = np.ones_like(x)
    last = None
    if a.size > 4:
        raise ValueError("too long")
    elif count > x[-1]:
        if a.size > b.size:
            a = a * count
        if a.any():
            last = x[1:]  # noqa: F841
    raise KeyError("at the end")


@pytest.mark.parametrize("count", [0, 1, 2])
def test_a_branch_of_which_nothing_is_read_before_an_exception(count: int) -> None:
    everywhere(raises_before, np.ones((1, 1)), count)
