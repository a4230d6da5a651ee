"""``interp``, ``digitize`` and ``trapezoid``."""

from __future__ import annotations

import numpy as np
import pytest
from function_tools import agree
from mask_tools import builds

RANDOM = np.random.default_rng(1)
XP = np.sort(RANDOM.random(9) * 10)
FP = RANDOM.random(9) - 0.5
X = np.r_[RANDOM.random(40) * 14 - 2, XP, np.nan, np.inf, -np.inf].reshape(2, -1)
FC = FP + 1j * FP[::-1]


def test_lines_between_points() -> None:
    agree(
        [
            "np.interp(a, b, c)", "np.interp(a, b, c, -1, 7)", "np.interp(a, b, c, left=np.nan)", "np.interp(2.5, b, c)",
            "np.interp(a[0, 0], b, c)", "np.interp(a, [0, 1, 2], [3.0, 1, 7])", "np.interp(a, b[:1], c[:1])",
            "np.interp(a, [3.0], [4])", "np.interp(a.astype('f4'), b.astype('f4'), c)",
            "np.interp(np.arange(5), b, np.arange(9))",
            "np.interp(a, b, np.where(c > 0, c, np.inf))", "np.interp([1, 2.5], b, c)", "np.interp(a, b, c, c[0], a[0, 0])",
            "np.interp(a, b - b[0], b > 3)",
        ],
        X, XP, FP,
    )  # fmt: skip


def test_lines_of_complex_numbers() -> None:
    agree(["np.interp(a, b, c)", "np.interp(a, b, c, 1j, 2)", "np.interp(a, b, c.astype('c8'))", "np.interp(3, b, c)"], X, XP,
           FC)


def test_lines_that_repeat() -> None:
    agree(["np.interp(a, b, c, period=3)", "np.interp(a, b, c, 7, 7, period=-3.5)", "np.interp(a, b, d, period=4)"], X, XP,
           FP, FC)


@pytest.mark.parametrize(
    "text",
    ["np.interp(a, b[:0], c[:0])", "np.interp(a, b, c[1:])", "np.interp(a, b, c[1:], period=2)", "np.interp(a, b[None], c)",
     "np.interp(a, b, 3)", "np.interp(a, b, c, period=0)", "np.interp(a * 1j, b, c)", "np.interp(a, b, c, 1j)",
     "np.interp(a, b, c, a)", "np.interp(a, b[None], c, period=2)"],
)  # fmt: skip
def test_lines_as_numpy_refuses(text: str) -> None:
    agree(text, X, XP, FP)


def test_bins() -> None:
    agree(
        [
            "np.digitize(a, b)", "np.digitize(a, b[::-1])", "np.digitize(a, b, right=True)", "np.digitize(a, b[::-1], True)",
            "np.digitize(a, [0, 1, 1, 2])", "np.digitize(a, [2, 1.5])", "np.digitize(3, b)", "np.digitize(a[0, 1], b)",
            "np.digitize(a, b[:1])", "np.digitize(a, b[:0])", "np.digitize(a.astype('i4'), b.astype('i2'))",
            "np.digitize(a, [1, 1, 1])", "np.digitize([1, 2], b)", "np.digitize(a, [1, 2, np.nan])",
        ],
        X, XP,
    )  # fmt: skip


@pytest.mark.parametrize(
    "text",
    ["np.digitize(a, c)", "np.digitize(a * 1j, b)", "np.digitize(a, b * 1j)", "np.digitize(a, b[None])", "np.digitize(a, 3)",
     "np.digitize(a, [np.nan, 1, 2])"],
)  # fmt: skip
def test_bins_as_numpy_has_them(text: str) -> None:
    agree(text, X, XP, FP)


def test_integrals() -> None:
    # Sums have an order of their own.
    agree(
        [
            "np.trapezoid(c)", "np.trapezoid(c, b)", "np.trapezoid(d, axis=0)", "np.trapezoid(d, dx=0.5)", "np.trapezoid(d, d)",
            "np.trapezoid(d.astype('i1'))", "np.trapezoid(np.arange(12).reshape(3, 4), [1, 2, 4], axis=0)",
            "np.trapezoid(d, b[:4])",
            "np.trapezoid(c.astype('f4'), b.astype('f4'))", "np.trapezoid(c[:1])", "np.trapezoid(c[:0])",
            "np.trapezoid(c + 1j, b)",
            "np.trapezoid(d, dx=d[:, 1:])", "np.trapezoid([1, 2, 3])",
        ],
        X, XP, FP, np.arange(12.0).reshape(3, 4), ulp=16,
    )  # fmt: skip


@pytest.mark.parametrize("text", ["np.trapezoid(a, b[1:])", "np.trapezoid(a, axis=2)", "np.trapezoid(3.0)"])
def test_integrals_as_numpy_refuses(text: str) -> None:
    agree(text, FP, XP)


def test_cubins() -> None:
    builds(lambda x, xp, fp: (np.interp(x, xp, fp), np.digitize(x, xp), np.trapezoid(fp, xp)), X, XP, FP)
