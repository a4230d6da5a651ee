"""Arrays that the steps of a ``while`` make longer until data end it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from mask_tools import everywhere

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.frontend import rounds

X = np.array([0.75, 0.5, 0.25])


def halves(x, t):
    found = np.array([x[0]])
    while found[-1] > t:
        found = np.append(found, found[-1] / 2)
    return found


def doubled(x, t):
    while x.min() > t:
        x = np.concatenate([x, x / 2])
    return x


def path(x, t):
    rows = x[np.newaxis]
    while abs(x).max() > t:
        x = x * 0.5
        rows = np.vstack((rows, x))
    return rows, x


def columns(x, t):
    m = x[:, np.newaxis]
    while abs(m[:, -1]).max() > t:
        m = np.hstack((m, m[:, -1:] / 2))
    return m


def left_at_the_end(x, t):
    sums, of_two = np.zeros(1), np.zeros((1, 2), dtype=np.float32)
    while True:
        x = x * 0.75
        sums = np.append(sums, x.sum())
        of_two = np.concatenate([of_two, np.full((2, 2), x[0], dtype=np.float32)])
        if x.max() < t:
            break
    return sums, of_two


def returned(x, t):
    found = np.zeros(0)
    while True:
        x = x * 0.75
        if x.max() < t:
            return found
        found = np.append(found, x)


def beside_a_list(x, t):
    found, large = np.zeros(0), []
    while x.max() > t:
        x = x * 0.75
        if x[0] > 0.25:
            large.append(x[0])
        found = np.append(found, x.sum())
    return found, np.array(large)


def chosen(x, t):
    found, k = x[x < 0], 1.0
    while k > t:
        found = np.concatenate([found, x[x > k]])
        k = k / 2
    return found


def in_steps(x, t):
    lengths = np.zeros(len(x))
    for k in range(len(x)):
        y = x[:1]
        while y.sum() < x[k] / t and len(x) > 1:
            y = np.append(y, x[len(y) % len(x)])
        lengths[k] = len(y)
    return lengths


def on_some_steps(x, t):
    found, k = x[:1], 0
    while x[0] > t:
        if k % 2:
            found = np.append(found, x[0])
        x = x / 2
        k += 1
    else:
        found = np.append(found, -1.0)
    return found, k


def along_both_axes(x, t):
    square, rows = x[:, np.newaxis] * x, np.zeros((1, 2))
    while abs(x).max() > t:
        x = x * 0.5
        square = np.pad(square, 1, constant_values=x[0])
        rows = np.vstack((rows, np.full((1, 2), x[-1])))
    return square, rows


PROGRAMS = [
    halves, doubled, path, columns, left_at_the_end, returned, beside_a_list, chosen, in_steps, on_some_steps, along_both_axes,
]  # fmt: skip


@pytest.mark.parametrize(("x", "t", "room"), [(X, 0.05, (2, 8, 128)), (X, 2.0, (2, 8, 128)), (X[:1], 0.1, (64, 128))], ids=str)
@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_until_data_say(
    function: Callable[..., Any], x: np.ndarray, t: float, room: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    # The cache knows nothing of it.
    monkeypatch.setenv("PYTOCU_CACHE", "0")
    monkeypatch.setattr(rounds, "_ROUNDS", room)
    everywhere(function, x, t)


@pytest.mark.parametrize("t", [0.1, 0.3])
def test_arrays_without_elements(t: float, monkeypatch: pytest.MonkeyPatch) -> None:
    # The cache knows nothing of it.
    monkeypatch.setenv("PYTOCU_CACHE", "0")
    monkeypatch.setattr(rounds, "_ROUNDS", (2, 16))
    everywhere(path, np.zeros(0), t)
    everywhere(chosen, np.zeros(0), t)


def test_there_is_no_room_for_all() -> None:
    with pytest.raises(UnsupportedError, match="found holds more than 16,777,216 members") as caught:
        pytocu.jit(of_ones)(X, 0.0)
    assert "y[k] = v" in (caught.value.help or "")


def test_there_is_room_along_both_axes() -> None:
    """As many elements as where one axis gets longer, and not that many along each."""
    square = pytocu.jit(along_both_axes)(X, 1e-9)[0]
    assert np.array_equal(square, along_both_axes(X, 1e-9)[0])


def exchanged(x, n):
    a, b = np.zeros((n, n)), np.arange(n) - np.arange(n)[:, np.newaxis] * 0.5
    while x.max() > 1:
        x = x * 0.5 + a[-1, 0]
        a, b = b, a
    return x, a, b


@pytest.mark.parametrize("n", [1, 3])
def test_arrays_of_one_length_that_is_found_in_two_ways_do_not_get_longer(n: int) -> None:
    """``np.zeros`` refuses a negative length, of which ``np.arange`` makes 0."""
    assert "room" not in pytocu.jit(exchanged).lower(X * 9, n).ir("lower")
    everywhere(exchanged, X * 9, n)


def of_ones(x, t):
    found = np.ones(1)
    while found[-1] > t:
        found = np.concatenate([found, found])
    return found


def test_longer_in_each_call_is_no_new_compile() -> None:
    function = pytocu.jit(halves)
    for t in (0.5, 0.01, 1e-300):
        assert np.array_equal(function(X, t), halves(X, t))
    assert len(function.specializations) == 1
