"""Changes of memory that the function makes become concatenations: a new array in pieces.

``new = u.copy(); new[1:-1] = e`` needs no array that is filled twice: every element of `new` is one of
``e`` or one of ``u``, by its position alone.  So both go into one kernel, and what reads `new` may go in
as well:

    update(old, old[a:b], e) = concatenate(old[:a], e, old[b:])

On a GPU the same is done for an argument that is changed several times by what is around each element, as in the steps
of a simulation that are written out: each step makes a new array instead of one that is copied back, arrays whose
contents are not needed any more take turns, and the last step writes the argument.

Left as updates are other changes of arguments, of strided or shuffled parts, of what reductions and scans
make (these are stored by the kernel that reduces), and those behind a left one.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytocu.ir.builder import Builder
from pytocu.ir.core import Function, Inst, Value
from pytocu.ir.dims import DimLike, dim_min, evaluate, lower_bound, symbols
from pytocu.ir.regions import origin
from pytocu.ir.rewrite import rewrite
from pytocu.ir.types import shape_of
from pytocu.passes.accesses import aligned, demand, is_blank, target_index, whole_index
from pytocu.passes.context import PassContext
from pytocu.passes.roots import on_host
from pytocu.passes.storages import contents_of

MOST = 8
"""Changes of one array: each is a branch for every element."""


def run(function: Function, context: PassContext) -> Function:
    """Write them as concatenations."""
    terminator = function.body.terminator
    arguments = {origin(terminator.args[new]) for _, new in terminator.attr("updates", ())}
    turns = _in_turns(function) if context.target.kind == "cuda" else set[Inst]()
    depth: dict[Value, int] = {}
    reduced: dict[Value, bool] = {}

    def reduces(value: Value) -> bool:
        """Whether it is made of reductions or scans."""
        if value not in reduced:
            inst = value.inst
            found = inst is not None and (inst.op.kind in ("reduce", "scan") or any(map(reduces, inst.args)))
            reduced[value] = found
        return reduced[value]

    def rule(builder: Builder, inst: Inst, args: tuple[Value, ...]) -> Sequence[Value] | None:
        if inst.op.name != "update":
            for result in inst.results:
                reduces(result)
            return None
        old, target, new = args
        if inst in turns:
            region = _region(old, target)
            assert region is not None
            made = _inserted(builder, old, new, region)
            # Behind the last change stands what the argument gets.
            return (made,) if inst.results[0] in terminator.args else (builder.emit("keep", (made,)),)
        behind = old.inst is not None and old.inst.op.name == "update"
        first = origin(inst.args[0])
        # What a region is given to change stays one memory, behind the loops and branches inside of it as well.
        if behind or on_host(old) or first.inst is None or first in arguments or reduces(old) or reduces(new):
            return None
        if context.target.kind == "cpu" and is_blank(first):
            # All but what is assigned need not be written.
            return None
        count = depth.get(old, 0) + 1
        region = _region(old, target)
        if region is None or count > MOST:
            return None
        made = _inserted(builder, old, new, region)
        depth[made] = count
        return (made,)

    return rewrite(function, rule)


def _in_turns(function: Function) -> set[Inst]:
    """The changes of arguments that are nearly all of these, each made of other elements of what was there."""
    terminator = function.body.terminator
    updates = [inst for inst in function.body.insts if inst.op.name == "update"]
    found: set[Inst] = set()
    for _, new in terminator.attr("updates", ()):
        memory, count = contents_of(terminator.args[new])
        own = [inst for inst in updates if contents_of(inst.args[0])[0] is memory]
        if memory in function.params and count == len(own) > 1 and all(map(_moves_all, own)):
            found.update(own)
    return found


def _moves_all(inst: Inst) -> bool:
    """Whether an update replaces all but a border by what is made of other elements."""
    old, target, new = inst.args
    region = _region(old, target)
    if region is None or any(2 * _long(size) < _long(d) for (_, size, _), d in zip(region, shape_of(old.type), strict=True)):
        return False
    shape = shape_of(new.type)
    if shape != shape_of(target.type):
        return False
    needed = demand([new], whole_index(len(shape)), len(shape))
    if any(v.inst is not None and v.inst.op.kind in ("reduce", "scan", "region") for v, _ in needed):
        return False
    place = target_index(target, old, whole_index(len(shape)), len(shape))
    return any(value is old and not aligned(at, place, shape) for value, at in needed)


def _long(length: DimLike) -> int:
    """A length where all that are not known are long."""
    return evaluate(length, dict.fromkeys(symbols(length), 1 << 20))


Region = list[tuple[DimLike, DimLike, bool]]
"""For each axis where a part begins, how many elements it has, and whether its view lacks the axis."""


def _region(old: Value, target: Value) -> Region | None:
    """The part of an array that a view is; None where it is none without gaps in the same order."""
    lengths = shape_of(target.type)
    place = target_index(target, old, whole_index(len(lengths)), len(lengths))
    region: Region = []
    axis = 0
    for position in place:
        if position.fixed:
            region.append((position.offset, 1, True))
            continue
        alone = [int(k == axis) for k in range(len(lengths))]
        if position.parts or list(position.coefficients) != alone:
            return None
        region.append((position.offset, lengths[axis], False))
        axis += 1
    return region if axis == len(lengths) else None


def _inserted(builder: Builder, old: Value, new: Value, region: Region) -> Value:
    """The array with a part of it replaced."""
    for axis, (_, _, lacking) in enumerate(region):
        if lacking:
            new = builder.emit("newaxis", (new,), {"axis": axis})
    lengths = shape_of(old.type)
    starts: list[DimLike] = [0] * len(lengths)
    sizes = list(lengths)
    parts: list[tuple[int, list[Value]]] = []
    for axis, (start, size, _) in enumerate(region):
        # Behind the end of a short axis there is no part.
        room = lower_bound(lengths[axis] - start)
        first = start if room is not None and room >= 0 else dim_min(start, lengths[axis])
        rest = lengths[axis] - first - size
        before, behind = (
            _part(builder, old, axis, at, length, starts, sizes) for at, length in ((0, first), (first + size, rest))
        )
        parts.append((axis, [before, new, behind]))
        starts[axis], sizes[axis] = first, size
    made = new
    for axis, pieces in reversed(parts):
        pieces[1] = made
        some = [p for p in pieces if shape_of(p.type)[axis] != 0] or [made]
        made = builder.emit("concatenate", some, {"axis": axis}) if len(some) > 1 else some[0]
    return made if made.inst is not None and made.inst.op.name == "concatenate" else builder.emit("copy", (made,))


def _part(
    builder: Builder, old: Value, axis: int, at: DimLike, length: DimLike, starts: Sequence[DimLike], sizes: Sequence[DimLike]
) -> Value:
    start, size = list(starts), list(sizes)
    start[axis], size[axis] = at, length
    return builder.emit("slice", (old,), {"start": tuple(start), "step": (1,) * len(start), "size": tuple(size)})
