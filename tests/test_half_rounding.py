"""float16 results whose sign LLVM takes from the float64 that they are computed in."""

from __future__ import annotations

import ctypes
import platform

import numpy as np
import pytest

import pytocu
from pytocu.backend import cpu
from pytocu.runtime import native
from pytocu.testing.compare import compare, edge_values


@pytest.mark.parametrize("shape", [(1,), (1, 1), (40,)])
def test_parts_of_a_float16_computed_in_float64(shape: tuple[int, ...]) -> None:
    def parts(x):
        whole = np.hypot(2, x[::-1])
        return np.modf(whole)[0], np.modf(np.exp(whole))[1], np.copysign(3, np.tanh(whole))

    x = (np.arange(np.prod(shape)) % 9).astype(np.int8).reshape(shape)
    compare(pytocu.jit(parts)(x), parts(x), exact=False, ulp=1)


COPY = """define void @copy(ptr noalias %slots, i64 %begin, i64 %end) nounwind "no-builtins" {
entry:
  %to = getelementptr ptr, ptr %slots, i64 1
  %x = load ptr, ptr %slots
  %out = load ptr, ptr %to
  br label %loop
loop:
  %i = phi i64 [ %begin, %entry ], [ %next, %loop ]
  %from = getelementptr double, ptr %x, i64 %i
  %v = load double, ptr %from
  %narrow = fptrunc double %v to half
  %at = getelementptr half, ptr %out, i64 %i
  store half %narrow, ptr %at
  %next = add i64 %i, 1
  %more = icmp slt i64 %next, %end
  br i1 %more, label %loop, label %done
done:
  ret void
}"""


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="the function is x86-64's")
def test_the_code_generators_own_rounding_is_numpys() -> None:
    around = edge_values(np.float16, 4000).astype(np.float64)
    with np.errstate(all="ignore"):
        near = np.concatenate([around * (1 + k * 2.0**-p) for k in (-1, 0, 1) for p in (11, 12, 25, 40, 52)])
    x = np.concatenate([edge_values(np.float64, 4000), near, np.array([65519.99999999999, 65520.0, 2.0**-25, 2.0**-126])])
    out = np.empty(x.shape, np.float16)
    address = native.load(cpu.build(COPY), ["copy"])["copy"]
    slots = np.array([x.ctypes.data, out.ctypes.data])
    ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)(address)(slots.ctypes.data, 0, x.size)
    with np.errstate(all="ignore"):
        compare(out, x.astype(np.float16))
