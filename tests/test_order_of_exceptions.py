"""What a run comes to first is what it raises, and nothing behind an exception changes an argument."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from raising_programs import (
    assertion_behind_an_index,
    change_behind_an_assertion,
    counts_behind_an_assertion,
    index_behind_a_raise,
    index_behind_an_assertion,
    largest_of_none,
    library_behind_an_assertion,
    one_after_the_other,
    position_behind_a_raise_in_a_step,
    position_in_front_of_a_raise_in_a_step,
    second_change_behind_an_assertion,
)

import pytocu
from pytocu.errors import CompileError
from pytocu.ir import interp
from pytocu.testing.compare import compare

X = np.arange(1.0, 7.0)
FAR, NEAR = np.array([0, 9, 1]), np.array([0, 2, 1])
ONE_OF_THREE = np.array([False, True, False, False, False, False])


PROGRAMS = [
    index_behind_an_assertion, assertion_behind_an_index, index_behind_a_raise, one_after_the_other, change_behind_an_assertion,
    largest_of_none, library_behind_an_assertion, counts_behind_an_assertion, position_behind_a_raise_in_a_step,
    position_in_front_of_a_raise_in_a_step,
]  # fmt: skip


@pytest.mark.parametrize("positions", [FAR, NEAR], ids=["outside", "inside"])
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_the_first_exception_is_raised(function: Callable[..., Any], positions: np.ndarray) -> None:
    wanted, given = X.copy(), X.copy()
    with pytest.raises(Exception) as expected:
        function(wanted, positions)
    with pytest.raises(type(expected.value)) as found:
        pytocu.jit(function)(given, positions)
    assert isinstance(found.value, CompileError) and found.value.message == str(expected.value)
    compare(given, wanted)


@pytest.mark.parametrize("target", ["cpu", "cuda"])
def test_no_kernel_changes_an_argument_before_what_is_asserted_in_front(target: str) -> None:
    given = [X.copy(), NEAR]
    host = pytocu.jit(change_behind_an_assertion).lower(*given).host(target)
    with pytest.raises(AssertionError):
        interp.run(host, given)
    compare(given[0], X)


def test_what_stands_behind_an_assertion_does_not_happen() -> None:
    given = X.copy()
    with pytest.raises(AssertionError, match="small"):
        pytocu.jit(second_change_behind_an_assertion)(given, NEAR)
    # The change in front of it may not have happened either.
    assert given[3:].tolist() == X[3:].tolist()


def values_for_a_mask(x, m, v):
    x[m] = v
    return x


def rows_for_a_mask(x, m, v):
    x.reshape(3, 2)[m[:3]] = v[:4].reshape(2, 2)
    return x


@pytest.mark.parametrize("function", [values_for_a_mask, rows_for_a_mask], ids=lambda f: f.__name__)
def test_values_are_counted_before_they_are_assigned(function: Callable[..., Any]) -> None:
    arguments = (X, ONE_OF_THREE, np.full(5, 9.0))
    wanted, given = copy.deepcopy(arguments), copy.deepcopy(arguments)
    with pytest.raises(ValueError) as expected:
        function(*wanted)
    with pytest.raises(ValueError) as found:
        pytocu.jit(function)(*given)
    assert isinstance(found.value, CompileError) and found.value.message == str(expected.value)
    compare(given, wanted)


def taken(x, i, out):
    return np.take(x, i, out=out)


def assigned(x, i, out):
    out[:] = x[i]


def added(x, i, out):
    out += x[i]


def second_of_two(x, i, out):
    out[0] = 5
    y = x[i]
    out[1:] = y[1:]


def chosen(x, i, out):
    np.choose(i, [x[:3], x[3:]], out=out)


@pytest.mark.parametrize("function", [taken, assigned, added, second_of_two, chosen], ids=lambda f: f.__name__)
def test_what_an_exception_keeps_from_being_written(function: Callable[..., Any]) -> None:
    arguments = (X, FAR, np.zeros(3))
    wanted, given = copy.deepcopy(arguments), copy.deepcopy(arguments)
    with pytest.raises(Exception) as expected:
        function(*wanted)
    with pytest.raises(type(expected.value)):
        pytocu.jit(function)(*given)
    compare(given, wanted)


def test_the_plan_says_why_a_kernel_waits() -> None:
    text = str(pytocu.jit(change_behind_an_assertion).explain(X, NEAR))
    assert "the program may raise an exception before" in text


def test_an_exception_does_not_wait_for_lengths_that_are_read_in_front_of_another_one() -> None:
    def either(count: int, factor: float, flag: bool, row: np.ndarray, x: np.ndarray) -> Any:
        found = []
        for value in row:
            found.append(value >> 1)
        m = 0
        while m < 3:
            m += 1
            if flag:
                found.append(row[0])
        if count > 2:
            y = np.array([1, 2])[7]
        elif factor < 1:
            y = x + 1
        else:
            y = np.stack([np.zeros(2), np.zeros(3)])
        return y

    given = np.array([1, 1], np.uint64), np.ones((1, 2))
    jitted = pytocu.jit(either)
    with pytest.raises(IndexError, match="index 7 is out of bounds"):
        jitted(3, 2.5, True, *given)
    with pytest.raises(ValueError, match="all input arrays must have the same shape"):
        jitted(1, 2.5, True, *given)
    compare(jitted(1, 0.5, True, *given), either(1, 0.5, True, *given))
