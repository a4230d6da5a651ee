"""The grid covers the work: the number of blocks follows from the plan, with no GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.ir.dims import evaluate
from pytocu.ir.interp_threads import run_threads
from pytocu.runtime import cuda
from pytocu.runtime.on_cuda import CudaExecutor


def mask_out(points, mask):
    return np.where(mask[:, np.newaxis], np.inf, points)


def scaled(x):
    return x * 2


def two(x, y):
    return x + 1, y[1:-1] * 2


def grids(compiled: Any, sizes: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int, int]]:
    """Blocks, elements that the threads of one compute at once, and the work of every launch of the plan."""
    seen: list[tuple[int, int, int]] = []
    executor = CudaExecutor.__new__(CudaExecutor)
    executor.specs = compiled.plan.kernels
    executor.kernels = (None,) * len(executor.specs)  # pyright: ignore[reportAttributeAccessIssue]
    executor.stream = 0

    class Packed:
        def pack(self, *values: int) -> None:
            pass

    monkeypatch.setattr(cuda, "thread_parameters", lambda codes: Packed())
    monkeypatch.setattr(cuda, "launch", lambda kernel, grid, block, *rest: seen.append((grid[0], block[0] * spec.each, work)))
    for number, spec in enumerate(executor.specs):
        work = evaluate(spec.work, sizes)
        executor.launch(number, [0] * len(spec.parameters), work, evaluate(spec.cost, sizes))
    return seen


@pytest.mark.parametrize("n", [1, 255, 256, 257, 2**25, 2**25 + 1, 2**31 + 7])
@pytest.mark.parametrize(
    ("function", "types", "work"),
    [(mask_out, ("f32[n, 3]", "bool[n]"), [3]), (scaled, ("f32[n]",), [1]), (two, ("f32[n, 5]", "f32[n]"), [5, 1])],
    ids=["mask_out", "scaled", "two"],
)
def test_grid_covers_the_work(monkeypatch: pytest.MonkeyPatch, function: Any, types: Any, work: list[int], n: int) -> None:
    compiled = pytocu.jit(function).lower(*types).compile("cuda:sm_90", index_bits=64)
    seen = grids(compiled, {"n": n}, monkeypatch)
    assert len(seen) == len(work)
    for (blocks, elements, total), each in zip(seen, work, strict=True):
        assert total in (each * n, each * max(n - 2, 0))
        # Fewer threads than elements would leave memory idle; a whole block more would do nothing.
        assert blocks * elements >= total > (blocks - 1) * elements or blocks == total == 0
        assert blocks < 2**31


def test_small_grids_are_right_too() -> None:
    """The loop covers the work with any number of blocks, also with one."""
    from pytocu.ir.parser import parse_function

    kernel = parse_function(pytocu.jit(scaled).lower("f32[n]").kernels[0].ir)
    x = np.arange(1000, dtype=np.float32)
    for grid, block in ((1, 32), (3, 32), (4, 256), (40, 32)):
        out = np.full(1000, -1, np.float32)
        run_threads(kernel, [x, out, 1000], grid=grid, block=block)
        assert np.array_equal(out, x * 2)
