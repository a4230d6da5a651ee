"""Objects from outside the function: captured names and attributes, each remembered as a guard.

Properties and ``__getattr__`` of the user's classes are read like any other function; nothing
of the user's code runs while compiling.
"""

from __future__ import annotations

import enum
import functools
import inspect
import types
from typing import Any

import numpy as np

from pytocu.errors import MissingAttributeError, UnsupportedError, closest
from pytocu.frontend.attributes import METHODS, Method, attribute
from pytocu.frontend.numpy_calls import NAMESPACES, namespace_attribute
from pytocu.frontend.operators import attempt
from pytocu.frontend.values import Context, Masked, Reader, as_value, describe, refuse_array
from pytocu.guards import (
    MISSING,
    SCALARS,
    Path,
    argument_key,
    guard,
    is_opaque,
    is_plain,
    read_attribute,
    read_closure,
    read_global,
    static_key,
)
from pytocu.ir.core import Value

_MUTABLE = (list, dict, set)


def note_argument(context: Context, position: int, name: str, value: Any) -> None:
    """Remember where an argument known while compiling comes from."""
    path = ("argument", position)
    note_path(context, value, path)
    _adopt(context, name, value, lambda arguments: arguments[position], path)
    _mark_outside(context, value)


def note_path(context: Context, value: Any, path: Path | None) -> None:
    """Remember how another process finds an object, and what may be called or read through it.

    Scalars are not noted: nothing is found through them, and equal ones may be one object.
    """
    if path is None or type(value) in SCALARS or id(value) in context.paths:
        return
    context.paths[id(value)] = (value, path)
    match value:
        case list() | tuple():
            for number, member in enumerate(value):
                note_path(context, member, ("item", path, number))
        case dict():
            for key, member in value.items():
                if type(key) in (str, int):
                    note_path(context, member, ("item", path, key))
        case types.MethodType():
            note_path(context, value.__func__, ("attribute", path, "__func__"))
            note_path(context, value.__self__, ("attribute", path, "__self__"))
        case functools.partial():
            for name in ("func", "args", "keywords"):
                note_path(context, getattr(value, name), ("attribute", path, name))
        case property():
            note_path(context, value.fget, ("attribute", path, "fget"))
        case functools.cached_property():
            note_path(context, value.func, ("attribute", path, "func"))
    if isinstance(value, functools._lru_cache_wrapper) or getattr(type(value), "__pytocu_plain__", False):
        for name in ("__wrapped__", "__func__", "__self__"):
            if hasattr(value, name):
                note_path(context, getattr(value, name), ("attribute", path, name))


def path_of(context: Context, value: Any) -> Path | None:
    """How another process finds an object, if that is known."""
    return context.paths.get(id(value), (None, None))[1]


def note_member(context: Context, base: Any, name: str) -> None:
    """Remember what the class of an object has under a name, before it is called with the object."""
    path = path_of(context, base)
    if path is not None:
        kind = ("type", path)
        note_path(context, getattr(type(base), name, None), ("attribute", kind, name))


def capture_name(context: Context, name: str, value: Any, function: types.FunctionType, step: tuple[str, Any]) -> Any:
    """A global or closure value; compiled code depends on it.

    `step` is ``("global", name)`` or ``("closure", position)``: where `function` has it.
    """
    if isinstance(value, np.ndarray):
        refuse_array(context, name)
    place = (id(function), name)
    if place not in context.guarded:
        context.guarded[place] = function
        kind, key = step
        owner = path_of(context, function)
        path = None if owner is None else (kind, owner, key)
        find = read_global if kind == "global" else read_closure

        def read(_: Any) -> Any:
            return find(function, key)

        context.guards.append(guard(name, value, read, path=path))
        note_path(context, value, path)
        _adopt(context, name, value, read, path)
        _mark_outside(context, value)
    return value


def _adopt(context: Context, name: str, value: Any, read: Reader, path: Path | None) -> None:
    """Remember how to find an opaque object again.

    One object found on two ways must be one object at the next call too, because guards on
    its attributes follow the first way only.
    """
    if not is_opaque(value):
        return
    first = context.origins.setdefault(id(value), (value, read))[1]
    if first is not read:
        known = path_of(context, value)
        same = None if known is None or path is None else ("same", known, path)
        context.guards.append(guard(name, True, lambda arguments: first(arguments) is read(arguments), path=same))


def _mark_outside(context: Context, value: Any) -> None:
    """Lists, dicts and sets the function did not make must not be changed by it."""
    if not isinstance(value, (*_MUTABLE, tuple)) or id(value) in context.outside:
        return
    context.outside[id(value)] = value
    for member in value.values() if isinstance(value, dict) else value:
        _mark_outside(context, member)


def refuse_outside(context: Context, value: Any, what: str) -> None:
    """Refuse a change of a list, dict or set that lives outside the function.

    Raises
    ------
    UnsupportedError
    """
    if context.choosing:
        raise UnsupportedError(
            f"{what} changes a {type(value).__name__} in a part that Python may leave out",
            context.loc,
            "make the change a statement of its own",
        )
    if id(value) in context.outside:
        raise UnsupportedError(
            f"{what} changes a {type(value).__name__} that lives outside the function",
            context.loc,
            f"copy it first: {type(value).__name__}(...), or change it outside the function",
        )


def get_attribute(frame: Any, base: Any, name: str) -> Any:
    """``base.name``: of IR values, NumPy-like modules, and captured objects (guarded).

    Raises
    ------
    MissingAttributeError
        With the closest known attribute.
    """
    context: Context = frame.context
    if isinstance(base, Masked):
        if name in METHODS:
            return Method(base, name)
        plain = name in ("dtype", "ndim", "itemsize") and base.elements is None
        return attribute(context, base.array if plain else as_value(context, base), name)
    if isinstance(base, Value):
        return attribute(context, base, name)
    if isinstance(base, types.ModuleType):
        return _module_attribute(context, base, name)
    found = inspect.getattr_static(base, name, MISSING)
    kind = type(base)
    if isinstance(kind.__getattribute__, types.FunctionType):
        raise UnsupportedError(
            f"the class of {describe(base)} defines __getattribute__, which would run while compiling",
            context.loc,
            "pass the values it holds as arguments",
        )
    if getattr(kind, "__pytocu_plain__", False):
        return attempt(context, getattr, base, name)
    if isinstance(base, (type, enum.Enum, np.generic, np.dtype, np.finfo, np.iinfo)):
        found = getattr(base, name, MISSING)
    elif isinstance(found, property) and found.fget is not None:
        note_member(context, base, name)
        return context.hooks.call(frame, found.fget, (base,), {})
    elif isinstance(found, functools.cached_property):
        note_member(context, base, name)
        return context.hooks.call(frame, found.func, (base,), {})
    elif found is MISSING and isinstance(getattr(kind, "__getattr__", None), types.FunctionType):
        note_member(context, base, "__getattr__")
        return context.hooks.call(frame, kind.__getattr__, (base, name), {})
    elif isinstance(getattr(type(found), "__get__", None), types.FunctionType) and not is_plain(found):
        raise UnsupportedError(
            f"the attribute {name} of {describe(base)} is made by a descriptor, which would run while compiling",
            context.loc,
            "make it a property, or pass its value as an argument",
        )
    elif found is not MISSING:
        found = getattr(base, name, MISSING)
    if found is MISSING:
        # The function may ask whether it is there, or have another value for that.
        if is_opaque(base) or isinstance(base, type):
            _guard_attribute(context, base, name, MISSING)
        close = closest(name, dir(base))
        message = f"type object '{base.__name__}'" if isinstance(base, type) else f"'{kind.__name__}' object"
        raise MissingAttributeError(
            f"{message} has no attribute '{name}'", context.loc, f"did you mean {close}?" if close else None
        )
    if isinstance(found, np.ndarray):
        refuse_array(context, f"{getattr(base, '__name__', kind.__name__)}.{name}")
    if is_opaque(base) or isinstance(base, type):
        _guard_attribute(context, base, name, found)
    return found


def _module_attribute(context: Context, module: types.ModuleType, name: str) -> Any:
    numpy_like = module.__name__ in NAMESPACES
    try:
        value = namespace_attribute(module, name) if numpy_like else getattr(module, name)
    except AttributeError:
        if not numpy_like:
            _guard_attribute(context, module, name, MISSING)
        close = closest(name, dir(np if numpy_like else module))
        raise MissingAttributeError(
            f"module '{module.__name__}' has no attribute '{name}'",
            context.loc,
            f"did you mean {module.__name__}.{close}?" if close else None,
        ) from None
    if isinstance(value, np.ndarray):
        as_value(context, value)
    if not numpy_like and module.__name__ != "math":
        _guard_attribute(context, module, name, value)
    return value


def _guard_attribute(context: Context, base: Any, name: str, value: Any) -> None:
    place = (id(base), name)
    if place in context.guarded:
        return
    context.guarded[place] = base
    _, origin = context.origins.get(id(base), (None, None))
    owner = path_of(context, base)
    path = None if owner is None else ("attribute", owner, name)

    def read(arguments: Any) -> Any:
        return read_attribute(base if origin is None else origin(arguments), name)

    shown = f"{getattr(base, '__name__', type(base).__name__)}.{name}"
    if getattr(value, "__self__", None) is base and hasattr(value, "__func__"):
        # The object may be another one next time; the function its class binds must not.
        bound = None if path is None else ("attribute", path, "__func__")
        note_path(context, value.__func__, bound)
        context.guards.append(
            guard(shown, value.__func__, lambda arguments: getattr(read(arguments), "__func__", None), path=bound)
        )
        return
    context.guards.append(guard(shown, value, read, static_key if origin is None else argument_key, path))
    if value is MISSING:
        return
    note_path(context, value, path)
    _adopt(context, shown, value, read, path)
    _mark_outside(context, value)
