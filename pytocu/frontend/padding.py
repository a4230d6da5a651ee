"""``np.pad``: arrays with a border, axis after axis, as NumPy makes it.

Nothing is copied where a border has elements of the array or given numbers: they are read where they are, in the kernel
that needs them.  Borders of statistics and ramps are NumPy's own functions of stretches of the array.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pytocu.errors import UnsupportedError, raised
from pytocu.frontend.axes import normal_axis
from pytocu.frontend.gathering import along, gather
from pytocu.frontend.inplace import number_in
from pytocu.frontend.joining import part
from pytocu.frontend.operators import attempt, elementwise
from pytocu.frontend.requirements import require_equal
from pytocu.frontend.reshaping import array_of, as_shape, broadcast, broadcast_to, contiguous_as, copied
from pytocu.frontend.tables import Handler
from pytocu.frontend.ufunc_calls import without_axes
from pytocu.frontend.values import Context, as_element, as_strong, cast, dim_value, dimensions, is_number
from pytocu.frontend.worded import evaluated
from pytocu.ir.core import Value
from pytocu.ir.dims import DimLike, dim_max, dim_min, product
from pytocu.ir.types import DType, element

_STATISTICS = {"maximum": np.amax, "minimum": np.amin, "mean": np.mean, "median": np.median}

_KEYWORDS = {
    "constant": "constant_values",
    "edge": None,
    "empty": None,
    "linear_ramp": "end_values",
    "reflect": "reflect_type",
    "symmetric": "reflect_type",
    "wrap": None,
    **dict.fromkeys(_STATISTICS, "stat_length"),
}
"""The keyword that each mode takes."""

Side = Callable[[Value, int, DimLike, bool], Value]
"""The border of an array along an axis, of a width, before or behind."""


def pad(context: Context, array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> Value:
    """An array with a border.

    Raises
    ------
    UnsupportedError
        A function as the mode, or an odd reflection longer than the array.
    """
    value = array_of(context, array)
    ndim = len(dimensions(value))
    if isinstance(pad_width, dict):
        # NumPy's answer, which older versions have none for.
        attempt(context, np.pad, np.zeros((1,) * ndim), {axis: 0 for axis in pad_width if isinstance(axis, int)})
    widths = _pairs(context, pad_width, ndim)
    if not isinstance(mode, str):
        text = "np.pad with a mode that is no text is not compiled"
        raise UnsupportedError(text, context.loc, "compute the border and use np.concatenate")
    if mode not in _KEYWORDS:
        attempt(context, np.pad, np.zeros(1), 0, mode)
    extra = set(kwargs) - {_KEYWORDS[mode]}
    if extra:
        raise raised(ValueError(f"unsupported keyword arguments for mode '{mode}': {extra}"), context.loc)
    side = _side(context, value, mode, kwargs)
    given, whole = value, dimensions(value)
    for axis, (before, after) in enumerate(widths):
        borders = [None if w == 0 else side(value, axis, w, behind) for w, behind in ((before, False), (after, True))]
        pieces = [p for p in (borders[0], value, borders[1]) if p is not None]
        if len(pieces) > 1:
            value = context.builder.emit("concatenate", pieces, {"axis": axis})
    return contiguous_as(context, value if dimensions(value) != whole else copied(context, value), given)


def _side(context: Context, value: Value, mode: str, kwargs: dict[str, Any]) -> Side:
    """What makes the borders of a mode."""
    ndim, dtype = len(dimensions(value)), element(value.type)
    given = kwargs.get(_KEYWORDS[mode] or "")
    match mode:
        case "constant" | "empty":
            fills = _fills(context, kwargs.get("constant_values", 0), ndim, dtype)

            def constant(value: Value, axis: int, width: DimLike, behind: bool) -> Value:
                return broadcast(context, fills[axis][behind], _wide(value, axis, width))

            return constant
        case "linear_ramp":
            ends = _ends(context, kwargs.get("end_values", 0), ndim)
            return lambda value, axis, width, behind: _ramp(context, value, axis, width, behind, ends[axis][behind])
        case "reflect" | "symmetric" if given == "odd":
            return lambda value, axis, width, behind: _odd(context, value, axis, width, behind, mode == "reflect")
        case _ if mode in _STATISTICS:
            lengths: list[tuple[Any, Any]] = [(None, None)] * ndim
            if given is not None:
                lengths = [*_pairs(context, _rounded(given), ndim)]
            _some(context, value, mode, lengths)
            return lambda value, axis, width, behind: _statistic(
                context, value, axis, width, behind, mode, lengths[axis][behind]
            )
    return lambda value, axis, width, behind: _border(context, value, axis, width, behind, mode)


def _wide(value: Value, axis: int, width: DimLike) -> tuple[DimLike, ...]:
    shape = dimensions(value)
    return (*shape[:axis], width, *shape[axis + 1 :])


_NO_WIDTH = TypeError("`pad_width` must be of integral type.")
"""What NumPy raises of an array of widths of which int64 does not hold one."""


def _pairs(context: Context, widths: Any, ndim: int) -> list[tuple[DimLike, DimLike]]:
    """Before and after, for each axis."""
    if isinstance(widths, dict):
        made: list[Any] = [(0, 0)] * ndim
        for axis, width in widths.items():
            made[normal_axis(context, axis, ndim)] = width if isinstance(width, (tuple, list)) else (width, width)
        widths = made
    leaves, pairs = _paired(context, widths, ndim)
    if not leaves:
        raise raised(_NO_WIDTH, context.loc)
    found = as_shape(context, tuple(leaves), _BORDER, beyond=_NO_WIDTH)
    if any(isinstance(d, int) and d < 0 for d in found):
        raise raised(ValueError(_BORDER), context.loc)
    return [(found[before], found[after]) for before, after in pairs()]


def _paired(context: Context, given: Any, ndim: int) -> tuple[list[Any], Callable[[], list[tuple[int, int]]]]:
    """The items of nested lists, and what gives the numbers of two of them for each axis, as NumPy repeats them.

    Raises
    ------
    ValueError
        The lists are no array, or the array does not repeat to two numbers for each axis; NumPy's sentences.
    """
    leaves: list[Any] = []

    def numbered(item: Any) -> Any:
        if isinstance(item, (tuple, list, range)):
            return [numbered(one) for one in item]
        leaves.append(item)
        return len(leaves) - 1

    numbers = attempt(context, np.array, numbered(given), np.intp)

    def pairs() -> list[tuple[int, int]]:
        # One or two numbers are those of each axis, but for a column of two.
        if numbers.ndim < 3 and (numbers.size == 1 or (numbers.size == 2 and numbers.shape != (2, 1))):
            return [(0, numbers.size - 1)] * ndim
        return [(before, after) for before, after in attempt(context, np.broadcast_to, numbers, (ndim, 2)).tolist()]

    return leaves, pairs


def _rounded(lengths: Any) -> Any:
    """Numbers of elements, which NumPy rounds."""
    if isinstance(lengths, (tuple, list, range)):
        return tuple(map(_rounded, lengths))
    return int(np.round(lengths)) if isinstance(lengths, (float, np.floating)) and np.isfinite(lengths) else lengths


_BORDER = "index can't contain negative values"


def _fills(context: Context, given: Any, ndim: int, dtype: DType) -> list[tuple[Value, Value]]:
    """The numbers of a border, for each axis before and after."""
    if isinstance(given, Value) and dimensions(given):
        # NumPy repeats the numbers of an array to two for each axis.
        table = broadcast_to(context, given, (ndim, 2))
        found = [[_element(context, table, axis, side, dtype) for side in (0, 1)] for axis in range(ndim)]
        return [(before, after) for before, after in found]

    def number(item: Any) -> Value:
        if is_number(item):
            # NumPy assigns an element of the array that it makes of the numbers.
            return number_in(context, np.asarray(item)[()], dtype)
        found = without_axes(context, as_strong(context, item))
        if dimensions(found):
            help = "make an array of the numbers first, or write them out"
            raise UnsupportedError("np.pad with arrays in a list of constant_values=", context.loc, help)
        return as_element(context, found, dtype)

    leaves, pairs = _paired(context, given, ndim)
    made = [number(item) for item in leaves]
    return [(made[before], made[after]) for before, after in pairs()]


def _element(context: Context, table: Value, axis: int, side: int, dtype: DType) -> Value:
    """A number of a border in the array's dtype, as an element is assigned."""
    row = context.builder.emit("index", (table,), {"axis": 0, "at": axis})
    found = context.builder.emit("index", (row,), {"axis": 0, "at": side})
    return as_element(context, found, dtype)


def _ends(context: Context, given: Any, ndim: int) -> list[tuple[Any, Any]]:
    """The last numbers of ramps, for each axis before and after: NumPy scalars where each axis has the same, else Python's."""
    if not is_number(given) and not isinstance(given, (tuple, list)):
        text = "np.pad with end_values= that are known only at run time is not compiled"
        raise UnsupportedError(text, context.loc, "name the argument in @jit(static=(...)), or add x.T[0] * np.linspace(...)")
    numbers = attempt(context, np.array, given)
    _, pairs = _paired(context, numbers.tolist(), ndim)
    flat = numbers.ravel() if numbers.size < 3 and numbers.shape != (2, 1) else numbers.ravel().tolist()
    return [(flat[before], flat[after]) for before, after in pairs()]


def _not_empty(context: Context, value: Value, axis: int) -> DimLike:
    """The length of an axis that has elements."""
    length = dimensions(value)[axis]
    sentence = f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'"
    require_equal(context, dim_min(length, 1), 1, "ValueError", sentence)
    return length


def _edge(context: Context, value: Value, axis: int, behind: bool) -> Value:
    length = dimensions(value)[axis]
    return part(context, value, axis, length + (-1) if behind else 0, 1)


def _border(context: Context, value: Value, axis: int, width: DimLike, behind: bool, mode: str) -> Value:
    """The border of one side: elements of the array at positions that go on from it."""
    length = _not_empty(context, value, axis)
    if mode == "edge":
        return broadcast(context, _edge(context, value, axis, behind), _wide(value, axis, width))
    place = along(context, width, 0, 1)
    place = elementwise(context, "add" if behind else "subtract", place, dim_value(context, length if behind else width))
    periods = {"wrap": length, "symmetric": length * 2, "reflect": length * 2 - 2}
    period = dim_max(periods[mode], 1)
    place = elementwise(context, "remainder", place, dim_value(context, period))
    if mode != "wrap":
        # The second half of a period goes back.
        end = dim_value(context, period - (mode == "symmetric"))
        place = elementwise(context, "minimum", place, elementwise(context, "subtract", end, place))
    return gather(context, value, [axis], [place], axis)


def _odd(context: Context, value: Value, axis: int, width: DimLike, behind: bool, inner: bool) -> Value:
    """What a reflection goes through the edge with: twice the edge without the even reflection."""
    length = _not_empty(context, value, axis)
    if length == 1:
        return _border(context, value, axis, width, behind, "edge")
    # A longer border reflects what is reflected, and rounds each time; of one element NumPy repeats it.
    text = "np.pad with reflect_type='odd' and a border that is longer than what is reflected"
    require_equal(context, dim_max(width + inner, length), length, "UnsupportedError", text, help="pad several times")
    require_equal(context, dim_min(length, 2), 2, "UnsupportedError", _SINGLE, help="use mode='edge'")
    mirrored = _border(context, value, axis, width, behind, "reflect" if inner else "symmetric")
    names = {"edge": _edge(context, value, axis, behind), "mirrored": mirrored}
    return cast(context, evaluated(context, "2 * edge - mirrored", names), element(value.type))


_SINGLE = "np.pad with reflect_type='odd' of a part of one element"


def _ramp(context: Context, value: Value, axis: int, width: DimLike, behind: bool, end: Any) -> Value:
    """Numbers at equal distances from an end to the edge."""
    _not_empty(context, value, axis)
    edge = context.builder.emit("index", (_edge(context, value, axis, behind),), {"axis": axis, "at": 0})
    names = {"np": np, "end": end, "edge": edge, "width": dim_value(context, width), "axis": axis}
    names["dtype"] = element(value.type).numpy
    text = "np.linspace(end, edge, width, endpoint=False, dtype=dtype, axis=axis)"
    return evaluated(context, f"np.flip({text}, axis)" if behind else text, names)


def _some(context: Context, value: Value, mode: str, lengths: list[tuple[Any, Any]]) -> None:
    """Of no elements there is no greatest and no least, also where no border is made of it."""
    if mode in ("maximum", "minimum") and any(0 in pair for pair in lengths):
        size = dim_min(product(dimensions(value)), 1)
        require_equal(context, size, 0, "ValueError", "stat_length of 0 yields no value for padding")


def _statistic(
    context: Context, value: Value, axis: int, width: DimLike, behind: bool, mode: str, count: DimLike | None
) -> Value:
    """A statistic of the elements next to the border, or of all of the axis."""
    length, dtype = _not_empty(context, value, axis), element(value.type)
    # Of no elements there is no greatest and no least, and then nobody reads this one.
    count = length if count is None else dim_min(length, dim_max(count, 1) if mode in ("maximum", "minimum") else count)
    near = part(context, value, axis, length - count if behind else 0, count)
    names = {"np": np, "function": _STATISTICS[mode], "near": near, "axis": axis}
    text = "function(near, axis=axis, keepdims=True)"
    # NumPy rounds what goes into an array of integers.
    made = evaluated(context, f"np.round({text})" if dtype.is_integer else text, names)
    return broadcast(context, cast(context, made, dtype), _wide(value, axis, width))


FUNCTIONS: dict[str, Handler] = {"pad": pad}
"""By NumPy's name; parameters are called as NumPy calls them."""
