"""Loops of CPU kernels that reduce long rows.

`LANES` states stand in an array, and element j of a row goes to state j % `LANES`: a loop over
the states becomes vector code without changing the order of anything.  After each stretch the
states are added to those of the row, and at the end these are combined as a tree.  So the order
depends on the length alone, not on the width of vectors.  What rounding takes from a sum of stretches
is joined as a tree beside them, so that a long sum is rounded once.
Short rows have few states and one more for the elements that are left, fewer than states.
Where one element may say what all are together, no stretch behind it is looked at.
Where a row lies in several places of memory, for it goes over axes that are no single loop, its elements are first computed
into a buffer, place by place: no element's indices are divided out of its number.
Positions of extremes are the same in any order (:mod:`pytocu.passes.position_loops`).  Where elements are dear, so that none
is computed again, they have fewer states, which meet two elements at once, and no stretches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pytocu.deferred import Deferred
from pytocu.ir import compensation
from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Inst, Value
from pytocu.ir.expander import Expander
from pytocu.ir.reductions import EXTREMES, REDUCTIONS, is_rounded
from pytocu.ir.types import BOOL, I8, I16, I32, INDEX, U8, U16, U32, DType, PointerType, VectorType, element, scalar
from pytocu.passes import prefetches, settled_loops
from pytocu.passes.accesses import Index, operands, position
from pytocu.passes.elements import Target
from pytocu.passes.reduce_loops import Pair, Rows
from pytocu.passes.schedule import LANES
from pytocu.record import fresh

_only_positions = Deferred("pytocu.passes.position_loops", "fits")
_write_positions = Deferred("pytocu.passes.position_loops", "write")

PLACES = 32
"""States that are numbers with their positions, for which every order gives the same bits: they stay in registers."""

WIDTH = 8
"""States that are combined with as many others at once."""

STRETCH = 1024
"""Elements after which the states are added to those of the row."""

SHORT = 8
"""Elements of a last loop that are fewer are found by division, which takes no longer than a loop of their own."""

FEW = 8
"""Stretches that are added to the states as they come.

Of positive numbers, m stretches add errors whose root mean square is that of sqrt(m / 3) / sqrt(`LANES`) roundings of the
whole sum, and the tree of the states those of about sqrt(2), as NumPy's tree: 8 stretches make 1 % more.
"""

States = tuple[Value, ...]

Combine = Callable[[Builder, Inst, States, States], States]
"""Writes what two states are together."""


class Stretches(Rows):
    """Writes the loops of one kernel; see `Rows`.

    Attributes
    ----------
    most : int
        States of each reduction whose order counts: `LANES`, or fewer for rows of no more than `LANES` elements.
    states, stretch : int
        Of each reduction of the sweep that is written, and elements after which they are added to those of the row.
    again : bool
        Whether the row was swept before.
    whole : bool
        Whether rows are known to have more elements than states, but for a piece at the end of one.
    buffers : dict
        Elements of the stretch that is written, in memory, which begins with the one at `buffered`.
    """

    most: int = LANES
    whole: bool = False
    states = LANES
    stretch = STRETCH
    again = False
    buffers: dict[Pair, Value] = fresh(default_factory=dict)
    buffered: Value | None = None

    def _reduce(self, pairs: Sequence[Pair]) -> None:
        """One sweep that computes reductions."""
        e, body = self.e, self.body
        assert self.extent is not None
        lower, upper = self.extent
        places = list(dict.fromkeys((v.inst, at) for v, at in pairs if v.inst is not None))
        positions = all(inst.attr("op") in EXTREMES for inst, _ in places)
        self.again = any(self.levels[pair] > 1 for pair in pairs)
        positions = positions and not (self._is_apart and self.most == LANES)
        self.states = PLACES if positions else self.most
        self._once(pair for inst, at in places for pair in operands(inst.results[0], at, e.ndim))
        if positions and self.whole and _only_positions(self, places):
            _write_positions(self, places)
            return
        totals = [self._arrays(inst) for inst, _ in places]
        self._begin(body, places, totals)
        last: dict[Inst, States] = {}
        rests: dict[Inst, States] = {}
        several = None
        if positions:
            # Two elements meet first, for which nobody waits; the state, for which the next round waits, meets the better one.
            lower = self._whole_rounds(body, lower, body.emit("subtract", (upper, lower)), places, totals, each=2)
            self._rounds(body, lower, body.emit("subtract", (upper, lower)), places, totals)
        elif self.most < LANES:
            begin = self._whole_rounds(body, lower, body.emit("subtract", (upper, lower)), places, totals)
            last = self._one_by_one(begin, upper, places)
        else:
            several, rests = self._stretches(places, totals)
        for (inst, at), total in zip(places, totals, strict=True):
            if several is not None and inst in rests:
                made = self._sum(inst, total, rests[inst], several)
            else:
                made = self._tree(body, inst, total, self._none(inst, total), _combine, self.states)
            made = _combine(body, inst, made, last[inst]) if last else made
            for result, value in zip(inst.results, made, strict=True):
                value.name = value.name or result.name
                e.made[result, position(result, at)] = value

    def _one_by_one(self, begin: Value, upper: Value, places: Sequence[tuple[Inst, Index]]) -> dict[Inst, States]:
        """Elements that are fewer than the states, in a state of their own."""
        e, body = self.e, self.body
        j, inner = Value(INDEX, "j"), Builder(e.loc)
        with self._forgotten():
            e.inside = inner
            e.loop_index = [*e.loop_index[: self.loops], *self._decompose(inner, j, e.sizes[self.loops :])]
            carried: list[Value] = []
            starts: list[Value] = []
            yields: list[Value] = []
            for inst, place in places:
                dtypes = tuple(element(a.type) for a in inst.args)
                state = tuple(Value(scalar(d)) for d in dtypes)
                identity = REDUCTIONS[inst.attr("op")].identity(dtypes)
                starts.extend(e.before.const(v, scalar(d)) for v, d in zip(identity, dtypes, strict=True))
                carried.extend(state)
                yields.extend(_append(inner, inst, state, self._operands(inner, inst, place)))
        inner.emit("yield", yields)
        region = Block((j, *carried), inner.take())
        types = [v.type for v in carried]
        results = iter(body.inst("for", (begin, upper, e.dim(1), *starts), {"over": "serial"}, types, (region,)).results)
        return {inst: tuple(next(results) for _ in inst.args) for inst, _ in places}

    def _operands(self, builder: Builder, inst: Inst, place: Index) -> States:
        """The element of this iteration."""
        e = self.e
        needed = operands(inst.results[0], place, e.ndim)
        for pair in self._closure(needed):
            e.made[pair] = e.write(builder, *pair)
        return tuple(e.made[pair] for pair in needed)

    def _stretches(
        self, places: Sequence[tuple[Inst, Index]], totals: Sequence[States]
    ) -> tuple[Value | None, dict[Inst, States]]:
        """All elements in stretches, after each of which the states are added to those of the row.

        Whether there are several, and what sums lost then.
        """
        e, body = self.e, self.body
        assert self.extent is not None
        lower, upper = self.extent
        states = [self._arrays(inst, _narrow(inst)) for inst, _ in places]
        sums = [
            (*work, self._arrays(work[0][0]))
            for work in zip(places, totals, states, strict=True)
            if is_rounded(work[0][0].attr("op"), element(work[0][0].types[0]))
        ]
        rests = [rest for *_, rest in sums]
        begin = Value(INDEX, "begin")
        into = Builder(e.loc)
        rest, whole = into.emit("subtract", (upper, begin)), e.dim(STRETCH)
        count = into.emit("where", (into.emit("less", (rest, whole)), rest, whole), name="count")
        self._begin(into, places, states)
        self._fill(into, begin, count, places)
        self._rounds(into, begin, count, places, states)
        self.buffers, self.buffered = {}, None

        def note(lane: Value, inner: Builder) -> None:
            for (inst, _), total, memory, rest in sums:
                (before,), (part,) = _load(inner, lane, total), _load(inner, lane, memory)
                (after,) = _combine(inner, inst, (before,), (part,))
                error = compensation.lost(Expander(inner), before, part, after)
                _store(inner, lane, rest, _combine(inner, inst, _load(inner, lane, rest), (error,)))

        def add(lane: Value, inner: Builder) -> None:
            for (inst, _), memory, total in zip(places, states, totals, strict=True):
                part = _of_dtypes(inner, _load(inner, lane, memory), total)
                _store(inner, lane, total, _combine(inner, inst, _load(inner, lane, total), part))

        several = body.emit("less", (e.dim(FEW * STRETCH), body.emit("subtract", (upper, lower)))) if sums else None

        def where_several(builder: Builder, write: Callable[[Builder], None]) -> None:
            if several is not None:
                inner, nothing = Builder(e.loc), Builder(e.loc)
                write(inner)
                inner.emit("yield")
                nothing.emit("yield")
                builder.inst("if", (several,), {}, (), (Block((), inner.take()), Block((), nothing.take())))

        where_several(body, lambda builder: self._begin(builder, [place for place, *_ in sums], rests))
        where_several(into, lambda builder: self._lanes(builder, e.dim(LANES), note))
        # What is required of elements is noted of all of them.
        if all(settled_loops.fits(inst) for inst, _ in places) and not e.words:
            settled_loops.write(self, begin, into, [inst for inst, _ in places], states, totals)
        else:
            self._lanes(into, e.dim(LANES), add)
            _repeat(body, lower, upper, e.dim(STRETCH), begin, into)
        return several, {inst: rest for (inst, _), *_, rest in sums}

    @property
    def _is_apart(self) -> bool:
        """Whether the elements of a row lie along several loops, with enough of them along the last one."""
        sizes = self.e.sizes[self.loops :]
        return len(sizes) > 1 and not (isinstance(sizes[-1], int) and sizes[-1] < SHORT)

    def _fill(self, builder: Builder, begin: Value, count: Value, places: Sequence[tuple[Inst, Index]]) -> None:
        """Compute the elements of a stretch into buffers, where a row lies in several places."""
        e = self.e
        if not self._is_apart:
            return
        needed = dict.fromkeys(pair for inst, at in places for pair in operands(inst.results[0], at, e.ndim))
        moving = [pair for pair in needed if self.moving[pair]]
        types = [PointerType(element(value.type), "local") for value, _ in moving]
        memory = [e.before.emit("local", (), {"size": STRETCH}, (type,)) for type in types]

        def write(inner: Builder, j: Value) -> None:
            place = inner.emit("subtract", (j, begin))
            for pair in self._closure(moving):
                e.made[pair] = e.write(inner, *pair)
            for pair, pointer in zip(moving, memory, strict=True):
                inner.inst("store", (pointer, place, e.made[pair]))

        self._along(builder, begin, builder.emit("add", (begin, count)), write)
        self.buffers, self.buffered = dict(zip(moving, memory, strict=True)), begin

    def _sweep(self, stores: Sequence[tuple[Pair, Target]]) -> None:
        """The last sweep, which stores results as long as the row."""
        if not self._is_apart:
            super()._sweep(stores)
            return
        e = self.e
        assert self.extent is not None
        needed = [pair for pair, _ in stores]
        self._once(needed)

        def write(inner: Builder, j: Value) -> None:
            for pair in self._closure(needed):
                e.made[pair] = e.write(inner, *pair)
            for pair, target in stores:
                e.store_element(inner, pair, target)

        self._along(self.body, *self.extent, write)

    def _along(self, builder: Builder, begin: Value, end: Value, write: Callable[[Builder, Value], None]) -> None:
        """Loops over elements of a row, one over those that lie together in another: no element's number is divided."""
        e, sizes = self.e, self.e.sizes[self.loops :]
        # No row without elements comes here, but its length is divided by where it is swept for what is stored.
        length = _larger(builder, e.dim(sizes[-1]), e.dim(1))
        before_last = builder.emit("subtract", (builder.emit("add", (end, length)), e.dim(1)))
        first, behind = (builder.emit("divide_truncated", (v, length)) for v in (begin, before_last))
        number, k = Value(INDEX, "part"), Value(INDEX, "k")
        part, inner = Builder(e.loc), Builder(e.loc)
        with self._forgotten():
            e.inside = part
            index = self._decompose(part, number, sizes[:-1])
            start = part.emit("multiply", (number, length))
            lower = _larger(part, part.emit("subtract", (begin, start)), e.dim(0))
            rest = part.emit("subtract", (end, start))
            upper = part.emit("where", (part.emit("less", (rest, length)), rest, length))
            e.inside = inner
            e.loop_index = [*e.loop_index[: self.loops], *index, k]
            write(inner, inner.emit("add", (start, k), name="j"))
        _repeat(part, lower, upper, e.dim(1), k, inner)
        _repeat(builder, first, behind, e.dim(1), number, part)

    def _sum(self, inst: Inst, total: States, rest: States, several: Value) -> States:
        """The sum of the states and of what they lost; of one stretch, that of the states."""
        exact, plain = Builder(inst.loc), Builder(inst.loc)
        none = self._none(inst, total)
        exact.emit("yield", self._tree(exact, inst, (*total, *rest), none * 2, _joined, LANES)[:1])
        plain.emit("yield", self._tree(plain, inst, total, none, _combine, LANES))
        sides = Block((), exact.take()), Block((), plain.take())
        return self.body.inst("if", (several,), {}, (scalar(element(total[0].type)),), sides).results

    def _none(self, inst: Inst, memory: States) -> States:
        """The state of no elements."""
        dtypes = tuple(element(p.type) for p in memory)
        identity = REDUCTIONS[inst.attr("op")].identity(dtypes)
        return tuple(self.e.before.const(v, scalar(d)) for v, d in zip(identity, dtypes, strict=True))

    def _rounds(
        self, builder: Builder, begin: Value, count: Value, places: Sequence[tuple[Inst, Index]], memory: Sequence[States]
    ) -> None:
        """So many elements from one on, as many at once as there are states."""
        at = self._whole_rounds(builder, begin, count, places, memory)
        done = builder.emit("subtract", (at, begin))
        self._elements(builder, at, builder.emit("subtract", (count, done)), places, memory)

    def _whole_rounds(
        self,
        builder: Builder,
        begin: Value,
        count: Value,
        places: Sequence[tuple[Inst, Index]],
        memory: Sequence[States],
        each: int = 1,
    ) -> Value:
        """So many elements for each state as often as there are as many; the place of the first one that is left."""
        e, elements = self.e, self.e.dim(each * self.states)
        rounds = builder.emit("divide_truncated", (count, elements), name="rounds")
        number = Value(INDEX, "round")
        round_ = Builder(e.loc)
        at = round_.emit("add", (begin, round_.emit("multiply", (number, elements))))
        self._prefetch(round_, at, places, each * self.states)
        self._elements(round_, at, e.dim(self.states), places, memory, each)
        _repeat(builder, e.dim(0), rounds, e.dim(1), number, round_)
        return builder.emit("add", (begin, builder.emit("multiply", (rounds, elements))))

    def _prefetch(self, builder: Builder, at: Value, places: Sequence[tuple[Inst, Index]], count: int) -> None:
        """Ask for what is read behind the next `count` elements; what a sweep reads again is in the caches."""
        e = self.e
        if self.again or self.most < LANES or len(e.sizes) != self.loops + 1:
            return
        offsets, index = dict(e.offsets), e.loop_index
        e.loop_index = [*index[: self.loops], at]
        needed = (pair for inst, place in places for pair in operands(inst.results[0], place, e.ndim))
        found = prefetches.streams(e, self._closure(list(needed)), lambda merged: prefetches.goes_on(e, merged))
        prefetches.write(e, builder, found, count)
        e.offsets, e.loop_index = offsets, index

    def _arrays(self, inst: Inst, narrow: DType | None = None) -> States:
        """Memory for the states of a reduction, or for those of a stretch in a narrower dtype."""
        before = self.e.before
        dtypes = (narrow or element(a.type) for a in inst.args)
        return tuple(before.emit("local", (), {"size": self.states}, (PointerType(d, "local"),)) for d in dtypes)

    def _begin(self, builder: Builder, places: Sequence[tuple[Inst, Index]], memory: Sequence[States]) -> None:
        """No elements yet."""

        def write(lane: Value, inner: Builder) -> None:
            for (inst, _), pointers in zip(places, memory, strict=True):
                _store(inner, lane, pointers, self._none(inst, pointers))

        self._lanes(builder, self.e.dim(self.states), write)

    def _elements(
        self,
        builder: Builder,
        at: Value,
        count: Value,
        places: Sequence[tuple[Inst, Index]],
        memory: Sequence[States],
        each: int = 1,
    ) -> None:
        """Elements from `at` on, at most `each` a lane, as many apart as there are lanes."""
        e = self.e

        def write(lane: Value, inner: Builder) -> None:
            before: dict[Inst, States] = {}
            for number in range(each):
                with self._forgotten():
                    e.inside = inner
                    start = inner.emit("add", (at, e.dim(number * self.states))) if number else at
                    j = inner.emit("add", (start, lane), name="j")
                    if self.buffered is None:
                        e.loop_index = [*e.loop_index[: self.loops], *self._decompose(inner, j, e.sizes[self.loops :])]
                    else:
                        at_buffer = inner.emit("subtract", (j, self.buffered))
                        e.made |= {pair: inner.emit("load", (memory, at_buffer)) for pair, memory in self.buffers.items()}
                    for (inst, place), pointers in zip(places, memory, strict=True):
                        state = _load(inner, lane, pointers) if number == each - 1 else ()
                        elements = _of_dtypes(inner, self._operands(inner, inst, place), pointers)
                        before[inst] = _append(inner, inst, before[inst], elements) if number else elements
                        if state:
                            _store(inner, lane, pointers, _append(inner, inst, state, before[inst]))

        self._lanes(builder, count, write)

    def _tree(
        self, body: Builder, inst: Inst, total: States, start: States, combine: Combine, count: int
    ) -> States:
        """So many states of a row combined: those half of all apart, and so on; `start` is one of no elements.

        They are combined as vectors, of which LLVM makes registers; loops over fewer and fewer states would be code for
        single elements of an array.
        """
        e = self.e
        body.loc = inst.loc
        types = [VectorType(element(p.type), WIDTH) for p in total]
        parts: list[States] = []
        for first in range(0, count, WIDTH):
            place, attrs = e.dim(first), {"lanes": WIDTH}
            loads = ({**attrs, "align": element(p.type).itemsize} for p in total)
            parts.append(tuple(body.emit("load", (p, place), given) for p, given in zip(total, loads, strict=True)))
        while len(parts) > 1:
            half = len(parts) // 2
            pairs = zip(parts[:half], parts[half:], strict=True)
            parts = [tuple(_together(body, inst, (*a, *b), types, WIDTH, combine)) for a, b in pairs]
        # The rest is written for the elements of one vector, which carried values take out of it.
        dtypes = [element(p.type) for p in total]
        lanes = [[Value(scalar(d)) for _ in range(WIDTH)] for d in dtypes]
        carried = [Value(scalar(d)) for d in dtypes]
        inner = Builder(inst.loc)
        states: list[States] = list(zip(*lanes, strict=True))
        while len(states) > 1:
            half = len(states) // 2
            states = [combine(inner, inst, a, b) for a, b in zip(states[:half], states[half:], strict=True)]
        inner.emit("yield", states[0])
        region = Block((Value(INDEX, "k"), *(v for part in lanes for v in part), *carried), inner.take())
        return body.inst("lanes", (*parts[0], *start), {"lanes": 1}, [scalar(d) for d in dtypes], (region,)).results

    def _lanes(self, builder: Builder, count: Value, write: Callable[[Value, Builder], None]) -> None:
        """A loop over the states."""
        lane, inner = Value(INDEX, "lane"), Builder(self.e.loc)
        write(lane, inner)
        _repeat(builder, self.e.dim(0), count, self.e.dim(1), lane, inner)


def _narrow(inst: Inst) -> DType | None:
    """A dtype that holds the sum of what each state of a stretch meets, if it is narrower than the sum of all.

    A vector has more of its elements, and none of them is made wider one by one.
    """
    if settled_loops.fits(inst):
        # A bool of each lane would be made a bool again in each step, for which the next one waits.
        return U8
    source = inst.args[0].inst
    if inst.attr("op") != "add" or source is None or source.op.name != "cast":
        return None
    found = _SUMMED_IN.get(element(source.args[0].type))
    wide = element(inst.args[0].type)
    return found if found is not None and wide.kind in "iu" and found.itemsize < wide.itemsize else None


_SUMMED_IN = {BOOL: U8, I8: I16, U8: U16, I16: I32, U16: U32}
"""What holds the sum of `STRETCH` // `LANES` elements."""


def _of_dtypes(builder: Builder, values: States, memory: States) -> States:
    """Values as the dtypes of memory; integers keep their last digits."""
    made: list[Value] = []
    for value, pointer in zip(values, memory, strict=True):
        type = scalar(element(pointer.type))
        made.append(value if value.type == type else builder.emit("cast", (value,), {}, (type,)))
    return tuple(made)


def _larger(builder: Builder, first: Value, second: Value) -> Value:
    return builder.emit("where", (builder.emit("less", (first, second)), second, first))


def _repeat(builder: Builder, lower: Value, upper: Value, step: Value, index: Value, inner: Builder) -> None:
    inner.emit("yield")
    builder.inst("for", (lower, upper, step), {"over": "serial"}, (), (Block((index,), inner.take()),))


def _load(builder: Builder, lane: Value, memory: States) -> States:
    return tuple(builder.emit("load", (pointer, lane)) for pointer in memory)


def _store(builder: Builder, lane: Value, memory: States, values: States) -> None:
    for pointer, value in zip(memory, values, strict=True):
        builder.inst("store", (pointer, lane, value))


def _together(
    builder: Builder, inst: Inst, vectors: States, types: Sequence[VectorType], count: int, combine: Combine
) -> States:
    """The states of each lane combined, those of the first half of the vectors and those of the second."""
    params = tuple(Value(scalar(element(v.type))) for v in vectors)
    inner = Builder(inst.loc)
    inner.emit("yield", combine(inner, inst, params[: len(types)], params[len(types) :]))
    region = Block((Value(INDEX, "k"), *params), inner.take())
    return builder.inst("lanes", vectors, {"lanes": count}, types, (region,)).results


def _append(builder: Builder, inst: Inst, state: States, elements: States) -> States:
    builder.loc = inst.loc
    return REDUCTIONS[inst.attr("op")].append(Expander(builder), state, elements)


def _joined(builder: Builder, inst: Inst, first: States, second: States) -> States:
    return compensation.joined(Expander(builder), first, second)


def _combine(builder: Builder, inst: Inst, first: States, second: States) -> States:
    builder.loc = inst.loc
    return REDUCTIONS[inst.attr("op")].combine(Expander(builder), first, second)
