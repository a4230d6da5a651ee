"""Attributes: of arrays, of modules, and of objects from outside the function, each of these remembered as a guard."""

from __future__ import annotations

import enum
import functools
import inspect
import types
from typing import Any

import numpy as np

from pytocu.deferred import Deferred
from pytocu.errors import MissingAttributeError, UnsupportedError, closest
from pytocu.frontend.attributes import METHODS, Method, attribute
from pytocu.frontend.masked import rest
from pytocu.frontend.numbers import as_numpy
from pytocu.frontend.numpy_calls import NAMESPACES, namespace_attribute
from pytocu.frontend.objects import adopt, is_given, mark_outside, note_lacking, note_member, note_path, path_of
from pytocu.frontend.operators import attempt
from pytocu.frontend.values import Context, Flat, Grown, Masked, Steps, as_value, class_name, describe, refuse_array
from pytocu.guards import (
    MISSING,
    argument_key,
    guard,
    is_opaque,
    is_plain,
    read_attribute,
    static_key,
)
from pytocu.ir.core import Value

_refuse_pythons = Deferred("pytocu.frontend.notes", "refuse_pythons")
_with_numbers = Deferred("pytocu.frontend.notes", "with_numbers")
_queue_method = Deferred("pytocu.frontend.queues", "method")
_behind = Deferred("pytocu.frontend.records", "behind")
_grown_method = Deferred("pytocu.frontend.grown", "method")


def _refuse_of_range(context: Context, base: Any, name: str) -> None:
    """Refuse what a range has besides its bounds, where only a run knows these."""
    if not isinstance(base, Steps) or (name in ("start", "stop", "step") and not base.part):
        return
    if base.plain and not hasattr(range, name):
        raise MissingAttributeError(f"'range' object has no attribute '{name}'", context.loc)
    text = f"{name} of a range that is known only at run time is not compiled"
    raise UnsupportedError(text, context.loc, "compute it of its start, stop and step")


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
        if name == "ndim" and base.elements is None:
            return 1 + rest(base)
        plain = name in ("dtype", "itemsize") and base.elements is None
        return attribute(context, base.array if plain else as_value(context, base), name)
    if isinstance(base, Value):
        as_numpy(context, base, "object")
        with _with_numbers(context, base):
            found = attribute(context, base, name)
        if not isinstance(found, Value | Method):
            _refuse_pythons(context, base)
        return found
    if isinstance(base, Flat) and name == "base":
        return base.array
    if isinstance(base, Flat) and name == "copy":
        return Method(as_value(context, base), name)
    if isinstance(base, Flat):
        if not hasattr(np.flatiter, name):
            raise MissingAttributeError(f"'numpy.flatiter' object has no attribute '{name}'", context.loc)
        raise UnsupportedError(f"{name} of x.flat is not compiled", context.loc, "count the steps of the loop with enumerate")
    _refuse_of_range(context, base, name)
    if isinstance(base, Grown):
        return _grown_method(frame, base, name)
    if id(base) in context.queues:
        return _queue_method(context, base, name)
    if type(base) is super:
        return _behind(frame, base, name)
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
        found = attempt(context, getattr, base, name)
        if name in getattr(base, "__dict__", ()) and path_of(context, base) is not None:
            _guard_attribute(context, base, name, found)
        return found
    built = id(base) in context.built
    if built:
        slot = isinstance(found, types.MemberDescriptorType)
        if slot or name in getattr(base, "__dict__", getattr(kind, "_fields", ())):
            return getattr(base, name)
        _guard_attribute(context, kind, name, getattr(kind, name, MISSING))
    if isinstance(base, (type, enum.Enum, np.generic, np.dtype, np.finfo, np.iinfo)):
        found = getattr(base, name, MISSING)
    elif isinstance(found, property) and found.fget is not None:
        note_member(context, base, name)
        return context.hooks.call(frame, found.fget, (base,), {})
    elif isinstance(found, functools.cached_property):
        note_member(context, base, name)
        note_lacking(context, base, name)
        return context.hooks.call(frame, found.func, (base,), {})
    elif found is MISSING and isinstance(getattr(kind, "__getattr__", None), types.FunctionType):
        note_member(context, base, "__getattr__")
        note_lacking(context, base, name)
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
        if _may_change(base, name) and not built:
            _guard_attribute(context, base, name, MISSING)
        close = closest(name, dir(base))
        message = f"type object '{class_name(base)}'" if isinstance(base, type) else f"'{class_name(kind)}' object"
        raise MissingAttributeError(
            f"{message} has no attribute '{name}'", context.loc, f"did you mean {close}?" if close else None
        )
    if isinstance(found, np.ndarray):
        shown = f"{getattr(base, '__name__', kind.__name__)}.{name}"
        refuse_array(context, shown, kind.__name__ if is_given(context, base) else "")
    if _may_change(base, name) and not built:
        _guard_attribute(context, base, name, found)
    return found


def _may_change(base: Any, name: str) -> bool:
    """Whether an attribute of an object may be another one at the next call."""
    if isinstance(base, enum.Enum):
        return name not in ("name", "value")
    return is_opaque(base) or isinstance(base, (type, types.FunctionType, functools.partial))


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
        refuse_array(context, f"{module.__name__}.{name}")
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
    adopt(context, shown, value, read, path)
    mark_outside(context, value, shown)
