"""Sorting written out: loops in loops that exchange elements, with a stack, and with functions that return early."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mask_tools import everywhere

import pytocu


def quicksort_from_both_ends(a):
    a = a.copy()
    stack = [(0, len(a) - 1)]
    while stack:
        low, high = stack.pop()
        if low >= high:
            continue
        pivot = a[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while a[i] < pivot:
                i += 1
            while a[j] > pivot:
                j -= 1
            if i <= j:
                a[i], a[j] = a[j], a[i]
                i += 1
                j -= 1
        stack.append((low, j))
        stack.append((i, high))
    return a


def quicksort_from_one_end(a):
    a = a.copy()
    stack = [(0, len(a) - 1)]
    while stack:
        low, high = stack.pop()
        if low < high:
            pivot = a[high]
            i = low
            for j in range(low, high):
                if a[j] < pivot:
                    a[i], a[j] = a[j], a[i]
                    i += 1
            a[i], a[high] = a[high], a[i]
            stack.append((low, i - 1))
            stack.append((i + 1, high))
    return a


def merge_sort(a):
    a = a.copy()
    n = len(a)
    b = np.empty_like(a)
    width = 1
    while width < n:
        for low in range(0, n, 2 * width):
            middle = min(low + width, n)
            high = min(low + 2 * width, n)
            i, j = low, middle
            for k in range(low, high):
                if i < middle and (j >= high or a[i] <= a[j]):
                    b[k] = a[i]
                    i += 1
                else:
                    b[k] = a[j]
                    j += 1
        a, b = b, a
        width *= 2
    return a


def sift(a, root, n):
    while 2 * root + 1 < n:
        child = 2 * root + 1
        if child + 1 < n and a[child] < a[child + 1]:
            child += 1
        if a[root] >= a[child]:
            return
        a[root], a[child] = a[child], a[root]
        root = child


def heap_sort(a):
    a = a.copy()
    n = len(a)
    for start in range(n // 2 - 1, -1, -1):
        sift(a, start, n)
    for end in range(n - 1, 0, -1):
        a[0], a[end] = a[end], a[0]
        sift(a, 0, end)
    return a


def shell_sort(a):
    a = a.copy()
    gap = len(a) // 2
    while gap > 0:
        for i in range(gap, len(a)):
            t = a[i]
            j = i
            while j >= gap and a[j - gap] > t:
                a[j] = a[j - gap]
                j -= gap
            a[j] = t
        gap //= 2
    return a


SORTS = [quicksort_from_both_ends, quicksort_from_one_end, merge_sort, heap_sort, shell_sort]
RANDOM = np.random.default_rng(3)


@pytest.mark.parametrize("sort", SORTS)
@pytest.mark.parametrize("x", [RANDOM.integers(0, 9, 13), RANDOM.random(8), np.ones(1)], ids=["equal", "apart", "one"])
def test_sorted(sort: Callable[..., Any], x: np.ndarray) -> None:
    everywhere(sort, x)


def marked_behind(x, n):
    """What an inner loop has changed a step changes again."""
    y = x.copy()
    k = 0
    while k < n:
        for j in range(k, n):
            y[j] += x[k]
        y[k] = -y[k]
        k += int(x[k] > 0) + 1
    return y


def test_an_array_stays_one_memory_behind_an_inner_loop() -> None:
    everywhere(marked_behind, RANDOM.standard_normal(9), 9)
    steps = pytocu.jit(marked_behind).lower("f64[n]", "weak int").compile("cpu").plan.steps
    assert not any(step[0] in ("for", "while") for step in steps)


def cheapest(edges, n):
    cost = np.full(n, 1000)
    cost[0] = 0
    for _ in range(n):
        for u, v, w in edges:
            if cost[u] + w < cost[v]:
                cost[v] = cost[u] + w
    return cost


def in_pairs(x, y):
    total = np.int64(0)
    for _ in range(3):
        for (a, b), c in zip(x, y, strict=True):
            total = total + a * b - c
    return total


EDGES = np.array([[0, 1, 3], [1, 2, 4], [0, 2, 9], [2, 3, 1]])


@pytest.mark.parametrize("edges", [EDGES, EDGES[:, :2], np.c_[EDGES, EDGES], EDGES[:, :1], EDGES[:0, :2]])
def test_rows_of_another_length_are_python_s_error(edges: np.ndarray) -> None:
    everywhere(cheapest, edges, 4)


@pytest.mark.parametrize("x", [EDGES[:, :2], EDGES, EDGES[:, :1], EDGES[:0, :1]])
def test_rows_beside_others(x: np.ndarray) -> None:
    everywhere(in_pairs, x, x[:, 0])
