"""Scans: ``np.add.accumulate`` and the functions made of it."""

from __future__ import annotations

import operator
from functools import lru_cache, partial
from typing import Any

import numpy as np

from pytocu.deferred import Deferred
from pytocu.errors import ShapeError, UnsupportedError
from pytocu.frontend.inplace import NO_OUTPUT, OUTPUT, note_write, out_array, out_arrays, write_outputs
from pytocu.frontend.layouts import is_row_major, laid_out, laid_out_as
from pytocu.frontend.operators import attempt, check_plain, truths
from pytocu.frontend.reductions import (
    ROUNDING,
    accumulator,
    attempt_into,
    known_axis,
    repeated,
    replaced_nan,
    row_of,
    stand_in,
)
from pytocu.frontend.requirements import REMAPPED, fields, refuse_later, require_equal
from pytocu.frontend.tables import methods
from pytocu.frontend.values import Context, as_strong, cast, dimensions, is_array
from pytocu.ir import promote
from pytocu.ir.core import Value
from pytocu.ir.dims import dim_min, product
from pytocu.ir.layouts import joined_ranks
from pytocu.ir.types import F16, F32, element, scalar

_accumulated = Deferred("pytocu.frontend.folds", "accumulated")


_WRONG_SIZE = "provided out is the wrong size for the accumulation."


def scan(
    context: Context,
    name: str,
    value: Value,
    axis: int,
    dtype: Any = None,
    out: Value | None = None,
    shared: bool = False,
) -> Value:
    """The value of ``ufunc.accumulate``, in the dtype of `out` where that is given, which is not written.

    The output may be known to have `shared` memory with the value.

    Raises
    ------
    CompileError
        What NumPy raises.
    """
    if out is not None:
        # NumPy looks at that before anything else.
        note_write(context, out, OUTPUT)
    if out is not None and not dimensions(out):
        # NumPy before 2.5 writes to memory that is not the array's, so it is not asked: that may end the process.
        raise ShapeError(_WRONG_SIZE, context.loc)
    result = accumulator(context, name, "accumulate", value, dtype, out, {"axis": axis}, shared)
    # The state before complex numbers is a NaN with parts of its own, which would stay in front of other NaN.
    row = None if name in ("fmin", "fmax") and result.kind == "c" else row_of(name, result)
    if out is not None:
        alike = element(value.type) is element(out.type) is result
        _check_output(context, out, value, len(dimensions(value)) > 1 or shared or not alike)
        if len(dimensions(out)) > len(dimensions(value)):
            apply = promote.numpy_function(name).accumulate
            attempt_into(context, apply, value, out, dtype, {"axis": axis}, shared)
            text = "an accumulation into an array of more axes, of which NumPy writes the first part, is not compiled"
            refuse_later(context, product(dimensions(out)), "UnsupportedError", text)
    if row is None:
        made = _accumulated(context, name, cast(context, value, result), axis)
        return cast(context, made, result if out is None else element(out.type))
    kept = F32 if result is F16 and row in ROUNDING else result
    made = truths(context, value) if name.startswith("logical") else cast(context, cast(context, value, result), kept)
    made = context.builder.emit("scan", (made,), {"op": row, "axis": axis})
    return cast(context, made, result if out is None else element(out.type))


def _check_output(context: Context, out: Value, value: Value, looped: bool) -> None:
    """State that an output array has the shape of the array that is accumulated.

    Parameters
    ----------
    looped : bool
        Whether NumPy broadcasts the two, as it does unless a vector is accumulated into another one of its dtype.

    Raises
    ------
    ShapeError
        The lengths are known and differ.
    UnsupportedError
        NumPy repeats the array.
    """
    own, shape = dimensions(out), dimensions(value)
    count = len(shape)
    taken = own[:count]
    each = f"{fields(2, own)}->{fields(2, taken)} {fields(2 + len(own), shape)}->{fields(2 + len(own), shape)} "
    sentence = REMAPPED + each if looped else _WRONG_SIZE
    shown = (*own, *shape) if looped else ()
    for length, other in zip(taken, shape, strict=True):
        if not looped:
            # Older versions of NumPy leave any output as it is where there is nothing to accumulate.
            found = length * dim_min(other, 1) if _takes_any_output() else length
            require_equal(context, found, other, "ValueError", sentence, operands=(out, value))
            text = "an accumulation of no elements into an array that has some is not compiled"
            require_equal(context, length, other, "UnsupportedError", text, help="leave it out where x.size is 0")
        elif 1 not in (length, other):
            require_equal(context, length, other, "ValueError", sentence, *shown, operands=(out, value))
    for pair in zip(taken, shape, strict=True) if looped else ():
        if pair[1] == 1 != pair[0]:
            raise UnsupportedError(
                "an array of one row or column is repeated by the accumulation into a larger one",
                context.loc,
                "accumulate np.broadcast_to(x, out.shape)",
            )
        if pair[0] == 1 != pair[1]:
            # NumPy goes through the axes from the last one on.
            turned = ",".join(f"{{{2 + n}}}" for n in reversed(range(count))) + "," * (count == 1)
            text = f"non-broadcastable output operand with shape {fields(2, own)} [remapped to ({turned})]"
            sentence = f"{text} doesn't match the broadcast shape {fields(2 + len(own), shape)}"
            require_equal(context, *pair, "ValueError", sentence, *shown, operands=(out, value))


@lru_cache(maxsize=1)
def _takes_any_output() -> bool:
    """Whether NumPy accumulates no elements into some."""
    try:
        np.add.accumulate(np.ones(0), out=np.ones(1))
    except ValueError:
        return False
    return True


def accumulate_into(context: Context, name: str, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> Value:
    """``ufunc.accumulate`` with its own checks of the axis."""
    value, outs = as_strong(context, array), out_arrays(context, out, 1)
    if outs[0] is not None:
        note_write(context, outs[0], OUTPUT)
    axis = known_axis(context, axis)
    known = None if isinstance(dtype, Value) else dtype
    attempt(context, promote.numpy_function(name).accumulate, stand_in(value), axis, known)
    place = 0 if axis is None else axis[0] if isinstance(axis, tuple) else axis
    shared = _is_shared(context, value, outs[0])
    made = scan(context, name, value, operator.index(place) % len(dimensions(value)), dtype, outs[0], shared)
    return write_outputs(context, (made,), outs)[0]


def _cumulative(name: str, doc: str, neutral: int | None = None) -> Any:
    def handler(context: Context, a: Any, axis: Any = None, dtype: Any = None, out: Any = None) -> Any:
        value, outs = as_strong(context, a), out_array(context, out, NO_OUTPUT)
        if neutral is not None:
            value, _ = replaced_nan(context, value, neutral)
        made = scan_along(context, name, value, known_axis(context, axis), dtype, outs[0])
        return write_outputs(context, (made,), outs)[0]

    handler.__doc__ = doc
    return handler


def scan_along(context: Context, name: str, value: Value, axis: Any, dtype: Any, out: Value | None) -> Value:
    """As ``np.cumsum``: without an axis along the flat array, and of a scalar an array of one element."""
    attempt(context, np.cumsum if name == "add" else np.cumprod, stand_in(value), axis)
    value = _with_axis(context, value)
    shared = _is_shared(context, value, out)
    if axis is None:
        source = dimensions(value)
        if len(source) > 1:
            # NumPy copies other arrays.
            shared = shared and is_row_major(context, value)
            value = context.builder.emit("reshape", (value,), {"shape": (product(source),), "source": source})
        axis = 0
    return scan(context, name, value, operator.index(axis) % len(dimensions(value)), dtype, out, shared)


def _is_shared(context: Context, value: Value, out: Value | None) -> bool:
    """Whether an output is the memory of the value, or has it in it, or a part of it."""
    root = context.builder.root(value)
    return out is not None and root is context.builder.root(out) and (value is root or out is root)


def _with_axis(context: Context, value: Value) -> Value:
    return value if dimensions(value) else context.builder.emit("newaxis", (value,), {"axis": 0})


def _cumulative_of_axes(name: str, doc: str) -> Any:
    def handler(
        context: Context,
        x: Any,
        /,
        *,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        include_initial: Any = False,
    ) -> Any:
        value, outs = as_strong(context, x), out_arrays(context, out, 1)
        if outs[0] is not None:
            note_write(context, outs[0], OUTPUT)
        axis = known_axis(context, axis)
        function = np.cumulative_sum if name == "add" else np.cumulative_prod
        check_plain(context, include_initial, "include_initial=")
        example = stand_in(value) if is_array(value) else 1.0
        attempt(context, function, example, axis=axis, include_initial=include_initial)
        if isinstance(axis, tuple):
            (axis,) = axis
        if include_initial:
            value = _with_axis(context, value)
            place = 0 if axis is None else operator.index(axis) % len(dimensions(value))
            value = behind(context, 0 if name == "add" else 1, value, place)
        made = scan_along(context, name, value, axis, dtype, outs[0])
        return write_outputs(context, (made,), outs)[0]

    handler.__doc__ = doc
    return handler


def behind(context: Context, number: Any, value: Value, axis: int) -> Value:
    """The elements behind one number on an axis."""
    first = context.builder.const(element(value.type).numpy.type(number).item(), scalar(element(value.type)))
    shape = tuple(1 if a == axis else d for a, d in enumerate(dimensions(value)))
    pieces = laid_out_as(context, repeated(context, first, shape), value, "K"), value
    made = context.builder.emit("concatenate", pieces, {"axis": axis})
    return laid_out(context, made, pieces, partial(joined_ranks, pieces, dimensions(made)))


FUNCTIONS = {
    "cumsum": _cumulative("add", "The sums of each element and those before it"),
    "cumprod": _cumulative("multiply", "The products of each element and those before it"),
    "cumulative_sum": _cumulative_of_axes("add", "``np.cumsum`` by the array API's name"),
    "cumulative_prod": _cumulative_of_axes("multiply", "``np.cumprod`` by the array API's name"),
    "nancumsum": _cumulative("add", "``np.cumsum`` with 0 for NaN", 0),
    "nancumprod": _cumulative("multiply", "``np.cumprod`` with 1 for NaN", 1),
}
"""By NumPy's name; parameters are called as NumPy calls them."""

METHODS = methods(FUNCTIONS)
