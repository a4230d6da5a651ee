"""Time loops as graphs of launches on a real GPU, compared with NumPy to the bit."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.runtime import cuda, device_array, launch_graphs
from pytocu.testing.compare import compare

pytestmark = pytest.mark.gpu


def heat_rod(u, n):
    for _ in range(n):
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


def heat_plate(u, n):
    u = u.copy()
    for _ in range(n):
        c = u[1:-1, 1:-1]
        u[1:-1, 1:-1] = c + 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * c)
    return u


def heat_swapped(u, n):
    a = u.copy()
    b = u.copy()
    for _ in range(n):
        b[1:-1, 1:-1] = 0.25 * (a[2:, 1:-1] + a[:-2, 1:-1] + a[1:-1, 2:] + a[1:-1, :-2])
        a, b = b, a
    return a


def shallow_water(h, u, v, n):
    t = 0.0
    for _ in range(n):
        u[1:-1, 1:-1] = u[1:-1, 1:-1] - 0.01 * (h[1:-1, 2:] - h[1:-1, :-2])
        v[1:-1, 1:-1] = v[1:-1, 1:-1] - 0.01 * (h[2:, 1:-1] - h[:-2, 1:-1])
        h[1:-1, 1:-1] = h[1:-1, 1:-1] - 0.01 * (u[1:-1, 2:] - u[1:-1, :-2] + v[2:, 1:-1] - v[:-2, 1:-1])
        h[0], h[-1] = h[1], h[-2]
        t += 0.5
    return h, u, v, t


def scratch(u, n):
    """Memory that each step makes for itself."""
    for _ in range(n):
        flux = np.zeros_like(u)
        flux[1:] = u[1:] - u[:-1]
        limited = np.minimum(np.abs(flux[::-1]), 1)
        u = u - 0.1 * limited[::-1]
    return u


def swept(u, n):
    """Rows one after the other: each launch of a step takes other parts of the array, and each step makes the same ones."""
    for _ in range(n):
        for i in range(1, u.shape[0]):
            u[i] = u[i - 1, ::-1] * 0.5 + u[i, ::-1] * 0.25
            for j in range(i):
                u[j] = u[j, ::-1] * 0.25 + u[i] * 0.5
    return u


def eliminated(a, n):
    """Loops in each step that have other steps there: no graph."""
    for k in range(n % 12):
        for i in range(k + 1, 12):
            f = a[i, k] / a[k, k]
            a[i, k:] -= f * a[k, k:]
    return a


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


def random(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random(shape, np.float32)


PROGRAMS: list[tuple[Callable[..., Any], tuple[np.ndarray, ...]]] = [
    (heat_rod, (random(3001),)),
    (heat_plate, (random(130, 257),)),
    (heat_plate, (random(1024, 1024),)),
    (heat_swapped, (random(99, 101),)),
    (heat_swapped, (random(64, 64).astype(np.float64),)),
    (shallow_water, (random(70, 80) + 1, random(70, 80, seed=1), random(70, 80, seed=2))),
    (scratch, (random(5000),)),
    (relaxed, (random(3000),)),
    (swept, (random(6, 300),)),
    (eliminated, (random(12, 12) + 12 * np.eye(12, dtype=np.float32),)),
]
STEPS = (0, 1, 2, 3, 65, 66, 67, 100, 257)


def replays(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many steps graphs make from here on, a number a call that has some."""
    seen: list[int] = []
    replay = launch_graphs.LoopGraphs._replay

    def watched(self: Any, noted: Any, left: int, stream: int) -> int:
        seen.append(replay(self, noted, left, stream))
        return seen[-1]

    monkeypatch.setattr(launch_graphs.LoopGraphs, "_replay", watched)
    return seen


def check(found: Any, wanted: Any, cupy: Any) -> None:
    if isinstance(wanted, tuple):
        assert len(found) == len(wanted)
        for a, b in zip(found, wanted, strict=True):
            check(a, b, cupy)
    else:
        compare(cupy.asnumpy(found) if isinstance(found, cupy.ndarray) else found, wanted)


@pytest.mark.parametrize(("function", "arrays"), PROGRAMS, ids=lambda case: case.__name__ if callable(case) else "")
def test_any_number_of_steps(function, arrays, cupy, monkeypatch):
    jitted, seen = pytocu.jit(function), replays(monkeypatch)
    for steps in STEPS:
        host, device = [a.copy() for a in arrays], [cupy.asarray(a) for a in arrays]
        wanted = function(*host, steps)
        for _ in range(2):
            check(jitted(*[a.copy() for a in device], steps), wanted, cupy)
        # What the function changes is changed.
        check(jitted(*device, steps), wanted, cupy)
        check(tuple(device), tuple(host), cupy)
    if function is eliminated:
        # Its steps differ: a native function makes them.
        assert not seen
    else:
        assert len(seen) >= 3 and all(number > 0 for number in seen)


def test_shapes_that_change_between_calls(cupy, monkeypatch):
    jitted, seen = pytocu.jit(heat_swapped), replays(monkeypatch)
    for number, shape in enumerate([(40, 50), (64, 64), (40, 50), (300, 20), (20, 300), (41, 51), (42, 50), (40, 50), (7, 9)]):
        u = random(*shape, seed=number)
        check(jitted(cupy.asarray(u), 150), heat_swapped(u, 150), cupy)
    assert len(seen) == 9


def test_results_stay_as_they_are(cupy):
    jitted = pytocu.jit(heat_plate)
    fields = [random(100, 90, seed=n) for n in range(12)]
    given = [cupy.asarray(u) for u in fields]
    results = [jitted(u, 120) for u in given]
    # Nothing was waited for, and graphs were changed for other arrays meanwhile.
    for u, result in zip(fields, results, strict=True):
        check(result, heat_plate(u, 120), cupy)
    del results[::2]
    again = [jitted(u, 131) for u in given[::2]]
    for u, result in zip(fields[1::2], results, strict=True):
        check(result, heat_plate(u, 120), cupy)
    for u, result in zip(fields[::2], again, strict=True):
        check(result, heat_plate(u, 131), cupy)


def test_a_field_that_is_handed_on(cupy):
    jitted, u = pytocu.jit(heat_plate), random(120, 130)
    on_device, on_host = cupy.asarray(u), u
    for steps in (80, 81, 82, 300):
        on_device, on_host = jitted(on_device, steps), heat_plate(on_host, steps)
    check(on_device, on_host, cupy)


def test_captured_by_cupy(cupy, monkeypatch):
    jitted, seen = pytocu.jit(heat_swapped), replays(monkeypatch)
    first, second = random(60, 70), random(60, 70, seed=1)
    stream = cupy.cuda.Stream(non_blocking=True)
    u = cupy.asarray(first)
    with stream:
        # The pool has memory for the capture then.
        jitted(u, 100)
        stream.synchronize()
        stream.begin_capture()
        result = jitted(u, 100)
        graph = stream.end_capture()
        assert seen == [90, 0], "while the stream is captured, every launch is"
        for field in (first, second, first):
            u.set(field, stream=stream)
            graph.launch(stream)
            stream.synchronize()
            check(result, heat_swapped(field, 100), cupy)


def test_captured_by_torch(torch, cupy):
    jitted = pytocu.jit(heat_plate)
    first, second = random(60, 70), random(60, 70, seed=1)
    u = torch.from_numpy(first).cuda()
    for _ in range(2):
        assert np.array_equal(jitted(u, 100).cpu().numpy(), heat_plate(first, 100))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = jitted(u, 100)
    for field in (first, second):
        u.copy_(torch.from_numpy(field))
        graph.replay()
        torch.cuda.synchronize()
        assert np.array_equal(result.cpu().numpy(), heat_plate(field, 100))
    # And graphs of its own again.
    assert np.array_equal(jitted(u, 300).cpu().numpy(), heat_plate(second, 300))


def test_on_other_streams(cupy, torch):
    jitted, u = pytocu.jit(heat_plate), random(200, 300)
    wanted = heat_plate(u, 200)
    for _ in range(3):
        for stream in (cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream.null, cupy.cuda.Stream.ptds):
            with stream:
                slow = cupy.zeros(2**24, cupy.float32)
                for _ in range(20):
                    slow += 1
                # Behind long work of the same stream, and before more of it.
                given = cupy.asarray(u) + (slow[:1] - slow[:1])
                result = jitted(given, 200)
                given[:] = 0
                compare((result + 0).get(stream=stream), wanted)
        with torch.cuda.stream(torch.cuda.Stream()):
            made = jitted(torch.from_numpy(u).cuda(), 200)
            assert np.array_equal(made.cpu().numpy(), wanted)
        with pytocu.stream(cupy.cuda.Stream(non_blocking=True)) as handle:
            given = device_array.to_device(u, 0, handle)
            compare(jitted(given, 200).copy_to_host(), wanted)


def test_numpy_arrays_that_are_copied_to_the_device():
    u = random(200, 300)
    compare(pytocu.jit(heat_plate, device="cuda")(u, 200), heat_plate(u, 200))


def test_threads(cupy):
    jitted = pytocu.jit(heat_swapped)
    fields = [random(150, 100 + n, seed=n) for n in range(8)]
    wanted = [heat_swapped(u, 140) for u in fields]
    start, failures = threading.Barrier(8), []

    def work(number: int) -> None:
        start.wait()
        try:
            for repetition in range(10):
                # With one stream for all, and with one for each.
                with cupy.cuda.Stream.null if repetition % 2 else cupy.cuda.Stream(non_blocking=True) as stream:
                    u = cupy.asarray(fields[number])
                    result = jitted(u, 140)
                    compare(result.get(stream=stream), wanted[number])
        except BaseException as error:
            failures.append((number, error))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.unwatched
def test_a_capture_of_another_thread_is_not_disturbed(cupy):
    """Building a graph is no call that a capture elsewhere forbids."""
    jitted, u = pytocu.jit(heat_rod), random(4000)
    other = pytocu.jit(heat_plate)
    plate = random(50, 60)
    capturing, built, failures = threading.Event(), threading.Event(), []

    def capture() -> None:
        stream = cupy.cuda.Stream(non_blocking=True)
        try:
            with stream:
                # Such a stream does not wait for what another one fills.
                x = cupy.ones(1000, cupy.float32)
                x += 1
                stream.synchronize()
                stream.begin_capture(cupy.cuda.runtime.streamCaptureModeGlobal)
                x += 1
                capturing.set()
                built.wait(60)
                x += 1
                graph = stream.end_capture()
                graph.launch(stream)
                stream.synchronize()
            assert float(x[0]) == 4
        except BaseException as error:
            failures.append(error)
            capturing.set()

    stream = cupy.cuda.Stream(non_blocking=True)
    with stream:
        given, on_plate = cupy.asarray(u), cupy.asarray(plate)
        # Compiled and with memory in the pool, but with no graph yet.
        other(on_plate, 3)
        jitted(given.copy(), 3)
        stream.synchronize()
    thread = threading.Thread(target=capture)
    thread.start()
    capturing.wait(60)
    try:
        with stream:
            first, second = other(on_plate, 200), jitted(given, 200)
    finally:
        built.set()
        thread.join()
    assert not failures
    check(first, heat_plate(plate, 200), cupy)
    check(second, heat_rod(u.copy(), 200), cupy)


@pytest.mark.unwatched
def test_graphs_leave_no_device_memory(cupy):
    def free() -> int:
        gc.collect()
        cuda.unload_retired()
        cupy.get_default_memory_pool().free_all_blocks()
        cupy.cuda.Device().synchronize()
        return cupy.cuda.runtime.memGetInfo()[0]

    u = cupy.asarray(random(200, 200))

    def some(count: int) -> None:
        for _ in range(count):
            pytocu.jit(heat_plate)(u, 300)

    # The driver keeps some memory for the graphs that come next.
    some(30)
    before = free()
    some(90)
    assert before - free() < 8 << 20
