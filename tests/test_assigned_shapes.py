"""``y.shape = ...`` of arrays that the function makes: NumPy's results for every name that holds the array."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mask_tools import everywhere

import pytocu
from pytocu.errors import UnsupportedError

V = np.arange(12.0)


def of_two_names(x):
    y = x + 1
    z = y
    y.shape = 3, 4
    z[1, 2] = -5
    y[0] *= 2
    return y, z.shape, z.sum(axis=0)


def of_several_at_once(x):
    rows, columns = np.mgrid[0:3, 0:4]
    c = x * 2 + 1
    rows.shape = columns.shape = c.shape = 12
    return c[rows + columns], rows * columns


def with_one_length_left_open(x):
    held = [x + 1, x - 1]
    held[0].shape = (-1, 2)
    return held[0] + 1, held[1]


def that_does_not_fit(x):
    y = x * 2
    y.shape = 5, 2
    return y


def of_a_view(x):
    y = x[2:8]
    y.shape = 2, 3
    return y * 2, x.shape


PROGRAMS = [of_two_names, of_several_at_once, with_one_length_left_open, that_does_not_fit, of_a_view]


@pytest.mark.parametrize("function", PROGRAMS)
def test_as_numpy(function: Callable[..., Any]) -> None:
    everywhere(function, V)


def of_an_argument(x):
    x.shape = 3, 4
    return x


def of_rows_apart(x):
    y = (x.reshape(3, 4) + 1).T
    y.shape = 12
    return y


def in_a_tuple(x):
    y = x + 1
    pair = (y, 2)
    y.shape = 3, 4
    return pair[0]


def _flat(y):
    y.shape = 3, 4


def in_a_helper(x):
    y = x + 1
    _flat(y)
    return y


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (of_an_argument, "others than the names of this function may hold the array"),
        (of_rows_apart, "its elements may not follow each other in memory"),
        (in_a_tuple, "others than the names of this function may hold the array"),
        (in_a_helper, "others than the names of this function may hold the array"),
    ],
)
def test_refused(function: Callable[..., Any], said: str) -> None:
    with pytest.raises(UnsupportedError, match=said):
        pytocu.jit(function)(V.copy())
