"""Threads that have vectors of columns: broadcast operands, rows of every length, arrays that begin anywhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pointwise_tools import check_kernel, given_to, launch_of, numbers, vectors

from pytocu.ir.core import walk
from pytocu.ir.dims import evaluate
from pytocu.ir.interp_threads import Fault, run_threads
from pytocu.ir.parser import parse_function
from pytocu.ir.printer import print_function
from pytocu.ir.types import F32, dtype_named
from pytocu.passes import schedule


def outer(x, y):
    return x[:, np.newaxis] - y[np.newaxis, :]


def biased(x, bias, scale):
    return (x + bias) * scale[:, np.newaxis], x - bias


def planes(x, y):
    return x[:, np.newaxis, :] + y[np.newaxis, :, :]


def numbered(x):
    return x * np.arange(x.shape[1]) + np.arange(x.shape[0])[:, np.newaxis]


def stencil(u):
    return u[1:-1, 1:-1] + u[2:, 1:-1] + u[1:-1, 2:]


def pairs(x, y):
    return x[:, np.newaxis, 0] * y[:, 0] + x[:, np.newaxis, 1] * y[:, 1]


def stepped(u):
    new = u.copy()
    new[1:-1, 1:-1] = u[1:-1, 1:-1] + (u[2:, 1:-1] - u[:-2, 1:-1]) * (u[1:-1, 2:] - u[1:-1, :-2])
    return new


def corners(u):
    """Neighbours in other rows too, of which the first has no element before it in memory."""
    new = u.copy()
    new[1:-1, 1:-1] = u[:-2, :-2] - u[2:, 2:] + u[:-2, 2:]
    return new


def widely(u, bias):
    """Neighbours two columns away, and what all rows read besides."""
    new = u.copy()
    new[:, 2:-2] = u[:, 4:] + u[:, :-4] * bias[2:-2]
    return new


def below(x, y):
    return np.concatenate((x * 2, y - 1))


CASES: dict[str, tuple[Any, list[str], dict[str, int]]] = {
    "outer": (outer, ["f32[n]", "f32[m]"], {"y": 16, "out": 16}),
    "outer of float64": (outer, ["f64[n]", "f64[m]"], {"y": 16, "out": 16}),
    "outer of bytes": (outer, ["u8[n]", "u8[m]"], {"y": 16, "out": 16}),
    "outer of two dtypes": (outer, ["i8[n]", "c64[m]"], {"y": 16, "out": 16}),
    "rows and columns": (biased, ["f32[n, m]", "f32[m]", "f32[n]"], {"x": 16, "bias": 16, "out0": 16, "out1": 16}),
    "halves": (biased, ["f16[n, m]", "f16[m]", "f16[n]"], {"x": 16, "bias": 16, "out0": 16, "out1": 16}),
    "planes": (planes, ["f32[n, k]", "f32[m, k]"], {"x": 16, "y": 16, "out": 16}),
    "elements side by side": (pairs, ["f32[n, 3]", "f32[m, 2]"], {"y": 32, "out": 16}),
    "positions": (numbered, ["i32[n, m]"], {"x": 8, "out": 16}),
    "neighbours": (stepped, ["f32[n, m]"], {"u": 16, "out": 16}),
    "neighbours of bytes": (stepped, ["u8[n, m]"], {"u": 16, "out": 16}),
    "neighbours in other rows": (corners, ["f64[n, m]"], {"u": 32, "out": 16}),
    "neighbours two columns away": (widely, ["f32[n, m]", "f32[m]"], {"u": 48, "bias": 16, "out": 16}),
    "one below the other": (below, ["f32[n, m]", "f32[k, m]"], {"x": 16, "y": 16, "out": 16}),
}


@pytest.mark.parametrize("name", CASES)
def test_rows_of_every_length(name: str):
    function, types, bytes = CASES[name]
    kernel, launch = launch_of(function, *types)
    assert vectors(kernel) == bytes
    for n in (0, 1, 2, 3, 5, 7):
        for m in (1, 3, 4, 8, 12, 16, 21, 160):
            lengths = {"n": n, "m": m, "k": 16 if m > 3 else 5}
            arrays = []
            for type in types:
                dtype, _, shape = type[:-1].partition("[")
                arrays.append(numbers(dtype_named(dtype), *(lengths[d] if d in lengths else int(d) for d in shape.split(", "))))
            check_kernel(kernel, launch, function, types, arrays, grid=(2, 2), block=(4, 2))
            check_kernel(kernel, launch, function, types, arrays, grid=(1, 3), block=(8, 1), aligned=False)


@pytest.mark.parametrize("place", [0, 4, 8, 12])
def test_arrays_that_begin_anywhere(place: int):
    function, types, _ = CASES["rows and columns"]
    kernel, launch = launch_of(function, *types)
    arrays = [numbers(F32, 6, 24), numbers(F32, 24), numbers(F32, 6)]
    check_kernel(kernel, launch, function, types, arrays, place=place, grid=(1, 2), block=(4, 2))


def test_rows_that_begin_between_vectors_are_reported():
    """The question for the length of a row, taken away."""
    kernel, launch = launch_of(outer, "f32[n]", "f32[m]")
    text = print_function(kernel)
    line = next(line for line in text.splitlines() if " = equal " in line)
    broken = parse_function(text.replace(line, line.replace("equal", "greater_equal")))
    arrays = {"x": np.zeros(4, np.float32), "y": np.zeros(6, np.float32), "out": np.zeros((4, 6), np.float32)}
    given = given_to(kernel, launch, arrays, {"n": 4, "m": 6})
    run_threads(kernel, given, aligned=True, grid=(1, 1), block=(4, 2))
    faults: list[Fault] = []
    run_threads(broken, given, aligned=True, grid=(1, 1), block=(4, 2), faults=faults)
    assert {f.kind for f in faults} >= {"misaligned", "out-of-bounds"}


def test_columns_of_a_thread_and_rows_of_a_grid():
    _, launch = launch_of(outer, "f32[n]", "f32[m]")
    rows = schedule.VECTOR_ROWS
    assert launch.attr("each") == 4 * rows
    columns, groups, most = launch.attr("grid")
    assert [(evaluate(columns, {"m": m}), most) for m in (1, 3, 4, 8, 9)] == [(1, 32), (3, 32), (1, 32), (2, 32), (9, 32)]
    # Where a row is not made of whole vectors, a thread has four rows of one column.
    assert [evaluate(groups, {"m": m, "n": 9}) for m in (8, 9)] == [-(-9 // rows), 3]


def test_a_thread_whose_columns_read_their_neighbours_has_one_row():
    """Neighbouring rows are neighbouring threads' and share through the cache."""
    kernel, launch = launch_of(stepped, "f32[n, m]")
    assert launch.attr("each") == 4
    loaded = [inst.types[0].lanes for inst in walk(kernel.body) if inst.op.name == "load" and "lanes" in dict(inst.attrs)]
    assert sorted(loaded) == [4, 4, 12]


def test_rows_of_different_lengths_are_walked_one_column_at_a_time():
    """No array has them all at multiples of 16 bytes."""
    kernel, _ = launch_of(stencil, "f32[n, m]")
    assert vectors(kernel) == {}


def test_elements_that_no_column_reads_are_not_loaded():
    """Few of those side by side are read, or what is behind the last of them is no memory."""

    def sparse(x, y):
        return x[:, np.newaxis] * y[:, 1]

    def every_other(x, y):
        return x[:, np.newaxis] * y[::2]

    assert vectors(launch_of(sparse, "f32[n]", "f32[m, 5]")[0]) == {}
    assert vectors(launch_of(every_other, "f32[n]", "f32[m]")[0]) == {}


def test_changed_in_place():
    def grow(x, bias):
        x += bias

    kernel, launch = launch_of(grow, "f32[n, m]", "f32[m]")
    assert vectors(kernel) == {"x": 16, "bias": 16}
    for shape in ((3, 8), (4, 5), (5, 4)):
        x, bias = numbers(F32, *shape), numbers(F32, shape[1])
        expected = x + bias
        given = given_to(kernel, launch, {"x": x, "bias": bias}, dict(zip("nm", shape, strict=True)))
        run_threads(kernel, given, aligned=True, grid=(1, 2), block=(4, 2))
        assert np.array_equal(x, expected)
