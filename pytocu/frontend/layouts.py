"""How NumPy lays elements out in memory, as far as it follows while compiling.

What a function makes is in row-major order here.  NumPy makes results of elementwise functions in the order of their
operands, and whether a reshape of them is a view follows from that order.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from pytocu.frontend.values import Context, dimensions
from pytocu.ir.core import Inst, Value, walk
from pytocu.ir.dims import DimLike, product, symbol, symbols
from pytocu.ir.expand_positions import reshape_groups
from pytocu.ir.types import ArrayType

Shape = tuple[DimLike, ...]

UNKNOWN = "any_stride_"
"""What the names of strides begin with that are not known while compiling."""


Order = tuple[str | None, frozenset[Value]]
"""``C``, ``F`` or not known, and arguments of which it is known only where they are in row-major order."""


def strides_of(context: Context, value: Value) -> list[DimLike]:
    """Elements from one position to the next, as far as they follow from layouts; else symbols that begin with `UNKNOWN`.

    Those of what the function makes are right where `rests` are in row-major order.
    """
    root = context.builder.root(value)
    named = context.builder.strides_of(root)
    strides = _of_layout(root.type, order_of(context, root)[0]) if named is None else [above - below for above, below in named]
    for inst in reversed(context.builder.views(value)):
        strides = _through(inst, strides)
    return strides


def rests(context: Context, value: Value) -> frozenset[Value]:
    """Arguments whose order decides in which order NumPy makes the memory of an array."""
    root = context.builder.root(value)
    return frozenset() if context.builder.strides_of(root) is not None else order_of(context, root)[1]


def _of_layout(type: object, order: str | None) -> list[DimLike]:
    assert isinstance(type, ArrayType)
    shape = type.shape
    match order:
        case "C":
            return [product(shape[a + 1 :]) for a in range(len(shape))]
        case "F":
            return [product(shape[:a]) for a in range(len(shape))]
    return _unknown(shape)


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


def order_of(context: Context, value: Value) -> Order:
    """The order in which NumPy would have the elements of a whole memory, or of contents.

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
        arrays = [a for a in inst.args if _long(a) > 1] if inst is not None and _long(current) > 1 else []
        missing = [a for a in arrays if a not in known]
        if missing:
            pending += missing
            continue
        order = _order(current, inst, {a: known[a][0] for a in arrays})
        taken = frozenset[Value]().union(*(known[a][1] for a in arrays))
        if inst is None and order is None and context.builder.strides_of(current) is not None:
            order, taken = "C", frozenset((current,))
        known[current] = order, taken if order is not None else frozenset()
        pending.pop()
    return known[value]


def _long(value: Value) -> int:
    """How many axes have a length that is not known to be 1."""
    return sum(length != 1 for length in dimensions(value))


def _order(value: Value, inst: Inst | None, orders: dict[Value, str | None]) -> str | None:
    if inst is None:
        assert isinstance(value.type, ArrayType)
        return None if value.type.layout == "S" else value.type.layout
    if inst.op.name in ("strided", "memory"):
        return None
    if _long(value) < 2:
        return "C"
    found = set(orders.values())
    match inst.op.name:
        case "transpose":
            turned = [a for a in inst.attr("axes") if dimensions(inst.args[0])[a] != 1]
            if turned == sorted(turned):
                return orders[inst.args[0]]
            backwards = turned == sorted(turned, reverse=True)
            return {"C": "F", "F": "C"}.get(orders[inst.args[0]] or "") if backwards else None
        case "newaxis" | "index" | "slice" | "view" | "real" | "imag" | "update":
            return orders.get(inst.args[0], "C")
        case "copy" if inst.attr("order") is not None:
            return inst.attr("order")
        case "diagonal" | "windows" | "pick":
            return None
        case "gather":
            # NumPy makes the axes of positions the slowest ones, also where they are not the first ones.
            return "C" if inst.attr("at") == 0 else None
    if inst.op.kind == "elementwise":
        # Of several orders NumPy takes the row-major one; an operand that is repeated decides for the other axes alone.
        whole = {orders[a] for a in orders if dimensions(a) == dimensions(value)}
        if "C" in whole or not found:
            return "C"
        return "F" if found == whole == {"F"} else None
    if any(_moves(inner) for region in inst.regions for inner in walk(region)):
        return None
    return "C" if found <= {"C"} else None


def _moves(inst: Inst) -> bool:
    """Whether the elements of a result may be in another order than those of an operand."""
    return inst.op.name == "transpose" or (inst.op.name == "gather" and inst.attr("at") != 0)


def laid_out_as(context: Context, made: Value, given: Value, order: str) -> Value:
    """A new array whose elements NumPy lays out as those of another, unless an order is asked for."""
    if order not in ("C", "F") and len(dimensions(made)) == len(dimensions(given)):
        context.builder.orders[made] = _order_of_view(context, given)
    return made


def _order_of_view(context: Context, value: Value) -> Order:
    return order_of(context, context.builder.contents(value))


def row_major(context: Context, made: Value) -> Value:
    """A new array that NumPy makes in row-major order, whatever the operands are in."""
    context.builder.orders[made] = "C", frozenset()
    return made


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
