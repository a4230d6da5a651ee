"""Arrays that take each other's places in the steps of a loop: ``u, v = v, u``, or give their own up: ``v = v * 2``.

A step is read once, with a memory for each name that it carries, so that names may be of other memories in each step.  Where
others see one of these (an argument, or an array with another name), it has to hold behind the loop what Python leaves in
it.  Which name has which memory then depends on the steps: each name carries the number of its memory, these take turns as
the arrays do, and behind the loop the host looks at one of them.

Where a step binds a name to a new array, or does in some steps, the name has the number of none from there on, and what the
memory that it had before holds is carried beside it: nobody changes that any more.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytocu.frontend.flags import both, negated
from pytocu.frontend.frames import Frame
from pytocu.frontend.inplace import DESTINATION, note_write
from pytocu.frontend.loop_memory import Meetings, StepRead, Ways, changed_memories, made_by, seen_elsewhere, ways_of
from pytocu.frontend.merging import choice_of, in_region, may_be_one
from pytocu.frontend.operators import binary
from pytocu.frontend.state import State
from pytocu.frontend.storage import StorageBuilder
from pytocu.frontend.values import Context, as_value, is_array
from pytocu.ir import regions
from pytocu.ir.core import Value
from pytocu.ir.types import WEAK_INT
from pytocu.record import Record

_NONE = -1
"""The number of a memory that was none before the loop."""


class Turn(Record):
    """Arrays in an order in which every step moves them on, or that may give their memories up for new ones.

    Attributes
    ----------
    params : tuple of Value
        What they are in a step.
    starts : tuple of Value
        Their memories before the loop.
    tests : tuple of Value
        What decides in a step by how many places they move.
    shifts : tuple of int
        By how many, for the first test that holds, and for none.
    numbers : tuple of Value
        Parameters of a step: which of the memories each of them is.
    changed : bool
        Whether a step changes one of them.
    ends : tuple of pairs
        Of those that give memories up, for each: what decides, and which of them it is in the next step, or none.
    kept : tuple of Value
        Parameters of a step, then: what the memories hold that no name has any more, where a step changes one.
    """

    params: tuple[Value, ...]
    starts: tuple[Value, ...]
    tests: tuple[Value, ...]
    shifts: tuple[int, ...]
    numbers: tuple[Value, ...]
    changed: bool = False
    ends: tuple[tuple[tuple[Value, ...], tuple[int, ...]], ...] = ()
    kept: tuple[Value, ...] = ()

    @property
    def carried(self) -> tuple[Value, ...]:
        """What a step carries of it."""
        return *self.numbers, *self.kept


def turns_of(frame: Frame, before: State, read: StepRead, meetings: Meetings) -> list[Turn]:
    """The arrays that take turns in the steps of a loop that was read, where others see one of them."""
    assert read.state is not None
    builder = frame.context.builder
    ways = ways_of(read, before, read.state)
    found: list[Turn] = []
    for first in ways:
        if any(first in turn.params for turn in found):
            continue
        turn = _turn(builder, ways, first)
        if turn is None and builder.numbered:
            turn = _giving_up(builder, read, ways, first)
        if turn is None or not _are_apart(builder, turn.starts) or _meets_others(builder, read, turn.starts):
            continue
        changed = any(p in read.state.storage[0] for p in turn.params)
        if changed and any(not pair.isdisjoint(turn.params) for pair in meetings.pairs):
            continue
        if any(seen_elsewhere(builder, before, *ways[p][:2]) for p in turn.params):
            if changed and turn.ends:
                turn = turn._replace(kept=tuple(Value(p.type, p.name) for p in turn.params))
            found.append(turn._replace(changed=changed))
    return found


def _giving_up(builder: StorageBuilder, read: StepRead, ways: Ways, first: Value) -> Turn | None:
    """The arrays of which a step leaves one, or a new one, by the name of another, or None."""
    own = made_by(read) - set(read.params)
    links: dict[Value, tuple[tuple[Value, ...], tuple[Value, ...]]] = {}
    for param, (_, start, end) in ways.items():
        if is_array(start) and is_array(end) and regions.bare(start.type) == param.type and _fits(end, param):
            links[param] = builder.decided(end) or ((), (end,))
    order = [first]
    for param in order:
        near = [p for p, (_, arrays) in links.items() if param in arrays or p in links.get(param, ((), ()))[1]]
        order += [p for p in near if p not in order]
    if not all(p in links for p in order):
        return None
    ends: list[tuple[tuple[Value, ...], tuple[int, ...]]] = []
    for tests, arrays in (links[p] for p in order):
        for array in arrays:
            if array in order:
                continue
            # What was chosen stands here for the new one of those that it may be.
            others = builder.memories(array) - own - (set(order) if array in builder.chosen() else set())
            if builder.root(array) not in own or others:
                return None
        ends.append((tests, tuple(order.index(a) if a in order else _NONE for a in arrays)))
    if all(set(places) == {k} for k, (_, places) in enumerate(ends)):
        return None
    numbers = tuple(Value(WEAK_INT, f"{p.name}_turn") for p in order)
    return Turn(tuple(order), tuple(ways[p][1] for p in order), (), (), numbers, ends=tuple(ends))


def _fits(end: Value, param: Value) -> bool:
    return may_be_one(regions.bare(end.type), param.type)


def _turn(builder: StorageBuilder, ways: Ways, first: Value) -> Turn | None:
    """The arrays that take turns with one, or None."""
    tests: tuple[Value, ...] = ()
    nexts: dict[Value, tuple[Value, ...]] = {}
    waiting = [first]
    while waiting:
        param = waiting.pop()
        end = ways[param][2]
        if not is_array(end) or not _fits(end, param):
            return None
        here, arrays = ((), (end,)) if end in ways else builder.decided(end) or ((), ())
        if not arrays or not all(a in ways for a in arrays) or (here and tests and here != tests):
            return None
        tests, nexts[param] = here or tests, arrays
        waiting.extend(a for a in dict.fromkeys(arrays) if a not in nexts and a not in waiting)
    count = len(tests) + 1
    maps = [{p: arrays[min(k, len(arrays) - 1)] for p, arrays in nexts.items()} for k in range(count)]
    for one in maps:
        order = [first]
        while (after := one[order[-1]]) not in order:
            order.append(after)
        if len(order) < len(nexts) or len(order) == 1:
            continue
        shifts = tuple(order.index(m[first]) for m in maps)
        moved = ({p: order[(k + shift) % len(order)] for k, p in enumerate(order)} for shift in shifts)
        if all(m == to for m, to in zip(maps, moved, strict=True)):
            numbers = tuple(Value(WEAK_INT, f"{p.name}_turn") for p in order)
            return Turn(tuple(order), tuple(ways[p][1] for p in order), tests, shifts, numbers)
    return None


def _are_apart(builder: StorageBuilder, starts: Sequence[Any]) -> bool:
    """Whether arrays are the whole of memories of which it is known that they are different ones."""
    if not all(is_array(start) and builder.root(start) is start for start in starts):
        return False
    if not all(builder.memories(start) == {start} or builder.decided(start) is not None for start in starts):
        return False
    return all(builder.apart(a, b) for k, a in enumerate(starts) for b in starts[:k])


def _meets_others(builder: StorageBuilder, read: StepRead, starts: Sequence[Value]) -> bool:
    """Whether a step reads or changes one of some memories by a name that takes no turn."""
    memories = {m for start in starts for m in builder.memories(start)}
    # An earlier reading may have carried what they hold, for changes that are those of names by now.
    held = {c for root, c in zip(read.roots, read.contents, strict=True) if root in memories}
    held |= {builder.contents(memory) for memory in memories}
    given = regions.captured(read.insts, (), ())
    return not changed_memories(read).isdisjoint(memories) or any(_base(value) in held for value in given)


def _base(value: Value) -> Value:
    """What a view shows, or the value itself."""
    while value.inst is not None and value.inst.op.kind == "view":
        value = value.inst.args[0]
    return value


def written_first(context: Context, turn: Turn) -> None:
    """Let the call check, before the loop, that arguments which take turns may be written."""
    for start in turn.starts if turn.changed else ():
        note_write(context, start, DESTINATION)


def first_numbers(context: Context, turn: Turn) -> list[Value]:
    """Which memory each of the names has before the first step, and what is in those that no name has."""
    numbers = [as_value(context, number) for number in range(len(turn.starts))]
    return [*numbers, *(context.builder.contents(start) for start in turn.starts[: len(turn.kept)])]


def next_numbers(context: Context, read: StepRead, turn: Turn) -> list[Value]:
    """The same for the next step; instructions are written behind those of the step."""
    builder, count = context.builder, len(turn.numbers)
    if not turn.ends:
        with builder.behind(read.insts):
            return [
                builder.selected(turn.tests, [turn.numbers[(place + shift) % count] for shift in turn.shifts], number)
                for place, number in enumerate(turn.numbers)
            ]
    state = read.state
    assert state is not None
    last = [in_region(context, read.insts, state, p, p.type) for p in turn.params[: len(turn.kept)]]
    with builder.behind(read.insts):
        none = as_value(context, _NONE)
        following = [
            builder.selected(tests, [none if place == _NONE else turn.numbers[place] for place in places], number)
            for number, (tests, places) in zip(turn.numbers, turn.ends, strict=True)
        ]
        kept = [_kept(context, turn, following, last, place, held) for place, held in enumerate(turn.kept)]
    return [*following, *kept]


def _kept(context: Context, turn: Turn, following: Sequence[Value], last: Sequence[Value], place: int, held: Value) -> Value:
    """What a memory holds behind a step: what its name left in it, where that has another one in the next step."""
    is_it = lambda number: as_value(context, binary(context, "equal", number, place))  # noqa: E731
    tests: list[Value] = []
    for number in turn.numbers:
        given: Any = is_it(number)
        for other in following:
            given = both(context, given, negated(context, is_it(other)))
        tests.append(given)
    return context.builder.selected(tests, [*last, held], held)


def put_back(context: Context, turn: Turn, carried: Sequence[Value], results: Sequence[Value]) -> None:
    """Let the memories hold behind the loop what Python leaves in them, and state which of them the names have.

    Parameters
    ----------
    carried : sequence of Value
        The numbers of the memories, and what those hold that no name has.
    results : sequence of Value
        What the names hold.
    """
    builder, count = context.builder, len(results)
    if turn.ends:
        kept = carried[count:]
        is_it = [[as_value(context, binary(context, "equal", n, j)) for j in range(count)] for n in carried[:count]]
        for place, start in enumerate(turn.starts if turn.changed else ()):
            builder.replace(start, builder.selected([tests[place] for tests in is_it], [*results, kept[place]], start))
        for tests, result in zip(is_it, results, strict=True):
            builder.choose(result, *choice_of(context, tests, [*turn.starts, result]))
        return
    tests = [as_value(context, binary(context, "equal", carried[0], shift)) for shift in range(count - 1)]
    for place, start in enumerate(turn.starts if turn.changed else ()):
        # Moved by so many places, this memory has the name that stands so far before it.
        held = [results[(place - shift) % count] for shift in range(count)]
        builder.replace(start, builder.selected(tests, held, start))
    for place, result in enumerate(results):
        builder.choose(result, *choice_of(context, tests, [turn.starts[(place + shift) % count] for shift in range(count)]))
