"""CPU kernels that change an array while they read neighbours of what they change.

``u[1:-1] = 0.5 * (u[2:] + u[:-2])`` needs what its elements were before.  `bufferize` computes all of them into a
temporary that a second kernel copies.  Here the two become one kernel: rows are computed one after the other into a few
rows of a buffer, and a row goes into the array as soon as no row behind it reads what was there.  So the array
is read and written once, and what waits in the buffer stays in the cache.

Chunks of rows are independent of each other.  With `back` rows that a row reads before itself and `ahead` behind
itself, the first `ahead` and the last `back` rows of a chunk are what its neighbours read, so these wait
in the buffer until all chunks are done, and a second kernel, the *edges*, copies them.  The buffer has for each chunk
`ahead` rows for its beginning, and `back` + 1 rows that take turns, the last of which are those of its end.

Long rows are cut into tiles, so that the rows at hand stay in the first cache.  The columns that neighbouring tiles read
wait at the side of the buffer, for each row.  An array of one axis is walked in stretches as if they were rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Function, Inst, Value, walk
from pytocu.ir.dims import DimLike, dim_max, dim_min, floordiv, product
from pytocu.ir.types import INDEX, ArrayType, element
from pytocu.passes import stretches
from pytocu.passes.accesses import Index, position, view_chain
from pytocu.passes.elements import Elements, Target
from pytocu.passes.loop_parts import Work
from pytocu.record import Mutable, Record

TILE_BYTES = 8192
"""Of a row in a tile, and of a stretch of an array with one axis: what waits and what is read stays in the first cache."""

MOST_SIDES = 64
"""Columns of a tile that wait at most; where neighbours read more, or it is not known how many, rows are not cut."""

HEIGHT, CHUNKS, EDGES = 64, 32, 8
"""Rows of a chunk, fewer where there are not so many chunks then, and how often it has the rows of its edges at least."""

SHORTEST = 16
"""A last axis of fewer elements is not worth loops of its own."""


class RollingRows(Record):
    """How a kernel that changes what it reads is walked.

    Parameters
    ----------
    at : Index
        The position of an iteration in the results.
    sizes, groups
        The loops, and the axes that each stands for.
    back, ahead : DimLike
        How many rows before and behind itself a row reads.
    before, behind : int or None
        How many columns before and behind itself an element reads; None where rows are not cut.
    most : int
        Elements of a row in a tile at most, and of a stretch.
    """

    at: Index
    sizes: tuple[DimLike, ...]
    groups: tuple[tuple[int, ...], ...]
    back: DimLike
    ahead: DimLike
    before: int | None
    behind: int | None
    most: int

    @property
    def rows(self) -> DimLike:
        """How many rows, or stretches, there are."""
        *outer, last = self.sizes
        return product(outer) if outer else _pieces(last, self.most)

    @property
    def tiles(self) -> DimLike:
        """How many tiles a row has."""
        if self.before is None:
            return 1
        return dim_max(_pieces(self.sizes[-1], self.most), 1)

    @property
    def width(self) -> DimLike:
        """Elements of a row in a tile."""
        return _pieces(self.sizes[-1], self.tiles) if len(self.sizes) > 1 else self.most

    @property
    def height(self) -> DimLike:
        """Rows of a chunk."""
        wanted = dim_min(HEIGHT, floordiv(self.rows, CHUNKS))
        return dim_max(dim_max((self.back + self.ahead) * EDGES, wanted), 1)

    @property
    def chunks(self) -> DimLike:
        """How many chunks there are, of all tiles."""
        return _pieces(self.rows, self.height) * self.tiles

    @property
    def slots(self) -> DimLike:
        """Rows of the buffer for each chunk."""
        return self.ahead + self.back + 1

    @property
    def sides(self) -> int:
        """Columns that wait at the side of the buffer."""
        return (self.before or 0) + (self.behind or 0)

    @property
    def room(self) -> DimLike:
        """Elements of the buffer for each chunk."""
        return self.slots * self.width + self.height * self.sides

    def buffer(self, type: ArrayType) -> ArrayType:
        """The memory that stands for a temporary of a type."""
        return ArrayType(element(type), (self.chunks, self.room))


def _pieces(length: DimLike, size: DimLike) -> DimLike:
    return floordiv(length + (size - 1), size)


def find(function: Function) -> dict[Inst, tuple[Inst, ...]]:
    """Launches whose temporaries are copied by the launches right behind them and used nowhere else, with these."""
    uses: dict[Value, list[Inst]] = {}
    for inst in walk(function.body):
        for arg in inst.args:
            uses.setdefault(arg, []).append(inst)
    found: dict[Inst, tuple[Inst, ...]] = {}
    for block in _blocks(function.body):
        for number, inst in enumerate(block.insts):
            if inst.op.name != "launch" or inst.attr("reduced"):
                continue
            copies = tuple(_copies_behind(block.insts[number + 1 :], inst, uses))
            bases = [view_chain(copy.args[1])[0] for copy in copies]
            split = len(inst.args) - inst.attr("outputs")
            direct = {view_chain(a)[0] for a in inst.args[split:]}
            read = inst.args[:split]
            if copies and len(set(bases)) == len(bases) and all(b in read and b not in direct for b in bases):
                found[inst] = copies
    return found


def _blocks(block: Block) -> Iterator[Block]:
    yield block
    for inst in block.insts:
        if inst.op.kind == "region":
            for region in inst.regions:
                yield from _blocks(region)


def _copies_behind(insts: Sequence[Inst], launch: Inst, uses: Mapping[Value, Sequence[Inst]]) -> Iterator[Inst]:
    outputs = launch.args[len(launch.args) - launch.attr("outputs") :]
    for inst in insts:
        if inst.op.kind == "view":
            continue
        source = inst.args[0] if inst.op.name == "launch" else None
        made = source.inst if source in outputs and source is not None else None
        if made is None or made.op.name != "allocate" or uses[made.results[0]] != [launch, inst] or not _is_copy(inst):
            return
        yield inst


def _is_copy(launch: Inst) -> bool:
    (region,) = launch.regions
    names = [inst.op.name for inst in region.insts]
    return len(launch.args) == 2 and names == ["copy", "yield"] and region.insts[0].args == region.params


def distance(write: Index, read: Index, shape: Sequence[DimLike]) -> list[DimLike] | None:
    """How many iterations behind an iteration the one is, along each axis, that writes what it reads.

    The list is empty where no iteration writes it.  None where that is no fixed distance.

    Examples
    --------
    >>> from pytocu.passes.affine import unit
    >>> x, y = unit(0, 2), unit(1, 2)
    >>> distance((x + 1, y + 1), (x, y + 2), [10, 10])
    [-1, 1]
    >>> distance((x * 2, y), (x * 2 + 1, y), [10, 10]), distance((x, y), (y, x), [10, 10])
    ([], None)
    """
    found: list[DimLike] = [0] * len(shape)
    free = {axis for axis, length in enumerate(shape) if length != 1}
    apart = False
    for w, r in zip(write, read, strict=True):
        if w.parts or r.parts or w.coefficients != r.coefficients:
            return None
        gap = r.offset - w.offset
        axes = [axis for axis in free if w.coefficients[axis] != 0]
        moved = [axis for axis, c in enumerate(w.coefficients) if c != 0 and shape[axis] != 1]
        if len(axes) != len(moved) or len(axes) > 1:
            return None
        if not axes:
            if gap == 0:
                continue
            if not isinstance(gap, int):
                return None
            apart = True
            continue
        (axis,) = axes
        free.remove(axis)
        step = w.coefficients[axis]
        if step in (1, -1):
            found[axis] = gap * step
        elif isinstance(step, int) and isinstance(gap, int):
            found[axis], rest = divmod(gap, step)
            apart = apart or rest != 0
        else:
            return None
        size, length = found[axis], shape[axis]
        apart = apart or (isinstance(size, int) and isinstance(length, int) and abs(size) >= length)
    if free:
        return None
    return [] if apart else found


def measure(
    index: Index,
    shape: Sequence[DimLike],
    loops: tuple[list[DimLike], list[list[int]]],
    accesses: Sequence[tuple[Index, Sequence[Index]]],
    most: int,
) -> RollingRows | None:
    """How far apart rows are that read what others write; None where that is not known.

    Parameters
    ----------
    index : Index
        The position of an iteration in the results.
    shape : sequence of DimLike
        Of the iterations.
    loops : (list of DimLike, list of list of int)
        The lengths of the loops, and the axes that each stands for.
    accesses : sequence of (Index, sequence of Index)
        For each array that is changed where an iteration writes it, and where it reads it.
    most : int
        Elements of a row in a tile at most.
    """
    sizes, groups = loops
    if not sizes or (isinstance(sizes[-1], int) and sizes[-1] < SHORTEST):
        return None
    counted = sizes[:-1] if len(sizes) > 1 else sizes
    strides = [product(counted[k + 1 :]) for k in range(len(counted))]
    back: DimLike = 0
    ahead: DimLike = 0
    columns: list[DimLike] = [0]
    for write, reads in accesses:
        for read in reads:
            found = distance(write, read, shape)
            if found is None:
                return None
            if not found:
                continue
            along = [_along(group, found, shape) for group in groups]
            total = sum((d * stride for d, stride in zip(along, strides, strict=False)), 0)
            back, ahead = dim_max(back, 0 - total), dim_max(ahead, total)
            columns.append(along[-1])
    before = behind = None
    if len(sizes) == 1:
        back, ahead = _pieces(back, most), _pieces(ahead, most)
    else:
        known = [c for c in columns if isinstance(c, int) and abs(c) <= MOST_SIDES // 2]
        if len(known) == len(columns):
            before, behind = -min(known), max(known)
    return RollingRows(index, tuple(sizes), tuple(map(tuple, groups)), back, ahead, before, behind, most)


def _along(group: Sequence[int], found: Sequence[DimLike], shape: Sequence[DimLike]) -> DimLike:
    """A distance along a loop that stands for several axes."""
    total: DimLike = 0
    for place, axis in enumerate(group):
        total = total + found[axis] * product([shape[a] for a in group[place + 1 :]])
    return total


Place = Callable[[Builder, Value, Sequence[DimLike]], list[Value]]
"""Takes the number of a row apart into the indices of the outer loops."""


def write(
    e: Elements, work: Work, rolling: RollingRows, buffers: Mapping[int, Value], place: Place
) -> tuple[DimLike, DimLike]:
    """Write the loops to `e.before`; `buffers` are the pointers of those for results with a number.

    Returns
    -------
    tuple
        How many chunks there are, and what one of them costs.
    """
    e.invariants(work.pairs)
    cut = stretches.cuts(e, work.roots, work.index)
    chunk = _chunk(e, rolling, place)
    into, t = Builder(e.loc), Value(INDEX, "t")
    row = chunk.row(into, t)
    start = into.emit("subtract", (chunk.slot(into, t, True), row.lower))

    def elements() -> None:
        e.compute(e.eager(work.roots, work.index, work.pairs))
        inside = e.inside
        for k, (root, target) in enumerate(zip(work.roots, work.targets, strict=True)):
            result = e.made[root, position(root, work.index)]
            if k in buffers:
                inside.inst("store", (buffers[k], inside.emit("add", (start, e.loop_index[-1])), result))
            else:
                inside.inst("store", (target.pointer, e.address(inside, target.offset), result))

    made, offsets = dict(e.made), dict(e.offsets)
    stretches.write(e, into, row.outer, (row.lower, row.upper), cut, elements)
    e.made, e.offsets = made, offsets
    past = into.emit("subtract", (t, e.dim(rolling.back)), name="past") if rolling.back != 0 else t
    with into.nested() as insts:
        old = chunk.row(into, past)
        start = into.emit("subtract", (chunk.slot(into, past, False), old.lower))
        first, end = into.emit("add", (old.lower, chunk.left)), into.emit("subtract", (old.upper, chunk.right))
        inner = _Row(old.outer, first, end)
        for k, buffer in buffers.items():
            chunk.copy(into, inner, buffer, start, work.targets[k])
            for first, count, side in chunk.at_sides(into, past, old) if rolling.sides else ():
                _between(e, into, count, buffer, side, into.emit("add", (start, first)))
        into.emit("yield")
    with into.nested() as nothing:
        into.emit("yield")
    free = into.emit("greater_equal", (past, e.dim(rolling.ahead)))
    into.inst("if", (free,), {}, (), (Block((), tuple(insts)), Block((), tuple(nothing))))
    _repeat(e, chunk.body, e.dim(0), chunk.height, t, into)
    chunk.finish()
    return rolling.chunks, rolling.height * rolling.width


def edges(e: Elements, buffer: Value, target: Target, rolling: RollingRows, place: Place) -> tuple[DimLike, DimLike]:
    """Write the loops that copy what waits at the edges of chunks to `e.before`; as :func:`write`."""
    chunk = _chunk(e, rolling, place)
    body, zero, ahead = chunk.body, e.dim(0), e.dim(rolling.ahead)
    early = body.emit("where", (body.emit("less", (ahead, chunk.height)), ahead, chunk.height))
    late = body.emit("subtract", (chunk.height, e.dim(rolling.back)))
    late = body.emit("where", (body.emit("less", (late, ahead)), ahead, late))
    for lower, upper, beginning in ((zero, early, True), (late, chunk.height, False)):
        if (rolling.ahead if beginning else rolling.back) != 0:
            into, t = Builder(e.loc), Value(INDEX, "t")
            row = chunk.row(into, t)
            start = chunk.slot(into, t, beginning)
            chunk.copy(into, row, buffer, into.emit("subtract", (start, row.lower)), target)
            _repeat(e, body, lower, upper, t, into)
    if rolling.sides:
        into, t = Builder(e.loc), Value(INDEX, "t")
        row = chunk.row(into, t)
        for first, count, side in chunk.at_sides(into, t, row):
            piece = _Row(row.outer, first, into.emit("add", (first, count)))
            chunk.copy(into, piece, buffer, into.emit("subtract", (side, first)), target)
        _repeat(e, body, ahead, late, t, into)
    chunk.finish()
    return rolling.chunks, (rolling.back + rolling.ahead) * rolling.width + rolling.height * rolling.sides


class _Row(Record):
    """A row of a tile: the indices of the loops around it, and its elements."""

    outer: list[Value]
    lower: Value
    upper: Value


class _Chunk(Mutable):
    """The loop over chunks.

    Attributes
    ----------
    body : Builder
        Of the loop; `number` is its index.
    first, height, tile : Value
        The first row, how many there are, and the tile.
    base : Value
        Where its part of the buffer begins.
    left, right : Value
        How many columns the tiles beside it read.
    """

    e: Elements
    rolling: RollingRows
    place: Place
    body: Builder
    number: Value
    first: Value
    height: Value
    tile: Value
    base: Value
    left: Value
    right: Value

    def row(self, builder: Builder, t: Value) -> _Row:
        """One of its rows."""
        e, rolling = self.e, self.rolling
        row = builder.emit("add", (self.first, t))
        length = e.dim(e.sizes[-1])
        if len(e.sizes) > 1 and rolling.before is None:
            return _Row(self.place(builder, row, e.sizes[:-1]), e.dim(0), length)
        stretch = row if len(e.sizes) == 1 else self.tile
        lower = builder.emit("multiply", (stretch, e.dim(rolling.width)), name="lower")
        upper = builder.emit("add", (lower, e.dim(rolling.width)))
        upper = builder.emit("where", (builder.emit("less", (upper, length)), upper, length), name="upper")
        return _Row(self.place(builder, row, e.sizes[:-1]) if len(e.sizes) > 1 else [], lower, upper)

    def slot(self, builder: Builder, t: Value, maybe_early: bool) -> Value:
        """Where in the buffer a row is that may be one of the first, or is none of them."""
        e, rolling = self.e, self.rolling
        ahead = e.dim(rolling.ahead)
        slot = builder.emit("remainder_truncated", (t, e.dim(rolling.back + 1))) if rolling.back != 0 else e.dim(0)
        if rolling.ahead != 0:
            slot = builder.emit("add", (slot, ahead))
            if maybe_early:
                slot = builder.emit("where", (builder.emit("less", (t, ahead)), t, slot), name="slot")
        return builder.emit("add", (self.base, builder.emit("multiply", (slot, e.dim(rolling.width)))), name="at")

    def at_sides(self, builder: Builder, t: Value, row: _Row) -> list[tuple[Value, Value, Value]]:
        """The first of the columns that wait at each side, how many these are, and where in the buffer."""
        e, rolling = self.e, self.rolling
        side = builder.emit("multiply", (t, e.dim(rolling.sides)))
        side = builder.emit("add", (side, e.dim(rolling.slots * rolling.width)))
        side = builder.emit("add", (side, self.base))
        last = builder.emit("subtract", (row.upper, self.right))
        found = [(row.lower, self.left, side), (last, self.right, builder.emit("add", (side, e.dim(rolling.behind or 0))))]
        return [part for part, count in zip(found, (rolling.behind, rolling.before), strict=True) if count]

    def copy(self, builder: Builder, row: _Row, buffer: Value, start: Value, target: Target) -> None:
        """Elements of a row from the buffer, where that of index 0 would be at `start`, into an array."""
        e = self.e
        made, offsets = dict(e.made), dict(e.offsets)
        j, inner = Value(INDEX, "j"), Builder(e.loc)
        e.inside, e.loop_index = inner, [*row.outer, j]
        value = inner.emit("load", (buffer, inner.emit("add", (start, j))))
        inner.inst("store", (target.pointer, e.address(inner, target.offset), value))
        _repeat(e, builder, row.lower, row.upper, j, inner)
        e.made, e.offsets = made, offsets

    def finish(self) -> None:
        """Write the loop, and leave."""
        e = self.e
        self.body.emit("yield")
        bounds = (e.dim(0), e.dim(self.rolling.chunks), e.dim(1))
        e.before.inst("for", bounds, {"over": "parallel"}, (), (Block((self.number,), self.body.take()),))
        e.before.emit("return")


def _chunk(e: Elements, rolling: RollingRows, place: Place) -> _Chunk:
    body, number = Builder(e.loc), Value(INDEX, "chunk")
    rows, tile, zero = number, e.dim(0), e.dim(0)
    left = right = zero
    if rolling.tiles != 1:
        tiles = e.dim(rolling.tiles)
        tile = body.emit("remainder_truncated", (number, tiles), name="tile")
        rows = body.emit("divide_truncated", (number, tiles))
        # Beside the first and the last tile there is none.
        last = body.emit("equal", (tile, body.emit("subtract", (tiles, e.dim(1)))))
        rest = body.emit("subtract", (e.dim(rolling.sizes[-1]), body.emit("multiply", (tile, e.dim(rolling.width)))))
        left = e.dim(rolling.behind or 0)
        left = body.emit("where", (body.emit("less", (left, rest)), left, rest))
        left = body.emit("where", (body.emit("equal", (tile, zero)), zero, left), name="left")
        right = body.emit("where", (last, zero, e.dim(rolling.before or 0)), name="right")
    whole = e.dim(rolling.height)
    first = body.emit("multiply", (rows, whole), name="first")
    rest = body.emit("subtract", (e.dim(rolling.rows), first))
    height = body.emit("where", (body.emit("less", (rest, whole)), rest, whole), name="height")
    base = body.emit("multiply", (number, e.dim(rolling.room)), name="base")
    return _Chunk(e, rolling, place, body, number, first, height, tile, base, left, right)


def _between(e: Elements, builder: Builder, count: Value, buffer: Value, to: Value, source: Value) -> None:
    """Some elements from one place of a buffer to another."""
    k, inner = Value(INDEX, "k"), Builder(e.loc)
    value = inner.emit("load", (buffer, inner.emit("add", (source, k))))
    inner.inst("store", (buffer, inner.emit("add", (to, k)), value))
    _repeat(e, builder, e.dim(0), count, k, inner)


def _repeat(e: Elements, builder: Builder, lower: Value, upper: Value, index: Value, inner: Builder) -> None:
    inner.emit("yield")
    builder.inst("for", (lower, upper, e.dim(1)), {"over": "serial"}, (), (Block((index,), inner.take()),))
