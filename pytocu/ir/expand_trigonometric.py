"""Sine, cosine and tangent as arithmetic without branches, but for enormous arguments.

An argument is reduced by the nearest multiple of pi / 2, which is known to 159 binary digits: up to
``LARGEST`` no digit of the result is lost.  Arguments beyond that go to the C library, by rows that
answer 0 for all others: :mod:`pytocu.backend.guards` makes them cost a comparison.
"""

from __future__ import annotations

from pytocu.ir import polynomials as p
from pytocu.ir.expand_elementary import FORMS, form_of, polynomial
from pytocu.ir.expand_float64 import Real
from pytocu.ir.types import F64, I64
from pytocu.record import Record

LARGEST = 2.0**45
"""Up to this magnitude arguments are reduced here."""

TWO_OVER_PI = 0.6366197723675814
HALF_PI = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33)


class _Angle(Record):
    """``x = n pi / 2 + rest + low``; the lowest two bits of `quadrant` are those of n."""

    quadrant: Real
    rest: Real
    low: Real


def _reduce(x: Real) -> _Angle:
    """Of a float64."""
    form = FORMS[F64]
    shifted = x.fma(TWO_OVER_PI, form.shifter)
    n = shifted - form.shifter
    high = n.fma(-HALF_PI[0], x)
    # The first difference is exact; the second product and difference leave what `low` collects.
    product = n * HALF_PI[1]
    lost = n.fma(HALF_PI[1], -product)
    rest = high - product
    taken = rest - high
    low = (high - (rest - taken)) - (product + taken) - lost
    return _Angle(shifted.bitcast(I64), rest, n.fma(-HALF_PI[2], low))


def _sine(angle: _Angle) -> Real:
    r = angle.rest
    z = r * r
    return r + (z * r).fma(polynomial(z, p.SIN), z.fma(angle.low * -0.5, angle.low))


def _cosine(angle: _Angle) -> Real:
    r = angle.rest
    z = r * r
    half = z * 0.5
    one = 1.0 - half
    return one + ((1.0 - one) - half + (z * z).fma(polynomial(z, p.COS), -(r * angle.low)))


class _Both(Record):
    """Sine and cosine of the rest, in float64, and which quadrant it is from."""

    quadrant: Real
    sine: Real
    cosine: Real


def _both(x: Real) -> _Both:
    if form_of(x).dtype is F64:
        angle = _reduce(x)
        return _Both(angle.quadrant, _sine(angle), _cosine(angle))
    wide = x.cast(F64)
    shifter = FORMS[F64].shifter
    shifted = wide.fma(TWO_OVER_PI, shifter)
    n = shifted - shifter
    r = n.fma(-HALF_PI[1], n.fma(-HALF_PI[0], wide))
    z = r * r
    sine = (z * r).fma(polynomial(z, p.SIN_SHORT), r)
    return _Both(shifted.bitcast(I64), sine, z.fma(polynomial(z, p.COS_SHORT), 1.0))


def _turned(x: Real, turn: int) -> Real:
    """The sine of the angle turned by this many quarters."""
    both = _both(x)
    quadrant = both.quadrant + turn if turn else both.quadrant
    even = (quadrant.row("bitwise_and", 1)).equals(0)
    # The second bit becomes the sign.
    sign = quadrant.row("bitwise_and", 2).row("shift_left_raw", 62)
    bits = even.choose(both.sine, both.cosine).bitcast(I64)
    return bits.row("bitwise_xor", sign).bitcast(F64).cast(form_of(x).dtype)


def _guarded(x: Real, value: Real, name: str) -> Real:
    """The value, or the C library's beyond the range of the reduction."""
    return (abs(x) > LARGEST).choose(x.row(f"{name}_of_large"), value)


def sin(x: Real) -> Real:
    """``sin(r)`` or ``cos(r)``, with the sign of the quadrant."""
    return _guarded(x, x.equals(0.0).choose(x, _turned(x, 0)), "sin")


def cos(x: Real) -> Real:
    """``cos(r)`` or ``sin(r)``, with the sign of the quadrant."""
    return _guarded(x, _turned(x, 1), "cos")


def tan(x: Real) -> Real:
    """``sin(r) / cos(r)``, or ``-cos(r) / sin(r)``."""
    both = _both(x)
    even = (both.quadrant.row("bitwise_and", 1)).equals(0)
    above, below = even.choose(both.sine, -both.cosine), even.choose(both.cosine, both.sine)
    dtype = form_of(x).dtype
    return _guarded(x, x.equals(0.0).choose(x, above.cast(dtype) / below.cast(dtype)), "tan")
