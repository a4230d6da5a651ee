"""``np.piecewise``: functions of parts of an array, chosen by conditions."""

from __future__ import annotations

from typing import Any

import numpy as np

from pytocu.errors import CompileError, UnsupportedError, raised
from pytocu.frontend.array_functions import truths
from pytocu.frontend.frames import Frame, Raised
from pytocu.frontend.inplace import number_at, taken
from pytocu.frontend.layouts import laid_out_as
from pytocu.frontend.operators import elementwise
from pytocu.frontend.raising import is_raised
from pytocu.frontend.values import Context, as_strong, as_value, cast, describe, dimensions, is_array, is_number
from pytocu.frontend.worded import after
from pytocu.ir.core import Value
from pytocu.ir.types import ScalarType, element

_INSTEAD = "write np.piecewise(x, [c, d], [f, g])"
_ELEMENTWISE = frozenset({"elementwise", "const"})


def piecewise(frame: Frame, x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    """Of each element the value of the last function, or number, whose condition holds; else 0, or the one left over."""
    context = frame.context
    value = as_strong(context, x)
    conditions = [truths(context, c) for c in _conditions(context, condlist, value)]
    if not isinstance(funclist, (list, tuple)):
        raise UnsupportedError("np.piecewise takes a list of functions here", context.loc, _INSTEAD)
    if len(funclist) not in (len(conditions), len(conditions) + 1):
        count = len(conditions)
        text = f"with {count} condition(s), either {count} or {count + 1} functions are expected"
        raise raised(ValueError(text), context.loc)
    for condition in conditions:
        if dimensions(condition) != dimensions(value):
            raise UnsupportedError(
                "np.piecewise with a condition of another shape than the array", context.loc, "make it of the array: x > 0"
            )
    pieces: list[Value] = []
    for number, function in enumerate(funclist):
        parts = conditions[number : number + 1] or conditions
        pieces.append(_piece(frame, value, function, args, kw, parts, left_over=number == len(conditions)))
    # What is left over comes first, as every condition that holds takes its place.
    made = pieces.pop() if len(pieces) > len(conditions) else context.builder.const(0, ScalarType(element(value.type)))
    for condition, piece in zip(conditions, pieces, strict=True):
        made = elementwise(context, "where", condition, piece, made)
    if isinstance(made.type, ScalarType):
        return context.builder.emit("as_array", (made,))
    return laid_out_as(context, made, value, "K")


def _conditions(context: Context, condlist: Any, value: Value) -> list[Any]:
    if isinstance(condlist, (list, tuple)):
        numbers = any(not isinstance(c, Value) or not is_array(c) for c in condlist)
        if condlist and not (numbers and dimensions(value)):
            return list(condlist)
    elif isinstance(condlist, Value) and len(dimensions(condlist)) < 2:
        return [condlist]
    raise UnsupportedError(
        "np.piecewise takes a list of conditions, each an array of bools", context.loc, _INSTEAD
    )


def _piece(
    frame: Frame,
    value: Value,
    function: Any,
    args: tuple[Any, ...],
    kw: dict[str, Any],
    conditions: list[Value],
    left_over: bool,
) -> Value:
    """What an element has where a condition holds, or where none does that is `left_over`, in the dtype of the array."""
    context, dtype = frame.context, element(value.type)
    if is_number(function):
        return number_at(context, function, dtype)
    if isinstance(function, Value):
        if is_array(function) and dimensions(function):
            raise UnsupportedError("np.piecewise with an array for a function", context.loc, "use np.where or np.select")
        return taken(context, as_value(context, function), dtype)
    if function is None or isinstance(function, str):
        text = f"np.piecewise with {describe(function)} among the functions and numbers"
        raise UnsupportedError(text, context.loc, "write a number: np.nan where there is none")
    before = len(context.builder.insts)
    try:
        found = as_value(context, context.hooks.call(frame, function, (value, *args), kw))
    except (CompileError, Raised) as error:
        if isinstance(error, CompileError) and not is_raised(error):
            raise
        del context.builder.insts[before:]
        return _raising(context, value, function, args, kw, conditions, left_over)
    others = [i.op for i in context.builder.insts[before:] if i.op.kind not in _ELEMENTWISE]
    if others:
        # NumPy calls the function with the chosen elements alone, in one axis.
        raise UnsupportedError(
            f"np.piecewise with a function that is not elementwise ({others[0].name}): it would see the chosen elements alone",
            context.loc,
            "compute it before, or use np.where",
        )
    return cast(context, found, dtype)


_CHOSEN = """
chosen = conditions[0]
for condition in conditions[1:]:
    chosen = chosen | condition
if left_over:
    chosen = ~chosen
made = 0
if chosen.any():
    made = function(np.atleast_1d(value)[np.atleast_1d(chosen)], *args, **kw)
"""
"""What NumPy does with a function: it is called if there is an element for it, with those that there are, in one axis."""


def _raising(context: Context, value: Value, function: Any, args: Any, kw: Any, conditions: Any, left_over: bool) -> Value:
    """Let a run raise what a function raises that was read, if there is an element for it."""
    names = {"np": np, "value": value, "function": function, "args": args, "kw": kw, "conditions": conditions}
    names |= {"left_over": left_over, "chosen": None, "condition": None, "made": None}
    made = after(context, _CHOSEN, names, "made")
    if made != 0:
        # It returns something for elements in one axis.
        raise UnsupportedError(
            "np.piecewise with a function that is not elementwise: it would see the chosen elements alone",
            context.loc,
            "compute it before, or use np.where",
        )
    return context.builder.const(0, ScalarType(element(value.type)))


__all__ = ["piecewise"]
