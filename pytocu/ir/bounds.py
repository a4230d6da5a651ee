"""Between which numbers a float lies, by the instructions that made it.

Rounding keeps the order of numbers, so the bounds of a result are the results of bounds, in the dtype itself.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import MutableMapping

import numpy as np

from pytocu.ir.core import Inst, Value
from pytocu.ir.types import IndexType, PointerType, element
from pytocu.record import Record

MOST = 64
"""Instructions that are looked at."""

_MONOTONIC = {"rint": np.rint, "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc}
_ARITHMETIC = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply}
_UPPER, _LOWER = ("greater", "greater_equal"), ("less", "less_equal")


class Bounds(Record):
    """The least and the largest number that a float may be, and whether it may be NaN."""

    low: float
    high: float
    nan: bool


ANY = Bounds(float("-inf"), float("inf"), True)
"""What nothing is known of."""


FUNCTIONS = {
    **{
        name: Bounds(-most, most, True)
        for name, most in {"arctan": 1.58, "arctan2": 3.15, "arcsin": 1.58, "sin": 1.01, "cos": 1.01, "tanh": 1.01}.items()
    },
    "arccos": Bounds(0.0, 3.15, True),
}
"""By row, what its results do not pass, with more than what their error may be."""


def bounds(value: Value, stated: MutableMapping[Value, Bounds] | None = None) -> Bounds | None:
    """Bounds of a float; None where there is none.

    Parameters
    ----------
    value : Value
    stated : mapping of Value to Bounds, optional
        What is known of values whose instructions do not say it.

    Examples
    --------
    >>> from pytocu.ir.builder import Builder
    >>> from pytocu.ir.types import F32, U8, scalar
    >>> b = Builder()
    >>> x = b.emit("convert_raw", (b.param(scalar(U8)),), {}, (scalar(F32),))
    >>> bounds(b.emit("subtract", (b.emit("multiply", (x, x)), b.const(0.5, scalar(F32)))))
    Bounds(low=-0.5, high=65024.5, nan=False)
    """
    found = _of(value, ChainMap({}, {} if stated is None else stated))
    return None if found == ANY else found


def _of(value: Value, known: ChainMap[Value, Bounds]) -> Bounds:
    inst = value.inst
    if inst is None or isinstance(value.type, IndexType | PointerType) or element(value.type).kind != "f":
        return ANY
    if value not in known:
        # Values that are not reached any more have no bounds.
        known[value] = ANY
        if len(known.maps[0]) < MOST:
            with np.errstate(all="ignore"):
                known[value] = _made(inst, known)
    return known[value]


def _made(inst: Inst, known: ChainMap[Value, Bounds]) -> Bounds:
    dtype = element(inst.types[0])
    of = dtype.numpy.type
    match inst.op.name:
        case "const":
            number = float(of(inst.attr("value")))
            return ANY if number != number else Bounds(number, number, False)
        case "convert_raw" if not isinstance(inst.args[0].type, IndexType) and element(inst.args[0].type).kind in "biu":
            source = element(inst.args[0].type)
            ends = (0, 1) if source.kind == "b" else (np.iinfo(source.numpy).min, np.iinfo(source.numpy).max)
            return Bounds(float(of(ends[0])), float(of(ends[1])), False)
        case "where":
            return _chosen(inst, known)
        case "negative":
            x = _of(inst.args[0], known)
            return Bounds(-x.high, -x.low, x.nan)
        case name if name in _MONOTONIC:
            x = _of(inst.args[0], known)
            return Bounds(float(_MONOTONIC[name](of(x.low))), float(_MONOTONIC[name](of(x.high))), x.nan)
        case name if name in FUNCTIONS:
            return FUNCTIONS[name]
        case "absolute":
            x = _of(inst.args[0], known)
            return Bounds(max(0.0, x.low, -x.high), max(-x.low, x.high), x.nan)
        case name if name in _ARITHMETIC:
            x, y = (_of(a, known) for a in inst.args)
            if not np.isfinite([x.low, x.high, y.low, y.high]).all():
                return ANY
            ends = [float(_ARITHMETIC[name](of(a), of(b))) for a in (x.low, x.high) for b in (y.low, y.high)]
            return Bounds(min(ends), max(ends), x.nan or y.nan)
    return ANY


def _chosen(inst: Inst, known: ChainMap[Value, Bounds]) -> Bounds:
    """One of two; a bound is chosen where a comparison says that the number is beyond it."""
    condition, yes, no = inst.args
    a, b = _of(yes, known), _of(no, known)
    test = condition.inst
    if test is not None and test.op.name in (*_UPPER, *_LOWER) and test.args == (no, yes) and not a.nan:
        if test.op.name in _UPPER:
            return Bounds(min(a.low, b.low), a.high, b.nan)
        return Bounds(a.low, max(a.high, b.high), b.nan)
    if (kept := _kept(condition, yes, no)) is not None and not b.nan:
        # What is below a lower bound is that, and NaN stays.
        return Bounds(b.low, max(a.high, b.high), a.nan) if kept else Bounds(min(a.low, b.low), b.high, a.nan)
    return Bounds(min(a.low, b.low), max(a.high, b.high), a.nan or b.nan)


def _kept(condition: Value, number: Value, bound: Value) -> bool | None:
    """Whether a condition holds where a number is above its bound or NaN; False where it is below or NaN, None for others."""
    test = condition.inst
    if test is None or test.op.name != "bitwise_or":
        return None
    order, unequal = (a.inst for a in test.args)
    if order is None or unequal is None or unequal.op.name != "not_equal" or unequal.args != (number, number):
        return None
    if order.op.name not in (*_UPPER, *_LOWER) or order.args != (number, bound):
        return None
    return order.op.name in _UPPER
