"""Streams, graphs, memory across streams, several devices and failure, on a real GPU.

Run with ``pytest -m gpu``.  A library that is not installed skips its own tests, one device skips
those of several.

``python -m pytocu.testing.sanitizer`` leaves out those marked ``unwatched``: they compare figures of free memory, of which
compute-sanitizer takes some, or want kernels that run while the host goes on.
"""

from __future__ import annotations

import gc
import linecache
import os
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.runtime import cuda, device_array, streams

pytestmark = pytest.mark.gpu

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def torch():
    found = pytest.importorskip("torch")
    if not found.cuda.is_available():
        pytest.skip("this PyTorch has no GPU")
    return found


def scaled():
    """A new function, compiled by nobody yet."""
    return pytocu.jit(lambda x, k: np.sqrt(np.abs(x)) * k + 1)


def multiplied_by(k: int):
    """A new function of its own code."""
    source, name = f"def f(x):\n    return x * {k}\n", f"<multiplied by {k}>"
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    space: dict[str, Any] = {}
    exec(compile(source, name, "exec"), space)
    return pytocu.jit(space["f"])


def expected(x: np.ndarray, k: float) -> np.ndarray:
    return np.sqrt(np.abs(x)) * k + 1


def numbers(n: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(n).astype(np.float32)


# Streams by name.


def test_streams_of_every_library_are_taken(cupy, torch):
    x = numbers(100_000)
    f = scaled()
    kept = cupy.cuda.Stream()
    given: list[Any] = [cupy.cuda.Stream(non_blocking=True), torch.cuda.Stream(), kept.ptr, 0, 1, 2]
    try:
        from cuda.core import Device
    except ImportError:
        pass
    else:
        Device(0).set_current()
        given.append(Device(0).create_stream())
    for stream in given:
        handle = streams.handle_of(stream)
        # The libraries call the legacy default stream 0.
        shown = 0 if handle == 1 else handle
        with pytocu.stream(stream) as entered:
            assert entered == handle
            assert int(cupy.cuda.get_current_stream().ptr) == shown
            assert int(torch.cuda.current_stream().cuda_stream) == shown
            on_cupy, on_torch = f(cupy.asarray(x), 3), f(torch.from_numpy(x).cuda(), 3)
            own = f(device_array.to_device(x, 0, handle), 3)
            assert own.stream == handle
            assert np.array_equal(cupy.asnumpy(on_cupy), expected(x, 3))
            assert np.array_equal(on_torch.cpu().numpy(), expected(x, 3))
            assert np.array_equal(own.copy_to_host(), expected(x, 3))
    assert int(cupy.cuda.get_current_stream().ptr) == 0
    assert int(torch.cuda.current_stream().cuda_stream) == 0


def test_numba_streams_and_arrays(numba_cuda):
    x = numbers(1_000_000)
    f = scaled()
    stream = numba_cuda.stream()
    with pytocu.stream(stream) as handle:
        assert handle == streams.handle_of(stream) > 2
        made = f(numba_cuda.to_device(x, stream=stream), 3)
        assert made.__cuda_array_interface__["stream"] == handle
        assert np.array_equal(made.copy_to_host(), expected(x, 3))


def test_work_in_the_block_is_in_order(cupy):
    """Long work on a stream that waits for nothing, then operations of CuPy on the results, in the block."""
    f = scaled()
    x = cupy.asarray(numbers(2**24))
    want = numbers(2**24)
    for _ in range(30):
        want = expected(want, 0.5)
    cupy.cuda.Device().synchronize()
    with pytocu.stream(cupy.cuda.Stream(non_blocking=True)):
        for _ in range(30):
            x = f(x, 0.5)
        y = x + 1
        got = cupy.asnumpy(y)
    assert np.array_equal(got, want + 1)


def test_an_inner_stream_of_the_library_counts(cupy):
    f = scaled()
    x = cupy.asarray(numbers(1000))
    outer, inner = cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream(non_blocking=True)
    cupy.cuda.Device().synchronize()
    with pytocu.stream(outer), inner:
        assert streams.current("cupy", 0) == inner.ptr
        got = cupy.asnumpy(f(x, 2), stream=inner)
    assert np.array_equal(got, expected(numbers(1000), 2))


def test_threads_have_streams_of_their_own(cupy):
    f = scaled()
    x = numbers(500_000)
    wrong: list[Any] = []
    main = cupy.cuda.Stream(non_blocking=True)

    def work(seed: int) -> None:
        stream = cupy.cuda.Stream(non_blocking=True)
        with pytocu.stream(stream):
            for k in range(20):
                y = f(cupy.asarray(x), seed + k)
                if not np.array_equal(cupy.asnumpy(y), expected(x, seed + k)):
                    wrong.append((seed, k))

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    with pytocu.stream(main):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert streams.current("cupy", 0) == main.ptr
    assert not wrong


# Memory across streams.


@pytest.mark.parametrize("library", ["cupy", "torch", "own"])
def test_memory_is_not_given_away_while_a_kernel_uses_it(request, library):
    """Results are dropped at once, other streams allocate at once: nobody may get the memory before the kernels end."""
    f = scaled()
    n = 2**23
    x = numbers(n)
    cupy = request.getfixturevalue("cupy")
    stream = cupy.cuda.Stream(non_blocking=True)
    if library == "torch":
        torch = request.getfixturevalue("torch")
        there = torch.from_numpy(x).cuda()
        torch.cuda.synchronize()
        fill, host = (lambda: torch.full((n,), float("nan"), device="cuda")), (lambda a: a.cpu().numpy())
    elif library == "cupy":
        there = cupy.asarray(x)
        cupy.cuda.Device().synchronize()
        fill, host = (lambda: cupy.full((n,), np.nan, np.float32)), cupy.asnumpy
    else:
        there = device_array.to_device(x, 0)
        nothing = np.full(n, np.nan, np.float32)
        fill, host = (lambda: device_array.to_device(nothing, 0)), (lambda a: a.copy_to_host())
    results = []
    with pytocu.stream(stream):
        y = there
        for _ in range(20):
            # Each intermediate result is dropped while the kernel that reads it still waits.
            y = f(y, 0.75)
        results.append(y)
    junk = [fill() for _ in range(6)]
    with pytocu.stream(stream):
        for _ in range(5):
            results.append(f(f(there, 2), 3))
            junk.append(fill())
        got = [host(r) for r in results]
    want = x
    for _ in range(20):
        want = expected(want, 0.75)
    assert np.array_equal(got[0], want)
    again = expected(expected(x, 2), 3)
    assert all(np.array_equal(g, again) for g in got[1:])
    assert all(np.isnan(host(j)).all() for j in junk)


def test_arguments_of_another_library_may_be_dropped_at_once(cupy, torch):
    add = pytocu.jit(lambda x, y: x + y)
    n = 2**23
    x, y = numbers(n), numbers(n, 1)
    left = cupy.asarray(x)
    torch.cuda.synchronize()
    results = []
    with cupy.cuda.Stream(non_blocking=True), torch.cuda.stream(torch.cuda.Stream()):
        for k in range(10):
            tensor = torch.from_numpy(y).cuda() * k
            results.append(add(left, tensor))
            del tensor
            torch.full((n,), float("nan"), device="cuda")
        got = [cupy.asnumpy(r) for r in results]
    for k, g in enumerate(got):
        assert np.array_equal(g, x + y * np.float32(k))


# Graphs.


@pytest.mark.parametrize("warm", [True, False], ids=["called before", "first call"])
def test_cupy_captures_a_call(cupy, warm):
    f = scaled()
    n = 100_003
    x = cupy.asarray(numbers(n))
    stream = cupy.cuda.Stream(non_blocking=True)
    if warm:
        f(x, 2)
    cupy.cuda.Device().synchronize()
    with stream:
        stream.begin_capture()
        y = f(x, 2)
        z = f(y, 3)
        graph = stream.end_capture()
    for seed in (1, 2, 3):
        with stream:
            x[...] = cupy.asarray(numbers(n, seed))
            graph.launch()
        stream.synchronize()
        assert np.array_equal(cupy.asnumpy(y), expected(numbers(n, seed), 2))
        assert np.array_equal(cupy.asnumpy(z), expected(expected(numbers(n, seed), 2), 3))


@pytest.mark.parametrize("warm", [True, False], ids=["called before", "first call"])
def test_torch_captures_a_call(torch, warm):
    f = scaled()
    n = 100_003
    x = torch.from_numpy(numbers(n)).cuda()
    if warm:
        f(x, 2)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = f(x, 2)
        z = f(y * 2, 3)
    for seed in (1, 2, 3):
        x.copy_(torch.from_numpy(numbers(n, seed)))
        graph.replay()
        torch.cuda.synchronize()
        assert np.array_equal(y.cpu().numpy(), expected(numbers(n, seed), 2))
        assert np.array_equal(z.cpu().numpy(), expected(expected(numbers(n, seed), 2) * 2, 3))


def test_calls_outside_of_a_capture_go_on_meanwhile(cupy):
    """Another thread compiles, loads and calls while a stream is being captured."""
    f, other = scaled(), scaled()
    x, there = numbers(1000), cupy.asarray(numbers(1000))
    f(there, 2)
    cupy.cuda.Device().synchronize()
    right: list[bool] = []

    def work() -> None:
        with cupy.cuda.Stream(non_blocking=True) as mine:
            right.append(np.array_equal(cupy.asnumpy(other(cupy.asarray(x), 3), stream=mine), expected(x, 3)))

    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
        y = f(there, 2)
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        graph = stream.end_capture()
        graph.launch()
        stream.synchronize()
    assert right == [True]
    assert np.array_equal(cupy.asnumpy(y), expected(x, 2))


def test_objects_with_an_interface_are_captured_on_a_named_stream(cupy):
    f = scaled()
    n = 10_000
    first, second = numbers(n, 1), numbers(n, 2)
    there = device_array.to_device(first, 0)
    stream = cupy.cuda.Stream(non_blocking=True)
    with pytocu.stream(stream):
        stream.begin_capture()
        y = f(there, 2)
        graph = stream.end_capture()
        for now in (first, second):
            device_array.copy_to_device(there.pointer, now, 0, stream.ptr)
            graph.launch(stream)
            stream.synchronize()
            assert np.array_equal(y.copy_to_host(), expected(now, 2))


def test_mixed_kinds_are_captured_on_the_captured_stream(cupy, torch):
    add = pytocu.jit(lambda x, y: x + y)
    x, y = cupy.asarray(numbers(1000)), torch.from_numpy(numbers(1000, 1)).cuda()
    add(x, y)
    torch.cuda.synchronize()
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
        z = add(x, y)
        graph = stream.end_capture()
        y += 1
        torch.cuda.synchronize()
        graph.launch()
        stream.synchronize()
    assert np.array_equal(cupy.asnumpy(z), numbers(1000) + (numbers(1000, 1) + np.float32(1)))


def test_jax_arrays_cannot_be_captured(cupy, jax):
    if jax.default_backend() not in ("gpu", "cuda"):
        pytest.skip("this JAX has no GPU")
    f = scaled()
    x = jax.numpy.asarray(numbers(100))
    f(x, 2)
    stream = cupy.cuda.Stream(non_blocking=True)
    with pytocu.stream(stream):
        stream.begin_capture()
        try:
            with pytest.raises(pytocu.UnsupportedError, match="capture"):
                f(x, 2)
        finally:
            stream.end_capture()
    assert np.array_equal(np.asarray(f(x, 2)), expected(numbers(100), 2))


# Several devices.


@pytest.fixture
def two_devices():
    if cuda.device_count() < 2:
        pytest.skip("there is one device")


def test_kernels_load_once_a_device(two_devices, cupy, torch, monkeypatch):
    loads: list[int] = []
    real = cuda.load
    monkeypatch.setattr(cuda, "load", lambda cubin, device: (loads.append(device), real(cubin, device))[1])
    f = scaled()
    x = numbers(10_000)
    for _ in range(3):
        for device in (1, 0):
            with cupy.cuda.Device(device):
                made = f(cupy.asarray(x), 2)
                assert made.device.id == device
                assert np.array_equal(cupy.asnumpy(made), expected(x, 2))
            tensor = f(torch.from_numpy(x).cuda(device), 2)
            assert tensor.device.index == device
            assert np.array_equal(tensor.cpu().numpy(), expected(x, 2))
    assert sorted(loads) == [0, 1]
    assert len(f.specializations) == 1


def test_the_arrays_device_counts_and_not_the_current_one(two_devices, cupy, torch):
    f = scaled()
    x = numbers(10_000)
    with cupy.cuda.Device(1):
        there = cupy.asarray(x)
    # The second call takes the short way, which must notice that another device is the current one.
    for _ in range(3):
        made = f(there, 2)
        assert made.device.id == 1
        with cupy.cuda.Device(1):
            assert np.array_equal(cupy.asnumpy(made), expected(x, 2))
        assert int(cuda.call("cuCtxGetDevice")) == 0
    own = f(device_array.to_device(x, 1), 2)
    assert own.device == 1 and np.array_equal(own.copy_to_host(), expected(x, 2))


def test_arguments_of_two_devices_are_refused(two_devices, cupy, torch):
    add = pytocu.jit(lambda x, y: x + y)
    with cupy.cuda.Device(1):
        far = cupy.ones(10)
    with pytest.raises(pytocu.UnsupportedError, match="x is on CUDA device 0, argument y on CUDA device 1"):
        add(cupy.ones(10), far)
    with pytest.raises(pytocu.UnsupportedError, match="argument x is on CUDA device 1, argument y on CUDA device 0"):
        add(torch.ones(10, device="cuda:1"), torch.ones(10, device="cuda:0"))


def test_a_stream_counts_on_its_device_only(two_devices, cupy):
    f = scaled()
    x = numbers(10_000)
    with cupy.cuda.Device(1):
        stream = cupy.cuda.Stream(non_blocking=True)
    with pytocu.stream(stream):
        assert streams.current("cupy", 1) == stream.ptr and streams.current("cupy", 0) == 0
        assert int(cuda.call("cuCtxGetDevice")) == 0
        assert np.array_equal(cupy.asnumpy(f(cupy.asarray(x), 2)), expected(x, 2))
        with cupy.cuda.Device(1):
            assert np.array_equal(cupy.asnumpy(f(cupy.asarray(x), 2)), expected(x, 2))


# Threads.


def test_sixteen_threads_compile_and_call(cupy, torch):
    same = scaled()
    failures: list[BaseException] = []
    start = threading.Barrier(16)

    def work(seed: int) -> None:
        try:
            start.wait()
            own = scaled()
            for turn in range(10):
                x = numbers(100 + 1000 * turn + seed, seed)
                for f in (same, own):
                    if seed % 2:
                        got = cupy.asnumpy(f(cupy.asarray(x), turn))
                    else:
                        got = f(torch.from_numpy(x).cuda(), turn).cpu().numpy()
                    assert np.array_equal(got, expected(x, turn))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


# Failure.


def test_no_memory_is_one_exception_and_the_function_goes_on(cupy, torch):
    f = pytocu.jit(lambda x: x + 1)
    small = cupy.zeros(4, np.int8)
    for _ in range(2):
        with pytest.raises(pytocu.OutOfMemoryError, match="no memory for a result") as caught:
            f(cupy.broadcast_to(small[:1], (2**44,)))
        assert isinstance(caught.value, MemoryError) and "free_all_blocks()" in str(caught.value)
        tensor = torch.zeros(1, dtype=torch.int8, device="cuda").expand(2**44)
        with pytest.raises(pytocu.OutOfMemoryError, match="no memory for a result") as caught:
            f(tensor)
        assert "torch.cuda.empty_cache()" in str(caught.value)
    with pytest.raises(pytocu.OutOfMemoryError, match="CUDA_ERROR_OUT_OF_MEMORY"):
        device_array.empty((2**46,), np.dtype(np.uint8), 0)
    assert bool((f(small) == 1).all())
    assert bool((f(torch.zeros(4, dtype=torch.int8, device="cuda")) == 1).all())


def program(tmp_path: Path, text: str) -> str:
    """What a program of its own prints; it must end well."""
    file = tmp_path / "program.py"
    file.write_text(textwrap.dedent(text))
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])}
    done = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, env=env, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_a_lost_context_is_named_and_the_host_goes_on(tmp_path):
    out = program(
        tmp_path,
        """
        import numpy as np, pytocu
        from pytocu.runtime import cuda, device_array

        class Liar:
            # An array that says it is much longer than its memory.
            def __init__(self, array):
                self.array = array
                self.__cuda_array_interface__ = {**array.__cuda_array_interface__, "shape": (2**45,)}

        last = pytocu.jit(lambda x: x[-1:] * 2)
        liar = Liar(device_array.to_device(np.ones(4, np.int8), 0))
        for attempt in range(2):
            try:
                last(liar).copy_to_host()
            except pytocu.DeviceLostError as error:
                print("lost", "start a new process" in str(error))
        print(pytocu.jit(lambda x: x + 1)(np.zeros(2)).tolist())
        """,
    )
    assert out.splitlines() == ["lost True", "lost True", "[1.0, 1.0]"]


def test_a_forked_process_is_told_to_spawn(tmp_path):
    out = program(
        tmp_path,
        """
        import os, sys, numpy as np, pytocu
        from pytocu.runtime import device_array

        f = pytocu.jit(lambda x: x + 1, device="cuda")
        print(f(np.zeros(2)).tolist())
        kept = device_array.to_device(np.zeros(5), 0)
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            try:
                f(np.zeros(2))
            except pytocu.BackendError as error:
                print("spawn" in str(error))
            print(pytocu.jit(lambda x: x + 2)(np.zeros(2)).tolist())
            sys.stdout.flush()
            del kept
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        print(f(np.ones(2)).tolist())
        """,
    )
    assert out.splitlines() == ["[1.0, 1.0]", "True", "[2.0, 2.0]", "[2.0, 2.0]"]


def test_a_thread_without_a_context(cupy, jax):
    """Lengths that depend on data, loops, temporaries and JAX's results, where no library has made a context current."""

    def chosen(x, n):
        for _ in range(n):
            x = x + x.sum()
        return x[x > 2], x.mean()

    x = numbers(5000)
    given = [device_array.to_device(x, 0), jax.numpy.asarray(x)]
    wanted = chosen(x, 2)

    def work() -> list[Any]:
        made = [f(there, 2) for there in given]
        return [[np.asarray(a.copy_to_host() if hasattr(a, "copy_to_host") else a) for a in both] for both in made]

    f = pytocu.jit(chosen)
    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(work).result()
    for many, mean in found:
        np.testing.assert_allclose(many, wanted[0], rtol=1e-5)
        np.testing.assert_allclose(mean, wanted[1], rtol=1e-5)


# What functions leave behind.


@pytest.mark.unwatched
def test_a_module_may_go_while_its_kernels_run(cupy):
    x = cupy.asarray(numbers(2**26))
    f = pytocu.jit(lambda x: np.sin(np.exp(np.cos(x))) + x)
    f(x[:10])
    y = x
    for _ in range(40):
        y = f(y)
    del f
    gc.collect()
    assert cuda._retired
    assert cuda.unload_retired() == 0
    again = pytocu.jit(lambda x: np.sin(np.exp(np.cos(x))) + x)
    z = x
    for _ in range(40):
        z = again(z)
    assert bool((y == z).all())


@pytest.mark.unwatched
def test_calls_and_functions_leave_no_device_memory(cupy):
    def free() -> int:
        gc.collect()
        cupy.cuda.Device().synchronize()
        cupy.get_default_memory_pool().free_all_blocks()
        cuda.unload_retired()
        return int(cuda.call("cuMemGetInfo")[0])

    x = cupy.asarray(numbers(1000))
    f = scaled()
    for _ in range(100):
        f(x, 2)
    before = free()
    for _ in range(20_000):
        f(x, 2)
    for n in range(2, 2000):
        f(x[: n % 1000 + 2], 2)
    for k in range(20):
        assert np.array_equal(cupy.asnumpy(multiplied_by(k)(x)), numbers(1000) * np.float32(k))
    assert before - free() < 64 * 2**20
