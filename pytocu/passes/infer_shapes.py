"""Settles lengths: which are equal, which are 1, and what the call must check.

After this pass every operand of an elementwise instruction has the shape of the result or
no axes at all; ``broadcast`` instructions do what NumPy does silently.  Lengths that must be
equal are one symbol, and a ``check`` states what the call verifies before anything runs.  A
length that meets another one may happen to be 1, and NumPy would repeat that axis; an
``assume`` records that it is not, as a guard of the compiled code (see `unit_lengths`).

A side of a branch that is not taken raises nothing, nor does the body of a loop without steps.  Whether the lengths in
them fit together is a size class (`pytocu.passes.classes`): where those of the call do, an ``assume`` takes the place of
the check; otherwise the check stays where it is, and nothing is taken as equal because of it.  So it is behind a check that
waits for the data: what is computed before relies on no length that a later check compares.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Function, Inst, Value, named, substitute_attr, substitute_type, walk
from pytocu.ir.dims import (
    Dim,
    DimLike,
    Fact,
    as_symbol,
    dim_min,
    ends_of,
    evaluate,
    fact_of,
    greatest,
    is_number,
    substitute,
    symbols,
)
from pytocu.ir.infer import broadcast_shapes, repeated_axes
from pytocu.ir.regions import MAY_NOT_RUN, assigned, conditions, meetings, numbers_of, spread
from pytocu.ir.types import ArrayType, Type, WeakType, scalar, shape_of
from pytocu.passes.classes import SHORTEST, Classes
from pytocu.passes.context import PassContext
from pytocu.passes.steps import checks, mentioned

Shape = tuple[DimLike, ...]

_LONG = 1 << 20
_EQUALITIES = ("assign", "broadcast", "equal", "mask", "output", "place")
"""The checks that two lengths are equal."""


def run(function: Function, context: PassContext) -> Function:
    """Unify lengths and make broadcasting visible."""
    classes = Classes(context)
    facts = _discover(function, classes)
    if not _fits(_always_run(function.body), facts, {}):
        # No call fits: the first check that does not hold is found by the run, of the lengths as they are.
        facts.equal.clear()
    if any(inst.op.kind == "reduce" for inst in walk(function.body)):
        _know_short_axes(function, facts, classes)
    return classes.state(_apply(function, facts, classes))


def _know_short_axes(function: Function, facts: _Facts, classes: Classes) -> None:
    """Lengths of last axes so short that code is written for each: what is summed along them needs no loop."""
    for param in function.params:
        last = facts.norm(shape_of(param.type)[-1]) if len(shape_of(param.type)) > 1 else 1
        name = as_symbol(last)
        length = None if name is None else classes.exactly(last, SHORTEST)
        known = {name or "": length or 0}
        if name is not None and length is not None and length > 1 and _fits(walk(function.body), facts, known):
            facts.equal[name] = length


def _fits(insts: Iterable[Inst], facts: _Facts, known: Mapping[str, DimLike]) -> bool:
    """Whether no broadcast of these fails for these lengths, as the call is then told."""
    for inst in insts:
        for pair in meetings(inst):
            first, other = (substitute(facts.norm(dim), known) for dim in pair)
            if isinstance(first, int) and isinstance(other, int) and first != other:
                return False
    return True


def unit_lengths(function: Function, sizes: Mapping[str, int]) -> frozenset[Dim]:
    """Lengths that are 1 for these sizes, and meet another length in a broadcast or are taken for another number than 1.

    Without sizes, those that are 1 in long arrays and meet another length.

    NumPy repeats such an axis.  Whether ``n - 2`` is 1 cannot be seen in the text, so the
    driver lowers the function again with these lengths taken as 1.
    """
    met = _discover(function, Classes(PassContext(sizes=sizes))).met
    names = dict.fromkeys(name for dim in met for name in symbols(dim))
    # No two of them are near each other, so that no difference of two is 1.
    known = sizes or {name: _LONG * (2 + number) for number, name in enumerate(names)}
    assumed = _assumed(function, 1) if sizes else ()
    return frozenset(d for d in (*met, *assumed) if evaluate(d, known) == 1)


def apart_lengths(function: Function, sizes: Mapping[str, int]) -> frozenset[tuple[DimLike, DimLike]]:
    """Pairs of lengths that a branch hands on as one, and that differ for these sizes."""
    found: set[tuple[DimLike, DimLike]] = set()
    for branch in (inst for inst in walk(function.body) if sizes and inst.op.name == "if_else"):
        for inst in (i for region in branch.regions for i in region.insts if i.op.name == "check"):
            if inst.attr("kind") == "fits" and inst.attr("shapes")[0] == "UnsupportedError":
                # What is compared; lengths that the sentence tells of may follow.
                first, second, *_ = inst.attr("dims")
                known = all(name in sizes for dim in (first, second) for name in symbols(dim))
                if known and evaluate(first, sizes) != evaluate(second, sizes):
                    found.add((first, second))
    return frozenset(found)


def missed(function: Function, sizes: Mapping[str, int]) -> frozenset[Fact]:
    """What a ``try`` states of lengths that does not hold for these sizes: equalities, and positions that exist."""
    stated = [inst for inst in walk(function.body) if sizes and inst.op.name == "assume" and inst.attr("relation") != "!="]
    facts = [Fact(inst.attr("dim"), inst.attr("relation"), inst.attr("number")) for inst in stated]
    return frozenset(fact for fact in facts if not fact.holds(sizes))


def zero_lengths(function: Function, sizes: Mapping[str, int]) -> frozenset[Dim]:
    """Lengths that the function takes for another number than 0, and that are 0 for these sizes."""
    return frozenset(dim for dim in _assumed(function, 0) if sizes and evaluate(dim, sizes) == 0)


def _assumed(function: Function, number: int) -> list[Dim]:
    """Lengths that the function states not to be a number."""
    facts = [inst for inst in function.body.insts if inst.op.name == "assume" and inst.attr("relation") == "!="]
    return [inst.attr("dim") for inst in facts if inst.attr("number") == number]


class _Facts:
    """Equalities of lengths found so far; ``met`` are the lengths that have to be equal to another."""

    def __init__(self, function: Function):
        self.equal: dict[str, DimLike] = {}
        self.met: dict[Dim, None] = {}
        self.order = {name: n for n, name in enumerate(bound_symbols(function))}
        # What is read from memory, or is a number of run time, is known too late to decide which code runs.
        self.read = set(numbers_of(function.body))

    def norm(self, dim: DimLike) -> DimLike:
        """The dimension with every equality applied."""
        while (new := substitute(dim, self.equal)) != dim:
            dim = new
        return dim

    def meet(self, first: DimLike, other: DimLike, classes: Classes | None = None) -> None:
        """Take two lengths that broadcast together as equal; with `classes`, if those of the call are."""
        a, b = self.norm(first), self.norm(other)
        if a == b:
            return
        for dim, known in ((first, a), (other, b)):
            # A number of run time that the equalities cancel does not say what the length is in this call.
            shown = known if self.read.intersection(symbols(dim)) else dim
            if isinstance(shown, Dim) and not self.read.intersection(symbols(known)):
                self.met[shown] = None
        if self.read.intersection((*symbols(a), *symbols(b))):
            return
        if classes is not None and not classes.holds([fact_of(first - other, "==", 0)]):
            return
        for keep, drop in sorted(((a, b), (b, a)), key=lambda pair: self._rank(pair[1]), reverse=True):
            name = as_symbol(drop)
            if name is not None and name not in symbols(keep):
                self.equal[name] = keep
                return

    def _rank(self, dim: DimLike) -> int:
        name = as_symbol(dim)
        return -1 if name is None else self.order.get(name, 0)


def bound_symbols(function: Function) -> dict[str, tuple[int, int]]:
    """Where each length comes from: (parameter number, axis), in order of the parameters."""
    stated = function.fact("symbols")
    if stated is not None:
        return {name: (number, axis) for name, number, axis in stated}
    places: dict[str, tuple[int, int]] = {}
    for number, param in enumerate(function.params):
        for axis, dim in enumerate(shape_of(param.type)):
            name = as_symbol(dim)
            if name is not None:
                places.setdefault(name, (number, axis))
    return places


def _discover(function: Function, classes: Classes) -> _Facts:
    """Walk the broadcasts and record which lengths meet: first those of what is computed in any case."""
    facts = _Facts(function)
    always = list(_always_run(function.body))
    late = _late(function)
    for inst in always:
        for first, other in meetings(inst):
            facts.meet(first, other, classes if inst in late else None)
    seen = set(always)
    for inst in walk(function.body):
        for first, other in meetings(inst) if inst not in seen else ():
            facts.meet(first, other, classes)
    return facts


def _always_run(block: Block) -> Iterator[Inst]:
    """The instructions of a block and of the regions that are run with it."""
    for inst in block.insts:
        yield inst
        for region in inst.regions if inst.op.name not in MAY_NOT_RUN else ():
            yield from _always_run(region)


def _late(function: Function) -> set[Inst]:
    """What is run in any case, behind a check that waits for a length or a truth value of the data.

    What the lengths in it have to be is checked behind that one, too, and kernels run before.
    """
    found: set[Inst] = set()
    names: set[str] = set()
    values: set[Value] = set()
    late = False
    for inst in _always_run(function.body):
        if late:
            found.add(inst)
        waits = inst.op.name == "read_length" or not names.isdisjoint(mentioned(inst)) or not values.isdisjoint(inst.args)
        if inst.op.name in ("read_length", "bind") and waits:
            names.update([inst.attr("name")] if inst.op.name == "read_length" else inst.attr("names"))
        if waits:
            values.update(inst.results)
        asks = inst.op.name == "while_loop" or (inst.op.name == "if_else" and not isinstance(inst.args[0].type, WeakType))
        late = late or ((waits or asks) and _compares(inst))
    return found


def _compares(inst: Inst) -> bool:
    """Whether lengths are compared for an instruction, or inside of it."""
    if checks(inst):
        return True
    inside = (inst, *(i for region in inst.regions for i in walk(region)))
    return any(first != other for one in inside for first, other in meetings(one))


def _compared(check: Inst) -> tuple[Any, ...]:
    """What a check compares: two lengths, which are equal from there on, or what its kind says."""
    kind, dims = check.attr("kind"), check.attr("dims")
    return dims[:2] if kind in _EQUALITIES else (kind, dims, check.attr("shapes"))


def _apply(function: Function, facts: _Facts, classes: Classes) -> Function:
    mapping = {name: facts.norm(dim) for name, dim in facts.equal.items()}
    places = bound_symbols(function)
    builder = Builder(function.body.terminator.loc)
    values: dict[Value, Value] = {}
    params: list[Value] = []
    for old in function.params:
        values[old] = Value(substitute_type(old.type, mapping), old.name)
        params.append(values[old])
    for dim in facts.met:
        builder.emit("assume", (), {"dim": dim, "relation": "!=", "number": 1})
    _Writer(mapping, builder, _bound(function), classes, _late(function)).insts(builder, function.body.insts, values)
    body = Block(tuple(params), builder.take())
    made_function = Function(function.name, function.level, body, function.facts)
    if function.fact("symbols") is None and bound_symbols(made_function) != places:
        stated = tuple((name, number, axis) for name, (number, axis) in places.items())
        return Function(function.name, function.level, body, (*function.facts, ("symbols", stated)))
    return made_function


def _bound(function: Function) -> set[Inst]:
    """What the numbers are made of that have names: the host may compare them before it compares lengths."""
    found: set[Inst] = set()
    stack = [inst.args[0] for inst in walk(function.body) if inst.op.name == "bind"]
    while stack:
        inst = stack.pop().inst
        if inst is not None and inst not in found and inst.op.kind != "region":
            found.add(inst)
            stack += inst.args
    return found


class _Writer:
    """Writes instructions with unified lengths, and what is checked of these.

    What is checked of ints of run time comes before the outermost loop, where it holds in any case if the loop has no step,
    but stays in a branch, which often asks for it, and in a loop of which the host does not know before whether it has a step.
    Other lengths are compared in the innermost region that may not be run, unless they are known to fit.  Where they are
    known not to, nothing of the region is left behind the check.
    """

    def __init__(
        self, mapping: dict[str, DimLike], outside: Builder, bound: set[Inst], classes: Classes, late: set[Inst]
    ):
        self.mapping, self.bound, self.classes, self.late = mapping, bound, classes, late
        self.outside = self.branch = self.place = outside
        self.checked: set[tuple[Any, ...]] = set()
        # The check that ends the region.
        self.failing = False
        # Names that are known inside of regions only.
        self.inner: set[str] = set()
        # Of those that are numbers of steps: what they are in the first step.
        self.first: dict[str, DimLike] = {}
        # Of the loops from `branch` on: 1 where each of them has a step and 0 otherwise, and their steps.
        self.once: DimLike = 1
        self.steps: tuple[tuple[str, DimLike, bool], ...] = ()

    def insts(self, builder: Builder, insts: Sequence[Inst], values: dict[Value, Value]) -> None:
        mapping = self.mapping
        for inst in insts:
            builder.loc = self.outside.loc = self.branch.loc = self.place.loc = inst.loc
            args: tuple[Value, ...] = tuple(values[a] for a in inst.args)
            fits = self.fits(inst) if inst.op.name == "check" and self.place is not self.outside else None
            if fits:
                continue
            if inst.op.name == "check":
                self.checked.add(_compared(inst))
            self.checks(builder, inst)
            if self.failing:
                return
            if inst.op.kind == "elementwise" and len(args) > 1:
                args = _broadcast_all(builder, args, inst.args)
            elif inst.op.name == "map":
                elements = spread(inst, args)
                args = (*_broadcast_all(builder, elements, spread(inst, inst.args)), *args[len(elements) :])
            elif inst.op.name == "update":
                old, target, new = (values[a] for a in inst.args)
                given = _with_ones(new, inst.args[2], shape_of(inst.args[1].type))
                args = (old, target, _fitted(builder, new, given, shape_of(target.type)))
            elif inst.op.name == "place":
                args = _placed(builder, args)
            attrs = dict(inst.attrs)
            if inst.op.name in MAY_NOT_RUN:
                attrs.pop("once", None)
            if inst.op.effects != "check" and not (inst.op.name == "dim" and inst in self.bound):
                # Checks, and what they speak of, are about the lengths of the call; everything else about the unified ones.
                attrs = {k: substitute_attr(v, mapping) for k, v in attrs.items()}
            types = None if inst.op.infer is not None else tuple(substitute_type(t, mapping) for t in inst.types)
            if inst.op.name == "for_loop":
                self.enter(inst)
            regions = tuple(self.region(region, inst) for region in inst.regions)
            if self.failing:
                return
            made = builder.inst(inst.op, args, attrs, types, regions)
            for old, new in zip(inst.results, made.results, strict=True):
                new.name = old.name
                values[old] = new
            if fits is False:
                self.failing = True
                return

    def checks(self, builder: Builder, inst: Inst) -> None:
        """State what the call has to check before this broadcast is right."""
        if inst.op.name == "check":
            return
        update = inst.op.name == "update"
        operands = tuple(shape_of(a.type) for a in spread(inst, inst.args))
        kind, shapes = ("assign", assigned(inst)) if update else ("broadcast", operands)
        for pair in meetings(inst):
            attrs = {"kind": kind, "dims": pair, "shapes": shapes}
            names = {name for dim in pair for name in symbols(dim)}
            # The first step raises what any step would; it has the shapes that the sentence tells.
            met = tuple(dim * self.once for dim in pair)
            told = {"kind": kind, "dims": met, "shapes": substitute_attr(shapes, self.first)}
            unknown = {name for shape in told["shapes"] for dim in shape for name in symbols(dim)} & self.inner
            if names & self.inner or unknown:
                builder.emit("check", (), attrs)
            elif self.branch is not self.outside and any(map(is_number, names)):
                self.branch.emit("check", (), told)
            elif not self.checked.intersection((pair, pair[::-1], met)):
                self.checked.add(pair)
                if any(map(is_number, names)):
                    self.outside.emit("check", (), told)
                    continue
                sure = self.place is self.outside
                asked = not sure or inst in self.late
                fits = self.classes.holds([fact_of(pair[0] - pair[1], "==", 0)]) if asked else None
                if not fits:
                    self.place.emit("check", (), attrs)
                if fits is False and not sure:
                    self.failing = True
                    return

    def fits(self, check: Inst) -> bool | None:
        """Whether lengths are what is checked; None where that is known only at run time."""
        if check.attr("kind") == "warn":
            return None
        names = {name for _, value in check.attrs for name in named(value)}
        if _compared(check) in self.checked:
            return True
        if any(map(is_number, names)):
            return None
        fits = self.classes.holds(conditions(check))
        # An index in the steps of loops is wrong only where each of these has a step.
        return None if fits is False and check.attr("kind") == "index" and check.attr("shapes") else fits

    def enter(self, loop: Inst) -> None:
        """Note the number of a loop's steps, where they have one."""
        if loop.attr("numbers") is not None:
            name, count, falling = loop.attr("numbers")
            self.inner.add(name)
            self.first[name] = substitute(count - 1 if falling else 0, self.first)

    def has_step(self, loop: Inst) -> DimLike | None:
        """1 where a loop has a step, or one in some step of those around, and 0 otherwise; None where only a run can tell."""
        if loop.attr("numbers") is None:
            return loop.attr("once")
        count = loop.attr("numbers")[1]
        ends = ends_of(count, self.steps)
        if not ends or named(tuple(ends)) & self.inner:
            return None
        return dim_min(greatest(ends), 1)

    def region(self, block: Block, inst: Inst) -> Block:
        name = inst.op.name
        once = None if name == "if_else" else self.has_step(inst) if name in MAY_NOT_RUN else 1
        known_around = set(self.inner)
        self.inner |= set(numbers_of(block))
        params = {p: Value(substitute_type(p.type, self.mapping), p.name) for p in block.params}
        builder, around = Builder(block.terminator.loc), (self.branch, self.place, self.checked, self.once, self.steps)
        if name in MAY_NOT_RUN:
            self.place, self.checked = builder, set(self.checked)
        if once is None:
            self.branch, self.once, self.steps = builder, 1, ()
        elif named(once) & known_around:
            # Known in a step of the loop around.
            self.branch, self.once, self.steps = around[1], once, ()
        else:
            self.once = self.once * once
            self.steps += () if inst.attr("numbers") is None else (inst.attr("numbers"),)
        self.insts(builder, block.insts, dict(params))
        if self.failing and name in MAY_NOT_RUN:
            builder.emit("yield", [blank(builder, substitute_type(t, self.mapping)) for t in inst.types])
            self.failing = False
        self.branch, self.place, self.checked, self.once, self.steps = around
        return Block(tuple(params.values()), builder.take())


def blank(builder: Builder, type: Type) -> Value:
    """Zeros of a type."""
    if not isinstance(type, ArrayType):
        return builder.const(0, type)
    zero = builder.const(0, scalar(type.dtype))
    axes = tuple(range(len(type.shape)))
    if not axes:
        return builder.emit("as_array", (zero,))
    return builder.emit("broadcast", (zero,), {"shape": type.shape, "expand": axes, "ndim": 0})


def _broadcast_all(builder: Builder, args: tuple[Value, ...], old: tuple[Value, ...]) -> tuple[Value, ...]:
    whole = broadcast_shapes([shape_of(a.type) for a in old])
    shapes = [_with_ones(arg, before, whole) for arg, before in zip(args, old, strict=True)]
    target = broadcast_shapes(shapes)
    pairs = zip(args, shapes, strict=True)
    return tuple(arg if shape == () else _repeated(builder, arg, shape, target) for arg, shape in pairs)


def _with_ones(value: Value, old: Value, whole: Shape) -> Shape:
    """The shape of a value, with 1 for lengths of run time that are compared with 1 because of what they were before."""
    shape, given = shape_of(value.type), shape_of(old.type)
    lead = max(len(whole) - len(given), 0)
    ones = {axis - lead for axis in repeated_axes(given, whole)} if len(given) <= len(whole) else ()
    return tuple(1 if axis in ones else length for axis, length in enumerate(shape))


def _fitted(builder: Builder, value: Value, shape: Shape, target: Shape) -> Value:
    """What is assigned, in the shape it is assigned to."""
    if target == () and not isinstance(value.type, ArrayType):
        return builder.emit("as_array", (value,))
    return _repeated(builder, value, shape, target)


def _placed(builder: Builder, args: tuple[Value, ...]) -> tuple[Value, ...]:
    """What is given to the places that a mask chooses: mask and values have the array's lengths.

    They may not where a check that waits for the data says so, behind which nothing is computed.
    """
    array, mask, values, *others = args
    whole, own, given = (shape_of(value.type) for value in (array, mask, values))

    def lengths(wanted: Shape, shape: Shape) -> Shape:
        return tuple(b if 1 in (a, b) else a for a, b in zip(wanted, shape, strict=True))

    mask = _repeated(builder, mask, own, lengths(whole[: len(own)], own))
    target = (*given[:1], *lengths(whole[len(own) :], given[1:]))
    return (array, mask, _repeated(builder, values, given, target), *others)


def _repeated(builder: Builder, value: Value, shape: Shape, target: Shape) -> Value:
    """A value repeated to a shape; its own may have 1 for lengths that are compared with 1."""
    if shape_of(value.type) == target:
        return value
    return builder.emit("broadcast", (value,), {"shape": target, "expand": repeated_axes(shape, target), "ndim": len(shape)})
