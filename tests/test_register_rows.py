"""Rows that stay in registers: NumPy's answers whatever the length, the dtype and the address, and what is read once."""

from __future__ import annotations

import linecache
from typing import Any

import numpy as np
import pytest
from reduction_tools import on_threads, small

import pytocu
from pytocu.ir import interp
from pytocu.ir.core import walk
from pytocu.ir.interp_launch import ThreadFault
from pytocu.ir.interp_threads import run_threads
from pytocu.ir.parser import parse_function
from pytocu.ir.types import VectorType

LENGTHS = (1, 3, 8, 12, 31, 64, 100, 128, 160, 258, 500, 512, 1020, 1024, 1500, 2050, 4096)
"""Around the ends of size classes, in whole vectors and not."""


def placed(values: np.ndarray, address: int) -> np.ndarray:
    """The same values so many elements behind a multiple of 64 bytes."""
    memory = np.zeros(values.size + 128, values.dtype)
    first = -memory.ctypes.data % 64 // values.itemsize + address
    view = memory[first : first + values.size].reshape(values.shape)
    view[...] = values
    return view


@pytest.mark.parametrize("address", [0, 1], ids=["aligned", "misaligned"])
@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i1", "c8", "?"])
def test_rows(dtype: str, address: int) -> None:
    texts = ["a.sum(1)", "a - a.sum(1, keepdims=True)", "np.where(a == a.max(1, keepdims=True), a, a.sum(1)[:, None])"]
    texts += ["a.argmax(1)", "(a != 0).any(1)", "a[:, ::-1] * a.max(1, keepdims=True)"]
    if dtype == "?":
        texts = ["a.sum(1)", "a ^ a.any(1, keepdims=True)", "a.argmax(1)"]
    for length in LENGTHS if dtype == "f4" else LENGTHS[1::3]:
        on_threads(texts, placed(small(dtype, (3, length)), address))


LONG = [("f4", 5002), ("f4", 9000), ("f4", 20_001), ("f2", 8190), ("f8", 12_000), ("f8", 17_000)]


@pytest.mark.parametrize(("dtype", "length"), LONG)
def test_rows_of_hundreds_of_threads(dtype: str, length: int) -> None:
    on_threads(["a - a.sum(1, keepdims=True)", "a.argmax(1)"], small(dtype, (2, length)))


@pytest.mark.parametrize("length", [3, 16, 260, 1024, 1031])
def test_operands_that_lie_otherwise(length: int) -> None:
    """Along another axis, repeated, in another order, gathered, joined and generated."""
    a, b = small("f4", (5, length)), small("f4", (length, 5))
    texts = ["(a * b.T).sum(1)", "a * b.T - (a + b.T).max(1, keepdims=True)", "(a * b[:, 1]).sum(1)"]
    texts += ["(a[::2] + b[0, 0]).sum(1)", "(a * np.arange(a.shape[1])).sum(1)"]
    texts += ["np.concatenate((a, b.T)).sum(1)", "np.concatenate((a, b.T), axis=1).max(1)"]
    on_threads(texts, a, b)
    index = np.arange(length)[::-1] // 2
    on_threads(["a[:, b].sum(1)", "a[:, b] - a.max(1, keepdims=True)"], a, index)


@pytest.mark.parametrize("length", [1, 127, 128, 384, 385, 511, 512, 513, 897, 1025])
def test_rows_of_what_all_rows_read(length: int) -> None:
    """Whole shares, and behind them single elements, of which a thread has none or some."""
    a, b = small("f4", (2,)), small("f4", (length,))
    on_threads(["(a[:, None] * b).sum(1)", "(a[:, None] - b).max(1)", "(a[:, None] * b).argmin(1)", "a[:, None] / b"], a, b)


def test_whole_shares_ask_for_no_element() -> None:
    low = pytocu.jit(lambda x, y: np.exp(x[:, None] - y).sum(1)).lower("f32[n]", "f32[m]")
    (kernel,) = low.kernels
    loops = [line for line in kernel.ir.splitlines() if " = for " in line]
    assert len(loops) == 2 and "few = True" in loops[1] and "few" not in loops[0]
    assert "exists" not in kernel.ir and "where" not in kernel.ir.partition(loops[0])[2]


@pytest.mark.parametrize("address", [0, 1], ids=["aligned", "misaligned"])
@pytest.mark.parametrize("length", [5, 16, 260, 1024, 4096])
def test_operands_that_all_rows_read_alike(length: int, address: int) -> None:
    a, b = placed(small("f4", (3, length)), address), placed(small("f4", (length,)), address)
    texts = ["(a * b).sum(1)", "(a + b).max(1)", "a * b - (a * b).sum(1, keepdims=True)"]
    texts += ["((a - a.max(1, keepdims=True)) * b).sum(1)", "(a - a.max(1, keepdims=True)) * b + b"]
    texts += ["np.argmax(a * b, axis=1)", "(a * b[::-1]).sum(1)"]
    for text in texts:
        on_threads([text], a, b)
    on_threads(["(b * b).sum() + a", "a - (b - b.max()).sum()"], a, b)


def test_rows_of_several_axes() -> None:
    a = small("f4", (3, 4, 20))
    on_threads(["a.sum((1, 2))", "a.sum((0, 2))", "a - a.max((0, 2), keepdims=True)", "a[:, ::2].sum((1, 2))", "a.sum()"], a)


def test_empty_rows() -> None:
    on_threads(["a.sum(1)", "a - a.sum(1, keepdims=True)", "(a != 0).any(1)"], np.zeros((3, 0), np.float32))
    on_threads(["a.sum(1)", "a - a.sum(1, keepdims=True)"], np.zeros((0, 64), np.float32))


def test_rows_in_place() -> None:
    def centre(x: np.ndarray) -> None:
        x -= x.max(axis=1, keepdims=True)

    x = small("f4", (5, 260))
    expected = x - x.max(axis=1, keepdims=True)
    pytocu.ir.interp.run(pytocu.jit(centre).lower(x).host("cuda"), [x])
    np.testing.assert_array_equal(x, expected)


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def layernorm(x: Any) -> Any:
    return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5)


@pytest.mark.parametrize(("function", "elementwise"), [(softmax, "exp"), (layernorm, "subtract")])
@pytest.mark.parametrize("length", [64, 160, 1023, 1500, 4096, 8190, 16384, 32768])
def test_rows_are_read_once_and_elements_computed_once(function: Any, elementwise: str, length: int) -> None:
    (kernel,) = pytocu.jit(function).lower(np.ones((2, length), np.float32)).kernels
    insts = list(walk(parse_function(kernel.ir).body))
    computed = [i for i in insts if i.op.name == elementwise and not isinstance(i.result.type, type(insts[0].result.type))]
    assert len(computed) == 1
    width = {0: 4, 2: 2}.get(length % 4, 1)
    assert [i.attr("width") for i in insts if i.op.name == "load" and isinstance(i.result.type, VectorType)] == [width]


def test_what_does_not_fit_registers_is_read_again() -> None:
    """Six arrays of float64 are more than the registers of a thread hold."""

    def centred(a: Any, b: Any, c: Any, d: Any, e: Any, f: Any) -> Any:
        middle = (a + b + c + d + e + f).max(axis=1, keepdims=True)
        return a - middle, b - middle, c - middle, d - middle, e - middle, f - middle

    x = [np.ones((2, 16384))] * 6
    (kernel,) = pytocu.jit(centred).lower(*x).kernels
    assert sum(i.op.name == "load" and i.attr("width") is not None for i in walk(parse_function(kernel.ir).body)) == 12


GROUPS = """loop func @f(%x: ptr f32, %out: ptr f32, %room: index) {
  %0 = thread_index : index
  %1 = const 2 : index
  %2 = multiply %0, %1 : index
  %3 = const FIT : bool
  %4 = subtract %room, %2 : index
  %5 = load %x, %2, %4, %3 {align = 8, lanes = 4, step = 8, width = 2} : <4 x f32>
  %total = const 0.0 : f32
  %6, %7 = lanes %5, %total {lanes = 4} : <4 x f32>, f32 (%k: index, %e: f32, %sum: f32) {
    %8 = add %e, %sum : f32
    yield %8, %8
  }
  store %out, %2, %6, %4, %3 {align = 8, step = 8, width = 2}
  return
}"""


def test_groups() -> None:
    """What lanes carry from one to the next, and groups behind the end, which are neither read nor written."""
    x, out = placed(np.arange(1, 11, dtype=np.float32), 0), placed(np.full(10, -1, np.float32), 0)
    run_threads(parse_function(GROUPS.replace("FIT", "True")), [x, out, 10], block=4)
    assert out.tolist() == [1, 3, 3, 7, 5, 11, 7, 15, 12, 22]
    with pytest.raises(ThreadFault, match="misaligned"):
        run_threads(parse_function(GROUPS.replace("FIT", "True")), [placed(x, 1), out, 10], block=4)
    run_threads(parse_function(GROUPS.replace("FIT", "False")), [placed(x, 1), out, 10], block=4)
    with pytest.raises(ThreadFault, match="out-of-bounds"):
        run_threads(parse_function(GROUPS.replace("FIT", "False")), [x[:8], out, 10], block=4)


def test_rows_of_several_axes_of_which_one_is_empty_and_rows_of_generated_numbers() -> None:
    for shape in ((0, 1), (2, 0), (0, 0)):
        on_threads(["np.count_nonzero(np.outer(a, a), axis=(0, 1))", "a[::-1].sum()"], np.zeros(shape, np.uint16))
    on_threads(["np.sum(a[::-1] // 3, axis=(0, 1))", "np.count_nonzero(a[::-1], axis=(0, 1))"], np.zeros((2, 0, 1), np.uint8))
    on_threads(["np.vecdot(np.arange(a.size, dtype=a.dtype), np.arange(a.size, dtype=a.dtype))"], np.ones(40, np.int32))
    on_threads(["np.all(np.meshgrid(a, np.inf)[1], axis=(0, 1))"], np.array(1))


def test_rows_with_a_thousand_operations_an_element() -> None:
    """Deeper than Python's stack, and more than any share of a short row is for."""
    lines = ["def deep(x):", "    y = x - x.mean(1, keepdims=True)", *["    y = y * 0.5 + x"] * 500, "    return y"]
    linecache.cache["<deep>"] = (0, None, [f"{line}\n" for line in lines], "<deep>")
    space: dict[str, Any] = {}
    exec(compile("\n".join(lines), "<deep>", "exec"), space)
    x = np.random.default_rng(1).random((3, 4), np.float32)
    low = pytocu.jit(space["deep"]).lower(x)
    for target in ("cpu", "cuda"):
        (found,) = interp.run(low.host(target), (x,))
        np.testing.assert_allclose(found, space["deep"](x), rtol=1e-6)
