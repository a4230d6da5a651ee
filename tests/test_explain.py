"""``pytocu explain`` and ``f.explain``: kernels, bytes, refused fusions, dtypes and specialisations, as data and as words."""

from __future__ import annotations

import json
import linecache
import re
import sys

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import pytocu
from pytocu.cli.main import main
from pytocu.explain.collect import explanation
from pytocu.explain.dtypes import wide_values
from pytocu.explain.model import Bytes
from pytocu.explain.plan_text import plan_text
from pytocu.explain.schedules import expected
from pytocu.explain.traffic import added, number_of
from pytocu.guards import static_key
from pytocu.ir.dims import symbol
from pytocu.planning import launches
from pytocu.report.page import html_report
from pytocu.runtime.changes import key_text

HALF = np.float64(0.5)
N_STEPS = 3
N = symbol("n")


def chain(x):
    a = x * np.sqrt(2)
    b = a + 1
    return b


def relax(u):
    u[1:-1] = 0.5 * (u[2:] + u[:-2])
    return u


def told(function, *types, target="cuda:sm_90", **static):
    return explanation(pytocu.jit(function, static=tuple(static)).lower(*types, **static), target)


def causes(function, *types):
    return [(w.name, w.dtype, w.causes[0].kind, w.causes[0].text) for w in told(function, *types).wide]


# Why float64.


def test_the_chain_leads_to_the_literal():
    (wide,) = told(chain, "f32[n]").wide
    (cause,) = wide.causes
    assert (wide.name, wide.dtype) == ("b", "float64")
    assert cause.text == "np.sqrt(2)"
    assert cause.loc is not None and cause.loc.line == chain.__code__.co_firstlineno + 1
    assert [s.text for s in cause.steps] == ["x * np.sqrt(2)", "a + 1"]
    assert cause.help.startswith("write np.float32(np.sqrt(2))")


@pytest.mark.parametrize(
    ("function", "types", "expected"),
    [
        (lambda x: x * HALF, ("f32[n]",), ("the result", "float64", "constant", "HALF")),
        (lambda x, i: x + i, ("f32[n]", "i32[n]"), ("the result", "float64", "promotion", "x + i")),
        (lambda i: np.sin(i), ("i64[n]",), ("the result", "float64", "promotion", "np.sin(i)")),
        (lambda i: i / 2, ("i32[n]",), ("the result", "float64", "promotion", "i / 2")),
        (lambda i: i.mean(), ("i32[n]",), ("the result", "float64", "function", "i.mean()")),
        (lambda x: x.astype(np.float64), ("f32[n]",), ("the result", "float64", "conversion", "x.astype(np.float64)")),
        (lambda x: x + np.zeros(3), ("f32[3]",), ("the result", "float64", "function", "np.zeros(3)")),
        (lambda x, y: x + y, ("f32[n]", "f64[n]"), ("the result", "float64", "argument", "y")),
        (lambda x, k: x * k, ("f32[n]", "f64"), ("the result", "float64", "argument", "k")),
        (lambda z, x: z * x, ("c64[n]", "f64[n]"), ("the result", "complex128", "argument", "x")),
    ],
)
def test_causes(function, types, expected):
    assert causes(function, *types)[0] == expected


@pytest.mark.parametrize("types", [("f32[n]",), ("f16[n]",), ("i32[n]",)])
def test_what_is_not_wide_is_not_explained(types):
    assert told(lambda x: x * 2 + 1, *types).wide == ()


def accumulated(x, n):
    total = np.float64(0)
    for k in range(n):
        total = total + x[k]
    return total


def filled(x):
    out = np.empty(x.shape)
    out[:] = x * 2
    return out


@pytest.mark.parametrize(
    ("function", "types", "sentence", "help"),
    [
        (lambda x: x + np.zeros(3, np.float64), ("f32[3]",), "`np.zeros(3, np.float64)` asks for float64", "convert to"),
        (lambda x: x + np.ones(3, dtype=float), ("f32[3]",), "`np.ones(3, dtype=float)` asks for float64", "convert to"),
        (lambda x, y: x + np.zeros(3, y.dtype), ("f32[3]", "f64[3]"), "the argument y is float64", "pass y.astype(np.float32)"),
        (lambda x: np.concatenate([x, np.zeros(3)]), ("f32[n]",), "`np.zeros(3)` makes float64, because", "give"),
        (lambda x: np.dot(x, np.ones(3)), ("f32[3]",), "`np.ones(3)` makes float64, because", "give"),
        (lambda b: b * 1.5, ("bool[n]",), "NumPy computes `b * 1.5` of bool and Python's float in", "write b.astype("),
        (lambda x: x * np.arange(9), ("f32[9]",), "NumPy computes `x * np.arange(9)` of", "write np.arange(9).astype("),
        (
            lambda x, i: np.average(x, weights=i),
            ("f32[n]", "i64[n]"),
            "NumPy computes `np.average(x, weights=i)` of float32 and int64 in float64",
            "convert its operands with",
        ),
        (
            lambda x: np.interp(x, [0, 1], [0, 9]),
            ("f32[n]",),
            "NumPy computes `np.interp(x, [0, 1], [0, 9])` in float64, whatever it is given",
            "convert its result with astype(np.float32)",
        ),
        (filled, ("f32[n]",), "`np.empty(x.shape)` makes float64, because no dtype is given", "give it dtype=np.float32"),
        (
            accumulated,
            ("f32[n]", "weak int"),
            "`total` begins as a NumPy float64 (0.0), which does not adapt as a Python number does",
            "begin with a Python number",
        ),
    ],
)
def test_the_cause_is_the_true_one(function, types, sentence, help):
    (wide,) = told(function, *types).wide
    (cause,) = wide.causes
    assert cause.sentence.startswith(sentence)
    assert cause.help.startswith(help)


def test_every_cause_is_named_and_arguments_come_first():
    (wide,) = told(lambda x, y: x * HALF + y, "f32[n]", "f64[n]").wide
    assert [c.kind for c in wide.causes] == ["argument", "constant"]


def test_the_advice_helps():
    jitted = pytocu.jit(chain)
    help = jitted.lower("f32[n]")
    assert wide_values(help.function)
    assert wide_values(pytocu.jit(lambda x: x * np.float32(np.sqrt(2)) + 1).lower("f32[n]").function) == ()
    assert wide_values(pytocu.jit(lambda x, i: x + i.astype(np.float32)).lower("f32[n]", "i32[n]").function) == ()


def test_one_cause_of_several_names_is_told_once():
    def f(x):
        a = x * HALF
        b = a + 1
        c = a * b
        return c

    assert [w.name for w in told(f, "f32[n]").wide] == ["c"]


# Bytes.


def test_bytes_are_formulas_and_numbers():
    (kernel,) = told(lambda x, y: x + y, "f32[n]", "f64[n]").kernels
    assert kernel.bytes == Bytes(20 * N, None)
    (kernel,) = told(lambda x, y: x + y, "f32[10]", "f64[10]").kernels
    assert kernel.bytes == Bytes(200, 200)


@pytest.mark.parametrize(
    ("function", "read", "most"),
    [
        (lambda x: x[2:50] + 1, 48 * 4, False),
        (lambda x: x[::2] + 1, 50 * 4, False),
        (lambda x: x[1:] - x[:-1], 100 * 4, True),
        (lambda x: x[:10] + x[-10:], 20 * 4, True),
        (lambda x: x + x[0], 100 * 4, False),
        (lambda x: np.broadcast_to(x, (5, 100)) + 1, 100 * 4, False),
        (lambda x: x.sum(), 100 * 4, False),
    ],
)
def test_bytes_that_views_show(function, read, most):
    kernel = told(function, "f32[100]").kernels[0]
    assert (kernel.reads[0].bytes.number, kernel.reads[0].bytes.most) == (read, most)


def test_bytes_of_elements_that_are_read_by_number():
    (kernel,) = told(lambda x, i: x[i], "f32[1000]", "i64[10]").kernels
    assert {a.name: a.bytes.number for a in kernel.reads} == {"x": 40, "i": 80}


def test_amounts_add_up():
    assert added([Bytes(3 * N, None), Bytes(4, 4)]) == Bytes(3 * N + 4, None)
    assert number_of(3 * N, {"n": 2}) == 6


# Kernels, the graph, and fusions that were refused.


def test_the_graph_of_one_kernel():
    found = told(lambda x, y: (x + y, x - y), "f32[8]", "f32[8]")
    assert [(e.source, e.target) for e in found.edges] == [
        ("argument x", "kernel lambda_"),
        ("argument y", "kernel lambda_"),
        ("kernel lambda_", "result 0"),
        ("kernel lambda_", "result 1"),
    ]
    assert all(e.bytes.number == 32 for e in found.edges)
    assert found.refused == ()


def test_a_reduction_that_is_read_again():
    found = told(lambda x: (x - x.min()) / x.std(), "f32[100000]")
    reasons = {(r.first, r.second): r for r in found.refused}
    last = found.kernels[-1].name
    assert any("whole reduction" in r.reason for (_, second), r in reasons.items() if second == last)
    assert reasons[found.kernels[0].name, last].bytes.number >= 400000
    assert sum(e.target == "result 0" for e in found.edges) == 1


def test_results_of_other_shapes():
    found = told(lambda x, y: (x + 1, y * 2, x.T * 2), "f32[3, 5]", "f32[7]")
    reasons = {(r.first, r.second): (r.reason, r.bytes.number) for r in found.refused}
    assert reasons["lambda__0", "lambda__1"] == ("their iterations have the shapes (3,5) and (7,)", 0)
    assert reasons["lambda__0", "lambda__2"] == ("their iterations have the shapes (3,5) and (5,3)", 60)


def test_a_copy_for_a_change_in_place():
    found = told(relax, "f32[100]")
    (refused,) = found.refused
    assert (refused.first, refused.second) == ("relax", "relax_copy0")
    assert "other iterations read what it writes" in refused.reason
    assert refused.bytes.number == 2 * 98 * 4
    assert ("kernel relax_copy0", "result 0") in [(e.source, e.target) for e in found.edges]


def test_lines_of_inlined_functions_are_there():
    def inner(x):
        return np.exp(x)

    (kernel,) = told(lambda x: inner(x) + 1, "f32[n]").kernels
    assert kernel.lines[0].text == "return np.exp(x)"
    assert len(kernel.lines) == 2


@pytest.mark.parametrize("target", ["cuda:sm_80", "cuda:sm_90", "cpu"])
def test_registers_and_schedules(target):
    (kernel,) = told(lambda x: np.exp(x - x.max(1, keepdims=True)), "f32[64, 1000]", target=target).kernels
    assert kernel.schedule == "rows"
    assert kernel.lines and kernel.how and kernel.why_schedule
    if target == "cpu":
        assert (kernel.taken, kernel.expected) == (None, None)
    else:
        assert kernel.taken is not None and 0 < kernel.taken.registers < 256
        assert kernel.expected is not None and 0 < kernel.expected < 1


@pytest.mark.parametrize(
    ("function", "types", "how", "why"),
    [
        (lambda x, i: x[i] * 2, ("f32[n]", "i64[m]"), "one index over all elements", "what is chosen by positions is"),
        (lambda x: x + 1, ("f32[n]",), "neighbouring elements are read and written as vectors", "every operand is"),
        (
            lambda x: x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:],
            ("f32[n, m]",),
            "an index over rows and one over columns, blocks of 256 threads, a thread computes 4 elements of a column at once",
            "nothing is reduced",
        ),
    ],
)
def test_schedules_in_words(function, types, how, why):
    (kernel,) = told(function, *types).kernels
    assert how in kernel.how
    assert why in kernel.why_schedule


def test_what_nobody_changes_is_not_told():
    def shift(x):
        return x + 1

    told_again = told(lambda x: np.sin(shift(x)), "f32[n]")
    assert "compiled again when shift changes" in str(told_again)


def test_the_estimate_follows_what_limits():
    large, small = expected(1 << 30, 0.0)[0], expected(1 << 12, 0.0)[0]
    assert large is not None and small is not None and large > 0.9 > 0.1 > small
    assert expected(None, None) == (None, "")


def heat(u, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
    return u


def settle(charge, tolerance):
    new = np.zeros_like(charge)
    change = np.abs(charge).max() + tolerance
    while change > tolerance:
        old = new.copy()
        new[1:-1] = 0.5 * (old[2:] + old[:-2] + charge[1:-1])
        change = np.abs(new - old).max()
    return new


def test_kernels_of_a_loop_say_so():
    first, second = told(heat, "f32[n]", "weak int").kernels
    line = heat.__code__.co_firstlineno
    assert first.within == () and [(w.line, w.text) for w in second.within] == [(line + 2, "for _ in range(steps):")]
    assert [shown.line for shown in second.lines] == [line + 3]
    text = str(told(heat, "f32[n]", "weak int"))
    assert f"launched in each step of the loop `for _ in range(steps)` (line {line + 2})" in text
    assert "for n = " in text and second.supposed.startswith("n = ") and second.expected > 0.9


def test_kernels_of_a_loop_are_not_fused_for_a_reason_and_bytes():
    found = told(settle, "f64[1000]", "weak float")
    inside = [k.name for k in found.kernels if k.within]
    assert len(inside) == 2
    (pair,) = [r for r in found.refused if {r.first, r.second} == set(inside)]
    assert pair.reason and pair.bytes.number > 8000
    sources = {e.source for e in found.edges if e.target == f"kernel {inside[0]}"}
    assert "argument charge" in sources and any(s.startswith("kernel") for s in sources)


def doubled(x):
    largest = np.inf
    while largest > 1:
        x = 0.5 * np.roll(x, 1)
        largest = x.max()
    return x


def left(x, n):
    for _ in range(n):
        x = 0.5 * np.roll(x, 1)
        if x.max() < 1:
            break
    return x


@pytest.mark.parametrize(("function", "types"), [(doubled, ()), (left, ("weak int",))])
def test_a_loop_that_was_read_again_stands_in_its_own_line(function, types):
    found = told(function, "f64[n]", *types)
    line = function.__code__.co_firstlineno + (2 if function is doubled else 1)
    assert {k.within[0].line for k in found.kernels if k.within} == {line}
    assert found.apart[0].loop.line == line


def test_the_first_kernel_of_all_has_no_reason():
    first, second, third = told(lambda x, y: (x + 1, y + 1, y.sum()), "f64[n]", "f64[m]").kernels
    assert first.why == ""
    assert second.why == "its iterations have the shape (m,), and those of earlier kernels have others"
    assert third.why.startswith("it reduces or scans rows, which are shared by threads, and earlier kernels go element")


def test_a_loop_of_unknown_length_is_estimated_for_one_step():
    def escape(x, n):
        y = x
        for _ in range(n):
            y = y * y + x
        return y

    found = told(escape, "f32[10000000]", "weak int")
    (kernel,) = found.kernels
    # 80 MB take as long as about 640 million operations; a step has two of each element.
    assert (round(kernel.expected, 1), kernel.limited_by, kernel.steps, kernel.within) == (0.9, "memory", 32, ())
    line = escape.__code__.co_firstlineno + 2
    assert f"for one step of `for _ in range(n)` (line {line}), limited by memory; by arithmetic from 32 steps on" in str(found)


def test_steps_that_are_known_are_counted():
    def escape(x):
        y = x
        for _ in range(200):
            y = y * y + np.sqrt(x)
        return y * 2, y.sum()

    found = told(escape, "f32[10000000]")
    first, *_ = found.kernels
    assert (first.limited_by, first.loops, first.steps) == ("arithmetic", (), 0)
    (again,) = [one for one in found.repeated if one.expression.startswith("for")]
    assert (again.operations, again.loops, again.cheaper) == (200 * 10 * 10**7, (), "stored")


@pytest.mark.parametrize("text", ["x - np.nanmean(x)", "x.mean(where=x > 0) * x", "x[x > 1].mean() + x"])
def test_numbers_that_a_function_has_of_its_own_are_no_cause(text):
    linecache.cache["causes.py"] = (0, None, [f"f = lambda x: {text}\n"], "causes.py")
    names = {"np": np}
    exec(compile(f"f = lambda x: {text}\n", "causes.py", "exec"), names)
    (wide,) = told(names["f"], "f64[n]").wide
    assert [cause.kind for cause in wide.causes] == ["argument"]


def test_why_a_loop_is_float64():
    def grow(x, n):
        total = np.zeros(x.shape)
        for k in range(n):
            total = total + x * k
        return total

    (wide,) = told(grow, "f32[n]", "weak int").wide
    (cause,) = wide.causes
    assert cause.sentence == "`np.zeros(x.shape)` makes float64, because no dtype is given"
    assert (cause.steps[-1].text, cause.steps[-1].where) == ("total", "behind the loop")


def test_why_a_branch_in_a_loop_is_float64():
    def grow(x, n):
        for k in range(n):
            if k > 2:
                x = x + np.float64(1)
        return x

    (wide,) = told(grow, "f64[n]", "weak int").wide
    assert [c.kind for c in wide.causes] == ["argument", "constant"]
    assert wide.causes[1].help.startswith("write np.float32(1)")
    assert "behind the branches" in [s.where for s in wide.causes[1].steps]


def test_what_is_like_an_argument_is_wide_because_the_argument_is():
    (wide,) = told(lambda x: np.zeros_like(x) + 1, "f64[n]").wide
    (cause,) = wide.causes
    assert (cause.kind, cause.text, cause.help) == ("argument", "x", "pass x.astype(np.float32)")


def test_a_cause_is_told_once():
    def twice(x):
        y = np.linspace(0, 1, 5) * x
        z = y + 1
        return z * 2

    (wide,) = told(twice, "f32[5]").wide
    (cause,) = wide.causes
    assert cause.sentence == "`np.linspace(0, 1, 5)` makes float64, because no dtype is given"


# Specialisations.


def test_why_a_call_was_compiled_again():
    f = pytocu.jit(chain)
    x = np.ones(3, np.float32)
    assert f.explain(x).recompiled is None
    f(x)
    first = f.explain(x).recompiled
    assert (first.number, first.of, first.changes) == (1, 1, ())
    f(x.astype(np.float64))
    second = f.explain(x.astype(np.float64)).recompiled
    assert [str(c) for c in second.changes] == ["dtype of argument x: f64, was f32"]
    assert second.changes[0].help == "convert to one dtype before the call"
    missing = f.explain(x.astype(np.float16)).recompiled
    assert missing.sentence.startswith("such a call would be compiled for")
    assert f.explain(x).recompiled.number == 1
    assert len(f.specializations) == 2


def test_a_length_of_one_is_the_reason():
    f = pytocu.jit(lambda x, y: x + y)
    f(np.ones(3), np.ones(3))
    f(np.ones(3), np.ones(1))
    (change,) = f.explain(np.ones(3), np.ones(1)).recompiled.changes
    assert change.fact == "axes of length 1 of argument y"
    assert (change.before, change.now) == ("none", "axis 0")


def test_a_captured_value_is_the_reason():
    global HALF
    f = pytocu.jit(lambda x: x * HALF)
    f(np.ones(3))
    kept = HALF
    HALF = np.float64(0.25)
    try:
        f(np.ones(3))
        (change,) = f.explain(np.ones(3)).recompiled.changes
    finally:
        HALF = kept
    assert str(change) == "captured value HALF: np.float64(0.25), was np.float64(0.5)"


def test_a_captured_value_that_changes_is_the_reason_before_the_call_too():
    global HALF
    f = pytocu.jit(lambda x: x * HALF)
    f(np.ones(3))
    kept = HALF
    HALF = np.float64(0.25)
    try:
        (change,) = f.explain(np.ones(3)).recompiled.changes
    finally:
        HALF = kept
    assert str(change) == "captured value HALF: np.float64(0.25), was np.float64(0.5)"


def test_what_other_code_captures_is_not_named_beside_the_argument_that_leads_there():
    def choose(x, mode):
        return x * HALF if mode == "half" else x + N_STEPS

    f = pytocu.jit(choose)
    f(np.ones(3), "half")
    f(np.ones(3), "steps")
    (change,) = f.explain(np.ones(3), "steps").recompiled.changes
    assert str(change) == "value of argument mode: 'steps', was 'half'"


def test_memory_that_arguments_share_is_the_reason():
    def into(u, v):
        u[1:] = v[:-1]

    f = pytocu.jit(into)
    u = np.arange(9.0)
    f(u, np.arange(9.0))
    f(u, u)
    (change,) = f.explain(u, u).recompiled.changes
    assert str(change) == "memory that arguments share with a changed one: u and v are one array, was none"
    f(u[:5], u[3:8])
    (change,) = f.explain(u[:5], u[3:8]).recompiled.changes
    assert change.now == "u and v overlap"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1, "1"),
        (-0.0, "-0.0"),
        (float("nan"), "nan"),
        (1 + 2j, "1.0 + 2.0j"),
        (("a", [1, None]), "('a', [1, None])"),
        (np.float32(2), "np.float32(2.0)"),
        (np.dtype("f4"), "dtype('float32')"),
        (np.sin, "sin"),
        (np, "numpy"),
        (chain, "chain"),
        ({1: 2}, "a dict"),
        (object(), "an object"),
    ],
)
def test_captured_values_are_shown(value, text):
    assert key_text(static_key(value)) == text


def test_methods_are_explained():
    class Scale:
        k = 2.0

        @pytocu.jit
        def by(self, x):
            return x * self.k

    assert len(Scale().by.explain(np.ones(3)).kernels) == 1


# Words.


def test_the_words_of_a_whole_explanation():
    text = str(told(relax, "f32[n]", target="cpu"))
    line = relax.__code__.co_firstlineno + 1
    assert text == f"""\
relax(u: f32[n]) for cpu, llvm: 2 kernels

kernel relax
  {line}: u[1:-1] = 0.5 * (u[2:] + u[:-2])
  reads u f32[n] (at most 4*n bytes)
  writes out f32[max(n - 2, 0)] (4*max(n - 2, 0) bytes)
  at most 4*max(n - 2, 0) + 4*n bytes in all
  schedule rows: the last axis is an inner loop of vector instructions; the others are spread over threads
  because nothing is reduced, and every operand is read along the axis in which the result is written

kernel relax_copy0
  {line}: u[1:-1] = 0.5 * (u[2:] + u[:-2])
  reads out f32[max(n - 2, 0)] of relax (4*max(n - 2, 0) bytes)
  writes u f32[max(n - 2, 0)] (4*max(n - 2, 0) bytes)
  8*max(n - 2, 0) bytes in all
  schedule rows: the last axis is an inner loop of vector instructions; the others are spread over threads
  because nothing is reduced, and every operand is read along the axis in which the result is written
  a kernel of its own: other iterations read what it writes, so all are computed before

not fused
  relax_copy0 is not part of relax: other iterations read what it writes, so all are computed before; this costs \
8*max(n - 2, 0) bytes"""


def test_html_and_colours_say_the_same():
    found = told(chain, "f32[n]")
    plain = [line.strip() for line in str(found).splitlines() if line]
    page = found._repr_html_()
    assert page.startswith("<div") and page.endswith("</div>")
    assert page.count("<h4>") == 3
    assert "x * np.sqrt(2)" in page
    pytest.importorskip("rich", reason="colours need rich")
    assert [line.strip() for line in found.__rich__().plain.splitlines() if line] == plain


def test_html_is_escaped():
    assert "<b" not in told(lambda x, b: x <b, "f32[n]", "f32[n]")._repr_html_()


def test_a_function_without_kernels():
    assert "no kernel" in str(told(lambda x: x.T, "f32[n, m]"))


# What users of library calls, loops and run-time lengths see.


def test_library_calls_have_lines_operands_and_readers():
    def ranks(x, k):
        order = np.argsort(x)
        return order[-3:], np.median(x) + np.histogram2d(k, k, bins=8, range=((0, 1), (0, 1)))[0]

    found = told(ranks, "f32[n]", "i64[n]")
    line = ranks.__code__.co_firstlineno
    assert {(c.name, c.at.line - line) for c in found.library_calls} == {("argsort", 1), ("sort", 2), ("bincount", 2)}
    text = str(found)
    assert f"library call: np.argsort (line {line + 1}) of x f32[n] (4*n bytes), computed by the library of" in text
    assert "reads order i64[n] of np.argsort (" in text
    assert "it reads what np.argsort computes, which is called before" in text
    assert any(e.source.startswith("kernel") and e.target.startswith("library") for e in found.edges)
    assert "= np.bincount(" in plan_text(pytocu.jit(ranks).lower("f32[n]", "i64[n]").compile("cuda:sm_90").plan)


def test_a_library_call_between_two_kernels_is_why_they_are_two():
    (refused,) = told(lambda x: np.sort(x * 2) + x, "f32[n]").refused
    assert refused.reason == "it reads what np.sort computes, a call between them"


def test_functions_of_numpy_are_not_captured_values():
    assert told(lambda a, b: np.linalg.multi_dot([a, b]), "f32[n, k]", "f32[k, m]").facts == ()
    assert told(lambda x: sliding_window_view(x, 3).sum(axis=1), "f32[n]").facts == ()


@pytest.mark.parametrize(
    ("function", "types", "sentence"),
    [
        (lambda x, y: np.histogram2d(x, y, bins=4)[0], ("f32[n]", "f32[n]"), "in float64, whatever it is given"),
        (lambda k, x: np.bincount(k, weights=x), ("i64[n]", "f32[n]"), "in float64, whatever it is given"),
    ],
)
def test_what_is_always_wide_is_not_told_to_be_given_a_dtype(function, types, sentence):
    (cause,) = told(function, *types).wide[0].causes
    assert sentence in cause.sentence
    assert cause.help == "convert its result with astype(np.float32), if that is precise enough"


def test_operands_that_einsum_converts_are_no_cause():
    found = told(lambda q, v: np.einsum("qk,kd->qd", q * np.float64(2), v), "f32[8, 8]", "f32[8, 8]")
    assert [c.text for c in found.wide[0].causes] == ["np.float64(2)"]


def test_ints_of_run_time_have_their_names():
    found = told(lambda n: np.ones((n, 2 * n), np.float32), "weak int")
    (kernel,) = found.kernels
    assert str(kernel.bytes.formula) == "8*n*n"
    assert "_above_" not in str(found) and "_below_" not in str(found)
    assert kernel.expected > 0.9 and kernel.supposed.startswith("n = ")


def test_a_few_elements_that_are_read_by_number_are_few_bytes():
    row = told(lambda x: x[np.argmax(x[:, 0])], "f32[n, 3]")
    assert row.kernels[-1].reads[0].bytes == Bytes(12, 12, False)
    rows = told(lambda x: x[np.argmax(x[:, 0], keepdims=True)], "f32[n, 3]")
    assert rows.kernels[-1].reads[0].bytes == Bytes(12, 12, True)


def test_a_kernel_that_is_launched_at_several_places_is_told_once():
    def smooth(u, n):
        for _ in range(n):
            u[1:-1] = 0.5 * (u[2:] + u[:-2])
        return u

    text = str(told(smooth, "f32[n]", "weak int"))
    assert text.splitlines()[0].endswith("2 kernels")
    assert text.count("kernel smooth_1\n") == 1
    assert "launched at 3 places of the plan, of which this is the first" in text
    assert "a kernel of its own: it copies the last step into the argument, where the number of steps is odd" in text


def test_a_kernel_that_begins_a_loop_says_so():
    first, *_ = told(left, "f64[n]", "weak int").kernels
    assert first.why == "it puts what a loop begins with into memory of its own, which the steps change"


# What several kernels compute.


def shares(x):
    e = np.exp(x - x.min(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def test_what_is_computed_in_two_kernels():
    found = told(shares, "f64[3, 400000]")
    (one,) = found.repeated
    line = shares.__code__.co_firstlineno + 1
    assert (one.expression, one.part, one.at.line) == ("np.exp(x - x.min(axis=1, keepdims=True))", False, line)
    assert one.kernels == ("shares_2", "shares_4") and one.type == "f64[3, 400000]"
    # An exponential counts as 20 operations and the difference as one; stored, it is written and read, and x and
    # the three minima are read once less.
    elements = 3 * 400000
    assert (one.operations, one.time, one.cheaper) == (21 * elements, 21 * elements // 10, "again")
    assert (one.stored.number, one.spared.number) == (2 * 8 * elements, 8 * elements + 3 * 8)
    sentences = (
        f"`{one.expression}` (line {line}) is computed in shares_2 and shares_4: 25.2 million operations each time",
        "stored, it would cost 19.2 MB, and 9.6 MB of what it is made of would not be read; computing it again takes less time",
    )
    for text in (str(found), found._repr_html_(), html_report(pytocu.jit(shares).lower("f64[3, 400000]"))):
        assert "computed more than once" in text and all(sentence in text for sentence in sentences)


def test_a_result_that_another_kernel_needs_is_read():
    found = told(lambda x: (np.exp(x), np.exp(x[:, ::2]) + 1, np.exp(x)[::2]), "f32[64, 32]")
    assert not found.repeated
    assert found.kernels[2].why == "it reads elements that an earlier kernel stores, so that they are computed once"


def test_long_work_is_stored_and_what_is_about_as_long_is_told():
    def work(x, rounds):
        y = x
        for _ in range(rounds):
            y = np.sin(np.exp(y))
        return y.sum(axis=0), y.sum(axis=1)

    assert not told(lambda x: work(x, 12), "f32[4096, 4096]").repeated
    (one,) = told(lambda x: work(x, 1), "f32[4096, 4096]").repeated
    assert one.cheaper == "neither" and one.operations == 40 * 4096**2


def test_what_changed_in_between_is_not_the_same():
    def changed(x, y):
        first = np.sqrt(x).sum()
        x[:] = y
        return first, np.sqrt(x) + 1

    assert told(changed, "f64[n]", "f64[n]").repeated == ()

    def steps(x, n):
        for _ in range(n):
            x = np.sqrt(x + x.sum())
        return np.sqrt(x), x.sum()

    assert told(steps, "f64[n]", "weak int").repeated == ()


def test_what_a_loop_does_not_change_is_computed_in_each_step():
    def only(u, w, steps):
        for _ in range(steps):
            u = u / u.sum() + np.exp(w)
        return u

    found = told(only, "f32[n]", "f32[n]", "weak int")
    (one,) = found.repeated
    assert (one.expression, one.before, one.cheaper, len(one.kernels)) == ("np.exp(w)", True, "stored", 1)
    verdict = f"from {one.steps} steps on that would take less time\n    help: compute it before the loop"
    line = only.__code__.co_firstlineno + 1
    place = f"is computed in {one.kernels[0]} in each step of `for _ in range(steps)` (line {line}): 20*n operations"
    assert one.steps > 1 and verdict in str(found) and place in str(found)

    def stored(u, w, steps):
        e = np.exp(w)
        for _ in range(steps):
            u = u / u.sum() + e
        return u

    assert told(stored, "f32[n]", "f32[n]", "weak int").repeated == ()

    def changed(u, w, steps):
        for _ in range(steps):
            u = u / u.sum() + np.exp(w)
            w += u.sum()
        return u

    assert told(changed, "f32[n]", "f32[n]", "weak int").repeated == ()

    def before_too(u, w, steps):
        s = np.exp(w).sum()
        for _ in range(steps):
            u = u / u.sum() + np.exp(w)
        return u + s

    (one,) = told(before_too, "f32[n]", "f32[n]", "weak int").repeated
    assert one.cheaper == "stored" and not one.before and [len(lines) for lines in one.rounds] == [0, 1]


def test_two_kernels_of_steps_whose_number_only_a_run_tells():
    def rounds(x, c, n):
        y = x
        for k in range(n):
            y = y * x + k
        z = x
        for k in range(c.shape[0]):
            z = z * x + c[k]
        return -y, y.sum(), -z, z.sum()

    found = told(rounds, "f32[n]", "f32[m]", "weak int")
    line = rounds.__code__.co_firstlineno + 2
    counts = {str(one.operations) for one in found.repeated}
    assert counts == {f"2*n*steps_of_line_{line}", "2*m*n"}
    assert f"how many steps `for k in range(n)` (line {line}) makes is known only at run time" in str(found)


def test_a_branch_in_a_loop_of_each_element_is_no_loop():
    @pytocu.vectorize
    def collatz(n, most):
        for step in range(most):
            if n == 1:
                return step
            n = n // 2 if n % 2 == 0 else 3 * n + 1
        return most

    def longest(n, most):
        steps = collatz(n, most)
        return -steps, steps.max()

    found = told(longest, "i64[n]", "weak int")
    (one,) = [one for one in found.repeated if "collatz" in one.expression]
    counts = set(re.findall(r"steps_of_line_\d+", str(one.operations)))
    assert len(counts) == len(one.loops) == 1 and "for step in range" in one.loops[0].text


def test_what_two_kernels_of_a_step_compute():
    def steps(x, c, n):
        for _ in range(n):
            y = np.sqrt(np.abs(x + np.roll(x, 1)))
            x = y * c + np.cumsum(y[::-1])
        return x

    found = told(steps, "f64[n]", "f64[n]", "weak int")
    assert all({k.name for k in found.kernels if k.within} >= set(one.kernels) for one in found.repeated)


def test_parts_of_an_expression_say_so():
    found = told(lambda x: (x - x.mean(axis=0), x.std(axis=0)), "f32[100000, 64]")
    assert all(one.part for one in found.repeated if one.expression == "x.std(axis=0)")
    found = told(lambda x: ((np.sqrt(x) + 1).sum(axis=0), (np.sqrt(x) + 1).sum(axis=1)), "f32[20000, 64]")
    assert [(one.expression, one.part) for one in found.repeated] == [("np.sqrt(x) + 1", False)]
    assert told(lambda x: (x - x.mean(axis=0)).std(axis=0), "f32[200000, 64]").repeated == ()


# Names, sources and threads.


def test_a_temporary_is_named_with_the_kernel_that_made_it():
    found = told(lambda x: x / x.sum(), "f32[100000]")
    assert [a.source for k in found.kernels for a in k.reads] == [
        "argument x", "kernel lambda__0", "argument x", "kernel lambda__1",
    ]  # fmt: skip
    assert "reads out f32[7] of lambda__0 (28 bytes)" in str(found)


def test_kernels_of_the_same_code_say_so():
    def twice(x):
        for _ in range(2):
            x = x / x.sum()
        return x

    found = told(twice, "f32[100000]")
    assert {k.code for k in found.kernels} > {""}
    for kernel in found.kernels:
        assert not kernel.code or f"its code is that of {kernel.code}, compiled once" in str(found)


def test_the_finished_block_is_told_and_few_threads_are_no_copy():
    def total(u):
        return (u[1:] * u[:-1]).max()

    (kernel,) = told(total, "f64[n]").kernels
    assert kernel.limited_by == "threads" and kernel.expected < 0.05
    (launch,) = launches(pytocu.jit(total).lower("f64[n]").host())
    assert f"blocks of {launch.attr('block')} threads" in kernel.how
    assert f"shared by {launch.attr('block')} threads" in kernel.how


def test_many_pairs_of_kernels_are_counted():
    def steps(u):
        for _ in range(6):
            u = u / u.sum()
        return u

    text = str(told(steps, "f64[400000]"))
    assert text.count("is not part of") == 10
    assert "other pairs of kernels cost no more than these" in text


# The command.

SOURCE = "import numpy as np\n\n\ndef scaled(x):\n    return x * np.sqrt(2)\n"


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    (tmp_path / "prog.py").write_text(SOURCE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTOCU_DEBUG", raising=False)
    monkeypatch.setattr(sys, "path", list(sys.path))

    def run(*words):
        code = main(["explain", *words])
        out, err = capsys.readouterr()
        assert "Traceback" not in err
        return code, out, err

    return run


def test_the_command(command):
    code, out, err = command("prog.py:scaled", "--args", "f32[1000]")
    assert (code, err) == (0, "")
    assert "12.0 kB in all" in out
    assert "the result is float64: `np.sqrt(2)` is a NumPy float64" in out
    code, out, _ = command("prog.py:scaled", "--args", "f32[n]", "--json", "--target", "cpu")
    data = json.loads(out)
    assert data["kernels"][0]["bytes"] == {"formula": "12*n", "number": None, "most": False}
    assert data["wide"][0]["causes"][0]["kind"] == "constant"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("prog.py:scale",), "prog.py has no 'scale': did you mean scaled?"),
        (("pro.py:scaled",), "there is no file 'pro.py': did you mean prog.py?"),
        (("prog.py:scaled",), "scaled(x) needs a type for x"),
        (("prog.py:scaled", "--args", "f33[n]"), "--args, x: 'f33[n]' is not a type: did you mean f32[n]?"),
        (("prog.py:scaled", "--args", "f32[n]", "--target", "cda"), "'cda' is not a target"),
        (("prog.py:scaled", "--args", "f32[n]", "--backend", "nvm"), "there is no backend 'nvm' for cuda: did you mean nvvm?"),
        ((), "the following arguments are required: FILE.py:FUNCTION"),
    ],
)
def test_bad_input(command, words, sentence):
    code, out, err = command(*words)
    assert (code, out) == (2, "")
    assert err.startswith(f"pytocu: {sentence}")
    assert err.count("\n") == 1


def test_what_is_converted_behind_its_computation_is_told():
    def halves(x):
        y = np.sqrt(x).astype(np.float32)
        return y.sum(axis=0), y.sum(axis=1)

    (one,) = told(halves, "f64[20000, 64]").repeated
    assert (one.expression, one.type, one.part) == ("np.sqrt(x).astype(np.float32)", "f32[20000, 64]", False)


def test_steps_that_are_written_out_are_told_together():
    def steps(u):
        for _ in range(9):
            u = u / u.sum()
        return u

    found = told(steps, "f64[400000]")
    text = str(found)
    assert len(found.kernels) == 19
    assert text.count("\nkernel ") == 2 * 2 + 2 + 1
    assert "and 6 more of the same lines and schedule, up to steps_" in text
    assert "MB in all of them" in text


# What is said of sides, of results without a name, and of kernels of one shape.


def either(x, y, flag):
    if x.sum() > 0:
        x = x - x.mean() + y
    else:
        x = x * x.max() + y
    return x if flag else -x


def leaving(x, y):
    for _ in range(10):
        x = x * 2
        if x.sum() > 100:
            return x
    return x + y


def shifted(x):
    x -= x.mean(axis=0)
    x /= x.std(axis=0)


def test_a_launch_says_on_which_side_of_a_branch_it_is():
    text = str(told(either, "f64[n]", "f64[n]", "weak bool"))
    line = either.__code__.co_firstlineno + 1
    assert f"launched where the condition of `if x.sum() > 0` (line {line}) holds" in text
    assert f"launched where the condition of `if x.sum() > 0` (line {line}) does not hold" in text
    assert "so `x if flag else -x` is float64 behind the branches" in text


def test_a_loop_that_is_left_has_the_line_of_its_statement():
    text = str(told(leaving, "f64[n]", "f64[n]"))
    line = leaving.__code__.co_firstlineno + 1
    assert f"launched in each step of the loop `for _ in range(10)` (line {line})" in text
    assert f"so `x` is float64 behind the loop (line {line})" in text
    assert f"so the result is float64 behind the branches (line {line})" in text


def test_a_copy_into_an_argument_has_the_line_of_the_change():
    copies = [k for k in told(shifted, "f32[n, 64]").kernels if "copy" in k.name]
    assert [line.text for kernel in copies for line in kernel.lines] == ["x /= x.std(axis=0)"]


def slopes(z):
    gy, gx = np.gradient(z)
    return np.sqrt(gx * gx + gy * gy)


def test_lengths_are_those_of_long_arrays_where_none_are_known():
    """The ends of a gradient are one element each where there are two: no call has a gradient for which they are not."""
    found = told(slopes, "f32[n, m]")
    assert found.facts == ("n is above 1", "m is above 1")
    jitted = pytocu.jit(slopes)
    jitted.precompile("f32[n, m]")
    jitted(np.ones((10, 20), np.float32))
    assert len(jitted.specializations) == 1


def test_an_int_that_is_a_length_counts_no_steps():
    text = str(told(lambda n: np.sqrt(np.arange(n + 1)) / n, "weak int"))
    assert "is expected for" in text and "steps" not in text


def edges(x, bins):
    return np.histogram(x, bins, (0.0, 1.0))[1]


def test_constants_of_a_function_are_no_operands():
    text = str(told(edges, "f64[n]", "weak int"))
    assert "np.histogram" in text and "which does not adapt" not in text and "float64, whatever it is given" in text


def moved(x, y, steps):
    for _ in range(steps):
        d = np.exp(x[:, None] - y).sum(1)
        for k in range(len(x)):
            if d[k] > 1:
                y[k] = d.sum()
    return y


def test_what_loops_in_a_loop_change_is_not_the_same_in_its_steps():
    found = told(moved, "f32[n]", "f32[n]", "weak int")
    assert not found.repeated


def test_kernels_of_one_shape_that_reduce_other_axes():
    found = told(lambda x: (x.cumsum(axis=1), x.sum()), "f32[n, m]")
    assert found.kernels[1].why == "it reduces or scans along other axes than earlier kernels"


def test_a_kernel_that_reduces_nothing_has_no_other_axes():
    def shifted(x, y):
        x += y
        y[1:] = x[:-1]
        return x.sum()

    found = told(shifted, "f32[n]", "f32[n]")
    text = "it goes element by element over the shape (n,), and earlier kernels over other shapes, or they reduce or scan rows"
    assert found.kernels[-1].why == text


def test_parts_of_arguments_are_as_the_function_writes_them():
    def total(d, p_w):
        return d["w"] * p_w + d["k"][0]

    text = str(told(total, "{'w': f64[n], 'k': [f32[n]]}", "f32[n]"))
    assert text.startswith("total(d['w']: f64[n], d['k'][0]: f32[n], p_w: f32[n]) for ")
    reads = next(line for line in text.splitlines() if line.startswith("  reads"))
    assert all(f"{name} " in reads for name in ("d['w'] f64[n]", "d['k'][0] f32[n]", "p_w f32[n]"))


def test_errors_in_branches_and_loops_are_noted() -> None:
    def f(x, n):
        if n > 3:
            raise TypeError("too many")
        for _ in range(n):
            x = np.sine(x)
        if n == 2:
            return {"a": x}["b"]
        return x[n]

    line = f.__code__.co_firstlineno
    told = pytocu.jit(f).explain("f32[m]", "weak int")
    assert told.notes[:2] == (
        f"a call that comes to line {line + 4} raises AttributeError: module 'numpy' has no attribute 'sine'",
        f"a call that comes to line {line + 6} raises KeyError: 'b'",
    )
    assert not any("TypeError" in note or "IndexError" in note for note in told.notes)
