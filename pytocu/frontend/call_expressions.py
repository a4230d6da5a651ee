"""Calls as they are written: the function and its arguments are evaluated, and what is wrong shows them."""

from __future__ import annotations

import ast
import builtins
import types
from collections import deque
from typing import Any

import numpy as np

from pytocu.deferred import Deferred
from pytocu.errors import CompileError, raised
from pytocu.frontend.attributes import Method
from pytocu.frontend.calls import call, python_function
from pytocu.frontend.expressions import elements, evaluate
from pytocu.frontend.frames import Frame, LocalFunction, Partial, qualified_name
from pytocu.frontend.literals import known_array
from pytocu.frontend.notes import note_operands, with_numbers
from pytocu.frontend.values import Generated, GrownMethod, is_array, type_name
from pytocu.ir.core import Value
from pytocu.ir.types import WeakType, element

_generator = Deferred("pytocu.frontend.displays", "generator")


def evaluate_call(frame: Frame, node: ast.Call) -> Any:
    """The value of a call."""
    function = evaluate(frame, node.func)
    # Functions of the program may ask for None.
    inlined = isinstance(function, LocalFunction | Partial) or python_function(function) is not None
    args = _generated(frame, function, node.args) if _goes_over(function) else elements(frame, node.args, inlined, function)
    kwargs: dict[str, Any] = {}
    for keyword in node.keywords:
        value = evaluate(frame, keyword.value, perhaps=inlined)
        given = {keyword.arg: value} if keyword.arg is not None else value
        if not isinstance(given, dict):
            text = f"{call_text(function)} argument after ** must be a mapping, not {type_name(value)}"
            raise raised(TypeError(text), frame.context.loc)
        repeated = next((k for k in given if k in kwargs), None)
        if repeated is not None:
            raise raised(TypeError(f"got multiple values for keyword argument '{repeated}'"), frame.context.loc)
        kwargs.update(given)
    try:
        with frame.context.passing(), with_numbers(frame.context, *args, *kwargs.values()):
            found = call(frame, function, tuple(args), kwargs)
    except CompileError as error:
        given = [*zip(node.args, args, strict=False), *((k.value, kwargs.get(k.arg)) for k in node.keywords if k.arg)]
        if isinstance(node.func, ast.Attribute) and isinstance(function, Method):
            given.insert(0, (node.func.value, function.value))
        note_operands(frame, error, given)
        raise
    return known_array(frame.context, found) if isinstance(found, np.ndarray) else found


def call_text(function: Any) -> str:
    """How Python names a function in what it says of arguments that it cannot unpack."""
    if isinstance(function, LocalFunction):
        module = function.frame.function.__module__
        return f"{'' if module in (None, 'builtins') else f'{module}.'}{qualified_name(function)}()"
    called: Any = function
    if isinstance(function, Method) and isinstance(function.value, Value):
        kind = function.value.type
        scalar = getattr(builtins, kind.kind) if isinstance(kind, WeakType) else element(kind).numpy.type
        called = getattr(np.zeros(1) if is_array(function.value) else scalar(), function.name)
    nothing: Any = None
    try:
        # What cannot be unpacked is found before anything is called.
        called(*nothing)
    except TypeError as error:
        return str(error).partition(" argument after")[0]
    raise AssertionError("None is unpacked")


_GO_OVER = (sum, any, all, max, min, next)
_LIST = (list, sorted, deque, np.fromiter)
"""What makes a list of all members of a generator before it does anything else."""


def _goes_over(function: Any) -> bool:
    """Whether a function goes over its first argument, once and at once."""
    if isinstance(function, GrownMethod):
        return function.name == "extend"
    extends = isinstance(function, types.BuiltinMethodType) and isinstance(function.__self__, list)
    return any(function is one for one in (*_GO_OVER, *_LIST)) or (extends and function.__name__ == "extend")


def _generated(frame: Frame, function: Any, parts: list[ast.expr]) -> list[Any]:
    """The arguments of a function that goes over a generator, of which the number of steps may be known only at run time."""
    first = parts[0] if parts else None
    if not isinstance(first, ast.GeneratorExp):
        return elements(frame, parts, called=function)
    if function in _LIST:
        members = ast.copy_location(ast.ListComp(first.elt, first.generators), first)
        return [evaluate(frame, members), *elements(frame, parts[1:])]
    if function in (any, all, next):
        # What is behind the member that decides is not computed.
        return [Generated(frame, first, evaluate(frame, first.generators[0].iter)), *elements(frame, parts[1:])]
    if len(first.generators) != 1:
        return elements(frame, parts)
    return [_generator(frame, first, True), *elements(frame, parts[1:])]
