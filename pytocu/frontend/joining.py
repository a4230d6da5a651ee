"""Arrays put together: joined, rolled and repeated ones.

Nothing is copied: an element of the result is read where it is, in the kernel that needs it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial, reduce
from typing import Any

import numpy as np

from pytocu.deferred import Deferred
from pytocu.errors import UnsupportedError, raised
from pytocu.frontend.attributes import moveaxis, target_dtype
from pytocu.frontend.axes import normal_axis
from pytocu.frontend.compaction import read_length
from pytocu.frontend.gathering import take
from pytocu.frontend.inplace import DESTINATION, write_result
from pytocu.frontend.layouts import laid_out, laid_out_as, ranks_without_elements, row_major
from pytocu.frontend.literals import known_array
from pytocu.frontend.operators import TOO_LARGE, attempt, binary, elementwise, known_option
from pytocu.frontend.reductions import combined, stand_in
from pytocu.frontend.requirements import is_length, require, require_equal
from pytocu.frontend.reshaping import (
    NEGATIVE,
    along_axis,
    array_of,
    as_length,
    at_least,
    broadcast,
    copied,
    ravel,
)
from pytocu.frontend.tables import Handler
from pytocu.frontend.values import (
    Context,
    Grown,
    Members,
    as_dim,
    as_strong,
    as_value,
    cast,
    contains_dynamic,
    dim_value,
    dimensions,
    is_array,
    is_number,
    is_numpy_scalar,
    is_weak,
    no_number,
    several,
)
from pytocu.frontend.worded import after, evaluated
from pytocu.ir import promote
from pytocu.ir.core import Value
from pytocu.ir.dims import DimLike, dim_max, dim_min, modulo
from pytocu.ir.layouts import joined_ranks
from pytocu.ir.types import I64, WEAK_BOOL, WEAK_FLOAT, WEAK_INT, WeakType, element

_refuse_none = Deferred("pytocu.frontend.list_kinds", "refuse_none")
_rows_of = Deferred("pytocu.frontend.grown", "rows_of")


def _arrays(context: Context, arrays: Any, name: str) -> list[Value]:
    """The operands, as arrays."""
    if isinstance(arrays, Members):
        raise no_number(context, arrays)
    if not isinstance(arrays, (tuple, list)):
        raise UnsupportedError(f"np.{name} takes a tuple or list of arrays here", context.loc, f"write np.{name}((a, b))")
    return [array_of(context, a) for a in arrays]


def _members(context: Context, arrays: Any, function: Any, what: str = "concatenate") -> Value | None:
    """The array whose members along its first axis are joined, or None where the operands are a list or tuple.

    Raises
    ------
    TypeError, ValueError
        NumPy's, of an array without axes and of one without members.
    """
    if not isinstance(arrays, Value | np.generic):
        return None
    value = as_value(context, arrays)
    if not dimensions(value):
        attempt(context, function, stand_in(value))
    sentence = f"need at least one array to {what}"
    require_equal(context, dim_min(dimensions(value)[0], 1), 1, "ValueError", sentence)
    return value


def _join_members(context: Context, value: Value, axis: Any) -> Value:
    """The members of an array one after the other along one of their axes: the first axis is merged with that one."""
    place = normal_axis(context, axis, len(dimensions(value)) - 1)
    order = (*range(1, place + 1), 0, *range(place + 1, len(dimensions(value))))
    moved = context.builder.emit("transpose", (value,), {"axes": order}) if place else value
    shape = dimensions(moved)
    merged = (*shape[:place], shape[place] * shape[place + 1], *shape[place + 2 :])
    made = copied(context, context.builder.emit("reshape", (moved,), {"shape": merged, "source": shape}))
    member = context.builder.emit("index", (value,), {"axis": 0, "at": 0})
    return laid_out(context, made, (member,), partial(joined_ranks, (member,), merged))


def _common(
    context: Context, values: Sequence[Value], dtype: Any, casting: Any, deciding: Sequence[Value] | None = None
) -> list[Value]:
    """The operands in one dtype, which is that of the values that decide: the operands themselves unless others are given."""
    attempt(context, np.concatenate, ([0],), casting=known_option(context, casting, "casting="))
    if dtype is None:
        found = attempt(context, promote.result_dtype, tuple(promote.operand(v.type) for v in deciding or values))
    else:
        found = target_dtype(context, dtype)
    for value, given in zip(values, deciding or values, strict=True):
        if dtype is None and isinstance(given.type, WeakType):
            # A Python scalar adapts to the arrays.
            continue
        source = element(value.type).numpy
        if not attempt(context, np.can_cast, source, found.numpy, casting):
            what = "array data" if deciding is None or dimensions(given) else "scalar"
            text = f"Cannot cast {what} from {source!r} to {found.numpy!r} according to the rule '{casting}'"
            raise raised(TypeError(text), context.loc)
    return [cast(context, v, found) for v in values]


def concatenate(
    context: Context, arrays: Any, /, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: Any = "same_kind"
) -> Value:
    """Arrays one after the other along an axis.

    Raises
    ------
    CompileError
        Shapes that do not fit; NumPy's sentence.
    """
    if out is not None:
        dtype = _dtype_of_output(context, out, dtype, arrays)
        return _write(context, concatenate(context, arrays, axis, dtype=dtype, casting=casting), out)
    if isinstance(arrays, Grown):
        return _one_after_the_other(context, _rows(context, arrays, "concatenate", dtype, casting), axis)
    members = _members(context, arrays, np.concatenate)
    if members is not None:
        if len(dimensions(members)) == 1 and axis is not None:
            raise raised(ValueError("zero-dimensional arrays cannot be concatenated"), context.loc)
        (value,) = _common(context, (members,), dtype, casting)
        return copied(context, ravel(context, value)) if axis is None else _join_members(context, value, axis)
    values = _arrays(context, arrays, "concatenate")
    if not values:
        raise raised(ValueError("need at least one array to concatenate"), context.loc)
    deciding = values
    if axis is None:
        # Python scalars are weak here, and nowhere else in a join.
        deciding = [as_value(context, a) for a in arrays]
        values, axis = [ravel(context, v) for v in values], 0
    if not dimensions(values[0]):
        raise raised(ValueError("zero-dimensional arrays cannot be concatenated"), context.loc)
    # NumPy compares shapes before it looks at dtypes.
    place = _place(context, values, axis)
    return _joined(context, _common(context, values, dtype, casting, deciding), place, values)


def _dtype_of_output(context: Context, out: Any, dtype: Any, arrays: Any) -> Any:
    if dtype is not None:
        text = "concatenate() only takes `out` or `dtype` as an argument, but both were provided."
        raise raised(TypeError(text), context.loc)
    if not is_array(out):
        raise raised(TypeError("'out' must be an array"), context.loc)
    for array in arrays if isinstance(arrays, (tuple, list)) else ():
        # NumPy writes one array after the other.
        if isinstance(array, Value) and is_array(array) and not context.builder.apart(out, array):
            help = "assign the result: out[...] = ..."
            raise UnsupportedError("a join with an out= that is one of the arrays, or a view of it", context.loc, help)
    return element(out.type).numpy


def _write(context: Context, made: Value, out: Value) -> Value:
    sentences = "'out' must be an array", "Output array is the wrong shape", "Output array has wrong dimensionality"
    return write_result(context, made, out, *sentences, what=DESTINATION)


def _join(context: Context, values: Sequence[Value], axis: Any) -> Value:
    """Arrays of one dtype one after the other."""
    return _joined(context, values, _place(context, values, axis), values)


def _place(context: Context, values: Sequence[Value], axis: Any) -> int:
    """The number of the axis along which arrays are joined, of which is stated that they have the same other lengths."""
    first = dimensions(values[0])
    place = normal_axis(context, axis, len(first))
    for number, value in enumerate(values):
        shape = dimensions(value)
        if len(shape) != len(first):
            raise raised(
                ValueError(
                    "all the input arrays must have same number of dimensions, but the array at index 0 has "
                    f"{len(first)} dimension(s) and the array at index {number} has {len(shape)} dimension(s)"
                ),
                context.loc,
            )
        for a, (wanted, length) in enumerate(zip(first, shape, strict=True)):
            sentence = (
                "all the input array dimensions except for the concatenation axis must match exactly, but along dimension "
                f"{a}, the array at index 0 has size {{0}} and the array at index {number} has size {{1}}"
            )
            if a != place:
                require_equal(context, wanted, length, "ValueError", sentence, operands=values)
    return place


def _joined(context: Context, values: Sequence[Value], place: int, parts: Sequence[Value]) -> Value:
    """Arrays of one dtype one after the other along an axis; they lie in memory as the `parts` do."""
    kept = [v for v in values if dimensions(v)[place] != 0] or values[:1]
    made = copied(context, kept[0]) if len(kept) == 1 else context.builder.emit("concatenate", kept, {"axis": place})
    # NumPy asks arrays without elements too in which order their axes are.
    none = {v: ranks_without_elements(context, v) for v in parts if 0 in dimensions(v)}
    return laid_out(context, made, parts, lambda known: joined_ranks(parts, dimensions(made), {**known, **none}))


def _rows(context: Context, grown: Grown, name: str, dtype: Any, casting: Any) -> Value:
    """The members of a list that a loop has made, which are rows of one array."""
    _refuse_none(context, grown, "as arrays")
    rows = _rows_of(context, grown)
    require_equal(context, dim_min(dimensions(rows)[0], 1), 1, "ValueError", f"need at least one array to {name}")
    return _common(context, [rows], dtype, casting)[0]


def _from_first(context: Context, rows: Value, axis: int) -> Value:
    """A new array with the first axis at another place."""
    others = [a for a in range(len(dimensions(rows))) if a]
    axes = (*others[:axis], 0, *others[axis:])
    return copied(context, context.builder.emit("transpose", (rows,), {"axes": axes}) if axis else rows)


def _one_after_the_other(context: Context, rows: Value, axis: Any) -> Value:
    """The rows joined along one of their axes, or flat."""
    shape = dimensions(rows)[1:]
    if axis is None:
        return copied(context, ravel(context, rows))
    if not shape:
        raise raised(ValueError("zero-dimensional arrays cannot be concatenated"), context.loc)
    place = normal_axis(context, axis, len(shape))
    turned = _from_first(context, rows, place)
    joined = (*shape[:place], dimensions(rows)[0] * shape[place], *shape[place + 1 :])
    return context.builder.emit("reshape", (turned,), {"shape": joined, "source": dimensions(turned)})


def stack(
    context: Context, arrays: Any, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: Any = "same_kind"
) -> Value:
    """Arrays of one shape along a new axis."""
    if out is not None:
        dtype = _dtype_of_output(context, out, dtype, arrays)
        return _write(context, stack(context, arrays, axis, dtype=dtype, casting=casting), out)
    if isinstance(arrays, Grown):
        rows = _rows(context, arrays, "stack", dtype, casting)
        return _from_first(context, rows, normal_axis(context, axis, len(dimensions(rows))))
    members = _members(context, arrays, np.stack, "stack")
    if members is not None:
        (value,) = _common(context, (members,), dtype, casting)
        place = normal_axis(context, axis, len(dimensions(value)))
        made = copied(context, moveaxis(context, value, 0, place))
        member = context.builder.emit("index", (value,), {"axis": 0, "at": 0})
        layer = context.builder.emit("newaxis", (member,), {"axis": place})
        return laid_out(context, made, (layer,), partial(joined_ranks, (layer,), dimensions(made)))
    values = _arrays(context, arrays, "stack")
    if not values:
        raise raised(ValueError("need at least one array to stack"), context.loc)
    first = dimensions(values[0])
    for value in values[1:]:
        if len(dimensions(value)) != len(first):
            raise raised(ValueError("all input arrays must have the same shape"), context.loc)
        for wanted, length in zip(first, dimensions(value), strict=True):
            sentence = "all input arrays must have the same shape"
            require_equal(context, wanted, length, "ValueError", sentence, operands=values)
    place = normal_axis(context, axis, len(first) + 1)
    layers = [context.builder.emit("newaxis", (v,), {"axis": place}) for v in _common(context, values, dtype, casting)]
    return _join(context, layers, place)


def joined(ndim: int, axis: int) -> Handler:
    """``np.vstack``, and ``np.dstack`` which takes no dtype."""

    def handler(context: Context, tup: Any, *, dtype: Any = None, casting: Any = "same_kind") -> Value:
        """Arrays with at least so many axes, joined along one of them."""
        if isinstance(tup, Grown):
            rows = _raised_members(context, _rows(context, tup, "concatenate", dtype, casting), ndim)
            return _one_after_the_other(context, rows, axis)
        members = _members(context, tup, np.vstack if axis == 0 else np.dstack)
        if members is not None:
            return concatenate(context, _raised_members(context, members, ndim), axis, dtype=dtype, casting=casting)
        values = [at_least(ndim)(context, v) for v in _arrays(context, tup, "stack")]
        return concatenate(context, values, axis, dtype=dtype, casting=casting)

    return handler


def dstack(context: Context, tup: Any) -> Value:
    """Arrays with at least three axes, joined along the third."""
    return joined(3, 2)(context, tup)


def _raised_members(context: Context, value: Value, ndim: int) -> Value:
    """An array whose members have at least so many axes, as ``np.atleast_2d`` and ``np.atleast_3d`` give them these."""
    count = len(dimensions(value)) - 1
    for missing in range(count, ndim):
        # A matrix gets its third axis behind the others.
        value = context.builder.emit("newaxis", (value,), {"axis": 3 if missing == 2 else 1})
    return value


def hstack(context: Context, tup: Any, *, dtype: Any = None, casting: Any = "same_kind") -> Value:
    """Arrays side by side."""
    if isinstance(tup, Grown):
        rows = _rows(context, tup, "concatenate", dtype, casting)
        if len(dimensions(rows)) == 1:
            return _from_first(context, rows, 0)
        return _one_after_the_other(context, rows, 0 if len(dimensions(rows)) == 2 else 1)
    members = _members(context, tup, np.hstack)
    if members is not None:
        if len(dimensions(members)) == 1:
            members = context.builder.emit("newaxis", (members,), {"axis": 1})
        axis = 0 if len(dimensions(members)) == 2 else 1
        return concatenate(context, members, axis, dtype=dtype, casting=casting)
    values = [v if dimensions(v) else as_row(context, v) for v in _arrays(context, tup, "hstack")]
    axis = 0 if values and len(dimensions(values[0])) == 1 else 1
    return concatenate(context, values, axis, dtype=dtype, casting=casting)


def as_row(context: Context, value: Value) -> Value:
    """The value with an axis of length 1 in front."""
    return context.builder.emit("newaxis", (value,), {"axis": 0})


def column_stack(context: Context, tup: Any) -> Value:
    """Arrays of one axis as columns."""
    if isinstance(tup, Grown):
        rows = _rows(context, tup, "concatenate", None, "same_kind")
        rows = rows if len(dimensions(rows)) > 1 else context.builder.emit("newaxis", (rows,), {"axis": 1})
        return _from_first(context, rows, 1) if len(dimensions(rows)) == 2 else _one_after_the_other(context, rows, 1)
    columns: list[Value] = []
    members = _members(context, tup, np.column_stack)
    if members is not None:
        while len(dimensions(members)) < 3:
            members = context.builder.emit("newaxis", (members,), {"axis": len(dimensions(members))})
        return concatenate(context, members, 1)
    for value in _arrays(context, tup, "column_stack"):
        row = value if dimensions(value) else as_row(context, value)
        columns.append(row if len(dimensions(row)) > 1 else context.builder.emit("newaxis", (row,), {"axis": 1}))
    return concatenate(context, columns, 1)


def append(context: Context, arr: Any, values: Any, axis: Any = None) -> Value:
    """Values behind an array."""
    if axis is None:
        return concatenate(context, (ravel(context, array_of(context, arr)), ravel(context, array_of(context, values))), 0)
    return concatenate(context, (arr, values), axis)


# Pad, roll, repeat.


def roll(context: Context, a: Any, shift: Any, axis: Any = None) -> Value:
    """Elements moved along axes; what leaves at one end comes in at the other."""
    value = array_of(context, a)
    axis = known_option(context, axis, "axis=")
    if not contains_dynamic(shift):
        # NumPy says what is wrong with numbers known now.
        attempt(context, np.roll, stand_in(value), shift, axis)
    if axis is None:
        shape = dimensions(value)
        flat = ravel(context, value) if len(shape) != 1 else value
        if isinstance(shift, (tuple, list, range)):
            shift = reduce(lambda total, by: binary(context, "add", total, by), shift, 0)
        moved = _rolled(context, flat, _shifts(context, shift)[0], 0)
        if len(shape) == 1:
            return moved
        attrs = {"shape": shape, "source": dimensions(moved)}
        return copied(context, context.builder.emit("reshape", (moved,), attrs))
    axes = several(axis)
    shifts = _shifts(context, shift)
    if not axes or (not shifts and len(axes) == 1):
        return copied(context, value)
    if len(axes) != len(shifts):
        if len(shifts) != 1 and len(axes) != 1:
            attempt(context, np.broadcast, np.zeros(len(shifts)), np.zeros(len(axes)))
        count = max(len(axes), len(shifts))
        axes, shifts = axes * (count // len(axes)), shifts * (count // len(shifts))
    rolled = value
    for place, by in zip(axes, shifts, strict=True):
        rolled = _rolled(context, rolled, by, normal_axis(context, place, len(dimensions(value))))
    return laid_out_as(context, rolled, value, "K")


def _shifts(context: Context, shift: Any) -> tuple[DimLike | Value, ...]:
    """How far elements move: numbers known now, lengths, and ints of run time or in the data."""
    found: list[DimLike | Value] = []
    for given in several(shift):
        # As NumPy takes numbers known now.
        item: Any = int(given) if isinstance(given, (bool, float, np.bool_, np.floating)) else given
        if isinstance(item, Value) and dimensions(item):
            help = "write out a tuple of ints, one for each axis"
            raise UnsupportedError("np.roll by an array is not compiled", context.loc, help)
        if isinstance(item, Value) and not dimensions(item) and _is_bool_or_float(item):
            item = evaluated(context, "int(item)", {"item": item})
        number = isinstance(item, Value) and not dimensions(item) and as_dim(item) is None
        whole = number and (item.type == WEAK_INT or (not isinstance(item.type, WeakType) and element(item.type).is_integer))
        # A length that is computed of lengths may be below 0 here.
        dim = as_dim(item)
        found.append(item if whole else dim if dim is not None else as_length(context, item))
    return tuple(found)


def _is_bool_or_float(value: Value) -> bool:
    return value.type in (WEAK_BOOL, WEAK_FLOAT) if is_weak(value) else element(value.type).kind in "bf"


def _rolled(context: Context, value: Value, shift: DimLike | Value, axis: int) -> Value:
    length = dimensions(value)[axis]
    if isinstance(shift, Value):
        # Which elements come in at the other end is known only when they are read.
        by = cast(context, as_strong(context, shift), I64)
        size = as_strong(context, dim_value(context, length if isinstance(length, int) and length > 0 else dim_max(length, 1)))
        numbers = context.builder.emit("iota", (), {"axis": 0, "shape": (length,)})
        back = elementwise(context, "subtract", numbers, elementwise(context, "remainder", by, size))
        return take(context, value, back, axis, mode="wrap")
    back = modulo(shift, length if isinstance(length, int) and length > 0 else dim_max(length, 1))
    if back == 0:
        return copied(context, value)
    pieces = [part(context, value, axis, length - back, back), part(context, value, axis, 0, length - back)]
    return context.builder.emit("concatenate", pieces, {"axis": axis})


def part(context: Context, value: Value, axis: int, start: DimLike, size: DimLike) -> Value:
    """A stretch of an axis that is known to be inside of it."""
    shape = dimensions(value)
    attrs = {
        "start": tuple(start if a == axis else 0 for a in range(len(shape))),
        "step": (1,) * len(shape),
        "size": (*shape[:axis], size, *shape[axis + 1 :]),
    }
    return context.builder.emit("slice", (value,), attrs)


def tile(context: Context, A: Any, reps: Any) -> Value:
    """An array repeated as a whole along its axes."""
    value = array_of(context, A)
    # Truth values are ints here.
    whole = [int(r) if isinstance(r, bool) else r for r in several(reps)]
    while len(dimensions(value)) < len(whole):
        value = as_row(context, value)
    whole = [*[1] * (len(dimensions(value)) - len(whole)), *whole]
    counts = [_count(context, r, d) for r, d in zip(whole, dimensions(value), strict=True)]
    whole, given = value, tuple(counts)
    for axis, count in enumerate(counts):
        if isinstance(count, int) and 1 < count <= _FEW and dimensions(value)[axis] != 1:
            # Cheaper than a remainder for each element.
            value = context.builder.emit("concatenate", [value] * count, {"axis": axis})
            counts[axis] = 1
    made = copied(context, _repeated(context, value, counts, inner=False))
    return laid_out_as(context, made, whole, "K") if all(count == 1 for count in given) else row_major(context, made)


_FEW = 4


def _count(context: Context, repeats: Any, size: DimLike) -> DimLike:
    """How often the elements of an axis are repeated; where it has none, less than not at all will do."""
    count = as_length(context, repeats, beyond=TOO_LARGE, elements=size)
    if isinstance(count, int) and count < 0:
        require_equal(context, size, 0, "ValueError", NEGATIVE)
        return 0
    return count


def _repeated(context: Context, value: Value, counts: Sequence[DimLike], inner: bool) -> Value:
    """Each axis repeated: as a whole, or (inner) each of its elements."""
    shape = dimensions(value)
    grid: list[DimLike] = []
    wide: list[DimLike] = []
    for length, count in zip(shape, counts, strict=True):
        if count == 1:
            grid.append(length)
            wide.append(length)
        else:
            grid.extend((length, 1) if inner else (1, length))
            wide.extend((length, count) if inner else (count, length))
    expanded = context.builder.emit("reshape", (value,), {"shape": tuple(grid), "source": shape})
    repeated = broadcast(context, expanded, tuple(wide))
    made = tuple(length * count for length, count in zip(shape, counts, strict=True))
    return context.builder.emit("reshape", (repeated,), {"shape": made, "source": tuple(wide)})


def repeat(context: Context, value: Value, repeats: Any, axis: Any = None) -> Value:
    """Each element repeated a number of times, or as often as its own number says."""
    if isinstance(repeats, (tuple, list)) and contains_dynamic(repeats):
        repeats = [_whole(context, member) for member in repeats]
    elif is_weak(repeats):
        repeats = _whole(context, repeats)
    if isinstance(repeats, (tuple, list)) and len(repeats) == 1:
        repeats = repeats[0]
    if is_number(repeats):
        # NumPy cuts off a fraction of what is no array.
        repeats = attempt(context, np.array, repeats, np.int64).item()
    if isinstance(repeats, (tuple, list)) or (not is_weak(repeats) and not isinstance(repeats, np.integer)):
        value, place = along_axis(context, value, axis)
        return _repeated_by(context, value, place, repeats)
    value, place = along_axis(context, value, axis)
    count = _count(context, repeats, dimensions(value)[place])
    counts = [count if a == place else 1 for a in range(len(dimensions(value)))]
    return row_major(context, copied(context, _repeated(context, value, counts, inner=True)))


def _whole(context: Context, number: Any) -> Any:
    """The int that NumPy makes of a number of repeats that is Python's, or a member of a list, as Python does."""
    if not isinstance(number, Value):
        return number
    if dimensions(number):
        sequence = "setting an array element with a sequence. "
        text = f"{sequence}The requested array would exceed the maximum number of dimension of 1."
        raise raised(ValueError(text), context.loc, "give the array itself")
    if not is_weak(number) or number.type != WEAK_FLOAT:
        return evaluated(context, "int(number)", {"int": int, "number": number})
    beyond = f"if not -2.0**63 <= number < 2.0**63:\n    raise OverflowError('{TOO_LARGE}')"
    names = {"int": int, "number": number, "OverflowError": OverflowError}
    return after(context, f"whole = int(number)\n{beyond}", names, "whole")


def _repeated_by(context: Context, value: Value, place: int, repeats: Any) -> Value:
    """The elements of an axis, each as often as a number for it says: those whose numbers end behind a position."""
    known: np.ndarray | None = None
    if isinstance(repeats, (tuple, list)) and not contains_dynamic(repeats):
        known = attempt(context, np.array, repeats, np.int64)
    counts = array_of(context, repeats) if known is None else known_array(context, known)
    if len(dimensions(counts)) > 1:
        raise raised(ValueError("object too deep for desired array"), context.loc)
    if known is None and not is_numpy_scalar(repeats):
        attempt(context, np.repeat, np.zeros(1), np.ones((1,) * len(dimensions(counts)), element(counts.type).numpy))
    size = dimensions(value)[place]
    wanted = dimensions(counts)[0] if dimensions(counts) else 1
    sentence = "operands could not be broadcast together with shape ({1},) ({0},)"
    if wanted != 1:
        unsure = is_length(context, wanted, 1) is None
        require_equal(context, wanted, size, "ValueError", sentence, broadcast=unsure)
    counts = cast(context, counts, I64)
    fine = elementwise(context, "greater_equal", counts, np.int64(0))
    if wanted == 1:
        # No element is repeated less than not at all.
        fine = elementwise(context, "bitwise_or", fine, elementwise(context, "equal", dim_value(context, size), 0))
    sentence = NEGATIVE if wanted == 1 else "repeats may not contain negative values."
    counts = require(context, counts, fine, "ValueError", sentence)
    counts = broadcast(context, counts, (size,)) if wanted == 1 else counts
    (total,) = combined(context, "add", (counts,), (0,), False)
    ends = context.builder.emit("keep", (context.builder.emit("scan", (counts,), {"op": "add", "axis": 0}),))
    length = int(known.sum()) if known is not None else read_length(context, total, MOST_REPEATED, "repeated")
    numbers = context.builder.emit("iota", (), {"axis": 0, "shape": (length,)})
    found = context.builder.emit("search", (ends, elementwise(context, "add", numbers, np.int64(1))))
    return row_major(context, context.builder.emit("gather", (value, found), {"axes": (place,), "at": place}))


MOST_REPEATED = 2**40
"""The longest axis whose length is a sum of numbers in the data."""


METHODS: dict[str, Handler] = {"repeat": repeat}

FUNCTIONS: dict[str, Handler] = {
    "concatenate": concatenate,
    "stack": stack,
    "vstack": joined(2, 0),
    "hstack": hstack,
    "dstack": dstack,
    "column_stack": column_stack,
    "append": append,
    "roll": roll,
    "tile": tile,
    "repeat": lambda context, a, repeats, axis=None: repeat(context, array_of(context, a), repeats, axis),
}
"""By NumPy's name; parameters are called as NumPy calls them."""
