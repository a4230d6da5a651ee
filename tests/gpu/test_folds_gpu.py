"""Reductions and accumulations in which the order matters, on a real GPU against NumPy, both backends.

Run with ``pytest -m gpu``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.testing.compare import compare
from pytocu.testing.operands import make_function

pytestmark = pytest.mark.gpu

TEXTS = {
    "i": ("np.subtract.reduce(a, 1)", "np.floor_divide.accumulate(a, 0)", "np.left_shift.reduce(a, 0, initial=3)",
          "np.less.reduce(a > 1, -1, keepdims=True)", "np.fmod.reduce(a, 0, initial=99, where=a > 1)"),
    "f": ("np.subtract.accumulate(a, 1)", "np.divide.reduce(a.T, 1)", "np.copysign.accumulate(a[0])", "np.nextafter.reduce(a)",
          "np.remainder.reduce(a, -1, initial=5, where=a > 1)"),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("backend", ["nvvm", "cuda_c"])
@pytest.mark.parametrize("dtype", ["int8", "uint64", "float32", "float64"])
def test_left_to_right(cupy: Any, dtype: str, backend: str) -> None:
    texts = TEXTS["f" if dtype.startswith("f") else "i"]
    function = make_function("a", texts, {"np": np})
    compiled = pytocu.jit(function, backend=backend)
    for shape in ((7, 5), (3, 1025), (1, 1), (2000, 33)):
        values = (np.random.default_rng(4).integers(1, 6, shape)).astype(dtype)
        for text, found, wanted in zip(texts, compiled(cupy.asarray(values)), function(values), strict=True):
            try:
                compare(np.asarray(found.get()), np.asarray(wanted))
            except AssertionError as error:
                raise AssertionError(f"{text} of {dtype} {shape}: {error}") from None
