"""Launches of the same code get one name, and the code is compiled once.

The steps of a loop that was written out are kernels that differ in the arrays they are called with.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Function, Inst, Value, attr_key
from pytocu.ir.rewrite import rewrite
from pytocu.passes.context import PassContext


def run(function: Function, context: PassContext) -> Function:
    """Name them alike."""
    names: dict[Hashable, str] = {}

    def rule(builder: Builder, inst: Inst, args: tuple[Value, ...]) -> Sequence[Value] | None:
        if inst.op.name != "launch":
            return None
        key = (inst.attr("block"), inst.attr("schedule"), form(inst.regions[0], {}))
        name = names.setdefault(key, inst.attr("name"))
        if name == inst.attr("name"):
            return None
        builder.inst("launch", args, dict(inst.attrs) | {"name": name}, (), inst.regions)
        return ()

    return rewrite(function, rule)


def form(block: Block, numbers: dict[Value, int]) -> Hashable:
    """A block without names and locations: the same for two blocks that compute the same of their parameters.

    Parameters
    ----------
    numbers : dict
        What values are called in it; filled with those of the block.
    """
    for param in block.params:
        numbers[param] = len(numbers)
    lines: list[Hashable] = [tuple(str(p.type) for p in block.params)]
    for inst in block.insts:
        regions = tuple(form(region, numbers) for region in inst.regions)
        attrs = tuple((name, attr_key(value)) for name, value in inst.attrs)
        lines.append((inst.op.name, tuple(numbers[a] for a in inst.args), attrs, tuple(map(str, inst.types)), regions))
        for result in inst.results:
            numbers[result] = len(numbers)
    return tuple(lines)
