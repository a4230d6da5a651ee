"""Which requirements kernels have, and the words in which they note that one does not hold.

A requirement that does not hold is an exception at its statement.  A kernel cannot raise; it
writes what the sentence needs into words of its own for each requirement, always the smallest
number that any thread has, so that the outcome does not depend on the order of threads.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytocu.errors import Loc
from pytocu.ir.core import Function, Inst, walk


def requirements(function: Function) -> list[Inst]:
    """The requirements in all launches, launch by launch in the order in which Python would run them."""
    found: list[Inst] = []
    for launch in function.body.insts:
        if launch.op.name == "launch":
            found.extend(sorted((i for i in walk(launch.regions[0]) if i.op.name == "require"), key=_order))
    return found


def _order(inst: Inst) -> tuple[tuple[int, int], ...]:
    """Lines and columns, that of the outermost call first."""
    places: list[Loc] = list(inst.loc.chain())
    return tuple((loc.line, loc.column) for loc in reversed(places))


def place_words(needs: Sequence[Inst]) -> tuple[dict[Inst, int], int]:
    """The first word of each requirement, and how many words there are: a number and lengths for each."""
    words: dict[Inst, int] = {}
    count = 0
    for inst in needs:
        words[inst] = count
        count += 1 + len(inst.attr("dims"))
    return words, count
