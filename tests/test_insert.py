"""New arrays that are filled piece by piece, stencils over what stencils made, and the memory and code of their kernels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.ir import interp
from pytocu.planning import launches
from pytocu.testing.compare import compare


def border(x):
    new = x.copy()
    new[1:-1, 1:-1] = x[2:, 1:-1] + x[:-2, 1:-1] - x[1:-1, 2:] * x[1:-1, :-2]
    return new


def sides(x):
    new = np.zeros_like(x)
    new[1:-1] = x[2:] - x[:-2]
    new[0] = x[0] - x[1]
    new[-1] = 5
    return new


def columns(x):
    new = np.empty(x.shape, x.dtype)
    new[:, 1:] = x[:, :-1]
    new[:, 0] = x[:, -1]
    return new


def halves(x):
    new = np.ones_like(x)
    new[: x.shape[0] // 2] = x[: x.shape[0] // 2] * 2
    return new + x


def whole(x):
    new = np.zeros_like(x)
    new[...] = x[::-1]
    return new


def steps(x):
    for _ in range(5):
        new = x.copy()
        new[1:-1, 1:-1] = x[1:-1, 1:-1] + (x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2] - 4 * x[1:-1, 1:-1]) / 8
        x = new
    return x


ONE = [border, sides, columns, halves, whole]
SHAPES = [(0, 3), (1, 1), (1, 5), (2, 2), (3, 7), (4, 8), (6, 300), (40, 33)]


def on_threads(function: Callable[..., Any], *arguments: Any) -> Any:
    """What the kernels for a GPU make, thread by thread."""
    host = pytocu.jit(function).lower(*arguments).host("cuda:sm_90")
    return interp.arrange(host.body.terminator.attr("tree"), interp.run(host, list(arguments)))


@pytest.mark.parametrize("function", [*ONE, steps])
def test_pieces(function: Callable[..., Any]):
    for number, shape in enumerate(SHAPES):
        x = np.random.default_rng(number).random(shape, np.float32)
        try:
            expected = function(x)
        except IndexError:
            with pytest.raises(IndexError):
                pytocu.jit(function)(x)
            continue
        compare(pytocu.jit(function)(x), expected)
        compare(on_threads(function, x), expected)


@pytest.mark.parametrize("function", ONE)
def test_one_kernel_fills_all_pieces(function: Callable[..., Any]):
    for target in ("cpu", "cuda:sm_90"):
        host = pytocu.jit(function).lower("f32[n, m]").host(target)
        assert len(launches(host)) == 1
        assert not any(i.op.name == "update" for i in host.body.insts)


def test_threads_inside_a_piece_decide_once():
    """The columns of a vector, or the rows of a thread, are written out for the inside; elsewhere they are a loop."""
    kernel = pytocu.jit(border).lower("f32[n, m]").compile("cuda:sm_90", "cuda_c").source
    parts = [part for part in kernel.split("} else {") if "out[" in part]
    # A vector; an element at its border, and four rows where there are no vectors; an element at theirs; the rows left over.
    assert [part.count("out[") for part in parts] == [1, 5, 1, 1]
    assert "*(f32x4*)&out[" in parts[0]
    assert kernel.count("for (") <= 10


def test_what_changes_an_argument_or_is_strided_stays_a_change():
    def argument(x):
        x[1:-1] = 0
        return x

    def strided(x):
        new = x.copy()
        new[::2] = 1
        return new

    def reduced(x):
        new = np.zeros((x.shape[0], 2), x.dtype)
        new[:, 0] = x.sum(axis=1)
        new[:, 1] = x.max(axis=1)
        return new

    for function in (argument, strided, reduced):
        assert "update" in pytocu.jit(function).lower("f32[n, m]").ir("fuse"), function.__name__
        x = np.arange(35, dtype=np.float32).reshape(7, 5)
        compare(pytocu.jit(function)(x.copy()), function(x.copy()))


def test_many_changes_of_one_array_stay_kernels():
    def rows(x):
        new = np.zeros_like(x)
        for i in range(20):
            new[i] = x[i] * i
        return new

    x = np.random.default_rng(0).random((20, 9), np.float32)
    compare(pytocu.jit(rows)(x), rows(x))
    kernel = pytocu.jit(rows).lower("f32[n, m]").ir("insert")
    assert 0 < kernel.count("update") <= 12


def test_steps_are_stored_in_two_arrays_and_compiled_once():
    for target in ("cpu", "cuda:sm_90"):
        host = pytocu.jit(steps).lower("f32[n, m]").host(target)
        assert len(launches(host)) == 5
        assert sum(i.op.name == "allocate" for i in host.body.insts) == 2
    compiled = pytocu.jit(steps).lower("f32[n, m]").compile("cuda:sm_90", "cuda_c")
    assert compiled.source.count("__global__") == 1
    assert len(compiled.resources) == 5


def test_cheap_values_are_computed_again_and_dear_ones_stored():
    def cheap(x):
        y = x + 1
        return y[1:] * y[:-1]

    def dear(x):
        y = np.exp(x) / (1 + np.sin(x))
        return y[1:] * y[:-1] - y[1:] / y[:-1]

    def dear_once(x):
        y = np.exp(x) / (1 + np.sin(x))
        return y * y - y

    def returned(x):
        y = np.exp(x) / (1 + np.sin(x))
        return y, y[1:] * y[:-1]

    counts = [len(pytocu.jit(f).lower("f32[n]").kernels) for f in (cheap, dear, dear_once, returned)]
    assert counts == [1, 2, 1, 2]
    host = pytocu.jit(returned).lower("f32[n]").host("cuda:sm_90")
    assert sum(i.op.name == "allocate" for i in host.body.insts) == 2
    assert "computed once" in pytocu.jit(dear).lower("f32[n]").kernels[1].why


def test_what_is_stored_is_computed_before_its_operands_change():
    def change(x):
        y = np.sqrt(x) / (1 + np.sqrt(x + 1)) / (2 + x)
        x[...] = 0
        return y[1:] * y[:-1] + x[1:]

    def overwrite(x):
        y = np.sqrt(x) / (1 + np.sqrt(x + 1)) / (2 + x)
        x[1:] = y[1:] * y[:-1]
        return y

    for function in (change, overwrite):
        for n in (1, 2, 50, 3000):
            x = np.random.default_rng(n).random(n, np.float32)
            given, threads, expected = x.copy(), x.copy(), x.copy()
            wanted = function(expected)
            compare(pytocu.jit(function)(given), wanted)
            compare(given, expected)
            compare(on_threads(function, threads), wanted)
            compare(threads, expected)


def frame(x):
    new = x.copy()
    new[1:-1, 1:-1] = x[1:-1, 2:] - x[1:-1, :-2]
    new[1:-1, -1] = x[1:-1, 0] - x[1:-1, -2]
    new[1:-1, 0] = x[1:-1, 1] - x[1:-1, -1]
    new[-1, :] = new[-2, :]
    new[0, :] = new[1, :]
    return new


def inner_columns(count: int) -> Callable[..., Any]:
    def change(x):
        new = x.copy()
        for k in range(count):
            new[1:-1, k] = x[2:, k] * x[:-2, k]
        return new

    return change


def size_of(function: Callable[..., Any], target: str) -> int:
    kernels = pytocu.jit(function).lower("f32[n, m]").compile(target).kernels
    return sum(len(k.ir.splitlines()) for k in kernels)


def test_what_a_branch_decides_is_not_asked_again() -> None:
    """A change of what was changed has the pieces of both, and not each of these for each of those."""
    for shape in [(2, 2), (3, 2), (2, 3), (3, 3), (5, 300), (40, 33)]:
        x = np.random.default_rng(shape[1]).random(shape, np.float32)
        compare(pytocu.jit(frame)(x), frame(x))
        compare(on_threads(frame, x), frame(x))
    assert size_of(frame, "cpu") < 300
    assert size_of(frame, "cuda:sm_90") < 500


@pytest.mark.parametrize("target", ["cpu", "cuda:sm_90"])
def test_code_grows_with_the_number_of_changes(target: str) -> None:
    for shape in [(1, 8), (2, 8), (5, 9)]:
        x = np.random.default_rng(shape[0]).random(shape, np.float32)
        compare(pytocu.jit(inner_columns(8))(x), inner_columns(8)(x))
        compare(on_threads(inner_columns(8), x), inner_columns(8)(x))
    assert size_of(inner_columns(8), target) < 3 * size_of(inner_columns(4), target)
