"""What a piece of the user's program may change while it is read, so that it can be read again.

The two sides of a branch begin with the same state, and so does every reading of a loop's body.  Names are
taken from the function that is read and from those around it.  What lists, dicts and objects with known attributes hold is
taken for names, too, which are ``list[0]``, ``dict['key']`` and ``object.name``; how many they hold is known while compiling.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, MutableMapping, Sequence
from functools import lru_cache
from operator import is_
from typing import Any, NamedTuple

from pytocu.deferred import Deferred
from pytocu.errors import Loc, UnsupportedError
from pytocu.frontend.aliases import inside_of, is_container, related, scopes
from pytocu.frontend.frames import Frame, Late, Scope, Unset, no_step
from pytocu.frontend.list_forms import OfGrown, alike, holding
from pytocu.frontend.objects import IN_LISTS, is_object, note_object
from pytocu.frontend.storage import HandOn
from pytocu.frontend.values import Context, Counted, Grown, Masked, MaybeBound, Members, Perhaps, is_number
from pytocu.ir.core import Value
from pytocu.ir.dims import DimLike
from pytocu.ir.types import WEAK_ORDER, WeakType
from pytocu.record import Record
from pytocu.trees import made

_ask = Deferred("pytocu.frontend.counted", "ask")
_ask_grown = Deferred("pytocu.frontend.counted", "ask_grown")
_as_carried = Deferred("pytocu.frontend.perhaps", "as_carried")

LEAF = "leaf"


class Wanted(NamedTuple):
    """That a list is one whose length a run decides from a loop on; see `pytocu.frontend.counted`.

    Attributes
    ----------
    place : Loc
        The loop.
    name : str
    type : Type
        Of each member.
    inner : Held or None
    branch : bool
        Whether a branch is there, which no loop is around.
    """

    place: Loc
    name: str
    type: Any
    inner: Any
    branch: bool = False


class Around(NamedTuple):
    """A loop that is being read: where it stands, and the names and lists from before it."""

    place: Loc
    state: State
    known: frozenset[int]
    written_out: bool = False


def wanted(context: Context) -> list[Wanted]:
    """The lists that loops have to make the rows of."""
    found: dict[tuple[Loc, str, bool], Wanted] = {}
    for one in (one for one in context.handed if isinstance(one, Wanted)):
        key = (one.place, one.name, one.branch)
        if key not in found or _is_later(one, found[key]):
            found[key] = one
    return sorted(found.values(), key=lambda one: one.name)


def _is_later(one: Wanted, other: Wanted) -> bool:
    """Whether a later reading has found this: more is NumPy's then."""
    if isinstance(other.type, WeakType):
        return not isinstance(one.type, WeakType) or WEAK_ORDER.index(one.type.kind) > WEAK_ORDER.index(other.type.kind)
    own, others = (() if w.inner is None else w.inner.columns for w in (one, other))
    pythons = [sum(isinstance(type, WeakType) for type in types) for types in (own, others)]
    return bool(own) and (not others or pythons[0] < pythons[1])


def wanted_at(frame: Frame, place: Loc, branch: bool = False) -> list[Wanted]:
    """Those of a loop, or of a branch; at one place several may stand, each of which sees other lists.

    Where a loop around was written out when the list was asked for, and has steps of run time now, it is that loop's.
    """
    context, found = frame.context, []
    for one in [one for one in wanted(context) if one.place == place and one.branch is branch]:
        if (owner := holder(frame, one.name)) is None:
            continue
        held = owner.locals[one.name]
        if isinstance(held, Counted) and held.depth < len(context.counting):
            continue
        outer = next((loop for loop in context.growing if id(held) in loop.known and not loop.written_out), None)
        if outer is not None and isinstance(held, list) and one._replace(place=outer.place) not in context.handed:
            raise HandOn(one._replace(place=outer.place, branch=False))
        found.append(one)
    return found


def holder(frame: Frame | None, name: str) -> Frame | None:
    """The frame, or one around it, that has a name."""
    while frame is not None and name not in frame.locals:
        frame = frame.parent
    return frame


class Growth(Record):
    """A list that grows by as many members in each step of a loop: what it held before, and what the last reading appended.

    The names of the lengths that the host reads in the step are `read`.
    """

    held: list[Any]
    before: list[Any]
    more: list[Any]
    read: frozenset[str] = frozenset()


class GetsKeys(UnsupportedError):
    """A dict gets keys in a loop beside its own, or an object attributes."""

    def plain(self) -> UnsupportedError:
        """The same for who wrote the program."""
        return UnsupportedError(self.message, self.loc, self.help)


class Grows(UnsupportedError):
    """Lists grow in a loop, which the steps of a ``for`` may do; see `pytocu.frontend.grown`."""

    lists: list[Growth]

    def plain(self) -> UnsupportedError:
        """The same for who wrote the program."""
        return UnsupportedError(self.message, self.loc, self.help)


class _Place(str):
    """A place in a list or dict as a name."""

    key: Any


class _Places(MutableMapping[str, Any]):
    """What a list or dict holds, by the names of its places; these stay the same."""

    def __init__(self, context: Context, held: list[Any] | dict[Any, Any], name: str, text: str):
        self._context, self._held, self._name, self._text = context, held, name, text
        self._known: dict[Any, _Place] = {}

    def _place(self, key: Any) -> _Place:
        place = self._known.get(key)
        if place is None:
            place = self._known[key] = _Place(self._text.format(self._name, key))
            place.key = key
        return place

    def __iter__(self) -> Iterator[str]:
        return map(self._place, self._held if isinstance(self._held, dict) else range(len(self._held)))

    def __len__(self) -> int:
        return len(self._held)

    def __getitem__(self, name: str) -> Any:
        return self._held[name.key] if isinstance(name, _Place) else {}[name]

    def __setitem__(self, name: str, value: Any) -> None:
        assert isinstance(name, _Place)
        if isinstance(value, Late):
            value = value.read(self._context, no_step(name))
        if isinstance(value, Unset):
            # Whoever reads a name is told; a member is read in many ways.
            raise UnsupportedError(value.message, self._context.loc, value.help) if value.key is None else HandOn(value.key)
        self._held[name.key] = value

    def __delitem__(self, name: str) -> None:
        raise AssertionError("places stay")

    def clear(self) -> None:
        """Begin to set each place anew."""


class Container(Frame):
    """A list or dict of the program, or the attributes of an object, whose places are names."""

    def __init__(self, context: Context, held: list[Any] | dict[Any, Any], name: str, text: str):
        super().__init__(context, None, Scope(frozenset()), _Places(context, held, name, text), "", name, None)
        self.held = held


class State:
    """The names of a function and of those around it, and what memories hold, at one moment.

    Parameters
    ----------
    frame : Frame
    before : State, optional
        An earlier one, of whose names this is to know.

    Attributes
    ----------
    parts : dict
        Of names that hold a list or dict made anew: its members, as :func:`members_alike` has them.
    shared : set
        Those of these names whose list or dict may have others, too, so that it must not be changed.
    changing : dict
        Names of arrays whose lengths the steps of a loop change; see `pytocu.frontend.lengths_of_steps`.
    fixed : set
        Names of arrays of which that cannot be carried.
    counts : dict
        The lengths, then, of arrays that are `changing` in an earlier state.
    dense : dict
        Whether NumPy has their elements one after the other, in row-major order.
    laws, rooms : dict
        By group of axes of arrays that are `changing`: what a step makes of their length, and how long they may be.
    steps : DimLike
        How many steps that is for; whether there is `every` one of them.
    """

    def __init__(self, frame: Frame, before: State | None = None):
        self.frames: list[Frame] = [] if before is None else before.frames
        scope: Frame | None = frame if before is None else None
        while scope is not None:
            self.frames.append(scope)
            scope = scope.parent
        self.context = frame.context
        self.builder = frame.context.builder
        self.locals = [dict(f.locals) for f in self.frames]
        self.storage = self.builder.state()
        self.loc = self.builder.loc
        self.compacted, self.positions = list(frame.context.compacted), dict(frame.context.positions)
        self.read, self.told = list(frame.context.read), frame.context.told
        self.numbers = frozenset(frame.context.numbers)
        self.containers: list[tuple[Any, Any]] = []
        self.parts: dict[tuple[Frame, str], Any] = {}
        self.shared: set[tuple[Frame, str]] = set()
        self.sources: dict[tuple[Frame, str], list[Any]] = {}
        self.changing: dict[tuple[Frame, str], Any] = {}
        self.fixed: set[tuple[Frame, str]] = set()
        self.counts: dict[tuple[Frame, str], list[DimLike]] = {}
        self.dense: dict[tuple[Frame, str], bool] = {}
        self.laws: dict[Any, Any] = {}
        self.rooms: dict[Any, DimLike] = {}
        self.steps: DimLike = 0
        self.every = True
        self.masked: list[tuple[Masked, Value]] = []
        self.appended = [(grown, grown.appended) for grown in frame.context.filling]
        if before is None:
            seen: set[int] = set()
            for names in list(self.locals):
                for name, value in names.items():
                    self._note(value, name, seen)

    def _note(self, value: Any, name: str, seen: set[int]) -> None:
        if id(value) in seen:
            return
        text = "{}[{!r}]"
        if is_object(self.context, value):
            value, text = vars(value), "{}.{}"
        elif isinstance(value, Counted):
            value, text = value.held, "{}_{}"
        if id(value) in seen or not isinstance(value, (list, tuple, dict, set, Masked)) or isinstance(value, Members):
            return
        seen.add(id(value))
        if isinstance(value, set):
            # Its members are known while compiling.
            self.containers.append((value, value.copy()))
            return
        if isinstance(value, Masked):
            if value.elements is None:
                self.masked.append((value, value.array))
            return
        if not isinstance(value, tuple):
            self.containers.append((value, value.copy()))
            known = self.context.containers
            if id(value) not in known:
                known[id(value)] = Container(self.context, value, name, text)
            self.frames.append(known[id(value)])
            self.locals.append(dict(known[id(value)].locals))
        for key, member in value.items() if isinstance(value, dict) else enumerate(value):
            self._note(member, text.format(name, key), seen)

    def go_back(self) -> None:
        """Everything is again as it was at that moment."""
        self.restore_containers()
        for frame, names in zip(self.frames, self.locals, strict=True):
            frame.locals.clear()
            frame.locals.update(names)
        self.builder.go_back(self.storage)
        self.builder.loc = self.loc
        # What a region computed is known in it only.
        self.context.compacted, self.context.positions = list(self.compacted), dict(self.positions)
        self.context.read, self.context.told = list(self.read), self.told
        for value, array in self.masked:
            value.array, value.elements = array, None
        for grown, appended in self.appended:
            grown.appended = appended

    def asked(self) -> list[Masked]:
        """The masked values of that moment whose elements were asked for or changed since.

        They have to be arrays before the region: it cannot compute what stands before it, and it changes memory only.
        """
        return [value for value, array in self.masked if value.elements is not None or value.array is not array]

    def refuse_changed_containers(self, what: str, besides: Collection[int] = ()) -> None:
        """How much lists and dicts hold is known while compiling, so it cannot depend on what happens at run time.

        Parameters
        ----------
        besides : collection of int
            The numbers of dicts that may have changed.

        Raises
        ------
        UnsupportedError
            One holds more or less since, or has other keys; it is as it was before then.
        """
        self._refuse_changed(what, None, besides)
        longer = [grown for grown, appended in self.appended if grown.appended != appended]
        for grown in longer:
            _ask_grown(self.context, grown, None if grown.key is None else grown.key[1])
        if longer:
            text, help = _grows("list", "grows", what)
            raise UnsupportedError(text, self.builder.loc, help)

    def gained(self) -> dict[int, tuple[Any, ...]]:
        """The keys that dicts got since, behind those that they had, each by the number of the dict."""
        dicts = ((i, tuple(held), tuple(copy)) for i, (held, copy) in enumerate(self.containers) if isinstance(held, dict))
        return {i: keys[len(old) :] for i, keys, old in dicts if len(keys) > len(old) and keys[: len(old)] == old}

    def growth(self, what: str) -> list[Growth]:
        """The lists that grew at their end since.

        Raises
        ------
        UnsupportedError
            Another list or dict holds more or less.
        """
        found: list[Growth] = []
        self._refuse_changed(what, found)
        return found

    def grown(self, lists: list[Growth], what: str) -> Grows:
        """The error for lists that grow."""
        text, help = _grows("list", "grows", what)
        error = Grows(text, self.builder.loc, help)
        error.lists = lists
        return error

    def _refuse_changed(self, what: str, grew: list[Growth] | None, besides: Collection[int] = ()) -> None:
        for i, (container, copy) in enumerate(self.containers):
            keys = list if isinstance(container, dict) else len if isinstance(container, list) else set
            if i in besides or keys(container) == keys(copy):
                continue
            longer = len(container) > len(copy)
            if grew is not None and isinstance(container, list) and longer and all(map(is_, container, copy)):
                read = frozenset(name for _, _, name in self.context.read) - {name for _, _, name in self.read}
                grew.append(Growth(container, list(copy), container[len(copy) :], read))
                continue
            _ask(self.context, container, [*copy, *container], self if what == "a branch" else None)
            kind = type(container).__name__
            other = "gets other members" if isinstance(container, set) else "gets other keys"
            grown = "grows" if len(container) > len(copy) else "shrinks" if len(container) < len(copy) else other
            gets = isinstance(container, dict) and dict(copy).keys() < container.keys()
            refused = GetsKeys if gets and what == "a loop" else UnsupportedError
            both = dict.fromkeys((*container, *copy)) if kind == "dict" else ()
            odd = [key for key in both if (key in container) is not (key in copy)]
            _refill(container, copy)
            if any(vars(one) is container for one in self.context.built.values() if is_object(self.context, one)):
                text = f"an object gets other attributes in {what}, and which it has then is known only at run time"
                raise refused(text, self.builder.loc, "assign each of them before, too")
            text, help = _grows(kind, grown, what, odd)
            owners = [owner.locals for owner in self.frames if not isinstance(owner, Container)]
            named = any(held is container for names in owners for held in names.values())
            raise refused(text, self.builder.loc, help if named or kind != "list" else IN_LISTS)

    def restore_containers(self) -> None:
        """Lists, dicts and sets are again as they were at that moment."""
        for container, copy in self.containers:
            _refill(container, copy)

    def own_frames(self) -> int:
        """How many of the frames, from the first on, are of the function itself: it, and its comprehensions around."""
        return 1 + next(n for n, frame in enumerate(self.frames) if not frame.comprehension)

    def names(self) -> list[tuple[Frame, str]]:
        """Every name that is bound now or was bound then, with the function it belongs to."""
        return [
            (frame, name)
            for frame, names in zip(self.frames, self.locals, strict=True)
            for name in dict.fromkeys([*names, *frame.locals])
        ]

    def value(self, frame: Frame, name: str, default: Any = None) -> Any:
        """What a name held then."""
        return self.parts[frame, name] if (frame, name) in self.parts else self.held(frame, name, default)

    def held(self, frame: Frame, name: str, default: Any = None) -> Any:
        """What a name held then, a list or dict as such."""
        return self.locals[self.frames.index(frame)].get(name, default)

    def members(self, value: Any) -> list[Any]:
        """What a list, dict, tuple or object held then."""
        if is_object(self.context, value):
            value = vars(value)
        for frame, names in zip(self.frames, self.locals, strict=True):
            if isinstance(frame, Container) and frame.held is value:
                return list(names.values())
        return list(value.values() if isinstance(value, dict) else value)

    def known_containers(self) -> frozenset[int]:
        """The ids of the lists and dicts from before, and of the attributes of objects."""
        return frozenset(id(frame.held) for frame in self.frames if isinstance(frame, Container))

    def take_parts(self, before: State) -> None:
        """Know the members of what an earlier state knows the members of."""
        kept = {key: part for key, part in self.parts.items() if key in before.changing}
        self.parts = {key: alike_to(model, self.held(*key), self) for key, model in before.parts.items()} | kept

    def is_own(self, value: Any, expression: str = "") -> bool:
        """Whether lists and dicts have one name alone, so that nobody can tell if one is changed or another in its place.

        Parameters
        ----------
        value : object
            What a name holds.
        expression : str
            ``stays`` where no name holds it yet, and ``leaves`` where it is returned, behind which no name of this function
            is one.
        """
        frames = self._scopes()
        given = [held for frame, _ in frames for held in frame.given]
        own = self.frames[: self.own_frames()] if expression == "leaves" else []
        held = [held for frame, names in frames if frame not in own for held in names]
        return self._is_own(value, given, [*held, value] if expression else held)

    def _is_own(self, value: Any, given: list[Any], held: list[Any]) -> bool:
        if isinstance(value, tuple):
            return all(self._is_own(member, given, held) for member in value)
        if not is_container(self.context, value):
            return True
        if any(id(value) in known for known in (self.context.outside, self.context.held, self.context.shared)):
            return False
        if self._uses(value, given, set()) or self._uses(value, held, set()) > 1:
            return False
        among = [*given, *held, *self.context.unnamed]
        if any(self._uses(one, among, set()) for one in related(self.context, value)):
            return False
        return all(self._is_own(member, given, held) for member in self.members(value) if not isinstance(member, tuple))

    def _scopes(self) -> list[tuple[Frame, list[Any]]]:
        """The functions around this one, and those that call it, with what their names held then."""
        found = self._around()
        known = [frame for frame, _ in found]
        active = self.context.frames
        function = self.frames[self.own_frames() - 1]
        calling = active[: active.index(function)] if function in active else active
        return found + [(frame, [*frame.locals.values()]) for frame in scopes(calling) if frame not in known]

    def _around(self) -> list[tuple[Frame, list[Any]]]:
        """The function and those around it, with what their names held then."""
        pairs = zip(self.frames, self.locals, strict=True)
        return [(frame, [*names.values()]) for frame, names in pairs if not isinstance(frame, Container)]

    def has_names_alone(self, value: Any, count: int) -> bool:
        """Whether so many names, and at least one, are all that a list has, which stands in no other one."""
        return 0 < count == self.uses(value)

    def uses(self, value: Any) -> int:
        """How often a value stands among names and in what these hold."""
        return self._uses(value, [v for frame, held in self._around() for v in (*frame.given, *held)], set())

    def _uses(self, value: Any, among: Iterable[Any], seen: set[int]) -> int:
        """How often a list or dict stood among values and in what these held."""
        count = 0
        for one in among:
            count += one is value
            if isinstance(one, Members):
                # What it goes over is asked for later.
                count += 2
            elif id(one) not in seen and (inside := inside_of(self.context, one, self.members, self.frames)):
                seen.add(id(one))
                count += self._uses(value, inside, seen)
        return count


class Reading:
    """Where the reading of something begins that may be dropped again.

    Parameters
    ----------
    state : State
        What is known again when it is dropped.

    Attributes
    ----------
    count : int
        How many instructions there were.
    """

    def __init__(self, state: State):
        context, builder = state.context, state.builder
        self._state, self.count, self._compared, self._known = state, len(builder.insts), builder.compared, builder.chosen()
        self._met, self._refused = set(context.met), list(context.refused)

    def drop(self) -> None:
        """Nothing was written since, or compared."""
        self._state.go_back()
        context, builder = self._state.context, self._state.builder
        builder.compared, context.met, context.refused = self._compared, self._met, self._refused
        builder.forget_choices(self._known)
        del builder.insts[self.count :]


def _refill(container: Any, copy: Any) -> None:
    container.clear()
    container.extend(copy) if isinstance(container, list) else container.update(copy)


_FEW = 4
"""Keys that a message shows."""


def _grows(kind: str, grown: str, what: str, keys: Sequence[Any] = ()) -> tuple[str, str]:
    shown = f" by the key{'s' * (len(keys) > 1)} {', '.join(map(repr, keys))}" if 0 < len(keys) <= _FEW else ""
    text = f"a {kind} {grown} in {what}{shown}, and how much it holds then is known only at run time"
    if (kind, grown) == ("list", "grows"):
        return text, "append numbers or tuples of them, (a, b) for [a, b]; or fill an array and count: y[k] = v; k += 1; y[:k]"
    if kind == "set":
        return text, "use an array of flags: seen = np.zeros(n, bool); seen[k] = True; seen.sum()"
    key = repr(keys[0]) if keys else "key"
    return text, f"let it have the key in any case, with None for no value: d[{key}] = None before, and if d[{key}] is not None"


class _OfList(tuple[Any, ...]):
    """The members of a list."""

    @classmethod
    def _make(cls, members: Iterable[Any]) -> list[Any]:
        return list(members)


class _OfObject(tuple[Any, ...]):
    """The attributes of an object."""

    context: Context
    kind: type
    keys: tuple[str, ...]

    @classmethod
    def _make(cls, members: Iterable[Any]) -> Any:
        found = made(cls.kind, cls.keys, list(members))
        note_object(cls.context, found)
        return found


def _of_object(context: Context, value: Any) -> type[_OfObject]:
    """The class of the attributes of objects of this class with these attributes."""
    key = type(value), (*vars(value),)
    if key not in context.forms:
        context.forms[key] = type("_OfObject", (_OfObject,), {"context": context, "kind": key[0], "keys": key[1]})
    return context.forms[key]


class _OfDict(tuple[Any, ...]):
    """The members of a dict."""

    keys: tuple[Any, ...]

    @classmethod
    def _make(cls, members: Iterable[Any]) -> dict[Any, Any]:
        return dict(zip(cls.keys, members, strict=True))


@lru_cache(maxsize=256, typed=True)
def _of_dict(*keys: Any) -> type[_OfDict]:
    """The class of the members of dicts with these keys."""
    return type("_OfDict", (_OfDict,), {"keys": keys})


def members_alike(a: Any, b: Any, of_a: State, of_b: State) -> tuple[Any, Any] | None:
    """Two values with the members, then, of what are lists of one length, or dicts or objects of the same keys, or None."""
    context = of_a.context
    if a is b or type(a) is not type(b) or isinstance(a, Members):
        return None
    if isinstance(a, Grown):
        return alike(context, a, b)
    if is_object(context, a) and is_object(context, b):
        if [*vars(a)] != [*vars(b)]:
            return None
    elif not isinstance(a, (list, dict, tuple)) or len(a) != len(b):
        return None
    elif isinstance(a, dict) and [*a] != [*b]:
        return None
    held, others = of_a.members(a), of_b.members(b)
    if len(held) != len(others):
        # One that has as many members as the other had more then, or fewer.
        return None
    found = list(zip(held, others, strict=True))
    inside = [members_alike(x, y, of_a, of_b) for x, y in found]
    if isinstance(a, tuple) and not any(inside):
        return None
    first, second = ([(pair or one)[k] for pair, one in zip(inside, found, strict=True)] for k in (0, 1))
    return _holding(context, a, first), _holding(context, b, second)


def alike_to(model: Any, value: Any, state: State) -> Any:
    """A value with the members of what `model` has the members of; as it is where that is something else."""
    if isinstance(model, Perhaps):
        return _as_carried(model, value)
    if isinstance(model, OfGrown) and isinstance(value, Grown):
        found = holding(state.context, value)
        return found if type(found) is type(model) else value
    lists = isinstance(model, _OfList) and isinstance(value, list) and len(value) == len(model)
    dicts = isinstance(model, _OfDict) and isinstance(value, dict) and (*value,) == model.keys
    tuples = isinstance(model, tuple) and type(value) is type(model) and len(value) == len(model)
    objects = is_object(state.context, value) and _of_object(state.context, value) is type(model)
    if not (lists or dicts or tuples or objects):
        return value
    return _holding(state.context, value, [alike_to(m, v, state) for m, v in zip(model, state.members(value), strict=True)])


def members_of(context: Context, value: Any, known: frozenset[int]) -> Any:
    """A value with the members of the lists, dicts and objects in it, but for those that are known."""
    if is_object(context, value):
        if id(vars(value)) in known:
            return value
        return _holding(context, value, [members_of(context, member, known) for member in vars(value).values()])
    if isinstance(value, Members) or not isinstance(value, (list, dict, tuple)) or id(value) in known:
        return value
    members = value.values() if isinstance(value, dict) else value
    return _holding(context, value, [members_of(context, member, known) for member in members])


def _holding(context: Context, value: Any, members: list[Any]) -> Any:
    """The members of a list, dict, tuple or object in a form of :func:`flatten`."""
    if is_object(context, value):
        return _of_object(context, value)(members)
    if isinstance(value, dict):
        return _of_dict(*value)(members)
    if isinstance(value, list):
        return _OfList(members)
    return tuple(members) if type(value) is tuple else type(value)._make(members)


def flatten(value: Any, leaves: list[Any]) -> Any:
    """The numbers and arrays in a value, and the form in which they stand there."""
    if isinstance(value, Value) or is_number(value):
        leaves.append(value)
        return LEAF
    if isinstance(value, tuple):
        return (type(value), *(flatten(member, leaves) for member in value))
    if isinstance(value, (Perhaps, MaybeBound)):
        return (type(value), flatten(value.given, leaves), flatten(value.value, leaves))
    return value


def same_form(a: Any, b: Any) -> bool:
    """Whether two forms of `flatten` are one."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(same_form, a, b))
    if a is b:
        return True
    return type(a) is type(b) and isinstance(a, (str, bool, int, float, type(None))) and a == b


def rebuild(form: Any, leaves: list[Any]) -> Any:
    """The value of a form with these leaves, which are taken from the front of the list."""
    if form is LEAF:
        return leaves.pop(0)
    if isinstance(form, tuple):
        kind, *members = form
        made = [rebuild(member, leaves) for member in members]
        return tuple(made) if kind is tuple else kind._make(made)
    return form
