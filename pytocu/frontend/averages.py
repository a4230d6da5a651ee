"""``np.average``, with weights of the array's shape or of its axes."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from pytocu.errors import UnsupportedError, raised
from pytocu.frontend import statistics
from pytocu.frontend.operators import attempt, binary, elementwise
from pytocu.frontend.reductions import given, known_axis, known_flag, normal_axes, reduce, repeated, stand_in
from pytocu.frontend.requirements import require, require_equal
from pytocu.frontend.ufunc_calls import without_axes
from pytocu.frontend.values import Context, as_strong, cast, dim_value, dimensions
from pytocu.guards import MISSING
from pytocu.ir import promote
from pytocu.ir.core import Value
from pytocu.ir.dims import dim_min, product
from pytocu.ir.types import F64, element

_UNNAMED = "Axis must be specified when shapes of a and weights differ."
_INCONSISTENT = "Shape of weights must be consistent with shape of a along specified axis."


def average(
    context: Context,
    a: Any,
    axis: Any = None,
    weights: Any = None,
    returned: Any = False,
    *,
    keepdims: Any = MISSING,
) -> Any:
    """The mean, or the sum of weighted elements divided by the sum of weights"""
    value = as_strong(context, a)
    axis, keep = known_axis(context, axis), known_flag(context, given(keepdims, False))
    attempt(context, np.average, stand_in(value), axis, keepdims=keep)
    # NumPy takes a truth value for the number of an axis here, where it does not refuse it.
    axis = tuple(axis) if isinstance(axis, (list, range, str)) else int(axis) if isinstance(axis, bool) else axis
    if weights is None:
        made = statistics.mean(context, value, axis, keepdims=keep)
        # NumPy divides the numbers of elements.
        require_equal(context, dim_min(product(dimensions(made)), 1), 1, "ZeroDivisionError", "division by zero")
        scale = _elements(context, value, made) if returned else made
    else:
        made, scale = _weighted(context, value, as_strong(context, weights), axis, keep)
    if not returned:
        return made
    if dimensions(scale) != dimensions(made):
        scale = context.builder.emit("copy", (repeated(context, scale, dimensions(made)),))
    return made, scale


def _elements(context: Context, value: Value, made: Value) -> Value:
    """How many elements a mean is of, in its dtype, divided as Python divides."""
    sizes = [dim_value(context, product(dimensions(v))) for v in (value, made)]
    return without_axes(context, cast(context, as_strong(context, binary(context, "divide", *sizes)), element(made.type)))


def _weighted(context: Context, value: Value, weights: Value, axis: Any, keepdims: bool) -> tuple[Value, Value]:
    dtypes = (element(value.type), element(weights.type), *([F64] if element(value.type).kind in "biu" else []))
    dtype = promote.result_dtype(dtypes)
    weights = _placed(context, value, weights, axis)
    scale = reduce(context, "add", weights, axis, dtype.numpy, None, keepdims)
    weighted = elementwise(context, "multiply", cast(context, value, dtype), cast(context, weights, dtype))
    total = reduce(context, "add", weighted, axis, None, None, keepdims)
    nonzero = elementwise(context, "not_equal", scale, 0.0)
    scale = require(context, scale, nonzero, "ZeroDivisionError", "Weights sum to zero, can't be normalized")
    return elementwise(context, "divide", total, scale), scale


def _placed(context: Context, value: Value, weights: Value, axis: Any) -> Value:
    """Weights on the axes of the array that they are for.

    Raises
    ------
    TypeError, ValueError
        Their shape is not that of the array, nor that of the axes.
    """
    shape, wanted = dimensions(value), dimensions(weights)
    axes: Sequence[int] = normal_axes(axis, len(shape))
    if len(wanted) == len(shape):
        if isinstance(axis, tuple) and len(axis) == len(shape) and [operator.index(a) % len(shape) for a in axis] != list(axes):
            raise UnsupportedError(
                "weights of all axes in another order: which order is meant depends on the lengths",
                context.loc,
                "name the axes in order: axis=None",
            )
        error, sentence = ("TypeError", _UNNAMED) if axis is None else ("ValueError", _INCONSISTENT)
        for ours, theirs in zip(shape, wanted, strict=True):
            require_equal(context, ours, theirs, error, sentence)
        return weights
    if axis is None:
        raise raised(TypeError(_UNNAMED), context.loc)
    if len(wanted) != len(axes):
        raise raised(ValueError(_INCONSISTENT), context.loc)
    order = [operator.index(a) % len(shape) for a in (axis if isinstance(axis, tuple) else (axis,))]
    for place, theirs in zip(order, wanted, strict=True):
        require_equal(context, shape[place], theirs, "ValueError", _INCONSISTENT)
    turned = tuple(order.index(a) for a in axes)
    if turned != tuple(range(len(turned))):
        weights = context.builder.emit("transpose", (weights,), {"axes": turned})
    for place in range(len(shape)):
        if place not in axes:
            weights = context.builder.emit("newaxis", (weights,), {"axis": place})
    return weights


FUNCTIONS = {"average": average}
"""By NumPy's name; parameters are called as NumPy calls them."""
