"""Loops whose steps have loops that differ from step to step: one native function makes all of them."""

from __future__ import annotations

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
    monkeypatch.setattr(threads, "_counted", ("", 0, 0.0))
    monkeypatch.setattr(native_steps, "_SECONDS_TO_MEET", 1e-12)
    monkeypatch.setattr(native_steps, "_SECONDS_TO_TRY", 0.0)
    monkeypatch.setattr(native_steps, "_SECONDS_TO_RETURN", 1e-6)
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
    m, n = a.shape
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
            u = np.roll(u, 1) * 0.75 + i * 0.001
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
