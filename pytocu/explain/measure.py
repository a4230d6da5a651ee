"""How long a call and each of its kernels take on a GPU, beside copies of as many bytes.

A call is timed by the clock of the host, many in a row.  A kernel is timed by events of its stream, each launch behind
work that fills the cache with other memory: so the launch waits in the queue when the kernel begins, and its operands come from
memory.  A large copy is timed in the same way, and how fast that is counts as the limit.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from pytocu.errors import PytocuError
from pytocu.explain.model import Explanation, Kernel, KernelTime, Measured
from pytocu.explain.traffic import added
from pytocu.runtime import cuda, failures
from pytocu.runtime.arrays import ArrayInfo, common
from pytocu.runtime.device_array import DeviceMemory
from pytocu.runtime.executable import Executable
from pytocu.runtime.on_cuda import CudaExecutor, CudaKernels
from pytocu.runtime.plan import KernelSpec
from pytocu.runtime.signature import Call

BATCHES, SECONDS = 5, 0.02
"""Batches that are timed, and how long each takes at least: the host's own time a call is hidden behind the GPU's."""

CALLS, LAUNCHES = 10, 8
"""Calls whose kernels are timed, behind one that is not, and launches of a kernel that are timed in each."""

FILLED, COPIED = 1 << 27, 1 << 28
"""Bytes that are written before each kernel, more than any cache has, and bytes that the large copy reads."""

_rates: dict[int, float] = {}


def measured(
    told: Explanation, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], call: Call, written: Sequence[str]
) -> Explanation:
    """The explanation with times of the call and of its kernels; what they change are copies of the arguments.

    Parameters
    ----------
    function : JitFunction
    args, kwargs
        Of the call.
    call : Call
        The same arguments, described; they are on one GPU.
    written : sequence of str
        Names of the arguments that a call changes.
    """
    if not told.kernels:
        return told
    try:
        return _measured(told, function, lambda: function(*args, **kwargs), call, written)
    except PytocuError as error:
        return _noted(told, f"not timed: {str(error).splitlines()[0]}")


def _noted(told: Explanation, note: str) -> Explanation:
    return told._replace(notes=(*told.notes, note))


def _measured(
    told: Explanation, function: Any, run: Callable[[], object], call: Call, written: Sequence[str]
) -> Explanation:
    like = common(call.infos.values())
    assert like is not None and isinstance(like.device, int)
    device = like.device
    array = next(call.values[n] for n, name in enumerate(function._names) if name == like.name)
    copied = type(function)(_copy, None, function._options._replace(fastmath=()), ())
    names = dict(zip(function._names, call.values, strict=True))

    def fresh() -> tuple[Any, ...]:
        return tuple(copied(value) if name in written else value for name, value in names.items())

    described = call
    if written:
        described = function._describe(fresh())
        if described.key != call.key:
            return _noted(told, f"not timed: a call changes {' and '.join(written)}, and a copy lies in memory in another way")
        function._call(described.values)
    else:
        run()
    entry = function._find(described)
    if entry is None:
        return told
    if entry.executable.plan.shared(call.infos) != entry.executable.plan.sharing:
        return _noted(told, "not timed: arguments share memory that a call changes, and copies of them do not")
    rate = _copy_rate(function, copied, array, device)
    again = (lambda: function._describe(fresh())) if written else (lambda: described)
    times = kernel_times(entry.executable, again, like, device)
    kernels = _timed(told.kernels, times, rate)
    if kernels is None:
        return _noted(told, "its kernels are not timed: the call runs code for longer offsets than this explanation is of")
    own: float | None = None
    if not written:
        own = _seconds(run, device)
    moved = added([k.bytes for k in told.kernels]).number
    copy: float | None = None
    if moved:
        source = _filled(function, array, max(moved // 2, 1))
        copy = _seconds(lambda: copied(source), device)
    share = copy / own if copy is not None and own is not None else None
    found = Measured(_micro(own), _micro(copy), share, cuda.device_name(device), rate)
    return told._replace(measured=found, kernels=kernels)


def _micro(seconds: float | None) -> float | None:
    return None if seconds is None else seconds * 1e6


def _timed(kernels: Sequence[Kernel], times: Sequence[Sequence[float]], rate: float) -> tuple[Kernel, ...] | None:
    """The kernels with their times; None where they are not the ones that were timed."""
    if len(kernels) != len(times):
        return None
    made: list[Kernel] = []
    for kernel, found in zip(kernels, times, strict=True):
        if not found:
            made.append(kernel)
            continue
        taken = statistics.median(found)
        moved = kernel.bytes.number
        share = None if moved is None or not taken else moved / rate / taken
        made.append(kernel._replace(measured=KernelTime(taken * 1e6, share, len(found))))
    return tuple(made)


class TimedExecutor(CudaExecutor):
    """Launches kernels, each between two events and behind writes to other memory.

    Attributes
    ----------
    recorded : list of (int, event, event)
        The number of each kernel, and the events around its launch.
    """

    def __init__(
        self,
        specs: Sequence[KernelSpec],
        kernels: CudaKernels,
        like: ArrayInfo,
        infos: Iterable[ArrayInfo],
        filler: DeviceMemory,
    ):
        super().__init__(specs, kernels, like, infos)
        self.filler = filler
        self.recorded: list[tuple[int, Any, Any]] = []
        self.launched = [0] * len(specs)

    def launch(self, number: int, values: Sequence[Any], work: int, cost: int, grid: Sequence[int] = ()) -> None:
        """Launch a kernel; of many launches the first are timed."""
        self.launched[number] += 1
        if self.launched[number] > LAUNCHES:
            super().launch(number, values, work, cost, grid)
            return
        with cuda.activated(self.device):
            begin, end = cuda.call("cuEventCreate", 0), cuda.call("cuEventCreate", 0)
            self.recorded.append((number, begin, end))
            cuda.call("cuMemsetD32Async", self.filler.pointer, 0, self.filler.nbytes // 4, self.stream)
            cuda.call("cuEventRecord", begin, self.stream)
            super().launch(number, values, work, cost, grid)
            cuda.call("cuEventRecord", end, self.stream)

    def steps(self, loop: int, numbers: range, alone: bool) -> Any:
        """The steps of a loop: each makes its own launches, which graphs would hide."""
        return super().steps(loop, numbers, False)

    def seconds(self) -> list[list[float]]:
        """The times of the launches of each kernel, when all of them are over; once."""
        found: list[list[float]] = [[] for _ in self.specs]
        with cuda.activated(self.device):
            for number, begin, end in self.recorded:
                cuda.call("cuEventSynchronize", end)
                found[number].append(cuda.call("cuEventElapsedTime", begin, end) / 1e3)
                cuda.call("cuEventDestroy", begin)
                cuda.call("cuEventDestroy", end)
        self.recorded = []
        return found


def kernel_times(executable: Executable, again: Callable[[], Call], like: ArrayInfo, device: int) -> list[list[float]]:
    """The times of launches of each kernel of a plan, in seconds.

    Parameters
    ----------
    executable : Executable
    again : callable
        Gives the described arguments of a call, one after the other.
    like : ArrayInfo
        Whose library, device and stream results belong to.
    device : int
    """
    plan = executable.plan
    filler = DeviceMemory(_affordable(FILLED, device), device)
    # The memory is there for every stream now.
    failures.synchronize(device)
    found: list[list[float]] = [[] for _ in plan.kernels]
    for number in range(CALLS + 1):
        call = again()
        executor = TimedExecutor(plan.kernels, executable.cuda_kernels, like, call.infos.values(), filler)
        executable.run_with(executor, call.dynamic, call.infos)
        failures.synchronize(device)
        times = executor.seconds()
        if number:
            for all_times, new in zip(found, times, strict=True):
                all_times.extend(new)
    return found


def _affordable(wanted: int, device: int) -> int:
    """As many bytes, or the eighth of what is free, in whole words."""
    with cuda.activated(device):
        free, _ = cuda.call("cuMemGetInfo")
    return max(min(wanted, free // 8) // 1024 * 1024, 1024)


def _copy_rate(function: Any, copied: Any, array: Any, device: int) -> float:
    """The bytes a second of a large copy, read and written."""
    if device not in _rates:
        source = _filled(function, array, _affordable(COPIED, device))
        copied(source)
        call = copied._describe((source,))
        like = common(call.infos.values())
        entry = copied._find(call)
        assert like is not None and entry is not None
        (times,) = kernel_times(entry.executable, lambda: call, like, device)
        (info,) = call.infos.values()
        _rates[device] = 2 * info.shape[0] * info.dtype.itemsize / statistics.median(times)
    return _rates[device]


def _copy(source):
    return source.copy()


def _zeros(like, count):
    return np.zeros(count, np.float32)


def _filled(function: Any, like: Any, nbytes: int) -> Any:
    """A new array of about so many bytes beside another one, of the same library."""
    count = max(nbytes // 4, 1)
    return type(function)(_zeros, None, function._options._replace(fastmath=()), ("count",))(like, count)


def _seconds(run: Callable[[], object], device: int) -> float:
    """The median time of a call, from batches long enough for a clock."""
    run()
    failures.synchronize(device)
    calls = 1
    times: list[float] = []
    while len(times) < BATCHES:
        began = time.perf_counter()
        for _ in range(calls):
            run()
        failures.synchronize(device)
        taken = time.perf_counter() - began
        if taken < SECONDS and not times:
            calls = max(calls * 2, int(calls * SECONDS / max(taken, 1e-6)))
            continue
        times.append(taken / calls)
    return statistics.median(times)
