"""GPU: each workload's share of the copy limit, beside the peers in the same run.

The limit is the time a device-to-device copy takes to move the bytes that must move: each
input read once, each output written once.  Times are medians over CUDA events; of a library
that runs on streams of its own, the slope of host times over the number of calls.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import pytocu
from benchmarks import gpu_peers
from benchmarks.report import median
from benchmarks.run_time import Call, Section
from benchmarks.workloads import Workload
from pytocu.runtime import cuda

ROUNDS, CALLS = 5, 10
AHEAD = 2
"""Calls before the first event: the device works on them while the host, whose caches hold another candidate, gets going."""
PAIRS = 3
"""Short and long batches, in turns, of a candidate that only the host's clock can time."""


def event_time(call: Call, count: int, cupy: Any) -> float:
    """Seconds a call on the current stream, between two events."""
    start, end = cupy.cuda.Event(), cupy.cuda.Event()
    for _ in range(AHEAD if count > 1 else 0):
        call.function()
    start.record()
    for _ in range(count):
        call.function()
    end.record()
    end.synchronize()
    return cupy.cuda.get_elapsed_time(start, end) * 1e-3 / count


def slope_time(call: Call, count: int, cupy: Any) -> float:
    """Seconds a call on streams that events of other libraries do not see: what 2 * `count` more calls take."""
    spent: dict[int, list[float]] = {count: [], 3 * count: []}
    for _ in range(PAIRS if count > 1 else 1):
        for calls, times in spent.items():
            # Or the shorter batch alone would find the host's caches cold, and the slope would be too small.
            for _ in range(AHEAD if count > 1 else 0):
                call.wait(call.function())
            cupy.cuda.Device().synchronize()
            start = time.perf_counter()
            for _ in range(calls - 1):
                call.function()
            call.wait(call.function())
            times.append(time.perf_counter() - start)
    # What holds a batch up makes it longer, and the slope too small where it is a short one: the least of each counts.
    short, long = (min(times) for times in spent.values())
    slope = (long - short) / (2 * count)
    return slope if slope > 0 else long / (3 * count)


def clock(calls: Mapping[str, Call], estimates: Mapping[str, float]) -> dict[str, float]:
    """Median seconds of each after a warm-up, taking turns; slow ones are called less often."""
    import cupy

    counts = {name: max(1, min(CALLS, round(0.1 / max(seconds, 1e-6)))) for name, seconds in estimates.items()}
    for name, call in calls.items():
        for _ in range(min(3, counts[name])):
            call.wait(call.function())
    times: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(ROUNDS):
        for name, call in calls.items():
            if number < 3 or estimates[name] < 0.05:
                time_of = slope_time if call.own_stream else event_time
                times[name].append(time_of(call, counts[name], cupy))
    return {name: median(runs) for name, runs in times.items()}


def copy_speed() -> float:
    """Bytes a second of a device copy, by CuPy or by the driver, whichever is faster; read and written bytes counted."""
    import cupy

    source = cupy.random.random(2**27, dtype=cupy.float32)
    target = cupy.empty_like(source)

    def finish(result: Any) -> None:
        cupy.cuda.Device().synchronize()

    def driver() -> None:
        target.data.copy_from_device_async(source.data, source.nbytes, cupy.cuda.get_current_stream())

    calls = {"kernel": Call(lambda: cupy.copyto(target, source), finish), "driver": Call(driver, finish)}
    # The clock of an idle device is low.
    for _ in range(200):
        driver()
    times = clock(calls, dict.fromkeys(calls, 1e-3))
    return 2 * source.nbytes / min(times.values())


def details_with(backends: Sequence[str | None]) -> Any:
    """What is known of the code of each backend: launches, the most registers of a thread, spilled bytes."""

    def details(workload: Workload, arguments: Sequence[Any]) -> dict[str, Any]:
        device = cuda.current_device()
        found: dict[str, list[int]] = {"launches": [], "registers": [], "spilled bytes": []}
        for backend in backends:
            compiled = pytocu.jit(workload.function).lower(*arguments).compile(f"cuda:{cuda.arch(device)}", backend)
            module = cuda.load(compiled.binary, device)
            used = [cuda.resources(cuda.function(module, spec.name)) for spec in compiled.plan.kernels]
            found["launches"].append(sum(k.launches for k in compiled.kernels))
            found["registers"].append(max((r.registers for r in used), default=0))
            found["spilled bytes"].append(max((r.local_bytes for r in used), default=0))
        return {name: numbers[0] if len({*numbers}) == 1 else "/".join(map(str, numbers)) for name, numbers in found.items()}

    return details


def section(peers: Sequence[str], backends: Sequence[str | None] = (None,)) -> Section:
    """The current device with some of :data:`gpu_peers.PEERS`.

    Parameters
    ----------
    peers : sequence of str
    backends : sequence of str or None
        pytocu's backends; None is its own choice.
    """
    import cupy

    makers = {f"pytocu {b}" if b else "pytocu": gpu_peers.pytocu_maker(b) for b in backends}
    makers |= {name: gpu_peers.PEERS[name] for name in peers}
    return Section(
        "gpu",
        cupy,
        lambda: cupy.random.default_rng(0),
        makers,
        clock,
        gpu_peers.convert,
        copy_speed(),
        gpu_peers.clean,
        details_with(backends),
    )
