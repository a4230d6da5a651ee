"""Arguments that are changed again and again: memories take turns, and nothing is copied that need not be."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.ir import interp
from pytocu.ir.core import walk
from pytocu.runtime.plan_loops import Steady, judged


def relax(u, n):
    for _ in range(n):
        u[1:-1] = 0.5 * (u[2:] + u[:-2])
    return u


def counted(u, n):
    for i in range(3, n, 2):
        u[1:] = u[:-1] + i


def down(u, n):
    for i in range(n, -1, -1):
        u[:-1] = u[1:] * 0.5 + i


def wave(u, n, v):
    for _ in range(n):
        v[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        u[1:-1] += v[1:-1] + u[:-2]


def stretched(u, n):
    for _ in range(n):
        u[...] = u[::-1] * 2


def with_length(u, n):
    for _ in range(n):
        u[1:-1] = (u[2:] + u[:-2]) / u.shape[0]
    return u.shape[0]


def then_more(u, n):
    for _ in range(n):
        u[1:-1] = u[2:] + u[:-2]
    u *= 2
    return u[1:]


def four(u):
    for _ in range(4):
        u[1:-1] = u[2:] * 0.5 + u[:-2]
    return u


def two_and_border(u):
    u[1:-1] = u[2:] + u[:-2]
    t = u[::2] * 1
    u[1:-1] = u[2:] - u[:-2]
    return t


def launches(function: Any, *arguments: Any, target: str = "cuda") -> tuple[int, int]:
    """Launches in the text of the plan, and what it allocates."""
    insts = list(walk(pytocu.jit(function).lower(*arguments).host(target).body))
    return sum(i.op.name == "launch" for i in insts), sum(i.op.name == "allocate" for i in insts)


def same(function: Callable[..., Any], *arguments: Any) -> None:
    """The memory and the results of both targets' threads, and of the compiled CPU code."""

    def copies() -> list[Any]:
        return [a.copy("K") if isinstance(a, np.ndarray) else a for a in arguments]

    expected = copies()
    wanted = function(*expected)
    low = pytocu.jit(function).lower(*copies())
    tree = low.function.body.terminator.attr("tree")
    runs = [lambda *a, t=t: interp.arrange(tree, interp.run(low.host(t), a)) for t in ("cpu", "cuda")]
    for run in (*runs, pytocu.jit(function)):
        given = copies()
        found = run(*given)
        for one, other in zip(given, expected, strict=True):
            np.testing.assert_array_equal(one, other)
        np.testing.assert_equal(found, wanted)


def numbers(size: int) -> np.ndarray:
    return np.random.default_rng(size).random(size)


@pytest.mark.parametrize("function", [relax, counted, down, stretched, with_length, then_more])
@pytest.mark.parametrize("steps", [-2, 0, 1, 2, 3, 6, 7])
def test_steps(function: Any, steps: int) -> None:
    for size in (2, 3, 20):
        same(function, numbers(size), steps)


@pytest.mark.parametrize("steps", [0, 1, 2, 5])
def test_two_arguments(steps: int) -> None:
    same(wave, numbers(20), steps, numbers(20) - 0.5)


def test_no_copy_but_the_last() -> None:
    u, n = numbers(30), 5
    # A step there, one back, and behind the loop one more and a copy where their number is odd.
    assert launches(relax, u, n) == (4, 1)
    assert launches(wave, u, n, numbers(30)) == (2 * 3 + 2, 2)
    assert launches(with_length, u, n) == (4, 1)


def test_no_python_between_the_steps() -> None:
    for function, arguments in ((relax, (numbers(30), 5)), (wave, (numbers(30), 5, numbers(30))), (down, (numbers(30), 5))):
        plan = pytocu.jit(function).lower(*arguments).compile("cpu").plan
        (found,) = judged(plan).values()
        assert isinstance(found, Steady) or function is down


def test_what_is_read_behind_the_loop_has_memory_of_its_own() -> None:
    def before(u, n):
        t = u + 1
        for _ in range(n):
            u[1:-1] = u[2:] + u[:-2]
        return t

    def behind(u, n):
        for _ in range(n):
            u[1:-1] = u[2:] + u[:-2]
        return u + 1

    for steps in (0, 1, 4, 5):
        same(before, numbers(12), steps)
        same(behind, numbers(12), steps)


def test_layouts_and_shared_memory() -> None:
    def both(u, v, n):
        for _ in range(n):
            u[1:-1] = v[2:] + u[:-2]
        return u

    for steps in (1, 2, 3):
        block, expected = numbers(60), numbers(60)
        relax(expected[::3], steps)
        pytocu.jit(relax)(block[::3], steps)
        np.testing.assert_array_equal(block, expected)
        block, expected = numbers(60), numbers(60)
        both(expected, expected, steps)
        pytocu.jit(both)(block, block, steps)
        np.testing.assert_array_equal(block, expected)
        block, expected = numbers(60), numbers(60)
        both(expected[1:], expected[:-1], steps)
        pytocu.jit(both)(block[1:], block[:-1], steps)
        np.testing.assert_array_equal(block, expected)


def test_written_out_steps_are_one_kernel_each_on_a_gpu() -> None:
    for size in (2, 3, 50):
        same(four, numbers(size))
        same(two_and_border, numbers(size))
    assert launches(four, numbers(50)) == (4, 2)
    names = {kernel.name for kernel in pytocu.jit(four).lower("f64[n]").kernels}
    assert len(names) == 1


def test_a_change_of_a_part_stays_in_its_place() -> None:
    def corner(u):
        u[2:6] = u[:4] + 1
        u[2:6] = u[4:8] * 2

    assert launches(corner, numbers(1000)) == (4, 2)
    same(corner, numbers(1000))
