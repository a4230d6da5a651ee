"""The same work on a CPU by pytocu, NumPy, numexpr, Numba, JAX and torch.compile, each as its users would write it."""

from __future__ import annotations

import inspect
import os
from collections.abc import Sequence
from typing import Any

import numpy as np

import pytocu
from benchmarks.run_time import Call, Maker
from benchmarks.workloads import Workload, as_tuple, result_types


def cpus() -> int:
    """CPUs that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _done(result: Any) -> None:
    """NumPy arrays are ready when the function returns."""


def pytocu_call(workload: Workload, arguments: Sequence[Any]) -> Call:
    """The function compiled by pytocu."""
    compiled = pytocu.jit(workload.function)
    return Call(lambda: compiled(*arguments), _done)


def numpy_call(workload: Workload, arguments: Sequence[Any]) -> Call:
    """The function as it is."""
    return Call(lambda: workload.function(*arguments), _done)


def numexpr_call(workload: Workload, arguments: Sequence[Any]) -> Call:
    """The function's expressions as text, in as many threads as there are CPUs."""
    import numexpr

    from benchmarks.numexpr_functions import EXPRESSIONS

    expressions = EXPRESSIONS.get(workload.function.__name__)
    if expressions is None:
        raise NotImplementedError("numexpr lacks an operation or a dtype of it")
    numexpr.set_num_threads(cpus())
    names = dict(zip(inspect.signature(workload.function).parameters, arguments, strict=True))
    return Call(lambda: expressions(numexpr.evaluate, **names), _done)


def numba_call(workload: Workload, arguments: Sequence[Any]) -> Call:
    """Loops over all CPUs; sums may be reordered, as the other peers do."""
    import numba

    from benchmarks import numba_functions

    if any(getattr(a, "dtype", None) == np.float16 for a in arguments):
        raise NotImplementedError("Numba has no float16 on a CPU")
    function = getattr(numba_functions, workload.function.__name__)
    compiled = numba.njit(parallel=True, error_model="numpy", fastmath={"reassoc", "contract", "arcp", "nsz"})(function)
    types = result_types(workload)

    def run() -> Any:
        # Numba gives scalars of all dtypes as Python's.
        results = zip(as_tuple(compiled(*arguments)), types, strict=True)
        return [r if isinstance(r, np.ndarray) else dtype.type(r) for r, dtype in results]

    return Call(run, _done)


def jax_call(workload: Workload, arguments: Sequence[Any]) -> Call:
    """``jax.jit`` of the same text, or of its own."""
    import jax

    from benchmarks.jax_functions import function_for

    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_enable_x64", True)
    traced = jax.jit(function_for(workload.function))
    mine = [jax.device_put(a) if isinstance(a, np.ndarray) else a for a in arguments]
    return Call(lambda: traced(*mine), jax.block_until_ready)


def torch_compile_call(workload: Workload, arguments: Sequence[Any]) -> Call:
    """``torch.compile`` for these shapes."""
    import torch

    from benchmarks.torch_functions import function_for

    torch._dynamo.reset()
    torch.set_num_threads(cpus())
    mine = [torch.from_numpy(a) if isinstance(a, np.ndarray) else a for a in arguments]
    compiled = torch.compile(function_for(workload.function, eager=False), dynamic=False)
    return Call(torch.inference_mode()(lambda: compiled(*mine)), _done)


PEERS: dict[str, Maker] = {
    "numpy": numpy_call,
    "numexpr": numexpr_call,
    "numba": numba_call,
    "jax": jax_call,
    "torch.compile": torch_compile_call,
}
"""Peers by their name in the table; the part before a dot is the package that must be installed."""


def convert(value: Any) -> np.ndarray:
    """A result of any of them as a NumPy array."""
    return value.numpy() if hasattr(value, "detach") else np.asarray(value)
