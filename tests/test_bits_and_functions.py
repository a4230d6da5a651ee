"""Bits of bytes, functions that are given functions, the array API's sets, and what is known of dtypes."""

from __future__ import annotations

import numpy as np
import pytest
from edge_tools import check
from function_tools import agree, refused

from pytocu.errors import UnsupportedError
from pytocu.testing.cases import call_jit
from pytocu.testing.operands import make_function

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


LANES = np.random.default_rng(1).random((4, 5))
BLOCKS = np.random.default_rng(2).random((2, 4, 3))


def test_functions_of_vectors_along_an_axis() -> None:
    agree(
        [
            "np.apply_along_axis(lambda r: r.max() - r.min(), 1, a)", "np.apply_along_axis(np.sort, 0, a)",
            "np.apply_along_axis(np.sort, axis=-2, arr=b)", "np.apply_along_axis(lambda r, k, p=1: r[:k] * p, 1, b, 2, p=3)",
            "np.apply_along_axis(lambda r: np.outer(r, r), 1, b)", "np.apply_along_axis(np.outer, 0, a[:, :2], a[0])",
            "np.apply_along_axis(lambda r: 1, 0, a)", "np.apply_along_axis(lambda r: 2 * r[0], 0, a[0])",
            "np.apply_along_axis(lambda m: np.convolve(m, [1, 2, 1], mode='valid'), axis=1, arr=a)",
            "np.apply_along_axis(np.argmax, 0, a)", "np.apply_along_axis(np.sum, 1, a[a[:, 0] > 1])",
            "np.apply_along_axis(lambda r: (r[0], r[1]), 0, b)",
            "np.apply_along_axis(lambda r: np.interp(a[0], a[0], r), 1, a)", "np.apply_along_axis(np.max, 1, a[:, ::-2])",
        ],
        LANES, BLOCKS,
    )  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        "np.apply_along_axis(np.sort, 2, a)", "np.apply_along_axis(np.sort, 0, a[:, :0])",
        "np.apply_along_axis(np.sort, 1, a[:, :0])",
        "np.apply_along_axis(lambda r: r[9], 1, a)", "np.apply_along_axis(np.sum, 0, 3.0)",
        "np.apply_along_axis(lambda r: np.dot(r, a), 1, a)", "np.apply_along_axis(np.max, 1, a[:, :0])",
    ],
)  # fmt: skip
def test_errors_along_an_axis(text: str) -> None:
    agree(text, LANES)


def test_a_vector_that_its_function_changes() -> None:
    def first(r):
        r[0] = 7
        return r.sum()

    function = make_function("x", ["np.apply_along_axis(first, 1, x)"], {"np": np, "first": first})
    changed, expected = LANES.copy(), LANES.copy()
    assert np.allclose(call_jit(function, changed), function(expected))
    assert np.array_equal(changed, expected)
    with pytest.raises(UnsupportedError, match="changes the vector it is given"):
        call_jit(function, BLOCKS.copy())


def test_lengths_that_differ_along_an_axis_are_refused() -> None:
    refused("np.apply_along_axis(np.unique, 1, np.round(a) * 0)", "lengths that depend on what is in", LANES)


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
