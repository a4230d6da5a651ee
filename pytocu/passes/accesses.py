"""Which elements an iteration reads and writes: index maps composed from results to operands.

An iteration writes one element of each result; every operand is read at a position that is
linear in the loop indices, or has parts that are not (see `pytocu.passes.affine`).
Two accesses of one memory by a kernel are *aligned* when only one and the same iteration touches
any element with both: then the order inside an iteration decides, whatever order iterations run
in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from math import gcd
from types import MappingProxyType
from typing import TypeAlias

from pytocu.deferred import Deferred
from pytocu.ir.core import Inst, Value, named, walk
from pytocu.ir.dims import DimLike, is_number, lower_bound
from pytocu.ir.regions import HEADS, carried_count, element_count, given, is_region, kept, parameters, raises_unused
from pytocu.ir.types import ArrayType, shape_of
from pytocu.passes.affine import Affine, constant, element_of, linear_pieces, numbers_in, stating_values, unit

_walking_axes = Deferred("pytocu.passes.walks", "walking_axes")

Index: TypeAlias = tuple[Affine, ...]


def whole_index(ndim: int) -> Index:
    """The loop indices themselves."""
    return tuple(unit(axis, ndim) for axis in range(ndim))


class Walked:
    """Values that were met, each at each position.

    Positions are compared once for each tuple of them, and by its number from there on: most operands are read where their
    users are.
    """

    __slots__ = ("known", "numbers", "seen")

    def __init__(self) -> None:
        self.numbers: dict[Index, int] = {}
        self.known: dict[int, tuple[Index, int]] = {}
        self.seen: set[tuple[Value, int]] = set()


def demand(
    roots: Sequence[Value],
    index: Index,
    ndim: int,
    stops: Callable[[Value], bool] = lambda value: value.inst is None,
    chosen: bool = True,
    picked: Mapping[tuple[Value, Affine], int] = MappingProxyType({}),
    walked: Walked | None = None,
) -> list[tuple[Value, Index]]:
    """Every (value, position) the results need, operands before users, each once.

    Values that `stops` says yes to are read from memory; what they are made of is not followed.
    Without `chosen` neither are the pieces of a concatenation, of which an iteration needs one, and what a loop or
    branch reads at positions that it computes.
    Of a concatenation that has a position in `picked`, the piece of this number alone is followed.
    What is in `walked` is left out, and what is found is put there.
    """
    order: list[tuple[Value, Index]] = []
    walked = walked or Walked()
    numbers, known, seen = walked.numbers, walked.known, walked.seen
    stack: list[tuple[Value, Index, bool]] = [(r, position(r, index), False) for r in reversed(roots)]
    while stack:
        value, at, ready = stack.pop()
        if ready:
            order.append((value, at))
            continue
        place = known.get(id(at))
        if place is None:
            place = known[id(at)] = at, numbers.setdefault(at, len(numbers))
        key = value, place[1]
        if key in seen:
            continue
        seen.add(key)
        stack.append((value, at, True))
        if stops(value):
            continue
        needed = operands(value, at, ndim) if chosen or not is_region(value.inst) else outer_needs(value, at, ndim)
        if is_choice(value):
            number = picked.get(choice_key(value, at))
            if number is None and not chosen:
                continue
            needed = needed if number is None else [needed[number]]
        stack.extend([(arg, where, False) for arg, where in reversed(needed)])
    return order


def is_choice(value: Value) -> bool:
    """Whether an element of the value is that of one operand, by its position."""
    return value.inst is not None and value.inst.op.name == "concatenate"


def choice_key(value: Value, at: Index) -> tuple[Value, Affine]:
    """What decides which piece of a concatenation an element is of: its position along the axis."""
    assert value.inst is not None
    return value, at[value.inst.attr("axis")]


def position(value: Value, index: Index) -> Index:
    """A value without axes has one position."""
    return index if shape_of(value.type) else ()


def operands(value: Value, at: Index, ndim: int) -> list[tuple[Value, Index]]:
    """The operands of a value, and where an element of it reads them."""
    inst = value.inst
    if inst is None:
        return []
    if inst.op.kind == "elementwise":
        return [(arg, at if isinstance(arg.type, ArrayType) and arg.type.shape else ()) for arg in inst.args]
    return _other_operands(value, at, ndim)


@lru_cache(maxsize=16384)
def _other_operands(value: Value, at: Index, ndim: int) -> list[tuple[Value, Index]]:
    """Those that are read elsewhere than their user, which kernels ask for again and again."""
    inst = value.inst
    assert inst is not None
    match inst.op.name:
        case "gather":
            return _gathered(inst, at, ndim)
        case "concatenate":
            return [(piece, place) for piece, place, _ in pieces(inst, at)]
        case "search":
            # Where it reads the first operand is known to nobody else.
            return [(inst.args[1], position(inst.args[1], at))]
        case "compaction":
            return []
        case "fold_range":
            start, _, *bounds = inst.args
            return [(a, position(a, at)) for a in (start, *bounds)]
        case "update":
            # Elements of its operands are looked for by who writes updates.
            return []
        case "own_piece":
            # The iterations around it are those of a piece, and their first index is its number.
            return [(inst.args[0], (unit(0, ndim), *(p for a, p in enumerate(at) if a not in inst.attr("axes"))))]
    if inst.op.kind == "view":
        return [*((a, ()) for a in inst.args[1:]), (inst.args[0], _through(inst, at, ndim))]
    if inst.op.kind == "region":
        return region_needs(value, at, ndim) or []
    if inst.op.kind == "reduce":
        return [(arg, into_reduction(inst, at, ndim)) for arg in inst.args]
    if inst.op.kind == "scan":
        # The pieces of a scan are the first axis of the iteration space.
        axis = inst.attr("axis")
        starts = (unit(0, ndim), *at[:axis], *at[axis + 1 :])
        return list(zip(inst.args, (at, starts), strict=False))
    return [(arg, position(arg, at)) for arg in inst.args]


def searched(inst: Inst) -> tuple[Value, ...]:
    """The operands that are read at positions which the instruction finds itself."""
    match inst.op.name:
        case "search":
            return inst.args[:1]
        case "compaction":
            return inst.args
        case "fold_range":
            return inst.args[1:2]
    return ()


IN_REGIONS = ("elementwise", "view", "const", "generated", "choice", "scalar")
"""Rows that a region may hold whose results are computed element by element."""


def belonging(value: Value) -> list[int]:
    """The numbers of the results of a loop or branch that are computed together with one of them, at the same element."""
    inst = value.inst
    assert inst is not None
    shape = shape_of(value.type)
    wanted = {r for r in inst.results if shape_of(r.type) == shape}
    keep = kept(inst, wanted)
    inside = (i for region in inst.regions for i in region.insts if is_region(i))
    if shape and not all(shape_of(t) for t in (*(inst.types[k] for k in keep), *(t for i in inside for t in i.types))):
        # A loop in a step computes all of its numbers together, so it may need what none of these is made of.
        keep = kept(inst, wanted | {r for r in inst.results if not shape_of(r.type)})
    return keep


@lru_cache(maxsize=4096)
def of_whole_arrays(value: Value) -> bool:
    """Whether an element of the value is no matter of elements of its operands, nor may have their index."""
    return value.inst is None or not (is_region(value.inst) or value.inst.op.kind in IN_REGIONS)


@lru_cache(maxsize=4096)
def region_needs(value: Value, at: Index, ndim: int, chosen: bool = True) -> list[tuple[Value, Index]] | None:
    """The operands of a result of a loop or branch; None where an element depends on other elements that are carried.

    Without `chosen`, what only a piece of a concatenation inside of it needs is left out.
    """
    inst = value.inst
    assert inst is not None
    keep = belonging(value)
    if any(shape_of(inst.types[k]) not in ((), shape_of(value.type)) for k in keep):
        return None
    needs: dict[tuple[Value, Index], None] = {(arg, ()): None for arg in inst.args[: HEADS[inst.op.name]]}
    count, elements = carried_count(inst), element_count(inst)
    if count:
        needs.update(dict.fromkeys((given(inst)[k], position(given(inst)[k], at)) for k in keep))
    for region in inst.regions:
        params = parameters(inst, region)
        roots = [region.terminator.args[k] for k in keep]
        roots += [i.results[0] for i in region.insts if raises_unused(i)]
        if not at:
            # What is compared, and positions, are made of numbers with names.
            roots += [v for i in region.insts if i.op.name == "bind" for v in i.args]
        for operand, place in demand(roots, at, ndim, of_whole_arrays, chosen):
            made = operand.inst
            if made is None:
                if operand not in params:
                    continue
                number = params.index(operand)
                if number < elements:
                    needs[given(inst)[number], position(given(inst)[number], at)] = None
                elif number >= count:
                    needs[given(inst)[number], place] = None
                elif place != position(operand, at):
                    return None
            elif is_region(made):
                if region_needs(operand, place, ndim) is None:
                    return None
            elif made.op.kind not in IN_REGIONS or searched(made):
                # What is searched is a whole array that each step may have made anew.
                return None
    return list(needs)


@lru_cache(maxsize=4096)
def outer_needs(value: Value, at: Index, ndim: int) -> list[tuple[Value, Index]]:
    """The operands of a loop or branch without those at positions that are computed inside of it."""
    inst = value.inst
    assert inst is not None
    own: set[Value] = set()
    for region in inst.regions:
        own.update(region.params)
        for inner in walk(region):
            own.update(inner.results)
            own.update(p for r in inner.regions for p in r.params)
    # Where a piece of a concatenation is not read, it may not have the position.
    needs = region_needs(value, at, ndim, False) or []
    # A position that is made of numbers of run time may be one of the array in here only, unless the element that is
    # computed stands there.
    there = set().union(*map(numbers_in, at))
    inside = lambda p: not numbers_in(p) <= there or any(v in own for v in stating_values(p))  # noqa: E731
    needs = [(arg, place) for arg, place in needs if not any(map(inside, place))]
    return [(arg, place) for arg, place in needs if _is_there(arg, place, value, at)] if _may_misfit(inst) else needs


@lru_cache(maxsize=4096)
def _may_misfit(inst: Inst) -> bool:
    """Whether lengths may be compared for the steps of a loop alone, and need not fit where it has none."""
    if inst.op.name == "if_else":
        return False
    values = (v for region in inst.regions for inner in walk(region) for v in (*inner.args, *inner.results))
    return any(is_number(name) for v in values for name in named(shape_of(v.type)))


def _is_there(arg: Value, place: Index, value: Value, at: Index) -> bool:
    """Whether an array has an element at a position because the result has, as far as the lengths say so."""
    own, ours = shape_of(arg.type), shape_of(value.type)
    return place == at[len(at) - len(own) :] and all(a in (1, b) for a, b in zip(own[::-1], ours[::-1], strict=False))


def is_blank(value: Value) -> bool:
    """Whether a value is a new array of which each element is assigned before it is read."""
    if value.inst is None or value.inst.op.name != "copy":
        return False
    return bool(value.inst.attr("blank", None)) or is_blank(value.inst.args[0])


@lru_cache(maxsize=4096)
def is_elementwise(inst: Inst) -> bool:
    """Whether the results of a loop or branch are computed element by element."""
    if any(inner.op.name in ("check", "read_length") for region in inst.regions for inner in walk(region)):
        # The host looks at lengths, and reads them.
        return False
    found = ((r, len(shape_of(r.type))) for r in inst.results)
    return all(region_needs(r, whole_index(ndim), ndim) is not None for r, ndim in found)


def into_reduction(inst: Inst, at: Index, ndim: int) -> Index:
    """Where a reduction reads its operands: the reduced axes are the last loop indices."""
    axes = inst.attr("axes")
    first = ndim - len(axes)
    # Which piece it is decides how far a loop goes, not where an index lies.
    rest = iter(at if inst.attr("pieces") is None else at[1:])
    count = len(shape_of(inst.args[0].type))
    return tuple(unit(first + axes.index(a), ndim) if a in axes else next(rest) for a in range(count))


def _gathered(inst: Inst, at: Index, ndim: int) -> list[tuple[Value, Index]]:
    """The positions first, then the element that they name."""
    source, *positions = inst.args
    axes, first = inst.attr("axes"), inst.attr("at")
    lengths = shape_of(source.type)
    count = max(len(shape_of(p.type)) for p in positions)
    chosen = at[first : first + count]
    others = iter((*at[:first], *at[first + count :]))
    named = {a: _stated(p, position(p, chosen), lengths[a], ndim) for a, p in zip(axes, positions, strict=True)}
    place = tuple(named[a] if a in named else next(others) for a in range(len(lengths)))
    return [*((p, position(p, chosen)) for p in positions), (source, place)]


def _stated(positions: Value, at: Index, length: DimLike, ndim: int) -> Affine:
    """The position that an element states; generated positions are those of the element itself."""
    value, place = positions, at
    while value.inst is not None and value.inst.op.kind == "view":
        place = _through(value.inst, place, ndim)
        value = value.inst.args[0]
    if value.inst is not None and value.inst.op.name == "iota":
        return place[value.inst.attr("axis")]
    return element_of(positions, at, length, ndim)


def pieces(inst: Inst, at: Index) -> list[tuple[Value, Index, DimLike]]:
    """What a concatenation is made of, where an element of it reads each, and where each begins."""
    axis = inst.attr("axis")
    start: DimLike = 0
    found: list[tuple[Value, Index, DimLike]] = []
    for piece in inst.args:
        found.append((piece, (*at[:axis], at[axis] + (0 - start), *at[axis + 1 :]), start))
        start = start + shape_of(piece.type)[axis]
    return found


@lru_cache(maxsize=4096)
def walked(value: Value, at: Index, ndim: int) -> tuple[Affine, ...]:
    """What else than memory is computed of a position: values that are positions, and choices by them, in regions too.

    Each once: regions in regions share what they are made of.
    """
    inst = value.inst
    if inst is None:
        return ()
    if inst.op.name in ("iota", "concatenate"):
        return tuple(linear_pieces(at[inst.attr("axis")]))
    if not is_region(inst):
        return ()
    keep = belonging(value)
    inside = (demand([region.terminator.args[k] for k in keep], at, ndim, of_whole_arrays) for region in inst.regions)
    return tuple(dict.fromkeys(piece for pairs in inside for operand, place in pairs for piece in walked(operand, place, ndim)))


def _through(inst: Inst, at: Index, ndim: int) -> Index:
    assert inst.op.index_map is not None
    attrs = dict(inst.attrs)
    if inst.op.name == "pick":
        attrs["at"] = element_of(inst.args[1], (), shape_of(inst.args[0].type)[inst.attr("axis")], ndim)
    source = inst.op.index_map(at, attrs)
    return tuple(p if isinstance(p, Affine) else constant(p, ndim) for p in source)


def view_chain(value: Value) -> tuple[Value, list[Inst]]:
    """What a view is a view of, and the views, the last one first."""
    chain: list[Inst] = []
    while value.inst is not None and value.inst.op.kind == "view":
        chain.append(value.inst)
        value = value.inst.args[0]
    return value, chain


def walking_axes(result: Value) -> tuple[int, ...]:
    """The axes of a result from the outermost loop to the innermost, so that its elements are written as they lie in memory."""
    base, views = view_chain(result)
    if views or (isinstance(base.type, ArrayType) and base.type.layout != "C"):
        return _walking_axes(result)
    return tuple(range(len(shape_of(result.type))))


def target_index(target: Value, base: Value, index: Index, ndim: int) -> Index:
    """Where the elements of a view are in what it is a view of."""
    while target is not base:
        assert target.inst is not None
        index = _through(target.inst, index, ndim)
        target = target.inst.args[0]
    return index


def aligned(read: Index, write: Index, shape: Sequence[DimLike]) -> bool:
    """Whether no two different iterations meet in one element.

    Either the positions never meet, or they are the same map (what is written is written once,
    so the map tells iterations apart), or each loop index moves one axis of the memory alone
    and alike in both.

    Examples
    --------
    >>> x = unit(0, 1)
    >>> aligned((x,), (x,), [10]), aligned((x + 1,), (x,), [10])
    (True, False)
    >>> aligned((x, constant(0, 1)), (x, constant(3, 1)), [10]), aligned((x * 2 + 1,), (x * 2,), [10])
    (True, True)
    """
    # Of what a library reads as a whole the position is that in its result, which may have fewer axes.
    whole = len(read) != len(write)
    if not whole and (read == write or any(_apart(r, w) for r, w in zip(read, write, strict=True))):
        return True
    for axis, length in enumerate(shape):
        if length == 1:
            continue
        if whole or not any(r == w and _moves_alone(w, axis) for r, w in zip(read, write, strict=True)):
            return False
    return True


def _moves_alone(place: Affine, axis: int) -> bool:
    step = place.coefficients[axis]
    alone = all(c == 0 for k, c in enumerate(place.coefficients) if k != axis)
    return not place.parts and isinstance(step, int) and step != 0 and alone


def _apart(a: Affine, b: Affine) -> bool:
    """Two positions of an axis that are known to differ: fixed ones, or steps that never meet."""
    gap = a.offset - b.offset
    if a.parts or b.parts:
        return False
    if a.fixed and b.fixed:
        return any(low is not None and low > 0 for low in map(lower_bound, (gap, 0 - gap)))
    steps = [c for c in (*a.coefficients, *b.coefficients) if isinstance(c, int)]
    known = len(steps) == len(a.coefficients) + len(b.coefficients)
    return isinstance(gap, int) and known and gap % gcd(*steps) != 0
