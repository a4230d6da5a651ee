"""Reductions on a real GPU against NumPy: every family and dtype, short and long rows and columns, both backends.

Run with ``pytest -m gpu``.  Sums are of small whole numbers, which are exact in any order, or are compared by
their error.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reduction_tools import DTYPES, FAMILIES, nearly_exact, sparse

import pytocu
from pytocu.testing.compare import compare
from pytocu.testing.operands import make_function

pytestmark = pytest.mark.gpu

SHAPES = ((5, 3), (3, 700), (700, 3), (1, 40_000), (40_000, 1), (130, 260))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("backend", ["nvvm", "cuda_c"])
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_families(cupy: Any, family: str, dtype: str, backend: str) -> None:
    texts, exact = FAMILIES[family]
    texts = [t for t in texts if "prod" not in t and (dtype != "?" or "ptp" not in t)]
    axes = ("None", "0", "1") if backend == "nvvm" else ("1",)
    chosen = [t.format(axis, axis) for axis in axes for t in texts]
    function = make_function("a", chosen, {"np": np})
    compiled = pytocu.jit(function, backend=backend)
    for shape in SHAPES:
        values = sparse(dtype, shape)
        with np.errstate(all="ignore"):
            expected = function(values)
            wanted = [(np.asarray(e), 0.0) for e in expected] if exact else nearly_exact(function, values, expected)
        for text, found, (value, ulp) in zip(chosen, compiled(cupy.asarray(values)), wanted, strict=True):
            try:
                compare(np.asarray(found.get()), value, exact, ulp)
            except AssertionError as error:
                raise AssertionError(f"{text} of {dtype} {shape}: {error}") from None


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shape", [(1, 1_000_000), (100, 10_000), (10_000, 100), (1_000_000, 3)], ids=str)
def test_sums_are_accurate_and_the_same_every_time(cupy: Any, dtype: str, shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(7).standard_normal(shape).astype(dtype)
    function = pytocu.jit(lambda x: (x.sum(), x.sum(0), x.sum(1), x.mean(0), x.var(1)))
    given = cupy.asarray(x)
    first = [v.get() for v in function(given)]
    again = [v.get() for v in function(given)]
    assert all(a.tobytes() == b.tobytes() for a, b in zip(first, again, strict=True))
    wide = x.astype(np.longdouble)
    exact = (wide.sum(), wide.sum(0), wide.sum(1), wide.mean(0), wide.var(1))
    numpys = (x.sum(), x.sum(0), x.sum(1), x.mean(0), x.var(1))
    # What is rounded on the way to a sum is as large as the root of the sum of squares.
    walked = (np.linalg.norm(x), 0, 0, 0, 0)
    for ours, theirs, value, way in zip(first, numpys, exact, walked, strict=True):
        rounding = np.spacing(np.max(np.abs(np.asarray(value, dtype)))) / 2
        allowed = max(float(np.max(np.abs(theirs - value))), float(rounding))
        # A single number is a matter of luck; eight roundings of a tree are not.
        slack = 8 * max(rounding, np.spacing(np.asarray(way, dtype)) / 2) if np.ndim(value) == 0 or np.size(value) < 4 else 0
        assert float(np.max(np.abs(ours - value))) <= 2 * allowed + slack


@pytest.mark.parametrize("length", [8, 12, 100, 2000, 32_768, 100_000, 14 * 65_536])
def test_sums_of_positive_numbers_are_as_accurate_as_numpys(cupy: Any, length: int) -> None:
    x = np.random.default_rng(7).random((min(4000, 2**24 // length), length), np.float32)
    exact = x.sum(1, dtype=np.float64)
    found = pytocu.jit(lambda x: x.sum(1))(cupy.asarray(x)).get()
    ours, numpys = (np.sqrt(np.mean((sums / exact - 1) ** 2)) for sums in (found, x.sum(1)))
    # Both are trees, and which of them has the luck is another matter for each length.
    assert ours <= 1.1 * numpys


def test_errors_of_lengths_and_data(cupy: Any) -> None:
    with pytest.raises(ValueError, match="zero-size array to reduction operation maximum"):
        pytocu.jit(lambda x: x.max())(cupy.zeros(0, np.float32))
    assert pytocu.jit(lambda x: x.sum())(cupy.zeros((0, 3), np.float32)).get() == 0
    assert pytocu.jit(lambda x: x.sum(1))(cupy.zeros((3, 0), np.float32)).get().tolist() == [0, 0, 0]
    x = cupy.asarray(np.array([[1.0, np.nan], [np.nan, np.nan]]))
    with pytest.raises(ValueError, match="All-NaN slice encountered"):
        pytocu.jit(lambda x: np.nanargmax(x, axis=1))(x)
        pytocu.synchronize()


def test_kernels_with_temporaries_in_a_process_without_a_context() -> None:
    program = (
        "import numpy as np, pytocu\n"
        "def centred(x):\n"
        "    return x - x.mean()\n"
        "x = np.arange(40000, dtype=np.float32)\n"
        "found = pytocu.jit(centred, device='cuda')(x)\n"
        "np.testing.assert_allclose(found, centred(x), rtol=1e-5)\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "centred.py"
        path.write_text(program)
        done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i4", "u8", "f2", "f4", "f8", "c8", "c16"])
def test_rows_that_begin_and_end_anywhere(cupy: Any, dtype: str) -> None:
    """Each of a row's elements is read and written, and none beside it, also where vectors are not aligned."""

    def beside_the_largest(x: Any, out: Any) -> None:
        largest = x.max(axis=1, keepdims=True)
        out[...] = x == largest if x.dtype == bool else x - largest

    compiled = pytocu.jit(beside_the_largest)
    random = np.random.default_rng(3)
    for length in (1, 2, 7, 8, 31, 64, 100, 255, 256, 1000, 1023, 1024, 2050, 4096):
        for offset in range(4):
            whole = random.integers(0, 2 if dtype == "?" else 50, (5, length + 5)).astype(dtype)
            written = np.full((5, length + 5), 1).astype(dtype)
            on_device, target = cupy.asarray(whole), cupy.asarray(written)
            x = whole[:, offset : offset + length]
            beside_the_largest(x, written[:, 3 - offset : 3 - offset + length])
            compiled(on_device[:, offset : offset + length], target[:, 3 - offset : 3 - offset + length])
            np.testing.assert_array_equal(target.get(), written, err_msg=f"{length} {offset}")
            # Rows one behind the other, which begin where the one before ends.
            flat, room = np.ascontiguousarray(whole[:, :length]).ravel(), np.ones(5 * length + 8).astype(dtype)
            behind = cupy.asarray(np.concatenate((flat[:offset], flat)))[offset:].reshape(5, length)
            target = cupy.asarray(room)
            compiled(behind, target[offset : offset + 5 * length].reshape(5, length))
            beside_the_largest(flat.reshape(5, length), room[offset : offset + 5 * length].reshape(5, length))
            np.testing.assert_array_equal(target.get(), room, err_msg=f"{length} {offset} behind")
