"""Where a plan's kernels run: on a CUDA device."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from pytocu.deferred import Deferred, DeferredModule
from pytocu.ir.types import DType, dtype_named
from pytocu.processes import allocate_lock
from pytocu.runtime import arrays, cuda, failures, graphs, results, streams
from pytocu.runtime.arrays import ArrayInfo
from pytocu.runtime.plan import KernelSpec, Plan
from pytocu.runtime.plan_loops import Steady
from pytocu.runtime.templates import Launch

_until = Deferred("pytocu.runtime.host_loops", "Until")

host_steps = DeferredModule("pytocu.runtime.host_steps")
"""The module of what is done between kernels, loaded for plans that have such steps."""
graph_part = DeferredModule("pytocu.runtime.launch_graphs")
"""The module of graphs of launches, loaded for plans that have loops."""
loop_part = DeferredModule("pytocu.runtime.gpu_loops")
"""The module of native loops, loaded for plans whose loops have steps that differ."""

_MAX_GRID, _MAX_ROWS = 2**31 - 1, 2**16 - 1


def tiles(columns: int, rows: int, width: int, block: int) -> tuple[int, int, int, int]:
    """Blocks and threads in both directions, for so many columns and rows of threads.

    Examples
    --------
    >>> tiles(1000, 250, 32, 256)
    (32, 32, 32, 8)
    >>> tiles(3, 1000, 32, 256)
    (1, 16, 4, 64)
    """
    width = min(width, 1 << (columns - 1).bit_length())
    height = block // width
    return min(-(-columns // width), _MAX_GRID), min(-(-rows // height), _MAX_ROWS), width, height


class CudaKernels:
    """The kernels of a plan, loaded once a device, and the words in which they note what is wrong with the data.

    `specs` and `loops` are those of the plan; see `pytocu.runtime.plan_loops`.  `steps` gives the object code of the functions
    that make loops whose steps differ, or None.
    """

    def __init__(
        self,
        binary: Callable[[str], bytes],
        names: Sequence[str],
        needs: Sequence[failures.Failure] = (),
        words: int = 0,
        specs: Sequence[KernelSpec] = (),
        loops: Mapping[int, Steady] = MappingProxyType({}),
        steps: Callable[[], bytes | None] = lambda: None,
    ):
        self._binary = binary
        self._steps = steps
        self._specs = specs
        self._loops = loops
        self._names = tuple(names)
        self._needs = needs
        self._count = words
        self._words: dict[int, failures.SharedWords] = {}
        self._graphs: dict[int, dict[int, Any]] = {}
        self._lock = allocate_lock()
        self._loaded: dict[int, tuple[cuda.Kernel, ...]] = {}

    def on(self, device: int) -> tuple[cuda.Kernel, ...]:
        """The kernels on a device; the binary is made for its architecture the first time."""
        if not self._names:
            # Code without kernels has no binary.
            return ()
        found = self._loaded.get(device)
        if found is None:
            with self._lock:
                if device not in self._loaded:
                    module = cuda.load(self._binary(cuda.arch(device)), device)
                    self._loaded[device] = tuple(cuda.function(module, name) for name in self._names)
                found = self._loaded[device]
        return found

    def words(self, device: int) -> failures.SharedWords:
        """The words on a device."""
        with self._lock:
            if device not in self._words:
                self._words[device] = failures.SharedWords(self._needs, self._count, device)
            return self._words[device]


    def graphs(self, device: int) -> Mapping[int, Any]:
        """The loops that need no Python between their steps on a device, by their positions in the plan.

        They are graphs (`launch_graphs.LoopGraphs`), or native where their steps differ (`gpu_loops.GpuLoop`).
        """
        if not self._loops:
            return {}
        kernels = self.on(device)
        with self._lock:
            if device not in self._graphs:
                keys = [parameter_key(spec) for spec in self._specs]
                wait = [spec.waits for spec in self._specs]
                self._graphs[device] = {
                    position: graph_part().LoopGraphs(loop, kernels, keys, wait)
                    if loop.numbers is None
                    else loop_part().GpuLoop(loop, self._specs, kernels, self._steps)
                    for position, loop in self._loops.items()
                }
            return self._graphs[device]


class CudaExecutor:
    """Launches kernels on the caller's stream.

    Parameters
    ----------
    specs : sequence of KernelSpec
        The kernels of the plan.
    kernels : CudaKernels
        The same, to be loaded.
    like : ArrayInfo
        Whose library, device and stream results belong to.
    infos : iterable of ArrayInfo
        All arrays of the call; the launch is ordered after whoever writes them.
    """

    waits = False

    def __init__(self, specs: Sequence[KernelSpec], kernels: CudaKernels, like: ArrayInfo, infos: Iterable[ArrayInfo]):
        self.specs = specs
        self.like = like
        device = results.resolve_device(like)
        assert isinstance(device, int)
        self.device = device
        self.kernels = kernels.on(device)
        self.words = kernels.words
        self.graphs = kernels.graphs
        self.stream = streams.current(like.library, device)
        self.producers = arrays.producer_streams(infos, like)
        for producer in self.producers:
            cuda.wait(self.stream, producer, device)

    def allocate(self, shape: tuple[int, ...], dtype: DType, layout: str) -> tuple[Any, int]:
        """A new array from the caller's own allocator."""
        return results.allocate(self.like, shape, dtype, layout, self.stream)

    def launch(self, number: int, values: Sequence[Any], work: int, cost: int, grid: Sequence[int] = ()) -> None:
        """Start the kernel with a grid that covers the work."""
        spec = self.specs[number]
        parameters = cuda.thread_parameters(parameter_codes(spec.parameters, spec.index_bits))
        parameters.pack(*values)
        columns, rows, width, height = min(-(-work // spec.tile), _MAX_GRID), 1, spec.block, 1
        if grid:
            across, down, most = grid
            columns, rows, width, height = tiles(across, down, most, spec.block)
        cuda.launch(self.kernels[number], (columns, rows, 1), (width, height, 1), parameters, self.stream)

    def steps(self, loop: int, numbers: range, alone: bool) -> Any:
        """The steps of a loop whose launches repeat."""
        return self.graphs(self.device)[loop].steps(numbers, alone, self.stream)

    def until(self, loop: int) -> Any:
        """The steps of a loop that ends when a truth value says so, which the host reads after each."""
        found = self.graphs(self.device).get(loop)
        return found.until(self.stream) if found is not None else _until(1, 0, None, 0)

    def note(self, number: int, values: Sequence[Any], work: int, cost: int, grid: Sequence[int] = ()) -> tuple[int, bytes]:
        """A launch as `launch_graphs` takes it."""
        spec = self.specs[number]
        parameters = cuda.thread_parameters(parameter_key(spec))
        parameters.pack(*values)
        if grid:
            across, down, most = grid
            parameters.configure(tiles(across, down, most, spec.block), self.stream)
        else:
            parameters.configure(min(-(-work // spec.tile), _MAX_GRID), self.stream)
        return number, parameters.state()

    def failures(self, count: int) -> tuple[Any, int]:
        """The words of this code on the device; what an earlier call wrote is raised."""
        words = self.words(self.device)
        words.check()
        return words.memory, words.pointer

    def notice(self) -> None:
        """What kernels of this call have noted is raised; the host has waited for them."""
        self.words(self.device).check(waited=True)

    def settle(self) -> None:
        """What kernels of this call note is raised before what the host raises behind them."""
        self.words(self.device).settle(self.stream)

    def word(self, pointer: int) -> int:
        """An int64 that a kernel has written; the host waits for it."""
        return host_steps().read_device_word(pointer, self.stream, self.device)

    def library(self, name: str, arrays: Sequence[Any], options: Any, planned: Any) -> tuple[Any, ...]:
        """The results of a function of the caller's library, and their addresses."""
        library = self.like.library
        made = host_steps().call_library(library, name, arrays, options, planned)
        return (*made, *(m.data_ptr() if library == "torch" else m.data.ptr for m in made))

    def keep(self, temporaries: tuple[Any, ...]) -> None:
        """Replays of a graph use them again."""
        # The calling thread need not have a context: NumPy's arrays come from no library that makes one.
        with cuda.activated(self.device):
            graphs.keep_for_replays(self.stream, temporaries)

    def finish(self) -> None:
        """Order the producers' later writes behind the kernels."""
        for producer in self.producers:
            cuda.wait(producer, self.stream, self.device)

    def scalar(self, array: Any) -> Any:
        """An array without axes: its value stays on the device."""
        return results.finish(self.like, array, self.stream)

    def array(self, array: Any) -> Any:
        """What the caller's library calls an array."""
        return results.finish(self.like, array, self.stream)


def parameter_key(spec: KernelSpec) -> str:
    """The kernel's parameters and the threads of a block, as `cuda.thread_parameters` takes them."""
    return f"{parameter_codes(spec.parameters, spec.index_bits)} {spec.block}"


@lru_cache(maxsize=1024)
def parameter_codes(parameters: tuple[str, ...], index_bits: int) -> str:
    """The kernel's parameters as codes of `cuda.Parameters`."""
    index = "i" if index_bits == 32 else "q"
    return "".join({"pointer": "P", "index": index}.get(w) or cuda.PARAMETER_CODES[dtype_named(w)] for w in parameters)


def launch_of(
    plan: Plan,
    device: int,
    kernels_on: Callable[[int], Sequence[cuda.Kernel]],
    words: Callable[[int], failures.SharedWords],
    loops: Callable[[int], Mapping[int, Any]],
) -> Launch:
    """How a program launches kernels."""
    driver = cuda.bindings()
    names: dict[str, Any] = {
        "launch_ex": driver.launch_ex,
        "thread_parameters": cuda.thread_parameters,
        "thread": cuda.thread,
        "launch_failed": cuda.launch_failed,
        "tiles": tiles,
        "is_foreign": cuda.is_foreign_context,
        "keep_for_replays": graphs.keep_for_replays,
    }
    able = cuda.starts_early(device) if any(spec.waits for spec in plan.kernels) else False
    for number, spec in enumerate(plan.kernels):
        names[f"key{number}"] = key = parameter_key(spec)
        names[f"early_key{number}"] = f"{key} early" if able else key

    def loaded() -> dict[str, Any]:
        kernels = tuple(kernels_on(device))
        handles = {f"handle{number}": kernel.handle for number, kernel in enumerate(kernels)}
        failing = {"failing": words(device)} if plan.words() else {}
        return {"kernels": kernels, "loops": loops(device), **handles, **failing}

    # The context is not asked for at every call: a launch in another one fails, and nothing has happened then.
    text = (
        "parameters = thread.blocks.get({early}key{number}) or thread_parameters({early}key{number})\n"
        "parameters.pack({values},)\n"
        "if parameters.blocks != {blocks} or parameters.stream != stream: parameters.configure({blocks}, stream)\n"
        "status = launch_ex(parameters.configuration, handle{number}, parameters.address, 0)\n"
        "if status:\n"
        "    if is_foreign(kernels[{number}]): return NotImplemented\n"
        "    launch_failed(kernels[{number}], status, {blocks}, {block})"
    )
    noted = "failing.check()\n{made}_pointer = failing.pointer" if plan.words() else ""
    idle = "if is_foreign(kernels[{number}]): return NotImplemented"
    keep = "keep_for_replays(stream, {made})"
    steps, note = "loops[{loop}].steps({numbers}, {alone}, stream)", "{steps}.note(({number}, parameters.state()))"
    until = "loops[{loop}].until(stream)"
    noticed = "failing.check(waited=True)"
    settled = "failing.settle(stream)"
    return Launch(text, idle, names, keep, noted, "", steps, note, until, "", True, loaded, noticed, settled)
