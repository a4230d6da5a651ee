"""``ufunc.reduceat``: the elements between two positions combined, one after the other."""

from __future__ import annotations

import operator
from functools import partial
from typing import Any

import numpy as np

from pytocu.config import Elementwise
from pytocu.errors import UnsupportedError
from pytocu.frontend.attributes import moveaxis
from pytocu.frontend.inplace import OUTPUT, check_one_output, method_output, note_write, write_outputs
from pytocu.frontend.layouts import laid_out
from pytocu.frontend.literals import known_array
from pytocu.frontend.operators import attempt, elementwise, truths
from pytocu.frontend.reductions import ROUNDING, accumulator, known_axis, length, stand_in
from pytocu.frontend.requirements import require, require_equal
from pytocu.frontend.reshaping import array_of, broadcast, copied
from pytocu.frontend.source import function_node
from pytocu.frontend.values import Context, as_strong, cast, contains_dynamic, dimensions, is_array
from pytocu.frontend.vectorized import over_elements
from pytocu.ir import promote
from pytocu.ir.core import Value
from pytocu.ir.dims import DimLike, dim_min, product
from pytocu.ir.layouts import segment_ranks
from pytocu.ir.types import F16, F32, I64, element


def reduceat_into(
    context: Context, name: str, array: Any, indices: Any, axis: Any = 0, dtype: Any = None, out: Any = None
) -> Value:
    """``ufunc.reduceat``: of each index what is before the next one, or its own element where that is not behind it."""
    check_one_output(context, out)
    value, starts = as_strong(context, array), _indices(context, indices)
    outs = method_output(context, out, dtype)
    axis, ufunc = known_axis(context, axis), promote.numpy_function(name)
    example = stand_in(value) if is_array(value) else stand_in(value)[()]
    known = None if isinstance(dtype, Value) else dtype
    attempt(context, _up_to_the_indices, ufunc, example, axis, known)
    place = operator.index(axis[0] if isinstance(axis, tuple) else axis or 0) % len(dimensions(value))
    starts = _inside(context, ufunc.__name__, starts, dimensions(value)[place], indices)
    result = accumulator(context, name, "reduceat", value, dtype, outs[0], {"axis": axis, "indices": [0]})
    kept = F32 if result is F16 and name in ROUNDING else result
    work = truths(context, value) if name.startswith("logical") else cast(context, cast(context, value, result), kept)
    made = cast(context, _combined(context, name, work, starts, place), result)
    if outs[0] is None:
        if len(dimensions(made)) < 2:
            return made
        return laid_out(context, copied(context, made), (value,), partial(segment_ranks, value, place, dimensions(made)))
    note_write(context, outs[0], OUTPUT)
    help = "give an array of the shape of the result"
    if len(dimensions(outs[0])) > len(dimensions(made)):
        text = f"an output of reduceat with {len(dimensions(outs[0]))} axes, where the result has {len(dimensions(made))}"
        raise UnsupportedError(text, context.loc, help)
    for own, given in zip(dimensions(made), dimensions(outs[0]), strict=True):
        require_equal(context, own, given, "UnsupportedError", _OTHER_LENGTH, help=help)
    return write_outputs(context, (made,), outs)[0]


_OTHER_LENGTH = "an output of reduceat with an axis of length {1}, where the result has {0}"
"""NumPy has several sentences, and leaves elements unwritten of an axis where the result has length 1."""


def _up_to_the_indices(ufunc: np.ufunc, array: Any, axis: Any, dtype: Any) -> None:
    """What NumPy refuses before it compares the indices."""
    try:
        ufunc.reduceat(array, [1], axis, dtype)
    except IndexError as error:
        if isinstance(error, ValueError):
            # The axis.
            raise


def _indices(context: Context, indices: Any) -> Value:
    """The indices as a vector of int64; NumPy cuts off the fractions of what is no array."""
    if isinstance(indices, (list, tuple)) and not contains_dynamic(indices):
        known = attempt(context, np.array, indices, np.int64)
        attempt(context, np.add.reduceat, np.zeros(1), np.zeros_like(known).tolist())
        return known_array(context, known)
    given = array_of(context, indices)
    attempt(context, np.add.reduceat, np.zeros(1), np.zeros((1,) * len(dimensions(given)), element(given.type).numpy))
    return cast(context, given, I64)


def _inside(context: Context, name: str, starts: Value, size: DimLike, indices: Any) -> Value:
    """The indices, which have to be positions of the axis; known ones the call compares, whatever is computed of them."""
    if isinstance(indices, (list, tuple)) and not contains_dynamic(indices):
        for index in np.array(indices, np.int64).tolist():
            least = index + 1 if index >= 0 else size + 1
            sentence = f"index {index} out-of-bounds in {name}.reduceat [0, {{2}})"
            require_equal(context, dim_min(size, least), least, "IndexError", sentence, size)
        return starts
    low = elementwise(context, "greater_equal", starts, length(context, 0))
    fine = elementwise(context, "bitwise_and", low, elementwise(context, "less", starts, length(context, size)))
    sentence = f"index {{0}} out-of-bounds in {name}.reduceat [0, {{1}})"
    return require(context, starts, fine, "IndexError", sentence, starts, (size,))


def _segment(start, stop, column, values, combine):
    """What an element of the result is; read by the front end."""
    total = values[start, column]
    for number in range(start + 1, stop):
        total = combine(total, values[number, column])
    return total


def _combined(context: Context, name: str, value: Value, starts: Value, place: int) -> Value:
    """The elements of each stretch of an axis, each stretch by one thread."""
    (count,) = dimensions(starts)
    rest = tuple(d for a, d in enumerate(dimensions(value)) if a != place)
    turned = moveaxis(context, value, place, 0) if place else value
    shape = dimensions(turned)
    if len(rest) != 1:
        turned = context.builder.emit("reshape", (turned,), {"shape": (shape[0], product(rest)), "source": shape})
    (size, columns) = dimensions(turned)
    end = broadcast(context, length(context, size), (1,))
    ends = context.builder.emit("concatenate", (starts, end), {"axis": 0})
    following = context.builder.emit("slice", (ends,), {"start": (1,), "step": (1,), "size": (count,)})
    arguments = {
        "start": context.builder.emit("newaxis", (starts,), {"axis": 1}),
        "stop": context.builder.emit("newaxis", (following,), {"axis": 1}),
        "column": context.builder.emit("iota", (), {"axis": 1, "shape": (1, columns)}),
        "values": turned,
        "combine": promote.numpy_function(name),
    }
    stated = Elementwise(excluded=("values", "combine"))
    made = over_elements(context, _segment, function_node(_segment), stated, arguments, context.loc)
    if len(rest) != 1:
        made = context.builder.emit("reshape", (made,), {"shape": (count, *rest), "source": (count, columns)})
    return moveaxis(context, made, 0, place) if place else made

