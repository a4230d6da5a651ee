"""Rolls along outer axes become views in the code for a CPU.

A roll is two stretches of one array, one behind the other, of which a position chooses.  The innermost loop is cut where the
second begins, if it goes along that axis.  Along any other the choice is the same for the whole loop: as a branch around it,
each further roll would double the code.  As a view, the position wraps around once, before the loop:

    concatenate(x[n - s:], x[:n - s])[i] = x[(i + n - s) wrapped at n]
"""

from __future__ import annotations

from collections.abc import Sequence

from pytocu.ir.builder import Builder
from pytocu.ir.core import Function, Inst, Value
from pytocu.ir.rewrite import rewrite
from pytocu.ir.types import shape_of
from pytocu.passes.classes import SHORTEST, Classes
from pytocu.passes.context import PassContext


def run(function: Function, context: PassContext) -> Function:
    """Write them as views."""
    classes = Classes(context)

    def rule(builder: Builder, inst: Inst, args: tuple[Value, ...]) -> Sequence[Value] | None:
        return _view(builder, inst, args[0]) if is_roll(inst) and not _innermost(inst, classes) else None

    return classes.state(rewrite(function, rule))


def _innermost(inst: Inst, classes: Classes) -> bool:
    """Whether the innermost loop goes along the axis: the last axis is written out where it is short."""
    shape, axis = shape_of(inst.types[0]), inst.attr("axis")
    return axis == len(shape) - 2 and bool(classes.at_most(shape[-1], SHORTEST))


def is_roll(inst: Inst) -> bool:
    """Whether an instruction is a roll along another axis than the last."""
    if inst.op.name != "concatenate" or len(inst.args) != 2:
        return False
    axis, shape = inst.attr("axis"), shape_of(inst.types[0])
    if axis == len(shape) - 1:
        return False
    end, begin = (a.inst for a in inst.args)
    if end is None or begin is None or end.op.name != "slice" or begin.op.name != "slice":
        return False
    source, size = end.args[0], shape_of(begin.types[0])[axis]
    if begin.args[0] is not source or shape_of(source.type) != shape:
        return False
    starts = tuple(size if a == axis else 0 for a in range(len(shape)))
    steps = {*end.attr("step"), *begin.attr("step")}
    return end.attr("start") == starts and begin.attr("start") == (0,) * len(shape) and steps == {1}


def _view(builder: Builder, inst: Inst, first: Value) -> Sequence[Value]:
    assert first.inst is not None
    axis = inst.attr("axis")
    attrs = {"axis": axis, "length": shape_of(inst.types[0])[axis], "start": first.inst.attr("start")[axis]}
    made = builder.emit("wrapped", (first.inst.args[0],), attrs)
    # It is new memory where it is a result.
    return (builder.emit("copy", (made,), name=inst.result.name),)
