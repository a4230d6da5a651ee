"""Loops whose threads move vectors: several iterations that follow each other, and what they read around them.

The iterations are rows here: one element each, or all elements along a short last axis.  A thread has
some rows that follow each other, and several such groups that lie a block apart where one alone would
store few bytes.  An operand that is read at `step` elements for each row, a fixed number of elements
on, is loaded as a vector that holds all of it for the rows of a thread: neighbours of an element (windows), and
channels that lie side by side.  Each lane is given its share, which may overlap the next lane's.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Value
from pytocu.ir.dims import DimLike, lower_bound, product, substitute
from pytocu.ir.types import INDEX, ArrayType, VectorType, element, scalar
from pytocu.passes import schedule
from pytocu.passes.accesses import Index, demand, is_choice, position
from pytocu.passes.affine import Affine
from pytocu.passes.costs import operations
from pytocu.passes.elements import Elements
from pytocu.passes.loop_parts import Work, alignment, copy_of, itemsize_of, loop, walk, widest
from pytocu.record import Record


class Span(Record):
    """Memory that a thread loads as one vector.

    Attributes
    ----------
    pointer : Value
    step : int
        Elements from what one row reads to what the next one does.
    places : dict of int to Affine
        The positions that a row reads, by their distance from ``step`` times its number.
    first, length : int
        The vector: so many elements from this distance on.
    align : int
        Bytes that its address divides by.
    size : DimLike
        Elements of the memory.
    """

    pointer: Value
    step: int
    places: dict[int, Affine]
    first: int
    length: int
    align: int
    size: DimLike


class Plan(Record):
    """How rows are given to threads.

    Attributes
    ----------
    inner : int
        Elements of a row.
    rows : int
        Rows of a thread that follow each other.
    groups : int
        Of these, a block of threads apart.
    indices : list of Index
        Where the elements of a row lie in the results.
    pairs : list of (Value, Index)
        What a row computes.
    spans : list of Span
        What is loaded as vectors.
    others : int
        Accesses of a row that are loads of their own.
    """

    inner: int
    rows: int
    groups: int
    indices: list[Index]
    pairs: list[tuple[Value, Index]]
    spans: list[Span]
    others: int

    @property
    def each(self) -> int:
        """Elements of a thread."""
        return self.inner * self.rows * self.groups


def plan(e: Elements, work: Work) -> Plan | None:
    """What threads load as vectors; None where no vector is stored, or most loads would be none."""
    if not e.sizes or not all(e.is_linear(t.offset) for t in work.targets):
        return None
    if len(e.sizes) == 1 and any(is_choice(value) for value, _ in work.pairs):
        # The elements of a thread may be in different pieces.
        return None
    made = _plan(e, work, 1, [work.index], work.pairs)
    if len(e.sizes) == 1:
        covered = sum(len(span.places) for span in made.spans)
        return None if made.others > covered else made
    whole = _whole_rows(e, work)
    return made if whole is None else whole


def _whole_rows(e: Elements, work: Work) -> Plan | None:
    """Rows of several elements, where these share what they compute."""
    inner = e.sizes[-1]
    assert isinstance(inner, int)
    if inner < 2:
        return None
    width = widest(e, work)
    lanes = max(schedule.VECTOR_BYTES // width, 1)
    if inner * lanes // gcd(lanes, inner) * width > schedule.WHOLE_ROW_BYTES:
        return None
    indices: list[Index] = [tuple(_at(e, place, j) for place in work.index) for j in range(inner)]
    pairs = list(dict.fromkeys(p for index in indices for p in demand(work.roots, index, e.ndim, chosen=False)))
    shared = inner * _operations(e, work.pairs) - _operations(e, pairs)
    return _plan(e, work, inner, indices, pairs) if shared >= schedule.LEAST_SHARED_OPERATIONS else None


def _operations(e: Elements, pairs: Sequence[tuple[Value, Index]]) -> int:
    """Simple operations that elements take."""
    return sum(operations(v.inst) for v, at in pairs if v.inst is not None and (v, at) not in e.made)


def _at(e: Elements, place: Affine, number: int) -> Affine:
    """A position at a fixed index of the innermost loop."""
    axes = e.groups[-1]
    coefficients = tuple(0 if axis in axes else c for axis, c in enumerate(place.coefficients))
    return Affine(coefficients, place.offset + place.coefficients[axes[-1]] * number, place.parts)


def _plan(e: Elements, work: Work, inner: int, indices: list[Index], pairs: list[tuple[Value, Index]]) -> Plan:
    lanes = schedule.VECTOR_BYTES // widest(e, work)
    rows = min(max(lanes, schedule.LEAST_LANES), schedule.MOST_LANES)
    while rows > 1 and rows * len(pairs) > schedule.MOST_LANE_OPERATIONS:
        rows //= 2
    if inner > 1:
        # As few as fill whole vectors.
        rows //= gcd(rows, inner)
    spans, others = _spans(e, inner, rows, pairs)
    stored = min(itemsize_of(t.pointer) for t in work.targets) * rows * inner
    groups = min(-(-schedule.STORED_BYTES // stored), schedule.MOST_GROUPS)
    while groups > 1 and groups * rows * len(pairs) > schedule.MOST_LANE_OPERATIONS:
        groups -= 1
    return Plan(inner, rows, groups, indices, pairs, spans, others)


def _spans(e: Elements, inner: int, rows: int, pairs: Sequence[tuple[Value, Index]]) -> tuple[list[Span], int]:
    """The vectors that are loaded, and how many accesses are none."""
    found: dict[tuple[Value, int], dict[int, Affine]] = {}
    sizes: dict[Value, DimLike] = {}
    others: set[tuple[Value, Affine]] = set()
    for value, at in pairs:
        memory = e.memory.get(value)
        if memory is None or (value, at) in e.made:
            continue
        merged = e.merged(memory.offset(at, e.ndim))
        step = _step(e, merged, inner)
        if step and isinstance(merged.offset, int) and merged.offset >= 0 and isinstance(value.type, ArrayType):
            found.setdefault((memory.pointer, step), {})[merged.offset] = merged
            sizes[memory.pointer] = substitute(product(value.type.shape), memory.known)
        else:
            others.add((memory.pointer, merged))
    spans: list[Span] = []
    for (pointer, step), places in found.items():
        for cluster in _clusters(pointer, step, rows, places, sizes[pointer]):
            accesses = cluster.length * itemsize_of(pointer) // cluster.align
            alone = step == 1 and cluster.length == rows
            foreign = pointer in e.written and (cluster.first or cluster.length > step * rows)
            wide = step * rows * itemsize_of(pointer) > schedule.WIDEST_ROWS
            if cluster.length > 1 and not foreign and not wide and (alone or accesses < rows * len(cluster.places)):
                spans.append(cluster)
            else:
                others |= {(pointer, place) for place in cluster.places.values()}
    return spans, len(others)


def _step(e: Elements, merged: Affine, inner: int) -> int:
    """Elements of memory from one row to the next; 0 where rows do not follow each other."""
    coefficients, sizes = merged.coefficients, e.sizes
    if inner > 1:
        coefficients, sizes = coefficients[:-1], sizes[:-1]
    step = coefficients[-1]
    if merged.parts or not isinstance(step, int) or step < 1:
        return 0
    walked = (product(sizes[k + 1 :]) * step for k in range(len(sizes)))
    return step if all(c == w for c, w in zip(coefficients, walked, strict=True)) else 0


def _clusters(pointer: Value, step: int, rows: int, places: dict[int, Affine], size: DimLike) -> list[Span]:
    """Vectors that hold the places of all rows of a thread; places far from each other are in different ones."""
    itemsize = itemsize_of(pointer)
    align = min(step * rows * itemsize & -(step * rows * itemsize), schedule.VECTOR_BYTES)
    # An element that is wider than an access is moved in several.
    piece = max(align // itemsize, 1)
    spans: list[Span] = []
    for place in sorted(places):
        first = place // piece * piece
        end = -(-(place + step * (rows - 1) + 1) // piece) * piece
        last = spans[-1] if spans else None
        if last is not None and first <= last.first + last.length:
            last = spans.pop()
            first, end = last.first, max(end, last.first + last.length)
            taken = last.places | {place: places[place]}
        else:
            taken = {place: places[place]}
        spans.append(Span(pointer, step, taken, first, end - first, min(align, piece * itemsize), size))
    return spans


# Writing.


def write(e: Elements, work: Work, made: Plan) -> Value:
    """The loop over vectors; the number of the element behind the last of theirs."""
    pointers = list(dict.fromkeys([*(s.pointer for s in made.spans), *(t.pointer for t in work.targets)]))
    store = made.rows * made.inner
    bytes = {t.pointer: alignment(store * itemsize_of(t.pointer)) for t in work.targets}
    needed = dict(bytes)
    for span in made.spans:
        needed[span.pointer] = max(span.align, needed.get(span.pointer, 1))
    zero, rows, bound = e.dim(0), e.dim(made.rows), _bound(e, made)
    fit = e.before.emit("aligned", pointers, {"bytes": tuple(needed[p] for p in pointers)})
    body = Builder(e.loc)
    if made.groups == 1:
        whole = e.before.emit("subtract", (bound, e.before.emit("remainder_truncated", (bound, rows))))
        end = e.before.emit("where", (fit, whole, zero), name="vectors" if made.inner == 1 else "rows")
        i = Value(INDEX, unit_of(made.inner))
        _group(e, work, made, body, [i], bytes)
        loop(e.before, body, (zero, end, rows), "grid", i)
    else:
        block = e.dim(schedule.BLOCK)
        whole = e.before.emit("divide_truncated", (bound, e.dim(made.groups * made.rows * schedule.BLOCK)))
        whole = e.before.emit("where", (fit, whole, zero))
        threads = e.before.emit("multiply", (whole, block), name="threads")
        thread = Value(INDEX, "thread")
        number = body.emit("divide_truncated", (thread, block))
        before = body.emit("multiply", (number, e.dim((made.groups - 1) * schedule.BLOCK)))
        first = body.emit("multiply", (body.emit("add", (thread, before)), rows), name=unit_of(made.inner))
        apart = [e.dim(k * schedule.BLOCK * made.rows) for k in range(1, made.groups)]
        starts = [first, *(body.emit("add", (first, distance), name=unit_of(made.inner)) for distance in apart)]
        _group(e, work, made, body, starts, bytes)
        loop(e.before, body, (zero, threads, e.dim(1)), "grid", thread)
        end = e.before.emit("multiply", (threads, e.dim(made.groups * made.rows)), name="done")
    return end if made.inner == 1 else e.before.emit("multiply", (end, e.dim(made.inner)))


def unit_of(inner: int) -> str:
    """What the number of a row is called."""
    return "i" if inner == 1 else "row"


def _bound(e: Elements, made: Plan) -> Value:
    """How many rows there are, less those whose vectors would reach behind the end of a memory."""
    total = product(e.sizes[:-1] if made.inner > 1 else e.sizes)
    limits: dict[tuple[DimLike, int, int], None] = {}
    for span in made.spans:
        end = span.first + span.length
        behind = end - span.step * made.rows
        spare = lower_bound(span.size - total * span.step)
        needed = max(span.places) + span.step * (made.rows - 1) + 1
        if end > needed and (spare is None or spare < behind):
            limits[span.size, behind, span.step] = None
    bound = e.dim(total)
    for size, behind, step in limits:
        room = e.dim(size)
        if behind:
            room = e.before.emit("subtract" if behind > 0 else "add", (room, e.dim(abs(behind))))
        if step > 1:
            room = e.before.emit("divide_truncated", (room, e.dim(step)))
        bound = e.before.emit("where", (e.before.emit("less", (room, bound)), room, bound))
    if limits:
        bound = e.before.emit("where", (e.before.emit("less", (bound, e.dim(0))), e.dim(0), bound))
    return bound


def _group(e: Elements, work: Work, made: Plan, body: Builder, starts: Sequence[Value], bytes: dict[Value, int]) -> None:
    """All loads, then the operations, then the stores of the rows from each start on."""
    vectors = [[_load(e, body, span, i) for span in made.spans] for i in starts]
    results = [_lanes(e, work, made, body, i, loaded) for i, loaded in zip(starts, vectors, strict=True)]
    for i, stored in zip(starts, results, strict=True):
        at = i if made.inner == 1 else body.emit("multiply", (i, e.dim(made.inner)))
        for root, target, vector in zip(work.roots, work.targets, stored, strict=True):
            body.loc = root.inst.loc if root.inst is not None else e.loc
            vector.name = f"{target.pointer.name}_vector"
            body.inst("store", (target.pointer, at, vector), {"align": bytes[target.pointer]})


def _load(e: Elements, body: Builder, span: Span, i: Value) -> Value:
    at = i if span.step == 1 else body.emit("multiply", (i, e.dim(span.step)))
    at = body.emit("add", (at, e.dim(span.first))) if span.first else at
    attrs = {"align": span.align, "lanes": span.length}
    with body.at(e.places.get(span.pointer, e.loc)):
        return body.emit("load", (span.pointer, at), attrs, name=f"{span.pointer.name}_vector")


def _lanes(e: Elements, work: Work, made: Plan, body: Builder, i: Value, loaded: Sequence[Value]) -> Sequence[Value]:
    """The vectors of the results."""
    k = Value(INDEX, "k")
    lane = copy_of(e, e.before)
    lane.inside = Builder(e.loc)
    params: list[Value] = []
    reach: list[tuple[int, int, int]] = []
    lane.vectors = {}
    for span in made.spans:
        low, high = min(span.places), max(span.places)
        name = f"{span.pointer.name}_k"
        given = [Value(scalar(element(span.pointer.type)), name) for _ in range(high - low + 1)]
        lane.vectors |= {(span.pointer, place): given[at - low] for at, place in span.places.items()}
        params.extend(given)
        reach.append((span.step, low - span.first, len(given)))
    number = lane.inside.emit("add", (i, k), name=f"{unit_of(made.inner)}_k")
    walk(lane, number, made.inner > 1)
    lane.compute(made.pairs)
    results = [lane.made[root, position(root, index)] for root in work.roots for index in made.indices]
    lane.inside.emit("yield", results)
    types = [VectorType(element(root.type), made.rows * made.inner) for root in work.roots]
    attrs: dict[str, object] = {"lanes": made.rows}
    shares = [(s.length // made.rows, 0, s.length // made.rows) for s in made.spans]
    if reach != shares:
        attrs["reach"] = tuple(reach)
    return body.inst("lanes", loaded, attrs, types, (Block((k, *params), lane.inside.take()),)).results
