"""Loops of CPU kernels that reduce or scan along columns of memory.

A row of memory holds neighbours of different columns, so a tile of columns is combined row of
memory by row of memory: the innermost loop goes along memory and becomes vector code, and the
states of the tile's columns wait in an array that stays in the first cache.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Value
from pytocu.ir.dims import DimLike, dim_min, floordiv, product
from pytocu.ir.expander import Expander
from pytocu.ir.reductions import REDUCTIONS
from pytocu.ir.types import INDEX, PointerType, element, scalar
from pytocu.passes import prefetches
from pytocu.passes.accesses import operands, position
from pytocu.passes.elements import Target
from pytocu.passes.reduce_loops import Pair, Reduced, Rows
from pytocu.passes.scan_loops import beginning, step
from pytocu.passes.spaces import is_reduction, is_scan
from pytocu.record import fresh

TILE, SCANNED_TILE = 1024, 256
"""Columns of a tile: the stretch of each row of memory is read ahead, and states stay in the first cache.  A scan has no
pieces that would occupy all threads, so its tiles do."""

PIECE = 64
"""Columns between two requests for what comes later."""


class Columns(Rows):
    """Writes the loops of one kernel; see `Rows`.

    Attributes
    ----------
    arrays : dict
        The array that holds a reduction's results for the columns of the tile.
    running : dict
        The array that holds a scan's states, one for each column of the tile.
    row : Value
        Which element of the columns a loop is at.
    width : Value
        How many columns the tile has.
    first : Value
        Its first column.
    ahead : Value
        How many rows behind those that are read others are asked for.
    pieces : Value
        How many whole pieces the tile has.
    """

    arrays: dict[Pair, Value] = fresh(default_factory=dict)
    running: dict[Pair, Value] = fresh(default_factory=dict)
    row: Value | None = None
    width: Value | None = None
    first: Value | None = None
    ahead: Value | None = None
    pieces: Value | None = None

    @property
    def tile(self) -> int:
        """Columns of a tile."""
        return SCANNED_TILE if any(is_scan(value) for value, _ in self.pairs) else TILE

    @property
    def cost(self) -> DimLike:
        """How many elements a tile has."""
        return super().cost * dim_min(self.e.sizes[self.loops - 1], self.tile)

    def write(self, roots: Sequence[Pair], targets: Sequence[Target]) -> DimLike:
        """All loops; the number of tiles."""
        e = self.e
        e.invariants(self.pairs)
        self.body = Builder(e.loc)
        outer, last = e.sizes[: self.loops - 1], e.sizes[self.loops - 1]
        tiles = floordiv(last + (self.tile - 1), self.tile)
        number = Value(INDEX, "tile")
        *indices, tile = self._decompose(self.body, number, [*outer, tiles])
        self.first = self.body.emit("multiply", (tile, e.dim(self.tile)), name="first")
        rest = self.body.emit("subtract", (e.dim(last), self.first))
        whole = e.dim(self.tile)
        self.width = self.body.emit("where", (self.body.emit("less", (rest, whole)), rest, whole), name="width")
        e.loop_index = [*indices, self.first, *[e.dim(0)] * (len(e.sizes) - self.loops)]
        for pair in self.pairs:
            self._look(pair)
        self._extent()
        for level in range(1, max(self.levels.values(), default=0) + 1):
            self._reduce([p for p in self.pairs if is_reduction(p[0]) and self.levels[p] == level])
        stores = list(zip(roots, targets, strict=True))
        full = [s for s in stores if self.moving[s[0]]]
        single = [s for s in stores if not self.moving[s[0]]]
        if full:
            self._start([pair for pair, _ in full])
            self._along(lambda index, into: self._across_columns(into, index, lambda c, inner: self._store(inner, full)))
        if single:
            self._across_columns(self.body, None, lambda c, inner: self._store(inner, single))
        self.body.emit("yield")
        region = Block((number,), self.body.take())
        total = product([*outer, tiles])
        e.before.inst("for", (e.dim(0), e.dim(total), e.dim(1)), {"over": "parallel"}, (), (region,))
        e.before.emit("return")
        return total

    def _reduce(self, pairs: Sequence[Pair]) -> None:
        """One sweep over the rows of memory."""
        e = self.e
        insts = list(dict.fromkeys((v.inst, at) for v, at in pairs if v.inst is not None))
        states: list[tuple[Value, ...]] = []
        starts: list[tuple[Value, ...]] = []
        for inst, _ in insts:
            dtypes = tuple(element(a.type) for a in inst.args)
            starts.append(
                tuple(
                    e.before.const(v, scalar(d))
                    for d, v in zip(dtypes, REDUCTIONS[inst.attr("op")].identity(dtypes), strict=True)
                )
            )
            states.append(tuple(e.before.emit("local", (), {"size": self.tile}, (PointerType(d, "local"),)) for d in dtypes))

        def begin(c: Value, inner: Builder) -> None:
            for memory, start in zip(states, starts, strict=True):
                for pointer, value in zip(memory, start, strict=True):
                    inner.inst("store", (pointer, c, value))

        def combine(c: Value, inner: Builder) -> None:
            for (inst, at), memory in zip(insts, states, strict=True):
                inner.loc = inst.loc
                needed = operands(inst.results[0], at, e.ndim)
                self._compute(inner, needed)
                old = tuple(inner.emit("load", (pointer, c)) for pointer in memory)
                new = REDUCTIONS[inst.attr("op")].append(Expander(inner), old, tuple(e.made[p] for p in needed))
                for pointer, value in zip(memory, new, strict=True):
                    inner.inst("store", (pointer, c, value))

        self._across_columns(self.body, None, begin)
        self._begin_rows(insts, states)
        self._start([p for inst, at in insts for p in operands(inst.results[0], at, e.ndim)])
        asked = self._asked(pairs)
        if asked:
            self._along(lambda index, into: self._in_pieces(into, index, combine, asked))
        else:
            self._along(lambda index, into: self._across_columns(into, index, combine))
        for (inst, at), memory in zip(insts, states, strict=True):
            for result, pointer in zip(inst.results, memory, strict=True):
                self.arrays[result, position(result, at)] = pointer

    def _begin_rows(self, insts: Sequence[Reduced], states: Sequence[tuple[Value, ...]]) -> None:
        """Combine the first elements otherwise than those behind them."""

    def _start(self, needed: Sequence[Pair]) -> None:
        """The states of the scans that a sweep needs, before their first elements."""
        e = self.e
        scans = [pair for pair in self._closure(needed) if is_scan(pair[0])]
        for pair in scans:
            self.running[pair] = e.before.emit("local", (), {"size": self.tile}, (PointerType(element(pair[0].type), "local"),))

        def begin(c: Value, inner: Builder) -> None:
            for pair in scans:
                self._compute(inner, operands(*pair, e.ndim)[1:])
                inner.inst("store", (self.running[pair], c, beginning(e, pair)))

        if scans:
            self._across_columns(self.body, None, begin)

    def _along(self, write: Callable[[Value, Builder], None]) -> None:
        """A loop over the reduced axes."""
        assert self.extent is not None
        lower, upper = self.extent
        self.row = row = Value(INDEX, "row")
        into = Builder(self.e.loc)
        write(row, into)
        into.emit("yield")
        region = Block((row,), into.take())
        self.body.inst("for", (lower, upper, self.e.dim(1)), {"over": "serial"}, (), (region,))

    def _asked(self, pairs: Sequence[Pair]) -> prefetches.Found:
        """What is asked for ahead of time: what lies along the columns, where it was not read before."""
        e = self.e
        if len(e.sizes) != self.loops + 1 or any(self.levels[pair] > 1 for pair in pairs):
            return {}
        needed = self._closure([p for value, at in pairs for p in operands(value, at, e.ndim)])
        return prefetches.streams(e, needed, lambda merged: merged.coefficients[-2] == 1 and merged.coefficients[-1] != 0)

    def _in_pieces(
        self, builder: Builder, row: Value, write: Callable[[Value, Builder], None], asked: prefetches.Found
    ) -> None:
        """The loop over the columns, piece by piece: each asks for the same columns of a row that comes later."""
        e = self.e
        assert self.width is not None and self.first is not None
        if self.ahead is None:
            self.ahead = self.body.emit("divide_truncated", (e.dim(self.tile), self.width), name="ahead")
            self.pieces = self.body.emit("divide_truncated", (self.width, e.dim(PIECE)), name="pieces")
        assert self.pieces is not None
        number, into = Value(INDEX, "number"), Builder(e.loc)
        start = into.emit("multiply", (number, e.dim(PIECE)), name="start")
        offsets, index = dict(e.offsets), e.loop_index
        later = into.emit("add", (row, self.ahead), name="later")
        e.loop_index = [*index[: self.loops - 1], into.emit("add", (self.first, start)), later]
        prefetches.write(e, into, asked, PIECE, 0)
        e.offsets, e.loop_index = offsets, index
        self._across_columns(into, row, write, (start, e.dim(PIECE)))
        into.emit("yield")
        region = Block((number,), into.take())
        builder.inst("for", (e.dim(0), self.pieces, e.dim(1)), {"over": "serial"}, (), (region,))
        done = builder.emit("multiply", (self.pieces, e.dim(PIECE)))
        self._across_columns(builder, row, write, (done, builder.emit("subtract", (self.width, done))))

    def _across_columns(
        self,
        builder: Builder,
        row: Value | None,
        write: Callable[[Value, Builder], None],
        part: tuple[Value, Value] | None = None,
    ) -> None:
        """A loop over the columns of the tile, or so many from one on; what it computes is forgotten behind it."""
        e = self.e
        assert self.width is not None and self.first is not None
        made, offsets, index = dict(e.made), dict(e.offsets), list(e.loop_index)
        if row is not None:
            e.loop_index[self.loops :] = self._decompose(builder, row, e.sizes[self.loops :])
        counter = c = Value(INDEX, "c")
        inner = Builder(e.loc)
        e.inside = inner
        if part is not None:
            c = inner.emit("add", (part[0], counter))
        e.loop_index[self.loops - 1] = inner.emit("add", (self.first, c), name="column")
        write(c, inner)
        inner.emit("yield")
        region = Block((counter,), inner.take())
        count = self.width if part is None else part[1]
        builder.inst("for", (e.dim(0), count, e.dim(1)), {"over": "serial"}, (), (region,))
        e.made.clear()
        e.made.update(made)
        e.offsets, e.loop_index = offsets, index

    def _compute(self, inner: Builder, needed: Sequence[Pair]) -> None:
        """Everything some values are made of; reductions are read from their arrays."""
        e = self.e
        c = e.loop_index[self.loops - 1].inst
        assert c is not None
        for pair in self._closure(needed):
            if pair in self.arrays:
                e.made[pair] = inner.emit("load", (self.arrays[pair], c.args[1]))
            elif is_scan(pair[0]):
                assert self.row is not None
                state = inner.emit("load", (self.running[pair], c.args[1]))
                e.made[pair], state = step(e, inner, pair, state, self.row)
                inner.inst("store", (self.running[pair], c.args[1], state))
            else:
                e.made[pair] = e.write(inner, *pair)

    def _made_of(self, pair: Pair) -> Sequence[Pair]:
        """Reductions that are in arrays are not followed."""
        return () if pair in self.arrays else Rows._made_of(self, pair)

    def _store(self, inner: Builder, stores: Sequence[tuple[Pair, Target]]) -> None:
        e = self.e
        self._compute(inner, [pair for pair, _ in stores])
        for pair, target in stores:
            e.store_element(inner, pair, target)
