"""Functions whose reports the tests look at; the tests name lines by what stands on them."""

import numpy as np


def scaled(x, weight):
    return x * weight / np.sqrt((x * x).mean(axis=1, keepdims=True))


def standard(x, weight):
    y = scaled(x, weight)
    spread = (y - y.mean(axis=0)) / y.std(axis=0)
    return np.where(spread > 3, 3.0, spread), y


def relax(u):
    u[1:-1] = 0.5 * (u[2:] + u[:-2])
    u += 1
    return u


def heat(u, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


def damped(x, y):
    faded = np.exp(-x) * 2.5
    wave = np.cos(y)
    return np.where(faded > y, faded, wave)


def whole(x):
    return x[::-1]


def hostile(x):
    return np.where(x > 0, x, "</script><!--".count("<") * 1.0)
