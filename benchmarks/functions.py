"""The functions that are timed, as people write them with NumPy.

NumPy and pytocu run this text as it is.  CuPy and JAX run it with their module as ``np``;
PyTorch too, where `benchmarks.torch_functions` has no version of its own.
"""

from __future__ import annotations

import numpy as np

# Elementwise.


def five_operations(x, y, z, a):
    return 2.5 * a * x + y * z - 1


def weak_scalars(mu, dt, delta):
    return 1 + mu * dt * delta


def mask_out(points, mask):
    return np.where(mask[:, None], np.inf, points)


def black_scholes(price, strike, years):
    rate, volatility = 0.02, 0.3
    spread = volatility * np.sqrt(years)
    d1 = (np.log(price / strike) + (rate + 0.5 * volatility * volatility) * years) / spread
    d2 = d1 - spread
    n1 = 0.5 + 0.5 * np.tanh(0.79788456 * (d1 + 0.044715 * d1 * d1 * d1))
    n2 = 0.5 + 0.5 * np.tanh(0.79788456 * (d2 + 0.044715 * d2 * d2 * d2))
    discounted = strike * np.exp(-rate * years)
    call = price * n1 - discounted * n2
    return call, call - price + discounted


def haversine(lat1, lon1, lat2, lon2):
    a = np.sin((lat2 - lat1) * 0.5)
    b = np.sin((lon2 - lon1) * 0.5)
    return 12742.0 * np.arcsin(np.sqrt(a * a + np.cos(lat1) * np.cos(lat2) * b * b))


def outer(x, y):
    d = x[:, None] - y
    return np.exp(-(d * d)) + x[:, None] * y


def scaled_sum(a, x, y):
    return a * x + y


def polynomial(x):
    y = 0.1 * x - 0.2
    y = y * x + 0.3
    y = y * x - 0.4
    y = y * x + 0.5
    y = y * x - 0.6
    y = y * x + 0.7
    y = y * x - 0.8
    return y * x + 0.9


def gelu(x):
    return 0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


def normalise_vectors(v):
    x, y, z = v[:, 0], v[:, 1], v[:, 2]
    return v / np.sqrt(x * x + y * y + z * z)[:, None]


def complex_multiply_add(x, y, z):
    return x * y + z


def power_spectrum(z):
    return z.real * z.real + z.imag * z.imag


def quantise(x, scale):
    return np.clip(np.rint(x / scale), -128, 127).astype(np.int8)


def dequantise(q, zero, scale):
    return (q.astype(np.float32) - zero) * scale


def gray(image):
    red, green, blue = image[..., 0], image[..., 1], image[..., 2]
    weighted = red.astype(np.float32) * 0.299 + green.astype(np.float32) * 0.587 + blue.astype(np.float32) * 0.114
    return (weighted + 0.5).astype(np.uint8)


def add_transposed(x, y):
    return x.T + y


def gather(table, index):
    return table[index]


def choose(x, mask):
    return x[mask]


# Stencils.


def heat_step(u):
    c = u[1:-1, 1:-1]
    return c + 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * c)


def heat_step_3d(u):
    c = u[1:-1, 1:-1, 1:-1]
    z = u[2:, 1:-1, 1:-1] + u[:-2, 1:-1, 1:-1]
    y = u[1:-1, 2:, 1:-1] + u[1:-1, :-2, 1:-1]
    x = u[1:-1, 1:-1, 2:] + u[1:-1, 1:-1, :-2]
    return c + 0.1 * (x + y + z - 6 * c)


def heat_steps(u):
    for _ in range(10):
        new = u.copy()
        c = u[1:-1, 1:-1]
        new[1:-1, 1:-1] = c + 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * c)
        u = new
    return u


def moving_average(x):
    return (x[:-4] + x[1:-3] + x[2:-2] + x[3:-1] + x[4:]) / 5


def shaded_relief(elevation):
    east = (elevation[1:-1, 2:] - elevation[1:-1, :-2]) / 60.0
    north = (elevation[:-2, 1:-1] - elevation[2:, 1:-1]) / 60.0
    slope = np.arctan(np.hypot(east, north))
    downhill = np.arctan2(-east, -north)
    return 0.7071 * np.cos(slope) + 0.7071 * np.sin(slope) * np.cos(5.4978 - downhill)


# Reductions.


def sum_of_squares(x, y):
    return ((x - y) ** 2).sum()


def row_norm(x):
    return np.sqrt((x * x).sum(axis=1))


def column_mean(x):
    return (x * x + 1).mean(axis=0)


def variance(x):
    return x.var()


def extremes(x):
    return x.min(), x.max(), x.mean()


def rescale(x):
    low = x.min()
    return (x - low) / (x.max() - low)


def row_moments(x):
    return x.mean(axis=1), x.var(axis=1)


def argmax_rows(x):
    return x.argmax(axis=1)


def count_above(x, y):
    return np.count_nonzero(x > y)


def cosine_similarity(x, y):
    dot = (x * y).sum(axis=1)
    return dot / (np.sqrt((x * x).sum(axis=1)) * np.sqrt((y * y).sum(axis=1)))


# Reductions whose result meets the array again.


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def log_sum_exp(x):
    top = x.max(axis=1, keepdims=True)
    return top[:, 0] + np.log(np.exp(x - top).sum(axis=1))


def layernorm(x, weight, bias):
    centred = x - x.mean(axis=1, keepdims=True)
    deviation = np.sqrt((centred * centred).mean(axis=1, keepdims=True) + 1e-5)
    return centred / deviation * weight + bias


def rmsnorm(x, weight):
    wide = x.astype(np.float32)
    scale = 1 / np.sqrt((wide * wide).mean(axis=1, keepdims=True) + 1e-6)
    return (wide * scale).astype(np.float16) * weight


def standardise(x):
    return (x - x.mean(axis=0)) / x.std(axis=0)


# Scans.


def running_sum(x):
    return np.cumsum(x)


def running_sum_rows(x):
    return np.cumsum(x, axis=1)


# All pairs.


def pairwise_distances(x, y):
    d = x[:, None, :] - y[None, :, :]
    return np.sqrt((d * d).sum(axis=2))


def accelerations(x, y, z, mass):
    dx, dy, dz = x - x[:, None], y - y[:, None], z - z[:, None]
    square = dx * dx + dy * dy + dz * dz + 1e-4
    pull = mass / (square * np.sqrt(square))
    return (pull * dx).sum(axis=1), (pull * dy).sum(axis=1), (pull * dz).sum(axis=1)


def kernel_sums(x, y, weight):
    d = x[:, None] - y
    return (np.exp(-(d * d)) * weight).sum(axis=1)
