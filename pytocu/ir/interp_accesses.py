"""Accesses of threads to memory: bounds, what was written before, races, and where vectors may begin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from pytocu.errors import InternalError
from pytocu.ir.core import Inst
from pytocu.ir.interp_launch import Run
from pytocu.ir.interp_memory import Memory, Touched, memory_of
from pytocu.ir.types import VectorType, element


def address(run: Run, memory: Memory) -> int:
    """Where offset 0 is; whatever the answers of `aligned` ask for, when they are given."""
    return memory.data.ctypes.data + memory.base * memory.data.itemsize if run.aligned is None else 0


def _vector_rule(run: Run, inst: Inst, mask: np.ndarray, memory: Memory, offset: np.ndarray) -> None:
    bytes = inst.attr("align", memory.data.itemsize)
    bad = mask & run.wide((address(run, memory) + offset * memory.data.itemsize) % bytes != 0)
    if bad.any():
        index = int(run.wide(offset)[bad][0])
        run.report("misaligned", inst, bad, f"index {index} is not at a multiple of {bytes} bytes", index=index)


def _reach(run: Run, inst: Inst, mask: np.ndarray, memory: Memory, offset: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Threads whose access is in bounds, and the elements they touch."""
    position = run.wide(memory.base + offset)
    inside = mask & (position >= 0) & (position < (memory.own or memory.data.size))
    if memory.own:
        position = position + np.arange(run.lanes) * memory.own
    inside[inside] = memory.allowed[position[inside]]
    bad = mask & ~inside
    if bad.any():
        index, size = int(run.wide(offset)[bad][0]), memory.own or int(memory.allowed.sum())
        what = "read" if inst.op.name == "load" else "write"
        run.report("out-of-bounds", inst, bad, f"{what} at index {index} of {size} elements", index=index, size=size)
    threads = np.flatnonzero(inside)
    return threads, position[threads]


def _raced(run: Run, inst: Inst, memory: Memory, threads: np.ndarray, at: np.ndarray) -> None:
    touched = run.touched.get(id(memory))
    if touched is None or not at.size:
        return
    note = touched.read if inst.op.name == "load" else touched.write
    conflict = note(at, run.owners[threads], run.number, run.epoch)
    if conflict.any():
        bad = np.zeros(run.lanes, bool)
        bad[threads[conflict]] = True
        index = int(at[conflict][0]) - memory.base
        message = f"two threads touch index {index} with no barrier between, and one writes"
        run.report("race", inst, bad, message, index=index, size=int(memory.allowed.sum()))


def load(
    run: Run, inst: Inst, mask: np.ndarray, memory: Memory, offset: np.ndarray, *groups: np.ndarray
) -> np.ndarray:
    """What the threads read."""
    if isinstance(inst.types[0], VectorType):
        places = _places(run, inst, mask, memory, offset, inst.types[0].lanes, groups)
        return np.stack([_load_one(run, inst, active, memory, at) for active, at in places], axis=1)
    return _load_one(run, inst, mask, memory, offset)


def _places(
    run: Run,
    inst: Inst,
    mask: np.ndarray,
    memory: Memory,
    offset: np.ndarray,
    lanes: int,
    groups: Sequence[np.ndarray],
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The threads that touch each element of a vector, and where; `groups` are the room and whether addresses fit."""
    width, step = inst.attr("width", lanes), inst.attr("step", lanes)
    for k in range(lanes):
        group, within = divmod(k, width)
        active = mask & run.wide(group * step < groups[0]) if groups else mask
        if within == 0 and len(groups) != 1:
            whole = active & run.wide(groups[1]) if groups else active
            _vector_rule(run, inst, whole, memory, offset + group * step)
        yield active, offset + group * step + within


def _load_one(run: Run, inst: Inst, mask: np.ndarray, memory: Memory, offset: np.ndarray) -> np.ndarray:
    threads, at = _reach(run, inst, mask, memory, offset)
    unwritten = ~memory.initialised[at]
    if unwritten.any():
        bad = np.zeros(run.lanes, bool)
        bad[threads[unwritten]] = True
        index, size = int(at[unwritten][0]) - memory.base, int(memory.allowed.sum())
        run.report("uninitialised", inst, bad, f"index {index} is read and nobody wrote it", index=index, size=size)
    _raced(run, inst, memory, threads, at)
    value = np.zeros(run.lanes, memory.data.dtype)
    value[threads] = memory.data[at]
    return value


def store(
    run: Run, inst: Inst, mask: np.ndarray, memory: Memory, offset: np.ndarray, value: np.ndarray, *groups: np.ndarray
) -> None:
    """Write the values of the threads."""
    if value.dtype != memory.data.dtype:
        raise InternalError(f"store writes {value.dtype} into memory of {memory.data.dtype}")
    if value.ndim == 2:
        places = _places(run, inst, mask, memory, offset, value.shape[1], groups)
        for k, (active, at) in enumerate(places):
            _store_one(run, inst, active, memory, at, value[:, k])
    else:
        _store_one(run, inst, mask, memory, offset, value)


def _store_one(
    run: Run, inst: Inst, mask: np.ndarray, memory: Memory, offset: np.ndarray, value: np.ndarray
) -> None:
    threads, at = _reach(run, inst, mask, memory, offset)
    _raced(run, inst, memory, threads, at)
    memory.data[at] = run.wide(value)[threads]
    memory.initialised[at] = True


def atomic_minimum(run: Run, inst: Inst, mask: np.ndarray, memory: Memory, offset: np.ndarray, value: np.ndarray) -> None:
    """Write where a value is less than what is there."""
    # Threads that meet do no harm, so nothing is noted for races.
    threads, at = _reach(run, inst, mask, memory, offset)
    np.minimum.at(memory.data, at, run.wide(value)[threads])


def local(run: Run, inst: Inst) -> Memory:
    """Memory of each thread."""
    size = inst.attr("size")
    memory = memory_of(np.zeros(size * run.lanes, element(inst.types[0]).numpy), initialised=False)
    memory.own = size
    return memory


def shared(run: Run, inst: Inst) -> Memory:
    """Shared memory belongs to the instruction: a loop around it meets the same memory again."""
    memory = run.shared.get(inst)
    if memory is None:
        memory = memory_of(np.zeros(inst.attr("size"), element(inst.types[0]).numpy), initialised=False)
        run.shared[inst] = memory
        run.touched[id(memory)] = Touched(memory.data.size)
    return memory
