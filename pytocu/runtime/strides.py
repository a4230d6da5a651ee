"""Strides in bytes: what they say about where the elements of an array lie."""

from __future__ import annotations

import math
from collections.abc import Sequence

from pytocu.deferred import Deferred
from pytocu.ir.types import NO_AXIS, STRIDED, axes_of

_best_axes = Deferred("pytocu.ir.axis_orders", "best_axes")
_layout_of_axes = Deferred("pytocu.ir.axis_orders", "layout_of_axes")


def c_strides(shape: Sequence[int], itemsize: int) -> tuple[int, ...]:
    """Strides in bytes of a row-major array.

    Examples
    --------
    >>> c_strides((2, 3), 4)
    (12, 4)
    """
    strides: list[int] = []
    step = itemsize
    for length in reversed(shape):
        strides.append(step)
        step *= max(length, 1)
    return tuple(reversed(strides))


def laid_out(shape: Sequence[int], layout: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The shape that the memory of a dense array has in row-major order, and the axes of it in the order of the array.

    Examples
    --------
    >>> laid_out((2, 3, 4), "F"), laid_out((2, 3, 4), "1 2 0")
    (((4, 3, 2), (2, 1, 0)), ((3, 4, 2), (2, 0, 1)))
    """
    axes = axes_of(layout, len(shape))
    return tuple(shape[axis] for axis in axes), tuple(axes.index(axis) for axis in range(len(axes)))


def dense_strides(shape: Sequence[int], itemsize: int, layout: str) -> tuple[int, ...]:
    """Strides in bytes of a dense array.

    Examples
    --------
    >>> dense_strides((2, 3, 4), 8, "0 2 1")
    (96, 8, 24)
    """
    laid, axes = laid_out(shape, layout)
    strides = c_strides(laid, itemsize)
    return tuple(strides[axis] for axis in axes)


def layout_of_strides(shape: Sequence[int], strides: Sequence[int], itemsize: int) -> str:
    """The layout of an array, as types state it; see :class:`pytocu.ir.types.ArrayType`.

    Examples
    --------
    >>> [layout_of_strides((2, 3, 4), strides, 1) for strides in ((12, 4, 1), (12, 1, 3), (1, 0, 4), (1, 2, 9))]
    ['C', '0 2 1', 'S 2 0', 'S 2 1 0']
    """
    last = math.inf
    for length, stride in zip(shape, strides, strict=True):
        if length != 1:
            if not 0 < abs(stride) <= last:
                break
            last = abs(stride)
    else:
        return "C" if is_c_contiguous(shape, strides, itemsize) else STRIDED
    if 0 in shape:
        return "C"
    if len(shape) == 1:
        return STRIDED
    steps = tuple(abs(s) if n != 1 and s else None for n, s in zip(shape, strides, strict=True))
    axes = _best_axes(len(shape), [steps])
    if is_c_contiguous([shape[axis] for axis in axes], [strides[axis] for axis in axes], itemsize):
        return _layout_of_axes(axes, shape)
    moving = [axis for axis in axes if steps[axis] is not None]
    return f"{STRIDED} {' '.join(map(str, moving)) or NO_AXIS}"


def is_c_contiguous(shape: Sequence[int], strides: Sequence[int], itemsize: int) -> bool:
    """Whether the elements lie in row-major order without gaps.

    Strides of dimensions of length 1, and all strides of an empty array, say nothing.
    """
    if 0 in shape:
        return True
    expected = itemsize
    for length, stride in zip(reversed(shape), reversed(strides), strict=True):
        if length != 1 and stride != expected:
            return False
        expected *= length
    return True


def byte_bounds(shape: Sequence[int], strides: Sequence[int], itemsize: int) -> tuple[int, int]:
    """First byte and one past the last byte the elements touch, from the first element's."""
    if 0 in shape:
        return 0, 0
    steps = [(length - 1) * stride for length, stride in zip(shape, strides, strict=True)]
    return sum(s for s in steps if s < 0), sum(s for s in steps if s > 0) + itemsize
