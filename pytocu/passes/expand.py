"""Rewrites composite operations with the formulas of their rows, down to primitives."""

from __future__ import annotations

from collections.abc import Sequence

from pytocu.ir.builder import Builder
from pytocu.ir.core import Function, Inst, Value, types_of
from pytocu.ir.expand import Expander
from pytocu.ir.rewrite import rewrite
from pytocu.ir.types import IndexType, ScalarType, VectorType, element
from pytocu.passes.context import PassContext


def operand_kind(inst: Inst) -> str:
    """The dtype kind that decides whether a backend spells the instruction."""
    arg = inst.args[1] if inst.op.name == "where" else inst.args[0]
    return "i" if isinstance(arg.type, IndexType) else element(arg.type).kind


def is_primitive(inst: Inst) -> bool:
    """Whether backends write an elementwise instruction directly."""
    return operand_kind(inst) in inst.op.primitive


def run(function: Function, context: PassContext | None = None) -> Function:
    """Expand until only primitives remain."""
    while True:
        expanded = rewrite(function, _rule)
        if expanded is function:
            return function
        function = expanded


def _rule(builder: Builder, inst: Inst, args: tuple[Value, ...]) -> Sequence[Value] | None:
    if inst.op.kind != "elementwise" or inst.op.expand is None or not args:
        return None
    # Only elements: at array level the rows stay whole, and Python arithmetic stays Python's.
    if not all(isinstance(t, ScalarType | VectorType | IndexType) for t in types_of(args)) or is_primitive(inst):
        return None
    return (inst.op.expand(Expander(builder), inst.types[0], *args),)
