"""Lists of numbers whose length a run decides: an ``append`` under a condition, stacks and queues.

Such a list is the rows of an array that are in use: a `Counted` holds the array, where the list begins in it and how long it
is, like entries of a dict, which branches and loops hand on.  The loop before which the list was made makes the array: a
reading that is left out says how many members a step appends at most, and the number of steps how many rows there are.  The
steps of a ``while`` nobody knows: there the loop ends where the array has no room for another step, and is written again behind
it, with a larger array.  Where a list is such a one only reading can tell, so the function is read again with a `Wanted` among
the keys of `Context.handed`.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import contextmanager
from typing import Any, TypeAlias

import numpy as np

from pytocu.deferred import Deferred
from pytocu.errors import Loc, UnsupportedError, raised
from pytocu.frontend.first_steps import first_apart
from pytocu.frontend.flags import both
from pytocu.frontend.frames import Failing, Flow, Frame, Raised, Unset
from pytocu.frontend.gathering import subscript
from pytocu.frontend.grown_members import held_in, note_member, perhaps_numpys, same_held
from pytocu.frontend.list_forms import IN_ROWS, refuse_named
from pytocu.frontend.list_kinds import Kinds, as_float, ask_for_marks, asked_of, held_exactly, mark, numbers_in, put_all_marks
from pytocu.frontend.list_kinds import ask as ask_kinds
from pytocu.frontend.literals import listed
from pytocu.frontend.merging import blank
from pytocu.frontend.numbered import Numbered, numbered
from pytocu.frontend.numbers import common_type, of_type
from pytocu.frontend.operators import binary
from pytocu.frontend.raising import refuse_if
from pytocu.frontend.ranges import bound, new_name, number_as_dim
from pytocu.frontend.reading import read_number
from pytocu.frontend.reshaping import filled
from pytocu.frontend.rounds import MOST_IN_STEPS, all_hold, in_rounds, room_of_loop, rooms_of_rounds, while_room
from pytocu.frontend.state import Around, Container, State, Wanted, holder, wanted
from pytocu.frontend.storage import HandOn
from pytocu.frontend.type_texts import type_text, unlike
from pytocu.frontend.values import (
    Context,
    Counted,
    Grown,
    GrownMethod,
    Steps,
    as_value,
    dim_value,
    dimensions,
    flattened,
    list_text,
)
from pytocu.frontend.values import is_number as is_known
from pytocu.ir import regions
from pytocu.ir.core import Value
from pytocu.ir.dims import Dim, DimLike, dim_max, dim_min, is_number, substitute, symbol, symbols
from pytocu.ir.types import (
    F64,
    U8,
    WEAK_FLOAT,
    WEAK_INT,
    WEAK_ORDER,
    ArrayType,
    ScalarType,
    Type,
    WeakType,
    element,
    scalar,
    shape_of,
)

_listed = Deferred("pytocu.frontend.ordering", "listed")
_put_all = Deferred("pytocu.frontend.grown", "put_all")
_choose = Deferred("pytocu.frontend.choices", "choose")
_extending = Deferred("pytocu.frontend.extending", "methods")
_delete_at = Deferred("pytocu.frontend.list_methods", "delete_at")
_grown_member = Deferred("pytocu.frontend.grown", "member_of")
_length_of = Deferred("pytocu.frontend.grown", "length_of")
_iterate = Deferred("pytocu.frontend.builtin_calls", "iterate")
_member = Deferred("pytocu.frontend.subscripts", "member")
_is_known = Deferred("pytocu.frontend.member_arrays", "is_known")
_array_type = Deferred("pytocu.frontend.member_arrays", "row_type")
_fits = Deferred("pytocu.frontend.member_arrays", "fits")
_rows_in = Deferred("pytocu.frontend.member_arrays", "rows_in")
_arrays = Deferred("pytocu.frontend.member_arrays", "begin")
_keep_arrays = Deferred("pytocu.frontend.member_arrays", "keep")
_note_array = Deferred("pytocu.frontend.member_arrays", "append")
_read_array = Deferred("pytocu.frontend.member_arrays", "read")
_stored = Deferred("pytocu.frontend.grown", "stored")
_methods_with_loops = Deferred("pytocu.frontend.list_methods", "methods")
_opened = Deferred("pytocu.frontend.grown_members", "opened")
_pop_at = Deferred("pytocu.frontend.list_methods", "pop_at")
_queue_of = Deferred("pytocu.frontend.queues", "noted")
_position = Deferred("pytocu.frontend.grown", "position")
_rows_of = Deferred("pytocu.frontend.grown", "rows_of")
_columns = Deferred("pytocu.frontend.columns", "of_counted")
_joined = Deferred("pytocu.frontend.columns", "joined")
_put = Deferred("pytocu.frontend.grown", "put")
_noted = Deferred("pytocu.frontend.columns", "noted")
_rebuilt = Deferred("pytocu.frontend.columns", "rebuilt")
_row_type = Deferred("pytocu.frontend.columns", "row_type")
_types_of = Deferred("pytocu.frontend.columns", "types_of")
_unlike = Deferred("pytocu.frontend.grown", "unlike")
_type_of = Deferred("pytocu.frontend.grown", "type_of")


def ask(context: Context, held: Any, members: Sequence[Any], before: State | None = None) -> None:
    """Let the function be read again with a list as a `Counted`, if it can be one.

    Parameters
    ----------
    held : list or dict
        The list, or the entries of what stands for one.
    members : sequence
        What it holds somewhere.
    before : State, optional
        What was known before the branch that is read at this place, where no loop is.
    """
    around = next((one for one in context.growing if id(held) in one.known), None)
    branch = around is None
    if around is None and before is not None:
        around = Around(context.loc, before, frozenset())
    if around is None or context.elements is not None or not isinstance(held, list) or not around.state.is_own(held):
        return
    bound = _names(around.state, held)
    nested = any(flattened(member) is not member for member in members)
    if nested and len(bound) == 1 and (words := _joined(context, members)) is not None:
        _want(context, Wanted(around.place, bound[0], _row_type(words), words, branch))
        return
    if nested:
        said = "is longer in some runs than in others and holds tuples in tuples that are not alike"
        text = f"{list_text(bound[0]) if bound else 'a list'} {said}"
        raise UnsupportedError(text, context.loc, "let each member be one tuple: (a, b, c) for ((a, b), c)")
    inside = {held_in(context, member) for member in members}
    if len(bound) == 1 and inside == {None} and (of_arrays := _array_type(context, members)) is not None:
        _want(context, Wanted(around.place, bound[0], of_arrays, None, branch))
        return
    types = {_type_of(context, member) for member in members}
    if len(bound) == 1 and not branch and inside == {None}:
        _refuse_lengths(context, bound[0], members)
    if len(bound) == 1 and len(types) > 1 and all(isinstance(one, WeakType | ScalarType) for one in types):
        common, *others = sorted(types, key=lambda one: isinstance(one, WeakType))
        for other in others:
            common = None if common is None else _common(context, common, other)
        if not isinstance(common, ScalarType) and common != WEAK_FLOAT:
            raise _unlike(context, bound[0], [_type_of(context, member) for member in members])
        # Python's numbers and NumPy's, or Python's ints and floats.
        types = {common}
    differ = len(types) > 1 or len(inside) > 1 or any(one is not None and one.columns for one in inside)
    if len(bound) == 1 and differ and None not in inside and (held := _joined(context, members)) is not None:
        _want(context, Wanted(around.place, bound[0], _row_type(held), held, branch))
    elif len(bound) == 1 and len(types) == 1 and len(inside) == 1:
        _want(context, Wanted(around.place, bound[0], types.pop(), inside.pop(), branch))


def _refuse_lengths(context: Context, name: str, members: Sequence[Any]) -> None:
    """Refuse a list of arrays of lengths that only a run knows, where the last of them was made."""
    for member in reversed(members):
        type = _type_of(context, member)
        if isinstance(type, ArrayType) and isinstance(member, Value) and not _is_known(context, type):
            text = f"{list_text(name)} grows by {type_text(type)}, and only a run knows how long that is"
            raise UnsupportedError(text, context.loc if member.inst is None else member.inst.loc, IN_ROWS)


def ask_grown(context: Context, grown: Grown, place: Loc | None = None) -> None:
    """As :func:`ask`, of a list to which the steps of a loop, at that place, append as many members, or did."""
    of_arrays = grown.inner is None and isinstance(grown.type, ArrayType)
    if context.elements is not None or (grown.shared and not of_arrays) or grown.frozen or grown.nones:
        return
    name = grown.name
    if place is None and grown.place is None:
        around = next((one for one in context.growing if _names(one.state, grown)), None)
        if around is not None:
            place, (name, *others) = around.place, _names(around.state, grown)
            if others:
                return
    if place is None and grown.key is None:
        return
    _want(context, Wanted(place or grown.key[1], name, grown.type, grown.inner))


def _common(context: Context, first: Type, second: Type) -> Type | None:
    """The type of members that are of these two: of Python's ints and floats it is that of the floats."""
    if {first, second} == {WEAK_INT, WEAK_FLOAT}:
        return WEAK_FLOAT
    return common_type(context, first, second)


def _want(context: Context, wanted: Wanted) -> None:
    inner = wanted.inner
    of_numbers = inner is None or isinstance(inner.type, Type) or bool(inner.columns)
    tuples = inner is not None and issubclass(inner.kind, tuple) and inner.inner is None and of_numbers
    arrays = inner is None and isinstance(wanted.type, ArrayType)
    if (arrays and (wanted.branch or not _is_known(context, wanted.type))) or (inner is not None and not tuples):
        # Members that are lists may be changed, and then the list's are.
        return
    if wanted not in context.handed:
        raise HandOn(wanted)
    if (apart := first_apart(context, wanted.place)) is not None and context.growing[0].written_out:
        # It is made before the loop, and its first step could not be written apart.
        raise UnsupportedError(apart.message, wanted.place, apart.help)


def _names(state: State, held: Any) -> list[str]:
    pairs = zip(state.frames, state.locals, strict=True)
    return [n for f, names in pairs if not isinstance(f, Container) for n, value in names.items() if value is held]


def begin_here(frame: Frame, held: list[Any], sample: Any) -> Counted | None:
    """Make a list such a one where the program stands, and no loop or branch is around, if it can be one."""
    context = frame.context
    state = State(frame)
    bound = _names(state, held)
    if context.growing or context.in_side or context.in_steps or context.elements is not None:
        return None
    if len(bound) != 1 or not state.is_own(held) or not bound[0].isidentifier():
        return None
    members = [*held, sample]
    types = [_type_of(context, member) for member in members]
    # What it gets behind this place has been found by an earlier reading.
    types += [one.type for one in wanted(context) if (one.place, one.name, one.branch) == (context.loc, bound[0], True)]
    common = types[0]
    for other in types[1:]:
        common = other if common == other else _common(context, common, other)
        if common is None:
            raise _unlike(context, bound[0], types)
    if isinstance(common, ArrayType) or held_in(context, sample) is not None:
        return None
    return _begin(frame, Wanted(context.loc, bound[0], common, None, True), 0)


def by_place(frame: Frame, held: list[Any]) -> Counted | None:
    """The list as such a one, where a member goes or comes at a place that a run decides; None where it can be none.

    Raises
    ------
    HandOn
        A loop or branch is around, which begins with it so.
    """
    context = frame.context
    if not held or not all(isinstance(member, Value) or is_known(member) for member in held):
        return None
    if len({_type_of(context, member) for member in held}) > 1:
        return None
    ask(context, held, held)
    return begin_here(frame, held, held[0])


def as_mixed(context: Context, counted: Counted, values: Grown) -> None:
    """Let a list that gets all members of another hold both kinds of numbers where that one does, or be marked as it is."""
    if values.mixed and (not counted.mixed or (values.ints and not counted.ints)):
        if counted.kinds is None:
            raise _unlike(context, counted.name, [counted.type, values.type])
        raise HandOn(counted.kinds._replace(ints=values.ints or counted.ints))
    if values.mixed and counted.marks is not None and values.marks is None:
        ask_for_marks(context, values)
        raise _unlike(context, counted.name, [counted.type, values.type])


def begin(frame: Frame, wanted: Sequence[Wanted]) -> None:
    """Make lists such ones before a branch, behind which no loop makes them longer: each member makes the array larger."""
    for one in wanted:
        _begin(frame, one, 0)


# Loops.


def for_loop(
    frame: Frame, node: ast.For, steps: Steps, wanted: Sequence[Wanted], run: Callable[[Numbered | None], Flow]
) -> Flow:
    """Read a loop for which lists are made that hold as many members as its steps append at most."""
    context = frame.context
    found: list[Numbered | None] = []

    def read() -> None:
        found.append(numbered(frame, node, steps, wanted=True))
        run(found[0])

    tried, names = _tried(frame, wanted, read)
    (known,) = found
    room: Dim | None = None
    for one, counted in zip(wanted, tried, strict=True):
        if known is None:
            raise _unbounded(context, counted, "in a loop of which the steps are not counted")
        most = _most_in(context, counted, [known.numbers], names)
        if most is None:
            # Loops inside have as many steps as data say.
            room = room or room_of_loop(context)
            made = _begin(frame, one, _rows_in(counted, room))
            made.watched.update(site[:2] for site in counted.sites)
            made.unbounded = True
            continue
        _begin(frame, one, most + 1)
    return run(numbered(frame, node, steps, wanted=True))


_SPARE = 8
"""Rows that a ``while`` leaves free: as many appends behind it need no larger array."""


def while_loop(
    frame: Frame, wanted: Sequence[Wanted], test: Callable[[], Any], run: Callable[[Callable[[], Any]], Flow]
) -> Flow:
    """Read a loop in which lists grow, with larger and larger arrays; `run` reads it with a condition."""
    context = frame.context
    tests: list[Any] = []

    def asked() -> Any:
        tests.append(test())
        return tests[-1]

    tried, names = _tried(frame, wanted, lambda: run(asked))
    del tests[:]
    most = [_most_of_steps(context, counted, names) for counted in tried]

    rounds = rooms_of_rounds(context)
    lists = [
        _begin(frame, one, _rows_in(counted, rounds[0]) + more + _SPARE)
        for one, counted, more in zip(wanted, tried, most, strict=True)
    ]
    for made, counted in zip(lists, tried, strict=True):
        made.watched, made.spare = counted.watched, _SPARE

    def ends() -> list[Any]:
        return [dim_value(context, dimensions(one.rows)[0] - each - _SPARE) for one, each in zip(lists, most, strict=True)]

    now: list[Any] = []

    def room() -> Any:
        lengths = [binary(context, "add", one.begin, one.length) for one in lists]
        return all_hold(context, (binary(context, "less_equal", *pair) for pair in zip(lengths, now, strict=True)))

    def read(number: int) -> Flow:
        for one in lists if number else ():
            _enlarge(context, one, _rows_in(one, rounds[number]))
        now[:] = ends()
        return run(lambda: while_room(frame, room, asked))

    def behind() -> Any:
        now[:] = ends()
        return room()

    help = "fill an array of the most that there may be, and count: y[k] = v; k += 1"
    flow = in_rounds(frame, rounds, behind, read, lists[0].text, help)
    if flow.broke is False and flow.returned is not False and not any(isinstance(value, Value) or not value for value in tests):
        # There is no other way out of it.
        return Flow(False, True, flow.value, flow.loc)
    return flow


def _tried(frame: Frame, wanted: Sequence[Wanted], read: Callable[[], Any]) -> tuple[list[Counted], set[str]]:
    """The lists behind a reading that is left out, and the names of numbers that are known before it."""
    context = frame.context
    names = set(context.numbers)
    state = State(frame)
    with context.builder.nested():
        more = symbol(new_name(context, "members"))
        tried = [_begin(frame, one, more) for one in wanted]
        read()
    state.go_back()
    return tried, names


def _begin(frame: Frame, wanted: Wanted, more: DimLike) -> Counted:
    """The rows for the members that a list has and for so many others; its name holds them."""
    context = frame.context
    owner = holder(frame, wanted.name)
    assert owner is not None
    old = owner.locals[wanted.name]
    if isinstance(old, Unset):
        raise UnsupportedError(old.message, context.loc, old.help)
    if not isinstance(old, list | Grown):
        first, second, help = unlike(wanted.name, old, [])
        text = f"{wanted.name} is {first} before a step of the loop, and {second} that gets longer in it"
        raise UnsupportedError(text, context.loc, help)
    if isinstance(old, Grown) and isinstance(old.type, WeakType) and isinstance(wanted.type, WeakType):
        # A reading that knew less of the list took it for one of ints alone.
        wanted = wanted._replace(type=max(old.type, wanted.type, key=lambda type: WEAK_ORDER.index(type.kind)))
    with context.builder.nested():
        dtype = element(listed(context, [blank(context, wanted.type)]).type)
    zero = context.builder.const(0, scalar(dtype))
    type = wanted.type
    if wanted.inner is None and isinstance(type, ArrayType) and (isinstance(old, Grown) or old):
        type = old.type if isinstance(old, Grown) else regions.bare(as_value(context, old[0]).type)
    shape = shape_of(type)
    before: DimLike = len(old) if isinstance(old, list) else dimensions(old.rows)[0]
    rows = filled(context, zero, (before + more, *shape), wanted.name if wanted.name.isidentifier() else "", blank=True)
    # A first step that is written before a loop stands where the loop does, and makes no room for the loop's members.
    at = None if wanted.branch else context.loc
    made = Counted(wanted.name, rows, type, wanted.inner, at, len(context.counting), context.written_out)
    if wanted.inner is None or issubclass(wanted.inner.kind, tuple):
        made.kinds, made.wanted = Kinds(wanted.place, wanted.name), wanted
        asked = asked_of(context, made.kinds)
        made.mixed = asked is not None or (isinstance(old, Grown) and old.mixed)
        made.ints = (asked is not None and asked.ints) or (isinstance(old, Grown) and old.ints)
        if isinstance(old, Grown) and isinstance(old.type, WeakType) and old.type != made.type:
            # What it holds are Python's numbers.
            as_numpys(context, made, context.builder.const(0, old.type), made.type)
            if element(old.rows.type) is not element(rows.type) and element(rows.type) is not F64:
                raise _unlike(context, wanted.name, [old.type, made.type])
        if (asked is not None and asked.marked) or (isinstance(old, Grown) and old.marks is not None):
            if isinstance(old, Grown):
                ask_for_marks(context, old)
            mark(context, made, blank=True)
    made.queue, made.named = _queue_of(context, old), isinstance(old, Grown) and old.named
    _arrays(frame, made, old)
    if isinstance(old, list):
        made.began, made.floats = len(old), 0
        for number, value in enumerate(old):
            _put(frame, made, number, of_this_kind(context, made, value))
            made.floats = made.floats or int(_decides(context, made, value))
            made.pythons = made.pythons or _is_python(value)
        made.length = len(old)
    else:
        of_old = old.rows if isinstance(old, Counted) else _rows_of(context, old)
        _put_all(frame, rows, slice(0, dim_value(context, before)), of_old, wanted.name)
        made.length = old.length if isinstance(old, Counted) else dim_value(context, before)
        made.begin = old.begin if isinstance(old, Counted) else 0
        put_all_marks(frame, made, slice(0, dim_value(context, before)), old)
    if isinstance(old, Counted):
        # Each of its names is one of the larger list.
        for names in (one.locals for one in State(frame).frames if not isinstance(one, Container)):
            names.update({name: made for name, value in names.items() if value is old})
    owner.locals[wanted.name] = made
    return made


@contextmanager
def inside(context: Context, numbers: tuple[str, DimLike, bool] | None) -> Iterator[None]:
    """Read a loop that has so many steps, or as many as a run decides."""
    context.counting.append(numbers)
    try:
        yield
    finally:
        context.counting.pop()


def _most_in(
    context: Context, counted: Counted, around: Sequence[tuple[str, DimLike, bool]], names: Set[str]
) -> DimLike | None:
    """How many members are appended in loops at most; None where that is not known before, by numbers with these names."""
    if any(None in loops for _, loops in counted.sites.values()):
        return None
    total: DimLike = 0
    for site in counted.sites.values():
        total = total + _most_at(site, around)
    return None if _unknown(context, total, names) else total


_ALLOWED = 2**10


def _allowed(context: Context) -> DimLike:
    """How many members a step appends at most where data decide it; a run in which it appends more is refused.

    That is more than the vectors among the arguments have elements: neighbours in a graph are the elements of one.
    """
    shapes = [shape_of(param.type) for param in context.builder.arguments.values() if isinstance(param.type, ArrayType)]
    return functools.reduce(lambda total, shape: total + shape[0], (s for s in shapes if len(s) == 1), _ALLOWED)


def _most_of_steps(context: Context, counted: Counted, names: Set[str]) -> DimLike:
    """As :func:`_most_in`, of a step of a ``while``, which has room for so many where nobody knows."""
    total: DimLike = 0
    for site, (times, loops) in counted.sites.items():
        most = times if None in loops else _most_at((times, loops), ())
        if None in loops or _unknown(context, most, names):
            # So many in all, however often the line is read.
            most = 0 if site[:2] in counted.watched else _allowed(context)
            counted.watched.add(site[:2])
        total = total + most
    return total


_Steps: TypeAlias = "tuple[str, DimLike, bool]"


def _most_at(site: tuple[DimLike, Sequence[_Steps | None]], around: Sequence[_Steps]) -> DimLike:
    """How many members a line appends in all steps of the loops around it, but for those of a ``while``."""
    most, loops = site
    for name, count, _ in reversed([*around, *(one for one in loops if one is not None)]):
        most = _largest(most, name, count) * count
    return most


def _unknown(context: Context, total: DimLike, names: Set[str]) -> set[str]:
    """The numbers among those with other names that are not known before a loop."""
    # Lengths that the host reads in a step have names as well.
    unknown = {name for name in symbols(total) if (is_number(name) or name in context.numbers) and name not in names}
    before = {result for inst in context.builder.insts for result in inst.results} | context.given
    for value, own in list(context.bound.items()):
        if value in before and not unknown.isdisjoint(own):
            bound(context, value)
            unknown -= {*own}
    return unknown


def _largest(count: DimLike, name: str, steps: DimLike) -> DimLike:
    """The most that a number of steps is in the steps of a loop around it."""
    if name not in symbols(count):
        return count
    number = symbol(name)
    if isinstance(count, Dim) and len(count.terms) == 1 and len(count.terms[0][0]) == 1 and count.terms[0][0][0].name == "max":
        ((atom,), times) = count.terms[0]
        if times > 0:
            return times * dim_max(*(_largest(part, name, steps) for part in atom.args))
    growth = substitute(count, {name: number + 1}) - count
    if name in symbols(growth):
        return count
    return dim_max(substitute(count, {name: 0}), substitute(count, {name: steps - 1}))


def _unbounded(context: Context, counted: Counted, where: str) -> UnsupportedError:
    text = f"{counted.text} grows {where}, so how much it holds at most is known only at run time"
    return UnsupportedError(text, context.loc, "fill an array of the most that there may be, and count: y[k] = v; k += 1")


# What is done with such a list.


def append(frame: Frame, counted: Counted, value: Any, number: int = 0) -> None:
    """``list.append`` of a member, which has a number where a line appends several."""
    context = frame.context
    if not _decides(context, counted, value):
        context.shortened.add((counted.kinds, "ints"))
    value = of_this_kind(context, counted, value)
    make_room(context, counted, 1, number)
    place = binary(context, "add", counted.begin, counted.length)
    if (context.loc, number) in counted.watched:
        refuse_full(context, counted, place)
    _note_array(frame, counted, value)
    _put(frame, counted, place, value)
    counted.length = binary(context, "add", counted.length, 1)


def _decides(context: Context, counted: Counted, value: Any) -> bool:
    """Whether a member makes an array of the list one of its kind: no Python int, nor a float beside complex numbers."""
    if flattened(value) is not value or isinstance(value, tuple):
        return all(_decides(context, counted, one) for one in flattened(value))
    lesser = (WEAK_INT, WEAK_FLOAT) if element(counted.rows.type).kind == "c" else (WEAK_INT,)
    found = as_value(context, value)
    if isinstance(found.type, WeakType):
        return found.type not in lesser
    return found.inst is None or (found.inst.op.name != "from_python" and not found.inst.regions)


def _is_python(value: Any) -> bool:
    """Whether a number, or all those of a tuple, are Python's."""
    if isinstance(value, tuple):
        return all(_is_python(one) for one in flattened(value))
    return not isinstance(value, np.generic) if not isinstance(value, Value) else isinstance(value.type, WeakType)


def of_this_kind(context: Context, counted: Counted, value: Any) -> Any:
    """What becomes a member of a list, as one of its members."""
    if counted.arrays is not None:
        if not _fits(context, counted, value):
            raise _unlike(context, counted.name, [counted.type, _type_of(context, value)])
        return as_value(context, value)
    if (counted.inner is not None and counted.inner.form is not None) or flattened(value) is not value:
        return _columns(context, counted, value)
    found = _type_of(context, value)
    held = held_in(context, value)
    alike = same_held(held, counted.inner)
    if counted.inner is not None and (counted.inner.columns or found != counted.type or not alike):
        return _columns(context, counted, value)
    if found != counted.type or not alike:
        return of_one_type(context, counted, value, found)
    if counted.kinds is not None and not counted.mixed and isinstance(value, Value) and isinstance(found, ScalarType):
        # It may be a Python number on the way that it comes here.
        return note_member(context, value, counted.kinds)
    return value if counted.inner is None else _noted(context, counted, value, counted.kinds)


def of_one_type(context: Context, counted: Counted, value: Any, found: Any) -> Value:
    """A member of a list that holds Python's numbers beside NumPy's, as NumPy's.

    Raises
    ------
    UnsupportedError
        They have not one dtype.
    """
    types = [counted.type, found]
    numbers = counted.inner is None and all(isinstance(one, WeakType | ScalarType) for one in types)
    common = _common(context, *types) if numbers else None
    floats = common == WEAK_FLOAT or (common == scalar(F64) and counted.type == WEAK_INT)
    if common is None or counted.kinds is None or not (floats or element(common) is element(counted.rows.type)):
        raise _unlike(context, counted.name, types)
    if common != counted.type:
        raise HandOn(counted.wanted._replace(type=common))
    return as_numpys(context, counted, value, common)


def as_numpys(context: Context, counted: Counted, value: Any, type: Type) -> Value:
    """A Python number, or part of a member, as NumPy's in a list of both."""
    kind = "f" if type == WEAK_FLOAT else element(type).kind
    found = as_value(context, value).type
    # An array of these alone is of another kind.
    ints = found == WEAK_INT if kind == "f" else kind == "c" and found in (WEAK_INT, WEAK_FLOAT)
    if not counted.mixed or (ints and not counted.ints):
        ask_kinds(context, counted, ints=ints or counted.ints)
    if ints and kind == "c" and counted.marks is not None:
        text = f"{counted.text} is returned, and holds {type_text(found)} beside {type_text(type)}"
        raise UnsupportedError(text, context.loc, "let all be complex: complex(...) around Python's numbers")
    type = scalar(F64) if type == WEAK_FLOAT else type
    of_int = found == WEAK_INT and element(type) is F64
    value = as_float(context, counted, value) if of_int else held_exactly(context, counted, value, type)
    return of_type(context, value, type)


def refuse_full(context: Context, counted: Counted, place: Any) -> None:
    """Let a run be refused in which a step appends more members than there is room for."""
    room = binary(context, "less", place, dim_value(context, dimensions(counted.rows)[0] - counted.spare))
    text = f"a step of a while loop makes {counted.text} longer by more members than the arguments have, and {_ALLOWED:,} more"
    text = f"{counted.text} holds more than {MOST_IN_STEPS}" if counted.unbounded else text
    help = "fill an array of the most that there may be, and count: y[k] = v; k += 1"
    failing = Failing("UnsupportedError", text, context.loc, (), (help,))
    error = Raised(UnsupportedError(text, context.loc, help), failing, stated=False)
    refuse_if(context, as_value(context, room), False, error)


def make_room(context: Context, counted: Counted, count: DimLike, number: int = 0) -> None:
    """Note that a line appends so many members at most, or make the rows for them where no loop is around."""
    refuse_named(context, counted)
    around = next((one for one in context.growing if id(counted.held) in one.known and not one.written_out), None)
    if around is None:
        if count == 1 and counted.spare and context.written_out == counted.written_out:
            counted.spare -= 1
        else:
            _enlarge(context, counted, count)
    elif around.place != counted.at:
        # What another function or a comprehension has made is called otherwise there.
        bound = _names(around.state, counted)
        if around.state.has_names_alone(counted, len(bound)):
            _want(context, Wanted(around.place, bound[0], counted.type, counted.inner))
        raise _unbounded(context, counted, "in another loop")
    times = context.written_out // counted.written_out
    # First steps of loops inside are written before these, and a function may be called again where it was.
    ways = tuple(one.written_out for one in context.growing), tuple(context.passes)
    counted.sites[context.loc, number, ways] = times * count, context.counting[counted.depth + 1 :]


def _enlarge(context: Context, counted: Counted, count: DimLike = 1) -> None:
    """Rows for more members."""
    rows = counted.rows
    zero = context.builder.const(0, scalar(element(rows.type)))
    more = filled(context, zero, (count, *dimensions(rows)[1:]), "")
    counted.rows = context.builder.emit("concatenate", (rows, more), {"axis": 0})
    if counted.marks is not None:
        none = filled(context, context.builder.const(0, scalar(U8)), (count, *numbers_in(counted)), "")
        counted.marks = context.builder.emit("concatenate", (counted.marks, none), {"axis": 0})


def method(frame: Frame, counted: Counted, name: str) -> GrownMethod:
    """A method of the list.

    Raises
    ------
    UnsupportedError
        One that is not known.
    """
    if name not in methods() or (counted.queue is None and name in _OF_QUEUES):
        of_lists = ", ".join(known for known in methods() if known not in _OF_QUEUES)
        text = f"{counted.name}.{name}: of a list whose length a run decides only {of_lists} are compiled"
        raise UnsupportedError(text, frame.context.loc, "use np.array of it")
    return GrownMethod(counted, name)


def methods() -> dict[str, Callable[..., Any]]:
    """The methods, by name."""
    return _METHODS | _extending() | _methods_with_loops()


def pop(frame: Frame, counted: Counted, key: Any = -1) -> Any:
    context = frame.context
    key = _position(context, key)
    if type(key) is not int or key not in (0, -1):
        return _pop_at(frame, counted, key)
    empty = "pop from an empty deque" if counted.queue is not None else "pop from empty list"
    _refuse(context, binary(context, "greater", counted.length, 0), IndexError(empty))
    found = _at(frame, counted, key)
    _shorter(context, counted, key)
    return found


def _shorter(context: Context, counted: Counted, key: int) -> None:
    _lose(context, counted)
    if key == 0:
        counted.begin = binary(context, "add", counted.begin, 1)
    counted.length = binary(context, "subtract", counted.length, 1)


def _lose(context: Context, counted: Counted) -> None:
    """Note that members go, or others come in their place."""
    refuse_named(context, counted)
    if counted.kinds is not None:
        context.shortened.add(counted.kinds)


def _clear(frame: Frame, counted: Counted) -> None:
    _lose(frame.context, counted)
    counted.begin = counted.length = 0


_OF_QUEUES = ("appendleft", "popleft")
_METHODS: dict[str, Callable[..., Any]] = {"append": append, "pop": pop, "clear": _clear}


def delete(frame: Frame, counted: Grown, key: Any) -> None:
    """``del list[key]`` of a member."""
    context = frame.context
    if not isinstance(counted, Counted):
        ask_grown(context, counted)
        text = f"del {counted.name}[...] of a list that a loop of run time has made is not compiled"
        raise UnsupportedError(text, context.loc, "use an array of it: np.array(...)")
    if isinstance(key, slice):
        text = f"del {counted.name}[...] of several members of a list whose length a run decides is not compiled"
        raise UnsupportedError(text, context.loc, f"make a list of those that stay, or use a loop: del {counted.name}[-1]")
    key = _position(context, key)
    if type(key) is not int or key not in (0, -1):
        _delete_at(frame, counted, key)
        return
    _refuse(context, binary(context, "greater", counted.length, 0), IndexError("list assignment index out of range"))
    _shorter(context, counted, key)


def _refuse(context: Context, holds: Any, error: Exception) -> None:
    """Raise an exception in a run where something does not hold."""
    if holds is True:
        return
    loc = context.loc
    found = Raised(raised(error, loc), Failing(type(error).__name__, str(error), loc), stated=False)
    if holds is False:
        raise found.error
    if not isinstance(holds, Value) or context.told.get(holds) is not True:
        refuse_if(context, as_value(context, holds), False, found)


def member_of(frame: Frame, counted: Counted, key: Any, known: bool = False) -> Any:
    """``list[key]``, which may be `known` to be inside."""
    context = frame.context
    key = _position(context, key)
    known = known or counted.sure
    if not known:
        _refuse_outside(context, counted, key, f"{'list' if counted.queue is None else 'deque'} index out of range")
    return _at(frame, counted, key, known)


def _refuse_outside(context: Context, counted: Counted, key: Any, said: str) -> None:
    length = counted.length
    below = binary(context, "less", key, length)
    above = binary(context, "greater_equal", key, binary(context, "subtract", 0, length))
    if type(key) is int:
        _refuse(context, below if key >= 0 else above, IndexError(said))
    else:
        first, second = (v if isinstance(v, Value) else bool(v) for v in (below, above))
        holds = both(context, first, second)
        _refuse(context, holds, IndexError(said))


def _place(context: Context, counted: Counted, key: Any, known: bool) -> Any:
    if type(key) is int:
        inside = key if key >= 0 else binary(context, "add", counted.length, key)
    elif known:
        inside = key
    else:
        negative = as_value(context, binary(context, "less", key, 0))
        inside = _choose(context, negative, binary(context, "add", counted.length, key), key, "a position in a list")
    place = binary(context, "add", counted.begin, inside)
    number = number_as_dim(context, place)
    if number is None:
        return place
    # It was compared with the length: the rows say nothing about it, which would be compared sooner.
    return dim_value(context, dim_max(dim_min(number, dimensions(counted.rows)[0] - 1), 0))


def _at(frame: Frame, counted: Counted, key: Any, known: bool = False) -> Any:
    place = _place(frame.context, counted, key, known)
    row = _member(frame, counted.rows, place)
    if counted.arrays is not None:
        return _read_array(frame.context, counted, row)
    return _read(frame, row, counted, None if counted.marks is None else _member(frame, counted.marks, place))


def _read(frame: Frame, row: Value, counted: Counted, mark: Value | None) -> Any:
    """What a row stands for."""
    kinds = counted.type if counted.inner is None else counted.inner.type
    if counted.inner is not None and counted.inner.columns:
        return _opened(frame, counted, row, counted.type, counted.inner, mark)
    if counted.mixed and counted.inner is None:
        return perhaps_numpys(frame, row, counted, mark)
    if not isinstance(kinds, WeakType):
        return _opened(frame, counted, row, counted.type, counted.inner, mark)
    if counted.inner is None:
        return read_number(frame.context, row)
    count = dimensions(row)[0]
    assert isinstance(count, int)
    numbers = [read_number(frame.context, _member(frame, row, k)) for k in range(count)]
    return getattr(counted.inner.kind, "_make", tuple)(numbers)


def assign(frame: Frame, counted: Counted, key: Any, value: Any, text: str) -> None:
    """``list[key] = value``."""
    context = frame.context
    if isinstance(key, slice):
        said = f"{text} = ... changes a list whose length a run decides, at more than one place"
        raise UnsupportedError(said, context.loc, "assign to one place at a time")
    value = of_this_kind(context, counted, value)
    _lose(context, counted)
    key = _position(context, key)
    if not counted.sure:
        _refuse_outside(context, counted, key, "list assignment index out of range")
    _note_array(frame, counted, value)
    _put(frame, counted, _place(context, counted, key, counted.sure), value)


def settled(context: Context, counted: Counted) -> Grown:
    """The members as they are now, as a list that nothing makes longer."""
    end = binary(context, "add", counted.begin, counted.length)
    rows = context.builder.emit("copy", (subscript(context, counted.rows, slice(counted.begin, end)),))
    made = Grown(counted.name, rows, counted.type, 0, 0)
    made.inner, made.key, made.mixed, made.queue = counted.inner, counted.key, counted.mixed, counted.queue
    made.ints, made.named = counted.ints, counted.named
    made.kinds = counted.kinds
    if counted.marks is not None:
        made.marks = context.builder.emit("copy", (subscript(context, counted.marks, slice(counted.begin, end)),))
    if counted.arrays is not None:
        made.arrays, made.own = counted.arrays, counted.arrays.own
        made.shared = bool(counted.arrays.roots)
        _keep_arrays(context, counted, (rows,))
    made.origin = made.end = len(context.builder.made)
    made.after = context.builder.state()
    return made


__all__ = [
    "append", "as_mixed", "as_numpys", "ask", "ask_grown", "assign", "begin", "begin_here", "by_place", "delete", "for_loop",
    "inside", "make_room", "member_of", "method", "methods", "pop", "refuse_full", "settled",
    "while_loop",
]  # fmt: skip
