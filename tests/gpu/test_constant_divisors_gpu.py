"""Integers divided by constants, and positions taken apart by lengths that are known, on a real GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.testing.compare import compare

pytestmark = pytest.mark.gpu

FUNCTIONS = [
    lambda x: (x // 3, x % 3, x // 8, x % 8),
    lambda x: (x // 7, x % 7, x // 11, x % 11),
    lambda x: (x // 100, x % 100, x // 64, x % 64),
    lambda x: divmod(x, 113),
]


@pytest.mark.parametrize("backend", ["cuda_c", "nvvm"])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64])
@pytest.mark.parametrize("number", range(len(FUNCTIONS)))
def test_division(cupy: Any, number: int, dtype: Any, backend: str) -> None:
    limits = np.iinfo(dtype)
    random = np.random.default_rng(number).integers(limits.min, limits.max, 2000, dtype, endpoint=True)
    ends = [limits.min, limits.min + 1, limits.max - 1, limits.max, *range(max(limits.min, -20), 20)]
    x = np.concatenate([random, np.array(ends, dtype)])
    function = FUNCTIONS[number]
    for found, expected in zip(pytocu.jit(function, backend=backend)(cupy.asarray(x)), function(x), strict=True):
        compare(cupy.asnumpy(found), expected)


@pytest.mark.parametrize("backend", ["cuda_c", "nvvm"])
@pytest.mark.parametrize("shape", [(5, 3), (4097, 3), (33, 7), (9, 5, 6), (17, 8), (2, 3, 5, 7), (1, 3), (0, 3)], ids=str)
def test_positions(cupy: Any, shape: tuple[int, ...], backend: str) -> None:
    x = np.random.default_rng(4).random(shape, np.float32)
    rows = np.arange(shape[0], dtype=np.float32)

    def moved(x, rows):
        weighted = x * rows.reshape(-1, *[1] * (x.ndim - 1)) + x[..., :1]
        return weighted[::-1, ..., ::-1] + x, np.roll(weighted, 2, axis=-1) - x[..., -1:]

    for last in (x, np.ascontiguousarray(x[..., ::-1])[..., ::-1]):
        found = pytocu.jit(moved, backend=backend)(cupy.asarray(last), cupy.asarray(rows))
        for mine, expected in zip(found, moved(last, rows), strict=True):
            compare(cupy.asnumpy(mine), expected)
