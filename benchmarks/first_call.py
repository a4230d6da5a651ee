"""One first call in a process of its own: ``python -m benchmarks.first_call CASE``.

Imports the array library, makes the CUDA context current and the arrays, then starts the clock:
it stops when the result is ready.  Prints one line of JSON: milliseconds, and parts of them.
Nothing before the clock may use a compiler, so arrays come from copies of NumPy's and not from
kernels that fill them.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.functions import five_operations, softmax

LENGTH = 1000
FACTOR = 1.5
ROWS = (64, 1024)
"""Of the array whose rows softmax takes."""

TYPES = ("f32[n]", "f32[n]", "f32[n]", "weak float")

Prepared = tuple[Callable[[], Any], Callable[[Any], np.ndarray]]
"""What is timed, and how its result becomes a NumPy array."""

parts: dict[str, float] = {}


def host_arrays() -> tuple[np.ndarray, ...]:
    """Three float32 arrays."""
    return tuple(np.random.default_rng(0).random((3, LENGTH), np.float32))


def _rows() -> np.ndarray:
    return np.random.default_rng(0).random(ROWS, np.float32)


def pytocu_cuda_c() -> Prepared:
    """The first call of a jitted function on CuPy arrays, through NVRTC."""
    import pytocu

    return _cupy(pytocu.jit(five_operations, backend="cuda_c"))


def pytocu_nvvm() -> Prepared:
    """The same through libNVVM and nvJitLink."""
    import pytocu

    return _cupy(pytocu.jit(five_operations, backend="nvvm"))


def pytocu_nvvm_softmax() -> Prepared:
    """Softmax of rows through libNVVM and nvJitLink."""
    import pytocu

    return _cupy(pytocu.jit(softmax, backend="nvvm"), (_rows(),))


def pytocu_llvm() -> Prepared:
    """The first call on NumPy arrays."""
    import pytocu

    function = pytocu.jit(five_operations, backend="llvm")
    x, y, z = host_arrays()
    return lambda: function(x, y, z, FACTOR), np.asarray


def raw_nvrtc() -> Prepared:
    """NVRTC alone, from generated source to a cubin; CuPy is imported where there is a GPU, as for the others."""
    if os.environ["BENCHMARK_GPU"] == "1":
        import cupy

        cupy.asarray(host_arrays()[0])
        cupy.cuda.Device().synchronize()
    source = os.environ["BENCHMARK_SOURCE"].encode()
    options = [o.encode() for o in os.environ["BENCHMARK_OPTIONS"].split()]

    def call() -> Any:
        start = time.perf_counter()
        from cuda.bindings import nvrtc

        parts["import of cuda.bindings"] = (time.perf_counter() - start) * 1e3
        status, program = nvrtc.nvrtcCreateProgram(source, b"raw.cu", 0, [], [])
        (status,) = nvrtc.nvrtcCompileProgram(program, len(options), options)
        if status != nvrtc.nvrtcResult.NVRTC_SUCCESS:
            raise RuntimeError(f"NVRTC: {status}")
        _, size = nvrtc.nvrtcGetCUBINSize(program)
        cubin = b"\0" * size
        nvrtc.nvrtcGetCUBIN(program, cubin)
        return cubin

    def check(cubin: Any) -> np.ndarray:
        assert cubin[:4] == b"\x7fELF"
        return _expected()

    return call, check


def _cubin(backend: str) -> Prepared:
    import pytocu

    function = pytocu.jit(five_operations, backend=backend)
    arch = os.environ["BENCHMARK_ARCH"]

    def call() -> Any:
        times = [time.perf_counter()]
        lowered = function.lower(*TYPES)
        times.append(time.perf_counter())
        compiled = lowered.compile(f"cuda:{arch}")
        times.append(time.perf_counter())
        compiled.source  # noqa: B018
        times.append(time.perf_counter())
        binary = compiled.binary
        times.append(time.perf_counter())
        names = ("front end", "passes and plan", "text", "compiler and its import")
        parts.update({name: (b - a) * 1e3 for name, a, b in zip(names, times, times[1:], strict=False)})
        return binary

    def check(cubin: Any) -> np.ndarray:
        assert cubin[:4] == b"\x7fELF"
        return _expected()

    return call, check


def cubin_cuda_c() -> Prepared:
    """Source to cubin with no GPU, through NVRTC."""
    return _cubin("cuda_c")


def cubin_nvvm() -> Prepared:
    """Source to cubin with no GPU, through libNVVM and nvJitLink."""
    return _cubin("nvvm")


def _ahead(function: Callable[..., Any], *types: str) -> Prepared:
    import pytocu

    compiled = pytocu.jit(function, backend="nvvm")
    target = f"cuda:{os.environ['BENCHMARK_ARCH']}"
    return lambda: compiled.precompile(*types, targets=target), lambda nothing: _expected()


def ahead_nvvm() -> Prepared:
    """`precompile`, which does what a call does, with no GPU."""
    return _ahead(five_operations, *TYPES)


def ahead_nvvm_softmax() -> Prepared:
    """The same of softmax of rows."""
    return _ahead(softmax, f"f32[n, {ROWS[1]}]")


def front_end() -> Prepared:
    """Front end and passes of a function of 20 operations; the second time tells what was only cold."""
    import pytocu
    from benchmarks.curve import TWENTY_TYPES, twenty_operations

    def once() -> float:
        start = time.perf_counter()
        pytocu.jit(twenty_operations).lower(*TWENTY_TYPES).host("cuda:sm_90")
        return (time.perf_counter() - start) * 1e3

    def check(result: Any) -> np.ndarray:
        parts["again"] = min(once() for _ in range(3))
        return _expected()

    return once, check


def _cupy(function: Callable[..., Any], arguments: tuple[Any, ...] = ()) -> Prepared:
    import cupy

    given = [cupy.asarray(a) if isinstance(a, np.ndarray) else a for a in arguments or (*host_arrays(), FACTOR)]
    cupy.cuda.Device().synchronize()

    def call() -> Any:
        result = function(*given)
        cupy.cuda.Device().synchronize()
        return result

    return call, cupy.asnumpy


def cupy_elementwise_kernel() -> Prepared:
    """``cupy.ElementwiseKernel`` written by hand."""
    import cupy

    arguments = "float32 x, float32 y, float32 z, float32 a"
    return _cupy(cupy.ElementwiseKernel(arguments, "float32 out", "out = 2.5f * a * x + y * z - 1.0f", "five_operations"))


def cupy_fuse() -> Prepared:
    """``cupy.fuse`` of the same function."""
    import cupy

    return _cupy(cupy.fuse(kernel_name="five_operations")(five_operations))


def triton_jit() -> Prepared:
    """A Triton kernel on PyTorch tensors."""
    import torch

    from benchmarks.triton_kernel import five_operations_kernel

    x, y, z = (torch.from_numpy(a).cuda() for a in host_arrays())
    torch.cuda.synchronize()

    def call() -> Any:
        out = torch.empty_like(x)
        five_operations_kernel[(1,)](x, y, z, FACTOR, out, LENGTH, BLOCK=1024)
        torch.cuda.synchronize()
        return out

    return call, lambda t: t.cpu().numpy()


def numba_cuda() -> Prepared:
    """A Numba CUDA kernel with ``cache=True`` on Numba's device arrays."""
    from numba import cuda

    from benchmarks.numba_cuda_kernel import five_operations_kernel

    x, y, z = map(cuda.to_device, host_arrays())
    out = cuda.to_device(np.empty(LENGTH, np.float32))
    cuda.synchronize()

    def call() -> Any:
        five_operations_kernel[4, 256](x, y, z, np.float32(FACTOR), out)
        cuda.synchronize()
        return out

    return call, lambda a: a.copy_to_host()


def numba_cpu() -> Prepared:
    """Numba's ``njit(cache=True)`` on NumPy arrays."""
    from benchmarks.numba_kernel import five_operations_cpu

    x, y, z = host_arrays()
    return lambda: five_operations_cpu(x, y, z, FACTOR), np.asarray


def _torch(device: str) -> Prepared:
    import torch

    compiled = torch.compile(five_operations)
    x, y, z = (torch.from_numpy(a).to(device) for a in host_arrays())
    wait = torch.cuda.synchronize if device == "cuda" else (lambda: None)
    wait()

    def call() -> Any:
        result = compiled(x, y, z, FACTOR)
        wait()
        return result

    return call, lambda t: t.cpu().numpy()


def torch_compile() -> Prepared:
    """``torch.compile`` on CUDA tensors."""
    return _torch("cuda")


def torch_compile_cpu() -> Prepared:
    """``torch.compile`` on CPU tensors; needs a C++ compiler."""
    return _torch("cpu")


def jax_jit() -> Prepared:
    """``jax.jit`` on arrays of JAX's default device."""
    import jax

    compiled = jax.jit(five_operations)
    x, y, z = (jax.device_put(a).block_until_ready() for a in host_arrays())
    return lambda: compiled(x, y, z, FACTOR).block_until_ready(), np.asarray


CASES: dict[str, Callable[[], Prepared]] = {
    made.__name__: made
    for made in (
        pytocu_cuda_c, pytocu_nvvm, pytocu_nvvm_softmax, pytocu_llvm, raw_nvrtc, cubin_cuda_c, cubin_nvvm, ahead_nvvm,
        ahead_nvvm_softmax, front_end, cupy_elementwise_kernel, cupy_fuse, triton_jit, numba_cuda, numba_cpu, torch_compile,
        torch_compile_cpu, jax_jit,
    )
}  # fmt: skip
"""Everything that can be timed, by the argument that selects it."""


def _expected() -> np.ndarray:
    return five_operations(*host_arrays(), FACTOR)


def main() -> None:
    """Time one case and check its result."""
    call, to_numpy = CASES[sys.argv[1]]()
    start = time.perf_counter()
    result = call()
    milliseconds = (time.perf_counter() - start) * 1e3
    expected = softmax(_rows()) if sys.argv[1] == "pytocu_nvvm_softmax" else _expected()
    np.testing.assert_allclose(to_numpy(result), expected, rtol=1e-5, atol=1e-5)
    print(json.dumps({"milliseconds": milliseconds, "parts": parts}))


if __name__ == "__main__":
    main()
