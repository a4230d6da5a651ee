"""What several kernels would compute, and one of them computes for all.

A value is computed in each kernel that needs it, unless it is in memory.  Which kernels these are is known when everything
has its kernel.  Of what is computed in several

* a reduction is computed by the first of them, and its result is read by the others: each would read all that it is made of;
* elements that a kernel stores anyhow, as results, are read by those behind it where that takes less than to compute them;
* elements that take long are stored, if computing them in each kernel takes longer than to store and load them.

Of two arrays that one kernel stores for others, where the second is made of the first by little (``1 - h * h`` of ``h``), the
second is computed by those that read it instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from pytocu.ir.core import Function, Inst, Value
from pytocu.ir.types import ArrayType, element, shape_of
from pytocu.passes.accesses import Index, operands, position
from pytocu.passes.roots import Once, Plan, Root, on_host
from pytocu.passes.spaces import Space
from pytocu.passes.store_or_repeat import weight


def computed_once(plan: Plan, function: Function, in_a_byte: int) -> Once:
    """What the kernels of a plan should not each compute, with the roots of the kernel that does.

    Parameters
    ----------
    in_a_byte : int
        Operations that take as long as a byte that is stored and loaded again.
    """
    users: dict[Value, list[Inst]] = {}
    for inst in function.body.insts:
        for arg in dict.fromkeys(inst.args):
            users.setdefault(arg, []).append(inst)
    return _reductions(plan, users) or _elements(plan, users, in_a_byte) or _beside(plan, in_a_byte)


def _identities(roots: Sequence[Root]) -> frozenset[tuple[Value, str]]:
    return frozenset((root.stands_for, root.use) for root in roots)


def _reductions(plan: Plan, users: Mapping[Value, Sequence[Inst]]) -> Once:
    homes: dict[Inst, dict[int, list[Root]]] = {}
    for number, kernel in enumerate(plan.kernels):
        for root in kernel.roots:
            for inst in (i for i in root.inside if i.op.kind != "scan"):
                homes.setdefault(inst, {}).setdefault(number, []).append(root)
    again = {inst: _identities(next(iter(by.values()))) for inst, by in homes.items() if len(by) > 1}
    results = ((result, roots) for inst, roots in again.items() for result in inst.results if result in users)
    return {_made_alone(result, users): roots for result, roots in results}


def _made_alone(value: Value, users: Mapping[Value, Sequence[Inst]]) -> Value:
    """What is made of a reduction's result and numbers alone where nothing else is, as a mean is of a sum; else the result."""
    found = value
    while len(users.get(value, ())) == 1:
        (inst,) = users[value]
        if inst.op.kind != "elementwise" or not all(_is_number(arg) for arg in inst.args if arg is not value):
            break
        value = inst.results[0]
        if shape_of(value.type) != shape_of(found.type):
            break
        # On the way it may be wider, as a mean of float32 is.
        found = value if element(value.type).itemsize <= element(found.type).itemsize else found
    return found


def _is_number(value: Value) -> bool:
    """Whether a value is made of numbers of the host."""
    stack, seen = [value], {value}
    while stack:
        value = stack.pop()
        if on_host(value):
            continue
        if isinstance(value.type, ArrayType) or value.inst is None or value.inst.op.kind != "elementwise":
            return False
        stack.extend(set(value.inst.args) - seen)
        seen.update(value.inst.args)
    return True


def _elements(plan: Plan, users: Mapping[Value, Sequence[Inst]], in_a_byte: int) -> Once:
    needing: dict[Value, dict[int, list[Root]]] = {}
    for number, kernel in enumerate(plan.kernels):
        for root in kernel.roots:
            for value in dict.fromkeys(v for v, _ in root.needed if _is_computed(root, v)):
                needing.setdefault(value, {}).setdefault(number, []).append(root)
    chosen: dict[Value, frozenset[tuple[Value, str]]] = {}
    needs: dict[tuple[Root, ...], _Needs] = {}
    for value, by in needing.items():
        made = (needing[r] for i in users.get(value, ()) for r in i.results if r in needing)
        if len(by) == 1 or any(kernels.keys() >= by.keys() for kernels in made):
            # It is computed once, or what is made of it is computed wherever it is.
            continue
        first, *others = by
        alike = any(root.space == Space(shape_of(value.type)) for root in by[first])
        saved: dict[int, float] = {}
        for number, roots in by.items():
            if (known := needs.get(alike_roots := tuple(roots))) is None:
                known = needs[alike_roots] = _Needs(roots)
            saved[number] = known.saved(value, in_a_byte)
        if any(r.stands_for is value and r.update is None for r in by[first]):
            reading = [number for number in others if saved[number] > 0]
        else:
            # Where the first one has other iterations, it loads it too.  What is about as long stays as it is written.
            size = element(value.type).itemsize
            gained = sum(saved[number] for number in others) - size - (0 if alike else size)
            reading = (others if alike else list(by)) if gained > size / 4 else []
        if reading:
            chosen[value] = _identities([root for number in by if number not in reading for root in by[number]])
    return chosen


def _beside(plan: Plan, in_a_byte: int) -> Once:
    """What a kernel stores and others read, so that what little is made of it alone need not be stored, too."""
    chosen: dict[Value, frozenset[tuple[Value, str]]] = {}
    for kernel in plan.kernels:
        stored = {r.value: r for r in kernel.roots if r.update is None and r.stands_for is r.value and shape_of(r.value.type)}
        for value, root in stored.items():
            if root.use != "read" or len(stored) == 1:
                continue
            found = _made_of(root, stored)
            if found is None:
                continue
            source, work = found
            size, more = element(value.type).itemsize, element(source.type).itemsize - element(value.type).itemsize
            readers = [r for other in plan.kernels for r in other.roots if any(v is value for v, _ in r.reads)]
            # Who reads it as a whole, a library or a view, reads it from memory in any case.
            again = [_times(reader, value) for reader in readers if value in reader.before]
            if len(again) < len(readers) or not again or None in again:
                continue
            if sum(n * work / in_a_byte + more for n in again if n is not None) < size:
                chosen[source] = _identities(kernel.roots)
    return chosen


def _made_of(root: Root, stored: Mapping[Value, Root]) -> tuple[Value, int] | None:
    """The stored array that another one is made of, beside numbers alone, and the operations of one element."""
    source: Value | None = None
    work = 0
    stack, seen = [root.value], {root.value}
    while stack:
        value = stack.pop()
        other = stored.get(value)
        if value is not root.value and other is not None and (other.space, other.index) == (root.space, root.index):
            if source is not None:
                return None
            source = value
        elif not on_host(value) or isinstance(value.type, ArrayType):
            inst = value.inst
            if inst is None or inst.op.kind != "elementwise" or on_host(value):
                return None
            same = (shape_of(a.type) in ((), shape_of(root.value.type)) for a in inst.args)
            if not all(same):
                return None
            work += weight(value, False)
            stack.extend(set(inst.args) - seen)
            seen.update(inst.args)
    return None if source is None else (source, work)


def _times(root: Root, value: Value) -> int | None:
    """How often a root computes each element of what it reads now; None where that is not known."""
    space = root.space
    dims = Counter((*space.parallel[space.piece is not None :], *space.reduced))
    own = Counter(shape_of(value.type))
    if not own <= dims:
        return None
    times = sum(v is value for v, _ in root.reads)
    for dim in (dims - own).elements():
        if not isinstance(dim, int):
            return None
        times *= dim
    return times


def _is_computed(root: Root, value: Value) -> bool:
    """Whether the elements of an array are computed with a root."""
    if not isinstance(value.type, ArrayType) or not shape_of(value.type) or not root.enters(value):
        return False
    return value.inst is not None and value.inst.op.kind in ("elementwise", "choice", "region")


class _Needs:
    """What the roots of a kernel are made of, and who needs each part of it.

    What a kernel no longer needs when it loads a value is what nothing else of it leads to.  That is found from the value on:
    if all that a kernel computes were walked for each value, the time would grow with the square of a function's length.

    Attributes
    ----------
    parts : list of (Value, Root)
        Each value at each position where it is needed, with the last root that needs it; the lists below have its number.
    places : dict
        By value: the numbers of its positions.
    roots : list of int
        How many roots need it.
    operands, users : list of dict
        For each root, by number: what it is made of, and how many need it.
    """

    def __init__(self, roots: Sequence[Root]):
        self.parts: list[tuple[Value, Root]] = []
        self.places: dict[Value, list[int]] = {}
        self.roots: list[int] = []
        self.operands: list[dict[int, list[int]]] = []
        self.users: list[dict[int, int]] = []
        numbers: dict[tuple[Value, Index], int] = {}
        for root in roots:
            pairs = root.needed
            for pair in pairs:
                if pair not in numbers:
                    numbers[pair] = len(self.parts)
                    self.places.setdefault(pair[0], []).append(len(self.parts))
                    self.parts.append((pair[0], root))
                    self.roots.append(0)
                self.parts[numbers[pair]] = pair[0], root
                self.roots[numbers[pair]] += 1
            made: dict[int, list[int]] = {}
            users = {numbers[root.value, position(root.value, root.index)]: 1}
            for pair in pairs:
                needed = operands(*pair, root.space.ndim) if root.enters(pair[0]) else ()
                made[numbers[pair]] = own = list(dict.fromkeys(numbers[one] for one in needed))
                for one in own:
                    users[one] = users.get(one, 0) + 1
            self.operands.append(made)
            self.users.append(users)

    def saved(self, value: Value, in_a_byte: int) -> float:
        """What is saved when the kernel loads a value: bytes an element, and operations as bytes."""
        own = self.places[value]
        gone: dict[int, int] = {}
        for made, users in zip(self.operands, self.users, strict=True):
            left: dict[int, int] = {}
            stack = [part for number in own for part in made.get(number, ())]
            while stack:
                number = stack.pop()
                left[number] = left.get(number, users[number]) - 1
                if left[number] == 0:
                    gone[number] = gone.get(number, 0) + 1
                    if self.parts[number][0] is not value:
                        stack.extend(made[number])
        spared = {number for number, count in gone.items() if count == self.roots[number]}.union(own)
        computed = {number for number in spared if self.parts[number][1].enters(self.parts[number][0])}
        work = sum(weight(self.parts[number][0], False) for number in computed)
        loaded = {self.parts[number][0] for number in spared - computed}
        lost = [v for v in loaded if isinstance(v.type, ArrayType) and spared.issuperset(self.places[v])]
        return work / in_a_byte + sum(element(v.type).itemsize for v in lost) - element(value.type).itemsize
