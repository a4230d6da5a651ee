"""Loops whose steps differ, which a native function of the host makes on a real GPU, compared with NumPy."""

from __future__ import annotations

import random as choices
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from test_nests_random import arguments
from test_nests_random import make as made_of

import pytocu
from pytocu.runtime import gpu_loops
from pytocu.testing.compare import compare
from pytocu.testing.nest_programs import random_nest_program

pytestmark = pytest.mark.gpu


def factor_each_step(u, n):
    for i in range(n):
        u = np.roll(u, 1) * (1 + i / 1024)
    return u


def rows_below(a, n):
    """Gaussian elimination by powers of two, whose results are exact."""
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k:] = a[i, k:] - a[k, k:] * 0.5
    return a


def blocks(a, n):
    """Parts with columns and rows that become smaller."""
    for k in range(n):
        a[k + 1 :, k + 1 :] = (a[k + 1 :, k + 1 :] - a[k + 1 :, k : k + 1] * a[k : k + 1, k + 1 :]) % 16
    return a


def with_branches(u, n):
    u, t = u.copy(), 1.0
    for i in range(n):
        if i % 7 == 3:
            u = u[::-1] * t
            t = t * 0.5
        elif i % 2:
            u[i:] = u[i:] + i
    return u, t


def until_small(u, tolerance):
    """The host reads what each step has computed."""
    change, steps = 1.0, 0
    while change > tolerance and steps < 400:
        new = u.copy()
        new[1:-1] = 0.5 * (u[2:] + u[:-2])
        change = np.abs(new - u).max()
        u = new
        steps += 1
    return u, steps


def exchanged(a, n):
    """Which rows change places depends on the data."""
    for k in range(n):
        p = k + int(np.argmax(np.abs(a[k:, k])))
        if p != k:
            row = a[k].copy()
            a[k] = a[p]
            a[p] = row
        a[k + 1 :, k] = a[k + 1 :, k] * 0.5
    return a


def integers(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(-8, 9, shape).astype(np.float64)


PROGRAMS: list[tuple[Callable[..., Any], np.ndarray, tuple[Any, ...]]] = [
    (factor_each_step, integers(5000), (0, 1, 2, 30, 257)),
    (factor_each_step, integers(100_001), (40,)),
    (rows_below, integers(40, 70), (0, 3, 40)),
    (blocks, integers(24, 24), (0, 3, 24)),
    (blocks, integers(24, 700), (24,)),
    (with_branches, integers(5000), (0, 5, 90)),
    (until_small, integers(3000), (0.5, 0.0625)),
    (until_small, integers(70_000), (0.25,)),
    (exchanged, integers(60, 50), (0, 3, 50)),
]


def watched(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many steps native code makes from here on, a number a call of it."""
    seen: list[int] = []
    made = gpu_loops.GpuLoop._made

    def watch(self: Any, *rest: Any) -> Any:
        found = made(self, *rest)
        seen.append(found[0])
        return found

    monkeypatch.setattr(gpu_loops.GpuLoop, "_made", watch)
    return seen


def check(found: Any, wanted: Any) -> None:
    found, wanted = ((v if isinstance(v, tuple) else (v,)) for v in (found, wanted))
    for a, b in zip(found, wanted, strict=True):
        compare(a.get() if hasattr(a, "get") else a, b)


@pytest.mark.parametrize(("function", "given", "counts"), PROGRAMS, ids=lambda case: getattr(case, "__name__", ""))
def test_any_number_of_steps(function, given, counts, cupy, monkeypatch):
    jitted, seen = pytocu.jit(function), watched(monkeypatch)
    for count in counts:
        host = given.copy()
        wanted = function(host, count)
        for _ in range(3):
            device = cupy.asarray(given)
            check(jitted(device, count), wanted)
            check(device, host)
    assert sum(seen) > 20


def test_numpy_arrays_and_those_of_torch(torch, monkeypatch):
    seen, given = watched(monkeypatch), integers(5000)
    wanted = factor_each_step(given, 90)
    for _ in range(3):
        compare(pytocu.jit(factor_each_step, device="cuda")(given, 90), wanted)
        found = pytocu.jit(factor_each_step)(torch.from_numpy(given).cuda(), 90)
        compare(found.cpu().numpy(), wanted)
    assert len(seen) >= 6 and min(seen) > 60


def test_captured_by_cupy(cupy, monkeypatch):
    jitted, seen = pytocu.jit(factor_each_step), watched(monkeypatch)
    first, second = integers(5000), integers(5000, seed=1)
    stream = cupy.cuda.Stream(non_blocking=True)
    u = cupy.asarray(first)
    with stream:
        jitted(u, 60)
        stream.synchronize()
        stream.begin_capture()
        result = jitted(u, 60)
        graph = stream.end_capture()
        assert seen[0] > 0 and seen[1:] == [0], "while the stream is captured, Python makes every launch"
        for field in (first, second):
            u.set(field, stream=stream)
            graph.launch(stream)
            stream.synchronize()
            check(result, factor_each_step(field, 60))


def test_an_index_of_the_data_in_a_loop_that_is_read(cupy):
    def followed(u, at, n):
        k, steps = 0, 0
        while k >= 0 and steps < n:
            u = u + u[at[steps]]
            k = int(at[steps + 1])
            steps += 1
        return u, steps

    jitted = pytocu.jit(followed)
    u, at = np.ones(3000), np.arange(90)
    check(jitted(cupy.asarray(u), cupy.asarray(at), 60), followed(u, at, 60))
    at[40] = 3000
    with pytest.raises(IndexError, match="index 3000 is out of bounds for axis 0 with size 3000"):
        jitted(cupy.asarray(u), cupy.asarray(at), 60)
        pytocu.synchronize()
    at[40] = 40
    check(jitted(cupy.asarray(u), cupy.asarray(at), 60), followed(u, at, 60))


def test_threads(cupy):
    jitted = pytocu.jit(until_small)
    fields = [integers(3000 + n, seed=n) for n in range(8)]
    wanted = [until_small(u, 0.125) for u in fields]
    start, failures = threading.Barrier(8), []

    def work(number: int) -> None:
        start.wait()
        try:
            for repetition in range(8):
                with cupy.cuda.Stream.null if repetition % 2 else cupy.cuda.Stream(non_blocking=True) as stream:
                    made, steps = jitted(cupy.asarray(fields[number]), 0.125)
                    compare(made.get(stream=stream), wanted[number][0])
                    assert steps == wanted[number][1]
        except BaseException as error:
            failures.append((number, error))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


@pytest.mark.parametrize("part", range(4))
def test_random_loops_in_loops(part, cupy):
    taken = 0
    for seed in range(part, 40, 4):
        source = random_nest_program(choices.Random(seed).choice)
        function = made_of(source)
        compiled = pytocu.jit(function)
        for size, steps in ((12, 4), (5, 2), (23, 9)):
            host = arguments(size, steps, seed)
            device = [cupy.asarray(v) if isinstance(v, np.ndarray) else v for v in host]
            try:
                with np.errstate(all="ignore"):
                    expected = function(*host)
            except (ValueError, IndexError) as error:
                with pytest.raises((type(error), pytocu.UnsupportedError)):
                    compiled(*device)
                    pytocu.synchronize()
                continue
            try:
                found = compiled(*device)
            except pytocu.UnsupportedError:
                break
            for a, b in zip((*found, *device), (*expected, *host), strict=True):
                value = a.get() if hasattr(a, "get") else a
                # Of two zeros a maximum may be either.
                plain = [v + 0.0 if isinstance(v, np.ndarray | float) else v for v in (value, b)]
                try:
                    compare(*plain)
                except AssertionError as error:
                    raise AssertionError(f"{source}\nseed {seed}, {size}, {steps}\n{error}") from None
            taken += 1
    assert taken > 10
