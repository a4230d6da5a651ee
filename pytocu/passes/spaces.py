"""Which iterations a kernel has, and which reductions and scans it computes on the way.

An iteration space has parallel axes and reduced ones.  A value that depends on reductions can
be computed in their kernel when each reduction is read at the parallel indices themselves, so
that nothing is computed twice, and the axes that remain are the reduced ones (softmax), or
none (a mean).  A scan is a reduction that keeps its axis, the reduced one: it is computed in a
kernel that reads it at the loop indices themselves.  A reduction or a scan that is read in
another way gets memory of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from pytocu.ir.core import Inst, Value
from pytocu.ir.dims import DimLike
from pytocu.ir.regions import is_region
from pytocu.ir.types import ArrayType, shape_of
from pytocu.passes.accesses import Index, Walked, demand, is_choice, operands, whole_index
from pytocu.passes.affine import Affine, constant, unit
from pytocu.passes.elements import strides_of
from pytocu.record import Record

Dims = tuple[DimLike, ...]

NARROW = 16
"""Rows of fewer columns are not walked column by column."""


class Space(Record):
    """Iterations of a kernel.

    Parameters
    ----------
    parallel : tuple of DimLike
        Lengths of the axes whose iterations are independent; the first loop indices.
    reduced : tuple of DimLike
        Lengths of the axes that reductions and scans combine; the last loop indices.
    piece : DimLike or None
        Where each iteration of the first parallel axis has only a piece of the reduced ones:
        its length.
    """

    parallel: Dims
    reduced: Dims = ()
    piece: DimLike | None = None

    @property
    def ndim(self) -> int:
        """How many loop indices there are."""
        return len(self.parallel) + len(self.reduced)


class Settled(Record):
    """How a value is computed.

    Parameters
    ----------
    space : Space
        The iterations.
    at : Index
        Where in the value an iteration stands.
    inside : frozenset of Inst
        The reductions and scans that the kernel computes.
    kept : tuple of Value
        Results of reductions and scans that have to be in memory before: settle again with these.
    """

    space: Space
    at: Index
    inside: frozenset[Inst]
    kept: tuple[Value, ...]


def is_reduction(value: Value) -> bool:
    """Whether a reduction makes it."""
    return value.inst is not None and value.inst.op.kind == "reduce"


def is_scan(value: Value) -> bool:
    """Whether a scan makes it."""
    return value.inst is not None and value.inst.op.kind == "scan"


def combines(value: Value) -> bool:
    """Whether elements of a row are combined to make it: by a reduction or a scan."""
    return is_reduction(value) or is_scan(value)


def is_stored(value: Value) -> bool:
    """Whether it is in memory of its own: kept there, or given by a library."""
    return value.inst is not None and value.inst.op.kind == "stored"


def is_compaction(value: Value) -> bool:
    """Whether it is the positions that a mask chooses."""
    return value.inst is not None and value.inst.op.name == "compaction"


def reduced_dims(inst: Inst) -> Dims:
    """The lengths of the axes that a reduction or scan combines."""
    shape = shape_of(inst.args[0].type)
    if inst.op.kind == "scan":
        return (shape[inst.attr("axis")],)
    return tuple(shape[a] for a in inst.attr("axes"))


class _Key(Record):
    """What values of one kernel have in common: the result's axes that are parallel, and the reduced ones."""

    axes: tuple[int, ...]
    dims: Dims
    pieces: DimLike | None
    piece: DimLike | None


def _key(value: Value, at: Index | None, ndim: int) -> _Key | None:
    """How a kernel that computes the value would be; None where it cannot be read at `at`."""
    inst = value.inst
    assert inst is not None
    axes = None if at is None else _own_axes(at)
    if axes is None:
        return None
    piece = inst.attr("piece")
    if inst.op.kind == "scan":
        if len(axes) != ndim:
            return None
        place = inst.attr("axis")
        return _Key((*axes[:place], *axes[place + 1 :]), reduced_dims(inst), inst.attr("pieces"), piece)
    # The pieces of a reduction are an axis of its result.
    return _Key(axes, reduced_dims(inst), None, piece)


def settle(value: Value, stops: Callable[[Value], bool]) -> Settled:
    """Find the iterations that compute a value; `stops` are the values that are in memory."""
    shape = shape_of(value.type)
    whole = whole_index(len(shape))
    chosen: _Key | None = None
    inside: list[tuple[Inst, Index]] = []
    kept: dict[Value, None] = {}
    leads = _Leading(stops)
    for found, at in _Ways(len(shape), stops, leads).combined(value, whole):
        key = _key(found, at, len(shape))
        rest = None if key is None else tuple(shape[a] for a in range(len(shape)) if a not in key.axes)
        fits = key is not None and (not rest or (rest == key.dims and (key.piece is None or is_scan(found))))
        if fits and chosen in (None, key):
            chosen = key
            assert found.inst is not None and at is not None
            inside.append((found.inst, at))
        else:
            kept[found] = None
    if chosen is None:
        return Settled(Space(shape), whole, frozenset(), tuple(kept))
    axes, dims, pieces, piece = chosen.axes, chosen.dims, chosen.pieces, chosen.piece
    cut = () if pieces is None else (pieces,)
    space = Space((*cut, *(shape[a] for a in axes)), dims, piece)
    parallel = tuple(unit(k, space.ndim) for k in range(len(space.parallel)))
    others = [a for a in range(len(shape)) if a not in axes]
    loops = {a: unit(len(cut) + k, space.ndim) for k, a in enumerate(axes)}
    loops |= {a: unit(len(space.parallel) + k, space.ndim) for k, a in enumerate(others)}
    index = tuple(loops[a] for a in range(len(shape)))
    # The list grows by what the operands of these depend on.
    places = [(i, index_in(at, loops) if i.op.kind == "scan" else parallel) for i, at in inside]
    ways = _Ways(space.ndim, stops, leads)
    for inst, at in places:
        for arg, place in operands(inst.results[0], at, space.ndim):
            for nested, where in ways.combined(arg, place):
                if not _belongs(nested, where, space, parallel):
                    kept[nested] = None
                elif nested.inst is not None and where is not None and all(i is not nested.inst for i, _ in places):
                    places.append((nested.inst, where))
    return Settled(space, index, frozenset(i for i, _ in places), tuple(kept))


def _belongs(value: Value, at: Index | None, space: Space, parallel: Index) -> bool:
    """Whether a kernel computes what its reductions and scans read of another one."""
    inst = value.inst
    assert inst is not None
    if at is None or inst.attr("piece") != space.piece or reduced_dims(inst) != space.reduced:
        return False
    if inst.op.kind == "reduce":
        return at == parallel
    if space.piece is not None:
        return False
    axis = inst.attr("axis")
    return (*at[:axis], *at[axis + 1 :]) == parallel and at[axis] == unit(len(parallel), space.ndim)


def index_in(at: Index, loops: Mapping[int, Affine]) -> Index:
    """A position that consists of loop indices, in terms of others."""
    return tuple(loops[place.coefficients.index(1)] for place in at)


class _Leading:
    """Whether a way from a value, wherever elements are read, may lead to a reduction or scan; `stops` as of :func:`settle`."""

    __slots__ = ("known", "stops")

    def __init__(self, stops: Callable[[Value], bool]):
        self.stops = stops
        self.known: dict[Value, bool] = {}

    def __call__(self, value: Value) -> bool:
        known = self.known
        # Not by recursion: an expression may be deeper than Python's stack.
        stack = [value]
        while stack:
            value = stack[-1]
            if value in known:
                stack.pop()
            elif self.stops(value):
                known[value] = False
            elif combines(value):
                known[value] = True
            elif value.inst is None:
                known[value] = False
            elif missing := [a for a in value.inst.args if a not in known]:
                stack.extend(missing)
            else:
                known[value] = any(known[a] for a in value.inst.args)
        return known[value]


class _Ways:
    """The ways into values, for one kernel; `leads` says of a value whether one may lead to a reduction or scan."""

    def __init__(self, ndim: int, stops: Callable[[Value], bool], leads: Callable[[Value], bool]):
        self.ndim = ndim
        self.stops = stops
        self.leads = leads
        # Not into what nothing is combined for.
        self.ends = lambda v: combines(v) or not leads(v)
        self.walked = Walked()
        self.chosen = False
        """Whether some iterations need what others do not."""

    def combined(self, value: Value, at: Index) -> list[tuple[Value, Index | None]]:
        """The first reductions and scans on every way into a value; no position where only some iterations need one.

        Those that were met before are left out, as long as every iteration needs them.
        """
        if not self.leads(value):
            return []
        if not self.chosen:
            new = demand([value], at, self.ndim, self.ends, walked=self.walked)
            self.chosen = any(is_choice(v) or is_region(v.inst) for v, _ in new)
            if not self.chosen:
                return [(v, place) for v, place in new if combines(v) and not self.stops(v)]
        always = set(demand([value], at, self.ndim, self.ends, chosen=False))
        needed = demand([value], at, self.ndim, self.ends)
        return [(v, place if (v, place) in always else None) for v, place in needed if combines(v) and not self.stops(v)]


def _own_axes(at: Index) -> tuple[int, ...] | None:
    """The loop indices that a position consists of, each once and alone; None for another position."""
    axes: list[int] = []
    for place in at:
        moving = [k for k, c in enumerate(place.coefficients) if c != 0]
        if len(moving) != 1 or place != unit(moving[0], len(place.coefficients)) or moving[0] in axes:
            return None
        axes.append(moving[0])
    return tuple(axes)


def shifted(at: Index, first: int, count: int) -> tuple[Affine, ...]:
    """Positions in terms of `count` of the loop indices, from `first` on."""
    return tuple(Affine(p.coefficients[first : first + count], p.offset) for p in at)


def votes(reads: Iterable[tuple[Value, Index]], parallel: int, ndim: int) -> tuple[int, int]:
    """By how many more arrays are read along the last parallel axis than along the last reduced one: of large ones, and of all.

    Large are those that do not stay the same all along one of these axes.
    """
    large = all = 0
    for value, place in reads:
        if not isinstance(value.type, ArrayType) or not place:
            continue
        offset = _offset(value.type, place, ndim)
        steps = offset.coefficients[parallel - 1], offset.coefficients[ndim - 1]
        vote = (steps[0] == 1) - (steps[1] == 1)
        large, all = large + vote * (0 not in steps), all + vote
    return large, all


def _offset(type: ArrayType, place: Index, ndim: int) -> Affine:
    total = constant(0, ndim)
    for position, stride in zip(place, strides_of(type, "s"), strict=True):
        total = total + position * stride
    return total
