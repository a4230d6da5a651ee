"""Traces, positions of diagonals and triangles, assignment to diagonals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from function_tools import agree, refused
from mask_tools import builds, everywhere

X = np.arange(12.0).reshape(3, 4)
Q = np.arange(16).reshape(4, 4).astype("i2")
Z = np.arange(24.0).reshape(2, 3, 4)


def test_traces() -> None:
    agree(
        [
            "np.trace(a)", "a.trace(1)", "np.trace(b)", "np.trace(b, -2)", "np.trace(c, 0, 1, 2)", "np.trace(b > 3)",
            "np.trace(c, axis1=-1, axis2=0, dtype='f4')", "np.linalg.trace(c)", "np.linalg.diagonal(c, offset=1)",
            "np.trace(b, dtype=np.int8)", "np.trace(c, out=c[0, 0])", "np.trace(a, 9)",
            "c.trace(axis1=1, axis2=2, out=c[:, 1, 1])",
        ],
        X, Q, Z,
    )  # fmt: skip


@pytest.mark.parametrize("text", ["np.trace(a[0])", "np.trace(a, 0, 1, 1)", "np.linalg.trace(a[0])"])
def test_traces_as_numpy_refuses(text: str) -> None:
    agree(text, X)


SHAPES = [(0, 0), (1, 1), (3, 3), (5, 2), (2, 5), (0, 3), (3, 0)]


@pytest.mark.parametrize("shape", SHAPES)
def test_positions_of_triangles(shape: tuple[int, int]) -> None:
    n, m = shape
    texts = [
        text
        for k in (-7, -2, -1, 0, 1, 2, 7)
        for text in (f"np.tril_indices(a.shape[0], {k}, a.shape[1])", f"np.triu_indices({n}, {k}, {m})")
    ]
    agree([*texts, "np.triu_indices_from(a)", "np.tril_indices_from(a, -1)", "np.tril_indices(len(a))"], np.ones(shape))


def test_elements_of_a_triangle_meet_other_lengths() -> None:
    """How many there are follows from the shape: nothing is read back."""
    agree(["a[np.triu_indices(a.shape[0], 1)] * np.arange(a.shape[0] * (a.shape[0] - 1) // 2)"], Q)


def test_positions_of_diagonals() -> None:
    agree(
        [
            "np.diag_indices(4)", "np.diag_indices(a.shape[0], 3)", "b[np.diag_indices(4)]", "np.diag_indices_from(b)",
            "np.diagflat(a)", "np.diagflat(a[0], 1)", "np.diagflat(3, -1)", "np.diagflat([[1, 2], [3, 4]])",
        ],
        X, Q,
    )  # fmt: skip


@pytest.mark.parametrize(
    "text", ["np.diag_indices_from(a)", "np.diag_indices_from(a[0])", "np.triu_indices_from(c)", "np.tril_indices_from(a[0])"]
)
def test_positions_as_numpy_refuses(text: str) -> None:
    agree(text, X, Q, Z)


def test_numbers_of_run_time() -> None:
    """Where a diagonal is, is a Python int of the call, a length, or read from data."""
    texts = ["np.diagonal(a, d)", "np.trace(c, d, 1, 2)", "np.diag(a[0], d)", "np.triu_indices_from(a, d)"]
    texts += ["np.tril_indices(3, d)"]
    for k in (0, 2, -1, 9, -9):
        agree(texts if k < 1 else [*texts, "np.diag(b, len(a) - 2)", "a.trace(np.argmax(b[0]) - 1)"], X, Q, Z, k)
    agree("np.diagonal(a, b)", X, 2**31)


def all_traces(a: Any) -> Any:
    made = np.zeros(a.shape[1])
    for k in range(a.shape[1]):
        made[k] = np.trace(a, k) + a.diagonal(-k).sum()
    return made


def test_diagonals_of_steps() -> None:
    everywhere(all_traces, X)


def test_positions_refused() -> None:
    refused("np.tril_indices(4, a)", "the number of a diagonal is a value of type weak float", 2.0)


def number(a: Any, b: Any) -> None:
    np.fill_diagonal(a, 3)


def several(a: Any, b: Any) -> None:
    np.fill_diagonal(a, b)


def wrapped(a: Any, b: Any) -> Any:
    np.fill_diagonal(a, b[0], wrap=True)
    return a + 1


def of_a_view(a: Any, b: Any) -> Any:
    np.fill_diagonal(a[:, 1:].T, b[:2] * 2)
    return a.sum(0)


def truncated(a: Any, b: Any) -> None:
    np.fill_diagonal(a, 2.75)


def too_large(a: Any, b: Any) -> None:
    np.fill_diagonal(a, 300)


def of_a_list(a: Any, b: Any) -> None:
    np.fill_diagonal(a, [1, 2])


FILLED: tuple[Callable[..., Any], ...] = (number, several, wrapped, of_a_view, truncated, too_large, of_a_list)
TARGETS = [np.zeros((3, 4)), np.zeros((7, 2)), np.zeros((4, 4), "i1"), np.zeros((3, 3, 3)), np.zeros((2, 3, 3)), np.zeros(3)]


@pytest.mark.parametrize("function", FILLED)
def test_diagonals_are_filled(function: Callable[..., Any]) -> None:
    for target in TARGETS:
        if function is of_a_view and target.ndim != 2:
            continue
        everywhere(function, target.copy(), np.array([5.5, 6, 7]))


def test_cubins() -> None:
    builds(lambda x: (np.trace(x), np.triu_indices_from(x), x[np.tril_indices_from(x, -1)]), X)
