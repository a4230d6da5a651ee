"""Constant folding: operations on constants, with the functions NumPy and Python have.

Python scalars fold with Python's operators; typed constants with NumPy's function, and only
where the row says that every backend has NumPy's bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pytocu.errors import located
from pytocu.ir import interp_rows
from pytocu.ir.builder import Builder
from pytocu.ir.core import Function, Inst, Value
from pytocu.ir.rewrite import rewrite
from pytocu.ir.types import ScalarType, WeakType, element, number_of, weak_type_of
from pytocu.passes.context import PassContext


def run(function: Function, context: PassContext) -> Function:
    """Fold what is constant."""
    return rewrite(function, _fold)


def _constant(value: Value) -> Inst | None:
    inst = value.inst
    return inst if inst is not None and inst.op.name == "const" else None


def _fold(builder: Builder, inst: Inst, args: tuple[Value, ...]) -> Sequence[Value] | None:
    if inst.op.kind not in ("elementwise", "scalar") or not args or len(inst.types) != 1:
        return None
    constants = [_constant(a) for a in args]
    if any(c is None for c in constants):
        return None
    values = [c.attr("value") for c in constants if c is not None]
    result = inst.types[0]
    if inst.op.name == "convert":
        return (builder.const(converted(values[0], element(result).numpy, builder, inst.attr("wrap", False)), result),)
    if isinstance(result, WeakType):
        return _fold_weak(builder, inst, values)
    if not isinstance(result, ScalarType) or not inst.op.exact or not all(isinstance(a.type, ScalarType) for a in args):
        return None
    if inst.op.complex_ulp and any(element(a.type).kind == "c" for a in args):
        return None
    typed = [element(a.type).numpy.type(v) for a, v in zip(args, values, strict=True)]
    with np.errstate(all="ignore"):
        match inst.op.name:
            case "cast":
                folded = interp_rows.cast(typed[0], element(result))
            case "where":
                folded = typed[1] if typed[0] else typed[2]
            case _ if inst.op.numpy:
                folded = interp_rows.evaluate(inst.op, typed)
            case _:
                return None
    return None if folded is None else (builder.const(folded.item(), result),)


def _fold_weak(builder: Builder, inst: Inst, values: list[Any]) -> Sequence[Value] | None:
    if inst.op.python is None:
        return None
    try:
        folded = inst.op.python(*values)
    except (ArithmeticError, TypeError, ValueError) as error:
        raise located(error, inst.loc) from None
    weak = weak_type_of(folded)
    return None if weak is None else (builder.const(folded, weak),)


def converted(value: Any, dtype: np.dtype, builder: Builder, wrap: bool = False) -> Any:
    """A Python scalar as the dtype's nearest number.

    Raises
    ------
    OverflowError
        A Python int that does not fit, with the user's line.
    """
    try:
        with np.errstate(all="ignore"):
            return number_of(value, dtype, wrap).item()
    except (OverflowError, ValueError, TypeError) as error:
        help = "convert the array first, as x.astype(np.int64)" if isinstance(error, OverflowError) else None
        raise located(error, builder.loc, help) from None
