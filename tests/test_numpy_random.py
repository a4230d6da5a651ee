"""Random programs give the same bits in NumPy, compiled, and interpreted after every road's end."""

from __future__ import annotations

import linecache
import random
import statistics
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import pytocu
from pytocu.errors import PytocuError, UnsupportedError
from pytocu.ir import interp
from pytocu.testing.cases import compare_with_numpy
from pytocu.testing.programs import Program, program_arguments, random_program

# The program is printed as it failed: making it smaller takes minutes, which the profile "search" takes.
settings.register_profile("fixed", derandomize=True, deadline=None, max_examples=150, print_blob=False, phases=[Phase.generate],
                          suppress_health_check=list(HealthCheck))  # fmt: skip
settings.register_profile("search", deadline=None, max_examples=5000, suppress_health_check=list(HealthCheck))
settings.load_profile("fixed")

SIZES = ({"n": 3, "m": 4}, {"n": 5, "m": 2}, {"n": 1, "m": 3}, {"n": 3, "m": 1}, {"n": 0, "m": 4}, {"n": 33, "m": 9})


def make(program: Program, number: int) -> Any:
    """The program as a function with source."""
    name = f"<program {number}>"
    linecache.cache[name] = (0, None, program.source.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {"np": np}
    exec(compile(program.source, name, "exec"), namespace)
    return namespace["program"]


def check(program: Program, sizes: dict[str, int], choose: Any, number: int) -> bool:
    """Compare one program; whether it computed something (and was not refused on both sides)."""
    function = make(program, number)
    arguments = program_arguments(program, sizes, choose)
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = function(*arguments)
    except (TypeError, ValueError, OverflowError, ZeroDivisionError, AttributeError) as error:
        with pytest.raises((*type(error).__mro__[:-3], UnsupportedError)):  # NumPy's errors are private subclasses
            pytocu.jit(function)(*arguments)
        return False
    compiled = pytocu.jit(function)
    try:
        actual = compiled(*arguments)
    except UnsupportedError as error:
        assert "Python scalar" in str(error), error
        return False
    compare_with_numpy((), actual, expected)
    low = compiled.lower(*arguments)
    for target in ("cpu", "cuda"):
        results = interp.run(low.host(target), arguments)
        tree = low.function.body.terminator.attr("tree")
        compare_with_numpy((), interp.arrange(tree, results), expected)
    return True


COMPUTED: list[int] = []


@given(st.data())
def test_random_programs(data: Any) -> None:
    def choose(options: Any) -> Any:
        return data.draw(st.sampled_from(options))

    program = random_program(choose)
    sizes = choose(SIZES)
    try:
        if check(program, sizes, choose, len(COMPUTED)):
            COMPUTED.append(program.operations)
    except (AssertionError, PytocuError) as error:
        raise AssertionError(f"{error}\n{program.source}with {sizes}") from error


def test_programs_are_large_and_mostly_computed() -> None:
    """Programs of random choices, as the search makes them."""
    pick = random.Random(1)
    programs = [random_program(pick.choice) for _ in range(120)]
    assert statistics.median(p.operations for p in programs) >= 8
    computed = [check(p, SIZES[n % 6], pick.choice, 10_000 + n) for n, p in enumerate(programs)]
    assert sum(computed) >= 90
