"""The sign of a zero that a comparison with zero selects, on a real GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from zero_tools import FUNCTIONS, VALUES

import pytocu
from pytocu.testing.compare import compare

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("backend", ["cuda_c", "nvvm"])
@pytest.mark.parametrize("name", [*FUNCTIONS, "least", "least of numbers", "greatest of numbers", "within"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_signs(cupy: Any, name: str, backend: str, dtype: Any) -> None:
    x = np.array(VALUES, dtype)
    function = FUNCTIONS.get(name) or EXTREMES[name]
    with np.errstate(all="ignore"):
        # What a minimum of two zeros is NumPy leaves to the processor; here it is the first one.
        expected = function(x) if name in FUNCTIONS else pytocu.jit(function, device="cpu")(x)
    found = pytocu.jit(function, backend=backend)(cupy.asarray(x))
    compare(tuple(map(cupy.asnumpy, found)) if isinstance(found, tuple) else cupy.asnumpy(found), expected)


EXTREMES = {
    "least": lambda x: np.minimum(0.0, x),
    "least of numbers": lambda x: np.fmin(0.0, x),
    "greatest of numbers": lambda x: np.fmax(-0.0, x),
    "within": lambda x: np.clip(x, -0.0, 0.0),
}
