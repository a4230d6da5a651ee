"""Functions of an element and its neighbours, or of every pair of elements: differences, gradients and products."""

from __future__ import annotations

import operator
import warnings
from functools import lru_cache
from typing import Any

import numpy as np

from pytocu.errors import raised
from pytocu.frontend.attributes import moveaxis
from pytocu.frontend.axes import normal_axis
from pytocu.frontend.indexing import subscript
from pytocu.frontend.joining import as_row, concatenate
from pytocu.frontend.layouts import laid_out_as
from pytocu.frontend.operators import compute, elementwise, known_int
from pytocu.frontend.reductions import combined
from pytocu.frontend.requirements import require_equal
from pytocu.frontend.reshaping import array_of, broadcast, ravel
from pytocu.frontend.tables import Handler
from pytocu.frontend.values import Context, cast, dimensions, several
from pytocu.guards import MISSING
from pytocu.ir.core import Value
from pytocu.ir.dims import DimLike, dim_max, dim_min
from pytocu.ir.types import BOOL, F64, element


def diff(context: Context, a: Any, n: Any = 1, axis: Any = -1, prepend: Any = MISSING, append: Any = MISSING) -> Value:
    """Differences of neighbours, n times."""
    value = array_of(context, a)
    n = known_int(context, n, "n=")
    if n == 0:
        return a
    if n < 0:
        raise raised(ValueError(f"order must be non-negative but got {n!r}"), context.loc)
    ndim = len(dimensions(value))
    if ndim == 0:
        raise raised(ValueError("diff requires input that is at least one dimensional"), context.loc)
    place = normal_axis(context, axis, ndim)
    pieces: list[Any] = [value]
    for extra, at in ((prepend, 0), (append, 2)):
        if extra is not MISSING:
            made = array_of(context, extra)
            if not dimensions(made):
                made = broadcast(context, made, tuple(1 if k == place else d for k, d in enumerate(dimensions(value))))
            pieces.insert(at, made)
    if len(pieces) > 1:
        value = concatenate(context, tuple(pieces), place)
    row = "not_equal" if element(value.type) is BOOL else "subtract"
    for _ in range(n):
        later, earlier = (_cut(context, value, place, part) for part in (slice(1, None), slice(None, -1)))
        value = elementwise(context, row, later, earlier)
    return value


def _cut(context: Context, value: Value, axis: int, part: slice) -> Value:
    return subscript(context, value, (*[slice(None)] * axis, part, ...))


def ediff1d(context: Context, ary: Any, to_end: Any = None, to_begin: Any = None) -> Value:
    """Differences of neighbours of all elements in a row, between others."""
    value = ravel(context, array_of(context, ary))
    later, earlier = (_cut(context, value, 0, part) for part in (slice(1, None), slice(None, -1)))
    pieces: list[Value] = []
    dtype = element(value.type)
    for name, extra, at in (("to_begin", to_begin, 0), ("to_end", to_end, 2)):
        if extra is None:
            continue
        made = array_of(context, extra)
        if not np.can_cast(element(made.type).numpy, dtype.numpy, "same_kind"):
            text = f"dtype of `{name}` must be compatible with input `ary` under the `same_kind` rule."
            raise raised(TypeError(text), context.loc)
        pieces.insert(at, cast(context, ravel(context, made), dtype))
    # NumPy looks at what stands beside before it subtracts.
    pieces.insert(1 if to_begin is not None else 0, elementwise(context, "subtract", later, earlier))
    return concatenate(context, pieces) if len(pieces) > 1 else pieces[0]


def gradient(context: Context, f: Any, *varargs: Any, axis: Any = None, edge_order: Any = 1) -> Any:
    """Central differences inside, one-sided ones at the ends, by a distance or by coordinates."""
    value = array_of(context, f)
    ndim = len(dimensions(value))
    axes = list(range(ndim)) if axis is None else [normal_axis(context, _axis(a), ndim) for a in several(axis)]
    if len(set(axes)) < len(axes):
        raise raised(ValueError("repeated axis"), context.loc)
    spaces: list[Any] = list(varargs) or [1.0]
    spaces = [array_of(context, s) if isinstance(s, (list, tuple)) else s for s in spaces]
    if len(spaces) == 1 and not (isinstance(spaces[0], Value) and dimensions(spaces[0])):
        spaces = spaces * len(axes)
    if len(spaces) != len(axes):
        raise raised(TypeError("invalid number of arguments"), context.loc)
    steps = [_steps(context, s, dimensions(value)[a]) for a, s in zip(axes, spaces, strict=True)]
    if known_int(context, edge_order, "edge_order=") > 2:
        raise raised(ValueError("'edge_order' greater than 2 not supported"), context.loc)
    given = value
    if element(value.type).is_integer:
        value = cast(context, value, F64)
    made = [_gradient(context, value, a, h, edge_order) for a, h in zip(axes, steps, strict=True)]
    made = [_as_long(context, laid_out_as(context, m, given, "K"), value) for m in made]
    return made[0] if len(axes) == 1 else tuple(made)


def _as_long(context: Context, made: Value, value: Value) -> Value:
    """Pieces of an array one after the other, which are as long as the array, with its own lengths."""
    shape = dimensions(value)
    if dimensions(made) == shape:
        return made
    zeros, ones = (0,) * len(shape), (1,) * len(shape)
    return context.builder.emit("slice", (made,), {"start": zeros, "step": ones, "size": shape})


def _steps(context: Context, space: Any, length: DimLike) -> Any:
    """A distance as it is; of coordinates the distances between neighbours."""
    if not isinstance(space, Value) or not dimensions(space):
        return space
    if len(dimensions(space)) > 1:
        raise raised(ValueError("distances must be either scalars or 1d"), context.loc)
    text = "when 1d, distances must match the length of the corresponding dimension"
    require_equal(context, dimensions(space)[0], length, "ValueError", text)
    dtype = element(space.type)
    return diff(context, cast(context, space, F64) if dtype.kind in "iu" else space)


def _axis(axis: Any) -> Any:
    """NumPy takes a truth value for an axis here."""
    return int(axis) if isinstance(axis, bool) else axis


def _gradient(context: Context, value: Value, axis: int, h: Any, order: int) -> Value:
    """Along one axis: `h` is a distance, or a vector of distances."""
    length = dimensions(value)[axis]
    text = "Shape of array too small to calculate a numerical gradient, at least (edge_order + 1) elements are required."
    require_equal(context, dim_min(length, order + 1), order + 1, "ValueError", text)
    if isinstance(h, Value) and dimensions(h):
        # Equal distances have a formula of their own, as in NumPy.
        first = subscript(context, h, 0)
        equal = combined(context, "bitwise_and", (elementwise(context, "equal", h, first),), (0,), False)[0]
        even = _gradient(context, value, axis, first, order)
        return elementwise(context, "where", equal, even, _uneven(context, value, axis, h, order))
    dtype = element(value.type)

    def at(place: int) -> Value:
        return _cut(context, value, axis, slice(place, place + 1 if place != -1 else None))

    def apply(name: str, *operands: Any) -> Any:
        return elementwise(context, name, *operands)

    def scaled(factor: float) -> Any:
        return apply("divide", factor, h) if isinstance(h, Value) else compute(context, operator.truediv, factor, h)

    later, earlier = (_cut(context, value, axis, part) for part in (slice(2, None), slice(None, -2)))
    double = apply("multiply", 2.0, h) if isinstance(h, Value) else compute(context, operator.mul, 2.0, h)
    inside = apply("divide", apply("subtract", later, earlier), double)
    if order == 1:
        ends = [apply("divide", apply("subtract", at(a), at(b)), h) for a, b in ((1, 0), (-1, -2))]
    else:
        ends = []
        for factors, places in (((-1.5, 2.0, -0.5), (0, 1, 2)), ((0.5, -2.0, 1.5), (-3, -2, -1))):
            terms = [apply("multiply", scaled(c), at(p)) for c, p in zip(factors, places, strict=True)]
            ends.append(apply("add", apply("add", terms[0], terms[1]), terms[2]))
    pieces = [cast(context, p, dtype) for p in (ends[0], inside, ends[1])]
    return context.builder.emit("concatenate", pieces, {"axis": axis})


def _uneven(context: Context, value: Value, axis: int, steps: Value, order: int) -> Value:
    """The gradient by distances that differ."""
    ndim, dtype = len(dimensions(value)), element(value.type)

    def apply(name: str, *operands: Any) -> Any:
        return elementwise(context, name, *operands)

    def column(line: Value) -> Value:
        for other in range(ndim):
            if other != axis:
                line = context.builder.emit("newaxis", (line,), {"axis": other})
        return line

    def at(place: int) -> Value:
        return _cut(context, value, axis, slice(place, place + 1 if place != -1 else None))

    def total(factors: Any, terms: Any) -> Any:
        parts = [apply("multiply", f, t) for f, t in zip(factors, terms, strict=True)]
        return apply("add", apply("add", parts[0], parts[1]), parts[2])

    before, behind = (subscript(context, steps, part) for part in (slice(0, -1), slice(1, None)))
    both, area = apply("add", before, behind), apply("multiply", before, behind)
    inside = (
        apply("divide", apply("negative", behind), apply("multiply", before, both)),
        apply("divide", apply("subtract", behind, before), area),
        apply("divide", before, apply("multiply", behind, both)),
    )
    parts = [_cut(context, value, axis, part) for part in (slice(None, -2), slice(1, -1), slice(2, None))]
    middle = total([column(f) for f in inside], parts)
    if order == 1:
        places = ((1, 0, 0), (-1, -2, -1))
        ends = [apply("divide", apply("subtract", at(a), at(b)), subscript(context, steps, s)) for a, b, s in places]
    else:
        ends = []
        for near, far, where in ((0, 1, (0, 1, 2)), (-1, -2, (-1, -2, -3))):
            one, two = (subscript(context, steps, s) for s in (near, far))
            double = apply("add", apply("multiply", 2.0, one), two)
            sums, products = apply("add", one, two), apply("multiply", one, two)
            factors = [
                apply("divide", double, apply("multiply", one, sums)),
                apply("divide", sums, products),
                apply("divide", one, apply("multiply", two, sums)),
            ]
            signed = [apply("negative", f) if (k % 2 == 0) == (near == 0) else f for k, f in enumerate(factors)]
            order_ = range(3) if near == 0 else (2, 1, 0)
            ends.append(total([signed[k] for k in order_], [at(where[k]) for k in order_]))
    pieces = [cast(context, p, dtype) for p in (ends[0], middle, ends[1])]
    return context.builder.emit("concatenate", pieces, {"axis": axis})


def kron(context: Context, a: Any, b: Any) -> Value:
    """Each element of one times the whole of the other."""
    first, second = array_of(context, a), array_of(context, b)
    while len(dimensions(first)) < len(dimensions(second)):
        first = as_row(context, first)
    while len(dimensions(second)) < len(dimensions(first)):
        second = as_row(context, second)
    x, y = dimensions(first), dimensions(second)
    if not x:
        return elementwise(context, "multiply", first, second)
    spread = tuple(d for length in x for d in (length, 1))
    repeated = tuple(d for length in y for d in (1, length))
    whole = tuple(d for pair in zip(x, y, strict=True) for d in pair)
    one = context.builder.emit("reshape", (first,), {"shape": spread, "source": x})
    other = context.builder.emit("reshape", (second,), {"shape": repeated, "source": y})
    made = elementwise(context, "multiply", broadcast(context, one, whole), broadcast(context, other, whole))
    shape = tuple(m * n for m, n in zip(x, y, strict=True))
    return context.builder.emit("reshape", (made,), {"shape": shape, "source": whole})


def _not_vectors() -> str:
    """NumPy's sentence, which is another one in each version; lengths in it are {2} and {3}."""
    try:
        np.cross(np.zeros(4), np.zeros(5))
    except ValueError as error:
        return str(error).replace(" 4 ", " {2} ").replace(" 5 ", " {3} ")
    return "incompatible dimensions for cross product"


@lru_cache
def _takes_two() -> bool:
    """Whether NumPy multiplies vectors of two numbers, as older versions do."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            np.cross(np.zeros(2), np.zeros(2))
        except ValueError:
            return False
    return True


def cross(
    context: Context, a: Any, b: Any, axisa: Any = -1, axisb: Any = -1, axisc: Any = -1, axis: Any = None
) -> Value:
    """The vector products of vectors of three numbers."""
    if axis is not None:
        axisa = axisb = axisc = axis
    vectors = []
    values = [array_of(context, v) for v in (a, b)]
    if not all(map(dimensions, values)):
        raise raised(ValueError("At least one array has zero dimension"), context.loc)
    places = [
        normal_axis(context, place, len(dimensions(v)), name)
        for v, place, name in zip(values, (axisa, axisb), ("axisa", "axisb"), strict=True)
    ]
    for value, place in zip(values, places, strict=True):
        vectors.append(moveaxis(context, value, place, -1))
    lengths = [dimensions(v)[-1] for v in vectors]
    text = _not_vectors()
    for length in lengths:
        if _takes_two():
            of_two = dim_max(1 - (length - 2) * (length - 2), 0)
            refused, instead = "np.cross of vectors of two numbers", "write a[0]*b[1] - a[1]*b[0]"
            require_equal(context, of_two, 0, "UnsupportedError", refused, help=instead)
        require_equal(context, length, 3, "ValueError", text, *lengths)
    x, y = ([_component(context, v, k) for k in range(3)] for v in vectors)

    def minor(i: int, j: int) -> Value:
        first, second = (elementwise(context, "multiply", x[p], y[q]) for p, q in ((i, j), (j, i)))
        return array_of(context, elementwise(context, "subtract", first, second))

    parts = [minor(1, 2), minor(2, 0), minor(0, 1)]
    ndim = len(dimensions(parts[0]))
    layers = [context.builder.emit("newaxis", (p,), {"axis": ndim}) for p in parts]
    made = context.builder.emit("concatenate", layers, {"axis": ndim})
    return moveaxis(context, made, -1, axisc)


def _component(context: Context, value: Value, number: int) -> Value:
    attrs = {"axis": len(dimensions(value)) - 1, "at": number, "keep": True}
    return context.builder.emit("index", (value,), attrs)


def _cross_of_vectors(context: Context, x1: Any, x2: Any, /, *, axis: Any = -1) -> Value:
    """The vector products of vectors of three numbers along an axis."""
    vectors = [array_of(context, x) for x in (x1, x2)]
    lengths = [dimensions(v)[normal_axis(context, axis, len(dimensions(v)))] for v in vectors]
    text = (
        "Both input arrays must be (arrays of) 3-dimensional vectors, but they are {2} and {3} dimensional instead."
    )
    for length in lengths:
        require_equal(context, length, 3, "ValueError", text, *lengths)
    return cross(context, *vectors, axis=axis)


FUNCTIONS: dict[str, Handler] = {
    "diff": diff,
    "linalg.cross": _cross_of_vectors,
    "ediff1d": ediff1d,
    "gradient": gradient,
    "kron": kron,
    "cross": cross,
}
"""By NumPy's name; parameters are called as NumPy calls them."""
