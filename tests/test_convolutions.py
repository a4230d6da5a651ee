"""``convolve``, ``correlate``, ``polyval``; ``cov`` and ``corrcoef``.  Sums of floats have an order of their own."""

from __future__ import annotations

import numpy as np
import pytest
from function_tools import agree, refused
from mask_tools import builds

RANDOM = np.random.default_rng(3)
SMALL = np.array([1, 3, 2, 0])
LONG = RANDOM.integers(-9, 9, 40)
FLOATS = np.array([1, np.inf, 2, -0.5])
TABLE = RANDOM.random((3, 7))
COUNTS = RANDOM.integers(1, 4, 7)


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_integers_are_exact(mode: str) -> None:
    texts = [f"np.{name}({pair}, '{mode}')" for name in ("convolve", "correlate") for pair in ("a, b", "b, a", "a, a",
    "a, b[:4]")]
    texts += [f"np.{name}({pair}, mode='{mode}')" for name in ("convolve", "correlate")
              for pair in ("a, [1, 0, -1]", "[2, 1], a", "a[:1], [1, 2, 1]", "b, [1, 2, 3, 4]")]  # fmt: skip
    agree(texts, SMALL, LONG)


def test_other_dtypes() -> None:
    agree(
        [
            "np.convolve(a > 1, [True, False, True], 'same')", "np.convolve(a > 1, a > 1)", "np.convolve(a, 1j * a[:2])",
            "np.convolve(a.astype('f2'), [0.5, 1])", "np.convolve(a.astype('u1'), a[:2].astype('u1') * 200)",
            "np.convolve(a, 3)",
            "np.correlate(a, a * 1j, 'full')", "np.convolve(a, a, 's')",
        ],
        SMALL,
    )  # fmt: skip


def test_infinities_stay_where_they_are() -> None:
    agree(["np.convolve(a, [0, 1, 0])", "np.convolve(a, [1, 0, 0], 'same')", "np.convolve(a, a)",
           "np.correlate(a, b[:2], 'full')"],
          FLOATS, FLOATS[::-1].copy())  # fmt: skip


def test_sums_of_floats() -> None:
    agree(["np.convolve(a, b)", "np.convolve(a, [0.25, 0.5, 0.25], 'same')", "np.correlate(b, a, 'valid')"],
          RANDOM.random(50), RANDOM.random(30), ulp=64)  # fmt: skip


@pytest.mark.parametrize(
    "text",
    ["np.convolve(a[:0], a)", "np.convolve(a, a[:0])", "np.convolve(a[None], a)", "np.convolve(a, a, 'x')",
     "np.correlate(a[:0], a)",
     "np.correlate(a, a[:0])", "np.correlate(3, a)", "np.correlate(a[None], a)"],
)  # fmt: skip
def test_as_numpy_refuses(text: str) -> None:
    agree(text, SMALL)


def test_values_of_polynomials() -> None:
    agree(
        [
            "np.polyval([1, 2, 3], a)", "np.polyval((1.5, b[0]), a)", "np.polyval(np.array([1, 2.0]), a.astype('f4'))",
            "np.polyval([3], a)", "np.polyval([1, 2], 3)", "np.polyval([], a)", "np.polyval([1, 2], b[0])",
        ],
        SMALL, FLOATS,
    )  # fmt: skip
    agree("np.polyval(3, a)", SMALL)
    texts = ["np.polyval(a, b)", "np.polyval(a, 2)", "np.polyval(a, 2.5)", "np.polyval(a, np.int8(3))", "np.polyval(a, b > 0)"]
    for coefficients in (SMALL, FLOATS, SMALL > 1, SMALL[:1].astype("i2"), SMALL.astype("f4"), SMALL * 1j):
        agree(texts, coefficients, SMALL.astype("f4"))
    agree("np.polyval(a, b)", FLOATS[:0], FLOATS)
    agree("np.polyval(a, b.T) + 1", SMALL, TABLE)
    refused("np.polyval(a, 2)", "NumPy's result is an array without axes", FLOATS[:0])


COVARIANCES = (
    "np.cov(a)", "np.cov(a, rowvar=False)", "np.cov(a[0], a[1])", "np.cov(a[0])", "np.cov(a, a[0])", "np.cov(a, bias=True)",
    "np.cov(a, bias=None)",
    "np.cov(a, ddof=0)", "np.cov(a, ddof=9)", "np.cov(a, fweights=b)", "np.cov(a, aweights=c)", "np.cov(a, fweights=b, ddof=0)",
    "np.cov(a, fweights=b, aweights=c)", "np.cov(a.astype('f4'), dtype='f4')", "np.cov(a + 1j * a[::-1]).real", "np.cov(b)",
    "np.cov(a[:0])", "np.corrcoef(a)", "np.corrcoef(a[0], a[1])", "np.corrcoef(a[0])", "np.corrcoef(a, rowvar=False)",
    "np.corrcoef(a + 1j * a[::-1]).real", "np.corrcoef(b, c)",
    # On some CPUs NumPy has no zeros on the diagonal.
    "np.round(np.cov(a + 1j * a[::-1]).imag, 12) + 0", "np.round(np.corrcoef(a + 1j * a[::-1]).imag, 12) + 0",
)  # fmt: skip


@pytest.mark.parametrize("start", range(0, len(COVARIANCES), 8))
def test_covariances(start: int) -> None:
    agree(COVARIANCES[start : start + 8], TABLE, COUNTS, RANDOM.random(7), ulp=64)


@pytest.mark.parametrize(
    "text",
    ["np.cov(a, ddof=0.5)", "np.cov(a, ddof='x')", "np.cov(a[None])", "np.cov(a, fweights=b - 3)",
     "np.cov(a, fweights=b * 0.5)", "np.cov(a, aweights=a)", "np.cov(a, a[None])"],
)  # fmt: skip
def test_covariances_as_numpy_refuses(text: str) -> None:
    agree(text, TABLE, COUNTS)


def test_cubins() -> None:
    builds(lambda x, k: (np.convolve(x, k, "same"), np.correlate(x, [1, 2, 1]), np.cov(x)), FLOATS, FLOATS[:2])
