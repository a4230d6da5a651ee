"""What several kernels compute, each for itself: work that is done again because elements are computed where they are needed.

Equal computations of equal contents get one number, in whichever kernel they stand (value numbering).  Contents of memory are
those behind as many writes of it, so what is computed before and after a change is not the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pytocu.errors import Loc
from pytocu.explain.model import Bytes, Repeated
from pytocu.explain.schedules import long_lengths
from pytocu.explain.source import line_of, segment
from pytocu.explain.traffic import added, bytes_of, bytes_read, memory_of, number_of, split_arguments
from pytocu.ir.core import Block, Function, Inst, Value, attr_key, chain_from, walk
from pytocu.ir.dims import DimLike, product
from pytocu.ir.regions import bindings, carried_count, is_region, parameters
from pytocu.ir.types import ArrayType, shape_of
from pytocu.passes.alike import form
from pytocu.passes.costs import operations
from pytocu.passes.store_or_repeat import OPERATIONS_A_BYTE
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
    >>> low = pytocu.jit(lambda x: (np.exp(x), np.exp(x).sum(axis=0))).lower("f32[n, 100000]")
    >>> found = stages(subject_of(low), parse_target("cuda:sm_90"), stop="schedule")
    >>> [one.operations for one in repeated(list(found)[-1].function, {})]
    [2000000*n]
    """
    numbering = _Numbering()
    numbering.block(scheduled.body)
    return numbering.found(sizes)


TRIFLE = 0.001
"""Of the time that the kernels take at least: what takes less is not told."""


class _Kernel(Mutable):
    """A launch with the numbers of what it computes."""

    launch: Inst
    numbers: dict[Value, int]
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

    def __init__(self) -> None:
        self.keys: dict[Any, int] = {}
        self.outer: dict[Value, Value] = {}
        self.writes: dict[Value, int] = {}
        self.kernels: list[_Kernel] = []
        self.names: dict[Loc, set[str]] = {}

    def number(self, key: Any) -> int:
        return self.keys.setdefault(key, len(self.keys))

    def block(self, block: Block) -> None:
        """Number what the launches of a block compute."""
        for inst in block.insts:
            if inst.op.name == "launch":
                self.launch(inst)
            elif is_region(inst):
                carried = {p for region in inst.regions for p in parameters(inst, region)[: carried_count(inst)]}
                self.outer |= {param: argument for param, argument in bindings(inst) if param not in carried}
                # A step finds what earlier ones have written.
                self.change(inst)
                for region in inst.regions:
                    self.block(region)
                self.change(inst)

    def base(self, value: Value) -> Value:
        """The memory, outside of the loops and branches that it is handed to."""
        found = memory_of(value)
        while found in self.outer:
            found = memory_of(self.outer[found])
        return found

    def change(self, region: Inst) -> None:
        """All memory that launches in a loop or branch write."""
        inside = (i for block in region.regions for i in walk(block) if i.op.name == "launch")
        for memory in {self.base(v) for launch in inside for v in split_arguments(launch)[1]}:
            self.writes[memory] = self.writes.get(memory, 0) + 1

    def contents(self, value: Value) -> Any:
        """A key of what an argument of a launch is."""
        memory = memory_of(value)
        views = tuple((i.op.name, _attrs(i)) for i in chain_from(memory, value))
        base = self.base(value)
        return id(base), str(value.type), views, self.writes.get(base, 0)

    def launch(self, launch: Inst) -> None:
        inputs, outputs = split_arguments(launch)
        kernel = _Kernel(launch, {param: self.number(self.contents(value)) for value, param in inputs})
        for inst in launch.regions[0].insts[:-1]:
            forms = tuple(form(region, {}) for region in inst.regions)
            args = tuple(kernel.numbers[a] for a in inst.args)
            number = self.number((inst.op.name, args, _attrs(inst), tuple(map(str, inst.types)), forms))
            for place, result in enumerate(inst.results):
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
        largest = {n for n, kernels in within.items() if len(kernels) > 1} - self._covered(within)
        told: list[tuple[float, Repeated]] = []
        for number in largest:
            one = self._told(number, within, sizes)
            if one is not None:
                told.append(one)
        return tuple(one for _, one in sorted(told, key=lambda pair: (-pair[0], pair[1].at.line, pair[1].expression)))

    def _covered(self, within: Mapping[int, list[_Kernel]]) -> set[int]:
        """The numbers that are part of a larger expression in all kernels that have them."""
        covered: set[int] = set()
        for kernel in self.kernels:
            for inst in reversed(kernel.launch.regions[0].insts[:-1]):
                for number in (kernel.numbers[r] for r in inst.results):
                    if inst.op.kind == "view" and number not in covered:
                        continue
                    args = (kernel.numbers[a] for a in inst.args)
                    covered |= {a for a in args if a in within and len(within[a]) == len(within[number])}
        return covered

    def _told(
        self, number: int, within: Mapping[int, list[_Kernel]], sizes: Mapping[str, int]
    ) -> tuple[float, Repeated] | None:
        kernels = within[number]
        inst = kernels[0].made[number]
        type = inst.results[0].type
        # Parts that more kernels have are told of alone.
        parts = [i for n, i in kernels[0].under(number).items() if len(within[n]) == len(kernels)]
        work = [i for i in parts if i.op.name not in MOVES]
        if not shape_of(type) or inst.op.kind == "view" or not any(map(_operations, work)):
            return None
        total: DimLike = 0
        for part in parts:
            elements = part.args[0].type if part.op.kind in ("reduce", "scan") else part.results[0].type
            total = total + product(shape_of(elements)) * _operations(part)
        again = total * (len(kernels) - 1)
        # Where it is a result, it is in memory already.
        there = any(number in kernel.results for kernel in kernels)
        one = bytes_of(type, sizes)
        stored = added([one] * (len(kernels) - there))
        spared = added([amount for kernel in kernels[1:] for amount in kernel.spared(number, sizes)])
        lengths = {**(long_lengths(one.formula, sizes) if one.number is None else {}), **sizes}
        figures = [number_of(formula, lengths) for formula in (again, stored.formula, spared.formula)]
        if None in figures:
            return None
        time, moved, less = (figure or 0 for figure in figures)
        touched = sum(number_of(bytes_of(v.type, sizes).formula, lengths) or 0 for k in kernels for v in k.launch.args)
        if time < OPERATIONS_A_BYTE * TRIFLE * touched:
            return None
        loops = any(i.op.name in ("for_loop", "while_loop") for part in parts for i in (part, *_inside(part)))
        gain = time / OPERATIONS_A_BYTE - (moved - less)
        cheaper = "stored" if loops or gain > 0.1 * touched else "again" if gain < 0 else "neither"
        under = kernels[0].under(number)
        whole = self.names.get(inst.loc, set()) <= {i.op.name for i in under.values() if i.loc == inst.loc}
        known = number_of(total, sizes)
        as_long = None if known is None else known // OPERATIONS_A_BYTE
        names = tuple(kernel.name for kernel in kernels)
        text, where = _text(inst.loc), line_of(inst.loc)
        return time, Repeated(text, not whole, where, str(type), names, total, loops, as_long, stored, spared, cheaper)


def _operations(inst: Inst) -> int:
    """Of an element; a loop's of one step."""
    if inst.op.kind in ("reduce", "scan"):
        return 1
    return operations(inst) + sum(map(operations, _inside(inst)))


def _inside(inst: Inst) -> Iterator[Inst]:
    return (i for region in inst.regions for i in walk(region))


def _text(loc: Loc) -> str:
    """The expression, or the statement of which it is the target."""
    text, line = segment(loc), line_of(loc).text
    return line if line.startswith(text) and re.match(r"[^=]{,3}=(?!=)", line[len(text) :]) else text


def _attrs(inst: Inst) -> tuple[Any, ...]:
    return tuple((name, attr_key(value)) for name, value in inst.attrs)
