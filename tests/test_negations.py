"""Negated int32 in minima and maxima, of which NVIDIA's assemblers forget one where three numbers are compared at once."""

from __future__ import annotations

import re

import numpy as np
import pytest
from negation_tools import FUNCTIONS, MAGNITUDES

import pytocu

EXTREME = re.compile(r"(?:min|max)\.s32\s+%r\d+, (%r\d+), (%r\d+|-?\d+);")


def negated(text: str) -> list[str]:
    """Minima and maxima in PTX of numbers that are negations."""
    made = set(re.findall(r"neg\.s32\s+(%r\d+)", text))
    return [found[0] for found in EXTREME.finditer(text) if made & set(found.groups())]


@pytest.mark.parametrize("types", ["i32[n, 3]", "i32[n, m]", "i32[n, 1000]"])
@pytest.mark.parametrize("backend", ["cuda_c", "nvvm"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_extreme_of_a_negation(name: str, backend: str, types: str) -> None:
    text = pytocu.jit(FUNCTIONS[name], backend=backend).lower(types).compile("cuda:sm_90").assembly
    assert EXTREME.search(text)
    assert not negated(text)


@pytest.mark.parametrize("dtype", ["i32", "i64"])
@pytest.mark.parametrize("backend", ["cuda_c", "nvvm"])
@pytest.mark.parametrize("name", [name for name in MAGNITUDES if name not in ("wider", "its own", "power")])
def test_no_magnitude_that_is_more_than_added_and_multiplied(name: str, backend: str, dtype: str) -> None:
    """The assembler takes a magnitude for a number that is not negative."""
    types = f"{dtype}[n]", f"{dtype}[n]", "f64[n]", "u64[n]"
    text = pytocu.jit(MAGNITUDES[name], backend=backend).lower(*types).compile("cuda:sm_90").assembly
    assert not re.search(r"abs\.s(?:32|64)", text)


def test_what_is_not_arithmetic_is_compared_as_it_is() -> None:
    def largest(x):
        return np.max(x, axis=1), np.clip(x, 0, 255)

    text = pytocu.jit(largest).lower("i32[n, 3]").compile("cuda:sm_90").assembly
    assert EXTREME.search(text) and "prmt" not in text


def test_formulas_of_absolute_values_stay_one_instruction() -> None:
    # libNVVM leaves straight code as it is: a comparison and a selection, with nothing hidden.
    made = {backend: pytocu.jit(lambda x: np.abs(x) + 1, backend=backend).lower("i32[n]") for backend in ("cuda_c", "nvvm")}
    texts = {backend: lowered.compile("cuda:sm_90").assembly for backend, lowered in made.items()}
    assert "abs.s32" in texts["cuda_c"]
    assert not any("prmt" in text for text in texts.values())


def test_processors_negate_as_they_do() -> None:
    ir = pytocu.jit(FUNCTIONS["largest"]).lower("i32[n, 3]").ir(target="cpu")
    assert "hidden_word" not in ir
