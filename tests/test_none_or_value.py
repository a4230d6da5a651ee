"""Names and results that are a value or None by what a run does."""

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mask_tools import everywhere

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.testing.compare import compare

A = np.random.default_rng(0).standard_normal(7)
NONE = np.zeros(0)


def first(x, t):
    found = None
    for i in range(len(x)):
        if x[i] > t:
            found = i
            break
    return found


def returned(x, t):
    for i in range(len(x)):
        if x[i] > t:
            return i
    return None


def to_the_end(x, t):
    for v in x:
        if v > t:
            return v


def pair(x, t):
    for i in range(len(x)):
        for j in range(i):
            if x[i] + x[j] > t:
                return i, j


def last(x, t):
    found = None
    for i in range(len(x)):
        if x[i] > t:
            found = i
        elif x[i] < -t:
            found = None
    return found


def truth(x, t):
    found = None
    for v in x:
        if v > t:
            found = v
        elif v < -t:
            found = None
    if found:
        return found
    return 0.0


def while_none(x, t):
    i = 0
    found = None
    while found is None and i < len(x):
        if x[i] > t:
            found = x[i]
        i += 1
    return found, i


def greatest(x, t):
    best = None
    for i in range(len(x)):
        if x[i] > t and (best is None or x[i] > best[0]):
            best = x[i], i
    return best


def runs(x, t):
    start = None
    longest = count = 0
    for i in range(len(x)):
        if x[i] > t:
            if start is None:
                start = i
        elif start is not None:
            count += 1
            longest = max(longest, i - start)
            start = None
    if start is not None:
        count += 1
    return count, longest


def of_helper(x, t):
    found = returned(x, t)
    if found is None:
        return x * 0
    return x + x[found]


def of_helper_in_loop(x, t):
    n = 0
    for k in range(3):
        found = to_the_end(x, t + k)
        n += 1 if found is None else 10
    return n


def asked(x, t):
    found = returned(x, t)
    return found is not None, not found, found is None


def behind_raise(x, t):
    found = returned(x, t)
    if found is None:
        raise ValueError("no number is so large")
    return found * x


def conditional(x, t):
    found = x.sum() if len(x) and x.sum() > t else None
    return found if found is not None else np.float64(3)


def pieces(x, t):
    found = returned(x, t)
    return [found, 1], {"at": found}, (x, found)


def in_two_functions(x, t):
    def inner(found):
        return -1 if found is None else found

    return inner(first(x, t)) + inner(len(x) if t > 3 else None)


def with_a_count(x, t):
    seen = 0
    for i in range(len(x)):
        seen += 1
        if x[i] > t:
            return i, (x[i], seen)
    return None, (None, seen)


def chosen_of_a_helper(x, t):
    found, (value, seen) = with_a_count(x, t)
    return (seen, 0) if found is None else (found, value)


NUMBERS = [
    with_a_count, chosen_of_a_helper,
    first, returned, to_the_end, pair, last, truth, while_none, greatest, runs, of_helper, of_helper_in_loop, asked,
    behind_raise, conditional, pieces, in_two_functions,
]  # fmt: skip


@pytest.mark.parametrize("function", NUMBERS)
@pytest.mark.parametrize(("x", "t"), [(A, 0.5), (A, 100.0), (NONE, 1.0)], ids=["some", "none", "empty"])
def test_numbers(function: Callable[..., Any], x: np.ndarray, t: float) -> None:
    everywhere(function, x, t)


def argument(x, n):
    if x[0] > n:
        return x
    return None


def view(x, n):
    if n > 0:
        return x[1:]


def changed(x, n):
    y = None
    if n > 0:
        y = x
    if y is not None:
        y[0] = 5.0
    return x.copy(), y is None


def changed_before(x, n):
    y = None
    if n > 0:
        y = x
    x[0] = 7.0
    return x.max() if y is None else y.max() * 2


def one_memory(x, n):
    y, z = None, x * 2
    if n > 0:
        y = z
    z[0] = 7.0
    return y, z


def best_row(x, n):
    best = None
    for k in range(4):
        y = x * k
        if y.sum() > n:
            best = y
    return best


def best_of_rows(x, n):
    best = None
    for k in range(4):
        y = x * (k - n)
        if best is None or y.sum() > best.sum():
            best = y
    return best


def in_tuples(x, n):
    if x[0] > n:
        return None, 1
    return x[1:], 2


@pytest.mark.parametrize("function", [in_tuples, argument, view, changed, changed_before, one_memory, best_row, best_of_rows])
@pytest.mark.parametrize("n", [2, -1, -100, 100])
def test_arrays(function: Callable[..., Any], n: int) -> None:
    everywhere(function, A, n)


def test_an_argument_comes_back_as_it_is_and_a_view_as_one() -> None:
    x = A.copy()
    assert pytocu.jit(argument)(x, -100) is x
    assert pytocu.jit(argument)(x, 100) is None
    assert np.shares_memory(pytocu.jit(view)(x, 1), x)


def the_first_time(x):
    best, at = None, -1
    for i in range(len(x)):
        if best is None or x[i] > best:
            best, at = x[i], i
    return best, at


def with_a_count_of_these(x):
    found = (None, 0)
    for v in x:
        if found[0] is None or v > found[0]:
            found = (v, 1)
        elif v == found[0]:
            found = (v, found[1] + 1)
    return found


def smoothed(x):
    state = None
    for v in x:
        state = v if state is None else state * 0.5 + v
    return 0.0 if state is None else state


def bound_alone(x):
    last, k = None, 0
    while k < len(x) and x[k] > -1:
        last = x[k]
        k += 1
    return last, k


def array_of_the_step_before(x):
    before = None
    for k in range(len(x)):
        y = x * k
        if before is not None and np.abs(y - before).max() < 0.5:
            break
        before = y
    return before


WITHOUT_STEPS = [the_first_time, with_a_count_of_these, smoothed, bound_alone, array_of_the_step_before]


@pytest.mark.parametrize("function", WITHOUT_STEPS, ids=lambda f: f.__name__)
def test_none_where_a_loop_has_no_step(function: Callable[..., Any]) -> None:
    compiled = pytocu.jit(function)
    for x in (np.array([0.5, 2.0, 2.0, -3.0, 1.0]), np.array([-2.0, 4.0]), np.array([0.25]), np.empty(0)):
        compare(compiled(x), function(x))
    everywhere(function, np.array([0.5, 2.0, -3.0]))
    everywhere(function, np.empty(0))


def used(x, t):
    found = returned(x, t)
    return x[found] * 2


def compared(x, t):
    return returned(x, t) < 2


@pytest.mark.parametrize("function", [used, compared])
def test_a_run_in_which_none_is_used_is_refused(function: Callable[..., Any]) -> None:
    everywhere(function, A, 0.5)
    with pytest.raises(UnsupportedError, match="is None where it is used as a value") as caught:
        pytocu.jit(function)(A.copy(), 100.0)
    assert "is not None" in str(caught.value)


def test_none_or_a_number_where_elements_are_assigned_is_refused() -> None:
    def function(x, n):
        y = 0
        for _ in range(n):
            if x.any():
                break
            y = None
        x[x > 1] = y
        return x

    with pytest.raises(UnsupportedError, match="of which only a run knows which it is, is used") as caught:
        pytocu.jit(function)(np.ones(3), 2)
    assert "if y is not None" in str(caught.value)


def other_object(x, n):
    y = None if n < 0 else n
    return y is x


def test_is_with_something_else_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="ask for None alone"):
        pytocu.jit(other_object)(copy.copy(A), 3)


def order_or_none(x, n):
    found = []
    for i in range(n):
        if x[i] > 0.3:
            found.append(i)
    return found if len(found) == n else None


def pairs_or_none(x, n):
    found = [(0.0, 0)]
    for i in range(n):
        if x[i] < 0:
            return None, 0
        if x[i] > 0.3:
            found.append((x[i], i))
    if len(found) < 2:
        return None, 1
    return found, len(found)


def asked_for(x, n):
    def longer(limit):
        found = []
        k = 0
        while k < n:
            if x[k] > limit:
                found.append(x[k])
            k += 1
        return found if len(found) > 1 else None

    total = 0
    for k in range(3):
        one = longer(0.25 * k)
        if one is None:
            break
        total += len(one)
    return total, longer(0.0)


@pytest.mark.parametrize("function", [order_or_none, pairs_or_none, asked_for])
def test_a_list_that_a_run_has_made_or_none(function) -> None:
    jitted = pytocu.jit(function)
    for x in ([0.5, 0.5, 0.25, 0.6], [0.5] * 4, [-1.0, 0.5, 0.5, 0.1], [0.0] * 4):
        for n in (0, 1, 3, 4):
            assert repr(jitted(np.array(x), n)) == repr(function(np.array(x), n))


def changed_under_its_own_name(x, n, change):
    found = []
    for i in range(n):
        if x[i] > 0.3:
            found.append(i)
    other = found if n > 2 else [1]
    if change == 1:
        found.append(9)
    elif change == 2:
        other[0] = 7
    elif change == 3:
        found.pop()
    return other, found


def test_a_list_with_another_name_in_some_runs_is_not_changed() -> None:
    """A conditional expression gave a copy of it, which did not see the change."""
    jitted = pytocu.jit(static="change")(changed_under_its_own_name)
    x = np.array([0.5, 0.5, 0.25, 0.6])
    assert jitted(x, 4, 0) == changed_under_its_own_name(x, 4, 0)
    for change in (1, 2, 3):
        with pytest.raises(UnsupportedError, match="is changed, and a run decides whether it has another name, too"):
            jitted(x, 4, change)
