"""Changes at positions that numbers of data state become choices by position, where no loop stores them.

In: array level.  ``update(old, pick(old, p), new)`` is ``where(iota == p, new, old)``: each element looks whether it is
at the position.  Changes in loops are left: a loop that is one kernel stores them (see `pytocu.passes.sweeps`),
and the bodies of others come here as functions of their own (see `pytocu.passes.stages`).

On a CPU, where reading a number takes nothing, the host reads the positions in the steps of its loops before: then a step
changes the part where it is (`read`), and not the whole array.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Function, Inst, Value, chain_from, walk
from pytocu.ir.dims import DimLike, symbol
from pytocu.ir.regions import numbers_of
from pytocu.ir.rewrite import put_with, replay
from pytocu.ir.types import shape_of
from pytocu.passes.context import PassContext
from pytocu.passes.infer_shapes import bound_symbols


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


def read(function: Function, is_hosts: Callable[[Inst], bool]) -> Function:
    """The host reads the positions of parts that its loops change.

    Parameters
    ----------
    function : Function
        At array level.
    is_hosts : callable
        Whether a loop is the host's.
    """
    loops = [i for i in function.body.insts if _is_loop(i) and any(map(_picks, _inner(i))) and is_hosts(i)]
    if not loops:
        return function
    taken = {*bound_symbols(function), *numbers_of(function.body), *function.fact("numbers", ())}
    builder = Builder()
    values: dict[Value, Value] = {}
    for inst in function.body.insts:
        if inst in loops:
            args = tuple(values.get(a, a) for a in inst.args)
            regions = tuple(_reading(region, is_hosts, taken, values) for region in inst.regions)
            put_with(inst, builder, args, regions, values)
        else:
            replay(builder, inst, lambda builder, inst, args: None, values)
    return Function(function.name, function.level, Block(function.params, builder.take()), function.facts)


def _is_loop(inst: Inst) -> bool:
    return inst.op.name in ("for_loop", "while_loop")


def _inner(inst: Inst) -> Iterator[Inst]:
    return (i for region in inst.regions for i in walk(region))


def _reading(block: Block, is_hosts: Callable[[Inst], bool], taken: set[str], values: dict[Value, Value]) -> Block:
    """A step, or a side of a branch in it, in which positions are numbers with names."""
    targets = {view for i in block.insts if i.op.name == "update" for view in chain_from(i.args[0], i.args[1])}
    places = {view.args[1] for view in targets if view.op.name == "pick"}
    names: dict[Value, DimLike] = {}
    builder = Builder()
    for inst in block.insts:
        builder.loc = inst.loc
        if inst.op.name in ("pick", "gather") and places.issuperset(inst.args[1:]):
            # What is read at such a position is a part, too.
            part, *stated = (values.get(a, a) for a in inst.args)
            axes = inst.attr("axes", (inst.attr("axis", None),))
            for axis, place in sorted(zip(axes, stated, strict=True), key=lambda pair: -pair[0]):
                if place not in names:
                    names[place] = _read(builder, place, shape_of(part.type)[axis], axis, taken)
                attrs = {"at": names[place], "axis": axis, **({"keep": True} if inst in targets else {})}
                part = builder.emit("index", (part,), attrs, name=inst.results[0].name)
            values[inst.results[0]] = part
        elif inst.regions and (not _is_loop(inst) or is_hosts(inst)):
            args = tuple(values.get(a, a) for a in inst.args)
            put_with(inst, builder, args, tuple(_reading(r, is_hosts, taken, values) for r in inst.regions), values)
        else:
            replay(builder, inst, lambda builder, inst, args: None, values)
    return Block(block.params, builder.take())


def _read(builder: Builder, place: Value, length: DimLike, axis: int, taken: set[str]) -> DimLike:
    """The name of a position on an axis, which has been found to be one before."""
    name, count = "at_", 0
    while name in taken:
        count += 1
        name = f"at{count}_"
    taken.add(name)
    stored = builder.emit("keep", (builder.emit("as_array", (place,)),), name=name)
    builder.inst("read_length", (stored,), {"name": name, "limit": length})
    builder.inst("check", (), {"dims": (symbol(name), length, axis), "kind": "index", "shapes": ()})
    return symbol(name)


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
