"""Functions that join the same two truth values in two ways."""

from __future__ import annotations

import numpy as np

PAIRS = {
    "logical": lambda x, y, z: (np.logical_and(x < y, y < z), np.logical_or(x < y, y < z)),
    "of numbers": lambda x, y, z: (np.logical_or(x, z), np.logical_and(x, z)),
    "exchanged": lambda x, y, z: ((x < y) & (y == z), (z == y) | (y > x)),
    "neither": lambda x, y, z: ((x < y) & (y == z), ~(x < y) & ~(y == z)),
    "not both": lambda x, y, z: ((x < y) | (y == z), ~(x < y) | (z != y)),
    "one of them inverted": lambda x, y, z: ((x < y) & (y != z), (x < y) | ~(y == z)),
    "chosen": lambda x, y, z: (np.where(x < y, y == z, False), np.where(x < y, True, y == z)),
    "chosen otherwise": lambda x, y, z: (np.where(x < y, y == z, True), np.where(x < y, False, y == z) | (x < z)),
    "orders": lambda x, y, z: ((x < y) < (y == z), (x < y) <= (y == z)),
    "an order": lambda x, y, z: ((x < y) >= (y == z), ((x < y) == False) | (y == z)),  # noqa: E712
    "with a third": lambda x, y, z: ((x < y) & (y == z) & (x == z), ((x < y) & (y == z)) | (x == z)),
    "in a loop": lambda x, y, z: _counted(x, y, z),
}


def _counted(x, y, z):
    found = x - x
    for k in range(40):
        found = np.where((x < y) & (y < z), found + k, np.where((x < y) | (y < z), found - 1, found))
    return found, (x < y) | (y == z)


SINGLE = {
    "both": lambda x, y, z: ((x < y) & (y == z), (x < y) & (y > z)),
    "either": lambda x, y, z: ((x < y) | (y == z), (x < y) | (y > z)),
    "opposites": lambda x, y, z: ((x < y) & (y == z), ~(x < y) | (y != z)),
    "exclusive": lambda x, y, z: ((x < y) & (y == z), (x < y) ^ (y == z)),
    "one inverted": lambda x, y, z: ((x < y) & (y == z), (x < y) | (y != z)),
    "of others": lambda x, y, z: ((x < y) & (y == z), (x < z) | (y == z)),
}
