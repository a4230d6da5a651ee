"""Negated integers in minima and maxima, on a real GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from negation_tools import FUNCTIONS, MAGNITUDES, magnitudes

import pytocu
from pytocu.testing.compare import compare

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("backend", ["cuda_c", "nvvm"])
@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.uint32, np.int64])
@pytest.mark.parametrize("shape", [(2, 3), (40, 3), (7, 7), (3, 300), (1, 3)])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_largest_of_negations(cupy: Any, name: str, shape: tuple[int, int], dtype: Any, backend: str) -> None:
    x = np.random.default_rng(3).integers(0 if dtype == np.uint32 else -9, 9, shape).astype(dtype)
    if name == "times -1" and dtype == np.uint32:
        pytest.skip("no uint32")
    # Of all elements, a device has an array without axes.
    expected = np.asarray(FUNCTIONS[name](x))
    compare(cupy.asnumpy(pytocu.jit(FUNCTIONS[name], backend=backend)(cupy.asarray(x))), expected)


@pytest.mark.parametrize("backend", ["cuda_c", "nvvm"])
@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64])
@pytest.mark.parametrize("name", MAGNITUDES)
def test_the_smallest_integer_has_no_magnitude(cupy: Any, name: str, dtype: Any, backend: str) -> None:
    given = magnitudes(dtype)
    with np.errstate(all="ignore"):
        expected = MAGNITUDES[name](*given)
    compare(cupy.asnumpy(pytocu.jit(MAGNITUDES[name], backend=backend)(*map(cupy.asarray, given))), expected)
