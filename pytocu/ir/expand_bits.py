"""Formulas that read the bits of numbers: neighbours, exponents, divisors, counts.

As in :mod:`pytocu.ir.expand`, each is written with rows that backends spell, so all of them and
the interpreter agree bit for bit.
"""

from __future__ import annotations

from pytocu.ir.core import Value
from pytocu.ir.expander import Expander, retype
from pytocu.ir.types import I32, I64, U8, DType, Type, dtype_named, element
from pytocu.record import Record


class _Format(Record):
    """A binary floating-point format: bits of the fraction, and what is added to an exponent."""

    fraction: int
    bias: int
    integer: DType

    @property
    def exponents(self) -> int:
        """The exponent field of infinities."""
        return 2 * self.bias + 1


def _format(dtype: DType) -> _Format:
    fraction = {32: 23, 64: 52}[dtype.bits]
    return _Format(fraction, (1 << (dtype.bits - fraction - 2)) - 1, I32 if dtype.bits == 32 else I64)


def bits_of(e: Expander, x: Value, dtype: DType) -> Value:
    """The same bits as a number of another dtype."""
    return e.builder.emit("bitcast", (x,), {}, (retype(x.type, dtype),))


def _smallest(dtype: DType) -> float:
    """The smallest positive (subnormal) number."""
    form = _format(dtype)
    return 2.0 ** (1 - form.bias - form.fraction)


def _finite(e: Expander, x: Value) -> Value:
    return e("less", e("absolute", x), e.const(float("inf"), x))


def nextafter(e: Expander, result: Type, x: Value, y: Value) -> Value:
    """One step of the integer with the same bits, up or down in magnitude."""
    dtype = element(x.type)
    integer = _format(dtype).integer
    zero = e.const(0.0, x)
    bits = bits_of(e, x, integer)
    grows = e("equal", e("less", x, y), e("greater", x, zero))
    one = e.const(1, bits)
    stepped = bits_of(e, e("add", bits, e.where(grows, one, e("negative", one))), dtype)
    near_zero = e("copysign", e.const(_smallest(dtype), x), y)
    moved = e.where(e("equal", x, zero), near_zero, stepped)
    same = e.where(e("equal", x, y), y, moved)
    either_nan = e("bitwise_or", e("not_equal", x, x), e("not_equal", y, y))
    return e.where(either_nan, e("add", x, y), same)


def spacing(e: Expander, result: Type, x: Value) -> Value:
    """The number one step further from zero, minus `x`; NaN for infinities."""
    dtype = element(x.type)
    bits = bits_of(e, x, _format(dtype).integer)
    further = bits_of(e, e("add", bits, e.const(1, bits)), dtype)
    distance = e.where(e("equal", x, e.const(0.0, x)), e.const(_smallest(dtype), x), e("subtract", further, x))
    return e.where(_finite(e, x), distance, e.const(float("nan"), x))


def modf_integer(e: Expander, result: Type, x: Value) -> Value:
    """``trunc(x)``."""
    return e("trunc", x)


def modf_fraction(e: Expander, result: Type, x: Value) -> Value:
    """``x - trunc(x)`` with the sign of `x`; a zero for infinities."""
    rest = e("subtract", x, e("trunc", x))
    infinite = e("equal", e("absolute", x), e.const(float("inf"), x))
    return e("copysign", e.where(infinite, e.const(0.0, x), rest), x)


def _normal(e: Expander, x: Value) -> tuple[Value, Value, Value]:
    """Bits of `x`, a subnormal one scaled up; its biased exponent; and whether it was scaled."""
    form = _format(element(x.type))
    subnormal = e("less", e("absolute", x), e.const(2.0 ** (1 - form.bias), x))
    scaled = e("multiply", x, e.const(2.0 ** (form.fraction + 1), x))
    bits = bits_of(e, e.where(subnormal, scaled, x), form.integer)
    field = e("shift_right_raw", bits, e.const(form.fraction, bits))
    return bits, e("bitwise_and", field, e.const(form.exponents, bits)), subnormal


def _ordinary(e: Expander, x: Value) -> Value:
    """Whether `x` is finite and not zero: other numbers are their own mantissa."""
    return e("bitwise_and", _finite(e, x), e("not_equal", x, e.const(0.0, x)))


def frexp_mantissa(e: Expander, result: Type, x: Value) -> Value:
    """The bits of `x` with the exponent of 0.5."""
    dtype = element(x.type)
    form = _format(dtype)
    bits, _, _ = _normal(e, x)
    others = e("bitwise_and", bits, e.const(~(form.exponents << form.fraction), bits))
    half = e("bitwise_or", others, e.const((form.bias - 1) << form.fraction, bits))
    return e.where(_ordinary(e, x), bits_of(e, half, dtype), x)


def frexp_exponent(e: Expander, result: Type, x: Value) -> Value:
    """The exponent of `x` in bits, less that of 0.5."""
    form = _format(element(x.type))
    bits, biased, subnormal = _normal(e, x)
    offset = e.where(subnormal, e.const(form.bias + form.fraction, bits), e.const(form.bias - 1, bits))
    exponent = e.cast(e("subtract", biased, offset), I32)
    return e.where(_ordinary(e, x), exponent, e.const(0, exponent))


def ldexp(e: Expander, result: Type, x: Value, y: Value) -> Value:
    """Products with powers of two, of which only the last one can round."""
    dtype = element(x.type)
    form = _format(dtype)
    top, bottom = form.bias, 1 - form.bias
    # Further down than this every number is zero, further up infinite; int64 exponents fit int32 then.
    furthest = 4 * (form.bias + form.fraction)
    y = e.where(e("greater", y, e.const(furthest, y)), e.const(furthest, y), y)
    y = e.where(e("less", y, e.const(-furthest, y)), e.const(-furthest, y), y)
    count = e.cast(y, I32)
    # Kept above the subnormal numbers until the last product, so that this one alone rounds.
    low_step = bottom + form.fraction + 1
    for comparison, limit, step in (("greater", top, top), ("less", bottom, low_step)) * 2:
        beyond = e(comparison, count, e.const(limit, count))
        x = e.where(beyond, e("multiply", x, e.const(2.0**step, x)), x)
        count = e.where(beyond, e("subtract", count, e.const(step, count)), count)
    count = e.where(e("greater", count, e.const(top, count)), e.const(top, count), count)
    count = e.where(e("less", count, e.const(bottom, count)), e.const(bottom, count), count)
    biased = e.cast(e("add", count, e.const(form.bias, count)), form.integer)
    factor = bits_of(e, e("shift_left_raw", biased, e.const(form.fraction, biased)), dtype)
    return e("multiply", x, factor)


def _unsigned(e: Expander, x: Value) -> Value:
    """``|x|`` as an unsigned integer, which holds the smallest integer's too."""
    dtype = element(x.type)
    return x if dtype.kind == "u" else e.cast(e("absolute", x), dtype_named(f"u{dtype.bits}"))


def _gcd(e: Expander, x: Value, y: Value) -> Value:
    """Euclid's algorithm on unsigned integers."""
    found, _ = e.repeat(
        (x, y),
        lambda a, b: e("not_equal", b, e.const(0, b)),
        lambda a, b: (b, e("remainder_truncated", a, b)),
    )
    return found


def gcd(e: Expander, result: Type, x: Value, y: Value) -> Value:
    """Euclid's algorithm on the magnitudes; 0 for two zeros."""
    return e.cast(_gcd(e, _unsigned(e, x), _unsigned(e, y)), element(result))


def lcm(e: Expander, result: Type, x: Value, y: Value) -> Value:
    """``|x| // gcd(x, y) * |y|``, modulo two to the width; 0 where one of them is."""
    a, b = _unsigned(e, x), _unsigned(e, y)
    divisor = _gcd(e, a, b)
    zero = e.const(0, a)
    safe = e.where(e("equal", divisor, zero), e.const(1, a), divisor)
    return e.cast(e("multiply", e("divide_truncated", a, safe), b), element(result))


def bitwise_count(e: Expander, result: Type, x: Value) -> Value:
    """Counts of neighbouring bits added up: pairs, fours, bytes, and so on."""
    value = _unsigned(e, x)
    bits = element(value.type).bits

    def masked(v: Value, width: int) -> Value:
        """The lower of every two groups of `width` bits."""
        ones = ((1 << bits) - 1) // ((1 << width) + 1)
        return e("bitwise_and", v, e.const(ones, v))

    width = 1
    while width < bits:
        value = e("add", masked(value, width), masked(e("shift_right_raw", value, e.const(width, value)), width))
        width *= 2
    return e.cast(value, U8)


__all__ = [
    "bits_of", "bitwise_count", "frexp_exponent", "frexp_mantissa", "gcd", "lcm", "ldexp", "modf_fraction", "modf_integer",
    "nextafter", "spacing",
]  # fmt: skip
