"""The same work on a GPU by pytocu, CuPy, ``cupy.fuse``, PyTorch, ``torch.compile``, JAX and hand-written CUDA.

All of them read the same device memory, as arrays of their own kind.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import pytocu
from benchmarks.run_time import AbsentError, Call, Maker
from benchmarks.workloads import Workload, with_module


def _finish(result: Any) -> None:
    import cupy

    cupy.cuda.Device().synchronize()


def pytocu_maker(backend: str | None) -> Maker:
    """The function compiled by one of pytocu's backends, on CuPy arrays."""

    def make(workload: Workload, arguments: Sequence[Any]) -> Call:
        compiled = pytocu.jit(workload.function, backend=backend)
        return Call(lambda: compiled(*arguments), _finish)

    return make


def cupy_call(workload: Workload, arguments: Sequence[Any]) -> Call:
    """The function with CuPy as ``np``."""
    import cupy

    eager = with_module(workload.function, cupy)
    return Call(lambda: eager(*arguments), _finish)


def cupy_fuse_call(workload: Workload, arguments: Sequence[Any]) -> Call:
    """The function with CuPy as ``np``, fused."""
    import cupy

    fused = cupy.fuse(kernel_name=workload.function.__name__)(with_module(workload.function, cupy))
    return Call(lambda: fused(*arguments), _finish)


def _tensors(arguments: Sequence[Any]) -> list[Any]:
    import torch

    # Shares the memory, for every dtype that both have.
    return [torch.as_tensor(a, device="cuda") if hasattr(a, "__cuda_array_interface__") else a for a in arguments]


def torch_call(workload: Workload, arguments: Sequence[Any]) -> Call:
    """Eager PyTorch."""
    import torch

    from benchmarks.torch_functions import function_for

    function, tensors = function_for(workload.function, eager=True), _tensors(arguments)
    return Call(torch.inference_mode()(lambda: function(*tensors)), _finish)


def torch_compile_call(workload: Workload, arguments: Sequence[Any]) -> Call:
    """``torch.compile`` for these shapes."""
    import torch

    from benchmarks.torch_functions import function_for

    torch._dynamo.reset()
    compiled, tensors = torch.compile(function_for(workload.function, eager=False), dynamic=False), _tensors(arguments)
    return Call(torch.inference_mode()(lambda: compiled(*tensors)), _finish)


def jax_call(workload: Workload, arguments: Sequence[Any]) -> Call:
    """``jax.jit`` of the same text, or of its own."""
    # JAX would take three quarters of the device's memory for itself.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import jax

    from benchmarks.jax_functions import function_for

    jax.config.update("jax_enable_x64", True)
    traced = jax.jit(function_for(workload.function))
    mine = [_jax_array(a) if hasattr(a, "__dlpack__") else a for a in arguments]
    return Call(lambda: traced(*mine), jax.block_until_ready, own_stream=True)


def _jax_array(array: Any) -> Any:
    import jax

    try:
        return jax.dlpack.from_dlpack(array)
    except (TypeError, ValueError, RuntimeError, BufferError):
        # A dtype that JAX does not take from other libraries goes through the host.
        return jax.device_put(array.get())


def cuda_call(workload: Workload, arguments: Sequence[Any]) -> Call:
    """A kernel written by hand."""
    from benchmarks.cuda_kernels import KERNELS

    prepare = KERNELS.get(workload.function.__name__)
    if prepare is None:
        raise AbsentError
    return Call(prepare(arguments), _finish)


PEERS: dict[str, Callable[[Workload, Sequence[Any]], Call]] = {
    "cupy": cupy_call,
    "cupy.fuse": cupy_fuse_call,
    "torch": torch_call,
    "torch.compile": torch_compile_call,
    "jax": jax_call,
    "cuda": cuda_call,
}
"""Candidates by their name in the table."""


def convert(value: Any) -> Any:
    """A result of any of them as a CuPy array."""
    import cupy

    # PyTorch's and JAX's arrays are read where they are; scalars and dtypes that JAX does not share come through the host.
    return cupy.asarray(value if hasattr(value, "__cuda_array_interface__") else np.asarray(value))


def clean() -> None:
    """Give the memory of the last workload back, so that every candidate of the next finds the same."""
    import gc

    import cupy

    gc.collect()
    cupy.get_default_memory_pool().free_all_blocks()
    if "torch" in sys.modules:
        sys.modules["torch"].cuda.empty_cache()
