"""``np.packbits`` and ``np.unpackbits``: truths as the bits of bytes."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np

from pytocu.frontend.attributes import moveaxis
from pytocu.frontend.joining import concatenate
from pytocu.frontend.operators import attempt, elementwise, known_int, known_option, truths
from pytocu.frontend.requirements import require_equal
from pytocu.frontend.reshaping import along_axis, array_of, broadcast, contiguous_as, copied
from pytocu.frontend.values import Context, cast, dimensions
from pytocu.ir.core import Value
from pytocu.ir.dims import DimLike, dim_max, dim_min, floordiv
from pytocu.ir.types import U8, element, scalar


def _last(context: Context, function: Any, a: Any, axis: Any, bitorder: Any) -> tuple[Value, int, Value]:
    """The operand, the axis, and the operand with that axis as the last one."""
    value = array_of(context, a)
    order = known_option(context, bitorder, "bitorder=")
    axis = known_option(context, axis, "axis=")
    example = np.zeros((1,) * len(dimensions(value)), element(value.type).numpy)
    attempt(context, function, example, axis, bitorder=order)
    value, place = along_axis(context, value, axis)
    return value, place, moveaxis(context, value, place, -1)


def packbits(context: Context, a: Any, /, axis: Any = None, bitorder: Any = "big") -> Value:
    """Eight truths a byte, zeros behind the last one"""
    given, place, value = _last(context, np.packbits, a, axis, bitorder)
    flags = cast(context, truths(context, value), U8)
    (*rest, size) = dimensions(flags)
    count = floordiv(size + 7, 8)
    zeros = broadcast(context, context.builder.const(0, scalar(U8)), (*rest, count * 8 - size))
    padded = concatenate(context, (flags, zeros), -1)
    attrs = {"shape": (*rest, count, 8), "source": dimensions(padded)}
    groups = context.builder.emit("reshape", (padded,), attrs)
    last = len(rest) + 1
    made: list[Value] = []
    for bit in range(8):
        one = context.builder.emit("index", (groups,), {"axis": last, "at": bit})
        made.append(elementwise(context, "left_shift", one, np.uint8(7 - bit if bitorder == "big" else bit)))
    packed = reduce(lambda x, y: elementwise(context, "bitwise_or", x, y), made)
    return contiguous_as(context, copied(context, moveaxis(context, packed, -1, place)), given)


def unpackbits(context: Context, a: Any, /, axis: Any = None, count: Any = None, bitorder: Any = "big") -> Value:
    """The bits of bytes, as many as are asked for"""
    given, place, value = _last(context, np.unpackbits, a, axis, bitorder)
    (*rest, size) = dimensions(value)
    column = context.builder.emit("newaxis", (value,), {"axis": len(rest) + 1})
    number = context.builder.emit("iota", (), {"axis": len(rest) + 1, "shape": (*[1] * (len(rest) + 1), 8)})
    number = cast(context, number, U8)
    shift = elementwise(context, "subtract", np.uint8(7), number) if bitorder == "big" else number
    bits = elementwise(context, "bitwise_and", elementwise(context, "right_shift", column, shift), np.uint8(1))
    whole: DimLike = size * 8
    attrs = {"shape": (*rest, whole), "source": dimensions(bits)}
    bits = context.builder.emit("reshape", (bits,), attrs)
    if count is not None:
        bits = _counted(context, bits, known_int(context, count, "count="))
    return contiguous_as(context, copied(context, moveaxis(context, bits, -1, place)), given)


def _counted(context: Context, bits: Value, count: int) -> Value:
    """So many bits of the last axis: zeros behind the last one, or all but some at the end.

    Of no bytes at all NumPy leaves the bits as the memory has them; they are zeros here too.
    """
    (*rest, whole) = dimensions(bits)
    if count < 0:
        sentence = "-count larger than number of elements"
        require_equal(context, dim_min(whole, -count), -count, "ValueError", sentence)
        kept: DimLike = whole + count
    else:
        zeros = broadcast(context, context.builder.const(0, scalar(U8)), (*rest, dim_max(count - whole, 0)))
        bits = concatenate(context, (bits, zeros), -1)
        kept = count
    shape = (*rest, kept)
    attrs = {"start": (0,) * len(shape), "step": (1,) * len(shape), "size": shape}
    return context.builder.emit("slice", (bits,), attrs)


FUNCTIONS = {"packbits": packbits, "unpackbits": unpackbits}
"""By NumPy's name; parameters are called as NumPy calls them."""
