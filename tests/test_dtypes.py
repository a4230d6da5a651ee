"""float16 and complex numbers: every value, every row, every way of running."""

from __future__ import annotations

import ctypes
import itertools
import platform
import re
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.backend import cpu, cuda_c, llvm, nvrtc, nvvm
from pytocu.backend.llvm_dialect import HALF_ARITHMETIC, Dialect
from pytocu.errors import PytocuError, UnsupportedError
from pytocu.ir import interp, promote
from pytocu.ir.core import Op, walk
from pytocu.ir.interp_threads import run_threads
from pytocu.ir.ops import elementwise_rows
from pytocu.ir.parser import parse_function
from pytocu.ir.printer import print_function
from pytocu.ir.types import ALL_DTYPES, C64, C128, F16, DType, element
from pytocu.planning import kernel_function
from pytocu.runtime import native
from pytocu.testing.cases import call_interpreted
from pytocu.testing.compare import compare, complex_distance, edge_values, same_bits, ulp_distance
from pytocu.testing.complex_reference import PLAIN_STEPS
from pytocu.testing.operands import make_function

HALVES = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
NEW = (F16, C64, C128)


def function_of(op: Op) -> Any:
    """``np.<op>(x, ...)`` as a function with source."""
    names = "xyz"[: op.arity]
    part = f"[{op.output}]" if op.numpy in ("modf", "frexp", "divmod") else ""
    return make_function(names, [f"np.{op.numpy}({', '.join(names)}){part}"], {"np": np})


def rows_of(dtype: DType) -> list[Op]:
    """Rows with a loop for operands of the dtype."""
    found: list[Op] = []
    for op in elementwise_rows():
        try:
            inputs, _ = promote.ufunc_loop(op.numpy, (dtype,) * (op.arity or 0))
        except TypeError:
            continue
        if dtype in inputs:
            found.append(op)
    return found


CASES = [(op, dtype) for dtype in NEW for op in rows_of(dtype)]
CASE_IDS = [f"{op.name}-{dtype}" for op, dtype in CASES]


def operands(op: Op, dtype: DType, count: int = 160) -> tuple[np.ndarray, ...]:
    """Edge values and random bits, in another order for every operand."""
    values = [edge_values(dtype.numpy, count, number) for number in range(op.arity or 0)]
    return tuple(np.random.default_rng(number).permutation(v) for number, v in enumerate(values))


# float16: the whole range.


@pytest.mark.parametrize("op", [op for op in rows_of(F16) if op.arity == 1], ids=lambda op: op.name)
def test_every_float16_of_one_operand(op: Op) -> None:
    function = function_of(op)
    with np.errstate(all="ignore"):
        (expected,) = function(HALVES)
        (actual,) = pytocu.jit(function)(HALVES)
        assert actual.dtype == expected.dtype
        if op.exact:
            assert same_bits(actual, expected).all()
            return
        (wide,) = function(HALVES.astype(np.float64))
        rounded = wide.astype(np.float16)
    # float32's error, then one rounding: never more than the next number.
    assert (ulp_distance(actual, rounded) <= 1).all()
    assert (actual == rounded)[~np.isnan(rounded)].mean() > 0.999


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide", "remainder", "floor_divide", "fmod", "nextafter"])
def test_float16_rounds_once(name: str) -> None:
    x = np.random.default_rng(1).permutation(HALVES)
    y = np.random.default_rng(2).permutation(HALVES)
    function = make_function("xy", [f"np.{name}(x, y)"], {"np": np})
    with np.errstate(all="ignore"):
        (expected,) = function(x, y)
    (actual,) = pytocu.jit(function)(x, y)
    compare(actual, expected)
    if name in ("add", "subtract", "multiply", "divide"):
        with np.errstate(all="ignore"):
            (wide,) = function(x.astype(np.longdouble), y.astype(np.longdouble))
            compare(actual, wide.astype(np.float16))


def to_half(x):
    return x.astype(np.float16)


def halfway(dtype: Any) -> np.ndarray:
    """Numbers between neighbouring float16s, and the closest ones beside them."""
    finite = HALVES[np.isfinite(HALVES)].astype(dtype)
    exact = np.unique(finite)
    middle = (exact[1:] + exact[:-1]) / 2
    beside = [np.nextafter(middle, dtype(side)) for side in (np.inf, -np.inf)]
    beyond = np.array([65504, 65519.99, 65520, 65536, 1e30, 2.0**-25, 2.0**-26], dtype)
    return np.concatenate([exact, middle, *beside, beyond, -beyond, edge_values(dtype, 2000)]).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_casts_to_float16_round_once(dtype: Any) -> None:
    x = halfway(dtype)
    with np.errstate(all="ignore"):
        compare(pytocu.jit(to_half)(x), x.astype(np.float16))
        # By way of float32 some of these would come out differently.
        assert dtype is np.float32 or (x.astype(np.float32).astype(np.float16) != x.astype(np.float16)).any()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_floats_that_no_uint64_is(dtype: Any) -> None:
    """As NumPy has them on x86-64, for arrays and numbers alike."""
    low, top = 2**63, 2**64
    wanted = {np.nan: low, np.inf: 0, -np.inf: low, -1.0: top - 1, -2.5: top - 2, -1e19: low, -(2.0**63): low, 2.0**63: low,
              1.5 * 2.0**63: 3 * 2**62, 2.0**64: 0, 1e30: 0, -1e30: low}  # fmt: skip
    x = np.array(list(wanted), dtype)
    made = pytocu.jit(lambda x: x.astype(np.uint64))
    expected = np.array(list(wanted.values()), np.uint64)
    compare(made(x), expected)
    compare(call_interpreted(lambda x: x.astype(np.uint64), x), expected)
    for number, answer in zip(x, expected, strict=True):
        compare(made(number), answer)
    if platform.machine() in ("x86_64", "AMD64"):
        with np.errstate(all="ignore"):
            compare(expected, x.astype(np.uint64))


@pytest.mark.parametrize("dtype", [d for d in ALL_DTYPES if d.kind in "biu"], ids=str)
def test_integers_to_float16(dtype: DType) -> None:
    low = np.arange(0, 70000 if dtype.bits > 16 else min(1 << dtype.bits, 70000)).astype(dtype.numpy)
    x = np.concatenate([low, (0 - low).astype(dtype.numpy) if dtype.kind != "b" else low, edge_values(dtype.numpy, 500)])
    with np.errstate(all="ignore"):
        compare(pytocu.jit(to_half)(x), x.astype(np.float16))


@pytest.mark.parametrize("target", [d for d in ALL_DTYPES if d.kind in "bfc"], ids=str)
def test_every_float16_to(target: DType) -> None:
    function = make_function("x", [f"x.astype('{target.numpy.str}')"], {"np": np})
    compare(pytocu.jit(function)(HALVES), function(HALVES))


# Processors without instructions for float16.

HALF_KERNEL = """
loop func @both(%x: ptr f32, %h: ptr u16, %narrow: ptr u16, %wide: ptr f32, %n: index) {
  %0 = const 0 : index
  %1 = const 1 : index
  for %0, %n, %1 {over = "parallel"} (%i: index) {
    %2 = load %x, %i : f32
    %3 = float_to_half %2 : u16
    store %narrow, %i, %3
    %4 = load %h, %i : u16
    %5 = half_to_float %4 : f32
    store %wide, %i, %5
    yield
  }
  return
}"""


@pytest.mark.parametrize("plain", [True, False], ids=["arithmetic", "instructions"])
def test_conversions_of_float16(plain: bool) -> None:
    kernel = parse_function(HALF_KERNEL)
    dialect = Dialect(half=HALF_ARITHMETIC) if plain else llvm.host_dialect()
    text = llvm.emit([kernel], dialect)
    assert ("half " in text) is not plain
    # Any x86-64 processor, where this one is.
    oldest = ("x86-64", "") if plain and platform.machine() == "x86_64" else None
    assert not re.search(r"call\w*\s+\*?(__|math)", cpu.assembly(text, oldest)), "a conversion is a call"
    code = cpu.build(text, oldest)
    x = halfway(np.float32)
    h = np.resize(HALVES.view(np.uint16), len(x))
    narrow, wide = np.zeros(len(x), np.uint16), np.zeros(len(x), np.float32)
    address = native.load(code, ["both"])["both"]
    slots = np.array([a.ctypes.data for a in (x, h, narrow, wide)] + [len(x)], np.int64)
    ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(int(address))(slots.ctypes.data, 0, len(x))
    with np.errstate(all="ignore"):
        compare(narrow.view(np.float16), x.astype(np.float16))
    compare(wide, h.view(np.float16).astype(np.float32))
    assert (np.signbit(wide) == np.signbit(h.view(np.float16))).all()


# Every row: interpreted thread by thread, and built for GPUs.


@pytest.mark.parametrize(("op", "dtype"), CASES, ids=CASE_IDS)
def test_lowered_rows_interpreted(op: Op, dtype: DType) -> None:
    """The kernel for a GPU, run thread by thread, gives what the CPU's native code gives."""
    function = function_of(op)
    compiled = pytocu.jit(function)
    given = operands(op, dtype)
    lowered = compiled.lower(*given)
    host = lowered.host("cuda")
    kernel = kernel_function(host, next(i for i in walk(host.body) if i.op.name == "launch"))
    for inst in walk(kernel.body):
        assert all(not hasattr(t, "dtype") or element(t) not in NEW for t in inst.types)
    text = print_function(kernel)
    assert print_function(parse_function(text)) == text
    (actual,) = interp.run(host, given)
    (native,) = compiled(*given)
    of_complex = dtype.kind == "c"
    if op.exact and (not of_complex or op.name in PLAIN_STEPS or not op.complex_ulp):
        compare(actual, native)
    else:
        # Both are within a few units of the true value; the C library is not NumPy's.
        assert actual.dtype == native.dtype
        both = np.isfinite(actual) & np.isfinite(native)
        assert both.mean() > 0.1 or not np.isfinite(native).any()
        size = np.abs(native[both]).astype(np.float64)
        gap = np.abs(actual[both].astype(np.complex128) - native[both].astype(np.complex128))
        grown = 1e9 if of_complex and op.numpy in ("power", "float_power") else 64
        unit, tiny = float(np.finfo(native.dtype).eps), float(np.finfo(native.dtype).tiny)
        assert (gap <= grown * unit * size + tiny).all()


def all_rows(dtype: DType) -> list[Any]:
    """Functions of all rows of a dtype, a few together."""
    functions: list[Any] = []
    for arity, rows in itertools.groupby(sorted(rows_of(dtype), key=lambda op: op.arity or 0), key=lambda op: op.arity or 0):
        names = "xyz"[:arity]
        listed = list(rows)
        for start in range(0, len(listed), 12):
            texts = []
            for op in listed[start : start + 12]:
                part = f"[{op.output}]" if op.numpy in ("modf", "frexp") else ""
                texts.append(f"np.{op.numpy}({', '.join(names)}){part}")
            functions.append(make_function(names, texts, {"np": np}))
    return functions


@pytest.mark.parametrize(
    ("backend", "dtype"),
    [("nvrtc", F16), ("nvvm", F16), pytest.param("nvrtc", C64, marks=pytest.mark.whole), ("nvvm", C128)],
    ids=str,
)
def test_every_row_builds(dtype: DType, backend: str, part: Any) -> None:
    module = {"nvrtc": nvrtc, "nvvm": nvvm}[backend]
    pytest.importorskip("cuda.bindings")
    newest = max(module.supported_archs(), key=lambda a: int(a[3:]))
    # Halves have instructions that generations do not share; complex numbers are pairs of what all of them have.
    archs = {"sm_75", "sm_90", newest} if dtype is F16 else {newest}
    kernels = []
    for number, function in enumerate(all_rows(dtype)):
        arity = function.__code__.co_argcount
        host = pytocu.jit(function).lower(*[f"{dtype}[n]"] * arity).host("cuda")
        for launch in (i for i in walk(host.body) if i.op.name == "launch"):
            kernels.append(kernel_function(host, launch))
        kernels[-1] = type(kernels[-1])(f"rows_{number}", "loop", kernels[-1].body, kernels[-1].facts)
    emit = cuda_c.emit if backend == "nvrtc" else nvvm.emit
    text = emit(kernels)
    for arch in part(sorted(archs)):
        assert len(module.build(text, arch, "rows")) > 1000


# Promotion.


@pytest.mark.parametrize("name", ["add", "multiply", "maximum", "power", "equal", "where"])
def test_promotion_is_numpys(name: str) -> None:
    weak = {"weak bool": True, "weak int": 1, "weak float": 1.5, "weak complex": 1j}
    call = "np.where(x != x, x, y)" if name == "where" else f"np.{name}(x, y)"
    function = make_function("xy", [call], {"np": np})
    compiled = pytocu.jit(function)
    for a, b in itertools.product(ALL_DTYPES, [*ALL_DTYPES, *weak]):
        if a not in NEW and b not in NEW and b != "weak complex":
            continue
        x = np.ones(1, a.numpy)
        y = weak[b] if isinstance(b, str) else np.ones(1, b.numpy)
        (expected,) = function(x, y)
        (result,) = compiled.lower(f"{a}[n]", b if isinstance(b, str) else f"{b}[n]").function.body.terminator.args
        assert element(result.type).numpy == expected.dtype, (name, a, b)


@pytest.mark.parametrize("value", [1j, 2.5 - 1j, complex(np.inf, np.nan), np.complex64(1j), np.complex128(2), np.float16(0.1)])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "c16", "i2", "?"])
def test_scalars_in_and_out(value: Any, dtype: str) -> None:
    def function(x, s):
        return x + s, s - x, s + s, -s, s == s

    x = edge_values(dtype, 80)
    compiled = pytocu.jit(function)
    if dtype == "?":
        x = x.astype(np.int8)
    with np.errstate(all="ignore"):
        compare(compiled(x, value), function(x, value))
        if dtype != "f8" or isinstance(value, np.generic):
            # A float64 scalar is a Python float, with which Python's complex makes a complex.
            compare(compiled(x[3], value), function(x[3], value))


# Views, parts and their errors.


def test_parts_are_views() -> None:
    def function(z):
        return z.real, z.imag, z[1:, ::-2].imag, z.T.real, z.imag[0], z[::-1].real[:, None]

    for dtype in (np.complex64, np.complex128):
        z = edge_values(dtype, 35).reshape(5, 7)
        expected = function(z)
        actual = pytocu.jit(function)(z)
        compare(actual, expected)
        for a, e in zip(actual, expected, strict=True):
            assert np.shares_memory(a, z) and a.strides == e.strides
            assert a.__array_interface__["data"][0] == e.__array_interface__["data"][0]


def test_parts_inside_of_kernels() -> None:
    def function(z, x):
        parts = z.real * x + z.imag[::-1], z.conj() + z, np.isreal(z), np.iscomplex(z)
        return *parts, np.angle(z) >= 0, np.angle(z, deg=True) < 0

    z, x = edge_values(np.complex64, 90), edge_values(np.float32, 90)
    with np.errstate(all="ignore"):
        compare(pytocu.jit(function)(z, x), function(z, x))


def test_views_of_bits() -> None:
    def function(h, z):
        return h.view(np.uint16) + 1, h.view(np.int16).view(np.float16) * 1, z.view(np.int64) | 1, (z + 0).view(np.float64) * 1

    z = edge_values(np.complex64, 200)
    z = z[~np.isnan(z)]
    h = HALVES[:500]
    compare(pytocu.jit(function)(h, z), function(h, z))


def test_layouts_and_offsets() -> None:
    def function(z, h):
        return z[::2, ::-1] + z.T[:, :1], h[1:] - h[:-1]

    base = edge_values(np.complex128, 36).reshape(6, 6)
    h = edge_values(np.float16, 99)
    for z in (base, base.copy("F"), base.T, base[::-1]):
        with np.errstate(all="ignore"):
            compare(pytocu.jit(lambda z, h: (z[:, ::-1] + z, h[1:] - h[:-1]))(z, h), (z[:, ::-1] + z, h[1:] - h[:-1]))
    # NumPy aligns complex128 to eight bytes.
    odd = np.zeros(9, np.float64)[1:].view(np.complex128)
    odd[:] = base.ravel()[:4]
    with np.errstate(all="ignore"):
        compare(pytocu.jit(lambda z: z + 1)(odd), odd + 1)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("np.floor(z)", "ufunc 'floor' not supported for the input types"),
        ("z // 2", "ufunc 'floor_divide' not supported"),
        ("z % 2", "ufunc 'remainder' not supported"),
        ("np.arctan2(z, z)", "ufunc 'arctan2' not supported"),
        ("z & 1", "ufunc 'bitwise_and' not supported"),
        ("np.cbrt(z)", "ufunc 'cbrt' not supported"),
        ("h & 1", "ufunc 'bitwise_and' not supported"),
        ("z.real_part", "has no attribute 'real_part'"),
        ("np.isposinf(z)", "would be ambiguous"),
    ],
)
def test_what_numpy_has_no_loop_for(text: str, sentence: str) -> None:
    function = make_function(("z", "h"), [text], {"np": np})
    with pytest.raises((TypeError, AttributeError)) as caught:
        pytocu.jit(function)(np.ones(3, np.complex64), np.ones(3, np.float16))
    assert isinstance(caught.value, PytocuError) and sentence in str(caught.value)
    with pytest.raises((TypeError, AttributeError), match=sentence.replace("(", "\\(")):
        function(np.ones(3, np.complex64), np.ones(3, np.float16))


def test_what_depends_on_the_data_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="depends on the data"):
        pytocu.jit(lambda z: np.real_if_close(z))(np.ones(3, complex))


def test_complex_order_is_lexicographic() -> None:
    z = np.array([complex(a, b) for a in (0.0, -0.0, 1.0, np.nan, np.inf) for b in (0.0, -0.0, 2.0, np.nan, -np.inf)])
    x, y = np.repeat(z, len(z)), np.tile(z, len(z))

    def function(x, y):
        return x < y, x <= y, x > y, x >= y, x == y, x != y, np.maximum(x, y), np.minimum(x, y), np.fmax(x, y), np.fmin(x, y)

    with np.errstate(all="ignore"):
        compare(pytocu.jit(function)(x, y), function(x, y))


# Memory of words.


@pytest.mark.parametrize("dtype", NEW, ids=str)
def test_bounds_of_words_are_checked(dtype: DType) -> None:
    """The thread interpreter knows the words of the elements, and the gaps between them."""
    host = pytocu.jit(lambda x: x[::2] + x[1::2]).lower(f"{dtype}[n; S]").host("cuda")
    wide = edge_values(dtype.numpy, 40)
    with np.errstate(all="ignore"):
        (actual,) = interp.run(host, [wide[::2]])
        compare(actual, wide[::2][::2] + wide[::2][1::2])
    kernel = kernel_function(host, next(i for i in walk(host.body) if i.op.name == "launch"))
    faults: list[Any] = []
    out = np.zeros(9, dtype.numpy)
    run_threads(kernel, [wide[:18], out, 10, 1], faults=faults)
    assert {f.kind for f in faults} == {"out-of-bounds"}


def test_expm1_of_what_has_no_exponential_left_is_minus_one():
    z = np.array([complex(x, y) for x in (-np.inf, -60.0, -1e300) for y in (2.1691256825776417, -0.3, 1.57, 3.14, 1e5)])
    (kernel,) = pytocu.jit(lambda z: np.expm1(z)).lower(z).compile("cuda:sm_90").kernels
    out = np.empty_like(z)
    run_threads(parse_function(kernel.ir), [z.view(np.float64), out.view(np.float64), len(z)], grid=1, block=32)
    assert np.all(out.real == -1.0) and np.all(pytocu.jit(lambda z: np.expm1(z))(z).real == -1.0)


def test_expm1_and_sign_at_the_ends_of_the_range():
    parts = (0.0, -0.0, 1.0, 800.0, np.inf, -np.inf, np.nan, np.finfo(np.float64).max)
    z = np.array([complex(x, y) for x in parts for y in (0.0, -0.0, np.inf, np.nan)])
    large = np.array([complex(x, y) for x in (1.7976931348623157e308, -1e308) for y in (120.0, -1e-300, 0.0)])
    with np.errstate(all="ignore"):
        assert not np.any(complex_distance(pytocu.jit(lambda z: np.expm1(z))(z), np.expm1(z)) > 4)
        assert not np.any(complex_distance(pytocu.jit(lambda z: np.sign(z))(large), np.sign(large)) > 3)
        assert np.array_equal(pytocu.jit(lambda z: np.abs(z))(large), np.abs(large))
