"""``try`` statements: what NumPy returns and raises, and the way that Python takes; and what a run would decide is refused."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import trying_programs as programs
from mask_tools import agree, everywhere, outcome

import pytocu
from pytocu.errors import UnsupportedError

V, I, M = np.array([0.5, 1.0, 2.0, 3.5]), np.arange(5), np.arange(6.0).reshape(2, 3)
ARRAYS = [(V,), (M,), (I,), (np.ones((7, 2)),), (np.ones(2),), (np.ones(1),)]
PAIRS = [(V, V), (V, np.ones(3)), (V, np.ones(1)), (np.ones(1), V), (V, np.arange(4)), (np.ones(7), np.ones(6))]
NUMBERS = [(x.copy(), n) for x in (V, M) for n in (0, 5, -1, 2)]
PROGRAMS: list[tuple[Callable[..., Any], list[tuple[Any, ...]]]] = [
    *((program, ARRAYS) for program in (
        programs.by_rank, programs.by_attribute, programs.by_dtype, programs.by_key, programs.of_another_class,
        programs.by_position, programs.by_axis, programs.stored, programs.named, programs.over_known_values,
        programs.a_loop_inside, programs.of_its_own, programs.the_name_is_gone, programs.no_class,
    )),
    *((program, PAIRS) for program in (programs.by_lengths, programs.by_lengths_in_a_helper)),
    *((program, NUMBERS) for program in (
        programs.by_number, programs.by_data, programs.asserted, programs.finished, programs.finished_behind_an_exception,
        programs.stored_in_the_argument, programs.raised_again, programs.raised_to_the_caller, programs.raised_as_another,
        programs.in_a_loop, programs.out_of_a_loop, programs.nested, programs.returned_by_a_clause, programs.not_caught,
    )),
    (programs.by_no_elements, [(V,), (np.ones(0),), (np.ones((2, 0)),), (M,)]),
    (programs.by_a_product, [(M, np.ones((3, 2))), (M, np.ones((2, 3))), (M, M), (V, V), (V, np.ones(3))]),
]  # fmt: skip


@pytest.mark.parametrize(("program", "calls"), PROGRAMS, ids=lambda v: getattr(v, "__name__", ""))
def test_the_way_that_python_takes(program: Callable[..., Any], calls: list[tuple[Any, ...]]) -> None:
    compiled = pytocu.jit(program)
    for number, arguments in enumerate(calls):
        if number % 3 == 0:
            everywhere(program, *copy.deepcopy(arguments), ulp=2)
        given, others = copy.deepcopy(arguments), copy.deepcopy(arguments)
        expected = outcome(lambda given=given: program(*given))
        agree(outcome(lambda others=others: compiled(*others)), expected, 2)
        agree(others, given, 2)


def test_elements() -> None:
    compiled = pytocu.vectorize(programs.of_an_element)
    found = compiled(np.array([-1.0, 2.0, -3.5]))
    agree(found, np.array([2.0, 5.0, 4.5]), 0)


@pytest.mark.parametrize(
    ("program", "arguments", "said"),
    [
        (programs.at_positions, (V, np.array([1, 2])), "a run may raise IndexError here, and the except clause on line"),
        (programs.divided, (1.0, 2.0), "a run may raise ZeroDivisionError here"),
        (programs.inverted_by_a_helper, (np.eye(2),), "a run may raise LinAlgError here"),
        (programs.by_a_helper, (V, 2), "a run may raise ValueError here"),
        (programs.a_raise_in_a_loop, (V, 2), "a run may raise ValueError here"),
        (programs.seen_by_the_caller, (V, np.array([1, 2])), "a run may raise IndexError here, and the finally clause"),
        (programs.left_by_finally, (V,), "a finally clause that leaves"),
        (programs.the_text_of_a_run, (V, 2), "the text of the exception error is put together when it is raised"),
        (programs.not_supported, (V,), "random numbers"),
    ],
)
def test_refused(program: Callable[..., Any], arguments: tuple[Any, ...], said: str) -> None:
    with pytest.raises(UnsupportedError, match=said):
        pytocu.jit(program)(*copy.deepcopy(arguments))


def first_above(x):
    try:
        return next(i for i, e in enumerate(x) if e > 8)
    except StopIteration:
        return -1


def test_the_way_out_where_next_has_nothing_to_give() -> None:
    with pytest.raises(UnsupportedError, match=r"StopIteration(.|\n)*help: write what next\(\) gives where there is none"):
        pytocu.jit(first_above)(V)
    assert pytocu.jit(lambda x: next((i for i, e in enumerate(x) if e > 8), -1))(V - V) == -1


def factor(a):
    return np.linalg.cholesky(a)


def definite(a):
    try:
        factor(a)
    except np.linalg.LinAlgError:
        return False
    return True


def inverted_as_advised(a):
    if np.linalg.slogdet(a)[0] != 0:
        return np.linalg.inv(a)
    else:
        return a


def definite_as_advised(a):
    return np.linalg.eigvalsh(a)[0] > 0


@pytest.mark.parametrize("program", [programs.inverted_by_a_helper, definite])
def test_the_way_out_of_errors_of_linear_algebra(program: Callable[..., Any]) -> None:
    with pytest.raises(UnsupportedError) as caught:
        pytocu.jit(program)(np.eye(2))
    said = "np.linalg.slogdet(a)[0] != 0" if program is not definite else "np.linalg.eigvalsh(a)[0] > 0"
    assert said in (caught.value.help or "")
    for a in (np.eye(2), np.array([[1.0, 2], [2, 1]])):
        assert pytocu.jit(definite_as_advised)(a) == definite(a)
    # The determinant of the second one is too small for a float.
    for a in (np.eye(4), np.eye(4) * 1e-90, np.ones((4, 4)), np.zeros((3, 3))):
        np.testing.assert_allclose(pytocu.jit(inverted_as_advised)(a), programs.inverted(a))


def test_a_call_of_other_lengths_is_another_specialisation() -> None:
    compiled = pytocu.jit(programs.by_lengths)
    for arguments in (PAIRS[0], PAIRS[1], (np.ones(5), np.ones(5)), (np.ones(5), np.ones(3))):
        compiled(*arguments)
    assert len(compiled.specializations) == 2


def test_an_array_that_must_not_be_written() -> None:
    compiled = pytocu.jit(programs.stored_in_the_argument)
    compiled(V.copy(), 1)
    given = V.copy()
    given.flags.writeable = False
    with pytest.raises(UnsupportedError, match="read-only, which an except clause of the function would catch"):
        compiled(given, 1)


@pytest.mark.parametrize("program", [programs.wrong_in_a_clause, programs.wrong_before_two_ways_that_raise])
def test_what_is_read_behind_an_error(program: Callable[..., Any]) -> None:
    """The error stays the first one, and clauses that are read for more of them know what they caught."""
    with pytest.raises(TypeError, match="'bitwise_and' not supported") as caught:
        pytocu.jit(program)(V, 0)
    assert "No active exception" not in str(caught.value)
