"""What is known of positions where a piece of a concatenation is chosen: comparisons that were made around it.

A change of an array that was changed before is a concatenation of pieces of concatenations.  Inside of a branch, or of a
stretch of a loop, that decides for one of them, most of the others are decided as well: then they are written as the
piece that it is, and code grows with the number of pieces and not with the number of ways through them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

from pytocu.ir.core import Block, Function, Inst
from pytocu.ir.dims import Dim, DimLike, as_symbol, lower_bound, substitute, symbol, symbols
from pytocu.ir.types import shape_of
from pytocu.passes.affine import Affine
from pytocu.record import Record

T = TypeVar("T")

Least = tuple[tuple[str, int], ...]
"""Lengths by name, and what they are never below."""

Equal = tuple[tuple[str, DimLike], ...]
"""Lengths by name, and what a check found them to be."""


class Known(Record):
    """What holds wherever an iteration comes by.

    Parameters
    ----------
    least : tuple of (str, int)
        Lengths, and what they are never below.
    negative : tuple of Affine
        Differences of positions that are below 0.
    equal : tuple of (str, DimLike)
        Lengths by name, and what else they are: names without their own.

    Examples
    --------
    >>> from pytocu.passes.affine import unit
    >>> n, i = symbol("n"), unit(0, 1)
    >>> inside = Known().compared(i, n - 1, True)
    >>> inside.is_below(i, n), inside.is_below(i, n - 2), inside.compared(i, 1, False).is_below(i, 1)
    (True, None, False)
    """

    least: Least = ()
    negative: tuple[Affine, ...] = ()
    equal: Equal = ()

    def is_same(self, first: DimLike, second: DimLike) -> bool:
        """Whether two lengths are equal."""
        equal = dict(self.equal)
        return first == second or substitute(first, equal) == substitute(second, equal)

    def is_below(self, place: Affine, start: DimLike) -> bool | None:
        """Whether a position is in front of another; None where it may be or not."""
        gap = place + (0 - start)
        behind = gap * -1 + (-1)
        if self._is_positive(behind):
            return True
        if self._is_positive(gap):
            return False
        for known in self.negative:
            if self._is_positive(known + gap * -1):
                return True
            if self._is_positive(known + gap + 1):
                return False
        return None

    def compared(self, place: Affine, start: DimLike, below: bool) -> Known:
        """What is known besides where a position is in front of another, or is not."""
        gap = place + (0 - start)
        return Known(self.least, (*self.negative, gap if below else gap * -1 + (-1)), self.equal)

    def _is_positive(self, place: Affine) -> bool:
        """Whether a difference is 0 or above for all iterations, whose indices are never below 0."""
        if place.parts or any(not isinstance(c, int) or c < 0 for c in place.coefficients):
            return False
        return _is_positive(place.offset, self.least)


@lru_cache(maxsize=4096)
def _is_positive(dim: DimLike, least: Least) -> bool:
    # Where lengths are counted from the least that they may be, most of min and max is decided.
    low = lower_bound(substitute(dim, {name: symbol(name) + number for name, number in least}))
    return low is not None and low >= 0


def least_lengths(function: Function) -> dict[Inst, Least]:
    """For every launch: the lengths of arguments that checks and classes in front of it keep above 0."""
    lengths = _lengths(function)

    def known(inst: Inst, least: dict[str, int]) -> dict[str, int]:
        stated = None
        if inst.op.name == "assume":
            stated = _above(inst.attr("dim"), _assumed(inst.attr("relation"), inst.attr("number")))
        elif inst.op.name == "check":
            stated = _checked(inst)
        if stated is None or stated[0] not in lengths:
            return least
        name, number = stated
        return least | {name: max(least.get(name, 0), number)}

    return {inst: tuple(sorted(least.items())) for inst, least in _at_launches(function, known).items()}


def equal_lengths(function: Function) -> dict[Inst, Equal]:
    """For every launch: the lengths of arguments that checks in front of it found equal to others."""
    lengths = _lengths(function)

    def known(inst: Inst, equal: dict[str, DimLike]) -> dict[str, DimLike]:
        if inst.op.name != "check" or inst.attr("kind") != "equal":
            return equal
        first, second = (substitute(dim, equal) for dim in inst.attr("dims")[:2])
        name = as_symbol(first)
        if name not in lengths or name in symbols(second) or not lengths.issuperset(symbols(second)):
            return equal
        return {k: substitute(v, {name: second}) for k, v in equal.items()} | {name: second}

    return {inst: tuple(equal.items()) for inst, equal in _at_launches(function, known).items()}


def _at_launches(function: Function, known: Callable[[Inst, dict[str, T]], dict[str, T]]) -> dict[Inst, dict[str, T]]:
    """For every launch, what `known` says behind each instruction in front of it; what a region says holds in it alone."""
    found: dict[Inst, dict[str, T]] = {}

    def visit(block: Block, now: dict[str, T]) -> None:
        for inst in block.insts:
            if inst.op.name == "launch":
                found[inst] = now
                continue
            now = known(inst, now)
            for region in inst.regions:
                visit(region, now)

    visit(function.body, {})
    return found


def _lengths(function: Function) -> set[str]:
    """Lengths of arguments.  Those that are read while the function runs may be others in each step of a loop."""
    shapes = (shape_of(p.type) for p in function.params)
    return {name for shape in shapes for length in shape for name in symbols(length)}


def _assumed(relation: str, number: int) -> int:
    return {">": number + 1, "==": number}.get(relation, 0)


def _checked(inst: Inst) -> tuple[str, int] | None:
    """What a check of an index that is a number says of the length."""
    if inst.attr("kind") != "index" or inst.attr("shapes"):
        return None
    index, size, _ = inst.attr("dims")
    if not isinstance(index, int):
        return None
    return _above(size, index + 1 if index >= 0 else -index)


def _above(dim: DimLike, number: int) -> tuple[str, int] | None:
    """The length that a dimension is but for a constant, and its least where the dimension is never below a number."""
    if not isinstance(dim, Dim) or number <= 0:
        return None
    constant = dict(dim.terms).get((), 0)
    name = as_symbol(dim - constant)
    return None if name is None else (name, number - constant)
