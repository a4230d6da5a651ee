"""``histogram2d`` and ``histogramdd``, and the ranges that histograms take from their data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from edge_tools import check
from function_tools import agree, refused
from mask_tools import everywhere

from pytocu.errors import UnsupportedError
from pytocu.testing.cases import call_jit
from pytocu.testing.operands import make_function

_RANDOM = np.random.default_rng(3)
X, Y = _RANDOM.random(60) * 12 - 1, _RANDOM.random(60) * 8
X[3], X[7], Y[5] = 10, np.nan, 0
GIVEN = ["x.copy()", "y.copy()", "np.arange(60) % 9 / 4", "np.array([0, 1, 4, 10.])", "np.arange(5)", "3"]
SCOPE = {"x": X, "y": Y, "R": ((0, 10), (0, 8))}
RANGE = "range=((0, 10), (0, 8))"


def test_edges_and_numbers_of_bins() -> None:
    check(
        GIVEN,
        [f"np.histogram2d(a, b, 5, {RANGE})", f"np.histogram2d(a, b, (5, 4), {RANGE})", "np.histogram2d(a, b, d)",
         f"np.histogram2d(a, b, [5, 4], {RANGE}, weights=c)", "np.histogram2d(a, b, [d, e])",
         "np.histogram2d(a, b, [d, [0, 4, 8]])",
         f"np.histogram2d(a, b, [d, 4], {RANGE})", "np.histogram2d(a, b, d, weights=c)", f"np.histogram2d(a, b, f, {RANGE})",
         "np.histogram2d(a, b, [0, 1, 2, 3])", "np.histogram2d(a.astype('f4'), b, d)",
         f"np.histogram2d(a[:0], b[:0], 4, {RANGE})",
         f"np.histogram2d(a.astype('f4'), b.astype('f4'), 4, {RANGE})", "np.histogram2d(a, b, 5, range=((0, 0), (0, 1)))",
         f"np.histogram2d((b * 3).astype(int), e.repeat(12), [5, 4], {RANGE})", "np.histogram2d(a, b, [d[:1], d])",
         f"np.histogram2d(a, b, [np.int8(4), True], {RANGE})"],
        scope=SCOPE,
    )  # fmt: skip


def test_densities() -> None:
    check(
        GIVEN,
        [f"np.histogram2d(a, b, 5, {RANGE}, density=True)", "np.histogram2d(a, b, [d, e], density=True, weights=c)",
         "np.histogram2d(b, c, 4, None, True)"],
        ulp=4,
        scope=SCOPE,
    )  # fmt: skip


def test_ranges_of_the_data() -> None:
    """The smallest and the largest number; half beside a single one, and 0 to 1 of none."""
    check(
        GIVEN,
        ["np.histogram(b, 5)", "np.histogram(b)", "np.histogram(b[:0], 5)", "np.histogram(d.astype('f4'), 4)",
         "np.histogram(e, 5)",
         "np.histogram(e[:1], 5)", "np.histogram(d[:1], 3)", "np.histogram(e.astype('u1'), 3)", "np.histogram_bin_edges(b, 7)",
         "np.histogram(b, weights=c)", "np.histogram(b, f, density=True)", "np.histogram(d.astype('f2'), 4)",
         "np.histogram(-d, 4)",
         "np.histogram2d(b, b * 2)", "np.histogram2d(b, c, (3, 4))", "np.histogram2d(e, e, 2)",
         "np.histogram2d(b[:0], c[:0], 2)",
         "np.histogram2d(b[:1], c[:1], 2)", "np.histogram2d(d, e[:4], 3)"],
        ulp=2,
        scope=SCOPE,
    )  # fmt: skip


def test_what_numpy_refuses() -> None:
    check(
        GIVEN,
        [f"np.histogram2d(a, b[:5], 5, {RANGE})", f"np.histogram2d(a, b, 0, {RANGE})", f"np.histogram2d(a, b, 2.5, {RANGE})",
         f"np.histogram2d(a, b, -f, {RANGE})", "np.histogram2d(a, b, 5, range=((10, 0), (0, 1)))", "np.histogram2d(a, b, [5])",
         "np.histogram2d(a, b, 5, range=((0, np.inf), (0, 1)))", "np.histogram2d(a, b, 5, range=((0, 1),))",
         "np.histogram2d(a, b, d[::-1])", "np.histogram2d(a, b, [d, e[::-1]])", "np.histogram2d(a, b, [d, d, d])",
         "np.histogram2d(a, b, [d[:0], d])", f"np.histogram2d(a, b, 5, {RANGE}, weights=c[:4])", "np.histogram(a, 5)",
         f"np.histogram2d(a, b, 5, {RANGE}, weights=c * 1j)", "np.histogram2d(a, b, 5)"],
        scope=SCOPE,
    )  # fmt: skip


@pytest.mark.parametrize("text", ["np.histogram2d(x * 1j, x, 3)", "np.histogram2d(x, x, x[:2])"])
def test_what_is_not_compiled(text: str) -> None:
    with pytest.raises(UnsupportedError):
        call_jit(make_function("x", [text], {"np": np}), np.arange(4.0))


def counted(x: Any, y: Any, w: Any) -> Any:
    return np.histogram2d(x, y, 5, ((0, 8), (0, 8)))[0], np.histogram2d(y, x, [3, 7], weights=w), np.histogram(y, 9)


CASES = {"counted": (counted, (np.abs(np.nan_to_num(X)), Y, np.arange(60.0) % 7))}


def test_everywhere() -> None:
    function, arguments = CASES["counted"]
    everywhere(function, *arguments)


POINTS, SHARES, EDGES = _RANDOM.random((20, 3)), _RANDOM.random(20), np.array([0, 0.3, 0.5, 1.0])


def test_points_of_several_coordinates() -> None:
    agree(
        [
            "np.histogramdd(a, [3] * 3)", "np.histogramdd(a, [c, 2, c])", "np.histogramdd(a, 2, [(0, 1)] * 3)",
            "np.histogramdd(a, 2, [(0, 1), None, (0.25, 0.5)], True)", "np.histogramdd((b, b, b), 2)",
            "np.histogramdd(a, [2, 3, 4], density=True, weights=b)", "np.histogramdd([b, 1 - b], [c, c])",
            "np.histogramdd(b, 4)", "np.histogramdd(b, [4])", "np.histogramdd(a[:0], [2, 2, 2])", "np.histogramdd(b[0], 2)",
            "np.histogramdd(a.astype('f4'), [2, 2, 2])",
        ],
        POINTS, SHARES, EDGES, ulp=4,
    )  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "np.histogramdd(a, [2, 3])", "np.histogramdd((b, b), [2, 3, 4])", "np.histogramdd((b, b), 0)", "np.histogramdd(2.0, 2)",
        "np.histogramdd((b, b), 2.5)", "np.histogramdd(a, 2, [(0, 1)])", "np.histogramdd(a, [c[::-1], 2, 2])",
        "np.histogramdd(a.reshape(2, 10, 3), 2)", "np.histogramdd(a, [2, 2, 2], weights=b[:3])", "np.histogramdd((b, b), c)",
        "np.histogramdd(a, [c.reshape(2, 2), 2, 2])", "np.histogramdd((b, c), 2)",
    ],
)  # fmt: skip
def test_errors_of_points(text: str) -> None:
    agree(text, POINTS, SHARES, EDGES)


def test_coordinates_whose_number_nothing_says() -> None:
    refused("np.histogramdd(a, 3)", "whose number of coordinates is known only at run time", POINTS)


def test_numbers_of_bins_of_a_run_and_that_are_none() -> None:
    given = ["np.array([3, 1, 2])", "np.float64(2)", "np.array([200, 3, 250], np.uint8)"]
    check(given, ("np.histogram2d(a, a, a[1])", "np.histogramdd((a, a), a[0])", "np.histogramdd(a, 1j)",
                  "np.histogram2d(a, a, b)", "np.histogram(a, (1, 2, 3), density=True, weights=c)"))  # fmt: skip
