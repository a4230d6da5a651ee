"""Sides of a branch that hand on arrays of different lengths: the host knows the length of the side that is taken."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mask_tools import builds, everywhere

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.testing.compare import compare

X = np.arange(6.0)
A, B = np.arange(12.0).reshape(3, 4), np.arange(20.0).reshape(4, 5)


def by_slices(x, n, m):
    y = x[:n] if n % 2 else x[:m]
    return y * 2


def made(x, n, m):
    if n != m:
        z = np.zeros((m, n))
    else:
        z = np.eye(n)
    return z + 1


def returned(x, n, m):
    if n % 2:
        return x[1:]
    return x


def three_ways(x, n, m):
    if n < 2:
        return x[:n]
    if n < 4:
        return x[m:]
    return np.zeros(n)


def one_after_the_other(x, n, m):
    y = x[:m] if x.sum() > 3 else x
    if n > 4:
        y = y[1:]
    elif n > 2:
        y = np.concatenate((y, y))
    else:
        y = y[::2]
    return y * 2, y.sum()


def by_data(x, n, m):
    y = x[n:] if x.sum() > 3 * m else x
    return y - y.max()


def two_of_one_length(x, n, m):
    if n > 2:
        y, w = x[1:], x[:-1] + 1
    else:
        y, w = x, x * m
    return y + w, len(y), np.arange(len(w))


def used_behind(x, n, m):
    if n > 2:
        x = x.reshape(2, -1).sum(axis=0)
    x = np.concatenate((x, x[:m]))
    return x[1:] - x[:-1]


def in_a_loop(x, n, m):
    y = x
    for i in range(n):
        w = x[:i] if i % 2 else x[:m]
        y = y + w.sum()
    return y


def does_not_fit_behind(x, n, m):
    y = x[1:] if n > 2 else x
    return y + x


def of_two_axes(x, n, m):
    y = x.reshape(2, 3)
    z = y[:, 1:] if n > 2 else np.zeros((m, 3))
    return z.sum(axis=0), z.T * 2


def inside_of_a_side(x, n, m):
    y = x
    if n > 1:
        y = x[1:] if n % 4 == 3 else x
        if n % 2:
            y = y[::2]
    return y * 2


def by_name(x, n, m):
    size = len(x) - 1 if n > 2 else m
    return np.ones(size) + 1


def slice_of_what_a_side_computes(x, n, m):
    s = np.float64(1)
    if x.sum() > n:
        y = x[1:] if x.max() > m else x
        s = y[:n].sum()
    return s * m


FUNCTIONS = [
    by_slices, made, returned, three_ways, one_after_the_other, by_data, two_of_one_length, used_behind, in_a_loop,
    does_not_fit_behind, of_two_axes, inside_of_a_side, by_name,
    slice_of_what_a_side_computes,
]  # fmt: skip


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize(("n", "m"), [(1, 2), (2, 2), (3, 5), (6, 3)])
def test_the_length_of_the_side_that_is_taken(function: Callable[..., Any], n: int, m: int) -> None:
    everywhere(function, X, n, m)


@pytest.mark.parametrize("function", [by_slices, one_after_the_other, by_data, in_a_loop], ids=lambda f: f.__name__)
def test_a_gpu_runs_them(function: Callable[..., Any]) -> None:
    builds(function, X, 3, 5)


def chosen(x: Any, y: Any, n: int) -> Any:
    z = x if n else y
    return z.sum(), z * 2


def product(a: Any, b: Any, n: int) -> Any:
    if n % 2:
        return a @ b
    return a


def test_lengths_of_arguments_that_differ() -> None:
    for n in (0, 1):
        everywhere(chosen, X, X[:3], n)
        everywhere(chosen, X, X + 1, n)
        everywhere(product, A, B, n)
        everywhere(product, A, np.eye(4), n)
        everywhere(product, A, A, n)
    jitted = pytocu.jit(chosen)
    for y in (X, X[:3], X[:4], X + 1):
        jitted(X, y, 0)
    assert len(jitted.specializations) == 2


def test_equal_lengths_of_arguments_stay_one_kernel() -> None:
    lowered = pytocu.jit(lambda x, y, n: (x if n else y) * 2).lower(X, X + 1, 1)
    (kernel,) = lowered.kernels
    assert kernel.schedule


def filtered(x, n):
    if n > 2:
        x = x[x > 0]
    return x, len(x)


def filtered_and_changed(x, n):
    y = x.copy()
    if n > 2:
        y = y[y > 0]
    y[:1] = 9
    return y, x


def one_of_three_masks(x, n):
    if x.sum() > n:
        x = x[x > 0]
    elif n > 0:
        x = x[x < 0]
    return x * 2


def filtered_twice(x, n):
    if n > 2:
        x = x[x > 0]
        x = np.concatenate((x[1:], x, x[x > 2]))
    if n > 4:
        x = x[x > 1]
    return x.sum(), x.shape, x


def rows_filtered(x, n):
    z = np.stack([x, x + 1], 1)
    if n > 2:
        z = z[x > 0]
    return z, z.sum(0), z.T


def filtered_or_not(x, n):
    y = x[x > 0] if n > 2 else x
    return y.sum(), y


def positions(x, n):
    if n > 2:
        i = np.where(x > 0)[0]
    else:
        i = np.arange(len(x))
    return x[i], i


def filtered_in_steps(x, n):
    sums = []
    for k in range(n):
        y = x
        if k % 2:
            y = np.unique(x[x > k])
        x = x + y.sum()
        sums.append(len(y))
    return x, sums


def under_two_names(x, n):
    a = x * 2
    b = a
    if n > 2:
        a = x[x > 0]
        b = a
    a[:1] += 1
    return a, b


def from_a_function(x, n):
    def keep(v, k):
        if n > k:
            return v[v > 0], v.sum()
        return v, 0.0

    return keep(x, 2)[0] + 1, keep(x, 0)


def returned_filtered(x, n):
    if n > 2:
        return x[x > 0]
    return x


def one_of_three_returned(x, n):
    if n > 3:
        return x[x > 0]
    if n > 1:
        return x[x < 0]
    return x


def maybe_nothing(x, n):
    if n > 2:
        x = x[x > 100]
    if len(x) == 0:
        return 0.0
    return x.mean()


COMPUTED = [
    filtered, filtered_and_changed, one_of_three_masks, filtered_twice, rows_filtered, filtered_or_not, positions,
    filtered_in_steps, under_two_names, from_a_function, returned_filtered, one_of_three_returned, maybe_nothing,
]  # fmt: skip
VALUES = [np.array([-1.0, 2, 1, 3, -4, 2]), np.zeros(0), np.array([5.0]), np.array([-1.0, -2]), np.arange(300.0) - 150]


@pytest.mark.parametrize("function", COMPUTED, ids=lambda f: f.__name__)
def test_a_length_that_a_side_computes(function: Callable[..., Any]) -> None:
    for x in VALUES[:3]:
        everywhere(function, x, 3)
    jitted = pytocu.jit(function)
    for n, x in itertools.product((1, 3, 5), VALUES):
        given, theirs = x.copy(), x.copy()
        found, wanted = jitted(given, n), function(theirs, n)
        compare(found, wanted, exact=False, ulp=4)
        assert (found is given) is (wanted is theirs)
        np.testing.assert_array_equal(given, theirs)


@pytest.mark.parametrize("function", [filtered, rows_filtered, filtered_in_steps], ids=lambda f: f.__name__)
def test_a_gpu_runs_those_that_a_side_computes(function: Callable[..., Any]) -> None:
    builds(function, X, 3)


def test_what_differs_in_more_than_a_length_that_a_side_computes() -> None:
    def narrower(x: Any, n: int) -> Any:
        y = x
        if n:
            y = x[x > 2].astype(np.float32)
        return y

    with pytest.raises(UnsupportedError, match=r"y is f32\[chosen\] on one side of a branch .* and f64\[x_0\] on"):
        pytocu.jit(narrower)(X, 1)


def test_columns_or_the_argument() -> None:
    def columns(x: Any, n: int) -> Any:
        return x[:, x[0] > 2] if n else x

    jitted = pytocu.jit(columns)
    for n in (0, 1):
        given = A.copy()
        found = jitted(given, n)
        compare(found, columns(given, n))
        assert (found is given) is (n == 0)


def test_a_view_that_is_changed_behind() -> None:
    def function(x: Any, n: int) -> Any:
        y = x[1:] if n else x
        y[0] = 7
        return x

    for n in (0, 1):
        try:
            found = pytocu.jit(function)(X.copy(), n)
        except UnsupportedError as error:
            assert error.help
        else:
            np.testing.assert_array_equal(found, function(X.copy(), n))
