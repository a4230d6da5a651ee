"""Arrays between words that nobody may write: whether native code stays inside of what it is given."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import numpy as np

from pytocu.runtime import host_memory

_WORDS = 1024
"""Bytes in front of an array and behind it."""

_BYTE = 0xA5
_ALIGNMENT = 64


class Guards:
    """Makes such arrays, and looks at the words around them."""

    def __init__(self) -> None:
        self._made: list[tuple[np.ndarray, int, int]] = []

    def new(self, shape: tuple[int, ...], dtype: np.dtype, order: Any = "C") -> np.ndarray:
        """An array whose elements are not set; as :func:`pytocu.runtime.host_memory.new`."""
        size = math.prod(shape) * dtype.itemsize
        memory = np.full(size + 2 * _WORDS + _ALIGNMENT, _BYTE, np.uint8)
        begin = _WORDS + -(memory.ctypes.data + _WORDS) % _ALIGNMENT
        self._made.append((memory, begin, begin + size))
        return np.ndarray(shape, dtype, memory, begin, None, order)

    def copy(self, array: np.ndarray) -> np.ndarray:
        """A copy of an array, in rows."""
        made = self.new(array.shape, array.dtype)
        made[...] = array
        return made

    def damage(self) -> str:
        """Which of the words have been written, for people; empty where none."""
        return _damage(self._made)


def _damage(made: Iterable[tuple[Any, int, int]]) -> str:
    found: list[str] = []
    for memory, begin, end in made:
        for words, where in ((memory[:begin], "in front of"), (memory[end:], "behind")):
            count = int((words != _BYTE).sum())
            if count:
                found.append(f"{count} bytes were written {where} an array of {end - begin}")
    return "\n".join(found)


@contextmanager
def _looked_at(damage: Callable[[], str]) -> Iterator[None]:
    """Look at the words behind what is done, which may have written them and raise an exception as well."""
    try:
        yield
    except Exception as error:
        # Whatever was raised, it says nothing of the words.
        if found := damage():
            raise AssertionError(f"{found}\n{type(error).__name__} was raised as well: {error}") from error
        raise
    found = damage()
    assert not found, found


@contextmanager
def guarded() -> Iterator[Guards]:
    """Let native code that is made meanwhile write its new arrays between such words.

    Raises
    ------
    AssertionError
        Words have been written, whether or not an exception was raised too; the message names both.

    Examples
    --------
    >>> import pytocu
    >>> with guarded() as guards:
    ...     print(pytocu.jit(lambda x: x + 1)(guards.copy(np.arange(3.0))))
    [1. 2. 3.]
    """
    guards = Guards()
    changed = mock.patch.object(host_memory, "LEAST", 0), mock.patch.object(host_memory, "new", guards.new)
    with _looked_at(guards.damage), changed[0], changed[1]:
        yield guards


@contextmanager
def guarded_on_device() -> Iterator[None]:
    """The same of CuPy's new arrays on the current device, those of pytocu's results and steps among them.

    Raises
    ------
    AssertionError
        Words have been written.
    """
    cupy = importlib.import_module("cupy")
    made: list[tuple[Any, int, int]] = []

    def allocate(size: int) -> Any:
        memory = pool.malloc(size + 2 * _WORDS)
        whole = cupy.ndarray(size + 2 * _WORDS, np.uint8, memory)
        whole.fill(_BYTE)
        made.append((whole, _WORDS, _WORDS + size))
        return memory + _WORDS

    pool = cupy.get_default_memory_pool()
    # Looking at the words makes arrays as well, which are no longer between others then.
    with _looked_at(lambda: _damage(made)), cupy.cuda.using_allocator(allocate):
        yield


__all__ = ["Guards", "guarded", "guarded_on_device"]
