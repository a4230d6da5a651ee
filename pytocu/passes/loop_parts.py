"""What the forms of pointwise loops share: the work of a kernel, and loops around it."""

from __future__ import annotations

from collections.abc import Sequence

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Value
from pytocu.ir.types import element
from pytocu.passes import schedule
from pytocu.passes.accesses import Index
from pytocu.passes.affine import Affine
from pytocu.passes.elements import Elements, Target
from pytocu.record import Mutable


class Work(Mutable):
    """What the iterations of a kernel compute.

    Attributes
    ----------
    roots : sequence of Value
        The results.
    index : Index
        The position of an iteration in them.
    pairs : list of (Value, Index)
        Everything they need, operands before users.
    targets : list of Target
        Where each of them is stored.
    """

    roots: Sequence[Value]
    index: Index
    pairs: list[tuple[Value, Index]]
    targets: list[Target]


def copy_of(e: Elements, before: Builder) -> Elements:
    """The same kernel, to write its elements once more; lengths that it needs besides go to `before`."""
    copy = e._replace(before=before, inside=Builder(e.loc), made=dict(e.made), offsets=dict(e.offsets))
    if before is not e.before:
        copy.dims = dict(e.dims)
    return copy


def loop(to: Builder, body: Builder, bounds: tuple[Value, Value, Value], over: str, index: Value) -> None:
    """A loop whose iterations hand nothing on."""
    body.emit("yield")
    to.inst("for", bounds, {"over": over}, (), (Block((index,), body.take()),))


def walk(e: Elements, i: Value, rows: bool = False) -> None:
    """Take the number of an iteration apart where there are several loops; that of a row leaves out the last."""
    sizes = e.sizes[:-1] if rows else e.sizes
    e.linear = None if rows or len(sizes) < 2 else i
    e.loop_index = []
    rest = i
    for k in range(len(sizes) - 1, 0, -1):
        length = e.dim(sizes[k])
        e.loop_index.insert(0, e.inside.emit("remainder_truncated", (rest, length), name=f"i{k}"))
        rest = e.inside.emit("divide_truncated", (rest, length), name="i0" if k == 1 else "")
    if sizes:
        e.loop_index.insert(0, rest)
    if rows:
        e.loop_index.append(e.dim(0))


def itemsize_of(pointer: Value) -> int:
    """Bytes of an element."""
    return element(pointer.type).itemsize


def widest(e: Elements, work: Work) -> int:
    """Bytes an element of the widest array that moves with the iterations."""
    pointers = [t.pointer for t in work.targets]
    pointers += [e.memory[v].pointer for v, at in work.pairs if v in e.memory and (v, at) not in e.made]
    return max(map(itemsize_of, pointers))


def reads(e: Elements, pairs: Sequence[tuple[Value, Index]]) -> list[tuple[Value, Affine]]:
    """Pointers and offsets over the loops of what iterations load."""
    found = ((e.memory[v], at) for v, at in pairs if v in e.memory and (v, at) not in e.made)
    return list(dict.fromkeys((memory.pointer, e.merged(memory.offset(at, e.ndim))) for memory, at in found))


def shifted(place: Affine, axis: int, steps: int) -> Affine:
    """A position some steps further along an axis."""
    return place + place.coefficients[axis] * steps


def alignment(bytes: int) -> int:
    """What the address of a vector of so many bytes divides by."""
    return min(bytes & -bytes, schedule.VECTOR_BYTES)
