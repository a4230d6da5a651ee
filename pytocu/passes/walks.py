"""In which order memory lies, and loops over it go."""

from __future__ import annotations

from collections.abc import Sequence

from pytocu.ir.axis_orders import Ranks, best_axes, ranks_of
from pytocu.ir.core import Block, Value
from pytocu.ir.layouts import arrays_of, layout_for, results_ranks, view_ranks
from pytocu.ir.types import ArrayType, axes_of, shape_of
from pytocu.passes.accesses import view_chain


def memory_ranks(value: Value) -> Ranks | None:
    """In which order the elements of memory, or of a view of it, lie; None where it is not known while compiling."""
    base, views = view_chain(value)
    if not isinstance(base.type, ArrayType):
        return None
    if base.inst is not None and base.inst.op.name != "allocate":
        return None
    ranks: Ranks | None = ranks_of(axes_of(base.type.layout, base.type.ndim), base.type.shape)
    for view in reversed(views):
        ranks = None if ranks is None else view_ranks(view, ranks)
    return ranks


def walking_axes(result: Value) -> tuple[int, ...]:
    """The axes of a result from the outermost loop to the innermost, so that its elements are written as they lie in memory."""
    ndim = len(shape_of(result.type))
    ranks = memory_ranks(result)
    return tuple(range(ndim)) if ranks is None else best_axes(ndim, [ranks])


def layout_of_result(region: Block, root: Value, operands: Sequence[Value]) -> str:
    """The layout that a kernel gives a result, as NumPy's rule has it for what the region computes of operands in memory."""
    known = {p: memory_ranks(a) for p, a in zip(region.params, operands, strict=True) if shape_of(p.type)}
    for step in region.insts[:-1]:
        known.update(zip(step.results, results_ranks(step, {a: known.get(a) for a in arrays_of(step)}), strict=True))
    ranks = known.get(root)
    return layout_for(root.type, ranks) if ranks is not None and isinstance(root.type, ArrayType) else "C"
