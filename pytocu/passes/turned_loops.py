"""Loops of the user's program around the elements that go through them: on a CPU neighbours take each step together.

In: a loop over elements each of which runs through a loop of the program (see `pytocu.passes.region_loops`), where all
have the same number of steps.  Out: the loop of the program, with a loop over some elements inside of it, which becomes
vector code.  What goes from step to step lies in buffers of the thread, neighbours side by side: a step reads one
and writes another, since LLVM makes a store of what is chosen between a new number and the old one in its place a store under a
mask, which some processors are slow at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Inst, Value, walk, written_pointers
from pytocu.ir.rewrite import made_again
from pytocu.ir.types import I64, INDEX, IndexType, PointerType, ScalarType, element, scalar
from pytocu.passes.elements import Elements
from pytocu.record import Record

LANES = 128
"""Elements that take each step together: vectors enough to hide how long each operation takes, and buffers that stay close."""

MOST_BUFFERS = 16
"""Numbers of an element that lie in buffers at most."""

FAR = 16
"""Neighbours whose elements are so many apart have none of a vector in common.

What gathers them takes longer than steps that wait for one operation each, element after element.
"""


class _Turn(Record):
    """A loop that can be turned.

    Parameters
    ----------
    fixed, before : tuple of Inst
        What is in front of the loop: the same for all elements, and what depends on the element.
    loop : Inst
    behind : tuple of Inst
    moving : tuple of int
        The carried values that each element has of its own.
    same : tuple of Inst
        The instructions of a step that are the same for all elements.
    """

    fixed: tuple[Inst, ...]
    before: tuple[Inst, ...]
    loop: Inst
    behind: tuple[Inst, ...]
    moving: tuple[int, ...]
    same: tuple[Inst, ...]


def write(e: Elements, builder: Builder, bounds: tuple[Value, Value], body: Block) -> bool:
    """Write the loop over elements turned, if it has a loop of the program that can be; whether it was written.

    Parameters
    ----------
    e : Elements
    builder : Builder
        Where the loop stands.
    bounds : (Value, Value)
        The first element, and the one behind the last.
    body : Block
        What is computed for each, with the ``yield``.
    """
    turn = _turn(body)
    if turn is None:
        return False
    kept = _kept(turn, body, e)
    if len(kept) + len(turn.moving) > MOST_BUFFERS:
        return False
    _Writer(e, turn, body, kept).write(builder, bounds)
    return True


def _turn(body: Block) -> _Turn | None:
    """The one loop that all elements run through equally often."""
    loops = [k for k, inst in enumerate(body.insts) if inst.op.name == "while"]
    if len(loops) != 1:
        return None
    (place,) = loops
    loop = body.insts[place]
    test, step = loop.regions
    # A branch or another loop would keep the loop over elements from becoming vector code.
    if any(i.regions or i.op.effects not in ("", "read", "control") for i in (*walk(test), *walk(step))):
        return None
    if test.terminator.args[1:] != test.params or not all(isinstance(t, ScalarType) for t in loop.types):
        return None
    before = body.insts[:place]
    moving = _depending(before, body.params)
    fixed = tuple(i for i in before if not i.regions and not i.op.effects and moving.isdisjoint(i.results))
    own = {*body.params, *(r for i in before if i not in fixed for r in i.results)}
    same = {k for k, start in enumerate(loop.args) if start not in own}
    while True:
        changing = _depending(step.insts, {*own, *(p for k, p in enumerate(step.params) if k not in same)})
        lost = {k for k in same if step.terminator.args[k] in changing}
        if not lost:
            break
        same -= lost
    of_test = _depending(test.insts, {*own, *(p for k, p in enumerate(test.params) if k not in same)})
    if test.terminator.args[0] in of_test or len(same) == len(loop.args):
        return None
    if _waits(step, same) <= 1 and _goes_along(body, step, same):
        return None
    return _Turn(
        fixed,
        tuple(i for i in before if i not in fixed),
        loop,
        body.insts[place + 1 : -1],
        tuple(k for k in range(len(loop.args)) if k not in same),
        tuple(i for i in step.insts[:-1] if changing.isdisjoint(i.results)),
    )


def _goes_along(body: Block, step: Block, same: set[int]) -> bool:
    """Whether an element's steps read along memory, where its neighbours' reads are far apart."""
    made = {r: i for i in (*body.insts, *step.insts) for r in i.results}
    places = [i.args[1] for i in step.insts if i.op.name == "load" and len(i.args) == 2]
    counters = [step.params[k] for k in same]
    return any(
        _is_stretched(place, made, body.params[0]) and not any(_is_stretched(place, made, c) for c in counters)
        for place in places
    )


def _is_stretched(place: Value, made: Mapping[Value, Inst], number: Value, within: bool = False) -> bool:
    """Whether a position is made of large multiples of a number; `within` what such a multiple is made of."""
    if place == number:
        return within
    inst = made.get(place)
    if inst is None or inst.regions or inst.op.effects:
        return False
    within |= inst.op.name not in ("add", "subtract", "convert_raw") and not _is_small_multiple(inst)
    return any(_is_stretched(a, made, number, within) for a in inst.args)


def _is_small_multiple(inst: Inst) -> bool:
    constants = [a.inst.attr("value") for a in inst.args if a.inst is not None and a.inst.op.name == "const"]
    return inst.op.name == "multiply" and any(abs(c) < FAR for c in constants)


def _waits(step: Block, same: set[int]) -> int:
    """How many operations of a step wait for each other, from what an element brings along to what it hands on."""
    depths = {p: 0 for k, p in enumerate(step.params) if k not in same}
    for inst in step.insts:
        before = [depths[a] for a in inst.args if a in depths]
        if before:
            depths.update((r, max(before) + 1) for r in inst.results)
    return max((depths.get(a, 0) for a in step.terminator.args), default=0)


def _depending(insts: Iterable[Inst], start: Iterable[Value]) -> set[Value]:
    """What is computed of some values, or read."""
    found = set(start)
    for inst in insts:
        if inst.op.effects == "read" or inst.regions or not found.isdisjoint(inst.args):
            found.update(inst.results)
    return found


def _kept(turn: _Turn, body: Block, e: Elements) -> list[Value]:
    """What is computed for an element in front of its loop and used later, but for what is as well computed or read again."""
    again = _again(turn, body, e)
    inside = [*turn.loop.regions[1].insts, *turn.behind]
    used = {a for block in inside for i in (block, *(i for r in block.regions for i in walk(r))) for a in i.args}
    # Numbers that are computed again are made of others that may have to be kept.
    for inst in reversed(turn.before):
        if inst in again and not used.isdisjoint(inst.results):
            used.update(inst.args)
    return [r for i in turn.before if i not in again for r in i.results if r in used]


def _again(turn: _Turn, body: Block, e: Elements) -> set[Inst]:
    """Positions, and elements of memory that is not written."""
    written = {*e.written, *written_pointers(body)}
    found: set[Inst] = set()
    known = {*body.params}
    for inst in turn.before:
        index = bool(inst.types) and isinstance(inst.types[0], IndexType) and not inst.op.effects
        load = inst.op.name == "load" and len(inst.args) == 2 and inst.args[0] not in written
        local = {a for a in inst.args if a in {r for i in turn.before for r in i.results}}
        if not inst.regions and (index or load) and local <= known:
            found.add(inst)
            known.update(inst.results)
    return found


class _Writer:
    """Writes a turned loop."""

    def __init__(self, e: Elements, turn: _Turn, body: Block, kept: Sequence[Value]):
        self.e = e
        self.turn = turn
        self.body = body
        self.again = _again(turn, body, e)
        moving = [turn.loop.results[k] for k in turn.moving]
        self.buffers = {value: self._buffer(value) for value in (*kept, *moving)}
        self.others = {value: self._buffer(value) for value in moving}
        self.kept = list(kept)

    def _buffer(self, value: Value) -> Value:
        dtype = I64 if isinstance(value.type, IndexType) else element(value.type)
        return self.e.before.emit("local", (), {"size": LANES}, (PointerType(dtype, "local"),))

    def write(self, builder: Builder, bounds: tuple[Value, Value]) -> None:
        e, turn = self.e, self.turn
        first = Value(INDEX, "first_lane")
        inside = Builder(e.loc)
        end = inside.emit("add", (first, e.dim(LANES)))
        end = inside.emit("where", (inside.emit("less", (end, bounds[1])), end, bounds[1]), name="behind")
        span = first, end
        values: dict[Value, Value] = {}
        self._copy(inside, turn.fixed, values)
        moving = [(turn.loop.results[k], k) for k in turn.moving]

        def begin(inner: Builder, lane: Value, values: dict[Value, Value]) -> None:
            self._copy(inner, turn.before, values)
            for value in self.kept:
                made = values.get(value, value)
                if isinstance(value.type, IndexType):
                    made = inner.emit("convert_raw", (made,), {}, (scalar(I64),))
                inner.inst("store", (self.buffers[value], lane, made))
            for value, k in moving:
                start = turn.loop.args[k]
                inner.inst("store", (self.buffers[value], lane, values.get(start, start)))

        self._across(inside, span, dict(values), begin)
        made = self._steps(inside, span, values)
        same = [k for k in range(len(turn.loop.args)) if k not in turn.moving]
        values.update((turn.loop.results[k], result) for k, result in zip(same, made, strict=True))

        def finish(inner: Builder, lane: Value, values: dict[Value, Value]) -> None:
            self._known(inner, lane, values, turn.behind)
            for value, _ in moving:
                values[value] = inner.emit("load", (self.buffers[value], lane))
            self._copy(inner, turn.behind, values)

        self._across(inside, span, dict(values), finish)
        inside.emit("yield")
        block = Block((first,), inside.take())
        builder.inst("for", (*bounds, e.dim(LANES)), {"over": "serial"}, (), (block,))

    def _steps(self, builder: Builder, span: tuple[Value, Value], values: dict[Value, Value]) -> Sequence[Value]:
        """The loop of the program; what it hands on that is the same for all elements."""
        turn = self.turn
        loop, moving = turn.loop, {*turn.moving}
        test, step = loop.regions
        same = [k for k in range(len(loop.args)) if k not in moving]
        types = [loop.types[k] for k in same]
        before, after = ([Value(t, test.params[k].name) for k, t in zip(same, types, strict=True)] for _ in range(2))
        unknown = {test.params[k] for k in moving}
        of_test = [i for i in test.insts[:-1] if _depending([i], unknown).isdisjoint(i.results)]
        own = [i for i in step.insts[:-1] if i not in turn.same]

        def more(builder: Builder, state: Sequence[Value]) -> Value:
            """Whether there is another step."""
            known = {**values, **{test.params[k]: v for k, v in zip(same, state, strict=True)}}
            self._copy(builder, of_test, known)
            return known.get(test.terminator.args[0], test.terminator.args[0])

        def take(builder: Builder, state: Sequence[Value], old: dict[Value, Value], new: dict[Value, Value]) -> list[Value]:
            """One step of all elements, from buffers to buffers; what is the same for all behind it."""
            known = {**values, **{step.params[k]: v for k, v in zip(same, state, strict=True)}}
            self._copy(builder, turn.same, known)

            def one(inner: Builder, lane: Value, known: dict[Value, Value]) -> None:
                self._known(inner, lane, known, [*own, step.terminator])
                for k in turn.moving:
                    name = step.params[k].name
                    known[step.params[k]] = inner.emit("load", (old[loop.results[k]], lane), name=name)
                self._copy(inner, own, known)
                for k in turn.moving:
                    made = step.terminator.args[k]
                    inner.inst("store", (new[loop.results[k]], lane, known.get(made, made)))

            self._across(builder, span, dict(known), one)
            return [known.get(step.terminator.args[k], step.terminator.args[k]) for k in same]

        def back(inner: Builder, lane: Value, known: dict[Value, Value]) -> None:
            for value, other in self.others.items():
                inner.inst("store", (self.buffers[value], lane, inner.emit("load", (other, lane))))

        tested = Builder(loop.loc)
        tested.emit("yield", (more(tested, before), *before))
        inner = Builder(loop.loc)
        between = take(inner, after, self.buffers, self.others)
        second, last = Builder(loop.loc), Builder(loop.loc)
        second.emit("yield", take(second, between, self.others, self.buffers))
        self._across(last, span, dict(values), back)
        last.emit("yield", between)
        blocks = (Block((), second.take()), Block((), last.take()))
        inner.emit("yield", inner.inst("if", (more(inner, between),), {}, types, blocks).results)
        body = Block(tuple(after), inner.take())
        starts = [values.get(loop.args[k], loop.args[k]) for k in same]
        return builder.inst("while", starts, {}, types, (Block(tuple(before), tested.take()), body)).results

    def _across(
        self, builder: Builder, span: tuple[Value, Value], values: dict[Value, Value], write: Callable[..., None]
    ) -> None:
        """A loop over neighbours; `write` is given its builder, the place in buffers, and what stands for what."""
        inner = Builder(self.e.loc)
        number = Value(INDEX, self.body.params[0].name)
        values[self.body.params[0]] = number
        lane = inner.emit("subtract", (number, span[0]), name="lane")
        write(inner, lane, values)
        inner.emit("yield")
        block = Block((number,), inner.take())
        builder.inst("for", (*span, self.e.dim(1)), {"over": "serial"}, (), (block,))

    def _known(self, inner: Builder, lane: Value, values: dict[Value, Value], users: Sequence[Inst]) -> None:
        """What some instructions use of what is in front of the loop: out of buffers, or once more."""
        used = {a for user in users for i in (user, *(i for r in user.regions for i in walk(r))) for a in i.args}
        needed: list[Inst] = []
        for inst in reversed(self.turn.before):
            if inst in self.again and not used.isdisjoint(inst.results):
                used.update(inst.args)
                needed.append(inst)
        for value in self.kept:
            if value in used:
                found = inner.emit("load", (self.buffers[value], lane), name=value.name)
                if isinstance(value.type, IndexType):
                    found = inner.emit("convert_raw", (found,), {}, (INDEX,), name=value.name)
                values[value] = found
        self._copy(inner, needed[::-1], values)

    def _copy(self, builder: Builder, insts: Sequence[Inst], values: dict[Value, Value]) -> None:
        builder.insts.extend(made_again(Block((), tuple(insts)), values).insts)
