"""Rows of which a thread has several at once: the bits of one row at a time, whatever the lengths and the addresses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from reduction_tools import on_threads, small

import pytocu
from pytocu.ir import interp
from pytocu.passes import schedule


@pytest.fixture
def many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Any number of rows is large."""
    monkeypatch.setattr(schedule, "MANY_THREADS", 1)


def accelerations(x: Any, y: Any, mass: Any) -> Any:
    dx, dy = x - x[:, None], y - y[:, None]
    square = dx * dx + dy * dy + np.float32(1e-3)
    pull = mass / (square * np.sqrt(square))
    return (pull * dx).sum(1), (pull * dy).sum(1)


def likelihoods(x: Any, y: Any) -> Any:
    d = -((x[:, None] - y) ** 2)
    most = d.max(1, keepdims=True)
    return most[:, 0] + np.log(np.exp(d - most).sum(1))


def nearest(x: Any, y: Any) -> Any:
    d = np.abs(x[:, None] - y)
    return d.argmin(1), d.min(1), (d < 0.5).sum(1)


def random(count: int, shift: int = 0) -> np.ndarray:
    room = np.zeros(count + 64, np.float32)
    start = -room.ctypes.data % 64 // 4 + shift
    room[start : start + count] = np.random.default_rng(count).random(count, np.float32)
    return room[start : start + count]


def interpreted(function: Any, *arguments: np.ndarray) -> list[np.ndarray]:
    return [np.asarray(r) for r in interp.run(pytocu.jit(function).lower(*arguments).host("cuda"), arguments)]


@pytest.mark.parametrize("shift", [0, 1], ids=["aligned", "misaligned"])
@pytest.mark.parametrize("length", [1, 2, 11, 64, 257, 260, 514])
def test_bits_do_not_depend_on_the_rows_beside(monkeypatch: pytest.MonkeyPatch, length: int, shift: int) -> None:
    """Square problems, where positions and addresses are of one array, and what follows a first reduction."""
    x, y, mass = random(length, shift), random(length + 1, shift)[:length], random(length)
    other = random(length + 3)
    expected = [*interpreted(accelerations, x, y, mass), *interpreted(likelihoods, x, other), *interpreted(nearest, x, other)]
    monkeypatch.setattr(schedule, "MANY_THREADS", 1)
    found = [*interpreted(accelerations, x, y, mass), *interpreted(likelihoods, x, other), *interpreted(nearest, x, other)]
    for a, b in zip(found, expected, strict=True):
        assert a.dtype == b.dtype and a.tobytes() == b.tobytes()


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("rows", [1, 2, 5, 130, 131])
@pytest.mark.parametrize("length", [1, 3, 24, 130, 385, 512, 513, 1030])
def test_rows_of_what_all_rows_read(rows: int, length: int) -> None:
    a, b = small("f4", (rows,)), small("f4", (length,))
    texts = ["(a[:, None] * b).sum(1)", "(a[:, None] - b).max(1)", "(a[:, None] * b).argmin(1)"]
    on_threads(texts if rows < 100 or length < 30 else texts[:1], a, b)


@pytest.mark.usefixtures("many")
@pytest.mark.parametrize("length", [5, 24, 260])
def test_operands_of_other_kinds(length: int) -> None:
    """Integers, complex numbers, several axes of rows and of elements, positions that are computed, and generated numbers."""
    a, b = small("i4", (3, 5)), small("i4", (length,))
    on_threads(["(a[:, :, None] * b).sum(2)", "(a[:, :, None] + b * b).max(2)", "(a[:, :, None] > b).any(2)"], a, b)
    on_threads(["(a[:, None] * b).sum(1)"], small("c8", (7,)), small("c8", (length,)))
    on_threads(["(a[:, None, None] * b).sum((1, 2))"], small("f4", (7,)), small("f4", (4, length)))
    on_threads(["(a[:, None] * np.arange(b.shape[0])).sum(1)"], small("f4", (7,)), small("f4", (length,)))
    index = np.arange(length)[::-1] // 2
    on_threads(["(a[:, None] * b[c]).sum(1)"], small("f4", (7,)), small("f4", (length,)), index)
    on_threads(["np.where(a[:, None] > b, a[:, None] // b, b).sum(1)"], small("i4", (7,)), small("i4", (length,)) | 1)


@pytest.mark.usefixtures("many")
def test_no_rows_and_no_elements() -> None:
    none, some = np.zeros(0, np.float32), small("f4", (40,))
    on_threads(["(a[:, None] * b).sum(1)"], none, some)
    on_threads(["(a[:, None] * b).sum(1)", "(a[:, None] > b).any(1)"], some, none)



def test_elements_are_loaded_once_for_all_rows() -> None:
    """In each of the two loops, which are for groups that are aligned or not."""
    many = [np.broadcast_to(np.float32(1), (schedule.MANY_THREADS // schedule.ALIKE_LANES + 4,)).copy()] * 3
    (kernel,) = pytocu.jit(accelerations).lower(*many).kernels
    for loop in kernel.ir.split("= if %fit : ")[1].split("} () {\n      %"):
        assert [loop.count(f"= load %{name}") for name in ("x", "y", "mass")] == [1, 1, 1]
        assert loop.count("= near_reciprocal ") == loop.count("= near_inverse_root ") == schedule.ROWS_OF_A_THREAD


@pytest.mark.parametrize("function", [
    lambda x, y: (x[:, None] * y[: x.shape[0]]).sum(1),
    lambda x, y: np.exp(x[:, None] - y) / np.exp(x[:, None] - y).sum(1, keepdims=True),
    lambda x, y: np.sin(np.exp(np.tanh(x[:, None] - y))).sum(1),
], ids=["few rows", "results as long as rows", "dear elements"])  # fmt: skip
def test_where_a_row_is_alone(function: Any) -> None:
    low = pytocu.jit(function).lower(np.ones(700, np.float32), np.ones(900, np.float32))
    assert "%row_2" not in low.kernels[0].ir


def steps(x: Any, y: Any, mass: Any, n: int) -> Any:
    for _ in range(n):
        ax, ay = accelerations(x, y, mass)
        x, y = x + np.float32(1e-3) * ax, y + np.float32(1e-3) * ay
    return x, y


def test_launches_of_the_steps_of_a_loop_are_written_so() -> None:
    many = np.ones(schedule.MANY_THREADS // schedule.ALIKE_LANES + 4, np.float32)
    texts = [kernel.ir for kernel in pytocu.jit(steps).lower(many, many, many, 100).kernels]
    assert any("= near_reciprocal " in text for text in texts)
