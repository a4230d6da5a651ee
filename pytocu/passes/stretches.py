"""Inner loops of CPU kernels in stretches, in each of which a concatenation is one of its pieces.

A branch in the innermost loop keeps it from becoming vector code.  Where the position that decides
moves with the loop, the loop is cut where pieces begin; where it does not, the branch is around
the loop.  Whether a piece is asked about at all depends on the branches and stretches around it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Value
from pytocu.ir.dims import DimLike
from pytocu.ir.types import INDEX
from pytocu.passes import turned_loops
from pytocu.passes.accesses import Index, choice_key, demand, is_choice, pieces
from pytocu.passes.affine import Affine
from pytocu.passes.elements import Elements
from pytocu.passes.known_positions import Known
from pytocu.record import Mutable

CHUNK = 1 << 12
"""Elements of a loop in stretches that is alone: threads take so many at a time."""

MOST = 16
"""Stretches of a loop: each is the whole body once more."""


class Cut(Mutable):
    """A branch around the last loop, or two stretches of it, for the two answers to a comparison.

    Attributes
    ----------
    known : Known
        What the branches and stretches around it tell.
    place, start : Affine, DimLike
        The position that is compared, and where a piece begins; None where the loop is not cut.
    inside : bool
        Whether the position moves with the last loop.
    below, behind : Cut
        Where the position is in front of the piece, and where it is not.
    """

    known: Known
    place: Affine | None = None
    start: DimLike = 0
    inside: bool = False
    below: Cut | None = None
    behind: Cut | None = None


def cuts(e: Elements, roots: Sequence[Value], index: Index) -> Cut:
    """Where the last loop is cut, so that most concatenations are decided."""
    whole = Cut(e.known)
    waiting = deque([whole])
    total = 1
    while waiting and total < MOST:
        cut = waiting.popleft()
        found = _undecided(e, roots, index, cut.known)
        if found is None:
            continue
        cut.place, cut.start, cut.inside = found
        cut.below, cut.behind = (Cut(cut.known.compared(cut.place, cut.start, below)) for below in (True, False))
        waiting.extend((cut.below, cut.behind))
        total += 1
    return whole


def _undecided(
    e: Elements, roots: Sequence[Value], index: Index, known: Known
) -> tuple[Affine, DimLike, bool] | None:
    """The next comparison that the last loop alone decides, or what is around it: these come first."""
    last = len(e.groups) - 1
    if last < 0:
        return None
    picked: dict[tuple[Value, Affine], int] = {}
    while True:
        found: list[tuple[Affine, DimLike, bool]] = []
        count = len(picked)
        for value, at in demand(roots, index, e.ndim, chosen=False, picked=picked):
            if not is_choice(value) or choice_key(value, at) in picked:
                continue
            assert value.inst is not None
            key = choice_key(value, at)
            place = key[1]
            starts = [start for _, _, start in pieces(value.inst, at)]
            number = 0
            while number + 1 < len(starts) and known.is_below(place, starts[number + 1]) is False:
                number += 1
            if number + 1 == len(starts) or known.is_below(place, starts[number + 1]):
                picked[key] = number
                continue
            steps = [place.coefficients[group[-1]] for group in e.groups]
            inside = not place.parts and steps[last] == 1 and all(s == 0 for s in steps[:last])
            if inside or not place.moves(e.groups[last][0]):
                found.append((place, starts[number + 1], inside))
        around = next((f for f in found if not f[2]), None)
        if around is not None or len(picked) == count:
            return around or (found[0] if found else None)


def chunk(e: Elements, builder: Builder, number: Value, count: int) -> tuple[Value, Value]:
    """Where the elements of a chunk of so many begin and end."""
    size, length = e.dim(count), e.dim(e.sizes[-1])
    first = builder.emit("multiply", (number, size), name="first")
    end = builder.emit("add", (first, size))
    return first, builder.emit("where", (builder.emit("less", (end, length)), end, length), name="end")


def write(
    e: Elements,
    builder: Builder,
    outer: Sequence[Value],
    bounds: tuple[Value, Value],
    cut: Cut,
    body: Callable[[], None],
) -> None:
    """The last loop, in as many stretches as it is cut into; `body` writes what one iteration computes."""
    whole, several = e.known, cut.place is not None

    def one(bounds: tuple[Value, Value]) -> None:
        made, offsets = dict(e.made), dict(e.offsets)
        j = Value(INDEX, "j")
        e.inside = Builder(e.inside.loc)
        e.loop_index = [*outer, j]
        body()
        e.inside.emit("yield")
        region = Block((j,), e.inside.take())
        if not turned_loops.write(e, builder, bounds, region):
            builder.inst("for", (*bounds, e.dim(1)), {"over": "serial"}, (), (region,))
        if several:
            e.made, e.offsets = made, offsets

    def part(bounds: tuple[Value, Value], cut: Cut) -> None:
        # A position that is compared may be stated by what has pieces itself.
        e.known = cut.known
        if cut.place is None:
            one(bounds)
            return
        assert cut.below is not None and cut.behind is not None
        if cut.inside:
            lower, upper = bounds
            start = e.dim(cut.start - cut.place.offset)
            end = builder.emit("where", (builder.emit("less", (start, upper)), start, upper))
            end = builder.emit("where", (builder.emit("less", (end, lower)), lower, end))
            part((lower, end), cut.below)
            part((end, upper), cut.behind)
            return
        e.loop_index = [*outer, e.dim(0)]
        here = builder.emit("less", (e.address(builder, cut.place), e.dim(cut.start)))
        sides: list[Block] = []
        for side in (cut.below, cut.behind):
            made, offsets = dict(e.made), dict(e.offsets)
            with builder.nested() as insts:
                part(bounds, side)
                builder.emit("yield")
            # What was computed for a piece is known in its region only.
            e.made, e.offsets = made, offsets
            sides.append(Block((), tuple(insts)))
        builder.inst("if", (here,), {}, (), tuple(sides))

    part(bounds, cut)
    e.known = whole
