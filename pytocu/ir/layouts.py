"""In which order NumPy makes the elements of results, given those of the operands (see `pytocu.ir.axis_orders`)."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from pytocu.ir.axis_orders import Ranks, best_axes, layout_of_axes, ranks_of, sorted_axes
from pytocu.ir.core import Block, Inst, Value
from pytocu.ir.dims import DimLike, at_most_one
from pytocu.ir.expand_positions import reshape_groups
from pytocu.ir.reductions import REDUCTIONS
from pytocu.ir.regions import carried_count, element_count, given, parameters
from pytocu.ir.types import ArrayType, axes_of, shape_of


def view_ranks(inst: Inst, ranks: Ranks) -> Ranks | None:
    """The ranks of a view, given those of what it is a view of; None where they do not follow."""
    shape = shape_of(inst.types[0])
    match inst.op.name:
        case "transpose":
            return tuple(ranks[axis] for axis in inst.attr("axes"))
        case "newaxis":
            return (*ranks[: inst.attr("axis")], None, *ranks[inst.attr("axis") :])
        case "index" | "pick":
            return tuple(r for axis, r in enumerate(ranks) if axis != inst.attr("axis"))
        case "slice":
            return tuple(None if at_most_one(n) else r for n, r in zip(shape, ranks, strict=True))
        case "view" | "real" | "imag" | "cast" | "wrapped":
            return ranks
        case "windows":
            return (*ranks, ranks[inst.attr("axis")])
        case "diagonal":
            steps = [r for r in ranks[-2:] if r is not None]
            return (*ranks[:-2], max(steps, default=None))
        case "broadcast":
            lead = len(shape) - len(ranks)
            return tuple(None if a in inst.attr("expand") or a < lead else ranks[a - lead] for a in range(len(shape)))
        case "reshape":
            return _reshaped(shape, inst.attr("source"), ranks)
    return None


def _reshaped(shape: Sequence[DimLike], source: Sequence[DimLike], ranks: Ranks) -> Ranks | None:
    """The ranks of a reshape that is a view: axes that are split or joined stay together, in row-major order."""
    parts: list[tuple[int, tuple[int, ...]]] = []
    for axes, named in reshape_groups(shape, source):
        steps = [ranks[axis] for axis in named if source[axis] != 1]
        moving = [step for step in steps if step is not None]
        if not moving:
            continue
        between = [r for axis, r in enumerate(ranks) if axis not in named and r is not None]
        if len(moving) < len(steps) or any(a <= b for a, b in itertools.pairwise(moving)):
            return None
        if any(moving[-1] < rank < moving[0] for rank in between):
            return None
        parts.append((moving[0], axes))
    slowest = sorted(parts, key=lambda part: -part[0])
    return ranks_of([axis for _, axes in slowest for axis in axes], shape)


def arrays_of(inst: Inst) -> list[Value]:
    """The arguments of an instruction that have axes."""
    return [a for a in inst.args if shape_of(a.type)]


def results_ranks(inst: Inst, operands: Mapping[Value, Ranks | None]) -> tuple[Ranks | None, ...]:
    """The ranks of what an instruction makes, as NumPy makes it of operands with these; None where they do not follow.

    Parameters
    ----------
    operands : mapping
        Of each of :func:`arrays_of` it.
    """
    match inst.op.name:
        case "for_loop" | "while_loop":
            return _carried(inst, operands)
        case "if_else":
            sides = [_of_region(region, parameters(inst, region), _given(inst, operands)) for region in inst.regions]
            return tuple(side if side == other else None for side, other in zip(*sides, strict=True))
        case "map":
            elements = {a: operands.get(a) for a in given(inst)[: element_count(inst)] if shape_of(a.type)}
            return tuple(elementwise_ranks(elements, shape_of(type)) for type in inst.types)
    if len(inst.types) == 1:
        return (_result_ranks(inst, operands, shape_of(inst.types[0])),)
    shapes = [shape_of(type) for type in inst.types]
    return tuple(_result_ranks(inst, operands, shape) if shape == shapes[0] else None for shape in shapes)


def _result_ranks(inst: Inst, operands: Mapping[Value, Ranks | None], shape: Sequence[DimLike]) -> Ranks | None:
    if inst.op.kind == "view":
        ranks = operands.get(inst.args[0], ())
        found = None if ranks is None else view_ranks(inst, ranks)
        return row_major(shape) if found is None and _long(shape) < 2 else found
    if _long(shape) < 2 or inst.op.kind == "generated":
        return row_major(shape)
    match inst.op.name:
        case "update" | "require" | "keep":
            return operands.get(inst.args[0])
        case "memory":
            return None
        case "copy" if inst.attr("order", None) is not None:
            return ranks_of(axes_of(inst.attr("order"), len(shape)), shape)
        case "gather" if inst.attr("at") != 0:
            # NumPy makes the axes of positions the slowest ones, also where they are not the first ones.
            return None
    if inst.op.kind == "elementwise":
        return elementwise_ranks(operands, shape)
    ranks = operands.get(inst.args[0]) if inst.args else None
    if inst.op.kind == "scan":
        return ranks
    if inst.op.kind == "reduce":
        if inst.attr("pieces", None) is not None:
            return None
        if REDUCTIONS[inst.attr("op")].states > 1:
            # Functions of positions make their results themselves.
            return row_major(shape)
        return reduced_ranks(inst.args[0], inst.attr("axes"), shape, operands)
    falls = all(ranks == row_major(shape_of(a.type)) for a, ranks in operands.items() if _long(shape_of(a.type)) > 1)
    return row_major(shape) if falls else None


def chosen_ranks(
    source: Value,
    axes: Sequence[int],
    at: int,
    positions: Sequence[Value],
    shape: Sequence[DimLike],
    known: Mapping[Value, Ranks | None],
) -> Ranks | None:
    """The ranks of elements at positions on some axes, whose axes come at `at`, as NumPy's indexing makes them.

    Parameters
    ----------
    known : mapping
        The ranks of the source and of the positions.
    """
    rest = [axis for axis in range(len(shape_of(source.type))) if axis not in axes]
    count = len(shape) - len(rest)
    if not rest:
        return _common([_spread(p, known[p], len(shape)) for p in positions if shape_of(p.type)], shape)
    ranks = known[source]
    if ranks is None:
        return None
    places = [*range(at), *range(at + count, len(shape))]
    slowest = slowest_first(tuple(ranks[axis] for axis in rest))
    return ranks_of([*range(at, at + count), *(places[axis] for axis in slowest)], shape)


def product_ranks(
    first: Value, second: Value, shape: Sequence[DimLike], known: Mapping[Value, Ranks | None]
) -> Ranks | None:
    """The ranks of a stack of matrix products: the axes of the stack are in the order of the operands, then come the others."""
    cores = [min(len(shape_of(value.type)), 2) for value in (first, second)]
    stack = len(shape) - sum(count - 1 for count in cores)
    found: list[Ranks] = []
    for value, core in zip((first, second), cores, strict=True):
        ranks = known[value]
        if ranks is None:
            return None
        loop = ranks[: len(ranks) - core]
        found.append((None,) * (stack - len(loop)) + loop)
    return ranks_of([*best_axes(stack, found), *range(stack, len(shape))], shape)


def summed_ranks(
    values: Sequence[Value],
    letters: Sequence[str],
    output: str,
    shape: Sequence[DimLike],
    known: Mapping[Value, Ranks | None],
) -> Ranks | None:
    """The ranks of a sum of products along letters: NumPy orders the axes of all of them, also of those that are summed."""
    axes = [*output, *sorted(set("".join(letters)) - set(output))]
    found: list[Ranks] = []
    for value, own in zip(values, letters, strict=True):
        ranks = known[value]
        if ranks is None:
            return None
        found.append(tuple(max((r for x, r in zip(own, ranks, strict=True) if x == y and r), default=None) for y in axes))
    return ranks_of([axis for axis in best_axes(len(axes), found) if axis < len(output)], shape)


def segment_ranks(
    source: Value, place: int, shape: Sequence[DimLike], known: Mapping[Value, Ranks | None]
) -> Ranks | None:
    """The ranks of stretches of an axis combined: NumPy does not look at how far apart the elements of that axis lie."""
    ranks = known[source]
    if ranks is None:
        return None
    return ranks_of(best_axes(len(shape), [(*ranks[:place], None, *ranks[place + 1 :])]), shape)


def reduced_ranks(
    source: Value, axes: Sequence[int], shape: Sequence[DimLike], known: Mapping[Value, Ranks | None]
) -> Ranks | None:
    """The ranks of what a ufunc makes of an array without some of its axes."""
    ranks = known.get(source)
    return None if ranks is None else _common([tuple(r for a, r in enumerate(ranks) if a not in axes)], shape)


def joined_ranks(arrays: Sequence[Value], shape: Sequence[DimLike], known: Mapping[Value, Ranks | None]) -> Ranks | None:
    """The ranks of arrays one after the other; elements that are repeated lie at a distance of 0 here."""
    found: list[Ranks] = []
    for array in arrays:
        ranks = known[array]
        if ranks is None:
            return None
        lengths = zip(shape_of(array.type), ranks, strict=True)
        found.append(tuple(None if at_most_one(n) and n != 0 else r or 0 for n, r in lengths))
    return ranks_of(sorted_axes(len(shape), found), shape)


def elementwise_ranks(operands: Mapping[Value, Ranks | None], shape: Sequence[DimLike]) -> Ranks | None:
    """The ranks of what NumPy computes element by element of arrays that broadcast to a shape."""
    return _common([_spread(value, ranks, len(shape)) for value, ranks in operands.items()], shape)


def _given(inst: Inst, operands: Mapping[Value, Ranks | None]) -> list[Ranks | None]:
    """The ranks that regions are given."""
    return [_in_order(operands.get(a), shape_of(a.type)) for a in given(inst)]


def _carried(inst: Inst, operands: Mapping[Value, Ranks | None]) -> tuple[Ranks | None, ...]:
    """The ranks with which a loop can begin as it ends, where it does."""
    (region,) = inst.regions
    count = carried_count(inst)
    state = _given(inst, operands)
    while True:
        made = _of_region(region, parameters(inst, region), state)
        left = [before if before == after else None for before, after in zip(state, made, strict=False)]
        if left == state[:count]:
            return tuple(left)
        state[:count] = left


def _of_region(region: Block, params: Sequence[Value], state: Sequence[Ranks | None]) -> list[Ranks | None]:
    known = dict(zip(params, state, strict=True))
    for inst in region.insts[:-1]:
        made = results_ranks(inst, {a: known.get(a) for a in arrays_of(inst)})
        known.update(zip(inst.results, made, strict=True))
    return [_in_order(known.get(value), shape_of(value.type)) for value in region.terminator.args]


def _in_order(ranks: Ranks | None, shape: Sequence[DimLike]) -> Ranks | None:
    """Ranks that are the same for the same order, which is all that branches and loops hand on."""
    if ranks is None or _long(shape) < 2:
        return row_major(shape) if _long(shape) < 2 else None
    return ranks_of([axis for axis in slowest_first(ranks) if ranks[axis] is not None], shape)


def _long(shape: Sequence[DimLike]) -> int:
    """How many axes have a length that is not known to be 1."""
    return sum(not at_most_one(length) for length in shape)


def _spread(value: Value, ranks: Ranks | None, ndim: int) -> Ranks | None:
    """The ranks of an operand on the axes of a result."""
    return None if ranks is None else ((None,) * (ndim - len(shape_of(value.type))) + ranks)


def _common(operands: Sequence[Ranks | None], shape: Sequence[DimLike]) -> Ranks | None:
    """The ranks of a new array of a shape that is made of operands with these."""
    known = [ranks for ranks in operands if ranks is not None]
    if len(known) < len(operands) and not any(_decides(ranks, shape) for ranks in known):
        return None
    return ranks_of(best_axes(len(shape), known), shape)


def _decides(ranks: Ranks, shape: Sequence[DimLike]) -> bool:
    """Whether an operand moves along every axis, in row-major order: then so is the result, whatever others are in."""
    steps = [r for r, length in zip(ranks, shape, strict=True) if not at_most_one(length)]
    return all(a is not None and b is not None and a >= b for a, b in itertools.pairwise(steps))


def row_major(shape: Sequence[DimLike]) -> Ranks:
    """The ranks of an array in row-major order."""
    return ranks_of(range(len(shape)), shape)


def like(ranks: Ranks, shape: Sequence[DimLike]) -> Ranks:
    """The ranks of a new array that NumPy lays out as one with these: axes along which that does not move come last."""
    return ranks_of(slowest_first(ranks), shape)


def slowest_first(ranks: Ranks) -> tuple[int, ...]:
    """The axes of one array from the slowest to the fastest; those along which it does not move come last."""
    return tuple(sorted(range(len(ranks)), key=lambda axis: -(ranks[axis] or 0)))


def layout_for(type: ArrayType, ranks: Ranks) -> str:
    """The dense layout of a new array with these ranks."""
    return layout_of_axes(best_axes(type.ndim, [ranks]), type.shape)
