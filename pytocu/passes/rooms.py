"""How many members the lists of a step have room for, which depends on the target.

In: array level; a number that is bound with a ``most`` is the length of memory that steps may fill, but need not.  Out: it is a
number like any other, written where its name was.  On a CPU it is the most that there may be, since memory that nobody touches
takes nothing there; elsewhere it is what the function has bound.
"""

from __future__ import annotations

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Function, walk
from pytocu.ir.dims import DimLike
from pytocu.ir.rewrite import with_lengths
from pytocu.passes.context import PassContext


def run(function: Function, context: PassContext) -> Function:
    """Write the numbers for their names."""
    mapping: dict[str, DimLike] = {}
    for inst in walk(function.body):
        if inst.op.name == "bind" and inst.attr("most", None) is not None:
            (number,) = inst.args
            assert number.inst is not None
            value = inst.attr("most") if context.target.kind == "cpu" else number.inst.attr("value")
            mapping |= dict.fromkeys(inst.attr("names"), value)
    builder = Builder()
    with_lengths(builder, function.body.insts, mapping, {})
    return Function(function.name, function.level, Block(function.params, builder.take()), function.facts)
