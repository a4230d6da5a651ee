"""How the loops of a plan are judged: what differs from step to step, and who can make the steps nevertheless.

In: a plan.  Out: for each of its loops what `pytocu.runtime.plan_loops` says.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from pytocu.runtime.loop_trees import Loop, any_of, numbers_of, period_of, tree_of
from pytocu.runtime.plan import Plan, Step
from pytocu.runtime.plan_loops import (
    BRANCHES,
    CONDITION,
    COUNTS,
    DIFFERS,
    OTHER_STEPS,
    PARTS,
    READ,
    TRUTH,
    WHILE,
    Address,
    Steady,
    end_of,
)


def judged_loops(plan: Plan) -> dict[int, Steady | str]:
    """As `plan_loops.judged`, of a plan that has loops."""
    memory = {n for n, parameter in enumerate(plan.parameters) if parameter.kind == "array"}
    for step in plan.steps:
        match step:
            case ("allocate", slot, *_):
                memory.add(slot)
            case ("for", _, _, made, given) | ("while" | "hand on", made, given):
                memory.update(m for m, value in zip(made, given, strict=True) if value in memory)
    begins = [position for position, step in enumerate(plan.steps) if step[0] in ("for", "while")]
    return {position: _judge(plan, tree_of(plan.steps, position, memory)) for position in begins}


def _judge(plan: Plan, loop: Loop) -> Steady | str:
    """One loop."""
    inner = plan.steps[loop.position + 1 : end_of(plan.steps, loop.position) - 1]
    params, yielded, carried = loop.params, loop.yielded, {*loop.memory}
    after = dict(zip(params, yielded, strict=True))
    counted, flag, reads = loop.counter >= 0, -1, None
    if not counted:
        reads = next((step for step in inner if step[0] == "read" and step[1] == yielded[0]), None)
        if params[0] in carried:
            return CONDITION
        flag = -1 if reads is None else reads[2]
    own = tuple(n for s in inner if s[0] == "bind" and s[1] == loop.counter for n in s[2])
    # What differs from step to step: the counter, and numbers that are carried.
    varying = {p for p in params if p not in carried and after[p] != p} - set(params[:1] if reads else ())
    counts = bool(varying)
    found = tuple(s[2] for s in inner if s[0] == "read_length")
    read = {s[1] for s in inner if s[0] == "read" and s is not reads}
    memory = {slot for one in loop.loops() for slot in one.memory}
    varying, names = _differing(inner, varying | read | ({loop.counter} if counted else set()), found, memory)
    # Numbers that differ in a step, but are the same in the next one.
    counters = {s[1] for s in inner if s[0] == "for"}
    changed = {p for one in loop.loops() for p, y in zip(one.params, one.yielded, strict=True) if p not in (y, *one.memory)}
    each = _differing(inner, varying | counters | changed, names, memory)
    launches, loops, differs, obstacle = 0, False, False, ""
    for step in inner:
        match step:
            case ("for", _, bounds, *_):
                obstacle = obstacle or (OTHER_STEPS if varying & set(bounds) else "")
                loops = True
            case ("while", *_):
                obstacle, loops = obstacle or WHILE, True
            case ("warn", *_):
                return "a warning is given in its steps"
            case ("library", _, name, *_):
                return f"np.{name} is a call of the caller's library"
            case ("read_length", *_):
                differs = True
            case ("read", *_) if step is not reads:
                obstacle = obstacle or TRUTH
            case ("launch", number, slots):
                spec = plan.kernels[number]
                differs = differs or bool(varying & set(slots)) or any_of((spec.work, spec.cost, *spec.grid), names)
                launches += 1
            case ("check", _, dims, *_):
                differs = differs or any_of(dims, names)
            case ("allocate", slot, _, shape, *_) if any_of(shape, each[1]):
                if slot in yielded or not any_of(shape, names):
                    return READ if any_of(shape, found) else PARTS
                differs = True
            case ("if", test) if test in varying:
                obstacle = obstacle or BRANCHES
    branches = any(step[0] == "if" for step in inner)
    reason = obstacle or (COUNTS if loops and counts else READ if found else PARTS if names else DIFFERS)
    looks, numbers = any(step[0] == "failed" for step in inner), None
    on_gpu = any(spec.block for spec in plan.kernels)
    if obstacle or differs or (counts and loops) or (not counted and (on_gpu or (not loops and (counts or looks)))):
        numbers = numbers_of(plan, loop, *each, True)
        if numbers is None and counted and not branches:
            numbers = numbers_of(plan, loop, *each, False)
    if numbers is None and branches and {*names} - {*own, *found}:
        # What stands in a branch that is not taken has no value to begin with.
        return obstacle or PARTS
    if numbers is None and (obstacle or (counts and loops)):
        return reason
    if not counted and numbers is None and (counts or not reads):
        return COUNTS if reads else CONDITION
    if found and (numbers is None or (counts and not numbers.whole)):
        # Python's numbers may be made of lengths that only the steps themselves read.
        return READ
    if differs and numbers is None:
        return PARTS if names else DIFFERS
    if not launches:
        return "nothing is launched in its steps"
    if {*loop.moves.values()} != carried:
        return "a step hands on memory that it makes"
    alone = looks and numbers is None and counted and not loops and not branches
    period, looked = period_of(loop.moves), _memory(plan, inner) if alone else None
    if looked is None:
        return Steady(period, launches, counts, flag, loops, numbers, looks)
    return Steady(period, launches, counts, flag, loops, numbers, looks, *looked)


def _memory(plan: Plan, steps: Sequence[Step]) -> tuple[tuple[int, ...], tuple[tuple[int, Address], ...]] | None:
    """The kernels of a step, and the words of memory that are looked at in it; None where no launch is given one before."""
    launches = [(step[1], step[2]) for step in steps if step[0] == "launch"]
    words: list[tuple[int, Address]] = []
    count = 0
    for step in steps:
        if step[0] == "launch":
            count += 1
        elif step[0] == "failed":
            places = ((k, slots.index(step[1]), step[2]) for k, (_, slots) in enumerate(launches) if step[1] in slots)
            where = next(places, None)
            if where is None or where[0] >= count:
                return None
            words.append((count, where))
    return tuple(number for number, _ in launches), tuple(words)


def _differing(
    steps: Sequence[Step], varying: set[int], names: Sequence[str], memory: Container[int]
) -> tuple[set[int], tuple[str, ...]]:
    """What is computed of numbers and of names in lengths that differ, with these: slots, and names; `memory` is no number."""
    found, called, before = set(varying), list(names), -1
    while len(found) + len(called) > before:
        before = len(found) + len(called)
        # Of the branches that are open, whether which side is taken differs, and of the loops, how many steps they have.
        open_branches: list[bool] = []
        open_loops: list[bool] = []
        for step in steps:
            match step:
                case ("if", test):
                    open_branches.append(test in found)
                case ("end",):
                    open_branches.pop()
                case ("hand on", made, _) if open_branches and open_branches[-1]:
                    found.update(made)
                case ("python", made, _, sources) if found & set(sources):
                    found.add(made)
                case ("convert" | "part", made, source, *_) if source in found:
                    found.add(made)
                case ("dim", made, dim) if any_of((dim,), called):
                    found.add(made)
                case ("bind", slot, known, length) if slot in found or any_of((length or 0,), called):
                    called += [name for name in known if name not in called]
                case ("for", _, _, made, given) | ("while" | "next" | "hand on", made, given):
                    found.update(m for m, value in zip(made, given, strict=True) if value in found)
            match step:
                case ("for", _, bounds, *_):
                    open_loops.append(not found.isdisjoint(bounds))
                case ("while", *_):
                    open_loops.append(True)
                case ("next", made, given) if open_loops and open_loops.pop():
                    # What a loop leaves behind depends on how many steps it has.
                    found.update(m for m, value in zip(made, given, strict=True) if value != m and m not in memory)
    return found, tuple(called)
