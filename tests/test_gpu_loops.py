"""Loops whose steps differ, on a driver that notes launches: a native function makes those that Python would make."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from driver_tools import ADDRESS, Status
from graph_tools import Calls, array, driver
from test_nests_random import make as made_of

import pytocu
from pytocu.runtime import gpu_loops, launch_graphs
from pytocu.runtime.host_loops import Steps, Until
from pytocu.runtime.plan_loops import Steady, judged, steady
from pytocu.testing.nest_programs import random_nest_program

__all__ = ["driver"]


def by_step(u, n):
    for i in range(n):
        u = np.cumsum(u) * i
    return u


def scaled(u, n):
    """Floats, ints of several dtypes, and a number that is carried."""
    t = 0.5
    for i in range(1, n):
        t = t * 1.5 - i
        u = np.cumsum(u) * t + i
    return u, t


def parts(u, n):
    for k in range(n):
        u[k:] = u[k:][::-1] - u[k] * 2
    return u


def triangle(u, n):
    """Other rows in each step."""
    for k in range(n):
        for i in range(k + 1, n):
            u[i] = np.cumsum(u[i]) * 0.5 + u[k]
    return u


def tiles(u, n):
    """Parts with columns and rows."""
    for k in range(n):
        u[k:, k:] = u[k:, k:].T + k
    return u


def sometimes(u, n):
    for i in range(n):
        if i % 3 == 1:
            u = np.cumsum(u) + i
        else:
            u = u[::-1] * 2.0
    return u


def backwards(u, n):
    for i in range(n - 1, 0, -2):
        u[i] = np.cumsum(u[i - 1]) + i
    return u


def swapped(u, n):
    a, b = u.copy(), u.copy()
    for i in range(n):
        b[1:-1] = a[2:] + a[:-2] * i
        a, b = b, a
    return a


def directly(monkeypatch: pytest.MonkeyPatch, calls: Calls, *arguments: Any) -> tuple[list[tuple[Any, ...]], Any]:
    """The launches of a call, and its result, that Python makes."""
    with monkeypatch.context() as patch:
        for kind in (launch_graphs.LoopGraphs, gpu_loops.GpuLoop):
            patch.setattr(kind, "steps", lambda self, numbers, *rest: Steps(numbers, 1, False, None))
        patch.setattr(gpu_loops.GpuLoop, "until", lambda self, stream: Until(1, 0, None, 0))
        before = calls.driver.by_native
        launched, _, result = calls(*arguments)
    assert calls.driver.by_native == before
    return launched, result


PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...], int]] = [
    (by_step, (array(300),), 60),
    (scaled, (array(300, typestr="<f8"),), 60),
    (parts, (array(70),), 70),
    (triangle, (array(30, 40),), 30),
    (tiles, (array(40, 40),), 40),
    (sometimes, (array(300),), 50),
    (backwards, (array(60, 30),), 60),
    (swapped, (array(300),), 61),
]


@pytest.mark.parametrize(("function", "arguments", "most"), PROGRAMS, ids=lambda case: getattr(case, "__name__", ""))
def test_native_code_launches_what_python_would(driver, monkeypatch, function, arguments, most):
    calls = Calls(driver, function, *arguments, 3)
    loop = next(iter(judged(calls.compiled.plan).values()))
    assert isinstance(loop, Steady) and loop.numbers is not None
    for steps in (0, 1, 2, 3, most // 2, most - 1, most, most // 2):
        wanted, result = directly(monkeypatch, calls, *arguments, steps)
        before = driver.by_native
        launched, replays, made = calls(*arguments, steps)
        assert launched == wanted and not replays
        assert steps < most // 2 or driver.by_native - before > len(launched) // 2
        if isinstance(made, tuple):
            assert made[1:] == result[1:]


def test_a_number_that_only_python_has_is_given_back(driver, monkeypatch):
    def doubled(u, n):
        k = 1
        for _ in range(n):
            k = k * 2
            u = np.cumsum(u) + float(k)
        return u, k

    calls = Calls(driver, doubled, array(300), 3)
    wanted, result = directly(monkeypatch, calls, array(300), 90)
    launched, _, made = calls(array(300), 90)
    assert launched == wanted and made[1] == result[1] == 2**90 and driver.by_native > 30


def test_a_stream_that_is_captured_is_given_launches_by_python(driver, monkeypatch):
    calls = Calls(driver, by_step, array(300), 3)
    wanted, _ = directly(monkeypatch, calls, array(300), 50)
    driver.captures[7] = 5
    assert calls(array(300), 50)[0] == wanted and not driver.by_native
    driver.captures.clear()
    assert calls(array(300), 50)[0] == wanted and driver.by_native


def test_streams_and_memory_of_each_call(driver, monkeypatch):
    calls = Calls(driver, triangle, array(30, 40), 3)
    for stream, at in ((7, 0), (9, 2**20), (7, 2**21)):
        given = array(30, 40, at=ADDRESS + at)
        launched = calls(given, 30, stream=stream)[0]
        assert {one[8] for one in launched} == {stream}
        assert [one[:8] + one[9:] for one in launched] == [
            one[:8] + one[9:] for one in directly(monkeypatch, calls, given, 30)[0]
        ]


def test_a_launch_that_the_driver_refuses(driver):
    calls = Calls(driver, by_step, array(300), 3)
    calls(array(300), 50)
    launch, made = driver.launch_ex, []

    def refuse(*given: Any) -> Status:
        made.append(given)
        return Status.CUDA_ERROR_LAUNCH_FAILED if len(made) == 20 else launch(*given)

    driver.launch_ex = refuse
    said = r"launching \w+ with 1 blocks of \d+ threads failed: CUDA_ERROR_LAUNCH_FAILED"
    with pytest.raises(pytocu.BackendError, match=said):
        calls(array(300), 50)
    assert len(made) == 20, "nothing is launched behind it"
    del driver.launch_ex
    before = driver.by_native
    calls(array(300), 50)
    assert driver.by_native > before


def iterated(u, tolerance):
    """As long as the data says."""
    error, steps = 1.0, 0
    while error > tolerance:
        u = np.cumsum(u) * 0.5
        error = float(np.abs(u).max())
        steps += 1
    return u, steps


def test_a_while_loop_reads_the_gpu_behind_each_step(driver, monkeypatch):
    calls = Calls(driver, iterated, array(70000, typestr="<f8"), 0.5)
    (loop,) = steady(calls.compiled.plan, True).values()
    assert loop.numbers is not None
    answers = halves(*(float(40 - step) for step in range(41)))
    found = {}
    for way in (directly, lambda _, calls, *given: calls(*given)[::2]):
        driver.answers, driver.reads = list(answers), []
        launched, result = way(monkeypatch, calls, array(70000, typestr="<f8"), 0.5)
        found[way] = launched, result[1], driver.reads, len(driver.answers)
    first, second = found.values()
    assert first == second and first[1] > 30 and driver.by_native > 30


def halves(*numbers: float) -> list[bytes]:
    """Floats as they are read, as two words."""
    return [half.tobytes() for number in numbers for half in np.array([number]).view(np.uint32).astype(np.int64)[::-1]]


def test_a_read_that_the_driver_refuses(driver):
    calls = Calls(driver, iterated, array(70000, typestr="<f8"), 0.5)
    driver.answers = halves(*[3.0] * 9)
    copy = driver.copy_natively

    def refuse(*given: Any) -> int:
        return copy(*given) if driver.answers else int(Status.CUDA_ERROR_ILLEGAL_ADDRESS)

    driver.native["cuMemcpyDtoHAsync"] = type(driver.native["cuMemcpyDtoHAsync"])(refuse)
    with pytest.raises(pytocu.DeviceLostError, match="reading a number from the GPU failed: CUDA_ERROR_ILLEGAL_ADDRESS"):
        calls(array(70000, typestr="<f8"), 0.5)
    assert not driver.answers


def test_what_kernels_found_is_looked_at_behind_a_read(driver):
    def moved(u, at, tolerance):
        error, steps = 1.0, 0
        while error > tolerance:
            u = np.cumsum(u) + u[at[steps]]
            error = float(np.abs(u).max())
            steps += 1
        return u, steps

    given = array(70000, typestr="<f8"), array(80, typestr="<i8", at=ADDRESS + 2**20)
    calls = Calls(driver, moved, *given, 0.5)
    words = calls.compiled.executable.words_on(0)
    copy = driver.copy_natively

    def spoil(*arguments: Any) -> int:
        if len(driver.answers) == 20:
            words.memory[:2] = [70000, 70000]
        return copy(*arguments)

    driver.native["cuMemcpyDtoHAsync"] = type(driver.native["cuMemcpyDtoHAsync"])(spoil)
    driver.answers = halves(*[3.0] * 40)
    with pytest.raises(IndexError, match="index 70000 is out of bounds for axis 0 with size 70000"):
        calls(*given, 0.5)
    # The last one was read once more, by Python.
    assert len(driver.answers) in (16, 18) and driver.by_native


SEEDS = 24


@pytest.mark.parametrize("part", range(4))
def test_random_loops_in_loops(driver, monkeypatch, part):
    """What is read is the same for both as long as nothing is written there: Python may read again what native code read."""
    counted = 0
    for seed in range(part, SEEDS, 4):
        source = random_nest_program(random.Random(seed).choice)

        def given(size: int, steps: int) -> tuple[Any, ...]:
            shapes = ((size, size), (size, size), (size,))
            return *(array(*s, at=ADDRESS + 2**20 * n, typestr="<f8") for n, s in enumerate(shapes)), 1.5, steps

        try:
            calls = Calls(driver, made_of(source), *given(12, 4))
        except pytocu.UnsupportedError:
            continue
        for size, steps in ((12, 4), (5, 2), (23, 9)):
            found = []
            for way in (lambda *given: directly(monkeypatch, *given), lambda calls, *given: calls(*given)[::2]):
                driver.reads, driver.versions, driver.ways = [], {}, (0, 1, 1, 1, 2)
                try:
                    launched, said = way(calls, *given(size, steps))[0], ""
                except (pytocu.CompileError, pytocu.BackendError) as error:
                    launched, said = list(driver.launched), str(error)
                found.append((launched, said))
            assert found[0] == found[1], f"{source}\nseed {seed}"
            counted += 1
    assert counted > SEEDS // 4 and driver.by_native
