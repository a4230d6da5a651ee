"""Which loops of a plan need no Python between their steps, and why the others do.

In: a plan.  Out: for each loop of the host that launches the same kernels on the same numbers in every step, how
its steps go round.  Memories of carried arrays change places, so the launches are the same again only after a few
steps, the *period*.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm
from typing import TypeAlias

from pytocu.ir.dims import DimLike, ends_of, product, symbols
from pytocu.record import Record
from pytocu.runtime.plan import Plan, Step

Bounds: TypeAlias = "tuple[DimLike, int, int | None]"
"""A length, and the least and most that it may be."""


Address: TypeAlias = "tuple[int, int, int]"
"""A launch of a step, its parameter that is a pointer, and words behind that."""


Room: TypeAlias = "tuple[int, DimLike]"
"""Memory, and how many elements it has."""

Bind: TypeAlias = "tuple[int, tuple[str, ...], DimLike | None]"
"""A number; what it has above 0 and below, in lengths, or the position that it means as a bound of so many elements."""


class Read(Record):
    """A length that is read from memory, behind so many launches of a step; one above the limit is Python's to refuse."""

    behind: int
    name: str
    where: Address
    limit: int | None


class Numbers(Record):
    """Python's numbers that kernels take and that differ from step to step.

    Attributes
    ----------
    counter : int
        The slot of the loop's counter; -1 for a ``while``.
    carried : tuple of (int, int)
        Slots of numbers that a step hands on, and of what it hands on as each.
    computed : tuple of (int, str, tuple of int)
        What is computed of these, by the names of rows, in order.
    stored : dict
        By the number of a launch: which parameters, the slot of each, and its dtype there.
    given : tuple of int
        Slots of the numbers that the program states before a step: those that are carried, and those that stay.
    names : tuple of str
        What the counter is called in lengths: what it has above 0, and what it has below.
    lengths : tuple of str
        Other names in lengths, which the program states as well.
    dims : dict
        Slots of lengths that differ from step to step.
    work : dict
        By the number of a launch: how many iterations it has, and what each costs, where these differ.
    checks : tuple of Bounds
        Lengths that differ, and the least and most that each may be; where one is not, Python makes the step, and raises.
    launches : tuple of int
        The kernels of a step.
    reads : tuple of Read
        Lengths that are read from memory in a step.
    words : tuple of (int, Address)
        Behind so many launches: the first word of a requirement; where it was written, Python makes the step, and raises.
    condition : int
        Of a ``while``: the slot of a computed number that says whether another step follows; -1 otherwise.
    rooms : tuple of Room
        Memory that a step makes for itself and how many elements that has, where these differ; where they are more than in the
        steps that the program made, Python makes the step.
    binds : tuple of Bind
        Numbers that have names in lengths.
    whole : bool
        Whether these are all of the program's numbers, so that it need not compute them beside.
    """

    counter: int
    carried: tuple[tuple[int, int], ...]
    computed: tuple[tuple[int, str, tuple[int, ...]], ...]
    stored: dict[int, tuple[tuple[int, int, str], ...]]
    given: tuple[int, ...]
    names: tuple[str, ...]
    lengths: tuple[str, ...]
    dims: dict[int, DimLike]
    work: dict[int, tuple[DimLike, DimLike]]
    checks: tuple[Bounds, ...]
    launches: tuple[int, ...] = ()
    reads: tuple[Read, ...] = ()
    words: tuple[tuple[int, Address], ...] = ()
    condition: int = -1
    rooms: tuple[Room, ...] = ()
    binds: tuple[Bind, ...] = ()
    whole: bool = True


_COMPUTED = frozenset(
    {"add", "subtract", "multiply", "divide", "floor_divide", "remainder", "negative", "positive", "power"}
    | {"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"}
)
_DTYPES = frozenset({"f32", "f64", "index", "bool", *(f"{kind}{bits}" for kind in "iu" for bits in (8, 16, 32, 64))})


class Steady(Record):
    """A loop whose launches are known when the first ones have been made.

    Attributes
    ----------
    period : int
        Steps after which every memory is where it was.
    launches : int
        Launches that stand in a step.
    counts : bool
        Python computes numbers from step to step, which no kernel takes.
    flag : int
        Of a ``while``: the slot of the memory that says whether another step follows; -1 otherwise, and where a number that
        is computed says so.
    loops : bool
        There are loops in its steps, so a step has more launches than stand there.
    numbers : Numbers or None
        Numbers that kernels take and that differ from step to step, which a native function can compute.
    looks : bool
        What is wrong with the data is looked at behind each step, where somebody waits for it: on a CPU.
    kernels : tuple of int
        Those of a step, where a native function can look.
    words : tuple of (int, Address)
        What it looks at, as `Numbers.words`.
    """

    period: int
    launches: int
    counts: bool = False
    flag: int = -1
    loops: bool = False
    numbers: Numbers | None = None
    looks: bool = False
    kernels: tuple[int, ...] = ()
    words: tuple[tuple[int, Address], ...] = ()

    @property
    def waits(self) -> bool:
        """Whether Python looks behind each step on a CPU."""
        return self.looks and not self.words and self.numbers is None


def judged(plan: Plan) -> dict[int, Steady | str]:
    """The loops of a plan, by the positions of the steps that begin them.

    Parameters
    ----------
    plan : Plan

    Returns
    -------
    dict of int to Steady or str
        A reason in words for a loop whose steps Python makes.
    """
    memory = {n for n, parameter in enumerate(plan.parameters) if parameter.kind == "array"}
    found: dict[int, Steady | str] = {}
    for position, step in enumerate(plan.steps):
        match step:
            case ("allocate", slot, *_):
                memory.add(slot)
            case ("for", _, _, params, starts) | ("while", params, starts):
                memory.update(p for p, start in zip(params, starts, strict=True) if start in memory)
                found[position] = _judge(plan, step, plan.steps[position + 1 : end_of(plan.steps, position)], memory)
            case ("hand on", results, values):
                memory.update(r for r, value in zip(results, values, strict=True) if value in memory)
    return found


READ = "a length that depends on the data is read in each step"
DIFFERS = "a kernel takes a number that differs from step to step"
COUNTS = "Python computes numbers from step to step"
CONDITION = "Python's numbers say whether another step follows"
PARTS = "kernels work on parts of arrays that differ from step to step"


def steady(plan: Plan, native: bool) -> dict[int, Steady]:
    """The loops of a plan that need no Python between their steps.

    `native` says whether a native function makes them, which computes numbers and sees truth values in memory.
    """
    found = {k: loop for k, loop in judged(plan).items() if isinstance(loop, Steady)}
    if native:
        return {k: loop for k, loop in found.items() if not loop.waits}
    return {k: loop for k, loop in found.items() if loop.flag < 0 and loop.numbers is None}


def end_of(steps: Sequence[Step], begin: int) -> int:
    """Where the loop that begins at a position ends, behind its ``next``."""
    depth = 0
    for position in range(begin, len(steps)):
        depth += (steps[position][0] in ("for", "while")) - (steps[position][0] == "next")
        if not depth:
            return position + 1
    return len(steps)


def _judge(plan: Plan, loop: Step, body: Sequence[Step], memory: set[int]) -> Steady | str:
    """One loop; `body` ends with its ``next``."""
    *inner, (_, params, yielded) = body
    carried = {p for p in params if p in memory}
    after = dict(zip(params, yielded, strict=True))
    flag, reads = -1, None
    if loop[0] == "while":
        reads = next((step for step in inner if step[0] == "read" and step[1] == yielded[0]), None)
        if params[0] in carried:
            return CONDITION
        flag = -1 if reads is None else reads[2]
    # What differs from step to step: the counter, and numbers that are carried.
    varying = {p for p in params if p not in carried and after[p] != p} - set(params[:1] if reads else ())
    counts = bool(varying)
    varying |= {loop[1]} if loop[0] == "for" else set()
    # What the counter is called, and the lengths that depend on it.
    counted = tuple(n for s in inner if s[0] == "bind" and loop[0] == "for" and s[1] == loop[1] for n in s[2])
    found = tuple(s[2] for s in inner if s[0] == "read_length")
    binds = tuple(s[1:] for s in inner if s[0] == "bind" and not (loop[0] == "for" and s[1] == loop[1]))
    bound = tuple(name for _, known, _ in binds for name in known)
    names = (*counted, *found, *bound)
    varying |= {step[1] for step in inner if step[0] == "dim" and _any_of(step[2:], names)}
    _spread(inner, varying)
    launches, loops, differs = 0, False, False
    rooms: list[Room] = []
    for step in inner:
        match step:
            case ("for", _, bounds, *_):
                if varying & set(bounds):
                    return "a loop in its steps has other steps from step to step"
                loops = True
            case ("while", *_):
                return "there is a while loop in its steps"
            case ("warn", *_):
                return "a warning is given in its steps"
            case ("library", _, name, *_):
                return f"np.{name} is a call of the caller's library"
            case ("read_length", *_):
                differs = True
            case ("read", *_) if step is not reads:
                return "the host reads a number in each step"
            case ("launch", number, slots):
                spec = plan.kernels[number]
                differs = differs or bool(varying & set(slots)) or _any_of((spec.work, spec.cost, *spec.grid), names)
                launches += 1
            case ("check", _, dims, *_):
                differs = differs or _any_of(dims, names)
            case ("allocate", slot, _, shape, *_) if _any_of(shape, names):
                if slot in yielded:
                    return READ if _any_of(shape, found) else PARTS
                differs = True
                rooms.append((slot, product(shape)))
            case ("if", test) if test in varying:
                return "which branch is taken differs from step to step"
    # What stands in a branch that is not taken has no value to begin with.
    simple = not loops and all(step[0] != "if" for step in inner)
    if binds and not simple:
        return PARTS
    if counts and loops:
        return COUNTS
    numbers, computed = None, {p: after[p] for p in params if p not in carried}
    looks = any(step[0] == "failed" for step in inner)
    named = counted, found, binds, tuple(rooms)
    if loop[0] == "while" and simple and (counts or differs or looks):
        # The program's numbers behind the steps are what the native function has computed, so it computes all.
        condition = computed.pop(params[0])
        numbers = _numbers(plan, -1, inner, varying, computed, named, carried, -1 if reads else condition)
    elif loop[0] == "for" and simple and differs:
        numbers = _numbers(plan, loop[1], inner, varying, computed, named, carried)
        numbers = numbers or _numbers(plan, loop[1], inner, varying, computed, named, carried, whole=False)
    if loop[0] == "while" and numbers is None and (counts or not reads):
        return COUNTS if reads else CONDITION
    moves = {p: after[p] for p in carried}
    if found and (numbers is None or (counts and not numbers.whole)):
        # Python's numbers may be made of lengths that only the steps themselves read.
        return READ
    if differs and numbers is None:
        return PARTS if names else DIFFERS
    if not launches:
        return "nothing is launched in its steps"
    if {*moves.values()} != carried:
        return "a step hands on memory that it makes"
    alone = looks and numbers is None and loop[0] == "for" and simple
    period, looked = _period(moves), _memory(plan, inner, carried) if alone else None
    if looked is None:
        return Steady(period, launches, counts, flag, loops, numbers, looks)
    return Steady(period, launches, counts, flag, loops, numbers, looks, looked[0], looked[2])


def _any_of(dims: Sequence[DimLike], names: Sequence[str]) -> bool:
    """Whether lengths depend on one of these names."""
    return any(not set(names).isdisjoint(symbols(dim)) for dim in dims)


def _numbers(
    plan: Plan,
    counter: int,
    steps: Sequence[Step],
    varying: set[int],
    after: dict[int, int],
    named: tuple[tuple[str, ...], tuple[str, ...], tuple[Bind, ...], tuple[Room, ...]],
    carried_memory: set[int],
    condition: int = -1,
    whole: bool = True,
) -> Numbers | None:
    """What is to be computed of numbers that differ, all or as far as kernels need it; None where only Python can.

    `named` are the names of the counter, those of lengths that are read, other numbers with names, and memory whose length
    depends on these; `condition` is a number that says whether another step follows.
    """
    counted, found, binds, rooms = named
    late = (*found, *(name for _, known, _ in binds for name in known))
    names = (*counted, *late)
    stored: dict[int, tuple[tuple[int, int, str], ...]] = {}
    work: dict[int, tuple[DimLike, DimLike]] = {}
    converted = {step[1]: step[2] for step in steps if step[0] == "convert" and not step[4]}
    made = {step[1]: (step[1], step[2], tuple(step[3])) for step in steps if step[0] == "python"}
    for _, number, slots in (step for step in steps if step[0] == "launch"):
        spec = plan.kernels[number]
        taken = [(n, converted.get(s, s), spec.parameters[n]) for n, s in enumerate(slots) if s in varying]
        if any(word not in _DTYPES for _, _, word in taken):
            return None
        stored[number] = tuple(taken)
        if _any_of((spec.work, spec.cost), names):
            work[number] = spec.work, spec.cost
    wanted = {slot for taken in stored.values() for _, slot, _ in taken}
    wanted |= {slot for slot, _, _ in binds}
    if whole:
        wanted |= {slot for slot in (*after, *after.values(), condition) if slot in varying} | (varying & made.keys())
    before = -1
    while len(wanted) > before:
        before = len(wanted)
        wanted |= {source for slot in wanted & made.keys() for source in made[slot][2]}
        wanted |= {after[slot] for slot in wanted & after.keys()}
    computed = tuple(made[step[1]] for step in steps if step[0] == "python" and step[1] in wanted & varying)
    dims: dict[int, DimLike] = {step[1]: step[2] for step in steps if step[0] == "dim" and step[1] in wanted & varying}
    checks: list[Bounds] = []
    for step in steps:
        if step[0] == "check":
            bounds = _bounds(step)
            if bounds is None:
                return None
            checks.extend(b for b in bounds if _any_of(b[:1], names))
    known = ({counter} - {-1}) | after.keys() | {slot for slot, _, _ in computed} | dims.keys()
    if any(name not in _COMPUTED for _, name, _ in computed) or not wanted & varying <= known:
        return None
    carried = tuple((p, value) for p, value in after.items() if p in wanted and value != p)
    given = [*(p for p, _ in carried), *sorted(wanted - known), *sorted(p for p in wanted & after.keys() if after[p] == p)]
    listed = [*dims.values(), *sum(work.values(), ()), *(b[0] for b in checks), *(r[1] for r in rooms)]
    listed += [length for _, _, length in binds if length is not None]
    lengths = {n: None for dim in listed for n in symbols(dim)}
    others = tuple(name for name in lengths if name not in names)
    behind = {slot for slot, dim in dims.items() if _any_of((dim,), late)}
    memory = _memory(plan, steps, carried_memory)
    if memory is None or any(behind & set(sources) for _, _, sources in computed):
        return None
    kernels, reads, words = memory
    lists = tuple(given), counted, others, dims, work, tuple(checks), kernels, reads, words
    return Numbers(counter, carried, computed, stored, *lists, condition, rooms, binds, whole)


def _memory(
    plan: Plan, steps: Sequence[Step], carried: set[int]
) -> tuple[tuple[int, ...], tuple[Read, ...], tuple[tuple[int, Address], ...]] | None:
    """The kernels of a step, and the words of memory that are looked at in it; None where they cannot be in steps made at once.

    A step that Python makes after all is begun anew, so what is launched before a length is read may write only memory that
    the step has for itself.
    """
    launches = [(step[1], step[2]) for step in steps if step[0] == "launch"]
    reads: list[Read] = []
    words: list[tuple[int, Address]] = []
    count, others = 0, carried | set(plan.written)
    touched: set[int] = set()

    def address(slot: int, at: int) -> Address | None:
        """Where a launch of the step is given the memory."""
        places = ((k, slots.index(slot), at) for k, (_, slots) in enumerate(launches) if slot in slots)
        return next(places, None)

    for step in steps:
        if step[0] == "launch":
            spec = plan.kernels[step[1]]
            touched |= {s for s, word in zip(step[2], spec.parameters, strict=True) if word == "pointer"}
            count += 1
        elif step[0] in ("read_length", "failed"):
            where = address(step[1], 0 if step[0] == "read_length" else step[2])
            if where is None or where[0] >= count:
                return None
            if step[0] == "failed":
                words.append((count, where))
            elif touched & others:
                return None
            else:
                reads.append(Read(count, step[2], where, step[3] if isinstance(step[3], int) else None))
    return tuple(number for number, _ in launches), tuple(reads), tuple(words)


def _bounds(check: Step) -> list[Bounds] | None:
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


def _spread(steps: Sequence[Step], varying: set[int]) -> None:
    """Add what is computed of what differs."""
    before = -1
    while len(varying) > before:
        before = len(varying)
        for step in steps:
            match step:
                case ("python", made, _, sources) if varying & set(sources):
                    varying.add(made)
                case ("convert" | "part", made, source, *_) if source in varying:
                    varying.add(made)
                case ("for", _, _, made, given) | ("while" | "next" | "hand on", made, given):
                    varying.update(m for m, value in zip(made, given, strict=True) if value in varying)


def _period(moves: dict[int, int]) -> int:
    """After how many steps everything is where it was."""
    lengths = [1]
    for start in moves:
        place, length = moves[start], 1
        while place != start:
            place, length = moves[place], length + 1
        lengths.append(length)
    return lcm(*lengths)
