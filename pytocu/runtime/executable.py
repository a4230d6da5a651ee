"""Code that is ready to run: a plan, and a way to its binaries.

Code that was compiled just now, found in the cache, or read from a bundle all runs through
:class:`Executable`.  Nothing here knows how code is made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pytocu.errors import BackendError, UnsupportedError
from pytocu.lazy import lazy
from pytocu.runtime import arrays, cuda, device_array, libraries, native
from pytocu.runtime.arrays import ArrayInfo
from pytocu.runtime.executors import CpuExecutor, CudaExecutor, CudaKernels, HostArraysOnCuda, device_like
from pytocu.runtime.plan import Plan, check_arguments
from pytocu.runtime.program import ANY_LIBRARY, Program, write_program


class Executable:
    """A plan and its binaries, callable with matching arguments.

    Parameters
    ----------
    name : str
        The user's name of the function, for messages.
    kind : str
        ``cpu`` or ``cuda``.
    plan : Plan
    binary : callable
        ``binary(arch)`` gives a cubin for ``sm_90``, or object code of this machine for ``""``.
    """

    def __init__(self, name: str, kind: str, plan: Plan, binary: Callable[[str], bytes]):
        self.name = name
        self.kind = kind
        self.plan = plan
        self.binary = binary
        self._short: dict[tuple[str, int | str], Program] = {}

    @lazy
    def _cpu_addresses(self) -> tuple[int, ...]:
        names = [spec.name for spec in self.plan.kernels]
        if not names:
            return ()
        loaded = native.load(self.binary(""), names)
        return tuple(loaded[n] for n in names)

    @lazy
    def _cuda_kernels(self) -> CudaKernels:
        names = [spec.name for spec in self.plan.kernels]
        return CudaKernels(self.binary, names, self.plan.failures(), self.plan.words())

    @lazy
    def _program(self) -> Program:
        return write_program(self.plan, ANY_LIBRARY, ("executor", "infos"))

    def prepare(self) -> None:
        """Load the binaries now, for the CPU or the current device, and not at the first call."""
        if self.kind == "cpu":
            _ = self._cpu_addresses
        else:
            self._cuda_kernels.on(cuda.current_device())

    def short_program(self, library: str, device: int | str) -> Program:
        """The plan for arrays of one library that are called often; see `runtime.libraries`."""
        key = (library, device)
        if key not in self._short:
            kernels = lambda number: self._cuda_kernels.on(number)  # noqa: E731
            words = self._cuda_kernels.words
            access = libraries.access_of(library, device, self.plan, kernels, lambda: self._cpu_addresses, words)
            self._short[key] = write_program(self.plan, access, ())
        return self._short[key]

    def __call__(self, *arguments: Any) -> Any:
        """Run on arrays that match the types the code was compiled for.

        Raises
        ------
        DTypeError, ShapeError, BackendError
            The arguments are others than those.
        """
        arguments = tuple(arguments)
        originals = None
        if self.kind == "cuda" and any(isinstance(a, np.ndarray) for a in arguments):
            moved = move_to_device(arguments, None)
            if moved is not None:
                originals, arguments = arguments, moved
        infos: dict[int, ArrayInfo] = {}
        for number, parameter in enumerate(self.plan.parameters[: len(arguments)]):
            if parameter.kind == "array":
                info = arrays.describe(arguments[number], parameter.name)
                if info is not None:
                    infos[number] = info
        check_arguments(self.plan, arguments, infos)
        if not self.suits(arguments, infos):
            facts = list(map(str, self.plan.assumptions))
            facts.extend("offsets fit 32 bits" for spec in self.plan.kernels[:1] if spec.index_bits == 32)
            if self.plan.written:
                names = " and ".join(self.plan.parameters[n].name for n in self.plan.written)
                facts.append(f"nothing but what was given then shares memory with {names}")
            lengths = ", ".join(f"{n} is {infos[number].shape[axis]}" for n, number, axis in self.plan.symbols)
            raise BackendError(
                f"{self.name} was compiled for arguments where {' and '.join(facts)}, and {lengths}: compile it for such "
                "arguments too (index_bits=64 for arrays of 2**31 elements and more)"
            )
        return self.run(arguments, infos, originals)

    def suits(self, arguments: Sequence[Any], infos: Mapping[int, ArrayInfo]) -> bool:
        """Whether the facts about lengths and memory that the code relies on hold for arguments of the right types."""
        return self.plan.shared(infos) == self.plan.sharing and self._program.suits(None, infos, *arguments)

    def run(self, arguments: Sequence[Any], infos: Mapping[int, ArrayInfo], originals: Sequence[Any] | None = None) -> Any:
        """Run on checked arguments.

        `originals` are the caller's NumPy arrays when the arguments are copies of them on a
        device; results are copied back then.
        """
        like = arrays.common(infos.values())
        if self.kind == "cpu":
            if like is not None and not like.on_host:
                raise BackendError(f"{self.name} was compiled for the CPU and argument {like.name} is on a GPU")
            return self._program.run(CpuExecutor(self.plan.kernels, self._cpu_addresses, like), infos, *arguments)
        if like is None:
            like = device_like(cuda.current_device())
        if originals is None:
            executor = CudaExecutor(self.plan.kernels, self._cuda_kernels, like, infos.values())
            result = self._program.run(executor, infos, *arguments)
            executor.finish()
            return result
        check_originals(self.plan, originals)
        copying = HostArraysOnCuda(self.plan.kernels, self._cuda_kernels, like, infos.values())
        result = self._program.run(copying, infos, *arguments)
        for number in self.plan.written:
            originals[number][...] = arguments[number].copy_to_host()
        return _originals(result, arguments, originals)


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
        case _:
            return result
