"""Loops and branches of the host in programs, and which arrays a plan still needs where."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pytocu.runtime.plan import Plan
from pytocu.runtime.plan_loops import Steady, end_of
from pytocu.runtime.program_text import Text

if TYPE_CHECKING:
    from pytocu.runtime.loop_trees import Numbers

BLOCKS = frozenset({"for", "while", "if", "else", "end", "next", "hand on"})
"""Steps that begin and end loops and branches of the host, and that say what these hand on."""


def write_block(text: Text, position: int, step: tuple[Any, ...]) -> None:
    """The beginning or the end of a loop or a branch, or what it hands on."""

    def assign(targets: Sequence[int], values: Sequence[int], *, begins: bool = False) -> str:
        """One statement, so that memories can change places."""
        left, right = [f"v{slot}" for slot in targets], [f"v{slot}" for slot in values]
        for target, value in zip(targets, values, strict=True):
            if value in text.kind:
                text.kind[target] = text.kind[value]
                if begins and value in text.pointed:
                    text.pointed.add(target)
                if text.access.made_pointer == "{made}_pointer" or target in text.pointed:
                    left.append(f"v{target}_pointer")
                    right.append(text.pointer(value))
        return f"{', '.join(left)} = {', '.join(right)}" if left else "pass"

    def let_go() -> None:
        """State that what a step allocated is used no more."""
        inner = [slot for slot, depth in text.allocated.items() if depth == text.depth]
        for slot in inner:
            del text.allocated[slot]
        if inner and text.access.keep:
            text.lines.append(indent + text.access.keep.format(made=f"({''.join(f'v{slot}, ' for slot in inner)})"))

    def moved(params: Sequence[int], yielded: Sequence[int], steps: str, numbers: Numbers) -> None:
        """Where steps have been made at once: memories and numbers as they are behind these."""
        text.lines.append(f"{indent}if {steps}.made:")
        text.lines.append(f"{indent}    {steps}.made = False")
        turns = [(p, y) for p, y in zip(params, yielded, strict=True) if y in params and p != y]
        if turns:
            text.lines.append(f"{indent}    for _ in range({steps}.turns): {assign(*zip(*turns, strict=True))}")
        if numbers.carried:
            text.lines.append(f"{indent}    {''.join(f'v{param}, ' for param, _ in numbers.carried)} = {steps}.numbers")

    def resume(params: Sequence[int]) -> str:
        """The state of a loop in a step that was partly made, where it is one of those: memories and numbers as they are."""
        _, _, yielded = text.plan.steps[end_of(text.plan.steps, position) - 1]
        memory = text.nested[position][1].memory
        name = f"step{position}"
        text.lines.append(f"{indent}{name} = {text.nested[position][0]}.of({position})")
        text.lines.append(f"{indent}if {name}.made:")
        turns = [(p, y) for p, y in zip(params, yielded, strict=True) if p in memory and p != y]
        if turns:
            text.lines.append(f"{indent}    for _ in range({name}.turns): {assign(*zip(*turns, strict=True))}")
        numbers = "".join(f"v{param}, " for param in params if param not in memory)
        text.lines.append(f"{indent}    {numbers or '_'} = {name}.numbers")
        return name

    def begin(params: Sequence[int]) -> tuple[str, str, Numbers | None]:
        """The names of a loop's steps, where these are made at once, and of how far the step has come."""
        loop = text.loops[position]
        state = resume(params) if position in text.nested else ""
        possible = text.access.steps if step[0] == "for" else text.access.until
        if not isinstance(loop, Steady) or not possible or (loop.waits and text.access.failed):
            return "", state, None
        numbers = loop.numbers
        if numbers is not None and not text.access.computes:
            return "", state, None
        if numbers is not None and not state and numbers.loop.inner:
            state = f"step{position}"
            text.nested.update((one.position, (f"step{outer.position}", one)) for outer, one in numbers.loop.edges())
        return f"steps{position}", state, numbers

    def opened(name: str, state: str, inside: bool) -> None:
        """State what is asked before a launch in the loop that begins."""
        loop = text.loops[position]
        # Where steps are computed, any number of them may be made at once.
        computes = name and step[0] == "for" and isinstance(loop, Steady) and (loop.counts or loop.numbers is not None)
        partly = state and (not inside or text.nested[position][1].inner)
        text.open.append((name, f"{state}.launching" if partly else f"{name}.launching" if computes else ""))
        if inside and partly and name:
            text.lines.append(f"{indent}{name}.go_on_in({state})")

    indent = "    " * text.depth
    match step:
        case ("for", counter, bounds, params, starts):
            text.lines.append(indent + assign(params, starts, begins=True))
            inside = position in text.nested
            name, state, numbers = begin(params)
            counted = f"range({', '.join(f'v{slot}' for slot in bounds)}){f'[{state}.made:]' if inside else ''}"
            if name:
                # What is launched in steps that take other numbers is nothing that the steps around them repeat.
                around = [f"{outer}.noting" for outer, _ in text.open if outer and text.numbers[outer] is None]
                alone = f"not ({' or '.join(around)})" if around else "True"
                made = text.access.steps.format(loop=position, numbers=counted, alone=alone)
                text.lines.append(f"{indent}{name} = {made}")
                text.numbers[name] = numbers
            opened(name, state, inside)
            text.lines.append(f"{indent}for v{counter} in {name or counted}:")
            text.depth += 1
            indent += "    "
            if numbers is not None and numbers.whole:
                _, inner, yielded = text.plan.steps[end_of(text.plan.steps, position) - 1]
                moved(inner, yielded, name, numbers)
            if name and text.open[-1][1] == f"{state}.launching":
                text.lines.append(f"{indent}{state} = {name}.resumed()")
        case ("while", params, starts):
            text.lines.append(indent + assign(params, starts, begins=True))
            inside = position in text.nested
            name, state, numbers = begin(params)
            if name:
                loop = text.loops[position]
                text.lines.append(f"{indent}{name} = {text.access.until.format(loop=position)}")
                text.numbers[name] = numbers
                text.flags[name] = loop.flag if isinstance(loop, Steady) else -1
            opened(name, state, inside)
            text.lines.append(f"{indent}while v{params[0]}:")
            text.depth += 1
            if name and text.open[-1][1] == f"{state}.launching":
                text.lines.append(f"{indent}    {state} = {name}.resumed()")
        case ("if", test):
            partly = position in text.nested
            if partly:
                text.lines.append(f"{indent}step{position} = {text.nested[position][0]}.of({position})")
                text.open.append(("", f"step{position}.launching"))
            text.sides.append(partly)
            text.lines.append(f"{indent}if v{test}:")
            text.depth += 1
        case ("next", params, yielded):
            let_go()
            text.lines.append(indent + assign(params, yielded))
            steps, _ = text.open.pop()
            numbers = text.numbers.get(steps)
            if numbers is not None:
                given = [f"v{slot}" for slot in numbers.given]
                given += [f"v{slot}_pointer" if slot in text.words else text.pointer(slot) for slot in numbers.memory]
                given += [text.lengths[name] for name in numbers.lengths]
                given += [f"v{slot}" for slot in numbers.fixed]
                made = [slot for slot, _ in numbers.rooms]
                given += [f"({''.join(f'{word}{slot}, ' for slot in made)})" for word in ("shape", "v")]
                text.lines.append(f"{indent}if {steps}.noting: {steps}.end(({', '.join(given)}))")
            if steps in text.flags:
                # Other memories have the results where the steps that are left are no whole periods.
                text.lines.append(f"{indent}if v{params[0]} and {steps}.made():")
                text.lines.append(f"{indent}    for _ in range({steps}.turns): {assign(params[1:], yielded[1:])}")
                if numbers is not None and numbers.carried:
                    text.lines.append(f"{indent}    {''.join(f'v{param}, ' for param, _ in numbers.carried)} = {steps}.numbers")
                text.lines.append(f"{indent}    v{params[0]} = {steps}.goes_on")
            elif numbers is not None and numbers.whole:
                indent = indent[4:]
                moved(params, yielded, steps, numbers)
            text.depth -= 1
        case ("else",):
            let_go()
            text.lines.append(f"{indent[4:]}else:")
        case ("end",):
            let_go()
            text.depth -= 1
            if text.sides.pop():
                text.open.pop()
        case ("hand on", results, values):
            text.lines.append(indent + assign(results, values))


def walked(plan: Plan) -> set[int]:
    """Arrays that steps of loops are given, or begin with."""
    found: set[int] = set()
    depth = 0
    for step in plan.steps:
        match step:
            case ("for" | "while", *_, starts):
                depth += 1
                found.update(starts)
            case ("if", _):
                depth += 1
            case ("end",) | ("next", *_):
                depth -= 1
            case ("launch", _, slots) if depth:
                found.update(slots)
    return found


def observed(plan: Plan) -> set[int]:
    """Values that something besides a kernel sees."""
    seen = set(leaves(plan.tree))
    for step in plan.steps:
        match step:
            case ("convert" | "stride" | "view" | "part", _, source, *_):
                seen.add(source)
            case ("python", _, _, sources):
                seen.update(sources)
            case ("library", _, _, sources, *_):
                seen.update(sources)
    return seen


def last_launches(plan: Plan) -> dict[int, list[int]]:
    """Temporary arrays that only kernels see, by the step that reads them last: the next ones can have their memory."""
    if any(step[0] in BLOCKS for step in plan.steps):
        # What a step of a loop reads last the next step reads again.
        return {}
    others = [step[1:] for step in plan.steps if step[0] not in ("allocate", "launch")]
    made = {step[1] for step in plan.steps if step[0] == "allocate"} - observed(plan) - _numbers(others)
    last: dict[int, int] = {}
    for position, step in enumerate(plan.steps):
        if step[0] == "launch":
            last.update((slot, position) for slot in step[2] if slot in made)
    return {position: [slot for slot in last if last[slot] == position] for position in last.values()}


def _numbers(value: Any) -> set[int]:
    """Every number that stands somewhere in steps."""
    if isinstance(value, (tuple, list)):
        return {number for member in value for number in _numbers(member)}
    return {value} if isinstance(value, int) else set()


def leaves(tree: Any) -> list[int]:
    """The slots that are results."""
    match tree:
        case int():
            return [tree]
        case ("tuple" | "list" | "if" | "read-only" | "either" | "zip", *members):
            return [leaf for m in members for leaf in leaves(m)]
        case ("members", member, _):
            return [member]
        case ("named", _, *members):
            return [leaf for m in members for leaf in leaves(m)]
        case ("dict", *items):
            return [leaf for _, m in items for leaf in leaves(m)]
        case _:
            return []
