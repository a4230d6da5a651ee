"""Random programs that change their arguments give NumPy's bits, memory and objects."""

from __future__ import annotations

import linecache
import random
import warnings
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.errors import PytocuError
from pytocu.ir import interp
from pytocu.testing.compare import compare
from pytocu.testing.inplace_programs import MEMORY, Program, inplace_arguments, random_inplace_program

SIZES = ({"n": 4, "m": 4}, {"n": 3, "m": 5}, {"n": 2, "m": 2}, {"n": 2, "m": 7}, {"n": 1, "m": 3}, {"n": 3, "m": 1})
DTYPES = ("i4", "f8", "f4", "i8", "u1", "i2")


def make(program: Program, name: str) -> Any:
    linecache.cache[name] = (0, None, program.source.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {"np": np}
    exec(compile(program.source, name, "exec"), namespace)
    return namespace["program"]


def identities(results: Any, block: np.ndarray, arguments: tuple[Any, ...]) -> list[Any]:
    """Which results are arguments, and which are in the memory of which."""
    out: list[Any] = []
    for result in results:
        places = [n for n, a in enumerate(arguments) if result is a]
        shared = [np.shares_memory(result, a) for a in (block, *arguments[:-1])] if isinstance(result, np.ndarray) else []
        out.append((bool(places), shared))
    return out


def check(program: Program, sizes: dict[str, int], dtype: str, memory: str, targets: tuple[str, ...]) -> bool:
    """Compare one program; whether NumPy computed something."""
    function = make(program, f"<in place {hash(program)}>")
    block, arguments = inplace_arguments(sizes, dtype, memory)
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = function(*arguments)
    except (TypeError, ValueError, IndexError, OverflowError) as error:
        untouched, again = inplace_arguments(sizes, dtype, memory)
        before = [np.array(a) for a in (untouched, *again)]
        with pytest.raises((*type(error).__mro__[:-3],)):
            pytocu.jit(function)(*again)
        compare([np.array(a) for a in (untouched, *again)], before)
        return False
    wanted = (expected, block, arguments)
    seen = identities(expected, block, arguments)
    compiled = pytocu.jit(function)
    for _ in range(2):
        block, arguments = inplace_arguments(sizes, dtype, memory)
        actual = compiled(*arguments)
        compare((actual, block, arguments), wanted)
        assert identities(actual, block, arguments) == seen
    block, arguments = inplace_arguments(sizes, dtype, memory)
    low = compiled.lower(*arguments)
    stages = [low.function, *(low.host(target) for target in targets)]
    for stage in stages:
        block, arguments = inplace_arguments(sizes, dtype, memory)
        results = interp.run(stage, arguments)
        compare((interp.arrange(low.function.body.terminator.attr("tree"), results), block, arguments), wanted)
    return True


def search(seed: int, count: int, targets: tuple[str, ...] = ("cpu", "cuda")) -> int:
    """Compare many programs; how many NumPy computed."""
    pick = random.Random(seed)
    computed = 0
    for _ in range(count):
        program = random_inplace_program(pick.choice)
        sizes, dtype, memory = pick.choice(SIZES), pick.choice(DTYPES), pick.choice(MEMORY)
        try:
            computed += check(program, sizes, dtype, memory, targets)
        except (AssertionError, PytocuError, pytest.fail.Exception) as error:
            raise AssertionError(f"{error}\n{program.source}with {sizes}, {dtype}, {memory}") from error
    return computed


@pytest.mark.parametrize("seed", range(4))
def test_random_programs(seed: int, whole: bool) -> None:
    count = 40 if whole else 12
    assert search(seed, count) >= count // 2


def test_every_kind_of_memory_is_computed() -> None:
    pick = random.Random(5)
    for memory in MEMORY:
        computed = [check(random_inplace_program(pick.choice), SIZES[0], "i4", memory, ()) for _ in range(4)]
        assert any(computed), memory
