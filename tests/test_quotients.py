"""Quotients and roots of lanes that share one test: the same bits as one by one, and the shape of the code."""

from __future__ import annotations

import numpy as np
import pytest

from pytocu.passes import quotients as rewriting
from pytocu.testing import quotients

EVERY = 8009
"""An odd number, so that divisors end in all numbers of zero bits."""


def mistakes(form: str, hard: bool) -> int:
    run = quotients.on_threads(quotients.kernel(form, quick=hard))
    cases = quotients.cases(form, EVERY) if hard else quotients.edge_cases(form)
    return sum(int(quotients.wrong(form, run, a, b).sum()) for a, b in cases)


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


@pytest.mark.parametrize("form", quotients.FORMS)
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
