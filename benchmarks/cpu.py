"""CPU: each workload's share of the copy limit, beside NumPy, numexpr, Numba, JAX and ``torch.compile`` in the same run."""

from __future__ import annotations

import os
import random
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np

import pytocu
from benchmarks import cpu_peers
from benchmarks.report import BenchmarkError, median
from benchmarks.run_time import Call, Section
from benchmarks.workloads import Workload

HUGE_PAGES = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1", "THP_MEM_ALLOC_ENABLE": "1"}
"""Large allocations of the C library and of PyTorch in huge pages, as NumPy's own arrays are."""


def in_huge_pages(variables: Mapping[str, str]) -> dict[str, str] | None:
    """The environment of a process whose candidates all get huge pages; None where it needs no other process.

    Without it the first touch of every small page of a new result costs peers more than their
    arithmetic, and NumPy, which asks for huge pages, nothing.
    """
    if sys.platform != "linux" or variables.keys() >= HUGE_PAGES.keys():
        return None
    return {**HUGE_PAGES, **variables}


SECONDS = 1.0
"""After so many a candidate is called no more, once it has had three turns."""


def one_cpu() -> None:
    """Let this process, and every library that it imports from here on, have one CPU.

    Raises
    ------
    BenchmarkError
        The system cannot do that.
    """
    if not hasattr(os, "sched_setaffinity"):
        raise BenchmarkError("--processor-time needs a system where a process can be given one CPU, such as Linux")
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def call_times(call: Call, count: int, now: Callable[[], float] = time.perf_counter) -> list[float]:
    """Seconds of each of `count` calls, behind one more where calls are short: it finds what the others left in caches."""
    times: list[float] = []
    for _ in range(count if count == 1 else count + 1):
        start = now()
        call.wait(call.function())
        times.append(now() - start)
    return times[-count:]


def clock(
    calls: Mapping[str, Call],
    estimates: Mapping[str, float],
    rounds: int = 15,
    now: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """Lower quartiles of the seconds of each, taking turns in an order drawn anew; slow ones are called less often.

    The order, because what another candidate leaves in the caches is felt for several calls: whoever
    always came behind one with much memory lost up to a fifth.

    The lower quartile, because a CPU that another process takes for a while stops every thread of
    those who have given each CPU its share, and one of many for those who have not.
    """
    counts = {name: max(1, min(5, round(0.05 / max(seconds, 1e-6)))) for name, seconds in estimates.items()}
    times: dict[str, list[float]] = {name: [] for name in calls}
    order = random.Random(0)
    for number in range(rounds):
        for name in order.sample(list(calls), len(calls)):
            if number < 3 or sum(times[name]) < SECONDS:
                times[name].extend(call_times(calls[name], counts[name], now))
    return {name: sorted(runs)[len(runs) // 4] for name, runs in times.items()}


def copy_speed(size: int = 2**25, repeat: int = 7, now: Callable[[], float] = time.perf_counter) -> float:
    """Bytes a second of a copy by all CPUs or by one, whichever is faster; read and written bytes counted."""
    source, target = np.ones(size, np.float32), np.zeros(size, np.float32)
    parts = cpu_peers.cpus()

    def whole() -> None:
        np.copyto(target, source)

    with ThreadPoolExecutor(parts) as pool:

        def split() -> None:
            list(pool.map(np.copyto, np.array_split(target, parts), np.array_split(source, parts)))

        return 2 * source.nbytes / min(_median(function, repeat, now) for function in (whole, split))


def _median(function: Callable[[], None], repeat: int, now: Callable[[], float]) -> float:
    times: list[float] = []
    for _ in range(repeat):
        start = now()
        function()
        times.append(now() - start)
    return median(times)


def details(workload: Workload, arguments: Sequence[Any]) -> dict[str, Any]:
    """How many native functions a call enters."""
    return {"launches": sum(k.launches for k in pytocu.jit(workload.function).lower(*arguments).compile("cpu").kernels)}


def section(peers: Sequence[str], processor_time: bool = False) -> Section:
    """The CPU with some of :data:`cpu_peers.PEERS`.

    Parameters
    ----------
    peers : sequence of str
    processor_time : bool
        One CPU, and its time instead of the clock's: what other processes do meanwhile matters less.
    """
    now = time.process_time if processor_time else time.perf_counter
    makers = {"pytocu": cpu_peers.pytocu_call} | {name: cpu_peers.PEERS[name] for name in peers}
    timing = "lower quartiles of up to 15 turns, in random order, of up to 5 calls"
    if processor_time:
        timing += ", in processor time, with one CPU"
    speed, timed = copy_speed(now=now), partial(clock, now=now)
    generator = partial(np.random.default_rng, 0)
    return Section("cpu", np, generator, makers, timed, cpu_peers.convert, speed, details=details, timing=timing)
