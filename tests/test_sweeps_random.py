"""Random loops that change arrays step by step give NumPy's bits, on the CPU and thread by thread."""

from __future__ import annotations

import linecache
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pytocu
from pytocu.ir import interp
from pytocu.ir.core import walk
from pytocu.testing.compare import compare
from pytocu.testing.sweep_programs import Choose, random_sweep


def arguments(rows: int, columns: int, k: int, layout: str) -> list[Any]:
    draw = np.random.default_rng(rows + columns)
    arrays = [draw.integers(-4, 5, (rows, columns)).astype(np.float64) for _ in range(3)]
    if layout == "F":
        arrays = [np.asfortranarray(a) for a in arrays]
    elif layout == "S":
        arrays = [np.repeat(a, 2, axis=1)[:, ::2] for a in arrays]
    return [*arrays, draw.integers(-4, 5, rows).astype(np.float64), k]


def check(choose: Choose) -> int:
    """Compare a program; how many of its loops are sweeps."""
    source = random_sweep(choose)
    rows, columns = choose([(3, 7), (1, 6), (4, 4), (2, 9), (3, 3), (2, 2)])
    if "a.shape[0]" in source:
        rows = columns
    k, layout = choose([0, 3, 5, 20, -4]), choose(["C", "C", "F", "S"])
    name = f"<sweep {hash(source)}>"
    linecache.cache[name] = (0, None, source.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {"np": np}
    exec(compile(source, name, "exec"), namespace)
    program = namespace["program"]
    given_ = arguments(rows, columns, k, layout)
    try:
        with np.errstate(all="ignore"):
            wanted = program(*given_)
    except (IndexError, ValueError) as error:
        with pytest.raises(type(error)):
            pytocu.jit(program)(*arguments(rows, columns, k, layout))
        return 0
    passed = arguments(rows, columns, k, layout)
    compiled = pytocu.jit(program)
    try:
        compare(compiled(*passed), wanted)
        compare(passed, given_)
        passed = arguments(rows, columns, k, layout)
        host = compiled.lower(*passed).host("cuda")
        compare(interp.arrange(host.body.terminator.attr("tree"), interp.run(host, passed)), wanted)
        compare(passed, given_)
    except AssertionError as error:
        raise AssertionError(f"{source}\n{rows}, {columns}, k = {k}, layout {layout}\n{error}") from error
    return sum(i.op.name == "launch" and i.attr("schedule") == "sweep" for i in walk(host.body))


@pytest.mark.parametrize("seed", range(8))
def test_random_sweeps(seed: int) -> None:
    draw = random.Random(seed)
    sweeps = [check(draw.choice) for _ in range(6)]
    assert any(sweeps)


@settings(max_examples=15, deadline=None, database=None)
@given(st.data())
def test_random_sweeps_found_by_hypothesis(data: st.DataObject) -> None:
    check(lambda choices: data.draw(st.sampled_from(list(choices))))
