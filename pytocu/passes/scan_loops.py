"""Loops of kernels that scan: sweeps over a row in which running values are computed.

On a CPU, and where neighbouring threads have neighbouring columns, one thread walks its row element
by element, in NumPy's order, and keeps the state of each scan.

Elsewhere the lanes of a row scan a share of it together, which is in their registers: each lane
scans the elements of its groups, the totals of the groups that lie side by side are scanned in a
warp by exchanges and across the warps through shared memory, and the state behind them is carried to
the next groups.  The order depends on the length of the row and on the code, never on the device.

Reductions of what is scanned, and results as long as the row, are computed in the same sweep.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Inst, Value
from pytocu.ir.expander import Expander
from pytocu.ir.reductions import REDUCTIONS, neutral
from pytocu.ir.types import INDEX, PointerType, VectorType, element, scalar
from pytocu.passes.accesses import operands
from pytocu.passes.elements import Elements
from pytocu.passes.reduce_loops import WARP, Pair, Reduced, Rows
from pytocu.passes.register_loops import Registers, Store
from pytocu.passes.spaces import is_scan
from pytocu.passes.stretch_loops import Stretches
from pytocu.record import fresh

FIRST_MATTERS = ("minimum", "maximum", "fmin", "fmax")
"""Rows that tell their operands apart: of two zeros, or two NaN, the first is the result."""


class ScanRows(Rows):
    """Writes the loops of a kernel whose rows have one thread each; see `Rows`."""

    def _reduce(self, pairs: Sequence[Pair]) -> None:
        needed = [p for pair in pairs for p in operands(*pair, self.e.ndim)]
        if self._scans(needed):
            Rows._reduce(self, pairs)
        else:
            super()._reduce(pairs)

    def _states(self, insts: Sequence[Reduced], start: Sequence[Value]) -> Sequence[Value]:
        needed = self._needed(insts)
        return self._walk(needed, insts, start, ()) if self._scans(needed) else super()._states(insts, start)

    def _sweep(self, stores: Sequence[Store]) -> None:
        needed = [pair for pair, _ in stores]
        if self._scans(needed):
            self._walk(needed, (), (), stores)
        else:
            super()._sweep(stores)

    def _scans(self, needed: Sequence[Pair]) -> list[Pair]:
        return [pair for pair in self._closure(needed) if is_scan(pair[0])]

    def _walk(
        self, needed: Sequence[Pair], insts: Sequence[Reduced], start: Sequence[Value], stores: Sequence[Store]
    ) -> Sequence[Value]:
        """A sweep with scans: reductions, or stores."""
        e = self.e
        scans = self._scans(needed)
        self._once(needed)
        begin = [beginning(e, pair) for pair in scans]
        states, running = [Value(v.type) for v in start], [Value(v.type) for v in begin]
        state = dict(zip(scans, running, strict=True))
        pending = [p for p in self._closure(needed) if self.moving[p]]
        with self._forgotten():
            e.inside = inner = Builder(e.loc)
            j = Value(INDEX, "j")
            e.loop_index = [*e.loop_index[: self.loops], *self._decompose(inner, j, e.sizes[self.loops :])]
            for pair in pending:
                if pair in state:
                    e.made[pair], state[pair] = step(e, inner, pair, state[pair], j)
                else:
                    e.made[pair] = e.write(inner, *pair)
            following = self._combined(inner, insts, states)
            for pair, target in stores:
                e.store_element(inner, pair, target)
            inner.emit("yield", (*following, *state.values()))
        return self._finish(j, (*states, *running), (*start, *begin), inner)[: len(start)]


class ScanStretches(ScanRows, Stretches):
    """The same on a CPU, where reductions of other values are swept in stretches."""


class ScanRegisters(Registers):
    """Writes the loops of a kernel whose rows have several lanes, or lie in registers; see `Registers`.

    Attributes
    ----------
    running : dict
        The states of the scans of a sweep before the share that is written.
    """

    running: dict[Pair, Value] = fresh(default_factory=dict)

    def _keepable(self, pair: Pair) -> bool:
        return is_scan(pair[0]) or Registers._keepable(self, pair)

    def _walk(
        self, needed: Sequence[Pair], insts: Sequence[Reduced], start: Sequence[Value], stores: Sequence[Store]
    ) -> Sequence[Value]:
        e = self.e
        computed = set(self._reach(needed, set(self.kept))[0])
        scans = [pair for pair in self.pairs if pair in computed and is_scan(pair[0])]
        if not scans:
            return Registers._walk(self, needed, insts, start, stores)
        self._once(needed)
        begin = [beginning(e, pair) for pair in scans]
        keep, self.sweeps = self.keep[self.sweeps], self.sweeps + 1
        if self.whole:
            assert self.extent is not None
            self.running = dict(zip(scans, begin, strict=True))
            return self._share(self.body, self.extent[0], needed, insts, start, stores, keep)
        states, running = [Value(v.type) for v in start], [Value(v.type) for v in begin]
        self.running = dict(zip(scans, running, strict=True))
        assert self.bounds is not None and self.lane is not None
        tile, inner = Value(INDEX, "tile"), Builder(e.loc)
        # Lanes behind the end go round with the others.
        first = inner.emit("add", (tile, self._own(self.lane)), name="first")
        following = self._joined(inner, insts, states, self._share(inner, first, needed, insts, start, stores, keep))
        inner.emit("yield", (*following, *self.running.values()))
        region = Block((tile, *states, *running), inner.take())
        bounds = (*self.bounds, e.dim(self.lanes * self.each))
        types = [v.type for v in (*start, *begin)]
        ends = self.body.inst("for", (*bounds, *start, *begin), {"over": "serial"}, types, (region,)).results
        return ends[: len(start)]

    def _scanned(
        self, builder: Builder, begin: tuple[Value, Value], computed: Sequence[Pair], shares: dict[Pair, Value]
    ) -> dict[Pair, Value]:
        """The scans among what is computed of a share, which begins at an index and has room for so many elements."""
        found: dict[Pair, Value] = {}
        for pair in computed:
            if is_scan(pair[0]):
                found[pair] = self._scan(builder, begin, pair, shares | found)
        return found

    def _scan(self, builder: Builder, begin: tuple[Value, Value], pair: Pair, shares: dict[Pair, Value]) -> Value:
        """The results of a scan for a share; the state behind it is that of the next one."""
        e, inst = self.e, _inst(pair)
        source = operands(*pair, e.ndim)[0]
        builder.loc = inst.loc
        dtype = element(pair[0].type)
        count = self.each // self.width
        elements = self._elements(builder, begin, inst, source, shares)
        values = [Value(scalar(dtype)) for _ in range(self.width)]
        each, groups = VectorType(dtype, self.each), VectorType(dtype, count)
        inner = Builder(inst.loc)
        local = [values[0]]
        for value in values[1:]:
            local.append(combined(inner, inst, local[-1], value))
        inner.emit("yield", (*local, *self._in_warp(inner, inst, local[-1])))
        region = Block((Value(INDEX, "k"), *values), inner.take())
        own, before, total = builder.inst("lanes", (elements,), {"lanes": count}, [each, groups, groups], (region,)).results
        if self.lanes > WARP:
            before, total = self._across_warps(builder, inst, before, total, count)
        inner = Builder(inst.loc)
        k, state = Value(INDEX, "k"), Value(scalar(dtype))
        local, earlier, whole = [Value(scalar(dtype)) for _ in values], Value(scalar(dtype)), Value(scalar(dtype))
        base = combined(inner, inst, state, earlier)
        if inst.attr("exclusive"):
            results = [base, *(combined(inner, inst, base, v) for v in local[:-1])]
        else:
            results = [combined(inner, inst, base, v) for v in local]
            if not is_neutral(inst):
                starts = inner.emit("equal", (inner.emit("add", (begin[0], k)), e.dim(0)))
                results = [inner.emit("where", (starts, v, r)) for v, r in zip(local, results, strict=True)]
        inner.emit("yield", (*results, combined(inner, inst, state, whole)))
        region = Block((k, *local, earlier, whole, state), inner.take())
        args = (own, before, total, self.running[pair])
        made, self.running[pair] = builder.inst("lanes", args, {"lanes": count}, [each, scalar(dtype)], (region,)).results
        made.name = pair[0].name
        return made

    def _elements(
        self, builder: Builder, begin: tuple[Value, Value], inst: Inst, source: Pair, shares: dict[Pair, Value]
    ) -> Value:
        """What is scanned, with neutral elements behind the end of the row."""
        e = self.e
        type = scalar(element(source[0].type))
        taken = self._reach([source], set(shares))[1] if source not in shares else {source}
        args = {p: v for p, v in shares.items() if p in taken}
        given = [Value(scalar(element(p[0].type)), p[0].name) for p in args]

        def write(inner: Builder, i: Value, exists: Value) -> Sequence[Value]:
            e.made.update(zip(args, given, strict=True))
            pending = [p for p in self._closure([source]) if self.moving[p]]
            guarded = self._depends(pending)

            def compute() -> Sequence[Value]:
                for pair in pending:
                    load = lambda pair=pair: e.write(inner, *pair)  # noqa: E731
                    everywhere = guarded or pair[0].inst is not None or pair[0] not in e.memory
                    e.made[pair] = load() if everywhere else self._existing(inner, exists, pair, load)
                return [e.made[source]]

            (made,) = self._where_exists(inner, exists, compute, [type]) if guarded else compute()
            return [inner.emit("where", (exists, made, _neutral(e, inst)))]

        return self._lanes(builder, begin, list(args.values()), given, [VectorType(type.dtype, self.each)], write)[0]

    def _in_warp(self, inner: Builder, inst: Inst, total: Value) -> tuple[Value, Value]:
        """What the lanes before a lane have, and all lanes of the row or of its warp, from each lane's total."""
        before = _neutral(self.e, inst)
        bit = 1
        while bit < min(self.lanes, WARP):
            other = inner.emit("shuffle_xor", (total,), {"mask": bit})
            later = self._has(self._lane_in_warp(), bit)
            before = inner.emit("where", (later, combined(inner, inst, other, before) if bit > 1 else other, before))
            total = self._in_order(inner, inst, later, total, other)
            bit *= 2
        return before, total

    def _across_warps(self, builder: Builder, inst: Inst, before: Value, total: Value, count: int) -> tuple[Value, Value]:
        """The same of all the row's warps, group by group."""
        e = self.e
        assert self.lane is not None
        dtype = element(total.type)
        warps = self.lanes // WARP
        warp = e.before.emit("divide_truncated", (self.lane, e.dim(WARP)), name="warp")
        shared = e.before.emit("shared", (), {"size": warps * count}, (PointerType(dtype, "shared"),))
        # The last share's readers are done before anyone writes again.
        builder.emit("barrier")
        with builder.nested() as insts:
            k, value, inner = Value(INDEX, "k"), Value(scalar(dtype)), Builder(inst.loc)
            at = inner.emit("add", (inner.emit("multiply", (k, e.dim(warps))), warp))
            inner.inst("store", (shared, at, value))
            inner.emit("yield")
            builder.inst("lanes", (total,), {"lanes": count}, [], (Block((k, value), inner.take()),))
            builder.emit("yield")
        with builder.nested() as nothing:
            builder.emit("yield")
        leads = e.before.emit("equal", (self._lane_in_warp(), e.dim(0)))
        builder.inst("if", (leads,), {}, (), (Block((), tuple(insts)), Block((), tuple(nothing))))
        builder.emit("barrier")
        number = e.before.emit("remainder_truncated", (self._lane_in_warp(), e.dim(warps)))
        k, inner = Value(INDEX, "k"), Builder(inst.loc)
        own = Value(scalar(dtype))
        total = inner.emit("load", (shared, inner.emit("add", (inner.emit("multiply", (k, e.dim(warps))), number))))
        # Each warp combines the totals of those before it, all lanes alike.
        first = e.before.emit("less", (number, warp))
        earlier = inner.emit("where", (first, total, _neutral(e, inst)))
        bit = 1
        while bit < warps:
            later = self._has(number, bit)
            total = self._in_order(inner, inst, later, total, inner.emit("shuffle_xor", (total,), {"mask": bit}))
            earlier = self._in_order(inner, inst, later, earlier, inner.emit("shuffle_xor", (earlier,), {"mask": bit}))
            bit *= 2
        inner.emit("yield", (combined(inner, inst, earlier, own), total))
        types = [VectorType(dtype, count)] * 2
        results = builder.inst("lanes", (before,), {"lanes": count}, types, (Block((k, own), inner.take()),)).results
        return results[0], results[1]

    def _lane_in_warp(self) -> Value:
        e = self.e
        assert self.lane is not None
        return e.before.emit("remainder_truncated", (self.lane, e.dim(min(self.lanes, WARP))), name="in_warp")

    def _has(self, number: Value, bit: int) -> Value:
        """Whether a bit of a lane's number is set: what comes from the other lane is before its own."""
        e, before = self.e, self.e.before
        high = before.emit("divide_truncated", (number, e.dim(bit))) if bit > 1 else number
        return before.emit("equal", (before.emit("remainder_truncated", (high, e.dim(2))), e.dim(1)))

    def _in_order(self, inner: Builder, inst: Inst, later: Value, own: Value, other: Value) -> Value:
        """The states of two lanes as one, the same in both."""
        if inst.attr("op") not in FIRST_MATTERS:
            return combined(inner, inst, own, other)
        return combined(inner, inst, inner.emit("where", (later, other, own)), inner.emit("where", (later, own, other)))


def _inst(pair: Pair) -> Inst:
    assert pair[0].inst is not None
    return pair[0].inst


def combined(builder: Builder, inst: Inst, first: Value, second: Value) -> Value:
    """Two states of a scan as one; `first` comes first."""
    builder.loc = inst.loc
    return REDUCTIONS[inst.attr("op")].combine(Expander(builder), (first,), (second,))[0]


def _neutral(e: Elements, inst: Inst) -> Value:
    dtype = element(inst.args[0].type)
    return e.before.const(neutral(REDUCTIONS[inst.attr("op")], dtype)[0], scalar(dtype))


def is_neutral(inst: Inst) -> bool:
    """Whether the state before a row's first element leaves it as it is."""
    return neutral(REDUCTIONS[inst.attr("op")], element(inst.args[0].type))[1]


def beginning(e: Elements, pair: Pair) -> Value:
    """The state of a scan before the first element of a row, or of its piece, which is computed already."""
    inst = _inst(pair)
    return _neutral(e, inst) if inst.attr("pieces") is None else e.made[operands(*pair, e.ndim)[1]]


def step(e: Elements, builder: Builder, pair: Pair, state: Value, at: Value) -> tuple[Value, Value]:
    """What a scan has for the element at a position of the row, and its state behind it."""
    inst = _inst(pair)
    found = e.made[operands(*pair, e.ndim)[0]]
    following = combined(builder, inst, state, found)
    if not is_neutral(inst):
        following = builder.emit("where", (builder.emit("equal", (at, e.dim(0))), found, following))
    result = state if inst.attr("exclusive") else following
    result.name = result.name or pair[0].name
    return result, following
