"""Lengths below 0, axes without elements, and operands without numbers, as tables of expressions."""

from __future__ import annotations

import numpy as np
import pytest
from edge_tools import check, written

import pytocu

LENGTHS = (
    "np.zeros({n})", "np.ones(({n}, {n})).sum()", "np.ones(({n}, {n})).shape", "np.empty((2, {n})).size",
    "np.eye({n}).sum()", "np.zeros({n}).size", "np.arange(3) + np.zeros({n}).size", "np.broadcast_to(1, ({n}, {n})).sum()",
    "np.indices(({n}, {n})).shape", "np.tile(np.ones(1), {n}).shape", "len(np.zeros({n}))", "np.empty({n}).ndim",
    "np.zeros({n}, bool).any()", "np.zeros(({n}, 0)).shape", "np.full({n}, 2.0).mean()", "np.repeat(np.ones(1), {n}).shape",
    "np.linspace(0, 1, {n}).shape",
)  # fmt: skip
"""Which arrays nobody reads an element of, too: NumPy makes them first."""

NOTHING = (
    "np.diag_indices({n})", "np.diag_indices({n}, 3)", "np.tril_indices({n})", "np.tril_indices({n}, 1)",
    "np.triu_indices({n}, -1, 4)", "np.tril_indices(3, 0, {n})", "np.tri({n})", "np.tri(3, {n})", "np.tri({n}).shape",
    "np.hanning({n})", "np.roll(np.arange(3), {n})", "np.roll(np.arange(6).reshape(2, 3), (1, {n}), (0, 1))",
)  # fmt: skip
"""Where less than nothing is nothing."""


@pytest.mark.parametrize("length", ["np.int64(-1)", "-1", "np.int8(-2)"])
def test_lengths_below_0(length: str) -> None:
    check([length], [row.format(n="a") for row in (*LENGTHS, *NOTHING)])


def test_lengths_below_0_that_are_computed_of_lengths() -> None:
    check(["np.zeros(0)"], [row.format(n="len(a) - 1") for row in (*LENGTHS, *NOTHING)])
    check(["np.zeros(0)"], ["if len(a) > 0:\n    return np.zeros(len(a) - 1).shape\nreturn a.shape"])


@pytest.mark.parametrize("count", ["-1", "0", "2", "np.int64(-1)"])
def test_nothing_is_repeated_less_than_not_at_all(count: str) -> None:
    rows = ("np.tile(a, b)", "np.tile(a, (2, b))", "np.repeat(a, b)", "np.repeat(a, b, axis=0)", "a.repeat([b])")
    check(["np.zeros(0)", count], [*rows, *(row.replace("b", count) for row in rows)])
    check(["np.ones(2)", count], rows)
    check(["np.zeros((0, 3))", count], ["np.repeat(a, b)", "np.repeat(a, b, axis=0)", "np.repeat(a, b, axis=1)"])


@pytest.mark.parametrize("position", ["-3", "0", "1", "np.int64(-3)", "np.uint8(0)", "np.array(2)", "True", "1.0"])
def test_positions_of_an_array_without_axes(position: str) -> None:
    check([position], ["np.unravel_index(a, ())", "np.unravel_index(a, [], order='F')", "len(np.unravel_index(a, ()))"])


@pytest.mark.parametrize("length", ["2.5", "np.float64(2.5)", "np.float32(0.1)", "np.float16(-7)"])
def test_a_float_that_is_no_length_is_said_as_it_is(length: str) -> None:
    check([length], ["np.zeros(a)", "np.full(a, 3)", "np.empty(a * 2)", "np.ones((a, 2))", "np.fft.fftfreq(a)"])


@pytest.mark.parametrize("shape", [(0, 3), (2, 3), (2, 3, 0)])
def test_positions_beside_none_are_not_compared(shape: tuple[int, ...]) -> None:
    """Numbers are, and so are positions of which a slice leaves no element."""
    rows = ["a[[[0], [5]], b]", "a[[[0], [1]], []]", "a[c, b]", "a[b, [7]]", "a[[7], d]", "a[c, b] = 1\nreturn a", "a[5, b]",
            "a[c[0, 0], b]", "a[c[0], []]", "a[[7], [0]]", "a[c, ~d]", "np.ones((2, 3))[[5], b]"]  # fmt: skip
    if 0 not in shape[2:]:
        rows += ["a[c, d]", "a[c, np.nonzero(d)[0]]"]
    check([f"np.zeros({shape})", "np.zeros(0, int)", "np.array([[0], [5]])", "np.zeros(3, bool)"], rows)


def test_the_number_of_no_position() -> None:
    rows = ("np.ravel_multi_index((), ())", "np.ravel_multi_index([], (), mode='clip')", "np.ravel_multi_index((a,), ())")
    check(["1"], rows)


@pytest.mark.parametrize("dtype", ["f4", "i1", "c8"])
def test_products_with_lists_without_numbers(dtype: str) -> None:
    rows = ["{}([], a)", "{}(a, [])", "{}(a, ())", "{}([], 2)", "{}(2, [])", "{}(c, [])", "{}([], c)", "{}(True, [])",
            "{}([], [])", "{}([[], []], np.float32(2))", "{}(b, [])"]  # fmt: skip
    rows = [row.format(function) for function in ("np.dot", "np.inner") for row in rows]
    check([f"np.zeros(0, '{dtype}')", f"np.zeros((2, 0), '{dtype}')", "3"], [*rows, "np.vdot(a, [])", "np.vdot([], b)"])


def test_an_axis_of_lexsort_that_is_a_bool() -> None:
    check(["np.array([[3, 1], [2, 2]])"], ["np.lexsort((a, -a), axis=True)", "np.lexsort((a, a.T), axis=False)"])


@pytest.mark.parametrize("dtype", ["uint8", "uint64", "int8", "int64"])
def test_a_range_between_numbers_of_a_narrow_dtype(dtype: str) -> None:
    numbers = [f"np.{dtype}({n})" for n in (2, 7)]
    rows = ["np.arange({}, 5)", "np.arange(5, {})", "np.arange({})", "np.arange(0, {}, 2)"]
    rows += ["np.arange({}, a)", "np.arange(a, {})"]
    check(["3"], [row.format(number) for row in rows for number in numbers])


def test_a_python_float_that_is_cast_to_the_loop() -> None:
    values = ("nan", "inf", "2.7", "-3.9", "b", "1e3", "True")
    rows = ("np.add(a, {}, dtype='i2', casting='unsafe')", "np.multiply({}, a, dtype='i4', casting='unsafe')")
    check(["np.arange(4, dtype='i2')", "nan"], [row.format(value) for row in rows for value in values])


# Quantiles.


@pytest.mark.parametrize("share", ["0.5", "np.float64(0.5)", "np.array(0.5)", "np.array([0.5])", "1"])
def test_quantiles_of_one_number_with_the_axes_kept(share: str) -> None:
    rows = ["np.quantile({}, b, keepdims=True)", "np.percentile({}, b, overwrite_input=True, keepdims=True)",
            "np.nanquantile({}, b, keepdims=True)", "np.quantile({}, b)"]  # fmt: skip
    check(["np.float32(2.5)", share], [r.format(v) for r in rows for v in ("a", "3", "2.5", "np.array(3)", "np.float16(2)")])


def test_a_share_that_is_pythons_float_of_a_run_does_not_widen() -> None:
    check(["np.float32([1, 2, 5])", "0.25", "1"], [
        "np.quantile(a, b)", "np.percentile(a, b)", "np.nanquantile(a, b, axis=0)", "np.quantile(a, c)",
        "np.quantile(a, b, method='weibull')",
    ])  # fmt: skip


def test_quantiles_of_no_bools() -> None:
    check(["np.zeros(0, bool)", "np.array([True, False])"], [
        "np.quantile(a, 0.5)", "np.nanquantile(a, 0.5)", "np.nanpercentile(a, 50, keepdims=True)", "np.quantile(b, 0.5)",
        "np.nanquantile(b, 0.5)",
    ])  # fmt: skip


# Reductions.


def test_a_mean_or_correction_that_is_none() -> None:
    for dtype in ("f8", "f4", "c8", "i8"):
        check([f"np.arange(6, dtype='{dtype}').reshape(2, 3)"], [
            "np.nanvar(a, mean=None)", "np.nanstd(a, mean=None, axis=0)", "np.var(a, mean=None)", "np.var(a, correction=None)",
            "np.std(a, correction=None, axis=0)", "np.nanvar(a, correction=None)", "np.var(a, correction=None, ddof=1)",
        ], ulp=2)  # fmt: skip
    check(["np.zeros((0, 3))"], ["np.nanvar(a, mean=None)", "np.nanstd(a, mean=None, axis=0)"])


VALUES = ("np.zeros(0)", "np.array([nan, nan])", "np.array([[nan, -inf], [1, 2]])", "np.float64(nan)", "2")


@pytest.mark.parametrize("values", VALUES)
def test_extremes_of_lists_that_leave_out_nan(values: str) -> None:
    rows = ["np.nanmax([a])", "np.nanmax(a)", "np.nanmin([a, a])", "np.nanmax([a], initial=1)", "np.nanmin(a, initial=1)",
            "np.nanmax([a], where=False, initial=-1.5)", "np.nanmax([a], axis=0, keepdims=True)", "np.nanmin([a], out=b)",
            "np.nanmax([a], initial=nan)", "np.nanmax([a], where=False)", "np.nanmax(a, where=False, initial=2.0)"]  # fmt: skip
    check([values, "np.array(5.0)"], rows)


@pytest.mark.parametrize("reduced", ["np.sum", "np.max", "np.mean", "np.subtract.reduce", "np.argmax", "np.nanmin", "np.var"])
def test_a_part_of_length_1_takes_a_reduction_with_its_axes(reduced: str) -> None:
    out = "c" if reduced == "np.argmax" else "b"
    rows = [f"{reduced}(a, axis={axis}, keepdims=True, out={out}[{part}])\nreturn {out}"
            for axis, part in ((0, ":1"), (0, "1:, :"), (1, ":, :1"), (1, ":, d:d + 1"), (0, ":d + 1"), (0, ":"))]  # fmt: skip
    check(["np.array([[1.0, 5], [3, 2]])", "np.zeros((2, 2))", "np.zeros((2, 2), int)", "0"], rows, ulp=2)


@pytest.mark.parametrize("ufunc", ["np.frexp", "np.modf", "np.divmod", "np.sqrt"])
def test_methods_of_ufuncs_that_have_none(ufunc: str) -> None:
    check(["np.ones(2)"], [f"{ufunc}.{call}" for call in ("reduce(a)", "accumulate(a)", "reduceat(a, [0])", "outer(a)")])


@pytest.mark.parametrize("call", ["reduce(a)", "accumulate(a)", "reduceat(a, [0])", "outer(a, a)", "at(a, 0, a)"])
def test_methods_of_ufuncs_of_whole_arrays(call: str) -> None:
    for ufunc in ("np.matmul", "np.vecdot"):
        function = written(["a"], f"return {ufunc}.{call}", {"np": np})
        with pytest.raises((RuntimeError, TypeError)) as expected:
            function(np.ones((2, 2)))
        with pytest.raises(expected.type) as found:
            pytocu.jit(function)(np.ones((2, 2)))
        assert str(found.value).startswith(str(expected.value))
