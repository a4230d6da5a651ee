"""Slices whose step is a Python int of run time: views, changes in place, numbers of steps of loops, of either sign."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mask_tools import builds, everywhere

import pytocu
from pytocu.errors import CompileError
from pytocu.testing.compare import compare

RANDOM = np.random.default_rng(23)
# Sums of these are exact in any order.
VECTOR, MATRIX = RANDOM.integers(-9, 9, 37).astype(float), RANDOM.integers(-9, 9, (8, 9)).astype(float)
EMPTY = np.zeros(0)


def strided_sum(x, s):
    return x[::s].sum()


def between(x, a, b, s):
    return x[a:b:s] * 2, len(x[a:b:s])


def backwards(x, s):
    return x[::-s] * 1, x[::-s].max()


def both_axes(x, s, t):
    return x[::s, ::t] + 1, x[::s].sum(0), x[:, ::t].T.sum(1), x[::s, 0], x[::-s, ::t].cumsum(1)


def set_every(x, s):
    x[::s] = 1
    return x


def add_every(x, a, s):
    v = x[a::s]
    v += 1
    for i in range(3):
        v *= i + 1
    return x


def reversed_in_place(x, s):
    x[::s] = x[::s][::-1]
    x[1::s] = x[1::s] * x[1::s][::-1]
    return x


def strides_of_strides(x, s, t):
    return x[::s][::t] * 1, x.reshape(-1, 1)[::s] * x[::t], np.concatenate([x[::s], x[::t]])


def sieve(n):
    s = np.ones(n + 1, bool)
    s[:2] = False
    for i in range(2, int(n**0.5) + 1):
        if s[i]:
            s[i * i :: i] = False
    return np.nonzero(s)[0]


def divisors(n):
    count = np.zeros(n + 1, np.int64)
    for i in range(1, n + 1):
        count[i::i] += 1
    return count


def phases(x, s):
    out = np.zeros_like(x)
    for i in range(s):
        out[i::s] = x[i::s].sum()
    return out


def sums_of_every(x, n):
    t = np.zeros(n)
    for i in range(n, 0, -1):
        t[i - 1] = x[::i].sum() + x[::-i].max()
    return t


def halves(x, y, n):
    for i in range(1, n):
        x[::i] += y[::i]
        y[i - 1 :: i] *= 0.5
    return x, y


def butterflies(x):
    h = 1
    while h < len(x):
        for k in range(h):
            a = x[k :: 2 * h] + 0
            b = x[k + h :: 2 * h] + 0
            x[k :: 2 * h] = a + b
            x[k + h :: 2 * h] = a - b
        h *= 2
    return x


def running_sums(x):
    h = 1
    while h < len(x):
        x[2 * h - 1 :: 2 * h] += x[h - 1 :: 2 * h]
        h *= 2
    x[-1] = 0
    while h > 1:
        h //= 2
        t = x[h - 1 :: 2 * h] + 0
        x[h - 1 :: 2 * h] = x[2 * h - 1 :: 2 * h]
        x[2 * h - 1 :: 2 * h] += t
    return x


def relaxed(x, s, n):
    for _ in range(n):
        x[s:-s:s] = 0.5 * (x[2 * s :: s] + x[: -2 * s : s])
    return x


def polyphase(x, s):
    out = np.zeros(len(x) // s)
    for k in range(s):
        out += x[k : len(x) // s * s : s] * (k + 1)
    return out


def boxes(x, s):
    n = len(x)
    return x[: n // s * s].reshape(-1, s).sum(1), np.cumsum(x)[s - 1 :: s]


def only_where_it_is_not_0(x, s):
    if s == 0:
        return x.sum()
    y = x[::s].sum() if s > 1 else x[::-1].sum()
    if s > 2:
        y = y + x[1::s].sum()
    return y


def computed(x, k, n):
    total = x[:: k[0]].sum()
    for j in range(1, n):
        step = j * j % 3 + 1
        x[step:20:step] += 1
        total = total + x[::step][0]
    return total, x


def by_a_length(x, y):
    return x[:: len(y)] * 2, x[:: -len(y) - 1].sum()


def members(x, s, i):
    y = x[::s]
    x[::s][y > 2] = 0
    return x[::s][i], np.where(x[::s] > 0)[0], np.sort(x[::s]), np.dot(x[::s], x[::s]), x[::s][1], x[::s][-1:]


def steps_down_to_0(x, n):
    t = np.zeros(n)
    for i in range(n - 1, -1, -1):
        t[i] = x[::i].sum()
    return t


PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = [
    *((strided_sum, (VECTOR, s)) for s in (1, 3, -4, 100, 0)),
    *((between, (VECTOR, a, b, s)) for a, b, s in ((2, -3, 5), (20, 1, -4), (1, 20, -4), (-50, 50, 7), (40, -50, -1))),
    (between, (VECTOR, 3, 9, 0)),
    *((backwards, (VECTOR, s)) for s in (3, -3)),
    *((both_axes, (MATRIX, s, t)) for s, t in ((2, -3), (-5, 1))),
    *((set_every, (VECTOR, s)) for s in (4, -4, 0)),
    (add_every, (VECTOR, 2, 3)),
    *((reversed_in_place, (VECTOR, s)) for s in (3, -2)),
    *((strides_of_strides, (VECTOR, s, t)) for s, t in ((2, -3), (-7, -2))),
    *((sieve, (n,)) for n in (3, 100, 1000)),
    *((divisors, (n,)) for n in (1, 30)),
    *((phases, (VECTOR, s)) for s in (0, 1, 5, 12)),
    (sums_of_every, (VECTOR, 12)),
    (halves, (VECTOR, VECTOR[::-1].copy(), 9)),
    (butterflies, (VECTOR[:32].copy(),)),
    (running_sums, (VECTOR[:32].astype(int),)),
    (relaxed, (VECTOR, 3, 12)),
    *((polyphase, (VECTOR, s)) for s in (1, 5)),
    *((boxes, (VECTOR, s)) for s in (3, 5)),
    *((only_where_it_is_not_0, (VECTOR, s)) for s in (0, 1, 3, -2)),
    (computed, (VECTOR, np.array([-3]), 9)),
    (by_a_length, (VECTOR, MATRIX)),
    *((members, (VECTOR, s, np.array([1, 3]))) for s in (2, -4)),
    (steps_down_to_0, (VECTOR, 3)),
]


@pytest.mark.parametrize(("function", "arguments"), PROGRAMS, ids=lambda p: getattr(p, "__name__", ""))
def test_programs(function: Callable[..., Any], arguments: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTOCU_CHECK", "1")
    everywhere(function, *arguments)


def test_cubins() -> None:
    for function, arguments in ((both_axes, (MATRIX, 2, -3)), (sieve, (30,)), (running_sums, (VECTOR,)), (phases, (VECTOR, 3))):
        builds(function, *arguments)


def test_views_are_views_of_the_argument() -> None:
    view = pytocu.jit(lambda x, a, b, s: x[a:b:s])
    for a, b, s in ((0, 37, 3), (30, 2, -4), (-1, -30, -1), (5, 6, 9)):
        found, wanted = view(VECTOR, a, b, s), VECTOR[a:b:s]
        compare(found, wanted)
        assert np.shares_memory(found, VECTOR) and found.base is not None
        assert found.ctypes.data == wanted.ctypes.data and (found.size == 1 or found.strides == wanted.strides)
    rows = pytocu.jit(lambda x, s, t: x[::s].T[::t])(MATRIX, 3, -2)
    compare(rows, MATRIX[::3].T[::-2])
    assert np.shares_memory(rows, MATRIX) and rows.strides == MATRIX[::3].T[::-2].strides


FREE: list[Callable[..., Any]] = [
    lambda x, a, b, s, t: x[::s],
    lambda x, a, b, s, t: x[a:b:s] * 2,
    lambda x, a, b, s, t: x[a::s] + 0,
    lambda x, a, b, s, t: x[:b:s].sum(),
    lambda x, a, b, s, t: (x[a:b:-s].max(initial=-99), x[a:7:s] * 1, x[-5::s].sum(), len(x[a:b:s])),
    lambda x, a, b, s, t: (x[::s][::t] * 1, x.reshape(-1, 1)[::s] * x[::t]),
    lambda x, a, b, s, t: np.concatenate([x[a::s], x[:b:t]]),
    lambda x, a, b, s, t: x[:: s * 2 + 1][a::t] * 1,
]


@pytest.mark.parametrize("number", range(len(FREE)))
def test_any_bounds_and_steps(number: int) -> None:
    """One compiled function for all; of steps longer than the axis one element is left."""
    function = FREE[number]
    jitted, random = pytocu.jit(function), np.random.default_rng(number)
    far = (2**31, 2**40, -(2**41), 2**62, -(2**62), 2**63 - 1)
    for case in range(250):
        x = random.integers(-99, 99, random.integers(0, 14)).astype(float)
        x = np.repeat(x, 2)[::2] if case % 3 == 0 else x
        numbers = [int(n) for n in random.integers(-12, 13, 4)] if case % 5 else [far[k] for k in random.integers(0, 6, 4)]
        try:
            wanted = function(x, *numbers)
        except ValueError as error:
            with pytest.raises(ValueError, match=str(error)):
                jitted(x, *numbers)
            continue
        compare(jitted(x, *numbers), wanted)


def test_a_step_of_0_says_so_at_the_line_before_anything_is_written() -> None:
    x = VECTOR.copy()
    with pytest.raises(CompileError, match="slice step cannot be zero") as caught:
        pytocu.jit(set_every)(x, 0)
    assert isinstance(caught.value, ValueError) and "x[::s] = 1" in str(caught.value)
    compare(x, VECTOR)


def test_steps_that_are_no_ints() -> None:
    step = pytocu.jit(lambda x, s: x[::s] * 2)
    compare(step(VECTOR, np.int8(-3)), VECTOR[::-3] * 2)
    compare(step(VECTOR, np.array(4)), VECTOR[::4] * 2)
    with pytest.raises(TypeError, match="slice indices must be integers or None or have an __index__ method"):
        step(VECTOR, 2.0)
    with pytest.raises(TypeError, match="only integer scalar arrays can be converted to a scalar index"):
        step(VECTOR, np.array([2]))


def test_lengths_that_do_not_fit_are_said_as_numbers() -> None:
    with pytest.raises(ValueError, match=r"could not be broadcast together with shapes \(19,\) \(13,\)"):
        pytocu.jit(lambda x, s: x[::s] + x[:: s + 1])(VECTOR, 2)


def test_a_slice_of_either_sign_is_a_position_and_a_count_in_the_kernel() -> None:
    """The formula with both signs is the host's, once; equal slices have equal lengths, which nothing compares."""
    text = pytocu.jit(lambda x, s: x[::s] * x[::s][::-1]).lower("f64[n]", "weak int").ir("dce")
    assert text.count("//") == 1 and "fits" not in text and "broadcast" not in text
    loop = pytocu.jit(divisors).lower("weak int").compile("cpu").plan.steps
    names = [step[0] for step in loop]
    inside = loop[names.index("for") : names.index("next")]
    # The number of a step is known to be above 0: a formula that native loops compute, nothing that Python is asked for.
    assert [s[0] for s in inside if s[0] not in ("dim", "launch")] == ["for", "bind"]


def from_each_on(x, n, s):
    t = np.zeros(n)
    for i in range(n):
        t[i] = x[i::s].sum() + x[: i + 3 : -s].sum()
    return t


@pytest.mark.parametrize("s", [3, -2])
def test_native_loops_compute_slices_of_either_sign(s: int) -> None:
    everywhere(from_each_on, VECTOR, 12, s)
    steps = pytocu.jit(from_each_on).lower(VECTOR, 12, s).compile("cpu").plan.steps
    names = [step[0] for step in steps]
    # But for the number of the step, nothing in it is Python's.
    assert names[names.index("for") : names.index("next")].count("bind") == 1


def test_steps_that_are_read_without_a_sign() -> None:
    view = pytocu.jit(lambda x, k: x[:: k[0]])
    for number in (1, 5, 36, 37, 2**62):
        found, wanted = view(VECTOR, np.array([number], np.uint64)), VECTOR[::number]
        compare(found, wanted)
        assert np.shares_memory(found, VECTOR)
