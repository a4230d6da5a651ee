"""Functions that are timed, with the arrays they take and the bytes that must move.

Each function is plain NumPy-style code over the namespace ``np``; a peer with an array
module of the same names runs the same text.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Workload:
    """One timed function.

    Parameters
    ----------
    name : str
    function : callable
        Takes the arrays of `make`, then the module to compute with as ``np``.
    make : callable
        ``make(rng, scale)`` gives NumPy arguments; `scale` 1 is the full size.
    """

    name: str
    function: Callable[..., Any]
    make: Callable[[np.random.Generator, float], tuple[Any, ...]]


def five_operations(x, y, z, a):
    return 2.5 * a * x + y * z - 1


def weak_scalars(mu, dt, delta):
    return 1 + mu * dt * delta


def mask_out(points, mask):
    return np.where(mask[:, np.newaxis], np.inf, points)


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
    d = x[:, np.newaxis] - y
    return np.exp(-(d * d)) + x[:, np.newaxis] * y


def heat_step(u):
    c = u[1:-1, 1:-1]
    return c + 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * c)


def _floats(*shapes, low=-1.0, high=1.0):
    def make(rng, scale):
        return tuple(rng.uniform(low, high, [max(int(n * scale), 2) for n in s]).astype(np.float32) for s in shapes)

    return make


def _points(rng, scale):
    n = max(int(2**25 * scale), 2)
    return rng.standard_normal((n, 3), np.float32), rng.random(n, np.float32) > 0.5


N = 2**26
WORKLOADS = (
    Workload("2.5*a*x + y*z - 1", five_operations, lambda r, s: (*_floats((N,), (N,), (N,))(r, s), 1.5)),
    Workload("1 + mu*dt*delta", weak_scalars, lambda r, s: (0.5, 0.1, *_floats((N,))(r, s))),
    Workload("where(mask[:,None], inf, p)", mask_out, _points),
    Workload("Black-Scholes", black_scholes, _floats((N,), (N,), (N,), low=0.5, high=2.0)),
    Workload("haversine", haversine, _floats((N,), (N,), (N,), (N,), low=-1.5, high=1.5)),
    Workload("outer", outer, _floats((16384,), (8192,))),
    Workload("heat stencil", heat_step, _floats((8192, 8192))),
)
"""The elementwise functions that are measured."""
