"""Kernels whose threads compute several elements, on a GPU: tails, misaligned arrays, rows, strides.

Run with ``pytest -m gpu``.
"""

from __future__ import annotations

import numpy as np
import pytest
from test_pointwise import heat, masked, outer, transposed, twice

import pytocu
from pytocu.ir.types import ALL_DTYPES, BOOL, C128, F32, I8, DType
from pytocu.runtime import device_array
from pytocu.testing.compare import compare

pytestmark = pytest.mark.gpu


def numbers(dtype: DType, *shape: int) -> np.ndarray:
    values = ((np.arange(int(np.prod(shape))) * 7 + 1) % 51).reshape(shape)
    return values % 3 == 1 if dtype.kind == "b" else (values * (1 + 2j) if dtype.kind == "c" else values).astype(dtype.numpy)


def permuted(x):
    return np.transpose(x, (2, 0, 1)) * 2


def differences(x):
    return x[::2] - x[1::2]


def interior(x, y):
    x[1:-1] = x[1:-1] + y[1:-1]
    return x


def on_gpu(function, *arrays):
    """The results of a call with arrays on the device, as NumPy arrays."""
    moved = [device_array.to_device(a, 0) for a in arrays]
    results = pytocu.jit(function)(*moved)
    results = results if isinstance(results, tuple) else (results,)
    return [r.copy_to_host() for r in results]


def check(function, *arrays):
    expected = function(*(a.copy() for a in arrays))
    expected = expected if isinstance(expected, tuple) else (expected,)
    for result, wanted in zip(on_gpu(function, *arrays), expected, strict=True):
        compare(np.ascontiguousarray(result), np.ascontiguousarray(wanted))


@pytest.mark.parametrize("dtype", ALL_DTYPES, ids=str)
def test_every_dtype_and_tail(dtype: DType):
    for n in (*range(35), 1000, 4096, 100_003):
        check(twice, numbers(dtype, n), numbers(F32, n))


@pytest.mark.parametrize("shift", range(1, 5))
def test_misaligned_arrays(shift: int, cupy):
    for dtype in (np.float32, np.uint8, np.float16, np.complex64):
        whole = np.arange(1003).astype(dtype)
        x = cupy.asarray(whole)[shift:]
        doubled, same = pytocu.jit(twice)(x, cupy.asarray(whole)[:-shift])
        compare(doubled.get(), whole[shift:] + whole[shift:])
        compare(same.get(), whole[:-shift])


@pytest.mark.parametrize("n", [1, 2, 5, 64, 1001])
def test_a_small_last_axis(n: int):
    check(masked, numbers(F32, n, 3), numbers(BOOL, n))


@pytest.mark.parametrize("shape", [(3, 3), (6, 3), (7, 40), (130, 33), (1000, 999), (70_001, 5)])
def test_stencils_and_broadcasts(shape: tuple[int, int]):
    check(heat, numbers(F32, *shape))
    check(outer, numbers(F32, shape[0]), numbers(F32, shape[1]))


def test_more_rows_than_a_grid_has():
    """The grid has 65,535 rows of blocks; each thread then goes round more than once."""
    check(outer, numbers(I8, 2_200_000), numbers(I8, 33))


@pytest.mark.parametrize("n", [1, 4, 33, 257, 1000])
def test_transposes(n: int):
    for dtype in (I8, F32, C128):
        check(transposed, numbers(dtype, n, n))
    check(permuted, numbers(F32, n, 3, 7))


@pytest.mark.parametrize("n", [2, 100, 2048, 2050, 70_000])
def test_elements_a_block_apart(n: int):
    check(differences, numbers(F32, n))
    check(interior, numbers(F32, n), numbers(F32, n))


def test_arrays_of_libraries_on_a_grid_of_rows(torch, cupy):
    jitted = pytocu.jit(heat)
    x = numbers(F32, 100, 77)
    for _ in range(3):
        compare(jitted(cupy.asarray(x)).get(), heat(x))
        compare(jitted(torch.from_numpy(x).cuda()).cpu().numpy(), heat(x))
