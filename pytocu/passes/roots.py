"""What kernels have to compute, and an order in which memory holds what each of them reads.

Kernels compute *roots*: returned arrays, the elements of updates, the first contents of memory
that the function makes and changes, and small operands that an update would overwrite while
it reads them.  A root may share the kernel of another when they have one iteration shape and
no iteration disturbs another one's reads or writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

from pytocu.ir.builder import Builder
from pytocu.ir.core import Function, Inst, Value
from pytocu.ir.dims import format_shape
from pytocu.ir.library_names import numpy_name
from pytocu.ir.regions import is_region
from pytocu.ir.types import ArrayType, ScalarType, WeakType, shape_of
from pytocu.passes.accesses import Index, aligned, demand, is_elementwise, searched, target_index, view_chain, whole_index
from pytocu.passes.affine import element_of
from pytocu.passes.spaces import NARROW, Dims, Space, combines, is_compaction, is_stored, settle, votes
from pytocu.passes.steps import Mentions, is_step
from pytocu.passes.storages import contents_of
from pytocu.record import Mutable, Record, fresh


def on_host(value: Value) -> bool:
    """Whether a value is made without a kernel: arguments, their views, Python scalars, constants."""
    while value.inst is not None:
        inst = value.inst
        if isinstance(value.type, WeakType) or inst.op.kind in ("const", "scalar") or inst.op.name == "memory":
            return True
        if inst.op.kind != "view" or inst.op.repeats or not isinstance(value.type, ArrayType):
            return False
        value = inst.args[0]
        if not isinstance(value.type, ArrayType):
            return False
    return True


INSIDE = ("elementwise", "view", "const", "generated", "choice")


class Root(Mutable):
    """Something to compute.

    Attributes
    ----------
    value : Value
        What is computed.
    stands_for : Value
        What it is in the function: the value itself, or the operand that it keeps.
    use : str
        ``updated`` for first contents, ``returned``, ``read`` for operands that are kept, or
        ``written`` for the elements of an update.
    update : Inst or None
        The update that writes it; without one it gets memory of its own.
    kept : set of Value
        Operands that are read from the memory they were kept in.
    reads : list of (Value, Index)
        The contents it reads from memory, and where.
    space : Space
        The iterations, and `index`, where in the value an iteration stands.
    inside : frozenset of Inst
        The reductions and scans that are computed with it.
    before : set of Value
        What other kernels make of reductions and scans and put into memory for it.
    needed : list of (Value, Index)
        All values that go into it, and where they are read.
    entered, taken : set of Value
        Those of them that are computed on the way, and those that are read from the memory they were kept in.
    """

    value: Value
    stands_for: Value
    use: str
    kept: set[Value]
    update: Inst | None = None
    reads: list[tuple[Value, Index]] = fresh(default_factory=list)
    space: Space = fresh(default_factory=lambda: Space(()))
    index: Index = ()
    inside: frozenset[Inst] = frozenset()
    before: set[Value] = fresh(default_factory=set)
    needed: list[tuple[Value, Index]] = fresh(default_factory=list)
    entered: set[Value] = fresh(default_factory=set)
    taken: set[Value] = fresh(default_factory=set)

    @property
    def shape(self) -> Dims:
        """Of the value."""
        return shape_of(self.value.type)

    def enters(self, value: Value) -> bool:
        """Whether an operand is computed inside the kernel."""
        inst = value.inst
        if inst is None or isinstance(value.type, WeakType) or (value in self.kept and value is not self.value):
            return False
        return inst.op.kind in INSIDE or inst in self.inside or (is_region(inst) and is_elementwise(inst))

    def look(self) -> Root:
        """Find out what is computed with it, what has to be in memory before, and what is read."""
        while True:
            settled = settle(self.value, lambda v: not (combines(v) and v not in self.kept) and not self.enters(v))
            kept = {r for v in settled.kept if v.inst is not None for r in v.inst.results}
            self.space, self.index, self.inside, _ = settled
            if not kept:
                self.needed = demand([self.value], self.index, self.space.ndim, lambda value: not self.enters(value))
                if not any(is_compaction(value) for value, _ in self.needed):
                    break
                # The loops that walk through a mask compute no row.
                kept = {r for inst in self.inside for r in inst.results}
                if not kept:
                    break
            before = self._made_of(kept)
            self.kept |= before
            self.before |= before
        self.entered = {v for v, _ in self.needed if self.enters(v)}
        self.taken = {v for v, _ in self.needed if v in self.kept} - self.entered
        found = ((v, at) for v, at in self.needed if v not in self.entered)
        self.reads = [(v, at) for v, at in found if isinstance(v.type, ArrayType) or v in self.kept]
        for value, at in self.needed:
            arrays = () if value.inst is None or value not in self.entered else searched(value.inst)
            for array in arrays:
                place = tuple(element_of(value, at, length, self.space.ndim) for length in shape_of(array.type))
                self.reads.append((array, place))
        return self

    def _made_of(self, reductions: set[Value]) -> set[Value]:
        """What is made of reductions' results alone, element by element, is made where they are, not for each reader."""
        own: dict[Value, bool | None] = {}

        def look(wanted: Value) -> bool | None:
            """Whether it is made of reductions; None where it is the same for all elements."""
            # Not by recursion: an expression may be deeper than Python's stack.
            open_values = [wanted]
            while open_values:
                value = open_values[-1]
                inst = value.inst
                if value in own:
                    open_values.pop()
                elif value in reductions:
                    own[value] = True
                elif on_host(value):
                    own[value] = None if not isinstance(value.type, ArrayType) else False
                elif inst is None or inst.op.kind != "elementwise" or value in self.kept:
                    own[value] = False
                elif missing := [arg for arg in inst.args if arg not in own]:
                    open_values += missing
                else:
                    found = {own[arg] for arg in inst.args}
                    same = all(shape_of(a.type) == shape_of(value.type) for a in inst.args if own[a])
                    own[value] = False if False in found or not same else True if True in found else None
            return own[wanted]

        chosen: set[Value] = set()
        seen: set[Value] = set()
        stack = [self.value]
        while stack:
            value = stack.pop()
            # Its own value is computed here whoever else keeps it.
            elsewhere = value in self.kept and value is not self.value
            if value in seen or elsewhere or not (self.enters(value) or combines(value)):
                continue
            seen.add(value)
            if value is not self.value and look(value):
                chosen.add(value)
            elif value.inst is not None:
                stack.extend(value.inst.args)
        return chosen

    @property
    def direction(self) -> int:
        """Above 0 where a reduction reads most large arrays along columns, below 0 where it reads them along rows."""
        parallel = self.space.parallel
        if not parallel or not self.space.reduced or (isinstance(parallel[-1], int) and parallel[-1] <= NARROW):
            return 0
        large, _ = votes(self.reads, len(parallel), self.space.ndim)
        return large

    def mentioned(self, mentions: Mentions) -> frozenset[str]:
        """The lengths read from memory that it depends on."""
        update = frozenset() if self.update is None else mentions.before(self.update)
        return mentions.of(self.value) | update

    def writes(self) -> Index:
        """Where the update writes."""
        assert self.update is not None
        old, target, _ = self.update.args
        return target_index(target, old, self.index, self.space.ndim)


Once: TypeAlias = Mapping[Value, frozenset[tuple[Value, str]]]
"""What one kernel computes for all, each with the roots of that kernel: what they stand for, and their use."""


def find_roots(function: Function, returned: Sequence[Value], mentions: Mentions, once: Once) -> list[Root | Inst]:
    """Every root, in the order of the text; what is returned comes as late as what it reads allows.

    Library calls and lengths that are read stand between the roots as instructions.
    """
    return _Finder(function, mentions, once).find(returned)


class _Finder:
    """Finds roots.

    Attributes
    ----------
    kept : set of Value
        Small operands that an earlier root puts into memory.
    reductions : dict
        Reductions and scans, and what is computed once, that an earlier root puts into memory, each with its iterations.
    stored : set of Value
        What is in memory by an earlier root or step.
    known : dict
        The contents that values are made of, each with how many operands were `kept` when they were looked for.
    lengths : set of str
        The lengths that could be read when as many updates were made as `looked_at` says.
    """

    def __init__(self, function: Function, mentions: Mentions, once: Once):
        self.mentions = mentions
        self.once = once
        self.steps = [i for i in function.body.insts if i.op.name == "read_length"]
        self.called = [r for i in function.body.insts if i.op.name == "library" for r in i.results]
        self.stored: set[Value] = set()
        self.taken: set[Inst] = set()
        self.loc = function.body.terminator.loc
        self.updates = [i for i in function.body.insts if i.op.name == "update"]
        self.kept: set[Value] = set()
        self.known: dict[Value, tuple[int, set[Value]]] = {}
        self.lengths: set[str] = set()
        self.looked_at = -1
        self.reductions: dict[Value, Space] = {}
        self.roots: list[Root | Inst] = []
        self.late: list[Root] = []
        self.outside: list[Value] = []

    def find(self, returned: Sequence[Value]) -> list[Root | Inst]:
        """The roots."""
        self.outside = [v for v in returned if is_stored(v) and not on_host(v)]
        wanted = dict.fromkeys(v for v in returned if not on_host(v) and not is_update(v) and not is_stored(v))
        self.late = [Root(v, v, "read" if _in_memory(v) or v in self.once else "returned", set()) for v in wanted]
        # First contents have to be there before the first update, and what they are made of may change before.
        heads = {i.args[0]: Root(i.args[0], i.args[0], "updated", set()) for i in self.updates if _is_head(i.args[0])}
        self.late.extend(heads.values())
        made: set[Value] = set()
        for inst in self.updates:
            self.update(inst, heads, made)
            made.add(inst.results[0])
        for root in self.late:
            self.add(root)
        for value in self.outside:
            self.store(value)
        for step in self.steps:
            self.step(step)
        return self.roots

    def store(self, value: Value) -> None:
        """What has to be in memory of its own: a root, or a call of a library."""
        inst = value.inst
        if inst is None or value in self.stored:
            return
        self.stored.add(value)
        if is_step(inst):
            self.step(inst)
            return
        (source,) = inst.args
        plain = on_host(source) or is_update(source) or is_stored(source)
        made = Builder(inst.loc).emit("copy", (source,), name=source.name) if plain else source
        self.add(Root(made, value, "read", set()))

    def step(self, inst: Inst) -> None:
        """A library call, or a length that is read, behind what it needs."""
        if inst in self.taken:
            return
        self.taken.add(inst)
        for name in sorted(self.mentions.before(inst)):
            self.step(self.mentions.reads[name])
        for arg in inst.args:
            if is_stored(arg):
                self.store(arg)
        self.roots.append(inst)

    def update(self, inst: Inst, heads: dict[Value, Root], made: set[Value]) -> None:
        """The roots of one update, behind those that read what it changes."""
        old, _, new = inst.args
        if old in heads and heads[old] in self.late:
            self.late.remove(heads[old])
            self.add(heads[old])
        change = self.looked(Root(new, new, "written", set(), inst))
        for operand in _small_operands(change):
            op = "copy" if isinstance(operand.type, ArrayType) else "as_array"
            copied = Builder(inst.loc).emit(op, (operand,), name=operand.name)
            self.add(Root(copied, operand, "read", set()))
            self.kept.add(operand)
        # The last moment at which the memory holds what is read.
        for root in list(self.late):
            if self.changes_next(root.value, old, made):
                self.late.remove(root)
                self.add(root)
        for value in (*self.outside, *self.called):
            if value not in self.stored and self.changes_next(value, old, made):
                self.store(value)
        self.add(Root(new, new, "written", set(), inst))

    def looked(self, root: Root) -> Root:
        """A root that knows what earlier ones put into memory."""
        computed = {value for value, roots in self.once.items() if (root.stands_for, root.use) not in roots}
        root.kept = self.kept | (computed - {root.stands_for})
        root.look()
        root.before |= computed & {value for value, _ in root.reads}
        return root

    def changes_next(self, value: Value, old: Value, made: set[Value]) -> bool:
        """Whether a value is made of contents and lengths that are there, and of the contents that change now.

        What waits for a length that is read of later contents comes behind these; what it reads is copied (`bufferize`).
        """
        reads = self.reads(value)
        return old in reads and _are_there(reads, made) and self.mentions.of(value) <= self.readable(made)

    def readable(self, made: set[Value]) -> set[str]:
        """The lengths that can be read of contents that are there."""
        if len(made) > self.looked_at:
            self.looked_at = len(made)
            for inst in self.steps:
                others = self.mentions.before(inst) - {inst.attr("name")}
                if others <= self.lengths and all(_are_there(self.reads(arg), made) for arg in inst.args):
                    self.lengths.add(inst.attr("name"))
        return self.lengths

    def reads(self, value: Value) -> set[Value]:
        """The contents that a value is made of, and those that the reductions before it read."""
        count, found = self.known.get(value, (-1, set()))
        if count == len(self.kept):
            return found
        found = set[Value]()
        self.known[value] = len(self.kept), found
        seen: set[Value] = set()
        stack = [value]
        while stack:
            value = stack.pop()
            if value in seen:
                continue
            seen.add(value)
            if value in self.kept:
                continue
            if value.inst is None or not (value.inst.op.kind in (*INSIDE, "region") or combines(value) or is_stored(value)):
                found.add(value)
            else:
                stack.extend(value.inst.args)
        return found

    def add(self, root: Root) -> None:
        """A root, behind the reductions that have to be in memory for it."""
        if root.use == "read" and root.stands_for in self.reductions:
            return
        for name in sorted(root.mentioned(self.mentions)):
            self.step(self.mentions.reads[name])
        self.looked(root)
        # What an earlier root put into memory is computed again only where it can be the same kernel.
        inside = {result for inst in root.inside for result in inst.results}
        elsewhere = {v for v in inside if self.reductions.get(v, root.space) != root.space and v is not root.stands_for}
        if elsewhere:
            root.kept |= elsewhere
            root.look()
        for value in [v for v, _ in root.reads if v in root.before or combines(v)]:
            # A number stays where a kernel computed it, so the next one gets the memory and not the number.
            made = value if isinstance(value.type, ArrayType) else Builder(self.loc).emit("as_array", (value,), name=value.name)
            self.add(Root(made, value, "read", set()))
        for value in [v for v, _ in root.reads if is_stored(v)]:
            self.store(value)
        if root.use == "read" and (root.space != Space(root.shape) or root.stands_for in self.once):
            self.reductions[root.stands_for] = root.space
        self.roots.append(root)


def _of_reduction(value: Value) -> bool:
    """Whether a value is what a reduction or scan gives, or is made of such alone."""
    seen: set[Value] = set()
    stack = [value]
    while stack:
        value = stack.pop()
        if combines(value) or (on_host(value) and not isinstance(value.type, ArrayType)):
            continue
        if on_host(value) or value.inst is None or value.inst.op.kind != "elementwise":
            return False
        stack.extend(set(value.inst.args) - seen)
        seen.update(value.inst.args)
    return True


def _in_memory(value: Value) -> bool:
    """Whether a reduction's result is an array, which kernels take as it is."""
    return combines(value) and isinstance(value.type, ArrayType)


def _are_there(contents: set[Value], made: set[Value]) -> bool:
    return all(v in made or not is_update(v) for v in contents)


def _is_head(value: Value) -> bool:
    return not on_host(value) and not is_update(value)


def is_update(value: Value) -> bool:
    """Contents of memory behind a change."""
    return value.inst is not None and value.inst.op.name == "update"


def _small_operands(change: Root) -> list[Value]:
    """Operands smaller than the iterations that the update overwrites while others still read them.

    Keeping ``x[0]`` before ``x -= x[0]`` is cheaper than a temporary for all of the result.
    """
    assert change.update is not None
    memory, _ = contents_of(change.update.args[0])
    place = change.writes()
    needed = change.needed
    if change.space.reduced:
        return []
    disturbed = {v for v, at in needed if _in(v, memory) and not aligned(at, place, change.shape)}
    found: dict[Value, None] = {}
    for value, _ in needed:
        inst = value.inst
        if inst is None or not change.enters(value) or inst.op.kind not in ("elementwise", "view"):
            continue
        for arg in inst.args:
            small = inst.op.name == "broadcast" or (inst.op.kind == "elementwise" and isinstance(arg.type, ScalarType))
            base, chain = view_chain(arg)
            if small and chain and base in disturbed and all(i.op.name != "broadcast" for i in chain):
                found[arg] = None
    return list(found)


def _in(value: Value, memory: Value) -> bool:
    return isinstance(value.type, ArrayType) and contents_of(value)[0] is memory


def library_calls(values: Sequence[Value]) -> str:
    """The functions of the caller's library that make values, by NumPy's names; empty where none does."""
    called = [v.inst.attr("function") for v in values if v.inst is not None and v.inst.op.name == "library"]
    return " and ".join(dict.fromkeys(f"np.{numpy_name(name)}" for name in called))


class Kernel(Mutable):
    """Roots that are computed together, and why they are not with earlier ones."""

    roots: list[Root]
    why: str
    step: Inst | None = None

    def across(self, root: Root) -> bool:
        """Whether a root reads large arrays along columns where those here go along rows, or the other way round.

        Together, one of them would jump through memory from element to element.
        """
        return any(root.direction * other.direction < 0 for other in self.roots)

    def divided(self, root: Root) -> bool:
        """Whether a root takes from memory what one here computes on its way, or the other way round.

        A kernel computes a value or reads it: one that is computed is there for its own iteration alone.
        """
        return not all(
            root.taken.isdisjoint(other.entered) and other.taken.isdisjoint(root.entered) for other in self.roots
        )


class _Access(Mutable):
    """What a root does with memory: reads contents behind `count` updates, or writes the next."""

    number: int
    count: int
    at: Index
    space: Space
    write: bool

    def beside(self, at: Index, space: Space) -> bool:
        """Whether another access may stand in the same kernel: the threads of a reduction read far apart."""
        return self.space == space and not space.reduced and aligned(self.at, at, space.parallel)


ACROSS = "one of them reads large arrays along rows of memory, and the other one along columns"
DIVIDED = "one of them computes on its way what the other one reads from memory"
"""Why reductions with the same iterations are not computed together."""


class Refused(Record):
    """Two kernels that could not be one: their numbers in the plan, and why."""

    first: int
    second: int
    reason: str


class Plan:
    """The kernels so far, and what they do with each memory.

    Parameters
    ----------
    mentions : Mentions
    says_why : bool
        Fill `refused`.

    Attributes
    ----------
    refused : list of Refused
        For each kernel but the first, why it is none of the earlier ones.
    """

    def __init__(self, mentions: Mentions, says_why: bool = False) -> None:
        self.mentions = mentions
        self.says_why = says_why
        self.kernels: list[Kernel] = []
        self.refused: list[Refused] = []
        self.made: dict[Value, int] = {}
        self.known: dict[str, int] = {}
        self.accesses: dict[Value, list[_Access]] = {}

    def place(self, root: Root | Inst) -> None:
        """Put a root into the first kernel of its shape that keeps the order, or into a new one."""
        if isinstance(root, Inst):
            self._step(root)
            return
        first, last = self._earliest(root), self._latest(root)
        alike = (n for n in range(first, last + 1) if self.kernels[n].roots and self.kernels[n].roots[0].space == root.space)
        number = next((n for n in alike if not self.kernels[n].across(root) and not self.kernels[n].divided(root)), None)
        if number is None:
            number = len(self.kernels)
            others = [n for n in range(number) if self.kernels[n].roots] if self.says_why else ()
            self.refused += [Refused(n, number, self._refusal(root, n, first, last)) for n in others]
            self.kernels.append(Kernel([], self._reason(root)))
        self.kernels[number].roots.append(root)
        for value, at in root.reads:
            self._note(value, _Access(number, contents_of(value)[1], at, root.space, False))
        if root.update is None:
            if root.use != "returned":
                self.made[root.stands_for] = number
        else:
            old = root.update.args[0]
            self.made[root.update.results[0]] = number
            self._note(old, _Access(number, contents_of(old)[1], root.writes(), root.space, True))

    def _step(self, inst: Inst) -> None:
        """A library call or a length that is read comes behind all kernels so far."""
        number = len(self.kernels)
        self.kernels.append(Kernel([], "", inst))
        self.made.update(dict.fromkeys(inst.results, number))
        if inst.op.name == "read_length":
            self.known[inst.attr("name")] = number
        for arg in inst.args:
            base, _ = view_chain(arg)
            at = whole_index(len(shape_of(base.type)))
            # It reads everything, as the threads of a reduction do.
            self._note(base, _Access(number, contents_of(base)[1], at, Space((), (1,)), False))

    def _note(self, value: Value, access: _Access) -> None:
        self.accesses.setdefault(contents_of(value)[0], []).append(access)

    def _earliest(self, root: Root) -> int:
        """The first kernel that comes after what makes the root's operands and what its update must not disturb."""
        first = max([0, *(self.made[value] + 1 for value, _ in root.reads if value in self.made)])
        first = max([first, *(self.known[name] + 1 for name in root.mentioned(self.mentions))])
        if root.update is None:
            return first
        memory, count = contents_of(root.update.args[0])
        place = root.writes()
        if memory in self.made:
            first = max(first, self.made[memory] + 1)
        for access in self.accesses.get(memory, []):
            if access.count <= count:
                first = max(first, access.number + (not access.beside(place, root.space)))
        return first

    def _latest(self, root: Root) -> int:
        """The last kernel at which the memory still holds what the root reads."""
        last = len(self.kernels) - 1
        for value, at in root.reads:
            memory, count = contents_of(value)
            for access in self.accesses.get(memory, []):
                if access.write and access.count >= count:
                    last = min(last, access.number - (not access.beside(at, root.space)))
        return last

    def _refusal(self, root: Root, number: int, first: int, last: int) -> str:
        """Why a root is not computed in an earlier kernel; `first` and `last` are those that memory allows."""
        other = self.kernels[number].roots[0].space
        if number < first:
            made = [v for v, _ in root.reads if self.made.get(v) == number]
            if any(v in root.before and _of_reduction(v) for v in made):
                return "it needs a whole reduction or scan of that kernel before its first element"
            if made:
                return "it reads elements that other iterations of that kernel compute"
            behind = [v for v, _ in root.reads if self.made.get(v, -1) > number]
            if called := library_calls(behind):
                return f"it reads what {called} computes, a call between them"
            if behind:
                return "it reads what a kernel behind that one computes"
            if late := [name for name in root.mentioned(self.mentions) if self.known[name] >= number]:
                return f"{self._looked_at(late)} between them"
            return "it changes memory of which that kernel, or one behind it, reads elements in other iterations"
        if number > last:
            return "the memory it reads is overwritten there"
        if other.piece != root.space.piece:
            return "one of them goes over pieces of long rows, the other one over whole rows"
        if bool(other.reduced) != bool(root.space.reduced):
            return "one of them reduces or scans rows, which are shared by threads, and the other one goes element by element"
        if other == root.space and self.kernels[number].across(root):
            return ACROSS
        if other == root.space and self.kernels[number].divided(root):
            return DIVIDED
        shapes = [(*s.parallel, *s.reduced) for s in (other, root.space)]
        if shapes[0] == shapes[1]:
            return "they reduce or scan along other axes"
        return f"their iterations have the shapes {' and '.join(map(format_shape, shapes))}"

    def _looked_at(self, names: Iterable[str]) -> str:
        """Why the host waits for numbers."""
        if self.mentions.sizes.isdisjoint(names):
            return "the program may raise an exception"
        return "its length is read from memory"

    def _reason(self, root: Root) -> str:
        if root.space.piece is not None:
            if any(inst.op.kind == "scan" for inst in root.inside):
                return "a long scan is cut into pieces, which begin with what earlier kernels found"
            return "a long row is cut into pieces, which kernels after this one combine"
        before = [value for value, _ in root.reads if value in self.made and value in root.before]
        if any(map(_of_reduction, before)):
            return "it reads a reduction or a scan of an earlier kernel"
        if before:
            return "it reads elements that an earlier kernel stores, so that they are computed once"
        if names := root.mentioned(self.mentions):
            return f"{self._looked_at(names)} before"
        if called := library_calls([v for v, _ in root.reads if v in self.made]):
            return f"it reads what {called} computes, which is called before"
        if any(is_stored(value) and value in self.made for value, _ in root.reads):
            return "it reads elements at several positions that an earlier kernel stores, so that they are computed once"
        own = [kernel for kernel in self.kernels if kernel.roots and kernel.roots[0].space == root.space]
        if own and all(kernel.across(root) for kernel in own):
            return ACROSS
        if any(kernel.divided(root) for kernel in own):
            return DIVIDED
        if own:
            return "it reads or changes elements in another order than an earlier kernel changes or reads them"
        others = [kernel.roots[0].space for kernel in self.kernels if kernel.roots]
        if not others:
            return ""
        if not any(bool(space.reduced) == bool(root.space.reduced) for space in others):
            rows, elements = "rows, which are shared by threads", "element by element"
            if root.space.reduced:
                return f"it reduces or scans {rows}, and earlier kernels go {elements}"
            return f"it goes {elements}, and earlier kernels reduce or scan {rows}"
        shape = (*root.space.parallel, *root.space.reduced)
        if any(space.reduced and (*space.parallel, *space.reduced) == shape for space in others):
            if not root.space.reduced:
                text = f"it goes element by element over the shape {format_shape(shape)}"
                return f"{text}, and earlier kernels over other shapes, or they reduce or scan rows"
            return "it reduces or scans along other axes than earlier kernels"
        return f"its iterations have the shape {format_shape(shape)}, and those of earlier kernels have others"
