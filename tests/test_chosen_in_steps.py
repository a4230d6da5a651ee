"""Loops whose steps go over what a mask chooses, as searches in graphs do: on a CPU one thread goes through all steps."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from test_kinds_random import make
from test_run_time_positions import agrees, copies, outcome

import pytocu
from pytocu.testing.chosen_programs import random_chosen_program
from pytocu.testing.compare import compare

RANDOM = np.random.default_rng(11)


def components(m, x):
    n = len(m)
    label = np.full(n, -1)
    count = 0
    for i in range(n):
        if label[i] != -1:
            continue
        stack = [i]
        label[i] = count
        while stack:
            p = stack.pop()
            for q in np.flatnonzero(m[p]):
                if label[q] == -1:
                    label[q] = count
                    stack.append(q)
        count += 1
    return label, count


def distances(m, x):
    far = np.full(len(m), -1)
    far[0] = 0
    queue = [0]
    while queue:
        p = queue.pop(0)
        for q in np.where(m[p])[0]:
            if far[q] < 0:
                far[q] = far[p] + 1
                queue.append(q)
    return far


def paths(m, x):
    n = len(m)
    cost = np.full(n, np.inf)
    done = np.zeros(n, bool)
    cost[0] = 0.0
    for _ in range(n):
        p = int(np.argmin(np.where(done, np.inf, cost)))
        if cost[p] == np.inf:
            break
        done[p] = True
        for q in np.nonzero(m[p])[0]:
            cost[q] = min(cost[q], cost[p] + x[q])
    return cost


def first_of_each(m, x):
    found = np.zeros(20, int)
    k = steps = 0
    while k >= 0 and steps < 20:
        following = -1
        for q in np.flatnonzero(m[k]):
            if q != k:
                following = int(q)
                break
        found[steps] = k
        k = following
        steps += 1
    return found


def no_longer_chosen(m, x):
    """The mask is what it was before the loop changed it."""
    free = x > 0
    t = 0
    while free.any() and t < 9:
        for q in np.flatnonzero(free):
            if q % 3 == t % 3:
                free[q] = False
                free[q - 1] = False
                x[q] += t
        t += 1
    return free, t


def rows_and_columns(m, x):
    total, t = 0, 0
    while t < 40:
        t += 1
        for i, j in zip(*np.nonzero(m), strict=True):
            if (i + j) % t == 0:
                total += i * j
                t += 1
        for i, j in np.argwhere(~m):
            t += int(i == j)
    return total, t


def values(m, x):
    t = 0.0
    while t < 5.0:
        t += 1.0
        for v in x[x > t * 0.1]:
            t += v * v
        for v, w in zip(x[m[0]], np.flatnonzero(m[0]), strict=True):
            t += v * w * 0.01
    return np.float64(t)


def numbered(m, x):
    t = 0.0
    while t < 30.0:
        t += 1.0
        for k, q in enumerate(np.flatnonzero(x > 0.2)):
            t += x[q] * k
    return np.float64(t)


def combined(m, x):
    """What is chosen is looked at as a whole."""
    t, best = 0, 0.0
    while t < 12:
        chosen = np.flatnonzero(x > t * 0.05)
        if len(chosen) == 0:
            break
        best += x[chosen].sum() + x[chosen].max() * len(chosen) + chosen[0] - chosen[-1]
        x[chosen[0]] -= 0.5
        t += 1
    return np.float64(best), t, x


def two_masks(m, x):
    t, out = 0, np.zeros(len(x))
    while t < 4:
        low, high = np.flatnonzero(x < 0), np.flatnonzero(x > 0)
        for i in low:
            for j in high:
                out[i] += x[j]
                out[j] -= x[i] * t
        x -= 0.1
        t += 1
    return out


PROGRAMS = [
    components, distances, paths, first_of_each, no_longer_chosen, rows_and_columns, values, numbered, combined, two_masks,
]  # fmt: skip


def given(size: int, share: float) -> tuple[Any, ...]:
    # Sums of these are exact in any order.
    return RANDOM.random((size, size)) < share, np.round(RANDOM.normal(size=size) * 64) / 64


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize(("size", "share"), [(1, 0.5), (7, 0.3), (30, 0.08), (30, 0.0), (19, 1.0)])
def test_what_masks_choose_in_steps(program, size, share) -> None:
    agrees(program, given(size, share))


@pytest.mark.parametrize("program", PROGRAMS)
def test_no_step_waits_for_a_count(program) -> None:
    assert "made by Python" not in str(pytocu.jit(program).lower("bool[n, n]", "f64[n]").compile("cpu").plan)


def each(m, x):
    count = 0
    for i in range(len(m)):
        stack = [i]
        while stack:
            p = stack.pop()
            x[p] += 1.0
            for q in np.sort(np.flatnonzero(m[p]))[:1]:
                if x[q] < 2:
                    stack.append(q)
        count += 1
    return count


def test_a_list_of_a_step_is_not_copied_where_an_array_is_changed_before_it() -> None:
    """It has room for as many members as there may be."""
    agrees(each, given(6, 0.5))
    plan = pytocu.jit(each).lower("bool[n, n]", "f64[n]").compile("cpu").plan
    assert max(kernel.work for kernel in plan.kernels if isinstance(kernel.work, int)) == 1


def check(source: str, seed: int) -> bool:
    """Whether it is compiled, and then gives NumPy's results, changes and exceptions."""
    function, rng = make(source), np.random.default_rng(seed)
    compiled = pytocu.jit(function)
    for size, steps in ((5, 3), (1, 2)):
        arguments = rng.integers(-4, 5, size) / 2, rng.integers(-3, 4, size), rng.random((size, size)) < 0.4, steps
        given, passed = copies(arguments), copies(arguments)
        wanted, found = outcome(lambda given=given: function(*given)), outcome(lambda passed=passed: compiled(*passed))
        if isinstance(found, pytocu.UnsupportedError):
            return False
        if isinstance(wanted, Exception):
            assert isinstance(found, type(wanted)) and str(found).split("\n")[0] == str(wanted), (source, found)
            continue
        assert not isinstance(found, Exception), (source, found)
        try:
            compare((found, passed[:3]), (wanted, given[:3]))
        except AssertionError as error:
            raise AssertionError(f"{source}\n{size} elements, {steps} steps: {error}") from None
    return True


@pytest.mark.parametrize("part", range(6))
def test_random_programs(part: int) -> None:
    seeds = range(part * 12, (part + 1) * 12)
    taken = [check(random_chosen_program(random.Random(seed).choice), seed) for seed in seeds]
    assert sum(taken) > len(taken) / 2
