"""Loops and branches whose body is work on whole arrays become the host's, with kernels inside.

In: array level, where some loops and branches are not computed element by element (see
`pytocu.passes.accesses.region_needs`).  Out: where there are such, the function at host level; otherwise the function itself.

The function is cut where such an instruction stands.  What lies between is a function of its own that goes through
the passes as any other, and so is each body: its arrays are parameters, and what a step makes of a carried array goes
straight into memory for the next step, as an array that the function is given to change would be.  A carried array has
two memories that take turns, so that no step allocates one.  Where every carried array is an argument that the
function changes, one of the two is the argument itself: the loop takes two steps at a time, there and back, and a
single step behind it is copied.  Arguments that overlap are elements of one memory, which stands in their place.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Function, Inst, Value, chain_from, named, walk
from pytocu.ir.dims import is_number
from pytocu.ir.regions import (
    HEADS,
    bare,
    carried_count,
    given,
    is_region,
    kept,
    numbers_of,
    origin,
    parameters,
    pruned,
    requires,
)
from pytocu.ir.rewrite import made_again, replay, rewrite
from pytocu.ir.types import WEAK_BOOL, ArrayType, ScalarType, Type, WeakType, shape_of
from pytocu.passes import (
    bufferize,
    cleanup,
    compactions,
    components,
    few,
    fuse,
    insert,
    loop_scalars,
    maps,
    narrow,
    one_thread,
    picks,
    products,
    split,
    store_or_repeat,
)
from pytocu.passes.accesses import is_blank, is_elementwise, view_chain
from pytocu.passes.context import PassContext
from pytocu.passes.roots import on_host
from pytocu.passes.storages import contents_of, rebased, tree_numbers
from pytocu.passes.sweeps import Sweep, sweep_of


def _compactions_on_cpu(function: Function, context: PassContext) -> Function:
    """Masks of a piece are walked through on a CPU; code for a GPU searches among counts there."""
    return compactions.run(function, context) if context.target.kind == "cpu" else function


_TO_HOST = (
    narrow.run, products.run, components.run, few.run, split.run, _compactions_on_cpu, store_or_repeat.run, fuse.run,
    bufferize.run,
)  # fmt: skip
"""The passes of the pipeline that follow, up to the host level."""


def run(function: Function, context: PassContext) -> Function:
    """Cut the function where a loop or branch is the host's."""
    whole = next(filter(is_whole, function.body.insts), None)
    if whole is None:
        return function
    function = _numbers_apart(rewrite(_views_last(function), _with_its_view))
    if context.target.kind == "cpu":
        function = picks.read(function, lambda inst: is_whole(inst) and (_has_python(inst) or sweep_of(inst) is None))
    writer = _Writer(function, context)
    for param in function.params:
        writer.now[param] = param
    segment: list[Inst] = []
    later = _later_uses(function.body.insts)
    for number, inst in enumerate(function.body.insts):
        if inst.op.name == "memory":
            writer.share(inst)
        elif is_whole(inst):
            writer.stage(segment, later[number], function.body.insts[number:])
            segment = []
            sweep = None if _has_python(inst) else sweep_of(inst)
            if sweep is not None and not any(inst.results[k] in later[number + 1] for k in _scalars(inst, sweep)):
                writer.sweep(inst, sweep, function.body.insts[number + 1 :])
            else:
                writer.whole(inst, function.body.insts[number + 1 :])
        else:
            segment.append(inst)
    writer.last(segment)
    return Function(function.name, "host", Block(function.params, writer.builder.take()), function.facts)


def _views_last(function: Function) -> Function:
    """Views of arguments that are returned stand beside the return: they show what was changed in between."""
    *insts, end = function.body.insts
    results: list[Value] = []
    for value in end.args:
        root, chain = view_chain(value)
        if chain and root in function.params:
            for view in reversed(chain):
                insts.append(Inst(view.op, (root, *view.args[1:]), view.attrs, view.types, view.regions, view.loc))
                (root,) = insts[-1].results
                root.name = view.results[0].name
            value = root
        results.append(value)
    returned = Inst(end.op, tuple(results), end.attrs, end.types, end.regions, end.loc)
    return Function(function.name, function.level, Block(function.params, (*insts, returned)), function.facts)


def _with_its_view(builder: Builder, inst: Inst, args: tuple[Value, ...]) -> Sequence[Value] | None:
    """An update has the view that it changes beside it, not before a loop or branch."""
    if inst.op.name != "update" or args[0] is args[1]:
        return None
    old, view, new = args[0], args[0], args[2]
    for step in chain_from(args[0], args[1]):
        view = builder.emit(step.op, (view, *step.args[1:]), dict(step.attrs), None if step.op.infer else step.types)
    return (builder.emit("update", (old, view, new), name=inst.results[0].name),)


def _numbers_apart(function: Function) -> Function:
    """Numbers of a sweep that are read behind it are computed by a loop of their own, where they need no elements of arrays.

    Every thread of the sweep computes them, and none is the one that stores them.
    """
    used = {a for inst in walk(function.body) for a in inst.args}

    def apart(builder: Builder, inst: Inst, args: tuple[Value, ...]) -> Sequence[Value] | None:
        sweep = sweep_of(inst) if is_whole(inst) and not _has_python(inst) else None
        places = [] if sweep is None else [k for k in _scalars(inst, sweep) if inst.results[k] in used]
        wanted = {inst.results[k] for k in places}
        alone = pruned(inst, wanted) if wanted else None
        if alone is None or not is_elementwise(alone):
            return None
        own = dict(zip(inst.args, args, strict=True))
        numbers = builder.inst(alone.op, [own[a] for a in alone.args], dict(alone.attrs), alone.types, alone.regions)
        made = builder.inst(inst.op, args, dict(inst.attrs), inst.types, inst.regions)
        results = list(made.results)
        for number, k in zip(numbers.results, kept(inst, wanted), strict=True):
            number.name = inst.results[k].name
            if k in places:
                results[k] = number
        return results

    return rewrite(function, apart)


_FEW = 16
"""Elements that are changed where they are."""


def is_whole(inst: Inst) -> bool:
    """Whether a loop or branch is no element operation, and not about Python scalars alone.

    One whose Python scalars were left to the host stays there, though what has become of its updates
    since may be computed element by element.
    """
    if not is_region(inst) or loop_scalars.on_host(inst):
        return False
    return _has_python(inst) or not is_elementwise(inst)


def _has_python(inst: Inst) -> bool:
    """Whether a loop or branch has Python scalars, which were left to the host: it takes, computes or hands on some."""
    inside = (inner for region in inst.regions for inner in walk(region))
    types = (*(a.type for a in inst.args), *inst.types, *(type for inner in inside for type in inner.types))
    return any(isinstance(type, WeakType) for type in types)


def _scalars(inst: Inst, sweep: Sweep) -> list[int]:
    """The results that every thread of a sweep computes."""
    return [k for k, type in enumerate(inst.types) if sweep.free and k not in sweep.memories and not shape_of(type)]


def _later_uses(insts: Sequence[Inst]) -> list[set[Value]]:
    """For each instruction what it and those behind it use."""
    used: set[Value] = set()
    found: list[set[Value]] = []
    for inst in reversed(insts):
        used = used | set(inst.args)
        found.append(used)
    return found[::-1]


def _in_place(inst: Inst, k: int) -> bool:
    """Whether a loop changes parts of a carried array, so that it is cheaper to change them in place than to write all anew."""
    (region,) = inst.regions
    param, ends = parameters(inst, region)[k], region.terminator.args
    if ends[k] is param or origin(ends[k]) is not param or param in ends:
        return False
    return _changes_parts(ends[k], param)


def _changes_parts(value: Value, first: Value) -> bool:
    """Whether what leads from some contents to others changes parts at positions of run time, in loops and branches too."""
    while value is not first:
        made = value.inst
        assert made is not None
        if made.op.name == "update":
            views = chain_from(made.args[0], made.args[1])
            named_there = set().union(*(named(v) for view in views for _, v in view.attrs))
            if not _is_few(made.args[1].type, value.type) and not any(map(is_number, named_there)):
                return False
            value = made.args[0]
        elif made.op.name == "if_else":
            place = _in_branches(made, value.index)
            if place is None:
                return False
            value = given(made)[place]
        elif sweep_of(made) is not None or _in_place(made, value.index):
            value = given(made)[value.index]
        else:
            return False
    return True


def _is_few(part: Type, whole: Type) -> bool:
    """Whether a part has a few elements of an array that has many, or may have."""
    lengths, others = ([n for n in shape_of(type) if isinstance(n, int)] for type in (part, whole))
    if len(lengths) < len(shape_of(part)) or prod(lengths) > _FEW:
        return False
    return len(others) < len(shape_of(whole)) or prod(others) > _FEW * _FEW


def _in_branches(inst: Inst, k: int) -> int | None:
    """Which argument of a branch the sides change parts of, or leave as it is, to make a result; None where it is none."""
    places: set[int] = set()
    for region in inst.regions:
        params, ends = parameters(inst, region), region.terminator.args
        first = origin(ends[k])
        if first not in params or not _changes_parts(ends[k], first):
            return None
        places.add(params.index(first))
    return places.pop() if len(places) == 1 else None


def _passed(inst: Inst, arrays: Sequence[int]) -> dict[int, int]:
    """Results that are, as they are, another carried array of the step before: memories that change places."""
    if not carried_count(inst):
        return {}
    (region,) = inst.regions
    params = parameters(inst, region)[: carried_count(inst)]
    passed: dict[int, int] = {k: k for k in arrays if _in_place(inst, k)}
    for k in arrays:
        value = region.terminator.args[k]
        if k not in passed and value in params and params.index(value) not in passed.values():
            passed[k] = params.index(value)
    return passed


def _unread(region: Block) -> list[Value]:
    """Numbers of which something is required, and that nothing in a body reads."""
    used = {a for inst in walk(region) for a in inst.args}
    return [inst.results[0] for inst in region.insts if requires(inst) and inst.results[0] not in used]


def _in_memory(type: Type) -> Type:
    """The type of the memory that holds a value: a NumPy scalar is an array without axes there."""
    return ArrayType(type.dtype, ()) if isinstance(type, ScalarType) else bare(type)


def _changed_arguments(function: Function) -> dict[Value, Value]:
    """Values that are nothing but what an argument holds in the end, with arguments nobody else reads."""
    terminator = function.body.terminator
    shown = max(tree_numbers(terminator.attr("tree")), default=-1)
    uses: dict[Value, int] = {}
    for inst in function.body.insts[:-1]:
        if inst.op.name != "writable":
            for arg in inst.args:
                uses[arg] = uses.get(arg, 0) + 1
    found: dict[Value, Value] = {}
    for place, new in terminator.attr("updates", ()):
        argument, contents = terminator.args[place], terminator.args[new]
        alone = new > shown and terminator.args.count(contents) == 1 and contents not in uses
        if alone and argument in function.params and uses.get(argument) == 1:
            found[contents] = argument
    return found


class _Writer:
    """Writes the host function.

    Attributes
    ----------
    now : dict
        What stands for a value of the array function on the host: an argument, memory, or a Python scalar.
    scalars : set of Value
        NumPy scalars that stand in memory.
    made : set of Value
        Memory of the function's own.
    roots : tuple of Value
        The function's parameters, and memory that several of them are in.
    settled : set of Value
        What arguments hold in the end, where it is in them already.
    numbers : dict
        The names of ints of run time and of lengths that are read, in the order in which they are taken.
    """

    def __init__(self, function: Function, context: PassContext):
        self.function, self.context = function, context
        self.roots = function.params
        self.builder = Builder()
        self.now: dict[Value, Value] = {}
        self.scalars: set[Value] = set()
        self.made: set[Value] = set()
        self.settled: set[Value] = set()
        self.numbers: dict[str, None] = dict.fromkeys((*function.fact("numbers", ()), *numbers_of(function.body)))
        self.count = 0

    def share(self, inst: Inst) -> None:
        """The memory that several arguments are in stands for them from here on."""
        values: dict[Value, Value] = {}
        replay(self.builder, inst, lambda builder, inst, args: None, values)
        (memory,) = inst.results
        self.now[memory] = values.get(memory, memory)
        self.roots = (*self.roots, self.now[memory])

    def lowered(self, params: Sequence[Value], builder: Builder, facts: Any) -> Function:
        """A piece of the function at host level."""
        name = f"{self.function.name}_{self.count}"
        self.count += 1
        # What another piece reads has a name of its own: it is known behind a loop, too.
        facts = (*(fact for fact in facts if fact[0] != "numbers"), ("numbers", tuple(self.numbers)))
        piece = Function(name, "array", Block(tuple(params), builder.take()), facts)
        made = self._at_host_level(piece)
        self.numbers.update(dict.fromkeys(numbers_of(made.body)))
        return made

    def _at_host_level(self, piece: Function) -> Function:
        for step in (one_thread.run, loop_scalars.run, maps.run, picks.run, insert.run, cleanup.cse, cleanup.dce):
            piece = step(piece, self.context)
        inner = run(piece, self.context)
        if inner is not piece:
            return inner
        for step in _TO_HOST:
            piece = step(piece, self.context)
        return piece

    def inline(self, piece: Function, values: dict[Value, Value]) -> Sequence[Value]:
        """Write a piece, given what stands for its parameters; what it returns."""
        for inst in piece.body.insts[:-1]:
            replay(self.builder, inst, lambda builder, inst, args: None, values)
        return [values.get(a, a) for a in piece.body.terminator.args]

    def taken(self, builder: Builder, values: Sequence[Value]) -> tuple[dict[Value, Value], list[Value], dict[Value, Value]]:
        """Parameters for values: what they are called inside, the parameters, and what these stand for."""
        inside: dict[Value, Value] = {}
        params: list[Value] = []
        stands: dict[Value, Value] = {}
        for value in values:
            if value.inst is not None and value.inst.op.name == "const":
                inside[value] = builder.const(value.inst.attr("value"), value.type, value.name)
                continue
            outer = self.now[value]
            if outer in self.roots:
                # An argument, or what an argument's memory holds now.
                inside[value] = outer
                if outer not in params:
                    params.append(outer)
                    stands[outer] = outer
                continue
            in_memory = value in self.scalars
            param = Value(_in_memory(value.type) if in_memory else outer.type, value.name)
            params.append(param)
            stands[param] = outer
            inside[value] = builder.emit("cast", (param,), {}, (value.type,)) if in_memory else param
        return inside, params, stands

    def needed(self, insts: Sequence[Inst], extra: Sequence[Value] = ()) -> list[Value]:
        """The values that instructions take from before."""
        own = {r for inst in insts for r in inst.results}
        used = dict.fromkeys([*(a for inst in insts for a in inst.args), *extra])
        # All arguments are parameters of the first piece, so that lengths have their names.
        params = list(self.function.params)
        return [*params, *(v for v in used if v not in own and v not in params)]

    def stage(self, insts: Sequence[Inst], used: set[Value], behind: Sequence[Inst]) -> None:
        """The instructions up to a loop or branch of the host, the first of those behind."""
        results = [r for inst in insts for r in inst.results if r in used]
        builder = Builder(behind[0].loc)
        inside, params, stands = self.taken(builder, self.needed(insts))
        for inst in insts:
            replay(builder, inst, lambda builder, inst, args: None, inside)
        builder.loc = behind[0].loc
        given_out: list[Value] = []
        in_place = {r: memory for r in results if (memory := self._changed_in_place(r, results, behind)) is not None}
        results = [r for r in results if r not in in_place]
        firsts = [origin(r) for r in results]

        def alone(result: Value) -> bool:
            """Whether memory that begins as a blank one is left as it is."""
            first = origin(result)
            return is_blank(first) and first.inst in insts and firsts.count(first) == 1

        for result in results:
            value = inside.get(result, result)
            if isinstance(result.type, ScalarType) and not on_host(value):
                value = builder.emit("as_array", (value,), name=result.name)
                self.scalars.add(result)
            elif isinstance(result.type, ArrayType) and not alone(result):
                # What later changes of an argument would change is copied.
                value = builder.emit("copy", (value,), name=result.name)
            given_out.append(value)
        attrs: dict[str, Any] = {"tree": ("tuple", *range(len(given_out)))}
        if any(orders := self._orders(results)):
            attrs["orders"] = orders
        for result, memory in in_place.items():
            attrs["updates"] = (*attrs.get("updates", ()), (len(given_out), len(given_out) + 1))
            given_out.extend((memory, inside.get(result, result)))
        builder.inst("return", given_out, attrs)
        piece = self.lowered(params, builder, self.function.facts)
        self.now.update(in_place)
        for result, value in zip(results, self.inline(piece, stands), strict=False):
            self.now[result] = value
            if isinstance(result.type, ArrayType) or result in self.scalars:
                self.made.add(value)

    def whole(self, inst: Inst, behind: Sequence[Inst]) -> None:
        """A loop or branch of the host, and the instructions behind it."""
        used = {a for i in behind for a in i.args}
        head = [self.now[a] for a in inst.args[: HEADS[inst.op.name]]]
        count = carried_count(inst)
        # A flag in memory is read by the host, before the first step and at the end of each.
        reads = inst.op.name == "while_loop" and not isinstance(inst.types[0], WeakType)
        if inst.op.name == "if_else" and not isinstance(inst.args[0].type, WeakType):
            head = [self.builder.emit("read", head, {}, (WEAK_BOOL,)) if inst.args[0] in self.scalars else head[0]]
        arrays = [k for k, t in enumerate(inst.types) if not isinstance(t, WeakType)]
        if self._there_and_back(inst, arrays):
            return
        if count:
            passed = _passed(inst, arrays)
            kept = {k: self.now[given(inst)[k]] for k, j in passed.items() if k == j and self._stays(inst, k, behind)}
        else:
            places = {k: _in_branches(inst, k) for k in arrays}
            alone = {k: j for k, j in places.items() if j is not None and list(places.values()).count(j) == 1}
            passed = {k: j for k, j in alone.items() if self._stays(inst, j, behind) or self._is_left(inst, j, behind)}
            kept = {k: self.now[given(inst)[j]] for k, j in passed.items()}
        moving = [k for k in arrays if k not in kept]
        starts = self._starts(inst, moving, used) if count else []
        computed = [k for k in arrays if k not in passed]
        spares = self._spares(inst, computed)
        own = {given(inst)[passed[k]] for k in kept}
        shared = [v for v in dict.fromkeys(given(inst)[count:]) if v not in own]
        blocks = [self._region(inst, region, arrays, passed, shared, kept) for region in inst.regions]
        weak = [k for k in range(len(inst.types)) if k not in arrays]
        python = [self.now[given(inst)[k]] for k in weak] if count else []
        order = [*weak, *moving]
        if reads:
            self.builder.loc = inst.loc
            head = [self.builder.emit("read", (starts[moving.index(0)],), {}, (WEAK_BOOL,))]
        args = [*head, *python, *starts, *spares, *(self.now[v] for v in shared), *kept.values()]
        types = [*(inst.types[k] for k in weak), *(_in_memory(inst.types[k]) for k in moving)]
        if count:
            types += [v.type for v in spares]
        types = [*([WEAK_BOOL] if reads else []), *types]
        attrs: dict[str, Any] = {"carried": len(types)} if count else {}
        attrs |= {"numbers": inst.attr("numbers")} if inst.attr("numbers") is not None else {}
        self.builder.loc = inst.loc
        made = self.builder.inst(inst.op, args, attrs, types, blocks)
        for result, k in zip(made.results[reads:], order, strict=False):
            result.name = inst.results[k].name
            self.now[inst.results[k]] = result
            if isinstance(inst.results[k].type, ScalarType):
                self.scalars.add(inst.results[k])
        for k, memory in kept.items():
            self.now[inst.results[k]] = memory
            if given(inst)[passed[k]] in self.scalars:
                self.scalars.add(inst.results[k])

    def _stays(self, inst: Inst, k: int, behind: Sequence[Inst]) -> bool:
        """Whether a carried array that is changed in place may be where an argument is."""
        value = given(inst)[k]
        return given(inst).count(value) == 1 and self._is_free(value, behind)

    def _is_left(self, inst: Inst, k: int, behind: Sequence[Inst]) -> bool:
        """Whether what a branch changes in place is in memory that the function has made, and nobody needs it any more."""
        value = given(inst)[k]
        memory = self.now[value]
        held = {v for v, place in self.now.items() if view_chain(place)[0] is memory}
        used = {a for i in behind for a in i.args}
        return memory in self.made and given(inst).count(value) == 1 and used.isdisjoint({memory, value, *held})

    def sweep(self, inst: Inst, sweep: Sweep, behind: Sequence[Inst]) -> None:
        """A loop that is one kernel, in place in the memory of what it changes."""
        later = {a for i in behind for a in i.args}
        wanted = [k for k, r in enumerate(inst.results) if r in later]
        places: dict[int, Value] = {}
        copied: list[int] = []
        for k in sweep.memories:
            value = given(inst)[k]
            alone = given(inst).count(value) == 1
            if alone and self.now[value] in self.made and value not in later:
                places[k] = self.now[value]
            elif alone and self._is_free(value, behind):
                places[k] = self.now[value]
            else:
                copied.append(k)
        orders = [order or "C" for order in self._orders([given(inst)[k] for k in copied])]
        places.update(zip(copied, self._starts(inst, copied, {given(inst)[k] for k in copied}, orders), strict=True))
        self.builder.loc = inst.loc
        outer: list[Value] = []
        params: list[Value] = []
        region = Builder(inst.loc)
        inner: list[Value] = []
        numbers = inst.attr("numbers")
        for number, value in enumerate(inst.args):
            k = number - HEADS[inst.op.name]
            if numbers is not None and k < 0:
                _, count, falling = numbers
                bounds = (count - 1, -1, -1) if falling else (0, count, 1)
                inner.append(region.emit("dim", (), {"value": bounds[number]}, (value.type,)))
                continue
            outer.append(places.get(k, self.now[value]))
            params.append(Value(outer[-1].type, value.name))
            in_memory = isinstance(value.type, ScalarType) and isinstance(outer[-1].type, ArrayType)
            inner.append(region.emit("cast", (params[-1],), {}, (value.type,)) if in_memory else params[-1])
        made = region.inst(inst.op, inner, dict(inst.attrs), inst.types, inst.regions)
        kept = [k for k in range(len(inst.types)) if k in wanted or k in sweep.memories]
        for old, new in zip(inst.results, made.results, strict=True):
            new.name = old.name
        region.emit("yield", [made.results[k] for k in kept])
        outputs: list[Value] = []
        for k in kept:
            result = inst.results[k]
            if k in places:
                memory = places[k]
            else:
                memory = self.builder.emit("allocate", (), {}, (_in_memory(result.type),), name=result.name or "out")
            self.now[result] = memory
            outputs.append(memory)
            if memory not in self.roots:
                self.made.add(memory)
            if isinstance(result.type, ScalarType):
                self.scalars.add(result)
        attrs = {"name": f"{self.function.name}_sweep{self.count}", "outputs": len(outputs), "free": sweep.free}
        attrs["why"] = "each position goes through all steps of a loop"
        self.count += 1
        self.builder.inst("launch", [*outer, *outputs], attrs, (), (Block(tuple(params), region.take()),))

    def _orders(self, results: Sequence[Value]) -> tuple[str | None, ...]:
        """The layouts that the function's ``return`` states of values, or of what their memory holds in the end."""
        terminator = self.function.body.terminator
        stated: dict[Value, str | None] = {}
        for value, order in zip(terminator.args, terminator.attr("orders", ()), strict=False):
            stated |= {value: order, origin(value): order}
        return tuple(stated.get(result, stated.get(origin(result))) for result in results)

    def _changed_in_place(self, result: Value, results: Sequence[Value], behind: Sequence[Inst]) -> Value | None:
        """The argument's memory that may hold a changed array from here on."""
        first, changed = contents_of(result)
        others = [r for r in results if r is not result and contents_of(r)[0] is first]
        if not changed or first not in self.now or others:
            return None
        return self.now[first] if self._is_free(first, behind) else None

    def _is_free(self, value: Value, behind: Sequence[Inst]) -> bool:
        """Whether contents are in an argument's memory, which the function changes and where nobody needs them any more."""
        memory = self.now[value]
        terminator = behind[-1]
        places = {terminator.args[place] for place, _ in terminator.attr("updates", ())}
        if memory not in self.roots or memory not in places:
            return False
        ends = {terminator.args[new] for _, new in terminator.attr("updates", ())}
        shown = {terminator.args[n] for n in tree_numbers(terminator.attr("tree"))}
        # The argument itself may be returned, as what it holds in the end.
        held = {v for v, place in self.now.items() if place is memory and v is not memory}
        used = {a for i in behind[:-1] for a in i.args}
        return not used & {memory, value} and value not in ends and not shown & held

    def _there_and_back(self, inst: Inst, arrays: Sequence[int]) -> bool:
        """A loop that changes arguments, two steps at a time; False where it is none."""
        function, count = self.function, carried_count(inst)
        if inst.op.name != "for_loop" or len(arrays) != count or _passed(inst, arrays) or inst.attr("numbers") is not None:
            return False
        start, stop, by = inst.args[:3]
        size = by.inst.attr("value") if by.inst is not None and by.inst.op.name == "const" else 0
        finals = _changed_arguments(function)
        changed = [finals.get(result) for result in inst.results]
        if not size or changed != list(given(inst)[:count]):
            return False
        builder, present = self.builder, [self.now[v] for v in given(inst)[:count]]
        if any(bare(value.type) != value.type for value in present):
            return False
        shared = list(dict.fromkeys(given(inst)[count:]))
        with builder.nested() as before:
            spares = self._spares(inst, arrays)
            first = self._region(inst, inst.regions[0], arrays, {}, shared, {})
        if any(i.op.name in ("bind", "read_length") for i in first.insts):
            # A name is one number's, and the next step has another one.
            return False
        builder.insts.extend(before)
        second, single = (made_again(first, {}) for _ in range(2))
        others = [self.now[v] for v in shared]
        builder.loc = inst.loc

        def number(row: str, value: Value, other: Value | int) -> Value:
            """Python's arithmetic."""
            return builder.emit(row, (value, builder.const(other, by.type) if isinstance(other, int) else other))

        lower, upper = self.now[start], self.now[stop]
        # As many pairs of steps as have a second one.
        with builder.nested() as insts:
            builder.insts.extend(first.insts[:-1])
            counter, *inside = first.params
            turned = [*inside[count : 2 * count], *inside[:count], *inside[2 * count :]]
            values = dict(zip(second.params, (number("add", counter, size), *turned), strict=True))
            for step in second.insts[:-1]:
                replay(builder, step, lambda builder, inst, args: None, values)
            # What is written next stands for the loop, not for the last line of its body.
            builder.loc = inst.loc
            builder.emit("yield")
        pairs = Block(first.params, tuple(insts))
        bounds = (lower, number("subtract", upper, size), builder.const(2 * size, by.type))
        builder.inst("for_loop", (*bounds, *present, *spares, *others), {"carried": 0}, (), (pairs,))
        span = number("add", number("subtract", upper, lower), size - (1 if size > 0 else -1))
        steps = number("floor_divide", span, size)
        last = number("add", lower, number("multiply", number("subtract", steps, 1), size))
        odd = number("bitwise_and", number("equal", number("remainder", steps, 2), 1), number("greater", steps, 0))
        with builder.nested() as insts:
            builder.insts.extend(single.insts[:-1])
            for target, source in zip(single.params[1 : 1 + count], single.params[1 + count : 1 + 2 * count], strict=True):
                self._copy(source, target)
            builder.loc = inst.loc
            builder.emit("yield")
        nothing = [Value(value.type, value.name) for value in single.params]
        with builder.nested() as rest:
            builder.emit("yield")
        regions = Block(single.params, tuple(insts)), Block(tuple(nothing), tuple(rest))
        builder.inst("if_else", (odd, last, *present, *spares, *others), {}, (), regions)
        self.now |= dict(zip(inst.results, present, strict=True))
        self.settled.update(inst.results)
        return True

    def _copy(self, source: Value, target: Value) -> None:
        """Launch a kernel that copies an array."""
        inner, region = Value(source.type, source.name), Builder(self.builder.loc)
        region.emit("yield", (region.emit("copy", (inner,)),))
        why = "it copies the last step into the argument, where the number of steps is odd"
        attrs = {"name": f"{self.function.name}_{self.count}", "outputs": 1, "why": why}
        self.count += 1
        self.builder.inst("launch", (source, target), attrs, (), (Block((inner,), region.take()),))

    def _starts(
        self, inst: Inst, arrays: Sequence[int], used: set[Value], orders: Sequence[str] | None = None
    ) -> list[Value]:
        """The first contents of carried arrays, in memory of their own: where they are, if nobody needs them there."""
        builder = Builder(inst.loc)
        taken_over: list[Value] = []
        for k in arrays:
            value = given(inst)[k]
            own = self.now[value] in self.made and self.now[value].type == _in_memory(inst.types[k])
            if own and value not in used and given(inst).count(value) == 1:
                taken_over.append(value)
        wanted = [given(inst)[k] for k in arrays if given(inst)[k] not in taken_over]
        inside, params, stands = self.taken(builder, self.needed((), wanted))
        copies: list[Value] = []
        for value in wanted:
            plain = isinstance(value.type, ScalarType)
            copies.append(builder.emit("as_array" if plain else "copy", (inside[value],), name=value.name))
        # Without orders they take turns with memory in row-major order.
        stated = [order for k, order in zip(arrays, orders or ["C"] * len(arrays), strict=True) if given(inst)[k] in wanted]
        attrs: dict[str, Any] = {"tree": ("tuple", *range(len(copies))), "orders": tuple(stated)}
        builder.inst("return", copies, attrs)
        piece = self.lowered(params, builder, self.function.facts) if copies else None
        made = iter([] if piece is None else self.inline(piece, stands))
        return [self.now[given(inst)[k]] if given(inst)[k] in taken_over else next(made) for k in arrays]

    def _spares(self, inst: Inst, arrays: Sequence[int]) -> list[Value]:
        """Memory for what the next step makes."""
        self.builder.loc = inst.loc
        types = [_in_memory(inst.types[k]) for k in arrays]
        return [
            self.builder.emit("allocate", (), {}, (type,), name=f"{inst.results[k].name or 'array'}_next")
            for k, type in zip(arrays, types, strict=True)
        ]

    def _region(
        self,
        inst: Inst,
        region: Block,
        arrays: Sequence[int],
        passed: dict[int, int],
        shared: Sequence[Value],
        kept: dict[int, Value],
    ) -> Block:
        """A body at host level: Python scalars, present and next memory of arrays, and what is shared."""
        count = carried_count(inst)
        own = parameters(inst, region)
        weak = [k for k in range(len(inst.types)) if k not in arrays]
        counter = list(region.params[:1]) if inst.op.name == "for_loop" else []
        outer = _Writer(self.function, self.context)
        # What one body reads has no name of another's: both stand in one plan.
        outer.count, outer.numbers = self.count, self.numbers
        python = [Value(own[k].type, own[k].name) for k in weak] if count else []
        moving = [k for k in arrays if k not in kept]
        present = [Value(_in_memory(own[k].type), own[k].name) for k in moving] if count else []
        arguments = {passed[k]: Value(memory.type, own[passed[k]].name) for k, memory in kept.items()}
        computed = [k for k in arrays if k not in passed]
        spares = [Value(_in_memory(inst.types[k]), f"{inst.results[k].name or 'array'}_next") for k in computed]
        others = [Value(self.now[v].type, v.name) for v in shared]
        reads = inst.op.name == "while_loop" and 0 in arrays
        going = [Value(WEAK_BOOL)] if reads else []
        params = [*counter, *going, *python, *present, *spares, *others, *arguments.values()]
        # The body as a function of its own.
        builder = Builder(inst.loc)
        inside: dict[Value, Value] = {}
        body_params: list[Value] = []
        stands: dict[Value, Value] = {}

        def take(value: Value, host: Value, in_memory: bool) -> None:
            if isinstance(host.type, WeakType):
                param = Value(host.type, value.name)
            else:
                param = Value(_in_memory(host.type) if in_memory else host.type, value.name)
            body_params.append(param)
            stands[param] = host
            inside[value] = builder.emit("cast", (param,), {}, (value.type,)) if in_memory else param

        for value in counter:
            take(value, value, False)
        if count:
            for k, host in zip(weak, python, strict=True):
                take(own[k], host, False)
            for k, host in zip(moving, present, strict=True):
                take(own[k], host, isinstance(own[k].type, ScalarType))
        for j, host in arguments.items():
            take(own[j], host, False)
        by_argument = dict(zip(shared, others, strict=True))
        for param, argument in zip(own[count:], given(inst)[count:], strict=True):
            if param not in inside:
                take(param, by_argument[argument], argument in self.scalars)
        memories: list[Value] = []
        for host in spares:
            memories.append(Value(host.type, host.name))
            body_params.append(memories[-1])
            stands[memories[-1]] = host
        # Changes of a carried array begin with a copy: what they lead to goes into the other memory.
        copied: dict[Value, Value] = {}
        changing = {k: own[j] for k, j in passed.items() if k == j or not count}
        for step in region.insts[:-1]:
            if step.op.name == "update" and step.args[0] in own and step.args[0] not in copied:
                if step.args[0] in changing.values():
                    continue
                builder.loc = step.loc
                copied[step.args[0]] = builder.emit("copy", (inside[step.args[0]],), name=step.args[0].name)
        for step in region.insts[:-1]:
            if step.op.name == "update" and step.args[0] in copied:
                base = copied[step.args[0]]
                builder.loc = step.loc
                old, target, new = step.args
                view = rebased(builder, target, old, base, inside)
                inside[step.results[0]] = builder.emit(
                    "update", (base, view, inside.get(new, new)), name=step.results[0].name
                )
                continue
            replay(builder, step, lambda builder, inst, args: None, inside)
        builder.loc = inst.loc
        results = [inside.get(v, v) for v in region.terminator.args]
        contents: list[Value] = []
        for k, memory in zip(computed, memories, strict=True):
            new = results[k]
            made = region.terminator.args[k].inst
            builder.loc = made.loc if made is not None else inst.loc
            if isinstance(new.type, ScalarType):
                new = builder.emit("as_array", (new,), name=new.name)
            elif new.inst is None or new.inst.op.name == "update" or new.inst.op.kind != "elementwise":
                new = builder.emit("copy", (new,), name=new.name)
            contents.append(builder.emit("update", (memory, memory, new), name=memory.name))
        builder.loc = inst.loc
        shown = [*(results[k] for k in weak), *memories]
        attrs: dict[str, Any] = {"tree": ("tuple", *range(len(shown)))}
        if memories:
            attrs["updates"] = tuple((len(weak) + n, len(shown) + n) for n in range(len(memories)))
        returned = [*shown, *contents]
        for k, first in changing.items():
            if region.terminator.args[k] is not first:
                attrs["updates"] = (*attrs.get("updates", ()), (len(returned), len(returned) + 1))
                returned.extend((inside[first], results[k]))
        # A kernel looks at what nobody reads, if it computes it.
        returned += [builder.emit("as_array", (inside.get(v, v),)) for v in _unread(region)]
        builder.inst("return", returned, attrs)
        piece = outer.lowered(body_params, builder, self._facts())
        self.count = outer.count
        outer.builder.loc = inst.loc
        ends = outer.inline(piece, stands)
        if not count:
            outer.builder.inst("yield", [*ends[: len(weak)], *spares])
            return Block(tuple(params), outer.builder.take())
        memory = dict(zip(moving, present, strict=True)) if count else {}
        stays = {k: memory[j] for k, j in passed.items() if k not in kept}
        following = {**dict(zip(computed, spares, strict=True)), **stays}
        free = [memory[k] for k in moving if k not in passed.values()]
        idle: list[Value] = []
        for k in computed:
            place = next(n for n, value in enumerate(free) if value.type == _in_memory(inst.types[k]))
            idle.append(free.pop(place))
        if reads:
            going = [outer.builder.emit("read", (following[0],), {}, (WEAK_BOOL,))]
        outer.builder.inst("yield", [*going, *ends[: len(weak)], *(following[k] for k in moving), *idle])
        return Block(tuple(params), outer.builder.take())

    def _facts(self) -> Any:
        """Facts of a body: lengths keep their names, of arguments that it does not have."""
        return tuple(f for f in self.function.facts if f[0] != "sharing")

    def last(self, insts: Sequence[Inst]) -> None:
        """What stands behind the last loop or branch, with the ``return``."""
        insts = [*insts[:-1], self._without_settled(insts[-1])]
        builder = Builder(insts[-1].loc)
        inside, params, stands = self.taken(builder, self.needed(insts))
        taken = {p for p in params if p not in self.roots}
        for inst in insts[:-1]:
            replay(builder, inst, lambda builder, inst, args: None, inside)
        builder.loc = insts[-1].loc
        returned: list[Value] = []
        orders = insts[-1].attr("orders", ())
        for number, arg in enumerate(insts[-1].args):
            value = inside.get(arg, arg)
            root, chain = view_chain(value)
            order = orders[number] if number < len(orders) else None
            turned = order is not None and isinstance(root.type, ArrayType) and root.type.layout != order
            returned.append(builder.emit("copy", (value,), name=value.name) if root in taken and (chain or turned) else value)
        attrs = dict(insts[-1].attrs)
        if "updates" in attrs:
            # An argument that was changed in place holds its last contents already.
            attrs["updates"] = tuple((p, new) for p, new in attrs["updates"] if returned[p] is not returned[new])
        builder.inst("return", returned, attrs)
        piece = self.lowered(params, builder, self.function.facts)
        results = self.inline(piece, stands)
        self.builder.loc = insts[-1].loc
        self.builder.inst("return", results, dict(piece.body.terminator.attrs))

    def _without_settled(self, terminator: Inst) -> Inst:
        """The ``return`` without changes that were made already."""
        if not self.settled:
            return terminator
        left = [n for n, value in enumerate(terminator.args) if value not in self.settled]
        pairs = terminator.attr("updates", ())
        updates = tuple((left.index(place), left.index(new)) for place, new in pairs if new in left)
        attrs = {"tree": terminator.attr("tree")} | ({"updates": updates} if updates else {})
        if orders := terminator.attr("orders", ()):
            attrs["orders"] = tuple(orders[n] for n in left if n < len(orders))
        return Builder(terminator.loc).inst("return", [terminator.args[n] for n in left], attrs)
