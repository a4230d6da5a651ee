"""Captured values and the guards that watch them.

Whatever the compiler read from outside the function (a global, a closure value, an
attribute of either) is remembered as a path and a key.  Before compiled code is used again
the path is read again; another key means another specialisation.  The front end makes guards,
the runtime looks at them, and neither knows the other, so this stands below both.
"""

from __future__ import annotations

import enum
import functools
import struct
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from pytocu.errors import InternalError
from pytocu.record import Record

MISSING = object()

Path: TypeAlias = tuple[Any, ...]


class Guard(Record):
    """A captured value the code depends on.

    Parameters
    ----------
    name : str
        As the user writes it: ``MU`` or ``config.mu``.
    read : callable
        ``read(arguments)`` gives the value now.
    key : object
        What `key_of` said of it when the function was compiled.
    key_of : callable
        :func:`static_key`, or :func:`argument_key` where the object itself may change.
    path : tuple or None
        How another process finds the value, see :func:`reader`; None where it cannot.
    same : object
        The value itself where it cannot change, or counts as this one object: finding it again is quicker than its key.
    """

    name: str
    read: Callable[[Sequence[Any]], Any]
    key: Any
    key_of: Callable[[Any], Any]
    path: Path | None = None
    same: Any = MISSING

    def holds(self, arguments: Sequence[Any]) -> bool:
        """Whether the captured value is still the one the code was compiled for."""
        return self.watch()(arguments)

    def watch(self) -> Callable[[Sequence[Any]], bool]:
        """The same as a function of its own, for calls that ask again and again."""
        _, read, key, key_of, _, same = self
        kind = class_alone(key)
        if kind is not None:
            return lambda arguments: type(read(arguments)) is kind

        def holds(arguments: Sequence[Any]) -> bool:
            value = read(arguments)
            return (value is same and value is not MISSING) or key_of(value) == key

        return holds


class Static(Record):
    """An argument known while compiling."""

    value: Any


def guard(
    name: str,
    value: Any,
    read: Callable[[Sequence[Any]], Any],
    key_of: Callable[[Any], Any] | None = None,
    path: Path | None = None,
) -> Guard:
    """A guard that holds while `read` gives what `value` is now."""
    key_of = key_of or static_key
    key = key_of(value)
    fixed = isinstance(key, Identity) or _is_unchanging(value)
    return Guard(name, read, key, key_of, path, value if fixed else MISSING)


def _is_unchanging(value: Any) -> bool:
    if type(value) is tuple:
        return all(map(_is_unchanging, value))
    return type(value) in _UNCHANGING or isinstance(value, np.generic)


def reader(path: Sequence[Any], function: types.FunctionType) -> Callable[[Sequence[Any]], Any]:
    """A function of a call's arguments that reads what a path leads to, or gives MISSING.

    Parameters
    ----------
    path : tuple or list
        ``("function",)`` is the jitted function and ``("argument", 1)`` an argument; the others
        name what they start from: ``("global", path, name)`` and ``("closure", path, position)``
        of a function, ``("attribute", path, name)``, ``("item", path, key)``, ``("type", path)``,
        ``("module", name)`` is what was imported under a name, ``("lacks", path, name)`` says whether an object
        has no attribute of its own, and ``("same", path, path)`` whether two paths lead to one object.
    function : function
        The jitted function.

    Examples
    --------
    >>> reader(("attribute", ("argument", 0), "real"), reader)([1.5])
    1.5
    """
    match path:
        case ("function",):
            return lambda _: function
        case ("argument", position):
            return lambda arguments: arguments[position]
        case ("module", name):
            return lambda _: sys.modules.get(name, MISSING)
        case ("global", ("function",), name):
            return lambda _: read_global(function, name)
        case ("closure", ("function",), position):
            return lambda _: read_closure(function, position)
    base = reader(path[1], function)
    match path:
        case ("same", _, other):
            second = reader(other, function)
            return lambda arguments: base(arguments) is second(arguments)
        case ("global", _, name):
            return lambda arguments: read_global(base(arguments), name)
        case ("closure", _, position):
            return lambda arguments: read_closure(base(arguments), position)
        case ("attribute", _, name):
            return lambda arguments: read_attribute(base(arguments), name)
        case ("lacks", _, name):
            return lambda arguments: lacks(base(arguments), name)
        case ("item", _, key):
            return lambda arguments: read_item(base(arguments), key)
        case ("type", _):
            return lambda arguments: type(base(arguments))
    raise InternalError(f"{path!r} is no path")


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

    ``1``, ``1.0``, ``True``, ``0.0`` and ``-0.0`` differ, and so do NaNs of other bits; those of the same bits agree.
    """
    match value:
        case enum.Enum():
            return Identity(value)
        case bool() | int() | str() | bytes() | None if type(value) in _BY_VALUE:
            return (type(value), value)
        case float() if type(value) is float:
            return (float, struct.pack("<d", value))
        case complex() if type(value) is complex:
            return (complex, static_key(value.real), static_key(value.imag))
        case np.generic():
            return ("numpy", value.dtype.str, value.tobytes())
        case np.dtype():
            return ("dtype", value.str)
        case np.ndarray():
            # What holds an array may be captured, and its numbers are not: the form alone is read.
            return ("array", Identity(value), value.dtype.str, value.shape)
        case tuple() | list():
            return (type(value), *map(static_key, value))
        case slice():
            return (slice, static_key(value.start), static_key(value.stop), static_key(value.step))
        case dict():
            return (type(value), *((static_key(k), static_key(v)) for k, v in value.items()))
        case set() | frozenset():
            return (type(value), frozenset(map(static_key, value)))
        case functools.partial():
            return ("partial", static_key(value.func), static_key(value.args), static_key(value.keywords))
        case types.MethodType():
            return ("method", Identity(value.__func__), Identity(value.__self__))
        case _:
            return Identity(value)


_BY_VALUE = frozenset({bool, int, str, bytes, type(None)})
SCALARS = _BY_VALUE | {float, complex}
"""Types whose values count and not the objects."""

_UNCHANGING = _BY_VALUE | {
    float, complex, types.FunctionType, types.BuiltinFunctionType, types.CodeType, types.ModuleType, np.ufunc, type,
}  # fmt: skip
"""Classes of which an object is always read the same way, or stands for itself alone."""
_PLAIN_TYPES = _BY_VALUE | {
    float, complex, type(Ellipsis), range, slice, types.FunctionType, types.BuiltinFunctionType, types.MethodType, np.ufunc,
    functools.partial, types.MethodDescriptorType, types.MethodWrapperType, types.WrapperDescriptorType,
}  # fmt: skip
_CONTAINERS = (tuple, list, dict, set, frozenset)


def is_plain(value: Any) -> bool:
    """Whether operators and builtins on the value run no code of the user's classes.

    Examples
    --------
    >>> is_plain((1, "a", {"b": None})), is_plain(types.SimpleNamespace())
    (True, False)
    """
    kind = type(value)
    if kind in _PLAIN_TYPES or isinstance(value, (np.generic, np.dtype, np.finfo, np.iinfo, enum.Enum, type, types.ModuleType)):
        return True
    if kind is dict:
        return all(map(is_plain, value)) and all(map(is_plain, value.values()))
    ours = getattr(kind, "__pytocu_plain__", False)
    if isinstance(value, _CONTAINERS):
        known = kind in _CONTAINERS or ours or (isinstance(value, tuple) and hasattr(kind, "_fields"))
        return known and all(map(is_plain, value))
    return ours


def overrides(value: Any, *names: str) -> bool:
    """Whether the class of a tuple, list or dict has a method of its own under one of some names.

    Examples
    --------
    >>> overrides([1], "__getitem__"), overrides(type("Own", (list,), {"__len__": lambda self: 3})(), "__bool__", "__len__")
    (False, True)
    """
    kind = type(value)
    if kind in _CONTAINERS or getattr(kind, "__pytocu_plain__", False):
        return False
    return any(isinstance(getattr(kind, name, None), types.FunctionType) for name in names)


def is_opaque(value: Any) -> bool:
    """An object of which only attributes are read, so that guards on those are enough."""
    return not isinstance(value, _CONTAINERS) and not is_plain(value)


def is_array_like(value: Any) -> bool:
    """Whether a value is an array of some library."""
    return hasattr(value, "dtype") and hasattr(value, "shape") and not isinstance(value, (np.generic, type))


def may_hold(value: Any) -> bool:
    """Whether a value could hold arrays, as far as its class tells."""
    return isinstance(value, (tuple, list, dict)) or hasattr(type(value), "__dataclass_fields__")


class Default:
    """The number that a parameter has where a call leaves it out: it is known while compiling, as it never changes."""

    __pytocu_plain__ = True
    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value = value

    def __repr__(self) -> str:
        return repr(self.value)


def argument_key(value: Any) -> Any:
    """The key of an argument known while compiling.

    An opaque object counts as its type: what is read of it is guarded attribute by
    attribute, so objects of one class share compiled code where they agree.
    """
    return ("object", type(value)) if is_opaque(value) else static_key(value)


def class_alone(key: Any) -> type | None:
    """The class of an object of which a key says nothing else; None for other keys."""
    match key:
        case ("object", kind):
            return kind
    return None


def read_global(function: Any, name: str) -> Any:
    """A global of the function, or a builtin, or MISSING."""
    values = getattr(function, "__globals__", {})
    if name in values:
        return values[name]
    builtins = values.get("__builtins__", {})
    if isinstance(builtins, types.ModuleType):
        builtins = vars(builtins)
    return builtins.get(name, MISSING)


def read_closure(function: Any, position: int) -> Any:
    """A closure value of the function, or MISSING while its cell is empty."""
    cells = getattr(function, "__closure__", None) or ()
    try:
        return cells[position].cell_contents
    except (ValueError, IndexError):
        return MISSING


def read_attribute(value: Any, name: str) -> Any:
    """An attribute, or MISSING; ``__getattr__`` of the user's class is not asked."""
    if type(value).__getattribute__ is not _plain_lookup:
        # Classes and modules look their attributes up in ways of their own.
        return getattr(value, name, MISSING)
    try:
        return _plain_lookup(value, name)
    except AttributeError:
        return MISSING


_plain_lookup = object.__getattribute__


def lacks(value: Any, name: str) -> bool:
    """Whether neither an object nor its class has an attribute that its class would make (``__getattr__``, a cached property).

    Examples
    --------
    >>> lacks(types.SimpleNamespace(mu=1), "mu"), lacks(types.SimpleNamespace(), "mu")
    (False, True)
    """
    if name in getattr(value, "__dict__", ()):
        return False
    found = next((vars(kind)[name] for kind in type(value).__mro__ if name in vars(kind)), MISSING)
    return found is MISSING or isinstance(found, functools.cached_property)


def read_item(value: Any, key: Any) -> Any:
    """A member of a tuple, list or dict, or MISSING."""
    try:
        return value[key] if isinstance(value, (tuple, list, dict)) else MISSING
    except (KeyError, IndexError):
        return MISSING
