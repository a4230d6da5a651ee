"""Lists of a few positions that are assigned to (`a[[i, j]] = a[[j, i]]`): each is a part of its own."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import pytocu

X = np.arange(12.0).reshape(4, 3)


def rows(x, i, j):
    x[[i, j]] = x[[j, i]]


def columns(x, i, j):
    x[:, [i, j]] = x[:, [j, i]]


def parts_of_rows(x, i, j):
    x[[i, j], 1:] = x[[j, i], 1:]
    x[..., [i, j]] = x[1:3, :2].sum()


def numbers(x, i, j):
    x[[i, j]] = 7
    x[(j, i),] = [[1, 2, 3], [4, 5, 6]]


def in_place(x, i, j):
    x[[i, j]] += 10
    x[[i, j], :2] *= 2.5


def views_of_itself(x, i, j):
    v = x[1:3]
    x[[i, j]] = v
    x[[j, i], None] = x[0]


def known_and_not(x, i, j):
    x[[0, -1]] = x[[-1, 0]]
    x[[j]] = x[[i]]
    x[[i, j]] = np.array([[1.0], [2.0]])


def elements_in_steps(x, i, j):
    v = x[:, 0].copy()
    for k in range(3):
        p = np.argmax(v[k:]) + k
        v[[k, p]] = v[[p, k]]
        x[[k, j]] = x[[j, k]]
        x[0, [k, i]] = x[1, [i, k]]
    return v


def of_another_shape(x, i, j):
    x[[i, j]] = np.ones(2)


FUNCTIONS = (
    rows, columns, parts_of_rows, numbers, in_place, views_of_itself, known_and_not, elements_in_steps, of_another_shape,
)  # fmt: skip

ONE_STATEMENT = (rows, columns, of_another_shape)
"""Those that write nothing where a position is wrong."""


@pytest.mark.parametrize("function", FUNCTIONS)
def test_positions_are_numpy_s(function) -> None:
    jitted = pytocu.jit(function)
    for i, j in ((1, 2), (0, 0), (-1, 1), (np.int64(2), np.int32(-1)), (0, 4), (-5, 1)):
        found = []
        for call in (function, jitted):
            x = X.copy()
            try:
                result = call(x, i, j)
            except (IndexError, ValueError) as error:
                kind = IndexError if isinstance(error, IndexError) else ValueError
                result = kind, str(error).split("\n")[0]
                if function not in ONE_STATEMENT:
                    # NumPy comes to a wrong position behind the statements before.
                    x = X
            found.append((repr(result), x.tolist()))
        assert found[0] == found[1], (i, j)


def lu(a):
    a = a.copy()
    n = a.shape[0]
    pivots = np.arange(n)
    for k in range(n - 1):
        p = k + np.argmax(np.abs(a[k:, k]))
        if p != k:
            a[[k, p]] = a[[p, k]]
            pivots[[k, p]] = pivots[[p, k]]
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return a, pivots


def test_rows_that_change_places_are_no_host_s_work() -> None:
    a = np.random.default_rng(0).normal(size=(9, 9))
    jitted = pytocu.jit(lu)
    (factors, pivots), (expected, order) = jitted(a), lu(copy.deepcopy(a))
    np.testing.assert_array_equal(factors, expected)
    np.testing.assert_array_equal(pivots, order)
    steps = [step[0] for step in jitted.lower(a).compile("cpu").plan.steps]
    assert "for" not in steps and "library" not in steps


def test_what_was_joined_and_changed_is_put_back() -> None:
    def added(a, n):
        for _ in range(n):
            a[[0, -1]] += 1
        return a

    np.testing.assert_array_equal(pytocu.jit(added)(np.arange(5.0), 3), added(np.arange(5.0), 3))


def test_what_was_joined_is_what_the_array_held_then() -> None:
    def exchanged(a, i, j, n):
        for k in range(n):
            rows = a[[i, j]]
            a[i] = 99 + k
            a[[j, i]] = rows
        return a

    def of_one_memory(a, b):
        for _ in range(3):
            rows = a[[0, 1]]
            b[0] = 7
            a[[1, 0]] = rows
        return a

    for given in (np.arange(4.0), np.arange(12.0).reshape(4, 3)):
        for i, j in ((0, 2), (-1, 1), (1, 1)):
            np.testing.assert_array_equal(pytocu.jit(exchanged)(given.copy(), i, j, 3), exchanged(given.copy(), i, j, 3))
    one, other = np.arange(4.0), np.arange(4.0)
    np.testing.assert_array_equal(pytocu.jit(of_one_memory)(one, one), of_one_memory(other, other))
