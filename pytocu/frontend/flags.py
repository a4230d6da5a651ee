"""Flags: truth values that are known while compiling, or values of the program."""

from __future__ import annotations

from pytocu.frontend.frames import Flag
from pytocu.frontend.gathering import subscript
from pytocu.frontend.numbers import as_numpy
from pytocu.frontend.operators import binary, elementwise, truths
from pytocu.frontend.values import Context, as_strong, as_value, is_array
from pytocu.ir.core import Value
from pytocu.ir.types import WEAK_BOOL, WeakType


def condition(context: Context, value: Value) -> Value:
    """The truth of a scalar."""
    if isinstance(value.type, WeakType):
        return value if value.type == WEAK_BOOL else as_value(context, binary(context, "not_equal", value, 0))
    return truths(context, subscript(context, value, ()) if is_array(value) else value)


def both(context: Context, a: Flag, b: Flag) -> Flag:
    """``a and b`` of truth values."""
    for first, second in ((a, b), (b, a)):
        if isinstance(first, bool):
            return second if first else False
    assert isinstance(a, Value) and isinstance(b, Value)
    if isinstance(a.type, WeakType) != isinstance(b.type, WeakType):
        a, b = as_strong(context, a), as_strong(context, b)
    return binary(context, "bitwise_and", a, b)


def negated(context: Context, flag: Flag) -> Flag:
    """``not flag``."""
    if isinstance(flag, bool):
        return not flag
    if isinstance(flag.type, WeakType):
        return context.builder.emit("python_not", (flag,))
    return elementwise(context, "invert", as_numpy(context, flag))


def either(context: Context, a: Flag, b: Flag) -> Flag:
    """``a or b`` of truth values."""
    for first, second in ((a, b), (b, a)):
        if isinstance(first, bool):
            return True if first else second
    return negated(context, both(context, negated(context, a), negated(context, b)))
