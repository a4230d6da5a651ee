"""Kernels over arrays become loops over elements.

In: host level, each launch with a region of array operations.  Out: each launch with a
region at loop level whose parameters are pointers, scalars and lengths.  Views become index
arithmetic in the loads; nothing else of them remains.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from pytocu.deferred import Deferred
from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Function, Inst, Value, walk
from pytocu.ir.dims import Dim, DimLike, dim_max, floordiv, product, substitute
from pytocu.ir.regions import carried_memories, is_region
from pytocu.ir.rewrite import rewrite
from pytocu.ir.types import I64, INDEX, ArrayType, PointerType, Type, element, is_strided, shape_of
from pytocu.passes.accesses import Index, demand, position, target_index, view_chain, walked, walking_axes, whole_index
from pytocu.passes.affine import Affine, linear_pieces, merge_axes, numbers_in, unit
from pytocu.passes.classes import SHORTEST
from pytocu.passes.context import PassContext
from pytocu.passes.elements import Elements, Memory, Target, reading_places, strides_of
from pytocu.passes.failures import place_words, requirements, stated, with_words
from pytocu.passes.known_positions import Known, equal_lengths, least_lengths
from pytocu.passes.loop_parts import Work
from pytocu.record import Mutable, fresh

_write_compaction = Deferred("pytocu.passes.compaction_loops", "write")
_write_compaction_in_blocks = Deferred("pytocu.passes.compaction_blocks", "write")
_write_pointwise = Deferred("pytocu.passes.pointwise", "write")
_write_sweep = Deferred("pytocu.passes.sweep_loops", "write")
_write_transpose = Deferred("pytocu.passes.transposes", "write")

if TYPE_CHECKING:
    from pytocu.passes.reduce_loops import Rows
    from pytocu.passes.register_loops import Registers
    from pytocu.passes.rolling_rows import RollingRows

# The writers of loops are imported where they are needed: a first call needs one or two of them and waits for all.


def run(function: Function, context: PassContext) -> Function:
    """Lower every launch."""

    def rule(builder: Builder, inst: Inst, args: tuple[Value, ...]) -> Sequence[Value] | None:
        if inst.op.name == "allocate" and inst in buffers:
            type = inst.types[0]
            assert isinstance(type, ArrayType)
            return (builder.emit("allocate", (), {}, (buffers[inst].buffer(type),)),)
        if inst.op.name != "launch":
            return None
        inside = set(walk(inst.regions[0]))
        own = [i for i in needs if i in inside]
        noted = args[-1]
        failures = (noted, words) if own else None
        args = args[: len(args) - bool(own)]
        kernel = _Kernel(builder, inst, args, known[inst], strides=dict(strides), offsets=offsets, failures=failures)
        if inst in copies:
            kernel.edges(copies[inst])
        elif inst in rolled:
            kernel.rolling(rolled[inst], [copy.args for copy in pairs[inst]])
        else:
            kernel.lower()
        for need in own:
            builder.loc = need.loc
            builder.inst("failed", (noted,), {"at": words[need], **stated(need)})
        return ()

    strides, offsets = _shared_symbols(function)
    needs = requirements(function)
    words, count = place_words(needs)
    function = with_words(function, count)
    on_cpu = context.target.kind == "cpu"
    # A GPU's code keeps positions inside of their own axis, whatever was checked.
    equal = equal_lengths(function) if on_cpu else {}
    known = {inst: Known(least, equal=equal.get(inst, ())) for inst, least in least_lengths(function).items()}
    pairs = _copied_behind(function) if on_cpu else {}
    rolled: dict[Inst, RollingRows] = {}
    buffers: dict[Inst, RollingRows] = {}
    copies: dict[Inst, RollingRows] = {}
    for inst, behind in pairs.items():
        if inst.attr("noted", False):
            # What is required is looked at before the argument changes.
            continue
        measured = _Kernel(Builder(inst.loc), inst, inst.args, known[inst], strides=dict(strides), offsets=offsets)
        rolling = measured.measured([copy.args for copy in behind])
        if rolling is None:
            continue
        rolled[inst] = rolling
        for copy in behind:
            made = copy.args[0].inst
            assert made is not None
            buffers[made], copies[copy] = rolling, rolling
    return rewrite(function, rule)


def _copied_behind(function: Function) -> dict[Inst, tuple[Inst, ...]]:
    from pytocu.passes import rolling_rows

    return rolling_rows.find(function)


def _shared_symbols(function: Function) -> tuple[dict[str, tuple[Value, int]], dict[str, tuple[Value, Value]]]:
    """What the symbols of arguments in shared memory stand for: strides by argument and axis, offsets by argument."""
    strides: dict[str, tuple[Value, int]] = {}
    offsets: dict[str, tuple[Value, Value]] = {}
    for inst in function.body.insts:
        if inst.op.name == "memory":
            for name, argument in zip(inst.attr("names"), inst.args, strict=True):
                offsets[f"{name}_at"] = (argument, inst.result)
                strides |= {f"{name}_s{axis}": (argument, axis) for axis in range(len(shape_of(argument.type)))}
    return strides, offsets


class _Kernel(Mutable):
    host: Builder
    inst: Inst
    args: tuple[Value, ...]
    stated: Known
    params: list[Value] = fresh(default_factory=list)
    passed: list[Value] = fresh(default_factory=list)
    memory: dict[Value, Memory] = fresh(default_factory=dict)
    scalars: dict[Value, Value] = fresh(default_factory=dict)
    strides: dict[str, tuple[Value, int]] = fresh(default_factory=dict)
    offsets: Mapping[str, tuple[Value, Value]] = fresh(default_factory=dict)
    failures: tuple[Value, Mapping[Inst, int]] | None = None

    @property
    def known(self) -> dict[str, int]:
        """Lengths that the code is written for."""
        return dict(self.inst.attr("known") or ())

    def lower(self) -> None:
        results = self._inputs()
        roots = self.inst.regions[0].terminator.args
        if self.inst.attr("free") is not None:
            self._sweep(results)
            return
        if self.inst.attr("reduced"):
            self._rows(roots, results)
            return
        work, shape, accesses = self._pointwise(roots, results)
        sizes, groups = merge_axes(shape, accesses)
        elements = self._elements(sizes, groups, len(shape), frozenset(t.pointer for t in work.targets), work.pairs)
        body = _Body(elements)
        across = crossing_axis(accesses, groups)
        each, grid = 1, ()
        compaction = next((i for i in region_insts(self.inst) if i.op.name == "compaction"), None)
        if compaction is not None and self.inst.attr("block"):
            total = _write_compaction_in_blocks(elements, work, compaction)
        elif compaction is not None:
            total, body.cost = _write_compaction(elements, work, compaction)
        elif self.inst.attr("schedule") == "tiles" and across is not None:
            total = _write_transpose(elements, work, across, self.inst.attr("side"))
        elif self.inst.attr("block"):
            total = product(elements.sizes)
            each, grid = _write_pointwise(elements, work)
        elif across is None or is_written_out(sizes):
            total = body.rows(work.roots, work.index, work.pairs, work.targets)
        else:
            total = body.tiles(work.roots, work.index, work.pairs, work.targets, across)
        self._finish(elements, body.cost, total, len(results), each=each, grid=grid)

    def _inputs(self) -> Sequence[Value]:
        """Parameters for what is read; the results."""
        split = len(self.args) - self.inst.attr("outputs")
        for outer, inner in zip(self.args[:split], self.inst.regions[0].params, strict=True):
            self._input(outer, inner)
        return self.args[split:]

    def _pointwise(self, roots: Sequence[Value], results: Sequence[Value]) -> tuple[Work, list[DimLike], list[Affine]]:
        """What an iteration computes, the lengths of the axes, and every linear expression of their indices."""
        shape = [substitute(length, self.known) for length in shape_of(roots[0].type)]
        ndim = len(shape)
        order = walking_axes(results[0])
        index = tuple(unit(order.index(axis), ndim) for axis in range(ndim))
        targets = [self._target(value, index, ndim) for value in results]
        pairs = demand(roots, index, ndim)
        accesses = self._accesses(pairs, targets, ndim)
        return Work(roots, index, self._outer(pairs, roots, index), targets), [shape[axis] for axis in order], accesses

    def measured(self, copies: Sequence[tuple[Value, ...]]) -> RollingRows | None:
        """How rows go through a buffer, given what is copied to where behind it; None where it cannot be."""
        from pytocu.passes import rolling_rows

        results = self._inputs()
        targets = {copy[0]: copy[1] for copy in copies}
        written = [targets.get(value, value) for value in results]
        work, shape, accesses = self._pointwise(self.inst.regions[0].terminator.args, written)
        sizes, groups = merge_axes(shape, accesses)
        if crossing_axis(accesses, groups) is not None:
            return None
        changed: list[tuple[Index, list[Index]]] = []
        most = max(element(source.type).itemsize for source, _ in copies)
        outer = dict(zip(self.inst.regions[0].params, self.args, strict=False))
        for source, view in copies:
            base, _ = view_chain(view)
            if any(view_chain(a)[0] is base and a is not base for a in self.args):
                return None
            root = self.inst.regions[0].terminator.args[list(results).index(source)]
            place = target_index(view, base, position(root, work.index), len(shape))
            changed.append((place, [at for value, at in work.pairs if outer.get(value) is base]))
        return rolling_rows.measure(work.index, shape, (sizes, groups), changed, rolling_rows.TILE_BYTES // most)

    def rolling(self, rolling: RollingRows, copies: Sequence[tuple[Value, ...]]) -> None:
        """Loops that change arrays whose old elements they read; `copies` are temporaries and where they would be copied."""
        results = list(self._inputs())
        old = self.inst.args[len(self.args) - len(results) :]
        buffers: dict[int, Value] = {}
        for source, view in copies:
            number = old.index(source)
            buffers[number] = self._array(results[number], results[number].name).pointer
            results[number] = view
        work, _, _ = self._pointwise(self.inst.regions[0].terminator.args, results)
        elements = self._laid_out(rolling, *(t.pointer for t in work.targets), *buffers.values(), pairs=work.pairs)
        from pytocu.passes import rolling_rows

        total, cost = rolling_rows.write(elements, work, rolling, buffers, _Body(elements).taken_apart)
        self._finish(elements, cost, total, len(results), schedule="rolling")

    def edges(self, rolling: RollingRows) -> None:
        """The loops that copy what waited for all chunks."""
        buffer, view = self.args
        pointer = self._array(buffer, buffer.name).pointer
        target = self._target(view, rolling.at, len(rolling.at))
        elements = self._laid_out(rolling, target.pointer)
        from pytocu.passes import rolling_rows

        total, cost = rolling_rows.edges(elements, pointer, target, rolling, _Body(elements).taken_apart)
        self._finish(elements, cost, total, 1, schedule="edges", why="what other rows read is stored when these are computed")

    def _laid_out(
        self, rolling: RollingRows, *written: Value, pairs: Sequence[tuple[Value, Index]] = ()
    ) -> Elements:
        """The loops of rows that go through a buffer."""
        return self._elements(list(rolling.sizes), list(map(list, rolling.groups)), len(rolling.at), frozenset(written), pairs)

    def _sweep(self, results: Sequence[Value]) -> None:
        """A thread for each free position, with all steps of the loop."""
        free = self.inst.attr("free")
        ndim = len(free)
        index = whole_index(ndim)
        memories: list[Memory] = []
        targets: list[Target | None] = []
        for root, value in zip(self.inst.regions[0].terminator.args, results, strict=True):
            # A number that no step binds leads to what it was before, too, but there is no memory that has it.
            changed = root.inst is not None and root.index in carried_memories(root.inst)
            targets.append(None if changed else self._target(value, index, ndim))
            memories.extend([self._array(value, value.name)] if changed else [])
        # Neighbouring threads lie along the axis along which memory lies.
        kinds = [v.type for v, t in zip(results, targets, strict=True) if t is None]
        column = all(isinstance(type, ArrayType) and type.layout == "F" for type in kinds)
        order = [axis for axis in (reversed(range(ndim)) if column else range(ndim)) if free[axis] != 1]
        sizes = [free[axis] for axis in order]
        written = frozenset([*(m.pointer for m in memories), *(t.pointer for t in targets if t is not None)])
        elements = self._elements(sizes, [[axis] for axis in order], ndim, written, ())
        over = "grid" if self.inst.attr("block") else "parallel"
        work, cost = _write_sweep(elements, self.inst.regions[0], targets, over)
        self._finish(elements, cost, work, len(results))

    def _rows(self, roots: Sequence[Value], results: Sequence[Value]) -> None:
        """Loops of a kernel that reduces."""
        inst = self.inst
        lengths = (*inst.attr("parallel"), *inst.attr("reduced"))
        parallel, ndim = len(inst.attr("parallel")), len(lengths)
        pairs: list[tuple[Value, Index]] = []
        eager: list[tuple[Value, Index]] = []
        wanted: list[tuple[Value, Index]] = []
        targets: list[Target] = []
        for root, place, result in zip(roots, inst.attr("places"), results, strict=True):
            index = tuple(unit(k, ndim) for k in place)
            wanted.append((root, position(root, index)))
            targets.append(self._target(result, index, ndim))
            known = set(pairs)
            pairs.extend(p for p in demand([root], index, ndim) if p not in known)
            known = set(eager)
            eager.extend(p for p in demand([root], index, ndim, chosen=False) if p not in known)
        accesses = self._accesses(pairs, targets, ndim)
        piece = next((i.attr("piece") for i in region_insts(inst) if i.attr("piece") is not None), None)
        # The axis of pieces is a loop of its own, and parallel axes do not mix with reduced ones.
        bounds = sorted({0, 1 if piece is not None else 0, parallel, ndim})
        sizes: list[DimLike] = []
        groups: list[list[int]] = []
        for first, last in itertools.pairwise(bounds):
            parts = [Affine(a.coefficients[first:last], a.offset) for a in accesses]
            made, merged = merge_axes(list(lengths[first:last]), parts)
            sizes.extend(made)
            groups.extend([first + axis for axis in group] for group in merged)
        loops = sum(group[0] < parallel for group in groups)
        elements = self._elements(sizes, groups, ndim, frozenset(t.pointer for t in targets), pairs)
        columns = inst.attr("schedule") == "columns"
        lanes, block = inst.attr("lanes") or 1, inst.attr("block") or 0
        scans = any(i.op.kind == "scan" for i in region_insts(inst))
        if block and columns and scans:
            from pytocu.passes.scan_loops import ScanRows

            rows = ScanRows(elements, parallel, loops, eager, lanes, block, columns, piece)
        elif block:
            share, vector, whole = inst.attr("share"), inst.attr("vector"), inst.attr("whole")
            several = {"several": inst.attr("several")} if inst.attr("several") else {}
            rows = _in_registers(scans, bool(several))(
                elements, parallel, loops, eager, lanes, block, columns, piece, each=share, width=vector, whole=whole, **several
            )
        elif columns and loops:
            from pytocu.passes.column_loops import Columns

            rows = Columns(elements, parallel, loops, eager, piece=piece)
        else:
            rows = _of_one_thread(scans, lanes, bool(inst.attr("whole")))(elements, parallel, loops, eager, piece=piece)
            if inst.attr("share"):
                from pytocu.passes.short_row_loops import ShortRows

                together = ShortRows(elements, parallel, loops, eager)
                rows = together if together.fits() else rows
        work = rows.write(wanted, targets)
        cost = 1 if rows.block else rows.cost
        self._finish(elements, cost, work, len(results), **({"block": rows.block} if rows.block else {}))

    def _accesses(self, pairs: Sequence[tuple[Value, Index]], targets: Sequence[Target], ndim: int) -> list[Affine]:
        """Every linear expression that the loops compute of their indices."""
        found = [self.memory[v].offset(i, ndim) for v, i in pairs if v in self.memory] + [t.offset for t in targets]
        return [p for a in found for p in linear_pieces(a)] + [p for v, i in pairs for p in walked(v, i, ndim)]

    def _outer(self, pairs: list[tuple[Value, Index]], roots: Sequence[Value], index: Index) -> list[tuple[Value, Index]]:
        """Without what is read at positions that are known in a loop or branch of the user's program only."""
        if not any(is_region(i) for i in region_insts(self.inst)):
            return pairs
        eager = set(demand(roots, index, len(index), chosen=False))
        return [(v, at) for v, at in pairs if (v, at) in eager or not any(map(numbers_in, at))]

    def _elements(
        self,
        sizes: list[DimLike],
        groups: list[list[int]],
        ndim: int,
        written: frozenset[Value],
        pairs: Sequence[tuple[Value, Index]],
    ) -> Elements:
        loc = self.inst.loc
        elements = Elements(loc, self.memory, self.scalars, Builder(loc), Builder(loc), sizes, groups, ndim, written)
        elements.known = self.stated
        elements.places = reading_places(walk(self.inst.regions[0]), pairs, self.memory, ndim)
        elements.sequential = not self.inst.attr("block")
        if self.failures is not None:
            words, elements.words = self.failures
            elements.failures = self._parameter(words, PointerType(I64), "failures")
            elements.replaces = elements.sequential
        return elements

    def _input(self, outer: Value, inner: Value) -> None:
        if isinstance(outer.type, ArrayType):
            self.memory[inner] = self._array(outer, inner.name)
        else:
            self.scalars[inner] = self._parameter(outer, inner.type, inner.name)

    def _parameter(self, outer: Value, type: Type, name: str) -> Value:
        self.passed.append(outer)
        self.params.append(Value(type, name))
        return self.params[-1]

    def _array(self, outer: Value, hint: str) -> Memory:
        """The memory of an argument of the launch: one pointer, however often it is named."""
        if outer in self.memory:
            return self.memory[outer]
        type = outer.type
        name = hint or f"a{len(self.params)}"
        pointer = self._parameter(outer, PointerType(element(type)), name)
        if not isinstance(type, ArrayType):
            self.memory[outer] = Memory(pointer, (), self.known)
            return self.memory[outer]
        if is_strided(type.layout):
            for axis in range(type.ndim):
                self.strides[f"{name}_s{axis}"] = (outer, axis)
        self.memory[outer] = Memory(pointer, strides_of(type, name), self.known)
        return self.memory[outer]

    def _target(self, value: Value, index: Index, ndim: int) -> Target:
        """A result goes into an array, or into a view of one."""
        base, _ = view_chain(value)
        memory = self._array(base, base.name)
        place = target_index(value, base, position(value, index), ndim)
        return Target(memory.pointer, memory.offset(place, ndim))

    def _finish(self, elements: Elements, cost: DimLike, work: DimLike, outputs: int, **threads: Any) -> None:
        args = list(self.passed)
        lengths: list[Value] = []
        for atom, param in elements.lengths.items():
            lengths.append(param)
            if atom.name in self.strides:
                outer, axis = self.strides[atom.name]
                args.append(self.host.emit("stride", (outer,), {"axis": axis}))
            elif atom.name in self.offsets:
                args.append(self.host.emit("offset", self.offsets[atom.name]))
            else:
                dim = Dim((((atom,), 1),))
                args.append(self.host.emit("dim", (), {"value": dim}, (INDEX,)))
        block = Block((*self.params, *lengths), elements.before.take())
        attrs = dict(self.inst.attrs) | {"work": work, "outputs": outputs}
        for name in ("parallel", "reduced", "places", "known", "side", "lanes", "share", "vector", "whole", "free",
                     "noted"):  # fmt: skip
            attrs.pop(name, None)
        if cost != 1:
            attrs["cost"] = cost
        attrs |= {name: value for name, value in threads.items() if value not in (1, ())}
        self.host.inst("launch", args, attrs, (), (block,))


def region_insts(launch: Inst) -> Sequence[Inst]:
    """What a launch computes."""
    return launch.regions[0].insts


TILE = (256, 16)
"""Rows and columns of a tile: few columns, as those of an array whose rows are a power of two apart share a set of the
cache, and many rows, as each column may be in a page of its own."""

STAGED_ROWS, STAGED_BYTES = 96, 1024
"""Rows and bytes of a row of a tile whose operands that lie across go through a buffer.  A row is long since
processors read ahead in memory once they saw several lines of it; many rows of a buffer leave the second cache to others."""

NEAR = 16
"""Elements of the least jump that is worth the buffer."""

PADDING = 64
"""Bytes that a row of the buffer has more than the tile, so that those of a column do not meet in one set of the cache."""

SQUARE_BYTES, MOST_SQUARE = 32, 16
"""Bytes of a row of a square that is transposed in registers, and the most elements of one."""

MOST_STAGED = 2
"""Operands that lie across and are read into buffers; others are read element by element."""


def staged_sides(itemsize: int) -> tuple[int, int]:
    """Rows and columns of a tile whose operands that lie across go through buffers, of elements of so many bytes at most."""
    return max(STAGED_ROWS, MOST_SQUARE * itemsize), STAGED_BYTES // itemsize


def crossing_axis(accesses: Sequence[Affine], groups: Sequence[Sequence[int]]) -> int | None:
    """A loop other than the innermost along which some memory is contiguous, while the innermost jumps through it."""
    for access in accesses:
        steps = [access.coefficients[group[-1]] for group in groups]
        if steps and steps[-1] not in (0, 1) and 1 in steps:
            return steps.index(1)
    return None


def is_written_out(sizes: Sequence[DimLike]) -> bool:
    """Whether the innermost loop is so short that its elements are written one after the other."""
    return len(sizes) > 1 and isinstance(sizes[-1], int) and sizes[-1] <= SHORTEST


def _in_registers(scans: bool, several: bool) -> type[Registers]:
    """Who writes rows of which each thread of a GPU keeps a share, or has several at once."""
    if several:
        from pytocu.passes.row_blocks import RowBlocks

        return RowBlocks
    if scans:
        from pytocu.passes.scan_loops import ScanRegisters

        return ScanRegisters
    from pytocu.passes.register_loops import Registers

    return Registers


def _of_one_thread(scans: bool, lanes: int, whole: bool) -> Callable[..., Rows]:
    """Who writes rows that a thread of a CPU walks alone."""
    if scans:
        from pytocu.passes.scan_loops import ScanRows, ScanStretches

        return ScanStretches if lanes > 1 else ScanRows
    if lanes > 1:
        from pytocu.passes.stretch_loops import Stretches

        return partial(Stretches, most=lanes, whole=whole)
    from pytocu.passes.reduce_loops import Rows

    return Rows


class _Body(Mutable):
    """Writes the loops of one kernel; `cost` is what one of their iterations works through."""

    elements: Elements
    cost: DimLike = 1

    def rows(
        self, roots: Sequence[Value], index: Index, pairs: list[tuple[Value, Index]], targets: list[Target]
    ) -> DimLike:
        """The last axis as an inner loop, all others as one parallel loop."""
        from pytocu.passes import stretches, turned_loops

        e = self.elements
        e.invariants(pairs)
        lower, step = e.dim(0), e.dim(1)
        outer = e.sizes[:-1]
        i = Value(INDEX, "i" if not outer else "row")
        cut = stretches.cuts(e, roots, index)
        loops = any(is_region(value.inst) for value, _ in pairs)
        if (cut.place is not None or loops) and len(e.sizes) == 1:
            # The loop that is split over threads is one, so the stretches are inside of it, and those who take steps together.
            self.cost = size = turned_loops.LANES if loops else stretches.CHUNK
            total = floordiv(e.sizes[0] + (size - 1), size)
            body = Builder(e.inside.loc)
            first, last = stretches.chunk(e, body, i, size)
            stretches.write(e, body, [], (first, last), cut, lambda: e.elements(roots, index, pairs, targets))
        elif not outer:
            e.loop_index = [i] if e.sizes else []
            e.elements(roots, index, pairs, targets)
            body = e.inside
            total = product(e.sizes)
        else:
            total = product(outer)
            self.cost = e.sizes[-1]
            head = Builder(e.inside.loc)
            indices = self.taken_apart(head, i, outer)
            last = e.sizes[-1]
            if isinstance(last, int) and is_written_out(e.sizes) and cut.place is None:
                self.unrolled(head, indices, last, lambda: e.elements(roots, index, pairs, targets))
            else:
                bounds = (lower, e.dim(e.sizes[-1]))
                stretches.write(e, head, indices, bounds, cut, lambda: e.elements(roots, index, pairs, targets))
            body = head
        body.emit("yield")
        region = Block((i,), body.take())
        e.before.inst("for", (lower, e.dim(total), step), {"over": "parallel"}, (), (region,))
        e.before.emit("return")
        return total

    def unrolled(self, builder: Builder, outer: Sequence[Value], count: int, body: Callable[[], None]) -> None:
        """The last loop written out, so that the one around it becomes vector code."""
        e = self.elements
        e.inside = builder
        for number in range(count):
            made, offsets = dict(e.made), dict(e.offsets)
            e.loop_index = [*outer, e.dim(number)]
            body()
            e.made, e.offsets = made, offsets

    def taken_apart(self, builder: Builder, i: Value, sizes: Sequence[DimLike]) -> list[Value]:
        """The index of each axis from one index over all of them."""
        indices: list[Value] = []
        for k in range(len(sizes) - 1, 0, -1):
            length = self.elements.dim(sizes[k])
            indices.insert(0, builder.emit("remainder_truncated", (i, length), name=f"i{k}"))
            i = builder.emit("divide_truncated", (i, length))
        return [i, *indices]

    def crossing(self, pairs: Sequence[tuple[Value, Index]], across: int) -> list[tuple[Value, Affine]]:
        """What is read along the axis `across`, while the innermost loop jumps through it."""
        e = self.elements
        found: dict[tuple[Value, Affine], None] = {}
        for value, at in pairs:
            if value in e.memory and (value, at) not in e.made:
                pointer, offset = e.memory[value].pointer, e.memory[value].offset(at, e.ndim)
                steps = e.merged(offset).coefficients
                # Elements a few apart are loaded as vectors and taken apart.
                jumps = not (isinstance(steps[-1], int) and abs(steps[-1]) < NEAR)
                if jumps and not offset.parts and pointer not in e.written and steps[across] == 1:
                    found[pointer, offset] = None
        short = isinstance(e.sizes[-1], int) and e.sizes[-1] < NEAR
        return [] if short else list(found)[:MOST_STAGED]

    def staged(
        self,
        head: Builder,
        access: tuple[Value, Affine],
        across: int,
        bounds: Mapping[int, tuple[Value, Value]],
        sides: tuple[int, int],
        wide: DimLike,
    ) -> Value:
        """Read a tile along its own axis into a buffer, before the loops over the tile; the element there, inside of them.

        A tile is read in squares that are transposed in registers, of which the last ones overlap those before them; one that
        is smaller than a square, element by element.
        """
        e, (pointer, offset) = self.elements, access
        last, dtype = len(e.sizes) - 1, element(pointer.type)
        padding = PADDING // dtype.itemsize
        rows, columns = sides
        buffer = e.before.emit("local", (), {"size": rows * (columns + padding)}, (PointerType(dtype, "local"),))

        def place(builder: Builder, row: Value, column: Value) -> Value:
            down = builder.emit("subtract", (row, bounds[across][0]))
            start = builder.emit("multiply", (down, e.dim(wide + padding)))
            return builder.emit("add", (start, builder.emit("subtract", (column, bounds[last][0]))))

        here = e.inside.emit("load", (buffer, place(e.inside, e.loop_index[across], e.loop_index[last])))

        def copied(side: int) -> Builder:
            """Loops over squares of so many elements, or over elements."""
            row, column = Value(INDEX, "row"), Value(INDEX, "column")
            made, offsets, index, inside = dict(e.made), dict(e.offsets), e.loop_index, e.inside
            copy = e.inside = Builder(inside.loc)
            corner = {across: row, last: column}
            if side > 1:
                for axis, start in corner.items():
                    most = copy.emit("subtract", (bounds[axis][1], e.dim(side)))
                    corner[axis] = copy.emit("where", (copy.emit("less", (most, start)), most, start))
            e.loop_index = [corner.get(k, i) for k, i in enumerate(index)]
            at, to = e.address(copy, offset), place(copy, corner[across], corner[last])
            attrs = {"align": dtype.itemsize, "lanes": side} if side > 1 else {}
            values: list[Value] = []
            for number in range(side):
                at = copy.emit("add", (at, e.dim(e.merged(offset).coefficients[last]))) if number else at
                values.append(copy.emit("load", (pointer, at), attrs))
            if side > 1:
                values = list(copy.inst("transposed", values).results)
            for number, value in enumerate(values):
                to = copy.emit("add", (to, e.dim(wide + padding))) if number else to
                copy.inst("store", (buffer, to, value), {"align": dtype.itemsize} if side > 1 else {})
            e.made, e.offsets, e.loop_index, e.inside = made, offsets, index, inside
            for axis, own in ((across, row), (last, column)):
                copy.emit("yield")
                body, copy = copy, Builder(inside.loc)
                copy.inst("for", (*bounds[axis], e.dim(side)), {"over": "serial"}, (), (Block((own,), body.take()),))
            return copy

        side = 1 if dtype.kind in "bc" else min(SQUARE_BYTES // dtype.itemsize, MOST_SQUARE)
        if side == 1:
            head.insts.extend(copied(1).take())
            return here
        lengths = [head.emit("subtract", (upper, lower)) for lower, upper in bounds.values()]
        fits = [head.emit("less_equal", (e.dim(side), length)) for length in lengths]
        squares, elements = copied(side), copied(1)
        squares.emit("yield")
        elements.emit("yield")
        whole = head.emit("bitwise_and", fits)
        head.inst("if", (whole,), {}, (), (Block((), squares.take()), Block((), elements.take())))
        return here

    def tiles(
        self,
        roots: Sequence[Value],
        index: Index,
        pairs: list[tuple[Value, Index]],
        targets: list[Target],
        across: int,
    ) -> DimLike:
        """Blocks of the last axis and of the axis `across`, so that what lies along either is read once."""
        e = self.elements
        e.invariants(pairs)
        # The pieces of a concatenation have no elements outside of their part of a tile.
        crossing = self.crossing(e.eager(roots, index, pairs), across)
        rows, columns = TILE
        if crossing:
            rows, columns = staged_sides(max(element(pointer.type).itemsize for pointer, _ in crossing))
        lower, step = e.dim(0), e.dim(1)
        # Of few rows, such as the channels of an image, the tiles are longer instead.
        wide = dim_max(columns, floordiv(rows * columns, dim_max(e.sizes[across], 1)))
        sides: dict[int, DimLike] = {across: rows, len(e.sizes) - 1: wide}
        blocks = [floordiv(n + (sides[k] - 1), sides[k]) if k in sides else n for k, n in enumerate(e.sizes)]
        tile = Value(INDEX, "tile")
        head = Builder(e.inside.loc)
        indices = self.taken_apart(head, tile, blocks)
        bounds: dict[int, tuple[Value, Value]] = {}
        for k, side in sides.items():
            first = head.emit("multiply", (indices[k], e.dim(side)))
            last, length = head.emit("add", (first, e.dim(side))), e.dim(e.sizes[k])
            bounds[k] = first, head.emit("where", (head.emit("less", (last, length)), last, length))
        row, column = Value(INDEX, "row"), Value(INDEX, "column")
        e.loop_index = [*(row if k == across else i for k, i in enumerate(indices[:-1])), column]
        e.vectors = {
            (pointer, e.merged(offset)): self.staged(head, (pointer, offset), across, bounds, (rows, columns), wide)
            for pointer, offset in crossing
        }
        e.elements(roots, index, pairs, targets)
        e.inside.emit("yield")
        inner = Block((column,), e.inside.take())
        between = Builder(e.inside.loc)
        between.inst("for", (*bounds[len(e.sizes) - 1], step), {"over": "serial"}, (), (inner,))
        between.emit("yield")
        head.inst("for", (*bounds[across], step), {"over": "serial"}, (), (Block((row,), between.take()),))
        head.emit("yield")
        total = product(blocks)
        self.cost = rows * columns
        e.before.inst("for", (lower, e.dim(total), step), {"over": "parallel"}, (), (Block((tile,), head.take()),))
        e.before.emit("return")
        return total
