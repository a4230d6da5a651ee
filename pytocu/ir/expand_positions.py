"""Index maps of views whose positions are not linear: a position is anything with ``+ * // %``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytocu.ir.dims import DimLike, product

Shape = Sequence[DimLike]


def reshape_groups(shape: Shape, source: Shape) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Axes of a shape, and those of another that hold the same elements, group by group.

    Lengths that are not known to be equal stand in one group, the last.

    Examples
    --------
    >>> from pytocu.ir.dims import symbol
    >>> n, m = symbol("n"), symbol("m")
    >>> reshape_groups((n, m * 2), (n, m, 2))
    [((0,), (0,)), ((1,), (1, 2))]
    """
    groups: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    done, taken = 0, 0
    for stop in range(1, len(shape) + 1):
        total = product(tuple(shape[done:stop]))
        for end in range(taken, len(source) + 1):
            if product(tuple(source[taken:end])) == total:
                groups.append((tuple(range(done, stop)), tuple(range(taken, end))))
                done, taken = stop, end
                break
    if done < len(shape) or taken < len(source):
        groups.append((tuple(range(done, len(shape))), tuple(range(taken, len(source)))))
    return groups


def reshaped(index: Sequence[Any], shape: Shape, source: Shape) -> tuple[Any, ...]:
    """The position in an array of shape `source` of the element that has a position in `shape`.

    Examples
    --------
    >>> reshaped((1, 2), (2, 6), (4, 3))
    (2, 2)
    """
    position: dict[int, Any] = {}
    for axes, named in reshape_groups(shape, source):
        flat: Any = 0
        step: DimLike = 1
        for axis in reversed(axes):
            if shape[axis] != 1:
                flat = flat + index[axis] * step
            step = step * shape[axis]
        for axis in reversed(named[1:]):
            if all(source[a] == 1 for a in named if a < axis) or all(shape[a] == 1 for a in axes):
                # Nothing is left for the axes before.
                position[axis], flat = flat, 0
            else:
                position[axis], flat = flat % source[axis], flat // source[axis]
        if named:
            position[named[0]] = flat
    return tuple(position[axis] for axis in range(len(source)))
