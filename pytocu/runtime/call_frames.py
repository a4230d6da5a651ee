"""A call as it is written: the words of its frame, and the list of its operations.

`pytocu.runtime.call_words` fills them from the text of a program, `pytocu.runtime.native_calls` makes memory of them.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from typing import Any

from pytocu.call_operations import LEAVES, MOST_WORDS, NUMBERS, OPERATIONS
from pytocu.record import Record as Fields


def bits(value: float) -> int:
    """A number as the word that has it."""
    return struct.unpack("<Q", struct.pack("<d", value))[0]


class NotNative(Exception):
    """Text that Python has to run; says which."""


class Value(Fields):
    """What is known when a call runs: a word of the frame, and what it holds (``object``, ``word``, ``int``, ``float``).

    `boxed` is the word that has the same number as a Python object, where there is one.
    """

    at: int
    kind: str
    boxed: int | None = None


class Known(Fields):
    """What is known before: an object."""

    value: Any


class Launching(Fields):
    """How kernels are started.

    Attributes
    ----------
    parameters : sequence of tuple of str
        Words of each kernel's parameters.
    address : int
        Of the driver's function that launches; 0 on a CPU.
    kernels : sequence of int
        Native functions, or the driver's handles.
    keep : tuple
        Objects that keep the kernels loaded.
    failed : callable
        ``failed(kernel, status, blocks, threads)`` raises what the driver said of a launch.
    most : int
        Iterations, times what one costs, that one thread does.
    most_of_one : int
        The same where there is no other thread.
    alone : callable
        ``alone()`` says whether there is none.
    early : int
        The address of the attribute of launches that may begin while the one before ends; 0 where none may.
    again : bool
        Whether Python may still make the call behind kernels, which changed no argument.
    """

    parameters: Sequence[tuple[str, ...]]
    address: int
    kernels: Sequence[int]
    keep: tuple[Any, ...]
    failed: Callable[[int, int, int, int], Any]
    most: int
    most_of_one: int
    alone: Callable[[], bool]
    early: int
    again: bool


class Words:
    """A call that grows: its frame and its operations.

    Words of the frame are numbered from 0; those that hold new objects come last, and have negative numbers until it
    is known how many others there are.
    """

    def __init__(self, count: int):
        self.count = count
        self.frame = [0] * count
        self.objects = 0
        self.operations: list[tuple[str, tuple[int, ...]]] = []
        self.keep: list[Any] = []
        self.constants: dict[int, int] = {}
        self.committed = False

    def emit(self, name: str, *operands: int) -> None:
        if self.committed and name in LEAVES and name != "launch":
            raise NotNative(f"{name} behind a kernel")
        self.operations.append((name, operands))

    def word(self, number: int) -> int:
        """A word of the frame that holds a number."""
        self.frame.append(number & (2**64 - 1))
        return len(self.frame) - 1

    def region(self, words: int) -> int:
        """Several words that follow each other."""
        self.frame.extend([0] * max(words, 1))
        return len(self.frame) - max(words, 1)

    def constant(self, value: Any) -> int:
        """A word of the frame that holds an object, which lives as long as the record."""
        if id(value) not in self.constants:
            self.keep.append(value)
            self.constants[id(value)] = self.word(id(value))
        return self.constants[id(value)]

    def object(self) -> int:
        """A word for a new object."""
        self.objects += 1
        return -self.objects

    def finish(self) -> tuple[list[int], list[int], tuple[int, int]]:
        """The frame, the operations, and the range of words that may hold new objects."""
        first = len(self.frame)
        size = first + self.objects
        if size > MOST_WORDS:
            raise NotNative(f"{size} words")
        code: list[int] = []
        for name, operands in self.operations:
            code.append(NUMBERS[name])
            for letter, operand in zip(OPERATIONS[name].split(), operands, strict=True):
                code.append(first - operand - 1 if operand < 0 and letter[0] != "#" else operand & (2**64 - 1))
        return self.frame + [0] * self.objects, code, (first, size)
