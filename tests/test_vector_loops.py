"""Vectors that hold the neighbours of elements, and rows that lie side by side: every dtype, every tail, any beginning."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from pointwise_tools import check, check_kernel, given_to, launch_of, numbers, sizes_of, vectors

import pytocu
from pytocu.ir.core import Function, walk
from pytocu.ir.interp_launch import ThreadFault
from pytocu.ir.interp_threads import run_threads
from pytocu.ir.parser import parse_function
from pytocu.ir.printer import print_function
from pytocu.ir.types import ALL_DTYPES, BOOL, C64, F16, F32, F64, U8, DType, dtype_named
from pytocu.passes import schedule
from pytocu.planning import kernel_function, launches


def moving(x):
    return (x[:-4] + x[1:-3] + x[2:-2] + x[3:-1] + x[4:]) / 5


def differences(x, y):
    return x[2:] - x[:-2], y[1:-1] + y[1:-1]


def far(x):
    return x[:-1001] + x[1000:-1] + x[1001:]


def sides(x):
    return np.where(x[:-2] == x[2:], x[1:-1], x[:-2])


LEAST_SHARED_OPERATIONS = schedule.LEAST_SHARED_OPERATIONS


@pytest.fixture(autouse=True)
def whole_rows(monkeypatch: pytest.MonkeyPatch):
    """Threads have whole rows, however little that saves."""
    monkeypatch.setattr(schedule, "LEAST_SHARED_OPERATIONS", 1)


def unit(v):
    x, y, z = v[:, 0], v[:, 1], v[:, 2]
    return v / np.sqrt(x * x + y * y + z * z)[:, np.newaxis]


def scaled(v, weights):
    return v * (weights + weights)[:, np.newaxis]


def gray(image):
    red, green, blue = image[..., 0], image[..., 1], image[..., 2]
    return (red * np.float32(0.299) + green * np.float32(0.587) + blue * np.float32(0.114)).astype(np.uint8)


def pairs(x):
    return x[:, 0] * x[:, 1]


def every_other(x):
    return x[::2] + x[::2]


def every_third(x):
    return x[:-2:3] + x[1:-1:3]


def apart(x):
    """Rows of one element, whose memory ends before the vector of the last does."""
    return x[0:-1:4] + x[1::4] + x[2::4]


def loads(kernel: Function, name: str) -> int:
    return sum(inst.op.name == "load" and inst.args[0].name == name for inst in walk(kernel.body))


def test_a_window_is_loaded_as_vectors():
    kernel, launch = launch_of(moving, "f32[n]")
    assert vectors(kernel) == {"x": 32, "out": 16}
    # The loop over single elements loads five.
    assert loads(kernel, "x") == launch.attr("each") // 4 + 5
    kernel, _ = launch_of(far, "f32[n]")
    assert {i.attr("lanes") for i in walk(kernel.body) if i.op.name == "load" and i.attr("lanes")} == {4, 8}


@pytest.mark.parametrize("answer", [True, False, None])
def test_windows_of_every_length(answer: bool | None):
    kernel, launch = launch_of(moving, "f32[n]")
    for n in (4, 5, 9, 2051, 2052, 2053, 2055, 4099, 4100, 4103):
        check_kernel(kernel, launch, moving, ["f32[n]"], [numbers(F32, n)], aligned=answer, block=16, grid=2)


@pytest.mark.parametrize("dtype", ALL_DTYPES, ids=str)
def test_windows_of_every_dtype(dtype: DType):
    function, types = (sides, [f"{dtype}[n]"]) if dtype is BOOL else (differences, [f"{dtype}[n]", "f32[n]"])
    kernel, launch = launch_of(function, *types)
    # Vectors of two that overlap are as many accesses as elements.
    assert vectors(kernel).get("x", 0) == (0 if dtype.itemsize == 16 else vectors(kernel)["x"])
    for n in (*range(2, 44), 9000):
        arrays = [numbers(dtype_named(t.partition("[")[0]), n) for t in types]
        check_kernel(kernel, launch, function, types, arrays, aligned=True, block=16)


@pytest.mark.parametrize("place", [0, 4, 8, 12])
def test_windows_that_begin_anywhere(place: int):
    for n in (2060, 4101):
        check(moving, ["f32[n]"], [numbers(F32, n)], place=place, block=32)
        check(far, ["f32[n]"], [numbers(F32, n)], place=place, block=32)


def test_no_vector_reaches_behind_the_memory():
    """The rule that keeps vectors inside, taken away."""
    kernel, launch = launch_of(differences, "f32[n]", "f32[n]")
    text = print_function(kernel)
    arrays = {n: np.zeros(10, np.float32) for n in ("x", "y")} | {n: np.zeros(8, np.float32) for n in ("out0", "out1")}
    given = given_to(kernel, launch, arrays, {"n": 10})
    run_threads(kernel, given, aligned=True)
    bound = text.partition("remainder_truncated ")[2].partition(",")[0]
    broken = text.replace(f"remainder_truncated {bound},", "remainder_truncated %length0,")
    broken = broken.replace(f"subtract {bound},", "subtract %length0,")
    with pytest.raises(ThreadFault, match="out-of-bounds: read at index 10 of 10"):
        run_threads(parse_function(broken), given, aligned=True)


@pytest.mark.parametrize(
    ("function", "types", "bytes"),
    [
        (unit, ["f32[n, 3]"], {"v": 48, "out": 48}),
        (unit, ["f64[n, 3]"], {"v": 48, "out": 48}),
        (unit, ["f16[n, 3]"], {"v": 48, "out": 48}),
        (scaled, ["f32[n, 3]", "f32[n]"], {"v": 48, "weights": 16, "out": 48}),
        (scaled, ["f32[n, 4]", "f32[n]"], {"v": 16, "out": 16}),
        (scaled, ["f32[n, 2]", "u8[n]"], {"v": 16, "weights": 2, "out": 16}),
        (scaled, ["c64[n, 3]", "f32[n]"], {"v": 48, "weights": 8, "out": 48}),
        (scaled, ["u8[n, 3]", "u8[n]"], {"v": 48, "weights": 16, "out": 48}),
        (gray, ["u8[n, m, 3]"], {"image": 48, "out": 16}),
        (gray, ["f32[n, m, 3]"], {"image": 48, "out": 4}),
        (pairs, ["f32[n, 2]"], {"x": 32, "out": 16}),
        (pairs, ["c64[n, 2]"], {"x": 32, "out": 16}),
        (every_other, ["f32[n]"], {"x": 32, "out": 16}),
        (every_third, ["f32[n]"], {"x": 48, "out": 16}),
    ],
)
def test_rows(function: Any, types: list[str], bytes: dict[str, int]):
    """Whole rows, with the answer of `aligned` and where it is no."""
    kernel, launch = launch_of(function, *types)
    assert vectors(kernel) == bytes
    for n in (*range(3, 21), 1040, 2100):
        shapes = [[{"n": n, "m": 2}.get(d, d) for d in t.partition("[")[2][:-1].split(", ")] for t in types]
        arrays = [numbers(dtype_named(t.partition("[")[0]), *map(int, s)) for t, s in zip(types, shapes, strict=True)]
        arrays = [np.where(a == 0, 1, a).astype(a.dtype) if a.dtype.kind == "f" else a for a in arrays]
        for answer in (True, False):
            check_kernel(kernel, launch, function, types, arrays, aligned=answer, block=16, grid=2)


def test_rows_that_begin_anywhere():
    for place in (0, 1, 4, 8, 15):
        check(gray, ["u8[n, m, 3]"], [numbers(U8, 5, 7, 3)], place=place)
    for place in (0, 4, 12):
        check(scaled, ["f32[n, 3]", "f32[n]"], [numbers(F32, 9, 3), numbers(F32, 9)], place=place)
    check(scaled, ["c64[n, 3]", "f32[n]"], [numbers(C64, 9, 3), numbers(F32, 9)], place=8)
    check(unit, ["f16[n, 3]"], [numbers(F16, 33, 3) + np.float16(1)], place=2)


def test_the_norm_of_a_row_is_computed_once():
    kernel, _ = launch_of(unit, "f32[n, 3]")
    text = print_function(kernel)
    first, second = text.split("lanes %")[1].split("for %")[0], text.rpartition("for %")[2]
    assert (first.count("sqrt"), first.count("divide "), second.count("sqrt")) == (1, 3, 1)
    assert "reach" not in text


def test_whole_rows_save_much(monkeypatch: pytest.MonkeyPatch):
    """The vectors of a thread that has whole rows lie apart, which takes longer than a root for each element."""
    monkeypatch.setattr(schedule, "LEAST_SHARED_OPERATIONS", LEAST_SHARED_OPERATIONS)

    def turned(v):
        angle = np.arctan2(v[:, 1], np.hypot(v[:, 0], v[:, 2]))
        return v * (np.sin(angle) * np.exp(angle))[:, np.newaxis]

    assert vectors(launch_of(unit, "f32[n, 3]")[0]) != {"v": 48, "out": 48}
    assert vectors(launch_of(turned, "f32[n, 3]")[0]) == {"v": 48, "out": 48}


def test_long_rows_are_walked_element_by_element():
    """A thread's rows would lie far from the next thread's."""
    kernel, _ = launch_of(scaled, "f32[n, 13]", "f32[n]")
    assert vectors(kernel) == {"v": 16, "out": 16}
    check(scaled, ["f32[n, 13]", "f32[n]"], [numbers(F32, 170, 13), numbers(F32, 170)], aligned=True)


def test_changed_in_place():
    """What a thread reads of memory that the kernel changes is its own."""

    def grow(v, w):
        v *= (w + w)[:, np.newaxis]

    kernel, launch = launch_of(grow, "f32[n, 3]", "f32[n]")
    assert vectors(kernel) == {"v": 48, "w": 16}
    for n in (0, 1, 4, 5, 11):
        v, w = numbers(F32, n, 3), numbers(F32, n) + 1
        expected = v.copy()
        grow(expected, w)
        given = given_to(kernel, launch, {"v": v, "w": w}, sizes_of(["f32[n, 3]", "f32[n]"], [v, w]))
        run_threads(kernel, given, aligned=True, block=2)
        assert np.array_equal(v, expected)


def test_blocks_of_vectors(monkeypatch: pytest.MonkeyPatch):
    """Where one vector a thread is enough, and where four are wanted."""
    monkeypatch.setattr(schedule, "MOST_GROUPS", 4)
    for wanted, count in ((16, 1), (32, 2), (64, 4)):
        monkeypatch.setattr(schedule, "STORED_BYTES", wanted)
        kernel, launch = launch_of(moving, "f32[n]")
        assert loads(kernel, "x") == count + 5
        assert launch.attr("each") == 4 * count
        for n in (40, 4099, 4110, 9001):
            check_kernel(kernel, launch, moving, ["f32[n]"], [numbers(F32, n)], aligned=True, block=32)


def test_text_reads_back():
    for function, type in ((moving, "f32[n]"), (every_third, "f64[n]")):
        kernel, _ = launch_of(function, type)
        assert print_function(parse_function(print_function(kernel))) == print_function(kernel)
    kernel, launch = launch_of(apart, "f64[n]")
    check_kernel(kernel, launch, apart, ["f64[n]"], [numbers(F64, 4 * 600 - 1)], aligned=True)


@pytest.mark.parametrize("channels", [0, 2, 3, 4, 5])
def test_short_rows_of_a_call(channels: int):
    """Code is written for the few lengths that coordinates and channels have, and the call is asked for them."""
    v, weights = numbers(F32, 37, channels), numbers(F32, 37)
    host = pytocu.jit(scaled).lower(v, weights).host("cuda:sm_90")
    (launch,) = launches(host)
    kernel = kernel_function(host, launch)
    facts = {(str(i.attr("dim")), i.attr("relation"), i.attr("number")) for i in host.body.insts if i.op.name == "assume"}
    assert ("v_1", ">", 4) in facts if channels == 5 else ("v_1", "==", channels) in facts
    assert vectors(kernel)["out"] == {2: 16, 3: 48, 4: 16}.get(channels, 16)
    assert ("weights" in vectors(kernel)) == (channels in (2, 3))
    named = {"v": v, "weights": weights, "out": np.zeros_like(v)}
    given = given_to(kernel, launch, named, {"v_0": 37, "v_1": channels, "weights_0": 37})
    run_threads(kernel, given, grid=(2, 2) if launch.attr("grid") else 2, block=(8, 4) if launch.attr("grid") else 32)
    assert np.array_equal(named["out"], scaled(v, weights))
