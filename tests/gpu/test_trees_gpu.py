"""Arguments that hold arrays of CuPy, and NumPy arrays that are copied to a GPU.  Run with ``pytest -m gpu``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_trees import Point, Spring, X, by_key, by_method, changed, moved, trained

import pytocu
from pytocu.testing.compare import compare

pytestmark = pytest.mark.gpu


def test_arrays_of_cupy(cupy: Any) -> None:
    x = cupy.asarray(X)
    found, expected = pytocu.jit(moved)(Point(x, x * 2), 0.5), moved(Point(X, X * 2), 0.5)
    assert type(found) is Point
    compare(cupy.asnumpy(found.x), expected.x)
    compare(cupy.asnumpy(found.v), expected.v)
    force, energy, name = pytocu.jit(by_method)(Spring(x, 2.0))
    compare(cupy.asnumpy(force), -2 * X)
    assert float(energy) == float((X * X).sum()) and name == "spring"
    given = {"x": x.copy(), "y": x.copy()}
    held = {"x": X.copy(), "y": X.copy()}
    pytocu.jit(changed)(given)
    changed(held)
    for key in given:
        compare(cupy.asnumpy(given[key]), held[key])


def test_arrays_that_are_copied(cupy: Any) -> None:
    compiled = pytocu.jit(by_key, device="cuda")
    made = compiled({"a": X, "b": X.astype(np.float32)})
    for key, value in by_key({"a": X, "b": X.astype(np.float32)}).items():
        compare(made[key], value)
    rng = np.random.default_rng(0)
    arguments = {"w": rng.standard_normal(3), "b": 0.0}, rng.standard_normal((5, 3)), rng.standard_normal(5), 4
    made, expected = pytocu.jit(trained, device="cuda")(*arguments), trained(*arguments)
    for key, value in expected.items():
        compare(made[key], value, exact=False, ulp=64)
