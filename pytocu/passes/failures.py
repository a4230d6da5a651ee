"""Which requirements kernels have, and the words in which they note that one does not hold.

A requirement that does not hold is an exception at its statement.  A kernel cannot raise; it
writes what the sentence needs into words of its own for each requirement, always the smallest
number that any thread has, so that the outcome does not depend on the order of threads.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytocu.errors import Loc
from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Function, Inst, Value, make_attrs, walk
from pytocu.ir.regions import is_region
from pytocu.ir.types import I64, ArrayType


def requirements(function: Function) -> list[Inst]:
    """The requirements in all launches, launch by launch in the order in which Python would run them."""
    found: list[Inst] = []
    for launch in walk(function.body):
        if launch.op.name == "launch":
            found.extend(sorted((i for i in walk(launch.regions[0]) if i.op.name == "require"), key=_order))
    return found


def with_words(function: Function, count: int) -> Function:
    """Give each launch that requires something the words as its last argument, beside what its region takes.

    The words are made once, before everything else, and handed to the regions of loops and branches.
    """
    if not count:
        return function
    builder = Builder(function.body.terminator.loc)
    words = builder.emit("failures", (), {}, (ArrayType(I64, (count,)),), name="failures")
    insts = _given_words(function.body.insts, words, {})
    return Function(function.name, function.level, Block(function.params, (*builder.take(), *insts)), function.facts)


def _given_words(insts: Sequence[Inst], words: Value, values: dict[Value, Value]) -> list[Inst]:
    made: list[Inst] = []
    for inst in insts:
        args = tuple(values.get(a, a) for a in inst.args)
        needed = any(i.op.name == "require" for region in inst.regions for i in walk(region))
        attrs, regions = inst.attrs, inst.regions
        if needed:
            args = (*args, words)
        if needed and inst.op.name == "launch":
            attrs = make_attrs(dict(attrs) | {"noted": True})
        elif needed and is_region(inst):
            regions = tuple(_region_with_words(region, words) for region in regions)
        if args == inst.args:
            made.append(inst)
            continue
        made.append(Inst(inst.op, args, attrs, inst.types, regions, inst.loc))
        for old, new in zip(inst.results, made[-1].results, strict=True):
            new.name = old.name
            values[old] = new
    return made


def _region_with_words(region: Block, words: Value) -> Block:
    inner = Value(words.type, words.name)
    return Block((*region.params, inner), tuple(_given_words(region.insts, inner, {})))


def _order(inst: Inst) -> tuple[tuple[int, int], ...]:
    """Lines and columns, that of the outermost call first."""
    places: list[Loc] = list(inst.loc.chain())
    return tuple((loc.line, loc.column) for loc in reversed(places))


def place_words(needs: Sequence[Inst]) -> tuple[dict[Inst, int], int]:
    """The first word of each requirement, and how many words there are: a number and lengths for each."""
    words: dict[Inst, int] = {}
    count = 0
    for inst in needs:
        words[inst] = count
        count += 1 + len(inst.attr("dims"))
    return words, count
