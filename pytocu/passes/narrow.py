"""Arithmetic in a wider dtype than its result needs is done in the result's.

NumPy divides a float32 sum by its number of elements in float64 and rounds the quotient to
float32.  Both operands have at most 24 digits and float64 has 53, more than 2 * 24 + 1, so the two
roundings are the one of a division in float32 (Figueroa, 1995):

    float32(float64(x) / float64(n)) = x / float32(n)    where n <= 2**24
"""

from __future__ import annotations

from collections.abc import Sequence

from pytocu.ir.builder import Builder
from pytocu.ir.core import Function, Inst, Value
from pytocu.ir.dims import DimLike
from pytocu.ir.rewrite import rewrite
from pytocu.ir.types import F32, F64, ArrayType, element, scalar, shape_of
from pytocu.passes.classes import Classes
from pytocu.passes.context import PassContext

LARGEST = 2**24
"""Every integer up to here is a float32."""


def run(function: Function, context: PassContext) -> Function:
    """Divide by lengths in float32."""
    if function.level == "host":
        return function
    classes = Classes(context)

    def rule(builder: Builder, inst: Inst, args: tuple[Value, ...]) -> Sequence[Value] | None:
        if inst.op.name != "cast" or element(inst.types[0]) is not F32:
            return None
        division = args[0].inst
        if division is None or division.op.name != "divide" or element(division.types[0]) is not F64:
            return None
        dividend, divisor = (_narrow(operand) for operand in division.args)
        if dividend is None or divisor is None or element(dividend.type) is not F32:
            return None
        length = _length(divisor)
        if length is None or not classes.at_most(length, LARGEST):
            return None
        shape = shape_of(divisor.type)
        number = builder.emit("cast", (divisor,), {}, (ArrayType(F32, shape) if shape else scalar(F32),))
        return (builder.emit("divide", (dividend, number), name=inst.result.name),)

    return classes.state(rewrite(function, rule))


def _narrow(value: Value) -> Value | None:
    """What was cast to float64."""
    inst = value.inst
    return inst.args[0] if inst is not None and inst.op.name == "cast" else None


def _length(value: Value) -> DimLike | None:
    """The length that a value is."""
    inst = value.inst
    if inst is None:
        return None
    match inst.op.name:
        case "convert":
            return _length(inst.args[0])
        case "dim" | "const" if isinstance(inst.attr("value"), int) or inst.op.name == "dim":
            return inst.attr("value")
    return None
