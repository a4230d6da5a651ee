"""Loops whose names hold something else in the first step than in the others: None, a number, an array of another type."""

from __future__ import annotations

import linecache
from typing import Any

import numpy as np
import pytest
from mask_tools import everywhere

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.testing.compare import compare

A = np.random.default_rng(3).standard_normal((6, 4))


def sum_of_rows(a, n):
    total = 0
    for k in range(n):
        total = total + a[k]
    return total


def sum_of_all_rows(a, n):
    total = 0.0
    for row in a:
        total += row * n
    return total


def escape(a, n):
    z = 0
    for _ in range(n):
        z = z**2 + a
        if np.abs(z).max() > 100:
            break
    return z


def largest(a, n):
    best = None
    for k in range(n):
        now = a[k].sum()
        if best is None or now > best:
            best = now
    return best


def differences(a, n):
    previous = None
    out = np.zeros(n)
    for k in range(n):
        if previous is not None:
            out[k] = a[k, 0] - previous
        previous = a[k, 0]
    return out


def until(a, n):
    previous, k = None, 0
    while k < n:
        if previous is not None:
            a = a - previous
        previous = a * 0.5
        k += 1
    return a


def ways(a, n):
    mode, f, shape, pair = "first", np.sin, a.shape, (None, a)
    for _ in range(n):
        a = f(a) + len(shape) if mode == "first" else f(a) * 2
        if pair[0] is not None:
            a = a + pair[0]
        mode, f, shape, pair = "other", np.cos, (1,), (a, a)
    return a


def clock(a, n):
    t = 0
    for _ in range(n):
        t += 0.25
        a = a + t
    return a, t


def newton(a, n):
    x = 1
    for _ in range(n):
        x = 0.5 * (x + 2 / x)
    return a * x


def widened(a, n):
    count = np.zeros(a.shape, np.int64)
    for _ in range(n):
        count = count * 0.5 + a
    return count


def enumerated(a, n):
    last = None
    for k, row in enumerate(a[:n]):
        if last is None:
            last = row * 2
            continue
        last = last + row[::-1] * k
    return last


def nested(a, n):
    out = np.zeros_like(a)
    for k in range(n):
        total = 0
        for row in a:
            total = total + row * k
        out[k] = total
    return out


def nested_both(a, n):
    total = 0
    for k in range(n):
        previous = None
        for row in a:
            if previous is not None:
                total = total + previous * k
            previous = row
    return total


def left_in_the_first(a, n):
    total = 0
    for k in range(n):
        total = total + a[k]
        if total[0] < n:
            return total, k
    else:
        total = total * 2
    return total, -1


def broken_in_the_first(a, n):
    total = 0
    for k in range(n):
        total = total + a[k]
        if a[0, 0] < 10:
            break
    return total


def an_error_in_the_first(a, n):
    row = 1
    for k in range(n):
        if k > 0:
            row[0] += 1
        row = np.zeros(3)
    return row[0] + n


PROGRAMS = [
    sum_of_rows, sum_of_all_rows, escape, largest, differences, until, ways, clock, newton, widened, enumerated, nested,
    nested_both, left_in_the_first, broken_in_the_first, an_error_in_the_first,
]  # fmt: skip


@pytest.mark.parametrize("function", PROGRAMS)
@pytest.mark.parametrize("n", [1, 2, 6])
def test_the_first_step_is_another(function, n: int) -> None:
    everywhere(function, A, n, ulp=4 if function is ways else 0)


@pytest.mark.parametrize("function", [sum_of_rows, clock, ways])
def test_a_loop_without_a_step_leaves_what_there_was(function) -> None:
    """What that is has another kind, which the loop's code knows nothing of."""
    with pytest.raises(UnsupportedError, match="a loop without a step is not compiled where"):
        pytocu.jit(function)(A, 0)


def test_a_loop_without_a_step_leaves_none() -> None:
    everywhere(largest, A, 0)


def back_substitution(u, b):
    n = len(b)
    x = np.zeros_like(b)
    for i in range(n - 1, -1, -1):
        s = 0
        for j in range(i + 1, n):
            s += u[i, j] * x[j]
        x[i] = (b[i] - s) / u[i, i]
    return x


def cholesky(a):
    lower = np.zeros_like(a)
    for i in range(len(a)):
        for j in range(i + 1):
            s = sum(lower[i, k] * lower[j, k] for k in range(j))
            if i == j:
                lower[i, j] = np.sqrt(a[i, i] - s)
            else:
                lower[i, j] = (a[i, j] - s) / lower[j, j]
    return lower


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_steps_of_a_loop_around_in_which_there_are_none(n: int, dtype: Any) -> None:
    a = np.random.default_rng(n).random((n, n))
    a = (a @ a.T + np.eye(n) * n).astype(dtype)
    compare(pytocu.jit(back_substitution)(a, a.sum(0)), back_substitution(a, a.sum(0)))
    compare(pytocu.jit(cholesky)(a), cholesky(a))


def test_no_rows() -> None:
    with pytest.raises(UnsupportedError, match="a loop without a step is not compiled where total is a Python float"):
        pytocu.jit(sum_of_all_rows)(A[:0], 1)


def test_an_array_that_is_no_argument_after_the_first_step() -> None:
    def halves(a, n):
        kept = None
        for _ in range(n):
            a = a * 0.5
            kept = a if kept is None else kept + a
        return kept

    everywhere(halves, A, 4)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("mode = 'a' if mode == 'b' else 'b'", "mode is 'b' before a step of the loop and 'a' after it"),
        ("x = np.stack([x, x])", r"x is f64\[x_0\] before a step of the loop and f64\[2, x_0\] after it"),
        ("pair = [*pair, pair[0]]", "pair is a list of 2 before a step of the loop and a list of 3 after it"),
    ],
)
def test_what_changes_in_every_step_is_refused(body: str, said: str) -> None:
    """The first reason is said, not that of the steps behind the first."""
    text = f"def f(x, n):\n    mode, pair = 'b', [x, x]\n    for _ in range(n):\n        {body}\n    return x, pair[0]\n"
    linecache.cache[text] = (len(text), None, text.splitlines(True), text)
    names: dict[str, Any] = {"np": np}
    exec(compile(text, text, "exec"), names)
    with pytest.raises(UnsupportedError, match=said):
        pytocu.jit(names["f"])(np.ones(9), 3)


def wrapped(x, v, n):
    for _ in range(n):
        x += v * 0.1
        x = x % 1.0
    return x


def another_name(x, v, n):
    y, w = x, x[1:]
    for _ in range(n):
        y += v
        y = y * 0.5
    return x, y, w


def part_while(x, v, n):
    k = 0
    while k < n:
        x[1:] += v[:-1]
        x = x * 0.5
        k += 1
    return x, k


def until_large(x, v, n):
    for _ in range(n):
        x += v
        x = x * 0.5
        if x.sum() > 5:
            break
    else:
        v = v * 2
    return x, v


def view_of_an_argument(x, v, n):
    first, last = x[1:], x[:-1]
    for k in range(n):
        first += last
        last *= 0.5
        first = first - k
    return x, first, last


def returned_in_the_end(x, v, n):
    k, kept = 0, None
    while True:
        x += np.abs(v)
        if x.max() > 5 * n:
            return x, k
        if kept is not None:
            x = x + kept
        x = x * 1.5
        kept = x * 0.5
        k += 1


def returned_when_large(x, v, n):
    for i in range(n):
        x += v
        x = x * 0.5
        if x.sum() > 5:
            return x, i
    return x, -1


def two_names(x, v, n):
    a = x.copy()
    b = a
    for _ in range(n):
        a -= v
        a = np.abs(a)
    return a, b


def one_behind_the_other(x, v, n):
    a, b = x, v
    for _ in range(n):
        a += 1
        a = b
        b = a + b
    return a, b


def inner_loop(x, v, n):
    for _ in range(n):
        for _ in range(n):
            x += v * 0.1
            x = x % 1.0
    return x


def rebound_in_some_steps(x, v, n):
    for i in range(n):
        x += v
        if i % 2:
            x = x * 0.5
    return x


def both_arguments(x, v, n):
    for _ in range(n):
        x += v
        v += x
        x, v = x * 0.5, v * 0.25
    return x, v


def while_small(x, v, n):
    while x.sum() < n:
        x += np.abs(v)
        x = x + 0.5
    return x


def in_a_helper(x, v, n):
    def step(y):
        y += v
        return y % 1.0

    for _ in range(n):
        x = step(x)
    return x


def changed_behind_the_loop(x, v, n):
    for _ in range(n):
        x += v
        x = x * 0.5
    x += 1
    return x


def last_kept(x, v, n):
    kept = None
    for _ in range(n):
        x += v
        kept = x
        x = x * 0.5
    return x, kept


X, V = A[:, 0].copy(), A[:, 1].copy()
CHANGES = [
    wrapped, another_name, part_while, until_large, returned_in_the_end, returned_when_large, two_names, one_behind_the_other,
    inner_loop, view_of_an_argument, rebound_in_some_steps, both_arguments, while_small, in_a_helper,
]  # fmt: skip


@pytest.mark.parametrize("function", CHANGES)
@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_an_argument_is_the_callers_in_the_first_step_only(function, n: int) -> None:
    everywhere(function, X, V, n)


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_a_loop_without_a_step_leaves_what_is_the_callers(n: int) -> None:
    everywhere(changed_behind_the_loop, X, V, n)


def test_what_a_loop_without_a_step_leaves_is_the_callers() -> None:
    for n in (0, 1, 2, 5):
        everywhere(last_kept, X, V, n)
    x = X.copy()
    assert pytocu.jit(last_kept)(x, V, 0) == (x, None)


def test_an_error_of_dtypes_is_not_hidden_by_what_a_step_would_read() -> None:
    def of_the_first(x, count):
        one, best = x.ravel()[:1], None
        for a, b in zip(one[1:], one, strict=False):
            if best is None or a * b < 4:
                best = count % 97
        return np.bitwise_xor(x, 1j)

    with pytest.raises(TypeError, match="ufunc 'bitwise_xor' not supported"):
        pytocu.jit(of_the_first)(np.ones(5), 1)
