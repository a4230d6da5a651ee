"""Membership and sets, positions of several axes as numbers, open meshes, and changes where a mask holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from function_tools import agree
from mask_tools import builds, everywhere

import pytocu

RANDOM = np.random.default_rng(4)
MANY, FEW = RANDOM.integers(0, 20, 30), RANDOM.integers(0, 20, 7)
FLOATS, OTHERS = np.r_[MANY[:9] / 4, np.nan, np.nan], np.r_[FEW / 4, np.nan]
X = np.arange(12.0).reshape(3, 4)
MASK = X % 3 == 0
D = np.array([0, 5, 11, 3])


def test_membership() -> None:
    agree(
        [
            "np.isin(a, b)", "np.isin(a, [1, 2, 3])", "np.isin(a.reshape(5, 6), b, invert=True)", "np.isin(c, d)",
            "np.isin(c, [1, np.nan, 0])", "np.isin(a, c)", "np.isin(a.astype('u1'), b.astype('i2'))", "np.isin(a > 5, [True])",
            "np.isin(a > 5, b > 90)", "np.isin(a[0], b)", "np.isin(3, b)", "np.isin(a, b[:0])", "np.isin(a[:0], b)",
            "np.isin(a, [])",
            "np.isin(a, b, kind='sort')", "np.isin(a, b, assume_unique=True)", "np.isin(a, 3)",
        ],
        MANY, FEW, FLOATS, OTHERS,
    )  # fmt: skip
    agree("np.isin(a, b, kind='x')", MANY, FEW)
    agree("np.isin(a, b)", MANY, FEW.astype("u8"))


def test_sets() -> None:
    agree(["np.union1d(a, b)", "np.intersect1d(a, b)", "np.setdiff1d(a, b)"], MANY, FEW)
    agree(["np.union1d(a, b)", "np.setdiff1d(a, b)", "np.setdiff1d(a.reshape(1, -1), [3, 4])"], FLOATS, OTHERS)


ROWS, PLANES = RANDOM.integers(0, 3, (30, 3)), RANDOM.integers(0, 2, (3, 4, 2)) / 2
WITH_NAN = np.array([[1, np.nan], [1, np.nan], [0, 2], [-0.0, 2]])


def test_different_rows() -> None:
    agree(
        [
            "np.unique(a, axis=0)", "np.unique(a, axis=1)", "np.unique(a, axis=-1, return_index=True)",
            "np.unique(a, True, True, True, 0)", "np.unique(a[:, ::-1].T, return_inverse=True, axis=1)",
            "np.unique(b, axis=0)", "np.unique(b, axis=1, return_counts=True)", "np.unique(b, axis=2, return_inverse=True)",
            "np.unique(c, True, True, True, axis=0)", "np.unique(c.astype('c8'), axis=0, equal_nan=False)",
            "np.unique(a > 1, True, axis=0)", "np.unique(a.astype('f2'), axis=0)", "np.unique(a[0], True, True, axis=-1)",
            "np.unique([[1, 2], [1, 2]], axis=0)",
        ],
        ROWS, PLANES, WITH_NAN,
    )  # fmt: skip
    for empty in ("a[:0]", "a[:, :0]", "a[:0, :0]"):
        agree([f"np.unique({empty}, True, True, True, axis={axis})" for axis in (0, 1)], ROWS)


@pytest.mark.parametrize(
    "text",
    ["np.unique(a, axis=2)", "np.unique(a[0], axis=1)", "np.unique(3, axis=0)", "np.unique(a, axis=(0,))",
     "np.unique(a, axis=1.0)"],
)  # fmt: skip
def test_axes_of_different_rows(text: str) -> None:
    agree(text, ROWS)


def test_numbers_of_positions() -> None:
    agree(
        [
            "np.unravel_index(d, (3, 4))", "np.unravel_index(d, a.shape)", "np.unravel_index(d, (3, 4), 'F')",
            "np.unravel_index(7, (3, 4))", "np.unravel_index(d[0], (2, 2, 3))", "np.unravel_index([1, 2], (3, 4))",
            "np.unravel_index(np.argmax(a), a.shape)", "np.ravel_multi_index((d % 3, d % 4), (3, 4))",
            "np.ravel_multi_index((d % 3, d % 4), a.shape, order='F')", "np.ravel_multi_index((d, d), (3, 4), mode='wrap')",
            "np.ravel_multi_index((d, -d), (3, 4), mode=('clip', 'wrap'))", "np.ravel_multi_index((1, 2), (3, 4))",
            "np.ravel_multi_index(([1, 2], [0, 3]), (3, 4))", "a[np.ix_([0, 1], [1, 3])]", "a[np.ix_(c[:3] > 5, d % 2)]",
            "np.ix_([], d)", "np.ix_(d, d[:1], [7])",
        ],
        X, MASK, np.array([5.0, 6, 7]), D,
    )  # fmt: skip


@pytest.mark.parametrize(
    "text",
    ["np.unravel_index(b[1:3], (3, 3))", "np.unravel_index(a, (3, 4))", "np.ravel_multi_index((b, b), (3, 4))",
     "np.ravel_multi_index((b, b, b), (3, 4))", "np.ix_(a)"],
)  # fmt: skip
def test_numbers_as_numpy_refuses(text: str) -> None:
    agree(text, X, D)


def masked_number(a: Any, b: Any, c: Any) -> None:
    np.putmask(a, b, 3)


def masked_values(a: Any, b: Any, c: Any) -> None:
    np.putmask(a, b, c)


def masked_list(a: Any, b: Any, c: Any) -> None:
    np.putmask(a[1:], b[1:], [7, 8])


def masked_itself(a: Any, b: Any, c: Any) -> Any:
    np.putmask(a, a > 3, a * 2)
    return a + 1


def placed(a: Any, b: Any, c: Any) -> None:
    np.place(a, b, c)


def placed_list(a: Any, b: Any, c: Any) -> None:
    np.place(a.T, b.T.ravel(), [1, 2])


def placed_number(a: Any, b: Any, c: Any) -> None:
    np.place(a, b, 2.5)


def too_large(a: Any, b: Any, c: Any) -> None:
    np.place(a, b, 300)


@pytest.mark.parametrize(
    "function", [masked_number, masked_values, masked_list, masked_itself, placed, placed_list, placed_number, too_large]
)
def test_changes_by_a_mask(function: Any) -> None:
    for target in (X.copy(), X.astype("i1")):
        everywhere(function, target, MASK, np.array([5, 6, 7.0]))


def test_masks_and_values_that_do_not_fit() -> None:
    everywhere(masked_values, X.copy(), MASK[:2], np.ones(2))
    everywhere(placed, X.copy(), MASK.copy(), np.ones(0))


def test_cubins() -> None:
    builds(lambda a, b: (np.isin(a, b), np.isin(a, [1, 2]), np.unravel_index(b, a.shape)), MANY, FEW)
    builds(placed, X.copy(), MASK, np.ones(2))


def test_integers_are_different_before_they_are_joined() -> None:
    large = np.array([2, 2**64 - 3, 2**64 - 4, 1], np.uint64)
    texts = ["np.intersect1d(a, [1, 2])", "np.intersect1d(b, a)", "np.intersect1d(a, b, return_indices=True)"]
    agree(texts, large, np.array([1, 2]))
    agree(["np.intersect1d(a, b)"], np.array([2**53 + 1, 2**53, 1]), np.array([1.0, 2.0**54]))


def test_a_mesh_of_one_vector_is_a_view_of_its_own() -> None:
    vector = np.arange(3)
    (made,) = pytocu.jit(lambda a: np.ix_(a))(vector)
    assert made is not vector and np.shares_memory(made, vector)
