"""What loops carry beside names that begin as Python numbers and are NumPy scalars behind steps: ranks that say which.

A rank goes with such a name through the steps, and through the loops inside of them: those begin with what the rank around
says.  `pytocu.frontend.kinds` says what a step leaves; see `pytocu.frontend.settling` for what is done with it at the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytocu.frontend.first_steps import Mark
from pytocu.frontend.kinds import INT, PYTHONS, Maybe, rank_of, ranked
from pytocu.frontend.loop_memory import StepRead, leaves_of
from pytocu.frontend.state import State
from pytocu.frontend.values import Context, as_value, const_inst
from pytocu.ir.core import Value
from pytocu.ir.types import U8, WEAK_INT, ScalarType, WeakType, scalar


def note_marks(context: Context, starts: Sequence[Any], params: Sequence[Value]) -> None:
    """Note what says in a step which kind of number a name is that began as a Python number."""
    if context.elements is not None:
        return
    for start, param in zip(starts, params, strict=True):
        if not isinstance(param.type, ScalarType):
            continue
        around = context.marks.get(start) if isinstance(start, Value) else None
        kind = around.kind if around is not None else type_of(context, start)
        if isinstance(kind, WeakType):
            context.marks[param] = Mark(Value(scalar(U8), f"{param.name}_rank"), kind)


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


def start_ranks(context: Context, before: State, read: StepRead) -> dict[Value, Value]:
    """By the rank of a name in a step: its rank before the loop, which in a step of a loop around is known in a run alone."""
    kinds = {mark.value: mark.kind for param in read.params if (mark := context.marks.get(param)) is not None}
    ranks = {rank: ranked(context.builder, INT if kind == WEAK_INT else PYTHONS) for rank, kind in kinds.items()}
    return ranks | {context.marks[p].value: context.marks[v].value for v, p in _around(context, before, read)}


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


def written_ranks(
    context: Context,
    read: StepRead,
    from_start: Mapping[Value, Maybe],
    around: Mapping[Value, Maybe],
    still: Mapping[Value, Maybe],
    following: Mapping[Value, Any],
) -> dict[Value, tuple[Value, Value]]:
    """By parameter that begins as a Python number: its rank when a step begins and when it ends.

    They are written where a step may leave a Python number, and it can be followed when; so they are where a loop `around`
    asks for it.
    """
    if not around and not any(following.get(p) in still for p in from_start):
        return {}
    asked = {p: context.marks[p].value for p in (*from_start, *around) if p in context.marks}
    begin = {value: mark.value for value, mark in context.marks.items()}
    found: dict[Value, tuple[Value, Value]] = {}
    with context.builder.behind(read.insts):
        for param, rank in asked.items():
            end = rank_of(context.builder, following.get(param, param), still, begin)
            if end is None:
                return {}
            found[param] = rank, end
    return found


def type_of(context: Context, value: Any) -> Any:
    """The type of a value, also of one that is known now."""
    if isinstance(value, Value):
        return value.type
    with context.builder.nested():
        return as_value(context, value).type


__all__ = ["begun_around", "begun_as_python", "note_marks", "start_ranks", "type_of", "written_ranks"]
