"""How the steps of loops are made, as `pytocu explain` and the plan's text say it."""

from __future__ import annotations

import textwrap

import numpy as np

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
    assert "  (steps are made by Python: which branch is taken differs from step to step)\n" in said
    first = [line.split()[0] for line in said.splitlines()]
    assert [word for word in first if word in ("if", "else", "end", "next")] == ["if", "else", "end", "next"]
    said = steps_of(until_settled, "cuda:sm_90", "f64[m]", "weak float")
    assert said.count("waited for") == 2 and "\nwhile " in said
    assert "(steps are made by Python: whether another one follows is read from the GPU behind each)" in said
    said = steps_of(until_settled, "cpu", "f64[m]", "weak float")
    assert "(steps are made by one native function from the first few on)" in said


def test_a_loop_whose_kernels_take_other_numbers_in_each_step():
    said = steps_of(counted, "cuda:sm_90", "f64[m]", "weak int")
    assert "(steps are made by Python: a kernel takes a number that differs from step to step)" in said
    said = steps_of(counted, "cpu", "f64[m]", "weak int")
    assert "(steps are made by one native function where there are 18 or more)" in said


def test_explain_says_how_steps_are_made():
    told = explanation(pytocu.jit(heat).lower("f64[m]", "weak int"))
    sentence = "the steps of `for _ in range(n)` (line 16) are launched as CUDA graphs of 32 steps where there are 66 or more"
    assert told.loops == (sentence,) and f"  loop: {sentence}\n" in str(told)
    told = explanation(pytocu.jit(alternating).lower("f64[m]", "weak int"), "cpu")
    assert told.loops[0].endswith("are made by Python: which branch is taken differs from step to step")
    assert explanation(pytocu.jit(lambda x: x + 1).lower("f64[m]")).loops == ()
