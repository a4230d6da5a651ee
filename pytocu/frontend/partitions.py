"""``partition`` and ``argpartition``: sorted, which is one of the orders that they may leave.

NumPy says of a partition which element stands at each `kth` position, and that none before it is larger and none behind it
smaller. The order on either side is undefined, and NumPy's own depends on its version and the processor.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from pytocu.errors import UnsupportedError
from pytocu.frontend import library_calls
from pytocu.frontend.inplace import assign_elements, note_write
from pytocu.frontend.operators import attempt, elementwise, known_option
from pytocu.frontend.reductions import length, stand_in
from pytocu.frontend.requirements import require, require_equal
from pytocu.frontend.reshaping import array_of, ravel
from pytocu.frontend.tables import Handler
from pytocu.frontend.values import Context, as_strong, as_value, cast, dimensions, is_array
from pytocu.ir.core import Value
from pytocu.ir.dims import DimLike, dim_max, dim_min, product
from pytocu.ir.types import I64, WeakType

_OUTSIDE = "kth(={%d}) out of bounds ({%d})"


def partition(
    context: Context, a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None
) -> Value:
    """Sorted, so that each of the `kth` elements stands in its place; the order on its sides is not NumPy's"""
    value, axis = _checked(context, np.partition, array_of(context, a), kth, axis, kind, order)
    return library_calls.sort(context, value, axis)


def argpartition(
    context: Context, a: Any, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None
) -> Value:
    """The positions that sort, which partition too; the order on the sides of the `kth` is not NumPy's"""
    value = array_of(context, a)
    if not dimensions(value):
        value = ravel(context, value)
    value, axis = _checked(context, np.argpartition, value, kth, axis, kind, order)
    return library_calls.argsort(context, value, axis)


def partition_in_place(
    context: Context, value: Value, kth: Any, axis: Any = -1, kind: Any = "introselect", order: Any = None
) -> None:
    """``x.partition(kth)``."""
    if not is_array(value):
        raise UnsupportedError("partition() of a NumPy scalar", context.loc, "leave it out")
    # An axis is named here.
    attempt(context, operator.index, known_option(context, axis, "axis="))
    note_write(context, value, "partition array")
    assign_elements(context, value, partition(context, value, kth, axis, kind, order))


def _checked(
    context: Context, function: Callable[..., Any], value: Value, kth: Any, axis: Any, kind: Any, order: Any
) -> tuple[Value, Any]:
    """The operand, which demands that the positions are its own, and the axis."""
    if is_array(kth) and dimensions(kth):
        help = "name them one by one: (i, j)"
        raise UnsupportedError("the positions of a partition are known only at run time", context.loc, help)
    axis, kind = known_option(context, axis, "axis="), known_option(context, kind, "kind=")
    several = isinstance(kth, (tuple, list))
    positions = list(kth) if several else [kth]
    # NumPy says what is wrong with arguments but for their size.
    plain = [_example(p) for p in positions]
    order = known_option(context, order, "order=")
    attempt(context, function, stand_in(value), plain if several else plain[0], axis, kind, order)
    if axis is None:
        value, axis = ravel(context, value), 0
    size = dimensions(value)[axis]
    for position in positions:
        value = _within(context, value, position, size)
    return value, axis


def _example(position: Any) -> Any:
    """The first position, as what the position is given as."""
    if isinstance(position, Value) and isinstance(position.type, WeakType):
        return {"bool": True, "int": 0, "float": 0.0, "complex": 0j}[position.type.kind]
    if isinstance(position, Value):
        return np.zeros_like(stand_in(position))[()]
    if isinstance(position, np.integer):
        return position.dtype.type(0)
    return 0 if type(position) is int and -(2**63) <= position < 2**63 else position


def _within(context: Context, value: Value, position: Any, size: DimLike) -> Value:
    """The value, which demands that it has the position; nothing has all of them."""
    count = product(dimensions(value))
    if isinstance(position, (int, np.integer)):
        number = int(position)
        place = number if number >= 0 else size + number
        beyond = dim_max(number + 1 - size, 0) if number >= 0 else dim_max(0 - place, 0)
        require_equal(context, dim_min(beyond, count), 0, "ValueError", _OUTSIDE % (2, 3), place, size)
        return value

    def apply(name: str, *operands: Any) -> Value:
        return elementwise(context, name, *operands)

    given, extent = cast(context, as_strong(context, as_value(context, position)), I64), length(context, size)
    wrapped = apply("where", apply("less", given, 0), apply("add", given, extent), given)
    fine = apply("bitwise_and", apply("greater_equal", wrapped, 0), apply("less", wrapped, extent))
    fine = apply("bitwise_or", fine, apply("equal", length(context, count), 0))
    return require(context, value, fine, "ValueError", _OUTSIDE % (0, 1), wrapped, (size,))


METHODS: dict[str, Handler] = {"partition": partition_in_place, "argpartition": argpartition}

FUNCTIONS: dict[str, Callable[..., Any]] = {"partition": partition, "argpartition": argpartition}
"""By NumPy's name; parameters are called as NumPy calls them."""
