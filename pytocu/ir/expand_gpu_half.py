"""float16 on GPUs: instructions of its own, and float32 formulas that know how few digits it has.

``+ - *`` are single instructions on the bits, which give what float32's would, rounded; comparisons are the compiler's.
Formulas that only choose between operands run on the bits too.

The rows ``near_...`` are instructions whose last digits differ from GPU to GPU.  A formula may use one only
where its float16 result is the same for everything within the stated distance, which the tests try.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytocu.errors import InternalError
from pytocu.ir import expand_half
from pytocu.ir.core import Value
from pytocu.ir.expander import Expander
from pytocu.ir.ops import HALF_ROWS

CHOOSING = frozenset({"where", "bitwise_and", "bitwise_or", "bitwise_xor", "invert"})
"""Rows that do not ask what the bits stand for."""


class BitsExpander(Expander):
    """Writes a formula of float16 numbers on their bits."""

    def __call__(self, name: str, *args: Value) -> Value:
        if name == "divide":
            return divide(Expander(self.builder), *args)
        if name not in CHOOSING and name not in HALF_ROWS:
            raise InternalError(f"{name} of float16 is not an instruction")
        return self.builder.emit(f"half_{name}" if name in HALF_ROWS else name, args)

    def const(self, value: Any, like: Value) -> Value:
        """The bits of a constant."""
        return self.builder.const(expand_half.bits_of(value), like.type)

    def kind(self, value: Value) -> str:
        """Bits stand for a number."""
        kind = super().kind(value)
        return "f" if kind == "u" else kind


def native(name: str) -> Callable[..., Value]:
    """The instruction of a row."""
    return lambda e, *bits: e(f"half_{name}", *bits)


def on_bits(formula: Callable[..., Value]) -> Callable[..., Value]:
    """A formula of :mod:`pytocu.ir.expand` that only compares and chooses, or rounds once."""
    return lambda e, *bits: formula(BitsExpander(e.builder), bits[0].type, *bits)


def divide(e: Expander, x: Value, y: Value) -> Value:
    """``x`` times nearly ``1 / y``, corrected by what is left of ``x``.

    A quotient of two float16 is never within 2**-23 of the middle of two float16, in units of itself,
    unless it is that middle.  The correction is within half of that, and keeps exact quotients, however
    a GPU rounds the reciprocal.
    """
    a, b = expand_half.widen(e, x), expand_half.widen(e, y)
    inverse = e("near_reciprocal", b)
    quotient = e("multiply", a, inverse)
    rest = e("fma", e("negative", quotient), b, a)
    corrected = e("fma", rest, inverse, quotient)
    return expand_half.narrow(e, e.where(_nonzero(e, rest), corrected, quotient))


def sqrt(e: Expander, x: Value) -> Value:
    """``x`` times nearly ``1 / sqrt(x)``, corrected by what is left of ``x``."""
    a = expand_half.widen(e, x)
    inverse = e("near_inverse_root", a)
    root = e("multiply", a, inverse)
    rest = e("fma", e("negative", root), root, a)
    corrected = e("fma", rest, e("multiply", inverse, e.const(0.5, a)), root)
    # Zero and infinity times the inverse are NaN, and are their own roots.
    ordinary = e("bitwise_and", e("not_equal", a, e.const(0.0, a)), e("less", a, e.const(float("inf"), a)))
    return expand_half.narrow(e, e.where(ordinary, corrected, a))


# 2 / log(2), and a factor of the result: with the nearest float32, and 1, some results are so close to the middle of two
# float16 that they would depend on how a GPU rounds; a few float32 away none is.
_TURN, _FACTOR = 2.8853750228881836, 0.9999991655349731
# tanh(x) / x - 1 over x * x, for |x| < 0.25; the error is below 2**-20.
_TANH = (-0.33324608, 0.12877114)


def tanh(e: Expander, x: Value) -> Value:
    """``1 - 2 / (exp(2 x) + 1)``, and a polynomial near zero, where digits would cancel."""
    a = expand_half.widen(e, x)
    inverse = e("near_reciprocal", e("add", e("near_power_of_two", e("multiply", a, e.const(_TURN, a))), e.const(1.0, a)))
    large = e("fma", inverse, e.const(-2 * _FACTOR, a), e.const(_FACTOR, a))
    square = e("multiply", a, a)
    series = e("fma", square, e.const(_TANH[1], a), e.const(_TANH[0], a))
    small = e("multiply", a, e("fma", series, square, e.const(1.0, a)))
    return expand_half.narrow(e, e.where(e("less", square, e.const(0.0625, a)), small, large))


def _nonzero(e: Expander, x: Value) -> Value:
    """Neither zero, where the sum of two zeros would lose a sign, nor NaN, which is of infinities and zero divisors."""
    zero = e.const(0.0, x)
    return e("bitwise_or", e("less", x, zero), e("greater", x, zero))
