"""Objects from outside the function: captured names, each remembered as a guard.

Properties and ``__getattr__`` of the user's classes are read like any other function; nothing
of the user's code runs while compiling.
"""

from __future__ import annotations

import functools
import sys
import types
from typing import Any

import numpy as np

from pytocu.deferred import Deferred
from pytocu.errors import UnsupportedError
from pytocu.frontend.values import Context, NeedsBranch, Reader, refuse_array
from pytocu.guards import (
    SCALARS,
    Path,
    guard,
    is_opaque,
    lacks,
    read_attribute,
    read_closure,
    read_global,
    reader,
)
from pytocu.record import Record

_is_shared = Deferred("pytocu.frontend.aliases", "is_shared")

_MUTABLE = (list, dict, set)


NO_METHOD: Any = object()
"""What stands for a result where no class of the program has a method for an operator."""

_BUILT_IN = ("builtins", "pytocu", "numpy")


def may_have_methods(value: Any) -> bool:
    """Whether a value is of a class of the program, or of another library, which may say what operators do."""
    return type(value).__module__.partition(".")[0] not in _BUILT_IN


class Held(Record):
    """A tuple, list, dict or object that is an argument, or that one holds.

    Attributes
    ----------
    value : object
    number : int or tuple of int
        Its place among them, as `pytocu.trees.holders` counts; of one that is known while compiling the number of the
        parameter, and positions in it.
    members : dict
        What it held at first, by position, key or name.
    """

    value: Any
    number: int | tuple[int, ...]
    members: dict[Any, Any]


def note_argument(context: Context, position: int, name: str, value: Any) -> None:
    """Remember where an argument known while compiling comes from."""
    path = ("argument", position)
    _note_known(context, value, (position,))
    note_path(context, value, path)
    adopt(context, name, value, lambda arguments: arguments[position], path)
    mark_outside(context, value, name)


def note_path(context: Context, value: Any, path: Path | None) -> None:
    """Remember how another process finds an object, and what may be called or read through it.

    Scalars are not noted: nothing is found through them, and equal ones may be one object.
    """
    if path is None or type(value) in SCALARS:
        return
    if id(value) in context.paths:
        first = context.paths[id(value)][1]
        if id(value) in context.held and path != first:
            context.met_again.setdefault(id(value), []).append(path)
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


def is_given(context: Context, value: Any) -> bool:
    """Whether an object is an argument, or held by one."""
    path = path_of(context, value)
    while path is not None and path[0] != "argument":
        path = path[1] if len(path) > 1 and isinstance(path[1], tuple) else None
    return path is not None


def note_member(context: Context, base: Any, name: str) -> None:
    """Remember what the class of an object has under a name, before it is called with the object."""
    kind, owner = type(base), path_of(context, base)
    found = getattr(kind, name, None)
    path = None if owner is None else ("attribute", ("type", owner), name)
    note_path(context, found, path)
    if (id(kind), name) in context.guarded:
        return
    context.guarded[id(kind), name] = kind
    # The class may be given another one later, as any name may.
    part = {property: "fget", functools.cached_property: "func"}.get(type(found))
    _, origin = context.origins.get(id(base), (None, None))

    def read(arguments: Any) -> Any:
        found = read_attribute(kind if origin is None else type(origin(arguments)), name)
        return found if part is None else read_attribute(found, part)

    path = path if path is None or part is None else ("attribute", path, part)
    now = found if part is None else getattr(found, part)
    context.guards.append(guard(f"{kind.__name__}.{name}", now, read, path=path))


def note_lacking(context: Context, base: Any, name: str) -> None:
    """Remember that an object has no attribute of its own, so that its class makes one."""
    if (id(base), name) in context.guarded:
        return
    context.guarded[id(base), name] = base
    _, origin = context.origins.get(id(base), (None, None))
    owner = path_of(context, base)

    def read(arguments: Any) -> bool:
        return lacks(base if origin is None else origin(arguments), name)

    context.guards.append(guard(f"{type(base).__name__}.{name}", True, read, path=owner and ("lacks", owner, name)))


def note_class(context: Context, value: Any) -> None:
    """Remember of what class an object is, before that decides something; it may be given another one."""
    known, origin = context.origins.get(id(value), (None, None))
    if known is None or origin is None or (id(value), "__class__") in context.guarded:
        return
    context.guarded[id(value), "__class__"] = value
    owner = path_of(context, value)
    path = owner and ("type", owner)
    context.guards.append(guard(f"type({type(value).__name__})", type(value), lambda given: type(origin(given)), path=path))


def note_function(context: Context, function: types.FunctionType) -> None:
    """Remember what a function of Python is, before it is read: tools that load modules again write it into old ones."""
    owner = path_of(context, function)
    for name in ("__code__", "__defaults__", "__kwdefaults__"):
        value = getattr(function, name)
        if value is None:
            continue
        read = functools.partial(_read_function, function, name)
        path = owner and ("attribute", owner, name)
        context.guards.append(guard(f"{function.__name__}.{name}", value, read, path=path))


def _read_function(function: types.FunctionType, name: str, _: Any) -> Any:
    return getattr(function, name)


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
        adopt(context, name, value, read, path)
        mark_outside(context, value, name)
    return value


def adopt(context: Context, name: str, value: Any, read: Reader, path: Path | None) -> None:
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


def note_built(context: Context, value: Any) -> None:
    """Remember an argument that was put together of its parts, which are arguments themselves."""
    if type(value) not in (tuple, list, dict):
        note_object(context, value)
    if isinstance(value, dict):
        members = dict(value)
    else:
        members = dict(enumerate(value)) if isinstance(value, (list, tuple)) else dict(getattr(value, "__dict__", ()))
    number = sum(isinstance(held.number, int) for held in context.held.values())
    context.held[id(value)] = Held(value, number, members)


def _note_known(context: Context, value: Any, place: tuple[int, ...]) -> None:
    """Remember lists, tuples, dicts and objects of an argument known while compiling: a caller sees which one is returned."""
    if not isinstance(value, (tuple, list, dict)):
        if is_opaque(value):
            context.held.setdefault(id(value), Held(value, place, {}))
        return
    if id(value) in context.held:
        return
    members = dict(value) if isinstance(value, dict) else dict(enumerate(value))
    context.held[id(value)] = Held(value, place, members)
    for position, member in enumerate(members.values()):
        _note_known(context, member, (*place, position))


def given_back(context: Context, value: Any) -> Held:
    """What is returned of the arguments; found on two ways it must be one object at the next call, too."""
    for path in context.met_again.pop(id(value), ()):
        _guard_identity(context, True, path_of(context, value), path)
    return context.held[id(value)]


def note_compared(context: Context, left: Any, right: Any) -> None:
    """Remember whether two objects are one, which ``is`` asked: arguments of the next call may be others."""
    if id(left) not in context.held or id(right) not in context.held:
        return
    if left is right:
        given_back(context, left)
    else:
        _guard_identity(context, False, path_of(context, left), path_of(context, right))


def _guard_identity(context: Context, same: bool, first: Path | None, second: Path | None) -> None:
    if first is None or second is None:
        return
    function = next(one for one, path in context.paths.values() if path == ("function",))
    path = ("same", first, second)
    context.guards.append(guard("arguments that are one object", same, reader(path, function), path=path))


def note_object(context: Context, value: Any) -> None:
    """Remember an object whose attributes are known; what its class has is found through the class."""
    kind = type(value)
    context.built[id(value)] = value
    path: Path = ("module", kind.__module__)
    found = sys.modules.get(kind.__module__)
    for name in kind.__qualname__.split("."):
        path, found = ("attribute", path, name), getattr(found, name, None)
    note_path(context, kind, path if found is kind else None)


def is_object(context: Context, value: Any) -> bool:
    """Whether a value is an object whose attributes are known, and may be others."""
    return id(value) in context.built and hasattr(value, "__dict__") and not isinstance(value, tuple)


def mark_outside(context: Context, value: Any, name: str) -> None:
    """Lists, dicts and sets the function did not make must not be changed by it, and arrays that they hold not be read."""
    if isinstance(value, np.ndarray):
        context.captured_arrays[id(value)] = (value, name)
    if not isinstance(value, (*_MUTABLE, tuple)) or id(value) in context.outside:
        return
    context.outside[id(value)] = value
    for key, member in value.items() if isinstance(value, dict) else enumerate(value):
        mark_outside(context, member, f"{name}[{key!r}]")


IN_LISTS = "append to a list with a name of its own on each side of an if, or fill rows and count: y[k, n[k]] = v; n[k] += 1"
"""The way out where a run decides which of several lists gets longer."""


def refuse_shared(context: Context, value: Any, what: str) -> None:
    """Refuse a change where it is not known whether it is made, or whether others see it.

    Raises
    ------
    UnsupportedError
    """
    kind = type(value).__name__
    if context.choosing:
        raise NeedsBranch(f"{what} changes a {kind} in a part that Python may leave out", context.loc)
    if _is_shared(context, value):
        copy = f"{kind}(...)" if isinstance(value, _MUTABLE) else "dataclasses.replace(...)"
        # A copy would not be what the program makes longer.
        help = IN_LISTS if what in ("list.append()", "list.extend()", "list.insert()") else f"copy it first: {copy}"
        text = f"{what} changes a {kind} that may be one that has other names, too: a loop or branch decides at run time"
        raise UnsupportedError(text, context.loc, help)


def refuse_outside(context: Context, value: Any, what: str) -> None:
    """Refuse a change of a list, dict or set that lives outside the function.

    Raises
    ------
    UnsupportedError
    """
    refuse_shared(context, value, what)
    if id(value) in context.outside:
        raise UnsupportedError(
            f"{what} changes a {type(value).__name__} that lives outside the function",
            context.loc,
            f"copy it first: {type(value).__name__}(...), or change it outside the function",
        )
