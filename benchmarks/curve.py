"""Time of the front end and the passes against the length of the function; needs no GPU and no compiler."""

from __future__ import annotations

import linecache
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import pytocu
from benchmarks.report import Table, progress

STATEMENTS = (10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
LOOP_STATEMENTS = (10, 20, 50, 100, 200, 500, 1000)
LOOP_TYPES = ("f32[n]", "f32[n]", "weak int")
_LOOP_FORMS = (
    "x[i] = x[i - 1] * 1.5 + y[i]",
    "t = y[i] - x[i - 1]",
    "y[i] = np.where(t > 0, t, x[i])",
    "t = t * y[i - 1] + 1",
)
"""Statements of 2 to 3 operations at positions of run time, half of which change an array."""

TWENTY_TYPES = ("f32[n]", "f32[n]", "weak float")
_FORMS = (
    "t = t * 1.5 + y",
    "t = np.sqrt(t * t + 1)",
    "t = np.where(t > y, t - y, t + a)",
    "t = -t / 3",
)
"""Statements of 1 to 4 operations, 2.5 in the mean."""


def twenty_operations(x, y, a):
    t = x * a + y
    t = np.sqrt(t * t + 1)
    t = np.where(t > y, t - y, t + a)
    u = np.exp(-t) * 0.5 + np.abs(x)
    v = np.maximum(u, t) - np.minimum(u, y)
    return (u * v + t) / (1 + v)


def function_of(statements: int) -> Callable[..., Any]:
    """A function of so many statements, with source that the front end can read.

    Examples
    --------
    >>> low = pytocu.jit(function_of(10)).lower(*TWENTY_TYPES)
    >>> len(low.kernels)
    1
    """
    body = ["t = x * a", *(_FORMS[n % len(_FORMS)] for n in range(statements - 2)), "return t"]
    return _compiled("long_function", ("x", "y", "a"), body)


def loop_of(statements: int) -> Callable[..., Any]:
    """A function with a loop of run time of so many statements.

    Examples
    --------
    >>> len(pytocu.jit(loop_of(10)).lower(*LOOP_TYPES).kernels)
    1
    """
    body = ["for i in range(1, n):", *(f"    {_LOOP_FORMS[k % len(_LOOP_FORMS)]}" for k in range(statements))]
    return _compiled("long_loop", ("x", "y", "n"), body)


def _compiled(name: str, parameters: Sequence[str], body: Sequence[str]) -> Callable[..., Any]:
    text = "\n".join([f"def {name}({', '.join(parameters)}):", *(f"    {line}" for line in body)]) + "\n"
    file = f"<{name}, {len(body)} lines>"
    # Entries without a time stay when linecache looks for files that changed.
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"np": np}
    exec(compile(text, file, "exec"), namespace)
    return namespace[name]


def measure(function: Callable[..., Any], types: Sequence[str], statements: int, repeat: int) -> dict[str, Any]:
    """Milliseconds of the front end and of the passes, those of the fastest run."""
    best: dict[str, float] = {}
    for _ in range(repeat):
        start = time.perf_counter()
        lowered = pytocu.jit(function).lower(*types)
        middle = time.perf_counter()
        lowered.host("cuda:sm_90")
        end = time.perf_counter()
        total = (end - start) * 1e3
        if not best or total < best["total ms"]:
            best = {"front end ms": (middle - start) * 1e3, "passes ms": (end - middle) * 1e3, "total ms": total}
    return {"statements": statements} | best | {"ms a statement": best["total ms"] / statements}


def _said(found: tuple[float, float, float]) -> str:
    slope, intercept, exponent = found
    return f"{slope:.3f} ms a statement + {intercept:.1f} ms; the upper half grows with the power {exponent:.2f} (1 is linear)"


def fit(rows: Sequence[dict[str, Any]]) -> tuple[float, float, float]:
    """Slope (ms a statement), intercept (ms) and exponent of the growth.

    The exponent is the slope of the logarithms over the upper half: 1 is linear, 2 quadratic.
    """
    sizes = np.array([r["statements"] for r in rows], float)
    times = np.array([r["total ms"] for r in rows], float)
    # Weighted by 1/time, so that every row counts alike and not the largest alone.
    slope, intercept = np.polyfit(sizes, times, 1, w=1 / times)
    upper = len(sizes) // 2
    exponent = np.polyfit(np.log(sizes[upper:]), np.log(times[upper:]), 1)[0]
    return float(slope), float(intercept), float(exponent)


def run(sizes: Sequence[int] = STATEMENTS) -> Table:
    """The curve of statements one after the other as a table with its fit."""
    note = "warm process; a statement has 2.5 operations in the mean"
    return _table("Front end and passes", function_of, TWENTY_TYPES, sizes, 500, note)


def run_loops(sizes: Sequence[int] = LOOP_STATEMENTS) -> Table:
    """The curve of statements in a loop of run time, at positions that it computes, as a table with its fit."""
    note = "warm process; half of the statements change an element, which others read"
    return _table("Front end and passes, a loop", loop_of, LOOP_TYPES, sizes, 100, note)


def _table(
    title: str, make: Callable[[int], Callable[..., Any]], types: Sequence[str], sizes: Sequence[int], short: int, note: str
) -> Table:
    """The table; functions of up to so many statements are `short` and measured five times."""
    rows: list[dict[str, Any]] = []
    for statements in sizes:
        rows.append(measure(make(statements), types, statements, 5 if statements <= short else 2))
        progress(f"{title}, {statements} statements: {rows[-1]['total ms']:.1f} ms")
    columns = ("statements", "front end ms", "passes ms", "total ms", "ms a statement")
    return Table(title, columns, (_said(fit(rows)), note), rows)
