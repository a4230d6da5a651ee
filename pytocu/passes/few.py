"""Reductions of very few elements become operations on elements.

A thread that combines three numbers needs no loop, and where its result goes on into an array of
the same shape all of it is one pointwise kernel.  The elements are combined in their order.  How many
there are is a size class; those that do not exist count as the reduction's identity:

    sum(x, axis) = ((0 + x_0) + where(1 < n, x_min(1, n - 1), 0)) + ...
"""

from __future__ import annotations

from collections.abc import Sequence

from pytocu.ir.builder import Builder
from pytocu.ir.core import Function, Inst, Value
from pytocu.ir.dims import Dim, DimLike, dim_min
from pytocu.ir.expander import Expander
from pytocu.ir.reductions import REDUCTIONS
from pytocu.ir.rewrite import rewrite
from pytocu.ir.types import I64, WEAK_INT, element, scalar, shape_of
from pytocu.passes.classes import Classes
from pytocu.passes.context import PassContext
from pytocu.passes.roots import INSIDE

FEW = 4
"""Elements that are combined one by one."""


def run(function: Function, context: PassContext) -> Function:
    """Write them out."""
    if function.level == "host":
        return function
    classes = Classes(context)
    spread = _spread(function, classes)

    def rule(builder: Builder, inst: Inst, args: tuple[Value, ...]) -> Sequence[Value] | None:
        if not is_of_few(inst, classes) or inst.result in spread:
            return None
        (axis,) = inst.attr("axes")
        return (_combined(builder, inst, args[0], axis, shape_of(args[0].type)[axis]),)

    return classes.state(rewrite(function, rule))


def is_of_few(inst: Inst, classes: Classes) -> bool:
    """Whether it reduces one axis of few elements, but some."""
    if inst.op.kind != "reduce" or len(inst.args) != 1 or len(inst.attr("axes")) != 1:
        return False
    length = shape_of(inst.args[0].type)[inst.attr("axes")[0]]
    return bool(classes.at_most(length, FEW)) and not classes.at_most(length, 0)


def _spread(function: Function, classes: Classes) -> set[Value]:
    """Results of reductions that later go into arrays of more axes: each would be computed for every element of these."""
    found: set[Value] = set()
    origins: dict[Value, frozenset[Value]] = {}
    everywhere = _read_everywhere(function)
    for inst in function.body.insts:
        behind: frozenset[Value] = frozenset().union(*(origins.get(a, frozenset()) for a in inst.args))
        passes = inst.op.kind in (*INSIDE, "region")
        for result in inst.results:
            if result in everywhere:
                found.update(r for r in behind if len(shape_of(result.type)) > len(shape_of(r.type)))
            # What a longer reduction or a scan makes is in memory.
            origins[result] = behind | {result} if is_of_few(inst, classes) else behind if passes else frozenset()
    return found


def _read_everywhere(function: Function) -> set[Value]:
    """Values that are not only read at single positions of an axis."""
    found = set(function.body.terminator.args)
    for inst in reversed(function.body.insts):
        needed = inst.op.kind not in INSIDE or any(result in found for result in inst.results)
        if needed and inst.op.name != "index":
            found.update(inst.args)
    return found


def _combined(builder: Builder, inst: Inst, operand: Value, axis: int, length: DimLike) -> Value:
    row, dtype = REDUCTIONS[inst.attr("op")], element(operand.type)
    # As every reduction begins: gcd(0, -2) is 2.
    identity = total = builder.const(row.identity((dtype,))[0], scalar(dtype))
    for number in range(length if isinstance(length, int) else FEW):
        at = number if isinstance(length, int) else dim_min(number, length - 1)
        item = builder.emit("index", (operand,), {"axis": axis, "at": at})
        if number and isinstance(length, Dim):
            known = builder.emit("convert", (builder.emit("dim", (), {"value": length}, (WEAK_INT,)),), {}, (scalar(I64),))
            exists = builder.emit("less", (builder.const(number, scalar(I64)), known))
            item = builder.emit("where", (exists, item, identity))
        (total,) = row.combine(Expander(builder), (total,), (item,))
    total.name = total.name or inst.result.name
    return total
