"""Short integers at their ends, whose results wrap, in wider arithmetic behind them, and bits of float16 numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from short_tools import FUNCTIONS

import pytocu
from pytocu.testing.compare import compare

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("backend", ["cuda_c", "nvvm"])
@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32])
def test_the_least_integer(cupy: Any, name: str, backend: str, dtype: Any) -> None:
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    x = np.array([least, least + 1, -1, 0, 1, most, least] * 5, dtype)
    compiled = pytocu.jit(FUNCTIONS[name], backend=backend)
    made = cupy.asnumpy(compiled(cupy.asarray(x)))
    expected = FUNCTIONS[name](x)
    compare(np.asarray(made), np.asarray(expected))


MASKED = {
    "magnitudes": lambda x: np.abs(np.trunc(x[::2])),
    "of a view": lambda x: np.abs(np.conjugate(x[-2:0:-1])),
    "of another dtype": lambda x: np.abs((x[::2].astype(np.float32) * 3).astype(np.float16)),
    "signs": lambda x: np.rint(x[::2]).view(np.uint16) & np.uint16(0x8000),
    "bits": lambda x: np.rint(x[::2]).view(np.uint16) & 0xFFF,
    "remainders": lambda x: np.rint(x[::2]).view(np.uint16) % np.uint16(256),
}


@pytest.mark.parametrize("backend", ["cuda_c", "nvvm"])
@pytest.mark.parametrize("name", MASKED)
def test_constant_masks_of_rounded_halves(cupy: Any, name: str, backend: str) -> None:
    x = np.linspace(-70, 70, 1000).astype(np.float16)
    made = cupy.asnumpy(pytocu.jit(MASKED[name], backend=backend)(cupy.asarray(x)))
    compare(made, MASKED[name](x))
