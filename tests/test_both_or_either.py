"""``p & q`` beside ``p | q``, which NVIDIA's assemblers write as one instruction with two results.

Where more truth values are alive than a GPU has predicate registers, they take the wrong one.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np
import pytest
from pair_tools import PAIRS, SINGLE

import pytocu


def pairs(cubin: bytes) -> int:
    """How many instructions of an sm_90 kernel give two results of the same truth values (``PLOP3`` with a second table)."""
    return sum(1 for word in _instructions(cubin) if word & 0x1FF == 0x01C and word >> 16 & 0xFF)


def _instructions(cubin: bytes) -> Iterator[int]:
    (table,) = struct.unpack_from("<Q", cubin, 40)
    size, count, names = struct.unpack_from("<HHH", cubin, 58)
    headers = [struct.unpack_from("<IIQQQQIIQQ", cubin, table + size * number) for number in range(count)]
    for header in headers:
        if cubin.startswith(b".text.", headers[names][4] + header[0]):
            code = cubin[header[4] : header[4] + header[5]]
            yield from (int.from_bytes(code[at : at + 16], "little") for at in range(0, len(code), 16))


@pytest.mark.parametrize("dtype", ["i32", "u8", "f64", "f16"])
@pytest.mark.parametrize("backend", ["cuda_c", "nvvm"])
@pytest.mark.parametrize("name", PAIRS)
def test_no_instruction_with_two_results(name: str, backend: str, dtype: str) -> None:
    lowered = pytocu.jit(PAIRS[name], backend=backend).lower(*[dtype] * 3)
    assert "hidden_word" in lowered.ir()
    assert pairs(lowered.compile("cuda:sm_90").binary) == 0


@pytest.mark.parametrize("dtype", ["i32", "f64"])
@pytest.mark.parametrize("name", SINGLE)
def test_what_is_no_pair_is_written_as_it_is(name: str, dtype: str) -> None:
    lowered = pytocu.jit(SINGLE[name]).lower(*[f"{dtype}[n]"] * 3)
    assert "hidden_word" not in lowered.ir()
    assert pairs(lowered.compile("cuda:sm_90", "cuda_c").binary) == 0


def test_orders_of_floats_have_no_opposites() -> None:
    """``~(x < y)`` is not ``x >= y``, where one of them is NaN."""

    def both(x, y, z):
        return (x < y) & (y < z), (x >= y) | (y < z), (x >= y) & (y >= z)

    assert "hidden_word" not in pytocu.jit(both).lower("f64[n]", "f64[n]", "f64[n]").ir()
    assert "hidden_word" in pytocu.jit(both).lower("i64[n]", "i64[n]", "i64[n]").ir()


def test_processors_have_no_predicate_registers() -> None:
    assert "hidden_word" not in pytocu.jit(PAIRS["logical"]).lower("i32[n]", "i32[n]", "i32[n]").ir(target="cpu")


@pytest.mark.parametrize("name", PAIRS)
def test_the_answer_is_that_of_the_pair(name: str) -> None:
    from pytocu.testing.matrix import call_threads

    x, y, z = (np.repeat(a, 9) if n == 0 else np.tile(np.repeat(a, 3), 3) if n == 1 else np.tile(a, 9)
               for n, a in enumerate([np.array([0, 1, 2], np.int32)] * 3))  # fmt: skip
    for actual, expected in zip(call_threads(PAIRS[name], x, y, z), PAIRS[name](x, y, z), strict=True):
        np.testing.assert_array_equal(actual, expected, strict=True)
