"""Time to the first result, in fresh processes: nothing cached, NumPy (and CuPy) imported.

The clock starts at the first call and includes every lazy import of a compiler.  On a GPU
the CUDA context is current before it starts.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from typing import Any

_PROGRAM = """
import sys, time
import numpy as np
gpu, backend = {gpu}, {backend!r}
if gpu:
    import cupy as xp
    xp.ones(10) + 1
    xp.cuda.Device().synchronize()
else:
    xp = np
import pytocu
from benchmarks.calls import five_operations
x = xp.ones(1000, xp.float32)
function = pytocu.jit(five_operations, backend=backend)
start = time.perf_counter()
result = function(x, x, x, 1.5)
if gpu:
    xp.cuda.Device().synchronize()
print((time.perf_counter() - start) * 1e3)
"""

_IMPORT = "import time; s = time.perf_counter(); import {module}; print((time.perf_counter() - s) * 1e3)"


def _fresh(program: str, repeat: int) -> float:
    """Median milliseconds that a program prints in its own process."""
    runs = [subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True) for _ in range(repeat)]
    return statistics.median(float(r.stdout.split()[-1]) for r in runs)


def run(gpu: bool, repeat: int = 5) -> list[dict[str, Any]]:
    """Print and return the rows."""
    rows: list[dict[str, Any]] = []
    for backend in ("cuda_c", "nvvm") if gpu else ("llvm",):
        rows.append({"first call": backend, "milliseconds": _fresh(_PROGRAM.format(gpu=gpu, backend=backend), repeat)})
    rows += [{"import": m, "milliseconds": _fresh(_IMPORT.format(module=m), repeat)} for m in ("numpy", "pytocu")]
    for row in rows:
        name = " ".join(f"{k} {v}" for k, v in row.items() if k != "milliseconds")
        print(f"{name:40} {row['milliseconds']:8.1f} ms")
    return rows
