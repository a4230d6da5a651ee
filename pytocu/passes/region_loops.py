"""Loops and branches of the user's program inside a kernel: each element runs through its own, in registers.

In: instructions with regions (see `pytocu.ir.regions`) whose results are computed element by element: an
element of a result depends on the same element of what is carried, and on anything else that does not
change from step to step.  Out: ``while`` and ``if`` of the loop level in what one iteration computes.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Inst, Value, walk
from pytocu.ir.regions import (
    HEADS,
    carried_count,
    element_count,
    given,
    parameters,
    raises_unused,
    step_name,
)
from pytocu.ir.types import BOOL, I64, INDEX, U64, Type, element, scalar
from pytocu.passes import accesses
from pytocu.passes.accesses import Index, position
from pytocu.passes.elements import Bound, Elements
from pytocu.passes.python_numbers import known_number


def write(e: Elements, builder: Builder, value: Value, at: Index) -> Value:
    """Write the instruction that makes a value, for one element of it and of what belongs to it."""
    inst = value.inst
    assert inst is not None
    if inst.op.name == "map":
        return _element(e, builder, inst, value, at)
    keep = accesses.belonging(value)
    for arg, place in accesses.outer_needs(value, at, e.ndim):
        e.operand(builder, arg, place)
    builder.loc = inst.loc
    flagged = _may_break(e, inst)
    types = [scalar(element(inst.types[k])) for k in keep]
    head = [e.made[arg, ()] for arg in inst.args[: HEADS[inst.op.name]]]
    count = carried_count(inst)
    starts = [e.operand(builder, given(inst)[k], position(given(inst)[k], at)) for k in keep] if count else []
    match inst.op.name:
        case "if_else":
            blocks = [Block((), tuple(_region(e, inst, region, keep, at, {}, flagged))) for region in inst.regions]
            made = builder.inst("if", head, {}, [*types, scalar(BOOL)] if flagged else types, blocks).results
        case "while_loop":
            made = _loop(e, builder, inst, keep, at, starts, types, flagged)
        case _:
            made = _steps(e, builder, inst, keep, at, head, starts, types, flagged)
    if flagged and e.region:
        e.breaks(builder, made[-1])
    for k, result in zip(keep, made, strict=False):
        result.name = result.name or inst.results[k].name
        e.made[inst.results[k], position(inst.results[k], at)] = result
    return e.made[value, at]


def _may_break(e: Elements, inst: Inst) -> bool:
    """Whether a loop or branch has to hand on that something required does not hold: with a wrong index it may never end."""
    inside = (inner.op.name for region in inst.regions for inner in walk(region))
    return not e.leaves and bool(e.ndim) and any(name in ("require", "check") for name in inside)


def _element(e: Elements, builder: Builder, inst: Inst, value: Value, at: Index) -> Value:
    """What the region of a map computes of one element, without a loop or a branch around it."""
    (region,) = inst.regions
    keep = accesses.belonging(value)
    count = element_count(inst)
    for arg, place in accesses.outer_needs(value, at, e.ndim):
        e.operand(builder, arg, place)
    own = {p: e.operand(builder, a, position(a, at)) for p, a in zip(region.params[:count], inst.args, strict=False)}
    results = _flagged(e, builder, inst, region, keep, at, own, False)
    for k, result in zip(keep, results, strict=True):
        e.made[inst.results[k], position(inst.results[k], at)] = result
    return e.made[value, at]


def _region(
    e: Elements, inst: Inst, region: Block, keep: Sequence[int], at: Index, own: dict[Value, Value], flagged: bool
) -> list[Inst]:
    """The instructions of a region for one element, with the ``yield``; `own` are its parameters that change.

    Behind its results, where it is `flagged`, stands whether something required does not hold.
    """
    inner = Builder(inst.loc)
    with inner.nested() as insts:
        inner.emit("yield", _flagged(e, inner, inst, region, keep, at, own, flagged))
    return insts


def _flagged(
    e: Elements,
    builder: Builder,
    inst: Inst,
    region: Block,
    keep: Sequence[int],
    at: Index,
    own: dict[Value, Value],
    flagged: bool,
) -> list[Value]:
    """The elements that a region yields, as :func:`_results`, and where it is `flagged` whether something is wrong."""
    outer, e.broken = e.broken, None
    results = _results(e, builder, inst, region, keep, at, own)
    broken, e.broken = e.broken, outer
    if not flagged:
        return results
    return [*results, broken if broken is not None else builder.const(False, scalar(BOOL))]


def _results(
    e: Elements, builder: Builder, inst: Inst, region: Block, keep: Sequence[int], at: Index, own: dict[Value, Value]
) -> list[Value]:
    """The elements that a region yields; what they are made of is known in the region only."""
    made, offsets, numbers, leaves, inside = dict(e.made), dict(e.offsets), dict(e.numbers), e.leaves, e.region
    # A loop that goes on with a wrong index may never end.
    e.leaves, e.region = leaves or not e.ndim, True
    bind_numbers(e, region)
    e.made.update(((param, position(param, at)), value) for param, value in own.items())
    # What a loop carries is known by the parameter of the loop that is written.
    changing = {*parameters(inst, region)[: carried_count(inst)], *own}
    e.given.update((p, a) for p, a in zip(parameters(inst, region), given(inst), strict=True) if p not in changing)
    for step in region.insts:
        if step.op.name == "check":
            e.compare(builder, step)
        elif raises_unused(step):
            _compute(e, builder, [step.results[0]], at)
    roots = [region.terminator.args[k] for k in keep]
    _compute(e, builder, roots, at)
    results = [e.made[root, position(root, at)] for root in roots]
    e.made, e.offsets, e.numbers, e.leaves, e.region = made, offsets, numbers, leaves, inside
    return results


def _compute(e: Elements, builder: Builder, roots: Sequence[Value], at: Index) -> None:
    """Write what these values are made of in a region, and what is not known yet."""
    for operand, place in accesses.demand(roots, at, e.ndim, chosen=False):
        if (operand, place) not in e.made:
            e.made[operand, place] = e.write(builder, operand, place)


def bind_numbers(e: Elements, region: Block) -> None:
    """The numbers of run time that a region gives names."""
    for inst in region.insts:
        if inst.op.name == "bind":
            named = zip(inst.attr("names"), (1, -1), strict=False)
            e.numbers.update((name, Bound(inst.args[0], sign, inst.attr("length"))) for name, sign in named)


def _loop(
    e: Elements,
    builder: Builder,
    inst: Inst,
    keep: Sequence[int],
    at: Index,
    starts: Sequence[Value],
    types: Sequence[Type],
    flagged: bool,
) -> Sequence[Value]:
    """A loop while its first carried value holds."""
    (region,) = inst.regions
    params = parameters(inst, region)
    flag = [scalar(BOOL)] if flagged else []
    before = [*(Value(type, params[k].name) for k, type in zip(keep, types, strict=True)), *map(_wrong, flag)]
    test = Builder(inst.loc)
    test.emit("yield", (_goes_on(test, before[0], before[-1]) if flagged else before[0], *before))
    after = [*(Value(type, params[k].name) for k, type in zip(keep, types, strict=True)), *map(_wrong, flag)]
    own = dict(zip((params[k] for k in keep), after, strict=False))
    body = Block(tuple(after), tuple(_region(e, inst, region, keep, at, own, flagged)))
    first = [*starts, *_begun(e, builder, flagged)]
    return builder.inst("while", first, {}, [*types, *flag], (Block(tuple(before), test.take()), body)).results


def _wrong(type: Type) -> Value:
    """What goes from step to step where something required may not hold."""
    return Value(type, "wrong")


def _goes_on(builder: Builder, more: Value, wrong: Value) -> Value:
    return builder.emit("bitwise_and", (more, builder.emit("invert", (wrong,))))


def _begun(e: Elements, builder: Builder, flagged: bool) -> list[Value]:
    """Whether something is wrong when a loop begins."""
    if not flagged:
        return []
    return [e.broken if e.region and e.broken is not None else builder.const(False, scalar(BOOL))]


def _following(builder: Builder, number: Value, upper: Value, step: Value, rising: Value | None) -> Value:
    """The next number of a range, or its end where int64 may not hold that."""
    made = builder.emit("add", (number, step))
    known = known_number(step)
    if known in (1, -1):
        # It is the end at most.
        return made
    left, back = builder.emit("subtract", (upper, number)), builder.emit("subtract", (number, upper))
    length = builder.emit("negative", (step,))
    if rising is not None:
        left, length = (builder.emit("where", (rising, *pair)) for pair in ((left, back), (step, length)))
    elif known is not None and known > 0:
        length = step
    else:
        left = back
    # Numbers without sign hold both distances.
    behind = builder.emit("less", tuple(builder.emit("cast", (v,), {}, (scalar(U64),)) for v in (left, length)))
    return builder.emit("where", (behind, upper, made))


def _steps(
    e: Elements,
    builder: Builder,
    inst: Inst,
    keep: Sequence[int],
    at: Index,
    head: Sequence[Value],
    starts: Sequence[Value],
    types: Sequence[Type],
    flagged: bool,
) -> Sequence[Value]:
    """A loop over the numbers of a range."""
    (region,) = inst.regions
    params = parameters(inst, region)
    lower, upper, step = head
    number = scalar(I64)
    flag = [scalar(BOOL)] if flagged else []
    all_types = [number, *types, *flag]
    before, after = (
        [Value(number, "step"), *(Value(t, params[k].name) for k, t in zip(keep, types, strict=True)), *map(_wrong, flag)]
        for _ in range(2)
    )
    known = known_number(step)
    rising = None if known is not None else builder.emit("greater", (step, builder.const(0, number)))
    test = Builder(inst.loc)
    more = test.emit("less" if known is None or known > 0 else "greater", (before[0], upper))
    if rising is not None:
        more = test.emit("where", (rising, more, test.emit("greater", (before[0], upper))))
    if flagged:
        more = _goes_on(test, more, before[-1])
    test.emit("yield", (more, *before))
    own = dict(zip((region.params[0], *(params[k] for k in keep)), after, strict=False))
    inner = Builder(inst.loc)
    numbers = dict(e.numbers)
    name = step_name(inst)
    if name is not None:
        e.numbers[name] = inner.emit("convert_raw", (after[0],), {}, (INDEX,), name=name)
    results = _flagged(e, inner, inst, region, keep, at, own, flagged)
    e.numbers = numbers
    inner.loc = inst.loc
    inner.emit("yield", (_following(inner, after[0], upper, step, rising), *results))
    body = Block(tuple(after), inner.take())
    first = (lower, *starts, *_begun(e, builder, flagged))
    made = builder.inst("while", first, {}, all_types, (Block(tuple(before), test.take()), body))
    return made.results[1:]
