"""The loops of kernels that find the true elements of a mask, on a CPU.

Threads take pieces of the mask, each of which knows how many elements are true before it.  A piece is walked in blocks.
Runs of true elements alone with which a block begins are a loop over memory as it lies.  Of what follows in the block
the positions of the true elements go to a buffer first, then each of them is an iteration of the kernel, which is a loop
like any other and becomes vector code.

A run of 64 bools is a word, in which a true element is a bit.  How many there are is known all at once, so that the next run
waits for nothing else.  A run without one is passed; where there are few, the lowest bit is found and taken away as often as
there may be bits; and where there are more, the positions in each group of four elements are read from a table, as a vector.
"""

from __future__ import annotations

from collections.abc import Callable

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Inst, Value
from pytocu.ir.dims import DimLike
from pytocu.ir.types import BOOL, I64, INDEX, U64, PointerType, scalar, shape_of
from pytocu.passes.elements import Elements
from pytocu.passes.loop_parts import MaskLoops, Work, copy_of

BLOCK = 2048
"""Elements of a block, whose positions stay in the first cache."""

RUN = 64
"""Elements of a run: the bits of a word."""

FEW = 8
"""True elements of a run up to which each is looked for.  So many positions are stored without asking whether there are as
many: whoever comes next overwrites those that are too many.  The buffer has room for these, since a run has more elements."""

GROUP = 4
"""Elements of a run whose positions are looked up together where more are true."""


def write(e: Elements, work: Work, inst: Inst) -> tuple[DimLike, DimLike]:
    """Write the loops to `e.before`: how many pieces there are, and how long they are."""
    return _Writer(e, work, inst).write()


class _Writer(MaskLoops):
    """Writes the loops of one kernel."""

    def __init__(self, e: Elements, work: Work, inst: Inst):
        super().__init__(e, work, inst)
        self.zero, self.one, self.run, self.block = (e.dim(n) for n in (0, 1, RUN, BLOCK))
        self.table = self._listed()
        self.buffer = e.before.emit("local", (), {"size": BLOCK}, (PointerType(I64, "local"),))

    def write(self) -> tuple[DimLike, DimLike]:
        e, piece = self.e, self.inst.attr("piece")
        e.invariants(self.work.pairs)
        pieces: DimLike = 1
        size, length = e.dim(self.length), self.length
        number, head = Value(INDEX, "piece"), Builder(e.loc)
        first, end, done, following = self.zero, size, self.zero, e.dim(e.sizes[0])
        if piece is not None:
            (pieces,) = shape_of(self.inst.args[1].type)
            length = piece
            first = head.emit("multiply", (number, e.dim(piece)), name="first")
            end = self._least(head, head.emit("add", (first, e.dim(piece))), size)
            starts = e.whole(self.inst.args[1]).pointer
            done = self.index(head, head.emit("load", (starts, number)))
            last = e.dim(pieces + (-1))
            next_one = self._least(head, head.emit("add", (number, self.one)), last)
            behind = self.index(head, head.emit("load", (starts, next_one)))
            following = head.emit("where", (head.emit("less", (number, last)), behind, following))
        # A piece without a true element is not looked at.
        end = head.emit("where", (head.emit("less", (done, following)), end, first))
        block, before, inner = Value(INDEX, "block"), Value(INDEX, "done"), Builder(e.loc)
        last = self._least(inner, inner.emit("add", (block, self.block)), end)
        rest = self._full(inner, block, last)
        between = inner.emit("add", (before, inner.emit("subtract", (rest, block))))
        # What follows each other in the mask does so in memory, too.
        self._iterations(inner, before, between, lambda body, k: self._int(body, body.emit("add", (block, k))))
        behind = inner.emit("add", (between, self._found(inner, rest, last)))
        self._iterations(inner, between, behind, lambda body, k: body.emit("load", (self.buffer, k)))
        inner.emit("yield", (behind,))
        region = Block((block, before), inner.take())
        head.inst("for", (first, end, self.block, done), {"over": "serial"}, (INDEX,), (region,))
        head.emit("yield")
        region = Block((number,), head.take())
        e.before.inst("for", (self.zero, e.dim(pieces), self.one), {"over": "parallel"}, (), (region,))
        e.before.emit("return")
        return pieces, length

    def _full(self, builder: Builder, first: Value, end: Value) -> Value:
        """The first run of a block of which some element is false, or what is left behind the last run."""
        at, behind = Value(INDEX, "full"), Value(INDEX, "full")
        with builder.nested() as asked:
            there = builder.emit("add", (at, self.run))
            with builder.nested() as inside:
                word = builder.emit("packed", (builder.emit("load", (self.mask, at), {"align": 1, "lanes": RUN}),))
                builder.emit("yield", (builder.emit("equal", (word, self._bits((1 << RUN) - 1))),))
            with builder.nested() as outside:
                builder.emit("yield", (builder.const(False, scalar(BOOL)),))
            sides = (Block((), tuple(inside)), Block((), tuple(outside)))
            fits = builder.emit("less_equal", (there, end))
            on = builder.inst("if", (fits,), {}, (scalar(BOOL),), sides).results[0]
            builder.emit("yield", (on, at))
        with builder.nested() as passed:
            builder.emit("yield", (builder.emit("add", (behind, self.run)),))
        regions = (Block((at,), tuple(asked)), Block((behind,), tuple(passed)))
        return builder.inst("while", (first,), {}, (INDEX,), regions).results[0]

    def _iterations(
        self, builder: Builder, first: Value, end: Value, position: Callable[[Builder, Value], Value]
    ) -> None:
        """What the kernel computes of chosen elements, of which `position` gives the position of the first, second ..."""
        e, i = copy_of(self.e, self.e.before), Value(INDEX, "i")
        e.loop_index = [i]
        there = position(e.inside, e.inside.emit("subtract", (i, first)))
        there.name = self.inst.result.name
        self.compute(e, there)
        e.inside.emit("yield")
        builder.inst("for", (first, end, self.one), {"over": "serial"}, (), (Block((i,), e.inside.take()),))

    def _found(self, builder: Builder, first: Value, end: Value) -> Value:
        """How many elements of a block are true, whose positions are in the buffer then."""
        rest = builder.emit("remainder_truncated", (builder.emit("subtract", (end, first)), self.run))
        whole = builder.emit("subtract", (end, rest))
        place, inner = Value(INDEX, "place"), Builder(self.e.loc)
        at = Value(INDEX, "run")
        inner.emit("yield", (self._run(inner, at, place),))
        region = Block((at, place), inner.take())
        bounds = (first, whole, self.run, self.zero)
        count = builder.inst("for", bounds, {"over": "serial"}, (INDEX,), (region,)).results[0]

        at, place, inner = Value(INDEX, "at"), Value(INDEX, "place"), Builder(self.e.loc)
        inner.emit("yield", (self._store(inner, at, place),))
        region = Block((at, place), inner.take())
        bounds = (whole, end, self.one, count)
        return builder.inst("for", bounds, {"over": "serial"}, (INDEX,), (region,)).results[0]

    def _run(self, builder: Builder, at: Value, place: Value) -> Value:
        """Store the positions of the true elements of a run; the place behind them."""
        word = builder.emit("packed", (builder.emit("load", (self.mask, at), {"align": 1, "lanes": RUN}),))
        count = self.index(builder, builder.emit("ones", (word,)))

        def few(inner: Builder) -> None:
            state = word
            for number in range(FEW):
                lowest = self.index(inner, inner.emit("lowest_one", (state,)))
                there = inner.emit("add", (place, self.e.dim(number)))
                inner.inst("store", (self.buffer, there, self._int(inner, inner.emit("add", (at, lowest)))))
                state = inner.emit("bitwise_and", (state, inner.emit("subtract", (state, self._bits(1)))))

        def many(inner: Builder) -> None:
            there = place
            for first in range(0, RUN, GROUP):
                bits = inner.emit("shift_right_raw", (word, self._bits(first)))
                bits = inner.emit("bitwise_and", (bits, self._bits((1 << GROUP) - 1)))
                row = self.index(inner, inner.emit("multiply", (bits, self._bits(GROUP))))
                positions = inner.emit("load", (self.table, row), {"align": 8, "lanes": GROUP})
                k, offset, body = Value(INDEX, "k"), Value(scalar(I64)), Builder(self.e.loc)
                begin = self._int(inner, inner.emit("add", (at, self.e.dim(first))))
                body.emit("yield", (body.emit("add", (offset, begin)),))
                region = Block((k, offset), body.take())
                made = inner.inst("lanes", (positions,), {"lanes": GROUP}, (positions.type,), (region,)).results[0]
                inner.inst("store", (self.buffer, there, made), {"align": 8})
                there = inner.emit("add", (there, self.index(inner, inner.emit("ones", (bits,)))))

        def some(inner: Builder) -> None:
            self._choose(inner, inner.emit("less_equal", (count, self.e.dim(FEW))), few, many)

        self._choose(builder, builder.emit("less", (self.zero, count)), some, lambda inner: None)
        return builder.emit("add", (place, count))

    def _listed(self) -> Value:
        """For each way in which the elements of a group may be true, the places of those that are, and zeros behind them."""
        builder = self.e.before
        rows, size = 1 << GROUP, (1 << GROUP) * GROUP
        table = builder.emit("local", (), {"size": size}, (PointerType(I64, "local"),))
        for row in range(rows):
            places = [bit for bit in range(GROUP) if row >> bit & 1]
            for number in range(GROUP):
                place = builder.const(places[number] if number < len(places) else 0, scalar(I64))
                builder.inst("store", (table, self.e.dim(row * GROUP + number), place))
        return table

    def _bits(self, number: int) -> Value:
        return self.e.before.const(number, scalar(U64))

    def _int(self, builder: Builder, index: Value) -> Value:
        return builder.emit("convert_raw", (index,), {}, (scalar(I64),))

    def _store(self, builder: Builder, at: Value, place: Value) -> Value:
        """Store a position, and the place of the next one: the same where the element is not true."""
        builder.inst("store", (self.buffer, place, self._int(builder, at)))
        truth = builder.emit("cast", (builder.emit("load", (self.mask, at)),), {}, (scalar(I64),))
        return builder.emit("add", (place, self.index(builder, truth)))

    def _choose(
        self, builder: Builder, condition: Value, yes: Callable[[Builder], None], no: Callable[[Builder], None]
    ) -> None:
        sides: list[Block] = []
        for write in (yes, no):
            inner = Builder(self.e.loc)
            write(inner)
            inner.emit("yield")
            sides.append(Block((), inner.take()))
        builder.inst("if", (condition,), {}, (), tuple(sides))

    def _least(self, builder: Builder, first: Value, second: Value) -> Value:
        return builder.emit("where", (builder.emit("less", (first, second)), first, second))
