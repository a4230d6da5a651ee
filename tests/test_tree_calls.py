"""Short calls of arguments that hold arrays: what they look at is what taking arguments apart looks at."""

from __future__ import annotations

import dataclasses
import itertools
from typing import Any, NamedTuple

import numpy as np
import pytest

import pytocu
from pytocu import tree_calls, trees
from pytocu.errors import DTypeError
from pytocu.testing.compare import compare

X, Y = np.arange(4.0), np.ones(4)
SHARED = [X]


class Pair(NamedTuple):
    x: Any
    y: Any


class Text(str):
    pass


@dataclasses.dataclass
class Body:
    x: Any
    y: Any = 2.0


@dataclasses.dataclass(slots=True)
class Slots:
    x: Any
    y: Any = 2.0


def body(**more: Any) -> Body:
    made = Body(X)
    for name, value in more.items():
        setattr(made, name, value)
    return made


def empty() -> Slots:
    made = Slots(X)
    del made.y
    return made


def less() -> Body:
    made = Body(X)
    del made.y
    return made


HELD = [
    (X, Y), (Y, X), (X, 2.0), (X, 2), (X, True), (X,), (X, Y, X), (X, None), (X, (1, 2)), (X, (1, Y)), (X, (X, Y)), (X, [X, Y]),
    (X, []), (X, ()), (X, {}), (X, [[]]), (SHARED, SHARED), ([X], [X]), ([X], (X,)), (X, np.float64(2)), ("a", X), (1, 2),
    [X, Y], [X, 2.0], [X], [], [[X]], [[X], [Y]], [SHARED, SHARED], [SHARED, [SHARED]],
    {"x": X, "y": Y}, {"y": Y, "x": X}, {"x": X}, {"x": X, "y": 2.0}, {1: X, "y": Y}, {True: X, "y": Y}, {1.0: X, "y": Y},
    {Text("x"): X, "y": Y}, {"".join(["x", ""]): X, "y": Y}, {"x": X, "z": Y}, {"x": X, "y": {}}, {"x": X, "y": {"x": X}}, {},
    Pair(X, Y), Pair(X, 2.0), Pair(X, [Y]), Pair(X, Pair(X, Y)),
    Body(X), Body(X, Y), Body(X, 3), Body(X, [Y]), Body(X, body()), body(z=1.0), body(z=X), body(y=X), less(), Body(1.0, 2.0),
    Slots(X), Slots(2.0), Slots([X]), Slots(X, Y), empty(), X, 2.0, None,
]  # fmt: skip


def apart(arguments: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    return trees.take_apart(("a", "b"), arguments, frozenset({"b"})) or (None, ())


@pytest.mark.parametrize("number", range(len(HELD)))
def test_they_are_made_of_the_same_arguments(number: int) -> None:
    first = HELD[number], (1, X)
    how, _ = apart(first)
    if how is None:
        return
    reached: list[tuple[Any, ...]] = []
    made = tree_calls.write_call(how, first, frozenset({"b"}), lambda *parts: reached.append(parts), lambda *_: "other", str)
    if made is None:
        return
    assert made(*first) is None
    for held, static in itertools.product(HELD, ((1, X), 3)):
        if type(held) is not type(first[0]):
            # Arguments of other classes have functions of their own.
            continue
        reached.clear()
        left = made(held, static) == "other"
        others, parts = apart((held, static))
        if others != how:
            assert left, (first, held)
        if not left:
            assert others == how and [*map(id, reached[0])] == [*map(id, parts)], (first, held)


def test_most_ways_are_short() -> None:
    written = [tree_calls.write_call(apart((held, 1))[0], (held, 1), frozenset({"b"}), print, print, print) is not None
               for held in HELD if apart((held, 1))[0]]  # fmt: skip
    assert sum(written) > 0.8 * len(written)


def function(held: Any, k: float) -> Any:
    if isinstance(held, dict):
        return {key: value * k for key, value in held.items()}
    if isinstance(held, Body):
        held.y = held.x * k
        return held.y
    return [member * k for member in held]


@pytest.mark.parametrize("rounds", [1, 3, 150])
def test_calls_that_alternate(rounds: int) -> None:
    compiled = pytocu.jit(function)
    for _ in range(rounds):
        of_keys = {"x": X}, {"y": Y, "x": X}, {"x": X, "y": Y}
        for held in ((X, Y), (Y, 2.0), [X], [X, Y], *of_keys, Body(X), Body(Y, X), Pair(X, Y)):
            expected = function(held, 3.0)
            found = compiled(held, 3.0)
            assert type(found) is type(expected)
            if isinstance(held, dict):
                assert [*found] == [*expected]
                found, expected = [*found.values()], [*expected.values()]
            compare(found, expected)
            if isinstance(held, Body):
                assert held.y is found


def test_a_function_that_changes_how_arguments_hold() -> None:
    def grown(held: Any) -> Any:
        held["list"].append(held["x"] + 1)
        return held["x"] * 2

    compiled = pytocu.jit(grown)
    for _ in range(4):
        held, expected = ({"x": X, "list": [Y]} for _ in range(2))
        for _ in range(2):
            compare(compiled(held), grown(expected))
        for one, other in zip(held["list"], expected["list"], strict=True):
            compare(one, other)


def test_more_ways_than_are_kept_short() -> None:
    compiled = pytocu.jit(lambda d: [value + 1 for value in d.values()])
    for number in range(20):
        for _ in range(3):
            compare(compiled({f"x{number}": X})[0], X + 1)
    assert len(compiled._seen_ways) == 16


def test_errors_say_what_the_caller_wrote() -> None:
    compiled = pytocu.jit(lambda d: d["w"][0] * 2)
    for _ in range(3):
        compiled({"w": [X]})
    with pytest.raises(DTypeError, match=r"argument d\['w'\]\[0\] has dtype <U1") as caught:
        compiled({"w": [np.array(["a"])]})
    assert caught.value.help is not None and "np.unique(d['w'][0], return_inverse=True)" in caught.value.help
