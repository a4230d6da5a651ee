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

from pytocu.errors import NO_ELEMENTS
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
    DimLike,
    Shape,
    assignment_pattern,
    dim_max,
    dim_min,
    empty_sentence,
    product,
    symbol,
    symbols,
)
from pytocu.ir.reductions import REDUCTIONS
from pytocu.ir.regions import (
    HEADS,
    bindings,
    carried_count,
    carried_memories,
    changes,
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
from pytocu.ir.types import ArrayType, DType, WeakType, element, scalar, shape_of
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
from pytocu.passes.context import PassContext
from pytocu.passes.element_loops import ElementLoops, is_known_before, viewed
from pytocu.passes.infer_shapes import bound_symbols
from pytocu.passes.loop_scalars import has_form, on_host
from pytocu.passes.sweeps import sweep_of

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
    work = [i for i in inner if _is_work(i)] if context.target.kind == "cpu" and _decides(inst, inner) else []
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


def _decides(loop: Inst, inner: Sequence[Inst]) -> bool:
    """Whether Python would take each step of a loop: for what data say, a number that is read, or ints as bounds of slices."""
    branches = (i for i in inner if i.op.name in ("if_else", "while_loop") and not on_host(i))
    reads = any(i.op.name == "read_length" or i.attr("length") is not None for i in inner)
    if reads or any(not is_elementwise(i) for i in branches):
        return True
    bound = [i.args[0] for i in inner if i.op.name == "bind"]
    return bool(bound) and not _of_data(loop, inner).isdisjoint(bound)


def _of_data(loop: Inst, inner: Sequence[Inst]) -> set[Value]:
    """Python's numbers that a kernel computes, so that the host would read them: what data say decides which they are."""
    found: set[Value] = set()
    before = -1
    while len(found) > before:
        before = len(found)
        for inst in (loop, *inner):
            if not is_region(inst):
                if any(a in found or not isinstance(a.type, WeakType) for a in inst.args):
                    found.update(r for r in inst.results if isinstance(r.type, WeakType))
                continue
            if inst.op.name in ("if_else", "while_loop") and not isinstance(inst.args[0].type, WeakType):
                found.update(r for r in inst.results if isinstance(r.type, WeakType))
            found.update(param for param, argument in bindings(inst) if argument in found)
            carried = parameters(inst, inst.regions[0])[: carried_count(inst)]
            for region in inst.regions:
                for number, end in enumerate(region.terminator.args):
                    if end in found:
                        found.update(inst.results[number : number + 1])
                        found.update(carried[number : number + 1])
    return found


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
    for value, at in demand([new], whole, ndim, is_known_before):
        if value is not old and value.inst is not None and origin(value) is origin(old) and shape_of(value.type):
            # Earlier contents: what leads from there are changes.
            return False
        if value is old and not aligned(at, place, shape_of(target.type)):
            return False
        if value is not old and shape_of(value.type) and of_whole_arrays(value) and value.inst is not None:
            return False
    return True


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
        self.loops, self.own, self.vectors, self.room = ElementLoops(taken), own, vectors, room
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
            if is_known_before(value) or value in found or value in own_memory:
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
                        now[memory] = self.loops.elements(builder, now[memory], now[memory], now[memory], values.get(old, old))
                    values[old] = now[memory]
                elif old in outdated:
                    values[old] = self.keep(builder, values.get(old, old), outdated[old], now)
        return None if waiting else builder.take()

    def keep(self, builder: Builder, value: Value, memory: Memory, now: dict[Memory, Value]) -> Value:
        """The elements of a value in memory of their own."""
        found = _base(value, memory[1])
        assert found is not None
        now[memory] = self.loops.elements(builder, now[memory], *found, value)
        return viewed(builder, *found, now[memory])

    def part(self, builder: Builder, inst: Inst, args: Sequence[Value], now: dict[Memory, Value]) -> Value:
        """A change of a part, one element after the other."""
        old, target, new = args
        if _in_place(inst):
            return self.loops.elements(builder, old, old, target, new)
        # All of it is computed before any of it is assigned.
        memory = element(old.type), shape_of(old.type), None
        kept = now[memory] = self.loops.elements(builder, now[memory], old, target, new)
        return self.loops.elements(builder, old, old, target, viewed(builder, old, target, kept))

    def positions(
        self, builder: Builder, search: Inst, memory: Memory, now: dict[Memory, Value], values: dict[Value, Value]
    ) -> Value:
        """What a search finds, in memory that has room for all elements of the mask."""
        mask = chosen_by(search)
        assert mask is not None
        now[memory] = self.loops.positions(builder, values.get(mask, mask), now[memory])
        attrs = {"start": (0,), "step": (1,), "size": shape_of(search.result.type)}
        return builder.emit("slice", (now[memory],), attrs, name=search.result.name)

    def combined(self, builder: Builder, inst: Inst, args: Sequence[Value]) -> Sequence[Value] | None:
        """What combines all elements of arrays to numbers, as a loop over them; None for anything else."""
        if not _is_work(inst) or shape_of(inst.types[0]):
            return None
        row = REDUCTIONS[inst.attr("op")]
        dtypes = tuple(element(a.type) for a in args)
        return self.loops.fold(builder, row, dtypes, args)

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
        if is_known_before(value):
            found |= {value} if shape_of(value.type) else set()
        elif value.inst is not None:
            stack.extend(value.inst.args)
    return found


def _base(value: Value, shape: Shape | None = None) -> tuple[Value, Value] | None:
    """Contents of memory (of a shape), and a part of them that has a place for each element of a value."""
    seen: set[Value] = set()
    stack = [value]
    while stack:
        part = stack.pop()
        if part in seen or not shape_of(part.type):
            continue
        seen.add(part)
        root, chain = view_chain(part)
        placed = is_known_before(root) and all(step.op.name in _PLACES for step in chain)
        if placed and shape_of(part.type) == shape_of(value.type) and shape in (None, shape_of(root.type)):
            return root, part
        if part.inst is not None and not is_known_before(part):
            stack.extend(part.inst.args)
    return None


def _last(builder: Builder, contents: Value) -> Value:
    """The contents of memory behind everything that has been written."""
    first = origin(contents)
    written = (r for inst in reversed(builder.insts) for r in reversed(inst.results) if origin(r) is first)
    return next(written, contents)


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
    unequal = _differ(*dims)
    refused = f"a length known only at run time is 1, and NumPy would repeat the element: {which}"
    help = "pick the element with [0], which has no axis"
    compared = [_equal(check, (repeats * unequal, 0, first, second), "UnsupportedError", refused, help)]
    if {*dims} != {first, second}:
        # A length that is 1 where the other is repeated; both may be 0.
        empty = f"a length that is known only at run time is 0, and compiled as 1 beside others: {which}"
        none = unequal * (1 - _differ(first, second))
        compared.append(_equal(check, (none, 0, first, second), "UnsupportedError", empty, NO_ELEMENTS))
    return [*compared, _equal(check, (*dims, first, second), "ValueError", sentence)]


def _differ(first: DimLike, second: DimLike) -> DimLike:
    """1 for lengths that are not equal, and 0 for others."""
    return dim_min(dim_max(first - second, second - first), 1)


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
