"""Arrays cut into pieces: views, of lengths that are known at run time."""

from __future__ import annotations

import numpy as np
import pytest
from function_tools import agree, refused

import pytocu

X = np.arange(24.0).reshape(3, 4, 2)


def test_pieces() -> None:
    agree(
        [
            "np.split(a, 3)", "np.split(a, 2, 1)", "np.split(a, (1, 3, 7), axis=1)", "np.split(a, [-1])", "np.split(a, [])",
            "np.split(a, [a.shape[0] // 2], 0)", "np.hsplit(a, 2)", "np.hsplit(a[0, :, 0], [1])", "np.vsplit(a, 3)",
            "np.dsplit(a, 2)", "np.split(a, np.int64(3))",
        ],
        X,
    )  # fmt: skip


@pytest.mark.parametrize("length", [0, 1, 2, 5, 12])
def test_pieces_of_nearly_one_length(length: int) -> None:
    agree(["np.array_split(a, 3)", "np.array_split(a, 5)", "np.array_split(a, [2, 4])", "np.array_split(a, 1, -1)"],
           np.arange(length))


@pytest.mark.parametrize(
    "text",
    ["np.split(a, 2)", "np.split(a, 0)", "np.split(a, -3)", "np.array_split(a, 0)", "np.split(a, 2, 3)",
     "np.vsplit(a[0, 0], 2)",
     "np.dsplit(a[0], 2)", "np.hsplit(a[0, 0, 0], 1)", "np.hsplit(a, 3)"],
)  # fmt: skip
def test_as_numpy_refuses(text: str) -> None:
    agree(text, X)


def test_refused() -> None:
    refused("np.split(a, np.arange(a.shape[0])[1:])", "positions in an array", X)
    refused("np.split(a, b)", "the number of pieces must be known", X, 3)


def test_pieces_are_views() -> None:
    def function(x):
        first, second = np.split(x, 2)
        first += second
        return np.array_split(x, 3)

    wanted, given = np.arange(8.0), np.arange(8.0)
    expected, found = function(wanted), pytocu.jit(function)(given)
    assert given.tolist() == wanted.tolist() and [p.tolist() for p in found] == [p.tolist() for p in expected]
    assert all(np.shares_memory(piece, given) for piece in found)


@pytest.mark.skipif(not hasattr(np, "unstack"), reason="NumPy 2.0 has no unstack")
def test_unstack() -> None:
    def function(x):
        y = np.stack([x, x * 2, x + 1])
        return np.unstack(y), np.unstack(np.stack([x, x], -1), axis=-1)

    compiled, plain = pytocu.jit(function)(X), function(X)
    assert all(np.array_equal(c, p) for cs, ps in zip(compiled, plain, strict=True) for c, p in zip(cs, ps, strict=True))
    agree("np.unstack(a[0, 0, 0])", X)
    refused("np.unstack(a)", "whose length is known only at run time", X)
