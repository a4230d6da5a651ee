"""Words around arrays show what writes outside of them."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest

import pytocu
from pytocu.testing.fuzz_check import check
from pytocu.testing.fuzz_programs import Program, Statement
from pytocu.testing.guarded import guarded, guarded_on_device


@pytest.mark.parametrize(("place", "where"), [(-1, "in front of"), (3, "behind")])
def test_an_element_outside_is_seen(place, where):
    with pytest.raises(AssertionError, match=f"8 bytes were written {where} an array of 24"), guarded():
        found = pytocu.jit(lambda x: x + 1)(np.zeros(3))
        np.lib.stride_tricks.as_strided(found, (abs(place) + 1,), (8 * np.sign(place),))[-1] = 1


@pytest.mark.parametrize("damages", [True, False])
def test_words_are_looked_at_behind_an_exception(damages):
    with pytest.raises((AssertionError, ZeroDivisionError)) as told, guarded():
        found = pytocu.jit(lambda x: x + 1)(np.zeros(3))
        np.lib.stride_tricks.as_strided(found, (4,), (8,))[3 if damages else 2] = 1
        raise ZeroDivisionError("division by zero")
    seen = "8 bytes were written behind an array of 24\nZeroDivisionError was raised as well: "
    assert str(told.value) == (seen if damages else "") + "division by zero"
    assert isinstance(told.value.__cause__ if damages else told.value, ZeroDivisionError)


def test_a_random_program_that_raises_and_writes_outside_differs():
    def raises(function, *arguments):
        with guarded() as guards:
            np.lib.stride_tricks.as_strided(guards.new((3,), np.dtype("f8")), (4,), (8,))[3] = 1
            return function(*arguments)

    verdict = check(Program((Statement("v0", "1 // 0"),), ("v0",), error=True), {}, raises)
    assert verdict.kind == "differs" and "8 bytes were written" in verdict.message


def test_a_call_that_writes_inside_is_not_told():
    with guarded() as guards:
        x = guards.copy(np.arange(6.0).reshape(2, 3))
        assert pytocu.jit(lambda x: (x.T + 1, x.sum(axis=0)))(x)[0].tolist() == [[1, 4], [2, 5], [3, 6]]


@pytest.mark.gpu
def test_an_element_outside_is_seen_on_a_gpu():
    cupy = pytest.importorskip("cupy")
    with guarded_on_device():
        x = cupy.arange(3.0)
        assert pytocu.jit(lambda x: x * 2)(x).tolist() == [0, 2, 4]
    with pytest.raises(AssertionError, match="8 bytes were written behind an array of 24"), guarded_on_device():
        found = pytocu.jit(lambda x: x + 1)(x)
        cupy.ndarray(4, np.float64, found.data)[3] = 1


def test_looking_at_words_on_a_device_makes_no_arrays_between_words(monkeypatch):
    """With a library that only looks like CuPy: what it makes while it compares lies where its own allocator has it."""

    class Memory:
        def __init__(self, held, at=0):
            self.held, self.at = held, at

        def __add__(self, count):
            return Memory(self.held, self.at + count)

    class Array:
        def __init__(self, size, dtype, memory):
            self.values = memory.held[memory.at : memory.at + size]

        def fill(self, value):
            self.values[:] = value

        def __getitem__(self, part):
            return Array(len(self.values[part]), None, Memory(self.values[part]))

        def __ne__(self, value):
            made.append(allocators[-1])
            return self.values != value

    @contextmanager
    def using(allocate):
        allocators.append(allocate)
        yield
        allocators.pop()

    own, made = (lambda size: Memory(np.zeros(size, np.uint8))), []
    allocators = [own]
    pool = SimpleNamespace(malloc=own)
    library = SimpleNamespace(ndarray=Array, cuda=SimpleNamespace(using_allocator=using), get_default_memory_pool=lambda: pool)
    monkeypatch.setitem(sys.modules, "cupy", library)
    with pytest.raises(AssertionError, match=r"^1 bytes were written behind an array of 16$"), guarded_on_device():
        memory = allocators[-1](16)
        memory.held[memory.at : memory.at + 17] = 1
    assert made == [own, own]
