"""Loops and branches of run time on a GPU: inside of kernels, and around them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from raising_programs import stopped_by_an_element_or_a_number
from test_control_flow import CASES as ELEMENT_CASES
from test_whole_array_loops import CASES as ARRAY_CASES
from test_whole_array_loops import SUMS

import pytocu
from pytocu.errors import CompileError
from pytocu.testing.compare import compare

pytestmark = pytest.mark.gpu


def on_device(cupy: Any, value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    order = "F" if value.flags.f_contiguous and not value.flags.c_contiguous else "C"
    return cupy.array(value, order=order)


def on_host(cupy: Any, value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(on_host(cupy, v) for v in value)
    return cupy.asnumpy(value) if isinstance(value, cupy.ndarray) else value


def same(found: Any, wanted: Any, close: bool) -> None:
    if wanted is None:
        assert found is None
    elif isinstance(wanted, tuple):
        for a, b in zip(found, wanted, strict=True):
            same(a, b, close)
    elif close:
        np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=1e-12)
    elif isinstance(wanted, np.ndarray | np.generic):
        # A NumPy scalar stays on the device as an array without axes.
        compare(np.asarray(found), np.asarray(wanted))
    else:
        assert type(found) is type(wanted)
        assert found == wanted


def cases() -> list[Any]:
    """The programs of the CPU's tests that are given an array, and that raise nothing."""
    found: list[Any] = []
    for function, arguments in (*ELEMENT_CASES, *ARRAY_CASES, *SUMS):
        if any(isinstance(a, np.ndarray) for a in arguments):
            found.append(pytest.param(function, arguments, id=function.__name__))
    return found


@pytest.mark.parametrize(("function", "arguments"), cases())
def test_programs_give_what_numpy_gives(function: Any, arguments: tuple[Any, ...], cupy: Any) -> None:
    host = [a.copy(order="K") if isinstance(a, np.ndarray) else a for a in arguments]
    try:
        with np.errstate(all="ignore"):
            wanted = function(*host)
    except (ArithmeticError, ValueError, IndexError) as error:
        with pytest.raises(CompileError) as caught:
            pytocu.jit(function)(*(on_device(cupy, a) for a in arguments))
            pytocu.synchronize()
        assert str(caught.value).splitlines()[0] == str(error)
        return
    close = any(function is other for other, _ in SUMS)
    device = [on_device(cupy, a) for a in arguments]
    jitted = pytocu.jit(function)
    same(on_host(cupy, jitted(*device)), wanted, close)
    same(on_host(cupy, tuple(device)), tuple(host), close)


def large_rod(u: Any, n: int) -> Any:
    u = u.copy()
    for _ in range(n):
        u[1:-1] = u[1:-1] + 0.25 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


@pytest.mark.parametrize("length", [3, 1000, 1_000_003])
def test_a_stencil_takes_many_steps(length: int, cupy: Any) -> None:
    rod = np.random.default_rng(1).random(length, np.float32)
    same(cupy.asnumpy(pytocu.jit(large_rod)(cupy.asarray(rod), 100)), large_rod(rod, 100), False)


def popped_and_counted(x: Any, n: int) -> Any:
    found, t = [1], 0
    for i in range(n):
        if x[i] > 0:
            t = found.pop()
    while found and t < n:
        t += 1
        found.append(t)
    return np.int64(len(found) * 100 + t)


def test_a_call_that_waits_for_its_kernels_says_what_they_found(cupy: Any) -> None:
    jitted = pytocu.jit(popped_and_counted)
    with pytest.raises(IndexError, match=r"^pop from empty list") as caught:
        jitted(cupy.ones(4), 4)
    assert "earlier call" not in str(caught.value)
    zeros = np.zeros(4)
    same(on_host(cupy, jitted(cupy.asarray(zeros), 4)), popped_and_counted(zeros, 4), False)
    pytocu.synchronize()


def test_what_a_kernel_finds_comes_before_what_the_host_raises_behind_it(cupy: Any) -> None:
    jitted = pytocu.jit(stopped_by_an_element_or_a_number)
    for x, n, sentence in (([1.0, 9.0], 5, "an element"), ([1.0, 2.0], 5, "a number"), ([9.0, 1.0] * 4000, 5, "an element")):
        with pytest.raises(ValueError, match=rf"^{sentence}"):
            jitted(cupy.asarray(x), n)
        pytocu.synchronize()
