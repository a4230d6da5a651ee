"""Python's numbers and lengths that change from step to step of a native loop, as operations of `pytocu.backend.cpu_steps`.

In: what a plan computes of the counter, of carried numbers and of lengths.  Out: for each step of a period what stands before
its launches (the numbers, where kernels read them, how many iterations there are) and behind them (the next step's numbers).
Python's ints have no bounds and some of its operations raise, and lengths may not fit together: where a number is none of
int64 or Python would raise, the native function stops before the step, and Python makes it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pytocu.errors import NOTHING
from pytocu.ir.dims import Atom, Dim, DimLike, symbols
from pytocu.runtime.plan_loops import Bounds, Numbers

_INTEGERS = {"add": 1, "subtract": 2, "multiply": 3, "floor_divide": 4, "remainder": 5}
_FLOATS = {"add": 6, "subtract": 7, "multiply": 8, "divide": 9, "power": 26}
_COMPARED = {"less": 20, "less_equal": 21, "equal": 22, "greater": 20, "greater_equal": 21, "not_equal": 22}
_FLOATS_COMPARED = 3
"""What is added for floats."""
_ENDS = 0
_OF_LENGTHS = {"//": 4, "%": 5, "max": 18, "min": 19}
_TO_FLOAT, _COPY, _NEGATIVE, _TO_SINGLE, _TO_BYTES = 10, 11, 12, 13, {1: 14, 2: 15, 4: 16, 8: 17}
_MOST = 2**63 - 1
_MOST_EXACT = 2**53
"""Ints up to here are floats as well."""
_MOST_PIECES = 2**16 - 1

Place = int | tuple[str, int, int, int]
"""A cell, or a word of the ``slots`` or of the ``record`` of a launch of the step, by its number there, and 0; or of the
``memory`` that a parameter of a launch points to: the parameter and the word."""

Operation = tuple[int, Place, Place, Place, int, int]
"""What is done, where to, two operands, and the least and most that it may be."""


class Cells:
    """Memory for the numbers of a loop, and the operations on it.

    Parameters
    ----------
    numbers : Numbers
    kinds : sequence of type
        The classes of what the program knows before a step, as `Numbers.given`.

    Attributes
    ----------
    usable : bool
        Whether all of them are int64 or float64, and stay what they are.
    """

    def __init__(self, numbers: Numbers, kinds: Sequence[type]):
        self._numbers = numbers
        self._kinds: dict[int, type] = dict(zip(numbers.given, kinds, strict=False))
        if numbers.counter >= 0:
            self._kinds[numbers.counter] = int
        self._constants: dict[int, int] = {}
        self._size = 0
        self.usable = all(kind in (int, float, bool) for kind in self._kinds.values())
        self._places = {slot: self._spare() for slot in self._kinds}
        self._lengths = {name: self._spare() for name in numbers.lengths}
        self._step, self._single = self._spare(), self._spare()
        self._known: dict[DimLike, int] = {}
        # What stands behind so many launches of a step; the last list is the one that is written.
        self._before: list[Operation] = []
        self._stages: list[tuple[int, list[Operation]]] = [(0, self._before)]
        self._work: dict[int, int] = {}
        self._checked: set[Bounds] = set()
        counter = self._places.get(numbers.counter, -1)
        for name, negated in zip(numbers.names, (False, True), strict=False):
            place = self._emit(_INTEGERS["subtract"], self._constant(0), counter) if negated else counter
            self._lengths[name] = self._emit(_OF_LENGTHS["max"], place, self._constant(0))
        self._rooms = [self._spare() for _ in numbers.rooms]
        self._roomy: set[int] = set()
        waiting = {read.name for read in numbers.reads} | {name for _, names, _ in numbers.binds for name in names}
        self._settle(waiting)
        for made, name, sources in numbers.computed:
            self._compute(made, name, sources)
        self._settle(waiting)
        for read in numbers.reads:
            self._before = []
            self._stages.append((read.behind, self._before))
            place = self._lengths[read.name] = self._spare()
            most = _MOST if read.limit is None else read.limit
            self._before.append(self._bounded(place, ("memory", *read.where), 0, most))
            waiting.discard(read.name)
            self._settle(waiting)
        for behind, where in numbers.words:
            nothing = self._bounded(self._spare(), ("memory", *where), NOTHING, NOTHING)
            self._stages.append((behind, [nothing]))
        self._pieces: dict[int, tuple[int, int]] = {}
        self._behind = self._next()

    def _settle(self, waiting: set[str]) -> None:
        """Compute the lengths that are made of known ones: first those that may say that there is no such step."""
        numbers = self._numbers
        left = -1
        # A number that has a name may be made of lengths, and these of other names.
        while left != len(waiting):
            left = len(waiting)
            for slot, names, length in numbers.binds:
                if slot in self._places and names[0] in waiting and waiting.isdisjoint(symbols(length or 0)):
                    self._bind(self._places[slot], names, length)
                    self.usable = self.usable and self._kinds[slot] is int
                    waiting.difference_update(names)
            for dim, least, most in numbers.checks:
                if (dim, least, most) not in self._checked and waiting.isdisjoint(symbols(dim)):
                    self._checked.add((dim, least, most))
                    self._before.append(self._bounded(self._spare(), self._dim(dim), least, _MOST if most is None else most))
            for room, (slot, dim) in zip(self._rooms, numbers.rooms, strict=True):
                if slot not in self._roomy and waiting.isdisjoint(symbols(dim)):
                    self._roomy.add(slot)
                    enough = self._emit(_COMPARED["less_equal"], self._dim(dim), room)
                    self._before.append(self._bounded(self._spare(), enough, 1, 1))
            for slot, dim in numbers.dims.items():
                if slot not in self._places and waiting.isdisjoint(symbols(dim)):
                    self._kinds[slot], self._places[slot] = int, self._dim(dim)
            for number, (dim, _) in numbers.work.items():
                if number not in self._work and waiting.isdisjoint(symbols(dim)):
                    self._work[number] = self._dim(dim)

    def _bind(self, place: int, names: Sequence[str], length: DimLike | None) -> None:
        """Give a number its names."""
        zero = self._constant(0)
        if length is None:
            below = self._emit(_INTEGERS["subtract"], zero, place)
            for name, one in zip(names, (place, below), strict=False):
                self._lengths[name] = self._emit(_OF_LENGTHS["max"], one, zero)
            return
        size = self._dim(length)
        negative = self._emit(_COMPARED["less"], place, zero)
        more = self._emit(_INTEGERS["multiply"], negative, size)
        position = self._emit(_OF_LENGTHS["max"], self._emit(_INTEGERS["add"], place, more), zero)
        self._lengths[names[0]] = self._emit(_OF_LENGTHS["min"], position, size)

    def _spare(self) -> int:
        self._size += 1
        return self._size - 1

    def _constant(self, value: int) -> int:
        if value not in self._constants:
            self._constants[value] = self._spare()
        return self._constants[value]

    def _emit(self, code: int, x: int, y: int) -> int:
        made = self._spare()
        self._before.append((code, made, x, y, 0, 0))
        return made

    def _bounded(self, to: Place, place: Place, least: int, most: int) -> Operation:
        return _TO_BYTES[8], to, place, place, least, most

    def _dim(self, dim: DimLike) -> int:
        """The cell of a length."""
        if not isinstance(dim, Dim):
            return self._constant(dim)
        if dim not in self._known:
            total: int | None = None
            for monomial, coefficient in dim.terms:
                factors = [self._atom(a) for a in monomial]
                if coefficient != 1 or not factors:
                    factors.insert(0, self._constant(coefficient))
                term = factors[0]
                for factor in factors[1:]:
                    term = self._emit(_INTEGERS["multiply"], term, factor)
                total = term if total is None else self._emit(_INTEGERS["add"], total, term)
            assert total is not None
            self._known[dim] = total
        return self._known[dim]

    def _atom(self, atom: Atom) -> int:
        if not atom.args:
            return self._lengths[atom.name]
        a, b = (self._dim(x) for x in atom.args)
        return self._emit(_OF_LENGTHS[atom.name], a, b)

    def _operand(self, slot: int, as_float: bool) -> int:
        """The cell of a number, as a float where it is to be one."""
        place = self._places[slot]
        return self._emit(_TO_FLOAT, place, place) if as_float and self._kinds[slot] is not float else place

    def _compute(self, made: int, name: str, sources: Sequence[int]) -> None:
        kinds = [self._kinds[s] for s in sources]
        as_float = float in kinds
        if name in _COMPARED:
            self._compare(made, name, sources)
            return
        if bool in kinds:
            self.usable = False
        if (name == "divide" and not as_float) or (name in ("floor_divide", "remainder") and as_float):
            # Python divides ints exactly and rounds once, and floats have a remainder of their own.
            self.usable = False
        if name == "positive":
            self._kinds[made], self._places[made] = kinds[0], self._places[sources[0]]
            return
        self._kinds[made] = float if as_float else int
        operands = [self._operand(s, as_float) for s in sources]
        if name == "negative":
            zero = operands[0] if as_float else self._constant(0)
            self._places[made] = self._emit(_NEGATIVE if as_float else _INTEGERS["subtract"], zero, operands[0])
            return
        if name == "power" and not as_float:
            # Of ints squares alone; others are Python's.
            self._before.append(self._bounded(self._spare(), operands[1], 2, 2))
            self._places[made] = self._emit(_INTEGERS["multiply"], operands[0], operands[0])
            return
        code = (_FLOATS if as_float else _INTEGERS).get(name)
        self.usable = self.usable and code is not None
        self._places[made] = self._emit(code or 0, operands[0], operands[1])

    def _compare(self, made: int, name: str, sources: Sequence[int]) -> None:
        kinds = [self._kinds[s] for s in sources]
        as_float = float in kinds
        operands: list[int] = []
        for slot, kind in zip(sources, kinds, strict=True):
            if as_float and kind is not float:
                # Python compares an int with a float exactly.
                self._before.append(self._bounded(self._spare(), self._places[slot], -_MOST_EXACT, _MOST_EXACT))
            operands.append(self._operand(slot, as_float))
        if name.startswith("greater"):
            operands.reverse()
        place = self._emit(_COMPARED[name] + as_float * _FLOATS_COMPARED, *operands)
        if name == "not_equal":
            place = self._emit(_INTEGERS["subtract"], self._constant(1), place)
        self._kinds[made], self._places[made] = bool, place

    def _next(self) -> list[Operation]:
        """The numbers of the next step: all are read before one is written."""
        copies: list[Operation] = []
        for param, value in self._numbers.carried:
            self.usable = self.usable and self._kinds[param] is self._kinds[value]
            spare = self._spare()
            copies.insert(0, (_COPY, spare, self._places[value], self._places[value], 0, 0))
            copies.append((_COPY, self._places[param], spare, spare, 0, 0))
        numbers = self._numbers
        if numbers.counter >= 0:
            counter = self._places[numbers.counter]
            copies.append((_INTEGERS["add"], counter, counter, self._step, 0, 0))
        if numbers.condition >= 0:
            place = self._places[numbers.condition]
            copies.append((_ENDS, place, place, place, 0, 0))
        return copies

    def around(self, launches: Mapping[int, int]) -> Iterator[int | list[Operation]]:
        """The launches of a step, which are kernels by their places in the period, and what stands before and behind each."""
        numbers, places = self._numbers, list(launches)
        if numbers.reads or numbers.words:
            # Memory is found by the launches that are given it.
            self.usable = self.usable and tuple(launches.values()) == numbers.launches
        if not self.usable:
            return
        yield self._stage(0, places)
        for count, (launch, number) in enumerate(launches.items(), 1):
            found: list[Operation] = []
            for position, slot, word in numbers.stored.get(number, ()):
                found.extend(self._store(slot, word, ("slots", launch, position, 0)))
            if number in self._work:
                found.extend(self._share(launch, self._work[number]))
            yield found
            yield launch
            yield self._stage(count, places)

    def _stage(self, count: int, places: Sequence[int]) -> list[Operation]:
        """What stands behind so many launches; memory is that of launches of the period."""
        found: list[Operation] = []
        for behind, operations in self._stages:
            for code, to, x, y, least, most in operations if behind == count else ():
                if isinstance(x, tuple):
                    x = y = ("memory", places[x[1]], x[2], x[3])
                found.append((code, to, x, y, least, most))
        return found

    def behind(self) -> list[Operation]:
        """What stands behind them."""
        return list(self._behind)

    def allocate(self) -> None:
        """Make the memory, when all operations have been asked for."""
        self._memory = (ctypes.c_int64 * self._size)()
        self.address = ctypes.addressof(self._memory)
        for value, place in self._constants.items():
            self._memory[place] = value

    def start(self, values: Sequence[Any], rooms: Sequence[int], counter: range | None) -> bool:
        """State what the program knows before a step, how much memory there is, and the counter; whether int64 holds all."""
        first, step, behind = (0, 0, 0) if counter is None else (counter[0], counter.step, counter[-1] + counter.step)
        numbers = [*values, first, step, behind]
        if any(type(value) is int and not -_MOST <= value <= _MOST for value in numbers):
            return False
        slots, lengths = values[: len(self._numbers.given)], values[len(self._numbers.given) :]
        for slot, value in zip(self._numbers.given, slots, strict=True):
            if self._kinds[slot] is float:
                ctypes.c_double.from_buffer(self._memory, 8 * self._places[slot]).value = value
            else:
                self._memory[self._places[slot]] = value
        for name, value in zip(self._numbers.lengths, lengths, strict=True):
            self._memory[self._lengths[name]] = value
        for place, size in zip(self._rooms, rooms, strict=True):
            self._memory[place] = size
        if counter is not None:
            self._memory[self._places[self._numbers.counter]], self._memory[self._step] = first, step
        return True

    def carried(self) -> tuple[Any, ...]:
        """The numbers that the next step begins with, as Python's."""
        made: list[Any] = []
        for param, _ in self._numbers.carried:
            place, kind = self._places[param], self._kinds[param]
            word = self._memory[place]
            made.append(ctypes.c_double.from_buffer(self._memory, 8 * place).value if kind is float else kind(word))
        return tuple(made)

    def cut(self, launch: int, iterations: int) -> None:
        """State how many iterations a piece of a launch has whose number of iterations differs from step to step."""
        less, size = self._pieces[launch]
        self._memory[less], self._memory[size] = iterations - 1, iterations

    def _share(self, launch: int, work: int) -> list[Operation]:
        """How many iterations a launch has, and in how many pieces."""
        less, size = self._pieces[launch] = self._spare(), self._spare()
        rounded, pieces = self._spare(), self._spare()
        return [
            self._bounded(("record", launch, 2, 0), work, 0, _MOST),
            (_INTEGERS["add"], rounded, work, less, 0, 0),
            (_INTEGERS["floor_divide"], pieces, rounded, size, 0, 0),
            self._bounded(("record", launch, 4, 0), pieces, 0, _MOST_PIECES),
        ]

    def _store(self, slot: int, word: str, to: Place) -> list[Operation]:
        """Write a number where a kernel reads it, as the dtype that it has there."""
        place, integer = self._places[slot], self._kinds[slot] is not float
        if (word == "bool") != (self._kinds[slot] is bool):
            self.usable = False
        if word == "bool":
            return [(_TO_BYTES[1], to, place, place, 0, 1)]
        if word in ("f64", "f32"):
            if not integer:
                return [(_COPY if word == "f64" else _TO_SINGLE, to, place, place, 0, 0)]
            if word == "f64":
                return [(_TO_FLOAT, to, place, place, 0, 0)]
            single = self._single
            return [(_TO_FLOAT, single, place, place, 0, 0), (_TO_SINGLE, to, single, single, 0, 0)]
        bits = 64 if word == "index" else int(word[1:])
        least, most = (0, 2**bits - 1) if word[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        if not integer:
            self.usable = False
        return [(_TO_BYTES[bits // 8], to, place, place, least, min(most, _MOST))]
