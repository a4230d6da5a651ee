"""Loops that carry Python's numbers beside changes of arrays: queues, stacks, searches, marks, runs. One kernel each."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_run_time_positions import agrees, copies

import pytocu
from pytocu.testing.compare import compare

RANDOM = np.random.default_rng(5)


def breadth_first(start, pointers, neighbours):
    n = pointers.shape[0] - 1
    distance = np.full(n, -1)
    queue = np.zeros(n, np.int64)
    distance[start] = 0
    queue[0] = start
    head = 0
    tail = 1
    while head < tail:
        u = queue[head]
        head += 1
        for k in range(pointers[u], pointers[u + 1]):
            v = neighbours[k]
            if distance[v] < 0:
                distance[v] = distance[u] + 1
                queue[tail] = v
                tail += 1
    return distance, tail


def runs(x):
    n = x.shape[0]
    values = np.zeros(n, x.dtype)
    counts = np.zeros(n, np.int64)
    k = 0
    i = 0
    while i < n:
        j = i + 1
        while j < n and x[j] == x[i]:
            j += 1
        values[k] = x[i]
        counts[k] = j - i
        k += 1
        i = j
    return values[:k], counts[:k]


def runs_in_place(values, counts, x):
    k = 0
    values[0] = x[0]
    counts[0] = 1
    for i in range(1, x.shape[0]):
        if x[i] == values[k]:
            counts[k] += 1
        else:
            k += 1
            values[k] = x[i]
            counts[k] = 1
    return k + 1


def flood(walls, row, column):
    h, w = walls.shape
    seen = np.zeros((h, w), np.bool_)
    stack = np.zeros(4 * h * w + 1, np.int64)
    stack[0] = row * w + column
    top = 1
    count = 0
    while top > 0:
        top -= 1
        p = stack[top]
        r = p // w
        c = p % w
        if seen[r, c] or walls[r, c]:
            continue
        seen[r, c] = True
        count += 1
        if r + 1 < h:
            stack[top] = p + w
            top += 1
        if r > 0:
            stack[top] = p - w
            top += 1
        if c + 1 < w:
            stack[top] = p + 1
            top += 1
        if c > 0:
            stack[top] = p - 1
            top += 1
    return seen, count


def merged(x, h):
    n = x.shape[0]
    out = np.zeros(n, x.dtype)
    i = 0
    j = h
    k = 0
    while i < h and j < n:
        if x[i] <= x[j]:
            out[k] = x[i]
            i += 1
        else:
            out[k] = x[j]
            j += 1
        k += 1
    while i < h:
        out[k] = x[i]
        i += 1
        k += 1
    while j < n:
        out[k] = x[j]
        j += 1
        k += 1
    return out


def inserted(x):
    for i in range(1, x.shape[0]):
        v = x[i]
        j = i - 1
        while j >= 0 and x[j] > v:
            x[j + 1] = x[j]
            j -= 1
        x[j + 1] = v


def sieve(n):
    flags = np.ones(n + 1, np.bool_)
    flags[:2] = False
    i = 2
    while i * i <= n:
        if flags[i]:
            flags[i * i :: i] = False
        i += 1
    return flags


def marked(x, n):
    flags = np.zeros(n, np.int64)
    for i in range(1, n):
        flags[i::i] = x[i]
    return flags


def votes(edges, turns):
    h, w = edges.shape
    reach = h + w
    found = np.zeros((2 * reach + 1, turns), np.int64)
    for y in range(h):
        for x in range(w):
            if edges[y, x]:
                for t in range(turns):
                    r = int(np.round(x * np.float64(0.5) + y * t)) % reach
                    found[r, t] += 1
    return found


def threshold(counts, total, whole):
    weight = 0
    summed = 0.0
    best = -1.0
    found = 0
    for t in range(counts.shape[0]):
        weight += counts[t]
        if weight == 0:
            continue
        rest = total - weight
        if rest == 0:
            break
        summed += t * counts[t]
        between = weight * rest * (summed / weight - (whole - summed) / rest) ** 2
        if between > best:
            best = between
            found = t
    return found


def first_sum(x, limit):
    total = 0
    i = 0
    while total < limit:
        total += int(x[i])
        i += 2
    return i, total


def two_ends(x):
    i = 0
    j = x.shape[0] - 1
    while i < j:
        x[i], x[j] = x[j], x[i]
        i += 1
        j -= 1


def kept_below(x, y, limit):
    k = 0
    for i in range(x.shape[0]):
        if x[i] > limit:
            break
        y[k] = x[i]
        k += 1
    return k


def staircase(points):
    """Each row replaces those before it that are higher: how many are left says where it goes."""
    n = len(points)
    kept = np.zeros((n, 2))
    k = 0
    for i in range(n):
        while k >= 1 and kept[k - 1, 1] > points[i, 1]:
            k -= 1
        kept[k] = points[i]
        k += 1
    return kept[:k], k


def shortest(start, pointers, neighbours, weights):
    n = pointers.shape[0] - 1
    distance = np.full(n, np.inf)
    done = np.zeros(n, np.bool_)
    distance[start] = 0.0
    while True:
        u = -1
        best = np.inf
        for i in range(n):
            if not done[i] and distance[i] < best:
                best = distance[i]
                u = i
        if u == -1:
            break
        done[u] = True
        for k in range(pointers[u], pointers[u + 1]):
            v = neighbours[k]
            distance[v] = min(distance[v], distance[u] + weights[k])
    return distance


def sorted_in_place(x):
    stack = np.zeros(2 * x.shape[0] + 2, np.int64)
    stack[1] = x.shape[0] - 1
    top = 2
    while top > 0:
        top -= 2
        lo = stack[top]
        hi = stack[top + 1]
        if lo >= hi:
            continue
        p = x[hi]
        i = lo
        for j in range(lo, hi):
            if x[j] < p:
                x[i], x[j] = x[j], x[i]
                i += 1
        x[i], x[hi] = x[hi], x[i]
        stack[top] = lo
        stack[top + 1] = i - 1
        stack[top + 2] = i + 1
        stack[top + 3] = hi
        top += 4


def sifted(heap):
    n = heap.shape[0]
    for start in range(n // 2 - 1, -1, -1):
        root = start
        while True:
            child = 2 * root + 1
            if child >= n:
                break
            if child + 1 < n and heap[child] < heap[child + 1]:
                child += 1
            if heap[root] >= heap[child]:
                break
            heap[root], heap[child] = heap[child], heap[root]
            root = child


def pushed(heap, n, v):
    heap[n] = v
    i = n
    while i > 0:
        p = (i - 1) >> 1
        if heap[p] <= heap[i]:
            break
        heap[p], heap[i] = heap[i], heap[p]
        i = p
    return n + 1


def popped(heap, n):
    top = heap[0]
    n -= 1
    heap[0] = heap[n]
    i = 0
    while True:
        least = i
        if 2 * i + 1 < n and heap[2 * i + 1] < heap[least]:
            least = 2 * i + 1
        if 2 * i + 2 < n and heap[2 * i + 2] < heap[least]:
            least = 2 * i + 2
        if least == i:
            break
        heap[least], heap[i] = heap[i], heap[least]
        i = least
    return top, n


def by_a_heap(x):
    heap = np.empty(x.shape[0], x.dtype)
    out = np.empty_like(x)
    n = 0
    for v in x:
        n = pushed(heap, n, v)
    for i in range(len(x)):
        top, n = popped(heap, n)
        out[i] = top
    return out


def joined(n, a, b):
    parent = np.arange(n)
    count = n
    for k in range(len(a)):
        x = a[k]
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        y = b[k]
        while parent[y] != y:
            parent[y] = parent[parent[y]]
            y = parent[y]
        if x != y:
            parent[x] = y
            count -= 1
    return parent, count


def graph(n, most):
    pointers = np.concatenate([[0], np.cumsum(RANDOM.integers(0, most, n))])
    return pointers, RANDOM.integers(0, n, pointers[-1])


PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (breadth_first, (3, *graph(40, 5))),
    (breadth_first, (-1, *graph(9, 2))),
    (breadth_first, (0, np.array([0, 0]), np.array([], np.int64))),
    (shortest, (2, *(links := graph(30, 5)), RANDOM.random(links[1].shape[0]))),
    (sorted_in_place, (RANDOM.random(40),)),
    (sifted, (RANDOM.random(40),)),
    (sifted, (np.zeros(1),)),
    (by_a_heap, (RANDOM.integers(0, 20, 30),)),
    (by_a_heap, (np.zeros(0),)),
    (joined, (30, RANDOM.integers(0, 30, 25), RANDOM.integers(0, 30, 25))),
    (runs, (RANDOM.integers(0, 3, 100),)),
    (runs, (RANDOM.random(5).astype(np.float32),)),
    (runs, (np.zeros(0, np.uint8),)),
    (runs, (np.ones(7, np.bool_),)),
    (runs_in_place, (np.zeros(50, np.int32), np.zeros(50, np.int64), RANDOM.integers(0, 3, 50).astype(np.int32))),
    (flood, (RANDOM.random((7, 9)) < 0.3, 3, 4)),
    (flood, (np.zeros((1, 1), np.bool_), 0, 0)),
    (merged, (np.concatenate([np.sort(RANDOM.random(9)), np.sort(RANDOM.random(11))]), 9)),
    (merged, (np.sort(RANDOM.random(9)), 0)),
    (inserted, (RANDOM.random(30),)),
    (inserted, (RANDOM.random(60)[::-2],)),
    (inserted, (np.zeros(1),)),
    (sieve, (200,)),
    (sieve, (3,)),
    (marked, (RANDOM.integers(0, 9, 30), 30)),
    (votes, (RANDOM.random((5, 6)) < 0.4, 5)),
    (votes, (np.zeros((0, 6), np.bool_), 5)),
    (threshold, (RANDOM.integers(0, 50, 64), 1000, 20000.0)),
    (threshold, (np.zeros(4, np.int64), 3, 2.0)),
    (first_sum, (RANDOM.integers(0, 9, 100), 40)),
    (first_sum, (RANDOM.integers(0, 9, 100), -1)),
    (two_ends, (RANDOM.random(9),)),
    (two_ends, (np.zeros(0),)),
    (staircase, (RANDOM.random((30, 2)),)),
    (staircase, (np.zeros((0, 2)),)),
    (kept_below, (RANDOM.random(30), np.zeros(30), 0.9)),
    (kept_below, (RANDOM.random(30), np.zeros(30, np.float16), 2.0)),
]


@pytest.mark.parametrize(("function", "arguments"), PROGRAMS)
def test_programs_give_what_numpy_gives(function, arguments) -> None:
    agrees(function, arguments)


ONE = {p[0]: p for p in reversed(PROGRAMS)}


@pytest.mark.parametrize(("function", "arguments"), ONE.values())
def test_a_cpu_has_no_step_of_python(function, arguments) -> None:
    steps = pytocu.jit(function).lower(*copies(arguments)).compile("cpu").plan.steps
    assert not any(step[0] in ("for", "while") for step in steps)


WRONG: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (runs_in_place, (np.zeros(3, np.int64), np.zeros(9, np.int64), np.arange(9))),
    (runs_in_place, (np.zeros(9, np.int64), np.zeros(3, np.int64), np.arange(9))),
    (kept_below, (RANDOM.random(30), np.zeros(4), 2.0)),
    (first_sum, (np.ones(5, np.int64), 90)),
    (first_sum, (np.zeros(0), 1)),
    (breadth_first, (0, np.array([0, 2, 2]), np.array([1, 5]))),
    (breadth_first, (0, np.array([0, 3, 3]), np.array([1, 0]))),
]


@pytest.mark.parametrize(("function", "arguments"), WRONG)
def test_an_error_is_numpy_s_and_nothing_is_written_behind_it(function, arguments) -> None:
    wanted, given = copies(arguments), copies(arguments)
    with pytest.raises(IndexError) as expected:
        function(*wanted)
    with pytest.raises(IndexError) as found:
        pytocu.jit(function)(*given)
    assert str(found.value).splitlines()[0] == str(expected.value)
    for one, other in zip(given, wanted, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)
    agrees(function, arguments)


def test_arguments_in_one_memory() -> None:
    for places in ((slice(0, 6), slice(0, 6)), (slice(0, 6), slice(2, 8)), (slice(2, 8), slice(0, 6))):
        memories = np.arange(8.0), np.arange(8.0)
        for function, memory in zip((kept_below, pytocu.jit(kept_below)), memories, strict=True):
            try:
                assert function(memory[places[0]], memory[places[1]], 9.0) == 6
            except pytocu.UnsupportedError as error:
                assert "copy" in str(error)
                return
        np.testing.assert_array_equal(*memories, strict=True)


def hashed(x, out):
    h = 1
    for i in range(x.shape[0]):
        h = h * 31 + int(x[i])
        out[i] = h % 1000
    return h


def test_ints_of_python_that_int64_does_not_hold() -> None:
    x, out = np.arange(12), np.zeros(12, np.int64)
    agrees(hashed, (x, out))
    with pytest.raises(OverflowError, match="does not fit int64") as found:
        pytocu.jit(hashed)(np.full(50, 10**9), np.zeros(50, np.int64))
    assert "begin with np.int64(...)" in str(found.value)


def far(x, step):
    i = 1
    total = 0.0
    while total < 3.0:
        total += x[i * step + i]
        i += 1
    return total


@pytest.mark.parametrize("step", [2**61, 2**62 + 1, -(2**62), 2**63 - 2, 2**31])
def test_an_index_that_would_wrap_is_out_of_bounds(step) -> None:
    with pytest.raises((IndexError, OverflowError)):
        pytocu.jit(far)(np.ones(9), step)


def guarded(x, i, limit):
    total = 0.0
    while total < limit:
        if i > 0:
            i += 1
            if i < x.shape[0]:
                x[i] = total
        total += 1.0


def test_a_counter_that_leaves_int64_is_no_position() -> None:
    agrees(guarded, (np.zeros(9), 3, 5.0))
    x = np.zeros(9)
    with pytest.raises(OverflowError, match="does not fit int64"):
        pytocu.jit(guarded)(x, 2**63 - 1, 5.0)
    assert not x.any()


def refused(x, stack):
    top = 0
    for i in range(x.shape[0]):
        if x[i] < 0:
            if top == 0:
                raise ValueError(f"nothing left at {i}")
            top -= 1
            stack[top] = -1
        else:
            stack[top] = x[i]
            top += 1
    return top


@pytest.mark.parametrize("x", [[1, 2, -1, 3], [1, -1, -1, 4], [1, 2, 3, 4], [1] * 9, []])
def test_exceptions_of_the_program_in_the_middle(x) -> None:
    agrees(refused, (np.array(x, np.int64), np.zeros(5, np.int64)))
    wanted, given = np.zeros(5, np.int64), np.zeros(5, np.int64)
    for function, stack in ((refused, wanted), (pytocu.jit(refused), given)):
        with contextlib.suppress(ValueError, IndexError):
            function(np.array(x, np.int64), stack)
    np.testing.assert_array_equal(given, wanted, strict=True)


def added(x, out):
    total = 0
    weight = 0.0
    k = 0
    for i in range(x.shape[0]):
        if x[i] > 0:
            total += int(x[i])
            weight = weight * 0.5 + float(x[i])
            out[k] = weight
            k += 1
    return total, weight, k


@pytest.mark.parametrize("dtype", [np.int64, np.float64, np.float32, np.uint8])
def test_python_s_numbers_of_elements(dtype) -> None:
    x = np.array([1, 5e9, -7, 2**40 + 0.5, 3.75, 0]) % (2.0**41 if dtype is not np.uint8 else 256)
    agrees(added, (x.astype(dtype), np.zeros(6)))


@pytest.mark.parametrize("backend", ["cuda_c", "nvvm"])
@pytest.mark.parametrize("function", [runs, flood, two_ends])
def test_both_backends_of_a_gpu_have_code_for_it(function, backend) -> None:
    assert pytocu.jit(function).lower(*copies(ONE[function][1])).compile("cuda:sm_90", backend).binary


def pendulum(y0, n):
    def change(s):
        angle, speed = s
        return np.array([speed, -math.sin(angle) - 0.1 * speed ** 2 * math.cos(angle) / (1 + math.sin(angle) ** 2) ** 0.5])

    path = np.zeros((n + 1, 2))
    path[0] = y0
    for i in range(n):
        s = path[i]
        if s[0] > 3:
            break
        half = change(s)
        path[i + 1] = s + 0.02 * change(s + 0.01 * half)
    return path


def test_powers_of_pythons_floats() -> None:
    given = np.array([2.0, 0.25]), 40
    np.testing.assert_allclose(pytocu.jit(pendulum)(*given), pendulum(*given), rtol=1e-12)
    assert "made by Python" not in str(pytocu.jit(pendulum).lower("f64[2]", "weak int").compile("cpu").plan)


def unbound(x, places):
    k = 1
    first = x[0]
    for i in range(places.shape[0]):
        if k > 1:
            first = x.sum()
        x[int(places[i])] = 2
    return first


def test_a_number_that_no_step_binds_is_what_it_was() -> None:
    agrees(unbound, (np.arange(5.0) + 1, np.arange(4)))


def around(x, n):
    total = 0
    for i in range(n):
        for j in range(n):
            total += x[(i + 1) % 4, j % 3] * x[(i - 1) % 4, (i + j) // 2]
    return total


def test_positions_that_go_around_are_not_compared_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    x, f = np.arange(24).reshape(4, 6), pytocu.jit(around)
    compare(f(x, 5), around(x, 5))
    with pytest.raises(IndexError, match="index 6 is out of bounds for axis 1 with size 6"):
        f(x, 7)
    monkeypatch.setattr("pytocu.runtime.program_failures.first_outside", lambda *_: pytest.fail("compared one after the other"))
    compare(f(x, 4), around(x, 4))


def swung(out):
    t = 0.1
    k = 0
    while k < out.shape[0]:
        t = math.sin(t * 3.7 + k) + math.exp(-t)
        out[k] = t
        k += 1
    return t


def test_a_number_is_the_one_that_was_stored() -> None:
    # A kernel's sines are not those of the C library, and nothing may show one and then the other.
    out = np.zeros(200)
    assert pytocu.jit(swung)(out) == out[-1]
    few = np.zeros(3), np.zeros(3)
    assert pytocu.jit(swung)(few[0]) == pytest.approx(swung(few[1]), rel=1e-14)
    np.testing.assert_allclose(few[0], few[1], rtol=1e-14)
