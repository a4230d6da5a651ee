"""Values combined by place: a loop in the order of the values on a CPU, and sorted by place first on a GPU.

In: array level, ``combine_at`` and ``place`` instructions, and counts by place (`bincount`).  Out: none of these.  NumPy
combines one value after the other, so the order is part of the result.  A thread of a CPU does the same, as a loop of the
user's program would.  On a GPU a stable sort brings the values of one place together in their order, and each place combines
what is its own: no two threads change one element.  Counts are exact in any order: on a GPU they stay a library's, and so they
do where arguments in one memory are changed.  Rows that a mask places are copied by such a loop on a CPU, which leaves other
rows alone; elsewhere each element looks for its own value, so that all threads look at once.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytocu.ir.builder import Builder
from pytocu.ir.core import Function, Inst, Value
from pytocu.ir.dims import DimLike, product, symbol
from pytocu.ir.regions import captured, closed, numbers_of
from pytocu.ir.rewrite import put_again, rewrite
from pytocu.ir.types import I64, WEAK_INT, ArrayType, DType, ScalarType, element, scalar, shape_of
from pytocu.passes.context import PassContext
from pytocu.passes.costs import operations

MOST_INSIDE = 8
"""Simple operations that a value takes at most to be computed in the loop, by one thread and not as vectors."""


def run(function: Function, context: PassContext) -> Function:
    """Write them as loops, or as sorts and folds."""
    # Arguments in one memory that are changed have no loops beside them.
    shared = any(inst.op.name == "memory" for inst in function.body.insts)
    names = set(numbers_of(function.body))

    def unused(word: str) -> str:
        name = next(n for n in (f"{word}{k or ''}_" for k in range(len(names) + 1)) if n not in names)
        names.add(name)
        return name

    def rule(builder: Builder, inst: Inst, args: tuple[Value, ...]) -> Sequence[Value] | None:
        if inst.op.name not in ("combine_at", "place") and not counts(inst):
            return None
        if inst.op.name == "place":
            start, values = args[0], args[2]
            view = start.inst is not None and start.inst.op.kind == "view"
            if context.target.kind == "cuda" or shared or view or len(shape_of(values.type)) == 1:
                return (_looked_up(builder, inst, *args),)
            return (_walk(builder, inst, unused("place"), *args),)
        if counts(inst):
            if context.target.kind == "cuda" or shared:
                return None
            start, places = (a.inst.args[0] if a.inst is not None and a.inst.op.name == "keep" else a for a in args)
            args = start, places, _ones(builder, element(start.type), shape_of(places.type))
        if context.target.kind == "cuda" or shared:
            by, (start, *others), shape = inst.attr("op"), args, shape_of(args[0].type)
            rest = shape_of(args[2].type)[1:]
            flat = (product(shape[: len(shape) - len(rest)]), *rest)
            if len(flat) < len(shape):
                start = builder.emit("reshape", (start,), {"shape": flat, "source": shape})
            made = _numbered(builder, start, *others) if by == "last" else _sorted(builder, by, start, *others)
            if len(flat) < len(shape):
                made = builder.emit("reshape", (made,), {"shape": shape, "source": flat})
            return (made,)
        return (_loop(builder, inst, unused("place"), *args),)

    return rewrite(function, rule)


def counts(inst: Inst) -> bool:
    """Whether an instruction counts numbers by place."""
    return inst.op.name == "library" and inst.attr("function") == "counts"


def _ones(builder: Builder, dtype: DType, shape: tuple[DimLike, ...]) -> Value:
    return _spread(builder, builder.const(1, scalar(dtype)), shape)


def _spread(builder: Builder, number: Value, shape: tuple[DimLike, ...]) -> Value:
    return builder.emit("broadcast", (number,), {"expand": tuple(range(len(shape))), "ndim": 0, "shape": shape})


def _repeated(builder: Builder, vector: Value, shape: tuple[DimLike, ...], axis: int) -> Value:
    """A vector along an axis of a shape, the same along the others."""
    value = vector
    for other in (a for a in range(len(shape)) if a != axis):
        value = builder.emit("newaxis", (value,), {"axis": other})
    others = tuple(a for a in range(len(shape)) if a != axis)
    return builder.emit("broadcast", (value,), {"shape": shape, "expand": others, "ndim": len(shape)})


def _loop(builder: Builder, inst: Inst, name: str, start: Value, places: Value, values: Value) -> Value:
    """The values one after the other."""
    (count,) = shape_of(places.type)
    bounds = [_number(builder, d) for d in (0, count, 1)]
    before = Value(start.type, start.name)
    # What the array held before is not what it holds in a step.
    places, values = (builder.emit("keep", (v,)) if _reads(v, start) else v for v in (places, values))
    inner = Builder(inst.loc)
    place, value = (_element(inner, v, symbol(name)) for v in _again(inner, _inside((places, values)), places, values))
    if element(place.type) is not I64:
        place = inner.emit("cast", (place,), {}, (scalar(I64),))
    rest = shape_of(values.type)[1:]
    positions = _positions(inner, place, shape_of(start.type)[: len(shape_of(start.type)) - len(rest)])
    if inst.attr("op") != "last":
        there = inner.emit("gather", (before, *positions), {"axes": tuple(range(len(positions))), "at": 0})
        value = inner.emit(inst.attr("op") or "add", (there, value))
    made = value if rest else inner.emit("as_array", (value,))
    result = _replaced(inner, before, positions, made, inst.results[0].name)
    insts = inner.take()
    number = Value(scalar(I64))
    shared = captured(insts, (number, before), (result,))
    # What the array held before is not what it holds in a step.
    outer = [builder.emit("copy", (v,), name=v.name) if v is start else v for v in shared]
    region = closed(insts, (number, before), (result,), shared, inst.loc)
    attrs = {"carried": 1, "numbers": (name, count, False)}
    return builder.inst("for_loop", (*bounds, start, *outer), attrs, inst.types, (region,)).results[0]


def _walk(builder: Builder, inst: Inst, name: str, start: Value, mask: Value, values: Value, count: Value) -> Value:
    """Through the mask, with the number of the value that comes next."""
    lengths = shape_of(mask.type)
    bounds = [_number(builder, d) for d in (0, product(lengths), 1)]
    # What the array held before is not what it holds in a step.
    mask, values = (builder.emit("keep", (v,)) if _reads(v, start) else v for v in (mask, values))
    mask = _flat(builder, mask)
    number, before, following = Value(scalar(I64)), Value(start.type, start.name), Value(scalar(I64))
    step, there = Builder(inst.loc), Builder(inst.loc)
    chosen = _element(step, _again(step, _inside((mask,)), mask)[0], symbol(name))
    some = step.emit("bitwise_and", (chosen, step.emit("less", (following, count))))
    (values,) = _again(there, _inside((values,)), values)
    value = there.emit("gather", (values, following), {"axes": (0,), "at": 0})
    made = _replaced(there, before, _positions(there, number, lengths), value, inst.results[0].name)
    one = there.const(1, scalar(I64))
    if inst.attr("single", False):
        one = there.emit("minimum", (there.emit("subtract", (count, one)), one))
    sides = (there.emit("add", (following, one)), made), (following, before)
    written = there.take()
    shared = captured(written, (), [*sides[0], *sides[1]])
    blocks = [closed(insts, (), results, shared, inst.loc) for insts, results in zip((written, ()), sides, strict=True)]
    both = step.inst("if_else", (some, *shared), {}, (scalar(I64), *inst.types), blocks)
    both.results[1].name = inst.results[0].name
    insts = step.take()
    own = number, following, before
    shared = captured(insts, own, both.results)
    region = closed(insts, own, both.results, shared, inst.loc)
    # What the array held before is not what it holds in a step.
    outer = [builder.emit("copy", (v,), name=v.name) if v is start else v for v in shared]
    attrs = {"carried": 2, "numbers": (name, product(lengths), False)}
    args = (*bounds, builder.const(0, scalar(I64)), start, *outer)
    return builder.inst("for_loop", args, attrs, (scalar(I64), *inst.types), (region,)).results[1]


def _again(builder: Builder, insts: Sequence[Inst], *values: Value) -> list[Value]:
    """What instructions that are written again make of values."""
    again: dict[Value, Value] = {}
    loc = builder.loc
    for inst in insts:
        builder.loc = inst.loc
        put_again(builder, inst, again)
    builder.loc = loc
    return [again.get(v, v) for v in values]


def _replaced(builder: Builder, array: Value, positions: Sequence[Value], value: Value, name: str) -> Value:
    """An array with a value at a position."""
    target = array
    for axis, position in reversed([*enumerate(positions)]):
        target = builder.emit("pick", (target, position), {"axis": axis})
    return builder.emit("update", (array, target, value), name=name)


def _flat(builder: Builder, array: Value) -> Value:
    shape = shape_of(array.type)
    return array if len(shape) == 1 else builder.emit("reshape", (array,), {"shape": (product(shape),), "source": shape})


def _looked_up(
    builder: Builder, inst: Inst, start: Value, mask: Value, values: Value, count: Value
) -> Value:
    """Each chosen element takes the value whose number is how many are chosen before it."""
    shape, lengths = shape_of(start.type), shape_of(mask.type)
    flat = _flat(builder, mask)
    numbers = builder.emit("cast", (flat,), {}, (ArrayType(I64, shape_of(flat.type)),))
    place = builder.emit("subtract", (builder.emit("scan", (numbers,), {"op": "add", "axis": 0}), numbers))
    if len(lengths) > 1:
        place = builder.emit("reshape", (place,), {"shape": lengths, "source": shape_of(flat.type)})
    if inst.attr("single", False):
        one = builder.emit("equal", (count, builder.const(1, scalar(I64))))
        zero = _spread(builder, builder.const(0, scalar(I64)), lengths)
        place = builder.emit("where", (_spread(builder, one, lengths), zero, place))
    # A position that is not needed is that of an element behind the last one.
    inside = builder.emit("bitwise_and", (mask, builder.emit("less", (place, _spread(builder, count, lengths)))))
    place = builder.emit("where", (inside, place, _spread(builder, _number(builder, shape_of(values.type)[0]), lengths)))
    found = builder.emit("gather", (_padded(builder, values), place), {"axes": (0,), "at": 0})
    for axis in range(len(lengths), len(shape)):
        mask = builder.emit("newaxis", (mask,), {"axis": axis})
    return builder.emit("where", (_stretched(builder, mask, shape), _stretched(builder, found, shape), start))


def _stretched(builder: Builder, array: Value, shape: tuple[DimLike, ...]) -> Value:
    """An array of these axes, repeated along those where it has one element."""
    own = shape_of(array.type)
    expand = tuple(axis for axis, length in enumerate(own) if length == 1 and shape[axis] != 1)
    return builder.emit("broadcast", (array,), {"shape": shape, "expand": expand, "ndim": len(own)}) if expand else array


def _padded(builder: Builder, values: Value) -> Value:
    """Values, and behind them one that nobody takes."""
    dtype, rest = element(values.type), shape_of(values.type)[1:]
    nothing = _spread(builder, builder.const(dtype.numpy.type(0).item(), scalar(dtype)), (1, *rest))
    return builder.emit("concatenate", (values, nothing), {"axis": 0})


def _reads(value: Value, array: Value) -> bool:
    """Whether a value is made of elements of an array that are read where it is computed."""
    order: dict[Inst, None] = {}
    _producers(value, order)
    return value is array or any(array in inst.args for inst in order)


def _positions(builder: Builder, place: Value, shape: tuple[DimLike, ...]) -> list[Value]:
    """Along each axis, where the element with a number is."""
    found: list[Value] = []
    for length in reversed(shape[1:]):
        size = _number(builder, length)
        found.append(builder.emit("remainder", (place, size)))
        place = builder.emit("floor_divide", (place, size))
    return [place, *reversed(found)]


def _number(builder: Builder, number: DimLike) -> Value:
    if isinstance(number, int):
        return builder.const(number, scalar(I64))
    return builder.emit("convert", (builder.emit("dim", (), {"value": number}, (WEAK_INT,)),), {}, (scalar(I64),))


def _element(builder: Builder, value: Value, at: DimLike) -> Value:
    return builder.emit("index", (value,), {"axis": 0, "at": at})


def _inside(values: Sequence[Value]) -> list[Inst]:
    """What makes the values from what is in memory, operands first: views and a few operations."""
    found: dict[Inst, None] = {}
    spent = 0
    for value in values:
        order: dict[Inst, None] = {}
        _producers(value, order)
        cost = sum(map(operations, order))
        if spent + cost > MOST_INSIDE:
            order, cost = dict.fromkeys(reversed(_views(value))), 0
        spent += cost
        found.update(order)
    return list(found)


def _producers(value: Value, order: dict[Inst, None]) -> None:
    """Note what makes a value element by element, operands first; the rest is stored before."""
    inst = value.inst
    if inst is None or inst in order or inst.op.kind not in ("elementwise", "view", "const", "generated"):
        return
    if inst.op.name != "require":
        for operand in inst.args:
            _producers(operand, order)
        order[inst] = None


def _views(value: Value) -> list[Inst]:
    """The views that a value is of what is stored, the last one first."""
    found: list[Inst] = []
    while value.inst is not None and value.inst.op.kind == "view":
        found.append(value.inst)
        value = value.inst.args[0]
    return found


def _sorted(builder: Builder, row: str, start: Value, places: Value, values: Value) -> Value:
    """Places in order, and each with the values that are its own; short integers are sorted faster."""
    (count,) = shape_of(start.type)
    stored = places if places.inst is None else builder.emit("keep", (places,))
    order = builder.emit("library", (stored,), {"function": "argsort", "options": (("axis", -1), ("stable", True))})
    ordered, own = (builder.emit("gather", (v, order), {"axes": (0,), "at": 0}) for v in (places, values))
    if element(ordered.type) is not I64:
        ordered = builder.emit("cast", (ordered,), {}, (ArrayType(I64, shape_of(ordered.type)),))
    numbers = builder.emit("iota", (), {"axis": 0, "shape": (count,)})
    kept, ordered = builder.emit("keep", (own,)), builder.emit("keep", (ordered,))
    lower, upper = (builder.emit("search", (ordered, numbers), {"right": True} if right else {}) for right in (False, True))
    return builder.emit("fold_range", (start, kept, lower, upper), {"op": row})


def _numbered(builder: Builder, start: Value, places: Value, values: Value) -> Value:
    """The last value of each place: what is there takes that with the largest number of a position that names it, or stays.

    A library finds these numbers, whoever writes first, so no two threads write one element.
    """
    shape, (count,) = shape_of(start.type), shape_of(places.type)
    size, zero = shape[0], builder.const(0, scalar(I64))
    zeros = builder.emit("keep", (_spread(builder, zero, (size,)),))
    stored = places if places.inst is None else builder.emit("keep", (places,))
    last = builder.emit("library", (zeros, stored), {"function": "last_position"})
    named = builder.emit("greater", (last, zero))
    if len(shape) > 1:
        named = _repeated(builder, named, shape, 0)
    views = _views(values)
    one = views[-1].args[0] if views else values
    if isinstance(one.type, ScalarType):
        # One value for all needs no numbers.
        return builder.emit("where", (named, one, start))
    padded = _padded(builder, builder.emit("keep", (values,)))
    number = builder.emit("subtract", (last, builder.const(1, scalar(I64))))
    number = builder.emit("where", (builder.emit("less", (number, zero)), _number(builder, count), number))
    return builder.emit("where", (named, builder.emit("gather", (padded, number), {"axes": (0,), "at": 0}), start))
