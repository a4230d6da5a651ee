"""Functions with pieces, and results written into arrays: ``piecewise``, ``out=``, ``copy=False``."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from mask_tools import agree, everywhere, outcome

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.testing.cases import call_jit
from pytocu.testing.compare import compare, edge_values
from pytocu.testing.operands import make_function


def double(v: Any, by: Any = 2) -> Any:
    return v * by


PIECES = (
    "np.piecewise(a, [a < 0, a >= 0], [-1, 1])", "np.piecewise(a, [a < 0], [lambda v: -v, lambda v: v + 1])",
    "np.piecewise(a, [a > 1, a > 2], [F, 7])", "np.piecewise(a, [a < 0, a > 2], [F, lambda v, by: v - by, 3], 4)",
    "np.piecewise(a, [a > 0], [F], by=5)", "np.piecewise(a, a > 1, [1, 0])", "np.piecewise(a, (a > 1, a == 1), (2.75, np.abs))",
    "np.piecewise(a, [a < 0, a > 0], [np.sqrt, lambda v: v / 4])",
)  # fmt: skip


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i1"])
def test_piecewise(dtype: str) -> None:
    x = np.array([-3, -1, 0, 1, 2, 3, 5], dtype)
    for values in (x, x[:6].reshape(2, 3).T, np.array(2, dtype), x[4]):
        for text in PIECES:
            if values.ndim == 2 and "np.piecewise(a, a > 1" in text:
                continue
            function = make_function("a", [text], {"np": np, "F": double})
            with np.errstate(all="ignore"):
                expected = function(values)
            compare(call_jit(function, values), expected)


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("np.piecewise(a, [a > 0], [1, 2, 3])", ValueError, r"with 1 condition\(s\), either 1 or 2 functions are expected"),
        ("np.piecewise(a, [a > 0], 3)", UnsupportedError, "takes a list of functions"),
        ("np.piecewise(a, [True, False, True], [3])", UnsupportedError, "takes a list of conditions"),
        ("np.piecewise(a, [a > 0], [lambda v: v - v.sum()])", UnsupportedError, "that is not elementwise"),
        ("np.piecewise(a, [a > 0], [lambda v: v[::-1]])", UnsupportedError, "that is not elementwise"),
        ("np.piecewise(a, [a > 0], [a])", UnsupportedError, "an array for a function"),
        ("np.piecewise(a, [a[None] > 0], [1])", UnsupportedError, "a condition of another shape"),
    ],
)  # fmt: skip
def test_piecewise_refuses(text: str, kind: type[Exception], said: str) -> None:
    with pytest.raises(kind, match=said):
        call_jit(make_function("a", [text], {"np": np}), np.ones(3))


RAISING = (
    "lambda v: math.log(0.0) * v", "lambda v: 1 / 0", "lambda v: v.nothing", "lambda v: v & 1", "lambda v: v[1, 1, 1]",
    "lambda v, by: v", "lambda v: v + np.uint8(300)", "lambda v: v + nothing",
)  # fmt: skip


@pytest.mark.parametrize("raising", RAISING)
def test_piecewise_calls_functions_that_an_element_reaches(raising: str) -> None:
    for texts in (f"[a > 2], [{raising}, np.abs]", f"[a > 2], [np.abs, {raising}]", f"[a < 0, a >= 0], [0, np.abs, {raising}]"):
        function = make_function("a", [f"np.piecewise(a, {texts})"], {"np": np, "math": math})
        for x in (np.arange(3.0), np.arange(6.0).reshape(2, 3), np.array(1.0), np.array(3.0), np.zeros(0), np.array([5.0])):
            everywhere(function, x)


def test_piecewise_raises_what_comes_first() -> None:
    text = "np.piecewise(a, [a < 0, a > 2], [lambda v: 1 / 0, lambda v: v.nothing])"
    for x in (np.arange(3.0), np.arange(4.0), np.arange(-1, 4.0)):
        everywhere(make_function("a", [text], {"np": np}), x)


def test_results_in_arrays() -> None:
    def function(x, y, mask, counts):
        return (np.round(x, 1, out=y), np.isposinf(x, out=mask), np.around(counts, 1, counts), np.fix(x, x))

    def arguments() -> tuple[np.ndarray, ...]:
        return edge_values("f8", 90), np.ones(90), np.zeros(90, bool), np.arange(90)

    with np.errstate(all="ignore"):
        wanted, given = arguments(), arguments()
        expected, actual = function(*wanted), pytocu.jit(function)(*given)
    compare(actual, expected)
    compare(given, wanted)
    assert [a is g for a, g in zip(actual, (given[1], given[2], given[3], given[0]), strict=True)] == [True] * 4


def test_results_in_arrays_as_numpy_refuses() -> None:
    x = np.ones(3)
    for text, kind, said in (
        ("np.round(a, 1, out=b)", UnsupportedError, "every step of NumPy's rounds"),
        ("np.round(b, -1, out=b)", TypeError, "Cannot cast ufunc 'divide' output from dtype"),
        ("np.fix(a, b)", TypeError, "Cannot cast ufunc"),
        ("np.isneginf(a, out=b[:2])", ValueError, "non-broadcastable output|operands could not be broadcast"),
        ("np.round(a, 1, out=3)", TypeError, "output must be an array"),
    ):
        with pytest.raises(kind, match=said):
            call_jit(make_function("ab", [text], {"np": np}), x, np.ones(3, np.int32))


@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "i4"])
def test_nan_to_num_in_place(dtype: str) -> None:
    def function(x):
        return np.nan_to_num(x, copy=False, nan=1.5, posinf=7), x

    wanted, given = edge_values(dtype, 90), edge_values(dtype, 90)
    expected, actual = function(wanted), pytocu.jit(function)(given)
    compare(actual, expected)
    compare(given, wanted)
    assert actual[0] is given

    with pytest.raises(ValueError, match="Unable to avoid copy"):
        function(np.float32(2))
    with pytest.raises(ValueError, match="Unable to avoid copy"):
        pytocu.jit(function)(np.float32(2))


OUTER = (
    "np.add.outer(a, b)", "np.subtract.outer(b, a)", "np.add.outer(a, 2.5)", "np.multiply.outer(2, a)", "np.add.outer(2, 3)",
    "np.less.outer(b, b)", "np.multiply.outer(a, a, dtype='f8')", "np.divmod.outer(b, b + 1)", "np.hypot.outer(a[0], b)",
)  # fmt: skip


@pytest.mark.parametrize("text", OUTER)
def test_every_element_with_every_other(text: str) -> None:
    arguments = np.arange(3, dtype="f4"), np.arange(6, dtype="i4").reshape(2, 3)
    function = make_function("ab", [text], {"np": np})
    compare(call_jit(function, *arguments), function(*arguments))


@pytest.mark.parametrize("text", ["np.negative.outer(a, a)", "np.add.outer(a)", "np.add.outer(a, a, bad=1)"])
def test_every_element_with_every_other_as_numpy_refuses(text: str) -> None:
    function = make_function("a", [text], {"np": np})
    with pytest.raises((TypeError, ValueError)) as expected:
        function(np.ones(3))
    with pytest.raises(expected.type, match=re.escape(str(expected.value))):
        call_jit(function, np.ones(3))


IN_ORDER = (
    "np.asfortranarray(a)", "np.ascontiguousarray(a)", "np.asarray(a, order='F')", "np.array(a, order='C', copy=None)",
    "np.array(a, order='F', copy=False)", "a.astype(float, order='F', copy=False)", "a.astype(float, order='A', copy=False)",
    "np.asarray(a, float, order='F')",
)  # fmt: skip


@pytest.mark.parametrize("text", IN_ORDER)
def test_arrays_in_order_are_no_copies(text: str) -> None:
    function = make_function("a", [text], {"np": np})
    jitted = pytocu.jit(function)
    whole = np.arange(24.0).reshape(2, 3, 4)
    for x in (whole, whole.T, whole[:0], whole[:, :0].T, whole[:, :0, ::2], whole[:, ::2], whole[:1, :, 1], np.zeros((0, 3))):
        found, expected = outcome(lambda: jitted(x)), outcome(lambda: function(x))
        if isinstance(expected, Exception):
            # Its sentence has several lines.
            assert isinstance(found, type(expected)) and str(found).startswith(str(expected))
        else:
            agree(found, expected, 0)
            (one,), (wanted,) = found, expected
            assert (one is x) == (wanted is x)
            moving = [axis for axis, length in enumerate(x.shape) if length > 1 and x.size]
            assert [one.strides[a] for a in moving] == [wanted.strides[a] for a in moving]


NO_ARRAYS = (
    "np.sum(a, 0, out={})", "a.max(0, out={})", "np.mean(a, 0, out={})", "np.std(a, 0, out={})", "np.any(a, 0, out={})",
    "np.cumsum(b, out={})", "b.cumprod(out={})", "np.argmax(a, 0, out={})", "np.round(b, 1, out={})", "np.nansum(a, 0, out={})",
    "np.ptp(a, 0, out={})", "np.trace(a, out={})", "np.isposinf(b, out={})", "np.nanmean(a, 0, out={})",
    "np.nanmax(a, 0, out={})", "np.add.reduce(a, 0, out={})", "np.add.accumulate(b, out={})", "np.outer(b, b, out={})",
)  # fmt: skip


@pytest.mark.parametrize("text", NO_ARRAYS)
def test_tuples_for_an_output(text: str) -> None:
    for out in ("()", "(b,)"):
        everywhere(make_function("ab", [text.format(out)], {"np": np}), np.arange(12.0).reshape(3, 4), np.zeros(4))


def test_numbers_for_an_output() -> None:
    for text in ("np.sum(a, out=3)", "np.cumsum(a, out=3)", "np.argmax(a, out=3)", "np.round(a, out=3)"):
        everywhere(make_function("a", [text], {"np": np}), np.arange(3.0))
