"""Reductions of vectors with few components: one of each, in one kernel; and what is computed for pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mask_tools import everywhere

import pytocu

RANDOM = np.random.default_rng(3)


def pull(position: np.ndarray, mass: np.ndarray) -> Any:
    gap = position[np.newaxis, :, :] - position[:, np.newaxis, :]
    square = (gap * gap).sum(axis=2) + 1e-2
    return (gap * (mass / (square * np.sqrt(square)))[:, :, np.newaxis]).sum(axis=1)


def farthest(x: np.ndarray, w: np.ndarray) -> Any:
    """Another reduction, the components in front, and one axis of two that is reduced."""
    return (x * np.exp(w)[np.newaxis]).max(axis=2), np.abs(x / np.sqrt(w)).argmin(axis=1)


def alone(x: np.ndarray) -> Any:
    """Numbers of all elements stay one reduction."""
    return (x * np.sqrt((x * x).sum(axis=1))[:, np.newaxis]).sum(axis=0)


POINTS, MASS = RANDOM.normal(size=(9, 3)), RANDOM.random(9)
PLANES = RANDOM.normal(size=(2, 5, 7))
CASES: list[tuple[Callable[..., Any], tuple[Any, ...], float]] = [
    (pull, (POINTS, MASS), 16),
    (pull, (np.float32(POINTS[:, :2]), np.float32(MASS)), 16),
    (pull, (POINTS[:0], MASS[:0]), 0),
    (pull, (POINTS[:1], MASS[:1]), 16),
    (pull, (RANDOM.normal(size=(5, 6)), MASS[:5]), 16),
    (farthest, (PLANES, np.abs(PLANES[0])), 4),
    (alone, (POINTS,), 4),
]


@pytest.mark.parametrize(("function", "arguments", "ulp"), CASES, ids=lambda v: getattr(v, "__name__", ""))
def test_the_same_as_numpy(function: Callable[..., Any], arguments: tuple[Any, ...], ulp: float) -> None:
    everywhere(function, *arguments, ulp=ulp)


@pytest.mark.parametrize("target", ["cpu", "cuda:sm_90"])
def test_forces_of_all_pairs_are_one_kernel(target: str) -> None:
    """The root is taken once for all components, and nothing is stored for every pair."""
    low = pytocu.jit(pull).lower(POINTS, MASS)
    kernels = low.compile(target).kernels
    assert len(kernels) == 2
    assert kernels[0].ir.count(" divide %") == kernels[0].ir.count(" sqrt %")
    assert all("9, 9" not in text and "f64[n, n]" not in text for kernel in kernels for text in kernel.writes)
    assert len(kernels[0].writes) == 3


def test_more_components_are_not_taken_apart() -> None:
    low = pytocu.jit(pull).lower(RANDOM.normal(size=(9, 5)), MASS)
    assert "concatenate" not in low.ir("components")
    assert "concatenate" in pytocu.jit(pull).lower("f64[n, 3]", "f64[n]").ir("components")
    # Without a root or a division the product is computed where it is read.
    cheap = pytocu.jit(lambda x, y: (x[:, :, None] * y).sum(axis=1))
    assert "concatenate" not in cheap.lower("f64[n, m]", "f64[n, m, 3]").ir("components")


def test_what_is_paired_with_itself_is_computed_once() -> None:
    def gaps(x: np.ndarray, v: np.ndarray) -> Any:
        new = (x + 0.5 * v) * (1 - v)
        return np.abs(new[:, np.newaxis] - new).sum(axis=1)

    everywhere(gaps, POINTS[:, 0].copy(), MASS, ulp=4)
    kernels = pytocu.jit(gaps).lower("f64[n]", "f64[n]").compile("cpu").kernels
    assert len(kernels) == 2 and kernels[1].reads == ("new: f64[n]",)
    cheap = pytocu.jit(lambda x: np.abs((x + 1)[:, np.newaxis] - (x + 1)).sum(axis=1))
    assert len(cheap.lower("f64[n]").kernels) == 1


def test_what_others_need_too_is_stored_and_read() -> None:
    def both(x: np.ndarray, w: np.ndarray, y: np.ndarray) -> Any:
        hidden = np.tanh(x @ w)
        return (hidden[:, :, np.newaxis] * y).sum(axis=1), hidden.sum(axis=0)

    x, w, y = RANDOM.normal(size=(6, 2)), RANDOM.normal(size=(2, 9)), RANDOM.normal(size=(6, 9, 3))
    everywhere(both, x, w, y, ulp=16)
    low = pytocu.jit(both).lower(x, w, y)
    assert "concatenate" not in low.ir("components")
    assert low.ir("bufferize").count(" tanh ") == 1
