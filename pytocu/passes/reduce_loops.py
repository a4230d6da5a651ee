"""Loops of kernels that reduce.

An iteration of the parallel axes is a *row*; a row is swept once for each reduction that
depends on an earlier one, and once more for results that have all its elements.  What a sweep
reads is computed again in the next one, so nothing of a row is written to memory between.

On the GPU `lanes` threads share a row: each combines every `lanes`-th element, then the states
of the lanes are combined as a tree, after which every lane has the result.  The tree depends on
`lanes`, a property of the code, and on the length, so the same input gives the same bits
wherever it runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Inst, Value
from pytocu.ir.dims import DimLike, floordiv, product
from pytocu.ir.expander import Expander
from pytocu.ir.reductions import REDUCTIONS, Reduction, is_rounded
from pytocu.ir.regions import is_region
from pytocu.ir.types import INDEX, DType, PointerType, element, scalar, shape_of
from pytocu.passes.accesses import Index, operands, position
from pytocu.passes.elements import Elements, Target
from pytocu.passes.spaces import is_reduction
from pytocu.record import Mutable, fresh

WARP = 32

FEW_LANES = 8
"""So many states are read by each thread of a column; more are combined step by step, with a barrier for each."""

EIGHT = 8
"""So many elements of a row are summed as a tree, as NumPy sums them; rows of one state have few more."""

Pair = tuple[Value, Index]

Reduced = tuple[Inst, Index]
"""A reduction, and where the kernel's rows read it."""


class Rows(Mutable):
    """Writes the loops of one kernel.

    Attributes
    ----------
    e : Elements
        Its loops are the merged parallel axes first, then the merged reduced ones.
    parallel : int
        How many axes of the iteration space are parallel.
    loops : int
        How many loops those are.
    pairs : list of (Value, Index)
        What is needed and where, operands first.
    lanes, block : int
        Threads a row, and threads a block; on the CPU a row has one thread.
    columns : bool
        Neighbouring threads have neighbouring rows, and not neighbouring elements of a row.
    """

    e: Elements
    parallel: int
    loops: int
    pairs: list[Pair]
    lanes: int = 1
    block: int = 0
    columns: bool = False
    piece: DimLike | None = None
    body: Builder = fresh(default_factory=Builder)
    lane: Value | None = None
    moving: dict[Pair, bool] = fresh(default_factory=dict)
    levels: dict[Pair, int] = fresh(default_factory=dict)
    extent: tuple[Value, Value] | None = None
    bounds: tuple[Value, Value] | None = None
    inside_rows: Value | None = None
    memory: dict[tuple[int, DType], Value] = fresh(default_factory=dict)

    def write(self, roots: Sequence[Pair], targets: Sequence[Target]) -> DimLike:
        """All loops; the number of iterations that are spread over threads."""
        e = self.e
        e.invariants(self.pairs)
        rows = product(e.sizes[: self.loops])
        self.body = Builder(e.loc)
        if self.block:
            work = self._blocks(rows, roots, targets)
        else:
            row = Value(INDEX, "row")
            self._row(row, roots, targets)
            self.body.emit("yield")
            region = Block((row,), self.body.take())
            e.before.inst("for", (e.dim(0), e.dim(rows), e.dim(1)), {"over": "parallel"}, (), (region,))
            work = rows
        e.before.emit("return")
        return work

    @property
    def cost(self) -> DimLike:
        """How many elements one iteration works through."""
        return product(self.e.sizes[self.loops :]) if self.piece is None else self.piece

    def _blocks(self, rows: DimLike, roots: Sequence[Pair], targets: Sequence[Target]) -> DimLike:
        """Each block takes `block / lanes` rows at a time; all its threads go round together."""
        e, before = self.e, self.e.before
        count = self.block // self.lanes
        thread = before.emit("thread_index", name="thread")
        tile = Value(INDEX, "tile")
        tiles = floordiv(rows + (count - 1), count)
        if count == 1:
            row, self.lane = tile, thread
        else:
            size = e.dim(count if self.columns else self.lanes)
            high = before.emit("divide_truncated", (thread, size), name="lane" if self.columns else "")
            low = before.emit("remainder_truncated", (thread, size), name="" if self.columns else "lane")
            self.lane, own = (high, low) if self.columns else (low, high)
            first = self.body.emit("multiply", (tile, e.dim(count)))
            row = self.body.emit("add", (first, own), name="row")
            self.inside_rows = self.body.emit("less", (row, e.dim(rows)))
            # Threads behind the last row go round with the others, with nothing to combine and nothing to store.
            row = self.body.emit("where", (self.inside_rows, row, e.dim(0)), name="row")
            e.exists = self.inside_rows
        self._row(row, roots, targets)
        self.body.emit("yield")
        region = Block((tile,), self.body.take())
        start, step = before.emit("block_index"), before.emit("block_count")
        before.inst("for", (start, e.dim(tiles), step), {"over": "serial"}, (), (region,))
        return tiles * self.block

    def _row(self, row: Value, roots: Sequence[Pair], targets: Sequence[Target]) -> None:
        """What one row computes: sweep after sweep, then what is stored once a row."""
        e = self.e
        nowhere = [e.dim(0)] * (len(e.sizes) - self.loops)
        e.loop_index = [*self._decompose(self.body, row, e.sizes[: self.loops]), *nowhere]
        last = 0
        for pair in self.pairs:
            self._look(pair)
            last = max(last, self.levels[pair])
        self._extent()
        for level in range(1, last + 1):
            self._reduce([p for p in self.pairs if is_reduction(p[0]) and self.levels[p] == level])
        stores = list(zip(roots, targets, strict=True))
        full = [(pair, target) for pair, target in stores if self.moving[pair]]
        self._once(pair for pair, _ in stores if not self.moving[pair])
        if full:
            self._sweep(full)
        single = [(pair, target) for pair, target in stores if not self.moving[pair]]
        if single:
            self._single(single)

    def _look(self, pair: Pair) -> None:
        """Whether a value moves along the row, and after how many sweeps it is known."""
        value, at = pair
        needed = [] if pair in self.e.made else operands(value, at, self.e.ndim)
        known = [p for p in needed if p in self.levels]
        level = max((self.levels[p] for p in known), default=0)
        moves = any(p.moves(self.parallel) for p in at)
        if is_reduction(value):
            self.moving[pair], self.levels[pair] = moves, level + 1
        else:
            self.moving[pair], self.levels[pair] = moves or any(self.moving[p] for p in known), level

    def _extent(self) -> None:
        """Where the elements of a row, or of its piece, begin and end."""
        e = self.e
        length = product(e.sizes[self.loops :])
        lower, upper = e.dim(0), e.dim(length)
        if self.piece is not None:
            first = self._piece_number()
            lower = self.body.emit("multiply", (first, e.dim(self.piece)))
            end = self.body.emit("add", (lower, e.dim(self.piece)))
            upper = self.body.emit("where", (self.body.emit("less", (end, upper)), end, upper))
        self.bounds = (lower, upper)
        if self.lane is not None:
            own = self._own(self.lane)
            lower = self.body.emit("add", (lower, own), name="first") if self.piece is not None else own
        if self.inside_rows is not None:
            upper = self.body.emit("where", (self.inside_rows, upper, e.dim(0)), name="end")
        self.extent = (lower, upper)

    def _own(self, lane: Value) -> Value:
        """The first element of a lane."""
        return lane

    def _piece_number(self) -> Value:
        """The index along the first parallel axis, which is a loop of its own unless it has one iteration."""
        return self.e.loop_index[0] if self.loops and self.e.groups[0] == [0] else self.e.dim(0)

    # Sweeps.

    def _closure(self, pairs: Sequence[Pair]) -> list[Pair]:
        """What is not computed yet of what some values are made of, operands first."""
        wanted: set[Pair] = set()
        stack = list(pairs)
        while stack:
            pair = stack.pop()
            if pair in wanted or pair in self.e.made:
                continue
            wanted.add(pair)
            stack.extend(self._made_of(pair))
        return [p for p in self.pairs if p in wanted]

    def _made_of(self, pair: Pair) -> Sequence[Pair]:
        """What has to be computed for a value."""
        return operands(*pair, self.e.ndim)

    def _once(self, pairs: Iterable[Pair]) -> None:
        """Compute what does not move along the row."""
        for pair in self._closure(list(pairs)):
            if self.moving[pair] or pair in self.e.made:
                continue
            if self.inside_rows is not None and is_region(pair[0].inst):
                self._of_row(self.inside_rows, pair)
            else:
                self.e.made[pair] = self.e.write(self.body, *pair)

    def _of_row(self, exists: Value, pair: Pair) -> None:
        """The results of a loop or branch, and zeros where there is no row: a loop might never end for these."""
        e, body = self.e, self.body
        made, offsets = dict(e.made), dict(e.offsets)
        with body.nested() as yes:
            e.write(body, *pair)
            found = {p: v for p, v in e.made.items() if p not in made and p[0].inst is pair[0].inst}
            body.emit("yield", list(found.values()))
        types = [v.type for v in found.values()]
        with body.nested() as no:
            body.emit("yield", [e.before.const(0, t) for t in types])
        e.made.clear()
        e.made.update(made)
        e.offsets = offsets
        results = body.inst("if", (exists,), {}, types, (Block((), tuple(yes)), Block((), tuple(no)))).results
        e.made.update(zip(found, results, strict=True))

    def _loop(self, needed: Sequence[Pair]) -> tuple[Value, Builder]:
        """Begin the body of a loop over the row: what moves of everything `needed` is computed in it."""
        e = self.e
        pending = [p for p in self._closure(needed) if self.moving[p]]
        j = Value(INDEX, "j")
        inner = Builder(e.loc)
        e.inside = inner
        e.loop_index = [*e.loop_index[: self.loops], *self._decompose(inner, j, e.sizes[self.loops :])]
        for pair in pending:
            e.made[pair] = e.write(inner, *pair)
        return j, inner

    def _finish(self, j: Value, carried: Sequence[Value], start: Sequence[Value], inner: Builder) -> tuple[Value, ...]:
        assert self.extent is not None
        lower, upper = self.extent
        region = Block((j, *carried), inner.take())
        step = self.e.dim(self.lanes)
        types = [v.type for v in start]
        return self.body.inst("for", (lower, upper, step, *start), {"over": "serial"}, types, (region,)).results

    def _reduce(self, pairs: Sequence[Pair]) -> None:
        """One sweep that computes reductions."""
        insts, start = self._begun(pairs)
        self._take(insts, self._states(insts, start))

    def _begun(self, pairs: Sequence[Pair]) -> tuple[list[Reduced], list[Value]]:
        """The reductions of a sweep, and their states before it."""
        e = self.e
        insts = list(dict.fromkeys((v.inst, at) for v, at in pairs if v.inst is not None))
        start: list[Value] = []
        for inst, _ in insts:
            row = REDUCTIONS[inst.attr("op")]
            dtypes = tuple(element(a.type) for a in inst.args)
            start.extend(e.before.const(v, scalar(d)) for d, v in zip(dtypes, row.identity(dtypes), strict=True))
        return insts, start

    def _take(self, insts: Sequence[Reduced], totals: Sequence[Value]) -> None:
        """The results, of which each thread has the states of its own elements."""
        e, place = self.e, 0
        for inst, at in insts:
            row = REDUCTIONS[inst.attr("op")]
            self.body.loc = inst.loc
            states = self._across(row, tuple(totals[place : place + row.states]))
            place += row.states
            for result, state in zip(inst.results, states, strict=True):
                state.name = state.name or result.name
                e.made[result, position(result, at)] = state

    def _states(self, insts: Sequence[Reduced], start: Sequence[Value]) -> Sequence[Value]:
        """The states of a thread's own elements."""
        extent = self.extent
        if self._begins_with_eight(insts):
            start = self._eight(insts, start)
        needed = self._needed(insts)
        self._once(needed)
        with self._forgotten():
            carried = [Value(v.type) for v in start]
            j, inner = self._loop(needed)
            inner.emit("yield", self._combined(inner, insts, carried))
        made = self._finish(j, carried, start, inner)
        self.extent = extent
        return made

    def _begins_with_eight(self, insts: Sequence[Reduced]) -> bool:
        """Whether there are sums on a CPU, of rows that may have so many elements."""
        length = product(self.e.sizes[self.loops :])
        return not self.block and any(map(self._is_tree, insts)) and not (isinstance(length, int) and length < EIGHT)

    def _is_tree(self, item: Reduced) -> bool:
        """Whether NumPy adds eight elements as a tree: of the last axis, where others are added one after the other."""
        inst, _ = item
        last = len(shape_of(inst.args[0].type)) - 1
        return is_rounded(inst.attr("op"), element(inst.types[0])) and last in inst.attr("axes")

    def _eight(self, insts: Sequence[Reduced], start: Sequence[Value]) -> Sequence[Value]:
        """The states behind the first eight elements, if there are so many; the row goes on behind them."""
        e, body = self.e, self.body
        assert self.extent is not None
        lower, _ = self.extent
        needed = self._needed(insts)
        self._once(needed)
        enough = self._behind_eight()
        found: list[list[tuple[Value, ...]]] = [[] for _ in insts]
        with body.nested() as yes:
            for number in range(EIGHT):
                with self._forgotten():
                    e.inside = body
                    at = body.emit("add", (lower, e.dim(number)))
                    e.loop_index = [*e.loop_index[: self.loops], *self._decompose(body, at, e.sizes[self.loops :])]
                    for pair in [p for p in self._closure(needed) if self.moving[p]]:
                        e.made[pair] = e.write(body, *pair)
                    for (inst, place), elements in zip(insts, found, strict=True):
                        elements.append(tuple(e.made[p] for p in operands(inst.results[0], place, e.ndim)))
            pairs = zip(insts, found, strict=True)
            body.emit("yield", [v for one, elements in pairs for v in self._of_eight(body, one, elements)])
        with body.nested() as no:
            body.emit("yield", start)
        return body.inst("if", (enough,), {}, [v.type for v in start], (Block((), tuple(yes)), Block((), tuple(no)))).results

    def _of_eight(self, builder: Builder, item: Reduced, elements: Sequence[tuple[Value, ...]]) -> tuple[Value, ...]:
        """The state of the first elements of a row."""
        inst, _ = item
        row, e = REDUCTIONS[inst.attr("op")], Expander(builder)
        builder.loc = inst.loc
        if not self._is_tree(item):
            state, *rest = elements
            for one in rest:
                state = row.append(e, state, one)
            return state
        states = list(elements)
        while len(states) > 1:
            states = [row.combine(e, a, b) for a, b in zip(states[::2], states[1::2], strict=True)]
        return states[0]

    def _behind_eight(self) -> Value:
        """Whether there are eight elements, behind which the row goes on then."""
        e, body = self.e, self.body
        assert self.extent is not None
        lower, upper = self.extent
        behind = body.emit("add", (lower, e.dim(EIGHT)))
        enough = body.emit("less_equal", (behind, upper))
        self.extent = (body.emit("where", (enough, behind, lower)), upper)
        return enough

    def _needed(self, insts: Sequence[Reduced]) -> list[Pair]:
        """The elements that go into reductions."""
        return [pair for inst, at in insts for pair in operands(inst.results[0], at, self.e.ndim)]

    def _combined(self, builder: Builder, insts: Sequence[Reduced], states: Sequence[Value]) -> list[Value]:
        """The states with one more element, which is computed already."""
        e = self.e
        following: list[Value] = []
        place = 0
        for inst, at in insts:
            row = REDUCTIONS[inst.attr("op")]
            builder.loc = inst.loc
            elements = tuple(e.made[p] for p in operands(inst.results[0], at, e.ndim))
            following.extend(row.append(Expander(builder), tuple(states[place : place + row.states]), elements))
            place += row.states
        return following

    @contextmanager
    def _forgotten(self) -> Iterator[None]:
        """What is computed inside of a loop is forgotten behind it.

        So are numbers that do not move along the row: a loop or branch of the program gives them beside its elements.
        """
        e = self.e
        made, offsets, index = dict(e.made), dict(e.offsets), list(e.loop_index)
        yield
        e.made.clear()
        e.made.update(made)
        e.offsets, e.loop_index = offsets, index

    def _sweep(self, stores: Sequence[tuple[Pair, Target]]) -> None:
        """The last sweep, which stores results as long as the row."""
        e, needed = self.e, [pair for pair, _ in stores]
        self._once(needed)
        with self._forgotten():
            j, inner = self._loop(needed)
            for pair, target in stores:
                e.store_element(inner, pair, target)
            inner.emit("yield")
        self._finish(j, (), (), inner)

    def _single(self, stores: Sequence[tuple[Pair, Target]]) -> None:
        """Results of which a row has one: its first lane stores them."""
        e = self.e
        body = self.body
        guard: Value | None = None
        if self.lane is not None and self.lanes > 1:
            guard = body.emit("equal", (self.lane, e.dim(0)))
        if self.inside_rows is not None:
            guard = self.inside_rows if guard is None else body.emit("bitwise_and", (guard, self.inside_rows))
        into = body if guard is None else Builder(e.loc)
        offsets = dict(e.offsets)
        for pair, target in stores:
            e.store_element(into, pair, target)
        e.offsets = offsets
        if guard is not None:
            into.emit("yield")
            empty = Builder(e.loc)
            empty.emit("yield")
            body.inst("if", (guard,), {}, (), (Block((), into.take()), Block((), empty.take())))

    def _decompose(self, builder: Builder, linear: Value, sizes: Sequence[DimLike]) -> list[Value]:
        """The index of each loop from one over all of them."""
        if not sizes:
            return []
        indices: list[Value] = []
        rest = linear
        for size in reversed(sizes[1:]):
            length = self.e.dim(size)
            indices.insert(0, builder.emit("remainder_truncated", (rest, length)))
            rest = builder.emit("divide_truncated", (rest, length))
        return [rest, *indices]

    # Across lanes.

    def _across(self, row: Reduction, states: tuple[Value, ...]) -> tuple[Value, ...]:
        """The states of a row's lanes combined; every lane gets the result."""
        if self.lanes == 1:
            return states
        if self.columns:
            return self._columns(row, states)
        states = self._butterfly(row, states, min(self.lanes, WARP))
        if self.lanes <= WARP:
            return states
        warps = self.lanes // WARP
        thread, e = self.e.before, self.e
        width = e.dim(WARP)
        number = thread.emit("thread_index")
        warp = thread.emit("divide_truncated", (number, width), name="warp")
        in_warp = thread.emit("remainder_truncated", (number, width))
        shared = self._shared(states, warps)
        # The last round's readers are done before anyone writes again.
        self.body.emit("barrier")
        into, empty = Builder(self.body.loc), Builder(self.body.loc)
        for memory, state in zip(shared, states, strict=True):
            into.inst("store", (memory, warp, state))
        into.emit("yield")
        empty.emit("yield")
        first = self.body.emit("equal", (in_warp, e.dim(0)))
        self.body.inst("if", (first,), {}, (), (Block((), into.take()), Block((), empty.take())))
        self.body.emit("barrier")
        own = thread.emit("remainder_truncated", (number, e.dim(warps)))
        loaded = tuple(self.body.emit("load", (memory, own)) for memory in shared)
        return self._butterfly(row, loaded, warps)

    def _butterfly(self, row: Reduction, states: tuple[Value, ...], width: int) -> tuple[Value, ...]:
        """Exchange with the lane whose number differs in one bit, bit after bit."""
        mask = width // 2
        while mask:
            others = tuple(self.body.emit("shuffle_xor", (s,), {"mask": mask}) for s in states)
            states = row.combine(Expander(self.body), states, others)
            mask //= 2
        return states

    def _shared(self, states: Sequence[Value], size: int) -> list[Value]:
        """Memory of the block for each part of a state; one reduction after the other has it."""
        found: list[Value] = []
        for number, state in enumerate(states):
            key = (number, element(state.type))
            if key not in self.memory:
                type = PointerType(element(state.type), "shared")
                self.memory[key] = self.e.before.emit("shared", (), {"size": size}, (type,))
            found.append(self.memory[key])
        return found

    def _columns(self, row: Reduction, states: tuple[Value, ...]) -> tuple[Value, ...]:
        """The lanes of a row lie `block / lanes` threads apart."""
        e, body = self.e, self.body
        before = e.before
        count = self.block // self.lanes
        shared = self._shared(states, self.block)
        thread = before.emit("thread_index")
        assert self.lane is not None
        body.emit("barrier")
        for memory, state in zip(shared, states, strict=True):
            body.inst("store", (memory, thread, state))
        body.emit("barrier")
        column = before.emit("remainder_truncated", (thread, e.dim(count)))
        if self.lanes <= FEW_LANES:
            places = [column]
            places += [before.emit("add", (column, e.dim(number * count))) for number in range(1, self.lanes)]
            parts = [tuple(body.emit("load", (memory, place)) for memory in shared) for place in places]
            while len(parts) > 1:
                parts = [row.combine(Expander(body), parts[k], parts[k + 1]) for k in range(0, len(parts), 2)]
            return parts[0]
        half = self.lanes // 2
        while half:
            into, empty = Builder(body.loc), Builder(body.loc)
            other = into.emit("add", (thread, e.dim(half * count)))
            mine = tuple(into.emit("load", (memory, thread)) for memory in shared)
            theirs = tuple(into.emit("load", (memory, other)) for memory in shared)
            for memory, state in zip(shared, row.combine(Expander(into), mine, theirs), strict=True):
                into.inst("store", (memory, thread, state))
            into.emit("yield")
            empty.emit("yield")
            lower = body.emit("less", (self.lane, e.dim(half)))
            body.inst("if", (lower,), {}, (), (Block((), into.take()), Block((), empty.take())))
            body.emit("barrier")
            half //= 2
        return tuple(body.emit("load", (memory, column)) for memory in shared)
