"""Promotion is NumPy's: every pair of kinds of operands, for every binary operation and operator.

The groups are run by the interpreter on what the front end and the passes that settle types make,
so that thousands of them need no compiler; ``python -m pytocu.testing.matrix --promotion --on interpreter`` runs all.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from edge_tools import check

import pytocu
from pytocu.ir.types import ALL_DTYPES
from pytocu.testing.cases import call_interpreted, check_group
from pytocu.testing.compare import compare
from pytocu.testing.operands import Group, Operand, make_function, promotion_groups

GROUPS = list(promotion_groups())
PARTS = 80


def test_groups_are_all_pairs() -> None:
    pairs = {tuple((o.form, o.dtype) for o in g.operands) for g in GROUPS}
    strong = [(form, d.name) for form in ("array", "zero_d", "scalar") for d in ALL_DTYPES]
    weak = [(form, kind) for form in ("python", "literal") for kind in ("bool", "int", "float", "complex")]
    both = [(strong, strong), (strong, weak), (weak, strong)]
    assert pairs >= {pair for kinds in both for pair in itertools.product(*kinds)}


@pytest.mark.parametrize("part", range(8))
def test_pairs_of_kinds(part: int) -> None:
    failures = [failure for group in GROUPS[part::PARTS] for failure in check_group(group, call_interpreted)]
    assert not failures, "\n".join(map(str, failures[:20]))


def test_wrong_promotion_is_seen() -> None:
    def wider(function: Any, *arguments: Any) -> Any:
        made = call_interpreted(function, *arguments)
        return tuple(m.astype(np.float64) if getattr(m, "dtype", None) == np.float32 else m for m in made)

    group = Group((Operand("array", "f32"), Operand("python", "float", "1e300")), 7)
    assert not check_group(group, call_interpreted)
    assert len(check_group(group, wider)) > 20


TRIPLES = ("np.clip(a, b, c)", "np.where(a, b, c)", "np.select([np.equal(a, a)], [b], default=c)", "np.clip(a, min=b, max=c)",
           "np.where(np.isnan(a), b + a, c)", "(a + b) * c", "a * b - c * a", "np.maximum(a, b) > c")  # fmt: skip


def kinds() -> dict[str, Any]:
    """A value of every kind."""
    found: dict[str, Any] = {}
    for dtype in ("?", "i1", "u1", "i4", "u8", "i8", "f4", "f8"):
        value = np.array([1, 0, 1], dtype)
        found[f"array {dtype}"], found[f"scalar {dtype}"], found[f"0-d {dtype}"] = value, value[0], np.array(value[0])
    return found | {"bool": True, "int": 2, "negative int": -2, "float": 0.5}


KINDS = kinds()


def outcome(function: Any, *arguments: Any) -> Any:
    try:
        with np.errstate(all="ignore"):
            return function(*arguments)
    except (TypeError, ValueError, OverflowError) as error:
        return error


@pytest.mark.parametrize("text", TRIPLES)
def test_triples_of_kinds(text: str) -> None:
    function = make_function("abc", [text], {"np": np})
    random = np.random.default_rng(11)
    names = list(KINDS)
    compared = 0
    for _ in range(150):
        chosen = [names[i] for i in random.integers(0, len(names), 3)]
        arguments = [KINDS[name] for name in chosen]
        if any(np.asarray(e).dtype == np.float16 for e in arguments) or not any("array" in name for name in chosen):
            continue
        expected = outcome(function, *arguments)
        if isinstance(expected, tuple) and any(np.asarray(e).dtype == np.float16 for e in expected):
            continue
        actual = outcome(call_interpreted, function, *arguments)
        if isinstance(expected, Exception):
            kind = next(k for k in (TypeError, OverflowError, ValueError) if isinstance(expected, k))
            assert isinstance(actual, kind), f"{text} of {chosen}: {actual!r} where NumPy has {expected!r}"
            sentence = str(expected).strip()
            assert isinstance(actual, OverflowError) or str(actual).startswith(sentence), f"{text} of {chosen}: {actual}"
            continue
        if isinstance(actual, OverflowError) and "clip" in text and "int" in " ".join(chosen):
            # A Python int known only at run time must fit the array's dtype, also where it bounds nothing.
            continue
        assert not isinstance(actual, Exception), f"{text} of {chosen}: {actual!r}"
        try:
            compare(actual, expected)
        except AssertionError as error:
            raise AssertionError(f"{text} of {chosen}: {error}") from None
        compared += 1
    assert compared > 60


PHASES = {
    "before": lambda c, d: c * (1j * d),
    "a sum": lambda c, d: (2 - 1j * d) * 2 + c,
    "of an element": lambda c, d: c + (1j - c.real.astype(np.float64)[0]),
    "negative": lambda c, d: np.exp(-(2j * np.pi * d) / 3 * c),
    "given to NumPy": lambda c, d: np.multiply(c, 1j * d),
    "NumPy's function": lambda c, d: c * np.multiply(1j, d),
    "NumPy's type": lambda c, d: c * np.complex128(1j * d),
    "behind": lambda c, d: c * (d * 1j),
    "of a scalar": lambda c, d: np.float32(2) * (1j * d),
}


@pytest.mark.parametrize("dtype", [np.float32, np.complex64, np.float16, np.int8, np.float64, np.complex128])
@pytest.mark.parametrize("name", PHASES)
def test_complex_numbers_of_python_before_float64_scalars(name: str, dtype: Any) -> None:
    """np.float64 is a float of Python's, and Python computes with it before NumPy is asked: `1j * s` adapts to arrays."""
    c, d = np.arange(3).astype(dtype), np.float64(0.25)
    actual, expected = pytocu.jit(PHASES[name])(c, d), PHASES[name](c, d)
    compare(actual, expected, exact=name != "negative", ulp=4)


@pytest.mark.parametrize("low", [2.5, 300.5, 3.4e38])
@pytest.mark.parametrize("high", [5, 127, 300])
@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.float32])
def test_ints_of_a_run_beside_floats_bound_nothing_past_the_end_of_a_dtype(dtype: Any, low: float, high: int) -> None:
    x = np.array([1, 100, 7], dtype)
    for function, bounds in (
        (lambda x, low, high: np.clip(x, low, high), (low, high)),
        (lambda x, low, high: x.clip(high, low), (low, high)),
        (lambda x, low, high: np.clip(x, low, high), (-low, -high)),
        (lambda x, low, high: np.clip(x, high, low), (-low, -high)),
        (lambda x, low, high: np.clip(x, low, high), (np.float32([low] * 3), high)),
    ):
        compare(pytocu.jit(function)(x, *bounds), function(x, *bounds))


@pytest.mark.parametrize("number", [0.0, 2.0, -1.0])
def test_complex_numbers_of_python_divide_as_python(number: float) -> None:
    rows = ("1j / a", "(1j * a) / 0", "1 / (1j * a)", "1j / (2j * a)", "b / a", "a / 0j", "a / (a * 0j)", "0j ** a",
            "(0j * a) ** (1j - a)", "(1j / a) * np.float32(2)", "2j ** a")  # fmt: skip
    given = [f"np.float64({number})", "2 + 1j"]
    check(given, [f"np.complex128({row})" for row in rows], ulp=8, call=call_interpreted)
