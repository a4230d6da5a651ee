"""How NumPy lays elements out in memory, as far as it follows while compiling.

NumPy makes results of elementwise functions in the order of their operands (see `pytocu.ir.layouts`).  The ``return``
states that order, and whether a reshape of them is a view follows from it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from pytocu.frontend.requirements import is_length
from pytocu.frontend.values import Context, dimensions
from pytocu.ir.axis_orders import Ranks, best_axes, ranks_of
from pytocu.ir.core import Inst, Value
from pytocu.ir.dims import DimLike, at_most_one, product, symbol, symbols
from pytocu.ir.expand_positions import reshape_groups
from pytocu.ir.layouts import arrays_of, layout_for, like, results_ranks, slowest_first, view_ranks
from pytocu.ir.layouts import row_major as row_major_ranks
from pytocu.ir.types import STRIDED, ArrayType, axes_of, element, is_strided

Shape = tuple[DimLike, ...]

UNKNOWN = "any_stride_"
"""What the names of strides begin with that are not known while compiling."""


Order: TypeAlias = "tuple[Ranks | None, frozenset[Value]]"
"""How far the elements of the axes are apart, or None; and the arguments that have to be in row-major order for that."""


def strides_of(context: Context, value: Value) -> list[DimLike]:
    """Elements from one position to the next, as far as they follow from layouts; else symbols that begin with `UNKNOWN`.

    Those of what the function makes are right where `rests` are in row-major order.
    """
    first, *others = possible_strides(context, value)
    unknown = _unknown(dimensions(value))
    return [step if all(other[a] == step for other in others) else unknown[a] for a, step in enumerate(first)]


def possible_strides(context: Context, value: Value) -> list[list[DimLike]]:
    """As :func:`strides_of`, for each of the arrays among which a run decides; most often it is one."""
    root = context.builder.root(value)
    named = context.builder.strides_of(root)
    strides = _dense(root.type, order_of(context, root)[0]) if named is None else [above - below for above, below in named]
    possible = [strides]
    decided = context.builder.decided(root)
    for array in () if decided is None else decided[1]:
        if array is not root:
            possible += possible_strides(context, array)
    for inst in reversed(context.builder.views(value)):
        possible = [_through(inst, strides) for strides in possible]
    return possible


def rests(context: Context, value: Value) -> frozenset[Value]:
    """Arguments whose order decides in which order NumPy makes the memory of an array."""
    root = context.builder.root(value)
    return frozenset() if context.builder.strides_of(root) is not None else order_of(context, root)[1]


def _dense(type: object, ranks: Ranks | None) -> list[DimLike]:
    assert isinstance(type, ArrayType)
    if ranks is None or is_strided(type.layout):
        return _unknown(type.shape)
    return _steps(type.shape, ranks)


def _steps(shape: Shape, ranks: Ranks) -> list[DimLike]:
    """The strides of elements that lie one after the other in an order."""
    axes = best_axes(len(shape), [ranks])
    return [product([shape[a] for a in axes[axes.index(axis) + 1 :]]) for axis in range(len(shape))]


def _unknown(shape: Shape) -> list[DimLike]:
    return [symbol(f"{UNKNOWN}{axis}") for axis in range(len(shape))]


def _through(inst: Inst, strides: list[DimLike]) -> list[DimLike]:
    shape = dimensions(inst.result)
    match inst.op.name:
        case "transpose":
            return [strides[a] for a in inst.attr("axes")]
        case "newaxis":
            return [*strides[: inst.attr("axis")], 0, *strides[inst.attr("axis") :]]
        case "index":
            return [s for a, s in enumerate(strides) if a != inst.attr("axis")]
        case "slice":
            return [s * step for s, step in zip(strides, inst.attr("step"), strict=True)]
        case "broadcast":
            lead = len(shape) - len(strides)
            return [0 if a in inst.attr("expand") else strides[a - lead] for a in range(len(shape))]
        case "view":
            return strides
        case "real" | "imag":
            return [s * 2 for s in strides]
        case "reshape":
            return _reshaped(shape, inst.attr("source"), strides)
    return _unknown(shape)


def _reshaped(shape: Shape, source: Shape, strides: list[DimLike]) -> list[DimLike]:
    made: list[DimLike] = [0] * len(shape)
    for axes, named in reshape_groups(shape, source):
        step = next((strides[a] for a in reversed(named) if source[a] != 1), 0)
        for axis in reversed(axes):
            made[axis] = step
            step = step * shape[axis]
    return made


# The order of what is made.


def orders_of(context: Context, results: Sequence[Value]) -> tuple[str | None, ...]:
    """The layouts that NumPy gives new arrays that are returned; empty where nothing can be in another than row-major order."""
    found = tuple(_layout(context, value) for value in results)
    return found if any(found) else ()


def _layout(context: Context, value: Value) -> str | None:
    if not isinstance(value.type, ArrayType) or _long(value) < 2:
        return None
    ranks, _ = order_of(context, value)
    return None if ranks is None else layout_for(value.type, ranks)


def order_of(context: Context, value: Value) -> Order:
    """The order in which NumPy would have the elements of a value, which may be a view.

    A part of an array, which is in no order, has that of the array.
    """
    known = context.builder.orders
    pending = [value]
    while pending:
        current = pending[-1]
        if current in known:
            pending.pop()
            continue
        inst = current.inst
        arrays = [] if inst is None else arrays_of(inst)
        root = context.builder.memory_of.get(current, current)
        missing = [a for a in (root, *arrays) if a not in known and a is not current]
        if missing:
            pending += missing
            continue
        pending.pop()
        if root is not current and known[root][0] is not None:
            # What a loop or branch made of an array lies where the array does.
            known[current] = known[root]
            continue
        if inst is None:
            order, taken = _of_argument(current), frozenset[Value]()
            if order is None and context.builder.strides_of(current) is not None:
                order, taken = row_major_ranks(dimensions(current)), frozenset((current,))
            known[current] = order, taken
            continue
        # A copy in an order that is named is in that order whatever the operand is in.
        named = inst.op.name == "copy" and inst.attr("order", None) is not None
        taken = frozenset[Value]().union(*(known[a][1] for a in arrays if not named))
        ranks = results_ranks(inst, {a: known[a][0] for a in arrays})
        for result, order in zip(inst.results, ranks, strict=True):
            if result is current or result not in context.builder.memory_of:
                known.setdefault(result, (order, taken if order is not None else frozenset()))
    return known[value]


def is_row_major(context: Context, value: Value) -> bool:
    """Whether the elements of an array are certain to lie in row-major order, wherever axes of other lengths than 1 follow.

    Examples
    --------
    A vector has one axis, and a scalar none:

    >>> from pytocu.ir.types import parse_type
    >>> is_row_major(None, Value(parse_type("f32[n]")))
    True
    """
    return _long(value) < 2 or _is_dense(context, value, row_major_ranks(dimensions(value)))


def certain_layout(context: Context, value: Value) -> str | None:
    """The dense layout in which the elements of an array are certain to lie; None where there is none."""
    if _long(value) < 2:
        return "C"
    ranks, taken = order_of(context, value)
    if ranks is None or taken or not _is_dense(context, value, ranks):
        return None
    assert isinstance(value.type, ArrayType)
    return layout_for(value.type, ranks)


def _is_dense(context: Context, value: Value, ranks: Ranks) -> bool:
    shape = dimensions(value)
    steps = zip(shape, strides_of(context, value), _steps(shape, ranks), strict=True)
    return all(at_most_one(length) or step == wanted for length, step, wanted in steps) and not rests(context, value)


def _of_argument(value: Value) -> Ranks | None:
    if not isinstance(value.type, ArrayType):
        # A scalar.
        return row_major_ranks(dimensions(value))
    layout, ndim = value.type.layout, value.type.ndim
    return None if layout == STRIDED and ndim > 1 else ranks_of(axes_of(layout, ndim), value.type.shape)


def _long(value: Value) -> int:
    """How many axes have a length that is not known to be 1."""
    return len(_long_axes(dimensions(value)))


def _long_axes(shape: Sequence[DimLike]) -> list[int]:
    return [axis for axis, length in enumerate(shape) if not at_most_one(length)]


def laid_out_as(context: Context, made: Value, given: Value, order: str) -> Value:
    """A new array whose elements NumPy lays out as those of another, unless an order is asked for."""
    if made is not given and order not in ("C", "F") and len(dimensions(made)) == len(dimensions(given)):
        ranks, taken = order_of(context, context.builder.contents(given))
        context.builder.orders[made] = None if ranks is None else like(ranks, dimensions(made)), taken
    return made


Rule: TypeAlias = "Callable[[Mapping[Value, Ranks | None]], Ranks | None]"


def laid_out(context: Context, made: Value, operands: Sequence[Value], rule: Rule) -> Value:
    """A new array in the order that a rule has for the orders of what it is made of.

    Where that or an operand is not row-major, an axis that happens to have one element might change it: the program is for
    lengths that are not 1 then.
    """
    found = {a: order_of(context, context.builder.contents(a)) for a in operands}
    ranks = rule({a: known for a, (known, _) in found.items()})
    shape = dimensions(made)
    each = [(known, dimensions(a)) for a, (known, _) in found.items()]
    if ranks is not None and not all(known is None or _falls(known, lengths) for known, lengths in (*each, (ranks, shape))):
        for length in dict.fromkeys(d for a in operands for d in dimensions(a) if not at_most_one(d)):
            is_length(context, length, 1)
    taken = frozenset[Value]().union(*(params for _, params in found.values()))
    context.builder.orders[made] = ranks, taken if ranks is not None else frozenset()
    return made


def example_ranks(
    function: Callable[..., Any], operands: Sequence[Value], shape: Shape, known: Mapping[Value, Ranks | None]
) -> Ranks | None:
    """The ranks of what a function of NumPy makes of small arrays that lie as the operands do."""
    examples: list[np.ndarray] = []
    for value in operands:
        ranks, lengths = known[value], [1 if at_most_one(n) else 2 for n in dimensions(value)]
        if ranks is None:
            return None
        axes = best_axes(len(lengths), [ranks])
        # Along an axis without a rank memory does not move.
        dense = np.ones([1 if ranks[a] is None else lengths[a] for a in axes], element(value.type).numpy)
        examples.append(np.broadcast_to(dense.transpose([axes.index(a) for a in range(len(axes))]), lengths))
    strides = function(*examples).strides
    return ranks_of(sorted(range(len(shape)), key=lambda axis: -strides[axis]), shape)


def reduced(context: Context, made: Value, value: Value) -> Value:
    """What a reduction makes of an array; of a new one without elements NumPy does not know in which order its axes are.

    All strides of such an array are 0, and so what has elements again is in row-major order.
    """
    root = context.builder.root(value)
    if _long(made) < 2 or root in context.builder.arguments or root.inst is None:
        return made
    ranks, _ = order_of(context, context.builder.contents(value))
    if ranks is None or _falls(ranks, dimensions(value)):
        return made
    own = dimensions(made)
    nothing = any(is_length(context, length, 0) for length in dimensions(root) if length not in own)
    return row_major(context, made) if nothing else made


def ranks_without_elements(context: Context, value: Value) -> Ranks | None:
    """The ranks of an array without elements, of which an axis without positions has one; None where they do not follow.

    It is a part of an array whose elements lie apart; all strides of a new array without elements are 0.
    """
    root = context.builder.root(value)
    ranks, _ = order_of(context, root)
    count = len(dimensions(root))
    if ranks is None:
        return None
    axes = best_axes(count, [ranks])
    found: Ranks | None = tuple(0 if 0 in dimensions(root) else count - axes.index(axis) for axis in range(count))
    for inst in reversed(context.builder.views(value)):
        if inst.op.name != "slice" and found is not None:
            found = view_ranks(inst, found)
    return found


def _falls(ranks: Ranks, shape: Shape) -> bool:
    """Whether the long axes of an array with these ranks are in row-major order."""
    return [axis for axis in slowest_first(ranks) if not at_most_one(shape[axis])] == _long_axes(shape)


def unknown(context: Context, made: Value) -> Value:
    """A new array of which it is not known in which order NumPy makes it."""
    return lies(context, made, None)


def lies(context: Context, made: Value, layout: str | None) -> Value:
    """A new array in a dense layout, or in one that is not known."""
    shape = dimensions(made)
    context.builder.orders[made] = None if layout is None else ranks_of(axes_of(layout, len(shape)), shape), frozenset()
    return made


def row_major(context: Context, made: Value) -> Value:
    """A new array that NumPy makes in row-major order, whatever the operands are in."""
    return lies(context, made, "C")


def column_major(context: Context, made: Value) -> Value:
    """A new array that NumPy makes in column-major order."""
    return lies(context, made, "F")


def is_unknown(dim: DimLike) -> bool:
    """Whether a stride or a number of it is not known while compiling."""
    return any(name.startswith(UNKNOWN) for name in symbols(dim))


def pairs(shape: Sequence[DimLike]) -> list[tuple[int, int]]:
    """Axes that may follow each other when those of length 1 are left out."""
    found: list[tuple[int, int]] = []
    for first, second in itertools.combinations(range(len(shape)), 2):
        between = shape[first + 1 : second]
        if shape[first] != 1 and shape[second] != 1 and all(not isinstance(d, int) or d == 1 for d in between):
            found.append((first, second))
    return found
