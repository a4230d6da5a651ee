"""NumPy arrays on a GPU: copied there for a call, and back.

``device="cuda"`` asks for it; nothing else copies between host and device.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pytocu.errors import UnsupportedError
from pytocu.runtime import arrays, cuda, device_array
from pytocu.runtime.arrays import ArrayInfo
from pytocu.runtime.on_cuda import CudaExecutor, CudaKernels
from pytocu.runtime.plan import Plan
from pytocu.runtime.program import Program


class HostArraysOnCuda(CudaExecutor):
    """NumPy arrays in and out of kernels on a device (``device="cuda"``): copies both ways."""

    def scalar(self, array: Any) -> Any:
        """A NumPy scalar."""
        return array.copy_to_host()[()]

    def array(self, array: Any) -> Any:
        """A NumPy array."""
        return array.copy_to_host()


def run(
    plan: Plan,
    program: Program,
    kernels: CudaKernels,
    like: ArrayInfo,
    arguments: Sequence[Any],
    infos: Mapping[int, ArrayInfo],
    originals: Sequence[Any],
) -> Any:
    """Run a program for any library on copies of the caller's NumPy arrays; results are copied back."""
    check_originals(plan, originals)
    executor = HostArraysOnCuda(plan.kernels, kernels, like, infos.values())
    result = program.run(executor, infos, *arguments)
    for number in plan.written:
        originals[number][...] = arguments[number].copy_to_host()
    return _originals(result, arguments, originals)


def device_like(device: int) -> ArrayInfo:
    """What results of a call without arrays are like: pytocu's own arrays on the device."""
    info = arrays.describe(device_array.empty((1,), np.dtype(np.float32), device), "result")
    assert info is not None
    return info


def move_to_device(arguments: Sequence[Any], device: int | None) -> tuple[Any, ...] | None:
    """The arguments with NumPy arrays copied to a device.

    None when one of them is on a device already: nothing has to be copied then, and the
    results belong to that array's library.
    """
    infos = [None if is_scalar(a) else arrays.describe(a, f"number {n}") for n, a in enumerate(arguments)]
    if any(info is not None and not info.on_host for info in infos):
        return None
    where = cuda.current_device() if device is None else device
    copies: dict[Any, Any] = {}
    moved: list[Any] = []
    for argument, info in zip(arguments, infos, strict=True):
        if info is None or info.library != "numpy":
            moved.append(argument)
            continue
        # One copy of one array, so that what is written to it is seen under each of its names.
        key = (info.pointer, info.dtype, info.shape, info.byte_strides)
        if key not in copies:
            copies[key] = device_array.to_device(np.array(argument, order="C"), where)
        moved.append(copies[key])
    return tuple(moved)


def check_originals(plan: Plan, originals: Sequence[Any]) -> None:
    """Refuse NumPy arrays that cannot be changed by way of copies on a device.

    Raises
    ------
    ShapeError
        Read-only, or several indices share one element.
    UnsupportedError
        A changed array overlaps another argument, whose copy would not change with it.
    """
    infos: dict[int, ArrayInfo] = {}
    for number, parameter in enumerate(plan.parameters):
        info = arrays.describe(originals[number], parameter.name) if parameter.kind == "array" else None
        if info is not None:
            infos[number] = info
    for number in plan.written:
        arrays.check_output(infos[number])
    for kind, numbers in plan.shared(infos):
        if kind != "same":
            first, second, *_ = (infos[n].name for n in numbers)
            raise UnsupportedError(
                f"the arguments {first} and {second} overlap, one is written, and each is copied to the device apart",
                help=f"pass a copy of {second}",
            )


def is_scalar(value: Any) -> bool:
    """A Python or NumPy scalar, a string or None: no array, whatever else it is."""
    return value is None or isinstance(value, (bool, int, float, complex, str, bytes, np.generic))


def _originals(result: Any, launched: Sequence[Any], arguments: Sequence[Any]) -> Any:
    """Arguments that are returned are the caller's, not the copies; views of them are copied back."""
    match result:
        case tuple() if hasattr(result, "_fields"):
            named: Any = type(result)
            return named._make(_originals(r, launched, arguments) for r in result)
        case tuple():
            return tuple(_originals(r, launched, arguments) for r in result)
        case list():
            return [_originals(r, launched, arguments) for r in result]
        case dict():
            return {k: _originals(v, launched, arguments) for k, v in result.items()}
        case device_array.DeviceArray():
            for copy, original in zip(launched, arguments, strict=True):
                if copy is result:
                    return original
            return result.copy_to_host()
        case _ if not is_scalar(result) and hasattr(result, "__dict__"):
            # An object that the function made.
            for name, member in vars(result).items():
                object.__setattr__(result, name, _originals(member, launched, arguments))
            return result
        case _:
            return result
