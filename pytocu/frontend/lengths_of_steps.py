"""Arrays whose lengths change from step to step of a loop, as ``x = x[x > 0]`` and ``x = np.append(x, v)``.

Such a loop carries as many elements as there can be, and how many of them there are; a step begins with those, and so does what
stands behind the loop.  How many there can be is known where no step makes an array longer, and where each step makes it longer
by a number that is known before the loop, which has a known number of steps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

from pytocu.frontend.frames import Frame
from pytocu.frontend.layouts import is_row_major
from pytocu.frontend.loop_memory import StepRead
from pytocu.frontend.merging import may_be_one
from pytocu.frontend.ranges import bound_count, names_given, new_name, not_negative
from pytocu.frontend.requirements import require_equal
from pytocu.frontend.reshaping import filled
from pytocu.frontend.state import State
from pytocu.frontend.values import Context, Masked, as_value, dim_value, is_array
from pytocu.ir import regions
from pytocu.ir.core import Value
from pytocu.ir.dims import Atom, Dim, DimLike, dim_max, dim_min, ends_of, greatest, is_number, substitute, symbol, symbols
from pytocu.ir.types import ArrayType, element, scalar

_BEGIN_LONG = "begin with an array that is long enough: whole = np.zeros(n); k = len({0}); whole[:k] = {0}"
_FEW = 9
"""A growth below this is found where it is no number but never above one, as with ``x[-1:]``."""

Key: TypeAlias = tuple[Frame, str]


class Part(NamedTuple):
    """What a loop carries of an array whose length its steps change.

    Attributes
    ----------
    whole : Value
        As many elements as there can be.
    count : Value or int
        How many of them the array has.
    """

    whole: Any
    count: Any


class Changing(NamedTuple):
    """How the length of an array changes.

    Attributes
    ----------
    start : DimLike
        How long it is before the loop.
    group : object
        Arrays of one group have one length in each step.
    growth : DimLike or None
        By how much it grows in a step at most; None where it must not, which is looked at in each step.
    room : DimLike
        How long it may be.
    """

    start: DimLike
    group: Any
    growth: DimLike | None
    room: DimLike


def note_change(context: Context, before: State, read: StepRead, key: Key, limit: Callable[[], DimLike | None]) -> bool:
    """Whether a step changes the length of an array that a name holds, which the loop carries from now on."""
    assert read.state is not None
    old, new = array_of(before.held(*key)), read.state.held(*key)
    if key in before.fixed or context.elements is not None or old is None:
        return False
    type = bare_array(old)
    if not type.shape or not is_row_major(context, old):
        return False
    length, growth, steps = type.shape[0], 0, 0
    if isinstance(new, Masked) and new.elements is None:
        # How many there are is known once they are asked for; they are not more than there were.
        given = bare_array(new.array)
        if given.dtype is not type.dtype or given.shape[1:] != type.shape[1:] or len(bare_array(new.mask).shape) != 1:
            return False
    else:
        made = array_of(new)
        if made is None or not _is_alike(bare_array(made), type):
            return False
        # Lengths of other arrays are taken to be the same where those of the call are.
        found = {*_of_step(context, read), *context.most}.intersection(symbols(bare_array(made).shape[0]))
        if not found and may_be_one(bare_array(made), type):
            return False
        more = bare_array(made).shape[0] - length
        growth = _growth(context, read, more)
        steps = limit() if growth else 0
        if growth is None or steps is None:
            if not _depends_on_run(context, more):
                return False
            growth, steps = None, 0
    room = length + steps * (growth or 0)
    before.changing[key] = Changing(length, _group(context, before, read, length), growth, room)
    return True


def carry(context: Context, before: State) -> None:
    """Make what the loop carries, where it stands, of arrays that were noted."""
    for key, changing in before.changing.items():
        if key not in before.parts:
            array = array_of(before.held(*key))
            assert array is not None
            count = as_value(context, dim_value(context, changing.start))
            before.parts[key] = Part(_with_room(context, array, changing.room), count)


def begin_step(context: Context, before: State, read: StepRead) -> None:
    """Bind names to the arrays that a step begins with."""
    for (owner, name), changing in before.changing.items():
        part = owner.locals[name]
        if changing.group not in read.lengths:
            read.lengths[changing.group] = _length(context, part)
        owner.locals[name] = _shown(context, part.whole, read.lengths[changing.group])


def end_step(context: Context, before: State, read: StepRead) -> None:
    """State what a step leaves of these arrays, for the next one; where that cannot be carried, nothing is stated."""
    assert read.state is not None
    for key, changing in before.changing.items():
        value = read.state.held(*key)
        if isinstance(value, Masked):
            value = as_value(context, value)
        whole = bare_array(before.parts[key].whole)
        if not is_array(value) or not _is_alike(bare_array(value), whole) or not is_row_major(context, value):
            continue
        length, begun, room = bare_array(value).shape[0], read.lengths[changing.group], whole.shape[0]
        if changing.growth is None:
            longer = dim_max(length - room, 0)
            sentence = f"{key[1]} gets longer in a loop: there is no room for {{0}} of its elements"
            require_equal(context, longer, 0, "UnsupportedError", sentence, help=_BEGIN_LONG.format(key[1]))
            length = dim_min(length, room)
            value = _shown(context, value, length)
        read.state.counts[key] = length
        if changing.growth is not None and not _surely(context, changing.growth - (length - begun), known_facts(context)):
            continue
        made = _with_room(context, value, room)
        context.builder.may_be([(made, (value,), context.builder.memories(value))])
        read.state.parts[key] = Part(made, as_value(context, dim_value(context, length)))


def regroup(context: Context, before: State, read: StepRead) -> list[Key]:
    """The names of arrays that turned out to have other lengths than those of their group, or to be carried otherwise."""
    assert read.state is not None
    found: list[Key] = []
    for key, changing in [*before.changing.items()]:
        if key not in read.names or isinstance(read.state.parts.get(key), Part):
            continue
        found.append(key)
        del before.changing[key], before.parts[key]
        more = read.state.counts[key] - read.lengths[changing.group] if key in read.state.counts else 0
        if changing.growth is not None and _depends_on_run(context, more, besides=symbols(read.lengths[changing.group])):
            before.changing[key] = changing._replace(growth=None, room=changing.start)
        else:
            before.fixed.add(key)
    groups = {key: changing.group for key, changing in before.changing.items()}
    after = {key: (group, read.state.counts.get(key)) for key, group in groups.items()}
    if len(set(after.values())) > len(set(groups.values())):
        for key, group in after.items():
            before.changing[key] = before.changing[key]._replace(group=group)
        found.extend(after)
    return found


def behind_loop(context: Context, part: Part) -> Value:
    """The array behind a loop."""
    return context.builder.emit("copy", (_shown(context, part.whole, _length(context, part)),), name=part.whole.name)


def returned_parts(context: Context, value: Any) -> Any:
    """What a step returns, with parts that a loop may carry for the arrays whose lengths the step found out."""
    if isinstance(value, Masked):
        value = as_value(context, value)
    if isinstance(value, tuple):
        return tuple.__new__(type(value), [returned_parts(context, member) for member in value])
    if not is_array(value) or context.elements is not None or not bare_array(value).shape:
        return value
    length, *rest = bare_array(value).shape
    inner = {name for inst in context.builder.insts for name in names_given(inst)} | context.steps
    if inner.isdisjoint(symbols(length)) or any(not inner.isdisjoint(symbols(dim)) for dim in rest):
        return value
    ends = ends_of(length, [(name, context.most[name] + 1, False) for name in _found_out(context, length)])
    if ends is None or any(not inner.isdisjoint(symbols(end)) for end in ends):
        return value
    part = Part(_with_room(context, value, greatest(ends)), as_value(context, dim_value(context, length)))
    return tuple.__new__(_behind(context), part)


def _found_out(context: Context, length: DimLike) -> list[str]:
    """The names in a length that were found out, and those in their limits, in the order in which they were."""
    names, left = set(), [*symbols(length)]
    while left:
        name = left.pop()
        if name in context.most and name not in names:
            names.add(name)
            left.extend(symbols(context.most[name]))
    return [name for name in context.most if name in names]


def _behind(context: Context) -> type[tuple[Any, ...]]:
    """The class of parts that become arrays behind a loop; see :func:`pytocu.frontend.state.rebuild`."""

    def array(_: Any, members: Iterable[Any]) -> Value:
        return behind_loop(context, Part(*members))

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
    """Whether arrays differ in length alone."""
    return a.dtype is b.dtype and len(a.shape) == len(b.shape) and a.shape[1:] == b.shape[1:]


def _group(context: Context, before: State, read: StepRead, length: DimLike) -> DimLike:
    """A length that arrays of the group have before the loop: steps compare them, which is done once then."""
    groups = {changing.group for changing in before.changing.values()}
    if length in groups:
        return length
    for inst in read.insts:
        if inst.op.name == "check" and inst.attr("kind") == "equal" and length in inst.attr("dims"):
            for group in groups.intersection(inst.attr("dims")):
                with context.builder.at(inst.loc):
                    context.builder.inst("check", (), dict(inst.attrs))
                return group
    return length


def _growth(context: Context, read: StepRead, more: DimLike) -> DimLike | None:
    """By how much an array grows in a step at most; None where that is not known before the loop."""
    if _surely(context, 0 - more):
        return 0
    for number in range(1, _FEW):
        if _surely(context, number - more):
            return number
    while found := [name for name in _added(more) if name in context.most]:
        more = substitute(more, {name: context.most[name] for name in found})
    return dim_max(more, 0) if _of_step(context, read).isdisjoint(symbols(more)) else None


def _of_step(context: Context, read: StepRead) -> set[str]:
    """The names of numbers that steps have."""
    return {name for inst in read.insts for name in names_given(inst)} | context.steps


def _added(dim: DimLike) -> list[str]:
    """The names in a polynomial that are added in it, and stand nowhere else there."""
    found: list[str] = []
    for monomial, factor in dim.terms if isinstance(dim, Dim) else ():
        if len(monomial) == 1 and factor > 0 and not monomial[0].args:
            name = monomial[0].name
            if name not in symbols(dim - factor * symbol(name)):
                found.append(name)
    return found


def _depends_on_run(context: Context, more: DimLike, besides: Sequence[str] = ()) -> bool:
    """Whether a number of run time decides how much longer an array gets, and may make it no longer."""
    return any((is_number(name) or name in context.most) and name not in besides for name in symbols(more))


def _surely(context: Context, dim: DimLike, facts: Sequence[DimLike] = ()) -> bool:
    """As :func:`pytocu.frontend.ranges.not_negative`, by what lengths that were found out and extremes of numbers may be."""
    if not_negative(dim, tuple(facts)):
        return True
    single = [(monomial[0], factor) for monomial, factor in (dim.terms if isinstance(dim, Dim) else ()) if len(monomial) == 1]

    def without(atom: Atom, factor: int) -> DimLike:
        return dim - factor * Dim((((atom,), 1),))

    extremes = [(atom, factor) for atom, factor in single if atom.name in ("max", "min")]
    # Whichever of its numbers it is, before what is any of its numbers.
    for each in (True, False):
        for atom, factor in extremes:
            if ((atom.name == "max") == (factor < 0)) is each:
                ways = (_surely(context, without(atom, factor) + factor * part, facts) for part in atom.args)
                return all(ways) if each else any(ways)
    for atom, factor in single:
        if atom.name == "//" and factor == -1 and isinstance(atom.args[1], int) and atom.args[1] > 0:
            # A quotient is at most a number where what is divided is below the next number times the divisor.
            return _surely(context, (without(atom, factor) + 1) * atom.args[1] - 1 - atom.args[0], facts)
        if not atom.args and factor < 0 and atom.name in context.most:
            return _surely(context, without(atom, factor) + factor * context.most[atom.name], facts)
    return False


def _with_room(context: Context, array: Value, room: DimLike) -> Value:
    """An array, and others behind its elements that nobody looks at."""
    length, *rest = bare_array(array).shape
    if length == room:
        return array
    zero = context.builder.const(0, scalar(element(array.type)))
    others = filled(context, zero, (room - length, *rest), blank=True)
    return context.builder.emit("concatenate", (array, others), {"axis": 0}, name=array.name)


def _length(context: Context, part: Part) -> DimLike:
    length = bound_count(context, part.count, new_name(context, "length"))
    context.most[str(length)] = bare_array(part.whole).shape[0]
    return length


def _shown(context: Context, whole: Value, length: DimLike) -> Value:
    """The first elements of an array."""
    size = (length, *bare_array(whole).shape[1:])
    attrs = {"start": (0,) * len(size), "step": (1,) * len(size), "size": size}
    return context.builder.emit("slice", (whole,), attrs, name=whole.name)


__all__ = ["Changing", "Part", "begin_step", "behind_loop", "carry", "end_step", "note_change", "regroup", "returned_parts"]
