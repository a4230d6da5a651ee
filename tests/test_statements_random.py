"""Random sequences of statements give Python's answer, its exception, or are refused."""

from __future__ import annotations

import collections
import copy
import random
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mask_tools import everywhere

import pytocu
from pytocu.testing.compare import compare
from pytocu.testing.device_arrays import as_expected
from pytocu.testing.fuzz import RUNS
from pytocu.testing.fuzz_programs import make
from pytocu.testing.limits import within
from pytocu.testing.statement_programs import random_statement_program, statement_arguments

PROGRAMS = 20

PATIENCE = 10.0
"""Seconds for Python, in which every program comes to its end."""

REFUSED = 0.3
"""The share of the calls of so many programs that may be refused: of thousands it is 0.18."""


def outcome(call: Callable[[], Any]) -> tuple[Any, Exception | None]:
    """What a call returns, or raises."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return call(), None
    except Exception as error:
        # Which exception it is belongs to the answer.
        return None, error


def check(source: str, seed: int, run: Callable[..., Any]) -> collections.Counter[str]:
    """Compare the calls of a program: what they return, raise and leave in the arguments; how many there were of each kind."""
    function = make(source, "program")
    kinds: collections.Counter[str] = collections.Counter()
    for given in statement_arguments(seed):
        ours = copy.deepcopy(given)
        expected, error = within(PATIENCE, lambda given=given: outcome(lambda: function(*given)))
        found, raised = outcome(lambda ours=ours: run(function, *ours))
        if isinstance(raised, pytocu.UnsupportedError):
            kinds["refused"] += 1
            continue
        kinds["error" if error else "same"] += 1
        try:
            # What an exception leaves half done is not compared: of two errors shapes come first, before anything is written.
            assert (raised is None) is (error is None) and isinstance(raised, type(error)), f"{raised!r} for {error!r}"
            if error is None:
                compare((as_expected(found, expected), ours), (expected, given))
        except AssertionError as failure:
            raise AssertionError(f"{source}\nseed {seed}, count {given[2]}: {failure}") from raised
    return kinds


def compare_programs(seeds: range, on: str) -> None:
    kinds = sum((check(random_statement_program(random.Random(s).choice), s, RUNS[on]) for s in seeds), collections.Counter())
    assert kinds["refused"] <= REFUSED * kinds.total() and kinds["error"] <= kinds.total() / 3, kinds


@pytest.mark.parametrize("part", range(6))
def test_sequences_of_statements(part: int) -> None:
    compare_programs(range(part * PROGRAMS, (part + 1) * PROGRAMS), "cpu")


@pytest.mark.parametrize("on", ["interpreter", "threads"])
def test_sequences_of_statements_run_elsewhere(on: str) -> None:
    compare_programs(range(500, 510), on)


def test_programs_hold_every_kind_of_statement() -> None:
    sources = [random_statement_program(random.Random(seed).choice) for seed in range(400)]
    held = (
        "break", "continue", "else:", "elif ", "while True:", "while found:", "while t < 6:", "for v in found[:]:",
        "raise ValueError", "assert ", "        return ", "            return ", "push(", ".append(", ".pop()", "[x > ",
        "[a > t]", "s = None", "p = None", "p = (", "p = [", "a, b = b, a", "np.append(", "d['k'] += 1", "d['s'] = ", "a[1:]",
        " is not None", "s, t = t, s", "x.sort()",
    )  # fmt: skip
    counts = {text: sum(text in source for source in sources) for text in held}
    assert min(counts.values()) >= 4, counts
    assert all("@" not in source for source in sources)
    depths = [max(len(line) - len(line.lstrip()) for line in source.splitlines()) for source in sources]
    assert max(depths) == 16 and np.median([source.count("\n") for source in sources]) > 20


# What such programs have found.


def returned_in_a_step(x, count):
    for v in x:
        if v > 1:
            return x
    return x + 1


def returned_in_steps_written_out(x, count):
    for i in range(3):
        if x[i] > count:
            return x, i
        x[i] += 1
    return x, 5


def a_view_returned_in_a_step(x, count):
    a = x[1:]
    for i in range(count):
        if a[i] > 1:
            return a
        a[i] += 1
    a = a[1:]
    return a


def returned_beside_a_list(x, count):
    out = []
    for v in x:
        if v > 1:
            return x, out
        out.append(v)
    return x, out


def changed_behind_the_function_that_returned_it(x, count):
    a = x * 2

    def first():
        for v in x:
            if v > 1:
                return a
        return x

    b = first()
    b[0] = 9
    return a, b


def changed_where_it_may_be_none(x, count):
    a = x * 2

    def first():
        for v in x:
            if v > count:
                return a

    b = first()
    a[0] = 7
    if b is None:
        return a, x
    return a, b


def bound_anew_behind_the_way_out(x, count):
    a = x + 0
    for i in range(count):
        a[0] += 1
        if x[i] > 1:
            return a
        a = a + 0
    return a


RETURNED = [
    returned_in_a_step, returned_in_steps_written_out, a_view_returned_in_a_step, returned_beside_a_list,
    changed_behind_the_function_that_returned_it, changed_where_it_may_be_none, bound_anew_behind_the_way_out,
]  # fmt: skip


def is_argument(value: Any, x: np.ndarray) -> Any:
    """Where a result is the argument itself, and where a view of it."""
    if isinstance(value, tuple):
        return [is_argument(member, x) for member in value]
    return value is x, isinstance(value, np.ndarray) and np.shares_memory(value, x)


@pytest.mark.parametrize("function", RETURNED)
def test_what_a_loop_returns_is_the_array_itself(function: Any) -> None:
    compiled = pytocu.jit(function)
    for values, count in (([5, 0.5, 0], 2), ([0, 0, 3], 2), ([0, 0, 0], 1), ([0, 3, 3], 0)):
        ours, given = np.array(values, np.float64), np.array(values, np.float64)
        expected, found = function(given, count), compiled(ours, count)
        compare((found, ours), (expected, given))
        assert is_argument(found, ours) == is_argument(expected, given), (values, count)


def a_list_in_the_place_of_an_array(x, count):
    a = x
    found = []
    while len(found) < 4:
        found.append(float(x[0]))
        if count > 1:
            a += x[:1]
            a = [1.0, 2.0]
        else:
            raise ValueError
    return x


def test_an_array_that_steps_make_a_list_which_gets_longer_is_refused() -> None:
    """What ``a += x[:1]`` makes longer is a list from the second step on."""
    with pytest.raises(pytocu.UnsupportedError, match="before a step of the loop, and a list that gets longer in it"):
        pytocu.jit(a_list_in_the_place_of_an_array)(np.arange(5.0), 2)


def views_that_a_loop_pops(x, count):
    b = x[1:]
    p = [x[:-1], b]
    x[0] += 1
    for _ in range(count):
        if len(p) > 1:
            b = p.pop()
    return b


@pytest.mark.parametrize("count", [0, 1, 3])
def test_views_of_what_was_changed_are_members_of_a_list(count: int) -> None:
    ours, given = np.arange(5.0), np.arange(5.0)
    compare((pytocu.jit(views_that_a_loop_pops)(ours, count), ours), (views_that_a_loop_pops(given, count), given))


def filled_in_steps_written_out(x, count):
    found = []
    for v in x:
        u = 0
        while True:
            u += 1
            if u > 3:
                break
            found.append(count)
        found.append(v)
    return found


def filled_in_fewer_and_fewer_steps(x, count):
    found = [0] * count
    for _ in x:
        for limit in (4, 1):
            u = 0
            while True:
                u += 1
                if u > limit:
                    break
                w = 0
                while True:
                    w += 1
                    if w > u:
                        break
                    found.append(u)
                for k in range(2):
                    found.append(k)
    return found


def filled_until_the_data_say_so(x, count):
    found = []
    k = 0
    while x[k % len(x)] < 9:
        x[k % len(x)] += count
        k += 1
        u = 0
        while True:
            u += 1
            if u > 3:
                break
            found.append(u)
    return found


FILLED = [filled_in_steps_written_out, filled_in_fewer_and_fewer_steps, filled_until_the_data_say_so]


@pytest.mark.parametrize("function", FILLED)
@pytest.mark.parametrize("size", [1, 5, 30])
def test_a_list_has_room_for_what_steps_of_a_while_append(function: Any, size: int) -> None:
    ours, given = np.arange(-size, 0.0), np.arange(-size, 0.0)
    expected = function(given, 2)
    compare((pytocu.jit(function)(ours, 2), ours), (expected, given))


def part_of_sides(x, y, count):
    def part(x):
        a = x[1:]
        b = a[:-1]
        p = (1, a)
        a.fill(1)
        if x.sum() > 1:
            if x[0] > count:
                return a
        elif x[0] < 2:
            p = (1, b)
        return a[p[0] :]

    return part(x * 2)


@pytest.mark.parametrize("first", [0.0, 3.0])
def test_views_that_one_side_takes_are_taken_again_on_the_other(first) -> None:
    """What a branch hands on of arrays of two lengths is made at the ends of both sides."""
    x = np.array([first, 2, 3, 4])
    compare(pytocu.jit(part_of_sides)(x.copy(), x, 1), part_of_sides(x, x, 1))


def changed_behind_a_side_that_raises(x, count):
    a = x * 2
    if count > 1:
        a = x[1:] + 0
    elif x.size > 30:
        raise KeyError(count)
    a.fill(count)
    return a[1:]


@pytest.mark.parametrize("count", [3, 1])
def test_what_a_side_returns_of_an_array_that_it_changed_is_as_the_side_left_it(count: int) -> None:
    """Also where the sides' arrays have two lengths, which the branch hands on."""
    x = np.arange(5.0)
    compare(pytocu.jit(changed_behind_a_side_that_raises)(x, count), changed_behind_a_side_that_raises(x, count))


def number_of_a_branch_beside_a_sum(x, count):
    t = 1
    if count > 2:
        for _ in range(count):
            t = t * 3 % 7
            x += t
    return x.sum() - t


def number_of_a_branch_beside_sums_of_rows(x, count):
    t = 1
    if count > 2:
        for _ in range(count):
            t = t * 3 % 7
            x += t
    return x.reshape(2, -1).sum(axis=1) - t


@pytest.mark.parametrize("function", [number_of_a_branch_beside_a_sum, number_of_a_branch_beside_sums_of_rows])
@pytest.mark.parametrize("size", [4, 200])
@pytest.mark.parametrize("count", [1, 3])
def test_a_number_of_a_branch_is_known_behind_the_sum_of_what_it_changes(function: Any, size: int, count: int) -> None:
    """The branch gives the number at each element of the array, too, in the loop that adds them."""
    everywhere(function, np.arange(size, dtype=np.float32), count)


def test_no_loop_takes_from_the_list_that_a_loop_around_it_fills() -> None:
    """Both would go on for ever."""
    for seed in range(30500, 31500):
        around: list[int] = []
        for line in random_statement_program(random.Random(seed).choice).splitlines():
            depth = len(line) - len(line.lstrip())
            around = [d for d in around if d < depth]
            assert not (around and "while found:" in line), seed
            around += [depth] * ("while len(found) < 4:" in line)
