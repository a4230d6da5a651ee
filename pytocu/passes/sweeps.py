"""Sweeps: loops that change arrays element by element along an axis, each free position apart from all others.

``for j in range(1, n): a[:, j] = f(a[:, j - 1], b[:, j])`` is a sweep with one free axis.  Every access to an array that
the loop changes is at one and the same free position, whatever it is along the other axes; so the positions may be computed
in any order, each with all steps in the order of the program: one thread each, one kernel in all.  Loops and branches
inside may change the arrays too.  What a step reads of the contents before a change has to be loaded before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from pytocu.ir.core import Block, Inst, Value, walk
from pytocu.ir.dims import DimLike
from pytocu.ir.regions import HEADS, carried_count, given, is_region, numbers_of, parameters
from pytocu.ir.types import shape_of
from pytocu.passes.accesses import IN_REGIONS, Index, demand, position, region_needs, searched, target_index, whole_index
from pytocu.passes.affine import Affine, mentions
from pytocu.record import Record

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


@lru_cache(maxsize=1024)
def sweep_of(inst: Inst) -> Sweep | None:
    """How a loop is a sweep, if it is one."""
    if inst.op.name not in ("for_loop", "while_loop") or not changes(inst):
        return None
    look = _Look(inst)
    try:
        look.loop()
        look.positions()
    except _Apart:
        return None
    return Sweep(look.free, tuple(look.memories))


def changes(inst: Inst) -> bool:
    """Whether a loop or branch changes arrays."""
    return is_region(inst) and any(i.op.name == "update" for region in inst.regions for i in walk(region))


def origin(value: Value) -> Value:
    """The contents that changes lead from: through updates, loops and branches."""
    while value.inst is not None:
        inst = value.inst
        if inst.op.name == "update":
            value = inst.args[0]
        elif is_region(inst) and changes(inst) and carried_count(inst):
            first = origin(inst.regions[0].terminator.args[value.index])
            if first is not parameters(inst, inst.regions[0])[value.index]:
                return value
            value = given(inst)[value.index]
        elif is_region(inst) and changes(inst):
            firsts = [origin(region.terminator.args[value.index]) for region in inst.regions]
            outer = {
                given(inst)[parameters(inst, r).index(f)] if f in parameters(inst, r) else f
                for r, f in zip(inst.regions, firsts, strict=True)
            }
            if len(outer) > 1 or any(f not in parameters(inst, r) for r, f in zip(inst.regions, firsts, strict=True)):
                return value
            (value,) = outer
        else:
            return value
    return value


def carried_memories(inst: Inst) -> list[int]:
    """The numbers of the carried values of a loop, or the results of a branch, that are arrays changed in place."""
    (region, *_) = inst.regions
    if carried_count(inst):
        params = parameters(inst, region)
        ends = region.terminator.args
        return [k for k in range(carried_count(inst)) if ends[k] is not params[k] and origin(ends[k]) is params[k]]
    return [k for k, result in enumerate(inst.results) if origin(result) is not result]


def is_event(value: Value) -> bool:
    """Whether a value is an argument, or made by what changes arrays."""
    return value.inst is None or value.inst.op.name == "update" or changes(value.inst)


class Event(Record):
    """What a region does, in order: an ``update``, a loop or branch that changes arrays, or what it yields (None)."""

    inst: Inst | None
    values: tuple[tuple[Value, Index], ...]


def events(inst: Inst, region: Block, free: int) -> Iterator[Event]:
    """The steps of a region whose order matters, each with the elements that it computes first."""
    whole = whole_index(free)
    for step in region.insts[:-1]:
        if step.op.name == "update":
            yield Event(step, ((step.args[2], position(step.args[2], whole)),))
        elif changes(step):
            memories = carried_memories(step)
            starts = [v for k, v in enumerate(given(step)[: carried_count(step)]) if k not in memories]
            values = (*step.args[: HEADS[step.op.name]], *starts)
            yield Event(step, tuple((v, position(v, whole)) for v in values))
    memories = carried_memories(inst)
    ends = [v for k, v in enumerate(region.terminator.args) if k not in memories]
    yield Event(None, tuple((v, position(v, whole)) for v in ends))


class _Apart(Exception):
    """The loop is no sweep."""


class _Look:
    """Looks at all accesses in the order of the program.

    Attributes
    ----------
    memory : dict
        Contents of arrays that change, each with the number of the array.
    given : dict
        What parameters of regions stand for.
    now : dict
        The contents that each array has where the program stands.
    accesses : dict
        The positions at which each array is read and written.
    """

    def __init__(self, inst: Inst):
        self.inst = inst
        self.memories = carried_memories(inst)
        self.free: Dims = ()
        self.memory: dict[Value, int] = {}
        self.same: dict[Value, Value] = {}
        self.given: dict[Value, Value] = {}
        self.now: dict[int, Value] = {}
        self.accesses: dict[int, list[Index]] = {}

    def loop(self) -> None:
        """All of the loop."""
        shapes = {
            shape_of(i.args[1].type) for region in self.inst.regions for i in walk(region) if i.op.name == "update"
        }
        if len(shapes) != 1:
            raise _Apart
        (self.free,) = shapes
        for k, value in enumerate(given(self.inst)[: carried_count(self.inst)]):
            if k in self.memories:
                self.memory[value] = len(self.accesses)
                self.now[len(self.accesses)] = value
                self.accesses[len(self.accesses)] = []
        self.region_inst(self.inst)

    def region_inst(self, inst: Inst) -> None:
        """A loop or branch that changes arrays."""
        memories = carried_memories(inst)
        for k, type in enumerate(inst.types):
            if k not in memories and shape_of(type) not in ((), self.free):
                raise _Apart
        count = carried_count(inst)
        if any(i.op.name == "check" for region in inst.regions for i in walk(region)):
            # The host looks at lengths.
            raise _Apart
        before = dict(self.now)
        for region in inst.regions:
            self.now = dict(before)
            params = parameters(inst, region)
            for k, (param, argument) in enumerate(zip(params, given(inst), strict=True)):
                number = self.memory.get(argument)
                if k < count:
                    if (k in memories) != (number is not None):
                        raise _Apart
                    if number is not None:
                        self.current(argument, number)
                        self.memory[param] = number
                        self.now[number] = param
                elif number is not None:
                    # Not changed in here, or changed under the name of another parameter.
                    self.memory[param] = number
                    self.same[param] = self.same.get(argument, argument)
                    if not count and self.now[number] is self.same[param]:
                        self.now[number] = param
                        del self.same[param]
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
            raise _Apart

    def block(self, inst: Inst, region: Block) -> None:
        """The steps of a region in order."""
        steps = list(events(inst, region, len(self.free)))
        memories = carried_memories(inst)
        own = {r for i in region.insts for r in i.results} | set(region.params)
        inner = numbers_of(region)
        for event in steps:
            for pair in event.values:
                self.look(pair, own, frozenset(inner))
            if event.inst is None:
                for k in memories:
                    end = region.terminator.args[k]
                    if self.memory.get(end) is None:
                        raise _Apart
                    self.current(end, self.memory[end])
            elif event.inst.op.name == "update":
                self.update(event.inst)
            else:
                self.region_inst(event.inst)

    def update(self, inst: Inst) -> None:
        old, target, _ = inst.args
        number = self.memory.get(old)
        if number is None:
            raise _Apart
        self.current(old, number)
        ndim = len(self.free)
        self.accesses[number].append(target_index(target, old, whole_index(ndim), ndim))
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
                if operand in self.given:
                    stack.append((self.given[operand], place))
                if operand in self.memory:
                    self.read(operand, place, own, inner, chosen=(operand, place) in self.always(value, at))

    def always(self, value: Value, at: Index) -> set[Pair]:
        """What is read for an element in any case."""
        return set(demand([value], at, len(self.free), self.stops, chosen=False))

    def stops(self, value: Value) -> bool:
        """Whether what a value is made of is looked at elsewhere."""
        return value in self.memory or is_event(value)

    def operand(self, operand: Value, place: Index, ndim: int) -> None:
        inst = operand.inst
        if inst is None or operand in self.memory:
            return
        if is_region(inst):
            if changes(inst):
                # What it gives besides arrays is an element of its own.
                if place != position(operand, whole_index(ndim)):
                    raise _Apart
            elif region_needs(operand, place, ndim) is None:
                raise _Apart
        elif inst.op.kind not in IN_REGIONS or (searched(inst) in self.memory):
            raise _Apart

    def read(self, contents: Value, place: Index, own: set[Value], inner: frozenset[str], chosen: bool) -> None:
        number = self.memory[contents]
        self.accesses[number].append(place)
        if self.now[number] is self.same.get(contents, contents):
            return
        # It has changed since: the element is loaded before it does, here and not further inside or outside.
        if contents not in own or contents in self.same or not chosen or any(mentions(p, inner) for p in place):
            raise _Apart

    def positions(self) -> None:
        """Compare the accesses of each array."""
        for places in self.accesses.values():
            free: set[int] = set()
            for along in zip(*places, strict=True):
                if not any(p.moves() for p in along):
                    continue
                axis = _alone(along[0])
                if axis is None or axis in free or any(p != along[0] for p in along):
                    raise _Apart
                free.add(axis)
            if any(length != 1 and axis not in free for axis, length in enumerate(self.free)):
                raise _Apart


def _alone(place: Affine) -> int | None:
    """The only free axis that a position moves along."""
    moving = [k for k, c in enumerate(place.coefficients) if c != 0]
    if len(moving) != 1 or place.parts or not isinstance(place.coefficients[moving[0]], int):
        return None
    return moving[0]

