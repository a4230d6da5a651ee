"""Elementary functions as arithmetic without branches: exponentials, logarithms, hyperbolic and inverse functions.

A loop over such a formula becomes vector code, whose lanes and whose last elements compute the
same bits.  Every formula takes float32 or float64 and stays in that dtype unless it says so.
``fma`` is a row of its own: the formulas rely on its single rounding.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pytocu.ir import polynomials as p
from pytocu.ir.core import Value
from pytocu.ir.expand_float64 import Real
from pytocu.ir.expander import Expander
from pytocu.ir.types import F32, F64, U32, U64, DType, Type, element
from pytocu.record import Record


class Form(Record):
    """A floating-point format: bits of the fraction, what is added to an exponent, integers of the same size."""

    dtype: DType
    integer: DType
    fraction: int
    bias: int

    @property
    def shifter(self) -> float:
        """Added to a small number it rounds that to an integer, which is then in the lowest bits."""
        return 1.5 * 2.0**self.fraction

    @property
    def epsilon(self) -> float:
        """Half of the distance from 1 to the next number."""
        return 2.0 ** -(self.fraction + 1)

    def pick(self, single: float, double: float) -> float:
        """A constant of this format."""
        return single if self.dtype is F32 else double


FORMS = {F32: Form(F32, U32, 23, 127), F64: Form(F64, U64, 52, 1023)}


def form_of(x: Real) -> Form:
    """The format of a value."""
    return FORMS[element(x.value.type)]


def parts(high: float, low: float, form: Form) -> tuple[float, float]:
    """A constant of twice float64's digits as two numbers of the format."""
    if form.dtype is F64:
        return high, low
    first = float(np.float32(high))
    return first, float(np.float32(high - first + low))


LOG_2 = (0.6931471805599453, 2.3190468138462996e-17)
LOG2_E = (1.4426950408889634, 2.0355273740931033e-17)
LOG10_E = (0.4342944819032518, 1.098319650216765e-17)
LOG10_2 = (0.3010299956639812, -2.8037281277851704e-18)
QUARTER_PI = (0.7853981633974483, 3.061616997868383e-17)


def arithmetic(function: Callable[..., Real]) -> Callable[..., Value]:
    """A formula of the op table from a function of :class:`Real` numbers."""

    def formula(e: Expander, result: Type, *args: Value) -> Value:
        return function(*(Real(e, x) for x in args)).value

    formula.__doc__ = function.__doc__
    return formula


def polynomial(x: Real, coefficients: p.Polynomial) -> Real:
    """Estrin's scheme: neighbouring terms are joined, then pairs, so that few steps wait for each other."""
    terms = [x.of(c) for c in coefficients[element(x.value.type)]]
    while len(terms) > 1:
        joined = [high.fma(x, low) for low, high in zip(terms[::2], terms[1::2], strict=False)]
        terms = joined + terms[len(joined) * 2 :]
        x = x * x
    return terms[0]


def bounded(x: Real, low: float | None, high: float | None) -> Real:
    """`x` kept between two numbers; NaN stays."""
    if low is not None:
        x = (x < low).choose(x.of(low), x)
    if high is not None:
        x = (x > high).choose(x.of(high), x)
    return x


def power_of_two(bits: Real, form: Form, exponent: int = 0) -> Real:
    """``2**(n + exponent)`` where the lowest bits of `bits` are n; the others are shifted out."""
    shifted = bits.row("shift_left_raw", form.fraction)
    return (shifted + ((form.bias + exponent) << form.fraction)).bitcast(form.dtype)


class _Reduced(Record):
    """``x = n log(2) + rest``: n, n in the lowest bits of a number, and what is left."""

    n: Real
    shifted: Real
    rest: Real


def _reduce(x: Real, form: Form) -> _Reduced:
    shifted = x.fma(LOG2_E[0], form.shifter)
    n = shifted - form.shifter
    high, low = parts(*LOG_2, form)
    return _Reduced(n, shifted, n.fma(-low, n.fma(-high, x)))


def _exp_minus_1(rest: Real) -> Real:
    """``exp(rest) - 1`` for a reduced argument."""
    return (rest * rest).fma(polynomial(rest, p.EXP), rest)


def scaled(y: Real, n: Real, shifted: Real, form: Form) -> Real:
    """``y * 2**n`` in two steps, of which only the second can leave the range and round."""
    half = n.fma(0.5, form.shifter)
    first = half.bitcast(form.integer)
    second = shifted.bitcast(form.integer) - first
    return y * power_of_two(first, form) * power_of_two(second, form)


def exp(x: Real) -> Real:
    """``2**n exp(r)`` where ``x = n log(2) + r``."""
    form = form_of(x)
    reduced = _reduce(bounded(x, form.pick(-105.0, -746.0), form.pick(89.0, 710.0)), form)
    return scaled(_exp_minus_1(reduced.rest) + 1.0, reduced.n, reduced.shifted, form)


def exp2(x: Real) -> Real:
    """``2**n 2**r`` where ``x = n + r``."""
    form = form_of(x)
    x = bounded(x, form.pick(-151.0, -1076.0), form.pick(128.0, 1024.0))
    shifted = x + form.shifter
    n = shifted - form.shifter
    rest = x - n
    y = (rest * rest).fma(polynomial(rest, p.EXP2), rest * LOG_2[0]) + 1.0
    return scaled(y, n, shifted, form)


def _expm1_part(x: Real, quarters: int) -> Real:
    """``(exp(x) - 1) / 2**quarters`` for x at most 2**quarters / 2 times the largest number's logarithm."""
    form = form_of(x)
    reduced = _reduce(x, form)
    power = power_of_two(reduced.shifted.bitcast(form.integer), form, -quarters)
    return power.fma(_exp_minus_1(reduced.rest), power - 0.5**quarters)


def expm1(x: Real) -> Real:
    """``2**n (exp(r) - 1) + (2**n - 1)``; x itself where that is the nearest number."""
    form = form_of(x)
    inside = bounded(x, form.pick(-18.0, -39.0), form.pick(89.0, 710.0))
    return (abs(x) < form.epsilon).choose(x, _expm1_part(inside, 1) * 2.0)


def sinh(x: Real) -> Real:
    """``(E + E / (E + 1)) / 2`` where ``E = exp(|x|) - 1``."""
    form = form_of(x)
    quarter = _expm1_part(bounded(abs(x), None, form.pick(89.6, 710.5)), 2)
    total = (quarter / (quarter + 0.25)).fma(0.25, quarter) * 2.0
    return (abs(x) < form.epsilon).choose(x, total.sign_of(x))


def cosh(x: Real) -> Real:
    """``(exp(|x|) + exp(-|x|)) / 2``."""
    form = form_of(x)
    reduced = _reduce(bounded(abs(x), None, form.pick(89.6, 710.5)), form)
    power = power_of_two(reduced.shifted.bitcast(form.integer), form, -2)
    quarter = power.fma(_exp_minus_1(reduced.rest), power)
    return (quarter + 0.0625 / quarter) * 2.0


def tanh(x: Real) -> Real:
    """``E / (E + 2)`` where ``E = exp(2 |x|) - 1``."""
    form = form_of(x)
    inside = bounded(abs(x), None, form.pick(10.0, 20.0))
    half = _expm1_part(inside + inside, 1)
    below = half + 1.0
    lost = half - (below - 1.0)
    inverse = 1.0 / below
    quotient = half * inverse
    # The error of the division, and what the sum lost.
    rest = quotient.fma(-below, half) - quotient * lost
    return rest.fma(inverse, quotient).sign_of(x)


class Logarithm(Record):
    """``x = 2**exponent (1 + f)`` with 1 + f from sqrt(1 / 2) to sqrt(2)."""

    exponent: Real
    f: Real


def split(x: Real, form: Form) -> Logarithm:
    """Exponent and fraction of a positive number."""
    fraction, bias, integer = form.fraction, form.bias, form.integer
    small = x < 2.0 ** (1 - bias)
    bits = small.choose(x * 2.0 ** (fraction + 2), x).bitcast(integer)
    one = bias << fraction
    root = int(np.sqrt(form.dtype.numpy.type(0.5)).view(integer.numpy))
    moved = bits + (one - root)
    # A number of so large an exponent has integers in its lowest bits.
    large = 2.0**fraction
    offset = small.choose(x.of(large + bias + fraction + 2), x.of(large + bias))
    whole = int(form.dtype.numpy.type(large).view(integer.numpy))
    exponent = moved.row("shift_right_raw", fraction).row("bitwise_or", whole).bitcast(form.dtype) - offset
    rest = moved.row("bitwise_and", (1 << fraction) - 1) + root
    return Logarithm(exponent, rest.bitcast(form.dtype) - 1.0)


def _log_rest(f: Real) -> Real:
    """``log(1 + f) - f``."""
    if form_of(f).dtype is F32:
        return f * f * polynomial(f, p.LOG)
    # log(1 + f) = 2 atanh(s) = 2 s + s R and 2 s = f - f**2 / 2 + s f**2 / 2 for s = f / (f + 2)
    s = f / (f + 2.0)
    z = s * s
    half_square = f * f * 0.5
    return s.fma(z.fma(polynomial(z, p.ATANH), half_square), -half_square)


def _log_ends(x: Real, inside: Real, form: Form) -> Real:
    """What a logarithm is at infinity and NaN, at zero, and below."""
    found = (x < float("inf")).choose(inside, x)
    return (x > 0.0).choose(found, x.equals(0.0).choose(x.of(-float("inf")), x.of(float("nan"))))


def log(x: Real) -> Real:
    """``k log(2) + log(1 + f)`` where ``x = 2**k (1 + f)``."""
    form = form_of(x)
    k, f = split(x, form)
    high, low = parts(*LOG_2, form)
    return _log_ends(x, k.fma(high, f + k.fma(low, _log_rest(f))), form)


def log1p(x: Real) -> Real:
    """The logarithm of ``u = 1 + x``, and what the sum lost divided by u."""
    form = form_of(x)
    u = x + 1.0
    lost = (x >= 1.0).choose(1.0 - (u - x), x - (u - 1.0))
    k, f = split(u, form)
    high, low = parts(*LOG_2, form)
    inside = k.fma(high, f + (k.fma(low, _log_rest(f)) + lost / u))
    return (abs(x) < form.epsilon).choose(x, _log_ends(u, inside, form))


def _log_to_base(x: Real, base: tuple[float, float], two: tuple[float, float], single: p.Polynomial) -> Real:
    """``k two + base log(1 + f)``, where two and base are sums of two numbers."""
    form = form_of(x)
    k, f = split(x, form)
    high, low = parts(*base, form)
    rest = f * polynomial(f, single) if form.dtype is F32 else _log_rest(f).fma(high, f * low)
    large, small = parts(*two, form)
    return _log_ends(x, k.fma(large, f.fma(high, k.fma(small, rest))), form)


def log2(x: Real) -> Real:
    """``k + log2(e) log(1 + f)``."""
    return _log_to_base(x, LOG2_E, (1.0, 0.0), p.LOG2)


def log10(x: Real) -> Real:
    """``k log10(2) + log10(e) log(1 + f)``."""
    return _log_to_base(x, LOG10_E, LOG10_2, p.LOG10)


def arctan(x: Real) -> Real:
    """The angle of t plus 0, pi / 4 or pi / 2: t is x, ``(x - 1) / (x + 1)`` or ``-1 / x``, below sqrt(2) - 1."""
    form = form_of(x)
    size = abs(x)
    large, middle = size > 2.414213562373095, size > 0.41421356237309503
    above = large.choose(x.of(-1.0), middle.choose(size - 1.0, size))
    below = large.choose(size, middle.choose(size + 1.0, x.of(1.0)))
    high, low = parts(*QUARTER_PI, form)
    base = large.choose(x.of(2 * high), middle.choose(x.of(high), x.of(0.0)))
    base_low = large.choose(x.of(2 * low), middle.choose(x.of(low), x.of(0.0)))
    t = above / below
    z = t * t
    return (base + (t + (t * z).fma(polynomial(z, p.ATAN), base_low))).sign_of(x)


def arctan2(y: Real, x: Real) -> Real:
    """The angle of t plus a multiple of pi / 4: t is the smaller over the larger, or their difference over their sum."""
    form = form_of(x)
    infinity = float("inf")
    across, along = abs(y), abs(x)
    steep = across > along
    small, large = steep.choose(along, across), steep.choose(across, along)
    # Infinities have the angle of equal numbers, and the largest numbers a sum that is none.  Of the smallest ones a part,
    # which is compared below, would be rounded to the next of few.
    ends = small.equals(large) & small.equals(infinity)
    small, large = ends.choose(x.of(1.0), small), ends.choose(x.of(1.0), large)
    scale = (large < 2.0 ** (1 - form.bias)).choose(x.of(2.0 ** (form.fraction + 1)), x.of(1.0))
    scale = (large > 2.0 ** (form.bias - 1)).choose(x.of(0.25), scale)
    small, large = small * scale, large * scale
    middle = small > large * 0.41421356237309503
    t = middle.choose(small - large, small) / middle.choose(small + large, large)
    t = large.equals(0.0).choose(small, t)
    left = x.row("signbit")
    count = middle.choose(x.of(1.0), x.of(0.0))
    count = steep.choose(2.0 - count, count)
    count = left.choose(4.0 - count, count)
    t = (steep ^ left).choose(-t, t)
    z = t * t
    high, low = parts(*QUARTER_PI, form)
    rest = t + (t * z).fma(polynomial(z, p.ATAN), count * low)
    return count.fma(high, rest).sign_of(y)


class _Arcsine(Record):
    """Whether |x| is above 1 / 2, and the arcsine of |x| or of ``sqrt((1 - |x|) / 2)``."""

    above: Real
    angle: Real


def _arcsine(x: Real) -> _Arcsine:
    size = abs(x)
    above = size > 0.5
    z = above.choose(size.fma(-0.5, 0.5), size * size)
    s = above.choose(z.row("sqrt"), size)
    return _Arcsine(above, (s * z).fma(polynomial(z, p.ASIN), s))


def arcsin(x: Real) -> Real:
    """A polynomial up to 1 / 2; ``pi / 2 - 2 arcsin(sqrt((1 - x) / 2))`` above."""
    high, low = parts(*QUARTER_PI, form_of(x))
    above, angle = _arcsine(x)
    return above.choose((high - angle + low) * 2.0, angle).sign_of(x)


def arccos(x: Real) -> Real:
    """``pi / 2 - arcsin(x)``; ``2 arcsin(sqrt((1 - x) / 2))`` above 1 / 2."""
    high, low = parts(*QUARTER_PI, form_of(x))
    above, angle = _arcsine(x)
    negative = x < 0.0
    signed = angle.sign_of(x)
    middle = 2 * high - (signed - 2 * low)
    outside = negative.choose((2 * high - (angle - 2 * low)) * 2.0, angle * 2.0)
    return above.choose(outside, middle)


def hypot(x: Real, y: Real) -> Real:
    """``sqrt(x**2 + y**2)`` of numbers brought near 1; of float32 numbers in float64."""
    form = form_of(x)
    infinity = float("inf")
    wide_x, wide_y = abs(x), abs(y)
    if form.dtype is F32:
        wide_x, wide_y = wide_x.cast(F64), wide_y.cast(F64)
        length = wide_x.fma(wide_x, wide_y * wide_y).row("sqrt").cast(F32)
    else:
        larger = wide_x > wide_y
        large, small = larger.choose(wide_x, wide_y), larger.choose(wide_y, wide_x)
        huge, tiny = large > 2.0**500, large < 2.0**-500
        scale = huge.choose(x.of(2.0**-600), tiny.choose(x.of(2.0**600), x.of(1.0)))
        back = huge.choose(x.of(2.0**600), tiny.choose(x.of(2.0**-600), x.of(1.0)))
        large, small = large * scale, small * scale
        length = large.fma(large, small * small).row("sqrt") * back
    endless = abs(x).equals(infinity) | abs(y).equals(infinity)
    return endless.choose(x.of(infinity), length)


def arcsinh(x: Real) -> Real:
    """``log1p(a + a**2 / (1 + sqrt(a**2 + 1)))`` where a is |x|; log(a) + log(2) of large numbers."""
    form = form_of(x)
    size = abs(x)
    large = size > 2.0 ** (form.fraction + 2)
    a = large.choose(x.of(1.0), size)
    square = a * a
    argument = a + square / ((square + 1.0).row("sqrt") + 1.0)
    value = log1p(large.choose(size, argument)) + large.choose(x.of(LOG_2[0]), x.of(0.0))
    return value.sign_of(x)


def arccosh(x: Real) -> Real:
    """``log1p(t + sqrt(2 t + t**2))`` where t is x - 1; log(x) + log(2) of large numbers."""
    form = form_of(x)
    large = x > 2.0 ** (form.fraction + 2)
    t = large.choose(x.of(1.0), x) - 1.0
    argument = t + (t * (t + 2.0)).row("sqrt")
    value = log1p(large.choose(x, argument)) + large.choose(x.of(LOG_2[0]), x.of(0.0))
    return (x < 1.0).choose(x.of(float("nan")), value)


def arctanh(x: Real) -> Real:
    """``log1p(2 a / (1 - a)) / 2`` where a is |x|."""
    size = abs(x)
    return (log1p((size + size) / (1.0 - size)) * 0.5).sign_of(x)
