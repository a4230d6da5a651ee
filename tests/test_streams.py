"""Streams, captures, devices and the driver's errors, with a driver and libraries that only look like real ones."""

from __future__ import annotations

import gc
import sys
import threading
import types
import weakref
from typing import Any

import numpy as np
import pytest
from driver_tools import ADDRESS, FakeDriver, Interface, Status, launches

import pytocu
from pytocu.runtime import arrays, cuda, device_array, graphs, on_cuda, results, streams
from pytocu.runtime.arrays import ArrayInfo


@pytest.fixture
def driver(monkeypatch) -> FakeDriver:
    made = FakeDriver()
    monkeypatch.setattr(cuda, "_bindings", made)
    monkeypatch.setattr(cuda, "_primary", {})
    monkeypatch.setattr(cuda, "_archs", {0: "sm_90", 1: "sm_80"})
    monkeypatch.setattr(device_array, "_pools", {})
    cuda._retired.clear()
    yield made
    gc.collect()
    cuda._retired.clear()
    device_array._released.clear()
    assert made.mode == "global" and made.contexts[:1] == [100] and len(made.contexts) <= 1


# Whose stream it is.


class OfCupy:
    def __init__(self, ptr):
        self.ptr = ptr


class OfTorch:
    def __init__(self, handle):
        self.cuda_stream = handle


class OfNumba:
    def __init__(self, handle):
        self.handle = types.SimpleNamespace(value=handle)


OfCupy.__module__, OfTorch.__module__ = "cupy.cuda.stream", "torch.cuda.streams"
OfNumba.__module__ = "numba.cuda.cudadrv.driver"


class OfProtocol:
    def __cuda_stream__(self):
        return 0, 71


class OldProtocol:
    __cuda_stream__ = (0, 71)


@pytest.mark.parametrize(
    ("stream", "handle"),
    [
        (71, 71), (0, 0), (2, 2), (np.int64(71).item(), 71), (OfCupy(71), 71), (OfTorch(71), 71), (OfNumba(71), 71),
        (OfNumba(None), 0), (OfProtocol(), 71), (OldProtocol(), 71),
    ],
)  # fmt: skip
def test_handles(stream, handle):
    assert streams.handle_of(stream) == handle


@pytest.mark.parametrize("stream", [None, True, -1, 1.5, "fast", object(), np.zeros(3)])
def test_what_is_no_stream(stream):
    with pytest.raises(pytocu.PytocuError, match="takes a CUDA stream, not"):
        streams.handle_of(stream)


def test_streams_nest_and_end(driver):
    assert streams.current("dlpack", 0) == 0
    with pytocu.stream(7) as outer:
        assert outer == 7
        assert streams.current("dlpack", 0) == streams.current("cuda_interface", 0) == streams.current("jax", 0) == 7
        with pytocu.stream(8, device=0):
            assert streams.current("dlpack", 0) == 8
            with pytocu.stream(OfCupy(71)):
                # It belongs to device 1, as the driver says.
                assert (streams.current("dlpack", 0), streams.current("dlpack", 1)) == (8, 71)
        with pytest.raises(ZeroDivisionError), pytocu.stream(9):
            raise ZeroDivisionError
        assert streams.current("dlpack", 0) == 7
    assert streams.current("dlpack", 0) == 0


def test_other_threads_are_not_affected(driver):
    seen: list[int] = []
    with pytocu.stream(7):
        thread = threading.Thread(target=lambda: seen.append(streams.current("dlpack", 0)))
        thread.start()
        thread.join()
    assert seen == [0]


def fake_cupy(monkeypatch):
    """CuPy's current streams: one for each device, changed only while that device is current."""
    state = types.SimpleNamespace(device=0, stacks={0: [0], 1: [0]}, log=[])

    class Stream:
        def __init__(self, ptr, device_id=-1):
            self.ptr, self.device_id = ptr, device_id

        def __enter__(self):
            assert self.device_id in (-1, state.device)
            state.stacks[state.device].append(self.ptr)

        def __exit__(self, *args):
            state.stacks[state.device].pop()

    Stream.__module__ = "cupy.cuda.stream"

    class Device:
        def __init__(self, number):
            self.number = number

        def __enter__(self):
            self.before, state.device = state.device, self.number

        def __exit__(self, *args):
            state.device = self.before

    def get_current_stream(device_id=None):
        return Stream(state.stacks[state.device if device_id is None else device_id][-1])

    Stream.null, Stream.ptds = Stream(0), Stream(2)  # pyright: ignore
    module = types.ModuleType("cupy")
    module.cuda = types.SimpleNamespace(  # pyright: ignore
        Stream=Stream, ExternalStream=Stream, Device=Device, get_current_stream=get_current_stream
    )
    monkeypatch.setitem(sys.modules, "cupy", module)
    return state, Stream


def test_the_stream_is_cupys_too(driver, monkeypatch):
    state, Stream = fake_cupy(monkeypatch)
    mine = Stream(71, 1)
    for given, expected, device in ((7, 7, 0), (1, 0, 0), (2, 2, 0), (mine, 71, 1)):
        with pytocu.stream(given):
            assert streams.current("cupy", device) == state.stacks[device][-1] == expected
            # A stream of the library inside counts for its arrays.
            with Stream(55, -1):
                assert streams.current("cupy", 0) == 55
        assert state.stacks == {0: [0], 1: [0]} and state.device == 0


def test_the_stream_is_pytorchs_too(driver, monkeypatch):
    current: list[Any] = [types.SimpleNamespace(cuda_stream=0)]
    devices = [0]

    class ExternalStream:
        def __init__(self, handle, device):
            self.cuda_stream, self.device = handle, device

    class context:
        def __init__(self, stream):
            self.stream = stream

        def __enter__(self):
            current.append(self.stream)
            self.device = devices[0]
            devices[0] = getattr(self.stream, "device", 0)

        def __exit__(self, *args):
            current.pop()
            devices[0] = self.device

    module = types.ModuleType("torch")
    module.cuda = types.SimpleNamespace(  # pyright: ignore
        is_available=lambda: True,
        ExternalStream=ExternalStream,
        stream=context,
        default_stream=lambda device: types.SimpleNamespace(cuda_stream=0),
        current_stream=lambda device: current[-1],
        current_device=lambda: devices[0],
        set_device=lambda device: devices.__setitem__(0, device),
    )
    monkeypatch.setitem(sys.modules, "torch", module)
    mine = OfTorch(71)
    for given, expected in ((7, 7), (0, 0), (2, 2), (mine, 71)):
        with pytocu.stream(given):
            assert streams.current("torch", 0) == expected
        assert len(current) == 1
    with pytocu.stream(mine):
        assert current[-1] is mine
    with pytocu.stream(5, device=1):
        assert current[-1].device == 1 and devices == [0]
    assert devices == [0]


def test_numbas_default_stream_may_be_the_threads(monkeypatch):
    numba = types.ModuleType("numba")
    numba.config = types.SimpleNamespace(CUDA_PER_THREAD_DEFAULT_STREAM=0)  # pyright: ignore
    monkeypatch.setitem(sys.modules, "numba", numba)
    assert streams.current("numba", 0) == 0
    numba.config.CUDA_PER_THREAD_DEFAULT_STREAM = 1
    assert streams.current("numba", 0) == 2


# Order between streams.


def test_streams_wait_for_each_other(driver):
    cuda.wait(7, 9, 0)
    assert driver.log[-4:] == [
        ("cuEventCreate", 2), ("cuEventRecord", "event", 9), ("cuStreamWaitEvent", 7, "event", 0), ("cuEventDestroy", "event"),
    ]  # fmt: skip
    driver.log.clear()
    cuda.wait(7, 7, 0)
    cuda.wait(0, 1, 0)
    assert not driver.log


@pytest.mark.parametrize(
    ("captures", "unusable", "ordered"),
    [
        ({}, (), True), ({7: 5}, (), False), ({9: 5}, (), False), ({7: 5, 9: 5}, (), True), ({7: 5, 9: 6}, (), False),
        ({7: 5}, (9,), False),
    ],
)  # fmt: skip
def test_order_inside_of_one_capture_only(driver, captures, unusable, ordered):
    driver.captures.update(captures)
    driver.unusable.update(unusable)
    cuda.wait(7, 9, 0)
    assert ("cuStreamWaitEvent" in driver.names()) is ordered


def info_of(library: str = "cuda_interface", device: int = 0, stream: int | None = None) -> ArrayInfo:
    f32 = arrays.describe(np.zeros(1, np.float32), "x").dtype  # pyright: ignore
    return ArrayInfo(library, device, ADDRESS, f32, (4,), None, False, stream, None, "x")


def test_a_call_is_between_the_producers_work(driver, monkeypatch):
    """Kernels wait for what the producer of an argument has submitted, and it waits for the kernels."""
    kernels = on_cuda.CudaKernels(lambda arch: arch.encode(), ["k"])
    with pytocu.stream(7):
        executor = on_cuda.CudaExecutor((), kernels, info_of(), [info_of(), info_of(stream=9)])
        assert (executor.stream, executor.producers) == (7, (9,))
        executor.finish()
    waits = [entry for entry in driver.log if entry[0] in ("cuEventRecord", "cuStreamWaitEvent")]
    assert waits == [
        ("cuEventRecord", "event", 9), ("cuStreamWaitEvent", 7, "event", 0),
        ("cuEventRecord", "event", 7), ("cuStreamWaitEvent", 9, "event", 0),
    ]  # fmt: skip


def test_results_belong_to_the_named_stream(driver):
    like = info_of()
    with pytocu.stream(7):
        made, pointer = results.allocate(like, (3,), like.dtype, stream=streams.current(like.library, 0))
    assert made.stream == 7 and made.__cuda_array_interface__["stream"] == 7 and pointer == made.pointer
    assert ("cuMemAllocAsync", 12, 7) in driver.log
    del made
    assert driver.log[-1] == ("cuMemFreeAsync", pointer, 7)


def test_a_stream_lives_as_long_as_memory_on_it(driver):
    stream = OfCupy(71)
    kept = weakref.ref(stream)
    with pytocu.stream(stream):
        made = device_array.empty((3,), np.dtype("f4"), 1, streams.current("cuda_interface", 1))
    del stream
    gc.collect()
    assert kept() is not None
    del made
    gc.collect()
    assert kept() is None


def test_dlpack_producers_are_told_the_stream(driver):
    told: list[int] = []

    class Producer:
        def __dlpack_device__(self):
            return 2, 0

        def __dlpack__(self, *, stream, max_version=None):
            told.append(stream)
            raise BufferError("not today")

    for expected in (1, 7):
        context = pytocu.stream(7) if expected == 7 else pytocu.stream(0)
        with context, pytest.raises(pytocu.UnsupportedError, match="argument x cannot be read through DLPack: not today"):
            arrays.describe(Producer(), "x")
        assert told.pop() == expected and not told


# Whole calls.


def test_a_call_with_interface_objects(driver):
    add = pytocu.jit(lambda x, y: x + y)
    made = add(Interface((4,), stream=9), Interface((4,), data=(ADDRESS + 64, True)))
    assert isinstance(made, device_array.DeviceArray)
    assert (made.shape, made.dtype, made.device, made.stream) == ((4,), np.float32, 0, 0)
    wanted = ["cuStreamWaitEvent", "cuLaunchKernel", "cuStreamWaitEvent"]
    order = [entry for entry in driver.log if entry[0] in wanted]
    assert [entry[0] for entry in order] == wanted
    assert order[0][1] == 0 and order[2][1] == 9, "the kernel after the producer, the producer after the kernel"
    driver.log.clear()
    with pytocu.stream(7):
        made = add(Interface((4,)), Interface((4,), stream=9))
    assert made.stream == 7 and launches(driver)[0][9] == 7


def test_a_call_without_elements_launches_nothing(driver):
    made = pytocu.jit(lambda x: x * 2)(Interface((0, 3), data=(0, False)))
    assert (made.shape, made.dtype, made.pointer) == ((0, 3), np.float32, 0)
    assert not launches(driver) and "cuPointerGetAttribute" not in driver.names()


def test_dlpack_objects_are_asked_for_their_device_first(driver):
    asked: list[Any] = []
    array = device_array.DeviceArray(ADDRESS, (4,), np.dtype("f4"), None, 0, 0, None)

    class Producer:
        def __dlpack_device__(self):
            asked.append("device")
            return array.__dlpack_device__()

        def __dlpack__(self, *, stream=None, max_version=None):
            asked.append((stream, max_version))
            return array.__dlpack__(stream=-1, max_version=max_version)

    made = pytocu.jit(lambda x: x * 2)(Producer())
    assert asked[:2] == ["device", (1, (1, 0))]
    assert isinstance(made, device_array.DeviceArray) and len(launches(driver)) == 1


def test_the_first_array_on_a_gpu_decides_the_kind_of_results(driver, monkeypatch):
    state, _ = fake_cupy(monkeypatch)
    state.stacks[0] = [33]

    class ndarray:
        def __init__(self, shape, dtype, pointer=ADDRESS + 4096):
            self.shape, self.dtype, self.strides = shape, np.dtype(dtype), (4,)
            self.data = types.SimpleNamespace(ptr=pointer, device_id=0)
            self.flags = types.SimpleNamespace(c_contiguous=True)

    ndarray.__module__ = "cupy"
    cupy = sys.modules["cupy"]
    cupy.ndarray = ndarray  # pyright: ignore
    cupy.empty = lambda shape, dtype, order: ndarray(shape, dtype)  # pyright: ignore
    add = pytocu.jit(lambda x, y: x + y)
    assert isinstance(add(ndarray((4,), "f4"), Interface((4,))), ndarray)
    assert launches(driver)[-1][9] == 33, "on the stream of the library whose arrays come out"
    assert isinstance(add(Interface((4,)), ndarray((4,), "f4")), device_array.DeviceArray)
    assert launches(driver)[-1][9] == 0
    # Scalars and NumPy arrays without axes decide nothing; arrays in the host's memory are refused.
    assert isinstance(add(np.float32(2), ndarray((4,), "f4")), ndarray)
    assert isinstance(add(np.array(2, np.float32), ndarray((4,), "f4")), ndarray)
    with pytest.raises(pytocu.UnsupportedError, match="nothing is copied silently"):
        add(np.zeros(4, np.float32), ndarray((4,), "f4"))


# Captures.


def test_temporaries_of_a_captured_call_live_as_long_as_the_graph(driver):
    class Array:
        pass

    array = Array()
    kept = weakref.ref(array)
    graphs.keep_for_replays(7, (array,))
    assert driver.names() == ["cuStreamIsCapturing"], "nothing is kept without a capture"
    driver.captures[7] = 5
    graphs.keep_for_replays(7, (array,))
    assert ("cuGraphRetainUserObject", "graph", "user object", 1, 1) in driver.log
    del array
    gc.collect()
    assert kept() is not None
    driver.destroy()
    assert kept() is not None, "CUDA's thread may free nothing"
    graphs.keep_for_replays(7, ())
    gc.collect()
    assert kept() is None


def test_memory_of_a_captured_call_stays(driver):
    driver.captures[7] = 5
    made = device_array.empty((3,), np.dtype("f4"), 0, 7)
    assert "cuMemAllocAsync" not in driver.names() and ("cuMemAlloc", 12) in driver.log
    pointer = made.pointer
    del made
    assert driver.log[-2] == ("cuMemFree", pointer)


def test_memory_that_is_dropped_while_its_stream_is_captured_waits(driver):
    made = device_array.empty((3,), np.dtype("f4"), 0, 7)
    pointer = made.pointer
    driver.captures[7] = 5
    del made
    assert not any(name.startswith("cuMemFree") for name in driver.names())
    driver.captures.clear()
    del driver.log[:]
    device_array.empty((3,), np.dtype("f4"), 0, 0)
    assert ("cuMemFreeAsync", pointer, 7) in driver.log


def test_jax_arrays_are_refused_in_a_capture(driver, monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", types.ModuleType("jax"))
    driver.captures[7] = 5
    like = info_of("jax")
    made, _ = results.allocate(like, (3,), like.dtype, stream=7)
    with pytest.raises(pytocu.UnsupportedError, match="a capture into a graph forbids") as caught:
        results.finish(like, made, 7)
    assert "CuPy or PyTorch" in str(caught.value)
    assert "cuStreamSynchronize" not in driver.names()


# Devices and modules.


def test_kernels_load_once_a_device(driver):
    built: list[str] = []

    def binary(arch: str) -> bytes:
        built.append(arch)
        return arch.encode()

    kernels = on_cuda.CudaKernels(binary, ["a", "b"])
    assert [k.handle for k in kernels.on(0)] == ["sm_90:a", "sm_90:b"]
    assert [k.handle for k in kernels.on(1)] == ["sm_80:a", "sm_80:b"]
    assert kernels.on(0) is kernels.on(0) and kernels.on(1)[0].context == 101
    assert built == ["sm_90", "sm_80"]
    assert driver.names().count("cuModuleLoadData") == 2 and driver.names().count("cuFuncLoad") == 4


def test_threads_load_a_module_once(monkeypatch):
    loads: list[int] = []
    monkeypatch.setattr(cuda, "arch", lambda device: "sm_90")
    monkeypatch.setattr(cuda, "load", lambda cubin, device: loads.append(device) or device)
    monkeypatch.setattr(cuda, "function", lambda module, name: (module, name))
    kernels = on_cuda.CudaKernels(lambda arch: b"", ["k"])
    start = threading.Barrier(16)
    seen: list[Any] = []

    def work(number: int) -> None:
        start.wait()
        seen.append(kernels.on(number % 2))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(loads) == [0, 1] and len(seen) == 16


def test_modules_are_unloaded_in_their_context_when_the_kernels_are_gone(driver):
    kernels = on_cuda.CudaKernels(lambda arch: arch.encode(), ["k"])
    (kernel,) = kernels.on(1)
    del kernels
    gc.collect()
    assert not cuda._retired, "a kernel keeps its module"
    del kernel
    gc.collect()
    assert len(cuda._retired) == 1 and "cuModuleUnload" not in driver.names(), "a finaliser makes no call"
    module = cuda.load(b"next", 0)
    place = driver.log.index(("cuModuleUnload", "sm_80"))
    assert driver.log[place - 1] == ("cuCtxPushCurrent", 101) and not cuda._retired
    assert cuda.function(module, "k").module is module


def test_arguments_of_two_devices_are_named():
    with pytest.raises(pytocu.UnsupportedError, match="argument x is on CUDA device 0, argument x on CUDA device 1"):
        arrays.common([info_of(), info_of(device=1)])


# Errors of the driver.


def test_a_lost_context_is_said_to_be_lost(driver):
    for status in (Status.CUDA_ERROR_ILLEGAL_ADDRESS, Status.CUDA_ERROR_LAUNCH_FAILED):
        driver.fails["cuStreamSynchronize"] = status
        with pytest.raises(pytocu.DeviceLostError, match=f"cuStreamSynchronize failed: {status.name}") as caught:
            cuda.synchronize(0, 0)
        assert "start a new process" in str(caught.value) and "CUDA_LAUNCH_BLOCKING=1" in str(caught.value)
        assert isinstance(caught.value, pytocu.BackendError)


def test_no_memory_on_the_device(driver):
    for failing in ("cuMemAllocAsync", "cuMemAlloc"):
        driver.fails = {failing: Status.CUDA_ERROR_OUT_OF_MEMORY}
        if failing == "cuMemAlloc":
            driver.captures[0] = 5
        with pytest.raises(pytocu.OutOfMemoryError, match="CUDA_ERROR_OUT_OF_MEMORY") as caught:
            device_array.empty((2**40,), np.dtype("f4"), 0)
        assert isinstance(caught.value, MemoryError) and "free_all_blocks()" in str(caught.value)
    driver.fails = {}
    assert device_array.empty((4,), np.dtype("f4"), 0).pointer, "the process goes on"


def test_a_refused_launch_names_the_kernel(driver):
    kernel = cuda.Kernel("k", "handle", cuda.load(b"m", 0), 100)
    parameters = cuda.Parameters("P")
    driver.fails["cuLaunchKernel"] = Status.CUDA_ERROR_INVALID_VALUE
    with pytest.raises(pytocu.BackendError, match=r"launching k with grid \(1, 1, 1\) .* CUDA_ERROR_INVALID_VALUE") as caught:
        cuda.launch(kernel, (1, 1, 1), (4096, 1, 1), parameters)
    assert not isinstance(caught.value, (pytocu.DeviceLostError, MemoryError))
    driver.fails["cuLaunchKernel"] = Status.CUDA_ERROR_STREAM_CAPTURE_IMPLICIT
    with pytest.raises(pytocu.BackendError, match="make the captured stream current"):
        cuda.launch(kernel, (1, 1, 1), (64, 1, 1), parameters)
    driver.fails.clear()
    cuda.launch(kernel, (1, 1, 1), (64, 1, 1), parameters)
    assert driver.log[-1][0] == "cuLaunchKernel"


def test_a_forked_process_is_told_to_spawn(driver, monkeypatch):
    monkeypatch.setattr(cuda, "_forked", False)
    made = device_array.empty((3,), np.dtype("f4"), 0)
    module = cuda.load(b"m", 0)
    cuda._after_fork()
    del driver.log[:]
    with pytest.raises(pytocu.BackendError, match=r"forked from.*'spawn' or 'forkserver'"):
        cuda.device_count()
    assert cuda.available()[0] is False
    # The parent's memory and modules are not freed here.
    del made, module
    gc.collect()
    assert not driver.log


def test_a_plan_without_kernels_loads_no_code(driver):
    swapped = pytocu.jit(lambda x, y: (y, x))
    x, y = Interface((4,)), Interface((4,))
    for _ in range(2):
        assert swapped(x, y) == (y, x)
    assert on_cuda.CudaKernels(lambda arch: b"", ()).on(0) == ()
    assert "cuModuleLoadData" not in driver.names()
