"""Exceptions of the user's function: raised while it is read, or in a vectorized function required not to be."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

from pytocu.errors import UnsupportedError, failure, raised
from pytocu.frontend.compaction import read_length
from pytocu.frontend.frames import Failing, Raised, Returned
from pytocu.frontend.ranges import bound_count, new_name, number_as_dim
from pytocu.frontend.requirements import require_equal
from pytocu.frontend.values import Context, cast
from pytocu.ir.core import Value
from pytocu.ir.types import I64, WeakType

RAISES = "raises"
"""How the names of numbers begin that say whether the program raises."""


def mark(number: int) -> str:
    """What stands in the text of an exception for an int of run time."""
    return f"\u27e6{number}\u27e7"


def failing(context: Context, error: Exception, shown: Sequence[Value] = ()) -> Returned:
    """An exception; in a vectorized function whether it is raised may depend on the data.

    Parameters
    ----------
    shown : sequence of Value
        The ints of run time whose marks are in its text.

    Raises
    ------
    Raised
        The exception, if it is raised at all.
    UnsupportedError
        Of a class of which a kernel cannot make objects.
    """
    kind = type(error)
    python = getattr(builtins, kind.__name__, None) is kind
    sentence = str(error).replace("{", "{{").replace("}", "}}")
    if context.elements is None:
        found = raised(error, context.loc)
        for number, value in enumerate(shown):
            found.message = found.message.replace(mark(number), f"<{value.type}>")
            sentence = sentence.replace(mark(number), f"{{{number + 2}}}")
        raise Raised(found, Failing(kind.__name__, sentence, context.loc, tuple(shown)) if python else None)
    if not python:
        raise UnsupportedError(
            f"a vectorized function raises {kind.__name__}, which is not one of Python's own exceptions",
            context.loc,
            "raise ValueError",
        )
    return Returned(Failing(kind.__name__, sentence, context.loc))


def refuse_if(context: Context, test: Value, wanted: bool, found: Raised) -> None:
    """Let the host look at a truth value before it goes on: where it is `wanted`, the program raises the exception.

    Raises
    ------
    UnsupportedError
        It is of a class of which pytocu cannot make objects.
    """
    if found.failing is None:
        raise UnsupportedError(
            f"{found.error.message!r} is raised by what is known only at run time, and is not one of Python's own exceptions",
            found.error.loc,
            "raise ValueError",
        )
    failing = found.failing
    with context.builder.at(failing.loc):
        if isinstance(test.type, WeakType):
            number = bound_count(context, context.builder.emit("python_int", (test,)), new_name(context, RAISES))
        else:
            number = read_length(context, cast(context, test, I64), 1, RAISES)
        shown = [0 if dim is None else dim for dim in (number_as_dim(context, v) for v in failing.shown)]
        require_equal(context, number, 0 if wanted else 1, failing.error, failing.sentence, *shown)


def always(context: Context, name: str, flow: Any) -> Any:
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
