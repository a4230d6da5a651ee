"""A launch that is interpreted: its threads, what they share, and the faults that are found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pytocu.errors import InternalError, Loc
from pytocu.ir.core import Block, Inst, Value, walk
from pytocu.ir.interp_memory import Memory, Touched
from pytocu.ir.printer import Names, format_attr


@dataclass(frozen=True, slots=True)
class Fault:
    """Something undefined that a thread did.

    Parameters
    ----------
    kind : str
        ``out-of-bounds``, ``uninitialised``, ``race``, ``divergence``, ``index-overflow``,
        ``misaligned`` (an access of a vector), ``undefined`` (an operand a raw row forbids) or ``endless``.
    text : str
        The instruction as the printer writes it.
    loc : Loc
        Its place in the user's source.
    block, thread : int
        Who did it.
    message : str
        One sentence.
    index, size : int, optional
        Element and length of the memory.
    """

    kind: str
    text: str
    loc: Loc
    block: int
    thread: int
    message: str
    index: int | None = None
    size: int | None = None

    def __str__(self) -> str:
        return f"{self.kind}: {self.message} (block {self.block}, thread {self.thread}) in `{self.text}` at {self.loc.short()}"


class ThreadFault(InternalError):
    """A thread did something undefined; ``fault`` says what."""

    def __init__(self, fault: Fault):
        super().__init__(str(fault))
        self.fault = fault

    def __reduce__(self):
        return (type(self), (self.fault,))


@dataclass(slots=True, eq=False)
class Run:
    """One launch; ``values`` and what follows belong to the block that runs now."""

    body: Block
    grid: tuple[int, int]
    block: tuple[int, int]
    index_bits: int
    faults: list[Fault] | None
    limit: int
    touched: dict[int, Touched]
    aligned: bool | None = None
    ready: dict[Inst, Callable[..., Any]] = field(default_factory=dict)
    number: int = 0
    epoch: int = 0
    values: dict[Value, Any] = field(default_factory=dict)
    shared: dict[Inst, Memory] = field(default_factory=dict)
    exited: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))
    owners: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))

    @property
    def lanes(self) -> int:
        """Threads of a block."""
        return self.block[0] * self.block[1]

    def place(self, axis: int) -> tuple[np.ndarray, int]:
        """Each thread's number among all threads in one direction, and their number."""
        blocks, threads = self.grid[axis], self.block[axis]
        block = self.number // self.grid[0] if axis else self.number % self.grid[0]
        lane = np.arange(self.lanes)
        return block * threads + (lane // self.block[0] if axis else lane % self.block[0]), blocks * threads

    def report(self, kind: str, inst: Inst, bad: np.ndarray, message: str, **where: int) -> None:
        """Note what the first of some threads did, or raise it."""
        thread = int(np.flatnonzero(bad)[0])
        fault = Fault(kind, text_of(self.body, inst), inst.loc, self.number, thread, message, **where)
        if self.faults is None:
            raise ThreadFault(fault)
        self.faults.append(fault)

    def wide(self, value: np.ndarray) -> np.ndarray:
        """One element for each thread of the block."""
        lanes = (self.lanes,)
        return value if value.shape == lanes else np.broadcast_to(value, lanes)


def text_of(body: Block, wanted: Inst) -> str:
    """The instruction with the names the printer gives its values."""
    names = Names()
    for param in body.params:
        names.add(param)
    for inst in walk(body):
        for value in (*inst.results, *(p for r in inst.regions for p in r.params)):
            names.add(value)
    results = ", ".join(names[r] for r in wanted.results)
    args = ", ".join(names[a] for a in wanted.args)
    attrs = ", ".join(f"{k} = {format_attr(v)}" for k, v in wanted.attrs)
    return f"{results}{' = ' if results else ''}{wanted.op.name} {args}{f' {{{attrs}}}' if attrs else ''}".rstrip()
