"""Launches of the same code get one name, and the code is compiled once.

The steps of a loop that was written out are kernels that differ in the arrays they are called with, and in numbers: of the
step, and of the words in which they note failures.  On a CPU, where compiling takes longer than all passes, such numbers are
given to one kernel, where its code is as fast with any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Function, Inst, Value, attr_key, walk
from pytocu.ir.rewrite import rewrite, rewrite_block
from pytocu.ir.types import INDEX
from pytocu.passes.context import PassContext


def run(function: Function, context: PassContext) -> Function:
    """Name them alike."""
    names: dict[Hashable, str] = {}
    given = _given(function) if context.target.kind == "cpu" else {}
    made: dict[tuple[Builder, int], Value] = {}

    def number(builder: Builder, value: int) -> Value:
        if (builder, value) not in made:
            made[builder, value] = builder.emit("dim", (), {"value": value}, (INDEX,))
        return made[builder, value]

    def rule(builder: Builder, inst: Inst, args: tuple[Value, ...]) -> Sequence[Value] | None:
        if inst.op.name != "launch":
            return None
        region, numbers = given.get(inst.attr("name"), (inst.regions[0], ()))
        args = (*args, *(number(builder, value) for value in numbers))
        key = (inst.attr("block"), inst.attr("resident"), inst.attr("schedule"), form(region, {}))
        name = names.setdefault(key, inst.attr("name"))
        if name == inst.attr("name") and not numbers:
            return None
        builder.inst("launch", args, dict(inst.attrs) | {"name": name}, (), (region,))
        return ()

    return rewrite(function, rule)


def _given(function: Function) -> dict[str, tuple[Block, tuple[int, ...]]]:
    """By the names of launches: their kernels with parameters in place of numbers, and these numbers."""
    groups: dict[Hashable, dict[str, Block]] = {}
    for launch in walk(function.body):
        if launch.op.name == "launch":
            region = launch.regions[0]
            key = (launch.attr("block"), launch.attr("resident"), launch.attr("schedule"), form(region, {}, _is_open))
            groups.setdefault(key, {}).setdefault(launch.attr("name"), region)
    found: dict[str, tuple[Block, tuple[int, ...]]] = {}
    for regions in groups.values():
        if len(regions) == 1:
            continue
        uses = {name: [inst for inst in walk(region) if _is_open(inst, 1)] for name, region in regions.items()}
        numbers = {name: [_number(inst) for inst in insts] for name, insts in uses.items()}
        fixed = _fixed(regions, uses, numbers)
        # Those that have the same numbers where these do not become parameters.
        for names in _by(regions, lambda name: tuple(numbers[name][place] for place in fixed)):
            columns = list(zip(*(numbers[name] for name in names), strict=True))
            differing = list(dict.fromkeys(column for column in columns if len(set(column)) > 1))
            if not differing:
                continue
            for member, name in enumerate(names):
                kept = {i: differing.index(c) for i, c in zip(uses[name], columns, strict=True) if c in differing}
                given = tuple(column[member] for column in differing)
                found[name] = _with_parameters(regions[name], kept, len(given)), given
    return found


def _is_open(inst: Inst, place: int) -> bool:
    """Whether a kernel is as fast with any number here: a constant that is a position in an array that it is called with.

    Positions in its own memory decide what lies in registers.
    """
    if inst.op.name not in ("load", "store", "atomic_minimum") or place != 1 or inst.attrs:
        return False
    pointer, position = inst.args[:2]
    return pointer.inst is None and position.inst is not None and position.inst.op.name == "const"


def _number(inst: Inst) -> int:
    """The constant position of an open instruction."""
    assert inst.args[1].inst is not None
    return inst.args[1].inst.attr("value")


def _fixed(regions: Mapping[str, Block], uses: Mapping[str, Sequence[Inst]], numbers: Mapping[str, Sequence[int]]) -> list[int]:
    """The open places whose numbers stay: of several that differ in one array, since neighbours may be one vector."""
    name, *_ = regions
    differing: dict[Value, dict[tuple[int, ...], list[int]]] = {}
    for place, column in enumerate(zip(*numbers.values(), strict=True)):
        inst = uses[name][place]
        if len(set(column)) > 1 and inst.op.name != "atomic_minimum":
            differing.setdefault(inst.args[0], {}).setdefault(column, []).append(place)
    return [place for columns in differing.values() if len(columns) > 1 for places in columns.values() for place in places]


def _by(names: Iterable[str], key: Callable[[str], Hashable]) -> list[list[str]]:
    """Names in lists of those that have one key."""
    found: dict[Hashable, list[str]] = {}
    for name in names:
        found.setdefault(key(name), []).append(name)
    return list(found.values())


def _with_parameters(region: Block, uses: Mapping[Inst, int], count: int) -> Block:
    """A kernel with so many more parameters, which are the positions of instructions in place of constants."""
    added = [Value(INDEX, "number") for _ in range(count)]
    others = {a for inst in walk(region) for place, a in enumerate(inst.args) if place != 1 or inst not in uses}

    def rule(builder: Builder, inst: Inst, args: tuple[Value, ...]) -> Sequence[Value] | None:
        if inst in uses:
            return builder.inst(inst.op, (args[0], added[uses[inst]], *args[2:]), dict(inst.attrs), inst.types).results
        # Nobody reads it any more.
        return (added[0],) if inst.op.name == "const" and inst.result not in others else None

    body = rewrite_block(region, rule, {})
    return Block((*region.params, *added), body.insts)


def form(block: Block, numbers: dict[Value, int], is_open: Callable[[Inst, int], bool] | None = None) -> Hashable:
    """A block without names and locations: the same for two blocks that compute the same of their parameters.

    Parameters
    ----------
    numbers : dict
        What values are called in it; filled with those of the block.
    is_open : callable, optional
        Whether it does not matter which constant an argument of an instruction is.
    """
    for param in block.params:
        numbers[param] = len(numbers)
    lines: list[Hashable] = [tuple(str(p.type) for p in block.params)]
    for inst in block.insts:
        if inst.op.name == "const":
            continue
        args: list[Hashable] = []
        for n, a in enumerate(inst.args):
            if a in numbers:
                args.append(numbers[a])
            elif is_open is not None and is_open(inst, n):
                args.append(str(a.type))
            else:
                assert a.inst is not None
                args.append((str(a.type), attr_key(a.inst.attr("value"))))
        regions = tuple(form(region, numbers, is_open) for region in inst.regions)
        attrs = tuple((name, attr_key(value)) for name, value in inst.attrs)
        lines.append((inst.op.name, tuple(args), attrs, tuple(map(str, inst.types)), regions))
        for result in inst.results:
            numbers[result] = len(numbers)
    return tuple(lines)
