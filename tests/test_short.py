"""Integers of 16 bits, whose least one is its own negative."""

from __future__ import annotations

import re

import numpy as np
import pytest
from short_tools import FUNCTIONS

import pytocu
from pytocu.testing.compare import compare


@pytest.mark.parametrize("arch", ["sm_75", "sm_90"])
@pytest.mark.parametrize("backend", ["cuda_c", "nvvm"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_compilers_negate_words(name: str, backend: str, arch: str) -> None:
    text = pytocu.jit(FUNCTIONS[name]).lower("i16[n]").compile(f"cuda:{arch}", backend).assembly
    # Before CUDA 13.3 the assembler takes these for instructions on 32 bits.
    assert not re.search(r"(neg|abs)\.s16|sub\.[su]16\s+%\w+, 0,", text)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32])
def test_the_least_integer(name: str, dtype: type) -> None:
    least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
    x = np.array([least, least + 1, -1, 0, 1, most, least] * 5, dtype)
    compare(pytocu.jit(FUNCTIONS[name])(x), FUNCTIONS[name](x))
