"""Elements and rows that are changed at positions computed of data: in loops of one kernel, in others, and without a loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mask_tools import everywhere

import pytocu
from pytocu.frontend.gathering import numpy_looks
from pytocu.testing.operands import make_function

TABLE = np.random.default_rng(1).random((3, 4))
PLACES = np.array([1, -1, 2, 1, 0])
ROWS = np.random.default_rng(2).random((5, 4))
Arrays = np.ndarray


def one_row(out: Arrays, i: Arrays, v: Arrays) -> None:
    out[i[0]] += v[0]
    out[i[1], 2] = 7


def rows(out: Arrays, i: Arrays, v: Arrays) -> None:
    for k in range(len(i)):
        out[i[k]] += v[k]


def elements(out: Arrays, i: Arrays, v: Arrays) -> None:
    for k in range(len(i)):
        out[i[k], i[-1 - k]] -= v[k, 0]


def parts_of_rows(out: Arrays, i: Arrays, v: Arrays) -> None:
    for k in range(len(i)):
        out[i[k], 1:] = v[k, 1:]


def columns(out: Arrays, i: Arrays, v: Arrays) -> None:
    for k in range(len(i)):
        out[:, i[k]] *= v[k, :3]


def in_branches(out: Arrays, i: Arrays, v: Arrays) -> None:
    for k in range(len(i)):
        if v[k, 0] > 0.5:
            out[i[k], 2] += v[k, 0]
        else:
            out[1:][i[k] % 2, 2] -= 1


def parts_without_a_loop(out: Arrays, i: Arrays, v: Arrays) -> None:
    out[1:, 1:][i[0], i[1]] = 3
    out[i[2], ::2] = 5
    out[None, i[3], 1:3] += v[0, :2]
    out[..., i[4]] = v[1, :3]


def of_a_new_array(out: Arrays, i: Arrays, v: Arrays) -> Arrays:
    counts = np.zeros(4, np.int64)
    for k in range(len(i)):
        counts[i[k]] += 1
    return counts * 2


def moved(out: Arrays, i: Arrays, v: Arrays) -> None:
    for k in range(len(i)):
        saved = out[i[k], 0]
        out[i[k], 0] = out[0, 0]
        out[0, 0] = saved


def largest(out: Arrays, i: Arrays, v: Arrays) -> None:
    where = np.argmax(v[:, 0]) % 3
    out[where] = 7
    out[where, np.argmin(v[0])] += 2


def of_an_integer(out: Arrays, i: Arrays, v: Arrays) -> Arrays:
    seen = np.zeros(3, np.int8)
    for k in range(40 * len(i)):
        seen[i[k % 5]] += np.int8(3)
    return seen


def until_found(out: Arrays, i: Arrays, v: Arrays) -> int:
    k = 0
    while k < 4 and out[i[k], 0] < 10:
        out[i[k], 0] += 10
        k += 1
    return k


def with_sums_of_all(out: Arrays, i: Arrays, v: Arrays) -> None:
    for k in range(len(i)):
        out[i[k]] += np.maximum.reduce(out.ravel())


EVERY = (one_row, rows, elements, parts_of_rows, columns, in_branches, parts_without_a_loop, of_a_new_array, moved, largest,
         of_an_integer, until_found, with_sums_of_all)  # fmt: skip


@pytest.mark.parametrize("function", EVERY, ids=lambda f: f.__name__)
def test_numpys_answer(function: Callable[..., Any]) -> None:
    everywhere(function, TABLE.copy(), PLACES, ROWS)


@pytest.mark.parametrize("places", [np.uint8([1, 2]), np.int32([-3, 1])], ids=lambda p: p.dtype.name)
def test_positions_of_other_dtypes(places: np.ndarray) -> None:
    everywhere(rows, TABLE.copy(), places, ROWS)


def test_no_steps() -> None:
    everywhere(rows, TABLE.copy(), PLACES[:0], ROWS)


@pytest.mark.parametrize("place", [3, -4, 2**40])
def test_a_position_outside_raises(place: int) -> None:
    def one(out: np.ndarray, i: np.ndarray) -> None:
        out[i[0]] = 1

    everywhere(one, np.zeros(3), np.array([place]))
    with pytest.raises(IndexError, match=f"index {place} is out of bounds for axis 0 with size 3"):
        pytocu.jit(rows)(TABLE.copy(), np.array([1, place, 2]), ROWS)


@pytest.mark.parametrize("function", [rows, elements, parts_of_rows, columns, in_branches], ids=lambda f: f.__name__)
def test_one_kernel_for_all_steps(function: Callable[..., Any]) -> None:
    assert len(pytocu.jit(function).lower(TABLE, PLACES, ROWS).kernels) == 1


@pytest.mark.parametrize("dtype", [np.bool_, np.float16, np.float32, np.complex64, np.uint64])
def test_other_elements(dtype: Any) -> None:
    function = elements if dtype is not np.bool_ else parts_of_rows
    everywhere(function, (TABLE * 5).astype(dtype), PLACES, (ROWS * 9).astype(dtype))


def test_strided_and_turned() -> None:
    everywhere(rows, np.zeros((6, 8))[::2, ::2], PLACES, ROWS)
    everywhere(rows, np.zeros((4, 3)).T, PLACES, ROWS)


def tuples_of_positions(p):
    out = np.where(p[:, 0] < 0)
    p[out, 1] *= -1
    return p, p[out, 0], p[out]


def lists_of_arrays(p, a, k):
    p[[a, a + 1], 1] = 7
    p[(a,), :] += 1
    return p[[a, a], 0], p[(a, a), (0,)], p[[a[0], k], 1], p[[0, a[0]]], p[(0, k), :1]


def test_tuples_and_lists_of_arrays_in_a_key_are_arrays() -> None:
    p = np.random.default_rng(0).standard_normal((6, 2))
    everywhere(tuples_of_positions, p)
    everywhere(lists_of_arrays, p, np.array([0, 2, 1]), 3)


def zeros_of_its_length(p):
    changed = p.copy()
    changed[np.zeros(len(p), np.int64)] += 1
    return p[np.full(len(p), -1)], p[np.concatenate([np.zeros(len(p), np.int64), np.zeros(len(p), np.int64)])], changed


@pytest.mark.parametrize("shape", [(0, 2), (3, 2), (1, 0)])
def test_no_position_is_outside_of_nothing(shape: tuple[int, ...]) -> None:
    everywhere(zeros_of_its_length, np.ones(shape))


NONE_TAKEN = (
    ("a[i]", (3, 0)), ("a[i, :0]", (3, 4)), ("a[:0, i]", (2, 4)), ("a[:, i]", (0, 3)), ("a[i]", (3, 0, 2)),
    ("a[i, i]", (6, 3, 0)), ("np.take(a, i, axis=0)", (3, 0)), ("np.take(a, i, axis=1)", (0, 3)),
    ("np.take(a, i, axis=1)", (0, 0)), ("np.take(a, i, axis=1)", (2, 3, 0)),
    ("a[i].sum(axis=0)", (3, 0)), ("a[j, i[1]]", (3, 3)), ("a[j]", (3, 0)),
    ("np.take(a, i, axis=0, mode='wrap')", (3, 0)),
)  # fmt: skip


LOOKED_AT = pytest.mark.skipif(not numpy_looks(), reason="this NumPy only warns of positions of which no element is taken")


@LOOKED_AT
@pytest.mark.parametrize("text, shape", NONE_TAKEN)
def test_positions_of_which_no_element_is_taken(text, shape):
    """NumPy looks at them all the same, but for np.take where an axis before has no element."""
    a, j = np.zeros(shape), np.zeros(0, int)
    for i in (np.array([0, 5]), np.array([0, -2]), np.array([-4, 1])):
        everywhere(make_function("aij", [text], {"np": np}), a, i, j)


@LOOKED_AT
def test_a_length_of_0_is_another_specialisation():
    f = pytocu.jit(lambda a, i: a[i])
    i = np.array([0, 2])
    assert f(np.ones((3, 40)), i).shape == (2, 40)
    assert f(np.ones((3, 0)), i).shape == (2, 0)
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0 with size 3"):
        f(np.ones((3, 0)), np.array([0, 5]))
    assert f(np.ones((3, 70)), i).shape == (2, 70) and len(f.specializations) == 2
