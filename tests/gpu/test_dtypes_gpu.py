"""float16 and complex numbers on a device, with both GPU backends.  Run with ``pytest -m gpu``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_dtypes import CASE_IDS, CASES, HALVES, function_of, halfway, operands, rows_of, to_half
from test_gpu_halves import compared, native, quotient, root, selected, signs, tangent, unlike

import pytocu
from pytocu.ir.core import Op
from pytocu.ir.types import ALL_DTYPES, C64, C128, F16, DType
from pytocu.testing import accuracy
from pytocu.testing.cases import check_group, device_failures
from pytocu.testing.compare import compare, edge_values, same_bits, ulp_distance
from pytocu.testing.complex_reference import PLAIN_STEPS
from pytocu.testing.matrix import call_threads
from pytocu.testing.operands import Group, Operand

pytestmark = pytest.mark.gpu

BACKENDS = ("cuda_c", "nvvm")


@pytest.fixture(params=BACKENDS)
def on_gpu(request: Any) -> Callable[[Any], Any]:
    """NumPy arrays in and out of kernels on the device."""
    return lambda function: pytocu.jit(function, device="cuda", backend=request.param)


@pytest.mark.parametrize("op", [op for op in rows_of(F16) if op.arity == 1], ids=lambda op: op.name)
def test_every_float16_of_one_operand(on_gpu: Any, op: Op) -> None:
    function = function_of(op)
    (actual,) = on_gpu(function)(HALVES)
    with np.errstate(all="ignore"):
        (expected,) = function(HALVES)
        assert actual.dtype == expected.dtype
        if op.exact:
            assert same_bits(actual, expected).all()
            return
        (wide,) = function(HALVES.astype(np.float64))
        assert (ulp_distance(actual, wide.astype(np.float16)) <= 1).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_casts_to_float16_round_once(on_gpu: Any, dtype: Any) -> None:
    x = halfway(dtype)
    with np.errstate(all="ignore"):
        compare(on_gpu(to_half)(x), x.astype(np.float16))


@pytest.mark.parametrize("dtype", [d for d in ALL_DTYPES if d.kind in "biu"], ids=str)
def test_integers_to_float16(on_gpu: Any, dtype: DType) -> None:
    x = np.concatenate([np.arange(70000).astype(dtype.numpy), edge_values(dtype.numpy, 500)])
    with np.errstate(all="ignore"):
        compare(on_gpu(to_half)(x), x.astype(np.float16))


@pytest.mark.parametrize(("op", "dtype"), CASES, ids=CASE_IDS)
def test_every_row(on_gpu: Any, op: Op, dtype: DType) -> None:
    """Rows without elementary functions have the CPU's bits; of the others the kinds are compared."""
    function = function_of(op)
    given = operands(op, dtype, 2000)
    (actual,), (native,) = on_gpu(function)(*given), pytocu.jit(function)(*given)
    exact = op.exact and not op.complex_ulp if dtype.kind == "c" else op.exact
    if exact or (dtype.kind == "c" and op.name in PLAIN_STEPS):
        compare(actual, native)
    else:
        assert (actual.dtype, actual.shape) == (native.dtype, native.shape)


def test_every_function_is_within_its_bound(on_gpu: Any) -> None:
    measured = [m for m in accuracy.measure({"gpu": on_gpu}, 20000, seed=5) if m[1] in (F16, C64, C128)]
    assert len(measured) > 50
    beyond = [(op.name, str(dtype), ulp, where) for op, dtype, _, ulp, where in measured if ulp > accuracy.bound(op, dtype)]
    assert not beyond


def every_pair(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Some float16 beside all float16: edge values first, then random ones."""
    some = np.concatenate([edge_values(np.float16, 64), np.random.default_rng(6).permutation(HALVES)])[:rows]
    return np.repeat(some, HALVES.size), np.tile(HALVES, rows)


@pytest.mark.parametrize("function", [native, compared, quotient], ids=lambda f: f.__name__)
def test_instructions_of_float16_have_numpys_bits(on_gpu: Any, function: Any) -> None:
    jitted = on_gpu(function)
    for given in (every_pair(96), every_pair(96)[::-1]):
        with np.errstate(all="ignore"):
            expected = function(*given)
        for a, e in zip(jitted(*given), expected, strict=True):
            compare(a, e)


def test_every_pair_of_float16_is_float32s_result_rounded(on_gpu: Any) -> None:
    jitted = on_gpu(unlike)
    for part in np.split(HALVES, 16):
        assert [int(count) for count in jitted(part, HALVES)] == [0, 0, 0, 0]


def test_choices_between_float16_are_the_cpus(on_gpu: Any) -> None:
    given = every_pair(96)
    for a, e in zip(on_gpu(selected)(*given), pytocu.jit(selected)(*given), strict=True):
        compare(a, e)


@pytest.mark.parametrize("function", [root, tangent], ids=lambda f: f.__name__)
def test_formulas_of_float16_have_the_bits_of_every_gpu(on_gpu: Any, function: Any) -> None:
    """The interpreter's approximations are not the device's, and the float16 is the same."""
    assert same_bits(on_gpu(function)(HALVES), call_threads(function, HALVES)).all()


def test_a_cast_of_float16_keeps_the_sign_of_a_nan(on_gpu: Any) -> None:
    x = np.ones(HALVES.size, np.float32)
    for actual, expected in zip(on_gpu(signs)(HALVES, x), signs(HALVES, x), strict=True):
        assert same_bits(actual, expected).all()


PAIRS = [("f16", "f16"), ("f16", "f32"), ("f16", "i8"), ("f16", "c64"), ("c64", "c64"), ("c64", "f64"), ("c128", "c128"),
         ("c128", "f16"), ("i64", "c64"), ("bool", "c128")]  # fmt: skip


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_pairs_of_dtypes(on_gpu: Any, pair: tuple[str, str]) -> None:
    group = Group(tuple(Operand("array", name) for name in pair), 40)
    failures = device_failures(group, lambda function, *arguments: on_gpu(function)(*arguments))
    assert not failures, "\n".join(map(str, failures))


@pytest.mark.parametrize(
    "other",
    [Operand("python", "complex", "2-1j"), Operand("scalar", "c64", "np.complex64(1.5-2j)"),
     Operand("scalar", "f16", "np.float16(2.5)"), Operand("literal", "complex", "1j")],
    ids=str,
)  # fmt: skip
def test_scalars(other: Operand) -> None:
    for array in (Operand("array", "c64"), Operand("array", "f16"), Operand("array", "f32")):
        group = Group((array, other))
        failures = check_group(group, lambda function, *arguments: pytocu.jit(function, device="cuda")(*arguments))
        assert not failures, "\n".join(map(str, failures))


def computed(z, h, s):
    return z * s + h, abs(z), h * h - h, z.conj(), np.where(h > 0, h, -h), z.real[::-1] + h


def parts(z):
    return z.real, z.imag, z[1:].imag


def test_cupy_arrays(cupy: Any) -> None:
    z, h = edge_values(np.complex64, 200)[20:], edge_values(np.float16, 200)[20:]
    given = cupy.asarray(z), cupy.asarray(h)
    with np.errstate(all="ignore"):
        expected = pytocu.jit(computed)(z, h, 2 - 1j)
    actual = pytocu.jit(computed)(*given, 2 - 1j)
    # All but the absolute value, which is the library's hypot.
    for number, (a, e) in enumerate(zip(actual, expected, strict=True)):
        assert isinstance(a, cupy.ndarray) and a.dtype == e.dtype
        if number != 1:
            compare(a.get(), e)
    for a, e in zip(pytocu.jit(parts)(given[0]), parts(z), strict=True):
        compare(a.get(), e)
        assert a.data.mem.ptr == given[0].data.mem.ptr


def test_torch_tensors(torch: Any) -> None:
    z, h = edge_values(np.complex64, 200)[20:], edge_values(np.float16, 200)[20:]
    for where in ("cuda", "cpu"):
        given = torch.as_tensor(z, device=where), torch.as_tensor(h, device=where)
        with np.errstate(all="ignore"):
            expected = pytocu.jit(computed)(z, h, 2 - 1j)
        actual = pytocu.jit(computed)(*given, 2 - 1j)
        for number, (a, e) in enumerate(zip(actual, expected, strict=True)):
            assert isinstance(a, torch.Tensor) and a.device.type == where
            if number != 1:
                compare(a.cpu().numpy(), e)
        for a, e in zip(pytocu.jit(parts)(given[0]), parts(z), strict=True):
            compare(a.cpu().numpy(), e)
            assert a.untyped_storage().data_ptr() == given[0].untyped_storage().data_ptr()
        with pytest.raises(pytocu.UnsupportedError, match="conjugated"):
            pytocu.jit(parts)(given[0].conj())


def test_interfaces_and_dlpack(cupy: Any) -> None:

    class Interface:
        def __init__(self, owner: Any):
            self.owner, self.__cuda_array_interface__ = owner, owner.__cuda_array_interface__

    class Exchange:
        def __init__(self, owner: Any):
            self.__dlpack__, self.__dlpack_device__ = owner.__dlpack__, owner.__dlpack_device__

    def twice(x):
        return x + x

    for dtype in (np.float16, np.complex64, np.complex128):
        x = edge_values(dtype, 90)
        with np.errstate(all="ignore"):
            expected = x + x
        for wrap in (Interface, Exchange):
            compare(cupy.asarray(pytocu.jit(twice)(wrap(cupy.asarray(x)))).get(), expected)
