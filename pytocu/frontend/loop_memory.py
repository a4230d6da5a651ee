"""What a step of a loop carries, and which memories the names it carries may be in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from itertools import combinations, zip_longest
from typing import Any, TypeAlias

from pytocu.errors import UnsupportedError
from pytocu.frontend.first_steps import differs
from pytocu.frontend.frames import Frame, Unset
from pytocu.frontend.state import LEAF, Container, State, flatten, rebuild
from pytocu.frontend.storage import NUMBERED, HandOn, StorageBuilder
from pytocu.frontend.values import Context, is_array
from pytocu.ir.core import Inst, Value
from pytocu.ir.dims import DimLike
from pytocu.ir.types import Type, WeakType
from pytocu.record import Mutable, fresh


class StepRead(Mutable):
    """A body as it was read: what it carries, and the instructions."""

    names: list[tuple[Frame, str]]
    roots: list[Value]
    types: dict[tuple[Frame, str], list[Type]]
    shared: dict[tuple[Frame, str], list[set[Value]]]
    rebound: dict[tuple[Frame, str], Unset]
    unordered: set[tuple[Frame, str]]
    of_lists: set[tuple[Frame, str]]
    kinds: dict[tuple[Frame, str], list[frozenset[WeakType]]]
    insts: list[Inst] = fresh(default_factory=list)
    counter: Value | None = None
    lead: list[Value] = fresh(default_factory=list)
    params: list[Value] = fresh(default_factory=list)
    forms: list[Any] = fresh(default_factory=list)
    contents: list[Value] = fresh(default_factory=list)
    next: list[Any] = fresh(default_factory=list)
    extras: list[Value] = fresh(default_factory=list)
    # By place among what is returned: arrays that are there in front of the loop, which are the same behind it.
    kept: dict[int, Value] = fresh(default_factory=dict)
    state: State | None = None
    # Whether it holds statements that NumPy or Python refuses, perhaps for what a name was taken to be.
    refuses: bool = False
    # Of arrays whose lengths steps change, by their groups.
    lengths: dict[Any, DimLike] = fresh(default_factory=dict)
    # The places among their changes of those that get longer than they may.
    outgrown: dict[tuple[Frame, str], list[int]] = fresh(default_factory=dict)
    # What is not negative where a step that makes these so long ends.
    known: Sequence[DimLike] = ()
    # Those of which it is not known how NumPy has them in memory, by their names.
    sparse: dict[tuple[Frame, str], Value] = fresh(default_factory=dict)


Ways: TypeAlias = "Mapping[Value, tuple[tuple[Frame, str], Any, Any]]"
"""By what begins a step: the name, what it is before the loop, and what the step makes of it."""

Bound: TypeAlias = tuple[Value, Sequence[Any], set[Value]]
"""What a loop binds, what it is before the loop and behind a step, and the memories that it may be."""


def carried_memories(
    builder: StorageBuilder, read: StepRead, before: State, after: State, steps: bool
) -> dict[tuple[Frame, str], list[set[Value]]]:
    """By name: the memories from before the loop that what it carries may be behind it."""
    own = made_by(read)
    first: dict[Value, set[Value]] = {}
    last: dict[Value, set[Value]] = {}
    by_name: dict[tuple[Frame, str], list[Value]] = {}
    place = 0
    for owner, name in read.names:
        old: list[Any] = []
        new: list[Any] = []
        flatten(before.value(owner, name), old)
        flatten(after.value(owner, name), new)
        by_name[owner, name] = params = read.params[place : place + len(old)]
        place += len(old)
        # A name that a step binds to something of another kind has nothing that goes on.
        for param, a, b in zip_longest(params, old, new[: len(old)]):
            first[param] = builder.memories(a) if is_array(a) else set()
            last[param] = builder.memories(b) if is_array(b) else set()
    # What a step hands on as it is has been there since the step before.
    reached = {param: {*last[param], *(() if steps else {param})} for param in first}
    for _ in first:
        for param, found in reached.items():
            reached[param] = found | {m for p in found if p in first for m in last[p]}
    found = {param: {m for p in reached[param] for m in first.get(p, {p} - own)} for param in first}
    return {name: [found[param] for param in params] for name, params in by_name.items()}


def ways_of(read: StepRead, before: State, after: State) -> Ways:
    """What names hold before a loop and behind a step, by what begins a step."""
    ways: dict[Value, tuple[tuple[Frame, str], Any, Any]] = {}
    place = 0
    for key in read.names:
        old, new = leaves_of(before, *key), leaves_of(after, *key)
        for param, start, end in zip(read.params[place : place + len(old)], old, new, strict=False):
            ways[param] = key, start, end
        place += len(old)
    return ways


class Meetings:
    """Which of the names that a loop carries may be in one memory, in any of its steps or behind it.

    A step is read as if what it begins with were apart; which pairs of that are not follows from what names hold before
    the loop, and then from what a step makes of those.

    Attributes
    ----------
    pairs : set of frozenset of Value
        Of what begins a step.
    """

    def __init__(self, builder: StorageBuilder, read: StepRead, before: State, after: State):
        self._builder = builder
        self._own = made_by(read)
        sets = carried_memories(builder, read, before, after, False)
        self._reached = dict(zip(read.params, (memories for key in read.names for memories in sets[key]), strict=True))
        self.pairs: set[frozenset[Value]] = set()
        ways = ways_of(read, before, after)
        left = list(combinations([p for p, (_, start, end) in ways.items() if is_array(start) and is_array(end)], 2))
        while left:
            more = [(a, b) for a, b in left if not all(map(self.apart, ways[a][1:], ways[b][1:]))]
            if not more:
                break
            self.pairs.update(map(frozenset, more))
            left = [pair for pair in left if pair not in more]

    def apart(self, first: Value, second: Value) -> bool:
        """Whether what names hold before the loop, or behind a step, is in different memories."""
        if not self._builder.apart(first, second):
            return False
        memories = [self._builder.memories(value) for value in (first, second)]
        return not any(m is not n and self._meet(m, n) for m in memories[0] for n in memories[1])

    def _meet(self, first: Value, second: Value) -> bool:
        """Whether different memories, as a step knows them, may be one."""
        if frozenset((first, second)) in self.pairs:
            return True
        return any(b not in self._own and b in self._reached.get(a, ()) for a, b in ((first, second), (second, first)))


def made_by(read: StepRead) -> set[Value]:
    """What a step has of its own: what it begins with, and what it makes."""
    return {*read.params, *(result for inst in read.insts for result in inst.results)}


def with_own(builder: StorageBuilder, read: StepRead, bound: Sequence[Bound]) -> list[Bound]:
    """The memories of results, and those that a step makes and binds to several names."""
    # What a step begins with is among the memories from before the loop, or of a step before.
    own = made_by(read) - set(read.params)
    made = [builder.memories(ways[-1]) & own if is_array(ways[-1]) else set() for _, ways, _ in bound]
    several: set[Value] = set()
    for (mine, (_, ways, _)), (others, (_, more, _)) in combinations(zip(made, bound, strict=True), 2):
        if not mine.isdisjoint(others) and not builder.apart(ways[-1], more[-1]):
            several |= mine & others
    return [(result, ways, found | (mine & several)) for (result, ways, found), mine in zip(bound, made, strict=True)]


def leaf_count(form: Any) -> int:
    """How many values stand in a form, each of which a step begins with."""
    return sum(map(leaf_count, form)) if isinstance(form, tuple) else int(form is LEAF)


def leaves_of(state: State, owner: Frame, name: str) -> list[Any]:
    found: list[Any] = []
    flatten(state.value(owner, name), found)
    return found


def changed_memories(read: StepRead) -> set[Value]:
    """The memories from before the loop that a step changes; earlier readings may have found more."""
    assert read.state is not None
    return {root for root, param in zip(read.roots, read.contents, strict=True) if read.state.storage[0][root] is not param}


def newly_shared(builder: StorageBuilder, read: StepRead, before: State) -> dict[tuple[Frame, str], list[set[Value]]]:
    """By name: the memories from before the loop that a step changes and that the name may be in when a step begins."""
    assert read.state is not None
    changed = changed_memories(read)
    found = {name: list(sets) for name, sets in read.shared.items()}
    if changed:
        for name, sets in carried_memories(builder, read, before, read.state, False).items():
            known = found.get(name) or [set() for _ in sets]
            found[name] = [a | (b & changed) for a, b in zip(known, sets, strict=True)]
    return {name: sets for name, sets in found.items() if any(sets)}


def seen_elsewhere(builder: StorageBuilder, before: State, key: tuple[Frame, str], value: Any) -> bool:
    """Whether a change of what a name is before a loop may be seen by the caller, or through another name."""
    return is_array(value) and (any(map(_is_given, builder.memories(value))) or _other_name(before, *key, value))


def _is_given(memory: Value) -> bool:
    """Whether a memory is an argument's, or one that a step of a loop around begins with."""
    return memory.inst is None


def refuse_shared_memory(frame: Frame, before: State, read: StepRead, turning: Set[Value]) -> dict[Value, Value]:
    """A name that is bound to one memory and then to another, where memory is changed: names are values from here on.

    Parameters
    ----------
    turning : set of Value
        What begins a step and takes turns, so that it is known which memories it is behind the loop.

    Returns
    -------
    dict
        The memories that steps of loops around begin with and that no other name sees, each with what begins a step and may
        be in it: behind the loop nothing is known of them but that they were changed.

    Raises
    ------
    UnsupportedError
        A change would be seen through another name.
    """
    builder = frame.context.builder
    assert read.state is not None
    changed = {p for p in read.params if p in read.state.storage[0]}
    lost: dict[Value, Value] = {}
    if not changed:
        return lost
    place = 0
    ends: list[tuple[Value, str]] = []
    own = made_by(read)
    reached = carried_memories(builder, read, before, read.state, False)
    seen = _seen(builder, before, read)
    for owner, name in read.names:
        old = leaves_of(before, owner, name)
        new = leaves_of(read.state, owner, name)
        for param, memories in zip(read.params[place : place + len(old)], reached[owner, name], strict=True):
            # What it is in one of the steps; only names that a step binds are carried.
            if param not in changed or param in turning:
                continue
            lost.update((memory, param) for memory in memories if _is_given(memory))
            if not seen.isdisjoint(memories):
                problem = another_memory(frame.context, name)
                if problem.key is not None and _becomes_own(builder, read, param):
                    raise HandOn(problem.key)
                if builder.numbered is None:
                    raise HandOn(NUMBERED)
                raise UnsupportedError(problem.message, builder.loc, problem.help)
        place += len(old)
        for value in new:
            if is_array(value):
                others = [other for end, other in ends if not builder.apart(value, end)]
                if others or not builder.memories(value) <= own:
                    if builder.numbered is None:
                        raise HandOn(NUMBERED)
                    raise UnsupportedError(
                        f"{name} and {others[0] if others else 'another name'} are one memory after a step of the loop, which "
                        "changes it",
                        builder.loc,
                        f"make one of them a copy: {name} = {name}.copy()",
                    )
                ends.append((value, name))
    return lost


def _seen(builder: StorageBuilder, before: State, read: StepRead) -> set[Value]:
    """The memories from before the loop that others see than the one name that a step may bind to something else."""
    found = {builder.root(handle) for handle in builder.arguments}
    own = [before.held(*key) for key in before.parts if key not in before.shared]
    for frame, name in before.names():
        if isinstance(frame, Container) and any(frame.held is held for held in own):
            # A list or dict that the step makes anew, and nobody else holds.
            continue
        for value in leaves_of(before, frame, name):
            if is_array(value) and ((frame, name) not in read.names or _other_name(before, frame, name, value)):
                found |= builder.memories(value)
    return found


def another_memory(context: Context, name: str) -> Unset:
    """What is wrong with a name of memory that a step changes and that is another in the next step."""
    text = f"{name} names another memory after each step of the loop, and that is changed where it is an argument's"
    help = f"begin with a copy: {name} = {name}.copy()"
    return differs(context, context.loc, f"{text} or has another name", help, needed=False, memory=True)


def _becomes_own(builder: StorageBuilder, read: StepRead, param: Value) -> bool:
    """Whether what begins as `param` is memory that steps make, after some of them."""
    ends: dict[Value, Any] = {}
    place = 0
    assert read.state is not None
    for (owner, name), form in zip(read.names, read.forms, strict=True):
        leaves: list[Any] = []
        flatten(rebuild(form, list(read.params[place:])), leaves)
        count = len(leaves)
        ends.update(zip(read.params[place : place + count], leaves_of(read.state, owner, name), strict=False))
        place += count
    seen: set[Value] = set()
    while param in ends and param not in seen:
        seen.add(param)
        if not is_array(ends[param]):
            return False
        param = builder.root(ends[param])
    return param not in seen


def _other_name(before: State, owner: Frame, name: str, value: Value) -> bool:
    replaced = before.held(owner, name) if (owner, name) in before.parts and (owner, name) not in before.shared else before
    for frame, other in before.names():
        if isinstance(frame, Container) and frame.held is replaced:
            # A list or dict that the step makes anew, and nobody else holds.
            continue
        held = before.value(frame, other)
        if (frame, other) != (owner, name) and is_array(held) and not before.builder.apart(value, held):
            return True
    return False
