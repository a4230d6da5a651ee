"""Vectors as sets: membership, unions, intersections and differences, made of sorted vectors."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from pytocu.errors import UnsupportedError
from pytocu.frontend.attributes import moveaxis
from pytocu.frontend.axes import normal_axis
from pytocu.frontend.compaction import compact, places
from pytocu.frontend.joining import concatenate
from pytocu.frontend.layouts import row_major
from pytocu.frontend.library_calls import argsort, call, search, type_named
from pytocu.frontend.literals import LONGEST
from pytocu.frontend.operators import attempt, elementwise, known_option
from pytocu.frontend.reductions import combined, length, stand_in
from pytocu.frontend.reshaping import array_of, broadcast, ravel, reshape
from pytocu.frontend.tables import Handler
from pytocu.frontend.values import Context, Masked, as_value, cast, contains_dynamic, dim_value, dimensions, strong_dtype
from pytocu.frontend.worded import after, evaluated
from pytocu.ir import promote
from pytocu.ir.core import Value
from pytocu.ir.dims import DimLike, dim_max, product
from pytocu.ir.types import BOOL, I64, DType, element, scalar


def unique(
    context: Context,
    ar: Any,
    return_index: Any = False,
    return_inverse: Any = False,
    return_counts: Any = False,
    axis: Any = None,
    *,
    equal_nan: Any = True,
    sorted: Any = True,
) -> Any:
    """The different elements in ascending order: sorted by the library, then those unlike their predecessor"""
    value = array_of(context, ar)
    options = (return_index, return_inverse, return_counts, equal_nan)
    index, inverse, counts, nan_once = (bool(o) for o in known_option(context, options, "the options of np.unique"))
    if known_option(context, axis, "axis=") is not None:
        attempt(context, np.unique, np.zeros((1,) * len(dimensions(value))), axis=axis)
        if len(dimensions(value)) > 1:
            return _unique_along(context, value, axis, index, inverse, counts)
    flat = ravel(context, value)
    floats = element(flat.type).kind in "fc"
    if inverse and element(flat.type).kind == "c":
        text = "np.unique with return_inverse=True of complex numbers"
        raise UnsupportedError(text, context.loc, "leave it out")
    if element(flat.type).kind == "c" and nan_once and not (index or counts) and _first_nan_stays():
        names = {"where": np.where, "isnan": np.isnan, "append": np.append, "argmax": np.argmax, "nan": np.float32(np.nan)}
        flat = evaluated(context, _WITH_ONE_NAN, names | {"flat": flat})
    order: Value | None = None
    if index:
        # Of equal elements the first one comes first.
        order = argsort(context, flat, stable=True)
        ordered = context.builder.emit("gather", (flat, order), {"axes": (0,), "at": 0})
        ordered = context.builder.emit("keep", (ordered,))
    else:
        (ordered,) = call(context, "sort", (flat,), axis=0)
    differs = _unlike_before(context, ordered, floats and nan_once)
    made = compact(context, Masked(ordered, differs))
    results = [made]
    # The positions are found once, however often they are asked for.
    first = places(context, differs)
    if order is not None:
        results.append(context.builder.emit("gather", (order, first), {"axes": (0,), "at": 0}))
    if inverse:
        found = search(context, made, flat, False)
        if floats and not nan_once:
            # Each NaN has a place of its own, in their order.
            nan = elementwise(context, "isnan", flat)
            number = context.builder.emit("scan", (cast(context, nan, I64),), {"op": "add", "axis": 0})
            behind = elementwise(context, "add", found, elementwise(context, "subtract", number, length(context, 1)))
            found = elementwise(context, "where", nan, behind, found)
        shape = dimensions(value)
        if shape != dimensions(found):
            found = context.builder.emit("reshape", (found,), {"shape": shape, "source": dimensions(found)})
        results.append(found)
    if counts:
        results.append(_distances(context, first, dimensions(ordered)[0]))
    return made if len(results) == 1 else tuple(results)


@lru_cache(maxsize=1)
def _first_nan_stays() -> bool:
    """Whether NumPy keeps the first of complex numbers that are NaN in a part: newer versions put all in a table."""
    return not np.isnan(np.unique([complex(np.nan, 0), complex(0, np.nan)])[0].imag)


_WITH_ONE_NAN = "where(isnan(flat), append(flat, nan)[argmax(append(isnan(flat), True))], flat)"
"""Numbers of which each that is NaN in a part is the first such one."""


def _distances(context: Context, first: Value, total: DimLike) -> Value:
    """From each position to the next one, and to the end."""
    end = broadcast(context, length(context, total), (1,))
    ends = context.builder.emit("concatenate", (first, end), {"axis": 0})
    following = context.builder.emit("slice", (ends,), {"start": (1,), "step": (1,), "size": dimensions(first)})
    return elementwise(context, "subtract", following, first)


_BY_COLUMNS = """
order = arange(len(rows))
for column in range(columns - 1, -1, -1):
    order = order[argsort(rows[order, column], kind="stable")]
"""
"""The positions that sort rows, their first elements first of all."""


def _unique_along(context: Context, value: Value, axis: Any, index: bool, inverse: bool, counts: bool) -> Any:
    """The different rows along an axis, each of which has the elements of all other axes; a NaN is different from all."""
    shape = dimensions(value)
    place = normal_axis(context, axis, len(shape))
    turned = value if place == 0 else moveaxis(context, value, place, 0)
    size, *rest = dimensions(turned)
    rows = reshape(context, turned, (dim_value(context, size), dim_value(context, product(rest))))
    rows = context.builder.emit("keep", (rows,))
    columns = dim_value(context, product(rest))
    known = {"rows": rows, "columns": columns, "arange": np.arange, "argsort": np.argsort, "len": len, "range": range}
    order = context.builder.emit("keep", (as_value(context, after(context, _BY_COLUMNS, known, "order")),))
    ordered = context.builder.emit("keep", (context.builder.emit("gather", (rows, order), {"axes": (0,), "at": 0}),))
    differs = context.builder.emit("keep", (_unlike_before(context, ordered, False),))
    made = compact(context, Masked(ordered, differs))
    first = places(context, differs)
    (number,) = dimensions(first)
    made = reshape(context, made, tuple(dim_value(context, d) for d in (number, *rest)))
    results = [made if place == 0 else moveaxis(context, made, 0, place)]
    if index:
        results.append(context.builder.emit("gather", (order, first), {"axes": (0,), "at": 0}))
    if inverse:
        number = context.builder.emit("scan", (cast(context, differs, I64),), {"op": "add", "axis": 0})
        number = elementwise(context, "subtract", number, length(context, 1))
        found = context.builder.emit("gather", (number, argsort(context, order)), {"axes": (0,), "at": 0})
        # NumPy 2.0 gives the inverse as many axes as the array has.
        around = np.unique(np.zeros((1, 1)), return_inverse=True, axis=0)[1].ndim
        for other in range(len(shape) if around > 1 else 0):
            if other != place:
                found = context.builder.emit("newaxis", (found,), {"axis": other})
        results.append(found)
    if counts:
        results.append(_distances(context, first, size))
    return results[0] if len(results) == 1 else tuple(results)


def _of_array_api(name: str, doc: str, *options: str) -> Handler:
    """One of the array API's functions, whose NaN are different from each other."""

    def handler(context: Context, x: Any, /) -> Any:
        flags = {f"return_{o}": True for o in options}
        found = unique(context, x, **flags, equal_nan=False)
        return type_named(getattr(np, name), np.zeros(1))(*found) if options else found

    handler.__doc__ = doc
    return handler


def _unlike_before(context: Context, ordered: Value, nan_once: bool) -> Value:
    """Where elements, or rows, in ascending order differ from the one before, and the first one."""
    total, *columns = dimensions(ordered)
    place = context.builder.emit("iota", (), {"axis": 0, "shape": (total,)})
    before = elementwise(context, "maximum", elementwise(context, "subtract", place, length(context, 1)), length(context, 0))
    previous = context.builder.emit("gather", (ordered, before), {"axes": (0,), "at": 0})
    differs = elementwise(context, "not_equal", ordered, previous)
    if nan_once:
        nan = (elementwise(context, "isnan", v) for v in (ordered, previous))
        both = elementwise(context, "bitwise_and", *nan)
        differs = elementwise(context, "bitwise_and", differs, elementwise(context, "invert", both))
    if columns:
        (differs,) = combined(context, "bitwise_or", (differs,), (1,), False)
    first = elementwise(context, "equal", place, length(context, 0))
    return elementwise(context, "bitwise_or", first, differs)


def isin(
    context: Context, element: Any, test_elements: Any, assume_unique: Any = False, invert: Any = False, *, kind: Any = None
) -> Value:
    """Whether each element is one of those of another array"""
    backwards = known_option(context, invert, "invert=")
    value = array_of(context, element)
    known = [0] if contains_dynamic(test_elements) else np.ravel(attempt(context, np.asarray, test_elements))[:1]
    kinds = (np.ones(1, strong_dtype(v).numpy) if isinstance(v, Value) else known for v in (value, test_elements))
    attempt(context, np.isin, *kinds, kind=known_option(context, kind, "kind="))
    if isinstance(test_elements, (list, tuple)) and not contains_dynamic(test_elements):
        found = _among_known(context, value, test_elements)
    else:
        found = _member(context, value, ravel(context, array_of(context, test_elements)))
    return row_major(context, array_of(context, elementwise(context, "invert", found) if backwards else found))


def _among_known(context: Context, value: Value, known: Any) -> Value:
    """A comparison with each of a few numbers."""
    numbers = attempt(context, np.asarray, known)
    if numbers.size > LONGEST or numbers.dtype.kind not in "biufc":
        text = f"np.isin of {numbers.size} numbers known while compiling would become as many comparisons"
        raise UnsupportedError(text, context.loc, "pass them as an argument")
    found: Value = elementwise(context, "not_equal", value, value)
    found = elementwise(context, "bitwise_and", found, np.False_)
    for number in dict.fromkeys(numbers.ravel()):
        found = elementwise(context, "bitwise_or", found, elementwise(context, "equal", value, number))
    return found


def _member(context: Context, value: Value, others: Value) -> Value:
    """By halves in the sorted vector: an element is there where more are not behind it than before it."""
    dtypes = element(value.type), element(others.type)
    common = promote.result_dtype(dtypes)
    if {d.kind for d in dtypes} == {"i", "u"} and common.kind == "f":
        # No integers hold both, but those of one dtype that the other one has are compared exactly.
        row, bound = ("greater_equal", 0) if dtypes[0].kind == "i" else ("less_equal", np.iinfo(dtypes[1].numpy).max)
        inside = elementwise(context, row, value, bound)
        return elementwise(context, "bitwise_and", inside, _member(context, cast(context, value, dtypes[1]), others))
    if common.kind == "c":
        # They have no order in which they could be found sooner.
        each = context.builder.emit("newaxis", (value,), {"axis": len(dimensions(value))})
        return evaluated(context, "(each == others).any(-1)", {"each": each, "others": others})
    work = I64 if common is BOOL else common
    value = cast(context, value, work)
    (ordered,) = call(context, "sort", (cast(context, others, work),), axis=0)
    return _found(context, ordered, value)


def _found(context: Context, ordered: Value, value: Value) -> Value:
    bounds = [search(context, ordered, value, right) for right in (False, True)]
    found = elementwise(context, "less", *bounds)
    if element(value.type).kind == "f":
        # NaN is equal to nothing.
        found = elementwise(context, "bitwise_and", found, elementwise(context, "equal", value, value))
    return found


def union1d(context: Context, ar1: Any, ar2: Any) -> Value:
    """The different elements of both, in ascending order"""
    return unique(context, concatenate(context, (ar1, ar2), axis=None))


def setxor1d(context: Context, ar1: Any, ar2: Any, assume_unique: Any = False) -> Value:
    """The different elements that are in one of both, in ascending order"""
    if known_option(context, assume_unique, "assume_unique="):
        # Older versions take arrays with one axis only.
        attempt(context, np.setxor1d, *(stand_in(a) if isinstance(a, Value) else a for a in (ar1, ar2)), assume_unique=True)
        joined = concatenate(context, (ar1, ar2), axis=None)
    else:
        joined = concatenate(context, [unique(context, array_of(context, a)) for a in (ar1, ar2)])
    (ordered,) = call(context, "sort", (joined,), axis=0)
    differs = _unlike_before(context, ordered, False)
    (total,) = dimensions(ordered)
    end = broadcast(context, context.builder.const(True, scalar(BOOL)), (1,))
    longer = context.builder.emit("concatenate", (differs, end), {"axis": 0})
    behind = context.builder.emit("slice", (longer,), {"start": (1,), "step": (1,), "size": (total,)})
    return compact(context, Masked(ordered, elementwise(context, "bitwise_and", differs, behind)))


def _combined(name: str, invert: bool, doc: str) -> Handler:
    """``np.intersect1d`` and ``np.setdiff1d``: the different elements of one that are, or are not, in the other."""

    def handler(context: Context, ar1: Any, ar2: Any, assume_unique: Any = False) -> Value:
        first, second = (ravel(context, array_of(context, a)) for a in (ar1, ar2))
        if known_option(context, assume_unique, "assume_unique="):
            return _of_different(context, first, second, invert)
        chosen = unique(context, first)
        if invert:
            return compact(context, Masked(chosen, elementwise(context, "invert", _member(context, chosen, second))))
        dtypes = element(first.type), element(second.type)
        common = promote.result_dtype(dtypes)
        if _may_become_equal(*dtypes):
            return _of_different(context, chosen, unique(context, second), False)
        chosen, second = cast(context, chosen, common), cast(context, second, common)
        return compact(context, Masked(chosen, _member(context, chosen, second)))

    handler.__doc__ = doc
    return handler


def _may_become_equal(*dtypes: DType) -> bool:
    """Whether elements of one vector that differ may be equal in the dtype in which vectors of these dtypes are joined."""
    return not promote.result_dtype(dtypes).is_integer and any(d.is_integer and d.bits == 64 for d in dtypes)


def _of_different(context: Context, first: Value, second: Value, invert: bool) -> Value:
    """The same of vectors whose elements are said to be different: not in ascending order where they are taken away."""
    if invert:
        found = _member(context, first, second)
        return compact(context, Masked(first, elementwise(context, "invert", found)))
    ordered = call(context, "sort", (concatenate(context, (first, second)),), axis=0)[0]
    return compact(context, Masked(*_twice(context, ordered)))


def _twice(context: Context, ordered: Value) -> tuple[Value, Value]:
    """Elements in ascending order but for the last one, and where the next one is equal."""
    (total,) = dimensions(ordered)
    rest = context.length(dim_max(total - 1, 0))
    before, behind = (
        context.builder.emit("slice", (ordered,), {"start": (start,), "step": (1,), "size": (rest,)}) for start in (0, 1)
    )
    return before, elementwise(context, "equal", before, behind)


_difference = _combined("setdiff1d", True, "The different elements that are not in the other, in ascending order")
_intersection = _combined("intersect1d", False, "The different elements that are in both, in ascending order")


def intersect1d(
    context: Context, ar1: Any, ar2: Any, assume_unique: Any = False, return_indices: Any = False
) -> Any:
    """The different elements that are in both, in ascending order"""
    given = known_option(context, return_indices, "return_indices=")
    different = known_option(context, assume_unique, "assume_unique=")
    if not given:
        return _intersection(context, ar1, ar2, different)
    vectors = [array_of(context, a) for a in (ar1, ar2)]
    firsts: list[Value] = []
    if different:
        vectors = [ravel(context, v) for v in vectors]
    else:
        found = [unique(context, v, True) for v in vectors]
        vectors, firsts = [f[0] for f in found], [f[1] for f in found]
    both = concatenate(context, vectors)
    order = context.builder.emit("keep", (argsort(context, both, stable=True),))
    ordered = context.builder.emit("keep", (context.builder.emit("gather", (both, order), {"axes": (0,), "at": 0}),))
    before, equal = _twice(context, ordered)
    at = places(context, equal)
    results = [context.builder.emit("gather", (before, at), {"axes": (0,), "at": 0})]
    size = length(context, dimensions(vectors[0])[0])
    for number in range(2):
        next_one = at if number == 0 else elementwise(context, "add", at, 1)
        place = context.builder.emit("gather", (order, next_one), {"axes": (0,), "at": 0})
        place = place if number == 0 else elementwise(context, "subtract", place, size)
        if firsts and _may_become_equal(*(element(v.type) for v in vectors)):
            # Where two elements of the first vector met, NumPy takes the second one's position from the other's end.
            results.append(as_value(context, evaluated(context, "first[place]", {"first": firsts[number], "place": place})))
            continue
        results.append(context.builder.emit("gather", (firsts[number], place), {"axes": (0,), "at": 0}) if firsts else place)
    return tuple(results)


FUNCTIONS: dict[str, Handler] = {
    "unique": unique,
    "unique_all": _of_array_api("unique_all", "``np.unique`` with positions, inverse and counts", "index", "inverse", "counts"),
    "unique_counts": _of_array_api("unique_counts", "``np.unique`` with counts", "counts"),
    "unique_inverse": _of_array_api("unique_inverse", "``np.unique`` with the inverse", "inverse"),
    "unique_values": _of_array_api("unique_values", "``np.unique`` in ascending order, which NumPy does not promise"),
    "isin": isin,
    "union1d": union1d,
    "setxor1d": setxor1d,
    "intersect1d": intersect1d,
    "setdiff1d": _difference,
}
"""By NumPy's name; parameters are called as NumPy calls them."""
