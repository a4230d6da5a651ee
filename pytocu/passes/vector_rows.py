"""Rows of a grid whose threads have several columns that follow each other, moved as vectors.

An operand may have several elements for each column that lie side by side (the coordinates of a point): a
thread loads those of all its columns at once.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Value
from pytocu.ir.dims import DimLike, lower_bound, product, substitute
from pytocu.ir.types import INDEX, ArrayType, VectorType, element, scalar
from pytocu.passes import schedule
from pytocu.passes.accesses import Index, demand, is_choice, position
from pytocu.passes.affine import Affine
from pytocu.passes.elements import Elements
from pytocu.passes.loop_parts import Work, alignment, copy_of, itemsize_of, reads, shifted, widest


def width(e: Elements, work: Work) -> int:
    """Columns of a thread: 1 where an access does not walk whole rows and is not the same for a row either."""
    lanes = min(max(schedule.VECTOR_BYTES // widest(e, work), schedule.LEAST_LANES), schedule.MOST_LANES)
    if schedule.VECTOR_ROWS * lanes * len(work.pairs) > schedule.MOST_ROW_OPERATIONS:
        return 1
    if any(is_choice(value) for value, _ in work.pairs):
        # The columns of a thread may be in different pieces.
        return 1
    stored = [e.merged(t.offset) for t in work.targets]
    if not all(_step(offset) == 1 and _walks(e, offset, lanes) for offset in stored):
        return 1
    loaded = reads(e, work.pairs)
    return lanes if all(_same(offset) or _is_vector(e, pointer, offset, loaded, lanes) for pointer, offset in loaded) else 1


def _is_vector(e: Elements, pointer: Value, offset: Affine, loaded: Sequence[tuple[Value, Affine]], lanes: int) -> bool:
    """Whether a thread loads what its columns read here as one vector."""
    step = _step(offset)
    if not _walks(e, offset, lanes) or step * lanes * itemsize_of(pointer) > schedule.WIDEST_ROWS:
        return False
    if step == 1:
        return True
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


def _first(offset: Affine) -> Affine:
    """Where the elements of a column begin among which this one is."""
    return offset + -_rest(offset)


def _rest(offset: Affine) -> int:
    """The place of an element among those of its column; rows are a multiple of these apart."""
    number = offset.offset if isinstance(offset.offset, int) else dict(offset.offset.terms).get((), 0)
    return number % _step(offset)


def fits(e: Elements, work: Work, lanes: int) -> Value:
    """Whether memory begins where vectors do, and so does each row."""
    loaded = [pointer for pointer, offset in reads(e, work.pairs) if not _same(offset)]
    pointers = list(dict.fromkeys([*loaded, *(t.pointer for t in work.targets)]))
    bytes = tuple(alignment(lanes * itemsize_of(p)) for p in pointers)
    fit = e.before.emit("aligned", pointers, {"bytes": bytes})
    rest = e.before.emit("remainder_truncated", (e.dim(e.sizes[-1]), e.dim(lanes)))
    return e.before.emit("bitwise_and", (fit, e.before.emit("equal", (rest, e.dim(0)))))


def unroll(e: Elements, work: Work, loop: int, count: int, lanes: int) -> None:
    """Some rows of the columns from the loop's index on: all loads, then the operations, then the stores."""
    axis = e.groups[loop][-1]
    indices: list[Index] = [tuple(shifted(place, axis, k) for place in work.index) for k in range(count)]
    pairs = list(dict.fromkeys(p for index in indices for p in demand(work.roots, index, e.ndim, chosen=False)))
    body = e.inside
    found: dict[tuple[Value, Affine], Value] = {}
    for value, at in pairs:
        memory = e.memory.get(value)
        if memory is None or (value, at) in e.made:
            continue
        offset = memory.offset(at, e.ndim)
        key = memory.pointer, e.merged(offset)
        if _same(key[1]):
            e.compute([(value, at)])
            continue
        first = key[0], _first(key[1])
        if first not in found:
            attrs = {"align": alignment(lanes * itemsize_of(memory.pointer)), "lanes": lanes * _step(first[1])}
            name = f"{memory.pointer.name}_vector"
            begins = e.address(body, offset + -_rest(key[1]))
            with body.at(e.places.get((value, at)) or e.places.get(value, e.loc)):
                found[first] = body.emit("load", (memory.pointer, begins), attrs, name=name)
    results = _lanes(e, work, indices, pairs, found, lanes)
    for k in range(count):
        for root, target, vector in zip(work.roots, work.targets, results[k * len(work.targets) :], strict=False):
            body.loc = root.inst.loc if root.inst is not None else e.loc
            vector.name = f"{target.pointer.name}_vector"
            at = e.address(body, shifted(target.offset, axis, k))
            body.inst("store", (target.pointer, at, vector), {"align": alignment(lanes * itemsize_of(target.pointer))})


def _lanes(
    e: Elements,
    work: Work,
    indices: Sequence[Index],
    pairs: list[tuple[Value, Index]],
    found: dict[tuple[Value, Affine], Value],
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
    lane.vectors = {}
    for pointer, first in found:
        for place in range(_step(first)):
            param = Value(scalar(element(pointer.type)), f"{pointer.name}_k")
            lane.vectors[pointer, first + place] = param
            params.append(param)
    lane.compute(pairs)
    results = [lane.made[root, position(root, index)] for index in indices for root in work.roots]
    lane.inside.emit("yield", results)
    types = [VectorType(element(result.type), lanes) for result in results]
    region = Block((k, *params), lane.inside.take())
    return e.inside.inst("lanes", list(found.values()), {"lanes": lanes}, types, (region,)).results
