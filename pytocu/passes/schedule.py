"""Chooses how each launch runs on the target.

``pointwise`` (GPU): one index over the whole result, spread over the threads of a grid.
``rows`` (CPU): the last axis is an inner loop that becomes vector code; the others are split
over threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytocu.ir.builder import Builder
from pytocu.ir.core import Function, Inst, Value
from pytocu.ir.dims import product
from pytocu.ir.rewrite import rewrite
from pytocu.passes.classes import Classes
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
        if gpu and inst.attr("reduced"):
            attrs |= _reduction(inst, classes)
        builder.inst("launch", args, attrs, (), inst.regions)
        return ()

    classes = Classes(context)
    scheduled = classes.state(rewrite(function, rule))
    facts = (*scheduled.facts, ("index_bits", context.index_bits), ("target", context.target.kind))
    return Function(scheduled.name, scheduled.level, scheduled.body, facts)


ROWS = ((2, 1, 256), (16, 8, 256), (256, 32, 256), (1024, 128, 128), (4096, 256, 256))
"""Longest row, threads a row, threads a block: each thread has about sixteen elements, the shortest rows fewer."""

LONG_ROW = (1024, 1024)
"""Threads a row and threads a block of longer rows."""

ANY_ROW = (256, 256)
"""Of rows whose length is not known: right for all, and best for none."""


def _reduction(inst: Inst, classes: Classes) -> dict[str, Any]:
    """How the rows of a kernel that reduces are given to threads."""
    length = product(inst.attr("reduced"))
    for longest, lanes, block in ROWS:
        fits = classes.at_most(length, longest)
        if fits is None:
            return {"schedule": "rows", "lanes": ANY_ROW[0], "block": ANY_ROW[1]}
        if fits:
            return {"schedule": "rows", "lanes": lanes, "block": block}
    return {"schedule": "rows", "lanes": LONG_ROW[0], "block": LONG_ROW[1]}
