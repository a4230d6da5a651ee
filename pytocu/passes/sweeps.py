"""Sweeps: loops that change arrays element by element along an axis, each free position apart from all others.

``for j in range(1, n): a[:, j] = f(a[:, j - 1], b[:, j])`` is a sweep with one free axis.  Every access to an array that
the loop changes is at one and the same free position, whatever it is along the other axes; so the positions may be computed
in any order, each with all steps in the order of the program: one thread each, one kernel in all.  Loops and branches
inside may change the arrays too.  What a step reads of the contents before a change has to be loaded before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from pytocu.ir.core import Block, Inst, Value, chain_from, walk
from pytocu.ir.dims import DimLike, symbols
from pytocu.ir.regions import (
    HEADS,
    carried_count,
    carried_memories,
    changes,
    given,
    is_region,
    numbers_in,
    numbers_of,
    origin,
    parameters,
)
from pytocu.ir.types import shape_of
from pytocu.passes.accesses import (
    IN_REGIONS,
    Index,
    demand,
    of_whole_arrays,
    position,
    region_needs,
    searched,
    target_index,
    view_chain,
    whole_index,
)
from pytocu.passes.affine import Affine, mentions
from pytocu.passes.failures import in_kernel
from pytocu.record import Record

COMPARED = "compares lengths or an index, which the host does in each step"
COMPARED_HELP = "take views before the loop, or with the loop's own number as their position"
READ = "makes a length or a Python number of data, which the host reads"
READ_HELP = "choose per element instead: np.where(mask, x, 0), or leave int() out"
STEPS_IN_TURN = "nothing: each step has to be finished before the next one reads its neighbours, which is one launch a step"

Dims = tuple[DimLike, ...]
Pair = tuple[Value, Index]


class Sweep(Record):
    """How a loop is one kernel.

    Attributes
    ----------
    free : tuple of DimLike
        The lengths of the free axes.
    memories : tuple of int
        The numbers of the carried values that are arrays changed in place.
    """

    free: Dims
    memories: tuple[int, ...]


class NoSweep(Exception):
    """The loop is no sweep.

    Parameters
    ----------
    at : Inst, Value or None
        What in its body is the reason.
    text : str
        What that does, as a sentence without its subject.
    help : str
        What to write instead.
    """

    def __init__(self, at: Inst | Value | None, text: str, help: str = ""):
        super().__init__(text)
        self.inst = at if isinstance(at, Inst) else at.inst if at is not None else None
        self.text = text
        self.help = help


@lru_cache(maxsize=1024)
def sweep_of(inst: Inst) -> Sweep | None:
    """How a loop is a sweep, if it is one."""
    found = sweep_or_reason(inst)
    return found if isinstance(found, Sweep) else None


def sweep_or_reason(inst: Inst) -> Sweep | NoSweep:
    """How a loop is a sweep, or why it is none."""
    if inst.op.name not in ("for_loop", "while_loop") or not (changes(inst) or _compares_numbers(inst)):
        return NoSweep(None, "changes no array")
    look = _Look(inst)
    try:
        look.loop()
        look.positions()
    except NoSweep as reason:
        return reason
    return Sweep(look.free, tuple(look.memories))


def _compares_numbers(inst: Inst) -> bool:
    """Whether a loop hands on numbers alone, and compares lengths or indices."""
    return not any(map(shape_of, inst.types)) and any(i.op.name == "check" for r in inst.regions for i in walk(r))


def needs_all(inst: Inst) -> tuple[str, str]:
    """What an instruction does that no element does alone, and what to write instead."""
    match inst.op.kind:
        case "reduce":
            every = len(inst.attr("axes")) == len(shape_of(inst.args[0].type))
            text = f"needs all elements {'of the array' if every else 'along an axis'}"
            return text, "do it before or after the loop, unless each step needs it"
        case "scan":
            return "needs all elements before each one", "walk along the axis by a loop: a[:, j] = a[:, j - 1] + b[:, j]"
        case "stored":
            return "is computed by a library, of whole arrays", "do it before or after the loop, unless each step needs it"
    return "needs elements of other positions", "do it before or after the loop, unless each step needs it"


def is_event(value: Value) -> bool:
    """Whether a value is an argument, or made by what changes arrays."""
    return value.inst is None or value.inst.op.name == "update" or changes(value.inst)


class Event(Record):
    """What a region does, in order: an ``update``, a loop or branch that changes arrays, or what it yields (None).

    Where no axis is free, there is one order for everything: numbers get their names in it, and are compared and required.
    """

    inst: Inst | None
    values: tuple[tuple[Value, Index], ...]


def events(inst: Inst, region: Block, free: int) -> Iterator[Event]:
    """The steps of a region whose order matters, each with the elements that it computes first."""
    whole = whole_index(free)
    kept = {} if free else _read_before(region)
    for step in region.insts[:-1]:
        if step.op.name == "update":
            picked = [(p, ()) for view in chain_from(step.args[0], step.args[1]) for p in view.args[1:]]
            yield Event(step, ((step.args[2], position(step.args[2], whole)), *picked, *kept.get(step, ())))
        elif changes(step):
            memories = carried_memories(step)
            starts = [v for k, v in enumerate(given(step)[: carried_count(step)]) if k not in memories]
            values = (*step.args[: HEADS[step.op.name]], *starts, *_made_of_changed(step))
            yield Event(step, (*((v, position(v, whole)) for v in values), *kept.get(step, ())))
        elif not free and is_region(step) and not any(map(shape_of, step.types)):
            # What it reads may have changed where its results are used.
            yield Event(step, tuple((r, ()) for r in step.results))
        elif not free and step.op.name in ("bind", "check"):
            yield Event(step, tuple((v, ()) for v in step.args))
        elif not free and step.op.name == "require" and not shape_of(step.types[0]):
            yield Event(step, ((step.results[0], ()),))
    memories = carried_memories(inst)
    ends = [v for k, v in enumerate(region.terminator.args) if k not in memories]
    yield Event(None, tuple((v, position(v, whole)) for v in ends))


def _read_before(region: Block) -> dict[Inst, list[Pair]]:
    """By change: numbers made before it of the contents that it changes, which are used behind it."""
    numbers = {result for inst in region.insts for result in inst.results if not shape_of(result.type)}
    last = {operand: n for n, inst in enumerate(region.insts) for operand in inst.args if operand in numbers}
    order = {value: number for number, value in enumerate(last)}
    contents = {
        n: {step.args[0]} if step.op.name == "update" else _contents(step)
        for n, step in enumerate(region.insts[:-1])
        if step.op.name == "update" or changes(step)
    }
    changed = {content: n for n, changing in contents.items() for content in changing}
    # What each value is made of and is changed behind it, and by what they are made of the numbers that a later step uses.
    sources: dict[Value, frozenset[Value]] = {}
    made: dict[Value, list[Value]] = {}
    found: dict[Inst, list[Pair]] = {}
    for n, step in enumerate(region.insts[:-1]):
        if n in contents:
            before = {v for content in contents[n] for v in made.get(content, ()) if n < last[v]}
            found[step] = [(v, ()) for v in sorted(before, key=order.__getitem__)]
        made_of = frozenset(s for a in step.args for s in sources.get(a, (a,)) if changed.get(s, n) > n)
        for result in step.results:
            sources[result] = frozenset([result]) if is_event(result) else made_of
            if last.get(result, n) > n and not is_event(result) and not of_whole_arrays(result):
                for source in made_of:
                    made.setdefault(source, []).append(result)
    return found


def _contents(inst: Inst) -> set[Value]:
    """What the arrays that a loop or branch changes hold before it."""
    return {given(inst)[k] if carried_count(inst) else origin(inst.results[k]) for k in carried_memories(inst)}


def _made_of_changed(inst: Inst) -> list[Value]:
    """Numbers that a loop or branch is given and that are made of contents which it changes: they have to be there before."""
    count, contents = carried_count(inst), _contents(inst)

    def reads(value: Value, seen: set[Value]) -> bool:
        if value in contents:
            return True
        if value in seen or is_event(value):
            return False
        seen.add(value)
        assert value.inst is not None
        return any(reads(operand, seen) for operand in value.inst.args)

    numbers = [v for v in given(inst)[count:] if not shape_of(v.type) and not of_whole_arrays(v)]
    return [value for value in numbers if reads(value, set())]


_IN_ORDER = "let each step read an array before it changes it, or read only what it has just written"
_ONE_PLACE = "let each step change and read an array at one position along the other axes"
_MOVES = "changes another part of the array along the other axes in each step", STEPS_IN_TURN


class _Look:
    """Looks at all accesses in the order of the program.

    Attributes
    ----------
    numbers : set of str
        The names of numbers that differ from step to step.
    memory : dict
        Contents of arrays that change, each with the number of the array.
    given : dict
        What parameters of regions stand for.
    begins : dict
        What the contents of an array are in a branch until it changes them: those from in front of it.
    registers : set
        Parameters that an element carries from step to step beside the arrays.
    now : dict
        The contents that each array has where the program stands.
    accesses : dict
        The positions at which each array is read and written, each with the update or the contents that are read.
    unknown : dict
        For contents of arrays that were changed: the numbers of the region whose names were not yet known there.
    ready : set
        Numbers that are computed before what is looked at, in its region or in one around it.
    """

    def __init__(self, inst: Inst):
        self.inst = inst
        self.numbers = numbers_in(inst)
        self.memories = carried_memories(inst)
        self.free: Dims = ()
        self.memory: dict[Value, int] = {}
        self.same: dict[Value, Value] = {}
        self.given: dict[Value, Value] = {}
        self.begins: dict[Value, Value] = {}
        self.registers: set[Value] = set()
        self.now: dict[int, Value] = {}
        self.accesses: dict[int, list[tuple[Index, Inst | Value]]] = {}
        self.ready: set[Pair] = set()
        self.unknown: dict[Value, frozenset[str]] = {}

    def loop(self) -> None:
        """All of the loop."""
        updates = [i for region in self.inst.regions for i in walk(region) if i.op.name == "update"]
        self.free = shape_of(updates[0].args[1].type) if updates else ()
        other = next((u for u in updates if shape_of(u.args[1].type) != self.free), None)
        if other is not None:
            self.refuse_neighbours(updates)
            shapes = " and ".join(str(u.args[1].type) for u in (updates[0], other))
            raise NoSweep(other, f"changes a part of another shape than line {updates[0].loc.line} does: {shapes}",
                          "change parts of one shape, or write a loop for each")  # fmt: skip
        if any(name in self.numbers for length in self.free for name in symbols(length)):
            self.refuse_neighbours(updates)
            raise NoSweep(updates[0], *_MOVES)
        for k, value in enumerate(given(self.inst)[: carried_count(self.inst)]):
            if k in self.memories:
                self.memory[value] = len(self.accesses)
                self.now[len(self.accesses)] = value
                self.accesses[len(self.accesses)] = []
        self.region_inst(self.inst)

    def refuse_neighbours(self, updates: list[Inst]) -> None:
        """Raise that an array is read beside where it is changed, if it is: this says more than the shapes of the parts."""
        changed = {origin(u.args[0]): _place(u.args[1], u.args[0]) for u in updates}
        for region in self.inst.regions:
            for inst in walk(region):
                if inst.op.kind != "view" or any(inst.results[0] is u.args[1] for u in updates):
                    continue
                root, _ = view_chain(inst.results[0])
                place = changed.get(origin(root))
                found = _place(inst.results[0], root)
                if place is not None and len(place) == len(found) and place != found:
                    raise NoSweep(inst, *_neighbours(inst))

    def region_inst(self, inst: Inst) -> None:
        """A loop or branch that changes arrays."""
        memories = carried_memories(inst)
        for k, type in enumerate(inst.types):
            if k not in memories and shape_of(type) not in ((), self.free):
                name = inst.results[k].name or "an array"
                raise NoSweep(inst, f"hands {name}, {type}, from step to step beside the parts of an array that it changes",
                              f"keep {name} outside of the loop, or write it into an array that the loop changes")  # fmt: skip
        count = carried_count(inst)
        for found in (i for region in inst.regions for i in walk(region)):
            if found.op.name == "check" and (self.free or not in_kernel(found)):
                raise NoSweep(found, COMPARED, COMPARED_HELP)
            if found.op.name == "read_length":
                raise NoSweep(found, READ, READ_HELP)
        before = dict(self.now)
        for region in inst.regions:
            self.now = dict(before)
            params = parameters(inst, region)
            for k, (param, argument) in enumerate(zip(params, given(inst), strict=True)):
                number = self.memory.get(argument)
                if k < count:
                    if (k in memories) != (number is not None):
                        raise NoSweep(inst, f"has another array under the name {param.name or 'of one'} from step to step",
                                      "change one array in place, without giving it another name")  # fmt: skip
                    if number is not None:
                        self.current(argument, number)
                        self.memory[param] = number
                        self.now[number] = param
                    else:
                        self.registers.add(param)
                elif number is not None:
                    # Not changed in here, or changed under the name of another parameter.
                    self.memory[param] = number
                    self.same[param] = self.same.get(argument, argument)
                    if not count and self.now[number] is self.same[param]:
                        self.now[number] = param
                        self.begins[param] = self.same.pop(param)
                elif inst is not self.inst:
                    # What the loop itself is given is in memory.
                    self.given[param] = argument
            self.block(inst, region)
        self.now = before
        for k in memories:
            number = self.memory[given(inst)[k]] if count else self.memory[origin(inst.results[k])]
            self.memory[inst.results[k]] = number
            self.now[number] = inst.results[k]

    def current(self, value: Value, number: int) -> None:
        """The array has these contents now."""
        if self.now[number] is not self.same.get(value, value):
            raise NoSweep(value, "goes on with what an array held before an earlier change of the step", _IN_ORDER)

    def block(self, inst: Inst, region: Block) -> None:
        """The steps of a region in order."""
        steps = list(events(inst, region, len(self.free)))
        memories = carried_memories(inst)
        own = {r for i in region.insts for r in i.results} | set(region.params)
        inner = set(numbers_of(region))
        ready = set(self.ready)
        for event in steps:
            for pair in event.values:
                self.look(pair, own, frozenset(inner))
            if event.inst is not None and event.inst.op.name == "bind":
                inner -= set(event.inst.attr("names"))
            elif event.inst is not None and event.inst.op.name != "check":
                for contents in event.inst.args:
                    self.unknown.setdefault(contents, frozenset(inner))
            self.ready.update(p for pair in event.values for p in self.always(*pair) if not shape_of(p[0].type))
            if event.inst is None:
                for k in memories:
                    end = region.terminator.args[k]
                    if self.memory.get(end) is None:
                        raise NoSweep(end, "is another array in the next step", "change one array in place")
                    self.current(end, self.memory[end])
            elif event.inst.op.name == "update":
                self.update(event.inst)
            elif changes(event.inst):
                self.region_inst(event.inst)
        self.ready = ready

    def update(self, inst: Inst) -> None:
        old, target, _ = inst.args
        number = self.memory.get(old)
        if number is None:
            raise NoSweep(inst, "changes an array that each step makes anew", "make the array before the loop")
        self.current(old, number)
        ndim = len(self.free)
        self.accesses[number].append((target_index(target, old, whole_index(ndim), ndim), inst))
        self.memory[inst.results[0]] = number
        self.now[number] = inst.results[0]

    def look(self, pair: Pair, own: set[Value], inner: frozenset[str]) -> None:
        """What is read for an element."""
        ndim = len(self.free)
        seen: set[Pair] = set()
        stack = [pair]
        while stack:
            value, at = stack.pop()
            for operand, place in demand([value], at, ndim, self.stops):
                if (operand, place) in seen:
                    continue
                seen.add((operand, place))
                self.operand(operand, place, ndim)
                if operand in self.given and (self.given[operand], place) not in self.ready:
                    stack.append((self.given[operand], place))
                if operand in self.memory:
                    self.read(operand, place, own, inner, chosen=(operand, place) in self.always(value, at))

    def always(self, value: Value, at: Index) -> set[Pair]:
        """What is read for an element in any case."""
        return set(demand([value], at, len(self.free), self.stops, chosen=False))

    def stops(self, value: Value) -> bool:
        """Whether what a value is made of is looked at elsewhere."""
        return value in self.memory or is_event(value) or of_whole_arrays(value) or (value, ()) in self.ready

    def operand(self, operand: Value, place: Index, ndim: int) -> None:
        inst = operand.inst
        if operand in self.registers and place != position(operand, whole_index(ndim)):
            view = self.maker(place, operand)
            raise NoSweep(view or operand, *_neighbours(view, operand.name))
        if inst is None or operand in self.memory:
            return
        if is_region(inst):
            if changes(inst):
                # What it gives besides arrays is an element of its own.
                if place != position(operand, whole_index(ndim)):
                    raise NoSweep(inst, "is read at other positions than its own", _ONE_PLACE)
            elif region_needs(operand, place, ndim) is None:
                raise NoSweep(inst, "is a loop or branch on whole arrays", "write it with elements of these positions alone")
            return
        for stored in searched(inst):
            while stored in self.given:
                stored = self.given[stored]
            # What is searched has to be there before the loop.
            if stored in self.memory or stored.inst is not None:
                raise NoSweep(inst, *needs_all(inst))
        if inst.op.kind not in IN_REGIONS:
            raise NoSweep(inst, *needs_all(inst))

    def read(self, contents: Value, place: Index, own: set[Value], inner: frozenset[str], chosen: bool) -> None:
        number = self.memory[contents]
        self.accesses[number].append((place, contents))
        now, wanted = self.now[number], self.same.get(contents, contents)
        while now is not wanted and now in self.begins:
            now = self.begins[now]
        if now is wanted:
            return
        # It has changed since: the element is loaded before it does, here and not further inside or outside.
        unknown = inner | self.unknown.get(contents, inner)
        if contents not in own or contents in self.same or not chosen or any(mentions(p, unknown) for p in place):
            text = "reads what an array held before an earlier change of the step"
            raise NoSweep(self.maker(place, contents), text, _IN_ORDER)

    def maker(self, place: Index, made: Inst | Value) -> Inst | None:
        """What changes an array at a position, or the view that reads contents there, if there is one."""
        if isinstance(made, Inst):
            return made
        for region in self.inst.regions:
            for inst in walk(region):
                if inst.op.kind != "view" or len(shape_of(inst.types[0])) != len(self.free):
                    continue
                root, chain = view_chain(inst.results[0])
                if root is made and chain:
                    whole = whole_index(len(self.free))
                    if target_index(inst.results[0], root, whole, len(self.free)) == place:
                        return inst
        return None

    def positions(self) -> None:
        """Compare the accesses of each array."""
        for accesses in self.accesses.values():
            free: set[int] = set()
            if not accesses:
                text = "gives a name what it has already, in every step"
                raise NoSweep(self.inst, text, "leave that line out, or bind the name in front of the loop")
            first = accesses[0]
            for along in zip(*(place for place, _ in accesses), strict=True):
                if not any(p.moves() for p in along):
                    continue
                other = next((access for p, access in zip(along, accesses, strict=True) if p != along[0]), None)
                if other is not None:
                    made = self.maker(*other) or self.maker(*first)
                    raise NoSweep(made, *_neighbours(made))
                if mentions(along[0], self.numbers):
                    # What is a position of its own in one step is another one's in the next.
                    raise NoSweep(self.maker(*first), *_MOVES)
                axis = _alone(along[0])
                if axis is None or axis in free:
                    raise NoSweep(self.maker(*first), "is about elements along two axes at once", _ONE_PLACE)
                free.add(axis)
            if any(length != 1 and axis not in free for axis, length in enumerate(self.free)):
                raise NoSweep(self.maker(*first), "gives one element of the array several values", _ONE_PLACE)


def _place(view: Value, root: Value) -> Index:
    """Where the elements of a view are in what it is a view of."""
    ndim = len(shape_of(view.type))
    return target_index(view, root, whole_index(ndim), ndim)


def _neighbours(inst: Inst | None, name: str = "") -> tuple[str, str]:
    array = name or "an array"
    if inst is not None:
        value = view_chain(inst.results[0])[0] if inst.op.kind == "view" else inst.args[0]
        array = value.name or array
    does = "changes" if inst is not None and inst.op.name == "update" else "reads"
    return f"{does} elements of {array} that other positions change", STEPS_IN_TURN


def _alone(place: Affine) -> int | None:
    """The only free axis that a position moves along."""
    moving = [k for k, c in enumerate(place.coefficients) if c != 0]
    if len(moving) != 1 or place.parts or not isinstance(place.coefficients[moving[0]], int):
        return None
    return moving[0]
