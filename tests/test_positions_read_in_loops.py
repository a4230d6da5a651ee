"""Parts at positions that data state, which loops of the host change: on a CPU the part alone is written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.testing.compare import compare


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).random(shape)


def eliminated(a):
    n = a.shape[0]
    order = np.arange(n)
    for k in range(n - 1):
        p = np.argmax(np.abs(a[k:, k])) + k
        if p != k:
            a[[k, p]] = a[[p, k]]
            order[[k, p]] = order[[p, k]]
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= a[k + 1 :, k : k + 1] * a[k, k + 1 :]
    return a, order


def largest(a, n):
    above = []
    for _ in range(n):
        a = np.roll(a, 1, axis=0) * 1.01
        p = np.argmax(np.abs(a[:, 0]))
        q = np.argmin(a[p])
        a[p, q] += 1
        a[p] = a[q % len(a)] * 0.5 + a[p]
        above.append(a.sum() > 0)
    return a, above


def taken_out(a, n):
    seen = np.zeros(len(a), int)
    rest, t = a.copy(), 0
    while rest.max() > 0.05 and t < n:
        i = np.argmax(rest.max(axis=1))
        j = np.argmax(rest[i])
        rest[i, j] = 0.0
        rest[:, j] *= 0.9
        rest = np.roll(rest, (1, 2), axis=(0, 1))
        seen[i] += 1
        t += 1
    return rest, seen, t


def turned_rows(a, positions):
    out = np.zeros_like(a[0])
    for i in positions:
        a = a[::-1] + 0.25 * np.roll(a, 1, 1)
        row = a[i]
        a[i] = row[::-1]
        out += a[i]
        a[i, 0] = 0
    return a, out


def exchanged(a, positions):
    for k in range(len(positions)):
        a[:] = np.flip(a, 1) + 0.5 * np.roll(a, 1, 0)
        if a[0, 0] > 0.3:
            i = positions[k]
            a[[i, k % a.shape[0]]] = a[[k % a.shape[0], i]]
        a[positions[k], :] -= a.mean(axis=0)
    return a


def positions_in(length: int, count: int) -> np.ndarray:
    return np.random.default_rng(count).integers(-length, length, count)


CASES: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (eliminated, (random(1, 1),)),
    (eliminated, (random(12, 12),)),
    (eliminated, (random(1030, 1030),)),
    (largest, (random(9, 7), 30)),
    (largest, (random(1, 1), 3)),
    (largest, (random(2, 3), 0)),
    (taken_out, (random(8, 8), 40)),
    (turned_rows, (random(6, 5), positions_in(6, 25))),
    (exchanged, (random(9, 7), positions_in(9, 30))),
    (exchanged, (random(1, 3), positions_in(1, 3))),
]


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=lambda case: case.__name__ if callable(case) else "")
def test_as_numpy(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    jitted = pytocu.jit(function)
    for _ in range(2):
        host, given = ([np.copy(a) if isinstance(a, np.ndarray) else a for a in arguments] for _ in range(2))
        compare(jitted(*given), function(*host), ulp=1024 if function is eliminated else 64)
        compare(tuple(given), tuple(host), ulp=1024 if function is eliminated else 64)


@pytest.mark.parametrize("at", [0, 5, 29])
def test_a_position_outside(at: int) -> None:
    positions = positions_in(9, 30)
    positions[at] = 9
    with pytest.raises(IndexError, match="index 9 is out of bounds for axis 0 with size 9"):
        pytocu.jit(exchanged)(random(9, 7) + 1, positions)


def test_the_array_stays_where_it_is() -> None:
    plan = pytocu.jit(eliminated).lower(random(1030, 1030)).compile("cpu").plan
    (loop,) = [step for step in plan.steps if step[0] == "for"]
    # What is carried is the order alone, which is copied in front of the loop and changed where it is.
    (end,) = [step for step in plan.steps if step[0] == "next"]
    assert len(loop[3]) == 1 and loop[3] == end[2]
    assert any(step[0] == "read_length" for step in plan.steps)
    assert not any("copy" in kernel.name for kernel in plan.kernels)


def all_by_a_number(a, n):
    for _ in range(n):
        c = int(np.argmax(a[:, 0]))
        a[:] = np.roll(a, 1, 1) * 0.5 + a[c]
    return a


def rolled_by_a_number(a, n):
    for _ in range(n):
        c = int(np.argmax(a[:, 0]))
        a[:] = np.roll(a, c, 0) * 0.5 + a[:c].max(initial=0)
    return a


def all_behind_a_row(a, n):
    for _ in range(n):
        p = np.argmax(a[:, 3])
        a[[p, 2]] = a[[4, p]]
        a[1:] = a[:-1] * 0.5 + 0.25
    return a


@pytest.mark.parametrize("function", [all_by_a_number, rolled_by_a_number, all_behind_a_row])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 21])
def test_each_step_has_a_number_of_its_own(function: Callable[..., Any], n: int) -> None:
    """Also where an argument and other memory take turns, and two steps are written one behind the other."""
    host, given = random(5, 4), random(5, 4)
    compare(pytocu.jit(function)(given, n), function(host, n))
    compare(given, host)
