"""What NumPy or Python says where something that is no number is used as one: each function has words of its own.

They are asked with examples: an array of ones for an array, and the thing itself. Things whose own code could run are not given
to anybody.
"""

from __future__ import annotations

import builtins
import types
import warnings
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from pytocu.errors import CompileError, ShapeError, UnsupportedError, builtin_name
from pytocu.frontend.notes import refuse_perhaps_ints
from pytocu.frontend.operators import attempt, example
from pytocu.frontend.reductions import stand_in
from pytocu.frontend.values import Context, is_array, is_numpy_scalar
from pytocu.frontend.worded import after
from pytocu.ir.core import Value
from pytocu.ir.types import WEAK_FLOAT, WeakType, element

_MOST = 2**20
"""How many elements an example may have."""


def in_own_words(
    context: Context, error: CompileError, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> CompileError:
    """The error of a function that is given what is no number.

    Parameters
    ----------
    error : CompileError
        Which says what is no number.

    Returns
    -------
    CompileError
        What the function raises; an UnsupportedError where it answers, with an array of Python objects mostly.
    """
    examples = _examples(args, kwargs)
    if examples is None:
        return error
    given, named = examples
    try:
        attempt(context, function, *given, **named)
    except CompileError as own:
        # What is said of lengths is said of those of the examples.
        if "could not broadcast" not in own.message:
            # Which thing that is, it need not say.
            said = own.message == error.message or error.message.endswith("as an integer")
            own.help, own.notes = own.help if said else error.message, error.notes
            _raise_with_value(context, own, [*args, *kwargs.values()])
            return own
    help = error.help or error.own_words
    return UnsupportedError(error.message, error.loc, help, error.notes)


def first_said(
    context: Context, error: CompileError, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> CompileError:
    """Of several wrong arguments the error of the one that the function looks at first.

    Where it says something else of examples than the error does, that is of an argument that is wrong whatever the lengths are.
    Errors of lengths and of elements stay, since the examples have others.
    """
    if isinstance(error, (UnsupportedError, ShapeError)) or not isinstance(error, (TypeError, ValueError)):
        return error
    examples = _examples(args, kwargs)
    if examples is None:
        return error
    given, named = examples
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            attempt(context, function, *given, **named)
    except CompileError as own:
        # A number in the sentence may be that of an example.
        numbers = [v for v in (*args, *kwargs.values()) if isinstance(v, Value) and not is_array(v)]
        shown = bool(numbers) and any(map(str.isdigit, own.message))
        if isinstance(own, (TypeError, np.exceptions.AxisError)) and own.message != error.message and not shown:
            return own
    return error


def _examples(args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]] | None:
    """Examples of arguments, if there are any that may be given to a function."""
    try:
        given, named = [example_of(a) for a in args], {k: example_of(v) for k, v in kwargs.items()}
    except LookupError:
        return None
    return None if prod(abs(n) for n in _ints([given, named]) if n) > _MOST else (given, named)


def _raise_with_value(context: Context, error: CompileError, given: Sequence[Any]) -> None:
    """Let the run raise the error where its sentence quotes a float of run time, for which an example stands.

    In a vectorized function elements raise in no order, and the sentence has the type of the float.
    """
    values = [value for value in given if isinstance(value, Value) and _is_float(value)]
    if len(values) != 1:
        return
    before, quoted, behind = error.message.partition(f"'{example(values[0])!r}'")
    kind = getattr(builtins, builtin_name(error) or "", None)
    refuse_perhaps_ints(context, values)
    if quoted and kind is not None:
        names = {"kind": kind, "before": before, "value": values[0], "behind": behind}
        after(context, "raise kind(f\"{before}'{value!r}'{behind}\")", names, "kind")
        error.message = f"{before}<{values[0].type}>{behind}"


def _is_float(value: Value) -> bool:
    return value.type == WEAK_FLOAT or (is_numpy_scalar(value) and element(value.type).kind == "f")


def example_of(value: Any) -> Any:
    """Something like it.

    Raises
    ------
    LookupError
        Code of its own could run, or what it is only a run knows.
    """
    match value:
        case Value():
            return example(value) if isinstance(value.type, WeakType) else stand_in(value)
        case None | bool() | int() | float() | complex() | str() | bytes() | np.generic() | np.dtype():
            return value
        case types.ModuleType() | types.EllipsisType() | slice():
            return value
    if type(value) in (list, tuple, set):
        return type(value)(map(example_of, value))
    if type(value) is dict:
        return {k: example_of(v) for k, v in value.items()}
    if isinstance(value, type) and value.__module__ in ("builtins", "numpy"):
        return value
    raise LookupError


def _ints(value: Any) -> list[int]:
    """The ints in examples, which may be lengths."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, (list, tuple)):
        return [n for v in value for n in _ints(v)]
    return [int(value)] if isinstance(value, (int, np.integer)) else []
