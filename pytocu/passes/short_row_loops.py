"""Loops of CPU kernels that reduce many short rows, along which memory lies.

Rows so short have one state each, which meets one element after the other, behind the first eight of a sum.  A tile of rows
is read into buffers first, in squares that are transposed in registers: there the elements at the same place of neighbouring
rows are neighbours.  So the loops are those of columns, which become vector code, and each row meets its elements in the same
order as alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Value
from pytocu.ir.dims import DimLike, floordiv
from pytocu.ir.reductions import is_rounded
from pytocu.ir.types import INDEX, PointerType, element
from pytocu.passes.accesses import operands
from pytocu.passes.affine import Affine
from pytocu.passes.column_loops import Columns
from pytocu.passes.reduce_loops import EIGHT, Pair, Reduced
from pytocu.record import fresh

TILE = 64
"""Rows of a tile: all that is known of them stays in the first cache."""

LONGEST = 16
"""Elements of a row that a buffer has room for."""

MOST_BUFFERS = 4
"""Arrays that are read into buffers."""

SQUARE_BYTES = 32
"""Bytes of a row of a square, unless it is longer than rows are."""


def side_of(pointer: Value) -> int:
    """Elements of a row of a square."""
    return min(SQUARE_BYTES // element(pointer.type).itemsize, LONGEST)


class ShortRows(Columns):
    """Writes the loops of one kernel; see `Rows`.

    Attributes
    ----------
    buffers : dict
        What is read of rows, and the buffer in which it is.
    combined : tuple of Value, optional
        Where the elements begin and end that the sweep which is written has not combined yet.
    """

    buffers: dict[Pair, Value] = fresh(default_factory=dict)
    combined: tuple[Value, Value] | None = None

    @property
    def tile(self) -> int:
        """Rows of a tile."""
        return TILE

    def fits(self) -> bool:
        """Whether all that moves along the rows is read through buffers, or is the same for all rows."""
        e = self.e
        if not self.loops or len(e.sizes) != self.loops + 1:
            return False
        through: set[tuple[Value, Affine]] = set()
        for value, at in self.pairs:
            if value.inst is not None or value not in e.memory:
                continue
            pointer, offset = e.memory[value].pointer, e.memory[value].offset(at, e.ndim)
            if self._is_buffered(pointer, offset):
                through.add((pointer, e.merged(offset)))
            elif offset.parts or (e.merged(offset).coefficients[-1] != 0 and any(e.merged(offset).coefficients[:-1])):
                return False
        return 0 < len(through) <= MOST_BUFFERS

    def _is_buffered(self, pointer: Value, offset: Affine) -> bool:
        """Whether rows follow each other from the begin of the memory on, and their elements can be moved as vectors."""
        dtype = element(pointer.type)
        return self.e.is_linear(offset) and dtype.kind not in "bc" and dtype.itemsize <= 8 and pointer not in self.e.written

    def _look(self, pair: Pair) -> None:
        """Read what is not read yet of the tile."""
        Columns._look(self, pair)
        e, (value, at) = self.e, pair
        if value.inst is not None or value not in e.memory:
            return
        pointer, offset = e.memory[value].pointer, e.memory[value].offset(at, e.ndim)
        if self._is_buffered(pointer, offset):
            same = (b for (v, a), b in self.buffers.items() if e.memory[v].pointer is pointer)
            self.buffers[pair] = next(same, None) or self._read(pointer, e.address(self.body, offset))

    def _read(self, pointer: Value, start: Value) -> Value:
        """The buffer with the rows of the tile from an offset on."""
        e, body, side = self.e, self.body, side_of(pointer)
        assert self.width is not None
        dtype, length = element(pointer.type), e.sizes[-1]
        buffer = e.before.emit("local", (), {"size": LONGEST * TILE}, (PointerType(dtype, "local"),))
        zero, one = e.dim(0), e.dim(1)
        # Squares have whole vectors of a row, and what is behind it: of so many rows that lies in the memory.
        whole: DimLike = floordiv(length + (side - 1), side) * side
        total: DimLike = length
        for size in e.sizes[:-1]:
            total = total * size
        left = body.emit("subtract", (e.dim(total), start))
        spare = body.emit("subtract", (left, e.dim(whole)))
        there = body.emit("less_equal", (zero, spare))
        empty = body.emit("less", (e.dim(length), one))
        rows = body.emit("divide_truncated", (spare, body.emit("where", (empty, one, e.dim(length)))))
        rows = body.emit("where", (there, body.emit("add", (rows, one)), zero))
        rows = body.emit("where", (body.emit("less", (rows, self.width)), rows, self.width))
        rows = body.emit("subtract", (rows, body.emit("remainder_truncated", (rows, e.dim(side)))), name="squares")
        for first, end, count in ((zero, rows, side), (rows, self.width, 1)):
            by = e.dim(count)
            with (
                self._over(body, (first, end, by), "row") as (outer, row),
                self._over(outer, (zero, e.dim(length), by), "j") as (inner, j),
            ):
                self._move(inner, pointer, start, row, j, buffer, count)
        return buffer

    def _move(
        self, builder: Builder, pointer: Value, start: Value, row: Value, j: Value, buffer: Value, side: int
    ) -> None:
        """Move a square, or an element, to where its column has its row."""
        e = self.e
        length = e.dim(e.sizes[-1])
        at = builder.emit("add", (builder.emit("add", (start, builder.emit("multiply", (row, length)))), j))
        to = builder.emit("add", (builder.emit("multiply", (j, e.dim(TILE))), row))
        attrs = {"align": element(pointer.type).itemsize} if side > 1 else {}
        lanes = {"lanes": side} if side > 1 else {}
        values: list[Value] = []
        for number in range(side):
            at = builder.emit("add", (at, length)) if number else at
            values.append(builder.emit("load", (pointer, at), attrs | lanes))
        for number, value in enumerate(builder.inst("transposed", values).results if side > 1 else values):
            to = builder.emit("add", (to, e.dim(TILE))) if number else to
            builder.inst("store", (buffer, to, value), attrs)

    def _along(self, write: Callable[[Value, Builder], None]) -> None:
        """A loop over the elements of the rows, the first of which may be combined already."""
        extent = self.extent
        if self.combined:
            self.extent = self.combined
        Columns._along(self, write)
        self.extent, self.combined = extent, None

    def _is_tree(self, item: Reduced) -> bool:
        """Rows lie along memory here, whichever axis that is."""
        inst, _ = item
        return is_rounded(inst.attr("op"), element(inst.types[0]))

    def _begin_rows(self, insts: Sequence[Reduced], states: Sequence[tuple[Value, ...]]) -> None:
        """The states behind the first eight elements, if there are so many."""
        e, body, extent = self.e, self.body, self.extent
        if not self._begins_with_eight(insts):
            return
        assert extent is not None
        enough = self._behind_eight()
        self.combined, self.extent = self.extent, extent

        def write(c: Value, inner: Builder) -> None:
            found: list[list[tuple[Value, ...]]] = [[] for _ in insts]
            for number in range(EIGHT):
                with self._forgotten():
                    self.row = inner.emit("add", (extent[0], e.dim(number)))
                    e.loop_index[self.loops :] = [self.row]
                    for (inst, at), elements in zip(insts, found, strict=True):
                        needed = operands(inst.results[0], at, e.ndim)
                        self._compute(inner, needed)
                        elements.append(tuple(e.made[p] for p in needed))
            for one, elements, memory in zip(insts, found, states, strict=True):
                for pointer, value in zip(memory, self._of_eight(inner, one, elements), strict=True):
                    inner.inst("store", (pointer, c, value))

        with body.nested() as yes:
            self._across_columns(body, None, write)
            body.emit("yield")
        with body.nested() as no:
            body.emit("yield")
        body.inst("if", (enough,), {}, (), (Block((), tuple(yes)), Block((), tuple(no))))

    @contextmanager
    def _over(self, builder: Builder, bounds: tuple[Value, Value, Value], name: str) -> Iterator[tuple[Builder, Value]]:
        """The body of a loop, and its index."""
        index, inner = Value(INDEX, name), Builder(self.e.loc)
        yield inner, index
        inner.emit("yield")
        builder.inst("for", bounds, {"over": "serial"}, (), (Block((index,), inner.take()),))

    def _compute(self, inner: Builder, needed: Sequence[Pair]) -> None:
        """Everything some values are made of; what was read into buffers comes from there."""
        e = self.e
        column = e.loop_index[self.loops - 1].inst
        assert column is not None
        for pair in self._closure(needed):
            if pair in self.buffers:
                assert self.row is not None
                at = inner.emit("add", (inner.emit("multiply", (self.row, e.dim(TILE))), column.args[1]))
                e.made[pair] = inner.emit("load", (self.buffers[pair], at))
        Columns._compute(self, inner, needed)
