"""Loops whose number of steps is known only at run time; see `pytocu.frontend.control`."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from pytocu.deferred import Deferred
from pytocu.errors import CompileError, Loc, UnsupportedError, raised
from pytocu.frontend.aliases import mark_shared, note_chosen
from pytocu.frontend.control import (
    checks_of,
    hoist,
    may_fail,
    mentioned,
)
from pytocu.frontend.first_steps import (
    FirstApart,
    Required,
    behind_steps,
    differs,
    first_apart,
    had_step,
    holds_start,
    once_scalar,
    same_without,
    still_python,
)
from pytocu.frontend.frames import Frame, Late, Unset, line_made, no_step, owner_of
from pytocu.frontend.handed_on import hand_on, holds_values, names_handed_on
from pytocu.frontend.kinds import Maybe, either, follow, is_numpys, maybe_of
from pytocu.frontend.known_loops import Carried, Loops, forget, loops_of
from pytocu.frontend.layouts import certain_layout, lies, order_of
from pytocu.frontend.loop_memory import (
    Meetings,
    StepRead,
    another_memory,
    carried_memories,
    changed_memories,
    leaf_count,
    leaves_of,
    made_by,
    newly_shared,
    refuse_shared_memory,
    with_own,
)
from pytocu.frontend.marks import (
    begun_as_either,
    begun_as_python,
    either_behind,
    found_in_front,
    may_begin,
    more_kinds,
    note_marks,
    returned_ranks,
    start_ranks,
    type_of,
    written_ranks,
)
from pytocu.frontend.merging import at_end, beside, blank, in_region, may_be_one
from pytocu.frontend.numbers import begins_as_python, common_type, item, of_type, perhaps_python
from pytocu.frontend.operators import attempt
from pytocu.frontend.raising import note_raised
from pytocu.frontend.ranges import bound_count, names_given, new_name
from pytocu.frontend.reading import read_int, scalar_of
from pytocu.frontend.state import LEAF, GetsKeys, State, Wanted, flatten, members_alike, rebuild, same_form
from pytocu.frontend.storage import HandOn
from pytocu.frontend.turns import first_numbers, next_numbers, put_back, turns_of, written_first
from pytocu.frontend.type_texts import type_text, type_texts, unlike, way_out
from pytocu.frontend.values import (
    Context,
    Grown,
    Masked,
    MaybeBound,
    Perhaps,
    Steps,
    as_strong,
    as_value,
    const_inst,
    convert,
    dimensions,
    is_array,
    is_dynamic,
    is_numpy_scalar,
    is_weak,
)
from pytocu.ir import regions
from pytocu.ir.core import Inst, Value, named, walk
from pytocu.ir.dims import DimLike, dim_min, is_number, symbols
from pytocu.ir.types import F64, WEAK_BOOL, WEAK_FLOAT, WEAK_INT, ArrayType, ScalarType, Type, WeakType, element, shape_of

_ask = Deferred("pytocu.frontend.counted", "ask")
_ask_for_kinds = Deferred("pytocu.frontend.settling", "ask_for_kinds")
_from_before = Deferred("pytocu.frontend.member_arrays", "from_before")
_names_of_members = Deferred("pytocu.frontend.member_arrays", "names_of_members")
_at_the_start = Deferred("pytocu.frontend.perhaps", "at_the_start")
_fits = Deferred("pytocu.frontend.perhaps", "fits")
_note_change = Deferred("pytocu.frontend.lengths_of_steps", "note_change")
_array_of = Deferred("pytocu.frontend.lengths_of_steps", "array_of")
_carry = Deferred("pytocu.frontend.lengths_of_steps", "carry")
_begin_step = Deferred("pytocu.frontend.lengths_of_steps", "begin_step")
_end_step = Deferred("pytocu.frontend.lengths_of_steps", "end_step")
_most_steps = Deferred("pytocu.frontend.numbered", "most_steps")
_only_of_step = Deferred("pytocu.frontend.lengths_of_steps", "only_of_step")
_last_step = Deferred("pytocu.frontend.lengths_of_steps", "last_step")
_regroup = Deferred("pytocu.frontend.lengths_of_steps", "regroup")
_behind_loop = Deferred("pytocu.frontend.lengths_of_steps", "behind_loop")
_starts_unbound = Deferred("pytocu.frontend.unbound", "starts")
_may_be_unbound = Deferred("pytocu.frontend.unbound", "may_be_unbound")
_begin_unbound = Deferred("pytocu.frontend.unbound", "begin")
_end_unbound = Deferred("pytocu.frontend.unbound", "end")


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
    bounds = tuple(_python_int(context, b) for b in bounds)
    for bound in bounds:
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


def _python_int(context: Context, bound: Any) -> Any:
    """A bound of a range; the host reads one that is computed."""
    if not isinstance(bound, Value) or isinstance(bound.type, WeakType):
        return bound
    if is_array(bound) and dimensions(bound):
        raise raised(TypeError("only integer scalar arrays can be converted to a scalar index"), context.loc)
    dtype = element(bound.type)
    if not dtype.is_integer:
        text = f"'numpy.{dtype.numpy.type.__name__}' object cannot be interpreted as an integer"
        text = "only integer scalar arrays can be converted to a scalar index" if is_array(bound) else text
        raise raised(TypeError(text), context.loc)
    return read_int(context, scalar_of(context, bound, "range"), "range()")


class Again(Exception):
    """A body that leaves its loop was read as one that does not, or written out though all its steps are `large`."""

    def __init__(self, large: bool = False):
        super().__init__()
        self.large = large


Limit: TypeAlias = "Callable[[], DimLike | None]"
"""How many steps there are at most, if that is known before the loop."""


def unlimited() -> None:
    """Nothing is known of how many steps there are."""


def most_of(context: Context, steps: Steps) -> Limit:
    """The number of steps that a range has."""
    return partial(_most_steps, context, steps)


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
    limit: Limit = unlimited,
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
    limit : Limit

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
    for owner, name in _bound(frame, nodes):
        if isinstance(held := owner.locals.get(name), Late):
            owner.locals[name] = held.read(context, no_step(name))
    before = State(frame)
    names = [(owner, name) for owner, name in _bound(frame, nodes) if _starts(owner.locals.get(name))]
    roots: list[Value] = []
    types: dict[tuple[Frame, str], list[Type]] = {}
    shared: dict[tuple[Frame, str], list[set[Value]]] = {}
    rebound: dict[tuple[Frame, str], Unset] = {}
    unordered: set[tuple[Frame, str]] = set()
    kinds: dict[tuple[Frame, str], list[frozenset[WeakType]]] = {}
    doubted = before.storage
    around = loops_of(context)
    inside = around.inside(loc)
    if (known := around.next(loc)) is not None:
        names, types, rebound = known.start(before, names)
        roots = known.memories(before)
    earlier = len(builder.made)
    of_lists: set[tuple[Frame, str]] = set()
    begun: dict[tuple[Frame, str], Any] = {}
    met, refused = set(context.met), list(context.refused)
    while True:
        read = StepRead(names, roots, types, shared, rebound, unordered, of_lists, kinds)
        held = _from_before(builder, set()) if builder.lists else set()
        builder.doubt(doubted)
        changing, context.changing = context.changing, context.changing or bool(roots)
        later, context.later = context.later, context.later or bool(types)
        context.loops = Loops(inside)
        missed = len(context.missed)
        try:
            with builder.nested() as insts:
                _read(frame, before, read, op, lead, body)
        except BaseException as error:
            # As if nothing had been read: what is read instead stands where the loop does, and knows the loops inside.
            if isinstance(error, Again):
                forget(context.loops.found, set(builder.made[earlier:]))
                around.tried[loc] = context.loops.found
            before.go_back()
            builder.loc = loc
            if isinstance(error, CompileError):
                note_raised(context, error)
            raise
        finally:
            context.changing, context.later = changing, later
            inside, context.loops = context.loops.found, around
        read.insts = insts
        # Branches of the body have made memories as well, and so have readings that were left out.
        made = set(builder.made[earlier:])
        forget(inside, made)
        if asked := before.asked() or _chosen_anew(before, read):
            before.go_back()
            builder.loc = loc
            for value in asked:
                as_value(context, value)
            before = State(frame)
            earlier = len(builder.made)
            continue
        builder.loc = loc
        if fresh := _to_begin(context, before, read, begun, context.missed[missed:]):
            before.go_back()
            builder.loc = loc
            for key, start in fresh.items():
                _begin_unbound(context, key, start)
            # What the reading refused of names that it found unbound is not said.
            context.met, context.refused = set(met), list(refused)
            begun |= fresh
            names = list(dict.fromkeys((*names, *fresh)))
            _forget_forms(fresh, types, kinds, shared)
            before = State(frame)
            earlier = len(builder.made)
            continue
        try:
            if op != "for_loop":
                before.refuse_changed_containers("a loop")
            grew = before.growth("a loop")
        except GetsKeys as error:
            if first_apart(context, loc) is not None or context.elements is not None:
                raise error.plain() from None
            # Behind a first step it has all of them, mostly.
            text = error.message.partition(" in a loop")[0]
            raise HandOn(FirstApart(loc, 1, f"{text} in its first step", "assign each of them before, too", True)) from None
        more_names, more_roots = _missing(frame, before, read)
        more_names += _made_anew(context, before, read, limit, op)
        more_shared_lists = _shared_lists(before, read)
        more_rebound = _rebound(context, loc, before, read)
        wider = _wider(context, before, read)
        more_unordered = _in_another_order(context, read)
        more_shared = newly_shared(builder, read, before)
        assert read.state is not None
        # What readings make, in branches and loops of the body too, the next makes anew.
        doubts = read.state.storage[3].keys() - doubted[3].keys() - made
        if builder.lists:
            more_of_lists = _names_of_members(builder, read, before) - of_lists
            doubts = doubts or more_of_lists or _from_before(builder, made) - held
            of_lists |= more_of_lists
        found = more_names or more_roots or wider or more_rebound or more_shared_lists or doubts or more_unordered
        more = {} if found else more_kinds(context, before, read, _next_step(context, read, read.state))
        found = found or more
        if not found and more_shared == shared:
            if grew:
                before.go_back()
                builder.loc = loc
                raise before.grown(grew, "a loop")
            break
        if not more_names:
            doubted = read.state.storage
        else:
            # A name that was not known to be bound again was taken for the memory it is bound to first.
            forget(inside, None)
        before.go_back()
        if before.changing:
            _carry(context, before)
        unordered |= more_unordered
        rebound = {**rebound, **more_rebound}
        # What begins as None, a number or an array may be carried in another form now, of which nothing is known yet.
        types |= wider
        kinds |= more
        shared = more_shared
        _forget_forms(more_names, types, kinds, shared)
        names, roots = [n for n in dict.fromkeys((*names, *more_names)) if n not in rebound], [*roots, *more_roots]
    around.note(loc, Carried(before, names, types, roots, rebound, inside))
    return _finish(frame, op, head, lead, before, read, numbers)


def _forget_forms(names: Collection[tuple[Frame, str]], *known: dict[tuple[Frame, str], Any]) -> None:
    """Forget what is known of names that are carried in another form now."""
    for one in known:
        for name in names:
            one.pop(name, None)


def _bound(frame: Frame, nodes: Sequence[ast.AST]) -> list[tuple[Frame, str]]:
    return [(owner_of(frame, name), name) for name in assigned_names(frame, nodes)]


def _starts(value: Any) -> bool:
    """Whether a name is carried from the start: numbers are, since what a step makes of them is not known now.

    So are names that may be unbound, which they may be on one side of what a step leaves only.
    """
    if isinstance(value, MaybeBound):
        return True
    leaves: list[Any] = []
    form = flatten(value, leaves)
    return bool(leaves) and not any(map(is_array, leaves)) and form is not value


def _to_begin(
    context: Context,
    before: State,
    read: StepRead,
    begun: dict[tuple[Frame, str], Any],
    missed: Sequence[tuple[Frame, str]],
) -> dict[Any, Any]:
    """The names that may be unbound in a step, or behind it, and that the loop has to carry from the start in such a form."""
    assert read.state is not None
    ways = list(zip(before.locals, read.state.locals, strict=True))
    unsure = any(isinstance(held, MaybeBound) for names in ways for one in names for held in one.values())
    deleted = any(name not in new or isinstance(new[name], Unset) for old, new in ways for name in old)
    if not unsure and not missed and not deleted:
        return {}
    own = {name for inst in read.insts for name in names_given(inst)} | context.steps
    return _starts_unbound(context, before, read.state, begun, own, missed)


def _made_anew(context: Context, before: State, read: StepRead, limit: Limit, op: str) -> list[tuple[Frame, str]]:
    """Names that a step binds to another list or dict of as many members, None or a value, or an array of another length."""
    assert read.state is not None
    found: list[tuple[Frame, str]] = _regroup(context, before, read, limit, op == "for_loop") if before.changing else []
    for key in before.names():
        if key in before.parts or key in read.rebound or key in before.changing:
            continue
        new = read.state.held(*key)
        bound = before.held(*key, before) is not before
        started = _at_the_start(before.held(*key), new) if bound and _may_be_none(new) else None
        anew = started is None and _is_elements(new) and new is not before.held(*key)
        if anew and _note_change(context, before, read, key, limit):
            found.append(key)
            continue
        if started is not None:
            before.parts[key] = started
            found.append(key)
            continue
        alike = members_alike(before.held(*key), read.state.held(*key), before, read.state)
        leaves: list[Any] = []
        if alike is not None and same_form(flatten(alike[0], leaves), flatten(alike[1], [])) and leaves:
            before.parts[key] = alike[0]
            found.append(key)
    read.state.take_parts(before)
    return found


def _is_elements(value: Any) -> bool:
    """Whether a value is an array, or what a mask chooses of one."""
    return is_array(value) or isinstance(value, Masked)


def _chosen_anew(before: State, read: StepRead) -> list[Masked]:
    """What masks choose of arrays, not asked for yet, of names that a step binds to other elements: its length is carried."""
    assert read.state is not None
    found: list[Masked] = []
    for key in before.names():
        old, new = before.held(*key), read.state.held(*key)
        if isinstance(old, Masked) and old.elements is None and _is_elements(new) and new is not old:
            found.append(old)
    return found


def _may_be_none(value: Any) -> bool:
    return value is None or isinstance(value, Perhaps)


def _may_stay_none(context: Context, loc: Loc, old: Any, new: Any) -> bool:
    """Whether behind a loop that may have no step a name may hold None, or a tuple with None in it, or what steps leave.

    Lists of a length that a run decides would begin on one side of a branch.
    """
    if any(isinstance(one, Wanted) and one.place == loc for one in context.handed):
        return False
    if type(old) is tuple and type(new) is tuple and len(old) == len(new):
        pairs = [pair for pair in zip(old, new, strict=True) if pair[0] is None]
        return bool(pairs) and all(_may_stay_none(context, loc, *pair) for pair in pairs)
    return old is None and new is not None and not isinstance(new, Unset) and _fits(flatten(new, []))


def _shared_lists(before: State, read: StepRead) -> bool:
    """Whether a list or dict that a step makes anew, or the one from before, was found to have other names as well."""
    assert read.state is not None
    states = (before, read.state)
    shared = {key for key in before.parts if not all(state.is_own(state.held(*key)) for state in states)}
    before.sources = {key: [state.held(*key) for state in states] for key in shared}
    more = not shared <= before.shared
    before.shared |= shared
    return more


def _rebound(context: Context, loc: Loc, before: State, read: StepRead) -> dict[tuple[Frame, str], Unset]:
    """Names that a step binds to something of another form, which cannot be carried: what they hold is known in no step."""
    assert read.state is not None
    missing = object()
    found: dict[tuple[Frame, str], Unset] = {}
    for owner, name in before.names():
        old, new = before.value(owner, name, missing), read.state.value(owner, name, missing)
        key = (owner, name)
        if old is missing or new is missing or isinstance(old, Unset):
            continue
        if key in before.changing and (unread := _only_of_step(context, loc, before, key)) is not None:
            found[key] = unread
            continue
        if key in read.rebound or key in before.changing or _is_carried(read, key, old, new):
            continue
        if type(old) is list and type(new) is list and len(new) > len(old) and first_apart(context, loc) is not None:
            # It is longer after each step, and not behind the first alone.
            members = [*old, *new]
            if all(is_weak(member) or is_numpy_scalar(member) for member in members):
                _ask(context, old, members)
        first, second, help = unlike(name, old, new)
        after = ", and may be something else after it" if isinstance(new, Unset) else f" and {second} after it"
        text = f"{name} is {first} before a step of the loop{after}{line_made(new)}"
        found[key] = differs(context, loc, text, help, needed=not _may_stay_none(context, loc, old, new))
    return found


def _is_carried(read: StepRead, key: tuple[Frame, str], old: Any, new: Any) -> bool:
    """Whether a step binds a name to nothing else than what is carried of it."""
    first: list[Any] = []
    form = flatten(old, first)
    if isinstance(new, Unset):
        # What it was on another way is of the form that it had, or it is refused where it is read.
        return bool(new.types) or (key in read.names and form is LEAF)
    return same_form(flatten(new, []), form) if first else _same_object(old, new)


def _read(frame: Frame, before: State, read: StepRead, op: str, lead: Sequence[Value], body: Body) -> None:
    builder = frame.context.builder
    builder.begun.append(len(builder.made))
    try:
        _read_step(frame, before, read, op, lead, body)
    finally:
        builder.begun.pop()


def _read_step(frame: Frame, before: State, read: StepRead, op: str, lead: Sequence[Value], body: Body) -> None:
    builder = frame.context.builder
    for (owner, name), unset in read.rebound.items():
        owner.locals[name] = unset
    if op == "for_loop":
        read.counter = Value(WEAK_INT)
    read.lead = [Value(regions.bare(v.type), v.name) for v in lead]
    for root in read.roots:
        param = Value(regions.bare(builder.contents(root).type), root.name)
        read.contents.append(param)
        builder.made.append(param)
        builder.orders[param] = order_of(frame.context, root)
        # What else this memory may be is of the step before as well.
        builder.replace(root, param, changed=False)
    for owner, name in read.names:
        leaves: list[Any] = []
        key = (owner, name)
        form = flatten(before.parts.get(key, owner.locals[name]), leaves)
        stated = read.types.get((owner, name)) or [type_of(frame.context, v) for v in leaves]
        params = [Value(regions.bare(type), name) for type in stated]
        read.params.extend(params)
        read.forms.append(form)
        owner.locals[name] = rebuild(form, list(params))
        if key in before.shared:
            mark_shared(frame.context, owner.locals[name])
            note_chosen(frame.context, before.sources.get(key, ()), owner.locals[name])
        builder.made.extend(params)
        for held in builder.lists.values() if key in read.of_lists else ():
            for param in filter(is_array, params):
                held.know(builder, param)
        # What steps carry is taken to be in the order in which it begins, or in one that is not known.
        layouts = _layouts(frame.context, leaves, params)
        if None in layouts.values():
            read.unordered.add(key)
        for param, layout in layouts.items():
            lies(frame.context, param, None if key in read.unordered else layout)
        note_marks(frame.context, leaves, params, read.kinds.get(key))
        if sets := read.shared.get((owner, name)):
            builder.may_be([(p, (), m) for p, m in zip(params, sets, strict=True)])
            # Behind the first steps it may be memory of the function's own.
            builder.known_with([p for p, m in zip(params, sets, strict=True) if m], another_memory(frame.context, name).key)
    if before.changing:
        _begin_step(frame.context, before, read)
    unsure = {key: held for key in read.names if isinstance(held := key[0].locals.get(key[1]), MaybeBound)}
    refused = len(frame.context.refused)
    following, extras = body(read.counter, read.lead)
    own = {*read.params, *read.lead, *(result for inst in builder.insts for result in inst.results)}
    read.kept = {place: v for place, v in enumerate(extras) if is_array(v) and v not in own}
    read.extras = [builder.contents(v) if is_array(v) else v for place, v in enumerate(extras) if place not in read.kept]
    read.refuses = len(frame.context.refused) > refused
    for owner, name in read.names:
        if isinstance(held := owner.locals.get(name), Late):
            owner.locals[name] = held.read(frame.context, no_step(name))
    for (owner, name), model in unsure.items():
        left = owner.locals.get(name, MaybeBound(False, model.value))
        owner.locals[name] = _end_unbound(frame.context, left, model)
    read.state = State(frame, before)
    read.state.take_parts(before)
    if before.changing:
        _end_step(frame.context, before, read)
    read.next = list(following)


def _wider(context: Context, before: State, read: StepRead) -> dict[tuple[Frame, str], list[Type]]:
    """The types of names that a step makes other numbers of: NumPy scalars, or what both are in a vectorized function."""
    assert read.state is not None
    wider: dict[tuple[Frame, str], list[Type]] = {}
    place = 0
    for (owner, name), form in zip(read.names, read.forms, strict=True):
        count = leaf_count(form)
        own = [p.type for p in read.params[place : place + count]]
        place += count
        leaves: list[Any] = []
        value = read.state.value(owner, name)
        if isinstance(value, Unset):
            if len(value.types) != count:
                continue
            # A branch leaves the Python number on one side, as a step that ends early does.
            found = [b if a == o else a for o, (a, b) in zip(own, value.types, strict=True)]
        elif same_form(flatten(value, leaves), form):
            found = [regions.bare(type_of(context, v)) for v in leaves]
        else:
            continue
        pairs = zip(own, found, leaves_of(before, owner, name), strict=True)
        types = [(holds_start(b, start) and common_type(context, a, b)) or a for a, b, start in pairs]
        if types != own:
            wider[owner, name] = types
    return wider


def _in_another_order(context: Context, read: StepRead) -> set[tuple[Frame, str]]:
    """Names of arrays that a step may leave in another order than that in which it was taken to begin."""
    assert read.state is not None
    found: set[tuple[Frame, str]] = set()
    params = iter(read.params)
    for (owner, name), form in zip(read.names, read.forms, strict=True):
        own = list(itertools.islice(params, leaf_count(form)))
        left = _layouts(context, leaves_of(read.state, owner, name), own)
        if (owner, name) not in read.unordered and any(certain_layout(context, p) != layout for p, layout in left.items()):
            found.add((owner, name))
    return found


def _layouts(context: Context, leaves: Sequence[Any], params: Sequence[Value]) -> dict[Value, str | None]:
    """By parameter of a step: the layout in which the array that it is made of is certain to lie."""
    pairs = zip(params, leaves, strict=False)
    return {p: certain_layout(context, leaf) if is_array(leaf) else None for p, leaf in pairs if is_array(p)}


def _state_layouts(context: Context, read: StepRead, results: Mapping[Value, Value], last: Mapping[Value, Any]) -> None:
    """State how new arrays lie behind a loop: as they do in each step, or as the `last` one, which there is, leaves them."""
    memories = {*read.contents, *context.builder.memory_of}
    for value, result in results.items():
        if is_array(result) and value not in memories and result not in memories:
            known = certain_layout(context, value)
            left = last.get(value)
            lies(context, result, known if known is not None or left is None else certain_layout(context, left))


def _missing(frame: Frame, before: State, read: StepRead) -> tuple[list[tuple[Frame, str]], list[Value]]:
    """Names that the body binds again, nested functions' ``nonlocal`` ones too, and memory that it changes, not known yet."""
    known = {*read.names, *read.rebound}
    names: list[tuple[Frame, str]] = []
    missing = object()
    for owner, name in before.names():
        old, new = before.value(owner, name, missing), owner.locals.get(name, missing)
        if old is new or old is missing or (owner, name) in known or isinstance(old, Unset):
            continue
        leaves: list[Any] = []
        if flatten(old, leaves) is not old and leaves:
            names.append((owner, name))
    # Of which nothing is known before the loop nothing is known behind it.
    left = {*made_by(read), *read.roots, *before.storage[3]}
    roots = [r for r in frame.context.builder.changed(before.storage) if r not in left]
    return names, roots


def _finish(
    frame: Frame,
    op: str,
    head: Sequence[Value],
    lead: Sequence[Value],
    before: State,
    read: StepRead,
    numbers: tuple[str, DimLike, bool] | None,
) -> tuple[list[Value], list[Value]]:
    """The instruction, and what names and memories are behind it."""
    context = frame.context
    builder = context.builder
    loc = builder.loc
    after = read.state
    assert after is not None
    meetings = Meetings(builder, read, before, after)
    turns = turns_of(frame, before, read, meetings)
    lost = refuse_shared_memory(frame, before, read, {p for turn in turns for p in turn.params})
    numbers_of_turns = [number for turn in turns for number in turn.carried]
    next_of_turns = [number for turn in turns for number in next_numbers(context, read, turn)]
    ends: list[Value] = [in_region(context, read.insts, after, v) for v in read.next]
    starts: list[Value] = []
    params = [*read.lead, *read.params, *read.contents]
    broken: dict[tuple[Frame, str], Unset] = {}
    used: set[Value] = {a for inst in read.insts for a in inst.args} | set(ends)
    place = 0
    taken: list[tuple[Frame, str, Any, int]] = []
    front = found_in_front(context)
    from_start = begun_as_python(context, before, read)
    # Of what is of either kind already before the loop it is seen behind it what makes something else of Python's numbers.
    begun = begun_as_either(context, before, read, front)
    following = _next_step(context, read, after)
    begins = may_begin(context, before, read, front)
    other, lost_kinds, still = ({}, {}, {})
    if begins or context.open:
        other, _ = follow(begins, read.insts, following)
        # Ints that int64 has to hold are followed to the end of the function, too; see `settle`.
        lost_kinds, still = follow(begins, read.insts, following, fits=set())
    for inst in other.values():
        _ask_for_kinds(context, inst)
    ranks = written_ranks(context, before, read, front, still, following) if begun.keys().isdisjoint(lost_kinds) else {}
    if begins and not ranks and any(maybe_of(still, following.get(p)) for p in from_start):
        # Whether loops inside have steps nobody follows.
        other = follow(begins, read.insts, following, empty=False)[0]
        still = follow(begins, read.insts, following, empty=False, fits=set())[1]
    other = {origin: inst for origin, inst in other.items() if origin in from_start}
    dropped: set[Value] = set()
    perhaps: dict[Value, Maybe] = {}
    # As many steps as the step of a loop around says are none in one of these, as for j in range(i + 1, n): no call is without.
    sometimes_none = numbers is not None and not has_steps(op, head) and not context.steps.isdisjoint(symbols(numbers[1]))
    yields: list[Value] = []
    problems: list[Unset | None] = []
    for (owner, name), form in zip(read.names, read.forms, strict=True):
        own = read.params[place : place + leaf_count(form)]
        place += len(own)
        problem = _differs(context, loc, read, after, owner, name, form, own)
        problems.append(problem or _adapts(context, loc, name, from_start, other, own))
        if problems[-1] is None:
            # One name may be in the next step what another one was in this.
            used.update(following[p] for p in own if p in following)
    place = 0
    for (owner, name), form, problem in zip(read.names, read.forms, problems, strict=True):
        old: list[Any] = []
        flatten(before.value(owner, name), old)
        own = read.params[place : place + len(old)]
        place += len(old)
        if problem is None:
            new: list[Any] = []
            flatten(after.value(owner, name), new)
            yields.extend(_carried(context, read, v, p.type) for v, p in zip(new, own, strict=True))
            starts.extend(_from_start_on(context, v, p.type, bool(ranks)) for v, p in zip(old, own, strict=True))
            taken.append((owner, name, form, len(old)))
            left = {p: maybe for p in own if p not in begun and (maybe := maybe_of(still, following.get(p))) is not None}
            left = {p: maybe for p, maybe in left.items() if isinstance(p.type, ScalarType)}
            kept = {} if ranks else {p: either(maybe, from_start.get(p)) for p, maybe in left.items()}
            if sometimes_none:
                kept |= {p: from_start[p] for p in own if p in from_start and p not in ranks and p not in kept}
            if all(len(found.kinds) == 1 for found in kept.values()):
                perhaps |= kept
            else:
                broken[owner, name] = still_python(name, next(iter(kept)))
        elif any(p in used for p in own) or (read.refuses and problem.key is not None):
            if problem.key is not None:
                raise HandOn(problem.key)
            raise UnsupportedError(problem.message, loc, problem.help)
        else:
            broken[owner, name] = problem
            dropped.update(own)
    params = [p for p in params if p not in dropped]
    known = {name for inst in read.insts for name in names_given(inst)} | context.steps
    handed = names_handed_on(context, read, before, after, known)
    extras = [*read.extras, *(v for one in handed for v in one.made)]
    for value in read.extras:
        if not known.isdisjoint(_lengths(value.type)):
            raise UnsupportedError(
                f"the function returns {type_text(value.type)} in a loop, and so its length changes from step to step",
                loc,
                "return an array of one length: y = np.zeros_like(x); y[:j] = x[:j]",
            )
    before.go_back()
    for turn in turns:
        written_first(context, turn)
    turn_starts = [number for turn in turns for number in first_numbers(context, turn)]
    memory_starts = [builder.contents(root) for root in read.roots]
    memory_ends = [after.storage[0][root] for root in read.roots]
    ends.extend([*yields, *memory_ends, *next_of_turns])
    params += numbers_of_turns
    results_inside = {r for inst in read.insts for r in inst.results}
    begun_ranks = (start_ranks(context, before, read, front) if ranks else None) or {}
    loose = [context.marks[p].value for p in read.params if p in context.marks and p not in ranks]
    loose = [rank for rank in loose if rank in used]
    given_back = returned_ranks(context, read, still, ranks)
    marks = [*(rank for rank, _ in ranks.values()), *loose, *(one.rank for one in given_back.values())]
    own_names = {*params, *marks, *([read.counter] if read.counter else []), *results_inside}
    once = _once(context, op, head, lead, read, numbers)
    stays = _stay(context, read, numbers is not None, once is None)
    inside = hoist(context, read.insts, own_names, numbers, stays, once)
    # Nobody asks for those that are not followed to the end of a step.
    extras.extend([*(end for _, end in ranks.values()), *loose, *(one.end for one in given_back.values())])
    if not ends and not extras and context.elements is None and any(map(may_fail, inside)):
        # Nobody uses what a step computes, but it may not be able to.
        extras.append(builder.const(True, WEAK_BOOL))
    shared = regions.captured(inside, [*([read.counter] if read.counter else []), *params, *marks], [*ends, *extras])
    # What the body gives for behind the loop begins as zeros that nobody looks at.
    unseen = [Value(regions.bare(v.type), v.name) for v in extras[: len(extras) - len(marks)]] + marks
    begin = [begun_ranks[v] if v in begun_ranks else blank(context, v.type) for v in unseen]
    first = [*lead, *starts, *memory_starts, *turn_starts, *begin]
    own_params = [*([read.counter] if read.counter else []), *params, *unseen]
    block = regions.closed(inside, own_params, [*ends, *extras], shared, loc)
    types = [v.type for v in (*params, *unseen)]
    attrs: dict[str, Any] = {"carried": len(types)} | ({"numbers": numbers} if numbers else {})
    if once is not None and not numbers and _asks(inside):
        attrs["once"] = once
    if begun and ranks:
        place = len(types) - len(marks)
        attrs["marks"] = tuple((params.index(p), place + k) for k, p in enumerate(ranks) if p in begun and p in params)
    made = builder.whole(op, (*head, *first), shared, attrs, types, (block,))
    for result, param in zip(made.results, (*params, *unseen), strict=True):
        result.name = param.name
    at_end = following if has_steps(op, head) else {}
    _state_layouts(context, read, dict(zip((*params, *extras), made.results, strict=True)), at_end)
    results = list(made.results)
    ranks_behind = dict(zip(ranks, results[len(results) - len(marks) :], strict=False))
    for number, (place, one) in enumerate(given_back.items(), len(results) - len(given_back)):
        results[len(params) + place] = either_behind(context, results[len(params) + place], one.maybe, results[number])
    results = results[: len(results) - len(marks)]
    late: dict[Value, tuple[Value, str]] = {}
    going = first[0] if op == "while_loop" else None
    stepped = None
    if from_start and not has_steps(op, head):
        stepped = had_step(context, op, head, going)
    for number, (param, result) in enumerate(zip(params, results, strict=False)):
        left = maybe_of(still, following.get(param))
        if param not in from_start and param not in begun and (param not in context.marks or left is None):
            continue
        if param in begun:
            if param in ranks_behind:
                context.marks[result] = context.marks[param]._replace(value=ranks_behind[param])
            continue
        rank = ranks_behind.get(param) if left is not None else None
        mark = None if rank is None else is_numpys(builder, rank)
        if mark is None and stepped is not None and left is None:
            mark = as_strong(context, stepped)
        maybe = either(left, from_start.get(param)) if left is not None else from_start[param]
        if rank is not None and maybe.kinds == {WEAK_INT, WEAK_FLOAT} and element(result.type) is F64:
            results[number] = either_behind(context, result, maybe, rank)
            continue
        required = len(maybe.kinds) > 1 or (param in from_start and Required(loc, param.name) in context.handed)
        if param not in perhaps and required:
            if mark is not None and left is not None:
                late[result] = (mark, param.name)
            elif stepped is not None:
                results[number] = behind_steps(context, op, head, going, result, param.name)
        elif mark is not None or param in perhaps:
            results[number] = perhaps_python(context, result, maybe, mark)
    result_of = dict(zip(params, results, strict=False))
    leading, results = results[: len(lead)], results[len(lead) :]
    memories = carried_memories(builder, read, before, after, has_steps(op, head))
    with_step = memories if has_steps(op, head) else carried_memories(builder, read, before, after, True)
    bound: list[tuple[Value, Sequence[Any], set[Value]]] = []
    for owner, name, form, count in taken:
        ways = zip(leaves_of(before, owner, name), leaves_of(after, owner, name), strict=True)
        bound.extend(zip(results, ways, memories[owner, name], strict=False))
        if memories[owner, name] != with_step[owner, name]:
            builder.known_with(results[:count], same_without(context, loc, name))
        owner.locals[name] = rebuild(form, results[:count])
        if (owner, name) in before.changing:
            owner.locals[name] = array = _behind_loop(context, owner.locals[name], before.changing[owner, name])
            ends = [_array_of(state.held(owner, name)) for state in (before, after)]
            bound.append((array, ends, memories[owner, name][0]))
        if not late.keys().isdisjoint(results[:count]):
            # Required where the name is read: a step that ends early may have left it as it was.
            owner.locals[name] = Late(partial(_once_scalars, form, results[:count], late))
            if (owner, name) in before.parts:
                owner.locals[name] = owner.locals[name].read(context, no_step(name))
        if (owner, name) in before.shared:
            mark_shared(context, owner.locals[name])
            note_chosen(context, [state.held(owner, name) for state in (before, after)], owner.locals[name])
        results = results[count:]
    changed = changed_memories(read)
    builder.doubt(after.storage)
    for root in read.roots:
        result = results.pop(0)
        if root in changed:
            builder.replace(root, result)
    for turn in turns:
        put_back(context, turn, results[: len(turn.carried)], [result_of[p] for p in turn.params])
        results = results[len(turn.carried) :]
    results, behind = results[: len(read.extras)], results[len(read.extras) :]
    if handed:
        going = first[0] if op == "while_loop" else None
        stepped = None if has_steps(op, head) else had_step(context, op, head, going)
        hand_on(context, read, handed, behind, stepped, bound, memories)
    for memory, param in lost.items():
        builder.lose(memory, result_of[param])
    # Names hold what memories do behind the loop: the changes in it are none of theirs.
    builder.may_be(with_own(builder, read, bound), meetings.apart)
    _forget(before, after, read, broken, loc)
    for one in handed:
        one.frame.locals[one.name] = one.held
    return leading, beside(results, read.kept)


def _once(
    context: Context,
    op: str,
    head: Sequence[Value],
    lead: Sequence[Value],
    read: StepRead,
    numbers: tuple[str, DimLike, bool] | None,
) -> DimLike | None:
    """1 where a loop has a step, and 0 where it has none; None where no number of the host says so."""
    if has_steps(op, head) or context.elements is not None or not _asks(read.insts):
        return 1
    if numbers is not None:
        return dim_min(numbers[1], 1)
    taken = had_step(context, op, head, lead[0] if op == "while_loop" else None)
    if taken is None:
        return 1
    if not isinstance(taken.type, WeakType):
        return None
    return bound_count(context, context.builder.emit("python_int", (taken,)), new_name(context, "steps"))


def _asks(insts: Sequence[Inst]) -> bool:
    """Whether numbers of run time are compared, or meet other lengths, where these instructions are run."""
    for inst in insts:
        names = mentioned(inst) if inst.op.name == "check" else named(tuple(regions.meetings(inst)))
        if any(map(is_number, names)):
            return True
        if inst.op.name != "if_else" and any(_asks(region.insts) for region in inst.regions):
            return True
    return False


def _stay(context: Context, read: StepRead, counted: bool, unsure: bool) -> set[Inst]:
    """The checks that are left to the steps, of which there may be none.

    Where steps have numbers, indices are compared for as many as there are, unless the program raises in a step.  Lengths
    that are ints of run time are compared before a loop, so that its kernels are launched without Python between them.
    """
    if context.elements is not None:
        return set()
    checks = checks_of(context, read.insts)
    known = {i for i in checks if unsure or not any(map(is_number, mentioned(i)))}
    inside = (i for inst in read.insts for i in (inst, *(i for region in inst.regions for i in walk(region))))
    if any(regions.is_raise(i) or _is_refusal(i) for i in inside):
        # Which exception comes first each step says.
        return known | {i for i in checks if i.attr("kind") == "index"}
    return {i for i in known if not counted or i.attr("kind") != "index"}


def _from_start_on(context: Context, value: Any, type: Type, followed: bool) -> Value:
    """What a name holds before the first step, of the type it has in each; where it is `followed`, with a note of its kind."""
    made = as_value(context, value)
    if context.elements is None and isinstance(type, ScalarType) and isinstance(made.type, WeakType):
        return begins_as_python(context, made, type) if followed else convert(context, made, type.dtype)
    return of_type(context, made, type)


def _once_scalars(form: Any, values: Sequence[Value], late: Mapping[Value, tuple[Value, str]], context: Context, _: str) -> Any:
    """What a name holds behind a loop of which the steps may leave it a Python number."""
    return rebuild(form, [once_scalar(context, v, *late[v]) if v in late else v for v in values])


def _next_step(context: Context, read: StepRead, after: State) -> dict[Value, Value]:
    """By parameter: what is carried to the next step."""
    found: dict[Value, Value] = {}
    place = 0
    for (owner, name), form in zip(read.names, read.forms, strict=True):
        own = read.params[place : place + leaf_count(form)]
        place += len(own)
        leaves: list[Any] = []
        if same_form(flatten(after.value(owner, name, None), leaves), form):
            with context.builder.nested():
                # A number that is known now is written where the step ends.
                known = [(p, leaf) for p, leaf in zip(own, leaves, strict=True) if not isinstance(leaf, Masked)]
                found.update((p, as_value(context, leaf)) for p, leaf in known)
    return found


def _adapts(
    context: Context, loc: Loc, name: str, begun: Mapping[Value, Maybe], other: Mapping[Value, Inst], params: Sequence[Value]
) -> Unset | None:
    """Why a name that begins as a Python number cannot be a NumPy scalar from the start, if it cannot."""
    for param in params:
        if param in other:
            (weak,) = begun[param].kinds
            text = f"{name} is {type_text(weak)} before a step of the loop and {type_text(param.type)} behind it"
            # Lists of a length that a run decides would begin on one side of a branch.
            lists = any(isinstance(one, Wanted) and one.place == loc for one in context.handed)
            return differs(context, loc, text, way_out(weak, param.type), needed=lists)
    return None


def _carried(context: Context, read: StepRead, value: Any, type: Type) -> Value:
    """What a name holds at the end of a step, of the type it has in each."""
    assert read.state is not None
    made = in_region(context, read.insts, read.state, value, type)
    with at_end(context, read.insts, read.state):
        return of_type(context, made, type)


def _differs(
    context: Context, loc: Loc, read: StepRead, after: State, owner: Frame, name: str, form: Any, params: Sequence[Value]
) -> Unset | None:
    """Why a name cannot go from one step to the next, if it cannot."""
    missing = object()
    value = after.value(owner, name, missing)
    if isinstance(value, Unset) or value is missing:
        return value if isinstance(value, Unset) else Unset(f"{name} is deleted in a loop", "leave the del out")
    leaves: list[Any] = []
    if not same_form(flatten(value, leaves), form):
        first, second, help = unlike(name, rebuild(form, list(params)), value)
        text = f"{name} is {first} before a step of the loop and {second} after it{line_made(value)}"
        return differs(context, loc, text, help)
    for param, leaf in zip(params, leaves, strict=True):
        found = regions.bare(type_of(context, leaf))
        if not context.steps.isdisjoint(_lengths(found)) and found != param.type:
            first, second = type_texts(param.type, found)
            return Unset(
                f"{name} is {first} before a step of the loop and {second} after it, "
                "and so its length changes from step to step",
                way_out(param.type, found),
            )
        if not may_be_one(found, param.type) and common_type(context, found, param.type) != param.type:
            first, second = type_texts(param.type, found)
            text = f"{name} is {first} before a step of the loop and {second} after it"
            return differs(context, loc, text + line_made(leaf), way_out(param.type, found, name))
    return None


def _lengths(type: Any) -> set[str]:
    """The names in the lengths of a type."""
    return named(shape_of(type)) if isinstance(type, ArrayType) else set()


def has_steps(op: str, head: Sequence[Value]) -> bool:
    """Whether a loop is known to have a step."""
    known = [inst.attr("value") for v in head if (inst := const_inst(v)) is not None]
    return op == "for_loop" and len(known) == 3 and len(range(*known)) > 0


def _forget(before: State, after: State, read: StepRead, broken: dict[tuple[Frame, str], Unset], loc: Loc) -> None:
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
                key = (loc, name)
                fresh = old is before and holds_values(value) and key not in frame.context.handed
                # What may be unbound before the loop has to be handed on to it first.
                again = old.key if isinstance(old, Unset) and _may_be_unbound(old) else None
                if (frame, name) in read.rebound:
                    again = _last_step(read.rebound[frame, name]) or again
                text = f"{name} is assigned in a loop that may have no step, so it may have no value here"
                help = "assign it before the loop, with a value of the same type"
                if isinstance(old, list | Grown) and isinstance(value, list | Grown):
                    text = f"{name} is bound to another list in a loop that may have no step, so it may be either here"
                    help = f"let it stay one list that gets the members of the other: {name}[:] = ..."
                elif old is not before and _may_stay_none(frame.context, loc, old, value):
                    frame.locals[name] = differs(frame.context, loc, text, help, needed=False)
                    continue
                frame.locals[name] = Unset(text, help, key if fresh else again)


def _same_object(a: Any, b: Any) -> bool:
    first: list[Any] = []
    second: list[Any] = []
    same = same_form(flatten(a, first), flatten(b, second))
    return same and len(first) == len(second) and all(
        x is y or (not isinstance(x, Value) and type(x) is type(y) and repr(x) == repr(y))
        for x, y in zip(first, second, strict=True)
    )


def _is_refusal(inst: Inst) -> bool:
    """Whether a check says that the step is not compiled for some numbers."""
    return inst.op.name == "check" and inst.attr("kind") == "equal" and inst.attr("shapes")[:1] == ("UnsupportedError",)
