"""Masks, compaction, counts and library calls on a GPU, with CuPy arrays and tensors.

The functions and arguments are those of the tests without a GPU.  Run with ``pytest -m gpu``.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import test_compaction
import test_histograms
import test_library_calls
import test_masks
from mask_tools import outcome

import pytocu
from pytocu.testing.compare import compare

pytestmark = pytest.mark.gpu

Case = tuple[Callable[..., Any], tuple[Any, ...]]
MASKS: list[Case] = [
    *test_masks.CASES,
    (test_masks.reductions, (test_masks.LONG,)),
    (test_masks.by_rows, (test_masks.SMALL, np.array([True, False, True, True]))),
    (test_masks.several, (test_masks.LONG, test_masks.LONG[::-1].copy())),
]
COMPACTIONS: list[Case] = list(test_compaction.CASES)
COUNTS: list[Case] = [(f, a) for f, a, _ in test_histograms.CASES]
CALLS: list[Case] = [(f, a) for f, a, _ in test_library_calls.CASES]
EVERY: list[Case] = [*MASKS, *COMPACTIONS, *COUNTS, *CALLS]
LARGE = np.random.default_rng(0).standard_normal(3_000_017)


def fetched(value: Any) -> Any:
    """The result with NumPy arrays in place of the library's."""
    if isinstance(value, (tuple, list)):
        return tuple(map(fetched, value))
    if hasattr(value, "get"):
        return value.get()
    return value.cpu().numpy() if hasattr(value, "cpu") else value


def alike(found: Any, expected: Any) -> None:
    """NumPy's dtype and shape, and its values within what another library's products and sums are off."""
    if isinstance(expected, tuple):
        assert len(found) == len(expected)
        for one, wanted in zip(found, expected, strict=True):
            alike(one, wanted)
        return
    if expected is None or (isinstance(expected, (int, float)) and not isinstance(expected, np.generic)):
        assert found == expected
        return
    one, wanted = np.asarray(found), np.asarray(expected)
    assert (one.dtype, one.shape) == (wanted.dtype, wanted.shape)
    if wanted.dtype.kind not in "fc":
        np.testing.assert_array_equal(one, wanted)
        return
    scale = np.nanmax(np.abs(wanted), initial=0) if wanted.size else 0
    tolerance = 1e-9 if wanted.dtype.itemsize >= 8 and wanted.dtype != np.complex64 else 1e-3
    np.testing.assert_allclose(one, wanted, rtol=tolerance, atol=tolerance * scale)


def run_case(function: Callable[..., Any], arguments: tuple[Any, ...], to_device: Callable[[Any], Any]) -> None:
    """The answer, or the exception, and the changed arguments."""
    changed = copy.deepcopy(arguments)
    expected = outcome(lambda: function(*changed))
    given = [to_device(a) if isinstance(a, np.ndarray) else a for a in arguments]

    def called() -> Any:
        made = fetched(pytocu.jit(function)(*given))
        pytocu.synchronize()
        return made

    found = outcome(called)
    if isinstance(expected, Exception):
        assert isinstance(found, type(expected)), f"{found!r} in place of {expected!r}"
        return
    if isinstance(found, Exception):
        raise found
    alike(found, fetched(expected) if isinstance(expected, (tuple, list)) else expected)
    for one, wanted in zip(given, changed, strict=True):
        if isinstance(wanted, np.ndarray):
            alike(fetched(one), wanted)


@pytest.mark.parametrize(("function", "arguments"), EVERY, ids=lambda v: getattr(v, "__name__", ""))
def test_cupy(function: Callable[..., Any], arguments: tuple[Any, ...], cupy: Any) -> None:
    run_case(function, arguments, cupy.asarray)


def has_tensors(arguments: tuple[Any, ...]) -> bool:
    """PyTorch computes neither with unsigned integers beyond bytes nor with negative strides."""
    arrays = [a for a in arguments if isinstance(a, np.ndarray)]
    return all(a.dtype.name not in ("uint16", "uint32", "uint64") and all(s >= 0 for s in a.strides) for a in arrays)


@pytest.mark.parametrize(
    ("function", "arguments"),
    [(f, a) for f, a in EVERY if has_tensors(a)],
    ids=lambda v: getattr(v, "__name__", ""),
)
def test_tensors(function: Callable[..., Any], arguments: tuple[Any, ...], torch: Any) -> None:
    run_case(function, arguments, lambda a: torch.as_tensor(a.copy()).cuda())


@pytest.mark.parametrize("backend", ["nvvm", "cuda_c"])
def test_large(backend: str, cupy: Any) -> None:
    """Long scans in pieces, many blocks, and the same bits on every run."""
    x = cupy.asarray(LARGE)
    places = cupy.asarray((np.abs(LARGE) * 1000).astype(np.int64))

    def work(x: Any, i: Any) -> Any:
        return x[x > 0.5], np.flatnonzero(x < -1), np.bincount(i), np.bincount(i, x), np.histogram(x, 100, (-3.0, 3.0))[0]

    jitted = pytocu.jit(work, backend=backend)
    first, again = (fetched(jitted(x, places)) for _ in range(2))
    compare(first, again)
    expected = work(LARGE, cupy.asnumpy(places))
    compare(first, expected)


@pytest.mark.parametrize("backend", ["nvvm", "cuda_c"])
def test_masks_in_pieces(backend: str, cupy: Any) -> None:
    """Masks of all, none and some, which end and begin anywhere; what they choose of rows and of other dtypes."""

    def work(x: Any, m: Any, rows: Any) -> Any:
        return x[m], np.flatnonzero(m), x[1:][m[:-1]] * 2, rows[m], rows.T[:, m], x.astype(np.complex128)[m]

    jitted = pytocu.jit(work, backend=backend)
    draw = np.random.default_rng(3)
    for size in (16_384, 16_385, 100_001, 3_000_007):
        x, rows = draw.random(size, dtype=np.float32), draw.integers(0, 100, (size, 3), np.int8)
        for share in (0.0, 0.001, 0.5, 0.99, 1.0):
            m = draw.random(size) < share
            compare(fetched(jitted(cupy.asarray(x), cupy.asarray(m), cupy.asarray(rows))), work(x, m, rows))


def test_a_capture_is_refused(cupy: Any) -> None:
    x = cupy.arange(-5.0, 5)
    jitted = pytocu.jit(lambda x: x[x > 0])
    jitted(x)
    stream = cupy.cuda.Stream(non_blocking=True)
    with stream, pytest.raises(pytocu.UnsupportedError, match="forbids"):
        stream.begin_capture()
        try:
            jitted(x)
        finally:
            with contextlib.suppress(cupy.cuda.runtime.CUDARuntimeError):
                stream.end_capture()


def test_arrays_of_other_libraries_have_no_library_calls() -> None:
    with pytest.raises(pytocu.UnsupportedError, match="pass arrays of NumPy, CuPy or PyTorch"):
        pytocu.jit(lambda a: a @ a.T, device="cuda")(np.ones((40, 40)))
