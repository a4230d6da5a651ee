"""Functions of scalars on a GPU: every case of the CPU's tests, large arrays, and failures by data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import test_vectorize as cases

import pytocu
from pytocu.testing.compare import compare

pytestmark = pytest.mark.gpu

EXACT = [
    (cases.escape_pairs, (np.linspace(-2, 1, 90), np.linspace(-1, 1, 70)[:, None])),
    (cases.escape_pairs, (np.linspace(-2, 1, 90, dtype="f"), np.linspace(-1, 1, 70, dtype="f")[:, None])),
    (cases.root, (cases.PLANE,)),
    (cases.root, (cases.PLANE.astype("f"),)),
    (cases.cube_root, (cases.POSITIVE,)),
    (cases.bessel, (cases.POSITIVE,)),
    (cases.bessel, (cases.SMALL,)),
    (cases.gamma, (cases.POSITIVE,)),
    (cases.gcd, (np.arange(200), np.arange(0, 90, 18)[:, None])),
    (cases.gcd, (np.arange(20).astype(np.uint8), np.arange(20).astype(np.uint8)[:, None])),
    (cases.collatz, (np.arange(1, 3000),)),
    (cases.pieces, (cases.PLANE,)),
    (cases.clamped, (cases.PLANE.astype("f"),)),
    (cases.wrapping, (np.arange(256).astype(np.uint8),)),
    (cases.connected, (np.array([1.0, 0, -1]), np.array([0.0, 1, 2]))),
    (cases.counted, (cases.PLANE, np.arange(7))),
    (cases.last_number, (cases.POSITIVE,)),
    (cases.several, (cases.PLANE, cases.PLANE[::-1, ::-1])),
    (cases.nested_loops, (np.arange(30),)),
]


def to_device(cupy: Any, value: Any) -> Any:
    return cupy.asarray(value) if isinstance(value, np.ndarray) else value


def fetched(cupy: Any, value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(fetched(cupy, v) for v in value)
    return cupy.asnumpy(value)


@pytest.mark.parametrize("backend", ["nvvm", "cuda_c"])
@pytest.mark.parametrize(("function", "args"), EXACT)
def test_programs(cupy: Any, function: Callable[..., Any], args: tuple[Any, ...], backend: str) -> None:
    made = pytocu.vectorize(function, backend=backend)
    found = fetched(cupy, made(*(to_device(cupy, a) for a in args)))
    compare(found, cases.in_python(function, args))


def test_a_table(cupy: Any) -> None:
    table, values = np.sort(np.random.default_rng(1).random(1000)), np.random.default_rng(2).random((300, 40))
    made = pytocu.vectorize(cases.search, excluded="table")
    found = made(cupy.asarray(values), cupy.asarray(table))
    assert np.array_equal(cupy.asnumpy(found), np.searchsorted(table, values))


def test_large_arrays(cupy: Any) -> None:
    numbers = np.arange(1, 2_000_001)
    steps = cupy.asnumpy(pytocu.vectorize(cases.collatz)(cupy.asarray(numbers)))
    assert np.array_equal(steps, pytocu.vectorize(cases.collatz)(numbers))


def test_out_and_where(cupy: Any) -> None:
    made = pytocu.vectorize(cases.pieces)
    x = cupy.asarray(cases.PLANE)
    expected = cases.in_python(cases.pieces, (cases.PLANE,))
    out = cupy.full_like(x, 7)
    assert made(x, out=out, where=x > 0.3) is out
    assert np.array_equal(cupy.asnumpy(out), np.where(cases.PLANE > 0.3, expected, 7))
    assert made(x, x) is x
    assert np.array_equal(cupy.asnumpy(x), expected)


@pytest.mark.parametrize("rows", [1, 3, 33, 1000])
@pytest.mark.parametrize("columns", [1, 7, 64, 1000, 5001])
def test_in_reductions(cupy: Any, rows: int, columns: int) -> None:
    """Rows and elements that do not exist do not go through a loop, which would never end for zeros."""
    numbers = np.random.default_rng(rows).integers(1, 1000, (rows, columns))

    def longest(n):
        steps = cases.collatz_steps(n)
        return steps.max(1), cases.collatz_steps(n.max(1)), steps.sum()

    found = fetched(cupy, pytocu.jit(longest)(cupy.asarray(numbers)))
    # A device's result without axes is an array.
    compare(found, tuple(map(np.asarray, pytocu.jit(longest)(numbers))))


def test_softmax_like(cupy: Any) -> None:
    x = np.random.default_rng(0).normal(size=(50, 300)).astype(np.float32)
    jitted = pytocu.jit(cases.softmax_like)
    np.testing.assert_allclose(cupy.asnumpy(jitted(cupy.asarray(x))), jitted(x), rtol=1e-6)


def test_failures_by_data(cupy: Any) -> None:
    made = pytocu.vectorize(cases.guarded)
    made(cupy.asarray([2.0, 30.5]))
    pytocu.synchronize()
    made(cupy.asarray([2.0, -1.0, 30.5]))
    with pytest.raises(ValueError, match=r"negative \{x\}"):
        pytocu.synchronize()
    find = pytocu.vectorize(cases.table_row, excluded="table")
    find(cupy.asarray([1, 99]), cupy.ones((6, 4)))
    with pytest.raises(IndexError, match="index 99 is out of bounds for axis 0 with size 6"):
        pytocu.synchronize()


def test_empty_and_without_axes(cupy: Any) -> None:
    made = pytocu.vectorize(cases.root)
    assert made(cupy.zeros((0, 3))).shape == (0, 3)
    assert float(made(cupy.asarray(4.0))) == float(cases.root(np.float64(4.0)))
