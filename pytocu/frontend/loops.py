"""Loops whose number of steps is known only at run time; see `pytocu.frontend.control`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Sequence
from itertools import zip_longest
from typing import Any

from pytocu.errors import UnsupportedError, raised
from pytocu.frontend.control import (
    Flag,
    Flow,
    blank,
    both,
    branch,
    condition,
    decides,
    either,
    flow_of,
    hoist,
    in_region,
    may_be_one,
    negated,
)
from pytocu.frontend.first_steps import adapts, behind_steps, scalar_from_start
from pytocu.frontend.frames import Frame, Unset, line_made, owner_of
from pytocu.frontend.numbered import Numbered, Steps, numbered
from pytocu.frontend.numbers import common_type, item, of_type
from pytocu.frontend.operators import attempt, binary
from pytocu.frontend.ranges import bound_count, knowing
from pytocu.frontend.state import LEAF, State, flatten, rebuild, same_form
from pytocu.frontend.storage import StorageBuilder
from pytocu.frontend.type_texts import kind_text, type_text, way_out
from pytocu.frontend.values import Context, as_strong, as_value, const_inst, dim_value, is_array, is_dynamic, is_numpy_scalar
from pytocu.ir import regions
from pytocu.ir.core import Inst, Value, named
from pytocu.ir.dims import DimLike
from pytocu.ir.types import WEAK_BOOL, WEAK_INT, ArrayType, ScalarType, Type, WeakType, element, shape_of
from pytocu.record import Mutable, fresh


def run_time_range(context: Context, *bounds: Any) -> Steps:
    """``range`` of numbers that are known only at run time.

    Raises
    ------
    TypeError
        A bound is no int.
    ValueError
        The step is 0.
    """
    if not 1 <= len(bounds) <= 3:
        attempt(context, range, *bounds)
    if all(not is_numpy_scalar(b) or element(b.type).is_integer for b in bounds):
        bounds = tuple(item(context, b) for b in bounds)
    for bound in bounds:
        if is_dynamic(bound) and not isinstance(bound.type, WeakType):
            raise UnsupportedError(
                f"range() of a value of type {bound.type}", context.loc, "pass the number of steps as a Python int"
            )
        if is_dynamic(bound) and bound.type.kind in ("float", "complex"):
            raise raised(TypeError(f"'{bound.type.kind}' object cannot be interpreted as an integer"), context.loc)
        if not is_dynamic(bound):
            attempt(context, range, bound)
    start, stop, step = (0, bounds[0], 1) if len(bounds) == 1 else (*bounds, 1)[:3]
    if not is_dynamic(step):
        attempt(context, range, 0, 1, step)
    else:
        step = context.builder.emit("python_step", (as_value(context, step),))
    return Steps(start, stop, step)


class _Read(Mutable):
    """A body as it was read: what it carries, and the instructions."""

    names: list[tuple[Frame, str]]
    roots: list[Value]
    types: dict[tuple[Frame, str], list[Type]]
    shared: dict[tuple[Frame, str], list[set[Value]]]
    insts: list[Inst] = fresh(default_factory=list)
    counter: Value | None = None
    lead: list[Value] = fresh(default_factory=list)
    params: list[Value] = fresh(default_factory=list)
    forms: list[Any] = fresh(default_factory=list)
    contents: list[Value] = fresh(default_factory=list)
    next: list[Any] = fresh(default_factory=list)
    extras: list[Value] = fresh(default_factory=list)
    state: State | None = None


class Again(Exception):
    """A body that leaves its loop was read as one that does not."""


Body = Callable[[Value | None, list[Value]], "tuple[list[Any], list[Any]]"]
"""Reads one step, given its number and the first carried values; these values for the next step, and others for behind."""


def assigned_names(frame: Frame, nodes: Iterable[ast.AST]) -> list[str]:
    """The names that statements bind, functions inside them left out."""
    found: dict[str, None] = {}
    stack = list(nodes)[::-1]
    while stack:
        node = stack.pop()
        match node:
            case ast.FunctionDef(name=name):
                found[name] = None
                continue
            case ast.Lambda():
                continue
            case ast.Name(id=name, ctx=ast.Store()):
                found[name] = None
        stack.extend(list(ast.iter_child_nodes(node))[::-1])
    return list(found)


def loop(
    frame: Frame,
    op: str,
    head: Sequence[Value],
    lead: Sequence[Value],
    nodes: Sequence[ast.AST],
    body: Body,
    numbers: tuple[str, DimLike, bool] | None = None,
) -> tuple[list[Value], list[Value]]:
    """Write a loop.

    Parameters
    ----------
    op : str
        ``for_loop`` or ``while_loop``.
    head : sequence of Value
        Bounds of a ``for_loop``.
    lead : sequence of Value
        First values of what is carried besides the program's own names and memory.
    nodes : sequence of syntax nodes
        The statements, for the names they bind.
    body : Body
    numbers : (str, DimLike, bool), optional
        The name of the number of a step of a ``for_loop``, how many there are, and whether the last comes first.

    Returns
    -------
    list of Value
        The last values of `lead`.
    list of Value
        What the body gave for behind the loop.
    """
    context = frame.context
    builder = context.builder
    loc = builder.loc
    before = State(frame)
    names = [(owner, name) for owner, name in _bound(frame, nodes) if _starts(owner.locals.get(name))]
    roots: list[Value] = []
    types: dict[tuple[Frame, str], list[Type]] = {}
    shared: dict[tuple[Frame, str], list[set[Value]]] = {}
    doubted = before.storage
    while True:
        read = _Read(names, roots, types, shared)
        builder.doubt(doubted)
        changing, context.changing = context.changing, context.changing or bool(roots)
        try:
            with builder.nested() as insts:
                _read(frame, read, op, lead, body)
        except BaseException:
            before.go_back()
            raise
        finally:
            context.changing = changing
        read.insts = insts
        if asked := before.asked():
            before.go_back()
            builder.loc = loc
            for value in asked:
                as_value(context, value)
            before = State(frame)
            continue
        more_names, more_roots = _missing(frame, before, read)
        builder.loc = loc
        before.refuse_changed_containers("a loop")
        wider = _wider(context, read)
        more_shared = _more_shared(builder, read, before)
        assert read.state is not None
        doubts = read.state.storage[3].keys() - doubted[3].keys() - _made(read)
        if not more_names and not more_roots and not wider and more_shared == shared and not doubts:
            break
        if not more_names:
            # A name that was not known to be bound again was taken for the memory it is bound to first.
            doubted = read.state.storage
        before.go_back()
        types |= wider
        shared = more_shared
        names, roots = [*names, *more_names], [*roots, *more_roots]
    return _finish(frame, op, head, lead, before, read, numbers)


def _bound(frame: Frame, nodes: Sequence[ast.AST]) -> list[tuple[Frame, str]]:
    return [(owner_of(frame, name), name) for name in assigned_names(frame, nodes)]


def _starts(value: Any) -> bool:
    """Whether a name is carried from the start: numbers are, since what a step makes of them is not known now."""
    leaves: list[Any] = []
    form = flatten(value, leaves)
    return bool(leaves) and not any(map(is_array, leaves)) and form is not value


def _read(frame: Frame, read: _Read, op: str, lead: Sequence[Value], body: Body) -> None:
    builder = frame.context.builder
    if op == "for_loop":
        read.counter = Value(WEAK_INT)
    read.lead = [Value(regions.bare(v.type), v.name) for v in lead]
    for root in read.roots:
        param = Value(regions.bare(builder.contents(root).type), root.name)
        read.contents.append(param)
        builder.replace(root, param)
    for owner, name in read.names:
        leaves: list[Any] = []
        form = flatten(owner.locals[name], leaves)
        stated = read.types.get((owner, name)) or [_type(frame.context, v) for v in leaves]
        params = [Value(regions.bare(type), name) for type in stated]
        read.params.extend(params)
        read.forms.append(form)
        owner.locals[name] = rebuild(form, list(params))
        builder.may_be([(p, (), m) for p, m in zip(params, read.shared.get((owner, name), ()), strict=False)])
    following, extras = body(read.counter, read.lead)
    read.state = State(frame)
    read.next = list(following)
    read.extras = list(extras)


def _type(context: Context, value: Any) -> Any:
    if isinstance(value, Value):
        return value.type
    with context.builder.nested():
        return as_value(context, value).type


def _wider(context: Context, read: _Read) -> dict[tuple[Frame, str], list[Type]]:
    """The types of names that a step makes other numbers of: NumPy scalars, or what both are in a vectorized function."""
    assert read.state is not None
    wider: dict[tuple[Frame, str], list[Type]] = {}
    place = 0
    for (owner, name), form in zip(read.names, read.forms, strict=True):
        count = _leaf_count(form)
        own = [p.type for p in read.params[place : place + count]]
        place += count
        leaves: list[Any] = []
        if not same_form(flatten(read.state.value(owner, name), leaves), form):
            continue
        found = [regions.bare(_type(context, v)) for v in leaves]
        pairs = list(zip(own, found, strict=True))
        types = [common_type(context, a, b) or scalar_from_start(context, a, b) or a for a, b in pairs]
        if types != own:
            wider[owner, name] = types
    return wider


def _leaf_count(form: Any) -> int:
    return sum(map(_leaf_count, form)) if isinstance(form, tuple) else int(form is LEAF)


def _missing(frame: Frame, before: State, read: _Read) -> tuple[list[tuple[Frame, str]], list[Value]]:
    """Arrays' names that the body binds again, and memory that it changes, that were not known to be."""
    known = set(read.names)
    names: list[tuple[Frame, str]] = []
    missing = object()
    for owner, name in before.names():
        old, new = before.value(owner, name, missing), owner.locals.get(name, missing)
        if old is new or old is missing or (owner, name) in known or isinstance(old, Unset):
            continue
        leaves: list[Any] = []
        if flatten(old, leaves) is not old and any(map(is_array, leaves)):
            names.append((owner, name))
    own = _made(read)
    roots = [r for r in frame.context.builder.changed(before.storage) if r not in own and r not in read.roots]
    return names, roots


def _finish(
    frame: Frame,
    op: str,
    head: Sequence[Value],
    lead: Sequence[Value],
    before: State,
    read: _Read,
    numbers: tuple[str, DimLike, bool] | None,
) -> tuple[list[Value], list[Value]]:
    """The instruction, and what names and memories are behind it."""
    context = frame.context
    builder = context.builder
    loc = builder.loc
    after = read.state
    assert after is not None
    _refuse_shared_memory(frame, before, read)
    ends: list[Value] = [in_region(context, read.insts, after, v) for v in read.next]
    starts: list[Value] = []
    params = [*read.lead, *read.params, *read.contents]
    broken: dict[tuple[Frame, str], Unset] = {}
    used = {a for inst in read.insts for a in inst.args} | set(ends)
    place = 0
    taken: list[tuple[Frame, str, Any, int]] = []
    from_start: set[Value] = set()
    dropped: set[Value] = set()
    yields: list[Value] = []
    for (owner, name), form in zip(read.names, read.forms, strict=True):
        old: list[Any] = []
        flatten(before.value(owner, name), old)
        own = read.params[place : place + len(old)]
        place += len(old)
        problem = _differs(context, read, after, owner, name, form, own) or _adapts(context, read, name, old, own)
        if problem is None:
            new: list[Any] = []
            flatten(after.value(owner, name), new)
            yields.extend(_carried(context, read, v, p.type) for v, p in zip(new, own, strict=True))
            starts.extend(of_type(context, v, p.type) for v, p in zip(old, own, strict=True))
            taken.append((owner, name, form, len(old)))
            from_start.update(p for p, v in zip(own, old, strict=True) if _began_as_python(context, v, p))
        elif any(p in used for p in own):
            raise UnsupportedError(problem.message, loc, problem.help)
        else:
            broken[owner, name] = problem
            dropped.update(own)
    params = [p for p in params if p not in dropped]
    known = {n for i in read.insts if i.op.name == "bind" for n in i.attr("names")} | context.steps
    for value in read.extras:
        if not known.isdisjoint(_lengths(value.type)):
            raise UnsupportedError(
                f"the function returns {type_text(value.type)} in a loop, and so its length changes from step to step",
                loc,
                "return an array of one length: y = np.zeros_like(x); y[:j] = x[:j]",
            )
    before.go_back()
    memory_starts = [builder.contents(root) for root in read.roots]
    memory_ends = [after.storage[0][root] for root in read.roots]
    ends.extend([*yields, *memory_ends])
    results_inside = {r for inst in read.insts for r in inst.results}
    own_names = {*params, *([read.counter] if read.counter else []), *results_inside}
    inside = hoist(context, read.insts, own_names, numbers)
    shared = regions.captured(inside, [*([read.counter] if read.counter else []), *params], [*ends, *read.extras])
    # What the body gives for behind the loop begins as zeros that nobody looks at.
    unseen = [Value(regions.bare(v.type), v.name) for v in read.extras]
    first = [*lead, *starts, *memory_starts, *(blank(context, v.type) for v in unseen)]
    own_params = [*([read.counter] if read.counter else []), *params, *unseen]
    block = regions.closed(inside, own_params, [*ends, *read.extras], shared, loc)
    types = [v.type for v in (*params, *unseen)]
    attrs: dict[str, Any] = {"carried": len(types)} | ({"numbers": numbers} if numbers else {})
    made = builder.inst(op, (*head, *first, *shared), attrs, types, (block,))
    for result, param in zip(made.results, (*params, *unseen), strict=True):
        result.name = param.name
    results = list(made.results)
    if from_start and not _has_steps(op, head):
        going = first[0] if op == "while_loop" else None
        results = [
            behind_steps(context, op, head, going, r, p.name) if p in from_start else r
            for r, p in zip(results, (*params, *unseen), strict=True)
        ]
    leading, results = results[: len(lead)], results[len(lead) :]
    memories = _memories(builder, read, before, after, _has_steps(op, head))
    bound: list[tuple[Value, Sequence[Any], set[Value]]] = []
    for owner, name, form, count in taken:
        ways = zip(_leaves(before, owner, name), _leaves(after, owner, name), strict=True)
        bound.extend(zip(results, ways, memories[owner, name], strict=False))
        owner.locals[name] = rebuild(form, results[:count])
        results = results[count:]
    changed = _changed(read)
    builder.doubt(after.storage)
    for root in read.roots:
        builder.replace(root, results.pop(0), root in changed)
    # Names hold what memories do behind the loop: the changes in it are none of theirs.
    builder.may_be(bound)
    _forget(before, after, read, broken)
    return leading, results


def _began_as_python(context: Context, value: Any, param: Value) -> bool:
    return context.elements is None and isinstance(param.type, ScalarType) and isinstance(_type(context, value), WeakType)


def _adapts(context: Context, read: _Read, name: str, old: Sequence[Any], params: Sequence[Value]) -> Unset | None:
    """Why a name that begins as a Python number cannot be a NumPy scalar from the start, if it cannot."""
    for value, param in zip(old, params, strict=True):
        weak = _type(context, value)
        if _began_as_python(context, value, param) and not adapts(param, weak, read.insts):
            return Unset(
                f"{name} is {type_text(weak)} before a step of the loop and {type_text(param.type)} behind it",
                way_out(weak, param.type),
            )
    return None


def _carried(context: Context, read: _Read, value: Any, type: Type) -> Value:
    """What a name holds at the end of a step, of the type it has in each."""
    assert read.state is not None
    made = in_region(context, read.insts, read.state, value, type)
    with context.builder.behind(read.insts):
        return of_type(context, made, type)


def _differs(
    context: Context, read: _Read, after: State, owner: Frame, name: str, form: Any, params: Sequence[Value]
) -> Unset | None:
    """Why a name cannot go from one step to the next, if it cannot."""
    missing = object()
    value = after.value(owner, name, missing)
    if isinstance(value, Unset) or value is missing:
        return value if isinstance(value, Unset) else Unset(f"{name} is deleted in a loop", "leave the del out")
    leaves: list[Any] = []
    if not same_form(flatten(value, leaves), form):
        return Unset(
            f"{name} is {kind_text(rebuild(form, list(params)))} before a step of the loop and {kind_text(value)} after it"
            f"{line_made(value)}",
            "give it values of one kind",
        )
    for param, leaf in zip(params, leaves, strict=True):
        found = regions.bare(_type(context, leaf))
        if not context.steps.isdisjoint(_lengths(found)) and found != param.type:
            return Unset(
                f"{name} is {type_text(param.type)} before a step of the loop and {type_text(found)} after it, "
                "and so its length changes from step to step",
                way_out(param.type, found),
            )
        if not may_be_one(found, param.type) and common_type(context, found, param.type) != param.type:
            return Unset(
                f"{name} is {type_text(param.type)} before a step of the loop and {type_text(found)} after it"
                f"{line_made(leaf)}",
                way_out(param.type, found),
            )
    return None


def _lengths(type: Any) -> set[str]:
    """The names in the lengths of a type."""
    return named(shape_of(type)) if isinstance(type, ArrayType) else set()


def _has_steps(op: str, head: Sequence[Value]) -> bool:
    """Whether a loop is known to have a step."""
    known = [inst.attr("value") for v in head if (inst := const_inst(v)) is not None]
    return op == "for_loop" and len(known) == 3 and len(range(*known)) > 0


def _memories(
    builder: StorageBuilder, read: _Read, before: State, after: State, steps: bool
) -> dict[tuple[Frame, str], list[set[Value]]]:
    """By name: the memories from before the loop that what it carries may be behind it."""
    own = _made(read)
    first: dict[Value, set[Value]] = {}
    last: dict[Value, set[Value]] = {}
    by_name: dict[tuple[Frame, str], list[Value]] = {}
    place = 0
    for owner, name in read.names:
        old: list[Any] = []
        new: list[Any] = []
        flatten(before.value(owner, name), old)
        flatten(after.value(owner, name), new)
        by_name[owner, name] = params = read.params[place : place + len(old)]
        place += len(old)
        # A name that a step binds to something of another kind has nothing that goes on.
        for param, a, b in zip_longest(params, old, new[: len(old)]):
            first[param] = builder.memories(a) if is_array(a) else set()
            last[param] = builder.memories(b) if is_array(b) else set()
    # What a step hands on as it is has been there since the step before.
    reached = {param: {*last[param], *(() if steps else {param})} for param in first}
    for _ in first:
        for param, found in reached.items():
            reached[param] = found | {m for p in found if p in first for m in last[p]}
    found = {param: {m for p in reached[param] for m in first.get(p, {p} - own)} for param in first}
    return {name: [found[param] for param in params] for name, params in by_name.items()}


def _made(read: _Read) -> set[Value]:
    """What a step has of its own: what it begins with, and what it makes."""
    return {*read.params, *(result for inst in read.insts for result in inst.results)}


def _leaves(state: State, owner: Frame, name: str) -> list[Any]:
    found: list[Any] = []
    flatten(state.value(owner, name), found)
    return found


def _changed(read: _Read) -> set[Value]:
    """The memories from before the loop that a step changes; earlier readings may have found more."""
    assert read.state is not None
    return {root for root, param in zip(read.roots, read.contents, strict=True) if read.state.storage[0][root] is not param}


def _more_shared(builder: StorageBuilder, read: _Read, before: State) -> dict[tuple[Frame, str], list[set[Value]]]:
    """By name: the memories from before the loop that a step changes and that the name may be in when a step begins."""
    assert read.state is not None
    changed = _changed(read)
    found = {name: list(sets) for name, sets in read.shared.items()}
    if changed:
        for name, sets in _memories(builder, read, before, read.state, False).items():
            known = found.get(name) or [set() for _ in sets]
            found[name] = [a | (b & changed) for a, b in zip(known, sets, strict=True)]
    return found


def _refuse_shared_memory(frame: Frame, before: State, read: _Read) -> None:
    """A name that is bound to one memory and then to another, where memory is changed: names are values from here on.

    Raises
    ------
    UnsupportedError
        A change would be seen through another name.
    """
    builder = frame.context.builder
    assert read.state is not None
    changed = {p for p in read.params if p in read.state.storage[0]}
    if not changed:
        return
    place = 0
    ends: list[tuple[Value, str]] = []
    own = _made(read)
    for owner, name in read.names:
        old = _leaves(before, owner, name)
        new = _leaves(read.state, owner, name)
        for param, value in zip(read.params[place : place + len(old)], old, strict=True):
            shared = is_array(value) and (builder.argument(value) is not None or _other_name(before, owner, name, value))
            if param in changed and shared:
                raise UnsupportedError(
                    f"{name} names another memory after each step of the loop, and that is changed where it is an argument's "
                    "or has another name",
                    builder.loc,
                    f"begin with a copy: {name} = {name}.copy()",
                )
        place += len(old)
        for value in new:
            if is_array(value):
                others = [other for end, other in ends if not builder.apart(value, end)]
                if others or not builder.memories(value) <= own:
                    raise UnsupportedError(
                        f"{name} and {others[0] if others else 'another name'} are one memory after a step of the loop, which "
                        "changes it",
                        builder.loc,
                        f"make one of them a copy: {name} = {name}.copy()",
                    )
                ends.append((value, name))


def _other_name(before: State, owner: Frame, name: str, value: Value) -> bool:
    for frame, other in before.names():
        held = before.value(frame, other)
        if (frame, other) != (owner, name) and is_array(held) and not before.builder.apart(value, held):
            return True
    return False


def _forget(before: State, after: State, read: _Read, broken: dict[tuple[Frame, str], Unset]) -> None:
    """Names that hold something of the last step, which may not have been."""
    carried = set(read.names)
    for number, frame in enumerate(after.frames):
        for name, value in after.locals[number].items():
            if (frame, name) in broken:
                frame.locals[name] = broken[frame, name]
            elif (frame, name) not in carried and before.locals[number].get(name) is not value:
                old = before.locals[number].get(name, before)
                if old is not before and _same_object(old, value):
                    continue
                frame.locals[name] = Unset(
                    f"{name} is assigned in a loop that may have no step, so it may have no value here",
                    "assign it before the loop, with a value of the same type",
                )


def _same_object(a: Any, b: Any) -> bool:
    first: list[Any] = []
    second: list[Any] = []
    same = same_form(flatten(a, first), flatten(b, second))
    return same and len(first) == len(second) and all(
        x is y or (not isinstance(x, Value) and type(x) is type(y) and repr(x) == repr(y))
        for x, y in zip(first, second, strict=True)
    )


# For and while.


def for_loop(
    frame: Frame, node: ast.For, steps: Steps, assign: Callable[[Any], None], read: Callable[[], Any]
) -> Flow:
    """A loop over numbers of run time; `assign` binds the target, `read` reads the body and gives a signal."""
    context = frame.context
    nodes = [node.target, *node.body]
    known = numbered(frame, node, steps)
    head = [as_value(context, v) for v in (steps.start, steps.stop, steps.step)] if known is None else known.head

    def straight(counter: Value | None, lead: list[Value]) -> tuple[list[Any], list[Any]]:
        assert counter is not None
        with knowing(context, () if known is None else known.facts, steps=True):
            assign(steps.item(counter if known is None else dim_value(context, known.value)))
            flow = flow_of(read())
        if flow.broke is not False or flow.returned is not False:
            raise Again
        return [], []

    try:
        loop(frame, "for_loop", head, (), nodes, straight, None if known is None else known.numbers)
    except Again:
        if known is not None:
            return _leaving_numbered(frame, nodes, known, steps, assign, read)
        return _leaving_for(frame, nodes, head, steps, assign, read)
    return Flow()


def _leaving_for(
    frame: Frame,
    nodes: Sequence[ast.AST],
    head: Sequence[Value],
    steps: Steps,
    assign: Callable[[Any], None],
    read: Callable[[], Any],
) -> Flow:
    """A ``for`` with ``break`` or ``return``: a flag says whether there is another step."""
    context = frame.context
    builder = context.builder
    start, stop, stride = head
    known = stride.inst is not None and stride.inst.op.name == "const"
    # Where the direction is known the number itself goes from step to step, otherwise how many there were.
    count = stop if known else builder.emit("python_steps", head)
    zero = start if known else builder.const(0, WEAK_INT)
    comparison = "greater" if stride.inst is not None and known and stride.inst.attr("value") < 0 else "less"

    def step(counter: Value | None, lead: list[Value]) -> tuple[list[Any], Flow]:
        number = lead[0]
        position = number if known else binary(context, "add", start, binary(context, "multiply", number, stride))
        assign(steps.item(position))
        flow = flow_of(read())
        return [binary(context, "add", number, stride if known else 1)], flow

    def more(lead: list[Any]) -> Flag:
        return binary(context, comparison, lead[0], count)

    return _leaving(frame, nodes, as_value(context, more([zero])), [zero], step, more)


def _leaving_numbered(
    frame: Frame,
    nodes: Sequence[ast.AST],
    loop_steps: Numbered,
    steps: Steps,
    assign: Callable[[Any], None],
    read: Callable[[], Any],
) -> Flow:
    """The same where steps have numbers."""
    context = frame.context
    start, stop, stride = loop_steps.head
    name, _, falling = loop_steps.numbers

    def step(counter: Value | None, lead: list[Value]) -> tuple[list[Any], Flow]:
        bound_count(context, lead[0], name)
        with knowing(context, loop_steps.facts, steps=True):
            assign(steps.item(dim_value(context, loop_steps.value)))
            flow = flow_of(read())
        return [binary(context, "add", lead[0], stride)], flow

    def more(lead: list[Any]) -> Flag:
        return binary(context, "greater" if falling else "less", lead[0], stop)

    return _leaving(frame, nodes, as_value(context, more([start])), [start], step, more)


def while_loop(frame: Frame, node: ast.While, first: Any, test: Callable[[], Any], read: Callable[[], Any]) -> Flow:
    """A loop while a condition of run time holds; `first` is what it was before the first step."""

    def step(counter: Value | None, lead: list[Value]) -> tuple[list[Any], Flow]:
        return [], flow_of(read())

    def more(lead: list[Any]) -> Flag:
        value = test()
        if decides(value):
            return condition(frame.context, value)
        return bool(value)

    start = condition(frame.context, first) if isinstance(first, Value) else as_value(frame.context, bool(first))
    return _leaving(frame, [node.test, *node.body], start, [], step, more, guarded=True)


def _leaving(
    frame: Frame,
    nodes: Sequence[ast.AST],
    start: Value,
    lead: Sequence[Value],
    step: Callable[[Value | None, list[Value]], tuple[list[Any], Flow]],
    more: Callable[[list[Any]], Flag],
    guarded: bool = False,
) -> Flow:
    """A loop with a flag that says whether there is another step, and flags for how it was left."""
    context = frame.context
    found: dict[str, Any] = {}
    kinds: list[type] = [WeakType, WeakType, WeakType]

    def body(counter: Value | None, values: list[Value]) -> tuple[list[Any], list[Any]]:
        following, flow = step(counter, values[3:])
        left = either(context, flow.broke, flow.returned)
        goes_on: Flag = False
        if isinstance(left, Value) and guarded:
            # Behind a break Python does not look at the condition, which may raise.
            # A condition of Python's numbers beside one on data is computed where the data are.
            computed = not isinstance(left.type, WeakType)

            def asked() -> Flow:
                flag = more(following)
                return Flow(broke=as_strong(context, as_value(context, flag)) if computed else flag)

            goes_on = flow_of(branch(frame, left, lambda: Flow(), asked)).broke
        elif left is not True:
            goes_on = both(context, negated(context, left), more(following))
        flags = [as_value(context, f) for f in (goes_on, flow.broke, flow.returned)]
        leaves: list[Any] = []
        found["form"] = flatten(flow.value, leaves)
        found["flow"] = flow
        for k, flag in enumerate(flags):
            if not isinstance(flag.type, WeakType):
                kinds[k] = object
        flags = [f if k is WeakType else as_strong(context, f) for f, k in zip(flags, kinds, strict=True)]
        return [*flags, *following], [as_value(context, v) for v in leaves]

    while True:
        kinds_before = list(kinds)
        false = context.builder.const(False, WEAK_BOOL)
        firsts = [start, false, false]
        if not isinstance(start.type, WeakType):
            kinds[0] = object
        firsts = [f if k is WeakType else as_strong(context, f) for f, k in zip(firsts, kinds, strict=True)]
        made = _try(frame, nodes, [*firsts, *lead], body, kinds)
        if made is not None:
            break
        if kinds == kinds_before:
            raise AssertionError("the flags of a loop have no types")
    results, extras = made
    flow: Flow = found["flow"]
    broke = False if flow.broke is False else results[1]
    returned = False if flow.returned is False else results[2]
    return Flow(broke, returned, rebuild(found["form"], list(extras)) if returned is not False else None, flow.loc)


def _try(
    frame: Frame, nodes: Sequence[ast.AST], lead: list[Value], body: Body, kinds: list[type]
) -> tuple[list[Value], list[Value]] | None:
    """The loop, or None where a flag turned out to be a NumPy bool."""
    wanted = list(kinds)

    def checked(counter: Value | None, values: list[Value]) -> tuple[list[Any], list[Any]]:
        made = body(counter, values)
        if kinds != wanted:
            raise Again
        return made

    try:
        return loop(frame, "while_loop", (), lead, nodes, checked)
    except Again:
        return None
