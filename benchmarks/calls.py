"""Host time of one call on arrays of 1000 float32, beside the peers in the same process and on the same values.

Batches of all candidates take turns, so that a drift of the clock speed hits all alike.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np

import pytocu
from benchmarks import call_profile
from benchmarks.functions import five_operations
from benchmarks.report import Table, median, progress, required
from benchmarks.timing import Prepare, interleaved, over, repeated, rows_of

LENGTH = 1000
FACTOR = 1.5
BATCH = 500
ROUNDS = 31
SHAPES, MANY_SHAPES = 20_000, 1_000_000


def _add(x, y):
    return x + y


def _five_operations_out(x, y, z, a, out):
    out[...] = five_operations(x, y, z, a)


def _unseen(function: Callable[..., Any], make: Callable[[int], tuple[Any, ...]], batch: int) -> Prepare:
    """Lengths that the function has never seen, of a class that it knows."""
    return over(function, lambda number: [(*make(2000 + number * batch + k), FACTOR) for k in range(batch)])


def cpu_candidates() -> dict[str, Prepare]:
    """NumPy arrays."""
    compiled = pytocu.jit(five_operations)
    x, y, z = np.random.default_rng(0).random((3, LENGTH), np.float32)
    compiled(x, y, z, FACTOR)
    into, out = pytocu.jit(_five_operations_out), np.empty_like(x)
    into(x, y, z, FACTOR, out)
    return {
        "NumPy x + y": repeated(lambda: x + y, BATCH),
        "pytocu, five operations": repeated(lambda: compiled(x, y, z, FACTOR), BATCH),
        "pytocu, five operations, out given": repeated(lambda: into(x, y, z, FACTOR, out), BATCH),
        "pytocu, sizes never seen": _unseen(compiled, lambda n: tuple(np.ones((3, n), np.float32)), 200),
        "NumPy, five operations": repeated(lambda: five_operations(x, y, z, FACTOR), BATCH),
    }


def gpu_candidates(wanted: Sequence[str]) -> dict[str, Prepare]:
    """CuPy arrays, and the same values as arrays of the peers."""
    import cupy

    host = np.random.default_rng(0).random((3, LENGTH), np.float32)
    x, y, z = map(cupy.asarray, host)
    compiled = pytocu.jit(five_operations)
    fused = cupy.fuse(kernel_name="five_operations")(five_operations)
    big = cupy.ones((3, 1 << 16), cupy.float32)
    into, out = pytocu.jit(_five_operations_out), cupy.empty_like(x)
    into(x, y, z, FACTOR, out)
    _check(out.get(), host)
    candidates = {
        "CuPy x + y": repeated(lambda: x + y, BATCH),
        "pytocu, five operations": repeated(lambda: compiled(x, y, z, FACTOR), BATCH),
        "pytocu, five operations, out given": repeated(lambda: into(x, y, z, FACTOR, out), BATCH),
        "pytocu, sizes never seen": _unseen(compiled, lambda n: tuple(row[:n] for row in big), 200),
        "cupy.fuse, five operations": repeated(lambda: fused(x, y, z, FACTOR), BATCH),
        "CuPy, five operations": repeated(lambda: five_operations(x, y, z, FACTOR), BATCH),
    }
    _check(compiled(x, y, z, FACTOR).get(), host)
    _check(fused(x, y, z, FACTOR).get(), host)
    if "torch" in wanted:
        candidates |= _torch_candidates((x, y, z), host, compiled)
    if "jax" in wanted:
        candidates |= _jax_candidates(host)
    return candidates


def _torch_candidates(arrays: Sequence[Any], host: np.ndarray, compiled: Callable[..., Any]) -> dict[str, Prepare]:
    import torch

    a, b, c = (torch.from_dlpack(array) for array in arrays)
    inductor = torch.compile(five_operations)
    progress("compiling with torch.compile")
    _check(inductor(a, b, c, FACTOR).cpu().numpy(), host)
    _check(compiled(a, b, c, FACTOR).cpu().numpy(), host)
    return {
        "PyTorch x + y": repeated(lambda: a + b, BATCH),
        "pytocu, five operations, PyTorch tensors": repeated(lambda: compiled(a, b, c, FACTOR), BATCH),
        "PyTorch, five operations": repeated(lambda: five_operations(a, b, c, FACTOR), BATCH),
        "torch.compile, five operations": repeated(lambda: inductor(a, b, c, FACTOR), BATCH),
    }


def _jax_candidates(host: np.ndarray) -> dict[str, Prepare]:
    # JAX would take three quarters of the device's memory for itself.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import jax

    u, v, w = (jax.device_put(array) for array in host)
    traced = jax.jit(five_operations)
    _check(np.asarray(traced(u, v, w, FACTOR)), host)
    return {"JAX, five operations": repeated(lambda: traced(u, v, w, FACTOR), BATCH)}


def _check(result: np.ndarray, host: np.ndarray) -> None:
    np.testing.assert_allclose(result, five_operations(*host, FACTOR), rtol=1e-5, atol=1e-5)


def different_shapes(gpu: bool, count: int) -> Table:
    """Calls of `count` different shapes: time, and the memory that remains."""
    xp: Any = np
    if gpu:
        import cupy as xp
    compiled = pytocu.jit(five_operations)
    base = xp.asarray(np.ones(102**3, np.float32))
    compiled(*[base[:1000].reshape(10, 10, 10)] * 3, FACTOR)
    start_memory = middle_memory = resident_bytes()
    times: list[float] = []
    done = 0
    for shapes in _thousands(count):
        views = [base[: a * b * c].reshape(a, b, c) for a, b, c in shapes]
        start = time.perf_counter()
        for x in views:
            compiled(x, x, x, FACTOR)
        times.append((time.perf_counter() - start) / len(views) * 1e6)
        done += len(views)
        # The first half fills what is bounded; a leak goes on.
        if done <= count // 2:
            middle_memory = resident_bytes()
        if done % (count // 5) < len(views):
            progress(f"{done} shapes, {times[-1]:.2f} us a call, {resident_bytes() / 1e6:.0f} MB")
    row = {
        "shapes": done,
        "median us": median(times),
        "specializations": len(compiled.specializations),
        "grown by, first half MB": (middle_memory - start_memory) / 1e6,
        "second half MB": (resident_bytes() - middle_memory) / 1e6,
    }
    if gpu:
        row["device pool MB"] = xp.get_default_memory_pool().total_bytes() / 1e6
    notes = ("every call has a shape that was never seen; three axes of 2 to 101; times include the kernel where it is longer",)
    return Table("Different shapes", tuple(row), notes, [row])


def _thousands(count: int) -> Iterator[list[tuple[int, int, int]]]:
    """Shapes of three axes of 2 to 101, all different, a thousand at a time."""
    every = product(range(2, 102), repeat=3)
    for first in range(0, count, 1000):
        yield list(islice(every, min(1000, count - first)))


def resident_bytes() -> int:
    """Memory of this process that is in use, in bytes."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def run(gpu: bool, without: Sequence[str] = (), profile: bool = False, long: bool = False, rounds: int = ROUNDS) -> list[Table]:
    """The tables.

    Parameters
    ----------
    gpu : bool
        CuPy arrays and the peers on a GPU, else NumPy arrays.
    without : sequence of str
        Peers to leave out.
    profile : bool
        The steps of one call instead.
    long : bool
        A million shapes.
    rounds : int
        Batches of every candidate.

    Raises
    ------
    BenchmarkError
        A peer is missing.
    """
    wanted = required(("cupy",) if profile else ("cupy", "torch", "jax"), without) if gpu else ()
    if profile:
        return [call_profile.run(gpu, rounds)]
    if gpu:
        import cupy

        candidates, finish = gpu_candidates(wanted), cupy.cuda.Device().synchronize
    else:
        candidates, finish = cpu_candidates(), lambda: None
    unit = "CuPy x + y" if gpu else "NumPy x + y"
    times = interleaved(candidates, finish, rounds)
    rows = rows_of(times, unit, "call")
    notes = (
        f"host microseconds of one call; {rounds} batches of {BATCH} calls (200 of sizes never seen), rows taking turns",
        "the device is waited for between batches and outside the clock; outputs are allocated",
    )
    table = Table("Host time of one call", ("call", "median us", "min us", f"times {unit}"), notes, rows)
    return [table, different_shapes(gpu, MANY_SHAPES if long else SHAPES)]
