"""Which of two lists, dicts or objects one is that a branch of run time left, where who calls the function can tell them apart.

Inside of the function what stands behind a branch is made anew, of what the one that a run chooses holds.  A caller who passed
one of them, or is given one of them besides, is given that one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pytocu.errors import UnsupportedError
from pytocu.frontend.aliases import containers, is_container, members_now
from pytocu.frontend.values import Context, SeenTwice, is_number
from pytocu.ir.core import Value
from pytocu.ir.types import WeakType


class Ways(NamedTuple):
    """What a list, dict or object is that a branch leaves: the first of two where the test holds, or else the second."""

    made: Any
    test: Value
    ways: tuple[Any, Any]


def note_ways(
    context: Context, test: Value, made: Any, ways: Sequence[Any], members: Sequence[Callable[[Any], list[Any]]]
) -> None:
    """Remember of which two lists, dicts or objects a branch chooses one, and so of those in them.

    `members` give what they hold at the end of a side.
    """
    if any(made is way for way in ways) or not (isinstance(made, tuple) or is_container(context, made)):
        return
    if is_container(context, made):
        context.ways[id(made)] = Ways(made, test, (ways[0], ways[1]))
    of_ways = [of(way) for of, way in zip(members, ways, strict=True)]
    for inside in zip(members_now(context, made), *of_ways, strict=True):
        note_ways(context, test, inside[0], inside[1:], members)


def may_be_given(context: Context, value: Any) -> bool:
    """Whether a list, dict or object is an argument, or in one, or may be as branches decide."""
    if id(value) in context.held:
        return True
    known = context.ways.get(id(value))
    return known is not None and any(may_be_given(context, way) for way in known.ways)


def tests_of(context: Context, value: Any) -> list[Value]:
    """What decides which argument a list, dict or object is, or which those in it are."""
    found: list[Value] = []
    for one in containers(context, value, set()):
        if id(one) in context.ways and may_be_given(context, one):
            _, test, ways = context.ways[id(one)]
            found += [test, *(inner for way in ways for inner in tests_of(context, way))]
    return found


def with_tests(context: Context, value: Any, tests: Mapping[Value, Value]) -> None:
    """State what decides behind a branch that has handed on these tests."""
    for one in containers(context, value, set()):
        if (known := context.ways.get(id(one))) is not None:
            context.ways[id(one)] = known._replace(test=tests.get(known.test, known.test))
            for way in known.ways:
                with_tests(context, way, tests)


def is_seen(context: Context, value: Any) -> bool:
    """Whether a caller has a list, dict or object, or is given it before, as a run decides perhaps."""
    if id(value) in context.held or id(value) in context.placed:
        return True
    known = context.ways.get(id(value))
    return known is not None and any(is_seen(context, way) for way in known.ways)


def place(context: Context, value: Any) -> int:
    """The number of a list, dict or object of a result, under which it is known where it stands there once more.

    Raises
    ------
    SeenTwice
        One that it may be stands in the result by another name as well.
    UnsupportedError
        That is not known where the function ends.
    """
    if context.ways:
        paths = list(_paths(context, value, {}))
        for facts, one in paths:
            for others, other in context.fresh:
                if one is other and all(facts.get(test, holds) is holds for test, holds in others.items()):
                    if not all(_is_plain_behind(context, leaf) for leaf in _leaves_in(context, one)):
                        raise _refused(context, value, "another one that it returns")
                    raise SeenTwice(one)
        context.fresh += paths
    return context.placed.setdefault(id(value), len(context.placed))


def _leaves_in(context: Context, value: Any) -> Iterator[Any]:
    if isinstance(value, tuple) or is_container(context, value):
        for member in members_now(context, value):
            yield from _leaves_in(context, member)
    else:
        yield value


def _is_plain_behind(context: Context, value: Any) -> bool:
    if isinstance(value, Value):
        return is_known_behind(context, value)
    return value is None or is_number(value) or type(value) is str


def _paths(context: Context, value: Any, facts: Mapping[Any, bool]) -> Iterator[tuple[Mapping[Any, bool], Any]]:
    """What one may be that is made anew, each with what decides so."""
    known = context.ways.get(id(value))
    if known is None:
        yield facts, value
        return
    test = _told_apart(known.test)
    for holds, way in zip((True, False), known.ways, strict=True):
        if facts.get(test, holds) is holds and not is_seen(context, way):
            yield from _paths(context, way, {**facts, test: holds})


def _told_apart(test: Value) -> Any:
    """What is equal for conditions of Python's numbers that are computed alike."""
    inst = test.inst
    if inst is None or inst.regions or not isinstance(test.type, WeakType) or inst.op.effects:
        return test
    return inst.op.name, inst.attrs, inst.results.index(test), *map(_told_apart, inst.args)


def is_known_behind(context: Context, value: Value) -> bool:
    """Whether a value is known where the function ends."""
    root = context.builder.root(value)
    return root in context.given or any(root in inst.results for inst in context.builder.insts)


def refused_way(context: Context, value: Any) -> UnsupportedError:
    """The error for a list, dict or object of which only a run inside of a loop or branch knows which one it is."""
    return _refused(context, value, "an argument")


def _refused(context: Context, value: Any, other: str) -> UnsupportedError:
    kind = type(value).__name__
    copy = f"{kind}(...)" if isinstance(value, (list, dict)) else "dataclasses.replace(...)"
    text = f"the function returns a {kind} that may be {other}, as a loop or branch decides at run time"
    return UnsupportedError(text, context.loc, f"return a copy: {copy}")


__all__ = [
    "Ways", "is_known_behind", "is_seen", "may_be_given", "note_ways", "place", "refused_way", "tests_of",
    "with_tests",
]  # fmt: skip
