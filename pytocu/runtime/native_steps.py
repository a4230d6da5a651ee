"""Loops of launches on a CPU as calls of one native function, which makes all steps and knows no Python.

The function is `pytocu.backend.cpu_steps`; here stands the table that it takes.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from functools import lru_cache, partial
from math import prod
from time import perf_counter
from typing import Any

from pytocu.errors import NOTHING
from pytocu.ir.dims import evaluate, symbols
from pytocu.runtime import threads
from pytocu.runtime.host_loops import END, FLAG, Made, Steps, Until
from pytocu.runtime.native_numbers import Cells, Operation
from pytocu.runtime.plan_loops import Numbers, Steady

NAME = "pytocu.steps"
"""Of the function in object code."""

MOST = 4096
"""Launches of a period; the loops in the steps of a longer one are native, and it is not."""

LEAST = 8
"""From so many periods on a loop is native: writing the table takes as long as a few launches."""

SOON = 2
"""Steps of a loop whose number nobody knows, before those of which the table is written."""

_LAUNCHES, _RECORDS, _YIELD, _MADE, _ENDED, _POWER, _FIRST, _WORDS = 16, 17, 18, 19, 20, 21, 24, 8
_REFUSED = 2
"""How it ended where a number is one that only Python has."""

_MOST_RECORDS = 2**16 - 2
_LINE = 64
"""Bytes of a line of a cache."""

_SECONDS_TO_MEET = 4e-6
"""Handing out the pieces of a launch and waiting for all takes a good part of this."""

_SECONDS_TO_TRY = 100e-6
"""A launch that took less with Python around it is timed once more without."""

_TRIALS = 3
_SECONDS_TO_DECIDE = 2e-3
"""After which it is seen whether other threads help."""

_SECONDS_TO_RETURN = 0.1
"""So often Python looks whether it was interrupted."""

_SMALLEST = 4096
"""Elements of a piece."""

_WHOLE = 2**62
"""Iterations of a piece that a launch is not cut into."""

_PIECES = 4
"""Pieces a thread, so that a thread that comes late or runs slowly holds nobody up."""

_TO_WORD = 17
"""The operation that copies a number, which has to be one of a range."""

Noted = tuple[int, Any, int, int]
"""A launch: the number of the kernel, its slots, iterations, elements of one; or `FLAG` and the address of a truth value; or
`END` of a step and what the program knows there."""


@lru_cache(maxsize=2)
def _address_of(name: str) -> int:
    """A function of the C library."""
    address = ctypes.cast(getattr(ctypes.CDLL(None), name), ctypes.c_void_p).value
    assert address is not None
    return address


def least_steps(loop: Steady) -> int:
    """From how many steps on a loop is native: one period is launched before.

    Examples
    --------
    >>> least_steps(Steady(2, 1))
    18
    """
    return (LEAST + 1) * loop.period


class NativeLoop:
    """One loop of a plan.

    Parameters
    ----------
    loop : Steady
    natives : sequence of callable
        The kernels of the plan, as :func:`threads.native` gives them.
    driver : callable
        The function that makes the steps, likewise.
    """

    def __init__(self, loop: Steady, natives: Sequence[Any], driver: Any):
        self.loop, self._natives, self._driver = loop, natives, driver
        # A table that nobody uses now: writing one anew takes longer than many a loop.
        self._spare: dict[int, _Computed] = {}

    def steps(self, numbers: range, alone: bool) -> Steps:
        """The steps of the loop; where they are not alone, a loop around them notes their launches."""
        loop, start = self.loop, perf_counter()

        def replay(noted: Sequence[Noted], left: int) -> int:
            if loop.numbers is not None:
                count, made.numbers, _ = self._computed(loop.numbers, noted, numbers[len(numbers) - left :])
                return count
            return self._replay(noted, left, perf_counter() - start)

        replayed = alone and len(numbers) >= least_steps(loop)
        moves = loop.numbers is not None and loop.numbers.whole
        grows = loop.numbers is not None and moves and bool(loop.numbers.rooms)
        made = Steps(numbers, loop.period, loop.counts, replay if replayed else None, MOST, moves, grows)
        return made

    def _computed(self, numbers: Numbers, noted: Sequence[Noted], counter: range | None) -> Made:
        """Make steps whose launches take numbers that differ: those of a range, or until a truth value is false.

        A number that is one that only Python has ends them, too.
        """
        made = self._table_for(numbers, noted)
        values = noted[-1][1]
        steps, ended = made.steps(self.loop.period, noted, values, counter)
        carried = made.carried() if steps else values[: len(numbers.carried)]
        self._spare[0] = made
        return steps, carried, not ended

    def _table_for(self, numbers: Numbers, noted: Sequence[Noted]) -> _Computed:
        """A table for the launches of a period, which nobody else uses meanwhile."""
        kinds = tuple(map(type, noted[-1][1][: len(numbers.given)]))
        key = kinds, tuple(launch[0] for launch in noted)
        made = self._spare.pop(0, None)
        if made is None or made.key != key:
            made = _Computed(self._driver, self._natives, numbers, noted, key)
        return made

    def until(self) -> Until:
        """The steps of the loop, which ends when a truth value says so."""

        def replay(noted: Sequence[Noted]) -> Made:
            if self.loop.numbers is not None:
                return self._computed(self.loop.numbers, noted, None)
            return self._to_the_end(noted), (), False

        grows = self.loop.numbers is not None and bool(self.loop.numbers.rooms)
        return Until(self.loop.period, SOON, replay, MOST, grows)

    def _to_the_end(self, noted: Sequence[Noted]) -> int:
        """Make steps until a truth value that was noted is false; how many."""
        launches = [(self._natives[n], *launch) if n >= 0 else (None, (0, launch[0])) for n, *launch in noted]
        table = _Table(self._driver, launches)
        seconds = table.run(1, 0)
        helpers = min(threads.others(), int(seconds / len(noted) / _SECONDS_TO_MEET))
        periods = 0
        while not table.ended():
            periods += table.words[_MADE] // len(noted)
            count = max(1, int(_SECONDS_TO_RETURN / max(seconds, 1e-9)))
            seconds = table.run(count, helpers) / max(1, table.words[_MADE] // len(noted))
        gone = table.words[_MADE]
        ends = [place for place, (number, *_) in enumerate(noted) if number < 0]
        return (periods + gone // len(noted)) * self.loop.period + sum(place < gone % len(noted) for place in ends)

    def _replay(self, noted: Sequence[Noted], left: int, seconds: float) -> int:
        """Make whole periods; the one that was noted took so many seconds."""
        period = self.loop.period
        periods, done = left // period, 0
        if not noted:
            return periods * period
        spare = ctypes.c_int64()
        records = self._records(noted, ctypes.addressof(spare))
        if records is None:
            return 0
        table = _Table(self._driver, records)
        alone = 0.0
        if seconds < _SECONDS_TO_TRY * len(noted):
            tried: list[float] = []
            while done < min(_TRIALS, periods):
                tried.append(table.run(1, 0))
                if table.ended():
                    return done * period
                done += 1
            seconds = alone = min(tried)
        helpers = min(threads.others(), int(seconds / len(noted) / _SECONDS_TO_MEET))
        until_return = _SECONDS_TO_DECIDE if alone else _SECONDS_TO_RETURN
        while done < periods:
            count = min(periods - done, max(1, int(until_return / max(seconds, 1e-9))))
            seconds = table.run(count, helpers) / count
            if table.ended():
                # Python makes the step again, and finds what was noted of the data.
                return (done + table.words[_MADE] // len(records)) * period
            done += count
            if alone and seconds > alone:
                # Others need the CPUs.
                helpers = 0
            until_return = _SECONDS_TO_RETURN
        return periods * period

    def _records(self, noted: Sequence[Noted], spare: int) -> list[tuple[Any, ...]] | None:
        """The launches of a period, with what is looked at behind them; None where some were left out."""
        loop, size = self.loop, len(self.loop.kernels)
        if loop.words and tuple(n for n, *_ in noted) != loop.kernels * loop.period:
            return None
        records: list[tuple[Any, ...]] = []
        for k, (number, slots, work, cost) in enumerate(noted):
            records.append((self._natives[number], slots, work, cost))
            for behind, (launch, parameter, at) in loop.words:
                if behind == k % size + 1:
                    word = _pointer(noted[k - k % size + launch][1], parameter) + 8 * at
                    records.append((None, (_TO_WORD, spare, word, word, NOTHING, NOTHING)))
        return records


def _pointer(slots: Any, parameter: int) -> int:
    """What a launch is given as a parameter."""
    return int.from_bytes(bytes(slots)[8 * parameter : 8 * parameter + 8], sys.byteorder)


class _Computed:
    """Launches that take numbers which differ from step to step, with what computes these.

    Parameters
    ----------
    driver, natives
        As of :class:`NativeLoop`.
    numbers : Numbers
    noted : sequence
        The launches of a period and, behind those of each step, what the program knows there.
    key : tuple
        What it can be used for again: loops with numbers of these classes and these launches.
    """

    def __init__(self, driver: Any, natives: Sequence[Any], numbers: Numbers, noted: Sequence[Noted], key: Any):
        self.key, self._numbers = key, numbers
        cells = self._cells = Cells(numbers, key[0])
        ends = [place for place, (number, *_) in enumerate(noted) if number == END]
        # The slots are this table's own, since the program has new ones for each launch.
        slots = {k: (ctypes.c_char * len(launch[1]))() for k, launch in enumerate(noted) if launch[0] >= 0}
        self._slots, self._launches = slots, {}
        records: list[Any] = []
        operations: dict[int, Operation] = {}

        def compute(listed: Sequence[Operation]) -> None:
            for operation in listed:
                operations[len(records)] = operation
                records.append((None, ()))

        self._behind: list[int] = []
        self._flags: dict[int, int] = {}
        for begin, end in zip([0, *(place + 1 for place in ends)], ends, strict=False):
            for part in cells.around({k: noted[k][0] for k in range(begin, end) if noted[k][0] != FLAG}):
                if isinstance(part, list):
                    compute(part)
                else:
                    self._launches[part] = len(records)
                    records.append((natives[noted[part][0]], slots[part], 0, 0))
            compute(cells.behind())
            for k in (k for k in range(begin, end) if noted[k][0] == FLAG):
                self._flags[len(records)] = k
                records.append((None, ()))
            self._behind.append(len(records))
        self._usable = cells.usable and len(records) <= _MOST_RECORDS
        cells.allocate()
        table = self._table = _Table(driver, records)

        def address(place: Any) -> int:
            match place:
                case ("slots", launch, word, _):
                    return ctypes.addressof(slots[launch]) + 8 * word
                case ("record", launch, word, _):
                    return table.address + 8 * (_FIRST + _WORDS * self._launches[launch] + word)
                case ("memory", *_):
                    # Other calls have other memory.
                    return 0
            return cells.address + 8 * place

        for n, (code, to, x, y, least, most) in operations.items():
            table.state(n, (code, address(to), address(x), address(y), least, most))
        self._memory = {n: operation[2][1:] for n, operation in operations.items() if isinstance(operation[2], tuple)}

    def carried(self) -> tuple[Any, ...]:
        """The numbers that the next step begins with."""
        return self._cells.carried()

    def steps(self, period: int, noted: Sequence[Noted], values: Sequence[Any], counter: range | None) -> tuple[int, bool]:
        """Make the steps of a range, or all; how many, and whether a truth value has ended them."""
        table, numbers = self._table, self._numbers
        # Behind numbers and lengths stand the shapes of memory that a step makes for itself, and that memory.
        fixed = len(numbers.given) + len(numbers.lengths)
        ends = [given for number, given, *_ in noted if number == END]
        rooms = [min(prod(shape) for shape in shapes) for shapes in zip(*(given[fixed] for given in ends), strict=True)]
        if not self._usable or not self._cells.start(values[:fixed], rooms, counter):
            return 0, False
        known = dict(zip(numbers.lengths, values[len(numbers.given) : fixed], strict=True))
        found = {read.name for read in numbers.reads} | {name for _, names, _ in numbers.binds for name in names}
        numbered = [] if counter is None else [counter[0], counter[-1]]
        spans = [{**known, **dict(zip(numbers.names, (n, -n), strict=False))} for n in numbered] or [known]
        for k, place in self._launches.items():
            number, given, work, cost = noted[k]
            ctypes.memmove(self._slots[k], given, len(given))
            cut = None
            if number in numbers.work:
                # Of what is read in each step there is one example.
                example = work, cost
                work, cost = (
                    max(1, *(n if set(symbols(dim)) & found else evaluate(dim, sizes) for sizes in spans))
                    for n, dim in zip(example, numbers.work[number], strict=True)
                )
                cut = partial(self._cells.cut, k)
            table.launches[place] = (*table.launches[place][:2], work, cost, cut)
        for n, (k, parameter, at) in self._memory.items():
            pointer = _pointer(noted[k][1], parameter) + 8 * at
            first = _FIRST + _WORDS * n
            table.words[first + 2] = table.words[first + 3] = pointer
        for n, k in self._flags.items():
            table.state(n, (0, noted[k][1]))
        table.share(0)
        made, helpers, count = 0, 0, 1
        while counter is None or made + period <= len(counter):
            count = count if counter is None else min((len(counter) - made) // period, count)
            spent = table.run(count, helpers)
            seconds = spent / count
            gone, size = table.words[_MADE], len(table.launches)
            made += gone // size * period + sum(place <= gone % size for place in self._behind)
            if table.ended():
                return made, table.words[_ENDED] != _REFUSED
            if spent < _SECONDS_TO_TRY and not helpers:
                # Mostly the call itself: a few steps more say what they take.
                count *= 8
                continue
            helpers = min(threads.others(), int(seconds / len(self._launches) / _SECONDS_TO_MEET))
            count = max(1, int(_SECONDS_TO_RETURN / max(seconds, 1e-9)))
        return made, False


class _Table:
    """What the native function reads; see `pytocu.backend.cpu_steps`."""

    def __init__(self, driver: Any, launches: list[tuple[Any, ...]]):
        self.driver = driver
        self.launches = launches
        # Behind the records stands an empty one, which has no pieces to take.
        size = _FIRST + _WORDS * (len(launches) + 1)
        # What threads write often has lines of its own.
        self.memory = (ctypes.c_char * (8 * size + _LINE))()
        self.address = -(-ctypes.addressof(self.memory) // _LINE) * _LINE
        self.words = (ctypes.c_int64 * size).from_address(self.address)
        self.words[_RECORDS] = len(launches)
        self.words[_YIELD], self.words[_POWER] = _address_of("sched_yield"), _address_of("pow")
        self.helpers = -1
        for number, (native, slots, *_) in enumerate(launches):
            if native is None:
                self.state(number, slots)

    def state(self, number: int, words: Sequence[int]) -> None:
        """Write a record that is no launch."""
        first = _FIRST + _WORDS * number
        self.words[first : first + len(words)] = words

    def share(self, helpers: int) -> None:
        """Cut launches into pieces for so many threads beside the calling one."""
        self.helpers = helpers
        for number, (native, slots, *rest) in enumerate(self.launches):
            first = _FIRST + _WORDS * number
            if native is None:
                continue
            work, cost, *cut = rest
            pieces = min(_PIECES * (helpers + 1), work * cost // _SMALLEST, work) if helpers else 1
            size = -(-work // max(pieces, 1))
            if size >= _LINE:
                size = -(-size // _LINE) * _LINE
            if cut and cut[0] is not None:
                # The number of pieces is computed in each step.
                cut[0](size if pieces > 1 else _WHOLE)
            at = threads.address_of(slots) if isinstance(slots, bytes) else ctypes.addressof(slots)
            record = native.address, at, work, size, -(-work // size)
            self.words[first : first + len(record)] = record

    def ended(self) -> bool:
        """Whether a truth value has ended the loop."""
        return self.words[_ENDED] != 0

    def run(self, periods: int, helpers: int) -> float:
        """Make periods; how many seconds that took."""
        if helpers != self.helpers:
            self.share(helpers)
        # Until the first launch is shared, the empty one is under way.
        self.words[0] = len(self.launches) << 16
        self.words[_LAUNCHES], self.words[_ENDED] = periods * len(self.launches), 0
        start = perf_counter()
        if helpers:
            threads.together(self.driver, self.address, helpers)
        else:
            self.driver(self.address, 0, 1)
        return perf_counter() - start
