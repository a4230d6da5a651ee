"""Memory as the thread interpreter sees it: bounds, what was written, and who touched what."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pytocu.errors import InternalError
from pytocu.ir.types import dtype_of

_NOBODY, _SEVERAL = -1, -2


@dataclass(slots=True, eq=False)
class Memory:
    """Elements a pointer reaches: offset ``i`` is element ``base + i`` of `data`.

    Parameters
    ----------
    data : numpy.ndarray
        One-dimensional; written in place.
    base : int
        Element that offset 0 means.
    initialised, allowed : numpy.ndarray of bool
        Elements that hold a value, and elements that belong to the array at all.
    own : int
        Where every thread has memory of its own: how many elements each; one thread's follow another's.
    """

    data: np.ndarray
    base: int
    initialised: np.ndarray
    allowed: np.ndarray
    own: int = 0


def memory_of(array: np.ndarray, initialised: bool = True, dtype: np.dtype | None = None) -> Memory:
    """The memory of an array, of any strides; elements between the array's own are out of bounds.

    A kernel may see the words of the elements: with `dtype` float32 the memory of complex64 has two
    elements for each of the array's.

    Raises
    ------
    InternalError
        Strides that are no multiple of the item size.

    Examples
    --------
    >>> memory = memory_of(np.arange(6)[::-2])
    >>> memory.base, memory.allowed.tolist()
    (4, [True, False, True, False, True])
    """
    itemsize = array.itemsize
    if any(s % itemsize for s in array.strides):
        raise InternalError("an array whose strides are no multiple of its item size has no element offsets")
    strides = [s // itemsize for s in array.strides]
    if array.size == 0:
        return Memory(np.empty(0, dtype or array.dtype), 0, np.empty(0, bool), np.empty(0, bool))
    reach = [(n - 1) * s for n, s in zip(array.shape, strides, strict=True)]
    low = sum(r for r in reach if r < 0)
    length = sum(r for r in reach if r > 0) - low + 1
    # The ellipsis keeps a view where there are no axes.
    first = array[(*(slice(-1, None) if s < 0 else slice(0, 1) for s in strides), ...)]
    flat = np.lib.stride_tricks.as_strided(first, (length,), (itemsize,), writeable=array.flags.writeable)
    allowed = np.zeros(length, bool)
    positions = np.zeros((), np.int64) - low
    for n, s in zip(array.shape, strides, strict=True):
        positions = np.add.outer(positions, np.arange(n) * s)
    allowed[positions.ravel()] = True
    element = dtype_of(array.dtype)
    if dtype is not None and dtype != array.dtype and element is not None and element.word.numpy == dtype:
        words = itemsize // dtype.itemsize
        flat, low, length, allowed = flat.view(dtype), low * words, length * words, np.repeat(allowed, words)
    return Memory(flat, -low, np.full(length, initialised), allowed)


class Touched:
    """Who last wrote and who read each element of one memory, and in which stretch between barriers."""

    def __init__(self, length: int):
        self.write_owner, self.write_block, self.write_epoch = (np.full(length, _NOBODY) for _ in range(3))
        self.read_owner, self.read_block, self.read_epoch = (np.full(length, _NOBODY) for _ in range(3))

    def write(self, at: np.ndarray, owners: np.ndarray, block: int, epoch: int) -> np.ndarray:
        """Note writes; True where they conflict with another thread's access."""
        conflict = self._others_wrote(at, owners, block, epoch) | _met_twice(at)
        touched, same_block = self.read_block[at] != _NOBODY, self.read_block[at] == block
        now = (self.read_epoch[at] == epoch) & (self.read_owner[at] != owners)
        conflict |= touched & (~same_block | now)
        self.write_owner[at], self.write_block[at], self.write_epoch[at] = owners, block, epoch
        return conflict

    def read(self, at: np.ndarray, owners: np.ndarray, block: int, epoch: int) -> np.ndarray:
        """Note reads; True where another thread's write is not ordered before them."""
        conflict = self._others_wrote(at, owners, block, epoch)
        earlier = (self.read_block[at] == _NOBODY) | (self.read_epoch[at] != epoch)
        alone = earlier | (self.read_owner[at] == owners)
        elsewhere = (self.read_block[at] != _NOBODY) & (self.read_block[at] != block)
        self.read_owner[at] = np.where(alone, owners, _SEVERAL)
        self.read_owner[at[_met_twice(at)]] = _SEVERAL
        self.read_block[at] = np.where(elsewhere, _SEVERAL, block)
        self.read_epoch[at] = epoch
        return conflict

    def _others_wrote(self, at: np.ndarray, owners: np.ndarray, block: int, epoch: int) -> np.ndarray:
        # A barrier orders the threads of one block; nothing orders two blocks.
        now = (self.write_epoch[at] == epoch) & (self.write_owner[at] != owners)
        return (self.write_block[at] != _NOBODY) & ((self.write_block[at] != block) | now)


def _met_twice(at: np.ndarray) -> np.ndarray:
    """Where an element is met by more than one thread of the instruction."""
    if (at[1:] > at[:-1]).all():
        return np.zeros(at.size, bool)
    _, inverse, counts = np.unique(at, return_inverse=True, return_counts=True)
    return counts[inverse] > 1
