"""What results of complex rows are compared with: long double, and NumPy where a part is not finite."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from pytocu.ir import promote
from pytocu.ir.core import Op

PLAIN_STEPS = frozenset({"multiply", "square", "divide", "reciprocal"})
"""Complex rows of additions, products and quotients only, whose bits are the same on every backend."""


def bound_of(op: Op, of_complex: bool) -> float:
    """The row's bound in ulp; 0 for exact rows."""
    return op.complex_ulp if of_complex else 0.0 if op.exact else op.ulp


def growth(op: Op, given: Sequence[Any]) -> np.ndarray | float:
    """By what the bound of a complex row grows: the angle that is computed with one rounding.

    Of ``x ** y = exp(y log x)`` it is ``1 + |y log x|``; ``exp2`` keeps its angle in two parts, but
    the reference does not.
    """
    with np.errstate(all="ignore"):
        wide = [np.asarray(g).astype(np.clongdouble) for g in given]
        if op.numpy in ("power", "float_power"):
            base, exponent = wide
            size = np.abs(exponent * np.log(base))
            # An infinity's angle is lost as well, unless the power is a product.
            known = _is_whole(exponent) | (base == 0)
            size = np.where(np.isfinite(base) & np.isfinite(exponent) | known, size, 1e9)
            # A part is a difference of products, which together are up to |x| ** y: one that is rounded less does not overflow.
            largest = np.finfo(np.result_type(*given, np.complex64)).max
            size = np.where(np.exp(np.real(exponent * np.log(base))) > largest, 1e9, size)
        elif op.name == "exp2":
            size = np.abs(np.imag(wide[0])) / 1000
        else:
            return 1.0
        return np.where(np.isfinite(size), 1 + size, 1).astype(np.float64)


def relative_distance(
    distance: np.ndarray, actual: np.ndarray, expected: np.ndarray, grown: np.ndarray | float
) -> np.ndarray:
    """Distances by what the bound grows with; 0 where the angle is lost in the argument.

    There, and where the result overflows or is about to, which part is infinite means nothing.
    """
    if isinstance(grown, float):
        return distance
    with np.errstate(all="ignore"):
        ends = np.finfo(expected.dtype)
        sizes = [np.where(np.isfinite(v), np.maximum(np.abs(np.real(v)), np.abs(np.imag(v))), 0) for v in (actual, expected)]
        at_the_end = np.maximum(*sizes) > float(ends.max) * (1 - 8 * float(ends.eps) * grown)
    lost = (grown > 1e4) | at_the_end | ~(np.isfinite(actual) | np.isfinite(expected))
    with np.errstate(all="ignore"):
        return np.where(lost, 0.0, distance / grown)


def complex_reference(op: Op, given: Sequence[np.ndarray], dtype: np.dtype, own: Any = None) -> np.ndarray:
    """The correctly rounded value where it is finite, NumPy's own where it is not.

    Parameters
    ----------
    given : sequence of numpy.ndarray
        Operands of the loop, some of them complex.
    dtype : numpy.dtype
        Of the result.
    own : array, optional
        NumPy's answer, where another function than the row's gave it.
    """
    plain = _PLAIN.get(op.name)
    if plain is not None:
        # Infinities and NaNs of the plain formula: NumPy's vector code rounds one product less.
        own = plain(*given)
    else:
        own = np.asarray(promote.numpy_function(op.numpy)(*given) if own is None else own)
    wide = [g.astype(np.clongdouble) for g in given]
    function = _WIDE.get(op.name) or promote.numpy_function(op.numpy)
    rounded = np.asarray(function(*wide)).astype(dtype)
    if op.numpy in ("power", "float_power"):
        # Products, in NumPy's order: they may overflow where the quotient would not.
        rounded = np.where(_is_whole(wide[1]), own, rounded)
    if op.name in _NUMPYS_STEPS:
        # The same steps leave the range of numbers at the same place.
        with np.errstate(all="ignore"):
            parts = [np.abs(part) for g in given for part in (np.real(g), np.imag(g))]
            limit = np.finfo(parts[0].dtype).maxexp // 3
            ordinary = [(p == 0) | ((p > 2.0**-limit) & (p < 2.0**limit)) for p in parts]
        return np.where(functools.reduce(np.logical_and, ordinary), rounded, own)
    finite = functools.reduce(np.logical_and, map(np.isfinite, given))
    return np.where(finite, rounded, own)


def _is_whole(exponent: np.ndarray) -> np.ndarray:
    """Exponents that NumPy multiplies for."""
    return (np.imag(exponent) == 0) & (np.abs(np.real(exponent)) < 100) & (np.trunc(np.real(exponent)) == np.real(exponent))


def compose(real: np.ndarray, imag: np.ndarray) -> np.ndarray:
    """Complex numbers of their parts, bit for bit."""
    return np.stack(np.broadcast_arrays(real, imag), -1).view(np.result_type(real.dtype, np.complex64))[..., 0]


def _multiply(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return compose(np.real(x) * np.real(y) - np.imag(x) * np.imag(y), np.real(x) * np.imag(y) + np.imag(x) * np.real(y))


def _log1p(z: np.ndarray) -> np.ndarray:
    x, y = np.real(z), np.imag(z)
    small = np.maximum(np.abs(x), np.abs(y)) < 0.25
    real = np.where(small, np.log1p(x * (2 + x) + y * y) / 2, np.log(np.hypot(1 + x, y)))
    return compose(real, np.arctan2(y, 1 + x))


_NUMPYS_STEPS = frozenset({"multiply", "square", "divide", "reciprocal", "sign", "absolute"})
_PLAIN = {"multiply": _multiply, "square": lambda x: _multiply(x, x)}
_WIDE = {"log1p": _log1p}
"""Where NumPy's own long double answer is not accurate."""
