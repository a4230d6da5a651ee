"""Where the time of one call goes: each step of it measured alone, and what is left.

The steps are what any dispatcher in Python has to do, written out here without pytocu, so their
sum is a floor: a key that identifies the arguments and its look-up, an output, the addresses,
the stream, the parameters, the launch.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

import pytocu
from benchmarks.functions import five_operations
from benchmarks.report import Table, median
from benchmarks.timing import interleaved, repeated
from pytocu.runtime import cuda, native, on_cpu, on_cuda, threads

LENGTH = 1000
FACTOR = 1.5
BATCH = 1000

Steps = dict[str, Callable[[], Any]]


def _compiled(target: str) -> Any:
    return pytocu.jit(five_operations).lower("f32[n]", "f32[n]", "f32[n]", "weak float").compile(target)


def gpu_steps() -> tuple[Steps, Steps, Callable[[], Any]]:
    """Steps, whole calls to compare with, and how to wait for the device."""
    import cupy

    x, y, z = map(cupy.asarray, np.random.default_rng(0).random((3, LENGTH), np.float32))
    out, shape, dtype = cupy.empty_like(x), x.shape, x.dtype
    compiled = _compiled("cuda")
    (spec,) = compiled.plan.kernels
    device = x.data.device_id
    kernel = cuda.function(cuda.load(compiled.binary, device), spec.name)
    parameters = cuda.thread_parameters(f"{on_cuda.parameter_codes(spec.parameters, spec.index_bits)} {spec.block}")
    values = {"pointer": iter((x.data.ptr, y.data.ptr, z.data.ptr, out.data.ptr)), "index": iter((LENGTH,))}
    given = [next(values[word]) if word in values else FACTOR for word in spec.parameters]
    parameters.pack(*given)
    driver = cuda.bindings()
    address = parameters.address
    parameters.configure(-(-LENGTH // spec.block), cupy.cuda.get_current_stream().ptr)

    def key() -> Any:
        return (
            x.dtype, x.shape, x.strides, x.data.device_id, y.dtype, y.shape, y.strides, y.data.device_id,
            z.dtype, z.shape, z.strides, z.data.device_id,
        )  # fmt: skip

    table = {key(): 1}
    function = pytocu.jit(five_operations)
    function(x, y, z, FACTOR)
    steps: Steps = {
        "classes of the arguments, looked up": _classes((x, y, z, FACTOR)),
        "key of dtypes, shapes, strides, devices, looked up": lambda: table[key()],
        "output: cupy.ndarray": lambda: cupy.ndarray(shape, dtype),
        "four addresses": lambda: (x.data.ptr, y.data.ptr, z.data.ptr, out.data.ptr),
        "current stream": lambda: cupy.cuda.get_current_stream().ptr,
        "parameters packed": lambda: parameters.pack(*given),
        "cuLaunchKernelEx": lambda kept=kernel: driver.launch_ex(parameters.configuration, kept.handle, address, 0),
    }
    calls: Steps = {
        "pytocu, the whole call": lambda: function(x, y, z, FACTOR),
        "CuPy x + y": lambda: x + y,
        "output: cupy.empty (for comparison)": lambda: cupy.empty(shape, dtype),
    }
    return steps, calls, cupy.cuda.Device().synchronize


def cpu_steps() -> tuple[Steps, Steps, Callable[[], Any]]:
    """The same on NumPy arrays."""
    x, y, z = np.random.default_rng(0).random((3, LENGTH), np.float32)
    out, shape, dtype = np.empty_like(x), x.shape, x.dtype
    compiled = _compiled("cpu")
    (spec,) = compiled.plan.kernels
    address = native.load(compiled.binary, [spec.name])[spec.name]
    kernel = threads.native(address)
    layout: struct.Struct = on_cpu.slot_layout(spec.parameters)
    values = {"pointer": iter(a.ctypes.data for a in (x, y, z, out)), "index": iter((LENGTH,))}
    given = [next(values[word]) if word in values else FACTOR for word in spec.parameters]
    make = ctypes.c_char * layout.size
    slots = make()
    layout.pack_into(slots, 0, *given)
    address_at, head = ctypes.c_size_t.from_address, object.__basicsize__

    def key() -> Any:
        return x.dtype, x.shape, x.strides, y.dtype, y.shape, y.strides, z.dtype, z.shape, z.strides

    table = {key(): 1}
    function = pytocu.jit(five_operations)
    function(x, y, z, FACTOR)
    steps: Steps = {
        "classes of the arguments, looked up": _classes((x, y, z, FACTOR)),
        "key of dtypes, shapes, strides, looked up": lambda: table[key()],
        "output: np.empty": lambda: np.empty(shape, dtype),
        "four addresses": lambda: [address_at(id(a) + head).value for a in (x, y, z, out)],
        "parameters packed in new slots": lambda: layout.pack_into(make(), 0, *given),
        # The address is kept with the step, because the code lives as long as it does.
        "native function": lambda kept=address: kernel(slots, 0, LENGTH),
    }
    calls: Steps = {
        "pytocu, the whole call": lambda: function(x, y, z, FACTOR),
        "NumPy x + y": lambda: x + y,
        "NumPy, five operations": lambda: five_operations(x, y, z, FACTOR),
    }
    return steps, calls, lambda: None


def _classes(arguments: tuple[Any, ...]) -> Callable[[], Any]:
    x, y, z, a = arguments
    known = {tuple(map(type, arguments)): 1}
    return lambda: known[type(x), type(y), type(z), type(a)]


def run(gpu: bool, rounds: int = 31) -> Table:
    """Steps, their sum, the whole call and what is left."""
    steps, calls, finish = gpu_steps() if gpu else cpu_steps()
    nothing = {"(an empty call)": lambda: None}
    candidates = {name: repeated(function, BATCH) for name, function in (nothing | steps | calls).items()}
    times = {name: median(runs) for name, runs in interleaved(candidates, finish, rounds).items()}
    empty = times["(an empty call)"]
    alone = {name: times[name] - empty for name in steps}
    whole = times["pytocu, the whole call"] - empty
    rows = [{"step": name, "us": value, "share %": 100 * value / whole} for name, value in alone.items()]
    rows.append({"step": "sum of the steps", "us": sum(alone.values()), "share %": 100 * sum(alone.values()) / whole})
    rows.append({"step": "left: Python between them", "us": whole - sum(alone.values()),
                 "share %": 100 - 100 * sum(alone.values()) / whole})  # fmt: skip
    rows += [{"step": name, "us": times[name] - empty} for name in calls]
    notes = (f"medians of {rounds} batches of {BATCH}, taking turns; an empty call ({empty:.3f} us) is subtracted",)
    return Table("Where the time of one call goes", ("step", "us", "share %"), notes, rows)
