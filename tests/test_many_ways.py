"""Functions with many branches that may return: what follows a branch is not read again for every way that leads there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_arguments_known_now import compile_lines

import pytocu
from pytocu.testing.cases import call_interpreted
from pytocu.testing.compare import compare

X = np.array([0.5, -1.0, 2.0])


def program(text: str) -> Any:
    names: dict[str, Any] = {"np": np, "pytocu": pytocu}
    exec(compile_lines(text), names)
    return names["f"]


def steps(count: int, step: str, head: str = "def f(x, a):", end: str = "return x") -> str:
    """A function with a piece repeated, in which ``{k}`` is the number of the repetition."""
    lines = [line for k in range(count) for line in step.replace("{k}", str(k)).splitlines()]
    return "\n".join([head, *(f"    {line}" for line in lines), f"    {end}", ""])


RETURNS = "if a > {k}:\n    x = x + 1\n    if a > {k} + 3:\n        return x\n"
BOTH = RETURNS + "else:\n    x = x - {k}\n    if a < -{k}:\n        return x * 2\n"
DATA = "if x.sum() > {k}:\n    x = x + 1\n    if x.max() > 6:\n        return x, {k}\nx = x * 1.25\n"
INSIDE = "if a > {k}:\n    for i in range(3):\n        if x[i] > 3 + {k}:\n            return x\n    x = x + 0.5\n"


@pytest.mark.parametrize(
    ("step", "end"), [(RETURNS, "return x"), (BOTH, "return -x"), (DATA, "return x, 99"), (INSIDE, "return x * 0")]
)
@pytest.mark.parametrize("a", [-9.0, 0.5, 3.5, 7.0])
def test_many_branches_that_may_return(step: str, end: str, a: float) -> None:
    function = program(steps(7, step, end=end))
    compare(call_interpreted(function, X, a), function(X, a))


@pytest.mark.parametrize("step", [RETURNS, BOTH, "if a > {k}:\n    x = x + {k}\nelse:\n    x = x * 2\n"])
def test_what_is_read_grows_with_the_source(step: str) -> None:
    lengths = [len(str(pytocu.jit(program(steps(count, step))).lower(X, 2.5).ir("lower"))) for count in (15, 30)]
    assert lengths[1] < 3 * lengths[0]


def test_in_a_loop_and_in_a_vectorized_function() -> None:
    loop = "def f(x, a):\n    for n in range(4):\n" + "\n".join(
        f"        {line}" for k in range(5) for line in RETURNS.replace("{k}", str(k)).splitlines()
    )
    function = program(f"{loop}\n        x = x - 0.25\n    return x\n")
    for a in (-1.0, 2.5, 9.0):
        compare(call_interpreted(function, X, a), function(X, a))
    each = program("@pytocu.vectorize\n" + steps(6, RETURNS))
    values = np.array([-1.0, 0.5, 2.5, 4.0, 20.0])
    compare(each(np.ones(5), values), np.array([program(steps(6, RETURNS))(1.0, a) for a in values]))


def test_on_the_cpu() -> None:
    function = program(steps(6, RETURNS))
    compiled = pytocu.jit(function)
    for a in (-1.0, 0.5, 2.5, 4.0, 20.0):
        compare(compiled(X, a), function(X, a))
