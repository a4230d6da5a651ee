"""Python's numbers of what kernels compute, for which the host waits.

What the host reads are numbers that are not negative, as lengths are (``read_length``): an int is the difference of two, and a
float is the two halves of its bits.
"""

from __future__ import annotations

from pytocu.errors import UnsupportedError
from pytocu.ir.builder import Builder
from pytocu.ir.core import Value
from pytocu.ir.dims import DimLike, symbol
from pytocu.ir.types import BOOL, F64, I64, U64, WEAK_FLOAT, WEAK_INT, element, scalar
from pytocu.passes.python_numbers import as_dtype, require

_LARGEST = 2**63 - 1
_HALF = 2**32


def python_number(builder: Builder, value: Value, taken: set[str]) -> Value:
    """A bool, int64 or float64 as a Python number.

    Parameters
    ----------
    builder : Builder
        Writes on the level of the function, outside of regions.
    value : Value
        A NumPy scalar.
    taken : set of str
        The names of lengths and numbers; those of what is read are added.

    Raises
    ------
    UnsupportedError
        A complex number.
    """
    dtype = element(value.type)
    if dtype is BOOL:
        truth = _read(builder, as_dtype(builder, value, I64), 1, "truth", taken)
        return builder.emit("not_equal", (_dim(builder, truth), builder.const(0, WEAK_INT)))
    if dtype is I64:
        least = builder.const(-_LARGEST - 1, scalar(I64))
        sentence = "a Python int that int64 does not hold is not compiled"
        value = require(builder, value, builder.emit("not_equal", (value, least)), "UnsupportedError", sentence)
        zero = builder.const(0, scalar(I64))
        above = _read(builder, builder.emit("maximum", (value, zero)), _LARGEST, "above", taken)
        negative = builder.emit("negative", (value,))
        return _dim(builder, above - _read(builder, builder.emit("maximum", (negative, zero)), _LARGEST, "below", taken))
    if dtype is F64:
        bits = builder.emit("view", (value,), {}, (scalar(U64),))
        low = builder.emit("bitwise_and", (bits, builder.const(_HALF - 1, scalar(U64))))
        high = builder.emit("right_shift", (bits, builder.const(32, scalar(U64))))
        halves = [_read(builder, as_dtype(builder, v, I64), _HALF - 1, n, taken) for v, n in ((high, "high"), (low, "low"))]
        return builder.emit("python_from_words", [_dim(builder, half) for half in halves], {}, (WEAK_FLOAT,))
    raise UnsupportedError(
        "a Python complex number that depends on arrays or NumPy scalars would be read back from where it is computed",
        builder.loc,
        "return a NumPy scalar: begin the loop with np.complex128(0)",
    )


def _read(builder: Builder, number: Value, limit: int, name: str, taken: set[str]) -> DimLike:
    unique, count = name, 0
    while unique in taken:
        count += 1
        unique = f"{name}{count}"
    taken.add(unique)
    stored = builder.emit("keep", (builder.emit("as_array", (number,)),), name=unique)
    builder.inst("read_length", (stored,), {"name": unique, "limit": limit})
    return symbol(unique)


def _dim(builder: Builder, value: DimLike) -> Value:
    return builder.emit("dim", (), {"value": value}, (WEAK_INT,))


__all__ = ["python_number"]
