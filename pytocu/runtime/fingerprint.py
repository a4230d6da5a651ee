"""What code depends on, written so that another process can compare it.

Plain values stand for themselves, functions of Python for their code, functions of libraries for
their names, objects for their classes (what is read of them has guards of its own).  Nothing
that differs between machines enters: no address, path, time or line number.
"""

from __future__ import annotations

import enum
import functools
import struct
import sys
import types
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from pytocu.floats import float_text
from pytocu.guards import MISSING, SCALARS, is_opaque, reader
from pytocu.runtime.cache import sha256

_HEAP_TYPE = 1 << 9
"""The flag of classes that Python code made."""


class NotWritable(Exception):
    """A value that another process could not compare; the text says what it is."""


@lru_cache(maxsize=4096)
def code_digest(code: types.CodeType) -> str:
    """A digest of what a function does, whichever file and line it stands in.

    Where in the function each expression stands enters, because messages name it; comments do
    not.  The bytecode is that of one version of Python.

    Examples
    --------
    >>> one, two = (compile(f"{lines}lambda x: x + 1", "file", "eval") for lines in ("", "\\n\\n"))
    >>> code_digest(one.co_consts[0]) == code_digest(two.co_consts[0])
    True
    """
    facts = (
        code.co_name, code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags, code.co_names,
        code.co_varnames, code.co_freevars, code.co_cellvars,
    )  # fmt: skip
    digest = sha256(repr(facts).encode("utf-8", "surrogatepass"))
    for part in (code.co_code, code.co_linetable, code.co_exceptiontable):
        digest.update(len(part).to_bytes(4, "little"))
        digest.update(part)
    digest.update(repr([_constant(c) for c in code.co_consts]).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _constant(value: Any) -> Any:
    match value:
        case types.CodeType():
            return code_digest(value)
        case tuple():
            return tuple(map(_constant, value))
        case frozenset():
            return sorted(repr(_constant(v)) for v in value)
        case float():
            return struct.pack("<d", value)
        case complex():
            return struct.pack("<dd", value.real, value.imag)
    # The type is part of it: 1 and True are equal.
    return (type(value).__name__, value)


class Writer:
    """Writes values as JSON; objects that are found twice are seen to be the same object."""

    def __init__(self) -> None:
        self._numbers: dict[int, tuple[int, Any]] = {}

    def write(self, value: Any) -> Any:
        """The value in a form that compares equal in another process when it means the same.

        Raises
        ------
        NotWritable
            It has no such form.
        """
        match value:
            case bool():
                # JSON's true is Python's True, which is equal to 1.
                return ["bool", int(value)]
            case None | int() | str() if type(value) in (type(None), int, str):
                return value
            case float() if type(value) is float:
                return ["float", float_text(value) if value != value else value.hex()]
            case complex() if type(value) is complex:
                return ["complex", self.write(value.real), self.write(value.imag)]
            case bytes() if type(value) is bytes:
                return ["bytes", value.hex()]
            case enum.Enum():
                more = {k: v for k, v in vars(value).items() if k.strip("_") not in ("value", "name", "sort_order", "objclass")}
                return ["enum", self.write(type(value)), value.name, self.write(value.value), self.write(more)]
            case int() | float() | complex() | str() | bytes() if not isinstance(value, np.generic):
                raise NotWritable(f"an object of {type(value).__name__}, a subclass of a plain type")
            case tuple() | list() | dict() | set() | frozenset() if hasattr(value, "__dict__"):
                raise NotWritable(f"an object of {type(value).__name__}, a container with attributes")
            case np.generic() if value.dtype.names is None and not value.dtype.hasobject:
                return ["scalar", value.dtype.str, value.tobytes().hex()]
            case np.dtype() if value.names is None:
                return ["dtype", value.str]
            case np.finfo() | np.iinfo():
                return [type(value).__name__, self.write(np.dtype(value.dtype))]
            case tuple() | list():
                return ["sequence", self.write(type(value)), *map(self.write, value)]
            case dict():
                return ["dict", self.write(type(value)), *([self.write(k), self.write(v)] for k, v in value.items())]
            case set() | frozenset():
                import json

                return ["set", self.write(type(value)), *sorted(json.dumps(self.write(v)) for v in value)]
            case slice() | range():
                return [type(value).__name__, self.write(value.start), self.write(value.stop), self.write(value.step)]
            case functools.partial():
                return ["partial", self.write(value.func), self.write(value.args), self.write(value.keywords)]
            case types.MethodType():
                return ["method", self.write(value.__func__), self.write(value.__self__)]
            case types.CodeType():
                return ["code", code_digest(value)]
            case types.ModuleType():
                if sys.modules.get(value.__name__) is not value:
                    raise NotWritable(f"the module {value.__name__}, which is not the imported one")
                return ["module", value.__name__]
            case _ if value is MISSING:
                return ["missing"]
            case _ if value is Ellipsis:
                return ["ellipsis"]
        return self._object(value)

    def _object(self, value: Any) -> Any:
        if id(value) in self._numbers:
            return ["again", self._numbers[id(value)][0]]
        self.number(value)
        if isinstance(value, types.FunctionType) and not _of_library(value):
            if vars(value).keys() - {"__wrapped__"}:
                raise NotWritable(f"the function {value.__qualname__}, which has attributes")
            return ["function", code_digest(value.__code__), self.write(value.__defaults__), self.write(value.__kwdefaults__)]
        if isinstance(value, type):
            return ["class", *map(_written_class, value.__mro__)]
        if isinstance(value, functools._lru_cache_wrapper) or _is_jitted(value):
            # A method of a jitted function has a function and an object, and looks like the function besides.
            names = ("__func__", "__self__") if hasattr(value, "__func__") else ("__wrapped__",)
            inner = [self.write(getattr(value, name)) for name in names]
            # Of one Python function several may be made.
            return ["wrapper", repr(getattr(value, "__pytocu_elements__", None)), *inner]
        name = _name_of(value)
        if name is not None:
            return ["named", *name]
        if not is_opaque(value) or isinstance(value, np.ndarray):
            raise NotWritable(f"an object of type {type(value).__name__}")
        return ["object", self.write(type(value))]

    def number(self, value: Any) -> None:
        """Count an object as seen."""
        # Kept alive, so that its id is not used again.
        self._numbers[id(value)] = (len(self._numbers), value)


_LIBRARIES = ("numpy", "cupy", "jax", "jaxlib", "torch", "enum", "abc", "builtins", "types", "typing", "functools", "pytocu")


def _of_library(function: types.FunctionType) -> bool:
    return (function.__module__ or "").partition(".")[0] in _LIBRARIES and _name_of(function) is not None


def _is_jitted(value: Any) -> bool:
    return bool(getattr(type(value), "__pytocu_plain__", False)) and hasattr(value, "__wrapped__")


def _name_of(value: Any) -> tuple[str, str] | None:
    """Module and name under which an object is found, where it is this one."""
    module = getattr(value, "__module__", None) or type(value).__module__
    name = getattr(value, "__qualname__", None) or getattr(value, "__name__", None)
    if not isinstance(module, str) or not isinstance(name, str):
        return None
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return (module, name) if found is value else None


_ABOUT_CLASSES = ("__dict__", "__weakref__", "__doc__", "__module__", "__firstlineno__", "__static_attributes__")


def _written_class(cls: type) -> list[str]:
    """Its name, and for one made in Python a digest of its functions' code, its plain values and the names of the rest."""
    name = [cls.__module__, cls.__qualname__]
    if not cls.__flags__ & _HEAP_TYPE or cls.__module__.partition(".")[0] in _LIBRARIES:
        return name
    parts: list[Any] = []
    for key, member in sorted(vars(cls).items()):
        inner: Any = member
        for attribute in ("__func__", "fget", "func", "__wrapped__"):
            inner = getattr(inner, attribute, None) or inner
        if isinstance(inner, types.FunctionType):
            parts.append((key, type(member).__name__, code_digest(inner.__code__)))
        elif key not in _ABOUT_CLASSES:
            parts.append((key, type(member).__name__, member if type(member) in SCALARS else None))
    return [*name, sha256(repr(parts).encode("utf-8", "surrogatepass")).hexdigest()]


def write_values(paths: Sequence[Any], function: types.FunctionType, arguments: Sequence[Any]) -> list[Any]:
    """What paths lead to in this process, written.

    Raises
    ------
    NotWritable
        A value cannot be compared in another process.
    """
    writer = Writer()
    writer.number(function)
    return [writer.write(reader(path, function)(arguments)) for path in paths]
