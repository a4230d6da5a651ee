"""NumPy functions whose cases stand in other files, on a real GPU: both backends, against NumPy.

Run with ``pytest -m gpu``.
"""

from __future__ import annotations

import numpy as np
import pytest
import test_histograms_2d
import test_index_tricks
import test_least_squares
import test_partitions
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


@pytest.mark.parametrize("name", test_partitions.CASES)
def test_partitions_on_both_sides(name: str, backend: str) -> None:
    cupy = pytest.importorskip("cupy")
    function, arguments = test_partitions.CASES[name]
    x, k = arguments
    found = pytocu.jit(function, backend=backend)(cupy.asarray(x), k)
    compare(tuple(cupy.asnumpy(f) for f in found[1:3]), tuple(np.asarray(e) for e in function(x, k)[1:3]))


def test_pairs_are_counted(backend: str) -> None:
    cupy = pytest.importorskip("cupy")
    function, arguments = test_histograms_2d.CASES["counted"]
    found = pytocu.jit(function, backend=backend)(*map(cupy.asarray, arguments))
    compare(cupy.asnumpy(found[0]), function(*arguments)[0])


@pytest.mark.parametrize("name", test_least_squares.CASES)
def test_least_squares_of_singular_values(name: str, backend: str) -> None:
    cupy = pytest.importorskip("cupy")
    a, b = test_least_squares.CASES[name]
    found = pytocu.jit(test_least_squares.solved, backend=backend)(cupy.asarray(a), cupy.asarray(b))
    wanted = test_least_squares.solved(a, b)
    np.testing.assert_allclose(cupy.asnumpy(found[0]), wanted[0], rtol=1e-9)
    assert found[1].shape == wanted[1].shape and int(found[2]) == wanted[2]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_nan_with_a_sign_are_sorted_behind_all_others(dtype: type, backend: str) -> None:
    cupy = pytest.importorskip("cupy")

    def ordered(x):
        return np.sort(x), np.sort(x * 1, kind="stable"), np.argsort(x, kind="stable"), np.median(x[3:]), np.unique(x)

    x = np.array([1, -np.nan, np.nan, -np.inf, np.inf, -1, -0.0], dtype)
    found = pytocu.jit(ordered, backend=backend)(cupy.asarray(x))
    for made, expected in zip(found, ordered(x), strict=True):
        compare(made.get(), np.asarray(expected))


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("library", ["cupy", "torch"])
def test_complex_numbers_of_which_a_part_is_nan_are_sorted_as_numpy_does(library: str, dtype: type, backend: str) -> None:
    module = pytest.importorskip(library)

    def ordered(x, y):
        return np.sort(x, kind="stable"), np.argsort(y, 0, kind="stable"), np.sort(y, 0, kind="stable"), np.unique(x)

    tiny = np.finfo(dtype).smallest_subnormal
    parts = [1, -np.nan, np.nan, -np.inf, np.inf, -1, -0.0, tiny, -3 * tiny]
    x = np.random.default_rng(1).permutation(np.array([complex(a, b) for a in parts for b in parts], dtype))
    y = np.stack([x, x[::-1]], axis=1)
    arguments = (module.asarray(x), module.asarray(y)) if library == "cupy" else (
        module.from_numpy(x).cuda(), module.from_numpy(y).cuda())  # fmt: skip
    found = pytocu.jit(ordered, backend=backend)(*arguments)
    for made, expected in zip(found, ordered(x, y), strict=True):
        compare(made.get() if library == "cupy" else made.cpu().numpy(), expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_zeros_of_both_signs_keep_their_order_where_it_is_asked_for(dtype: type, backend: str) -> None:
    cupy = pytest.importorskip("cupy")

    def ordered(x):
        return np.sort(x, kind="stable"), np.argsort(x, kind="stable")

    x = np.tile(np.array([1, 0.0, -0.0, -1, -0.0, 0.0], dtype), 3)
    for made, expected in zip(pytocu.jit(ordered, backend=backend)(cupy.asarray(x)), ordered(x), strict=True):
        compare(made.get(), expected)
