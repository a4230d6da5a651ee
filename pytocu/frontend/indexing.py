"""Subscripts: basic indexing becomes views, written as index maps.

Bounds are clamped as Python clamps them, in formulas over the lengths, so one compiled
function serves every length.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from pytocu.errors import IndexingError, ShapeError, UnsupportedError, raised
from pytocu.frontend.operators import attempt, clamped, is_c_long
from pytocu.frontend.ranges import (
    ARITHMETIC,
    Known,
    formula,
    is_position,
    known_here,
    least,
    most,
    not_negative,
    note,
    number_as_dim,
    on_axis,
    slice_bound,
)
from pytocu.frontend.requirements import require_equal
from pytocu.frontend.values import Context, as_dim, describe, dimensions, is_array
from pytocu.ir.core import Value
from pytocu.ir.dims import Dim, DimLike, dim_max, dim_min, floordiv, is_number, symbol, symbols
from pytocu.ir.types import BOOL, I64, WEAK_BOOL, WEAK_INT, ScalarType, WeakType, element, scalar


def slice_bounds(
    length: DimLike,
    start: DimLike | None,
    stop: DimLike | None,
    stride: DimLike,
    falling: bool = False,
    known: Known = not_negative,
) -> tuple[DimLike, DimLike]:
    """First position and number of elements of ``start:stop:stride`` on an axis, or of ``start:stop:-stride``.

    The stride is at least 1.  The start is only right where the number is not 0, which is where it is used.  `known` says
    what is not negative.

    Examples
    --------
    >>> from pytocu.ir.dims import symbol
    >>> slice_bounds(symbol("n"), 1, -1, 1)
    (1, max(n - 2, 0))
    """
    if not falling:
        first = 0 if start is None else most(from_front(start, length, known), 0, known)
        last = length
        if stop is not None:
            last = least(from_front(_from_end(stop, length, start), length, known), length, known)
        return first, _count(last - first, stride, known)
    first = length - 1 if start is None else least(from_front(start, length, known), length - 1, known)
    last = -1 if stop is None else most(from_front(stop, length, known), -1, known)
    return first, _count(first - last, stride, known)


def from_front(bound: DimLike, length: DimLike, known: Known = not_negative) -> DimLike:
    """A position counted from the front: negative ones count from the end."""
    if isinstance(bound, int):
        return length + bound if bound < 0 else bound
    if known(bound) or length - bound == 1:
        # length - 1 is negative only on an axis without elements.
        return bound
    if known(-1 - bound):
        return length + bound
    # bound + length where bound < 0, else bound: the factor is 1 or 0.
    return bound + length * dim_max(dim_min(0 - bound, 1), 0)


def _from_end(stop: DimLike, length: DimLike, start: DimLike | None) -> DimLike:
    """``length - k`` as ``-k`` where both give the same elements.

    They differ for lengths below k only, where ``start:length-k`` is empty as well if the
    start is not before k - 2.
    """
    distance = length - stop
    first = 0 if start is None else start
    if (
        isinstance(stop, Dim)
        and isinstance(distance, int)
        and isinstance(first, int)
        and 0 < distance <= first + 2
        and first >= 0
    ):
        return -distance
    return stop


def _count(distance: DimLike, stride: DimLike, known: Known) -> DimLike:
    """How many steps over a distance there are."""
    if isinstance(stride, int):
        return most(distance if stride == 1 else floordiv(distance + (stride - 1), stride), 0, known)
    # What is divided by a number of run time is not negative, so that what comes out is known not to be.
    return floordiv(most(distance, 0, known) + (stride - 1), stride)


def subscript(context: Context, value: Value, key: Any) -> Value:
    """``value[key]`` for integers, slices, ``None`` and ``...`` known now.

    Raises
    ------
    IndexingError
        Too many indices, or an index outside a length known now; NumPy's sentences.
    UnsupportedError
        Indexing by arrays or run-time numbers.
    """
    if isinstance(value.type, WeakType):
        raise raised(TypeError(f"'{value.type.kind}' object is not subscriptable"), context.loc)
    keys = key if isinstance(key, tuple) else (key,)
    for item in keys:
        check_item(context, item)
    used = sum(1 for k in keys if k is not None and k is not Ellipsis)
    ndim = len(dimensions(value))
    if sum(1 for k in keys if k is Ellipsis) > 1:
        raise IndexingError("an index can only have a single ellipsis ('...')", context.loc)
    if used > ndim:
        if isinstance(value.type, ScalarType):
            raise IndexingError("invalid index to scalar variable.", context.loc)
        text = f"too many indices for array: array is {ndim}-dimensional, but {used} were indexed"
        raise IndexingError(text, context.loc, f"write at most {ndim}, one for each axis")
    expanded: list[Any] = []
    has_ellipsis = Ellipsis in keys
    for item in keys:
        if item is Ellipsis:
            expanded.extend([slice(None)] * (ndim - used))
        else:
            expanded.append(item)
    if not has_ellipsis:
        expanded.extend([slice(None)] * (ndim - used))
    return _apply(context, value, expanded, has_ellipsis)


def is_bool(item: Any) -> bool:
    """Whether an index is one bool known now, which NumPy takes for an axis of its own."""
    return isinstance(item, (bool, np.bool_))


def bool_of_run_time(context: Context) -> UnsupportedError:
    """The error for one whose value, and so the length of the axis, is known only at run time."""
    help = "name the argument in @jit(static=(...)), or choose with np.where"
    return UnsupportedError("an index that is one bool must be known while compiling", context.loc, help)


def bool_beside_others(context: Context) -> UnsupportedError:
    """The error for one that does not stand among slices and new axes alone."""
    help = "index with the rest, and leave the bool to an if"
    return UnsupportedError("an index that is one bool beside integers or arrays is not compiled", context.loc, help)


def has_bool(key: Any) -> bool:
    """Whether an index has such a bool."""
    return any(map(is_bool, key)) if isinstance(key, tuple) else is_bool(key)


def axis_for_bool(context: Context, value: Value, keys: tuple[Any, ...]) -> Value:
    """The view in which a bool among slices and new axes is an axis: of one element for True, of none for False.

    Raises
    ------
    UnsupportedError
        It stands beside integers, arrays or another bool.
    """
    place = next(n for n, k in enumerate(keys) if is_bool(k))
    others = (*keys[:place], *keys[place + 1 :])
    if not all(k is None or k is Ellipsis or isinstance(k, slice) for k in others):
        raise bool_beside_others(context)
    made = subscript(context, value, (*keys[:place], None, *keys[place + 1 :]))
    if keys[place]:
        return made
    return subscript(context, made, (*[slice(None)] * _axis_of(value, keys, place), slice(0, 0), ...))


def mask_for_bool(context: Context, value: Value, key: Any) -> tuple[Value, Any]:
    """The view and the index in which a NumPy bool of run time among slices and new axes is a mask of an axis of its own."""
    keys = key if isinstance(key, tuple) else (key,)
    bools = [n for n, k in enumerate(keys) if _is_numpys_bool(k)]
    others = [k for k in keys if not _is_numpys_bool(k)]
    if len(bools) != 1 or not all(k is None or k is Ellipsis or isinstance(k, slice) for k in others):
        return value, key
    (place,) = bools
    made = subscript(context, value, (*keys[:place], None, *keys[place + 1 :]))
    mask = context.builder.emit("broadcast", (keys[place],), {"shape": (1,), "expand": (0,), "ndim": 0})
    return made, (*[slice(None)] * _axis_of(value, keys, place), mask)


def _is_numpys_bool(item: Any) -> bool:
    """Whether an index is one bool, and none of Python's."""
    is_one = isinstance(item, Value) and not isinstance(item.type, WeakType) and not dimensions(item)
    return is_one and element(item.type) is BOOL


def _axis_of(value: Value, keys: tuple[Any, ...], place: int) -> int:
    """The axis that an item among slices and new axes makes."""
    others = (*keys[:place], *keys[place + 1 :])
    rest = len(dimensions(value)) - sum(isinstance(k, slice) for k in others)
    return sum(rest if k is Ellipsis else 1 for k in keys[:place])


def check_item(context: Context, item: Any) -> None:
    if item is None or item is Ellipsis:
        return
    if isinstance(item, slice):
        for bound in (item.start, item.stop, item.step):
            if bound is None or _is_position(bound):
                continue
            if is_array(bound) and (dimensions(bound) or not element(bound.type).is_integer):
                text = "only integer scalar arrays can be converted to a scalar index"
                raise raised(TypeError(text), context.loc, "take the int that is meant, as n[0]")
            if not isinstance(bound, Value) or isinstance(bound.type, WeakType) or not element(bound.type).is_integer:
                text = "slice indices must be integers or None or have an __index__ method"
                raise raised(TypeError(text), context.loc)
            what, help = "step", "make it a Python int: x[::int(step)]"
            if bound is not item.step:
                help = "a number computed of data is no Python int: choose with np.where and np.arange(len(x)) < bound"
                what = "bound"
            text = f"a slice {what} must be a Python int, and this is {describe(bound)}"
            raise UnsupportedError(text, context.loc, help)
        if item.step is not None and _plain(item.step) == 0:
            raise ShapeError("slice step cannot be zero", context.loc)
        return
    if isinstance(item, (bool, np.bool_, list)) or is_array(item):
        raise UnsupportedError(
            "indexing with an array, a list or a mask is not compiled",
            context.loc,
            "select per element with np.where(mask, x, other)",
        )
    if isinstance(item, int) and not is_c_long(item):
        # NumPy has an error of its own of the next numbers behind int64.
        attempt(context, operator.getitem, np.zeros(1), item)
    if not _is_position(item):
        if isinstance(item, Value) and item.type == WEAK_BOOL:
            raise bool_of_run_time(context)
        if isinstance(item, Value):
            raise UnsupportedError(
                f"an index of what is assigned to must be a Python int, and this is {describe(item)}",
                context.loc,
                "choose with np.where and np.arange(len(x)) == index",
            )
        raise IndexingError(
            "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are "
            "valid indices",
            context.loc,
            f"this is {describe(item)}",
        )


def has_picks(base: Any, key: Any) -> bool:
    """Whether a part of an array stands at a position that is computed of data."""
    items = key if isinstance(key, tuple) else (key,)
    others = any(isinstance(k, (list, np.ndarray)) or is_array(k) for k in items)
    return is_array(base) and any(map(states_position, items)) and not others


def states_position(item: Any) -> bool:
    """Whether an index is a number that is computed of data."""
    return isinstance(item, Value) and isinstance(item.type, ScalarType) and element(item.type).is_integer


def is_computed(context: Context, item: Any) -> bool:
    """Whether an index is a number of data, or one that a loop or branch makes, which the host would have to read."""
    if states_position(item):
        return True
    made = isinstance(item, Value) and item.type == WEAK_INT and context.elements is None
    return made and not is_position(context, item)


def _is_position(item: Any) -> bool:
    """Whether a number is a Python int, known now or at run time."""
    return as_dim(_plain(item)) is not None or (isinstance(item, Value) and item.type == WEAK_INT)


def _plain(bound: Any) -> Any:
    return int(bound) if isinstance(bound, (int, np.integer)) else bound


def _apply(context: Context, value: Value, keys: list[Any], has_ellipsis: bool) -> Value:
    builder = context.builder
    shape = dimensions(value)
    # Slices first, on all axes at once; then integers from the last axis; then new axes.
    starts: list[DimLike] = []
    steps: list[DimLike] = []
    sizes: list[DimLike] = []
    axis = 0
    integers: list[tuple[int, DimLike]] = []
    for item in keys:
        if item is None:
            continue
        length = shape[axis]
        if isinstance(item, slice):
            step, first, size = sliced(context, item, length)
        else:
            step, first, size = 1, 0, length
            integers.append((axis, _position(context, number_as_dim(context, _plain(item)), length, axis)))
        starts.append(first)
        steps.append(step)
        sizes.append(context.length(size))
        axis += 1
    if not keys and not has_ellipsis and is_array(value):
        # x[()] of an array without axes is a NumPy scalar.
        return builder.emit("cast", (value,), {}, (ScalarType(element(value.type)),))
    whole = all(s == 0 for s in starts) and all(s == 1 for s in steps) and tuple(sizes) == shape
    result = value
    if not whole:
        result = builder.emit("slice", (result,), {"start": tuple(starts), "step": tuple(steps), "size": tuple(sizes)})
    for place, at in reversed(integers):
        attrs: dict[str, Any] = {"axis": place, "at": at}
        if has_ellipsis or None in keys:
            # Also below new axes the element is a view of the array, and no number.
            attrs["keep"] = True
        result = builder.emit("index", (result,), attrs)
    new = 0
    for item in keys:
        if item is None:
            result = builder.emit("newaxis", (result,), {"axis": new})
            new += 1
        elif isinstance(item, slice):
            new += 1
    if result is value and has_ellipsis and isinstance(value.type, ScalarType):
        return builder.emit("as_array", (value,))
    if result is value and is_array(value):
        # x[:] is an array of its own that shares the memory of x.
        return builder.emit("transpose", (result,), {"axes": tuple(range(len(shape)))})
    return result


def sliced(context: Context, item: slice, length: DimLike) -> tuple[DimLike, DimLike, DimLike]:
    """The step, the first position and the number of elements of a slice of an axis."""
    known = known_here(context, branches=False)
    step, stride, falling = (1, 1, 0) if item.step is None else _step(context, item.step, length, known)
    bounds = [clamped(int(b)) if isinstance(b, (int, np.integer)) else b for b in (item.start, item.stop)]
    first, size = 0, 0
    if falling != 1:
        start, stop = (slice_bound(context, b, length) for b in bounds)
        first, size = slice_bounds(length, start, stop, stride, False, known)
        size = _one_or_none(context, item, step, start, length, size)
    if falling != 0:
        start, stop = (number_as_dim(context, b) for b in bounds)
        other, others = slice_bounds(length, start, stop, stride, True, known)
        first = first + falling * (other - first)
        size = most(size + falling * (others - size), 0, known)
    if isinstance(falling, Dim):
        first, size = on_axis(context, first, length, "first"), on_axis(context, size, length, "count")
    return step, first, size


def _step(context: Context, given: Any, length: DimLike, known: Known) -> tuple[DimLike, DimLike, DimLike]:
    """The step of a slice, how long it is, and 1 where it goes back, else 0; it is never 0 long, since that divides."""
    step = number_as_dim(context, _plain(given))
    assert step is not None
    if isinstance(step, int):
        # A step longer than any axis leaves one element, whose stride in bytes still has to be a number of 64 bits.
        step = clamped(step, 2**40)
        return step, abs(step), int(step < 0)
    # A number that may be any is brought to one that kernels count with, by which one element is left as well.
    counted = context.steps.issuperset(symbols(step))
    longest = dim_max(length, 1)
    if known(step) or known(0 - step):
        falling: DimLike = 0 if known(step) else 1
        stride = 0 - step if falling else step
        surely = known(stride - 1)
        stride = stride if counted else dim_min(stride, longest)
        step = 0 - stride if falling else stride
    else:
        ahead, back = (dim_min(dim_max(d, 0), longest) for d in (step, 0 - step))
        ahead, back = on_axis(context, ahead, longest, "ahead"), on_axis(context, back, longest, "back")
        step, stride, falling, surely = ahead - back, ahead + back, dim_min(back, 1), False
    if not surely:
        require_equal(context, dim_min(stride, 1), 1, "ValueError", "slice step cannot be zero")
        stride = most(stride, 1, known)
    return step, stride, falling


def _one_or_none(
    context: Context, item: slice, step: DimLike, start: DimLike | None, length: DimLike, size: DimLike
) -> DimLike:
    """The length of ``x[k:k + 1]`` with a number of run time: 0 or 1; of a step's 1, and a step behind the end is refused."""
    names = [*map(is_number, symbols(size))]
    if start is None or not (any(names) or context.most.keys() & {*symbols(size)}) or not _is_near(item.start, item.stop, step):
        return size
    if context.steps.isdisjoint(symbols(size)):
        # What is read of data has another name than other numbers of run time.
        return dim_min(size if any(names) else on_axis(context, size, length, "count"), 1)
    sentence = "a slice of one element begins at {2} of an axis of length {3}: it is compiled as one that exists"
    require_equal(context, size, 1, "UnsupportedError", sentence, start, length)
    return 1


def _is_near(start: Any, stop: Any, step: DimLike) -> bool:
    """Whether one bound is no more than a step in front of the other."""
    apart = distance(start, stop)
    return isinstance(apart, int) and isinstance(step, int) and 0 < apart <= step


def _alike(first: Value, second: Value) -> bool:
    return formula(first) == formula(second)


def distance(start: Any, stop: Any, same: Callable[[Value, Value], bool] = _alike) -> DimLike | None:
    """What one bound of a slice has more than the other, in numbers that have no names yet; None where there is none.

    The bounds are Python's ints, or NumPy's of 64 bits, whose distance is that of what wraps around.  `same` says whether
    two are computed alike.
    """
    leaves: list[Value] = []

    def polynomial(value: Any) -> DimLike:
        dim = as_dim(_plain(value))
        if dim is not None:
            return dim
        inst = value.inst
        if inst is not None and inst.op.name == "const":
            return int(inst.attr("value"))
        if inst is not None and inst.op.name in ARITHMETIC and value.type in (WEAK_INT, scalar(I64)):
            return ARITHMETIC[inst.op.name](*map(polynomial, inst.args))
        if not any(same(leaf, value) for leaf in leaves):
            leaves.append(value)
        return symbol(f"leaf {next(number for number, leaf in enumerate(leaves) if same(leaf, value))}")

    return None if start is None or stop is None else polynomial(stop) - polynomial(start)


def _position(context: Context, index: DimLike | None, length: DimLike, axis: int) -> DimLike:
    assert index is not None
    if isinstance(index, int) and isinstance(length, int):
        if not -length <= index < length:
            raise IndexingError(f"index {index} is out of bounds for axis {axis} with size {length}", context.loc)
        return index % length
    known = known_here(context)
    inside = length - index - 1, length + index
    if not all(map(known, inside)):
        context.builder.emit("check", (), {"kind": "index", "dims": (index, length, axis), "shapes": ()})
        note(context, inside)
    return from_front(index, length, known)


def is_inside(context: Context, item: Any, length: DimLike) -> bool:
    """Whether an int is known to be a position of an axis."""
    index = number_as_dim(context, _plain(item))
    if index is None or (isinstance(index, int) and isinstance(length, int)):
        return True
    known = known_here(context)
    return known(length - index - 1) and known(length + index)
