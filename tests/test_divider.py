"""Quotients and roots that are made by multiplication: the bits of the instructions, for hard operands and odd ones."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from test_backend_cpu import call, on_x86_64, same_bits

import pytocu
from pytocu.backend import cpu, divider, llvm
from pytocu.runtime import native

SAPPHIRE = ("sapphirerapids", "+avx2,+fma,+f16c,+bmi,+bmi2,+avx512f,+avx512vl,+avx512bw,+avx512dq,+avx512cd,+avx512fp16")


def has(feature: str) -> bool:
    return llvm.host_dialect() is not llvm.CPU and f"+{feature}" in cpu.host_cpu()[1].split(",")


on_avx512 = pytest.mark.skipif(not has("avx512dq"), reason="whole registers of AVX-512 are computed")


def texts(function: Any, *specs: str) -> tuple[str, list[str]]:
    """LLVM IR for a processor whose loops wait for the divider, and the kernels' names."""
    functions = pytocu.jit(function).lower(*specs).compile("cpu")._functions
    dialect = llvm.host_dialect()._replace(waits=True, masks=True, long=16)
    return llvm.emit(functions, dialect), [f.name for f in functions]


def compiled(function: Any, *specs: str) -> Any:
    """The kernel, called with its parameters and the number of its iterations."""
    text, (name,) = texts(function, *specs)
    assert divider.PREFIX in text
    address = native.load(cpu.build(text), [name])[name]
    return lambda *args: call(address, args, args[-1])


def scaled(x, s):
    return x / s


def rows_scaled(x, s):
    return x / s[:, None]


def root(x):
    return np.sqrt(x)


def hard_dividends(divisors: np.ndarray, digits: int) -> np.ndarray:
    """Whole numbers of so many digits whose quotients by odd ones of these are next to the middle of two floats."""
    columns: list[np.ndarray] = []
    one = 1 << (digits - 1)
    for rest in (1, -1, 2, -2, 3, -3, 4, -4):
        x = np.full(len(divisors), rest, np.int64) % divisors
        for halvings in range(1, digits + 2):
            # x is `rest` over a power of two, modulo the divisor.
            x = np.where(x % 2 == 0, x // 2, (x + divisors) // 2)
            if halvings == digits:
                columns.append(np.where(x + divisors < 2 * one, x + divisors, one))
        columns.append(np.where(x >= one, x, one))
    return np.stack(columns, 1)


@on_avx512
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_quotients_next_to_the_middle_of_two_floats(dtype: Any) -> None:
    digits = np.finfo(dtype).nmant + 1
    random = np.random.default_rng(3)
    one = 1 << (digits - 1)
    divisors = random.integers(one, 2 * one, 20_000) | 1
    divisors[:3] = one + 1, 2 * one - 1, 2 * one - 3
    hard = hard_dividends(divisors, digits)
    assert (hard.min(), (hard != one).mean() > 0.3) == (one, True)
    x = np.tile(hard, (1, 2)).astype(dtype)
    x[:, 1::2] *= dtype(-1)
    s = divisors.astype(dtype) * np.ldexp(dtype(1), random.integers(-40, 0, len(divisors)))
    out = np.empty_like(x)
    name = np.dtype(dtype).name.replace("float", "f")
    run = compiled(rows_scaled, f"{name}[n, m]", f"{name}[n]")
    run(x, s, out, x.shape[1], len(x))
    same_bits(out, x / s[:, None])


@on_avx512
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_quotients_of_all_sizes(dtype: Any) -> None:
    """Subnormal, enormous, infinite and no numbers, in vectors of such and in vectors of others."""
    info = np.finfo(dtype)
    random = np.random.default_rng(4)
    exponents = random.integers(info.minexp - info.nmant, info.maxexp, 4096)
    x = (np.ldexp(random.uniform(1, 2, 4096), exponents) * random.choice([-1, 1], 4096)).astype(dtype)
    odd = np.array([0, np.inf, np.nan, info.max, info.tiny, info.smallest_subnormal, 3 * info.smallest_subnormal], dtype)
    x[:: len(odd) * 5][:140] = np.tile(odd, 20)[: len(x[:: len(odd) * 5][:140])]
    x[-len(odd) :] = -odd
    zeros = np.where(np.arange(2048) % 3 == 0, dtype(0), random.standard_normal(2048).astype(dtype))
    x = np.concatenate([x, zeros, -zeros, np.full(64, -0.0, dtype)])
    ones = np.array([1, 3, 0.1, 7e-9, 1e5, 2.0**21.9, 2.0**22.1, 2.0**50.9, 1e-30, 1e-31, 1e-36, 1e30], dtype)
    near_one = np.array([1 - info.epsneg, 1 + info.eps], dtype)
    divisors = np.concatenate([ones, odd, info.tiny * np.array([0.5, 1.5, 3], dtype), near_one])
    name = np.dtype(dtype).name.replace("float", "f")
    run = compiled(scaled, f"{name}[n]", name)
    with np.errstate(all="ignore"):
        for s in np.concatenate([divisors, -divisors]):
            out = np.empty_like(x)
            run(x, s, out, len(x))
            same_bits(out, x / s)


@on_avx512
def test_roots_of_all_digits() -> None:
    """What the estimate is depends on the digits and on whether the exponent is even."""
    bits = np.arange(np.float32(1).view(np.uint32), np.float32(4).view(np.uint32), dtype=np.uint32)
    run = compiled(root, "f32[n]")
    for x in (bits.view(np.float32), (bits - np.uint32(200 << 22)).view(np.float32)):
        out = np.empty_like(x)
        run(x, out, len(x))
        assert np.array_equal(out, np.sqrt(x))


@on_avx512
def test_roots_of_all_sizes() -> None:
    info = np.finfo(np.float32)
    x = np.ldexp(np.random.default_rng(5).uniform(1, 2, 8192), np.arange(8192) % 277 - 149).astype(np.float32)
    odd = np.array([0, -0.0, np.inf, -np.inf, np.nan, -1, info.max, info.tiny, info.smallest_subnormal], np.float32)
    x[::57][: len(odd)] = odd
    x = np.concatenate([x, np.repeat(odd, 32)])
    out = np.empty_like(x)
    compiled(root, "f32[n]")(x, out, len(x))
    with np.errstate(all="ignore"):
        same_bits(out, np.sqrt(x))


@on_x86_64
def test_instructions_of_the_way_that_is_taken() -> None:
    text, _ = texts(lambda x, s: np.sqrt(x / s), "f32[n]", "f32")
    assembly = cpu.assembly(text, SAPPHIRE)
    for instruction in ("vfpclassps", "vrsqrt14ps"):
        assert re.search(rf"\b{instruction}\b.*%zmm", assembly), instruction
    # Behind the jumps.
    assert re.search(r"\bvdivps\b.*%zmm", assembly) and re.search(r"\bvsqrtps\b.*%zmm", assembly)
    # Other processors have the instructions.
    old = cpu.assembly(text, ("skylake", "+avx2,+fma"))
    assert "vrsqrt14" not in old and re.search(r"\bvdivps\b.*%ymm", old)


def test_every_second_register_of_roots_is_the_dividers() -> None:
    vector = "<16 x float>"
    lines = [f"  %v{n} = call {vector} @exact.sqrtf.16({vector} %a{n})" for n in range(3)]
    shared = divider.shared_out("\n".join(lines)).splitlines()
    assert ["llvm.sqrt.v16f32" in line for line in shared[:3]] == [False, True, False]
    assert shared[-1] == f"declare {vector} @llvm.sqrt.v16f32({vector})"
    # A single one is multiplied.
    assert divider.shared_out(lines[0]) == lines[0]


def means(x, n):
    return np.exp(np.sin(x) * np.log(x)) / n


def of_elements(x, y):
    return x / y


@on_x86_64
@pytest.mark.parametrize(
    ("function", "specs", "made"),
    [
        (scaled, ("f32[n]", "f32"), {"divide"}),
        (rows_scaled, ("f64[n, m]", "f64[n]"), {"divide"}),
        (lambda x: x / 3, ("f32[n]",), {"divide"}),
        # A power of two, by whose inverse LLVM multiplies.
        (lambda x: x / 4, ("f32[n]",), set()),
        (of_elements, ("f32[n]", "f32[n]"), set()),
        # Other operations take longer.
        (means, ("f32[n]", "f32"), set()),
        (lambda x, y: x / np.sqrt(x * x + y * y), ("f32[n]", "f32[n]"), {"sqrt"}),
        (root, ("f64[n]",), set()),
        (lambda x, n: x // n, ("i32[n]", "i32"), set()),
    ],
)
def test_loops_that_wait_for_the_divider(function: Any, specs: tuple[str, ...], made: set[str]) -> None:
    text, _ = texts(function, *specs)
    assert {name.removesuffix("f") for name in re.findall(r"call \w+ @exact\.(\w+)\(", text)} == made


def test_fastmath_leaves_the_division_to_llvm() -> None:
    lowered = pytocu.jit(scaled, fastmath=True).lower("f32[n]", "f32")
    text = llvm.emit(lowered.compile("cpu")._functions, llvm.host_dialect()._replace(waits=True))
    assert "fdiv" in text and divider.PREFIX not in text


@on_x86_64
def test_a_divisor_that_the_loop_changes_is_divided_by() -> None:
    def running(x):
        for i in range(1, x.shape[0]):
            x[i] = x[i] / x[0]
        x[0] = x[0] / x[0]
        return x

    x = np.linspace(0.5, 8, 100, dtype=np.float32)
    expected = running(x.copy())
    same_bits(pytocu.jit(running)(x), expected)


def to_bytes(x, s):
    return np.clip(np.rint(x / s), -128, 127).astype(np.int8)


@on_avx512
def test_what_is_converted_or_zero() -> None:
    x = np.concatenate([np.linspace(-9, 9, 5000), [np.nan, -np.nan, np.inf, -np.inf, 0.0]]).astype(np.float32)
    x[::71] = np.nan
    with np.errstate(all="ignore"):
        expected = [to_bytes(x, np.float32(0.03)), x.astype(np.int16), (x * 1e10).astype(np.int64)]
    out = np.empty(len(x), np.int8)
    compiled(to_bytes, "f32[n]", "f32")(x, np.float32(0.03), out, len(x))
    number = ~np.isnan(x)
    assert np.array_equal(out[number], expected[0][number]) and not out[~number].any()
    finite = np.isfinite(x)
    for other, function, without in (
        (expected[1], lambda x: x.astype(np.int16), 0),
        (expected[2], lambda x: (x * 1e10).astype(np.int64), np.iinfo(np.int64).min),
    ):
        found = pytocu.jit(function)(x)
        assert np.array_equal(found[finite], other[finite]) and (found[~finite] == without).all()
