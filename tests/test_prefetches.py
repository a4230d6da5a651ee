"""What kernels of a CPU ask for before they read it: nothing but time depends on it."""

from __future__ import annotations

import mmap
import re
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.backend import cpu, cuda_c, llvm, nvvm
from pytocu.errors import BackendError, InternalError, PytocuError
from pytocu.ir import interp
from pytocu.ir.core import walk
from pytocu.ir.parser import parse_function
from pytocu.ir.printer import print_function
from pytocu.ir.verifier import verify
from pytocu.passes import prefetches
from pytocu.passes.column_loops import PIECE, TILE

ASKED = """\
loop func @asked(%x: ptr f32, %out: ptr f32, %n: index) facts {index_bits = 64} {
  %0 = const 0 : index
  %1 = const 1 : index
  for %0, %n, %1 {over = "parallel"} (%i: index) {
    prefetch %x, %i {ahead = 4096, bytes = 130}
    %2 = load %x, %i : f32
    store %out, %i, %2
    yield
  }
  return
}"""


def cosine(x, y):
    return (x * y).sum(axis=1) / (np.sqrt((x * x).sum(axis=1)) * np.sqrt((y * y).sum(axis=1)))


def variance(x):
    return x.var()


def rows_and_columns(x):
    return x.sum(axis=1), x.max(axis=1), x.sum(axis=0), x.argmax(axis=1)


def softmax(x):
    made = np.exp(x - x.max(axis=1, keepdims=True))
    return made / made.sum(axis=1, keepdims=True)


def weighted(x, w):
    return (x * w).sum(axis=1)


def asked(function: Any, *specs: Any, target: str = "cpu") -> list[str]:
    """What kernels ask for: the pointer, and how much how far ahead."""
    kernels = pytocu.jit(function).lower(*specs).compile(target).kernels
    return [found for kernel in kernels for found in re.findall(r"prefetch %(\w+), %\w+ (\{.*\})", kernel.ir)]


def numbers(*shape: int, dtype: str = "f4") -> np.ndarray:
    return (np.random.default_rng(len(shape)).random(shape, np.float32) * 90).astype(dtype)


def test_what_rows_read_first_is_asked_for() -> None:
    ahead = prefetches.AHEAD
    many = f"{{ahead = {ahead}, bytes = 256}}"
    assert asked(cosine, "f32[n, m]", "f32[n, m]") == [("x", many), ("y", many)]
    assert asked(lambda x: x.sum(), "f32[n]") == [("x", many)]
    # In rounds of two elements for each state, and in one of one element.
    assert asked(lambda x: x.argmax(), "f64[n]") == [("x", f"{{ahead = {ahead}, bytes = 512}}"), ("x", many)]
    assert asked(lambda x: x.argmax(), numbers(3000, dtype="f8")) == [("x", many)]
    assert asked(lambda x: x.sum(), "c64[n]") == [("x", f"{{ahead = {ahead}, bytes = 512}}")]
    assert asked(lambda x: x.any(), "bool[n]") == [("x", f"{{ahead = {ahead}, bytes = 64}}")]
    # Once for all places of an array, and not again where the row was just read.
    assert asked(lambda x: ((x[1:] - x[:-1]) ** 2).sum(), "f32[n]") == [("x", many)]
    assert asked(softmax, "f32[n, m]") == [("x", many)]
    # Rows that lie apart in memory, or backwards, are not what follows.
    assert asked(lambda x: x.sum(axis=1), numbers(300, 400)[:, :300]) == []
    assert asked(lambda x: x[::-1].sum(), "f32[n]") == []
    # Short rows have no states that would be many elements.
    assert asked(lambda x: x.sum(axis=1), numbers(300, 20)) == []
    assert asked(lambda x: x.sum() + x.sum(axis=0).max(), "f32[n, m]", target="cuda:sm_90") == []


def test_columns_ask_for_rows_that_come_later() -> None:
    assert asked(lambda x: x.sum(axis=0), numbers(30, 400)) == [("x", f"{{ahead = 0, bytes = {4 * PIECE}}}")]
    # Behind the first sweep a piece of the columns is in the caches.
    assert len(asked(lambda x: ((x - x.mean(axis=0)) ** 2).max(axis=0), numbers(30, 400))) == 1
    assert asked(lambda x, w: (x * w).sum(axis=0), numbers(30, 400), numbers(400)) == [
        ("x", f"{{ahead = 0, bytes = {4 * PIECE}}}")
    ]


def test_small_arrays_are_not_asked_for() -> None:
    (kernel,) = pytocu.jit(weighted).lower("f32[n, m]", "f32[m]").compile("cpu").kernels
    conditions = re.findall(r"(%\w+) = less (%\w+), (%\w+) : bool", kernel.ir)
    tested = re.findall(r"if (%\w+) \(\) \{\n(?:.*= .*\n)*\s+prefetch %(\w+),", kernel.ir)
    assert sorted(name for _, name in tested) == ["w", "x"]
    limits = {name: (limit, elements) for name, limit, elements in conditions}
    assert all(f"{limits[test][0]} = const {prefetches.FAR // 4} : index" in kernel.ir for test, _ in tested)
    sizes = {name: limits[test][1] for test, name in tested}
    assert sizes["w"] == "%m" and re.search(rf"{sizes['x']} = multiply %[mn], %[mn] : index", kernel.ir)
    # A length that is known needs no test.
    assert "far" not in pytocu.jit(lambda x: x.sum()).lower("f32[1000000]").compile("cpu").kernels[0].ir
    assert asked(lambda x: x.sum(axis=1), "f32[4, 1000]") == asked(lambda x: x.sum(axis=0), "f32[100, 400]") == []
    assert asked(lambda x: x.sum(axis=0), "f32[1000, 400]") != []


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i1", "c8"])
def test_the_bits_are_the_same(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shapes = [(3, 70), (5, TILE + 2 * PIECE + 3), (130, 65), (200, PIECE), (600, 129)]
    functions = [rows_and_columns, lambda x: (x.sum(), x.min(), x.argmax())]
    found: list[list[Any]] = []
    for far in (1 << 60, 1):
        monkeypatch.setattr(prefetches, "FAR", far)
        monkeypatch.setenv("PYTOCU_CACHE", "0")
        found.append([pytocu.jit(f)(numbers(*shape, dtype=dtype)) for f in functions for shape in shapes])
    for without, with_them in zip(*found, strict=True):
        for a, b in zip(without, with_them, strict=True):
            assert a.dtype == b.dtype and a.tobytes() == b.tobytes()


def test_threads_ask_for_nothing_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prefetches, "FAR", 1)
    for dtype, shape in (("f4", (3, 70)), ("f2", (2, 130)), ("c8", (3, 70)), ("f4", (70, 66))):
        x = numbers(*shape, dtype=dtype)
        lowered = pytocu.jit(rows_and_columns).lower(x)
        assert any("prefetch" in kernel.ir for kernel in lowered.compile("cpu").kernels)
        for actual, wanted in zip(interp.run(lowered.host("cpu"), [x]), rows_and_columns(x), strict=True):
            np.testing.assert_allclose(actual, wanted, rtol=1e-2 if dtype == "f2" else 1e-5)


def test_an_array_may_end_where_memory_does() -> None:
    size = 2 * prefetches.FAR
    with mmap.mmap(-1, size) as memory:
        x = np.frombuffer(memory, np.float32)
        x[:] = 1
        assert pytocu.jit(lambda x: x.sum())(x) == x.size
        np.testing.assert_array_equal(pytocu.jit(lambda x: x.sum(axis=0))(x.reshape(-1, 256)), x.size // 256)
        del x


def test_text_and_verifier() -> None:
    function = parse_function(ASKED)
    assert print_function(function) == ASKED
    verify(function)
    for wrong, words in (
        (ASKED.replace("prefetch %x,", "prefetch %n,"), "takes a pointer and an index first"),
        (ASKED.replace("ahead = 4096, ", ""), "ahead"),
        (ASKED.replace("bytes = 130", "bytes = 0"), "bytes"),
        (ASKED.replace("ahead = 4096", "ahead = -1"), "ahead"),
    ):
        with pytest.raises((InternalError, PytocuError), match=words):
            verify(parse_function(wrong))


def test_each_line_has_an_instruction() -> None:
    function = parse_function(ASKED)
    text = llvm.emit([function])
    assert re.findall(r"= getelementptr i8, ptr %here\S*, i64 (\d+)", text) == ["4096", "4160", "4224"]
    assert text.count("call void @llvm.prefetch.p0(ptr") == 3
    assert "%here = getelementptr float, ptr %x, i64 %i" in text
    assert cpu.optimized(text).count("call void @llvm.prefetch.p0(ptr") >= 3
    x, out = np.arange(9, dtype=np.float32), np.zeros(9, np.float32)
    interp.run_threads(function, [x, out, 9], block=1)
    np.testing.assert_array_equal(x, out)


def test_nothing_drops_it() -> None:
    from pytocu.passes import cleanup
    from pytocu.passes.context import PassContext

    for clean in (cleanup.dce, cleanup.cse):
        assert any(inst.op.name == "prefetch" for inst in walk(clean(parse_function(ASKED), PassContext()).body))


def test_gpus_refuse_it() -> None:
    grid = parse_function(ASKED.replace('"parallel"', '"grid"'))
    with pytest.raises(BackendError, match="prefetch: a GPU has no form of it"):
        nvvm.emit([grid])
    with pytest.raises(InternalError, match="no spelling for prefetch"):
        cuda_c.emit([grid])
