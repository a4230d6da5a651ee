"""Times of kernels: what is asked of the driver, and what is made of its answers.  The driver is a stand-in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.explain import measure
from pytocu.explain.collect import explanation
from pytocu.explain.measure import LAUNCHES, TimedExecutor
from pytocu.explain.model import Explanation, KernelTime, Measured
from pytocu.runtime.on_cuda import CudaExecutor


class Driver:
    """Answers calls and notes them; an event is a number, and every launch takes 5 ms."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...]]] = []
        self.events = 0

    def __call__(self, function: str, *args: Any) -> Any:
        self.calls.append((function, args))
        match function:
            case "cuEventCreate":
                self.events += 1
                return self.events
            case "cuEventElapsedTime":
                return 5.0
            case "cuMemGetInfo":
                return 1 << 20, 1 << 30


class Nothing:
    """A context, and memory, of the stand-in."""

    pointer, nbytes = 4096, 8192

    def __init__(self, *args: Any) -> None:
        pass

    def __enter__(self) -> None:
        pass

    def __exit__(self, *args: Any) -> None:
        pass


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Driver:
    made = Driver()
    monkeypatch.setattr(measure.cuda, "call", made)
    monkeypatch.setattr(measure.cuda, "activated", Nothing)
    return made


def executor(driver: Driver, monkeypatch: pytest.MonkeyPatch, count: int) -> TimedExecutor:
    def prepare(self: Any, specs: Any, *rest: Any) -> None:
        self.specs, self.device, self.stream = specs, 0, 7

    monkeypatch.setattr(CudaExecutor, "__init__", prepare)
    monkeypatch.setattr(CudaExecutor, "launch", lambda self, number, *rest: driver.calls.append(("launch", (number,))))
    return TimedExecutor([None] * count, None, None, (), Nothing())  # type: ignore[list-item, arg-type]


def test_a_launch_stands_between_events_behind_other_work(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    timed = executor(driver, monkeypatch, 2)
    timed.launch(1, (), 10, 1)
    assert driver.calls == [
        ("cuEventCreate", (0,)),
        ("cuEventCreate", (0,)),
        ("cuMemsetD32Async", (4096, 0, 2048, 7)),
        ("cuEventRecord", (1, 7)),
        ("launch", (1,)),
        ("cuEventRecord", (2, 7)),
    ]
    driver.calls.clear()
    assert timed.seconds() == [[], [0.005]]
    assert [name for name, _ in driver.calls] == ["cuEventSynchronize", "cuEventElapsedTime", *["cuEventDestroy"] * 2]
    assert timed.seconds() == [[], []]


def test_of_many_launches_the_first_are_timed(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    timed = executor(driver, monkeypatch, 1)
    for _ in range(LAUNCHES + 5):
        timed.launch(0, (), 10, 1)
    assert sum(name == "launch" for name, _ in driver.calls) == LAUNCHES + 5
    assert len(timed.seconds()[0]) == LAUNCHES
    assert sum(name == "cuEventDestroy" for name, _ in driver.calls) == 2 * LAUNCHES


def test_memory_that_is_filled_is_a_part_of_what_is_free(driver: Driver) -> None:
    assert measure._affordable(1 << 27, 0) == 1 << 17
    assert measure._affordable(5000, 0) == 4096


def heavy(x, y):
    s = np.cumsum(x + y)
    return s[::-1].cumsum(), s


@pytest.fixture(scope="module")
def told() -> Explanation:
    return explanation(pytocu.jit(heavy).lower("f32[1000]", "f32[1000]"))


def test_kernels_get_the_median_of_their_launches(told: Explanation) -> None:
    count = len(told.kernels)
    assert count > 1
    times = [[3e-6, 1e-6, 2e-6], *[[4e-6]] * (count - 1)]
    first, second, *_ = measure._timed(told.kernels, times, 4e12) or ()
    moved = first.bytes.number
    assert moved is not None
    assert first.measured == KernelTime(2.0, pytest.approx(moved / 4e12 / 2e-6), 3)
    assert second.measured is not None and second.measured.microseconds == 4.0
    assert measure._timed(told.kernels, times[1:], 4e12) is None


def test_times_in_words(told: Explanation) -> None:
    kernels = measure._timed(told.kernels, [[2e-6, 3e-6]] * len(told.kernels), 4e12)
    assert kernels is not None
    text = str(told._replace(kernels=kernels, measured=Measured(20.0, 10.0, 0.5, "NVIDIA H200", 4.2e12)))
    share = kernels[0].measured.share if kernels[0].measured else None
    assert f"measured 2.5 µs a launch, {share:.2f} of the speed of a large copy (median of 2 launches)" in text
    assert "measured on NVIDIA H200" in text
    assert "a call takes 20.0 µs where many are made in a row, a copy of as many bytes 10.0 µs: 0.50 of the speed of" in text
    assert "a large copy moves 4.20 TB/s" in text
    changed = str(told._replace(measured=Measured(None, 10.0, None, "NVIDIA H200", 4.2e12)))
    assert "its kernels ran on copies, and calls in a row were not timed" in changed


def test_steps_of_loops_make_their_own_launches(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[Any, ...]] = []
    monkeypatch.setattr(CudaExecutor, "steps", lambda self, *given: asked.append(given))
    executor(driver, monkeypatch, 1).steps(3, range(100), True)
    assert asked == [(3, range(100), False)]
