"""Loops as graphs of launches, with a driver that only looks like a real one: what it is given to launch, in order."""

from __future__ import annotations

import gc
import math
import sys
import threading
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from driver_tools import ADDRESS, Status
from graph_tools import Calls, array, driver

import pytocu
from pytocu.runtime import cuda, launch_graphs
from pytocu.runtime.host_loops import Steps
from pytocu.runtime.plan_loops import Steady, judged


def heat(u, n):
    for _ in range(n):
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


def swapped(u, n):
    a = u.copy()
    b = u.copy()
    for _ in range(n):
        b[1:-1, 1:-1] = 0.25 * (a[2:, 1:-1] + a[:-2, 1:-1] + a[1:-1, 2:] + a[1:-1, :-2])
        a, b = b, a
    return a


def two_fields(u, v, n):
    for _ in range(n):
        du = np.zeros_like(u)
        du[1:-1] = u[2:] - 2 * u[1:-1] + u[:-2]
        v = v + 0.1 * np.cumsum(du)
        u = u + 0.1 * v
    return u, v


def timed(u, n):
    t = 0.0
    for _ in range(n):
        t += 0.5
        u = np.cumsum(u)
    return u, t


def by_step(u, n):
    for i in range(n):
        u = np.cumsum(u) * i
    return u


def relaxed(u, n):
    """Loops in each step: of a few steps, of many, and with numbers of their own."""
    for _ in range(n):
        v = u.copy()
        for _ in range(3):
            v[1:-1] = 0.5 * (v[2:] + v[:-2])
        for j in range(2):
            v = np.roll(v, 1) * (1 - 0.01 * j)
        k = 1.0
        for _ in range(40):
            k = k * 0.5
            v[1:-1] = v[1:-1] + 0.25 * (v[2:] - 2 * v[1:-1] + v[:-2])
        u = u + k * v
    return u


def swept(u, n):
    """Rows one after the other: each launch of a step takes other parts of the array, and each step makes the same ones."""
    for _ in range(n):
        for i in range(1, u.shape[0]):
            u[i] = np.cumsum(u[i - 1]) * 0.5 + u[i, ::-1] * 0.25
            for j in range(i):
                u[j] = u[j, ::-1] * 0.5 + u[i] * 0.25
    return u


def triangle(u, n):
    """Other rows in each step."""
    for k in range(n):
        for i in range(k + 1, n):
            u[i] = np.cumsum(u[i]) * 0.5 + u[k]
    return u


def long_inside(u, n):
    u = u.copy()
    for _ in range(n):
        for _ in range(1200):
            u[1:-1] = 0.5 * (u[2:] + u[:-2])
        u = u[::-1] + 1
    return u


def directly(monkeypatch: pytest.MonkeyPatch, calls: Calls, *arguments: Any) -> list[tuple[Any, ...]]:
    """The launches of a call that makes no graphs."""
    with monkeypatch.context() as patch:
        patch.setattr(launch_graphs.LoopGraphs, "steps", lambda self, numbers, *rest: Steps(numbers, 1, False, None))
        launched, replays, _ = calls(*arguments)
    assert replays == 0
    return launched


__all__ = ["driver"]

PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    (heat, (array(500),)),
    (swapped, (array(50, 60),)),
    (two_fields, (array(300, typestr="<f8"), array(300, at=ADDRESS + 2**20, typestr="<f8"))),
    (timed, (array(300),)),
    (relaxed, (array(300),)),
    (swept, (array(6, 40),)),
]


@pytest.mark.parametrize(("function", "arguments"), PROGRAMS, ids=lambda case: case.__name__ if callable(case) else "")
def test_graphs_launch_what_python_would(driver, monkeypatch, function, arguments):
    calls = Calls(driver, function, *arguments, 3)
    loop, *inner = judged(calls.compiled.plan).values()
    assert isinstance(loop, Steady)
    least, held = launch_graphs.least_steps(loop), loop.period if inner else launch_graphs.steps_of_graph(loop)
    counted: list[int] = []
    steps_of = launch_graphs.LoopGraphs.steps

    def watched(self: Any, numbers: range, alone: bool, stream: int) -> Steps:
        counted.extend([len(numbers)] if alone and self.loop == loop else [])
        return steps_of(self, numbers, alone, stream)

    for steps in (0, 1, 2, 3, 2 * least, 2 * least + 1, least - 1, least, least + held, *(() if inner else (401, 1000))):
        wanted = directly(monkeypatch, calls, *arguments, steps)
        with monkeypatch.context() as patch:
            patch.setattr(launch_graphs.LoopGraphs, "steps", watched)
            launched, replays, result = calls(*arguments, steps)
        assert launched == wanted
        # A step of the loop may be two of the program.
        number = counted.pop()
        assert number in (steps, steps // 2) and not counted
        assert replays == ((number - loop.period) // held if number >= least else 0)
        if function is timed:
            assert result[1] == 0.5 * steps
    assert driver.names().count("cuGraphInstantiateWithFlags") == 1, "made once"


def test_a_long_loop_in_the_steps_of_another_has_graphs_of_its_own(driver, monkeypatch):
    calls = Calls(driver, long_inside, array(300), 3)
    wanted = directly(monkeypatch, calls, array(300), 30)
    launched, replays, _ = calls(array(300), 30)
    assert launched == wanted and driver.names().count("cuGraphInstantiateWithFlags") == 1
    # What the outer loop noted was too much, so only its first step was launched one by one.
    assert replays == 29 * ((1200 - 2) // 32)


def test_arrays_and_shapes_that_change(driver, monkeypatch):
    calls = Calls(driver, swapped, array(50, 60), 3)
    for shape, at in (((50, 60), 0), ((50, 60), 2**20), ((50, 60), 0), ((80, 99), 0), ((4000, 7), 64), ((50, 60), 2**20)):
        given = array(*shape, at=ADDRESS + at)
        wanted = directly(monkeypatch, calls, given, 300)
        assert calls(given, 300)[0] == wanted
    made = driver.names().count("cuGraphInstantiateWithFlags")
    # Carried arrays lie in memory of the function's own, whose addresses do not change here: three shapes, three graphs.
    assert made == 3
    before = driver.names().count("cuGraphExecKernelNodeSetParams")
    for n in range(5, 15):
        given = array(n, 9)
        assert calls(given, 300)[0] == directly(monkeypatch, calls, given, 300)
    assert driver.names().count("cuGraphInstantiateWithFlags") <= launch_graphs.KEPT
    assert driver.names().count("cuGraphExecKernelNodeSetParams") > before
    assert len(driver.executables) <= launch_graphs.KEPT


def test_results_of_earlier_calls_keep_their_memory(driver):
    calls = Calls(driver, heat, array(500), 3)
    function = calls.compiled.executable
    results, written = [], []
    for number in range(4):
        driver.launched.clear()
        with pytocu.stream(7):
            results.append(function(array(500, at=ADDRESS + 2**20 * number), 200))
        written.append({value for launch in driver.launched for value in launch[-1] if value > ADDRESS + 2**31})
    # While results are kept, each call's arrays lie elsewhere, and so do the launches of its graphs.
    assert len(results) == 4 and all(written)


def test_a_stream_that_is_captured_gets_the_launches(driver, monkeypatch):
    calls = Calls(driver, swapped, array(50, 60), 3)
    wanted = directly(monkeypatch, calls, array(50, 60), 200)
    driver.captures[7] = 5
    launched, replays, _ = calls(array(50, 60), 200)
    names = driver.names()
    assert len(launched) == len(wanted) == 201 and replays == 0 and "cuGraphCreate" not in names
    driver.captures.clear()
    assert calls(array(50, 60), 200)[1] == 6


def test_the_short_way_of_a_library(driver, monkeypatch):
    """CuPy's arrays, as far as a program reads them."""

    class Array:
        def __init__(self, shape: tuple[int, ...], dtype: Any, *rest: Any):
            self.shape, self.dtype, self.strides = shape, np.dtype(dtype), np.empty(shape, dtype).strides
            driver.next += 2**20
            self.data = types.SimpleNamespace(ptr=driver.next, device_id=0)

    current = types.SimpleNamespace(ptr=7)
    cupy = types.SimpleNamespace(ndarray=Array, cuda=types.SimpleNamespace(get_current_stream=lambda *_: current))
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    calls = Calls(driver, swapped, array(50, 60), 3)
    program = calls.compiled.short_program("cupy", 0)
    loops = calls.compiled.executable._cuda_kernels.graphs(0)

    def launched(steps: int) -> list[tuple[Any, ...]]:
        driver.launched.clear()
        driver.next = ADDRESS
        given = Array((50, 60), "f4")
        result = program.run(given, given.shape, given.data, steps)
        assert isinstance(result, Array) and result.shape == (50, 60)
        return list(driver.launched)

    for steps in (0, 1, 65, 100, 1000):
        found = launched(steps)
        with monkeypatch.context() as patch:
            patch.setattr(launch_graphs.LoopGraphs, "steps", lambda self, numbers, *rest: Steps(numbers, 1, False, None))
            assert launched(steps) == found
        assert len(found) == steps + 1
    assert driver.names().count("cuGraphLaunch") == sum((steps - 3) // 30 for steps in (65, 100, 1000))
    assert len(loops) == 1


def test_arrays_without_elements(driver):
    def turned(u, n):
        t = 0.0
        for _ in range(n):
            t += 0.5
            u = u[::-1] + 1
        return u, t

    calls = Calls(driver, turned, array(0), 3)
    launched, replays, result = calls(array(0), 500)
    assert not launched and replays == 0 and result[1] == 250.0


def test_threads_have_graphs_of_their_own(driver):
    calls = Calls(driver, timed, array(300), 3)
    start, failures = threading.Barrier(8), []

    def work(number: int) -> None:
        start.wait()
        for _ in range(20):
            with pytocu.stream(10 + number):
                if calls.compiled.executable(array(300, at=ADDRESS + 4096 * number), 100)[1] != 50.0:
                    failures.append(number)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    ((_, loop),) = judged(calls.compiled.plan).items()
    # Every launch of a stream is of that stream's own arrays, 100 steps each call.
    for number in range(8):
        assert len([launch for launch in driver.launched if launch[-2] == 10 + number]) == 20 * 100 * loop.launches + 20
    gc.collect()
    cuda.unload_retired()
    assert len(driver.executables) <= launch_graphs.KEPT


def test_graphs_go_with_the_code(driver):
    calls = Calls(driver, timed, array(300), 3)
    calls(array(300), 500)
    assert len(driver.executables) == len(driver.graphs) == 1
    driver.log.clear()
    calls.compiled = None
    gc.collect()
    assert not any(name.startswith("cuGraph") for name in driver.names()), "a finaliser makes no call"
    cuda.unload_retired()
    assert not driver.executables and not driver.graphs
    names = driver.names()
    assert names.index("cuGraphExecDestroy") < names.index("cuModuleUnload")


def test_errors_name_the_call_and_leave_the_function_usable(driver):
    calls = Calls(driver, timed, array(300), 3)
    for failing in ("cuGraphCreate", "cuGraphAddKernelNode", "cuGraphInstantiateWithFlags", "cuGraphLaunch"):
        driver.fails[failing] = Status.CUDA_ERROR_INVALID_VALUE
        with pytest.raises(pytocu.BackendError, match=f"{failing} failed: CUDA_ERROR_INVALID_VALUE"):
            calls(array(300), 500)
        driver.fails.clear()
    assert calls(array(300), 500)[2][1] == 250.0
    gc.collect()
    cuda.unload_retired()
    assert len(driver.executables) == 1


def test_the_steps_of_a_loop():
    seen: list[int] = []

    def replay(noted: Any, left: int) -> int:
        seen.append(left)
        return 4 if left >= 4 else 0

    for numbers in (range(0), range(1), range(2), range(10), range(20, 0, -3)):
        assert list(Steps(numbers, 2, True, replay)) == list(numbers)
        assert list(Steps(numbers, 2, True, None)) == list(numbers)
        skipped = list(Steps(numbers, 2, False, replay))
        assert skipped == [*numbers[:2], *numbers[2:][4 if len(numbers) >= 6 else 0 :]]
    steps = Steps(range(10), 2, True, replay)
    assert [steps.launching for _ in steps] == [True] * 2 + [False] * 4 + [True] * 4
    assert seen


def test_what_keeps_python_in_a_loop():
    def reasons(function: Callable[..., Any], *types: str) -> list[Any]:
        return list(judged(pytocu.jit(function).lower(*types).compile("cpu").plan).values())

    def by_divisors(u, n):
        for i in range(n):
            u = np.cumsum(u) * math.gcd(i, 4)
        return u

    assert reasons(by_divisors, "f32[n]", "weak int") == ["a kernel takes a number that differs from step to step"]
    (loop,) = reasons(by_step, "f32[n]", "weak int")
    assert isinstance(loop, Steady) and loop.numbers is not None
    assert reasons(timed, "f32[n]", "weak int") == [Steady(2, 1, True)]
    assert reasons(swapped, "f32[n, m]", "weak int") == [Steady(3, 1)]

    def nested(u, n):
        for _ in range(n):
            for _ in range(n):
                u = np.cumsum(u)
            u = u + 1
        return u

    assert reasons(nested, "f32[n]", "weak int") == [Steady(2, 3, loops=True), Steady(2, 1)]

    def branching(u, n):
        for i in range(n):
            if math.gcd(i, 4) % 2:
                u = np.cumsum(u)
            else:
                u = u[::-1] * 2
        return u

    assert reasons(branching, "f32[n]", "weak int") == ["which branch is taken differs from step to step"]


@pytest.mark.parametrize(
    ("version", "arch", "early"), [(13000, "sm_90", True), (12020, "sm_90", False), (13000, "sm_80", False)]
)
def test_kernels_start_early_where_the_gpu_and_the_driver_can(driver, monkeypatch, version, arch, early):
    monkeypatch.setattr(driver, "do_DriverGetVersion", lambda: (version,), raising=False)
    monkeypatch.setattr(cuda, "_archs", {0: arch})
    driver.early = early
    calls = Calls(driver, swapped, array(50, 60), 3)
    calls(array(50, 60), 200)
    assert ("cuGraphAddDependencies" in driver.names()) == early
    assert driver.names().count("cuGraphAddKernelNode") == 30


@pytest.mark.parametrize("backend", ["cuda_c", "nvvm"])
def test_kernels_of_steps_wait_before_they_read(backend):
    lowered = pytocu.jit(swapped).lower("f32[n, m]", "weak int")
    for arch, waits in (("sm_75", False), ("sm_89", False), ("sm_90", True), ("sm_100", True)):
        compiled = lowered.compile(f"cuda:{arch}", backend)
        assert [spec.waits for spec in compiled.plan.kernels] == [False, True]
        before, step = compiled.assembly.split(".entry")[1:]
        assert "griddepcontrol" not in before and ("griddepcontrol.wait" in step) == waits
        if waits:
            assert step.index("griddepcontrol.wait") < step.index("ld.global") < step.index("st.global")
            # What another kernel may still write is not read through the cache for constant data.
            assert "ld.global.nc" not in step
        assert "ld.global.nc" in before
        assert len(compiled.binary) > 1000
    assert not any(spec.waits for spec in lowered.compile("cpu").plan.kernels)
