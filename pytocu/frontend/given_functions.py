"""Functions of NumPy that call a function they are given: ``np.fromfunction``, ``np.apply_over_axes``, ``np.mask_indices``."""

from __future__ import annotations

from typing import Any

import numpy as np

from pytocu.errors import raised
from pytocu.frontend.attributes import expand_dims
from pytocu.frontend.compaction import nonzero
from pytocu.frontend.creation import FUNCTIONS as CREATION
from pytocu.frontend.frames import Frame
from pytocu.frontend.operators import attempt, elementwise, known_option
from pytocu.frontend.reshaping import array_of
from pytocu.frontend.values import as_strong, as_value, dimensions


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
    value = array_of(context, a)
    ndim = len(dimensions(value))
    for axis in np.atleast_1d(attempt(context, np.array, known_option(context, axes, "axes="))).tolist():
        place = ndim + axis if axis < 0 else axis
        made = as_value(context, context.hooks.call(frame, func, (value, place), {}))
        if len(dimensions(made)) != len(dimensions(value)):
            made = expand_dims(context, array_of(context, made), place)
        if len(dimensions(made)) != len(dimensions(value)):
            raise raised(ValueError("function is not returning an array of the correct shape"), context.loc)
        value = made
    return value


def mask_indices(frame: Frame, n: Any, mask_func: Any, k: Any = 0) -> Any:
    """The positions at which a function such as ``np.triu`` leaves ones"""
    context = frame.context
    ones = CREATION["ones"](context, (n, n), int)
    made = context.hooks.call(frame, mask_func, (ones, k), {})
    return nonzero(context, elementwise(context, "not_equal", as_strong(context, made), 0))


__all__ = ["apply_over_axes", "fromfunction", "mask_indices"]
