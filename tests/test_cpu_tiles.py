"""Kernels on the CPU that read along one axis and write along another: tiles."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.ir import interp
from pytocu.passes.lower_loops import TILE, staged_sides
from pytocu.runtime import threads

ROWS, COLUMNS = TILE
STAGED = staged_sides(4)
SHAPES = ((1, 1), (0, 5), (5, 0), (ROWS - 1, COLUMNS + 1), TILE, (COLUMNS, ROWS), (2 * ROWS + 3, 40), (1, 700), (300, 1),
          (STAGED[1] + 1, STAGED[0] - 1), (STAGED[1] - 1, STAGED[0] + 1), (2, 700), (700, 2), (130, 530))  # fmt: skip


def add_transposed(x, y):
    return x.T + y


def rotate(x):
    return (np.transpose(x, (2, 0, 1)) * 2).copy()


def both(x, y):
    return x.T.copy(), y * 2, y.T - 1


def into(x, out):
    out[...] = x.T
    return out


def swap(x):
    x[...] = x.T
    return x


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape)).random(shape, np.float32)


def same(function: Any, *arguments: np.ndarray) -> None:
    expected = function(*(a.copy("K") for a in arguments))
    found = pytocu.jit(function)(*(a.copy("K") for a in arguments))
    pairs = zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]
    for actual, wanted in pairs:
        np.testing.assert_array_equal(actual, wanted)
        moving = [axis for axis, length in enumerate(wanted.shape) if length > 1 and wanted.size]
        assert [actual.strides[axis] for axis in moving] == [wanted.strides[axis] for axis in moving]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_transposed(shape: tuple[int, int]) -> None:
    x, y = numbers(*shape), numbers(*shape[::-1])
    same(add_transposed, x, y)
    same(both, x, y)
    same(into, x, np.zeros_like(y))
    same(into, x, np.asfortranarray(np.zeros_like(y)))


@pytest.mark.parametrize("dtype", ["f8", "i8", "f2", "u2", "i1", "?", "c8", "c16"])
def test_dtypes_transposed(dtype: str) -> None:
    rows, columns = staged_sides(np.dtype(dtype).itemsize)
    for shape in ((3, 40), (17, 16), (35, rows + 9), (columns + 1, 31)):
        x = (numbers(*shape) * 100).astype(dtype)
        same(lambda x: (x.T.copy(), x.T[1:, ::-1].copy()), x)
        same(into, x, np.zeros_like(x.T))
        same(into, x[1:, 2:], np.zeros_like(x.T)[:-2, 1:])


@pytest.mark.parametrize("size", [1, 17, TILE[0] + 5])
def test_transposed_in_place(size: int) -> None:
    same(swap, numbers(size, size))


@pytest.mark.parametrize("shape", [(3, 4, 5), (40, 50, 60), (1, 70, 2), (33, 0, 2), (2, 3, 600)], ids=str)
def test_axes_rotated(shape: tuple[int, ...]) -> None:
    same(rotate, numbers(*shape))


def loops(function: Any, *specs: str) -> list[str]:
    (kernel,) = pytocu.jit(function).lower(*specs).compile("cpu").kernels
    return re.findall(r'over = "(\w+)"', kernel.ir)


def test_threads_have_tiles_of_their_own() -> None:
    shapes = {"f4": ((140, 20), (20, 140), (3, 90)), "f8": ((9, 40), (8, 8)), "f2": ((40, 33),), "u1": ((33, 40), (1, 1)),
              "c8": ((40, 7),)}  # fmt: skip
    for dtype, chosen in shapes.items():
        for shape in chosen:
            x, y = (numbers(*shape) * 100).astype(dtype), numbers(*shape[::-1]).astype(dtype)
            (found,) = interp.run(pytocu.jit(add_transposed).lower(x, y).host("cpu"), [x, y])
            np.testing.assert_array_equal(found, x.T + y)


@pytest.mark.parametrize("dtypes", [("f4", "f8"), ("u1", "f8"), ("f2", "f4")], ids=str)
def test_operands_of_several_widths_across(dtypes: tuple[str, str]) -> None:
    narrow, wide = dtypes
    rows, columns = staged_sides(np.dtype(wide).itemsize)

    def added(x, y):
        return np.ascontiguousarray(x.T + y.T)

    # First by the interpreter, which says what is read or written outside of memory.
    for shape in ((2, rows + 1), (columns + 3, rows + 5), (2 * columns + 1, 7), (7, 2 * rows + 1)):
        x, y = (numbers(*shape) * 100).astype(narrow), (numbers(*shape) * 3).astype(wide)
        if len(x) < 9:
            (found,) = interp.run(pytocu.jit(added).lower(x, y).host("cpu"), [x, y])
            np.testing.assert_array_equal(found, added(x, y))
        same(added, x, y)
        same(added, x[::-1, 1:], y[1:, :-1][:1].repeat(shape[0], 0))


def test_a_piece_that_lies_across_is_read_where_it_is() -> None:
    def beside(x, y):
        return np.concatenate([x.T, y], axis=1) + 1

    for shape in ((5, 7), (300, 70), (70, 300)):
        same(beside, numbers(*shape), numbers(shape[1], 9))


def test_channels_come_last() -> None:
    def channels_last(x):
        return np.ascontiguousarray(np.transpose(x, (1, 2, 0)) * 2)

    for count in (1, 2, 3, 4, 5):
        same(channels_last, numbers(count, 40, 50))
    assert loops(channels_last, "f32[3, n, m]") == ["parallel"]


def test_only_what_crosses_memory_has_tiles() -> None:
    assert loops(add_transposed, "f32[n, m]", "f32[m, n]") == ["parallel", *["serial"] * 6]
    assert loops(rotate, "f32[n, m, k]") == ["parallel", *["serial"] * 6]
    assert loops(add_transposed, "c64[n, m]", "c64[m, n]") == ["parallel", *["serial"] * 4]
    # Results that lie as their operands do.
    for function in (lambda x: x.T + 1, lambda x: (x.T - x.T.copy("K")) * x.T, lambda x: (x + 1).T):
        assert loops(function, "f32[n, m]") == ["parallel"]
        same(function, numbers(33, 70))
    for axes in ((2, 0, 1), (1, 0, 2), (0, 2, 1)):
        assert "serial" not in loops(lambda x: np.transpose(x, axes) * 2, "f32[n, m, k]")
        same(lambda x: np.transpose(x, axes) * 2, numbers(5, 33, 17))


def test_squares_are_transposed_in_registers() -> None:
    for dtype, side in (("f32", 8), ("f64", 4), ("f16", 16), ("u8", 16)):
        (kernel,) = pytocu.jit(lambda x: x.T.copy()).lower(f"{dtype}[n, m]").compile("cpu").kernels
        assert kernel.ir.count(f"lanes = {side}}} : <{side} x ") == side
        shuffles = pytocu.jit(lambda x: x.T.copy()).lower(f"{dtype}[n, m]").compile("cpu").source.count("shufflevector")
        assert shuffles == side * (side.bit_length() - 1)


def test_few_long_iterations_are_spread_over_threads(
    monkeypatch: pytest.MonkeyPatch, set_thread_count: Callable[[int], None]
) -> None:
    shares: list[tuple[int, int]] = []
    monkeypatch.setattr(threads, "_KERNEL", lambda address: lambda slots, begin, end: shares.append((begin, end)))
    set_thread_count(2)
    threads.run(0, 0, 40, 1)
    assert min(shares)[0] == 0 and max(shares)[1] == 40 and max(end - begin for begin, end in shares) <= 5
    shares.clear()
    threads.run(0, 0, 10_000, 1000)
    assert len(shares) > 3 and all(begin % 1024 == 0 for begin, _ in shares)


def mask_out(points, mask):
    return np.where(mask[:, None], np.inf, points)


def lengths(v):
    return v / np.sqrt((v * v).sum(axis=1))[:, None], v[:, ::-1] + 1


@pytest.mark.parametrize("columns", [1, 2, 3, 4, 5, 9])
def test_short_last_axes(columns: int) -> None:
    points, mask = numbers(1000, columns), numbers(1000) > 0.5
    same(mask_out, points, mask)
    same(mask_out, numbers(1003, 2 * columns)[3:, ::2], mask)
    for found, expected in zip(pytocu.jit(lengths)(points), lengths(points), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_short_last_axes_are_written_out() -> None:
    assert loops(mask_out, "f32[n, 3]", "bool[n]") == ["parallel"]
    assert loops(mask_out, "f32[n, 4]", "bool[n]") == ["parallel"]
    assert loops(mask_out, "f32[n, 5]", "bool[n]") == ["parallel", "serial"]
    (kernel,) = pytocu.jit(mask_out).lower(numbers(100, 3), numbers(100) > 0.5).compile("cpu").kernels
    assert re.findall(r'over = "(\w+)"', kernel.ir) == ["parallel"]


def test_indices_are_as_wide_as_addresses() -> None:
    """A loop that counts with 32 bits asks in every round whether its offsets wrap, and is not all vector code."""
    row_norm = pytocu.jit(lambda x: np.sqrt((x * x).sum(axis=1))).lower("f32[n, m]")
    assert "index_bits = 32" in row_norm.compile("cpu").kernels[0].ir
    assert not re.search(r"\bi32 %|phi i32|trunc i64", row_norm.compile("cpu").source)


POSITIONS = [([0, 4, -5, 2], "i2"), ([5], "i2"), ([-6], "i4"), ([0, 2**31 - 1], "i4"), ([-(2**31)], "i8"), ([], "i8")]


@pytest.mark.parametrize(("index", "dtype"), POSITIONS, ids=str)
def test_positions_outside_of_an_axis_read_nothing(index: list[int], dtype: str) -> None:
    table = numbers(5)
    positions = np.array(index, dtype)
    take = pytocu.jit(lambda t, i: t[i] * 2)
    if all(-5 <= i < 5 for i in index):
        np.testing.assert_array_equal(take(table, positions), table[positions] * 2)
    else:
        wrong = next(i for i in sorted(index) if not -5 <= i < 5)
        with pytest.raises(IndexError, match=f"index {wrong} is out of bounds for axis 0 with size 5"):
            take(table, positions)


def test_a_position_is_compared_once() -> None:
    (kernel,) = pytocu.jit(lambda t, i: t[i]).lower("f32[n]", "i32[m]").compile("cpu").kernels
    inside = kernel.ir.partition('"parallel"')[2].partition("if %")[0]
    assert inside.count("less") == 2 and "greater" not in inside and "bitwise_and" not in inside
    source = pytocu.jit(lambda t, i: t[i]).lower("f32[n]", "i32[m]").compile("cpu").source
    # A branch that is hardly ever taken; in vector code, of some processors, one behind the loop.
    assert "call i1 @llvm.expect.i1" in source or "%fails = icmp ne i64" in source
