"""Loops over the positions of arrays: ``np.ndindex`` and ``np.ndenumerate``."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from pytocu.errors import raised
from pytocu.frontend.gathering import subscript as element_of
from pytocu.frontend.operators import binary
from pytocu.frontend.reshaping import NEGATIVE, array_of, as_shape, ravel
from pytocu.frontend.values import Context, Members, Steps, dim_value, dimensions
from pytocu.ir.dims import DimLike, product

_FEW = 1024
"""How many positions that are known are written out, at most."""


def ndindex(context: Context, *shape: Any) -> Any:
    """The positions of a shape, row by row, as tuples"""
    if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
        (shape,) = shape
    lengths = as_shape(context, tuple(shape))
    if any(isinstance(length, int) and length < 0 for length in lengths):
        raise raised(ValueError(NEGATIVE), context.loc)
    return _steps(context, lengths, lambda place, number: place)


def ndenumerate(context: Context, arr: Any) -> Any:
    """The positions of an array, row by row, as tuples, each with the element there"""
    array = array_of(context, arr)
    return _steps(context, dimensions(array), lambda place, number: (place, element_of(context, ravel(context, array), number)))


def _steps(context: Context, lengths: tuple[DimLike, ...], item: Any) -> Any:
    """What a loop goes over: an item for each position and its number."""
    known = [length for length in lengths if isinstance(length, int)]
    if len(known) == len(lengths) and prod(known) <= _FEW:
        return Members([item(place, number) for number, place in enumerate(np.ndindex(*known))])

    def at(number: Any) -> Any:
        places: list[Any] = []
        rest = number
        for length in reversed(lengths[1:]):
            places.insert(0, binary(context, "remainder", rest, dim_value(context, length)))
            rest = binary(context, "floor_divide", rest, dim_value(context, length))
        return item((rest, *places) if lengths else (), number)

    return Steps(0, dim_value(context, product(lengths)), 1, at)


FUNCTIONS = {"ndindex": ndindex, "ndenumerate": ndenumerate}
"""By NumPy's name; parameters are called as NumPy calls them."""
