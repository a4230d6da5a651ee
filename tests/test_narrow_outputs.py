"""Reductions into an output of another dtype than they compute in: what NumPy converts between the two, and when."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from edge_tools import check, refused

from pytocu.testing.cases import call_interpreted
from pytocu.testing.matrix import call_threads


@pytest.mark.parametrize("row", ["np.min(a, out=b)", "np.maximum.reduce(a, out=b)", "np.nanmax(a, axis=0, out=b)"])
def test_extremes_of_signed_ints_in_unsigned_ones(row: str) -> None:
    # NumPy's maximum of -1 and 300 is 65535 there.
    for values, dtype in itertools.product(("[-1, 300]", "[300, -1]"), ("u2", "i4", "i1", "u8", "?")):
        check([f"np.array({values}, 'i2')", f"np.zeros((), '{dtype}')"], [f"{row}\nreturn b"])


@pytest.mark.parametrize(
    "name", ["add", "subtract", "floor_divide", "multiply", "maximum", "fmin", "bitwise_and", "logaddexp", "gcd", "logical_or"]
)
def test_what_begins_is_converted(name: str) -> None:
    rows = [f"np.{name}.reduce(a, axis=0, out=b)", f"np.{name}.reduce(a, 0, None, b, initial=3)",
            f"np.{name}.reduce(a, 0, out=b, initial=None)"]  # fmt: skip
    for given, out in itertools.product(("?", "i8", "u4", "f8", "c16"), ("?", "u1", "i8", "u8", "f4", "c8")):
        numbers = f"(np.arange(30).reshape(5, 2, 3) ** 3 % 101 / 2 {'+ 1' if 'u' in given + out else '- 7'})"
        with np.errstate(all="ignore"):
            check([f"{numbers}.astype('{given}')", f"np.zeros((2, 3), '{out}')"], rows, ulp=4, call=call_interpreted)


@pytest.mark.parametrize("call", [call_threads, None])
def test_first_elements_of_several_axes(call: Any) -> None:
    given = ["np.arange(24.0).reshape(2, 3, 4)[::-1] * 1.5 % 7 - 2", "np.arange(24).reshape(2, 3, 4) % 5 > 0"]
    rows = [f"np.{name}(a, axis={axis}, out=np.zeros({shape}, '{dtype}'), keepdims={keep})"
            for name, dtype in (("sum", "i4"), ("max", "i2"), ("min", "?"), ("mean", "i8"), ("prod", "i8"), ("ptp", "f4"))
            for axis, shape, keep in (((0, 2), 3, False), (None, (1, 1, 1), True), ((), (2, 3, 4), False), (1, (2, 4), False))
            ]  # fmt: skip
    rows += ["np.max(a, axis=(0, 1), out=np.zeros(4, int), where=b, initial=-1.75)",
             "np.sum(a, out=np.zeros((), int), where=b)", "np.subtract.reduce(a, 1, out=np.zeros((2, 4), int))",
             "np.divide.reduce(a - 7, 0, out=np.zeros((3, 4), 'f4'))",
             "np.trace(a, out=np.zeros(4, int))", "np.var(a, axis=1, out=np.zeros((2, 4), int))"]  # fmt: skip
    check(given, rows) if call is None else check(given, rows, call=call)


def _given(shape: str, order: str) -> list[str]:
    return [f"np.asarray(np.arange(np.prod({shape}), dtype=float).reshape({shape}) % 9 - 2.75, order='{order}')"]


def _row(name: str, shape: str, axis: Any, dtype: str) -> str:
    return f"np.{name}.reduce(a, {axis}, out=np.zeros({np.empty(eval(shape)).sum(axis).shape}, '{dtype}'))"


@pytest.mark.parametrize(
    ("shape", "order", "axis"),
    [("(9000, 3)", "C", 0), ("(9000, 3)", "C", 1), ("(3, 8191)", "C", 0), ("(2, 8192)", "C", 1), ("(90, 91)", "C", None),
     ("(1, 8193)", "C", 0), ("(8192,)", "C", 0), ("(2, 60, 90)", "C", 1), ("(60, 9, 30)", "C", (0, 1)),
     ("(60, 9, 30)", "C", (1, 2)), ("(3, 3000)", "C", ()), ("(3, 9000)", "F", 0), ("(3, 9000)", "F", 1)],
)  # fmt: skip
def test_elements_that_the_buffer_of_numpy_holds(shape: str, order: str, axis: Any) -> None:
    names = {"add": "i8", "maximum": "u1", "subtract": "i4", "divide": "f4"}
    one = axis is not None and not isinstance(axis, tuple)
    check(_given(shape, order), [_row(n, shape, axis, d) for n, d in names.items() if one or n in ("add", "maximum")])


@pytest.mark.parametrize(
    ("shape", "order", "axis", "count"),
    [("(9000,)", "C", 0, 9000), ("(3, 9000)", "C", 1, 9000), ("(3, 9000)", "C", 0, 27000), ("(2, 8192)", "C", 0, 16384),
     ("(90, 92)", "C", None, 8280), ("(8193, 1)", "C", 0, 8193), ("(60, 9, 30)", "C", (0, 2), 16200),
     ("(9000, 3)", "F", 1, 27000)],
)  # fmt: skip
def test_elements_that_it_does_not_hold(shape: str, order: str, axis: Any, count: int) -> None:
    said = f"in f64 with out= of i64: {count} elements do not fit NumPy's buffer of 8192"
    refused(_given(shape, order), _row("add", shape, axis, "i8"), said, "name an out= of f64")
    # Numbers keep their order, and what is rounded is no less exact.
    check(_given(shape, order), [_row("maximum", shape, axis, "i8"), _row("fmin", shape, axis, "f2")])
    check(_given(shape, order), [_row("add", shape, axis, "f4")], ulp=4)
    mean = _row("add", shape, axis, "i8").replace("add.reduce(a", "mean((4 * a).astype(int)")
    check(_given(shape, order), [mean, mean.replace("mean", "add.reduce").replace("out=", "dtype=float, out=")])


def test_layouts_that_are_not_known() -> None:
    row = "x = a[::2]\nreturn np.add.reduce(x, 1, out=np.zeros(x.shape[0], int))"
    refused(_given("(200, 90)", "C"), row, "9000 elements do not fit", "out[...] = ")
    check(_given("(180, 90)", "C"), [row])
    masked = "np.sum(a, 1, out=np.zeros(100, int), where=a > 0)"
    refused(_given("(100, 90)", "C"), masked, "9000 elements do not fit", "out[...] = ")


def test_initial_is_of_the_dtype_of_the_computation() -> None:
    given = ["np.arange(3, dtype='u2')", *(f"np.zeros((), '{d}')" for d in ("i8", "c8", "i1")), "np.arange(3) > 0", "-3"]
    check(given, ["np.max(a, initial=-3, out=b)", "a.prod(initial=-3, out=c)", "np.sum(a * 0.5, initial=1j, out=c)",
                  "np.sum(a, initial=2 ** 70, out=b)", "np.max(a, initial=-3, where=e, out=b)", "np.max(a, where=e, out=b)",
                  "np.sum(a, initial=1j, out=b)", "np.subtract.reduce(a, initial=-3, out=b)", "np.sum(a, initial=f, out=b)",
                  "a.astype('i8').sum(initial=300, out=d)", "a.astype('i1').sum(initial=300, out=d)"])  # fmt: skip
