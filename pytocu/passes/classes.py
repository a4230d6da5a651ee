"""Size classes: which of a few ways of running suits the lengths of the call that asks.

Code depends on the class and never on a length.  Every answer that was asked for becomes a
fact of the function, which the call checks.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytocu.errors import UNKNOWN
from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Function
from pytocu.ir.dims import Dim, DimLike, Fact, evaluate, modulo
from pytocu.passes.context import PassContext

SHORTEST = 4
"""Lengths of a last axis up to which each has code of its own: coordinates and channels."""


class Classes:
    """Answers questions about lengths and remembers them."""

    def __init__(self, context: PassContext):
        self._sizes = context.sizes
        self._facts: dict[Fact, None] = {}

    def at_most(self, dim: DimLike, number: int) -> bool | None:
        """Whether a length is at most a number; None where it may be any.

        Examples
        --------
        >>> from pytocu.ir.dims import symbol
        >>> classes = Classes(PassContext(sizes={"n": 7}))
        >>> classes.at_most(symbol("n"), 4), classes.at_most(3, 4), classes.at_most(symbol("m"), 4)
        (False, True, None)
        """
        if not isinstance(dim, Dim):
            return dim <= number
        size = self._size(dim)
        if size is None:
            return None
        self._facts[Fact(dim, "<=" if size <= number else ">", number)] = None
        return size <= number

    def divides(self, number: int, dim: DimLike) -> bool | None:
        """Whether a length is so many whole pieces; None where it may be any.

        Examples
        --------
        >>> from pytocu.ir.dims import symbol
        >>> classes = Classes(PassContext(sizes={"n": 12}))
        >>> classes.divides(4, symbol("n")), classes.divides(8, symbol("n") * 2), classes.divides(4, symbol("m"))
        (True, True, None)
        """
        if number == 1 or not isinstance(dim, Dim):
            return dim % number == 0
        size = self._size(dim)
        if size is None:
            return None
        rest = modulo(dim, number)
        if isinstance(rest, Dim):
            self._facts[Fact(rest, "==" if size % number == 0 else "!=", 0)] = None
        return size % number == 0

    def exactly(self, dim: DimLike, most: int) -> int | None:
        """A short length itself: each up to `most` is a class of its own; None for longer ones and where it may be any.

        Examples
        --------
        >>> from pytocu.ir.dims import symbol
        >>> classes = Classes(PassContext(sizes={"n": 3, "m": 9}))
        >>> classes.exactly(symbol("n"), 4), classes.exactly(symbol("m"), 4), classes.exactly(symbol("k"), 4)
        (3, None, None)
        """
        if not isinstance(dim, Dim):
            return dim if dim <= most else None
        size = self._size(dim)
        if size is None:
            return None
        self._facts[Fact(dim, "==", size) if size <= most else Fact(dim, ">", most)] = None
        return size if size <= most else None

    def holds(self, facts: Sequence[Fact | bool]) -> bool | None:
        """Whether all of these are so; None where some length may be any.

        Examples
        --------
        >>> from pytocu.ir.dims import symbol
        >>> classes = Classes(PassContext(sizes={"n": 7, "m": 7}))
        >>> same, longer = Fact(symbol("n") - symbol("m"), "==", 0), Fact(symbol("n"), ">", 9)
        >>> classes.holds([same]), classes.holds([same, longer]), classes.holds([Fact(symbol("k"), ">", 0)])
        (True, False, None)
        """
        if not all(isinstance(fact, Fact) or fact for fact in facts):
            return False
        stated = [fact for fact in facts if isinstance(fact, Fact)]
        if any(self._size(fact.dim) is None for fact in stated):
            return None
        broken = next((fact for fact in stated if not fact.holds(self._sizes)), None)
        for fact in stated if broken is None else (broken.opposite,):
            self._facts[fact] = None
        return broken is None

    def _size(self, dim: Dim) -> int | None:
        try:
            return evaluate(dim, self._sizes)
        except KeyError:
            return None

    def state(self, function: Function) -> Function:
        """The function with the facts behind the answers, each once."""
        known = {
            Fact(i.attr("dim"), i.attr("relation"), i.attr("number")) for i in function.body.insts if i.op.name == "assume"
        }
        new = [fact for fact in self._facts if fact not in known]
        if not new:
            return function
        builder = Builder(function.body.insts[0].loc if function.body.insts else UNKNOWN)
        for fact in new:
            builder.emit("assume", (), fact._asdict())
        body = Block(function.params, (*builder.take(), *function.body.insts))
        return Function(function.name, function.level, body, function.facts)
