"""Bits of bytes, functions that are given functions, the array API's sets, and what is known of dtypes."""

from __future__ import annotations

import numpy as np
import pytest
from edge_tools import check
from function_tools import agree

X = np.array([[3, 0, 5, 1, 0, 9, 2, 2, 0], [0, 1, 1, 0, 7, 0, 0, 1, 1]], np.uint8)


BITS = [
    "np.packbits(a, bitorder=o)", "np.packbits(a > 1, axis=1, bitorder=o)", "np.packbits(a, 0, o)",
    "np.unpackbits(a, bitorder=o)", "np.unpackbits(a, 0, bitorder=o)", "np.unpackbits(a, axis=-1, count=11, bitorder=o)",
    "np.unpackbits(a, count=-5, bitorder=o)", "np.unpackbits(np.packbits(a, bitorder=o), bitorder=o)",
]  # fmt: skip


@pytest.mark.parametrize("order", ["'big'", "'little'"])
def test_bits(order: str) -> None:
    agree([text.replace("o)", f"{order})") for text in BITS], X)


def test_bits_of_little() -> None:
    rows = [
        "np.packbits(a)", "np.unpackbits(a)", "np.packbits(a * 1.0)", "np.unpackbits(a.astype(int))", "np.packbits(a, axis=1)",
        "np.packbits(a, bitorder='x')", "np.unpackbits(a, count=-90)",
    ]  # fmt: skip
    for text in ("np.uint8(5)", "np.zeros((0, 3), np.uint8)", "np.array([5], np.uint8)", "np.zeros(0, np.uint8)"):
        check((text,), rows)
    check(("np.array([5], np.uint8)",), ["np.unpackbits(a, count=90)"])


def test_functions_that_are_given_functions() -> None:
    agree(["np.fromfunction(lambda i, j: i + 2 * j, (2, 3)) * a[0, 1]",
        "np.fromfunction(lambda i, j: i == j, (3, 3), dtype=int)",
        "np.fromfunction(lambda i, k: i * k, a.shape[:1], k=2.5)", "np.mask_indices(3, np.triu, 1)",
        "np.mask_indices(3, lambda m, k: np.tril(m, k), -1)", "np.apply_over_axes(np.sum, a, [0, 1])",
        "np.apply_over_axes(np.max, a, -1)", "np.apply_over_axes(lambda x, axis: x.cumsum(axis), a, (0,))"], X)  # fmt: skip
    agree("np.apply_over_axes(lambda x, axis: x.sum(), a, 0)", X)


def test_sets_of_the_array_api() -> None:
    floats = np.array([[1, np.nan, 0], [np.nan, 1, 2.5]])
    for a in (X, floats):
        rows = ["np.unique_all(a)", "np.unique_counts(a)", "np.unique_inverse(a)", "np.sort(np.unique_values(a))",
            "np.unique_all(a).counts", "np.unique(a, return_inverse=True, equal_nan=False)[1]"]  # fmt: skip
        check(("a0",), rows, scope={"a0": a})


def test_sorted_as_complex_numbers_and_by_rows() -> None:
    for dtype in (np.int8, np.int32, np.float32, np.complex64):
        agree("np.sort_complex(a)", X.astype(dtype))
    agree(["np.lexsort((a[0], a[1]))", "np.lexsort(np.stack((a[0], a[1])))"], X)


def test_what_is_known_of_dtypes() -> None:
    rows = ["np.isdtype(a.dtype, 'integral')", "np.isdtype(a.dtype, ('bool', 'real floating'))", "np.iterable(a)",
        "np.iterable(a[0, 0])", "np.zeros(2, np.common_type(a, np.float32(1)))", "np.common_type(a > 0)"]  # fmt: skip
    check(("np.ones((2, 2), np.int16)",), rows)
