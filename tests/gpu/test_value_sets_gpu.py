"""NumPy's own value sets on a real GPU, with both backends."""

from __future__ import annotations

from typing import Any

import pytest
from test_numpy_value_sets import SETS, beyond, named

import pytocu

pytestmark = [pytest.mark.gpu, pytest.mark.skipif(not SETS, reason="NumPy was installed without its tests")]


@pytest.mark.parametrize("backend", ["cuda_c", "nvvm"])
@pytest.mark.parametrize("found", SETS, ids=named)
def test_values(found: Any, backend: str) -> None:
    wrong = beyond(found, lambda function, x: pytocu.jit(function, device="cuda", backend=backend)(x))
    assert not wrong, "\n".join(wrong[:10])
