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
from pytocu.ir.core import Value
from pytocu.ir.types import Type

Found = Mapping[Loc, "Sequence[Carried]"]


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
    rebound : dict
        By name: what it holds in a step, where steps bind it to something of another form.
    inside : mapping
        The same of the loops inside.
    """

    __slots__ = ("inside", "names", "rebound", "roots", "types")

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
        self.rebound = {(number[id(owner)], name): unset for (owner, name), unset in rebound.items()}
        self.inside = inside

    def forget(self, made: set[Value] | None) -> None:
        """Leave out memories that a reading made, which the next makes anew, or all."""
        self.roots = [] if made is None else [root for root in self.roots if root not in made]
        for loops in self.inside.values():
            for loop in loops:
                loop.forget(made)

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


def _leaf_count(value: Any) -> int:
    leaves: list[Any] = []
    flatten(value, leaves)
    return len(leaves)


class Loops:
    """The loops of a body that is being read, by their places, each in the order in which it is read there."""

    __slots__ = ("found", "known")

    def __init__(self, known: Found | None = None):
        self.known: Found = known or {}
        self.found: dict[Loc, list[Carried]] = {}

    def next(self, loc: Loc) -> Carried | None:
        """What the loop that is read now was found to carry in the reading before."""
        place = len(self.found.get(loc, ()))
        known = self.known.get(loc, ())
        return known[place] if place < len(known) else None

    def note(self, loc: Loc, carried: Carried) -> None:
        """Note what a loop carries."""
        self.found.setdefault(loc, []).append(carried)
