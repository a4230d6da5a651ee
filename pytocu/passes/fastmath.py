"""Opting out of exactness: the flags of ``fastmath=`` on instructions, and what acts on them.

The flags are LLVM's.  ``contract`` and ``arcp`` are rewritten here for every backend, since
the vendor compilers always run with contraction off; the LLVM backend also hands all flags
to LLVM.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytocu.ir.builder import Builder
from pytocu.ir.core import Function, Inst, Value
from pytocu.ir.rewrite import rewrite
from pytocu.ir.types import ScalarType, VectorType, element
from pytocu.passes.context import PassContext

_FLAGGED = frozenset({"add", "subtract", "multiply", "divide", "negative", "fmod"})


def run(function: Function, context: PassContext) -> Function:
    """Put the flags on float arithmetic and apply contraction and reciprocal division."""
    flags = context.fastmath

    def flag(builder: Builder, inst: Inst, args: tuple[Value, ...]) -> Sequence[Value] | None:
        if not _is_float(inst) or inst.op.name not in _FLAGGED or inst.attr("fastmath"):
            return None
        if "arcp" in flags and inst.op.name == "divide":
            # x / c = x * (1 / c) for a constant c
            divisor = args[1].inst
            if divisor is not None and divisor.op.name == "const" and divisor.attr("value"):
                reciprocal = builder.const(1.0 / divisor.attr("value"), args[1].type)
                return builder.inst("multiply", (args[0], reciprocal), {"fastmath": flags}).results
        return builder.inst(inst.op, args, {**dict(inst.attrs), "fastmath": flags}, inst.types).results

    flagged = rewrite(function, flag)
    return rewrite(flagged, _contract) if "contract" in flags else flagged


def _is_float(inst: Inst) -> bool:
    if not inst.args or not isinstance(inst.args[0].type, ScalarType | VectorType):
        return False
    return element(inst.args[0].type).kind == "f"


def _contract(builder: Builder, inst: Inst, args: tuple[Value, ...]) -> Sequence[Value] | None:
    """``x * y + z = fma(x, y, z)``, ``x * y - z = fma(x, y, -z)``, ``z - x * y = fma(-x, y, z)``."""
    if not _is_float(inst) or inst.op.name not in ("add", "subtract"):
        return None
    left, right = args
    factors = _factors(left)
    if factors is not None:
        z = right if inst.op.name == "add" else builder.emit("negative", (right,))
        return (builder.emit("fma", (*factors, z)),)
    factors = _factors(right)
    if factors is not None:
        x, y = factors
        x = x if inst.op.name == "add" else builder.emit("negative", (x,))
        return (builder.emit("fma", (x, y, left)),)
    return None


def _factors(value: Value) -> tuple[Value, Value] | None:
    """The operands of a product."""
    inst = value.inst
    if inst is None or inst.op.name != "multiply":
        return None
    x, y = inst.args
    return x, y
