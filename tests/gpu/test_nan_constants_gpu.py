"""Constants that are NaN, which compilers for GPUs take to be equal to themselves, on a real GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from nan_constant_tools import FUNCTIONS, SIGNS

import pytocu
from pytocu.testing.compare import compare

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("backend", ["cuda_c", "nvvm"])
@pytest.mark.parametrize("name", [*FUNCTIONS, *SIGNS])
def test_a_constant_that_is_nan(cupy: Any, name: str, backend: str) -> None:
    x = np.arange(1000, dtype=np.uint16)
    function = (FUNCTIONS | SIGNS)[name]
    with np.errstate(all="ignore"):
        expected = function(x)
    found = pytocu.jit(function, backend=backend)(cupy.asarray(x))
    pairs = zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]
    for own, theirs in pairs:
        compare(cupy.asnumpy(own), theirs)
