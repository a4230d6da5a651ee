"""Rolls in code for a CPU: along outer axes they are views, and each further roll does not double the code."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mask_tools import everywhere

import pytocu

RANDOM = np.random.default_rng(3)


def laplacian(z):
    return np.roll(z, 1, 0) + np.roll(z, -1, 0) + np.roll(z, 1, 1) + np.roll(z, -1, 1) - 4 * z


def corners(z):
    up, down = np.roll(z, 1, 0), np.roll(z, -1, 0)
    return np.roll(up, 1, 1) + np.roll(up, -1, 1) + np.roll(down, (1, 2), (0, 1)) + np.roll(np.roll(z, 1, 0), 2, 0)


def of_what_is_computed(z):
    y = np.sqrt(np.abs(z)) + z.T.sum()
    return np.roll(y, 2, 0) - y, np.roll(y.T, 1, 0), np.roll(y, 1, 0).sum(0), np.roll(y, 1, 0).sum(1), np.roll(y, 1, 0).sum()


def alone(z):
    r = np.roll(z, 1, 0)
    r[0] = 5
    return r, np.roll(z, -3, 0), z


def along_the_middle(z):
    y = np.stack([z, z + 1, 2 * z])
    return np.roll(y, 1, 1) + np.roll(y, 1, 0) * np.roll(y, -1, 2), np.roll(y, 1, (0, 1)).transpose(2, 0, 1)[::2]


def steps(z, n):
    for _ in range(n):
        z = z + 0.1 * laplacian(z)
    return z


def by_run_time(z, n):
    return np.roll(z, n, 0) + np.roll(z, len(z) // 2, 0)


def joined_otherwise(z):
    n = z.shape[0]
    a, b = z[: n // 2], z[n // 2 :]
    return np.concatenate([b, a]), np.concatenate([a, b]), np.concatenate([b, b]), np.concatenate([z[2:], z[:1]]) + z[1:]


SHAPES = [(7, 5), (1, 4), (4, 1), (2, 2), (3, 40), (40, 3)]


@pytest.mark.parametrize("function", [laplacian, corners, of_what_is_computed, alone, along_the_middle])
@pytest.mark.parametrize("shape", SHAPES)
def test_rolls(function: Callable[..., Any], shape: tuple[int, int]) -> None:
    # Sums of these are exact in any order, so that differences of what is computed of one are the same to the bit.
    z = RANDOM.integers(0, 1024, shape) / 1024
    everywhere(function, z, ulp=4 * (function is of_what_is_computed))


def test_no_elements() -> None:
    everywhere(laplacian, np.empty((0, 3)))
    everywhere(laplacian, np.empty((3, 0)))


def test_in_steps_and_by_run_time() -> None:
    z = RANDOM.random((6, 6))
    everywhere(steps, z, 3)
    for n in (0, 1, -4, 13):
        everywhere(by_run_time, z, n)
    everywhere(joined_otherwise, z)


def test_the_code_does_not_grow_with_outer_rolls() -> None:
    text = pytocu.jit(laplacian).lower("f64[n, m]").ir(target="cpu")
    # One loop over rows, and the stretches of a row that two rolls along it make.
    assert text.count("for %") == 1 + 4
    assert " if %" not in text
