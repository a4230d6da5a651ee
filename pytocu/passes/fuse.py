"""Groups array operations into kernels.

What has to be computed are the returned arrays and what is written into memory that the
function changes: the *roots*.  Each belongs to a kernel of its iteration shape; roots of one
shape share a kernel where that keeps the order in which memory is read and changed.  Views and
producers go inside and are computed again where they are needed, so no temporary is written
for them; what stays outside is host work: checks, conversions of Python scalars, arithmetic on
lengths, views of arguments that are returned as views, and the updates themselves, each behind
the kernel that computes what it writes.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any, TypeAlias

from pytocu.deferred import Deferred
from pytocu.errors import UnsupportedError
from pytocu.ir.builder import Builder
from pytocu.ir.core import Block, Function, Inst, Value
from pytocu.ir.regions import is_raise, is_region, may_fail, requires
from pytocu.ir.rewrite import copy_with
from pytocu.ir.types import ArrayType, ScalarType, Type, element, scalar, shape_of
from pytocu.passes import cleanup, storages
from pytocu.passes.accesses import is_elementwise
from pytocu.passes.context import PassContext, Target
from pytocu.passes.costs import OPERATIONS_A_BYTE
from pytocu.passes.roots import Kernel, Once, Plan, Root, find_roots, on_host
from pytocu.passes.steps import Mentions, checks, is_step, mentioned
from pytocu.passes.storages import rebased

_computed_once = Deferred("pytocu.passes.computed_once", "computed_once")

Places: TypeAlias = dict[tuple[str, Value], Value]
"""What kernels and updates made: by what it is for (``read``, ``returned`` or ``updated``) and what it stands for."""


def run(function: Function, context: PassContext) -> Function:
    """Build ``kernel`` regions."""
    if function.level == "host":
        return function
    function = storages.run(function)
    for inst in function.body.insts:
        if is_region(inst) and not on_host(inst.results[0]) and not is_elementwise(inst):
            raise UnsupportedError(
                "a loop or branch of run time whose elements depend on one another is not compiled",
                inst.loc,
                "keep to operations element by element in it, or make the number of steps static",
            )
    terminator = function.body.terminator
    returned = _distinct(terminator)
    mentions = Mentions(function)
    plan = grouped(function, returned, mentions, context.target)
    if not plan.kernels:
        return function
    builder = Builder()
    places: Places = {}
    # Host values come first and in order: checks run before anything is written, but for those of lengths that are read.
    waiting = [i for i in function.body.insts[:-1] if _is_hosts(i)]
    waiting = _host(builder, waiting, mentions, frozenset())
    known: frozenset[str] = frozenset()
    names = _kernel_names(function, plan)
    order = {inst: number for number, inst in enumerate(function.body.insts)}
    for kernel, name in zip(plan.kernels, names, strict=True):
        if waiting:
            last = max((order[i] for i in _insts(kernel) if i in order), default=-1)
            needed = {i for i in waiting if order[i] < last and not is_raise(i)}
            waiting = _host(builder, waiting, mentions, known, needed)
        if kernel.step is not None:
            _step(builder, kernel.step, places)
            known |= {kernel.step.attr("name")} if kernel.step.op.name == "read_length" else set()
            waiting = _host(builder, waiting, mentions, known)
            continue
        why = "" if name == function.name else kernel.why
        results = _kernel(builder, function, name, why, kernel.roots, places)
        for root, result in zip(kernel.roots, results, strict=True):
            if root.update is not None:
                _update(builder, root.update, result, places)
            else:
                places[root.use, root.stands_for] = result
    builder.loc = terminator.loc
    # A view that is returned shows what its memory holds at the end, also where a kernel keeps what it held before.
    shown = {a for a in returned if a.inst is not None and a.inst.op.kind == "view" and on_host(a)}
    args = [a if a in shown else places.get(("returned", a)) or places.get(("read", a)) or a for a in returned]
    builder.inst("return", args, dict(terminator.attrs))
    fused = Function(function.name, function.level, Block(function.params, builder.take()), function.facts)
    # Views and constants that went inside have no use outside any more.
    return cleanup.dce(fused, context)


def _unread(function: Function) -> list[Value]:
    """A result of each instruction that no one reads and that may be an exception, which a kernel finds out."""
    read = {a for inst in function.body.insts for a in inst.args}
    unread = (i for i in function.body.insts if i.results and not any(r in read for r in i.results))
    failing = (i for i in unread if requires(i) or (is_region(i) and may_fail(i)))
    return [i.results[0] for i in failing if not on_host(i.results[0])]


def _is_hosts(inst: Inst) -> bool:
    if is_step(inst):
        return False
    return inst.op.effects == "check" or (bool(inst.results) and all(on_host(r) for r in inst.results))


def _host(
    builder: Builder, waiting: list[Inst], mentions: Mentions, known: frozenset[str], needed: Set[Inst] = frozenset()
) -> list[Inst]:
    """Write what depends on known lengths only; what is left.

    A check behind one that is left waits with it, since a run raises what the program comes to first.  Only what is
    `needed` does not, since kernels rely on the lengths that are compared in front of what they compute.
    """
    left: list[Inst] = []
    missing: set[Value] = set()
    names: set[str] = set()
    waits = False
    for inst in waiting:
        check = checks(inst)
        late = (check and waits and inst not in needed) or not missing.isdisjoint(inst.args)
        late = late or (bool(names) and not names.isdisjoint(mentioned(inst)))
        if late or not mentions.before(inst) <= known:
            left.append(inst)
            missing.update(inst.results)
            names.update(inst.attr("names") if inst.op.name == "bind" else ())
            waits = waits or check
        else:
            builder.loc = inst.loc
            builder.insts.append(inst)
    return left


def _insts(kernel: Kernel) -> list[Inst]:
    """What a kernel or a step of the host does."""
    if kernel.step is not None:
        return [kernel.step]
    updates = [r.update for r in kernel.roots if r.update is not None]
    return [*_producers(kernel.roots)[0], *updates]


def _step(builder: Builder, inst: Inst, places: Places) -> None:
    """A library call or a length that is read, of what is in memory now."""
    builder.loc = inst.loc
    args = [places.get(("read", a), a) for a in inst.args]
    made = builder.inst(inst.op, args, dict(inst.attrs))
    for old, new in zip(inst.results, made.results, strict=True):
        new.name = old.name
        places["read", old] = places["returned", old] = new


def grouped(
    function: Function, returned: Sequence[Value], mentions: Mentions, target: Target, says_why: bool = False
) -> Plan:
    """What is computed together, and, if asked for, why the rest is not."""
    once: Once = {}
    wanted = [*returned, *_unread(function)]
    while True:
        plan = Plan(mentions, says_why)
        for root in find_roots(function, wanted, mentions, once):
            plan.place(root)
        found = _computed_once(plan, function, OPERATIONS_A_BYTE[target.kind]) if len(plan.kernels) > 1 else {}
        again = {value: roots for value, roots in found.items() if value not in once}
        if not again:
            return plan
        once = {**once, **again}


def refusals(function: Function, target: Target) -> tuple[tuple[str, str, str], ...]:
    """The pairs of kernels of a function that could not be one, by their names, and why.

    Parameters
    ----------
    function : Function
        As it stands before this pass.

    Examples
    --------
    >>> import pytocu
    >>> low = pytocu.jit(lambda x, y: (x + 1, y * 2)).lower("f32[n]", "f32[m]")
    >>> refusals(low.history(stop="store").records[-1].function, Target("cuda"))
    (('lambda__0', 'lambda__1', 'their iterations have the shapes (n,) and (m,)'),)
    """
    function = storages.run(function)
    plan = grouped(function, _distinct(function.body.terminator), Mentions(function), target, says_why=True)
    names = _kernel_names(function, plan)
    return tuple((names[r.first], names[r.second], r.reason) for r in plan.refused)


def _kernel_names(function: Function, plan: Plan) -> list[str]:
    """What each is called; steps of the host between kernels have no name."""
    count = sum(kernel.step is None for kernel in plan.kernels)
    if count == 1:
        return ["" if kernel.step is not None else function.name for kernel in plan.kernels]
    numbers = iter(range(count))
    return ["" if kernel.step is not None else f"{function.name}_{next(numbers)}" for kernel in plan.kernels]


def _distinct(terminator: Inst) -> list[Value]:
    """The returned values; one that stands twice is copied, because its results are two arrays.

    The user's function computed it twice: the front end returns one value once.
    """
    builder = Builder(terminator.loc)
    returned: list[Value] = []
    for value in terminator.args:
        again = value in returned and isinstance(value.type, ArrayType) and not on_host(value)
        returned.append(builder.emit("copy", (value,), name=value.name) if again else value)
    return returned


def _update(builder: Builder, inst: Inst, new: Value, places: Places) -> None:
    """The update behind the kernel, on the contents as they are called now."""
    old, target, _ = inst.args
    base = places.get(("updated", old)) or places.get(("read", old)) or old
    builder.loc = inst.loc
    view = rebased(builder, target, old, base)
    places["read", inst.results[0]] = builder.emit("update", (base, view, new), name=inst.results[0].name)


def _kernel(
    builder: Builder, function: Function, name: str, why: str, roots: Sequence[Root], places: Places
) -> tuple[Value, ...]:
    order, used = _producers(roots)
    # In the order of the signature, so that a kernel reads like the function it came from.
    place = {param: number for number, param in enumerate(function.params)}
    inputs = sorted(used, key=lambda value: place.get(value, len(place)))
    region = Builder(roots[0].value.inst.loc if roots[0].value.inst else builder.loc)
    inner: dict[Value, Value] = {}
    params: list[Value] = []
    outer: list[Value] = []
    for value in inputs:
        outer.append(places.get(("read", value), value))
        param = Value(outer[-1].type, _name(value))
        params.append(param)
        inner[value] = param
        if isinstance(value.type, ScalarType) and isinstance(param.type, ArrayType):
            inner[value] = region.emit("cast", (param,), {}, (value.type,))
    for inst in order:
        region.loc = inst.loc
        made = copy_with(inst, region, [inner[a] if a in inner else _zeros(region, a.type) for a in inst.args])
        # A loop or branch may make what is in memory beside what the kernel computes, of operands that it does not have.
        inner.update(pair for pair in zip(inst.results, made, strict=True) if pair[0] not in inner)
    root = roots[0].value
    region.loc = root.inst.loc if root.inst else region.loc
    region.emit("yield", [inner[r.value] for r in roots])
    builder.loc = region.loc
    attrs: dict[str, Any] = {"name": name}
    if why:
        attrs["why"] = why
    space = roots[0].space
    if space.reduced:
        where = tuple(tuple(p.coefficients.index(1) for p in r.index) for r in roots)
        attrs |= {"parallel": space.parallel, "reduced": space.reduced, "places": where}
    body = Block(tuple(params), region.take())
    kernel = builder.inst("kernel", outer, attrs, [r.value.type for r in roots], (body,))
    for root, result in zip(roots, kernel.results, strict=True):
        result.name = root.value.name
    return kernel.results


def _zeros(builder: Builder, type: Type) -> Value:
    """What stands for an operand of a loop or branch that none of the results is made of that a kernel has."""
    dtype, shape = element(type), shape_of(type)
    zero = builder.const(dtype.numpy.type(0).item(), scalar(dtype))
    if not isinstance(type, ArrayType):
        return zero
    return builder.emit("broadcast", (zero,), {"expand": tuple(range(len(shape))), "ndim": 0, "shape": shape})


def _name(value: Value) -> str:
    """The user's name for a kernel input; a converted scalar is called like the scalar."""
    if value.name or value.inst is None or value.inst.op.name != "convert":
        return value.name
    return value.inst.args[0].name or "scalar"


def _producers(roots: Sequence[Root]) -> tuple[list[Inst], list[Value]]:
    """The instructions a kernel holds, operands first, and the values it takes from outside."""
    inputs: dict[Value, None] = {}
    needed = [{value for value, _ in root.needed} for root in roots]
    order: list[Inst] = []
    done: set[Inst] = set()
    for root in roots:
        assert root.value.inst is not None
        stack: list[tuple[Inst, bool, Root]] = [(root.value.inst, False, root)]
        while stack:
            inst, ready, reader = stack.pop()
            if inst in done:
                continue
            if ready:
                done.add(inst)
                order.append(inst)
                continue
            stack.append((inst, True, reader))
            for arg in reversed(inst.args):
                by = reader
                if is_region(inst) and not on_host(arg):
                    # Its results may be made of different operands, and be results of different roots.
                    wanted = [other for other, values in zip(roots, needed, strict=True) if arg in values]
                    if not wanted:
                        continue
                    by = reader if reader in wanted else wanted[0]
                if by.enters(arg):
                    assert arg.inst is not None
                    if arg.inst not in done:
                        stack.append((arg.inst, False, by))
                else:
                    inputs[arg] = None
    return order, list(inputs)
