"""Short ways to the arrays of libraries that are called often.

The generic program reads every argument through a description; these templates read the
library's own attributes, which costs a tenth.  A program answers ``NotImplemented``, before it
has done anything, for a call that only the generic one knows how to judge: misaligned memory,
or another context than the kernels'.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pytocu.runtime import cuda, threads
from pytocu.runtime.executors import ELEMENTS_PER_THREAD, parameter_codes, slot_layout
from pytocu.runtime.plan import KernelSpec
from pytocu.runtime.program import Access


def cupy_access(specs: Sequence[KernelSpec], kernels: Sequence[cuda.Kernel]) -> Access:
    """CuPy arrays on the device and in the context the kernels are loaded in."""
    cupy: Any = sys.modules["cupy"]
    driver = cuda.bindings()
    globals: dict[str, Any] = {
        "ndarray": cupy.ndarray,
        "current_stream": cupy.cuda.get_current_stream,
        "cuLaunchKernel": driver.cuLaunchKernel,
        "cuCtxGetCurrent": driver.cuCtxGetCurrent,
        "thread_parameters": cuda.thread_parameters,
        "launch_failed": cuda.launch_failed,
        "context": kernels[0].context if kernels else 0,
        "kernels": tuple(kernels),
        "handles": tuple(k.handle for k in kernels),
        "codes": tuple(parameter_codes(s.parameters, s.index_bits) for s in specs),
    }
    return Access(
        shape="v{n}.shape",
        pointer="p{n}",
        strides="v{n}.strides",
        allocate="{made} = ndarray({shape}, {dtype}, None, None, {order})",
        made_pointer="{made}.data.ptr",
        launch=(
            "parameters = thread_parameters(codes[{number}])\n"
            "parameters.pack({values},)\n"
            "blocks = -(-{work} // {block})\n"
            "if blocks > 2147483647: blocks = 2147483647\n"
            "(status,) = cuLaunchKernel(handles[{number}], blocks, 1, 1, {block}, 1, 1, 0, stream, parameters.address, 0)\n"
            "if status: launch_failed(kernels[{number}], status, blocks, {block})"
        ),
        scalar="{made}",
        array="{made}",
        globals=globals,
        setup=(
            "if int(cuCtxGetCurrent()[1]) != context: return NotImplemented",
            "p{n} = v{n}.data.ptr",
            "if p{n} & {mask}: return NotImplemented",
            "stream = current_stream().ptr",
        ),
    )


def numpy_access(specs: Sequence[KernelSpec], addresses: Sequence[int]) -> Access:
    """NumPy arrays and native functions."""
    globals: dict[str, Any] = {
        "addressof": ctypes.addressof,
        "empty": np.empty,
        "run_threads": threads.run,
        "natives": tuple(threads.native(a) for a in addresses),
        "addresses": tuple(addresses),
        "packs": tuple(_packer(s) for s in specs),
        "enough": ELEMENTS_PER_THREAD,
    }
    return Access(
        shape="v{n}.shape",
        pointer="p{n}",
        strides="v{n}.strides",
        allocate="{made} = empty({shape}, {dtype}, {order})",
        made_pointer='{made}.__array_interface__["data"][0]',
        launch=(
            "slots = packs[{number}]({values},)\n"
            "if {work} * {cost} < enough: natives[{number}](slots, 0, {work})\n"
            "else: run_threads(addresses[{number}], addressof(slots), {work}, max(enough // {cost}, 1))"
        ),
        scalar="{made}[()]",
        array="{made}",
        globals=globals,
        setup=(
            'p{n} = v{n}.__array_interface__["data"][0]',
            "if p{n} & {mask}: return NotImplemented",
        ),
    )


def _packer(spec: KernelSpec) -> Callable[..., Any]:
    """A function from parameter values to the address of their slots.

    The slots are new at each call: the native function runs without Python's lock, and another
    thread may call the same function meanwhile.
    """
    layout = slot_layout(spec.parameters)
    size = max(layout.size, 8)
    make = ctypes.c_char * size

    def pack(*values: Any) -> Any:
        slots = make()
        layout.pack_into(slots, 0, *values)
        return slots

    return pack
