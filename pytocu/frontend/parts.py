"""Changes of an array's attributes: ``z.real = x``, ``z.imag *= 2``."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np

from pytocu.deferred import Deferred
from pytocu.errors import UnsupportedError, raised
from pytocu.frontend.attribute_lookup import get_attribute
from pytocu.frontend.attributes import attribute
from pytocu.frontend.inplace import OUTPUT, assign_part
from pytocu.frontend.objects import is_object
from pytocu.frontend.operators import attempt
from pytocu.frontend.state import State
from pytocu.frontend.values import Context, is_array, is_numpy_scalar
from pytocu.ir.core import Value
from pytocu.ir.types import element

_assign_all = Deferred("pytocu.frontend.flat", "assign_all")
_in_place = Deferred("pytocu.frontend.reshaping", "in_place")
_set_attribute = Deferred("pytocu.frontend.records", "set_attribute")


def assign_attribute(frame: Any, target: ast.Attribute, base: Any, value: Any) -> None:
    """``base.name = value``, which writes elements where the attribute is a part of an array.

    Raises
    ------
    TypeError, AttributeError
        NumPy's, where there is no such part or it cannot be written.
    UnsupportedError
        It is another attribute.
    """
    context: Context = frame.context
    if is_object(context, base):
        _set_attribute(frame, base, target.attr, value, ast.unparse(target))
        return
    if target.attr == "flat" and isinstance(base, Value) and is_array(base):
        _assign_all(context, base, value)
        return
    if target.attr == "shape" and isinstance(base, Value) and is_array(base):
        _set_shape(frame, target, base, value)
        return
    part = _part(context, target, base, f"assignment to the attribute {ast.unparse(target)} is not compiled")
    if part is None:
        attempt(context, setattr, np.zeros(1), "imag", 0)
        raise AssertionError("NumPy sets the imaginary part of real numbers")
    assign_part(context, part, value)


def _set_shape(frame: Any, target: ast.Attribute, base: Value, value: Any) -> None:
    """``base.shape = value``: the array of each name that holds it is a view of it from here on."""
    context: Context = frame.context
    array = ast.unparse(target.value)
    help = f"write {array} = {array}.reshape(...)"
    state = State(frame)
    every = zip(state.frames, state.locals, strict=True)
    held = [(owner, name) for owner, names in every for name, one in names.items() if one is base]
    if base in context.builder.arguments or len(context.active) > 1 or len(held) != state.uses(base):
        text = f"{array} gets another shape, and others than the names of this function may hold the array"
        raise UnsupportedError(text, context.loc, help)
    made = _in_place(context, base, value)
    if made is None:
        text = f"{array} gets another shape, and its elements may not follow each other in memory"
        raise UnsupportedError(text, context.loc, help)
    for owner, name in held:
        owner.locals[name] = made


def part_to_change(frame: Any, target: ast.Attribute, base: Any, symbol: str) -> Any:
    """The part of an array that ``base.name += value`` and its like change in place, or what the attribute of an object is.

    Raises
    ------
    ValueError, AttributeError
        NumPy's, where there is no such part or it cannot be written.
    UnsupportedError
        It is another attribute.
    """
    context: Context = frame.context
    if is_object(context, base):
        return get_attribute(frame, base, target.attr)
    text = f"{ast.unparse(target)} {symbol} ... changes an attribute, which is not compiled"
    part = _part(context, target, base, text)
    if part is None:
        raise raised(ValueError(f"{OUTPUT} is read-only"), context.loc)
    return part


def _part(context: Context, target: ast.Attribute, base: Any, refusal: str) -> Value | None:
    """The view that an attribute is, or None for the imaginary part of real numbers."""
    name = target.attr
    if name in ("real", "imag") and is_numpy_scalar(base):
        text = f"attribute '{name}' of 'numpy.generic' objects is not writable"
        raise raised(AttributeError(text), context.loc, "NumPy scalars do not change: x = np.complex128(complex(re, im))")
    if name in ("real", "imag") and isinstance(base, Value) and is_array(base):
        return attribute(context, base, name) if name == "real" or element(base.type).kind == "c" else None
    array = ast.unparse(target.value)
    elements = f"write {ast.unparse(target)}[...], which changes the elements"
    helps = {"shape": f"write {array} = {array}.reshape(...)"} | dict.fromkeys(("T", "mT"), elements)
    if not isinstance(base, Value) and is_array(getattr(base, name, None)):
        helps = {name: elements}
    outside = "return the value and assign it outside"
    if hasattr(type(base), "__dataclass_fields__"):
        # What it holds are no arguments then.
        outside += ", or let a field of the dataclass hold an array: then the others may change, too"
    raise UnsupportedError(refusal, context.loc, helps.get(name, outside))


__all__ = ["assign_attribute", "part_to_change"]
