"""Exceptions of the user's function: raised while it is read, or in a vectorized function required not to be."""

from __future__ import annotations

import builtins
from typing import Any

from pytocu.errors import UnsupportedError, failure, raised
from pytocu.frontend.control import Flow
from pytocu.frontend.frames import Failing, Returned
from pytocu.frontend.values import Context


def failing(context: Context, error: Exception) -> Returned:
    """An exception; in a vectorized function whether it is raised may depend on the data.

    Raises
    ------
    CompileError
        The exception.
    UnsupportedError
        Of a class of which a kernel cannot make objects.
    """
    if context.elements is None:
        raise raised(error, context.loc)
    kind = type(error)
    if getattr(builtins, kind.__name__, None) is not kind:
        raise UnsupportedError(
            f"a vectorized function raises {kind.__name__}, which is not one of Python's own exceptions",
            context.loc,
            "raise ValueError",
        )
    sentence = str(error).replace("{", "{{").replace("}", "}}")
    return Returned(Failing(kind.__name__, sentence, context.loc))


def always(context: Context, name: str, flow: Flow) -> Any:
    """What a vectorized function that never returns a value does, where it is called.

    Raises
    ------
    CompileError
        It raises whatever the data are.
    UnsupportedError
        It raises by data, and nothing that it returns depends on that; or another function calls it, perhaps by data.
    """
    found: Failing = flow.value
    if flow.returned is not True:
        raise UnsupportedError(
            f"{name} raises by data and returns nothing otherwise", context.loc, "return a number, and compute with that"
        )
    if len(context.active) > 1:
        raise UnsupportedError(f"{name} only raises", context.loc, "write the raise statement where it is called")
    raise failure(found.error, found.sentence, (), found.loc)
