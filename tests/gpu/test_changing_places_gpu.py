"""Names that are one array or another, with arrays of CuPy.  Run with ``pytest -m gpu``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_changing_places import CHOICES, GRIDS, TURNS, X, Y, Z, arrays_in, heat, leapfrog, leapfrog_in_loops

import pytocu
from pytocu.testing.compare import compare

pytestmark = pytest.mark.gpu


def agrees(cupy: Any, function: Callable[..., Any], *arguments: Any) -> None:
    """NumPy's results and changed arguments, and the arguments themselves where NumPy returns them."""
    theirs = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    given = [cupy.asarray(a) if isinstance(a, np.ndarray) else a for a in arguments]
    expected, found = arrays_in(function(*theirs)), arrays_in(pytocu.jit(function)(*given))
    for result, wanted in zip(found, expected, strict=True):
        compare(result.get() if isinstance(result, cupy.ndarray) else result, np.asarray(wanted) if np.ndim(wanted) == 0 and
                isinstance(result, cupy.ndarray) else wanted)  # fmt: skip
        if isinstance(wanted, np.ndarray) and function.__name__ != "returned_from_a_step":
            assert [result is g for g in given] == [wanted is t for t in theirs]
    for mine, array in zip(given, theirs, strict=True):
        if isinstance(array, np.ndarray):
            compare(mine.get(), array)


@pytest.mark.parametrize("n", [0, 1, 4, 5])
@pytest.mark.parametrize("function", [*TURNS, *CHOICES], ids=lambda f: f.__name__)
def test_names_of_one_array_or_another(cupy: Any, function: Callable[..., Any], n: int) -> None:
    agrees(cupy, function, X, Y, n)


@pytest.mark.parametrize("n", [0, 1, 2, 70, 131])
def test_three_arrays_and_steps_in_graphs(cupy: Any, n: int) -> None:
    agrees(cupy, heat, *GRIDS, n)
    agrees(cupy, leapfrog, X, Y, Z, min(n, 5))
    agrees(cupy, leapfrog_in_loops, X, Y, Z, min(n, 5))
