"""``np.unwrap``: differences of neighbours, and their running sum."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from pytocu.errors import UnsupportedError
from pytocu.frontend.layouts import laid_out_as
from pytocu.frontend.neighbours import diff
from pytocu.frontend.operators import attempt, elementwise
from pytocu.frontend.reductions import known_axis, stand_in
from pytocu.frontend.reshaping import array_of
from pytocu.frontend.scans import behind, scan
from pytocu.frontend.tables import Handler
from pytocu.frontend.values import Context, cast, dimensions
from pytocu.ir import promote
from pytocu.ir.core import Value
from pytocu.ir.types import element, scalar


def unwrap(context: Context, p: Any, discont: Any = None, axis: Any = -1, *, period: Any = 2 * math.pi) -> Value:
    """Angles whose jumps of more than half a period are made smaller, by NumPy's formula.

    Raises
    ------
    UnsupportedError
        The period or the largest jump is known only at run time.
    """
    for number, name in ((discont, "discont="), (period, "period=")):
        if not (isinstance(number, (int, float)) or (number is None and number is discont)):
            raise UnsupportedError(f"np.unwrap with {name} that is not a Python number", context.loc, "write it as a constant")
    value, axis = array_of(context, p), known_axis(context, axis)
    dtype = promote.known_dtype(attempt(context, np.unwrap, stand_in(value), axis=axis, period=period).dtype, "np.unwrap")
    axis = operator.index(axis) % len(dimensions(value))
    steps = diff(context, value, axis=axis)
    high, rest = divmod(period, 2) if np.dtype(dtype.numpy).kind in "iu" else (period / 2, 0)
    whole = elementwise(context, "remainder", elementwise(context, "subtract", steps, -high), period)
    whole = elementwise(context, "add", whole, -high)
    if rest == 0:
        ends = elementwise(context, "equal", whole, -high), elementwise(context, "greater", steps, 0)
        whole = _chosen(context, elementwise(context, "bitwise_and", *ends), high, whole)
    limit = period / 2 if discont is None else discont
    small = elementwise(context, "less", elementwise(context, "absolute", steps), limit)
    jumps = _chosen(context, small, 0, elementwise(context, "subtract", whole, steps))
    # The first angle stays, whatever its sign: -0.0 + -0.0 is -0.0.
    jumps = behind(context, -0.0 if element(jumps.type).kind == "f" else 0, jumps, axis)
    ndim = len(dimensions(value))
    jumps = context.builder.emit("slice", (jumps,), {"start": (0,) * ndim, "size": dimensions(value), "step": (1,) * ndim})
    made = cast(context, elementwise(context, "add", value, scan(context, "add", jumps, axis)), dtype)
    return laid_out_as(context, made, value, "K")


def _chosen(context: Context, condition: Value, number: Any, other: Value) -> Value:
    """A number, brought to the dtype of the other, where a condition holds."""
    dtype = element(other.type)
    made = context.builder.const(dtype.numpy.type(number).item(), scalar(dtype))
    return context.builder.emit("where", (condition, made, other))


FUNCTIONS: dict[str, Handler] = {"unwrap": unwrap}
"""By NumPy's name; parameters are called as NumPy calls them."""
