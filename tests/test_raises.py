"""``raise`` and ``assert`` that depend on lengths, numbers and data of run time: the exception where Python raises it."""

from __future__ import annotations

import contextlib
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mask_tools import everywhere
from raising_programs import (
    asserted,
    behind_a_return,
    behind_data,
    by_a_number_behind_data,
    by_data,
    by_data_in_a_loop,
    by_length,
    by_number,
    by_shapes,
    certain_behind_an_empty_list,
    certain_in_steps,
    in_a_helper,
    in_a_loop,
    nested,
    no_end,
    of_its_own,
    on_the_last_of_three_ways,
    otherwise,
    two_at_once,
)

import pytocu
from pytocu.errors import CompileError, UnsupportedError
from pytocu.testing.compare import compare

ONE, FOUR = np.array([1.5]), np.array([0.5, 1.0, 2.0, 3.5])
PAIRS = [(FOUR, FOUR), (FOUR, ONE), (ONE, ONE), (np.ones(3), FOUR), (np.ones(0), np.ones(0))]
NUMBERS = [(x, k) for x in (FOUR, ONE, np.array([-1.0, 200.0]), np.array([np.nan, 1.0])) for k in (0, 1, 3, 6, -2)]
PROGRAMS: list[tuple[Callable[..., Any], list[tuple[Any, ...]]]] = [
    (by_length, PAIRS[:3]), (by_shapes, PAIRS), (asserted, PAIRS), (by_number, NUMBERS), (by_data, NUMBERS),
    (in_a_helper, NUMBERS), (otherwise, NUMBERS), (in_a_loop, NUMBERS), (by_data_in_a_loop, NUMBERS), (no_end, NUMBERS),
    (nested, NUMBERS), (behind_a_return, NUMBERS), (two_at_once, NUMBERS), (behind_data, NUMBERS),
    (on_the_last_of_three_ways, NUMBERS),
    (by_a_number_behind_data, NUMBERS), (certain_in_steps, [(x, k) for x, k in NUMBERS if not k]),
]  # fmt: skip


@pytest.mark.parametrize(("program", "calls"), PROGRAMS, ids=lambda v: getattr(v, "__name__", ""))
def test_where_python_raises(program: Callable[..., Any], calls: list[tuple[Any, ...]]) -> None:
    for number, arguments in enumerate(calls):
        if number % 4 == 0:
            everywhere(program, *arguments, ulp=2)
    compiled = pytocu.jit(program)
    for arguments in calls:
        try:
            expected = program(*arguments)
        except Exception as error:
            with pytest.raises(type(error)) as found:
                compiled(*arguments)
            assert isinstance(found.value, CompileError)
            assert found.value.message == str(error), program
            assert found.value.loc is not None and found.value.loc.line > 0
        else:
            np.testing.assert_array_max_ulp(compiled(*arguments), expected, 2)


def named_in_a_run(x, kind):
    if x.sum() > 2 and kind == 0:
        raise ValueError(f"not {kind}")
    if x.sum() > 2 and kind == 1:
        raise IndexError("nothing there")
    if x.sum() > 2:
        raise NotImplementedError("later")
    return x


@pytest.mark.parametrize("kind", [0, 1, 2])
def test_what_a_program_raises_has_its_name(kind: int) -> None:
    with pytest.raises((ValueError, IndexError, NotImplementedError)) as wanted:
        named_in_a_run(FOUR, kind)
    with pytest.raises(wanted.type) as found:
        pytocu.jit(named_in_a_run)(FOUR, kind)
    assert found.type.__name__ == wanted.type.__name__ and found.value.message == str(wanted.value)
    copy = pickle.loads(pickle.dumps(found.value))
    assert type(copy) is found.type and str(copy) == str(found.value)
    with pytest.raises(ValueError, match="caught"):
        pytocu.jit(caught)(FOUR, kind)


def caught(x, kind):
    try:
        if kind < 9:
            raise ValueError("first")
    except ValueError:
        raise ValueError("caught") from None
    return x


def test_an_exception_that_is_not_pythons_own_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="not one of Python's own") as found:
        pytocu.jit(of_its_own)(FOUR, 3)
    assert found.value.loc is not None and found.value.help


def test_tuples_of_lengths_are_compared() -> None:
    def same(x, y):
        if x.shape == y.shape or x.shape[:1] == (2,):
            return x
        return x + 1 if x.shape[::-1] != (4, 3) else -x

    compiled = pytocu.jit(same)
    for shapes in (((3, 4), (3, 4)), ((2, 5), (3, 4)), ((3, 4), (4, 3)), ((4, 3), (3, 4)), ((3, 3), (5, 3))):
        x, y = (np.arange(float(a * b)).reshape(a, b) for a, b in shapes)
        np.testing.assert_array_equal(compiled(x, y), same(x, y))


def checks_each(x):
    for value in x:
        if value < 0:
            raise ValueError("negative")
    return x * 2


def asserts_each(x):
    for k in range(len(x)):
        assert x[k] >= 0, "negative"
    return x * 2


def divides_for_nobody(x, n):
    for _ in range(3):
        _ = 1 // n
    return x * 2


def divides_on_a_side(x, n):
    if n < 5:
        _ = 1 % n
    return x * 2


def takes_roots_for_nobody(x, n):
    for k in range(n):
        _ = math.sqrt(-k)
    return x * 2


def adds_for_nobody(x, y):
    for _ in range(len(x)):
        _ = x[:2] + y
    return x * 2


def divides_beside_elements(x, n):
    t = 0
    for _ in x:
        t = n // (t % 3)
    return x * 2


def divides_where_an_element_says_so(x, n):
    t = n
    if x[0] == x[1]:
        t = t // (t % 3)
    return x * 2


def checks_beside_a_number(x, n):
    def part(v):
        for i in range(n):
            if i > 3:
                return v - 1
            if i == 2:
                assert n > 1000, "few"

    return part(x[0]), x


def takes_roots_of_elements(x, n):
    for v in x:
        _ = math.sqrt(v - n)
    return x * 2


def divides_by_elements(x, n):
    for v in x:
        _ = n // int(v)
    return x * 2


def deletes_of_nothing(x, n):
    found = []
    for i in reversed(range(len(x))):
        if i % 2 == n:
            del found[-1]
    return x * 2


@pytest.mark.parametrize(
    ("function", "given", "fine"),
    [
        (divides_beside_elements, (np.ones(2), 3), (np.ones(0), 3)),
        (divides_where_an_element_says_so, (np.ones(2), 3), (np.arange(2.0), 3)),
        (checks_beside_a_number, (np.ones(2), 3), (np.ones(2), 2)),
        (takes_roots_of_elements, (np.ones(2), 3), (np.ones(2), 1)),
        (divides_by_elements, (np.zeros(2), 3), (np.ones(2), 3)),
        (deletes_of_nothing, (np.ones(2), 0), (np.ones(2), 3)),
        (checks_each, (np.array([1.0, -2.0]),), (np.array([1.0, 2.0]),)),
        (asserts_each, (np.array([1.0, math.nan]),), (np.array([1.0, 2.0]),)),
        (divides_for_nobody, (np.ones(2), 0), (np.ones(2), 2)),
        (divides_on_a_side, (np.ones(2), 0), (np.ones(2), 7)),
        (takes_roots_for_nobody, (np.ones(2), 2), (np.ones(2), 1)),
        (adds_for_nobody, (np.ones(2), np.ones(3)), (np.ones(0), np.ones(3))),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_raises_is_kept_though_nobody_uses_it(function, given, fine) -> None:
    with pytest.raises((ArithmeticError, AssertionError, IndexError, ValueError)) as expected:
        function(*given)
    with pytest.raises(type(expected.value)):
        pytocu.jit(function)(*given)
    compare(pytocu.jit(function)(*fine), function(*fine))


def test_an_exception_that_is_raised_for_certain_shows_ints_of_the_call():
    def without(count):
        raise IndexError(f"no {count}")

    def of(x, count):
        raise AssertionError(f"{count + 1} of {len(x)}")

    for function, arguments in ((without, (3,)), (of, (np.ones(3), 4))):
        with pytest.raises(Exception) as expected:
            function(*arguments)
        for _ in range(2):
            with pytest.raises(expected.type) as found:
                pytocu.jit(function)(*arguments)
            assert str(found.value).partition("\n")[0] == str(expected.value)


def until_it_raises(x):
    n = len(x)
    while True:
        if x[n - 1] > 5:
            raise ValueError("large")
        n -= 1
        x[n] = x[n] + 1


def test_a_loop_that_only_exceptions_end() -> None:
    for x in (np.ones(3), np.array([1.0, 7.0, 2.0])):
        with pytest.raises((IndexError, ValueError)) as theirs:
            until_it_raises(x.copy())
        with pytest.raises(type(theirs.value)) as own:
            pytocu.jit(until_it_raises)(x.copy())
        assert str(theirs.value) in str(own.value)


def test_what_a_dtype_does_not_hold_leaves_a_loop_one_of_elements() -> None:
    def changed(x, a, n):
        found = [5]
        for _ in range(len(a)):
            found.pop()
        for i in range(n):
            if i == 2:
                return x * 3
            x = x ^ n
        return x

    compiled = pytocu.jit(changed)
    for n in (0, 2, 3):
        compare(compiled(np.ones((2, 2), np.int16), np.ones(1), n), changed(np.ones((2, 2), np.int16), np.ones(1), n))
    for n in (40000, -1):
        x = np.ones((2, 2), np.uint8)
        with pytest.raises(OverflowError) if n > 0 else contextlib.nullcontext():
            compiled(x, np.ones(0), n)


def test_what_is_raised_for_certain_behind_what_is_refused_of_a_run() -> None:
    compiled = pytocu.jit(certain_behind_an_empty_list)
    with pytest.raises(UnsupportedError, match="where the list has no member"):
        compiled(FOUR, 0)
    with pytest.raises(OverflowError, match="Python integer -1 out of bounds for uint8"):
        compiled(FOUR, 2)


def in_words(x, n):
    """Texts that show ints of run time, however they are written."""
    if n == 1:
        raise ValueError("{} of {}, {!r} {:d} {n}".format(n, len(x), n, n, n=x.shape))  # noqa: UP032
    if n == 2:
        text = f"{n} of {len(x)}"
        raise ValueError(text)
    if n == 3:
        text = "{} of " + str(len(x))
        text = text.format(n)
        raise ValueError(f"{text}: {n + 1:d}")
    text = "step %d" % n  # noqa: UP031
    for i in range(n):
        if x[i] > n:
            raise ValueError(text + f", {i}")
    return x


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4])
@pytest.mark.parametrize("largest", [1.0, 9.0])
def test_texts_of_ints(n: int, largest: float) -> None:
    x = np.array([0.0, 1.0, largest, largest, 0.0])
    try:
        expected: Any = in_words(x, n)
    except ValueError as error:
        with pytest.raises(ValueError) as caught:
            pytocu.jit(in_words)(x, n)
        assert str(caught.value).partition("\n")[0] == str(error)
    else:
        compare(pytocu.jit(in_words)(x, n), expected)


def returned(x, n):
    text = f"{n}"
    return x, text


def compared(x, n):
    text = "n" + str(n)
    return x if text == "n3" else -x


def a_key(x, n):
    text = "%d" % n  # noqa: UP031
    return {text: x}


def printed(x, n):
    text = f"{x[0]}"
    print(text)
    return x + n


@pytest.mark.parametrize("function", [returned, compared, a_key, printed])
def test_texts_that_no_exception_says_are_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(UnsupportedError, match="a string cannot show a value known only at run time") as caught:
        pytocu.jit(function)(np.ones(2), 3)
    assert caught.value.loc is not None and caught.value.loc.line == function.__code__.co_firstlineno + 1
