"""Members of lists and tuples whose lengths are known, by ints of run time, and ``not`` of NumPy's scalars."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.testing.cases import call_interpreted
from pytocu.testing.compare import compare

STEPS = [0, 1, 0, -1]
DIRECTIONS = ((0, 1), (1, 0), (0, -1), (-1, 0))
STRONG = (np.float32(1.5), np.float32(2), np.float32(-1))


def of_ints(i):
    return STEPS[i], STEPS[i] / 2


def of_floats(i):
    return (1.0, 4.0, 2.0, 0.5)[i]


def of_tuples(i):
    dx, dy = DIRECTIONS[i]
    return dx + 2 * dy


def of_scalars(i):
    return [*STRONG, np.float32(0)][i]


def of_run_time(i):
    return [i, i + 1, i * i, 7][i]


@pytest.mark.parametrize("function", [of_ints, of_floats, of_tuples, of_scalars, of_run_time])
@pytest.mark.parametrize("i", [0, 2, 3, -1, -4])
def test_a_member(function: Callable[..., Any], i: int) -> None:
    compare(call_interpreted(function, i), function(i))
    compare(pytocu.jit(function)(i), function(i))


@pytest.mark.parametrize("i", [4, -5])
@pytest.mark.parametrize("function", [of_ints, of_floats, of_tuples, of_scalars])
def test_a_position_that_there_is_not(function: Callable[..., Any], i: int) -> None:
    with pytest.raises(IndexError) as wanted:
        function(i)
    with pytest.raises(IndexError, match=f"^{wanted.value}"):
        pytocu.jit(function)(i)


def walk(turns, n):
    path, d, x, y = np.zeros((len(turns), 2), int), 0, 0, 0
    for k in range(len(turns)):
        d = (d + turns[k]) % 4
        dx, dy = DIRECTIONS[d]
        x, y = x + dx, y + dy
        path[k] = x, y
    return path


def ant(grid, n):
    x, y, d = 2, 2, 0
    for _ in range(n):
        d = (d + (1 if grid[x, y] else -1)) % 4
        grid[x, y] = not grid[x, y]
        x, y = (x + STEPS[d]) % 5, (y + STEPS[(d + 1) % 4]) % 5
    return grid, x, y


def chosen_by_truth(x, n):
    return (1.5, 2.5)[n > 3], [not x[0], not x.any()], not x.max()


@pytest.mark.parametrize(
    ("function", "first"),
    [(walk, np.array([0, 1, 3, 0, 1, 2, -1])), (ant, np.zeros((5, 5), bool)), (chosen_by_truth, np.array([0.0, np.nan]))],
    ids=lambda v: getattr(v, "__name__", ""),
)
@pytest.mark.parametrize("n", [0, 11])
def test_programs(function: Callable[..., Any], first: np.ndarray, n: int) -> None:
    given, changed = first.copy(), first.copy()
    compare(pytocu.jit(function)(given, n), function(changed, n))
    compare(given, changed)


def of_arrays(rows, pairs, table, n):
    total = a = np.zeros_like(rows[0])
    for i in range(n):
        a, b = pairs[i % 2]
        total = total + rows[i % 3] * b + a
        for j in range(2):
            total = total * table[i % 2][j] - rows[-1][j]
    return total, rows[n % 3], table[n % 2][n % 2] + LISTED[n % 2][0], [{"a": total}, {"a": a}][n % 2]["a"]


def changed_in_place(rows, pairs, table, n):
    for i in range(n):
        rows[i % 3][i % 2] += i
        pairs[i % 2][1][0] = i
    row = rows[n % 3]
    row -= 1
    return row


def of_layers(rows, pairs, table, n):
    x = rows[0]
    for i in range(n % 3 + 1):
        x = np.tanh(x * rows[i])
    return x


@pytest.mark.parametrize("function", [of_arrays, changed_in_place, of_layers])
@pytest.mark.parametrize("n", [1, 4, 7])
def test_arrays_and_lists(function: Callable[..., Any], n: int) -> None:
    x = np.array([1.0, -2.0, 4.0])
    made = lambda: ([x, x + 1, x * 2], [(x - 3, x + 2), (x * 3, x / 2)], [[1.0, 2.5], [0.5, 3.0]], n)  # noqa: E731
    given, changed = made(), made()
    compare(pytocu.jit(function)(*given), function(*changed))
    compare(given[0], changed[0])
    compare(given[1], changed[1])


def test_the_array_itself_is_returned() -> None:
    rows = [np.ones(2), np.zeros(2)]
    assert pytocu.jit(lambda rows, n: rows[n])(rows, 1) is rows[1]
    with pytest.raises(IndexError, match=r"^list index out of range"):
        pytocu.jit(lambda rows, n: rows[n])(rows, 2)


def test_a_list_that_may_be_one_of_several_is_not_changed() -> None:
    def function(n):
        table = [[1, 2], [3, 4]]
        table[n][0] = 5
        return table

    with pytest.raises(UnsupportedError, match="changes a list that may be one that has other names, too"):
        pytocu.jit(function)(1)


LISTED = [[1, 2], [3, 4]]
REFUSED = {
    "[1, 2.5][n]": "not all of its members are numbers of one type: member 0 is of type weak int, member 1 of type weak float",
    "[x, x.astype(int)][n]": r"a list at an int known only at run time gives f64(?s:.)* or i64",
    "[[1], [2, 3]][n]": "a list at an int known only at run time gives a list of 1 or a list of 2",
    "['a', 'b'][n]": "a list at an int known only at run time gives 'a' or 'b'",
    "([x] * 33)[n]": r"a list of 33 arrays or lists(?s:.)*np.stack",
    "list(range(65))[n]": "a sequence of 65 numbers(?s:.)*pass an array of them",
}


@pytest.mark.parametrize("text", REFUSED)
def test_refused(text: str) -> None:
    function = pytocu.testing.operands.make_function("xn", [text], {"np": np, "LISTED": LISTED})
    with pytest.raises(UnsupportedError, match=REFUSED[text]):
        pytocu.jit(function)(np.ones(3), 1)


def test_scalars_that_are_no_ints_are_no_positions() -> None:
    function = lambda x: STEPS[x[0] > 0]  # noqa: E731
    with pytest.raises(TypeError) as wanted:
        function(np.ones(2))
    with pytest.raises(TypeError, match=f"^{wanted.value}"):
        pytocu.jit(function)(np.ones(2))


def test_a_member_that_is_assigned_says_what_to_use() -> None:
    def function(n):
        counts = [0, 0, 0]
        counts[n] += 1
        return counts

    def of_two_names(n):
        counts = [0, 0, 0]
        others = counts
        counts[n] += 1
        return others

    assert pytocu.jit(function)(1) == [0, 1, 0]
    with pytest.raises(UnsupportedError, match="use an array in its place"):
        pytocu.jit(of_two_names)(1)
