"""What NumPy refuses whatever the data are is raised where a run comes to it, and only there: as by a ``raise`` statement."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mask_tools import builds, everywhere, outcome

import pytocu
from pytocu.errors import CompileError, UnsupportedError


def types_in_a_side(x, n):
    y = x
    if n:
        y = x + (x.astype(bool) - True)
    return y


def lengths_in_a_side(x, n):
    if n:
        x = x + np.zeros(3) @ np.zeros(4)
    else:
        x = x * 2
    return x


def output_in_a_side(x, n):
    if n:
        np.add(x, 1.5, out=np.zeros(len(x), int))
    return x * 2


def number_in_a_side(x, n):
    if n:
        x = x + np.uint8(300)
    return x


def division_in_a_side(x, n):
    if n:
        x = x + 1 // 0
    return x


def axis_in_a_side(x, n):
    if n:
        x = x.sum(axis=4)
    return x


def index_in_a_side(x, n):
    if n:
        x = x[:, 1, 2]
    return x


def attribute_in_a_side(x, n):
    if n:
        x = x.nothing
    return x


def name_in_a_side(x, n):
    if n:
        x = x + nothing  # noqa: F821
    return x


def local_name_in_a_side(x, n):
    if n:
        x = x + late  # noqa: F821
    late = x
    return late


def by_data(x, n):
    if x.sum() > 5 - n:
        x = x.astype(bool) - True
    return x


def behind_a_return(x, n):
    if n == 0:
        return x
    return np.zeros(3) @ np.zeros(4)


def conditional_expression(x, n):
    return np.arange(3.0) @ np.arange(4.0) if n else x.sum()


def of_numbers(x, n):
    return n + n.nothing if n else 1


def connected(x, n):
    return n and n.nothing


def in_a_condition(x, n):
    if n and (x.astype(bool) - True).any():
        return x
    return x + 1


def in_a_condition_with_or(x, n):
    if not n or (x.astype(bool) - True).any():
        return x + 2
    return x + 1


def _differs(x):
    return x.astype(bool) - True


def in_a_function(x, n):
    return _differs(x) if n else x


def in_a_function_that_branches(x, n):
    def part(y):
        if n > 1:
            return y.astype(bool) - True
        return y

    return part(x + 1) * 2


def loop(x, n):
    for _ in range(n):
        x = x.astype(bool) - True
    return x


def loop_with_else(x, n):
    for i in range(n):
        x = x + i
        x = x @ np.zeros((7, 3))
    else:
        x = x + 5
    return x


def falling_loop(x, n):
    for i in range(n, 0, -1):
        x[i] = np.zeros(3) @ np.zeros(4)
    return x


def while_loop(x, n):
    while n > 0:
        x = x.astype(bool) - True
        n -= 1
    return x


def while_by_data(x, n):
    while x.sum() < 3 * n:
        x = x + np.zeros(3) @ np.zeros(4)
    return x


def loop_in_a_loop(x, n):
    for i in range(n):
        x = x + i
        for _ in range(i):
            x = x.astype(bool) - True
    return x


def side_in_a_loop(x, n):
    for i in range(n):
        if i > 2:
            x = x.astype(bool) - True
        else:
            x = x + 1
    return x


def side_in_a_sum(x, n):
    total = np.float64(0)
    for i in range(n):
        if i > 2:
            total = np.left_shift(x, x)
        total += x[i % 2]
    return total


def behind_a_break(x, n):
    for i in range(n):
        if i == 1:
            break
        x = x + 1
        if i == 2:
            x = x @ np.zeros((7, 3))
    return x


def behind_a_break_that_may_be(x, n):
    for i in range(n):
        if x[i] > 0:
            break
        x = x @ np.zeros((7, 3))
    return x


def behind_another_error(x, n):
    if n:
        y = x[n]
        return y + (x.astype(bool) - True)
    return x


def behind_lengths(x, n):
    if n:
        y = x + np.ones(n + 1)
        return y + (x.astype(bool) - True)
    return x


def behind_a_raise(x, n):
    if n:
        if n > 1:
            raise KeyError("two")
        return x.astype(bool) - True
    return x


def on_both_sides_of_a_side(x, n):
    if n:
        if n > 1:
            x = x.nothing
        else:
            x = x.astype(bool) - True
    return x


def elif_chain(x, n):
    if n == 0:
        y = x + 1
    elif n == 1:
        y = x * 2
    elif n == 2:
        y = x.nothing
    else:
        y = x.astype(bool) - True
    return y


def on_both_sides(x, n):
    if n:
        x = x.nothing
    else:
        x = x.astype(bool) - True
    return x


def on_both_sides_of_a_loop(x, n):
    for i in range(3):
        if n > i:
            x = x + 1
        elif n == i:
            x = x.nothing
        else:
            x = x.astype(bool) - True
    return x


def in_every_way_of_an_expression(x, n):
    return x.nothing if n > 1 else x.astype(bool) - True


def behind_a_raise_for_certain(x, n):
    if n > 1:
        raise ValueError("large")
    if n == 1:
        raise ArithmeticError("one")
    return x.astype(bool) - True


def for_certain_behind_a_side(x, n):
    if n:
        x = x.nothing
    return x.astype(bool) - True


def for_certain_behind_a_loop(x, n):
    for _ in range(n):
        x = x.nothing
    raise ValueError("here")


def for_certain_in_a_function(x, n):
    def part(y):
        return y.nothing if n else y + 1

    x = part(x)
    return part(x.astype(bool) - True)


def in_the_second_step_for_certain(x, n):
    for i in range(2):
        if i == 1:
            x = x.nothing
        elif n:
            x = x.astype(bool) - True
    return x


def in_a_long_loop_for_certain(x, n):
    for i in range(100):
        if n > i:
            x = x.nothing
        x = x.astype(bool) - True
    return x


def in_a_side_of_a_long_loop_for_certain(x, n):
    if n:
        for i in range(100):
            if n > i + 1:
                x = x.nothing
            x = x.astype(bool) - True
    return x


def in_a_while_loop_for_certain(x, n):
    k = 0
    while k < 100:
        if n > k:
            x = x.nothing
        x = x.astype(bool) - True
        k += 1
    return x


def changes_a_list(x, n):
    found = [x]
    if n:
        found.append(x * 2)
        found.append(x.nothing)
    return found[-1]


def unused(x, n):
    if n:
        x.astype(bool) - True
    return x * 2


def nothing_in_a_loop(x, n):
    t = 0.0
    for _ in range(n):
        t += x[:n].max() + x[: n - 1].sum()
    return t


def nothing_in_a_while(x, n):
    t = 0.0
    k = n
    while k > 0:
        t += x[:n][0] + np.take(x[:n], 0)
        k -= 1
    return t


def nothing_in_a_while_of_data(x, n):
    t = 0.0
    while t < n + x[0] * 0:
        t += x[:n].min() + 1
    return t


def return_in_a_loop_inside(x, n):
    a = x[: n + 1][:1]
    for i in range(len(a)):
        if i < 0 or n > 2:
            continue
        for _ in zip(a[1:], a, strict=False):
            return 1
    return 3


def meet_in_a_sum(x, n):
    t = 0.0
    for _ in range(n - 1):
        t += (x[:n] + x[:3]).sum() + x[:n] @ x[:3]
    return t


def meet_in_a_while(x, n):
    k = n - 1
    while k > 0:
        x = x * 2
        x[:n] = x[:3] + 1
        k -= 1
    return x


def meet_in_a_while_of_data(x, n):
    y = x.copy()
    while y.sum() < 10 * (n - 1):
        y[:n] = x[:3] + y[1] + 10
    return y


def meet_in_a_triangle(x, n):
    y = x.copy()
    for i in range(n):
        for j in range(i):
            y[:n] = x[:3] * j + np.concatenate([x[None, :n], x[None, :3]])[0]
    return y


def meet_in_elements(x, n):
    y = np.ones(2 * n)
    for _ in range(n - 1):
        y = y * 0.5 + x
    return y


def meet_in_elements_backwards(x, n):
    y = np.ones((2, 1)) * np.ones(2 * n)
    k = 2
    while k <= n:
        for i in range(k):
            y = y + x[::-1] * i
        k += 1
    return y


def raised_in_a_side(x, n):
    part = x[1:]
    if n > 1:  # noqa: SIM102 (a branch in a branch)
        if n > 3:
            raise ValueError("four")
    return part


def raised_beside_an_array_of_a_step(x, n):
    for _ in x:
        if n > 1:  # noqa: SIM102 (a branch in a branch)
            if n > 3:
                raise ValueError("four")
        part = np.arange(n)  # noqa: F841 (nobody reads it)
    return x


def behind_a_number_that_is_read(x, n):
    total = 0.0
    if x[n - 1] > 0:
        total = float(x[0])
        total += float(x[1:2][1])
    return total


def behind_a_quotient(x, n):
    first = 7 // n
    return x.sum(axis=4) + first


def behind_a_remainder(x, n):
    found = []
    return found[n % len(found)] + x


def behind_a_shift_in_a_loop(x, n):
    for _ in range(2):
        n = (1 << (n - 2)) - 1
    return x + np.uint8(300)


FUNCTIONS = [
    types_in_a_side, lengths_in_a_side, number_in_a_side, division_in_a_side, axis_in_a_side,
    index_in_a_side, attribute_in_a_side, name_in_a_side, local_name_in_a_side, by_data, behind_a_return,
    conditional_expression, of_numbers, connected, in_a_condition, in_a_condition_with_or, in_a_function,
    in_a_function_that_branches, loop, loop_with_else, falling_loop, while_loop, while_by_data, loop_in_a_loop,
    side_in_a_loop, side_in_a_sum, behind_a_break, behind_a_break_that_may_be, behind_another_error, behind_lengths,
    behind_a_raise, on_both_sides_of_a_side, elif_chain, changes_a_list, unused,
    on_both_sides, on_both_sides_of_a_loop, in_every_way_of_an_expression, behind_a_raise_for_certain,
    for_certain_behind_a_side, for_certain_behind_a_loop, for_certain_in_a_function, in_the_second_step_for_certain,
    in_a_long_loop_for_certain, in_a_side_of_a_long_loop_for_certain, in_a_while_loop_for_certain,
    nothing_in_a_loop, nothing_in_a_while, nothing_in_a_while_of_data, return_in_a_loop_inside,
    raised_in_a_side, raised_beside_an_array_of_a_step, behind_a_quotient, behind_a_remainder,
    behind_a_number_that_is_read, behind_a_shift_in_a_loop,
    meet_in_a_sum, meet_in_a_while, meet_in_a_while_of_data, meet_in_a_triangle, meet_in_elements, meet_in_elements_backwards,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [0, 1, 2, 4])
def test_an_error_is_one_where_it_is_run(function: Callable[..., Any], n: int) -> None:
    everywhere(function, np.arange(3.0), n)


def test_a_class_of_numpys_is_kept() -> None:
    compiled = pytocu.jit(output_in_a_side)
    np.testing.assert_array_equal(compiled(np.arange(3.0), 0), np.arange(3.0) * 2)
    expected, found = (outcome(lambda f=f: f(np.arange(3.0), 1)) for f in (output_in_a_side, compiled))
    assert isinstance(found, CompileError) and found.message == str(expected)
    (base,) = (kind for kind in type(expected).__mro__ if kind.__qualname__ == "UFuncTypeError")
    assert isinstance(found, base)
    with pytest.raises(np.exceptions.AxisError):
        pytocu.jit(axis_in_a_side)(np.arange(3.0), 1)


@pytest.mark.parametrize("function", [lengths_in_a_side, by_data, while_by_data, in_a_function_that_branches, loop_in_a_loop])
def test_a_gpu_runs_them(function: Callable[..., Any]) -> None:
    builds(function, np.arange(3.0), 1)


def certain(x, y, n):
    return x.astype(bool) - (y > 1)


def certain_in_a_loop(x, y, n):
    for _ in range(40):
        x = x.astype(bool) - (y > 1)
    return x


def certain_lengths(x, y, n):
    return np.concatenate([x.reshape(1, -1), np.zeros((1, 2, 3))])


def reached_by_number(x, y, n):
    if n > 1:
        x = x.astype(bool) - (y > 1)
    elif n:
        x = np.concatenate([x.reshape(1, -1), np.zeros((1, 2, 3))])
    return x


def test_what_is_said_is_the_same() -> None:
    x = np.arange(3.0)
    for number, function in ((2, certain), (1, certain_lengths)):
        first, second = (outcome(lambda f=f: pytocu.jit(f)(x, x, number)) for f in (function, reached_by_number))
        assert isinstance(first, CompileError) and isinstance(second, TypeError if number == 2 else ValueError)
        assert (second.message, second.help) == (first.message, first.help)
        assert second.notes and [n.text for n in second.notes] == [n.text for n in first.notes]
        assert second.loc is not None and first.loc is not None
        lines = [loc.line - f.__code__.co_firstlineno for loc, f in ((first.loc, function), (second.loc, reached_by_number))]
        assert lines == [1, 2 if number == 2 else 4]
        assert str(second).count("---") == str(first).count("---") > 0


@pytest.mark.parametrize("function", [certain, certain_in_a_loop, certain_lengths])
def test_where_a_run_comes_for_certain_the_compiler_raises(function: Callable[..., Any]) -> None:
    with pytest.raises(CompileError):
        pytocu.jit(function).lower(np.ones(3), np.ones(3), 1)


def test_what_is_not_supported_is_refused_at_once() -> None:
    def function(x, n):
        if n:
            np.random.shuffle(x)
        return x

    with pytest.raises(UnsupportedError, match="random"):
        pytocu.jit(function)(np.ones(3), 0)


def nested_expressions(x, n):
    return (((x if n < 5 else x.a) if n < 4 else x.b) if n < 3 else x.c) if n < 2 else x.d


def types_change_behind_a_step(x, n):
    total = 0.0
    for i in range(n):
        total += x[i]
        if n > 2:
            x = x.nothing
    return x * 2


@pytest.mark.parametrize("function", [nested_expressions, types_change_behind_a_step])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_errors_inside_of_one_another(function: Callable[..., Any], n: int) -> None:
    everywhere(function, np.arange(6.0), n)


def test_an_error_of_a_later_step_is_one_of_the_compiler() -> None:
    def function(x, n):
        total = 0
        for _ in range(n):
            total = np.left_shift(total, 1)
            total = total / 2 + x[0]
        return x

    # In the first step it is Python's int, which NumPy shifts.
    assert function(np.ones(3), 1) is not None
    with pytest.raises(TypeError, match="left_shift"):
        function(np.ones(3), 2)
    with pytest.raises(UnsupportedError, match=r"total is a Python int on one way and np\.float64 on another"):
        pytocu.jit(function)(np.ones(3), 1)


def test_an_error_of_every_step_is_numpys() -> None:
    def function(x, n):
        total = 0.0
        for _ in range(n):
            total = np.left_shift(total, 1)
            total = total / 2 + x[0]
        return x

    # It is a float in each.
    with pytest.raises(TypeError, match="left_shift"):
        pytocu.jit(function)(np.ones(3), 1)


def element_in_a_side(x, n):
    y = x * 2
    if n > 2:
        y = x << 1.5
    return y


def element_in_a_loop(x, n):
    for _ in range(n):
        x = x << 1.5
    return x


def element_in_a_loop_in_a_side(x, n):
    while x > 5:
        x = x - 1
        if n == 3:
            x = x.nothing
    return x


def element_in_a_condition(x, n):
    if (n < 2 and x > 1) or (x << 1.5) > 1:
        return x
    return -x


def element_in_an_expression(x, n):
    return x if n < 2 else x.nothing


@pytest.mark.parametrize(
    "function",
    [element_in_a_side, element_in_a_loop, element_in_a_loop_in_a_side, element_in_a_condition, element_in_an_expression],
)
def test_an_element_of_a_vectorized_function(function: Callable[..., Any]) -> None:
    compiled = pytocu.vectorize(function)
    for numbers in ([0, 0], [0, 3], [3, 0], [1, 1]):
        for values in ([7.0, 8.0], [7.0, 2.0], [0.0, 0.0]):
            x, n = np.array(values), np.array(numbers)
            expected = outcome(lambda x=x, n=n: np.array([function(a, b) for a, b in zip(x, n, strict=True)]))
            found = outcome(lambda x=x, n=n: compiled(x, n))
            if isinstance(expected, Exception):
                assert isinstance(found, CompileError) and isinstance(found, type(expected))
                assert found.message == str(expected)
            else:
                np.testing.assert_array_equal(found, expected)


def a_large_int(x, n):
    if n:
        x = x + 300
    return x


def a_negative_int(x, n):
    for _ in range(n):
        x = x * -1
    return x


def a_large_int_that_is_chosen(x, n):
    return np.where(x > 3, x, 300) if n else x


@pytest.mark.parametrize("function", [a_large_int, a_negative_int, a_large_int_that_is_chosen])
def test_an_int_that_a_dtype_does_not_hold(function: Callable[..., Any]) -> None:
    for n in (0, 2):
        everywhere(function, np.arange(3, dtype=np.uint8), n)


def test_a_loop_over_an_array_without_rows() -> None:
    def function(count, row, x):
        same = np.less_equal(row[None, :], x[-1:]).copy()
        for j in range(1 + count % 2, len(same)):
            same[j] ^= np.where(same[j], same[j], -2)
        return same

    for rows in (0, 1, 3):
        everywhere(function, 0, np.ones(1, np.uint16), np.zeros((rows, 1), np.uint8))


def test_a_step_of_a_generator_that_raises():
    def f(x):
        s = 0
        for i in range(len(x)):
            s = sum(x[i, k] for k in range(i))
        return s

    assert pytocu.jit(f)(np.ones(1)) == f(np.ones(1)) == 0
    with pytest.raises(IndexError, match="too many indices"):
        pytocu.jit(f)(np.ones(3))


def position_by_a_remainder(x, n):
    t = 0
    if x.sum() > 0:
        t = x[3 % (n - 1)]
    return t


def member_by_a_remainder(x, n):
    found = [0] * n
    found.pop()
    for j in range(int(x.any())):
        found[j % len(found)] = 1
    return found


def length_by_a_quotient(x, n):
    y = np.zeros(3)
    if x.sum() > 0:
        y = np.zeros(7 // (n - 1)) + 1
    return y


def part_up_to_a_quotient(x, n):
    for k in range(len(x)):
        if x[k] > 0:
            x[: 7 // (n - 1)] += k
    return x


DIVIDED = [position_by_a_remainder, member_by_a_remainder, length_by_a_quotient, part_up_to_a_quotient]


@pytest.mark.parametrize("function", DIVIDED)
def test_a_division_where_the_program_does_not_come_to_is_no_error(function: Callable[..., Any]) -> None:
    for n in (1, 3, 4):
        everywhere(function, np.zeros(3), n)
        everywhere(function, np.ones(3), n)


def number_in_the_text(x, n):
    y, w = x + 0, x
    chosen = y == 1
    y[chosen] = y[chosen][::-1]
    if n:
        w = np.zeros((2, 3)).reshape(4)
    elif x.shape[0] < 9:
        raise IndexError(f"no {n}")
    w = w * 3
    return y, w


def two_in_a_row(x, n):
    y, w = x + 0, x
    chosen = y == 1
    y[chosen] = y[chosen][::-1]
    if n > 1:
        raise KeyError("many")
    if n > 0:
        raise IndexError(f"no {n}")
    w = w * 3
    return y, w


@pytest.mark.parametrize("function", [number_in_the_text, two_in_a_row])
def test_the_first_of_two_errors_behind_a_length_of_data(function: Callable[..., Any]) -> None:
    for n in (0, 1, 2):
        everywhere(function, np.ones(3), n)


def sums_behind_a_branch(y, x):
    if x.sum() > 3:
        x[0] = np.sort(x)[1]
    return x + y


def products_behind_a_mask(y, x):
    chosen = x > 0
    x[chosen] = x[chosen][::-1]
    return x * y


def sums_behind_a_part(y, x):
    if x.sum() <= 9:
        least = np.sort(x)[:2]
        x[0] = least[0]
    return x + np.zeros(4) + y


def sums_behind_a_loop(y, x):
    x[0] = np.sort(y)[1]
    while x.sum() < 9:
        x = x[::-1] * np.full(4, 3)
    return x + y


@pytest.mark.parametrize("function", [sums_behind_a_branch, products_behind_a_mask, sums_behind_a_part, sums_behind_a_loop])
def test_what_runs_before_lengths_are_compared_relies_on_none(function: Callable[..., Any]) -> None:
    for lengths in ((4, 4), (3, 4), (4, 3), (500, 4), (4, 500), (3, 3)):
        everywhere(function, *(np.ones(n) for n in lengths))
