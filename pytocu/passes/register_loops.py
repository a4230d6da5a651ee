"""Loops of a GPU's kernels that reduce rows along which memory lies.

A thread has a *share* of its row at once: all of it is loaded before the first element is used, so
that many bytes are on their way.  A share is made of groups that lie `lanes` groups apart.  Where
a row is a whole number of 16-byte vectors the elements of a group fill one, otherwise a group is one
element.  Which elements a thread has, and the order in which it combines them, depend on the length
alone: where memory does not begin at a multiple of 16 bytes, the same elements are loaded one by one.

Arrays that every row reads alike are in the caches, and are loaded where they are used.  Where a row
has no others a share is one group, or a few elements.

Where all of a row is in the threads' registers at once, what later sweeps need stays there: the
row is read once, and no element is computed twice.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Value
from pytocu.ir.dims import Dim, DimLike, dim_max, modulo
from pytocu.ir.expander import Expander
from pytocu.ir.reductions import REDUCTIONS
from pytocu.ir.regions import is_region
from pytocu.ir.types import BOOL, INDEX, DType, Type, VectorType, element, scalar
from pytocu.passes import schedule
from pytocu.passes.accesses import operands
from pytocu.passes.affine import Affine, states_positions
from pytocu.passes.elements import Target
from pytocu.passes.reduce_loops import Pair, Reduced, Rows
from pytocu.passes.spaces import is_reduction, is_scan
from pytocu.record import fresh

LOADED_BYTES = 128
"""What a thread loads ahead at most, where nothing stays."""

ACCESS_BYTES = 16
"""The largest access of a thread."""

IN_TURN = 4
"""Elements that a thread computes side by side there, at least: it waits for what is in the caches once for all of them."""

_SMALL = ("cast", "copy", "as_array", "positive")
"""Operations that are computed again rather than kept: their operands are no larger than their results."""

_OF_ZEROS = ("add", "subtract", "multiply", "absolute", "negative", "positive", "convert", "half_to_float")
"""Operations that make zero of zeros, of which either sign adds nothing."""

_DEPENDENT = ("require", "gather", "concatenate")
"""What only elements that exist may compute; so are loops, which may never end for zeros."""

Store = tuple[Pair, Target]


_ROUNDED = ("add", "multiply", "hypot", "logaddexp", "logaddexp2")
"""Reductions of floating-point numbers whose error grows with the roundings that follow each other."""


def is_rounded(item: Reduced) -> bool:
    """Whether a reduction is combined as a tree."""
    inst = item[0]
    return inst.attr("op") in _ROUNDED and element(inst.types[0]).kind in "fc"


class Registers(Rows):
    """Writes the loops of one kernel; see `Rows`.

    Attributes
    ----------
    each : int
        Elements of a share.
    width : int
        Elements of a group, which follow each other.
    whole : bool
        A thread has one share of a row.
    keep : list of set of Pair
        What stays in registers behind each sweep.
    kept : dict
        The shares that stayed.
    sweeps : int
        How many sweeps are written.
    fit : Value or None
        Whether every group begins at a multiple of its size.
    ahead : bool
        There are arrays to load ahead, or scans, whose shares stay in registers.
    certain : bool
        All elements of the share that is written exist.
    """

    each: int = 1
    width: int = 1
    whole: bool = False
    stores: list[Store] = fresh(default_factory=list)
    keep: list[set[Pair]] = fresh(default_factory=list)
    kept: dict[Pair, Value] = fresh(default_factory=dict)
    sweeps: int = 0
    fit: Value | None = None
    ahead: bool = True
    certain: bool = False

    def write(self, roots: Sequence[Pair], targets: Sequence[Target]) -> DimLike:
        """All loops; the number of threads they want."""
        if len(self.e.sizes) != self.loops + 1:
            # What is one row here are several in memory.
            self.width = 1
        self.stores = list(zip(roots, targets, strict=True))
        self.ahead = any(self._is_loaded(p) or is_scan(p[0]) for p in self.pairs)
        if not self.ahead:
            self.whole, self.each = False, min(self.each, max(self.width, IN_TURN))
            if self.lanes > schedule.ALIKE_LANES:
                self.lanes = self.block = schedule.ALIKE_LANES
        return Rows.write(self, roots, targets)

    def _own(self, lane: Value) -> Value:
        return self.body.emit("multiply", (lane, self.e.dim(self.width))) if self.width > 1 else lane

    def _extent(self) -> None:
        Rows._extent(self)
        self._plan()
        self.fit = self._aligned()

    # What stays in registers.

    def _plan(self) -> None:
        """Decide what each sweep leaves to later ones."""
        levels = sorted({self.levels[p] for p in self.pairs if is_reduction(p[0])})
        needed = [[q for p in self.pairs if is_reduction(p[0]) and self.levels[p] == level
                   for q in operands(*p, self.e.ndim)] for level in levels]  # fmt: skip
        needed.append([pair for pair, _ in self.stores if self.moving[pair]])
        self.keep = []
        known: set[Pair] = set()
        size = 0
        for number in range(len(needed)):
            computed, _ = self._reach(needed[number], known)
            found = {p for p in {*computed, *known} if self._keepable(p)}
            known = {p for later in needed[number + 1 :] for p in self._reach(later, found)[1]}
            size = max(size, sum(element(p[0].type).itemsize for p in known) * self.each)
            self.keep.append(known)
        if size > schedule.KEPT_BYTES or not self.whole:
            self.whole = False
            self.keep = [set() for _ in needed]
        if not any(self.keep):
            while self.each > self.width and self.each * self._loaded_bytes(needed) > LOADED_BYTES:
                self.each //= 2
                self.whole = False

    def _loaded_bytes(self, needed: Sequence[Sequence[Pair]]) -> int:
        """Bytes of an element of all arrays that a sweep loads ahead, at most."""
        loads = ([p for p in self._reach(pairs, set())[0] if self._is_loaded(p)] for pairs in needed)
        return max(sum(element(p[0].type).itemsize for p in pairs) for pairs in loads)

    def _reach(self, needed: Iterable[Pair], known: set[Pair]) -> tuple[list[Pair], set[Pair]]:
        """What has to be computed in a row's elements, and what of the known that takes."""
        computed: dict[Pair, None] = {}
        taken: set[Pair] = set()
        stack = list(needed)
        while stack:
            pair = stack.pop()
            if not self.moving.get(pair, False) or pair in computed:
                continue
            if pair in known:
                taken.add(pair)
                continue
            computed[pair] = None
            stack.extend(operands(*pair, self.e.ndim))
        return list(computed), taken

    def _keepable(self, pair: Pair) -> bool:
        inst = pair[0].inst
        if inst is None:
            return pair[0] in self.e.memory
        return inst.op.kind == "elementwise" and inst.op.name not in _SMALL

    # Vectors in memory.

    def _offset(self, pair: Pair) -> Affine:
        return self.e.memory[pair[0]].offset(pair[1], self.e.ndim)

    def _is_vector(self, offset: Affine) -> bool:
        """Whether neighbouring elements of a row are neighbours in memory."""
        one_loop = len(self.e.sizes) == self.loops + 1
        return one_loop and not offset.parts and self.e.merged(offset).coefficients[-1] == 1

    def _align(self, dtype: DType) -> int:
        return min(dtype.itemsize * self.width, ACCESS_BYTES)

    def _aligned(self) -> Value | None:
        """Whether all groups begin at multiples of their size, whichever row it is."""
        e = self.e
        accesses = [(e.memory[p[0]].pointer, self._offset(p)) for p in self.pairs if p[0] in e.memory and self.moving[p]]
        accesses += [(t.pointer, t.offset) for p, t in self.stores if self.moving[p]]
        vectors = list(dict.fromkeys((p, e.merged(o)) for p, o in accesses if self._is_vector(o)))
        if not vectors or self.width == 1:
            return None
        alignment = {p: self._align(element(p.type)) for p, _ in vectors}
        fit = e.before.emit("aligned", list(alignment), {"bytes": tuple(alignment.values())})
        steps: dict[DimLike, None] = {}
        for pointer, offset in vectors:
            count = alignment[pointer] // element(pointer.type).itemsize
            for step in (*offset.coefficients[:-1], offset.offset, self.piece or 0):
                steps[modulo(step, count)] = None
        for rest in steps:
            if isinstance(rest, Dim):
                whole = e.before.emit("equal", (self._remainder(rest), e.dim(0)))
                fit = e.before.emit("bitwise_and", (fit, whole))
            elif rest != 0:
                return e.before.const(False, scalar(element(fit.type)))
        fit.name = "fit"
        return fit

    def _remainder(self, rest: Dim) -> Value:
        ((atom,), _) = rest.terms[0]
        return self.e.before.emit("remainder_truncated", tuple(map(self.e.dim, atom.args)))

    # Sweeps.

    def _states(self, insts: Sequence[Reduced], start: Sequence[Value]) -> Sequence[Value]:
        return self._walk(self._needed(insts), insts, start, [])

    def _sweep(self, stores: Sequence[Store]) -> None:
        self._walk([pair for pair, _ in stores], [], [], stores)

    def _walk(
        self, needed: Sequence[Pair], insts: Sequence[Reduced], start: Sequence[Value], stores: Sequence[Store]
    ) -> Sequence[Value]:
        """One sweep: reductions, or stores."""
        e = self.e
        assert self.extent is not None
        lower, upper = self.extent
        self._once(needed)
        keep, self.sweeps = self.keep[self.sweeps], self.sweeps + 1
        if self.whole and not keep and any(self._is_alike(p) for p in self._reach(needed, set(self.kept))[0]):
            return self._groups_in_turn(lower, needed, insts, start, stores)
        if self.whole:
            return self._share(self.body, lower, needed, insts, start, stores, keep)

        def loop(lower: Value, upper: Value, states: Sequence[Value], certain: bool, few: bool = False) -> Sequence[Value]:
            """Shares from one index to another, which exist for certain or not; the states behind them."""
            carried = [Value(v.type) for v in start]
            j, inner, step = Value(INDEX, "j"), Builder(e.loc), self.lanes * self.each
            # Where all rows read the same, a share is a few elements, and what is left of it is not asked where it is whole.
            room = None if self.ahead else e.dim(step) if certain else inner.emit("subtract", (upper, j), name="room")
            self.certain = certain
            found = self._share(inner, j, needed, insts, start, stores, keep, room)
            self.certain = False
            inner.emit("yield", self._joined(inner, insts, carried, found))
            region, types = Block((j, *carried), inner.take()), [v.type for v in start]
            attrs = {"over": "serial", "few": True} if few else {"over": "serial"}
            return self.body.inst("for", (lower, upper, e.dim(step), *states), attrs, types, (region,)).results

        if self.ahead or self.each == self.width:
            return loop(lower, upper, start, self.each == self.width)
        # Whole shares ask for no element whether it exists; behind the last one an element is a share.
        each = self.each
        step, zero = e.dim(self.lanes * each), e.dim(0)
        end = self.body.emit("subtract", (upper, e.dim(self.lanes * (each - self.width))), name="end")
        span = self.body.emit("subtract", (end, lower))
        span = self.body.emit("where", (self.body.emit("less", (span, zero)), zero, span))
        count = self.body.emit("divide_truncated", (self.body.emit("add", (span, e.dim(self.lanes * each - 1))), step))
        rest = self.body.emit("add", (lower, self.body.emit("multiply", (count, step))), name="rest")
        states = loop(lower, end, start, True)
        self.each = self.width
        states = loop(rest, upper, states, True, few=True)
        self.each = each
        return states

    def _groups_in_turn(
        self,
        first: Value,
        needed: Sequence[Pair],
        insts: Sequence[Reduced],
        start: Sequence[Value],
        stores: Sequence[Store],
    ) -> Sequence[Value]:
        """A share group by group: what all rows read alike takes the registers of one group, and a vector's access."""
        e, body = self.e, self.body
        assert self.extent is not None
        room = body.emit("subtract", (self.extent[1], first), name="room")
        computed, taken = self._reach(needed, set(self.kept))
        shares = {p: v for p, v in self.kept.items() if p in taken}
        shares |= {p: self._load(body, p, first, room) for p in self.pairs if p in computed and self._is_loaded(p)}
        given = {p: [Value(scalar(element(p[0].type))) for _ in range(self.width)] for p in shares}
        carried = [Value(v.type) for v in start]
        group, inner = Value(INDEX, "group"), Builder(e.loc)
        count, self.each = self.each // self.width, self.width
        with self._position(inner):
            step = inner.emit("multiply", (group, e.dim(self.lanes * self.width)))
            begin = inner.emit("add", (first, step))
            left = inner.emit("subtract", (room, step))
            self.kept = {p: self._vector(inner, parts) for p, parts in given.items()}
            found = self._share(inner, begin, needed, insts, start, stores, set(), left)
            inner.emit("yield", self._joined(inner, insts, carried, found))
        self.each *= count
        params = [part for parts in given.values() for part in parts]
        block = Block((group, *params, *carried), inner.take())
        types = [v.type for v in start]
        return body.inst("lanes", (*shares.values(), *start), {"lanes": count}, types, (block,)).results

    def _vector(self, builder: Builder, parts: Sequence[Value]) -> Value:
        """The vector of some elements."""
        inner = Builder(builder.loc)
        inner.emit("yield", parts)
        types = [VectorType(element(parts[0].type), len(parts))]
        return builder.inst("lanes", (), {"lanes": 1}, types, (Block((Value(INDEX, "k"),), inner.take()),)).result

    def _is_alike(self, pair: Pair) -> bool:
        """Whether it is an array that all rows read alike, vector by vector."""
        return self.width > 1 and pair[0] in self.e.memory and not self._is_loaded(pair) and self._is_vector(self._offset(pair))

    def _joined(
        self, builder: Builder, insts: Sequence[Reduced], first: Sequence[Value], second: Sequence[Value]
    ) -> list[Value]:
        """The states of both."""
        made: list[Value] = []
        for inst, _ in insts:
            row = REDUCTIONS[inst.attr("op")]
            builder.loc = inst.loc
            parts = slice(len(made), len(made) + row.states)
            made.extend(row.combine(Expander(builder), tuple(first[parts]), tuple(second[parts])))
        return made

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
        """A share whose first element has an index: it is loaded, and each element goes into the states or is stored.

        The states are those of the share alone, for which `states` are those of nothing: sums of shares are added as
        one, so that fewer roundings follow each other.
        """
        e = self.e
        assert self.extent is not None
        room = left or builder.emit("subtract", (self.extent[1], first), name="room")
        computed, taken = self._reach(needed, set(self.kept))
        shares = {p: v for p, v in self.kept.items() if p in taken}
        loads = [p for p in self.pairs if p in computed and (self._is_loaded(p) or (left and self._is_alike(p)))]
        shares |= {p: self._load(builder, p, first, room) for p in loads}
        shares |= self._scanned(builder, (first, room), [p for p in self.pairs if p in computed], shares)
        reached = self._reach(needed, set(shares))
        made, shares = [p for p in reached[0] if p in keep], {p: v for p, v in shares.items() if p in reached[1] | keep}
        together = [(p, t) for p, t in stores if self._is_vector(t.offset)]
        single = [(p, t) for p, t in stores if not self._is_vector(t.offset)]
        given = [Value(scalar(element(p[0].type)), p[0].name) for p in shares]
        trees = [item for item in insts if is_rounded(item)]
        chain = [item for item in insts if not is_rounded(item)]
        own = dict(zip(insts, self._parts(insts, states), strict=True))
        start = [state for item in chain for state in own[item]]
        carried = [Value(v.type) for v in start]
        leaves = [operands(inst.results[0], at, e.ndim)[0] for inst, at in trees]
        types = [scalar(element(p[0].type)) for p in (*made, *(p for p, _ in together), *leaves)]

        def write(inner: Builder, i: Value, exists: Value) -> Sequence[Value]:
            e.made.update(zip(shares, given, strict=True))
            pending = [p for p in self._closure(needed) if self.moving[p]]
            guarded = bool(single) or self._depends(pending)

            def compute() -> list[Value]:
                for pair in pending:
                    load = lambda pair=pair: e.write(inner, *pair)  # noqa: E731
                    everywhere = guarded or pair[0].inst is not None or pair[0] not in e.memory
                    e.made[pair] = load() if everywhere else self._existing(inner, exists, pair, load)
                for pair, target in single:
                    e.store_element(inner, pair, target)
                elements = [e.made[p] for p in (*made, *(p for p, _ in together), *leaves)]
                return [*elements, *self._combined(inner, chain, carried)]

            results = compute() if not guarded else self._where_exists(inner, exists, compute, types, carried)
            first = len(types) - len(leaves)
            ends = [own[item][0] for item in trees]
            masked = list(results[first : len(types)])
            for number, ((inst, _), leaf, end) in enumerate(zip(trees, leaves, ends, strict=True)):
                if not self.certain and not (inst.attr("op") == "add" and self._is_nothing(leaf, shares)):
                    masked[number] = inner.emit("where", (exists, masked[number], end))
            chosen = results[len(types) :]
            if not guarded and not self.certain:
                chosen = [inner.emit("where", (exists, n, o)) for n, o in zip(chosen, carried, strict=True)]
            return [*results[:first], *masked, *chosen]

        vectors = [VectorType(element(t), self.each) for t in types]
        args, params = [*shares.values(), *start], [*given, *carried]
        results = self._lanes(builder, (first, room), args, params, [*vectors, *(v.type for v in start)], write)
        for (pair, target), value in zip(together, results[len(made) :], strict=False):
            builder.loc = pair[0].inst.loc if pair[0].inst is not None else e.loc
            at = self._address(builder, first, target.offset)
            builder.inst("store", (target.pointer, at, value, room, *self._fit()), self._groups(element(value.type)))
        everything = self.kept | shares | dict(zip(made, results, strict=False))
        self.kept = {p: v for p, v in everything.items() if p in keep}
        behind = self._parts(chain, results[len(types) :])
        found = dict(zip(chain, behind, strict=True))
        for item, vector in zip(trees, results[len(types) - len(leaves) :], strict=False):
            found[item] = (self._tree(builder, item, vector),)
        return [state for item in insts for state in found[item]]

    def _is_nothing(self, pair: Pair, shares: Collection[Pair]) -> bool:
        """Whether an element that does not exist is zero: what is loaded of it is, and what is made of zeros alone."""
        # Not by recursion: an expression may be deeper than Python's stack.
        seen, open_pairs = {pair}, [pair]
        while open_pairs:
            one = open_pairs.pop()
            if one in shares and one[0] in self.e.memory:
                continue
            inst = one[0].inst
            if inst is None or inst.op.name not in _OF_ZEROS:
                return False
            more = [p for p in operands(*one, self.e.ndim) if p not in seen]
            seen.update(more)
            open_pairs += more
        return True

    def _parts(self, insts: Sequence[Reduced], states: Sequence[Value]) -> list[tuple[Value, ...]]:
        """The states of each reduction."""
        rest = iter(states)
        return [tuple(itertools.islice(rest, REDUCTIONS[inst.attr("op")].states)) for inst, _ in insts]

    def _tree(self, builder: Builder, item: Reduced, vector: Value) -> Value:
        """The elements of a share combined as a tree, neighbours first."""
        row, dtype = REDUCTIONS[item[0].attr("op")], element(vector.type)
        count = self.each
        while count > 1:
            count //= 2
            parts = [Value(scalar(dtype)) for _ in range(2)]
            inner = Builder(item[0].loc)
            inner.emit("yield", row.combine(Expander(inner), (parts[0],), (parts[1],)))
            region = Block((Value(INDEX, "k"), *parts), inner.take())
            vector = builder.inst("lanes", (vector,), {"lanes": count}, (VectorType(dtype, count),), (region,)).result
        # What is left is one element, which a carried value takes out of its vector.
        end = self.e.before.const(row.identity((dtype,))[0], scalar(dtype))
        last, state = Value(scalar(dtype)), Value(scalar(dtype))
        inner = Builder(item[0].loc)
        # Where shares follow each other what is before this one is added to it.
        inner.emit("yield", (last,) if self.certain else row.combine(Expander(inner), (state,), (last,)))
        region = Block((Value(INDEX, "k"), last, state), inner.take())
        return builder.inst("lanes", (vector, end), {"lanes": 1}, (scalar(dtype),), (region,)).result

    def _scanned(
        self, builder: Builder, begin: tuple[Value, Value], computed: Sequence[Pair], shares: dict[Pair, Value]
    ) -> dict[Pair, Value]:
        """Shares of running values; here there are none."""
        return {}

    def _depends(self, pending: Sequence[Pair]) -> bool:
        """Whether only elements that exist may be computed."""
        return any(p[0].inst is not None and (p[0].inst.op.name in _DEPENDENT or is_region(p[0].inst)) for p in pending)

    def _lanes(
        self,
        builder: Builder,
        begin: tuple[Value, Value],
        args: Sequence[Value],
        params: Sequence[Value],
        types: Sequence[Type],
        write: Callable[[Builder, Value, Value], Sequence[Value]],
    ) -> Sequence[Value]:
        """A region for each element of a share, which is given the element's index in the row and whether it exists."""
        e = self.e
        first, room = begin
        k, inner = Value(INDEX, "k"), Builder(e.loc)
        with self._position(inner):
            group, rest = k, None
            if self.width > 1:
                width = e.dim(self.width)
                group = inner.emit("divide_truncated", (k, width))
                rest = inner.emit("remainder_truncated", (k, width))
            step = inner.emit("multiply", (group, e.dim(self.lanes * self.width)))
            exists = e.before.const(True, scalar(BOOL)) if self.certain else inner.emit("less", (step, room), name="exists")
            i = inner.emit("add", (first, step))
            i = i if rest is None else inner.emit("add", (i, rest))
            self._stand(inner, i)
            inner.emit("yield", write(inner, i, exists))
        return builder.inst("lanes", args, {"lanes": self.each}, types, (Block((k, *params), inner.take()),)).results

    @contextmanager
    def _position(self, builder: Builder) -> Iterator[None]:
        """Write elements there; what is computed is not known outside."""
        e = self.e
        made, offsets, index, inside = dict(e.made), dict(e.offsets), list(e.loop_index), e.inside
        e.inside = builder
        yield
        e.made.clear()
        e.made.update(made)
        e.offsets, e.loop_index, e.inside = offsets, index, inside

    def _stand(self, builder: Builder, i: Value) -> None:
        # Of an empty row an index is computed too, though nothing is read there.
        lengths = [dim_max(length, 1) for length in self.e.sizes[self.loops :]]
        self.e.loop_index = [*self.e.loop_index[: self.loops], *self._decompose(builder, i, lengths)]

    def _where_exists(
        self,
        builder: Builder,
        exists: Value,
        write: Callable[[], Sequence[Value]],
        types: Sequence[Type],
        carried: Sequence[Value] = (),
    ) -> Sequence[Value]:
        """What is written where the element exists; elsewhere zeros, and the carried values as they were."""
        if self.certain:
            with self._position(builder):
                return write()
        with self._position(builder), builder.nested() as yes:
            builder.emit("yield", write())
        zeros = [self.e.before.const(element(t).numpy.type(0).item(), t) for t in types]
        with builder.nested() as no:
            builder.emit("yield", [*zeros, *carried])
        types = [*types, *(v.type for v in carried)]
        return builder.inst("if", (exists,), {}, types, (Block((), tuple(yes)), Block((), tuple(no)))).results

    def _existing(self, builder: Builder, exists: Value, pair: Pair, load: Callable[[], Value]) -> Value:
        """An element, or zero where there is none."""
        return self._where_exists(builder, exists, lambda: (load(),), (scalar(element(pair[0].type)),))[0]

    # Memory.

    def _is_loaded(self, pair: Pair) -> bool:
        """Whether a share is loaded ahead: rows read different elements, and where these lie depends on no others."""
        if pair[0] not in self.e.memory:
            return False
        offset = self._offset(pair)
        if states_positions(offset):
            return False
        if offset.parts:
            return any(p.moves(self.parallel) for p in pair[1])
        steps = self.e.merged(offset).coefficients
        rows_differ = not self.loops or self.piece is not None or any(c != 0 for c in steps[: self.loops])
        return rows_differ and any(c != 0 for c in steps[self.loops :])

    def _load(self, builder: Builder, pair: Pair, first: Value, room: Value) -> Value:
        """A share of an array, with zeros for elements that do not exist."""
        e = self.e
        pointer, offset = e.memory[pair[0]].pointer, self._offset(pair)
        dtype = element(pointer.type)
        name = f"{pointer.name}_share"
        if self._is_vector(offset):
            at = self._address(builder, first, offset)
            attrs = {"lanes": self.each, **self._groups(dtype)}
            with builder.at(e.places.get(pair) or e.places.get(pair[0], e.loc)):
                return builder.emit("load", (pointer, at, room, *self._fit()), attrs, name=name)

        def one(inner: Builder, i: Value, exists: Value) -> Sequence[Value]:
            inner.loc = e.places.get(pair) or e.places.get(pair[0], e.loc)
            load = lambda: inner.emit("load", (pointer, e.address(inner, offset)))  # noqa: E731
            return (self._existing(inner, exists, pair, load),)

        (made,) = self._lanes(builder, (first, room), (), (), (VectorType(dtype, self.each),), one)
        made.name = name
        return made

    def _address(self, builder: Builder, first: Value, offset: Affine) -> Value:
        """Where a share begins."""
        with self._position(builder):
            self._stand(builder, first)
            return self.e.address(builder, offset)

    def _groups(self, dtype: DType) -> dict[str, int]:
        return {"width": self.width, "step": self.lanes * self.width, "align": self._align(dtype)}

    def _fit(self) -> tuple[Value, ...]:
        return () if self.fit is None else (self.fit,)
