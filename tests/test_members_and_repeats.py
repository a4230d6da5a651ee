"""Joins of the members of one array, and elements that are repeated as often as numbers say."""

from __future__ import annotations

import numpy as np
import pytest
from function_tools import agree

from pytocu.testing.cases import call_jit
from pytocu.testing.operands import make_function

CUBE = np.arange(24.0).reshape(2, 3, 4)


@pytest.mark.parametrize("a", [CUBE, CUBE[0], CUBE[:, ::2].astype(np.int8), CUBE[:, :0], CUBE[None]],
    ids=lambda v: str(v.shape))
def test_members_are_joined(a: np.ndarray) -> None:
    texts = ["np.concatenate(a)", "np.concatenate(a, axis=-1)", "np.concatenate(a, axis=None)", "np.stack(a)",
        "np.stack(a, axis=1)",              "np.vstack(a)", "np.hstack(a)", "np.dstack(a)", "np.column_stack(a)",
        "np.concatenate(a, dtype=np.float32)"]  # fmt: skip
    agree(texts, a)


def test_members_of_a_vector_are_joined() -> None:
    agree(["np.stack(a)", "np.vstack(a)", "np.hstack(a)", "np.dstack(a)", "np.column_stack(a)", "np.concatenate(a, None)"],
        CUBE[0, 0])


@pytest.mark.parametrize("text", ["np.concatenate(a[:0])", "np.stack(a[:0])", "np.concatenate(a[0, 0])",
                                  "np.hstack(a[0, 0, 0])", "np.concatenate(a.sum())"])  # fmt: skip
def test_members_as_numpy_refuses(text: str) -> None:
    agree(text, CUBE)


COUNTS = np.array([2, 0, 3])


@pytest.mark.parametrize("i", [COUNTS, COUNTS.astype(np.int8), COUNTS > 0, COUNTS[:1]], ids=str)
def test_repeats_by_numbers(i: np.ndarray) -> None:
    agree(["np.repeat(a, b)", "a.repeat(b) + 1"], CUBE[0, :, 0], i)
    agree("np.repeat(a, b, axis=1)", CUBE, i)
    agree("np.repeat(a * 2, b.sum(), axis=-1)", CUBE, i)


@pytest.mark.parametrize("text", ["np.repeat(a, [1, 0, 2])", "np.repeat(a, (1, 0, 2), 0)", "np.repeat(a, 2.7)",
    "np.repeat(7, b)",
                                  "np.repeat(a, [3])", "np.repeat(a[:0], -1)", "np.repeat(a, np.float64(2))"])  # fmt: skip
def test_repeats_by_known_numbers(text: str) -> None:
    agree(text, CUBE[0, :, 0], COUNTS[:1])


@pytest.mark.parametrize("text", [
    "np.repeat(a, b[:2])", "np.repeat(a, b - 1)", "np.repeat(a, b.astype(float))", "np.repeat(a, b[None])",
    "np.repeat(a, [1, 2])",
    "np.repeat(a, b[0] - 5)",
])  # fmt: skip
def test_repeats_as_numpy_refuses(text: str) -> None:
    agree(text, CUBE[0, :, 0], COUNTS)


def test_a_length_that_repeats_make_goes_on() -> None:
    function = make_function("ab", ["np.repeat(a, b).reshape(-1, 5) * len(np.repeat(a, b))"], {"np": np})
    np.testing.assert_array_equal(call_jit(function, CUBE[0, :, 0], COUNTS)[0], function(CUBE[0, :, 0], COUNTS)[0])
