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
    text = "\n".join(["def long_function(x, y, a):", *(f"    {line}" for line in body)]) + "\n"
    file = f"<{statements} statements>"
    # Entries without a time stay when linecache looks for files that changed.
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"np": np}
    exec(compile(text, file, "exec"), namespace)
    return namespace["long_function"]


def measure(statements: int, repeat: int) -> dict[str, Any]:
    """Milliseconds of the front end and of the passes, those of the fastest run."""
    function = function_of(statements)
    best: dict[str, float] = {}
    for _ in range(repeat):
        start = time.perf_counter()
        lowered = pytocu.jit(function).lower(*TWENTY_TYPES)
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
    """The curve as a table with its fit."""
    rows: list[dict[str, Any]] = []
    for statements in sizes:
        rows.append(measure(statements, 5 if statements <= 500 else 2))
        progress(f"front end and passes, {statements} statements: {rows[-1]['total ms']:.1f} ms")
    notes = (
        _said(fit(rows)),
        "warm process; a statement has 2.5 operations in the mean",
    )
    columns = ("statements", "front end ms", "passes ms", "total ms", "ms a statement")
    return Table("Front end and passes", columns, notes, rows)
