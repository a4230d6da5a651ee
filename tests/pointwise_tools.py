"""What the tests of loops on a GPU share: kernels of functions, run thread by thread and compared with NumPy."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import pytocu
from pytocu.ir.core import Function, Inst, Value, walk
from pytocu.ir.dims import evaluate
from pytocu.ir.interp_threads import run_threads
from pytocu.ir.types import ArrayType, DType, IndexType, PointerType, VectorType
from pytocu.planning import kernel_function, launches
from pytocu.runtime.strides import laid_out
from pytocu.testing.compare import compare


def numbers(dtype: DType, *shape: int) -> np.ndarray:
    """Small numbers that differ from their neighbours."""
    values = ((np.arange(int(np.prod(shape))) * 7 + 1) % 51).reshape(shape)
    return values % 3 == 1 if dtype.kind == "b" else (values * (1 + 2j) if dtype.kind == "c" else values).astype(dtype.numpy)


def at(address: int, values: np.ndarray) -> np.ndarray:
    """A copy of the values that begins `address` bytes behind a multiple of 64."""
    memory = np.zeros(values.nbytes + 128, np.uint8)
    first = -memory.ctypes.data % 64 + address
    copy = memory[first : first + values.nbytes].view(values.dtype).reshape(values.shape)
    copy[...] = values
    return copy


def new_array(value: Value, shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """Zeros in the order in which a result of a launch lies in memory, beginning at a multiple of 64."""
    laid, axes = laid_out(shape, value.type.layout if isinstance(value.type, ArrayType) else "C")
    return at(0, np.zeros(laid, dtype)).transpose(axes)


def launch_of(function: Callable[..., Any], *types: str) -> tuple[Function, Inst]:
    """The one kernel of a function for a GPU, and its launch."""
    host = pytocu.jit(function).lower(*types).host("cuda:sm_90")
    (launch,) = launches(host)
    return kernel_function(host, launch), launch


def sizes_of(types: Sequence[str], arrays: Sequence[np.ndarray]) -> dict[str, int]:
    """What the lengths named in the types are."""
    found: dict[str, int] = {}
    for type, array in zip(types, arrays, strict=True):
        for name, length in zip(re.findall(r"\w+", type.partition("[")[2]), np.shape(array), strict=True):
            if not name.isdigit():
                found[name] = length
    return found


def given_to(kernel: Function, launch: Inst, arrays: dict[str, np.ndarray], sizes: dict[str, int]) -> list[Any]:
    """The arguments of a kernel: arrays by name, lengths as the launch states them."""
    pairs = zip(kernel.params, launch.args, strict=True)
    return [evaluate(a.inst.attr("value"), sizes) if isinstance(p.type, IndexType) else arrays[p.name] for p, a in pairs]


def check(function: Callable[..., Any], types: Sequence[str], arrays: Sequence[np.ndarray], **options: Any) -> None:
    """Run the kernel thread by thread on copies and compare with NumPy, bit for bit."""
    kernel, launch = launch_of(function, *types)
    check_kernel(kernel, launch, function, types, arrays, **options)


def check_kernel(
    kernel: Function,
    launch: Inst,
    function: Callable[..., Any],
    types: Sequence[str],
    arrays: Sequence[np.ndarray],
    place: int = 0,
    **options: Any,
) -> None:
    """The same for a kernel that was made before; the first array begins `place` bytes behind a multiple of 64."""
    expected = function(*(a.copy() for a in arrays))
    expected = expected if isinstance(expected, tuple) else (expected,)
    inputs = [p.name for p in kernel.params if isinstance(p.type, PointerType)][: len(arrays)]
    outs = [p.name for p in kernel.params if isinstance(p.type, PointerType)][len(arrays) :]
    named = {n: at(0 if k else place, a) for k, (n, a) in enumerate(zip(inputs, arrays, strict=True))}
    results = {p.name: a for p, a in zip(kernel.params, launch.args, strict=True)}
    named |= {name: new_array(results[name], e.shape, e.dtype) for name, e in zip(outs, expected, strict=True)}
    run_threads(kernel, given_to(kernel, launch, named, sizes_of(types, arrays)), **options)
    for name, wanted in zip(outs, expected, strict=True):
        compare(named[name], wanted)
        if wanted.size:
            moving = [axis for axis, length in enumerate(wanted.shape) if length > 1]
            assert [named[name].strides[a] for a in moving] == [wanted.strides[a] for a in moving]


def vectors(kernel: Function) -> dict[str, int]:
    """Bytes of the vectors that are loaded and stored, by the pointer's name."""
    found: dict[str, int] = {}
    for inst in walk(kernel.body):
        moved = inst.types[0] if inst.op.name == "load" else inst.args[2].type if inst.op.name == "store" else None
        if isinstance(moved, VectorType):
            found[inst.args[0].name] = moved.lanes * moved.dtype.itemsize
    return found
