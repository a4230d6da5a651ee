"""Loops over numbers known now: which of them are written out step by step, and which are loops of run time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.errors import IndexingError

GAINS = [1.0, 2.0] * 30


def recurrence(a: Any, b: Any) -> Any:
    for i in range(1, 60):
        a[i] = a[i - 1] * 0.5 + b[i]
    return a


def backward(a: Any, b: Any) -> Any:
    for i in range(59, -1, -1):
        a[i] = max(i, 3) * b[-i]
    return a, i


def swapped(a: Any, b: Any) -> Any:
    for i in range(60):
        a[i], b[59 - i] = b[i], a[59 - i]
    return a - b


def nested(a: Any, b: Any) -> Any:
    c = a.reshape(2, 30)
    for i in range(2):
        for j in range(1, 30):
            c[i, j] = c[i, j - 1] + b[j]
    return c


def of_functions(a: Any, b: Any) -> Any:
    for i in range(60):
        a[i] = abs(np.floor(b[i] * i)) + float(i)
    return a


def terms(a: Any, b: Any) -> Any:
    y = np.zeros(10)
    for k in range(50):
        y += b[k] * a[k : k + 10]
    return y


def many_terms(a: Any, b: Any) -> Any:
    y = np.zeros(10)
    for k in range(200):
        y += b[k % 60] * a[k % 50 : k % 50 + 10]
    return y


def of_a_list(a: Any, b: Any) -> Any:
    for i in range(60):
        a[i] = GAINS[i] * b[i]
    return a


def deciding(a: Any, b: Any) -> Any:
    for i in range(60):
        if i % 2:
            a[i] = b[i]
        else:
            a[i] += b[i] + i
    return a


def of_a_shape(a: Any, b: Any) -> Any:
    for i in range(40):
        a[i] = np.full((i % 2 + 1,), i).sum()
    return a


def candidates(board: Any, b: Any) -> Any:
    left = np.ones((9, 9, 10), dtype=bool)
    for r in range(9):
        for c in range(9):
            v = board[r, c]
            if v != 0:
                left[r, :, v] = False
                left[:, c, v] = False
                i, j = 3 * (r // 3), 3 * (c // 3)
                left[i : i + 3, j : j + 3, v] = False
    return left


def of_a_list_in_loops(a: Any, b: Any) -> Any:
    for i in range(3):
        for j in range(4):
            for k in range(5):
                place = 20 * i + 5 * j + k
                a[place] = GAINS[place] * b[place]
    return a


def filled(board: Any, b: Any) -> Any:
    board = board.copy()
    changed = True
    while changed:
        changed = False
        for r in range(9):
            for c in range(9):
                if board[r, c] == 0:
                    used = np.zeros(10, bool)
                    used[board[r]] = True
                    used[board[:, c]] = True
                    if used[1:].sum() == 8:
                        board[r, c] = np.argmin(used)
                        changed = True
    return board


def launches(function: Any) -> int:
    return len(pytocu.jit(function).lower("f64[60]", "f64[60]").compile("cpu").kernels)


@pytest.mark.parametrize(
    "function",
    [
        *(recurrence, backward, swapped, nested, of_functions, terms, many_terms),
        *(of_a_list, of_a_list_in_loops, deciding, of_a_shape),
    ],
    ids=lambda f: f.__name__,
)
def test_results_are_numpys(function: Any) -> None:
    a, b = np.random.default_rng(0).random((2, 60))
    given, expected = (a.copy(), b.copy()), (a.copy(), b.copy())
    found, wanted = pytocu.jit(function)(*given), function(*expected)
    for one, other in zip((found, *given), (wanted, *expected), strict=True):
        np.testing.assert_equal(one, other)


def test_steps_that_write_parts_of_arrays_are_one_loop() -> None:
    assert launches(recurrence) == 1
    assert launches(of_functions) == 1


def test_terms_are_one_kernel() -> None:
    assert launches(terms) == 1


def test_steps_beyond_the_end() -> None:
    def beyond(a: Any, b: Any) -> None:
        for i in range(100):
            a[i] = b[i]

    with pytest.raises(IndexingError, match="index 60 is out of bounds for axis 0 with size 60"):
        pytocu.jit(beyond)(np.ones(60), np.ones(60))


@pytest.mark.parametrize("function", [candidates, filled], ids=lambda f: f.__name__)
def test_loops_in_loops_of_many_steps_are_loops(function: Any) -> None:
    board = np.zeros((9, 9), int)
    board[0, :8], board[4, 7], board[8, 2] = range(1, 9), 9, 1
    np.testing.assert_array_equal(pytocu.jit(function)(board, 0.0), function(board, 0.0))
    assert len(pytocu.jit(function).lower("i64[9, 9]", "f64").compile("cpu").kernels) < 30


# Steps that do much.


def adam(a: Any, b: Any) -> Any:
    x, m, v = a, np.zeros_like(a), np.zeros_like(a)
    for t in range(1, 31):
        g = 2 * (x - b) + np.sin(x).sum()
        m = 0.9 * m + 0.1 * g
        v = 0.999 * v + 0.001 * g**2
        x = x - 0.01 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    return x


def adam_of_lists(a: Any, b: Any) -> Any:
    x, m, v, t = [a, b], [a * 0, b * 0], [a * 0, b * 0], 0
    for _ in range(12):
        t += 1  # noqa: SIM113
        g = [2 * x[0] - x[1], 2 * x[1] - x[0].mean()]
        for i in range(2):
            m[i] = 0.9 * m[i] + 0.1 * g[i]
            v[i] = 0.999 * v[i] + 0.001 * g[i] ** 2
            x[i] = x[i] - 0.01 * (m[i] / (1 - 0.9**t)) / (np.sqrt(v[i] / (1 - 0.999**t)) + 1e-8)
    return x


def runge_kutta(y: Any, v: Any) -> Any:
    h = 0.1
    for _ in range(20):
        k1, l1 = v, -np.sin(y)
        k2, l2 = v + h / 2 * l1, -np.sin(y + h / 2 * k1)
        k3, l3 = v + h / 2 * l2, -np.sin(y + h / 2 * k2)
        k4, l4 = v + h * l3, -np.sin(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        v = v + h / 6 * (l1 + 2 * l2 + 2 * l3 + l4)
    return y, v


def conjugate_gradients(a: Any, b: Any) -> Any:
    x, r = np.zeros_like(b), b.copy()
    p, old = r, (r * r).sum()
    for _ in range(25):
        ap = 2 * p + 0.1 * a * a * p
        alpha = old / (p * ap).sum()
        x = x + alpha * p
        r = r - alpha * ap
        new = (r * r).sum()
        p = r + (new / (old + 1e-300)) * p
        old = new
    return x


def helped(x: Any, k: int) -> Any:
    y = np.sin(x) + k
    return (y * y + x) / (1 + y * y + x * x) + np.cos(x * y) * np.exp(-x * x)


def of_a_function(a: Any, b: Any) -> Any:
    for k in range(20):
        a = helped(a, k) + helped(b, 1)
    return a


def of_lengths(a: Any, b: Any) -> Any:
    best, place = -1.0, 0
    for k in range(1, 60):
        below, above = a[:k].sum(), a[k:].sum()
        if below == 0 or above == 0:
            continue
        first = (np.arange(k) * a[:k]).sum() / below
        second = (np.arange(k, 60) * a[k:]).sum() / above
        found = below * above * (first - second) ** 2
        if found > best:
            best = found
            place = k
    return best, place


def from_the_last(a: Any, b: Any) -> Any:
    total = 0.0
    for k in range(20, 0, -1):
        total = total + helped(a, 1) / k + helped(b, 2) * k
    return total, k


def of_a_named_step(a: Any, b: Any) -> Any:
    t, dt = 0, 2
    for _ in range(20):
        a = helped(a, 1) + helped(b, t)
        t += dt
    return a, t


@pytest.mark.parametrize(
    "function",
    [adam, adam_of_lists, runge_kutta, conjugate_gradients, of_a_function, of_lengths, from_the_last, of_a_named_step],
    ids=lambda f: f.__name__,
)
def test_steps_that_do_much_are_a_loop(function: Any) -> None:
    lowered = pytocu.jit(function).lower("f64[60]", "f64[60]")
    assert "for_loop" in lowered.ir("lower")
    a, b = np.random.default_rng(0).random((2, 60))
    found, wanted = pytocu.jit(function)(a, b), function(a, b)
    several = isinstance(wanted, (list, tuple))
    assert type(found) is type(wanted)
    for one, other in zip(found, wanted, strict=True) if several else [(found, wanted)]:
        np.testing.assert_allclose(one, other, rtol=1e-12)


def growing(a: Any, b: Any) -> Any:
    seen = []
    for _ in range(12):
        a = helped(a, 1) + b
        seen.append(a)
    return seen


def shrinking(a: Any, b: Any) -> Any:
    for _ in range(12):
        a = helped(a[1:], 1)
    return a


def of_another_dtype(a: Any, b: Any) -> Any:
    x = b > 0.5
    for _ in range(12):
        x = x + np.where(helped(a, 1) > 1, x, x)
        x = x.astype(np.int8 if x.dtype == np.bool_ else np.int16 if x.dtype == np.int8 else np.int32)
    return x


def of_gains(a: Any, b: Any) -> Any:
    for k in range(12):
        a = helped(a, 1) + GAINS[k] * b
    return a


def every_other(a: Any, b: Any) -> Any:
    for k in range(12):
        a = helped(a, 1) if k % 2 else helped(b, 2) + a
    return a


def of_large_ints(a: Any, b: Any) -> Any:
    for k in range(30):
        a = helped(a, 1) + b / 10**k
    return a


def of_growing_ints(a: Any, b: Any) -> Any:
    f = 1
    for k in range(1, 30):
        f = f * k
        a = helped(a, 1) + b / f
    return a


def power(x: Any, k: int) -> Any:
    return helped(x, 1) + x / 10**k


def of_powers_in_a_function(a: Any, b: Any) -> Any:
    for k in range(30):
        a = power(a, k) + b
    return a


def of_large_steps(a: Any, b: Any) -> Any:
    t, dt = 0, 2**62
    for _ in range(12):
        a = helped(a, 1) + helped(b, 1) / (1 + t)
        t += dt
    return a


def of_growing_steps(a: Any, b: Any) -> Any:
    t, dt = 0, 1
    for _ in range(12):
        a = helped(a, 1) + b / (1 + t)
        t += dt
        dt = dt * 2
    return a


def of_shifted_ints(a: Any, b: Any) -> Any:
    one = 1
    for k in range(30):
        a = helped(a, 1) + b / (one << 3 * k)
    return a


def of_lengths(a: Any, b: Any) -> Any:
    for k in range(1, 12):
        a = helped(a, 1) + np.linspace(0, 1, 60 * k)[::k]
    return a


def many(x: Any, k: float) -> Any:
    """Instructions that LLVM compiles in no time."""
    y = x * x + k
    return (y * y + x) / (1 + y * y + x * x) + (x - y) / (2 + y * y) * x - y / (3 + x * x)


def cut(x: Any, k: int) -> Any:
    last = k == 11
    return many(x, 1)[:30] if last else many(x, 1)


def of_a_last_step(a: Any, b: Any) -> Any:
    for k in range(12):
        a = cut(a, k)
    return a


def of_axes_in_a_function(a: Any, b: Any) -> Any:
    def summed(x: Any, k: int) -> Any:
        return many(x, 1) + x.sum(axis=k // 6, keepdims=True)

    a = a.reshape(6, 10)
    for k in range(12):
        a = summed(a, k)
    return a


def turned(a: Any, b: Any) -> Any:
    a = a.reshape(6, 10)
    for _ in range(12):
        a = many(a, 1).T
    return a


def of_words(a: Any, b: Any) -> Any:
    word = "add"
    for _ in range(12):
        a = many(a, 1) + b if word == "add" else many(a, 2)
        word = "multiply" if word == "add" else "add"
    return a


def appended_by_a_function(a: Any, b: Any) -> Any:
    seen = []

    def keep(x: Any) -> Any:
        seen.append(x[len(seen) :])
        return x

    for _ in range(12):
        a = keep(many(a, 1))
    return seen


def of_a_new_key(a: Any, b: Any) -> Any:
    held = {"sum": 0.0}
    for k in range(12):
        a = many(many(a, 1), k)
        held["sum"] += a.sum()
        held["last"] = k
    return [a, held["sum"] + held["last"]]


class Clock:
    def __init__(self) -> None:
        self.time = 0


def of_an_attribute(a: Any, b: Any) -> Any:
    clock = Clock()
    for _ in range(12):
        clock.time += 1
        a = many(many(a, 1), 2)
        a = a[:30] if clock.time > 11 else a
    return a


def of_halves(a: Any, b: Any) -> Any:
    rate = 1.0
    for _ in range(12):
        rate *= 0.5
        later = rate + 1
        a = many(many(a, 1), later)
        a = a[:30] if later < 1.0003 else a
    return a


def of_a_float(a: Any, b: Any) -> Any:
    for k in range(12):
        weight = 0.5 * k
        a = many(a, 1).reshape(-1, 2 if weight > 3 else 3).sum(axis=1).repeat(2 if weight > 3 else 3)
    return a


@pytest.mark.parametrize(
    "function",
    [
        of_a_last_step, of_axes_in_a_function, turned, of_words, appended_by_a_function, of_a_float,
        of_a_new_key, of_an_attribute, of_halves,
        growing, shrinking, of_gains, every_other, of_large_ints, of_growing_ints, of_shifted_ints, of_lengths,
        of_powers_in_a_function, of_large_steps, of_growing_steps,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_steps_that_do_much_are_written_out_where_they_have_to_be(function: Any) -> None:
    assert "for_loop" not in pytocu.jit(function).lower("f64[60]", "f64[60]").ir("lower")
    a, b = np.random.default_rng(0).random((2, 60))
    found, wanted = pytocu.jit(function)(a, b), function(a, b)
    for one, other in zip(found, wanted, strict=True) if isinstance(wanted, list) else [(found, wanted)]:
        np.testing.assert_allclose(one, other, rtol=1e-12)
        assert one.dtype == other.dtype


def of_loops_of_run_time(a: Any, b: Any) -> Any:
    lengths = np.empty(12)
    for m in range(12):
        length = 0
        last = math.floor((a.size - m - 1) / 7)
        last = int(last)
        for j in range(1, last + 1):
            length += abs(a[m + j * 7] - a[m + (j - 1) * 7])
        lengths[m] = length / (7 * last)
    return lengths


def test_steps_with_loops_of_run_time_are_a_loop() -> None:
    """Their loops share no kernel, though each reads by the number of the step and may leave a name unbound."""
    text = pytocu.jit(of_loops_of_run_time).lower("f64[n]", "f64[n]").ir("lower")
    assert text.count("for_loop") + text.count("while_loop") < 6
    a, b = np.random.default_rng(0).random((2, 60))
    np.testing.assert_array_equal(pytocu.jit(of_loops_of_run_time)(a, b), of_loops_of_run_time(a, b))


def test_what_the_loop_of_an_earlier_step_has_bound_is_read() -> None:
    def function(a: Any, b: Any) -> Any:
        last = np.zeros(12)
        for m in range(12):
            length = 0.0
            for j in range(1, int(b[m]) + 1):
                length += abs(np.sin(a[m + j]) - np.cos(a[m])) * np.exp(a[j]) + np.sqrt(a[j + 1])
            last[m] = j + length
        return last

    a, b = np.random.default_rng(0).random(60), np.arange(12.0) % 3 + 1
    b[4:6] = 0
    np.testing.assert_allclose(pytocu.jit(function)(a, b), function(a, b), rtol=1e-14)


def test_first_steps_that_change_a_dtype_stand_before_the_loop() -> None:
    a, b = np.random.default_rng(0).random((2, 60))
    found, wanted = pytocu.jit(of_another_dtype)(a, b), of_another_dtype(a, b)
    np.testing.assert_array_equal(found, wanted)
    assert found.dtype == wanted.dtype == np.int32


def test_errors_in_steps_that_do_much_are_those_of_the_steps() -> None:
    def wrong(a: Any, b: Any) -> Any:
        for k in range(12):
            a = helped(a, 1) + b[k:]
        return a

    with pytest.raises(pytocu.CompileError, match=r"\(60,?\) \(59,?\)"):
        pytocu.jit(wrong)(np.ones(60), np.ones(60))


def test_arrays_of_a_step_are_no_modules() -> None:
    def summed(a: Any, b: Any) -> Any:
        # The name behind which the method stands is first bound in the loop.
        for _ in range(50):
            product = a * b
            total = product.sum()
            a = product / 2
        return total

    a, b = np.linspace(1, 2, 60), np.linspace(1, 1.5, 60)
    np.testing.assert_allclose(pytocu.jit(summed)(a, b), summed(a, b), rtol=1e-13)
