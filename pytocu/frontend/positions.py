"""``argmin`` and ``argmax``: reductions of numbers beside their positions."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pytocu.frontend.inplace import COPIED, NO_OUTPUT, note_write, out_array, write_outputs
from pytocu.frontend.operators import attempt, elementwise
from pytocu.frontend.reductions import (
    check_not_empty,
    combined,
    kept_axes,
    known_axis,
    known_flag,
    length,
    stand_in,
)
from pytocu.frontend.requirements import require_equal
from pytocu.frontend.tables import methods
from pytocu.frontend.values import Context, as_strong, cast, dimensions
from pytocu.ir.core import Value
from pytocu.ir.dims import DimLike, product
from pytocu.ir.types import I64, element, scalar


def positions(context: Context, shape: tuple[DimLike, ...], axes: Sequence[int]) -> Value:
    """Where each element stands in one axis, or in all, counted in row-major order."""
    if len(axes) == 1:
        return context.builder.emit("iota", (), {"axis": axes[0], "shape": shape})
    # Of all axes, in memory order, so that the loops over them may be one.
    size = (product(shape),)
    flat = context.builder.emit("iota", (), {"axis": 0, "shape": size})
    return context.builder.emit("reshape", (flat,), {"shape": shape, "source": size})


def place(context: Context, name: str, value: Value, axis: Any, out: Value | None, keepdims: Any) -> Value:
    """The first position of the extreme that ``argmin`` or ``argmax`` finds; `out` is not written.

    Raises
    ------
    CompileError
        What NumPy raises for the axis.
    """
    axis, keep = known_axis(context, axis), known_flag(context, keepdims)
    function = getattr(np, name)
    attempt(context, function, stand_in(value), axis, keepdims=keep)
    shape = dimensions(value)
    axes = tuple(range(len(shape))) if axis is None or not shape else (operator.index(axis) % len(shape),)
    rest = tuple(1 if a in axes else d for a, d in enumerate(shape) if keep or a not in axes)
    if axes:
        check_not_empty(context, name, shape, axes)
    if out is not None:
        # NumPy looks at the shape before it makes a copy in its own dtype.
        for wanted, given in zip(rest, dimensions(out), strict=False) if len(rest) == len(dimensions(out)) else ():
            require_equal(context, wanted, given, "ValueError", f"output array does not match result of np.{name}.")
        attempt(context, function, stand_in(value), axis, stand_in(out), keepdims=keep)
        note_write(context, out, COPIED)
    if not axes:
        made = context.builder.const(0, scalar(I64))
    else:
        found = combined(context, name, (value, positions(context, shape, axes)), axes, False)[1]
        # Behind the end where all elements are the farthest number of the dtype, and the first one is at 0.
        inside = elementwise(context, "less", found, length(context, product([shape[a] for a in axes])))
        made = elementwise(context, "where", inside, found, context.builder.const(0, scalar(I64)))
        made = kept_axes(context, made, axes) if keep else made
    return made if out is None else cast(context, made, element(out.type))


def _function(name: str, doc: str) -> Callable[..., Any]:
    def handler(context: Context, a: Any, axis: Any = None, out: Any = None, *, keepdims: Any = False) -> Any:
        outs = out_array(context, out, NO_OUTPUT)
        return write_outputs(context, (place(context, name, as_strong(context, a), axis, outs[0], keepdims),), outs)[0]

    handler.__doc__ = doc
    return handler


FUNCTIONS = {
    "argmin": _function("argmin", "The first position of the smallest element; NaN wins; without an axis in the flat array"),
    "argmax": _function("argmax", "The first position of the largest element; NaN wins; without an axis in the flat array"),
}
"""By NumPy's name; parameters are called as NumPy calls them."""

METHODS = methods(FUNCTIONS)
