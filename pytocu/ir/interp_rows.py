"""What the elementwise rows compute, with NumPy.

Both interpreters call :func:`evaluate`: arguments are arrays, NumPy scalars or Python scalars, the
result is what the row's NumPy function answers.  Where NumPy's own answer depends on the
layout or the processor (the sign of zero in minima and maxima, the root of -inf, floats out of an
integer's range) the formula of :mod:`pytocu.ir.expand` is followed, so that results can be compared
bit for bit.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pytocu.ir import promote
from pytocu.ir.core import Op
from pytocu.ir.ops import HALF_ROWS
from pytocu.ir.types import DType, dtype_of

_PYTHON_SCALARS = (bool, int, float, complex)


def evaluate(op: Op, args: Sequence[Any]) -> Any:
    """The row's value for NumPy arguments.

    Parameters
    ----------
    op : Op
        An elementwise row other than ``cast``, ``convert`` and ``convert_raw``, which need a dtype.
    args : sequence
        Arrays, NumPy scalars and Python scalars; Python scalars alone follow Python.

    Returns
    -------
    array, NumPy scalar or Python scalar

    Raises
    ------
    TypeError, ValueError, OverflowError, ZeroDivisionError
        As NumPy or Python do.

    Examples
    --------
    >>> from pytocu.ir import ops
    >>> evaluate(ops.OPS["add"], (np.float32(1), 2)).dtype
    dtype('float32')
    """
    if op.numpy and op.python is not None and op.name not in _RAW and all(type(a) in _PYTHON_SCALARS for a in args):
        return op.python(*args)
    return evaluator(op)(*args)


def evaluator(op: Op) -> Callable[..., Any]:
    """What :func:`evaluate` computes of arguments that are not all Python scalars, looked up once.

    Examples
    --------
    >>> from pytocu.ir import ops
    >>> evaluator(ops.OPS["floor_divide"])(np.int8(7), np.int8(2))
    np.int8(3)
    """
    if op.name in _RAW:
        return _RAW[op.name]
    if op.name in ("copy", "as_array"):
        return np.array
    if op.name == "compose":
        return _compose
    if not op.numpy:
        raise TypeError(f"{op.name} has no NumPy function")
    function = promote.numpy_function(op.numpy)
    if op.name in _FORMULAS or op.name in _INTEGER_FORMULAS:
        return lambda *args: settled(op, args, promote.numpy_result(op, args))
    if getattr(function, "nout", 1) == 1:
        return function
    return lambda *args: function(*args)[op.output]


def _compose(*args: Any) -> Any:
    parts = np.stack(np.broadcast_arrays(*args), -1)
    return parts.view(np.result_type(parts.dtype, np.complex64))[..., 0][()]


def settled(op: Op, args: Sequence[Any], result: Any) -> Any:
    """NumPy's result with what the row's formula gives where NumPy's depends on the layout or the processor.

    Parameters
    ----------
    op : Op
    args : sequence
        The operands; they are converted to the dtype of the result.
    result : array or NumPy scalar
        NumPy's answer.

    Examples
    --------
    >>> from pytocu.ir import ops
    >>> settled(ops.OPS["minimum"], (-0.0, 0.0), np.float64(0.0))
    np.float64(-0.0)
    """
    formulas = {"f": _FORMULAS, "i": _INTEGER_FORMULAS, "u": _INTEGER_FORMULAS}.get(result.dtype.kind, {})
    if op.name not in formulas:
        return result
    with np.errstate(all="ignore"):
        made = formulas[op.name](*(np.asarray(a).astype(result.dtype) for a in args))
    return made if isinstance(result, np.ndarray) else np.asarray(made)[()]


def _next_after(x: Any, y: Any) -> Any:
    """Of equal numbers the second, as C says; before NumPy 2.5 its float16 zeros kept the sign of the first."""
    made = np.nextafter(x, y)
    x, y = (np.asarray(v).astype(made.dtype) for v in (x, y))
    picked = np.where(x == y, y, made)
    return picked if isinstance(made, np.ndarray) else picked[()]


def _power(x: Any, y: Any) -> Any:
    """As C's pow: of an exponent 0.5 that elements have in common NumPy takes a square root, which is NaN for -inf."""
    base, exponent = (np.stack([v, v], axis=-1) for v in np.broadcast_arrays(x, y))
    return np.power(base, exponent)[..., 0]


def _pick(comparison: Callable[..., Any], x: Any, y: Any, nan_of: Any) -> Any:
    return np.where(comparison(x, y) | np.isnan(nan_of), x, y)


# The formulas of expand.py: which of two equal zeros is taken, and the root of -inf.
_FORMULAS: dict[str, Callable[..., Any]] = {
    "power": lambda x, y: _power(x, y),
    "nextafter": lambda x, y: _next_after(x, y),
    "maximum": lambda x, y: _pick(np.greater_equal, x, y, x),
    "minimum": lambda x, y: _pick(np.less_equal, x, y, x),
    "fmax": lambda x, y: _pick(np.greater_equal, x, y, y),
    "fmin": lambda x, y: _pick(np.less_equal, x, y, y),
    "clip": lambda x, low, high: _clip(x, low, high),
}


def _reciprocal(x: Any) -> Any:
    """Through float64, so that 0 gives what a cast of infinity gives."""
    target = dtype_of(x.dtype)
    assert target is not None
    return cast(1.0 / x.astype(np.float64), target)


_INTEGER_FORMULAS: dict[str, Callable[..., Any]] = {"reciprocal": _reciprocal}


def _clip(x: Any, low: Any, high: Any) -> Any:
    # A bound takes the place of an equal complex number.
    above, below = (np.greater, np.less) if np.iscomplexobj(x) else (np.greater_equal, np.less_equal)
    raised = _pick(above, x, low, x)
    return _pick(below, raised, high, raised)


def part(value: Any, which: str) -> Any:
    """A part of complex numbers, or the bits of float16 numbers.

    Examples
    --------
    >>> part(np.float16(1), "bits")
    np.uint16(15360)
    """
    return _words(value, np.uint16) if which == "bits" else np.asarray(getattr(value, which))[()]


def cast(value: Any, dtype: DType) -> Any:
    """``astype``, with the values :func:`pytocu.ir.expand.cast` states for floats out of range.

    Examples
    --------
    >>> from pytocu.ir.types import I8, U8
    >>> cast(np.float64(300.0), U8), cast(np.float64("nan"), I8)
    (np.uint8(44), np.int8(0))
    """
    with np.errstate(all="ignore"):
        return _cast(np.asarray(value), dtype)


def _cast(given: np.ndarray, dtype: DType) -> Any:
    if given.dtype.kind == "c" and dtype.kind not in "bc":
        given = np.real(given)
    if given.dtype == np.float16 and dtype.kind in "iu":
        given = given.astype(np.float32)
    if given.dtype.kind != "f" or dtype.kind not in "iu":
        return given.astype(dtype.numpy)[()]
    if dtype.name == "u64":
        low = _float_to_int(given, np.dtype(np.int64))
        high = _float_to_int(given - given.dtype.type(2.0**63), np.dtype(np.int64))
        wide = np.where(given >= 2.0**63, high ^ np.int64(np.iinfo(np.int64).min), low)
    else:
        wide = _float_to_int(given, np.dtype(np.int64 if dtype.bits == 64 or dtype.name == "u32" else np.int32))
    return wide.astype(dtype.numpy)[()]


def in_range(value: np.ndarray, target: np.dtype) -> np.ndarray:
    """Where a float truncates to a value of the integer dtype."""
    info = np.iinfo(target)
    with np.errstate(invalid="ignore"):
        whole = np.trunc(value.astype(np.float64))
    # Both bounds are powers of two or zero, so they are exact in float64.
    return (whole >= float(info.min)) & (whole < float(info.max + 1))


def _float_to_int(value: np.ndarray, target: np.dtype) -> np.ndarray:
    inside = in_range(value, target)
    converted = np.where(inside, value, 0).astype(target)
    return np.where(inside, converted, np.iinfo(target).min).astype(target)


def _divide_truncated(x: Any, y: Any) -> Any:
    # fmod rounds towards zero as C does, and is exact for integers.
    return np.floor_divide(x - np.fmod(x, y), y)


def _fma(x: Any, y: Any, z: Any) -> Any:
    x, y, z = np.broadcast_arrays(x, y, z)
    if x.dtype == np.float32:
        return _fma_of_singles(x, y, z)
    numbers = zip(x.ravel().tolist(), y.ravel().tolist(), z.ravel().tolist(), strict=True)
    return np.array([_fma_one(a, b, c) for a, b, c in numbers], x.dtype).reshape(x.shape)[()]


def _fma_of_singles(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> Any:
    """float64 holds the product; the sum is rounded to odd there, which keeps the second rounding correct."""
    with np.errstate(all="ignore"):
        product, addend = x.astype(np.float64) * y, z.astype(np.float64)
        total = product + addend
        moved = total - product
        lost = (product - (total - moved)) + (addend - moved)
        even = total.view(np.int64) % 2 == 0
        odd = np.nextafter(total, np.where(lost > 0, np.inf, -np.inf))
        return np.where(even & (lost != 0) & np.isfinite(total), odd, total).astype(np.float32)[()]


def _fma_one(x: float, y: float, z: float) -> float:
    if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
        # An infinite addend hides an overflow of the finite product.
        product = 0.0 if math.isfinite(x) and math.isfinite(y) else x * y
        return product + z
    if x == 0 or y == 0:
        return x * y + z
    if sys.version_info >= (3, 13):
        try:
            return math.fma(x, y, z)
        except OverflowError:
            return math.copysign(math.inf, x * y + z)
    # Not at the head: with its parts it would be a twentieth of a first call, which folds no such numbers.
    from fractions import Fraction

    exact = Fraction(x) * Fraction(y) + Fraction(z)
    try:
        return float(exact)
    except OverflowError:
        return math.inf if exact > 0 else -math.inf


def _words(value: Any, dtype: Any) -> Any:
    return np.ascontiguousarray(value).view(dtype).reshape(np.shape(value))[()]


def _near_reciprocal(x: Any) -> Any:
    """1 / x, and a zero of its sign where that is subnormal."""
    made = np.divide(np.float32(1), x)
    return np.where(np.abs(made) < np.finfo(np.float32).tiny, np.copysign(np.float32(0), made), made)


def _near_double_reciprocal(x: Any) -> Any:
    """1 / x by the upper words of both, which is all that the instruction has."""
    upper = np.uint64(0xFFFFFFFF00000000)
    return _words(_words(np.divide(1.0, _words(_words(x, np.uint64) & upper, np.float64)), np.uint64) & upper, np.float64)


def _power_of_two(x: Any) -> Any:
    made = np.exp2(np.asarray(x, np.float64))
    return np.where(made < np.finfo(np.float32).tiny, 0, made).astype(np.float32)[()]


def _of_halves(name: str) -> Callable[..., Any]:
    def evaluated(*bits: Any) -> Any:
        made = getattr(np, name)(*(_words(b, np.float16) for b in bits))
        return _words(made, np.uint16) if made.dtype == np.float16 else made

    return evaluated


_RAW: dict[str, Callable[..., Any]] = {
    "half_to_float": lambda bits: _words(bits, np.float16).astype(np.float32),
    "float_to_half": lambda x: _words(np.asarray(x).astype(np.float16), np.uint16),
    **{f"half_{name}": _of_halves(name) for name in HALF_ROWS},
    "to_short": lambda x: np.asarray(x).astype(np.uint16),
    "hidden_single": np.positive,
    "hidden_double": np.positive,
    "hidden_word": np.positive,
    "hidden_long": np.positive,
    "near_reciprocal": _near_reciprocal,
    "near_double_reciprocal": _near_double_reciprocal,
    "near_power_of_two": _power_of_two,
    "near_logarithm": np.log2,
    "near_inverse_root": lambda x: np.divide(np.float32(1), np.sqrt(x)),
    "divide_truncated": _divide_truncated,
    "remainder_truncated": np.fmod,
    "shift_left_raw": np.left_shift,
    "shift_right_raw": np.right_shift,
    "fma": _fma,
    "sin_of_large": np.sin,
    "cos_of_large": np.cos,
    "tan_of_large": np.tan,
    "fmod_of_far": np.fmod,
    "outlined_sin": np.sin,
    "outlined_cos": np.cos,
    "outlined_tan": np.tan,
}


def _no_quotient(args: Sequence[np.ndarray], target: np.dtype | None) -> np.ndarray:
    x, y = args
    broken = y == 0
    if x.dtype.kind == "i":
        broken = broken | ((y == -1) & (x == np.iinfo(x.dtype).min))
    return broken


def _no_shift(args: Sequence[np.ndarray], target: np.dtype | None) -> np.ndarray:
    count = args[1]
    return (count < 0) | (count >= count.dtype.itemsize * 8)


def _no_number(args: Sequence[np.ndarray], target: np.dtype | None) -> np.ndarray | None:
    if args[0].dtype.kind != "f" or target is None or target.kind not in "iu":
        return None
    return ~in_range(args[0], target)


BROKEN_RULES: dict[str, Callable[[Sequence[np.ndarray], np.dtype | None], np.ndarray | None]] = {
    "divide_truncated": _no_quotient,
    "remainder_truncated": _no_quotient,
    "shift_left_raw": _no_shift,
    "shift_right_raw": _no_shift,
    "convert_raw": _no_number,
}
"""``rule(operands, target)`` of raw rows that demand something: where they break it; `target` is what a conversion gives."""
