"""The text of a program as it grows: names of lengths, and where arguments lie in memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pytocu.ir.dims import Atom, Dim, DimLike, product, symbols
from pytocu.ir.types import dtype_named, is_strided
from pytocu.runtime.plan import Plan, memory_range
from pytocu.runtime.plan_loops import judged
from pytocu.runtime.program_failures import Failures
from pytocu.runtime.strides import byte_bounds
from pytocu.runtime.templates import Access

if TYPE_CHECKING:
    from pytocu.runtime.loop_trees import Loop, Numbers

LARGEST_STEP = 2**16
"""Elements that a loop of a kernel goes beyond the last index at most: so many a block of threads has of a row at once."""


class Text:
    """Lines of a function, and what is known where they stand.

    Attributes
    ----------
    lines, early : list of str
        The function; what depends on lengths and strides alone, which may stand before it.
    globals : dict
        What the text names.
    lengths : dict
        Local names of lengths.
    depth : int
        How many loops and branches of the host are open.
    kind : dict
        Whether what a slot holds is an ``array`` or a ``scalar``, where it was made.
    allocated : dict
        Memory by the depth at which it is made.
    loops : dict
        The loops of the plan, by their positions; see `pytocu.runtime.plan_loops`.
    open : list of (str, str)
        The steps of the open loops, the innermost last, and what says whether the program launches in them; no names where
        Python makes all launches.
    nested : dict
        Loops and branches in steps that may be partly made, by their positions: the name of how far the step around one has
        come, and the loop or branch.
    sides : list of bool
        The open branches: whether one is such a branch.
    flags : dict
        The slots of truth values in memory that end loops, by their steps; -1 for one that the program computes.
    numbers : dict
        What of each loop's steps is computed.
    computed : int
        How many lengths have names where they are computed.
    words : set of int
        The slots of memory in which kernels note what is wrong with the data.
    """

    def __init__(self, plan: Plan, access: Access):
        self.plan = plan
        self.access = access
        self.lines: list[str] = []
        # What depends on lengths and strides alone.
        self.early: list[str] = [] if access.bound else self.lines
        self.head = self.early
        self.failures = Failures(plan)
        self.globals: dict[str, Any] = self.failures.globals()
        self.lengths: dict[str, str] = {}
        self.words: set[int] = set()
        self.depth = 0
        self.kind: dict[int, str] = {}
        self.allocated: dict[int, int] = {}
        # Arrays whose addresses have names.
        self.pointed: set[int] = set()
        self.loops = judged(plan)
        self.open: list[tuple[str, str]] = []
        self.nested: dict[int, tuple[str, Loop]] = {}
        self.sides: list[bool] = []
        self.flags: dict[str, int] = {}
        self.numbers: dict[str, Numbers | None] = {}
        self.computed = 0

    def pointer(self, slot: int) -> str:
        """The address of an array's elements."""
        if slot in self.pointed:
            return f"v{slot}_pointer"
        if slot < len(self.plan.parameters):
            return self.read(self.access.pointer, slot)
        return self.access.made_pointer.format(made=f"v{slot}")

    def dim(self, dim: DimLike) -> str:
        """A dimension as a Python expression over the local names of lengths."""
        if not isinstance(dim, Dim):
            return str(dim)
        text = ""
        for monomial, coefficient in dim.terms:
            factors = [self.atom(a) for a in monomial]
            if abs(coefficient) != 1 or not factors:
                factors.insert(0, str(abs(coefficient)))
            sign = "-" if coefficient < 0 else "+" if text else ""
            text += f" {sign} {'*'.join(factors)}" if text else f"{sign}{'*'.join(factors)}"
        return text if len(dim.terms) == 1 and text[0] != "-" and "*" not in text else f"({text})"

    def atom(self, atom: Atom) -> str:
        if not atom.args:
            return self.lengths[atom.name]
        a, b = (self.dim(x) for x in atom.args)
        if atom.name in ("min", "max"):
            comparison = "<" if atom.name == "min" else ">"
            # A conditional is several times faster than a call of min or max, and what stands in it twice is computed once.
            (a, given), (b, other) = map(self._once, (a, b))
            return f"({a} if {given} {comparison} {other} else {b})"
        return f"({a} {atom.name} {b})"

    def _once(self, text: str) -> tuple[str, str]:
        """A name or a number, and what stands where it is first read."""
        if text.isalnum():
            return text, text
        self.computed += 1
        name = f"dim{self.computed}"
        return name, f"({name} := {text})"

    def dims(self, shape: Sequence[DimLike]) -> str:
        """A shape as a tuple display."""
        inner = ", ".join(self.dim(d) for d in shape)
        return f"({inner},)" if len(shape) == 1 else f"({inner})"

    def constant(self, value: Any, hint: str) -> str:
        """A global name for an object."""
        for name, known in self.globals.items():
            if known is value:
                return name
        name = f"{hint}{len(self.globals)}"
        self.globals[name] = value
        return name

    def function(self, name: str, prefix: Sequence[str]) -> str:
        body = "\n".join(f"    {line}" for line in self.lines)
        return f"def {name}({self.parameters(prefix)}):\n{body}\n"

    def parameters(self, prefix: Sequence[str]) -> str:
        parameters = list(prefix)
        for n, parameter in enumerate(self.plan.parameters):
            parameters.append(f"v{n}")
            if parameter.kind == "array":
                parameters.extend(template.format(n=n) for template in self.access.given)
        return ", ".join(parameters)

    def check(self, condition: str, failure: str) -> None:
        """Leave where lengths do not fit together; `failure` says so."""
        if self.depth:
            # Whether it is looked at depends on the branch around it, and on whether the step has been made already.
            guard = next((guard for name, guard in self.open[-1:] if guard and self.numbers.get(name) is not None), "")
            condition = f"{guard} and ({condition})" if guard else condition
            self.lines.append(f"if {condition}: {self.settled(failure)}")
            return
        leave = self.settled(failure) if self.early is self.lines else "return None"
        self.early.append(f"if {condition}: {leave}")

    def settled(self, failure: str) -> str:
        """What raises, behind what kernels before it have found."""
        return f"{self.access.settled}; {failure}" if self.words and self.access.settled else failure

    def arrays(self) -> list[int]:
        return [n for n, p in enumerate(self.plan.parameters) if p.kind == "array"]

    def read(self, template: str, number: int) -> str:
        """A template about an argument, filled in."""
        return template.format(n=number, itemsize=self.itemsize(number))

    def itemsize(self, number: int) -> int:
        return dtype_named(self.plan.parameters[number].dtype).itemsize

    def mask(self, number: int) -> int:
        """The bits of an address that a multiple of the word size does not have."""
        return dtype_named(self.plan.parameters[number].dtype).word.itemsize - 1

    def unpack_lengths(self) -> None:
        wanted: dict[int, dict[int, str]] = {}
        for name, number, axis in self.plan.symbols:
            self.lengths[name] = f"n{len(self.lengths)}"
            wanted.setdefault(number, {})[axis] = self.lengths[name]
        for number, axes in wanted.items():
            ndim = len(self.plan.parameters[number].shape)
            names = ", ".join(axes.get(a, "_") for a in range(ndim))
            self.early.append(f"{names}{',' if ndim == 1 else ''} = {self.read(self.access.shape, number)}")

    def compare_memory(self) -> None:
        """Leave where arguments share memory with a written one in another way than the plan says."""
        plan = self.plan
        together = {n: numbers for _, numbers in plan.sharing for n in numbers}
        ends: dict[int, tuple[str, str]] = {}
        for written in plan.written:
            for other, parameter in enumerate(plan.parameters):
                if parameter.kind != "array" or other == written or (other in plan.written and other < written):
                    continue
                pointer, pointer_other = (self.read(self.access.pointer, n) for n in (written, other))
                if other in together.get(written, ()):
                    for template in (self.access.shape, self.access.strides):
                        self.check(f"{self.read(template, other)} != {self.read(template, written)}", self.access.shared)
                    self.lines.append(f"if {pointer_other} != {pointer}: {self.access.shared}")
                    continue
                low, high = self.extent(written, ends)
                low_other, high_other = self.extent(other, ends)
                least, most = f"least{written}_{other}", f"most{written}_{other}"
                self.early.append(f"{least}, {most} = {low} - {high_other}, {high} - {low_other}")
                self.lines.append(f"if {least} < {pointer_other} - {pointer} < {most}: {self.access.shared}")

    def extent(self, number: int, known: dict[int, tuple[str, str]]) -> tuple[str, str]:
        """Where an argument's elements begin and end, in bytes from its address."""
        if number not in known:
            parameter = self.plan.parameters[number]
            itemsize = self.itemsize(number)
            known[number] = ("0", f"end{number}")
            if is_strided(parameter.layout):
                known[number] = (f"low{number}", f"end{number}")
                self.globals["byte_bounds"] = byte_bounds
                arguments = f"{self.read(self.access.shape, number)}, {self.read(self.access.strides, number)}, {itemsize}"
                self.early.append(f"low{number}, end{number} = byte_bounds({arguments})")
            else:
                self.early.append(f"end{number} = {self.dim(product(parameter.shape) * itemsize)}")
        return known[number]

    def memory(self, span: str, numbers: Sequence[int], pointer: str) -> None:
        """The first address of memory that arguments share, how many elements it has, and where in it each argument lies."""
        self.globals["memory_range"] = memory_range
        self.lengths[span] = f"n{len(self.lengths)}"
        self.lines.append(f"{pointer}, {self.lengths[span]} = memory_range(({''.join(f'infos[{n}], ' for n in numbers)}))")
        for number in numbers:
            parameter, itemsize = self.plan.parameters[number], self.itemsize(number)
            values = {f"{parameter.name}_at": f"({self.read(self.access.pointer, number)} - {pointer}) // {itemsize}"}
            strides, shape = self.read(self.access.strides, number), self.read(self.access.shape, number)
            for axis in range(len(parameter.shape)):
                stride = f"{strides}[{axis}] // {itemsize} if {shape}[{axis}] > 1 else 0"
                values[f"{parameter.name}_s{axis}"] = stride
            for name, value in values.items():
                self.lengths[name] = f"n{len(self.lengths)}"
                self.lines.append(f"{self.lengths[name]} = {value}")

    def write_suits(self, prefix: Sequence[str]) -> str:
        """The function that says whether assumptions hold and every index fits the kernels' width."""
        self.early = self.head = self.lines
        self.unpack_lengths()
        for step in self.plan.steps:
            if step[0] == "read_length" and self.lengths.keys() >= set(symbols(step[3])):
                # As long as it may get; what numbers of run time limit is part of an array.
                self.lengths[step[2]] = self.dim(step[3])
        bound = self.numbers_fit()
        for name, numbers in self.plan.spans():
            self.memory(name, numbers, "_")
        conditions = [f"{self.dim(f.dim)} {f.relation} {f.number}" for f in self.plan.assumptions]
        for n in self.arrays():
            if is_strided(self.plan.parameters[n].layout):
                shape, strides = self.read(self.access.shape, n), self.read(self.access.strides, n)
                conditions.append(f"fits_strides({shape}, {strides}, {self.itemsize(n) - 1})")
        if not any(spec.index_bits == 64 for spec in self.plan.kernels):
            conditions.extend([*bound, *self.fits()])
        self.lines.append(f"return {' and '.join(dict.fromkeys(conditions)) or 'True'}")
        return self.function("suits", prefix)

    def numbers_fit(self) -> list[str]:
        """Conditions under which ints of run time, which positions are made of, fit 32 bits."""
        limit = 2**30
        given = {n for n, p in enumerate(self.plan.parameters) if p.kind == "weak"}
        counters = {step[1] for step in self.plan.steps if step[0] == "for"}
        # Bounds of slices are no larger than axes, and steps of loops, whose positions were compared, no more than elements.
        bound = (step[1] for step in self.plan.steps if step[0] == "bind" and step[3] is None and step[1] not in counters)
        return [f"{-limit} < v{slot} < {limit}" if slot in given else "False" for slot in dict.fromkeys(bound)]

    def fits(self) -> list[str]:
        """Conditions under which every offset, and an index one grid or one step of a loop further, fits 32 bits."""
        limit = 2**31 - 1 - LARGEST_STEP
        conditions = [f"{self.lengths[name]} <= {limit}" for name, _ in self.plan.spans()]
        for n in self.arrays():
            parameter = self.plan.parameters[n]
            if is_strided(parameter.layout):
                shape, strides = self.read(self.access.shape, n), self.read(self.access.strides, n)
                conditions.append(f"reach({shape}, {strides}) < {limit * dtype_named(parameter.dtype).word.itemsize}")
            else:
                words = dtype_named(parameter.dtype).words
                conditions.append(f"{'*'.join(map(self.dim, parameter.shape)) or '1'} <= {limit // words}")
        for spec in self.plan.kernels:
            if not self.lengths.keys() >= {*symbols(spec.work), *symbols(spec.cost)}:
                # No more iterations than the elements of an array, which are counted above.
                continue
            elements = self.dim(spec.work) if spec.cost == 1 else f"{self.dim(spec.work)}*{self.dim(spec.cost)}"
            conditions.append(f"2*{elements} < {2**31 - 1 - spec.tile}")
        return conditions


def reach(shape: Sequence[int], strides: Sequence[int]) -> int:
    """Bytes between the first and the last element."""
    return sum([(n - 1) * abs(s) for n, s in zip(shape, strides, strict=True) if n > 1])


def fits_strides(shape: Sequence[int], strides: Sequence[int], mask: int) -> bool:
    """Whether steps along every axis are whole elements."""
    return not any(s & mask for n, s in zip(shape, strides, strict=True) if n > 1)


CHECKS = {"reach": reach, "fits_strides": fits_strides}
"""What `write_suits` names."""
