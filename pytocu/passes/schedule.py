"""Chooses how each launch runs on the target.

``pointwise`` (GPU): one index over the whole result, spread over the threads of a grid.
``rows`` (CPU): the last axis is an inner loop that becomes vector code; the others are split
over threads.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytocu.ir.builder import Builder
from pytocu.ir.core import Function, Inst, Value
from pytocu.ir.rewrite import rewrite
from pytocu.passes.context import PassContext

BLOCK = 256
"""Threads a block: a multiple of the warp that fills every architecture's multiprocessor."""


def run(function: Function, context: PassContext) -> Function:
    """State the schedule of every launch."""
    gpu = context.target.kind == "cuda"

    def rule(builder: Builder, inst: Inst, args: tuple[Value, ...]) -> Sequence[Value] | None:
        if inst.op.name != "launch":
            return None
        attrs = dict(inst.attrs)
        attrs["schedule"] = "pointwise" if gpu else "rows"
        if gpu:
            attrs["block"] = BLOCK
        builder.inst("launch", args, attrs, (), inst.regions)
        return ()

    scheduled = rewrite(function, rule)
    facts = (*scheduled.facts, ("index_bits", context.index_bits), ("target", context.target.kind))
    return Function(scheduled.name, scheduled.level, scheduled.body, facts)
