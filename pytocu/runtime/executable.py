"""Code that is ready to run: a plan, and a way to its binaries.

Code that was compiled just now, found in the cache, or read from a bundle all runs through
:class:`Executable`.  Nothing here knows how code is made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pytocu.deferred import DeferredModule
from pytocu.errors import BackendError
from pytocu.lazy import lazy
from pytocu.processes import fork_waits
from pytocu.runtime import access, arrays, cuda
from pytocu.runtime.arrays import ArrayInfo
from pytocu.runtime.plan import Plan, check_arguments
from pytocu.runtime.plan_loops import steady
from pytocu.runtime.program import Program
from pytocu.runtime.templates import ANY_LIBRARY

if TYPE_CHECKING:
    from pytocu.runtime.on_cuda import CudaKernels

cpu_part = DeferredModule("pytocu.runtime.on_cpu")
cuda_part = DeferredModule("pytocu.runtime.on_cuda")
copying_part = DeferredModule("pytocu.runtime.copying")
"""Takes NumPy arrays to a GPU and back, where that was asked for."""


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
    steps : callable
        ``steps()`` gives this machine's object code of the functions that make loops of launches on a GPU, or None.
    """

    def __init__(
        self,
        name: str,
        kind: str,
        plan: Plan,
        binary: Callable[[str], bytes],
        steps: Callable[[], bytes | None] = lambda: None,
    ):
        self._steps = steps
        self.name = name
        self.kind = kind
        self.plan = plan
        self.binary = binary
        self._short: dict[tuple[str, int | str], Program] = {}

    @lazy
    def _cpu_addresses(self) -> tuple[int, ...]:
        with fork_waits():
            return cpu_part().load(self.plan, self.binary)

    @lazy
    def _cuda_kernels(self) -> CudaKernels:
        names = [spec.name for spec in self.plan.kernels]
        plan = self.plan
        loops = steady(plan, True)
        return cuda_part().CudaKernels(self.binary, names, plan.failures(), plan.words(), plan.kernels, loops, self._steps)

    @lazy
    def _cpu_loops(self) -> Mapping[int, Any]:
        with fork_waits():
            return cpu_part().loops_of(self.plan, self._cpu_addresses)

    @property
    def cpu_addresses(self) -> tuple[int, ...]:
        """The native functions, loaded."""
        return self._cpu_addresses

    def words_on(self, device: int) -> Any:
        """The words on a device in which kernels note what is wrong with the data."""
        return self._cuda_kernels.words(device)

    @property
    def cuda_kernels(self) -> CudaKernels:
        """The kernels, loaded when a device is named."""
        return self._cuda_kernels

    @lazy
    def _program(self) -> Program:
        return Program(self.plan, ANY_LIBRARY, ("executor", "infos"))

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
            graphs = lambda number: self._cuda_kernels.graphs(number)  # noqa: E731
            reads = access.access_of(library, device, self.plan, kernels, lambda: self._cpu_addresses, self.words_on, graphs)
            self._short[key] = Program(self.plan, reads, ())
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
            moved = copying_part().move_to_device(arguments, None)
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
            # Only errors ask.
            from pytocu.runtime.changes import sharing_text

            facts = list(map(str, self.plan.assumptions))
            facts.extend("offsets fit 32 bits" for spec in self.plan.kernels[:1] if spec.index_bits == 32)
            parts = [p.name for p in self.plan.parameters]
            given = [f"{n} is {infos[number].shape[axis]}" for n, number, axis in self.plan.symbols]
            if (shared := self.plan.shared(infos)) != self.plan.sharing:
                facts.append(sharing_text(self.plan.sharing, parts) or "a changed argument shares memory with no other")
                given.append(sharing_text(shared, parts) or "none of these share memory")
            raise BackendError(
                f"{self.name} was compiled for arguments where {' and '.join(facts)}, and {', '.join(given)}: compile it for "
                "such arguments too (index_bits=64 for arrays of 2**31 elements and more)"
            )
        return self.run(arguments, infos, originals)

    def suits(self, arguments: Sequence[Any], infos: Mapping[int, ArrayInfo]) -> bool:
        """Whether the facts about lengths and memory that the code relies on hold for arguments of the right types."""
        return self.plan.shared(infos) == self.plan.sharing and self._program.suits(None, infos, *arguments)

    def run_with(self, executor: Any, arguments: Sequence[Any], infos: Mapping[int, ArrayInfo]) -> Any:
        """Run on checked arguments with an executor of the caller's, as :class:`~pytocu.runtime.on_cuda.CudaExecutor`."""
        result = self._program.run(executor, infos, *arguments)
        executor.finish()
        return result

    def run(self, arguments: Sequence[Any], infos: Mapping[int, ArrayInfo], originals: Sequence[Any] | None = None) -> Any:
        """Run on checked arguments.

        `originals` are the caller's NumPy arrays when the arguments are copies of them on a
        device; results are copied back then.
        """
        like = arrays.common(infos.values())
        if self.kind == "cpu":
            if like is not None and not like.on_host:
                raise BackendError(f"{self.name} was compiled for the CPU and argument {like.name} is on a GPU")
            executor = cpu_part().CpuExecutor(self.plan, self._cpu_addresses, self._cpu_loops, like)
            return self._program.run(executor, infos, *arguments)
        if like is None:
            like = copying_part().device_like(cuda.current_device())
        if originals is not None:
            return copying_part().run(self.plan, self._program, self._cuda_kernels, like, arguments, infos, originals)
        executor = cuda_part().CudaExecutor(self.plan.kernels, self._cuda_kernels, like, infos.values())
        return self.run_with(executor, arguments, infos)
