"""Lists that grow by what an array has, members of sorted rows, first members of an order, and values for chosen elements."""

from __future__ import annotations

import copy
import heapq

import numpy as np
import pytest

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.testing.compare import compare

JITTED = {}
X = np.array([3.0, -1, 2, 5, -2, 4])


def agrees(function, *arguments) -> None:
    jitted = JITTED.setdefault(function, pytocu.jit(function))
    for _ in range(2):
        found = []
        for call in (function, jitted):
            given = copy.deepcopy(arguments)
            try:
                result = call(*given)
            except ValueError as error:
                # How much was written before depends on where that is seen.
                result, given = str(error).split("\n")[0], ()
            found.append((repr(result), repr(given)))
        assert found[0] == found[1]


def extended(x, n):
    first, second, third = [], [0.5], [0]
    first.extend(x[x > 0])
    second.extend(x)
    second.append(1.0)
    third.extend(range(n))
    return first, second, third, len(third), third[-1]


def extended_by_itself(x, n):
    out = []
    for i in range(n):
        if x[i] > 0:
            out.append(x[i])
    out.extend([1.0, 2.0])
    out.extend(out)
    return out, np.array(out)


def pairs(x):
    total = 0
    for row in x:
        i, j = sorted(row)
        total += i * 10 + j
    return total


def least_and_greatest(x, k):
    return heapq.nsmallest(k, x), heapq.nlargest(3, [v for v in x if v > 0])


def ordered(x, n):
    places = [i for i in range(n) if x[i] > 0]
    places.sort(key=lambda i: (x[i] > 2, (-i, (x[i], i))))
    return places


def given_to_chosen(x, y, n):
    for i in range(n):
        x[x > i] = y[:1]
        x[x > i + 4] = y[i:]


def chosen_to_chosen(x, y):
    x[x > 0] = y[y > 5]


def test_lists_grow_by_arrays() -> None:
    agrees(extended, X, 3)
    agrees(extended_by_itself, X, 6)


def test_members_of_sorted_rows() -> None:
    agrees(pairs, np.array([[3, 1], [2, 5]]))
    agrees(pairs, np.array([[3, 1, 2]]))
    agrees(pairs, np.array([[3]]))


def test_first_members_of_an_order() -> None:
    for k in (-1, 2, 9):
        agrees(least_and_greatest, X, k)
    agrees(ordered, X, 6)


def test_one_value_is_repeated_where_only_a_run_knows_that_it_is_one() -> None:
    for y in ([9.0, 1.0], [9.0], [], [9.0, 7, 6, 8], [9.0, 7, 6]):
        agrees(given_to_chosen, X, np.array(y), 2)
        agrees(chosen_to_chosen, X, np.array(y))
        agrees(chosen_to_chosen, -X * X, np.array(y))


def test_arrays_in_tuples_in_tuples_are_refused() -> None:
    def nested(x, n):
        return len([((x * i, i), -i) for i in range(n) if x[i] > 0])

    with pytest.raises(UnsupportedError, match="holds tuples in tuples") as refused:
        pytocu.jit(nested)(X, 6)
    assert "one tuple: (a, b, c)" in str(refused.value)


def entries(x, n):
    """Entries that are taken out, and others that come from another dict or from pairs."""
    d = {"a": x, "b": {"c": x + 1, "e": n}}
    other = d
    del d["b"]["c"]
    d |= {"z": x * n, "a": n}
    if n > 2:
        d |= [("a", n + 1)]
    for i in range(n):
        d |= {"z": d["z"] + i}
    return d, other


def members_by_operators(x, n):
    seen = {1, 2}
    seen |= {3}
    seen -= {1}
    seen &= {2, 3, 4}
    seen ^= {9}
    parts = [x, n]
    parts *= 2
    return x * len(seen), parts, 2 in seen


@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize("function", [entries, members_by_operators])
def test_dicts_sets_and_lists_are_changed_by_statements(function, n: int) -> None:
    agrees(function, np.arange(3.0), n)


def test_entries_of_an_argument_are_changed() -> None:
    def function(d, n):
        del d["a"]
        d |= {"b": n, "c": d["b"]}

    given, expected = ({"a": np.ones(2), "b": np.zeros(2)} for _ in range(2))
    pytocu.jit(function)(given, 4)
    function(expected, 4)
    assert [*given] == [*expected] == ["b", "c"]
    compare([*given.values()], [*expected.values()])


def without_an_entry(d, n):
    del d["z"]


def with_a_number(d, n):
    d |= 3


def less_a_dict(d, n):
    d -= {"a": 1}


def without_one_of_run_time(d, n):
    del d[n]


def with_a_key_of_run_time(d, n):
    d |= {n: 1}


def as_often_as_said(d, n):
    parts = [1]
    parts *= n
    return parts


@pytest.mark.parametrize(
    ("function", "error", "message"),
    [
        (without_an_entry, KeyError, "'z'"),
        (with_a_number, TypeError, "'int' object is not iterable"),
        (less_a_dict, TypeError, "unsupported operand type.s. for -=: 'dict' and 'dict'"),
        (without_one_of_run_time, UnsupportedError, r"del d\[n\] takes a member out at a place known only at run time"),
        (with_a_key_of_run_time, UnsupportedError, "a key cannot be a value known only at run time"),
        (as_often_as_said, UnsupportedError, r"a list changed by \*= is not compiled"),
    ],
)
def test_changes_by_statements_that_are_refused_or_wrong(function, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        pytocu.jit(function)({"a": np.ones(2)}, 3)
