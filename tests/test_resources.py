"""Registers, spills and shared memory of built kernels, read from the cubin."""

from __future__ import annotations

import numpy as np
import pytest

import pytocu
from pytocu.backend import cubin, nvrtc
from pytocu.errors import BackendError


def scaled(x, y):
    return x * 2 + y


def wide(x, y):
    """150 operations; 24 values are needed until the end."""
    values = [x + 1.0]
    for k in range(23):
        values.append(values[-1] * y + k)
    total = values[0]
    for k in range(1, 24):
        total = total * values[24 - k]
    for k in range(24):
        total = total - values[k] / (total + k)
    return total


@pytest.mark.parametrize("backend", ["nvvm", "cuda_c"])
def test_resources_of_a_kernel(backend: str):
    compiled = pytocu.jit(scaled).lower("f32[n]", "f32[n]").compile("cuda:sm_90", backend=backend)
    (taken,) = compiled.resources
    assert 16 <= taken.registers <= 48
    assert taken.local_bytes == 0
    assert taken.shared_bytes == 0
    assert taken.code_bytes >= 512
    assert str(taken) == f"{taken.registers} registers, no spills, 0 bytes shared, {taken.code_bytes} bytes of code"


def test_many_live_values_do_not_spill():
    compiled = pytocu.jit(wide).lower("f32[n]", "f32[n]").compile("cuda:sm_90")
    assert len(compiled.kernels) == 1
    (taken,) = compiled.resources
    assert 24 <= taken.registers <= 255
    assert taken.local_bytes == 0


def test_a_reduction_has_shared_memory():
    compiled = pytocu.jit(lambda x: x.sum(axis=1)).lower("f32[n, 4096]").compile("cuda:sm_90")
    assert sum(taken.shared_bytes for taken in compiled.resources) > 0


def test_spills_are_counted():
    """An array that is indexed at run time lies where spills do."""
    source = """
    extern "C" __global__ void table(int* x) {
        int a[64];
        for (int k = 0; k < 64; k++) a[x[k] & 63] = k;
        x[0] = a[x[1] & 63];
    }"""
    taken = cubin.resources(nvrtc.build(source, "sm_90", "table"), "table")
    assert taken.local_bytes == 256
    assert "256 bytes a thread beside them" in str(taken)


def test_what_is_no_cubin_is_refused():
    with pytest.raises(BackendError, match="no cubin with a kernel scaled"):
        cubin.resources(b"\x7fELF", "scaled")
    compiled = pytocu.jit(scaled).lower("f32[n]", "f32[n]").compile("cuda:sm_90")
    with pytest.raises(BackendError, match="no cubin with a kernel other"):
        cubin.resources(compiled.binary, "other")
    with pytest.raises(BackendError, match="CUDA targets"):
        _ = pytocu.jit(scaled).lower("f32[n]", "f32[n]").compile("cpu").resources


@pytest.mark.parametrize(("length", "threads"), [(4096, 2048), (8192, 1536)])
def test_rows_that_are_changed_by_little_leave_registers_to_other_rows(length: int, threads: int):
    """While one block adds up its row, others load theirs."""

    def scaled(x, weight, bias):
        centred = x - x.mean(axis=1, keepdims=True)
        return centred / np.sqrt((centred * centred).mean(axis=1, keepdims=True) + 1e-5) * weight + bias

    row = np.empty(length, np.float32)
    for backend, bounds in (("nvvm", f'"minctasm", i32 {threads // 512}'), ("cuda_c", f"(512, {threads // 512}) ")):
        compiled = pytocu.jit(scaled, backend=backend).lower(np.empty((64, length), np.float32), row, row).compile("cuda:sm_90")
        assert bounds in compiled.source
        (kernel,) = compiled.kernels
        assert cubin.resources(compiled.binary, kernel.name).registers <= 65536 // threads
