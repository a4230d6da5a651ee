"""Powers and roots as arithmetic without branches."""

from __future__ import annotations

from pytocu.ir import polynomials as p
from pytocu.ir.expand_elementary import FORMS, LOG_2, bounded, form_of, polynomial, power_of_two, scaled, split
from pytocu.ir.expand_float64 import Real
from pytocu.ir.types import F32, F64

# 2 / log(2) and a third of it, each as two numbers.
TWO_LOG2_E = (2.8853900817779268, 4.0710547481862066e-17)
THIRD = (0.9617966939259756, 5.0577616648125907e-17)


def power(x: Real, y: Real) -> Real:
    """``2**(y log2 |x|)``, with the sign and the exceptions of the C library's ``pow``."""
    size = abs(x)
    value = _power_in_float64(size, y) if form_of(x).dtype is F32 else _power(size, y)
    infinity = float("inf")
    whole = y.row("rint").equals(y)
    half = y * 0.5
    odd = whole & ~half.row("rint").equals(half)
    below = x.row("signbit")
    value = (odd & below).choose(-value, value)
    # A negative finite base has no power that is not whole.
    undefined = (x < 0.0) & (size < infinity) & ~whole
    value = undefined.choose(x.of(float("nan")), value)
    one = y.equals(0.0) | x.equals(1.0) | (size.equals(1.0) & abs(y).equals(infinity))
    return one.choose(x.of(1.0), value)


def _power_in_float64(size: Real, y: Real) -> Real:
    """Of float32 numbers: one rounding but for the result's is of no account."""
    form = FORMS[F64]
    k, f = split(size, FORMS[F32])
    k = size.equals(0.0).choose(size.of(-float("inf")), k)
    k = (size < float("inf")).choose(k, size)
    f = f.cast(F64)
    s = f / (f + 2.0)
    logarithm = s.fma(polynomial(s * s, p.LOG2_SHORT), k.cast(F64))
    w = bounded(y.cast(F64) * logarithm, -200.0, 200.0)
    shifted = w + form.shifter
    r = w - (shifted - form.shifter)
    power = power_of_two(shifted.bitcast(form.integer), form)
    return (power * r.fma(polynomial(r, p.EXP2_SHORT), 1.0)).cast(F32)


def _power(size: Real, y: Real) -> Real:
    """Of float64 numbers: the logarithm is the sum of two numbers, `whole` and `low`."""
    form = FORMS[F64]
    k, f = split(size, form)
    # s = f / (f + 2), and z = s**2
    below = f + 2.0
    lost = f - (below - 2.0)
    inverse = 1.0 / below
    s = f * inverse
    s_low = (s.fma(-below, f) - s * lost) * inverse
    z = s * s
    z_low = s.fma(s, -z) + (s + s) * s_low
    # factor = a third + z p(z)
    rest = z * polynomial(z, p.LOG2_TAIL)
    factor = rest + THIRD[0]
    factor_low = (THIRD[0] - factor) + rest + THIRD[1]
    # total = 2 / log(2) + z factor
    term = z * factor
    term_low = z.fma(factor, -term) + z.fma(factor_low, z_low * factor)
    total = term + TWO_LOG2_E[0]
    total_low = (TWO_LOG2_E[0] - total) + term + (term_low + TWO_LOG2_E[1])
    high = s * total
    low = s.fma(total, -high) + s.fma(total_low, s_low * total)
    whole = k + high
    low = (k - whole) + high + low
    endless = size.equals(0.0).choose(size.of(-float("inf")), size)
    inside = (size > 0.0) & (size < float("inf"))
    whole = inside.choose(whole, endless)
    w = y * whole
    w_low = y.fma(whole, -w) + y * low
    # Beyond this the result is infinite or zero.
    certain = abs(w) > 1100.0
    w = bounded(w, -1100.0, 1100.0)
    w_low = certain.choose(w.of(0.0), w_low)
    shifted = w + form.shifter
    n = shifted - form.shifter
    r = (w - n) + w_low
    value = (r * r).fma(polynomial(r, p.EXP2), r * LOG_2[0]) + 1.0
    return scaled(value, n, shifted, form)


def cbrt(x: Real) -> Real:
    """A guess w of ``a**(-1 / 3)``, one step towards it, and one from ``a w**2`` to the root."""
    form = form_of(x)
    size = abs(x)
    k, f = split(size, form)
    # The exponent is 3 q + r with r of -1, 0 and 1; a is what 8**q is multiplied by.
    shifted = k.fma(1.0 / 3.0, form.shifter)
    q = shifted - form.shifter
    r = q.fma(-3.0, k)
    up, down = r > 0.5, r < -0.5
    a = (f + 1.0) * up.choose(x.of(2.0), down.choose(x.of(0.5), x.of(1.0)))
    w = polynomial(f, p.ROOT) * up.choose(x.of(2.0 ** (-1 / 3)), down.choose(x.of(2.0 ** (1 / 3)), x.of(1.0)))
    error = (w * w * w).fma(-a, 1.0)
    w = (w * error).fma(error.fma(2.0 / 9.0, 1.0 / 3.0), w)
    square = w * w
    root = a * square
    power, power_low = root * root, root.fma(root, -(root * root))
    rest = root.fma(-power, a) - root * power_low
    root = (rest * square).fma(1.0 / 3.0, root)
    value = root * power_of_two(shifted.bitcast(form.integer), form)
    return ((size > 0.0) & (size < float("inf"))).choose(value.sign_of(x), x)
