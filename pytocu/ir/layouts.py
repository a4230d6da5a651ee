"""In which order NumPy makes the elements of results, given those of the operands (see `pytocu.ir.axis_orders`)."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

from pytocu.ir.axis_orders import Ranks, best_axes, layout_of_axes, ranks_of
from pytocu.ir.core import Inst, Value
from pytocu.ir.dims import DimLike
from pytocu.ir.reductions import REDUCTIONS
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
            return tuple(None if n == 1 else r for n, r in zip(shape, ranks, strict=True))
        case "view" | "real" | "imag" | "cast":
            return ranks
        case "broadcast":
            lead = len(shape) - len(ranks)
            return tuple(None if a in inst.attr("expand") or a < lead else ranks[a - lead] for a in range(len(shape)))
    return None


_RULED = ("view", "generated", "elementwise", "reduce", "scan")


def arrays_of(inst: Inst) -> list[Value]:
    """The arguments of an instruction that have axes."""
    return [a for a in inst.args if shape_of(a.type)]


def result_ranks(inst: Inst, operands: Mapping[Value, Ranks | None]) -> Ranks | None:
    """The ranks of what an instruction makes, as NumPy makes it of operands with these; None where they do not follow.

    Parameters
    ----------
    operands : mapping
        Of each of :func:`arrays_of` it.
    """
    if inst.op.kind not in _RULED and inst.op.name != "update":
        # Results of others may have different shapes.
        return None
    shape = shape_of(inst.types[0])
    if inst.op.kind == "view":
        ranks = operands.get(inst.args[0], ())
        found = None if ranks is None else view_ranks(inst, ranks)
        return row_major(shape) if found is None and _long(shape) < 2 else found
    if _long(shape) < 2 or inst.op.kind == "generated":
        return row_major(shape)
    match inst.op.name:
        case "update" | "require":
            return operands.get(inst.args[0])
        case "copy" if inst.attr("order", None) is not None:
            return ranks_of(axes_of(inst.attr("order"), len(shape)), shape)
    if inst.op.kind == "elementwise":
        return _common([_spread(value, ranks, len(shape)) for value, ranks in operands.items()], shape)
    ranks = operands.get(inst.args[0]) if inst.args else None
    if inst.op.kind == "scan":
        return ranks
    if inst.op.kind == "reduce" and inst.attr("pieces", None) is None:
        if REDUCTIONS[inst.attr("op")].states > 1:
            # Functions of positions make their results themselves.
            return row_major(shape)
        return None if ranks is None else _common([tuple(r for a, r in enumerate(ranks) if a not in inst.attr("axes"))], shape)
    return None


def _long(shape: Sequence[DimLike]) -> int:
    """How many axes have a length that is not known to be 1."""
    return sum(length != 1 for length in shape)


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
    steps = [r for r, length in zip(ranks, shape, strict=True) if length != 1]
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
