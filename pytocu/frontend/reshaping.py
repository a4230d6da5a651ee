"""Views of whole arrays: reshape and ravel, diagonals, repeated and reversed axes.

A reshape is a view where the elements lie in memory in the order of the new shape, as far as that
follows from the layout of the arguments; elsewhere it is a copy, as it is in NumPy.
"""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import numpy as np

from pytocu.deferred import Deferred
from pytocu.errors import ShapeError, UnsupportedError, raised
from pytocu.frontend.attributes import expand_dims, transpose
from pytocu.frontend.axes import normal_axis
from pytocu.frontend.devices import known_order
from pytocu.frontend.indexing import subscript
from pytocu.frontend.layouts import (
    column_major,
    is_unknown,
    laid_out_as,
    order_of,
    pairs,
    possible_strides,
    rests,
    row_major,
    strides_of,
    unknown,
)
from pytocu.frontend.literals import listed
from pytocu.frontend.operators import attempt, c_long, is_c_long, known_int, known_option
from pytocu.frontend.ranges import length_from, length_of, number_as_dim
from pytocu.frontend.requirements import REMAPPED, fields, is_length, require_equal, require_fit
from pytocu.frontend.tables import Handler
from pytocu.frontend.values import (
    Context,
    Grown,
    Steps,
    as_dim,
    as_strong,
    describe,
    dim_value,
    dimensions,
    is_array,
    is_weak,
    no_int,
    python_type_name,
    several,
    with_axes,
)
from pytocu.ir.axis_orders import best_axes
from pytocu.ir.core import Value
from pytocu.ir.dims import Dim, DimLike, at_most_one, dim_max, dim_min, floordiv, may_repeat, modulo, product, symbols
from pytocu.ir.infer import broadcast_shapes, kept_length, repeated_axes
from pytocu.ir.layouts import slowest_first
from pytocu.ir.types import WEAK_BOOL, WEAK_INT, ScalarType, WeakType, element, is_strided, scalar

_read_int = Deferred("pytocu.frontend.reading", "read_int")
_scalar_of = Deferred("pytocu.frontend.reading", "scalar_of")

Shape = tuple[DimLike, ...]


NEGATIVE = "negative dimensions are not allowed"
"""What NumPy says of a length below 0."""


DIMENSION, SIZE = (ValueError(f"Maximum allowed {what} exceeded") for what in ("dimension", "size"))
"""What NumPy raises of lengths that int64 does not hold, and of ranges that are as long."""


def as_shape(
    context: Context, shape: Any, sentence: str = NEGATIVE, error: str = "ValueError", beyond: Exception = DIMENSION
) -> Shape:
    """A shape of numbers known now, lengths and Python ints of run time; of these none is below 0, or it is an error.

    What is raised of numbers that int64 does not hold is `beyond`.

    Raises
    ------
    UnsupportedError
        A number that is computed of data.
    TypeError
        Something else that is no int.
    """
    return tuple(as_length(context, item, sentence, error, beyond) for item in several(shape))


def as_length(
    context: Context,
    item: Any,
    sentence: str = NEGATIVE,
    error: str = "ValueError",
    beyond: Exception = DIMENSION,
    elements: DimLike = 1,
) -> DimLike:
    """One length; see :func:`as_shape`.  Where there are no `elements` an int of run time below 0 is a length of 0."""
    dim = as_dim(int(item) if isinstance(item, np.integer) else item)
    if isinstance(dim, int) and not is_c_long(dim):
        raise raised(beyond, context.loc)
    if dim is not None:
        return length_from(context, dim, error, sentence, elements)
    if not isinstance(item, Value):
        raise no_int(context, f"'{type(item).__name__}' object cannot be interpreted as an integer")
    if item.type == WEAK_INT:
        return length_of(context, item, error, sentence, elements)
    if not isinstance(item.type, WeakType) and element(item.type).is_integer and not dimensions(item):
        number = _read_int(context, _scalar_of(context, item, "int"), "a length")
        return length_of(context, number, error, sentence, elements)
    if item.type == WEAK_BOOL or (not isinstance(item.type, WeakType) and element(item.type).is_integer):
        raise UnsupportedError(
            f"a length must be an int, and this is {describe(item)}",
            context.loc,
            "use lengths of arrays, pass an int, or name the argument in @jit(static=(...))",
        )
    raise no_int(context, f"'{python_type_name(item)}' object cannot be interpreted as an integer")


def array_of(context: Context, value: Any) -> Value:
    """What ``np.asanyarray`` makes of an operand."""
    if isinstance(value, (list, tuple, range, Steps, Grown)):
        return listed(context, value)
    made = as_strong(context, value)
    return context.builder.emit("as_array", (made,)) if isinstance(made.type, ScalarType) else made


def along_axis(context: Context, value: Value, axis: Any) -> tuple[Value, int]:
    """An operand and the axis, counted from 0, on which a function works: the flat array where none is named.

    An array without axes NumPy takes for one with a single axis.
    """
    if axis is None or (not dimensions(value) and axis in (0, -1)):
        return ravel(context, value), 0
    return value, normal_axis(context, axis, len(dimensions(value)) or 1)


def broadcast(context: Context, value: Value, shape: Shape, offered: bool = False) -> Value:
    """A value with each element repeated, for lengths that are known to fit.

    What is `offered` NumPy lets the caller write, with a warning.
    """
    given = dimensions(value)
    return value if given == shape and is_array(value) else repeated(context, value, shape, offered)


def repeated(context: Context, value: Value, shape: Shape, offered: bool = False) -> Value:
    """As :func:`broadcast`, and a view of its own where nothing is repeated."""
    given = dimensions(value)
    attrs: dict[str, Any] = {"shape": shape, "expand": repeated_axes(given, shape), "ndim": len(given)}
    if offered:
        attrs["writable"] = True
    return context.builder.emit("broadcast", (value,), attrs)


def filled(context: Context, value: Value, shape: Shape, name: str = "", order: Any = "C", blank: bool = False) -> Value:
    """A new array of one number, or a blank one: each element of it is assigned before it is read."""
    if not shape:
        return context.builder.emit("as_array" if isinstance(value.type, ScalarType) else "copy", (value,), name=name)
    attrs: dict[str, Any] = {"order": "F"} if _is_columns(order, len(shape)) else {}
    if blank:
        attrs["blank"] = True
    return context.builder.emit("copy", (broadcast(context, value, shape),), attrs, name=name)


def with_zero(context: Context, vector: Value) -> Value:
    """A vector with a zero behind it, so that it has a first element."""
    dtype = element(vector.type)
    zero = broadcast(context, context.builder.const(dtype.numpy.type(0).item(), scalar(dtype)), (1,))
    return context.builder.emit("concatenate", (vector, zero), {"axis": 0})


def copied(context: Context, value: Value) -> Value:
    """A new array with the elements of a view."""
    return context.builder.emit("copy" if is_array(value) else "as_array", (value,))


def copied_unless(context: Context, source: Value, made: Value, apart: DimLike | None, order: Any = None) -> Value:
    """A new array with the elements of a view, which NumPy leaves a view where lengths make a number 0, or perhaps."""
    copy = in_order(context, made, order or "C")
    if not isinstance(apart, int):
        context.builder.copy_unless(copy, source, apart)
        if order is None and context.builder.orders[copy][0] != order_of(context, made)[0]:
            # A view is in another order than the copy.
            context.builder.orders[copy] = None, frozenset()
    return copy


def in_order(context: Context, value: Value, order: Any) -> Value:
    """A new array with a view's elements, in row-major order for ``C``, in column-major order for ``F``, else as they lie."""
    if _is_columns(order, len(dimensions(value))):
        return context.builder.emit("copy", (value,), {"order": "F"})
    copy = _in_order(context, value, order)
    if order == "A":
        return contiguous_as(context, copy, value)
    return row_major(context, copy) if order == "C" else laid_out_as(context, copy, value, "K")


def _in_order(context: Context, value: Value, order: Any) -> Value:
    if order != "C" or len(dimensions(value)) < 2 or _falls(context, value):
        return copied(context, value)
    return context.builder.emit("copy", (value,), {"order": "C"})


def _falls(context: Context, value: Value) -> bool:
    """Whether a copy that is in no order of its own is in row-major order."""
    ranks, taken = order_of(context, context.builder.contents(value))
    return ranks is not None and not taken and slowest_first(ranks) == tuple(range(len(ranks)))


def _is_columns(order: Any, ndim: int) -> bool:
    """Whether a new array is in column-major order, which a vector has as well."""
    return order == "F" and ndim > 1


# Reshape.


def reshape(context: Context, value: Value, *shape: Any, order: Any = "C", copy: Any = None) -> Value:
    """``x.reshape(shape)``: a view where the layout allows it.

    Raises
    ------
    ShapeError
        The numbers of elements differ; NumPy's sentence.
    """
    if len(shape) == 1:
        shape = several(shape[0])
    order = known_order(context, np.reshape, order, np.zeros(()), ()) or "C"
    if copy is not None:
        # Older versions have no such argument.
        attempt(context, np.reshape, np.zeros(()), (), copy=known_option(context, copy, "copy="))
        copy = bool(copy)
    lengths = as_shape(context, shape, _RESHAPED, "UnsupportedError")
    if order == "F":
        turned = _reshape(context, transpose(context, value, ()), lengths[::-1], copy, backwards=True)
        return transpose(context, turned, ())
    if order == "A":
        return reshape(context, value, lengths, order=contiguous_order(context, value), copy=copy)
    if not lengths and isinstance(value.type, ScalarType):
        return value
    return _reshape(context, value, lengths, copy)


def in_place(context: Context, value: Value, shape: Any) -> Value | None:
    """The view that an array becomes which gets another shape; None where it may not be one."""
    lengths = as_shape(context, shape, _RESHAPED, "UnsupportedError")
    if _apart(context, value, _known_shape(context, value, lengths)) != 0:
        return None
    return _reshape(context, value, lengths, None)


_RESHAPED = "a length of run time is {0} in reshape: the one that follows from the others is written as -1"


def _reshape(context: Context, value: Value, shape: Shape, copy: Any, backwards: bool = False) -> Value:
    value = array_of(context, value)
    source = dimensions(value)
    shape = _known_shape(context, value, shape, backwards)
    attrs = {"shape": shape, "source": source}
    made = context.builder.emit("reshape", (value,), attrs)
    if copy is True:
        return copied(context, made)
    apart = _apart(context, value, shape)
    context.builder.rests_on(context.builder.root(value), rests(context, value))
    if apart != 0:
        if copy is False:
            raise ShapeError("Unable to avoid creating a copy while reshaping.", context.loc)
        return copied_unless(context, value, made, apart)
    return made


def _known_shape(context: Context, value: Value, shape: Shape, backwards: bool = False) -> Shape:
    """The shape of a reshaped array with the length that -1 stands for; sentences show it `backwards`."""
    source = dimensions(value)
    unknown = [a for a, d in enumerate(shape) if isinstance(d, int) and d < 0]
    size = product(source)
    shown = tuple(d for d in shape if not (isinstance(d, int) and d < 0))
    text = [*(f"{{{3 + n}}}" for n in range(len(shown)))]
    if not unknown:
        text = text[::-1] if backwards else text
        listed = f"({', '.join(text)}{',' if len(text) == 1 else ''})".replace(", ", ",")
        sentence = f"cannot reshape array of size {{2}} into shape {listed}"
        require_equal(context, size, product(shape), "ValueError", sentence, size, *shown, operands=(value,))
        return shape
    if len(unknown) > 1:
        raise raised(ValueError("can only specify one unknown dimension"), context.loc)
    if unknown[0] != (len(shape) - 1 if backwards else 0):
        # NumPy's sentence leaves out an unknown length that is the first.
        text.insert(unknown[0], "newaxis")
    text = text[::-1] if backwards else text
    sentence = f"cannot reshape array of size {{2}} into shape ({','.join(text)})"
    # Of a length of 0 every other length is as good.
    require_equal(context, dim_min(product(shown), 1), 1, "ValueError", sentence, size, *shown, operands=(value,))
    rest, divisor = _cancelled(source, shown)
    if divisor != 1:
        left = modulo(rest, _positive(divisor))
        require_equal(context, left, 0, "ValueError", sentence, size, *shown, operands=(value,))
    at = unknown[0]
    length = context.length(floordiv(rest, _positive(divisor)))
    return (*shape[:at], length, *shape[at + 1 :])


def _positive(dim: DimLike) -> DimLike:
    return dim_max(dim, 1)


def _cancelled(source: Shape, known: Shape) -> tuple[DimLike, DimLike]:
    """A product of lengths over another, without the factors that both have."""
    above, below = list(source), []
    for dim in known:
        if dim in above:
            above.remove(dim)
        else:
            below.append(dim)
    up, down = product(tuple(above)), product(tuple(below))
    if isinstance(up, Dim) and isinstance(down, int) and down > 0 and all(c % down == 0 for _, c in up.terms):
        return floordiv(up, down), 1
    return up, down


def _apart(context: Context, value: Value, shape: Shape) -> DimLike | None:
    """0 where the elements lie in memory as the new shape needs them; None where that does not follow from lengths.

    They do where axes that follow each other, but for those of length 1, are walked in equal steps, or elements that lie in
    one piece of each of the two shapes end there.
    """
    first, *others = (_apart_of(strides, dimensions(value), shape) for strides in possible_strides(context, value))
    return first if all(first == other for other in others) else None


def _apart_of(strides: Sequence[DimLike], source: Shape, shape: Shape) -> DimLike | None:
    ends = [product(shape[:stop]) for stop in range(1, len(shape) + 1)]
    apart: DimLike = 0
    for a, b in pairs(source):
        term = _differ(source[a], 1) * _differ(source[b], 1)
        for between in source[a + 1 : b]:
            term = term * (1 - _differ(between, 1))
        for end in ends:
            term = term * _differ(end, product(source[: a + 1]))
        # Lengths between are 1 here, and with them the product is what it is where they are not.
        step = strides[b] * product(source[a + 1 : b + 1])
        if term != 0 and strides[a] != step and is_unknown(strides[a] - step):
            return None
        apart = apart + term * _differ(strides[a], step)
    # Without elements it makes no difference.
    return apart + 1 - dim_min(product(source), 1) if isinstance(apart, Dim) else apart


def _differ(first: DimLike, second: DimLike) -> DimLike:
    """1 where two lengths differ, else 0."""
    return dim_min(_square(first - second), 1)


def _square(dim: DimLike) -> DimLike:
    return dim * dim


def ravel(context: Context, value: Value, order: Any = "C") -> Value:
    """All elements along one axis: a view where the layout allows it."""
    order = known_order(context, np.ravel, order, np.zeros(())) or "C"
    if len(dimensions(value)) == 1:
        return subscript(context, value, slice(None))
    return reshape(context, _in_turn(context, value, order), -1)


def _in_turn(context: Context, value: Value, order: Any) -> Value:
    """A view whose elements in row-major order are those of an array in some order."""
    if order == "A":
        order = contiguous_order(context, value)
    if not is_array(value) or order not in ("F", "K"):
        return value
    axes = _memory_order(context, value) if order == "K" else ()
    return value if order == "K" and not axes else transpose(context, value, axes)


def _memory_order(context: Context, value: Value) -> tuple[int, ...]:
    """The axes from the one whose elements are farthest from each other to the one whose elements are next to each other.

    Raises
    ------
    UnsupportedError
        It does not follow from the layouts of the arguments.
    """
    ranks, taken = order_of(context, context.builder.contents(value))
    if ranks is None and is_dense(context, value):
        return tuple(range(len(dimensions(value))))
    if ranks is None or taken:
        raise UnsupportedError(
            "the order of this array in memory is not known while compiling",
            context.loc,
            "name the order of the elements: order='C' or order='F'",
        )
    # As the iterator that copies the elements goes: not by itself into axes along which they are repeated.
    return best_axes(len(ranks), [ranks])


def contiguous_order(context: Context, value: Value) -> str:
    """``F`` of an array in column-major order that is not in row-major order as well, else ``C``."""
    if not is_array(value) or len(dimensions(value)) < 2:
        return "C"
    # An argument that is in neither order is known to be so.
    if context.builder.root(value) not in context.builder.arguments:
        _memory_order(context, value)
    return "F" if not is_dense(context, value) and _is_in_columns(context, value) else "C"


def lies_in_columns(context: Context, value: Value) -> bool:
    """Whether an array is in column-major order, perhaps in row-major order as well."""
    root = context.builder.root(value)
    if root not in context.builder.arguments and len(dimensions(root)) > 1:
        _memory_order(context, value)
    return _is_in_columns(context, value, alone=False) or False


def _is_in_columns(context: Context, value: Value, alone: bool = True) -> bool | None:
    """Whether an array is in column-major order, `alone`: and not in row-major order as well; None where that does not follow.

    A part of an array may be the whole of it, which the lengths of the call that compiles decide.  That an argument lies in
    memory backwards or with gaps its type does not state: calls in which a part of one is in that order are refused.
    """
    columns, rows = spread(context, transpose(context, value, ())), spread(context, value) if alone else 0
    if columns is None or rows is None:
        return None
    apart = columns + 1 - dim_min(rows, 1) if alone else columns
    strides = context.builder.strides_of(context.builder.root(value)) or ()
    named = {name for sides in strides for side in sides for name in symbols(side)}
    decided = is_length(context, apart, 0) if named.isdisjoint(symbols(apart)) else None
    if decided is None:
        text = "this array lies in memory in column-major order, which is not known while compiling"
        help = "name the order behind it: .copy(order='F')"
        require_equal(context, dim_min(apart, 1), 1, "UnsupportedError", text, help=help, operands=(value,))
    return decided or False


def _ravel(context: Context, value: Value, order: Any = "C") -> Value:
    """All elements along one axis: a view where they lie next to each other, which is less often than in a reshape."""
    value, order = array_of(context, value), known_order(context, np.ravel, order, np.zeros(())) or "C"
    made = ravel(context, value, order)
    apart = spread(context, value if len(dimensions(value)) == 1 else _in_turn(context, value, order))
    context.builder.rests_on(context.builder.root(value), rests(context, value))
    return made if apart == 0 else copied_unless(context, value, made, apart)


def spread(context: Context, value: Value) -> DimLike | None:
    """0 where the elements lie next to each other in row-major order; None where that does not follow from lengths."""
    expected: DimLike = 1
    apart: DimLike = 0
    turned = all(inst.op.name == "transpose" for inst in context.builder.views(value))
    whole = turned and context.builder.root(value) in context.builder.arguments
    for length, stride in zip(reversed(dimensions(value)), reversed(strides_of(context, value)), strict=True):
        if at_most_one(length):
            continue
        if is_unknown(stride):
            if not whole:
                return None
            # An argument whose strides are not known is in no order.
            apart = apart + _square(length - 1)
        else:
            apart = apart + _differ(length, 1) * _differ(stride, expected)
        expected = expected * length
    return apart


def is_given_empty(context: Context, value: Value) -> bool:
    """Whether it is an argument without elements, which is in every order: a function that needs one returns it as it is."""
    if value not in context.builder.arguments:
        return False
    return any(is_length(context, length, 0) for length in dimensions(value))


def is_dense(context: Context, value: Value) -> bool:
    """Whether the elements lie next to each other in row-major order, whatever the lengths."""
    return spread(context, value) == 0


def contiguous_as(context: Context, made: Value, given: Value) -> Value:
    """A new array in column-major order where another one is, and not in row-major order, else in row-major order."""
    shape = dimensions(given)
    ranks, taken = order_of(context, context.builder.contents(given))
    columns = [axis for axis in reversed(range(len(shape))) if not at_most_one(shape[axis])]
    # An array with one long axis is in both orders, or in none.
    either = len(columns) < 2 or is_dense(context, given) or _is_strided_argument(context, given)
    if either:
        return row_major(context, made)
    if ranks is not None and not taken and [a for a in slowest_first(ranks) if not at_most_one(shape[a])] != columns:
        return row_major(context, made)
    turned = _is_in_columns(context, given)
    if turned is None:
        return unknown(context, made)
    return column_major(context, made) if turned else row_major(context, made)


def _is_strided_argument(context: Context, value: Value) -> bool:
    """Whether it is an argument, perhaps with its axes in another order, that lies in memory with gaps."""
    root = context.builder.root(value)
    turned = all(inst.op.name == "transpose" for inst in context.builder.views(value))
    return turned and root in context.builder.arguments and is_strided(getattr(root.type, "layout", "C"))


def flatten(context: Context, value: Value, order: Any = "C") -> Value:
    """All elements along one axis, in a new array."""
    return copied(context, ravel(context, value, order))


# Other shapes.


def broadcast_to(context: Context, array: Any, shape: Any, subok: Any = False) -> Value:
    """Elements repeated to a shape, as a view.

    Raises
    ------
    ShapeError
        The array does not fit; NumPy's sentence.
    """
    value, target = array_of(context, array), as_shape(context, shape, _BROADCAST)
    given = dimensions(value)
    if len(given) > len(target):
        text = "input operand has more dimensions than allowed by the axis remapping"
        raise raised(ValueError(text if target else "cannot broadcast a non-scalar to a scalar array"), context.loc)
    if any(isinstance(d, int) and d < 0 for d in target):
        raise raised(ValueError(_BROADCAST), context.loc)
    sentence = f"{REMAPPED}{fields(2, given)}  and requested shape {fields(2 + len(given), target)}"
    for length, wanted in zip(given[::-1], target[::-1], strict=False):
        if length != 1:
            shown = (*given, *target)
            require_fit(context, length, wanted, "ValueError", sentence, *shown, operands=(value,))
    return repeated(context, value, target)


_BROADCAST = "all elements of broadcast shape must be non-negative"


def broadcast_arrays(context: Context, *args: Any, subok: Any = False) -> tuple[Value, ...]:
    """Arrays repeated to their common shape, as views; those that have it are themselves."""
    values = [array_of(context, a) for a in args]
    made = together(context, values, offered=True)
    return tuple(v if _is_whole(dimensions(v), dimensions(m)) else m for v, m in zip(values, made, strict=True))


def _is_whole(given: Shape, whole: Shape) -> bool:
    """Whether lengths that have been compared with those of a common shape repeat nothing."""
    repeats = any(g != w and (g == 1 or may_repeat(g)) for g, w in zip(given, whole, strict=False))
    return len(given) == len(whole) and not repeats


def together(
    context: Context,
    values: Sequence[Value],
    error: str = "ValueError",
    sentence: str = "",
    offered: bool = False,
    numbers: Sequence[DimLike] = (),
) -> tuple[Value, ...]:
    """Values repeated to their common shape; lengths that must be equal are compared by the call.

    Parameters
    ----------
    error, sentence : str
        Of the exception, before the list of all shapes; by default what ``np.broadcast_arrays`` says.
    offered : bool
        As :func:`broadcast` takes it.
    numbers : sequence of lengths
        Which arguments they are to NumPy, where they are not 0, 1 and so on.

    Raises
    ------
    CompileError
        They do not broadcast.
    """
    shapes = [dimensions(v) for v in values]
    ndim = max((len(s) for s in shapes), default=0)
    for axis in range(-ndim, 0):
        wide = [(n, s[axis]) for n, s in enumerate(shapes) if len(s) >= -axis and s[axis] != 1]
        if sentence and len({length for _, length in wide if isinstance(length, int)}) > 1:
            # They differ whatever the lengths are that the sentence shows beside them.
            found = raised(getattr(builtins, error)(sentence), context.loc)
            found.lengths = sentence + "{} " * len(shapes), tuple(shapes), ()
            raise found
        kept = kept_length([length for _, length in wide]) if wide else 1
        at = next((n for n, length in wide if length == kept), 0)
        for other, length in wide:
            first, number = sorted((at, other))
            named = [numbers[n] if numbers else n for n in (first, number)]
            shown = (*named, *shapes[first], *shapes[number])
            text = (
                "shape mismatch: objects cannot be broadcast to a single shape.  Mismatch is between arg {2} with shape "
                f"{fields(4, shapes[first], ', ')} and arg {{3}} with shape "
                f"{fields(4 + len(shapes[first]), shapes[number], ', ')}."
            )
            if sentence:
                starts = [2 + sum(map(len, shapes[:n])) for n in range(len(shapes))]
                text = sentence + "".join(f"{fields(a, s)} " for a, s in zip(starts, shapes, strict=True))
                shown = tuple(d for s in shapes for d in s)
            require_fit(context, length, kept, error, text, *shown, either=True)
    whole = broadcast_shapes(shapes)
    return tuple(v if not dimensions(v) and not whole else broadcast(context, v, whole, offered) for v in values)


def at_least(ndim: int) -> Any:
    """``np.atleast_1d`` and its like."""

    def handler(context: Context, *arrays: Any) -> Any:
        """Arrays with at least so many axes; NumPy's places for the new ones."""
        made = tuple(_at_least(context, array_of(context, a), ndim) for a in arrays)
        return made[0] if len(made) == 1 else made

    return handler


def _at_least(context: Context, value: Value, ndim: int) -> Value:
    missing = ndim - len(dimensions(value))
    if missing <= 0:
        return value
    if ndim < 3 or len(dimensions(value)) == 0:
        return expand_dims(context, value, tuple(range(missing)))
    return expand_dims(context, value, 2 if missing == 1 else (0, 2))


def flip(context: Context, value: Value, axis: Any = None) -> Value:
    """Axes backwards; all of them by default."""
    ndim = len(dimensions(value))
    axes = range(ndim) if axis is None else (normal_axis(context, a, ndim) for a in several(axis))
    axes = tuple(axes)
    reverse = set(axes)
    if len(reverse) < len(axes):
        raise raised(ValueError("repeated axis"), context.loc)
    if not ndim:
        return subscript(context, value, ())
    return subscript(context, value, (*(slice(None, None, -1) if a in reverse else slice(None) for a in range(ndim)), ...))


def fliplr(context: Context, value: Value) -> Value:
    """The second axis backwards."""
    if len(dimensions(value)) < 2:
        raise raised(ValueError("Input must be >= 2-d."), context.loc)
    return flip(context, value, 1)


def flipud(context: Context, value: Value) -> Value:
    """The first axis backwards."""
    if not dimensions(value):
        raise raised(ValueError("Input must be >= 1-d."), context.loc)
    return flip(context, value, 0)


def rot90(context: Context, value: Value, k: Any = 1, axes: Any = (0, 1)) -> Value:
    """Quarter turns in the plane of two axes."""
    ndim = len(dimensions(value))
    axes = known_option(context, axes, "axes=")
    attempt(context, np.rot90, np.zeros((1,) * ndim), 1, axes)
    axes = tuple(axes)
    turns = known_int(context, k, "k=") % 4
    order = list(range(ndim))
    order[axes[0]], order[axes[1]] = order[axes[1]], order[axes[0]]
    match turns:
        case 0:
            return subscript(context, value, slice(None))
        case 2:
            return flip(context, flip(context, value, axes[0]), axes[1])
        case 1:
            return transpose(context, flip(context, value, axes[1]), tuple(order))
    return flip(context, transpose(context, value, tuple(order)), axes[1])


def _rollaxis(context: Context, a: Any, axis: Any, start: Any = 0) -> Value:
    """``np.rollaxis``, which takes no list."""
    with_axes(context, a, "ndim")
    return rollaxis(context, array_of(context, a), axis, start)


def rollaxis(context: Context, value: Value, axis: Any, start: Any = 0) -> Value:
    """An axis moved before another."""
    ndim = len(dimensions(value))
    place = normal_axis(context, axis, ndim)
    start = known_option(context, start, "start=")
    attempt(context, np.rollaxis, np.zeros((1,) * ndim), place, start)
    before = int(start) + ndim if start < 0 else int(start)
    before -= place < before
    order = [a for a in range(ndim) if a != place]
    order.insert(before, place)
    return transpose(context, value, tuple(order))


def diagonal(
    context: Context, value: Value, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, *, writable: bool = False
) -> Value:
    """Elements whose positions on two axes differ by an offset, along a new last axis; a view of an array in memory."""
    ndim = len(dimensions(value))
    if ndim < 2:
        raise raised(ValueError("diag requires an array of at least two dimensions"), context.loc)
    first, second = normal_axis(context, axis1, ndim, "axis1"), normal_axis(context, axis2, ndim, "axis2")
    if first == second:
        raise raised(ValueError("axis1 and axis2 cannot be the same"), context.loc)
    others = tuple(a for a in range(ndim) if a not in (first, second))
    turned = transpose(context, value, (*others, first, second))
    skip = diagonal_number(context, offset)
    if isinstance(skip, Dim):
        down, right = dim_max(0 - skip, 0), dim_max(skip, 0)
        for far, most, end in ((down, 2**31, "less than minimum"), (right, 2**31 - 1, "greater than maximum")):
            require_equal(context, dim_max(far, most), most, "OverflowError", f"signed integer is {end}")
        # The main diagonal of what is left without the rows above it, or the columns before it.
        starts = (slice(dim_value(context, far), None) for far in (down, right))
        turned, skip, down, right = subscript(context, turned, (Ellipsis, *starts)), 0, 0, 0
    elif not -(2**31) <= c_long(context, skip) < 2**31:
        end = "less than minimum" if skip < 0 else "greater than maximum"
        raise raised(OverflowError(f"signed integer is {end}"), context.loc)
    else:
        down, right = max(-skip, 0), max(skip, 0)
    shape = dimensions(turned)
    rows, columns = shape[-2], shape[-1]
    length = context.length(dim_max(dim_min(rows - down, columns - right), 0))
    attrs = {"offset": skip, "length": length, **({"writable": True} if writable else {})}
    return context.builder.emit("diagonal", (turned,), attrs)


def diagonal_number(context: Context, k: Any) -> DimLike:
    """How far a diagonal is from the main one; a number of run time is a polynomial of numbers with names."""
    if not isinstance(k, Value):
        return known_int(context, k, "the number of a diagonal")
    if dimensions(k):
        raise raised(TypeError("only integer scalar arrays can be converted to a scalar index"), context.loc)
    if not isinstance(k.type, WeakType) and element(k.type).is_integer:
        k = _read_int(context, _scalar_of(context, k, "int"), "the number of a diagonal")
    found = number_as_dim(context, k)
    if found is None:
        raise UnsupportedError(f"the number of a diagonal is {describe(k)}", context.loc, "convert it: int(k)")
    return found


METHODS: dict[str, Handler] = {
    "reshape": reshape,
    "ravel": _ravel,
    "flatten": flatten,
    "diagonal": lambda context, a, offset=0, axis1=0, axis2=1: diagonal(context, a, offset, axis1, axis2),
}

FUNCTIONS: dict[str, Handler] = {
    "reshape": lambda context, a, /, shape, order="C", *, copy=None: reshape(
        # NumPy scalars have the method; a Python scalar becomes an array.
        context, (array_of if is_weak(a) else as_strong)(context, a), shape, order=order, copy=copy
    ),
    "ravel": lambda context, a, order="C": _ravel(context, as_strong(context, a), order),
    "broadcast_to": broadcast_to,
    "broadcast_arrays": broadcast_arrays,
    "atleast_1d": at_least(1),
    "atleast_2d": at_least(2),
    "atleast_3d": at_least(3),
    "flip": lambda context, m, axis=None: flip(context, array_of(context, m), axis),
    "fliplr": lambda context, m: fliplr(context, array_of(context, m)),
    "flipud": lambda context, m: flipud(context, array_of(context, m)),
    "rot90": lambda context, m, k=1, axes=(0, 1): rot90(context, array_of(context, m), k, axes),
    "rollaxis": _rollaxis,
    "diagonal": lambda context, a, offset=0, axis1=0, axis2=1: diagonal(context, array_of(context, a), offset, axis1, axis2),
}
"""By NumPy's name; parameters are called as NumPy calls them."""
