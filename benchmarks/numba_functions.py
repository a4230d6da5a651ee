"""The workloads as loops for Numba: parallel over rows, constants in the arrays' own type.

Numba computes a Python float as float64, which would make every float32 expression a float64 one.
"""

from __future__ import annotations

import numpy as np
from numba import prange

F = np.float32


def five_operations(x, y, z, a):
    out, b = np.empty_like(x), F(2.5 * a)
    for i in prange(x.size):
        out[i] = b * x[i] + y[i] * z[i] - F(1)
    return out


def weak_scalars(mu, dt, delta):
    out, a = np.empty_like(delta), F(mu * dt)
    for i in prange(delta.size):
        out[i] = F(1) + a * delta[i]
    return out


def mask_out(points, mask):
    out = np.empty_like(points)
    for i in prange(points.shape[0]):
        for k in range(points.shape[1]):
            out[i, k] = F(np.inf) if mask[i] else points[i, k]
    return out


def black_scholes(price, strike, years):
    call, put = np.empty_like(price), np.empty_like(price)
    for i in prange(price.size):
        s, k, t = price[i], strike[i], years[i]
        spread = F(0.3) * np.sqrt(t)
        d1 = (np.log(s / k) + F(0.065) * t) / spread
        d2 = d1 - spread
        n1 = F(0.5) + F(0.5) * np.tanh(F(0.79788456) * (d1 + F(0.044715) * d1 * d1 * d1))
        n2 = F(0.5) + F(0.5) * np.tanh(F(0.79788456) * (d2 + F(0.044715) * d2 * d2 * d2))
        discounted = k * np.exp(F(-0.02) * t)
        c = s * n1 - discounted * n2
        call[i] = c
        put[i] = c - s + discounted
    return call, put


def haversine(lat1, lon1, lat2, lon2):
    out = np.empty_like(lat1)
    for i in prange(lat1.size):
        a = np.sin((lat2[i] - lat1[i]) * F(0.5))
        b = np.sin((lon2[i] - lon1[i]) * F(0.5))
        out[i] = F(12742.0) * np.arcsin(np.sqrt(a * a + np.cos(lat1[i]) * np.cos(lat2[i]) * b * b))
    return out


def outer(x, y):
    out = np.empty((x.size, y.size), x.dtype)
    for i in prange(x.size):
        for j in range(y.size):
            d = x[i] - y[j]
            out[i, j] = np.exp(-(d * d)) + x[i] * y[j]
    return out


def scaled_sum(a, x, y):
    out = np.empty_like(x)
    for i in prange(x.size):
        out[i] = a * x[i] + y[i]
    return out


def polynomial(x):
    out = np.empty_like(x)
    for i in prange(x.size):
        v = x[i]
        out[i] = (((((((0.1 * v - 0.2) * v + 0.3) * v - 0.4) * v + 0.5) * v - 0.6) * v + 0.7) * v - 0.8) * v + 0.9
    return out


def normalise_vectors(v):
    out = np.empty_like(v)
    for i in prange(v.shape[0]):
        length = np.sqrt(v[i, 0] * v[i, 0] + v[i, 1] * v[i, 1] + v[i, 2] * v[i, 2])
        for k in range(3):
            out[i, k] = v[i, k] / length
    return out


def complex_multiply_add(x, y, z):
    out = np.empty_like(x)
    for i in prange(x.size):
        out[i] = x[i] * y[i] + z[i]
    return out


def power_spectrum(z):
    out = np.empty(z.size, np.float32)
    for i in prange(z.size):
        out[i] = z[i].real * z[i].real + z[i].imag * z[i].imag
    return out


def quantise(x, scale):
    out, s = np.empty(x.size, np.int8), F(scale)
    for i in prange(x.size):
        out[i] = np.int8(min(max(np.rint(x[i] / s), F(-128)), F(127)))
    return out


def dequantise(q, zero, scale):
    out, z, s = np.empty(q.size, np.float32), F(zero), F(scale)
    for i in prange(q.size):
        out[i] = (F(q[i]) - z) * s
    return out


def gray(image):
    out = np.empty(image.shape[:2], np.uint8)
    for i in prange(image.shape[0]):
        for j in range(image.shape[1]):
            red, green, blue = F(image[i, j, 0]), F(image[i, j, 1]), F(image[i, j, 2])
            out[i, j] = np.uint8(red * F(0.299) + green * F(0.587) + blue * F(0.114) + F(0.5))
    return out


def add_transposed(x, y):
    n, m = y.shape
    out = np.empty_like(y)
    for tile in prange((n + 31) // 32):
        for left in range(0, m, 32):
            for i in range(tile * 32, min(tile * 32 + 32, n)):
                for j in range(left, min(left + 32, m)):
                    out[i, j] = x[j, i] + y[i, j]
    return out


def gather(table, index):
    out = np.empty(index.size, table.dtype)
    for i in prange(index.size):
        out[i] = table[index[i]]
    return out


def choose(x, mask):
    size = (x.size + 63) // 64
    starts = np.zeros(65, np.int64)
    for part in prange(64):
        count = 0
        for i in range(part * size, min((part + 1) * size, x.size)):
            count += mask[i]
        starts[part + 1] = count
    for part in range(64):
        starts[part + 1] += starts[part]
    out = np.empty(starts[64], x.dtype)
    for part in prange(64):
        place = starts[part]
        for i in range(part * size, min((part + 1) * size, x.size)):
            if mask[i]:
                out[place] = x[i]
                place += 1
    return out


def heat_step(u):
    n, m = u.shape
    out = np.empty((n - 2, m - 2), u.dtype)
    for i in prange(1, n - 1):
        for j in range(1, m - 1):
            sides = u[i + 1, j] + u[i - 1, j] + u[i, j + 1] + u[i, j - 1]
            out[i - 1, j - 1] = u[i, j] + F(0.1) * (sides - F(4) * u[i, j])
    return out


def heat_steps(u):
    n, m = u.shape
    old, new = u.copy(), u.copy()
    for _ in range(10):
        for i in prange(1, n - 1):
            for j in range(1, m - 1):
                sides = old[i + 1, j] + old[i - 1, j] + old[i, j + 1] + old[i, j - 1]
                new[i, j] = old[i, j] + F(0.1) * (sides - F(4) * old[i, j])
        old, new = new, old
    return old


def time_loop(u, steps):
    n, m = u.shape
    old, new = u.copy(), u.copy()
    for _ in range(steps):
        for i in prange(1, n - 1):
            for j in range(1, m - 1):
                sides = old[i + 1, j] + old[i - 1, j] + old[i, j + 1] + old[i, j - 1]
                new[i, j] = old[i, j] + F(0.1) * (sides - F(4) * old[i, j])
        old, new = new, old
    return old


def heat_step_3d(u):
    n, m, k = u.shape
    out = np.empty((n - 2, m - 2, k - 2), u.dtype)
    for a in prange(1, n - 1):
        for b in range(1, m - 1):
            for c in range(1, k - 1):
                sides = u[a + 1, b, c] + u[a - 1, b, c] + u[a, b + 1, c] + u[a, b - 1, c] + u[a, b, c + 1] + u[a, b, c - 1]
                out[a - 1, b - 1, c - 1] = u[a, b, c] + F(0.1) * (sides - F(6) * u[a, b, c])
    return out


def moving_average(x):
    out = np.empty(x.size - 4, x.dtype)
    for i in prange(x.size - 4):
        out[i] = (x[i] + x[i + 1] + x[i + 2] + x[i + 3] + x[i + 4]) / F(5)
    return out


def shaded_relief(elevation):
    u = elevation
    n, m = u.shape
    out = np.empty((n - 2, m - 2), u.dtype)
    for i in prange(1, n - 1):
        for j in range(1, m - 1):
            east, north = (u[i, j + 1] - u[i, j - 1]) / F(60), (u[i - 1, j] - u[i + 1, j]) / F(60)
            slope = np.arctan(np.sqrt(east * east + north * north))
            downhill = np.arctan2(-east, -north)
            out[i - 1, j - 1] = F(0.7071) * np.cos(slope) + F(0.7071) * np.sin(slope) * np.cos(F(5.4978) - downhill)
    return out


def sum_of_squares(x, y):
    total = 0.0
    for part in prange(256):
        low, high = part * x.size // 256, (part + 1) * x.size // 256
        s = F(0)
        for i in range(low, high):
            d = x[i] - y[i]
            s += d * d
        total += s
    return F(total)


def row_norm(x):
    n, m = x.shape
    # Long rows are cut, so that a few of them keep all CPUs busy.
    cuts = 1 if n >= 64 else 32
    parts = np.empty(n * cuts, x.dtype)
    for k in prange(n * cuts):
        row, cut = k // cuts, k % cuts
        s = F(0)
        for j in range(cut * m // cuts, (cut + 1) * m // cuts):
            s += x[row, j] * x[row, j]
        parts[k] = s
    return np.sqrt(parts.reshape(n, cuts).sum(axis=1))


def column_mean(x):
    n, m = x.shape
    parts = np.zeros((64, m), x.dtype)
    for part in prange(64):
        for i in range(part * n // 64, (part + 1) * n // 64):
            for j in range(m):
                parts[part, j] += x[i, j] * x[i, j] + F(1)
    out = np.zeros(m, x.dtype)
    for part in range(64):
        for j in range(m):
            out[j] += parts[part, j]
    return out / F(n)


def variance(x):
    n = x.size
    parts = np.zeros(256)
    for part in prange(256):
        s = 0.0
        for i in range(part * n // 256, (part + 1) * n // 256):
            s += x[i]
        parts[part] = s
    mean = parts.sum() / n
    for part in prange(256):
        s = 0.0
        for i in range(part * n // 256, (part + 1) * n // 256):
            s += (x[i] - mean) * (x[i] - mean)
        parts[part] = s
    return parts.sum() / n


def extremes(x):
    n = x.size
    lows, highs, sums = np.empty(256, x.dtype), np.empty(256, x.dtype), np.zeros(256)
    for part in prange(256):
        low, high, s = x[0], x[0], F(0)
        for i in range(part * n // 256, (part + 1) * n // 256):
            low, high = min(low, x[i]), max(high, x[i])
            s += x[i]
        lows[part], highs[part], sums[part] = low, high, s
    return lows.min(), highs.max(), F(sums.sum() / n)


def rescale(x):
    n = x.size
    lows, highs = np.empty(256, x.dtype), np.empty(256, x.dtype)
    for part in prange(256):
        low, high = x[0], x[0]
        for i in range(part * n // 256, (part + 1) * n // 256):
            low, high = min(low, x[i]), max(high, x[i])
        lows[part], highs[part] = low, high
    low = lows.min()
    width = highs.max() - low
    out = np.empty_like(x)
    for i in prange(n):
        out[i] = (x[i] - low) / width
    return out


def row_moments(x):
    n, m = x.shape
    means, variances = np.empty(n, x.dtype), np.empty(n, x.dtype)
    for i in prange(n):
        s = F(0)
        for j in range(m):
            s += x[i, j]
        mean, s = s / F(m), F(0)
        for j in range(m):
            s += (x[i, j] - mean) * (x[i, j] - mean)
        means[i], variances[i] = mean, s / F(m)
    return means, variances


def argmax_rows(x):
    n, m = x.shape
    out = np.empty(n, np.int64)
    for i in prange(n):
        best = 0
        for j in range(1, m):
            if x[i, j] > x[i, best]:
                best = j
        out[i] = best
    return out


def count_above(x, y):
    total = 0
    for i in prange(x.size):
        total += x[i] > y[i]
    return total


def cosine_similarity(x, y):
    n, m = x.shape
    out = np.empty(n, x.dtype)
    for i in prange(n):
        a = b = c = F(0)
        for j in range(m):
            a += x[i, j] * y[i, j]
            b += x[i, j] * x[i, j]
            c += y[i, j] * y[i, j]
        out[i] = a / (np.sqrt(b) * np.sqrt(c))
    return out


def softmax(x):
    n, m = x.shape
    out = np.empty_like(x)
    for i in prange(n):
        top, s = x[i, 0], F(0)
        for j in range(1, m):
            top = max(top, x[i, j])
        for j in range(m):
            e = np.exp(x[i, j] - top)
            out[i, j] = e
            s += e
        for j in range(m):
            out[i, j] /= s
    return out


def log_sum_exp(x):
    n, m = x.shape
    out = np.empty(n, x.dtype)
    for i in prange(n):
        top, s = x[i, 0], F(0)
        for j in range(1, m):
            top = max(top, x[i, j])
        for j in range(m):
            s += np.exp(x[i, j] - top)
        out[i] = top + np.log(s)
    return out


def layernorm(x, weight, bias):
    n, m = x.shape
    out = np.empty_like(x)
    for i in prange(n):
        s = F(0)
        for j in range(m):
            s += x[i, j]
        mean, s = s / F(m), F(0)
        for j in range(m):
            s += (x[i, j] - mean) * (x[i, j] - mean)
        scale = F(1) / np.sqrt(s / F(m) + F(1e-5))
        for j in range(m):
            out[i, j] = (x[i, j] - mean) * scale * weight[j] + bias[j]
    return out


def standardise(x):
    n, m = x.shape
    parts = np.zeros((64, m), x.dtype)
    for part in prange(64):
        for i in range(part * n // 64, (part + 1) * n // 64):
            for j in range(m):
                parts[part, j] += x[i, j]
    mean = parts.sum(axis=0) / F(n)
    squares = np.zeros((64, m), x.dtype)
    for part in prange(64):
        for i in range(part * n // 64, (part + 1) * n // 64):
            for j in range(m):
                squares[part, j] += (x[i, j] - mean[j]) * (x[i, j] - mean[j])
    deviation = np.sqrt(squares.sum(axis=0) / F(n))
    out = np.empty_like(x)
    for i in prange(n):
        for j in range(m):
            out[i, j] = (x[i, j] - mean[j]) / deviation[j]
    return out


def running_sum(x):
    n = x.size
    sums = np.zeros(65)
    for part in prange(64):
        s = F(0)
        for i in range(part * n // 64, (part + 1) * n // 64):
            s += x[i]
        sums[part + 1] = s
    for part in range(64):
        sums[part + 1] += sums[part]
    out = np.empty_like(x)
    for part in prange(64):
        s = F(sums[part])
        for i in range(part * n // 64, (part + 1) * n // 64):
            s += x[i]
            out[i] = s
    return out


def running_sum_rows(x):
    n, m = x.shape
    out = np.empty_like(x)
    for i in prange(n):
        s = F(0)
        for j in range(m):
            s += x[i, j]
            out[i, j] = s
    return out


def pairwise_distances(x, y):
    out = np.empty((x.shape[0], y.shape[0]), x.dtype)
    for i in prange(x.shape[0]):
        for j in range(y.shape[0]):
            a, b, c = x[i, 0] - y[j, 0], x[i, 1] - y[j, 1], x[i, 2] - y[j, 2]
            out[i, j] = np.sqrt(a * a + b * b + c * c)
    return out


def accelerations(x, y, z, mass):
    ax, ay, az = np.empty_like(x), np.empty_like(x), np.empty_like(x)
    for i in prange(x.size):
        sx = sy = sz = F(0)
        for j in range(x.size):
            dx, dy, dz = x[j] - x[i], y[j] - y[i], z[j] - z[i]
            square = dx * dx + dy * dy + dz * dz + F(1e-4)
            pull = mass[j] / (square * np.sqrt(square))
            sx += pull * dx
            sy += pull * dy
            sz += pull * dz
        ax[i], ay[i], az[i] = sx, sy, sz
    return ax, ay, az


def kernel_sums(x, y, weight):
    out = np.empty_like(x)
    for i in prange(x.size):
        s = F(0)
        for j in range(y.size):
            d = x[i] - y[j]
            s += np.exp(-(d * d)) * weight[j]
        out[i] = s
    return out
