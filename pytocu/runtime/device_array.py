"""Arrays of our own on a GPU, for callers whose objects come from no library that allocates."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from pytocu.deferred import Deferred
from pytocu.errors import BackendError
from pytocu.runtime import cuda, failures, streams
from pytocu.runtime.strides import byte_bounds, c_strides, dense_strides, is_c_contiguous

_capsule = Deferred("pytocu.runtime.dlpack", "capsule")

_pools: dict[int, bool] = {}
_released: deque[tuple[int, int, int, bool]] = deque()
_stream_owners: dict[int, object] = {}


class DeviceMemory:
    """Bytes on a device, given back in the order of the stream they were taken on.

    What is taken while the stream is captured into a graph stays where it is for every replay,
    so it comes from no pool.

    Parameters
    ----------
    nbytes, device : int
    stream : int
        The stream that uses the memory; one that :func:`pytocu.stream` named is kept alive.
    """

    __slots__ = ("__weakref__", "device", "nbytes", "pointer", "pooled", "stream")

    def __init__(self, nbytes: int, device: int, stream: int = 0):
        self.device, self.nbytes, self.stream, self.pointer = device, nbytes, stream, 0
        self.pooled = False
        if not nbytes:
            return
        with cuda.activated(device):
            if _has_pools(device) and not cuda.capture_of(stream):
                self.pointer = int(cuda.call("cuMemAllocAsync", nbytes, stream))
                self.pooled = True
                # Not an attribute: the garbage collector could destroy the stream first, if it found both at once.
                _stream_owners[self.pointer] = streams.owner_of(stream, device)
            else:
                with cuda.outside_of_captures():
                    self.pointer = int(cuda.call("cuMemAlloc", nbytes))

    def __del__(self) -> None:
        # While the interpreter ends, the driver may be gone already and frees all by itself.
        if not getattr(self, "pointer", 0) or sys.is_finalizing():
            return
        _released.append((self.pointer, self.device, self.stream, self.pooled))
        _free_released()


def _free_released() -> None:
    """Free what is released; memory of a stream that is being captured waits for the end of the capture."""
    for _ in range(len(_released)):
        try:
            item = _released.popleft()
        except IndexError:
            # Another thread was faster.
            return
        pointer, device, stream, pooled = item
        try:
            with cuda.activated(device):
                if not pooled:
                    with cuda.outside_of_captures():
                        cuda.call("cuMemFree", pointer)
                elif cuda.capture_of(stream):
                    _released.append(item)
                else:
                    # Before the address can be given to another array.
                    owner = _stream_owners.pop(pointer, None)
                    cuda.call("cuMemFreeAsync", pointer, stream)
                    del owner
        except BackendError:
            # A kernel that failed took the context and its memory with it; who waits for it is told.
            continue


def _has_pools(device: int) -> bool:
    if device not in _pools:
        _pools[device] = bool(cuda.attribute("CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED", device))
    return _pools[device]


def copy_to_device(pointer: int, source: np.ndarray, device: int, stream: int = 0) -> None:
    """Copy a C-contiguous NumPy array to the address, and wait."""
    if source.nbytes:
        with cuda.activated(device):
            cuda.call("cuMemcpyHtoDAsync", pointer, source.ctypes.data, source.nbytes, stream)
            cuda.call("cuStreamSynchronize", stream)


def copy_to_host(target: np.ndarray, pointer: int, device: int, stream: int = 0) -> None:
    """Fill a C-contiguous NumPy array from the address, and wait."""
    if target.nbytes:
        with cuda.activated(device):
            cuda.call("cuMemcpyDtoHAsync", target.ctypes.data, pointer, target.nbytes, stream)
            cuda.call("cuStreamSynchronize", stream)


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

    def transposed(self, axes: Sequence[int]) -> DeviceArray:
        """The same elements with the axes in another order."""
        shape, strides = ([of[axis] for axis in axes] for of in (self.shape, self.strides))
        return DeviceArray(self.pointer, shape, self.dtype, strides, self.device, self.stream, self.owner, self.readonly)

    def copy_to_host(self) -> np.ndarray:
        """The elements as a NumPy array, after the work on the stream is done."""
        low, high = byte_bounds(self.shape, self.strides, self.dtype.itemsize)
        raw = np.empty(high - low, np.uint8)
        copy_to_host(raw, self.pointer + low, self.device, self.stream)
        failures.check()
        return np.ndarray(self.shape, self.dtype, raw, -low, self.strides).copy()

    def __dlpack_device__(self) -> tuple[int, int]:
        from pytocu.runtime import dlpack

        return dlpack.DLPACK_CUDA, self.device

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
            cuda.wait(stream or 1, self.stream, self.device)
        return _capsule(self, self.pointer, self.device, self.shape, self.strides, self.dtype, self.readonly, versioned)


def empty(shape: Sequence[int], dtype: np.dtype, device: int, stream: int = 0, order: str = "C") -> DeviceArray:
    """A new array with undefined contents.

    Parameters
    ----------
    order : str
        ``C`` row-major, ``F`` column-major, or the axes from the slowest to the fastest.

    Raises
    ------
    BackendError
        There is no driver, or not enough memory.
    """
    strides = dense_strides(shape, dtype.itemsize, order)
    memory = DeviceMemory(int(np.prod(shape, dtype=object)) * dtype.itemsize, device, stream)
    return DeviceArray(memory.pointer, shape, dtype, strides, device, stream, memory)


def to_device(array: np.ndarray, device: int, stream: int = 0) -> DeviceArray:
    """Copy a NumPy array to the device, row-major."""
    source = np.ascontiguousarray(array).reshape(array.shape)
    made = empty(source.shape, source.dtype, device, stream)
    copy_to_device(made.pointer, source, device, stream)
    return made
