"""CUDA C text, and cubins of it, with no GPU, no header and no host compiler.

What integer and floating operations on constants give is read from the code NVRTC makes of
them: it folds them as a GPU would compute them.
"""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import pytocu
from pytocu.errors import UNKNOWN, BackendError, InternalError, Loc
from pytocu.ir import infer
from pytocu.ir.builder import Builder
from pytocu.ir.core import OPS, Block, Function, Op
from pytocu.ir.ops import HALF_ROWS, spelled
from pytocu.ir.parser import parse_function
from pytocu.ir.types import BOOL, COMPILED_DTYPES, F16, F32, F64, I8, I32, I64, INDEX, U16, U32, DType, PointerType, scalar

pytest.importorskip("cuda.bindings.nvrtc", reason="needs cuda-python: pip install 'pytocu[cu13]'")
from pytocu.backend import c_expressions, cuda_c, libraries, nvrtc

# Kernels of single rows.  The GPU tests run these too.


HALVES = {f"half_{name}": name for name in HALF_ROWS}
"""Rows of the bits of float16 numbers, and those of the numbers."""


HIDDEN = {"hidden_single": F32, "hidden_double": F64, "hidden_word": I32, "hidden_long": I64}
"""What compilers are not shown."""


def row_cases() -> list[tuple[Op, tuple[DType, ...], DType]]:
    """Every primitive row over every dtype it is spelled for: operand dtypes and result dtype."""
    cases = []
    for op in OPS.values():
        if op.name == "convert_raw":
            cases += [(op, (a,), b) for a in COMPILED_DTYPES for b in COMPILED_DTYPES if b is not BOOL]
        elif op.name == "bitcast":
            numbers = [d for d in COMPILED_DTYPES if d is not BOOL]
            cases += [(op, (a,), b) for a in numbers for b in numbers if a.bits == b.bits]
        elif op.name in HALVES:
            cases.append((op, (U16, U16), BOOL if op.infer is infer.truth else U16))
        elif op.name.startswith("near_"):
            dtype = F64 if op.name == "near_double_reciprocal" else F32
            cases.append((op, (dtype,), dtype))
        elif op.name.startswith("hidden_"):
            hidden = HIDDEN[op.name]
            cases.append((op, (hidden,), hidden))
        elif op.name == "half_to_float":
            cases.append((op, (U16,), F32))
        elif op.name == "float_to_half":
            cases.append((op, (F32,), U16))
        elif op.name == "to_short":
            cases += [(op, (wide,), U16) for wide in (I32, U32)]
        elif op.kind == "elementwise" and op.primitive:
            assert op.arity is not None
            for dtype in COMPILED_DTYPES:
                if spelled(op, dtype.kind):
                    operands = (BOOL, dtype, dtype) if op.name == "where" else (dtype,) * op.arity
                    result = BOOL if op.llvm.startswith("cmp") else dtype
                    cases.append((op, operands, result))
    return cases


def case_name(op: Op, operands: tuple[DType, ...], result: DType) -> str:
    return "_".join((op.name, *map(str, operands), str(result)))


def row_kernel(op: Op, operands: tuple[DType, ...], result: DType) -> Function:
    """``out[i] = op(a0[i], a1[i], ...)`` over a grid."""
    b = Builder()
    pointers = [b.param(PointerType(d), f"a{n}") for n, d in enumerate(operands)]
    out, n = b.param(PointerType(result), "out"), b.param(INDEX, "n")
    zero, one = b.const(0, INDEX), b.const(1, INDEX)
    i = b.param(INDEX, "i")
    with b.nested() as body:
        values = [b.emit("load", (p, i)) for p in pointers]
        b.inst("store", (out, i, b.emit(op, values, {}, (scalar(result),))))
        b.inst("yield")
    b.inst("for", (zero, n, one), {"over": "grid"}, (), (Block((i,), tuple(body)),))
    b.inst("return")
    return b.function(case_name(op, operands, result), "loop", (*pointers, out, n), (("index_bits", 32),))


def edge_values(dtype: DType) -> np.ndarray:
    """Numbers at which operations go wrong."""
    if dtype is BOOL:
        return np.array([False, True])
    if dtype.is_integer:
        info = np.iinfo(dtype.numpy)
        found = {0, 1, 2, 3, 7, 100, info.max, info.max - 1, info.min, info.min + 1, info.max // 2 + 1, info.max // 3}
        if dtype.kind == "i":
            found |= {-1, -2, -7, -100}
        return np.array(sorted(found), dtype.numpy)
    info = np.finfo(dtype.numpy)
    tiny, sub = float(info.tiny), float(info.smallest_subnormal)
    numbers = [0.0, sub, tiny, 0.1, 0.5, 1.0, 1.5, 2.5, math.pi, 1e10, float(info.max), math.inf]
    return np.array([*numbers, *(-x for x in numbers), math.nan], dtype.numpy)


def operand_arrays(op: Op, operands: tuple[DType, ...], result: DType) -> list[np.ndarray]:
    """Every combination of edge values on which the row is defined."""
    grids = np.meshgrid(*(edge_values(d) for d in operands), indexing="ij")
    arrays = [g.ravel() for g in grids]
    if op.name in HALVES:
        arrays = [g.ravel() for g in np.meshgrid(edge_values(F16), edge_values(F16), indexing="ij")]
        with np.errstate(all="ignore"):
            made = getattr(np, HALVES[op.name])(*arrays)
        # Which NaN comes out is the processor's choice.
        keep = ~np.isnan(made)
        return [np.ascontiguousarray(a[keep]).view(np.uint16) for a in arrays]
    if op.name.startswith("near_"):
        return [edge_values(F16).astype(operands[0].numpy)]
    keep = np.ones(arrays[0].shape, bool)
    if op.name in ("divide_truncated", "remainder_truncated"):
        keep = arrays[1] != 0
        if operands[0].kind == "i":
            keep &= (arrays[0] != np.iinfo(operands[0].numpy).min) | (arrays[1] != -1)
    elif op.name in ("shift_left_raw", "shift_right_raw"):
        count = np.arange(arrays[1].size) % operands[1].bits
        arrays[1] = count.astype(operands[1].numpy)
    elif op.name in ("half_to_float", "float_to_half"):
        # Which NaN comes out is the processor's choice.
        number = arrays[0].view(np.float16) if op.name == "half_to_float" else arrays[0]
        keep = ~np.isnan(number)
    elif op.name == "convert_raw" and operands[0].kind == "f" and result.kind in "iu":
        info = np.iinfo(result.numpy)
        # One below the lowest still truncates into range, where a float tells it apart.
        below = arrays[0].astype(np.float64) > float(info.min) - 1
        keep = (below | (arrays[0] == float(info.min))) & (arrays[0] < float(info.max) + 1)
    return [np.ascontiguousarray(a[keep]) for a in arrays]


def expected(op: Op, arrays: list[np.ndarray], result: DType) -> np.ndarray:
    """NumPy's answer."""
    with np.errstate(all="ignore"):
        match op.name:
            case "divide_truncated":
                x, y = (a.astype(object) for a in arrays)
                quotient = [abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) for a, b in zip(x, y, strict=True)]
                return np.array(quotient, result.numpy)
            case "remainder_truncated":
                return np.fmod(*arrays)
            case "shift_left_raw":
                return np.left_shift(*arrays)
            case "shift_right_raw":
                return np.right_shift(*arrays)
            case "convert_raw":
                return arrays[0].astype(result.numpy)
            case "bitcast":
                return arrays[0].view(result.numpy)
            case "half_to_float":
                return arrays[0].view(np.float16).astype(np.float32)
            case "float_to_half":
                return arrays[0].astype(np.float16).view(np.uint16)
            case name if name in HALVES:
                made = getattr(np, HALVES[name])(*(a.view(np.float16) for a in arrays))
                return made if result is BOOL else made.view(np.uint16)
            case "to_short":
                return arrays[0].astype(np.uint16)
            case name if name in HIDDEN:
                return arrays[0]
            case "near_reciprocal" | "near_double_reciprocal":
                return 1 / arrays[0]
            case "near_power_of_two":
                return np.exp2(arrays[0])
            case "near_logarithm":
                return np.log2(arrays[0])
            case "near_inverse_root":
                return 1 / np.sqrt(arrays[0])
            case "where":
                return np.where(*arrays)
            case "fma":
                x, y, z = (a.astype(np.longdouble) for a in arrays)
                return (x * y + z).astype(result.numpy)
        # What a formula calls for some arguments alone is the library's function.
    return getattr(np, op.numpy or op.libm)(*arrays)


def is_folded(op: Op) -> bool:
    """Whether NVRTC computes the row on most constants while it compiles."""
    if op.llvm == op.name:
        return False
    return not op.libm or op.name in ("absolute", "fabs", "floor", "ceil", "copysign")


def constant_kernel(op: Op, operands: tuple[DType, ...], result: DType, arrays: list[np.ndarray], name: str) -> Function:
    """``out[k] = op(constant, ...)`` for every combination, integers widened so that no store cuts them."""
    b = Builder()
    wide = scalar(I64 if result.is_integer else result)
    out = b.param(PointerType(wide.dtype), "out")
    for k, values in enumerate(zip(*arrays, strict=True)):
        constants = [b.const(v, scalar(d)) for v, d in zip(values, operands, strict=True)]
        made = b.emit(op, constants, {}, (scalar(result),))
        if result.is_integer:
            made = b.emit("convert_raw", (made,), {}, (wide,))
        b.inst("store", (out, b.const(k, INDEX), made))
    b.inst("return")
    return b.function(name, "loop", (out,), (("index_bits", 32),))


def ptx_of(source: str, arch: str = "compute_90") -> str:
    from cuda.bindings import nvrtc as raw

    _, program = raw.nvrtcCreateProgram(source.encode(), b"test.cu", 0, [], [])
    options = [f"--gpu-architecture={arch}".encode(), *(o.encode() for o in nvrtc.options_for("sm_90")[1:])]
    (status,) = raw.nvrtcCompileProgram(program, len(options), options)
    assert status == raw.nvrtcResult.NVRTC_SUCCESS, source
    _, size = raw.nvrtcGetPTXSize(program)
    text = b"\0" * size
    raw.nvrtcGetPTX(program, text)
    raw.nvrtcDestroyProgram(program)
    return text.decode()


def stored(ptx: str, dtype: DType) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """What each kernel of constants stores, by its name, and which of it was folded."""
    found: dict[str, tuple[np.ndarray, np.ndarray]] = {}
    for name, body in re.findall(r"\.entry (\w+)\(.*?\{(.*?)\n\}", ptx, re.DOTALL):
        registers: dict[str, int] = {}
        cells: dict[int, int | None] = {}
        for line in body.splitlines():
            if move := re.match(r"\s*mov\.\w+\s+(%\w+), (-?\d+);", line):
                registers[move[1]] = int(move[2])
            elif store := re.match(r"\s*st\.global\.\w+\s+\[%\w+(?:\+(\d+))?\], (%\w+);", line):
                cells[int(store[1] or 0) // dtype.itemsize] = registers.get(store[2])
        mask = (1 << dtype.bits) - 1
        values = [cells[k] for k in range(len(cells))]
        raw = np.array([(v or 0) & mask for v in values], f"u{dtype.itemsize}")
        found[name] = raw.view(dtype.numpy), np.array([v is not None for v in values])
    return found


def assert_same_bits(got: np.ndarray, want: np.ndarray, what: str) -> None:
    """Equal in every bit, NaNs of all kinds being one."""
    assert got.dtype == want.dtype and got.shape == want.shape, what
    same = got.view(f"u{got.itemsize}") == want.view(f"u{want.itemsize}")
    if got.dtype.kind == "f":
        same |= np.isnan(got) & np.isnan(want)
    assert same.all(), f"{what}: {got[~same][:5]} is not {want[~same][:5]}"


def text_of(source: str, **options) -> str:
    return cuda_c.emit([parse_function(textwrap.dedent(source).strip(), "kernel.py")], **options)


def body_of(lines: str, params: str = "%x: ptr f32, %out: ptr f32, %n: index", facts: str = "index_bits = 32") -> str:
    """The statements a kernel of these instructions has."""
    source = f"loop func @k({params}) facts {{{facts}}} {{\n{textwrap.dedent(lines).strip()}\nreturn\n}}"
    text = cuda_c.emit([parse_function(source)])
    nvrtc.build(text, "sm_90", "k")
    return textwrap.dedent(text[text.index("{\n") + 2 : text.rindex("}")]).rstrip()


# Text.


def test_mask_out():
    text = text_of("""
        loop func @mask_out(%points: ptr f32, %mask: ptr bool, %out: ptr f32, %n: index) facts {index_bits = 32, block = 256} {
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
    assert text == textwrap.dedent("""\
        // mask_out (kernel.py:2)
        extern "C" __global__ void __launch_bounds__(256) mask_out(
            const float* __restrict__ points,
            const bool* __restrict__ mask,
            float* __restrict__ out,
            int n
        ) {
            #pragma unroll 1
            for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n * 3; i += gridDim.x * blockDim.x) {
                const int i0 = i / 3;
                out[i] = mask[i0] ? __int_as_float(0x7f800000) : points[i];
            }
        }
    """)
    nvrtc.build(text, "sm_90", "mask_out")


def test_expressions_nest_with_few_parentheses():
    params = "%x: ptr f32, %out: ptr f32, %iout: ptr i32, %bout: ptr bool, %i: index, %a: f32, %b: f32, %p: i32, %q: i32"
    assert body_of(
        """
        %0 = load %x, %i : f32
        %1 = subtract %a, %b : f32
        %2 = subtract %0, %1 : f32
        %3 = multiply %2, %a : f32
        %4 = negative %3 : f32
        %5 = negative %4 : f32
        store %out, %i, %5
        %6 = add %p, %q : i32
        %7 = add %6, %p : i32
        %8 = const 3 : i32
        %9 = multiply %7, %8 : i32
        store %iout, %i, %9
        %10 = less %a, %b : bool
        %11 = not_equal %a, %a : bool
        %12 = bitwise_or %10, %11 : bool
        %13 = invert %12 : bool
        store %bout, %i, %13
        %slope = where %10, %a, %b : f32
        %14 = exp %slope : f32
        store %out, %i, %14
        """,
        params,
    ) == textwrap.dedent("""\
        out[i] = -(-((x[i] - (a - b)) * a));
        iout[i] = (int)(((unsigned int)p + q + p) * 3u);
        const bool t = a < b;
        bout[i] = !(t | (a != a));
        const float slope = t ? a : b;
        out[i] = expf(slope);""")


def test_no_reassociation():
    params = "%x: ptr f32, %out: ptr f32, %a: f32, %b: f32, %c: f32"
    lines = body_of(
        """
        %0 = const 0 : index
        %1 = const 1 : index
        %2 = add %a, %b : f32
        %3 = add %2, %c : f32
        store %out, %0, %3
        %4 = add %b, %c : f32
        %5 = add %a, %4 : f32
        store %out, %1, %5
        """,
        params,
    ).splitlines()
    assert lines == ["out[0] = a + b + c;", "out[1] = a + (b + c);"]


def test_index_arithmetic_is_plain():
    text = body_of(
        """
        %0 = const 0 : index
        %1 = const 1 : index
        %2 = const -4 : index
        for %0, %n, %1 {over = "grid"} (%i: index) {
          %i0 = divide_truncated %i, %m : index
          %i1 = remainder_truncated %i, %m : index
          %3 = multiply %i1, %n : index
          %4 = add %3, %i0 : index
          %5 = subtract %4, %2 : index
          %6 = load %x, %5 : f32
          store %out, %i, %6
          yield
        }
        """,
        "%x: ptr f32, %out: ptr f32, %n: index, %m: index",
    )
    assert text == textwrap.dedent("""\
        #pragma unroll 1
        for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
            const int i0 = i / m;
            const int i1 = i % m;
            out[i] = x[i1 * n + i0 - -4];
        }""")


def test_wide_indices():
    text = body_of(
        """
        %0 = const 0 : index
        %1 = const 1 : index
        %2 = const 3000000000 : index
        %3 = const 100000 : index
        for %0, %n, %1 {over = "grid"} (%i: index) {
          %4 = multiply %3, %3 : index
          %5 = add %4, %2 : index
          %6 = add %5, %i : index
          %7 = load %x, %6 : f32
          store %out, %i, %7
          yield
        }
        """,
        facts="index_bits = 64",
    )
    assert text == textwrap.dedent("""\
        const long long stride = (long long)gridDim.x * blockDim.x;
        #pragma unroll 1
        for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
            out[i] = x[(long long)100000 * 100000 + 3000000000LL + i];
        }""")


def test_grid_loop_with_lower_bound_and_step():
    loop = """
        %1 = const 2 : index
        for %low, %n, %1 {over = "grid"} (%i: index) {
          %2 = load %x, %i : f32
          store %out, %i, %2
          yield
        }
    """
    params = "%x: ptr f32, %out: ptr f32, %n: index, %low: index"
    assert body_of(loop, params).splitlines()[:3] == [
        "const int stride = (int)(gridDim.x * blockDim.x) * 2;",
        "#pragma unroll 1",
        "for (int i = low + (int)(blockIdx.x * blockDim.x + threadIdx.x) * 2; i < n; i += stride) {",
    ]


def test_loops_branches_and_swaps():
    assert body_of(
        """
        %zero = const 0 : index
        %one = const 1 : index
        %0 = const 0.0 : f32
        %1 = const 1.0 : f32
        %a, %b = for %zero, %n, %one, %0, %1 {over = "serial"} : f32, f32 (%k: index, %p: f32, %q: f32) {
          %2 = load %x, %k : f32
          %3 = add %p, %2 : f32
          yield %q, %3
        }
        %4 = less %a, %b : bool
        %5 = if %4 : f32 () {
          %6 = multiply %a, %1 : f32
          yield %6
        } () {
          yield %b
        }
        %7 = while %5 : f32 (%w: f32) {
          %8 = less %w, %1 : bool
          yield %8, %w
        } (%v: f32) {
          %9 = add %v, %v : f32
          yield %9
        }
        store %out, %zero, %7
        """
    ) == textwrap.dedent("""\
        const int zero = 0;
        const int one = 1;
        float p = 0.0f;
        float q = 1.0f;
        for (int k = zero; k < n; k += one) {
            const float t = p + x[k];
            p = q;
            q = t;
        }
        float t_1;
        if (p < q) {
            t_1 = p * 1.0f;
        } else {
            t_1 = q;
        }
        float w = t_1;
        while (w < 1.0f) {
            w = w + w;
        }
        out[zero] = w;""")


def test_while_with_work_before_its_condition():
    assert body_of(
        """
        %0 = const 0 : index
        %1 = const 1.0 : f32
        %2 = while %1 : f32 (%w: f32) {
          %half = multiply %w, %1 : f32
          %3 = less %half, %1 : bool
          yield %3, %half
        } (%v: f32) {
          %4 = add %v, %v : f32
          yield %4
        }
        store %out, %0, %2
        """
    ) == textwrap.dedent("""\
        float w = 1.0f;
        float v;
        while (true) {
            const float half = w * 1.0f;
            v = half;
            if (!(half < 1.0f)) break;
            w = v + v;
        }
        out[0] = v;""")


def test_threads_shared_memory_and_barriers():
    assert body_of(
        """
        %tile = shared {size = 128} : ptr shared f32
        %0 = thread_index : index
        %1 = block_index : index
        %2 = const 128 : index
        %3 = multiply %1, %2 : index
        %4 = add %3, %0 : index
        %5 = load %x, %4 : f32
        store %tile, %0, %5
        barrier
        %6 = const 127 : index
        %7 = subtract %6, %0 : index
        %8 = load %tile, %7 : f32
        barrier
        store %out, %0, %8
        """
    ) == textwrap.dedent("""\
        __shared__ float tile[128];
        const float x_value = x[(int)blockIdx.x * 128 + (int)threadIdx.x];
        tile[(int)threadIdx.x] = x_value;
        __syncthreads();
        const float tile_value = tile[127 - (int)threadIdx.x];
        __syncthreads();
        out[(int)threadIdx.x] = tile_value;""")


def test_loads_of_written_memory_stay_in_order():
    assert body_of(
        """
        %0 = const 0 : index
        %1 = const 1 : index
        %2 = load %out, %0 : f32
        %3 = load %x, %0 : f32
        store %out, %0, %3
        store %out, %1, %2
        """
    ) == textwrap.dedent("""\
        const float out_value = out[0];
        out[0] = x[0];
        out[1] = out_value;""")
    text = text_of("""
        loop func @k(%x: ptr f32, %out: ptr f32) facts {index_bits = 32} {
          %0 = const 0 : index
          %1 = load %out, %0 : f32
          %2 = load %x, %0 : f32
          %3 = add %1, %2 : f32
          store %out, %0, %3
          return
        }
    """)
    assert "const float* __restrict__ x, float* __restrict__ out" in text


def test_values_of_an_outer_block_are_computed_there():
    assert body_of(
        """
        %0 = const 0 : index
        %1 = const 1 : index
        %2 = load %x, %0 : f32
        %3 = exp %2 : f32
        for %0, %n, %1 {over = "serial"} (%i: index) {
          store %out, %i, %3
          yield
        }
        """
    ) == textwrap.dedent("""\
        const float t = expf(x[0]);
        for (int i = 0; i < n; i++) {
            out[i] = t;
        }""")


def test_long_expressions_get_names():
    names = [f"coefficient_number_{k}" for k in range(12)]
    lines = []
    last = "a"
    for k, name in enumerate(names):
        lines.append(f"%{2 * k} = multiply %{last}, %{name} : f32")
        lines.append(f"%{2 * k + 1} = add %{2 * k}, %{names[k - 1]} : f32")
        last = str(2 * k + 1)
    lines += ["%zero = const 0 : index", f"store %out, %zero, %{last}"]
    params = "%out: ptr f32, %a: f32, " + ", ".join(f"%{n}: f32" for n in names)
    text = body_of("\n".join(lines), params)
    assert max(map(len, text.splitlines())) <= 110
    assert text.count("const float t") >= 3


def test_chains_of_any_length():
    b = Builder()
    out, x = b.param(PointerType(F32), "out"), b.param(scalar(F32), "x")
    value = x
    for _ in range(5000):
        value = b.emit("add", (value, x))
    b.inst("store", (out, b.const(0, INDEX), value))
    b.inst("return")
    text = cuda_c.emit([b.function("chain", "loop", (out, x), (("index_bits", 32),))])
    assert text.count("+ x") == 5000
    assert max(map(len, text.splitlines())) <= 110


def test_names_that_c_has_taken():
    names = ["int", "float", "double", "for", "sin", "expf", "threadIdx", "float4", "max", "__x", "long", "restrict"]
    lines = ["%zero = const 0 : index"]
    lines += [f"%{n} = add %a, %a : f32\nstore %out, %zero, %{n}" for n in names]
    text = body_of("\n".join(lines), "%out: ptr f32, %a: f32")
    for name in ("int_", "float_", "double_", "for_", "sin_", "expf_", "threadIdx_", "float4_", "max_", "x", "long_"):
        assert f"const float {name} = a + a;" in text
    assert "const float __x" not in text


def test_one_name_for_each_variable():
    b = Builder()
    out = b.param(PointerType(F32), "out")
    for name in ("größe", "größe", "α", "Δt", "日", "1st", "out", "x y"):
        value = b.emit("add", (b.const(1.0, scalar(F32)),) * 2, name=name)
        b.inst("store", (out, b.const(0, INDEX), value))
    b.inst("return")
    text = cuda_c.emit([b.function("names", "loop", (out,), (("index_bits", 32),))])
    found = re.findall(r"const float (\w+) =", text)
    assert len(set(found)) == len(found) == 8
    assert found[2:4] == ["alpha", "deltat"]
    assert text.isascii()
    nvrtc.build(text, "sm_90", "names")


def kernel_called(name: str) -> Function:
    b = Builder()
    out = b.param(PointerType(F32), "out")
    b.inst("store", (out, b.const(0, INDEX), b.const(1.0, scalar(F32))))
    b.inst("return")
    return b.function(name, "loop", (out,), (("index_bits", 32),))


def test_kernel_names_are_valid_and_unique():
    functions = [kernel_called(n) for n in ("<lambda>", "<lambda>", "sin", "double", "π", "__init__", "main", "9")]
    names = cuda_c.kernel_names(functions)
    assert names[:4] == ("lambda", "lambda_1", "sin_", "double_")
    assert len(set(names)) == len(names)
    binary = nvrtc.build(cuda_c.emit(functions), "sm_90", "names")
    for name in names:
        assert re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII)
        assert f".text.{name}".encode() in binary


def test_kernels_called_like_functions_of_the_compiler():
    """What NVRTC declares without a header, and nothing that pytocu writes calls."""
    texts = """norm rnorm norm3d erf erfinv remainder remquo nan modf frexp ldexp lgamma tgamma rsqrt rcbrt rhypot sincos
    sincospi cospi j0 j1 y0 y1 jn yn logb ilogb scalbn nextafter nearbyint lrint fdim fmax fmin normcdf exp10 va_list"""
    functions = [kernel_called(name) for name in texts.split()] + [kernel_called("normf")]
    binary = nvrtc.build(cuda_c.emit(functions), "sm_90", "names")
    assert all(f".text.{name}_".encode() in binary for name in (*texts.split(), "normf"))
    lines = "%zero = const 0 : index\n%norm = add %a, %a : f32\nstore %out, %zero, %norm\nstore %out, %zero, %norm"
    assert "const float norm = a + a;" in body_of(lines, "%out: ptr f32, %a: f32")


def test_places_in_the_source():
    b = Builder(Loc('C:\\x\\"odd".py', 12, 3))
    out = b.param(PointerType(F32), "out")
    b.inst("store", (out, b.const(0, INDEX), b.const(1.0, scalar(F32))))
    b.loc = UNKNOWN
    b.inst("return")
    function = b.function("shade", "loop", (out,), (("index_bits", 32),))
    assert cuda_c.emit([function]).startswith('// shade ("odd".py:12)\n')
    text = cuda_c.emit([function], lineinfo=True)
    assert """#line 12 "C:/x/'odd'.py"\n    out[0] = 1.0f;""" in text
    assert b"'odd'.py" in nvrtc.build(text, "sm_90", "shade", lineinfo=True)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("%1 = maximum %a, %a : f32", "no spelling for maximum of f32"),
        ("%1 = floor_divide %p, %p : i32", "no spelling for floor_divide of i32"),
        ("%1 = cast %a : f64", "no spelling for cast"),
    ],
)
def test_rows_that_are_no_primitives_are_refused(line, message):
    params = "%out: ptr f32, %iout: ptr i32, %dout: ptr f64, %a: f32, %p: i32"
    target = {"f32": "out", "i32": "iout", "f64": "dout"}[line.rsplit(" ", 1)[1]]
    with pytest.raises(InternalError, match=message):
        body_of(f"%0 = const 0 : index\n{line}\nstore %{target}, %0, %1", params)


def test_a_loop_for_the_cpu_is_refused():
    with pytest.raises(InternalError, match="no loop over 'parallel'"):
        body_of('%0 = const 0 : index\nfor %0, %n, %0 {over = "parallel"} (%i: index) {\nyield\n}')


# Constants.


def test_float_constants_keep_their_bits():
    rng = np.random.default_rng(1)
    for dtype in (F32, F64):
        random = rng.integers(0, 2**dtype.bits, 300, f"u{dtype.itemsize}", endpoint=False).view(dtype.numpy)
        values = np.concatenate([edge_values(dtype), random, np.array([7.038530691851209e-26], dtype.numpy)])
        b = Builder()
        out = b.param(PointerType(dtype), "out")
        for k, value in enumerate(values):
            b.inst("store", (out, b.const(k, INDEX), b.const(value, scalar(dtype))))
        b.inst("return")
        source = cuda_c.emit([b.function("constants", "loop", (out,), (("index_bits", 32),))])
        got, folded = stored(ptx_of(source), dtype)["constants"]
        assert folded.all()
        assert_same_bits(got, values, f"{dtype} constants")


@pytest.mark.parametrize(
    ("value", "dtype", "text"),
    [
        (2.5, F32, "2.5f"), (1.0, F64, "1.0"), (0.1, F32, "0.1f"), (-0.0, F32, "-0.0f"), (1e20, F32, "1e+20f"),
        (math.inf, F32, "__int_as_float(0x7f800000)"), (-math.inf, F64, "-__longlong_as_double(0x7ff0000000000000LL)"),
        # The shorter 7.038531e-26, read as a double first, rounds to the next float.
        (7.038530691851209e-26, F32, "7.0385307e-26f"), (3.4028234663852886e38, F32, "3.4028235e+38f"), (1e-45, F32, "1e-45f"),
        (math.nan, F32, "__int_as_float(0x7fc00000)"), (math.nan, F64, "__longlong_as_double(0x7ff8000000000000LL)"),
        (-math.nan, F32, "__int_as_float(0xffc00000)"), (-math.nan, F64, "__longlong_as_double(0xfff8000000000000LL)"),
    ],
)  # fmt: skip
def test_float_literals(value, dtype, text):
    assert c_expressions.float_literal(float(dtype.numpy.type(value)), dtype).text == text


@pytest.mark.parametrize(
    ("value", "dtype", "text"),
    [
        (5, I32, "5"), (-5, I32, "-5"), (-(2**31), I32, "(-2147483647 - 1)"), (5, I64, "5LL"), (5, U32, "5u"),
        (-(2**63), I64, "(-9223372036854775807LL - 1)"), (-128, I8, "-128"), (65535, U16, "65535"),
    ],
)  # fmt: skip
def test_integer_literals(value, dtype, text):
    assert c_expressions.integer_literal(value, dtype).text == text


# What the code computes.


def test_rows_on_constants_give_numpys_bits():
    """Wrapping, promotion, conversions: NVRTC folds them, and NumPy says what is right."""
    cases = [(op, operands, result) for op, operands, result in row_cases() if is_folded(op)]
    checked = 0
    for dtype in COMPILED_DTYPES:
        chosen = [c for c in cases if c[2] is dtype]
        arrays = {case_name(*c): [a[:: max(1, a.size // 40)] for a in operand_arrays(*c)] for c in chosen}
        functions = [constant_kernel(*c, arrays[case_name(*c)], case_name(*c)) for c in chosen]
        wide = I64 if dtype.is_integer else dtype
        got = stored(ptx_of(cuda_c.emit(functions)), wide)
        for op, operands, result in chosen:
            name = case_name(op, operands, result)
            values, folded = got[name]
            want = expected(op, arrays[name], result).astype(wide.numpy)
            assert_same_bits(values[folded], want[folded], name)
            # Infinities, NaNs and divisions by zero are left to the GPU, by some NVRTC also floats that no integer is near;
            # whole numbers never are.
            left = result.kind == "f" or (op.name == "convert_raw" and operands[0].kind == "f")
            assert folded.mean() > (0.5 if left else 0.999), name
            checked += int(folded.sum())
    assert checked > 5000


@pytest.mark.parametrize("arch", ["sm_90", "sm_75", "sm_100"])
def test_every_row_compiles_for_every_generation(arch):
    functions = [row_kernel(*case) for case in row_cases()]
    assert len(functions) > 250
    source = cuda_c.emit(functions)
    assert "#include" not in source
    binary = nvrtc.build(source, arch, "rows")
    assert binary[:4] == b"\x7fELF"
    assert all(f".text.{name}".encode() in binary for name in cuda_c.kernel_names(functions))


def test_nothing_is_contracted_or_approximated():
    text = body_of_module("%0 = multiply %a, %b : f32\n%1 = add %0, %a : f32\n%2 = divide %1, %b : f32\n%3 = sqrt %2 : f32")
    ptx = ptx_of(text)
    assert "fma.rn.f32" not in ptx and ".ftz" not in ptx and ".approx" not in ptx
    assert "mul.rn.f32" in ptx and "add.rn.f32" in ptx and "div.rn.f32" in ptx and "sqrt.rn.f32" in ptx


def test_signed_overflow_is_no_licence():
    """``p + 1 > p`` is false for the largest integer, and must not be folded to true."""
    params = "%out: ptr bool, %p: i32"
    text = cuda_c.emit(
        [parse_function(f"""loop func @k({params}) facts {{index_bits = 32}} {{
          %0 = const 0 : index
          %1 = const 1 : i32
          %2 = add %p, %1 : i32
          %3 = greater %2, %p : bool
          store %out, %0, %3
          return
        }}""")]
    )
    assert "out[0] = (int)(p + 1u) > p;" in text
    assert "setp" in ptx_of(text)


def test_narrow_products_do_not_overflow_int():
    params = "%a: ptr u16, %out: ptr u16, %i: index"
    lines = "%0 = load %a, %i : u16\n%1 = const 65535 : u16\n%2 = multiply %0, %1 : u16\nstore %out, %i, %2"
    assert body_of(lines, params) == "out[i] = (unsigned short)((unsigned int)a[i] * 65535);"


def test_selections_inside_selections():
    params = "%out: ptr bool, %i: index, %a: bool, %b: bool, %c: bool, %d: bool"
    lines = """
        %0 = where %a, %b, %c : bool
        %1 = where %b, %c, %d : bool
        %2 = where %c, %d, %a : bool
        %3 = where %0, %1, %2 : bool
        store %out, %i, %3
    """
    assert body_of(lines, params) == "out[i] = (a ? b : c) ? (b ? c : d) : c ? d : a;"


def body_of_module(lines: str) -> str:
    source = f"loop func @k(%out: ptr f32, %a: f32, %b: f32) facts {{index_bits = 32}} {{\n%z = const 0 : index\n{lines}\n"
    return cuda_c.emit([parse_function(f"{source}store %out, %z, %3\nreturn\n}}")])


# Building.


def test_builds_without_path_or_home():
    script = textwrap.dedent("""
        import sys
        from pytocu.backend import nvrtc
        binary = nvrtc.build('extern "C" __global__ void k(float* x) { x[0] = expf(x[1]); }', "sm_90", "k")
        assert binary[:4] == b"\\x7fELF"
        assert not {"cuda", "cuda.bindings", "cuda.pathfinder"} & set(sys.modules)
        print("built", nvrtc.version())
    """)
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    done = subprocess.run(
        [sys.executable, "-c", script], env={"PATH": "", "PYTHONPATH": root}, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("built (")


def test_importing_the_backend_imports_no_cuda():
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    script = "import sys, pytocu.backend.cuda_c, pytocu.backend.nvrtc; print([m for m in sys.modules if m.startswith('cuda.')])"
    done = subprocess.run([sys.executable, "-c", script], env={"PYTHONPATH": root}, capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]", done.stderr


def test_architectures():
    assert {"sm_75", "sm_90", "sm_100"} <= set(nvrtc.supported_archs())
    assert nvrtc.check_arch("sm_90a") == "sm_90a"
    for bad in ("sm_33", "90", "compute_90", "sm_90 --x", "sm_90\n", ""):
        with pytest.raises(BackendError, match="sm_90"):
            nvrtc.check_arch(bad)


@pytest.mark.parametrize("name", ["negative", "sum", "difference", "product", "shift"])
def test_bytes_that_wrap_keep_their_sign(name):
    """NVRTC took the negative or sum of a byte that it cut out of a vector for a number that has its sign."""
    functions = {
        "negative": lambda x: -x <= 1,
        "sum": lambda x: x + 3 <= 1,
        "difference": lambda x: 100 - x <= 1,
        "product": lambda x: x * x <= 1,
        "shift": lambda x: (x << 1) <= 1,
    }
    source = pytocu.jit(functions[name]).lower(np.ones(10**5, np.int8)).compile("cuda:sm_90", "cuda_c").source
    lines = nvrtc.ptx(source, "sm_90", "bytes").splitlines()
    vector = next(i for i, line in enumerate(lines) if "ld.global.nc.v4" in line)
    ends = next(i for i, line in enumerate(lines) if "st.global.v4" in line)
    extended = [line for line in lines[vector:ends] if "cvt.s16.s8" in line]
    assert len(extended) == 16, "\n".join(lines[vector:ends])


def test_a_refused_source_shows_the_log():
    with pytest.raises(BackendError, match=r"(?s)defect of pytocu.*shade\.cu\(1\).*1 \| nonsense"):
        nvrtc.build("nonsense", "sm_90", "shade")


def test_a_missing_library_names_the_command():
    root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    script = textwrap.dedent("""
        import sys
        from pytocu.backend import libraries, nvrtc
        from pytocu.errors import BackendError
        libraries._PLACES["nvrtc"] = ()
        if sys.argv[1:]:
            sys.modules["cuda"] = None
        else:
            import cuda.pathfinder
            def none(name):
                raise cuda.pathfinder.DynamicLibNotFoundError(f"Failure finding {name}")
            cuda.pathfinder.load_nvidia_dynamic_lib = none
        for attempt in (nvrtc.version, nvrtc.supported_archs, lambda: nvrtc.build("", "sm_90", "x")):
            try:
                attempt()
            except BackendError as error:
                print(error)
    """)
    for more in ([], ["without cuda-python"]):
        words = [sys.executable, "-c", script, *more]
        done = subprocess.run(words, env={"PYTHONPATH": root}, capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("NVRTC was not found") == 3 and done.stdout.count("pip install 'pytocu[cu13]'") == 3


def test_libraries_elsewhere_are_found_by_cuda_python(monkeypatch):
    found = libraries.place_of("nvrtc"), libraries.place_of("libdevice")
    monkeypatch.setattr(libraries, "_PLACES", dict.fromkeys(libraries._PLACES, ()))
    assert (libraries.place_of("nvrtc"), libraries.place_of("libdevice")) == found


def test_what_nvrtc_opens_by_name_is_open():
    # The wheel of NVRTC 13.0 has no run path, by which it would find it.
    script = """
        from pytocu.backend import libraries
        libraries.library("nvrtc")
        print("libnvrtc-builtins" in open("/proc/self/maps").read())
    """
    folder = os.path.dirname(libraries.place_of("nvrtc"))
    if not any(name.startswith("libnvrtc-builtins") for name in os.listdir(folder)):
        pytest.skip("NVRTC has nothing beside it")
    made = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, check=True)
    assert made.stdout.strip() == "True"
