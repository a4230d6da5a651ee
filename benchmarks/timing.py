"""Host times of short calls: batches of every candidate take turns, and medians over the batches count."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from itertools import repeat
from typing import Any

from benchmarks.report import median

Batch = Callable[[], Any]
Prepare = Callable[[int], tuple[Batch, int]]
"""``prepare(round)`` gives what is timed and how many calls it makes."""


def repeated(function: Callable[[], Any], calls: int) -> Prepare:
    """The same call again and again."""

    def batch() -> None:
        for _ in repeat(None, calls):
            function()

    return lambda number: (batch, calls)


def over(function: Callable[..., Any], make: Callable[[int], Sequence[tuple[Any, ...]]]) -> Prepare:
    """A call of each tuple of arguments, which ``make(round)`` makes before the clock starts."""

    def prepare(number: int) -> tuple[Batch, int]:
        arguments = make(number)

        def batch() -> None:
            for given in arguments:
                function(*given)

        return batch, len(arguments)

    return prepare


def interleaved(candidates: Mapping[str, Prepare], finish: Callable[[], Any], rounds: int) -> dict[str, list[float]]:
    """Microseconds a call, a figure a round, for every candidate.

    Parameters
    ----------
    candidates : mapping of str to Prepare
        In each round each of them runs one batch, in this order and the reverse by turns.
    finish : callable
        Waits for the device; between batches and outside the clock.
    rounds : int
        The first one more is dropped.
    """
    times: dict[str, list[float]] = {name: [] for name in candidates}
    names = list(candidates)
    for number in range(rounds + 1):
        for name in names if number % 2 else reversed(names):
            batch, calls = candidates[name](number)
            finish()
            start = time.perf_counter()
            batch()
            spent = time.perf_counter() - start
            finish()
            if number:
                times[name].append(spent / calls * 1e6)
    return times


def rows_of(times: Mapping[str, Sequence[float]], unit: str, first: str) -> list[dict[str, Any]]:
    """Medians and minima, and multiples of the candidate `unit`; `first` names the first column."""
    scale = median(times[unit])
    return [
        {first: name, "median us": median(runs), "min us": min(runs), f"times {unit}": median(runs) / scale, "runs": list(runs)}
        for name, runs in times.items()
    ]
