"""Strides in bytes: what they say about where the elements of an array lie."""

from __future__ import annotations

from collections.abc import Sequence


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
