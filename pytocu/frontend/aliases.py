"""Which lists, dicts and objects may be one and the same, as a run decides.

Behind a branch or loop of run time stands one that is made anew for those of which a run chooses one.  A change of it would be
one of what it was chosen from, and the other way round, so that neither is changed while both can be reached: from the names
of the functions that are being read, or in a statement that is not over.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from contextlib import contextmanager
from typing import Any

from pytocu.frontend.frames import Frame, LocalFunction, Partial
from pytocu.frontend.objects import is_object
from pytocu.frontend.values import Context, Counted, MaybeBound, Members, Perhaps


def is_container(context: Context, value: Any) -> bool:
    """Whether a value is a list, dict or object of known attributes."""
    return isinstance(value, (list, dict)) or is_object(context, value)


def members_now(context: Context, value: Any) -> list[Any]:
    """What a list, dict, tuple or object holds."""
    if is_object(context, value):
        value = vars(value)
    return list(value.values() if isinstance(value, dict) else value)


def inside_of(
    context: Context, value: Any, members: Callable[[Any], Iterable[Any]], counted: Sequence[Frame] = ()
) -> list[Any]:
    """What can be reached from a value in one step.

    Parameters
    ----------
    context : Context
    value : object
    members : callable
        Gives those of a list, dict, tuple or object.
    counted : sequence of Frame
        Those of which a function inside of them reaches nothing more.
    """
    if isinstance(value, tuple) or is_container(context, value):
        return list(members(value))
    if isinstance(value, LocalFunction):
        found = [*value.defaults.values()]
        frame: Frame | None = value.frame
        while frame is not None:
            found += [] if frame in counted else [*frame.given, *frame.locals.values()]
            frame = frame.parent
        return found
    if isinstance(value, Counted):
        return [value.held]
    if isinstance(value, (Perhaps, MaybeBound)):
        return [value.value]
    if isinstance(value, (Partial, functools.partial)):
        return [*value.args, *(value.kwargs if isinstance(value, Partial) else value.keywords).values()]
    if isinstance(value, (types.MethodType, types.BuiltinMethodType)) and not isinstance(value.__self__, types.ModuleType):
        return [value.__self__]
    return []


def scopes(functions: Iterable[Frame]) -> list[Frame]:
    """Functions that are being read, and those around them."""
    frames = [*functions]
    for frame in frames:
        if frame.parent is not None and frame.parent not in frames:
            frames.append(frame.parent)
    return frames


def mark_shared(context: Context, value: Any, known: frozenset[int] = frozenset()) -> None:
    """Refuse changes of lists, dicts and objects in a value, but for those that are known: others may hold the same, or not."""
    if is_object(context, value):
        if id(vars(value)) not in known:
            context.shared[id(value)] = value
            for member in vars(value).values():
                mark_shared(context, member, known)
        return
    if not isinstance(value, (list, dict, tuple)) or id(value) in known:
        return
    if not isinstance(value, tuple):
        context.shared[id(value)] = value
    for member in value.values() if isinstance(value, dict) else value:
        mark_shared(context, member, known)


def note_chosen(context: Context, sources: Iterable[Any], made: Any) -> None:
    """Remember the lists, dicts and objects that a loop or branch has left, and those that each of them may be."""
    known = {id(one): one for source in sources for one in containers(context, source, set())}
    found = [one for one in containers(context, made, set()) if id(one) not in known]
    for one in known.values():
        # What this may be, as another branch decides, those may be, too.
        for other in (one, *related(context, one)):
            for new in found:
                _relate(context, new, other)
                _relate(context, other, new)
        if any(id(one) in given for given in (context.outside, context.held, context.shared)):
            # Whoever calls holds it.
            context.shared.update((id(new), new) for new in found)


def related(context: Context, value: Any) -> list[Any]:
    """The lists, dicts and objects that one may be, as a run decides."""
    return [*context.chosen.get(id(value), (value, []))[1]]


def _relate(context: Context, one: Any, other: Any) -> None:
    among = context.chosen.setdefault(id(one), (one, []))[1]
    if other is not one and not any(known is other for known in among):
        among.append(other)


def containers(context: Context, value: Any, seen: set[int]) -> Iterator[Any]:
    """The lists, dicts and objects in a value."""
    held = is_container(context, value)
    if (held or isinstance(value, tuple)) and id(value) not in seen:
        seen.add(id(value))
        if held:
            yield value
        for member in members_now(context, value):
            yield from containers(context, member, seen)


@contextmanager
def unnamed(context: Context) -> Iterator[None]:
    """Read a statement: what its expressions give and gets no name can be reached no longer behind it."""
    before = len(context.unnamed)
    try:
        yield
    finally:
        del context.unnamed[before:]


def note_unnamed(context: Context, value: Any) -> Any:
    """Remember what a call or a choice gives, which has no name yet; the value."""
    if isinstance(value, tuple) or is_container(context, value):
        context.unnamed.append(value)
    return value


def is_shared(context: Context, value: Any) -> bool:
    """Whether a list, dict or object may be one that can be reached otherwise, too, as a run decides."""
    if id(value) in context.shared:
        return True
    wanted = {id(one) for one in related(context, value)}
    if not wanted:
        return False
    held = [one for frame in scopes(context.frames) for one in (*frame.given, *frame.locals.values())]
    return _is_held(context, wanted, [*held, *context.unnamed], set())


def _is_held(context: Context, wanted: Set[int], among: Iterable[Any], seen: set[int]) -> bool:
    """Whether one of these lists, dicts and objects stands among values, or in what they hold."""
    for one in among:
        if id(one) in wanted or (isinstance(one, Members) and one.goes_on):
            return True
        if id(one) not in seen and (inside := inside_of(context, one, lambda value: members_now(context, value))):
            seen.add(id(one))
            if _is_held(context, wanted, inside, seen):
                return True
    return False


__all__ = [
    "containers", "inside_of", "is_container", "is_shared", "mark_shared", "members_now", "note_chosen", "note_unnamed",
    "related", "scopes", "unnamed",
]  # fmt: skip
