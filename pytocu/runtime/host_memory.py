"""Memory of large results on a CPU, kept for the next result when the arrays over it are gone.

The C library gives large blocks back to the system when they are freed, and the first touch of new
memory, which the system clears before, takes longer than most of what is computed into it.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from pytocu import config

LEAST = 1 << 22
"""Bytes of the smallest result that is made here: smaller blocks the C library keeps itself."""

_ALIGNMENT = 64
_MOST_BLOCKS = 32
# How much larger than a result its memory may be.
_SLACK = 8

_free: deque[np.ndarray] = deque()


def maker(shape: tuple[int, ...], dtype: np.dtype) -> Callable[..., np.ndarray]:
    """What makes arrays of a shape: :func:`new`, or ``numpy.empty`` for small ones.

    Examples
    --------
    >>> maker((3,), np.dtype(np.float32)) is np.empty, maker((2048, 2048), np.dtype(np.float32)) is new
    (True, True)
    """
    return np.empty if math.prod(shape) * dtype.itemsize < LEAST else new


def new(shape: tuple[int, ...], dtype: np.dtype, order: Any = "C") -> np.ndarray:
    """An array whose elements are not set, on memory of an array that is gone where some fits.

    Parameters
    ----------
    shape : tuple of int
    dtype : dtype
    order : {"C", "F"}

    Raises
    ------
    MemoryError
        There is none.

    Examples
    --------
    >>> x = new((1024, 1024), np.dtype(np.float64))
    >>> x.shape, x.dtype, x.flags.c_contiguous, x.flags.writeable
    ((1024, 1024), dtype('float64'), True, True)
    """
    size = math.prod(shape) * dtype.itemsize + _ALIGNMENT
    memory = _take(size)
    if memory is None:
        if size > limit():
            return np.empty(shape, dtype, order)
        try:
            memory = np.empty(size, np.uint8)
        except MemoryError:
            _free.clear()
            memory = np.empty(size, np.uint8)
    block = np.asarray(_Block(memory))
    return np.ndarray(shape, dtype, block, -block.ctypes.data % _ALIGNMENT, None, order)


class _Block:
    """Stands between arrays and their memory, and keeps the memory when no array is left."""

    __slots__ = ("__array_interface__", "memory")

    def __init__(self, memory: np.ndarray):
        self.memory = memory
        self.__array_interface__ = memory.__array_interface__

    # Names of the module may be gone when Python ends.
    def __del__(self, keep: Callable[[np.ndarray], None] = lambda memory: _keep(memory)) -> None:
        keep(self.memory)


def _take(size: int) -> np.ndarray | None:
    # Steps of a deque are atomic, and a finaliser may run between any two of them: so there is no lock.
    for _ in range(len(_free)):
        try:
            memory = _free.pop()
        except IndexError:
            return None
        if size <= memory.nbytes <= size + size // _SLACK:
            return memory
        _free.appendleft(memory)
    return None


def _keep(memory: np.ndarray) -> None:
    _free.append(memory)
    while len(_free) > _MOST_BLOCKS or held() > limit():
        try:
            _free.popleft()
        except IndexError:
            return


def held() -> int:
    """Bytes that are kept for later results."""
    return sum(memory.nbytes for memory in tuple(_free))


@lru_cache(maxsize=1)
def limit() -> int:
    """Bytes that may be kept: ``PYTOCU_HOST_MEMORY``."""
    from pytocu.runtime.cache_directory import parse_size, warn

    text, default = config.get("host_memory"), config.OPTIONS["host_memory"].default
    try:
        return parse_size(text)
    except ValueError:
        warn(f"PYTOCU_HOST_MEMORY={text} is no size such as 500M or 2G, and {default} is used")
        return parse_size(default)
