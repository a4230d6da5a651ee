"""What is timed: each function with its arrays, the bytes that must move, and what counts as right.

Sizes are given three times: for a GPU, for a CPU, and tiny for a check of the results.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks import functions as f


@dataclass(frozen=True)
class Array:
    """An argument that is an array of uniformly random values.

    Parameters
    ----------
    shape : tuple of int
    dtype : str
    low, high : float
        Range of the values, `high` excluded.
    share : float
        How many of the elements are true, where these are bools.
    """

    shape: tuple[int, ...]
    dtype: str = "float32"
    low: float = -1.0
    high: float = 1.0
    share: float = 0.5

    def filled(self, xp: Any, random: Any) -> Any:
        """The array, of the module `xp`, from its generator `random`."""
        dtype = np.dtype(self.dtype)
        drawn = np.float64 if dtype.name in ("float64", "complex128") else np.float32
        uniform = partial(random.random, self.shape, dtype=drawn)
        match dtype.kind:
            case "b":
                return uniform() > 1 - self.share
            case "c":
                return ((uniform() * 2 - 1) + 1j * (uniform() * 2 - 1)).astype(dtype)
            case "i" | "u":
                return xp.minimum(xp.floor(uniform() * (self.high - self.low) + self.low), self.high - 1).astype(dtype)
            case _:
                return (uniform() * (self.high - self.low) + self.low).astype(dtype)


@dataclass(frozen=True)
class Workload:
    """One timed function.

    Parameters
    ----------
    name : str
    function : callable
        NumPy-style code over the global ``np``.
    inputs : callable
        ``inputs(*sizes)`` gives :class:`Array` and Python scalars.
    gpu, cpu, tiny : tuple of int
        Sizes for each kind of run.
    tolerance : float
        The largest error against float64 as :func:`error_of` counts it.
    operations : callable, optional
        ``operations(*sizes)`` counts arithmetic operations, where they and not the bytes set the pace.
    target : float
        The share of the copy limit to reach on a GPU; 0 where only the peers are the measure.
    """

    name: str
    function: Callable[..., Any]
    inputs: Callable[..., Sequence[Any]]
    gpu: tuple[int, ...]
    cpu: tuple[int, ...]
    tiny: tuple[int, ...]
    tolerance: float = 1e-4
    operations: Callable[..., int] | None = None
    target: float = 0.0

    def make(self, sizes: Sequence[int], xp: Any = np, random: Any = None) -> tuple[Any, ...]:
        """The arguments for some sizes, the same in every run of one module."""
        random = np.random.default_rng(0) if random is None else random
        return tuple(i.filled(xp, random) if isinstance(i, Array) else i for i in self.inputs(*sizes))


def with_module(function: Any, module: Any) -> Any:
    """The same function with another module as ``np``."""
    return types.FunctionType(function.__code__, {**function.__globals__, "np": module}, function.__name__)


def as_tuple(result: Any) -> tuple[Any, ...]:
    """The results of a function that gives one or several."""
    return tuple(result) if isinstance(result, (tuple, list)) else (result,)


def bytes_of(arguments: Sequence[Any], results: Sequence[Any]) -> int:
    """Bytes that must move: each input read once, each result written once."""
    return sum(v.nbytes for v in (*arguments, *results) if getattr(v, "ndim", 0))


_WIDE = {"float16": np.float64, "float32": np.float64, "complex64": np.complex128}


def reference(workload: Workload, arguments: Sequence[Any], module: Any = np) -> tuple[Any, ...]:
    """The results from the same values in float64, by NumPy or another module of its names."""
    wide = [a.astype(_WIDE.get(a.dtype.name, a.dtype)) if hasattr(a, "dtype") else a for a in arguments]
    return as_tuple(with_module(workload.function, module)(*wide))


def result_types(workload: Workload) -> tuple[np.dtype, ...]:
    """The dtypes that NumPy gives."""
    return tuple(np.asarray(r).dtype for r in as_tuple(workload.function(*workload.make(workload.tiny))))


def error_of(results: Sequence[Any], expected: Sequence[Any], xp: Any = np) -> float:
    """The worst error of any element; infinite where a shape is another.

    Of floating-point values relative to the expected value, or to the mean size of all of them
    where that is more; of integers the share of the elements that differ.
    """
    if len(results) != len(expected):
        return float("inf")
    worst = 0.0
    for result, wanted in zip(results, expected, strict=True):
        result, wanted = xp.asarray(result), xp.asarray(wanted)
        if result.shape != wanted.shape:
            return float("inf")
        if wanted.dtype.kind in "biu":
            error = float((result != wanted).mean()) if wanted.size else 0.0
        else:
            same = (result == wanted) | ((result != result) & (wanted != wanted))
            size = abs(wanted)
            scale = xp.where(xp.isfinite(size), size, 0).mean()
            with np.errstate(invalid="ignore", divide="ignore"):
                error = float(xp.where(same, 0.0, abs(result - wanted) / xp.maximum(size, scale)).max())
        # A NaN that is not expected compares as no error.
        worst = max(worst, error if error == error else float("inf"))
    return worst


def checked(
    workload: Workload, results: Sequence[Any], expected: Sequence[Any], wanted: Sequence[np.dtype], xp: Any = np
) -> tuple[str, float]:
    """What is wrong with results, or nothing, and their error; an integer may be of another width."""
    for result, dtype in zip(results, wanted, strict=False):
        if result.dtype != dtype and not (dtype.kind in "iu" and np.dtype(result.dtype).kind in "iu"):
            return f"gives {result.dtype} where NumPy gives {dtype}", float("nan")
    error = error_of(results, expected, xp)
    return ("" if error <= workload.tolerance else f"wrong by {error:.2g} (tolerance {workload.tolerance:.2g})"), error


def _same(*names: str, dtype: str = "float32", low: float = -1.0, high: float = 1.0) -> Callable[..., Sequence[Any]]:
    """As many arrays as names, all of the full shape."""
    return lambda *sizes: [Array(sizes, dtype, low, high) for _ in names]


def _masked(number: int) -> Callable[..., Sequence[Any]]:
    """An array and a mask that is true for one element in so many."""
    return lambda n: [Array((n,)), Array((n,), "bool", share=1 / number)]


N, M = (2**26,), (2**23,)
ROWS, CPU_ROWS = (65536, 1024), (8192, 1024)
WIDE, CPU_WIDE = (16384, 4096), (2048, 4096)
PLANE, CPU_PLANE = (8192, 8192), (4096, 2048)
TINY = (7, 37)
LIMIT = 0.95

WORKLOADS: tuple[Workload, ...] = (
    Workload("2.5*a*x + y*z - 1", f.five_operations, lambda n: [*_same(*"xyz")(n), 1.5], N, M, (371,), target=LIMIT),
    Workload("1 + mu*dt*delta", f.weak_scalars, lambda n: [0.5, 0.1, Array((n,))], N, M, (371,), target=LIMIT),
    Workload(
        "where(mask[:,None], inf, p)",
        f.mask_out,
        lambda n: [Array((n, 3)), Array((n,), "bool")],
        (2**25,),
        (2**21,),
        (123,),
        target=LIMIT,
    ),
    Workload("Black-Scholes", f.black_scholes, _same(*"pky", low=0.5, high=2.0), N, M, (371,), target=0.88),
    Workload("haversine", f.haversine, _same(*"abcd", low=-1.5, high=1.5), N, M, (371,), tolerance=1e-3, target=0.92),
    Workload("outer", f.outer, lambda n, m: [Array((n,)), Array((m,))], (16384, 8192), (2048, 4096), TINY, target=LIMIT),
    Workload("((x-y)**2).sum()", f.sum_of_squares, _same(*"xy"), N, M, (371,), target=LIMIT),
    Workload("row norm", f.row_norm, _same("x"), ROWS, CPU_ROWS, TINY, target=LIMIT),
    Workload("row norm, short rows", f.row_norm, _same("x"), (2**23, 8), (2**20, 8), (41, 8), target=LIMIT),
    Workload("row norm, long rows", f.row_norm, _same("x"), (16, 2**22), (4, 2**21), (3, 5000), target=LIMIT),
    Workload("column mean of x*x + 1", f.column_mean, _same("x"), ROWS, CPU_ROWS, TINY, target=LIMIT),
    Workload("softmax of rows", f.softmax, _same("x"), WIDE, CPU_WIDE, TINY, target=LIMIT),
    Workload(
        "layernorm", f.layernorm, lambda n, m: [Array((n, m)), Array((m,)), Array((m,))], WIDE, CPU_WIDE, TINY, target=LIMIT
    ),
    Workload("heat stencil, 5 points", f.heat_step, _same("u"), PLANE, CPU_PLANE, (9, 41), target=0.79),
    # More of what people run.
    Workload("a*x + y, float64", f.scaled_sum, lambda n: [1.5, *_same(*"xy", dtype="float64")(n)], N, M, (371,)),
    Workload("polynomial, float64", f.polynomial, _same("x", dtype="float64"), N, M, (371,)),
    Workload("GELU, float16", f.gelu, _same("x", dtype="float16", low=-4, high=4), (2**27,), M, (371,), tolerance=2e-2),
    Workload("unit vectors", f.normalise_vectors, lambda n: [Array((n, 3), low=0.1)], (2**25,), (2**21,), (123,)),
    Workload("x*y + z, complex64", f.complex_multiply_add, _same(*"xyz", dtype="complex64"), (2**25,), (2**22,), (371,)),
    Workload("power spectrum, complex64", f.power_spectrum, _same("z", dtype="complex64"), (2**26,), (2**22,), (371,)),
    Workload(
        "quantise to int8", f.quantise, lambda n: [Array((n,), low=-4, high=4), 0.03], N, M, (371,), tolerance=1e-3
    ),
    Workload(
        "dequantise int8", f.dequantise, lambda n: [Array((n,), "int8", -128, 128), 3, 0.03], (2**27,), M, (371,)
    ),
    Workload(
        "RGB to gray, uint8",
        f.gray,
        lambda n, m: [Array((n, m, 3), "uint8", 0, 256)],
        (8192, 8192),
        (2048, 2048),
        TINY,
        tolerance=1e-3,
    ),
    Workload("x.T + y", f.add_transposed, lambda n: [Array((n, n)), Array((n, n))], (8192,), (2048,), (67,)),
    Workload(
        "table[index]",
        f.gather,
        lambda n, k: [Array((k,)), Array((n,), "int32", 0, k)],
        (2**26, 2**16),
        (2**22, 2**16),
        (300, 50),
    ),
    Workload("x[m], one in 7", f.choose, _masked(7), N, M, (371,)),
    Workload("x[m], one in 1000", f.choose, _masked(1000), N, M, (3710,)),
    Workload("heat stencil, 7 points", f.heat_step_3d, _same("u"), (512, 512, 512), (128, 256, 256), (5, 7, 19)),
    Workload(
        "heat, 10 steps in the cache",
        f.heat_steps,
        lambda n: [Array((n, n))],
        (1024,),
        (512,),
        (23,),
        operations=lambda n: 70 * n * n,
    ),
    Workload(
        "heat, 10 steps", f.heat_steps, lambda n: [Array((n, n))], (8192,), (2048,), (23,), operations=lambda n: 70 * n * n
    ),
    Workload("moving average", f.moving_average, _same("x"), N, M, (371,)),
    Workload("shaded relief", f.shaded_relief, _same("e", low=0, high=900), PLANE, (2048, 2048), (9, 41), tolerance=1e-3),
    Workload("variance, float64", f.variance, _same("x", dtype="float64"), N, M, (371,)),
    Workload("min, max and mean", f.extremes, _same("x", low=0.0), N, M, (371,)),
    Workload("(x - min) / (max - min)", f.rescale, _same("x"), N, M, (371,)),
    Workload("mean and variance of rows", f.row_moments, _same("x", low=0.0), ROWS, CPU_ROWS, TINY),
    Workload("argmax of rows", f.argmax_rows, _same("x"), ROWS, CPU_ROWS, TINY, tolerance=1e-3),
    Workload("count of x > y", f.count_above, _same(*"xy"), N, M, (371,)),
    Workload("cosine similarity of rows", f.cosine_similarity, _same(*"xy", low=0.0), ROWS, CPU_ROWS, TINY),
    Workload("logsumexp of rows", f.log_sum_exp, _same("x"), WIDE, CPU_WIDE, TINY),
    Workload(
        "RMSNorm, float16",
        f.rmsnorm,
        lambda n, m: [Array((n, m), "float16"), Array((m,), "float16")],
        WIDE,
        CPU_WIDE,
        TINY,
        tolerance=1e-2,
    ),
    Workload("(x - mean(0)) / std(0)", f.standardise, _same("x"), ROWS, CPU_ROWS, TINY, tolerance=1e-3),
    Workload("cumsum", f.running_sum, _same("x", low=0.0), N, M, (371,), tolerance=1e-2),
    Workload("cumsum of rows", f.running_sum_rows, _same("x"), WIDE, CPU_WIDE, TINY, tolerance=1e-3),
    Workload(
        "pairwise distances",
        f.pairwise_distances,
        lambda n, m: [Array((n, 3)), Array((m, 3))],
        (16384, 8192),
        (2048, 2048),
        (13, 29),
    ),
    Workload(
        "n-body accelerations",
        f.accelerations,
        lambda n: [Array((n,)), Array((n,)), Array((n,)), Array((n,), low=0.0)],
        (16384,),
        (2048,),
        (41,),
        tolerance=1e-2,
        operations=lambda n: 19 * n * n,
    ),
    Workload(
        "sums of exp(-(x-y)**2) * w",
        f.kernel_sums,
        lambda n, m: [Array((n,)), Array((m,)), Array((m,))],
        (65536, 8192),
        (2048, 4096),
        (13, 29),
        tolerance=1e-3,
        operations=lambda n, m: 6 * n * m,
    ),
)
"""Everything that is measured; those with a target have been measured with the peers before."""
