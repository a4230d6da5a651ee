"""Formulas of float32 functions for GPUs, where CUDA's are further from the exact value than the row's bound or do too much.

They use ``fma``, which every GPU has, and no table; numbers of twice the precision are sums of two
float32 ``(high, low)``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

from pytocu.ir import polynomials as p
from pytocu.ir.bounds import FUNCTIONS, bounds
from pytocu.ir.core import Block, Value
from pytocu.ir.expand_elementary import FORMS
from pytocu.ir.expand_float64 import Real
from pytocu.ir.expander import Expander
from pytocu.ir.types import F32, F64, I32, U32, Type, scalar

Pair: TypeAlias = tuple[Value, Value]

# pi / 2 as a sum of three float32, the largest first.
_HALF_PI = (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15)

# tan(r) = r + r * z * P(z) with z = r * r, for |r| <= 0.7925; the error is below 2**-29 of tan(r).
_TANGENT = (0.33333352, 0.1333257, 0.054070786, 0.021224681, 0.010988219, -0.000107629545, 0.0044753593)  # fmt: skip

_REDUCED = 2.0**15
"""Below this the three parts of pi / 2 are enough for every float32."""


_TURNS = 2.0**16
"""Up to this magnitude the three parts are enough for a sine that is 2 ulp from the exact one at most."""


def sin(e: Expander, result: Type, x: Value) -> Value | None:
    """Some 20 instructions without a branch; CUDA's code for large angles, unless the angle is known to be none."""
    angle = Real(e, x)
    return _of_any_angle(angle, "sin", lambda: _of_sign(_turned(abs(angle), 0), angle))


def cos(e: Expander, result: Type, x: Value) -> Value | None:
    """As the sine, of an angle that is a quarter further; both of one angle share all but the last steps."""
    angle = Real(e, x)
    return _of_any_angle(angle, "cos", lambda: _turned(abs(angle), 1))


def _of_any_angle(x: Real, name: str, of_small: Callable[[], Real]) -> Value | None:
    if not x.e.exact:
        return None
    if _is_small(x.e, x.value):
        return _stated(x.e, name, of_small())
    small = (abs(x) > _TURNS).row("logical_not")
    made = _branch(x.e, small.value, lambda: of_small().value, lambda: x.row(f"outlined_{name}").value, usual=True)
    return _stated(x.e, name, Real(x.e, made))


def _stated(e: Expander, name: str, made: Real) -> Value:
    """A result whose bounds its instructions do not say."""
    if e.stated is not None:
        e.stated[made.value] = FUNCTIONS[name]
    return made.value


def _is_small(e: Expander, x: Value) -> bool:
    """Whether a number is small, infinite or NaN."""
    if x.inst is not None and x.inst.op.name == "half_to_float":
        return True
    known = bounds(x, e.stated)
    return known is not None and known.low >= -_TURNS and known.high <= _TURNS


def _turned(x: Real, turn: int) -> Real:
    """The sine of an angle that is turned by no quarter or one; NaN of infinity."""
    shifter = FORMS[F32].shifter
    shifted = x.fma(2 / math.pi, shifter)
    count = shifted - shifter
    # The first difference is exact: it has no bit below 2**-24 and is smaller than 1.
    for part in _HALF_PI:
        x = count.fma(-part, x)
    square = x * x
    sine = (x * square).fma(_nested(square, *p.SIN[F32]), x)
    cosine = _nested(square, 1.0, -0.5, *p.COS[F32])
    quadrant = shifted.bitcast(I32)
    even = quadrant.row("bitwise_and", 1).equals(0)
    made = even.choose(cosine, sine) if turn else even.choose(sine, cosine)
    # The second bit of the turned quadrant becomes the sign: a shift and a sum are one instruction.
    high = quadrant.row("shift_left_raw", 30)
    return _of_sign(made, high + 2**30 if turn else high)


def _nested(x: Real, *factors: float) -> Real:
    """A polynomial, one step after the other: other lanes and warps fill the time, and no power of `x` is computed."""
    made = x.of(factors[-1])
    for factor in reversed(factors[:-1]):
        made = made.fma(x, factor)
    return made


def _of_sign(x: Real, other: Real) -> Real:
    """A number with its sign turned where another has the bit for it."""
    sign = other.bitcast(I32).row("bitwise_and", -(2**31))
    return x.bitcast(I32).row("bitwise_xor", sign).bitcast(F32)


# Two float32 whose product is pi / 2 to 44 digits: `fma` adds a multiple of pi / 2 and rounds once.
_HALF_PI_FACTORS = (1.1855494976043701, 1.3249521255493164)

_QUOTIENTS = (2.0**-60, 2.0**120)
"""Between these a divisor's reciprocal is a normal number, and what a quotient leaves is exact."""


def arctan2(e: Expander, result: Type, y: Value, x: Value) -> Value:
    """The arctangent of the smaller over the larger magnitude, taken from the multiple of pi / 2 that is next to it."""
    across, along = abs(Real(e, y)), abs(Real(e, x))
    steep = across > along
    small, large = steep.choose(along, across), steep.choose(across, along)
    usual = (large >= _QUOTIENTS[0]) & (large <= _QUOTIENTS[1])
    made = _branch(e, usual.value, lambda: _quick_quotient(small, large).value, lambda: _any_quotient(small, large).value)
    quotient = Real(e, made)
    square = quotient * quotient
    angle = (quotient * square).fma(_nested(square, *p.ATAN_WHOLE[F32]), quotient)
    left = Real(e, x).bitcast(I32) < 0
    half, other = _HALF_PI_FACTORS
    turns = steep.choose(angle.of(half), left.choose(angle.of(2 * half), angle.of(0.0)))
    angle = (steep ^ left).choose(-angle, angle)
    # The angle of the point with a positive y is not negative.
    return _stated(e, "arctan2", _of_sign(turns.fma(other, angle), Real(e, y)))


def _quick_quotient(a: Real, b: Real) -> Real:
    inverse = b.row("near_reciprocal")
    near = a * inverse
    return near.fma(-b, a).fma(inverse, near)


def _any_quotient(small: Real, large: Real) -> Real:
    """Infinities have the quotient of equal numbers, zeros are 0."""
    ends = small.equals(large) & small.equals(float("inf"))
    return ends.choose(small.of(1.0), large.equals(0.0).choose(small, small / large))


def tan(e: Expander, result: Type, x: Value) -> Value:
    """``x`` minus the nearest multiple of pi / 2 with 48 bits, then a polynomial; float64 for large angles."""
    small = e("less", e("absolute", x), e.const(_REDUCED, x))
    of_large = lambda: e.cast(e("outlined_tan", e.cast(x, F64)), F32)  # noqa: E731
    return _branch(e, small, lambda: _tan_of_small(e, x), of_large, usual=True)


# The significand of a logarithm's argument is at least 2 / 3, and less than twice that.
_TWO_THIRDS = 0x3F2AAAAB

_LOG_2 = 0.6931471824645996

_ORDINARY = 0x7F7FFFFF
"""The largest finite float32; zero, what has a sign, infinity and NaN are no numbers from 1 to this one."""


def log(e: Expander, result: Type, x: Value) -> Value | None:
    """``log(m) + n log(2)`` where ``x = m * 2**n``, without a branch; what has no logarithm is left to the GPU's own."""
    if not e.exact:
        return None
    number = Real(e, x)
    subnormal = number < 2.0**-126
    grown = subnormal.choose(number * 2.0**23, number)
    bits = grown.bitcast(U32)
    # n in the bits of an exponent: as a number it is 2**23 n, exactly.
    exponent = (bits - _TWO_THIRDS).row("bitwise_and", 2**32 - 2**23)
    f = (bits - exponent).bitcast(F32) - 1.0
    count = exponent.bitcast(I32).cast(F32)
    count = subnormal.choose(count - 23 * 2.0**23, count)
    rest = (f * _nested(f, *p.LOG_THIRDS[F32])).fma(f, f)
    ordinary = (bits - 1) < _ORDINARY
    return ordinary.choose(count.fma(_LOG_2 * 2.0**-23, rest), grown.row("near_logarithm")).value


_TANH_NEAR = 0.55
"""Below this magnitude digits of ``1 - 2 / (exp(2 x) + 1)`` would cancel."""


def tanh(e: Expander, result: Type, x: Value) -> Value | None:
    """``1 - 2 / (exp(2 |x|) + 1)`` with the sign of x, which is 1 from some 9 on, or a polynomial."""
    if not e.exact:
        return None
    number = Real(e, x)
    size = abs(number)
    inverse = ((size * (2 / math.log(2))).row("near_power_of_two") + 1.0).row("near_reciprocal")
    square = number * number
    # With a zero added a product of zero has no sign, and -0 stays -0.
    small = square.fma(_nested(square, *p.TANH[F32]), 0.0).fma(number, number)
    made = (size < _TANH_NEAR).choose(small, _of_sign(inverse.fma(-2.0, 1.0), number))
    return _stated(e, "tanh", made)


def _branch(
    e: Expander, condition: Value, yes: Callable[[], Value], no: Callable[[], Value], usual: bool = False
) -> Value:
    """A float32 that threads of one side compute without waiting for the other's code.

    Parameters
    ----------
    usual : bool
        The first side may be computed for any numbers, and most are of that side.
    """
    regions: list[Block] = []
    for write in (yes, no):
        with e.builder.nested() as insts:
            e.builder.emit("yield", (write(),))
        regions.append(Block((), tuple(insts)))
    return e.builder.inst("if", (condition,), {"usual": True} if usual else {}, (scalar(F32),), regions).result


def _tan_of_small(e: Expander, x: Value) -> Value:
    # Of any number these bits are defined, unlike its conversion to an integer.
    shifted = e("fma", x, e.const(2 / math.pi, x), e.const(FORMS[F32].shifter, x))
    turns = e("subtract", shifted, e.const(FORMS[F32].shifter, x))
    first, second, third = (e.const(-part, x) for part in _HALF_PI)
    # The first difference is exact: it has no bit below 2**-24 and is smaller than 1.
    near = e("fma", turns, first, x)
    moved = e("multiply", turns, second)
    below = e("add", e("fma", turns, second, e("negative", moved)), e("multiply", turns, third))
    high, low = _sum(e, near, moved)
    angle, rest = _ordered_sum(e, high, e("add", low, below))

    square = e("multiply", angle, angle)
    series = _nested(Real(e, square), *_TANGENT).value
    tangent, tail = _ordered_sum(e, angle, e("multiply", angle, e("multiply", square, series)))
    # The derivative of the tangent is 1 + tan**2.
    tail = e("add", tail, e("fma", rest, e("multiply", tangent, tangent), rest))

    inverse = e("divide", e.const(-1.0, x), tangent)
    error = e("fma", inverse, tail, e("fma", inverse, tangent, e.const(1.0, x)))
    cotangent = e("fma", inverse, error, inverse)
    count = e.bitcast(shifted, I32)
    odd = e("not_equal", e("bitwise_and", count, e.const(1, count)), e.const(0, count))
    made = e.where(odd, cotangent, e("add", tangent, tail))
    # Nearer to zero the sum above would lose the sign of zero.
    return e.where(e("less", e("absolute", x), e.const(2.0**-13, x)), x, made)


def _sum(e: Expander, a: Value, b: Value) -> Pair:
    """The sum of any two numbers, and what rounding it lost."""
    total = e("add", a, b)
    of_b = e("subtract", total, a)
    return total, e("add", e("subtract", a, e("subtract", total, of_b)), e("subtract", b, of_b))


def _ordered_sum(e: Expander, a: Value, b: Value) -> Pair:
    """The sum of two numbers of which the first is larger, and what rounding it lost."""
    total = e("add", a, b)
    return total, e("add", e("subtract", a, total), b)


def hypot(e: Expander, result: Type, x: Value, y: Value) -> Value:
    """The root of the sum of squares, moved by a power of two so that the larger square is in range.

    Three roundings before the root count half, that of the root whole: less than 2 units in all.
    """
    a, b = e("absolute", x), e("absolute", y)
    larger = e("maximum", a, b)
    huge, tiny = e("greater", larger, e.const(2.0**60, x)), e("less", larger, e.const(2.0**-40, x))

    def factor(of_huge: float, of_tiny: float) -> Value:
        return e.where(huge, e.const(of_huge, x), e.where(tiny, e.const(of_tiny, x), e.const(1.0, x)))

    scale = factor(2.0**-80, 2.0**90)
    p, q = e("multiply", a, scale), e("multiply", b, scale)
    root = e("sqrt", e("fma", p, p, e("multiply", q, q)))
    made = e("multiply", root, factor(2.0**80, 2.0**-90))
    infinity = e.const(math.inf, x)
    # An infinity wins over a NaN.
    return e.where(e("bitwise_or", e("equal", a, infinity), e("equal", b, infinity)), infinity, made)


__all__ = ["hypot", "tan"]
