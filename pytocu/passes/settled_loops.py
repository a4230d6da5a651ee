"""Loops of CPU kernels over long rows of which one element may say what all are together: `any` and `all`.

Behind each stretch its states, joined with those of the row, are asked whether one of them settles everything; the stretches
behind such a one are passed over, for which a test each is enough.  Where it is known depends on the elements alone, and what
the row is together does not depend on where.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Inst, Value
from pytocu.ir.expander import Expander
from pytocu.ir.reductions import REDUCTIONS
from pytocu.ir.types import BOOL, INDEX, element, scalar
from pytocu.passes.schedule import LANES

if TYPE_CHECKING:
    from pytocu.passes.stretch_loops import States, Stretches


def fits(inst: Inst) -> bool:
    """Whether one element may say what all of them are together."""
    return inst.attr("op") in ("bitwise_and", "bitwise_or") and element(inst.types[0]) is BOOL


def write(
    rows: Stretches, begin: Value, into: Builder, insts: Sequence[Inst], states: Sequence[States], totals: Sequence[States]
) -> None:
    """The loop over the stretches of a row.

    Parameters
    ----------
    rows : Stretches
    begin : Value
        Where a stretch begins.
    into : Builder
        Instructions that reduce a stretch.
    insts : sequence of Inst
        The reductions.
    states, totals : sequence of tuple of Value
        Memory for those of a stretch, in any integers, and for those of the row.
    """
    e, body = rows.e, rows.body
    assert rows.extent is not None
    lower, upper = rows.extent
    lane, inner = Value(INDEX, "lane"), Builder(e.loc)
    # What the states of each reduction are together.
    before = [Value(scalar(BOOL)) for _ in insts]
    after: list[Value] = []
    for inst, (part,), (total,), known in zip(insts, states, totals, before, strict=True):
        combine = functools.partial(REDUCTIONS[inst.attr("op")].combine, Expander(inner))
        new = inner.emit("cast", (inner.emit("load", (part, lane)),), {}, (scalar(BOOL),))
        (state,) = combine((inner.emit("load", (total, lane)),), (new,))
        inner.inst("store", (total, lane, state))
        after += combine((known,), (state,))
    inner.emit("yield", after)
    identities = [REDUCTIONS[inst.attr("op")].identity((BOOL,))[0] for inst in insts]
    none = [e.before.const(value, scalar(BOOL)) for value in identities]
    bounds = (e.dim(0), e.dim(LANES), e.dim(1))
    region = Block((lane, *before), inner.take())
    found = into.inst("for", (*bounds, *none), {"over": "serial"}, [v.type for v in none], (region,)).results
    known = [into.emit("not_equal", pair) for pair in zip(found, none, strict=True)]
    into.emit("yield", (functools.reduce(lambda a, b: into.emit("bitwise_and", (a, b)), known),))
    settled, passed, step = Value(scalar(BOOL), "settled"), Builder(e.loc), Builder(e.loc)
    passed.emit("yield", (settled,))
    sides = Block((), passed.take()), Block((), into.take())
    step.emit("yield", step.inst("if", (settled,), {}, (settled.type,), sides).results)
    start = e.before.const(False, scalar(BOOL))
    region = Block((begin, settled), step.take())
    body.inst("for", (lower, upper, e.dim(rows.stretch), start), {"over": "serial"}, (settled.type,), (region,))
