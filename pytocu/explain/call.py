"""``f.explain(*args)``: the explanation of what answers a call."""

from __future__ import annotations

from typing import Any

from pytocu.explain.collect import explanation
from pytocu.explain.measure import measured
from pytocu.explain.model import Explanation, Recompiled
from pytocu.ir.types import ArrayType, ScalarType, WeakType
from pytocu.planning import written_arguments
from pytocu.runtime import cuda
from pytocu.runtime.arrays import ANY_DEVICE, common
from pytocu.runtime.signature import Call


def explain(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Explanation:
    """See :meth:`JitFunction.explain`."""
    lowered = function.lower(*args, **kwargs)
    values = tuple(function._stated(args, kwargs).values())
    real = not any(isinstance(value, ArrayType | ScalarType | WeakType) for value in values)
    call = function._describe(values) if real else None
    told = explanation(lowered, _target(function, call))
    if call is None:
        return told
    told = told._replace(recompiled=_recompiled(function, call))
    if _device(call) is not None:
        written = [lowered.function.params[n].name for n in written_arguments(lowered.function)]
        return measured(told, function, args, kwargs, call, written)
    if call.target != "cpu" and told.kernels:
        return told._replace(notes=(*told.notes, "not timed: NumPy arrays are copied to the GPU and back for each call"))
    return told


def _target(function: Any, call: Call | None) -> str:
    if call is not None and call.target == "cpu":
        return "cpu"
    device = None if call is None else _device(call)
    return "cuda:sm_90" if device is None else f"cuda:{cuda.arch(device)}"


def _device(call: Call) -> int | None:
    """The GPU that the arguments are on; None for arrays of the host."""
    like = common(call.infos.values())
    if like is None or not isinstance(like.device, int) or like.device == ANY_DEVICE:
        return None
    return like.device


def _recompiled(function: Any, call: Call) -> Recompiled | None:
    """Which specialisation answers the call, and why it was made."""
    made = [entry for _, entry in function._made]
    if not made:
        return None
    entry = function._find(call)
    if entry is None:
        number = len(made)
        changes = function._why_new(call)
        said = "such a call would be compiled for: it differs from the nearest specialisation in"
        return Recompiled(number + 1, number + 1, changes, said if changes else "such a call would be compiled for")
    place = next(n for n, other in enumerate(made) if other is entry)
    changes = function._why_made(place)
    said = f"specialisation {place + 1} of {len(made)} answers the call"
    if place == 0:
        said += ": the first call made it"
    elif changes:
        said += "; it differs from the earlier one most like it in"
    return Recompiled(place + 1, len(made), changes, said)
