"""Loops inside of one kernel end where something is wrong: nothing is written behind it, no step goes on with a wrong index."""

from __future__ import annotations

import re

import numpy as np
import pytest
from test_run_time_positions import agrees

import pytocu


def listed(x, places):
    x[0] = 0
    for k in range(places.shape[0]):
        x[places[k]] += 1.0


def chased(x, following):
    at = np.int64(0)
    while following[at] != 0:
        x[at] += 1.0
        at = following[at]
    return at


def followed(following):
    at = np.int64(0)
    while following[at] != 0:
        at = following[at]
    return at


WRONG = [
    (listed, (np.zeros(5), np.array([1, 2, 7, 3, 3]))),
    (listed, (np.zeros(5), np.array([1, -6, 7, 3, 3]))),
    (chased, (np.zeros(5), np.array([1, 7, 0, 0, 0]))),
    (followed, (np.array([1, 7, 0, 0, 0]),)),
]


@pytest.mark.parametrize(("function", "arguments"), WRONG)
def test_a_loop_ends_where_an_index_is_wrong(function, arguments) -> None:
    expected = [a.copy() for a in arguments]
    with pytest.raises(IndexError) as wanted:
        function(*expected)
    given = [a.copy() for a in arguments]
    with pytest.raises(IndexError) as raised:
        pytocu.jit(function)(*given)
    assert str(raised.value).splitlines()[0] == str(wanted.value)
    for one, other in zip(given, expected, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)
    agrees(function, arguments)


@pytest.mark.parametrize("backend", ["cuda_c", "nvvm"])
@pytest.mark.parametrize(("function", "arguments"), WRONG[1:])
def test_both_backends_of_a_gpu_have_code_for_it(function, arguments, backend) -> None:
    assert pytocu.jit(function).lower(*arguments).compile("cuda:sm_90", backend).binary


def in_a_branch_of_elements(y, count):
    t = 5
    for x in (y[::-1] * 1).ravel():
        if x == 3:
            t = t // (int(x) - 3 + count)
        t = count
    return y


def in_a_branch_of_numbers(y, count):
    t = 5
    for x in y[::-1].ravel():
        if x == 3:
            t = t // count
        else:
            t = count
        t = count
    return t


def beside_an_array_of_no_use(y, count):
    z = y * 1.0
    t = 4
    for i in range(len(y)):
        z[1:] = z[:-1] + y[i]
        t = int(z[1]) // count + t
        t = 4
    return y


def behind_a_loop(y, count):
    t = count % 7
    for v in y:
        if v < 4:
            break
        t = count % 97
    t = 7 // (t % 3)


def behind_a_branch(y, count):
    t = count % 7
    if y[0] > 0.5:
        t = count
    t = 7 % t
    t = (t + 1) // (count - 1)
    return y + 1.0


def a_shift(y, count):
    t = 0
    for v in y:
        t = int(v) - count
    t = 1 << t


def a_power(y, count):
    t = 0
    for v in y:
        t = int(v)
    t = t ** -1
    return count


def an_int_in_a_branch(y, count):
    if count > 1:
        int(y.sum())
    return count


def an_int_in_a_branch_of_steps(y, count):
    for _ in range(count):
        if count > 2:
            int(y.sum())
    return count


def an_int_in_steps(y, count):
    for _ in range(count):
        int(y[0])
    return count


def an_int_in_steps_over_a_list(y, count):
    found = [count] * count
    for _ in found[:]:
        int(y.sum())
    return count


UNREAD = [
    in_a_branch_of_elements, in_a_branch_of_numbers, beside_an_array_of_no_use, behind_a_loop, behind_a_branch,
    a_shift, a_power, an_int_in_a_branch, an_int_in_a_branch_of_steps, an_int_in_steps, an_int_in_steps_over_a_list,
]  # fmt: skip
NUMBERS = [
    ([1.0, 2.0, 4.0], 0), ([1.0, 3.0, 4.0], 1), ([1.0, 3.0, 4.0], 0), ([0.0, 0.0, 0.0], 2), ([np.nan, 1.0, 3.0], 3),
    ([1.0, 2.0, 4.0], 3),
]  # fmt: skip


@pytest.mark.parametrize("function", UNREAD)
def test_what_a_number_that_nobody_uses_is_made_of_is_there(function) -> None:
    """A number that data decide may be an exception though nothing reads it; arrays that it alone reads are no zeros."""
    compiled = pytocu.jit(function)
    for y, count in NUMBERS:
        try:
            wanted = function(np.array(y), count)
        except (ValueError, ZeroDivisionError) as error:
            with pytest.raises(type(error), match=re.escape(str(error))):
                compiled(np.array(y), count)
        else:
            np.testing.assert_array_equal(compiled(np.array(y), count), wanted)
