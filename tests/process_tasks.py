"""Functions at the top of a module, as worker processes find them."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

import pytocu


def plain(x, k):
    return np.sqrt(x * x + k) / (k + 1)


fast = pytocu.jit(plain, fastmath="contract", static="k")


@pytocu.jit
def decorated(x, y):
    return np.where(x > y, x - y, y * 0.5)


class Model:
    def __init__(self, gain: float):
        self.gain = gain

    @pytocu.jit
    def apply(self, x):
        return x * self.gain + 1


def answer(seed: int) -> bool:
    """Small and large calls of functions that came by import."""
    rng = np.random.default_rng(seed)
    for size in (7, 700_001):
        x, y = rng.random((2, size))
        if not np.array_equal(decorated(x, y), decorated.__wrapped__(x, y)):
            return False
    return True


def call(function: Any, *arguments: Any) -> tuple[Any, int]:
    """What a function that travelled here gives, and in which process."""
    return function(*arguments), os.getpid()
