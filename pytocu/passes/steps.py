"""What the host does between kernels: calls of libraries, and lengths that are read from memory.

A length that is read is known behind its step only, and so is a number that is computed from it; `Mentions` says of
every value which of these lengths it depends on, so that kernels and checks come behind them.  What may raise an
exception, and what the caller sees changed, depends on the lengths that checks in front of it compare, too: a run
raises what the program comes to first, and does not change what it does not come to.
"""

from __future__ import annotations

from pytocu.ir.core import Function, Inst, Value, named, walk
from pytocu.ir.dims import symbols
from pytocu.ir.types import shape_of
from pytocu.passes.storages import contents_of


def is_step(inst: Inst) -> bool:
    """Whether the host does it, between kernels."""
    return inst.op.name in ("library", "read_length")


def checks(inst: Inst) -> bool:
    """Whether it is a check, or a branch or loop of the host with one in it."""
    return inst.op.name == "check" or any(i.op.name == "check" for region in inst.regions for i in walk(region))


def _waits(inst: Inst) -> bool:
    """Whether it may raise an exception that only a run finds, or changes what the caller sees."""
    match inst.op.name:
        case "library" | "require":
            return True
        case "update":
            return contents_of(inst.results[0])[0].inst is None
    return any(i.op.name in ("check", "require") for region in inst.regions for i in walk(region))


def mentioned(inst: Inst) -> set[str]:
    """The names in what an instruction states, and inside of loops and branches, which are not given lengths."""
    every = (inst, *(inner for region in inst.regions for inner in walk(region)))
    names = {name for i in every for type in i.types for dim in shape_of(type) for name in symbols(dim)}
    return names | {name for i in every for _, value in i.attrs for name in named(value)}


class Mentions:
    """Which lengths that are read from memory each value depends on.

    Attributes
    ----------
    reads : dict
        The instructions that read lengths, by the lengths' names.
    named : dict
        The lengths that each number with a name depends on: a length that is read on itself.
    sizes : set of str
        The names that stand in shapes.
    """

    def __init__(self, function: Function):
        self.reads: dict[str, Inst] = {i.attr("name"): i for i in function.body.insts if i.op.name == "read_length"}
        self.named: dict[str, frozenset[str]] = {name: frozenset([name]) for name in self.reads}
        self.sizes: set[str] = set()
        self._values: dict[Value, frozenset[str]] = {}
        self._behind: dict[Inst, frozenset[str]] = {}
        if self.reads:
            compared: frozenset[str] = frozenset()
            for inst in function.body.insts:
                if compared and _waits(inst):
                    self._behind[inst] = compared
                found = self.before(inst)
                self.sizes.update(name for type in inst.types for dim in shape_of(type) for name in symbols(dim))
                if checks(inst):
                    compared |= found
                self._values.update(dict.fromkeys(inst.results, found))
                if inst.op.name == "bind":
                    self.named.update(dict.fromkeys(inst.attr("names"), found))

    def of(self, value: Value) -> frozenset[str]:
        """The lengths that a value depends on."""
        if not self.reads or value.inst is None:
            return frozenset()
        if value not in self._values:
            # An instruction that a pass has just written.
            self._values[value] = self.before(value.inst)
        return self._values[value]

    def before(self, inst: Inst) -> frozenset[str]:
        """The lengths that an instruction depends on."""
        if not self.reads:
            return frozenset()
        own = mentioned(inst) & self.named.keys()
        found = self._behind.get(inst, frozenset())
        return found.union(*(self.named[name] for name in own), *(self.of(a) for a in inst.args))
