"""How the parts of an instruction go together: what regions are given and yield, what is written through a pointer.

Every rule says what is wrong with one instruction as the end of a sentence; the verifier adds its place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytocu.ir import regions
from pytocu.ir.core import Block, Inst, types_of
from pytocu.ir.lanes import lane_reach
from pytocu.ir.types import (
    BOOL_SCALAR,
    INDEX,
    ArrayType,
    PointerType,
    ScalarType,
    Type,
    VectorType,
    element,
    scalar,
)


def wrong(inst: Inst) -> str:
    """What is wrong with an instruction whose arguments are defined; empty where nothing is."""
    match inst.op.name:
        case "return":
            return _return(inst)
        case "kernel" | "launch":
            return _kernel(inst)
        case "load" | "store" | "atomic_minimum" | "prefetch":
            return _access(inst)
        case "for":
            return _for(inst)
        case "if":
            return _if(inst)
        case "while":
            return _while(inst)
        case "lanes":
            return _lanes(inst)
    return _closed(inst) if inst.op.kind == "region" else ""


def _return(inst: Inst) -> str:
    numbers = [n for n in _numbers(inst.attr("tree")) if n >= len(inst.args)]
    numbers += [n for pair in inst.attr("updates", ()) for n in pair if n >= len(inst.args)]
    return f"names the result {numbers[0]} of {len(inst.args)}" if numbers else ""


def _numbers(tree: Any) -> list[int]:
    """The numbers of results that a tree names, in order."""
    match tree:
        case None | str() | ("str", _):
            return []
        case int():
            return [tree]
        case ("dict", *items):
            return [n for _, member in items for n in _numbers(member)]
        case ("members", member, _):
            return [member]
        case ("named", _, *members) | (*members,):
            return [n for m in members for n in _numbers(m)]
    return []


def _kernel(inst: Inst) -> str:
    """A kernel is given its arguments, a launch of arrays those in front of its results; both yield the results."""
    (region,) = inst.regions
    if inst.op.name == "launch" and is_lowered(inst):
        # Memory that is written in several places is one argument by now.
        words = [_word(a.type, p.type) for a, p in zip(inst.args, region.params, strict=False)]
        return _unlike([*words, *(a.type for a in inst.args[len(words) :])], [p.type for p in region.params], "arguments")
    count = 0 if inst.op.name == "kernel" else inst.attr("outputs")
    if count > len(inst.args):
        return f"has {len(inst.args)} arguments, and writes {count} of them"
    given = inst.args[: len(inst.args) - count]
    results = inst.types if inst.op.name == "kernel" else types_of(inst.args[len(given) :])
    found = _unlike([regions.bare(a.type) for a in given], [regions.bare(p.type) for p in region.params], "arguments")
    return found or _unlike([_plain(a.type) for a in region.terminator.args], [_plain(t) for t in results], "results")


def is_lowered(launch: Inst) -> bool:
    """Whether the region of a launch holds loops: it has pointers and lengths for parameters, and not arrays."""
    return any(not isinstance(p.type, ArrayType | ScalarType) for p in launch.regions[0].params)


def _access(inst: Inst) -> str:
    pointer, place, *rest = (a.type for a in inst.args)
    if not isinstance(pointer, PointerType) or place != INDEX:
        return f"takes a pointer and an index first, not {pointer} and {place}"
    if inst.op.name in ("store", "atomic_minimum") and (
        not isinstance(rest[0], ScalarType | VectorType) or element(rest[0]) is not pointer.dtype
    ):
        return f"writes a value of type {rest[0]} through {pointer}"
    return ""


def _for(inst: Inst) -> str:
    (region,) = inst.regions
    carried = [a.type for a in inst.args[3:]]
    found = _unlike([INDEX, *carried], [p.type for p in region.params], "parameters")
    found = found or _unlike(_yielded(region), carried, "carried values")
    if not found and any(a.type != region.params[0].type for a in inst.args[:3]):
        return f"has bounds of the types {_listed([a.type for a in inst.args[:3]])}, not index"
    return found or _unlike(carried, inst.types, "results")


def _if(inst: Inst) -> str:
    if inst.args[0].type != BOOL_SCALAR:
        return f"has a condition of type {inst.args[0].type}, not bool"
    for region in inst.regions:
        # A side that leaves the function hands nothing on.
        made = inst.types if region.terminator.op.name == "return" else _yielded(region)
        found = _unlike([], [p.type for p in region.params], "parameters") or _unlike(made, inst.types, "results")
        if found:
            return found
    return ""


def _while(inst: Inst) -> str:
    before, body = inst.regions
    given = [a.type for a in inst.args]
    return (
        _unlike(given, [p.type for p in before.params], "parameters")
        or _unlike(_yielded(before), [BOOL_SCALAR, *inst.types], "a condition and results")
        or _unlike(inst.types, [p.type for p in body.params], "parameters")
        or _unlike(_yielded(body), given, "carried values")
    )


def _lanes(inst: Inst) -> str:
    (region,) = inst.regions
    vectors = [a.type for a in inst.args if isinstance(a.type, VectorType)]
    carried = [a.type for a in inst.args if not isinstance(a.type, VectorType)]
    made = [t for t in inst.types if isinstance(t, VectorType)]
    count = inst.attr("lanes")
    stated = inst.attr("reach")
    if any(v.lanes % count for v in (made if stated else [*vectors, *made])):
        return f"has vectors that do not divide into {count} lanes"
    if stated is not None and len(stated) != len(vectors):
        return f"says for {len(stated)} of {len(vectors)} vectors which elements a lane is given"
    reach = lane_reach(inst)
    for vector, share in zip(vectors, reach, strict=True):
        ends = [share.first + k * share.step for k in (0, count - 1)]
        if min(ends) < 0 or max(ends) + share.many > vector.lanes:
            return f"gives lanes elements that {vector} does not have"
    parts = [scalar(v.dtype) for v, share in zip(vectors, reach, strict=True) for _ in range(share.many)]
    wanted = [scalar(v.dtype) for v in made for _ in range(v.lanes // count)]
    return (
        _unlike([INDEX, *parts, *carried], [p.type for p in region.params], "parameters")
        or _unlike([*made, *carried], inst.types, "results")
        or _unlike(_yielded(region), [*wanted, *carried], "elements of results")
    )


def _closed(inst: Inst) -> str:
    """A loop or branch of the user's program: see `pytocu.ir.regions`."""
    given = regions.given(inst)
    if regions.carried_count(inst) > len(given) or regions.element_count(inst) > len(given):
        return f"has {len(given)} values to give to its regions, and says that more go from step to step"
    for region in inst.regions:
        taken = len(regions.parameters(inst, region))
        if taken != len(given) or len(region.params) < taken:
            return f"gives {len(given)} values to a region that takes {taken}"
    return ""


def _yielded(region: Block) -> list[Type]:
    return [a.type for a in region.terminator.args]


def _plain(type: Type) -> Type:
    """A result without its lengths, which may be stated in other words; an array without axes is written as a number."""
    if not isinstance(type, ArrayType):
        return type
    return ArrayType(type.dtype, (0,) * type.ndim) if type.ndim else scalar(type.dtype)


def _word(type: Type, wanted: Type) -> Type:
    """What a kernel of loops is given for an argument: memory holds words, once no float16 and complex numbers are left."""
    if not isinstance(type, ArrayType | ScalarType) or not isinstance(wanted, PointerType):
        return type
    return PointerType(type.dtype.word if wanted.dtype is type.dtype.word else type.dtype)


def _unlike(given: Sequence[Type], wanted: Sequence[Type], what: str) -> str:
    if list(given) == list(wanted):
        return ""
    return f"has {what} of the types {_listed(given)} for {_listed(wanted)}"


def _listed(types: Sequence[Type]) -> str:
    return f"({', '.join(map(str, types))})"
