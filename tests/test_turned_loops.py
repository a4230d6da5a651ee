"""Loops of a program inside CPU kernels: neighbours take each step together where all have the same number of steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.ir import interp
from pytocu.ir.core import Function, walk
from pytocu.passes import turned_loops
from pytocu.testing.compare import compare

RANDOM = np.random.default_rng(3)
VECTOR = RANDOM.normal(size=1000).astype(np.float32)


def squares(x, count, n):
    z = np.zeros_like(x)
    start = x * x + 0.5
    for k in range(n):
        z = z * z * 0.25 + start + k
        count = count + (z > 2)
    return z + start, count * x


def there_and_back(x, y, n):
    s = x[:, np.newaxis] * y
    t = s * 0
    for k in range(n, 0, -2):
        t, s = s, t * 0.5 + y * k
    return t + x[:, np.newaxis], s


def halved(x, n):
    for _ in range(n):
        x = np.where(x > 1, x / 2, 3 * x + 1)
    return x


def orbits(z, n):
    w = z
    for _ in range(n):
        w = w * w + z
    return w.real, w.imag < 2


def in_place(x, n):
    for _ in range(n):
        x[...] = x * 0.5 + 1
    return x


def of_a_table(x, table, n):
    y = x * 0
    for _ in range(n):
        y = y * 0.5 + table[::2] + x
    return y


def with_a_choice_before(x, n):
    y = np.where(x > 0, x, -x)
    for _ in range(n):
        y = y * y * 0.5
    return y, x > 0


@pytocu.vectorize
def series(x, terms):
    total = 0.0
    term = 1.0
    for _ in range(terms):
        total = total + term
        term = term * x * 0.5
    return total


def a_function_of_numbers(x, n):
    return series(x, n)


def added_at_positions(table, n):
    """Positions are computed in front of the loop, and used behind it."""
    total = np.zeros_like(table[0])
    for row in table:
        total = total + row
    sums = np.zeros(9, table.dtype)
    np.add.at(sums, np.arange(total.size) % n, total)
    return sums


CASES = [
    (squares, (RANDOM.normal(size=(7, 53)), np.zeros((7, 53), np.int16), 5)),
    (squares, (VECTOR, np.zeros(1000, np.int64), 0)),
    (squares, (np.zeros((0, 3)), np.zeros((0, 3), np.int8), 2)),
    (there_and_back, (VECTOR[:40], VECTOR[:300], 7)),
    (there_and_back, (VECTOR[:3], VECTOR[:128], 8)),
    (halved, (VECTOR, 9)),
    (halved, (VECTOR[::3], 4)),
    (halved, (VECTOR[:2], 3)),
    (halved, (VECTOR[:127], 1)),
    (halved, (VECTOR[:129], 2)),
    (halved, (VECTOR.astype(np.float16), 5)),
    (orbits, (np.round(VECTOR[:200] + 1j * VECTOR[200:400]) * np.complex64(0.5), 2)),
    (in_place, (VECTOR, 3)),
    (of_a_table, (VECTOR[:500], VECTOR, 4)),
    (with_a_choice_before, (VECTOR, 3)),
    (added_at_positions, (np.arange(600).reshape(3, 200), 7)),
]


def copies(arguments: tuple[Any, ...]) -> list[Any]:
    return [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]


def is_turned(host: Function) -> bool:
    """Whether a kernel has a loop over neighbours inside of one of the program."""
    return any(p.name == "first_lane" for inst in walk(host.body) for region in inst.regions for p in region.params)


@pytest.mark.parametrize(("function", "arguments"), CASES)
def test_every_element_takes_its_steps(function: Callable[..., Any], arguments: tuple[Any, ...]):
    expected = function(*copies(arguments))
    compare(pytocu.jit(function)(*copies(arguments)), expected)
    host = pytocu.jit(function).lower(*arguments).host("cpu")
    assert is_turned(host)
    made = interp.arrange(host.body.terminator.attr("tree"), interp.run(host, copies(arguments)))
    compare(made, expected)


def test_functions_of_numbers_take_their_steps_together():
    x = RANDOM.random(300)
    assert is_turned(pytocu.jit(a_function_of_numbers).lower(x, 9).host("cpu"))
    compare(series(x, 9), np.array([series.__wrapped__(v, 9) for v in x]))


@pytocu.vectorize
def steps_of_its_own(x):
    count = 0
    while x > 1:
        x = x / 2
        count += 1
    return count


def one_in_another(x, n):
    s = x * 0
    for k in range(n):
        for j in range(n):
            s = s + x * j
        s = s - k
    return s


def test_other_loops_stay_as_they_are():
    own = pytocu.jit(lambda x: steps_of_its_own(x))
    assert not is_turned(own.lower(VECTOR).host("cpu"))
    compare(own(VECTOR), np.array([steps_of_its_own.__wrapped__(v) for v in VECTOR], np.int64))
    nested = pytocu.jit(one_in_another)
    assert not is_turned(nested.lower(VECTOR, 3).host("cpu"))
    compare(nested(VECTOR, 3), one_in_another(VECTOR, 3))


def sums_along(table):
    total = np.zeros(len(table), table.dtype)
    for k in range(table.shape[1]):
        total = total - table[:, k]
    return total


def means_along(table):
    total = np.zeros(len(table), table.dtype)
    for k in range(table.shape[1]):
        total = total * 0.5 + table[:, k]
    return total


def sums_across(table):
    total = np.zeros(table.shape[1] // 2, table.dtype)
    for k in range(table.shape[0]):
        total = total - table[k, 1::2]
    return total


@pytest.mark.parametrize(("function", "turned"), [(sums_along, False), (means_along, True), (sums_across, True)])
def test_steps_along_memory_that_wait_for_one_operation_are_taken_one_by_one(function, turned):
    table = RANDOM.random((150, 40))
    assert is_turned(pytocu.jit(function).lower(table).host("cpu")) is turned
    compare(pytocu.jit(function)(table), function(table))


def test_buffers_are_few(monkeypatch):
    monkeypatch.setattr(turned_loops, "MOST_BUFFERS", 1)
    assert not is_turned(pytocu.jit(squares).lower(VECTOR, np.zeros(1000, np.int64), 2).host("cpu"))


def test_a_constant_divisor_of_pythons_numbers_is_not_looked_at() -> None:
    """A requirement would keep the loop from being turned."""

    def halves(x, n):
        for k in range(n):
            x = x + (n / 2 - k) * (k // 3)
        return x

    text = pytocu.jit(halves).lower("f64[m]", "weak int").ir(target="cpu")
    assert "atomic_minimum" not in text and "local" in text
    compare(pytocu.jit(halves)(VECTOR.astype(np.float64), 7), halves(VECTOR.astype(np.float64), 7))
