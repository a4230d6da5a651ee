"""What the two sides of a branch hand on: names, memories, how they end, and what they return."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from pytocu.deferred import Deferred
from pytocu.errors import Loc, UnsupportedError
from pytocu.frontend.aliases import note_chosen
from pytocu.frontend.compaction import read_length
from pytocu.frontend.flags import both, negated
from pytocu.frontend.frames import Failing, Flow, Frame, Late, Unset, line_made, no_step
from pytocu.frontend.list_forms import alike
from pytocu.frontend.numbers import are_both_kinds, common_type, in_float64, item, of_type
from pytocu.frontend.ranges import bound_count, names_given, new_name
from pytocu.frontend.requirements import require, require_equal
from pytocu.frontend.state import State, flatten, members_alike, members_of, rebuild, same_form
from pytocu.frontend.type_texts import type_text, type_texts, unlike, way_out
from pytocu.frontend.values import Context, Grown, Masked, MaybeBound, Perhaps, as_strong, as_value, cast, dim_value, is_array
from pytocu.frontend.ways import note_ways, tests_of, with_tests
from pytocu.ir import promote, regions
from pytocu.ir.core import Inst, Value, named
from pytocu.ir.dims import Dim, DimLike, dim_max, is_number, symbol, symbols
from pytocu.ir.types import BOOL, I64, ArrayType, ScalarType, Type, WeakType, scalar, shape_of
from pytocu.record import Record

_ask = Deferred("pytocu.frontend.counted", "ask")
_joined = Deferred("pytocu.frontend.perhaps", "joined")
_zero = Deferred("pytocu.frontend.perhaps", "zero")
_one_side = Deferred("pytocu.frontend.unbound", "OneSide")
_may_be_handed_on = Deferred("pytocu.frontend.unbound", "may_be_handed_on")
_in_kind = Deferred("pytocu.frontend.unbound", "in_kind")
_is_strong = Deferred("pytocu.frontend.unbound", "is_strong")
_handed_on = Deferred("pytocu.frontend.lengths_of_sides", "handed_on")
_array_in_side = Deferred("pytocu.frontend.lengths_of_sides", "array_in_side")
_lists_in_parts = Deferred("pytocu.frontend.lengths_of_sides", "lists_in_parts")
_list_left = Deferred("pytocu.frontend.lengths_of_sides", "list_left")
_lists_with_rows = Deferred("pytocu.frontend.lengths_of_sides", "lists_with_rows")


class Side(Record):
    """One side of a branch, as it was read."""

    insts: list[Inst]
    flow: Flow
    state: State


class Merge:
    """What the two sides of a branch hand on: pairs of values of one type."""

    def __init__(self, context: Context, test: Value, sides: Sequence[Side]):
        self.context, self.test = context, test
        # Names of numbers that the host knows inside of a side only, and what the sides compute.
        self.inner: set[str] = set()
        self.made: set[Value] = set()
        # Of positions among these, the length of the axis.
        self.axes: dict[str, DimLike] = {}
        self.note([inst for side in sides for inst in side.insts])
        self.taken: DimLike | None = None
        self.lengths: dict[tuple[DimLike, DimLike], DimLike] = {}
        self.pairs: list[tuple[Value, Value]] = []
        self.names: list[str] = []
        self.put: list[Callable[[list[Value]], None]] = []
        self.known: list[tuple[Value, tuple[Any, ...], set[Value]]] = []
        self.places: dict[tuple[Any, ...], int] = {}
        # Arrays whose lengths the sides find out.
        self.handed: dict[tuple[Any, Any], Any] = {}
        # On a side, by its id, the arrays of what masks choose, by id.
        self.compacted: dict[tuple[int, int], Value] = {}
        # What decides in a side, and what stands for it behind the branch.
        self.tests: dict[Value, Value] = {}
        # What a side hands on where nobody looks at it.
        self.blanks: set[Value] = set()

    def note(self, insts: Sequence[Inst]) -> None:
        """Instructions of a side."""
        for inst in insts:
            self.made.update(inst.results)
            self.inner.update(names_given(inst))
            if inst.op.name == "bind" and inst.attr("length", None) is not None:
                self.axes.update(dict.fromkeys(inst.attr("names"), inst.attr("length")))

    def add_once(
        self,
        given: Sequence[tuple[Any, ...]],
        pairs: Sequence[tuple[Value, Value]],
        name: str,
        put: Callable[[list[Value]], None],
    ) -> None:
        """As :meth:`add`; what is `given` under several names is one array behind the branch, too."""
        places: list[int] = []
        for of_sides, pair in zip(given, pairs, strict=True):
            if of_sides not in self.places or not all(map(is_array, of_sides)):
                self.places[of_sides] = len(self.pairs)
                self.pairs.append(pair)
                self.names.append(name)
            places.append(self.places[of_sides])
        self.put.append(lambda results: put([results[place] for place in places]))

    def memories(self) -> list[tuple[Value, tuple[Any, ...], set[Value]]]:
        """Which memories the results may be; what a side makes is that of one result, but where it has several names there."""
        results: dict[Value, set[Value]] = {}
        for result, _, found in self.known:
            for memory in found & self.made:
                results.setdefault(memory, set()).add(result)
        own = {memory for memory, of in results.items() if len(of) == 1}
        return [(result, given, found - own) for result, given, found in self.known]

    def add(self, pairs: Sequence[tuple[Value, Value]], name: str, put: Callable[[list[Value]], None]) -> None:
        """Values to hand on, and what is done with the results."""
        start = len(self.pairs)
        self.pairs.extend(pairs)
        self.names.extend([name] * len(pairs))
        self.put.append(lambda results: put(results[start : start + len(pairs)]))

    def length(self, first: DimLike, second: DimLike) -> DimLike:
        """The length that the side which is taken has; the host knows it before the branch."""
        if first == second:
            return first
        if (first, second) not in self.lengths:
            context = self.context
            if self.taken is None and isinstance(self.test.type, WeakType):
                number = context.builder.emit("python_int", (self.test,))
                self.taken = bound_count(context, number, new_name(context, "side"))
            elif self.taken is None:
                self.taken = read_length(context, cast(context, self.test, I64), 1, "side")
            number = dim_value(context, second + self.taken * (first - second))
            self.lengths[first, second] = made = bound_count(context, number, new_name(context, "length"))
            context.most[str(made)] = dim_max(first, second)
        return self.lengths[first, second]

    def chosen(self, first: Type, second: Type) -> ArrayType | None:
        """The type of arrays whose lengths the side decides; None where they have one, are taken to, or no host knows them."""
        first, second = regions.bare(first), regions.bare(second)
        if not isinstance(first, ArrayType) or not isinstance(second, ArrayType) or self.context.elements is not None:
            return None
        if first.dtype is not second.dtype or len(first.shape) != len(second.shape) or self.hides(first, second):
            return None
        pairs = list(zip(first.shape, second.shape, strict=True))
        if not any(self._decides(*pair) for pair in pairs):
            return None
        return ArrayType(first.dtype, tuple(self.length(a, b) if self._decides(a, b) else a for a, b in pairs))

    def hides(self, first: Type, second: Type) -> bool:
        """Whether there is a length that is known on one side only."""
        return bool(named((*shape_of(first), *shape_of(second))) & self.inner)

    def _decides(self, first: DimLike, second: DimLike) -> bool:
        """Whether lengths differ with the side: those of arguments are taken to be equal where those of the call are."""
        if first == second:
            return False
        found = any(is_number(name) or name in self.context.most for name in named((first, second)))
        return found or not _may_be_equal(first, second) or (first, second) in self.context.apart


def _hand_tests(merge: Merge, sides: Sequence[Side], given: Sequence[tuple[Any, ...]]) -> None:
    """Hand on what decides in a side which array from before the branch a value is."""
    builder = merge.context.builder
    for of_sides in given if len(sides) == 2 else ():
        for k, value in enumerate(of_sides if len(of_sides) == 2 else ()):
            choice = builder.decided(builder.root(value)) if is_array(value) else None
            for test in choice[0] if choice is not None else ():
                if test in merge.made and test not in merge.tests:
                    merge.tests[test] = test
                    pair = _ordered(test, _blank_in(merge, sides[1 - k], test.type), k == 1)
                    merge.add([pair], "", lambda results, test=test: merge.tests.update({test: results[0]}))


def choice_of(context: Context, tests: Sequence[Value], arrays: Sequence[Value]) -> tuple[list[Value], list[Value]]:
    """What decides which of some arrays a result is, and these; of one that is one of several, those."""
    builder = context.builder
    more: list[Value] = []
    found: list[Value] = []
    for test, array in itertools.zip_longest(tests, arrays):
        inner, own = (builder.decided(array) if builder.numbered else None) or ((), (array,))
        more += inner if test is None else (as_value(context, both(context, test, one)) for one in inner)
        found += own
        if test is not None:
            more.append(test)
    return more, found


def note_choices(merge: Merge) -> None:
    """State of results which arrays from before the branch they are on each side, where that can be said behind it."""
    builder = merge.context.builder
    known: dict[tuple[Value, Value], Value] = {}

    def taken_and(test: Value) -> Value:
        if (merge.test, test) not in known:
            known[merge.test, test] = as_value(merge.context, both(merge.context, merge.test, test))
        return known[merge.test, test]

    for result, given, memories in merge.memories():
        ways = [_from_outside(merge, result, value, memories) if is_array(value) else None for value in given]
        if any(way is None for way in ways) or len(ways) != 2:
            # Of one that only the side which goes on has, nothing is known on the other.
            builder.known_as((result,), (value for value in given if is_array(value)))
            continue
        (tests, arrays), *rest = [way for way in ways if way is not None]
        for more, others in rest:
            tests = [*(taken_and(test) for test in tests), merge.test, *more]
            arrays = [*arrays, *others]
        if any(array is not result for array in arrays):
            builder.choose(result, tests, arrays)


def _from_outside(merge: Merge, result: Value, value: Value, memories: set[Value]) -> tuple[list[Value], list[Value]] | None:
    """Arrays from before the branch that a value may be, the result for one that a side makes, and what decides.

    None where that is not known.
    """
    builder = merge.context.builder
    if value not in merge.made:
        return choice_of(merge.context, (), (value,))
    root, views = builder.root(value), builder.views(value)
    decided = builder.decided(root) if root in merge.made else ((), (root,))
    if decided is None:
        return ([], [result]) if _is_own(merge, root, memories) else None
    tests, arrays = decided
    if value is root:
        # What the side makes is in the result, too, also what a branch in it makes, which that one's result stands for.
        own = [root not in memories if array is root else _is_own(merge, array, memories) for array in arrays]
        arrays = [result if mine else array for array, mine in zip(arrays, own, strict=True)]
    outside = [array if array is result else _view_outside(merge, array) for array in arrays]
    if _is_of_side(merge, views) or None in outside or not all(t in merge.tests for t in tests if t in merge.made):
        return None
    return (
        [merge.tests.get(test, test) for test in tests],
        [array if array is result else builder.same_view(value, array) for array in outside if array is not None],
    )


def _view_outside(merge: Merge, array: Value) -> Value | None:
    """An array from before the branch, or a view of one that a side makes, as it is behind the branch."""
    builder = merge.context.builder
    if array not in merge.made:
        return array
    root = builder.root(array)
    return None if root in merge.made or _is_of_side(merge, builder.views(array)) else builder.same_view(array, root)


def _is_of_side(merge: Merge, views: Sequence[Inst]) -> bool:
    """Whether a side has what says which elements views are of."""
    return any(named(attr) & merge.inner for view in views for _, attr in view.attrs) or any(len(v.args) > 1 for v in views)


def _is_own(merge: Merge, array: Value, memories: set[Value]) -> bool:
    """Whether a side makes the memory of an array for one result alone."""
    builder = merge.context.builder
    root = builder.root(array)
    # One that was chosen stands for what was made where it was.
    found = builder.made_memories(root) if builder.numbered else builder.memories(root)
    return root in merge.made and root not in memories and (found - merge.made).isdisjoint(memories)


def merge_names(merge: Merge, before: State, sides: list[Side]) -> None:
    missing = Unset("", "")
    leaving = [side.flow.returned is True for side in sides]
    raising = any(isinstance(side.flow.value, Failing) for side in sides)
    own = before.own_frames()
    for number, frame in enumerate(before.frames):
        found = [side.state.locals[number] for side in sides]
        # Names of the functions around this one, and lists and dicts, are of use to who called it, too.
        ends = leaving[0] != leaving[1] and (raising or number < own)
        frame.locals.clear()
        for name in dict.fromkeys([*found[0], *found[1]]):
            values = [f.get(name, missing) for f in found]
            if values[0] is values[1]:
                frame.locals[name] = values[0]
            elif ends and not _is_moved(merge, before.locals[number].get(name), values):
                # Only one side goes on from here.
                stays = leaving.index(False)
                if values[stays] is not missing:
                    frame.locals[name] = values[stays]
                    _merge_one(merge, frame, name, values[stays], sides, stays)
            else:
                frame.locals[name] = _merged(merge, frame, name, values, sides, missing)


def _or_static(merge: Merge) -> str:
    """What else to write where nothing but Python scalars among the arguments decides a branch; otherwise nothing."""
    names: set[str] = set()
    stack = [merge.test]
    while stack:
        value = stack.pop()
        if value in merge.context.given and value.name and isinstance(value.type, WeakType):
            names.add(value.name)
        elif value.inst is not None and (value.inst.args or value.inst.op.kind == "const") and not value.inst.regions:
            stack.extend(value.inst.args)
        else:
            return ""
    return f", or name {' and '.join(sorted(names))} in @jit(static=(...))" if names else ""


def _is_moved(merge: Merge, before: Any, values: Sequence[Any]) -> bool:
    """Whether the side that goes on gives a name another array from before: what its memory holds is asked for behind both.

    So it is where that array is a new one, and loops carry which memory each name has.
    """
    builder = merge.context.builder
    if not is_array(before) or not any(value is before for value in values) or not all(map(is_array, values)):
        return False
    if builder.numbered and len({regions.bare(value.type) for value in values}) == 1:
        return True
    return all(builder.root(value) not in merge.made for value in values)


def _merge_one(merge: Merge, frame: Frame, name: str, value: Any, sides: list[Side], stays: int) -> None:
    """Hand on what a name holds on the side that goes on."""
    builder = merge.context.builder
    leaves: list[Any] = []
    if isinstance(value, Grown) and builder.root(value.rows) in merge.made:
        members = _list_left(merge, sides[stays], value)
        if members is None:
            text = f"{name} is a list with other names, or with members that have, which one side of a branch makes"
            frame.locals[name] = Unset(f"{text}, and the other one ends the loop or function", "make it before the branch")
            return
    else:
        members = _in_parts(sides[stays], members_of(merge.context, value, sides[stays].state.known_containers()))
    form = flatten(members, leaves)
    if any(isinstance(v, Value) for v in leaves):
        cut = _cut_off_one(merge, sides, leaves, name, stays)
        if cut is None:
            text = f"{name} gets a shape that one side of a branch finds out, and the other one ends the loop or the function"
            frame.locals[name] = Unset(text, f"give {name} that shape before the branch, or end behind it")
            return
        leaves = [v for k, v in enumerate(leaves) if k not in cut]
        made = [_in_side(merge, sides[stays], v) for v in leaves]
        pairs = [_ordered(m, _blank_in(merge, sides[1 - stays], regions.bare(m.type)), stays == 1) for m in made]
        given = [(v,) for v in leaves]
        put = _known_memories(merge, given)

        def held(results: Sequence[Value]) -> None:
            frame.locals[name] = rebuild(form, beside(put(results), cut))

        merge.add_once(given, pairs, name, held)


def _merged(merge: Merge, frame: Frame, name: str, values: list[Any], sides: list[Side], missing: Unset) -> Any:
    """What a name holds behind a branch; None until the results are there."""
    for number, value in enumerate(values):
        if isinstance(value, Late):
            with _at_end(merge, sides[number]):
                values[number] = value.read(merge.context, no_step(name))
    for value in values:
        if isinstance(value, Unset) and value is not missing:
            return value
    given: Any = None
    if any(value is missing or isinstance(value, MaybeBound) for value in values):
        ways = _with_unbound(merge, name, values, sides, missing)
        if isinstance(ways, Unset):
            return ways
        given, values = ways
    values, anew, forms, parts = _in_one_form(merge, sides, values)
    if not same_form(*forms):
        for value, other in (values, values[::-1]):
            if isinstance(value, Grown) and isinstance(other, list) and value.inner is None and isinstance(value.type, Type):
                with merge.context.builder.nested():
                    _ask(merge.context, other, [*other, blank(merge.context, value.type)])
            elif type(value) is list and type(other) is list and _grows(merge.context, value):
                # A step that makes it longer binds its name to another list.
                _ask(merge.context, value, [*value, *other])
        first, second, help = unlike(name, *values)
        return Unset(
            f"{name} is {first} on one side of a branch{line_made(values[0])} and {second} on the other{line_made(values[1])}, "
            "and the side is chosen at run time",
            help + " on both sides" * help.endswith("one kind") + _or_static(merge),
        )
    others = [v for side, v in zip(sides, values, strict=True) if not side.state.is_own(v)] if anew else []

    _hand_tests_of_ways(merge, sides, values)

    def held(leaves: list[Any]) -> Any:
        value = rebuild(forms[0], leaves)
        _note_chosen(merge, sides, others, value, values)
        return value if given is None else MaybeBound(given, value)

    if given is None and all(_equal(a, b) for a, b in zip(*parts, strict=True)):
        return held(parts[0]) if anew else values[0]
    pairs: list[tuple[Value, Value]] = []
    differs: tuple[Value, Value, Any, Any] | None = None
    cut = _cut_off(merge, sides, parts, name)
    handed = [pair for k, pair in enumerate(zip(*parts, strict=True)) if k not in cut]
    for a, b in handed:
        first, second = _agreed(merge, sides, a, b)
        if differs is None and regions.bare(first.type) != regions.bare(second.type):
            differs = first, second, a, b
        pairs.append((first, second))
    if differs is not None:
        first, second, a, b = differs
        texts = type_texts(first.type, second.type)
        return Unset(
            f"{name} is {texts[0]} on one side of a branch{line_made(a)} and "
            f"{texts[1]} on the other{line_made(b)}, and the side is chosen at run time",
            way_out(first.type, second.type, sides=True) + _or_static(merge),
            types=[(regions.bare(x.type), regions.bare(y.type)) for x, y in pairs],
        )
    _hand_tests(merge, sides, list(zip(*parts, strict=True)))
    put = _known_memories(merge, handed)
    merge.add_once(handed, pairs, name, lambda results: frame.locals.update({name: held(beside(put(results), cut))}))
    return None


def _grows(context: Context, held: list[Any]) -> bool:
    """Whether a list from before a loop that is being read has become longer there."""
    known = (pair for loop in context.growing for pair in loop.state.containers)
    return any(container is held and len(copy) < len(held) for container, copy in known)


def _hand_tests_of_ways(merge: Merge, sides: Sequence[Side], values: Sequence[Any]) -> None:
    """Hand on what decides in a side which of the arguments a list, dict or object is."""
    for k, value in enumerate(values):
        for test in tests_of(merge.context, value):
            if test in merge.made and test not in merge.tests:
                merge.tests[test] = test
                pair = _ordered(test, _blank_in(merge, sides[1 - k], test.type), k == 1)
                merge.add([pair], "", lambda results, test=test: merge.tests.update({test: results[0]}))


def _note_chosen(merge: Merge, sides: Sequence[Side], others: Sequence[Any], made: Any, values: Sequence[Any]) -> None:
    """Remember what the lists, dicts and objects in a result are: those of `values` of both sides, or `others` may be."""
    context = merge.context
    note_chosen(context, others, made)
    for value in values:
        with_tests(context, value, merge.tests)
    if values:
        note_ways(context, merge.test, made, values, [side.state.members for side in sides])


def _in_one_form(
    merge: Merge, sides: list[Side], values: Sequence[Any], how: str = "bound"
) -> tuple[list[Any], bool, list[Any], list[list[Any]]]:
    """What both sides leave, whether that is made anew of what lists and dicts hold, and its forms and leaves."""
    values = _nones_joined(merge, sides, list(values), how)
    values = list(_lists_with_rows(merge, sides, *_without_masks(merge, sides, *values), how))
    parts: list[list[Any]] = [[], []]
    alike = members_alike(*values, *(side.state for side in sides))
    forms = [flatten(value, part) for value, part in zip(alike or values, parts, strict=True)]
    return values, alike is not None, forms, parts


def _nones_joined(merge: Merge, sides: list[Side], values: list[Any], how: str) -> list[Any]:
    """What both sides leave, also in tuples, as a value and whether there is one where a side has None."""
    if any(value is None or isinstance(value, Perhaps) for value in values):
        return _with_none(merge, sides, values, how) or values
    first, second = values
    if type(first) is not tuple or type(second) is not tuple or len(first) != len(second):
        return values
    pairs = list(zip(first, second, strict=True))
    made = [_nones_joined(merge, sides, list(pair), how) for pair in pairs]
    if all(a is b for pair, one in zip(pairs, made, strict=True) for a, b in zip(pair, one, strict=True)):
        return values
    return [tuple(one[0] for one in made), tuple(one[1] for one in made)]


def _with_unbound(
    merge: Merge, name: str, values: list[Any], sides: list[Side], missing: Unset
) -> Unset | tuple[Any, list[Any]]:
    """What a name holds that is or may be unbound on a side: in one form, or what says whether it is bound, and the values."""
    context = merge.context
    text = f"{name} is assigned on one side of a branch only, and the side is chosen at run time"
    refused = Unset(text, "assign it on both sides" + _or_static(merge))
    held = [value.value if isinstance(value, MaybeBound) else value for value in values]
    # Of what a mask chooses there are no zeros.
    held = [_array_in_side(merge, side, v) if isinstance(v, Masked) else v for side, v in zip(sides, held, strict=True)]
    model = next(value for value in held if value is not missing)
    key = _one_side(context.loc, name)
    if not _may_be_handed_on(model):
        return refused
    if key not in context.handed and not any(isinstance(value, MaybeBound) for value in values):
        return Unset(refused.message, refused.help, key)
    if missing in held:
        leaves: list[Any] = []
        form = flatten(model, leaves)
        number = held.index(missing)
        held[number] = rebuild(form, [_zeros(merge, sides[number], leaf) for leaf in leaves])
    given = [value.given if isinstance(value, MaybeBound) else value is not missing for value in values]
    if given[0] is given[1]:
        return given[0], held
    if all(isinstance(flag, bool) for flag in given):
        return merge.test if given[0] else negated(context, merge.test), held
    if any(map(_is_strong, given)):
        for k, side in enumerate(sides):
            with _at_end(merge, side):
                given[k] = _in_kind(context, given[k], True)
    return None, [MaybeBound(flag, value) for flag, value in zip(given, held, strict=True)]


def _without_masks(merge: Merge, sides: list[Side], a: Any, b: Any) -> list[Any]:
    """What the sides leave, with arrays for what a mask chooses where they leave other arrays."""
    if a is not b and isinstance(a, tuple) and type(a) is type(b) is tuple and len(a) == len(b):
        members = [_without_masks(merge, sides, x, y) for x, y in zip(a, b, strict=True)]
        return [tuple(pair[0] for pair in members), tuple(pair[1] for pair in members)]
    masked = any(isinstance(v, Masked) for v in (a, b)) and all(isinstance(v, Masked) or is_array(v) for v in (a, b))
    if a is b or not masked or merge.context.elements is not None:
        return [a, b]
    return [_array_in_side(merge, side, value) for side, value in zip(sides, (a, b), strict=True)]


class _OfMasked(tuple[Any, ...]):
    """An array and the mask that chooses of it, both made on a side."""

    @classmethod
    def _make(cls, members: Iterable[Any]) -> Masked:
        return Masked(*members)


def _in_parts(side: Side, value: Any) -> Any:
    """What a side alone leaves, with the array and the mask of what a mask chooses there."""
    if isinstance(value, tuple):
        return tuple.__new__(type(value), [_in_parts(side, member) for member in value])
    if not isinstance(value, Masked):
        return value
    if value.elements is not None:
        return value.elements
    own = {result for inst in side.insts for result in inst.results}
    return value if own.isdisjoint((value.array, value.mask)) else _OfMasked((value.array, value.mask))


def _cut_off(merge: Merge, sides: list[Side], parts: Sequence[Sequence[Any]], name: str) -> dict[int, Value]:
    """Places of arrays whose lengths the sides find out, where the arrays are put when the results are there."""
    made: dict[int, Any] = {}
    for k, (a, b) in enumerate(zip(*parts, strict=True)):
        if not is_array(a) or not is_array(b) or not merge.hides(a.type, b.type):
            continue
        if (found := merge.handed.get((a, b))) is None and (found := _handed_on(merge, sides, (a, b))) is None:
            continue
        made[k] = None
        if (a, b) not in merge.handed:
            merge.handed[a, b] = found
            merge.add(found.pairs, name, lambda results, found=found: merge.known.append(found.read(results, name)))
        merge.put.append(lambda results, k=k, found=found: made.update({k: found.array}))
    return made


def _cut_off_one(merge: Merge, sides: list[Side], leaves: Sequence[Any], name: str, stays: int) -> dict[int, Value] | None:
    """As `_cut_off`, of what the side leaves that goes on alone: the other one has no elements.

    None where nobody knows what they are not above.
    """
    places: list[int] = []
    pairs: list[tuple[Value, Value]] = []
    for k, value in enumerate(leaves):
        type = regions.bare(value.type) if isinstance(value, Value) else None
        if isinstance(type, ArrayType) and merge.hides(type, type):
            none = _blank_in(merge, sides[1 - stays], _without_elements(merge, type))
            places.append(k)
            pairs.append(_ordered(value, none, stays == 1))
    if not pairs:
        return {}
    made = _cut_off(merge, sides, list(zip(*pairs, strict=True)), name)
    if len(made) < len(pairs):
        return None
    cut: dict[int, Any] = dict.fromkeys(places)
    merge.put.append(lambda results: cut.update({place: made[k] for k, place in enumerate(places)}))
    return cut


def beside(results: Sequence[Value], cut: Mapping[int, Value]) -> list[Value]:
    """All leaves in order."""
    left = iter(results)
    return [cut[k] if k in cut else next(left) for k in range(len(results) + len(cut))]


def _with_none(merge: Merge, sides: list[Side], values: list[Any], how: str) -> list[Any] | None:
    """What the sides leave, of which one may have None, in one form; None where there is none."""
    if (lists := _lists_or_none(merge, sides, values, how)) is not None:
        return lists
    leaves: list[Any] = []
    flatten(tuple(values), leaves)
    if any(isinstance(leaf, Value) and merge.hides(leaf.type, leaf.type) for leaf in leaves):
        return None
    found = _joined(*values, lambda number, leaf: _zeros(merge, sides[number], leaf))
    return None if found is None else list(found)


def _lists_or_none(merge: Merge, sides: list[Side], values: list[Any], how: str) -> list[Any] | None:
    """The same where a side has a list that a run has made: the other has an empty one, at which nobody looks."""
    held = [value.value if isinstance(value, Perhaps) else value for value in values]
    if not any(isinstance(one, Grown) for one in held):
        return None
    found = alike(merge.context, *_lists_with_rows(merge, sides, *([] if one is None else one for one in held), how))
    given = [value.given if isinstance(value, Perhaps) else value is not None for value in values]
    return None if found is None else [Perhaps(*pair) for pair in zip(given, found, strict=True)]


def _without_elements(merge: Merge, type: ArrayType) -> ArrayType:
    """A type whose lengths are 0 where sides find them out."""
    return ArrayType(type.dtype, tuple(0 if named((length,)) & merge.inner else length for length in type.shape))


def _zeros(merge: Merge, side: Side, leaf: Any) -> Any:
    """What nobody looks at, of the type of a number or array of the other side; empty where that side finds out a length."""
    if not isinstance(leaf, Value):
        return _zero(leaf)
    before = len(side.insts)
    type = regions.bare(leaf.type)
    made = _blank_in(merge, side, _without_elements(merge, type) if isinstance(type, ArrayType) else type)
    merge.made.update(result for inst in side.insts[before:] for result in inst.results)
    return made


def _agreed(merge: Merge, sides: list[Side], a: Any, b: Any) -> tuple[Value, Value]:
    """The values as ones of one type: arrays of the lengths of the side that is taken, numbers in a vectorized function."""
    first = _in_side(merge, sides[0], a)
    second = _in_side(merge, sides[1], b)
    chosen = merge.chosen(first.type, second.type)
    if chosen is not None:
        first, second = (_as_taken(merge, side, v, chosen) for side, v in zip(sides, (first, second), strict=True))
    if not merge.hides(first.type, second.type):
        second = in_region(merge.context, sides[1].insts, sides[1].state, second, regions.bare(first.type))
    common = common_type(merge.context, first.type, second.type)
    if first.type == second.type:
        return first, second
    if common is None and not are_both_kinds(merge.context, (first, second)):
        return first, second
    made: list[Value] = []
    for side, value in zip(sides, (first, second), strict=True):
        with _at_end(merge, side):
            made.append(in_float64(merge.context, value) if common is None else of_type(merge.context, value, common))
    return made[0], made[1]


def is_result(context: Context) -> bool:
    """Whether what the function that is read returns goes to arrays, which have one dtype for what all ways return."""
    return context.elements is not None and len(context.frames) == context.results_at


def _as_results(merge: Merge, sides: list[Side], first: Value, second: Value) -> tuple[Value, Value]:
    """Numbers that are elements of one array: of the dtype of both, as they would be in ``np.array([first, second])``."""
    types = first.type, second.type
    if types[0] == types[1] or any(not isinstance(t, ScalarType | WeakType) for t in types):
        return first, second
    dtype = promote.result_dtype((promote.operand(types[0]), promote.operand(types[1])))
    made: list[Value] = []
    for side, value in zip(sides, (first, second), strict=True):
        with _at_end(merge, side):
            weak = isinstance(value.type, WeakType)
            made.append(of_type(merge.context, value, scalar(dtype)) if weak else cast(merge.context, value, dtype))
    return made[0], made[1]


def _as_taken(merge: Merge, side: Side, value: Value, type: ArrayType) -> Value:
    """An array with the lengths that are those of this side where it is taken; the host, which decides, looks at them."""
    context = merge.context
    with _at_end(merge, side):
        for a, b in zip(type.shape, shape_of(value.type), strict=True):
            if a in merge.lengths.values():
                require_equal(context, a, b, "UnsupportedError", _DIFFER, help=_OF_ONE_SHAPE)
        zeros, ones = (0,) * len(type.shape), (1,) * len(type.shape)
        mixed = tuple(a if a in merge.lengths.values() else b for a, b in zip(type.shape, shape_of(value.type), strict=True))
        return context.builder.emit("slice", (value,), {"start": zeros, "step": ones, "size": mixed})


def _known_memories(merge: Merge, given: Sequence[tuple[Any, ...]]) -> Callable[[Sequence[Value]], list[Value]]:
    """Notes of results which memories they may be; `given` are the values of the sides."""
    builder = merge.context.builder
    found = [{m for v in values if is_array(v) for m in builder.memories(v)} for values in given]

    def note(results: Sequence[Value]) -> list[Value]:
        merge.known.extend(zip(results, given, found, strict=True))
        return list(results)

    return note


def _ordered(value: Value, blank: Value, swap: bool) -> tuple[Value, Value]:
    return (blank, value) if swap else (value, blank)


def _equal(a: Any, b: Any) -> bool:
    """Whether both sides leave one and the same value."""
    if a is b:
        return True
    return not isinstance(a, Value) and not isinstance(b, Value) and type(a) is type(b) and repr(a) == repr(b)


def _in_side(merge: Merge, side: Side, value: Any) -> Value:
    """A value as the instructions of a side see it at the end: what an array holds there."""
    return in_region(merge.context, side.insts, side.state, value)


def in_region(context: Context, insts: list[Inst], state: State, value: Any, type: Type | None = None) -> Value:
    """A value at the end of a region that was read: a constant is written there, an array is what it holds there.

    With `type`, lengths are those of that type.
    """
    with at_end(context, insts, state):
        made = context.builder.contents(as_value(context, value))
        return made if type is None else restated(context, made, type)


@contextmanager
def at_end(context: Context, insts: list[Inst], state: State) -> Iterator[None]:
    """Write at the end of a region that was read, where memories hold what they do there."""
    builder = context.builder
    now = builder.state()
    builder.go_back(state.storage)
    try:
        with builder.behind(insts):
            yield
    finally:
        state.storage = builder.state()
        builder.go_back(now)


def _at_end(merge: Merge, side: Side):
    return at_end(merge.context, side.insts, side.state)


def _blank_in(merge: Merge, side: Side, type: Type) -> Value:
    """A value that nobody looks at."""
    with _at_end(merge, side):
        made = blank(merge.context, type)
    merge.blanks.add(made)
    return made


def may_be_one(first: Type, second: Type) -> bool:
    """Whether two types are one where lengths that are known only at run time are equal."""
    first, second = regions.bare(first), regions.bare(second)
    if first == second:
        return True
    if not isinstance(first, ArrayType) or not isinstance(second, ArrayType):
        return False
    if first.dtype is not second.dtype or len(first.shape) != len(second.shape):
        return False
    return all(a == b or _may_be_equal(a, b) for a, b in zip(first.shape, second.shape, strict=True))


def _may_be_equal(a: DimLike, b: DimLike) -> bool:
    """Whether lengths that are not the same expression may be equal: those of different arrays are, where these meet.

    The length of an argument may be a number known now, but for 1, which is known of it.
    """
    if isinstance(a, Dim) and isinstance(b, Dim):
        return symbols(a) != symbols(b)
    dim, number = (a, b) if isinstance(a, Dim) else (b, a)
    return isinstance(dim, Dim) and number != 1 and dim in map(symbol, symbols(dim))


_DIFFER = "lengths {0} and {1} of a value that a loop or branch hands on differ"
_OF_ONE_SHAPE = "give what has another shape a name of its own, or name the argument that decides in @jit(static=...)"


def restated(context: Context, value: Value, type: Type) -> Value:
    """An array with the lengths that another type states; the call compares them."""
    found = regions.bare(value.type)
    if not isinstance(found, ArrayType) or not isinstance(type, ArrayType) or found == type or not may_be_one(found, type):
        return value
    for a, b in zip(type.shape, found.shape, strict=True):
        require_equal(context, a, b, "UnsupportedError", _DIFFER, broadcast=True, help=_OF_ONE_SHAPE)
    zeros, ones = (0,) * len(type.shape), (1,) * len(type.shape)
    return context.builder.emit("slice", (value,), {"start": zeros, "step": ones, "size": type.shape})


def blank(context: Context, type: Type) -> Value:
    """Zeros of a type."""
    if not isinstance(type, ArrayType):
        return context.builder.const(0, type)
    zero = context.builder.const(0, scalar(type.dtype))
    axes = tuple(range(len(type.shape)))
    if not axes:
        return context.builder.emit("as_array", (zero,))
    return context.builder.emit("broadcast", (zero,), {"shape": type.shape, "expand": axes, "ndim": 0})


def merge_memories(merge: Merge, before: State, sides: list[Side]) -> None:
    builder = merge.context.builder
    known = before.storage[0]
    for side in sides:
        builder.doubt(side.state.storage)
    roots = dict.fromkeys(r for side in sides for r in side.state.storage[0])
    for root in roots:
        held = [side.state.storage[0].get(root, root) for side in sides]
        if held[0] is held[1]:
            if held[0] is not known.get(root, root):
                builder.replace(root, held[0])
            continue
        if any(root in inst.results for side in sides for inst in side.insts):
            # Memory that a side makes; where it is handed on, its contents are.
            continue
        if regions.bare(held[0].type) != regions.bare(held[1].type):
            continue
        merge.add([(held[0], held[1])], root.name, lambda results, root=root: builder.replace(root, results[0]))


def merge_flows(merge: Merge, test: Value, sides: list[Side]) -> Any:
    """The signal of the whole, or a function that gives it when the results are there."""
    context = merge.context
    flows = [side.flow for side in sides]
    out: dict[str, Any] = {"value": None}
    for kind in ("broke", "returned"):
        flags = [getattr(flow, kind) for flow in flows]
        if isinstance(flags[0], bool) and flags[0] is flags[1]:
            out[kind] = flags[0]
            continue
        raises = [kind == "returned" and flow.returned is True and isinstance(flow.value, Failing) for flow in flows]
        if any(raises):
            # Whoever asks how the branch ended comes upon what is required.
            flags = [_failing_in(merge, s, scalar(BOOL)) if r else f for s, r, f in zip(sides, raises, flags, strict=True)]
        if all(isinstance(flag, bool) for flag in flags):
            out[kind] = test if flags[0] else negated(context, test)
            continue
        made = [_in_side(merge, side, flag) for side, flag in zip(sides, flags, strict=True)]
        if made[0].type != made[1].type:
            made = [_strong_in(merge, side, value) for side, value in zip(sides, made, strict=True)]
        merge.add([(made[0], made[1])], "", lambda results, kind=kind: out.update({kind: results[0]}))
        out[kind] = None
    returning = [k for k, flow in enumerate(flows) if flow.returned is not False]
    if returning:
        _merge_values(merge, sides, flows, returning, out)
    loc = next((flow.loc for flow in flows if flow.loc is not None), None)
    what = next((flow.what for flow in flows if flow.what), "")
    return lambda: Flow(out["broke"], out["returned"], out["value"], loc, what).signal()


def _failing_in(merge: Merge, side: Side, type: Type) -> Value:
    """A value of a type that the side which raises has instead of one."""
    context = merge.context
    failing: Failing = side.flow.value
    strong = scalar(promote.strong(type))
    with _at_end(merge, side), context.builder.at(failing.loc):
        false = context.builder.const(False, scalar(BOOL))
        made = require(context, context.builder.const(1, strong), false, failing.error, failing.sentence, said=failing.parts)
        return item(context, made) if isinstance(type, WeakType) else made


def _strong_in(merge: Merge, side: Side, value: Value) -> Value:
    with _at_end(merge, side):
        return as_strong(merge.context, value)


def _merge_values(merge: Merge, sides: list[Side], flows: list[Flow], returning: list[int], out: dict[str, Any]) -> None:
    """The value that is returned."""
    context = merge.context
    failing = [k for k in returning if isinstance(flows[k].value, Failing)]
    if len(failing) == len(returning):
        out["value"] = flows[returning[0]].value
        return
    parts: list[list[Any]] = [[], []]
    cut: dict[int, Value] = {}
    # What is returned on one way alone, or on both, and is there in front of the branch, is that array behind it, too.
    kept: dict[int, Value] = {}
    # Lists and dicts that a side makes are made anew behind it, of what they hold.
    if len(returning) == 2 and not failing:
        how = "given" if any(flow.what for flow in flows) else "returned"
        values, _, forms, parts = _in_one_form(merge, sides, [flow.value for flow in flows], how)
        _hand_tests_of_ways(merge, sides, values)
    else:
        values = []
        given = [members_of(context, f.value, side.state.known_containers()) for f, side in zip(flows, sides, strict=True)]
        given = [_lists_in_parts(merge, s, _in_parts(s, value)) for s, value in zip(sides, given, strict=True)]
        forms = [flatten(value, part) for value, part in zip(given, parts, strict=True)]
    if len(returning) == 2 and failing:
        (k,) = (k for k in returning if k not in failing)
        form = forms[k]
        made = [_in_side(merge, sides[k], v) for v in parts[k]]
        other = _failing_in if flows[1 - k].returned is True else _blank_in
        pairs = [_ordered(m, other(merge, sides[1 - k], m.type), k == 1) for m in made]
    elif len(returning) == 2:
        if not same_form(*forms):
            first, second, _ = unlike("", *(flow.value for flow in flows))
            raise UnsupportedError(
                f"{_what(flows)} {first}{_line_text(flows[0])} or {second}{_line_text(flows[1])}, "
                "and which of them is known only at run time",
                _last(flows) or context.loc,
                _way_back(merge, flows[0].what, *(flow.value for flow in flows)),
            )
        form = forms[0]
        pairs = []
        kept = {place: a for place, (a, b) in enumerate(zip(*parts, strict=True)) if a is b and is_array(a)}
        parts = [[v for place, v in enumerate(part) if place not in kept] for part in parts]
        cut = _cut_off(merge, sides, parts, "")
        _hand_tests(merge, sides, [(parts[0][k], parts[1][k]) for k in cut])
        parts = [[v for k, v in enumerate(part) if k not in cut] for part in parts]
        for a, b in zip(*parts, strict=True):
            made = _agreed(merge, sides, a, b)
            if is_result(context) and not flows[0].what:
                made = _as_results(merge, sides, *made)
            types = [regions.bare(m.type) for m in made]
            if types[0] != types[1]:
                texts = [f"{type_text(t)}{_line_text(f)}" for t, f in zip(types, flows, strict=True)]
                raise UnsupportedError(
                    f"{_what(flows)} {texts[0]} or {texts[1]}, and which of them is known only at run time",
                    _last(flows) or context.loc,
                    way_out(types[0], types[1], sides=True) + _or_static(merge) * bool(flows[0].what),
                )
            pairs.append((made[0], made[1]))
    else:
        (k,) = returning
        form = forms[k]
        made_there = {result for inst in sides[k].insts for result in inst.results}
        kept = {place: v for place, v in enumerate(parts[k]) if is_array(v) and v not in made_there}
        parts[k] = [v for place, v in enumerate(parts[k]) if place not in kept]
        one = _cut_off_one(merge, sides, parts[k], "", k)
        if one is None:
            text = f"{_what(flows)} an array whose shape is found out where it is returned, on one way of several"
            raise UnsupportedError(text, _last(flows) or context.loc, "return it behind the branch or loop")
        cut = one
        parts[k] = [v for place, v in enumerate(parts[k]) if place not in cut]
        made = [_in_side(merge, sides[k], v) for v in parts[k]]
        pairs = [_ordered(m, _blank_in(merge, sides[1 - k], regions.bare(m.type)), k == 1) for m in made]
    # A side that raises returns nothing.
    ways = [k for k in returning if k not in failing]
    leaves_of_ways = list(zip(*(parts[k] for k in ways), strict=True))
    _hand_tests(merge, sides, leaves_of_ways)
    put = _known_memories(merge, leaves_of_ways)
    others = [flows[k].value for k in ways if not sides[k].state.is_own(flows[k].value, "stays" if flows[k].what else "leaves")]

    def returned(leaves: list[Value]) -> Any:
        value = rebuild(form, beside(beside(leaves, cut), kept))
        # Besides the caller a list or dict from before holds it.
        _note_chosen(merge, sides, others, value, values)
        return value

    if not pairs and not cut:
        # What is known now is handed on by no instruction.
        out["value"] = returned([])
    add = merge.add if len(returning) == 1 or failing else partial(merge.add_once, leaves_of_ways)
    add(pairs, "", lambda results: out.update(value=returned(put(results))))


def _what(flows: Sequence[Flow]) -> str:
    """Of what a value is the value."""
    return f"{flows[0].what} gives" if flows[0].what else "the function returns"


def _way_back(merge: Merge, what: str, *values: Any) -> str:
    """What to write where a function, or an expression that is no function, has this or that value."""
    if what and any(isinstance(value, Grown) for value in values):
        return "give a copy of a list that has a name: list(...)"
    if any(value is None for value in values):
        give = "give" if what else "return"
        return f"{give} a number that says so in place of None: np.nan, or -1 for a position"
    return f"give values of one kind on both sides{_or_static(merge)}" if what else "return values of one kind on each"


def _last(flows: Sequence[Flow]) -> Loc | None:
    """Of ways that end in a return, the place of the one that stands last."""
    return max((flow.loc for flow in flows if flow.loc is not None), key=lambda loc: (loc.line, loc.column), default=None)


def _line_text(flow: Flow) -> str:
    return "" if flow.loc is None else f" (line {flow.loc.line})"
