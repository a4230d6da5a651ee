"""The CPU backend: loop IR as text, through LLVM, against NumPy's bits."""

from __future__ import annotations

import ctypes
import itertools
import math
import os
import platform
import re
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu import driver
from pytocu.backend import cpu, llvm
from pytocu.errors import BackendError, CompileError, InternalError, PytocuError
from pytocu.ir.builder import Builder
from pytocu.ir.core import Op, Value
from pytocu.ir.expand import FRACTIONS
from pytocu.ir.expand_trigonometric import LARGEST
from pytocu.ir.interp_threads import run_threads
from pytocu.ir.ops import OPS, spelled
from pytocu.ir.parser import parse_function
from pytocu.ir.types import COMPILED_DTYPES, DType, VectorType, dtype_named
from pytocu.llvm_access import llvm_binding
from pytocu.runtime import native, threads
from pytocu.testing.compare import compare

on_x86_64 = pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="names x86-64 instructions and registers")
KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)


def slots_of(*args: Any) -> np.ndarray:
    """Slots for arrays (their address), NumPy scalars, and Python ints (indices)."""
    slots = np.zeros(max(len(args), 1), np.int64)
    for slot, arg in zip(slots[: len(args)].reshape(-1, 1), args, strict=True):
        match arg:
            case np.ndarray():
                slot[0] = arg.ctypes.data
            case np.generic():
                slot.view(np.uint8)[: arg.itemsize] = np.frombuffer(arg.tobytes(), np.uint8)
            case _:
                slot[0] = arg
    return slots


def load(*texts: str, dialect: llvm.Dialect | None = None) -> dict[str, int]:
    functions = [parse_function(text) for text in texts]
    return native.load(cpu.build(llvm.emit(functions, dialect)), [f.name for f in functions])


def call(address: int, args: Sequence[Any], end: int, begin: int = 0) -> None:
    """One native call; the slots live until it is over."""
    slots = slots_of(*args)
    KERNEL(address)(slots.ctypes.data, begin, end)


def spread(address: int, args: Sequence[Any], total: int, minimum: int) -> None:
    """One call over the thread pool."""
    slots = slots_of(*args)
    threads.run(address, slots.ctypes.data, total, minimum)


def run(text: str, *args: Any, total: int = 1, dialect: llvm.Dialect | None = None) -> None:
    (address,) = load(text, dialect=dialect).values()
    call(address, args, total)


def same_bits(got: np.ndarray, expected: np.ndarray, nan_sign: bool = False) -> None:
    """The same dtype and bits; NaNs may differ in payload, and in sign unless asked for."""
    assert got.dtype == expected.dtype
    if got.dtype.kind == "f":
        nan = np.isnan(expected)
        np.testing.assert_array_equal(np.isnan(got), nan)
        if nan_sign:
            np.testing.assert_array_equal(np.signbit(got), np.signbit(expected))
        bits = f"u{got.dtype.itemsize}"
        got, expected = got.view(bits)[~nan], expected.view(bits)[~nan]
    np.testing.assert_array_equal(got, expected)


def pointwise(name: str, op: str, inputs: list[str], output: str, attrs: str = "", scalars: str = "") -> str:
    """A kernel that loads its inputs, applies one row and stores the result."""
    params = "".join(f"%p{i}: ptr {t}, " for i, t in enumerate(inputs))
    loads = "\n".join(f"    %x{i} = load %p{i}, %i : {t}" for i, t in enumerate(inputs))
    args = ", ".join(f"%x{i}" for i in range(len(inputs)))
    return f"""loop func @{name}({params}%out: ptr {output}, %n: index{scalars}) {{
  %0 = const 0 : index
  %1 = const 1 : index
  for %0, %n, %1 {{over = "parallel"}} (%i: index) {{
{loads}
    %r = {op} {args}{attrs} : {output}
    store %out, %i, %r
    yield
  }}
  return
}}"""


def edges(dtype: DType) -> np.ndarray:
    """Values where mistakes show, and some random ones."""
    random = np.random.default_rng(dtype.bits)
    match dtype.kind:
        case "b":
            return np.array([False, True])
        case "f":
            f = np.finfo(dtype.numpy)
            plain = [
                0.0,
                0.1,
                0.5,
                1.0,
                1.5,
                2.0,
                2.5,
                3.0,
                math.pi,
                100.7,
                1e6,
                2.0**31,
                2.0**63,
                1.5 * 2.0**63,
                math.inf,
                math.nan,
            ]
            edge = [f.max, f.tiny, f.smallest_subnormal, f.tiny - f.smallest_subnormal, f.eps, 1 + f.eps, 1 - f.epsneg]
            values = np.array([*plain, *(float(e) for e in edge)], dtype.numpy)
            bits = random.integers(0, 256, 12 * dtype.itemsize, np.uint8).view(dtype.numpy)
            return np.concatenate([values, -values, bits])
        case _:
            i = np.iinfo(dtype.numpy)
            values = [v for v in (0, 1, 2, 3, 7, 100, -1, -2, -7, i.min, i.min + 1, i.max, i.max - 1) if i.min <= v <= i.max]
            return np.concatenate([np.array(values, dtype.numpy), random.integers(i.min, i.max, 9, dtype.numpy, True)])


def operands(dtype: DType, count: int) -> list[np.ndarray]:
    """Every combination of edge values (for three operands a part of them)."""
    one = edges(dtype)
    if count == 1:
        # Longer than any vector, so that packed code and the rest of the loop both run.
        return [np.resize(one, 4 * len(one) + 3)]
    first, second = (np.ascontiguousarray(a.ravel()) for a in np.meshgrid(one, one))
    return [first, second, np.random.default_rng(1).permutation(second)][:count]


def library_function(name: str, dtype: DType, arguments: int) -> Any:
    """A function of the C math library over arrays."""
    number = ctypes.c_float if dtype.bits == 32 else ctypes.c_double
    function = getattr(ctypes.CDLL("libm.so.6"), name + ("f" if dtype.bits == 32 else ""))
    function.restype, function.argtypes = number, [number] * arguments
    return lambda *arrays: np.array([function(*map(float, v)) for v in zip(*arrays, strict=True)], dtype.numpy)


def truncated(operation: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    wide_x, wide_y = x.astype(object), y.astype(object)
    quotient = abs(wide_x) // abs(wide_y) * np.where((x < 0) == (y < 0), 1, -1).astype(object)
    result = quotient if operation == "divide_truncated" else wide_x - quotient * wide_y
    return result.astype(x.dtype)


def row_case(op: Op, dtype: DType) -> tuple[list[np.ndarray], np.ndarray]:
    """Inputs inside the row's domain, and the expected output."""
    assert op.arity is not None
    inputs = operands(dtype, op.arity)
    match op.name:
        case "divide_truncated" | "remainder_truncated":
            x, y = inputs
            defined = y != 0
            if dtype.kind == "i":
                defined &= ~((x == np.iinfo(x.dtype).min) & (y == -1))
            inputs = [x[defined], y[defined]]
            return inputs, truncated(op.name, *inputs)
        case "shift_left_raw" | "shift_right_raw":
            inputs[1] = (inputs[1].astype(np.uint64) % np.uint64(dtype.bits)).astype(dtype.numpy)
            return inputs, (np.left_shift if op.name == "shift_left_raw" else np.right_shift)(*inputs)
        case "where":
            inputs[0] = np.random.default_rng(2).random(len(inputs[0])) < 0.5
            return inputs, np.where(*inputs)
        case "fma":
            return inputs, library_function("fma", dtype, 3)(*inputs)
        case "sin_of_large" | "cos_of_large" | "tan_of_large":
            (x,) = inputs
            x[::7] *= dtype.numpy.type(1e14)
            return [x], np.where(abs(x) > LARGEST, library_function(op.libm, dtype, 1)(x), dtype.numpy.type(0))
        case "fmod_of_far":
            x, y = inputs
            x[::7] *= dtype.numpy.type(2.0**60)
            with np.errstate(all="ignore"):
                near = abs(x) < abs(y) * dtype.numpy.type(2.0 ** FRACTIONS[dtype])
                return inputs, np.where(near, dtype.numpy.type(0), np.fmod(x, y))
        case _ if not op.exact:
            return inputs, library_function(op.libm, dtype, op.arity)(*inputs)
    return inputs, getattr(np, op.numpy)(*inputs)


# Their spelling is their name: conversions, which have tests of their own, and instructions of GPUs.
HALF = tuple(op.name for op in OPS.values() if op.llvm == op.name)
ROWS = [
    (op, dtype)
    for op in OPS.values()
    for dtype in COMPILED_DTYPES
    if op.kind == "elementwise" and op.name not in ("convert_raw", "bitcast", *HALF) and spelled(op, dtype.kind)
]
BITCASTS = [(a, b) for a in COMPILED_DTYPES for b in COMPILED_DTYPES if a.bits == b.bits and "b" not in a.kind + b.kind]
CONVERSIONS = [(a, b) for a in COMPILED_DTYPES for b in COMPILED_DTYPES if b.kind != "b" and a is not b]


@pytest.fixture(scope="module")
def row_kernels() -> dict[str, int]:
    texts: list[str] = []
    for op, dtype in ROWS:
        output = "bool" if op.llvm.startswith("cmp") else dtype.name
        inputs = [dtype.name] * (op.arity or 0)
        if op.name == "where":
            inputs[0] = "bool"
        texts.append(pointwise(f"{op.name}_{dtype}", op.name, inputs, output))
    texts += [pointwise(f"convert_{a}_{b}", "convert_raw", [a.name], b.name) for a, b in CONVERSIONS]
    texts += [pointwise(f"bitcast_{a}_{b}", "bitcast", [a.name], b.name) for a, b in BITCASTS]
    return load(*texts)


def test_arrays_have_any_name() -> None:
    made = pytocu.jit(lambda begin, end, slots: begin + end * slots)
    x = np.arange(3.0)
    assert (made(x, x, x) == x + x * x).all()


@pytest.mark.parametrize(("source", "target"), BITCASTS, ids=str)
def test_bitcast(row_kernels: dict[str, int], source: DType, target: DType) -> None:
    x = operands(source, 1)[0]
    out = np.zeros(len(x), target.numpy)
    call(row_kernels[f"bitcast_{source}_{target}"], [x, out, len(out)], len(out))
    assert out.tobytes() == x.tobytes()


@pytest.mark.parametrize(("op", "dtype"), ROWS, ids=lambda value: getattr(value, "name", ""))
def test_row(row_kernels: dict[str, int], op: Op, dtype: DType) -> None:
    with np.errstate(all="ignore"):
        inputs, expected = row_case(op, dtype)
        close = getattr(np, op.numpy)(*inputs) if op.numpy and not op.exact else None
    out = np.full_like(expected, 77)
    call(row_kernels[f"{op.name}_{dtype}"], [*inputs, out, len(out)], len(out))
    signs = op.name in ("negative", "absolute", "fabs", "copysign", "where")
    same_bits(out, expected, nan_sign=signs)
    if close is not None:
        np.testing.assert_array_equal(np.isfinite(out), np.isfinite(close))
        finite = np.isfinite(close)
        # Both answers are within a few ulp of the true one.
        np.testing.assert_array_max_ulp(out[finite], close[finite], 2 * op.ulp + 4)


@pytest.mark.parametrize(("source", "target"), CONVERSIONS, ids=str)
def test_conversion(row_kernels: dict[str, int], source: DType, target: DType) -> None:
    x = operands(source, 1)[0]
    if source.kind == "f" and target.kind != "f":
        limits = np.iinfo(target.numpy)
        x = x[np.isfinite(x)]
        x = x[[limits.min <= math.trunc(v) <= limits.max for v in x.tolist()]]
        assert len(x) > 20
    with np.errstate(all="ignore"):
        expected = x.astype(target.numpy)
    out = np.full_like(expected, 77)
    call(row_kernels[f"convert_{source}_{target}"], [x, out, len(out)], len(out))
    same_bits(out, expected)


CONSTANTS = {
    "f32": ["inf", "-inf", "nan", "-0.0", "0.0", "0.10000000149011612", "1e-45", "3.4028234663852886e+38", "0.1"],
    "f64": ["inf", "-inf", "nan", "-0.0", "0.1", "5e-324", "1.7976931348623157e+308"],
    "bool": ["True", "False"],
    "i8": ["-128", "127"],
    "u8": ["255"],
    "i64": [str(-(2**63)), str(2**63 - 1)],
    "u64": [str(2**64 - 1), str(2**63)],
}


@pytest.mark.parametrize("dtype", CONSTANTS)
def test_constants(dtype: str) -> None:
    lines: list[str] = []
    for number, text in enumerate(CONSTANTS[dtype]):
        lines += [f"  %at{number} = const {number} : index", f"  %c{number} = const {text} : {dtype}"]
        lines.append(f"  store %out, %at{number}, %c{number}")
    read = {"True": True, "False": False}
    values = [read[t] if t in read else int(t) if dtype[0] in "iu" else float(t) for t in CONSTANTS[dtype]]
    expected = np.array(values, dtype_named(dtype).numpy)
    out = np.full_like(expected, 77)
    run(f"loop func @constants(%out: ptr {dtype}) {{\n" + "\n".join(lines) + "\n  return\n}", out)
    same_bits(out, expected, nan_sign=True)


@pytest.mark.parametrize("dtype", COMPILED_DTYPES, ids=str)
def test_scalar_parameters(dtype: DType) -> None:
    for value in edges(dtype):
        out = np.full(1, 77).astype(dtype.numpy)
        text = (
            f"loop func @scalar(%out: ptr {dtype}, %x: {dtype}) {{\n  %0 = const 0 : index\n  store %out, %0, %x\n  return\n}}"
        )
        run(text, out, value)
        same_bits(out, np.array([value]), nan_sign=True)


@pytest.mark.parametrize("bits", [32, 64])
def test_index_arithmetic(bits: int) -> None:
    text = f"""loop func @indices(%out: ptr i64, %a: index, %b: index) facts {{index_bits = {bits}}} {{
  %at0 = const 0 : index
  %at1 = const 1 : index
  %at2 = const 2 : index
  %at3 = const 3 : index
  %q = divide_truncated %a, %b : index
  %r = remainder_truncated %a, %b : index
  %s = subtract %q, %r : index
  %m = multiply %s, %a : index
  %c = less %a, %b : bool
  %w = where %c, %m, %b : index
  %q8 = convert_raw %q : i64
  %r8 = convert_raw %r : i64
  %m8 = convert_raw %m : i64
  %w8 = convert_raw %w : i64
  store %out, %at0, %q8
  store %out, %at1, %r8
  store %out, %at2, %m8
  store %out, %at3, %w8
  return
}}"""
    out = np.zeros(4, np.int64)
    for a, b in ((-17, 5), (17, 5), (17, -5), (4, 9)):
        run(text, out, a, b)
        quotient = int(a / b)
        rest = a - quotient * b
        product = (quotient - rest) * a
        assert out.tolist() == [quotient, rest, product, product if a < b else b]


def test_any_byte_but_zero_is_true() -> None:
    x = np.arange(200, dtype=np.uint8)
    out = np.empty(200, np.uint8)
    run(pointwise("truth", "invert", ["bool"], "bool"), x.view(np.bool_), out.view(np.bool_), 200, total=200)
    assert out.tolist() == [1] + [0] * 199


ROW_SUM = """loop func @row_sum(%x: ptr f32, %out: ptr f32, %n: index, %m: index) {
  %0 = const 0 : index
  %1 = const 1 : index
  for %0, %n, %1 {over = "parallel"} (%row: index) {
    %zero = const 0.0 : f32
    %start = multiply %row, %m : index
    %total, %last = for %0, %m, %1, %zero, %zero {over = "serial"} : f32, f32 (%k: index, %sum: f32, %before: f32) {
      %at = add %start, %k : index
      %v = load %x, %at : f32
      %next = add %sum, %v : f32
      yield %next, %sum
    }
    %both = subtract %total, %last : f32
    store %out, %row, %both
    yield
  }
  return
}"""


@pytest.mark.parametrize("columns", [0, 1, 37])
def test_carried_values(columns: int) -> None:
    x = np.random.default_rng(0).random((50, columns), np.float32)
    out = np.empty(50, np.float32)
    run(ROW_SUM, x, out, 50, columns, total=50)
    total, last = np.zeros(50, np.float32), np.zeros(50, np.float32)
    for column in x.T:
        total, last = total + column, total
    same_bits(out, total - last)


def test_branches_and_while_nested() -> None:
    text = """loop func @steps(%x: ptr i64, %out: ptr i64, %odd_out: ptr bool, %n: index) {
  %0 = const 0 : index
  %1 = const 1 : index
  for %0, %n, %1 {over = "parallel"} (%i: index) {
    %zero = const 0 : i64
    %one = const 1 : i64
    %two = const 2 : i64
    %three = const 3 : i64
    %false = const False : bool
    %x0 = load %x, %i : i64
    %last, %count, %was_odd = while %x0, %zero, %false : i64, i64, bool (%a: i64, %b: i64, %c: bool) {
      %more = greater %a, %one : bool
      yield %more, %a, %b, %c
    } (%d: i64, %e: i64, %f: bool) {
      %low = bitwise_and %d, %one : i64
      %odd = equal %low, %one : bool
      %next, %weight = if %odd : i64, i64 () {
        %triple = multiply %d, %three : i64
        %up = add %triple, %one : i64
        %big = greater %up, %x0 : bool
        %w = if %big : i64 () {
          yield %two
        } () {
          yield %one
        }
        yield %up, %w
      } () {
        %half = divide_truncated %d, %two : i64
        yield %half, %one
      }
      %g = add %e, %weight : i64
      yield %next, %g, %odd
    }
    %many = greater %count, %three : bool
    if %many () {
      store %out, %i, %count
      yield
    } () {
      store %out, %i, %last
      yield
    }
    store %odd_out, %i, %was_odd
    yield
  }
  return
}"""

    def expected(start: int) -> tuple[int, bool]:
        value, count, odd = start, 0, False
        while value > 1:
            odd = value % 2 == 1
            if odd:
                value = 3 * value + 1
                count += 2 if value > start else 1
            else:
                value, count = value // 2, count + 1
        return (count if count > 3 else value), odd

    x = np.arange(-2, 300)
    out, odd = np.empty_like(x), np.empty(x.shape, np.bool_)
    run(text, x, out, odd, len(x), total=len(x))
    assert list(zip(out.tolist(), odd.tolist(), strict=True)) == [expected(v) for v in x.tolist()]


def test_while_results_come_from_the_condition_region() -> None:
    text = """loop func @count(%out: ptr i32, %limit: i32) {
  %0 = const 0 : index
  %zero = const 0 : i32
  %one = const 1 : i32
  %last = while %zero : i32 (%a: i32) {
    %b = add %a, %one : i32
    %more = less %b, %limit : bool
    yield %more, %b
  } (%c: i32) {
    %d = add %c, %one : i32
    yield %d
  }
  store %out, %0, %last
  return
}"""
    out = np.zeros(1, np.int32)
    for limit, expected in ((0, 1), (6, 7), (7, 7)):
        run(text, out, np.int32(limit))
        assert out[0] == expected


def test_step_lower_bound_and_share() -> None:
    text = """loop func @stepped(%out: ptr i32, %lower: index, %upper: index, %step: index) {
  for %lower, %upper, %step {over = "parallel"} (%i: index) {
    %one = const 1 : i32
    %old = load %out, %i : i32
    %new = add %old, %one : i32
    store %out, %i, %new
    yield
  }
  return
}"""
    address = load(text)["stepped"]
    out = np.zeros(30, np.int32)
    call(address, [out, 3, 30, 4], 5, begin=2)
    assert np.flatnonzero(out).tolist() == [11, 15, 19]


def test_vectors() -> None:
    text = """loop func @vectors(%x: ptr f32, %out: ptr f32, %small_out: ptr bool) {
  %0 = const 0 : index
  %v = load %x, %0 : <4 x f32>
  %half = const 0.5 : <4 x f32>
  %small = less %v, %half : <4 x bool>
  %root = sqrt %v : <4 x f32>
  %wave = sin %v : <4 x f32>
  %chosen = where %small, %root, %wave : <4 x f32>
  %minus = negative %chosen : <4 x f32>
  store %out, %0, %minus
  store %small_out, %0, %small
  return
}"""
    x = np.array([0.25, -0.0, 1.0, np.inf], np.float32)
    out, small = np.empty_like(x), np.empty(4, np.bool_)
    run(text, x, out, small)
    with np.errstate(invalid="ignore"):
        expected = -np.where(x < 0.5, np.sqrt(x), library_function("sin", dtype_named("f32"), 1)(x))
    same_bits(out, expected)
    assert small.tolist() == [True, True, False, False]


MULTIPLY_ADD = """loop func @multiply_add(%x: ptr f32, %y: ptr f32, %z: ptr f32, %out: ptr f32, %n: index) {
  %0 = const 0 : index
  %1 = const 1 : index
  for %0, %n, %1 {over = "parallel"} (%i: index) {
    %a = load %x, %i : f32
    %b = load %y, %i : f32
    %c = load %z, %i : f32
    %ab = multiply %a, %b {FLAGS} : f32
    %abc = add %ab, %c {FLAGS} : f32
    store %out, %i, %abc
    yield
  }
  return
}"""
EXACT = MULTIPLY_ADD.replace(" {FLAGS}", "")
CONTRACTED = MULTIPLY_ADD.replace("FLAGS", 'fastmath = ("contract",)')


@on_x86_64
def test_packed_without_overlap_checks() -> None:
    text = llvm.emit([parse_function(EXACT)])
    assembly = cpu.assembly(text)
    for name in ("mul", "add"):
        assert re.search(rf"\bv?{name}ps\b.*%[xyz]mm", assembly)
    optimized = cpu.optimized(text)
    assert re.search(r"fadd <\d+ x float>", optimized)
    assert "memcheck" not in optimized
    assert "memcheck" in cpu.optimized(text.replace("noalias ", ""))


@on_x86_64
def test_no_contraction_unless_asked() -> None:
    name, features = cpu.host_cpu()
    with_fma = (name, f"{features},+avx2,+fma")
    assert "vfmadd" not in cpu.assembly(llvm.emit([parse_function(EXACT)]), with_fma)
    assert "vfmadd" in cpu.assembly(llvm.emit([parse_function(CONTRACTED)]), with_fma)
    random = np.random.default_rng(3)
    x, y, z = (random.standard_normal(10_000, np.float32) for _ in range(3))
    out = np.empty_like(x)
    run(EXACT, x, y, z, out, len(x), total=len(x))
    same_bits(out, x * y + z)


@on_x86_64
@pytest.mark.parametrize(("feature", "register"), [(",+avx512f,+avx512vl,+avx512bw,+avx512dq", "zmm"), ("", "ymm")])
def test_whole_registers_are_used(feature: str, register: str) -> None:
    features = f"+avx2,+fma{feature}"
    assembly = cpu.assembly(llvm.emit([parse_function(EXACT)]), ("skylake-avx512", features))
    assert re.findall(r"\bvmulps\b.*%([xyz]mm)", assembly)[0] == register


@pytest.mark.parametrize(("name", "gathers"), [("sapphirerapids", True), ("cascadelake", False), ("icelake-server", False)])
def test_elements_are_loaded_one_by_one_where_gathers_are_slow(name: str, gathers: bool) -> None:
    features = "+avx2,+fma,+avx512f,+avx512vl,+avx512bw,+avx512dq,+avx512cd" + ",+avx512fp16" * gathers
    source = pytocu.jit(lambda t, i: t[i] * 2).lower("f32[k]", "i32[n]").compile("cpu").source
    assert ("vgather" in cpu.assembly(source, (name, features))) is gathers



def smoothed(u: Any) -> Any:
    new = u.copy()
    new[:, 1:-2] = u[:, 1:-2] * 3 + (u[:, :-3] + u[:, 2:-1] - 4 * u[:, 3:])
    return new


@on_x86_64
@pytest.mark.parametrize(("dtype", "folded"), [("f32", 1), ("f64", 1), ("i32", 0), ("f16", 0)])
def test_rests_of_pieces_of_rows_are_vectors_under_a_mask(dtype: str, folded: int) -> None:
    functions = pytocu.jit(smoothed).lower(f"{dtype}[n,m]").compile("cpu")._functions
    texts = [llvm.emit(functions, llvm.host_dialect()._replace(masks=masks)) for masks in (False, True)]
    assert [text.count("llvm.loop.vectorize.predicate.enable") for text in texts] == [0, folded]
    machine = ("skylake-avx512", "+avx2,+fma,+avx512f,+avx512vl,+avx512bw,+avx512dq")
    masked = [len(re.findall(r"\bvmovup[sd]\b.*\{%k\d\}", cpu.assembly(text, machine))) for text in texts]
    assert (masked[0] == 0, masked[1] > 6) == (True, bool(folded))


def test_loops_over_whole_rows_stay_as_they_are() -> None:
    whole = pytocu.jit(lambda u: u[:, 1:-2] * 3 + (u[:, :-3] + u[:, 2:-1] - 4 * u[:, 3:])).lower("f32[n,m]").compile("cpu")
    assert "predicate" not in llvm.emit(whole._functions, llvm.host_dialect()._replace(masks=True))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_pieces_of_rows_of_every_length(dtype: Any) -> None:
    compiled = pytocu.jit(smoothed)
    for width in range(3, 90):
        u = np.random.default_rng(width).standard_normal((4, width)).astype(dtype)
        compare(compiled(u), smoothed(u))


@on_x86_64
def test_long_loops_take_two_vectors_at_once() -> None:
    """The code is another one, the elements are the same."""
    x = np.linspace(-20, 20, 1003, dtype=np.float32)
    results: list[np.ndarray] = []
    for function, twice in ((lambda x: np.exp(x) / x, True), (lambda x: x / 3 + 1, False)):
        functions = pytocu.jit(function).lower("f32[n]").compile("cpu")._functions
        texts = [llvm.emit(functions, llvm.host_dialect()._replace(long=long)) for long in (0, 16)]
        assert [text.count("llvm.loop.interleave.count") for text in texts] == [0, int(twice)]
        for text in texts if twice else ():
            for machine in (("skylake-avx512", "+avx2,+fma,+avx512f,+avx512vl,+avx512bw,+avx512dq"), ("znver3", "+avx2,+fma")):
                assert len(re.findall(r"\bvdivps\b.*%[yz]mm", cpu.assembly(text, machine))) > ("interleave" in text)
            (name,) = (f.name for f in functions)
            out = np.empty_like(x)
            call(native.load(cpu.build(text), [name])[name], (x, out, len(x)), len(x))
            results.append(out)
    same_bits(*results)


@on_x86_64
def test_two_vectors_at_once_where_their_registers_are_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[int] = []
    for features in ("avx", "avx avx2", "avx avx2 avx512dq avx512vl"):
        known = dict.fromkeys((*features.split(), "f16c"), True)
        monkeypatch.setattr(llvm_binding(), "get_host_cpu_features", lambda known=known: known)
        found.append(llvm.host_dialect.__wrapped__().long)
    assert found == [0, 16, 16]


@on_x86_64
def test_what_stays_is_stored_too() -> None:
    """A store under a mask is slow without AVX-512, and so is a load behind it."""
    def larger(out: np.ndarray, x: np.ndarray) -> None:
        out[:] = np.where(x > out, x, out)

    def smaller(out: np.ndarray, x: np.ndarray) -> None:
        out[:] = np.where(x > out, out, x)

    x, start = (np.random.default_rng(k).standard_normal(1003).astype(np.float32) for k in range(2))
    for function, types in ((larger, 2 * ["f32[n]"]), (smaller, 2 * ["f32[n]"]), (lambda x: x.max(0), ["f32[n, m]"])):
        text = llvm.emit(pytocu.jit(function).lower(*types).compile("cpu")._functions)
        plain = re.sub(r"freeze (\S+) (%\S+)", r"bitcast \1 \2 to \1", text)
        masked = ["maskmov" in cpu.assembly(t, ("znver3", "+avx2,+fma")) for t in (text, plain)]
        # LLVM 20 makes none of its own accord.
        assert masked == [False, llvm_binding().llvm_version_info >= (21,)] and text != plain
    for function in (larger, smaller):
        out, wanted = start.copy(), start.copy()
        pytocu.jit(function)(out, x)
        function(wanted, x)
        same_bits(out, wanted)


def rows_of_neighbours() -> str:
    """Code of which LLVM would rewrite the addresses: the places of nine neighbours, rows apart by a length."""

    def smoothed(x):
        return sum(x[i : x.shape[0] - 2 + i, j : x.shape[1] - 2 + j] for i in range(3) for j in range(3))

    return pytocu.jit(smoothed).lower("f32[n, m]").compile("cpu").source


def test_addresses_are_emitted_as_written_and_the_switch_is_put_back() -> None:
    """LLVM's search for other addresses takes longer than everything else; others who use LLVM in the process keep it."""
    text = rows_of_neighbours()

    def searched() -> bytes:
        with cpu._optimized_module(text, None) as (module, machine):
            return machine.emit_object(module)

    before = searched()
    assert (cpu.build(text) == before) is not (platform.machine() in ("x86_64", "AMD64"))
    assert searched() == before
    machine = cpu._machine(cpu.host_cpu())
    with pytest.raises(ZeroDivisionError), cpu._addresses_as_written(machine):
        raise ZeroDivisionError
    assert searched() == before


def test_math_calls_stay_calls() -> None:
    text = pointwise("pow", "power", ["f64", "f64"], "f64").replace("load %p1, %i", "const 2.0")
    optimized = cpu.optimized(llvm.emit([parse_function(text)]))
    assert "@math.pow(double" in optimized
    assert "fmul" not in optimized


@pytest.mark.parametrize("name", ["sin", "exp", "memset", "Größe"])
def test_any_kernel_name(name: str) -> None:
    x = np.linspace(-3, 3, 50)
    out = np.empty_like(x)
    run(pointwise(name, "cos", ["f64"], "f64"), x, out, 50, total=50)
    same_bits(out, library_function("cos", dtype_named("f64"), 1)(x))


@pytest.mark.parametrize("symbol", ["getpid", "sin", "math.system", "math.getpid"])
def test_other_external_functions_are_refused(symbol: str) -> None:
    text = f"""declare i32 @{symbol}()
define void @calls(ptr %slots, i64 %begin, i64 %end) {{
  %x = call i32 @{symbol}()
  ret void
}}"""
    with pytest.raises(BackendError, match=re.escape(repr(symbol))):
        cpu.build(text)
    import llvmlite.binding as binding

    machine = cpu._machine(cpu.host_cpu())
    code = machine.emit_object(binding.parse_assembly(text, binding.create_context()))
    with pytest.raises(BackendError, match=re.escape(repr(symbol))):
        native.load(code, ["calls"])


def test_bad_text_and_damaged_code() -> None:
    with pytest.raises(BackendError, match="LLVM does not accept"):
        cpu.build("define void @f( {")
    code = cpu.build(llvm.emit([parse_function(EXACT)]))
    with pytest.raises(BackendError, match="no_such_kernel"):
        native.load(code, ["no_such_kernel"])
    for damaged in (b"", b"\x7fELF\x02\x01", code[:200], b"MZ" + code[2:]):
        with pytest.raises(BackendError):
            native.load(damaged, ["multiply_add"])


SECOND_LOOP = """  for %0, %n, %1 {over = "parallel"} (%j: index) {
    yield
  }
  return"""
STORE_BESIDE = """  %v = const 1.0 : f32
  store %out, %0, %v
  return"""
REFUSED = {
    "grid": (EXACT.replace('"parallel"', '"grid"'), BackendError, "grid"),
    "composite": (pointwise("f", "floor_divide", ["i32", "i32"], "i32"), BackendError, "floor_divide"),
    "unexpanded": (pointwise("f", "add", ["bool", "bool"], "bool"), BackendError, "expand it first"),
    "twice": (EXACT.replace("  return", SECOND_LOOP), InternalError, "one parallel loop"),
    "float16": (pointwise("f", "negative", ["f16"], "f16"), BackendError, "f16"),
    "barrier": ("loop func @f() {\n  barrier\n  return\n}", BackendError, "barrier"),
    "store": (
        EXACT.replace("  return", "  %v = const 1.0 : f32\n  store %out, %0, %v\n  return"),
        InternalError,
        "once a thread",
    ),
    "level": ("func @f(%x: f32) {\n  return %x\n}", InternalError, "loop level"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str) -> None:
    text, error, words = REFUSED[name]
    with pytest.raises(error, match=words):
        llvm.emit([parse_function(text)])


MODE = """declare void @llvm.x86.sse.ldmxcsr(ptr)
declare void @llvm.x86.sse.stmxcsr(ptr)
define void @set_mode(ptr %slots, i64 %begin, i64 %end) {
  call void @llvm.x86.sse.ldmxcsr(ptr %slots)
  ret void
}
define void @get_mode(ptr %slots, i64 %begin, i64 %end) {
  call void @llvm.x86.sse.stmxcsr(ptr %slots)
  ret void
}"""


@on_x86_64
def test_subnormals_whatever_the_callers_mode() -> None:
    mode = {name: threads.native(address) for name, address in native.load(cpu.build(MODE), ["set_mode", "get_mode"]).items()}
    x = np.full(40, 1e-40, np.float32)
    expected = x * np.float32(0.5) + x
    args = [x, np.full_like(x, 0.5), x, np.empty_like(x), len(x)]
    slots, out = slots_of(*args), args[3]
    exact, plain = (threads.native(load(EXACT, dialect=d)["multiply_add"]) for d in (llvm.host_dialect(), llvm.CPU))
    results: list[np.ndarray] = []
    modes = np.zeros(4, np.uint32)
    at = [modes.ctypes.data + 4 * i for i in range(4)]
    # Default mode, flush-to-zero with denormals-are-zero, and what the thread has afterwards.
    modes[1] = 0x9FC0
    mode["get_mode"](at[0], 0, 0)
    mode["set_mode"](at[1], 0, 0)
    exact(slots.ctypes.data, 0, len(x))
    mode["get_mode"](at[2], 0, 0)
    mode["set_mode"](at[0], 0, 0)
    results.append(out.copy())
    mode["set_mode"](at[1], 0, 0)
    plain(slots.ctypes.data, 0, len(x))
    mode["set_mode"](at[0], 0, 0)
    results.append(out.copy())
    assert modes[2] == 0x9FC0
    same_bits(results[0], expected)
    assert not results[1].any()


# Threads.


@pytest.mark.parametrize("total", [1, 63, 64, 65, 1000, 100_003])
def test_same_bits_for_every_thread_count(set_thread_count: Callable[[int], None], total: int) -> None:
    address = load(pointwise("wave", "sin", ["f32"], "f32"))["wave"]
    x = np.random.default_rng(4).random(total, np.float32)
    results: list[bytes] = []
    for count in (1, 2, 7):
        set_thread_count(count)
        out = np.full_like(x, np.nan)
        spread(address, [x, out, total], total, 1)
        results.append(out.tobytes())
    assert results[0] == results[1] == results[2]
    assert not np.isnan(out).any()


def recorded(total: int, minimum: int) -> tuple[list[tuple[int, int]], set[int]]:
    pieces: list[tuple[int, int]] = []
    workers: set[int] = set()

    def kernel(slots: int, begin: int, end: int) -> None:
        time.sleep(0.002)
        pieces.append((begin, end))
        workers.add(threading.get_ident())

    callback = KERNEL(kernel)
    threads.run(ctypes.cast(callback, ctypes.c_void_p).value or 0, 0, total, minimum)
    return sorted(pieces), workers


def test_pieces_cover_the_range_once(set_thread_count: Callable[[int], None]) -> None:
    set_thread_count(4)
    for total, minimum in ((10_000, 100), (10_001, 1), (800, 1), (129, 64)):
        pieces, workers = recorded(total, minimum)
        assert pieces[0][0] == 0
        assert pieces[-1][1] == total
        assert all(end == begin for (_, end), (begin, _) in itertools.pairwise(pieces))
        assert len(pieces) > 1
        assert 1 <= len(workers) <= 4
    assert len(recorded(100_000, 1)[1]) > 1


def test_the_cut_depends_on_the_size_alone(set_thread_count: Callable[[int], None]) -> None:
    for total, minimum in ((10_000, 100), (100_000, 1), (70_001, 5000)):
        alignment = 64 if minimum >= 64 else 1
        size = -(-max(minimum, -(-total // threads._PIECES)) // alignment) * alignment
        for count in (1, 2, 7):
            set_thread_count(count)
            pieces, _ = recorded(total, minimum)
            assert all(begin % size == 0 for begin, _ in pieces)


def test_quick_work_wakes_nobody(monkeypatch: pytest.MonkeyPatch, set_thread_count: Callable[[int], None]) -> None:
    set_thread_count(4)
    monkeypatch.setattr(threads, "perf_counter", lambda: 0.0)
    for total in (200, 250, 333):
        pieces, workers = recorded(total, 50)
        assert workers == {threading.get_ident()}
        assert pieces[0][0] == 0 and pieces[-1][1] == total
        assert all(end == begin for (_, end), (begin, _) in itertools.pairwise(pieces))


def test_small_ranges_stay_in_the_calling_thread(set_thread_count: Callable[[int], None]) -> None:
    set_thread_count(4)
    assert recorded(99, 50) == ([(0, 99)], {threading.get_ident()})
    assert recorded(0, 50) == ([], set())


BUSY = """loop func @busy(%begun: ptr i32, %done: ptr i32, %n: index, %work: index) {
  %0 = const 0 : index
  %1 = const 1 : index
  for %0, %n, %1 {over = "parallel"} (%i: index) {
    %one = const 1 : i32
    store %begun, %i, %one
    %seed = const 12345 : i32
    %last = for %0, %work, %1, %seed {over = "serial"} : i32 (%k: index, %s: i32) {
      %factor = const 1664525 : i32
      %shift = const 7 : i32
      %t = multiply %s, %factor : i32
      %u = shift_right_raw %t, %shift : i32
      %v = bitwise_xor %t, %u : i32
      yield %v
    }
    %odd = bitwise_or %last, %one : i32
    store %done, %i, %odd
    yield
  }
  return
}"""


def test_python_runs_meanwhile() -> None:
    address = load(BUSY)["busy"]
    flags = np.zeros((2, 1), np.int32)
    slots = slots_of(flags[0], flags[1], 1, 300_000_000)
    ticks: list[float] = []
    stop = threading.Event()

    def tick() -> None:
        while not stop.wait(0.005):
            ticks.append(time.perf_counter())

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.perf_counter()
    threads.run(address, slots.ctypes.data, 1, 1)
    end = time.perf_counter()
    stop.set()
    thread.join()
    assert end - start > 0.1
    assert sum(start + 0.02 < t < end - 0.02 for t in ticks) >= 3


def test_many_callers_at_once(set_thread_count: Callable[[int], None]) -> None:
    set_thread_count(3)
    address = load(pointwise("twice", "add", ["f64", "f64"], "f64"))["twice"]
    wrong: list[int] = []

    def call(number: int) -> None:
        x = np.random.default_rng(number).random(5000)
        for _ in range(40):
            out = np.zeros_like(x)
            spread(address, [x, x, out, len(x)], len(x), 100)
            if not np.array_equal(out, x + x):
                wrong.append(number)

    callers = [threading.Thread(target=call, args=(n,), daemon=True) for n in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(60)
    assert not any(caller.is_alive() for caller in callers)
    assert not wrong


def test_interrupt_waits_and_leaves_the_pool_usable(set_thread_count: Callable[[int], None]) -> None:
    set_thread_count(3)
    address = load(BUSY)["busy"]
    total = 6_000
    flags = np.zeros((2, total), np.int32)
    slots = slots_of(flags[0], flags[1], total, 200_000)

    def interrupt(number: int, frame: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(KeyboardInterrupt):
            threads.run(address, slots.ctypes.data, total, 1)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    begun, done = flags[0].copy(), flags[1] != 0
    assert 0 < begun.sum() < total
    time.sleep(0.1)
    np.testing.assert_array_equal(flags[0], begun)
    np.testing.assert_array_equal(done, begun != 0)
    assert len(recorded(100_000, 1)[1]) > 1


def _in_child() -> None:
    signal.alarm(30)
    failed = 1
    try:
        x = np.arange(10_000.0)
        out = np.empty_like(x)
        address = load(pointwise("twice", "add", ["f64", "f64"], "f64"))["twice"]
        spread(address, [x, x, out, len(x)], len(x), 1)
        failed = int(not np.array_equal(out, x + x) or len(recorded(100_000, 1)[1]) < 2)
    finally:
        os._exit(failed)


def test_fork(set_thread_count: Callable[[int], None]) -> None:
    set_thread_count(3)
    assert len(recorded(100_000, 1)[1]) > 1
    # The lock is held as if by another thread, which the child does not have.
    with warnings.catch_warnings(), threads._pool.lock:
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
        if child == 0:
            _in_child()
    assert os.waitpid(child, 0)[1] == 0


def test_the_environment_is_looked_at_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr(threads, "perf_counter", lambda: now)
    monkeypatch.setattr(threads, "_counted", (0, 0.0))
    monkeypatch.setenv("PYTOCU_NUM_THREADS", "3")
    assert threads.others() == 2
    monkeypatch.setenv("PYTOCU_NUM_THREADS", "5")
    assert threads.others() == 2
    now += 0.2
    assert threads.others() == 4


def test_thread_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTOCU_NUM_THREADS", "5")
    assert threads.thread_count() == 5
    for wrong in ("0", "-1", "two", "1.5"):
        monkeypatch.setenv("PYTOCU_NUM_THREADS", wrong)
        with pytest.raises(PytocuError, match=re.escape(repr(wrong))):
            threads.thread_count()
    monkeypatch.delenv("PYTOCU_NUM_THREADS")
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(6)), raising=False)
    for quota, expected in ((None, 6), (2, 2), (64, 6)):
        monkeypatch.setattr(threads, "_cpu_quota", lambda quota=quota: quota)
        assert threads.thread_count() == expected


def test_cpu_quota(tmp_path: Any) -> None:
    groups, mount = tmp_path / "cgroup", tmp_path / "mount"
    assert threads.cpu_quota(groups, mount) is None
    (mount / "a/b").mkdir(parents=True)
    (mount / "cpu/a").mkdir(parents=True)
    groups.write_text("0::/a/b\n")
    (mount / "a/b/cpu.max").write_text("max 100000\n")
    assert threads.cpu_quota(groups, mount) is None
    (mount / "a/cpu.max").write_text("250000 100000\n")
    assert threads.cpu_quota(groups, mount) == 3
    (mount / "a/b/cpu.max").write_text("50000 100000\n")
    assert threads.cpu_quota(groups, mount) == 1
    groups.write_text("3:cpuset:/a\n2:cpu,cpuacct:/a\n")
    (mount / "cpu/a/cpu.cfs_quota_us").write_text("-1\n")
    (mount / "cpu/a/cpu.cfs_period_us").write_text("100000\n")
    assert threads.cpu_quota(groups, mount) is None
    (mount / "cpu/a/cpu.cfs_quota_us").write_text("400000\n")
    assert threads.cpu_quota(groups, mount) == 4


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_minimum_of_a_minimum_keeps_what_nan_chooses(dtype):
    """LLVM takes the inner one for both."""

    def least(b):
        inner = np.where(b > 0.0, 0.0, b)
        return np.where(inner < 0.0, inner, 0.0)

    def most(b, c):
        inner = np.where(b > c, b, c)
        return np.where(inner > c, inner, c), np.where(c < inner, inner, c)

    b = np.array([np.nan, -0.0, 0.0, 1.0, -1.0, np.inf, -np.inf] * 5, dtype)
    c = np.roll(b, 3)
    compare(pytocu.jit(least)(b), least(b))
    compare(pytocu.jit(most)(b, c), most(b, c))


def test_one_element_for_several_of_a_vector_in_many_ways() -> None:
    # A power of integers is 64 squares behind each other, and so of 2**64 ways.
    def powers(column: Any, exponents: Any) -> Any:
        return np.append(column[::-1] ** exponents.reshape(-1, 2), 1)

    column, exponents = np.arange(7, dtype=np.uint64)[:, None], np.arange(14, dtype=np.uint64)
    compare(pytocu.jit(powers)(column, exponents), powers(column, exponents))


HARD_FOR_LLVM = """
import numpy as np
import pytocu

@pytocu.vectorize
def chosen(x, s):
    for _ in range(7):
        if s > 1:
            t = s - s * s
            t = t - t * t
            s = t - t * t
        else:
            t = s * s
            t = t + t * t
            t = t + t * t
            s = t + t * t
    return x + s

@pytocu.vectorize
def in_turns(x, s):
    for _ in range(20):
        if s > 1:
            t = s - s * s
            s = t - t * t
        else:
            t = s * s
            s = t + t * t
    return x + s

@pytocu.vectorize
def within(a, b):
    b = b if b == a else a
    a = a - b
    for _ in range(3):
        if b != 0 and b.imag <= 1:
            a = -a
            b = b.conjugate()
            if a != 0 and b.imag <= 1:
                continue
        else:
            a, b = b, a if a.real > 0 else a
            a = b - a
        for _ in range(2):
            b = -a
            a = a + b
    return b - a

@pytocu.jit
def of_one(x):
    v = x[0]
    for _ in range(3):
        v = within(v, np.complex128(0))
    return v

@pytocu.vectorize
def left(a, b):
    k = 0
    for _ in range(3):
        if a == b:
            if b == b:
                continue
        n = 0
        while n < 3 and a.real > 0:
            n += 1
            k += 2
        if b == a:
            if a.imag <= 1:
                break
        elif k > 2:
            b = b + a
            k += 1
        else:
            a, b = b, a + b
    return a + b

@pytocu.jit
def beside(x):
    return left(x, x - 1)
"""


def printed_as_in_python(call: str, folder: Path) -> None:
    """In processes of their own, since LLVM would end them or not come to an end."""
    (folder / "hard.py").write_text(HARD_FOR_LLVM)
    path = os.pathsep.join([str(folder), *sys.path])
    printed = [
        subprocess.run(
            [sys.executable, "-c", f"from hard import *\nprint(repr({call}))"],
            env={**os.environ, "PYTHONPATH": path, "PYTOCU_DISABLE": disable},
            stdout=subprocess.PIPE,
            text=True,
            timeout=60,
            check=True,
        ).stdout
        for disable in ("", "1")
    ]
    assert printed[0] == printed[1]


@pytest.mark.parametrize(
    "call",
    [
        "chosen(np.arange(5.0), np.float64(0.3))",
        "in_turns(np.arange(5.0), np.float64(0.3))",
        "of_one(np.array([[1 + 2j], [2], [3]]))",
    ],
)
def test_what_branches_make_of_one_element_in_many_ways(call: str, tmp_path: Path) -> None:
    """All elements of a vector are given the same, which LLVM asks of each operand of each operand of each branch."""
    printed_as_in_python(call, tmp_path)


def test_real_and_imaginary_parts_of_branches_behind_each_other(tmp_path: Path) -> None:
    """LLVM 22 would end the process where it makes vectors of what stands beside each other."""
    printed_as_in_python("beside(np.array([1 + 2j]))", tmp_path)


def test_what_llvm_is_told_is_part_of_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    key = driver._code_key("llvm", "source", "")
    monkeypatch.setitem(cpu._OPTIONS, "slp_vectorization", True)
    assert driver._code_key("llvm", "source", "") != key


def test_a_few_branches_of_one_element_leave_vectors() -> None:
    def loops(count: int, of: str) -> list[str]:
        @pytocu.vectorize
        def chosen(x, s):
            for _ in range(count):
                if s > 1:
                    t = s - s * s
                    s = t - t * t
                else:
                    t = s * s
                    s = t + t * t
            return x + s

        return re.findall("llvm.loop.vectorize.enable", chosen.lower("f64[n]", of).compile("cpu").source)

    # What differs from element to element costs nothing.
    assert (loops(2, "f64[]"), loops(20, "f64[n]"), len(loops(20, "f64[]"))) == ([], [], 1)


@pytest.mark.parametrize(("count", "dtype"), [(1, "f32"), (2, "f64"), (4, "f32"), (8, "f64"), (16, "i8"), (32, "u16")])
def test_vectors_are_transposed_as_a_square(count: int, dtype: str) -> None:
    """One row of the matrix a vector, with one piece of 16 bytes or several."""
    rows, places = [f"%r{k}" for k in range(count)], [f"%c{k}" for k in range(count)]
    lines = [f"  {place} = const {k * count} : index" for k, place in enumerate(places)]
    vector = f"<{count} x {dtype}>"
    lines += [f"  {r} = load %x, {at} {{lanes = {count}}} : {vector}" for r, at in zip(rows, places, strict=True)]
    turned = [f"%t{k}" for k in range(count)]
    lines.append(f"  {', '.join(turned)} = transposed {', '.join(rows)} : {', '.join([vector] * count)}")
    lines += [f"  store %out, {at}, {t}" for t, at in zip(turned, places, strict=True)]
    text = "\n".join([f"loop func @turn(%x: ptr {dtype}, %out: ptr {dtype}) {{", *lines, "  return", "}"])
    x = np.arange(count * count).astype(dtype_named(dtype).numpy)
    for perform in (run, lambda text, *args: run_threads(parse_function(text), args, block=1)):
        out = np.zeros_like(x)
        perform(text, x, out)
        np.testing.assert_array_equal(out.reshape(count, count), x.reshape(count, count).T)


LANES = """loop func @lanes(%x: ptr f32, %c: f32, %out: ptr f32, %flags: ptr bool, %sum: ptr f32) {
  %0 = const 0 : index
  %x_vector = load %x, %0 {lanes = 8} : <8 x f32>
  %whole, %more = lanes %x_vector, %x_vector {lanes = 4, reach = ((2, 0, 2), (1, 4, 1))} : <8 x f32>, <4 x bool> \
(%k: index, %a: f32, %b: f32, %d: f32) {
    %1 = subtract %a, %b : f32
    %2 = multiply %d, %c : f32
    %3 = greater %1, %2 : bool
    yield %1, %2, %3
  }
  store %out, %0, %whole
  store %flags, %0, %more
  %4 = const 0.0 : f32
  %last = lanes %whole, %4 {lanes = 1, reach = ((8, 2, 3),)} : f32 (%k: index, %a: f32, %b: f32, %d: f32, %s: f32) {
    %1 = subtract %a, %b : f32
    %2 = multiply %1, %d : f32
    yield %2
  }
  store %sum, %0, %last
  return
}"""


def test_lanes_are_computed_together() -> None:
    x, c = np.arange(8, dtype=np.float32) ** 2, np.float32(-0.25)
    first, second = x[::2] - x[1::2], x[4:] * c
    whole = np.stack([first, second], axis=1).ravel()
    for perform in (run, lambda text, *args: run_threads(parse_function(text), args, block=1)):
        out, flags, last = np.zeros_like(x), np.zeros(4, bool), np.zeros(1, np.float32)
        perform(LANES, x, c, out, flags, last)
        np.testing.assert_array_equal(out, whole)
        np.testing.assert_array_equal(flags, first > second)
        np.testing.assert_array_equal(last, [(whole[2] - whole[3]) * whole[4]])


def test_lanes_are_computed_together_in_a_loop() -> None:
    head, *lines, back, end = LANES.splitlines()
    opened = ["  %first = const 0 : index", "  %turns = const 1 : index", "  for %first, %turns, %turns (%i: index) {"]
    x, c = np.arange(8, dtype=np.float32) ** 2, np.float32(-0.25)
    made = []
    for text in (LANES, "\n".join([head, *opened, *lines, "    yield", "  }", back, end])):
        made.append((np.zeros_like(x), np.zeros(4, bool), np.zeros(1, np.float32)))
        run(text, x, c, *made[-1])
    assert made[0][0].any()
    for one, other in zip(*made, strict=True):
        np.testing.assert_array_equal(one, other)


def test_lanes_that_follow_each_other_have_no_form() -> None:
    with pytest.raises(BackendError, match="a CPU computes lanes together: they hand nothing on"):
        load(LANES.replace("lanes = 1, reach = ((8, 2, 3),)", "lanes = 2, reach = ((2, 2, 3),)"))
    with pytest.raises(BackendError, match="a CPU computes lanes together: a value of type index has no vector"):
        load(LANES.replace("    %1 = subtract", "    %9 = add %k, %k : index\n    %1 = subtract"))


def test_only_squares_are_transposed() -> None:
    with pytest.raises(CompileError, match="vectors of one type as these have elements, a power of two, not 2 of <4 x f32>"):
        Builder().inst("transposed", [Value(VectorType(dtype_named("f32"), 4))] * 2)


@pytest.mark.parametrize("dtype", [np.int16, np.uint16])
def test_rows_of_shorts_forwards_and_backwards(dtype) -> None:
    """LLVM 22 ended the process where it made vectors of both."""

    def function(x):
        return x.max(-1) + x[::-1].max(-1)

    x = np.arange(120).reshape(30, 4).astype(dtype)
    compare(pytocu.jit(function, device="cpu")(x), function(x))
