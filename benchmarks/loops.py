"""Time loops: microseconds a step of a 5-point update, beside the peers, and beside what the kernels alone take.

What is timed is a whole call, from before it to when its result is there, divided by its steps.
"""

from __future__ import annotations

import inspect
import json
import math
import os
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import pytocu
from benchmarks.report import BenchmarkError, Table, median, progress, required

GPU_CASES = ((1024, 1000), (8192, 100))
CPU_CASES = ((64, 1000), (512, 1000), (4096, 20))
"""Rows and columns of the field, and steps."""

ROUNDS = 15
CHECKED_STEPS = 40
"""Steps after which every candidate is compared with NumPy."""

_KERNEL = r"""
extern "C" __global__ void heat(const float* __restrict__ u, float* __restrict__ next, int rows, int columns) {
    int x = blockIdx.x * blockDim.x + threadIdx.x + 1;
    int y = (blockIdx.y * blockDim.y + threadIdx.y) * 4 + 1;
    if (x >= columns - 1 || y >= rows - 1) return;
    const float* here = u + (size_t)y * columns + x;
    float above = here[-columns], centre = here[0];
    for (int k = 0; k < 4 && y + k < rows - 1; ++k) {
        float below = here[columns];
        next[(size_t)(y + k) * columns + x] = centre + 0.1f * (below + above + here[1] + here[-1] - 4 * centre);
        above = centre;
        centre = below;
        here += columns;
    }
}
"""


def in_place(u, steps):
    u = u.copy()
    for _ in range(steps):
        c = u[1:-1, 1:-1]
        u[1:-1, 1:-1] = c + 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * c)
    return u


def swapped(u, steps):
    old = u.copy()
    new = u.copy()
    for _ in range(steps):
        c = old[1:-1, 1:-1]
        new[1:-1, 1:-1] = c + 0.1 * (old[2:, 1:-1] + old[:-2, 1:-1] + old[1:-1, 2:] + old[1:-1, :-2] - 4 * c)
        old, new = new, old
    return old


def eliminated(a, steps):
    """Gaussian elimination: each step works on a smaller part."""
    a = a.copy()
    for k in range(steps):
        a[k + 1 :, k + 1 :] -= a[k + 1 :, k : k + 1] * a[k : k + 1, k + 1 :] * 0.001
    return a


def driven(u, steps):
    """Heat with a source that depends on the time, a number of the step."""
    u = u.copy()
    for i in range(steps):
        u[1:-1] = u[1:-1] + 0.25 * (u[2:] - 2 * u[1:-1] + u[:-2]) + math.sin(0.01 * i)
    return u


def settled(u, steps):
    """As long as elements change: the host reads a number in each step."""
    change, made = 1.0, 0
    while change > 0 and made < steps:
        new = u.copy()
        new[1:-1] = 0.5 * (u[2:] + u[:-2])
        change = abs(new - u).max()
        u = new
        made += 1
    return u


DIFFERING = ((eliminated, (512, 512), 500), (driven, (100_000,), 1000), (settled, (100_000,), 1000))
"""Loops whose steps differ, shapes of their fields, and steps."""

Candidate = Callable[[], Any]
"""Runs all steps on the same field and gives the last one, perhaps before it is computed."""


def cpu_candidates(u: np.ndarray, steps: int, wanted: Sequence[str]) -> dict[str, Candidate]:
    """NumPy arrays."""
    placed, turned = pytocu.jit(in_place), pytocu.jit(swapped)
    made: dict[str, Candidate] = {
        "pytocu, in place": lambda: placed(u, steps),
        "pytocu, swapped": lambda: turned(u, steps),
        "NumPy": lambda: swapped(u, steps),
    }
    if "numba" in wanted:
        import numba

        from benchmarks.numba_functions import time_loop

        compiled = numba.njit(parallel=True, error_model="numpy", fastmath={"contract"})(time_loop)
        made["Numba"] = lambda: compiled(u, steps)
    return made


def gpu_candidates(u: Any, steps: int, wanted: Sequence[str]) -> dict[str, Candidate]:
    """CuPy's array, and the same memory as arrays of the peers."""
    placed, turned = pytocu.jit(in_place), pytocu.jit(swapped)
    made: dict[str, Candidate] = {
        "pytocu, in place": lambda: placed(u, steps),
        "pytocu, swapped": lambda: turned(u, steps),
        "CuPy": lambda: swapped(u, steps),
        "by hand, one CUDA graph": _by_hand(u, steps),
    }
    if "torch" in wanted:
        made |= _torch_candidates(u, steps)
    if "jax" in wanted:
        made["JAX, fori_loop"] = _jax_candidate(u, steps)
    return made


def _by_hand(u: Any, steps: int) -> Candidate:
    """A kernel, two fields that take turns, and all launches in one CUDA graph."""
    import cupy

    kernel = cupy.RawKernel(_KERNEL, "heat")
    rows, columns = u.shape
    grid = (-(-(columns - 2) // 32), -(-(rows - 2) // 32))
    fields = [u.copy(), u.copy()]
    stream = cupy.cuda.Stream(non_blocking=True)
    # Its code is loaded outside of the capture.
    kernel(grid, (32, 8), (fields[0], fields[1], np.int32(rows), np.int32(columns)))
    cupy.cuda.Device().synchronize()
    with stream:
        stream.begin_capture()
        for step in range(steps):
            kernel(grid, (32, 8), (fields[step % 2], fields[1 - step % 2], np.int32(rows), np.int32(columns)))
        graph = stream.end_capture()

    def run() -> Any:
        with stream:
            for field in fields:
                field.data.copy_from_device_async(u.data, u.nbytes, stream)
            graph.launch(stream)
        stream.synchronize()
        return fields[steps % 2]

    return run


def _torch_candidates(u: Any, steps: int) -> dict[str, Candidate]:
    import torch

    def step(u: Any) -> Any:
        new = u.clone()
        c = u[1:-1, 1:-1]
        new[1:-1, 1:-1] = c + 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * c)
        return new

    torch._dynamo.reset()
    compiled, given = torch.compile(step, dynamic=False), torch.from_dlpack(u)

    def all_steps(field: Any) -> Any:
        for _ in range(steps):
            field = compiled(field)
        return field

    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.no_grad(), torch.cuda.stream(side):
        for _ in range(3):
            compiled(given)
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    graph, start = torch.cuda.CUDAGraph(), given.clone()
    with torch.no_grad(), torch.cuda.graph(graph):
        last = all_steps(start)

    def captured() -> Any:
        start.copy_(given)
        graph.replay()
        return last

    return {
        "torch.compile": torch.no_grad()(lambda: all_steps(given)),
        "torch.compile, one CUDA graph": torch.no_grad()(captured),
    }


def _jax_candidate(u: Any, steps: int) -> Candidate:
    # JAX would take three quarters of the device's memory for itself.
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    import jax

    def step(_: int, u: Any) -> Any:
        c = u[1:-1, 1:-1]
        return u.at[1:-1, 1:-1].set(c + 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * c))

    traced = jax.jit(lambda u: jax.lax.fori_loop(0, steps, step, u))
    given = jax.device_put(u.get())
    return lambda: jax.block_until_ready(traced(given))


def _on_host(result: Any) -> np.ndarray:
    """A result of any library as a NumPy array."""
    if hasattr(result, "get"):
        return result.get()
    return np.asarray(result.cpu() if hasattr(result, "cpu") else result)


def _check(make: Callable[[Any, int, Sequence[str]], dict[str, Candidate]], xp: Any, wanted: Sequence[str]) -> None:
    """Every candidate against NumPy: pytocu to the bit, the others, which may join operations, nearly.

    Raises
    ------
    BenchmarkError
        A result is wrong.
    """
    u = np.random.default_rng(0).random((150, 133), np.float32)
    for steps in (CHECKED_STEPS, 5 * CHECKED_STEPS + 1):
        expected = swapped(u, steps)
        for name, run in make(xp.asarray(u), steps, wanted).items():
            for _ in range(2):
                result = _on_host(run())
                right = np.array_equal(result, expected) if name.startswith("pytocu") else np.allclose(result, expected, 1e-4)
                if not right:
                    raise BenchmarkError(f"{name}: {steps} steps give another result than NumPy")


def _kernel_seconds(run: Candidate, finish: Callable[[], Any]) -> float:
    """What the kernels of a call take themselves, as NVIDIA's profiler has it through PyTorch's.

    Raises
    ------
    BenchmarkError
        The profiler has seen no kernels.
    """
    from torch.profiler import ProfilerActivity, profile

    run()
    finish()
    with profile(activities=[ProfilerActivity.CUDA]) as seen:
        run()
        finish()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "trace.json")
        seen.export_chrome_trace(str(file))
        events = json.loads(file.read_text())["traceEvents"]
    spent = sum(event["dur"] for event in events if event.get("cat") == "kernel")
    if not spent:
        raise BenchmarkError("PyTorch's profiler has seen no kernels; --without torch leaves their own times out")
    return spent * 1e-6


def _times(candidates: Mapping[str, Candidate], finish: Callable[[], Any], rounds: int) -> dict[str, list[float]]:
    """Seconds of a call, a figure a round, the candidates taking turns; slow ones have fewer."""
    times: dict[str, list[float]] = {name: [] for name in candidates}
    for number in range(rounds + 1):
        for name, run in candidates.items():
            if number > 3 and sum(times[name]) > 3:
                continue
            finish()
            start = time.perf_counter()
            run()
            finish()
            if number:
                times[name].append(time.perf_counter() - start)
    return times


def _measured(
    name: str, candidates: Mapping[str, Candidate], finish: Callable[[], Any], steps: int, own: bool, rounds: int
) -> list[dict[str, Any]]:
    """The rows of one field."""
    times = {n: median(runs) / steps * 1e6 for n, runs in _times(candidates, finish, rounds).items()}
    best = min(t for n, t in times.items() if not n.startswith("pytocu"))
    rows: list[dict[str, Any]] = []
    for candidate, spent in times.items():
        row = {"field": name, "steps": steps, "candidate": candidate, "us a step": spent, "times best peer": spent / best}
        if own and candidate.startswith(("pytocu", "by hand")):
            alone = _kernel_seconds(candidates[candidate], finish) / steps * 1e6
            row |= {"kernels us a step": alone, "times kernels": spent / alone}
        rows.append(row)
    return rows


def _differing(gpu: bool, xp: Any, wanted: Sequence[str], finish: Callable[[], Any], rounds: int) -> Table:
    """Loops whose steps differ, beside the same text as the peers run it.

    Raises
    ------
    BenchmarkError
        A result is not NumPy's.
    """
    rows: list[dict[str, Any]] = []
    for function, shape, steps in DIFFERING:
        progress(f"{steps} steps of {function.__name__}")
        host = np.random.default_rng(2).random(shape)
        given, compiled = xp.asarray(host), pytocu.jit(function)
        candidates: dict[str, Candidate] = {"pytocu": partial(compiled, given, steps)}
        candidates["CuPy" if gpu else "NumPy"] = partial(function, given, steps)
        if gpu and "torch" in wanted:
            import torch

            candidates["PyTorch"] = partial(_of_torch(function), torch.from_dlpack(given), steps)
        if not gpu and "numba" in wanted:
            import numba

            candidates["Numba"] = partial(numba.njit(_of_numba(function)), given, steps)
        expected = function(host, steps)
        for name, run in candidates.items():
            result = _on_host(run())
            if not (np.array_equal(result, expected) if name == "pytocu" and not gpu else np.allclose(result, expected)):
                raise BenchmarkError(f"{name}: {steps} steps of {function.__name__} give another result than NumPy")
        rows += _measured(f"{function.__name__}, {' x '.join(map(str, shape))}", candidates, finish, steps, False, rounds)
    notes = ("the same text for all; float64; settled: each step ends with a number that the host reads",)
    return Table("Loops whose steps differ", ("field", "steps", "candidate", "us a step", "times best peer"), notes, rows)


def _of_torch(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with what PyTorch calls `copy`."""
    return _written(function, ".copy()", ".clone()")


def _of_numba(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function with NumPy's name of `abs`."""
    return _written(function, "abs(", "np.abs(")


def _written(function: Callable[..., Any], old: str, new: str) -> Callable[..., Any]:
    space: dict[str, Any] = {"math": math, "np": np}
    exec(inspect.getsource(function).replace(old, new), space)
    return space[function.__name__]


def run(gpu: bool, without: Sequence[str] = (), rounds: int = ROUNDS, cases: Sequence[tuple[int, int]] = ()) -> list[Table]:
    """The table.

    Parameters
    ----------
    gpu : bool
        CuPy arrays and the peers on a GPU, else NumPy arrays.
    without : sequence of str
        Peers to leave out.
    rounds : int
        Calls of every candidate.
    cases : sequence of (int, int)
        Length of both axes of a field, and steps; by default those that have a target.

    Raises
    ------
    BenchmarkError
        A peer is missing, or a result is wrong.
    """
    wanted = required(("cupy", "torch", "jax") if gpu else ("numba",), without)
    xp: Any = np
    make, finish = cpu_candidates, lambda: None
    if gpu:
        import cupy

        xp, make, finish = cupy, gpu_candidates, cupy.cuda.Device().synchronize
    progress("checking the candidates")
    _check(make, xp, wanted)
    rows: list[dict[str, Any]] = []
    for length, steps in cases or (GPU_CASES if gpu else CPU_CASES):
        progress(f"{steps} steps of {length} x {length}")
        u = xp.asarray(np.random.default_rng(1).random((length, length), np.float32))
        rows += _measured(f"{length} x {length}", make(u, steps, wanted), finish, steps, gpu and "torch" in wanted, rounds)
    notes = (
        f"a 5-point update of float32; medians of up to {rounds} calls that take turns, each waited for",
        "the copy of the field that every candidate begins with is timed too; results were compared with NumPy's before",
        "kernels: the sum of the kernels' own times by the profiler; where kernels overlap it is more than they take together",
    )
    columns = ("field", "steps", "candidate", "us a step", "times best peer", "kernels us a step", "times kernels")
    differing = _differing(gpu, xp, wanted, finish, rounds)
    return [Table("Time loops", columns if gpu else columns[:5], notes, rows), differing]
