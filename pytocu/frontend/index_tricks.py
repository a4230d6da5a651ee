"""What NumPy makes by indexing an object: ``np.mgrid``, ``np.ogrid``, ``np.r_`` and ``np.c_``.

In: the key, whose bounds may be lengths and Python numbers of run time, and so may the numbers of elements, written as ``5j``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pytocu.errors import UnsupportedError, raised
from pytocu.frontend.arange import arange, not_negative, signed_number
from pytocu.frontend.creation import number
from pytocu.frontend.gathering import along
from pytocu.frontend.joining import concatenate
from pytocu.frontend.math_calls import on_host
from pytocu.frontend.operators import attempt, binary, elementwise, unary
from pytocu.frontend.ranges import number_as_dim
from pytocu.frontend.requirements import require_equal
from pytocu.frontend.reshaping import NEGATIVE, array_of, broadcast, filled
from pytocu.frontend.spaced_numbers import linspace
from pytocu.frontend.values import Context, as_value, cast, describe, dim_value, dimensions, is_number, is_weak
from pytocu.ir import promote
from pytocu.ir.core import Value
from pytocu.ir.dims import DimLike, dim_max, dim_min
from pytocu.ir.types import I64, WEAK_COMPLEX, WEAK_FLOAT, WEAK_INT, DType, ScalarType, WeakType

# Grids.


def _checked(context: Context, name: str, part: Any) -> tuple[Any, Any, Any]:
    """Start, stop and step of a slice, with NumPy's defaults.

    Raises
    ------
    UnsupportedError
        No slice with an end, or bounds that are no Python numbers.
    """
    if not isinstance(part, slice) or part.stop is None:
        help = f"write np.{name}[0:n, 0:m]"
        raise UnsupportedError(f"np.{name} takes slices with an end here", context.loc, help)
    first, by = (default if given is None else given for given, default in ((part.start, 0), (part.step, 1)))
    for bound in (first, part.stop, by):
        if (isinstance(bound, Value) and bound.type in (WEAK_INT, WEAK_FLOAT)) or (bound is by and _is_count(by)):
            continue
        if not is_number(bound):
            text = f"a bound in np.{name} must be a Python number, and this is {describe(bound)}"
            raise UnsupportedError(text, context.loc, "use lengths of arrays, or pass a Python number")
    return first, part.stop, by


def _is_count(step: Any) -> bool:
    """Whether a step is a complex number, which says how many elements there are."""
    return isinstance(step, (complex, np.complexfloating)) or (isinstance(step, Value) and step.type == WEAK_COMPLEX)


def _count(context: Context, step: Any) -> DimLike:
    """How many elements a complex step asks for."""
    if not isinstance(step, Value):
        return int(abs(step))
    length = number_as_dim(context, on_host(context, "python_int", unary(context, "absolute", step)))
    assert length is not None
    return not_negative(context, length)


def _spaced(context: Context, first: Any, last: Any, by: Any) -> tuple[Any, Any]:
    """How many numbers there are, and the step, where the step is written as a complex number of elements."""
    count = _count(context, by)
    if count == 1:
        return count, 1
    gaps = count - 1
    if not isinstance(gaps, int):
        # One element is the first, whatever the step is; where there is none the step is not looked at.
        gaps = dim_max(gaps, 1)
    step = binary(context, "divide", binary(context, "subtract", last, first), _float(context, gaps))
    return count, step


def _float(context: Context, length: DimLike) -> Any:
    """A number of elements as Python's float."""
    return float(length) if isinstance(length, int) else on_host(context, "python_float", dim_value(context, length))


def _dtype(context: Context, numbers: list[Any]) -> DType:
    operands = tuple(promote.operand(as_value(context, n).type) for n in numbers)
    strong = all(isinstance(as_value(context, n).type, WeakType) for n in numbers)
    found = attempt(context, promote.result_dtype, (*operands, I64) if strong else operands)
    assert isinstance(found, DType)
    return found


def _grid(name: str, sparse: bool, doc: str) -> Callable[[Context, Any], Any]:
    def handler(context: Context, key: Any) -> Any:
        if not isinstance(key, tuple):
            first, last, by = _checked(context, name, key)
            if not _is_count(by):
                return arange(context, first, last, by)
            (count, step), dtype = _spaced(context, first, last, by), _dtype(context, [first, last, 1.0])
            return _along(context, count, 0, 1, first, step, dtype)
        parts = [_checked(context, name, part) for part in key]
        numbers: list[Any] = [0]
        spaced: list[tuple[Any, Any, Any]] = []
        for first, last, by in parts:
            if _is_count(by):
                count, step = _spaced(context, first, last, by)
                numbers += [first, last, 1.0]
            else:
                signed = signed_number(context, first, last, by)
                count, step = not_negative(context, signed), by
                if not sparse:
                    require_equal(context, dim_min(signed, 0), 0, "ValueError", NEGATIVE)
                numbers += [first, last, by]
            spaced.append((count, first, step))
        dtype, ndim = _dtype(context, numbers), len(parts)
        made = [_along(context, count, axis, ndim, first, step, dtype) for axis, (count, first, step) in enumerate(spaced)]
        if sparse:
            return tuple(made)
        shape = tuple(count for count, _, _ in spaced)
        if not made:
            return filled(context, number(context, 0, I64), (0,))
        layers = [context.builder.emit("newaxis", (broadcast(context, m, shape),), {"axis": 0}) for m in made]
        return concatenate(context, layers, 0)

    handler.__doc__ = doc
    return handler


def _along(context: Context, count: Any, axis: int, ndim: int, first: Any, step: Any, dtype: DType) -> Value:
    """``place * step + first``, which is NumPy's formula; whole numbers that change nothing are left out."""
    made = cast(context, along(context, count, axis, ndim), dtype)
    if not (dtype.is_integer and is_number(step) and step == 1):
        made = elementwise(context, "multiply", made, step)
    if not (dtype.is_integer and is_number(first) and first == 0):
        made = elementwise(context, "add", made, first)
    return cast(context, made, dtype)


# Joins.


def _join(name: str, axis: int, ndmin: int, place: int, doc: str) -> Callable[[Context, Any], Any]:
    def handler(context: Context, key: Any) -> Value:
        items = list(key) if isinstance(key, tuple) else [key]
        along_axis, count, turned = axis, ndmin, place
        if items and isinstance(items[0], str):
            along_axis, count, turned = _directive(context, name, items.pop(0), axis, ndmin, place)
        made: list[Value] = []
        deciding: list[Value] = []
        for item in items:
            if isinstance(item, str):
                raise raised(ValueError("special directives must be the first entry."), context.loc)
            if isinstance(item, slice):
                value = _placed(context, _range(context, name, item), count, None if turned == -1 else turned)
            elif _is_scalar(item):
                value = as_value(context, item)
            else:
                given = array_of(context, item)
                value = _turned(context, _placed(context, given, count, None), len(dimensions(given)), count, turned)
            made.append(value)
            deciding.append(value)
        if not made:
            raise raised(ValueError("need at least one array to concatenate"), context.loc)
        dtype = _common(context, deciding)
        made = [_placed(context, array_of(context, cast(context, v, dtype)), count, None) for v in made]
        return concatenate(context, made, along_axis)

    handler.__doc__ = doc
    return handler


def _is_scalar(item: Any) -> bool:
    return is_weak(item) or is_number(item) or (isinstance(item, Value) and isinstance(item.type, ScalarType))


def _common(context: Context, values: list[Value]) -> DType:
    """The dtype of a join, in which Python scalars are weak."""
    if all(isinstance(v.type, WeakType) for v in values):
        kinds = {v.type.kind for v in values if isinstance(v.type, WeakType)}
        example = [{"bool": True, "int": 1, "float": 1.0, "complex": 1j}[kind] for kind in sorted(kinds)]
        return promote.known_dtype(np.result_type(*example), "np.r_")
    found = attempt(context, promote.result_dtype, tuple(promote.operand(v.type) for v in values))
    assert isinstance(found, DType)
    return found


def _range(context: Context, name: str, part: slice) -> Value:
    """The numbers of a slice."""
    first, last, by = part.start, part.stop, part.step
    if _is_count(by):
        return linspace(context, 0 if first is None else first, last, dim_value(context, _count(context, by)))
    return arange(context, 0 if first is None else first, last, 1 if by is None else by)


def _placed(context: Context, value: Value, count: int, turned: int | None) -> Value:
    """At least so many axes, new ones in front; the last one goes where `turned` says."""
    while len(dimensions(value)) < count:
        value = context.builder.emit("newaxis", (value,), {"axis": 0})
    if turned is None or count < 2:
        return value
    axes = list(range(len(dimensions(value))))
    try:
        axes[-1], axes[turned] = axes[turned], axes[-1]
    except IndexError:
        raise raised(np.exceptions.AxisError(turned, len(axes)), context.loc) from None
    return context.builder.emit("transpose", (value,), {"axes": tuple(axes)})


def _turned(context: Context, value: Value, ndim: int, count: int, turned: int) -> Value:
    """The new axes of an array that has fewer than the join: `turned` says where its own ones go."""
    if turned == -1 or ndim >= count:
        return value
    new = count - ndim
    first = turned + new + 1 if turned < 0 else turned
    axes = list(range(count))
    axes = axes[:first] + axes[new:] + axes[first:new]
    if sorted(axes) != list(range(count)):
        raise raised(ValueError("axes don't match array"), context.loc)
    return context.builder.emit("transpose", (value,), {"axes": tuple(axes)})


def _directive(context: Context, name: str, text: str, axis: int, ndmin: int, turned: int) -> tuple[int, int, int]:
    """The first item of a key, where it is text: the axis, the least number of axes, and where own axes go."""
    if text in ("r", "c"):
        raise UnsupportedError(f"np.{name} of a matrix is not compiled", context.loc, "leave the first item out")
    numbers = text.split(",")
    try:
        found = [int(n) for n in numbers[:2]] + ([int(numbers[2])] if len(numbers) == 3 else [])
    except ValueError:
        sentence = f"unknown special directive {text!r}" if len(numbers) > 1 else "unknown special directive"
        raise raised(ValueError(sentence), context.loc) from None
    return (*found, *(axis, ndmin, turned)[len(found) :])  # pyright: ignore[reportReturnType]


def _key(context: Context, key: Any) -> Any:
    """An index as a value"""
    return key


def _keys(context: Context, key: Any) -> Any:
    """An index as a tuple"""
    return key if isinstance(key, tuple) else (key,)


OBJECTS: dict[str, Callable[[Context, Any], Any]] = {
    "mgrid": _grid("mgrid", False, "The positions or coordinates of a grid, an array for each axis, stacked"),
    "ogrid": _grid("ogrid", True, "The positions or coordinates of a grid, each along its own axis"),
    "r_": _join("r_", 0, 1, -1, "Arrays, numbers and ranges one after the other"),
    "c_": _join("c_", -1, 2, 0, "Arrays, numbers and ranges as columns"),
    "s_": _key,
    "index_exp": _keys,
}
"""By NumPy's name."""
