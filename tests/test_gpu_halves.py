"""float16 on GPUs: its own instructions in the text, and the bits of formulas that begin with an approximation."""

from __future__ import annotations

import itertools
import re
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.ir import interp_rows
from pytocu.testing.compare import compare, edge_values, same_bits, ulp_distance
from pytocu.testing.matrix import call_threads

pytest.importorskip("cuda.bindings.nvrtc", reason="needs cuda-python: pip install 'pytocu[cu13]'")
from test_backend_cuda_c import ptx_of

from pytocu.backend import nvvm

HALVES = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
# The last one is read by the newer of the two LLVMs in libNVVM.
ARCHITECTURES = ("sm_75", "sm_80", "sm_90", "sm_100")


def chain(x, y):
    return x * y + x - y * 0.5


def native(x, y):
    return x + y, x - y, x * y, -x, abs(x), x * x + y, np.square(y) - x


def compared(x, y):
    return x < y, x <= y, x > y, x >= y, x == y, x != y, np.logical_and(x, y), np.logical_xor(x, y), np.logical_not(x)


def selected(x, y):
    return (
        np.maximum(x, y), np.minimum(x, y), np.fmax(x, y), np.fmin(x, y), np.where(x > y, x, y), np.clip(x, y, 2.0),
        np.sign(x), np.heaviside(x, y),
    )  # fmt: skip


def quotient(x, y):
    return x / y, np.reciprocal(x)


def unlike(x, y):
    """How many pairs differ from float32's results, rounded: by ``+ - * /``."""
    x = x[:, np.newaxis]
    wide_x, wide_y = x.astype(np.float32), y.astype(np.float32)
    found = []
    for a, b in ((x + y, wide_x + wide_y), (x - y, wide_x - wide_y), (x * y, wide_x * wide_y), (x / y, wide_x / wide_y)):
        b = b.astype(np.float16)
        other = (a != b) | (np.signbit(a) != np.signbit(b))
        found.append(np.sum(other & ~(np.isnan(a) & np.isnan(b))))
    return tuple(found)


def root(x):
    return np.sqrt(x)


def tangent(x):
    return np.tanh(x)


def ptx(function: Any, count: int, backend: str, arch: str) -> str:
    compiled = pytocu.jit(function).lower(*["f16[n]"] * count).compile(f"cuda:{arch}", backend)
    if backend == "cuda_c":
        return ptx_of(compiled.source, arch.replace("sm_", "compute_"))
    return nvvm.ptx(compiled.source, arch, "kernel")


@pytest.mark.parametrize("arch", ARCHITECTURES)
@pytest.mark.parametrize("backend", ["cuda_c", "nvvm"])
def test_arithmetic_is_one_instruction_each(backend: str, arch: str) -> None:
    text = ptx(chain, 2, backend, arch)
    for verb in ("add", "sub", "mul"):
        assert f"{verb}.rn.f16 " in text
    # Nothing is widened, joined, flushed or left to the assembler.
    assert not re.search(r"fma|mad\.f|\.ftz|f32|\b(add|sub|mul)\.f16", text)
    assert text.count("mul.rn.f16 ") == 2 * text.count("add.rn.f16 ") == 2 * text.count("sub.rn.f16 ")


@pytest.mark.parametrize(("backend", "compared"), [("cuda_c", "f32"), ("nvvm", "f16")])
def test_choices_are_made_between_bits(backend: str, compared: str) -> None:
    text = ptx(lambda x, y: np.maximum(x, y), 2, backend, "sm_90")
    assert set(re.findall(r"setp\.\w+\.(f\d+)", text)) == {compared}
    # Nothing is rounded, and no predicate is an integer on its way: the assembler has read another one then.
    assert not re.search(r"cvt\.rn|selp\.b32 %r\d+, 1, 0", text)
    assert compared == "f32" or "f32" not in text


def pairs() -> tuple[np.ndarray, np.ndarray]:
    """Every pair of edge values, and random bits."""
    edges = edge_values(np.float16, 64)
    random = np.random.default_rng(3).integers(0, 1 << 16, (2, 4000), dtype=np.uint16).view(np.float16)
    x, y = np.meshgrid(edges, edges)
    return np.concatenate([x.ravel(), random[0]]), np.concatenate([y.ravel(), random[1]])


@pytest.mark.parametrize("function", [chain, native, compared, quotient], ids=lambda f: f.__name__)
def test_bits_of_pairs_are_numpys(function: Any) -> None:
    x, y = pairs()
    with np.errstate(all="ignore"):
        expected = function(x, y)
    actual = call_threads(function, x, y)
    many = isinstance(expected, tuple)
    for a, e in zip(actual if many else (actual,), expected if many else (expected,), strict=True):
        compare(a, e)


def test_pairs_are_float32s_rounded() -> None:
    """A device runs this with every pair."""
    edges = edge_values(np.float16, 64)
    assert call_threads(unlike, edges[:40], edges) == (0, 0, 0, 0)


def test_chosen_bits_are_the_cpus() -> None:
    """NumPy's choice between zeros depends on the processor."""
    x, y = pairs()
    for a, e in zip(call_threads(selected, x, y), pytocu.jit(selected)(x, y), strict=True):
        compare(a, e)


def signs(h, x):
    return np.signbit(h.astype(np.float32)), np.copysign(x, h.astype(np.float32)), h.astype(np.float32).astype(np.float16)


def test_a_cast_keeps_the_sign_of_a_nan() -> None:
    """The instruction forgets it, so the kernel has more than the instruction."""
    x = np.ones(HALVES.size, np.float32)
    for actual, expected in zip(call_threads(signs, HALVES, x), signs(HALVES, x), strict=True):
        assert same_bits(actual, expected).all()
    text = pytocu.jit(lambda h: h.astype(np.float32)).lower("f16[n]").ir()
    assert "copysign" in text
    text = pytocu.jit(lambda h: h.astype(np.float32) * 2).lower("f16[n]").ir()
    assert "copysign" not in text


def moved(row: str, units: int) -> Any:
    """The row of the interpreter with every normal result so many units farther."""
    function = interp_rows._RAW[row]

    def beside(x: Any) -> Any:
        made = np.asarray(function(x))
        ordinary = np.isfinite(made) & (abs(made) >= np.finfo(np.float32).tiny)
        return np.where(ordinary, (made.view(np.int32) + units).view(np.float32), made)[()]

    return beside


@pytest.mark.parametrize("units", [-2, -1, 0, 1, 2])
def test_quotients_do_not_depend_on_the_reciprocals_last_digits(monkeypatch: Any, units: int) -> None:
    """Significands of both operands in steps, subnormal numbers, and random bits."""
    monkeypatch.setitem(interp_rows._RAW, "near_reciprocal", moved("near_reciprocal", units))
    random = np.random.default_rng(units + 7)
    x, y = random.integers(0, 1 << 16, (2, 300_000), dtype=np.uint16).view(np.float16)
    near_one = HALVES[0x3C00:0x4000]
    x = np.concatenate([x, np.repeat(near_one, 64), np.repeat(HALVES[:64], 1024)])
    y = np.concatenate([y, np.resize(near_one[random.permutation(1024)], 64 * 1024), np.tile(near_one, 64)])
    with np.errstate(all="ignore"):
        compare(call_threads(lambda x, y: x / y, x, y), x / y)


@pytest.mark.parametrize("units", [-4, -1, 0, 1, 4])
def test_roots_do_not_depend_on_the_inverses_last_digits(monkeypatch: Any, units: int) -> None:
    monkeypatch.setitem(interp_rows._RAW, "near_inverse_root", moved("near_inverse_root", units))
    with np.errstate(all="ignore"):
        compare(call_threads(root, HALVES), np.sqrt(HALVES))


def test_hyperbolic_tangent_does_not_depend_on_the_last_digits(monkeypatch: Any) -> None:
    """Every float16, with the power up to four units and the reciprocal two units off, each way."""
    plain = call_threads(tangent, HALVES)
    with np.errstate(all="ignore"):
        rounded = np.tanh(HALVES.astype(np.float64)).astype(np.float16)
    assert ulp_distance(plain, rounded).max() <= 1
    assert (plain != rounded)[~np.isnan(rounded)].sum() <= 64
    assert same_bits(-call_threads(tangent, -HALVES), plain).all()
    # Nearer to zero neither is used, and farther away the result is 1.
    used = (abs(HALVES) > 0.2) & (abs(HALVES) < 20)
    powers = [moved("near_power_of_two", units) for units in (-4, -2, 0, 2, 4)]
    reciprocals = [moved("near_reciprocal", units) for units in (-2, 0, 2)]
    for power, reciprocal in itertools.product(powers, reciprocals):
        monkeypatch.setitem(interp_rows._RAW, "near_power_of_two", power)
        monkeypatch.setitem(interp_rows._RAW, "near_reciprocal", reciprocal)
        assert same_bits(call_threads(tangent, HALVES[used]), plain[used]).all()


def test_constants_that_are_not_numbers() -> None:
    """Their bits are one, which formulas over bits must not take for a number."""

    def chosen(x):
        nan = np.float16("nan")
        return np.fmax(x, nan), np.fmin(nan, x), np.maximum(x, nan), np.clip(x, nan, 1)

    x = np.array([1.0, -0.0, np.nan, np.inf], np.float16)
    for found, wanted in zip(call_threads(chosen, x), chosen(x), strict=True):
        assert same_bits(found, wanted).all()
