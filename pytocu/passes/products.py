"""Products of small matrices become sums of products.

In: ``library`` instructions that are products of matrices.  Out: those whose inner axis is short, or that
have few rows or few columns, as a reduction, which is computed in the kernels around it.  A library would
read and write what these keep in registers; of large matrices it reuses each element many times.  Any library reads what
a loop or a branch is given where it lies.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytocu.ir.builder import Builder
from pytocu.ir.core import Function, Inst, Value
from pytocu.ir.dims import DimLike
from pytocu.ir.rewrite import rewrite
from pytocu.ir.types import ArrayType, shape_of
from pytocu.passes.classes import Classes
from pytocu.passes.context import PassContext

SHORT = 16
"""The longest inner axis that is summed in a kernel."""

FEW = 4
"""The most rows, or columns, for which the other operand is read about once."""


def run(function: Function, context: PassContext) -> Function:
    """Write small products as reductions."""
    if function.level == "host":
        return function

    def rule(builder: Builder, inst: Inst, args: tuple[Value, ...]) -> Sequence[Value] | None:
        if inst.op.name != "library":
            return None
        if inst.attr("function") != "matmul" or not _is_small(classes, *args):
            # What a library reads is in memory, as the result of one is, and as what a loop or a branch is given.
            kept = [
                builder.emit("keep", (a,)) if _was_stored(old, a) else _given(a) for old, a in zip(inst.args, args, strict=True)
            ]
            return builder.inst(inst.op, kept, dict(inst.attrs), inst.types).results if kept != list(args) else None
        (rows, inner), columns = shape_of(args[0].type)[-2:], shape_of(args[1].type)[-1]
        left, right = (a.inst.args[0] if a.inst is not None and a.inst.op.name == "keep" else a for a in args)
        batch = shape_of(inst.types[0])[:-2]
        shape = (*batch, rows, inner, columns)
        left = _repeated(builder, builder.emit("newaxis", (left,), {"axis": len(shape_of(left.type))}), shape)
        right = _repeated(builder, builder.emit("newaxis", (right,), {"axis": len(shape_of(right.type)) - 2}), shape)
        terms = builder.emit("multiply", (left, right))
        return (builder.emit("reduce", (terms,), {"op": "add", "axes": (len(shape) - 2,)}, name=inst.results[0].name),)

    classes = Classes(context)
    return classes.state(rewrite(function, rule))


def _is_small(classes: Classes, left: Value, right: Value) -> bool:
    (rows, inner), columns = shape_of(left.type)[-2:], shape_of(right.type)[-1]
    return any(classes.at_most(*pair) for pair in ((inner, SHORT), (rows, FEW), (columns, FEW)))


def _given(value: Value) -> Value:
    """The array that a region is given, in place of a copy of it; any other value as it is."""
    kept = value.inst is not None and value.inst.op.name == "keep"
    source = value.inst.args[0] if kept and value.inst is not None else value
    return source if source.inst is None and isinstance(source.type, ArrayType) else value


def _was_stored(before: Value, now: Value) -> bool:
    """Whether a value was the result of a library, and is one that a kernel computes."""
    was, made = before.inst, now.inst
    return was is not None and was.op.name == "library" and (made is None or made.op.name != "library")


def _repeated(builder: Builder, value: Value, shape: tuple[DimLike, ...]) -> Value:
    given = shape_of(value.type)
    if given == shape:
        return value
    lead = len(shape) - len(given)
    expand = tuple(a for a in range(len(shape)) if a < lead or (given[a - lead] == 1 and shape[a] != 1))
    return builder.emit("broadcast", (value,), {"shape": shape, "expand": expand, "ndim": len(given)})
