"""``heapq``, and lists whose members are tuples of numbers of several types, compared with NumPy."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.testing.compare import compare

RNG = np.random.default_rng(3)
X = RNG.random(9)


def heap_sort(x):
    heap = []
    for v in x:
        heappush(heap, v)
    out = np.empty(len(x))
    for i in range(len(x)):
        out[i] = heappop(heap)
    return out


def other_functions(n):
    heap = []
    total = 0
    for i in range(n):
        if i < 4:
            heapq.heappush(heap, (i * 5) % 7)
        elif i % 2:
            total += heapq.heappushpop(heap, (i * 3) % 8) * i
        else:
            total += heapq.heapreplace(heap, (i * 3) % 8) * i
    return total, np.array(heap)


def made_at_once(x):
    numbers = list(x)
    pairs = [(x[i], i) for i in range(len(x))]
    heapq.heapify(numbers)
    heapq.heapify(pairs)
    return np.array(numbers), np.array(pairs), pairs[1]


def dijkstra(indptr, indices, w, source):
    distance = np.full(len(indptr) - 1, np.inf)
    distance[source] = 0
    heap: list[Any] = [(0, source)]
    while heap:
        d, u = heapq.heappop(heap)
        if d > distance[u]:
            continue
        for k in range(indptr[u], indptr[u + 1]):
            v = indices[k]
            if d + w[k] < distance[v]:
                distance[v] = d + w[k]
                heapq.heappush(heap, (distance[v], v))
    return distance


def weighted_halves(x):
    stack = [(0, len(x), 0.5)]
    total = 0.0
    while stack:
        a, b, weight = stack.pop()
        if b - a < 2:
            total += x[a] * weight
        else:
            stack.append((a, (a + b) // 2, weight * 0.5))
            stack.append(((a + b) // 2, b, weight * 0.25))
    return total


def of_flags(x):
    found = []
    for i in range(len(x)):
        if x[i] > 0.1:
            found.append((np.uint8(i), x[i] > 0.5, np.float32(x[i]), i))
    total = 0
    for _, flag, _, i in found:
        if flag:
            total += i
    return total, found[-1], len(found)


def read_and_sorted(x):
    pairs = [(i % 2, x[i], i) for i in range(len(x))]
    total = 0.0
    for _, v, i in pairs:
        total += v * i
    pairs.sort(reverse=True)
    return total, np.array([i for _, _, i in pairs]), pairs[0]


def sorted_by_numbers_of_two_types(x):
    found = []
    for i in range(len(x)):
        if x[i] > 0.2:
            found.append(i)
    found.sort(key=lambda k: (k % 2, -x[k]))
    return found


def given_other_numbers(x, n):
    roots = list(range(n))
    chosen = []
    for i in range(n):
        if x[i] > 0.3:
            chosen.append(i)
    for i in range(len(chosen)):
        chosen[i] = np.int64(2) * roots[i]
    return np.array(chosen), np.array(roots)


A = RNG.random((6, 6)) < 0.5
INDPTR, INDICES = np.r_[0, np.cumsum(A.sum(1))], np.nonzero(A)[1]


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (heap_sort, (X,)), (other_functions, (12,)), (made_at_once, (X,)),
        (dijkstra, (INDPTR, INDICES, RNG.random(len(INDICES)), 0)),
        (weighted_halves, (X,)), (of_flags, (X,)), (read_and_sorted, (X,)),
        (sorted_by_numbers_of_two_types, (X,)), (given_other_numbers, (X, len(X))),
    ],
    ids=lambda value: value.__name__ if callable(value) else "",
)  # fmt: skip
def test_programs(function: Callable[..., Any], args: tuple[Any, ...]) -> None:
    compare(pytocu.jit(function)(*args), function(*args))


def emptied(n):
    heap = []
    for i in range(n):
        heapq.heappush(heap, i)
    for _ in range(n + 1):
        heapq.heappop(heap)
    return n


def of_a_queue(n):
    queue: Any = deque()
    heapq.heappush(queue, n)
    return len(queue)


def empty(n):
    heap = []
    return heapq.heappop(heap) + n


@pytest.mark.parametrize("function", [emptied, of_a_queue, empty])
def test_errors_are_pythons(function: Callable[..., Any]) -> None:
    with pytest.raises((IndexError, TypeError)) as theirs:
        function(3)
    with pytest.raises(type(theirs.value)) as own:
        pytocu.jit(function)(3)
    assert str(theirs.value) in str(own.value)


def known(n):
    heap = [5, 1, 3]
    heapq.heapify(heap)
    heapq.heappush(heap, 0)
    return heapq.heappop(heap) + n


def of_three(x):
    heap = [x[0], x[1], x[2]]
    heapq.heapify(heap)
    return heap[0]


def test_members_that_are_counted_now() -> None:
    assert pytocu.jit(known)(3) == known(3)
    with pytest.raises(UnsupportedError, match="which are counted while compiling"):
        pytocu.jit(of_three)(X)


def ints_beside_floats(x):
    found = []
    for i in range(len(x)):
        if x[i] > 0.5:
            found.append((0, i))
        else:
            found.append((x[i], i))
    return found[0][0] * np.ones(2, np.int64)


def test_an_int_among_floats_is_no_float() -> None:
    with pytest.raises(UnsupportedError, match="which of them decides what \\* gives"):
        pytocu.jit(ints_beside_floats)(X)
