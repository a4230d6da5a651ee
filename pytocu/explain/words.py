"""An explanation in plain words: as text, in colours, and as HTML for notebooks."""

from __future__ import annotations

import html as escaping
import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from pytocu.errors import Loc
from pytocu.explain.model import (
    Access,
    Apart,
    Around,
    Bytes,
    Cause,
    Explanation,
    Kernel,
    Measured,
    Refusal,
    Repeated,
    SourceLine,
)
from pytocu.explain.schedules import ANY_LENGTH
from pytocu.ir.dims import DimLike
from pytocu.record import Record


class Line(Record):
    """A line of the text: ``title``, ``kernel``, ``code``, ``item`` or ``help``, how deep it stands, and its words."""

    kind: str
    depth: int
    text: str


_STYLES = {"title": "bold yellow", "kernel": "bold cyan", "code": "green", "help": "bright_black"}


def lines(told: Explanation) -> Iterator[Line]:
    """The explanation, line by line, with parts of arguments as the function writes them."""
    places = dict(told.parts)
    for line in _lines(told):
        # What is quoted is the function's own text.
        yield line if not places or line.kind == "code" else line._replace(
            text=re.sub(r"`[^`]*`|\w+", lambda match: places.get(match[0], match[0]), line.text)
        )


def _lines(told: Explanation) -> Iterator[Line]:
    count = len({kernel.name for kernel in told.kernels})
    kernels = "no kernel: only views, copies of arguments or Python's numbers" if not count else _counted(count, "kernel")
    yield Line("title", 0, f"{told.function}({', '.join(told.types)}) for {told.target}, {told.backend}: {kernels}")
    if any(kernel.why_schedule.endswith(ANY_LENGTH) for kernel in told.kernels):
        calls = "a call gets faster code for its length, and perhaps other kernels; numbers as lengths show it"
        yield Line("item", 1, f"right for any length: {calls}")
    captured = [f.removeprefix("captured ") for f in told.facts if f.startswith("captured ")]
    lengths = [f for f in told.facts if not f.startswith("captured ")]
    if lengths:
        yield Line("item", 1, f"compiled for calls where {_listed(lengths)}")
    if captured:
        yield Line("item", 1, f"compiled again when {_listed(captured)} change{'s' if len(captured) == 1 else ''}")
    nodes = _calls(told) | {f"kernel {kernel.name}": kernel.name for kernel in told.kernels}
    for call in told.library_calls:
        operands = _accesses(call.reads, nodes)
        what = f"np.{call.name} (line {call.at.line}) of {operands}"
        yield Line("item", 1, f"library call: {what}, computed by the library of the arguments")
    for loop in told.loops:
        yield Line("item", 1, f"loop: {loop}")
    alike: dict[Any, dict[str, Kernel]] = {}
    first = {kernel.name: kernel for kernel in reversed(told.kernels)}
    kernels = [kernel for kernel in told.kernels if first[kernel.name] is kernel]
    for kernel in kernels:
        alike.setdefault((kernel.lines, kernel.within, kernel.schedule, kernel.how), {})[kernel.name] = kernel
    for kernel in kernels:
        several = alike[kernel.lines, kernel.within, kernel.schedule, kernel.how]
        place = list(several).index(kernel.name)
        if len(several) > _MOST_ALIKE and place > _SHOWN_ALIKE:
            continue
        if len(several) > _MOST_ALIKE and place == _SHOWN_ALIKE:
            yield from _more([*several.values()][place:])
        else:
            yield from _kernel(kernel, told)
    yield from _apart(told.apart)
    yield from _refused(told.refused)
    yield from _repeated(told.repeated)
    yield from _wide(told)
    yield from _recompiled(told)
    if told.measured is not None:
        yield Line("title", 0, f"measured on {told.measured.device}")
        yield from _measured(told.measured, told.kernels)
    for note in told.notes:
        yield Line("help", 0, f"note: {note}")


_MOST_ALIKE, _SHOWN_ALIKE = 6, 2
"""Of more kernels of the same lines, as the steps of a loop that is written out, so many are told one by one."""


def _more(kernels: Sequence[Kernel]) -> Iterator[Line]:
    """Kernels that differ from those before them in little but their operands."""
    first, *_, last = kernels
    names = f"kernel {first.name} and {len(kernels) - 1} more"
    yield Line("kernel", 0, f"{names} of the same lines and schedule, up to {last.name}")
    numbers = [kernel.bytes.number for kernel in kernels]
    if None not in numbers:
        most = any(kernel.bytes.most for kernel in kernels)
        together = sum(number for number in numbers if number is not None)
        yield Line("item", 1, f"{shown(Bytes(together, together, most))} in all of them")


def _kernel(kernel: Kernel, told: Explanation) -> Iterator[Line]:
    yield Line("kernel", 0, f"kernel {kernel.name}")
    for around in kernel.within:
        yield Line("item", 1, f"launched {_where(around)}")
    places = sum(other.name == kernel.name for other in told.kernels)
    if places > 1:
        yield Line("item", 1, f"launched at {places} places of the plan, of which this is the first")
    for line in kernel.lines:
        yield Line("code", 1, f"{line.line}: {line.text}")
    yield Line("item", 1, f"reads {_accesses(kernel.reads, _near(kernel, told))}")
    yield Line("item", 1, f"writes {_accesses(kernel.writes)}")
    estimate = expected(kernel)
    moved = f"{shown(kernel.bytes)} in all{' in a launch' if kernel.within else ''}"
    yield Line("item", 1, f"{moved}; {estimate}" if estimate else moved)
    if kernel.measured is not None:
        yield Line("item", 1, _time(kernel))
    yield Line("item", 1, f"schedule {kernel.schedule}: {kernel.how}")
    yield Line("item", 1, f"because {kernel.why_schedule}")
    if kernel.taken is not None:
        spilled = kernel.taken.local_bytes
        spills = f"{spilled} bytes a thread beside them (spills, or arrays that are indexed)" if spilled else "no spills"
        registers, shared = kernel.taken.registers, kernel.taken.shared_bytes
        yield Line("item", 1, f"{registers} registers a thread, {spills}, {shared} bytes shared")
    if kernel.code:
        yield Line("item", 1, f"its code is that of {kernel.code}, compiled once")
    if kernel.why and len(told.kernels) > 1:
        yield Line("item", 1, f"a kernel of its own: {kernel.why}")


def _where(around: Around) -> str:
    """When a launch in a loop or on a side of a branch is made."""
    at = f"`{around.text.rstrip(':')}` (line {around.line})"
    if around.holds is None:
        return f"in each step of the loop {at}"
    return f"where the condition of {at} {'holds' if around.holds else 'does not hold'}"


def expected(kernel: Kernel) -> str:
    """The estimate of a kernel's speed; empty where there is none."""
    if kernel.expected is None:
        return ""
    limits = {"launch": "the time of a launch", "threads": "how few threads it has"}
    one = f"one step of {_loop(kernel.loops[0]) if len(kernel.loops) == 1 else 'each of its loops'}" if kernel.loops else ""
    supposed = " and ".join(filter(None, (kernel.supposed, one)))
    where = f" for {supposed}" if supposed else ""
    more = f"; by arithmetic from {kernel.steps} steps on" if kernel.steps > 1 else ""
    share = f"about {kernel.expected:.2f}" if kernel.expected >= 0.005 else "less than 0.01"
    by = limits.get(kernel.limited_by, kernel.limited_by)
    return f"{share} of the speed of a copy is expected{where}, limited by {by}{more}"


def _time(kernel: Kernel) -> str:
    """What a launch took, as a sentence."""
    assert kernel.measured is not None
    time, share, launches = kernel.measured
    of_copy = "" if share is None else f", {'at most ' if kernel.bytes.most else ''}{share:.2f} of the speed of a large copy"
    return f"measured {time:.1f} µs a launch{of_copy} (median of {_counted(launches, 'launch', 'launches')})"


def _measured(m: Measured, kernels: Sequence[Kernel]) -> Iterator[Line]:
    """Times of the whole call."""
    if m.microseconds is None:
        yield Line("item", 1, "the call changes its arguments, so its kernels ran on copies, and calls in a row were not timed")
    else:
        copy = "" if m.copy_microseconds is None else f", a copy of as many bytes {m.copy_microseconds:.1f} µs"
        share = "" if m.share is None else f": {m.share:.2f} of the speed of that copy"
        yield Line("item", 1, f"a call takes {m.microseconds:.1f} µs where many are made in a row{copy}{share}")
    large = f"a large copy moves {m.copy_rate / 1e12:.2f} TB/s"
    yield Line("item", 1, f"{large}; kernels were timed one by one, with nothing in the cache")


def _apart(apart: Sequence[Apart]) -> Iterator[Line]:
    if apart:
        yield Line("title", 0, "not one kernel")
    for one in apart:
        loop = f"`{one.loop.text.rstrip(':')}` (line {one.loop.line})"
        what = f": `{one.expression}` (line {one.at.line})" if one.expression else ""
        yield Line("item", 1, f"{loop}{what} {one.text}")
        if one.help:
            yield Line("help", 2, f"help: {one.help}")


_MOST_PAIRS = 10
"""Pairs of kernels that are listed: with many kernels there are many more, and the data has them all."""


def _refused(refused: Sequence[Refusal]) -> Iterator[Line]:
    costly = [r for r in refused if r.bytes.formula != 0]
    if not costly:
        return
    yield Line("title", 0, "not fused")
    for one in sorted(costly, key=lambda r: -(r.bytes.number or 0))[:_MOST_PAIRS]:
        yield Line("item", 1, f"{one.second} is not part of {one.first}: {one.reason}; this costs {shown(one.bytes)}")
    more = len(costly) - _MOST_PAIRS
    if more > 0:
        cost = "costs" if more == 1 else "cost"
        yield Line("item", 1, f"{_counted(more, 'other pair')} of kernels {cost} no more than these")
    rest = len(refused) - len(costly)
    if rest and costly:
        yield Line("item", 1, f"{_counted(rest, 'other pair')} of kernels {'has' if rest == 1 else 'have'} no memory in common")


def _repeated(repeated: Sequence[Repeated]) -> Iterator[Line]:
    if repeated:
        yield Line("title", 0, "computed more than once")
    for one in repeated:
        what = f"{'part of ' if one.part else ''}`{one.expression}` (line {one.at.line})"
        each = (f" in each step of {_listed([_loop(line) for line in lines])}" if lines else "" for lines in one.rounds)
        places = [f"{name}{steps}" for name, steps in zip(one.kernels, each, strict=True)]
        as_long = "" if one.time is None else f", which take as long as {shown(Bytes(one.time, one.time))} to move"
        work = f"{amount(one.operations)} operations each time{as_long}"
        yield Line("item", 1, f"{what} is computed in {_listed(places)}: {work}")
        for line in one.loops:
            yield Line("item", 2, f"how many steps {_loop(line)} makes is known only at run time")
        place = "stored before the loop" if one.before else "stored"
        less = "" if one.spared.formula == 0 else f", and {shown(one.spared)} of what it is made of would not be read"
        where = f"from {_counted(one.steps, 'step')} on " if one.steps > 1 else ""
        yield Line("item", 2, f"{place}, it would cost {shown(one.stored)}{less}; {where}{_VERDICTS[one.cheaper]}")
        if one.cheaper == "stored":
            help = "compute it before the loop" if one.before else _APART
            yield Line("help", 2, f"help: {help}")


def _loop(line: SourceLine) -> str:
    return f"`{line.text.strip().rstrip(':')}` (line {line.line})"


_APART = "compute it in a jitted function of its own, and pass the result to the rest"

_VERDICTS = {
    "again": "computing it again takes less time",
    "stored": "that would take less time",
    "neither": "that would take about as long",
}


def amount(operations: DimLike) -> str:
    """A number of operations for people.

    Examples
    --------
    >>> amount(1200), amount(25_000_000)
    ('1200', '25.0 million')
    """
    for power, name in ((9, "billion"), (6, "million")):
        if isinstance(operations, int) and operations >= 10**power:
            return f"{operations / 10**power:.1f} {name}"
    return str(operations)


def _wide(told: Explanation) -> Iterator[Line]:
    if not told.wide:
        return
    yield Line("title", 0, "why float64")
    for wide in told.wide:
        for number, cause in enumerate(wide.causes):
            also = "" if number == 0 else "also "
            yield Line("item", 1, f"{wide.name} is {wide.dtype}: {also}{cause.sentence}{_at(cause.loc)}")
            yield from _steps(cause)
            if cause.help:
                yield Line("help", 2, f"help: {cause.help}")


_MOST_STEPS = 5


def _steps(cause: Cause) -> Iterator[Line]:
    shown = [step for step in cause.steps if step.text != cause.text]
    for number, step in enumerate(shown):
        if len(shown) > _MOST_STEPS and number == 2:
            yield Line("code", 2, f"({len(shown) - _MOST_STEPS + 1} more values between these)")
        elif len(shown) <= _MOST_STEPS or number < 2 or number > len(shown) - _MOST_STEPS + 2:
            where = f" {step.where}" if step.where else ""
            what = f"`{step.text}`" if step.text else "the result"
            yield Line("code", 2, f"so {what} is {step.dtype}{where}{_at(step.loc)}")


def _recompiled(told: Explanation) -> Iterator[Line]:
    if told.recompiled is None:
        return
    yield Line("title", 0, "why it was compiled")
    yield Line("item", 1, told.recompiled.sentence)
    for change in told.recompiled.changes:
        yield Line("item", 2, str(change))
        if change.help:
            yield Line("help", 3, f"help: {change.help}")


def _at(loc: Loc | None) -> str:
    return f" (line {loc.line})" if loc is not None and loc.line else ""


def _calls(told: Explanation) -> dict[str, str]:
    return {f"library {number}": f"np.{call.name}" for number, call in enumerate(told.library_calls)}


def _near(kernel: Kernel, told: Explanation) -> dict[str, str]:
    """Names of nodes: library calls, and other kernels in the same loop; what comes from before it does so but once."""
    near = [k.name for k in told.kernels if k.within == kernel.within and k.name != kernel.name]
    return _calls(told) | {f"kernel {name}": name for name in near}


def _accesses(accesses: Sequence[Access], near: Mapping[str, str] = MappingProxyType({})) -> str:
    if not accesses:
        return "nothing"
    said: list[str] = []
    for access in accesses:
        of = f" of {near[access.source]}" if access.source in near else ""
        said.append(f"{access.name or access.array or 'a temporary'} {access.type}{of} ({shown(access.bytes)})")
    return ", ".join(said)


def shown(amount: Bytes) -> str:
    """An amount of memory for people.

    Examples
    --------
    >>> shown(Bytes(4096, 4096)), shown(Bytes(12, 12, True))
    ('4.1 kB', 'at most 12 bytes')
    """
    most = "at most " if amount.most else ""
    if amount.number is None:
        return f"{most}{amount.formula} bytes"
    power = min((len(str(amount.number)) - 1) // 3, 4)
    if not power:
        return f"{most}{_counted(amount.number, 'byte')}"
    return f"{most}{amount.number / 1000**power:.1f} {'kMGT'[power - 1]}B"


def _counted(number: int, what: str, several: str = "") -> str:
    return f"{number} {what if number == 1 else several or f'{what}s'}"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def plain(told: Explanation) -> str:
    """The explanation as text."""
    return "\n".join(_plain(lines(told)))


def _plain(found: Iterator[Line]) -> Iterator[str]:
    for number, line in enumerate(found):
        if number and line.depth == 0:
            yield ""
        yield "  " * line.depth + line.text


def rich_text(told: Explanation) -> Any:
    """The explanation as a text of `rich`."""
    from rich.text import Text

    made = Text()
    for number, line in enumerate(lines(told)):
        made.append("\n\n" if number and line.depth == 0 else "\n" if number else "")
        made.append("  " * line.depth + line.text, _STYLES.get(line.kind))
    return made


def html(told: Explanation) -> str:
    """The explanation as HTML that needs nothing else; colours follow the page's."""
    parts = ['<div class="pytocu-explanation">']
    for line in lines(told):
        text = escaping.escape(line.text)
        indent = f' style="margin:0 0 0 {1.5 * line.depth:g}em"'
        match line.kind:
            case "title" | "kernel":
                parts.append(f"<h4>{text}</h4>")
            case "code":
                parts.append(f"<pre{indent}>{text}</pre>")
            case "help":
                parts.append(f"<p{indent}><em>{text}</em></p>")
            case _:
                parts.append(f"<p{indent}>{text}</p>")
    return "\n".join((*parts, "</div>"))
