"""What loops carry beside names that begin as Python numbers and are NumPy scalars behind steps: flags that say which.

A flag goes with such a name through the steps, and through the loops inside of them: those begin with what the flag around
says.  `pytocu.frontend.kinds` says what a step leaves; see `pytocu.frontend.settling` for what is done with it at the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytocu.frontend.first_steps import Mark
from pytocu.frontend.kinds import Maybe, is_scalar
from pytocu.frontend.loop_memory import StepRead, leaves_of
from pytocu.frontend.state import State
from pytocu.frontend.values import Context, as_value, const_inst
from pytocu.ir.core import Value
from pytocu.ir.types import BOOL, ScalarType, WeakType, scalar


def note_marks(context: Context, starts: Sequence[Any], params: Sequence[Value]) -> None:
    """Note what says in a step whether a name that began as a Python number is one still."""
    if context.elements is not None:
        return
    for start, param in zip(starts, params, strict=True):
        if not isinstance(param.type, ScalarType):
            continue
        around = context.marks.get(start) if isinstance(start, Value) else None
        kind = around.kind if around is not None else type_of(context, start)
        if isinstance(kind, WeakType):
            context.marks[param] = Mark(Value(scalar(BOOL), f"{param.name}_bound"), kind)


def _around(context: Context, before: State, read: StepRead) -> Iterator[tuple[Value, Value]]:
    """What a loop around carries from a Python number on, as it is before the loop and in a step of it."""
    params = iter(read.params)
    for owner, name in read.names:
        for value, param in zip(leaves_of(before, owner, name), params, strict=False):
            if isinstance(value, Value) and value in context.marks and param in context.marks:
                yield value, param


def begun_around(context: Context, before: State, read: StepRead) -> dict[Value, Maybe]:
    """The parameters of a step that are what a loop around carries from a Python number on."""
    found = (param for _, param in _around(context, before, read))
    return {param: Maybe(frozenset([context.marks[param].kind]), None, frozenset({param})) for param in found}


def start_marks(context: Context, before: State, read: StepRead) -> dict[Value, Value]:
    """By what says in a step whether a name is a Python number: what says it before the loop, in a step of a loop around."""
    return {context.marks[p].value: context.marks[v].value for v, p in _around(context, before, read)}


def begun_as_python(context: Context, before: State, read: StepRead) -> dict[Value, Maybe]:
    """The parameters of a step that are NumPy scalars and begin as Python numbers."""
    found: dict[Value, Maybe] = {}
    if context.elements is not None:
        return found
    params = iter(read.params)
    for owner, name in read.names:
        for value, param in zip(leaves_of(before, owner, name), params, strict=False):
            weak = type_of(context, value)
            if isinstance(param.type, ScalarType) and isinstance(weak, WeakType):
                constant = const_inst(value)
                known = constant.attr("value") if constant is not None else None if isinstance(value, Value) else value
                found[param] = Maybe(frozenset([weak]), known, frozenset({param}))
    return found


def written_flags(
    context: Context,
    read: StepRead,
    from_start: Mapping[Value, Maybe],
    around: Mapping[Value, Maybe],
    still: Mapping[Value, Maybe],
    following: Mapping[Value, Any],
) -> dict[Value, tuple[Value, Value]]:
    """By parameter that begins as a Python number: whether it is a NumPy scalar when a step begins and when it ends.

    They are written where a step may leave a Python number, and it can be followed when; so they are where a loop `around`
    asks for it.
    """
    if not around and not any(following.get(p) in still for p in from_start):
        return {}
    flags = {p: context.marks[p].value for p in (*from_start, *around) if p in context.marks}
    marks = {value: mark.value for value, mark in context.marks.items()}
    found: dict[Value, tuple[Value, Value]] = {}
    with context.builder.behind(read.insts):
        for param, mark in flags.items():
            end = is_scalar(context.builder, following.get(param, param), still, marks)
            if end is None:
                return {}
            found[param] = mark, end
    return found


def type_of(context: Context, value: Any) -> Any:
    """The type of a value, also of one that is known now."""
    if isinstance(value, Value):
        return value.type
    with context.builder.nested():
        return as_value(context, value).type


__all__ = ["begun_around", "begun_as_python", "note_marks", "start_marks", "type_of", "written_flags"]
