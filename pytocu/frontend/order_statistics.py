"""Medians and quantiles: sorted by the library along an axis, then elements around a position.

Positions are computed as NumPy computes them, in float64, and lie between two elements; NaN are sorted behind all others.
The functions that leave out NaN count what is not NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pytocu.errors import UnsupportedError, raised
from pytocu.frontend.gathering import TAKEN, along
from pytocu.frontend.indexing import subscript
from pytocu.frontend.inplace import OUTPUT, assign_elements, check_output_shapes, note_write, write_outputs, write_result
from pytocu.frontend.layouts import certain_layout, example_ranks, laid_out
from pytocu.frontend.library_calls import call
from pytocu.frontend.nan_statistics import nanmean
from pytocu.frontend.operators import attempt, elementwise, known_option
from pytocu.frontend.reductions import (
    accumulator,
    check_output,
    combined,
    known_axis,
    known_flag,
    length,
    normal_axes,
    stand_in,
)
from pytocu.frontend.requirements import compares, require, require_equal
from pytocu.frontend.reshaping import array_of, broadcast
from pytocu.frontend.ufunc_calls import without_axes
from pytocu.frontend.values import Context, cast, dimensions, is_array, is_number, python_type_name
from pytocu.guards import MISSING
from pytocu.ir import promote
from pytocu.ir.axis_orders import Ranks
from pytocu.ir.core import Value
from pytocu.ir.dims import DimLike, dim_min, floordiv, lower_bound, product
from pytocu.ir.layouts import row_major
from pytocu.ir.types import BOOL, F16, F32, F64, I64, WEAK_FLOAT, WEAK_INT, DType, element, scalar


class _Rows(NamedTuple):
    """What is looked at for each result, sorted along the last axis, and how many elements of it count.

    Attributes
    ----------
    ordered : Value
        With at least one element on the last axis.
    total : Value
        int64; a number, or one for each row.
    size : DimLike
        The length of the last axis, 0 included.
    axes : tuple of int
        Of the operand, which are gone.
    """

    ordered: Value
    total: Value
    size: DimLike
    axes: tuple[int, ...]


def _sorted_rows(context: Context, value: Value, axis: Any, skip_nan: bool, padded: bool) -> _Rows:
    """The operand with the axes that are looked at merged into the last one, which is sorted.

    Where it may have no elements and is `padded` it has one more, which is read where there is no other.
    """
    ndim = len(dimensions(value))
    axes = normal_axes(axis, ndim)
    kept = [a for a in range(ndim) if a not in axes]
    order = (*kept, *axes)
    if order != tuple(range(ndim)):
        value = context.builder.emit("transpose", (value,), {"axes": order})
    shape = dimensions(value)
    size = product(shape[len(kept) :])
    merged = (*shape[: len(kept)], size)
    if merged != shape:
        value = context.builder.emit("reshape", (value,), {"shape": merged, "source": shape})
    (ordered,) = call(context, "sort", (value,), axis=-1)
    total = length(context, size)
    if skip_nan and element(value.type).kind in "fc":
        numbers = cast(context, elementwise(context, "invert", elementwise(context, "isnan", value)), I64)
        (total,) = combined(context, "add", (numbers,), (len(kept),), False)
    if padded and not (lower_bound(size) or 0) > 0:
        dtype = element(ordered.type)
        last = broadcast(context, context.builder.const(dtype.numpy.type(0).item(), scalar(dtype)), (*merged[:-1], 1))
        ordered = context.builder.emit("concatenate", (ordered, last), {"axis": len(kept)})
    return _Rows(ordered, total, size, axes)


def _at(context: Context, rows: _Rows, place: Value, lead: int) -> Value:
    """Elements of the rows; the positions have `lead` axes, and those of the rows behind them where rows differ."""
    ndim = len(dimensions(rows.ordered)) - 1
    if not dimensions(rows.total):
        return context.builder.emit("gather", (rows.ordered, place), {"axes": (ndim,), "at": 0})
    shape = dimensions(place)
    others = [broadcast(context, along(context, d, a + lead, lead + ndim), shape)
              for a, d in enumerate(dimensions(rows.ordered)[:-1])]  # fmt: skip
    return context.builder.emit("gather", (rows.ordered, *others, place), {"axes": tuple(range(ndim + 1)), "at": 0})


def _finished(context: Context, made: Value, rows: _Rows, lead: int, keepdims: bool) -> Value:
    """With the axes of length 1 that `keepdims` asks for; without axes a NumPy scalar."""
    for axis in rows.axes if keepdims else ():
        made = context.builder.emit("newaxis", (made,), {"axis": axis + lead})
    made = without_axes(context, made)
    # With all axes kept it is an array, also where there are none.
    return context.builder.emit("as_array", (made,)) if keepdims and not is_array(made) else made


def _is_nan_behind(context: Context, rows: _Rows) -> Value | None:
    """Where a row has NaN, which stands last; None where there can be none."""
    if element(rows.ordered.type).kind not in "fc":
        return None
    return elementwise(context, "isnan", _last(context, rows, element(rows.ordered.type)))


def _target(context: Context, name: str, out: Any) -> Value:
    """The array that ``out=`` is."""
    if is_array(out):
        return out
    kind = python_type_name(out) if isinstance(out, Value) else type(out).__name__
    assigned = f"'{kind}' object does not support item assignment"
    raise raised(TypeError(assigned if name.startswith("nan") else "return arrays must be of ArrayType"), context.loc)


def _write(context: Context, name: str, made: Value, out: Value, taken: bool) -> None:
    """Give an array quantiles: assigned where NaN is left out, else taken or computed there."""
    if name.startswith("nan"):
        assign_elements(context, out, made)
    elif taken:
        write_result(context, made, out, "", TAKEN)
    else:
        note_write(context, out, OUTPUT)
        check_output_shapes(context, [dimensions(made)] * 2, [dimensions(out)], [])
        write_outputs(context, (made,), (out,))


def _first_kept(context: Context, out: Value, axis: Any, ndim: int) -> Value:
    """The part of an output that NumPy writes with ``keepdims=True``: the first element along each axis that is gone."""
    axes = normal_axes(axis, ndim)
    return subscript(context, out, (..., *(0 if a in axes else slice(None) for a in range(ndim))))


def _axes(context: Context, axis: Any) -> Any:
    """The argument ``axis=``, which may be a list here."""
    axis = known_axis(context, axis)
    return axis if axis is None or isinstance(axis, (int, np.integer)) else attempt(context, _all, axis)


def _all(axis: Any) -> Any:
    """What NumPy makes of an argument that is no int: axes one after the other, or what it refuses."""
    return tuple(axis) if hasattr(axis, "__iter__") else axis


# Medians.


def _median(name: str, skip_nan: bool, doc: str) -> Callable[..., Any]:
    function = getattr(np, name)

    def handler(
        context: Context, a: Any, axis: Any = None, out: Any = None, overwrite_input: Any = False, keepdims: Any = MISSING
    ) -> Value:
        value = array_of(context, a)
        axis = _axes(context, axis)
        keep = keepdims is not MISSING and keepdims is not np._NoValue and known_flag(context, keepdims)
        if skip_nan and compares(context, product(dimensions(value)), "<=", 0):
            return nanmean(context, value, axis, None, out, keep)
        if out is not None:
            target = _target(context, name, out)
            if not skip_nan:
                note_write(context, target, OUTPUT)
            attempt(context, function, stand_in(value), axis=axis, out=stand_in(target), keepdims=keep)
            part = _first_kept(context, target, axis, len(dimensions(value))) if keep else target
            if skip_nan:
                assign_elements(context, part, handler(context, value, axis))
            else:
                _write_mean(context, value, axis, part)
            return target
        example = attempt(context, function, stand_in(value), axis=axis)
        dtype = promote.known_dtype(np.asarray(example).dtype, f"np.{name}")
        rows = _sorted_rows(context, value, axis, skip_nan, True)
        wide = F32 if dtype is F16 else dtype
        made = cast(context, _middle(context, rows, wide, wide, skip_nan), dtype)
        made = _laid_out(context, made, rows, partial(function, axis=axis), (value,), _SMALL if skip_nan else None)
        return _finished(context, made, rows, 0, keep)

    handler.__doc__ = doc
    return handler


_SMALL = 599
"""Up to so many elements NumPy's medians that leave out NaN sort along an axis; of more it takes one row after the other."""


def _laid_out(
    context: Context, made: Value, rows: _Rows, function: Callable[..., Any], operands: Sequence[Value], most: int | None = None
) -> Value:
    """A new array of statistics, whose axes NumPy orders by those of the copy that it sorts, if rows have `most` elements."""
    shape = dimensions(made)
    if len(shape) < 2:
        return made
    # NumPy merges several axes, and makes a copy in row-major order where that is no view.
    merges = len(rows.axes) > 1 and operands and certain_layout(context, operands[0]) is None

    def rule(known: Mapping[Value, Ranks | None]) -> Ranks | None:
        ranks = example_ranks(function, operands, shape, known)
        if ranks is None or ranks == row_major(shape):
            return ranks
        small = most is None or compares(context, rows.size, "<=", most)
        if small is False:
            return row_major(shape)
        return None if merges or small is None else ranks

    return laid_out(context, made, operands, rule)


def _write_mean(context: Context, value: Value, axis: Any, out: Value) -> None:
    """The median as ``np.mean`` writes it into an output: of one element or two of each row, which its sentences show."""
    note_write(context, out, OUTPUT)
    given = element(value.type)
    chosen = F32.numpy if given is F16 else F64.numpy if given.kind in "biu" else None
    wide = accumulator(context, "add", "reduce", value, chosen, out, {"axis": normal_axes(axis, len(dimensions(value)))})
    rows = _sorted_rows(context, value, axis, False, True)
    kept = dimensions(rows.ordered)[:-1]
    count = dim_min(2 - (rows.size - 2 * floordiv(rows.size, 2)), rows.size)
    at = rows.axes[0] if len(rows.axes) == 1 else len(kept)
    check_output(context, value, (*kept[:at], count, *kept[at:]), (at,), False, out)
    context.builder.update(out, _middle(context, rows, wide, element(out.type), False))


def _middle(context: Context, rows: _Rows, wide: DType, dtype: DType, skip_nan: bool) -> Value:
    """The mean of the one or two elements in the middle, as ``np.mean`` computes it: a sum in `wide`, the rest in `dtype`."""

    def apply(name: str, *operands: Any) -> Value:
        return elementwise(context, name, *operands)

    upper = apply("floor_divide", rows.total, 2)
    lower = apply("floor_divide", apply("maximum", apply("subtract", rows.total, 1), 0), 2)
    low, high = (cast(context, _at(context, rows, place, 0), wide) for place in (lower, upper))
    odd = apply("equal", apply("remainder", rows.total, 2), 1)
    # Sums begin with 0, so that the median of -0.0 is 0.0.
    total = apply("add", apply("where", odd, low, apply("add", low, high)), 0.0 if wide.kind == "f" else 0)
    total = cast(context, total, dtype)
    count = apply("where", odd, 1, 2)
    none = apply("equal", rows.total, 0)
    if dtype.is_integer:
        # Of nothing it is what a cast of NaN gives.
        count = apply("where", none, 0, count)
    made = cast(context, apply("divide", total, count), dtype)
    nan = _is_nan_behind(context, rows)
    if not skip_nan and nan is not None and dtype.is_integer:
        both = f"from {element(rows.ordered.type).numpy!r} to {dtype.numpy!r}"
        said = f"Cannot cast array data {both} according to the rule 'same_kind'"
        return require(context, made, apply("logical_not", nan), "TypeError", said)
    if not skip_nan and nan is not None:
        made = apply("where", nan, _last(context, rows, dtype), made)
    if dtype.is_integer or ((lower_bound(rows.size) or 0) > 0 and not skip_nan):
        return made
    # The mean of nothing.
    missing = complex(np.nan, np.nan) if dtype.kind == "c" else np.nan
    return apply("where", none, dtype.numpy.type(missing), made)


def _last(context: Context, rows: _Rows, dtype: DType) -> Value:
    end = elementwise(context, "maximum", elementwise(context, "subtract", length(context, rows.size), 1), 0)
    axis = len(dimensions(rows.ordered)) - 1
    return cast(context, context.builder.emit("gather", (rows.ordered, end), {"axes": (axis,), "at": 0}), dtype)


# Quantiles.

TAKING = ("lower", "higher", "nearest", "inverted_cdf", "closest_observation")
"""The methods that give an element and compute nothing."""


def _quantile(name: str, skip_nan: bool, doc: str) -> Callable[..., Any]:
    function = getattr(np, name)
    percent = "percent" in name

    def handler(
        context: Context,
        a: Any,
        q: Any,
        axis: Any = None,
        out: Any = None,
        overwrite_input: Any = False,
        method: Any = "linear",
        keepdims: Any = MISSING,
        *,
        weights: Any = None,
    ) -> Value:
        if weights is not None:
            text = f"np.{name} with the argument weights= is not supported"
            raise UnsupportedError(text, context.loc, "compute it outside the function")
        value = array_of(context, a)
        axis, method = _axes(context, axis), known_option(context, method, "method=")
        keep = keepdims is not MISSING and keepdims is not np._NoValue and known_flag(context, keepdims)
        of_run = isinstance(q, Value) and q.type in (WEAK_INT, WEAK_FLOAT)
        ndim, weak = len(dimensions(value)), of_run or type(q) in (int, float)
        share = share_given = array_of(context, q)
        # NumPy says what is wrong with numbers known now, with the method, the axis and the dtype.
        known = q if is_number(q) or (isinstance(q, (tuple, list)) and all(map(is_number, q))) else None
        given: Any = np.zeros((1,) * len(dimensions(share)), element(share.type).numpy) if known is None else known
        one = given.item() if of_run else given
        bools = element(value.type) is BOOL and dimensions(value)
        # Of bools there are no differences, but NumPy looks whether there are elements first.
        empty = bools and compares(context, product(dimensions(value)), "<=", 0)
        looked_at = np.zeros((0,) * len(dimensions(value)), np.bool_) if empty else stand_in(value)
        target = part = None
        if out is not None:
            first = np.asarray(given)[(slice(0, 1),) * np.ndim(given)] if np.ndim(given) else one
            target = _target(context, name, out)
            attempt(context, function, looked_at, first, axis=axis, out=stand_in(target), method=method, keepdims=keep)
            part = _first_kept(context, target, axis, ndim) if keep else target
        example = np.asarray(attempt(context, function, looked_at, one, axis=axis, method=method))
        dtype = promote.known_dtype(example.dtype, f"np.{name}")
        if percent:
            share = array_of(context, elementwise(context, "divide", share, 100))
        if known is None:
            share = _within(context, share, "[0, 100]" if percent else "[0, 1]")
        if skip_nan and len(dimensions(share)) == 2 and axis is not None and 1 < len(normal_axes(axis, ndim)) < ndim:
            text = f"np.{name} along several axes with a matrix of shares is not supported: NumPy confuses the result's axes"
            raise UnsupportedError(text, context.loc, "give a vector of shares, or reshape the array and give one axis")
        nothing = stand_in(value).dtype if element(value.type).kind in "fc" else np.dtype(np.float64)
        if skip_nan and (empty or dimensions(share) or nothing != dtype.numpy):
            # NumPy gives a mean of nothing, which lacks the axes of the shares, and has a dtype of its own.
            if empty or (size := product(dimensions(value))) == 0:
                return nanmean(context, value, axis, None, out, keep)
            lacks = "lacks their axes" if dimensions(share) else f"is of {nothing}"
            shares = "several shares" if dimensions(share) else f"one share in {dtype.numpy}"
            text = f"np.{name} of an array without elements and {shares} is not compiled: NumPy's result {lacks}"
            require_equal(context, dim_min(size, 1), 1, "UnsupportedError", text)
        rows = _sorted_rows(context, value, axis, skip_nan, skip_nan)
        if not skip_nan:
            # NumPy looks for a NaN first, where there may be one.
            at = -1 if element(value.type).kind in "fc" else 0
            sentence = f"index {at} is out of bounds for axis 0 with size 0"
            if at == 0 and method in TAKING:
                sentence = "cannot do a non-empty take from an empty axes."
            require_equal(context, dim_min(rows.size, 1), 1, "IndexError", sentence)
        lead = len(dimensions(share))
        if dimensions(rows.total):
            for place in range(len(dimensions(rows.total))):
                share = context.builder.emit("newaxis", (share,), {"axis": lead + place})
        if part is not None and not skip_nan:
            dtype = element(part.type)
        made = _interpolated(context, rows, share, lead, method, weak, dtype)
        behind = _is_nan_behind(context, rows) if not skip_nan else elementwise(context, "equal", rows.total, 0)
        if behind is not None:
            nan = _last(context, rows, dtype) if not skip_nan else dtype.numpy.type(np.nan) if dtype.kind == "f" else None
            made = made if nan is None else elementwise(context, "where", behind, nan, made)
        arguments = {"axis": axis, "method": method, **({} if known is None else {"q": given})}
        shares = (share_given,) if known is None else ()
        if skip_nan or len(rows.axes) == ndim:
            # NumPy looks at one row after the other.
            example = partial(function, np.ones((2,) * ndim, element(value.type).numpy), **arguments)
            made = _laid_out(context, made, rows, example, shares)
        else:
            made = _laid_out(context, made, rows, partial(function, **arguments), (value, *shares))
        made = _finished(context, made, rows, lead, keep and part is None)
        if target is None or part is None:
            return made
        taken = method in TAKING or (method == "linear" and element(share.type).kind in "iub")
        _write(context, name, made, part, taken)
        return target

    handler.__doc__ = doc
    return handler


def _within(context: Context, share: Value, bounds: str) -> Value:
    inside = elementwise(
        context, "bitwise_and", elementwise(context, "greater_equal", share, 0), elementwise(context, "less_equal", share, 1)
    )
    axes = tuple(range(len(dimensions(share))))
    (all_inside,) = combined(context, "bitwise_and", (inside,), axes, False)
    what = "Percentiles" if bounds == "[0, 100]" else "Quantiles"
    return require(context, share, all_inside, "ValueError", f"{what} must be in the range {bounds}")


_CONTINUOUS = {
    "interpolated_inverted_cdf": (0, 1),
    "hazen": (0.5, 0.5),
    "weibull": (0, 0),
    "median_unbiased": (1 / 3.0, 1 / 3.0),
    "normal_unbiased": (3 / 8.0, 3 / 8.0),
}
"""The two numbers of each method of Hyndman and Fan that draws a line."""


def _interpolated(
    context: Context, rows: _Rows, share: Value, lead: int, method: str, weak: bool, dtype: DType
) -> Value:
    """Elements at the positions that shares are, or lines between two of them."""

    def apply(name: str, *operands: Any) -> Value:
        return elementwise(context, name, *operands)

    kind = element(share.type)
    # A Python int does not widen the dtype of shares.
    count = cast(context, rows.total, kind if kind.kind == "f" else I64)
    gaps = apply("subtract", count, kind.numpy.type(1) if kind.kind == "f" else 1)
    scaled = apply("multiply", gaps, share)
    match method:
        case "linear":
            if kind.kind in "iub":
                return cast(context, _at(context, rows, _placed(context, rows, scaled), lead), dtype)
            place = scaled
        case "lower" | "higher" | "nearest":
            row = {"lower": "floor", "higher": "ceil", "nearest": "rint"}[method]
            return cast(context, _at(context, rows, _placed(context, rows, apply(row, scaled)), lead), dtype)
        case "midpoint":
            place = apply("multiply", 0.5, apply("add", apply("floor", scaled), apply("ceil", scaled)))
        case "inverted_cdf" | "closest_observation":
            index = apply("subtract", apply("multiply", count, share), 1)
            if method == "closest_observation":
                index = apply("subtract", index, 0.5)
            below = apply("floor", index)
            exact = apply("equal", apply("subtract", index, below), 0)
            if method == "closest_observation":
                exact = apply("bitwise_and", exact, apply("equal", apply("remainder", below, 2), 1))
            chosen = apply("where", exact, below, apply("add", below, 1))
            return cast(context, _at(context, rows, _placed(context, rows, chosen), lead), dtype)
        case "averaged_inverted_cdf":
            place = apply("subtract", apply("multiply", count, share), 1)
        case _:
            alpha, beta = _CONTINUOUS[method]
            shift = apply("add", alpha, apply("multiply", share, 1 - alpha - beta))
            place = apply("subtract", apply("add", apply("multiply", count, share), shift), 1)
    return _line(context, rows, place, lead, method, weak, dtype)


def _placed(context: Context, rows: _Rows, place: Value) -> Value:
    """A position as an int that is one of the row."""
    found = cast(context, place, I64)
    last = elementwise(context, "subtract", rows.total, 1)
    return elementwise(context, "maximum", elementwise(context, "minimum", found, last), 0)


def _line(
    context: Context, rows: _Rows, place: Value, lead: int, method: str, weak: bool, dtype: DType
) -> Value:
    """Between the elements around a position."""

    def apply(name: str, *operands: Any) -> Value:
        return elementwise(context, name, *operands)

    if element(place.type).kind != "f":
        place = cast(context, place, F64)
    kind = element(place.type)
    last = cast(context, apply("subtract", rows.total, 1), kind)
    outside = apply("greater_equal", place, last)
    before = apply("less", place, 0)
    previous = apply("floor", place)
    following = apply("add", previous, 1)
    # Beyond the ends NumPy takes the last element, by the position -1, or the first.
    distance = apply("where", before, 0, apply("where", outside, -1, previous))
    gamma = apply("subtract", place, distance)
    if method == "averaged_inverted_cdf":
        gamma = apply("where", apply("equal", gamma, 0), kind.numpy.type(0.5), kind.numpy.type(1))
    elif method == "midpoint":
        whole = apply("equal", apply("remainder", place, 1), 0)
        gamma = apply("where", whole, kind.numpy.type(0), kind.numpy.type(0.5))
    ends = [apply("where", before, 0, apply("where", outside, last, p)) for p in (previous, following)]
    low, high = (_at(context, rows, _placed(context, rows, end), lead) for end in ends)
    if not dimensions(rows.total):
        for axis in range(len(dimensions(rows.ordered)) - 1):
            gamma = context.builder.emit("newaxis", (gamma,), {"axis": lead + axis})
    half = apply("greater_equal", gamma, 0.5)
    rest = apply("subtract", 1, gamma)
    difference = apply("subtract", high, low)
    if weak:
        wide = element(difference.type) if element(difference.type).kind == "f" else F64
        gamma, rest = cast(context, gamma, wide), cast(context, rest, wide)
    up = cast(context, apply("add", low, apply("multiply", difference, gamma)), dtype)
    # NumPy subtracts in the dtype of the result.
    down = apply("subtract", cast(context, high, dtype), cast(context, apply("multiply", difference, rest), dtype))
    return apply("where", half, down, up)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "median": _median("median", False, "The element in the middle, or the mean of two"),
    "nanmedian": _median("nanmedian", True, "The median of what is not NaN"),
    "percentile": _quantile("percentile", False, "Percentiles, by every method"),
    "quantile": _quantile("quantile", False, "Quantiles, by every method"),
    "nanpercentile": _quantile("nanpercentile", True, "Percentiles of what is not NaN"),
    "nanquantile": _quantile("nanquantile", True, "Quantiles of what is not NaN"),
}
"""By NumPy's name; parameters are called as NumPy calls them."""
