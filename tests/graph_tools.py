"""A driver that only looks like a real one and notes what it is given to launch, directly, by graphs and by native code."""

from __future__ import annotations

import ctypes
import gc
import random
import struct
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from driver_tools import ADDRESS, FakeDriver, Interface, Status

import pytocu
from pytocu.runtime import cuda, device_array, graphs
from pytocu.runtime.on_cuda import parameter_codes

NODE = struct.Struct("@P7IPPPP")
HOST_MEMORY: list[Any] = []
"""What drivers were asked for; it stays as long as the words of failures, which are those of the process."""


class GraphDriver(FakeDriver):
    """It knows the kernels of a plan, and what they are launched with, directly and by graphs.

    Attributes
    ----------
    launched : list
        Kernel, grid, block, stream and parameters of every launch.
    graphs, executables : dict
        By their handles: the order of the nodes, and what each launches.
    by_native : int
        How many launches native code has made.
    answers : list of bytes
        What is read from the GPU, in order.
    ways : tuple of int
        What may be read instead: one of these, the same as long as no kernel writes there.
    written : dict
        Of each kernel, which of its parameters are addresses of what it writes.
    """

    def __init__(self) -> None:
        self.thread = threading.local()
        super().__init__()
        self.codes: dict[str, str] = {}
        self.kernels: dict[int, str] = {}
        self.launched: list[tuple[Any, ...]] = []
        self.graphs: dict[int, dict[int, tuple[Any, ...]]] = {}
        self.executables: dict[int, dict[int, tuple[Any, ...]]] = {}
        self.loose: dict[int, bool] = {}
        self.early = True
        self.handle = 1000
        self.replays = 0
        self.by_native = 0
        self.lock = threading.Lock()
        self.answers: list[bytes] = []
        self.ways: tuple[int, ...] = ()
        self.versions: dict[int, int] = {}
        self.written: dict[str, tuple[int, ...]] = {}
        self.reads: list[tuple[int, int]] = []
        self.native = {
            "cuLaunchKernelEx": ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 4)(self.launch_natively),
            "cuMemcpyDtoHAsync": ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 4)(self.copy_natively),
            "cuStreamSynchronize": ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(self.wait_natively),
        }

    def address_of(self, name: str) -> int:
        """Of a function that native code calls."""
        return ctypes.cast(self.native[name], ctypes.c_void_p).value or 0

    def launch_natively(self, configuration: int, kernel: int, parameters: int, extra: int | None) -> int:
        assert not extra
        self.by_native += 1
        return int(self.launch_ex(configuration, kernel, parameters, 0))

    def copy_natively(self, to: int, address: int, size: int, stream: int) -> int:
        """What stands there is the next of the answers, or one of the `ways`."""
        if "cuMemcpyDtoHAsync" in self.fails:
            return int(self.fails["cuMemcpyDtoHAsync"])
        self.read(to, address, size, stream)
        return 0

    def read(self, to: int, address: int, size: int, stream: int) -> None:
        self.reads.append((address, stream))
        if self.ways:
            # The same as long as nothing is written there.
            choose = random.Random(f"{address} {self.versions.get(address, 0)}")
            found = bytes([choose.choice(self.ways)])
        else:
            found = self.answers.pop(0)
        ctypes.memmove(to, found.ljust(size, b"\0"), size)

    def do_MemcpyDtoHAsync(self, to: int, address: int, size: int, stream: int) -> tuple[Any, ...]:
        self.read(to, address, size, stream)
        return ()

    def do_MemHostAlloc(self, size: int, flags: int) -> tuple[Any, ...]:
        HOST_MEMORY.append((ctypes.c_char * size)())
        return (ctypes.addressof(HOST_MEMORY[-1]),)

    def wait_natively(self, stream: int) -> int:
        return 0

    @property
    def mode(self) -> str:
        """Of the calling thread."""
        return getattr(self.thread, "mode", "global")

    @mode.setter
    def mode(self, mode: str) -> None:
        self.thread.mode = mode

    @property
    def contexts(self) -> list[int]:
        """Of the calling thread."""
        if not hasattr(self.thread, "contexts"):
            self.thread.contexts = [100]
        return self.thread.contexts

    @contexts.setter
    def contexts(self, contexts: list[int]) -> None:
        self.thread.contexts = contexts

    def number(self) -> int:
        with self.lock:
            self.handle += 1
            return self.handle

    def do_ModuleGetFunction(self, module: str, name: bytes) -> tuple[Any, ...]:
        handle = self.number()
        self.kernels[handle] = name.decode()
        return (handle,)

    def launch_ex(self, configuration: int, kernel: Any, parameters: int, extra: int) -> Status:
        *lengths, stream, _, _ = struct.unpack_from("@7IPPI", (ctypes.c_char * 56).from_address(configuration))
        if "cuLaunchKernel" in self.fails:
            return self.fails["cuLaunchKernel"]
        self.note(kernel, *lengths, stream, self.values(kernel, parameters))
        return Status.CUDA_SUCCESS

    def note(self, kernel: int, *launch: Any) -> None:
        self.launched.append((self.kernels[kernel], *launch))
        for place in self.written.get(self.kernels[kernel], ()):
            pointer = launch[-1][place]
            self.versions[pointer] = self.versions.get(pointer, 0) + 1

    def do_LaunchKernel(self, kernel: int, *rest: Any) -> tuple[Any, ...]:
        *lengths, stream, parameters, _ = rest
        self.note(kernel, *lengths, stream, self.values(kernel, parameters))
        return ()

    def values(self, kernel: int, table: int) -> tuple[Any, ...]:
        codes = self.codes[self.kernels[kernel]]
        addresses = (ctypes.c_void_p * len(codes)).from_address(table)
        found = []
        for code, address in zip(codes, addresses, strict=True):
            assert address is not None
            found.append(struct.unpack(f"@{code}", ctypes.string_at(address, struct.calcsize(f"@{code}")))[0])
        return tuple(found)

    def described(self, structure: int) -> tuple[Any, ...]:
        kernel, *lengths, table, extra, other, context = NODE.unpack(ctypes.string_at(structure, NODE.size))
        assert extra == other == context == 0
        return kernel, *lengths, self.values(kernel, table)

    def do_GraphCreate(self, flags: int) -> tuple[Any, ...]:
        assert flags == 0 and self.mode == "relaxed"
        handle = self.number()
        self.graphs[handle] = {}
        return (handle,)

    def do_GraphAddKernelNode(self, graph: int, before: int, count: int, structure: int) -> tuple[Any, ...]:
        nodes = self.graphs[graph]
        earlier = list((ctypes.c_void_p * count).from_address(before))
        # Each behind the one before, so that the order of the nodes is that of the launches.
        assert earlier == list(nodes)[-1:] or (not earlier and self.early)
        self.loose[graph] = bool(nodes) and not earlier
        handle = self.number()
        nodes[handle] = self.described(structure)
        return (handle,)

    def do_GraphAddDependencies(self, graph: int, before: int, behind: int, edge: int, count: int) -> tuple[Any, ...]:
        ends = [ctypes.c_void_p.from_address(place).value for place in (before, behind)]
        assert count == 1 and ends == list(self.graphs[graph])[-2:] and self.loose[graph]
        # Programmatic, from the port of that name.
        assert ctypes.string_at(edge, 8) == bytes([1, 0, 1, 0, 0, 0, 0, 0])
        self.loose[graph] = False
        return ()

    def do_GraphInstantiateWithFlags(self, graph: int, flags: int) -> tuple[Any, ...]:
        assert not self.loose[graph]
        handle = self.number()
        self.executables[handle] = dict(self.graphs[graph])
        return (handle,)

    def do_GraphExecKernelNodeSetParams(self, executable: int, node: int, structure: int) -> tuple[Any, ...]:
        made = self.described(structure)
        nodes = self.executables[executable]
        assert made[0] == nodes[node][0], "a node keeps its kernel"
        nodes[node] = made
        return ()

    def do_GraphLaunch(self, executable: int, stream: int) -> tuple[Any, ...]:
        with self.lock:
            self.replays += 1
            for kernel, *lengths, values in self.executables[executable].values():
                self.note(kernel, *lengths, stream, values)
        return ()

    def do_GraphExecDestroy(self, executable: int) -> tuple[Any, ...]:
        del self.executables[executable]
        return ()

    def do_GraphDestroy(self, graph: int) -> tuple[Any, ...]:
        del self.graphs[graph]
        return ()


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Iterator[GraphDriver]:
    made = GraphDriver()
    monkeypatch.setattr(cuda, "_bindings", made)
    monkeypatch.setattr(cuda, "_primary", {})
    monkeypatch.setattr(cuda, "_archs", {0: "sm_90", 1: "sm_80"})
    monkeypatch.setattr(device_array, "_pools", {})
    monkeypatch.setattr(graphs, "_kept", {})
    cuda._retired.clear()
    yield made
    gc.collect()
    cuda._retired.clear()
    device_array._released.clear()
    assert made.mode == "global" and made.contexts[:1] == [100] and len(made.contexts) == 1


class Calls:
    """A compiled function whose launches a driver notes."""

    def __init__(self, driver: GraphDriver, function: Callable[..., Any], *arguments: Any):
        self.driver = driver
        self.compiled = pytocu.jit(function).lower(*arguments).compile("cuda:sm_90")
        plan = self.compiled.plan
        driver.written.update({spec.name: spec.written for spec in plan.kernels})
        driver.codes.update({spec.name: parameter_codes(spec.parameters, spec.index_bits) for spec in plan.kernels})

    def __call__(self, *arguments: Any, stream: int = 7) -> tuple[list[tuple[Any, ...]], int, Any]:
        """What a call launches, by how many graphs, and its result; new memory is where it was in other calls."""
        self.driver.launched.clear()
        self.driver.next, self.driver.replays = ADDRESS + 2**32, 0
        with pytocu.stream(stream):
            result = self.compiled.executable(*arguments)
        return list(self.driver.launched), self.driver.replays, result


def array(*shape: int, at: int = ADDRESS, typestr: str = "<f4") -> Interface:
    return Interface(shape, typestr, (at, False))
