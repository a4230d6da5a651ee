"""Sums of parts that lose nothing to rounding: what each addition takes from the sum is added up beside it, and given back.

A sum of n parts one after the other has an error that grows with n, that of a tree with log n.  What an addition of two
numbers loses is a number itself, which three subtractions and two additions give exactly (Knuth, The Art of Computer
Programming, 4.2.2), so the error of such a sum does not grow at all.
"""

from __future__ import annotations

from pytocu.ir.core import Value
from pytocu.ir.expander import Expander


def lost(e: Expander, x: Value, y: Value, total: Value) -> Value:
    """What rounding took from ``x + y``, exactly."""
    second = e("subtract", total, x)
    return e("add", e("subtract", x, e("subtract", total, second)), e("subtract", y, second))


def given_back(e: Expander, total: Value, rest: Value) -> Value:
    """A sum with what was taken from it; of an infinite one nothing is lost, and what was counted is NaN."""
    return e.where(e("isfinite", total), e("add", total, rest), total)


def joined(e: Expander, first: tuple[Value, ...], second: tuple[Value, ...]) -> tuple[Value, Value]:
    """Two sums as one, each with what it lost beside it, of which nothing that the sum has room for."""
    (a, rest), (b, more) = first, second
    total = e("add", a, b)
    rest = e("add", e("add", rest, more), lost(e, a, b, total))
    whole = given_back(e, total, rest)
    return whole, e("subtract", rest, e("subtract", whole, total))


__all__ = ["given_back", "joined", "lost"]
