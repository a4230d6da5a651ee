"""Slices of one element at a position of run time are repeated as NumPy repeats them, and are empty where NumPy's are."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pytocu.errors import UnsupportedError
from pytocu.testing.compare import compare
from pytocu.testing.fuzz import RUNS

X, A = np.arange(5.0) + 1, np.random.default_rng(0).random((5, 5)) + 1


def check(function: Callable[..., Any], *args: Any) -> str:
    """NumPy's values and changes, NumPy's error, or a refusal, on each backend; which of these on the CPU."""
    expected = copy.deepcopy(args)
    wanted: Any
    try:
        with np.errstate(over="ignore"):
            wanted = function(*expected)
    except (ValueError, IndexError) as error:
        wanted = error
    said: list[str] = []
    for on in ("cpu", "interpreter", "threads"):
        given = copy.deepcopy(args)
        if not isinstance(wanted, Exception):
            try:
                compare(RUNS[on](function, *given), wanted)
                said.append("same")
            except UnsupportedError:
                said.append("refused")
                continue
            if on == "cpu":
                compare(given, expected)
            continue
        with pytest.raises((type(wanted), UnsupportedError)) as caught:
            RUNS[on](function, *given)
        said.append("refused" if isinstance(caught.value, UnsupportedError) else "error")
        assert isinstance(caught.value, UnsupportedError) or str(wanted).strip() in str(caught.value)
    return said[0]


def beside(x, i):
    return x[i : i + 1] * x


def before(x, i):
    return x[i - 1 : i] + x


def from_the_end(x, i):
    return x[-1 - i : -i] - x


def stepped(x, i):
    return np.maximum(x[i : i + 2 : 2], x)


def chosen(x, i):
    return np.where(x > 2, x[i : i + 1], x)


def spread(x, i):
    return np.broadcast_to(x[i : i + 1], (3, 4)) + 1


def together(x, i):
    return np.broadcast_arrays(x[i : i + 1], x)[0] + 0


def into_all(x, i):
    x[:] = x[i : i + 1]
    return x


def into_one(x, i):
    x[i : i + 1] += x
    return x


def item(x, i):
    return x[i : i + 1].item()


FUNCTIONS = [beside, before, from_the_end, stepped, chosen, spread, together, into_all, into_one, item]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_beside_other_lengths(function: Callable[..., Any]) -> None:
    for i in (-7, -6, -5, -1, 0, 1, 4, 5, 6):
        assert check(function, X, i) in ("same", "error")
    for i in (-1, 0, 1):
        check(function, X[:1], i)
        check(function, X[:0], i)


def test_rows_and_columns() -> None:
    def outer(a, i, j):
        return a - a[i : i + 1] * a[:, j : j + 1]

    assert {check(outer, A, i, j) for i in (-6, -1, 0, 4, 5) for j in (-1, 2, 7)} == {"same", "error"}


def test_a_number_of_data() -> None:
    def normal(x):
        k = np.argmax(x)
        return x / x[k : k + 1]

    def of_an_array(x, k):
        return x / x[k[0] : k[0] + 1]

    assert check(normal, X) == check(normal, X[::-1]) == "same"
    assert {check(of_an_array, X, np.array([k])) for k in (-7, -5, -1, 0, 4, 5, 2**63 - 1)} == {"same", "error"}


def test_a_short_int_wraps_around_before_it_is_a_bound() -> None:
    def part(x, k):
        return x[k[0] : k[0] + 1]

    for k in (127, -128, -1, 0):
        assert check(part, np.arange(1000.0), np.array([k], np.int8)) == "same"


def test_steps_of_while_loops() -> None:
    def shortest(d):
        k = 0
        while k < len(d):
            d = np.minimum(d, d[:, k : k + 1] + d[k : k + 1, :])
            k += 1
        return d

    def least(x, y):
        k, total = 0, 0.0
        while k < len(x):
            total += (x[k : k + 1] - y).min()
            k += 2
        return total

    assert check(shortest, A) == check(least, X, A[0]) == "same"
    assert check(shortest, A[:, :3]) == "error"


def test_positions_that_data_decide_in_loops() -> None:
    def lowered(x):
        for _ in range(3):
            k = np.argmax(x)
            x = x - x[k : k + 1] * 0.5
        return x

    assert check(lowered, X) == "same"


def test_positions_that_are_the_same_in_all_steps() -> None:
    def products(x, y, i, n):
        for k in range(n):
            x[:] = x + np.concatenate([x[-k : -k + 1], y[i - 1 : i]]) @ y[k : k + 1]
        return x

    assert check(products, X[:3], X[:3], 6, 1) == "same"
    assert check(products, X[:3], X[:3], 2, 1) == "error"


def test_what_is_not_there() -> None:
    """It is refused where NumPy's answer has another number of axes, or nothing to repeat."""

    def squeezed(x, i):
        return x[i : i + 1].squeeze() * 2

    assert check(squeezed, X, 2) == "same"
    assert check(squeezed, X, 5) == "refused"
    assert check(beside, X[:0], 0) == "refused"


def test_nothing_is_read_of_an_element_that_is_not_there() -> None:
    def sums(a, j):
        return (a[:, j : j + 1] * a).sum(axis=1)

    assert check(sums, np.ones((3, 0)), 0) == "refused"
    assert check(sums, A, 1) == "same"


def test_a_length_of_the_source_that_a_loop_alone_meets() -> None:
    def into_rows(x, y, a, i):
        for _ in range(len(a)):
            a[int(np.argmax(x)) : int(np.argmax(x)) + 1] += np.broadcast_to(y[i - 1], (3, 4))
        return a

    assert check(into_rows, np.zeros(2), np.ones(2), np.ones((4, 2)), 1) == "error"
    assert check(into_rows, np.zeros(2), np.ones(2), np.ones((0, 2)), 1) == "same"
