"""Functions of uint16 vectors in which compilers see constants only when they have simplified: the constants are NaN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

FUNCTIONS: dict[str, Callable[..., Any]] = {
    "isnan of 0 / 0": lambda x: np.isnan((x & 0) / 0),
    "isnan of a bool / 0": lambda x: np.isnan(np.isnan(x) / 0),
    "isnan of two bools": lambda x: np.isnan((x < 0) / (x < 0)),
    "isnan of inf * 0": lambda x: np.isnan(np.float64(np.inf) * (x & 0)),
    "isnan of inf - inf": lambda x: np.isnan(np.inf - np.inf * (x >= 0)),
    "isnan of float32": lambda x: np.isnan((x < 0) * np.float32(np.inf)),
    "equal to itself": lambda x: ((x & 0) / 0 == (x & 0) / 0, (x < 0) / 0 <= (x < 0) / 0),
    "heaviside": lambda x: np.heaviside((x < 0) / 0, x),
    "largest": lambda x: (np.maximum((x < 0) / 0, 3.0), np.fmin((x < 0) / 0, 3.0)),
    "sign": lambda x: np.sign((x < 0) / 0),
}
