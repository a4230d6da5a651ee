"""How much the compiler looks at grows with the program, and not with its square."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mask_tools import everywhere

import pytocu
from pytocu import driver
from pytocu.frontend import loops, ranges
from pytocu.ir.printer import print_function
from pytocu.passes import accesses, roots, spaces
from pytocu.passes.pipeline import FIRST_OF_OFFSETS, LAST_OF_ANY_OFFSETS, pass_names, run_pipeline
from pytocu.testing.fuzz_programs import make


def neighbours(count: int) -> Any:
    """A loop that reads and changes so many elements behind each other in a step."""
    lines = [f"        t{k} = a[i + {k}] * 0.5\n        a[i + {k}] = t{k} + {k}\n" for k in range(count)]
    total = " + ".join(f"t{k}" for k in range(count))
    return make(f"def f(a, n):\n    for i in range(n):\n{''.join(lines)}        a[i] += {total}\n    return a\n", "f")


@pytest.mark.parametrize(("module", "name"), [(ranges, "substitute"), (accesses, "operands")])
def test_positions_of_many_statements(module: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real, calls = getattr(module, name), 0

    def counted(*args: Any) -> Any:
        nonlocal calls
        calls += 1
        return real(*args)

    monkeypatch.setattr(module, name, counted)
    found: list[int] = []
    for count in (10, 40):
        calls = 0
        pytocu.jit(neighbours(count)).lower("f64[m]", "weak int").compile("cpu")
        found.append(calls)
    # The same for each statement, and not more for each that was before it.
    assert 0 < found[1] < 6 * found[0], found


def test_passes_that_know_nothing_of_offsets_run_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A call that turns out to need offsets of 64 bits begins where these matter."""
    real, ran = driver.run_pipeline, []

    def noted(*args: Any, **options: Any) -> Any:
        ran.append((options.get("start", ""), args[1].index_bits))
        return real(*args, **options)

    def doubled(x: Any) -> Any:
        return sorted([v * 2 for v in x])

    monkeypatch.setattr(driver, "run_pipeline", noted)
    assert pytocu.jit(doubled)(np.array([1.0, -1.0, 2.0])) == [-2.0, 2.0, 4.0]
    assert ran == [("", 32), (FIRST_OF_OFFSETS, 32), (FIRST_OF_OFFSETS, 64)]
    names = pass_names()
    assert names.index(FIRST_OF_OFFSETS) == names.index(LAST_OF_ANY_OFFSETS) + 1


def at_negated(x: Any, k: int) -> Any:
    y = x.copy()
    for j in range(k):
        y[max(-j, -3)] += 1
    return y


@pytest.mark.parametrize("target", ["cpu", "cuda:sm_90"])
@pytest.mark.parametrize(("first", "second"), [(32, 64), (64, 32)])
def test_wide_offsets_in_code_that_was_begun_without(target: str, first: int, second: int) -> None:
    """What is shared between both is what each would have alone."""
    low = pytocu.jit(at_negated).lower("i64[n]", "weak int")
    low.host(target, first)
    alone = run_pipeline(low.function, low.context(target, second))
    assert print_function(low.host(target, second)) == print_function(alone)
    assert alone.fact("index_bits") == second


def test_kernels_that_combine_nothing_are_walked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no reduction is near, nobody looks for one at every position that is read."""

    def near(x: Any) -> Any:
        for _ in range(3):
            x = np.roll(x, 1) + np.roll(x, -1)
        return x

    def refused(*args: Any, **options: Any) -> Any:
        raise AssertionError("positions were gone through")

    monkeypatch.setattr(spaces, "demand", refused)
    assert len(pytocu.jit(near).lower("f64[n]").kernels) == 1
    with pytest.raises(pytocu.InternalError, match="gone through"):
        _ = pytocu.jit(lambda x: near(x).sum()).lower("f64[n]").kernels


def test_neighbours_give_what_numpy_gives() -> None:
    everywhere(neighbours(6), np.linspace(0.0, 1.0, 12), 5)


def with_number(x: Any, a: Any, w: Any) -> Any:
    for k in range(2, 7):
        x = (x @ a) * w[k]
    return x


def with_positions(x: Any, a: Any, w: Any, at: Any) -> Any:
    for k in range(5):
        x = (x @ a) * w[at[k]]
    return x


def with_neighbours(x: Any, a: Any, w: Any) -> Any:
    for k in range(2, 7):
        x = (x @ a) * w[k] + w[k + 3]
    return x


def with_divisors(x: Any, a: Any, w: Any) -> Any:
    for k in range(2, 7):
        x = (x @ a) // k + w[k]
    return x


COMPILED = [(with_number, 1), (with_positions, 1), (with_neighbours, 5), (with_divisors, 5)]


@pytest.mark.parametrize(("function", "compiled"), COMPILED)
def test_kernels_that_differ_in_a_position_are_compiled_once(function: Any, compiled: int) -> None:
    """Those that read one element of an array each: several might be one vector, and a divisor makes the code faster."""
    x, a = np.arange(120.0).reshape(4, 30) % 7, np.arange(900.0).reshape(30, 30) % 5 - 2
    rest = (np.arange(10.0) + 1, np.array([0, -1, 3, 9, 3]))[: function.__code__.co_argcount - 2]
    low = pytocu.jit(function).lower("f64[n, 30]", "f64[30, 30]", "f64[m]", *["i64[k]"] * (len(rest) - 1))
    launched = low.compile("cpu").kernel_names
    assert len(launched) == 5
    assert len(set(launched)) == compiled
    assert len(set(low.compile("cuda:sm_90").kernel_names)) == 5
    everywhere(function, x, a, *rest)


@pytest.mark.parametrize("wrong", range(5))
def test_what_compiled_kernels_share_notes_the_failure_of_each(wrong: int) -> None:
    x, a, w = np.ones((4, 30)), np.eye(30), np.arange(10.0)
    at = np.arange(5)
    at[wrong] = 10 + wrong
    with pytest.raises(IndexError, match=f"^index {10 + wrong} is out of bounds for axis 0 with size 10"):
        pytocu.jit(with_positions)(x, a, w, at)


def left_nest(depth: int) -> Any:
    """Loops in loops, each of which a step may leave."""
    lines = ["def f(a, n):"]
    for k in range(depth):
        lines += [f"{'    ' * (k + 1)}for i{k} in range(n):", f"{'    ' * (k + 2)}if a[i{k}] > 5:", f"{'    ' * (k + 3)}break"]
    return make("\n".join([*lines, f"{'    ' * (depth + 1)}a[0] += 1", "    return a\n"]), "f")


def sorted_in_between(count: int) -> Any:
    """Library calls between changes of their operand."""
    lines = [f"    s{k} = np.sort(x)\n    x[{k}:] += s{k}[{k}:]\n" for k in range(count)]
    return make(f"def f(x):\n{''.join(lines)}    return x\n", "f")


def sifted(count: int) -> Any:
    """Loops behind each other whose positions are numbers of their own."""
    step = "p = (j - 1) // 2", "if a[p] <= i:", "    break", "a[j] = a[p]", "j = p"
    loop = "j = i", "while j > 0:", *(f"    {line}" for line in step), "a[j] = i"
    lines = "".join(f"        {line}\n" for line in loop * count)
    return make(f"def f(a, n):\n    for i in range(n):\n{lines}    return a\n", "f")


@pytest.mark.parametrize(
    ("module", "name", "written", "types", "sizes", "most"),
    [
        # Of loops in loops twice as deep.
        (loops, "_read", left_nest, ("i64[m]", "weak int"), (3, 6), 4),
        # Of statements four times as many.
        (ranges, "substitute", sifted, ("i64[m]", "weak int"), (4, 16), 8),
        (roots, "combines", sorted_in_between, ("f64[n]",), (10, 40), 6),
    ],
)
def test_work_that_grows_with_the_program(
    module: Any, name: str, written: Any, types: Any, sizes: Any, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, calls = getattr(module, name), 0

    def counted(*args: Any) -> Any:
        nonlocal calls
        calls += 1
        return real(*args)

    monkeypatch.setattr(module, name, counted)
    found: list[int] = []
    for size in sizes:
        calls = 0
        pytocu.jit(written(size)).lower(*types).ir("fuse", "cpu")
        found.append(calls)
    assert 0 < found[1] < most * found[0], found
