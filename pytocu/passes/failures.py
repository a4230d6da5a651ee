"""Which requirements kernels have, and the words in which they note that one does not hold.

A requirement that does not hold is an exception at its statement.  A kernel cannot raise; it
writes what the sentence needs into words of its own for each requirement, always the smallest
number that any thread has, so that the outcome does not depend on the order of threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytocu.errors import Loc, is_note
from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Function, Inst, Value, make_attrs, walk
from pytocu.ir.regions import is_region
from pytocu.ir.types import I64, ArrayType


def requirements(function: Function) -> list[Inst]:
    """The requirements in all launches, launch by launch in the order in which Python would run them."""
    found: list[Inst] = []
    for launch in walk(function.body):
        if launch.op.name == "launch":
            found.extend(sorted(filter(_notes, walk(launch.regions[0])), key=_order))
    return found


def _notes(inst: Inst) -> bool:
    return inst.op.name in ("require", "check")


def stated(inst: Inst) -> dict[str, Any]:
    """The attributes of a ``failed``: the exception of a requirement, or of lengths that a loop inside of a kernel compares.

    What a kernel notes are numbers; lengths of which the host does not know the names are 0 in the attributes.
    """
    if inst.op.name == "require":
        return dict(inst.attrs)
    if inst.attr("kind") == "index":
        sentence = f"index {{0}} is out of bounds for axis {inst.attr('dims')[2]} with size {{1}}"
        return {"error": "IndexError", "sentence": sentence, "dims": (0,)}
    error, sentence, *said = inst.attr("shapes")
    attrs = {"error": error, "sentence": sentence, "dims": (0,) * (len(inst.attr("dims")) - 1)}
    return attrs | ({"said": tuple(said)} if said else {})


def in_kernel(check: Inst) -> bool:
    """Whether a kernel can compare what a check says: an index in one step, or two numbers that show no shapes."""
    match check.attr("kind"):
        case "index":
            return not check.attr("shapes")
        case "equal":
            return all(isinstance(part, str) or is_note(part) for part in check.attr("shapes"))
    return False


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
        launches = [inst] if inst.op.name == "launch" else [i for r in inst.regions for i in walk(r) if i.op.name == "launch"]
        needed = any(_notes(i) for launch in launches for i in walk(launch.regions[0]))
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
        count += 1 + len(stated(inst)["dims"])
    return words, count
