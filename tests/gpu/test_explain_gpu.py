"""Explanations of calls on a GPU are timed, and bisect runs what both backends build."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.testing.bisect import Outcome, bisect
from pytocu.testing.planted import FAULTS, Fault, planted

pytestmark = pytest.mark.gpu

BY_NAME = {f.name: f for f in FAULTS}


def scaled(x, k):
    return x * k + 1


def shifted(x):
    return x.astype(np.float32) * 2


def wrapped(x, y):
    return x - y


def relax(u):
    u[1:-1] = u[2:] + u[:-2]
    return u


def test_a_call_is_timed_beside_a_copy(cupy: Any) -> None:
    f = pytocu.jit(scaled)
    x = cupy.arange(1 << 22, dtype=cupy.float32)
    told = f.explain(x, 2.0)
    assert told.target.startswith("cuda:sm_")
    assert told.measured is not None
    assert told.measured.microseconds > 0
    assert told.measured.copy_microseconds > 0
    assert 0 < told.measured.share < 10
    assert told.measured.device
    assert "of the copy limit" in str(told)
    assert told.kernels[0].bytes.number == 2 * x.nbytes
    assert told.kernels[0].taken is not None and told.kernels[0].taken.registers > 0
    assert told.recompiled is None


def test_a_call_that_changes_its_arguments_is_not_made(cupy: Any) -> None:
    u = cupy.arange(100, dtype=cupy.float32)
    told = pytocu.jit(relax).explain(u)
    assert told.measured is None
    assert any("changes its arguments" in note for note in told.notes)
    np.testing.assert_array_equal(u.get(), np.arange(100, dtype=np.float32))


def test_numpy_arrays_that_are_copied_are_not_timed() -> None:
    told = pytocu.jit(scaled, device="cuda").explain(np.ones(10, np.float32), 2.0)
    assert told.measured is None
    assert len(told.kernels) == 1


@pytest.mark.parametrize("function", [scaled, shifted, relax])
def test_nothing_is_wrong_on_a_gpu(function: Any) -> None:
    said: list[Outcome] = []
    values: dict[str, Any] = {"x": np.arange(50, dtype=np.float32), "k": 3} if function is scaled else {}
    if function is shifted:
        values = {"x": np.arange(50, dtype=np.uint64)}
    if function is relax:
        values = {"u": np.arange(50, dtype=np.float32)}
    assert bisect(pytocu.jit(function), values, ("cuda:sm_90",), said.append) is None
    backends = {o.step: o.verdict for o in said if o.step.startswith("the backend")}
    assert backends == {"the backend nvvm, cuda:sm_90": "same", "the backend cuda_c, cuda:sm_90": "same"}


@pytest.mark.parametrize(
    ("fault", "function", "values", "backend"),
    [
        (
            BY_NAME["unsigned integers become floats as signed ones"],
            shifted,
            {"x": np.array([2**63 + 2**40, 5], np.uint64)},
            "nvvm",
        ),
        (
            Fault("operands of C change places", "pytocu.backend.c_expressions:wrapping", "else binary(token, *args)",
                  "else binary(token, *args[::-1])"),
            wrapped,
            {"x": np.array([1, 2], np.int32), "y": np.array([5, 7], np.int32)},
            "cuda_c",
        ),
    ],
    ids=["nvvm", "cuda_c"],
)  # fmt: skip
def test_a_fault_of_a_backend_is_found(fault: Fault, function: Any, values: dict[str, Any], backend: str) -> None:
    with planted(fault):
        found = bisect(pytocu.jit(function), values, ("cuda:sm_90",))
    assert found is not None
    assert (found.kind, found.name) == ("backend", backend)
