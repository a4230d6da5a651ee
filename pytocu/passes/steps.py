"""What the host does between kernels: calls of libraries, and lengths that are read from memory.

A length that is read is known behind its step only, and so is a number that is computed from it; `Mentions` says of
every value which of these lengths it depends on, so that kernels and checks come behind them.
"""

from __future__ import annotations

from pytocu.ir.core import Function, Inst, Value, named, walk
from pytocu.ir.dims import symbols
from pytocu.ir.types import shape_of


def is_step(inst: Inst) -> bool:
    """Whether the host does it, between kernels."""
    return inst.op.name in ("library", "read_length")


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
    """

    def __init__(self, function: Function):
        self.reads: dict[str, Inst] = {i.attr("name"): i for i in function.body.insts if i.op.name == "read_length"}
        self.named: dict[str, frozenset[str]] = {name: frozenset([name]) for name in self.reads}
        self._values: dict[Value, frozenset[str]] = {}
        if self.reads:
            for inst in function.body.insts:
                found = self.before(inst)
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
        found: frozenset[str] = frozenset()
        return found.union(*(self.named[name] for name in own), *(self.of(a) for a in inst.args))
