"""Operators, ``len`` and ``[]`` of objects whose classes say what they do: methods such as ``__add__`` are read as any other.

Comes in an operator and its operands as Python meets them; goes out what the method returns, or that no class of the program
has one, so that Python's and NumPy's own meaning holds.
"""

from __future__ import annotations

import inspect
import types
from typing import Any

import numpy as np

from pytocu.deferred import Deferred
from pytocu.errors import UnsupportedError, raised
from pytocu.frontend.attribute_lookup import get_attribute
from pytocu.frontend.frames import Frame
from pytocu.frontend.objects import NO_METHOD, may_have_methods, note_member, path_of
from pytocu.frontend.values import describe, is_array, is_numpy_scalar, type_name
from pytocu.ir.core import Value
from pytocu.ir.ops import OPS
from pytocu.ir.types import element

_call = Deferred("pytocu.frontend.calls", "call")
_is_class = Deferred("pytocu.frontend.records", "is_class")
_negate = Deferred("pytocu.frontend.choices", "negate")

_NAMES = {
    "add": "add", "subtract": "sub", "multiply": "mul", "divide": "truediv", "floor_divide": "floordiv", "remainder": "mod",
    "power": "pow", "matmul": "matmul", "left_shift": "lshift", "right_shift": "rshift", "bitwise_and": "and",
    "bitwise_or": "or", "bitwise_xor": "xor",
}  # fmt: skip
"""What operators are called in the names of methods, by the rows of the op table."""

_COMPARISONS = {
    "equal": ("__eq__", "__eq__"), "not_equal": ("__ne__", "__ne__"), "less": ("__lt__", "__gt__"),
    "less_equal": ("__le__", "__ge__"), "greater": ("__gt__", "__lt__"), "greater_equal": ("__ge__", "__le__"),
}  # fmt: skip
"""The methods of the left and of the right operand that answer a comparison."""

_UNARY = {"negative": "__neg__", "positive": "__pos__", "invert": "__invert__", "absolute": "__abs__"}

_PYTHONS = {"b": bool, "i": int, "u": int, "f": float, "c": complex}
"""The classes of Python's numbers by the kinds of dtypes."""


def own_method(value: Any, name: str) -> types.FunctionType | None:
    """The method that the class of an object or named tuple has under a name, where it was written in the program.

    What a dataclass writes for itself has no text.
    """
    kind = type(value)
    found = inspect.getattr_static(kind, name, None)
    if not isinstance(found, types.FunctionType) or found.__code__.co_filename == "<string>":
        return None
    named = issubclass(kind, tuple) and hasattr(kind, "_fields")
    return found if named or _is_class(kind) else None


def binary_of_objects(frame: Frame, name: str, left: Any, right: Any, in_place: bool = False) -> Any:
    """``left <op> right``, or `NO_METHOD`.

    Raises
    ------
    UnsupportedError
        NumPy would make an array of objects.
    """
    kinds = type(left), type(right)
    if in_place and (changed := _answer(frame, left, f"__i{_NAMES[name]}__", right)) not in (NO_METHOD, NotImplemented):
        return changed
    forward, backward = _COMPARISONS.get(name) or (f"__{_NAMES[name]}__", f"__r{_NAMES[name]}__")
    other = own_method(right, backward)
    if other is not None and (is_array(left) or is_numpy_scalar(left)):
        return _beside_numpy(frame, name, left, right, backward)
    ways = [(left, forward, right), (right, backward, left)]
    if kinds[0] is kinds[1] and name not in _COMPARISONS:
        ways = ways[:1]
    elif issubclass(kinds[1], kinds[0]) and other is not None and other is not own_method(left, backward):
        # The more special class is asked first.
        ways.reverse()
    asked = False
    for value, method, operand in ways:
        found = _answer(frame, value, method, operand)
        if found is NO_METHOD and name == "not_equal" and type(value).__ne__ is object.__ne__:
            # Which is the opposite of what the class says is equal.
            found = _answer(frame, value, "__eq__", operand)
            found = found if found is NO_METHOD or found is NotImplemented else _negate(frame.context, found)
        if found is not NO_METHOD and found is not NotImplemented:
            return found
        asked = asked or found is NotImplemented
    if not asked:
        return NO_METHOD
    if name in ("equal", "not_equal"):
        return (left is right) == (name == "equal")
    symbol, types = _symbol(name), [f"'{type_name(v)}'" for v in (left, right)]
    text = f"'{symbol}' not supported between instances of" if name in _COMPARISONS else _refused(symbol, in_place)
    raise raised(TypeError(f"{text} {' and '.join(types)}"), frame.context.loc)


def _refused(symbol: str, in_place: bool) -> str:
    symbol = f"{symbol}=" if in_place else "** or pow()" if symbol == "**" else symbol
    return f"unsupported operand type(s) for {symbol}:"


def _symbol(name: str) -> str:
    symbol = "@" if name == "matmul" else OPS[name].symbol
    assert symbol
    return symbol


def unary_of_object(frame: Frame, name: str, operand: Any) -> Any:
    """``-x``, ``+x``, ``~x`` and ``abs(x)``, or `NO_METHOD`."""
    return _answer(frame, operand, _UNARY[name])


def method_of_object(frame: Frame, value: Any, name: str, *args: Any) -> Any:
    """What ``__len__``, ``__getitem__``, ``__setitem__`` or ``__contains__`` gives, or `NO_METHOD`."""
    return _answer(frame, value, name, *args) if may_have_methods(value) else NO_METHOD


def _answer(frame: Frame, value: Any, name: str, *args: Any) -> Any:
    found = own_method(value, name)
    if found is None:
        return NO_METHOD
    kind = type(value)
    if path_of(frame.context, kind) is None:
        note_member(frame.context, value, name)
    else:
        # As the program names the class, so that another process finds the method.
        get_attribute(frame, kind, name)
    return _call(frame, found, (value, *args), {})


def _beside_numpy(frame: Frame, name: str, left: Any, right: Any, backward: str) -> Any:
    """NumPy's number or array on the left: it leaves the operator to a class that says so."""
    kind = type(right)
    missing = object()
    stated = inspect.getattr_static(kind, "__array_ufunc__", missing)
    if stated is None or (stated is missing and getattr(kind, "__array_priority__", 0) > 0):
        return _answer(frame, right, backward, left)
    if issubclass(kind, tuple):
        # It is taken for an array.
        return NO_METHOD
    if is_numpy_scalar(left) and name not in _COMPARISONS and name != "matmul" and stated is missing:
        # It is one of Python's where an object is on the other side.
        kind = element(left.type).kind if isinstance(left, Value) else np.asarray(left).dtype.kind
        return _answer(frame, right, backward, _call(frame, _PYTHONS[kind], (left,), {}))
    raise UnsupportedError(
        f"an operator of NumPy's array or number and {describe(right)}, of which NumPy would make objects",
        frame.context.loc,
        "write the object first, or __array_ufunc__ = None in its class, so that NumPy leaves the operator to it",
    )


__all__ = ["binary_of_objects", "method_of_object", "unary_of_object"]
