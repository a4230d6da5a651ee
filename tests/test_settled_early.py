"""`any` and `all` of many elements on a CPU: the answers, wherever it is known, and what is still said of other elements."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from reduction_tools import compiled

import pytocu
from pytocu.ir import interp

LENGTHS = (65, 1000, 1023, 1024, 1025, 2048, 5000, 40_000, 70_001)
"""Around stretches, and of several pieces."""


TEXTS = ["a.any()", "(~a).all()", "np.logical_or.reduce(a)", "np.logical_and.reduce(~a)"]


@pytest.mark.parametrize("length", LENGTHS)
def test_one_element_wherever_it_is(length: int) -> None:
    function = pytocu.jit(lambda a: (a.any(), a.all(), (~a).all(), a.any() | ~a.all()))
    for place in (None, 0, 1, 63, 64, length // 2, length - 65, length - 2, length - 1):
        a = np.zeros(length, bool)
        if place is not None:
            a[place] = True
        assert [bool(v) for v in function(a)] == [a.any(), a.all(), (~a).all(), True]
        b = ~a
        assert [bool(v) for v in function(b)] == [b.any(), b.all(), (~b).all(), True]
    compiled(TEXTS, a)


def test_rows() -> None:
    rng = np.random.default_rng(3)
    for shape in [(3, 70), (5, 1024), (4, 3000), (2, 70_000), (40, 1500)]:
        a = rng.random(shape) < 1 / shape[1]
        compiled(["a.any(1)", "(~a).all(1)", "a.any(1, keepdims=True) ^ a", "a.any((0, 1))", "a[:, 1:].any()"], a)
    a = rng.random((8, 6, 300)) < 0.001
    compiled(["a.any((0, 2))", "(~a).all((0, 2))"], a)


@pytest.mark.parametrize("byte", [1, 2, 128, 255])
def test_bytes_that_are_not_one(byte: int) -> None:
    """Where memory was not written as bools, whatever is not zero is true."""
    for place in (3, 1500, 69_999):
        a = np.zeros(70_000, np.uint8)
        a[place] = byte
        view = a.view(bool)
        found = pytocu.jit(lambda v: (v.any(), v.all(), v.any(), (~v).all()))(view)
        assert [bool(v) for v in found][:2] == [True, False]
    full = np.full(70_000, byte, np.uint8).view(bool)
    assert bool(pytocu.jit(lambda v: v.all())(full))


def test_with_sums_beside_and_conditions() -> None:
    a = np.random.default_rng(4).standard_normal(70_000)
    a[66_000] = np.nan
    compiled(["np.isnan(a).any()", "(a > 3).any()", "(a > 3).sum()", "(a > -9).all(where=a == a)", "np.isfinite(a).all()"], a)
    compiled(["(a > 1e9).any()", "(a < 1e9).all()", "(a != a).any()", "a.max()", "np.allclose(a, a, equal_nan=True)"], a)


def test_positions_behind_what_settles_it_are_still_tested() -> None:
    def chosen(a: Any, index: Any) -> Any:
        return (a[index] > 0).any()

    a, index = np.ones(50), np.zeros(70_000, np.int64)
    assert bool(pytocu.jit(chosen)(a, index))
    for place in (1100, 69_999):
        wrong = index.copy()
        wrong[place] = 50
        with pytest.raises(IndexError, match="index 50 is out of bounds for axis 0 with size 50"):
            pytocu.jit(chosen)(a, wrong)


def test_stretches_are_passed_over() -> None:
    for function, passes in ((any_of, True), (all_above, True), (any_and_sum, False)):
        text = pytocu.jit(function).lower("f32[n]").ir(target="cpu")
        assert ("%settled: bool" in text) is passes, function.__name__


def any_of(a):
    return a.any()


def all_above(a):
    return (a > 2).all()


def any_and_sum(a):
    return a.any(), a.sum()


def test_the_interpreter_agrees() -> None:
    for place in (0, 1500, 2999):
        a = np.zeros(3000, bool)
        a[place] = True
        low = pytocu.jit(any_of).lower(a)
        (found,) = interp.run(low.host("cpu"), (a,))
        assert bool(found)
