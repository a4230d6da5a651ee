"""Loops of which LLVM would make vectors in a time that is exponential in their operations.

LLVM asks of each value of such a loop whether it is the same for all elements of a vector, and so of its operands, once for
each way that leads to one, until one is not the same.  What is the same in all iterations it computes in front of the loop
beforehand, but for what a branch has made; and what is read at the quotient of an index is the same for neighbours.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pytocu.ir.core import Block, Inst, Value, walk
from pytocu.record import Mutable

_MANY_WAYS = 2**20
"""Of all values to those they are computed of: 2**20 take some hundredths of a second, 2**30 a minute."""

_QUOTIENTS = ("divide_truncated", "remainder_truncated")

_WRITTEN_OUT = 1200
"""Instructions that LLVM writes out at most for the turns of a loop inside, which it does before it makes vectors."""

_TURNS = 8
"""Of a loop that LLVM writes out where it knows only when it ends at the latest."""

_Ways = int | None
"""The ways from a value that stays in the loop; None from one that differs from one iteration to the next."""


def has_many_ways(loop: Inst) -> bool:
    """Whether LLVM would not come to an end with a loop that it makes vectors of.

    Parameters
    ----------
    loop : Inst
        A ``for``. Loops inside of it are counted as LLVM writes them out; one with others is made no vectors of.
    """
    (region,) = loop.regions
    if not all(_turns(inst) for inst in walk(region) if inst.op.name in ("for", "while")):
        return False
    return _Count(dict.fromkeys(region.params)).block(region) > _MANY_WAYS


def _turns(loop: Inst) -> int:
    """How often LLVM writes out a loop; 0 where it stays one, or has no turn."""
    turns = _TURNS
    if loop.op.name == "for":
        numbers = [int(a.inst.attr("value")) for a in loop.args[:3] if a.inst is not None and a.inst.op.name == "const"]
        turns = len(range(*numbers)) if len(numbers) == 3 else 0
    return turns if turns * sum(1 for region in loop.regions for _ in walk(region)) <= _WRITTEN_OUT else 0


class _Count(Mutable):
    """Counts the ways from the values of a loop to those that they are computed of.

    Attributes
    ----------
    ways : dict
        Of each value so far; those that are not there LLVM computes in front of the loop, or they are constants.
    around : int
        The ways from the conditions of the branches around what is counted.
    """

    ways: dict[Value, _Ways]
    around: int = 0

    def block(self, block: Block) -> int:
        """The ways from all values of a block; not all of them where they are too many."""
        total = 0
        for inst in block.insts[:-1]:
            if inst.op.name in ("for", "while"):
                total += self.turns(inst)
            elif inst.op.name in _QUOTIENTS:
                total += self.keep(inst.results, [1] * len(inst.results))
            elif inst.op.name == "if":
                total += self.branch(inst)
            else:
                total += self.keep(inst.results, [self.sum(inst.args, 1)] * len(inst.results))
            if total > _MANY_WAYS:
                break
        return total

    def sum(self, operands: Iterable[Value], own: int) -> _Ways:
        """The ways from what is computed of some operands; 0 where that is done in front of the loop."""
        found = [self.ways[a] for a in operands if a in self.ways]
        return None if None in found else own + sum(n or 0 for n in found) if found else 0

    def keep(self, values: Sequence[Value], ways: Sequence[_Ways]) -> int:
        """Note the ways from some values; what they are together."""
        for value, number in zip(values, ways, strict=True):
            self.ways.pop(value, None)
            if number != 0:
                self.ways[value] = number
        return sum(number or 0 for number in ways)

    def branch(self, inst: Inst) -> int:
        """The ways from all values of a branch, whose results depend on all conditions around it."""
        before = self.around
        condition = self.sum(inst.args, 0)
        self.around += condition or 0
        total = sum(self.block(region) for region in inst.regions)
        sides = [region.terminator.args for region in inst.regions if region.terminator.op.name == "yield"]
        arms = [self.sum(values, 0) for values in zip(*sides, strict=True)]
        made = [None if condition is None or arm is None else 1 + self.around + arm for arm in arms]
        self.around = before
        return total + self.keep(inst.results, made or [None] * len(inst.results))

    def turns(self, loop: Inst) -> int:
        """The ways from all values of a loop inside, of each turn."""
        body, known = loop.regions[-1], loop.op.name == "for"
        total, state = 0, [self.sum([value], 0) for value in loop.args[3 if known else 0 :]]
        for _ in range(_turns(loop)):
            if known:
                total += self.keep(body.params[1:], state)
            else:
                test = loop.regions[0]
                total += self.keep(test.params, state) + self.block(test)
                condition, *values = test.terminator.args
                total += self.keep(body.params, [self.sum([value], 0) for value in values])
                ends = self.sum([condition], 0)
                behind = [self.sum([value], 0) for value in values]
                made = [None if ends is None or number is None else 1 + ends + self.around + number for number in behind]
                total += self.keep(loop.results, made)
            total += self.block(body)
            state = [self.sum([value], 0) for value in body.terminator.args]
            if total > _MANY_WAYS:
                break
        return total + (self.keep(loop.results, state) if known else 0)
