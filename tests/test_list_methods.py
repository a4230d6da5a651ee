"""Methods of lists whose length a run decides that move or look at all members: insert, remove, pop(k), index, sort."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mask_tools import everywhere

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.testing.compare import compare

A = np.random.default_rng(0).standard_normal(8)


def inserted(x):
    found = []
    for i in range(len(x)):
        if x[i] > 0:
            found.append(i)
        if x[i] > 0.3 and len(found) > 1:
            found.insert(1, 100 + i)
            found.insert(-1, 200 + i)
            found.insert(50, 300 + i)
            found.insert(-50, 400 + i)
    return found


def removed(x):
    found = []
    for i in range(len(x)):
        if x[i] > 0:
            found.append(i)
    if 3 in found:
        found.remove(3)
    return found, 6 in found, 6 not in found, found.count(0)


def taken_from_inside(x):
    queue = [0]
    total = 0
    for i in range(len(x)):
        if x[i] > 0:
            queue.append(i)
        if len(queue) > 3:
            total += queue.pop(1)
            del queue[-2]
    return queue, total


def turned(x):
    found = []
    for v in x:
        if v > 0:
            found.append(float(v))
    found.reverse()
    return found


def sorted_numbers(x):
    found = []
    for v in x:
        if not v >= 2:
            found.append(float(v))
    other = sorted(found, reverse=True)
    found.sort()
    return found, other


def sorted_as_often_as_a_step_says(x):
    found = []
    total = 0
    for i in range(len(x)):
        if x[i] > 0:
            found.append(int(x[i] * 100) % 7)
            found.sort(reverse=True)
        if found:
            total += found[0] * (i + 1)
    return found, total


def scalars(x):
    return sorted([v * 2 for v in x])


def nearest_first(x):
    waiting = [0]
    order = []
    while waiting:
        best = 0
        for k in range(1, len(waiting)):
            if x[waiting[k]] < x[waiting[best]]:
                best = k
        u = waiting.pop(best)
        order.append(u)
        for step in (1, 2):
            v = u + step
            if v < len(x) and v not in waiting and v not in order:
                waiting.append(v)
    return order


def pair_in_list(x):
    found = []
    for i in range(len(x)):
        if x[i] > 0:
            found.append((i, i % 3))
    return (3, 0) in found, len(found)


PROGRAMS = [
    inserted, removed, taken_from_inside, turned, sorted_numbers, sorted_as_often_as_a_step_says, scalars, nearest_first,
    pair_in_list,
]  # fmt: skip


@pytest.mark.parametrize("function", PROGRAMS)
@pytest.mark.parametrize("x", [A, -np.abs(A), np.abs(A)], ids=["mixed", "negative", "positive"])
def test_programs(function: Callable[..., Any], x: np.ndarray) -> None:
    everywhere(function, x)


def test_equal_zeros_stay_in_order() -> None:
    everywhere(sorted_numbers, np.array([0.0, -0.0, 1.0, -0.0, 0.0, -1.0, 3.0, -0.0, 0.0]))
    everywhere(sorted_numbers, np.zeros(0))
    everywhere(sorted_numbers, np.random.default_rng(1).random(40))


def test_numbers_without_an_order_are_not_sorted() -> None:
    with pytest.raises(UnsupportedError, match="the list found is sorted and holds NaN"):
        pytocu.jit(sorted_numbers)(np.array([1.0, np.nan, 0.5]))


def removed_value(x, value):
    found = []
    for i in range(len(x)):
        if x[i] > 0:
            found.append(i)
    found.remove(value)
    return found


def index_of(x, value):
    found = []
    for i in range(len(x)):
        if x[i] > 0:
            found.append(i)
    return found.index(value)


def taken(x, place):
    found = []
    for i in range(len(x)):
        if x[i] > 0:
            found.append(i)
    member = found.pop(place)
    return member, found


def read(x, place):
    found = []
    for i in range(len(x)):
        if x[i] > 0:
            found.append(i)
    return found[place]


def deleted(x, place):
    found = []
    for i in range(len(x)):
        if x[i] > 0:
            found.append(i)
    del found[place]
    return found


def assigned(x, place):
    found = []
    for i in range(len(x)):
        if x[i] > 0:
            found.append(i)
    found[place] = 9
    return found


@pytest.mark.parametrize("function", [removed_value, index_of, taken, read, deleted, assigned])
@pytest.mark.parametrize("number", [0, 1, -2, 77, -77])
def test_what_python_raises(function: Callable[..., Any], number: int) -> None:
    everywhere(function, A, number)


def backwards(x):
    out = []
    k = len(x)
    while k:
        out.append(k)
        k -= 1
    out.reverse()
    return out


def test_a_list_with_room_for_millions_is_changed_where_it_is() -> None:
    everywhere(backwards, A)
    steps = pytocu.jit(backwards).lower("f64[n]").compile("cpu").plan.steps
    assert sum(step[0] == "allocate" and isinstance(step[3][0], int) and step[3][0] > 2**20 for step in steps) == 1


def test_an_empty_list() -> None:
    for function in (removed_value, taken, deleted):
        everywhere(function, np.zeros(0), 1)


def one_of(x):
    count = 0
    for i in range(len(x)):
        if i in (1, 3, 5) or i not in [2, 3, 4, 6]:
            count += i
    return count, len(x) in (3, 8), x[0] in (0.0, 1.0), x[0] in (x[0], 3)


@pytest.mark.parametrize("x", [A, np.arange(3.0), np.full(2, np.nan)])
def test_numbers_in_tuples(x: np.ndarray) -> None:
    everywhere(one_of, x)


def sorted_by_a_key(x):
    found = []
    for i in range(len(x)):
        if x[i] > 0:
            found.append(i)
    found.sort(key=lambda k: x[k] * 1j)
    return found


def copied_and_longer(x):
    found = []
    for i in range(len(x)):
        if x[i] > 0:
            found.append(i)
    other = list(found)
    other.append(1)
    return other


@pytest.mark.parametrize(
    ("function", "said"), [(sorted_by_a_key, "sort.. by such a key is not compiled"), (copied_and_longer, "grows again")]
)
def test_refused(function: Callable[..., Any], said: str) -> None:
    with pytest.raises(UnsupportedError, match=said):
        pytocu.jit(function)(A)


PEOPLE = 7


def last_one(x, k):
    people, i = list(range(PEOPLE)), 0
    while len(people) > 1:
        i = (i + k) % len(people)
        people.pop(i)
    return people[0]


def in_order(x, k):
    people, i, gone = list(range(PEOPLE)), 0, []
    while people:
        i = (i + k) % len(people)
        gone.append(people.pop(i))
    return gone


def drawn(x, k):
    deck, hand = [10, 20, 30, 40, 50], []
    for j in range(3):
        hand.append(deck.pop(int(x[j] * len(deck))))
    return hand, deck


def one_out(x, k):
    held = [x[0], x[1] * 2, x[2]]
    taken = held.pop(k)
    return taken, held, len(held)


def one_in(x, k):
    held = [3, 1, 4]
    held.insert(k, 9)
    del held[k - 1]
    return held, sum(held), sorted(held)


def on_a_side(x, k):
    held = [3, 1, 4]
    if x[0] > 0.5:
        held.pop(k)
    else:
        held.pop()
    return held


@pytest.mark.parametrize("function", [last_one, in_order, drawn, one_out, one_in, on_a_side])
def test_a_known_list_is_changed_at_a_place_of_a_run(function: Callable[..., Any]) -> None:
    jitted = pytocu.jit(function)
    for x in (np.array([0.9, 0.1, 0.5]), np.array([0.2, 0.8, 0.6])):
        for k in (0, 1, 2, -1, 3, -9):
            try:
                expected = function(x, k)
            except IndexError as error:
                with pytest.raises(IndexError, match=str(error)):
                    jitted(x, k)
            else:
                compare(jitted(x, k), expected)


def of_texts(x, k):
    held = ["a", "b"]
    held.pop(k)
    return len(held)


def of_two_names(x, k):
    held = [1, 2, 3]
    other = held
    other.pop(k)
    return held


def of_both_kinds(x, k):
    held = [1, 2.5, 3]
    return held.pop(k), held


@pytest.mark.parametrize("function", [of_texts, of_two_names, of_both_kinds])
def test_other_lists_are_not_changed_at_a_place_of_a_run(function: Callable[..., Any]) -> None:
    with pytest.raises(UnsupportedError, match=r"list\.pop\(\) at a position that is known only at run time"):
        pytocu.jit(function)(A, 1)
