"""Loops of a GPU's kernels that reduce rows along which memory lies.

A thread has a *share* of its row at once: all of it is loaded before the first element is used, so
that many bytes are on their way.  A share is made of groups that lie `lanes` groups apart.  Where
a row is a whole number of 16-byte vectors the elements of a group fill one, otherwise a group is one
element.  Which elements a thread has, and the order in which it combines them, depend on the length
alone: where memory does not begin at a multiple of 16 bytes, the same elements are loaded one by one.

Where all of a row is in the threads' registers at once, what later sweeps need stays there: the
row is read once, and no element is computed twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Value
from pytocu.ir.dims import Dim, DimLike, modulo
from pytocu.ir.types import INDEX, DType, Type, VectorType, element, scalar
from pytocu.passes.accesses import operands
from pytocu.passes.affine import Affine
from pytocu.passes.elements import Target
from pytocu.passes.reduce_loops import Pair, Reduced, Rows
from pytocu.record import fresh

KEPT_BYTES = 256
"""What a thread keeps of a row in registers at most."""

ACCESS_BYTES = 16
"""The largest access of a thread."""

_SMALL = ("cast", "copy", "as_array", "positive")
"""Operations that are computed again rather than kept: their operands are no larger than their results."""

_DEPENDENT = ("require", "gather", "concatenate")
"""What only elements that exist may compute."""

Store = tuple[Pair, Target]


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
    """

    each: int = 1
    width: int = 1
    whole: bool = False
    stores: list[Store] = fresh(default_factory=list)
    keep: list[set[Pair]] = fresh(default_factory=list)
    kept: dict[Pair, Value] = fresh(default_factory=dict)
    sweeps: int = 0
    fit: Value | None = None

    def write(self, roots: Sequence[Pair], targets: Sequence[Target]) -> DimLike:
        """All loops; the number of threads they want."""
        if len(self.e.sizes) != self.loops + 1:
            # What is one row here are several in memory.
            self.width = 1
        self.stores = list(zip(roots, targets, strict=True))
        return Rows.write(self, roots, targets)

    def _own(self, lane: Value) -> Value:
        return self.body.emit("multiply", (lane, self.e.dim(self.width))) if self.width > 1 else lane

    def _extent(self) -> None:
        Rows._extent(self)
        self._plan()
        self.kept = {}
        self.fit = self._aligned()

    # What stays in registers.

    def _plan(self) -> None:
        """Decide what each sweep leaves to later ones."""
        levels = sorted({self.levels[p] for p in self.pairs if self._is_reduced(p)})
        needed = [[q for p in self.pairs if self._is_reduced(p) and self.levels[p] == level
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
        if size > KEPT_BYTES or not self.whole:
            self.whole = False
            self.keep = [set() for _ in needed]

    def _is_reduced(self, pair: Pair) -> bool:
        return pair[0].inst is not None and pair[0].inst.op.kind == "reduce"

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
        if self.whole:
            return self._share(self.body, lower, needed, insts, start, stores, keep)
        carried = [Value(v.type) for v in start]
        j, inner = Value(INDEX, "j"), Builder(e.loc)
        inner.emit("yield", self._share(inner, j, needed, insts, carried, stores, keep))
        region = Block((j, *carried), inner.take())
        bounds = (lower, upper, e.dim(self.lanes * self.each))
        types = [v.type for v in start]
        return self.body.inst("for", (*bounds, *start), {"over": "serial"}, types, (region,)).results

    def _share(
        self,
        builder: Builder,
        first: Value,
        needed: Sequence[Pair],
        insts: Sequence[Reduced],
        states: Sequence[Value],
        stores: Sequence[Store],
        keep: set[Pair],
    ) -> Sequence[Value]:
        """A share whose first element has an index: it is loaded, and each element goes into the states or is stored."""
        e = self.e
        assert self.extent is not None
        room = builder.emit("subtract", (self.extent[1], first), name="room")
        computed, taken = self._reach(needed, set(self.kept))
        shares = {p: v for p, v in self.kept.items() if p in taken}
        shares |= {p: self._load(builder, p, first, room) for p in self.pairs if p in computed and self._is_loaded(p)}
        made = [p for p in self._reach(needed, set(shares))[0] if p in keep]
        together = [(p, t) for p, t in stores if self._is_vector(t.offset)]
        single = [(p, t) for p, t in stores if not self._is_vector(t.offset)]
        given = [Value(scalar(element(p[0].type)), p[0].name) for p in shares]
        carried = [Value(v.type) for v in states]
        types: list[Type] = [scalar(element(p[0].type)) for p in (*made, *(p for p, _ in together))]

        def write(inner: Builder, i: Value, exists: Value) -> Sequence[Value]:
            e.made.update(zip(shares, given, strict=True))
            pending = [p for p in self._closure(needed) if self.moving[p]]

            def compute() -> list[Value]:
                for pair in pending:
                    e.made[pair] = e.write(inner, *pair)
                return [*(e.made[p] for p in made), *(e.made[p] for p, _ in together), *self._combined(inner, insts, carried)]

            if single or any(p[0].inst is not None and p[0].inst.op.name in _DEPENDENT for p in pending):

                def existing() -> list[Value]:
                    results = compute()
                    for pair, target in single:
                        inner.inst("store", (target.pointer, e.address(inner, target.offset), e.made[pair]))
                    return results

                return self._where_exists(inner, exists, existing, types, carried)
            results = compute()
            chosen = zip(results[len(types) :], carried, strict=True)
            return [*results[: len(types)], *(inner.emit("where", (exists, new, old)) for new, old in chosen)]

        vectors = [VectorType(element(t), self.each) for t in types]
        args, params = [*shares.values(), *states], [*given, *carried]
        results = self._lanes(builder, (first, room), args, params, [*vectors, *(v.type for v in states)], write)
        for (_, target), value in zip(together, results[len(made) :], strict=False):
            at = self._address(builder, first, target.offset)
            builder.inst("store", (target.pointer, at, value, room, *self._fit()), self._groups(element(value.type)))
        everything = self.kept | shares | dict(zip(made, results, strict=False))
        self.kept = {p: v for p, v in everything.items() if p in keep}
        return results[len(vectors) :]

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
            exists = inner.emit("less", (step, room), name="exists")
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
        self.e.loop_index = [*self.e.loop_index[: self.loops], *self._decompose(builder, i, self.e.sizes[self.loops :])]

    def _where_exists(
        self,
        builder: Builder,
        exists: Value,
        write: Callable[[], Sequence[Value]],
        types: Sequence[Type],
        carried: Sequence[Value] = (),
    ) -> Sequence[Value]:
        """What is written where the element exists; elsewhere zeros, and the carried values as they were."""
        with self._position(builder), builder.nested() as yes:
            builder.emit("yield", write())
        zeros = [self.e.before.const(element(t).numpy.type(0).item(), t) for t in types]
        with builder.nested() as no:
            builder.emit("yield", [*zeros, *carried])
        types = [*types, *(v.type for v in carried)]
        return builder.inst("if", (exists,), {}, types, (Block((), tuple(yes)), Block((), tuple(no)))).results

    # Memory.

    def _is_loaded(self, pair: Pair) -> bool:
        """Whether a share is loaded ahead: where its elements lie does not depend on other elements."""
        return pair[0] in self.e.memory and all(part.name != "element" for part, _ in self._offset(pair).parts)

    def _load(self, builder: Builder, pair: Pair, first: Value, room: Value) -> Value:
        """A share of an array, with zeros for elements that do not exist."""
        e = self.e
        pointer, offset = e.memory[pair[0]].pointer, self._offset(pair)
        dtype = element(pointer.type)
        name = f"{pointer.name}_share"
        if self._is_vector(offset):
            at = self._address(builder, first, offset)
            attrs = {"lanes": self.each, **self._groups(dtype)}
            return builder.emit("load", (pointer, at, room, *self._fit()), attrs, name=name)

        def one(inner: Builder, i: Value, exists: Value) -> Sequence[Value]:
            load = lambda: [inner.emit("load", (pointer, e.address(inner, offset)))]  # noqa: E731
            return self._where_exists(inner, exists, load, (scalar(dtype),))

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
