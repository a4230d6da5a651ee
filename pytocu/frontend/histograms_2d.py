"""``histogram2d`` and ``histogramdd``: points counted into the cells of a grid.

A cell is a number, so points are counted as ``bincount`` counts; those outside of the grid have cells of their own around it,
which are left out of the result.
"""

from __future__ import annotations

import builtins
import operator
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pytocu.errors import UnsupportedError, raised
from pytocu.frontend.histograms import detected_range, folded
from pytocu.frontend.library_calls import call, search
from pytocu.frontend.operators import attempt, elementwise, known_option
from pytocu.frontend.reductions import combined, length, reduce
from pytocu.frontend.requirements import require, require_equal
from pytocu.frontend.reshaping import array_of, as_length, filled
from pytocu.frontend.spaced_numbers import linspace
from pytocu.frontend.values import Context, cast, dim_value, dimensions, is_array, is_numpy_scalar, is_weak
from pytocu.ir import promote
from pytocu.ir.core import Value
from pytocu.ir.dims import dim_max, dim_min, product
from pytocu.ir.types import F64, I64, element, scalar


def histogram2d(
    context: Context, x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Value, Value, Value]:
    """How many pairs lie in each cell of a grid, or the sums of their weights, and the edges along both axes"""
    values = [array_of(context, v) for v in (x, y)]
    if any(len(dimensions(v)) != 1 for v in values):
        raise UnsupportedError("np.histogram2d of what are no vectors", context.loc, "pass x.ravel() and y.ravel()")
    (first,), (second,) = map(dimensions, values)
    require_equal(context, first, second, "ValueError", "x and y must have the same length.")
    # NumPy puts both into one array.
    sample = promote.result_dtype(tuple(element(v.type) for v in values))
    values = [cast(context, v, sample) for v in values]
    made, edges = _counted(context, "histogram2d", values, _bins(context, bins), range, density, weights)
    return made, edges[0], edges[1]


def histogramdd(
    context: Context, sample: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> tuple[Value, list[Value]]:
    """How many points lie in each cell of a grid of any number of axes, or the sums of their weights, and the edges"""
    value = array_of(context, sample)
    if is_weak(sample):
        attempt(context, np.histogramdd, 0.0)
    known_option(context, range, "range=")
    if len(dimensions(value)) == 2 and not isinstance(sample, (list, tuple)):
        axis, count = 1, dimensions(value)[1]
    else:
        while len(dimensions(value)) < 2:
            value = context.builder.emit("newaxis", (value,), {"axis": 0})
        axis, count = 0, dimensions(value)[0]
    if len(dimensions(value)) != 2:
        text = f"too many values to unpack (expected 2, got {len(dimensions(value))})"
        text = text if sys.version_info >= (3, 14) else "too many values to unpack (expected 2)"
        raise raised(ValueError(text), context.loc)
    if not isinstance(count, int):
        # One of the arguments may say how many coordinates a point has.
        told, sentence = (bins, _DIMENSION) if isinstance(bins, (tuple, list)) else (range, _RANGES)
        if not isinstance(told, (tuple, list)):
            text = "np.histogramdd of points whose number of coordinates is known only at run time"
            help = "say it, as bins=[10, 10, 10], or pass the coordinates: np.histogramdd((x, y, z))"
            raise UnsupportedError(text, context.loc, help)
        require_equal(context, count, len(told), "ValueError", sentence)
        count = len(told)
    values = [context.builder.emit("index", (value,), {"axis": axis, "at": number}) for number in builtins.range(count)]
    if is_weak(bins) or is_numpy_scalar(bins) or isinstance(bins, (np.integer, np.floating)):
        given = [bins] * count
    elif isinstance(bins, (tuple, list)):
        given = list(bins)
    else:
        edges = array_of(context, bins)
        if not dimensions(edges):
            raise UnsupportedError("np.histogramdd with a number of bins in an array", context.loc, "pass Python ints")
        if dimensions(edges)[0] != count:
            # An array is taken for a list of what it holds.
            raise raised(ValueError(_DIMENSION), context.loc)
        help = "pass a list of Python ints, or of arrays of edges: bins=[edges, edges]"
        raise UnsupportedError("np.histogramdd with numbers of bins in an array", context.loc, help)
    if len(given) != count:
        raise raised(ValueError(_DIMENSION), context.loc)
    return _counted(context, "histogramdd", values, given, range, density, weights)


_DIMENSION = "The dimension of bins must be equal to the dimension of the sample x."
_RANGES = "range argument must have one entry per dimension"


def _counted(
    context: Context, name: str, values: Sequence[Value], bins: Sequence[Any], range: Any, density: Any, weights: Any
) -> tuple[Value, list[Value]]:
    """The counts of points given by their coordinates, and the edges along each axis."""
    if element(values[0].type).kind == "c":
        raise UnsupportedError(f"np.{name} of complex numbers is not compiled", context.loc, "count the real parts")
    ranges = [None] * len(values) if known_option(context, range, "range=") is None else attempt(context, tuple, range)
    if len(ranges) != len(values):
        raise raised(ValueError(_RANGES), context.loc)
    edges: list[Value] = []
    cells: list[Value] = []
    for place, (value, given) in enumerate(zip(values, bins, strict=True)):
        edges.append(_edges(context, value, given, ranges[place], place, name))
        cells.append(_cells(context, value, edges[-1], place))
    sizes = [dimensions(e)[0] + 1 for e in edges]
    number = cells[0]
    for size, cell in zip(sizes[1:], cells[1:], strict=True):
        number = elementwise(context, "multiply", number, length(context, size))
        number = elementwise(context, "add", number, cell)
    count = product(sizes)
    if weights is None:
        start = filled(context, length(context, 0), (count,))
        (made,) = call(context, "counts", (start, number))
        made = cast(context, made, F64)
    else:
        shares = array_of(context, weights)
        attempt(context, np.bincount, np.zeros(1, int), np.ones((1,) * len(dimensions(shares)), element(shares.type).numpy))
        sentence = "The weights and list don't have the same length."
        require_equal(context, dimensions(shares)[0], dimensions(number)[0], "ValueError", sentence)
        start = filled(context, context.builder.const(0.0, scalar(F64)), (count,))
        made = folded(context, "add", start, number, cast(context, shares, F64))
    made = context.builder.emit("reshape", (made,), {"shape": tuple(sizes), "source": (count,)})
    inner = tuple(dim_max(s - 2, 0) for s in sizes)
    ones = (1,) * len(sizes)
    made = context.builder.emit("slice", (made,), {"start": ones, "step": ones, "size": inner})
    made = context.builder.emit("copy", (made,))
    if known_option(context, density, "density="):
        total = reduce(context, "add", made, None)
        for place, edge in enumerate(edges):
            widths = _widths(context, edge)
            for axis in builtins.range(len(edges)):
                if axis != place:
                    widths = context.builder.emit("newaxis", (widths,), {"axis": axis})
            made = elementwise(context, "divide", made, widths)
        made = elementwise(context, "divide", made, total)
    return made, edges


def _two(context: Context, given: Any, default: Any, sentence: str) -> Any:
    if given is None:
        return default
    pair = attempt(context, tuple, given)
    if len(pair) != 2:
        raise raised(ValueError(sentence), context.loc)
    return pair


def _bins(context: Context, bins: Any) -> tuple[Any, Any]:
    """The argument for each axis: a pair is one for each, one array of edges is that of both."""
    if is_weak(bins) or is_numpy_scalar(bins) or isinstance(bins, (np.integer, np.floating)):
        return bins, bins
    if isinstance(bins, (tuple, list)) and len(bins) <= 2:
        return _two(context, bins, None, _DIMENSION)
    if not is_array(bins) and not isinstance(bins, (tuple, list)):
        # NumPy's exception for what is neither.
        attempt(context, np.histogram2d, np.zeros(1), np.zeros(1), bins)
    edges = array_of(context, bins)
    if is_array(bins) and dimensions(edges):
        text = "np.histogram2d with one or two edges in an array, which are numbers of bins to NumPy: write bins=[edges, edges]"
        require_equal(context, dim_min(dimensions(edges)[0], 3), 3, "UnsupportedError", text)
    return edges, edges


def _edges(context: Context, value: Value, bins: Any, range: Any, place: int, name: str) -> Value:
    """The edges along an axis: an array as it is, or as many as a number says, at equal distances."""
    if not is_weak(bins) and not is_numpy_scalar(bins) and not isinstance(bins, (np.integer, np.floating)):
        edges = array_of(context, bins)
        if dimensions(edges):
            if len(dimensions(edges)) != 1:
                raise raised(ValueError(f"`bins[{place}]` must be a scalar or 1d array"), context.loc)
            sentence = "index -1 is out of bounds for axis 0 with size 0"
            require_equal(context, dim_min(dimensions(edges)[0], 1), 1, "IndexError", sentence)
            return edges
        help = "pass Python ints or arrays of edges"
        raise UnsupportedError(f"np.{name} with a number of bins in an array", context.loc, help)
    sentence = f"`bins[{place}]` must be positive, when an integer"
    if not isinstance(bins, Value):
        if attempt(context, operator.lt, bins, 1):
            raise raised(ValueError(sentence), context.loc)
        if not isinstance(bins, (int, np.integer)):
            raise raised(TypeError(f"`bins[{place}]` must be an integer, when a scalar"), context.loc)
        bins = operator.index(bins)
    number = as_length(context, bins, sentence)
    require_equal(context, dim_min(number, 1), 1, "ValueError", sentence)
    if range is None:
        return linspace(context, *detected_range(context, value), dim_value(context, number + 1))
    low, high = attempt(context, lambda: tuple(range))
    # NumPy says what is wrong with them, and gives the first and the last edge of equal ones.
    made = attempt(context, lambda: np.histogram_bin_edges(np.zeros(0), 1, (low, high)))
    ends = (low, high) if low != high else (float(made[0]), float(made[1]))
    return linspace(context, *ends, dim_value(context, number + 1))


def _cells(context: Context, value: Value, edges: Value, place: int) -> Value:
    """The number of each element's cell: 0 before the first edge, that of the last edge behind it."""
    common = promote.result_dtype((element(value.type), element(edges.type)))
    kept = context.builder.emit("keep", (cast(context, edges, common),))
    found = search(context, kept, cast(context, value, common), True)
    (size,) = dimensions(edges)
    last = context.builder.emit("index", (edges,), {"axis": 0, "at": size - 1})
    # The last edge is inside of the last cell.
    on_edge = elementwise(context, "equal", value, last)
    found = elementwise(context, "subtract", found, cast(context, on_edge, I64))
    (falls,) = combined(context, "bitwise_or", (elementwise(context, "greater", *_neighbours(context, edges)),), (0,), False)
    ascends = elementwise(context, "invert", falls)
    return require(context, found, ascends, "ValueError", f"`bins[{place}]` must be monotonically increasing, when an array")


def _neighbours(context: Context, edges: Value) -> tuple[Value, Value]:
    """All edges but the last, and all but the first."""
    (size,) = dimensions(edges)
    first, second = (
        context.builder.emit("slice", (edges,), {"start": (s,), "step": (1,), "size": (size - 1,)}) for s in (0, 1)
    )
    return first, second


def _widths(context: Context, edges: Value) -> Value:
    before, behind = _neighbours(context, edges)
    return elementwise(context, "subtract", behind, before)


FUNCTIONS: dict[str, Callable[..., Any]] = {"histogram2d": histogram2d, "histogramdd": histogramdd}
"""By NumPy's name; parameters are called as NumPy calls them."""
