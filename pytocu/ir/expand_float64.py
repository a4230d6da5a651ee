"""Formulas over numbers written as arithmetic: what elementary functions are made of."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from pytocu.ir.core import Value
from pytocu.ir.expand_complex import Pair
from pytocu.ir.expander import Expander
from pytocu.ir.types import F64, DType, element


class Real:
    """A value whose functions are written as arithmetic."""

    __slots__ = ("e", "value")

    def __init__(self, e: Expander, value: Value):
        self.e, self.value = e, value

    def _row(self, name: str, *others: Real | float) -> Real:
        return Real(self.e, self.e(name, self.value, *(self.of(o).value for o in others)))

    def of(self, other: Real | float) -> Real:
        """A number as a constant."""
        return other if isinstance(other, Real) else Real(self.e, self.e.const(other, self.value))

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

    def __xor__(self, other: Real) -> Real:
        return self._row("bitwise_xor", other)

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

    def fma(self, factor: Real | float, term: Real | float) -> Real:
        """``self * factor + term``, rounded once."""
        return self._row("fma", factor, term)

    def cast(self, dtype: DType) -> Real:
        """The C conversion of a value in range."""
        return Real(self.e, self.e.cast(self.value, dtype))

    def bitcast(self, dtype: DType) -> Real:
        """The same bits as a number of another dtype of the same size."""
        return Real(self.e, self.e.bitcast(self.value, dtype))

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
