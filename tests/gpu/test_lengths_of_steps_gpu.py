"""Arrays whose lengths change from step to step, with arrays of CuPy.  Run with ``pytest -m gpu``."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_arrays_in_rounds import PROGRAMS as IN_ROUNDS
from test_arrays_in_rounds import X as HALVES
from test_changing_places import arrays_in
from test_lengths_by_lengths import BY_STEPS, WHILE
from test_lengths_by_lengths import X as THREE
from test_lengths_of_steps import (
    FUNCTIONS,
    OF_SEVERAL_AXES,
    ROWS,
    X,
    Y,
    chosen_rows,
    folded,
    merged,
    quickselect,
    stacked_rows,
    with_a_piece_of_the_last_step,
)

import pytocu
from pytocu.testing.compare import compare

pytestmark = pytest.mark.gpu


def agrees(cupy: Any, function: Callable[..., Any], *arguments: Any) -> None:
    """NumPy's results and changed arguments, or its exception."""
    theirs = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    given = [cupy.asarray(a) if isinstance(a, np.ndarray) else a for a in arguments]
    try:
        expected = arrays_in(function(*theirs))
    except ValueError as error:
        with pytest.raises(ValueError, match=f"^{re.escape(str(error))}\\n"):
            pytocu.jit(function)(*given)
        return
    found = arrays_in(pytocu.jit(function)(*given))
    for result, wanted in zip(found, expected, strict=True):
        compare(np.asarray(result.get() if isinstance(result, cupy.ndarray) else result), np.asarray(wanted))
    for mine, array in zip(given, theirs, strict=True):
        if isinstance(array, np.ndarray):
            compare(mine.get(), array)


@pytest.mark.parametrize("n", [0, 1, 5])
@pytest.mark.parametrize("function", [*FUNCTIONS, with_a_piece_of_the_last_step], ids=lambda f: f.__name__)
def test_loops_over_numbers(cupy: Any, function: Callable[..., Any], n: int) -> None:
    agrees(cupy, function, X, n)


@pytest.mark.parametrize("t", [2.0, 0.05])
@pytest.mark.parametrize("function", IN_ROUNDS, ids=lambda f: f.__name__)
def test_loops_until_data_say(cupy: Any, function: Callable[..., Any], t: float) -> None:
    agrees(cupy, function, HALVES, t)


def more_than_a_round(x, t):
    found = x[:1]
    while found[-1] < t:
        found = np.append(found, found[-1] + 1)
    return found


def test_a_second_round(cupy: Any) -> None:
    agrees(cupy, more_than_a_round, HALVES, 3000.0)


@pytest.mark.parametrize("n", [0, 1, 9])
def test_loops_while_something_is_left(cupy: Any, n: int) -> None:
    agrees(cupy, folded, X[:n])
    agrees(cupy, merged, np.sort(X[:n]), np.sort(Y[:5]))
    agrees(cupy, quickselect, X, n)
    agrees(cupy, chosen_rows, ROWS, n)
    agrees(cupy, stacked_rows, ROWS, n)


@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize("function", OF_SEVERAL_AXES, ids=lambda f: f.__name__)
def test_lengths_of_several_axes(cupy: Any, function: Callable[..., Any], n: int) -> None:
    agrees(cupy, function, np.random.default_rng(6).random((9, 11)), n)


@pytest.mark.parametrize("n", [0, 1, 4, 9])
@pytest.mark.parametrize("function", BY_STEPS, ids=lambda f: f.__name__)
def test_as_often_as_there_are_steps(cupy: Any, function: Callable[..., Any], n: int) -> None:
    agrees(cupy, function, THREE, min(n, 5) if function.__name__ in ("carpet", "both_axes") else n)


@pytest.mark.parametrize("n", [1, 2, 16, 512])
@pytest.mark.parametrize("function", WHILE, ids=lambda f: f.__name__)
def test_while_lengths_say_so(cupy: Any, function: Callable[..., Any], n: int) -> None:
    agrees(cupy, function, THREE, n)
