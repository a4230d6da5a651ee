"""Functions of NumPy that call a function they are given: ``np.fromfunction``, ``np.apply_along_axis`` and their like."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from pytocu.errors import UnsupportedError, raised
from pytocu.frontend.attributes import expand_dims, moveaxis, transpose
from pytocu.frontend.axes import normal_axis
from pytocu.frontend.compaction import nonzero
from pytocu.frontend.creation import FUNCTIONS as CREATION
from pytocu.frontend.frames import Frame
from pytocu.frontend.operators import attempt, elementwise, known_option
from pytocu.frontend.requirements import require_equal
from pytocu.frontend.reshaping import array_of, reshape
from pytocu.frontend.values import COMPREHENSION, as_strong, as_value, dim_value, dimensions, list_text, with_axes
from pytocu.frontend.worded import evaluated
from pytocu.ir.dims import dim_min, product


def fromfunction(frame: Frame, function: Any, shape: Any, *, dtype: Any = float, like: Any = None, **kwargs: Any) -> Any:
    """What a function gives for the positions on each axis of a shape"""
    context = frame.context
    if like is not None:
        attempt(context, np.fromfunction, abs, (1,), like=known_option(context, like, "like="))
    places = CREATION["indices"](context, shape, dtype)
    axes = [context.builder.emit("index", (places,), {"axis": 0, "at": axis}) for axis in range(len(dimensions(places)) - 1)]
    return context.hooks.call(frame, function, tuple(axes), kwargs)


def apply_over_axes(frame: Frame, func: Any, a: Any, axes: Any) -> Any:
    """What a function that takes an axis gives for several, one after the other"""
    context = frame.context
    with_axes(context, a, "ndim")
    value = array_of(context, a)
    ndim = len(dimensions(value))
    for axis in np.atleast_1d(attempt(context, np.array, known_option(context, axes, "axes="))).tolist():
        place = ndim + axis if attempt(context, operator.lt, axis, 0) else axis
        made = as_value(context, context.hooks.call(frame, func, (value, place), {}))
        if len(dimensions(made)) != len(dimensions(value)):
            made = expand_dims(context, array_of(context, made), place)
        if len(dimensions(made)) != len(dimensions(value)):
            raise raised(ValueError("function is not returning an array of the correct shape"), context.loc)
        value = made
    return value


def apply_along_axis(frame: Frame, func1d: Any, axis: Any, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """What a function of a vector gives for each of those along an axis, one after the other"""
    context = frame.context
    value = array_of(context, arr)
    ndim = len(dimensions(value))
    place = normal_axis(context, axis, ndim)
    if ndim == 1:
        return array_of(context, context.hooks.call(frame, func1d, (value, *args), kwargs))
    lanes = value if place == ndim - 1 else moveaxis(context, value, place, -1)
    *around, size = dimensions(lanes)
    count = product(around)
    require_equal(
        context, dim_min(count, 1), 1, "ValueError", "Cannot apply_along_axis when any iteration dimensions are 0"
    )
    rows = lanes if ndim == 2 else context.builder.emit("copy", (lanes,))
    if ndim > 2:
        rows = reshape(context, rows, (dim_value(context, count), dim_value(context, size)))
    before = context.builder.state()
    text = "array([function(rows[lane], *args, **kwargs) for lane in range(len(rows))])"
    names = {"array": np.array, "function": func1d, "rows": rows, "args": args, "kwargs": kwargs, "range": range, "len": len}
    try:
        made = evaluated(context, text, names)
    except UnsupportedError as error:
        if not error.message.startswith(f"{list_text(COMPREHENSION)} grows in a loop"):
            raise
        text = "np.apply_along_axis with a function whose results have lengths that depend on what is in the vectors"
        help = "give all results one length, as np.bincount(r, minlength=n)[:n] does"
        raise UnsupportedError(text, context.loc, help) from None
    if ndim > 2 and context.builder.root(rows) in context.builder.changed(before):
        text = "np.apply_along_axis, of more than two axes, with a function that changes the vector it is given"
        raise UnsupportedError(text, context.loc, "return the new vector, and assign it: x[...] = np.apply_along_axis(...)")
    own = dimensions(made)[1:]
    if ndim > 2:
        made = reshape(context, made, tuple(dim_value(context, d) for d in (*around, *own)))
    outer = ndim - 1
    axes = (*range(place), *range(outer, outer + len(own)), *range(place, outer))
    return made if axes == tuple(range(len(axes))) else transpose(context, made, (axes,))


def mask_indices(frame: Frame, n: Any, mask_func: Any, k: Any = 0) -> Any:
    """The positions at which a function such as ``np.triu`` leaves ones"""
    context = frame.context
    ones = CREATION["ones"](context, (n, n), int)
    made = context.hooks.call(frame, mask_func, (ones, k), {})
    return nonzero(context, elementwise(context, "not_equal", as_strong(context, made), 0))


__all__ = ["apply_along_axis", "apply_over_axes", "fromfunction", "mask_indices"]
