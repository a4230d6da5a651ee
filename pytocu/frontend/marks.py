"""Which numbers that loops carry may be Python's, and ranks that say in a run which of them are.

Such a name begins as a Python number and is a NumPy scalar behind steps, or a step makes a Python number of it, or it is
one of both on the ways in front of the loop.  A rank goes with it through the steps, and through the loops inside of them:
those begin with what the rank around says.  `pytocu.frontend.kinds` says what a step leaves; see `pytocu.frontend.settling`
for what is done with it at the end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pytocu.frontend.first_steps import Mark
from pytocu.frontend.kinds import INT, NUMPYS, PYTHONS, Maybe, follow, is_numpys, maybe_of, rank_of, ranked
from pytocu.frontend.loop_memory import StepRead, leaves_of
from pytocu.frontend.numbers import perhaps_either, perhaps_python
from pytocu.frontend.state import State
from pytocu.frontend.values import Context, as_value, const_inst
from pytocu.ir.core import Inst, Value
from pytocu.ir.types import F64, U8, WEAK_FLOAT, WEAK_INT, ScalarType, WeakType, scalar


def found_in_front(context: Context) -> dict[Value, Maybe]:
    """What may be Python numbers of the values in front of the next instruction, those of regions around it too."""
    if not context.open or context.elements is not None:
        return {}
    return follow(begun_in_front(context), list(context.builder.in_front()), {}, fits=set())[1]


def begun_in_front(context: Context) -> dict[Value, Maybe]:
    """What the loops around carry that may be Python numbers."""
    return {value: Maybe(mark.kinds, None, frozenset({value})) for value, mark in context.marks.items()}


def note_marks(
    context: Context, starts: Sequence[Any], params: Sequence[Value], more: Sequence[frozenset[WeakType]] | None
) -> None:
    """Note what says in a step which kind of number a name is that may be a Python number, as far as it is known by now."""
    if context.elements is not None:
        return
    front: dict[Value, Maybe] | None = None
    for number, (start, param) in enumerate(zip(starts, params, strict=True)):
        if not isinstance(param.type, ScalarType):
            continue
        front = found_in_front(context) if front is None else front
        kinds = _kinds(context, start, front) | (more[number] if more is not None else frozenset())
        if kinds:
            context.marks[param] = Mark(Value(scalar(U8), f"{param.name}_rank"), kinds)


def _kinds(context: Context, start: Any, front: Mapping[Value, Maybe]) -> frozenset[WeakType]:
    """The kinds of Python's of which the start of a name may be."""
    if isinstance(start, Value) and start in context.marks:
        return context.marks[start].kinds
    if isinstance(start, Value) and start in front:
        return front[start].kinds
    kind = type_of(context, start)
    return frozenset([kind]) if isinstance(kind, WeakType) else frozenset()


def more_kinds(
    context: Context, before: State, read: StepRead, following: Mapping[Value, Any]
) -> dict[tuple[Any, str], list[frozenset[WeakType]]]:
    """By name: the kinds of Python's of which a step may leave what it carries, where more are found than the reading knew."""
    front = found_in_front(context)
    begins = may_begin(context, before, read, front)
    if context.elements is not None or not (begins or context.open):
        return {}
    _, found = follow(begins, read.insts, following, fits=set())
    params = iter(read.params)
    more: dict[tuple[Any, str], list[frozenset[WeakType]]] = {}
    for key in read.names:
        own = [param for _, param in zip(leaves_of(before, *key), params, strict=False)]
        seen = [context.marks[p].kinds if p in context.marks else frozenset[WeakType]() for p in own]
        left = [maybe.kinds if (maybe := maybe_of(found, following.get(p))) else frozenset[WeakType]() for p in own]
        if any(isinstance(p.type, ScalarType) and not a <= b for p, a, b in zip(own, left, seen, strict=True)):
            more[key] = [a | b for a, b in zip(left, seen, strict=True)]
    return more


def may_begin(context: Context, before: State, read: StepRead, front: Mapping[Value, Maybe]) -> dict[Value, Maybe]:
    """What may be Python numbers in front of a step: what is before the loop, and the parameters."""
    return dict(front) | begun_as_python(context, before, read) | begun_as_either(context, before, read, front)


def _begins(before: State, read: StepRead) -> Iterator[tuple[Any, Value]]:
    """What a loop carries that is a NumPy scalar in a step: as it is before the loop, and in a step."""
    params = iter(read.params)
    for owner, name in read.names:
        for value, param in zip(leaves_of(before, owner, name), params, strict=False):
            if isinstance(param.type, ScalarType):
                yield value, param


def begun_as_either(context: Context, before: State, read: StepRead, front: Mapping[Value, Maybe]) -> dict[Value, Maybe]:
    """The parameters of a step that are of either kind already before the loop."""
    found: dict[Value, Maybe] = {}
    for value, param in _begins(before, read):
        if isinstance(value, Value) and param in context.marks and (value in context.marks or value in front):
            known = front[value].known if value in front and value not in context.marks else None
            found[param] = Maybe(context.marks[param].kinds, known, frozenset({param}))
    return found


def begun_as_python(context: Context, before: State, read: StepRead) -> dict[Value, Maybe]:
    """The parameters of a step that are NumPy scalars and begin as Python numbers."""
    found: dict[Value, Maybe] = {}
    if context.elements is not None:
        return found
    for value, param in _begins(before, read):
        weak = type_of(context, value)
        if isinstance(weak, WeakType):
            constant = const_inst(value)
            known = constant.attr("value") if constant is not None else None if isinstance(value, Value) else value
            found[param] = Maybe(frozenset([weak]), known, frozenset({param}))
    return found


def start_ranks(
    context: Context, before: State, read: StepRead, front: Mapping[Value, Maybe]
) -> dict[Value, Value] | None:
    """By the rank of a name in a step: its rank before the loop; None where that is not followed."""
    begin = {value: mark.value for value, mark in context.marks.items()}
    found: dict[Value, Value] = {}
    for value, param in _begins(before, read):
        if param not in context.marks:
            continue
        kind = type_of(context, value)
        if isinstance(kind, WeakType):
            rank = ranked(context.builder, INT if kind == WEAK_INT else PYTHONS)
        elif not isinstance(value, Value):
            rank = ranked(context.builder, NUMPYS)
        else:
            rank = rank_of(context.builder, value, front, begin)
        if rank is None:
            return None
        found[context.marks[param].value] = rank
    return found


def written_ranks(
    context: Context,
    before: State,
    read: StepRead,
    front: Mapping[Value, Maybe],
    still: Mapping[Value, Maybe],
    following: Mapping[Value, Any],
) -> dict[Value, tuple[Value, Value]]:
    """By parameter that may be a Python number: its rank when a step begins and when it ends.

    They are written where a step may leave a Python number, or return one, and it can be followed when; so they are where what
    is before the loop may be of either kind.
    """
    asked = {p: mark.value for p in read.params if (mark := context.marks.get(p)) is not None}
    either = begun_as_either(context, before, read, front)
    left = (*(following.get(p) for p in asked), *read.extras)
    if not either and not any(maybe_of(still, value) for value in left):
        return {}
    with context.builder.nested():
        if start_ranks(context, before, read, front) is None:
            return {}
    begin = {value: mark.value for value, mark in context.marks.items()}
    found: dict[Value, tuple[Value, Value]] = {}
    written = len(read.insts)
    with context.builder.behind(read.insts):
        for param, rank in asked.items():
            end = rank_of(context.builder, following.get(param, param), still, begin)
            if end is None:
                # What says the others' ranks asks for ranks that steps do not hand on then.
                del read.insts[written:]
                return {}
            found[param] = rank, end
    return found


class GivenBack(NamedTuple):
    """A number that the function returns in a step, and that may be a Python number there.

    Attributes
    ----------
    maybe : Maybe
    rank, end : Value
        Its rank when a step begins, which nobody asks for, and when it ends.
    """

    maybe: Maybe
    rank: Value
    end: Value


def returned_ranks(
    context: Context, read: StepRead, still: Mapping[Value, Maybe], ranks: Mapping[Value, Any]
) -> dict[int, GivenBack]:
    """By place among what steps give for behind the loop: the numbers that may be Python's, where it is followed which are.

    Steps begin with the `ranks` of these parameters, and of no others.
    """
    carried = {value: mark for value, mark in context.marks.items() if value in ranks or value not in read.params}
    begin = {value: mark.value for value, mark in carried.items()}
    found: dict[int, GivenBack] = {}
    with context.builder.behind(read.insts):
        for place, value in enumerate(read.extras):
            maybe = still.get(value)
            if maybe is None or not isinstance(value.type, ScalarType):
                continue
            if len(maybe.kinds) > 1 and not (maybe.kinds == {WEAK_INT, WEAK_FLOAT} and value.type.dtype is F64):
                continue
            if (end := rank_of(context.builder, value, still, begin)) is not None:
                found[place] = GivenBack(maybe, Value(scalar(U8)), end)
    return found


def either_behind(context: Context, value: Value, maybe: Maybe, rank: Value) -> Value:
    """What a loop leaves of a number that may be Python's or NumPy's, as its rank says."""
    if len(maybe.kinds) > 1:
        return perhaps_either(context, value, rank)
    return perhaps_python(context, value, maybe, is_numpys(context.builder, rank))


def ranks_of_sides(
    context: Context, pairs: Sequence[tuple[Value, Value]], sides: Sequence[list[Inst]]
) -> dict[int, tuple[Value, Value]]:
    """By place of what a branch hands on: its rank on both sides, where a loop on a side leaves a number of either kind.

    Of other numbers `rank_of` asks where it is wanted, which would run such a loop once more.
    """
    asked = {k: pair for k, pair in enumerate(pairs) if any(map(_is_left_by_loop, pair))}
    if not asked:
        return {}
    begin = {value: mark.value for value, mark in context.marks.items()}
    found: dict[int, list[Value]] = {k: [] for k in asked}
    for number, insts in enumerate(sides):
        with context.builder.behind(insts):
            known = found_in_front(context)
            for k, pair in asked.items():
                rank = rank_of(context.builder, pair[number], known, begin)
                found[k] += [] if rank is None else [rank]
    return {k: (ranks[0], ranks[1]) for k, ranks in found.items() if len(ranks) == 2}


def _is_left_by_loop(value: Value) -> bool:
    inst = value.inst
    if inst is None:
        return False
    return (inst.op.name == "from_python" and len(inst.args) == 2) or inst.attr("marks") is not None


def type_of(context: Context, value: Any) -> Any:
    """The type of a value, also of one that is known now."""
    if isinstance(value, Value):
        return value.type
    with context.builder.nested():
        return as_value(context, value).type


__all__ = [
    "begun_as_either", "begun_as_python", "begun_in_front", "either_behind", "found_in_front", "may_begin", "more_kinds",
    "note_marks", "ranks_of_sides", "returned_ranks", "start_ranks", "type_of", "written_ranks",
]  # fmt: skip
