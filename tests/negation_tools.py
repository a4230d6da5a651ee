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
