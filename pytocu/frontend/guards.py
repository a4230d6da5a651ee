"""Captured values and the guards that watch them.

Whatever the compiler read from outside the function (a global, a closure value, an
attribute of either) is remembered as a path and a key.  Before compiled code is used again
the path is read again; another key means another specialisation.
"""

from __future__ import annotations

import struct
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

MISSING = object()


@dataclass(frozen=True, slots=True)
class Guard:
    """A captured value the code depends on.

    Parameters
    ----------
    name : str
        As the user writes it: ``MU`` or ``config.mu``.
    read : callable
        ``read(arguments)`` gives the value now.
    key : object
        What :func:`static_key` said when the function was compiled.
    """

    name: str
    read: Callable[[Sequence[Any]], Any]
    key: Any

    def holds(self, arguments: Sequence[Any]) -> bool:
        """Whether the captured value is still the one the code was compiled for."""
        return static_key(self.read(arguments)) == self.key


class Identity:
    """Compares an object by identity and keeps it alive, so that its id is not used again."""

    __slots__ = ("object",)

    def __init__(self, object: Any):
        self.object = object

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Identity) and self.object is other.object

    def __hash__(self) -> int:
        return id(self.object)

    def __repr__(self) -> str:
        return f"Identity({self.object!r})"


def static_key(value: Any) -> Any:
    """A hashable key: equal keys mean the compiler would read the same thing.

    ``1``, ``1.0``, ``True``, ``0.0`` and ``-0.0`` differ; NaNs agree.
    """
    match value:
        case bool() | int() | str() | bytes() | None:
            return (type(value).__name__, value)
        case float() if type(value) is float:
            return ("float", "nan" if value != value else struct.pack("<d", value))
        case complex() if type(value) is complex:
            return ("complex", static_key(value.real), static_key(value.imag))
        case np.generic():
            return ("numpy", value.dtype.str, value.tobytes())
        case np.dtype():
            return ("dtype", value.str)
        case tuple() | list():
            return (type(value).__name__, *map(static_key, value))
        case slice():
            return ("slice", static_key(value.start), static_key(value.stop), static_key(value.step))
        case dict():
            return ("dict", *((static_key(k), static_key(v)) for k, v in value.items()))
        case types.MethodType():
            return ("method", Identity(value.__func__), Identity(value.__self__))
        case _:
            return Identity(value)


def read_global(function: types.FunctionType, name: str) -> Any:
    """A global of the function, or a builtin, or MISSING."""
    values = function.__globals__
    if name in values:
        return values[name]
    builtins = values.get("__builtins__", {})
    if isinstance(builtins, types.ModuleType):
        builtins = vars(builtins)
    return builtins.get(name, MISSING)


def read_closure(function: types.FunctionType, position: int) -> Any:
    """A closure value of the function, or MISSING while its cell is empty."""
    cells = function.__closure__ or ()
    try:
        return cells[position].cell_contents
    except ValueError:
        return MISSING


def read_attribute(value: Any, name: str) -> Any:
    """An attribute, or MISSING."""
    return getattr(value, name, MISSING)
