"""Loops of launches on a CPU as calls of one native function, which makes all steps and knows no Python.

The function is `pytocu.backend.cpu_steps`; here stands the table that it takes.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Sequence
from functools import lru_cache
from math import prod
from time import perf_counter
from typing import Any

from pytocu.errors import NOTHING
from pytocu.ir.types import dtype_named
from pytocu.runtime import cuda, threads
from pytocu.runtime.host_loops import Made, Resumed, Steps, Until
from pytocu.runtime.loop_trees import Numbers
from pytocu.runtime.native_cells import WHOLE, Fetch, Launch
from pytocu.runtime.native_numbers import Written
from pytocu.runtime.plan import KernelSpec
from pytocu.runtime.plan_loops import Steady

NAME = "pytocu.steps"
"""Of the function in object code."""

MOST = 4096
"""Launches of a period; the loops in the steps of a longer one are native, and it is not."""

LEAST = 8
"""From so many periods on a loop is native: writing the table takes as long as a few launches."""

LEAST_OF_LOOPS = 2
"""The same of a loop with loops in its steps, where these differ from step to step."""

SOON = 2
"""Steps of a loop whose number nobody knows, before those of which the table is written."""

_LAUNCHES, _RECORDS, _YIELD, _MADE, _ENDED, _POWER, _NEXT, _FIRST, _WORDS = 16, 17, 18, 19, 20, 21, 22, 24, 8
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

SECONDS_TO_RETURN = 0.1
"""So often Python looks whether it was interrupted."""

_SMALLEST = 4096
"""Elements of a piece."""

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
    least = LEAST if loop.numbers is None or not loop.numbers.loop.inner else LEAST_OF_LOOPS
    return (least + 1) * loop.period


class NativeLoop:
    """One loop of a plan.

    Parameters
    ----------
    loop : Steady
    kernels : sequence of KernelSpec
        Of the plan.
    natives : sequence of callable
        The same as :func:`threads.native` gives them.
    driver : callable
        The function that makes the steps, likewise.
    """

    def __init__(self, loop: Steady, kernels: Sequence[KernelSpec], natives: Sequence[Any], driver: Any):
        self.loop, self._kernels, self._natives, self._driver = loop, kernels, natives, driver
        # A table that nobody uses now: writing one anew takes longer than many a loop.
        self._spare: dict[int, Computed] = {}

    def steps(self, numbers: range, alone: bool) -> Steps:
        """The steps of the loop; where they are not alone, a loop around them notes their launches."""
        loop, start = self.loop, perf_counter()

        def replay(noted: Sequence[Noted], left: int) -> int:
            if loop.numbers is not None:
                count, made.numbers, _, resumed = self._computed(loop.numbers, noted, numbers[len(numbers) - left :])
                made.go_on_in(resumed)
                return count
            return self._replay(noted, left, perf_counter() - start)

        replayed = alone and len(numbers) >= least_steps(loop)
        moves = loop.numbers is not None and loop.numbers.whole
        made = Steps(numbers, loop.period, loop.counts, replay if replayed else None, MOST, moves, moves and self._grows())
        return made

    def _grows(self) -> bool:
        """Whether steps that the program makes may be followed by others that are made at once."""
        return self.loop.numbers is not None and bool(self.loop.numbers.rooms or self.loop.numbers.loop.inner)

    def _computed(self, numbers: Numbers, noted: Sequence[Noted], counter: range | None) -> Made:
        """Make steps whose launches take numbers that differ: those of a range, or until a truth value is false.

        A number that is one that only Python has ends them, too.
        """
        values = noted[-1][1]
        kinds = tuple(map(type, values[: len(numbers.given)]))
        # Nobody else uses it meanwhile.
        made = self._spare.pop(0, None)
        if made is None or made.kinds != kinds:
            made = Computed(_OnCpu(self._kernels, self._natives), self._driver, numbers, kinds)
        steps, ended = made.steps(values, counter)
        carried = made.carried() if steps else values[: len(numbers.carried)]
        self._spare[0] = made
        return steps, carried, not ended, made.resumed()

    def until(self) -> Until:
        """The steps of the loop, which ends when a truth value says so."""

        def replay(noted: Sequence[Noted]) -> Made:
            if self.loop.numbers is not None:
                return self._computed(self.loop.numbers, noted, None)
            return self._to_the_end(noted), (), False, None

        return Until(self.loop.period, SOON, replay, MOST, self._grows())

    def _to_the_end(self, noted: Sequence[Noted]) -> int:
        """Make steps until a truth value that was noted is false; how many."""
        launches = [(self._natives[n], *launch) if n >= 0 else (None, (0, launch[0])) for n, *launch in noted]
        table = _Table(self._driver, launches)
        seconds = table.run(1, 0)
        helpers = min(threads.others(), int(seconds / len(noted) / _SECONDS_TO_MEET))
        periods = 0
        while not table.ended():
            periods += table.words[_MADE] // len(noted)
            count = max(1, int(SECONDS_TO_RETURN / max(seconds, 1e-9)))
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
        until_return = _SECONDS_TO_DECIDE if alone else SECONDS_TO_RETURN
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
            until_return = SECONDS_TO_RETURN
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


class Computed:
    """A loop whose kernels take numbers that differ from step to step, with what computes these.

    Parameters
    ----------
    where : object
        What runs launches, as :class:`_OnCpu`.
    driver : callable
        The function that makes the steps.
    numbers : Numbers
    kinds : tuple of type
        The classes of `Numbers.given`.
    """

    def __init__(self, where: Any, driver: Any, numbers: Numbers, kinds: tuple[type, ...]):
        self.kinds, self._numbers, self.where = kinds, numbers, where
        cells = self.cells = Written(numbers, where.kernels, kinds, where.on_gpu)
        self._usable = cells.usable and len(cells.records) <= _MOST_RECORDS
        self._stopped = -1
        if not self._usable:
            return
        cells.allocate()
        self.slots = [where.slots(launch) for launch in cells.launches]
        records: list[Any] = [
            (where.native(cells.launches[item]), self.slots[item], 0, 0) if isinstance(item, int) else (None, ())
            for item in cells.records
        ]
        table = self.table = _Table(driver, records)
        where.begin(self)
        for n, item in enumerate(cells.records):
            if isinstance(item, Fetch):
                table.state(n, where.fetch(item, self.address))
            elif not isinstance(item, int):
                code, to, x, y, least, most = item
                table.state(n, (code, self.address(to), self.address(x), self.address(y), least, most))

    def address(self, place: Any) -> int:
        """Where a cell is, or a word of the slots or of the record of a launch."""
        match place:
            case ("slots", launch, word):
                return ctypes.addressof(self.slots[launch]) + 8 * (self.where.head + word)
            case ("record", launch, word):
                return self.table.address + 8 * (_FIRST + _WORDS * self.cells.launches[launch].record + word)
        return self.cells.address + 8 * place

    def launched(self, launch: Launch, size: int, pieces: int) -> None:
        """Write the record of a launch, but how many iterations it has."""
        first = _FIRST + _WORDS * launch.record
        native, slots, *_ = self.table.launches[launch.record]
        self.table.state(launch.record, (native.address, ctypes.addressof(slots), self.table.words[first + 2], size, pieces))

    def iterations(self, launch: Launch) -> int:
        """How many iterations a launch has as it is now."""
        return self.table.words[_FIRST + _WORDS * launch.record + 2]

    def carried(self) -> tuple[Any, ...]:
        """The numbers that the next step begins with."""
        return self.cells.carried()

    def resumed(self) -> Resumed | None:
        """Where Python goes on in the step that was not made to its end."""
        return self.cells.resumed(self._stopped) if self._stopped >= 0 else None

    def steps(self, values: Sequence[Any], counter: range | None) -> tuple[int, bool]:
        """Make the steps of a range, or all; how many, and whether a truth value has ended them."""
        numbers, cells = self._numbers, self.cells
        self._stopped = -1
        # Behind what has places stand the shapes of memory that a step makes for itself, and that memory.
        *known, shapes, _ = values
        if not self._usable or not cells.start(known, [prod(shape) for shape in shapes], counter):
            return 0, False
        fixed = known[len(known) - len(numbers.fixed) :]
        for launch, slots in zip(cells.launches, self.slots, strict=True):
            for position, number in launch.fixed:
                _code_of(launch.spec.parameters[position]).pack_into(slots, 8 * (self.where.head + position), fixed[number])
        self.table.words[_NEXT] = 0
        self.where.run(self)
        if self.table.words[_ENDED] == _REFUSED:
            self._stopped = self.table.words[_NEXT]
            return cells.made(), False
        return cells.made(), counter is None

    @property
    def stopped_at(self) -> int:
        """The record that was gone through last."""
        return self.table.words[_NEXT]


class _OnCpu:
    """Launches as calls of native functions, in pieces for several threads."""

    on_gpu, head = False, 0

    def __init__(self, kernels: Sequence[KernelSpec], natives: Sequence[Any]):
        self.kernels, self._natives = kernels, natives

    def slots(self, launch: Launch) -> Any:
        """Memory for the parameters of a launch."""
        return (ctypes.c_int64 * max(len(launch.spec.parameters), 1))()

    def native(self, launch: Launch) -> Any:
        """What a launch calls."""
        return self._natives[launch.kernel]

    def begin(self, loop: Computed) -> None:
        """Nothing is to be written before it is known how many threads there are."""

    def run(self, loop: Computed) -> None:
        """Go through the records until the loop has ended, with as many threads as help."""
        table, cells = loop.table, loop.cells
        helpers, count = 0, max(len(cells.records), 1)
        while True:
            self._share(loop, helpers)
            spent = table.go(count, helpers)
            if table.ended():
                return
            if spent < _SECONDS_TO_TRY and not helpers:
                # Mostly the call itself: a few steps more say what they take.
                count *= 8
                continue
            seconds = spent / count
            helpers = min(threads.others(), int(seconds * len(cells.records) / len(cells.launches) / _SECONDS_TO_MEET))
            count = max(1, int(SECONDS_TO_RETURN / max(seconds, 1e-9)))

    def _share(self, loop: Computed, helpers: int) -> None:
        """Cut launches into pieces for so many threads beside the calling one: as what has been computed last says."""
        for launch in loop.cells.launches:
            work, cost = (loop.cells.number(place) for place in (launch.work, launch.cost))
            size = _size_of_piece(work, max(cost, 1), helpers)
            loop.cells.cut(launch, size)
            loop.launched(launch, size, -(-loop.iterations(launch) // size))


@lru_cache
def _code_of(word: str) -> struct.Struct:
    """How a number lies in a slot."""
    return struct.Struct("=q" if word == "index" else f"={cuda.PARAMETER_CODES[dtype_named(word)]}")


def _size_of_piece(work: int, cost: int, helpers: int) -> int:
    """How many iterations a piece has for so many threads beside the calling one."""
    pieces = min(_PIECES * (helpers + 1), work * cost // _SMALLEST, work) if helpers else 1
    if pieces <= 1:
        return WHOLE
    size = -(-work // pieces)
    return -(-size // _LINE) * _LINE if size >= _LINE else size


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
            if native is not None:
                work, cost = rest
                size = _size_of_piece(work, cost, helpers)
                at = threads.address_of(slots) if isinstance(slots, bytes) else ctypes.addressof(slots)
                self.state(number, (native.address, at, work, size, -(-work // size)))

    def ended(self) -> bool:
        """Whether a truth value has ended the loop."""
        return self.words[_ENDED] != 0

    def run(self, periods: int, helpers: int) -> float:
        """Make periods; how many seconds that took."""
        if helpers != self.helpers:
            self.share(helpers)
        return self.go(periods * len(self.launches), helpers)

    def go(self, records: int, helpers: int) -> float:
        """Go through so many records; how many seconds that took."""
        # Until the first launch is shared, the empty one is under way.
        self.words[0] = len(self.launches) << 16
        self.words[_LAUNCHES], self.words[_ENDED] = records, 0
        start = perf_counter()
        if helpers:
            threads.together(self.driver, self.address, helpers)
        else:
            self.driver(self.address, 0, 1)
        return perf_counter() - start
