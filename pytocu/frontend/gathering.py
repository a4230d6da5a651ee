"""Indexing with integer arrays: elements at positions that are known only at run time.

Every position is compared with the length of its axis (see `pytocu.frontend.requirements`), and no
other memory than the array's is read, whatever it is.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any

import numpy as np

from pytocu.deferred import Deferred
from pytocu.errors import IndexingError, UnsupportedError, raised
from pytocu.frontend import indexing
from pytocu.frontend.axes import normal_axis
from pytocu.frontend.compaction import check_masks, masks_to_positions, read_length
from pytocu.frontend.inplace import COPIED, write_result
from pytocu.frontend.layouts import laid_out, row_major
from pytocu.frontend.literals import known_array
from pytocu.frontend.masked import is_mask
from pytocu.frontend.operators import TOO_LARGE, attempt, elementwise, example
from pytocu.frontend.ranges import is_position, number_as_dim
from pytocu.frontend.requirements import compares, is_length, require, require_equal
from pytocu.frontend.reshaping import along_axis, array_of, copied, ravel, together, with_zero
from pytocu.frontend.tables import Handler
from pytocu.frontend.values import (
    Context,
    Masked,
    as_value,
    cast,
    contains_dynamic,
    convert,
    dim_value,
    dimensions,
    is_array,
    is_numpy_scalar,
    is_weak,
    with_axes,
)
from pytocu.ir import promote
from pytocu.ir.core import Value, named
from pytocu.ir.dims import DimLike, dim_max, dim_min, is_number, product
from pytocu.ir.layouts import chosen_ranks
from pytocu.ir.types import BOOL, I64, U64, WEAK_BOOL, WEAK_INT, DType, ScalarType, WeakType, element, scalar, type_text

_read_int = Deferred("pytocu.frontend.reading", "read_int")
_reduce = Deferred("pytocu.frontend.reductions", "reduce")


def has_positions(base: Any, key: Any) -> bool:
    """Whether an assignment to ``base[key]`` is through arrays of positions, or masks beside which more stands than slices."""
    if not is_array(base) and not isinstance(base, Masked):
        return False
    items = key if isinstance(key, tuple) else (key,)
    if any(isinstance(k, (bool, np.bool_)) for k in items):
        return False
    return any(isinstance(k, (list, np.ndarray)) or is_array(k) for k in items)


def subscript(context: Context, value: Value, key: Any) -> Value:
    """``value[key]``; see `pytocu.frontend.indexing` for keys without arrays.

    Raises
    ------
    IndexingError
        Too many indices, an index of another dtype, or positions that do not broadcast; NumPy's
        sentences.  A position out of bounds raises when the code has run.
    UnsupportedError
        A mask.
    """
    keys = key if isinstance(key, tuple) else (key,)
    if context.elements is not None and is_array(value):
        # Which elements are read is for each element of the arguments to see.
        keys = tuple(_own_position(context, k) for k in keys)
        key = keys if isinstance(key, tuple) else keys[0]
    elif context.in_side and is_array(value) and len(keys) == len(dimensions(value)) and all(map(_is_int, keys)):
        # The host would have to compare it in each step.
        inside = [indexing.is_inside(context, k, n) for k, n in zip(keys, dimensions(value), strict=True)]
        keys = tuple(k if fits else _own_position(context, k) for k, fits in zip(keys, inside, strict=True))
        key = keys
    if is_array(value) and indexing.has_bool(keys):
        return copied(context, indexing.axis_for_bool(context, value, keys))
    if is_array(value) and any(map(is_mask, keys)):
        check_masks(context, value, keys)
        keys = masks_to_positions(context, keys)
    if isinstance(value.type, WeakType | ScalarType) or not any(_is_array_index(context, k) for k in keys):
        return indexing.subscript(context, value, key)
    for item in keys:
        # NumPy looks at each item before it counts them.
        if not isinstance(item, (Value, list)) and item is not None and item is not Ellipsis:
            indexing.check_item(context, item)
    items = _expanded(context, value, [_item(context, k) for k in keys])
    return _gather_items(context, value, items, Ellipsis in [k for k in keys if not isinstance(k, Value)])


def _own_position(context: Context, item: Any) -> Any:
    """A Python int as a position that an element has for itself; anything else as it is."""
    return convert(context, as_value(context, item), I64) if _is_int(item) else item


def _is_int(item: Any) -> bool:
    return type(item) is int or (isinstance(item, Value) and item.type == WEAK_INT)


def _is_array_index(context: Context, item: Any) -> bool:
    """An array, a list, or a number that is computed of data."""
    if isinstance(item, list):
        return True
    return isinstance(item, Value) and not is_position(context, item)


def as_position(context: Context, index: Value) -> Value:
    """An integer index as an int64, or NumPy's error of a number that it does not hold; of arrays low bits are taken."""
    if element(index.type) is U64 and not dimensions(index):
        fine = elementwise(context, "less", index, np.uint64(2**63))
        index = require(context, index, fine, "OverflowError", str(TOO_LARGE))
    return cast(context, index, I64)


def _item(context: Context, item: Any) -> Any:
    """An index as an int64 value, where it is not one of basic indexing."""
    if isinstance(item, list):
        return _list(context, item)
    if not isinstance(item, Value) or is_position(context, item):
        return item
    if isinstance(item.type, WeakType):
        if item.type == WEAK_INT:
            return convert(context, item, I64)
        if item.type == WEAK_BOOL:
            raise indexing.bool_of_run_time(context)
    elif element(item.type) is BOOL:
        text = "an index that is one bool beside integers or arrays is not compiled"
        raise UnsupportedError(text, context.loc, "index with the rest, and choose with np.where")
    elif element(item.type).is_integer:
        return as_position(context, item)
    if is_array(item):
        message = "arrays used as indices must be of integer (or boolean) type"
        raise IndexingError(message, context.loc, f"the index is {type_text(item.type)}: convert it with astype(np.int64)")
    raise IndexingError(NO_INDEX, context.loc)


NO_INDEX = (
    "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid indices"
)


def _list(context: Context, item: list[Any]) -> Value:
    """A list of integers as an array."""
    if contains_dynamic(item):
        raise UnsupportedError(
            "a list with values known only at run time is used as an index", context.loc, "np.stack makes an array of them"
        )
    known = attempt(context, np.asarray, item)
    if known.dtype == bool:
        raise UnsupportedError("indexing with a mask is not compiled", context.loc, "choose with np.where(mask, x, other)")
    if known.size and known.dtype.kind not in "iu":
        raise IndexingError(NO_INDEX, context.loc)
    return known_array(context, known.astype(np.int64))


def _expanded(context: Context, value: Value, keys: list[Any]) -> list[Any]:
    """One item an axis of the array, and the new axes; what `...` stands for is slices behind a mark."""
    ndim = len(dimensions(value))
    used = sum(k is not None and k is not Ellipsis for k in keys)
    if sum(k is Ellipsis for k in keys) > 1:
        raise IndexingError("an index can only have a single ellipsis ('...')", context.loc)
    if used > ndim:
        text = f"too many indices for array: array is {ndim}-dimensional, but {used} were indexed"
        raise IndexingError(text, context.loc, f"write at most {ndim}, one for each axis")
    rest = [slice(None)] * (ndim - used)
    if not any(k is Ellipsis for k in keys):
        return [*keys, *rest]
    at = next(n for n, k in enumerate(keys) if k is Ellipsis)
    return [*keys[:at], Ellipsis, *rest, *keys[at + 1 :]]


def _gather_items(context: Context, value: Value, items: list[Any], keep: bool) -> Value:
    """Basic items first, then the elements, then new axes: NumPy's order of axes."""
    chosen = [n for n, item in enumerate(items) if not (item is None or item is Ellipsis or isinstance(item, slice))]
    # A number beside arrays counts as an array of one position.
    arrays = any(is_array(items[n]) for n in chosen)
    together_ = chosen if arrays else []
    adjacent = all(b == a + 1 for a, b in itertools.pairwise(together_))
    plain = [item for item in items if item is not None and item is not Ellipsis]
    basic = tuple(slice(None) if _is_array_index(context, item) else item for item in plain)
    source = indexing.subscript(context, value, (*basic, Ellipsis)) if any(b != slice(None) for b in basic) else value
    axes: list[int] = []
    positions: list[Value] = []
    axis = 0
    for number, item in enumerate(plain):
        if isinstance(item, slice):
            axis += 1
        elif _is_array_index(context, item):
            axes.append(axis)
            # Beside no positions NumPy looks at numbers alone.
            others = [plain[n] for n in range(len(plain)) if n != number] if dimensions(item) else []
            rest = [d for other in others if _is_array_index(context, other) for d in dimensions(other)]
            positions.append(_compared(context, item, dimensions(source)[axis], number, rest))
            axis += 1
    before = items[: together_[0]] if arrays and adjacent else []
    at = sum(isinstance(item, slice) for item in before)
    made = gather(context, source, axes, positions, at)
    if keep and not is_array(made):
        made = context.builder.emit("as_array", (made,))
    return _with_new_axes(context, made, items, before, positions)


def _with_new_axes(
    context: Context, made: Value, items: Sequence[Any], before: Sequence[Any], positions: Sequence[Value]
) -> Value:
    count = max(len(dimensions(p)) for p in positions)
    place = sum(item is None or isinstance(item, slice) for item in before)
    axis = 0
    passed = 0
    if not before:
        axis = count
    for item in items:
        if before and passed == place and axis < place + count:
            axis = place + count
        if item is None or isinstance(item, slice):
            if item is None:
                made = context.builder.emit("newaxis", (made,), {"axis": axis})
            axis += 1
            passed += 1
    return made


def gather(context: Context, source: Value, axes: Sequence[int], positions: Sequence[Value], at: int) -> Value:
    """Elements at positions on axes; the positions broadcast, and their axes begin at `at`.

    Where no element is taken because another axis has none, positions are looked at all the same.
    """
    made = taken(context, source, axes, positions, at)
    shape, fitted = dimensions(made), made.inst.args[1:] if made.inst is not None else ()
    laid_out(context, made, (source, *fitted), partial(chosen_ranks, source, axes, at, fitted, shape))
    looks = numpy_looks() and none_left(context, [d for axis, d in enumerate(dimensions(source)) if axis not in axes])
    # Beside no positions NumPy looks at numbers alone.
    numbers = [p for p in positions if not dimensions(p)]
    none = (looks or numbers) and none_left(context, [d for p in positions for d in dimensions(p)])
    for position in numbers if none else positions if looks else ():
        look_at(context, position)
    return made


def taken(context: Context, source: Value, axes: Sequence[int], positions: Sequence[Value], at: int) -> Value:
    """As :func:`gather`; positions of which no element is taken are not looked at."""
    text = "shape mismatch: indexing arrays could not be broadcast together with shapes "
    fitted = together(context, positions, "IndexError", text)
    return context.builder.emit("gather", (source, *fitted), {"axes": tuple(axes), "at": at})


@lru_cache
def numpy_looks() -> bool:
    """Whether NumPy looks at positions of which no element is taken; older versions only warn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            np.zeros((1, 0))[np.array([1])]
        except IndexError:
            return True
    return False


def none_left(context: Context, dims: Sequence[DimLike]) -> bool:
    """Whether one of the axes has no element in the call that compiles."""
    return any(is_length(context, dim, 0) for dim in dims)


def look_at(context: Context, position: Value) -> None:
    """Let the host wait for positions of which no element is taken: one that is out of bounds is an error all the same."""
    if context.elements is None and not context.in_side and not context.in_steps:
        largest = _reduce(context, "maximum", array_of(context, position), None, initial=0)
        read_length(context, cast(context, largest, I64), 2**63 - 1, "position")


def checked(context: Context, position: Value, length: DimLike, axis: int, rest: Sequence[DimLike] = ()) -> Value:
    """Positions counted from the front; an IndexError where one is outside of the axis.

    Of an axis without elements none is wanted where one of the `rest` has none either.
    """
    made = position.inst
    if made is not None and made.op.name == "cast" and isinstance(length, int):
        given = element(made.args[0].type)
        if given.kind == "u" and np.iinfo(given.numpy).max < length:
            # Every number of the dtype is a position.
            return position
    size = dim_value(context, length)
    sentence = f"index {{0}} is out of bounds for axis {axis} with size {{1}}"
    if (is_array(position) or context.elements is None) and is_length(context, length, 0):
        _refuse_any(context, position, sentence, rest)
    else:
        refuse_empty(context, position, length, f"index 0 is out of bounds for axis {axis} with size 0", rest)
    negative = elementwise(context, "less", position, 0)
    several = is_array(position) or context.elements is not None
    # Whether a single position is Python's int makes no difference: the sum of one below 0 and a length always fits.
    extent = size if several else cast(context, as_value(context, size), element(position.type))
    front = elementwise(context, "where", negative, elementwise(context, "add", position, extent), position)
    if several:
        # One comparison: as unsigned numbers those below 0 are too large.
        inside = elementwise(context, "less", cast(context, front, U64), cast(context, as_value(context, size), U64))
    else:
        # An unsigned number of Python's int is another one than of NumPy's.
        low, high = elementwise(context, "greater_equal", front, 0), elementwise(context, "less", front, extent)
        inside = elementwise(context, "bitwise_and", low, high)
    return _like(context, require(context, front, inside, "IndexError", sentence, position, (length,)), position)


def _compared(context: Context, position: Value, length: DimLike, axis: int, rest: Sequence[DimLike]) -> Value:
    """As :func:`checked`; numbers known now the call compares, whatever is computed of what stands there."""
    others = product(tuple(rest))
    none = compares(context, others, "<=", 0)
    if none:
        return position
    known = _known_numbers(position)
    if known is None or context.elements is not None or context.in_side or context.in_steps:
        return checked(context, position, length, axis, rest)
    some = dim_min(others, 1) if none is None else 1
    for number in known:
        least = number + 1 if number >= 0 else -number
        sentence = f"index {number} is out of bounds for axis {axis} with size {{0}}"
        require_equal(context, some * dim_min(length, least), some * least, "IndexError", sentence)
    if not known or min(known) >= 0:
        return position
    front = elementwise(context, "add", position, dim_value(context, length))
    if max(known) < 0:
        return front
    return elementwise(context, "where", elementwise(context, "less", position, 0), front, position)


def _known_numbers(position: Value) -> list[int] | None:
    """The numbers of an array that is written out; None of other values."""
    if is_array(position) and not all(isinstance(length, int) for length in dimensions(position)):
        # A call may bring none of them, and then nothing is compared.
        return None
    inst = position.inst
    while inst is not None and inst.op.name in ("copy", "reshape", "broadcast", "as_array"):
        inst = inst.args[0].inst
    if inst is None or not is_array(position):
        return None
    if 0 in dimensions(position):
        return []
    if inst.op.name == "const":
        return [inst.attr("value")]
    if inst.op.name != "concatenate":
        return None
    parts = [_known_numbers(a) for a in inst.args]
    return None if any(p is None for p in parts) else [number for part in parts for number in part or ()]


def _like(context: Context, made: Value, position: Value) -> Value:
    """Without axes as a NumPy scalar where the position is one."""
    if not is_array(position) and is_array(made):
        return context.builder.emit("cast", (made,), {}, (scalar(element(made.type)),))
    return made


def refuse_empty(context: Context, positions: Value, length: DimLike, sentence: str, rest: Sequence[DimLike] = ()) -> None:
    """An axis without elements has no position at all; nothing is wanted of it where one of the `rest` has none."""
    wanted = product((*dimensions(positions), *rest, *(context.elements or ()), *_steps_around(context)))
    none = (1 - dim_min(length, 1)) * dim_min(wanted, 1)
    require_equal(context, none, 0, "IndexError", sentence)


def _steps_around(context: Context) -> list[DimLike]:
    """How many steps the loops of an element's function have, by lengths of the call: without a step nothing is wanted."""
    counts = [] if context.elements is None else [numbers[1] for numbers in context.counting if numbers is not None]
    return [count for count in counts if not any(map(is_number, named((count,))))]


def _refuse_any(context: Context, positions: Value, sentence: str, rest: Sequence[DimLike]) -> None:
    """An axis without elements has none of these positions, of which the host reads the first."""
    told: list[bool | None] = []
    for dim in dimensions(positions):
        told.append(is_length(context, dim, 0))
        if told[-1]:
            return
    first = positions
    if dimensions(positions):
        flat = ravel(context, positions)
        # What a run counts may be none.
        flat = with_zero(context, flat) if None in told else flat
        first = context.builder.emit("index", (flat,), {"axis": 0, "at": 0})
    number = number_as_dim(context, _read_int(context, first, "an index"))
    assert number is not None
    wanted = dim_min(product((*dimensions(positions), *rest)), 1)
    require_equal(context, wanted, 0, "IndexError", sentence.replace("{0}", "{2}").replace("{1}", "0"), number)


TAKEN = "output array does not match result of ndarray.take"
"""What NumPy says of ``out=`` with another shape."""


def write_taken(context: Context, made: Value, out: Any) -> Value:
    """Write elements that were taken from an array into another one, of which NumPy first converts what it holds."""
    written = write_result(context, made, out, "output must be an array", TAKEN, what=COPIED)
    place = np.zeros((1,) * len(dimensions(out)), np.intp)
    target = np.zeros_like(place, element(out.type).numpy)
    attempt(context, np.take, np.zeros(1, element(made.type).numpy), place, out=target)
    return written


def take(context: Context, value: Value, indices: Any, axis: Any = None, out: Any = None, mode: Any = "raise") -> Value:
    """``x.take(indices, axis)``: elements at positions of one axis, or of all elements in a row.

    Raises
    ------
    CompileError
        Indices that NumPy does not cast to integers, another mode.
    """
    if out is not None:
        made = take(context, value, indices, axis, None, mode)
        return write_taken(context, made, out)
    if isinstance(indices, (list, tuple)):
        positions = known_array(context, attempt(context, _as_positions, indices)) if not contains_dynamic(indices) else None
        if positions is None:
            raise UnsupportedError("a list of values known only at run time", context.loc, "np.stack makes an array of them")
    else:
        positions = as_value(context, indices)
        if isinstance(positions.type, WeakType):
            positions = convert(context, positions, I64)
        # NumPy takes its scalars for Python's numbers, of which it cuts off a fraction.
        example = np.zeros(() if is_numpy_scalar(positions) else (1,), element(positions.type).numpy)
        attempt(context, _as_positions, example[()])
        positions = cast(context, positions, I64)
    attempt(context, np.take, np.zeros(1), 0, mode=mode)
    source, place = along_axis(context, value, axis)
    length = dimensions(source)[place]
    before, behind = dimensions(source)[:place], dimensions(source)[place + 1 :]
    refuse_empty(context, positions, length, "cannot do a non-empty take from an empty axes.", (*before, *behind))
    # NumPy looks at no position where an axis before has no element.
    none = none_left(context, before)
    chosen = _by_mode(context, positions, length, place, "clip" if none else mode, (*before, *behind))
    if not none and none_left(context, behind):
        look_at(context, chosen)
    return row_major(context, taken(context, source, [place], [chosen], place))


def _as_positions(indices: Any) -> np.ndarray:
    """As NumPy casts them: an array to integers that hold its dtype, and each number of a list for itself."""
    given = np.asarray(indices)
    if given.dtype.kind not in "biufc":
        np.zeros(1).take(indices)
    zeros = given * 0 if given.size else given.astype(int)
    np.zeros(1).take(zeros.tolist() if isinstance(indices, (list, tuple)) else zeros)
    if isinstance(indices, (list, tuple)) and given.dtype == np.uint64:
        # A number of a list that int64 does not hold is an error, and one of an array another number.
        return np.asarray(indices, np.int64)
    return given.astype(np.int64)


def _by_mode(
    context: Context, positions: Value, length: DimLike, axis: int, mode: str, rest: Sequence[DimLike]
) -> Value:
    size = dim_value(context, length)
    match mode:
        case "wrap":
            return _like(context, elementwise(context, "remainder", positions, _positive(context, length)), positions)
        case "clip":
            below = elementwise(context, "minimum", positions, _last(context, length))
            return _like(context, elementwise(context, "maximum", below, 0), positions)
    assert size is not None
    return checked(context, positions, length, axis, rest)


def _positive(context: Context, length: DimLike) -> Any:
    return dim_value(context, 1 if length == 0 else length)


def _last(context: Context, length: DimLike) -> Any:
    return dim_value(context, length + (-1))


def take_along_axis(context: Context, arr: Any, indices: Any, axis: Any = -1) -> Value:
    """Elements at positions along an axis, one position for each of them.

    Raises
    ------
    CompileError
        Other numbers of axes, indices of another dtype.
    """
    if axis is not None:
        with_axes(context, arr, "ndim")
    value, place = array_of(context, arr), 0
    # In NumPy's order: what has no dtype comes behind the axis.
    if axis is not None:
        place = normal_axis(context, int(axis) if isinstance(axis, bool) else axis, len(dimensions(value)))
    if isinstance(indices, (list, tuple)) or is_weak(indices):
        given = example(indices) if isinstance(indices, Value) else indices
        attempt(context, np.take_along_axis, np.zeros(1), given, None if axis is None else 0)
    positions = array_of(context, indices)
    if axis is None:
        if len(dimensions(positions)) != 1:
            raise raised(ValueError("when axis=None, `indices` must have a single dimension."), context.loc)
        value = ravel(context, value)
    if element(positions.type).kind not in "iu":
        raise IndexingError("`indices` must be an integer array", context.loc)
    ndim = len(dimensions(value))
    if len(dimensions(positions)) != ndim:
        raise raised(ValueError("`indices` and `arr` must have the same number of dimensions"), context.loc)
    length = dimensions(value)[place]
    wanted = [checked(context, cast(context, positions, I64), length, place) if a == place else None for a in range(ndim)]
    every = [p if p is not None else along(context, dimensions(value)[a], a, ndim) for a, p in enumerate(wanted)]
    return gather(context, value, range(ndim), every, 0)


def along(context: Context, length: DimLike, axis: int, ndim: int) -> Value:
    """The positions of one axis, as an array with that many axes."""
    shape = tuple(length if a == axis else 1 for a in range(ndim))
    return context.builder.emit("iota", (), {"axis": axis, "shape": shape})


def choose(context: Context, a: Any, choices: Any, out: Any = None, mode: Any = "raise") -> Value:
    """An element of the choice whose number stands in `a`."""
    if out is not None:
        sentence = "choose: invalid shape for output array."
        made = choose(context, a, choices, None, mode)
        return write_result(context, made, out, "output must be an array", sentence, error=TypeError)
    number = array_of(context, a)
    attempt(context, np.choose, np.zeros((1,) * len(dimensions(number)), element(number.type).numpy), [np.zeros(1)], mode=mode)
    number = cast(context, number, I64)
    if not isinstance(choices, (list, tuple)):
        return _choose_row(context, number, array_of(context, choices), mode)
    if not choices:
        attempt(context, np.choose, 0, choices)
    given = [as_value(context, c) for c in choices]
    dtype = attempt(context, promote.result_dtype, tuple(promote.operand(v.type) for v in given))
    values = [low_bits(context, v, dtype) for v in given]
    *values, number = together(context, [*values, number])
    if mode == "wrap":
        number = elementwise(context, "remainder", number, len(values))
    made = values[-1]
    for place in range(len(values) - 2, -1, -1):
        row = "less_equal" if place == 0 else "equal"
        made = row_major(context, elementwise(context, "where", elementwise(context, row, number, place), values[place], made))
    if mode == "raise":
        # Of the result and not of the numbers, which nothing reads where all choices are one.
        made = _of_a_choice(context, made, number, len(values))
    return made if dimensions(made) else indexing.subscript(context, array_of(context, made), ())


_NO_CHOICE = "invalid entry in choice array"


def _of_a_choice(context: Context, made: Value, number: Value, count: Any) -> Value:
    """The value, which demands that the numbers are those of choices, of which there are `count`."""
    inside = elementwise(context, "greater_equal", number, 0)
    inside = elementwise(context, "bitwise_and", inside, elementwise(context, "less", number, count))
    return require(context, made, inside, "ValueError", _NO_CHOICE)


def _choose_row(context: Context, number: Value, choices: Value, mode: str) -> Value:
    """An element of the row of an array whose number stands in `number`."""
    if not dimensions(choices):
        raise raised(TypeError("iteration over a 0-d array"), context.loc)
    length, *rest = dimensions(choices)
    require_equal(context, dim_min(length, 1), 1, "ValueError", "0-length sequence.")
    most = _most_choices()
    require_equal(context, dim_max(length, most), most, "ValueError", f"Need at least 0 and at most {most + 1} array objects.")
    count = dim_value(context, length)
    match mode:
        case "wrap":
            number = elementwise(context, "remainder", number, count)
        case "raise":
            number = _of_a_choice(context, number, number, count)
        case "clip":
            number = elementwise(context, "maximum", number, 0)
            number = elementwise(context, "minimum", number, elementwise(context, "subtract", as_value(context, count), 1))
    first = context.builder.emit("index", (choices,), {"axis": 0, "at": 0, "keep": True})
    together(context, [first, number], numbers=(0, length))
    every = [along(context, d, a, len(rest)) for a, d in enumerate(rest)]
    made = row_major(context, gather(context, choices, range(1 + len(rest)), [number, *every], 0))
    return made if dimensions(made) else indexing.subscript(context, array_of(context, made), ())


@lru_cache
def _most_choices() -> int:
    """How many choices NumPy takes."""
    try:
        np.choose(0, np.zeros(1000))
    except ValueError as error:
        return int(str(error).split()[-3]) - 1
    raise AssertionError("NumPy takes a thousand choices")


def low_bits(context: Context, value: Value, dtype: DType) -> Value:
    """As another dtype; of a Python int that an integer dtype does not hold the low bits are taken."""
    if value.type != WEAK_INT or not dtype.is_integer:
        return cast(context, value, dtype)
    return context.builder.emit("convert", (value,), {"wrap": True}, (scalar(dtype),))


def _choose_of(context: Context, a: Value, *choices: Any, out: Any = None, mode: Any = "raise") -> Value:
    """``a.choose(x, y)``, or of one list."""
    return choose(context, a, choices[0] if len(choices) == 1 else choices, out, mode)


METHODS: dict[str, Handler] = {"take": take, "choose": _choose_of}

FUNCTIONS: dict[str, Handler] = {
    "take": lambda context, a, indices, axis=None, out=None, mode="raise": take(
        context, array_of(context, a), indices, axis, out, mode
    ),
    "take_along_axis": take_along_axis,
    "choose": choose,
}
"""By NumPy's name; parameters are called as NumPy calls them."""
