"""Lists that a loop of run time makes longer: how many members one has behind it is a number of run time.

Where each step of a ``for`` appends as many, the members are the rows of a new array, which the steps fill: the number of a
step says where.  The loop is read as it stands first; the list that it makes longer then says of which type the rows are.  A
reading that is left out counts how many a step appends, inner loops with it.  A comprehension over steps of run time is such a
loop, in names of its own.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from typing import Any

from pytocu.deferred import Deferred
from pytocu.errors import UnsupportedError, raised
from pytocu.frontend.frames import Flow, Frame, LocalFunction, lookup
from pytocu.frontend.grown_members import held_in, note_held, note_member, opened, same_held
from pytocu.frontend.list_forms import IN_ROWS, alike
from pytocu.frontend.list_kinds import (
    Kinds,
    agree,
    as_floats,
    asked_of,
    beside_python,
    dtype_of_array,
    in_floats,
    mark,
    of_members,
    of_none,
    put_marks,
    refuse_none,
)
from pytocu.frontend.literals import listed
from pytocu.frontend.merging import blank
from pytocu.frontend.numbered import Numbered, numbered
from pytocu.frontend.objects import may_have_methods
from pytocu.frontend.ranges import made_of, names_given, new_name, number_as_dim
from pytocu.frontend.reading import read_int
from pytocu.frontend.requirements import require_equal
from pytocu.frontend.reshaping import copied, filled
from pytocu.frontend.state import Grows, Growth, State
from pytocu.frontend.statements import run_block
from pytocu.frontend.storage import HandOn
from pytocu.frontend.type_texts import type_text
from pytocu.frontend.values import (
    COMPREHENSION,
    Context,
    Counted,
    Generated,
    Grown,
    GrownMethod,
    Steps,
    as_value,
    cast,
    describe,
    dim_value,
    dimensions,
    is_array,
    list_text,
)
from pytocu.ir import regions
from pytocu.ir.core import Value, named
from pytocu.ir.dims import Dim, DimLike, dim_max, dim_min, is_number, lower_bound, symbol
from pytocu.ir.types import F64, ArrayType, ScalarType, Type, WeakType, element, scalar, shape_of

_as_rows = Deferred("pytocu.frontend.columns", "as_rows")
_is_uneven = Deferred("pytocu.frontend.columns", "is_uneven")
_noted = Deferred("pytocu.frontend.columns", "noted")
_row_type = Deferred("pytocu.frontend.columns", "row_type")
_store = Deferred("pytocu.frontend.columns", "store")
_append_counted = Deferred("pytocu.frontend.counted", "append")
_around = Deferred("pytocu.frontend.leaving", "around")
_ask = Deferred("pytocu.frontend.counted", "ask")
_ask_grown = Deferred("pytocu.frontend.counted", "ask_grown")
_refuse_others = Deferred("pytocu.frontend.queues", "refuse_others")
_counted_member = Deferred("pytocu.frontend.counted", "member_of")
_counted_method = Deferred("pytocu.frontend.counted", "method")
_keep = Deferred("pytocu.frontend.member_arrays", "keep")
_members_of_both = Deferred("pytocu.frontend.member_arrays", "of_both")
_settled = Deferred("pytocu.frontend.counted", "settled")
_assign_member = Deferred("pytocu.frontend.subscripts", "assign_member")
_member = Deferred("pytocu.frontend.subscripts", "member")
_sum_of = Deferred("pytocu.frontend.generated", "sum_of")

_LIST, _STEPS, _MEMBER, _FUNCTION = COMPREHENSION, "the steps", "the member", "the function"
"""What no name of the program is called."""

Read = Callable[[Numbered | None, Sequence[Grown]], Flow]
"""Reads a loop with numbers for its steps, which make lists longer."""


def comprehension(frame: Frame, node: ast.ListComp, steps: Any) -> Any:
    """``[e for i in range(n)]``: the loop that appends each member; `steps` is what it goes over."""
    first = node.generators[0]
    names = {n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
    inner = frame.inside(frozenset({*names, _LIST, _STEPS}))
    inner.locals[_LIST] = []
    inner.locals[_STEPS] = steps
    append = ast.Attribute(ast.Name(_LIST, ast.Load()), "append", ast.Load())
    step: ast.stmt = ast.Expr(ast.Call(append, [node.elt], []))
    for generator in reversed(node.generators):
        for test in reversed(generator.ifs):
            step = ast.If(test, [step], [])
        over = ast.Name(_STEPS, ast.Load()) if generator is first else generator.iter
        step = ast.For(generator.target, over, [step], [])
        if generator is not first:
            # Loops are told apart by where they stand.
            ast.copy_location(step, generator.target)
    for part in ast.walk(step):
        if not hasattr(part, "lineno"):
            ast.copy_location(part, node)
    try:
        run_block(inner, [step])
    except UnsupportedError as error:
        if "list grows in a branch" not in error.message or not any(g.ifs for g in node.generators):
            raise
        text = "whether the comprehension gives a member is known only at run time, and so is how many it gives"
        raise UnsupportedError(text, frame.loc(node), "choose with a mask: x[x > 0]") from None
    return lookup(inner, _LIST)


def fill(frame: Frame, read: Read, node: ast.For, steps: Steps, state: State, found: Grows) -> Flow:
    """Read a loop of which each step appends as many members to lists as the others; names hold their rows from here on.

    Raises
    ------
    UnsupportedError
        It is not known how many members there are, they are not alike, or the list has other names.
    """
    context = frame.context
    numbers = frozenset(context.numbers)
    known = numbered(frame, node, steps, wanted=True)
    # A reading that is left out says how many a step appends.
    with context.builder.nested():
        tried = [_begin(frame, state, found, growth, known, None, node) for growth in found.lists]
        with _filling(context, tried):
            each = _count(frame, read, node, steps)
    state.go_back()
    lists: list[Grown] = []
    for growth, one in zip(found.lists, tried, strict=True):
        more = each.pop(one)
        _refuse_uneven(context, one, more, numbers)
        lists.append(_begin(frame, state, found, growth, known, more, node))
        each[lists[-1]] = more
    with _filling(context, lists):
        flow = _fill_each(frame, read, known, each, numbers)
    # A number that only a step has is not written before the loop.
    before = state.numbers.union(*(names_given(inst) for inst in context.builder.insts))
    for grown in lists:
        if not context.numbers & named(shape_of(grown.type)) <= before:
            raise _varies(frame, grown.name, grown.type, node)
        _state_shared(context, grown, state)
    return flow


def _state_shared(context: Context, grown: Grown, state: State) -> None:
    """State which memories the members of a list may be: a change of the one is none of the other that is known."""
    builder = context.builder
    if not grown.shared:
        return
    before, of_loop = set(builder.made[: grown.origin]), set(builder.made[grown.origin :])
    roots = {*grown.roots, *(builder.root(array) for array, _ in grown.begun)}
    memories = {root for root in roots if root in builder.arguments or root in before}
    for owner in state.frames:
        memories |= {builder.root(v) for v in owner.locals.values() if isinstance(v, Value) and v in of_loop and is_array(v)}
    builder.may_be([(grown.rows, (), memories - {grown.rows})])


def fill_inside(frame: Frame, read: Read, node: ast.For, steps: Steps) -> Flow:
    """Read a loop in a step that fills lists."""
    numbers = frozenset(frame.context.numbers)
    each = _count(frame, read, node, steps)
    if not any(each.values()):
        return read(numbered(frame, node, steps), ())
    return _fill_each(frame, read, numbered(frame, node, steps, wanted=True), each, numbers)


@contextmanager
def _filling(context: Context, lists: Sequence[Grown]) -> Iterator[None]:
    for grown in lists:
        grown.place, grown.appended = grown.first, 0
    context.filling.extend(lists)
    try:
        yield
    finally:
        del context.filling[-len(lists) :]
        for grown in lists:
            grown.place = None
            grown.after, grown.end = context.builder.state(), len(context.builder.made)


def _count(frame: Frame, read: Read, node: ast.For, steps: Steps) -> dict[Grown, DimLike]:
    """How many members a step of a loop appends to each list; the reading that says so is left out."""
    context = frame.context
    lists = list(context.filling)
    state = State(frame)
    outer = _outer(lists)
    with context.builder.nested():
        _stand(outer, dict.fromkeys(lists, 0))
        read(numbered(frame, node, steps), lists)
    state.go_back()
    each = {grown: grown.counted for grown in lists}
    _go_on(outer, dict.fromkeys(lists, 0))
    return each


def _fill_each(
    frame: Frame, read: Read, known: Numbered | None, each: Mapping[Grown, DimLike], numbers: Set[str]
) -> Flow:
    context = frame.context
    lists = [grown for grown, more in each.items() if more != 0]
    for grown in lists:
        _refuse_uneven(context, grown, each[grown], numbers)
        if known is None:
            _ask_grown(context, grown, grown.key[1])
            text = f"{grown.text} grows in a loop of which the steps are not counted"
            raise UnsupportedError(text, context.loc, "fill an array and count: y[k] = v; k += 1")
    assert known is not None
    outer = _outer(lists)
    _stand(outer, each)
    flow = read(known, lists)
    _go_on(outer, {grown: each[grown] * known.numbers[1] for grown in lists})
    return flow


def _outer(lists: Sequence[Grown]) -> dict[Grown, Any]:
    return {grown: (grown.start, grown.place, grown.each, grown.appended, grown.aliases) for grown in lists}


def _stand(outer: Mapping[Grown, Any], each: Mapping[Grown, DimLike]) -> None:
    """The lists in a loop in a step of another, each step of which appends so many."""
    for grown, (_, place, _, appended, aliases) in outer.items():
        grown.start, grown.each, grown.aliases = place + appended, each[grown], list(aliases)
        grown.counted = 0


def _go_on(outer: Mapping[Grown, Any], more: Mapping[Grown, DimLike]) -> None:
    """The lists behind such a loop, which has appended so many."""
    for grown, (start, place, each, appended, aliases) in outer.items():
        grown.start, grown.place, grown.each = start, place, each
        grown.appended = appended + more[grown]
        grown.aliases = [*aliases, *grown.aliases]


def _begin(
    frame: Frame, state: State, found: Grows, growth: Growth, known: Numbered | None, each: DimLike | None, node: ast.For
) -> Grown:
    """Rows for the members of a list, whose name holds them; of no known number where that is not known yet."""
    context = frame.context
    bound = [
        (owner, name)
        for owner, names in zip(state.frames, state.locals, strict=True)
        for name, value in names.items()
        if value is growth.held
    ]
    if any(id(growth.held) in one.known and not one.written_out for one in context.growing):
        # The loop around this one makes the list longer, too.
        raise found
    if known is None or context.elements is not None or len(bound) != 1 or not state.is_own(growth.held):
        raise found.plain()
    ((owner, name),) = bound
    if any(isinstance(member, tuple) and _is_uneven(member) for member in (*growth.before, *growth.more)):
        with _around(context, state):
            _ask(context, growth.held, [*growth.before, *growth.more])
    outside = {read for _, _, read in context.read} - growth.read
    types, both = list(dict.fromkeys(type_of(context, v) for v in (*growth.before, *growth.more))), False
    # What a mask chooses is counted where it is asked for its type.
    inside = growth.read | {read for _, _, read in context.read} - outside
    if not all(may_be_alike(types[0], other) for other in types[1:]):
        common = beside_python(types)
        if common is None:
            with _around(context, state):
                _ask(context, growth.held, [*growth.before, *growth.more])
            raise unlike(context, name, types)
        types, both = [common], True
    type = types[0]
    first_held, *others = [held_in(context, v) for v in (*growth.before, *growth.more)]
    if not all(same_held(first_held, other) for other in others):
        with _around(context, state):
            _ask(context, growth.held, [*growth.before, *growth.more])
        text = f"{list_text(name)} grows in a loop and holds lists or tuples beside others of another kind"
        raise UnsupportedError(text, context.loc, "append values of one type and shape")
    if first_held is not None and first_held.columns:
        # As an array they may be of one type even so.
        alike = all(first_held == other for other in others)
        if not alike:
            with _around(context, state):
                _ask(context, growth.held, [*growth.before, *growth.more])
        first_held = first_held if alike else first_held._replace(columns=())
        type = _row_type(first_held) if alike else type
    changing = context.steps | inside
    varies = next((one for one in (type, *types) if not changing.isdisjoint(made_of(context, named(shape_of(one))))), None)
    if varies is not None:
        raise _varies(frame, name, varies, node)
    first = len(growth.before)
    more = symbol(new_name(context, "members")) if each is None else each * known.numbers[1]
    key, asked = ("list", context.loc, name), asked_of(context, (context.loc, name))
    if both and asked is None and key not in context.handed:
        raise HandOn(key)
    if asked is not None and asked.floats:
        type, first_held = as_floats(type, first_held)
    with context.builder.nested():
        dtype = element(listed(context, [blank(context, type)]).type)
    zero = context.builder.const(0, scalar(dtype))
    rows = filled(context, zero, (first + more, *shape_of(type)), name if name.isidentifier() else "")
    grown = Grown(name, rows, type, first, 0 if each is None else each)
    grown.inner, grown.key = first_held, key
    grown.kinds = Kinds(context.loc, name)
    grown.mixed = grown.key in context.handed or asked is not None
    grown.ints = asked is not None and asked.ints
    if asked is not None and asked.marked:
        mark(context, grown)
    for number, value in enumerate(growth.before):
        put(frame, grown, number, value)
        if is_array(value) and dimensions(value):
            grown.shared = True
            root, others = context.builder.root(value), {context.builder.root(array) for array, _ in grown.begun}
            grown.own = grown.own and root not in context.builder.arguments and root not in others
            grown.begun.append((value, context.builder.contents(value)))
    grown.origin = len(context.builder.made)
    owner.locals[name] = grown
    return grown


def _varies(frame: Frame, name: str, type: Type, loop: ast.For) -> UnsupportedError:
    text = f"{list_text(name)} grows in a loop by {type_text(type)}, whose length changes from step to step"
    for node in ast.walk(loop):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=found), attr="append")) if found == name:
                return UnsupportedError(text, frame.loc(node), IN_ROWS)
    return UnsupportedError(text, frame.context.loc, IN_ROWS)


def unlike(context: Context, name: str, types: Sequence[Type]) -> UnsupportedError:
    texts = " and ".join(dict.fromkeys(map(type_text, types)))
    text = f"{list_text(name)} grows in a loop and holds {texts}"
    return UnsupportedError(text, context.loc, _of_one_kind(types) or "append values of one type and shape")


def _of_one_kind(types: Sequence[Type]) -> str:
    """What to write where Python's numbers stand beside those of one dtype, or ints beside floats; empty for anything else."""
    weak = {t.kind for t in types if isinstance(t, WeakType)}
    dtypes = {element(t) for t in types if isinstance(t, ScalarType)}
    numbers = all(isinstance(t, WeakType | ScalarType) for t in types)
    if not numbers or not weak or len(weak) + len(dtypes) < 2 or len(dtypes) > 1:
        return ""
    if not dtypes:
        return "let all be of one kind, also the first ones: 0.0 in place of 0, or float(...)"
    made = f"np.{next(iter(dtypes)).numpy.name}(...)"
    return f"let all be of one kind, also the first ones: {made} around Python's numbers, or float(...) around NumPy's"


def _refuse_uneven(context: Context, grown: Grown, each: DimLike, numbers: Set[str]) -> None:
    """Refuse that a step appends as many as it decides; `numbers` are the names of those that are known before the loop."""
    # Lengths that the host reads have other names than numbers.
    own = {name for name in named(each) if is_number(name) or name in context.numbers}
    if not context.steps.isdisjoint(named(each)) or not own <= numbers:
        _ask_grown(context, grown, grown.key[1])
        text = f"{grown.text} grows in a loop by as many members as the number of the step says"
        raise UnsupportedError(text, context.loc, "fill an array and count: y[k] = v; k += 1")


def begin_step(frame: Frame, lists: Sequence[Grown], known: Numbered | None) -> Any:
    """A step of the loop begins, which is read."""
    builder = frame.context.builder
    number: DimLike = 0
    if known is not None:
        name, count, falling = known.numbers
        number = count - 1 - symbol(name) if falling else symbol(name)
    for grown in lists:
        grown.place = grown.start + grown.each * number
        grown.appended = 0
        grown.aliases = []
    return builder.state(), len(builder.made)


def end_step(frame: Frame, lists: Sequence[Grown], begun: Any) -> None:
    """A step ends: what a list holds must not have been changed since, nor be changed in the next steps."""
    context = frame.context
    builder = context.builder
    before, count = begun
    for grown in lists:
        grown.counted = grown.appended
        if not grown.aliases:
            continue
        of_step = set(builder.made[count:])
        roots = [builder.root(array) for array, _ in grown.aliases]
        # What a branch or loop gives may be what was there before.
        made = all(root in of_step and root.inst is not None and not root.inst.regions for root in roots)
        grown.own = grown.own and made and len(set(roots)) == len(roots)
        for array, contents in grown.aliases:
            if builder.contents(array) is not contents:
                raise _changed(context, grown)
        _refuse_changes(context, grown, before, set(builder.made[grown.origin : count]), of_step)


def _refuse_changes(context: Context, grown: Grown, before: Any, carried: set[Value], own: Set[Value] = frozenset()) -> None:
    """Refuse that memory has changed since of which the list holds a part, or may: what goes from step to step.

    What a step makes of its `own` may change before it is appended.
    """
    rows = {g.rows for g in context.filling}
    for root in context.builder.changed(before):
        alike = is_array(root) and bool(dimensions(root)) and element(root.type) is element(grown.rows.type)
        if (root in grown.roots and root not in own) or (root in carried and alike and root not in rows):
            raise _changed(context, grown)


def _changed(context: Context, grown: Grown) -> UnsupportedError:
    return UnsupportedError(
        f"{grown.text} holds an array that is changed after it is appended, and so are the list's members",
        context.loc,
        f"append a copy: {grown.name}.append(x.copy())",
    )


def method(frame: Frame, grown: Grown, name: str) -> Any:
    """``list.append``; no other method is known.

    Raises
    ------
    UnsupportedError
        Another method.
    """
    if grown.queue is not None:
        _refuse_others(frame.context, name)
    if isinstance(grown, Counted):
        return _counted_method(frame, grown, name)
    if name != "append" or grown.queue is not None:
        _ask_grown(frame.context, grown)
        text = f"{grown.name}.{name}: of a list that a loop of run time makes longer only append() is compiled"
        raise UnsupportedError(text, frame.context.loc, "use np.array of it")
    return GrownMethod(grown, name)


def repeated(frame: Frame, member: Any, count: Value) -> Any:
    """``[member] * count`` of a number: a step appends it; of None, numbers come in its place later."""
    if member is None:
        return of_none(frame.context, count)
    inner = frame.inside(frozenset({_MEMBER}))
    inner.locals[_MEMBER] = member
    over = ast.comprehension(ast.Name("_", ast.Store()), ast.Name(_STEPS, ast.Load()), [], 0)
    node = ast.ListComp(ast.Name(_MEMBER, ast.Load()), [over])
    _place(frame, node)
    return comprehension(inner, node, Steps(0, count, 1))


def _place(frame: Frame, node: ast.AST) -> None:
    """Let a piece of program that nobody wrote stand where the program is read."""
    loc = frame.context.loc
    for part in ast.walk(node):
        if isinstance(part, ast.expr | ast.stmt):
            part.lineno = part.end_lineno = loc.line
            part.col_offset, part.end_col_offset = loc.column - 1, max(loc.end_column, 1) - 1


def total(frame: Frame, grown: Grown, start: Any) -> Any:
    """``sum`` of the list: one member after the other."""
    over = ast.comprehension(ast.Name(_MEMBER, ast.Store()), ast.Name(_LIST, ast.Load()), [], 0)
    node = ast.GeneratorExp(ast.Name(_MEMBER, ast.Load()), [over])
    _place(frame, node)
    steps = Steps(0, length_of(frame.context, grown), 1, lambda number: member_of(frame, grown, number, True))
    return _sum_of(Generated(frame, node, steps), start)


def greatest(frame: Frame, grown: Grown, function: Callable[..., Any]) -> Any:
    """``max`` of the list, which has a member: of the first and the others, one after the other."""
    inner = frame.inside(frozenset({_LIST, _STEPS, _MEMBER, _FUNCTION}))
    inner.locals[_LIST] = member_of(frame, grown, 0, True)
    inner.locals[_FUNCTION] = function
    steps = Steps(1, length_of(frame.context, grown), 1, lambda number: member_of(frame, grown, number, True))
    inner.locals[_STEPS] = steps
    both: list[ast.expr] = [ast.Name(_LIST, ast.Load()), ast.Name(_MEMBER, ast.Load())]
    step = ast.Assign([ast.Name(_LIST, ast.Store())], ast.Call(ast.Name(_FUNCTION, ast.Load()), both, []))
    loop = ast.For(ast.Name(_MEMBER, ast.Store()), ast.Name(_STEPS, ast.Load()), [step], [])
    _place(frame, loop)
    run_block(inner, [loop])
    return lookup(inner, _LIST)


def append(frame: Frame, grown: Grown, value: Any) -> None:
    """``list.append``."""
    context = frame.context
    if isinstance(grown, Counted):
        _append_counted(frame, grown, value)
        return
    if grown.place is None:
        _ask_grown(context, grown)
        text = f"{grown.text}, of which a loop of run time has made the members, grows again"
        raise UnsupportedError(text, context.loc, "write np.append(np.array(...), ...)")
    agree(context, grown, value)
    held = held_in(context, value)
    words = grown.inner is not None and bool(grown.inner.columns)
    found = _row_type(held) if words and held is not None and held.columns else type_of(context, value)
    value, found = in_floats(context, grown, value, found)
    if held is None and found != grown.type and beside_python([grown.type, found]) == grown.type:
        if not grown.mixed and grown.key is not None:
            raise HandOn(grown.key)
        found = grown.type if grown.mixed else found
    if not may_be_alike(found, grown.type) or not same_held(held, grown.inner) or (words and held != grown.inner):
        raise unlike(context, grown.name, [grown.type, found])
    note_held(frame, grown, value)
    noted = context.elements is None and grown.key is not None and not grown.mixed
    if noted and isinstance(value, Value) and isinstance(found, ScalarType):
        value = note_member(context, value, grown.key)
    elif noted and isinstance(value, tuple) and grown.inner is not None and grown.inner.inner is None:
        value = _noted(context, grown, value, grown.key)
    place = dim_value(context, grown.place + grown.appended)
    put(frame, grown, place, value)
    grown.appended = grown.appended + 1


def put(frame: Frame, grown: Grown, place: Any, value: Any) -> None:
    """Write a member into a row, and what it is where that is kept."""
    put_marks(frame, grown, place, value)
    with frame.context.builder.in_list():
        if grown.inner is not None and grown.inner.columns:
            _store(frame, grown.rows, place, value, grown.inner, grown.name)
        else:
            _assign_member(frame, grown.rows, place, stored(frame.context, value, grown.rows), grown.name)


def put_all(frame: Frame, array: Value, places: Any, values: Any, name: str) -> None:
    """Write what a list keeps of members into rows."""
    with frame.context.builder.in_list():
        _assign_member(frame, array, places, values, name)


def stored(context: Context, value: Any, rows: Value) -> Any:
    made = _listed(context, value)
    shape = dimensions(rows)[1:]
    if dimensions(made) != shape:
        for a, b in zip(dimensions(made), shape, strict=True):
            require_equal(context, a, b, "UnsupportedError", "members of lengths {0} and {1} stand in one list", broadcast=True)
        zeros, ones = (0,) * len(shape), (1,) * len(shape)
        made = context.builder.emit("slice", (made,), {"start": zeros, "step": ones, "size": shape})
    return cast(context, made, element(rows.type))


def _listed(context: Context, value: Any) -> Value:
    """A member as a number or an array."""
    if isinstance(value, Grown):
        return rows_of(context, value)
    return listed(context, value) if isinstance(value, (list, tuple)) else as_value(context, value)


def may_be_alike(first: Type, second: Type) -> bool:
    """Whether members of these types are of one type, or may be: lengths of run time are compared."""
    if first == second:
        return True
    if not isinstance(first, ArrayType) or not isinstance(second, ArrayType) or first.dtype is not second.dtype:
        return False
    pairs = zip(first.shape, second.shape, strict=False)
    return first.ndim == second.ndim and all(a == b or isinstance(a, Dim) or isinstance(b, Dim) for a, b in pairs)


_NO_MEMBERS = (str, bytes, dict, set, frozenset, slice, LocalFunction)


def type_of(context: Context, value: Any) -> Type:
    """The type of a member.

    Raises
    ------
    UnsupportedError
        It is a list or tuple of what is no row of an array, or a text, dict, set, object or None.
    """
    of_a_class = may_have_methods(value) and not isinstance(value, list | tuple)
    if of_a_class or value is None or value is ... or isinstance(value, _NO_MEMBERS) or callable(value):
        text = f"a list whose length is known only at run time gets {describe(value)}"
        help = "append numbers, tuples of them, or arrays of one shape; of an object a tuple of its numbers: (p.x, p.y)"
        raise UnsupportedError(text, context.loc, help)
    if isinstance(value, list | tuple):
        shapes = {shape_of(type_of(context, member)) for member in value}
        if len({len(shape) for shape in shapes}) > 1:
            text = "a list whose length is known only at run time gets tuples or lists that hold arrays, tuples or lists"
            raise UnsupportedError(f"{text} beside numbers", context.loc, "keep what differs in shape in lists of its own")
    with context.builder.nested():
        return regions.bare(_listed(context, value).type)


def rows_of(context: Context, grown: Grown) -> Value:
    """The members as the rows of an array that is the list's own."""
    if isinstance(grown, Counted):
        return _settled(context, grown).rows
    if grown.place is not None:
        _ask_grown(context, grown)
        text = f"{grown.text} is read in the loop that makes it longer"
        raise UnsupportedError(text, context.loc, "keep what a step needs of the one before under a name of its own")
    if any(context.builder.contents(array) is not contents for array, contents in grown.begun):
        raise _changed(context, grown)
    if grown.shared:
        if any(root is grown.rows for root in context.builder.changed(grown.after)):
            raise _changed(context, grown)
        _refuse_changes(context, grown, grown.after, set(context.builder.made[grown.origin : grown.end]))
    return grown.rows


def array_of_members(context: Context, grown: Grown, typed: bool = False) -> Value:
    """What ``np.array`` makes of the list; with a dtype, an empty one of numbers has that dtype and one axis."""
    refuse_none(context, grown, "as an array")
    wide = None if typed else dtype_of_array(context, grown)
    if isinstance(grown, Counted):
        grown = _settled(context, grown)
    rows = rows_of(context, grown)
    held = grown.inner
    rows = _as_rows(context, rows, held) if held is not None and held.columns else rows
    shape = dimensions(rows)
    for axis, length in enumerate(shape if len(shape) > 1 or not typed else ()):
        if len(shape) > axis + 1 or element(rows.type) is not F64:
            text = f"{grown.text} is used as an array, which is one of float64 and of no rows where the list has no member"
            require_equal(context, dim_min(length, 1), 1, "UnsupportedError", text)
            context.doubted = True
        if held is None:
            # What follows are the axes of arrays.
            break
        held = held.inner
    return copied(context, rows if wide is None else cast(context, rows, wide))


def length_of(context: Context, grown: Grown) -> Any:
    """``len``."""
    if isinstance(grown, Counted):
        return grown.length
    if grown.place is not None:
        return dim_value(context, grown.place + grown.appended)
    return dim_value(context, dimensions(grown.rows)[0])


def position(context: Context, key: Any) -> Any:
    """What indexes a list as Python's int, which an integer scalar of NumPy's is taken for."""
    strong = isinstance(key, Value) and isinstance(key.type, ScalarType) and key.type.dtype.is_integer
    return read_int(context, key) if strong else key


def refuse_outside(context: Context, key: Any, length: DimLike, said: str = "list index out of range") -> None:
    if isinstance(key, Value) and not isinstance(key.type, (WeakType, ScalarType)):
        raise raised(TypeError("list indices must be integers or slices, not numpy.ndarray"), context.loc)
    place = number_as_dim(context, key)
    if place is None:
        text = "a list that a loop of run time has made is indexed by what is no int of Python's"
        raise UnsupportedError(text, context.loc, "index an array of it: np.array(...)[i]")
    if isinstance(place, int):
        least = place + 1 if place >= 0 else -place
        require_equal(context, dim_min(length, least), least, "IndexError", said)
    else:
        inside = dim_max(dim_min(place, length - 1), -1 * length)
        require_equal(context, inside, place, "IndexError", said)
        if not (lower_bound(length) or 0) > 0:
            # Of what has no members 0 is no position either.
            require_equal(context, dim_min(place, length - 1), place, "IndexError", said)


def member_of(frame: Frame, grown: Grown, key: Any, inside: bool = False) -> Any:
    """``list[key]``, which may be known to be `inside`."""
    context = frame.context
    if isinstance(grown, Counted):
        if not isinstance(key, slice):
            return _counted_member(frame, grown, key, inside)
        grown = _settled(context, grown)
    if isinstance(key, slice):
        part = grown.with_rows(copied(context, _member(frame, rows_of(context, grown), key)))
        if grown.marks is not None:
            part.marks = copied(context, _member(frame, grown.marks, key))
        _keep(context, grown, (part.rows,))
        return part
    rows, key = grown.rows, position(context, key)
    if grown.place is None:
        rows = rows_of(context, grown)
        if not inside and not grown.sure:
            refuse_outside(context, key, dimensions(rows)[0])
    elif type(key) is int and isinstance(grown.appended, int) and -grown.first - grown.appended <= key < grown.first:
        key = key if key >= 0 else dim_value(context, grown.place + grown.appended + key)
    else:
        rows_of(context, grown)
    mark = None if grown.marks is None else _member(frame, grown.marks, key)
    return opened(frame, grown, _member(frame, rows, key), grown.type, grown.inner, mark)


def joined(context: Context, first: Grown | list[Any], second: Grown | list[Any]) -> Grown | None:
    """``list + list`` of numbers of one kind, or of tuples of such, of which one may be known; None of other lists."""
    parts = [_settled(context, part) if isinstance(part, Counted) else part for part in (first, second)]
    of_arrays = [part for part in parts if isinstance(part, Grown) and part.arrays is not None]
    if len(of_arrays) == len(parts):
        return _joined_arrays(context, *of_arrays)
    like = next(part for part in parts if isinstance(part, Grown))
    if not isinstance(like.type, WeakType | ScalarType) and (like.inner is None or not like.inner.columns):
        # Arrays have other names, under which they may be changed.
        return None
    one, other = (of_members(context, part, like) if isinstance(part, list) else part for part in parts)
    if one is None or other is None or like.nones or (found := alike(context, one, other)) is None:
        return None
    for part in (one, other):
        rows_of(context, part)
    made = found[0]._make([context.builder.emit("concatenate", pair, {"axis": 0}) for pair in zip(*found, strict=True)])
    made.origin = made.end = len(context.builder.made)
    made.after = context.builder.state()
    return made


def _joined_arrays(context: Context, first: Grown, second: Grown) -> Grown | None:
    """The same of lists of arrays, which are members of both lists from there on."""
    if not may_be_alike(first.type, second.type):
        return None
    rows = context.builder.emit("concatenate", (rows_of(context, first), rows_of(context, second)), {"axis": 0})
    made = first.with_rows(rows)
    made.arrays, made.own, made.shared = _members_of_both(first, second), False, True
    _keep(context, made, (rows,))
    made.origin = made.end = len(context.builder.made)
    made.after = context.builder.state()
    return made


__all__ = [
    "append", "array_of_members", "begin_step", "comprehension", "end_step", "fill", "fill_inside", "greatest", "joined",
    "length_of", "may_be_alike", "member_of", "method", "position", "put", "put_all", "refuse_outside", "rows_of", "stored",
    "total", "type_of", "unlike",
]  # fmt: skip
