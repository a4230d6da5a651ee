"""``partition`` and ``argpartition``: what NumPy promises of them, which is not the order on either side."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from edge_tools import check
from mask_tools import everywhere

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.testing.compare import compare

GIVEN = ["np.arange(12.).reshape(3, 4)[::-1] % 5", "np.array([3, 1, 2, 0], 'f4')", "np.array([1, 2], 'i2')", "3", "2.5"]


def sides(x: Any, k: Any) -> Any:
    """What does not depend on the order before and behind the position."""
    y = np.partition(x, k)
    order = np.argpartition(x, k)
    again = np.take_along_axis(x, order, -1)
    return y[..., k], np.sort(y[..., :k]), np.sort(y[..., k:]), again[..., k], np.sort(again[..., :k]), np.sort(again[..., k:])


CASES = {
    "vector": (sides, (np.random.default_rng(1).random(50), 7)),
    "rows": (sides, (np.random.default_rng(2).integers(0, 9, (5, 40)), 20)),
    "nan": (sides, (np.array([3.0, np.nan, 1.0, -np.inf, 2.0, np.nan]), 3)),
}


@pytest.mark.parametrize("name", CASES)
def test_both_sides(name: str) -> None:
    function, arguments = CASES[name]
    everywhere(function, *arguments)


def test_axes_and_positions() -> None:
    check(
        GIVEN,
        ["np.partition(a, -1, 0)[-1]", "np.partition(a, (1, 3), axis=None)[3]", "np.partition(b, len(b) // 2)[len(b) // 2]",
         "np.partition(b, d)", "np.partition(b, d - 4)[-1]", "np.partition(b, c[0])[1]", "np.partition(b, np.int8(1))[1]",
         "np.partition([3, 1, 2], 1)[1]", "a.argpartition(0, 1)[:, 0]", "b.partition(2)\nreturn b[2]", "np.argpartition(3, 0)",
         "np.partition(b[:0], 0)", "np.partition(a.reshape(2, 6)[:0], 7)", "np.partition(b, (d, 0))"],
    )  # fmt: skip


def test_what_numpy_refuses() -> None:
    check(
        GIVEN,
        ["np.partition(b, 7)", "np.partition(b, -7)", "np.partition(b, [1, 9])", "np.partition(b, 1.0)",
         "np.partition(b, None)", "np.partition(b, 1, axis=5)", "np.partition(b, 1, kind='x')", "np.partition(3, 0)",
         "np.partition(b, True)", "np.partition(b, [])", "np.argpartition(3, 1)", "np.partition(b, d + 1)",
         "np.partition(b, d - 9)", "np.partition(b, e)", "np.partition(b, 10 ** 30)", "np.argpartition(b, 1, axis=True)",
         "np.partition(b, a[0, 0] > 0)"],
    )  # fmt: skip


def test_a_position_of_run_time_is_compared_at_every_call() -> None:
    jitted = pytocu.jit(lambda x, k: np.partition(x, k)[k])
    x = np.array([5.0, 2.0, 9.0])
    for k in (0, 1, 2, -1, -3):
        compare(jitted(x, k), np.sort(x)[k])
    jitted = pytocu.jit(lambda x, k: np.partition(x, k))
    for k in (3, -4):
        with pytest.raises(ValueError, match="out of bounds"):
            jitted(x, k)


def test_positions_in_an_array_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="positions of a partition"):
        pytocu.jit(lambda x, k: np.partition(x, k))(np.ones(3), np.array([1]))
