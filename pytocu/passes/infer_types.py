"""Settles weak scalars and makes every conversion visible.

After this pass an elementwise instruction on arrays or NumPy scalars has operands of exactly
the dtypes of the loop NumPy picks; Python scalars have become typed constants or ``convert``
instructions.  Arithmetic on Python scalars alone stays Python's.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytocu.ir import promote
from pytocu.ir.builder import Builder
from pytocu.ir.core import Function, Inst, Value
from pytocu.ir.rewrite import rewrite
from pytocu.ir.types import BOOL, I64, U64, ArrayType, DType, WeakType, element, scalar
from pytocu.passes.context import PassContext
from pytocu.passes.fold import converted


def run(function: Function, context: PassContext) -> Function:
    """Insert conversions."""
    return rewrite(function, _settle)


def loop_dtypes(inst: Inst, args: Sequence[Value]) -> tuple[DType, ...] | None:
    """The operand dtypes of the loop an elementwise instruction runs; None for Python arithmetic."""
    if inst.op.kind != "elementwise" or inst.op.name in ("cast", "copy", "as_array"):
        return None
    if all(isinstance(a.type, WeakType) for a in args):
        return None
    if inst.op.name == "where":
        common = element(inst.types[0])
        return (BOOL, common, common)
    if not inst.op.numpy:
        return None
    operands = tuple(promote.operand(a.type) for a in args)
    if inst.op.overflow == "answer":
        operands = tuple(_comparable(a, o, operands) for a, o in zip(args, operands, strict=True))
    inputs, _ = promote.ufunc_loop(inst.op.numpy, operands)
    return inputs


def _comparable(value: Value, operand: promote.Operand, operands: tuple[promote.Operand, ...]) -> promote.Operand:
    """The dtype a Python int is compared in: comparisons answer for ints the array's dtype lacks.

    NumPy has exact loops between int64 and uint64, so either of them holds what the array's
    dtype does not.
    """
    if operand != "int":
        return operand
    dtypes = [o for o in operands if not isinstance(o, str)]
    if any(d.kind in "fc" for d in dtypes):
        return operand
    inst = value.inst
    if inst is None or inst.op.name != "const":
        return I64
    number = inst.attr("value")
    if any(d.is_integer and _fits(number, d) for d in dtypes):
        return operand
    return I64 if _fits(number, I64) else U64


def _fits(number: int, dtype: DType) -> bool:
    bits = dtype.bits - (dtype.kind == "i")
    low = -(1 << bits) if dtype.kind == "i" else 0
    return low <= number < (1 << bits)


def _settle(builder: Builder, inst: Inst, args: tuple[Value, ...]) -> Sequence[Value] | None:
    wanted = loop_dtypes(inst, args)
    if wanted is None:
        return None
    wrap = inst.op.name == "where" and promote.where_wraps()
    settled = tuple(_as(builder, a, d, wrap) for a, d in zip(args, wanted, strict=True))
    if inst.op.name in _COMPARISONS and {d.kind for d in wanted} == {"i", "u"}:
        return (_compare_signs(builder, inst.op.name, *settled),)
    if settled == args:
        return None
    made = builder.inst(inst.op, settled, dict(inst.attrs), inst.types)
    return made.results


_COMPARISONS = ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")


def _compare_signs(builder: Builder, name: str, x: Value, y: Value) -> Value:
    """int64 with uint64, exactly as NumPy's mixed loops: no dtype holds both, so the sign is looked at first."""
    # A negative x is less than y, and than a negative y x is greater.
    signed, holds = (x, ("less", "less_equal")) if element(x.type) is not U64 else (y, ("greater", "greater_equal"))
    negative = builder.emit("less", (signed, builder.const(0, scalar(I64))))
    compared = builder.emit(name, (_as(builder, x, U64), _as(builder, y, U64)))
    if name in (*holds, "not_equal"):
        return builder.emit("bitwise_or", (negative, compared))
    return builder.emit("bitwise_and", (builder.emit("invert", (negative,)), compared))


def _as(builder: Builder, value: Value, dtype: DType, wrap: bool = False) -> Value:
    match value.type:
        case WeakType(kind):
            inst = value.inst
            if inst is not None and inst.op.name == "const":
                number = converted(inst.attr("value"), dtype.numpy, builder, wrap)
                return builder.const(number, scalar(dtype), value.name)
            attrs = {"wrap": True} if wrap and kind == "int" and dtype.is_integer else {}
            return builder.emit("convert", (value,), attrs, (scalar(dtype),), name=value.name)
        case ArrayType(found, shape):
            if found is dtype:
                return value
            return builder.emit("cast", (value,), {}, (ArrayType(dtype, shape),))
        case _:
            if element(value.type) is dtype:
                return value
            return builder.emit("cast", (value,), {}, (scalar(dtype),))
