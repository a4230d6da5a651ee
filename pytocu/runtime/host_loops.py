"""The steps of a loop of the host whose launches repeat: the first ones are made and noted, the others replayed at once.

What replays them is a graph of launches on a GPU (`pytocu.runtime.launch_graphs`) and a native function on a CPU
(`pytocu.runtime.native_steps`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

Replay = Callable[[Sequence[Any], int], int]
"""``replay(noted, left)`` makes steps of those that are left and says how many."""

FLAG, END = -1, -2
"""What is noted beside launches: the address of a truth value, and the end of a step."""

Made = tuple[int, tuple[Any, ...], bool]
"""Steps that were made, numbers behind them, and whether others follow."""


class Until:
    """The steps of a loop that ends when a truth value says so.

    The program makes some periods, since it may be over soon, and gives the launches of the last one to `note`, where
    `noting` says so.

    Parameters
    ----------
    period : int
        Steps after which the launches are the same again.
    before : int
        Steps before those that are noted.
    replay : callable
        ``replay(noted)`` makes steps, and says how many; what the program's numbers are behind them; and whether the program
        makes those that are left.
    most : int
        Launches of a period that are noted.

    Attributes
    ----------
    turns : int
        How often memories have still to change places, when steps have been made.
    numbers : tuple
        The program's numbers behind them.
    goes_on : bool
        Whether another step follows.
    """

    __slots__ = ("_before", "_count", "_most", "_noted", "_period", "_replay", "goes_on", "noting", "numbers", "turns")

    def __init__(self, period: int, before: int, replay: Callable[[Sequence[Any]], Made] | None, most: int):
        self._period, self._before, self._replay, self._most = period, before, replay, most
        self._count = self.turns = 0
        self.numbers: tuple[Any, ...] = ()
        self.goes_on = False
        self._noted: list[Any] = []
        self.noting = False

    def note(self, launch: Any) -> None:
        """Keep what was launched, or the address of the truth value that was read."""
        self._noted.append(launch)
        if len(self._noted) > self._most:
            self._noted.clear()
            self._replay, self.noting = None, False

    def end(self, values: tuple[Any, ...]) -> None:
        """Keep the program's numbers at the end of a step that is noted."""
        self.note((END, values, 0, 0))

    def made(self) -> bool:
        """Whether steps have been made just now; asked behind every step that another one follows."""
        self._count += 1
        if self._replay is None or self._count < self._before:
            return False
        self.noting = self._count < self._before + self._period
        if self.noting:
            return False
        steps, self.numbers, self.goes_on = self._replay(self._noted)
        self.turns = steps % self._period
        self._replay = None
        return True


class Steps:
    """The numbers of a loop whose launches are known when those of one period have been made.

    A program goes through them and, in each step, launches where `launching` says so and gives its launches to `note`
    where `noting` does.

    Parameters
    ----------
    numbers : range
        The loop's.
    period : int
        Steps after which the launches are the same again.
    counts : bool
        The program computes in every step, so it gets every number, also of steps whose launches are made.
    replay : callable or None
        Makes the launches of further steps; None where all are made by the program.
    most : int
        Launches of a period that are noted; those of a longer one are all made by the program.
    """

    __slots__ = ("_counts", "_most", "_noted", "_numbers", "_period", "_replay", "launching", "noting")

    def __init__(self, numbers: range, period: int, counts: bool, replay: Replay | None, most: int = 0):
        self._numbers, self._period, self._counts, self._replay, self._most = numbers, period, counts, replay, most
        self._noted: list[Any] = []
        self.noting = replay is not None
        self.launching = True

    def note(self, launch: Any) -> None:
        """Keep what was launched in the first period."""
        self._noted.append(launch)
        if len(self._noted) > self._most:
            self._noted.clear()
            self._replay, self.noting = None, False

    def end(self, values: tuple[Any, ...]) -> None:
        """Keep the program's numbers at the end of a step of the first period."""
        self.note((END, values, 0, 0))

    def __iter__(self) -> Iterator[int]:
        numbers = self._numbers
        if self._replay is not None:
            yield from numbers[: self._period]
            numbers = numbers[self._period :]
        if self._replay is not None:
            self.noting = False
            done = self._replay(self._noted, len(numbers))
            # Steps that are no whole periods leave memories in other places, which the program finds out.
            if self._counts or done % self._period:
                self.launching = False
                yield from numbers[:done]
                self.launching = True
            numbers = numbers[done:]
        yield from numbers
