"""In-place steps and assignment through integer arrays on a GPU: NumPy's elements, and no more launches than needed.

Run with ``pytest -m gpu``.  A library that is not installed skips its own tests.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_scatter import CASES, assigned
from test_sweeps import SHAPES
from test_sweeps import numbers as stencil_numbers
from test_turns import counted, down, four, numbers, relax, stretched, then_more, two_and_border, wave, with_length

import pytocu

pytestmark = pytest.mark.gpu


def same(module: Any, function: Callable[..., Any], arguments: tuple[Any, ...], calls: int = 2) -> None:
    """What some calls leave in the arrays, and the last result."""
    expected = [a.copy("K") if isinstance(a, np.ndarray) else a for a in arguments]
    given = [module.array(a, order="K") if isinstance(a, np.ndarray) else a for a in arguments]
    compiled = pytocu.jit(function)
    wanted: Any = None
    found: Any = None
    for _ in range(calls):
        wanted, found = function(*expected), compiled(*given)
    for one, other in zip(given, expected, strict=True):
        np.testing.assert_array_equal(module.asnumpy(one) if isinstance(one, module.ndarray) else one, other)
    if isinstance(wanted, np.ndarray):
        np.testing.assert_array_equal(module.asnumpy(found), wanted)


@pytest.mark.parametrize("steps", [0, 1, 2, 3, 10, 11])
@pytest.mark.parametrize("function", [relax, counted, down, stretched, with_length, then_more])
def test_steps(function: Any, steps: int, cupy: Any) -> None:
    for size in (2, 3, 1000, 300_001):
        same(cupy, function, (numbers(size), steps))


def test_two_arguments_and_written_out_steps(cupy: Any) -> None:
    for size in (3, 1000, 300_001):
        same(cupy, wave, (numbers(size), 5, numbers(size) - 0.5))
        same(cupy, four, (numbers(size),))
        same(cupy, two_and_border, (numbers(size),))


@pytest.mark.parametrize(("function", "shape"), SHAPES, ids=lambda given: getattr(given, "__name__", str(given)))
def test_stencils(function: Any, shape: tuple[int, ...], cupy: Any) -> None:
    same(cupy, function, (stencil_numbers(shape), 0.5))


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=lambda case: getattr(case, "__name__", ""))
def test_scatter(function: Callable[..., Any], arguments: tuple[Any, ...], cupy: Any) -> None:
    same(cupy, function, arguments, calls=1)


def test_many_values_for_one_element(cupy: Any) -> None:
    """Threads meet at every element, and the last value stays on every run."""
    positions = np.random.default_rng(0).integers(0, 100, 1_000_000)
    for _ in range(3):
        same(cupy, assigned, (np.zeros(100), positions, np.arange(1_000_000.0)), calls=1)


def test_tensors(torch: Any) -> None:
    positions = np.random.default_rng(0).integers(-100, 100, 100_000)
    expected, values = np.zeros(100, np.float32), np.arange(100_000, dtype=np.float32)
    assigned(expected, positions, values)
    x = torch.zeros(100, device="cuda")
    pytocu.jit(assigned)(x, torch.asarray(positions, device="cuda"), torch.asarray(values, device="cuda"))
    np.testing.assert_array_equal(x.cpu().numpy(), expected)


def test_positions_outside_write_nothing_outside(cupy: Any) -> None:
    block = cupy.zeros(300)
    compiled = pytocu.jit(assigned)
    with pytest.raises(IndexError, match="is out of bounds for axis 0 with size 100"):
        compiled(block[100:200], cupy.asarray([3, 100, -101, 10**12]), cupy.ones(4))
        pytocu.synchronize()
    assert float(block[:100].sum()) == float(block[200:].sum()) == 0
