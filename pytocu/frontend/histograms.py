"""Counting into bins and ``ufunc.at``.  Numbers are counted by a library; anything else is combined with what is at its place,
in the order of the operand, so sums are NumPy's bit for bit (see `pytocu.passes.combining`).
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pytocu.deferred import Deferred
from pytocu.errors import UnsupportedError, raised
from pytocu.frontend.compaction import check_masks, masks_to_positions, read_length
from pytocu.frontend.gathering import checked, low_bits
from pytocu.frontend.gathering import subscript as index
from pytocu.frontend.inplace import note_write
from pytocu.frontend.library_calls import call, search
from pytocu.frontend.masked import is_mask
from pytocu.frontend.operators import TOO_LARGE, attempt, elementwise, known_option
from pytocu.frontend.reductions import combined, length, reduce, repeated
from pytocu.frontend.requirements import is_length, require, require_equal
from pytocu.frontend.reshaping import SIZE, array_of, as_length, filled, ravel
from pytocu.frontend.scattering import combine, numbered
from pytocu.frontend.spaced_numbers import linspace
from pytocu.frontend.values import Context, Masked, as_value, cast, const_inst, dim_value, dimensions, is_array, is_weak
from pytocu.ir import promote
from pytocu.ir.core import Value
from pytocu.ir.dims import DimLike, dim_max, dim_min, lower_bound, product
from pytocu.ir.types import BOOL, F32, F64, I64, U8, U64, DType, WeakType, element, scalar

_index_arrays = Deferred("pytocu.frontend.subscripts", "index_arrays")

MOST_BINS = 2**28
"""The longest result whose length is a number in the data."""

AT = ("add", "subtract", "multiply", "maximum", "minimum", "fmax", "fmin", "bitwise_and", "bitwise_or", "bitwise_xor",
       "logical_and", "logical_or")  # fmt: skip
"""The ufuncs whose ``at`` is compiled."""


def bincount(context: Context, x: Any, /, weights: Any = None, minlength: Any = 0) -> Value:
    """How often each number from 0 on occurs, or the sums of their weights"""
    value = array_of(context, x)
    if len(dimensions(value)) != 1:
        deep = "object too deep" if dimensions(value) else "object of too small depth"
        raise raised(ValueError(f"{deep} for desired array"), context.loc)
    if dimensions(value) == (0,) and isinstance(x, (list, tuple, range)):
        # No numbers are an array of float64, which newer versions take for one of ints here.
        attempt(context, np.bincount, x)
        value = cast(context, value, I64)
    # Nor are there weights to add up.
    weights = None if weights is None or is_length(context, dimensions(value)[0], 0) else weights
    attempt(context, np.bincount, np.zeros(1, element(value.type).numpy))
    sentence = "'minlength' must not be negative"
    least = as_length(context, minlength, sentence, beyond=TOO_LARGE)
    if isinstance(least, int) and least < 0:
        raise raised(ValueError(sentence), context.loc)
    (size,) = dimensions(value)
    # As NumPy converts them, but what fits stays as short as it is.
    places = cast(context, value, {BOOL: U8, U64: I64}.get(element(value.type), element(value.type)))
    if element(places.type).kind == "u" and isinstance(least, int) and least > np.iinfo(element(places.type).numpy).max:
        # No number of the dtype needs another bin.
        return _counted(context, places, size, weights, least)
    ends = [combined(context, row, (places,), (0,), False)[0] for row in ("minimum", "maximum")]
    smallest, largest = (cast(context, end, I64) for end in ends)
    # No numbers have a largest one, too, which says nothing.
    # The length behind the largest int64 would be negative; what is too large is refused when it is read.
    largest = elementwise(context, "minimum", largest, length(context, 2**63 - 2))
    some, more = length(context, dim_min(size, 1)), elementwise(context, "add", largest, length(context, 1))
    wanted = elementwise(context, "maximum", elementwise(context, "multiply", more, some), length(context, least))
    fine = elementwise(context, "greater_equal", smallest, length(context, 0))
    wanted = require(context, wanted, fine, "ValueError", "'list' argument must have no negative elements")
    return _counted(context, places, size, weights, read_length(context, wanted, MOST_BINS, "bins"))


def _counted(context: Context, places: Value, size: DimLike, weights: Any, count: DimLike) -> Value:
    """How often each number below the count occurs, or the sums of their weights."""
    if weights is None:
        start = filled(context, length(context, 0), (count,))
        (made,) = call(context, "counts", (start, places))
        return made
    given = array_of(context, weights)
    attempt(context, np.bincount, np.zeros(1, int), np.ones((1,) * len(dimensions(given)), element(given.type).numpy))
    sentence = "The weights and list don't have the same length."
    require_equal(context, size, dimensions(given)[0], "ValueError", sentence)
    start = filled(context, context.builder.const(0.0, scalar(F64)), (count,))
    return folded(context, "add", start, places, cast(context, given, F64))


def folded(context: Context, row: str, start: Value, places: Value, values: Value) -> Value:
    """Each element of `start` combined with the values for its place, in their order; short integers are sorted faster."""
    return context.builder.emit("combine_at", (start, places, values), {"op": row})


def at(context: Context, name: str, a: Any, indices: Any, b: Any = None) -> None:
    """``ufunc.at(a, indices, b)``: each element that is named combined with its values, in their order.

    Raises
    ------
    UnsupportedError
        Another ufunc, or values that do not convert to the dtype.
    """
    if name not in AT:
        raise UnsupportedError(f"np.{name}.at is not compiled", context.loc, f"compiled are those of {', '.join(AT)}")
    if not is_array(a):
        raise raised(TypeError("first operand must be array"), context.loc)
    note_write(context, a, "array to perform in place operation on")
    if b is None:
        raise raised(ValueError("second operand needed for ufunc"), context.loc)
    dtype = element(a.type)
    values = as_value(context, b)
    # A Python scalar does not adapt here: NumPy makes an array of it first.
    loop, _ = attempt(context, promote.ufunc_loop, name, (dtype, promote.strong(values.type)))
    if loop[0] is not dtype and not name.startswith("logical") and not _same_steps(name, values, dtype, loop[0]):
        raise UnsupportedError(
            f"np.{name}.at computes in {loop[0].numpy} and rounds to {dtype.numpy} at every step",
            context.loc,
            f"convert the values: b.astype(np.{dtype.numpy})",
        )
    row = {"logical_and": "bitwise_and", "logical_or": "bitwise_or"}.get(name, name)
    if name.startswith("logical") and dtype.kind != "b":
        raise UnsupportedError(f"np.{name}.at is compiled for bools", context.loc, "compare first: a != 0")
    places = _places_of(context, a, _index_arrays(context, a, indices))
    given = low_bits(context, values, dtype)
    _check_values(context, dimensions(given), dimensions(places))
    spread = ravel(context, repeated(context, given, dimensions(places)))
    combine(context, a, row, places, spread)


def _places_of(context: Context, a: Value, indices: Any) -> Value:
    """The numbers, counted over all elements of an array, of those that an index names, in the shape of ``a[indices]``."""
    items = indices if isinstance(indices, tuple) else (indices,)
    if any(isinstance(item, Masked) or is_mask(item) for item in items):
        check_masks(context, a, items)
        items = masks_to_positions(context, items)
        indices = items[0] if len(items) == 1 else items
    if len(dimensions(a)) == 1 and isinstance(indices, Value) and is_array(indices) and element(indices.type).is_integer:
        return checked(context, cast(context, indices, I64), dimensions(a)[0], 0)
    return array_of(context, index(context, numbered(context, dimensions(a)), items))


def _check_values(context: Context, given: Sequence[DimLike], wanted: Sequence[DimLike]) -> None:
    """Values broadcast to what is indexed."""
    sentence = "array is not broadcastable to correct shape"
    if len(given) > len(wanted):
        raise raised(ValueError(sentence), context.loc)
    for own, whole in zip(given[::-1], wanted[::-1], strict=False):
        if own != 1:
            require_equal(context, own, whole, "ValueError", sentence, broadcast=True)


def _same_steps(name: str, value: Value, dtype: DType, loop: DType) -> bool:
    """Whether steps in the dtype give what those in the loop's dtype give, rounded to the dtype each."""
    if not isinstance(value.type, WeakType) or name not in ("add", "subtract", "multiply"):
        return False
    if dtype.kind in "iu" and loop.kind in "iu":
        # Both have the same low bits.
        return True
    known = const_inst(value)
    if known is None or dtype.kind not in "fc" or loop.kind != dtype.kind or (name == "multiply" and dtype.kind == "c"):
        return False
    # Twice the digits and two more: a result that is rounded twice is rounded once.
    with np.errstate(all="ignore"):
        return bool(dtype.numpy.type(known.attr("value")).item() == known.attr("value"))


# Histograms.


def histogram(
    context: Context, a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Value, Value]:
    """How many elements lie between given edges, or the sums of their weights, and the edges"""
    whole = array_of(context, a)
    if weights is not None:
        weights = _weights_of(context, weights, whole)
    value = _subtractable(context, ravel(context, whole))
    edges = _edges(context, value, bins, range)
    common = promote.result_dtype((element(value.type), element(edges.type)))
    if common.kind not in "biuf":
        raise UnsupportedError("np.histogram of complex numbers is not compiled", context.loc, "count the real parts")
    (number,) = dimensions(edges)
    # No edges have nothing between them.
    gaps = dim_max(number - 1, 0)
    table = context.builder.emit("keep", (cast(context, edges, common),))
    values = cast(context, value, common)
    equal = is_weak(bins) and common in (F32, F64)
    places = _guessed(context, table, values, gaps) if equal else _found(context, table, values, number)
    # The first place is that of numbers before the first edge, and the last one that of those behind the last edge.
    total = gaps + 2
    if weights is None:
        (made,) = call(context, "counts", (filled(context, length(context, 0), (total,)), places))
    else:
        given = ravel(context, weights)
        dtype = element(given.type)
        if dtype.kind not in "iuf":
            raise UnsupportedError("np.histogram with weights that are not real numbers", context.loc, "convert the weights")
        # Floats are added in float64, as NumPy does for bins of one width.
        wide = F64 if dtype.kind == "f" else dtype
        start = filled(context, context.builder.const(0, scalar(wide)), (total,))
        made = cast(context, folded(context, "add", start, places, cast(context, given, wide)), dtype)
    made = context.builder.emit("copy", (_slice(context, made, 1, gaps),))
    if known_option(context, density, "density="):
        ends = _slice(context, edges, dim_min(number, 1), gaps), _slice(context, edges, 0, gaps)
        widths = elementwise(context, "subtract", *ends)
        total = reduce(context, "add", made, None)
        made = elementwise(context, "divide", elementwise(context, "divide", made, cast(context, widths, F64)), total)
    # An array of edges is handed back itself.
    return made, bins if is_array(bins) else edges


def histogram_bin_edges(context: Context, a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Value:
    """The edges of the bins of a histogram"""
    whole = array_of(context, a)
    if weights is not None:
        _weights_of(context, weights, whole)
    return _edges(context, _subtractable(context, ravel(context, whole)), bins, range)


_SAME_SHAPE = "weights should have the same shape as a."


def _weights_of(context: Context, weights: Any, value: Value) -> Value:
    """Weights, which have the shape of the numbers."""
    given = array_of(context, weights)
    if len(dimensions(given)) != len(dimensions(value)):
        raise raised(ValueError(_SAME_SHAPE), context.loc)
    for ours, theirs in zip(dimensions(value), dimensions(given), strict=True):
        require_equal(context, ours, theirs, "ValueError", _SAME_SHAPE)
    return given


def _found(context: Context, edges: Value, values: Value, number: DimLike) -> Value:
    """How many edges do not lie behind each number, which is searched among them; the last edge is inside of the last bin."""
    found = search(context, edges, values, True)
    # No edges have no last one.
    none = context.builder.emit("broadcast", (context.builder.const(0, scalar(element(edges.type))),),
                                {"shape": (1,), "expand": (0,), "ndim": 0})  # fmt: skip
    some = context.builder.emit("concatenate", (edges, none), {"axis": 0})
    last = context.builder.emit("index", (some,), {"axis": 0, "at": dim_max(number - 1, 0)})
    on_edge = cast(context, elementwise(context, "equal", values, last), I64)
    return elementwise(context, "maximum", elementwise(context, "subtract", found, on_edge), length(context, 0))


def _guessed(context: Context, edges: Value, values: Value, gaps: DimLike) -> Value:
    """The same where bins are equally wide: a bin is computed, as NumPy does, and then compared with its edges."""
    emit = context.builder.emit
    first, last = (emit("index", (edges,), {"axis": 0, "at": at}) for at in (0, gaps))
    zero, one, top = (length(context, n) for n in (0, 1, gaps - 1))

    def edge(place: Value) -> Value:
        return emit("gather", (edges, place), {"axes": (0,), "at": 0})

    kept = [elementwise(context, row, values, end) for row, end in (("greater_equal", first), ("less_equal", last))]
    inside = elementwise(context, "bitwise_and", *kept)
    width = elementwise(context, "subtract", last, first)
    guess = elementwise(context, "divide", elementwise(context, "subtract", values, first), width)
    guess = elementwise(context, "multiply", guess, cast(context, length(context, gaps), element(values.type)))
    guess = elementwise(context, "where", inside, guess, 0)
    number = elementwise(context, "maximum", elementwise(context, "minimum", cast(context, guess, I64), top), zero)
    below = cast(context, elementwise(context, "less", values, edge(number)), I64)
    # One less than the first bin where it is no number of a bin anyway.
    behind = elementwise(context, "add", elementwise(context, "subtract", number, below), one)
    above = elementwise(context, "greater_equal", values, edge(behind))
    above = elementwise(context, "bitwise_and", above, elementwise(context, "less_equal", behind, top))
    found = elementwise(context, "add", behind, cast(context, above, I64))
    return elementwise(context, "where", inside, found, zero)


def _slice(context: Context, value: Value, start: DimLike, size: DimLike) -> Value:
    return context.builder.emit("slice", (value,), {"start": (start,), "step": (1,), "size": (size,)})


def _edges(context: Context, value: Value, bins: Any, range: Any) -> Value:
    """The edges of the bins, checked to ascend."""
    sentence = "`bins` must be positive, when an integer"
    number = as_length(context, bins, sentence, beyond=SIZE) if is_weak(bins) else None
    if number is None:
        if isinstance(bins, str):
            raise UnsupportedError(f"np.histogram with bins={bins!r} is not compiled", context.loc, "give a number and a range")
        edges = array_of(context, bins)
        if not dimensions(edges):
            # NumPy asks it for its int.
            attempt(context, np.histogram_bin_edges, np.ones(1), np.ones((), element(edges.type).numpy))
            text = "a number of bins that is an array without axes is not compiled"
            raise UnsupportedError(text, context.loc, "make it a Python int: int(bins)")
        if len(dimensions(edges)) != 1:
            raise raised(ValueError("`bins` must be 1d, when an array"), context.loc)
        (count,) = dimensions(edges)
        gaps = dim_max(count - 1, 0)
        pairs = _slice(context, edges, 0, gaps), _slice(context, edges, dim_min(count, 1), gaps)
        falls = elementwise(context, "greater", *pairs)
        (any_falls,) = combined(context, "bitwise_or", (falls,), (0,), False)
        ascends = elementwise(context, "invert", any_falls)
        edges = require(context, edges, ascends, "ValueError", "`bins` must increase monotonically, when an array")
        if element(edges.type).kind != "f":
            return edges
        # NumPy compares no edge with NaN, and what it then gives are differences of counts, some of them negative.
        (any_nan,) = combined(context, "bitwise_or", (elementwise(context, "isnan", edges),), (0,), False)
        text = "an edge of the bins is NaN: NumPy's counts may be negative then"
        return require(context, edges, elementwise(context, "invert", any_nan), "UnsupportedError", text)
    require_equal(context, dim_min(number, 1), 1, "ValueError", sentence)
    if range is None:
        kept = element(value.type) if element(value.type).kind == "f" else F64
        return linspace(context, *detected_range(context, value), dim_value(context, number + 1), dtype=kept.numpy)
    known = known_option(context, range, "range=")
    # NumPy says what is wrong with the ends.
    attempt(context, np.histogram_bin_edges, np.zeros(1), 1, known)
    low, high = attempt(context, tuple, known)
    if low == high:
        low, high = low - 0.5, high + 0.5
    dtype = np.result_type(low, high, element(value.type).numpy)
    dtype = np.result_type(dtype, float) if np.issubdtype(dtype, np.integer) else dtype
    return linspace(context, low, high, dim_value(context, number + 1), dtype=dtype)


def detected_range(context: Context, value: Value) -> tuple[Value, Value]:
    """The smallest and the largest number; of equal ones half below and half above, and of none 0 and 1.

    Raises
    ------
    UnsupportedError
        Bools, which NumPy converts first, and complex numbers.
    """
    dtype = element(value.type)
    if dtype.kind not in "iuf":
        raise UnsupportedError("a histogram of what are no real numbers takes a range", context.loc, "write range=(low, high)")
    axes = tuple(builtins.range(len(dimensions(value))))
    ends = [combined(context, row, (value,), axes, False)[0] for row in ("minimum", "maximum")]
    if dtype.kind == "f":
        number = elementwise(context, "invert", elementwise(context, "isnan", ends[0]))
        sentence = "autodetected range of [nan, nan] is not finite"
        ends[0] = require(context, ends[0], number, "ValueError", sentence)
    size = product(dimensions(value))
    if not (lower_bound(size) or 0) > 0:
        none = elementwise(context, "equal", length(context, size), 0)
        ends = [elementwise(context, "where", none, dtype.numpy.type(n), end) for n, end in enumerate(ends)]
    if dtype.kind == "f":
        finite = [elementwise(context, "isfinite", end) for end in ends]
        both = elementwise(context, "bitwise_and", *finite)
        ends[0] = require(context, ends[0], both, "ValueError", "autodetected range is not finite")
    low, high = ends
    same = elementwise(context, "equal", low, high)
    return (
        elementwise(context, "where", same, elementwise(context, "subtract", low, 0.5), low),
        elementwise(context, "where", same, elementwise(context, "add", high, 0.5), high),
    )


def _subtractable(context: Context, value: Value) -> Value:
    """Bools as the integers that NumPy makes of them."""
    return cast(context, value, U8) if element(value.type) is BOOL else value


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "bincount": bincount,
    "histogram": histogram,
    "histogram_bin_edges": histogram_bin_edges,
}
"""By NumPy's name; parameters are called as NumPy calls them."""
