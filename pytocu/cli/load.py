"""``FILE.py:FUNCTION`` to the function, plain or jitted.

The file runs as a module of a private name, so what it keeps under ``if __name__ == "__main__"``
does not run, and nothing it defines replaces an imported module.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.util
import inspect
import os
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from pytocu.cli.terminal import CommandError, debugging, nearest, suggestion
from pytocu.ir.python_functions import FILE_MODULE
from pytocu.jitted import JitFunction

Loaded = tuple[Callable[..., Any], tuple[Any, ...]]
"""A function, and the object it is called on where it is a method."""


def load(place: str) -> Loaded:
    """The function at ``FILE.py:FUNCTION``, ``FILE.py:Class.method`` or ``FILE.py:object.method``.

    Raises
    ------
    CommandError
        No such file or function, or the file cannot be imported.
    """
    file, colon, name = place.rpartition(":")
    if file.endswith(".ir"):
        raise CommandError(f"{file!r} is IR, which holds one function: write {file} alone")
    if place.endswith(".ir"):
        raise CommandError(f"{place!r} is IR, which pytocu dump reads; here a Python function is looked at: FILE.py:FUNCTION")
    if not colon or not name or not file.rstrip(":"):
        raise CommandError(f"{place!r} names no function: write FILE.py:FUNCTION{_known_in(place.rstrip(':'))}")
    if file.endswith(":") and not os.path.exists(file):
        raise CommandError(f"{place!r}: write one colon, {file.rstrip(':')}:{name}")
    path = existing(file)
    return _find(_module(path), name, file)


def existing(file: str) -> Path:
    """The path of a file.

    Raises
    ------
    CommandError
        There is none; with one of a like name.
    """
    path = Path(file)
    if path.is_dir():
        raise CommandError(f"{file!r} is a folder: name a file in it")
    if not path.is_file():
        raise CommandError(f"there is no file {file!r}{nearest_file(path)}")
    return path


def _known_in(file: str) -> str:
    """What a file that is named without a function has."""
    path = Path(file)
    if path.suffix != ".py" or not path.is_file():
        return ""
    module = _module(path)
    names = _functions(module, module)
    return f"; {file} has {', '.join(names)}" if names else f"; {file} defines none"


def nearest_file(path: Path) -> str:
    """What to say of a file that is missing: the folder that is missing too, or a file of a like name."""
    if not path.parent.is_dir():
        return f": there is no folder {str(path.parent)!r}"
    close = nearest(path.name, (p.name for p in path.parent.iterdir() if p.suffix == (path.suffix or ".py") and p.is_file()))
    return close.replace("mean ", f"mean {path.parent}{os.sep}") if close and path.parent != Path(".") else close


def _module(path: Path) -> types.ModuleType:
    name = f"{FILE_MODULE}{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise CommandError(f"{str(path)!r} is no Python file: write FILE.py:FUNCTION")
    module = importlib.util.module_from_spec(spec)
    # Dataclasses look their module up by name; the file's neighbours are imported as if it were run.
    sys.modules[name] = module
    sys.path.insert(0, str(path.parent.resolve()))
    try:
        # The output is the command's; what the file prints is beside it.
        with contextlib.redirect_stdout(sys.stderr):
            spec.loader.exec_module(module)
    except BaseException as error:
        # Whatever the file raises is the file's affair; the command only says where.
        if debugging() or isinstance(error, KeyboardInterrupt):
            raise
        raise CommandError(f"{_where(error, path)}: importing the file failed: {_sentence(error)}") from None
    return module


def _where(error: BaseException, path: Path) -> str:
    """The line of the file itself, though the error may come from something it calls or imports."""
    file = os.path.abspath(path)
    line = error.lineno if isinstance(error, SyntaxError) and error.filename == file else 0
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == file:
            line = trace.tb_lineno
        trace = trace.tb_next
    return f"{path}:{line}" if line else str(path)


def _sentence(error: BaseException) -> str:
    if isinstance(error, SystemExit):
        return f"it ends the program ({error.code!r}); keep that under if __name__ == '__main__'"
    try:
        text = error.msg if isinstance(error, SyntaxError) else str(error)
    except Exception:
        # A class of the file, whose own text fails.
        text = ""
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def _find(module: types.ModuleType, name: str, file: str) -> Loaded:
    owner: Any = None
    found: Any = module
    seen = file
    part = ""
    for part in name.split("."):
        if not hasattr(found, part):
            known = _functions(found, module)
            hint = suggestion(part, known, "it has") if known else ", and no other function"
            raise CommandError(f"{seen} has no {part!r}{hint}")
        owner, found = found, getattr(found, part)
        seen = f"{seen}:{part}" if owner is module else f"{seen}.{part}"
    match found:
        case types.MethodType():
            return found.__func__, (found.__self__,)
        case JitFunction() | types.FunctionType():
            on_object = inspect.isclass(owner) and not isinstance(inspect.getattr_static(owner, part), staticmethod)
            return found, (_instance(owner, seen),) if on_object else ()
        case type():
            methods = _functions(found, module)
            hint = f"name one of its methods, as {seen}.{methods[0]}" if methods else "it has no methods"
            raise CommandError(f"{seen} is a class: {hint}")
        case functools.partial():
            raise CommandError(f"{seen} is a functools.partial: name the function in it, and give its values with --static")
        case np.vectorize():
            raise CommandError(f"{seen} is of np.vectorize: put @pytocu.vectorize above the function instead")
        case _:
            kind = type(found).__name__
            raise CommandError(f"{seen} is of type {kind}: name a function, which is a def, a lambda or a jitted one")


def _instance(owner: type, seen: str) -> Any:
    try:
        return owner()
    except TypeError as error:
        raise CommandError(
            f"{seen} is called on an object, and {owner.__name__}() fails ({error}): "
            f"make an object in the file and name its method, as FILE.py:OBJECT.{seen.rpartition('.')[2]}"
        ) from None


def _functions(found: Any, module: types.ModuleType) -> list[str]:
    """What to choose from: functions and classes that the file itself defines, and methods."""
    names: list[str] = []
    for name in dir(found):
        value = getattr(found, name, None)
        defined = isinstance(value, JitFunction | types.FunctionType | types.MethodType | type) and not name.startswith("__")
        if defined and (found is not module or value.__module__ == module.__name__):
            names.append(name)
    return names
