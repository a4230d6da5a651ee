"""Why a loop is the host's and no part of one kernel: what in its body needs more than one element, and what would help.

In: array level, before :mod:`pytocu.passes.stages`.  Nothing is changed.  The conditions are those of
:func:`pytocu.passes.accesses.region_needs` and :func:`pytocu.passes.sweeps.sweep_of`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytocu.errors import Loc
from pytocu.ir.core import Block, Inst, Value, named, walk
from pytocu.ir.dims import is_number
from pytocu.ir.regions import carried_count, carried_memories, changes, element_count, is_region, parameters
from pytocu.ir.types import shape_of
from pytocu.passes.accesses import (
    IN_REGIONS,
    Index,
    belonging,
    is_elementwise,
    operands,
    position,
    region_needs,
    target_index,
    view_chain,
    whole_index,
)
from pytocu.passes.stages import is_whole
from pytocu.passes.sweeps import COMPARED, COMPARED_HELP, READ, READ_HELP, STEPS_IN_TURN, NoSweep, needs_all, sweep_or_reason
from pytocu.record import Record

_SELDOM = "test it after several steps, not after each: put these into a `for` inside of the loop"


class Obstacle(Record):
    """What keeps a loop from being one kernel.

    Attributes
    ----------
    loop : Loc
        Of the loop.
    loc : Loc
        Of the expression in its body; of the loop where it is no single one.
    text : str
        What that does, as a sentence without its subject.
    help : str
        What to write instead.
    """

    loop: Loc
    loc: Loc
    text: str
    help: str


def obstacles(insts: Sequence[Inst]) -> Iterator[Obstacle]:
    """One for each loop that is the host's, the outer ones first.

    Parameters
    ----------
    insts : sequence of Inst
        The body of a function at array level.
    """
    for inst in insts:
        if not is_region(inst) or not is_whole(inst):
            continue
        in_place = changes(inst) and (inst.op.name == "if_else" or carried_memories(inst))
        reason = sweep_or_reason(inst) if in_place else _not_elementwise(inst)
        if isinstance(reason, NoSweep) and inst.op.name in ("for_loop", "while_loop"):
            known = reason.inst is not None and reason.inst.loc.line > 0
            loc = reason.inst.loc if reason.inst is not None and known else inst.loc
            yield Obstacle(inst.loc, loc, reason.text, reason.help)
        if isinstance(reason, NoSweep) or inst.op.name == "if_else":
            for region in inst.regions:
                yield from obstacles(region.insts)


def _not_elementwise(inst: Inst) -> NoSweep:
    """Why the results of a loop or branch are not computed element by element."""
    for region in inst.regions:
        for inner in walk(region):
            if inner.op.name == "check" and any(is_number(name) for _, value in inner.attrs for name in named(value)):
                return NoSweep(inner, COMPARED, COMPARED_HELP)
            if inner.op.name == "read_length":
                return NoSweep(inner, READ, READ_HELP)
    for result in inst.results:
        ndim = len(shape_of(result.type))
        if region_needs(result, whole_index(ndim), ndim) is None:
            return _of_result(inst, result)
    check = next((inner for region in inst.regions for inner in walk(region) if inner.op.name == "check"), None)
    if check is not None:
        return NoSweep(check, COMPARED, COMPARED_HELP)
    return NoSweep(None, "has Python numbers among what it computes", "begin with np.int64(0) or np.float64(0)")


def _of_result(inst: Inst, result: Value) -> NoSweep:
    """Why an element of one result needs more than the elements at its position."""
    shape = shape_of(result.type)
    every = belonging(result)
    keep = [k for k in every if shape_of(inst.types[k]) in ((), shape)]
    count, elements = carried_count(inst), element_count(inst)
    for region in inst.regions:
        found = _in_region(region, parameters(inst, region), keep, len(shape), count, elements)
        if found is not None and inst.op.name == "while_loop" and found.inst is not None and 0 in keep:
            return NoSweep(found.inst, found.text, _SELDOM)
        if found is not None:
            return found
    other = next((k for k in every if k not in keep), None)
    if other is not None:
        names = f"{result.name or 'an array'}, {result.type}, and {inst.results[other].name or 'another'}, {inst.types[other]}"
        return NoSweep(None, f"hands arrays of different shapes from step to step: {names}",
                       "one shape for all, or a loop for each")  # fmt: skip
    update = next((i for region in inst.regions for i in walk(region) if i.op.name == "update"), None)
    if update is not None:
        text = "changes a part of an array that each step makes"
        return NoSweep(update, text, "choose by position: np.where(inside, new, u)")
    return NoSweep(None, "depends on elements of other positions", STEPS_IN_TURN)


def _in_region(
    region: Block, params: Sequence[Value], keep: Sequence[int], ndim: int, count: int, elements: int
) -> NoSweep | None:
    """What elements of a body's results are made of, followed to the first that is not at their own position."""
    roots = [region.terminator.args[k] for k in keep]
    whole = whole_index(ndim)
    # Each with the position that an element stands at, how many axes that has, and the view that leads from it.
    pending: list[tuple[Value, Index, Index, int, Inst | None]] = []
    pending.extend((r, position(r, whole), whole, ndim, None) for r in reversed(roots))
    seen: set[tuple[Value, Index, Index]] = set()
    while pending:
        value, at, own, axes, moved = pending.pop()
        if (value, at, own) in seen:
            continue
        seen.add((value, at, own))
        made = value.inst
        if made is None:
            carried = value in params and elements <= params.index(value) < count
            if carried and at != (own if shape_of(value.type) else ()):
                return _neighbour(value, moved)
            continue
        if made.op.name == "update":
            # Of a part that is changed, an element stands where it is in all of the array.
            old, target, new = made.args
            part = len(shape_of(target.type))
            inside = whole_index(part)
            pending.append((old, at, own, axes, moved))
            if old is not target and len(shape_of(old.type)) == len(shape_of(roots[0].type)):
                pending.append((new, position(new, inside), target_index(target, old, inside, part), part, None))
            continue
        if is_region(made):
            if region_needs(value, at, axes) is None:
                return _not_elementwise(made) if not is_elementwise(made) else NoSweep(made, *needs_all(made))
        elif made.op.kind not in IN_REGIONS:
            return NoSweep(made, *needs_all(made))
        shifts = made.op.kind in ("view", "choice")
        follow = reversed(operands(value, at, axes))
        pending.extend((arg, place, own, axes, made if shifts else moved) for arg, place in follow)
    return None


def _neighbour(array: Value, view: Inst | None) -> NoSweep:
    name = array.name or "an array"
    if view is not None and view.op.kind == "view" and view_chain(view.results[0])[0] is not array:
        name = "an array"
    return NoSweep(view, f"reads elements of {name} that other positions compute in the step before", STEPS_IN_TURN)
