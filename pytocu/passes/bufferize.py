"""Array level to host level: results become memory, updates happen in place, kernels become launches.

A kernel's result is a new array, whose elements lie in memory as NumPy lays them out where the caller
sees it, and as those of the operands elsewhere.  Or it goes straight into the memory that an update
changes, where no other iteration of the kernel reads what one writes; otherwise it goes into a temporary
first, and a second kernel copies it.  On a CPU, where exceptions are raised at the statement, so does what an
argument gets if the kernel may find an exception.  Contents that are still read after they have changed are copied before.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytocu.deferred import Deferred
from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Function, Inst, Value, walk
from pytocu.ir.rewrite import put_with
from pytocu.ir.types import ArrayType, Type, element, shape_of
from pytocu.passes.accesses import Index, aligned, demand, target_index, view_chain, whole_index
from pytocu.passes.context import PassContext
from pytocu.passes.storages import contents_of, rebased, tree_numbers

_layout_of_result = Deferred("pytocu.passes.walks", "layout_of_result")


def run(function: Function, context: PassContext) -> Function:
    """Allocate results and turn kernels into launches."""
    if function.level == "host":
        return function
    writer = _Writer(function, context.target.kind == "cpu")
    for position, inst in enumerate(function.body.insts):
        writer.builder.loc, writer.position = inst.loc, position
        match inst.op.name:
            case "kernel":
                writer.kernel(inst)
            case "update":
                writer.update(inst)
            case "return":
                attrs = {"tree": inst.attr("tree")}
                # An argument that is returned is the argument, also where a copy holds what was in it.
                results = [a if a.inst is None else writer.returned(a) for a in _shown(inst)]
                writer.builder.inst("return", results, attrs)
            case _:
                writer.other(inst)
    return Function(function.name, "host", Block(function.params, writer.builder.take()), function.facts)


def _shown(inst: Inst) -> Sequence[Value]:
    """What the tree of a ``return`` names; the contents of arguments are in the arguments now."""
    return inst.args[: max(tree_numbers(inst.attr("tree")), default=-1) + 1]


_DISTURBED = "other iterations read what it writes, so all are computed before"
_NOTED = "the kernel may find an exception, before which the argument does not change"


class _Writer:
    """Writes the host function.

    Attributes
    ----------
    places : dict
        Where each value of the array function is found now: the memory itself, or a copy of
        contents that the memory has lost.
    memory : dict
        The memory that was made for a kernel's result.
    pending, why : dict
        Updates whose elements are in a temporary yet, each with it, and why.
    readers : dict
        The place of the last kernel, or return, that reads a value from memory.
    change : dict
        The update that a kernel's result is for.
    orders : dict
        The layouts of results as the ``return`` states them.
    last : dict
        The place of the last instruction that uses the memory of first contents.
    position : int
        The place of the instruction that is written.
    waits : bool
        The host looks at what kernels have noted before it goes on.
    """

    def __init__(self, function: Function, waits: bool):
        self.function = function
        self.waits = waits
        terminator = function.body.terminator
        orders = zip(terminator.args, terminator.attr("orders", ()), strict=False)
        self.orders: dict[Value, str] = {contents_of(v)[0]: order for v, order in orders if order is not None}
        self.builder = Builder()
        self.places: dict[Value, Value] = {}
        self.memory: dict[Value, Value] = {}
        self.pending: dict[Inst, Value] = {}
        self.readers: dict[Value, int] = {}
        self.change: dict[Value, Inst] = {}
        self.positions: dict[Inst, int] = {}
        self.copies = 0
        self.why: dict[Inst, str] = {}
        self.last: dict[Value, int] = {}
        self.position = 0
        for position, inst in enumerate(function.body.insts):
            for arg in inst.args:
                self.last[contents_of(view_chain(arg)[0])[0]] = position
            match inst.op.name:
                case "kernel" | "library" | "read_length":
                    self.readers.update(dict.fromkeys(inst.args, position))
                case "return":
                    # An argument that is returned is the argument, whatever it holds.
                    contents = [a for a in inst.args if a.inst is not None and a.inst.op.name in ("kernel", "update")]
                    self.readers.update(dict.fromkeys(contents, position))
                case "update":
                    self.change[inst.args[2]] = inst
                    self.positions[inst] = position

    def where(self, value: Value) -> Value:
        """The host's name of a value."""
        return self.places.get(value, value)

    def returned(self, value: Value) -> Value:
        """What the caller gets: of a view one of the memory itself, also where a copy holds what was in it."""
        root, views = view_chain(value)
        if not views or self.where(root) is self.memory_of(root):
            return self.where(value)
        seen = self.memory_of(root)
        for view in reversed(views):
            args = (seen, *map(self.where, view.args[1:]))
            seen = self.builder.emit(view.op, args, dict(view.attrs), None if view.op.infer else view.types)
        return seen

    def memory_of(self, contents: Value) -> Value:
        """The memory that holds, or held, some contents."""
        first, _ = contents_of(contents)
        return self.memory.get(first, first)

    def other(self, inst: Inst) -> None:
        """What is the host's already."""
        put_with(inst, self.builder, tuple(map(self.where, inst.args)), inst.regions, self.places)

    def kernel(self, inst: Inst) -> None:
        """Allocate what has no memory and launch."""
        outputs: list[Value] = []
        placed: list[tuple[Value, Index]] = []
        blocked: set[Value] = set()
        for result in inst.results:
            change = self.change.get(result)
            if change is not None:
                memory, at = self._target(change, len(shape_of(result.type)))
                between = self._made_by(change.args[0], inst) and self._needed_later(change)
                if not between and memory not in blocked and self._direct(inst, result, memory, at, placed):
                    self._keep(change)
                    placed.append((memory, at))
                    old, target, _ = change.args
                    outputs.append(rebased(self.builder, target, old, memory))
                    continue
                # Later updates of this memory have to wait for this one.
                blocked.add(memory)
                self.why[change] = _NOTED if self._may_raise(inst, memory) else _DISTURBED
            if change is not None:
                out = self.pending[change] = self._allocate(inst, result)
            else:
                out = self._unused(_stored(result.type, self._layout(inst, result))) or self._allocate(inst, result)
                self.places[result] = self.memory[result] = out
            outputs.append(out)
        attrs: dict[str, Any] = {"name": inst.attr("name"), "outputs": len(outputs)}
        attrs |= {name: value for name, value in inst.attrs if name in ("why", "parallel", "reduced", "places")}
        self.builder.inst("launch", (*map(self.where, inst.args), *outputs), attrs, (), inst.regions)

    def update(self, inst: Inst) -> None:
        """The contents behind a change; the elements are there, or are copied from their temporary."""
        old, target, _ = inst.args
        memory = self.memory_of(old)
        temporary = self.pending.get(inst)
        if temporary is not None:
            self._keep(inst)
            view = rebased(self.builder, target, old, memory)
            self._copy(temporary, view, self.why[inst])
        self.places[inst.results[0]] = memory

    def _made_by(self, contents: Value, kernel: Inst) -> bool:
        """Whether contents come to be by an update of the same kernel."""
        made = contents.inst
        return made is not None and made.op.name == "update" and made.args[2].inst is kernel

    def _needed_later(self, change: Inst) -> bool:
        """Whether the contents that a change replaces are read behind it."""
        return self.readers.get(change.args[0], -1) > self.positions[change]

    def _keep(self, change: Inst) -> None:
        """Copy the contents that a change replaces, where they are read behind it."""
        old = change.args[0]
        if not self._needed_later(change):
            return
        memory = self.memory_of(old)
        type = ArrayType(element(old.type), shape_of(old.type))
        kept = self.builder.emit("allocate", (), {}, (type,), name=f"{old.name or 'contents'}_before")
        self._copy(memory, kept, f"{old.name or 'the old contents'} is read again after it was changed")
        self.places[old] = kept

    def _target(self, change: Inst, ndim: int) -> tuple[Value, Index]:
        """The memory that a change writes, and where each iteration does."""
        old, target, _ = change.args
        return self.memory_of(old), target_index(target, old, whole_index(ndim), ndim)

    def _direct(self, inst: Inst, result: Value, memory: Value, at: Index, placed: Sequence[tuple[Value, Index]]) -> bool:
        """Whether the kernel may write its result where the update wants it."""
        shape = shape_of(result.type)
        region = inst.regions[0]
        if self._may_raise(inst, memory):
            return False
        if inst.attr("reduced"):
            # Its threads read far from where they write.
            return not any(self.where(a) is memory for a in inst.args) and all(m is not memory for m, _ in placed)
        reads = [p for p, a in zip(region.params, inst.args, strict=True) if self.where(a) is memory]
        needed = demand(region.terminator.args, whole_index(len(shape)), len(shape))
        disturbed = any(value in reads and not aligned(place, at, shape) for value, place in needed)
        return not disturbed and all(m is not memory or aligned(a, at, shape) for m, a in placed)

    def _may_raise(self, inst: Inst, memory: Value) -> bool:
        """Whether the caller would see what a kernel has written though it found an exception."""
        return self.waits and memory.inst is None and any(i.op.name in ("check", "require") for i in walk(inst.regions[0]))

    def _allocate(self, inst: Inst, result: Value) -> Value:
        stored = _stored(result.type, self._layout(inst, result))
        return self.builder.emit("allocate", (), {}, (stored,), name=_pointer_name(inst, result))

    def _layout(self, inst: Inst, result: Value) -> str:
        """As the caller is to see it, or the function asks for, else as NumPy lays out what is made of the operands."""
        type, region = result.type, inst.regions[0]
        if not isinstance(type, ArrayType) or type.ndim < 2:
            return "C"
        if result in self.orders:
            return self.orders[result]
        root = region.terminator.args[result.index]
        if root.inst is not None and root.inst.op.name == "copy" and root.inst.attr("order", None) is not None:
            return root.inst.attr("order")
        operands = [self.where(a) for a in inst.args]
        plain = all(v.type.layout == "C" for v in operands if isinstance(v.type, ArrayType))
        insts = (*region.insts, *(view for v in operands for view in view_chain(v)[1]))
        if plain and not any(i.op.name == "transpose" for i in insts):
            return "C"
        return _layout_of_result(region, root, operands)

    def _unused(self, type: Type) -> Value | None:
        """Memory that was made for an array of this type, which nobody uses any more."""
        for result, memory in self.memory.items():
            if memory.type == type and self.last.get(result, -1) < self.position:
                del self.memory[result]
                return memory
        return None

    def _copy(self, source: Value, target: Value, why: str) -> None:
        """Launch a kernel that copies an array."""
        region = Builder(self.builder.loc)
        param = Value(source.type, source.name or "source")
        region.emit("yield", (region.emit("copy", (param,)),))
        attrs = {"name": f"{self.function.name}_copy{self.copies}", "outputs": 1, "why": why}
        self.copies += 1
        self.builder.inst("launch", (source, target), attrs, (), (Block((param,), region.take()),))


def _pointer_name(inst: Inst, result: Value) -> str:
    """Apart from the user's variable, which names the value stored there."""
    if len(inst.results) == 1:
        return "out"
    return f"{result.name}_out" if result.name else f"out{result.index}"


def _stored(type: Type, layout: str) -> Type:
    """NumPy scalars stay scalars: the runtime reads them out of an array without axes."""
    return ArrayType(element(type), shape_of(type), layout) if isinstance(type, ArrayType) else type
