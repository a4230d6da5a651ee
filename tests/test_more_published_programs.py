"""More programs of the sort that people publish: solvers, searches and filters with lists, unchanged, compared with NumPy."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.testing.compare import compare


def gram_schmidt(A):
    n, m = A.shape
    Q = np.zeros((n, m))
    R = np.zeros((m, m))
    for j in range(m):
        v = A[:, j]
        for i in range(j):
            q = Q[:, i]
            R[i, j] = q.dot(v)
            v = v - R[i, j] * q
        norm = np.linalg.norm(v)
        Q[:, j] = v / norm
        R[j, j] = norm
    return Q, R


def jacobi_eigen(A, tol=1e-9):
    A = A.copy()
    n = A.shape[0]
    V = np.eye(n)
    def max_elem(a):
        amax = 0.0
        k, l = 0, 1
        for i in range(n - 1):
            for j in range(i + 1, n):
                if abs(a[i, j]) >= amax:
                    amax = abs(a[i, j])
                    k = i
                    l = j
        return amax, k, l
    def rotate(a, p, k, l):
        a_diff = a[l, l] - a[k, k]
        if abs(a[k, l]) < abs(a_diff) * 1.0e-36:
            t = a[k, l] / a_diff
        else:
            phi = a_diff / (2.0 * a[k, l])
            t = 1.0 / (abs(phi) + math.sqrt(phi**2 + 1.0))
            if phi < 0.0:
                t = -t
        c = 1.0 / math.sqrt(t**2 + 1.0)
        s = t * c
        tau = s / (1.0 + c)
        temp = a[k, l]
        a[k, l] = 0.0
        a[k, k] = a[k, k] - t * temp
        a[l, l] = a[l, l] + t * temp
        for i in range(k):
            temp = a[i, k]
            a[i, k] = temp - s * (a[i, l] + tau * temp)
            a[i, l] = a[i, l] + s * (temp - tau * a[i, l])
        for i in range(k + 1, l):
            temp = a[k, i]
            a[k, i] = temp - s * (a[i, l] + tau * a[k, i])
            a[i, l] = a[i, l] + s * (temp - tau * a[i, l])
        for i in range(l + 1, n):
            temp = a[k, i]
            a[k, i] = temp - s * (a[l, i] + tau * temp)
            a[l, i] = a[l, i] + s * (temp - tau * a[l, i])
        for i in range(n):
            temp = p[i, k]
            p[i, k] = temp - s * (p[i, l] + tau * p[i, k])
            p[i, l] = p[i, l] + s * (temp - tau * p[i, l])
    max_rot = 5 * n**2
    for _ in range(max_rot):
        amax, k, l = max_elem(A)
        if amax < tol:
            return np.diagonal(A), V
        rotate(A, V, k, l)
    raise RuntimeError("Jacobi method did not converge")


def rk45(y0, t0, t1, tol):
    def f(t, y):
        return np.array([1.1 * y[0] - 0.4 * y[0] * y[1], 0.1 * y[0] * y[1] - 0.4 * y[1]])
    t = t0
    y = y0
    h = 0.1
    ts = [t]
    ys = [y]
    while t < t1:
        if t + h > t1:
            h = t1 - t
        k1 = f(t, y)
        k2 = f(t + h/5, y + h*k1/5)
        k3 = f(t + 3*h/10, y + h*(3*k1/40 + 9*k2/40))
        k4 = f(t + 4*h/5, y + h*(44*k1/45 - 56*k2/15 + 32*k3/9))
        k5 = f(t + 8*h/9, y + h*(19372*k1/6561 - 25360*k2/2187 + 64448*k3/6561 - 212*k4/729))
        k6 = f(t + h, y + h*(9017*k1/3168 - 355*k2/33 + 46732*k3/5247 + 49*k4/176 - 5103*k5/18656))
        y5 = y + h*(35*k1/384 + 500*k3/1113 + 125*k4/192 - 2187*k5/6784 + 11*k6/84)
        k7 = f(t + h, y5)
        err = h * np.linalg.norm(71*k1/57600 - 71*k3/16695 + 71*k4/1920 - 17253*k5/339200 + 22*k6/525 - k7/40)
        if err <= tol:
            t += h
            y = y5
            ts.append(t)
            ys.append(y)
        h *= min(5.0, max(0.2, 0.9 * (tol / max(err, 1e-300)) ** 0.2))
    return np.array(ts), np.array(ys)


def ising(spin, beta, sites, u):
    N = spin.shape[0]
    spin = spin.copy()
    energies = []
    M = 0
    for t in range(len(u)):
        i, j = sites[t]
        s = spin[i, j]
        nb = spin[(i+1) % N, j] + spin[i, (j+1) % N] + spin[(i-1) % N, j] + spin[i, (j-1) % N]
        cost = 2 * s * nb
        if cost < 0:
            s *= -1
        elif u[t] < np.exp(-cost * beta):
            s *= -1
        spin[i, j] = s
        M = np.sum(spin)
        energies.append(M)
    return spin, np.array(energies)


def needleman_wunsch(x, y, match, mismatch, gap):
    nx = len(x)
    ny = len(y)
    F = np.zeros((nx + 1, ny + 1))
    F[:, 0] = np.linspace(0, -nx * gap, nx + 1)
    F[0, :] = np.linspace(0, -ny * gap, ny + 1)
    P = np.zeros((nx + 1, ny + 1))
    P[:, 0] = 3
    P[0, :] = 4
    t = np.zeros(3)
    for i in range(nx):
        for j in range(ny):
            if x[i] == y[j]:
                t[0] = F[i, j] + match
            else:
                t[0] = F[i, j] - mismatch
            t[1] = F[i, j+1] - gap
            t[2] = F[i+1, j] - gap
            tmax = np.max(t)
            F[i+1, j+1] = tmax
            if t[0] == tmax:
                P[i+1, j+1] += 2
            if t[1] == tmax:
                P[i+1, j+1] += 3
            if t[2] == tmax:
                P[i+1, j+1] += 4
    i = nx
    j = ny
    rx = []
    ry = []
    while i > 0 or j > 0:
        if P[i, j] in [2, 5, 6, 9]:
            rx.append(x[i-1])
            ry.append(y[j-1])
            i -= 1
            j -= 1
        elif P[i, j] in [3, 5, 7, 9]:
            rx.append(x[i-1])
            ry.append(-1)
            i -= 1
        elif P[i, j] in [4, 6, 7, 9]:
            rx.append(-1)
            ry.append(y[j-1])
            j -= 1
    return rx[::-1], ry[::-1], F


def median_filter(data, filter_size):
    temp = []
    indexer = filter_size // 2
    data_final = np.zeros((len(data), len(data[0])))
    for i in range(len(data)):
        for j in range(len(data[0])):
            for z in range(filter_size):
                if i + z - indexer < 0 or i + z - indexer > len(data) - 1:
                    for _ in range(filter_size):
                        temp.append(0)
                else:
                    if j + z - indexer < 0 or j + indexer > len(data[0]) - 1:
                        temp.append(0)
                    else:
                        for k in range(filter_size):
                            temp.append(data[i + z - indexer][j + k - indexer])
            temp.sort()
            data_final[i][j] = temp[len(temp) // 2]
            temp = []
    return data_final


def n_queens(n):
    cols = np.zeros(n, dtype=int)
    count = 0
    row = 0
    cols[0] = -1
    while row >= 0:
        cols[row] += 1
        while cols[row] < n:
            ok = True
            for r in range(row):
                if cols[r] == cols[row] or abs(cols[r] - cols[row]) == row - r:
                    ok = False
                    break
            if ok:
                break
            cols[row] += 1
        if cols[row] < n:
            if row == n - 1:
                count += 1
            else:
                row += 1
                cols[row] = -1
        else:
            row -= 1
    return count


class UnionFind:
    def __init__(self, n):
        self.parent = np.arange(n)
        self.rank = np.zeros(n, dtype=int)
        self.count = n
    def find(self, x):
        while self.parent[x] != x:
            self.parent[x] = self.parent[self.parent[x]]
            x = self.parent[x]
        return x
    def union(self, a, b):
        a = self.find(a)
        b = self.find(b)
        if a == b:
            return False
        if self.rank[a] < self.rank[b]:
            a, b = b, a
        self.parent[b] = a
        if self.rank[a] == self.rank[b]:
            self.rank[a] += 1
        self.count -= 1
        return True


def components(n, edges):
    uf = UnionFind(n)
    for a, b in edges:
        uf.union(a, b)
    return uf.count, uf.parent


def ray_sphere(width, height, center, radius, light):
    def normalize(v):
        return v / np.linalg.norm(v)
    def intersect(O, D, S, R):
        a = np.dot(D, D)
        OS = O - S
        b = 2 * np.dot(D, OS)
        c = np.dot(OS, OS) - R * R
        disc = b * b - 4 * a * c
        if disc > 0:
            distSqrt = np.sqrt(disc)
            q = (-b - distSqrt) / 2.0 if b < 0 else (-b + distSqrt) / 2.0
            t0 = q / a
            t1 = c / q
            t0, t1 = min(t0, t1), max(t0, t1)
            if t1 >= 0:
                return t1 if t0 < 0 else t0
        return np.inf
    O = np.array([0., 0.35, 1.])
    img = np.zeros((height, width, 3))
    color = np.array([0., 0., 1.])
    for i, x in enumerate(np.linspace(-1, 1, width)):
        for j, y in enumerate(np.linspace(-.75, .75, height)):
            D = normalize(np.array([x, y, 0.]) - O)
            t = intersect(O, D, center, radius)
            if t == np.inf:
                continue
            M = O + D * t
            N = normalize(M - center)
            toL = normalize(light - M)
            toO = normalize(O - M)
            col = 0.05 + max(np.dot(N, toL), 0) * color
            col += max(np.dot(N, normalize(toL + toO)), 0) ** 50
            img[height - j - 1, i, :] = np.clip(col, 0, 1)
    return img


def knapsack(weights, values, capacity):
    n = len(weights)
    dp = [[0 for _ in range(capacity + 1)] for _ in range(n + 1)]
    for i in range(1, n + 1):
        for w in range(capacity + 1):
            if weights[i - 1] <= w:
                dp[i][w] = max(dp[i - 1][w], dp[i - 1][w - weights[i - 1]] + values[i - 1])
            else:
                dp[i][w] = dp[i - 1][w]
    chosen = []
    w = capacity
    for i in range(n, 0, -1):
        if dp[i][w] != dp[i - 1][w]:
            chosen.append(i - 1)
            w -= weights[i - 1]
    return dp[n][capacity], chosen


def flood_fill(grid, r, c):
    rows, cols = grid.shape
    label = np.zeros((rows, cols), dtype=int)
    current = 0
    for i in range(rows):
        for j in range(cols):
            if grid[i, j] and label[i, j] == 0:
                current += 1
                stack = [(i, j)]
                while stack:
                    x, y = stack.pop()
                    if x < 0 or x >= rows or y < 0 or y >= cols:
                        continue
                    if not grid[x, y] or label[x, y] != 0:
                        continue
                    label[x, y] = current
                    stack.append((x + 1, y))
                    stack.append((x - 1, y))
                    stack.append((x, y + 1))
                    stack.append((x, y - 1))
    return label, current


def pareto_front(x, y):
    order = np.argsort(x)
    best = None
    front = []
    for i in order:
        if best is None or y[i] < best:
            best = y[i]
            front.append(i)
    return front


def run_lengths(x, t):
    runs = []
    start = None
    for i in range(len(x)):
        if x[i] > t:
            if start is None:
                start = i
        elif start is not None:
            runs.append((start, i))
            start = None
    if start is not None:
        runs.append((start, len(x)))
    return runs


def path_to_root(parent, start, goal):
    if parent[goal] < 0:
        return []
    path = [goal]
    while path[-1] != start:
        path.append(parent[path[-1]])
    path.reverse()
    return path


def bfs_levels(adj, source):
    n = adj.shape[0]
    dist = [-1] * n
    dist[source] = 0
    frontier, nxt = [source], []
    level = 0
    while frontier:
        level += 1
        for u in frontier:
            for v in np.nonzero(adj[u])[0]:
                if dist[v] < 0:
                    dist[v] = level
                    nxt.append(v)
        frontier, nxt = nxt, []
    return dist


def adaptive_simpson(a, b, tol):
    def f(x):
        return math.exp(-x * x)
    total = 0.0
    stack = [(a, b, tol)]
    while stack:
        lo, hi, eps = stack.pop()
        mid = (lo + hi) / 2
        whole = (hi - lo) / 6 * (f(lo) + 4 * f(mid) + f(hi))
        left = (mid - lo) / 6 * (f(lo) + 4 * f((lo + mid) / 2) + f(mid))
        right = (hi - mid) / 6 * (f(mid) + 4 * f((mid + hi) / 2) + f(hi))
        if abs(left + right - whole) < 15 * eps:
            total += left + right + (left + right - whole) / 15
        else:
            stack.append((lo, mid, eps / 2))
            stack.append((mid, hi, eps / 2))
    return total


def bellman_ford(src, dst, weight, n, source):
    dist = [float('inf')] * n
    pred = [None] * n
    dist[source] = 0
    for _ in range(n - 1):
        changed = False
        for u, v, w in zip(src, dst, weight, strict=True):
            if dist[u] + w < dist[v]:
                dist[v] = dist[u] + w
                pred[v] = u
                changed = True
        if not changed:
            break
    for u, v, w in zip(src, dst, weight, strict=True):
        if dist[u] + w < dist[v]:
            raise ValueError("negative cycle")
    return dist


RNG = np.random.default_rng(7)


def symmetric(n: int) -> np.ndarray:
    a = RNG.standard_normal((n, n))
    return a + a.T


def spins(n: int) -> np.ndarray:
    return np.where(RNG.random((n, n)) < 0.5, 1, -1)


def ints(high: int, *shape: int) -> np.ndarray:
    return RNG.integers(0, high, shape).astype(np.int64)


PREDATORS = np.array([10.0, 5.0])
ABOVE = np.array([0, 0, 1, 1, 2, -1])

PROGRAMS: list[tuple[Callable[..., Any], list[tuple[Any, ...]], float]] = [
    (gram_schmidt, [(RNG.standard_normal((n, n - 1)),) for n in (2, 9)], 2**20),
    (jacobi_eigen, [(symmetric(n),) for n in (2, 5)], 2**32),
    (rk45, [(PREDATORS, 0.0, 1.0, 1e-6), (PREDATORS, 0.0, 0.0, 1e-6), (PREDATORS, 0.0, 9.0, 1e-8)], 2**26),
    (ising, [(spins(4), 0.4, ints(4, n, 2), RNG.random(n)) for n in (30, 1)], 0),
    (needleman_wunsch, [(ints(4, n), ints(4, m), 1, 1, 1) for n, m in ((6, 5), (1, 3), (30, 41))], 0),
    (median_filter, [(RNG.random((n, n + 1)), 3) for n in (6, 2)], 0),
    (n_queens, [(n,) for n in (1, 4, 6)], 0),
    (components, [(n, ints(n, m, 2)) for n, m in ((6, 4), (50, 40), (3, 0))], 0),
    (ray_sphere, [(8, 6, np.array([0.0, 0.0, -1.0]), 0.7, np.array([5.0, 5.0, -5.0]))], 2**14),
    (knapsack, [(1 + ints(9, n), RNG.random(n), c) for n, c in ((5, 20), (1, 3), (12, 40))], 0),
    (flood_fill, [(RNG.random((n, n + 2)) < 0.6, 0, 0) for n in (1, 5, 12)], 0),
    (pareto_front, [(RNG.random(n), RNG.random(n)) for n in (1, 5, 60, 0)], 0),
    (run_lengths, [(RNG.standard_normal(n), 0.5) for n in (10, 1, 0, 80)], 0),
    (path_to_root, [(ABOVE, 0, goal) for goal in (4, 0, 5)], 0),
    (bellman_ford, [(ints(n, m), ints(n, m), RNG.random(m), n, 0) for n, m in ((1, 0), (5, 9), (40, 200))], 0),
    (bfs_levels, [(RNG.random((n, n)) < 0.3, 0) for n in (1, 6, 30)], 0),
    (adaptive_simpson, [(0.0, 1.0, 1e-6), (0.0, 3.0, 1e-9)], 2**10),
]


@pytest.mark.parametrize(("program", "calls", "ulp"), PROGRAMS, ids=lambda v: getattr(v, "__name__", ""))
def test_numpys_answer(program: Callable[..., Any], calls: list[tuple[Any, ...]], ulp: float) -> None:
    """Small and large inputs, one after the other; sums of many numbers are rounded in another order."""
    compiled = pytocu.jit(program)
    for arguments in calls:
        given, changed = copy.deepcopy(arguments), copy.deepcopy(arguments)
        with np.errstate(all="ignore"):
            expected = program(*changed)
        compare(compiled(*given), expected, exact=not ulp, ulp=ulp)
        compare([a for a in given if isinstance(a, np.ndarray)], [a for a in changed if isinstance(a, np.ndarray)])
