"""Functions of integers whose least one is its own negative."""

from __future__ import annotations

import numpy as np

FUNCTIONS = {
    "compared": lambda x: -x <= 1,
    "widened": lambda x: (-x).astype(np.int64),
    "summed": lambda x: abs(x).sum(),
    "least": lambda x: abs(x).min(),
    "divided": lambda x: abs(x) // np.int16(3),
    "of both": lambda x: np.maximum(-x, abs(x)) - x,
    "subtracted": lambda x: (0 - x).astype(np.int32),
    "multiplied": lambda x: (x * -1) < 5,
    "inverted": lambda x: (~x + 1).astype(np.float32),
    "divided by -1": lambda x: (x // -1).astype(np.int32),
    "by terms": lambda x: ((x - (x + x)) >> 1) - 1,
    "shortened": lambda x: (-x.astype(np.int32)).astype(x.dtype).astype(np.int64),
    "of its bits": lambda x: (-x.view(f"u{x.dtype.itemsize}")).view(x.dtype) > 0,
    "signs": lambda x: np.sign(-x) * np.int64(3),
}
