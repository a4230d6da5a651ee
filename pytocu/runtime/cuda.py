"""Devices, contexts, streams, modules and launches, through the driver alone.

Nothing is imported or initialised before the first use.  Devices are CUDA ordinals, streams
are the integers the driver uses: 0 or 1 the legacy default stream, 2 the thread's default
stream, else a handle.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NoReturn

from pytocu.errors import BackendError, DeviceLostError, OutOfMemoryError
from pytocu.ir.types import BOOL, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64, DType
from pytocu.processes import Local, RLock
from pytocu.record import Record

PARAMETER_CODES: dict[DType, str] = {
    BOOL: "?", I8: "b", I16: "h", I32: "i", I64: "q", U8: "B", U16: "H", U32: "I", U64: "Q", F32: "f", F64: "d",
}  # fmt: skip
"""Codes of :class:`Parameters` for scalars; a pointer is ``P``, an index ``i`` or ``q``."""

_bindings: Any = None
# A finaliser may run in the thread that holds it.
_lock = RLock()
_forked = False
_primary: dict[int, Any] = {}
_archs: dict[int, str] = {}


def _driver() -> Any:
    """The driver, initialised."""
    global _bindings
    if _bindings is None:
        if _forked:
            raise BackendError(_FORKED)
        with _lock:
            if _bindings is None:
                _bindings = _initialised()
    return _bindings


_FORKED = (
    "CUDA was in use in the process that this one was forked from, and does not work in a forked process: start worker "
    "processes with the method 'spawn' or 'forkserver' (multiprocessing.get_context('spawn'))"
)


def _after_fork() -> None:
    # The parent's context, its modules and its memory are not the child's, and nothing of them may be freed here.
    global _bindings, _forked, _lock
    _lock = RLock()
    if _bindings is not None:
        _bindings, _forked = None, True
        _primary.clear()
        _retired.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def bindings() -> Any:
    """The driver, initialised, for code that launches on its own; see `driver_api`."""
    return _driver()


def _initialised() -> Any:
    from pytocu.runtime.driver_api import Driver

    try:
        driver = Driver()
    except OSError:
        raise BackendError("no NVIDIA driver was found: a GPU needs the display driver, which pip cannot install") from None
    except AttributeError:
        raise BackendError("the NVIDIA driver is older than CUDA 12: update it") from None
    (status,) = driver.cuInit(0)
    if status:
        if status == driver.CUresult.CUDA_ERROR_NO_DEVICE:
            raise BackendError("the NVIDIA driver sees no GPU (CUDA_ERROR_NO_DEVICE)")
        if status == driver.CUresult.CUDA_ERROR_NOT_INITIALIZED:
            raise BackendError(_FORKED)
        _fail(driver, status, "cuInit")
    return driver


LOST = frozenset(
    f"CUDA_ERROR_{name}"
    for name in (
        "ILLEGAL_ADDRESS", "LAUNCH_TIMEOUT", "LAUNCH_FAILED", "ASSERT", "HARDWARE_STACK_ERROR", "ILLEGAL_INSTRUCTION",
        "MISALIGNED_ADDRESS", "INVALID_ADDRESS_SPACE", "INVALID_PC", "TENSOR_MEMORY_LEAK", "ECC_UNCORRECTABLE", "UNKNOWN",
        "NVLINK_UNCORRECTABLE", "CONTAINED", "CONTEXT_IS_DESTROYED", "EXTERNAL_DEVICE", "DEVICE_UNAVAILABLE",
    )
)  # fmt: skip
"""Errors after which every CUDA call of the process fails."""

_LOST = (
    "this process's CUDA context is lost, with all arrays on the device: save what is in the host's memory and start a new "
    "process. The fault may be that of an earlier kernel, of any library: with CUDA_LAUNCH_BLOCKING=1 in the environment, or "
    "under compute-sanitizer, it is reported where it happens"
)

_HELP = {
    "CUDA_ERROR_OUT_OF_MEMORY": "free arrays, let the libraries give back what their pools hold "
    "(cupy.get_default_memory_pool().free_all_blocks(), torch.cuda.empty_cache()), or work on parts; functions stay usable",
    "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES": "the kernel takes more registers or shared memory than a block may have",
    "CUDA_ERROR_NO_BINARY_FOR_GPU": "the code was built for another architecture: compile it again on this machine",
    "CUDA_ERROR_UNSUPPORTED_PTX_VERSION": "the driver is older than the compiler: update it, or install pytocu[cu12]",
    "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT": "the call works on the legacy default stream while another stream is being captured "
    "into a graph: make the captured stream current, with its library or with pytocu.stream",
    "CUDA_ERROR_STREAM_CAPTURE_ISOLATION": "the captured call depends on work outside of the graph: synchronise before it",
    "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED": "the stream is being captured into a graph, which cannot hold this step",
}


def _fail(driver: Any, status: Any, what: str) -> NoReturn:
    _, name = driver.cuGetErrorName(status)
    _, sentence = driver.cuGetErrorString(status)
    name = name.decode() if name else str(status)
    text = f"{what} failed: {name}: {sentence.decode() if sentence else 'unknown error'}"
    help = _LOST if name in LOST else _HELP.get(name)
    text = f"{text}\n  help: {help}" if help else text
    if name in LOST:
        raise DeviceLostError(text)
    raise OutOfMemoryError(text) if name == "CUDA_ERROR_OUT_OF_MEMORY" else BackendError(text)


def call(function: str, *args: Any) -> Any:
    """Call the driver by the name of a function.

    Raises
    ------
    OutOfMemoryError, DeviceLostError, BackendError
        The driver's answer is not success.
    """
    driver = _driver()
    status, *values = getattr(driver, function)(*args)
    if status:
        _fail(driver, status, function)
    return values[0] if len(values) == 1 else values


# Devices.


def available() -> tuple[bool, str]:
    """Whether a kernel can be launched here, and the reason when not."""
    try:
        count = device_count()
    except BackendError as error:
        return False, str(error)
    return (True, "") if count else (False, "the NVIDIA driver sees no GPU")


def device_count() -> int:
    """How many GPUs there are.

    Raises
    ------
    BackendError
        There is no driver.
    """
    return call("cuDeviceGetCount")


def driver_version() -> tuple[int, int]:
    """The CUDA version the driver supports, as ``(13, 0)``."""
    number = call("cuDriverGetVersion")
    return number // 1000, number % 1000 // 10


def device_name(device: int) -> str:
    """The GPU's name, as ``NVIDIA H200``."""
    return _driver().device_name(device_handle(device))


def multiprocessors(device: int) -> int:
    """How many multiprocessors the GPU has."""
    return attribute("CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT", device)


def arch(device: int) -> str:
    """The GPU's architecture, as ``sm_90``."""
    if device not in _archs:
        major = attribute("CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR", device)
        _archs[device] = f"sm_{major}{attribute('CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR', device)}"
    return _archs[device]


def device_handle(device: int) -> Any:
    """The driver's handle of a device."""
    return call("cuDeviceGet", device)


def attribute(name: str, device: int) -> int:
    """An attribute of a device by the driver's name."""
    return call("cuDeviceGetAttribute", getattr(_driver().CUdevice_attribute, name), device_handle(device))


def current_device() -> int:
    """The device of this thread's CUDA context; 0 when it has none."""
    return int(call("cuCtxGetDevice")) if int(call("cuCtxGetCurrent")) else 0


def device_of_pointer(pointer: int) -> int | None:
    """The device whose memory the address is in, or None when it is no CUDA memory."""
    driver = _driver()
    with activated(current_device()):
        status, device = driver.cuPointerGetAttribute(driver.CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, pointer)
    if status == driver.CUresult.CUDA_ERROR_INVALID_VALUE:
        return None
    if status:
        _fail(driver, status, "cuPointerGetAttribute")
    return int(device) if int(device) >= 0 else None


# Contexts and streams.


def _primary_context(device: int) -> Any:
    if device not in _primary:
        with _lock:
            if device not in _primary:
                # Never released: other libraries of the process live in the same context.
                _primary[device] = _retained(device)
    return _primary[device]


def _retained(device: int) -> Any:
    driver = _bindings
    status, context = driver.cuDevicePrimaryCtxRetain(device_handle(device))
    if status:
        _fail(driver, status, "cuDevicePrimaryCtxRetain")
    return context


@contextmanager
def activated(device: int) -> Iterator[Any]:
    """Have a context of the device current: the thread's own, else the primary one."""
    current = call("cuCtxGetCurrent")
    if int(current) and int(call("cuCtxGetDevice")) == device:
        yield current
        return
    context = _primary_context(device)
    call("cuCtxPushCurrent", context)
    try:
        yield context
    finally:
        call("cuCtxPopCurrent")


def synchronize(stream: int, device: int) -> None:
    """Wait for all work on the stream; an error of an earlier kernel is raised here."""
    with activated(device):
        call("cuStreamSynchronize", stream)


def wait(stream: int, producer: int, device: int) -> None:
    """Let the stream go on only after what `producer` has been given so far.

    Both are streams of one device.  While one of them is being captured into a graph and the
    other is not part of the same capture, nothing is ordered: the graph runs when it is replayed, and whoever
    replays it decides after what.
    """
    if stream == producer or (stream < 2 and producer < 2):
        return
    with activated(device):
        if capture_of(stream) != capture_of(producer):
            return
        event = call("cuEventCreate", _driver().CUevent_flags.CU_EVENT_DISABLE_TIMING)
        try:
            call("cuEventRecord", event, producer)
            call("cuStreamWaitEvent", stream, event, 0)
        finally:
            call("cuEventDestroy", event)


def capture_of(stream: int) -> int:
    """The number of the capture into a graph that the stream is part of; 0 for none.

    -1 for the legacy default stream while another stream is being captured in a way that
    forbids its use.  A default stream belongs to the context that is current (:func:`activated`).
    """
    driver = _driver()
    status, state = driver.cuStreamIsCapturing(stream)
    if status == driver.CUresult.CUDA_ERROR_STREAM_CAPTURE_IMPLICIT:
        return -1
    if status:
        _fail(driver, status, "cuStreamIsCapturing")
    states = driver.CUstreamCaptureStatus
    if state == states.CU_STREAM_CAPTURE_STATUS_NONE:
        return 0
    if state == states.CU_STREAM_CAPTURE_STATUS_INVALIDATED:
        return -1
    return int(call("cuStreamGetCaptureInfo", stream)[1])


@contextmanager
def outside_of_captures() -> Iterator[None]:
    """Allow this thread calls that may wait for the device while streams are being captured.

    Loading code and taking memory for good are not part of a graph and do not disturb one.
    """
    relaxed = _driver().CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
    before = call("cuThreadExchangeStreamCaptureMode", relaxed)
    try:
        yield
    finally:
        call("cuThreadExchangeStreamCaptureMode", before)


def stream_device(stream: int) -> int:
    """The device of a stream; the current one for the default streams."""
    if stream <= 2:
        return current_device()
    call("cuCtxPushCurrent", call("cuStreamGetCtx", stream))
    try:
        return int(call("cuCtxGetDevice"))
    finally:
        call("cuCtxPopCurrent")


# Modules and launches.


class Module:
    """A loaded binary; unloaded some time after the last reference to it and its kernels is gone."""

    __slots__ = ("context", "device", "handle")

    def __init__(self, handle: Any, context: Any, device: int):
        self.handle = handle
        self.context = context
        self.device = device

    def __del__(self) -> None:
        # A finaliser runs anywhere, also in the middle of a capture or of the driver's bindings, so it only leaves a note.
        if not sys.is_finalizing():
            retire("cuModuleUnload", self.handle, self.context)


_retired: deque[tuple[str, Any, Any]] = deque()


def retire(function: str, handle: Any, context: Any) -> None:
    """Leave a note that a function of the driver is to be called with a handle that nobody uses any more."""
    # What launches the code of a module goes before the module.
    (_retired.append if function == "cuModuleUnload" else _retired.appendleft)((function, handle, context))


def unload_retired() -> int:
    """Unload modules, and destroy graphs, that nobody can launch any more; returns how many are left.

    The driver lets kernels that run finish first.
    """
    while _retired:
        try:
            function, handle, context = _retired.popleft()
        except IndexError:
            # Another thread was faster.
            break
        with outside_of_captures():
            call("cuCtxPushCurrent", context)
            try:
                call(function, handle)
            finally:
                call("cuCtxPopCurrent")
    return len(_retired)


class Kernel(Record):
    """A kernel of a loaded module."""

    name: str
    handle: Any
    module: Module
    context: int


class KernelResources(Record):
    """What a kernel takes: registers a thread, bytes of spills a thread, shared bytes a block."""

    registers: int
    local_bytes: int
    shared_bytes: int
    max_threads: int


def load(cubin: bytes, device: int) -> Module:
    """Load a cubin for the device.

    Raises
    ------
    BackendError
        The binary is for another architecture, or the driver is too old for it.
    """
    with activated(device) as context, outside_of_captures():
        unload_retired()
        return Module(call("cuModuleLoadData", cubin), context, device)


def function(module: Module, name: str) -> Kernel:
    """The kernel of that name."""
    with activated(module.device), outside_of_captures():
        handle = call("cuModuleGetFunction", module.handle, name.encode())
        if driver_version() >= (12, 4):
            # Else its code is loaded at the first launch, which may be one that is captured into a graph.
            call("cuFuncLoad", handle)
    return Kernel(name, handle, module, int(module.context))


def resources(kernel: Kernel) -> KernelResources:
    """Registers, spills and shared memory of a kernel."""
    names = _driver().CUfunction_attribute
    values = (
        call("cuFuncGetAttribute", getattr(names, f"CU_FUNC_ATTRIBUTE_{name}"), kernel.handle)
        for name in ("NUM_REGS", "LOCAL_SIZE_BYTES", "SHARED_SIZE_BYTES", "MAX_THREADS_PER_BLOCK")
    )
    return KernelResources(*values)


def starts_early(device: int) -> bool:
    """Whether a kernel can start before the one that it follows has ended, for which it waits itself.

    Older drivers know it and cannot capture it into a graph.
    """
    return int(arch(device)[3:]) >= 90 and driver_version() >= (12, 3)


_EARLY = ctypes.create_string_buffer(struct.pack("@i4xi60x", 6, 1))
"""``CUlaunchAttribute``: what follows the launch before in the stream may start when that one lets it."""

EARLY = ctypes.addressof(_EARLY)

_CONFIGURATION = "@7IPPI"
"""``CUlaunchConfig``: grid and block of three lengths, shared memory, stream, attributes and their number."""

_LENGTHS = struct.calcsize("@7I")
_HEAD = struct.calcsize(f"{_CONFIGURATION}0q")


class Parameters:
    """A kernel's parameters in one block of memory, with the table of addresses a launch takes, and the launch.

    One thread uses it at a time: a launch copies the block before it returns.

    Parameters
    ----------
    codes : str
        One letter a parameter: ``P`` a pointer, ``i`` and ``q`` an index of 32 and 64 bits,
        :data:`PARAMETER_CODES` for scalars.
    threads : int
        Of a block.
    early : bool
        The kernel may start while the launch before it ends.

    Attributes
    ----------
    pack : callable
        ``pack(*values)`` writes all parameters.
    address, configuration : int
        Addresses of the table of addresses, and of the launch (a ``CUlaunchConfig``).
    blocks : int or (int, int, int, int)
        The blocks of the launch as it is now, or its blocks and the threads of each in two directions.
    stream : int
        Its stream.
    """

    __slots__ = ("_block", "_early", "_table", "_write", "address", "blocks", "configuration", "pack", "stream", "threads")

    def __init__(self, codes: str, threads: int = 1, early: bool = False):
        self._early = (EARLY, 1) if early else (0, 0)
        layout = struct.Struct(f"@{codes}")
        self._block = ctypes.create_string_buffer(_HEAD + max(layout.size, 1))
        self.configuration = ctypes.addressof(self._block)
        start = self.configuration + _HEAD
        # "0q" pads to the alignment of the next parameter and takes no room itself.
        offsets = [struct.calcsize(f"@{codes[:n]}0{code}") for n, code in enumerate(codes)]
        self._table = (ctypes.c_void_p * max(len(codes), 1))(*(start + offset for offset in offsets))
        self.address = ctypes.addressof(self._table)
        self.pack = partial(layout.pack_into, self._block, _HEAD)
        self._write = partial(struct.Struct(_CONFIGURATION).pack_into, self._block, 0)
        self.threads = threads
        self.configure(0, 0)

    def configure(self, blocks: int | tuple[int, int, int, int], stream: int) -> None:
        """Write the launch: so many blocks along the first axis or along two, on the stream."""
        columns, rows, width, height = (blocks, 1, self.threads, 1) if isinstance(blocks, int) else blocks
        self._write(columns, rows, 1, width, height, 1, 0, stream, *self._early)
        self.blocks, self.stream = blocks, stream

    def state(self) -> bytes:
        """Everything about the launch but its stream: the lengths of grid and block, shared memory, and the parameters."""
        content = self._block.raw
        return content[:_LENGTHS] + content[_HEAD:]

    def restore(self, state: bytes) -> None:
        """Write parameters as they were; the launch is not written."""
        ctypes.memmove(self.configuration + _HEAD, state[_LENGTHS:], len(state) - _LENGTHS)


class _ThreadParameters(Local):
    def __init__(self) -> None:
        self.blocks: dict[str, Parameters] = {}


thread = _ThreadParameters()
"""What :func:`thread_parameters` made for this thread, by their keys in ``blocks``."""


def thread_parameters(key: str) -> Parameters:
    """This thread's own parameter block, made once.

    Parameters
    ----------
    key : str
        The codes of the parameters; behind a blank the threads of a block, where the launch is written too, and behind
        another one ``early`` where the kernel may start while the launch before it ends.
    """
    found = thread.blocks.get(key)
    if found is None:
        found = thread.blocks[key] = parameters_of(key)
    return found


def parameters_of(key: str) -> Parameters:
    """New memory for parameters; see :func:`thread_parameters`."""
    codes, *rest = key.split(" ")
    return Parameters(codes, int(rest[0]) if rest else 1, len(rest) > 1)


def launch(
    kernel: Kernel,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    parameters: Parameters,
    stream: int = 0,
    shared_bytes: int = 0,
) -> None:
    """Start the kernel on the stream; returns before it has run.

    Parameters
    ----------
    grid, block : tuple of int
        Blocks, and threads a block; a zero means there is nothing to do.
    parameters : Parameters
        Packed; may be used again as soon as this returns.
    shared_bytes : int
        Dynamic shared memory a block.

    Raises
    ------
    BackendError
        The driver refused the launch, or an earlier kernel failed.
    """
    if 0 in grid or 0 in block:
        return
    driver = _bindings
    _, current = driver.cuCtxGetCurrent()
    foreign = int(current) != kernel.context
    if foreign:
        call("cuCtxPushCurrent", kernel.module.context)
    try:
        (status,) = driver.cuLaunchKernel(kernel.handle, *grid, *block, shared_bytes, stream, parameters.address, 0)
    finally:
        if foreign:
            call("cuCtxPopCurrent")
    if status:
        _fail(driver, status, f"launching {kernel.name} with grid {grid} and block {block}")


def is_foreign_context(kernel: Kernel) -> bool:
    """Whether another context than the kernel's is current in this thread."""
    return int(call("cuCtxGetCurrent")) != kernel.context


def launch_failed(kernel: Kernel, status: Any, blocks: int, threads: int) -> NoReturn:
    """Raise what the driver said of a launch.

    Raises
    ------
    BackendError
    """
    refused(status, f"launching {kernel.name} with {blocks} blocks of {threads} threads")


def refused(status: Any, what: str) -> NoReturn:
    """Raise what the driver said of something.

    Raises
    ------
    BackendError
    """
    _fail(_driver(), status, what)
