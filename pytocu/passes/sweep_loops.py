"""Writes sweeps: each thread has a free position and goes through all steps of a loop in the order of the program.

In: a loop of the user's program that is a sweep (see `pytocu.passes.sweeps`).  Out: loops, branches, loads and stores.
What one step stores and a later one reads at the place that lies so many steps back goes from step to step in registers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Inst, Value
from pytocu.ir.dims import DimLike, dim_max, dim_min, floordiv, product, substitute, symbol
from pytocu.ir.regions import HEADS, carried_count, carried_memories, changes, given, is_region, numbers_of, origin, parameters
from pytocu.ir.types import I64, INDEX, ArrayType, Type, axes_of, element, is_strided, scalar, shape_of
from pytocu.passes.accesses import Index, Walked, demand, position, target_index, walked, whole_index
from pytocu.passes.affine import Affine, Part, linear_pieces, mentions, merge_axes, states_positions
from pytocu.passes.elements import Elements, Memory, Target
from pytocu.passes.python_numbers import steps_of_range
from pytocu.passes.region_loops import bind_numbers
from pytocu.passes.sweeps import Event, events, is_event
from pytocu.record import Record

MOST_BACK = 4
"""Steps that what is stored stays in registers at most."""


LANES = 128
"""Positions next to each other in memory that a CPU's thread takes through each step together."""

COPIED_BYTES = 8192
"""Bytes that it copies at once where steps copy alone: nothing of it is needed again, and longer stretches are read ahead."""


def write(e: Elements, region: Block, targets: Sequence[Target | None], over: str) -> tuple[DimLike, DimLike]:
    """The loop over free positions, in each the loop of the program; how many iterations there are, and what each costs."""
    (loop,) = (inst for inst in region.insts if is_region(inst))
    whole = whole_index(e.ndim)
    memories = carried_memories(loop)
    first = Value(INDEX, "i")
    # Without free positions there is one order in which things happen, which ends where something is wrong.
    e.leaves = not e.ndim
    body = e.inside = Builder(loc=e.loc)
    for k in memories:
        start = given(loop)[k]
        e.versions[start] = e.memory[start]
    together = 0
    if over == "parallel" and e.sizes:
        steps = _Steps(e, loop, whole)
        for target in targets:
            if target is not None:
                steps.note(target.offset)
        steps.merge_axes()
        together = steps.together() if _together(e, loop, whole) else 0
    sizes = list(e.sizes)
    lanes: tuple[Value, Value] | None = None
    if together:
        sizes[-1] = floordiv(e.sizes[-1] + (together - 1), together)
    e.loop_index = _taken_apart(e, body, first, sizes)
    if together:
        begin = body.emit("multiply", (e.loop_index[-1], e.dim(together)))
        end, length = body.emit("add", (begin, e.dim(together))), e.dim(e.sizes[-1])
        lanes = begin, body.emit("where", (body.emit("less", (end, length)), end, length))
    writer = _Writer(e, whole, lanes)
    writer.region_inst(body, loop)
    for root, target in zip(region.terminator.args, targets, strict=True):
        if target is not None:
            made = e.made[root, position(root, whole)]
            body.inst("store", (target.pointer, e.address(body, target.offset), made))
    body.emit("yield")
    work = product(sizes)
    block = Block((first,), body.take())
    e.before.inst("for", (e.dim(0), e.dim(work), e.dim(1)), {"over": over}, (), (block,))
    e.before.emit("return")
    numbers = loop.attr("numbers")
    count = 1 if numbers is None else dim_max(numbers[1], 1)
    return work, count * (dim_max(dim_min(together, e.sizes[-1]), 1) if together else 1) if over == "parallel" else 1


def _taken_apart(e: Elements, builder: Builder, i: Value, sizes: Sequence[DimLike]) -> list[Value]:
    """The index of each free axis from one over all of them."""
    indices: list[Value] = []
    for k in range(len(sizes) - 1, 0, -1):
        length = e.dim(sizes[k])
        indices.insert(0, builder.emit("remainder_truncated", (i, length), name=f"i{k}"))
        i = builder.emit("divide_truncated", (i, length))
    return [i, *indices] if sizes else []


def _together(e: Elements, loop: Inst, whole: Index) -> bool:
    """Whether neighbours in memory may go through each step together: arrays alone go from step to step, in order.

    Then the loop over neighbours stands inside of that over steps, and becomes vector code.
    """
    axis = e.groups[-1][-1]
    memories = {given(loop)[k]: e.versions[given(loop)[k]] for k in carried_memories(loop)}
    near = {memory.pointer: _least_stride(value, memory) for value, memory in memories.items()}

    def alike(inst: Inst, memory: Mapping[Value, Memory]) -> bool:
        if inst.op.name != "for_loop" or inst.attr("numbers") is None or len(carried_memories(inst)) != len(inst.types):
            return False
        (region,) = inst.regions
        inner = {p: memory[a] for p, a in zip(parameters(inst, region), given(inst), strict=True) if a in memory}
        kinds: set[bool] = set()
        for event in events(inst, region, e.ndim):
            if event.inst is None:
                continue
            kinds.add(event.inst.op.name == "update")
            if event.inst.op.name == "update":
                old, target, _ = event.inst.args
                place = target_index(target, old, whole, e.ndim)
                if old not in inner or inner[old].offset(place, e.ndim).coefficients[axis] != near[inner[old].pointer]:
                    return False
                inner[event.inst.results[0]] = inner[old]
            elif not alike(event.inst, inner):
                return False
            else:
                inner |= {event.inst.results[k]: inner[given(event.inst)[k]] for k in range(len(event.inst.types))}
        # Either changes of elements, or loops: what is loaded for one before another changes it is not at hand there.
        return len(kinds) == 1

    return bool(memories) and alike(loop, memories)


def _least_stride(array: Value, memory: Memory) -> DimLike:
    """Elements from one position to the next along the axis along which an array lies in memory."""
    if isinstance(array.type, ArrayType) and is_strided(array.type.layout):
        return memory.strides[axes_of(array.type.layout, array.type.ndim)[-1]]
    return 1


class _Steps:
    """What the steps of a loop read and write, and whether they copy alone.

    Attributes
    ----------
    accesses : list of Affine
        Every linear expression that they compute of the free positions.
    computes : bool
        Whether they do more than to write what is in other arrays.
    """

    def __init__(self, e: Elements, loop: Inst, whole: Index):
        self.e, self.loop, self.whole = e, loop, whole
        self.accesses: list[Affine] = []
        self.computes = False
        self.versions: dict[Value, Memory] = dict(e.versions)
        self.given: dict[Value, Value] = {}
        self.walked = Walked()
        self.look(loop)

    def look(self, inst: Inst) -> None:
        count, ndim = carried_count(inst), self.e.ndim
        memories = carried_memories(inst)
        self.computes = self.computes or len(memories) < len(inst.types)
        for region in inst.regions:
            for k, (param, argument) in enumerate(zip(parameters(inst, region), given(inst), strict=True)):
                if argument in self.versions:
                    self.versions[param] = self.versions[argument]
                elif k >= count:
                    self.given[param] = argument
            for event in events(inst, region, ndim):
                for value, at in event.values:
                    self.follow(value, at)
                if event.inst is not None and event.inst.op.name == "update":
                    old, target, _ = event.inst.args
                    self.note(self.versions[old].offset(target_index(target, old, self.whole, ndim), ndim))
                    self.versions[event.inst.results[0]] = self.versions[old]
                elif event.inst is not None and changes(event.inst):
                    self.look(event.inst)
        for k in memories:
            self.versions[inst.results[k]] = self.versions[given(inst)[k] if count else origin(inst.results[k])]

    def follow(self, value: Value, at: Index) -> None:
        """What an element is made of."""
        ndim = self.e.ndim
        for operand, place in demand([value], at, ndim, is_event, walked=self.walked):
            memory = self.versions.get(operand) or self.e.memory.get(operand)
            if memory is not None:
                # What a loop in the steps has left there is read as other memory is.
                self.computes = self.computes or operand in self.versions
                self.note(memory.offset(place, ndim))
                continue
            for piece in walked(operand, place, ndim):
                self.note(piece)
            if operand in self.given:
                self.follow(self.given[operand], place)
            elif operand.inst is not None and operand.inst.op.kind not in ("view", "const"):
                self.computes = self.computes or bool(shape_of(operand.type))

    def note(self, place: Affine) -> None:
        self.accesses.extend(linear_pieces(place))

    def merge_axes(self) -> None:
        """Walk free axes as one where every access allows it."""
        e = self.e
        e.sizes, groups = merge_axes(list(e.sizes), [e.merged(access) for access in self.accesses])
        e.groups = [[e.groups[k][-1] for k in group] for group in groups]

    def together(self) -> int:
        """How many neighbours a thread takes through each step together."""
        if self.computes:
            return LANES
        return COPIED_BYTES // max(element(given(self.loop)[k].type).itemsize for k in carried_memories(self.loop))


class _Back(Record):
    """What a loop stored some steps before: its places, the nearest first, and the change that stores."""

    param: Value
    memory: Memory
    places: tuple[Index, ...]
    read: frozenset[int]
    change: Inst
    at: Index


class _Writer:
    """Writes the loops; `lanes` are the first position and the end of those that go through each step together."""

    def __init__(self, e: Elements, whole: Index, lanes: tuple[Value, Value] | None):
        self.e = e
        self.whole = whole
        self.lanes = lanes

    def region_inst(self, builder: Builder, inst: Inst) -> None:
        """A loop or branch that changes arrays."""
        e = self.e
        memories = carried_memories(inst)
        values = [k for k in range(len(inst.types)) if k not in memories]
        count = carried_count(inst)
        starts = [self.needed(builder, given(inst)[k]) for k in values] if count else []
        types = [scalar(element(inst.types[k])) for k in values]
        for k in memories:
            first = given(inst)[k] if count else origin(inst.results[k])
            e.versions[inst.results[k]] = e.versions[first]
        builder.loc = inst.loc
        if inst.op.name == "for_loop" and inst.attr("numbers") is not None:
            made = self.counted(builder, inst, values, starts, types)
        else:
            head = [self.needed(builder, a) for a in inst.args[: HEADS[inst.op.name]]]
            match inst.op.name:
                case "if_else":
                    blocks = [Block((), self.block(inst, region, {})) for region in inst.regions]
                    made = builder.inst("if", head, {}, types, blocks).results
                case "while_loop":
                    made = self.loop(builder, inst, values, starts, types)
                case _:
                    made = self.steps(builder, inst, values, head, starts, types)
        for k, result in zip(values, made, strict=False):
            result.name = result.name or inst.results[k].name
            e.made_before.add(inst.results[k])
            e.made[inst.results[k], position(inst.results[k], self.whole)] = result

    def needed(self, builder: Builder, value: Value) -> Value:
        return self.e.needed(builder, value, position(value, self.whole))

    def block(self, inst: Inst, region: Block, own: dict[Value, Value]) -> tuple[Inst, ...]:
        """The instructions of a region, with the ``yield``."""
        inner = Builder(inst.loc)
        results = self.body(inner, inst, region, own)
        inner.loc = inst.loc
        inner.emit("yield", results)
        return inner.take()

    def loop(
        self, builder: Builder, inst: Inst, values: Sequence[int], starts: Sequence[Value], types: Sequence[Type]
    ) -> Sequence[Value]:
        """A loop while its first carried value holds."""
        (region,) = inst.regions
        params = parameters(inst, region)
        before, after = ([Value(t, params[k].name) for k, t in zip(values, types, strict=True)] for _ in range(2))
        test = Builder(inst.loc)
        test.emit("yield", (before[0], *before))
        own = dict(zip((params[k] for k in values), after, strict=True))
        body = Block(tuple(after), self.block(inst, region, own))
        return builder.inst("while", starts, {}, types, (Block(tuple(before), test.take()), body)).results

    def steps(
        self,
        builder: Builder,
        inst: Inst,
        values: Sequence[int],
        head: Sequence[Value],
        starts: Sequence[Value],
        types: Sequence[Type],
    ) -> Sequence[Value]:
        """A loop over the numbers of a range, of which no position is made."""
        (region,) = inst.regions
        params = parameters(inst, region)
        start, _, step = head
        count = steps_of_range(builder, *head)
        number, place = Value(INDEX, "step"), Value(scalar(I64), "number")
        after = [Value(t, params[k].name) for k, t in zip(values, types, strict=True)]
        inner = Builder(inst.loc)
        own = dict(zip((region.params[0], *(params[k] for k in values)), (place, *after), strict=True))
        results = self.body(inner, inst, region, own)
        inner.loc = inst.loc
        inner.emit("yield", (inner.emit("add", (place, step)), *results))
        bounds = (self.e.dim(0), builder.emit("convert_raw", (count,), {}, (INDEX,)), self.e.dim(1))
        block = Block((number, place, *after), inner.take())
        made = builder.inst("for", (*bounds, start, *starts), {"over": "serial"}, (scalar(I64), *types), (block,))
        return made.results[1:]

    def counted(
        self, builder: Builder, inst: Inst, values: Sequence[int], starts: Sequence[Value], types: Sequence[Type]
    ) -> Sequence[Value]:
        """A loop whose steps have numbers by which positions are known."""
        e = self.e
        (region,) = inst.regions
        params = parameters(inst, region)
        name, count, falling = inst.attr("numbers")
        back = [] if self.lanes is not None else self.back(inst)
        registers = [self.first_back(builder, inst, b, n) for b in back for n in range(len(b.places))]
        number = Value(INDEX, name)
        after = [Value(t, params[k].name) for k, t in zip(values, types, strict=True)]
        held = [Value(r.type, "before") for r in registers]
        inner = Builder(inst.loc)
        numbers = dict(e.numbers)
        last = e.dim(count - 1, builder) if falling else None
        now = e.numbers[name] = number if last is None else inner.emit("subtract", (last, number), name=name)
        own = dict(zip((params[k] for k in values), after, strict=True))
        if region.params[0] in {a for i in region.insts for a in i.args}:
            own[region.params[0]] = inner.emit("convert_raw", (now,), {}, (scalar(I64),))
        places = [(b.param, place) for b in back for place in b.places]
        stored = [(b.change.results[0], b.at) for b in back]
        made = self.body(inner, inst, region, own, dict(zip(places, held, strict=True)), stored)
        results, new = made[: len(values)], made[len(values) :]
        following: list[Value] = []
        at = 0
        for b, value in zip(back, new, strict=True):
            following.extend((value, *held[at : at + len(b.places) - 1]))
            at += len(b.places)
        inner.loc = inst.loc
        inner.emit("yield", (*results, *following))
        e.numbers = numbers
        block = Block((number, *after, *held), inner.take())
        bounds = (e.dim(0), e.dim(count, builder), e.dim(1))
        all_types = (*types, *(r.type for r in registers))
        return builder.inst("for", (*bounds, *starts, *registers), {"over": "serial"}, all_types, (block,)).results

    # What a step stores and later ones read.

    def back(self, inst: Inst) -> list[_Back]:
        """The arrays of which a step reads what earlier ones stored, a fixed number of steps before."""
        e = self.e
        (region,) = inst.regions
        name, _, falling = inst.attr("numbers")
        found: list[_Back] = []
        steps = list(events(inst, region, e.ndim))
        for k in carried_memories(inst):
            param, change = parameters(inst, region)[k], region.terminator.args[k].inst
            if change is None or change.op.name != "update" or change.args[0] is not param:
                continue
            at = target_index(change.args[1], param, self.whole, e.ndim)
            if not any(mentions(p, {name}) for p in at) or any(map(states_positions, at)):
                continue
            read = {place for _, value, place in self.demanded(steps) if value is param}
            places = [_moved(at, name, d if falling else -d) for d in range(1, MOST_BACK + 1)]
            known = frozenset(n for n, place in enumerate(places) if place in read)
            if known:
                memory = e.versions[given(inst)[k]]
                found.append(_Back(param, memory, tuple(places[: max(known) + 1]), known, change, at))
        return found

    def first_back(self, builder: Builder, inst: Inst, back: _Back, number: int) -> Value:
        """What stands before the first step where a step stores later, if there is a step that reads it."""
        e = self.e
        name, count, falling = inst.attr("numbers")
        start = count - 1 if falling else 0
        place = tuple(_substituted(p, {name: start}) for p in back.places[number])
        least = 0 if number in back.read else len(back.places) - 1 - number
        type = scalar(element(back.param.type))
        some = builder.emit("less", (e.dim(least), e.dim(count, builder)))
        made, offsets = dict(e.made), dict(e.offsets)
        load = Builder(inst.loc)
        address = e.address(load, back.memory.offset(place, e.ndim))
        load.emit("yield", (load.emit("load", (back.memory.pointer, address)),))
        e.made, e.offsets = made, offsets
        none = Builder(inst.loc)
        none.emit("yield", (none.const(0, type),))
        regions = (Block((), load.take()), Block((), none.take()))
        return builder.inst("if", (some,), {}, (type,), regions).results[0]

    # The steps of a region.

    def body(
        self,
        builder: Builder,
        inst: Inst,
        region: Block,
        own: dict[Value, Value],
        known: dict[tuple[Value, Index], Value] | None = None,
        shown: Sequence[tuple[Value, Index]] = (),
    ) -> list[Value]:
        """What a region does, in order; the elements that it yields, and those that are `shown`.

        `own` are its parameters that change, and `known` elements of contents that are in registers.
        """
        e = self.e
        made, offsets, numbers = dict(e.made), dict(e.offsets), dict(e.numbers)
        bind_numbers(e, region)
        count = carried_count(inst)
        for k, (param, argument) in enumerate(zip(parameters(inst, region), given(inst), strict=True)):
            if argument in e.versions:
                e.versions[param] = e.versions[argument]
            elif k >= count:
                e.given[param] = argument
        e.made.update(((p, position(p, self.whole)), value) for p, value in own.items())
        e.made.update(known or {})
        steps = list(events(inst, region, e.ndim))
        reads = _Reads(self, steps)
        inner = set(numbers_of(region))
        results: list[Value] = []
        outer, alone = builder, e.loop_index
        together = self.lanes is not None and any(s.inst is not None and s.inst.op.name == "update" for s in steps)
        if together:
            builder = Builder(inst.loc)
            lane = Value(INDEX, "i")
            e.loop_index = [*e.loop_index[:-1], lane]
        for place, event in enumerate(steps):
            builder.loc = event.inst.loc if event.inst is not None else inst.loc
            elements = [e.needed(builder, value, at) for value, at in event.values]
            if event.inst is None:
                results = elements
            elif event.inst.op.name == "update":
                reads.load(self, builder, place, event.inst.args[:1], inner)
                self.store(builder, event.inst, elements[0])
            elif event.inst.op.name == "check":
                e.compare(builder, event.inst)
            elif not changes(event.inst):
                # A number that has a name from here on, what is required here, or a loop or branch that gives numbers.
                inner -= set(event.inst.attr("names", ()))
            else:
                first = [origin(event.inst.results[k]) for k in carried_memories(event.inst)]
                reads.load(self, builder, place, first, inner)
                self.region_inst(builder, event.inst)
            if event.inst is not None:
                reads.add(event.inst)
        results.extend(e.made[value, at] for value, at in shown)
        if together:
            assert self.lanes is not None
            builder.emit("yield")
            block = Block((e.loop_index[-1],), builder.take())
            e.loop_index = alone
            outer.inst("for", (*self.lanes, e.dim(1)), {"over": "serial"}, (), (block,))
        e.made, e.offsets, e.numbers = made, offsets, numbers
        return results

    def store(self, builder: Builder, inst: Inst, new: Value) -> None:
        e = self.e
        old, target, _ = inst.args
        memory = e.versions[old]
        at = target_index(target, old, self.whole, e.ndim)
        builder.loc = inst.loc
        builder.inst("store", (memory.pointer, e.address(builder, memory.offset(at, e.ndim)), new))
        e.versions[inst.results[0]] = memory
        e.made[inst.results[0], at] = new

    def demanded(self, steps: Sequence[Event]) -> Iterator[tuple[int, Value, Index]]:
        """Everything that steps of a region need, each once: the number of the first step that does, and what it is."""
        ndim, walked = self.e.ndim, Walked()
        for number, event in enumerate(steps):
            for value, at in event.values:
                yield from ((number, *pair) for pair in demand([value], at, ndim, is_event, chosen=False, walked=walked))


class _Reads:
    """What the steps of a region read of contents that are in memory, until it is loaded.

    A step computes what it needs when its turn comes; what a later one needs is loaded before a change of the contents.
    """

    def __init__(self, writer: _Writer, steps: Sequence[Event]):
        self.versions = writer.e.versions
        # By contents, in the order of the steps: those of which the place in memory is known, and those that steps make.
        self.waiting: dict[Value, list[tuple[int, int, Index]]] = {}
        for order, (number, value, at) in enumerate(writer.demanded(steps)):
            if is_event(value):
                self.waiting.setdefault(value, []).append((number, order, at))
        self.ready = [value for value in self.waiting if value in self.versions]

    def add(self, inst: Inst) -> None:
        """What a step has made is in memory."""
        self.ready += [value for value in inst.results if value in self.waiting and value in self.versions]

    def load(self, writer: _Writer, builder: Builder, place: int, contents: Sequence[Value], inner: Set[str]) -> None:
        """Load what steps behind a place read of contents that change there, at positions that are known by then."""
        pointers = {self.versions[c].pointer for c in contents}
        found: list[tuple[int, Value, Index]] = []
        for value in [v for v in self.ready if self.versions[v].pointer in pointers]:
            left: list[tuple[int, int, Index]] = []
            for number, order, at in self.waiting[value]:
                if number <= place:
                    continue
                if any(mentions(p, inner) for p in at):
                    left.append((number, order, at))
                else:
                    found.append((order, value, at))
            self.waiting[value] = left
        self.ready = [value for value in self.ready if self.waiting[value]]
        for _, value, at in sorted(found, key=lambda entry: entry[0]):
            writer.e.operand(builder, value, at)


def _moved(place: Index, name: str, steps: int) -> Index:
    """The place that belongs to a number that is so much more."""
    return tuple(_substituted(p, {name: symbol(name) + steps}) for p in place)


def _substituted(place: Affine, values: dict[str, DimLike]) -> Affine:
    """The place with other numbers, of one that no array states."""
    coefficients = tuple(substitute(c, values) for c in place.coefficients)
    parts: list[tuple[Part, DimLike]] = []
    for part, factor in place.parts:
        inner, length = part.args
        parts.append((Part(part.name, (_substituted(inner, values), substitute(length, values))), substitute(factor, values)))
    return Affine(coefficients, substitute(place.offset, values), tuple(parts))
