"""Which loops of a plan need no Python between their steps, and why the others do.

In: a plan.  Out: for each loop of the host that launches the same kernels on the same numbers in every step, how
its steps go round.  Memories of carried arrays change places, so the launches are the same again only after a few
steps, the *period*.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

from pytocu.deferred import Deferred
from pytocu.record import Record
from pytocu.runtime.plan import Plan, Step

if TYPE_CHECKING:
    from pytocu.runtime.loop_trees import Numbers

Address: TypeAlias = "tuple[int, int, int]"
"""A launch of a step, its parameter that is a pointer, and words behind that."""


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
        Numbers that kernels take and that differ from step to step, which a native function can compute; on a GPU of every
        ``while`` loop.
    looks : bool
        What is wrong with the data is looked at behind each step, where somebody waits for it: on a CPU.
    kernels : tuple of int
        Those of a step, where a native function can look.
    words : tuple of (int, Address)
        Behind so many launches: the first word of a requirement; where it was written, Python makes the step, and raises.
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
    return judged_loops(plan) if any(step[0] in ("for", "while") for step in plan.steps) else {}


judged_loops = Deferred("pytocu.runtime.loop_judging", "judged_loops")

READ = "a length that depends on the data is read in each step"
DIFFERS = "a kernel takes a number that differs from step to step"
COUNTS = "Python computes numbers from step to step"
CONDITION = "Python's numbers say whether another step follows"
PARTS = "kernels work on parts of arrays that differ from step to step"
OTHER_STEPS = "a loop in its steps has other steps from step to step"
BRANCHES = "which branch is taken differs from step to step"
WHILE = "there is a while loop in its steps"
TRUTH = "the host reads a number in each step"


def steady(plan: Plan, on_gpu: bool) -> dict[int, Steady]:
    """The loops of a plan that need no Python between their steps.

    `on_gpu` says whether they are launched on a GPU, where nobody waits for kernels, and truth values are read as other
    numbers are.
    """
    found = {k: loop for k, loop in judged(plan).items() if isinstance(loop, Steady)}
    if on_gpu:
        return {k: loop for k, loop in found.items() if loop.flag < 0 or loop.numbers is not None}
    return {k: loop for k, loop in found.items() if not loop.waits}


def end_of(steps: Sequence[Step], begin: int) -> int:
    """Where the loop that begins at a position ends, behind its ``next``."""
    depth = 0
    for position in range(begin, len(steps)):
        depth += (steps[position][0] in ("for", "while")) - (steps[position][0] == "next")
        if not depth:
            return position + 1
    return len(steps)
