"""Arguments of ufuncs, results written into arrays, and what kind of object comes back, as tables of expressions."""

from __future__ import annotations

import math

import pytest
from edge_tools import check, refused

VECTOR = ("np.arange(6.0)", "np.array([True, False] * 3)")

KEYWORDS = (
    "np.sqrt(a, dtype='f4')", "np.sqrt(a, dtype=np.float32)", "np.sqrt(a, dtype=float)", "np.add(a, 1, dtype=int)",
    "np.add(a, 1, dtype=int, casting='unsafe')", "np.add(a, 1, casting='no')", "np.add(a, 1, casting='equiv')",
    "np.add(a, 1, casting='safe')", "np.add(a, 1, casting='bad')", "np.add(a, 1, order='K')", "np.add(a, 1, order='Z')",
    "np.add(a, 1, subok=False)", "np.add(a, 1, subok=True)", "np.add(a, 1, subok=2)", "np.add(a, 1, where=True)",
    "np.add(a, 1, where=b, out=a)", "np.add(a, 1, where=True, out=a)", "np.add(a, 1, None)", "np.add(a, 1, out=(None,))",
    "np.add(a, 1, out=(a,))", "np.add(a, 1, out=a)", "np.add(a, 1, a)", "np.add(a, 1, a, out=a)", "np.add(a, 1, out=[a])",
    "np.add(a, 1, out=())", "np.add(a, 1, out=(a, a))", "np.add(a, 1, out=3)", "np.add(a)", "np.add()", "np.add(a, 1, a, 1)",
    "np.add(a, 1, foo=3)", "np.add(a, 1, sig='dd->d')", "np.add(a, 1, signature='dd->d')", "np.add(a, 1, signature='ff->f')",
    "np.add(a, 1, signature='ff->f', casting='unsafe')", "np.add(a, 1, signature=(None, None, np.float64))",
    "np.add(a, 1, signature=None)", "np.add(a, 1, sig=None)", "np.add(a, 1, dtype='d', signature='dd->d')",
    "np.add(a, 1, dtype=None)", "np.add(a, 1, axis=0)", "np.add(a, 1, keepdims=True)", "np.add(a, 1, extobj=[])",
    "np.equal(a, 1, dtype=bool)", "np.equal(a, 1, dtype=float)", "np.less(a, 2, dtype='f4')", "np.isnan(a, dtype=bool)",
    "np.isfinite(a, dtype='f4')", "np.signbit(a, dtype=float)", "np.divmod(a, 2, dtype='f4')", "np.modf(a, dtype='f4')",
    "np.frexp(a, dtype='f4')", "np.ldexp(a, 1, dtype='f4')",
)  # fmt: skip
OF_BOOLS = (
    "np.floor(b)", "np.ceil(b, dtype=float)", "np.negative(b)", "np.positive(b)", "np.subtract(b, b)", "np.add(b, b)",
    "np.multiply(b, b)", "np.absolute(b)", "np.sign(b)", "np.invert(b)", "np.left_shift(b, b)", "np.bitwise_and(b, True)",
    "np.square(b)", "np.sqrt(b)", "np.floor_divide(b, b)", "np.remainder(b, b)", "np.power(b, b)", "np.maximum(b, b)",
    "np.gcd(b, b)", "np.heaviside(b, b)", "np.copysign(b, b)", "np.spacing(b)", "np.nextafter(b, b)", "np.hypot(b, b)",
    "np.arctan2(b, b)", "np.ldexp(b, 1)", "np.frexp(b)", "np.modf(b)", "np.bitwise_count(b)", "np.conjugate(b)", "np.rint(b)",
    "np.trunc(b)", "np.fabs(b)", "np.true_divide(b, b)", "np.fmod(b, b)", "np.lcm(b, b)", "np.signbit(b)", "np.deg2rad(b)",
    "np.float_power(b, b)",
)  # fmt: skip


def test_keywords() -> None:
    check(VECTOR, KEYWORDS)
    check(VECTOR, OF_BOOLS, 2)


def test_keywords_that_are_refused() -> None:
    defined = "what it leaves out is not defined"
    for body, said, help in (
        ("np.vecdot(a, a, order='A')", "with the argument order='A'", "leave it out"),
        ("np.matmul(a[None], a, order='F')", "with the argument order='F'", "np.copy(result, order='F')"),
        ("np.add(a, 1, where=b)", defined, "np.where(condition, result, other)"),
        ("np.add(a, 1, where=b, out=None)", defined, "np.where(condition, result, other)"),
        ("np.add(a, 1, where=False)", defined, "np.where(condition, result, other)"),
        ("a[0].fill(1)", "fill() of a NumPy scalar", "give the name the new value"),
    ):
        refused(VECTOR, body, said, help)


# An array is returned where ``out=...`` asks for it.


def test_arrays_where_there_would_be_scalars() -> None:
    check(
        ["np.array(2.5)", "np.float64(1)", "np.arange(3.0)"],
        ["np.add(c, 1, out=...)", "np.sqrt(b, out=...)", "np.sqrt(4.0, out=...)", "np.add(1, 2, out=...)",
         "np.sqrt(a, out=...)", "np.divmod(a, 2, out=...)", "np.divmod(c[0], 2, out=...)",
         "np.add(c[0], 1, out=..., dtype='f4')", "np.less(b, 2, out=...)", "np.clip(b, 0, 1, out=...)",
         "np.clip(a, 0, 1, out=...)"],
    )  # fmt: skip


# Results in arrays: other dtypes, other shapes, memory of an operand.

PLANE = ("np.arange(6.0).reshape(2, 3)", "np.zeros((2, 3))", "np.zeros((2, 3), 'f4')", "np.zeros((2, 3), 'i8')",
         "np.zeros((4, 2, 3))", "np.zeros((2, 1))")  # fmt: skip
INTO = (
    "np.sqrt(a, out=b)", "np.sqrt(a, out=c)", "np.sqrt(a, out=d)", "np.sqrt(a, out=d, casting='unsafe')", "np.sqrt(a, out=e)",
    "np.sqrt(a, out=f)", "np.sqrt(a[0], out=b)", "np.sqrt(a[:, :1], out=b)", "np.sqrt(a[:, :1], out=f)",
    "np.add(a, 1, out=b[::-1])", "np.add(a, b, out=b)", "np.add(a, a[::-1], out=a)",
    "np.add(a[:, 1:], a[:, :-1], out=a[:, 1:])", "np.add(a.T, 1, out=b.T)", "np.divmod(a, 2, out=(b, c))",
    "np.divmod(a, 2, out=(b, None))", "np.divmod(a, 2, b)", "np.divmod(a, 2, None, b)", "np.divmod(a, 2, b, c)",
    "np.divmod(a, 2, out=b)", "np.divmod(a, 2, out=(b,))", "np.modf(a, out=(b, c))", "np.modf(a, b, c)",
    "np.frexp(a, out=(b, d))", "np.frexp(a, out=(b, c))", "np.frexp(a, out=(None, d))", "np.modf(a, out=(a, b))",
    "np.equal(a, 1, out=b)", "np.equal(a, 1, out=d)", "np.isnan(a, out=b)", "np.less(a, 2, out=np.zeros((2, 3), bool))",
    "np.add(a, 1j, out=b)", "np.add(a, 1j, out=b, casting='unsafe')", "np.add(d, 1.5, out=d)",
    "np.add(d, 1.5, out=d, casting='unsafe')", "np.add(d, d, out=b)", "np.add(d, 1, out=c)", "np.true_divide(d, 2, out=d)",
    "np.floor_divide(d, 2, out=b)", "np.multiply(a, 2, out=c, dtype='f4')", "np.multiply(a, 2, out=c, dtype='f8')",
    "np.multiply(c, 2, out=b, dtype='f4')", "np.add(1, 2, out=b)", "np.add(a[0, 0], 1, out=b)", "np.clip(a, 1, 3, out=b)",
    "np.clip(a, 1, 3, out=c)", "np.clip(a, 1, 3, out=d)", "np.clip(a, 1, 3, a)", "a.clip(1, 3, out=d, casting='unsafe')",
    "np.round(a, out=b)", "np.nan_to_num(a, copy=False)", "np.conjugate(a, out=b)", "np.copyto(b, a)", "np.copyto(d, a)",
    "np.copyto(d, a, casting='unsafe')", "np.copyto(b, a, where=a > 2)\nreturn b", "np.copyto(b, 3)\nreturn b",
    "np.copyto(d, 2.5)\nreturn d", "np.copyto(b, a[0])\nreturn b", "a.fill(3)\nreturn a", "np.where(a > 1, a, b)",
)  # fmt: skip
REDUCED_INTO = (
    "np.sum(a, axis=0, out=b[0])", "np.sum(a, axis=0, out=c[0])", "np.sum(a, axis=0, out=d[0])",
    "np.sum(d + 2, axis=0, out=d[0])", "np.mean(d, axis=0, out=c[0])", "np.max(d, axis=0, out=c[0])",
    "np.sum(a, axis=1, out=f[:, 0])", "np.sum(a, axis=1, keepdims=True, out=f)", "np.sum(a, axis=1, out=f)",
    "np.sum(a, out=b[0, 0])", "np.sum(a, out=np.zeros(()))", "np.mean(a, axis=0, out=b[0])", "np.mean(a, axis=0, out=c[0])",
    "np.mean(a, axis=0, out=d[0])", "np.cumsum(a, axis=0, out=b)", "np.cumsum(a, out=b)", "np.cumsum(a, axis=0, out=c)",
    "np.cumsum(a, axis=0, out=d)", "np.max(a, axis=0, out=b[0])", "np.max(a, axis=0, out=d[0])", "np.any(a, axis=0, out=b[0])",
    "np.all(a, axis=0, out=d[0])", "np.argmax(a, axis=0, out=d[0])", "np.argmax(a, axis=0, out=b[0])",
    "np.var(a, axis=0, out=b[0])", "np.std(a, axis=0, out=c[0])", "np.prod(a, axis=0, out=c[0])",
    "np.add.reduce(a, 0, None, b[0])", "np.add.accumulate(a, 1, None, b)", "np.cumsum(a, axis=0, out=a)",
    "np.cumsum(a[:, ::-1], axis=1, out=a)", "np.add.reduce(a, axis=())", "np.add.reduce(a, axis=1, keepdims=True)",
    "np.add.reduce(a, axis=0, initial=10)", "np.add.reduce(a, axis=0, where=a > 1)", "np.add.reduce(a, axis=0, dtype='f4')",
    "np.add.accumulate(a, axis=1, dtype='f4')", "np.maximum.accumulate(a)", "np.minimum.reduce(a, axis=1, initial=1)",
    "np.logical_and.reduce(a)", "np.logical_or.reduce(a, axis=1)", "np.logical_xor.reduce(a, axis=None)",
    "np.bitwise_or.reduce(d, axis=None)", "np.bitwise_and.reduce(d)", "np.bitwise_xor.accumulate(d)",
    "np.multiply.reduce(d[:0])", "np.maximum.reduce(d[:0])", "np.maximum.reduce(d[:0], initial=3)", "np.gcd.reduce(d, axis=1)",
    "np.fmax.reduce(a, axis=1)",
)  # fmt: skip


def test_results_in_arrays() -> None:
    check(PLANE, INTO)


def test_reductions_in_arrays() -> None:
    check(PLANE, REDUCED_INTO, 2)


# Kinds of results: scalars, arrays without axes, the argument itself, views.

SAME_KIND = (
    "np.sum(a)", "np.sum(a, axis=0)", "np.sum(a, axis=())", "np.sum(a, keepdims=True)", "np.mean(a)", "np.any(a)", "np.all(a)",
    "np.argmax(a)", "np.argmax(a, axis=0)", "np.cumsum(a)", "np.cumsum(a, axis=0)", "np.cumprod(a)", "np.ptp(a)",
    "np.nansum(a)", "np.nanmean(a)", "np.count_nonzero(a)", "np.average(a)", "np.sort(a)", "np.argsort(a)",
    "np.argsort(a, axis=0)", "np.argsort(a, axis=None)", "np.square(a)", "np.negative(a)", "np.divmod(a, 2)", "np.modf(a)",
    "np.frexp(a)", "np.fix(a)", "np.clip(a, 0, 1)", "np.where(a, 1, 2)", "np.angle(a)", "np.isnan(a)", "np.isreal(a)",
    "np.iscomplex(a)", "np.iscomplexobj(a)", "np.isscalar(a)", "np.ndim(a)", "np.shape(a)", "np.size(a)", "np.array(a)",
    "np.size(a, axis=-1)", "np.size(a, (0,))", "np.size(a, axis=())", "np.array(a, copy=None)", "np.array(a, ndmin=2)",
    "np.array(a, copy=False)", "np.array(a, 'f4', copy=None, ndmin=1)", "np.asarray(a, order='C', copy=True)",
    "np.asarray(a, copy=False)", "np.asarray(a, 'f2', copy=False)", "np.asarray(a, order='A')",
    "np.array([a, a], ndmin=1, copy=None)", "np.ascontiguousarray(a)", "np.ascontiguousarray(a, 'c8')",
    "np.asarray(a, dtype='c8')", "np.copy(a)", "np.atleast_1d(a)", "np.atleast_2d(a)", "np.atleast_3d(a)", "np.ravel(a)",
    "np.reshape(a, 1)", "np.reshape(a, (1, 1))", "np.reshape(a, -1)", "np.expand_dims(a, 0)", "np.full(2, a)",
    "np.zeros_like(a)", "np.ones_like(a)", "np.zeros_like(a, shape=(2,))", "np.repeat(a, 3)", "np.tile(a, 2)", "np.roll(a, 1)",
    "np.flip(a)", "np.append(a, a)", "np.stack([a, a])", "np.hstack([a, a])", "np.vstack([a, a])", "np.dstack([a, a])",
    "np.column_stack([a, a])", "np.concatenate([a, a])", "np.dot(a, a)", "np.inner(a, a)", "np.outer(a, a)", "np.vdot(a, a)",
    "np.kron(a, a)", "np.matmul(a, a)", "np.isclose(a, a)", "np.sign(a)", "np.diff(a)", "np.gradient(a)", "np.unwrap(a)",
    "np.nonzero(a)", "np.flatnonzero(a)", "np.unique(a)", "np.diag(a)", "np.tril(a)", "np.moveaxis(a, 0, 0)",
    "np.swapaxes(a, 0, 0)", "np.linalg.norm(a)", "np.bincount(a)", "np.int8(a)", "np.bool_(a)", "np.squeeze(a, ())", "abs(a)",
    "~a", "a + a", "a ** 2", "a[...]", "a[None]", "a[..., None]", "a[0]", "a == a", "len(a)", "math.sqrt(1)",
    "np.swapaxes(a, 0, 1)", "np.matmul(a, np.ones(2))", "np.linspace(0, 1, 3)", "np.max(a, initial=9)",
)  # fmt: skip
ARGUMENT_ITSELF = (
    "np.real(a)", "np.conj(a)", "np.asarray(a)", "np.asanyarray(a)", "np.squeeze(a)", "np.transpose(a)", "np.permute_dims(a)",
    "np.transpose(a, ())", "a[()]", "a.real", "a.imag", "a.T", "a.copy()", "a.view()", "a.reshape(1)", "a.ravel()",
    "a.flatten()", "a.squeeze()", "a.transpose()", "a.conj()", "a.astype('c8')", "a.round()", "a.nonzero()", "a.argsort()",
    "a.cumsum()", "np.nan_to_num(a)", "np.round(a)",
)  # fmt: skip


ARRAYS = ("np.array(2.5)", "np.array(3, 'i8')", "np.array(False)", "np.array([[1, 2]])", "np.ones(1)")
SCALARS = ("np.float64(2.5)", "np.int8(3)", "np.bool_(True)", "np.complex64(1+2j)", "np.float16(1.5)")


@pytest.mark.parametrize("argument", ARRAYS)
def test_kinds_of_results_of_arrays(argument: str) -> None:
    check([argument], (*SAME_KIND, *ARGUMENT_ITSELF), scope={"math": math})


@pytest.mark.parametrize("argument", SCALARS)
def test_kinds_of_results_of_scalars(argument: str) -> None:
    check([argument], (*SAME_KIND, *ARGUMENT_ITSELF), scope={"math": math})


@pytest.mark.parametrize("argument", ["2.5", "3", "True", "1j"])
def test_kinds_of_results_of_python_numbers(argument: str) -> None:
    rows = [body for body in (*SAME_KIND, *ARGUMENT_ITSELF) if "np." in body]
    check([argument], rows)


def test_numbers_that_a_dtype_does_not_hold() -> None:
    check(["1j", "300"], [
        "np.asarray(a, dtype='f4')", "np.asarray(a, dtype=int)", "np.array(a, dtype='f8')", "np.array(1j, dtype='f8')",
        "np.asarray(a, dtype='c8')", "np.array(a, dtype=bool)", "np.full(2, a, 'f4')", "np.array([a], dtype='f4')",
        "np.array([1j], dtype='f4')", "np.asarray(b, dtype='u1')", "np.array(b, dtype='i1')", "np.array(300, dtype='u1')",
        "np.asarray(-1, 'u4')", "np.uint8(b)", "np.array([b], 'u1')", "np.array([300], 'u1')", "np.asarray(2.7, 'i4')",
        "np.full(2, 300, 'u1')", "np.full(2, b, 'u1')", "np.full(2, b, 'f4')", "np.full(2, 2.7, 'i4')",
    ])  # fmt: skip


# Views of a memory that changes, returned as they are at the end.


def test_views_are_read_when_they_are_returned() -> None:
    check(["np.arange(6.0).reshape(2, 3)"], [
        "np.einsum('ij->ji', a)", "np.einsum('ij', a)", "np.einsum('ji', a)", "np.einsum('ii->i', a[:, :2])",
        "np.einsum('ij->', a)", "t = np.einsum('ij->ji', a)\na += 1\nreturn t, a",
        "t = np.einsum('ij->ji', a)\nt += 1\nreturn t, a", "t = np.broadcast_to(a, (2, 2, 3))\na += 1\nreturn t + 0, a",
        "x, y = np.broadcast_arrays(a, a[0])\na += 1\nreturn x + y", "t = a.T\na[0] = 7\nreturn t + 0, t",
        "t = a[None]\na[0] = 7\nreturn t", "t = a.reshape(-1)\nt[0] = 9\nreturn t, a",
    ])  # fmt: skip


def test_broadcast_arrays_of_the_common_shape_are_themselves() -> None:
    given = ["np.arange(3.0)", "np.arange(3.0) + 4"]
    check(given, ["np.broadcast_arrays(a, b)", "x, y = np.broadcast_arrays(a, b)\ny[0] = 9\nreturn x, y, b"])
    refused(given, "x, y = np.broadcast_arrays(a[None], b)\ny[0] = 9\nreturn b", "what np.broadcast_arrays repeats", "a copy")
