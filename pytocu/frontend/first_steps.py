"""Python numbers that loops make NumPy scalars of: ``total = 0.0`` before a loop that adds sums of arrays.

In NumPy such a name holds a Python number in the first step alone.  From the start it is a NumPy scalar here, where that
computes the same: what it meets in a step has the scalar's dtype, to which Python's number adapts.  Behind the loop it is
required that there was a step.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytocu.frontend.frames import Unset
from pytocu.frontend.operators import binary
from pytocu.frontend.requirements import require
from pytocu.frontend.values import Context, as_strong, as_value, const_inst
from pytocu.ir import promote
from pytocu.ir.core import Value
from pytocu.ir.types import ScalarType, Type, WeakType, element


def scalar_from_start(context: Context, first: Type, behind: Type) -> Type | None:
    """The type of a name from the start that is a Python number then and a NumPy scalar behind a step."""
    if context.elements is not None or not isinstance(first, WeakType) or not isinstance(behind, ScalarType):
        return None
    return behind if promote.adapts(first, behind.dtype) else None


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


def once_scalar(context: Context, value: Value, flag: Value, name: str) -> Value:
    """What a name that began as a Python number is behind a loop, where `flag` says that it is one no more."""
    dtype = element(value.type).numpy.name
    kinds = f"{name} is a Python number where no step binds it and np.{dtype} where one does"
    return require(context, value, flag, "UnsupportedError", f"{kinds}: begin with np.{dtype}(...)")


def still_python(name: str, value: Value) -> Unset:
    """What a name holds behind a loop that may leave it the Python number that it was before."""
    dtype = element(value.type).numpy.name
    text = f"{name} may be a Python number behind the loop, or np.{dtype}, by what the loop's branches do"
    return Unset(text, f"begin with np.{dtype}(...)")


__all__ = ["behind_steps", "had_step", "once_scalar", "scalar_from_start", "still_python"]
