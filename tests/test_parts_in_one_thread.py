"""Parts of arrays that a step changes, and what it combines of them, by what data say: a native function on a CPU."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_run_time_positions import agrees, copies

import pytocu
from pytocu.passes import one_thread

RANDOM = np.random.default_rng(7)


def raised_parts(x, places):
    k = 0
    for i in range(places.shape[0]):
        j = int(places[i])
        if x[j] < 3:
            x[j : j + 4] += 1
            x[j:-2] = x[j] * 0.5
            k += j % 3
    return k


def inserted_by_shifts(x):
    moved = 0
    for i in range(1, x.shape[0]):
        v = x[i]
        k = 0
        while k < i and x[k] <= v:
            k += 1
        if k < i:
            x[k + 1 : i + 1] = x[k:i].copy()
            x[k] = v
            moved += i - k
    return moved


def turned(tour, pairs):
    turns = 0
    for k in range(pairs.shape[0]):
        i, j = int(pairs[k, 0]), int(pairs[k, 1])
        if i < j:
            tour[i : j + 1] = tour[i : j + 1][::-1]
            turns += 1
    return turns


def rows_by_turns(a):
    n = a.shape[0]
    sign = 1
    for k in range(n - 1):
        p = k + np.argmax(np.abs(a[k:, k]))
        if p != k:
            row = a[k].copy()
            a[k] = a[p]
            a[p] = row
            sign = -sign
        for i in range(k + 1, n):
            a[i, k] /= a[k, k]
            a[i, k + 1 :] -= a[i, k] * a[k, k + 1 :]
    return sign


def by_outer_products(a):
    swaps = 0
    for k in range(a.shape[0] - 1):
        p = k + np.argmax(np.abs(a[k:, k]))
        if p != k:
            row = a[k].copy()
            a[k] = a[p]
            a[p] = row
            swaps += 1
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return swaps


def by_halves(x):
    n = x.shape[0]
    size = 2
    while size <= n:
        half = size // 2
        for start in range(0, n, size):
            even = x[start : start + half].copy()
            odd = x[start + half : start + size] * 2
            x[start : start + half] = even + odd
            x[start + half : start + size] = even - odd
        size *= 2


def windows(x, limit):
    i = 0
    found = 0
    while i < x.shape[0] - 5:
        if x[i : i + 5].sum() > limit or x[i:].min() < -1.5:
            x[i] = 0
            found += int(np.argmax(x[i : i + 3]))
            i += 3
        else:
            i += 1
    return found


def spread(a, limit):
    total = 0.0
    for i in range(1, a.shape[0]):
        if a[i].max() - a[:i, 1:].mean() > limit:
            a[i, :] = a[i - 1, :] * 0.5 + a[:i].sum()
            total += float(np.prod(a[i, :2]))
        a[i, i % 3 :] = (a[i, i % 3 :] > 0) * 2
    return total


def lengths_by_data(x, starts):
    best = 0.0
    for i in range(starts.shape[0] - 1):
        part = x[starts[i] : starts[i + 1]]
        largest = part.max()
        if largest > best:
            best = largest
            x[starts[i]] = -1
    return best


SQUARE = RANDOM.standard_normal((6, 6))
PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (raised_parts, (np.zeros(12), RANDOM.integers(0, 12, 20))),
    (raised_parts, (np.zeros(3, np.float32), RANDOM.integers(0, 3, 9))),
    (inserted_by_shifts, (RANDOM.integers(0, 30, 20),)),
    (inserted_by_shifts, (np.zeros(0),)),
    (turned, (np.arange(9), RANDOM.integers(0, 9, (20, 2)))),
    (turned, (np.arange(9)[::-1], RANDOM.integers(0, 11, (20, 2)) % 9)),
    (rows_by_turns, (SQUARE,)),
    (rows_by_turns, (np.asfortranarray(SQUARE),)),
    (rows_by_turns, (np.ones((1, 1)),)),
    (by_outer_products, (SQUARE,)),
    (by_halves, (RANDOM.standard_normal(16),)),
    (by_halves, (RANDOM.standard_normal(8) + 1j,)),
    (windows, (RANDOM.standard_normal(60), 2.0)),
    (windows, (RANDOM.standard_normal(60).astype(np.float32), 2.0)),
    (windows, (RANDOM.integers(-1, 3, 60), 3)),
    (spread, (RANDOM.standard_normal((9, 5)), 1.0)),
    (lengths_by_data, (RANDOM.random(30), np.array([0, 3, 4, 11, 30]))),
]


@pytest.mark.parametrize(("function", "arguments"), PROGRAMS)
def test_programs_give_what_numpy_gives(function, arguments) -> None:
    agrees(function, arguments)


ONE = {p[0]: p for p in reversed(PROGRAMS)}


@pytest.mark.parametrize(("function", "arguments"), ONE.values())
def test_a_cpu_has_no_step_of_python(function, arguments) -> None:
    steps = pytocu.jit(function).lower(*copies(arguments)).compile("cpu").plan.steps
    assert not any(step[0] in ("for", "while") for step in steps)


def put(x, y, i, n):
    done = 0
    for k in range(i, i + 3):
        if y[0] > 0:
            x[k : k + n] = y[k:]
            done += 1
    return done


def added(x, y, i, n):
    total = 0.0
    for k in range(i, i + 3):
        if y[0] > 0:
            total += (x[k : k + n] + y[k:]).sum()
            x[k] = total
    return total


def emptied(x, y, i, n):
    total = 0.0
    for k in range(i, i + 3):
        if y[0] > 0:
            total += x[k : k + n].max()
            x[k] = total
    return total


@pytest.mark.parametrize("n", [3, 4, 5, 0, 1, 2])
@pytest.mark.parametrize("function", [put, added, emptied])
def test_lengths_are_compared_in_the_step_that_has_them(function, n) -> None:
    def call(run: Callable[..., Any]) -> Any:
        x, y = np.arange(9.0), np.arange(8.0) + 1
        try:
            return run(x, y, 3, n), x
        except (ValueError, pytocu.UnsupportedError) as error:
            return error

    wanted, found = call(function), call(pytocu.jit(function))
    if isinstance(wanted, ValueError):
        assert isinstance(found, ValueError)
        assert str(found).splitlines()[0].strip() == str(wanted).strip()
    elif isinstance(found, pytocu.UnsupportedError):
        # NumPy repeats the only element.
        assert "known only at run time is 1" in str(found)
        assert "[0]" in str(found)
    else:
        np.testing.assert_equal(found, wanted)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [0, 3, 8, 77, 128, 5000, 100_003])
def test_sums_are_as_accurate_as_numpy_s(n, dtype) -> None:
    def sums(x, out):
        k = 0
        for i in range(out.shape[0]):
            if out[i] >= 0:
                out[i] = x[i:].sum()
                k += 1
        return k

    x, out = RANDOM.random(n + 1).astype(dtype), np.zeros(2, dtype)
    pytocu.jit(sums)(x, out)
    exact = np.array([x.astype(np.longdouble).sum(), x[1:].astype(np.longdouble).sum()])
    np.testing.assert_allclose(out, exact, rtol=40 * np.finfo(dtype).eps)
    if n <= 128:
        wanted = np.zeros(2, dtype)
        sums(x, wanted)
        np.testing.assert_array_equal(out[1:], wanted[1:])


def test_large_parts_are_work_for_all_threads() -> None:
    limit = int(np.sqrt(one_thread.MOST))
    jitted = pytocu.jit(by_outer_products)
    small = jitted.lower(np.ones((limit, limit))).compile("cpu").plan.steps
    large = jitted.lower(np.ones((limit + 1, limit))).compile("cpu").plan.steps
    assert not any(step[0] == "for" for step in small)
    assert any(step[0] == "for" for step in large)


def sums_of_rows(x, starts, out):
    for k in range(len(starts) - 1):
        out[k] = x[starts[k] : starts[k + 1]].sum()


def _error(found: np.ndarray, x: np.ndarray, starts: np.ndarray) -> float:
    """The errors of all sums, added up."""
    total = 0.0
    for k, value in enumerate(found.tolist()):
        row = x[starts[k] : starts[k + 1]].ravel()
        parts = ((value.real, row.real), (value.imag, row.imag)) if row.dtype.kind == "c" else ((value, row),)
        total += math.hypot(*(one - math.fsum(exact.tolist()) for one, exact in parts))
    return total


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("length", [100, 200, 1000, 5003])
def test_a_sum_is_no_less_accurate_than_numpy_s(dtype, length: int) -> None:
    random = np.random.default_rng(11)
    rows = 200 if length < 1000 else 60
    starts = np.arange(rows + 1) * length
    x = random.random(rows * length) + (1j * random.random(rows * length) if np.dtype(dtype).kind == "c" else 0)
    x = x.astype(dtype)
    found, numpys = np.zeros(rows, dtype), np.zeros(rows, dtype)
    pytocu.jit(sums_of_rows)(x, starts, found)
    sums_of_rows(x, starts, numpys)
    assert _error(found, x, starts) <= 1.05 * _error(numpys, x, starts)
    if length <= 128 and np.dtype(dtype).kind == "f":
        np.testing.assert_array_equal(found, numpys)


@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
def test_numbers_that_are_infinite_or_none_stay_so(dtype) -> None:
    x = np.ones((5, 300), dtype)
    x[0, 7] = np.inf
    x[1, 290] = -np.inf
    x[2, 3], x[2, 298] = np.inf, -np.inf
    x[3, 299] = np.nan
    x[4] = np.finfo(dtype).max
    starts = np.arange(6) * 300
    with np.errstate(all="ignore"):
        agrees(sums_of_rows, (x.ravel(), starts, np.zeros(5, dtype)))


def pivots_and_parts(x):
    order, parts = np.eye(len(x)), np.eye(len(x))
    for k in range(len(x)):
        m = np.argmax(x[k:, k]) + k
        if x[m, k] == 0:
            raise ValueError("singular")
        if m != k:
            order[k] = order[m]
        parts[k + 1 :, k] = x[k + 1 :, k]
    return order, parts


def one_that_is_read_only(x, n):
    a, b, c = x * 2, x * 2, x * 2
    i = 0
    while i < n:
        a[i] = b[i] + 1
        b[i] = c[i] * a[i]
        i += 1
    return a, b, c


def test_arrays_that_begin_alike_and_that_steps_change_stay_two() -> None:
    agrees(one_that_is_read_only, (RANDOM.random(5), 3))
    agrees(pivots_and_parts, (RANDOM.random((6, 6)),))
    with pytest.raises(ValueError, match="singular"):
        pytocu.jit(pivots_and_parts)(np.zeros((3, 3)))
