"""Kernels that read memory across their rows, through a tile in the memory that a block shares.

A block takes a square of rows and columns at a time.  Its threads first read what lies along the rows' axis, as it
lies in memory, and write it to the tile; after a barrier each thread reads its own elements from there.  A row of
the tile has one element more than it holds, so that neighbouring threads of either way touch different banks.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Value
from pytocu.ir.dims import DimLike, floordiv, product
from pytocu.ir.types import INDEX, PointerType, element
from pytocu.passes import schedule
from pytocu.passes.accesses import Index, demand
from pytocu.passes.affine import Affine
from pytocu.passes.elements import Elements, Target
from pytocu.passes.loop_parts import Work, copy_of, itemsize_of, loop, shifted
from pytocu.record import Record


class Staged(Record):
    """An operand that goes through a tile: where it is read, and the tile."""

    pointer: Value
    offset: Affine
    tile: Value


class Place(Record):
    """Where a tile lies: the loop that operands lie along, indices of the loops, and where a thread is in it."""

    side: int
    across: int
    indices: tuple[Value, ...]
    low: Value
    high: Value


def write(e: Elements, work: Work, across: int, side: int) -> DimLike:
    """Write the loops over tiles with so many rows and columns to `e.before`; the threads that are wanted."""
    before = e.before
    e.invariants(work.pairs)
    pairs = e.eager(work.roots, work.index, work.pairs)
    rows, columns = e.sizes[across], e.sizes[-1]
    outer = [size for k, size in enumerate(e.sizes[:-1]) if k != across]
    down, along = (floordiv(size + (side - 1), side) for size in (rows, columns))
    total = product(outer) * down * along
    staged = _staged(e, pairs, across, side)
    length = e.dim(side)
    thread = before.emit("thread_index", name="thread")
    low = before.emit("remainder_truncated", (thread, length), name="low")
    high = before.emit("divide_truncated", (thread, length), name="high")
    tile, body = Value(INDEX, "tile"), Builder(e.loc)
    parts: list[Value] = []
    rest = tile
    for size in reversed([*outer, down, along][1:]):
        parts.insert(0, body.emit("remainder_truncated", (rest, e.dim(size))))
        rest = body.emit("divide_truncated", (rest, e.dim(size)))
    *others, row, column = [rest, *parts]
    first = [body.emit("multiply", (part, length), name=name) for part, name in ((row, "row"), (column, "column"))]
    others.insert(across, first[0])
    place = Place(side, across, (*others, first[1]), low, high)
    corners = [body.emit("add", (start, length)) for start in first]
    ends = [body.emit("less_equal", (end, e.dim(size))) for end, size in zip(corners, (rows, columns), strict=True)]
    full, part = Builder(e.loc), Builder(e.loc)
    _full(e, work, staged, place, full)
    _part(e, work, staged, place, part)
    full.emit("yield")
    part.emit("yield")
    whole = body.emit("bitwise_and", ends)
    body.inst("if", (whole,), {}, (), (Block((), full.take()), Block((), part.take())))
    body.emit("yield")
    bounds = (before.emit("block_index"), e.dim(total), before.emit("block_count"))
    before.inst("for", bounds, {"over": "serial"}, (), (Block((tile,), body.take()),))
    before.emit("return")
    return total * schedule.BLOCK


def _staged(e: Elements, pairs: Sequence[tuple[Value, Index]], across: int, side: int) -> list[Staged]:
    """The operands that lie along the rows, as many as the memory of a block is meant for."""
    found: dict[tuple[Value, Affine], Affine] = {}
    for value, at in pairs:
        memory = e.memory.get(value)
        if memory is None or (value, at) in e.made or memory.pointer in e.written:
            continue
        offset = memory.offset(at, e.ndim)
        merged = e.merged(offset)
        if merged.coefficients[across] == 1 and merged.coefficients[-1] not in (0, 1) and not merged.parts:
            found[memory.pointer, merged] = offset
    staged: list[Staged] = []
    bytes = 0
    for (pointer, _), offset in found.items():
        bytes += side * (side + 1) * itemsize_of(pointer)
        if bytes <= schedule.TILE_BYTES:
            type = PointerType(element(pointer.type), "shared")
            tile = e.before.emit("shared", (), {"size": side * (side + 1)}, (type,), name=f"{pointer.name}_tile")
            staged.append(Staged(pointer, offset, tile))
    return staged


def _at(e: Elements, builder: Builder, place: Place, row: Value, column: Value) -> Elements:
    """The kernel where an element of the tile is."""
    copy = copy_of(e, builder)
    copy.inside = builder
    indices = list(place.indices)
    indices[place.across] = builder.emit("add", (indices[place.across], row))
    indices[-1] = builder.emit("add", (indices[-1], column))
    copy.loop_index = indices
    return copy


def _in_tile(e: Elements, builder: Builder, place: Place, column: Value, row: Value) -> Value:
    """Where an element is in a tile, which has the columns of the kernel as rows."""
    return builder.emit("add", (builder.emit("multiply", (column, e.dim(place.side + 1))), row))


def _full(e: Elements, work: Work, staged: Sequence[Staged], place: Place, body: Builder) -> None:
    """A tile without an edge: all loads, then what they are needed for."""
    steps = range(0, place.side, schedule.BLOCK // place.side)
    axis, last = e.groups[place.across][-1], e.groups[-1][-1]
    there = _at(e, body, place, place.low, place.high)
    loaded: list[tuple[Staged, int, Value]] = []
    for s in staged:
        body.loc = e.places.get(s.pointer, e.loc)
        loaded += [(s, k, body.emit("load", (s.pointer, there.address(body, shifted(s.offset, last, k))))) for k in steps]
    body.loc = e.loc
    here = _at(e, body, place, place.high, place.low)
    keys = {(s.pointer, e.merged(shifted(s.offset, axis, k))) for s in staged for k in steps}
    indices: list[Index] = [tuple(shifted(p, axis, k) for p in work.index) for k in steps]
    pairs = list(dict.fromkeys(p for index in indices for p in demand(work.roots, index, e.ndim, chosen=False)))
    direct = [(v, at) for v, at in pairs if v in e.memory]
    here.compute([(v, at) for v, at in direct if (e.memory[v].pointer, e.merged(e.memory[v].offset(at, e.ndim))) not in keys])
    target = _in_tile(there, body, place, place.high, place.low)
    for s, k, value in loaded:
        at = body.emit("add", (target, there.dim(k * (place.side + 1)))) if k else target
        body.inst("store", (s.tile, at, value))
    body.emit("barrier")
    source = _in_tile(here, body, place, place.low, place.high)
    here.vectors = {}
    for s in staged:
        for k in steps:
            at = body.emit("add", (source, here.dim(k))) if k else source
            here.vectors[s.pointer, e.merged(shifted(s.offset, axis, k))] = body.emit("load", (s.tile, at))
    here.compute(pairs)
    for k, index in zip(steps, indices, strict=True):
        here.store(work.roots, index, [Target(t.pointer, shifted(t.offset, axis, k)) for t in work.targets])
    body.emit("barrier")


def _part(e: Elements, work: Work, staged: Sequence[Staged], place: Place, body: Builder) -> None:
    """A tile at an edge, element by element."""
    copy = copy_of(e, body)

    def walk(row: Value, column: Value, moving: str) -> tuple[Builder, Builder, Elements, Value, Value]:
        """A loop over the elements of a thread, and a builder for those inside of the kernel's space."""
        each, inside = Builder(e.loc), Builder(e.loc)
        k = Value(INDEX, "k")
        row, column = (each.emit("add", (v, k)) if name == moving else v for v, name in ((row, "row"), (column, "column")))
        at = _at(copy, each, place, row, column)
        ends = zip((at.loop_index[place.across], at.loop_index[-1]), (e.sizes[place.across], e.sizes[-1]), strict=True)
        within = each.emit("bitwise_and", [each.emit("less", (index, copy.dim(size))) for index, size in ends])
        at.before = at.inside = inside
        elements = at
        return each, inside, elements, within, k

    def close(each: Builder, inside: Builder, within: Value, k: Value) -> None:
        inside.emit("yield")
        other = Builder(e.loc)
        other.emit("yield")
        each.inst("if", (within,), {}, (), (Block((), inside.take()), Block((), other.take())))
        loop(body, each, (copy.dim(0), copy.dim(place.side), copy.dim(schedule.BLOCK // place.side)), "serial", k)

    each, inside, there, within, k = walk(place.low, place.high, "column")
    column = inside.emit("add", (place.high, k))
    for s in staged:
        inside.loc = e.places.get(s.pointer, e.loc)
        value = inside.emit("load", (s.pointer, there.address(inside, s.offset)))
        inside.inst("store", (s.tile, _in_tile(there, inside, place, column, place.low), value))
    close(each, inside, within, k)
    body.emit("barrier")
    each, inside, here, within, k = walk(place.high, place.low, "row")
    row = inside.emit("add", (place.high, k))
    own = _in_tile(here, inside, place, place.low, row)
    here.vectors = {(s.pointer, e.merged(s.offset)): inside.emit("load", (s.tile, own)) for s in staged}
    here.elements(work.roots, work.index, work.pairs, work.targets)
    close(each, inside, within, k)
    body.emit("barrier")
