"""What a mask chooses is found by walking through the mask.

The front end counts the true elements up to each one, and each element of what is chosen looks for its own count
(`pytocu.frontend.compaction`).  That writes and reads a count for each element of the mask, however few are chosen.
Here such a search becomes a `compaction` of the mask itself, whose pieces begin where the counts before them say, and no
element has a count.  Its loops are those of `pytocu.passes.compaction_loops`, on a GPU of `pytocu.passes.compaction_blocks`;
they store the chosen elements, or the positions where anything else is made of these, and whoever wants them in another
order, or several times, reads them from there.

A mask that a GPU does not cut into pieces is short, and would have one block of threads: there each element looks for its
count, so that all threads look at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pytocu.ir.builder import Builder
from pytocu.ir.core import Function, Inst, Value
from pytocu.ir.rewrite import copy_with, rewrite
from pytocu.ir.types import BOOL, ArrayType, element, shape_of
from pytocu.passes import cleanup
from pytocu.passes.context import PassContext
from pytocu.passes.spaces import is_stored


class _Counted(NamedTuple):
    """The bools that a scan counts, and the scan."""

    mask: Value
    scan: Inst


def chosen_by(inst: Inst) -> Value | None:
    """The mask whose true elements a search finds, one after the other; None for any other instruction."""
    counted = _counted(inst.args) if inst.op.name == "search" else None
    return None if counted is None else counted.mask


def run(function: Function, context: PassContext) -> Function:
    """Walk through masks instead of searching among counts."""
    if function.level == "host":
        return function
    gpu = context.target.kind == "cuda"
    searches = {inst for inst in function.body.insts if inst.op.name == "search" and _walks(inst, gpu)}
    if not searches:
        return function
    kept: set[Value] = set()
    for inst in searches:
        counted = _counted(inst.args)
        assert counted is not None
        if _in_memory(counted.mask, function) is None:
            kept.add(counted.mask)

    taken = _taken(function, searches)

    def rule(builder: Builder, inst: Inst, args: tuple[Value, ...]) -> Sequence[Value] | None:
        if inst in searches:
            counted = _counted(args)
            assert counted is not None
            found = _walk(builder, inst, counted, function)
            return (found if inst in taken.values() else builder.emit("keep", (found,)),)
        if inst in taken:
            return [builder.emit("keep", (made,)) for made in copy_with(inst, builder, args)]
        if kept.isdisjoint(inst.results):
            return None
        made = copy_with(inst, builder, args)
        pairs = zip(inst.results, made, strict=True)
        return [builder.emit("keep", (new,), name=old.name) if old in kept else new for old, new in pairs]

    # Nobody asks for the counts of single elements any more.
    return cleanup.dce(rewrite(function, rule), context)


def _walks(search: Inst, gpu: bool) -> bool:
    counted = _counted(search.args)
    return counted is not None and not (gpu and counted.scan.attr("piece") is None)


def _walk(builder: Builder, inst: Inst, counted: _Counted, function: Function) -> Value:
    """The positions."""
    mask = _in_memory(counted.mask, function)
    assert mask is not None
    piece = counted.scan.attr("piece")
    attrs = {"shape": shape_of(inst.result.type)} | ({} if piece is None else {"piece": piece})
    return builder.emit("compaction", (mask, *counted.scan.args[1:]), attrs)


def _taken(function: Function, searches: set[Inst]) -> dict[Inst, Inst]:
    """What takes the chosen elements of vectors, each with its search, where nothing else wants the positions."""
    readers: dict[Inst, list[Inst]] = {inst: [] for inst in searches}
    for inst in function.body.insts:
        for maker in dict.fromkeys(arg.inst for arg in inst.args if arg.inst is not None):
            if maker in readers:
                readers[maker].append(inst)
    return {
        reader: search
        for search, found in readers.items()
        if all(_takes_elements(reader, search) for reader in found)
        for reader in found
    }


def _takes_elements(inst: Inst, search: Inst) -> bool:
    """Whether elements of another vector are taken at the positions that a search finds."""
    if inst.op.name != "gather" or len(inst.args) != 2 or inst.args[0].inst is search:
        return False
    return len(shape_of(inst.args[0].type)) == 1


def _counted(args: Sequence[Value]) -> _Counted | None:
    """What is counted, if a search is for the first, second, third ... count of the true elements of a mask."""
    counts, numbers = args
    if not _is_each(numbers):
        return None
    scan = _made(counts, "keep", "cast")
    if scan is None or scan.op.name != "scan" or scan.attr("op") != "add" or scan.attr("exclusive"):
        return None
    ones = scan.args[0].inst
    if ones is None or ones.op.name != "cast" or element(ones.args[0].type) is not BOOL:
        return None
    return _Counted(ones.args[0], scan) if len(shape_of(ones.args[0].type)) == 1 else None


def _is_each(numbers: Value) -> bool:
    """Whether they are 1, 2, 3 and so on, of whatever dtype and within whatever limits hold them."""
    inst = _made(numbers, "cast", "minimum", "maximum")
    if inst is None or inst.op.name != "add":
        return False
    first, second = (_made(a, "cast", "broadcast") for a in inst.args)
    return first is not None and second is not None and first.op.name == "iota" and second.attr("value") == 1


def _made(value: Value, *through: str) -> Inst | None:
    """What makes a value, behind rows of these names, which hand on their first operand."""
    inst = value.inst
    while inst is not None and inst.op.name in through:
        inst = inst.args[0].inst
    return inst


def _in_memory(mask: Value, function: Function) -> Value | None:
    """The array whose elements, in row-major order, are those of a mask; None where they are computed or lie otherwise."""
    value = mask
    while not is_stored(value) and value.inst is not None:
        inst = value.inst
        source = inst.args[0] if inst.args else None
        if inst.op.name not in ("copy", "reshape", "transpose") or source is None:
            return None
        if inst.op.name == "transpose" and inst.attr("axes") != tuple(range(len(inst.attr("axes")))):
            return None
        if inst.op.name == "reshape" and not _lies_flat(source, function):
            return None
        value = source
    return value if is_stored(value) or _lies_flat(value, function) else None


def _lies_flat(value: Value, function: Function) -> bool:
    """Whether the elements lie one behind the other in row-major order."""
    while value.inst is not None and value.inst.op.name == "copy":
        value = value.inst.args[0]
    if value not in function.params or not isinstance(value.type, ArrayType):
        return is_stored(value) and isinstance(value.type, ArrayType)
    return value.type.layout == "C"
