"""Quotients and roots of lanes that share one test: the same bits as one by one, and the shape of the code."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mask_tools import everywhere

import pytocu
from pytocu.ir import interp_rows
from pytocu.ir.interp_threads import run_threads
from pytocu.ir.parser import parse_function
from pytocu.passes import quotients as rewriting
from pytocu.passes import shared_divisors
from pytocu.testing import quotients
from pytocu.testing.matrix import call_threads

ANY = "one divisor of any size"

EVERY = 8009
"""An odd number, so that divisors end in all numbers of zero bits."""


def mistakes(form: str, hard: bool) -> int:
    run = quotients.on_threads(quotients.kernel(form, quick=hard))
    cases = quotients.cases(form, EVERY) if hard else quotients.edge_cases(form)
    # float64 is multiplied and added as fractions, which takes long.
    every = 37 if form == ANY else 1
    return sum(int(quotients.wrong(form, run, a[::every], b[::every]).sum()) for a, b in cases)


@pytest.mark.parametrize("length", [3, 64, 2000])
def test_positions_of_quotients(length: int) -> None:
    """Beside the quotients of a lane its position becomes an integer."""

    def smallest(x: Any, s: Any) -> Any:
        return np.argmin(x / s, axis=-1), np.argmax(x / 3, axis=0)

    x = np.random.default_rng(0).random((3, length)).astype(np.float32)
    everywhere(smallest, x, np.float32(0.7))


@pytest.mark.parametrize("form", quotients.FORMS)
def test_hard_cases_are_exact_without_the_rows_themselves(form: str) -> None:
    assert mistakes(form, hard=True) == 0


@pytest.mark.parametrize("form", quotients.FORMS)
def test_numbers_where_float32_and_the_test_end(form: str) -> None:
    assert mistakes(form, hard=False) == 0


@pytest.mark.parametrize(
    ("form", "name", "value"),
    [
        ("one divisor", "SHARED", (0.0, 2.0**32)),
        ("one divisor", "SHARED", (2.0**-64, 2.0**126)),
        ("one divisor", "SMALL_OF_SHARED", 2.0**-126),
        ("own divisors", "SMALL", 2.0**-126),
        ("roots", "RADICANDS", (2.0**-126, 2.0**120)),
    ],
)
def test_every_bound_of_the_test_is_needed(monkeypatch: pytest.MonkeyPatch, form: str, name: str, value: object) -> None:
    monkeypatch.setattr(rewriting, name, value)
    assert mistakes(form, hard=False)


@pytest.mark.parametrize("form", quotients.TESTED)
def test_the_last_step_is_needed(monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    monkeypatch.setattr(rewriting, "_corrected", lambda near, rest, inverse: near)
    assert mistakes(form, hard=True)


def test_zeros_keep_their_signs_by_the_form_of_the_last_step(monkeypatch: pytest.MonkeyPatch) -> None:
    zeros, ones = np.float32([[0.0, -0.0, 0.0, -0.0]]), np.ones(1, np.float32)

    def wrong() -> int:
        run = quotients.on_threads(quotients.kernel("one divisor", quick=True))
        return int(quotients.wrong("one divisor", run, zeros, ones).sum())

    assert wrong() == 0
    # The same number but for a zero's sign.
    monkeypatch.setattr(rewriting, "_corrected", lambda near, rest, inverse: rest.fma(-inverse, near) + 0.0)
    assert wrong() == 2


@pytest.mark.parametrize(
    ("name", "value"),
    [("ABOVE", 1.0), ("ABOVE", 1 + 2.0**-49), ("ABOVE", 1 + 2.0**-48), ("CUT", 2**64 - 1), ("CUT", 2**64 - 64)],
)
def test_products_are_a_little_too_large_and_cut(monkeypatch: pytest.MonkeyPatch, name: str, value: object) -> None:
    monkeypatch.setattr(shared_divisors, name, value)
    assert mistakes(ANY, hard=True) + mistakes(ANY, hard=False)


@pytest.mark.parametrize("wrong", [-(2.0**-18), 2.0**-18])
def test_what_the_first_reciprocal_is_wrong_by_does_not_matter(monkeypatch: pytest.MonkeyPatch, wrong: float) -> None:
    given = interp_rows._RAW["near_double_reciprocal"]
    monkeypatch.setitem(interp_rows._RAW, "near_double_reciprocal", lambda x: given(x) * (1 + wrong))
    assert mistakes(ANY, hard=True) + mistakes(ANY, hard=False) == 0


@pytest.mark.parametrize("length", [1000, 1400])
def test_groups_of_lanes_that_divide_by_one_number(length: int) -> None:
    """Where all rows read an array alike, a thread's share is lanes in lanes: a divisor of the row is outside of both."""

    def normalised(x: Any, weight: Any) -> Any:
        centred = x - x.max(axis=1, keepdims=True)
        size = -centred.min(axis=1, keepdims=True)
        return centred / size * weight, centred / size, centred, size

    random = np.random.default_rng(0)
    x, weight = random.random((3, length), np.float32), random.random(length, np.float32)
    lowered = pytocu.jit(normalised).lower(x, weight)
    text = lowered.ir(after="shared-divisors", target="cuda:sm_90")
    assert "near_double_reciprocal" in text and " divide " not in text
    scaled, quotient, centred, size = call_threads(normalised, x, weight)
    np.testing.assert_array_equal(quotient, centred / size)
    np.testing.assert_array_equal(scaled, quotient * weight)


@pytest.mark.parametrize(
    ("constant", "multiplied"),
    [
        *((number, True) for number in (5.0, -3.0, 98.0, 60.0, 0.1, 1e-3, 1e30, -3e38, 1.1e-38, 7e-45, 16777215.0)),
        *((number, False) for number in (0.0, -0.0, np.inf, -np.inf, np.nan, 4.0, -0.5, 2.0**-149)),
    ],
)
def test_quotients_by_constants_are_products_with_their_reciprocals(constant: float, multiplied: bool) -> None:
    """As lanes, and one by one behind them; powers of two and what has no reciprocal are left to compilers."""

    def scaled(x: Any) -> Any:
        return x / constant

    divisor, edges = np.float32(constant), [np.ravel(a) for a, _ in quotients.edge_cases(ANY)]
    mantissa = np.frexp(divisor)[0] * 2**24 if multiplied else 0.0
    if mantissa % 2:
        hard = np.ravel(list(quotients.hard_numerators(np.abs([mantissa]).astype(np.int64), 0, 16))).astype(np.float32)
        edges.append(np.ravel(np.ldexp(hard[:, None], np.arange(-150, 104, 9))).astype(np.float32))
    # float64 is multiplied as fractions, which takes long.
    x = np.concatenate([np.concatenate(edges)[::19], np.arange(-2000, 2000, dtype=np.float32) * np.float32(2.0**-149)])
    kernel = pytocu.jit(scaled).lower("f32[n]").compile("cuda:sm_90").kernels[0]
    assert ("= divide " in kernel.ir) is not multiplied
    out = np.empty_like(x)
    run_threads(parse_function(kernel.ir), [x, out, len(x)], grid=2, block=256)
    with np.errstate(all="ignore"):
        expected = x / divisor
    same = (out.view(np.uint32) == expected.view(np.uint32)) | (np.isnan(out) & np.isnan(expected))
    assert same.all(), (x[~same][:4], out[~same][:4], expected[~same][:4])


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def deviations(x: np.ndarray) -> np.ndarray:
    return x / np.sqrt((x * x).mean(axis=1, keepdims=True))


@pytest.mark.parametrize("function", [softmax, deviations])
@pytest.mark.parametrize(("target", "multiplied"), [("cuda:sm_90", True), ("cuda:sm_86", False), ("cuda:sm_75", False)])
def test_rows_are_divided_where_there_are_few_float64_units(function: Any, target: str, multiplied: bool) -> None:
    (kernel,) = pytocu.jit(function).lower("f32[n, 1024]").compile(target).kernels
    assert ("near_double_reciprocal" in kernel.ir) is multiplied


def quantise(x: np.ndarray, scale: float) -> np.ndarray:
    return np.clip(np.rint(x / scale), -128, 127).astype(np.int8)


def scaled(x: np.ndarray, scale: float) -> np.ndarray:
    return np.rint(x / scale)


@pytest.mark.parametrize(("function", "multiplied"), [(quantise, False), (scaled, True)])
def test_quotients_that_are_rounded_and_made_integers_are_divisions(function: Any, multiplied: bool) -> None:
    (kernel,) = pytocu.jit(function).lower("f32[n]", "weak float").compile("cuda:sm_90").kernels
    assert ("near_double_reciprocal" in kernel.ir) is multiplied


def test_lanes_without_quotients_read_what_lanes_with_some_made() -> None:
    def distances(x: Any) -> Any:
        rows = x.T[::-1] / -0.0
        return rows - (rows.max(axis=-1, keepdims=True) + 0)

    (kernel,) = pytocu.jit(distances).lower("f32[1, n]").compile("cuda:sm_90").kernels
    x, out = np.array([[1, -2, 3, np.nan]], np.float32), np.zeros((4, 1), np.float32)
    run_threads(parse_function(kernel.ir), [x, out, 4, 1], grid=1, block=256)
    assert np.isnan(out).all()
