"""Which loops of a plan need no Python between their steps, and why the others do.

In: a plan.  Out: for each loop of the host that launches the same kernels on the same numbers in every step, how
its steps go round.  Memories of carried arrays change places, so the launches are the same again only after a few
steps, the *period*.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm

from pytocu.record import Record
from pytocu.runtime.plan import Plan, Step


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
        Of a ``while``: the slot of the memory that says whether another step follows; -1 otherwise.
    loops : bool
        There are loops in its steps, so a step has more launches than stand there.
    """

    period: int
    launches: int
    counts: bool = False
    flag: int = -1
    loops: bool = False


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
                found[position] = _judge(step, plan.steps[position + 1 : _end(plan.steps, position)], memory)
            case ("hand on", results, values):
                memory.update(r for r, value in zip(results, values, strict=True) if value in memory)
    return found


def steady(plan: Plan, flags: bool) -> dict[int, Steady]:
    """The loops of a plan that need no Python between their steps.

    `flags` says whether those count too that end when a truth value in memory says so.
    """
    return {k: loop for k, loop in judged(plan).items() if isinstance(loop, Steady) and (flags or loop.flag < 0)}


def _end(steps: Sequence[Step], begin: int) -> int:
    """Where the loop that begins at a position ends, behind its ``next``."""
    depth = 0
    for position in range(begin, len(steps)):
        depth += (steps[position][0] in ("for", "while")) - (steps[position][0] == "next")
        if not depth:
            return position + 1
    return len(steps)


def _judge(loop: Step, body: Sequence[Step], memory: set[int]) -> Steady | str:
    """One loop; `body` ends with its ``next``."""
    *inner, (_, params, yielded) = body
    carried = {p for p in params if p in memory}
    after = dict(zip(params, yielded, strict=True))
    flag, reads = -1, None
    if loop[0] == "while":
        reads = next((step for step in inner if step[0] == "read" and step[1] == yielded[0]), None)
        if reads is None or params[0] in carried:
            return "Python's numbers say whether another step follows"
        flag = reads[2]
    # What differs from step to step: the counter, and numbers that are carried.
    varying = {p for p in params if p not in carried and after[p] != p} - set(params[:1] if reads else ())
    counts = bool(varying)
    varying |= {loop[1]} if loop[0] == "for" else set()
    _spread(inner, varying)
    launches, loops = 0, False
    for step in inner:
        match step:
            case ("for", _, bounds, *_):
                if varying & set(bounds):
                    return "a loop in its steps has other steps from step to step"
                loops = True
            case ("while", *_):
                return "there is a while loop in its steps"
            case ("library", _, name, *_):
                return f"np.{name} is a call of the caller's library"
            case ("read_length", *_):
                return "a length that depends on the data is read in each step"
            case ("read", *_) if step is not reads:
                return "the host reads a number in each step"
            case ("launch", _, slots):
                if varying & set(slots):
                    return "a kernel takes a number that differs from step to step"
                launches += 1
            case ("if", test) if test in varying:
                return "which branch is taken differs from step to step"
    if counts and (reads or loops):
        return "Python computes numbers from step to step"
    moves = {p: after[p] for p in carried}
    if not launches:
        return "nothing is launched in its steps"
    if {*moves.values()} != carried:
        return "a step hands on memory that it makes"
    return Steady(_period(moves), launches, counts, flag, loops)


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
