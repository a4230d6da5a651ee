"""Which iterations a kernel has, and which reductions it computes on the way.

An iteration space has parallel axes and reduced ones.  A value that depends on reductions can
be computed in their kernel when each reduction is read at the parallel indices themselves, so
that nothing is computed twice, and the axes that remain are the reduced ones (softmax), or
none (a mean).  A reduction that is read in another way gets memory of its own.
"""

from __future__ import annotations

from collections.abc import Callable

from pytocu.ir.core import Inst, Value
from pytocu.ir.dims import DimLike
from pytocu.ir.types import shape_of
from pytocu.passes.accesses import Index, demand, into_reduction, whole_index
from pytocu.passes.affine import Affine, unit
from pytocu.record import Record

Dims = tuple[DimLike, ...]


class Space(Record):
    """Iterations of a kernel.

    Parameters
    ----------
    parallel : tuple of DimLike
        Lengths of the axes whose iterations are independent; the first loop indices.
    reduced : tuple of DimLike
        Lengths of the axes that reductions combine; the last loop indices.
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
        The reductions that the kernel computes.
    kept : tuple of Value
        Results of reductions that have to be in memory before: settle again with these.
    """

    space: Space
    at: Index
    inside: frozenset[Inst]
    kept: tuple[Value, ...]


def is_reduction(value: Value) -> bool:
    """Whether a reduction makes it."""
    return value.inst is not None and value.inst.op.kind == "reduce"


def reduced_dims(inst: Inst) -> Dims:
    """The lengths of the axes that a reduction takes away."""
    shape = shape_of(inst.args[0].type)
    return tuple(shape[a] for a in inst.attr("axes"))


def settle(value: Value, stops: Callable[[Value], bool]) -> Settled:
    """Find the iterations that compute a value; `stops` are the values that are in memory."""
    shape = shape_of(value.type)
    whole = whole_index(len(shape))
    found = _reductions(value, whole, len(shape), stops)
    chosen: tuple[tuple[int, ...], Dims, DimLike | None] | None = None
    inside: list[Inst] = []
    kept: dict[Value, None] = {}
    for reduction, at in found:
        inst = reduction.inst
        assert inst is not None
        axes = None if at is None else _own_axes(at)
        rest = () if axes is None else tuple(shape[a] for a in range(len(shape)) if a not in axes)
        key = None if axes is None else (axes, reduced_dims(inst), inst.attr("piece"))
        fits = key is not None and (not rest or (rest == key[1] and key[2] is None))
        if fits and chosen in (None, key):
            chosen = key
            inside.append(inst)
        else:
            kept[reduction] = None
    if chosen is None:
        return Settled(Space(shape), whole, frozenset(), tuple(kept))
    axes, dims, piece = chosen
    space = Space(tuple(shape[a] for a in axes), dims, piece)
    parallel = tuple(unit(k, space.ndim) for k in range(len(axes)))
    for inst in inside:
        # The list grows by the reductions that the operands of these depend on.
        for arg in inst.args:
            at = into_reduction(inst, parallel, space.ndim)
            for reduction, place in _reductions(arg, at, space.ndim, stops):
                nested = reduction.inst
                assert nested is not None
                if place == parallel and reduced_dims(nested) == dims and nested.attr("piece") == piece:
                    if nested not in inside:
                        inside.append(nested)
                else:
                    kept[reduction] = None
    others = [a for a in range(len(shape)) if a not in axes]
    index = tuple(
        unit(axes.index(a) if a in axes else len(axes) + others.index(a), space.ndim) for a in range(len(shape))
    )
    return Settled(space, index, frozenset(inside), tuple(kept))


def _reductions(value: Value, at: Index, ndim: int, stops: Callable[[Value], bool]) -> list[tuple[Value, Index | None]]:
    """The first reductions on every way into a value; no position where only some iterations need one."""
    ends = lambda v: is_reduction(v) or stops(v)  # noqa: E731
    always = set(demand([value], at, ndim, ends, chosen=False))
    needed = demand([value], at, ndim, ends)
    return [(v, place if (v, place) in always else None) for v, place in needed if is_reduction(v) and not stops(v)]


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
