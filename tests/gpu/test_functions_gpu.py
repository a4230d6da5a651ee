"""NumPy functions whose cases stand in other files, on a real GPU: both backends, against NumPy.

Run with ``pytest -m gpu``.
"""

from __future__ import annotations

import numpy as np
import pytest
import test_index_tricks
import test_sliding_windows

import pytocu
from pytocu.testing.compare import compare
from pytocu.testing.operands import make_function

pytestmark = [pytest.mark.gpu, pytest.mark.parametrize("backend", ["cuda_c", "nvvm"])]


@pytest.mark.parametrize("name", test_sliding_windows.CASES)
def test_windows_that_slide(name: str, backend: str) -> None:
    function, arguments = test_sliding_windows.CASES[name]
    compare(pytocu.jit(function, device="cuda", backend=backend)(*arguments), function(*arguments), exact=False, ulp=4)


def test_what_indexing_makes(backend: str) -> None:
    function = make_function("a", list(test_index_tricks.EVERYWHERE), {"np": np})
    table = test_index_tricks.TABLE
    compare(pytocu.jit(function, device="cuda", backend=backend)(table), function(table), exact=False, ulp=2)
