"""Arrays and lists that a step of a loop makes for itself: on a CPU one thread has memory for them, made before the loop."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.testing.compare import compare

RNG = np.random.default_rng(3)


def stack_of_an_array(n, out):
    for i in range(n):
        stack = np.zeros(50, dtype=np.int64)
        stack[0] = i
        k = 1
        while k > 0:
            k -= 1
            v = stack[k]
            out[i] += v
            if v > 1:
                stack[k] = v - 1
                stack[k + 1] = v // 2
                k += 2
    return out


def stack_of_a_list(n, out):
    for i in range(n):
        stack = [i]
        while stack:
            v = stack.pop()
            out[i] += v
            if v > 1:
                stack.append(v - 1)
                stack.append(v // 2)
    return out


def components(image):
    labels = np.zeros(image.shape, dtype=int)
    count = 0
    h, w = image.shape
    for i in range(h):
        for j in range(w):
            if image[i, j] and labels[i, j] == 0:
                count += 1
                queue = [(i, j)]
                labels[i, j] = count
                while queue:
                    a, b = queue.pop(0)
                    for y, x in ((a - 1, b), (a + 1, b), (a, b - 1), (a, b + 1)):
                        if 0 <= y < h and 0 <= x < w and image[y, x] and labels[y, x] == 0:
                            labels[y, x] = count
                            queue.append((y, x))
    return labels, count


def queens(n):
    columns = [-1] * n
    row = 0
    count = 0
    while row >= 0:
        columns[row] += 1
        while columns[row] < n:
            ok = True
            for r in range(row):
                if columns[r] == columns[row] or abs(columns[r] - columns[row]) == row - r:
                    ok = False
            if ok:
                break
            columns[row] += 1
        if columns[row] < n:
            if row == n - 1:
                count += 1
            else:
                row += 1
                columns[row] = -1
        else:
            row -= 1
    return count


def read_before_a_change(x, out):
    for i in range(x.shape[0]):
        t = np.zeros(3)
        t[0] = x[i]
        before = t[0]
        t[0] = t[0] * 2 + 1
        t[1] += before
        if t[0] > 1.5:
            t[2] = t[0] + t[1]
            out[i] = t[2] - before
    return out


def copy_of_a_part(a, out):
    for i in range(a.shape[0]):
        row = a[i].copy()
        a[i] = 0
        row[0] += 5
        if row[1] > 0.5:
            row[2] = row[0] * row[1]
            a[i, 1] = row[2]
        out[i] = row.sum()
    return out


def two_of_one_shape(x, out):
    for i in range(x.shape[0]):
        first = np.ones(4, np.float32)
        second = np.ones(4, np.float32)
        k = 0
        while k < 4 and x[i] > 0.1 * k:
            first[k] += x[i]
            second[3 - k] = first[k] * 2
            k += 1
        out[i] = (first - second).sum()
    return out


def a_view_of_it(x, out):
    for i in range(x.shape[0]):
        t = np.zeros((2, 3))
        v = t[1]
        v[0] = x[i]
        if t[1, 0] > 0.5:
            t[:, 1] = 2
        out[i] = t.sum() + v[1]
    return out


def on_one_side(x, out):
    for i in range(x.shape[0]):
        if x[i] > 0.5:
            t = np.full(3, x[i])
            k = int(x[i] * 3)
            t[k] = 7
            out[i] = t[0] + t[1] * 2 + t[2] * 3
        else:
            t = np.arange(4)
            t[i % 4] += 1
            out[i] = t.sum()
    return out


def kept_behind_the_loop(x):
    t = np.zeros(3)
    for i in range(x.shape[0]):
        t = np.zeros(3)
        t[i % 3] = x[i]
        if x[i] > 0.5:
            t[0] += 1
    return t


def taking_turns(x, n):
    old = x.copy()
    for i in range(n):
        new = np.zeros(4)
        for k in range(4):
            if old[k] > 0.2:
                new[(k + i) % 4] += old[k]
        old = new
    return old


def of_growing_length(x, out):
    for i in range(x.shape[0]):
        t = np.zeros(i + 1)
        t[0] = x[i]
        if x[i] > 0.5:
            t[i] += 1
        out[i] = t.sum()
    return out


def counts_in_steps(x, out):
    for i in range(x.shape[0]):
        seen = np.zeros(8, bool)
        k = x[i]
        steps = 0
        while not seen[k]:
            seen[k] = True
            k = (k * k + 1) % 8
            steps += 1
        out[i] = steps
    return out


def none_at_all(x, out):
    for i in range(x.shape[0]):
        t = np.zeros((0, 2), complex)
        t[:, 0] = 3
        if x[i] > 0.5:
            out[i] = t.size
    return out


def lists_of_lists_before(x, out):
    level = [0]
    for i in range(x.shape[0]):
        following = []
        k = 0
        while k < len(level) and k < 5:
            if x[(level[k] + i) % x.shape[0]] > 0.4:
                following.append(level[k] + 1)
                following.append(level[k] + 2)
            k += 1
        out[i] = len(following)
        if len(following) > 0:
            out[i] += following[-1]
    return out


def combined_in_a_column(x, at, n):
    speed = np.zeros(x.shape)
    for _ in range(n):
        x += speed
        outside = np.where(x[:, 0] < 0)
        x[outside, 0] *= -1
        force = np.zeros(x.shape)
        np.add.at(force[:, 1], at, x[at, 0])
        speed += force
    return x, speed


X = RNG.random(9)
IMAGE = RNG.random((7, 8)) < 0.55

PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...], bool]] = [
    (stack_of_an_array, (6, np.zeros(8, np.int64)), True),
    (stack_of_an_array, (0, np.zeros(8, np.int64)), True),
    (stack_of_a_list, (6, np.zeros(8, np.int64)), True),
    (components, (IMAGE,), True),
    (components, (np.ones((1, 9), bool),), True),
    (queens, (1,), True),
    (queens, (5,), True),
    (read_before_a_change, (X, np.zeros(9)), True),
    (copy_of_a_part, (RNG.random((5, 4)), np.zeros(5)), True),
    (two_of_one_shape, (X.astype(np.float32), np.zeros(9)), True),
    (a_view_of_it, (X, np.zeros(9)), True),
    (on_one_side, (X, np.zeros(9)), True),
    (kept_behind_the_loop, (X,), False),
    (taking_turns, (RNG.random(4), 5), False),
    (of_growing_length, (X, np.zeros(9)), False),
    (counts_in_steps, (RNG.integers(0, 8, 6), np.zeros(6, np.int64)), False),
    (none_at_all, (X, np.zeros(9)), True),
    (lists_of_lists_before, (X, np.zeros(9, np.int64)), True),
    (combined_in_a_column, (RNG.integers(-9, 9, (6, 2)).astype(float), np.array([0, 2, 2, 5]), 3), False),
]


@pytest.mark.parametrize(("function", "arguments", "native"), PROGRAMS)
def test_programs(function: Callable[..., Any], arguments: tuple[Any, ...], native: bool) -> None:
    given, wanted = copy.deepcopy(arguments), copy.deepcopy(arguments)
    jitted = pytocu.jit(function)
    compare(jitted(*given), function(*wanted))
    for one, other in zip(given, wanted, strict=True):
        if isinstance(other, np.ndarray):
            compare(one, other)
    steps = jitted.lower(*given).compile("cpu").plan.steps
    assert native is not any(step[0] in ("for", "while") for step in steps)


def too_far(n, out):
    for i in range(n):
        t = np.zeros(5)
        k = 0
        while t[k] == 0:
            t[k] = i + 1
            k += i + 1
            out[i] += t[0]
            if k > 4 and i < 3:
                k = 0
    return out


def test_an_index_outside_of_it_is_numpy_s_error() -> None:
    outs = np.zeros(9), np.zeros(9)
    for call, out in zip((too_far, pytocu.jit(too_far)), outs, strict=True):
        with pytest.raises(IndexError, match="index 8 is out of bounds for axis 0 with size 5"):
            call(9, out)
    compare(*outs)


def grown(n, out):
    for i in range(out.shape[0]):
        stack = [0]
        while len(stack) < n:
            stack.append(len(stack) + i)
        out[i] = stack[-1] + stack[n // 2]
    return out


def test_memory_of_a_list_in_a_step_is_there_for_what_is_used_of_it() -> None:
    jitted = pytocu.jit(grown)
    for n in (3, 200_000):
        compare(jitted(n, np.zeros(2, np.int64)), grown(n, np.zeros(2, np.int64)))
    # Elsewhere a list may be copied from step to step.
    for target, limits in (("cpu", (2**24, 2**25)), ("cuda:sm_90", (2**17, 2**18))):
        plan = jitted.lower(3, np.zeros(2, np.int64)).compile(target).plan
        lengths = (step[3][0] for step in plan.steps if step[0] == "allocate" and step[3])
        most = max(length for length in lengths if isinstance(length, int))
        assert limits[0] < most < limits[1]


def searched_in_itself(u, length):
    n = np.ones(length)
    for it in range(u.shape[0]):
        for i in range(u.shape[1]):
            k = np.searchsorted(n, u[it, i])
            n[k] -= 0.01
    return n


def searched_in_its_sums(u, length):
    n = np.ones(length)
    for it in range(u.shape[0]):
        for i in range(u.shape[1]):
            k = np.searchsorted(np.cumsum(n), u[it, i] * 3)
            n[k] += 1
    return n


@pytest.mark.parametrize("function", [searched_in_itself, searched_in_its_sums])
def test_memory_that_a_step_of_two_loops_makes_is_one_for_each_array(function: Callable[..., Any]) -> None:
    """Its length is a Python int of run time: it is made before both loops."""
    u = np.random.default_rng(8).random((3, 8))
    compare(pytocu.jit(function)(u, 4), function(u, 4))
