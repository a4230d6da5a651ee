"""Exact float32 quotients and roots of several lanes at once, on GPUs.

An assembler writes each division and root as arithmetic for ordinary numbers, a test, and a jump to other code for very large
and small ones; what a thread computes of one lane then waits until the test of the lane before is done.  Here all lanes are
computed as of ordinary numbers, without a jump, and one test says whether they were: if not, they are computed again, one
after the other, with the divisions and roots themselves.  Launches whose threads have several rows at once are written so:
elsewhere memory is what a kernel waits for, or the test takes as long as what it saves.  The steps for ordinary numbers,
each rounded once, are

    near = a * y,   rest = b * near - a,      quotient = near - rest * y       with y next to 1 / b
    near = x * y,   rest = near * near - x,   root = near - rest * (y / 2)     with y next to 1 / sqrt(x)

Where all lanes divide by one number, `y` is the float32 that is nearest to 1 / b, computed once; otherwise it is an
instruction's and, for quotients, a step of Newton's method.  :mod:`pytocu.testing.quotients` shows why the results are the
nearest float32, and computes all that could be wrong.

What is tested are magnitudes: far from where float32 end, the rest is exact and no result is subnormal.  Infinities,
NaN and negative radicands do not pass.  A zero over one divisor of all lanes, which is positive, keeps its sign; other
zeros do not pass.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Function, Inst, Value, walk, written_pointers
from pytocu.ir.expand_float64 import Real
from pytocu.ir.expander import Expander
from pytocu.ir.lanes import lane_reach, share_of_lane
from pytocu.ir.rewrite import put_again, put_with
from pytocu.ir.types import F32, INDEX, U32, IndexType, PointerType, ScalarType, Type, VectorType, element, scalar
from pytocu.passes.context import PassContext
from pytocu.passes.shared_divisors import LEAST, is_product

LARGE = 2.0**60
"""Numerators over a divisor that all lanes have, and quotients by divisors of each lane, are not larger, as the sum of the
squares says."""

INVERSES = 2.0**40
"""Nor are reciprocals of divisors of each lane."""

SMALL = 2.0**-60
"""Such quotients are not smaller, so that the rest is a multiple of the smallest float32; the reciprocal of what is larger
than 2**126 is 0, and so is the quotient."""

SHARED = (2.0**-64, 2.0**32)
"""Between these is a divisor that all lanes have."""

SMALL_OF_SHARED = 2.0**-92
"""Numerators over such a divisor are 0 or not smaller: the rest is a multiple of the smallest float32."""

RADICANDS = (2.0**-100, 2.0**120)


def run(function: Function, context: PassContext) -> Function:
    """Write lanes that divide or take roots with one test."""
    body = _block(function.body, {}, written_pointers(function.body))
    return function if body is function.body else Function(function.name, function.level, body, function.facts)


def _block(block: Block, values: dict[Value, Value], written: set[Value]) -> Block:
    """Write a block again; `values` says what stands for values of before, and grows."""
    builder, changed = Builder(), False
    for inst in block.insts:
        builder.loc = inst.loc
        args = tuple(values.get(a, a) for a in inst.args)
        regions = inst.regions
        if inst.op.name != "launch" or inst.attr("several") is not None:
            regions = tuple(_block(region, values, written) for region in regions)
        found = _found(inst, regions[0], written) if inst.op.name == "lanes" else []
        if not found:
            changed |= put_with(inst, builder, args, regions, values)
            continue
        changed = True
        for old, value in zip(inst.results, _tested(builder, inst, args, regions[0], found), strict=True):
            value.name = value.name or old.name
            values[old] = value
    return Block(block.params, builder.take()) if changed else block


def _found(lanes: Inst, region: Block, written: set[Value]) -> list[Inst]:
    """Divisions and roots of lanes, where they are many and the lanes may be computed again, and of wrong numbers."""
    count = lanes.attr("lanes")
    if count < 2 or not all(_may_run_again(step, written) for step in walk(region)):
        return []
    found: list[Inst] = []
    # What must be right: what is a position, decides what is done, or becomes an integer.
    right: set[Value] = set()
    for inst in reversed(region.insts[:-1]):
        if not right.isdisjoint(inst.results) or not _may_be_wrong(inst):
            right.update(inst.args, (a for r in inst.regions for step in walk(r) for a in step.args))
        elif inst.op.name in ("divide", "sqrt") and inst.types[0] == scalar(F32) and not is_product(inst):
            found.append(inst)
    if len(found) * count < LEAST or not right.isdisjoint(region.params[len(region.params) - _carried(lanes) :]):
        return []
    return found[::-1]


def _may_run_again(inst: Inst, written: set[Value]) -> bool:
    """Whether it changes nothing, and reads what nobody changes."""
    if inst.op.name == "load":
        return inst.args[0] not in written and not _is_shared(inst.args[0])
    return inst.op.kind in ("elementwise", "const", "index") or inst.op.name in ("if", "for", "while", "yield", "part", "lanes")


def _is_shared(pointer: Value) -> bool:
    return isinstance(pointer.type, PointerType) and pointer.type.space != "global"


def _may_be_wrong(inst: Inst) -> bool:
    """Whether an instruction may be given any numbers."""
    if inst.op.kind not in ("elementwise", "const") or inst.regions or isinstance(inst.types[0], IndexType):
        return False
    return inst.op.name != "convert_raw" or element(inst.types[0]).kind == "f"


def _carried(lanes: Inst) -> int:
    return sum(not isinstance(a.type, VectorType) for a in lanes.args)


class _Sum(NamedTuple):
    """What goes from lane to lane: where it starts, what an ordinary number makes of it, and what it is at the end."""

    start: float
    type: ScalarType
    passes: Callable[[Real], Real]


_F32, _U32 = scalar(F32), scalar(U32)


def _doubled(value: float) -> int:
    """Twice the bits of a positive float32, which leave out its sign."""
    return 2 * int(np.float32(value).view(np.uint32))


_SUMS = {
    "squares": _Sum(0.0, _F32, lambda sum: sum <= LARGE**2),
    "radicands": _Sum(0.0, _F32, lambda sum: sum <= RADICANDS[1]),
    "inverse roots": _Sum(0.0, _F32, lambda sum: sum <= 1 / RADICANDS[0]),
    "inverses": _Sum(0.0, _F32, lambda sum: sum <= INVERSES**2),
    "least quotient": _Sum(0xFFFFFFFF, _U32, lambda least: least >= _doubled(SMALL)),
    "numerators of one divisor": _Sum(0xFFFFFFFF, _U32, lambda least: least >= _doubled(SMALL_OF_SHARED) - 1),
}


class _Quick:
    """Writes divisions and roots as of ordinary numbers, and adds up what tells whether they are."""

    def __init__(self, builder: Builder, inverses: dict[Value, Value], sums: dict[str, Value]):
        self.e, self.inverses = Expander(builder), inverses
        self.sums = {name: Real(self.e, value) for name, value in sums.items()}

    def write(self, inst: Inst, args: Sequence[Value]) -> Value:
        x, *rest = (Real(self.e, a) for a in args)
        if inst.op.name == "sqrt":
            return self.root(x).value
        inverse = self.inverses.get(args[1])
        return self.quotient(x, rest[0], None if inverse is None else Real(self.e, inverse)).value

    def square(self, name: str, x: Real) -> None:
        self.sums[name] = x.fma(x, self.sums[name])

    def quotient(self, a: Real, b: Real, inverse: Real | None) -> Real:
        if inverse is not None:
            self.square("squares", a)
            bits = a.bitcast(U32)
            # A zero becomes the largest.
            self.least("numerators of one divisor", bits + bits - 1)
            near = a * inverse
            return _corrected(near, b.fma(near, -a), inverse)
        inverse = b.row("near_reciprocal")
        self.square("inverses", inverse)
        inverse = b.fma(-inverse, 1.0).fma(inverse, inverse)
        near = a * inverse
        made = _corrected(near, b.fma(near, -a), inverse)
        self.square("squares", made)
        bits = made.bitcast(U32)
        self.least("least quotient", bits + bits)
        return made

    def least(self, name: str, bits: Real) -> None:
        self.sums[name] = (bits < self.sums[name]).choose(bits, self.sums[name])

    def root(self, x: Real) -> Real:
        # Of what is negative, the inverse is NaN.
        inverse = x.row("near_inverse_root")
        self.sums["radicands"] = x + self.sums["radicands"]
        self.square("inverse roots", inverse)
        near = x * inverse
        return _corrected(near, near.fma(near, -x), inverse * 0.5)


def _corrected(near: Real, rest: Real, inverse: Real) -> Real:
    # Written so, a zero keeps its sign where the inverse is positive.
    return (-rest).fma(inverse, near)


def _tested(builder: Builder, lanes: Inst, args: tuple[Value, ...], region: Block, found: Sequence[Inst]) -> Sequence[Value]:
    """The results of lanes with quick divisions and roots, or of those with the rows themselves."""
    e = Expander(builder)
    inside = {*region.params, *(r for inst in region.insts for r in inst.results)}
    divisors = dict.fromkeys(i.args[1] for i in found if i.op.name == "divide" and i.args[1] not in inside)
    names: dict[str, None] = {}
    for inst in found:
        if inst.op.name == "sqrt":
            names |= {"radicands": None, "inverse roots": None}
        else:
            shared = inst.args[1] in divisors
            own = ("numerators of one divisor",) if shared else ("inverses", "least quotient")
            names |= dict.fromkeys(("squares", *own))
    tests: list[Real] = []
    inverses: dict[Value, Value] = {}
    for divisor in divisors:
        b = Real(e, divisor)
        inverses[divisor] = (b.of(1.0) / b).value
        tests.append((b >= SHARED[0]) & (b <= SHARED[1]))
    start = [builder.const(_SUMS[name].start, _SUMS[name].type) for name in names]

    params = tuple(Value(p.type, p.name) for p in region.params)
    sums = [Value(_SUMS[name].type) for name in names]
    values: dict[Value, Value] = dict(zip(region.params, params, strict=True))
    inner = Builder(builder.loc)
    quick = _Quick(inner, inverses, dict(zip(names, sums, strict=True)))
    for inst in region.insts[:-1]:
        inner.loc = inst.loc
        if inst in found:
            values[inst.result] = quick.write(inst, [values.get(a, a) for a in inst.args])
        else:
            put_again(inner, inst, values)
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
