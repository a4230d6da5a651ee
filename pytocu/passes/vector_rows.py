"""Rows of a grid whose threads have several columns that follow each other, moved as vectors.

An operand may have several elements for each column that lie side by side (the coordinates of a point): a
thread loads those of all its columns at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Value
from pytocu.ir.dims import Dim, DimLike, as_symbol, lower_bound, product, substitute, symbol
from pytocu.ir.types import INDEX, ArrayType, VectorType, element, scalar
from pytocu.passes import schedule
from pytocu.passes.accesses import Index, demand, position
from pytocu.passes.affine import Affine
from pytocu.passes.elements import Elements
from pytocu.passes.loop_parts import Work, alignment, copy_of, itemsize_of, one_piece_each, reads, shifted, widest
from pytocu.record import Mutable, Record


class Span(Mutable):
    """Memory that a thread loads as one vector.

    Attributes
    ----------
    base : Affine
        A place where vectors begin.
    step : int
        Elements from what one column reads to what the next one does.
    first, length : int
        The vector: so many elements from this distance from the place on.
    places : dict of Affine to int
        What the first column reads, as distances from the beginning of the vector.
    """

    base: Affine
    step: int
    first: int
    length: int
    places: dict[Affine, int]


class Place(Record):
    """Where the columns of a row read: so many elements behind a place where vectors begin."""

    base: Affine
    rest: int


def width(e: Elements, work: Work) -> int:
    """Columns of a thread: 1 where an access does not walk whole rows and is not the same for a row either."""
    lanes = min(max(schedule.VECTOR_BYTES // widest(e, work), schedule.LEAST_LANES), schedule.MOST_LANES)
    if schedule.VECTOR_ROWS * lanes * len(work.pairs) > schedule.MOST_ROW_OPERATIONS:
        return 1
    stored = [e.merged(t.offset) for t in work.targets]
    if not all(_step(offset) == 1 and _walks(e, offset, lanes) for offset in stored):
        return 1
    loaded = _loaded(e, work, lanes)
    return lanes if all(_same(offset) or _is_vector(e, pointer, offset, loaded, lanes) for pointer, offset in loaded) else 1


def height(e: Elements, work: Work, lanes: int) -> int:
    """Rows of a thread; one where columns read their neighbours, since rows are shared through the cache then."""
    found = (_place(e, offset, lanes) for _, offset in _loaded(e, work, lanes))
    return 1 if any(place is not None and place.rest % lanes for place in found) else schedule.VECTOR_ROWS


def ends(e: Elements, index: Index, lanes: int) -> list[Index]:
    """The positions of the first and the last of the columns of a thread."""
    axis = e.groups[-1][-1]
    return [index, tuple(shifted(place, axis, lanes - 1) for place in index)]


def _loaded(e: Elements, work: Work, lanes: int) -> list[tuple[Value, Affine]]:
    """What is loaded where all columns of a thread are in one piece of each concatenation."""
    ways = one_piece_each(e, work.roots, ends(e, work.index, lanes))
    if not ways:
        return reads(e, work.pairs)
    found = (reads(e, demand(work.roots, work.index, e.ndim, chosen=False, picked=picked)) for picked in ways)
    return list(dict.fromkeys(read for way in found for read in way))


def _is_vector(e: Elements, pointer: Value, offset: Affine, loaded: Sequence[tuple[Value, Affine]], lanes: int) -> bool:
    """Whether a thread loads what its columns read here as one vector."""
    step = _step(offset)
    if step == 1:
        place = _place(e, offset, lanes)
        if place is None or place.rest % lanes == 0:
            return place is not None
        # A vector of which a column reads something is in the memory as a whole, where that is made of whole ones.
        return pointer not in e.written and _divides(e, _size(e, pointer), lanes)
    if not _walks(e, offset, lanes) or step * lanes * itemsize_of(pointer) > schedule.WIDEST_ROWS:
        return False
    first = _first(offset)
    beside = [o for p, o in loaded if p is pointer and _walks(e, o, lanes) and _first(o) == first]
    # Not much is loaded that no column reads, and all of it is in the memory.
    walked = [size for size, c in zip(e.sizes, offset.coefficients, strict=True) if c != 0]
    room = lower_bound(_size(e, pointer) - (first.offset + product(walked) * step))
    return 2 * len(beside) >= step and room is not None and room >= 0


def _size(e: Elements, pointer: Value) -> DimLike:
    """Elements of a memory; 0 where that is not known."""
    for value, memory in e.memory.items():
        if memory.pointer is pointer and isinstance(value.type, ArrayType):
            return substitute(product(value.type.shape), memory.known)
    return 0


def _same(offset: Affine) -> bool:
    """Whether all columns of a row read one element."""
    return not offset.parts and offset.coefficients[-1] == 0


def _step(offset: Affine) -> int:
    """Elements from one column to the next; 0 where that is not known."""
    step = offset.coefficients[-1]
    return step if isinstance(step, int) and step > 0 else 0


def _walks(e: Elements, offset: Affine, lanes: int) -> bool:
    """Whether rows begin at a multiple of so many columns where their length is one."""
    *outer, _ = offset.coefficients
    step = _step(offset)
    lengths = [product(e.sizes[k + 1 :]) * step for k in range(len(outer))]
    whole = all(c == 0 or c in lengths for c in outer)
    if not step or not whole or offset.parts or not isinstance(offset.offset, int):
        return False
    return offset.offset % (step * lanes) < step


def _place(e: Elements, offset: Affine, lanes: int) -> Place | None:
    """The place where vectors begin before what a row's columns read one after the other; None where that is not known."""
    if _step(offset) != 1 or offset.parts:
        return None
    least = {name: lanes if size == e.sizes[-1] else 1 for size in e.sizes if (name := as_symbol(size))}
    # An iteration is where no loop is empty, and where vectors are taken a row has one of them at least.
    begins = _at_least(offset.offset, least)
    number = begins if isinstance(begins, int) else dict(begins.terms).get((), 0)
    before = Affine(offset.coefficients, begins + (-number))
    if not _walks(e, Affine(offset.coefficients), lanes) or not _divides(e, before.offset, lanes):
        return None
    return Place(before, number)


def _at_least(dim: DimLike, least: Mapping[str, int]) -> DimLike:
    """A number of elements where symbols have more than nothing: what is the least or the greatest is known then."""
    more = substitute(dim, {name: symbol(name) + count for name, count in least.items()})
    return substitute(more, {name: symbol(name) + (-count) for name, count in least.items()})


def _divides(e: Elements, dim: DimLike, lanes: int) -> bool:
    """Whether a number of elements is made of whole vectors where rows are."""
    row = as_symbol(e.sizes[-1])
    terms = dim.terms if isinstance(dim, Dim) else (((), dim),)
    return all(c % lanes == 0 or any(not atom.args and atom.name == row for atom in atoms) for atoms, c in terms)


def _first(offset: Affine) -> Affine:
    """Where the elements of a column begin among which this one is."""
    return offset + -_rest(offset)


def _rest(offset: Affine) -> int:
    """The place of an element among those of its column; rows are a multiple of these apart."""
    number = offset.offset if isinstance(offset.offset, int) else dict(offset.offset.terms).get((), 0)
    return number % _step(offset)


def fits(e: Elements, work: Work, lanes: int) -> Value:
    """Whether memory begins where vectors do, and so does each row."""
    loaded = [pointer for pointer, offset in _loaded(e, work, lanes) if not _same(offset)]
    pointers = list(dict.fromkeys([*loaded, *(t.pointer for t in work.targets)]))
    bytes = tuple(alignment(lanes * itemsize_of(p)) for p in pointers)
    fit = e.before.emit("aligned", pointers, {"bytes": bytes})
    rest = e.before.emit("remainder_truncated", (e.dim(e.sizes[-1]), e.dim(lanes)))
    return e.before.emit("bitwise_and", (fit, e.before.emit("equal", (rest, e.dim(0)))))


def unroll(e: Elements, work: Work, loop: int, count: int, lanes: int) -> None:
    """Some rows of the columns from the loop's index on: all loads, then the operations, then the stores."""
    axis = e.groups[loop][-1]
    indices: list[Index] = [tuple(shifted(place, axis, k) for place in work.index) for k in range(count)]
    wanted = (p for index in indices for p in demand(work.roots, index, e.ndim, chosen=False, picked=e.picked))
    pairs = list(dict.fromkeys(wanted))
    read = [pair for pair in pairs if pair[0] in e.memory and pair not in e.made]
    body = e.inside
    spans = _spans(e, read, lanes)
    loaded: dict[int, tuple[Span, Value]] = {}
    for value, at in read:
        pointer, offset = e.memory[value].pointer, e.memory[value].offset(at, e.ndim)
        merged = e.merged(offset)
        if _same(merged):
            e.compute([(value, at)])
            continue
        span = spans[pointer, merged]
        if id(span) not in loaded:
            attrs = {"align": alignment(lanes * itemsize_of(pointer)), "lanes": span.length}
            begins = e.address(body, Affine(offset.coefficients, span.base.offset + span.first, offset.parts))
            with body.at(e.places.get((value, at)) or e.places.get(value, e.loc)):
                loaded[id(span)] = span, body.emit("load", (pointer, begins), attrs, name=f"{pointer.name}_vector")
    results = _lanes(e, work, indices, pairs, list(loaded.values()), lanes)
    for k in range(count):
        for root, target, vector in zip(work.roots, work.targets, results[k * len(work.targets) :], strict=False):
            body.loc = root.inst.loc if root.inst is not None else e.loc
            vector.name = f"{target.pointer.name}_vector"
            at = e.address(body, shifted(target.offset, axis, k))
            body.inst("store", (target.pointer, at, vector), {"align": alignment(lanes * itemsize_of(target.pointer))})


def _spans(e: Elements, read: Sequence[tuple[Value, Index]], lanes: int) -> dict[tuple[Value, Affine], Span]:
    """The vectors that hold what columns read, by pointer and offset."""
    found: dict[tuple[Value, Affine, int], dict[int, list[Affine]]] = {}
    for value, at in read:
        pointer, merged = e.memory[value].pointer, e.merged(e.memory[value].offset(at, e.ndim))
        if _same(merged):
            continue
        step = _step(merged)
        place = _place(e, merged, lanes) or Place(_first(merged), _rest(merged))
        found.setdefault((pointer, place.base, step), {}).setdefault(place.rest, []).append(merged)
    spans: dict[tuple[Value, Affine], Span] = {}
    for (pointer, base, step), places in found.items():
        last = None
        for rest in sorted(places):
            first = rest // (step * lanes) * step * lanes
            end = -(-(rest + step * (lanes - 1) + 1) // (step * lanes)) * step * lanes
            if last is None or first > last.first + last.length:
                last = Span(base, step, first, end - first, {})
            last.length = max(last.length, end - last.first)
            last.places.update(dict.fromkeys(places[rest], rest - last.first))
            spans.update(dict.fromkeys(((pointer, merged) for merged in places[rest]), last))
    return spans


def _lanes(
    e: Elements,
    work: Work,
    indices: Sequence[Index],
    pairs: list[tuple[Value, Index]],
    loaded: Sequence[tuple[Span, Value]],
    lanes: int,
) -> Sequence[Value]:
    k = Value(INDEX, "k")
    lane = copy_of(e, e.before)
    lane.inside = Builder(e.loc)
    # Offsets of this column are no other column's.
    lane.offsets = {a: value for a, value in lane.offsets.items() if a.coefficients[-1] == 0 and not a.parts}
    *outer, column = e.loop_index
    lane.loop_index = [*outer, lane.inside.emit("add", (column, k), name=f"{column.name}_k")]
    params: list[Value] = []
    reach: list[tuple[int, int, int]] = []
    lane.vectors = {}
    for span, vector in loaded:
        assert vector.inst is not None
        pointer = vector.inst.args[0]
        # All of what lies side by side for a column, also what it does not read.
        low, high = (min(span.places.values()), max(span.places.values())) if span.step == 1 else (0, span.step - 1)
        given = [Value(scalar(element(pointer.type)), f"{pointer.name}_k") for _ in range(high - low + 1)]
        lane.vectors |= {(pointer, merged): given[place - low] for merged, place in span.places.items()}
        params.extend(given)
        reach.append((span.step, low, len(given)))
    lane.compute(pairs)
    results = [lane.made[root, position(root, index)] for index in indices for root in work.roots]
    lane.inside.emit("yield", results)
    types = [VectorType(element(result.type), lanes) for result in results]
    attrs: dict[str, object] = {"lanes": lanes}
    if reach != [(span.length // lanes, 0, span.length // lanes) for span, _ in loaded]:
        attrs["reach"] = tuple(reach)
    region = Block((k, *params), lane.inside.take())
    return e.inside.inst("lanes", [vector for _, vector in loaded], attrs, types, (region,)).results
