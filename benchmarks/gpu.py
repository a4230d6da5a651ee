"""GPU: each workload's share of the copy limit, beside CuPy and ``cupy.fuse`` in the same run.

The limit is the time a device-to-device copy takes to move the bytes that must move: each
input read once, each output written once.  Times are medians over CUDA events.
"""

from __future__ import annotations

import time
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import pytocu
from benchmarks.report import Table, cell, median, progress, required
from benchmarks.workloads import WORKLOADS, Workload
from pytocu.backend import nvrtc, nvvm
from pytocu.runtime import cuda


def _times(functions: Mapping[str, Callable[[], Any]], cupy: Any, repeat: int = 7, inner: int = 5) -> dict[str, float]:
    """Seconds a call of each function: medians of `repeat` runs of `inner` calls, the functions taking turns."""
    for function in functions.values():
        for _ in range(3):
            function()
    cupy.cuda.Device().synchronize()
    times: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(repeat):
        for name, function in functions.items():
            start, end = cupy.cuda.Event(), cupy.cuda.Event()
            start.record()
            for _ in range(inner):
                function()
            end.record()
            end.synchronize()
            times[name].append(cupy.cuda.get_elapsed_time(start, end) * 1e-3 / inner)
    return {name: median(runs) for name, runs in times.items()}


def copy_speed(cupy: Any) -> float:
    """Bytes a second of a device copy, read and written bytes counted."""
    source = cupy.random.random(2**27, dtype=cupy.float32)
    target = cupy.empty_like(source)
    return 2 * source.nbytes / _times({"copy": lambda: cupy.copyto(target, source)}, cupy)["copy"]


def _with_module(function: Any, module: Any) -> Any:
    """The same function with another module as ``np``."""
    return types.FunctionType(function.__code__, {**function.__globals__, "np": module}, function.__name__)


def _bytes(values: Any) -> int:
    return sum(v.nbytes for v in values if hasattr(v, "nbytes") and getattr(v, "ndim", 0))


def _as_tuple(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


def measure(workload: Workload, scale: float, speed: float, backends: Sequence[str | None], cupy: Any) -> dict[str, Any]:
    """One row: shares of the limit and microseconds of every candidate, after its results were compared with CuPy's."""
    arguments = tuple(
        cupy.asarray(a) if isinstance(a, np.ndarray) else a for a in workload.make(np.random.default_rng(0), scale)
    )
    eager = _with_module(workload.function, cupy)
    expected = _as_tuple(eager(*arguments))
    limit = (_bytes(arguments) + _bytes(expected)) / speed
    functions: dict[str, Callable[[], Any]] = {}
    for backend in backends:
        compiled = pytocu.jit(workload.function, backend=backend)
        for mine, theirs in zip(_as_tuple(compiled(*arguments)), expected, strict=True):
            assert mine.dtype == theirs.dtype, (workload.name, mine.dtype, theirs.dtype)
            cupy.testing.assert_allclose(mine, theirs, rtol=2e-4, atol=2e-4)
        functions[f"pytocu {backend}" if backend else "pytocu"] = lambda compiled=compiled: compiled(*arguments)
    del expected
    functions["cupy"] = lambda: eager(*arguments)
    refusal = None
    try:
        fused = cupy.fuse(kernel_name="fused")(eager)
        fused(*arguments)
        functions["cupy.fuse"] = lambda: fused(*arguments)
    except Exception as error:  # a peer that refuses a workload is part of the table
        refusal = f"refuses: {type(error).__name__}"
    times = _times(functions, cupy)
    row: dict[str, Any] = {"workload": workload.name, "limit us": limit * 1e6}
    row |= {name: limit / seconds for name, seconds in times.items()}
    if refusal:
        row["cupy.fuse"] = refusal
    return row | {f"{name} us": seconds * 1e6 for name, seconds in times.items()}


def _built(workload: Workload, device: int) -> dict[str, Any]:
    """Milliseconds from text to a cubin where the compilers are loaded, the fastest of three, and registers a thread."""
    arch = cuda.arch(device)
    lowered = pytocu.jit(workload.function).lower(*workload.make(np.random.default_rng(0), 1e-4))
    found: dict[str, Any] = {}
    for backend, build in (("cuda_c", nvrtc.build), ("nvvm", nvvm.build)):
        compiled = lowered.compile(f"cuda:{arch}", backend)
        source = compiled.source
        runs: list[float] = []
        for _ in range(3):
            start = time.perf_counter()
            build(source, arch, workload.name)
            runs.append((time.perf_counter() - start) * 1e3)
        found[f"build {backend} ms"] = min(runs)
        module = cuda.load(compiled.binary, device)
        kernels = [cuda.function(module, k.name) for k in compiled.plan.kernels]
        found[f"registers {backend}"] = max(cuda.resources(k).registers for k in kernels)
    return found


def _compared(rows: Sequence[dict[str, Any]], device: int) -> Table:
    """The backends beside each other: run time and build time."""
    builds = ("build cuda_c ms", "build nvvm ms", "registers cuda_c", "registers nvvm")
    table = Table(
        "Backends",
        ("workload", "cuda_c us", "nvvm us", "nvvm / cuda_c", *builds),
        ("run time: medians, taking turns; build: source text to cubin in a warm process, fastest of 3",),
    )
    for workload, measured in zip(WORKLOADS, rows, strict=True):
        first, second = measured["pytocu cuda_c us"], measured["pytocu nvvm us"]
        row = {"workload": workload.name, "cuda_c us": first, "nvvm us": second, "nvvm / cuda_c": second / first}
        table.rows.append(row | _built(workload, device))
    return table


def run(scale: float = 1.0, backend: str | None = None, without: Sequence[str] = ()) -> list[Table]:
    """The tables.

    Parameters
    ----------
    scale : float
        Fraction of the full sizes.
    backend : str, optional
        ``cuda_c``, ``nvvm`` or ``both``; pytocu's own choice by default.
    without : sequence of str
        Peers to leave out; CuPy makes the arrays and cannot be.

    Raises
    ------
    BenchmarkError
        CuPy is missing.
    """
    required(("cupy",), ())
    import cupy

    backends: tuple[str | None, ...] = ("cuda_c", "nvvm") if backend == "both" else (backend,)
    speed = copy_speed(cupy)
    rows: list[dict[str, Any]] = []
    for workload in WORKLOADS:
        rows.append(measure(workload, scale, speed, backends, cupy))
        progress(f"{workload.name}: " + "  ".join(f"{k} {cell(v)}" for k, v in rows[-1].items() if k.startswith("pytocu")))
        cupy.get_default_memory_pool().free_all_blocks()
    ours = tuple(f"pytocu {b}" if b else "pytocu" for b in backends)
    notes = (f"figures are shares of the copy limit ({speed / 1e12:.2f} TB/s; 1.00 is the limit), medians, taking turns",)
    tables = [Table("Run time", ("workload", "limit us", *ours, "cupy", "cupy.fuse"), notes, rows)]
    return [*tables, _compared(rows, cuda.current_device())] if backend == "both" else tables
