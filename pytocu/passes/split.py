"""Long reductions become two: of pieces, then of the pieces' results.  Long scans become three steps.

One block of threads is not enough for a long row, so the row is cut into pieces that are
combined on their own.  A scan combines the elements of each piece, scans these totals, and then scans
each piece from what is before it: no piece waits for another one.  Lengths alone decide where a
row is cut, never the device, so sums have the same bits everywhere.

A sum of squared distances from the mean would wait for the mean of the whole row.  Each piece sums
the distances from its own mean instead, and what that leaves out is added when pieces are combined
(Chan, Golub and LeVeque, 1979): for pieces of n_i elements with means m_i,

    sum (x - m)**2 = sum_i [ sum_(x in i) (x - m_i)**2 + n_i * (m_i - m)**2 ]

A sum of exponentials of distances from the largest element would wait for that element.  Each piece sums those of the distances
from its own largest one, and what a piece is short of is a factor (Milakov and Gimelshein, 2018): for pieces with largest
elements m_i,

    sum exp(x - m) = sum_i [ exp(m_i - m) * sum_(x in i) exp(x - m_i) ]

No term overflows, as no exponent is above 0. A piece of nothing but -inf has no distances from its largest element: it sums the
exponentials themselves, which are 0, as its factor is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from pytocu.ir.builder import Builder
from pytocu.ir.core import Function, Inst, Value
from pytocu.ir.dims import Dim, DimLike, dim_max, floordiv, product
from pytocu.ir.reductions import COMPENSATED, is_rounded
from pytocu.ir.rewrite import rewrite
from pytocu.ir.types import F32, F64, I64, WEAK_INT, ArrayType, ScalarType, element, scalar, shape_of
from pytocu.passes.accesses import Index, demand
from pytocu.passes.affine import unit
from pytocu.passes.classes import Classes
from pytocu.passes.context import PassContext
from pytocu.passes.spaces import NARROW, reduced_dims, votes

LONGEST_ROW = {"cuda": 32768, "cpu": 65536}
"""Elements of a row that one block of threads, or one thread of a CPU, combines; longer rows are cut into pieces."""

LONGEST_WIDE_ROW = 16384
"""The same of a GPU for elements of `WIDE` bytes, which would have no room in its registers, and of scans, which keep more."""

WIDE = 8

LONGEST_COLUMN = {"cuda": 1024, "cpu": 512}
"""The same where neighbouring threads have neighbouring columns."""

ROW_PIECE = {"cuda": 16384, "cpu": 32768}
"""Elements of a piece of a row, at least."""

COLUMN_PIECE = {"cuda": 256, "cpu": 128}
"""Elements of a piece of a column, at least: on a CPU a piece that is swept twice stays in the second cache."""

LONGEST_SCANNED_COLUMN, SCANNED_COLUMN_PIECE = {"cuda": 1024, "cpu": 4096}, {"cuda": 128, "cpu": 4096}
"""The same of a scan: a CPU reads everything twice where it is cut, and one thread of a GPU walks a piece."""

MOST_PIECES = {"rows": 4096, "columns": 1024}
"""Pieces grow where there would be more."""

WHOLE = 16
"""Pieces are multiples of so many elements."""

MANY = {"rows": {"cuda": 256, "cpu": 64}, "columns": {"cuda": 65536, "cpu": 16384}}
"""With more rows, or columns, a scan is not cut: it would read everything twice, and they occupy the machine."""

FEW = 8192
"""With so few columns, a scan of more than a piece of them is cut on a GPU."""


def run(function: Function, context: PassContext) -> Function:
    """Cut long reductions and scans."""
    if function.level == "host":
        return function
    classes = Classes(context)
    # A sum and a running sum of one array have the same pieces.
    made: dict[tuple[Any, ...], tuple[Value, ...]] = {}

    def parts(builder: Builder, inst: Inst, args: tuple[Value, ...], cut: dict[str, Any]) -> tuple[Value, ...]:
        axes = (inst.attr("axis"),) if inst.op.kind == "scan" else inst.attr("axes")
        attrs = {"op": inst.attr("op"), "axes": axes} | cut
        key = (args, tuple(sorted(attrs.items())))
        if key not in made:
            made[key] = builder.inst("reduce", args, attrs).results
            for part, result in zip(made[key], inst.results, strict=True):
                part.name = f"{result.name}_parts" if result.name else ""
        return made[key]

    def rule(builder: Builder, inst: Inst, args: tuple[Value, ...]) -> Sequence[Value] | None:
        if inst.op.kind not in ("reduce", "scan") or inst.attr("pieces") is not None or inst.attr("exclusive"):
            return None
        cut = _cut(inst, classes, context.target.kind)
        if cut is None:
            return None
        op = inst.attr("op")
        if inst.op.kind == "reduce" and op == "add":
            around = _mean(args[0], inst.attr("axes"), cut["piece"])
            if around is not None:
                return (_distances(builder, inst, around, product(reduced_dims(inst))),)
            below = _largest(args[0], inst.attr("axes"), cut["piece"])
            if below is not None:
                return (_exponentials(builder, below),)
        totals = parts(builder, inst, args, cut)
        if inst.op.kind == "reduce":
            if op == "add":
                return (_sum(builder, totals[0]),)
            return builder.inst("reduce", totals, {"op": op, "axes": (0,)}).results
        starts = builder.inst("scan", totals, {"op": op, "axis": 0, "exclusive": True}).result
        starts.name = f"{inst.result.name}_starts" if inst.result.name else ""
        return builder.inst("scan", (*args, starts), dict(inst.attrs) | cut).results

    return classes.state(rewrite(function, rule))


def _cut(inst: Inst, classes: Classes, kind: str) -> dict[str, Any] | None:
    """How many pieces the rows are cut into, and their length; None where they stay whole."""
    dims = reduced_dims(inst)
    length = product(dims)
    columns = reads_columns(inst, classes)
    form = "columns" if columns else "rows"
    longest = (LONGEST_COLUMN if columns else LONGEST_ROW)[kind]
    shortest = (COLUMN_PIECE if columns else ROW_PIECE)[kind]
    if kind == "cuda" and not columns and (inst.op.kind == "scan" or element(inst.args[0].type).itemsize >= WIDE):
        longest = LONGEST_WIDE_ROW
    if inst.op.kind == "scan":
        if columns:
            longest, shortest = LONGEST_SCANNED_COLUMN[kind], SCANNED_COLUMN_PIECE[kind]
        shape = shape_of(inst.args[0].type)
        rows = product([d for a, d in enumerate(shape) if a != inst.attr("axis")])
        if columns and kind == "cuda" and classes.at_most(rows, FEW):
            longest = shortest
        # A length that may be any is not cut: one block is right for every row.
        if classes.at_most(length, longest) is not False or not classes.at_most(rows, MANY[form][kind]):
            return None
    elif classes.at_most(length, longest) is not False:
        return None
    most = MOST_PIECES[form]
    piece: DimLike = shortest
    if not classes.at_most(length, most * shortest):
        # In whole vectors, so that pieces begin where vectors do.
        piece = dim_max(_rounded_up(length, most * WHOLE) * WHOLE, shortest)
    return {"pieces": _rounded_up(length, piece), "piece": piece}


class _Around(NamedTuple):
    """Squared distances from a mean: of which values, the sums of their pieces, and the mean."""

    values: Value
    sums: Value
    mean: Sequence[Inst]


def _mean(squares: Value, axes: tuple[int, ...], piece: DimLike) -> _Around | None:
    """What is squared, if that is the distance of values from their own mean, whose sum is cut alike."""
    square = squares.inst
    if square is None or square.op.name not in ("square", "multiply") or len(set(square.args)) != 1:
        return None
    distance = square.args[0].inst
    if distance is None or distance.op.name != "subtract":
        return None
    values, mean = distance.args
    steps: list[Inst] = []
    while mean.inst is not None and mean.inst.op.name in ("broadcast", "newaxis", "cast", "divide"):
        if mean.inst.op.kind == "elementwise":
            steps.insert(0, mean.inst)
            if not all(isinstance(a.type, ScalarType) for a in mean.inst.args[1:]):
                return None
        mean = mean.inst.args[0]
    parts = _parts(mean, "add", values, axes, piece)
    return None if parts is None or mean.inst is None else _Around(values, parts, [mean.inst, *steps])


class _Below(NamedTuple):
    """Exponentials of distances from the largest element: of which values, the largest of their pieces, and of all."""

    values: Value
    tops: Value
    top: Value


def _largest(exponentials: Value, axes: tuple[int, ...], piece: DimLike) -> _Below | None:
    """What exponentials are of, if that is the distance of values from the largest of them, which is cut alike."""
    exp = exponentials.inst
    if exp is None or exp.op.name != "exp" or element(exp.result.type) not in (F32, F64):
        return None
    distance = exp.args[0].inst
    if distance is None or distance.op.name != "subtract":
        return None
    values, top = distance.args
    while top.inst is not None and top.inst.op.name in ("broadcast", "newaxis"):
        top = top.inst.args[0]
    parts = _parts(top, "maximum", values, axes, piece)
    return None if parts is None else _Below(values, parts, top)


def _parts(total: Value, op: str, values: Value, axes: tuple[int, ...], piece: DimLike) -> Value | None:
    """The results of the pieces that a reduction was made of, if it is one of these values that was cut so."""
    last = total.inst
    if last is None or last.op.kind != "reduce" or last.attr("axes") != (0,) or last.args[0].inst is None:
        return None
    parts = last.args[0].inst
    made = last.attr("op")
    if (op if made == COMPENSATED else made, parts.op.kind, parts.attr("op")) != (op, "reduce", op) or parts.args != (values,):
        return None
    return parts.result if (parts.attr("axes"), parts.attr("piece")) == (axes, piece) else None


def _distances(builder: Builder, inst: Inst, around: _Around, length: DimLike) -> Value:
    """The sum of squared distances from the mean of all, of those from the means of pieces."""
    values, sums, (total, *steps) = around
    assert sums.inst is not None
    attrs = dict(sums.inst.attrs)
    shape, dtype = shape_of(sums.type), scalar(element(inst.types[0]))
    number = builder.emit("iota", (), {"axis": 0, "shape": shape})
    before = builder.emit("multiply", (number, _length(builder, attrs["piece"])))
    rest = builder.emit("subtract", (_length(builder, length), before))
    count = builder.emit("minimum", (rest, _length(builder, attrs["piece"])))
    count = builder.emit("cast", (count,), {}, (ArrayType(dtype.dtype, shape),))
    means = builder.emit("divide", (sums, count), name="means")
    cut = {"axes": attrs["axes"], "piece": attrs["piece"], "shape": shape_of(values.type)}
    distance = builder.emit("subtract", (values, builder.emit("own_piece", (means,), cut)))
    inner = builder.emit("reduce", (builder.emit("square", (distance,)),), attrs)
    mean = total.results[0]
    for step in steps:
        type = shape_of(total.results[0].type)
        result = ArrayType(element(step.types[0]), type) if type else scalar(element(step.types[0]))
        mean = builder.inst(step.op, (mean, *step.args[1:]), dict(step.attrs), (result,)).result
    apart = builder.emit("subtract", (means, _beside(builder, mean, shape)))
    outer = builder.emit("multiply", (count, builder.emit("square", (apart,))))
    return _sum(builder, builder.emit("add", (inner, outer)))


def _exponentials(builder: Builder, below: _Below) -> Value:
    """The sum of exponentials of distances from the largest element, of those from the largest of pieces."""
    values, tops, top = below
    assert tops.inst is not None
    attrs = dict(tops.inst.attrs)
    shape, dtype = shape_of(tops.type), scalar(element(tops.type))
    nothing = builder.emit("equal", (tops, builder.const(-math.inf, dtype)))
    origins = builder.emit("where", (nothing, builder.const(0.0, dtype), tops), name="origins")
    cut = {"axes": attrs["axes"], "piece": attrs["piece"], "shape": shape_of(values.type)}
    distance = builder.emit("subtract", (values, builder.emit("own_piece", (origins,), cut)))
    inner = builder.emit("reduce", (builder.emit("exp", (distance,)),), attrs | {"op": "add"})
    factor = builder.emit("exp", (builder.emit("subtract", (tops, _beside(builder, top, shape))),))
    return _sum(builder, builder.emit("multiply", (inner, factor)))


def _sum(builder: Builder, parts: Value) -> Value:
    """The sum of what the pieces of each row have; there may be thousands, one after the other."""
    dtype, shape, attrs = element(parts.type), shape_of(parts.type), {"op": "add", "axes": (0,)}
    if not is_rounded("add", dtype):
        return builder.emit("reduce", (parts,), attrs)
    whole = {"shape": shape, "expand": tuple(range(len(shape))), "ndim": 0}
    nothing = builder.emit("broadcast", (builder.const(0, scalar(dtype)),), whole)
    return builder.inst("reduce", (parts, nothing), attrs | {"op": COMPENSATED}).results[0]


def _beside(builder: Builder, whole: Value, shape: Sequence[DimLike]) -> Value:
    """What there is of each row, beside what there is of each of its pieces."""
    if not shape[1:]:
        return whole
    return builder.emit("broadcast", (whole,), {"shape": tuple(shape), "expand": (0,), "ndim": len(shape) - 1})


def _length(builder: Builder, dim: DimLike) -> Value:
    if not isinstance(dim, Dim):
        return builder.const(dim, scalar(I64))
    return builder.emit("convert", (builder.emit("dim", (), {"value": dim}, (WEAK_INT,)),), {}, (scalar(I64),))


def _rounded_up(length: DimLike, divisor: DimLike) -> DimLike:
    return floordiv(length + divisor - 1, divisor)


def reads_columns(inst: Inst, classes: Classes) -> bool:
    """Whether most of what a reduction or scan reads lies along an axis that stays, and that axis is not narrow."""
    shape = shape_of(inst.args[0].type)
    ndim = len(shape)
    axes = (inst.attr("axis"),) if inst.op.kind == "scan" else inst.attr("axes")
    rest = [a for a in range(ndim) if a not in axes]
    last = shape[rest[-1]] if rest else 0
    if isinstance(last, int) and last <= NARROW:
        # Looking at what is read takes long where much is.
        return False
    # The axes that stay are the first loop indices.
    at = tuple(unit((*rest, *axes).index(a), ndim) for a in range(ndim))
    along = columns_first([(arg, at) for arg in inst.args], len(rest), ndim)
    return along and classes.at_most(last, NARROW) is False


def columns_first(roots: Sequence[tuple[Value, Index]], parallel: int, ndim: int) -> bool:
    """Whether more arrays are read along the last parallel axis than along the last reduced one.

    Those that are the same all along one of them are small beside the others, which decide unless they are at odds.
    """
    pairs = (pair for root, at in roots for pair in demand([root], at, ndim, _is_whole))
    large, all = votes((pair for pair in pairs if pair[0].inst is None or pair[0].inst.op.name == "memory"), parallel, ndim)
    return (large or all) > 0


def _is_whole(value: Value) -> bool:
    """Whether operands are not read at the positions that are asked for: a library's, and arguments in one memory."""
    return value.inst is not None and value.inst.op.name in ("library", "memory")
