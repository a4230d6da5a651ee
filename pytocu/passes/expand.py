"""Rewrites composite operations with the formulas of their rows, down to primitives."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pytocu.ir.builder import Builder
from pytocu.ir.core import Function, Inst, Value, types_of
from pytocu.ir.expander import Expander
from pytocu.ir.rewrite import rewrite
from pytocu.ir.types import F32, I16, I32, I64, U16, U32, DType, IndexType, ScalarType, Type, VectorType, element, scalar
from pytocu.passes.context import PassContext

if TYPE_CHECKING:
    from pytocu.ir.bounds import Bounds


_SHORT = {I16: I32, U16: U32}
"""What is computed in the words of a GPU, so that no compiler negates 16 bits: see `to_short` of the instructions of PTX."""

_WRAPPING = frozenset({"add", "subtract", "multiply", "negative"})


def operand_kind(inst: Inst) -> str:
    """The dtype kind that decides whether a backend spells the instruction."""
    arg = inst.args[1] if inst.op.name == "where" else inst.args[0]
    return "i" if isinstance(arg.type, IndexType) else element(arg.type).kind


def is_primitive(inst: Inst) -> bool:
    """Whether backends write an elementwise instruction directly."""
    return operand_kind(inst) in inst.op.primitive


def run(function: Function, context: PassContext | None = None) -> Function:
    """Expand until only primitives remain."""
    target = "" if context is None else context.target.kind
    exact = context is None or not context.fastmath
    stated: dict[Value, Bounds] = {}
    while True:
        expanded = rewrite(function, functools.partial(_rule, target, exact, stated))
        if expanded is function:
            return function
        function = expanded


def _rule(
    target: str, exact: bool, stated: dict[Value, Bounds], builder: Builder, inst: Inst, args: tuple[Value, ...]
) -> Sequence[Value] | None:
    # Only elements: at array level the rows stay whole, and Python arithmetic stays Python's.
    elements = args and all(isinstance(t, ScalarType | VectorType | IndexType) for t in types_of(args))
    formula = _formula(inst, target) if elements and inst.op.kind == "elementwise" else None
    made = None if formula is None else formula(Expander(builder, exact, stated), inst.types[0], *args)
    return None if made is None else (made,)


def _formula(inst: Inst, target: str) -> Callable[..., Value | None] | None:
    if target == "cuda" and inst.op.gpu_float32 is not None and inst.types[0] == scalar(F32):
        return inst.op.gpu_float32
    if target == "cuda" and _dtype(inst.types[0]) in _SHORT:
        if inst.op.name in _WRAPPING:
            return functools.partial(_in_words, inst.op.name)
        if inst.op.name == "convert_raw" and _is_wide_integer(inst.args[0].type):
            return _shortened
    if target == "cpu" and inst.op.name == "convert_raw" and inst.types[0] == scalar(I32):
        return _sum_in_int32
    # A CPU's library is called for one element at a time, so what has a formula for vectors takes that.
    if target == "cpu" and inst.op.vector is not None and operand_kind(inst) == "f":
        return inst.op.vector
    return None if inst.op.expand is None or is_primitive(inst) else inst.op.expand


def _in_words(name: str, e: Expander, type: Type, *args: Value) -> Value:
    dtype = element(type)
    return _shortened(e, type, e(name, *(e.cast(arg, _SHORT[dtype]) for arg in args)))


def _sum_in_int32(e: Expander, type: Type, x: Value) -> Value | None:
    """A position as int32: the sum of its parts, so that the one that moves with a loop is no vector of int64 first."""
    if x.inst is not None and x.inst.op.name == "convert_raw" and x.type == scalar(I64):
        return _sum_in_int32(e, type, x.inst.args[0])
    if x.inst is None or x.inst.op.name != "add" or not isinstance(x.type, IndexType):
        return None
    first, second = (e.builder.emit("convert_raw", (part,), {}, (type,)) for part in x.inst.args)
    return e("add", first, second)


def _is_wide_integer(type: Type) -> bool:
    dtype = _dtype(type)
    return dtype is None or (dtype.kind in "iu" and dtype.bits > 16)


def _dtype(type: Type) -> DType | None:
    return None if isinstance(type, IndexType) else element(type)


def _shortened(e: Expander, type: Type, x: Value) -> Value:
    dtype = element(type)
    return e.bitcast(e("to_short", e.cast(x, _SHORT[dtype])), dtype)
