"""Inner loops of CPU kernels in stretches, in each of which a concatenation is one of its pieces.

A branch in the innermost loop keeps it from becoming vector code.  Where the position that decides
moves with the loop, the loop is cut where pieces begin; where it does not, the branch is around
the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Value
from pytocu.ir.dims import DimLike
from pytocu.ir.types import INDEX
from pytocu.passes import turned_loops
from pytocu.passes.accesses import Index, choice_key, is_choice, pieces
from pytocu.passes.affine import Affine
from pytocu.passes.elements import Elements

Key = tuple[Value, Affine]
Picked = Mapping[Key, int]

CHUNK = 1 << 12
"""Elements of a loop in stretches that is alone: threads take so many at a time."""

MOST = 16
"""Stretches of a loop: each is the whole body once more."""

Choice = tuple[Key, list[DimLike], bool]
"""A concatenation and a position on its axis, where its pieces begin, and whether that is in the loop."""


def choices(e: Elements, pairs: Sequence[tuple[Value, Index]]) -> list[Choice]:
    """The concatenations that are decided by the last loop alone, or without it."""
    found: dict[Key, Choice] = {}
    total = 1
    last = len(e.groups) - 1
    for value, at in pairs:
        if last < 0 or not is_choice(value) or value.inst is None:
            continue
        key = choice_key(value, at)
        place = key[1]
        steps = [place.coefficients[group[-1]] for group in e.groups]
        starts = [start for _, _, start in pieces(value.inst, at)]
        alone = not place.parts and steps[last] == 1 and all(s == 0 for s in steps[:last])
        without = not place.moves(e.groups[last][0])
        if key not in found and (alone or without) and total * len(starts) <= MOST:
            total *= len(starts)
            found[key] = (key, [s - place.offset for s in starts] if alone else starts, alone)
    # Branches come around the loops.
    return sorted(found.values(), key=lambda choice: choice[2])


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
    cuts: Sequence[Choice],
    body: Callable[[], None],
    known: Picked = MappingProxyType({}),
) -> None:
    """The last loop, in as many stretches as the choices need; `body` writes what one iteration computes."""
    if cuts and not cuts[0][2]:
        key, starts, _ = cuts[0]
        e.loop_index = [*outer, e.dim(0)]
        e.picked = known
        place = e.address(builder, key[1])

        def branch(find: Callable[[], None]) -> Block:
            made, offsets = dict(e.made), dict(e.offsets)
            with builder.nested() as insts:
                find()
                builder.emit("yield")
            # What was computed for a piece is known in its region only.
            e.made, e.offsets = made, offsets
            return Block((), tuple(insts))

        def one_of(number: int) -> None:
            """The loops for the piece or one behind it."""
            inside = {**known, key: number}
            if number + 1 == len(starts):
                write(e, builder, outer, bounds, cuts[1:], body, inside)
                return
            here = builder.emit("less", (place, e.dim(starts[number + 1])))
            first = branch(lambda: write(e, builder, outer, bounds, cuts[1:], body, inside))
            regions = first, branch(lambda: one_of(number + 1))
            builder.inst("if", (here,), {}, (), regions)

        one_of(0)
        return
    for lower, upper, picked in _stretches(e, builder, *bounds, cuts):
        made, offsets = dict(e.made), dict(e.offsets)
        j = Value(INDEX, "j")
        e.inside = Builder(e.inside.loc)
        e.loop_index = [*outer, j]
        e.picked = {**known, **picked}
        body()
        e.inside.emit("yield")
        region = Block((j,), e.inside.take())
        if not turned_loops.write(e, builder, (lower, upper), region):
            builder.inst("for", (lower, upper, e.dim(1)), {"over": "serial"}, (), (region,))
        if cuts or known:
            e.made, e.offsets = made, offsets


def _stretches(
    e: Elements, builder: Builder, lower: Value, upper: Value, cuts: Sequence[Choice]
) -> list[tuple[Value, Value, dict[Key, int]]]:
    if not cuts:
        return [(lower, upper, {})]
    (key, starts, _), *rest = cuts
    found: list[tuple[Value, Value, dict[Key, int]]] = []
    for number in range(len(starts)):
        end = upper
        if number + 1 < len(starts):
            start = e.dim(starts[number + 1])
            end = builder.emit("where", (builder.emit("less", (start, upper)), start, upper))
            end = builder.emit("where", (builder.emit("less", (end, lower)), lower, end))
        found.extend((a, b, picked | {key: number}) for a, b, picked in _stretches(e, builder, lower, end, rest))
        lower = end
    return found
