"""Meanings of composite operations, written once with primitive rows.

Backends spell only primitives; everything else is one of these formulas, so every backend
and the interpreter agree bit for bit.  ``e`` is an :class:`Expander`; arguments are values of
the types the row's loop has.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pytocu.ir.bounds import bounds
from pytocu.ir.core import Value
from pytocu.ir.expander import Expander
from pytocu.ir.types import BOOL, F32, F64, I32, I64, U64, DType, Type, element


def _minimum_of(dtype: DType) -> int:
    return int(np.iinfo(dtype.numpy).min)


def cast(e: Expander, result: Type, x: Value) -> Value:
    """``astype``: C conversions, defined for every input.

    Out of range a float becomes the smallest int64 (int32 for int32); narrower integers are
    the low bits of that, as x86-64 does.
    """
    source, target = element(x.type), element(result)
    if source is target:
        return x
    if target is BOOL:
        return e("not_equal", x, e.const(0, x))
    if source.kind != "f" or target.kind == "f":
        return e.cast(x, target)
    if target is U64:
        half = e.const(2.0**63, x)
        low = _float_to_int(e, x, I64)
        high = _float_to_int(e, e("subtract", x, half), I64)
        flipped = e("bitwise_xor", high, e.const(_minimum_of(I64), high))
        # NaN is below every number here, as it is for x86-64.
        return e.cast(e.where(e("greater_equal", x, half), flipped, low), U64)
    wide = I64 if target.bits == 64 or target.name == "u32" else I32
    if target.bits < wide.bits:
        # The low bits of the smallest integer are those of 0, which a number out of range is converted as.
        return e.cast(_in_range(e, x, wide)[1], target)
    return e.cast(_float_to_int(e, x, wide), target)


def _in_range(e: Expander, x: Value, target: DType) -> tuple[Value | None, Value]:
    """Whether a float is a signed integer's when truncated, and that integer, or 0; nothing to ask where it always is."""
    limit = -float(_minimum_of(target))
    known = bounds(x, e.stated) if e.exact else None
    if known is not None and -limit <= known.low and known.high < limit:
        if not known.nan:
            return None, e.cast(x, target)
        inside = e("equal", x, x)
    else:
        # Comparisons are false for NaN, so it takes the other side as every out-of-range value does.  The smallest
        # integer does so too, and what truncates to it.
        inside = e("less", e("absolute", x), e.const(limit, x))
    return inside, e.cast(e.where(inside, x, e.const(0.0, x)), target)


def _float_to_int(e: Expander, x: Value, target: DType) -> Value:
    inside, converted = _in_range(e, x, target)
    return converted if inside is None else e.where(inside, converted, e.const(_minimum_of(target), converted))


def identity(e: Expander, result: Type, x: Value) -> Value:
    """The argument itself."""
    return x


def integers_unchanged(e: Expander, result: Type, x: Value) -> Value:
    """Rounding functions leave integers alone."""
    return x


def absolute(e: Expander, result: Type, x: Value) -> Value:
    """``|x|``; the smallest integer stays itself."""
    if e.kind(x) in "ub":
        return x
    return e.where(e("less", x, e.const(0, x)), e("negative", x), x)


def sign(e: Expander, result: Type, x: Value) -> Value:
    """-1, 0 or 1; NaN stays NaN and both zeros give +0."""
    zero, one = e.const(0, x), e.const(1, x)
    positive = e("greater", x, zero)
    if e.kind(x) == "u":
        return e.where(positive, one, zero)
    minus = e.const(-1, x)
    other = e.where(e("equal", x, zero), zero, x) if e.kind(x) == "f" else zero
    return e.where(positive, one, e.where(e("less", x, zero), minus, other))


def square(e: Expander, result: Type, x: Value) -> Value:
    """``x * x``."""
    return e("bitwise_and", x, x) if e.kind(x) == "b" else e("multiply", x, x)


def reciprocal(e: Expander, result: Type, x: Value) -> Value:
    """``1 / x``; integers through float64, as NumPy does."""
    if e.kind(x) == "f":
        return e("divide", e.const(1, x), x)
    wide = e.cast(x, F64)
    return cast(e, result, e("divide", e.const(1.0, wide), wide))


def _is_nan(e: Expander, x: Value) -> Value:
    return e("not_equal", x, x)


_UNLESS = {"greater": "less_equal", "less": "greater_equal", "greater_equal": "less", "less_equal": "greater"}
"""Comparisons that are false where those before hold, and for NaN."""


def _is_number(value: Value) -> bool:
    """Whether a value is known not to be NaN; the bits of a float16 are not looked into."""
    if element(value.type).kind != "f":
        return False
    number = _constant(value)
    return number is not None and number == number


def _constant(value: Value) -> Any:
    """The number that a value is, or None."""
    return value.inst.attr("value") if value.inst is not None and value.inst.op.name == "const" else None


def _choose(e: Expander, comparison: str, x: Value, y: Value, nan_of: Value) -> Value:
    """``x if x <op> y or nan_of is NaN else y``."""
    # Not for zeros: which of them a comparison of equals leaves is lost where LLVM makes it a minimum or maximum.
    if e.kind(x) == "f" and nan_of is x and _is_number(y) and _constant(y) != 0:
        return e.where(e(_UNLESS[comparison], x, y), y, x)
    take = e(comparison, x, y)
    if e.kind(x) == "f" and not _is_number(nan_of):
        take = e("bitwise_or", take, _is_nan(e, nan_of))
    return e.where(take, x, y)


def _truth(e: Expander, name: str, x: Value, y: Value) -> Value:
    return e(name, x, y)


def maximum(e: Expander, result: Type, x: Value, y: Value) -> Value:
    """``x if x >= y or x is NaN else y``."""
    return _truth(e, "bitwise_or", x, y) if e.kind(x) == "b" else _choose(e, "greater_equal", x, y, x)


def minimum(e: Expander, result: Type, x: Value, y: Value) -> Value:
    """``x if x <= y or x is NaN else y``."""
    return _truth(e, "bitwise_and", x, y) if e.kind(x) == "b" else _choose(e, "less_equal", x, y, x)


def fmax(e: Expander, result: Type, x: Value, y: Value) -> Value:
    """``x if x >= y or y is NaN else y``."""
    return _truth(e, "bitwise_or", x, y) if e.kind(x) == "b" else _choose(e, "greater_equal", x, y, y)


def fmin(e: Expander, result: Type, x: Value, y: Value) -> Value:
    """``x if x <= y or y is NaN else y``."""
    return _truth(e, "bitwise_and", x, y) if e.kind(x) == "b" else _choose(e, "less_equal", x, y, y)


def clip(e: Expander, result: Type, x: Value, low: Value, high: Value) -> Value:
    """``min(max(x, low), high)`` where NaN, of `x` first, wins, and `x` of equal zeros."""

    def bound(comparison: str, a: Value, b: Value) -> Value:
        # Only of zeros it matters which of two equal numbers is taken.  Of others it is the bound.
        zeros = e.kind(b) == "f" and not (_is_number(b) and _constant(b) != 0)
        return _choose(e, f"{comparison}_equal" if zeros else comparison, a, b, a)

    return bound("less", bound("greater", x, low), high)


def floor_divide(e: Expander, result: Type, x: Value, y: Value) -> Value:
    """Rounds towards minus infinity; integers give 0 for a zero divisor, floats ``x / y``."""
    if e.kind(x) == "f":
        return _float_divmod(e, x, y)[0]
    return _int_divmod(e, x, y)[0]


def remainder(e: Expander, result: Type, x: Value, y: Value) -> Value:
    """``x - y * floor(x / y)`` with the sign of `y`; integers give 0 for a zero divisor."""
    if e.kind(x) == "f":
        return _float_divmod(e, x, y)[1]
    return _int_divmod(e, x, y)[1]


def _safe_divisor(e: Expander, y: Value) -> tuple[Value, Value, Value | None]:
    """A divisor that neither traps nor overflows, and what made the real one unsafe."""
    is_zero = e("equal", y, e.const(0, y))
    unsafe, is_minus = is_zero, None
    if e.kind(y) == "i":
        # x // -1 is -x: INT_MIN // -1 would trap on a CPU.
        is_minus = e("equal", y, e.const(-1, y))
        unsafe = e("bitwise_or", is_zero, is_minus)
    return e.where(unsafe, e.const(1, y), y), is_zero, is_minus


def _int_divmod(e: Expander, x: Value, y: Value) -> tuple[Value, Value]:
    zero = e.const(0, x)
    safe, is_zero, is_minus = _safe_divisor(e, y)
    quotient = e("divide_truncated", x, safe)
    rest = e("subtract", x, e("multiply", quotient, safe))
    if is_minus is not None:
        opposite = e("not_equal", e("less", rest, zero), e("less", safe, zero))
        fix = e("bitwise_and", e("not_equal", rest, zero), opposite)
        quotient = e.where(fix, e("subtract", quotient, e.const(1, x)), quotient)
        quotient = e.where(is_minus, e("negative", x), quotient)
        rest = e.where(fix, e("add", rest, safe), rest)
        rest = e.where(is_minus, zero, rest)
    return e.where(is_zero, zero, quotient), e.where(is_zero, zero, rest)


def _float_divmod(e: Expander, x: Value, y: Value) -> tuple[Value, Value]:
    zero, one = e.const(0.0, x), e.const(1.0, x)
    rest = e("fmod", x, y)
    quotient = e("divide", e("subtract", x, rest), y)
    has_rest = e("not_equal", rest, zero)
    opposite = e("not_equal", e("less", y, zero), e("less", rest, zero))
    fix = e("bitwise_and", has_rest, opposite)
    quotient = e.where(fix, e("subtract", quotient, one), quotient)
    modulus = e.where(fix, e("add", rest, y), rest)
    modulus = e.where(has_rest, modulus, e("copysign", zero, y))
    floored = e("floor", quotient)
    # The division rounds, so floor can be one too low.
    low = e("greater", e("subtract", quotient, floored), e.const(0.5, x))
    floored = e.where(low, e("add", floored, one), floored)
    ratio = e("divide", x, y)
    floored = e.where(e("not_equal", quotient, zero), floored, e("copysign", zero, ratio))
    by_zero = e("equal", y, zero)
    return e.where(by_zero, ratio, floored), e.where(by_zero, rest, modulus)


def fmod(e: Expander, result: Type, x: Value, y: Value) -> Value:
    """The remainder with the sign of `x`; integers give 0 for a zero divisor."""
    zero = e.const(0, x)
    safe, is_zero, is_minus = _safe_divisor(e, y)
    rest = e("subtract", x, e("multiply", e("divide_truncated", x, safe), safe))
    if is_minus is not None:
        rest = e.where(is_minus, zero, rest)
    return e.where(is_zero, zero, rest)


FRACTIONS = {F32: 23, F64: 52}
"""Binary digits of a number's fraction.  Of quotients below 2 to that power, the rounded one says how often a divisor fits."""


def float_fmod(e: Expander, result: Type, x: Value, y: Value) -> Value | None:
    """The remainder of floats as operations of vectors: `x` without as many `y` as the rounded quotient says, exactly.

    Each of these is exact, for a remainder has no digits that `x` and `y` have not.  The quotient is one too large where it
    was rounded to the next whole number.  Where it is so large that it says nothing, and where there is none, the C library
    is asked.
    """
    dtype = element(result)
    if not e.exact or dtype not in FRACTIONS:
        return None
    zero = e.const(0.0, x)
    times = e("trunc", e("divide", x, y))
    # Of an infinite divisor, times zero, nothing would be left.
    rest = e.where(e("equal", times, zero), x, e("fma", e("negative", times), y, x))
    opposite = e("not_equal", e("less", rest, zero), e("less", x, zero))
    fix = e("bitwise_and", opposite, e("not_equal", rest, zero))
    near = e("copysign", e.where(fix, e("add", rest, e("copysign", y, x)), rest), x)
    bound = e("multiply", e("absolute", y), e.const(2.0 ** FRACTIONS[dtype], x))
    return e.where(e("less", e("absolute", x), bound), near, e("fmod_of_far", x, y))


def left_shift(e: Expander, result: Type, x: Value, y: Value) -> Value:
    """0 for shifts by the width and more (a negative count is such)."""
    return _shift(e, "shift_left_raw", x, y, e.const(0, x))


def right_shift(e: Expander, result: Type, x: Value, y: Value) -> Value:
    """Arithmetic for signed integers; the sign alone for shifts by the width and more."""
    rest = e.const(0, x)
    if e.kind(x) == "i":
        rest = e.where(e("less", x, rest), e.const(-1, x), rest)
    return _shift(e, "shift_right_raw", x, y, rest)


def _shift(e: Expander, raw: str, x: Value, y: Value, beyond: Value) -> Value:
    inside = e("less", y, e.const(element(y.type).bits, y))
    if e.kind(y) == "i":
        inside = e("bitwise_and", inside, e("greater_equal", y, e.const(0, y)))
    return e.where(inside, e(raw, x, e.where(inside, y, e.const(0, y))), beyond)


_FEW_BITS = 8
"""Exponents of so many bits have a step for each: without a loop, a CPU computes many powers at once."""


def power(e: Expander, result: Type, x: Value, y: Value) -> Value:
    """Integers: squaring and multiplying over the bits of a non-negative exponent."""
    if y.inst is not None and y.inst.op.name == "const":
        return _constant_power(e, x, int(y.inst.attr("value")))
    zero, one = e.const(0, x), e.const(1, x)

    def step(total: Value, base: Value, rest: Value) -> tuple[Value, ...]:
        odd = e("not_equal", e("bitwise_and", rest, one), zero)
        total = e.where(odd, e("multiply", total, base), total)
        return total, e("multiply", base, base), e("shift_right_raw", rest, one)

    bits = element(y.type).bits - (e.kind(y) == "i")
    if bits <= _FEW_BITS:
        values: tuple[Value, ...] = (one, x, y)
        for _ in range(bits):
            values = step(*values)
        return values[0]
    # Exponents are small as a rule: a step for each of their bits would be most of the work, and of compiling, for nothing.
    total, *_ = e.repeat((one, x, y), lambda total, base, rest: e("greater", rest, zero), step)
    return total


def _constant_power(e: Expander, x: Value, exponent: int) -> Value:
    total: Value | None = None
    base = x
    # With a negative exponent there is no element, or a requirement raises.
    while exponent > 0:
        if exponent & 1:
            total = base if total is None else e("multiply", total, base)
        exponent >>= 1
        if exponent:
            base = e("multiply", base, base)
    return e.const(1, x) if total is None else total


def logical_and(e: Expander, result: Type, x: Value, y: Value) -> Value:
    """Both are non-zero (NaN is)."""
    return e("bitwise_and", _nonzero(e, x), _nonzero(e, y))


def logical_or(e: Expander, result: Type, x: Value, y: Value) -> Value:
    """Either is non-zero (NaN is)."""
    return e("bitwise_or", _nonzero(e, x), _nonzero(e, y))


def logical_xor(e: Expander, result: Type, x: Value, y: Value) -> Value:
    """Exactly one is non-zero (NaN is)."""
    return e("bitwise_xor", _nonzero(e, x), _nonzero(e, y))


def logical_not(e: Expander, result: Type, x: Value) -> Value:
    """Is zero."""
    return e("invert", x) if e.kind(x) == "b" else e("equal", x, e.const(0, x))


def _nonzero(e: Expander, x: Value) -> Value:
    return x if e.kind(x) == "b" else e("not_equal", x, e.const(0, x))


def isnan(e: Expander, result: Type, x: Value) -> Value:
    """``x != x``; never for integers."""
    return _is_nan(e, x) if e.kind(x) == "f" else e.builder.const(False, result)


def isinf(e: Expander, result: Type, x: Value) -> Value:
    """``|x| == inf``; never for integers."""
    if e.kind(x) != "f":
        return e.builder.const(False, result)
    return e("equal", e("absolute", x), e.const(float("inf"), x))


def isfinite(e: Expander, result: Type, x: Value) -> Value:
    """``|x| < inf``; always for integers."""
    if e.kind(x) != "f":
        return e.builder.const(True, result)
    return e("less", e("absolute", x), e.const(float("inf"), x))


def signbit(e: Expander, result: Type, x: Value) -> Value:
    """The sign bit, of zeros and NaNs too."""
    return e("less", e("copysign", e.const(1.0, x), x), e.const(0.0, x))


def _scaled(e: Expander, x: Value, factor: float) -> Value:
    return e("multiply", x, e.const(float(element(x.type).numpy.type(factor)), x))


def degrees_to_radians(e: Expander, result: Type, x: Value) -> Value:
    """``x * (pi / 180)``, the factor rounded in the dtype."""
    number = element(x.type).numpy.type
    return _scaled(e, x, number(np.pi) / number(180.0))


def radians_to_degrees(e: Expander, result: Type, x: Value) -> Value:
    """``x * (180 / pi)``, the factor rounded in the dtype."""
    number = element(x.type).numpy.type
    return _scaled(e, x, number(180.0) / number(np.pi))


def heaviside(e: Expander, result: Type, x: Value, at_zero: Value) -> Value:
    """0, `at_zero` or 1; NaN stays NaN."""
    zero, one = e.const(0.0, x), e.const(1.0, x)
    sided = e.where(e("less", x, zero), zero, e.where(e("equal", x, zero), at_zero, one))
    return e.where(_is_nan(e, x), x, sided)


def _log_of_sum(e: Expander, x: Value, y: Value, log1p: Any, exp: Any, log_two: float) -> Value:
    gap = e("subtract", x, y)
    larger = e("greater", gap, e.const(0.0, x))
    top = e.where(larger, x, y)
    # Equal infinities subtract to NaN, so they are answered apart.
    summed = e("add", top, log1p(exp(e("negative", e("absolute", gap)))))
    doubled = e("add", x, e.const(float(element(x.type).numpy.type(log_two)), x))
    return e.where(e("equal", x, y), doubled, summed)


def logaddexp(e: Expander, result: Type, x: Value, y: Value) -> Value:
    """``max + log1p(exp(-|x - y|))``; where the sum cancels the bound is in ulp of 1, as NumPy's is."""
    return _log_of_sum(e, x, y, lambda v: e("log1p", v), lambda v: e("exp", v), float(np.log(2.0)))


def logaddexp2(e: Expander, result: Type, x: Value, y: Value) -> Value:
    """``max + log2(1 + 2**-|x - y|)``; where the sum cancels the bound is in ulp of 1, as NumPy's is."""
    per_two = float(np.log2(np.e))

    def log2_1p(v: Value) -> Value:
        return _scaled(e, e("log1p", v), per_two)

    return _log_of_sum(e, x, y, log2_1p, lambda v: e("exp2", v), 1.0)
