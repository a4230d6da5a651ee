"""Loops and branches of the user's program inside a kernel: each element runs through its own, in registers.

In: instructions with regions (see `pytocu.ir.regions`) whose results are computed element by element: an
element of a result depends on the same element of what is carried, and on anything else that does not
change from step to step.  Out: ``while`` and ``if`` of the loop level in what one iteration computes.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Inst, Value
from pytocu.ir.regions import HEADS, carried_count, element_count, given, parameters, step_name
from pytocu.ir.types import I64, INDEX, ScalarType, Type, element, scalar
from pytocu.passes import accesses
from pytocu.passes.accesses import Index, position
from pytocu.passes.elements import Bound, Elements


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
    types = [scalar(element(inst.types[k])) for k in keep]
    head = [e.made[arg, ()] for arg in inst.args[: HEADS[inst.op.name]]]
    count = carried_count(inst)
    starts = [e.operand(builder, given(inst)[k], position(given(inst)[k], at)) for k in keep] if count else []
    match inst.op.name:
        case "if_else":
            blocks = [Block((), tuple(_region(e, inst, region, keep, at, {}))) for region in inst.regions]
            made = builder.inst("if", head, {}, types, blocks).results
        case "while_loop":
            made = _loop(e, builder, inst, keep, at, starts, types)
        case _:
            made = _steps(e, builder, inst, keep, at, head, starts, types)
    for k, result in zip(keep, made, strict=True):
        result.name = result.name or inst.results[k].name
        e.made[inst.results[k], position(inst.results[k], at)] = result
    return e.made[value, at]


def _element(e: Elements, builder: Builder, inst: Inst, value: Value, at: Index) -> Value:
    """What the region of a map computes of one element, without a loop or a branch around it."""
    (region,) = inst.regions
    keep = accesses.belonging(value)
    count = element_count(inst)
    for arg, place in accesses.outer_needs(value, at, e.ndim):
        e.operand(builder, arg, place)
    own = {p: e.operand(builder, a, position(a, at)) for p, a in zip(region.params[:count], inst.args, strict=False)}
    results = _results(e, builder, inst, region, keep, at, own)
    for k, result in zip(keep, results, strict=True):
        e.made[inst.results[k], position(inst.results[k], at)] = result
    return e.made[value, at]


def _region(
    e: Elements, inst: Inst, region: Block, keep: Sequence[int], at: Index, own: dict[Value, Value]
) -> list[Inst]:
    """The instructions of a region for one element, with the ``yield``; `own` are its parameters that change."""
    inner = Builder(inst.loc)
    with inner.nested() as insts:
        inner.emit("yield", _results(e, inner, inst, region, keep, at, own))
    return insts


def _results(
    e: Elements, builder: Builder, inst: Inst, region: Block, keep: Sequence[int], at: Index, own: dict[Value, Value]
) -> list[Value]:
    """The elements that a region yields; what they are made of is known in the region only."""
    made, offsets, numbers, leaves = dict(e.made), dict(e.offsets), dict(e.numbers), e.leaves
    # A loop that goes on with a wrong index may never end.
    e.leaves = leaves or not e.ndim
    bind_numbers(e, region)
    for param, value in own.items():
        if isinstance(param.type, ScalarType):
            e.made[param, ()] = value
    # What a loop carries is known by the parameter of the loop that is written.
    changing = {*parameters(inst, region)[: carried_count(inst)], *own}
    e.given.update((p, a) for p, a in zip(parameters(inst, region), given(inst), strict=True) if p not in changing)
    for step in region.insts:
        if step.op.name == "check":
            e.compare(builder, step)
    roots = [region.terminator.args[k] for k in keep]
    for operand, place in accesses.demand(roots, at, e.ndim, chosen=False):
        if (operand, place) in e.made:
            continue
        if operand in own:
            e.made[operand, place] = own[operand]
        else:
            e.made[operand, place] = e.write(builder, operand, place)
    results = [e.made[root, position(root, at)] for root in roots]
    e.made, e.offsets, e.numbers, e.leaves = made, offsets, numbers, leaves
    return results


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
) -> Sequence[Value]:
    """A loop while its first carried value holds."""
    (region,) = inst.regions
    params = parameters(inst, region)
    before = [Value(type, params[k].name) for k, type in zip(keep, types, strict=True)]
    test = Builder(inst.loc)
    test.emit("yield", (before[0], *before))
    after = [Value(type, params[k].name) for k, type in zip(keep, types, strict=True)]
    own = dict(zip((params[k] for k in keep), after, strict=True))
    body = Block(tuple(after), tuple(_region(e, inst, region, keep, at, own)))
    return builder.inst("while", starts, {}, types, (Block(tuple(before), test.take()), body)).results


def _steps(
    e: Elements,
    builder: Builder,
    inst: Inst,
    keep: Sequence[int],
    at: Index,
    head: Sequence[Value],
    starts: Sequence[Value],
    types: Sequence[Type],
) -> Sequence[Value]:
    """A loop over the numbers of a range."""
    (region,) = inst.regions
    params = parameters(inst, region)
    lower, upper, step = head
    number = scalar(I64)
    all_types = [number, *types]
    before = [Value(number, "step"), *(Value(t, params[k].name) for k, t in zip(keep, types, strict=True))]
    after = [Value(number, "step"), *(Value(t, params[k].name) for k, t in zip(keep, types, strict=True))]
    known = step.inst.attr("value") if step.inst is not None and step.inst.op.name == "const" else None
    rising = None if known is not None else builder.emit("greater", (step, builder.const(0, number)))
    test = Builder(inst.loc)
    more = test.emit("less" if known is None or known > 0 else "greater", (before[0], upper))
    if rising is not None:
        more = test.emit("where", (rising, more, test.emit("greater", (before[0], upper))))
    test.emit("yield", (more, *before))
    own = dict(zip((region.params[0], *(params[k] for k in keep)), after, strict=True))
    inner = Builder(inst.loc)
    numbers = dict(e.numbers)
    name = step_name(inst)
    if name is not None:
        e.numbers[name] = inner.emit("convert_raw", (after[0],), {}, (INDEX,), name=name)
    results = _results(e, inner, inst, region, keep, at, own)
    e.numbers = numbers
    inner.loc = inst.loc
    inner.emit("yield", (inner.emit("add", (after[0], step)), *results))
    body = Block(tuple(after), inner.take())
    made = builder.inst("while", (lower, *starts), {}, all_types, (Block(tuple(before), test.take()), body))
    return made.results[1:]
