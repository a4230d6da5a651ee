"""Sweeps and positions of run time on a GPU: the programs of the CPU's tests, and large ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_control_flow_gpu import on_device, on_host, same
from test_run_time_positions import LOOPS
from test_sweeps import PROGRAMS, SHORT, copies, solved_in_time, systems, thomas, thomas_in_place, two_states

import pytocu
from pytocu.errors import CompileError

pytestmark = pytest.mark.gpu


def compared(function: Any, arguments: tuple[Any, ...], cupy: Any) -> None:
    """NumPy's result, and what it leaves in the arguments."""
    host = copies(arguments)
    device = [on_device(cupy, a) for a in arguments]
    try:
        with np.errstate(all="ignore"):
            wanted = function(*host)
    except IndexError as error:
        with pytest.raises(CompileError) as caught:
            pytocu.jit(function)(*device)
        assert str(caught.value).splitlines()[0] == str(error)
        return
    same(on_host(cupy, pytocu.jit(function)(*device)), wanted, False)
    same(on_host(cupy, tuple(device)), tuple(host), False)


@pytest.mark.parametrize(
    ("function", "arguments"), [pytest.param(p[0], p[1], id=p[0].__name__) for p in (*PROGRAMS, *SHORT, *LOOPS)]
)
def test_programs_give_what_numpy_gives(function: Any, arguments: tuple[Any, ...], cupy: Any) -> None:
    compared(function, arguments, cupy)


@pytest.mark.parametrize(("count", "size"), [(1, 1000), (31, 33), (1000, 257), (4096, 64)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_many_tridiagonal_systems(count: int, size: int, dtype: Any, cupy: Any) -> None:
    compared(thomas, systems(count, size, dtype), cupy)
    compared(thomas_in_place, tuple(np.ascontiguousarray(a.T) for a in systems(count, size, dtype)), cupy)


def test_a_large_filter(cupy: Any) -> None:
    x = np.random.default_rng(3).random((3000, 500), np.float32)
    compared(two_states, (x, np.float32(0.5), np.float32(-0.25)), cupy)
    compared(two_states, (np.asfortranarray(x), np.float32(0.5), np.float32(-0.25)), cupy)


def test_sweeps_inside_of_loops(cupy: Any) -> None:
    compared(solved_in_time, (np.random.default_rng(4).random((130, 40)), 5, 0.4), cupy)


def test_ints_are_bounds_of_slices(cupy: Any) -> None:
    def cleared(x: Any, i: int, j: int) -> Any:
        x[i:j] = 0
        return x[:i] + 1

    compiled = pytocu.jit(cleared)
    for i, j in ((0, 3), (2, -1), (-4, 20), (-50, 1)):
        x = np.arange(9.0)
        y = cupy.asarray(x)
        wanted = cleared(x, i, j)
        same(cupy.asnumpy(compiled(y, i, j)), wanted, False)
        same(cupy.asnumpy(y), x, False)
