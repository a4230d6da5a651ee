"""The steps of a loop of the host whose launches repeat: the first ones are made and noted, the others replayed at once.

What replays them is a graph of launches on a GPU (`pytocu.runtime.launch_graphs`) and a native function on a CPU
(`pytocu.runtime.native_steps`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

Replay = Callable[[Sequence[Any], int], int]
"""``replay(noted, left)`` makes steps of those that are left and says how many."""

WORTH, TRIES = 8, 3
"""Periods that are made at once, at least, for which one is noted again; and how often one is however few were made."""

FLAG, END = -1, -2
"""What is noted beside launches: the address of a truth value, and the end of a step."""

class Resumed:
    """How far a loop or branch has come in a step that is partly made, and those in that step, or in its sides.

    The program goes through what stands before, computes and launches nothing, until it comes to the loop in which work goes
    on; there `launching` is true again.

    Parameters
    ----------
    position : int
        The loop or branch, by its position in the plan.
    made, turns : int
        Its steps that have been made, and how often memories have to change places for that.
    numbers : tuple
        What it carries behind them.
    inner : dict of int to Resumed
        Loops of the step that is partly made, which have been gone through, the last one perhaps not to the end.
    """

    __slots__ = ("_inner", "last", "launching", "made", "numbers", "position", "turns")

    def __init__(
        self,
        position: int,
        made: int = 0,
        turns: int = 0,
        numbers: tuple[Any, ...] = (),
        inner: dict[int, Resumed] | None = None,
    ):
        self.position, self.made, self.turns, self.numbers = position, made, turns, numbers
        self._inner = inner or {}
        self.last, self.launching = False, not inner

    def of(self, position: int) -> Resumed:
        """How far a loop or branch in the step has come; asked where it begins."""
        found = self._inner.pop(position, BEGINS)
        self.launching = self.launching or found.last
        return found


BEGINS = Resumed(-1)
"""A loop of which no step has been made."""


class _Made(Resumed):
    """A step whose launches have been made, and those in it: the program computes what it needs of it and launches nothing."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(-1)
        self.launching = False

    def of(self, position: int) -> Resumed:
        """The same of a loop or branch in it."""
        return self


MADE = _Made()

Made = tuple[int, tuple[Any, ...], bool, Resumed | None]
"""Steps that were made, numbers behind them, whether others follow, and how far the next one has come."""


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
    grows : bool
        Whether the program makes a step that needs more memory, and others follow that are made at once.

    Attributes
    ----------
    turns : int
        How often memories have still to change places, when steps have been made.
    numbers : tuple
        The program's numbers behind them.
    goes_on : bool
        Whether another step follows.
    """

    __slots__ = (
        "_before", "_count", "_grows", "_most", "_noted", "_period", "_replay", "_resumed", "_tries", "goes_on", "noting",
        "numbers", "turns",
    )  # fmt: skip

    def __init__(
        self,
        period: int,
        before: int,
        replay: Callable[[Sequence[Any]], Made] | None,
        most: int,
        grows: bool = False,
    ):
        self._grows = grows
        self._period, self._before, self._replay, self._most = period, before, replay, most
        self._count = self._tries = self.turns = 0
        self.numbers: tuple[Any, ...] = ()
        self.goes_on = False
        self._noted: list[Any] = []
        self.noting = False
        self._resumed: Resumed | None = None

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
        steps, self.numbers, self.goes_on, self._resumed = self._replay(self._noted)
        self.turns = steps % self._period
        self._tries += 1
        self._noted.clear()
        if self._grows and _again(steps, self._period, self._tries):
            # What the program makes now is noted again: where a step needs more memory than those that were, it has that then.
            self._count, self.noting = self._before, True
        else:
            self._replay = None
        return True

    def go_on_in(self, resumed: Resumed | None) -> None:
        """State how far the next step has come."""
        self._resumed = resumed

    def resumed(self) -> Resumed:
        """How far the step has come that begins."""
        found, self._resumed = self._resumed or BEGINS, None
        return found


def _again(made: int, period: int, tries: int) -> bool:
    """Whether it pays to note another period, where a step needs more memory than those before."""
    return made >= WORTH * period or tries < TRIES


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
    moves : bool
        The program goes through no steps whose launches are made: it is told when some have been, and takes numbers and
        memories as they are behind them.
    grows : bool
        As of `Until`.

    Attributes
    ----------
    made : bool
        Steps have been made just now; the program takes this back.
    turns : int
        How often memories have still to change places then.
    numbers : tuple
        The program's numbers behind them, which `replay` states.
    """

    __slots__ = (
        "_counts", "_grows", "_most", "_moves", "_noted", "_numbers", "_period", "_replay", "_resumed", "launching", "made",
        "noting", "numbers", "turns",
    )  # fmt: skip

    def __init__(
        self,
        numbers: range,
        period: int,
        counts: bool,
        replay: Replay | None,
        most: int = 0,
        moves: bool = False,
        grows: bool = False,
    ):
        self._numbers, self._period, self._counts, self._replay, self._most = numbers, period, counts, replay, most
        self._noted: list[Any] = []
        self.noting = replay is not None
        self.launching = True
        self._moves, self._grows, self.made, self.turns = moves, grows, False, 0
        self.numbers: tuple[Any, ...] = ()
        self._resumed: Resumed | None = None

    def note(self, launch: Any) -> None:
        """Keep what was launched in the first period."""
        self._noted.append(launch)
        if len(self._noted) > self._most:
            self._noted.clear()
            self._replay, self.noting = None, False

    def end(self, values: tuple[Any, ...]) -> None:
        """Keep the program's numbers at the end of a step of the first period."""
        self.note((END, values, 0, 0))

    def go_on_in(self, resumed: Resumed | None) -> None:
        """State how far the next step has come."""
        if resumed is MADE:
            self._replay, self.noting, self.launching = None, False, False
        self._resumed = resumed

    def resumed(self) -> Resumed:
        """How far the step has come that begins."""
        found, self._resumed = self._resumed or BEGINS, None
        return found if self.launching else MADE

    def __iter__(self) -> Iterator[int]:
        numbers, tries = self._numbers, 0
        while self._replay is not None:
            self.noting = True
            yield from numbers[: self._period]
            numbers = numbers[self._period :]
            self.noting = False
            if self._replay is None:
                break
            done = self._replay(self._noted, len(numbers))
            if self._moves:
                self.made, self.turns = done > 0, done % self._period
            # Steps that are no whole periods leave memories in other places, which the program finds out.
            elif self._counts or done % self._period:
                self.launching = False
                yield from numbers[:done]
                self.launching = True
            numbers, tries = numbers[done:], tries + 1
            self._noted.clear()
            if not self._grows or len(numbers) <= WORTH * self._period or not _again(done, self._period, tries):
                break
        yield from numbers
