"""NVVM IR text, and PTX and cubins of it, with no GPU, no header and no CUDA toolkit.

What operations on constants give is read from the PTX: libNVVM folds them as a GPU would
compute them.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import pytocu
from pytocu.errors import BackendError, InternalError
from pytocu.ir.builder import Builder
from pytocu.ir.core import Function
from pytocu.ir.parser import parse_function
from pytocu.ir.types import COMPILED_DTYPES, F32, F64, I64, INDEX, DType, PointerType, scalar

pytest.importorskip("cuda.bindings.nvvm", reason="needs cuda-python: pip install 'pytocu[cu13]'")
from nan_constant_tools import FUNCTIONS
from test_backend_cuda_c import (
    assert_same_bits,
    case_name,
    constant_kernel,
    edge_values,
    expected,
    is_folded,
    operand_arrays,
    ptx_of,
    row_cases,
    row_kernel,
)

from pytocu.backend import cuda_c, libraries, nvrtc, nvvm

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GENERATIONS = ("sm_75", "sm_90", "sm_100", nvvm.supported_archs()[-1])
BOTH = ("sm_90", "sm_100")
"""An architecture of each of the two LLVMs inside libNVVM."""

PARAMS = "%x: ptr f32, %out: ptr f32, %n: index"


def function_of(lines: str, params: str = PARAMS, bits: int = 32, facts: str = "") -> Function:
    body = textwrap.dedent(lines).strip()
    return parse_function(f"loop func @k({params}) facts {{index_bits = {bits}{facts}}} {{\n{body}\nreturn\n}}")


def body_of(lines: str, params: str = PARAMS, bits: int = 32) -> str:
    """The instructions of a kernel, which builds for both LLVMs."""
    text = nvvm.emit([function_of(lines, params, bits)])
    for arch in BOTH:
        nvvm.build(text, arch, "k")
    lines = text[text.index("entry:\n") + 7 : text.index("  ret void")].splitlines()
    return "\n".join(line.removeprefix("  ") for line in lines)


def ptx(lines: str, arch: str, params: str = PARAMS, bits: int = 32, facts: str = "") -> str:
    return nvvm.ptx(nvvm.emit([function_of(lines, params, bits, facts)]), arch, "k")


def folded(text: str, dtype: DType) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """What each kernel of constants stores, by its name, and which of it libNVVM has computed."""
    found: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for name, body in re.findall(r"\.entry (\w+)\(.*?\{(.*?)\n\}", text, re.DOTALL):
        registers: dict[str, int] = {}
        cells: dict[int, int | None] = {}
        for line in body.splitlines():
            if move := re.match(r"\s*mov\.\w+\s+(%\w+), (-?\d+);", line):
                registers[move[1]] = int(move[2])
            elif store := re.match(r"\s*st\.global\.\w+\s+\[%\w+(?:\+(\d+))?\], (%\w+|-?\d+);", line):
                value = registers.get(store[2]) if store[2].startswith("%") else int(store[2])
                cells[int(store[1] or 0) // dtype.itemsize] = value
        mask = (1 << dtype.bits) - 1
        values = [cells[k] for k in range(len(cells))]
        raw = np.array([(v or 0) & mask for v in values], f"u{dtype.itemsize}")
        found[name] = raw.view(dtype.numpy), np.array([v is not None for v in values])
    return found


# Text.


def test_mask_out():
    text = nvvm.emit(
        [
            parse_function("""
        loop func @mask(%points: ptr f32, %mask: ptr bool, %out: ptr f32, %n: index) facts {index_bits = 32, block = 256} {
          %0 = const 0 : index
          %1 = const 1 : index
          %2 = const 3 : index
          %3 = multiply %n, %2 : index
          for %0, %3, %1 {over = "grid"} (%i: index) {
            %i0 = divide_truncated %i, %2 : index
            %4 = load %mask, %i0 : bool
            %5 = const inf : f32
            %6 = load %points, %i : f32
            %7 = where %4, %5, %6 : f32
            store %out, %i, %7
            yield
          }
          return
        }
    """)
        ]
    )
    head, _, body = text.partition("\n\n")
    assert head.startswith('; straight\ntarget datalayout = "e-p:64:64:64-')
    assert head.endswith('target triple = "nvptx64-nvidia-cuda"')
    assert body == textwrap.dedent("""\
        define void @mask(float addrspace(1)* noalias readonly %points, i8 addrspace(1)* noalias readonly %mask, \
float addrspace(1)* noalias %out, i32 %n) nounwind {
        entry:
          %v = mul nsw i32 %n, 3
          %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
          %ctaid = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
          %ntid = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
          %nctaid = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
          %before = mul nuw nsw i32 %ctaid, %ntid
          %thread = add nuw nsw i32 %before, %tid
          %threads = mul nuw nsw i32 %nctaid, %ntid
          br label %loop
        loop:
          %i = phi i32 [ %thread, %entry ], [ %next, %body ]
          %more = icmp slt i32 %i, %v
          br i1 %more, label %body, label %done
        body:
          %upper = call i32 @llvm.nvvm.mulhi.ui(i32 %i, i32 1431655766)
          %at = getelementptr i8, i8 addrspace(1)* %mask, i32 %upper
          %v.1 = load i8, i8 addrspace(1)* %at, align 1, !invariant.load !99999
          %v.2 = icmp ne i8 %v.1, 0
          %at.1 = getelementptr float, float addrspace(1)* %points, i32 %i
          %v.3 = load float, float addrspace(1)* %at.1, align 4, !invariant.load !99999
          %v.4 = select i1 %v.2, float 0x7FF0000000000000, float %v.3
          %at.2 = getelementptr float, float addrspace(1)* %out, i32 %i
          store float %v.4, float addrspace(1)* %at.2, align 4
          %next = add i32 %i, %threads
          br label %loop
        done:
          ret void
        }

        !99999 = !{}
        declare i32 @llvm.nvvm.mulhi.ui(i32, i32)
        declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
        declare i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
        declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
        declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()

        @llvm.used = appending global [1 x i8*] \
[i8* bitcast (void (float addrspace(1)*, i8 addrspace(1)*, float addrspace(1)*, i32)* @mask to i8*)], section "llvm.metadata"

        !nvvm.annotations = !{!0, !1}
        !nvvmir.version = !{!2}
        !0 = !{void (float addrspace(1)*, i8 addrspace(1)*, float addrspace(1)*, i32)* @mask, !"kernel", i32 1}
        !1 = !{void (float addrspace(1)*, i8 addrspace(1)*, float addrspace(1)*, i32)* @mask, !"maxntidx", i32 256}
        !2 = !{i32 2, i32 0}
    """)
    for arch in GENERATIONS:
        assert b".text.mask" in nvvm.build(text, arch, "mask")


def test_wide_indices_step_and_lower_bound():
    text = body_of(
        """
        %0 = const 7 : index
        %1 = const 2 : index
        for %0, %n, %1 {over = "grid"} (%i: index) {
          %2 = load %x, %i : f32
          store %out, %i, %2
          yield
        }
        """,
        bits=64,
    )
    assert text[: text.index("body:")] == textwrap.dedent("""\
        %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
        %wide = zext i32 %tid to i64
        %ctaid = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
        %wide.1 = zext i32 %ctaid to i64
        %ntid = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
        %wide.2 = zext i32 %ntid to i64
        %nctaid = call i32 @llvm.nvvm.read.ptx.sreg.nctaid.x()
        %wide.3 = zext i32 %nctaid to i64
        %before = mul nuw nsw i64 %wide.1, %wide.2
        %thread = add nuw nsw i64 %before, %wide
        %threads = mul nuw nsw i64 %wide.3, %wide.2
        %offset = mul nsw i64 %thread, 2
        %stride = mul nsw i64 %threads, 2
        %first = add nsw i64 7, %offset
        br label %loop
        loop:
        %i = phi i64 [ %first, %entry ], [ %next, %body ]
        %more = icmp slt i64 %i, %n
        br i1 %more, label %body, label %done
    """)


def test_threads_shared_memory_and_barriers():
    text = body_of(
        """
        %tile = shared {size = 128} : ptr shared f32
        %flags = shared {size = 128} : ptr shared bool
        %0 = thread_index : index
        %1 = block_index : index
        %2 = const 128 : index
        %3 = multiply %1, %2 : index
        %4 = add %3, %0 : index
        %5 = load %x, %4 : f32
        store %tile, %0, %5
        %6 = not_equal %5, %5 : bool
        store %flags, %0, %6
        barrier
        %7 = const 127 : index
        %8 = subtract %7, %0 : index
        %9 = load %tile, %8 : f32
        store %out, %0, %9
        """
    )
    tile = "float addrspace(3)* getelementptr inbounds ([128 x float], [128 x float] addrspace(3)* @k$tile, i32 0, i32 0)"
    assert f"%at.1 = getelementptr inbounds float, {tile}, i32 %tid" in text
    assert "store float %v.2, float addrspace(3)* %at.1, align 4" in text
    assert "store i8 %v.4, i8 addrspace(3)* %at.2, align 1\ncall void @llvm.nvvm.barrier0()" in text
    assert "load float, float addrspace(3)* %at.3, align 4" in text


def test_two_kernels_have_shared_memory_of_their_own():
    lines = """
        %tile = shared {size = 4} : ptr shared f64
        %0 = thread_index : index
        %1 = load %tile, %0 : f64
        store %out, %0, %1
    """
    functions = [function_of(lines, "%out: ptr f64") for _ in range(2)]
    text = nvvm.emit(functions)
    assert "@k$tile = internal addrspace(3)" in text and "@k_1$tile = internal addrspace(3)" in text
    for arch in BOTH:
        assert all(f".text.{name}".encode() in nvvm.build(text, arch, "two") for name in ("k", "k_1"))


def test_loops_branches_and_swaps():
    text = body_of("""
        %0 = const 0.0 : f32
        %1 = const 1.0 : f32
        %zero = const 0 : index
        %one = const 1 : index
        %a, %b = for %zero, %n, %one, %0, %1 {over = "serial"} : f32, f32 (%j: index, %p: f32, %q: f32) {
          %2 = load %x, %j : f32
          %3 = less %2, %0 : bool
          %4 = if %3 : f32 () {
            %5 = negative %p : f32
            yield %5
          } () {
            yield %2
          }
          yield %q, %4
        }
        %c = while %a : f32 (%w: f32) {
          %6 = less %w, %b : bool
          yield %6, %w
        } (%w: f32) {
          %7 = add %w, %1 : f32
          yield %7
        }
        store %out, %zero, %c
    """)
    assert "%p = phi float [ 0x0000000000000000, %entry ], [ %q, %join ]" in text
    assert "%q = phi float [ 0x3FF0000000000000, %entry ], [ %v.5, %join ]" in text
    assert "%v.5 = phi float [ %v.4, %then ], [ %v, %else ]" in text
    assert "%w = phi float [ %p, %done ], [ %v.7, %body.1 ]" in text


def test_vectors():
    lines = """
        %0 = const 0 : index
        %1 = load %x, %0 : <4 x f32>
        %2 = sqrt %1 : <4 x f32>
        %3 = fabs %2 : <4 x f32>
        %4 = negative %3 : <4 x f32>
        %5 = exp %4 : <4 x f32>
        store %out, %0, %5
    """
    text = body_of(lines)
    assert "load <4 x float>, <4 x float>* %at.1, align 4" in text
    assert re.search(r"store <4 x float> %v\.\d+, <4 x float>\* %at\.3, align 4", text)
    assert text.count("call float @__nv_expf") == 4 and text.count("and <4 x i32>") == 1


def kernel_called(name: str) -> Function:
    b = Builder()
    out = b.param(PointerType(F32), "out")
    b.inst("store", (out, b.const(0, INDEX), b.const(1.0, scalar(F32))))
    b.inst("return")
    return b.function(name, "loop", (out,), (("index_bits", 32),))


def test_kernels_are_called_as_in_cuda_c():
    functions = [kernel_called(n) for n in ("<lambda>", "<lambda>", "sin", "double", "π", "__init__", "main", "9", "add")]
    for arch in BOTH:
        binary = nvvm.build(nvvm.emit(functions), arch, "names")
        assert all(f".text.{name}".encode() in binary for name in cuda_c.kernel_names(functions))


def test_values_may_have_any_name():
    b = Builder()
    out = b.param(PointerType(F32), "größe")
    for name in ("größe", "größe", "α", "日", "1st", "out", "x y", "entry", "loop", "float", "v"):
        value = b.emit("add", (b.const(1.0, scalar(F32)),) * 2, name=name)
        b.inst("store", (out, b.const(0, INDEX), value))
    b.inst("return")
    text = nvvm.emit([b.function("names", "loop", (out,), (("index_bits", 32),))])
    assert text.isascii()
    for arch in BOTH:
        nvvm.build(text, arch, "names")


@pytest.mark.parametrize("bits", [32, 64])
def test_parameters_lie_where_cuda_c_has_them(bits):
    scalars = ", ".join(f"%s{k}: {dtype}" for k, dtype in enumerate(COMPILED_DTYPES))
    stores = "\n".join(f"store %o{k}, %n, %s{k}" for k in range(len(COMPILED_DTYPES)))
    pointers = ", ".join(f"%o{k}: ptr {dtype}" for k, dtype in enumerate(COMPILED_DTYPES))
    function = function_of(stores, f"%flag: bool, {pointers}, {scalars}, %n: index", bits)

    def sizes(text: str) -> list[str]:
        # A newer LLVM says more of pointers; only sizes decide where a parameter lies.
        return re.findall(r"\.param \.[a-z](\d+)(?: \.ptr(?: \.global)? \.align \d+)? k_param", text)

    want = sizes(ptx_of(cuda_c.emit([function])))
    assert len(want) == len(function.params)
    for arch in BOTH:
        assert sizes(nvvm.ptx(nvvm.emit([function]), arch, "k")) == want


@pytest.mark.parametrize(
    ("lines", "error", "message"),
    [
        ("%1 = maximum %a, %a : f32", BackendError, "maximum .*LLVM spelling"),
        ("%1 = floor_divide %p, %p : i32", BackendError, "floor_divide .*LLVM spelling"),
        ('for %p0, %n, %p0 {over = "parallel"} (%i: index) {\nyield\n}', BackendError, 'GPU form: use "grid", "grid_rows"'),
        ("%t = load %l, %n : f32", BackendError, "a GPU has no local memory"),
    ],
)
def test_what_has_no_form_is_refused(lines, error, message):
    params = "%out: ptr f32, %n: index, %p0: index, %a: f32, %p: i32"
    if "%l" in lines:
        params += ", %l: ptr local f32"
    with pytest.raises(error, match=message):
        nvvm.emit([function_of(lines, params)])


def test_other_levels_are_refused():
    with pytest.raises(InternalError, match="array level"):
        nvvm.emit([parse_function("func @f(%x: f32[n]) {\n  return %x {tree = 0}\n}")])


# What the code computes.


@pytest.mark.parametrize("arch", BOTH)
def test_rows_on_constants_give_numpys_bits(arch):
    """Wrapping, conversions, comparisons: libNVVM folds them, and NumPy says what is right."""
    cases = [case for case in row_cases() if is_folded(case[0])]
    checked = 0
    for dtype in COMPILED_DTYPES:
        chosen = [c for c in cases if c[2] is dtype]
        arrays = {case_name(*c): [a[:: max(1, a.size // 40)] for a in operand_arrays(*c)] for c in chosen}
        functions = [constant_kernel(*c, arrays[case_name(*c)], case_name(*c)) for c in chosen]
        wide = I64 if dtype.is_integer else dtype
        got = folded(nvvm.ptx(nvvm.emit(functions), arch, "constants"), wide)
        for op, operands, result in chosen:
            name = case_name(op, operands, result)
            values, known = got[name]
            want = expected(op, arrays[name], result).astype(wide.numpy)
            assert_same_bits(values[known], want[known], name)
            # Infinities, NaNs and divisions by zero are left to the GPU; whole numbers never are.
            assert known.mean() > (0.5 if result.kind == "f" else 0.999), name
            checked += int(known.sum())
    assert checked > 5000


@pytest.mark.parametrize("dtype", [F32, F64])
def test_float_constants_keep_their_bits(dtype):
    rng = np.random.default_rng(1)
    random = rng.integers(0, 2**dtype.bits, 300, f"u{dtype.itemsize}", endpoint=False).view(dtype.numpy)
    values = np.concatenate([edge_values(dtype), random])
    b = Builder()
    out = b.param(PointerType(dtype), "out")
    for k, value in enumerate(values):
        b.inst("store", (out, b.const(k, INDEX), b.const(value, scalar(dtype))))
    b.inst("return")
    source = nvvm.emit([b.function("constants", "loop", (out,), (("index_bits", 32),))])
    for arch in BOTH:
        got, known = folded(nvvm.ptx(source, arch, "constants"), dtype)["constants"]
        assert known.all()
        assert_same_bits(got, values, f"{dtype} constants")


@pytest.fixture(scope="module")
def every_row() -> tuple[tuple[str, ...], str]:
    functions = [row_kernel(*case) for case in row_cases()]
    assert len(functions) > 250
    return cuda_c.kernel_names(functions), nvvm.emit(functions)


@pytest.mark.parametrize("arch", GENERATIONS)
def test_every_row_builds_for_every_generation(arch, every_row):
    names, source = every_row
    binary = nvvm.build(source, arch, "rows")
    assert binary[:4] == b"\x7fELF"
    assert all(f".text.{name}".encode() in binary for name in names)


@pytest.mark.parametrize("arch", BOTH)
def test_no_row_is_approximated_or_left_to_ptxas(arch, every_row):
    """`mul.f32` without a rounding may be fused with an addition by what turns PTX into code."""
    names, source = every_row
    text = nvvm.ptx(source, arch, "rows")
    assert ".extern" not in text
    exact = {case_name(*c) for c in row_cases() if c[0].exact}
    found = dict(re.findall(r"\.entry (\w+)\(.*?\{(.*?)\n\}", text, re.DOTALL))
    assert set(found) == set(names)
    for name, body in found.items():
        assert not re.search(r"\b(mul|add|sub|div|sqrt|fma)\.(ftz\.)?f(32|64)\b", body), name
        if name in exact and not name.startswith("fmod"):
            assert not re.search(r"\.ftz\b|\.approx\b", body), name
            assert name.startswith("fma") == ("fma.rn.f" in body), name


@pytest.mark.parametrize("arch", GENERATIONS)
def test_nothing_is_contracted(arch):
    lines = """
        %0 = const 0 : index
        %1 = multiply %a, %b : f32
        %2 = add %1, %a : f32
        %3 = divide %2, %b : f32
        %4 = sqrt %3 : f32
        store %out, %0, %4
    """
    text = ptx(lines, arch, "%out: ptr f32, %a: f32, %b: f32")
    assert "fma" not in text and ".ftz" not in text and ".approx" not in text
    assert all(word in text for word in ("mul.rn.f32", "add.rn.f32", "div.rn.f32", "sqrt.rn.f32"))


@pytest.mark.parametrize("arch", BOTH)
def test_contraction_when_asked_for(arch):
    fused = "%0 = const 0 : index\n%1 = fma %a, %b, %a : f32\nstore %out, %0, %1"
    assert "fma.rn.f32" in ptx(fused, arch, "%out: ptr f32, %a: f32, %b: f32")
    flags = '{fastmath = ("nnan", "ninf", "nsz", "arcp", "contract", "afn", "reassoc")}'
    fast = "\n".join(
        [
            "%0 = const 0 : index",
            f"%1 = divide %a, %b {flags} : f32",
            f"%2 = negative %1 {flags} : f32",
            f"%3 = fmod %2, %b {flags} : f32",
            f"%4 = less %2, %b {flags} : bool",
            f"%5 = where %4, %3, %a {flags} : f32",
            "store %out, %0, %5",
        ]
    )
    assert "st.global" in ptx(fast, arch, "%out: ptr f32, %a: f32, %b: f32")


@pytest.mark.parametrize("arch", BOTH)
def test_what_is_only_read_is_cached(arch):
    lines = """
        %0 = const 0 : index
        %1 = load %x, %0 : f32
        %2 = load %out, %0 : f32
        %3 = add %1, %2 : f32
        store %out, %0, %3
    """
    text = ptx(lines, arch, facts=", block = 192")
    assert text.count("ld.global.nc.") == 1 and len(re.findall(r"ld\.global\.[a-mo-z]", text)) == 1
    assert ".maxntid 192" in text


def test_signed_overflow_is_no_licence():
    """``p + 1 > p`` is false for the largest integer, and must not be folded to true."""
    lines = "%0 = const 0 : index\n%1 = const 1 : i32\n%2 = add %p, %1 : i32\n%3 = greater %2, %p : bool\nstore %out, %0, %3"
    for arch in BOTH:
        assert "setp" in ptx(lines, arch, "%out: ptr bool, %p: i32")


@pytest.mark.parametrize(("row", "how"), [("floor", "rmi"), ("ceil", "rpi"), ("trunc", "rzi"), ("rint", "rni")])
def test_roundings(row, how):
    for dtype in ("f32", "f64"):
        lines = f"%0 = const 0 : index\n%1 = {row} %a : {dtype}\nstore %out, %0, %1"
        for arch in BOTH:
            assert f"cvt.{how}.{dtype}.{dtype}" in ptx(lines, arch, f"%out: ptr {dtype}, %a: {dtype}")


def test_the_sign_of_a_nan_is_a_bit_like_others():
    """`neg` and `abs` leave open what they make of a NaN; integer operations do not."""
    for dtype in ("f32", "f64"):
        for row, instruction in (("negative", "xor"), ("absolute", "and"), ("fabs", "and")):
            lines = f"%0 = const 0 : index\n%1 = load %x, %0 : {dtype}\n%2 = {row} %1 : {dtype}\nstore %out, %0, %2"
            for arch in BOTH:
                text = ptx(lines, arch, f"%x: ptr {dtype}, %out: ptr {dtype}")
                assert f"{instruction}.b{dtype[1:]}" in text and "neg." not in text and "abs." not in text


# Building.


@pytest.mark.parametrize(
    ("arch", "call", "name"),
    [
        ("sm_90", "llvm.tanh.f32", r"llvm\S+tanh"),
        ("sm_90", "__nv_nothing", "__nv_nothing"),
        ("sm_100", "__nv_nothing", "__nv_nothing"),
        ("sm_100", "elsewhere", "elsewhere"),
    ],
)
def test_functions_nobody_defines_are_refused_by_name(arch, call, name):
    source = nvvm.emit([function_of("%0 = const 0 : index\n%1 = sin %a : f32\nstore %out, %0, %1", "%out: ptr f32, %a: f32")])
    with pytest.raises(BackendError, match=f"k calls what neither libNVVM nor libdevice has for {arch}: {name}"):
        nvvm.build(source.replace("__nv_sinf", call), arch, "k")


def test_a_module_without_a_layout_is_refused():
    source = nvvm.emit([kernel_called("k")])
    with pytest.raises(InternalError, match="data layout"):
        nvvm.build("\n".join(line for line in source.splitlines() if "datalayout" not in line), "sm_100", "k")


def test_a_refused_source_shows_the_log():
    source = nvvm.emit([kernel_called("shade")]).replace("store float", "nonsense")
    for arch in BOTH:
        with pytest.raises(
            BackendError, match=r"(?s)libNVVM refused shade .*defect of pytocu.*shade \(\d+, \d+\).*\| .*nonsense"
        ):
            nvvm.build(source, arch, "shade")


def test_what_nvjitlink_refuses_shows_the_log(monkeypatch):
    source = nvvm.emit([kernel_called("shade")])
    monkeypatch.setattr(nvvm, "_compiled", lambda *arguments: b"nothing")
    with pytest.raises(BackendError, match=r"(?s)nvJitLink refused shade for sm_90.*defect of pytocu:.*bad input"):
        nvvm.build(source, "sm_90", "shade")


def test_an_option_that_libnvvm_refuses():
    with pytest.raises(BackendError, match="-fmad=false"):
        nvvm.build(nvvm.emit([kernel_called("k")]), "sm_90", "k", options=["-fmad=false"])


def test_architectures():
    source = nvvm.emit([kernel_called("k")])
    assert {"sm_75", "sm_90", "sm_100"} <= set(nvvm.supported_archs())
    assert nvvm.supported_archs() == nvrtc.supported_archs()
    assert nvvm.check_arch("sm_90a") == "sm_90a" and nvvm.check_arch("sm_100f") == "sm_100f"
    for bad in ("sm_33", "90", "compute_90", "sm_90 --x", "sm_90\n", "", "sm_90f"):
        for use in (nvvm.check_arch, lambda arch: nvvm.build(source, arch, "k")):
            with pytest.raises(BackendError, match=r"(write one of|it compiles for|it has for) .*sm_90") as caught:
                use(bad)
            assert "defect" not in str(caught.value)
    assert nvvm.build(source, "sm_90a", "k")[:4] == b"\x7fELF"


def test_builds_without_path_or_home():
    script = textwrap.dedent("""
        import sys
        from pytocu.backend import nvvm
        from pytocu.ir.parser import parse_function
        lines = "%0 = const 0 : index\\n%1 = exp %a : f32\\nstore %out, %0, %1\\nreturn"
        function = parse_function(f"loop func @k(%out: ptr f32, %a: f32) facts {{index_bits = 32}} {{\\n{lines}\\n}}")
        for arch in ("sm_90", "sm_100"):
            assert nvvm.build(nvvm.emit([function]), arch, "k")[:4] == b"\\x7fELF"
        assert not {"cuda", "cuda.bindings", "cuda.pathfinder", "llvmlite"} & set(sys.modules)
        print("built", nvvm.version())
    """)
    environment = {"PATH": "", "PYTHONPATH": ROOT}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("built (")


def test_importing_the_backend_imports_no_cuda():
    script = "import sys, pytocu.backend.nvvm; print([m for m in sys.modules if m.startswith(('cuda.', 'llvmlite'))])"
    done = subprocess.run([sys.executable, "-c", script], env={"PYTHONPATH": ROOT}, capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]", done.stderr


def test_missing_packages_name_the_command(monkeypatch):
    source = nvvm.emit([function_of("%0 = const 0 : index\n%1 = exp %a : f32\nstore %out, %0, %1", "%out: ptr f32, %a: f32")])
    command = r"pip install 'pytocu\[cu13\]'"
    for name in ("libdevice", "nvJitLink"):
        nvvm._device_library.cache_clear()
        libraries.library.cache_clear()
        with monkeypatch.context() as patch:
            patch.setitem(libraries._PLACES, name, ())
            for absent in ("find_bitcode_lib", "load_nvidia_dynamic_lib"):
                patch.setattr(f"cuda.pathfinder.{absent}", _absent)
            with pytest.raises(BackendError, match=f"{name} was not found .nowhere to be seen.: {command}"):
                nvvm.build(source, "sm_90", "k")
            patch.setitem(sys.modules, "cuda", None)
            with pytest.raises(BackendError, match=f"{name} was not found .*: {command}"):
                nvvm.build(source, "sm_90", "k")
    assert nvvm.build(source, "sm_90", "k")[:4] == b"\x7fELF"


def _absent(*arguments):
    raise RuntimeError("nowhere to be seen\nand more")


def test_many_threads_build_at_once():
    cases = [c for c in row_cases() if c[2] in (F32, F64) and c[0].name != "convert_raw"]
    work = [(nvvm.emit([row_kernel(*c)]), arch) for c in cases[:8] for arch in BOTH]
    alone = [nvvm.build(source, arch, "k") for source, arch in work]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda item: nvvm.build(*item, "k"), work * 2))
    assert together == alone * 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_builds_while_a_thread_links():
    script = textwrap.dedent("""
        import os, sys, warnings
        warnings.simplefilter("ignore")
        from pytocu.backend import nvvm
        from pytocu.ir.parser import parse_function
        function = parse_function("loop func @k(%out: ptr f32) facts {index_bits = 32} {\\nreturn\\n}")
        source = nvvm.emit([function])
        nvvm.build(source, "sm_90", "k")
        with nvvm._link_lock:
            child = os.fork()
            if not child:
                os._exit(0 if nvvm.build(source, "sm_90", "k")[:4] == b"\\x7fELF" else 1)
        sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """)
    done = subprocess.run([sys.executable, "-c", script], env={"PYTHONPATH": ROOT}, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


# The whole road.


def shade(points, mask, scale):
    return np.where(mask, np.sinh(points) * scale, points // 3 + 1)


def test_the_driver_builds_with_either_backend():
    lowered = pytocu.jit(shade).lower("f32[n, 3]", "bool[n, 1]", "f32")
    for arch in BOTH:
        made = lowered.compile(f"cuda:{arch}", backend="nvvm")
        assert made.source.startswith("target datalayout") and "__nv_sinhf" in made.source
        assert made.binary[:4] == b"\x7fELF" and b".text.shade" in made.binary
    other = lowered.compile("cuda:sm_90", backend="cuda_c")
    assert "__global__" in other.source and [k.ir for k in other.kernels] == [k.ir for k in made.kernels]
    chosen = pytocu.jit(backend="nvvm")(shade).lower("f32[n, 3]", "bool[n, 1]", "f32").compile("cuda:sm_90")
    assert chosen.backend == "nvvm"
    with pytest.raises(BackendError, match="choose from nvvm, cuda_c"):
        lowered.compile("cuda:sm_90", backend="llvm")


@pytest.mark.parametrize("shape", ["f32[n, 8]", "f32[n, 100_000]", "f32[n, m]"])
@pytest.mark.parametrize("arch", BOTH)
def test_loops_that_take_several_shares_at_a_time_are_not_unrolled_again(shape, arch):
    lowered = pytocu.jit(lambda x: np.sqrt((x * x).sum(axis=1))).lower(shape)
    text = lowered.compile(f"cuda:{arch}", backend="nvvm").source
    loads = len(re.findall(r" = load (?!.*addrspace\(3\))", text)) + text.count(" ld.global")
    assert loads > 1 and nvvm.ptx(text, arch, "norms").count("ld.global") <= loads
    code = lowered.compile(f"cuda:{arch}", backend="cuda_c").source
    assert nvrtc.ptx(code, arch, "norms").count("ld.global") <= loads


def test_a_negation_is_part_of_the_arithmetic_that_takes_it() -> None:
    """Where the sign of a NaN is seen it is the bit that is changed."""
    seen = {
        lambda x, y: -x: True,
        lambda x, y: np.copysign(y, -x): True,
        lambda x, y: np.signbit(-x): True,
        lambda x, y: np.exp(-x): False,
        lambda x, y: y - 1 / -x: False,
    }
    for function, is_seen in seen.items():
        text = pytocu.jit(function).lower("f32[n]", "f32[n]").compile("cuda:sm_90").source
        assert (" = xor i32 " in text) == is_seen
        assert ("fsub float 0x8000000000000000" in text) != is_seen


def test_a_value_that_is_used_before_it_is_made_is_found() -> None:
    text = nvvm.emit([parse_function(STORED)])
    wrong = text.replace("  store", "  %early = add i32 %late, 1\n  %late = add i32 %early, 1\n  store", 1)
    assert nvvm.build(text, "sm_90", "stored")
    with pytest.raises(BackendError, match="does not dominate"):
        nvvm.build(wrong, "sm_90", "stored")


STORED = """loop func @stored(%x: ptr i32) facts {index_bits = 32} {
  %0 = const 0 : index
  %1 = const 7 : i32
  store %x, %0, %1
  return
}"""


@pytest.mark.parametrize("backend", ["cuda_c", "nvvm"])
@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name.startswith("isnan")])
def test_a_constant_that_is_nan_is_not_equal_to_itself(name: str, backend: str) -> None:
    """What is compared with itself is computed, or known to be NaN: sums of 0 and 1 alone would say that it is a number."""
    source = pytocu.jit(FUNCTIONS[name]).lower("u16[n]").compile("cuda:sm_90", backend).source
    text = (nvvm if backend == "nvvm" else nvrtc).ptx(source, "sm_90", "k")
    text = text.decode() if isinstance(text, bytes) else text
    assert "setp.nan" in text or "setp.gtu" in text, text


@pytest.mark.parametrize("backend", ["cuda_c", "nvvm"])
def test_a_constant_that_is_nan_keeps_its_sign(backend: str) -> None:
    compiled = pytocu.jit(lambda x: np.where(x > 3, -np.nan, x)).lower("f64[n]").compile("cuda:sm_90", backend)
    text = (nvvm if backend == "nvvm" else nvrtc).ptx(compiled.source, "sm_90", "k")
    text = text.decode() if isinstance(text, bytes) else text
    assert "0dFFF8000000000000" in text, text


def test_an_address_of_several_accesses_is_computed_once():
    text = body_of("""
        %two = const 2 : index
        %i = add %n, %two : index
        %j = add %i, %two : index
        %a = load %x, %i : f32
        %b = load %x, %j : f32
        %c = add %a, %b : f32
        store %out, %j, %c
    """)
    addresses = [line.partition(" = ")[2] for line in text.splitlines() if "getelementptr" in line]
    x, out = ("float, float addrspace(1)* " + name for name in ("%x, i32 %n", "%out, i32 %n"))
    assert addresses == [
        f"getelementptr {x}",
        "getelementptr float, float addrspace(1)* %at, i32 2",
        "getelementptr float, float addrspace(1)* %at, i32 4",
        f"getelementptr {out}",
        "getelementptr float, float addrspace(1)* %at.3, i32 4",
    ]


def test_an_address_of_a_branch_is_not_there_behind_it():
    text = body_of("""
        %a = const true : bool
        %zero = const 0.0 : f32
        %v = if %a : f32 () {
          %b = load %x, %n : f32
          yield %b
        } {
          yield %zero
        }
        %c = load %x, %n : f32
        %d = add %c, %v : f32
        store %out, %n, %d
    """)
    assert text.count("float addrspace(1)* %x, i32 %n") == 2


STRAIGHT = {
    "elements": (lambda x, y: 2 * x + y, True),
    "division of positions": (lambda x, y: x.reshape(-1, 5) * y[:5], True),
    "a sum": (lambda x, y: x.sum(keepdims=True), True),
    "a library function in rows": (lambda x, y: np.exp(x.reshape(1, 40)).sum(axis=1), True),
    "truth values of rows": (lambda x, y: (x > 0).any(keepdims=True), False),
    "columns": (lambda x, y: x.reshape(8, 5).sum(axis=0), False),
    "rows of float16": (lambda x, y: x.astype(np.float16).sum(keepdims=True), False),
    "a stencil": (lambda x, y: np.diff(x.reshape(8, 5), axis=0) * y[:5], True),
    "a function of libdevice": (lambda x, y: np.exp(x) + y, False),
    "float16": (lambda x, y: np.float16(x) + np.float16(y), False),
}


@pytest.mark.parametrize("name", STRAIGHT)
def test_straight_code_is_not_optimised(name):
    function, straight = STRAIGHT[name]
    compiled = pytocu.jit(function, backend="nvvm").lower(*(np.ones(40, np.float32),) * 2).compile("cuda:sm_90")
    assert compiled.source.startswith("; straight\n") == straight
    # The newer LLVM optimises all.
    assert nvvm._level(compiled.source, "sm_90") == (("-Xnvvm=-opt=0",) if straight else ())
    assert nvvm._level(compiled.source, "sm_100a") == ()


@pytest.mark.parametrize("arch", ["sm_75", *BOTH])
@pytest.mark.parametrize("dtype", ["bool", "i8", "u16", "i32", "u64", "f16", "f32", "f64", "c64", "c128"])
def test_shares_of_a_row_are_accesses_with_a_predicate(dtype, arch):
    """Between branches a register would be copied, for which the next load waits."""

    def centred(x):
        return x != x.max(axis=1, keepdims=True) if x.dtype == bool else x - x.max(axis=1, keepdims=True)

    for shape in ("n, 1024", "n, 1023", "n, m"):
        compiled = pytocu.jit(centred, backend="nvvm").lower(f"{dtype}[{shape}]").compile(f"cuda:{arch}")
        made = nvvm.ptx(compiled.source, arch, "centred")
        assert "@p ld.global.nc." in made and "@p st.global." in made
        assert shape != "n, 1024" or dtype == "c128" or re.search(r"@p ld\.global\.nc\.v[24]\.", made)
        assert nvvm.build(compiled.source, arch, "centred")


def test_shares_of_a_row_that_the_kernel_before_may_write_are_read_in_order():
    """What reads them stays behind the wait, and not in the cache of what nobody writes."""

    def norms(x):
        y = x - x.mean(axis=0)
        return y / np.sqrt((y * y).sum(axis=1, keepdims=True))

    text = pytocu.jit(norms, backend="nvvm").lower("f32[n, 1024]").compile("cuda:sm_90").source
    kernels = [kernel for kernel in text.split("define void @")[1:] if "griddepcontrol.wait" in kernel]
    reads = [line for kernel in kernels for line in kernel.splitlines() if "p ld.global" in line]
    assert reads and all("asm sideeffect" in line and "~{memory}" in line and "ld.global.nc" not in line for line in reads)


def test_rows_of_integers_are_optimised():
    for dtype in ("i8", "u16", "i32", "i64", "bool"):
        compiled = pytocu.jit(lambda x: x.max(axis=1), backend="nvvm").lower(f"{dtype}[n, 1024]").compile("cuda:sm_90")
        assert not compiled.source.startswith("; straight\n")


def test_rows_of_a_thread_are_optimised():
    def across(u):
        return u[1:-1, 1:-1] + u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2]

    compiled = pytocu.jit(across, backend="nvvm").lower("f32[n, m]").compile("cuda:sm_90")
    assert "addrspace(1)" not in compiled.source and not compiled.source.startswith("; straight\n")


def test_vectors_are_divided_by_constants():
    text = body_of("""
        %0 = const 0 : index
        %1 = load %x, %0 : <4 x i32>
        %2 = const 3 : <4 x i32>
        %3 = divide_truncated %1, %2 : <4 x i32>
        store %out, %0, %3
    """, "%x: ptr i32, %out: ptr i32, %n: index")  # fmt: skip
    assert "sdiv <4 x i32>" in text
