"""Loops that one thread can go through, in the words of a kernel.

In: array level, where Python scalars stand beside arrays in loops.  Out: a loop that is one of one thread (a sweep without
free axes, see `pytocu.passes.sweeps`) has nothing left that the host would do in a step.  What the host would read is a number
with a name, an index and lengths are compared in the step that has them, parts of arrays are changed element by element, and
what combines elements is a loop over them.  Any other loop is as it was.

On a GPU one thread is slow, so vectors are left to the host's kernels there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

from pytocu.ir.builder import Builder
from pytocu.ir.core import (
    Block,
    Function,
    Inst,
    Value,
    chain_from,
    make_attrs,
    walk,
)
from pytocu.ir.dims import (
    Dim,
    DimLike,
    assignment_pattern,
    dim_max,
    dim_min,
    empty_sentence,
    floordiv,
    product,
    symbol,
    symbols,
)
from pytocu.ir.expander import Expander
from pytocu.ir.reductions import REDUCTIONS, Reduction
from pytocu.ir.regions import (
    HEADS,
    bare,
    captured,
    carried_count,
    carried_memories,
    changes,
    closed,
    given,
    is_region,
    numbers_in,
    numbers_of,
    origin,
    parameters,
    prune,
    step_name,
)
from pytocu.ir.rewrite import put_with, with_lengths
from pytocu.ir.types import I64, WEAK_INT, ArrayType, DType, element, scalar, shape_of
from pytocu.passes.accesses import (
    aligned,
    demand,
    is_blank,
    is_elementwise,
    of_whole_arrays,
    target_index,
    view_chain,
    whole_index,
)
from pytocu.passes.classes import Classes
from pytocu.passes.compactions import chosen_by
from pytocu.passes.compensation import given_back, is_rounded, lost
from pytocu.passes.context import PassContext
from pytocu.passes.infer_shapes import bound_symbols
from pytocu.passes.loop_scalars import has_form, on_host
from pytocu.passes.sweeps import sweep_of

LANES = 8
"""States of a sum, which meet elements in turns: NumPy's number, and its order up to 128 elements."""

STRETCH = 128
"""Numbers after which these states are added to those of all, which lose nothing; see `pytocu.passes.compensation`.

A complex element is two.
"""

MOST = 2**20
"""Elements of a part that one thread changes or combines, at most: more are work for all threads, in each step."""

Memory: TypeAlias = "tuple[DType, tuple[DimLike, ...], Value | None]"
"""The type of memory of the loop's own: for one value, or for what is assigned to a part until all of it is computed."""

_COUNTS = ("scan", "keep", "cast", "iota", "add", "minimum", "maximum", "broadcast")
"""What stands between a mask and the search for the positions of its true elements."""

_PLACES = ("slice", "index", "transpose", "newaxis")
"""Views that have each element once."""


def run(function: Function, context: PassContext) -> Function:
    """Write the loops that one thread can go through in the words of a kernel."""
    function = prune(function)
    builder = Builder()
    values: dict[Value, Value] = {}
    changed = False
    classes = Classes(context)
    taken = {*bound_symbols(function), *numbers_of(function.body), *function.fact("numbers", ())}
    for inst in function.body.insts:
        builder.loc = inst.loc
        loop = inst.op.name in ("for_loop", "while_loop") and not on_host(inst)
        made = _in_one_thread(inst, context, taken, classes) if loop else inst
        if made is inst:
            put_with(inst, builder, tuple(values.get(a, a) for a in inst.args), inst.regions, values)
            continue
        changed = True
        # What it keeps for itself is made before it.
        extra = {a: _made_before(builder, a) for a in made.args if a.inst is None and a not in inst.args and a not in values}
        args = tuple(extra.get(a, values.get(a, a)) for a in made.args)
        made = builder.inst(made.op, args, dict(made.attrs), made.types, made.regions)
        for old, new in zip(inst.results, made.results, strict=False):
            new.name = old.name
            values[old] = new
    if not changed:
        return classes.state(function)
    made = Function(function.name, function.level, Block(function.params, builder.take()), function.facts)
    return classes.state(prune(made))


def _made_before(builder: Builder, value: Value) -> Value:
    dtype, shape = element(value.type), shape_of(value.type)
    zero = builder.const(dtype.numpy.type(0).item(), scalar(dtype))
    attrs = {"expand": tuple(range(len(shape))), "ndim": 0, "shape": shape}
    return builder.emit("copy", (builder.emit("broadcast", (zero,), attrs),), {"blank": True}, name=value.name)


def _in_one_thread(inst: Inst, context: PassContext, taken: set[str], classes: Classes) -> Inst:
    """A loop that one thread of a kernel can go through, in the words of a kernel; any other as it is.

    What the host would read in a step is a number with a name, and an index is compared in the step that has it.
    """
    inner = [i for region in inst.regions for i in walk(region)]
    own = numbers_in(inst)
    work = [i for i in inner if _is_work(i)] if context.target.kind == "cpu" and _decides(inner) else []
    vectors = bool(work) and all(classes.at_most(size, MOST) is not False for i in work for size in _sizes(i, own))
    wanted = any(i.op.name in ("check", "read_length") or _is_part(i, own) or (vectors and _is_work(i)) for i in inner)
    if not wanted or not all(map(has_form, inner)):
        return inst
    room = lambda value: is_blank(value) or classes.at_most(product(shape_of(value.type)), MOST) is not False  # noqa: E731
    made = _Named(taken, own, vectors, room if context.target.kind == "cpu" else None).whole(inst)
    reads = [i.attr("name") for i in inner if i.op.name == "read_length"]
    if made is not None and reads:
        # A length that the host reads would be known before the loop.
        names = {name: f"{name}_" for name in reads}
        while not taken.isdisjoint(names.values()):
            names = {name: f"{other}_" for name, other in names.items()}
        taken.update(names.values())
        renamed = Builder()
        with_lengths(renamed, [made], {name: symbol(other) for name, other in names.items()}, {})
        (made,) = renamed.take()
    sweep = None if made is None else sweep_of(made)
    if made is None or ((sweep is None or sweep.free) and (any(map(shape_of, inst.types)) or not is_elementwise(made))):
        return inst
    # How many steps there are, and where a slice begins, are indices; on a GPU these may be narrower than the ints.
    slices = any(i.op.name == "bind" and i.attr("length") is not None for i in inner)
    if context.target.kind == "cuda" and (slices or not _counts(made).isdisjoint(numbers_in(made) - _steps(made))):
        return inst
    return made


def _decides(inner: Sequence[Inst]) -> bool:
    """Whether Python would take each step of a loop: for what data say, a number that is read, or ints as bounds of slices."""
    branches = (i for i in inner if i.op.name in ("if_else", "while_loop") and not on_host(i))
    reads = any(i.op.name == "read_length" or i.attr("length") is not None for i in inner)
    return reads or any(not is_elementwise(i) for i in branches)


def _is_work(inst: Inst) -> bool:
    """Whether an instruction changes a part of an array, or combines elements to one."""
    if inst.op.name == "update":
        return bool(shape_of(inst.args[1].type))
    return inst.op.name == "reduce" and inst.attr("pieces") is None


def _sizes(inst: Inst, names: frozenset[str]) -> list[DimLike]:
    """How many elements such an instruction is about, at most; nothing of a vector of which only steps know the length."""
    part = inst.args[1 if inst.op.name == "update" else 0]
    size = product(shape_of(part.type))
    if names.isdisjoint(symbols(size)):
        return [size]
    if len(shape_of(part.type)) == 1:
        return []
    wholes = (product(shape_of(c.type)) for c in _contents(part))
    return [whole for whole in wholes if names.isdisjoint(symbols(whole))]


def _steps(inst: Inst) -> set[str]:
    return {step_name(i) for i in (inst, *(i for r in inst.regions for i in walk(r)))} - {None}


def _counts(inst: Inst) -> set[str]:
    """The names of numbers that say how many steps loops inside of one have."""
    loops = (i for region in inst.regions for i in walk(region) if i.attr("numbers") is not None)
    return {name for loop in loops for name in symbols(loop.attr("numbers")[1])}


def _is_part(inst: Inst, names: frozenset[str]) -> bool:
    """Whether a vector in an array is changed of which a step knows the length, to what is not made of the array itself."""
    if inst.op.name != "update" or len(shape_of(inst.args[1].type)) != 1:
        return False
    old, target, new = inst.args
    if names.isdisjoint(symbols(shape_of(target.type)[0])):
        return False
    memory, seen, stack = origin(old), set[Value](), [new]
    while stack:
        value = stack.pop()
        if value in seen:
            continue
        seen.add(value)
        if origin(value) is memory:
            return False
        stack.extend(value.inst.args if value.inst is not None else ())
    return True


def _in_place(inst: Inst) -> bool:
    """Whether elements of a part can be assigned one after the other: none of them is made of others that are assigned."""
    old, target, new = inst.args
    ndim = len(shape_of(target.type))
    whole = whole_index(ndim)
    place = target_index(target, old, whole, ndim)
    for value, at in demand([new], whole, ndim, _known_before):
        if value is not old and value.inst is not None and origin(value) is origin(old) and shape_of(value.type):
            # Earlier contents: what leads from there are changes.
            return False
        if value is old and not aligned(at, place, shape_of(target.type)):
            return False
        if value is not old and shape_of(value.type) and of_whole_arrays(value) and value.inst is not None:
            return False
    return True


def _known_before(value: Value) -> bool:
    """Whether a value is no matter of elements of a part: a number, or contents of memory."""
    return not shape_of(value.type) or value.inst is None or value.inst.op.name == "update" or is_region(value.inst)


class _Named:
    """Writes the regions of a loop again.

    Parameters
    ----------
    taken : set of str
        Names of lengths and numbers.
    own : frozenset of str
        The names of numbers that are known in the loop only.
    vectors : bool
        Whether all parts of arrays are changed element by element, and elements combined by loops.
    room : callable, optional
        Whether a step may fill an array.
    """

    def __init__(self, taken: set[str], own: frozenset[str], vectors: bool, room: Callable[[Value], bool] | None):
        self.taken, self.own, self.vectors, self.room = taken, own, vectors, room
        self.found: dict[Block, dict[Value, Memory]] = {}
        self.made: dict[Block, set[Value]] = {}

    def whole(self, inst: Inst) -> Inst | None:
        """The loop, which is given memory of its own behind what it carried."""
        kept = self.kept(inst)
        if any(not self.own.isdisjoint(symbols(product(shape))) for _, shape, _ in kept):
            return None
        return self.region_inst(Builder(inst.loc), inst, inst.args, {memory: Value(_type(memory), "kept") for memory in kept})

    def kept(self, inst: Inst) -> list[Memory]:
        """The memory that a loop or branch needs to keep what is assigned."""
        found: dict[Memory, None] = {}
        for region in inst.regions:
            found.update(dict.fromkeys(self.outdated(region).values()))
            found.update(dict.fromkeys((element(v.type), shape_of(v.type), v) for v in self.made_in(region)))
            found.update(dict.fromkeys(self.chosen_in(region).values()))
            for i in region.insts:
                if is_region(i):
                    found.update(dict.fromkeys(self.kept(i)))
                elif self.is_part(i) and not _in_place(i):
                    found[element(i.args[0].type), shape_of(i.args[0].type), None] = None
        return list(found)

    def made_in(self, block: Block) -> set[Value]:
        """Arrays that a region makes and changes: their memory is there before the loop, and each step fills it."""
        if block not in self.made and self.room is None:
            self.made[block] = set()
        elif block not in self.made:
            own = {r for i in block.insts if not is_region(i) and i.op.name != "update" for r in i.results}
            firsts = {origin(contents) for inst in block.insts for contents in _changed(inst)}
            known = {v for v in firsts & own if self.own.isdisjoint(symbols(product(shape_of(v.type))))}
            self.made[block] = set(filter(self.room, known))
        return self.made[block]

    def chosen_in(self, block: Block) -> dict[Value, Memory]:
        """The positions of true elements that a region finds, with memory for as many as the mask has elements."""
        if not self.vectors:
            return {}
        masks = {inst.result: mask for inst in block.insts if (mask := chosen_by(inst)) is not None}
        return {found: (element(found.type), shape_of(mask.type), found) for found, mask in masks.items()}

    def outdated(self, block: Block) -> dict[Value, Memory]:
        """Arrays that a region computes before contents change that they are made of, and uses behind, with memory for each."""
        if not self.vectors or block in self.found:
            return self.found.get(block, {})
        found = self.found[block] = {}
        place = {r: n for n, inst in enumerate(block.insts) for r in inst.results}
        changed: dict[Value, int] = {}
        for n, inst in enumerate(block.insts):
            for contents in _changed(inst):
                changed.setdefault(contents, n)

        own_memory = self.chosen_in(block)

        def look(value: Value, n: int) -> None:
            if _known_before(value) or value in found or value in own_memory:
                return
            first = min((changed.get(c, n) for c in _contents(value)), default=n)
            base = _base(value) if place.get(value, n) < first < n else None
            if base is not None and self.own.isdisjoint(symbols(product(shape_of(base[0].type)))):
                found[value] = element(value.type), shape_of(base[0].type), value
            elif first < n and value.inst is not None:
                for operand in value.inst.args:
                    look(operand, n)

        for n, inst in enumerate(block.insts):
            if inst.op.name == "update":
                look(inst.args[2], n)
            elif is_region(inst) or inst.op.kind == "reduce":
                for operand in inst.args:
                    look(operand, n + 1)
        return found

    def is_part(self, inst: Inst) -> bool:
        """Whether an instruction is a change that is written element by element."""
        return _is_part(inst, self.own) or (self.vectors and inst.op.name == "update" and _is_work(inst))

    def region_inst(
        self, builder: Builder, inst: Inst, args: Sequence[Value], now: dict[Memory, Value], checks: Sequence[Inst] = ()
    ) -> Inst | None:
        """A loop or branch, in which steps, or those of loops inside, begin with `checks`; None where these are about others.

        It is given the memory that it needs, as `now` has it, and gives it on.
        """
        kept, count = self.kept(inst), carried_count(inst)
        # A loop has the memory behind what it carries.
        place = count or len(given(inst))
        regions: list[Block] = []
        for region in inst.regions:
            own = [Value(_type(memory), "kept") for memory in kept]
            inner = {name for i in region.insts for name in _steps(i)}
            first = [
                _in_step(c) if c.attr("shapes")[0][0] == step_name(inst) else c
                for c in checks
                if c.attr("shapes")[0][0] in {step_name(inst), *inner}
            ]
            insts = self.block(region, first, dict(zip(kept, own, strict=True)))
            if insts is None:
                return None
            at = len(region.params) - len(given(inst)) + place
            params = (*region.params[:at], *own, *region.params[at:])
            regions.append(Block(params, insts))
        at = HEADS[inst.op.name] + place
        all_args = (*args[:at], *(now[memory] for memory in kept), *args[at:])
        attrs = dict(inst.attrs) | ({"carried": count + len(kept)} if count else {})
        made = builder.inst(inst.op, all_args, attrs, (*inst.types, *map(_type, kept)), regions)
        for old, new in zip(inst.results, made.results, strict=False):
            new.name = old.name
        now.update(zip(kept, made.results[len(inst.results) :], strict=True))
        return made

    def block(self, block: Block, checks: Sequence[Inst], now: dict[Memory, Value]) -> tuple[Inst, ...] | None:
        """The instructions of a region; what it yields is followed by the memory of its own, `now` at its beginning."""
        builder = Builder(block.terminator.loc)
        values: dict[Value, Value] = {}
        waiting: list[Inst] = []
        params = tuple(now)
        outdated, made_here, chosen = self.outdated(block), self.made_in(block), self.chosen_in(block)
        for inst in (*checks, *_without_counts(block, chosen)):
            builder.loc = inst.loc
            args = tuple(values.get(a, a) for a in inst.args)
            if inst.op.name == "update" and any(v in outdated or v in made_here for v in _views(inst)):
                args = (args[0], _placed(builder, inst, args[0], values), args[2])
            if inst.op.name == "check" and inst.attr("kind") == "index" and inst.attr("shapes"):
                waiting.append(inst)
            elif inst.op.name == "check":
                for made in _in_words(inst) or [inst]:
                    builder.insts.append(made)
            elif inst.op.name == "read_length":
                builder.inst("bind", (values.get(number := _number_read(inst), number),), {"names": (inst.attr("name"),)})
            elif is_region(inst):
                steps = _steps(inst)
                of_it = [c for c in waiting if c.attr("shapes")[0][0] in steps]
                waiting = [c for c in waiting if c not in of_it]
                made = self.region_inst(builder, inst, args, now, of_it)
                if made is None:
                    return None
                values.update(zip(inst.results, made.results, strict=False))
            elif chosen and inst.results and inst.results[0] in chosen:
                values[inst.result] = self.positions(builder, inst, chosen[inst.result], now, values)
            elif self.is_part(inst):
                values[inst.results[0]] = self.part(builder, inst, args, now)
            elif self.vectors and (found := self.combined(builder, inst, args)) is not None:
                for old, new in zip(inst.results, found, strict=True):
                    new.name = new.name or old.name
                    values[old] = new
            elif inst is block.terminator:
                now.update((memory, _last(builder, now[memory])) for memory in params if memory[2] in made_here)
                builder.inst("yield", (*args, *(now[memory] for memory in params)))
            else:
                put_with(inst, builder, args, inst.regions, values)
            for old in inst.results:
                if old in made_here:
                    memory = element(old.type), shape_of(old.type), old
                    if not is_blank(old):
                        now[memory] = self.elements(builder, now[memory], now[memory], now[memory], values.get(old, old))
                    values[old] = now[memory]
                elif old in outdated:
                    values[old] = self.keep(builder, values.get(old, old), outdated[old], now)
        return None if waiting else builder.take()

    def keep(self, builder: Builder, value: Value, memory: Memory, now: dict[Memory, Value]) -> Value:
        """The elements of a value in memory of their own."""
        found = _base(value)
        assert found is not None
        now[memory] = self.elements(builder, now[memory], *found, value)
        return _viewed(builder, *found, now[memory])

    def positions(
        self, builder: Builder, search: Inst, memory: Memory, now: dict[Memory, Value], values: dict[Value, Value]
    ) -> Value:
        """The positions of a mask's true elements: each is written where the next one belongs, and stays there if it is one."""
        dtype, (size,), _ = memory
        mask = chosen_by(search)
        assert mask is not None
        bools = values.get(mask, mask)

        def step(inner: Builder, place: DimLike, held: Sequence[Value]) -> Sequence[Value]:
            count, array = held
            number = inner.emit("convert", (inner.emit("dim", (), {"value": place}, (WEAK_INT,)),), {}, (scalar(dtype),))
            cell = inner.emit("pick", (array, count), {"axis": 0})
            array = inner.emit("update", (array, cell, inner.emit("as_array", (number,))), name=array.name)
            true = inner.emit("cast", (inner.emit("index", (bools,), {"axis": 0, "at": place}),), {}, (scalar(dtype),))
            return inner.emit("add", (count, true)), array

        _, now[memory] = self.repeat(builder, size, [builder.const(0, scalar(dtype)), now[memory]], step)
        (count,) = shape_of(search.result.type)
        attrs = {"start": (0,), "step": (1,), "size": (count,)}
        return builder.emit("slice", (now[memory],), attrs, name=search.result.name)

    def part(self, builder: Builder, inst: Inst, args: Sequence[Value], now: dict[Memory, Value]) -> Value:
        """A change of a part, one element after the other."""
        old, target, new = args
        if _in_place(inst):
            return self.elements(builder, old, old, target, new)
        # All of it is computed before any of it is assigned.
        memory = element(old.type), shape_of(old.type), None
        kept = now[memory] = self.elements(builder, now[memory], old, target, new)
        return self.elements(builder, old, old, target, _viewed(builder, old, target, kept))

    def elements(self, builder: Builder, memory: Value, old: Value, target: Value, new: Value) -> Value:
        """Memory, with new elements where `target` is in `old`."""
        ndim = len(shape_of(target.type))

        def axis(outer: Builder, array: Value, places: tuple[DimLike, ...]) -> Value:
            if len(places) < ndim:
                size = shape_of(target.type)[len(places)]
                step = lambda inner, at, held: [axis(inner, held[0], (*places, at))]  # noqa: E731
                return self.repeat(outer, size, [array], step)[0]
            # Numbers are computed before, and elements of the contents themselves are read of what is changed.
            value = _again(outer, new, {old: array} if memory is old else {})
            view = _viewed(outer, old, target, array)
            for place in places:
                view = outer.emit("index", (view,), {"axis": 0, "at": place, "keep": True})
                value = outer.emit("index", (value,), {"axis": 0, "at": place})
            made = outer.emit("as_array", (value,))
            return outer.emit("update", (array, view, made), name=memory.name)

        return axis(builder, memory, ())

    def combined(self, builder: Builder, inst: Inst, args: Sequence[Value]) -> Sequence[Value] | None:
        """What combines all elements of arrays to numbers, as a loop over them; None for anything else."""
        if not _is_work(inst) or shape_of(inst.types[0]):
            return None
        row = REDUCTIONS[inst.attr("op")]
        dtypes = tuple(element(a.type) for a in args)
        return self.fold(builder, row, dtypes, args)

    def fold(self, builder: Builder, row: Reduction, dtypes: Sequence[DType], arrays: Sequence[Value]) -> Sequence[Value]:
        size, *rest = shape_of(arrays[0].type)
        none = [builder.const(v, scalar(d)) for v, d in zip(row.identity(tuple(dtypes)), dtypes, strict=True)]

        def at(inner: Builder, place: DimLike) -> list[Value]:
            return [inner.emit("index", (a,), {"axis": 0, "at": place}) for a in arrays]

        exact = is_rounded(row.name, dtypes[0])
        parts = row.states

        def added(inner: Builder, held: Sequence[Value], more: Sequence[Value]) -> tuple[Value, ...]:
            """A state with another one; a sum has what it lost beside it, and so may what is added to it."""
            e = Expander(inner)
            if not exact:
                return tuple(row.combine(e, tuple(held), tuple(more)))
            (before, rest), (part, *taken) = held, more
            (after,) = row.combine(e, (before,), (part,))
            rest = e("add", rest, *taken) if taken else rest
            return after, e("add", rest, lost(e, before, part, after))

        nothing = none * 2 if exact else none
        if rest:
            def rows(inner: Builder, place: DimLike, held: Sequence[Value]) -> Sequence[Value]:
                return added(inner, held, self.fold(inner, row, dtypes, at(inner, place)))

            made = self.repeat(builder, size, nothing, rows)
            return (given_back(Expander(builder), *made),) if exact else made
        last = lambda inner, place, held: row.append(Expander(inner), tuple(held), tuple(at(inner, place)))  # noqa: E731
        if (dtypes[0].kind not in "fc" and row.states == 1) or row.loops:
            # LLVM makes vectors of these itself.
            return self.repeat(builder, size, none, last)

        def states(held: Sequence[Value], count: int = parts) -> list[tuple[Value, ...]]:
            return [tuple(held[first : first + count]) for first in range(0, len(held), count)]

        def rounds(outer: Builder, first: DimLike, count: DimLike) -> Sequence[Value]:
            """So many elements for each state, from one on."""

            def step(inner: Builder, place: DimLike, held: Sequence[Value]) -> Sequence[Value]:
                begin = (first + place) * LANES
                elements = [tuple(at(inner, begin + lane)) for lane in range(LANES)]
                pairs = zip(states(held), elements, strict=True)
                return [value for state, more in pairs for value in row.append(Expander(inner), state, more)]

            return self.repeat(outer, count, none * LANES, step)

        def stretches(outer: Builder, number: DimLike, totals: Sequence[Value]) -> Sequence[Value]:
            made = rounds(outer, number * stretch, dim_min(whole - number * stretch, stretch))
            pairs = zip(states(totals, len(nothing)), states(made), strict=True)
            return [value for total, state in pairs for value in added(outer, total, state)]

        elements = STRETCH // 2 if dtypes[0].kind == "c" else STRETCH
        whole, stretch = floordiv(size, LANES), elements // LANES
        if row.states > 1 or row.name in ("minimum", "maximum", "fmin", "fmax"):
            found = states(rounds(builder, 0, whole))
        else:
            totals = self.repeat(builder, floordiv(whole + (stretch - 1), stretch), nothing * LANES, stretches)
            found = states(totals, len(nothing))
        while len(found) > 1:
            found = [added(builder, a, b) for a, b in zip(found[::2], found[1::2], strict=True)]
        if not exact:
            behind = lambda inner, place, held: last(inner, whole * LANES + place, held)  # noqa: E731
            return self.repeat(builder, size - whole * LANES, found[0], behind)
        (total, rest) = found[0]

        def few(inner: Builder, place: DimLike, held: Sequence[Value]) -> Sequence[Value]:
            """The elements behind, added to the sum of all others and to one another."""
            more = tuple(at(inner, whole * LANES + place))
            return [value for one in held for value in row.append(Expander(inner), (one,), more)]

        in_order, apart = self.repeat(builder, size - whole * LANES, [total, *none], few)
        # Up to one stretch the sum is NumPy's.
        length = builder.emit("convert", (builder.emit("dim", (), {"value": size}, (WEAK_INT,)),), {}, (scalar(I64),))
        several = builder.emit("greater", (length, builder.const(elements, scalar(I64))))
        exact_sum = given_back(Expander(builder), *added(builder, (total, rest), (apart,)))
        return (builder.emit("where", (several, exact_sum, in_order)),)

    def repeat(
        self,
        builder: Builder,
        count: DimLike,
        starts: Sequence[Value],
        step: Callable[[Builder, DimLike, Sequence[Value]], Sequence[Value]],
    ) -> Sequence[Value]:
        """A loop of so many steps, which has the number of a step and what it carries, and gives what it carries on."""
        name, number = "part_", 0
        while name in self.taken:
            name, number = f"part{number}_", number + 1
        self.taken.add(name)
        inner, at = Builder(builder.loc), Value(WEAK_INT, name)
        params = [Value(bare(v.type), v.name) for v in starts]
        ends = step(inner, symbol(name), params)
        insts = inner.take()
        shared = captured(insts, (at, *params), ends)
        region = closed(insts, (at, *params), ends, shared, builder.loc)
        known = not isinstance(count, Dim)
        size = builder.const(count, WEAK_INT) if known else builder.emit("dim", (), {"value": count}, (WEAK_INT,))
        bounds = builder.const(0, WEAK_INT), size, builder.const(1, WEAK_INT)
        attrs = {"carried": len(params), "numbers": (name, count, False)}
        return builder.inst("for_loop", (*bounds, *starts, *shared), attrs, [p.type for p in params], (region,)).results


def _without_counts(block: Block, chosen: Mapping[Value, Memory]) -> list[Inst]:
    """The instructions of a region but for those of vectors that only the search for chosen positions reads."""
    if not chosen:
        return list(block.insts)
    used: set[Value] = set()
    wanted: list[Inst] = []
    for inst in reversed(block.insts):
        if inst.op.name in _COUNTS and used.isdisjoint(inst.results):
            continue
        used.update(() if chosen.keys() & set(inst.results) else inst.args)
        wanted.append(inst)
    return wanted[::-1]


def _type(memory: Memory) -> ArrayType:
    dtype, shape, _ = memory
    return ArrayType(dtype, shape)


def _changed(inst: Inst) -> list[Value]:
    """The contents of memory that an instruction changes."""
    if inst.op.name == "update":
        return [inst.args[0]]
    if not changes(inst):
        return []
    if carried_count(inst):
        return [given(inst)[k] for k in carried_memories(inst)]
    region = inst.regions[0]
    params = parameters(inst, region)
    firsts = (origin(region.terminator.args[k]) for k in carried_memories(inst))
    return [given(inst)[params.index(first)] for first in firsts if first in params]


def _contents(value: Value) -> set[Value]:
    """The contents of memory that elements of a value are made of."""
    found: set[Value] = set()
    seen: set[Value] = set()
    stack = [value]
    while stack:
        value = stack.pop()
        if value in seen:
            continue
        seen.add(value)
        if _known_before(value):
            found |= {value} if shape_of(value.type) else set()
        elif value.inst is not None:
            stack.extend(value.inst.args)
    return found


def _base(value: Value) -> tuple[Value, Value] | None:
    """Contents of memory, and a part of them that has a place for each element of a value."""
    seen: set[Value] = set()
    stack = [value]
    while stack:
        part = stack.pop()
        if part in seen or not shape_of(part.type):
            continue
        seen.add(part)
        root, chain = view_chain(part)
        placed = _known_before(root) and all(step.op.name in _PLACES for step in chain)
        if placed and shape_of(part.type) == shape_of(value.type):
            return root, part
        if part.inst is not None and not _known_before(part):
            stack.extend(part.inst.args)
    return None


def _last(builder: Builder, contents: Value) -> Value:
    """The contents of memory behind everything that has been written."""
    first = origin(contents)
    return next(r for inst in reversed(builder.insts) for r in reversed(inst.results) if origin(r) is first)


def _viewed(builder: Builder, old: Value, target: Value, array: Value) -> Value:
    """The part of another array that is `target` in `old`."""
    view = array
    for step in chain_from(old, target):
        view = builder.emit(step.op, (view, *step.args[1:]), dict(step.attrs), None if step.op.infer else step.types)
    return view


def _views(update: Inst) -> list[Value]:
    """The views from an array to the part of it that is changed."""
    return [step.result for step in chain_from(update.args[0], update.args[1])]


def _placed(builder: Builder, update: Inst, array: Value, values: dict[Value, Value]) -> Value:
    """The part of an array that is changed, where what it held before has memory of its own."""
    view = array
    for step in chain_from(update.args[0], update.args[1]):
        more = (values.get(a, a) for a in step.args[1:])
        view = builder.emit(step.op, (view, *more), dict(step.attrs), None if step.op.infer else step.types)
    return view


def _again(builder: Builder, value: Value, made: dict[Value, Value]) -> Value:
    """A value, made again of numbers and of contents of memory, or of what stands for these."""
    if value in made or _known_before(value):
        return made.get(value, value)
    inst = value.inst
    assert inst is not None
    args = [_again(builder, a, made) for a in inst.args]
    copy = builder.inst(inst.op, args, dict(inst.attrs), inst.types, inst.regions)
    made.update(zip(inst.results, copy.results, strict=True))
    return made[value]


def _in_words(check: Inst) -> list[Inst]:
    """What a kernel compares of two lengths; nothing where it is no matter of a kernel."""
    kind, dims, shapes = check.attr("kind"), check.attr("dims"), check.attr("shapes")
    if kind.startswith("empty "):
        return [_equal(check, (dim_min(product(dims), 1), 1), "ValueError", empty_sentence(kind.removeprefix("empty ")))]
    if kind not in ("assign", "broadcast") or len(shapes) != 2 or any(len(shape) != 1 for shape in shapes):
        return []
    (first,), (second,) = shapes
    one, other = _is_one(first), _is_one(second)
    texts = "({2},)", "({3},)"
    if kind == "assign":
        repeats, sentence = one * (1 - other), assignment_pattern().format(*texts)
        which = texts[0]
    else:
        repeats = one + other - 2 * one * other
        sentence = f"operands could not be broadcast together with shapes {' '.join(texts)} "
        which = " and ".join(texts)
    refused = f"a length known only at run time is 1, and NumPy would repeat the element: {which}"
    help = "pick the element with [0], which has no axis"
    return [
        _equal(check, (repeats, 0, first, second), "UnsupportedError", refused, help),
        _equal(check, (first, second, first, second), "ValueError", sentence),
    ]


def _is_one(length: DimLike) -> DimLike:
    """1 for a length that is 1, and 0 for any other."""
    return dim_min(length, 1) - dim_min(dim_max(length - 1, 0), 1)


def _equal(check: Inst, dims: tuple[DimLike, ...], *said: str) -> Inst:
    attrs = {"kind": "equal", "dims": dims, "shapes": said}
    return Inst(check.op, (), make_attrs(attrs), (), (), check.loc)


def _in_step(check: Inst) -> Inst:
    """An index that is compared in all steps of a loop, in one of them."""
    attrs = dict(check.attrs) | {"shapes": check.attr("shapes")[1:]}
    return Inst(check.op, (), make_attrs(attrs), (), (), check.loc)


def _number_read(inst: Inst) -> Value:
    """The number that the host would read from memory."""
    value = inst.args[0]
    while value.inst is not None and value.inst.op.name in ("keep", "as_array"):
        value = value.inst.args[0]
    return value
