"""Copies of arrays that share memory, which share memory as well: ``f(x, x)`` is another program than ``f(x, y)``.

Arrays come in by name; go out copies by the same names, or the memory as bytes with the place of each array in it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

import numpy as np

from pytocu.record import Record


class View(Record):
    """Where an array lies in memory."""

    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int


class Shared(Record):
    """Memory of several arrays: a copy of it, and where each of them lies there."""

    memory: np.ndarray
    views: Mapping[Any, View]


def shared_memories(arrays: Mapping[Any, np.ndarray]) -> list[Shared]:
    """The memories in which more than one of the arrays lies, copied.

    Examples
    --------
    >>> x = np.arange(4)
    >>> one, = shared_memories({"u": x[1:], "v": np.ones(3), "w": x[:-1]})
    >>> one.memory.nbytes, one.views["w"].offset, part_of(one.memory, *one.views["u"])
    (32, 0, array([1, 2, 3]))
    """
    bounds = {name: np.lib.array_utils.byte_bounds(array) for name, array in arrays.items() if array.size}
    groups: list[list[Any]] = []
    end = -1
    for name in sorted(bounds, key=lambda name: bounds[name]):
        low, high = bounds[name]
        if low < end:
            groups[-1].append(name)
        else:
            groups.append([name])
        end = max(end, high)
    found = [(bounds[names[0]][0], max(bounds[n][1] for n in names), names) for names in groups if len(names) > 1]
    return [_shared({n: a for n, a in arrays.items() if n in names}, low, high) for low, high, names in found]


def _shared(arrays: Mapping[Any, np.ndarray], low: int, high: int) -> Shared:
    held: Any = (ctypes.c_ubyte * (high - low)).from_address(low)
    memory = np.frombuffer(held, np.uint8).copy()
    places = {name: a.__array_interface__["data"][0] - low for name, a in arrays.items()}
    return Shared(memory, {n: View(a.dtype.name, a.shape, a.strides, places[n]) for n, a in arrays.items()})


def part_of(memory: np.ndarray, dtype: str, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> np.ndarray:
    """The array at a place in memory.

    Raises
    ------
    ValueError
        The memory does not hold it.
    """
    try:
        return np.ndarray(shape, dtype, memory, offset, strides)
    except (TypeError, OverflowError) as error:
        raise ValueError(str(error)) from None
