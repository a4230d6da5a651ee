"""Positions of several axes as one number and back, open meshes, and changes where a mask of the flat array holds."""

from __future__ import annotations

from typing import Any

import numpy as np

from pytocu.errors import UnsupportedError, raised
from pytocu.frontend import inplace
from pytocu.frontend.compaction import nonzero, ranks
from pytocu.frontend.literals import listed
from pytocu.frontend.operators import attempt, elementwise, known_option, truths
from pytocu.frontend.reductions import length, stand_in
from pytocu.frontend.requirements import require, require_equal
from pytocu.frontend.reshaping import array_of, as_shape, broadcast, ravel
from pytocu.frontend.tables import Handler
from pytocu.frontend.ufunc_calls import without_axes
from pytocu.frontend.values import (
    Context,
    as_strong,
    as_value,
    cast,
    contains_dynamic,
    dim_value,
    dimensions,
    is_array,
    type_name,
)
from pytocu.frontend.worded import after
from pytocu.ir.core import Value
from pytocu.ir.dims import DimLike, dim_max, lower_bound, product
from pytocu.ir.infer import broadcast_shapes
from pytocu.ir.types import BOOL, I64, element, scalar


def unravel_index(context: Context, indices: Any, shape: Any, order: Any = "C") -> tuple[Value, ...]:
    """The positions on each axis of elements numbered in row-major order"""
    given = array_of(context, indices) if isinstance(indices, (list, tuple)) else as_strong(context, indices)
    lengths = as_shape(context, shape)
    # An array without axes has one element, of which no position is read; that of known numbers NumPy looks at here.
    example = np.zeros((1,) * min(len(dimensions(given)), 1), element(given.type).numpy)
    example = indices if not lengths and not contains_dynamic(indices) else example
    attempt(context, np.unravel_index, example, (1,) * len(lengths), order)
    rows_first = known_option(context, order, "order=") in (None, "C", "c")
    places = cast(context, given, I64)
    if not lengths and not dimensions(given):
        # Nobody reads the number.
        text = "if place != 0:\n    raise ValueError(f'index {place} is out of bounds for array with size 1')\nnone = ()"
        return after(context, text, {"place": without_axes(context, places), "ValueError": ValueError}, "none")
    size = product(lengths)
    inside = _inside(context, places, size)
    sentence = "index {0} is out of bounds for array with size {1}"
    places = require(context, places, inside, "ValueError", sentence, places, (size,))
    parts: list[Value] = []
    for axis in range(len(lengths)):
        behind = product(lengths[axis + 1 :] if rows_first else lengths[:axis])
        part = places if behind == 1 else elementwise(context, "floor_divide", places, length(context, behind))
        outermost = axis == (0 if rows_first else len(lengths) - 1)
        part = part if outermost else elementwise(context, "remainder", part, length(context, lengths[axis]))
        parts.append(part if is_array(given) and dimensions(given) else without_axes(context, part))
    return tuple(parts)


def ravel_multi_index(context: Context, multi_index: Any, dims: Any, mode: Any = "raise", order: Any = "C") -> Value:
    """The numbers, in row-major order, of elements at positions on each axis"""
    lengths = as_shape(context, dims)
    if not isinstance(multi_index, (list, tuple, range)):
        text = "np.ravel_multi_index of an array of positions"
        raise UnsupportedError(text, context.loc, "pass a tuple of arrays, one for each axis")
    known_option(context, (mode, order), "mode= and order=")
    rows_first = order in (None, "C", "c")
    values = [array_of(context, v) if isinstance(v, (list, tuple)) else as_strong(context, v) for v in multi_index]
    examples = tuple(np.zeros(1, element(v.type).numpy) for v in values)
    attempt(context, np.ravel_multi_index, examples, (1,) * len(lengths), mode, order)
    modes = mode if isinstance(mode, tuple) else (mode,) * len(lengths)
    if 0 in lengths:
        many = product(broadcast_shapes([dimensions(v) for v in values]))
        require_equal(context, many, 0, "ValueError", "cannot unravel if shape has zero entries (is empty).")
    total: Value | None = None
    for axis, (value, one, own) in enumerate(zip(values, lengths, modes, strict=True)):
        place = cast(context, value, I64)
        size = length(context, one)
        if own == "raise":
            text = "invalid entry in coordinates array"
            place = require(context, place, _inside(context, place, one), "ValueError", text)
        elif own == "wrap":
            place = elementwise(context, "remainder", place, size)
        else:
            last = elementwise(context, "subtract", size, 1)
            place = elementwise(context, "maximum", elementwise(context, "minimum", place, last), 0)
        behind = product(lengths[axis + 1 :] if rows_first else lengths[:axis])
        part = place if behind == 1 else elementwise(context, "multiply", place, length(context, behind))
        total = part if total is None else elementwise(context, "add", total, part)
    if total is None:
        return context.builder.const(0, scalar(I64))
    return total if dimensions(total) else without_axes(context, total)


def _inside(context: Context, place: Value, size: DimLike) -> Value:
    below = elementwise(context, "less", place, length(context, size))
    return elementwise(context, "bitwise_and", elementwise(context, "greater_equal", place, 0), below)


def ix_(context: Context, *args: Any) -> tuple[Value, ...]:
    """Vectors, each along an axis of its own, as positions of all their combinations"""
    made: list[Value] = []
    for axis, given in enumerate(args):
        value = array_of(context, given)
        if isinstance(given, (list, tuple)) and not given:
            value = cast(context, value, I64)
        if len(dimensions(value)) != 1:
            raise raised(ValueError("Cross index must be 1 dimensional"), context.loc)
        if element(value.type) is BOOL:
            (value,) = nonzero(context, value)
        for other in range(len(args)):
            if other != axis:
                value = context.builder.emit("newaxis", (value,), {"axis": other})
        # A view of its own also of one vector, which gets no axis.
        made.append(value if len(args) > 1 else context.builder.emit("transpose", (value,), {"axes": (0,)}))
    return tuple(made)


# Changes.


def putmask(context: Context, a: Any, /, mask: Any, values: Any) -> None:
    """Give elements where a mask holds those of the values with the same numbers, which begin again behind the last one"""
    target, chosen, given = _operands(context, "putmask", a, mask, values)
    shape = dimensions(target)
    if dimensions(given):
        (count,) = dimensions(given)
        if count == product(shape):
            given = context.builder.emit("reshape", (given,), {"shape": shape, "source": (count,)})
        else:
            given = _numbered(context, given, _numbers(context, shape))
    context.builder.update(target, elementwise(context, "where", chosen, given, target))


def place(context: Context, arr: Any, mask: Any, vals: Any) -> None:
    """Give elements where a mask holds one value after the other, which begin again behind the last one"""
    target, chosen, given = _operands(context, "place", arr, mask, vals)
    if dimensions(given):
        number = ranks(context, chosen)[1] if dimensions(target) else array_of(context, length(context, 0))
        given = _numbered(context, given, number)
    context.builder.update(target, elementwise(context, "where", chosen, given, target))


def _operands(context: Context, name: str, a: Any, mask: Any, values: Any) -> tuple[Value, Value, Value]:
    """The array, the mask in its shape, and the values in its dtype: one number, or a vector of several."""
    if not is_array(a):
        said = f"place() argument 1 must be numpy.ndarray, not {type_name(a)}"
        raise raised(TypeError(said if name == "place" else "putmask: first argument must be an array"), context.loc)
    # NumPy copies what `place` changes.
    inplace.note_write(context, a, "WRITEBACKIFCOPY base" if name == "place" else "putmask: output array")
    shape, dtype = dimensions(a), element(a.type)
    chosen = truths(context, array_of(context, mask))
    if dimensions(chosen) != shape:
        sizes = product(shape), product(dimensions(chosen))
        text = f"{name}: mask and data must be the same size"
        require_equal(context, *sizes, "ValueError", text)
        source = dimensions(chosen)
        chosen = context.builder.emit("reshape", (chosen,), {"shape": shape, "source": source})
    known = inplace.known_number(values)
    function = np.putmask if name == "putmask" else np.place
    if known is not None:
        def ask() -> Any:
            array = np.zeros(1, dtype.numpy)
            function(array, np.ones(1, bool), known)
            return array[0].item()

        return a, chosen, context.builder.const(attempt(context, ask), scalar(dtype))
    if isinstance(values, (list, tuple)):
        given = listed(context, values, dtype.numpy)
    else:
        given = as_value(context, values)
        attempt(context, function, np.zeros(1, dtype.numpy), np.ones(1, bool), stand_in(given))
    given = inplace.taken(context, given, dtype)
    if not dimensions(given):
        return a, chosen, given
    given = ravel(context, given)
    (count,) = dimensions(given)
    if count == 1:
        return a, chosen, context.builder.emit("index", (given,), {"axis": 0, "at": 0})
    if not lower_bound(count):
        some = elementwise(context, "greater", length(context, count), 0)
        if name == "place":
            fine = elementwise(context, "bitwise_or", some, elementwise(context, "invert", chosen))
            chosen = require(context, chosen, fine, "ValueError", "Cannot insert from an empty array!")
        else:
            chosen = elementwise(context, "bitwise_and", chosen, some)
    return a, chosen, given


def _numbers(context: Context, shape: tuple[DimLike, ...]) -> Value:
    size = product(shape)
    flat = context.builder.emit("iota", (), {"axis": 0, "shape": (size,)})
    return flat if len(shape) == 1 else context.builder.emit("reshape", (flat,), {"shape": shape, "source": (size,)})


def _numbered(context: Context, values: Value, number: Value) -> Value:
    """Values by numbers, which begin again behind the last value."""
    (size,) = dimensions(values)
    if not lower_bound(size):
        # Where there are no values, an element is there to be read, and goes nowhere.
        zero = broadcast(context, context.builder.const(0, scalar(element(values.type))), (1,))
        values = context.builder.emit("concatenate", (values, zero), {"axis": 0})
    count = dim_value(context, dim_max(size, 1))
    order = elementwise(context, "remainder", number, count)
    return context.builder.emit("gather", (values, order), {"axes": (0,), "at": 0})


FUNCTIONS: dict[str, Handler] = {
    "unravel_index": unravel_index,
    "ravel_multi_index": ravel_multi_index,
    "ix_": ix_,
    "putmask": putmask,
    "place": place,
}
"""By NumPy's name; parameters are called as NumPy calls them."""
