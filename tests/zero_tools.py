"""Functions in which a comparison with zero decides whether something is a zero, of either sign."""

from __future__ import annotations

import numpy as np


def of_a_loop(x):
    made = np.empty_like(x)
    last = np.zeros((), x.dtype)
    for i in range(len(x)):
        if x[i] < 0:
            last = x[i] + last * 0
        else:
            last = x.dtype.type(0)
        made[i] = last
    return made


def stored(x):
    made = x.copy()
    for i in range(len(x)):
        if not made[i] < 0:
            made[i] = 0
    return made


def kept(x):
    made = np.zeros_like(x)
    made[x < 0] = x[x < 0]
    return made


def in_branches(x):
    made = np.empty(len(x))
    for i in range(len(x)):
        if x[i] > 0:
            made[i] = 0.0
        else:
            made[i] = -(-np.float64(x[i]))  # noqa: B002
    return made


def converted_in_one_of_two(x):
    wide = x.astype(np.float64)
    return np.where(x > 0, 0.0, np.where(x == x, wide, wide)), np.where(x <= 0, np.copysign(wide, x), 0.0)


FUNCTIONS = {
    "less": lambda x: np.where(x < 0, x, 0),
    "less of the other zero": lambda x: np.where(x < -0.0, x, 0.0),
    "greater": lambda x: np.where(x > 0, x, -0.0),
    "turned around": lambda x: np.where(np.less(-0.0, x), x, -0.0),
    "not less": lambda x: np.where(~(x < 0), 0, x),
    "not less, or NaN": lambda x: np.where((x >= 0) | np.isnan(x), 0, x),
    "less, or NaN": lambda x: np.where((x < 0) | np.isnan(x), x, 0),
    "of the negative": lambda x: np.where(-x > 0, x, 0),
    "of wider ones": lambda x: np.where(x.astype(np.float64) < 0, x, 0),
    "by two conditions": lambda x: np.where((x < 0) & (x[::-1] == x[::-1]), x, 0),
    "of conditions": lambda x: np.where(np.where(x < 0, True, False), x, 0),
    "of parts": lambda x: np.where((x + 1j).real < 0, x, 0),
    "added to": lambda x: np.where(x * 2 < 0, x * 2, 0) + np.copysign(0, -1),
    "step of a quotient": lambda x: np.heaviside(np.abs(x) / -0.0, 0.5),
    "sign of a quotient": lambda x: np.where(1 / np.sqrt(x) < 0, -1.0, 1.0),
    "infinite quotient": lambda x: (x * x + 1) / -0.0 == -np.inf,
    "converted and negated twice": lambda x: np.where(x > 0, 0.0, -(-x.astype(np.float64))),  # noqa: B002
    "converted with its own sign": lambda x: np.where(np.greater(0, x), np.copysign(x.astype(np.float64), x), -0.0),
    "converted in branches": in_branches,
    "converted in one of two": converted_in_one_of_two,
    "of a loop": of_a_loop,
    "stored": stored,
    "kept": kept,
    "not kept": lambda x: np.where(x > 0, 0.0, x) - np.where(x < 0, x, -0.0),
}

VALUES = (-0.0, 0.0, 1, -1, np.nan, np.inf, -np.inf, 5e-324, -5e-324, 1e-45, -1e-45) * 4
