"""Arrays that are joined, and joined again: their code grows with the text of the function, not with what its branches hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from mask_tools import everywhere

import pytocu


def rolled(x: Any) -> Any:
    for i in range(12):
        x = np.roll(x, 1) * 0.5 + i
    return x


def padded(x: Any) -> Any:
    for i in range(12):
        x = np.pad(x, 1, mode="wrap")[1:-1] * 0.5 + np.concatenate((x[3:], x[:3])) + i
    return x


def written(function: Any, target: str, times: int) -> int:
    """Instructions of the kernels of a function that does something so many times."""
    kernels = pytocu.jit(function).lower("f64[n]").compile(target).kernels
    return sum(kernel.ir.count("\n") for kernel in kernels) // times


@pytest.mark.parametrize("target", ["cpu", "cuda:sm_90"])
@pytest.mark.parametrize("function", [rolled, padded])
def test_the_code_of_a_chain_stays_small(function: Any, target: str) -> None:
    # With code for each piece of each piece it were thousands for each step.
    assert written(function, target, 12) < 400


@pytest.mark.parametrize("function", [rolled, padded])
def test_chains_have_numpys_numbers(function: Any) -> None:
    everywhere(function, np.arange(50.0))
