"""Branches in the steps of loops on a CPU: the native function that makes the steps takes them."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.runtime import native_steps, threads
from pytocu.runtime.plan_loops import Steady, judged
from pytocu.testing.compare import compare


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).random(shape)


def regular(n: int) -> np.ndarray:
    return random(n, n) + np.eye(n)[::-1] * n


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, bool]]:
    """Steps that the native function makes at once, and whether Python goes on in the middle of one."""
    seen: list[tuple[int, bool]] = []
    computed = native_steps.NativeLoop._computed

    def watched(self: Any, *arguments: Any) -> Any:
        found = computed(self, *arguments)
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


def every_third(u, n):
    k = -7
    for t in range(n):
        u = u + 0.1 * (np.roll(u, 1, 0) - 2 * u + np.roll(u, -1, 0))
        if t % 3 == 0 or (t & 5 | k) == 6:
            u[0] = 1.0
            k = k - 3 & 15
        if t > n // 2:
            u = u * 0.999
    return u


def chosen_by_data(u, n):
    accepted = 0
    for t in range(n):
        v = np.roll(u, 1, 0) * 0.9
        if v.sum() > 20 - t * 0.5:
            u = v * 0.5
            accepted += 1
        else:
            u = np.roll(v, 1, 1) + 0.05 * t
    return u, accepted


def loops_in_sides(u, n):
    for t in range(n):
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        u = np.roll(u, 1, 1)
        if t % 2:
            for i in range(t % 5):
                u[i] *= 0.5
                u = np.roll(u, 1, 0)
            if u[0, 0] > 0.2:
                u -= 0.01 * t
        else:
            u[t % 5] += 1
            for i in range(t % 3):
                u = np.roll(u, i, 1)
        u = u * 0.99
    return u


def behind_a_while(u, n):
    late = 0
    for _ in range(n):
        u = np.roll(u, 1) * 0.9 + 0.01
        k = 0
        while u.max() > 0.5 and k < 5:
            u = np.roll(u, 2) * 0.7
            k += 1
        if k > 3:
            late += k
            u = u + 0.5
    return u, late


def numbers_of_sides(u, n):
    s, low, d = 0.0, 0, 1.0
    for t in range(n):
        d = d * 0.5 if t % 3 == 0 else d + 1
        m = min(t, 7) + max(low, 2)
        if d > 4:
            low = low + 1
            s = s - d
        else:
            s = s + d * t
        u = np.roll(u, 1) * 0.5 + s + m
    return u, s, low


def pivots(a):
    n = a.shape[0]
    order = np.arange(n)
    for k in range(n - 1):
        a[:] = np.roll(np.roll(a, 1, 1), -1, 1)
        p = np.argmax(np.abs(a[k:, k])) + k
        if p != k:
            a[[k, p]] = a[[p, k]]
            order[[k, p]] = order[[p, k]]
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= a[k + 1 :, k : k + 1] * a[k, k + 1 :]
    return a, order


def stops(u, n):
    t = 0
    for t in range(n):
        v = np.roll(u, 1, 0) * 0.5 + 0.25
        if t % 4 == 3:
            v[t % 3] -= 0.01
            if np.abs(v - u).max() < 1e-3:
                break
        u = v
    return u, t


def noted(u, n):
    least, notes = 1e9, []
    for t in range(n):
        u = np.roll(u, 1) * 0.96875 - 0.125
        if t % 5 == 0:
            notes.append(float(u.min()))
        now = float(u.max())
        least = now if now < least else least
        u[0] += least
    return u, least, notes


def not_both(u, n):
    t, k = 0, 3
    going = True
    while t < n and (going or t < 25):
        v = np.roll(u, 1, 0) * 0.5
        going = bool(v[0, 0] > 1e-4) and k > 2
        k = abs(k - 2) + t % 3
        if going or k == 1:
            v[1] += 0.25
        u = v
        t += 1
    return u, t, k


def floats_of_python(u, n):
    t, h, worst, k = 0.0, 1.0, 0.0, 0
    for i in range(n):
        h = min(h, 30.0 - t, 1.5) if i % 2 else max(h * 0.75, 0.125)
        worst = max(worst, abs(t - 7.0), -h)
        if abs(h - 0.5) < 0.25:
            k = max(k - 1, -i, abs(k) % 3)
            u[0] += k
        t = t + h
        u = np.roll(u, 1) * 0.5 + h
    return u, t, h, worst, k


PROGRAMS: list[tuple[Callable[..., Any], Callable[[int], tuple[Any, ...]]]] = [
    (every_third, lambda n: (random(9, 8), n)),
    (every_third, lambda n: (random(9, 8).astype(np.float32), n)),
    (chosen_by_data, lambda n: (random(9, 8), n)),
    (loops_in_sides, lambda n: (random(9, 8), n)),
    (behind_a_while, lambda n: (random(12), n)),
    (numbers_of_sides, lambda n: (random(12), n)),
    (pivots, lambda n: (regular(n),)),
    (stops, lambda n: (random(6, 5), n)),
    (noted, lambda n: (random(12), n)),
    (noted, lambda n: (-random(12), n)),
    (not_both, lambda n: (random(6, 5), n)),
    (floats_of_python, lambda n: (random(12), n)),
]


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize(("function", "arguments"), PROGRAMS)
def test_branches_are_taken_natively(function, arguments, several, request, made):
    if several:
        request.getfixturevalue("many_threads")
    jitted = pytocu.jit(function)
    for n in (1, 2, 3, 4, 7, 20, 31):
        for _ in range(2):
            given, same = arguments(n), arguments(n)
            compare(jitted(*given), function(*same))
            compare(given, same)
    assert max(steps for steps, _ in made) >= 10 and not any(middle for _, middle in made)
    loop = next(iter(judged(jitted.lower(*arguments(3)).compile("cpu").plan).values()))
    assert isinstance(loop, Steady) and loop.numbers is not None


def test_launches_are_cut_anew_between_any_two_records(made, monkeypatch) -> None:
    def run(self, loop):
        for turn in itertools.count():
            self._share(loop, turn % 3)
            loop.table.go(1 + turn % 2, 0)
            if loop.table.ended():
                return

    monkeypatch.setattr(native_steps._OnCpu, "run", run)
    monkeypatch.setattr(native_steps, "_SMALLEST", 8)
    u = random(12, 9)
    compare(pytocu.jit(loops_in_sides)(u.copy(), 20), loops_in_sides(u.copy(), 20))
    assert max(steps for steps, _ in made) >= 10 and not any(middle for _, middle in made)


def too_large_in_a_side(u, n):
    k = 1
    for t in range(n):
        u += 1
        if t % 2:
            u[1:] = u[:-1] * 0.5 + k
            k = k * 8
            u -= np.roll(u, 1)
        else:
            u *= 0.5
            for i in range(t % 3):
                u[: i + 2] += k
        u -= 2
    return u, k


def too_large_behind_a_side(u, n):
    k = 1
    for t in range(n):
        u *= 0.5
        if t % 3 == 1:
            u += np.roll(u, 1)
        elif u[0] > 0.25:
            u[0] -= 0.5
        m = k
        for i in range(t % 2):
            u[1:] = u[:-1] + i
            m = m + k
        k = k + m + 5
        k = k * 3
        if t % 4 < 3:
            u += k
            for i in range(2):
                u[i] *= 0.5
    return u, k


def too_large_in_the_other_side(u, v, n):
    k = 3
    for t in range(n):
        u[:] = np.roll(u, 1) * 0.5
        if u[0] * 7 % 1 > 0.5:
            for i in range(t % 3 + 1):
                v[1:] = v[:-1] + u[1:]
                u[i] += 0.5
            k = k * 5
            u += k
            v -= 1
        else:
            v += 0.25
            for i in range(2):
                u[: i + t % 5] *= 0.5
            k = k * 3 + 1
            for i in range(t % 2):
                v[i:] += k
            u += 1
        u += t
    return u, v, k


def too_large_around_a_loop_with_numbers(u, n):
    k, m = 1, 0
    for t in range(n):
        if t % 2:
            for i in range(t % 4):
                u[:] = np.roll(u, i) * 0.75
                m = m + i
        u[1:] = u[:-1] * 0.5 + m % 3
        if t % 5 == 3:
            u *= 0.5
        k = k * 3 + m
        for _ in range(2):
            u[:] = np.roll(u, 1) * 0.5 + k
    return u, k, m


BEYOND: list[tuple[Callable[..., Any], tuple[Any, ...], int]] = [
    (too_large_in_a_side, (random(50),), 60),
    (too_large_around_a_loop_with_numbers, (random(50),), 50),
    (too_large_behind_a_side, (random(50),), 50),
    (too_large_in_the_other_side, (random(50), random(50)), 70),
]


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize(("function", "arrays", "most"), BEYOND, ids=lambda case: case.__name__ if callable(case) else "")
def test_python_goes_on_in_a_side(function, arrays, most, several, request, made):
    """Where a number is none of int64, nothing that was launched is launched again."""
    if several:
        request.getfixturevalue("many_threads")
    jitted = pytocu.jit(function)
    for n in range(3, most, 2):
        given, same = tuple(a.copy() for a in arrays), tuple(a.copy() for a in arrays)
        compare(jitted(*given, n), function(*same, n))
        compare(given, same)
    assert max(steps for steps, _ in made) >= 3
    assert any(middle for _, middle in made)


def wrong_in_a_side(u, places, n):
    for t in range(n):
        u[:] = np.roll(u, 1) * 0.5
        if t % 3 == 1:
            u[places[t]] += 2
    return u


@pytest.mark.parametrize("at", [4, 13, 28])
def test_what_is_wrong_in_a_side_raises(at):
    places = np.arange(30) % 7
    jitted = pytocu.jit(wrong_in_a_side)
    compare(jitted(random(7), places, 30), wrong_in_a_side(random(7), places, 30))
    places[at - 1] = 7
    # No step looks there.
    compare(jitted(random(7), places, 30), wrong_in_a_side(random(7), places, 30))
    places[at] = 7
    with pytest.raises(IndexError, match="index 7 is out of bounds for axis 0 with size 7"):
        jitted(random(7), places, 30)


def exchanged_where_a_number_says(a, b, v, k):
    for i in range(len(a)):
        for _ in range(i, -1, -1):
            if k <= 100:
                a[0] -= v
                a, b = b, a
    return a, b


@pytest.mark.parametrize("size", [16, 18, 19, 25])
def test_steps_that_were_made_are_not_made_again_by_a_branch(size: int) -> None:
    """The inner loop goes on natively, and the program goes through its steps to know which array is which."""
    random = np.random.default_rng(size)
    given = [random.random((size, size)), random.random((size, size)), random.random(size)]
    passed = [x.copy() for x in given]
    compare(pytocu.jit(exchanged_where_a_number_says)(*passed, 9), exchanged_where_a_number_says(*given, 9))
    for one, other in zip(passed, given, strict=True):
        compare(one, other)
