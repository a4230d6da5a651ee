"""Elementary functions of complex numbers, written with the real ones.

complex64 is computed in float64 and rounded once at the end; complex128 takes the measures
that keep small parts accurate.  Branch cuts, infinities and NaN follow C99's Annex G, as the C
libraries behind NumPy do.  Inverse functions follow Hull, Fairgrieve and Tang: they never
subtract what nearly cancels.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from pytocu.ir import expand_complex
from pytocu.ir.core import Value
from pytocu.ir.expand import Expander
from pytocu.ir.expand_complex import Pair
from pytocu.ir.types import F64, element

INFINITY = math.inf
LARGE = 709.0
"""Below the logarithm of the largest float64."""


@dataclass(frozen=True, slots=True)
class Real:
    """A float64 value that is written as arithmetic."""

    e: Expander
    value: Value

    def _row(self, name: str, *others: Real | float) -> Real:
        return Real(self.e, self.e(name, self.value, *(self.of(o).value for o in others)))

    def of(self, other: Real | float) -> Real:
        """A number as a constant."""
        return other if isinstance(other, Real) else Real(self.e, self.e.const(float(other), self.value))

    def __add__(self, other: Real | float) -> Real:
        return self._row("add", other)

    def __radd__(self, other: float) -> Real:
        return self.of(other) + self

    def __sub__(self, other: Real | float) -> Real:
        return self._row("subtract", other)

    def __rsub__(self, other: float) -> Real:
        return self.of(other) - self

    def __mul__(self, other: Real | float) -> Real:
        return self._row("multiply", other)

    def __rmul__(self, other: float) -> Real:
        return self.of(other) * self

    def __truediv__(self, other: Real | float) -> Real:
        return self._row("divide", other)

    def __rtruediv__(self, other: float) -> Real:
        return self.of(other) / self

    def __neg__(self) -> Real:
        return self._row("negative")

    def __abs__(self) -> Real:
        return self._row("absolute")

    def __lt__(self, other: Real | float) -> Real:
        return self._row("less", other)

    def __le__(self, other: Real | float) -> Real:
        return self._row("less_equal", other)

    def __gt__(self, other: Real | float) -> Real:
        return self._row("greater", other)

    def __ge__(self, other: Real | float) -> Real:
        return self._row("greater_equal", other)

    def __and__(self, other: Real) -> Real:
        return self._row("bitwise_and", other)

    def __or__(self, other: Real) -> Real:
        return self._row("bitwise_or", other)

    def __invert__(self) -> Real:
        return self._row("invert")

    def equals(self, other: Real | float) -> Real:
        """A truth value."""
        return self._row("equal", other)

    def row(self, name: str, *others: Real | float) -> Real:
        """A function of the op table with this as its first argument."""
        return self._row(name, *others)

    def sign_of(self, other: Real) -> Real:
        """The magnitude with the sign of another."""
        return self._row("copysign", other)

    def finite(self) -> Real:
        """A truth value."""
        return self._row("isfinite")

    def nan(self) -> Real:
        """A truth value."""
        return self._row("isnan")

    def choose(self, yes: Real | float, no: Real | float) -> Real:
        """This truth value decides."""
        like = yes if isinstance(yes, Real) else no
        assert isinstance(like, Real)
        return Real(self.e, self.e.where(self.value, like.of(yes).value, like.of(no).value))


Point: TypeAlias = tuple[Real, Real]
Function: TypeAlias = Callable[..., Point]


def in_float64(function: Function) -> Callable[..., Pair]:
    """A formula of the op table: parts widen to float64, the result is rounded to the parts' dtype."""

    def formula(e: Expander, *args: Pair) -> Pair:
        dtype = element(args[0][0].type)
        points = [tuple(Real(e, e.cast(part, F64)) for part in x) for x in args]
        real, imag = function(*points)
        return e.cast(real.value, dtype), e.cast(imag.value, dtype)

    return formula


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
    real, imag = size * (factor * y.row("cos")), size * (factor * y.row("sin"))
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
    cosine, sine = cosine - rest * sine, sine + rest * cosine
    large = x > 1000.0
    size = large.choose(x - 1000.0, x).row("exp2")
    factor = large.choose(2.0**1000, x.of(1.0))
    real, imag = size * (factor * cosine), size * (factor * sine)
    imag = y.equals(0.0).choose(y, imag)
    lost = ~y.finite()
    vanishes, grows = lost & x.equals(-INFINITY), lost & x.equals(INFINITY)
    real = vanishes.choose(0.0, grows.choose(INFINITY, real))
    return real, vanishes.choose(x.of(0.0).sign_of(y), imag)


def expm1(z: Point) -> Point:
    """``expm1(x) cos y - 2 sin(y / 2)**2`` and ``e**x sin y``."""
    x, y = z
    half = (y * 0.5).row("sin")
    _, imag = exp(z)
    near = x.row("expm1") * y.row("cos") - 2.0 * (half * half)
    real = (x > 40.0).choose(exp(z)[0], near)
    # As NumPy, which multiplies an infinite e**x with this zero.
    imag = y.equals(0.0).choose(x.finite().choose(y, x.row("exp") * y), imag)
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


def _arc(x: Real, y: Real) -> tuple[Real, Real]:
    """Real part of arcsinh(x + i y) and its imaginary part, for x and y from 0 on."""
    above, below = x.row("hypot", y + 1.0), x.row("hypot", y - 1.0)
    mean = (above + below) * 0.5
    mean = (mean < 1.0).choose(1.0, mean)
    gap = abs(y - 1.0)
    at_one = y.equals(1.0) & (x < EPSILON * EPSILON / 128.0)
    apart = x >= gap * EPSILON
    excess = _half_gap(x, 1.0 + y, above) + _half_gap(x, 1.0 - y, below)
    by_excess = (excess + (excess * (mean + 1.0)).row("sqrt")).row("log1p")
    inside = x / ((1.0 - y) * (1.0 + y)).row("sqrt")
    outside = ((y - 1.0) + ((y - 1.0) * (y + 1.0)).row("sqrt")).row("log1p")
    near = at_one.choose(x.row("sqrt"), apart.choose(by_excess, (y < 1.0).choose(inside, outside)))
    real = (mean < CROSS_A).choose(near, (mean + (mean * mean - 1.0).row("sqrt")).row("log"))

    ratio = y / mean
    gained = _half_gap(x, y + 1.0, above) + _half_gap(x, y - 1.0, below)
    by_gain = (gained * (mean + y)).row("sqrt")
    inner = ((1.0 - y) * (1.0 + y)).row("sqrt")
    # Both arguments of the angle grow by one factor where x alone would underflow.
    factor = 4.0 / EPSILON / EPSILON
    scaled = (~apart) & (y > 1.0)
    outer = x * factor * y / ((y + 1.0) * (y - 1.0)).row("sqrt")
    root = apart.choose(by_gain, (y > 1.0).choose(outer, inner))
    start = y.equals(1.0) & (x < EPSILON / 128.0)
    root = start.choose(x.row("sqrt") * ((mean + y) * 0.5).row("sqrt"), root)
    height = (scaled & ~start).choose(y * factor, y)
    angle = (ratio > CROSS_B).choose(height.row("arctan2", root), ratio.row("arcsin"))
    # So far from zero that arcsinh is log(2 z).
    distant = (x > 1.0 / EPSILON) | (y > 1.0 / EPSILON)
    real = distant.choose(_log_size(x, y) + math.log(2.0), real)
    angle = distant.choose(y.row("arctan2", x), angle)
    tiny = (x < 2.0**-27) & (y < 2.0**-27)
    return tiny.choose(x, real), tiny.choose(y, angle)


def arcsinh(z: Point) -> Point:
    """Odd in both parts; NaN beside an infinity is infinite, beside a zero keeps it."""
    x, y = z
    a, b = abs(x), abs(y)
    real, imag = _arc(a, b)
    unknown = x.nan() | y.nan()
    endless = a.equals(INFINITY) | b.equals(INFINITY)
    real = unknown.choose(endless.choose(INFINITY, x + y), real)
    imag = unknown.choose((x.nan() & y.equals(0.0)).choose(0.0, x + y), imag)
    return real.sign_of(x), imag.sign_of(y)


def arccos(z: Point) -> Point:
    """``pi/2 - arcsin z``, the real part from the angle on its own side."""
    x, y = z
    a, b = abs(x), abs(y)
    size, _ = _arc(b, a)
    angle = _arc_cosine(a, b, x < 0.0)
    unknown = x.nan() | y.nan()
    endless = a.equals(INFINITY) | b.equals(INFINITY)
    real = unknown.choose((x.equals(0.0)).choose(math.pi / 2, x + y), angle)
    imag = unknown.choose(endless.choose(INFINITY, x + y), size)
    return real, (-imag).sign_of(-y)


def _arc_cosine(x: Real, y: Real, left: Real) -> Real:
    """The angle of arccos for |x|, |y|; on the left side of zero it is pi minus that."""
    above, below = y.row("hypot", x + 1.0), y.row("hypot", x - 1.0)
    mean = (above + below) * 0.5
    mean = (mean < 1.0).choose(1.0, mean)
    ratio = x / mean
    apart = y >= abs(x - 1.0) * EPSILON
    gained = _half_gap(y, x + 1.0, above) + _half_gap(y, x - 1.0, below)
    by_gain = (gained * (mean + x)).row("sqrt")
    inner = ((1.0 - x) * (1.0 + x)).row("sqrt")
    factor = 4.0 / EPSILON / EPSILON
    outer = y * factor * x / ((x + 1.0) * (x - 1.0)).row("sqrt")
    root = apart.choose(by_gain, (x > 1.0).choose(outer, inner))
    start = x.equals(1.0) & (y < EPSILON / 128.0)
    root = start.choose(y.row("sqrt") * ((mean + x) * 0.5).row("sqrt"), root)
    width = ((~apart) & (x > 1.0) & ~start).choose(x * factor, x)
    distant = (x > 1.0 / EPSILON) | (y > 1.0 / EPSILON)
    root, width = distant.choose(y, root), distant.choose(x, width)
    side = left.choose(-width, width)
    by_ratio = left.choose(-ratio, ratio).row("arccos")
    return ((ratio > CROSS_B) | distant).choose(root.row("arctan2", side), by_ratio)


def arccosh(z: Point) -> Point:
    """The parts of arccos exchanged, with the imaginary part's sign."""
    angle, size = arccos(z)
    return abs(size), angle.sign_of(z[1])


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
    tiny = (a < 2.0**-27) & (b < 2.0**-27)
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
