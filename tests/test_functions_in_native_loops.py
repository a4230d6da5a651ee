"""Functions of Python's floats in loops that a native function makes, compared with Python to the bit."""

from __future__ import annotations

import linecache
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pytocu
from pytocu.runtime import native_steps
from pytocu.runtime.plan_loops import Steady, judged
from pytocu.testing.compare import compare


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Steps that the native function makes, a number a call of it."""
    seen: list[int] = []
    computed = native_steps.NativeLoop._computed

    def watched(self: Any, *rest: Any) -> Any:
        found = computed(self, *rest)
        seen.append(found[0])
        return found

    monkeypatch.setattr(native_steps.NativeLoop, "_computed", watched)
    return seen


def looped(name: str) -> Callable[..., Any]:
    """A loop whose kernel takes what a function gives."""
    space: dict[str, Any] = {"np": np, "math": math}
    text = f"""
def program(u, x, y, n):
    for _ in range(n):
        x = x * 0.875 + 0.0625
        z = {name}
        u = np.cumsum(u) + z
    return u, z
"""
    path = f"<native {name}>"
    linecache.cache[path] = (0, None, text.splitlines(keepends=True), path)
    exec(compile(text, path, "exec"), space)
    return space["program"]


ONE = (
    "acos", "asin", "asinh", "atan", "atanh", "cbrt", "cos", "cosh", "degrees", "exp", "exp2", "expm1", "fabs", "log", "log10",
    "log1p", "log2", "radians", "sin", "sinh", "sqrt", "tan", "tanh", "floor", "ceil", "trunc",
)  # fmt: skip
CASES = [
    *((f"math.{name}(x)", ((0.9, 0.5), (0.01, 2.0))) for name in ONE),
    ("math.acosh(x + 1)", ((0.9, 0.5),)),
    ("int(x * 100)", ((0.9, 0.5), (-7.0, 0.5))),
    ("math.floor(x * 100)", ((0.9, 0.5), (-7.0, 0.5))),
    *((f"math.{name}(x, y)", ((0.9, 0.5), (-3.0, 0.75), (3.0, -2.0))) for name in ("atan2", "copysign", "fmod")),
    ("math.pow(x, y)", ((0.9, 0.5), (3.0, -2.0))),
    *((f"x {sign} y", ((0.9, 0.25), (-3.0, 0.75), (3.0, -0.3), (-2.0, -0.7), (1e300, 1e-9))) for sign in ("//", "%")),
]


@pytest.mark.parametrize(("text", "values"), CASES, ids=lambda case: case if isinstance(case, str) else "")
def test_numbers_are_those_of_python(text, values, made):
    function = looped(text)
    compiled, u = pytocu.jit(function), np.ones(4)
    for x, y in values:
        compiled(u, x, y, 3)
        made.clear()
        compare(compiled(u, x, y, 40), function(u, x, y, 40))
        assert sum(made) > 30, "native"


def test_whole_quotients_of_every_sign_and_size(made):
    def program(u, a, b, n):
        for _ in range(n):
            q = a // b
            r = a % b
            u = np.where(u > 0, 0.0, r)[::-1]
            a = a + b * 0.25
        return u, q, r

    compiled, u = pytocu.jit(program), np.zeros(3)
    some = (0.0, -0.0, 1.0, -1.0, 0.3, -0.3, 7.5, -7.5, 1e-310, 1e300, -1e300, math.inf, math.nan)
    for a in some:
        for b in some:
            try:
                wanted = program(u, a, b, 40)
            except ZeroDivisionError as error:
                with pytest.raises(ZeroDivisionError, match=str(error)):
                    compiled(u, a, b, 40)
                continue
            with np.errstate(all="ignore"):
                compare(compiled(u, a, b, 40), wanted)
    assert sum(made) > 50


def test_ints_are_divided_as_python_divides(made):
    def program(u, k, m, n):
        for i in range(n):
            q = (k + i) / m
            u = np.cumsum(u) * 0.0 + q
        return u, q

    compiled, u = pytocu.jit(program), np.zeros(3)
    for k in (0, 1, -7, 2**53 - 40, 2**53 + 1, -(2**62)):
        for m in (1, -3, 7, 2**53, 2**60 + 1):
            compare(compiled(u, k, m, 30), program(u, k, m, 30))
    assert sum(made) > 200


@pytest.mark.parametrize("text", ["math.sqrt(y - x)", "math.exp(1 / (x - 0.5))", "math.log(x - y)", "1 // (x - x)"])
def test_what_python_raises(text):
    """From some step on."""
    function = looped(text)
    compiled, u = pytocu.jit(function), np.ones(4)
    for x, y in ((3.0, 0.5), (-2.0, 0.51)):
        outcomes = []
        for one in (function, compiled):
            try:
                outcomes.append(one(u, x, y, 60))
            except (ValueError, ArithmeticError) as raised:
                outcomes.append((type(raised).__mro__[1] if one is compiled else type(raised), str(raised).split("\n")[0]))
        if isinstance(outcomes[0][0], type):
            assert isinstance(outcomes[1][0], type) and outcomes[0][1] in outcomes[1][1]
        else:
            compare(*reversed(outcomes))


def test_the_loop_says_that_it_is_native():
    lowered = pytocu.jit(looped("math.sin(x) // y")).lower("f64[n]", "weak float", "weak float", "weak int")
    (loop,) = judged(lowered.compile("cpu").plan).values()
    assert isinstance(loop, Steady) and loop.numbers is not None
