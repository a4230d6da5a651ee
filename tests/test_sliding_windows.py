"""``np.lib.stride_tricks.sliding_window_view``: read in place, and nothing is written through it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from edge_tools import check
from function_tools import agree
from mask_tools import everywhere
from numpy.lib.stride_tricks import sliding_window_view

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.testing.compare import compare

GIVEN = ["np.arange(12.).reshape(3, 4)[::-1] % 5", "np.arange(4, dtype='f4')", "np.array([1, 2], 'i2')", "3"]
SCOPE = {"view": sliding_window_view}


# Windows that are a result are a new array, so the rows of the table copy them.
SHAPES = (
    "(b, 3)", "(a, (2, 2))", "(a, 2, axis=0)", "(a, 2, 1)", "(a, (2, 2), axis=(0, 0))", "(a, [3], -1)",
    "(a, 0, 0)", "(a, 4, 1)", "(b, d)", "(3, ())", "(b, len(c))", "(b, 1)", "(b, 4)", "(b, True)", "([1, 2, 3], 2)",
    "(a.T, (3, 2))",
)  # fmt: skip


def test_shapes_and_axes() -> None:
    check(GIVEN, [f"view{shape}.copy()" for shape in SHAPES], scope=SCOPE)
    check(
        GIVEN,
        [
            "view(b, 2).mean(-1)", "view(a, (2, 2)).max((-1, -2))", "view(b, d).sum(1)", "view(b * 2, 2) + 1",
            "view(b, 2)[::-1, 1:] * 2", "view(b, 2) @ np.array([1, 2], 'f4')", "view(b, 2)[0] + view(b, 2)[-1]",
            "np.median(view(b, 3), 1)", "np.sort(view(b, 3))", "view(a.T, (3, 2))[0] - 1", "view(a, (2, 1)).shape",
            "np.lib.stride_tricks.sliding_window_view(b, 2).sum()", "view(b, 2).T.reshape(-1) * 1",
            "view(view(b, 2), 2, 0).sum()",
        ],
        scope=SCOPE,
    )  # fmt: skip


def test_windows_that_are_a_result_are_a_new_array() -> None:
    x = np.arange(4.0)
    (made, _), ours = pytocu.jit(lambda x: (sliding_window_view(x, 2), 1))(x), sliding_window_view(x, 2)
    compare(made, ours)
    assert not np.shares_memory(made, x)


def test_what_numpy_refuses() -> None:
    check(
        GIVEN,
        ["view(a, 5, 0)", "view(a, -1, 0)", "view(a, 2)", "view(a, (2, 2), 0)", "view(a, 2, 5)", "view(b, 2.5)", "view(b, 'a')",
         "view(b, 10 ** 30)", "view(b, d + 2)", "view(b, d - 4)", "y = view(b, 2)\ny[0] = 1\nreturn y",
         "y = view(b, 2)\ny += 1\nreturn y"],
        scope=SCOPE,
    )  # fmt: skip


def test_windows_show_what_is_written_later() -> None:
    check(GIVEN, ["y = view(b, 2)\nb[1] = 7\nreturn y.sum(1)", "y = view(b, 2)\nb[1:] = y[:, 0]\nreturn b",
                  "b[:3] += view(b, 2).sum(1)\nreturn b"], scope=SCOPE)  # fmt: skip


def test_writeable_windows_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="writeable=True"):
        pytocu.jit(lambda x: sliding_window_view(x, 2, writeable=True))(np.ones(3))


def moving(x: Any, k: Any) -> Any:
    return sliding_window_view(x, 5).mean(-1), sliding_window_view(np.sqrt(x), k).max(axis=1)


def blurred(u: Any, w: Any) -> Any:
    return (sliding_window_view(u, (3, 3)) * w).sum((-1, -2)), sliding_window_view(u, 3, axis=0)[..., 1] - u[1:-1]


CASES = {
    "means": (moving, (np.arange(300.0) % 7, 4)),
    "blur": (blurred, (np.arange(700.0).reshape(20, 35) % 11, np.arange(9.0).reshape(3, 3))),
}


@pytest.mark.parametrize("name", CASES)
def test_everywhere(name: str) -> None:
    function, arguments = CASES[name]
    everywhere(function, *arguments, ulp=4)


def test_windows_are_not_stored() -> None:
    """One kernel reads the elements where they are."""
    jitted = pytocu.jit(moving)
    x = np.arange(30.0)
    for k in (1, 2, 30):
        compare(jitted(x, k), moving(x, k), exact=False, ulp=4)
    steps = jitted.lower(x, 3).compile("cpu").plan.steps
    assert [s[0] for s in steps].count("allocate") == 2


def test_a_window_of_run_time_that_is_longer_than_the_array() -> None:
    agree("np.lib.stride_tricks.sliding_window_view(a, b)", np.arange(3.0), 4)
