"""Loops of the host in words: how their steps are made, and why Python makes those that it does."""

from __future__ import annotations

from pytocu.explain.model import Apart
from pytocu.explain.source import line_of, segment
from pytocu.ir.core import Function
from pytocu.passes.whole_loops import obstacles
from pytocu.runtime import launch_graphs, native_steps
from pytocu.runtime.plan import Plan
from pytocu.runtime.plan_loops import Steady, judged

FLAG = "whether another one follows is read from the GPU behind each"


def how(loop: Steady | str, on_gpu: bool) -> str:
    """How the steps of a loop are made.

    Examples
    --------
    >>> print(how(Steady(2, 1), True))
    launched as CUDA graphs of 32 steps where there are 66 or more
    >>> print(how(Steady(2, 1), False))
    made by one native function where there are 18 or more
    >>> print(how("nothing is launched in its steps", True))
    made by Python: nothing is launched in its steps
    """
    if isinstance(loop, str):
        return f"made by Python: {loop}"
    if not on_gpu and loop.waits:
        return "made by Python: what may be wrong with the data is looked at behind each"
    if (loop.numbers is not None and loop.numbers.loop.counter < 0) or (loop.flag >= 0 and not on_gpu):
        return "made by one native function from the first few on"
    if loop.flag >= 0:
        return f"made by Python: {FLAG}"
    if not on_gpu or loop.numbers is not None:
        return f"made by one native function where there are {native_steps.least_steps(loop)} or more"
    least, held = launch_graphs.least_steps(loop), launch_graphs.steps_of_graph(loop)
    size = "" if loop.loops else f" of {held} steps"
    return f"launched as CUDA graphs{size} where there are {least} or more"


def loops_in_words(plan: Plan, on_gpu: bool) -> tuple[str, ...]:
    """A sentence for each loop of the host."""
    said: list[str] = []
    for position, loop in judged(plan).items():
        loc = plan.locs.get(position)
        line = line_of(loc) if loc is not None and loc.line else None
        place = f"`{line.text.strip().rstrip(':')}` (line {line.line})" if line is not None else "the loop"
        said.append(f"the steps of {place} are {how(loop, on_gpu)}")
    return tuple(said)


def reasons(function: Function) -> tuple[Apart, ...]:
    """Why loops of a function at array level are not one kernel each."""
    found: list[Apart] = []
    for one in obstacles(function.body.insts):
        same = one.loc == one.loop
        found.append(Apart(line_of(one.loop), line_of(one.loc), "" if same else segment(one.loc), one.text, one.help))
    return tuple(dict.fromkeys(found))
