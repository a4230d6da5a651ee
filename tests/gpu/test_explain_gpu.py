"""Explanations of calls on a GPU are timed, and bisect runs what both backends build."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.cli.explain import as_json
from pytocu.cli.main import main
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


def standardised(x):
    centred = x - x.mean(axis=0)
    return centred / np.sqrt((centred * centred).mean(axis=0) + 1)


def heat(u, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


def shift_into(u, v):
    u[:] = v + 1
    return u


def relax(u):
    u[1:-1] = u[2:] + u[:-2]
    return u


def test_a_call_is_timed_beside_a_copy(cupy: Any) -> None:
    f = pytocu.jit(scaled)
    x = cupy.arange(1 << 22, dtype=cupy.float32)
    told = f.explain(x, 2.0)
    assert told.target.startswith("cuda:sm_")
    assert told.measured is not None and told.measured.share is not None
    assert told.measured.microseconds is not None and told.measured.microseconds > 0
    assert told.measured.copy_microseconds is not None and told.measured.copy_microseconds > 0
    assert 0 < told.measured.share < 10
    assert told.measured.device
    assert "of the speed of that copy" in str(told)
    assert told.kernels[0].bytes.number == 2 * x.nbytes
    assert told.kernels[0].taken is not None and told.kernels[0].taken.registers > 0
    assert told.recompiled is None


def test_kernels_are_timed_beside_a_large_copy(cupy: Any) -> None:
    x = cupy.ones((4096, 4096), dtype=cupy.float32)
    told = pytocu.jit(standardised).explain(x)
    assert len(told.kernels) > 1 and told.measured is not None
    assert 1e10 < told.measured.copy_rate < 2e13
    for kernel in told.kernels:
        time = kernel.measured
        assert time is not None and time.share is not None and time.launches >= 10
        assert time.microseconds > 0 and 0 < time.share < 2
    text = str(told)
    assert text.count("of the speed of a large copy (median of") == len(told.kernels)
    assert f"measured on {told.measured.device}" in text and "TB/s" in text
    html = told._repr_html_()
    assert "of the speed of a large copy" in html
    json.dumps(as_json(told))


def test_a_share_is_bytes_over_time_and_rate(cupy: Any) -> None:
    told = pytocu.jit(lambda x: x.copy()).explain(cupy.zeros(1 << 20, dtype=cupy.float32))
    (kernel,) = told.kernels
    assert told.measured is not None and kernel.measured is not None and kernel.bytes.number == 8 << 20
    rate = kernel.bytes.number / (kernel.measured.microseconds * 1e-6)
    assert kernel.measured.share == pytest.approx(rate / told.measured.copy_rate)


def test_launches_of_a_loop_are_timed(cupy: Any) -> None:
    u = cupy.arange(1 << 20, dtype=cupy.float64)
    told = pytocu.jit(heat).explain(u, 50)
    inside = [k for k in told.kernels if k.within]
    assert inside and all(k.measured is not None for k in inside)
    assert any(k.measured is not None and k.measured.launches >= 50 for k in inside)
    np.testing.assert_array_equal(u.get(), np.arange(1 << 20, dtype=np.float64))


def test_arguments_that_a_call_changes_are_copied(cupy: Any) -> None:
    u = cupy.arange(100, dtype=cupy.float32)
    told = pytocu.jit(relax).explain(u)
    assert told.measured is not None and told.measured.microseconds is None
    assert all(k.measured is not None for k in told.kernels)
    assert "its kernels ran on copies" in str(told)
    np.testing.assert_array_equal(u.get(), np.arange(100, dtype=np.float32))


def test_changed_arguments_that_lie_in_memory_in_another_way_are_not_timed(cupy: Any) -> None:
    u = cupy.arange(200, dtype=cupy.float32)
    told = pytocu.jit(relax).explain(u[::2])
    assert told.measured is None and any("a copy lies in memory in another way" in note for note in told.notes)
    np.testing.assert_array_equal(u.get(), np.arange(200, dtype=np.float32))


def test_changed_arguments_that_share_memory_are_not_timed(cupy: Any) -> None:
    u = cupy.arange(200, dtype=cupy.float32)
    told = pytocu.jit(shift_into).explain(u[:100], u[50:150])
    assert told.measured is None and any("share memory" in note for note in told.notes)
    np.testing.assert_array_equal(u.get(), np.arange(200, dtype=np.float32))


def test_a_call_that_fails_is_explained(cupy: Any) -> None:
    x, i = cupy.arange(5, dtype=cupy.float32), cupy.array([0, 7])
    told = pytocu.jit(lambda x, i: x[i] * 2).explain(x, i)
    assert told.measured is None and len(told.kernels) == 1
    assert any(note.startswith("not timed: ") and "out of bounds" in note for note in told.notes)
    # What the kernel has noted is said, and not raised by a later call.
    np.testing.assert_array_equal(pytocu.jit(scaled)(x, 2.0).get(), np.arange(5) * 2 + 1)


def test_torch_tensors_are_timed(torch: Any) -> None:
    told = pytocu.jit(scaled).explain(torch.ones(1 << 22, device="cuda"), 2.0)
    assert told.measured is not None and told.kernels[0].measured is not None


def test_numpy_arrays_that_are_copied_are_not_timed() -> None:
    told = pytocu.jit(scaled, device="cuda").explain(np.ones(10, np.float32), 2.0)
    assert told.measured is None
    assert len(told.kernels) == 1
    assert any("NumPy arrays are copied" in note for note in told.notes)


def test_the_command_measures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "rows.py"
    file.write_text("import numpy as np\ndef total(x, k):\n    return np.sqrt(x).sum(axis=1) * k\n")
    assert main(["explain", f"{file}:total", "--args", "f32[4096, 1024], weak int", "--measure"]) == 0
    shown = capsys.readouterr().out
    assert "of the speed of a large copy (median of" in shown and "measured on " in shown


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
