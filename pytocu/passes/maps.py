"""Maps without loops become array operations, which neighbouring elements share vector instructions for.

A branch in such a map is computed on both sides where these are short and cannot fail, and chosen from:

    map(x) { if c(x) { f(x) } else { g(x) } } = where(c(x), f(x), g(x))

What reads whole arrays at positions of its own choice, goes round, or fails in a branch stays a map.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Function, Inst, Value
from pytocu.ir.regions import element_count, parameters
from pytocu.ir.rewrite import rewrite
from pytocu.ir.types import DType, ScalarType, Type, element, shape_of, strong_type
from pytocu.passes.context import PassContext
from pytocu.passes.costs import operations

MOST_OPERATIONS = 24
"""What both sides of all branches may take together, in simple operations: more is done on one side only."""


def run(function: Function, context: PassContext) -> Function:
    """Write them as operations on arrays."""

    def rule(builder: Builder, inst: Inst, args: tuple[Value, ...]) -> Sequence[Value] | None:
        if inst.op.name != "map" or element_count(inst) < len(args) or not _is_plain(inst.regions[0], False):
            return None
        (region,) = inst.regions
        if sum(map(_in_branches, region.insts)) > MOST_OPERATIONS:
            return None
        loc = builder.loc
        made = _opened(builder, region, dict(zip(region.params, args, strict=True)))
        builder.loc = loc
        return [_whole(builder, value, type, args) for value, type in zip(made, inst.types, strict=True)]

    return rewrite(function, rule)


def _is_plain(region: Block, in_branch: bool) -> bool:
    """Whether it holds nothing but operations on elements, and branches that may be computed on both sides."""
    for inst in region.insts:
        if inst.op.name == "if_else":
            if not all(_is_plain(side, True) for side in inst.regions):
                return False
        elif inst.op.name == "require":
            if in_branch:
                return False
        elif inst.op.kind not in ("elementwise", "const", "scalar") and inst.op.name not in ("yield", "real", "imag"):
            return False
        if not all(isinstance(v.type, ScalarType) for v in (*inst.args, *inst.results)):
            return False
    return True


def _in_branches(inst: Inst) -> int:
    """The operations of all sides."""
    return sum(operations(i) + 1 + _in_branches(i) for side in inst.regions for i in side.insts if i.op.kind != "const")


def _opened(builder: Builder, region: Block, values: dict[Value, Value]) -> list[Value]:
    """What a region yields, of arrays."""
    for inst in region.insts[:-1]:
        args = [values[a] for a in inst.args]
        builder.loc = inst.loc
        if inst.op.name == "if_else":
            test, *given = args
            sides = [_opened(builder, s, dict(zip(parameters(inst, s), given, strict=True))) for s in inst.regions]
            builder.loc = inst.loc
            made = [_chosen(builder, test, yes, no) for yes, no in zip(*sides, strict=True)]
        else:
            types = None if inst.op.infer is not None else [_spread(element(t), args) for t in inst.types]
            made = list(builder.inst(inst.op, args, dict(inst.attrs), types).results)
        for old, new in zip(inst.results, made, strict=True):
            new.name = new.name or old.name
            values[old] = new
    return [values[a] for a in region.terminator.args]


def _chosen(builder: Builder, test: Value, yes: Value, no: Value) -> Value:
    return yes if yes is no else builder.emit("where", (test, yes, no))


def _spread(dtype: DType, args: Sequence[Value]) -> Type:
    """The type of a result that the row does not infer."""
    shape = next((shape_of(a.type) for a in args if shape_of(a.type)), ())
    return strong_type(dtype, shape)


def _whole(builder: Builder, value: Value, type: Type, args: Sequence[Value]) -> Value:
    """A result in the shape of the map, and no argument itself."""
    shape = shape_of(type)
    if shape_of(value.type) != shape:
        attrs = {"shape": shape, "expand": tuple(range(len(shape))), "ndim": 0}
        return builder.emit("copy", (builder.emit("broadcast", (value,), attrs),))
    return builder.emit("copy", (value,)) if value in args else value
