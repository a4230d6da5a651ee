"""Between given points: ``interp``, ``digitize``, and integrals by ``trapezoid``.

The points around an element are found by halves.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from pytocu.errors import raised
from pytocu.frontend.axes import normal_axis
from pytocu.frontend.indexing import subscript
from pytocu.frontend.joining import concatenate
from pytocu.frontend.library_calls import argsort, search
from pytocu.frontend.neighbours import diff
from pytocu.frontend.operators import attempt, compute, elementwise, known_option
from pytocu.frontend.reductions import combined, known_axis, length, reduce, stand_in
from pytocu.frontend.requirements import compares, require, require_equal
from pytocu.frontend.reshaping import array_of
from pytocu.frontend.tables import Handler
from pytocu.frontend.ufunc_calls import without_axes
from pytocu.frontend.values import Context, as_strong, as_value, cast, dimensions
from pytocu.ir import promote
from pytocu.ir.core import Value
from pytocu.ir.dims import dim_max, dim_min, product
from pytocu.ir.types import C128, F64, WEAK_COMPLEX, element


def interp(
    context: Context, x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Value:
    """Straight lines between points in ascending order, NumPy's formula"""
    places = array_of(context, x) if isinstance(x, (list, tuple)) else as_strong(context, x)
    points, values = array_of(context, xp), array_of(context, fp)
    dtype = C128 if element(values.type).kind == "c" else F64
    given = [stand_in(v) for v in (places, points)]
    weak = isinstance(x, complex) or (isinstance(x, Value) and x.type == WEAK_COMPLEX)
    if period is not None:
        period = known_option(context, period, "period=")
        # NumPy casts what lies on circles itself, and has other sentences.
        attempt(context, np.interp, 1j if weak else given[0], given[1], np.zeros(1, dtype.numpy), period=period)
        left = right = None
    else:
        attempt(context, np.interp, 1j if weak else given[0], given[1], np.zeros(1, dtype.numpy))
    places, points, values = cast(context, places, F64), cast(context, points, F64), cast(context, values, dtype)
    for line in (points, values):
        if len(dimensions(line)) != 1:
            deep = "object too deep" if dimensions(line) else "object of too small depth"
            text = f"{deep} for desired array" if period is None else "Data points must be 1-D sequences"
            raise raised(ValueError(text), context.loc)
    if period is not None:
        places, points, values = _wrapped(context, places, points, values, compute(context, abs, period))
    else:
        _check_points(context, points, values, ".")
    none = compares(context, product(dimensions(places)), "<=", 0)
    for side, end in () if none else (("left", left), ("right", right)):
        example = 1j if isinstance(end, Value) and end.type == WEAK_COMPLEX else stand_in(end)
        attempt(context, np.interp, 0.5, [0.0, 1.0], np.zeros(2, dtype.numpy), **{side: example})
    ends = [None if end is None else cast(context, as_strong(context, end), dtype) for end in (left, right)]
    made = _between(context, places, points, values, ends)
    return made if dimensions(places) else without_axes(context, made)


def _check_points(context: Context, points: Value, values: Value, dot: str) -> None:
    (count,), (given,) = dimensions(points), dimensions(values)
    require_equal(context, dim_min(count, 1), 1, "ValueError", "array of sample points is empty")
    require_equal(context, count, given, "ValueError", f"fp and xp are not of the same length{dot}")


def _wrapped(
    context: Context, places: Value, points: Value, values: Value, period: Any
) -> tuple[Value, Value, Value]:
    """All within one period; the last point stands once more before the first one, and the first behind the last."""
    require_equal(
        context, dimensions(points)[0], dimensions(values)[0], "ValueError", "fp and xp are not of the same length"
    )
    require_equal(context, dim_min(dimensions(points)[0], 1), 1, "ValueError", "array of sample points is empty")
    places, points = (elementwise(context, "remainder", v, period) for v in (places, points))
    order = argsort(context, points)
    points, values = (context.builder.emit("gather", (v, order), {"axes": (0,), "at": 0}) for v in (points, values))
    ends = [[subscript(context, v, part) for part in (slice(-1, None), slice(0, 1))] for v in (points, values)]
    before = elementwise(context, "subtract", ends[0][0], period)
    behind = elementwise(context, "add", ends[0][1], period)
    return (
        places,
        concatenate(context, (before, points, behind)),
        concatenate(context, (ends[1][0], values, ends[1][1])),
    )


def _between(context: Context, places: Value, points: Value, values: Value, ends: list[Value | None]) -> Value:
    """The line between the points around each place."""
    (count,) = dimensions(points)

    def apply(name: str, *operands: Any) -> Value:
        return elementwise(context, name, *operands)

    def at(line: Value, place: Value) -> Value:
        return context.builder.emit("gather", (line, place), {"axes": (0,), "at": 0})

    last = length(context, count + (-1))
    found = apply("subtract", search(context, points, places, True), 1)
    here = apply("maximum", apply("minimum", found, last), 0)
    following = apply("minimum", apply("add", here, 1), last)
    x0, x1, y0, y1 = at(points, here), at(points, following), at(values, here), at(values, following)
    complex_ = element(values.type) is C128
    distance = apply("subtract", x1, x0)

    def line(low: Value, high: Value) -> Value:
        rise = apply("subtract", high, low)
        slope = apply("multiply", rise, apply("divide", 1.0, distance)) if complex_ else apply("divide", rise, distance)
        made = apply("add", apply("multiply", slope, apply("subtract", places, x0)), low)
        # Where one end is infinite the other one may give a number.
        other = apply("add", apply("multiply", slope, apply("subtract", places, x1)), high)
        flat = apply("bitwise_and", apply("isnan", other), apply("equal", low, high))
        return apply("where", apply("isnan", made), apply("where", flat, low, other), made)

    if complex_:
        parts = [line(*(context.builder.emit(part, (v,)) for v in (y0, y1))) for part in ("real", "imag")]
        made = context.builder.emit("compose", parts)
    else:
        made = line(y0, y1)
    exact = apply("bitwise_or", apply("equal", x0, places), apply("greater_equal", found, last))
    made = apply("where", exact, y0, made)
    first, final = (subscript(context, values, n) if e is None else e for n, e in zip((0, -1), ends, strict=True))
    made = apply("where", apply("less", places, subscript(context, points, 0)), first, made)
    made = apply("where", apply("greater", places, subscript(context, points, -1)), final, made)
    # A single point says nothing about NaN.
    nan = apply("isnan", places)
    if isinstance(count, int):
        return apply("where", nan, y0 if count == 1 else cast(context, places, element(values.type)), made)
    several = apply("greater", last, 0)
    return apply("where", apply("bitwise_and", nan, several), cast(context, places, element(values.type)), made)


def digitize(context: Context, x: Any, bins: Any, right: Any = False) -> Value:
    """The number of the bin in which each element lies; bins ascend or descend"""
    values = array_of(context, x) if isinstance(x, (list, tuple)) else as_strong(context, x)
    edges = array_of(context, bins)
    if element(values.type).kind == "c":
        raise raised(TypeError("x may not be complex"), context.loc)
    if len(dimensions(edges)) != 1:
        deep = "object too deep" if dimensions(edges) else "object of too small depth"
        raise raised(ValueError(f"{deep} for desired array"), context.loc)
    attempt(context, np.digitize, np.zeros(1, element(values.type).numpy), np.zeros(1, element(edges.type).numpy))
    common = promote.result_dtype((element(values.type), element(edges.type)))
    side = not known_option(context, right, "right=")
    (count,) = dimensions(edges)
    if isinstance(count, int) and count < 2:
        return search(context, cast(context, edges, common), cast(context, values, common), side)
    rises = _rises(context, edges)
    backwards = subscript(context, edges, slice(None, None, -1))
    ordered = cast(context, elementwise(context, "where", rises, edges, backwards), common)
    found = search(context, ordered, cast(context, values, common), side)
    made = elementwise(context, "where", rises, found, elementwise(context, "subtract", length(context, count), found))
    return made if dimensions(values) else without_axes(context, made)


def _rises(context: Context, edges: Value) -> Value:
    """Whether edges ascend or descend, which the first two different ones say; all others must go the same way."""
    edges = cast(context, edges, F64)
    (count,) = dimensions(edges)

    def apply(name: str, *operands: Any) -> Value:
        return elementwise(context, name, *operands)

    before, behind = (subscript(context, edges, part) for part in (slice(None, -1), slice(1, None)))
    (pairs,) = dimensions(before)
    up, down, same = (apply(row, before, behind) for row in ("less", "greater", "equal"))
    number = context.builder.emit("iota", (), {"axis": 0, "shape": (pairs,)})
    none = length(context, dim_max(count, 1))

    def first(condition: Value) -> Value:
        (least,) = combined(context, "minimum", (apply("where", condition, number, none),), (0,), False)
        return apply("minimum", least, none)

    def some(condition: Value) -> Value:
        return combined(context, "bitwise_or", (condition,), (0,), False)[0]

    rises = apply("less_equal", first(up), first(apply("invert", apply("bitwise_or", same, up))))
    wrong = apply("where", rises, some(down), some(up))
    text = "bins must be monotonically increasing or decreasing"
    return require(context, rises, apply("invert", wrong), "ValueError", text)


def trapezoid(context: Context, y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> Any:
    """The integral of straight lines between points along an axis"""
    value = array_of(context, y)
    ndim = len(dimensions(value))
    attempt(context, np.trapezoid, stand_in(value), axis=known_axis(context, axis))
    place = normal_axis(context, axis, ndim)
    if x is None:
        widths: Any = array_of(context, dx) if isinstance(dx, (list, tuple)) else dx
    else:
        points = array_of(context, x)
        if len(dimensions(points)) == 1:
            widths = diff(context, points)
            for other in range(ndim):
                if other != place:
                    widths = context.builder.emit("newaxis", (widths,), {"axis": other})
        else:
            widths = diff(context, points, axis=known_axis(context, axis))
    later, earlier = (
        subscript(context, value, (*[slice(None)] * place, part, ...)) for part in (slice(1, None), slice(None, -1))
    )
    sums = elementwise(context, "add", later, earlier)
    areas = elementwise(context, "divide", elementwise(context, "multiply", widths, sums), 2.0)
    return reduce(context, "add", as_value(context, areas), operator.index(known_axis(context, axis)))


FUNCTIONS: dict[str, Handler] = {
    "interp": interp,
    "digitize": digitize,
    **({"trapezoid": trapezoid} if hasattr(np, "trapezoid") else {}),
}
"""By NumPy's name; parameters are called as NumPy calls them."""
