"""Kernels whose threads compute several elements: every dtype, every tail, arrays that begin anywhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pointwise_tools import at, given_to, launch_of, numbers, vectors

import pytocu
from pytocu.ir.core import Function
from pytocu.ir.dims import evaluate
from pytocu.ir.interp_launch import Fault, ThreadFault
from pytocu.ir.interp_threads import run_threads
from pytocu.ir.parser import parse_function
from pytocu.ir.printer import print_function
from pytocu.ir.types import ALL_DTYPES, DType, IndexType, PointerType, dtype_named
from pytocu.planning import kernel_function, launches
from pytocu.testing.compare import compare


def twice(x, y):
    return x + x, np.copy(y)


def both(x, y):
    return np.where(y, x, x[::-1])


def masked(points, mask):
    return np.where(mask[:, np.newaxis], points, points + points)


def kernel_of(function: Any, *types: str) -> Function:
    return launch_of(function, *types)[0]


def call(kernel: Function, arrays: dict[str, np.ndarray], n: int, **options: Any) -> None:
    """Run a kernel; a length is the argument that is an index."""
    given = [n if isinstance(p.type, IndexType) else arrays[p.name] for p in kernel.params]
    run_threads(kernel, given, **options)


@pytest.mark.parametrize("dtype", ALL_DTYPES, ids=str)
@pytest.mark.parametrize("answer", [True, False, None])
def test_every_dtype_and_tail(dtype: DType, answer: bool | None):
    kernel = kernel_of(twice, f"{dtype}[n]", "f32[n]")
    lanes = max(16 // max(dtype.itemsize, 4), 2)
    for n in range(2 * lanes + 2):
        x, y = numbers(dtype, n), numbers(dtype_named("f32"), n)
        out0, out1 = np.zeros_like(x), np.zeros_like(y)
        call(kernel, {"x": x, "y": y, "out0": out0, "out1": out1}, n, aligned=answer, block=2, grid=2)
        compare(out0, x + x)
        compare(out1, y)


@pytest.mark.parametrize(
    ("types", "bytes"),
    [
        (("f32[n]", "f32[n]"), {"x": 16, "out0": 16, "y": 16, "out1": 16}),
        (("u8[n]", "bool[n]"), {"x": 16, "out0": 16, "y": 16, "out1": 16}),
        (("i16[n]", "u8[n]"), {"x": 16, "out0": 16, "y": 8, "out1": 8}),
        (("f64[n]", "f32[n]"), {"x": 16, "out0": 16, "y": 8, "out1": 8}),
        (("c64[n]", "f16[n]"), {"x": 16, "out0": 16, "y": 4, "out1": 4}),
        (("c128[n]", "bool[n]"), {"x": 32, "out0": 32, "y": 2, "out1": 2}),
    ],
)
def test_widest_array_moves_16_bytes(types: tuple[str, str], bytes: dict[str, int]):
    assert vectors(kernel_of(twice, *types)) == bytes


@pytest.mark.parametrize("place", [0, 4, 8, 12, 16, 20])
def test_arrays_that_begin_anywhere(place: int):
    kernel = kernel_of(twice, "f32[n]", "f32[n]")
    x, y = at(place, np.arange(9, dtype=np.float32)), at(0, np.ones(9, np.float32))
    out0, out1 = at(0, np.zeros(9, np.float32)), at(16, np.zeros(9, np.float32))
    call(kernel, {"x": x, "y": y, "out0": out0, "out1": out1}, 9, block=4)
    assert np.array_equal(out0, x + x)
    assert np.array_equal(out1, y)


def test_misaligned_vectors_are_reported():
    """The rule that keeps vectors off misaligned arrays, taken away."""
    kernel = kernel_of(twice, "f32[n]", "f32[n]")
    arrays = {name: at(0, np.zeros(8, np.float32)) for name in ("x", "y", "out0", "out1")}
    call(kernel, arrays, 8)
    trusting = parse_function(print_function(kernel).replace("bytes = (16, 16, 16, 16)", "bytes = (4, 4, 4, 4)"))
    call(trusting, arrays, 8)
    faults: list[Fault] = []
    call(trusting, arrays | {"y": at(4, np.zeros(8, np.float32))}, 8, faults=faults)
    assert {f.kind for f in faults} == {"misaligned"}
    assert "load %y" in faults[0].text
    text = print_function(kernel).replace("load %x, %i {align", "load %x, %odd {align")
    shifted = parse_function(text.replace("%x_vector =", "%odd = const 1 : index\n%x_vector ="))
    with pytest.raises(ThreadFault, match=r"misaligned: index \d+ is not at a multiple of 16 bytes"):
        call(shifted, arrays, 8, aligned=True)


def test_a_missing_tail_is_reported():
    """The last elements are computed one by one: vectors there leave the array."""
    kernel = kernel_of(twice, "f32[n]", "f32[n]")
    arrays = {name: np.zeros(7, np.float32) for name in ("x", "y", "out0", "out1")}
    greedy = parse_function(print_function(kernel).replace("for %0, %vectors,", "for %0, %n,"))
    with pytest.raises(ThreadFault, match="out-of-bounds: read at index 7 of 7"):
        call(greedy, arrays, 7, aligned=True)


def test_an_operand_that_is_no_vector():
    kernel = kernel_of(both, "f32[n]", "bool[n]")
    assert vectors(kernel) == {"x": 16, "y": 4, "out": 16}
    for n in range(10):
        x, y = numbers(dtype_named("f32"), n), numbers(dtype_named("bool"), n)
        out = np.zeros(n, np.float32)
        call(kernel, {"x": x, "y": y, "out": out}, n, aligned=True, block=2)
        assert np.array_equal(out, both(x, y))


@pytest.mark.parametrize("answer", [True, False])
def test_a_small_last_axis(answer: bool):
    kernel = kernel_of(masked, "f32[n, 3]", "bool[n]")
    assert vectors(kernel) == {"points": 16, "out": 16}
    for n in range(10):
        points, mask = numbers(dtype_named("f32"), 3 * n).reshape(n, 3), numbers(dtype_named("bool"), n)
        out = np.zeros((n, 3), np.float32)
        call(kernel, {"points": points, "mask": mask, "out": out}, n, aligned=answer, block=2)
        assert np.array_equal(out, masked(points, mask))


def in_place(x, y):
    x *= 2
    x += y


def test_arrays_changed_in_place_are_vectors():
    kernel = kernel_of(in_place, "f32[n]", "f32[n]")
    assert vectors(kernel) == {"x": 16, "y": 16}
    for n in range(10):
        x, y = numbers(dtype_named("f32"), n), np.ones(n, np.float32)
        expected = x * 2 + y
        call(kernel, {"x": x, "y": y}, n, aligned=True, block=2)
        assert np.array_equal(x, expected)


def test_no_element_is_touched_by_two_threads():
    """The grid is larger than the work and the block is not a power of two."""
    kernel = kernel_of(twice, "f32[n]", "f32[n]")
    assert {p.name for p in kernel.params if isinstance(p.type, PointerType)} == {"x", "y", "out0", "out1"}
    for n in (0, 1, 5, 30):
        arrays = {name: np.zeros(n, np.float32) for name in ("x", "y", "out0", "out1")}
        arrays["x"][:] = 3
        call(kernel, arrays, n, grid=5, block=3, aligned=True)
        assert np.array_equal(arrays["out0"], np.full(n, 6, np.float32))


def heat(u):
    return u[1:-1, 1:-1] * 2 - u[2:, 1:-1] + u[:-2, 1:-1] - u[1:-1, 2:] + u[1:-1, :-2]


def outer(x, y):
    return x[:, np.newaxis] - y[np.newaxis, :]


def permuted(x):
    return np.ascontiguousarray(np.transpose(x, (2, 0, 1)) + x[0, 0, 0])


def every_other(x):
    return x[::2] * 3 + x[1::2]


def interior(x, y):
    x[1:-1] = x[1:-1] + y[1:-1]


def planes(x):
    x[1:, 1:, 1:] += x[1:, 1:, 1:] * 2


def cross(u):
    return u[1:-1, 1:-1, 1:-1] - u[2:, 1:-1, 1:-1] + u[:-2, 1:-1, 1:-1] * 2 + u[1:-1, 2:, 1:-1] + u[1:-1, 1:-1, :-2]


def grid_of(function: Any, *types: str) -> str | None:
    host = pytocu.jit(function).lower(*types).host("cuda:sm_90")
    (launch,) = launches(host)
    grid = launch.attr("grid")
    return None if grid is None else ", ".join(map(str, grid))


@pytest.mark.parametrize(
    ("function", "type", "shapes"),
    [
        (heat, "f32[n, m]", [(n, m) for n in (2, 3, 5, 6, 7, 11) for m in (2, 3, 9, 40)]),
        (cross, "f32[n, m, k]", [(n, m, 7) for n in (3, 6, 7, 11) for m in (3, 5)]),
        (permuted, "f64[n, m, 9]", [(n, 2, 9) for n in (1, 4, 5, 9)]),
        (permuted, "u8[n, m, 17]", [(n, 7, 17) for n in (1, 4, 5, 9, 17)]),
        (permuted, "c64[n, m, 5]", [(2, 3, 5), (1, 1, 5), (5, 2, 5), (4, 33, 5)]),
        (every_other, "f32[2*n]", [(0,), (2,), (6,), (2000,), (2048,), (4100,)]),
    ],
)
@pytest.mark.parametrize("threads", [((1, 1), (4, 2)), ((2, 3), (16, 4))])
def test_rows_and_strides(function: Any, type: str, shapes: list[tuple[int, ...]], threads: Any):
    lowered = pytocu.jit(function).lower(type)
    host = lowered.host("cuda:sm_90")
    (launch,) = launches(host)
    kernel = kernel_function(host, launch)
    for shape in shapes:
        x = numbers(dtype_named(type.partition("[")[0]), int(np.prod(shape))).reshape(shape)
        expected = function(x)
        sizes = dict(zip(type.partition("[")[2][:-1].replace("2*", "").split(", "), shape, strict=True))
        sizes = {name: length // 2 if "2*" in type else length for name, length in sizes.items()}
        assert launch.attr("schedule") == "pointwise"
        out = np.zeros(expected.shape, expected.dtype)
        named = {"x": x, "u": x, "out": out}
        given = [
            named[p.name] if isinstance(p.type, PointerType) else evaluate(a.inst.attr("value"), sizes)
            for p, a in zip(kernel.params, launch.args, strict=True)
        ]
        grid, block = threads if launch.attr("grid") else (threads[0][0], threads[1][0])
        run_threads(kernel, given, grid=grid, block=block)
        compare(out, expected)


@pytest.mark.parametrize(
    ("function", "type", "grid"),
    [
        (heat, "f32[n, m]", "max(m - 2, 0), ((max(n - 2, 0) + 3) // 4), 32"),
        # Rows of a thread lie along the first axis, as those along the second are neighbours in a block.
        (cross, "f32[n, m, k]", "max(k - 2, 0), ((max(n - 2, 0) + 3) // 4)*max(m - 2, 0), 32"),
        (permuted, "u8[n, m, 17]", "m*n, 3, 32"),
        (permuted, "f32[n, m, 5]", "m*n, 2, 32"),
        (every_other, "f32[2*n]", None),
    ],
)
def test_threads_in_columns_and_rows(function: Any, type: str, grid: str | None):
    assert grid_of(function, type) == grid


@pytest.mark.parametrize("function", [interior, planes])
def test_changes_in_place(function: Any):
    """Every element is read and written by one thread, whatever the rows."""
    ndim = 1 if function is interior else 3
    names = ", ".join("nmk"[:ndim])
    types = [f"f32[{names}]"] * (2 if function is interior else 1)
    host = pytocu.jit(function).lower(*types).host("cuda:sm_90")
    (launch,) = launches(host)
    kernel = kernel_function(host, launch)
    for shape in [(1, 1, 1), (2, 3, 4), (5, 6, 3), (8, 2, 9), (1100, 2, 2)]:
        arrays = [numbers(dtype_named("f32"), int(np.prod(shape[:ndim]))).reshape(shape[:ndim]) for _ in types]
        named = dict(zip("xy", arrays, strict=False))
        expected = arrays[0].copy()
        function(expected, *arrays[1:])
        sizes = dict(zip("nmk", shape, strict=True))
        given = [
            named[p.name] if isinstance(p.type, PointerType) else evaluate(a.inst.attr("value"), sizes)
            for p, a in zip(kernel.params, launch.args, strict=True)
        ]
        grid, block = ((1, 2), (4, 4)) if launch.attr("grid") else (2, 16)
        run_threads(kernel, given, grid=grid, block=block)
        compare(arrays[0], expected)


def test_a_broken_row_guard_is_reported():
    """Rows behind the last are out of bounds."""
    kernel, launch = launch_of(heat, "f32[n, m]")
    text = print_function(kernel)
    condition = next(line for line in text.splitlines() if "less_equal" in line)
    broken = parse_function(text.replace(condition, condition.replace("less_equal", "greater_equal")))
    arrays = {"u": np.zeros((8, 8), np.float32), "out": np.zeros((6, 6), np.float32)}
    given = given_to(kernel, launch, arrays, {"n": 8, "m": 8})
    run_threads(kernel, given, block=(4, 2))
    with pytest.raises(ThreadFault, match="out-of-bounds"):
        run_threads(broken, given, block=(4, 2))
