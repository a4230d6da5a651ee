"""Long reductions become two: of pieces, then of the pieces' results.

One block of threads is not enough for a long row, so the row is cut into pieces that are
combined on their own.  Lengths alone decide where it is cut, never the device, so sums have the
same bits everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytocu.ir.builder import Builder
from pytocu.ir.core import Function, Inst, Value
from pytocu.ir.dims import DimLike, dim_max, floordiv, product
from pytocu.ir.rewrite import rewrite
from pytocu.ir.types import ArrayType, shape_of
from pytocu.passes.accesses import Index, demand, into_reduction, whole_index
from pytocu.passes.affine import Affine, constant
from pytocu.passes.classes import Classes
from pytocu.passes.context import PassContext
from pytocu.passes.elements import strides_of

LONGEST_ROW = {"cuda": 16384, "cpu": 65536}
"""Elements of a row that one block of threads, or one thread of a CPU, combines; longer rows are cut into such pieces."""

LONGEST_COLUMN = {"cuda": 1024, "cpu": 4096}
"""The same where neighbouring threads have neighbouring columns."""

COLUMN_PIECE = 256
"""Elements of a piece of a column, at least."""

MOST_PIECES = {"rows": 4096, "columns": 1024}
"""Pieces grow where there would be more."""

NARROW = 16
"""Rows of fewer columns are not walked column by column."""


def run(function: Function, context: PassContext) -> Function:
    """Cut long reductions."""
    classes = Classes(context)
    kind = context.target.kind

    def rule(builder: Builder, inst: Inst, args: tuple[Value, ...]) -> Sequence[Value] | None:
        if inst.op.kind != "reduce" or inst.attr("pieces") is not None:
            return None
        shape = shape_of(inst.args[0].type)
        length = product([shape[a] for a in inst.attr("axes")])
        columns = reads_columns(inst, classes)
        longest = (LONGEST_COLUMN if columns else LONGEST_ROW)[kind]
        # A length that may be any is not cut: one block is right for every row.
        if classes.at_most(length, longest) is not False:
            return None
        most = MOST_PIECES["columns" if columns else "rows"]
        shortest = COLUMN_PIECE if columns and kind == "cuda" else longest
        piece = dim_max(_rounded_up(length, most), shortest)
        attrs = dict(inst.attrs) | {"pieces": _rounded_up(length, piece), "piece": piece}
        parts = builder.inst("reduce", args, attrs).results
        for part, result in zip(parts, inst.results, strict=True):
            part.name = f"{result.name}_parts" if result.name else ""
        return builder.inst("reduce", parts, {"op": inst.attr("op"), "axes": (0,)}).results

    return classes.state(rewrite(function, rule))


def _rounded_up(length: DimLike, divisor: DimLike) -> DimLike:
    return floordiv(length + divisor - 1, divisor)


def reads_columns(inst: Inst, classes: Classes) -> bool:
    """Whether most of what a reduction reads lies along an axis that stays, and that axis is not narrow."""
    shape = shape_of(inst.args[0].type)
    axes = inst.attr("axes")
    rest = [d for a, d in enumerate(shape) if a not in axes]
    ndim = len(shape)
    if not rest:
        return False
    at = into_reduction(inst, whole_index(ndim)[: len(rest)], ndim)
    along = columns_first([(arg, at) for arg in inst.args], len(rest), ndim)
    return along and classes.at_most(rest[-1], NARROW) is False


def columns_first(roots: Sequence[tuple[Value, Index]], parallel: int, ndim: int) -> bool:
    """Whether more arrays are read along the last parallel axis than along the last reduced one."""
    votes = 0
    for root, at in roots:
        for value, place in demand([root], at, ndim):
            if value.inst is not None or not isinstance(value.type, ArrayType) or not place:
                continue
            offset = _offset(value.type, place, ndim)
            votes += (offset.coefficients[parallel - 1] == 1) - (offset.coefficients[ndim - 1] == 1)
    return votes > 0


def _offset(type: ArrayType, place: Index, ndim: int) -> Affine:
    total = constant(0, ndim)
    for position, stride in zip(place, strides_of(type, "s"), strict=True):
        total = total + position * stride
    return total
