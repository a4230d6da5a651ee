"""Python numbers that loops make NumPy scalars of: ``total = 0.0`` before a loop that adds sums of arrays.

In NumPy such a name holds a Python number in the first step alone.  From the start it is a NumPy scalar here, where that
computes the same: what it meets in a step has the scalar's dtype, to which Python's number adapts.  Behind the loop it is
required that there was a step.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytocu.frontend.operators import binary
from pytocu.frontend.requirements import require
from pytocu.frontend.values import Context, as_strong, as_value, const_inst
from pytocu.ir import promote
from pytocu.ir.core import Inst, Value
from pytocu.ir.regions import HEADS, given, is_region, parameters
from pytocu.ir.types import BOOL, F64, WEAK_BOOL, DType, ScalarType, Type, WeakType, element

_EXACT = ("add", "subtract", "multiply", "negative", "positive")
"""What Python's floats and float64 compute alike, beside Python's numbers too."""


def scalar_from_start(context: Context, first: Type, behind: Type) -> Type | None:
    """The type of a name from the start that is a Python number then and a NumPy scalar behind a step."""
    if context.elements is not None or not isinstance(first, WeakType) or not isinstance(behind, ScalarType):
        return None
    if first == WEAK_BOOL:
        return behind if behind.dtype is BOOL else None
    return behind if promote.result_dtype((promote.operand(first), behind.dtype)) is behind.dtype else None


def adapts(value: Value, first: WeakType, insts: Sequence[Inst]) -> bool:
    """Whether instructions compute the same of a NumPy scalar as of the Python number that it stands for."""
    dtype = element(value.type)
    for inst in insts:
        if value not in inst.args:
            continue
        if is_region(inst):
            if value in inst.args[: HEADS[inst.op.name]]:
                return False
            for region in inst.regions:
                inner = [p for p, a in zip(parameters(inst, region), given(inst), strict=True) if a is value]
                if not all(adapts(p, first, region.insts) for p in inner):
                    return False
            continue
        others = [a for a in inst.args if a is not value]
        if inst.op.kind != "elementwise" or inst.op.name == "power":
            return False
        if others and all(_meets(first, dtype, a.type) for a in others):
            continue
        weak = all(isinstance(a.type, WeakType) for a in others)
        if not (weak and dtype is F64 and inst.op.name in _EXACT and adapts(inst.result, first, insts)):
            return False
    return True


def _meets(first: WeakType, dtype: DType, other: Type) -> bool:
    """Whether Python's number and the scalar both are computed with in the scalar's dtype beside an operand."""
    if isinstance(other, WeakType):
        return False
    if first == WEAK_BOOL or element(other) is dtype:
        return element(other) is dtype
    return all(promote.result_dtype((o, element(other))) is dtype for o in (promote.operand(first), dtype))


def behind_steps(context: Context, op: str, head: Sequence[Value], going: Value | None, value: Value, name: str) -> Value:
    """What a name that began as a Python number is behind a loop; see :func:`had_step` for the others."""
    condition = had_step(context, op, head, going)
    if condition is None:
        return value
    dtype = element(value.type).numpy.name
    kinds = f"{name} is a Python number where the loop has no step and np.{dtype} where it has one"
    sentence = f"{kinds}: begin with np.{dtype}(...)"
    return require(context, value, as_strong(context, condition), "UnsupportedError", sentence)


def had_step(context: Context, op: str, head: Sequence[Value], going: Value | None) -> Value | None:
    """Whether a loop had a step, or None where it is known that it had one.

    Parameters
    ----------
    op : str
        ``for_loop`` or ``while_loop``.
    head : sequence of Value
        The range of a ``for_loop``.
    going : Value or None
        Of a ``while_loop``: whether there is a first step.
    """
    if op == "while_loop":
        assert going is not None
        inst = going.inst
        # A flag beside those on data is a NumPy bool.
        has_steps = inst.args[0] if inst is not None and inst.op.name == "convert" else going
    else:
        start, stop, step = head
        known = const_inst(step)
        if known is None:
            span = binary(context, "multiply", binary(context, "subtract", stop, start), step)
            has_steps = binary(context, "greater", span, 0)
        else:
            has_steps = binary(context, "greater" if known.attr("value") < 0 else "less", start, stop)
    condition = as_value(context, has_steps)
    fixed = const_inst(condition)
    return None if fixed is not None and fixed.attr("value") else condition


__all__ = ["adapts", "behind_steps", "had_step", "scalar_from_start"]
