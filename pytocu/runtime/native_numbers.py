"""Python's numbers that change from step to step of a native loop, as operations of `pytocu.backend.cpu_steps`.

In: what a plan computes of the counter and of carried numbers, and their values before a step.  Out: for each step of a
period what stands before its launches (the numbers, and where kernels read them) and behind them (the next
step's numbers).  Python's ints have no bounds and some of its operations raise: where a number is none of int64 or Python
would raise, the native function stops before the step, and Python makes it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any

from pytocu.runtime.plan_loops import Numbers

_INTEGERS = {"add": 1, "subtract": 2, "multiply": 3, "floor_divide": 4, "remainder": 5}
_FLOATS = {"add": 6, "subtract": 7, "multiply": 8, "divide": 9}
_TO_FLOAT, _COPY, _NEGATIVE, _TO_SINGLE, _TO_BYTES = 10, 11, 12, 13, {1: 14, 2: 15, 4: 16, 8: 17}
_MOST = 2**63 - 1

Operation = tuple[int, ...]


class Cells:
    """Memory for the numbers of a loop, and the operations on it.

    Parameters
    ----------
    numbers : Numbers
    values : mapping
        What the program knows before a step, by slot: carried numbers and those that stay.
    counter : range
        The counter's values from that step on.

    Attributes
    ----------
    usable : bool
        Whether all of them are int64 or float64, and stay what they are.
    """

    def __init__(self, numbers: Numbers, values: Mapping[int, Any], counter: range):
        self._numbers = numbers
        first, step = counter[0], counter.step
        self._kinds: dict[int, type] = {}
        self._places: dict[int, int] = {}
        self._initial: list[Any] = []
        self.usable = all(abs(n) + abs(step) <= _MOST for n in (first, counter[-1]))
        self._add(numbers.counter, first)
        self._step = self._spare(step)
        self._zero, self._single = self._spare(), self._spare()
        for slot, value in values.items():
            self._add(slot, value)
        self._before: list[tuple[int, int, int, int]] = []
        for made, name, sources in numbers.computed:
            self._compute(made, name, sources)
        self._behind = self._next()
        size = len(self._initial)
        self.memory = (ctypes.c_int64 * max(size, 1))()
        for place, value in enumerate(self._initial if self.usable else ()):
            if isinstance(value, float):
                ctypes.c_double.from_buffer(self.memory, 8 * place).value = value
            else:
                self.memory[place] = value

    def _spare(self, value: Any = 0) -> int:
        self._initial.append(value)
        return len(self._initial) - 1

    def _add(self, slot: int, value: Any) -> None:
        kind = type(value)
        if kind is not float and not (kind is int and -_MOST <= value <= _MOST):
            self.usable = False
        self._kinds[slot], self._places[slot] = kind, self._spare(value)

    def _operand(self, slot: int, as_float: bool) -> int:
        """The place of a number, as a float where it is to be one."""
        place = self._places[slot]
        if as_float and self._kinds[slot] is int:
            made = self._spare()
            self._before.append((_TO_FLOAT, made, place, place))
            return made
        return place

    def _compute(self, made: int, name: str, sources: Sequence[int]) -> None:
        kinds = [self._kinds[s] for s in sources]
        as_float = float in kinds
        if (name == "divide" and not as_float) or (name in ("floor_divide", "remainder") and as_float):
            # Python divides ints exactly and rounds once, and floats have a remainder of their own.
            self.usable = False
        if name == "positive":
            self._kinds[made], self._places[made] = kinds[0], self._places[sources[0]]
            return
        self._kinds[made], self._places[made] = (float if as_float else int), self._spare()
        operands = [self._operand(s, as_float) for s in sources]
        if name == "negative":
            operation = (_NEGATIVE, operands[0], operands[0]) if as_float else (_INTEGERS["subtract"], self._zero, operands[0])
        else:
            code = (_FLOATS if as_float else _INTEGERS).get(name)
            self.usable = self.usable and code is not None
            operation = (code or 0, *operands)
        self._before.append((operation[0], self._places[made], operation[1], operation[2]))

    def _next(self) -> list[tuple[int, int, int, int]]:
        """The numbers of the next step: all are read before one is written."""
        copies: list[tuple[int, int, int, int]] = []
        for param, value in self._numbers.carried:
            self.usable = self.usable and self._kinds[param] is self._kinds[value]
            spare = self._spare()
            copies.insert(0, (_COPY, spare, self._places[value], self._places[value]))
            copies.append((_COPY, self._places[param], spare, spare))
        counter = self._places[self._numbers.counter]
        return [*copies, (_INTEGERS["add"], counter, counter, self._step)]

    def _at(self, place: int) -> int:
        return ctypes.addressof(self.memory) + 8 * place

    def _operations(self, listed: Sequence[tuple[int, int, int, int]]) -> list[Operation]:
        return [(code, *map(self._at, places)) for code, *places in listed]

    def before(self, launches: Sequence[tuple[int, Any]]) -> list[Operation]:
        """What stands before the launches of a step, which are kernels and their slots."""
        found = self._operations(self._before)
        for number, slots in launches:
            for position, slot, word in self._numbers.stored.get(number, ()):
                found.extend(self._store(slot, word, ctypes.addressof(slots) + 8 * position))
        return found

    def behind(self) -> list[Operation]:
        """What stands behind them."""
        return self._operations(self._behind)

    def _store(self, slot: int, word: str, address: int) -> list[Operation]:
        """Write a number where a kernel reads it, as the dtype that it has there."""
        place, integer = self._at(self._places[slot]), self._kinds[slot] is int
        if word in ("f64", "f32"):
            spare = self._at(self._single)
            if not integer:
                return [(_COPY if word == "f64" else _TO_SINGLE, address, place, place)]
            if word == "f64":
                return [(_TO_FLOAT, address, place, place)]
            return [(_TO_FLOAT, spare, place, place), (_TO_SINGLE, address, spare, spare)]
        bits = 64 if word == "index" else int(word[1:])
        least, most = (0, 2**bits - 1) if word[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        if not integer:
            self.usable = False
        return [(_TO_BYTES[bits // 8], address, place, place, least, min(most, _MOST))]
