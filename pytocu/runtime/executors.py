"""Where a plan's kernels run: on the CPU's threads, or on a CUDA device."""

from __future__ import annotations

import ctypes
import struct
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from pytocu.ir.types import DType, dtype_named
from pytocu.runtime import arrays, cuda, device_array, failures, graphs, results, streams, threads
from pytocu.runtime.arrays import ArrayInfo
from pytocu.runtime.plan import KernelSpec

ELEMENTS_PER_THREAD = 1 << 16
"""Fewer elements than this are no piece of their own; see `threads.run`."""

_MAX_GRID = 2**31 - 1


class CpuExecutor:
    """Runs native functions on arrays in the host's memory.

    Parameters
    ----------
    specs : sequence of KernelSpec
        The kernels of the plan.
    addresses : sequence of int
        Entry of each.
    like : ArrayInfo or None
        Whose library results belong to; None for NumPy.
    """

    waits = True

    def __init__(self, specs: Sequence[KernelSpec], addresses: Sequence[int], like: ArrayInfo | None):
        self.specs = specs
        self.addresses = addresses
        self.like = like if like is not None and like.library != "numpy" else None

    def allocate(self, shape: tuple[int, ...], dtype: DType, layout: str) -> tuple[Any, int]:
        """A new array of the caller's library."""
        if self.like is not None:
            return results.allocate(self.like, shape, dtype, layout)
        made = np.empty(shape, dtype.numpy, "F" if layout == "F" else "C")
        return made, made.ctypes.data

    def launch(self, number: int, values: Sequence[Any], work: int, cost: int) -> None:
        """Run the native function on the thread pool; returns when it is done."""
        spec = self.specs[number]
        slots = slot_layout(spec.parameters)
        packed = ctypes.create_string_buffer(slots.pack(*values), max(slots.size, 8))
        minimum = max(ELEMENTS_PER_THREAD // max(cost, 1), 1)
        threads.run(self.addresses[number], ctypes.addressof(packed), work, minimum)

    def failures(self, count: int) -> tuple[Any, int]:
        """Words of this call, and their address."""
        words = failures.new_words(count)
        return words, ctypes.addressof(words)

    def keep(self, temporaries: tuple[Any, ...]) -> None:
        """Nothing uses them any more."""

    def scalar(self, array: Any) -> Any:
        """NumPy gets a NumPy scalar; other libraries an array without axes."""
        return array[()] if self.like is None else results.finish(self.like, array)

    def array(self, array: Any) -> Any:
        """The array itself."""
        return array if self.like is None else results.finish(self.like, array)


@lru_cache(maxsize=1024)
def slot_layout(parameters: tuple[str, ...]) -> struct.Struct:
    """The layout of the parameters in slots of 8 bytes."""
    codes: list[str] = []
    for word in parameters:
        code = {"pointer": "Q", "index": "q"}.get(word) or cuda.PARAMETER_CODES[dtype_named(word)]
        size = struct.calcsize(f"={code}")
        codes.append(f"{code}{8 - size}x" if size < 8 else code)
    return struct.Struct("=" + "".join(codes))


class CudaKernels:
    """The kernels of a plan, loaded once a device, and the words in which they note what is wrong with the data."""

    def __init__(
        self, binary: Callable[[str], bytes], names: Sequence[str], needs: Sequence[failures.Failure] = (), words: int = 0
    ):
        self._binary = binary
        self._names = tuple(names)
        self._needs = needs
        self._count = words
        self._words: dict[int, failures.SharedWords] = {}
        self._lock = threading.Lock()
        self._loaded: dict[int, tuple[cuda.Kernel, ...]] = {}

    def on(self, device: int) -> tuple[cuda.Kernel, ...]:
        """The kernels on a device; the binary is made for its architecture the first time."""
        if not self._names:
            # Code without kernels has no binary.
            return ()
        found = self._loaded.get(device)
        if found is None:
            with self._lock:
                if device not in self._loaded:
                    module = cuda.load(self._binary(cuda.arch(device)), device)
                    self._loaded[device] = tuple(cuda.function(module, name) for name in self._names)
                found = self._loaded[device]
        return found


    def words(self, device: int) -> failures.SharedWords:
        """The words on a device."""
        with self._lock:
            if device not in self._words:
                self._words[device] = failures.SharedWords(self._needs, self._count, device)
            return self._words[device]


class CudaExecutor:
    """Launches kernels on the caller's stream.

    Parameters
    ----------
    specs : sequence of KernelSpec
        The kernels of the plan.
    kernels : CudaKernels
        The same, to be loaded.
    like : ArrayInfo
        Whose library, device and stream results belong to.
    infos : iterable of ArrayInfo
        All arrays of the call; the launch is ordered after whoever writes them.
    """

    waits = False

    def __init__(self, specs: Sequence[KernelSpec], kernels: CudaKernels, like: ArrayInfo, infos: Iterable[ArrayInfo]):
        self.specs = specs
        self.like = like
        device = results.resolve_device(like)
        assert isinstance(device, int)
        self.device = device
        self.kernels = kernels.on(device)
        self.words = kernels.words
        self.stream = streams.current(like.library, device)
        self.producers = arrays.producer_streams(infos, like)
        for producer in self.producers:
            cuda.wait(self.stream, producer, device)

    def allocate(self, shape: tuple[int, ...], dtype: DType, layout: str) -> tuple[Any, int]:
        """A new array from the caller's own allocator."""
        return results.allocate(self.like, shape, dtype, layout, self.stream)

    def launch(self, number: int, values: Sequence[Any], work: int, cost: int) -> None:
        """Start the kernel with a grid that covers the work."""
        spec = self.specs[number]
        parameters = cuda.thread_parameters(parameter_codes(spec.parameters, spec.index_bits))
        parameters.pack(*values)
        blocks = min(-(-work // spec.block), _MAX_GRID)
        cuda.launch(self.kernels[number], (blocks, 1, 1), (spec.block, 1, 1), parameters, self.stream)

    def failures(self, count: int) -> tuple[Any, int]:
        """The words of this code on the device; what an earlier call wrote is raised."""
        words = self.words(self.device)
        words.check()
        return words.memory, words.pointer

    def keep(self, temporaries: tuple[Any, ...]) -> None:
        """Replays of a graph use them again."""
        graphs.keep_for_replays(self.stream, temporaries)

    def finish(self) -> None:
        """Order the producers' later writes behind the kernels."""
        for producer in self.producers:
            cuda.wait(producer, self.stream, self.device)

    def scalar(self, array: Any) -> Any:
        """An array without axes: its value stays on the device."""
        return results.finish(self.like, array, self.stream)

    def array(self, array: Any) -> Any:
        """What the caller's library calls an array."""
        return results.finish(self.like, array, self.stream)


class HostArraysOnCuda(CudaExecutor):
    """NumPy arrays in and out of kernels on a device (``device="cuda"``): copies both ways."""

    def scalar(self, array: Any) -> Any:
        """A NumPy scalar."""
        return array.copy_to_host()[()]

    def array(self, array: Any) -> Any:
        """A NumPy array."""
        return array.copy_to_host()


def device_like(device: int) -> ArrayInfo:
    """What results of a call without arrays are like: pytocu's own arrays on the device."""
    info = arrays.describe(device_array.empty((1,), np.dtype(np.float32), device), "result")
    assert info is not None
    return info


@lru_cache(maxsize=1024)
def parameter_codes(parameters: tuple[str, ...], index_bits: int) -> str:
    """The kernel's parameters as codes of `cuda.Parameters`."""
    index = "i" if index_bits == 32 else "q"
    return "".join({"pointer": "P", "index": index}.get(w) or cuda.PARAMETER_CODES[dtype_named(w)] for w in parameters)
