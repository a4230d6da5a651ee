"""Rows of a CPU's reductions that lie in several places of memory: no index is divided out of an element's number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from reduction_tools import compiled, small

import pytocu
from pytocu.ir.core import Inst, walk
from pytocu.planning import launches
from pytocu.testing.guarded import guarded

CHANNELS = ["a.sum((0, 2))", "a.max((0, 2))", "a.mean((0, 2))", "a.min((0, 2), keepdims=True)", "np.count_nonzero(a, (0, 2))"]
INNER = ["a[1:-1, 1:-1].sum()", "a[1:-1, 1:-1].max()", "a[:, ::-2].min()", "a[1:, :-1].argmax()", "a[::3, 2:].argmin()"]
INNER += ["a[1:-1, 1:].any()", "(a[1:, 1:] == a[:-1, :-1]).all()", "a[:, 1:].mean()", "(a - a[0]).sum()"]


def loops(inst: Inst) -> list[Inst]:
    return [i for region in inst.regions for i in walk(region) if i.op.name == "for"]


def divided(function: Callable[..., Any], *specs: Any) -> list[str]:
    """The divisions in the innermost loops of a CPU's kernels."""
    found: list[str] = []
    for launch in launches(pytocu.jit(function).lower(*specs).host("cpu")):
        innermost = [loop for loop in loops(launch) if not loops(loop)]
        found += [i.op.name for loop in innermost for region in loop.regions for i in region.insts if "truncated" in i.op.name]
    return found


@pytest.mark.parametrize(
    ("function", "spec"),
    [
        (lambda a: a.sum((0, 2)), "f32[m, n, k]"),
        (lambda a: a[1:-1, 1:-1].sum(), "u8[m, n]"),
        (lambda a: (a[1:, 1:] * a[:-1, :-1]).max(), "f64[m, n]"),
        (lambda a: (a.mean((0, 2)), a.var((0, 2))), "f32[m, n, k]"),
        (lambda a: a - a.mean((0, 2), keepdims=True), "f32[m, n, k]"),
    ],
)
def test_no_element_is_found_by_division(function: Callable[..., Any], spec: str) -> None:
    assert divided(function, spec) == []


def test_few_elements_together_are_found_by_division() -> None:
    """A loop for each few of them would take as long."""
    small_rows = np.ones((40, 5, 3), np.float32)
    assert divided(lambda a: a.sum((0, 2)), small_rows) != []
    compiled(CHANNELS, small("f4", (40, 5, 3)))


SHAPES = [(2, 3, 40), (30, 2, 40), (5, 4, 1023), (3, 2, 1024), (2, 2, 1025), (70, 2, 9), (1030, 2, 8), (1, 3, 3000)]
SHAPES += [(9, 1, 300)]
"""Parts that are shorter and longer than a stretch of 1,024 elements, and of its length."""


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2", "i1", "u2", "i8", "c8", "?"])
def test_channels(dtype: str) -> None:
    for shape in SHAPES if dtype == "f4" else SHAPES[1::2]:
        texts = [text for text in CHANNELS if "mean" not in text or dtype != "c8"]
        compiled(texts, small(dtype, shape), exact=dtype not in ("f2", "f4", "f8", "c8"), ulp=8)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i1", "u1", "i8", "?"])
@pytest.mark.parametrize("shape", [(3, 4), (12, 300), (300, 12), (40, 1030), (1100, 30), (9, 4100)])
def test_inner_parts(shape: tuple[int, int], dtype: str) -> None:
    texts = [text for text in INNER if dtype != "?" or "-" not in text.replace(":-1", "").replace("::-2", "")]
    compiled(texts, small(dtype, shape), exact=dtype not in ("f4", "f8"), ulp=8)


def test_nothing_and_one_of_something() -> None:
    for shape in [(0, 3, 9), (4, 3, 0), (0, 2, 0), (1, 2, 1), (4, 0, 9)]:
        compiled(["a.sum((0, 2))", "a.any((0, 2))", "a - a.sum((0, 2), keepdims=True)"], small("f8", shape))
    compiled(["a[1:-1, 1:-1].sum()", "a[2:, 3:].all()"], small("i4", (2, 3)))


@pytest.mark.parametrize("shape", [(4, 3, 0), (0, 3, 4), (0, 2, 0), (4, 3, 1), (50, 3, 60)])
def test_code_for_any_length(shape: tuple[int, ...]) -> None:
    """It sweeps rows without elements too, and divides by no length."""

    def centered(a: Any) -> Any:
        return a - a.sum((0, 2), keepdims=True)

    a = small("i8", shape)
    np.testing.assert_array_equal(pytocu.jit(centered).lower("i64[m, n, k]").compile("cpu")(a), centered(a))


def test_three_places_and_steps() -> None:
    a = small("f8", (6, 20, 7, 30))
    texts = ["a[:, 1:, 1:, 1:].sum((0, 2, 3))", "a[::2, ::-1, :, 2:].max((0, 2, 3))", "a[1:, :, 1:, ::3].sum()"]
    compiled(texts, a, exact=False, ulp=8)


def rows_of(array: np.ndarray) -> np.ndarray:
    """The same elements in the same order, each row in one place."""
    return np.ascontiguousarray(array.transpose(1, 0, 2)).reshape(array.shape[1], -1)


@pytest.mark.parametrize("shape", [(30, 3, 40), (7, 2, 1500), (200, 3, 150)])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_bits_are_those_of_rows_in_one_place(dtype: str, shape: tuple[int, int, int]) -> None:
    a = np.random.default_rng(5).standard_normal(shape).astype(dtype)
    apart = pytocu.jit(lambda a: (a.sum((0, 2)), a.var((0, 2)), np.exp(a).sum((0, 2))))(a)
    together = pytocu.jit(lambda a: (a.sum(1), a.var(1), np.exp(a).sum(1)))(rows_of(a))
    for first, second in zip(apart, together, strict=True):
        np.testing.assert_array_equal(first, second)


def test_nans_and_zeros_of_both_signs() -> None:
    a = np.zeros((40, 3, 60), np.float32)
    a[3, 1, 5], a[30, 1, 7], a[20, 2, 50] = np.nan, 1, -1
    compiled(["a.max((0, 2))", "np.nanmax(a, (0, 2))", "np.nansum(a, (0, 2))", "np.isnan(a[:, 1:, 2:]).any((0, 2))"], a)
    compiled(["a[1:, 1:].argmax()", "a[1:, 1:].argmin()"], a[:, 1].copy())


def normalised(a):
    mean = a.mean((0, 2), keepdims=True)
    return (a - mean) / np.sqrt(((a - mean) ** 2).mean((0, 2), keepdims=True) + 1e-5)


@pytest.mark.parametrize("shape", [(4, 3, 20), (16, 8, 640), (8, 2, 3000)])
def test_what_is_stored_of_each_element(shape: tuple[int, ...]) -> None:
    a = np.random.default_rng(6).standard_normal(shape)
    with guarded() as guards:
        np.testing.assert_allclose(pytocu.jit(normalised)(guards.copy(a)), normalised(a), rtol=1e-12, atol=1e-13)


def test_positions_that_are_outside_are_noted() -> None:
    index = np.arange(50)

    def gathered(a: Any, index: Any) -> Any:
        return a[:, :, index].sum((0, 2))

    a = small("f8", (8, 3, 60))
    np.testing.assert_allclose(pytocu.jit(gathered)(a, index), gathered(a, index))
    index[17] = 60
    with pytest.raises(IndexError, match="index 60 is out of bounds for axis 2 with size 60"):
        pytocu.jit(gathered)(a, index)
