"""Loops of launches as CUDA graphs: the steps of a loop that are known are launched many at once.

A graph holds the launches of some periods of a loop, one behind the other, and is launched again and again.  It is made
once and kept: a later call has other arrays, so the launches whose parameters differ are changed in it.  Where the GPU
can, a kernel starts while the one before it ends, and waits itself until what that one writes can be read.
"""

from __future__ import annotations

import ctypes
import struct
import sys
from collections.abc import Sequence

from pytocu.processes import allocate_lock
from pytocu.runtime import cuda
from pytocu.runtime.host_loops import Steps
from pytocu.runtime.plan_loops import Steady

NODES = 32
"""Launches of a graph: so many hide what it takes to launch it, and changing their parameters takes little."""

MOST = 1024
"""Launches of a period; the loops in the steps of a longer one become graphs, and it none."""

LEAST = 2
"""Graphs that a loop must be good for: below, making one takes longer than the launches."""

KEPT = 4
"""Graphs kept for a loop: those of calls at the same time, and of arrays that take turns."""

_NODE = struct.Struct("@P7IPPPP")
"""``CUDA_KERNEL_NODE_PARAMS``: function, grid and block, shared memory, parameters, extra, and two that stay empty."""

_LAUNCH = struct.Struct("@7I")
"""Its lengths and shared memory, with which the state of :class:`cuda.Parameters` begins."""

_STARTS_EARLY = bytes((1, 0, 1, 0, 0, 0, 0, 0))
"""``CUgraphEdgeData`` from a kernel that lets the next one start to a kernel that waits itself."""

Noted = tuple[int, bytes]
"""A launch: the number of the kernel, and the state of its :class:`cuda.Parameters`."""


def steps_of_graph(loop: Steady) -> int:
    """How many steps of a loop a graph holds, where its steps have no loops.

    Examples
    --------
    >>> steps_of_graph(Steady(2, 1)), steps_of_graph(Steady(3, 5)), steps_of_graph(Steady(2, 40))
    (32, 6, 2)
    """
    return loop.period * max(1, NODES // (loop.period * loop.launches))


def least_steps(loop: Steady) -> int:
    """From how many steps on a loop becomes a graph: one period is launched before.

    Examples
    --------
    >>> least_steps(Steady(2, 1))
    66
    """
    return loop.period + LEAST * steps_of_graph(loop)


class LoopGraphs:
    """The graphs of one loop on one device.

    Parameters
    ----------
    loop : Steady
    kernels : sequence of Kernel
        Of the plan.
    keys : sequence of str
        Their parameters, as :func:`cuda.thread_parameters` takes them.
    wait : sequence of bool
        Which of them wait themselves for the launch before.
    """

    def __init__(self, loop: Steady, kernels: Sequence[cuda.Kernel], keys: Sequence[str], wait: Sequence[bool]):
        self.loop = loop
        self._kernels, self._keys = kernels, keys
        able = cuda.starts_early(kernels[0].module.device)
        self._early = [able and waits for waits in wait]
        self._least = least_steps(loop)
        self._lock = allocate_lock()
        self._kept: list[_Graph] = []

    def steps(self, numbers: range, alone: bool, stream: int) -> Steps:
        """The steps of the loop, on a stream; where they are not alone, a loop around them notes their launches."""
        replayed = alone and len(numbers) >= self._least
        replay = (lambda noted, left: self._replay(noted, left, stream)) if replayed else None
        return Steps(numbers, self.loop.period, self.loop.counts, replay, MOST)

    def _replay(self, noted: Sequence[Noted], left: int, stream: int) -> int:
        """Launch graphs until fewer steps are left than one holds.

        While the stream is being captured into a graph of the caller's, all launches are left to the program.
        """
        if not noted:
            # There is nothing to compute, and so in no step.
            return left - left % self.loop.period
        periods = max(1, NODES // len(noted))
        steps = periods * self.loop.period
        with cuda.activated(self._kernels[0].module.device):
            if cuda.capture_of(stream):
                return 0
            graph = self._taken(noted, periods)
            graph.hold(noted)
            for _ in range(left // steps):
                cuda.call("cuGraphLaunch", graph.executable, stream)
        # Whoever takes it next may change it: launches that were made keep what they were made with.
        with self._lock:
            self._kept.append(graph)
            del self._kept[:-KEPT]
        return left - left % steps

    def _taken(self, noted: Sequence[Noted], periods: int) -> _Graph:
        """A graph of these kernels that nobody uses now, the one with these parameters if there is one."""
        numbers = tuple(number for number, _ in noted)
        with self._lock:
            fitting = [graph for graph in self._kept if graph.numbers == numbers]
            same = next((graph for graph in fitting if graph.noted == noted), None)
            found = same or (fitting[0] if len(self._kept) >= KEPT and fitting else None)
            if found is not None:
                self._kept.remove(found)
                return found
        cuda.unload_retired()
        return _Graph(self._kernels, self._keys, self._early, noted, periods)


class _Graph:
    """A graph of some periods of a loop.

    Attributes
    ----------
    numbers : tuple of int
        The kernels of a period.
    noted : list of (int, bytes)
        What they are launched with.
    executable : int
        The driver's handle.
    """

    __slots__ = ("_context", "_graph", "_kernels", "_nodes", "_parameters", "_structure", "executable", "noted", "numbers")

    def __init__(
        self,
        kernels: Sequence[cuda.Kernel],
        keys: Sequence[str],
        early: Sequence[bool],
        noted: Sequence[Noted],
        periods: int,
    ):
        self.numbers = tuple(number for number, _ in noted)
        self.noted = list(noted)
        # The code stays loaded as long as the graph.
        self._kernels = [kernels[number] for number in self.numbers]
        self._parameters = [cuda.parameters_of(keys[number]) for number in self.numbers]
        self._structure = ctypes.create_string_buffer(_NODE.size)
        self._context = kernels[0].module.context
        self._nodes: list[list[int]] = [[] for _ in noted]
        self.executable = self._graph = 0
        with cuda.outside_of_captures():
            self._graph = cuda.call("cuGraphCreate", 0)
            before = 0
            for _ in range(periods):
                for place, number in enumerate(self.numbers):
                    before = self._add(place, before, early[number])
            self.executable = cuda.call("cuGraphInstantiateWithFlags", self._graph, 0)

    def __del__(self) -> None:
        # Building may have failed.
        made = ("cuGraphExecDestroy", self.executable), ("cuGraphDestroy", self._graph)
        for function, handle in made if not sys.is_finalizing() else ():
            if handle:
                cuda.retire(function, handle, self._context)

    def _add(self, place: int, before: int, early: bool) -> int:
        """A node behind another one."""
        earlier = ctypes.c_void_p(before)
        order = ctypes.addressof(earlier), int(before > 0 and not early)
        node = cuda.call("cuGraphAddKernelNode", self._graph, *order, self._described(place))
        self._nodes[place].append(node)
        if before and early:
            later, edge = ctypes.c_void_p(node), ctypes.create_string_buffer(_STARTS_EARLY, len(_STARTS_EARLY))
            cuda.call("cuGraphAddDependencies", self._graph, *map(ctypes.addressof, (earlier, later, edge)), 1)
        return node

    def _described(self, place: int) -> int:
        """The address of what the driver takes for a launch of a period."""
        state, parameters = self.noted[place][1], self._parameters[place]
        parameters.restore(state)
        launch = _LAUNCH.unpack_from(state)
        _NODE.pack_into(self._structure, 0, self._kernels[place].handle, *launch, parameters.address, 0, 0, 0)
        return ctypes.addressof(self._structure)

    def hold(self, noted: Sequence[Noted]) -> None:
        """Change the launches whose parameters differ."""
        for place, launch in enumerate(noted):
            if launch != self.noted[place]:
                self.noted[place] = launch
                structure = self._described(place)
                for node in self._nodes[place]:
                    cuda.call("cuGraphExecKernelNodeSetParams", self.executable, node, structure)
