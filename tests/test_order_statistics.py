"""Medians and quantiles along axes, by every method, with NaN and without."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from function_tools import agree, refused
from mask_tools import builds

from pytocu.errors import UnsupportedError
from pytocu.testing.cases import call_jit
from pytocu.testing.operands import make_function

RANDOM = np.random.default_rng(2)
A = RANDOM.random((5, 6))
B = A.copy()
B[1, 2] = B[3] = np.nan
C = RANDOM.integers(-50, 50, (5, 6)).astype("i2")
Q = np.array([0.1, 0.5, 1.0])


def test_medians() -> None:
    agree(
        [
            "np.median(a)", "np.median(a, axis=0)", "np.median(a, 1)", "np.median(b, axis=1)", "np.median(b)",
            "np.median(c, axis=(0, 1))", "np.median(c, axis=[1])", "np.median(c, 0, keepdims=True)",
            "np.median(c, (1, 0), keepdims=True)",
            "np.median(a.astype('f2'), axis=1)", "np.median(a.astype('f4')[:, :5], 1)", "np.median(c > 0, 0)", "np.median(3)",
            "np.median(np.zeros(3) * -1)", "np.median([1, 5, 2])", "np.median(a * 2, overwrite_input=True)",
        ],
        A, B, C,
    )  # fmt: skip


def test_medians_of_nothing() -> None:
    agree(["np.median(a[:0])", "np.median(a[:0], axis=0)", "np.median(a[:, :0], axis=0)", "np.median(b[:0, 0])"], A, C)


def test_medians_without_nan() -> None:
    agree(
        ["np.nanmedian(a)", "np.nanmedian(a, axis=1)", "np.nanmedian(a, 0)", "np.nanmedian(b, 0)", "np.nanmedian(a[3])",
         "np.nanmedian(a[1:2].astype('f4'), axis=-1, keepdims=True)"],
        B, C,
    )  # fmt: skip


METHODS = ("inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull",
           "linear", "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint", "nearest")  # fmt: skip


@pytest.mark.parametrize("method", METHODS)
def test_quantiles_by_every_method(method: str) -> None:
    agree(
        [
            f"np.quantile(a, [0.0, 0.1, 0.25, 0.5, 0.77, 1.0], axis=1, method='{method}')",
            f"np.percentile(c, 35, axis=0, method='{method}')", f"np.quantile(b, d, axis=1, method='{method}')",
            f"np.nanquantile(b, [0.2, 0.3], 1, method='{method}')",
        ],
        A, B, C, Q,
    )  # fmt: skip


QUANTILES = (
    "np.percentile(a, 30)", "np.percentile(a, [5, 50, 95.0])", "np.percentile(a, [10, 20], axis=1)",
    "np.percentile(c, [33, 50], axis=0, keepdims=True)", "np.percentile(a.astype('f4'), 33.3, axis=0)",
    "np.percentile(a.astype('f2'), 33.3, axis=0)", "np.percentile(a.astype('f4'), [33.3], axis=0)", "np.percentile(3, 50)",
    "np.percentile(a, d * 100, axis=0)", "np.quantile(a, d, axis=[0, 1])", "np.quantile(a, 0)", "np.quantile(a, 1, axis=0)",
    "np.quantile(a, [0, 1])", "np.quantile(b, 0.25, axis=0)", "np.quantile(a, d[0], 0)", "np.quantile(a, [[0.1, 0.2]], axis=1)",
    "np.quantile(c.astype('i1'), 0.3, axis=0)", "np.quantile(np.where(a > 0.9, np.inf, a), [0.5, 1.0])",
)  # fmt: skip


@pytest.mark.parametrize("start", range(0, len(QUANTILES), 6))
def test_quantiles(start: int) -> None:
    agree(QUANTILES[start : start + 6], A, B, C, Q)


def test_quantiles_without_nan() -> None:
    agree(
        ["np.nanpercentile(a, 30)", "np.nanpercentile(a, [30, 60], axis=1)", "np.nanquantile(a, b, axis=0)",
         "np.nanquantile(a, 0.3, 1, keepdims=True)", "np.nanquantile(a.astype('f4'), 0.3, 1)", "np.nanquantile(a[3], 0.5)"],
        B, Q,
    )  # fmt: skip
    agree("np.nanquantile(a, 0.3, 1)", C)


@pytest.mark.parametrize(
    "text",
    ["np.median(a, 2)", "np.percentile(a, 101)", "np.quantile(a, d - 1)", "np.quantile(c > 0, 0.3)", "np.quantile(a * 1j, 0.3)",
     "np.quantile(a, 0.3, method='x')", "np.quantile(a[:0], 0.3)", "np.quantile(a, 0.5, axis=3)", "np.quantile(a, [1, 2])"],
)  # fmt: skip
def test_as_numpy_refuses(text: str) -> None:
    agree(text, A, B, C, Q)


def test_refused() -> None:
    refused("np.quantile(a, 0.5, weights=b, method='inverted_cdf', axis=0)", "the argument weights=", A, np.ones(5))
    shares = np.array([[0, 0.5], [0.25, 1]])
    refused("np.nanquantile(a, b, axis=(0, 1))", "NumPy confuses the result's axes", np.ones((2, 3, 4)), shares)


def scaled(x: np.ndarray) -> Any:
    middle = np.median(x, axis=1, keepdims=True)
    return (x - middle) / (np.percentile(x, 75, axis=1) - np.percentile(x, 25, axis=1))[:, None]


def test_in_expressions() -> None:
    from mask_tools import everywhere

    everywhere(scaled, A)
    builds(scaled, A)
    builds(lambda x, q: (np.nanquantile(x, q, axis=0), np.nanmedian(x)), B, Q)


def test_shares_of_nothing_without_nan() -> None:
    """NumPy's result is a mean of nothing, without the axes of the shares."""
    agree(
        ["np.nanpercentile(a[:0], [5, 50])", "np.nanquantile(a[:0], [0.5], axis=0)", "np.nanquantile([], 0.5)",
         "np.nanquantile(a[:, :0], [], axis=1, keepdims=True)"],
        A,
    )  # fmt: skip
    with pytest.raises(UnsupportedError, match=r"np\.nanquantile of an array without elements and several shares"):
        call_jit(make_function("a", ["np.nanquantile(a, [0.5])"], {"np": np}), A[0, :0])
