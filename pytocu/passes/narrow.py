"""Arithmetic in a wider dtype than its result needs is done in the result's.

NumPy divides a float32 sum by its number of elements in float64 and rounds the quotient to
float32.  Both operands have at most 24 digits and float64 has 53, more than 2 * 24 + 1, so the two
roundings are the one of a division in float32 (Figueroa, 1995):

    float32(float64(x) / float64(n)) = x / float32(n)    where n <= 2**24

Bools are counted in int32 where so many fit, twice as many at a time; counts up to each element that are kept for searches
take half of the memory, too.

A position that is found beside numbers of at most 32 bits is an int32 while it is looked for, where the elements are few
enough: so vectors hold as many positions as numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytocu.ir.builder import Builder
from pytocu.ir.core import Function, Inst, Value, walk
from pytocu.ir.dims import DimLike, product
from pytocu.ir.reductions import EXTREMES
from pytocu.ir.rewrite import rewrite
from pytocu.ir.types import BOOL, F32, F64, I32, I64, element, scalar, shape_of, strong_type
from pytocu.passes import cleanup
from pytocu.passes.classes import Classes
from pytocu.passes.context import PassContext

LARGEST = 2**24
"""Every integer up to here is a float32."""

MOST = 2**31 - 1
"""Elements whose positions are int32, none of which is the largest one: that stands for none."""


def run(function: Function, context: PassContext) -> Function:
    """Divide by lengths in float32, and look for positions in int32."""
    if function.level == "host":
        return function
    classes = Classes(context)
    # Others than searches want what is kept as it is.
    searched = {inst.args[0] for inst in walk(function.body) if inst.op.name == "search"}
    if searched:
        searched -= {a for i in walk(function.body) for k, a in enumerate(i.args) if i.op.name != "search" or k}

    def rule(builder: Builder, inst: Inst, args: tuple[Value, ...]) -> Sequence[Value] | None:
        if inst.op.kind == "reduce" and inst.attr("op") in EXTREMES:
            return _found_in_int32(builder, inst, args, classes)
        if inst.op.kind == "reduce" and inst.attr("op") == "add":
            return _summed_in_int32(builder, inst, args, classes)
        if inst.op.name == "keep" and inst.result in searched:
            return _counted_in_int32(builder, inst, args, classes)
        if inst.op.name == "search":
            return _searched_in_int32(builder, inst, args)
        if inst.op.name != "cast" or element(inst.types[0]) is not F32:
            return None
        division = args[0].inst
        if division is None or division.op.name != "divide" or element(division.types[0]) is not F64:
            return None
        dividend, divisor = (_narrow(operand) for operand in division.args)
        if dividend is None or divisor is None or element(dividend.type) is not F32:
            return None
        length = _length(divisor)
        if length is None or not classes.at_most(length, LARGEST):
            return None
        number = builder.emit("cast", (divisor,), {}, (strong_type(F32, shape_of(divisor.type)),))
        return (builder.emit("divide", (dividend, number), name=inst.result.name),)

    narrowed = rewrite(function, rule)
    # Counts that several instructions make of one mask are made of one value.
    return classes.state(narrowed if narrowed is function else cleanup.cse(narrowed, context))


def _found_in_int32(builder: Builder, inst: Inst, args: tuple[Value, ...], classes: Classes) -> Sequence[Value] | None:
    numbers, positions = args
    count = product([shape_of(numbers.type)[a] for a in inst.attr("axes")])
    if element(numbers.type).itemsize > 4 or element(positions.type) is not I64 or not classes.at_most(count, MOST):
        return None
    short = builder.emit("cast", (positions,), {}, (strong_type(I32, shape_of(positions.type)),))
    best, found = builder.inst("reduce", (numbers, short), dict(inst.attrs)).results
    return best, builder.emit("cast", (found,), {}, (strong_type(I64, shape_of(found.type)),), name=inst.results[1].name)


def _summed_in_int32(builder: Builder, inst: Inst, args: tuple[Value, ...], classes: Classes) -> Sequence[Value] | None:
    numbers = args[0].inst
    if len(args) != 1 or not _of_bools(args[0]) or numbers is None:
        return None
    shape = shape_of(args[0].type)
    if not classes.at_most(product([shape[a] for a in inst.attr("axes")]), MOST):
        return None
    short = builder.emit("cast", numbers.args, {}, (strong_type(I32, shape),))
    made = builder.emit("reduce", (short,), dict(inst.attrs))
    return (builder.emit("cast", (made,), {}, (strong_type(I64, shape_of(made.type)),), name=inst.result.name),)


def _of_bools(value: Value) -> bool:
    """Whether an int64 is 0 or 1, of a bool."""
    inst = value.inst
    return element(value.type) is I64 and inst is not None and inst.op.name == "cast" and element(inst.args[0].type) is BOOL


def _counted_in_int32(builder: Builder, inst: Inst, args: tuple[Value, ...], classes: Classes) -> Sequence[Value] | None:
    """Counts of bools that a scan makes, kept as int32."""
    counts = args[0].inst
    if counts is None or counts.op.name != "scan" or counts.attr("op") != "add" or len(counts.args) != 1:
        return None
    numbers = counts.args[0].inst
    if not _of_bools(counts.args[0]) or numbers is None or counts.attr("exclusive"):
        return None
    shape = shape_of(args[0].type)
    if not classes.at_most(product(shape), MOST - 1):
        return None
    type = strong_type(I32, shape)
    short = builder.emit("scan", (builder.emit("cast", numbers.args, {}, (type,)),), dict(counts.attrs))
    kept = builder.emit("keep", (short,), dict(inst.attrs))
    return (builder.emit("cast", (kept,), {}, (strong_type(I64, shape),), name=inst.result.name),)


def _searched_in_int32(builder: Builder, inst: Inst, args: tuple[Value, ...]) -> Sequence[Value] | None:
    """Positions by counts that are kept as int32: numbers below all counts, or above, may be any of those."""
    counts, numbers = args[0].inst, args[1]
    if counts is None or counts.op.name != "cast" or element(counts.args[0].type) is not I32:
        return None
    kept = counts.args[0].inst
    if kept is None or kept.op.name != "keep":
        return None
    least, most = (builder.const(n, scalar(I64)) for n in (-1, MOST))
    for row, limit in (("maximum", least), ("minimum", most)):
        numbers = builder.emit(row, (numbers, limit), {}, (numbers.type,))
    short = builder.emit("cast", (numbers,), {}, (strong_type(I32, shape_of(numbers.type)),))
    return (builder.emit("search", (counts.args[0], short), dict(inst.attrs), name=inst.result.name),)


def _narrow(value: Value) -> Value | None:
    """What was cast to float64."""
    inst = value.inst
    return inst.args[0] if inst is not None and inst.op.name == "cast" else None


def _length(value: Value) -> DimLike | None:
    """The length that a value is."""
    inst = value.inst
    if inst is None:
        return None
    match inst.op.name:
        case "convert":
            return _length(inst.args[0])
        case "dim" | "const" if isinstance(inst.attr("value"), int) or inst.op.name == "dim":
            return inst.attr("value")
    return None
