"""Views of arguments that a plan returns: shape, strides and offset in bytes, step by step, and the view itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pytocu.ir.types import DType
from pytocu.runtime import arrays, results


def make_view(name: str, dtype: DType | None) -> Callable[..., Any]:
    """What makes a view of the argument of this name, as another dtype where one is given."""

    def view(argument: Any, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Any:
        if type(argument) is np.ndarray and argument.flags.c_contiguous:
            # The shortest way, which compares with the memory too; it takes no other order of elements.
            given = argument.dtype if dtype is None else dtype.numpy
            return np.ndarray(shape, given, argument, 0 if 0 in shape else offset, strides)
        info = arrays.describe(argument, name)
        assert info is not None
        return results.view(argument, info, shape, strides, offset, dtype)

    return view


def read_only(made: Any) -> Any:
    """A result that NumPy does not let write; other libraries have no such arrays."""
    if not isinstance(made, np.ndarray):
        return made
    made = made.view()
    made.flags.writeable = False
    return made


def numbers(made: Any) -> list[Any]:
    """The list of Python's numbers that the program made, for which the host waits."""
    return (made if hasattr(made, "tolist") else made.copy_to_host()).tolist()


def elements(made: Any) -> list[Any]:
    """The list of scalars of NumPy's, or of arrays without axes, that the program made."""
    return [made[k] for k in range(len(made))]


def either(made: Any, marks: Any) -> list[Any]:
    """The list of what numbers are by their marks: 0 for Python's int, 1 for another of Python's, 2 for NumPy's, 3 for None."""
    if len(made.shape) > 1:
        return [either(made[k], marks[k]) for k in range(len(made))]
    pairs = enumerate(zip(numbers(made), numbers(marks), strict=True))
    return [None if mark == 3 else made[k] if mark == 2 else number if mark else int(number) for k, (number, mark) in pairs]


Parts = tuple[tuple[int, ...], tuple[int, ...], int]


def view_newaxis(shape: tuple[int, ...], strides: tuple[int, ...], offset: int, axis: int) -> Parts:
    """A new axis of length 1."""
    return (*shape[:axis], 1, *shape[axis:]), (*strides[:axis], 0, *strides[axis:]), offset


def view_transpose(shape: tuple[int, ...], strides: tuple[int, ...], offset: int, axes: tuple[int, ...]) -> Parts:
    """The axes in another order."""
    return tuple(shape[a] for a in axes), tuple(strides[a] for a in axes), offset


def view_slice(
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    offset: int,
    start: tuple[int, ...],
    step: tuple[int, ...],
    size: tuple[int, ...],
) -> Parts:
    """Every step-th element from start, size of them, on each axis."""
    if 0 not in size:
        offset += sum(s * stride for s, stride in zip(start, strides, strict=True))
    return size, tuple(stride * s for stride, s in zip(strides, step, strict=True)), offset


def view_index(shape: tuple[int, ...], strides: tuple[int, ...], offset: int, axis: int, at: int) -> Parts:
    """One position of an axis."""
    if 0 not in shape:
        offset += at * strides[axis]
    return (*shape[:axis], *shape[axis + 1 :]), (*strides[:axis], *strides[axis + 1 :]), offset


def view_diagonal(shape: tuple[int, ...], strides: tuple[int, ...], offset: int, skip: int, length: int) -> Parts:
    """A diagonal of the last two axes as the last axis."""
    if length:
        offset += skip * strides[-1] if skip > 0 else -skip * strides[-2]
    return (*shape[:-2], length), (*strides[:-2], strides[-2] + strides[-1]), offset


def view_reshape(shape: tuple[int, ...], strides: tuple[int, ...], offset: int, new: tuple[int, ...]) -> Parts:
    """The elements in row-major order in another shape, where that needs no copy."""
    kept = [(n, s) for n, s in zip(shape, strides, strict=True) if n != 1]
    made = [0] * len(new)
    axis = len(new) - 1
    while kept and axis >= 0 and 0 not in shape:
        length, step = kept.pop()
        while axis >= 0 and length > 1:
            # Axes that are walked as one hold as many elements as some of the new ones.
            while length % new[axis]:
                length *= kept.pop()[0]
            made[axis] = step
            step, length = step * new[axis], length // new[axis]
            axis -= 1
    return new, tuple(made), offset


VIEWS = {f.__name__: f for f in (view_newaxis, view_transpose, view_slice, view_index, view_diagonal, view_reshape)}
"""By the names that programs call them by."""
