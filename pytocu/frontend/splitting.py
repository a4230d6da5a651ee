"""Arrays cut into pieces along an axis: each piece is a view."""

from __future__ import annotations

import itertools
import operator
from typing import Any

import numpy as np

from pytocu.errors import IndexingError, UnsupportedError, raised
from pytocu.frontend.attributes import moveaxis
from pytocu.frontend.axes import normal_axis
from pytocu.frontend.indexing import subscript
from pytocu.frontend.operators import attempt, constant_or_static
from pytocu.frontend.requirements import require_equal
from pytocu.frontend.reshaping import array_of
from pytocu.frontend.tables import Handler
from pytocu.frontend.values import Context, dimensions, is_array, is_weak, type_name, with_axes
from pytocu.ir.core import Value
from pytocu.ir.dims import DimLike, dim_max, dim_min, floordiv, modulo


def array_split(context: Context, ary: Any, indices_or_sections: Any, axis: Any = 0) -> list[Value]:
    """Pieces between positions, or a number of pieces, the first of which may be longer by one"""
    if is_weak(ary):
        raise raised(TypeError(f"object of type '{type_name(ary)}' has no len()"), context.loc)
    value = array_of(context, ary)
    place = _place(context, value, axis)
    length = dimensions(value)[place]
    if _is_sequence(indices_or_sections):
        return _between(context, value, place, indices_or_sections)
    count = _sections(context, indices_or_sections)
    if count <= 0:
        raise raised(ValueError("number sections must be larger than 0."), context.loc)
    each, rest = floordiv(length, count), modulo(length, count)
    return [
        _piece(context, value, place, number * each + dim_min(rest, number), each + dim_min(dim_max(rest - number, 0), 1))
        for number in range(count)
    ]


def split(context: Context, ary: Any, indices_or_sections: Any, axis: Any = 0) -> list[Value]:
    """Pieces between positions, or a number of pieces of one length"""
    if not _is_sequence(indices_or_sections):
        with_axes(context, ary, "shape")
    value = array_of(context, ary)
    place = _place(context, value, axis)
    if _is_sequence(indices_or_sections):
        return _between(context, value, place, indices_or_sections)
    count = _sections(context, indices_or_sections)
    length = dimensions(value)[place]
    if not isinstance(indices_or_sections, np.integer):
        attempt(context, operator.mod, 0, count)
    if count <= 0:
        raise raised(ValueError("number sections must be larger than 0."), context.loc)
    require_equal(context, modulo(length, count), 0, "ValueError", "array split does not result in an equal division")
    each = context.length(floordiv(length, count))
    return [_piece(context, value, place, number * each, each) for number in range(count)]


def _place(context: Context, value: Value, axis: Any) -> int:
    ndim = len(dimensions(value))
    if isinstance(axis, (int, np.integer)) and not -ndim <= axis < ndim:
        raise IndexingError("tuple index out of range", context.loc)
    return normal_axis(context, axis, ndim)


def _is_sequence(sections: Any) -> bool:
    return isinstance(sections, (tuple, list, range)) or (is_array(sections) and bool(dimensions(sections)))


def _sections(context: Context, sections: Any) -> int:
    """How many pieces there are: a number that is known while compiling."""
    if not isinstance(sections, (int, np.integer)):
        text = "the number of pieces must be known while compiling"
        raise UnsupportedError(text, context.loc, constant_or_static(context, sections))
    if sections > _MOST:
        raise UnsupportedError(f"{sections} pieces, each of which is a result of its own", context.loc, "write a loop")
    return int(sections)


_MOST = 4096
"""Pieces of an array: the code names each of them."""


def _between(context: Context, value: Value, axis: int, points: Any) -> list[Value]:
    """The pieces before, between and behind positions, which are taken as the bounds of slices are."""
    if isinstance(points, Value):
        raise UnsupportedError(
            "positions in an array are known only at run time", context.loc, "write them as a tuple of ints or lengths"
        )
    bounds = [0, *points, None]
    before = [slice(None)] * axis
    return [subscript(context, value, (*before, slice(a, b), ...)) for a, b in itertools.pairwise(bounds)]


def _piece(context: Context, value: Value, axis: int, start: DimLike, size: DimLike) -> Value:
    shape = dimensions(value)
    attrs = {
        "start": tuple(start if a == axis else 0 for a in range(len(shape))),
        "step": (1,) * len(shape),
        "size": (*shape[:axis], context.length(size), *shape[axis + 1 :]),
    }
    return context.builder.emit("slice", (value,), attrs)


def _along(name: str, least: int, axis: int) -> Handler:
    """``np.vsplit`` and ``np.dsplit``."""

    def handler(context: Context, ary: Any, indices_or_sections: Any) -> list[Value]:
        value = array_of(context, ary)
        if len(dimensions(value)) < least:
            raise raised(ValueError(f"{name} only works on arrays of {least} or more dimensions"), context.loc)
        return split(context, ary, indices_or_sections, axis)

    handler.__doc__ = f"Pieces along axis {axis}"
    return handler


def hsplit(context: Context, ary: Any, indices_or_sections: Any) -> list[Value]:
    """Pieces along the second axis, or the only one"""
    value = array_of(context, ary)
    if not dimensions(value):
        raise raised(ValueError("hsplit only works on arrays of 1 or more dimensions"), context.loc)
    with_axes(context, ary, "ndim")
    return split(context, value, indices_or_sections, 1 if len(dimensions(value)) > 1 else 0)


def unstack(context: Context, x: Any, /, *, axis: Any = 0) -> tuple[Value, ...]:
    """The elements of an axis whose length is known, as NumPy goes over them"""
    with_axes(context, x, "ndim")
    value = array_of(context, x)
    if not dimensions(value):
        raise raised(ValueError("Input array must be at least 1-d."), context.loc)
    turned = moveaxis(context, value, axis, 0)
    length = dimensions(turned)[0]
    if not isinstance(length, int):
        text = "np.unstack along an axis whose length is known only at run time"
        help = "unpack the axis itself, as a, b = np.moveaxis(x, axis, 0), index what you need, or loop over it"
        raise UnsupportedError(text, context.loc, help)
    # Elements of a vector are NumPy scalars.
    return tuple(subscript(context, turned, number) for number in range(length))


FUNCTIONS: dict[str, Handler] = {
    "array_split": array_split,
    "split": split,
    "hsplit": hsplit,
    "vsplit": _along("vsplit", 2, 0),
    "dsplit": _along("dsplit", 3, 2),
    **({"unstack": unstack} if hasattr(np, "unstack") else {}),
}
"""By NumPy's name; parameters are called as NumPy calls them."""
