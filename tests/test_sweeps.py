"""Loops that change arrays along an axis are one kernel: solvers, filters, recurrences, and random ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_run_time_positions import agrees, copies

import pytocu

RANDOM = np.random.default_rng(11)


def systems(count, size, dtype=np.float64):
    """Tridiagonal systems, one a row, that need no pivots."""
    lower, upper, right = (RANDOM.random((count, size)).astype(dtype) for _ in range(3))
    return lower, (3 + RANDOM.random((count, size))).astype(dtype), upper, right


def thomas(a, b, c, d):
    n = d.shape[1]
    cp = np.empty_like(c)
    dp = np.empty_like(d)
    x = np.empty_like(d)
    cp[:, 0] = c[:, 0] / b[:, 0]
    dp[:, 0] = d[:, 0] / b[:, 0]
    for i in range(1, n):
        den = b[:, i] - a[:, i] * cp[:, i - 1]
        cp[:, i] = c[:, i] / den
        dp[:, i] = (d[:, i] - a[:, i] * dp[:, i - 1]) / den
    x[:, n - 1] = dp[:, n - 1]
    for i in range(n - 2, -1, -1):
        x[:, i] = dp[:, i] - cp[:, i] * x[:, i + 1]
    return x


def thomas_in_place(a, b, c, d):
    for i in range(1, d.shape[0]):
        w = a[i] / b[i - 1]
        b[i] -= w * c[i - 1]
        d[i] -= w * d[i - 1]
    d[-1] /= b[-1]
    for i in range(d.shape[0] - 2, -1, -1):
        d[i] = (d[i] - c[i] * d[i + 1]) / b[i]


def recursive_filter(x, a, b):
    y = np.zeros_like(x)
    y[:, 0] = x[:, 0]
    for j in range(1, x.shape[1]):
        y[:, j] = b * x[:, j] + a * y[:, j - 1]
    return y


def two_states(x, a1, a2):
    y = x.copy()
    for j in range(2, x.shape[1]):
        y[:, j] = x[:, j] + a1 * y[:, j - 1] + a2 * y[:, j - 2]
    return y


def only_the_second(x):
    y = x.copy()
    for j in range(3, x.shape[0]):
        y[j] += 0.5 * y[j - 3]
    return y


def moving_average(x, alpha):
    s = x[:, 0].copy()
    out = np.empty_like(x)
    for j in range(x.shape[1]):
        s = alpha * x[:, j] + (1 - alpha) * s
        out[:, j] = s
    return out, s


def both_ways(x, alpha):
    for j in range(1, x.shape[1]):
        x[:, j] = alpha * x[:, j] + (1 - alpha) * x[:, j - 1]
    for j in range(x.shape[1] - 2, -1, -1):
        x[:, j] = alpha * x[:, j] + (1 - alpha) * x[:, j + 1]


def running_maximum(x):
    for i in range(1, x.shape[0]):
        x[i] = np.maximum(x[i], x[i - 1])
    return x


def recurrence(x, a, b):
    for i in range(1, len(x)):
        x[i] = a[i] * x[i - 1] + b[i]
    return x


def horner(c, x):
    y = np.zeros_like(x)
    for k in range(len(c) - 1, -1, -1):
        y = y * x + c[k]
    return y


def horner_in_place(c, x, out):
    for k in range(c.shape[0] - 1, -1, -1):
        out[:] = out * x + c[k]
    return out


def back_substitution(u, b):
    x = np.zeros_like(b)
    for i in range(u.shape[0] - 1, -1, -1):
        s = b[i]
        for k in range(i + 1, u.shape[0]):
            s = s - u[i, k] * x[k]
        x[i] = s / u[i, i]
    return x


def time_warping(x, y):
    n, m = x.shape[0], y.shape[0]
    d = np.full((n + 1, m + 1), np.inf)
    d[0, 0] = 0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            cost = abs(x[i - 1] - y[j - 1])
            d[i, j] = cost + min(d[i - 1, j], d[i, j - 1], d[i - 1, j - 1])
    return d


def edit_distance(x, y):
    d = np.empty((len(x) + 1, len(y) + 1), np.int64)
    for i in range(len(x) + 1):
        for j in range(len(y) + 1):
            if i == 0:
                d[i, j] = j
            elif j == 0:
                d[i, j] = i
            else:
                same = x[i - 1] == y[j - 1]
                d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + np.where(same, 0, 1))
    return d[len(x), len(y)]


def gauss_seidel(u, n):
    for _ in range(n):
        for i in range(1, u.shape[0] - 1):
            u[i] = 0.5 * (u[i - 1] + u[i + 1])
    return u


def fibonacci(out):
    out[0] = 1
    out[1] = 1
    for i in range(2, len(out)):
        out[i] = out[i - 1] + out[i - 2]
    return out


def life(a):
    n, m = a.shape
    out = np.zeros_like(a)
    for i in range(n):
        for j in range(m):
            count = a[i - 1, j] + a[i, j - 1]
            if i + 1 < n:
                count = count + a[i + 1, j]
            if j + 1 < m and i > 0:
                count = count + a[i - 1, j + 1]
            if count > 2:
                out[i, j] = 1
    return out


def old_and_new(x):
    for j in range(1, x.shape[1]):
        before = x[:, j]
        first = before * 2
        x[:, j] = x[:, j - 1] + 1
        x[:, j - 1] = first + x[:, j]
    return x


def swapped_ends(x):
    n = x.shape[0]
    for i in range(n // 2):
        t = x[i].copy()
        x[i] = x[n - 1 - i]
        x[n - 1 - i] = t
    return x


def sorted_by_insertion(x):
    for i in range(1, len(x)):
        for k in range(i, 0, -1):
            if x[k - 1] > x[k]:
                t = x[k] + 0
                x[k] = x[k - 1]
                x[k - 1] = t
    return x


def collatz(x):
    for i in range(len(x)):
        while x[i] > 1:
            if x[i] % 2 == 0:
                x[i] = x[i] // 2
            else:
                x[i] = 3 * x[i] + 1
    return x


def until_small(x, tol):
    steps = np.int64(0)
    for i in range(1, len(x)):
        x[i] = x[i] * x[i - 1]
        steps = steps + 1
        if x[i] < tol:
            break
    return x, steps


def several(x, y, z):
    for j in range(1, x.shape[1]):
        x[:, j] += y[:, j - 1]
        y[:, j] = x[:, j] * z[j]
    return y


def middle_axis(x):
    for j in range(1, x.shape[1]):
        x[:, j] += 0.5 * x[:, j - 1]
    return x


def inner_part(x):
    for j in range(1, x.shape[1]):
        x[1:-1, j] += x[1:-1, j - 1]
    return x


def complex_filter(z, a):
    for j in range(1, z.shape[1]):
        z[:, j] += a * z[:, j - 1]
    return z


def solved_in_time(u, n, r):
    """Implicit diffusion: a tridiagonal solve in every step of a loop."""
    u = u.copy()
    c = np.empty_like(u)
    for _ in range(n):
        c[:, 0] = -r / (1 + r)
        u[:, 0] = u[:, 0] / (1 + r)
        for j in range(1, u.shape[1]):
            den = 1 + 2 * r + r * c[:, j - 1]
            c[:, j] = -r / den
            u[:, j] = (u[:, j] + r * u[:, j - 1]) / den
        for j in range(u.shape[1] - 2, -1, -1):
            u[:, j] = u[:, j] - c[:, j] * u[:, j + 1]
    return u


M = RANDOM.random((4, 7))
INTS = RANDOM.integers(0, 3, 9)
def folded(words, n, scores):
    """A table over intervals; how many words there are is given apart, so each is compared where it is read."""
    t = np.zeros((n, n))
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            t[i, j] = max(t[i + 1, j], t[i, j - 1])
            if i + 1 < j - 1:
                t[i, j] = max(t[i, j], t[i + 1, j - 1] + scores[words[i], words[j]])
            for k in range(i + 1, j):
                t[i, j] = max(t[i, j], t[i, k] + t[k + 1, j])
    return t


def chain_of_products(p):
    """What a branch stores was made of the contents in front of it."""
    n = len(p) - 1
    m = np.zeros((n, n))
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            j = i + length - 1
            m[i, j] = np.inf
            for k in range(i, j):
                q = m[i, k] + m[k + 1, j] + p[i] * p[k + 1] * p[j + 1]
                if q < m[i, j]:
                    m[i, j] = q
    return m


def one_of_two_places(x, y):
    for i in range(1, len(x)):
        q = x[i - 1] + y[i]
        if q < 1.2:
            if y[i] > 0.5:
                x[i] = q
            else:
                x[i - 1] = q
    return x


def changed_in_between(x, y):
    """What was read before a branch changed it is no longer there."""
    for i in range(1, len(x)):
        q = x[i - 1] + y[i]
        if y[i] > 0.3:
            x[i - 1] = 5.0
            x[i] = q + x[i - 1]
        if y[i] > 0.6:
            x[i - 1] = q
    return x


def guarded(x, y, n):
    """What was compared before the branch is not compared again in it."""
    for i in range(n):
        if x[i] <= 0.3:
            x[i] = 1.0
        if y[i] > 0.5 and x[i] < 2:
            x[i] += y[i + 3]
    return x


def on_either_side(a, y):
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            if a[i, j] > 0.5:
                a[i, j] -= y[i + j]
            else:
                a[i, j] += y[j - i]
    return a


def implicit(u, n, steps):
    """Bounds that are computed of an int, anew wherever they stand; n need not be the length of anything."""
    p = np.empty(u.shape)
    q = np.empty(u.shape)
    for _ in range(steps):
        p[1 : n - 1, 0] = 0.0
        q[1 : n - 1, 0] = u[0, 1 : n - 1]
        for j in range(1, n - 1):
            p[1 : n - 1, j] = 0.3 / (2.0 - p[1 : n - 1, j - 1])
            q[1 : n - 1, j] = (u[j, 0 : n - 2] + u[j, 2:n] + q[1 : n - 1, j - 1]) / (2.0 - p[1 : n - 1, j - 1])
        for j in range(n - 2, 0, -1):
            u[1 : n - 1, j] = p[1 : n - 1, j] * u[1 : n - 1, j + 1] + q[1 : n - 1, j]
    return u


def shorter(x, n, steps):
    """The bound itself changes."""
    for _ in range(steps):
        x[: n - 1] += 1
        n = n - 1
        x[: n - 1] += x[1:n]
    return x


def triangles(x, n, m):
    for t in range(n - 1):
        for s in range(m - 1):
            x[: n - 1 - t] += x[: n - 1 - t] * s
            x[t : m - 1] -= 1
    return x


WORDS = RANDOM.integers(0, 4, 9)
def left_by_a_number(x, n):
    m = abs(n) % 7 + 2
    b = np.zeros((m, m)) + x[0]
    t = 1.5
    for i in range(m):
        for j in range(i, m):
            if t > 3:
                break
            t = t * 0.5 + i * 0.25
            b[j] = b[j] * 0.5 + t
    return b, np.full(m, t)


def left_by_an_int(x, n):
    m = n % 5 + 3
    b = np.ones((m, m)) * x[1]
    t = n
    for i in range(m):
        for j in range(i, m):
            if t > 300:
                break
            t = t * 2 + i
            b[:, j] = b[:, j - 1] + t
    return b + t, t


PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...], int]] = [
    (thomas, systems(3, 6), 5),
    (thomas, systems(3, 6, np.float32), 5),
    (thomas, tuple(np.asfortranarray(a) for a in systems(3, 6)), 5),
    (thomas_in_place, tuple(a.T.copy() for a in systems(5, 6)), 3),
    (thomas_in_place, tuple(a.T for a in systems(5, 6)), 3),
    (recursive_filter, (M, 0.5, 0.25), 2),
    (recursive_filter, (M[:0], 0.5, 0.25), 2),
    (recursive_filter, (M[::2, ::-1], 0.5, 0.25), 2),
    (two_states, (M, 0.5, -0.25), 2),
    (two_states, (M.astype(np.float16), np.float16(0.5), np.float16(-0.25)), 2),
    (only_the_second, (M[0],), 2),
    (moving_average, (M, 0.3), 3),
    (both_ways, (M, 0.3), 2),
    (both_ways, (M[:, ::2], 0.3), 2),
    (running_maximum, (M,), 1),
    (running_maximum, (M[0],), 1),
    (recurrence, (M[0], M[1], M[2]), 1),
    (recurrence, (M[0, :0], M[1, :0], M[2, :0]), 1),
    (horner, (M[0], M[1]), 1),
    (horner_in_place, (M[0], M[1], np.zeros(7)), 1),
    (back_substitution, (np.triu(RANDOM.random((5, 5))) + 2 * np.eye(5), M[0, :5]), 2),
    (time_warping, (M[0], M[1, :5]), 2),
    (edit_distance, (INTS, INTS[::-1][:6].copy()), 3),
    (gauss_seidel, (M.T.copy(), 3), 1),
    (gauss_seidel, (M.T.copy(), 0), 1),
    (fibonacci, (np.zeros(9, np.int32),), 2),
    (life, (RANDOM.random((4, 5)),), 2),
    (old_and_new, (M,), 1),
    (left_by_a_number, (M[0], 3), 4),
    (left_by_an_int, (M[0], 4), 5),
    (swapped_ends, (M,), 1),
    (swapped_ends, (M.T,), 1),
    (sorted_by_insertion, (RANDOM.random(8),), 1),
    (collatz, (np.array([3, 7, 1, 0]),), 1),
    (until_small, (M[0], 0.1), 2),
    (several, (M, M * 2, M[0]), 1),
    (middle_axis, (RANDOM.random((3, 4, 5)),), 1),
    (middle_axis, (np.asfortranarray(RANDOM.random((3, 4, 5))),), 1),
    (inner_part, (M,), 1),
    (complex_filter, (M + 1j * M, 0.5j), 1),
    (folded, (WORDS, 9, RANDOM.random((4, 4))), 2),
    (chain_of_products, (RANDOM.integers(1, 9, 8),), 2),
    (one_of_two_places, (RANDOM.random(9), RANDOM.random(9)), 1),
    (guarded, (RANDOM.random(12), RANDOM.random(15), 12), 1),
    (on_either_side, (RANDOM.random((6, 7)), RANDOM.random(12)), 1),
]


SHORT = [
    (thomas, systems(3, 1)),
    (recursive_filter, (M[:, :1], 0.5, 0.25)),
    (two_states, (M[:, :2], 0.5, -0.25)),
]
"""Axes that are one element long, where steps are known while compiling."""


@pytest.mark.parametrize(
    ("function", "arguments"), [pytest.param(f, a, id=f.__name__) for f, a, *_ in (*PROGRAMS, *SHORT)]
)
def test_programs_give_what_numpy_gives(function: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    agrees(function, arguments)


@pytest.mark.parametrize(("function", "arguments", "count"), [pytest.param(*p, id=p[0].__name__) for p in PROGRAMS])
def test_sweeps_are_one_kernel(function: Callable[..., Any], arguments: tuple[Any, ...], count: int) -> None:
    lowered = pytocu.jit(function).lower(*copies(arguments))
    assert len(lowered.kernels) == count
    assert not any(step[0] in ("for", "while", "if") for step in lowered.compile("cpu").plan.steps)


@pytest.mark.parametrize(("function", "arguments"), [pytest.param(*p[:2], id=p[0].__name__) for p in PROGRAMS])
def test_every_pass_leaves_ir_that_the_verifier_takes(
    function: Callable[..., Any], arguments: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where a memory is written twice, and where a number is memory without axes."""
    monkeypatch.setenv("PYTOCU_CHECK", "1")
    assert pytocu.jit(function).lower(*copies(arguments)).host("cuda").body.insts


def test_what_was_read_before_a_change() -> None:
    for _ in range(5):
        agrees(changed_in_between, (RANDOM.random(9), RANDOM.random(9)))


@pytest.mark.parametrize("n", [9, 8, 3, 2, 0, -3])
def test_bounds_that_are_computed_in_a_loop(n: int) -> None:
    if n > 1:
        agrees(implicit, (RANDOM.random((9, 9)), n, 2))
    agrees(shorter, (RANDOM.random(9), n, 3))
    agrees(triangles, (RANDOM.random(9), n, 5))
    agrees(triangles, (RANDOM.random(9), 4, n))


def test_the_same_bounds_are_the_same_lengths() -> None:
    steps = pytocu.jit(implicit).lower(RANDOM.random((9, 9)), 9, 2).compile("cpu").plan.steps
    names = [step[0] for step in steps]
    # Each sweep is one kernel, and nothing is compared in a step.
    assert names.count("for") == 1 and not {"check", "bind"} & {*names[names.index("for") : names.index("next")]}


def test_positions_that_are_outside_in_a_branch() -> None:
    scores, x, y = RANDOM.random((4, 4)), RANDOM.random(12), np.full(40, 0.75)
    for words, n in ((WORDS, 3), (WORDS, 8), (WORDS[:8], 9)):
        agrees(folded, (words, n, scores))
    agrees(folded, (WORDS, 9, scores[:, :3]))
    agrees(guarded, (x + 0.5, y[:14], 12))
    agrees(on_either_side, (np.ones((6, 7)), y[:10]))
    agrees(on_either_side, (np.zeros((6, 7)), y[:6]))


def test_sweeps_inside_of_loops() -> None:
    agrees(solved_in_time, (M, 3, 0.4))
    agrees(solved_in_time, (M, 0, 0.4))


def batched_tables(x, y, table):
    for i in range(1, table.shape[0]):
        for j in range(1, table.shape[1]):
            best = np.minimum(table[i - 1, j - 1], np.minimum(table[i - 1, j], table[i, j - 1]))
            table[i, j] = np.abs(x[i - 1] - y[j - 1]) + best
    return table


@pytest.mark.parametrize("width", [1, 2, 127, 128, 300])
def test_neighbours_go_through_the_steps_together(width: int) -> None:
    rows = RANDOM.random((6, width))
    agrees(thomas_in_place, tuple(a.T.copy() for a in systems(width, 6)))
    agrees(running_maximum, (rows,))
    agrees(old_and_new, (np.asfortranarray(rows.T),))
    agrees(batched_tables, (rows, rows[::-1].copy(), RANDOM.random((7, 7, width))))


def test_a_cpu_has_its_innermost_loop_along_memory() -> None:
    """The positions of a thread are the innermost loop for rows, and the steps are for columns."""
    rows = pytocu.jit(running_maximum).lower("f64[n, m]").ir(target="cpu")
    assert rows.index("(%i_: index") < rows.index("(%i_1: index")
    columns = pytocu.jit(complex_filter).lower("f64[n, m]", "f64").ir(target="cpu")
    assert columns.index("(%i: index)") < columns.index("(%j_: index")
    assert columns.count("over =") == 2


def counted_by_columns(x, scales):
    counts = np.zeros((5, 3), dtype=int)
    for k in range(scales.shape[0]):
        np.add.at(counts[:, k], (x * scales[k]).astype(int), 1)
    return counts


def test_what_each_step_searches_is_made_in_that_step() -> None:
    """Searching needs an array in memory, so the loop is no sweep."""
    agrees(counted_by_columns, (np.arange(5.0), np.array([0.2, 0.3, 1.0])))


def below_the_diagonal(a):
    for j in range(1, a.shape[1]):
        a[j:, j] = a[j:, j - 1] * 2
    return a


def along_a_band(a, n):
    band = np.zeros((60, 40))
    band[:, 0] = a[:, 0]
    for j in range(n):
        for k in range(1, 40):
            band[j : j + 20, k] = band[j : j + 20, k - 1] * 2
    return band


def moving_window(a):
    for j in range(len(a) - 300):
        a[j : j + 300] = a[j : j + 300] * 0.5 + j
    return a


def moving_window_of_columns(a):
    for j in range(len(a) - 300):
        a[j : j + 300, 1] = a[j : j + 300, 0] * 0.5 + j
        a[j : j + 300, 0] = a[j : j + 300, 1] - j
    return a


def every_other_row_more(a, s):
    for j in range(1, a.shape[1]):
        a[:: s + j, j] += a[:: s + j, j - 1]
    return a


def rows_up_to_a_remainder(a):
    for j in range(1, a.shape[1]):
        a[: j % 3, j] = a[: j % 3, j - 1] * 2
    return a


def recorded(u, history):
    for n in range(len(history)):
        u = u - np.roll(u, 1)
        history[n] = u


def recorded_mirrored(u, history):
    for n in range(history.shape[1]):
        u = u[::-1] * 0.5 + u
        history[:, n] = u
    return u


def recorded_deep(u, history):
    for n in range(len(history)):
        for k in range(n):
            if k % 2:
                u = u + np.roll(u, -1)
            history[n] += u


def recorded_alone(u, history):
    for n in range(len(history)):
        u = u * 0.5 + n
        history[n] = u


@pytest.mark.parametrize(
    ("function", "shape", "sweeps"),
    [(recorded, (4, 7), 0), (recorded_mirrored, (7, 4), 0), (recorded_deep, (4, 7), 0), (recorded_alone, (4, 7), 1)],
)
def test_what_each_step_hands_on_is_read_at_its_own_position(function: Callable[..., Any], shape: Any, sweeps: int) -> None:
    arguments = (RANDOM.random(7), np.zeros(shape))
    agrees(function, arguments)
    lowered = pytocu.jit(function).lower(*copies(arguments))
    loops = [step for step in lowered.compile("cpu").plan.steps if step[0] == "for"]
    assert bool(loops) == (not sweeps)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (below_the_diagonal, (RANDOM.random((7, 6)),)),
        (below_the_diagonal, (RANDOM.random((3, 6)),)),
        (along_a_band, (RANDOM.random((60, 40)), 3)),
        (moving_window, (RANDOM.random(700),)),
        (moving_window_of_columns, (RANDOM.random((700, 2)),)),
        (every_other_row_more, (RANDOM.random((9, 6)), 1)),
        (rows_up_to_a_remainder, (RANDOM.random((2, 9)),)),
    ],
)
def test_parts_that_move_from_step_to_step_are_changed_one_after_the_other(
    function: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    """An element has another number in the part of the next step, and so another thread would have it."""
    agrees(function, arguments)
    assert any(step[0] == "for" for step in pytocu.jit(function).lower(*copies(arguments)).compile("cpu").plan.steps)


def flips(spins, sites, r, beta):
    n = spins.shape[0]
    energy = 0.0
    kept = 0
    for k in range(len(sites)):
        i, j = sites[k]
        around = spins[(i + 1) % n, j] + spins[i, (j + 1) % n] + spins[i - 1, j] + spins[i, j - 1]
        change = 2.0 * spins[i, j] * around
        if change <= 0 or r[k] < np.exp(-beta * change):
            spins[i, j] *= -1
            energy += change
        else:
            kept += 1
    return energy, kept


def shifted_sums(a, order):
    total = np.float64(0)
    for k in range(len(order)):
        i = order[k]
        old = a[i]
        both = old + a[i - 1]
        for step in range(3):
            a[i] += old * step
            total += both
        if old > 1:
            a[i - 1] = old
            total -= old * a[i - 1]
    return total


@pytest.mark.parametrize("n", [4, 9])
def test_numbers_made_of_an_array_before_a_branch_changes_it(n: int) -> None:
    """They are what they were, and the loop is one launch."""
    rng = np.random.default_rng(n)
    spins, sites, r = rng.choice([-1, 1], size=(n, n)), rng.integers(0, n, (40, 2)), rng.random(40)
    agrees(flips, (spins, sites, r, 0.4))
    steps = pytocu.jit(flips).lower(spins, sites, r, 0.4).compile("cpu").plan.steps
    assert not any(step[0] == "for" for step in steps)
    agrees(shifted_sums, (rng.random(n) * 2, rng.integers(0, n, 12)))


def two_that_begin_alike(x):
    a, b = x + 1, x + 1
    for j in range(1, x.shape[1]):
        a[:, j] = b[:, j - 1] * 0.5 + x[:, j]
        b[:, j] = a[:, j] - x[:, j - 1]
    return a, b


def test_arrays_that_begin_with_equal_contents_are_one_sweep() -> None:
    x = RANDOM.random((7, 9))
    agrees(two_that_begin_alike, (x,))
    plan = pytocu.jit(two_that_begin_alike).lower(x).compile("cpu").plan
    assert not [step for step in plan.steps if step[0] == "for"]


def flat_positions(x):
    for i, value in enumerate(x.flat):
        x.flat[i] = value + i


def flat_positions_before(x):
    for i in range(2, x.size):
        x.flat[i] = x.flat[i - 1] * 0.5 + x.flat[i - 2]


def quotient_and_remainder(x):
    for i in range(1, 12):
        x[i // 4, i % 4] += x[(i - 1) // 4, (i - 1) % 4]


def stated_positions(x, i):
    for k in range(2, len(i)):
        x[i[k]] = x[i[k - 1]] + x[i[k - 2]]


@pytest.mark.parametrize("function", [flat_positions, flat_positions_before, quotient_and_remainder], ids=lambda f: f.__name__)
def test_steps_that_go_through_the_elements_of_several_axes(function: Callable[..., Any]) -> None:
    agrees(function, (RANDOM.random((3, 4)),))


def test_steps_that_go_through_positions_that_come_again() -> None:
    agrees(stated_positions, (RANDOM.random(6), np.array([1, -1, 2, 2, 2, 5, 2])))
