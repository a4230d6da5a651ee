"""How the steps of loops are made, as `pytocu explain` and the plan's text say it."""

from __future__ import annotations

import textwrap

import numpy as np
import pytest

import pytocu
from pytocu.explain.collect import explanation
from pytocu.explain.plan_text import plan_text


def heat(u, n):
    u = u.copy()
    for _ in range(n):
        u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


def until_settled(u, tolerance):
    change = np.float64(1)
    while change > tolerance:
        new = u.copy()
        new[1:-1] = 0.5 * (u[2:] + u[:-2])
        change = np.abs(new - u).max()
        u = new
    return u


def alternating(u, n):
    for i in range(n):
        if i % 2:
            u = np.cumsum(u) * i
        else:
            u = u[::-1] * 2.0
    return u


def counted(u, n):
    for i in range(n):
        u = np.cumsum(u) * i
    return u


def steps_of(function, target, *types):
    text = plan_text(pytocu.jit(function).lower(*types).compile(target).plan)
    return textwrap.dedent(text.partition("steps\n")[2].partition("kernels\n")[0])


def test_a_loop_of_a_plan():
    assert steps_of(heat, "cuda:sm_90", "f64[m]", "weak int") == textwrap.dedent(
        """\
        2 = 0
        3 = 1
        4 = allocate f64[m]
        5 = the length m
        launch heat_0(0, 4, 5)
        6 = allocate f64[m]
        for 9 in range(2, 1, 3), beginning with 10, 11 = 4, 6
          (steps are launched as CUDA graphs of 32 steps where there are 66 or more)
          12 = the length m
          13 = the length max(m - 2, 0)
          14 = the length min(m, 1)
          launch heat_1(10, 11, 12, 13, 14)
          next step: 10, 11 = 11, 10
        7, 8 = 10, 11
        return 7
        """
    )
    assert "(steps are made by one native function where there are 18 or more)" in steps_of(heat, "cpu", "f64[m]", "weak int")


def test_branches_and_conditions_of_a_plan():
    said = steps_of(alternating, "cuda:sm_90", "f64[m]", "weak int")
    assert "  (steps are made by one native function where there are 6 or more)\n" in said
    first = [line.split()[0] for line in said.splitlines()]
    assert [word for word in first if word in ("if", "else", "end", "next")] == ["if", "else", "end", "next"]
    said = steps_of(until_settled, "cuda:sm_90", "f64[m]", "weak float")
    assert said.count("waited for") == 2 and "\nwhile " in said
    assert "(steps are made by one native function from the first few on)" in said
    said = steps_of(until_settled, "cpu", "f64[m]", "weak float")
    assert "(steps are made by one native function from the first few on)" in said


def test_a_loop_whose_kernels_take_other_numbers_in_each_step():
    for target in ("cuda:sm_90", "cpu"):
        said = steps_of(counted, target, "f64[m]", "weak int")
        assert "(steps are made by one native function where there are 18 or more)" in said


def test_explain_says_how_steps_are_made():
    told = explanation(pytocu.jit(heat).lower("f64[m]", "weak int"))
    line = heat.__code__.co_firstlineno + 2
    sentence = (
        f"the steps of `for _ in range(n)` (line {line}) are launched as CUDA graphs of 32 steps where there are 66 or more"
    )
    assert told.loops == (sentence,) and f"  loop: {sentence}\n" in str(told)
    for target in ("cuda:sm_90", "cpu"):
        told = explanation(pytocu.jit(alternating).lower("f64[m]", "weak int"), target)
        assert told.loops[0].endswith("are made by one native function where there are 6 or more")
    assert explanation(pytocu.jit(lambda x: x + 1).lower("f64[m]")).loops == ()


def test_why_a_loop_is_not_one_kernel() -> None:
    told = explanation(pytocu.jit(heat).lower("f64[m]", "weak int"))
    line = heat.__code__.co_firstlineno
    (one,) = told.apart
    assert (one.loop.line, one.at.line, one.expression) == (line + 2, line + 3, "u[2:]")
    assert one.text == "reads elements of u that other positions change" and one.help.startswith("nothing: each step has")
    assert f"  `for _ in range(n)` (line {line + 2}): `u[2:]` (line {line + 3}) reads elements of u" in str(told)


def rolled(u, n):
    for _ in range(n):
        u = u + 0.1 * (np.roll(u, 1) - u)
    return u


def normalised(u, n):
    for _ in range(n):
        u = u / u.sum()
    return u


def inserted(u, f, n):
    for _ in range(n):
        new = u.copy()
        new[1:-1] = 0.5 * u[1:-1] + f[1:-1]
        u = new + 1
    return u


def there_and_back(a, n):
    for _ in range(n):
        a[1:-1] = a[:-2] + a[2:]
        a[0] = a[1]


def sorted_each(a, n):
    for _ in range(n):
        a = np.sort(a) * 2
    return a


def of_two_shapes(a, b, n):
    for _ in range(n):
        a, b = a * 2 + b[0], b + a[0]
    return a, b


def inner(a, n):
    for _ in range(n):
        for _ in range(n):
            a = a + a[::-1]
        a = a / 2
    return a


def recorded(u, history):
    for n in range(len(history)):
        u = u - np.roll(u, 1)
        history[n] = u


def transposed(a, n):
    for _ in range(n):
        a = a.T + 1
    return a


def filtered(x, n):
    for _ in range(n):
        x = x + x[x > 0].sum()
    return x


@pytest.mark.parametrize(
    ("function", "types", "expression", "text", "help"),
    [
        (rolled, ("f64[m]", "weak int"), "np.roll(u, 1)", "reads elements of u that other positions", "one launch a step"),
        (normalised, ("f64[m]", "weak int"), "u.sum()", "needs all elements of the array", "before or after the loop"),
        (normalised, ("f64[m, k]", "weak int"), "u.sum()", "needs all elements of the array", "before or after the loop"),
        (inserted, ("f64[m]", "f64[m]", "weak int"), "new[1:-1]", "changes a part of an array that each step", "np.where"),
        (there_and_back, ("f64[m]", "weak int"), "a[:-2]", "reads elements of a that other positions change", "one launch"),
        (sorted_each, ("f64[m]", "weak int"), "np.sort(a)", "is computed by a library, of whole arrays", "before or after"),
        (of_two_shapes, ("f64[m]", "f64[k]", "weak int"), "b[0]", "reads elements of b that other positions", "one launch"),
        (alternating, ("f64[m]", "weak int"), "np.cumsum(u)", "needs all elements before each one", "a[:, j - 1]"),
        (until_settled, ("f64[m]", "weak float"), "np.abs(new - u).max()", "needs all elements", "inside of the loop"),
        (inner, ("f64[m]", "weak int"), "a[::-1]", "reads elements of a that other positions compute", "one launch a step"),
        (recorded, ("f64[m]", "f64[k, m]"), "np.roll(u, 1)", "reads elements of u that other positions", "one launch a step"),
        (transposed, ("f64[m, m]", "weak int"), "a.T", "reads elements of a that other positions compute", "one launch a step"),
        (filtered, ("f64[m]", "weak int"), "x[x > 0].sum()", "needs all elements of the array", "before or after"),
    ],
)
def test_reasons(function, types, expression, text, help):
    told = explanation(pytocu.jit(function).lower(*types))
    assert len(told.apart) == len(told.loops) and told.apart
    for one in told.apart:
        assert (one.expression, one.text[: len(text)]) == (expression, text) and help in one.help


def test_a_loop_that_is_one_kernel_has_no_reason() -> None:
    def sweep(a, b):
        for j in range(1, a.shape[1]):
            a[:, j] = a[:, j - 1] * b[j] + a[:, j]

    def settle(x, n):
        for _ in range(n):
            x = 0.5 * (x + 1 / x)
        return x

    for function, types in ((sweep, ("f32[n, m]", "f32[k]")), (settle, ("f64[m]", "weak int"))):
        told = explanation(pytocu.jit(function).lower(*types))
        assert told.apart == () and told.loops == () and "not one kernel" not in str(told)
