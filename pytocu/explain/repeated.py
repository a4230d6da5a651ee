"""What is computed more than once because elements are computed where they are needed: by several kernels, each for itself,
or in each step of a loop around a kernel, whose steps do not change it.

Equal computations of equal contents get one number, in whichever kernel they stand (value numbering).  Contents of memory are
those behind as many writes of it, so what is computed before and after a change is not the same.
"""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Iterator, Mapping
from typing import Any

from pytocu.errors import Loc
from pytocu.explain.model import Bytes, Repeated
from pytocu.explain.schedules import long_lengths
from pytocu.explain.source import line_of, segment
from pytocu.explain.traffic import added, bytes_of, bytes_read, memory_of, number_of, split_arguments
from pytocu.explain.work import LOOPS, MANY, counted, is_count, steps_of, unknown_loops
from pytocu.ir.core import Block, Function, Inst, Value, attr_key, chain_from, walk
from pytocu.ir.dims import DimLike, product, symbols
from pytocu.ir.regions import bindings, carried_count, is_region, parameters
from pytocu.ir.types import ArrayType, shape_of
from pytocu.passes.alike import form
from pytocu.passes.costs import OPERATIONS_A_BYTE, operations
from pytocu.record import Mutable, fresh

MOVES = frozenset({"copy", "cast", "as_array"})
"""What is no work to speak of."""


def repeated(scheduled: Function, sizes: Mapping[str, int]) -> tuple[Repeated, ...]:
    """The largest expressions that several kernels compute, those first that take most.

    Parameters
    ----------
    scheduled : Function
        The host function with its launches, before their loops are written.
    sizes : mapping
        Lengths that are known.

    Examples
    --------
    >>> import numpy as np, pytocu
    >>> from pytocu.explain.stages import stages, subject_of
    >>> from pytocu.passes.context import parse_target
    >>> low = pytocu.jit(lambda x: (np.exp(x) + 1, np.exp(x).sum(axis=0))).lower("f32[n, 100000]")
    >>> found = stages(subject_of(low), parse_target("cuda:sm_90"), stop="schedule")
    >>> [one.operations for one in repeated(list(found)[-1].function, {})]
    [2000000*n]
    """
    numbering = _Numbering(OPERATIONS_A_BYTE[str(scheduled.fact("target"))])
    numbering.block(scheduled.body)
    return numbering.found(sizes)


TRIFLE = 0.001
"""Of the time that the kernels take at least: what takes less is not told."""


class _Kernel(Mutable):
    """A launch in its loops, with the numbers of what it computes, and in how many of these loops that changes."""

    launch: Inst
    loops: tuple[Inst, ...]
    numbers: dict[Value, int]
    depths: dict[Value, int]
    made: dict[int, Inst] = fresh(default_factory=dict)

    @property
    def name(self) -> str:
        return self.launch.attr("name")

    @property
    def results(self) -> set[int]:
        """The numbers of what it stores."""
        return {self.numbers[v] for v in self.launch.regions[0].terminator.args}

    def under(self, number: int) -> dict[int, Inst]:
        """The instructions that a number is made of, itself among them."""
        found: dict[int, Inst] = {}
        stack = [number]
        while stack:
            inst = self.made.get(stack.pop())
            if inst is not None and self.numbers[inst.results[0]] not in found:
                found[self.numbers[inst.results[0]]] = inst
                stack.extend(self.numbers[a] for a in inst.args)
        return found

    def depth(self, number: int) -> int:
        """How many of the loops around it, the outer ones first, change what a number is made of."""
        return max((self.depths[r] for r in self.made[number].results), default=0)

    def launches(self, depth: int) -> DimLike:
        """How often it is launched in one step of so many of its loops."""
        return product([steps_of(loop) for loop in self.loops[depth:]])

    def spared(self, number: int, sizes: Mapping[str, int]) -> Iterator[Bytes]:
        """What it reads for a number alone."""
        region = self.launch.regions[0]
        reached: set[Value] = set()
        stack = [*region.terminator.args]
        while stack:
            value = stack.pop()
            if value not in reached and self.numbers[value] != number:
                reached.add(value)
                stack.extend(value.inst.args if value.inst is not None else ())
        for _, param in split_arguments(self.launch)[0]:
            if isinstance(param.type, ArrayType) and param not in reached:
                yield bytes_read(region, param, sizes)


class _Numbering:
    """Numbers of equal computations, in order of the host's steps."""

    def __init__(self, in_a_byte: int) -> None:
        self.in_a_byte = in_a_byte
        self.keys: dict[Any, int] = {}
        self.outer: dict[Value, Value] = {}
        self.writes: dict[Value, int] = {}
        self.kernels: list[_Kernel] = []
        self.loops: list[tuple[Inst, set[Value]]] = []
        self.inside: dict[Value, int] = {}
        self.names: dict[Loc, set[str]] = {}

    def number(self, key: Any) -> int:
        return self.keys.setdefault(key, len(self.keys))

    def block(self, block: Block) -> None:
        """Number what the launches of a block compute."""
        for inst in block.insts:
            if inst.op.name == "launch":
                self.launch(inst)
            elif is_region(inst):
                self.bind(inst)
                # A step finds what earlier ones have written.
                written = self.change(inst)
                if inst.op.name in LOOPS:
                    self.loops.append((inst, written))
                for region in inst.regions:
                    self.inside |= {v: len(self.loops) for v in (*region.params, *_made_in(region))}
                    self.block(region)
                if inst.op.name in LOOPS:
                    self.loops.pop()
                self.change(inst)

    def bind(self, outer: Inst) -> None:
        """What parameters of a loop or branch and of those in it stand for, but for what steps hand on."""
        for inst in (outer, *(i for region in outer.regions for i in walk(region) if is_region(i) and i.op.name != "launch")):
            carried = {p for region in inst.regions for p in parameters(inst, region)[: carried_count(inst)]}
            self.outer |= {param: argument for param, argument in bindings(inst) if param not in carried}

    def base(self, value: Value) -> Value:
        """The memory, outside of the loops and branches that it is handed to."""
        found = memory_of(value)
        while found in self.outer:
            found = memory_of(self.outer[found])
        return found

    def change(self, region: Inst) -> set[Value]:
        """All memory that launches in a loop or branch write."""
        inside = (i for block in region.regions for i in walk(block) if i.op.name == "launch")
        written = {self.base(v) for launch in inside for v in split_arguments(launch)[1]}
        for memory in written:
            self.writes[memory] = self.writes.get(memory, 0) + 1
        return written

    def depth(self, value: Value) -> int:
        """In how many of the open loops, the outer ones first, an argument of a launch changes."""
        base = self.base(value)
        written = [number for number, (_, memories) in enumerate(self.loops, 1) if base in memories]
        return max([self.inside.get(base, 0), *written])

    def contents(self, value: Value) -> Any:
        """A key of what an argument of a launch is."""
        memory = memory_of(value)
        views = tuple((i.op.name, _attrs(i)) for i in chain_from(memory, value))
        base = self.base(value)
        return id(base), str(value.type), views, self.writes.get(base, 0)

    def launch(self, launch: Inst) -> None:
        inputs, outputs = split_arguments(launch)
        numbers = {param: self.number(self.contents(value)) for value, param in inputs}
        loops = tuple(loop for loop, _ in self.loops)
        kernel = _Kernel(launch, loops, numbers, {param: self.depth(value) for value, param in inputs})
        for inst in launch.regions[0].insts[:-1]:
            forms = tuple(form(region, {}) for region in inst.regions)
            args = tuple(kernel.numbers[a] for a in inst.args)
            number = self.number((inst.op.name, args, _attrs(inst), tuple(map(str, inst.types)), forms))
            depth = max((kernel.depths[a] for a in inst.args), default=0)
            for place, result in enumerate(inst.results):
                kernel.depths[result] = depth
                kernel.numbers[result] = self.number((number, place)) if len(inst.results) > 1 else number
                kernel.made.setdefault(kernel.numbers[result], inst)
            if inst.op.kind not in ("view", "const") and inst.op.name not in MOVES:
                self.names.setdefault(inst.loc, set()).add(inst.op.name)
        self.kernels.append(kernel)
        for value in outputs:
            memory = self.base(value)
            self.writes[memory] = self.writes.get(memory, 0) + 1

    def found(self, sizes: Mapping[str, int]) -> tuple[Repeated, ...]:
        """What several kernels have."""
        within: dict[int, list[_Kernel]] = {}
        for kernel in self.kernels:
            for number in kernel.made:
                within.setdefault(number, []).append(kernel)
        again = {n for n, kernels in within.items() if len(kernels) > 1 or kernels[0].depth(n) < len(kernels[0].loops)}
        told: list[tuple[float, Repeated]] = []
        for number in again - self._covered(within, again):
            one = self._told(number, within, sizes)
            if one is not None:
                told.append(one)
        return tuple(one for _, one in sorted(told, key=lambda pair: (-pair[0], pair[1].at.line, pair[1].expression)))

    def _covered(self, within: Mapping[int, list[_Kernel]], again: set[int]) -> set[int]:
        """The numbers that are part of a larger expression in all kernels that have them."""
        covered: set[int] = set()
        for kernel in self.kernels:
            for inst in reversed(kernel.launch.regions[0].insts[:-1]):
                for number in (kernel.numbers[r] for r in inst.results):
                    if (inst.op.kind == "view" and number not in covered) or number not in again:
                        continue
                    args = (kernel.numbers[a] for a in inst.args)
                    covered |= {a for a in args if a in within and _alike(a, number, within)}
        return covered

    def _told(
        self, number: int, within: Mapping[int, list[_Kernel]], sizes: Mapping[str, int]
    ) -> tuple[float, Repeated] | None:
        kernels = within[number]
        inst = kernels[0].made[number]
        type = inst.results[0].type
        # Parts that more kernels have are told of alone.
        parts = [i for n, i in kernels[0].under(number).items() if _alike(n, number, within)]
        work = [(i, times) for part in parts for i, times in counted([part])]
        if not shape_of(type) or inst.op.kind == "view" or not any(_operations(i) for i, _ in work):
            return None
        total: DimLike = 0
        for part, times in work:
            total = total + times * _operations(part)
        # It would be stored before the loops that do not change it, or else by the first kernel, as it is where it is a result.
        around = zip(*(k.loops for k in kernels), strict=False)
        common = len(list(itertools.takewhile(lambda loops: len({*loops}) == 1, around)))
        depth = kernels[0].depth(number)
        before = depth < len(kernels[0].loops)
        outer = min(common, depth)
        launches = [k.launches(outer) for k in kernels]
        there = not before and any(number in kernel.results for kernel in kernels)
        readers = list(zip(kernels, launches, strict=True))[not before :]
        one = bytes_of(type, sizes)
        again: DimLike = sum((total * times for _, times in readers), start=0) - (total if before else 0)
        writes = [] if there else [one if before else _times(one, launches[0], sizes)]
        stored = added([*writes, *(_times(one, times, sizes) for _, times in readers)])
        spared = added([_times(amount, times - (before and n == 0), sizes)
                        for n, (kernel, times) in enumerate(readers) for amount in kernel.spared(number, sizes)])  # fmt: skip
        touched = added([_times(bytes_of(v.type, sizes), times, sizes)
                         for kernel, times in zip(kernels, launches, strict=True) for v in kernel.launch.args])  # fmt: skip
        formulas = (again, stored.formula, spared.formula, touched.formula)
        names = {name for formula in (total, *formulas) for name in symbols(formula)}
        long = long_lengths(one.formula, sizes) if one.number is None else {}
        other = max(long.values(), default=1 << 20)
        lengths = {name: other for name in names if not is_count(name)} | long | dict(sizes)
        counts = [name for name in names if is_count(name)]

        def figures(steps: int) -> list[int]:
            known = lengths | dict.fromkeys(counts, steps)
            return [number_of(formula, known) or 0 for formula in formulas]

        def faster(steps: int) -> str:
            return _faster(self.in_a_byte, *figures(steps))

        time, *_, most = figures(MANY if counts else 1)
        if time < self.in_a_byte * TRIFLE * most:
            return None
        cheaper, least = faster(MANY if counts else 1), 0
        if counts and cheaper == "stored":
            least = 1 + bisect.bisect_left(range(1, MANY), True, key=lambda steps: faster(steps) == "stored")
        if len(kernels) == 1 and cheaper != "stored":
            # What a step computes again as fast as it reads it, no loop has to say.
            return None
        rounds = tuple(tuple(line_of(loop.loc) for loop in kernel.loops[outer:]) for kernel in kernels)
        inner = dict.fromkeys(loc for part in parts for loc in unknown_loops([part]))
        under = kernels[0].under(number)
        whole = self.names.get(inst.loc, set()) <= {i.op.name for i in under.values() if i.loc == inst.loc}
        known = number_of(total, sizes)
        as_long = None if known is None else known // self.in_a_byte
        text, where = _text(inst.loc), line_of(inst.loc)
        return time, Repeated(
            text, not whole, where, str(type), tuple(kernel.name for kernel in kernels), total, tuple(map(line_of, inner)),
            rounds, as_long, stored, spared, cheaper, least, before,
        )  # fmt: skip


def _alike(part: int, whole: int, within: Mapping[int, list[_Kernel]]) -> bool:
    """Whether the same kernels have a part, and the same loops change it."""
    kernels, having = within[whole], within[part]
    return len(having) == len(kernels) and having[0].depth(part) == kernels[0].depth(whole)


def _times(amount: Bytes, times: DimLike, sizes: Mapping[str, int]) -> Bytes:
    formula = amount.formula * times
    return Bytes(formula, number_of(formula, sizes), amount.most)


def _faster(in_a_byte: int, time: int, moved: int, less: int, touched: int) -> str:
    """Which takes less time, of computing again and storing."""
    gain = time / in_a_byte - (moved - less)
    return "stored" if gain > 0.1 * touched else "again" if gain < 0 else "neither"


def _made_in(block: Block) -> Iterator[Value]:
    """What a block makes itself; numbers that are written in it are known outside."""
    return (v for inst in block.insts if inst.op.name not in ("const", "dim") for v in inst.results)


def _operations(inst: Inst) -> int:
    """Of an element."""
    if inst.op.kind in ("reduce", "scan"):
        return 1
    return 0 if inst.op.name in MOVES else operations(inst)


def _text(loc: Loc) -> str:
    """The expression, or the statement of which it is the target."""
    text, line = segment(loc), line_of(loc).text
    return line if line.startswith(text) and re.match(r"[^=]{,3}=(?!=)", line[len(text) :]) else text


def _attrs(inst: Inst) -> tuple[Any, ...]:
    return tuple((name, attr_key(value)) for name, value in inst.attrs)
