"""Loops of a plan as trees, and what a native function has to know to make their steps with numbers that differ.

In: the steps of a plan.  Out: a loop with the loops and branches in its steps, and of a loop that a native function can make,
what the program has to state before a step.  A loop in whose steps there is no other one is a tree of one node.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from math import lcm
from typing import Any, TypeAlias

from pytocu.ir.dims import DimLike, ends_of, product, symbols
from pytocu.record import Record
from pytocu.runtime.plan import Plan, Step
from pytocu.runtime.plan_loops import end_of

Bounds: TypeAlias = "tuple[DimLike, int, int | None]"
"""A length, and the least and most that it may be."""

Room: TypeAlias = "tuple[int, DimLike]"
"""Memory, and how many elements it has."""


class Loop(Record):
    """A loop of the host, or a branch in its steps, with those in its own: a tree, whose leaves are other steps of the plan.

    Attributes
    ----------
    position : int
        Where it begins in the plan.
    counter : int
        The slot of the number that it counts with; -1 for a ``while``.
    bounds : tuple of int
        Slots of the first number, the one behind the last, and the step; of what says which side a branch takes; none for a
        ``while``.
    params, starts, yielded, results : tuple of int
        What a step begins with; what that is in the first step and what a step hands on as it; what it is behind the loop.
        The first one of a ``while`` says whether a step follows.
    memory : tuple of int
        Those of `params` that are arrays.
    body : tuple
        Steps, loops and branches.
    other : tuple
        Those of a branch whose truth value is false.
    handed : tuple of (int, int, int, bool)
        What a branch hands on: the slot, what that is on either side, and whether it is an array.
    branches : bool
        Whether it is a branch.
    """

    position: int
    counter: int
    bounds: tuple[int, ...]
    params: tuple[int, ...]
    starts: tuple[int, ...]
    yielded: tuple[int, ...]
    results: tuple[int, ...]
    memory: tuple[int, ...]
    body: tuple[Any, ...]
    other: tuple[Any, ...] = ()
    handed: tuple[tuple[int, int, int, bool], ...] = ()
    branches: bool = False

    @property
    def inside(self) -> tuple[Any, ...]:
        """Steps, loops and branches, of both sides of a branch."""
        return (*self.body, *self.other)

    @property
    def launches(self) -> bool:
        """Whether a kernel is launched in its steps, or memory is read, or in loops there."""
        return any(step.launches if isinstance(step, Loop) else step[0] in _LAUNCHING for step in self.inside)

    @property
    def inner(self) -> tuple[Loop, ...]:
        """The loops and branches in its steps that launch kernels."""
        return tuple(step for step in self.inside if isinstance(step, Loop) and step.launches)

    @property
    def made(self) -> tuple[int, ...]:
        """The slots of what a step begins with, and of what is there behind it."""
        return (*self.params, *self.results, *(result for result, *_ in self.handed))

    @property
    def moves(self) -> dict[int, int]:
        """What a step hands on as each memory."""
        after = dict(zip(self.params, self.yielded, strict=True))
        return {p: after[p] for p in self.memory}

    def loops(self) -> Iterator[Loop]:
        """This one and all in it."""
        yield self
        for step in self.inside:
            if isinstance(step, Loop):
                yield from step.loops()

    def edges(self) -> Iterator[tuple[Loop, Loop]]:
        """Loops and branches that launch kernels in others, and each of these."""
        for step in self.inner:
            yield self, step
            yield from step.edges()

    def steps(self) -> Iterator[Step]:
        """What stands in its steps and in those of loops there, in order."""
        for step in self.inside:
            if isinstance(step, Loop):
                yield from step.steps()
            else:
                yield step


class Numbers(Record):
    """Python's numbers that kernels take and that differ from step to step, which a native function can compute.

    Attributes
    ----------
    loop : Loop
        What computes them, with what is launched.
    carried : tuple of (int, int)
        Slots of numbers that a step of the loop hands on, and of what it hands on as each.
    given : tuple of int
        Slots of the numbers that the program states before a step: those that are carried, and those that stay.
    lengths : tuple of str
        Names in lengths that the program states as well.
    fixed : tuple of int
        Slots of what kernels take in every step as it is.
    memory : tuple of int
        Slots of memory that exists before a step, whose addresses the program states.
    varying : tuple of str
        Names in lengths that differ from step to step.
    reads : tuple of str
        Those of lengths that are read from memory in a step.
    rooms : tuple of Room
        Memory that a step makes for itself and how many elements that has; where they are more than in the step that the
        program made, Python makes the step.
    whole : bool
        Whether these are all of the program's numbers, so that it need not compute them beside.
    """

    loop: Loop
    carried: tuple[tuple[int, int], ...]
    given: tuple[int, ...]
    lengths: tuple[str, ...]
    fixed: tuple[int, ...]
    memory: tuple[int, ...]
    varying: tuple[str, ...]
    reads: tuple[str, ...]
    rooms: tuple[Room, ...]
    whole: bool


OF_ONE = (
    "acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "cos", "cosh", "exp", "exp2", "expm1", "fabs", "log",
    "log10", "log1p", "log2", "sin", "sinh", "sqrt", "tan", "tanh",
)  # fmt: skip
"""Functions of Python's ``math`` that are C's where what they are given, and their result, is finite."""
OF_TWO = ("atan2", "copysign", "fmod", "pow")
ROUNDED = {"int": "", "trunc": "", "floor": "floor", "ceil": "ceil"}
"""Those that give ints, and what rounds before."""

_COMPUTED = frozenset(
    {"add", "subtract", "multiply", "divide", "floor_divide", "remainder", "negative", "positive", "power"}
    | {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "python_int", "python_step", "python_not"}
    | {"python_min", "python_max", "python_float", "python_from_words", "bitwise_and", "bitwise_or", "bitwise_xor"}
    | {"absolute", "invert", "left_shift", "right_shift", "python_natural", "math_degrees", "math_radians"}
    | {f"math_{name}" for name in (*OF_ONE, *OF_TWO, *ROUNDED)}
)
_LAUNCHING = frozenset({"launch", "read", "read_length", "failed"})
_DTYPES = frozenset({"f32", "f64", "index", "bool", *(f"{kind}{bits}" for kind in "iu" for bits in (8, 16, 32, 64))})
_IN_LOOPS = frozenset({"python", "const", "dim", "bind", "convert", "check", "launch", "read", "read_length", "failed"})
"""Steps in the loops and branches of a loop, of which the program need not have made one."""

_TRUTHS = frozenset({"python_not", "python_int", "equal", "not_equal", "bitwise_and", "bitwise_or", "bitwise_xor"})
"""What is computed of truth values and is always one of int64."""


def tree_of(steps: Sequence[Step], begin: int, memory: Set[int]) -> Loop:
    """The loop that begins at a position.

    Parameters
    ----------
    steps : sequence of tuple
        Of the plan.
    begin : int
    memory : set of int
        Slots of arrays.
    """
    first = steps[begin]
    counter, bounds = first[1:3] if first[0] == "for" else (-1, ())
    params, starts = first[-2:]
    end = end_of(steps, begin)
    _, _, yielded = steps[end - 1]
    _, results, _ = steps[end]
    arrays = tuple(p for p in params if p in memory)
    body = _body(steps, begin + 1, end - 1, memory)
    return Loop(begin, counter, tuple(bounds), tuple(params), tuple(starts), tuple(yielded), tuple(results), arrays, body)


def _body(steps: Sequence[Step], position: int, end: int, memory: Set[int]) -> tuple[Any, ...]:
    """The steps between two positions, as nodes of a tree."""
    body: list[Any] = []
    while position < end:
        step = steps[position]
        if step[0] in ("for", "while"):
            body.append(tree_of(steps, position, memory))
            # Behind it stands what it hands on.
            position = end_of(steps, position) + 1
        elif step[0] == "if":
            other, behind = _sides_of(steps, position)
            sides = _body(steps, position + 1, other - 1, memory), _body(steps, other + 1, behind - 1, memory)
            _, results, yes = steps[other - 1]
            handed = tuple((r, y, n, r in memory) for r, y, n in zip(results, yes, steps[behind - 1][2], strict=True))
            body.append(_branch(position, step[1], *sides, handed))
            position = behind + 1
        elif step[0] == "python" and step[2] == "python_choose":
            _, made, _, (test, yes, no) = step
            body.append(_branch(position, test, (), (), ((made, yes, no, False),)))
            position += 1
        else:
            body.append(step)
            position += 1
    return tuple(body)


def _branch(position: int, test: int, body: tuple[Any, ...], other: tuple[Any, ...], handed: Sequence[Any]) -> Loop:
    return Loop(position, -1, (test,), (), (), (), (), (), body, other, tuple(handed), True)


def _sides_of(steps: Sequence[Step], begin: int) -> tuple[int, int]:
    """Where the other side of the branch that begins at a position begins, and where it ends."""
    depth, other = 0, begin
    for position in range(begin, len(steps)):
        depth += (steps[position][0] == "if") - (steps[position][0] == "end")
        if depth == 1 and steps[position][0] == "else":
            other = position
        if not depth:
            return other, position
    raise AssertionError("a branch has an end")


def numbers_of(plan: Plan, loop: Loop, varying: Set[int], names: Sequence[str], whole: bool) -> Numbers | None:
    """What the program states of a loop that a native function makes; None where only Python can compute its numbers.

    Parameters
    ----------
    plan : Plan
    loop : Loop
    varying : set of int
        Slots of what differs from step to step.
    names : sequence of str
        Names in lengths that do.
    whole : bool
        Whether all numbers are to be computed, or those that kernels need.
    """
    nested = len(list(loop.loops())) > 1
    if (nested and not whole) or not _repeats(plan, loop, frozenset(plan.written)):
        return None
    wanted = _wanted(loop, varying, whole)
    body: list[Any] = []
    for step in loop.body:
        match step:
            case ("python" | "dim" | "convert", slot, *_):
                keep = slot in wanted and slot in varying
            case ("check", _, dims, *_):
                # The program made a step, in which what always is the same was compared.
                keep = any_of(dims, names)
                if _bounds(step) is None:
                    return None
            case ("read", slot, _):
                keep = slot in wanted
            case _:
                keep = isinstance(step, Loop) or step[0] in ("bind", "launch", "read_length", "failed")
        body += [step] * keep
    if any(step[0] not in _IN_LOOPS for one in loop.body if isinstance(one, Loop) for step in one.steps()):
        return None
    kept = loop._replace(body=tuple(body))
    if not all(_is_known(plan, step) for step in kept.steps()):
        return None
    made = {one.counter for one in kept.loops()} | {slot for step in kept.steps() if (slot := made_by(step)) is not None}
    inside = [one for one in kept.loops() if one is not kept]
    made |= {slot for one in inside for slot in one.made}
    used = {slot for one in kept.loops() for slot in _numbers_used(one)}
    launched = {slot for step in kept.steps() if step[0] == "launch" for slot in _taken(plan, step)}
    numbers = wanted | used | launched
    after = {p: y for p, y in zip(loop.params, loop.yielded, strict=True) if p not in loop.memory and p in numbers}
    used |= {slot for pair in after.items() for slot in pair if pair[0] != pair[1]}
    if not varying & (used | launched) <= made | after.keys():
        return None
    carried = tuple((p, value) for p, value in after.items() if value != p)
    first = [p for p, _ in carried]
    given = [*first, *sorted((used | (launched & after.keys())) - made - set(first))]
    rooms = [(step[1], product(step[3])) for step in loop.body if step[0] == "allocate" and any_of(step[3], names)]
    lengths = {n: None for step in kept.steps() for dim in _dims_of(plan, step) for n in symbols(dim)}
    lengths |= {n: None for _, dim in rooms for n in symbols(dim)}
    # The program need not have been where these are named.
    within = {*names, *(n for one in inside for step in one.steps() if step[0] == "bind" for n in step[2])}
    memory = {slot for one in kept.loops() for slot in _memory_used(plan, one)}
    others = {slot for one in kept.loops() for slot in one.made}
    if memory & others - {slot for one in kept.loops() for slot in (*one.memory, *_handed(one, True), *_results(one))}:
        # An array of the caller's library, which has no memory of the plan's own.
        return None
    return Numbers(
        kept,
        carried,
        tuple(given),
        tuple(name for name in lengths if name not in within),
        tuple(sorted(launched - made - after.keys())),
        tuple(sorted(memory - {slot for one in inside for slot in one.made})),
        tuple(names),
        tuple(step[2] for step in kept.steps() if step[0] == "read_length"),
        tuple(rooms),
        whole,
    )


def _wanted(loop: Loop, varying: Set[int], whole: bool) -> set[int]:
    """Slots of numbers that are to be computed in a step itself, and what they are made of."""
    made = {step[1]: _sources(step) for step in loop.body if step[0] in ("python", "convert")}
    after = {p: y for p, y in zip(loop.params, loop.yielded, strict=True) if p not in loop.memory}
    inside = [one for step in loop.body if isinstance(step, Loop) for one in step.loops()]
    wanted = {slot for step in loop.steps() if step[0] in ("launch", "bind") for slot in _sources(step)}
    wanted |= {slot for one in inside for slot in (*one.bounds, *one.starts, *one.yielded)}
    wanted |= {slot for one in inside for _, yes, no, _ in one.handed for slot in (yes, no)}
    wanted |= {slot for one in inside for step in one.steps() for slot in _sources(step)}
    if loop.counter < 0:
        wanted |= {loop.params[0], loop.yielded[0]}
    if whole:
        wanted |= {slot for pair in after.items() for slot in pair if slot in varying}
        wanted |= {step[1] for step in loop.body if step[0] == "python" and step[1] in varying}
    before = -1
    while len(wanted) > before:
        before = len(wanted)
        wanted |= {source for slot in wanted & made.keys() for source in made[slot]}
        wanted |= {after[slot] for slot in wanted & after.keys()}
    return wanted


def made_by(step: Step) -> int | None:
    """The slot of the number that a step makes."""
    return step[1] if step[0] in ("python", "const", "dim", "convert", "read") else None


def _sources(step: Step) -> tuple[int, ...]:
    """The slots of what a step reads."""
    match step:
        case ("python", _, _, sources):
            return tuple(sources)
        case ("convert", _, source, *_):
            return (source,)
        case ("launch", _, slots):
            return tuple(slots)
        case ("bind", slot, *_):
            return (slot,)
    return ()


def _taken(plan: Plan, launch: Step) -> list[int]:
    """The slots of the numbers that a launch takes."""
    return [slot for slot, word in zip(launch[2], plan.kernels[launch[1]].parameters, strict=True) if word != "pointer"]


def _numbers_used(loop: Loop) -> set[int]:
    """The slots of numbers that are computed with in steps of a loop, or that say how many there are."""
    found = {slot for step in loop.inside if step[0] in ("python", "convert", "bind") for slot in _sources(step)}
    found.update(slot for _, *sides, is_memory in loop.handed if not is_memory for slot in sides)
    for one in (step for step in loop.inside if isinstance(step, Loop)):
        numbers = [p not in one.memory for p in one.params]
        found.update(one.bounds)
        for slots in (one.starts, one.yielded):
            found.update(slot for slot, number in zip(slots, numbers, strict=True) if number)
    return found


def _memory_used(plan: Plan, loop: Loop) -> set[int]:
    """The slots of memory in the steps of a loop."""
    found = set(loop.memory)
    found.update(slot for _, *sides, is_memory in loop.handed if is_memory for slot in sides)
    for step in loop.inside:
        match step:
            case ("launch", number, slots):
                found.update(s for s, word in zip(slots, plan.kernels[number].parameters, strict=True) if word == "pointer")
            case ("read_length" | "failed", slot, *_) | ("read", _, slot):
                found.add(slot)
            case Loop():
                found.update(start for p, start in zip(step.params, step.starts, strict=True) if p in step.memory)
    return found


def _dims_of(plan: Plan, step: Step) -> list[DimLike]:
    """The lengths that have to be known for a step."""
    match step:
        case ("dim", _, dim):
            return [dim]
        case ("bind", _, _, dim):
            return [dim or 0]
        case ("check", *_):
            return [dim for dim, _, _ in bounds_of(step)]
        case ("launch", number, _):
            spec = plan.kernels[number]
            return [spec.work, spec.cost, *spec.grid]
    return []


def _is_known(plan: Plan, step: Step) -> bool:
    """Whether a native function can make a step."""
    match step:
        case ("python", _, name, _):
            return name in _COMPUTED
        case ("const", _, value, dtype):
            return isinstance(value, (bool, int, float)) and (dtype is None or dtype in _DTYPES)
        case ("convert", _, _, dtype, wrap):
            return not wrap and dtype in _DTYPES
        case ("check", *_):
            return _bounds(step) is not None
    return True


def _handed(loop: Loop, is_memory: bool) -> list[int]:
    """The slots of what a branch hands on: of arrays, or of numbers."""
    return [result for result, _, _, array in loop.handed if array is is_memory]


def _results(loop: Loop) -> list[int]:
    """The slots of arrays behind a loop."""
    return [result for result, param in zip(loop.results, loop.params, strict=True) if param in loop.memory]


def _repeats(plan: Plan, loop: Loop, others: frozenset[int]) -> bool:
    """Whether Python can take over in each step of a loop; `others` is memory that is not its own.

    What Python makes after all is begun anew, from the last loop or branch with launches on.  So what is launched there
    before a length is read may change nothing that has been read there, unless the step makes it; and what the host has read
    before is read again.
    """
    if {*loop.moves.values()} != {*loop.memory}:
        return False
    others = others.union(loop.memory, loop.starts, _results(loop), _handed(loop, True))
    return all(_goes_on(plan, loop, steps, others) for steps in (loop.body, loop.other))


def _goes_on(plan: Plan, loop: Loop, steps: Sequence[Any], others: frozenset[int]) -> bool:
    """As :func:`_repeats`, of the steps of a loop or of one side of a branch."""
    # What these are is known behind the steps that have been made.
    conditions = {step.starts[0] for step in steps if isinstance(step, Loop) and step.counter < 0 and not step.branches}
    conditions |= set(loop.yielded[:1] if loop.counter < 0 else ())
    # Memory that launches read since, whether one changes such memory, and what is read by the host and is known only then.
    taken, spoiled = set[int](), False
    read, late = set[int](), set[int]()
    for step in steps:
        match step:
            case Loop():
                if not _repeats(plan, step, others):
                    return False
                if step.launches:
                    if read & _written(plan, step):
                        return False
                    read |= _read_again(step)
                    taken, spoiled = set(), False
                    late.clear()
            case ("launch", number, slots):
                changed = _written_by(plan, number, slots)
                if loop.inner and read & changed:
                    return False
                taken.update(slots[place] for place in plan.kernels[number].read)
                spoiled = spoiled or not (changed & taken).isdisjoint(others)
            case ("read_length", slot, *_):
                if spoiled:
                    return False
                read.add(slot)
            case ("read", made, slot):
                if made not in conditions:
                    read.add(slot)
                    late |= {made} if spoiled else set()
            case ("python", made, name, sources) if late.intersection(sources):
                if name not in _TRUTHS:
                    return False
                late.add(made)
            case ("bind", slot, *_) if slot in late:
                return False
    return True


def _written_by(plan: Plan, number: int, slots: Sequence[int]) -> set[int]:
    """The memory that a launch of a kernel writes."""
    return {slots[place] for place in plan.kernels[number].written}


def _written(plan: Plan, loop: Loop) -> set[int]:
    return {slot for step in loop.steps() if step[0] == "launch" for slot in _written_by(plan, *step[1:])}


def _read_again(loop: Loop) -> set[int]:
    """The memory that is read where Python goes through a branch that has been made."""
    if not loop.branches:
        return set()
    own = {step[1] if step[0] == "read_length" else step[2] for step in loop.inside if step[0] in ("read", "read_length")}
    return own.union(*(_read_again(step) for step in loop.inside if isinstance(step, Loop)))


def any_of(dims: Sequence[DimLike], names: Sequence[str]) -> bool:
    """Whether lengths depend on one of these names."""
    return any(not set(names).isdisjoint(symbols(dim)) for dim in dims)


def bounds_of(check: Sequence[Any]) -> list[Bounds]:
    """What a check of lengths asks, where a few of them say it."""
    return _bounds(check) or []


def _bounds(check: Sequence[Any]) -> list[Bounds] | None:
    """What a check of lengths asks; None where that cannot be said of a few of them."""
    match check:
        case (_, "index", (index, size, _), steps):
            ends = [ends_of(bound, steps) for bound in (size - 1 - index, index + size)]
            return None if None in ends else [(end, 0, None) for bound in ends for end in bound or ()]
        case (_, "squeeze", dims, _):
            return [(dims[0], 1, 1)]
        case (_, str(kind), dims, _) if kind.startswith("empty "):
            return [(dims[0], 1, None)]
        case (_, _, (first, second, *_), *_):
            return [(first - second, 0, 0)]
    return None


def period_of(moves: dict[int, int]) -> int:
    """After how many steps everything is where it was.

    Examples
    --------
    >>> period_of({1: 2, 2: 1, 3: 3})
    2
    """
    lengths = [1]
    for start in moves:
        place, length = moves[start], 1
        while place != start:
            place, length = moves[place], length + 1
        lengths.append(length)
    return lcm(*lengths)
