"""Operands that lie along another axis than the result, through tiles in shared memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pointwise_tools import check, check_kernel, given_to, launch_of, numbers

import pytocu
from pytocu.ir.core import Function, Inst, walk
from pytocu.ir.interp_launch import ThreadFault
from pytocu.ir.interp_threads import run_threads
from pytocu.ir.parser import parse_function
from pytocu.ir.printer import print_function
from pytocu.ir.types import ALL_DTYPES, BOOL, C128, F32, DType, dtype_named
from pytocu.passes import schedule
from pytocu.planning import launches

BLOCK = schedule.BLOCK


def added(x, y):
    return x.T + y


def copied(x):
    return np.where(x.T == x.T, x.T, x.T).copy()


def several(x, y, z):
    return x.T * y + z.T[:, :], z.T - 1


def shifted(x):
    return (x.T[1:, 2:] + x.T[:-1, :-2]).copy()


def planes(x, y):
    return np.transpose(x, (2, 1, 0)) + y


def swapped(x):
    return (np.transpose(x, (0, 2, 1)) * 2).copy()


def rolled(x):
    return (np.transpose(x, (2, 0, 1)) + 1).copy()


def biased(x, bias, scale):
    return (x.T * scale[:, np.newaxis] + bias).copy()


def is_tiled(launch: Inst) -> bool:
    return launch.attr("schedule") == "tiles" and any(i.op.name == "barrier" for i in walk(launch.regions[0]))


@pytest.mark.parametrize("shape", [(32, 32), (64, 96), (1, 1), (31, 33), (33, 31), (70, 5), (5, 70), (0, 3), (100, 45)])
def test_tiles_and_their_edges(shape: tuple[int, int]):
    kernel, launch = launch_of(added, "f32[n, m]", "f32[m, n]")
    assert is_tiled(launch)
    arrays = [numbers(F32, *shape), numbers(F32, *shape[::-1]) + 100]
    for grid in (1, 4):
        check_kernel(kernel, launch, added, ["f32[n, m]", "f32[m, n]"], arrays, grid=grid, block=BLOCK)


@pytest.mark.parametrize("dtype", ALL_DTYPES, ids=str)
def test_every_dtype(dtype: DType):
    function = copied if dtype is BOOL else added
    types = [f"{dtype}[n, m]", f"{dtype}[m, n]"][: 1 if dtype is BOOL else 2]
    arrays = [numbers(dtype, 40, 35), numbers(dtype, 35, 40)][: len(types)]
    assert is_tiled(launch_of(function, *types)[1])
    check(function, types, arrays, grid=2, block=BLOCK)


@pytest.mark.parametrize(
    ("function", "types", "shapes"),
    [
        (several, ["f32[n, m]", "f32[m, n]", "f64[n, m]"], [(40, 33), (33, 40), (40, 33)]),
        (shifted, ["f32[n, m]"], [(40, 70)]),
        (planes, ["f32[n, m, k]", "f32[k, m, n]"], [(33, 3, 35), (35, 3, 33)]),
        (planes, ["i16[n, m, k]", "i16[k, m, n]"], [(2, 40, 64), (64, 40, 2)]),
        (swapped, ["f32[n, m, k]"], [(3, 34, 40)]),
        (rolled, ["f32[n, m, k]"], [(5, 7, 34)]),
        (biased, ["f32[n, m]", "f32[n]", "f32[m]"], [(40, 65), (40,), (65,)]),
    ],
)
def test_permutations(function: Any, types: list[str], shapes: list[tuple[int, ...]]):
    kernel, launch = launch_of(function, *types)
    assert is_tiled(launch)
    arrays = [numbers(dtype_named(t.partition("[")[0]), *s) for t, s in zip(types, shapes, strict=True)]
    check_kernel(kernel, launch, function, types, arrays, grid=3, block=BLOCK)


def test_operands_that_find_no_room_are_read_across_their_rows():
    def six(a, b, c, d):
        return (a.T + b.T + c.T + d.T).copy()

    types = ["c128[n, m]"] * 4
    kernel, launch = launch_of(six, *types)
    assert is_tiled(launch)
    tiles = [i for i in walk(kernel.body) if i.op.name == "shared"]
    assert len(tiles) == 2
    assert sum(8 * i.attr("size") for i in tiles) <= schedule.TILE_BYTES
    arrays = [numbers(C128, 34, 33) * (k + 1) for k in range(4)]
    check_kernel(kernel, launch, six, types, arrays, grid=2, block=BLOCK)


def test_short_axes_have_no_tiles():
    """A tile with three rows would leave most threads without work."""
    image = np.zeros((40, 50, 3), np.float32)
    host = pytocu.jit(rolled).lower(image).host("cuda:sm_90")
    (launch,) = launches(host)
    assert launch.attr("schedule") == "pointwise"
    host = pytocu.jit(added).lower(np.zeros((40, 50)), np.zeros((50, 40))).host("cuda:sm_90")
    (launch,) = launches(host)
    assert is_tiled(launch)
    facts = [i for i in host.body.insts if i.op.name == "assume" and i.attr("relation") == ">"]
    assert {i.attr("number") for i in facts} == {schedule.TILE_COLUMNS - 1, schedule.SHORTEST}


def test_transposes_that_are_one_walk_have_no_tiles():
    assert not is_tiled(launch_of(lambda x, y: (x.T + y.T).T, "f32[n, m]", "f32[n, m]")[1])
    assert not is_tiled(launch_of(lambda x: x[::2] + x[1::2], "f32[2*n]")[1])


def test_results_in_the_order_of_their_operands_have_no_tiles():
    for function, types, shapes in (
        (lambda x: x.T + 1, ["f32[n, m]"], [(40, 33)]),
        (lambda x: x.T[1:, 2:] * 2, ["f32[n, m]"], [(40, 33)]),
        (lambda x, bias, scale: x.T * scale[:, np.newaxis] + bias, ["f32[n, m]", "f32[n]", "f32[m]"], [(40, 65), (40,), (65,)]),
        (lambda x: np.transpose(x, (0, 2, 1)) * 2, ["f64[n, m, k]"], [(3, 34, 40)]),
        (lambda x: np.transpose(x, (2, 0, 1)) + 1, ["u8[n, m, k]"], [(5, 7, 34)]),
    ):
        kernel, launch = launch_of(function, *types)
        assert launch.attr("schedule") == "pointwise"
        arrays = [numbers(dtype_named(t.partition("[")[0]), *s) for t, s in zip(types, shapes, strict=True)]
        check_kernel(kernel, launch, function, types, arrays, grid=3, block=BLOCK)


def without_barrier(kernel: Function, number: int) -> Function:
    lines = print_function(kernel).splitlines()
    places = [place for place, line in enumerate(lines) if line.strip() == "barrier"]
    assert len(places) == 4
    del lines[places[number]]
    return parse_function("\n".join(lines))


@pytest.mark.parametrize("edge", [False, True])
def test_every_barrier_is_needed(edge: bool):
    shape = (40, 50) if edge else (64, 96)
    x, y = numbers(F32, *shape), numbers(F32, *shape[::-1])
    for number in range(4):
        kernel, launch = launch_of(added, "f32[n, m]", "f32[m, n]")
        named = {"x": x, "y": y, "out": np.zeros(shape[::-1], np.float32)}
        given = given_to(kernel, launch, named, dict(zip("nm", shape, strict=True)))
        broken = without_barrier(kernel, number)
        # The first two stand in whole tiles, the others in tiles at an edge.
        if edge or number < 2:
            with pytest.raises(ThreadFault, match=r"race|uninitialised"):
                run_threads(broken, given, grid=1, block=BLOCK)
        else:
            run_threads(broken, given, grid=1, block=BLOCK)
            assert np.array_equal(named["out"], added(x, y))


def test_pieces_are_written_with_lengths_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind a choice between pieces nobody uses what was computed for one of them."""

    def pieced(x: np.ndarray) -> Any:
        changed = x.copy()
        changed[0] = 1
        return (changed + 1).T.copy()

    monkeypatch.setenv("PYTOCU_CHECK", "1")
    host = pytocu.jit(pieced).lower("f64[n, m]").host("cuda")
    assert any(is_tiled(launch) for launch in launches(host))
