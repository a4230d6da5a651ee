"""New arrays that are filled piece by piece, and stencils over what stencils made, on a GPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_insert import ONE, SHAPES, steps

import pytocu
from pytocu.testing.compare import compare

pytestmark = pytest.mark.gpu


@pytest.mark.parametrize("backend", ["cuda_c", "nvvm"])
@pytest.mark.parametrize("function", [*ONE, steps])
def test_pieces(cupy: Any, function: Callable[..., Any], backend: str) -> None:
    compiled = pytocu.jit(function, backend=backend)
    for number, shape in enumerate([*SHAPES, (700, 1025), (3000, 16)]):
        x = np.random.default_rng(number).random(shape, np.float32)
        try:
            expected = function(x)
        except IndexError:
            with pytest.raises(IndexError):
                compiled(cupy.asarray(x))
            continue
        compare(cupy.asnumpy(compiled(cupy.asarray(x))), expected)


@pytest.mark.parametrize("backend", ["cuda_c", "nvvm"])
def test_elements_side_by_side(cupy: Any, backend: str) -> None:
    def pairs(x, y):
        return x[:, np.newaxis, 0] * y[:, 0] + x[:, np.newaxis, 1] * y[:, 1] - y[:, 2]

    compiled = pytocu.jit(pairs, backend=backend)
    for n, m in ((1, 4), (3, 7), (5, 256), (129, 1000)):
        x, y = (np.random.default_rng(n).random((k, 3), np.float32) for k in (n, m))
        compare(cupy.asnumpy(compiled(cupy.asarray(x), cupy.asarray(y))), pairs(x, y))
