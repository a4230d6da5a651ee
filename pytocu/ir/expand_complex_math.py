"""Elementary functions of complex numbers, written with the real ones.

complex64 is computed in float64 and rounded once at the end; complex128 takes the measures
that keep small parts accurate.  Branch cuts, infinities and NaN follow C99's Annex G, as the C
libraries behind NumPy do.  Inverse functions follow Hull, Fairgrieve and Tang: they never
subtract what nearly cancels.
"""

from __future__ import annotations

import math

from pytocu.ir import expand_complex
from pytocu.ir.core import Value
from pytocu.ir.expand_complex import Pair
from pytocu.ir.expand_float64 import Function, Point, Real, in_float64
from pytocu.ir.expander import Expander

INFINITY = math.inf
LARGE = 709.0
"""Below the logarithm of the largest float64."""


def _times_i(z: Point) -> Point:
    return -z[1], z[0]


def _over_i(z: Point) -> Point:
    return z[1], -z[0]


def _turned(function: Function) -> Function:
    """``f(z) = g(i z) / i``: sine from hyperbolic sine, and their like."""
    return lambda z: _over_i(function(_times_i(z)))


def _pick(condition: Real, yes: Point, no: Point) -> Point:
    return condition.choose(yes[0], no[0]), condition.choose(yes[1], no[1])


# Exponential and hyperbolic functions.


def exp(z: Point) -> Point:
    """``e**x (cos y + i sin y)``; a factor e**709 goes to the angle's side where e**x overflows."""
    x, y = z
    large = x > LARGE
    size = large.choose(x - LARGE, x).row("exp")
    factor = large.choose(math.exp(LARGE), x.of(1.0))
    return _at_an_angle(z, size, factor * y.row("cos"), factor * y.row("sin"))


def _at_an_angle(z: Point, size: Real, cosine: Real, sine: Real) -> Point:
    """A power of a positive number to the `z`: its size, and the cosine and sine that the imaginary part gives."""
    x, y = z
    real, imag = size * cosine, size * sine
    imag = y.equals(0.0).choose(y, imag)
    lost = ~y.finite()
    vanishes, grows = lost & x.equals(-INFINITY), lost & x.equals(INFINITY)
    real = vanishes.choose(0.0, grows.choose(INFINITY, real))
    return real, vanishes.choose(x.of(0.0).sign_of(y), imag)


def exp2(z: Point) -> Point:
    """``2**x`` turned by ``y ln 2``, a product kept in two parts."""
    x, y = z
    high = y * math.log(2.0)
    # The rest of the product, and what float64 leaves of ln 2.
    rest = y.row("fma", math.log(2.0), -high) + y * 2.3190468138462996e-17
    rest = rest.finite().choose(rest, 0.0)
    cosine, sine = high.row("cos"), high.row("sin")
    # Of a large y the rest is an angle that is not small.
    turned, risen = rest.row("cos"), rest.row("sin")
    cosine, sine = turned * cosine - risen * sine, turned * sine + risen * cosine
    large = x > 1000.0
    size = large.choose(x - 1000.0, x).row("exp2")
    factor = large.choose(2.0**1000, x.of(1.0))
    return _at_an_angle(z, size, factor * cosine, factor * sine)


def expm1(z: Point) -> Point:
    """``expm1(x) cos y - 2 sin(y / 2)**2`` and ``e**x sin y``; ``e**x cos y - 1`` where e**x is much less than 1."""
    x, y = z
    half = (y * 0.5).row("sin")
    grown, imag = exp(z)
    near = x.row("expm1") * y.row("cos") - 2.0 * (half * half)
    # -1 is a difference of numbers in the first formula, with the errors of both.
    near = (x < -1.0).choose(grown - 1.0, near)
    # The products of NumPy's formula are NaN where y is no angle.
    real = y.finite().choose((x > 40.0).choose(grown, near), y - y)
    # As NumPy, which multiplies an infinite e**x with this zero.
    imag = y.equals(0.0).choose(x.row("exp") * y, y.finite().choose(imag, y - y))
    return y.equals(0.0).choose(x.row("expm1"), real), imag


def _hyperbolic(z: Point) -> tuple[Real, Real, Real, Real]:
    """sinh and cosh of x times cos y, and of x times sin y, without overflow before the product."""
    x, y = z
    size = abs(x)
    large = size > LARGE
    grown = (size - LARGE).row("exp")
    half = 0.5 * math.exp(LARGE)
    cosine, sine = y.row("cos"), y.row("sin")
    sign = x.of(1.0).sign_of(x)
    sinh, cosh = x.row("sinh"), x.row("cosh")
    cos_part, sin_part = grown * (half * cosine), grown * (half * sine)
    return (
        large.choose(sign * cos_part, sinh * cosine),
        large.choose(cos_part, cosh * cosine),
        large.choose(sign * sin_part, sinh * sine),
        large.choose(sin_part, cosh * sine),
    )


def sinh(z: Point) -> Point:
    """``sinh x cos y + i cosh x sin y``."""
    x, y = z
    real, _, _, imag = _hyperbolic(z)
    imag = y.equals(0.0).choose(y, imag)
    real = y.equals(0.0).choose(x.row("sinh"), real)
    lost = ~y.finite()
    # An angle that is none leaves the size of 0 and of infinity.
    return (lost & (x.equals(0.0) | abs(x).equals(INFINITY))).choose(x, real), imag


def cosh(z: Point) -> Point:
    """``cosh x cos y + i sinh x sin y``."""
    x, y = z
    _, real, imag, _ = _hyperbolic(z)
    imag = y.equals(0.0).choose(y * x.of(1.0).sign_of(x), imag)
    real = y.equals(0.0).choose(x.row("cosh"), real)
    lost = ~y.finite()
    imag = (lost & x.equals(0.0)).choose(x.of(0.0).sign_of(y), imag)
    return (lost & abs(x).equals(INFINITY)).choose(abs(x), real), imag


def tanh(z: Point) -> Point:
    """Kahan's form in ``tan y`` and ``sinh x``."""
    x, y = z
    size = abs(x)
    tangent = y.row("tan")
    beta = 1.0 + tangent * tangent
    sine = x.row("sinh")
    rho = (1.0 + sine * sine).row("sqrt")
    below = 1.0 + beta * (sine * sine)
    real, imag = (beta * (rho * sine)) / below, tangent / below
    far = size > 22.0
    one = x.of(1.0).sign_of(x)
    shrunk = (-2.0 * size).row("exp")
    # No angle matters at infinity.
    endless = size.equals(INFINITY)
    turned = (endless & ~y.finite()).choose(x.of(0.0).sign_of(y), y.row("sin") * y.row("cos"))
    one = (endless | y.finite()).choose(one, y - y)
    real, imag = far.choose(one, real), far.choose(4.0 * (turned * shrunk), imag)
    imag = y.equals(0.0).choose(y, imag)
    real = y.equals(0.0).choose(x.row("tanh"), real)
    return ((~y.finite()) & x.equals(0.0)).choose(x, real), imag


sin, tan = _turned(sinh), _turned(tanh)


def cos(z: Point) -> Point:
    """``cosh(i z)``."""
    return cosh(_times_i(z))


# Logarithms and roots.


def _log_size(x: Real, y: Real) -> Real:
    """``log(hypot(x, y))``, accurate where it is near 0 and where the size leaves float64's range."""
    a, b = abs(x), abs(y)
    swap = b > a
    a, b = swap.choose(b, a), swap.choose(a, b)
    # The exponent is taken out of huge and tiny numbers: log(s * 2**k) = log(s) + k ln 2.
    huge, tiny = a > 2.0**1020, a < 2.0**-960
    factor = huge.choose(2.0**-2, tiny.choose(2.0**120, x.of(1.0)))
    shift = huge.choose(2.0 * math.log(2.0), tiny.choose(-120.0 * math.log(2.0), x.of(0.0)))
    far = (a * factor).row("hypot", b * factor).row("log") + shift
    # a*a + b*b - 1 without cancellation: products and sums with their rounding errors.
    aa, bb = a * a, b * b
    lost = a.row("fma", a, -aa) + b.row("fma", b, -bb)
    first = aa - 1.0
    total = first + bb
    part = total - first
    lost = lost + ((first - (total - part)) + (bb - part))
    near = 0.5 * (total + lost).row("log1p")
    return ((aa > 0.5) & (aa < 2.0) & (bb < 2.0)).choose(near, far)


def log(z: Point) -> Point:
    """``log |z|`` and the angle."""
    x, y = z
    return _log_size(x, y), y.row("arctan2", x)


def _scaled_log(factor: float) -> Function:
    def formula(z: Point) -> Point:
        real, imag = log(z)
        return real * factor, imag * factor

    return formula


log2, log10 = _scaled_log(1.0 / math.log(2.0)), _scaled_log(1.0 / math.log(10.0))


def log1p(z: Point) -> Point:
    """``log |1 + z|``, near 0 by ``log1p(x (2 + x) + y*y) / 2``, and the angle of 1 + z."""
    x, y = z
    near = 0.5 * (x * (2.0 + x) + y * y).row("log1p")
    far = _log_size(1.0 + x, y)
    small = (abs(x) < 0.25) & (abs(y) < 0.25)
    return small.choose(near, far), y.row("arctan2", 1.0 + x)


def sqrt(z: Point) -> Point:
    """The root with the larger part computed first, the other by division."""
    x, y = z
    a, b = abs(x), abs(y)
    top = (a > b).choose(a, b)
    huge, tiny = top > 2.0**1020, top < 2.0**-960
    factor = huge.choose(2.0**-4, tiny.choose(2.0**120, x.of(1.0)))
    back = huge.choose(2.0**2, tiny.choose(2.0**-60, x.of(1.0)))
    a, b = a * factor, b * factor
    root = (0.5 * (a + a.row("hypot", b))).row("sqrt")
    other = (b.equals(0.0) & ~x.nan()).choose(b, 0.5 * (b / root))
    root, other = root * back, other * back
    right = ~(x < 0.0)
    real, imag = right.choose(root, other), right.choose(other, root)
    endless = abs(y).equals(INFINITY)
    # An infinite real part beside a NaN leaves the sign of what is infinite open.
    ahead, behind = x.equals(INFINITY) & ~endless, x.equals(-INFINITY) & ~endless
    real = ahead.choose(x, behind.choose(y.nan().choose(y, 0.0), real))
    imag = ahead.choose(y.nan().choose(y, 0.0), behind.choose(INFINITY, imag))
    real = endless.choose(INFINITY, real)
    return real, endless.choose(INFINITY, imag).sign_of(y)


# Inverse functions, after Hull, Fairgrieve and Tang.

EPSILON = 2.0**-52
CROSS_A, CROSS_B = 10.0, 0.6417


def _half_gap(a: Real, b: Real, size: Real) -> Real:
    """``(hypot(a, b) - b) / 2`` for a given hypot."""
    below = (size - b) * 0.5
    return (b < 0.0).choose(below, b.equals(0.0).choose(a * 0.5, a * (a / (size + b)) * 0.5))


def _ellipse(x: Real, y: Real) -> tuple[Real, Real, Real]:
    """The ellipse through (x, y), from 0 on, with the foci (0, 1) and (0, -1).

    ``y`` by its semi-axis, and two numbers whose angle is ``arcsin`` of that: the second one
    by the first, where neither cancels nor underflows.
    """
    above, below = x.row("hypot", y + 1.0), x.row("hypot", y - 1.0)
    axis = (above + below) * 0.5
    axis = (axis < 1.0).choose(1.0, axis)
    apart = x >= abs(y - 1.0) * EPSILON
    gained = _half_gap(x, y + 1.0, above) + _half_gap(x, y - 1.0, below)
    by_gain = (gained * (axis + y)).row("sqrt")
    inner = ((1.0 - y) * (1.0 + y)).row("sqrt")
    # Both numbers grow by one factor where x alone would underflow.
    factor = 4.0 / EPSILON / EPSILON
    outer = x * factor * y / ((y + 1.0) * (y - 1.0)).row("sqrt")
    root = apart.choose(by_gain, (y > 1.0).choose(outer, inner))
    start = y.equals(1.0) & (x < EPSILON / 128.0)
    root = start.choose(x.row("sqrt") * ((axis + y) * 0.5).row("sqrt"), root)
    height = ((~apart) & (y > 1.0) & ~start).choose(y * factor, y)
    distant = _distant(x, y)
    return y / axis, distant.choose(x, root), distant.choose(y, height)


def _distant(x: Real, y: Real) -> Real:
    """So far from zero that arcsinh z is log(2 z)."""
    return (x > 1.0 / EPSILON) | (y > 1.0 / EPSILON)


def _tiny(x: Real, y: Real) -> Real:
    """So near to zero that z is its own inverse function."""
    return (x < 2.0**-27) & (y < 2.0**-27)


def _arc_size(x: Real, y: Real) -> Real:
    """Real part of arcsinh(x + i y), for x and y from 0 on."""
    above, below = x.row("hypot", y + 1.0), x.row("hypot", y - 1.0)
    axis = (above + below) * 0.5
    axis = (axis < 1.0).choose(1.0, axis)
    at_one = y.equals(1.0) & (x < EPSILON * EPSILON / 128.0)
    excess = _half_gap(x, 1.0 + y, above) + _half_gap(x, 1.0 - y, below)
    by_excess = (excess + (excess * (axis + 1.0)).row("sqrt")).row("log1p")
    inside = x / ((1.0 - y) * (1.0 + y)).row("sqrt")
    outside = ((y - 1.0) + ((y - 1.0) * (y + 1.0)).row("sqrt")).row("log1p")
    apart = x >= abs(y - 1.0) * EPSILON
    near = at_one.choose(x.row("sqrt"), apart.choose(by_excess, (y < 1.0).choose(inside, outside)))
    size = (axis < CROSS_A).choose(near, (axis + (axis * axis - 1.0).row("sqrt")).row("log"))
    size = _distant(x, y).choose(_log_size(x, y) + math.log(2.0), size)
    return _tiny(x, y).choose(x, size)


def _arc_angle(x: Real, y: Real) -> Real:
    """Imaginary part of arcsinh(x + i y), for x and y from 0 on."""
    ratio, root, height = _ellipse(x, y)
    angle = ((ratio > CROSS_B) | _distant(x, y)).choose(height.row("arctan2", root), ratio.row("arcsin"))
    return _tiny(x, y).choose(y, angle)


def arcsinh(z: Point) -> Point:
    """Odd in both parts; NaN beside an infinity is infinite, beside a zero keeps it."""
    x, y = z
    a, b = abs(x), abs(y)
    real, imag = _arc_size(a, b), _arc_angle(a, b)
    unknown = x.nan() | y.nan()
    endless = a.equals(INFINITY) | b.equals(INFINITY)
    real = unknown.choose(endless.choose(INFINITY, x + y), real)
    imag = unknown.choose((x.nan() & y.equals(0.0)).choose(0.0, x + y), imag)
    return real.sign_of(x), imag.sign_of(y)


def arccos(z: Point) -> Point:
    """``pi/2 - arcsin z``, the real part from the angle on its own side."""
    x, y = z
    a, b = abs(x), abs(y)
    size = _arc_size(b, a)
    ratio, root, width = _ellipse(b, a)
    # On the left side of zero the angle is pi minus that on the right.
    left = x < 0.0
    by_ratio = left.choose(-ratio, ratio).row("arccos")
    by_root = root.row("arctan2", left.choose(-width, width))
    angle = ((ratio > CROSS_B) | _distant(b, a)).choose(by_root, by_ratio)
    unknown = x.nan() | y.nan()
    endless = a.equals(INFINITY) | b.equals(INFINITY)
    real = unknown.choose((x.equals(0.0)).choose(math.pi / 2, x + y), angle)
    imag = unknown.choose(endless.choose(INFINITY, x + y), size)
    return real, (-imag).sign_of(-y)


def arccosh(z: Point) -> Point:
    """The parts of arccos exchanged, with the imaginary part's sign; of a NaN, whose sign says nothing, a positive one."""
    angle, size = arccos(z)
    y = z[1]
    return abs(size), angle.sign_of(y.nan().choose(1.0, y))


def arctanh(z: Point) -> Point:
    """``log1p(4 x / ((1 - x)**2 + y*y)) / 4`` and half of the angle of ``(1 - x)(1 + x) - y*y + 2 i y``."""
    x, y = z
    a, b = abs(x), abs(y)
    gap = a - 1.0
    distance = gap * gap + b * b
    real = (4.0 * a / distance).row("log1p") * 0.25
    real = (a.equals(1.0) & (b < EPSILON)).choose((math.log(2.0) - b.row("log")) * 0.5, real)
    imag = (2.0 * b).row("arctan2", (1.0 - a) * (1.0 + a) - b * b) * 0.5
    imag = a.equals(1.0).choose(b.of(2.0).row("arctan2", -b) * 0.5, imag)
    # Far from zero: arctanh z = 1 / z, turned by a quarter.
    distant = (a > 1.0 / EPSILON) | (b > 1.0 / EPSILON)
    larger = (a > b).choose(a, b)
    share = (a / larger) / ((a / larger) * (a / larger) + (b / larger) * (b / larger)) / larger
    endless = a.equals(INFINITY) | b.equals(INFINITY)
    real = distant.choose(endless.choose(0.0, share), real)
    imag = distant.choose(math.pi / 2, imag)
    tiny = _tiny(a, b)
    real, imag = tiny.choose(a, real), tiny.choose(b, imag)
    straight = y.equals(0.0) & (a <= 1.0)
    real, imag = straight.choose(a.row("arctanh"), real), straight.choose(b, imag)
    upright = x.equals(0.0)
    real, imag = upright.choose(a, real), upright.choose(b.row("arctan"), imag)
    unknown = x.nan() | y.nan()
    real = unknown.choose((endless | x.equals(0.0)).choose(0.0, x + y), real)
    imag = unknown.choose(b.equals(INFINITY).choose(math.pi / 2, x + y), imag)
    return real.sign_of(x), imag.sign_of(y)


arcsin, arctan = _turned(arcsinh), _turned(arctanh)


# Powers.


def power(e: Expander, x: Pair, y: Pair) -> Pair:
    """As NumPy: whole exponents below 100 by multiplying, others ``exp(y log x)``."""
    known = [part.inst.attr("value") if part.inst and part.inst.op.name == "const" else None for part in y]
    if known[1] == 0 and known[0] is not None and abs(known[0]) < 100 and known[0] == int(known[0]):
        return _whole_power(e, x, int(known[0]))
    a, (c, d) = x[0], y
    zero, one = e.const(0.0, a), e.const(1.0, a)
    general = in_float64(_general_power)(e, x, y)
    whole = e("bitwise_and", e("equal", d, zero), e("equal", e("trunc", c), c))
    size = e("absolute", c)
    whole = e("bitwise_and", whole, e("less", size, e.const(100.0, c)))
    product = _run_time_power(e, x, c)
    inverse = expand_complex.divide(e, (one, zero), product)
    below = e("less", c, zero)
    made = [e.where(whole, e.where(below, i, p), g) for i, p, g in zip(inverse, product, general, strict=True)]
    # 0**y is 0 where the real part of y is positive, else NaN; x**0 is 1.
    nothing = e("invert", expand_complex.nonzero(e, x))
    nan = e.const(float("nan"), a)
    made = [e.where(nothing, e.where(e("greater", c, zero), zero, nan), m) for m in made]
    no_power = e("invert", expand_complex.nonzero(e, y))
    return e.where(no_power, one, made[0]), e.where(no_power, zero, made[1])


def _whole_power(e: Expander, x: Pair, exponent: int) -> Pair:
    """NumPy's products in NumPy's order."""
    one, zero = e.const(1.0, x[0]), e.const(0.0, x[0])
    match exponent:
        case 0:
            return one, zero
        case 1:
            return x
        case 2:
            return expand_complex.square(e, x)
        case 3:
            return expand_complex.multiply(e, x, expand_complex.square(e, x))
    total, base, rest = (one, zero), x, abs(exponent)
    while True:
        if rest & 1:
            total = expand_complex.multiply(e, total, base)
        rest >>= 1
        if not rest:
            break
        base = expand_complex.multiply(e, base, base)
    if exponent < 0:
        total = expand_complex.divide(e, (one, zero), total)
    nothing = e("invert", expand_complex.nonzero(e, x))
    value = e.const(0.0 if exponent > 0 else float("nan"), x[0])
    return e.where(nothing, value, total[0]), e.where(nothing, value, total[1])


def _run_time_power(e: Expander, x: Pair, exponent: Value) -> Pair:
    """``x**|exponent|`` for a whole number below 100, chosen bit by bit."""
    one, zero = e.const(1.0, x[0]), e.const(0.0, x[0])
    total: Pair = (one, zero)
    base = x
    rest = e("absolute", exponent)
    for position in range(7):
        half = e("trunc", e("multiply", rest, e.const(0.5, rest)))
        odd = e("not_equal", e("subtract", rest, e("add", half, half)), zero)
        product = expand_complex.multiply(e, total, base)
        total = e.where(odd, product[0], total[0]), e.where(odd, product[1], total[1])
        rest = half
        if position < 6:
            base = expand_complex.multiply(e, base, base)
    # One, two and three have their own products, which differ from these in signs of zero.
    squared = expand_complex.square(e, x)
    for number, value in ((1.0, x), (2.0, squared), (3.0, expand_complex.multiply(e, x, squared))):
        here = e("equal", exponent, e.const(number, exponent))
        total = e.where(here, value[0], total[0]), e.where(here, value[1], total[1])
    return total


def _general_power(x: Point, y: Point) -> Point:
    real, imag = log(x)
    return exp((y[0] * real - y[1] * imag, y[0] * imag + y[1] * real))
