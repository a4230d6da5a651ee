"""A reduction of vectors with few components becomes one of each component, where these share work that costs much.

In: ``reduce`` of an array one of whose other axes has a known length of a few, with a root, a division, a
function or the reduction of another few elements behind it that does not have this axis.  Out: a
concatenation of reductions of one component each:

    sum(gap[n, m, 3] * pull[n, m, 1], axis 1)  =  [sum(gap[.., 0] * pull), sum(gap[.., 1] * pull), ...]

They have the same iterations, so one kernel makes them all and computes the shared part once, in
registers; else it would be computed for each component, or stored for every pair.  What others need, too,
is stored, and reductions that read it stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytocu.ir.builder import Builder
from pytocu.ir.core import Function, Inst, Value, walk
from pytocu.ir.rewrite import rewrite
from pytocu.ir.types import shape_of
from pytocu.passes.classes import Classes
from pytocu.passes.context import PassContext
from pytocu.passes.costs import LONG, operations
from pytocu.passes.few import FEW, is_of_few
from pytocu.passes.roots import INSIDE


def run(function: Function, context: PassContext) -> Function:
    """Take the components apart."""
    if function.level == "host":
        return function
    classes = Classes(context)
    readers = _readers(function)

    def rule(builder: Builder, inst: Inst, args: tuple[Value, ...]) -> Sequence[Value] | None:
        axis = _components(inst, readers, classes)
        return None if axis is None else (_apart(builder, inst, args[0], axis),)

    return classes.state(rewrite(function, rule))


def _readers(function: Function) -> dict[Value, list[Inst]]:
    found: dict[Value, list[Inst]] = {}
    for inst in walk(function.body):
        for value in inst.args:
            found.setdefault(value, []).append(inst)
    return found


def _components(inst: Inst, readers: dict[Value, list[Inst]], classes: Classes) -> int | None:
    """The axis of the components that are reduced one by one."""
    if inst.op.kind != "reduce" or len(inst.args) != 1 or is_of_few(inst, classes):
        return None
    shape, reduced = shape_of(inst.args[0].type), inst.attr("axes")
    free = [a for a in range(len(shape)) if a not in reduced]
    short = [a for a in free if shape[a] in range(2, FEW + 1)]
    # Numbers that stand alone are in memory for those who read them, and take kernels of their own.
    return short[-1] if short and len(free) > 1 and _shares(inst, readers, classes) else None


def _shares(reduction: Inst, readers: dict[Value, list[Inst]], classes: Classes) -> bool:
    """Whether something that costs much, and that nobody else needs, is spread along an axis before it is reduced."""
    (operand,) = reduction.args
    pending, seen, shares = [operand], {operand}, False
    while pending:
        inst = pending.pop().inst
        if inst is None:
            continue
        of_few = is_of_few(inst, classes)
        if len(shape_of(inst.types[0])) < len(shape_of(operand.type)) and (of_few or operations(inst) >= LONG):
            if not _for_one(inst, reduction, readers, classes):
                return False
            shares = True
        if inst.op.kind in INSIDE or of_few:
            pending += [a for a in inst.args if a not in seen]
            seen.update(inst.args)
    return shares


def _for_one(inst: Inst, reduction: Inst, readers: dict[Value, list[Inst]], classes: Classes) -> bool:
    """Whether an instruction is computed for this reduction alone."""
    pending, seen = [inst], {inst}
    while pending:
        for result in pending.pop().results:
            for reader in readers.get(result, ()):
                if reader is reduction or reader in seen:
                    continue
                if reader.op.kind not in INSIDE and not is_of_few(reader, classes):
                    return False
                seen.add(reader)
                pending.append(reader)
    return True


def _apart(builder: Builder, inst: Inst, operand: Value, axis: int) -> Value:
    shape, reduced = shape_of(operand.type), inst.attr("axes")
    attrs = {**dict(inst.attrs), "axes": tuple(a - (a > axis) for a in reduced)}
    place = sum(a not in reduced for a in range(axis))
    made: list[Value] = []
    for number in range(int(shape[axis])):  # pyright: ignore[reportArgumentType]
        one = builder.emit("index", (operand,), {"axis": axis, "at": number})
        total = builder.emit("reduce", (one,), attrs)
        made.append(builder.emit("newaxis", (total,), {"axis": place}))
    return builder.emit("concatenate", made, {"axis": place}, name=inst.result.name)
