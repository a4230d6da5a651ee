"""Blocks, arrays without elements, polynomials, windows, gradients by coordinates, and what ``np.unique`` gives besides."""

from __future__ import annotations

import re

import numpy as np
import pytest
from function_tools import agree, refused
from mask_tools import builds

import pytocu
from pytocu.testing.compare import compare

X = np.arange(12.0).reshape(3, 4)
I = np.array([3, 1, 2, 2, 7, 1])
F = np.array([1, np.nan, 0.5, -0.0, np.nan, 1])
Y = np.array([0, 1, 3, 4.5, 7, 8])


def test_blocks() -> None:
    agree(
        [
            "np.block([[a, a], [a * 2, a]])", "np.block([a[0], b])", "np.block(3)", "np.block(a)", "np.block([a, a[:, :1]])",
            "np.block([[a], [a[:1]]])", "np.block([[[a]]])", "np.block([1, 2, b])",
            "np.block([[np.eye(2), np.zeros((2, 3))], [np.ones((3, 2)), a[:3, :3]]])",
        ],
        X, I,
    )  # fmt: skip


@pytest.mark.parametrize(
    "text",
    ["np.block([])", "np.block([[], [1]])", "np.block([[1, 2], [3]])", "np.block([[1, [2]]])", "np.block([[1], [2], 3])",
     "np.block((1, 2))", "np.block([a, b])"],
)  # fmt: skip
def test_blocks_as_numpy_refuses(text: str) -> None:
    agree(text, X, I)


def test_without_elements() -> None:
    agree(
        [
            "np.delete(b, 2)", "np.delete(b, -1)", "np.delete(b, -2)", "np.delete(a, 1, 0)", "np.delete(a, 0, 1)",
            "np.delete(a, 3)",
            "np.delete(a, slice(1, 3), 1)", "np.delete(b, slice(2, None))", "np.delete(b, slice(None, 2))",
            "np.delete(b, slice(-3, -1))", "np.delete(b, slice(4, 2))", "np.delete(b, b > 2)", "np.delete(a, a[0] > 1, 1)",
        ],
        X, I,
    )  # fmt: skip
    agree("np.delete(b, 9)", X, I)


def test_elements_at_positions_are_left_out() -> None:
    agree(
        [
            "np.delete(b, [1, 2])", "np.delete(a, [-1, -3], 1)", "np.delete(a, (0, -1), axis=0)", "np.delete(b, [3, 3, 0])",
            "np.delete(b, [True, False, True, True, False, False])", "np.delete(b, [])", "np.delete(b, slice(None, None, 2))",
            "np.delete(a, slice(3, 0, -2), axis=1)", "np.delete(b, slice(1, -1))", "np.delete(b, np.argmax(b))",
            "np.delete(a, b % 3, axis=1)", "np.delete(b, b[:0])", "np.delete(a, len(a) - 1, axis=0)",
        ],
        X, I,
    )  # fmt: skip


@pytest.mark.parametrize(
    "text",
    ["np.delete(b, [9, 1])", "np.delete(a, [-4], 0)", "np.delete(b, [1.0])", "np.delete(b, b[:1] + 9)", "np.delete(a, a > 1)",
     "np.delete(b, b[1:] > 2)", "np.delete(b, [1, -7])", "np.delete(a, b * 1.0)"],
)  # fmt: skip
def test_positions_as_numpy_refuses(text: str) -> None:
    agree(text, X, I)


def test_with_more_elements() -> None:
    agree(
        [
            "np.insert(b, 2, 9)", "np.insert(b, 0, [7, 8])", "np.insert(b, -1, 2.7)", "np.insert(b, [1, 3], [7, 8])",
            "np.insert(b, [3, 1], [7, 8])", "np.insert(b, [1, 1], [7, 8])", "np.insert(b, [-1, -3], 5)",
            "np.insert(b, [2], [7, 8])",
            "np.insert(a, 1, 0.5)", "np.insert(a, 1, 0.5, 0)", "np.insert(a, 1, 0.5, axis=1)", "np.insert(a, 0, a[0], axis=0)",
            "np.insert(a, 2, a[:, 0], axis=1)", "np.insert(a, [0, 2], a[:, :2], axis=1)", "np.insert(a, [1], a[:, :1], axis=1)",
            "np.insert(a, 1, a[:2], axis=0)", "np.insert(a, -1, 3, axis=-1)", "np.insert(b, 0, b)", "np.insert(3.0, 0, 1)",
        ],
        X, I,
    )  # fmt: skip
    agree("np.insert(b, 9, 1)", X, I)
    agree("np.insert(b, -9, 1)", X, I)
    with pytest.raises(OverflowError, match="too large"):
        pytocu.jit(lambda b: np.insert(b, 0, 2**70))(I)
    agree("np.insert(a, [0, 1], np.ones(a.shape[1] - 1), axis=0)", X, I)
    agree("np.insert(a, 1, [1, 2, 3, 4, 5, 6, 7], axis=0)", X, I)
    refused("np.insert(b, [1, -1], 2)", "takes positions of one sign", X, I)
    refused("np.insert(b, slice(0, 2), 2)", "takes an int, or a list of ints", X, I)


def test_repeated_to_a_shape() -> None:
    agree(["np.resize(a, (2, 3))", "np.resize(b, 10)", "np.resize(b, (3, 5))", "np.resize(a, (a.shape[1], 7))",
           "np.resize(b, 0)",
           "np.resize(3, (2, 2))", "np.resize(b[:0], (2, 2))"], X, I)  # fmt: skip
    agree("np.resize(b, (2, -1))", X, I)


def test_polynomials() -> None:
    agree(
        [
            "np.polyadd(b, [1, 2])", "np.polyadd([1, 2], b)", "np.polyadd(b, b)", "np.polysub(a[0], b)", "np.polyadd(3, b)",
            "np.polyder(b)", "np.polyder([1, 2, 3.5])", "np.polyder(b, 2)", "np.polyder(b, 0)", "np.polyder(b, 9)",
        ],
        X, I,
    )  # fmt: skip
    agree("np.polysub(b > 1, b > 2)", X, I)
    agree("np.polyder(b, -1)", X, I)


def test_windows() -> None:
    agree(["np.bartlett(6)", "np.bartlett(a.shape[1])", "np.bartlett(1)", "np.bartlett(0)", "np.hanning(1)", "np.blackman(0)",
           "np.hamming(len(a[0, :1]))"], X)  # fmt: skip
    # Cosines near 0 lose digits against the number that they are added to.
    agree(["np.hanning(7) + 1", "np.hamming(a.shape[1])", "np.blackman(9) + 1"], X, ulp=4)


def test_differences_of_neighbours() -> None:
    agree(["np.ediff1d(b)", "np.ediff1d(a, 99)", "np.ediff1d(b, to_begin=[1, 2], to_end=b)", "np.ediff1d(a[0, :1], to_end=3)",
           "np.ediff1d(a, to_begin=b[0])"], X, I)  # fmt: skip
    agree("np.ediff1d(b, 2.5)", X, I)
    agree("np.ediff1d(b > 1)", X, I)


def test_gradients_by_coordinates() -> None:
    agree(
        [
            "np.gradient(b, [0, 1, 2, 3, 4, 5])", "np.gradient(b, b)", "np.gradient(b, b, edge_order=2)", "np.gradient(c, b)",
            "np.gradient(a, [0, 1, 4], axis=0)", "np.gradient(a, 2, [0, 1, 2, 5.0])", "np.gradient(b[:2], [3, 5.0])",
            "np.gradient(a, [0, 1, 4], [0, 1, 2, 5.0], edge_order=2)", "np.gradient(b.astype('f4'), b.astype('f4'))",
        ],
        X, Y, F,
    )  # fmt: skip
    for text in ("np.gradient(b, b[1:])", "np.gradient(b, a)", "np.gradient(a, b)"):
        agree(text, X, Y)


def test_without_the_element_at_a_position_of_run_time() -> None:
    def without(x, i):
        return np.delete(x, i), np.delete(x, i, axis=0), np.delete(x, [i], axis=-1), np.delete(x, (i,), 1)

    for x in (X, np.asfortranarray(X), X[::2, ::-1], X[:, :3].T):
        for i in (0, 1, -1, -2, np.int8(1), np.uint8(0)):
            for made, wanted in zip(pytocu.jit(without)(x, i), without(x, i), strict=True):
                compare(made, wanted)
                assert made.strides == wanted.strides
    one, error = X[:1], "index {} is out of bounds for axis 0 with size {}"
    first = pytocu.jit(lambda x, i: np.delete(x, i, axis=0))
    assert first(one, 0).shape == (0, 4)
    # It is looked at where nothing would be left.
    for x, i in ((X, 3), (X, -4), (one, 1), (one, -2), (X[:0], 0)):
        with pytest.raises(IndexError, match=re.escape(error.format(i, len(x)))):
            first(x, i)


def test_the_rest_has_a_length_that_does_not_depend_on_the_step() -> None:
    def weights(x):
        n = len(x)
        found = np.zeros((n, n - 1))
        for i in range(n):
            others, width = np.delete(x[i], i), 1.0
            for _ in range(50):
                p = np.exp(-others * width)
                if p.sum() > 1.5:
                    break
                width *= 0.5
            found[i] = p
        return found

    x = np.abs(np.sin(np.arange(25.0))).reshape(5, 5) * 3
    np.testing.assert_allclose(pytocu.jit(weights)(x), weights(x), rtol=1e-13)


def test_powers_as_columns() -> None:
    agree(["np.vander(a)", "np.vander(a, 3)", "np.vander(a, increasing=True)", "np.vander(b, 1)", "np.vander(a, 0)",
           "np.vander(a > 1)", "np.vander(a.astype('u1'), b.shape[0])", "np.vander(b, 4)"], I, Y)  # fmt: skip
    # A number itself stands beside the ones, also where 1 * x is another.
    agree(["np.vander(a, 2)", "np.vander(a, 3, increasing=True)[:, 1]"], np.array([complex(np.inf, 0), complex(1, np.nan), 2j]))


def test_unique_and_what_it_gives_besides() -> None:
    agree(["np.unique(a)", "np.unique(a, return_counts=True)", "np.unique(a, True, True, True)", "np.unique(a, True)"], I)
    agree(["np.unique(a, return_inverse=True)", "np.unique(a, return_index=True)"], F)
    agree(["np.unique(a, return_counts=True)", "np.unique(a, equal_nan=False, return_counts=True)"], F)
    agree(["np.unique(a.reshape(2, 3), return_inverse=True)", "np.unique(a > 2, return_inverse=True, return_counts=True)"], I)
    agree("np.unique(a[:0], return_counts=True)", I)


def test_cubins() -> None:
    builds(lambda x, i: (np.unique(i, return_counts=True), np.block([[x], [x]]), np.hanning(x.shape[1]) * x), X, I)
    builds(lambda y: (np.gradient(y, y), np.vander(y), np.polyder(y)), Y)
