"""Cells with Python's numbers, lengths and addresses, and the operations of `pytocu.backend.cpu_steps` that compute them.

A cell is a word of memory; an operation reads two and writes one.  What differs in the steps of few loops only is computed in
front of the others: each cell has a *level*, in how many of the loops that are open it differs.  What a side of a branch
computes stays in it: a number that only Python has is none where the side is not taken.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from math import pi
from typing import Any

from pytocu.ir.dims import Atom, Dim, DimLike, symbols
from pytocu.record import Mutable, Record, fresh
from pytocu.runtime.loop_trees import OF_TWO, ROUNDED, Loop
from pytocu.runtime.native import PREFIX, external
from pytocu.runtime.plan import KernelSpec

INTEGERS = {
    "add": 1, "subtract": 2, "multiply": 3, "floor_divide": 4, "remainder": 5, "left_shift": 32, "right_shift": 33, "power": 34,
}  # fmt: skip
FLOATS = {"add": 6, "subtract": 7, "multiply": 8, "divide": 9, "power": 26}
COMPARED = {"less": 20, "less_equal": 21, "equal": 22, "greater": 20, "greater_equal": 21, "not_equal": 22}
_FLOATS_COMPARED = 3
"""What is added for floats."""
ENDS = 0
OF_LENGTHS = {"//": 4, "%": 5, "max": 18, "min": 19}
_OF_BITS = {"bitwise_and": 29, "bitwise_or": 30, "bitwise_xor": 31}
_TO_FLOAT, COPY, _NEGATIVE, _TO_SINGLE, _TO_BYTES = 10, 11, 12, 13, {1: 14, 2: 15, 4: 16, 8: 17}
WORD_AT, BYTE_AT, UNLESS, AGAIN = 27, 28, 62, 63
_CALL_ONE, _CALL_TWO, _OF_FMOD, _TO_WHOLE = 35, 36, {"floor_divide": 37, "remainder": 38}, 39
_TO_DEGREES, _TO_RADIANS = 180 / pi, pi / 180
"""What Python multiplies with."""
MOST = 2**63 - 1
_MOST_EXACT = 2**53
"""Ints up to here are floats as well."""
_MOST_PIECES = 2**16 - 1
WHOLE = 2**62
"""Iterations of a piece that a launch is not cut into."""
HEAD = 10
"""Words before the parameters of a launch on a GPU; see `pytocu.backend.gpu_steps`."""
THREADS = (6 - HEAD, 7 - HEAD, 8 - HEAD)
"""Where columns and rows of threads, and the most columns of a block, stand, as words behind these."""

Place = int | tuple[str, int, int]
"""A cell, or a word of the ``slots`` or of the ``record`` of a launch."""

Operation = tuple[int, Place, Place, Place, int, int]
"""What is done, where to, two operands, and two numbers: the least and most that it may be, or where to go."""


class Launch(Mutable):
    """A launch that stands in the steps of a loop.

    Attributes
    ----------
    kernel : int
        Its number in the plan.
    spec : KernelSpec
    work, cost : int
        The cells of how many iterations it has and how many elements one.
    less, size : int
        Cells: the iterations of a piece, and one less.
    rounded, pieces : int
        Cells, of a launch on a CPU: the sum of `work` and `less`, and how often `size` is in it.
    fixed : list of (int, int)
        Its parameters that are the same in every step: which, and the number in `Numbers.fixed`.
    record : int
        Where it stands.
    """

    kernel: int
    spec: KernelSpec
    less: int
    size: int
    work: int = -1
    cost: int = -1
    rounded: int = -1
    pieces: int = -1
    fixed: list[tuple[int, int]] = fresh(default_factory=list)
    record: int = -1


class Fetch(Record):
    """A word of a GPU's memory that the host waits for.

    Attributes
    ----------
    memory, made : int
        The cells of the memory's address, and of what is read.
    at, size : int
        How many bytes behind the address it lies, and how many it has: of one byte, whether it is none of 0.
    """

    memory: int
    made: int
    at: int
    size: int


class Node(Mutable):
    """A loop or branch of the tree, while it is written and behind that.

    Attributes
    ----------
    loop : Loop
    parent : Node or None
    begin, place : int
        How many loops and branches that launch kernels stand before its side of a branch, and before it, in `parent`.
    before, body : list
        What is done before the first step, and in each: pairs of how many loops that launch kernels stand before it in a
        step, and an operation, a launch, a loop or None, where a step, or a side of a branch, ends.
    inner : list of Node
        The loops and branches in its steps that launch kernels.
    first : int
        How many of these stand before the side that is written.
    test : int
        The cell of what says which side a branch takes.
    total, left : int
        The cells of how many steps a ``for`` has and how many are left; of a ``while``, `left` counts those that were made.
    params : list of (int, int, bool)
        What a step begins with: its slot, its cell, and whether it is memory.
    leaving : list of list
        What is done where a loop ends behind each step of a period but the last, where memories change places.
    """

    loop: Loop
    parent: Node | None
    begin: int
    place: int
    before: list[tuple[int, Any]] = fresh(default_factory=list)
    body: list[tuple[int, Any]] = fresh(default_factory=list)
    inner: list[Node] = fresh(default_factory=list)
    first: int = 0
    test: int = -1
    total: int = -1
    left: int = -1
    params: list[tuple[int, int, bool]] = fresh(default_factory=list)
    leaving: list[list[Operation]] = fresh(default_factory=list)


class Cells:
    """Cells, and what is known of them.

    Parameters
    ----------
    root : Node
        The loop that is written.
    kernels : sequence of KernelSpec
        Of the plan.
    on_gpu : bool
        Whether kernels, and what is read, are a GPU's.

    Attributes
    ----------
    usable : bool
        Whether all numbers are int64 or float64, and stay what they are.
    launches : list of Launch
    """

    def __init__(self, root: Node, kernels: Sequence[KernelSpec], on_gpu: bool):
        self.kernels, self._open, self.on_gpu = kernels, [root], on_gpu
        self.usable = True
        self.launches: list[Launch] = []
        self._constants: dict[int, int] = {}
        self._size = 0
        # In how many loops a cell differs.
        self._levels: dict[int, int] = {}
        # The least that those have which are computed now.
        self._least = 0
        # The classes and the cells of numbers and addresses, and the cells of lengths.
        self._kinds: dict[int, type] = {}
        self._places: dict[int, int] = {}
        self._lengths: dict[str, int] = {}
        self._known: dict[DimLike, int] = {}

    def put(self, level: int, operation: Operation) -> None:
        """Write an operation on what differs in so many of the loops that are open: in the innermost of these."""
        if level >= len(self._open):
            node = self._open[-1]
            node.body.append((len(node.inner), operation))
        else:
            self._open[level].before.append((-1, operation))

    def level(self, *places: Any) -> int:
        """In how many loops one of these cells differs."""
        return min(max(self._least, *(self._levels.get(place, 0) for place in places)), len(self._open))

    def _emit(self, code: int, x: int, y: int, function: int = 0) -> int:
        level = self.level(x, y)
        made = self.spare(level)
        self.put(level, (code, made, x, y, function, 0))
        return made

    def _bound(self, place: int, least: int, most: int) -> None:
        """Nothing goes on where a number is none of these."""
        self.put(self.level(place), bounded(self.spare(), place, least, most))

    def spare(self, level: int = 0) -> int:
        """Another cell."""
        self._size += 1
        self._levels[self._size - 1] = level
        return self._size - 1

    def _constant(self, value: int) -> int:
        """The cell of a constant; with one that it does not hold all numbers stay Python's."""
        self.usable = self.usable and -MOST - 1 <= value <= MOST
        if value not in self._constants:
            self._constants[value] = self.spare()
        return self._constants[value]

    def _double(self, value: float) -> int:
        return self._constant(int.from_bytes(struct.pack("<d", value), "little", signed=True))

    def knows(self, slot: int) -> bool:
        """Whether a number or an address has been computed."""
        return slot in self._places

    def measures(self, dim: DimLike) -> bool:
        """Whether all is known that a length is made of."""
        return self._lengths.keys() >= set(symbols(dim))

    def _bind(self, place: int, names: Sequence[str], length: DimLike | None) -> None:
        """Give a number its names."""
        zero = self._constant(0)
        if length is None:
            below = self._emit(INTEGERS["subtract"], zero, place)
            for name, one in zip(names, (place, below), strict=False):
                self._lengths[name] = self._emit(OF_LENGTHS["max"], one, zero)
            return
        size = self._dim(length)
        negative = self._emit(COMPARED["less"], place, zero)
        more = self._emit(INTEGERS["multiply"], negative, size)
        position = self._emit(OF_LENGTHS["max"], self._emit(INTEGERS["add"], place, more), zero)
        self._lengths[names[0]] = self._emit(OF_LENGTHS["min"], position, size)

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
                    term = self._emit(INTEGERS["multiply"], term, factor)
                total = term if total is None else self._emit(INTEGERS["add"], total, term)
            assert total is not None
            self._known[dim] = total
        return self._known[dim]

    def _atom(self, atom: Atom) -> int:
        if not atom.args:
            return self._lengths[atom.name]
        a, b = (self._dim(x) for x in atom.args)
        return self._emit(OF_LENGTHS[atom.name], a, b)

    def _operand(self, slot: int, as_float: bool) -> int:
        """The cell of a number, as a float where it is to be one."""
        place = self._places[slot]
        return self._emit(_TO_FLOAT, place, place) if as_float and self._kinds[slot] is not float else place

    def _compute(self, made: int, name: str, sources: Sequence[int]) -> None:
        kinds = [self._kinds[s] for s in sources]
        as_float = float in kinds
        if name in COMPARED:
            self._compare(made, name, sources)
            return
        if name == "python_not":
            self.usable = self.usable and not as_float
            self._kinds[made] = bool
            self._places[made] = self._emit(COMPARED["equal"], self._places[sources[0]], self._constant(0))
            return
        if name in _OF_BITS:
            self.usable = self.usable and not as_float
            self._kinds[made] = bool if set(kinds) == {bool} else int
            self._places[made] = self._emit(_OF_BITS[name], *(self._places[s] for s in sources))
            return
        if name == "python_from_words":
            self._kinds[made], self._places[made] = float, self._from_words(*(self._places[s] for s in sources))
            return
        if name == "python_float":
            self._kinds[made], self._places[made] = float, self._operand(sources[0], True)
            return
        if name == "python_int" and not as_float:
            self._kinds[made], self._places[made] = int, self._places[sources[0]]
            return
        if bool in kinds:
            self.usable = False
        if name.startswith("math_") or (name == "python_int" and as_float):
            self._call(made, name.removeprefix("math_").removeprefix("python_"), sources)
            return
        if name == "divide" and not as_float:
            # Python rounds the quotient of two ints once, as that of floats which hold both is.
            for slot in sources:
                self._bound(self._places[slot], -_MOST_EXACT, _MOST_EXACT)
            as_float = True
        if name == "python_step":
            # Python refuses 0.
            zero = self._emit(COMPARED["equal"], self._places[sources[0]], self._constant(0))
            self._bound(zero, 0, 0)
            self._kinds[made], self._places[made] = int, self._places[sources[0]]
            return
        if name == "python_natural":
            # What is below 0 is refused.
            self.usable = self.usable and not as_float
            self._bound(self._places[sources[0]], 0, MOST)
            self._kinds[made], self._places[made] = int, self._places[sources[0]]
            return
        if name == "absolute":
            (place,) = (self._places[s] for s in sources)
            self._kinds[made] = kinds[0]
            if as_float:
                # The sign is the highest bit.
                self._places[made] = self._emit(_OF_BITS["bitwise_and"], place, self._constant(MOST))
            else:
                below = self._emit(INTEGERS["subtract"], self._constant(0), place)
                self._places[made] = self._emit(OF_LENGTHS["max"], place, below)
            return
        if name in ("python_min", "python_max"):
            # Of an int and a float Python gives that which it is.
            self.usable = self.usable and len(set(kinds)) == 1
            self._kinds[made], self._places[made] = kinds[0], self._extreme(name, [self._places[s] for s in sources], as_float)
            return
        if name == "positive":
            self._kinds[made], self._places[made] = kinds[0], self._places[sources[0]]
            return
        self._kinds[made] = float if as_float else int
        operands = [self._operand(s, as_float) for s in sources]
        if name == "negative":
            zero = operands[0] if as_float else self._constant(0)
            self._places[made] = self._emit(_NEGATIVE if as_float else INTEGERS["subtract"], zero, operands[0])
            return
        if name == "invert":
            self.usable = self.usable and not as_float
            self._places[made] = self._emit(INTEGERS["subtract"], self._constant(-1), operands[0])
            return
        if as_float and name in _OF_FMOD:
            self._places[made] = self._emit(_OF_FMOD[name], operands[0], operands[1], c_function("fmod"))
            return
        code = (FLOATS if as_float else INTEGERS).get(name)
        self.usable = self.usable and code is not None
        self._places[made] = self._emit(code or 0, operands[0], operands[1])

    def _call(self, made: int, name: str, sources: Sequence[int]) -> None:
        """A function of Python's module ``math`` that is one of C, of floats; the exact ones of an int are that int."""
        whole = name in ROUNDED
        self._kinds[made] = int if whole else float
        if whole and self._kinds[sources[0]] is int:
            self._places[made] = self._places[sources[0]]
            return
        for slot in sources:
            if self._kinds[slot] is int:
                self._bound(self._places[slot], -_MOST_EXACT, _MOST_EXACT)
        operands = [self._operand(slot, True) for slot in sources]
        if name in ("degrees", "radians"):
            factor = self._double(_TO_DEGREES if name == "degrees" else _TO_RADIANS)
            self._places[made] = self._emit(FLOATS["multiply"], operands[0], factor)
            return
        if len(operands) > 1:
            self.usable = self.usable and len(operands) == 2 and name in OF_TWO
            self._places[made] = self._emit(_CALL_TWO, operands[0], operands[1], c_function(name)) if self.usable else 0
            return
        place = operands[0]
        if ROUNDED.get(name, name):
            place = self._emit(_CALL_ONE, place, place, c_function(ROUNDED.get(name, name)))
        self._places[made] = self._emit(_TO_WHOLE, place, place) if whole else place

    def _extreme(self, name: str, places: Sequence[int], as_float: bool) -> int:
        """The first of numbers than which none behind it is smaller or larger, as Python compares; NaN is neither."""
        less = COMPARED["less"] + as_float * _FLOATS_COMPARED
        subtract, both, either = INTEGERS["subtract"], _OF_BITS["bitwise_and"], _OF_BITS["bitwise_or"]
        found = places[0]
        for place in places[1:]:
            other = self._emit(less, *((place, found) if name == "python_min" else (found, place)))
            # All bits where it is the other one, or none.
            mask = self._emit(subtract, self._constant(0), other)
            rest = self._emit(subtract, self._constant(-1), mask)
            found = self._emit(either, self._emit(both, place, mask), self._emit(both, found, rest))
        return found

    def _from_words(self, high: int, low: int) -> int:
        """The bits of a float of its halves; the upper one has the sign."""
        negative = self._emit(COMPARED["less"], self._constant(2**31 - 1), high)
        signed = self._emit(INTEGERS["subtract"], high, self._emit(INTEGERS["multiply"], negative, self._constant(2**32)))
        return self._emit(INTEGERS["add"], self._emit(INTEGERS["multiply"], signed, self._constant(2**32)), low)

    def _compare(self, made: int, name: str, sources: Sequence[int]) -> None:
        kinds = [self._kinds[s] for s in sources]
        as_float = float in kinds
        operands: list[int] = []
        for slot, kind in zip(sources, kinds, strict=True):
            if as_float and kind is not float:
                # Python compares an int with a float exactly.
                self._bound(self._places[slot], -_MOST_EXACT, _MOST_EXACT)
            operands.append(self._operand(slot, as_float))
        if name.startswith("greater"):
            operands.reverse()
        place = self._emit(COMPARED[name] + as_float * _FLOATS_COMPARED, *operands)
        if name == "not_equal":
            place = self._emit(INTEGERS["subtract"], self._constant(1), place)
        self._kinds[made], self._places[made] = bool, place

    def share(self, launch: Launch) -> None:
        """Compute how many iterations a launch has, and in how many pieces, or how many columns and rows of threads."""
        launch.work = self._dim(launch.spec.work)
        number, level = self.launches.index(launch), self.level(launch.work)
        self.put(level, bounded(("record", number, 2), launch.work, 0, WHOLE))
        if self.on_gpu:
            for word, dim in zip(THREADS, launch.spec.grid, strict=False):
                place = self._dim(dim)
                self.put(self.level(place), copied(("slots", number, word), place))
            return
        launch.cost = self._dim(launch.spec.cost)
        launch.rounded, launch.pieces = self.spare(level), self.spare(level)
        self.put(level, (INTEGERS["add"], launch.rounded, launch.work, launch.less, 0, 0))
        self.put(level, (INTEGERS["floor_divide"], launch.pieces, launch.rounded, launch.size, 0, 0))
        self.put(level, bounded(("record", number, 4), launch.pieces, 0, _MOST_PIECES))

    def store(self, slot: int, word: str, to: Place) -> None:
        """Write a number where a kernel reads it, as the dtype that it has there."""
        place = self._places[slot]
        level, kind = self.level(place), self._kinds.get(slot, int)
        for code, least, most in _conversions(kind, word):
            if code < 0:
                self.usable = False
                return
            if code == _TO_FLOAT and word == "f32":
                place = self._emit(_TO_FLOAT, place, place)
                continue
            self.put(level, (code, to, place, place, least, most))


def c_function(name: str) -> int:
    """The address of a function of C's ``math.h``, the one that Python calls."""
    return external(PREFIX + name)


def _conversions(kind: type, word: str) -> list[tuple[int, int, int]]:
    """The operations that store a number of a class as a dtype, with the least and most; -1 where there is none."""
    if word == "pointer" or (word == "f64" and kind is float):
        return [(COPY, 0, 0)]
    if (word == "bool") != (kind is bool):
        return [(-1, 0, 0)]
    if word == "bool":
        return [(_TO_BYTES[1], 0, 1)]
    if word in ("f64", "f32"):
        return ([] if kind is float else [(_TO_FLOAT, 0, 0)]) + ([(_TO_SINGLE, 0, 0)] if word == "f32" else [])
    if kind is float:
        return [(-1, 0, 0)]
    bits = 64 if word == "index" else int(word[1:])
    least, most = (0, 2**bits - 1) if word[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return [(_TO_BYTES[bits // 8], least, min(most, MOST))]


def copied(to: Place, place: int) -> Operation:
    return COPY, to, place, place, 0, 0


def bounded(to: Place, place: int, least: int, most: int) -> Operation:
    return _TO_BYTES[8], to, place, place, least, most
