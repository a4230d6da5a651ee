"""Names of lists that each step binds to another one (``frontier = following``), and lists that the loop over them changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mask_tools import everywhere

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.testing.compare import compare

A = np.array([3, 1, 0, 2, 0, 1, 0, 5, 2, 0])


def levels(a, n):
    level = np.full(n, -1)
    level[0] = 0
    frontier, sizes = [0], []
    while frontier:
        following = []
        for u in frontier:
            for v in range(n):
                if (a[u] + v) % 3 == 0 and level[v] < 0:
                    level[v] = level[u] + 1
                    following.append(v)
        frontier = following
        sizes.append(len(following))
    return level, sizes, frontier


def neighbours_by_data(a, n):
    level = np.full(n, -1)
    level[0] = 0
    frontier = [0]
    while frontier:
        following = []
        for u in frontier:
            for v in np.nonzero((a[:n] + u) % 3 == 0)[0]:
                if level[v] < 0:
                    level[v] = level[u] + 1
                    following.append(v)
        frontier = following
    return level


def both_names(a, n):
    current = [1]
    for _ in range(n):
        made = []
        for u in current:
            if a[u] > 0:
                a[u] -= 1
                made.append(u + 1)
        current = made
        if len(made) < 3 and a[5] > 0:
            made.append(5)
            a[5] -= 1
        a[0] += len(current)
    return a, current


def tuples(a, n):
    cells = [(0, 1), (2, 3)]
    while len(cells) > 0:
        made = []
        for y, x in cells:
            if a[y] > 0:
                a[y] -= 1
                made.append((y, x + 1))
            if a[x % 10] > 0:
                a[x % 10] -= 1
                made.append((x % 10, y))
        cells = made
    return a


def by_a_function(a, n):
    def grown(current):
        made = []
        for u in current:
            if a[u] > 0:
                a[u] -= 1
                made.append(u)
                made.append(u + 1)
        return made

    current = [1]
    while current:
        current = grown(current)
    return a


def the_longest(a, n):
    best = []
    for s in range(n):
        found = []
        for u in range(len(a)):
            if a[u] > s % 4:
                found.append(u)
        if len(found) > len(best):
            best = found
    return best


def all_members(a, n):
    current = [1]
    while current:
        made = []
        for u in current:
            if a[u] > 0:
                a[u] -= 1
                made.append(u + 1)
        current[:] = made
    return a


def appended_to(a, n):
    order = [0]
    for u in order:
        if a[u] > 0 and u + 1 < n:
            a[u] -= 1
            order.append(u + 1)
    else:
        a[9] = 7
    return order, a


def shortened(a, n):
    order = []
    for v in range(n):
        if a[v] > 0:
            order.append(v)
    for u in order:
        if a[u] > 4:
            continue
        a[u] += 5
        order.pop()
    total = 0
    for u in order:
        order.clear()
        total = total * 10 + u
        for v in range(n):
            if a[v] > u + 5:
                order.append(v + 1)
        if total > 1000:
            break
    return order, a, total


def exchanged_with_a_new_one(a, n):
    level = np.full(n, -1)
    level[0] = depth = 0
    current, following = [0], []
    while current:
        for u in current:
            for v in range(n):
                if (a[u] + v) % 3 == 0 and level[v] < 0:
                    level[v] = depth + 1
                    following.append(v)
        current, following, depth = following, [], depth + 1
    return level, depth


def one_after_the_other(a, n):
    level = np.full(n, -1)
    level[0] = 0
    current, following = [0], []
    while len(current) > 0:
        for u in current:
            for v in range(n):
                if (a[u] + v) % 3 == 0 and level[v] < 0:
                    level[v] = level[u] + 1
                    following.append(v)
        current = following
        following = []
    return level


def in_turns(a, n):
    one, other, third = [0], [], []
    for k in range(n):
        other.append(k)
        if a[k] > 1:
            third.append(a[k])
        one, other, third = third, one, other
        if a[k] % 2:
            one.append(k)
    return one, other, third


def filled_again(a, n):
    sums = np.zeros(n)
    found = []
    for i in range(n):
        for j in range(i):
            if a[j] > a[i]:
                found.append(a[j])
        sums[i] = sum(found)
        found = []
    return sums


def emptied_when_full(a, n):
    part, most = [], []
    for k in range(n):
        part.append(a[k])
        if len(part) == 3:
            most.append(max(part))
            part = []
    return most, part


def the_longest_run(a, n):
    best, run = [], []
    for k in range(n):
        if len(run) == 0 or a[k] > run[-1]:
            run.append(a[k])
        else:
            if len(run) > len(best):
                best = run
            run = [a[k]]
    if len(run) > len(best):
        best = run
    return best


def a_copy(a, n):
    last, found = [0], []
    for k in range(n):
        if a[k] > 0:
            found.append(k)
        last = found[:]
        if k == 5:
            continue
        found = []
    return last, found


def row_of_pascal(a, n):
    row = [1]
    for _ in range(n):
        row = [1] + [row[j] + row[j + 1] for j in range(len(row) - 1)] + [1]
    return row


def put_by_place_and_lengthened(a, n):
    found = [1, n]
    found[n % len(found)] = 0
    found.append(n + 0.5)
    return found


PROGRAMS = [
    put_by_place_and_lengthened, row_of_pascal, exchanged_with_a_new_one, one_after_the_other, in_turns, filled_again,
    emptied_when_full, the_longest_run, a_copy,
    levels, neighbours_by_data, both_names, tuples, by_a_function, the_longest, all_members, appended_to, shortened,
]  # fmt: skip


@pytest.mark.parametrize("function", PROGRAMS)
@pytest.mark.parametrize("n", [10, 4])
def test_programs(function: Callable[..., Any], n: int) -> None:
    given, changed = A.copy(), A.copy()
    compare(pytocu.jit(function)(given, n), function(changed, n))
    compare(given, changed)


def changed_behind(a, n):
    best = []
    for s in range(n):
        found = []
        for u in range(len(a)):
            if a[u] > s:
                found.append(u)
        if len(found) > len(best):
            best = found
        found.append(99)
    return best


def gone_over(a, n):
    current, total = [], 0
    for v in range(n):
        if a[v] > 0:
            current.append(v)
    while total < 100:
        for u in current:
            total = total * 10 + u
            made = []
            for v in current:
                if a[v] > u:
                    made.append(v + 1)
            current = made
    return current, total


def counted(a, n):
    order = []
    for v in range(n):
        if a[v] > 0:
            order.append(v)
    for _, u in enumerate(order):
        a[u] += 5
        order.pop()
    return order


def a_part(a, n):
    order, other = [1], []
    for v in range(n):
        if a[v] > 0:
            other.append(v)
    order[1:] = other
    return order


def left_by_a_step(a, n):
    last, b = [0], []
    for k in range(n):
        if a[k] > 0:
            b.append(k)
        last = b
        if k == 5:
            continue
        b = []
    return last, b


def one_of_two(a, n):
    b, c = [0], []
    while len(b) < n:
        c.append(n)
        b, c = c, c
        b.append(a[n])
    return b, c


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (changed_behind, "on one side of a branch and another one on the other"),
        (gone_over, "current is a list that a loop of run time made longer before a step of the loop and another one after"),
        (left_by_a_step, "b is a list that a loop of run time made longer before a step of the loop, and may be"),
        (one_of_two, r"b is bound to another list in a loop that may have no step(?s:.)*of the other: b\[:\] = "),
        (counted, r"the list order gets longer or shorter in the steps of a loop that goes over it(?s:.)*list\(order\)"),
        (a_part, r"a part of a list is assigned a list that a loop of run time has made(?s:.)*a\[:i\] \+ b"),
    ],
)
def test_refused(function: Callable[..., Any], said: str) -> None:
    with pytest.raises(UnsupportedError, match=said):
        pytocu.jit(function)(A.copy(), 10)


# Lists from before the loop that a loop of run time, or an array, has made.


def counted_out(x, n):
    people, out, i = list(range(n)), [], 0
    while people:
        i = (i + 2) % len(people)
        out.append(people[i])
        people = people[:i] + people[i + 1 :]
    return out


def those_left(x, n):
    people, i = list(range(n + 1)), 0
    while len(people) > 1:
        i = (i + 2) % len(people)
        people = [p for p in people if p != people[i]]
    return people[0]


def sieved(x, n):
    primes, candidates = [], list(range(2, 5 * n))
    while candidates:
        p = candidates[0]
        primes.append(p)
        candidates = [c for c in candidates if c % p]
    return primes


def added_in_pairs(x, n):
    sums, total = [v for v in x], 0.0  # noqa: C416
    while len(sums) > 1:
        sums = [sums[i] + sums[i + 1] for i in range(0, len(sums) - 1, 2)]
        total += sums[0]
    return total, sums


def all_but_the_first(x, n):
    left, total = list(x), 0.0
    while left:
        total = 2 * total + left[0]
        left = left[1:]
    return total


def below_the_largest(x, n):
    left, total = list(x), 0.0
    while len(left) > 0:
        most = max(left)
        total = 2 * total + most
        left = [v for v in left if v < most]
    return total


MADE_BEFORE = [counted_out, those_left, sieved, added_in_pairs, all_but_the_first, below_the_largest]


@pytest.mark.parametrize("n", [0, 1, 7])
@pytest.mark.parametrize("function", MADE_BEFORE, ids=lambda f: f.__name__)
def test_lists_that_a_loop_has_made_before(function: Callable[..., Any], n: int) -> None:
    everywhere(function, np.random.default_rng(n).integers(-9, 9, n).astype(float), n)


def test_a_list_that_each_step_makes_longer_is_gone_over_for_ever() -> None:
    def function(n):
        q = [n]
        if n > 100:
            for x in q:
                q.append(x + 1)
        return q

    with pytest.raises(UnsupportedError, match="a loop over a list that its steps make longer has more than 1,000 steps"):
        pytocu.jit(function)(4)
