"""``x.tolist()``: Python's numbers in lists of lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mask_tools import everywhere

import pytocu
from pytocu.errors import UnsupportedError


def returned(x):
    return x.tolist(), x.T.tolist(), x[..., None].tolist(), x[:0].tolist(), np.stack([x, x]).tolist(), {"x": x.tolist()}


def of_numbers(x):
    first = x.ravel()[:1].sum()
    return x.sum().tolist(), np.float32(1.5).tolist(), np.array(3).tolist(), first.tolist(), [r.tolist() for r in x]


def used(x):
    out, t = (x * 2).ravel().tolist(), 0.0
    for v in x.ravel().tolist():
        t += v
    return out, len(out), sorted(out), t, [v for v in out if v > 1], out[::-1]


def chosen(x):
    return x[x > 0].tolist(), len(x[x > 0].tolist())


ARRAYS = [
    np.array([0.5, -1, 2]), np.arange(6).reshape(2, 3), np.array([True, False]), np.float16([[1.5], [2]]), np.zeros((0, 2)),
    np.arange(4, dtype=np.uint8)[::-1],
]  # fmt: skip


@pytest.mark.parametrize("x", ARRAYS, ids=str)
@pytest.mark.parametrize("function", [returned, of_numbers, used, chosen], ids=lambda f: f.__name__)
def test_numpys_answer(function: Callable[..., Any], x: np.ndarray) -> None:
    everywhere(function, x)


def with_an_argument(x):
    return x.tolist(3)


def plain(x):
    return x.tolist()


def test_what_is_wrong() -> None:
    with pytest.raises(TypeError, match=r"takes exactly 0 arguments|takes no arguments"):
        pytocu.jit(with_an_argument)(np.ones(3))
    with pytest.raises(UnsupportedError, match="a Python complex number of a value known only at run time"):
        pytocu.jit(plain)(np.ones(3, complex))
