"""Loops whose steps have loops that differ from step to step: one native function makes all of them."""

from __future__ import annotations

import re
import signal
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.runtime import native_steps, threads
from pytocu.runtime.plan_loops import Steady, judged
from pytocu.testing.compare import compare


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).random(shape)


def regular(n: int) -> np.ndarray:
    return random(n, n) + n * np.eye(n)


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, bool]]:
    """Steps that the native function makes at once, and whether Python goes on in the middle of one."""
    seen: list[tuple[int, bool]] = []
    computed = native_steps.NativeLoop._computed

    def watched(self: Any, *arguments: Any) -> Any:
        found = computed(self, *arguments)
        if self.loop.numbers.loop.inner:
            seen.append((found[0], found[3] is not None))
        return found

    monkeypatch.setattr(native_steps.NativeLoop, "_computed", watched)
    return seen


@pytest.fixture
def many_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several threads in every launch, however short it is, and returns to Python all the time."""
    monkeypatch.setenv("PYTOCU_NUM_THREADS", "4")
    monkeypatch.setattr(threads, "_counted", (0, 0.0))
    monkeypatch.setattr(native_steps, "_SECONDS_TO_MEET", 1e-12)
    monkeypatch.setattr(native_steps, "_SECONDS_TO_TRY", 0.0)
    monkeypatch.setattr(native_steps, "SECONDS_TO_RETURN", 1e-6)
    monkeypatch.setattr(native_steps, "_SMALLEST", 8)


def eliminated(a):
    n = a.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            f = a[i, k] / a[k, k]
            a[i, k:] -= f * a[k, k:]
    return a


def paths(d):
    n = d.shape[0]
    for k in range(n):
        for i in range(n):
            d[i] = np.minimum(d[i], d[i, k] + d[k])
    return d


def decoded(begin, change, seen):
    n, m = seen.shape
    score = begin + seen[0]
    back = np.zeros((n, m), np.int64)
    for t in range(1, n):
        new = np.zeros(m)
        for j in range(m):
            c = score + change[:, j]
            back[t, j] = np.argmax(c)
            new[j] = np.max(c) + seen[t, j]
        score = new
    return score, back


def chained(p):
    n = p.shape[0] - 1
    cost = np.zeros((n, n))
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            cost[i, j] = np.min(cost[i, i:j] + cost[i + 1 : j + 1, j] + p[i] * p[i + 1 : j + 1] * p[j + 1])
    return cost


def in_blocks(a, b):
    n = a.shape[0]
    out = np.zeros_like(a)
    for i in range(0, n, b):
        for j in range(i, n, b):
            out[i : i + b, j : j + b] = a[i : i + b, j : j + b] * 2 + i
    return out


def taking_turns(u, n):
    for t in range(n):
        for _ in range(t % 4):
            v = u + 0.0
            v[1:-1] = (u[:-2] + u[2:]) * 0.5
            u = v
        u = u + t
    return u


def orthogonal(a):
    n = a.shape[1]
    q, r = a.copy(), np.zeros((n, n))
    for k in range(n):
        for j in range(k):
            r[j, k] = q[j, 0] * q[j, k]
            q[:, k] -= r[j, k] * q[:, j]
        q[:, k] *= 0.5
    return q, r


def until_small(u, n):
    for t in range(n):
        s = u.copy()
        while np.max(np.abs(s)) > 0.1:
            s = np.roll(s, 1) * 0.5
        u = u + s * t
    return u


def halved(u, n):
    for t in range(n, 0, -1):
        k = t
        while k > 0:
            u = np.roll(u, 1) + k
            k //= 2
    return u


def counted_on(u, n):
    k, f = 1, 0.5
    for t in range(n):
        for i in range(t, -1, -2):
            k = k + i
            f = f * 0.75
            u = np.roll(u, 1) * f + k
        u = u * 0.5
    return u, k, f


def three_deep(x, n):
    for i in range(n):
        for j in range(i):
            x[j] *= 0.5
            for k in range(j):
                x[k] = x[::-1][k + 1 :].max() + 0.25
            x[i] = x[j] + 1
    return x


def one_behind_the_other(u, n):
    for t in range(n):
        for i in range(t):
            u = np.roll(u, 1) + i
        u = u * 0.5
        for i in range(3, 3 + t // 2):
            u = np.roll(u, -1) - i
        for i in range(t, 0):
            u = u + i
    return u


def settling(u, tolerance):
    t = 0
    while np.max(u) > tolerance:
        for i in range(t % 3):
            u = np.roll(u, 1) * (0.75 + i * 0.001)
        u = u * 0.9
        t = t + 1
    return u, t


NESTS: list[tuple[Callable[..., Any], Callable[[int], tuple[Any, ...]]]] = [
    (eliminated, lambda n: (regular(n),)),
    (eliminated, lambda n: (regular(n).astype(np.float32),)),
    (paths, lambda n: (random(n, n),)),
    (decoded, lambda n: (random(7), random(7, 7), random(n, 7))),
    (chained, lambda n: (random(n + 1),)),
    (in_blocks, lambda n: (random(2 * n, 2 * n), 2)),
    (taking_turns, lambda n: (random(50), n)),
    (orthogonal, lambda n: (random(n + 3, n),)),
    (until_small, lambda n: (random(50), n)),
    (halved, lambda n: (random(50), n)),
    (counted_on, lambda n: (random(50), n)),
    (three_deep, lambda n: (random(n), n)),
    (one_behind_the_other, lambda n: (random(50), n)),
    (settling, lambda n: (random(50), 0.5**n)),
]


def copied(arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(a.copy() if isinstance(a, np.ndarray) else a for a in arguments)


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize(("function", "arguments"), NESTS)
def test_a_nest_is_one_native_function(function, arguments, several, request, made):
    if several:
        request.getfixturevalue("many_threads")
    jitted = pytocu.jit(function)
    for n in (1, 2, 3, 4, 7, 12, 21):
        for _ in range(2):
            given, same = arguments(n), arguments(n)
            compare(jitted(*given), function(*same))
            compare(given, same)
    # What is left is Python's first steps, one or as many as memories take turns, and two of a loop of which nobody knows how
    # many it has.
    assert made and max(steps for steps, _ in made) >= 15 and not any(middle for _, middle in made)
    loop = next(iter(judged(jitted.lower(*arguments(3)).compile("cpu").plan).values()))
    assert isinstance(loop, Steady) and loop.numbers is not None and loop.numbers.loop.inner


def too_large_in_the_middle(u, n):
    k = 1
    for t in range(n):
        u += 1
        for _ in range(t, t + 5):
            k = k * 2
            u[1:] = u[:-1] * 0.5 + k
        u -= 2
        for i in range(t):
            u[: i + 1] *= 0.75
    return u, k


def too_large_between(u, n):
    k = 1
    for t in range(n):
        u *= 0.5
        for i in range(t):
            u[1:] = u[:-1] + i
        k = k * 9
        u += k
        for i in range(3, t):
            u[i] -= u[i - 1] * 0.5
    return u, k


def too_large_three_deep(u, v, n):
    k = 3
    for t in range(n):
        u = np.roll(u, 1) * 0.5
        for i in range(t % 3 + 2):
            v = np.roll(v, 1) + u
            for j in range(i + 1):
                k = k * 3
                v = np.roll(v, -1) * 0.5 + k
                u = u + j
            v = v - i
            for j in range(i):
                u = np.roll(u, 2) * 0.25 - j
        u = u + t
    return u, v, k


def too_large_in_a_while(u, n):
    k = 2
    for t in range(n):
        u = np.roll(u, 1) * 0.5
        m = t % 5
        while m > 0:
            m = m - 1
            k = k * 2
            u = np.roll(u, 1) + k
            for i in range(m):
                u = np.roll(u, 1) * 0.5 + i
        u = u + 1
    return u, k


def too_large_in_front(u, n):
    k = 1
    for t in range(n):
        u = np.roll(u, 1) * 0.5
        for i in range(k - 2, k + t % 3):
            u = np.roll(u, 1) + i * 0.25
        k = k * 4
    return u, k


BEYOND: list[tuple[Callable[..., Any], tuple[Any, ...], int]] = [
    (too_large_in_the_middle, (random(50),), 40),
    (too_large_between, (random(50),), 40),
    (too_large_three_deep, (random(50), random(50)), 20),
    (too_large_in_a_while, (random(50),), 60),
    (too_large_in_front, (random(50),), 50),
]


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize(("function", "arrays", "most"), BEYOND, ids=lambda case: case.__name__ if callable(case) else "")
def test_python_goes_on_in_the_middle_of_a_step(function, arrays, most, several, request, made):
    """Where a number is none of int64, nothing that was launched is launched again."""
    if several:
        request.getfixturevalue("many_threads")
    jitted = pytocu.jit(function)
    for n in range(3, most):
        given, same = copied(arrays), copied(arrays)
        compare(jitted(*given, n), function(*same, n))
        compare(given, same)
    assert max(steps for steps, _ in made) >= 3
    assert any(middle for _, middle in made)


def picked(u, places, n):
    for t in range(n):
        u[0] += 1
        for i in range(t, t + 3):
            u[places[i]] *= 2
            u += places[i]
    return u


def of_lengths(u, v, n):
    for t in range(n):
        u[t] += 1
        for i in range(t % 3):
            u[: t + i] += v[i : t + 2 * i]
    return u


@pytest.mark.parametrize("late", [4, 11, 19])
def test_what_is_wrong_in_the_middle_of_a_step_raises(late, made):
    jitted = pytocu.jit(picked)
    places = np.arange(40) % 7
    compare(jitted(random(7), places, 20), picked(random(7), places, 20))
    for at in range(late, late + 3):
        places[at] = 7
        with pytest.raises(IndexError) as expected:
            picked(random(7), places, 20)
        with pytest.raises(IndexError, match="index 7 is out of bounds for axis 0 with size 7") as raised:
            jitted(random(7), places, 20)
        assert str(expected.value) in str(raised.value) and "u[places[i]] *= 2" in str(raised.value)
        places[at] = 0


def test_lengths_that_do_not_fit_in_the_middle_of_a_step_raise(made):
    jitted = pytocu.jit(of_lengths)
    for size in (30, 12, 11, 10):
        u, same = random(30), random(30)
        try:
            wanted = of_lengths(same, random(size), 12)
        except ValueError as error:
            with pytest.raises(ValueError, match=re.escape(str(error))) as raised:
                jitted(u, random(size), 12)
            assert "u[: t + i] += v[i : t + 2 * i]" in str(raised.value)
        else:
            compare(jitted(u, random(size), 12), wanted)
        compare(u, same)


def long_inside(u, n):
    for t in range(3):
        u = u * 0.5
        for i in range(t, n * t):
            u = np.cumsum(u) * 0.5 + i
    return u


def test_an_interrupt_ends_a_long_loop_in_a_step(monkeypatch):
    jitted = pytocu.jit(long_inside)
    compare(jitted(random(8), 4), long_inside(random(8), 4))
    monkeypatch.setattr(native_steps, "SECONDS_TO_RETURN", 1e-3)
    timer = threading.Timer(0.3, lambda: signal.raise_signal(signal.SIGINT))
    # Programs that a shell has started behind itself ignore interrupts.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            jitted(random(8), 10**9)
    finally:
        signal.signal(signal.SIGINT, before)
    monkeypatch.undo()
    compare(jitted(random(8), 40), long_inside(random(8), 40))


def counts_down(u, n):
    k = 0
    for t in range(n):
        for m in range(t % 5, 0, -1):
            u[1:] = u[:-1] * 0.5 + m
            k += (m - 7) // -1 + (k + m) % -1
    return u, k


def test_loops_in_steps_that_count_down(made) -> None:
    """Their steps are a quotient by -1, which was left to Python in every step."""
    u, same = random(50), random(50)
    compare(pytocu.jit(counts_down)(u, 40), counts_down(same, 40))
    compare(u, same)
    assert max(steps for steps, _ in made) >= 30


def by_minus_one(u, k, n):
    for t in range(n):
        for m in range(t % 3):
            u[1:] = u[:-1] * 0.5 + m
        k = k // -1
    return u, k


def test_a_quotient_that_int64_does_not_hold() -> None:
    for first in (-(2**63), 2**63 - 1, -(2**63) + 1):
        u, same = random(50), random(50)
        compare(pytocu.jit(by_minus_one)(u, first, 39), by_minus_one(same, first, 39))
        compare(u, same)
