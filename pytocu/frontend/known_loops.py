"""What the loops inside of a body carry, from one reading of the body to the next.

A body is read until it is known what its loop carries.  If each reading began with nothing known of the loops inside, the
innermost body of eight would be read 256 times.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pytocu.errors import Loc
from pytocu.frontend.frames import Frame, Unset
from pytocu.frontend.state import State, flatten
from pytocu.frontend.values import Context, Grown, is_array
from pytocu.ir.core import Value
from pytocu.ir.types import Type

Found = Mapping[Loc, "Sequence[Carried]"]
_Place = tuple[int, str, int]


class Carried:
    """What a loop carries.

    Attributes
    ----------
    names : list of (int, str)
        Names of arrays that a step binds again, each with the number of its frame, from the loop's own outwards.
    types : dict
        By such a name: the types that it has from the start.
    roots : list of Value
        The memories that a step changes.
    places : dict
        By such a memory: the number of a frame, the name there that holds it before the loop, and which part of it does.
    anew : list
        Places of memories that the next reading makes anew, or may find others at.
    rebound : dict
        By name: what it holds in a step, where steps bind it to something of another form.
    inside : mapping
        The same of the loops inside.
    flags : tuple of type, or None
        Of a loop that a step may leave: the kinds of the flags that say how, as they are carried.
    """

    __slots__ = ("anew", "flags", "inside", "names", "places", "rebound", "roots", "types")

    def __init__(
        self,
        before: State,
        names: Sequence[tuple[Frame, str]],
        types: Mapping[tuple[Frame, str], list[Type]],
        roots: Sequence[Value],
        rebound: Mapping[tuple[Frame, str], Unset],
        inside: Found,
    ):
        number = {id(frame): n for n, frame in enumerate(before.frames)}
        self.names = [(number[id(owner)], name) for owner, name in names]
        self.types = {(number[id(owner)], name): found for (owner, name), found in types.items()}
        self.roots = list(roots)
        self.places = _places(before, self.roots)
        self.anew: list[_Place] = []
        self.rebound = {(number[id(owner)], name): unset for (owner, name), unset in rebound.items()}
        self.inside = inside
        self.flags: tuple[type, ...] | None = None

    def forget(self, made: set[Value] | None) -> None:
        """Know memories that a reading made, which the next makes anew, by their places alone; without `made` all of them."""
        left = [root for root in self.roots if made is None or root in made]
        self.anew += [self.places[root] for root in left if root in self.places]
        self.roots = [root for root in self.roots if root not in left]
        forget(self.inside, made)

    def memories(self, before: State) -> list[Value]:
        """The memories to begin with: those that are known, and what stands at the places of others by now."""
        builder = before.context.builder
        found = dict.fromkeys(self.roots)
        for number, name, part in self.anew:
            handles = _handles(before.held(before.frames[number], name)) if number < len(before.frames) else []
            root = builder.root(handles[part]) if part < len(handles) else None
            # What is carried counts as changed, which an argument may not be.
            if root is not None and root not in builder.arguments:
                found[root] = None
        return list(found)

    def start(
        self, before: State, names: Sequence[tuple[Frame, str]]
    ) -> tuple[list[tuple[Frame, str]], dict[tuple[Frame, str], list[Type]], dict[tuple[Frame, str], Unset]]:
        """The names to begin with, `names` among them, their types, and the names that hold nothing known."""
        missing: Any = object()
        frames, count = before.frames, len(before.frames)
        rebound = {(frames[n], name): unset for (n, name), unset in self.rebound.items() if n < count}
        rebound = {one: unset for one, unset in rebound.items() if not isinstance(before.value(*one), Unset)}
        given = [(frames[n], name) for n, name in self.names if n < count]
        known = [one for one in given if one not in names and before.value(*one, missing) is not missing]
        found = [one for one in (*names, *known) if one not in rebound]
        types = {(frames[n], name): t for (n, name), t in self.types.items() if (frames[n], name) in found}
        # Of what is carried in another form than it has from before nothing is known yet.
        types = {one: t for one, t in types.items() if len(t) == _leaf_count(before.value(*one))}
        return found, types, rebound


def loops_of(context: Context) -> Loops:
    """The loops of the body that is being read, or of the function."""
    if context.loops is None:
        context.loops = Loops()
    return context.loops


def _handles(value: Any) -> list[Value]:
    """The arrays in what a name holds."""
    leaves: list[Any] = []
    flatten(value.rows if isinstance(value, Grown) else value, leaves)
    return [leaf for leaf in leaves if is_array(leaf)]


def _places(before: State, roots: Sequence[Value]) -> dict[Value, _Place]:
    """Where the names are that hold memories."""
    found: dict[Value, _Place] = {}
    if roots:
        root_of = before.context.builder.root
        for number, names in enumerate(before.locals):
            for name, value in names.items():
                for part, handle in enumerate(_handles(value)):
                    if (root := root_of(handle)) in roots:
                        found.setdefault(root, (number, name, part))
    return found


def _leaf_count(value: Any) -> int:
    leaves: list[Any] = []
    flatten(value, leaves)
    return len(leaves)


def forget(loops: Found, made: set[Value] | None) -> None:
    """Let loops :meth:`~Carried.forget` memories."""
    for one in loops.values():
        for loop in one:
            loop.forget(made)


class Loops:
    """The loops of a body that is being read, by their places, each in the order in which it is read there.

    Attributes
    ----------
    known, found : mapping
        What each carried in the reading of the body before, and what it carries in this one.
    tried : dict
        The loops inside of one whose reading came to nothing: it is read at once in another way.
    """

    __slots__ = ("found", "known", "tried")

    def __init__(self, known: Found | None = None):
        self.known: Found = known or {}
        self.found: dict[Loc, list[Carried]] = {}
        self.tried: dict[Loc, Found] = {}

    def next(self, loc: Loc) -> Carried | None:
        """What the loop that is read now was found to carry in the reading before."""
        place = len(self.found.get(loc, ()))
        known = self.known.get(loc, ())
        return known[place] if place < len(known) else None

    def inside(self, loc: Loc) -> Found:
        """What is known of the loops inside of the one that is read now."""
        if (tried := self.tried.pop(loc, None)) is not None:
            return tried
        known = self.next(loc)
        return {} if known is None else known.inside

    def flags(self, loc: Loc) -> tuple[type, ...] | None:
        """The kinds of the flags with which the loop that is read now was left in the reading before."""
        known = self.next(loc)
        return None if known is None else known.flags

    def note(self, loc: Loc, carried: Carried) -> None:
        """Note what a loop carries."""
        self.found.setdefault(loc, []).append(carried)

    def note_flags(self, loc: Loc, flags: Sequence[type]) -> None:
        """Note that the loop that was read last may be left."""
        self.found[loc][-1].flags = tuple(flags)
