"""What lengths are at most, and what is sure of them, where numbers of them were found out by steps and sides of branches."""

from __future__ import annotations

import functools
from collections.abc import Sequence, Set

from pytocu.frontend.loop_memory import StepRead
from pytocu.frontend.ranges import names_given, not_negative
from pytocu.frontend.values import Context
from pytocu.ir.core import named
from pytocu.ir.dims import (
    Atom,
    Dim,
    DimLike,
    dim_max,
    dim_min,
    ends_of,
    greatest,
    is_number,
    only_atom,
    substitute,
    symbol,
    symbols,
)

FEW = 9
"""A growth below this is found where it is no number but never above one, as with ``x[-1:]``."""


def at_most(length: DimLike, limits: Sequence[tuple[str, DimLike, bool]], inner: Set[str]) -> DimLike | None:
    """What a length is not above, by numbers known outside of a side or step; the least of several is above none of them."""
    atom = only_atom(length) if isinstance(length, Dim) and length.terms else None
    if atom is not None and atom.name == "min":
        known = [most for part in atom.args if (most := at_most(part, limits, inner)) is not None]
        return functools.reduce(dim_min, known) if known else None
    ends = atom.args if atom is not None and atom.name == "max" else ends_of(length, limits)
    if ends is None or any(end == length and named((end,)) & inner for end in ends):
        return None
    # What an end is not above may be known where it is not.
    most_of_ends = [at_most(end, limits, inner) if named((end,)) & inner else end for end in ends]
    known = [end for end in most_of_ends if end is not None]
    return None if len(known) < len(most_of_ends) else known[0] if len(known) == 1 else greatest(known)


def names_of_step(context: Context, read: StepRead) -> set[str]:
    """The names of numbers that steps have."""
    return {name for inst in read.insts for name in names_given(inst)} | context.steps


def _added(dim: DimLike) -> list[str]:
    """The names in a polynomial that are added in it, and stand nowhere else there."""
    found: list[str] = []
    for monomial, factor in dim.terms if isinstance(dim, Dim) else ():
        if len(monomial) == 1 and factor > 0 and not monomial[0].args:
            name = monomial[0].name
            if name not in symbols(dim - factor * symbol(name)):
                found.append(name)
    return found


def found_at_most(context: Context, length: DimLike, besides: Set[str] = frozenset()) -> DimLike:
    """What a length is not above where numbers that it is the sum of were found out, as by the sides of a branch."""
    while found := [name for name in _added(length) if name in context.most and name not in besides]:
        length = substitute(length, {name: context.most[name] for name in found})
    return length


def depends_on_run(context: Context, more: DimLike, besides: Sequence[str] = ()) -> bool:
    """Whether a number of run time decides how much longer an array gets, and may make it no longer."""
    return any((is_number(name) or name in context.most) and name not in besides for name in symbols(more))


def is_surely_natural(context: Context, dim: DimLike, facts: Sequence[DimLike] = ()) -> bool:
    """As :func:`pytocu.frontend.ranges.not_negative`, by what lengths that were found out and extremes of numbers may be."""
    if not_negative(dim, tuple(facts)):
        return True
    single = [(monomial[0], factor) for monomial, factor in (dim.terms if isinstance(dim, Dim) else ()) if len(monomial) == 1]

    def without(atom: Atom, factor: int) -> DimLike:
        return dim - factor * Dim((((atom,), 1),))

    extremes = [(atom, factor) for atom, factor in single if atom.name in ("max", "min")]
    # Whichever of its numbers it is, before what is any of its numbers.
    for each in (True, False):
        for atom, factor in extremes:
            if ((atom.name == "max") == (factor < 0)) is each:
                ways = (is_surely_natural(context, without(atom, factor) + factor * part, facts) for part in atom.args)
                return all(ways) if each else any(ways)
    for atom, factor in single:
        if atom.name == "//" and factor == -1 and isinstance(atom.args[1], int) and atom.args[1] > 0:
            # A quotient is at most a number where what is divided is below the next number times the divisor.
            return is_surely_natural(context, (without(atom, factor) + 1) * atom.args[1] - 1 - atom.args[0], facts)
        if not atom.args and factor < 0 and atom.name in context.most:
            return is_surely_natural(context, without(atom, factor) + factor * context.most[atom.name], facts)
    return False


def growth_of(context: Context, read: StepRead, more: DimLike) -> DimLike | None:
    """By how much an array grows in a step at most; None where that is not known before the loop."""
    if is_surely_natural(context, 0 - more):
        return 0
    for number in range(1, FEW):
        if is_surely_natural(context, number - more):
            return number
    more = found_at_most(context, more)
    return dim_max(more, 0) if names_of_step(context, read).isdisjoint(symbols(more)) else None


__all__ = ["FEW", "at_most", "depends_on_run", "found_at_most", "growth_of", "is_surely_natural", "names_of_step"]
