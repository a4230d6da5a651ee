"""Loops over positions (``np.ndindex``, ``np.ndenumerate``) and indices as values (``np.s_``, ``np.index_exp``)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from edge_tools import check, refused

import pytocu
from pytocu.testing.compare import compare


def shifted(x: Any) -> Any:
    out = np.zeros_like(x)
    for i, j in np.ndindex(x.shape):
        out[i, j] = x[i, j] * 2 + i - j
    return out


def weighted(x: Any) -> Any:
    total = 0.0
    for (i, j), value in np.ndenumerate(x):
        total += value * i - j
    return total


def whole_keys(x: Any) -> Any:
    total = x.dtype.type(0)
    for key in np.ndindex(*x.shape):
        total = total + x[key]
    return total


def parts(x: Any) -> Any:
    out = np.zeros(x.shape[0])
    for (k,) in np.ndindex(x.shape[0]):
        out[k] = x[k].max(initial=0)
    return out


def changed(x: Any) -> Any:
    for i, j in np.ndindex(x.shape):
        if i > 0 and j > 0:
            x[i, j] += x[i - 1, j - 1]
    return x


@pytest.mark.parametrize("shape", [(2, 3), (3, 2), (1, 4), (5, 1), (0, 3), (3, 0), (7, 11)])
@pytest.mark.parametrize("function", [shifted, weighted, whole_keys, parts, changed])
def test_positions_of_every_shape(function: Any, shape: tuple[int, int]) -> None:
    if function in (weighted, whole_keys) and 0 in shape:
        # Without a step the number stays Python's, or the array's.
        shape = (1, 1)
    x = np.random.default_rng(0).integers(-9, 9, shape).astype(np.float64)
    compare(pytocu.jit(function)(x.copy()), function(x.copy()), exact=True)


def test_three_axes_in_transposed_memory() -> None:
    def summed(x):
        out = np.zeros(x.shape[:2], x.dtype)
        for i, j in np.ndindex(x.shape[:2]):
            for k in range(x.shape[2]):
                out[i, j] += x[i, j, k] * k
        return out

    x = np.arange(24).reshape(4, 3, 2).T
    compare(pytocu.jit(summed)(x), summed(x), exact=True)


def test_known_positions() -> None:
    bodies = (
        "list(np.ndindex(2, 2))", "list(np.ndindex((2, 1)))", "[k for k in np.ndindex(())]", "[k for k in np.ndindex(0, 2)]",
        "list(np.ndindex())", "[i + j for i, j in np.ndindex(2, 3)]", "np.ndindex(-1)", "np.ndindex(1.5)",
    )  # fmt: skip
    check(["np.arange(6.).reshape(2, 3)"], [*bodies, "for k in np.ndindex(2, 3):\n    a[k] += 1\nreturn a"])


def test_indices_as_values() -> None:
    bodies = (
        "a[np.s_[1:, 0]]", "a[np.s_[..., 1]]", "a[np.index_exp[1]]", "a[np.index_exp[:, ::2]]", "a[np.s_[b:]]", "a[np.s_[0]]",
    )  # fmt: skip
    check(["np.arange(6.).reshape(2, 3)", "1"], [f"np.copy({body})" for body in bodies])
    check(["np.arange(6.).reshape(2, 3)"], ["k = np.s_[0, 1:]\na[k] = 7\nreturn a", "k = np.s_[:1]\na[k] += a[k]\nreturn a"])


def test_the_smallest_dtype() -> None:
    check(["np.ones(3, 'f4')"], ["str(np.min_scalar_type(a))", "str(np.min_scalar_type(300))"])
    refused(["np.array(3)"], "np.min_scalar_type(a)", "depends on its value", "x.dtype")
