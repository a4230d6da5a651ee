"""Changes at positions that numbers of data state become choices by position, where no loop stores them.

In: array level.  ``update(old, pick(old, p), new)`` is ``where(iota == p, new, old)``: each element looks whether it is
at the position.  Changes in loops are left: a loop that is one kernel stores them (see `pytocu.passes.sweeps`),
and the bodies of others come here as functions of their own (see `pytocu.passes.stages`).
"""

from __future__ import annotations

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Function, Inst, Value, chain_from
from pytocu.ir.dims import DimLike
from pytocu.ir.rewrite import replay
from pytocu.ir.types import shape_of
from pytocu.passes.context import PassContext


def run(function: Function, context: PassContext) -> Function:
    """Write them as choices."""
    if not any(_picks(inst) for inst in function.body.insts):
        return function
    builder = Builder()
    values: dict[Value, Value] = {}
    for inst in function.body.insts:
        builder.loc = inst.loc
        if _picks(inst):
            old, target, new = (values.get(a, a) for a in inst.args)
            values[inst.results[0]] = _chosen(builder, old, target, new)
            values[inst.results[0]].name = inst.results[0].name
        else:
            replay(builder, inst, lambda builder, inst, args: None, values)
    return Function(function.name, function.level, Block(function.params, builder.take()), function.facts)


def _picks(inst: Inst) -> bool:
    return inst.op.name == "update" and any(view.op.name == "pick" for view in chain_from(inst.args[0], inst.args[1]))


def _chosen(builder: Builder, old: Value, target: Value, new: Value) -> Value:
    """The contents of an array behind a change of a part of it."""
    chain = chain_from(old, target)
    first = next(n for n, view in enumerate(chain) if view.op.name == "pick")
    behind: list[Inst] = []
    for view in reversed(chain[first:]):
        if view.op.name != "pick":
            behind.insert(0, view)
            continue
        if behind:
            copied = builder.emit("copy", (view.result,))
            part = copied
            for step in behind:
                part = builder.emit(step.op, (part,), dict(step.attrs), None if step.op.infer else step.types)
            new = builder.emit("update", (copied, part, new))
            behind = []
        new = _with_part(builder, view, new)
    return builder.emit("update", (old, chain[first].args[0], new))


def _with_part(builder: Builder, pick: Inst, new: Value) -> Value:
    """An array with new elements at a position of an axis."""
    array, place = pick.args
    axis, shape = pick.attr("axis"), shape_of(array.type)
    numbers = builder.emit("iota", (), {"axis": 0, "shape": (shape[axis],)})
    here = builder.emit("equal", (numbers, place))
    for other in range(len(shape)):
        if other != axis:
            here = builder.emit("newaxis", (here,), {"axis": other})
    spread = builder.emit("newaxis", (new,), {"axis": axis})
    return builder.emit("where", (_repeated(builder, here, shape), _repeated(builder, spread, shape), array))


def _repeated(builder: Builder, value: Value, shape: tuple[DimLike, ...]) -> Value:
    """A value repeated along its axes of length 1 where the shape is longer."""
    expand = tuple(a for a, (mine, wanted) in enumerate(zip(shape_of(value.type), shape, strict=True)) if mine != wanted)
    attrs = {"shape": shape, "expand": expand, "ndim": len(shape)}
    return builder.emit("broadcast", (value,), attrs) if expand else value
