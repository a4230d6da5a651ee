"""Operations on a real GPU: both backends, exact bits, bounds of the elementary functions, views.

Run with ``pytest -m gpu``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.ir.types import ALL_DTYPES, dtype_named
from pytocu.testing import accuracy
from pytocu.testing.cases import check_group, device_failures
from pytocu.testing.compare import compare, edge_values
from pytocu.testing.operands import ALWAYS, Group, Operand

pytestmark = pytest.mark.gpu


def on_gpu(function: Any, backend: str) -> Any:
    return pytocu.jit(function, device="cuda", backend=backend)


@pytest.mark.parametrize("backend", ["cuda_c", "nvvm"])
@pytest.mark.parametrize("dtypes", [*[(d.name,) for d in ALL_DTYPES], *ALWAYS], ids=" ".join)
def test_every_case(dtypes: tuple[str, ...], backend: str) -> None:
    """Arrays of every dtype and the usual pairs: exact operations have the CPU's bits."""
    group = Group(tuple(Operand("array", d) for d in dtypes), 64)
    failures = device_failures(group, lambda function, *arguments: on_gpu(function, backend)(*arguments))
    assert not failures, "\n".join(map(str, failures[:20]))


def test_comparisons_of_halves_where_many_are_alive() -> None:
    """The assembler read another predicate where a truth value was an integer on its way."""
    for dtype, text in (("i8", "np.int8(5)"), ("i8", "np.int8(-3)"), ("u8", "np.uint8(200)")):
        group = Group((Operand("scalar", "f16", "np.float16(2.5)"), Operand("zero_d", dtype, text)))
        failures = device_failures(group, lambda function, *arguments: on_gpu(function, "nvvm")(*arguments))
        assert not failures, "\n".join(map(str, failures[:20]))


@pytest.mark.parametrize("backend", ["cuda_c", "nvvm"])
@pytest.mark.parametrize("dtype", ["bool", "i8", "i16", "i32", "u8", "u16", "u32"])
def test_both_and_either_where_many_are_alive(dtype: str, backend: str) -> None:
    """The assembler made one instruction of ``p & q`` and ``p | q``, and took the wrong result or gave a register away."""
    for value, number in ((1, "1.5-2j"), (0, "-0j"), (0, "complex(np.inf, 1)")):
        plain = Operand("zero_d", dtype, f"np.dtype('{dtype_named(dtype).numpy}').type({value})")
        wide = Operand("scalar", "c128", f"np.complex128({number})")
        flag = Operand("python", "bool", str(bool(value)))
        for operands in ((plain, wide), (wide, plain), (wide, flag)):
            failures = device_failures(Group(operands), lambda function, *arguments: on_gpu(function, backend)(*arguments))
            assert not failures, "\n".join(map(str, failures[:20]))


def test_scalars_and_errors() -> None:
    texts = {"scalar": ("f32", "np.float32(2.5)"), "zero_d": ("i16", "np.int16(-3)"), "python": ("float", "2.5")}
    for form, (dtype, text) in texts.items():
        group = Group((Operand("array", "f32"), Operand(form, dtype, text)), 64)
        failures = check_group(group, lambda function, *arguments: on_gpu(function, "cuda_c")(*arguments))
        assert not failures, "\n".join(map(str, failures[:20]))


def test_elementary_functions_are_within_their_bounds() -> None:
    if np.finfo(np.longdouble).nmant < 63:
        pytest.skip("long double is no wider than float64 here")
    measured = list(accuracy.measure(accuracy.callers(gpu=True), 30_000, seed=5))
    assert {backend for _, _, backend, _, _ in measured} == set(accuracy.BACKENDS)
    beyond = [(op.name, str(d), backend, ulp, where) for op, d, backend, ulp, where in measured if ulp > accuracy.bound(op, d)]
    assert not beyond, beyond


@pytest.mark.parametrize("backend", ["cuda_c", "nvvm"])
def test_loops_of_every_thread_its_own_length(backend: str) -> None:
    """Euclid's algorithm takes another number of steps in every thread of a warp."""
    random = np.random.default_rng(0)
    for dtype in ("i4", "i8", "u4", "u8", "i1"):
        x = np.frombuffer(random.bytes(100_003 * np.dtype(dtype).itemsize), dtype)
        y = np.concatenate([edge_values(dtype, 200), random.permutation(x)[200:]])
        actual = on_gpu(lambda x, y: (np.gcd(x, y), np.lcm(x, y), np.bitwise_count(x)), backend)(x, y)
        compare(actual, (np.gcd(x, y), np.lcm(x, y), np.bitwise_count(x)))


@pytest.mark.parametrize("backend", ["cuda_c", "nvvm"])
def test_negative_exponents_are_errors(backend: str) -> None:
    """Found by the kernel, raised where the result is copied to the host; the next call is right again."""
    x, exponents = np.arange(-3, 4, dtype="i4"), np.arange(7, dtype="i4")
    function = on_gpu(lambda x, y: x**y, backend)
    for _ in range(2):
        compare(function(x, exponents), x**exponents)
        with pytest.raises(ValueError, match="Integers to negative integer powers are not allowed"):
            function(x, x)


@pytest.mark.parametrize("backend", ["cuda_c", "nvvm"])
@pytest.mark.parametrize("exponent", [True, 1, 1.0], ids=str)
def test_the_first_power_is_the_base(exponent: Any, backend: str) -> None:
    """NumPy copies where the exponent is a Python number; the library's power of 1 may be an ulp off."""
    function = on_gpu(lambda x, n: x**n, backend)
    for dtype in ("f2", "f4", "f8"):
        x = edge_values(dtype, 1000)
        compare(function(x, exponent), x**exponent)


@pytest.mark.parametrize("backend", ["cuda_c", "nvvm"])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_parts_of_random_numbers(dtype: str, backend: str) -> None:
    """Subnormal results, every exponent, one rounding."""
    random = np.random.default_rng(1)
    x = np.frombuffer(random.bytes(200_001 * np.dtype(dtype).itemsize), dtype)
    y, n = random.permutation(x), random.integers(-2500, 2500, x.size).astype("i4")
    actual = on_gpu(
        lambda x, y, n: (np.ldexp(x, n), *np.frexp(x), *np.modf(x), np.nextafter(x, y), np.spacing(x), np.round(x, 3)), backend
    )(x, y, n)
    with np.errstate(all="ignore"):
        expected = (np.ldexp(x, n), *np.frexp(x), *np.modf(x), np.nextafter(x, y), np.spacing(x), np.round(x, 3))
    compare(actual, expected)


def test_views_of_cupy_arrays_share_memory(cupy: Any) -> None:
    x = cupy.arange(12, dtype=cupy.float32).reshape(3, 4)
    bits, turned = pytocu.jit(lambda x: (x.view(np.int32), x.T.view(np.uint32)[1:]))(x)
    assert bits.dtype == cupy.int32 and turned.dtype == cupy.uint32
    assert bits.data.ptr == x.data.ptr and turned.shape == (3, 3)
    bits[0, 0] = 0x40000000
    assert float(x[0, 0]) == 2.0
    compare(turned.get(), x.T.view(np.uint32)[1:].get())


def test_views_of_torch_tensors_share_memory(torch: Any) -> None:
    x = torch.arange(6, dtype=torch.float32, device="cuda")
    bits = pytocu.jit(lambda x: x.view(np.int32)[1:])(x)
    assert bits.dtype == torch.int32 and bits.data_ptr() == x.data_ptr() + 4
    assert bits.tolist() == x.view(torch.int32)[1:].tolist()


def test_functions_of_cupy(cupy: Any) -> None:
    """CuPy's own names are the same operations."""
    x, i = cupy.asarray([1.25, -2, np.nan, 0]), cupy.asarray([4, 9, -12, 0])

    def function(x, i):
        return cupy.gcd(i, 6), *cupy.modf(x), cupy.nan_to_num(x), cupy.isclose(x, 1), cupy.round(x, 1), cupy.sign(x)

    actual = pytocu.jit(function)(x, i)
    a, b = x.get(), i.get()
    expected = (np.gcd(b, 6), *np.modf(a), np.nan_to_num(a), np.isclose(a, 1), np.round(a, 1), np.sign(a))
    compare(tuple(v.get() for v in actual), expected)
