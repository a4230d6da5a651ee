"""Along which axis of a reduction's iterations memory lies: neighbours are rows or columns."""

from __future__ import annotations

from collections.abc import Iterable

from pytocu.ir.core import Value
from pytocu.ir.types import ArrayType
from pytocu.passes.accesses import Index
from pytocu.passes.affine import Affine, constant
from pytocu.passes.elements import strides_of

NARROW = 16
"""Rows of fewer columns are not walked column by column."""


def votes(reads: Iterable[tuple[Value, Index]], parallel: int, ndim: int) -> tuple[int, int]:
    """By how many more arrays are read along the last parallel axis than along the last reduced one: of large ones, and of all.

    Large are those that do not stay the same all along one of these axes.
    """
    large = all = 0
    for value, place in reads:
        if not isinstance(value.type, ArrayType) or not place:
            continue
        offset = _offset(value.type, place, ndim)
        steps = offset.coefficients[parallel - 1], offset.coefficients[ndim - 1]
        vote = (steps[0] == 1) - (steps[1] == 1)
        large, all = large + vote * (0 not in steps), all + vote
    return large, all


def _offset(type: ArrayType, place: Index, ndim: int) -> Affine:
    total = constant(0, ndim)
    for position, stride in zip(place, strides_of(type, "s"), strict=True):
        total = total + position * stride
    return total
