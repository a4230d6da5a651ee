"""Random programs of every kind of index give NumPy's bits, and see changes in each other's memory where NumPy's do."""

from __future__ import annotations

import copy
import linecache
import random
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.errors import PytocuError, UnsupportedError
from pytocu.ir import interp
from pytocu.testing.compare import compare
from pytocu.testing.index_programs import IndexProgram, index_programs


def made(program: IndexProgram, name: str) -> Any:
    linecache.cache[name] = (0, None, program.source.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {"np": np}
    exec(compile(program.source, name, "exec"), namespace)
    return namespace["program"]


def check(program: IndexProgram, target: str | None) -> bool:
    """Compare one program; whether it is compiled."""
    function = made(program, f"<index {hash(program.source)}>")
    wanted = copy.deepcopy(program.arguments)
    expected = function(*wanted)
    given = copy.deepcopy(program.arguments)
    compiled = pytocu.jit(function)
    try:
        actual = compiled(*given)
    except UnsupportedError as error:
        # Whether a length that a mask decides happens to be 1, NumPy repeats it.
        assert "NumPy would repeat" in str(error)
        return False
    compare((actual, *given), (expected, *wanted))
    if target is not None:
        given = copy.deepcopy(program.arguments)
        low = compiled.lower(*given)
        results = interp.run(low.host(target), given)
        compare((interp.arrange(low.function.body.terminator.attr("tree"), results), *given), (expected, *wanted))
    return True


@pytest.mark.parametrize("seed", range(6))
def test_random_programs(seed: int, whole: bool) -> None:
    make = index_programs(random.Random(seed).choice)
    count = 100 if whole else 12
    seen = 0
    for number in range(count):
        program = make()
        try:
            seen += check(program, ("cuda", None, "cpu")[number % 3])
        except (AssertionError, PytocuError) as error:
            raise AssertionError(f"{error}\n{program.source}with {program.arguments}") from error
    assert seen > count * 0.8


X = np.arange(20.0).reshape(4, 5)


def columns_of_a_mask(x, m):
    x[:, m] += 1
    return x


def largest_row(x):
    row = x[np.argmax(x[:, 0])]
    row *= 2
    return x, row


def row_and_whole(x, k):
    row = x[k]
    x[:] = 0
    return row.sum()


def parts_of_a_column(x, k):
    column = x[:, k]
    column[1:] = 7
    return x


def pivoted(x):
    for c in range(x.shape[0]):
        p = c + np.argmax(np.abs(x[c:, c]))
        row = x[p].copy()
        x[p] = x[c]
        x[c] = row
        first = x[c]
        first /= first[c]
        for q in range(x.shape[0]):
            if q != c:
                x[q] -= x[q, c] * first
    return x


def beside_a_mask(x, i, m):
    x[i, m] = [9, 8]
    x[..., m] -= 1
    return x


def new_axis_of_a_number(x, k):
    x[k, None][:, 1] = 3
    return x


def returned(x, k):
    row = x[k]
    x[k] = 1
    return row


def at_the_last_step(x, n):
    total = 0.0
    for k in range(n):
        total += x[0, k]
    row = x[k]
    row[:] = total
    return x


def at_the_last_step_on_a_side(x, n, limit):
    for k in range(n):
        y = x[k] * 2
    if limit > 0.5:
        column = x[:, k % 3]
        column += 1
    return y


def behind_a_while(x, limit):
    k = 0
    while k < 3 and x[k].sum() < limit:
        k += 1
    row = x[k]
    x[:] = 0
    return row + 1


def of_a_branch(x, limit):
    k = 1 if x[0, 1] < limit else 2
    row = x[k]
    row *= 2
    x[k, 1:][0] = 5
    return row


CASES = [
    (at_the_last_step, (X, 3)),
    (at_the_last_step_on_a_side, (X, 2, 0.9)),
    (at_the_last_step_on_a_side, (X, 2, 0.1)),
    (behind_a_while, (X, 50.0)),
    (of_a_branch, (X, 3.0)),
    (of_a_branch, (X, 0.0)),
    (columns_of_a_mask, (X, X[0] % 2 > 0)),
    (largest_row, (X,)),
    (row_and_whole, (X, np.int64(-2))),
    (parts_of_a_column, (X, np.int32(3))),
    (pivoted, (np.random.default_rng(1).integers(1, 9, (4, 5)).astype(float),)),
    (beside_a_mask, (X, np.array([3, 1]), np.array([True, False, False, True, False]))),
    (new_axis_of_a_number, (X, np.int64(1))),
    (returned, (X, np.int64(1))),
]


@pytest.mark.parametrize(("function", "arguments"), CASES, ids=[f"{f.__name__}-{n}" for n, (f, _) in enumerate(CASES)])
def test_parts_and_copies(function: Any, arguments: tuple[Any, ...]) -> None:
    wanted = copy.deepcopy(arguments)
    expected = function(*wanted)
    given = copy.deepcopy(arguments)
    compare((pytocu.jit(function)(*given), *given), (expected, *wanted))
