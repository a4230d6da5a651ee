"""Laws of lengths: how long arrays are behind a step of a loop by how long they were before it.

Where lengths alone say so, as with ``x = np.repeat(x, 2)``, a loop of numbers in front of the loop finds out how much room
there has to be (:func:`find_rooms`), unless what holds before a step bounds the lengths (:func:`bounded`).
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from pytocu.frontend.length_bounds import FEW, found_at_most, is_surely_natural, names_of_step
from pytocu.frontend.loop_memory import StepRead
from pytocu.frontend.ranges import bound, bound_count, new_name
from pytocu.frontend.rounds import Longer
from pytocu.frontend.state import Container, State
from pytocu.frontend.storage import HandOn
from pytocu.frontend.values import Context, as_value, dim_value
from pytocu.ir import regions
from pytocu.ir.core import Block, Value
from pytocu.ir.dims import (
    Dim,
    DimLike,
    ends_of,
    floordiv,
    greatest,
    substitute,
    symbol,
    symbols,
)

MOST = 2**26
"""Elements along an axis that there is room for where a step may end the loop before there are as many."""


class Law(NamedTuple):
    """What a step makes of the length of the axes of a group.

    Attributes
    ----------
    length : DimLike
        How long they are behind a step, or may be: it rises with the lengths before the step then.
    names : dict
        By name in it: the group whose length before the step that is.
    """

    length: DimLike
    names: dict[str, Any]

    def behind(self, lengths: Mapping[Any, DimLike]) -> DimLike:
        """The length behind a step, of those before it."""
        return substitute(self.length, {name: lengths[group] for name, group in self.names.items()})


def laws_of(context: Context, before: State, read: StepRead, groups: set[Any]) -> dict[Any, Law] | None:
    """What a step makes of the lengths of these groups, and of those that this depends on; None where more decides.

    Empty where the axes of a group turned out to differ.
    """
    assert read.state is not None
    found: dict[Any, Law] = {}
    names = {str(length): group for group, length in read.lengths.items()}
    of_step = names_of_step(context, read) - names.keys()
    behind: dict[Any, list[DimLike | None]] = {}
    for key, changing in before.changing.items():
        counts = read.state.counts.get(key, [None] * len(changing.changes))
        for change, count in zip(changing.changes, counts, strict=True):
            behind.setdefault(change.group, []).append(count)
    left = [*groups]
    while left:
        group = left.pop()
        if group in found:
            continue
        length, *others = behind[group]
        if any(other != length for other in others):
            return {}
        if length is not None and not of_step.isdisjoint(symbols(length)):
            length = found_at_most(context, length, names.keys())
            if not _rises(length, names):
                return None
        if length is None or not of_step.isdisjoint(symbols(length)):
            return None
        used = {name: names[name] for name in symbols(length) if name in names}
        found[group] = Law(length, used)
        left.extend(used.values())
    return found


def _rises(length: DimLike, names: Mapping[str, Any]) -> bool:
    """Whether a length is no shorter where those with these names are longer."""
    for monomial, factor in length.terms if isinstance(length, Dim) else ():
        for atom in monomial:
            rising = not atom.args or (atom.name in ("max", "min") and all(_rises(part, names) for part in atom.args))
            if not names.keys().isdisjoint(symbols(Dim((((atom,), 1),)))) and (factor < 0 or not rising):
                return False
    return True


def _bounds(context: Context, read: StepRead) -> dict[Any, DimLike]:
    """By group of axes: how long these are before a step at most, as what holds there says, by numbers from before the loop."""
    own = {*read.params, *read.lead, *(result for inst in read.insts for result in inst.results)}
    of_step = names_of_step(context, read) | {name for value, names in context.bound.items() if value in own for name in names}
    found: dict[Any, DimLike] = {}
    for group, length in read.lengths.items():
        for fact in read.known:
            factor = next((n for n in range(1, FEW) if str(length) not in symbols(fact + n * length)), None)
            if factor is not None and str(length) in symbols(fact):
                most = fact + factor * length
                if of_step.isdisjoint(symbols(most)):
                    found.setdefault(group, floordiv(most, factor))
    return found


def bounded(context: Context, before: State, read: StepRead, laws: dict[Any, Law]) -> dict[Any, Law] | None:
    """The laws, with rooms for what they make of lengths that are bounded; None where any is not."""
    rooms: dict[Any, DimLike] = {}
    bounds = _bounds(context, read)
    for group, law in laws.items():
        steps: list[tuple[str, DimLike, bool]] = []
        for name, used in law.names.items():
            if used not in bounds:
                return None
            steps.append((name, bounds[used] + 1, False))
        ends = ends_of(law.length, steps)
        if ends is None:
            return None
        starts = [c.start for changing in before.changing.values() for c in changing.changes if c.group == group]
        rooms[group] = greatest([*ends, *starts[:1]])
    before.rooms |= rooms
    return laws


def ask_for_rounds(context: Context, before: State, laws: Mapping[Any, Law]) -> None:
    """Let the function be read again with a loop in rounds, where steps make lengths at most a few times as long."""
    if not all(_is_few_times(context, law) for law in laws.values()):
        return
    for (owner, name), changing in before.changing.items():
        for change in changing.changes:
            asked = Longer(context.builder.loc, name, change.axis)
            if change.group in laws and not isinstance(owner, Container) and asked not in context.handed:
                raise HandOn(asked)


def _is_few_times(context: Context, law: Law) -> bool:
    """Whether a step makes a length at most a few times as long as lengths before it, but for what does not depend on these."""
    at_first: DimLike = 0
    for few in (0, 1):
        at_first = at_first + substitute(law.length, dict.fromkeys(law.names, few))
    for name in law.names:
        at_first = at_first + FEW * symbol(name)
    return is_surely_natural(context, at_first - law.length)


def find_rooms(context: Context, before: State) -> None:
    """Write the loop that finds out how long axes get, in front of the loop whose steps make them so long."""
    missing = [group for group in before.laws if group not in before.rooms]
    if missing:
        _run_ahead(context, before, missing)
    names = {name for room in before.rooms.values() for name in symbols(room)}
    for value, own in [*context.bound.items()]:
        if not names.isdisjoint(own):
            bound(context, value)
    for key, changing in before.changing.items():
        changes = tuple(c._replace(room=before.rooms.get(c.group, c.room)) for c in changing.changes)
        if changes != changing.changes:
            before.changing[key] = changing._replace(changes=changes)
            before.parts.pop(key, None)


def _with_used(laws: Mapping[Any, Law], groups: Sequence[Any]) -> dict[Any, Law]:
    """The laws of groups, and of those whose lengths they are made of."""
    found: dict[Any, Law] = {}
    left = [*groups]
    while left:
        group = left.pop(0)
        if group not in found:
            found[group] = laws[group]
            left.extend(laws[group].names.values())
    return found


def _run_ahead(context: Context, before: State, missing: Sequence[Any]) -> None:
    """Write the loop of the lengths alone; where a step may end the loop, as far as there may be room for elements."""
    laws = _with_used(before.laws, missing)
    starts = {c.group: c.start for changing in before.changing.values() for c in changing.changes}
    emit = context.builder.emit

    def number_of(dim: DimLike) -> Value:
        return as_value(context, dim_value(context, dim))

    def goes_on(number: Value, lengths: Sequence[Value]) -> Value:
        tests = [emit("less", (number, number_of(before.steps)))]
        tests += [emit("less_equal", (length, number_of(MOST))) for length in lengths]
        return functools.reduce(lambda first, second: emit("bitwise_and", (first, second)), tests)

    first = [number_of(starts[group]) for group in laws]
    # Whether there is another step, which one it is, the lengths before it, and the greatest that there were.
    begin = [goes_on(number_of(0), first), number_of(0), *first, *first]
    flag, number, *params = [Value(regions.bare(value.type)) for value in begin]
    with context.builder.nested() as insts:
        lengths = {
            group: bound_count(context, param, new_name(context, "length"))
            for group, param in zip(laws, params, strict=False)
        }
        longer = [number_of(law.behind(lengths)) for law in laws.values()]
        most = [emit("python_max", pair) for pair in zip(params[len(first) :], longer, strict=True)]
        following = emit("add", (number, number_of(1)))
        another = emit("less", (following, number_of(before.steps))) if before.every else goes_on(following, longer)
        emit("yield", (another, following, *longer, *most))
    region = Block((flag, number, *params), tuple(insts))
    types = [value.type for value in region.params]
    made = context.builder.inst("while_loop", begin, {"carried": len(begin)}, types, (region,))
    for group, start, most in zip(missing, first, made.results[-len(first) :], strict=False):
        if not before.every:
            most = emit("python_max", (start, emit("python_min", (most, number_of(MOST)))))
        before.rooms[group] = bound_count(context, most, new_name(context, "room"))


__all__ = ["Law", "MOST", "ask_for_rounds", "bounded", "find_rooms", "laws_of"]
