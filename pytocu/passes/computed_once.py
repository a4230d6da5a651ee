"""What several kernels would compute, and one of them computes for all.

A value is computed in each kernel that needs it, unless it is in memory.  Which kernels these are is known when everything
has its kernel.  Of what is computed in several

* a reduction is computed by the first of them, and its result is read by the others: each would read all that it is made of;
* elements that a kernel stores anyhow, as results, are read by those behind it where that takes less than to compute them;
* elements that take long are stored, if computing them in each kernel takes longer than to store and load them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pytocu.ir.core import Function, Inst, Value
from pytocu.ir.types import ArrayType, element, shape_of
from pytocu.passes.accesses import demand
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
    return _reductions(plan, users) or _elements(plan, users, in_a_byte)


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
            for value in dict.fromkeys(v for v, _ in root.needs() if _is_computed(root, v)):
                needing.setdefault(value, {}).setdefault(number, []).append(root)
    chosen: dict[Value, frozenset[tuple[Value, str]]] = {}
    for value, by in needing.items():
        made = (needing[r] for i in users.get(value, ()) for r in i.results if r in needing)
        if len(by) == 1 or any(kernels.keys() >= by.keys() for kernels in made):
            # It is computed once, or what is made of it is computed wherever it is.
            continue
        first, *others = by
        alike = any(root.space == Space(shape_of(value.type)) for root in by[first])
        saved = {number: _saved(by[number], value, in_a_byte) for number in by}
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


def _is_computed(root: Root, value: Value) -> bool:
    """Whether the elements of an array are computed with a root."""
    if not isinstance(value.type, ArrayType) or not shape_of(value.type) or not root.enters(value):
        return False
    return value.inst is not None and value.inst.op.kind in ("elementwise", "choice", "region")


def _saved(roots: Sequence[Root], value: Value, in_a_byte: int) -> float:
    """What the roots of a kernel save when they load a value: bytes an element, and operations as bytes."""
    before = {pair: root for root in roots for pair in root.needs()}
    after = {
        pair
        for root in roots
        for pair in demand([root.value], root.index, root.space.ndim, lambda v, root=root: v is value or not root.enters(v))
    }
    left = {v for v, _ in after}
    spared = {(v, at): root for (v, at), root in before.items() if (v, at) not in after or v is value}
    work = sum(weight(v, False) for (v, _), root in spared.items() if root.enters(v))
    read = {v for (v, _), root in spared.items() if not root.enters(v) and isinstance(v.type, ArrayType) and v not in left}
    return work / in_a_byte + sum(element(v.type).itemsize for v in read) - element(value.type).itemsize
