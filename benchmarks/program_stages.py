"""What the whole programs of ``examples/`` take to compile, stage by stage: ``python -m benchmarks.program_stages PROGRAM``.

A process compiles one program with no cache, behind a small function that has brought the modules and LLVM into it.
Processor time is measured, of all threads, so that what else the machine does counts little.  Prints one line of JSON.
"""

from __future__ import annotations

import json
import runpy
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import pytocu
from benchmarks.programs import EXAMPLES, SIZES

STAGES = ("front end", "passes", "text", "LLVM")
"""Of code for the CPU; the passes of code for a GPU come beside them."""


def _small(x: Any, n: int) -> Any:
    for _ in range(n):
        x = np.where(x > 0.5, x / x.sum(), x[::-1])
    return x


def stages(name: str) -> dict[str, Any]:
    """Milliseconds of each stage of a program, and how much code it is.

    Parameters
    ----------
    name : str
        A file of ``examples/``.
    """
    jitted = pytocu.jit(_small).lower("f64[n]", "weak int")
    jitted.host("cuda:sm_90")
    _ = jitted.compile("cpu").binary
    space = runpy.run_path(str(EXAMPLES / f"{name}.py"))
    given = space["arguments"](SIZES[name][0], np.random.default_rng(0))
    found: dict[str, Any] = {}

    def timed(stage: str, run: Callable[[], Any]) -> Any:
        start = time.process_time()
        made = run()
        found[stage] = (time.process_time() - start) * 1e3
        return made

    lowered = timed("front end", lambda: space["PROGRAM"].lower(*given))
    compiled = timed("passes", lambda: lowered.compile("cpu"))
    text = timed("text", lambda: compiled.source)
    timed("LLVM", lambda: compiled.binary)
    timed("passes, GPU", lambda: lowered.host("cuda:sm_90"))
    return {"kernels": len(set(compiled.kernel_names)), "lines": text.count("\n")} | found


if __name__ == "__main__":
    print(json.dumps(stages(sys.argv[1])))
