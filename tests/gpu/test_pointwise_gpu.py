"""Kernels whose threads compute several elements, on a GPU: tails, misaligned arrays, rows, strides.

Run with ``pytest -m gpu``.
"""

from __future__ import annotations

import numpy as np
import pytest
from test_pointwise import heat, masked, outer, twice

import pytocu
from pytocu.ir.types import ALL_DTYPES, BOOL, C64, C128, F16, F32, F64, I8, U8, DType
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


def moving(x):
    return (x[:-4] + x[1:-3] + x[2:-2] + x[3:-1] + x[4:]) / 5


def far(x):
    return x[:-1001] + x[1000:-1] + x[1001:]


def gray(image):
    red, green, blue = image[..., 0], image[..., 1], image[..., 2]
    return (red * np.float32(0.299) + green * np.float32(0.587) + blue * np.float32(0.114)).astype(np.uint8)


def unit(v):
    x, y, z = v[:, 0], v[:, 1], v[:, 2]
    return v / np.sqrt(x * x + y * y + z * z)[:, np.newaxis]


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


@pytest.mark.parametrize("n", [1004, 1005, 2047, 2052, 4101, 100_003, 100_004])
def test_windows(n: int):
    for dtype in (F32, F16, F64, C64, I8):
        check(far, numbers(dtype, n))
    check(moving, numbers(F32, n))


@pytest.mark.parametrize("shift", range(1, 5))
def test_windows_and_rows_that_begin_anywhere(shift: int):
    cupy = pytest.importorskip("cupy")
    for function, whole in ((moving, numbers(F32, 9003)), (gray, numbers(U8, 3002, 3)), (unit, numbers(F32, 3002, 3) + 1)):
        x = whole.reshape(-1)[shift:][: 9000 - 3 * shift].reshape(-1, *whole.shape[1:])
        on_device = cupy.asarray(whole).reshape(-1)[shift:][: 9000 - 3 * shift].reshape(x.shape)
        compare(pytocu.jit(function)(on_device).get(), function(x))


@pytest.mark.parametrize("n", [1, 3, 4, 31, 1000, 70_001])
def test_rows_that_lie_side_by_side(n: int):
    for dtype in (F16, F32, F64):
        check(unit, numbers(dtype, n, 3) + dtype.numpy.type(1))
    check(gray, numbers(U8, n, 5, 3))
    check(gray, numbers(F32, n, 5, 3))


@pytest.mark.parametrize("shape", [(3, 3), (6, 3), (7, 40), (130, 33), (1000, 999), (70_001, 5)])
def test_stencils_and_broadcasts(shape: tuple[int, int]):
    check(heat, numbers(F32, *shape))
    check(outer, numbers(F32, shape[0]), numbers(F32, shape[1]))


def test_more_rows_than_a_grid_has():
    """The grid has 65,535 rows of blocks; each thread then goes round more than once."""
    check(outer, numbers(I8, 2_200_000), numbers(I8, 33))


def transposed(x):
    return x + x.T


@pytest.mark.parametrize("n", [1, 4, 33, 257, 1000])
def test_transposes(n: int):
    for dtype in (I8, F32, C128):
        check(transposed, numbers(dtype, n, n))
    check(permuted, numbers(F32, n, 3, 7))


@pytest.mark.parametrize("shape", [(32, 32), (64, 96), (33, 31), (100, 1000), (1, 5), (2048, 40)])
def test_tiles(shape: tuple[int, int]):
    for dtype in ALL_DTYPES:
        x, y = numbers(dtype, *shape), numbers(dtype, *shape[::-1])
        check(lambda x, y: np.where(y == x.T, y, x.T), x, y)
    for axes, lengths in (((0, 2, 1), (3, *shape)), ((2, 1, 0), (shape[0], 3, shape[1]))):
        check(lambda x: (np.transpose(x, axes) * 2).copy(), numbers(F32, *lengths))
        # In the order of the operand, where nothing crosses.
        check(lambda x: np.transpose(x, axes) * 2, numbers(F32, *lengths))


@pytest.mark.parametrize("shape", [(3, 8), (64, 128), (130, 1024), (7, 4), (9, 33)])
def test_rows_of_vectors(shape: tuple[int, int]):
    for dtype in (I8, F16, F32, F64, C64):
        x, bias, scale = numbers(dtype, *shape), numbers(dtype, shape[1]), numbers(dtype, shape[0])
        check(lambda x, bias, scale: (x + bias) * scale[:, np.newaxis], x, bias, scale)


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
