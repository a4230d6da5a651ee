"""Selections of a zero, as compilers keep its sign.

Beside a conversion of floats, the conversion stands behind the selection:

    where(c, 0.0, convert(x)) = convert(where(c, 0.0, x))

which is exact, since a zero keeps its sign.  LLVM makes the same of it where `c` compares `x` with zero, but with the
comparison of a minimum or maximum, which takes the other zero: ``where(x > 0, 0.0, convert(x))`` would be 0 and not -0
where x is -0.  The compilers of NVIDIA, which are made of LLVM, do so too.

Beside 1 or -1, NVIDIA's assembler writes float32 with an instruction that sets 0 or 1, for -0.0 too.  The sign is put
there afterwards, with v = where(c, 0.0, 1.0) and its bits as an unsigned integer:

    where(c, -0.0, 1.0) = v | (v - 1) & 2**31
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from pytocu.ir.builder import Builder
from pytocu.ir.core import Function, Inst, Value
from pytocu.ir.rewrite import rewrite
from pytocu.ir.types import F32, U32, ScalarType, VectorType, element, scalar
from pytocu.passes.context import PassContext


def run(function: Function, context: PassContext) -> Function:
    """Write selections of zeros so that their signs stay."""
    if context.target.kind == "cuda":
        function = rewrite(function, _signed)
    while (found := rewrite(function, _rule)) is not function:
        # A float16 is converted to a float64 in two steps.
        function = found
    return function


def _parts(inst: Inst, args: Sequence[Value]) -> tuple[Inst, float, int] | None:
    """The conversion, the zero, and which argument the zero is, of a selection between them."""
    if inst.op.name != "where" or not isinstance(inst.types[0], ScalarType | VectorType):
        return None
    if element(inst.types[0]).kind != "f":
        return None
    for number in (1, 2):
        zero, other = args[number].inst, args[3 - number].inst
        is_zero = zero is not None and zero.op.name == "const" and zero.attr("value") == 0
        if zero is not None and other is not None and is_zero and _of_floats(other):
            return other, zero.attr("value"), number
    return None


def _of_floats(inst: Inst) -> bool:
    # The 16 bits of a float16 are an unsigned integer here.
    return inst.op.name == "half_to_float" or (inst.op.name == "convert_raw" and element(inst.args[0].type).kind == "f")


def _rule(builder: Builder, inst: Inst, args: tuple[Value, ...]) -> Sequence[Value] | None:
    found = _parts(inst, args)
    if found is None:
        return None
    conversion, value, number = found
    source = conversion.args[0]
    if conversion.op.name == "half_to_float":
        value = 0x8000 if math.copysign(1.0, value) < 0 else 0
    zero = builder.const(value, source.type)
    arms = (zero, source) if number == 1 else (source, zero)
    selected = builder.emit("where", (args[0], *arms))
    return builder.inst(conversion.op, (selected,), dict(conversion.attrs), inst.types).results


def _signed(builder: Builder, inst: Inst, args: tuple[Value, ...]) -> Sequence[Value] | None:
    if inst.op.name != "where" or inst.types[0] != scalar(F32):
        return None
    values = [a.inst.attr("value") if a.inst is not None and a.inst.op.name == "const" else None for a in args[1:]]
    if not any(v == 0 and math.copysign(1.0, v) < 0 for v in values if v is not None) or not {1.0, -1.0} & {*values}:
        return None
    unsigned, sign = scalar(U32), builder.const(0x80000000, scalar(U32))
    arms = [builder.const(0.0, a.type) if v == 0 else a for a, v in zip(args[1:], values, strict=True)]
    bits = builder.emit("bitcast", (builder.emit("where", (args[0], *arms)),), {}, (unsigned,))
    below = builder.emit("subtract", (bits, builder.const(1, unsigned)))
    made = builder.emit("bitwise_or", (bits, builder.emit("bitwise_and", (below, sign))))
    return (builder.emit("bitcast", (made,), {}, inst.types),)
