"""Devices, contexts, modules, launches and memory, through ``cuda.bindings.driver`` alone.

Nothing is imported or initialised before the first use.  Devices are CUDA ordinals, streams
are the integers the driver uses: 0 or 1 the legacy default stream, 2 the thread's default
stream, else a handle.
"""

from __future__ import annotations

import ctypes
import struct
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn

import numpy as np

from pytocu.errors import BackendError
from pytocu.ir.types import BOOL, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64, DType

PARAMETER_CODES: dict[DType, str] = {
    BOOL: "?", I8: "b", I16: "h", I32: "i", I64: "q", U8: "B", U16: "H", U32: "I", U64: "Q", F32: "f", F64: "d",
}  # fmt: skip
"""Codes of :class:`Parameters` for scalars; a pointer is ``P``, an index ``i`` or ``q``."""

_bindings: Any = None
_lock = threading.Lock()
_primary: dict[int, Any] = {}
_archs: dict[int, str] = {}
_pools: dict[int, bool] = {}


def _driver() -> Any:
    """``cuda.bindings.driver``, initialised."""
    global _bindings
    if _bindings is None:
        with _lock:
            if _bindings is None:
                _bindings = _initialised()
    return _bindings


def bindings() -> Any:
    """``cuda.bindings.driver``, initialised; for code that launches on its own."""
    return _driver()


def _initialised() -> Any:
    try:
        from cuda.bindings import driver  # pyright: ignore[reportAttributeAccessIssue]
    except ImportError as error:
        raise BackendError(f"running on a GPU needs cuda-python ({error}): pip install 'pytocu[cu13]'") from None
    try:
        (status,) = driver.cuInit(0)
    except RuntimeError:
        # The bindings look for the library at the first call and report its absence this way.
        raise BackendError("no NVIDIA driver was found: a GPU needs the display driver, which pip cannot install") from None
    if status:
        if status == driver.CUresult.CUDA_ERROR_NO_DEVICE:
            raise BackendError("the NVIDIA driver sees no GPU (CUDA_ERROR_NO_DEVICE)")
        _fail(driver, status, "cuInit")
    return driver


def _fail(driver: Any, status: Any, what: str) -> NoReturn:
    _, name = driver.cuGetErrorName(status)
    _, sentence = driver.cuGetErrorString(status)
    name = name.decode() if name else str(status)
    raise BackendError(f"{what} failed: {name}: {sentence.decode() if sentence else 'unknown error'}")


def _call(function: str, *args: Any) -> Any:
    """Call the driver; a result code other than success is an error, the value is the answer."""
    driver = _driver()
    status, *values = getattr(driver, function)(*args)
    if status:
        _fail(driver, status, function)
    return values[0] if values else None


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
        There is no driver, or cuda-python is not installed.
    """
    return _call("cuDeviceGetCount")


def driver_version() -> tuple[int, int]:
    """The CUDA version the driver supports, as ``(13, 0)``."""
    number = _call("cuDriverGetVersion")
    return number // 1000, number % 1000 // 10


def device_name(device: int) -> str:
    """The GPU's name, as ``NVIDIA H200``."""
    return _call("cuDeviceGetName", 256, _device(device)).split(b"\0")[0].decode()


def multiprocessors(device: int) -> int:
    """How many multiprocessors the GPU has."""
    return _attribute("CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT", device)


def arch(device: int) -> str:
    """The GPU's architecture, as ``sm_90``."""
    if device not in _archs:
        major = _attribute("CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR", device)
        _archs[device] = f"sm_{major}{_attribute('CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR', device)}"
    return _archs[device]


def _device(device: int) -> Any:
    return _call("cuDeviceGet", device)


def _attribute(name: str, device: int) -> int:
    return _call("cuDeviceGetAttribute", getattr(_driver().CUdevice_attribute, name), _device(device))


def current_device() -> int:
    """The device of this thread's CUDA context; 0 when it has none."""
    return int(_call("cuCtxGetDevice")) if int(_call("cuCtxGetCurrent")) else 0


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
    status, context = driver.cuDevicePrimaryCtxRetain(_device(device))
    if status:
        _fail(driver, status, "cuDevicePrimaryCtxRetain")
    return context


@contextmanager
def activated(device: int) -> Iterator[Any]:
    """Have a context of the device current: the thread's own, else the primary one."""
    current = _call("cuCtxGetCurrent")
    if int(current) and int(_call("cuCtxGetDevice")) == device:
        yield current
        return
    context = _primary_context(device)
    _call("cuCtxPushCurrent", context)
    try:
        yield context
    finally:
        _call("cuCtxPopCurrent")


def synchronize(stream: int, device: int) -> None:
    """Wait for all work on the stream; an error of an earlier kernel is raised here."""
    with activated(device):
        _call("cuStreamSynchronize", stream)


def wait(stream: int, producer: int, device: int) -> None:
    """Let the stream go on only after what `producer` has been given so far.

    Both are streams of one device.
    """
    if stream == producer or (stream < 2 and producer < 2):
        return
    with activated(device):
        event = _call("cuEventCreate", _driver().CUevent_flags.CU_EVENT_DISABLE_TIMING)
        try:
            _call("cuEventRecord", event, producer)
            _call("cuStreamWaitEvent", stream, event, 0)
        finally:
            _call("cuEventDestroy", event)


# Modules and launches.


@dataclass(frozen=True, slots=True, eq=False)
class Module:
    """A loaded binary; it stays loaded as long as the process lives."""

    handle: Any
    context: Any
    device: int


@dataclass(frozen=True, slots=True, eq=False)
class Kernel:
    """A kernel of a loaded module."""

    name: str
    handle: Any
    module: Module
    context: int


@dataclass(frozen=True, slots=True)
class KernelResources:
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
    with activated(device) as context:
        return Module(_call("cuModuleLoadData", cubin), context, device)


def function(module: Module, name: str) -> Kernel:
    """The kernel of that name."""
    with activated(module.device):
        handle = _call("cuModuleGetFunction", module.handle, name.encode())
    return Kernel(name, handle, module, int(module.context))


def resources(kernel: Kernel) -> KernelResources:
    """Registers, spills and shared memory of a kernel."""
    names = _driver().CUfunction_attribute
    values = (
        _call("cuFuncGetAttribute", getattr(names, f"CU_FUNC_ATTRIBUTE_{name}"), kernel.handle)
        for name in ("NUM_REGS", "LOCAL_SIZE_BYTES", "SHARED_SIZE_BYTES", "MAX_THREADS_PER_BLOCK")
    )
    return KernelResources(*values)


class Parameters:
    """A kernel's parameters in one block of memory, with the table of addresses a launch takes.

    One thread uses it at a time: a launch copies the block before it returns.

    Parameters
    ----------
    codes : str
        One letter a parameter: ``P`` a pointer, ``i`` and ``q`` an index of 32 and 64 bits,
        :data:`PARAMETER_CODES` for scalars.

    Attributes
    ----------
    pack : callable
        ``pack(*values)`` writes all parameters.
    address : int
        Address of the table of addresses.
    """

    __slots__ = ("_block", "_table", "address", "pack")

    def __init__(self, codes: str):
        layout = struct.Struct(f"@{codes}")
        self._block = ctypes.create_string_buffer(max(layout.size, 1))
        start = ctypes.addressof(self._block)
        # "0q" pads to the alignment of the next parameter and takes no room itself.
        offsets = [struct.calcsize(f"@{codes[:n]}0{code}") for n, code in enumerate(codes)]
        self._table = (ctypes.c_void_p * max(len(codes), 1))(*(start + offset for offset in offsets))
        self.address = ctypes.addressof(self._table)
        self.pack = partial(layout.pack_into, self._block, 0)


class _ThreadParameters(threading.local):
    def __init__(self) -> None:
        self.blocks: dict[str, Parameters] = {}


_thread = _ThreadParameters()


def thread_parameters(codes: str) -> Parameters:
    """This thread's own parameter block for a list of codes, made once."""
    found = _thread.blocks.get(codes)
    if found is None:
        found = _thread.blocks[codes] = Parameters(codes)
    return found


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
        _call("cuCtxPushCurrent", kernel.module.context)
    try:
        (status,) = driver.cuLaunchKernel(kernel.handle, *grid, *block, shared_bytes, stream, parameters.address, 0)
    finally:
        if foreign:
            _call("cuCtxPopCurrent")
    if status:
        _fail(driver, status, f"launching {kernel.name} with grid {grid} and block {block}")


def is_foreign_context(kernel: Kernel) -> bool:
    """Whether another context than the kernel's is current in this thread."""
    return int(_call("cuCtxGetCurrent")) != kernel.context


def launch_failed(kernel: Kernel, status: Any, blocks: int, threads: int) -> NoReturn:
    """Raise what the driver said of a launch.

    Raises
    ------
    BackendError
    """
    _fail(_driver(), status, f"launching {kernel.name} with {blocks} blocks of {threads} threads")


# Memory.


class DeviceMemory:
    """Bytes on a device, given back in the order of the stream they were taken on."""

    __slots__ = ("__weakref__", "device", "nbytes", "pointer", "stream")

    def __init__(self, nbytes: int, device: int, stream: int = 0):
        self.device, self.nbytes, self.stream, self.pointer = device, nbytes, stream, 0
        if nbytes:
            with activated(device):
                if _has_pools(device):
                    self.pointer = int(_call("cuMemAllocAsync", nbytes, stream))
                else:
                    self.pointer = int(_call("cuMemAlloc", nbytes))

    def __del__(self) -> None:
        # While the interpreter ends, the driver may be gone already and frees all by itself.
        if not getattr(self, "pointer", 0) or sys.is_finalizing():
            return
        try:
            with activated(self.device):
                if _has_pools(self.device):
                    _call("cuMemFreeAsync", self.pointer, self.stream)
                else:
                    _call("cuMemFree", self.pointer)
        except BackendError:
            # A kernel that failed took the context and its memory with it; who waits for it is told.
            return


def _has_pools(device: int) -> bool:
    if device not in _pools:
        _pools[device] = bool(_attribute("CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED", device))
    return _pools[device]


def copy_to_device(pointer: int, source: np.ndarray, device: int, stream: int = 0) -> None:
    """Copy a C-contiguous NumPy array to the address, and wait."""
    if source.nbytes:
        with activated(device):
            _call("cuMemcpyHtoDAsync", pointer, source.ctypes.data, source.nbytes, stream)
            _call("cuStreamSynchronize", stream)


def copy_to_host(target: np.ndarray, pointer: int, device: int, stream: int = 0) -> None:
    """Fill a C-contiguous NumPy array from the address, and wait."""
    if target.nbytes:
        with activated(device):
            _call("cuMemcpyDtoHAsync", target.ctypes.data, pointer, target.nbytes, stream)
            _call("cuStreamSynchronize", stream)


def c_strides(shape: Sequence[int], itemsize: int) -> tuple[int, ...]:
    """Strides in bytes of a row-major array.

    Examples
    --------
    >>> c_strides((2, 3), 4)
    (12, 4)
    """
    strides: list[int] = []
    step = itemsize
    for length in reversed(shape):
        strides.append(step)
        step *= max(length, 1)
    return tuple(reversed(strides))


def is_c_contiguous(shape: Sequence[int], strides: Sequence[int], itemsize: int) -> bool:
    """Whether the elements lie in row-major order without gaps.

    Strides of dimensions of length 1, and all strides of an empty array, say nothing.
    """
    if 0 in shape:
        return True
    expected = itemsize
    for length, stride in zip(reversed(shape), reversed(strides), strict=True):
        if length != 1 and stride != expected:
            return False
        expected *= length
    return True


def byte_bounds(shape: Sequence[int], strides: Sequence[int], itemsize: int) -> tuple[int, int]:
    """First byte and one past the last byte the elements touch, from the first element's."""
    if 0 in shape:
        return 0, 0
    steps = [(length - 1) * stride for length, stride in zip(shape, strides, strict=True)]
    return sum(s for s in steps if s < 0), sum(s for s in steps if s > 0) + itemsize


# Arrays of our own, for callers whose objects come from no library that allocates.


class DLDevice(ctypes.Structure):
    """DLPack's device."""

    _fields_ = (("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32))


class DLDataType(ctypes.Structure):
    """DLPack's dtype."""

    _fields_ = (("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16))


class DLTensor(ctypes.Structure):
    """DLPack's description of an array; strides count elements."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", DLDevice),
        ("ndim", ctypes.c_int32),
        ("dtype", DLDataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class DLManagedTensor(ctypes.Structure):
    """What an unversioned capsule holds."""

    _fields_ = (("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


class DLManagedTensorVersioned(ctypes.Structure):
    """What a capsule of DLPack 1.0 and later holds; bit 0 of the flags is read-only."""

    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", DLTensor),
    )


DLPACK_CPU, DLPACK_CUDA, DLPACK_CUDA_HOST, DLPACK_CUDA_MANAGED = 1, 2, 3, 13
DLPACK_KINDS = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}
"""NumPy's kind of a DLPack type code."""

_DLPACK_CODES = {kind: code for code, kind in DLPACK_KINDS.items()}
_UNVERSIONED, _VERSIONED = b"dltensor", b"dltensor_versioned"
_exported: dict[int, Any] = {}
# The destructor gets a capsule that nobody owns any more: as a plain address, so that it is not counted again.
_capsule_new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
    ("PyCapsule_New", ctypes.pythonapi)
)
_capsule_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", ctypes.pythonapi))
_capsule_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


@ctypes.CFUNCTYPE(None, ctypes.c_void_p)
def _release_export(address: int) -> None:
    _exported.pop(address, None)


@ctypes.PYFUNCTYPE(None, ctypes.c_void_p)
def _destroy_capsule(capsule: int) -> None:
    # A consumer has renamed the capsule, and calls the deleter itself.
    for name in (_UNVERSIONED, _VERSIONED):
        if _capsule_is_valid(capsule, name):
            _exported.pop(_capsule_pointer(capsule, name), None)


def capsule_tensor(capsule: object) -> tuple[DLTensor, bool] | None:
    """The array in a DLPack capsule and whether it is read-only; None when it is no such capsule.

    The capsule stays unconsumed, so it owns the memory as long as it lives.
    """
    address = id(capsule)
    for name, kind in ((_VERSIONED, DLManagedTensorVersioned), (_UNVERSIONED, DLManagedTensor)):
        if _capsule_is_valid(address, name):
            held = kind.from_address(_capsule_pointer(address, name))
            return held.tensor, bool(getattr(held, "flags", 0) & 1)
    return None


class DeviceArray:
    """An array on a GPU, for any library that reads the CUDA array interface or DLPack.

    Attributes
    ----------
    pointer : int
        Address of the first element.
    shape, strides : tuple of int
        Strides in bytes.
    dtype : numpy.dtype
    device, stream : int
        Where it is, and the stream its contents are written on.
    owner : object
        What keeps the memory alive.
    """

    __slots__ = ("__weakref__", "device", "dtype", "owner", "pointer", "readonly", "shape", "stream", "strides")

    def __init__(
        self,
        pointer: int,
        shape: Sequence[int],
        dtype: np.dtype,
        strides: Sequence[int] | None,
        device: int,
        stream: int,
        owner: object,
        readonly: bool = False,
    ):
        self.pointer, self.shape, self.dtype = pointer, tuple(shape), dtype
        self.strides = c_strides(shape, dtype.itemsize) if strides is None else tuple(strides)
        self.device, self.stream, self.owner, self.readonly = device, stream, owner, readonly

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(np.prod(self.shape, dtype=object))

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.dtype.itemsize

    def __repr__(self) -> str:
        return f"<DeviceArray {self.dtype}{list(self.shape)} on CUDA device {self.device}>"

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        contiguous = is_c_contiguous(self.shape, self.strides, self.dtype.itemsize)
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.pointer, self.readonly),
            "strides": None if contiguous else self.strides,
            "version": 3,
            "stream": self.stream or 1,
        }

    def copy_to_host(self) -> np.ndarray:
        """The elements as a NumPy array, after the work on the stream is done."""
        low, high = byte_bounds(self.shape, self.strides, self.dtype.itemsize)
        raw = np.empty(high - low, np.uint8)
        copy_to_host(raw, self.pointer + low, self.device, self.stream)
        return np.ndarray(self.shape, self.dtype, raw, -low, self.strides).copy()

    def __dlpack_device__(self) -> tuple[int, int]:
        return DLPACK_CUDA, self.device

    def __dlpack__(
        self,
        *,
        stream: int | None = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> object:
        versioned = max_version is not None and max_version[0] >= 1
        if copy:
            raise BufferError("a DeviceArray is exported without a copy only")
        if dl_device is not None and tuple(dl_device) != self.__dlpack_device__():
            raise BufferError(f"a DeviceArray on CUDA device {self.device} is not exported to device {tuple(dl_device)}")
        if stream == 0:
            raise BufferError("stream 0 is ambiguous in DLPack: pass 1 for the legacy default stream or 2 for the thread's")
        if self.readonly and not versioned:
            raise BufferError("a read-only array needs a consumer of DLPack 1.0 or later")
        if stream != -1:
            wait(stream or 1, self.stream, self.device)
        return self._capsule(versioned)

    def _capsule(self, versioned: bool) -> object:
        lengths = ctypes.c_int64 * max(self.ndim, 1)
        shape = lengths(*self.shape)
        strides = lengths(*(s // self.dtype.itemsize for s in self.strides))
        held = DLManagedTensorVersioned() if versioned else DLManagedTensor()
        if isinstance(held, DLManagedTensorVersioned):
            held.major, held.minor, held.flags = 1, 0, int(self.readonly)
        held.deleter = ctypes.cast(_release_export, ctypes.c_void_p)
        tensor = held.tensor
        tensor.data, tensor.ndim, tensor.byte_offset = self.pointer, self.ndim, 0
        tensor.device = DLDevice(DLPACK_CUDA, self.device)
        tensor.dtype = DLDataType(_DLPACK_CODES[self.dtype.kind], self.dtype.itemsize * 8, 1)
        tensor.shape = ctypes.cast(shape, ctypes.POINTER(ctypes.c_int64))
        tensor.strides = ctypes.cast(strides, ctypes.POINTER(ctypes.c_int64))
        address = ctypes.addressof(held)
        _exported[address] = (held, shape, strides, self)
        return _capsule_new(address, _VERSIONED if versioned else _UNVERSIONED, ctypes.cast(_destroy_capsule, ctypes.c_void_p))


def empty(shape: Sequence[int], dtype: np.dtype, device: int, stream: int = 0, order: str = "C") -> DeviceArray:
    """A new array with undefined contents.

    Parameters
    ----------
    order : str
        ``C`` row-major or ``F`` column-major.

    Raises
    ------
    BackendError
        There is no driver, or not enough memory.
    """
    strides = c_strides(shape, dtype.itemsize)
    if order == "F":
        strides = tuple(reversed(c_strides(tuple(reversed(shape)), dtype.itemsize)))
    memory = DeviceMemory(int(np.prod(shape, dtype=object)) * dtype.itemsize, device, stream)
    return DeviceArray(memory.pointer, shape, dtype, strides, device, stream, memory)


def to_device(array: np.ndarray, device: int, stream: int = 0) -> DeviceArray:
    """Copy a NumPy array to the device, row-major."""
    source = np.ascontiguousarray(array).reshape(array.shape)
    made = empty(source.shape, source.dtype, device, stream)
    copy_to_device(made.pointer, source, device, stream)
    return made
