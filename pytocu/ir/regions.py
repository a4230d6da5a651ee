"""Loops and branches at array level: rows whose regions are closed.

Arguments of such an instruction are, in this order,

* its *head*: the bounds and the step of a ``for_loop``, the condition of an ``if_else``;
* the first values of what a loop *carries* from one step to the next;
* everything else that its regions use (*shared* values).

The arguments of a ``map`` are those that its region is given element by element, and then the shared values.

A region has a parameter for each carried and shared value, behind the number of the step where a
``for_loop`` gives one; it sees nothing else.  So an instruction depends on its arguments alone, and may be
copied, moved and compared like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from pytocu.errors import Loc
from pytocu.ir.builder import Builder
from pytocu.ir.core import OPS, Block, Function, Inst, Value, make_attrs, named, walk
from pytocu.ir.dims import DimLike, Fact, fact_of
from pytocu.ir.infer import assignment_pairs, meeting_lengths
from pytocu.ir.rewrite import put_with, replay
from pytocu.ir.types import BOOL, WEAK_BOOL, ArrayType, ScalarType, Type, WeakType, scalar, shape_of

HEADS = {"for_loop": 3, "while_loop": 0, "if_else": 1, "map": 0}
"""How many arguments come before those that the regions are given."""


MAY_NOT_RUN = ("if_else", "for_loop", "while_loop")
"""Instructions whose regions a call may leave out."""


def is_region(inst: Inst | None) -> bool:
    """Whether an instruction is a loop or a branch at array level."""
    return inst is not None and inst.op.kind == "region"


def given(inst: Inst) -> tuple[Value, ...]:
    """The arguments that the regions are given."""
    return inst.args[HEADS[inst.op.name] :]


def carried_count(inst: Inst) -> int:
    """How many values go from one step to the next; 0 for a branch."""
    return inst.attr("carried", 0)


def element_count(inst: Inst) -> int:
    """How many of the arguments a map gives its region element by element."""
    return inst.attr("elements", 0)


def parameters(inst: Inst, region: Block) -> tuple[Value, ...]:
    """The parameters of a region that stand for arguments."""
    return region.params[1:] if inst.op.name == "for_loop" else region.params


def bindings(inst: Inst) -> Iterator[tuple[Value, Value]]:
    """Parameters of the regions, each with the argument that it is given (at first, where it is carried)."""
    for region in inst.regions:
        yield from zip(parameters(inst, region), given(inst), strict=True)


def numbers_of(block: Block) -> list[str]:
    """The names of ints of run time that are bound in a block and its regions, and of lengths that are read there."""
    found: list[str] = []
    for inst in walk(block):
        if inst.op.name == "read_length":
            found.append(inst.attr("name"))
        elif inst.op.name in ("bind", "strides"):
            found.extend(inst.attr("names"))
        elif inst.op.name == "for_loop" and step_name(inst) is not None:
            found.append(step_name(inst))
    return found


def step_name(inst: Inst) -> Any:
    """The name of the number of a step, where a loop gives it one."""
    numbers = inst.attr("numbers")
    return None if numbers is None else numbers[0]


def numbers_in(inst: Inst) -> frozenset[str]:
    """The names of numbers that are known inside of a loop or branch only."""
    own = {step_name(inst)} - {None}
    return frozenset(own.union(*(numbers_of(region) for region in inst.regions)))


def captured(insts: Sequence[Inst], params: Sequence[Value], results: Sequence[Value]) -> list[Value]:
    """The values from outside that instructions use, but for those that are written again inside (see `is_fixed`)."""
    inside = set(params)
    found: dict[Value, None] = {}
    for inst in insts:
        found.update(dict.fromkeys(a for a in inst.args if a not in inside and not is_fixed(a)))
        inside.update(inst.results)
    found.update(dict.fromkeys(v for v in results if v not in inside and not is_fixed(v)))
    return list(found)


def is_fixed(value: Value) -> bool:
    """A constant or a length: it is written where it is used, so that passes see what it is."""
    return value.inst is not None and value.inst.op.name in ("const", "dim")


def closed(
    insts: Sequence[Inst], params: Sequence[Value], results: Sequence[Value], shared: Sequence[Value], loc: Loc
) -> Block:
    """A region of these instructions, with parameters for the shared values behind its own.

    Parameters
    ----------
    insts : sequence of Inst
    params : sequence of Value
        The region's own parameters.
    results : sequence of Value
        What it yields.
    shared : sequence of Value
        Values from outside, as `captured` finds them.
    loc : Loc
        Of the ``yield``.
    """
    builder = Builder(loc)
    values: dict[Value, Value] = {}
    own: list[Value] = []
    inside = set(params)
    for value in shared:
        own.append(Value(bare(value.type), value.name))
        values[value] = own[-1]

    def bring_in(wanted: Sequence[Value]) -> None:
        for value in wanted:
            if value not in inside and value not in values and is_fixed(value):
                assert value.inst is not None
                builder.loc = value.inst.loc
                made = builder.inst(value.inst.op, (), dict(value.inst.attrs), value.inst.types)
                made.result.name = value.name
                values[value] = made.result

    for inst in insts:
        bring_in(inst.args)
        replay(builder, inst, lambda builder, inst, args: None, values)
        inside.update(inst.results)
    bring_in(results)
    builder.loc = loc
    builder.inst("yield", [values.get(v, v) for v in results])
    return Block((*params, *own), builder.take())


def bare(type: Type) -> Type:
    """A type without a layout, which is a fact about memory."""
    return ArrayType(type.dtype, type.shape) if isinstance(type, ArrayType) else type


def pruned(inst: Inst, used: set[Value]) -> Inst | None:
    """A loop or branch without the results nobody uses and what only they need; None where all is needed.

    Results of the new instruction stand for those of the old one that `kept` lists.
    """
    keep = kept(inst, used)
    live = _live_parameters(inst, keep)
    if len(keep) == len(inst.types) and len(live) == len(given(inst)):
        return None
    count = carried_count(inst)
    regions: list[Block] = []
    for region in inst.regions:
        params = parameters(inst, region)
        own = region.params[: len(region.params) - len(params)]
        results = [region.terminator.args[k] for k in keep]
        insts = _needed(region, results)
        builder = Builder(region.terminator.loc)
        builder.insts.extend(insts)
        builder.inst("yield", results)
        regions.append(Block((*own, *(params[k] for k in live)), builder.take()))
    head = inst.args[: HEADS[inst.op.name]]
    attrs = dict(inst.attrs) | ({"carried": len(keep)} if count or "carried" in dict(inst.attrs) else {})
    if inst.op.name == "map":
        attrs["elements"] = sum(k < element_count(inst) for k in live)
    made = Builder(inst.loc).inst(
        inst.op, (*head, *(given(inst)[k] for k in live)), attrs, [inst.types[k] for k in keep], regions
    )
    for number, k in enumerate(keep):
        made.results[number].name = inst.results[k].name
    return made


def kept(inst: Inst, used: set[Value]) -> list[int]:
    """The numbers of the results that are used, or that those need from one step to the next."""
    return list(_kept(inst, frozenset(n for n, result in enumerate(inst.results) if result in used)))


@lru_cache(maxsize=4096)
def _kept(inst: Inst, numbers: frozenset[int]) -> tuple[int, ...]:
    wanted = set(numbers)
    count = carried_count(inst)
    if inst.op.name == "while_loop":
        wanted.add(0)
    while count:
        (region,) = inst.regions
        reached = _reached(region, [region.terminator.args[n] for n in sorted(wanted)])
        more = {n for n, p in enumerate(parameters(inst, region)[:count]) if p in reached} - wanted
        if not more:
            break
        wanted |= more
    return tuple(sorted(wanted))


def _live_parameters(inst: Inst, keep: Sequence[int]) -> list[int]:
    """The numbers of the given values that the kept results need: carried ones are those that are kept."""
    return list(_live(inst, tuple(keep)))


@lru_cache(maxsize=4096)
def _live(inst: Inst, keep: tuple[int, ...]) -> tuple[int, ...]:
    count = carried_count(inst)
    live: set[int] = set(keep) if count else set()
    for region in inst.regions:
        reached = _reached(region, [region.terminator.args[n] for n in keep])
        live |= {n for n, p in enumerate(parameters(inst, region)) if n >= count and p in reached}
    return tuple(sorted(live))


def _reached(region: Block, results: Sequence[Value]) -> set[Value]:
    """Everything that results are made of, inside of a region."""
    seen: set[Value] = set(results)
    for inst in reversed(region.insts[:-1]):
        if is_region(inst) and any(r in seen for r in inst.results):
            seen.update(inst.args[: HEADS[inst.op.name]])
            seen.update(given(inst)[k] for k in _live_parameters(inst, kept(inst, seen)))
        elif _stays(inst) or any(r in seen for r in inst.results) or (is_region(inst) and compares(inst)):
            seen.update(inst.args)
    return seen


def _stays(inst: Inst) -> bool:
    """Whether an instruction does something besides its results; a conversion fails where its result is used."""
    return (bool(inst.op.effects) and inst.op.name != "convert") or raises(inst) or requires(inst)


def meetings(inst: Inst) -> list[tuple[DimLike, DimLike]]:
    """Pairs of lengths that an instruction takes as equal."""
    if len(inst.args) > 1 and (inst.op.kind == "elementwise" or inst.op.name == "map"):
        return meeting_lengths([shape_of(a.type) for a in spread(inst, inst.args)])
    if inst.op.name == "update":
        return assignment_pairs(*assigned(inst))
    if inst.op.name == "check" and inst.attr("kind") in ("fits", "mask", "meets", "place"):
        return [inst.attr("dims")[:2]]
    if inst.op.name == "place":
        array, mask, values, _ = (shape_of(a.type) for a in inst.args)
        return [p for part in ((array[: len(mask)], mask), (array[len(mask) :], values[1:])) for p in _met(*part)]
    return []


def _met(first: Sequence[DimLike], second: Sequence[DimLike]) -> list[tuple[DimLike, DimLike]]:
    return [(a, b) for a, b in zip(first, second, strict=True) if a != b and 1 not in (a, b)]


def spread(inst: Inst, args: tuple[Value, ...]) -> tuple[Value, ...]:
    """The operands that broadcast."""
    return args[: element_count(inst)] if inst.op.name == "map" else args


def assigned(update: Inst) -> tuple[tuple[DimLike, ...], tuple[DimLike, ...]]:
    """The shapes of what an update writes and of where it writes."""
    _, target, new = update.args
    return shape_of(new.type), shape_of(target.type)


def comparison(inst: Inst, pair: tuple[DimLike, DimLike]) -> Inst:
    """The check that lengths are equal which an instruction takes for that."""
    update = inst.op.name == "update"
    shapes = assigned(inst) if update else tuple(shape_of(a.type) for a in spread(inst, inst.args))
    attrs = {"kind": "assign" if update else "broadcast", "dims": pair, "shapes": shapes}
    return Inst(OPS["check"], (), make_attrs(attrs), (), (), inst.loc)


def conditions(check: Inst) -> list[Fact | bool]:
    """What is so where a check finds nothing."""
    dims = check.attr("dims")
    match check.attr("kind"):
        case "index":
            index, size, _ = dims
            return [fact_of(size - index, ">", 0), fact_of(size + index, ">", -1)]
        case "squeeze":
            return [fact_of(dims[0], "==", 1)]
        case str(kind) if kind.startswith("empty "):
            return [fact_of(dims[0], "!=", 0)]
    return [fact_of(dims[0] - dims[1], "==", 0)]


def launches(inst: Inst) -> bool:
    """Whether a loop or branch of the host starts kernels, which write memory."""
    return any(i.op.name == "launch" for region in inst.regions for i in walk(region))


def _needed(region: Block, results: Sequence[Value]) -> list[Inst]:
    reached = _reached(region, results)
    insts = region.insts[:-1]
    return [i for i in insts if _stays(i) or any(r in reached for r in i.results) or (is_region(i) and compares(i))]


def prune(function: Function) -> Function:
    """Drop what loops and branches compute for nobody."""
    body = _prune_block(function.body, may_fail)
    return function if body is function.body else Function(function.name, function.level, body, function.facts)


class _Inside(NamedTuple):
    """What stands somewhere inside of a loop or branch.

    A launch, what may be an error by itself, what a number must hold, what changes an array.
    """

    launches: bool
    wrong: bool
    requires: bool
    updates: bool


@lru_cache(maxsize=1024)
def _inside(inst: Inst) -> _Inside:
    launches = wrong = required = updates = False
    for region in inst.regions:
        for inner in region.insts:
            name = inner.op.name
            launches = launches or name == "launch"
            wrong = wrong or name == "check" or raises(inner)
            required = required or requires(inner)
            updates = updates or name == "update"
            if inner.regions:
                below = _inside(inner)
                launches = launches or below.launches
                wrong = wrong or below.wrong
                required = required or below.requires
                updates = updates or below.updates
    return _Inside(launches, wrong, required, updates)


def _launches(inst: Inst) -> bool:
    """Whether a loop or branch is the host's, whose body changes memory."""
    return _inside(inst).launches


def compares(inst: Inst) -> bool:
    """Whether a loop or branch may be an error though nobody uses what it computes: by lengths, an index, or in Python.

    What is required where it computes arrays is looked at where they are used, if it stands in another one.
    """
    numbers = not any(map(shape_of, inst.types))
    return _inside(inst).wrong or (numbers and _inside(inst).requires)


def may_fail(inst: Inst) -> bool:
    """Whether a loop or branch that stands in none may be an error though nobody uses what it computes."""
    return _inside(inst).wrong or _inside(inst).requires


FITS = "a Python int in a loop on arrays does not fit int64"
"""What is said of an int that Python has and a kernel does not; where nobody uses it, nothing is wrong."""


def requires(inst: Inst) -> bool:
    """Whether an instruction is an exception where a number does not hold something, whoever uses the number."""
    if inst.op.name != "require" or not isinstance(inst.types[0], ScalarType):
        return False
    return inst.attr("error") != "UnsupportedError" and inst.attr("sentence") != FITS


def raises_unused(inst: Inst) -> bool:
    """Whether an instruction in a step or branch makes numbers and may be an exception, whether they are used or not."""
    return requires(inst) or (is_region(inst) and compares(inst) and not any(map(shape_of, inst.types)))


_DIVISIONS = ("divide", "floor_divide", "remainder")
NOT_BELOW_ZERO = ("left_shift", "right_shift", "power")
"""What is an exception where the second number is negative; of powers, those of zero."""


RAISES = "raises"
"""How the names of numbers begin that say whether the program raises."""


def is_raise(inst: Inst) -> bool:
    """Whether a check is an exception that the program raises, and compares nothing that others rely on."""
    if inst.op.name != "check" or inst.attr("kind") != "equal":
        return False
    # The third and those behind it are shown in the sentence.
    return all(name.startswith(RAISES) for name in named(inst.attr("dims")[:2]))


def raises(inst: Inst) -> bool:
    """Whether an instruction on Python's numbers may be an exception of Python's."""
    if not inst.types or not isinstance(inst.types[0], WeakType):
        return False
    if len(inst.args) == 2:
        by = inst.args[1].inst
        known = by.attr("value") if by is not None and by.op.name == "const" else None
        if inst.op.name in _DIVISIONS:
            return not known
        if inst.op.name in NOT_BELOW_ZERO:
            return known is None or isinstance(known, complex) or known < 0
    return inst.op.effects == "check" and inst.op.python is not None


def _prune_block(block: Block, stays: Callable[[Inst], bool] = compares) -> Block:
    """From the last instruction to the first, so that what is used is known; then inside of regions."""
    used: set[Value] = set()
    made: list[Inst] = []
    values: dict[Value, Value] = {}
    # By instructions with fewer results: those that these stand for.
    stood_for: dict[Inst, list[Value]] = {}
    changed = False
    for inst in reversed(block.insts):
        if is_region(inst) and not _launches(inst):
            unused = not any(r in used for r in inst.results)
            if unused and not stays(inst):
                changed = True
                continue
            if unused and inst.op.name == "if_else" and any(map(shape_of, inst.types)):
                inst, changed = _of_checks(inst), True
            less = None if unused else pruned(inst, used)
            if less is not None:
                keep = kept(inst, used)
                stood_for[less] = [inst.results[k] for k in keep]
                inst, changed = less, True
        used.update(inst.args)
        made.append(inst)
    regions = {inst: tuple(map(_prune_block, inst.regions)) for inst in made if is_region(inst) and not _launches(inst)}
    if not changed and all(new == inst.regions for inst, new in regions.items()):
        return block
    builder = Builder()
    for inst in reversed(made):
        if inst in regions:
            # Nothing in a region is of the block around it.
            args = tuple([values.get(a, a) for a in inst.args])
            put_with(inst, builder, args, regions[inst], values)
        else:
            replay(builder, inst, lambda builder, inst, args: None, values)
        values.update((old, values.get(r, r)) for old, r in zip(stood_for.get(inst, ()), inst.results, strict=False))
    return Block(block.params, builder.take())


def _of_checks(branch: Inst) -> Inst:
    """A branch whose results nobody uses, with what may be an error in it: it hands on a truth value in place of arrays."""
    live = _live_parameters(branch, [])
    # As its condition is one: Python's on the host, NumPy's in a kernel.
    truth = WEAK_BOOL if isinstance(branch.args[0].type, WeakType) else scalar(BOOL)
    regions: list[Block] = []
    for region in branch.regions:
        builder = Builder(region.terminator.loc)
        builder.insts.extend(_needed(region, []))
        builder.inst("yield", (builder.const(True, truth),))
        regions.append(Block(tuple([region.params[k] for k in live]), builder.take()))
    args = (branch.args[0], *(given(branch)[k] for k in live))
    return Builder(branch.loc).inst("if_else", args, dict(branch.attrs), (truth,), regions)


def changes(inst: Inst) -> bool:
    """Whether a loop or branch changes arrays."""
    return is_region(inst) and _inside(inst).updates


def origin(value: Value) -> Value:
    """The contents that changes lead from: through updates, loops and branches; a number, which nothing changes, is its own."""
    while isinstance(value.type, ArrayType) and value.inst is not None:
        inst = value.inst
        if inst.op.name == "update":
            value = inst.args[0]
        elif is_region(inst) and changes(inst) and carried_count(inst):
            first = origin(inst.regions[0].terminator.args[value.index])
            if first is not parameters(inst, inst.regions[0])[value.index]:
                return value
            value = given(inst)[value.index]
        elif is_region(inst) and changes(inst):
            firsts = [origin(region.terminator.args[value.index]) for region in inst.regions]
            outer = {
                given(inst)[parameters(inst, r).index(f)] if f in parameters(inst, r) else f
                for r, f in zip(inst.regions, firsts, strict=True)
            }
            if len(outer) > 1 or any(f not in parameters(inst, r) for r, f in zip(inst.regions, firsts, strict=True)):
                return value
            (value,) = outer
        else:
            return value
    return value


def carried_memories(inst: Inst) -> list[int]:
    """The numbers of the carried values of a loop, or the results of a branch, that are arrays changed in place."""
    (region, *_) = inst.regions
    if carried_count(inst):
        params = parameters(inst, region)
        ends = region.terminator.args
        return [k for k in range(carried_count(inst)) if ends[k] is not params[k] and origin(ends[k]) is params[k]]
    return [k for k, result in enumerate(inst.results) if origin(result) is not result]
