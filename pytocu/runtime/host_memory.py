"""Memory of large results on a CPU, used again when no array is left over it.

The C library gives large blocks back to the system when they are freed, and the first touch of new
memory, which the system clears before, takes longer than most of what is computed into it.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from functools import lru_cache
from sys import getrefcount
from typing import Any

import numpy as np

from pytocu import config
from pytocu.errors import PytocuError
from pytocu.runtime.cache_directory import parse_size

LEAST = 1 << 19
"""Bytes of the smallest result that is made here: the C library keeps smaller blocks itself, but not several of this size."""

_ALIGNMENT = 64
_MOST_BLOCKS = 32
# How much larger than a result its memory may be.
_SLACK = 8

_blocks: deque[tuple[np.ndarray, int]] = deque()
"""Bytes, and where the first line of a cache begins in them; those that were given out last come last."""


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
    PytocuError
        ``PYTOCU_HOST_MEMORY`` is no size.

    Examples
    --------
    >>> x = new((1024, 1024), np.dtype(np.float64))
    >>> x.shape, x.dtype, x.flags.c_contiguous, x.flags.writeable
    ((1024, 1024), dtype('float64'), True, True)
    """
    size = math.prod(shape) * dtype.itemsize + _ALIGNMENT
    most = size + size // _SLACK
    for _ in range(len(_blocks)):
        # Whoever has taken a block out is alone with it, and steps of a deque are atomic: so there is no lock.
        try:
            block = _blocks.pop()
        except IndexError:
            break
        if size <= block[0].nbytes <= most and _references(block) == _UNUSED:
            made = np.ndarray(shape, dtype, *block, None, order)
            _blocks.append(block)
            return made
        _blocks.appendleft(block)
    if size > limit():
        return np.empty(shape, dtype, order)
    try:
        memory = np.empty(size, np.uint8)
    except MemoryError:
        _blocks.clear()
        memory = np.empty(size, np.uint8)
    first = -memory.ctypes.data % _ALIGNMENT
    _blocks.append((memory, first))
    while len(_blocks) > _MOST_BLOCKS or held() > limit():
        _blocks.popleft()
    return np.ndarray(shape, dtype, memory, first, None, order)


def held() -> int:
    """Bytes that are kept, of arrays that are there and of those that are gone."""
    return sum(memory.nbytes for memory, _ in tuple(_blocks))


@lru_cache(maxsize=1)
def limit() -> int:
    """Bytes that may be kept: ``PYTOCU_HOST_MEMORY``."""
    text = config.get("host_memory")
    try:
        return parse_size(text)
    except ValueError:
        raise PytocuError(f"PYTOCU_HOST_MEMORY={text!r}: write a size such as 500M or 2G, 0 for nothing") from None


def _references(block: tuple[np.ndarray, int]) -> int:
    # How many belong to the call itself depends on Python's version, so they are counted of a block that nobody uses.
    return getrefcount(block[0])


_UNUSED = _references((np.empty(1, np.uint8), 0))
