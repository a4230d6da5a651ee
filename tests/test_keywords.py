"""Keyword arguments of NumPy's functions and methods, by name and by position, and what is said where one is refused."""

from __future__ import annotations

import numpy as np
import pytest
from edge_tools import check, refused
from mask_tools import builds, everywhere

from pytocu.testing.cases import call_interpreted, call_jit
from pytocu.testing.operands import make_function

PLANE = ("np.array([[3., 1, 4, 1], [5, 9, 2, 6], [5, 3, 5, 8]])", "np.array([3, 1, 2, 2, 0, 1])", "np.zeros((3, 4))",
         "np.array([[4., 1, 0], [1, 5, 2], [0, 2, 6]])")  # fmt: skip
COLUMNS = ("np.asfortranarray(np.arange(6.).reshape(2, 3))", "np.arange(6.).reshape(2, 3)",
           "np.arange(24.).reshape(2, 3, 4)[:, ::-1]")  # fmt: skip


def test_parameters_have_numpys_names() -> None:
    check(PLANE, [
        "np.round(a=a / 3, decimals=1)", "np.around(a=a)", "np.clip(a=a, a_min=2, a_max=4)", "np.moveaxis(a=a, source=0, "
        "destination=1)", "np.swapaxes(a=a, axis1=0, axis2=1)", "np.expand_dims(a=a, axis=0)", "np.isscalar(element=b[0])",
        "np.empty_like(prototype=a[:0])", "c.put(indices=[0, 1], values=[5, 6])\nreturn c", "(b % 2).choose(b, 7)",
        "a.swapaxes(0, 1)",
        "np.linalg.det(a=d)", "np.linalg.inv(a=d)", "np.linalg.slogdet(a=d)",
    ], ulp=8)  # fmt: skip


@pytest.mark.parametrize("text", ["np.reshape(a=a, shape=(4, 3))", "np.astype(x=a, dtype='f4')", "np.where(condition=a)",
    "np.linalg.outer(x1=a, x2=a)", "np.vdot(a=a, b=a)"])  # fmt: skip
def test_names_of_parameters_that_are_taken_by_position(text: str) -> None:
    check(PLANE, [text])


def test_devices_and_likes() -> None:
    check(PLANE, [
        "np.zeros(3, device='cpu')", "np.zeros(3, device='x')", "np.zeros(3, device=None, like=a)", "np.zeros(3, like=2)",
        "np.ones(3, 'i4', device='cpu')", "np.empty((2, 0), device='cpu')", "np.full(2, 3, device='cpu')",
        "np.full_like(b, 3, device='cpu')", "np.zeros_like(a, device='cpu')", "np.ones_like(a, device='x')",
        "np.empty_like(a[:0], device='cpu')", "np.arange(3, device='cpu', like=None)", "np.arange(3, device='gpu')",
        "np.linspace(0, 1, 3, device='cpu')", "np.eye(3, device='cpu')", "np.identity(3, like=a)", "np.tri(3, like=a)",
        "np.asarray(a, device='cpu')", "np.asarray([1, 2], device='x')", "np.asanyarray(a, device=None)",
        "np.array(a, like=a)", "np.ascontiguousarray(a, like=a)", "np.astype(a, 'f4', device='cpu')",
        "np.astype(a, 'f4', device='x')", "np.fft.fftfreq(5, device='cpu')", "np.fft.rfftfreq(5, 0.5, 'cpu')",
    ])  # fmt: skip


def test_orders() -> None:
    check(COLUMNS, [
        "np.ravel(a, 'K')", "b.T.ravel('K')", "a.T.ravel(order='K')", "b[:, ::-1].ravel('K')", "a[:, ::-1].ravel('K')",
        "(b.T + 1).ravel('K')", "(b + 1).reshape(-1, order='A')", "(a.T + 1).ravel('A')", "(a + 1).reshape(-1, order='A')",
        "a.flatten('K')", "b.T.flatten('K')", "a.ravel('A')",
        "b.ravel('A')", "a.reshape((3, 2), order='A')", "b.T.reshape(2, 3, order='A')", "np.reshape(c, -1, 'A')",
        "a.flatten('A')", "a.T.flatten('A')", "a.flatten('X')", "np.zeros(3, order='K')", "np.empty((2, 0), order='x')",
        "np.zeros_like(a, order='A')", "np.eye(3, order='K')", "np.full(3, 1, order='A')", "np.zeros_like(a, order='x')",
    ])  # fmt: skip


@pytest.mark.parametrize("text", [
    "a.copy()", "a.copy('C')", "a.T.copy()", "np.copy(a, 'C')", "np.copy(b[0], order='F')", "a[1].astype('f4', 'F')",
    "np.ascontiguousarray(a)", "np.asarray(a, order='C')", "np.asarray(a, order='F')", "np.array(a, 'f4', order='C')",
    "a.astype('f4', order='C')", "a.astype(float, order='C', copy=False)", "a.astype(float, order='F', copy=False)",
    "a.astype('f4', 'K')", "b.astype(float, 'C', copy=False)", "np.zeros(3, order='F')", "np.full_like(b[0], 2, order='F')",
    "np.zeros_like(a, order='C')", "np.zeros((2, 3), order='F')", "b.copy('F')", "np.asarray(b, order='F')",
    "b.astype('f4', order='F')", "np.eye(2, order='F')", "np.full((2, 3), b[0], order='F')", "np.ones_like(b, order='F')",
    "np.full_like(b, b, order='F')", "np.copy(b, 'F').reshape(-1)", "np.asfortranarray(a)", "np.asfortranarray(b)",
    "np.array([b, b], order='F')", "np.add(a, 1, order='C')", "np.add(b, 1, order='F')", "np.divmod(b, 2, order='F')[1]",
    "np.clip(b, 1, 3, order='F')", "np.sqrt(b[0], order='A')",
])  # fmt: skip
def test_orders_of_memory(text: str) -> None:
    check(COLUMNS, [text])
    given = [eval(argument) for argument in COLUMNS]
    function = make_function("abc", [text], {"np": np})
    found, expected = call_jit(function, *given), function(*given)
    (found, expected) = (f[0] if isinstance(f, tuple) else f for f in (found, expected))
    assert [found.flags.c_contiguous, found.flags.f_contiguous] == [expected.flags.c_contiguous, expected.flags.f_contiguous]


def column_copies(x, n):
    """Column-major arrays that a branch makes, that are changed, and of which others are computed."""
    if n > 2:
        y = np.copy(x, order="F")
    else:
        y = x * 2
    y[0] = 1
    z = np.zeros(x.shape, order="F")
    z[1:, 1:-1] = y[:-1, 2:] + x[1:, :-2]
    return y, z, np.copy(z / z.sum(1, keepdims=True), order="F"), np.copy(y.cumsum(1), "F"), np.copy(x.T, order="F").reshape(-1)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n", [2, 3])
def test_column_major_arrays_are_worked_on(order: str, n: int) -> None:
    everywhere(column_copies, np.array(np.arange(20.0).reshape(4, 5) * 7 % 11 + 1, order=order), n, ulp=4)


def test_an_order_that_is_not_known() -> None:
    refused(COLUMNS, "c.transpose(2, 0, 1).flatten('K')", "not known while compiling", "order='C'")


@pytest.mark.parametrize("text", ["np.sort(a, order='x')", "np.argsort(a, -1, None, 'x')", "np.partition(a, 1, order='x')",
    "c.sort(axis=None)", "c.sort(-1, None, 'x')", "c.partition(1, axis=None)", "c.partition(1, -1, 'introselect', 'x')",
    "np.argmax(a, axis=1, out=np.zeros(4, int))", "np.concatenate((a, b[:4][None]), casting='no')",
    "np.concatenate((a, a), casting='x')", "np.arange(3, start=0)", "np.arange(3, dtype=bool)",
    "np.indices((2, 3), dtype=bool)",
    "a.astype('f4', casting='safe')", "a[0, 0].astype('i4', casting='no')", "a.astype('f4', casting='x')"])  # fmt: skip
def test_as_numpy_refuses(text: str) -> None:
    check(PLANE, [text])


@pytest.mark.parametrize("text", ["a.fill(value=3)", "a.choose(choices=[a, 7])", "a.sum(a=1)", "a.swapaxes(axis1=0, axis2=1)"])
def test_names_that_methods_do_not_take(text: str) -> None:
    function = make_function("a", [text], {"np": np})
    for call in (lambda x: function(x), lambda x: call_jit(function, x)):
        with pytest.raises(TypeError):
            call(np.ones((2, 2), int))


def test_more_that_numpy_takes() -> None:
    check(PLANE, [
        "np.average(a, axis=[0])", "np.cumulative_sum(a, axis=(0,))", "np.cumulative_prod(b, axis=(0,))",
        "np.compress([True, False, True], a)", "np.compress([True, False, True], a, axis=1)", "a.compress([False, True], 0)",
        "np.compress(np.arange(9) == 2, a, 1)", "np.compress(np.arange(9) == 5, a, 1)", "np.extract([True, False, True], a)",
        "c.sort(-1, None, None)", "c.partition(1, -1, 'introselect', None)", "np.sort(a, order=None)",
    ])  # fmt: skip


def test_the_argument_that_is_refused_is_named() -> None:
    for body, said, help in (
        ("np.array(a, ndmax=0)", "np.array with the argument ndmax= is not supported", "did you mean ndmin?"),
        ("a.astype('f4', casting='same_value')", "casting='same_value'", "np.all"),
        ("a.clip(2, where=a > 3)", "np.clip with the argument where= and no out=", "np.where"),
    ):
        refused(PLANE, body, said, help)


# Sorted the other way.

NUMBERS: dict[str, list[complex]] = {
    "f8": [3, np.nan, 1, -0.0, 0.0, 2, np.inf, 1, -np.inf, np.nan], "f2": [3, np.nan, 1, 2, 2, -5], "i1": [3, -128, 127, 3, 0],
    "u2": [3, 0, 65535, 7, 7], "i8": [3, -(2**63), 2**63 - 1, 0], "?": [True, False, True],
    "c16": [1 + 2j, complex(np.nan, 1), 1 + 1j, complex(1, np.nan), 3, 1 + 2j],
}  # fmt: skip
descending = pytest.mark.skipif(np.lib.NumpyVersion(np.__version__) < "2.5.0",
                                reason="NumPy 2.5 has descending=")  # fmt: skip


@descending
@pytest.mark.parametrize("dtype", NUMBERS)
def test_descending(dtype: str) -> None:
    x = np.array(NUMBERS[dtype], dtype)
    texts = ["np.sort(a, descending=True, stable=True)", "np.argsort(a, descending=True, stable=True)",
             "np.sort(a, descending=False)", "np.argsort(a, descending=None, stable=True)", "a.argsort(descending=1, stable=1)",
             "np.sort(a[:, None] * a, axis=0, descending=True, stable=True)", "np.sort(a[:0], descending=True)",
             "np.sort(np.stack((a, a)), axis=None, descending=True, stable=True)"]  # fmt: skip
    with np.errstate(all="ignore"):
        everywhere(make_function("a", texts, {"np": np}), x)
        check(["x.copy()"], ["a.sort(descending=True, stable=True)\nreturn a"], scope={"x": x})


@descending
def test_descending_as_numpy_refuses() -> None:
    check(PLANE, ["np.sort(a, kind='stable', descending=True)", "np.argsort(a, descending=True, kind='heapsort')",
                  "np.sort(a, axis=2, descending=True)"])  # fmt: skip


# Factors of matrices.

MATRICES = (
    "np.array([[3., 1, 4, 1], [5, 9, 2, 6], [5, 3, 5, 8]])", "np.array([[4., 1, 9], [1, 5, 2], [0, 2, 6]])",
    "np.array([[4, 1j, 0], [-1j, 5, 2], [7, 2, 6]])", "np.arange(24, dtype='f4').reshape(2, 4, 3) ** 2 % 7",
)  # fmt: skip
QR = (
    "np.linalg.qr(a, mode='complete')", "np.linalg.qr(a.T, 'complete')", "np.linalg.qr(a.T, 'r')", "np.linalg.qr(a, 'raw')",
    "np.linalg.qr(a.T, mode='raw')", "np.linalg.qr(d, 'reduced')", "np.linalg.qr(d, mode='complete')",
    "np.linalg.qr(d, mode='r')", "np.linalg.qr(c, 'r')", "np.linalg.qr(a[:0], 'complete')", "np.linalg.qr(a[:, :0], 'r')",
    "np.linalg.qr(a, 'x')", "np.linalg.qr(a, None)", "np.linalg.qr(a[0], 'r')", "np.linalg.qr(b.astype('i4'), 'r')",
)  # fmt: skip
TRIANGLES = (
    "np.linalg.cholesky(b, upper=True)", "np.linalg.cholesky(b, upper=False)", "np.linalg.cholesky(c, upper=1)",
    "np.linalg.cholesky(-b, upper=True)", "np.linalg.cholesky(np.stack((b, b + 1)), upper=True)",
    "np.linalg.cholesky(b[:0, :0], upper=True)", "np.linalg.cholesky(b, True)",
    "np.linalg.eigh(b, 'U')", "np.linalg.eigh(b, UPLO='l')", "np.linalg.eigvalsh(b, 'U')", "np.linalg.eigvalsh(c, UPLO='u')",
    "np.linalg.eigvalsh(b, 'x')", "np.linalg.eigh(b, UPLO=1)", "np.linalg.eigvalsh(np.stack((b, b.T)), UPLO='U')",
)  # fmt: skip
SYMMETRIC = (
    "np.linalg.svd(b - 5, hermitian=True)", "np.linalg.svd(c, True, False, True)", "np.linalg.svd(c, hermitian=True)",
    "np.linalg.svd(b, compute_uv=False, hermitian=True)", "np.linalg.svd(a, hermitian=True)",
    "np.linalg.svd(np.stack((b, -b)), hermitian=True)", "np.linalg.matrix_rank(b, hermitian=True)",
    "np.linalg.matrix_rank(b * 0, None, True)", "np.linalg.pinv(b, hermitian=True)", "np.linalg.pinv(b, 1e-3, True)",
    "np.linalg.pinv(a, hermitian=True)",
)
INVERSES = (
    "np.linalg.pinv(a, 1e-3)", "np.linalg.pinv(a, rcond=0.5)", "np.linalg.pinv(a.T, rtol=1e-9)", "np.linalg.pinv(a, rtol=None)",
    "np.linalg.pinv(d, rtol=None)", "np.linalg.pinv(d, rcond=[1e-3, 0.9])", "np.linalg.pinv(c, rcond=a[0, 0] * 0.1)",
    "np.linalg.pinv(a, 1e-3, rtol=1)", "np.linalg.pinv(a, 1e-3, rtol=None)", "np.linalg.pinv(a=a, hermitian=False)",
    "np.linalg.pinv(a[:, :0], 1e-3)", "np.linalg.pinv(a[0], 1e-3)",
)
NORMS = (
    "np.linalg.norm(a, 2)", "np.linalg.norm(a, -2)", "np.linalg.norm(a, 'nuc')", "np.linalg.norm(a, ord=2, keepdims=True)",
    "np.linalg.norm(d, 2, axis=(1, 2))", "np.linalg.norm(d, 'nuc', (2, 0), True)", "np.linalg.norm(d, 2, (0, 1))",
    "np.linalg.matrix_norm(d, ord=-2)", "np.linalg.matrix_norm(c, ord='nuc', keepdims=True)", "np.linalg.norm(a[:0], 2)",
    "np.linalg.norm(a, 2, axis=(0, 0))", "np.linalg.norm(a.astype('f2'), 2)", "np.linalg.norm(a.astype('i4'), 'nuc')",
)


@pytest.mark.parametrize("texts", [QR, TRIANGLES, SYMMETRIC, INVERSES, NORMS])
def test_factors(texts: tuple[str, ...]) -> None:
    check(MATRICES, texts, ulp=512)


def test_factors_everywhere() -> None:
    b = np.array([[4.0, 1, 0], [1, 5, 2], [0, 2, 6]])
    texts = ["np.linalg.qr(a, 'raw')", "np.linalg.cholesky(a, upper=True)", "np.linalg.eigvalsh(a, 'U')",
             "np.linalg.pinv(a, 1e-3)", "np.linalg.norm(a, 2)", "np.linalg.svd(a, hermitian=True)[1]"]  # fmt: skip
    everywhere(make_function("a", texts, {"np": np}), b, ulp=64)


# Products.

PRODUCTS = (
    "np.arange(9.).reshape(3, 3)", "np.arange(24.).reshape(2, 3, 4) % 5", "np.array([1, -2, 3], 'f4')", "np.zeros((3, 4))",
    "np.arange(6).reshape(2, 3) * (1 + 1j)", "np.arange(9, dtype='i1').reshape(3, 3)",
)  # fmt: skip
MATMUL = (
    "np.matmul(a, b, out=np.zeros((2, 3, 4)))", "np.matmul(a, a, out=a)", "np.matmul(a, b[0], d)",
    "np.matmul(a, b[0], out=(d,))", "np.matmul(a, b[0], out=d.astype('f4'))", "np.matmul(a, b[0], out=d.astype('i4'))",
    "np.matmul(a, c, out=d[:, 1])", "np.matmul(a, b[0], out=d.astype('i4'), casting='unsafe')",
    "np.matmul(a, a, out=np.zeros((2, 3, 3)))", "np.matmul(a, a, d)", "np.matmul(b, a)", "np.matmul(a, a, out=np.zeros(3))",
    "np.matmul(a, a, out=3)", "np.matmul(c, c, out=...)", "np.matmul(c, c, out=np.zeros(()))",
    "np.matmul(a, b[0], out=d[::-1])", "np.matmul(a[:, :0], a[:0], out=np.ones((3, 3)))", "np.matmul(a, a, dtype='f4')",
    "np.matmul(a, a, dtype='f4', casting='no')", "np.matmul(f, f, dtype='f8')", "np.matmul(f, f, dtype=int)",
    "np.matmul(a, a, dtype='i4')", "np.matmul(a, a, dtype='i4', casting='unsafe')", "np.matmul(f, f, dtype=complex)",
    "np.matmul(a, f, signature='ff->f', casting='unsafe')", "np.matmul(a, a, signature='dd->d')",
    "np.matmul(a, a, sig=(None, None, float))", "np.matmul(f, f, dtype=bool, casting='unsafe')",
    "np.matmul(a, a, subok=False)", "np.matmul(a, a, axes=[(1, 0), (0, 1), (0, 1)])",
    "np.matmul(b, b, axes=[(1, 2), (2, 1), (1, 0)])", "np.matmul(a, b, axes=[(0, 1), (1, 2), (0, -1)])",
    "np.matmul(c, a, axes=[0, (1, 0), 0])", "np.matmul(c, c, axes=[0, 0, ()])", "np.matmul(a, a, axes=[(1, 0), (0, 1)])",
    "np.matmul(a, a, axes=[(1, 5), (0, 1), (0, 1)])", "np.matmul(a, a, axis=0)", "np.matmul(a, a, keepdims=True)",
    "np.matmul(a, a, order='x')", "np.matmul(a, a, foo=1)", "np.matmul(a, 2)", "np.matmul(a, a, casting='x')",
    "np.matmul(a, a, dtype='f4', signature='dd->d')", "np.matmul(a, b, d, axes=[(0, 1), (1, 2), (0, 1)])",
)  # fmt: skip
VECTORS = (
    "np.vecdot(a, c)", "np.vecdot(b, b, axis=0)", "np.vecdot(b, b, axis=-2, keepdims=True)", "np.vecdot(e, e, keepdims=True)",
    "np.vecdot(e, e, out=np.zeros(2, complex))", "np.vecdot(e, e, out=np.zeros(2))", "np.vecdot(a, a, np.zeros(3, 'f4'))",
    "np.vecdot(f, f, dtype=float)", "np.vecdot(f, f, out=np.zeros(3, 'i8'))", "np.vecdot(a, c, axes=[0, 0])",
    "np.vecdot(a, c, axes=[0, 0, ()])", "np.vecdot(b, b, axes=[1, 1, 1], keepdims=True)", "np.vecdot(c, c, out=...)",
    "np.vecdot(b, b, out=np.zeros((5, 2, 3)))", "np.vecdot(a, b)", "np.vecdot(a, 2)",
    "np.vecdot(b, b, axis=0, keepdims=True, out=np.zeros((1, 3, 4)))", "np.vecdot(a[:, :0], a[:, :0])",
    "np.linalg.vecdot(e, e, axis=0)", "np.linalg.vecdot(a, c)", "np.matvec(a, c)", "np.matvec(b, b[:, 0])",
    "np.matvec(b, b[0, 0], out=np.zeros((2, 3)))", "np.matvec(a, b)", "np.matvec(e[:, None], e)", "np.vecmat(c, a)",
    "np.vecmat(e, e[:, :, None])", "np.vecmat(e[0], a)", "np.vecmat(f[:2], a)", "np.vecmat(c, b, dtype=complex)",
    "np.vecmat(c, d, out=d[0])", "np.vecmat(c, b[:, :2])", "np.matvec(a, a, axes=[(0, 1), 0, 0])",
)  # fmt: skip
DOTS = (
    "np.dot(a, a, out=np.zeros((3, 3)))", "np.dot(a, a, np.zeros((3, 3), 'f4'))", "np.dot(a, a, out=d)",
    "np.dot(a, a, out=np.zeros(3))", "a.dot(b[0], out=d)", "a.dot(a[0], out=np.zeros(3))",
    "np.dot(c, c, out=np.zeros((), 'f4'))", "np.dot(2.0, a, out=np.zeros((3, 3)))",
    "np.dot(a, a, out=np.zeros((6, 6))[::2, ::2])", "np.dot(a, a, out=3)", "np.dot(f, f, out=np.zeros((3, 3), 'i1'))",
    "np.dot(a, a, out=a)", "np.dot(a[:, :0], a[:0], out=np.ones((3, 3)))", "np.outer(c, c, out=np.zeros((3, 3)))",
    "np.outer(a, c, np.zeros((9, 3), 'f4'))", "np.outer(c, c, out=np.zeros((3, 3), 'i4'))", "np.outer(c, c, out=d)",
    "np.linalg.multi_dot([a, a, b[0]], out=d)", "np.linalg.multi_dot([a, a], out=np.zeros((3, 3), 'f4'))",
    "np.linalg.multi_dot([a, a, a], out=d)",
)  # fmt: skip
EINSUM = (
    "np.einsum('ij,jk->ik', a, b[0], out=d)", "np.einsum('ij,jk', a, a, out=a, optimize=True)",
    "np.einsum('ij->j', a, out=d[0, :3])", "np.einsum('ij,jk', a, a, out=np.zeros((3, 3), 'f4'))",
    "np.einsum('ij,jk', a, a, out=np.zeros((3, 3), complex))",
    "np.einsum('ij,jk', a, a, out=np.zeros((3, 3), 'f4'), casting='same_kind')", "np.einsum('ij,jk', a, a, out=3)",
    "np.einsum('ij,jk', a, a, out=np.zeros(3))", "np.einsum('ij,ij', f, f, dtype=int)",
    "np.einsum('ij,ij->i', f, f, dtype='f4')", "np.einsum('ij,ij->i', a, a, dtype='f4', casting='unsafe')",
    "np.einsum('ij,ij->i', a, a, dtype='f4')", "np.einsum('ij,ij->i', f, f, out=np.zeros(3))",
    "np.einsum('ij,ij->i', f, f, out=np.zeros(3), optimize='greedy')", "np.einsum('i,i', c, c, optimize=True)",
    "np.einsum('i,i', c, c, out=np.zeros((), 'f4'))", "np.einsum('ij->ji', a, order='C')",
    "np.einsum('ii->i', a, out=np.zeros(3))", "np.einsum('ij,jk', a, a, order='x')",
    "np.einsum('ij,jk', a, a, optimize=True, dtype='f4')", "np.einsum('ij,jk', a, a, foo=1)",
)  # fmt: skip


LETTERS = (
    "np.einsum('...ij,...jk', b, b[:, 0, :, None])", "np.einsum('...ij,jk->...ik', b, b[0].T)", "np.einsum('...i->...', b)",
    "np.einsum('i...,i...', a, b[0, :, :3])", "np.einsum('ij...->ji...', b)", "np.einsum('...', b)",
    "np.einsum('..., ...', b, c[:, None])", "np.einsum('...ii->...i', a)", "np.einsum('...i,i', b, b[0, 0])",
    "np.einsum('i...->...', b[:, None])", "np.einsum('...i->i', b)", "np.einsum('...j->j...', b)",
    "np.einsum('ij,jk,kl->il', a, a, b[0])", "np.einsum('i,j,k', c, c, c)", "np.einsum('i,i,i', c, c, c)",
    "np.einsum('ij,kl,jk->il', a, b[0].T, b[0])", "np.einsum('i,i,j->j', c, c, c)", "np.einsum('ij,j,i->', a, c, c)",
    "np.einsum('...i,ij,...j->...', b[:, :, :3], a, b[:, :, :3])", "np.einsum('ij,ij,ij->ij', f, f, f)",
    "np.einsum('ij,jk,kl', a, a, a, optimize=True)", "np.einsum('ij,jk,kl->il', a, a, b[0], out=d)",
    "np.einsum(a, [0, 1], a, [1, 2])", "np.einsum(a, [0, 1], a, [1, 2], [2, 0])", "np.einsum(b, [..., 0], c[:1], [0])",
    "np.einsum(a, [1, 0])", "np.einsum(a, [0, 0], [])", "np.einsum(b, [..., 3], [3, ...])", "np.einsum('ij,jk', a[:1], a)",
    "np.einsum('ij,kj->ik', a[:, :1], a)", "np.einsum('ij,ij->ij', a[:, :1], a)", "np.einsum('ij,jk,kl', a, a)",
    "np.einsum('...i->i...j', a)", "np.einsum(a, [0, 70])", "np.einsum('ij,jk,kl', a, b, a)",
    "np.einsum('ij,ij,j->i', f.astype('f2'), f.astype('f2'), c.astype('f2'))",
    "np.einsum('i,ij,j', e[:, 0], e[:, :2], e[0, :2])",
)  # fmt: skip


@pytest.mark.parametrize("texts", [MATMUL, VECTORS, DOTS, EINSUM, LETTERS])
def test_products(texts: tuple[str, ...]) -> None:
    check(PRODUCTS, texts, ulp=8)


def test_products_change_arrays() -> None:
    bodies = ["np.matmul(a, b[0], out=d)\nreturn d", "np.matmul(a, a.T, out=a)\nreturn a", "np.dot(a, b[0], d)\nreturn d + 1",
              "np.vecdot(a, a, out=d[:, 0])\nreturn d", "np.outer(c, b[0, 0], out=d)\nreturn d",
              "t = np.einsum('ij,jk', a, b[1], out=d)\nt += 1\nreturn d"]  # fmt: skip
    check(PRODUCTS, bodies, ulp=8)


def test_lengths_of_outputs_are_those_of_the_call() -> None:
    for text in ("np.matmul(a, b, out=c)", "np.dot(a, b, out=c)", "np.einsum('ij,jk->ik', a, b, out=c)"):
        function = make_function("abc", [text], {"np": np})
        everywhere(function, np.ones((2, 3)), np.ones((3, 4)), np.zeros((2, 4)), ulp=4)
        with pytest.raises(ValueError):
            call_jit(function, np.ones((2, 3)), np.ones((3, 4)), np.zeros((2, 5)))


def test_axes_that_an_output_lacks_have_one_element() -> None:
    pairs = ((":1, None", ":, :2"), ("None, :2", ":, :1"), ("None, None", ":"), (":2, None", ":, :1"), ("0", ":, :1"))
    texts = [f"np.matmul(a[{a}], a[{b}], out=np.zeros({shape}))" for a, b in pairs
             for shape in ("(1, 2)", "(2,)", "(1,)", "(2, 1)", "(3, 3)", "(1, 3, 3)")]  # fmt: skip
    check(PRODUCTS, [*texts, "np.matvec(a[None], c, out=np.zeros(3, 'f8'))", "np.vecdot(a[:1], c, out=np.zeros(()))",
                     "np.vecdot(a[:2], c, out=np.zeros(()))", "np.matmul(a[:1], c, out=np.zeros(()))"], ulp=8)  # fmt: skip
    refused(PRODUCTS, "np.matmul(c, a[:1], out=np.zeros(()))", "an out= without axes", "as many axes")


def test_orders_and_axes_of_products_that_are_refused() -> None:
    refused(PRODUCTS, "np.matmul(a, a, order='F')", "order='F'", "np.copy(result, order='F')")
    text = "np.matmul(a, a, np.zeros((3, 3, 2)), axes=[(0, 1), (0, 1), (1, 0)])"
    refused(PRODUCTS, text, "out= of more axes", "as many axes")
    refused(PRODUCTS, "np.einsum('ij,jk', a, a, order='F')", "order='F'", "row-major")


# Results of functions that are no ufuncs in arrays.

ROOM = ("np.array([[3., 1, 4, 1], [5, 9, 2, 6], [5, 3, 5, 8]])", "np.array([2, 0, 1, 1])", "np.zeros((2, 4))",
        "np.zeros((3, 4), 'f4')", "np.zeros((3, 4), complex)", "np.zeros((3, 4), 'i4')")  # fmt: skip
TAKEN = (
    "np.take(a, [0, 2], axis=0, out=c)", "a.take([0, 2], 0, c, 'clip')", "np.take(a, b, 1, d)", "np.take(a, b, 1, out=f)",
    "np.take(a, [0, 2], out=c)", "np.take(a, [0, 9], 0, out=c)", "np.take(a, 1, out=np.zeros(()))", "np.take(a, 1, out=3)",
    "np.take(a, [5], 0, c[:1], mode='wrap')", "np.compress([True, False, True], a, 0, out=c)", "a.compress([0, 1, 1], 0, c)",
    "np.compress([True, False, True], a, axis=0, out=d)", "np.compress([True], a, 0, out=2)", "b.choose([1, 2, 3], out=b)",
    "np.choose(b, [b, 7, 2.5], out=c[0])", "np.choose(b, [b, 7], out=c)", "np.choose(b % 2, [b, 7], c[1], 'wrap')",
    "np.choose(b, [b, 7, 8], out=2)",
)
JOINED = (
    "np.concatenate((c, a[:1]), out=d)", "np.concatenate((c, a[:1]), 0, e)", "np.concatenate((c, a[:1]), out=f)",
    "np.concatenate((c, a[:1]), out=f, casting='unsafe')", "np.concatenate((c, c), out=d)", "np.concatenate((c, c), out=d[0])",
    "np.concatenate((c, c), out=d, dtype='f4')", "np.concatenate((c, c), out=3)",
    "np.concatenate((c, c), axis=None, out=np.zeros(16))", "np.stack((b, b), out=c)", "np.stack((b, b, b), 0, d)",
    "np.stack((b * 0.5, b), out=f[:2])", "np.stack((b, b), out=d)", "np.stack((b, b), axis=1, out=np.zeros((4, 2)))",
    "np.concatenate((a[:1], a[1:2]), out=c)",
)  # fmt: skip
MIDDLE = (
    "np.median(a, axis=0, out=c[0])", "np.median(a, out=np.zeros(()))", "np.median(a, 1, d[:, 0])", "np.median(a, 0, f[0])",
    "np.median(a, axis=0, keepdims=True, out=c[:1])", "np.median(a, axis=0, out=c)", "np.median(a, out=3)",
    "np.nanmedian(a, axis=0, out=e[0])", "np.nanmedian(a, axis=0, out=c)", "np.nanmedian(a, 1, f[:, 0])",
    "np.nanmedian(a, out=3)", "np.quantile(a, 0.3, axis=0, out=c[1])", "np.quantile(a, [0.3, 0.5], 0, c)",
    "np.quantile(a, 0.3, 0, d[0])", "np.quantile(a, 0.3, 0, f[0])", "np.quantile(a, 0.3, 0, f[0], method='lower')",
    "np.quantile(a, 0.3, out=c)", "np.percentile(a, [30, 20], 0, c, method='nearest')",
    "np.percentile(a, 30, axis=1, keepdims=True, out=d[:, :1])", "np.percentile(a, [30, 20], 0, d)",
    "np.percentile(a, 30, out=3)", "np.nanquantile(a, [0.3, 0.5], 0, c)", "np.nanpercentile(a, 30, out=np.zeros(()))",
    "np.nanpercentile(a, [10, 20], 0, out=3)", "np.quantile(a, 0.3, 0, b)",
    "np.median(a, keepdims=True, out=d)", "np.median(a, 1, d, keepdims=True)", "np.median(a, axis=1, out=c)",
    "np.median(a, 1, d[:1, 0])", "np.median(a[:0], keepdims=True, out=d)", "np.median(a.astype('f4'), 0, c[0])",
    "np.median(a, 1, d[:0], keepdims=True)", "np.median(a, 0, f, keepdims=True)", "np.median(a * np.nan, 0, f[0])",
    "np.median(b, 0, f[0, :1], keepdims=True)", "np.median(np.stack((a, a)), 0, d[:1, :1])",
    "np.nanmedian(a, 1, d, keepdims=True)", "np.nanmedian(a, out=d, keepdims=True)", "np.nanmedian(a[:0], 1, d[0])",
    "np.quantile(a * 0.7, 0.3, 0, c[0])", "np.quantile(a, [0.3, 0.5], 0, d[:2] * np.float32(0))", "np.quantile(a, 1, 0, c)",
    "np.quantile(a * 0.1, 0.3, 0, np.zeros(4, 'f4'))", "np.quantile(a * 0.1, 0.3, 0, np.zeros(4, 'f2'), method='midpoint')",
    "np.quantile(a, 0.3, 1, d, keepdims=True)", "np.quantile(a, [0.3, 0.5], 1, d[None], keepdims=True)",
)  # fmt: skip
TRANSFORMED = (
    "np.fft.fft(a, out=e)", "np.fft.ifft(a, None, -1, None, e)", "np.fft.rfft(a, out=e[:, :3])", "np.fft.irfft(a, 4, out=d)",
    "np.fft.fft(a, out=d)", "np.fft.fft(a, 3, out=e)", "np.fft.fft(a, axis=0, norm='ortho', out=e)", "np.fft.fft(a, out=3)",
    "np.fft.fft(d, out=e)", "np.fft.fft2(a, out=e)", "np.fft.ifftn(a, out=e, norm='forward')",
    "np.fft.fftn(a, axes=(0,), out=e)", "np.fft.fft2(a, (2, 3))", "np.fft.fft2(a, s=(4, 5), norm='ortho')",
    "np.fft.ifft2(a, s=(-1, 3))", "np.fft.fftn(a, (5,), (0,))", "np.fft.ifftn(a, (2, 6), axes=(1, 0))",
    "np.fft.fft2(a, (3, 4), out=e)", "np.fft.fftn(a, s=(2, 3), axes=(0,))", "np.fft.fft2(a, s=(0, 3))",
    "np.fft.fftn(a, (4, 2), (0, 0))",
)  # fmt: skip


@pytest.mark.parametrize("texts", [TAKEN, JOINED, MIDDLE, TRANSFORMED])
def test_results_in_arrays(texts: tuple[str, ...]) -> None:
    check(ROOM, texts, ulp=4)


def test_results_in_arrays_are_seen() -> None:
    bodies = ["np.take(a, [2, 1, 0], 0, out=a)\nreturn a", "np.concatenate((a[2:], a[:2]), out=d)\nreturn d",
              "t = np.median(a, 0, c[1])\nt += 1\nreturn c", "np.fft.fft(a[:, ::-1], out=e)\nreturn e + 1",
              "np.stack((b, b), out=c[:, ::-1])\nreturn c"]  # fmt: skip
    check(ROOM, bodies, ulp=4)
    refused(ROOM, "np.concatenate((a[2:], a[:2]), out=a)", "a join with an out= that is one of the arrays", "out[...]")


SCALARS = ("np.float64(1.5)", "np.zeros(())", "np.array(2.5)", "np.zeros((), int)", "np.zeros(3)", "np.int64(1)")


def test_results_of_scalars_in_arrays() -> None:
    """NumPy calls the method of a scalar, which gives a scalar again; of other functions the array is the result."""
    names = "sum prod min max amax amin mean var std round around median nansum nanmax ptp"
    check(SCALARS, [f"np.{name}(a, out=b)" for name in names.split()])
    check(SCALARS, [
        "np.any(a, out=np.zeros((), bool))", "np.all(a, out=np.zeros((), bool))", "np.argmax(a, out=d)", "np.argmin(a, out=d)",
        "np.clip(a, 0, 1, out=b)", "np.take(a, 0, out=b)", "a.sum(out=b)", "a.clip(0, 1, b)", "a.round(1, b)", "a.max(None, b)",
        "np.clip(a, 0, 1, out=e)", "np.sum(c, out=b)", "np.clip(c, 0, 1, out=b)", "np.sum(1.5, out=b)", "np.add(a, 1, out=b)",
        "np.choose(f, [1.5, 2.5], out=b)", "np.add.reduce(a, out=b)", "np.round(a, 1, b)", "np.sum(a, out=b)\nreturn b",
    ])  # fmt: skip


# Sets whose elements are said to be different, and where they stand.

SETS = {
    "i8": ([3, 1, 2, 2, 0, 1], [2, 1, 9, 1]), "u1": ([3, 255, 0], [255, 3]), "f8": ([0.5, 7, np.nan, 2], [np.nan, 0, 2, 2]),
    "?": ([True, False], [True, True]), "f2": ([1, 2, 3], []),
}  # fmt: skip


@pytest.mark.parametrize("dtype", SETS)
def test_sets(dtype: str) -> None:
    first, second = (np.array(x, dtype) for x in SETS[dtype])
    texts = ["np.intersect1d(a, b, return_indices=True)", "np.intersect1d(a, b, False, True)",
             "np.intersect1d(a.reshape(-1, 1), b, return_indices=False)"]  # fmt: skip
    everywhere(make_function("ab", texts, {"np": np}), first, second)
    first, second = np.unique(first)[::-1].copy(), np.unique(second)[::-1].copy()
    texts = ["np.intersect1d(a, b, True)", "np.intersect1d(a, b, assume_unique=True, return_indices=True)",
             "np.setdiff1d(a, b, assume_unique=True)", "np.setdiff1d(b, a, True)"]  # fmt: skip
    everywhere(make_function("ab", texts, {"np": np}), first, second)


def test_cubins() -> None:
    builds(lambda x, y: (np.matmul(x, x, out=y), np.vecdot(x, x, keepdims=True), np.vecmat(x[0], x)), np.ones((3, 3)),
           np.ones((3, 3)))  # fmt: skip
    builds(lambda x: (np.linalg.pinv(x, 1e-3, True), np.linalg.norm(x, "nuc"), np.linalg.qr(x, "r")), np.ones((3, 3)))
    builds(lambda x: (x.copy("C") + 1, x.ravel("K"), np.compress([True], x, 0)), np.ones((2, 3)))
    builds(lambda x, y: (np.take(x, [1, 0], 0, out=y), np.median(x, 0, y[0]), np.fft.fft2(x, (4, 4)),
                         np.intersect1d(x, y, return_indices=True)), np.ones((2, 2)), np.ones((2, 2)))  # fmt: skip


@pytest.mark.parametrize("text", ["np.tri(k=1)", "np.roll(x)", "np.linspace(1)", "np.moveaxis(x)", "np.moveaxis(source=0)"])
def test_arguments_that_are_missing_are_named_as_python_does(text: str) -> None:
    function = make_function("x", [text], {"np": np})
    with pytest.raises(TypeError) as expected:
        function(np.ones(3))
    with pytest.raises(TypeError) as found:
        call_jit(function, np.ones(3))
    assert str(found.value).partition("\n")[0] == str(expected.value)


@pytest.mark.parametrize("name", ["asin", "atanh", "true_divide", "degrees", "atan2"])
def test_loops_by_other_names(name: str) -> None:
    operands = "a, 2" if getattr(np, name).nin == 2 else "a"
    rows = [f"np.{name}({operands}{k})" for k in (", dtype=float", ", casting='unsafe'", ", dtype='f4', casting='unsafe'")]
    check(["np.array([1, 0], 'i2')"], rows, ulp=4, call=call_interpreted)


def test_python_numbers_beside_operands_whose_dtype_is_named() -> None:
    rows = [f"np.add({operands}, signature={named}, casting='unsafe')" for operands in ("2j, a", "a, b", "nan, a", "2.5, a")
            for named in ("'dd->d'", "'ll->l'", "('d', None, None)", "(None, None, 'd')")]  # fmt: skip
    check(["np.arange(3)", "2j"], [*rows, "np.sqrt(b, signature='d->d', casting='unsafe')"])
