"""Python ints that steps of a loop make of the numbers of the call, which a kernel computes as int64.

In ``for i in range(k, n): x[i] = i * i`` the number of a step and what is made of it are dimensions: polynomials of the numbers
that the host knows and of how many steps were made.  Python's ints hold them at any size.  How large they may be in any step
the host knows before the loop, so it compares that, and the steps compare nothing.  What a branch computes may be guarded by
it, as the square in ``if i < 1000: x[i] = i * i``: of products the branch itself requires that int64 holds them, and so does a
step of numbers that are read in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pytocu.ir.builder import Builder
from pytocu.ir.core import Inst, walk
from pytocu.ir.dims import Dim, DimLike, dim_max, dim_min, is_number, product, symbol, symbols
from pytocu.ir.regions import FITS, is_region, numbers_in, step_name
from pytocu.passes.python_numbers import HELP

_LARGEST = 2**63 - 1
_SMALL = 2**20
"""No array is so long that this many times its length is no number of int64."""


def require_numbers(builder: Builder, inst: Inst) -> None:
    """Let the host compare, before a loop or branch of a kernel, what int64 has to hold in its steps."""
    beyond: dict[DimLike, None] = {}
    for dim, counts in _numbers(inst, {}, unknown_names(inst), False):
        some: DimLike = 1
        for name in symbols(dim):
            if name in counts and counts.keys().isdisjoint(symbols(counts[name])):
                # Where a loop makes no steps, nothing is computed.
                some = some * dim_min(counts[name], 1)
        beyond[some * dim_max(_largest(dim, counts) - _LARGEST, 0)] = None
        for name in symbols(dim):
            if is_number(name) and name not in counts and isinstance(dim, Dim) and symbol(name).terms[0] not in dim.terms:
                # The kernel is given the number itself, also where it is multiplied by 0.
                beyond[dim_max(symbol(name) - _LARGEST, 0)] = None
    for name in sorted(_beside_read(inst)):
        # So it is beside numbers that are read, of which the step itself requires what becomes of both.
        beyond[dim_max(symbol(name) - _LARGEST, 0)] = None
    total = sum((b for b in beyond), start=0)
    if total != 0:
        builder.emit("check", (), {"dims": (total, 0), "kind": "equal", "shapes": ("OverflowError", FITS, HELP)})


def _beside_read(inst: Inst) -> set[str]:
    """The names of the call's numbers that stand beside numbers read in a loop or branch."""
    unknown, known = unknown_names(inst), numbers_in(inst)
    inside = (i for region in inst.regions for i in walk(region))
    found = [symbols(dim) for i in inside for _, value in i.attrs for dim in _stated(value)]
    return {name for names in found if not unknown.isdisjoint(names) for name in names if is_number(name)} - known


def unknown_names(inst: Inst) -> frozenset[str]:
    """The names of numbers that are read inside of a loop or branch, which the host does not know before it.

    So are numbers of steps where how many there are is read.
    """
    loops = [i for i in (inst, *(i for region in inst.regions for i in walk(region))) if step_name(i) is not None]
    unknown = numbers_in(inst) - {step_name(loop) for loop in loops}
    for loop in loops:
        name, count, _ = loop.attr("numbers")
        if not unknown.isdisjoint(symbols(count)):
            unknown |= {name}
    return unknown


def is_for_the_step(dim: DimLike, branch: bool, unknown: frozenset[str]) -> bool:
    """Whether a step itself has to require that int64 holds a number: a product in a branch, and what is made of data."""
    if unknown.isdisjoint(symbols(dim)):
        return branch and _degree(dim) > 1
    # What is read is a number of int64, of which one name is what it has above 0, and another one what it has below.
    return isinstance(dim, Dim) and any(len(monomial) != 1 or abs(c) != 1 or monomial[0].args for monomial, c in dim.terms)


def is_branch(inst: Inst) -> bool:
    """Whether its regions need not run."""
    return inst.op.name in ("if_else", "while_loop")


def _numbers(
    inst: Inst, counts: Mapping[str, DimLike], unknown: frozenset[str], branch: bool
) -> Iterator[tuple[DimLike, Mapping[str, DimLike]]]:
    """The numbers in an instruction's regions that the host has to look at, and how many steps the loops around have."""
    if step_name(inst) is not None:
        name, count, _ = inst.attr("numbers")
        counts = {**counts, name: count}
    branch = branch or is_branch(inst)
    for inner in (i for region in inst.regions for i in region.insts):
        if is_region(inner):
            yield from _numbers(inner, counts, unknown, branch)
            continue
        for dim in _computed(inner):
            if _may_be_large(dim, counts, unknown) and not is_for_the_step(dim, branch, unknown):
                yield dim, counts


def _computed(inst: Inst) -> Iterator[DimLike]:
    """The numbers that an instruction gives, and what quotients and remainders in positions are made of.

    A position lies in its array, whatever sums and products it is made of wrap around to; ends of slices lengths bound.
    """
    if inst.op.name == "dim":
        yield from _parts(inst.attr("value"))
        return
    for _, value in inst.attrs:
        for dim in _stated(value):
            yield from _divided(dim)


def _divided(dim: DimLike) -> Iterator[DimLike]:
    """What quotients and remainders in a dimension are made of."""
    for atom in (atom for monomial, _ in dim.terms for atom in monomial) if isinstance(dim, Dim) else ():
        for arg in atom.args:
            yield from _parts(arg) if atom.name in ("%", "//") else _divided(arg)


def _stated(value: Any) -> Iterator[DimLike]:
    """The dimensions in an attribute."""
    if isinstance(value, Dim):
        yield value
    elif isinstance(value, tuple):
        for member in value:
            yield from _stated(member)


def _may_be_large(dim: DimLike, counts: Mapping[str, DimLike], unknown: frozenset[str]) -> bool:
    """Whether int64 may not hold what is made of numbers of the call and of steps."""
    names = symbols(dim)
    if not isinstance(dim, Dim) or not unknown.isdisjoint(names):
        return False
    if any(is_number(name) and name not in counts for name in names):
        return True
    return any(name in counts for name in names) and (_degree(dim) > 1 or sum(abs(c) for _, c in dim.terms) > _SMALL)


def _degree(dim: DimLike) -> int:
    """How many factors the longest product has, also in quotients and remainders."""
    if not isinstance(dim, Dim):
        return 0
    inner = (_degree(arg) for monomial, _ in dim.terms for atom in monomial for arg in atom.args)
    return max((*(len(monomial) for monomial, _ in dim.terms), *inner))


def _parts(dim: DimLike) -> Iterator[DimLike]:
    """A number, and what quotients, remainders and extremes in it are made of."""
    if isinstance(dim, Dim):
        yield dim
        for arg in (arg for monomial, _ in dim.terms for atom in monomial for arg in atom.args):
            yield from _parts(arg)


def _largest(dim: DimLike, counts: Mapping[str, DimLike]) -> DimLike:
    """What the magnitude of a number is never above in steps of loops: the sum of those of its parts."""
    if not isinstance(dim, Dim):
        return abs(dim)
    total: DimLike = 0
    for monomial, coefficient in dim.terms:
        factors: list[DimLike] = []
        for atom in monomial:
            if not atom.args:
                factors.append(_largest(counts[atom.name] - 1, counts) if atom.name in counts else symbol(atom.name))
                continue
            one, other = (_largest(arg, counts) for arg in atom.args)
            factors.append(other if atom.name == "%" else one if atom.name == "//" else dim_max(one, other))
        total = total + product([abs(coefficient), *factors])
    return total
