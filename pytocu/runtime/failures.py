"""What kernels found wrong with the data, and when that is said.

A kernel cannot raise.  For each requirement it has a few words of memory into which it writes
what the sentence needs (see `pytocu.passes.failures`); code without requirements has none.

On the CPU the words belong to the call, which looks at them behind the kernel and raises at the
statement.  On a GPU nobody waits for the kernel: the words lie in the host's memory, which kernels
write, belong to the code on its device, and are looked at

* when a call waits for a number that its kernels compute, such as the length of a result,
* when the host raises something that comes after what kernels have to find,
* when the same code is called the next time,
* when pytocu waits for the GPU: results that are copied to the host (``device="cuda"``,
  ``copy_to_host``), and :func:`synchronize`.

Whoever waits for the GPU in another way and wants to know calls :func:`check`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from pytocu.errors import NOTHING, CompileError, Loc, failure, tell
from pytocu.processes import allocate_lock
from pytocu.record import Record
from pytocu.runtime import cuda


class Failure(Record):
    """A requirement: its first word, the exception, how many numbers the sentence takes, and what else :func:`tell` says."""

    at: int
    error: str
    sentence: str
    numbers: int
    loc: Loc | None
    said: tuple[Any, ...] = ()


def new_words(count: int) -> Any:
    """Words of one call on the CPU, as an array of ctypes."""
    return (ctypes.c_int64 * count)(*[NOTHING] * count)


def found(words: Any, need: Failure, help: str | None = None) -> CompileError:
    """The exception for what stands in the words."""
    made = failure(need.error, need.sentence, words[need.at : need.at + need.numbers], need.loc)
    tell(made, need.said)
    made.help = help or made.help
    return made


class SharedWords:
    """Words of some code on a device, which all its calls share.

    Attributes
    ----------
    device : int
    memory : array of ctypes
    pointer : int
        For the kernels; the driver gives one address to both sides.
    """

    __slots__ = ("_clean", "device", "failures", "memory", "pointer")

    def __init__(self, failures: Sequence[Failure], count: int, device: int):
        self.failures, self.device = tuple(failures), device
        with cuda.activated(device), cuda.outside_of_captures():
            self.pointer = int(cuda.call("cuMemHostAlloc", 8 * count, _PORTABLE | _MAPPED))
        self.memory = (ctypes.c_int64 * count).from_address(self.pointer)
        self._clean = bytes(new_words(count))
        ctypes.memmove(self.pointer, self._clean, 8 * count)
        with _lock:
            # A kernel may run when nobody has its code any more, so these few bytes stay.
            _all.append(self)

    def check(self, waited: bool = False) -> None:
        """Raise what kernels that are done have found, once.

        Parameters
        ----------
        waited : bool
            A call asks that has looked before its first kernel, and has waited for its kernels since.

        Raises
        ------
        CompileError
            At the statement, of the class Python would have raised.
        """
        if bytes(self.memory) == self._clean:
            return
        need = next((f for f in self.failures if self.memory[f.at] != NOTHING), None)
        if need is None:
            # The lengths are written first in part.
            return
        earlier = "an earlier call found this on the GPU; its results are not valid"
        error = found(self.memory, need, None if waited else earlier)
        ctypes.memmove(self.pointer, self._clean, len(self._clean))
        raise error


    def settle(self, stream: int) -> None:
        """Wait for a call's kernels before the host raises what comes after them, and raise what they have found instead.

        Kernels of a capture into a graph do not run.
        """
        with cuda.activated(self.device):
            if cuda.capture_of(stream):
                return
            cuda.call("cuStreamSynchronize", stream)
        self.check(waited=True)


_PORTABLE, _MAPPED = 1, 2
_all: list[SharedWords] = []
_lock = allocate_lock()


def check() -> None:
    """Raise what calls on GPUs have found wrong with their data, as far as they are done.

    It does not wait; behind something that waits for the GPU nothing is missed.

    Raises
    ------
    CompileError
        The exception NumPy has, at the user's line: an IndexError for an index out of bounds.

    Examples
    --------
    >>> import pytocu
    >>> pytocu.check()
    """
    for words in tuple(_all):
        words.check()


def synchronize(device: int | None = None) -> None:
    """Wait for all work on a GPU, and raise what calls found wrong with their data.

    Parameters
    ----------
    device : int, optional
        The current device by default.

    Raises
    ------
    CompileError
        An index out of bounds, for example: NumPy's exception at the user's line.
    BackendError
        There is no GPU, or a kernel failed.

    Examples
    --------
    >>> import pytocu
    >>> try:
    ...     pytocu.synchronize()
    ... except pytocu.BackendError:
    ...     pass  # there is no GPU here
    """
    where = cuda.current_device() if device is None else device
    with cuda.activated(where):
        cuda.call("cuCtxSynchronize")
    check()
