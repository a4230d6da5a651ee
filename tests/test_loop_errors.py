"""Loops inside of one kernel end where something is wrong: nothing is written behind it, no step goes on with a wrong index."""

from __future__ import annotations

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
