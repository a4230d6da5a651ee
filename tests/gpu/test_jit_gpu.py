"""Jitted functions on a real GPU with the arrays of every library.

Run with ``pytest -m gpu``.  A library that is not installed skips its own tests.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import pytocu

pytestmark = pytest.mark.gpu

GAIN = 2.0


@pytocu.jit
def mask_out(points, mask):
    return np.where(mask[:, np.newaxis], np.inf, points)


@pytocu.jit
def several(x, y, s):
    total = x + y * s
    return total, x, x[1:-1].T, total[::2, ::-1], x[0, 0] * 2, s * 2


def points_and_mask(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    return rng.standard_normal((n, 3)).astype(np.float32), rng.random(n) > 0.5


def plain_mask_out(points: np.ndarray, mask: np.ndarray) -> np.ndarray:
    return mask_out.__wrapped__(points, mask)


def same(actual: np.ndarray, expected: Any) -> None:
    expected = np.asarray(expected)
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    assert np.array_equal(actual, expected, equal_nan=actual.dtype.kind == "f")


@pytest.mark.parametrize("n", [0, 1, 5, 1000, 100_003])
def test_cupy_in_and_out(cupy, n):
    points, mask = points_and_mask(n)
    result = mask_out(cupy.asarray(points), cupy.asarray(mask))
    assert isinstance(result, cupy.ndarray)
    same(result.get(), plain_mask_out(points, mask))


def test_grid_covers_a_large_call(cupy):
    n = 2**25
    points = cupy.random.random((n, 3), dtype=cupy.float32)
    mask = points[:, 0] > 0.5
    result = mask_out(points, mask)
    expected = cupy.where(mask[:, None], cupy.float32(np.inf), points)
    assert bool((result == expected).all())


def test_more_elements_than_32_bit_offsets_reach(cupy):
    n = 2**31 + 1000
    x = cupy.arange(n, dtype=cupy.int8)
    plus = pytocu.jit(lambda x: x + 1)
    result = plus(x)
    assert int(result[-1]) == int(x[-1]) + 1 or int(x[-1]) == 127
    assert bool((result[:: 2**20] == x[:: 2**20] + 1).all())
    assert "64 bits" in " ".join(plus.specializations[0].facts)
    small = plus(x[:100])
    assert bool((small == x[:100] + 1).all())


def test_views_and_returned_arguments_belong_to_cupy(cupy):
    x, y = cupy.arange(12.0).reshape(4, 3), cupy.ones((4, 3))
    total, same_x, view, part, scalar, weak = several(x, y, 3)
    assert same_x is x
    assert isinstance(view, cupy.ndarray)
    assert view.data.ptr == x[1:-1].T.data.ptr
    same(view.get(), x.get()[1:-1].T)
    expected = x.get() + y.get() * 3
    same(total.get(), expected)
    same(part.get(), expected[::2, ::-1])
    assert isinstance(scalar, cupy.ndarray)
    assert scalar.shape == ()
    assert float(scalar) == 0.0
    assert weak == 6
    assert type(weak) is int


@pytest.mark.parametrize("layout", ["transposed", "stepped", "reversed", "broadcast", "fortran"])
def test_strided_inputs(cupy, layout):
    base = np.arange(60, dtype=np.float32).reshape(6, 10)
    made = {
        "transposed": lambda a: a.T,
        "stepped": lambda a: a[::2, ::3],
        "reversed": lambda a: a[::-1, ::-1],
        "broadcast": lambda a: a[:1, :],
        "fortran": lambda a: a.copy(order="F"),
    }[layout]
    f = pytocu.jit(lambda x: np.sqrt(x * x + 1))
    same(f(made(cupy.asarray(base))).get(), np.sqrt(made(base) * made(base) + 1))


class Interface:
    """An array that only has the CUDA array interface, and no strides in it."""

    def __init__(self, array: Any):
        self.array = array
        interface = dict(array.__cuda_array_interface__)
        interface.pop("strides", None)
        self.__cuda_array_interface__ = interface


def test_interface_without_strides(cupy):
    points, mask = points_and_mask(1000)
    result = mask_out(Interface(cupy.asarray(points)), Interface(cupy.asarray(mask)))
    assert hasattr(result, "__cuda_array_interface__")
    same(result.copy_to_host(), plain_mask_out(points, mask))
    same(cupy.asarray(result).get(), plain_mask_out(points, mask))


def test_torch_in_and_out(torch):
    points, mask = points_and_mask(1000)
    result = mask_out(torch.from_numpy(points).cuda(), torch.from_numpy(mask).cuda())
    assert isinstance(result, torch.Tensor)
    assert result.is_cuda
    same(result.cpu().numpy(), plain_mask_out(points, mask))
    with pytest.raises(pytocu.UnsupportedError, match="grad"):
        mask_out(torch.zeros((2, 3), device="cuda", requires_grad=True), torch.ones(2, dtype=torch.bool, device="cuda"))


def test_torch_on_the_host(torch):
    points, mask = points_and_mask(1000)
    result = mask_out(torch.from_numpy(points), torch.from_numpy(mask))
    assert isinstance(result, torch.Tensor)
    assert not result.is_cuda
    same(result.numpy(), plain_mask_out(points, mask))


def test_torch_stream(torch):
    x = torch.zeros(1 << 22, device="cuda")
    add = pytocu.jit(lambda x: x + 1)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(50):
            x = add(x)
    stream.synchronize()
    assert bool((x == 50).all())


def test_cupy_stream(cupy):
    add = pytocu.jit(lambda x: x + 1)
    with cupy.cuda.Stream(non_blocking=True) as stream:
        x = cupy.zeros(1 << 22)
        for _ in range(50):
            x = add(x)
        stream.synchronize()
    assert bool((x == 50).all())


def test_numba_in_and_out(numba_cuda):
    points, mask = points_and_mask(1000)
    try:
        arguments = numba_cuda.to_device(points), numba_cuda.to_device(mask)
    except Exception as error:
        pytest.skip(f"this numba-cuda does not work with the installed NumPy: {error}")
    same(mask_out(*arguments).copy_to_host(), plain_mask_out(points, mask))


def test_jax_in_and_out(jax):
    points, mask = points_and_mask(1000)
    arguments = jax.device_put(points), jax.device_put(mask)
    result = mask_out(*arguments)
    assert isinstance(result, jax.Array)
    assert result.devices() == arguments[0].devices() and {d.platform for d in result.devices()} == {"gpu"}
    same(np.asarray(result), plain_mask_out(points, mask))
    same(np.asarray(arguments[0]), points)
    with pytest.raises(pytocu.UnsupportedError, match=r"[Tt]racer"):
        jax.jit(lambda p, m: mask_out(p, m))(*arguments)


def test_numpy_arrays_on_the_device():
    points, mask = points_and_mask(1000)
    on_gpu = pytocu.jit(mask_out.__wrapped__, device="cuda")
    result = on_gpu(points, mask)
    assert type(result) is np.ndarray
    same(result, plain_mask_out(points, mask))
    both = pytocu.jit(several.__wrapped__, device="cuda")
    x, y = np.asfortranarray(np.arange(12.0).reshape(4, 3)), np.ones((4, 3))
    for mine, theirs in zip(both(x, y, 3), several.__wrapped__(x, y, 3), strict=True):
        assert type(mine) is type(theirs)
        same(np.asarray(mine), theirs)
    assert both(x, y, 3)[1] is x


def test_mixed_places_are_refused(cupy):
    points, mask = points_and_mask(10)
    with pytest.raises(pytocu.UnsupportedError, match="memory"):
        mask_out(cupy.asarray(points), mask)
    scaled = pytocu.jit(lambda x, s: x * s)
    same(scaled(cupy.arange(3.0), np.array(2.0)).get(), np.arange(3.0) * 2)
    same(scaled(cupy.arange(3.0), np.float32(2.0)).get(), np.arange(3.0) * 2)


def test_shape_error_comes_before_the_launch_and_the_next_call_works(cupy):
    add = pytocu.jit(lambda x, y: x + y)
    with pytest.raises(ValueError, match=r"operands could not be broadcast together with shapes \(4,\) \(5,\)"):
        add(cupy.ones(4), cupy.ones(5))
    same(add(cupy.ones(4), cupy.ones(4)).get(), np.full(4, 2.0))


def test_changed_global_on_the_device(cupy):
    global GAIN
    scale = pytocu.jit(lambda x: x * GAIN)
    x = cupy.ones(3)
    assert float(scale(x)[0]) == 2.0
    try:
        GAIN = 3.0
        assert float(scale(x)[0]) == 3.0
    finally:
        GAIN = 2.0
    assert float(scale(x)[0]) == 2.0


def test_threads_share_a_function(cupy):
    function = pytocu.jit(lambda x, y: np.maximum(x, y) * 2 + 1)
    failures: list[str] = []

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        for size in (10, 1000, 1):
            x, y = rng.random((2, size), np.float32)
            got = function(cupy.asarray(x), cupy.asarray(y)).get()
            if not np.array_equal(got, np.maximum(x, y) * 2 + 1):
                failures.append(f"{seed} {size}")

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_the_cpu_backend_agrees_bit_for_bit(cupy):
    @pytocu.jit
    def exact(x, y, n):
        d = (x - y) / (x * x + 0.5)
        return np.sqrt(np.abs(d)), np.floor(d * 7) % 3, (x > y) & (d < 0.1), n // 3 + n % 5, np.clip(d, -0.1, 0.2)

    rng = np.random.default_rng(0)
    x, y = rng.standard_normal((2, 100_001)).astype(np.float32)
    n = rng.integers(-(2**31), 2**31, 100_001).astype(np.int32)
    for mine, theirs in zip(exact(cupy.asarray(x), cupy.asarray(y), cupy.asarray(n)), exact(x, y, n), strict=True):
        assert np.array_equal(mine.get().view(np.uint8), theirs.view(np.uint8))
