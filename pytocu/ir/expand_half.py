"""float16 with the dtypes every backend has: its bits are a ``u16``, its arithmetic is float32's.

Every operation is computed in float32 and rounded to float16 once.  float32 has more than
twice the digits of float16, so ``+ - * /`` and ``sqrt`` are correctly rounded all the same.
Operations on the sign alone are written on the bits, where they keep NaNs as they are.
"""

from __future__ import annotations

import numpy as np

from pytocu.ir.core import Value
from pytocu.ir.expander import Expander, retype
from pytocu.ir.types import F32, F64, I32, U32, DType, element

SIGN, MAGNITUDE, QUIET_NAN = 0x8000, 0x7FFF, 0x7E00


def bits_of(value: float) -> int:
    """The bits of a float16 constant."""
    with np.errstate(all="ignore"):
        return int(np.float16(value).view(np.uint16))


def widen(e: Expander, bits: Value) -> Value:
    """float16 to float32, exactly."""
    if bits.inst is not None and bits.inst.op.name == "const":
        number = np.uint16(bits.inst.attr("value")).view(np.float16)
        return e.builder.const(float(number), retype(bits.type, F32))
    return e("half_to_float", bits)


def narrow(e: Expander, x: Value) -> Value:
    """float32 to float16, rounded to nearest with ties to even."""
    if x.inst is not None and x.inst.op.name == "half_to_float":
        # The bits themselves, which a NaN keeps.
        return x.inst.args[0]
    return e("float_to_half", x)


def from_dtype(e: Expander, x: Value) -> Value:
    """A number of another real dtype to float16, rounded once."""
    source = element(x.type)
    if source is F64:
        return narrow(e, round_to_odd(e, x))
    if source.is_integer and source.bits > 16:
        # Beyond 65520 everything is infinite, and float32 holds all integers of this range.
        limit = 1 << 17
        x = e.where(e("less", x, e.const(limit, x)), x, e.const(limit, x))
        if source.kind == "i":
            x = e.where(e("greater", x, e.const(-limit, x)), x, e.const(-limit, x))
    return narrow(e, e.cast(x, F32))


def round_to_odd(e: Expander, x: Value) -> Value:
    """float64 to float32, towards zero and with the last bit set where that is inexact.

    Rounding the result again, to a dtype of two digits less, is then as if `x` were rounded once.
    """
    near = e.cast(x, F32)
    back = e.cast(near, F64)
    bits = e.bitcast(near, U32)
    one = e.const(1, bits)
    bits = e.where(e("greater", e("absolute", back), e("absolute", x)), e("subtract", bits, one), bits)
    bits = e.where(e("not_equal", back, x), e("bitwise_or", bits, one), bits)
    return e.bitcast(bits, F32)


def with_sign(e: Expander, wide: Value, bits: Value) -> Value:
    """The float32 with the sign of the float16 it is made of, which a NaN may have lost."""
    if wide.inst is not None and wide.inst.op.name == "const":
        return wide
    high = e("shift_left_raw", e.cast(bits, U32), e.builder.const(16, retype(bits.type, U32)))
    return e("copysign", wide, e.bitcast(high, F32))


def to_dtype(e: Expander, bits: Value, target: DType) -> Value:
    """float16 to another real dtype, as NumPy casts float32."""
    wide = widen(e, bits)
    return wide if target is F32 else e.builder.emit("cast", (wide,), {}, (retype(wide.type, target),))


def same(e: Expander, bits: Value) -> Value:
    """The number itself."""
    return bits


def negative(e: Expander, bits: Value) -> Value:
    """The other sign bit."""
    return e("bitwise_xor", bits, e.const(SIGN, bits))


def absolute(e: Expander, bits: Value) -> Value:
    """No sign bit."""
    return e("bitwise_and", bits, e.const(MAGNITUDE, bits))


def copysign(e: Expander, bits: Value, sign: Value) -> Value:
    """The magnitude of one, the sign bit of the other."""
    return e("bitwise_or", absolute(e, bits), e("bitwise_and", sign, e.const(SIGN, sign)))


def signbit(e: Expander, bits: Value) -> Value:
    """The sign bit, of NaNs too."""
    return e("greater_equal", bits, e.const(SIGN, bits))


def isnan(e: Expander, bits: Value) -> Value:
    """A magnitude beyond infinity's."""
    return e("greater", absolute(e, bits), e.const(0x7C00, bits))


def isinf(e: Expander, bits: Value) -> Value:
    """The magnitude of infinity."""
    return e("equal", absolute(e, bits), e.const(0x7C00, bits))


def isfinite(e: Expander, bits: Value) -> Value:
    """A magnitude below infinity's."""
    return e("less", absolute(e, bits), e.const(0x7C00, bits))




def _comparable(e: Expander, bits: Value) -> Value:
    """Integers in the order of the numbers, both zeros 0."""
    size = e.cast(absolute(e, bits), I32)
    return e.where(signbit(e, bits), e("negative", size), size)


def nextafter(e: Expander, bits: Value, towards: Value) -> Value:
    """One step of the bits, up or down in magnitude."""
    x, y = _comparable(e, bits), _comparable(e, towards)
    zero, one = e.const(0, x), e.const(1, bits)
    grows = e("equal", e("less", x, y), e("greater", x, zero))
    stepped = e.where(grows, e("add", bits, one), e("subtract", bits, one))
    smallest = e("bitwise_or", one, e("bitwise_and", towards, e.const(SIGN, towards)))
    moved = e.where(e("equal", x, y), towards, e.where(e("equal", x, zero), smallest, stepped))
    unknown = e("bitwise_or", isnan(e, bits), isnan(e, towards))
    return e.where(unknown, e.const(QUIET_NAN, bits), moved)


def spacing(e: Expander, bits: Value) -> Value:
    """The next number above, minus this one: NumPy's float16 has no sign here; NaN for infinities."""
    one = e.const(1, bits)
    nothing = e("equal", absolute(e, bits), e.const(0, bits))
    above = e.where(signbit(e, bits), e("subtract", bits, one), e("add", bits, one))
    above = e.where(nothing, one, above)
    distance = narrow(e, e("subtract", widen(e, above), widen(e, bits)))
    return e.where(isfinite(e, bits), distance, e.const(QUIET_NAN, bits))
