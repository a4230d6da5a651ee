"""Complex numbers as pairs of floats: arithmetic, comparisons and selection as NumPy does them.

``e`` is an :class:`~pytocu.ir.expander.Expander`; a complex argument is a pair (real, imaginary).
Where NumPy's answer depends on the processor (its vector code multiplies with one rounding
fewer) these are the formulas of its plain loops, every operation rounded.
"""

from __future__ import annotations

from typing import TypeAlias

from pytocu.ir.core import Value
from pytocu.ir.expander import Expander

Pair: TypeAlias = tuple[Value, Value]


def componentwise(name: str):
    """An operation on real and imaginary parts apart."""

    def formula(e: Expander, *args: Pair) -> Pair:
        real, imag = (e(name, *parts) for parts in zip(*args, strict=True))
        return real, imag

    return formula


def conjugate(e: Expander, x: Pair) -> Pair:
    """The imaginary part negated."""
    return x[0], e("negative", x[1])


def multiply(e: Expander, x: Pair, y: Pair) -> Pair:
    """``(a c - b d, a d + b c)``: infinities are not recovered, as in NumPy."""
    (a, b), (c, d) = x, y
    real = e("subtract", e("multiply", a, c), e("multiply", b, d))
    return real, e("add", e("multiply", a, d), e("multiply", b, c))


def square(e: Expander, x: Pair) -> Pair:
    """``x * x``."""
    return multiply(e, x, x)


def divide(e: Expander, x: Pair, y: Pair) -> Pair:
    """Smith's quotient; by zero both parts are divided by +0."""
    (a, b), (c, d) = x, y
    size_c, size_d = e("absolute", c), e("absolute", d)
    wide = e("greater_equal", size_c, size_d)
    zero, one = e.const(0.0, a), e.const(1.0, a)
    large, small = e.where(wide, c, d), e.where(wide, d, c)
    ratio = e("divide", small, large)
    scale = e("divide", one, e("add", large, e("multiply", small, ratio)))
    first, second = e("multiply", a, ratio), e("multiply", b, ratio)
    real = e.where(wide, e("add", a, second), e("add", first, b))
    imag = e.where(wide, e("subtract", b, first), e("subtract", second, a))
    by_zero = e("bitwise_and", e("equal", size_c, zero), e("equal", size_d, zero))
    return (
        e.where(by_zero, e("divide", a, size_c), e("multiply", real, scale)),
        e.where(by_zero, e("divide", b, size_c), e("multiply", imag, scale)),
    )


def reciprocal(e: Expander, x: Pair) -> Pair:
    """``1 / x`` with Smith's scaling."""
    a, b = x
    wide = e("less_equal", e("absolute", b), e("absolute", a))
    one = e.const(1.0, a)
    large, small = e.where(wide, a, b), e.where(wide, b, a)
    ratio = e("divide", small, large)
    size = e("add", large, e("multiply", small, ratio))
    real = e("divide", e.where(wide, one, ratio), size)
    return real, e("divide", e("negative", e.where(wide, ratio, one)), size)


def absolute(e: Expander, x: Pair) -> Value:
    """``hypot`` of the parts; the larger where the other is too small to count.

    A library's ``hypot`` may be a last place off, which is infinity beside the largest number.
    """
    a, b = (e("absolute", part) for part in x)
    below = e("less", a, b)
    large, small = e.where(below, b, a), e.where(below, a, b)
    alone = e("less", e("multiply", small, e.const(2.0**28, a)), large)
    return e.where(alone, large, e("hypot", *x))


def sign(e: Expander, x: Pair) -> Pair:
    """``x / |x|``; 0 for zeros, and the direction of an infinite part where there is one."""
    a, b = x
    zero, infinity, nan = e.const(0.0, a), e.const(float("inf"), a), e.const(float("nan"), a)
    size = absolute(e, x)
    none = e("equal", size, zero)
    endless = e("equal", size, infinity)
    a_endless = e("equal", e("absolute", a), infinity)
    b_endless = e("equal", e("absolute", b), infinity)

    both = e("bitwise_and", a_endless, b_endless)

    def part(value: Value, takes_all: Value) -> Value:
        one = e("copysign", e.const(1.0, value), value)
        direction = e.where(both, nan, e.where(takes_all, one, zero))
        return e.where(none, zero, e.where(endless, direction, e("divide", value, size)))

    # An infinite part takes all of the direction; where the size of two finite ones is infinite, NumPy gives it to the second.
    return part(a, a_endless), part(b, e("invert", a_endless))


# Comparison: lexicographic, the real part first; NaN in an imaginary part hides the real one.


def equal(e: Expander, x: Pair, y: Pair) -> Value:
    """Both parts are equal."""
    return e("bitwise_and", e("equal", x[0], y[0]), e("equal", x[1], y[1]))


def not_equal(e: Expander, x: Pair, y: Pair) -> Value:
    """Some part differs."""
    return e("bitwise_or", e("not_equal", x[0], y[0]), e("not_equal", x[1], y[1]))


def ordered(strict: str, name: str):
    """``strict`` compares the real parts, ``name`` the imaginary ones of equal real parts."""

    def formula(e: Expander, x: Pair, y: Pair) -> Value:
        (a, b), (c, d) = x, y
        known = e("bitwise_and", e("equal", b, b), e("equal", d, d))
        decided = e("bitwise_and", e(strict, a, c), known)
        return e("bitwise_or", decided, e("bitwise_and", e("equal", a, c), e(name, b, d)))

    return formula


less, less_equal = ordered("less", "less"), ordered("less", "less_equal")
greater, greater_equal = ordered("greater", "greater"), ordered("greater", "greater_equal")


def _select(e: Expander, condition: Value, x: Pair, y: Pair) -> Pair:
    return e.where(condition, x[0], y[0]), e.where(condition, x[1], y[1])


def isnan(e: Expander, x: Pair) -> Value:
    """Some part is NaN."""
    return e("bitwise_or", e("isnan", x[0]), e("isnan", x[1]))


def isinf(e: Expander, x: Pair) -> Value:
    """Some part is infinite."""
    return e("bitwise_or", e("isinf", x[0]), e("isinf", x[1]))


def isfinite(e: Expander, x: Pair) -> Value:
    """Both parts are finite."""
    return e("bitwise_and", e("isfinite", x[0]), e("isfinite", x[1]))


def extreme(comparison: str, first_wins: bool):
    """``x if x <op> y or NaN else y``; NaN of `x`, or of `y` for fmax and fmin, gives `x`."""
    compare = {"greater_equal": greater_equal, "less_equal": less_equal}[comparison]

    def formula(e: Expander, x: Pair, y: Pair) -> Pair:
        take = e("bitwise_or", compare(e, x, y), isnan(e, x if first_wins else y))
        return _select(e, take, x, y)

    return formula


def clip(e: Expander, x: Pair, low: Pair, high: Pair) -> Pair:
    """``min(max(x, low), high)`` where NaN, of `x` first, wins; a bound's NaN hides nothing."""

    def bound(name: str, value: Pair, limit: Pair) -> Pair:
        decided = e.where(e("equal", value[0], limit[0]), e(name, value[1], limit[1]), e(name, value[0], limit[0]))
        return _select(e, e("bitwise_or", decided, isnan(e, value)), value, limit)

    return bound("less", bound("greater", x, low), high)


def nonzero(e: Expander, x: Pair | tuple[Value, ...]) -> Value:
    """Some part is not zero (NaN is not)."""
    zero = e.const(0.0, x[0])
    return e("bitwise_or", e("not_equal", x[0], zero), e("not_equal", x[1], zero))


def logical(name: str):
    """A bitwise operation on the truth of the arguments."""

    def formula(e: Expander, *args: Pair) -> Value:
        return e(name, *(nonzero(e, x) for x in args))

    return formula
