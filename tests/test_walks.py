"""Lists that a walk fills: the first member is Python's number, the others are what an array holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.errors import UnsupportedError


def ancestors(parent, v):
    path = []
    while v != -1:
        path.append(v)
        v = parent[v]
    return path


def from_the_root(parent, v):
    path = []
    k = v
    while k != -1:
        path.append(k)
        k = parent[k]
    return path[::-1], v, len(path)


def at_the_front(parent, v):
    path = []
    while v is not None and v >= 0:
        path.insert(0, v)
        v = parent[v]
    return path


def of_pythons_numbers(parent, v):
    path = []
    while v != -1:
        path.append(int(v))
        v = parent[v]
    return path, sum(path)


def changed_behind(parent, v):
    path = []
    while v != -1:
        path.append(v)
        u = v
        v = parent[v]
        parent[u] = 5
    return path, parent


def two_walks(parent, v):
    one = []
    other = []
    while v != -1:
        one.append(v)
        if v % 2 == 0:
            other.append(v)
        v = parent[v]
    return one, other


def dijkstra(w, source):
    n = len(w)
    dist = np.full(n, np.inf)
    done = np.zeros(n, bool)
    prev = np.full(n, -1)
    dist[source] = 0
    for _ in range(n):
        u = -1
        best = np.inf
        for v in range(n):
            if not done[v] and dist[v] < best:
                best = dist[v]
                u = v
        if u < 0:
            break
        done[u] = True
        for v in range(n):
            if w[u, v] > 0 and dist[u] + w[u, v] < dist[v]:
                dist[v] = dist[u] + w[u, v]
                prev[v] = u
    path = []
    v = n - 1
    while v != -1:
        path.append(v)
        v = prev[v]
    return dist, path[::-1]


WEIGHTS = np.random.default_rng(4).random((5, 5))
PROGRAMS: list[tuple[Callable[..., Any], tuple[tuple[Any, ...], ...]]] = [
    *(
        (walk, tuple((np.array([-1, 0, 1, 1, 3, 2]), v) for v in (5, 0, np.int64(4))))
        for walk in (ancestors, from_the_root, at_the_front, of_pythons_numbers, changed_behind, two_walks)
    ),
    (dijkstra, ((np.where(WEIGHTS < 0.6, WEIGHTS, 0), 0), (np.zeros((5, 5)), 1))),
]


@pytest.mark.parametrize(("function", "calls"), PROGRAMS)
def test_members_are_what_python_s_are(function: Callable[..., Any], calls: tuple[tuple[Any, ...], ...]) -> None:
    jitted = pytocu.jit(function)
    for array, number in calls:
        assert repr(jitted(array.copy(), number)) == repr(function(array.copy(), number))


def test_a_walk_without_a_step_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="a loop without a step is not compiled where v is a Python int"):
        pytocu.jit(ancestors)(np.array([-1, 0]), -1)
