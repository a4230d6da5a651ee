"""Arrays whose lengths change from step to step of a loop, as ``x = x[x > 0]``, ``x = np.append(x, v)`` and ``m = m[1:, 1:]``.

Such a loop carries as many elements as there can be, and how many of them there are; a step begins with those, and so does what
stands behind the loop.  How many there can be is known where no step makes an array longer, and where each step makes it longer
by a number that is known before the loop, which has a known number of steps.  Where the lengths before a step alone say how
long the arrays are behind it, as with ``x = np.repeat(x, 2)``, a loop of numbers in front of the loop finds out
(:mod:`pytocu.frontend.length_laws`).

Where the first axis alone gets shorter or longer, the elements are the first rows of what is carried.  Where others do, they
lie one after the other in it, as in an array of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

from pytocu.errors import Loc
from pytocu.frontend import length_laws
from pytocu.frontend.frames import Frame, Unset
from pytocu.frontend.layouts import is_row_major
from pytocu.frontend.length_bounds import at_most, depends_on_run, found_at_most, growth_of, is_surely_natural, names_of_step
from pytocu.frontend.length_laws import ask_for_rounds, bounded, find_rooms, laws_of
from pytocu.frontend.loop_memory import StepRead
from pytocu.frontend.merging import may_be_one
from pytocu.frontend.ranges import bound_count, names_given, new_name
from pytocu.frontend.requirements import require_equal
from pytocu.frontend.reshaping import filled
from pytocu.frontend.state import Container, State
from pytocu.frontend.values import Context, Masked, as_value, dim_value, is_array
from pytocu.ir import regions
from pytocu.ir.core import Value
from pytocu.ir.dims import (
    Dim,
    DimLike,
    dim_max,
    dim_min,
    product,
    substitute,
    symbols,
)
from pytocu.ir.types import ArrayType, element, scalar

_BEGIN_LONG = "begin with an array that is long enough: whole = np.zeros(n); k = len({0}); whole[:k] = {0}"


Key: TypeAlias = tuple[Frame, str]

Limit: TypeAlias = "Callable[[], DimLike | None]"
"""How many steps there are at most, if that is known before the loop."""


class Part(NamedTuple):
    """What a loop carries of an array whose lengths its steps change.

    Attributes
    ----------
    whole : Value
        As many elements as there can be.
    counts : tuple of Value
        The lengths of the axes that change.
    """

    whole: Any
    counts: Any


class Change(NamedTuple):
    """How the length of an axis changes.

    Attributes
    ----------
    axis : int
        Which one.
    start : DimLike
        How long it is before the loop.
    group : object
        Axes of one group have one length in each step.
    growth : DimLike or None
        By how much it grows in a step at most; None where it must not, which is looked at in each step.
    room : DimLike
        How long it may be.
    """

    axis: int
    start: DimLike
    group: Any
    growth: DimLike | None
    room: DimLike


class Changing(NamedTuple):
    """How the lengths of an array change.

    Attributes
    ----------
    shape : tuple of DimLike
        Its lengths before the loop.
    changes : tuple of Change
        Of the axes that change, in order.
    dense : bool
        Whether NumPy has its elements one after the other, in row-major order, in each step.
    """

    shape: tuple[DimLike, ...]
    changes: tuple[Change, ...]
    dense: bool

    @property
    def of_rows(self) -> bool:
        """Whether the first axis alone changes."""
        return [change.axis for change in self.changes] == [0]

    @property
    def rooms(self) -> tuple[DimLike, ...]:
        """How long the axes may be."""
        return self.with_lengths([change.room for change in self.changes])

    def with_lengths(self, lengths: Iterable[DimLike]) -> tuple[DimLike, ...]:
        """The shape where the axes that change have these lengths."""
        shape = list(self.shape)
        for change, length in zip(self.changes, lengths, strict=True):
            shape[change.axis] = length
        return tuple(shape)


class LastStep(NamedTuple):
    """What a step leaves in a name is read in the next one or behind the loop: of `Context.handed`."""

    place: Loc
    name: str


def only_of_step(context: Context, place: Loc, before: State, key: Key) -> Unset | None:
    """What a name holds whose array steps may make longer, until the next step or who stands behind the loop reads it.

    There is room for no more of it than there was before the loop, so it is carried where it has to be alone.
    """
    asked = LastStep(place, key[1])
    if asked in context.handed or isinstance(key[0], Container):
        return None
    if all(change.growth is not None for change in before.changing[key].changes):
        return None
    del before.changing[key]
    before.parts.pop(key, None)
    return Unset(f"{key[1]} gets longer in a loop", _BEGIN_LONG.format(key[1]), asked)


def last_step(unset: Unset) -> LastStep | None:
    """The key with which a function is read again where what a step leaves in a name is read."""
    return unset.key if isinstance(unset.key, LastStep) else None


def note_change(context: Context, before: State, read: StepRead, key: Key, limit: Limit) -> bool:
    """Whether a step changes the length of an array that a name holds, which the loop carries from now on."""
    assert read.state is not None
    old, new = array_of(before.held(*key)), read.state.held(*key)
    if key in before.fixed or context.elements is not None or old is None:
        return False
    type = bare_array(old)
    if not type.shape:
        return False
    dense = is_row_major(context, old)
    if isinstance(new, Masked) and new.elements is None:
        # How many there are is known once they are asked for; they are not more than there were.
        given = bare_array(new.array)
        if given.dtype is not type.dtype or given.shape[1:] != type.shape[1:] or len(bare_array(new.mask).shape) != 1:
            return False
        changed = {0: (0, 0)}
    else:
        made = array_of(new)
        if made is None or not _is_alike(bare_array(made), type):
            return False
        shape = bare_array(made).shape
        axes = [axis for axis, length in enumerate(shape) if length != type.shape[axis]]
        # Lengths of other arrays are taken to be the same where those of the call are.
        found = {*names_of_step(context, read), *context.most}.intersection(*[[s for a in axes for s in symbols(shape[a])]])
        if not axes or (not found and may_be_one(bare_array(made), type) and not _differ(context, made, type)):
            return False
        changed = {}
        for axis in axes:
            more = shape[axis] - type.shape[axis]
            growth = growth_of(context, read, more)
            steps = limit() if growth else 0
            if growth is None or steps is None:
                # What else than a number of the run says how long it gets, the next reading shows.
                growth, steps = None if growth is None and depends_on_run(context, more) else 0, 0
            changed[axis] = growth, steps
        dense = dense and is_row_major(context, made)
    changes: list[Change] = []
    for axis, (growth, steps) in changed.items():
        length = type.shape[axis]
        changes.append(Change(axis, length, _group(context, before, read, length), growth, length + steps * (growth or 0)))
    before.changing[key] = Changing(type.shape, tuple(changes), dense)
    return True


def carry(context: Context, before: State) -> None:
    """Make what the loop carries, where it stands, of arrays that were noted."""
    if before.laws:
        find_rooms(context, before)
    for key, changing in before.changing.items():
        if key not in before.parts:
            array = array_of(before.held(*key))
            assert array is not None
            before.parts[key] = part = carried(context, array, changing, [change.start for change in changing.changes])
            if part.whole is not array:
                # A change in the first step is one of the array from before.
                context.builder.may_be([(part.whole, (array,), context.builder.memories(array))])


def begin_step(context: Context, before: State, read: StepRead) -> None:
    """Bind names to the arrays that a step begins with."""
    for (owner, name), changing in before.changing.items():
        part = owner.locals[name]
        for change, count in zip(changing.changes, part.counts, strict=True):
            if change.group not in read.lengths:
                read.lengths[change.group] = _length(context, count, change.room)
        owner.locals[name] = shown = _shown(context, part.whole, changing, [read.lengths[c.group] for c in changing.changes])
        if not changing.dense:
            read.sparse[owner, name] = shown


def end_step(context: Context, before: State, read: StepRead) -> None:
    """State what a step leaves of these arrays, for the next one; where that cannot be carried, nothing is stated."""
    assert read.state is not None
    for key, changing in before.changing.items():
        value = read.state.held(*key)
        if isinstance(value, Masked):
            value = as_value(context, value)
        if not is_array(value) or not _can_be(changing, bare_array(before.parts[key].whole), bare_array(value)):
            continue
        shown = read.sparse.get(key)
        if shown is not None and context.builder.contents(shown) is not shown:
            # NumPy's may be a part of other memory, which is changed then.
            continue
        lengths = [bare_array(value).shape[change.axis] for change in changing.changes]
        read.state.counts[key] = [*lengths]
        read.state.dense[key] = is_row_major(context, value)
        known = known_facts(context)
        grown = [
            place
            for place, (change, length) in enumerate(zip(changing.changes, lengths, strict=True))
            if not _has_room(context, before, read, change, length, known)
        ]
        for place, change in enumerate(changing.changes):
            if change.group in before.laws and not before.every:
                room = f"room for {length_laws.MOST:,} elements along an axis"
                sentence = f"{key[1]} gets a length of {{0}} in a loop, which has {room}"
                help = "let the loop have fewer steps, or end it before"
                require_equal(
                    context, dim_max(lengths[place], change.room), change.room, "UnsupportedError", sentence, help=help
                )
                lengths[place] = dim_min(lengths[place], change.room)
            elif change.growth is None:
                longer = dim_max(lengths[place] - change.room, 0)
                sentence = f"{key[1]} gets longer in a loop: there is no room for {{0}} of its elements"
                require_equal(context, longer, 0, "UnsupportedError", sentence, help=_BEGIN_LONG.format(key[1]))
                lengths[place] = dim_min(lengths[place], change.room)
        if lengths != read.state.counts[key]:
            value = _first(context, value, changing.with_lengths(lengths))
            read.state.counts[key] = lengths
        if grown:
            read.outgrown[key], read.known = grown, known
            continue
        made = carried(context, value, changing, lengths)
        context.builder.may_be([(made.whole, (value,), context.builder.memories(value))])
        read.state.parts[key] = made


def _has_room(
    context: Context, before: State, read: StepRead, change: Change, length: DimLike, known: Sequence[DimLike]
) -> bool:
    """Whether an axis gets no longer than it may."""
    if change.group in before.laws:
        law = before.laws[change.group]
        # Of an array that is carried no longer nobody knows how long it is.
        if not read.lengths.keys() >= set(law.names.values()):
            return False
        starts = {str(start) for start in read.lengths.values()}
        return law.behind(read.lengths) in (length, found_at_most(context, length, starts))
    return change.growth is None or is_surely_natural(context, change.growth - (length - read.lengths[change.group]), known)


def regroup(context: Context, before: State, read: StepRead, limit: Limit, every: bool) -> list[Key]:
    """The names of arrays that turned out to have other lengths than those of their group, or to be carried otherwise.

    Of a loop that has `every` step of its limit no step is the last one.
    """
    assert read.state is not None
    found: list[Key] = []
    outgrown = {c.group for key, places in read.outgrown.items() for p in places for c in [before.changing[key].changes[p]]}
    laws = laws_of(context, before, read, outgrown) if outgrown and not outgrown & before.laws.keys() else None
    if laws and (steps := limit()) is not None:
        before.steps, before.every = steps, every
    elif laws:
        own = {group: law for group, law in laws.items() if group in outgrown}
        laws = bounded(context, before, read, own)
        if laws is None and not every:
            ask_for_rounds(context, before, own)
    for key, changing in [*before.changing.items()]:
        if key not in read.names:
            continue
        counts = read.state.counts.get(key)
        if isinstance(read.state.parts.get(key), Part):
            if changing.dense and not read.state.dense[key]:
                before.changing[key] = changing._replace(dense=False)
                found.append(key)
            continue
        found.append(key)
        del before.changing[key], before.parts[key]
        lengths = [None] * len(changing.changes) if counts is None else counts
        again = [_looked_at(context, read, *one) for one in zip(changing.changes, lengths, strict=True)]
        if laws is not None:
            before.changing[key] = changing
        elif again != [*changing.changes]:
            before.changing[key] = changing._replace(changes=tuple(again))
        else:
            before.fixed.add(key)
    if laws:
        before.laws |= laws
        found.extend(before.changing)
        return found
    groups = {(key, c.axis): c.group for key, changing in before.changing.items() for c in changing.changes}
    counts = {
        (key, c.axis): length
        for key, changing in before.changing.items()
        for c, length in zip(changing.changes, read.state.counts.get(key, ()), strict=False)
    }
    after = {place: (group, counts.get(place)) for place, group in groups.items()}
    if len(set(after.values())) > len(set(groups.values())):
        for key, changing in [*before.changing.items()]:
            changes = [change._replace(group=after[key, change.axis]) for change in changing.changes]
            before.changing[key] = changing._replace(changes=tuple(changes))
        found.extend(before.changing)
    return found


def _looked_at(context: Context, read: StepRead, change: Change, length: DimLike | None) -> Change:
    """A change that each step looks at, if a number of the run decides what a step left."""
    more = 0 if length is None else length - read.lengths[change.group]
    if change.growth is not None and depends_on_run(context, more, besides=symbols(read.lengths[change.group])):
        return change._replace(growth=None, room=change.start)
    return change


def behind_loop(context: Context, part: Part, changing: Changing) -> Value:
    """The array behind a loop."""
    lengths = [_length(context, n, change.room) for change, n in zip(changing.changes, part.counts, strict=True)]
    shown = _shown(context, part.whole, changing, lengths)
    return shown if not changing.dense else context.builder.emit("copy", (shown,), name=part.whole.name)


def returned_parts(context: Context, value: Any) -> Any:
    """What a step returns, with parts that a loop may carry for the arrays whose lengths the step found out."""
    if isinstance(value, Masked):
        value = as_value(context, value)
    if isinstance(value, tuple):
        return tuple.__new__(type(value), [returned_parts(context, member) for member in value])
    if not is_array(value) or context.elements is not None or not bare_array(value).shape:
        return value
    shape = bare_array(value).shape
    inner = {name for inst in context.builder.insts for name in names_given(inst)} | context.steps
    changes: list[Change] = []
    for axis, length in enumerate(shape):
        if inner.isdisjoint(symbols(length)):
            continue
        room = at_most(length, [(name, context.most[name] + 1, False) for name in _found_out(context, length)], inner)
        if room is None:
            return value
        changes.append(Change(axis, length, length, 0, room))
    if not changes:
        return value
    changing = Changing(shape, tuple(changes), True)
    return tuple.__new__(_behind(context, changing), carried(context, value, changing, [c.start for c in changes]))


def _found_out(context: Context, length: DimLike) -> list[str]:
    """The names in a length that were found out, and those in their limits, in the order in which they were."""
    names, left = set(), [*symbols(length)]
    while left:
        name = left.pop()
        if name in context.most and name not in names:
            names.add(name)
            left.extend(symbols(context.most[name]))
    return [name for name in context.most if name in names]


def _behind(context: Context, changing: Changing) -> type[tuple[Any, ...]]:
    """The class of parts that become arrays behind a loop; see :func:`pytocu.frontend.state.rebuild`."""

    def array(_: Any, members: Iterable[Any]) -> Value:
        return behind_loop(context, Part(*members), changing)

    return type("_Behind", (tuple,), {"_make": classmethod(array)})


def array_of(value: Any) -> Value | None:
    """The array that a name holds, if it is one whose elements are known."""
    value = value.elements if isinstance(value, Masked) else value
    return value if is_array(value) else None


def known_facts(context: Context) -> tuple[DimLike, ...]:
    """What is not negative where the program stands."""
    return (*context.step_facts, *context.facts, *context.builder.compared)


def bare_array(value: Value) -> ArrayType:
    """The type of an array."""
    type = regions.bare(value.type)
    assert isinstance(type, ArrayType)
    return type


def _is_alike(a: ArrayType, b: ArrayType) -> bool:
    """Whether arrays differ in lengths alone."""
    return a.dtype is b.dtype and len(a.shape) == len(b.shape)


def _differ(context: Context, array: Value, before: ArrayType) -> bool:
    """Whether lengths are others than before in the call that compiles, or with the length of another array added."""
    if array.inst is None:
        # An array that has been there stays itself, which what the loop carries is not.
        return False
    # The length of np.zeros(n) is that of np.arange(n) as well: a negative n has raised in one of them.
    natural = {name: 0 for names in context.bound.values() for name in names[1:]}
    for length, old in zip(bare_array(array).shape, before.shape, strict=True):
        more = substitute(length - old, natural)
        terms = more.terms if isinstance(more, Dim) else ()
        added = all(factor > 0 and not any(atom.args for atom in monomial) for monomial, factor in terms)
        if more != 0 and (added or (context.sizes and substitute(more, context.sizes) != 0)):
            return True
    return False


def _can_be(changing: Changing, whole: ArrayType, found: ArrayType) -> bool:
    """Whether what a step leaves is carried so, whatever the lengths are that change."""
    if found.dtype is not whole.dtype or len(found.shape) != len(changing.shape):
        return False
    return found.shape == changing.with_lengths([found.shape[change.axis] for change in changing.changes])


def _group(context: Context, before: State, read: StepRead, length: DimLike) -> DimLike:
    """A length that arrays of the group have before the loop: steps compare them, which is done once then."""
    groups = {change.group for changing in before.changing.values() for change in changing.changes}
    if length in groups:
        return length
    for inst in read.insts:
        if inst.op.name == "check" and inst.attr("kind") == "equal" and length in inst.attr("dims"):
            for group in groups.intersection(inst.attr("dims")):
                with context.builder.at(inst.loc):
                    context.builder.inst("check", (), dict(inst.attrs))
                return group
    return length


def carried(context: Context, array: Value, changing: Changing, lengths: Sequence[DimLike]) -> Part:
    """What a loop carries of an array that has these lengths where they change."""
    rooms = changing.rooms
    if changing.of_rows:
        whole = _with_room(context, array, rooms[0])
    else:
        source = bare_array(array).shape
        attrs = {"source": source, "shape": (product(source),)}
        whole = _with_room(context, context.builder.emit("reshape", (array,), attrs, name=array.name), product(rooms))
    return Part(whole, tuple(as_value(context, dim_value(context, length)) for length in lengths))


def _with_room(context: Context, array: Value, room: DimLike) -> Value:
    """An array, and others behind its elements that nobody looks at."""
    length, *rest = bare_array(array).shape
    if length == room:
        return array
    zero = context.builder.const(0, scalar(element(array.type)))
    others = filled(context, zero, (room - length, *rest), blank=True)
    if length == 0:
        return others
    return context.builder.emit("concatenate", (array, others), {"axis": 0}, name=array.name)


def _length(context: Context, count: Value, room: DimLike) -> DimLike:
    length = bound_count(context, count, new_name(context, "length"))
    context.most[str(length)] = room
    return length


def _shown(context: Context, whole: Value, changing: Changing, lengths: Sequence[DimLike]) -> Value:
    """The array that a loop carries, of these lengths."""
    shape = changing.with_lengths(lengths)
    if changing.of_rows:
        shown = _first(context, whole, shape)
    else:
        size = product(shape)
        attrs = {"source": (size,), "shape": shape}
        shown = context.builder.emit("reshape", (_first(context, whole, (size,)),), attrs, name=whole.name)
    if not changing.dense:
        # In which order NumPy's array is, and whether a view leaves elements out, some steps may say.
        view, shown = shown, context.builder.emit("copy", (shown,), name=whole.name)
        context.builder.orders[shown] = None, frozenset()
        context.builder.may_be([(shown, (view,), context.builder.memories(view))])
    return shown


def _first(context: Context, whole: Value, size: Sequence[DimLike]) -> Value:
    """The first elements of an array along each axis."""
    attrs = {"start": (0,) * len(size), "step": (1,) * len(size), "size": tuple(size)}
    return context.builder.emit("slice", (whole,), attrs, name=whole.name)


__all__ = [
    "Change",
    "Changing",
    "Part",
    "begin_step",
    "behind_loop",
    "carried",
    "carry",
    "end_step",
    "last_step",
    "note_change",
    "only_of_step",
    "regroup",
    "returned_parts",
]
