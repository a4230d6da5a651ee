"""Functions whose minima and maxima are of negated integers."""

from __future__ import annotations

import numpy as np

FUNCTIONS = {
    "largest": lambda x: np.max(-x, axis=1),
    "smallest": lambda x: np.min(-x, axis=1),
    "of all": lambda x: np.max(-x),
    "from zero": lambda x: np.max(0 - x, axis=1),
    "times -1": lambda x: np.max(x * -1, axis=1),
    "of bits": lambda x: np.max(~x + 1, axis=1),
    "larger": lambda x: np.maximum(np.maximum(-x[:, 0], -x[:, 1]), x[:, 2]),
    "second": lambda x: np.minimum(x[:, 2], np.minimum(x[:, 1], -x[:, 0])),
    "between": lambda x: np.clip(-x, -x[:, :1], x[:, 1:2]),
    "narrowed": lambda x: np.max((-x.astype(np.int64)).astype(np.int32), axis=1),
    "chosen": lambda x: np.where(-x[:, 0] > x[:, 1], -x[:, 0], np.where(x[:, 1] > x[:, 2], x[:, 1], x[:, 2])),
    "difference": lambda x: np.max(x[:, :1] - (x + x[:, :1]), axis=1),
    "so far": lambda x: np.maximum.accumulate(-x, axis=1),
    "of absolute values": lambda x: np.max(-np.abs(x), axis=1),
}



def _last(x):
    return x.dtype.itemsize * 8 - 1


MAGNITUDES = {
    "quotient": lambda x, y, f, u: u // np.abs(x),
    "remainder": lambda x, y, f, u: u % abs(x),
    "quotient of ints": lambda x, y, f, u: np.abs(x) // y,
    "remainder of ints": lambda x, y, f, u: np.abs(x) % y,
    "one sign": lambda x, y, f, u: np.where((np.abs(x) < 0) ^ (f < 0), 1.0, f),
    "below 0": lambda x, y, f, u: np.where(np.abs(x) < 0, f, -1.0),
    "sign of a float": lambda x, y, f, u: np.where((np.abs(x).astype(np.float64) < 0) ^ (f < 0), 1.0, f),
    "copied sign": lambda x, y, f, u: np.copysign(f, np.abs(x)),
    "sign": lambda x, y, f, u: np.sign(np.abs(x)) * y,
    "wider": lambda x, y, f, u: np.abs(x).astype(np.int64) + u.astype(np.int64),
    "without sign": lambda x, y, f, u: np.abs(x).astype(np.uint64) + u,
    "narrower": lambda x, y, f, u: np.abs(x).astype(np.float32) * 2,
    "shifted": lambda x, y, f, u: (np.abs(x) >> 1) + (np.abs(x) >> y % 3),
    "larger": lambda x, y, f, u: np.maximum(np.abs(x), y),
    "smaller": lambda x, y, f, u: np.minimum(np.abs(x), np.abs(y)),
    "its own": lambda x, y, f, u: np.abs(np.abs(x)) - np.abs(-x),
    "chosen": lambda x, y, f, u: np.where(x < 0, -x, x) * f,
    "of a difference": lambda x, y, f, u: np.abs(x - y) < np.abs(y),
    "of a square": lambda x, y, f, u: np.sqrt(np.abs(x * x)),
    "greatest divisor": lambda x, y, f, u: np.gcd(x, y),
    "power": lambda x, y, f, u: np.abs(x) ** 2 + np.abs(x) ** 3,
    "rounded": lambda x, y, f, u: np.round(np.abs(x) * 0.5),
    "by another number": lambda x, y, f, u: np.where(np.where(x > -1, x, -x) < 0, f, -1.0),
    "of bits": lambda x, y, f, u: np.where(((x ^ (x >> _last(x))) - (x >> _last(x))) < 0, f, -1.0),
    "of other bits": lambda x, y, f, u: np.where(((x + (x >> _last(x))) ^ (x >> _last(x))) < 0, f, -1.0),
}
"""Functions of magnitudes of integers: that of the smallest one is negative."""


def magnitudes(dtype: type) -> tuple[np.ndarray, ...]:
    """Integers of which many are the smallest, others, floats and integers without sign."""
    rng = np.random.default_rng(5)
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    x = rng.choice(np.array([least, least, least + 1, -7, -1, 0, 1, 9, most], dtype), 203)
    y = rng.choice(np.array([least, -3, -1, 1, 2, 5, most], dtype), 203)
    return x, y, rng.normal(size=203), rng.choice(np.array([1, 2, 2**63, 2**64 - 1], np.uint64), 203)
