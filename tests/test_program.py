"""Plans written as Python functions, and the table that finds them."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import pytocu
from pytocu.errors import RangeError
from pytocu.runtime import dispatch
from pytocu.runtime.dispatch import Ready, library_of, write_dispatch


def short(function, *types):
    exe = pytocu.jit(function).lower(*types).compile("cpu")
    return exe, exe.short_program("numpy", "cpu")


def unreachable(arguments):
    raise AssertionError(f"the general way was taken for {arguments}")


def test_the_short_way_gives_what_the_general_way_gives():
    exe, program = short(lambda x, y, s: (x + y * s, x[1:-1].T, x, s * 2, y[0, 0] * 2), "f64[n, m]", "f64[k, m]", "weak int")
    rng = np.random.default_rng(0)
    for shape in ((4, 3), (7, 5), (0, 3)):
        x, y = rng.random(shape), rng.random(shape)
        if not shape[0]:
            with pytest.raises(IndexError, match="index 0 is out of bounds for axis 0 with size 0"):
                program.run(x, y, 3)
            continue
        for mine, theirs in zip(program.run(x, y, 3), exe(x, y, 3), strict=True):
            assert type(mine) is type(theirs)
            assert np.array_equal(mine, theirs)
        assert program.run(x, y, 3)[2] is x


def test_checks_come_before_anything_is_allocated():
    _, program = short(lambda x, y: x + y, "f32[n]", "f32[m]")
    program.run.__globals__["empty"] = unreachable
    with pytest.raises(ValueError, match=r"operands could not be broadcast together with shapes \(3,\) \(4,\) "):
        program.run(np.ones(3, np.float32), np.ones(4, np.float32))


def test_a_python_int_that_does_not_fit():
    _, program = short(lambda x, n: x + n, "u8[n]", "weak int")
    assert program.run(np.zeros(2, np.uint8), 255).tolist() == [255, 255]
    with pytest.raises(RangeError, match="Python integer 300 out of bounds for uint8"):
        program.run(np.zeros(2, np.uint8), 300)


def test_a_float_that_overflows_float32_is_infinite():
    _, program = short(lambda x, s: x + s, "f32[n]", "weak float")
    for value in (1e300, -1e300, np.inf, 3.4e38, 3.5e38, -3.4028236e38, np.nan):
        with np.errstate(all="ignore"):
            expected = np.zeros(1, np.float32) + value
        assert np.array_equal(program.run(np.zeros(1, np.float32), value), expected, equal_nan=True)


def test_misaligned_memory_goes_the_general_way():
    _, program = short(lambda x: x + 1, "f32[n]")
    shifted = np.frombuffer(bytearray(17), np.uint8)[1:].view(np.float32)
    assert program.run(shifted) is NotImplemented
    with pytest.raises(pytocu.PytocuError):
        pytocu.jit(lambda x: x + 1)(shifted)


@pytest.mark.parametrize(
    ("classes", "library"),
    [
        ((np.ndarray,), "numpy"),
        ((np.ndarray, float, np.float32, bool, int), "numpy"),
        ((float,), None),
        ((np.ndarray, str), None),
        ((np.ndarray, list), None),
        ((np.ma.MaskedArray,), None),
        ((), None),
    ],
)
def test_classes_with_a_short_way(classes, library):
    assert library_of(classes) == library


def test_the_table_is_found_by_the_exact_signature():
    _, program = short(lambda x, n: x * n, "f32[n]", "weak int")
    slow: list[tuple[object, ...]] = []
    made = write_dispatch((np.ndarray, int), lambda arguments: slow.append(arguments))
    assert made is not None
    x = np.arange(4, dtype=np.float32)
    made.remember((x, 2), Ready(program.run, ()))
    assert made.call(x, 3).tolist() == [0, 3, 6, 9]
    assert not slow
    for other in (x.astype(np.float64), np.arange(5, dtype=np.float32), np.arange(8, dtype=np.float32)[::2]):
        made.call(other, 3)
    assert len(slow) == 3
    made.call(x, 2**63)
    assert slow[3] == (x, 2**63) or len(slow) == 4
    made.table.clear()
    made.remember((x, 2), Ready(program.run, (lambda arguments: False,)))
    made.call(x, 3)
    assert len(slow) == 5


def test_the_table_is_bounded(monkeypatch):
    monkeypatch.setattr(dispatch, "TABLE_SIZE", 10)
    made = write_dispatch((np.ndarray,), unreachable)
    assert made is not None
    for n in range(1000):
        made.remember((np.empty(n),), Ready(unreachable, ()))
        assert len(made.table) <= 10


def test_threads_use_slots_of_their_own():
    _, program = short(lambda x, s: x + s, "f64[n]", "weak float")
    failures: list[float] = []

    def work(value: float) -> None:
        x = np.zeros(100)
        for _ in range(500):
            if program.run(x, value)[50] != value:
                failures.append(value)

    threads = [threading.Thread(target=work, args=(float(n),)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
