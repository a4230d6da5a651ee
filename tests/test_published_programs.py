"""Programs of the sort that people publish, with nothing changed for the compiler, compared with NumPy."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.testing.compare import compare


def thomas(a, b, c, d):
    """A tridiagonal system."""
    n = len(d)
    cp = np.zeros(n)
    dp = np.zeros(n)
    cp[0] = c[0] / b[0]
    dp[0] = d[0] / b[0]
    for i in range(1, n):
        m = b[i] - a[i] * cp[i-1]
        cp[i] = c[i] / m
        dp[i] = (d[i] - a[i] * dp[i-1]) / m
    x = np.zeros(n)
    x[-1] = dp[-1]
    for i in range(n - 2, -1, -1):
        x[i] = dp[i] - cp[i] * x[i+1]
    return x


def adi(u, r, steps):
    """Diffusion, implicit along one axis after the other."""
    n = u.shape[0]
    u = u.copy()
    for _ in range(steps):
        # implicit in x
        p = np.zeros_like(u)
        q = np.zeros_like(u)
        q[0] = u[0]
        for i in range(1, n - 1):
            p[i, 1:-1] = r / (1 + 2*r - r * p[i-1, 1:-1])
            rhs = u[i, 1:-1] + r * (u[i, 2:] - 2*u[i, 1:-1] + u[i, :-2])
            q[i, 1:-1] = (rhs + r * q[i-1, 1:-1]) / (1 + 2*r - r * p[i-1, 1:-1])
        v = u.copy()
        for i in range(n - 2, 0, -1):
            v[i, 1:-1] = p[i, 1:-1] * v[i+1, 1:-1] + q[i, 1:-1]
        # implicit in y
        p[:] = 0
        q[:] = 0
        q[:, 0] = v[:, 0]
        for j in range(1, n - 1):
            p[1:-1, j] = r / (1 + 2*r - r * p[1:-1, j-1])
            rhs = v[1:-1, j] + r * (v[2:, j] - 2*v[1:-1, j] + v[:-2, j])
            q[1:-1, j] = (rhs + r * q[1:-1, j-1]) / (1 + 2*r - r * p[1:-1, j-1])
        u = v.copy()
        for j in range(n - 2, 0, -1):
            u[1:-1, j] = p[1:-1, j] * u[1:-1, j+1] + q[1:-1, j]
    return u


def gray_scott(U, V, Du, Dv, F, k, n):
    """Reaction and diffusion."""
    u, v = U[1:-1, 1:-1], V[1:-1, 1:-1]
    for _ in range(n):
        Lu = U[0:-2, 1:-1] + U[1:-1, 0:-2] - 4*U[1:-1, 1:-1] + U[1:-1, 2:] + U[2:, 1:-1]
        Lv = V[0:-2, 1:-1] + V[1:-1, 0:-2] - 4*V[1:-1, 1:-1] + V[1:-1, 2:] + V[2:, 1:-1]
        uvv = u*v*v
        u += (Du*Lu - uvv + F*(1-u))
        v += (Dv*Lv + uvv - (F+k)*v)
    return V


def jacobi_until(p, b, dx, dy, tol):
    """Poisson's equation until it changes little."""
    pn = np.empty_like(p)
    l1norm = 1.0
    it = 0
    while l1norm > tol and it < 50:
        pn = p.copy()
        p[1:-1, 1:-1] = ((dy**2 * (pn[1:-1, 2:] + pn[1:-1, :-2]) + dx**2 * (pn[2:, 1:-1] + pn[:-2, 1:-1])
                          - b[1:-1, 1:-1] * dx**2 * dy**2) / (2 * (dx**2 + dy**2)))
        p[0, :] = 0
        p[-1, :] = 0
        p[:, 0] = 0
        p[:, -1] = p[:, -2]
        l1norm = np.sum(np.abs(p - pn)) / np.sum(np.abs(pn) + 1e-3)
        it += 1
    return p, it


def red_black(u, f, h, n):
    """Gauss-Seidel in two colours, by slices."""
    g = h * h * f
    for _ in range(n):
        u[1:-1:2, 1:-1:2] = (u[2::2, 1:-1:2] + u[:-2:2, 1:-1:2] + u[1:-1:2, 2::2] + u[1:-1:2, :-2:2] - g[1:-1:2, 1:-1:2]) / 4
        u[2:-1:2, 2:-1:2] = (u[3::2, 2:-1:2] + u[1:-2:2, 2:-1:2] + u[2:-1:2, 3::2] + u[2:-1:2, 1:-2:2] - g[2:-1:2, 2:-1:2]) / 4
        u[1:-1:2, 2:-1:2] = (u[2::2, 2:-1:2] + u[:-2:2, 2:-1:2] + u[1:-1:2, 3::2] + u[1:-1:2, 1:-2:2] - g[1:-1:2, 2:-1:2]) / 4
        u[2:-1:2, 1:-1:2] = (u[3::2, 1:-1:2] + u[1:-2:2, 1:-1:2] + u[2:-1:2, 2::2] + u[2:-1:2, :-2:2] - g[2:-1:2, 1:-1:2]) / 4
    return u


def gauss_seidel_masks(u, f, w, n):
    """Over-relaxation in two colours, by masks."""
    i, j = np.indices(u.shape)
    red = (i + j) % 2 == 0
    red[0] = red[-1] = red[:, 0] = red[:, -1] = False
    black = (i + j) % 2 == 1
    black[0] = black[-1] = black[:, 0] = black[:, -1] = False
    for _ in range(n):
        for mask in (red, black):
            s = np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1)
            u[mask] += w * (0.25 * (s[mask] - f[mask]) - u[mask])
    return u


def sandpile(z):
    """Piles of four fall to their neighbours, until none is left."""
    while True:
        t = z >= 4
        if not t.any():
            break
        z[t] -= 4
        z[1:, :] += t[:-1, :]
        z[:-1, :] += t[1:, :]
        z[:, 1:] += t[:, :-1]
        z[:, :-1] += t[:, 1:]
    return z


def leapfrog(pos, vel, mass, dt, n, G, softening):
    """Bodies that attract one another."""
    def acc(pos):
        x = pos[:, 0:1]
        y = pos[:, 1:2]
        z = pos[:, 2:3]
        dx = x.T - x
        dy = y.T - y
        dz = z.T - z
        inv_r3 = (dx**2 + dy**2 + dz**2 + softening**2)
        inv_r3[inv_r3 > 0] = inv_r3[inv_r3 > 0] ** (-1.5)
        ax = G * (dx * inv_r3) @ mass
        ay = G * (dy * inv_r3) @ mass
        az = G * (dz * inv_r3) @ mass
        return np.hstack((ax, ay, az))
    a = acc(pos)
    t = 0.0
    for _ in range(n):
        vel += a * dt / 2.0
        pos += vel * dt
        a = acc(pos)
        vel += a * dt / 2.0
        t += dt
    return pos, vel, t


def game_of_life(Z, n):
    """Cells that live and die."""
    for _ in range(n):
        N = (Z[0:-2, 0:-2] + Z[0:-2, 1:-1] + Z[0:-2, 2:] + Z[1:-1, 0:-2] + Z[1:-1, 2:] + Z[2:, 0:-2] + Z[2:, 1:-1] + Z[2:, 2:])
        birth = (N == 3) & (Z[1:-1, 1:-1] == 0)
        survive = ((N == 2) | (N == 3)) & (Z[1:-1, 1:-1] == 1)
        Z[...] = 0
        Z[1:-1, 1:-1][birth | survive] = 1
    return Z


def smith_waterman(a, b, match, mismatch, gap):
    """Local alignment."""
    n, m = len(a), len(b)
    H = np.zeros((n + 1, m + 1))
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            s = match if a[i-1] == b[j-1] else mismatch
            H[i, j] = max(0, H[i-1, j-1] + s, H[i-1, j] - gap, H[i, j-1] - gap)
    return H.max(), H


def viterbi(obs, pi, A, B):
    """The most likely states."""
    T = len(obs)
    N = len(pi)
    delta = np.zeros((T, N))
    psi = np.zeros((T, N), dtype=int)
    delta[0] = np.log(pi) + np.log(B[:, obs[0]])
    for t in range(1, T):
        scores = delta[t-1][:, None] + np.log(A)
        psi[t] = scores.argmax(axis=0)
        delta[t] = scores.max(axis=0) + np.log(B[:, obs[t]])
    path = np.zeros(T, dtype=int)
    path[-1] = delta[-1].argmax()
    for t in range(T - 2, -1, -1):
        path[t] = psi[t + 1, path[t + 1]]
    return path, delta


def kalman(z, q, r):
    """A random constant, filtered."""
    n = len(z)
    xhat = np.zeros(n)
    P = np.zeros(n)
    xhat[0] = 0.0
    P[0] = 1.0
    for k in range(1, n):
        xm = xhat[k-1]
        Pm = P[k-1] + q
        K = Pm / (Pm + r)
        xhat[k] = xm + K * (z[k] - xm)
        P[k] = (1 - K) * Pm
    return xhat, P


def kalman_matrix(zs, F, H, Q, R, x, P):
    """A filter with matrices."""
    out = np.zeros((len(zs), x.shape[0]))
    for k in range(len(zs)):
        x = F @ x
        P = F @ P @ F.T + Q
        y = zs[k] - H @ x
        S = H @ P @ H.T + R
        K = P @ H.T @ np.linalg.inv(S)
        x = x + K @ y
        P = P - K @ H @ P
        out[k] = x
    return out


def pagerank(A, d, tol):
    """By power iteration on a dense matrix."""
    n = A.shape[0]
    M = A / A.sum(axis=0)
    r = np.ones(n) / n
    delta = 1.0
    while delta > tol:
        new = d * (M @ r) + (1 - d) / n
        delta = np.abs(new - r).sum()
        r = new
    return r


def logistic(X, y, lr, n):
    """Regression by gradient descent."""
    w = np.zeros(X.shape[1])
    b = 0.0
    for _ in range(n):
        z = X @ w + b
        p = 1 / (1 + np.exp(-z))
        gw = X.T @ (p - y) / len(y)
        gb = np.mean(p - y)
        w -= lr * gw
        b -= lr * gb
    return w, b


def convolve(img, kernel):
    """By shifts."""
    kh, kw = kernel.shape
    ph, pw = kh // 2, kw // 2
    padded = np.pad(img, ((ph, ph), (pw, pw)))
    out = np.zeros_like(img)
    for i in range(kh):
        for j in range(kw):
            out += padded[i:i + img.shape[0], j:j + img.shape[1]] * kernel[i, j]
    return out


def floyd_warshall_inplace(d):
    """Shortest paths."""
    for k in range(len(d)):
        np.minimum(d, d[:, k:k+1] + d[k:k+1, :], out=d)
    return d


def levenshtein(a, b):
    """Edits between two words, row by row."""
    m, n = len(a), len(b)
    prev = np.arange(n + 1)
    for i in range(1, m + 1):
        curr = np.empty(n + 1, dtype=prev.dtype)
        curr[0] = i
        for j in range(1, n + 1):
            cost = 0 if a[i-1] == b[j-1] else 1
            curr[j] = min(prev[j] + 1, curr[j-1] + 1, prev[j-1] + cost)
        prev = curr
    return prev[n]


def newton_fractal(re, im, n):
    """Which root each point comes to."""
    z = re + 1j * im[:, None]
    roots = np.array([1, -0.5 + 0.866j, -0.5 - 0.866j])
    for _ in range(n):
        z = z - (z**3 - 1) / (3 * z**2)
    return np.argmin(np.abs(z[..., None] - roots), axis=-1)


def median3(img):
    """The median of neighbours."""
    stack = np.stack([img[i:img.shape[0] - 2 + i, j:img.shape[1] - 2 + j] for i in range(3) for j in range(3)])
    return np.sort(stack, axis=0)[4]


def rk4(y0, t):
    """A pendulum."""
    def f(y, t):
        return np.array([y[1], -np.sin(y[0]) - 0.25 * y[1]])
    y = np.zeros((len(t), 2))
    y[0] = y0
    for i in range(len(t) - 1):
        h = t[i+1] - t[i]
        k1 = f(y[i], t[i])
        k2 = f(y[i] + h/2 * k1, t[i] + h/2)
        k3 = f(y[i] + h/2 * k2, t[i] + h/2)
        k4 = f(y[i] + h * k3, t[i] + h)
        y[i+1] = y[i] + h/6 * (k1 + 2*k2 + 2*k3 + k4)
    return y


def burgers(u, nu, dt, dx, nt):
    """With a periodic boundary."""
    for _ in range(nt):
        un = u.copy()
        u[1:-1] = un[1:-1] - un[1:-1] * dt/dx * (un[1:-1] - un[:-2]) + nu * dt/dx**2 * (un[2:] - 2*un[1:-1] + un[:-2])
        u[0] = un[0] - un[0] * dt/dx * (un[0] - un[-2]) + nu * dt/dx**2 * (un[1] - 2*un[0] + un[-2])
        u[-1] = u[0]
    return u


def windows(x, k):
    """The largest of each tile, then sums over windows of these, weighted."""
    tiles = np.ndarray((x.shape[0] // 2, x.shape[1] // 2, x.shape[2]), dtype=x.dtype)
    for i in range(tiles.shape[0]):
        for j in range(tiles.shape[1]):
            tiles[i, j] = np.max(x[2*i:2*i+2, 2*j:2*j+2], axis=(0, 1))
    m = k.shape[0]
    out = np.ndarray((tiles.shape[0] - m + 1, tiles.shape[1] - m + 1, k.shape[3]))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = np.sum(tiles[i:i+m, j:j+m, :, np.newaxis] * k, axis=(0, 1, 2))
    return out


def stabilised(A, b, x, tol):
    """Biconjugate gradients, stabilised."""
    r = b - A @ x
    shadow = r.copy()
    rho = alpha = omega = 1.0
    p = v = np.zeros_like(b)
    for _ in range(2 * len(b)):
        before, rho = rho, shadow @ r
        p = r + (rho / before) * (alpha / omega) * (p - omega * v)
        v = A @ p
        alpha = rho / (shadow @ v)
        s = r - alpha * v
        if np.linalg.norm(s) < tol:
            x = x + alpha * p
            break
        t = A @ s
        omega = (t @ s) / (t @ t)
        x = x + alpha * p + omega * s
        r = s - omega * t
    return x


def checksum(data, polynomial=0xEDB88320):
    """A cyclic redundancy check, bit by bit."""
    value = 0xFFFFFFFF
    for byte in data:
        bits = 0xFF & byte
        for _ in range(8):
            if (value ^ bits) & 1:
                value = (value >> 1) ^ polynomial
            else:
                value >>= 1
            bits >>= 1
    return (value << 3) & 0xFFFFFFFF, ~value & 0xFFFF


def convex_hull(points):
    """Andrew's monotone chain, on a stack of indices."""
    n = len(points)
    order = np.lexsort((points[:, 1], points[:, 0]))
    p = points[order]
    H = np.zeros(2 * n, dtype=int)
    k = 0
    for i in range(n):
        while k >= 2 and (p[H[k-1], 0] - p[H[k-2], 0]) * (p[i, 1] - p[H[k-2], 1]) - \
                (p[H[k-1], 1] - p[H[k-2], 1]) * (p[i, 0] - p[H[k-2], 0]) <= 0:
            k -= 1
        H[k] = i
        k += 1
    t = k + 1
    for i in range(n - 2, -1, -1):
        while k >= t and (p[H[k-1], 0] - p[H[k-2], 0]) * (p[i, 1] - p[H[k-2], 1]) - \
                (p[H[k-1], 1] - p[H[k-2], 1]) * (p[i, 0] - p[H[k-2], 0]) <= 0:
            k -= 1
        H[k] = i
        k += 1
    return p[H[:k-1]]


def runge_kutta_fehlberg(y0, t1, tol):
    """Lotka and Volterra's equations, by steps that are taken when they are exact enough."""
    def f(t, y):
        return np.array([1.1 * y[0] - 0.4 * y[0] * y[1], 0.1 * y[0] * y[1] - 0.4 * y[1]])

    t, y, h = 0.0, y0, 0.1
    ts = [t]
    ys = [y]
    while t < t1:
        h = min(h, t1 - t)
        k1 = f(t, y)
        k2 = f(t + h/4, y + h*k1/4)
        k3 = f(t + 3*h/8, y + h*(3*k1 + 9*k2)/32)
        k4 = f(t + 12*h/13, y + h*(1932*k1 - 7200*k2 + 7296*k3)/2197)
        k5 = f(t + h, y + h*(439*k1/216 - 8*k2 + 3680*k3/513 - 845*k4/4104))
        y4 = y + h*(25*k1/216 + 1408*k3/2565 + 2197*k4/4104 - k5/5)
        k6 = f(t + h/2, y + h*(-8*k1/27 + 2*k2 - 3544*k3/2565 + 1859*k4/4104 - 11*k5/40))
        y5 = y + h*(16*k1/135 + 6656*k3/12825 + 28561*k4/56430 - 9*k5/50 + 2*k6/55)
        err = np.linalg.norm(y5 - y4)
        if err < tol:
            t += h
            y = y5
            ts.append(t)
            ys.append(y)
        h = 0.9 * h * (tol / (err + 1e-15))**0.2
    return np.array(ts), np.array(ys)


def gillespie(u, x0, tmax):
    """Predators and prey, one event after the other."""
    x = x0.copy()
    t = 0
    times = [t]
    traj = [x.copy()]
    k = 0
    while t < tmax and k + 1 < len(u):
        a = np.array([0.5*x[0], 0.01*x[0]*x[1], 0.3*x[1]])
        a0 = a.sum()
        if a0 == 0:
            break
        i = 0
        s = a[0]
        while s < u[k+1]*a0:
            i += 1
            s += a[i]
        if i == 0:
            x[0] += 1
        elif i == 1:
            x[0] -= 1
            x[1] += 1
        else:
            x[1] -= 1
        t += -np.log(u[k]) / a0
        times.append(t)
        traj.append(x.copy())
        k += 2
    return np.array(times), np.array(traj)


def kruskal(W):
    """A minimal spanning tree."""
    n = W.shape[0]
    edges = []
    for i in range(n):
        for j in range(i + 1, n):
            if W[i, j] > 0:
                edges.append((W[i, j], (i, j)))
    edges.sort()
    parent = list(range(n))

    def find(x):
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        return x

    total = 0.0
    tree = []
    for w, (u, v) in edges:
        ru, rv = find(u), find(v)
        if ru != rv:
            parent[ru] = rv
            total += w
            tree.append((u, v))
    return total, tree, edges


def seeds(X, k, u):
    """The first centers of k-means++."""
    centers = [X[int(u[0] * len(X))]]
    for i in range(1, k):
        d = np.min(np.array([np.sum((X - c)**2, axis=1) for c in centers]), axis=0)
        idx = np.searchsorted(np.cumsum(d / d.sum()), u[i])
        centers.append(X[idx])
    return np.array(centers)


def longstaff_schwartz(S, K, r, dt):
    """An American option by regression, from the last day to the first."""
    h = np.maximum(K - S, 0)
    V = np.copy(h)
    for t in range(len(S) - 2, 0, -1):
        x, y = S[t], V[t+1] * np.exp(-r * dt)
        X = np.stack([np.ones_like(x), x, x**2], axis=1)
        beta = np.linalg.solve(X.T @ X, X.T @ y)
        V[t] = np.where(h[t] > X @ beta, h[t], y)
    return np.exp(-r * dt) * V[1].mean()


RANDOM = np.random.default_rng(5)
IMAGE = RANDOM.random((9, 11)) * 255
WORDS = (RANDOM.integers(0, 4, 6), RANDOM.integers(0, 4, 8))
ADJACENT = (RANDOM.random((6, 6)) < 0.5) + 0.1
CHAIN = RANDOM.random((3, 3))
SEEN = RANDOM.random((3, 4))


def grids(count: int, *shape: int) -> tuple[np.ndarray, ...]:
    """Arrays of random numbers."""
    return tuple(RANDOM.random(shape) for _ in range(count))


PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...], float]] = [
    (thomas, (*grids(1, 9), 2 + RANDOM.random(9), *grids(2, 9)), 0),
    (adi, (*grids(1, 7, 8), 0.4, 2), 0),
    (gray_scott, (*grids(2, 9, 10), 0.16, 0.08, 0.035, 0.065, 4), 0),
    (jacobi_until, (*grids(2, 8, 9), 0.1, 0.2, 0.1), 4),
    (red_black, (*grids(2, 9, 9), 0.1, 3), 0),
    (gauss_seidel_masks, (*grids(2, 8, 9), 1.5, 3), 0),
    (sandpile, (RANDOM.integers(0, 8, (9, 7)),), 0),
    (leapfrog, (*grids(2, 6, 3), *grids(1, 6, 1), 0.01, 4, 1.0, 0.1), 64),
    (game_of_life, (RANDOM.integers(0, 2, (9, 10)), 4), 0),
    (smith_waterman, (*WORDS, 2.0, -1.0, 1.0), 0),
    (viterbi, (RANDOM.integers(0, 4, 7), np.array([0.5, 0.3, 0.2]), CHAIN, SEEN), 4),
    (kalman, (RANDOM.random(20), 1e-5, 0.01), 0),
    (kalman_matrix, (RANDOM.random((6, 1)), np.array([[1, 0.1], [0, 1]]), np.array([[1.0, 0]]), np.eye(2) * 0.01,
                     np.eye(1) * 0.1, np.zeros(2), np.eye(2)), 64),
    (pagerank, (ADJACENT, 0.85, 1e-6), 64),
    (logistic, (*grids(1, 12, 3), RANDOM.integers(0, 2, 12).astype(float), 0.1, 5), 64),
    (convolve, (IMAGE, *grids(1, 3, 3)), 0),
    (floyd_warshall_inplace, grids(1, 7, 7), 0),
    (levenshtein, WORDS, 0),
    (newton_fractal, (np.linspace(-1, 1, 7), np.linspace(-1, 1, 6), 5), 0),
    (median3, (IMAGE,), 0),
    (rk4, (np.array([0.1, 1.0]), np.linspace(0, 1, 6)), 64),
    (burgers, (*grids(1, 12), 0.07, 0.001, 0.1, 5), 0),
    (windows, (*grids(1, 9, 8, 2), RANDOM.random((2, 2, 2, 3))), 4),
    (stabilised, (RANDOM.random((5, 5)) + 9 * np.eye(5), *grids(2, 5), 1e-9), 4096),
    (checksum, (np.frombuffer(b"123456789", np.uint8).astype(np.int64),), 0),
    (convex_hull, grids(1, 20, 2), 0),
    (runge_kutta_fehlberg, (np.array([10.0, 5.0]), 1.0, 1e-5), 2**14),
    (gillespie, (RANDOM.random(30), np.array([100.0, 50.0]), 1.0), 4),
    (kruskal, (np.where(RANDOM.random((8, 8)) < 0.5, RANDOM.random((8, 8)), 0),), 0),
    (seeds, (RANDOM.random((20, 2)), 3, RANDOM.random(3)), 0),
    (longstaff_schwartz, (0.9 + 0.2 * RANDOM.random((5, 30)), 1.0, 0.05, 0.1), 2**20),
]  # fmt: skip


@pytest.mark.parametrize(("program", "arguments", "ulp"), PROGRAMS, ids=lambda v: getattr(v, "__name__", ""))
def test_numpys_answer(program: Callable[..., Any], arguments: tuple[Any, ...], ulp: float) -> None:
    """Results, and what becomes of the arguments; products and sums of many numbers are rounded in another order."""
    given, changed = copy.deepcopy(arguments), copy.deepcopy(arguments)
    with np.errstate(all="ignore"):
        expected = program(*changed)
    found = pytocu.jit(program)(*given)
    exact: dict[str, Any] = {"exact": not ulp, "ulp": ulp}
    compare(found, expected, **exact)
    compare([a for a in given if isinstance(a, np.ndarray)], [a for a in changed if isinstance(a, np.ndarray)], **exact)
