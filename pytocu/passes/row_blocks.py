"""Loops of a GPU's kernels that reduce what all rows read, where each thread has several rows at once.

A row of such a kernel, as the forces on one of many bodies, reads the same elements as every other one, from the caches.  A
thread that combines a share of it with several rows asks for the share once for all of them, and so with the addresses
and the loop.  Rows, threads and the order of a sum are those of :mod:`pytocu.passes.register_loops`: what a row gives does
not depend on the rows beside it.

Whether groups begin at multiples of their size is asked before the loop, which is written for either answer.  Behind the
last row a thread computes the first one again, and stores nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Value
from pytocu.ir.dims import DimLike, floordiv
from pytocu.ir.regions import is_region
from pytocu.ir.types import BOOL, INDEX, VectorType, element, scalar
from pytocu.passes.accesses import operands
from pytocu.passes.affine import Affine
from pytocu.passes.elements import Target
from pytocu.passes.reduce_loops import Pair, Reduced
from pytocu.passes.register_loops import Registers, Store, is_rounded
from pytocu.passes.spaces import is_reduction
from pytocu.record import Mutable, fresh


class Place(Mutable):
    """One of the rows of a thread: where it is, whether it exists, and what is computed of it alone."""

    index: list[Value]
    exists: Value | None
    made: dict[Pair, Value]
    offsets: dict[Affine, Value]


class RowBlocks(Registers):
    """Writes the loops of one kernel; see `Registers`.

    Attributes
    ----------
    several : int
        Rows of a thread.
    places : list of Place
        Those rows.
    differs : dict
        Whether a value differs from row to row.
    """

    several: int = 2
    places: list[Place] = fresh(default_factory=list)
    differs: dict[Pair, bool] = fresh(default_factory=dict)

    def _blocks(self, rows: DimLike, roots: Sequence[Pair], targets: Sequence[Target]) -> DimLike:
        """Each block takes `several` times `block / lanes` rows at a time."""
        e, before, body = self.e, self.e.before, self.body
        count = self.block // self.lanes
        thread = before.emit("thread_index", name="thread")
        tile, each = Value(INDEX, "tile"), count * self.several
        tiles = floordiv(rows + (each - 1), each)
        first = body.emit("multiply", (tile, e.dim(each)), name="row")
        self.lane = thread
        if count > 1:
            size = e.dim(self.lanes)
            own = before.emit("divide_truncated", (thread, size))
            self.lane = before.emit("remainder_truncated", (thread, size), name="lane")
            first = body.emit("add", (first, own), name="row")
        nowhere = [e.dim(0)] * (len(e.sizes) - self.loops)
        for number in range(self.several):
            row, exists = first, None
            if number:
                row = body.emit("add", (first, e.dim(number * count)), name="row")
            if each > 1 and (number or count > 1):
                exists = body.emit("less", (row, e.dim(rows)))
                row = body.emit("where", (exists, row, e.dim(0)), name="row")
            index = [*self._decompose(body, row, e.sizes[: self.loops]), *nowhere]
            self.places.append(Place(index, exists, dict(e.made), dict(e.offsets)))
        self._row(first, roots, targets)
        body.emit("yield")
        region = Block((tile,), body.take())
        start, step = before.emit("block_index"), before.emit("block_count")
        before.inst("for", (start, e.dim(tiles), step), {"over": "serial"}, (), (region,))
        return tiles * self.block

    def _row(self, row: Value, roots: Sequence[Pair], targets: Sequence[Target]) -> None:
        """What the rows of a thread compute: sweep after sweep for all of them, then what is stored of each."""
        self.e.loop_index = self.places[0].index
        for pair in self.pairs:
            self._look(pair)
        self._extent()
        for level in range(1, max(self.levels.values()) + 1):
            self._reduce([p for p in self.pairs if is_reduction(p[0]) and self.levels[p] == level])
        for place in self.places:
            with self._of(place):
                Registers._once(self, roots)
                self.inside_rows = place.exists
                self._single(list(zip(roots, targets, strict=True)))
                self.inside_rows = None

    def _look(self, pair: Pair) -> None:
        Registers._look(self, pair)
        value, at = pair
        needed = [] if pair in self.e.made else operands(value, at, self.e.ndim)
        moves = any(p.parts or any(c != 0 for c in p.coefficients[: self.parallel]) for p in at)
        self.differs[pair] = moves or is_region(value.inst) or any(self.differs[p] for p in needed if p in self.differs)

    @contextmanager
    def _of(self, place: Place) -> Iterator[None]:
        """Write what belongs to one row."""
        e = self.e
        made, offsets, index = e.made, e.offsets, e.loop_index
        e.made, e.offsets, e.loop_index = place.made, place.offsets, place.index
        yield
        place.made, place.offsets = e.made, e.offsets
        e.made, e.offsets, e.loop_index = made, offsets, index

    def _once(self, pairs: Iterable[Pair]) -> None:
        pairs = list(pairs)
        for place in self.places:
            with self._of(place):
                Registers._once(self, pairs)

    def _reduce(self, pairs: Sequence[Pair]) -> None:
        insts, start = self._begun(pairs)
        totals = self._states(insts, start * self.several)
        for place, states in zip(self.places, self._by_place(totals), strict=True):
            with self._of(place):
                self._take(insts, states)

    def _by_place(self, states: Sequence[Value]) -> list[Sequence[Value]]:
        """The states of each row."""
        count = len(states) // self.several
        return [states[k * count : (k + 1) * count] for k in range(self.several)]

    def _joined(
        self, builder: Builder, insts: Sequence[Reduced], first: Sequence[Value], second: Sequence[Value]
    ) -> list[Value]:
        pairs = zip(self._by_place(first), self._by_place(second), strict=True)
        return [state for a, b in pairs for state in Registers._joined(self, builder, insts, a, b)]

    def _walk(
        self, needed: Sequence[Pair], insts: Sequence[Reduced], start: Sequence[Value], stores: Sequence[Store]
    ) -> Sequence[Value]:
        """One sweep over the elements of all rows of a thread."""
        e, body, fit, sweeps = self.e, self.body, self.fit, self.sweeps
        if fit is None:
            return Registers._walk(self, needed, insts, start, stores)
        self._once(needed)
        regions: list[Block] = []
        for answer in (True, False):
            self.fit, self.sweeps = e.before.const(answer, scalar(BOOL)), sweeps
            with body.nested() as written:
                body.emit("yield", Registers._walk(self, needed, insts, start, stores))
            regions.append(Block((), tuple(written)))
        self.fit = fit
        return body.inst("if", (fit,), {}, [v.type for v in start], regions).results

    def _share(
        self,
        builder: Builder,
        first: Value,
        needed: Sequence[Pair],
        insts: Sequence[Reduced],
        states: Sequence[Value],
        stores: Sequence[Store],
        keep: set[Pair],
        left: Value | None = None,
    ) -> Sequence[Value]:
        """A share, whose elements all exist: it is loaded once, and goes into the states of each row."""
        e = self.e
        assert self.certain and left is not None and not stores and not keep
        computed = set(self._reach(needed, set())[0])
        shares = {p: self._load(builder, p, first, left) for p in self.pairs if p in computed and self._is_alike(p)}
        given = [Value(scalar(element(p[0].type)), p[0].name) for p in shares]
        trees = [item for item in insts if is_rounded(item)]
        chain = [item for item in insts if not is_rounded(item)]
        leaves = [operands(inst.results[0], at, e.ndim)[0] for inst, at in trees]
        own = [dict(zip(insts, self._parts(insts, part), strict=True)) for part in self._by_place(states)]
        start = [state for found in own for item in chain for state in found[item]]
        carried = [Value(v.type) for v in start]

        def write(inner: Builder, i: Value, exists: Value) -> Sequence[Value]:
            elements: list[Value] = []
            following: list[Value] = []
            alike = dict(zip(shares, given, strict=True))
            for place, before in zip(self.places, self._by_place(carried), strict=True):
                with self._of(place), self._position(inner):
                    self._stand(inner, i)
                    e.made.update(alike)
                    for pair in self._closure(needed):
                        if self.moving[pair]:
                            e.made[pair] = e.write(inner, *pair)
                            if not self.differs[pair]:
                                alike[pair] = e.made[pair]
                    elements.extend(e.made[p] for p in leaves)
                    following.extend(self._combined(inner, chain, before))
            return [*elements, *following]

        vectors = [VectorType(element(p[0].type), self.each) for _ in self.places for p in leaves]
        args, params = [*shares.values(), *start], [*given, *carried]
        results = self._lanes(builder, (first, left), args, params, [*vectors, *(v.type for v in start)], write)
        made: list[Value] = []
        behind = self._by_place(results[len(vectors) :])
        for number, part in enumerate(behind):
            found = dict(zip(chain, self._parts(chain, part), strict=True))
            summed = results[number * len(leaves) : (number + 1) * len(leaves)]
            for item, vector in zip(trees, summed, strict=True):
                found[item] = (self._tree(builder, item, vector),)
            made.extend(state for item in insts for state in found[item])
        return made
