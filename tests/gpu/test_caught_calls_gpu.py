"""``except np.linalg.LinAlgError`` with arrays of CuPy and PyTorch.  Run with ``pytest -m gpu``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_caught_calls import A, S, definite, nearest, solved, steps_before_it, the_first_that_is

import pytocu
from pytocu.testing.compare import compare

pytestmark = pytest.mark.gpu


def agrees(module: Any, function: Callable[..., Any], *arguments: np.ndarray) -> None:
    given = [module.asarray(a, device="cuda") if module.__name__ == "torch" else module.asarray(a) for a in arguments]
    found, expected = pytocu.jit(function)(*given), function(*arguments)
    pairs = zip(found, expected, strict=True) if isinstance(expected, tuple) else [(found, expected)]
    for one, wanted in pairs:
        one = one.get() if hasattr(one, "get") else one.cpu().numpy() if hasattr(one, "cpu") else one
        compare(np.asarray(one), np.asarray(wanted), exact=False, ulp=4096)


@pytest.mark.parametrize("library", ["cupy", "torch"])
@pytest.mark.parametrize("a", [A, np.zeros((4, 4)), np.ones((1, 1))], ids=lambda a: f"{len(a)}-{np.any(a)}")
def test_solutions(library: str, a: np.ndarray) -> None:
    module = pytest.importorskip(library)
    for function in (solved, nearest, steps_before_it):
        agrees(module, function, a, np.arange(1.0, len(a) + 1))


@pytest.mark.parametrize("library", ["cupy", "torch"])
@pytest.mark.parametrize("a", [S, -S, np.zeros((2, 2))], ids=str)
def test_factors(library: str, a: np.ndarray) -> None:
    module = pytest.importorskip(library)
    for function in (definite, the_first_that_is):
        agrees(module, function, a)
