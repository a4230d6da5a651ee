"""What the forms of pointwise loops share: the work of a kernel, and loops around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

from pytocu.errors import InternalError
from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Inst, Value
from pytocu.ir.dims import evaluate, product, symbols
from pytocu.ir.types import INDEX, element, shape_of
from pytocu.passes import schedule
from pytocu.passes.accesses import Index, choice_key, demand, is_choice, whole_index
from pytocu.passes.affine import Affine
from pytocu.passes.elements import Elements, Target
from pytocu.record import Mutable

LEAST_LONG, LONG = 32, 1 << 20
"""Which pieces are long, and what a length that is not known counts as."""

MOST_WAYS = 3
"""Forms of the loop's body besides the one for any pieces."""

Picked: TypeAlias = Mapping[tuple[Value, Affine], int]
"""The numbers of pieces of concatenations, by what decides on them."""


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


class MaskLoops:
    """Begins the loops of a kernel whose iterations are the true elements of a mask.

    Parameters
    ----------
    e : Elements
    work : Work
    inst : Inst
        The ``compaction`` of the mask.

    Raises
    ------
    InternalError
        What is chosen is read at other positions than those of the iterations.
    """

    def __init__(self, e: Elements, work: Work, inst: Inst):
        self.e, self.work, self.inst = e, work, inst
        # The elements lie one behind the other, also where there are several axes.
        self.mask = e.whole(inst.args[0]).pointer
        self.length = product(shape_of(inst.args[0].type))
        self.places = [(value, at) for value, at in work.pairs if value is inst.result]
        if len(e.sizes) != 1 or any(at != work.index for _, at in self.places):
            raise InternalError("a compaction is read at other positions than its own")

    def compute(self, e: Elements, place: Value) -> None:
        """What an iteration computes of the element at a place of the mask."""
        e.within[place] = (self.length,)
        e.made.update(dict.fromkeys(self.places, place))
        e.elements(self.work.roots, self.work.index, self.work.pairs, self.work.targets)

    def index(self, builder: Builder, number: Value) -> Value:
        """A number as a position."""
        return builder.emit("convert_raw", (number,), {}, (INDEX,))


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


def one_piece_each(e: Elements, roots: Sequence[Value], indices: Sequence[Index]) -> list[Picked]:
    """The ways in which all elements of a thread may be in one piece of each concatenation, the likeliest first.

    These are the main piece of each, and where one concatenation alone decides first, its other long pieces.
    """
    first = _choices(e, roots, indices, {})
    if not first:
        return []
    ways = [main_pieces(e, roots, indices)]
    values = {value for value, _ in first}
    if len(values) == 1:
        (value,) = values
        main = ways[0][next(iter(first))]
        others = [n for n, piece in enumerate(_arguments(value)) if n != main and _length(value, piece) >= LEAST_LONG]
        ways += [main_pieces(e, roots, indices, dict.fromkeys(first, n)) for n in others[: MOST_WAYS - 1]]
    return ways


def main_pieces(e: Elements, roots: Sequence[Value], indices: Sequence[Index], given: Picked = MappingProxyType({})) -> Picked:
    """For every concatenation that the main pieces of others need: which of its pieces is the main one."""
    picked = dict(given)
    while True:
        found = _choices(e, roots, indices, picked)
        if found.keys() <= picked.keys():
            return picked
        picked |= {key: _main_piece(key[0]) for key in found if key not in picked}


def _choices(
    e: Elements, roots: Sequence[Value], indices: Sequence[Index], picked: Picked
) -> dict[tuple[Value, Affine], None]:
    pairs = (p for at in indices for p in demand(roots, at, e.ndim, chosen=False, picked=picked))
    return {choice_key(v, at): None for v, at in pairs if is_choice(v)}


def _main_piece(value: Value) -> int:
    """A long piece with the most operations, the longest of equals."""
    ndim = len(shape_of(value.type))
    weights: list[tuple[bool, int, int]] = []
    for piece in _arguments(value):
        length = _length(value, piece)
        needed = demand([piece], whole_index(ndim), ndim)
        operations = sum(v.inst is not None and v.inst.op.kind == "elementwise" for v, _ in needed)
        weights.append((length >= LEAST_LONG, operations, length))
    return weights.index(max(weights))


def _arguments(value: Value) -> tuple[Value, ...]:
    return value.inst.args if value.inst is not None else ()


def _length(concatenation: Value, piece: Value) -> int:
    """Of a piece, where all lengths that are not known are long."""
    assert concatenation.inst is not None
    length = shape_of(piece.type)[concatenation.inst.attr("axis")]
    return evaluate(length, dict.fromkeys(symbols(length), LONG))


def alignment(bytes: int) -> int:
    """What the address of a vector of so many bytes divides by."""
    return min(bytes & -bytes, schedule.VECTOR_BYTES)
