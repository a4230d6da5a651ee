"""The elementary functions of the CPU: distance from the exact value, edge values, and vector code."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.backend import cpu, guards, llvm
from pytocu.ir.core import OPS, Op
from pytocu.ir.expand_trigonometric import LARGEST
from pytocu.ir.types import F32, F64
from pytocu.testing.accuracy import correctly_rounded, distance
from pytocu.testing.operands import make_function

FUNCTIONS = [op for op in OPS.values() if op.vector is not None and not op.exact]
TWO_ULP = {"exp", "log", "sin", "cos", "tan", "tanh", "arctan", "power", "hypot"}
functions = pytest.mark.parametrize("op", FUNCTIONS, ids=lambda op: op.name)
dtypes = pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=lambda d: d.__name__)


def compiled(op: Op) -> Any:
    names = "xy"[: op.arity]
    function = pytocu.jit(make_function(names, [f"np.{op.numpy}({', '.join(names)})"], {"np": np}))
    return lambda *arrays: function(*arrays)[0]


def every_exponent(dtype: Any, count: int, seed: int) -> np.ndarray:
    """Random fractions and signs for each exponent."""
    random = np.random.default_rng(seed)
    size = 32 if dtype is np.float32 else 64
    fraction = 23 if size == 32 else 52
    exponents = np.repeat(np.arange(1 << (size - 1 - fraction), dtype=np.uint64), count)
    bits = random.integers(0, 1 << fraction, exponents.size, np.uint64) | exponents << np.uint64(fraction)
    bits |= random.integers(0, 2, exponents.size, np.uint64) << np.uint64(size - 1)
    return random.permutation(bits.astype(f"u{size // 8}").view(dtype))


@functions
@dtypes
def test_distance_over_every_exponent(op: Op, dtype: Any) -> None:
    count = 200 if dtype is np.float32 else 30
    operands = [every_exponent(dtype, count, seed) for seed in range(op.arity or 0)]
    if op.arity == 2:
        # Random exponents seldom meet where the result is neither operand.
        near = np.random.default_rng(5).uniform(0.2, 5, operands[0].size // 2).astype(dtype)
        with np.errstate(all="ignore"):
            operands[1][: near.size] = operands[0][: near.size] * near if op.name != "power" else near * 20
    rounded = correctly_rounded(op, operands)
    found = distance(op, compiled(op)(*operands), rounded, operands)
    worst = int(np.argmax(found))
    limit = 2 if op.name in TWO_ULP else op.ulp
    assert found[worst] <= limit, f"{op.name}({', '.join(repr(x[worst]) for x in operands)})"


def edges(dtype: Any) -> np.ndarray:
    information = np.finfo(dtype)
    largest, smallest, tiny = information.max, information.smallest_normal, information.smallest_subnormal
    half = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, np.pi / 2, np.pi, 88.8, 710.0, np.inf, largest, smallest, tiny, 1e30, 4097.0]
    values = np.array([*half, np.nan], dtype)
    return np.concatenate([values, -values])


@pytest.mark.parametrize("op", [op for op in FUNCTIONS if op.arity == 2], ids=lambda op: op.name)
@dtypes
def test_distance_of_the_smallest_numbers(op: Op, dtype: Any) -> None:
    """A product of these and a constant is the next of few numbers."""
    unsigned = np.uint32 if dtype is np.float32 else np.uint64
    columns = [c.ravel().astype(unsigned).view(dtype) for c in np.meshgrid(np.arange(1, 60), np.arange(1, 60))]
    rounded = correctly_rounded(op, columns)
    found = distance(op, compiled(op)(*columns), rounded, columns)
    assert np.max(found) <= (2 if op.name in TWO_ULP else op.ulp)


@functions
@dtypes
def test_zeros_infinities_and_nan(op: Op, dtype: Any) -> None:
    columns = [edges(dtype)] if op.arity == 1 else [c.ravel() for c in np.meshgrid(edges(dtype), edges(dtype))]
    rounded = correctly_rounded(op, columns)
    actual = compiled(op)(*columns)
    np.testing.assert_array_equal(np.isnan(actual), np.isnan(rounded))
    number = ~np.isnan(rounded)
    np.testing.assert_array_equal(np.signbit(actual[number]), np.signbit(rounded[number]))
    special = number & (~np.isfinite(rounded) | (rounded == 0))
    np.testing.assert_array_equal(actual[special], rounded[special])


@functions
@dtypes
def test_result_does_not_depend_on_the_place(op: Op, dtype: Any) -> None:
    function = compiled(op)
    operands = [every_exponent(dtype, 3, seed)[:600] for seed in range(op.arity or 0)]
    whole = function(*operands)
    for start in (1, 3, 8, 13):
        for length in (1, 7, 16, 31, 100):
            part = function(*(x[start : start + length].copy() for x in operands))
            np.testing.assert_array_equal(part.view(np.uint8), whole[start : start + length].copy().view(np.uint8))
    strided = function(*(x[::-3] for x in operands))
    np.testing.assert_array_equal(strided.view(np.uint8), whole[::-3].copy().view(np.uint8))


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
def test_angles_next_to_multiples_of_a_quarter(name: str) -> None:
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(60):
        random = np.random.default_rng(1)
        turns = [int(2**e) for e in random.uniform(0, 44, 3000)]
        angles = np.array([float(n * mpmath.pi / 2) for n in turns])
        exact = [getattr(mpmath, name)(mpmath.mpf(float(x))) for x in angles]
        actual = compiled(OPS[name])(angles)
        units = [mpmath.mpf(float(unit)) for unit in np.spacing(abs(actual))]
        errors = [abs(mpmath.mpf(float(a)) - e) / unit for a, e, unit in zip(actual, exact, units, strict=True)]
    assert max(errors) < 1.8


@pytest.mark.parametrize("name", ["sin", "cos", "tan"])
@dtypes
def test_enormous_angles(name: str, dtype: Any) -> None:
    op = OPS[name]
    x = np.exp2(np.linspace(0, np.finfo(dtype).maxexp - 1e-3, 5000)).astype(dtype)
    x[::5] = -1.5
    assert (distance(op, compiled(op)(x), correctly_rounded(op, [x])) <= 2).all()


def vector_body(text: str) -> str:
    """The innermost loops of assembly, by their labels and backward jumps."""
    lines = text.splitlines()
    places = {line.split(":")[0]: number for number, line in enumerate(lines) if re.match(r"\.LBB\w+:", line)}
    found: list[str] = []
    for number, line in enumerate(lines):
        jump = re.match(r"\s+j\w+\s+(\.LBB\w+)", line)
        if jump and places.get(jump[1], number) < number:
            body = lines[places[jump[1]] : number]
            found.append("\n".join(body))
    return "\n".join(body for body in found if re.search(r"[yz]mm", body))


AVX512 = ("skylake-avx512", "+sse2,+avx,+avx2,+fma,+avx512f,+avx512dq,+avx512vl,+avx512bw,+avx512cd,+bmi,+bmi2,+f16c")


@pytest.mark.skipif(llvm.host_dialect() is llvm.CPU, reason="assembly of x86-64 is read")
@functions
@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
def test_loop_is_vector_code(op: Op, dtype: Any) -> None:
    specs = [f"{dtype}[n]"] * (op.arity or 0)
    names = "xy"[: op.arity]
    lowered = pytocu.jit(make_function(names, [f"np.{op.numpy}({', '.join(names)})"], {"np": np})).lower(*specs)
    body = vector_body(cpu.assembly(lowered.compile("cpu").source, AVX512))
    assert re.search(r"vfmadd\w+p[sd]", body), "no fused multiply-add of vectors"
    calls = set(re.findall(r"call\w*\s+(\S+)", body))
    assert all(guards.PREFIX in call for call in calls), calls
    assert bool(calls) <= (op.name in ("sin", "cos", "tan"))


def test_guarded_functions_call_the_library_for_large_arguments_only() -> None:
    text = guards.definitions(["large.sinf", "large.cos"], llvm.CPU)
    assert text.count("alwaysinline") == len(guards.LANES[F32]) + len(guards.LANES[F64]) + 2
    x = np.array([1.0, LARGEST, np.nextafter(LARGEST, np.inf), -1e300, 2.0], np.float64)
    np.testing.assert_allclose(compiled(OPS["sin"])(x), np.sin(x), rtol=4e-16)


def test_a_function_that_is_called_for_vectors_alone_is_defined() -> None:
    names = ["large.cos.16", "large.sinf", "large.sinf.4", "math.cos", "llvm.cos"]
    assert guards.declared(names) == ["large.cos", "large.sinf"]
    x = np.linspace(-1e4, 1e4, 3000)
    found = pytocu.jit(sine_and_cosine)(x)
    np.testing.assert_allclose(found, np.sin(x) * np.cos(x) + np.tan(x), rtol=1e-13, atol=1e-15)


def sine_and_cosine(x):
    return np.sin(x) * np.cos(x) + np.tan(x)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128], ids=lambda d: d.__name__)
def test_complex_powers_of_two_of_large_angles(dtype: Any) -> None:
    # The size of the angle's rest is that of the angle's last bit, which may be more than a full turn.
    exponents = np.array([1 + 1e17j, 1 + (2.0**30 + 0.3) * 1j, -1.5 + 3e38j, -3e38j], dtype)
    found = pytocu.jit(make_function("x", ["np.exp2(x)"], {"np": np}))(exponents)[0]
    np.testing.assert_allclose(np.abs(found), 2.0**exponents.real, rtol=1e-6 if dtype is np.complex64 else 1e-15)
    if dtype is np.complex128:
        # By mpmath.
        wanted = [-0.9654578382602515 - 1.7515396548585025j, 1.6661905798435028 - 1.1062589894056328j]
        np.testing.assert_allclose(found[:2], wanted, rtol=1e-15)
