"""Which intermediate arrays are stored, because computing their elements again costs more.

A value that is read at one position only is computed where it is needed.  One that is read at several (by a
stencil over what another stencil made) is computed once for each of them, or stored by a kernel of its own
and loaded.  Storing costs the time of so many operations as the target does while an element is written and read:

    (positions - 1) * operations of an element > OPERATIONS_A_BYTE * bytes of an element

For pairs of elements (``x[:, None] - x``) each is computed as often as there are others, so a value that is
paired with itself is stored if it takes more than a few operations.  A table whose elements take a division
or more is stored where more positions than it has elements are looked up, and where that is not known, but
the positions have more axes.
Code for each piece of a concatenation is written on its own, so what several pieces are made of (`np.roll`) is stored where
that would be much code, however little of it an element runs through.
What has loops of its own is never gone through twice, and an array is in memory where a map reads what elements it likes.
Narrow elements count as four bytes, since a load is an instruction however narrow it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from pytocu.ir.builder import Builder
from pytocu.ir.core import Function, Inst, Value, walk
from pytocu.ir.dims import product
from pytocu.ir.regions import element_count, is_region
from pytocu.ir.rewrite import copy_with, rewrite
from pytocu.ir.types import ArrayType, element, shape_of
from pytocu.passes.accesses import Index, demand, is_choice, operands, view_chain, whole_index
from pytocu.passes.classes import Classes
from pytocu.passes.context import PassContext
from pytocu.passes.costs import LONG, OPERATIONS_A_BYTE, operations
from pytocu.passes.roots import INSIDE

BRANCH = 3
"""Operations that a concatenation counts as: a comparison, a branch, and code for each piece."""

COPIED = 512
"""Operations that are written once more for another piece."""

PAIRED = 3
"""Operations that are computed again for each pair of elements."""


def run(function: Function, context: PassContext) -> Function:
    """Keep what is worth it."""
    if function.level == "host":
        return function
    classes = Classes(context)
    stored = _worth_storing(function, classes, OPERATIONS_A_BYTE[context.target.kind])

    def rule(builder: Builder, inst: Inst, args: tuple[Value, ...]) -> Sequence[Value] | None:
        if not any(result in stored for result in inst.results):
            return None
        made = copy_with(inst, builder, args)
        pairs = zip(inst.results, made, strict=True)
        return [builder.emit("keep", (new,), name=old.name) if old in stored else new for old, new in pairs]

    return classes.state(rewrite(function, rule) if stored else function)


def _worth_storing(function: Function, classes: Classes, in_a_byte: int) -> set[Value]:
    """The values that kernels put into memory; `in_a_byte` operations take as long as a byte that is stored and loaded."""
    places: dict[Value, set[Index]] = {}
    paired: set[Value] = set()
    for inst in function.body.insts:
        if inst.op.kind in ("elementwise", "choice") or inst.op.name == "map":
            read = dict.fromkeys(_read_by(inst))
            for value, at in read:
                places.setdefault(value, set()).add(at)
            values = [v for v, _ in read if len(shape_of(v.type)) < len(shape_of(inst.types[0]))]
            paired.update(v for v in values if values.count(v) > 1)
    stored: set[Value] = set()
    written: dict[Value, int] = {}
    for inst in function.body.insts:
        if is_region(inst):
            if inst.op.name == "map":
                stored.update(v for a in inst.args[element_count(inst) :] for v in (view_chain(a)[0],) if _is_computed(v))
            if inst.op.name != "map" or _goes_round(inst):
                stored.update(r for r in inst.results if len(places.get(r, ())) > 1 and shape_of(r.type))
                continue
        elif inst.op.kind not in ("elementwise", "choice"):
            continue
        if inst.op.name == "gather":
            table = view_chain(inst.args[0])[0]
            if _is_computed(table) and _operations(table, stored) >= LONG and _many_looked_up(inst, classes):
                stored.add(table)
        if is_choice(inst.results[0]):
            for value, pieces in Counter(value for value, _ in _operands_of(inst)).items():
                if (pieces - 1) * written.get(value, 0) > COPIED and isinstance(value.type, ArrayType):
                    stored.add(value)
        parts = sum(1 if value in stored else written.get(value, 1) for value, _ in _operands_of(inst))
        written.update((result, weight(result, False) + parts) for result in inst.results)
        for value in inst.results:
            again = len(places.get(value, ())) - 1
            if again < 1 or not isinstance(value.type, ArrayType) or not shape_of(value.type):
                continue
            costs = _operations(value, stored)
            if costs * again > in_a_byte * max(element(value.type).itemsize, 4) or (value in paired and costs > PAIRED):
                stored.add(value)
    return stored


def _many_looked_up(inst: Inst, classes: Classes) -> bool:
    """Whether more elements of a table are looked up than it has along the axes of the positions."""
    table, *given = inst.args
    axes, positions = inst.attr("axes"), max((shape_of(p.type) for p in given), key=len)
    known = classes.at_most(product([shape_of(table.type)[a] for a in axes]) - product(positions), -1)
    return len(positions) > len(axes) if known is None else known


def _goes_round(inst: Inst) -> bool:
    """Whether there are loops in it."""
    return any(i.op.name in _LOOPS for region in inst.regions for i in walk(region))


_LOOPS = ("for_loop", "while_loop")


def _is_computed(value: Value) -> bool:
    """Whether an array is computed where it is read, unless it is stored."""
    made = value.inst is not None and (value.inst.op.kind in ("elementwise", "choice", "generated") or is_region(value.inst))
    return made and isinstance(value.type, ArrayType)


def _read_by(inst: Inst) -> Iterable[tuple[Value, Index]]:
    """What an instruction reads through views, and where for each of its elements."""
    pieces: set[Value] = set()
    for arg, at in _operands_of(inst):
        # An element of a concatenation is that of one piece.
        if not (is_choice(inst.results[0]) and arg in pieces):
            yield arg, at
        pieces.add(arg)


def _operands_of(inst: Inst) -> Iterable[tuple[Value, Index]]:
    """What an instruction reads through views, and where, for each of its operands and pieces, once for each place."""
    value = inst.results[0]
    ndim = len(shape_of(value.type))
    found: dict[tuple[Value, Index], None] = {}
    for arg, at in operands(value, whole_index(ndim), ndim):
        while arg.inst is not None and arg.inst.op.kind == "view":
            arg, at = operands(arg, at, ndim)[-1]
        found[arg, at] = None
    return found


def _operations(value: Value, stored: set[Value]) -> int:
    """What one element costs."""
    ndim = len(shape_of(value.type))

    def stops(needed: Value) -> bool:
        inst = needed.inst
        return needed is not value and (inst is None or inst.op.kind not in INSIDE or needed in stored)

    pairs = demand([value], whole_index(ndim), ndim, stops)
    return sum(weight(needed, stops(needed)) for needed, _ in pairs)


def weight(value: Value, loaded: bool) -> int:
    """Operations that one element of a value takes, without what it is made of."""
    if loaded:
        return 1
    if is_choice(value):
        return BRANCH
    assert value.inst is not None
    inner = (i for region in value.inst.regions for i in walk(region))
    return operations(value.inst) + sum(map(operations, inner))
