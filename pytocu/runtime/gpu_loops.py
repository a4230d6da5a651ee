"""Loops of launches on a GPU whose steps differ, as calls of one native function of the host, which knows no Python.

The function is `pytocu.backend.gpu_steps`, its table that of `pytocu.runtime.native_steps`; here stands what launches a kernel
and what reads the GPU's memory.  Loops whose steps are all the same are graphs (`pytocu.runtime.launch_graphs`).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

from pytocu.runtime import cuda, native, threads
from pytocu.runtime.host_loops import Made, Steps, Until
from pytocu.runtime.native_cells import HEAD, Fetch, Launch
from pytocu.runtime.native_steps import MOST, NAME, SECONDS_TO_RETURN, SOON, Computed, Noted, least_steps
from pytocu.runtime.plan import KernelSpec
from pytocu.runtime.plan_loops import Steady

LAUNCH, FETCH = f"{NAME}.launch", f"{NAME}.fetch"

_Address = Callable[[Any], int]


_code = native.Shared([NAME, LAUNCH, FETCH], "loops whose steps differ take longer on a GPU than they need to")


class GpuLoop:
    """One loop of a plan on one device.

    Parameters
    ----------
    loop : Steady
    specs : sequence of KernelSpec
        Of the plan.
    kernels : sequence of Kernel
        The same, loaded.
    build : callable
        ``build()`` gives the object code of the native functions; None where there is none.
    """

    def __init__(
        self, loop: Steady, specs: Sequence[KernelSpec], kernels: Sequence[cuda.Kernel], build: Callable[[], bytes | None]
    ):
        self.loop, self._specs, self._kernels, self._build = loop, specs, kernels, build
        # A table that nobody uses now.
        self._spare: dict[int, Computed] = {}

    def steps(self, numbers: range, alone: bool, stream: int) -> Steps:
        """The steps of the loop, on a stream; where they are not alone, a loop around them notes their launches."""
        loop = self.loop
        whole = loop.numbers is not None and loop.numbers.whole

        def replay(noted: Sequence[Noted], left: int) -> int:
            count, made.numbers, _, resumed = self._made(noted, numbers[len(numbers) - left :], stream)
            made.go_on_in(resumed)
            return count

        replayed = alone and loop.numbers is not None and len(numbers) >= least_steps(loop) and self._code() is not None
        made = Steps(numbers, loop.period, loop.counts, replay if replayed else None, MOST, whole, whole and self._grows())
        return made

    def until(self, stream: int) -> Until:
        """The steps of the loop, which ends when a truth value says so."""
        if self.loop.numbers is None or self._code() is None:
            return Until(1, 0, None, 0)
        return Until(self.loop.period, SOON, lambda noted: self._made(noted, None, stream), MOST, self._grows())

    def _code(self) -> dict[str, native.Address] | None:
        return _code.load(self._build)

    def _grows(self) -> bool:
        """Whether steps that the program makes may be followed by others that are made at once."""
        return self.loop.numbers is not None and bool(self.loop.numbers.rooms or self.loop.numbers.loop.inner)

    def _made(self, noted: Sequence[Noted], counter: range | None, stream: int) -> Made:
        """Make steps: those of a range, or until a truth value is false or a number is one that only Python has.

        While the stream is being captured into a graph of the caller's, all launches are left to the program.
        """
        numbers, functions = self.loop.numbers, self._code()
        assert numbers is not None and functions is not None
        values = noted[-1][1]
        nothing = 0, values[: len(numbers.carried)], True, None
        kinds = tuple(map(type, values[: len(numbers.given)]))
        with cuda.activated(self._kernels[0].module.device):
            if cuda.capture_of(stream):
                return nothing
            # Nobody else uses it meanwhile.
            made = self._spare.pop(0, None)
            if made is None or made.kinds != kinds:
                where = _OnGpu(self._specs, self._kernels, functions)
                made = Computed(where, threads.native(functions[NAME]), numbers, kinds)
            made.where.take(stream)
            steps, ended = made.steps(values, counter)
            carried = made.carried() if steps else values[: len(numbers.carried)]
            self._spare[0] = made
            return steps, carried, not ended, made.resumed()


class _OnGpu:
    """Launches of kernels on a stream, and words that are read behind them."""

    on_gpu, head = True, HEAD

    def __init__(self, kernels: Sequence[KernelSpec], loaded: Sequence[cuda.Kernel], functions: dict[str, native.Address]):
        self.kernels, self._loaded = kernels, loaded
        self._launch, self._fetch = threads.native(functions[LAUNCH]), functions[FETCH]
        driver = cuda.bindings()
        self._start = driver.address_of("cuLaunchKernelEx")
        self._copy, self._wait = driver.address_of("cuMemcpyDtoHAsync"), driver.address_of("cuStreamSynchronize")
        self._configurations: list[cuda.Parameters] = []
        self._keep: list[Any] = []
        self._fetches: list[Any] = []
        self._room = (ctypes.c_int64 * 1)()

    def take(self, stream: int) -> None:
        """State the stream that is given launches from now on."""
        for one in self._configurations:
            one.configure(0, stream)
        for words in self._fetches:
            words[2] = stream

    def slots(self, launch: Launch) -> Any:
        """Memory for a launch and its parameters."""
        spec, count = launch.spec, len(launch.spec.parameters)
        words = (ctypes.c_int64 * (HEAD + count))()
        # What is before the first launch in the stream is a step that Python has made.
        early = spec.waits and cuda.starts_early(self._loaded[launch.kernel].module.device)
        configuration = cuda.Parameters("", spec.block, early)
        first = ctypes.addressof(words) + 8 * HEAD
        table = (ctypes.c_void_p * max(count, 1))(*(first + 8 * n for n in range(count)))
        handle = self._loaded[launch.kernel].handle
        words[:5] = self._start, configuration.configuration, handle, ctypes.addressof(table), spec.tile
        words[9] = spec.block
        self._configurations.append(configuration)
        self._keep.append(table)
        return words

    def native(self, launch: Launch) -> Any:
        """What a launch calls."""
        return self._launch

    def begin(self, loop: Computed) -> None:
        """Write what all launches have for good."""
        status = loop.address(loop.cells.status)
        for launch, words in zip(loop.cells.launches, loop.slots, strict=True):
            words[5] = status
            loop.launched(launch, 1, 1)
        self._status = status

    def fetch(self, fetch: Fetch, address: _Address) -> tuple[int, ...]:
        """The record that reads a word."""
        room, cell, made = ctypes.addressof(self._room), address(fetch.memory), address(fetch.made)
        words = (ctypes.c_int64 * 9)(self._copy, self._wait, 0, room, self._status, cell, fetch.at, fetch.size, made)
        self._fetches.append(words)
        return self._fetch, ctypes.addressof(words), 1, 1, 1

    def run(self, loop: Computed) -> None:
        """Go through the records until the loop has ended.

        Raises
        ------
        BackendError
            The driver refused something.
        """
        table, cells = loop.table, loop.cells
        count = max(len(cells.records), 1)
        while True:
            spent = table.go(count, 0)
            status = ctypes.c_int64.from_address(self._status).value
            if status:
                self._failed(loop, status)
            if table.ended():
                return
            count = min(8 * count, max(1, int(count * SECONDS_TO_RETURN / max(spent, 1e-9))))

    def _failed(self, loop: Computed, status: int) -> None:
        """Raise what the driver said of the record before the one that stopped."""
        ctypes.c_int64.from_address(self._status).value = 0
        item = loop.cells.records[loop.stopped_at - 1]
        if isinstance(item, int):
            launch = loop.cells.launches[item]
            blocks = -(-loop.iterations(launch) // launch.spec.tile)
            cuda.launch_failed(self._loaded[launch.kernel], status, blocks, launch.spec.block)
        cuda.refused(status, "reading a number from the GPU")
