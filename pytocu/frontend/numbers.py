"""Numbers of one element: where ways of a vectorized function meet, and Python's numbers made of NumPy's.

While a vectorized function is read (`Context.elements`) scalars are computed by a kernel, element by element, so a NumPy
scalar may become Python's number and decide what is done.  Where a name holds a number of Python on one way and
one of NumPy on another, it is NumPy's on both: the dtype is that of ``np.where(condition, a, b)``, if this is the dtype of
the NumPy scalar.  Of two kinds of Python's numbers it is the wider.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pytocu.frontend.operators import truths
from pytocu.frontend.values import Context, as_value, convert, is_numpy_scalar
from pytocu.ir import promote
from pytocu.ir.core import Value
from pytocu.ir.types import BOOL, WEAK_BOOL, WEAK_COMPLEX, WEAK_INT, WEAK_ORDER, ScalarType, Type, WeakType


def item(context: Context, value: Any) -> Any:
    """A NumPy scalar as Python's number, in a vectorized function; anything else as it is."""
    if context.elements is None:
        return value
    if isinstance(value, np.generic):
        return value.item()
    if not is_numpy_scalar(value):
        return value
    return context.builder.emit("item", (value,), name=value.name)


def python_truth(context: Context, value: Value) -> Value:
    """The truth of a scalar as Python's bool."""
    return item(context, truths(context, value))


def common_type(context: Context, first: Type, second: Type) -> Type | None:
    """The type of a number that is of these two types on two ways; None where there is none."""
    if first == second:
        return first
    if context.elements is None:
        return None
    match first, second:
        case WeakType(), WeakType():
            return max(first, second, key=lambda t: WEAK_ORDER.index(t.kind if isinstance(t, WeakType) else ""))
        case (WeakType() as weak, ScalarType(dtype) as strong) | (ScalarType(dtype) as strong, WeakType() as weak):
            if weak == WEAK_BOOL:
                return strong if dtype is BOOL else None
            return strong if promote.result_dtype((promote.operand(weak), dtype)) is dtype else None
    return None


def of_type(context: Context, value: Any, type: Type) -> Value:
    """A number as one of the type that it has on another way."""
    made = as_value(context, value)
    if made.type == type or not isinstance(made.type, WeakType):
        return made
    if isinstance(type, ScalarType):
        return convert(context, made, type.dtype)
    known = made.inst.attr("value") if made.inst is not None and made.inst.op.name == "const" else None
    if known is not None:
        return context.builder.const(known, type)
    assert isinstance(type, WeakType)
    if type == WEAK_COMPLEX:
        return context.builder.emit("python_complex", (made, context.builder.const(0, WEAK_INT)))
    return context.builder.emit(f"python_{type.kind}", (made,))
