"""Host time of one call on tiny arrays: CuPy arrays on a GPU, NumPy arrays on the CPU.

The peers run in the same process; a figure is the best mean of several runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

import pytocu


def _microseconds(function: Callable[[], Any], finish: Callable[[], Any], calls: int = 5000, repeat: int = 5) -> float:
    for _ in range(calls // 5):
        function()
    best = float("inf")
    for _ in range(repeat):
        finish()
        start = time.perf_counter()
        for _ in range(calls):
            function()
        best = min(best, (time.perf_counter() - start) / calls)
    finish()
    return best * 1e6


def five_operations(x, y, z, a):
    return 2.5 * a * x + y * z - 1


def _unseen_sizes(function: Callable[..., Any], make: Callable[[int], Any], finish: Callable[[], Any]) -> float:
    """Microseconds of a call whose exact sizes are new, of a class that is known."""
    arguments = [make(n) for n in range(1000, 3000)]
    function(*make(999), 1.5)
    finish()
    start = time.perf_counter()
    for x, y, z in arguments:
        function(x, y, z, 1.5)
    spent = (time.perf_counter() - start) / len(arguments)
    finish()
    return spent * 1e6


def run_cpu() -> dict[str, float]:
    """NumPy arrays of 1000 float32."""
    compiled = pytocu.jit(five_operations)
    x, y, z = np.random.default_rng(0).random((3, 1000), np.float32)
    nothing = lambda: None  # noqa: E731
    return {
        "pytocu, five operations": _microseconds(lambda: compiled(x, y, z, 1.5), nothing),
        "pytocu, five operations, sizes not seen before": _unseen_sizes(
            compiled, lambda n: tuple(np.ones((3, n), np.float32)), nothing
        ),
        "NumPy, five operations": _microseconds(lambda: five_operations(x, y, z, 1.5), nothing),
        "NumPy, x + y": _microseconds(lambda: x + y, nothing),
    }


def run_gpu() -> dict[str, float]:
    """CuPy arrays of 1000 float32; CuPy is required."""
    import cupy

    compiled = pytocu.jit(five_operations)
    x, y, z = cupy.random.random((3, 1000), dtype=cupy.float32)
    finish = cupy.cuda.Device().synchronize
    fused = cupy.fuse(kernel_name="five")(five_operations)
    return {
        "pytocu, five operations": _microseconds(lambda: compiled(x, y, z, 1.5), finish),
        "pytocu, five operations, sizes not seen before": _unseen_sizes(
            compiled, lambda n: tuple(cupy.ones((3, n), cupy.float32)), finish
        ),
        "CuPy, x + y": _microseconds(lambda: x + y, finish),
        "CuPy, five operations": _microseconds(lambda: five_operations(x, y, z, 1.5), finish),
        "cupy.fuse, five operations": _microseconds(lambda: fused(x, y, z, 1.5), finish),
    }


def run(gpu: bool) -> list[dict[str, Any]]:
    """Print and return the rows."""
    rows = run_gpu() if gpu else run_cpu()
    unit = rows["CuPy, x + y" if gpu else "NumPy, x + y"]
    for name, value in rows.items():
        print(f"{name:50} {value:8.2f} us   {value / unit:6.2f} x one x + y")
    return [{"call": name, "microseconds": value} for name, value in rows.items()]
