"""NumPy's own value sets on a real GPU, with both backends."""

from __future__ import annotations

import os
import sys
from typing import Any

import pytest

import pytocu
from pytocu.runtime import cuda

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from test_numpy_value_sets import SETS, beyond, named

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not SETS, reason="NumPy was installed without its tests")]


@pytest.fixture(autouse=True, scope="module")
def a_gpu():
    fine, reason = cuda.available()
    if not fine:
        pytest.skip(reason)


@pytest.mark.parametrize("backend", ["cuda_c", "nvvm"])
@pytest.mark.parametrize("found", SETS, ids=named)
def test_values(found: Any, backend: str) -> None:
    wrong = beyond(found, lambda function, x: pytocu.jit(function, device="cuda", backend=backend)(x))
    assert not wrong, "\n".join(wrong[:10])
