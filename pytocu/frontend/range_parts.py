"""Members and slices of a range whose bounds only a run knows: ``range(n)[k]``, ``range(n)[1:-1]``, ``k in range(n)``.

A slice of a range is a range again, of which the elements are Python's; where it has none, its bounds may be others.
"""

from __future__ import annotations

import operator
from typing import Any

from pytocu.errors import UnsupportedError, raised
from pytocu.frontend.grown import position, refuse_outside
from pytocu.frontend.indexing import check_item, from_front, sliced
from pytocu.frontend.math_calls import on_host
from pytocu.frontend.numbered import most_steps
from pytocu.frontend.operators import binary
from pytocu.frontend.ranges import known_here, number_as_dim
from pytocu.frontend.values import Context, Steps, as_dim, as_value, describe, dim_value, python_type_name
from pytocu.frontend.worded import evaluated
from pytocu.ir.core import Value
from pytocu.ir.dims import DimLike
from pytocu.ir.types import WEAK_BOOL, WEAK_INT, ScalarType


def of_range(values: range | Steps) -> Steps:
    """A range with bounds of run time, which a range that is known has as well."""
    return Steps(values.start, values.stop, values.step) if isinstance(values, range) else values


def member(context: Context, steps: Steps, key: Any) -> Any:
    """``range(...)[key]``: a number, or a range for a slice.

    Raises
    ------
    TypeError
        An iterator, or a key that is no int.
    UnsupportedError
        In a function of scalars, or a slice with a step of run time.
    """
    if not steps.plain:
        raise raised(TypeError("an iterator is not subscriptable"), context.loc, "make a list of its members: list(...)")
    if context.elements is not None:
        text = "a member of a range that is known only at run time is not compiled in a function of scalars"
        raise UnsupportedError(text, context.loc, "write start + k * step")
    if isinstance(key, slice):
        return _part(context, steps, key)
    if isinstance(key, Value) and key.type == WEAK_BOOL:
        key = on_host(context, "python_int", key)
    key = position(context, key)
    place = number_as_dim(context, key if isinstance(key, Value) or not hasattr(key, "__index__") else operator.index(key))
    if place is None:
        kind = python_type_name(key) if isinstance(key, Value) else type(key).__name__
        raise raised(TypeError(f"range indices must be integers or slices, not {kind}"), context.loc)
    count = _count(context, steps)
    refuse_outside(context, dim_value(context, place), count, "range object index out of range")
    front = from_front(place, count, known_here(context))
    return _number(context, steps, front)


def length(context: Context, steps: Steps) -> Any:
    """``len(range(...))``."""
    if not steps.plain:
        raise raised(TypeError("an iterator has no len()"), context.loc, "make a list of its members: list(...)")
    return dim_value(context, _count(context, steps))


def total(context: Context, steps: Steps) -> Any:
    """``sum(range(...))``."""
    names = {"start": steps.start, "step": steps.step, "count": length(context, steps)}
    return evaluated(context, "start * count + step * (count * (count - 1) // 2)", names)


def contains(context: Context, member: Any, steps: Steps) -> Any:
    """``member in range(...)``."""
    strong = isinstance(member, Value) and isinstance(member.type, ScalarType) and member.type.dtype.is_integer
    weak = member.type if isinstance(member, Value) else None
    if not steps.plain or not (strong or weak in (WEAK_INT, WEAK_BOOL) or isinstance(member, int)):
        text = f"whether {describe(member)} is in a range that is known only at run time is not compiled"
        raise UnsupportedError(text, context.loc, "compare it with the bounds: start <= k < stop")
    names = {"k": member, "start": steps.start, "stop": steps.stop, "step": steps.step, "int": int}
    way = as_dim(steps.step)
    if not isinstance(way, int):
        inside = "(start <= k and k < stop if step > 0 else stop < k and k <= start) and (k - start) % step == 0"
    else:
        inside = "start <= k and k < stop" if way > 0 else "stop < k and k <= start"
        inside += "" if abs(way) == 1 else " and (k - start) % step == 0"
    names["k"] = evaluated(context, "int(k)", names)
    return evaluated(context, inside, names)


def _part(context: Context, steps: Steps, key: slice) -> Steps:
    check_item(context, key)
    if isinstance(key.step, Value):
        text = "a slice of a range with a step that is known only at run time is not compiled"
        raise UnsupportedError(text, context.loc, "write a range with that step: range(start, stop, step)")
    step, first, size = sliced(context, key, _count(context, steps))
    start = _number(context, steps, first)
    stride = binary(context, "multiply", steps.step, dim_value(context, step))
    length = binary(context, "multiply", stride, dim_value(context, size))
    return Steps(start, binary(context, "add", start, length), stride, part=True)


def _count(context: Context, steps: Steps) -> DimLike:
    """How many numbers a range has."""
    count = most_steps(context, steps)
    if count is None:
        bounds = [as_value(context, v) for v in (steps.start, steps.stop, steps.step)]
        count = number_as_dim(context, context.builder.emit("python_steps", bounds))
    assert count is not None
    return count


def _number(context: Context, steps: Steps, place: DimLike) -> Any:
    """A number of a range by its place."""
    start, step = number_as_dim(context, steps.start), as_dim(steps.step)
    if start is not None and isinstance(step, int):
        # A formula, by which positions that are made of it are known.
        return dim_value(context, start + place * step)
    return binary(context, "add", binary(context, "multiply", dim_value(context, place), steps.step), steps.start)
