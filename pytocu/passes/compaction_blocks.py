"""The loops of kernels that find the true elements of a mask, on a GPU.

Blocks of threads take pieces of the mask, each of which knows how many elements are true before it.  A piece is walked in
chunks of which each thread has a run of bools: the threads count, add up what those before them have, and store the places
of their true elements one behind the other in shared memory.  From there each place is an iteration of the kernel, whose
results neighbouring threads store side by side.  The order is that of the mask, whichever block comes first.
"""

from __future__ import annotations

from collections.abc import Callable

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Inst, Value
from pytocu.ir.dims import DimLike
from pytocu.ir.types import BOOL, I32, I64, INDEX, PointerType, VectorType, scalar, shape_of
from pytocu.passes import schedule
from pytocu.passes.elements import Elements
from pytocu.passes.loop_parts import MaskLoops, Work, copy_of, loop

RUN = 16
"""Bools of a thread, which it loads as one vector."""

WARP = 32
"""Threads that exchange numbers without memory."""

CHUNK = schedule.BLOCK * RUN
"""Elements of the mask that a block looks at together."""


def write(e: Elements, work: Work, inst: Inst) -> DimLike:
    """Write the loops to `e.before`: how many threads there are."""
    return _Writer(e, work, inst).write()


class _Writer(MaskLoops):
    """Writes the loops of one kernel."""

    def __init__(self, e: Elements, work: Work, inst: Inst):
        super().__init__(e, work, inst)
        before = e.before
        self.zero, self.one, self.run = (e.dim(n) for n in (0, 1, RUN))
        self.thread = before.emit("thread_index", name="thread")
        self.warp = before.emit("divide_truncated", (self.thread, e.dim(WARP)), name="warp")
        self.lane = before.emit("remainder_truncated", (self.thread, e.dim(WARP)), name="in_warp")
        self.own = before.emit("multiply", (self.thread, self.run), name="own")
        self.totals = before.emit("shared", (), {"size": schedule.BLOCK // WARP}, (PointerType(I32, "shared"),))
        self.buffer = before.emit("shared", (), {"size": CHUNK + CHUNK // RUN}, (PointerType(I32, "shared"),))
        self.fit = before.emit("aligned", (self.mask,), {"bytes": (RUN,)}, name="fit")

    def write(self) -> DimLike:
        e, piece = self.e, self.inst.attr("piece")
        e.invariants(self.work.pairs)
        (pieces,) = shape_of(self.inst.args[1].type)
        starts = e.whole(self.inst.args[1]).pointer
        number, head = Value(INDEX, "piece"), Builder(e.loc)
        first = head.emit("multiply", (number, e.dim(piece)), name="first")
        behind, size = head.emit("add", (first, e.dim(piece))), e.dim(self.length)
        end = head.emit("where", (head.emit("less", (behind, size)), behind, size), name="end")
        done = head.emit("convert_raw", (head.emit("load", (starts, number)),), {}, (INDEX,))
        chunk, before, inner = Value(INDEX, "chunk"), Value(INDEX, "done"), Builder(e.loc)
        count = self._found(inner, chunk, end)
        self._iterations(inner, chunk, before, count)
        inner.emit("yield", (inner.emit("add", (before, count)),))
        region = Block((chunk, before), inner.take())
        head.inst("for", (first, end, e.dim(CHUNK), done), {"over": "serial"}, (INDEX,), (region,))
        bounds = e.before.emit("block_index"), e.dim(pieces), e.before.emit("block_count")
        loop(e.before, head, bounds, "serial", number)
        e.before.emit("return")
        return pieces * schedule.BLOCK

    def _found(self, builder: Builder, chunk: Value, end: Value) -> Value:
        """How many elements of a chunk are true, whose places in it are in the buffer then."""
        e = self.e
        bools, own = self._loaded(builder, chunk, end)
        before, total = self._in_warp(builder, own)
        leads = e.before.emit("equal", (self.lane, self.zero))
        self._where(builder, leads, lambda inner: inner.inst("store", (self.totals, self.warp, total)))
        # Whoever still read the last chunk's places is done with them, too.
        builder.emit("barrier")
        place, count = before, e.before.const(0, scalar(I32))
        nothing = count
        for number in range(schedule.BLOCK // WARP):
            there = builder.emit("load", (self.totals, e.dim(number)))
            earlier = e.before.emit("less", (e.dim(number), self.warp))
            place = builder.emit("add", (place, builder.emit("where", (earlier, there, nothing))))
            count = builder.emit("add", (count, there))
        k, true, at, inner = Value(INDEX, "k"), Value(scalar(BOOL)), Value(scalar(I32), "place"), Builder(e.loc)

        def store(body: Builder) -> None:
            offset = body.emit("convert_raw", (body.emit("add", (self.own, k)),), {}, (scalar(I32),))
            body.inst("store", (self.buffer, self._padded(body, self.index(body, at)), offset))

        self._where(inner, true, store)
        inner.emit("yield", (inner.emit("add", (at, inner.emit("convert_raw", (true,), {}, (scalar(I32),)))),))
        region = Block((k, true, at), inner.take())
        builder.inst("lanes", (bools, place), {"lanes": RUN}, (scalar(I32),), (region,))
        builder.emit("barrier")
        return self.index(builder, count)

    def _loaded(self, builder: Builder, chunk: Value, end: Value) -> tuple[Value, Value]:
        """The bools of a thread, false behind the end of the piece, and how many are true."""
        e = self.e
        at = builder.emit("add", (chunk, self.own))
        room = builder.emit("subtract", (end, at), name="room")
        whole = builder.emit("less_equal", (self.run, room))
        together = builder.emit("where", (whole, self.run, self.zero))
        alone = builder.emit("where", (whole, self.zero, room))
        attrs = {"lanes": RUN, "width": RUN, "step": RUN, "align": RUN}
        vector = builder.emit("load", (self.mask, at, together, self.fit), attrs)
        attrs = {"lanes": RUN, "width": 1, "step": 1, "align": 1}
        single = builder.emit("load", (self.mask, at, alone), attrs)
        k, first, second, count = Value(INDEX, "k"), Value(scalar(BOOL)), Value(scalar(BOOL)), Value(scalar(I32))
        inner = Builder(e.loc)
        true = inner.emit("bitwise_or", (first, second))
        inner.emit("yield", (true, inner.emit("add", (count, inner.emit("convert_raw", (true,), {}, (scalar(I32),))))))
        region = Block((k, first, second, count), inner.take())
        args = (vector, single, e.before.const(0, scalar(I32)))
        made = builder.inst("lanes", args, {"lanes": RUN}, (VectorType(BOOL, RUN), scalar(I32)), (region,)).results
        return made[0], made[1]

    def _in_warp(self, builder: Builder, own: Value) -> tuple[Value, Value]:
        """What the threads before a thread have, and all threads of its warp, from what each has."""
        e = self.e
        before, total = e.before.const(0, scalar(I32)), own
        bit = 1
        while bit < WARP:
            high = e.before.emit("divide_truncated", (self.lane, e.dim(bit))) if bit > 1 else self.lane
            later = e.before.emit("equal", (e.before.emit("remainder_truncated", (high, e.dim(2))), self.one))
            other = builder.emit("shuffle_xor", (total,), {"mask": bit})
            before = builder.emit("where", (later, builder.emit("add", (before, other)), before))
            total = builder.emit("add", (total, other))
            bit *= 2
        return before, total

    def _iterations(self, builder: Builder, chunk: Value, done: Value, count: Value) -> None:
        """What the kernel computes of the elements whose places are in the buffer."""
        e, k = copy_of(self.e, self.e.before), Value(INDEX, "k")
        i = e.inside.emit("add", (done, k), name="i")
        e.loop_index = [i]
        offset = e.inside.emit("load", (self.buffer, self._padded(e.inside, k)))
        there = e.inside.emit("add", (chunk, self.index(e.inside, offset)))
        there = e.inside.emit("convert_raw", (there,), {}, (scalar(I64),), name=self.inst.result.name)
        self.compute(e, there)
        loop(builder, e.inside, (self.thread, count, e.dim(schedule.BLOCK)), "serial", k)

    def _padded(self, builder: Builder, place: Value) -> Value:
        """Where the buffer has a place: runs of true elements, which threads store at once, begin in different banks."""
        return builder.emit("add", (place, builder.emit("divide_truncated", (place, self.run))))

    def _where(self, builder: Builder, condition: Value, write: Callable[[Builder], object]) -> None:
        inner, other = Builder(self.e.loc), Builder(self.e.loc)
        write(inner)
        inner.emit("yield")
        other.emit("yield")
        builder.inst("if", (condition,), {}, (), (Block((), inner.take()), Block((), other.take())))
