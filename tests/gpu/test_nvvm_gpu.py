"""Both GPU compilers on a real GPU: the bits of every row, and kernels of every form.

Run with ``pytest -m gpu``.
"""

from __future__ import annotations

import textwrap

import numpy as np
import pytest
from test_backend_cuda_c import assert_same_bits, case_name, edge_values, operand_arrays, row_cases, row_kernel
from test_cuda_runtime import answers, distance

import pytocu
from pytocu.backend import cuda_c, nvrtc, nvvm
from pytocu.ir.core import Function
from pytocu.ir.parser import parse_function
from pytocu.ir.types import COMPILED_DTYPES, DType
from pytocu.runtime import cuda, device_array

pytestmark = pytest.mark.gpu

BLOCK = 256
COMPILERS = {"cuda_c": (cuda_c.emit, nvrtc.build), "nvvm": (nvvm.emit, nvvm.build)}
CODES = {dtype.numpy: code for dtype, code in cuda.PARAMETER_CODES.items()}
both = pytest.mark.parametrize("compiler", COMPILERS)


def loaded(functions: list[Function], compiler: str) -> list[cuda.Kernel]:
    """The kernels on device 0."""
    emit, build = COMPILERS[compiler]
    module = cuda.load(build(emit(functions), cuda.arch(0), "kernels"), 0)
    return [cuda.function(module, name) for name in cuda_c.kernel_names(functions)]


def run(kernel: cuda.Kernel, *arguments, blocks: int, threads: int = BLOCK) -> np.ndarray:
    """Launch over copies of the arrays; the last array's new values.

    Python ints are indices of 32 bits, NumPy scalars of one element are themselves.
    """
    codes, values, there = "", [], []
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            there.append(device_array.to_device(argument, 0))
            codes, values = f"{codes}P", [*values, there[-1].pointer]
        elif isinstance(argument, np.generic):
            codes += CODES[argument.dtype]
            values.append(argument.item())
        else:
            codes, values = f"{codes}i", [*values, argument]
    parameters = cuda.thread_parameters(codes)
    parameters.pack(*values)
    cuda.launch(kernel, (blocks, 1, 1), (threads, 1, 1), parameters)
    return there[-1].copy_to_host()


def kernel_of(lines: str, params: str, compiler: str, bits: int = 32) -> cuda.Kernel:
    body = textwrap.dedent(lines).strip()
    source = f"loop func @k({params}) facts {{index_bits = {bits}}} {{\n{body}\nreturn\n}}"
    return loaded([parse_function(source)], compiler)[0]


def results_of_rows(compiler: str) -> dict[str, np.ndarray]:
    """Every row over every combination of edge values."""
    cases = row_cases()
    found: dict[str, np.ndarray] = {}
    for case, kernel in zip(cases, loaded([row_kernel(*c) for c in cases], compiler), strict=True):
        operands = operand_arrays(*case)
        n = operands[0].size
        # Fewer threads than elements, so that some go round the loop.
        blocks, out = -(-n // (2 * BLOCK)), np.zeros(n, case[2].numpy)
        found[case_name(*case)] = run(kernel, *operands, out, n, blocks=blocks)
    return found


@pytest.fixture(scope="module")
def rows(a_gpu) -> dict[str, dict[str, np.ndarray]]:
    return {compiler: results_of_rows(compiler) for compiler in COMPILERS}


@both
def test_every_row_on_edge_values(rows, compiler):
    wrong: list[str] = []
    for case in row_cases():
        op, _, result = case
        operands = operand_arrays(*case)
        got, want = rows[compiler][case_name(*case)], answers(op, operands, result)
        assert got.shape == want.shape and got.size, case_name(*case)
        if op.exact:
            same = got.view(f"u{got.itemsize}") == want.view(f"u{want.itemsize}")
            if result.kind == "f":
                same |= np.isnan(got) & np.isnan(want)
        else:
            # The bound is against the true value, the comparison against its rounding.
            same = distance(got, want) <= op.ulp + 1
            same &= (got != 0) | (want != 0) | (np.signbit(got) == np.signbit(want))
        for k in np.flatnonzero(~same)[:3]:
            given = ", ".join(repr(a[k]) for a in operands)
            wrong.append(f"{case_name(*case)}({given}) is {got[k]!r}, not {want[k]!r}")
    assert not wrong, "\n".join(wrong)


def test_both_compilers_give_the_same_bits(rows):
    """Of the library's functions too: both compilers take them from libdevice."""
    for name, got in rows["nvvm"].items():
        assert_same_bits(got, rows["cuda_c"][name], name)


@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_the_sign_of_a_nan_is_a_bit_like_others(dtype):
    bits = np.uint32 if dtype == "f32" else np.uint64
    top = bits(1) << bits(8 * bits().itemsize - 1)
    nan = np.array([np.nan], f"f{bits().itemsize}").view(bits)[0]
    x = np.array([nan, nan | top, nan + bits(5), 0, top], bits)
    for row, want in (("negative", x ^ top), ("absolute", x & ~top), ("fabs", x & ~top)):
        lines = f"""
            %0 = thread_index : index
            %1 = load %x, %0 : {dtype}
            %2 = {row} %1 : {dtype}
            store %out, %0, %2
        """
        kernel = kernel_of(lines, f"%x: ptr {dtype}, %out: ptr {dtype}", "nvvm")
        assert np.array_equal(run(kernel, x, np.zeros_like(x), blocks=1, threads=5), want), row


def sign_of_negated(x):
    return np.signbit(-x)


def sign_of_absolute(x):
    return np.copysign(np.float32(3), np.abs(x))


def test_signs_that_numpy_sees():
    x = np.array([np.nan, -np.nan, 0.0, -0.0, 1.0, -np.inf], np.float32)
    for function in (sign_of_negated, sign_of_absolute):
        compiled = pytocu.jit(backend="nvvm")(function).lower("f32[n]").compile("cuda")
        assert np.array_equal(compiled(x), function(x)), function.__name__


@both
def test_multiplication_and_addition_stay_apart(compiler):
    lines = """
        %0 = const 0 : index
        %1 = const 1 : index
        for %0, %n, %1 {over = "grid"} (%i: index) {
          %2 = load %x, %i : f32
          %3 = load %y, %i : f32
          %4 = multiply %2, %3 : f32
          %5 = add %4, %2 : f32
          %6 = divide %5, %3 : f32
          %7 = absolute %6 : f32
          %8 = sqrt %7 : f32
          store %out, %i, %8
          yield
        }
    """
    kernel = kernel_of(lines, "%n: index, %x: ptr f32, %y: ptr f32, %out: ptr f32", compiler)
    rng = np.random.default_rng(5)
    x, y = (rng.integers(0, 2**32, 2**20, np.uint32).view(np.float32) for _ in range(2))
    made = run(kernel, x.size, x, y, np.zeros_like(x), blocks=100)
    with np.errstate(all="ignore"):
        assert_same_bits(made, np.sqrt(np.abs((x * y + x) / y)), "mixed")


@both
@pytest.mark.parametrize("dtype", COMPILED_DTYPES, ids=str)
def test_scalars_shared_memory_and_barriers(compiler, dtype: DType):
    """Each block reverses its part; the scalar replaces what the flag says."""
    lines = f"""
        %tile = shared {{size = 128}} : ptr shared {dtype}
        %0 = thread_index : index
        %1 = block_index : index
        %2 = const 128 : index
        %3 = multiply %1, %2 : index
        %4 = add %3, %0 : index
        %5 = load %x, %4 : {dtype}
        store %tile, %0, %5
        barrier
        %6 = const 127 : index
        %7 = subtract %6, %0 : index
        %8 = load %tile, %7 : {dtype}
        %9 = remainder_truncated %0, %n : index
        %10 = const 1 : index
        %11 = equal %9, %10 : bool
        %12 = bitwise_and %11, %flag : bool
        %13 = where %12, %value, %8 : {dtype}
        store %out, %4, %13
    """
    kernel = kernel_of(lines, f"%flag: bool, %n: index, %value: {dtype}, %x: ptr {dtype}, %out: ptr {dtype}", compiler)
    x = np.resize(edge_values(dtype), 3 * 128)
    value = edge_values(dtype)[1]
    want = x.reshape(3, 128)[:, ::-1].copy()
    assert_same_bits(run(kernel, np.False_, 5, value, x, np.zeros_like(x), blocks=3, threads=128), want.ravel(), "plain")
    want[:, 1::5] = value
    assert_same_bits(run(kernel, np.True_, 5, value, x, np.zeros_like(x), blocks=3, threads=128), want.ravel(), "replaced")


@both
@pytest.mark.parametrize("bits", [32, 64])
def test_loops_and_branches(compiler, bits):
    """Collatz steps of every second number, then Fibonacci sums that wrap."""
    lines = """
        %0 = const 0 : index
        %1 = const 1 : index
        %2 = const 2 : index
        %one = const 1 : i64
        %two = const 2 : i64
        %three = const 3 : i64
        %none = const 0 : i64
        for %1, %n, %2 {over = "grid"} (%i: index) {
          %3 = load %x, %i : i64
          %a, %steps = while %3, %none : i64, i64 (%v: i64, %c: i64) {
            %4 = greater %v, %one : bool
            yield %4, %v, %c
          } (%v: i64, %c: i64) {
            %5 = remainder_truncated %v, %two : i64
            %6 = equal %5, %none : bool
            %7 = if %6 : i64 () {
              %8 = divide_truncated %v, %two : i64
              yield %8
            } () {
              %9 = multiply %v, %three : i64
              %10 = add %9, %one : i64
              yield %10
            }
            %11 = add %c, %one : i64
            yield %7, %11
          }
          %p, %q = for %0, %i, %1, %steps, %a {over = "serial"} : i64, i64 (%j: index, %u: i64, %w: i64) {
            %12 = add %u, %w : i64
            yield %w, %12
          }
          %13 = subtract %p, %q : i64
          store %out, %i, %13
          yield
        }
    """
    kernel = kernel_of(lines, "%n: index, %x: ptr i64, %out: ptr i64", compiler, bits)
    x = np.arange(200, dtype=np.int64) + 3
    want = np.zeros_like(x)
    for i in range(1, x.size, 2):
        value, steps = int(x[i]), 0
        while value > 1:
            value, steps = (value // 2 if value % 2 == 0 else 3 * value + 1), steps + 1
        p, q = steps, value
        for _ in range(i):
            p, q = q, p + q
        # Modulo 2**64, as a signed number.
        want[i] = (p - q + 2**63) % 2**64 - 2**63
    n = x.size if bits == 32 else np.int64(x.size)
    assert np.array_equal(run(kernel, n, x, np.zeros_like(x), blocks=2, threads=32), want)


def test_any_byte_but_zero_is_true():
    lines = """
        %0 = thread_index : index
        %1 = load %x, %0 : bool
        %2 = invert %1 : bool
        store %out, %0, %2
    """
    kernel = kernel_of(lines, "%x: ptr bool, %out: ptr bool", "nvvm")
    x = np.array([0, 1, 2, 255], np.uint8)
    assert run(kernel, x, np.full(4, 9, np.uint8), blocks=1, threads=4).tolist() == [1, 0, 0, 0]


def shade(points, mask, scale):
    return np.where(mask, np.maximum(points, scale) * scale, points // 3 + 1)


def test_jit_runs_with_either_backend():
    rng = np.random.default_rng(3)
    points = rng.standard_normal((1000, 3)).astype(np.float32)
    mask = rng.random((1000, 1)) < 0.5
    for backend in ("cuda_c", "nvvm"):
        compiled = pytocu.jit(backend=backend)(shade).lower("f32[n, 3]", "bool[n, 1]", "f32").compile("cuda")
        assert compiled.backend == backend
        assert_same_bits(compiled(points, mask, np.float32(0.5)), shade(points, mask, np.float32(0.5)), backend)
