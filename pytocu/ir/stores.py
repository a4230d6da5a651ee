"""Scalars that become elements of arrays of integers, as ``array[...] = scalar`` makes them.

Signed integers take a NumPy scalar through Python's int, as they take Python's own numbers, so what does not fit raises.
Unsigned ones take a NumPy scalar by a cast, which wraps around, and so do all integers what has axes or had them.
"""

from __future__ import annotations

import numpy as np

from pytocu.ir.builder import Builder
from pytocu.ir.core import Value
from pytocu.ir.types import F32, F64, I64, U64, DType, element, scalar

NO_LONG = "Python int too large to convert to C long"


def stored(builder: Builder, value: Value, dtype: DType) -> Value:
    """A scalar of NumPy's as a Python number goes into integers of a dtype.

    Parameters
    ----------
    value : Value
        A scalar of bools, integers or floats.
    """
    kind = element(value.type).kind
    if kind == "f":
        value = _whole(builder, value, dtype)
    elif element(value.type) is U64 and dtype is not U64:
        fits = builder.emit("less_equal", (value, builder.const(2**63 - 1, scalar(U64))))
        value = _required(builder, value, fits, NO_LONG)
    given, limits = element(value.type), np.iinfo(dtype.numpy)
    if kind != "b" and not np.can_cast(given.numpy, dtype.numpy):
        value = builder.emit("cast", (value,), {}, (scalar(I64),)) if given is not I64 and given is not U64 else value
        fits = _between(builder, value, int(limits.min), int(limits.max))
        if fits is not None:
            shown = builder.emit("cast", (value,), {}, (scalar(I64),)) if given is U64 else value
            value = _required(builder, value, fits, f"Python integer {{0}} out of bounds for {dtype.numpy.name}", shown)
    return value if element(value.type) is dtype else builder.emit("cast", (value,), {}, (scalar(dtype),))


def _between(builder: Builder, value: Value, low: int, high: int) -> Value | None:
    """Whether an integer lies between two, of which those count that its dtype has; None where none does."""
    type = value.type
    limits = np.iinfo(element(type).numpy)
    tests = [("greater_equal", low)] if low > limits.min else []
    tests += [("less_equal", high)] if high < limits.max else []
    flags = [builder.emit(row, (value, builder.const(limit, type))) for row, limit in tests]
    return builder.emit("bitwise_and", flags) if len(flags) == 2 else flags[0] if flags else None


def _whole(builder: Builder, value: Value, dtype: DType) -> Value:
    """A float as the int64 that Python's int of it is, or the uint64 for elements of that dtype."""
    given = value.type if element(value.type) in (F32, F64) else scalar(F32)
    value = value if value.type == given else builder.emit("cast", (value,), {}, (given,))
    bad = builder.emit("isnan", (value,))
    value = _required(builder, value, _not(builder, bad), "cannot convert float NaN to integer", error="ValueError")
    bad = builder.emit("isinf", (value,))
    value = _required(builder, value, _not(builder, bad), "cannot convert float infinity to integer")
    value = builder.emit("trunc", (value,))
    low = builder.emit("greater_equal", (value, builder.const(-(2.0**63), given)))
    high = builder.emit("less", (value, builder.const(2.0**64 if dtype is U64 else 2.0**63, given)))
    value = _required(builder, value, builder.emit("bitwise_and", (low, high)), NO_LONG)
    if dtype is not U64:
        return builder.emit("cast", (value,), {}, (scalar(I64),))
    fits = builder.emit("greater_equal", (value, builder.const(0.0, given)))
    shown = builder.emit("cast", (value,), {}, (scalar(I64),))
    value = _required(builder, value, fits, "Python integer {0} out of bounds for uint64", shown)
    return builder.emit("cast", (value,), {}, (scalar(U64),))


def _not(builder: Builder, flag: Value) -> Value:
    return builder.emit("invert", (flag,))


def _required(
    builder: Builder, value: Value, fits: Value, sentence: str, shown: Value | None = None, error: str = "OverflowError"
) -> Value:
    args = (value, fits) if shown is None else (value, fits, shown)
    return builder.emit("require", args, {"error": error, "sentence": sentence, "dims": ()}, name=value.name)
