"""How long a call takes on a GPU, beside a copy of as many bytes."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from pytocu.explain.model import Explanation, Measured
from pytocu.explain.traffic import added
from pytocu.runtime import cuda, failures
from pytocu.runtime.arrays import common
from pytocu.runtime.signature import Call

BATCHES, SECONDS = 5, 0.02
"""Batches that are timed, and how long each takes at least: the host's own time a call is hidden behind the GPU's."""


def measured(told: Explanation, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any], call: Call) -> Explanation:
    """The explanation with the time of a call; a call that changes its arguments is not made for that.

    Parameters
    ----------
    call : Call
        The same arguments described; they are on one GPU.
    """
    like = common(call.infos.values())
    assert like is not None
    entry = function._find(call)
    written = entry.executable.plan.written if entry is not None else _writes(told)
    if written:
        return told._replace(notes=(*told.notes, "not timed, because a call changes its arguments"))
    moved = added([k.bytes for k in told.kernels]).number
    if not moved:
        return told
    device = like.device
    assert isinstance(device, int)
    (array, *_) = (value for value in call.values if hasattr(value, "dtype") and hasattr(value, "shape"))
    source = _filled(function, array, max(moved // 2, 1))
    copied = type(function)(_copy, None, function._options._replace(fastmath=()), ())
    own, copy = _seconds(lambda: function(*args, **kwargs), device), _seconds(lambda: copied(source), device)
    found = Measured(own * 1e6, copy * 1e6, copy / own, cuda.device_name(device))
    return told._replace(measured=found)


def _writes(told: Explanation) -> bool:
    arguments = {e.source.removeprefix("argument ") for e in told.edges if e.source.startswith("argument ")}
    return any(w.name in arguments for k in told.kernels for w in k.writes)


def _copy(source):
    return source.copy()


def _zeros(like, count):
    return np.zeros(count, np.uint8)


def _filled(function: Any, like: Any, count: int) -> Any:
    """A new array of bytes beside another one, of the same library."""
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
