"""GPU: each workload's share of the copy limit, beside CuPy and ``cupy.fuse`` in the same run.

The limit is the time a device-to-device copy takes to move the bytes that must move: each
input read once, each output written once.  Times are medians over CUDA events.
"""

from __future__ import annotations

import statistics
import types
from collections.abc import Callable
from typing import Any

import numpy as np

import pytocu
from benchmarks.workloads import WORKLOADS, Workload


def _time(function: Callable[[], Any], cupy: Any, repeat: int = 7, inner: int = 5) -> float:
    """Seconds a call, median of `repeat` runs of `inner` calls."""
    for _ in range(3):
        function()
    cupy.cuda.Device().synchronize()
    times: list[float] = []
    for _ in range(repeat):
        start, end = cupy.cuda.Event(), cupy.cuda.Event()
        start.record()
        for _ in range(inner):
            function()
        end.record()
        end.synchronize()
        times.append(cupy.cuda.get_elapsed_time(start, end) * 1e-3 / inner)
    return statistics.median(times)


def copy_speed(cupy: Any) -> float:
    """Bytes a second of a device copy, read and written bytes counted."""
    source = cupy.random.random(2**27, dtype=cupy.float32)
    target = cupy.empty_like(source)
    return 2 * source.nbytes / _time(lambda: cupy.copyto(target, source), cupy)


def _with_module(function: Any, module: Any) -> Any:
    """The same function with another module as ``np``."""
    return types.FunctionType(function.__code__, {**function.__globals__, "np": module}, function.__name__)


def _bytes(values: Any) -> int:
    return sum(v.nbytes for v in values if hasattr(v, "nbytes") and getattr(v, "ndim", 0))


def _as_tuple(result: Any) -> tuple[Any, ...]:
    return result if isinstance(result, tuple) else (result,)


def measure(workload: Workload, scale: float, speed: float, cupy: Any) -> dict[str, Any]:
    """One row: seconds and shares of the limit."""
    arguments = tuple(
        cupy.asarray(a) if isinstance(a, np.ndarray) else a for a in workload.make(np.random.default_rng(0), scale)
    )
    compiled = pytocu.jit(workload.function)
    eager = _with_module(workload.function, cupy)
    ours = _as_tuple(compiled(*arguments))
    for mine, theirs in zip(ours, _as_tuple(eager(*arguments)), strict=True):
        assert mine.dtype == theirs.dtype, (workload.name, mine.dtype, theirs.dtype)
        cupy.testing.assert_allclose(mine, theirs, rtol=2e-4, atol=2e-4)
    limit = (_bytes(arguments) + _bytes(ours)) / speed
    del ours
    row: dict[str, Any] = {"workload": workload.name, "limit_us": limit * 1e6}
    row["pytocu"] = limit / _time(lambda: compiled(*arguments), cupy)
    row["cupy"] = limit / _time(lambda: eager(*arguments), cupy)
    try:
        fused = cupy.fuse(kernel_name="fused")(eager)
        fused(*arguments)
        row["cupy.fuse"] = limit / _time(lambda: fused(*arguments), cupy)
    except Exception as error:  # a peer that refuses a workload is part of the table
        row["cupy.fuse"] = f"refuses: {type(error).__name__}"
    return row


def run(scale: float = 1.0) -> list[dict[str, Any]]:
    """All rows; CuPy is required."""
    import cupy

    speed = copy_speed(cupy)
    name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    print(f"{name}: copy {speed / 1e12:.2f} TB/s; figures are shares of the copy limit (1.00 is the limit)")
    rows = []
    for workload in WORKLOADS:
        row = measure(workload, scale, speed, cupy)
        rows.append(row)
        shown = {k: f"{v:.2f}" if isinstance(v, float) else v for k, v in row.items() if k not in ("workload", "limit_us")}
        shares = "  ".join(f"{k} {v}" for k, v in shown.items())
        print(f"{row['workload']:30} limit {row['limit_us']:8.1f} us   {shares}", flush=True)
        cupy.get_default_memory_pool().free_all_blocks()
    return rows
