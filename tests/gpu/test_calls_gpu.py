"""Calls that a short way is ready for, on a real GPU: new sizes, layouts, contexts, streams, devices."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import pytocu

pytestmark = pytest.mark.gpu


def combine(x, y, s):
    return (x * s + y) - 1, x[::-1]


def check(function: Any, to: Any, back: Any, x: np.ndarray, y: np.ndarray, s: Any) -> None:
    made, view = function(to(x), to(y), s)
    expected, flipped = combine(x, y, s)
    for mine, theirs in ((made, expected), (view, flipped)):
        mine = back(mine)
        assert mine.dtype == theirs.dtype and mine.shape == theirs.shape and np.array_equal(mine, theirs, equal_nan=True)


def general_calls(function: Any) -> list[Any]:
    """Count the calls that go the general way from now on."""
    seen: list[Any] = []
    for dispatch in function._dispatch.values():
        slow = dispatch.call.__globals__["slow"]

        def counted(arguments: Any, slow: Any = slow) -> Any:
            seen.append(arguments)
            return slow(arguments)

        dispatch.call.__globals__["slow"] = counted
    return seen


def test_new_sizes_need_no_general_way(cupy):
    function = pytocu.jit(combine)
    rng = np.random.default_rng(0)
    for shape in ((5, 4), (1, 4)):
        x = rng.random(shape, np.float32)
        check(function, cupy.asarray, cupy.asnumpy, x, x, 2.0)
    seen = general_calls(function)
    for n in (6, 100, 0, 1000, 5):
        x, y = rng.random((2, n, 4), np.float32)
        check(function, cupy.asarray, cupy.asnumpy, x, y, 0.5)
    assert not [a for a in seen if a[0].shape[0]]
    with pytest.raises(ValueError, match="could not be broadcast"):
        function(cupy.ones((3, 4), "f"), cupy.ones((2, 4), "f"), 1.0)


def test_scalars_of_every_kind(cupy):
    function = pytocu.jit(combine)
    x = np.arange(6, dtype=np.float32)
    for s in (2, 2.5, True, np.float32(3), np.int8(3), np.float64(2), 1e300, -np.inf, 2**40, 10**25):
        for _ in range(2):
            with np.errstate(all="ignore"):
                check(function, cupy.asarray, cupy.asnumpy, x, x, s)
    small = pytocu.jit(lambda x, n: x + n)
    x8 = cupy.arange(4, dtype=np.uint8)
    for _ in range(2):
        assert small(x8, 200).get().tolist() == [200, 201, 202, 203]
        with pytest.raises(OverflowError, match="out of bounds for uint8"):
            small(x8, 300)


@pytest.mark.unwatched
def test_a_view_of_another_context_goes_the_general_way(cupy):
    from cuda.bindings import driver

    function = pytocu.jit(combine)
    x = np.arange(8, dtype=np.float32)
    mine = cupy.asarray(x)
    for _ in range(2):
        function(mine, mine, 2.0)
    seen = general_calls(function)
    status, device = driver.cuDeviceGet(0)
    status, context = driver.cuCtxCreate(None, 0, device) if _takes_parameters(driver) else driver.cuCtxCreate(0, device)
    assert not int(status)
    try:
        made, _ = function(mine, mine, 2.0)
        assert len(seen) == 1
    finally:
        driver.cuCtxDestroy(context)
    assert np.array_equal(made.get(), x * 2 + x - 1)
    check(function, cupy.asarray, cupy.asnumpy, x, x, 2.0)


def _takes_parameters(driver: Any) -> bool:
    return (driver.cuCtxCreate.__doc__ or "").count("ctxCreateParams") > 0


def test_the_current_stream_of_each_call(cupy):
    function = pytocu.jit(combine)
    x = cupy.arange(1000, dtype=np.float32)
    function(x, x, 2.0)
    for stream in (cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream.null, cupy.cuda.Stream(non_blocking=True)):
        with stream:
            made, _ = function(x, x, 3.0)
            stream.synchronize()
        assert np.array_equal(made.get(), x.get() * 3 + x.get() - 1)


@pytest.mark.parametrize("place", ["cuda", "cpu"])
def test_torch_tensors(torch, place):
    rng = np.random.default_rng(1)

    def to(a: np.ndarray) -> Any:
        return torch.from_numpy(a.copy()).to(place)

    plain = pytocu.jit(lambda x, y: x * 2 + y)
    for n in (1, 5, 100, 7, 0, 5):
        x, y = rng.random((2, n, 3), np.float32)
        for a, b in ((to(x), to(y)), (to(x).t().contiguous().t(), to(y).t().contiguous().t()), (to(x)[:, ::2], to(y)[:, 1:])):
            made = plain(a, b)
            assert isinstance(made, torch.Tensor) and made.device == a.device and made.dtype == torch.float32
            expected = a.cpu().numpy() * 2 + b.cpu().numpy()
            assert np.array_equal(made.cpu().numpy(), expected)
    x = to(rng.random(6, np.float32))
    assert plain(x, x) is not None
    with pytest.raises(pytocu.PytocuError, match="requires a gradient"):
        plain(x.clone().requires_grad_(), x)
    with pytest.raises(pytocu.PytocuError, match="sparse"):
        plain(x.to_sparse(), x)
    assert np.array_equal(plain(x, x).cpu().numpy(), x.cpu().numpy() * 3)


def test_torch_calls_find_their_program(torch):
    function = pytocu.jit(lambda x, y, s: x * s + y)
    x = torch.ones(5, device="cuda")
    function(x, x, 2.0)
    seen = general_calls(function)
    for n in (5, 6, 1000):
        x = torch.ones(n, device="cuda")
        assert function(x, x, 3.0).sum().item() == 4 * n
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        y = function(x, x, 4.0)
    stream.synchronize()
    assert y.sum().item() == 5000
    assert not seen


def test_sixteen_threads_and_many_sizes(cupy):
    function = pytocu.jit(combine)
    failures: list[Any] = []

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        try:
            with cupy.cuda.Stream(non_blocking=True) as stream:
                for _ in range(200):
                    x = rng.random(int(rng.integers(1, 50)), np.float32)
                    made, _ = function(cupy.asarray(x), cupy.asarray(x), float(seed))
                    stream.synchronize()
                    if not np.array_equal(made.get(), combine(x, x, float(seed))[0]):
                        failures.append((seed, x))
        except BaseException as error:
            failures.append(error)
            raise

    threads = [threading.Thread(target=work, args=(n,)) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_arrays_of_another_device(cupy):
    if cupy.cuda.runtime.getDeviceCount() < 2:
        pytest.skip("needs two GPUs")
    function = pytocu.jit(combine)
    x = np.arange(9, dtype=np.float32)
    check(function, cupy.asarray, cupy.asnumpy, x, x, 2.0)
    with cupy.cuda.Device(1):
        other = cupy.asarray(x)
    for _ in range(3):
        # The current device is not the arrays' own.
        made, _ = function(other, other, 2.0)
        assert made.device.id == 1 and np.array_equal(made.get(), x * 2 + x - 1)
    with pytest.raises(pytocu.PytocuError, match="device"):
        function(other, cupy.asarray(x), 2.0)
    check(function, cupy.asarray, cupy.asnumpy, x, x, 2.0)
