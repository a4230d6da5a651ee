"""``ufunc.reduce`` and ``ufunc.accumulate`` where the order matters: subtract, divide, power, comparisons and so on.

NumPy combines such elements from the left to the right.  One thread does it for each position of the other axes: a loop
whose steps are of the elements.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from pytocu.frontend.attributes import moveaxis
from pytocu.frontend.layouts import laid_out
from pytocu.frontend.operators import elementwise
from pytocu.frontend.requirements import is_length
from pytocu.frontend.reshaping import broadcast, copied
from pytocu.frontend.source import function_node
from pytocu.frontend.ufunc_calls import rows_of, without_axes
from pytocu.frontend.values import Context, cast, dimensions
from pytocu.ir import promote
from pytocu.ir.core import Value
from pytocu.ir.dims import dim_max
from pytocu.ir.layouts import reduced_ranks
from pytocu.ir.types import DType


def _fold(total, values, combine):
    """What the elements are combined to, of all positions of the other axes at once; read by the front end."""
    for number in range(values.shape[0]):
        total = combine(total, values[number])
    return total


def _fold_chosen(total, values, mask, combine):
    """As :func:`_fold`, of the elements that a mask chooses."""
    for number in range(values.shape[0]):
        total = np.where(mask[number], combine(total, values[number]), total)
    return total


def _accumulate(values, totals, before, combine):
    """Put what each element makes of the total before it into `totals`, which begins as the elements themselves."""
    for number in range(1, values.shape[len(before)]):
        totals[*before, number] = combine(totals[*before, number - 1], values[*before, number])


def folded(
    context: Context, name: str, value: Value, axes: tuple[int, ...], dtype: DType, start: Value | None, mask: Value | None
) -> Value:
    """The elements along an axis combined one after the other, in the dtype of the total.

    Parameters
    ----------
    axes : tuple of int
        One axis, or none; NumPy refuses more.
    start : Value, optional
        What the elements are combined with; without it their first one begins.  A mask needs it.
    mask : Value, optional
        Which elements are combined, in the shape of the array.
    """
    if not axes:
        made = cast(context, value, dtype) if start is None else elementwise(context, rows_of(name)[0].name, start, value)
        return made if mask is None else elementwise(context, "where", mask, made, start)
    (place,) = axes
    values = moveaxis(context, value, place, 0)
    (count, *rest) = dimensions(values)
    if start is None:
        total = cast(context, context.builder.emit("index", (values,), {"axis": 0, "at": 0, "keep": True}), dtype)
        later = (dim_max(count + (-1), 0), *rest)
        steps = {"start": (1, *(0 for _ in rest)), "step": (1,) * len(later), "size": later}
        values = context.builder.emit("slice", (values,), steps)
    else:
        total = broadcast(context, start, tuple(rest)) if rest else start
    if any(is_length(context, length, 0) for length in dimensions(values)):
        made = total
    else:
        arguments = {"total": total, "values": values, "combine": promote.numpy_function(name)}
        function: Callable[..., Any] = _fold
        if mask is not None:
            function = _fold_chosen
            arguments["mask"] = moveaxis(context, broadcast(context, mask, dimensions(value)), place, 0)
        made = context.hooks.run_function(context, function, function_node(function), arguments, context.loc)
    if not rest:
        return without_axes(context, made)
    return laid_out(context, copied(context, made), (value,), partial(reduced_ranks, value, axes, tuple(rest)))


def accumulated(context: Context, name: str, value: Value, place: int) -> Value:
    """Every element combined with the total before it, in an array as NumPy makes it."""
    made = laid_out(context, copied(context, value), (value,), partial(reduced_ranks, value, (), dimensions(value)))
    arguments = {"values": value, "totals": made, "before": (slice(None),) * place, "combine": promote.numpy_function(name)}
    context.hooks.run_function(context, _accumulate, function_node(_accumulate), arguments, context.loc)
    return made
