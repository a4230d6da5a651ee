"""Orders of axes: in which the elements of arrays lie in memory, and in which NumPy makes those of results.

The *ranks* of an array, or of a view of one, say of each axis how far its elements are apart beside those of the others; an
axis along which memory does not move has none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from pytocu.ir.dims import DimLike, at_most_one

Ranks: TypeAlias = "tuple[int | None, ...]"
"""Of each axis; the farther apart its elements, the larger."""


def layout_of_axes(axes: Sequence[int], shape: Sequence[DimLike]) -> str:
    """The dense layout with these axes from the slowest to the fastest; those of length 1 make no difference.

    Examples
    --------
    >>> layout_of_axes((0, 1), (3, 4)), layout_of_axes((1, 2, 0), (3, 1, 4)), layout_of_axes((0, 2, 1), (2, 3, 4))
    ('C', 'F', '0 2 1')
    """
    long = [axis for axis in axes if not at_most_one(shape[axis])]
    if long == sorted(long):
        return "C"
    if long == sorted(long, reverse=True):
        return "F"
    return " ".join(map(str, axes))


def ranks_of(axes: Sequence[int], shape: Sequence[DimLike]) -> Ranks:
    """The ranks of an array whose axes are these from the slowest to the fastest; along others memory does not move."""
    return tuple(None if at_most_one(n) or axis not in axes else len(axes) - axes.index(axis) for axis, n in enumerate(shape))


def best_axes(ndim: int, operands: Sequence[Ranks]) -> tuple[int, ...]:
    """The axes of a new array from the slowest to the fastest, as NumPy's iterator orders them for operands of its shape.

    Two axes change places where no operand is in row-major order in them and one is in the other order.

    Examples
    --------
    >>> best_axes(2, [(1, 2)]), best_axes(2, [(1, 2), (2, 1)]), best_axes(2, [(1, 2), (1, None)])
    ((1, 0), (0, 1), (1, 0))
    """
    # From the fastest, as NumPy sorts them.
    fastest = range(ndim - 1, -1, -1)
    return tuple(reversed(_inserted(fastest, lambda found, axis: [_slower(r[found], r[axis]) for r in operands])))


def sorted_axes(ndim: int, operands: Sequence[Ranks]) -> tuple[int, ...]:
    """The same as NumPy orders them where it joins arrays, which it sorts from the slowest.

    Examples
    --------
    >>> sorted_axes(2, [(1, 2)]), sorted_axes(2, [(1, 2), (2, 1)]), sorted_axes(3, [(1, None, 3)])
    ((1, 0), (0, 1), (2, 0, 1))
    """
    return tuple(_inserted(range(ndim), lambda found, axis: [_slower(r[axis], r[found]) for r in operands]))


def _inserted(axes: Iterable[int], passes: Callable[[int, int], list[bool | None]]) -> list[int]:
    """Axes sorted by insertion, as NumPy does it, since axes in which nothing moves compare with none.

    Parameters
    ----------
    passes : callable
        Of an axis that is sorted and one that is not, whether the second comes first, as each operand says; None where it says
        nothing.
    """
    made: list[int] = []
    for axis in axes:
        place = len(made)
        for at in range(len(made) - 1, -1, -1):
            said = [s for s in passes(made[at], axis) if s is not None]
            if not said:
                continue
            if not all(said):
                break
            place = at
        made.insert(place, axis)
    return made


def _slower(first: int | None, second: int | None) -> bool | None:
    """Whether the elements of an axis are farther apart than those of another; None where that says nothing."""
    return None if first is None or second is None else first > second
