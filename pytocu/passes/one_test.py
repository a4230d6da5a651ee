"""What lanes do for unusual numbers is done after one test of all lanes, on GPUs.

A thread that has several elements computes each of them with a jump where a number may be unusual: an angle of millions, say,
takes code of its own.  What it computes of one lane then waits until the test of the lane before is done, and the code for
unusual numbers is there once for each lane.  Here all lanes are computed as of usual numbers, without a jump, and one test
says whether they were: if not, they are computed again, one after the other, in a loop that has the code of one lane.

Two things are done so: the first side of an ``if`` that is marked `usual`, which may be computed for any numbers, and, in
launches whose threads have several rows at once, divisions and roots (:mod:`pytocu.passes.quotients`).
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Function, Inst, Value, walk, written_pointers
from pytocu.ir.expand_float64 import Real
from pytocu.ir.expander import Expander
from pytocu.ir.lanes import lane_reach, share_of_lane
from pytocu.ir.rewrite import put_again, put_with
from pytocu.ir.types import BOOL_SCALAR, F32, INDEX, IndexType, PointerType, Type, VectorType, element, scalar
from pytocu.passes import quotients
from pytocu.passes.context import PassContext
from pytocu.passes.quotients import Quick, Sum
from pytocu.passes.shared_divisors import LEAST, is_product

_SUMS = {**quotients.SUMS, "usual": Sum(True, BOOL_SCALAR, lambda usual: usual)}


def run(function: Function, context: PassContext) -> Function:
    """Write lanes that branch, divide or take roots with one test."""
    body = _block(function.body, {}, written_pointers(function.body), True)
    return function if body is function.body else Function(function.name, function.level, body, function.facts)


def _block(block: Block, values: dict[Value, Value], written: set[Value], several: bool) -> Block:
    """Write a block again; `values` says what stands for values of before, and grows.

    Parameters
    ----------
    several : bool
        Whether a thread has several rows at once, so that divisions and roots are worth a test.
    """
    builder, changed = Builder(), False
    for inst in block.insts:
        builder.loc = inst.loc
        args = tuple(values.get(a, a) for a in inst.args)
        rows = inst.attr("several") is not None if inst.op.name == "launch" else several
        regions = tuple(_block(region, values, written, rows) for region in inst.regions)
        found = _found(inst, regions[0], written, rows) if inst.op.name == "lanes" else []
        if not found:
            changed |= put_with(inst, builder, args, regions, values)
            continue
        changed = True
        for old, value in zip(inst.results, _tested(builder, inst, args, regions[0], found), strict=True):
            value.name = value.name or old.name
            values[old] = value
    return Block(block.params, builder.take()) if changed else block


def _found(lanes: Inst, region: Block, written: set[Value], several: bool) -> list[Inst]:
    """Branches, divisions and roots of lanes, where the lanes may be computed again, and of wrong numbers."""
    count = lanes.attr("lanes")
    if count < 2 or not all(_may_run_again(step, written) for step in walk(region)):
        return []
    branches: set[Inst] = set()
    divisions: set[Inst] = set()
    # What must be right: what is a position, decides what is done, or becomes an integer.
    right: set[Value] = set()
    for inst in reversed(region.insts[:-1]):
        if not right.isdisjoint(inst.results) or not _may_be_wrong(inst):
            right.update(inst.args, (a for r in inst.regions for step in walk(r) for a in step.args))
        elif inst.op.name == "if":
            branches.add(inst)
        elif several and inst.op.name in ("divide", "sqrt") and inst.types[0] == scalar(F32) and not is_product(inst):
            divisions.add(inst)
    if not right.isdisjoint(region.params[len(region.params) - _carried(lanes) :]):
        return []
    found = branches | divisions if len(divisions) * count >= LEAST else branches
    return [inst for inst in region.insts if inst in found]


def _may_run_again(inst: Inst, written: set[Value]) -> bool:
    """Whether it changes nothing, and reads what nobody changes."""
    if inst.op.name == "load":
        return inst.args[0] not in written and not _is_shared(inst.args[0])
    return inst.op.kind in ("elementwise", "const", "index") or inst.op.name in ("if", "for", "while", "yield", "part", "lanes")


def _is_shared(pointer: Value) -> bool:
    return isinstance(pointer.type, PointerType) and pointer.type.space != "global"


def _may_be_wrong(inst: Inst) -> bool:
    """Whether an instruction may be given any numbers."""
    if inst.op.name == "if" and inst.attr("usual"):
        return all(map(_may_be_wrong, inst.regions[0].insts[:-1]))
    if inst.op.kind not in ("elementwise", "const") or inst.regions or isinstance(inst.types[0], IndexType):
        return False
    return inst.op.name != "convert_raw" or element(inst.types[0]).kind == "f"


def _carried(lanes: Inst) -> int:
    return sum(not isinstance(a.type, VectorType) for a in lanes.args)
def _tested(builder: Builder, lanes: Inst, args: tuple[Value, ...], region: Block, found: Sequence[Inst]) -> Sequence[Value]:
    """The results of lanes with quick sides, divisions and roots, or of those as they were."""
    e = Expander(builder)
    inside = {*region.params, *(r for inst in region.insts for r in inst.results)}
    divisors = dict.fromkeys(i.args[1] for i in found if i.op.name == "divide" and i.args[1] not in inside)
    names: dict[str, None] = {}
    for inst in found:
        own = ("usual",) if inst.op.name == "if" else quotients.sums_of(inst, len(inst.args) > 1 and inst.args[1] in divisors)
        names |= dict.fromkeys(own)
    tests: list[Real] = []
    inverses: dict[Value, Value] = {}
    for divisor in divisors:
        inverse, ordinary = quotients.inverse_of(Real(e, divisor))
        inverses[divisor] = inverse.value
        tests.append(ordinary)
    start = [builder.const(_SUMS[name].start, _SUMS[name].type) for name in names]

    params = tuple(Value(p.type, p.name) for p in region.params)
    sums = [Value(_SUMS[name].type) for name in names]
    values: dict[Value, Value] = dict(zip(region.params, params, strict=True))
    inner = Builder(builder.loc)
    quick = Quick(inner, inverses, dict(zip(names, sums, strict=True)))
    for inst in region.insts[:-1]:
        inner.loc = inst.loc
        if inst not in found:
            put_again(inner, inst, values)
        elif inst.op.name == "if":
            quick.sums["usual"] = quick.sums["usual"] & Real(quick.e, values.get(inst.args[0], inst.args[0]))
            values.update(zip(inst.results, _quick_side(inner, inst, values), strict=True))
        else:
            values[inst.result] = quick.write(inst, [values.get(a, a) for a in inst.args])
    inner.loc = builder.loc
    inner.emit("yield", [*(values.get(a, a) for a in region.terminator.args), *(quick.sums[name].value for name in names)])
    types = [*lanes.types, *(_SUMS[name].type for name in names)]
    block = Block((*params, *sums), inner.take())
    made = builder.inst("lanes", (*args, *start), dict(lanes.attrs), types, (block,)).results
    made, ends = made[: len(lanes.types)], made[len(lanes.types) :]
    tests += [_SUMS[name].passes(Real(e, end)) for name, end in zip(names, ends, strict=True)]
    usual = functools.reduce(Real.__and__, tests)
    regions: list[Block] = []
    for write in (lambda: made, lambda: _one_by_one(builder, lanes, args, region)):
        with builder.nested() as insts:
            builder.emit("yield", write())
        regions.append(Block((), tuple(insts)))
    return builder.inst("if", (usual.value,), {}, lanes.types, regions).results


def _quick_side(builder: Builder, inst: Inst, values: Mapping[Value, Value]) -> list[Value]:
    """The first side of a branch, without the branch."""
    known = dict(values)
    (side, _) = inst.regions
    for step in side.insts[:-1]:
        builder.loc = step.loc
        put_again(builder, step, known)
    return [known.get(a, a) for a in side.terminator.args]


def _one_by_one(builder: Builder, lanes: Inst, args: tuple[Value, ...], region: Block) -> Sequence[Value]:
    """The lanes as they were, in a loop that has the code of one.

    A lane's elements are the first of a queue, and what it makes is put at the end of one.
    """
    count = lanes.attr("lanes")
    vectors = [a for a in args if isinstance(a.type, VectorType)]
    elements = [[Value(scalar(element(v.type))) for _ in range(_size(v.type))] for v in vectors]
    start = [Value(a.type) for a in args[len(vectors) :]]
    reach = [(share.step, list(share_of_lane(share, 0))) for share in lane_reach(lanes)]
    made = [t for t in lanes.types if isinstance(t, VectorType)]

    inner, step = Builder(builder.loc), Builder(builder.loc)
    index = Value(INDEX, "step")
    queues = [[Value(v.type) for v in queue] for queue in elements]
    carried = [Value(v.type) for v in start]
    values: dict[Value, Value] = {}
    given = [queue[m] for queue, (_, places) in zip(queues, reach, strict=True) for m in places]
    values.update(zip(region.params, (index, *given, *carried), strict=True))
    for inst in region.insts[:-1]:
        step.loc = inst.loc
        put_again(step, inst, values)
    for copied in (value for inst in step.insts for value in _made_by(inst)):
        # The name is that of the value in the quick code.
        copied.name = ""
    yielded = [values.get(a, a) for a in region.terminator.args]
    moved = [[*queue[by % len(queue) :], *queue[: by % len(queue)]] for queue, (by, _) in zip(queues, reach, strict=True)]
    ends: list[int] = []
    free = [k for k, (by, places) in enumerate(reach) if places == list(range(by))]
    for type in made:
        share, yielded = yielded[: type.lanes // count], yielded[type.lanes // count :]
        # What a lane has read makes room for what it makes.
        same = next((k for k in free if vectors[k].type == type), None)
        if same is None:
            same = len(queues)
            elements.append([inner.const(0, scalar(type.dtype)) for _ in range(type.lanes)])
            queues.append([Value(scalar(type.dtype)) for _ in range(type.lanes)])
            moved.append([*queues[same][len(share) :], *queues[same][: len(share)]])
        else:
            free.remove(same)
        moved[same][-len(share) :] = share
        ends.append(same)
    step.loc = builder.loc
    step.emit("yield", [*(v for queue in moved for v in queue), *yielded])
    first = [*(v for queue in elements for v in queue), *start]
    bounds = [inner.const(k, INDEX) for k in (0, count, 1)]
    body = Block((index, *(v for queue in queues for v in queue), *carried), step.take())
    attrs = {"over": "serial", "few": True}
    done = list(inner.inst("for", (*bounds, *first), attrs, [v.type for v in first], (body,)).results)
    places = [sum(map(len, queues[:k])) for k in range(len(queues) + 1)]
    results = [v for k in ends for v in done[places[k] : places[k + 1]]]
    inner.emit("yield", [*results, *done[places[-1] :]])
    params = (v for queue in elements[: len(vectors)] for v in queue)
    block = Block((Value(INDEX, "k"), *params, *start), inner.take())
    return builder.inst("lanes", args, {"lanes": 1}, lanes.types, (block,)).results


def _made_by(inst: Inst) -> Iterator[Value]:
    yield from inst.results
    for region in inst.regions:
        yield from region.params
        for step in region.insts:
            yield from _made_by(step)


def _size(type: Type) -> int:
    return type.lanes if isinstance(type, VectorType) else 1
