"""The loops of a kernel in which every thread of a GPU computes several elements.

In: what an iteration computes, and where.  Out: loops in one of three forms.  All of them have
loads of several elements before the first store, so that many bytes are on their way at once.

vectors
    One loop over all elements, some that follow each other a thread; accesses that walk memory
    as the iterations are counted move 16 bytes at once (see `pytocu.passes.vector_loops`).
strides
    One loop, where no result is a vector: elements of a thread lie a block apart, so that threads
    next to each other touch elements next to each other.
rows
    Several loops that are not one: columns of the grid are the last axis, and each thread has a
    few rows of one column.  No index is divided by a length, and what neighbouring rows share (of a
    stencil, of a broadcast operand, of the sector that a transposed operand comes in) is read once.
    Where all operands walk whole rows or stay the same along one, a thread's columns are vectors
    (see `pytocu.passes.vector_rows`).

A concatenation is decided once for all elements of a thread where these lie in its main piece (of an array with a
border of its own: inside), and for each of them elsewhere.

Where both axes are long that an operand and the result lie along, `pytocu.passes.transposes` is used instead.
What does not fill a thread of these is computed element by element.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Value
from pytocu.ir.dims import DimLike, dim_max, dim_min, floordiv, modulo, product
from pytocu.ir.regions import is_region
from pytocu.ir.types import BOOL, INDEX, scalar, shape_of
from pytocu.passes import schedule, vector_loops
from pytocu.passes.accesses import Index, demand
from pytocu.passes.affine import Affine
from pytocu.passes.elements import Elements, Target
from pytocu.passes.loop_parts import Picked, Work, copy_of, loop, main_pieces, one_piece_each, reads, shifted, walk, widest


def write(e: Elements, work: Work) -> tuple[int, tuple[DimLike, ...]]:
    """Write the loops to `e.before`.

    Returns
    -------
    int
        How many elements a thread computes at once.
    tuple of DimLike
        Columns and rows of threads, and the most columns of a block; empty where all lie in a row.
    """
    e.invariants(work.pairs)
    work = work._replace(pairs=e.eager(work.roots, work.index, work.pairs))
    grid: tuple[DimLike, ...] = ()
    lower, each = e.dim(0), 1
    if any(is_region(value.inst) for value, _ in work.pairs):
        # The loops of several elements would run one after the other.
        _alone(e, work, lower)
    elif len(e.sizes) > 1 and not _is_short(e):
        each, grid = _rows(e, work)
    else:
        made = vector_loops.plan(e, work)
        if made is not None and made.each > 1:
            each, lower = made.each, vector_loops.write(e, work, made)
        elif len(e.sizes) == 1:
            each = _unrolled(e, work)
            lower = _strides(e, work, each) if each > 1 else lower
        _alone(e, work, lower)
    e.before.emit("return")
    return each, grid


def _alone(e: Elements, work: Work, lower: Value) -> None:
    """The loop of threads that compute one element at a time."""
    single = copy_of(e, e.before)
    i = Value(INDEX, "i")
    walk(single, i)
    single.elements(work.roots, work.index, work.pairs, work.targets)
    loop(e.before, single.inside, (lower, e.dim(product(e.sizes)), e.dim(1)), "grid", i)


def _is_short(e: Elements) -> bool:
    """Whether the position on the last axis is found by dividing by a small constant, which is cheap."""
    return isinstance(e.sizes[-1], int) and e.sizes[-1] < schedule.TILE_COLUMNS


def _unrolled(e: Elements, work: Work) -> int:
    """Elements of a thread that are written out one by one."""
    if any(t.offset.parts for t in work.targets):
        # Where the next element goes is not a fixed distance away.
        return 1
    count = min(max(schedule.VECTOR_BYTES // widest(e, work), schedule.LEAST_ROWS), schedule.MOST_ROWS)
    while count > 1 and count * len(work.pairs) > schedule.MOST_ROW_OPERATIONS:
        count //= 2
    return count


def _strides(e: Elements, work: Work, count: int) -> Value:
    """The loop over elements that lie a block apart; the index behind the last of them."""
    total, block = e.dim(product(e.sizes)), e.dim(schedule.BLOCK)
    whole = e.before.emit("divide_truncated", (total, e.dim(count * schedule.BLOCK)))
    i = Value(INDEX, "thread")
    body = copy_of(e, Builder(e.loc))
    body.before = body.inside
    number = body.inside.emit("divide_truncated", (i, block))
    before = body.inside.emit("multiply", (number, e.dim((count - 1) * schedule.BLOCK)))
    body.loop_index = [body.inside.emit("add", (i, before), name="i")]
    _unroll(body, work, 0, schedule.BLOCK, count)
    threads = e.before.emit("multiply", (whole, block), name="threads")
    loop(e.before, body.inside, (e.dim(0), threads, e.dim(1)), "grid", i)
    return e.before.emit("multiply", (threads, e.dim(count)), name="done")


def _unroll(e: Elements, work: Work, number: int, step: int, count: int, width: int = 1) -> None:
    """Elements that lie `step` apart on a loop, or vectors of columns: all loads, then the operations, then the stores."""
    axis = e.groups[number][-1]
    indices: list[Index] = [tuple(shifted(place, axis, step * k) for place in work.index) for k in range(count)]

    def together(body: Elements) -> None:
        if width == 1:
            _together(body, work, axis, step, indices)
        else:
            from pytocu.passes import vector_rows

            vector_rows.unroll(body, work, number, count, width)

    far = indices
    if width > 1:
        from pytocu.passes import vector_rows

        far = [at for index in indices for at in vector_rows.ends(e, index, width)]
    ways = one_piece_each(e, work.roots, far) if count * width > 1 else []
    if not ways:
        together(e)
        return
    # The offsets that the conditions compute are not those of the loop inside.
    one, outside = copy_of(e, e.before), copy_of(e, e.before)
    first, at = e.loop_index[number], Value(INDEX, e.loop_index[number].name)
    one.loop_index = [*e.loop_index[:number], at, *e.loop_index[number + 1 :]]
    begin, column = e.loop_index[-1], Value(INDEX, e.loop_index[-1].name)
    if width > 1:
        one.loop_index[-1] = column
    _together(one, work, axis, step, [work.index])

    def write(rest: Sequence[Picked]) -> None:
        """The first way that holds all elements, or else one element at a time."""
        if not rest:
            end = e.inside.emit("add", (first, e.dim(step * count)))
            body = one.inside
            if width > 1:
                body = Builder(e.loc)
                last = e.inside.emit("add", (begin, e.dim(width)))
                loop(body, one.inside, (begin, last, e.dim(1)), "serial", column)
            loop(e.inside, body, (first, end, e.dim(step)), "serial", at)
            return
        body = copy_of(outside, e.before)
        body.picked = rest[0]
        together(body)
        body.inside.emit("yield")
        inside = _are_inside(e, e.inside, rest[0])
        offsets = dict(e.offsets)
        with e.inside.nested() as elsewhere:
            write(rest[1:])
            e.inside.emit("yield")
        e.offsets = offsets
        e.inside.inst("if", (inside,), {}, (), (Block((), body.inside.take()), Block((), tuple(elsewhere))))

    write(ways)


def _together(e: Elements, work: Work, axis: int, step: int, indices: Sequence[Index]) -> None:
    wanted = (p for at in indices for p in demand(work.roots, at, e.ndim, chosen=False, picked=e.picked))
    pairs = list(dict.fromkeys(wanted))
    e.compute([pair for pair in pairs if pair[0] in e.memory])
    e.compute(pairs)
    for k, index in enumerate(indices):
        moved = [Target(t.pointer, shifted(t.offset, axis, step * k)) for t in work.targets]
        e.store(work.roots, index, moved)


def _are_inside(e: Elements, builder: Builder, picked: Picked) -> Value:
    """Whether all positions of concatenations are in the pieces that are picked."""
    bounds: dict[tuple[Affine, DimLike, DimLike | None], tuple[DimLike, DimLike]] = {}
    for (value, place), number in picked.items():
        assert value.inst is not None
        sizes = [shape_of(p.type)[value.inst.attr("axis")] for p in value.inst.args]
        start = reduce(add, sizes[:number], 0)
        end = None if number + 1 == len(sizes) else start + sizes[number]
        base = place + (0 - place.offset)
        low, high = bounds.get((base, start, end), (place.offset, place.offset))
        bounds[base, start, end] = (dim_min(low, place.offset), dim_max(high, place.offset))
    conditions: dict[tuple[str, Affine, DimLike], None] = {}
    for (base, start, end), (low, high) in bounds.items():
        if start != 0:
            conditions["greater_equal", base + low, start] = None
        if end is not None:
            conditions["less", base + high, end] = None
    terms = [builder.emit(row, (e.address(builder, place), e.dim(limit))) for row, place, limit in conditions]
    return reduce(lambda a, b: builder.emit("bitwise_and", (a, b)), terms) if terms else builder.const(True, scalar(BOOL))


def _rows(e: Elements, work: Work) -> tuple[int, tuple[DimLike, ...]]:
    """Loops over rows and columns."""
    from pytocu.passes import vector_rows

    *_, rows, columns = e.sizes
    last = len(e.sizes) - 2
    count, width = _unrolled(e, work), vector_rows.width(e, work)
    if width == 1:
        along = _shared_loop(e, work, count)
        count = _fewer(count, e.sizes[along])
        _row_loops(e, work, along, count, 1, None)
        return count, (columns, product(_groups(e, along, count)), schedule.TILE_COLUMNS)
    fit = vector_rows.fits(e, work, width)
    tall, count = _fewer(vector_rows.height(e, work, width), rows), _fewer(count, rows)
    _row_loops(e, work, last, tall, width, fit)
    _row_loops(e, work, last, count, 1, e.before.emit("invert", (fit,)))
    across, groups = floordiv(columns + (width - 1), width), product(_groups(e, last, tall))
    # Where rows are not made of whole vectors, there are as many threads as the other loops have work for.
    odd = dim_min(modulo(columns, width), 1)
    across, groups = across + odd * (columns - across), groups + odd * (product(_groups(e, last, count)) - groups)
    return tall * width, (across, groups, schedule.TILE_COLUMNS)


def _groups(e: Elements, along: int, count: int) -> list[DimLike]:
    """How many groups of rows there are along each loop but the last."""
    return [floordiv(size + (count - 1), count) if k == along else size for k, size in enumerate(e.sizes[:-1])]


def _shared_loop(e: Elements, work: Work, count: int) -> int:
    """The loop along which a thread has several rows: where these share most of what they read.

    Of equals the first: rows of the last one are next to each other in a block, which shares what they read through
    its cache.
    """
    last = len(e.sizes) - 2
    if last == 0:
        return 0
    loaded = {k: _loads(e, work, k, count) for k in range(last + 1)}
    least = min(loaded.values())
    alone = count * _loads(e, work, last, 1)
    return last if least == alone else next(k for k in loaded if loaded[k] == least)


def _loads(e: Elements, work: Work, number: int, count: int) -> int:
    """How many different elements some rows along a loop read."""
    axis = e.groups[number][-1]
    indices: list[Index] = [tuple(shifted(place, axis, k) for place in work.index) for k in range(count)]
    picked = main_pieces(e, work.roots, indices)
    return len(reads(e, [p for at in indices for p in demand(work.roots, at, e.ndim, chosen=False, picked=picked)]))


def _fewer(count: int, rows: DimLike) -> int:
    """No more rows than there are."""
    while isinstance(rows, int) and count > max(rows, 1):
        count //= 2
    return count


def _row_loops(
    e: Elements, work: Work, along: int, count: int, width: int, condition: Value | None
) -> None:
    """The loops of threads that have so many rows along a loop, and columns, run where the condition holds."""
    rows, columns = e.sizes[along], e.sizes[-1]
    zero, one, each = e.dim(0), e.dim(1), e.dim(count)
    last = len(e.sizes) - 2
    names = [f"i{k}" for k in range(len(e.sizes))]
    head = Builder(e.loc)
    group = Value(INDEX, names[last])
    indices = [group]
    total, step = e.dim(rows), each
    if last > 0:
        group = rest = Value(INDEX, "group")
        lengths = _groups(e, along, count)
        total, step = e.dim(product(lengths)), one
        indices = []
        for k in range(last, 0, -1):
            length = e.dim(lengths[k])
            indices.insert(0, head.emit("remainder_truncated", (rest, length), name=names[k] if k != along else ""))
            rest = head.emit("divide_truncated", (rest, length))
        indices.insert(0, rest)
        indices[along] = head.emit("multiply", (indices[along], each), name=names[along])
    row = indices[along]
    if condition is not None:
        total = e.before.emit("where", (condition, total, zero), name="rows" if width == 1 else "vector_rows")

    def across(builder: Builder, before: Builder, at: Value, together: int) -> None:
        """The loop over columns, with some rows from one on."""
        body = copy_of(e, before)
        column = Value(INDEX, names[-1])
        body.loop_index = [*indices[:along], at, *indices[along + 1 :], column]
        _unroll(body, work, along, 1, together, width)
        loop(builder, body.inside, (zero, e.dim(columns), e.dim(width)), "grid", column)

    if count == 1:
        across(head, e.before, row, 1)
    else:
        end = head.emit("add", (row, each))
        full, part, single = Builder(e.loc), Builder(e.loc), Builder(e.loc)
        # Where there are fewer rows, the offset of the last one may be no index.
        across(full, full, row, count)
        full.emit("yield")
        at = Value(INDEX, "row")
        across(single, e.before, at, 1)
        loop(part, single, (row, e.dim(rows), one), "serial", at)
        part.emit("yield")
        whole = head.emit("less_equal", (end, e.dim(rows)))
        head.inst("if", (whole,), {}, (), (Block((), full.take()), Block((), part.take())))
    loop(e.before, head, (zero, total, step), "grid_rows", group)
