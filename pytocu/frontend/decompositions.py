"""Factors of matrices: Cholesky's, those of ``qr``, eigenvalues, singular values, and what is made of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from pytocu.errors import UnsupportedError, raised
from pytocu.frontend.attributes import transpose
from pytocu.frontend.gathering import none_left, take_along_axis
from pytocu.frontend.inplace import check_output_shapes
from pytocu.frontend.library_calls import LINALG, argsort, call, floating, type_named
from pytocu.frontend.matrix_products import matrix_product
from pytocu.frontend.operators import attempt, elementwise, known_option
from pytocu.frontend.reductions import reduce, stand_in
from pytocu.frontend.reshaping import array_of, filled, flip
from pytocu.frontend.tables import Handler
from pytocu.frontend.values import Context, as_strong, cast, dim_value, dimensions
from pytocu.guards import MISSING
from pytocu.ir.core import Value
from pytocu.ir.dims import dim_max
from pytocu.ir.types import element, scalar


def cholesky(context: Context, a: Any, /, *, upper: Any = False) -> Value:
    """The lower triangle L of a = L @ L.conj().T, or the upper one"""
    above = True if known_option(context, upper, "upper=") else None
    return call(context, "linalg.cholesky", floating(context, "linalg.cholesky", (a,)), upper=above)[0]


def qr(context: Context, a: Any, mode: Any = "reduced") -> Any:
    """Orthogonal and upper triangular factors"""
    mode = known_option(context, mode, "mode=")
    if mode not in ("reduced", "complete", "r", "raw"):
        if mode not in ("full", "f", "economic", "e"):
            raise raised(ValueError(f"Unrecognized mode '{mode}'"), context.loc)
        text = f"np.linalg.qr with mode={mode!r}, which NumPy gives up, is not supported"
        raise UnsupportedError(text, context.loc, "write mode='reduced'")
    (value,) = floating(context, "linalg.qr", (a,))
    made = call(context, "linalg.qr", (value,), mode=None if mode == "reduced" else mode)
    if mode == "r":
        return made[0]
    return made if mode == "raw" else type_named(np.linalg.qr, np.eye(1))(*made)


def eigh(context: Context, a: Any, UPLO: Any = "L") -> Any:
    """Eigenvalues and eigenvectors of symmetric matrices"""
    triangle = _triangle(context, UPLO)
    made = call(context, "linalg.eigh", floating(context, "linalg.eigh", (a,)), UPLO=triangle)
    return type_named(np.linalg.eigh, np.eye(1))(*made)


def eigvalsh(context: Context, a: Any, UPLO: Any = "L") -> Any:
    """Eigenvalues of symmetric matrices"""
    triangle = _triangle(context, UPLO)
    return call(context, "linalg.eigvalsh", floating(context, "linalg.eigvalsh", (a,)), UPLO=triangle)[0]


def eig(context: Context, a: Any) -> Any:
    """Eigenvalues and eigenvectors of complex matrices"""
    made = call(context, "linalg.eig", _complex(context, "linalg.eig", a))
    return type_named(np.linalg.eig, np.eye(1))(*made)


def eigvals(context: Context, a: Any) -> Value:
    """Eigenvalues of complex matrices"""
    return call(context, "linalg.eigvals", _complex(context, "linalg.eigvals", a))[0]


def _complex(context: Context, name: str, a: Any) -> tuple[Value, ...]:
    (value,) = floating(context, name, (a,))
    if element(value.type).kind != "c":
        text = f"np.{name} of real matrices is not compiled: whether its results are complex depends on the data"
        symmetric = {"linalg.eig": "eigh", "linalg.eigvals": "eigvalsh"}[name]
        help = f"write np.{name}(x.astype(complex)), or np.linalg.{symmetric}(x) of a symmetric matrix"
        raise UnsupportedError(text, context.loc, help)
    return (value,)


def _triangle(context: Context, triangle: Any) -> str | None:
    triangle = known_option(context, triangle, "UPLO=")
    attempt(context, np.linalg.eigh, np.eye(1), triangle)
    return None if triangle.upper() == "L" else "U"


def svd(context: Context, a: Any, full_matrices: Any = True, compute_uv: Any = True, hermitian: Any = False) -> Any:
    """Singular values and vectors"""
    options = (compute_uv, hermitian, full_matrices)
    vectors, symmetric, full = (bool(o) for o in known_option(context, options, "the options of svd"))
    if symmetric:
        return _of_symmetric(context, a, vectors)
    if not vectors:
        return LINALG["svdvals"](context, a)
    (value,) = floating(context, "linalg.svd", (a,))
    return type_named(np.linalg.svd, np.eye(1))(*call(context, "linalg.svd", (value,), full_matrices=full))


def svdvals(context: Context, x: Any, /) -> Value:
    """Singular values"""
    return LINALG["svdvals"](context, x)


def singular_values(context: Context, a: Any, hermitian: bool) -> Value:
    """The singular values of matrices, from the largest one on; of symmetric ones those of the eigenvalues."""
    return svd(context, a, compute_uv=False, hermitian=hermitian)


def _of_symmetric(context: Context, a: Any, vectors: bool) -> Any:
    """Singular values of symmetric matrices are absolute eigenvalues, as NumPy makes them."""
    value = array_of(context, a)
    attempt(context, np.linalg.svd, stand_in(value), True, vectors, True)
    if not vectors:
        sizes = elementwise(context, "absolute", eigvalsh(context, value))
        (ordered,) = call(context, "sort", (sizes,), axis=-1)
        return flip(context, ordered, -1)
    numbers, columns = eigh(context, value)
    signs, sizes = (elementwise(context, name, numbers) for name in ("sign", "absolute"))
    last = len(dimensions(sizes)) - 1
    order = flip(context, argsort(context, sizes), last)
    signs, sizes = (take_along_axis(context, v, order, -1) for v in (signs, sizes))
    beside = context.builder.emit("newaxis", (order,), {"axis": last})
    columns = take_along_axis(context, columns, beside, -1)
    rows = _turned(context, elementwise(context, "multiply", columns, _row(context, signs)))
    return type_named(np.linalg.svd, np.eye(1))(columns, sizes, _conjugate(context, rows))


def _row(context: Context, value: Value) -> Value:
    """Vectors as matrices of one row."""
    return context.builder.emit("newaxis", (value,), {"axis": len(dimensions(value)) - 1})


def _turned(context: Context, value: Value) -> Value:
    ndim = len(dimensions(value))
    return transpose(context, value, (*range(ndim - 2), ndim - 1, ndim - 2))


def _conjugate(context: Context, value: Value) -> Value:
    return elementwise(context, "conjugate", value) if element(value.type).kind == "c" else value


def pinv(context: Context, a: Any, rcond: Any = None, hermitian: Any = False, *, rtol: Any = MISSING) -> Value:
    """The Moore-Penrose inverse of matrices"""
    symmetric = bool(known_option(context, hermitian, "hermitian="))
    if rcond is not None and rtol is not MISSING:
        raise raised(ValueError("`rtol` and `rcond` can't be both set."), context.loc)
    shape = dimensions(array_of(context, a))
    if len(shape) > 1 and none_left(context, shape[-2:]):
        # NumPy makes nothing of nothing, in the dtype that it has, before it looks at anything else.
        zero = context.builder.const(0, scalar(element(array_of(context, a).type)))
        return filled(context, zero, (*shape[:-2], shape[-1], shape[-2]))
    if rcond is None and rtol is MISSING and not symmetric:
        return LINALG["pinv"](context, a)
    (value,) = floating(context, "linalg.pinv", (a,))
    attempt(context, np.linalg.pinv, stand_in(value), 1e-15, symmetric)
    share = 1e-15 if rtol is MISSING else rtol
    if rcond is not None:
        share = rcond
    elif share is None:
        rows, columns = dimensions(value)[-2:]
        eps = np.finfo(element(value.type).numpy).eps
        share = elementwise(context, "multiply", dim_value(context, dim_max(rows, columns)), eps)
    left, sizes, right = svd(context, _conjugate(context, value), False, True, symmetric)
    share = array_of(context, share)
    share = context.builder.emit("newaxis", (share,), {"axis": len(dimensions(share))})
    zero = element(sizes.type).numpy.type(0)
    largest = reduce(context, "maximum", sizes, -1, keepdims=True, initial=zero)
    large = elementwise(context, "greater", sizes, elementwise(context, "multiply", share, largest))
    # NumPy puts what it divides by them into the sizes themselves.
    check_output_shapes(context, ((), dimensions(sizes)), (dimensions(sizes),), (dimensions(large),))
    inverse = elementwise(context, "where", large, elementwise(context, "divide", 1, sizes), zero)
    column = context.builder.emit("newaxis", (inverse,), {"axis": len(dimensions(inverse))})
    scaled = elementwise(context, "multiply", column, _turned(context, left))
    return matrix_product(context, _turned(context, right), as_strong(context, cast(context, scaled, element(value.type))))


FUNCTIONS: dict[str, Handler] = {
    "linalg.cholesky": cholesky,
    "linalg.eig": eig,
    "linalg.eigh": eigh,
    "linalg.eigvals": eigvals,
    "linalg.eigvalsh": eigvalsh,
    "linalg.pinv": pinv,
    "linalg.qr": qr,
    "linalg.svd": svd,
    "linalg.svdvals": svdvals,
}
"""By NumPy's name; parameters are called as NumPy calls them."""
