"""Positions known now, ``ufunc.at`` of any index, values of borders and of ``np.put``."""

from __future__ import annotations

import pytest
from edge_tools import check

MATRIX, I, J = "np.arange(12.0).reshape(3, 4)", "np.array([2, 0, 2, 1])", "np.array([1, 1, 1, 3])"


INDICES = ["(b, c)", "b", "(slice(None), c)", "[0, 2, 0]", "([0, 0, 1], c[:3])", "0", "slice(None, 2)", "(..., 1)", "(b, 0)"]


def test_at_of_any_index() -> None:
    for index in INDICES:
        rows = [f"np.add.at(a, {index}, 1.5)\nreturn a", f"np.maximum.at(a, {index}, 5)\nreturn a",
                f"np.multiply.at(a[:, ::-1], {index}, 2)\nreturn a"]  # fmt: skip
        check((MATRIX, I, J), rows)
    rows = ["np.add.at(a, (b, c), np.arange(4.0))\nreturn a", "np.add.at(a, b, np.arange(4.0))\nreturn a",
            "np.add.at(a, b, np.arange(4.0)[:, None])\nreturn a", "np.add.at(a[:, 0], [0, 0], [3, 4])\nreturn a"]  # fmt: skip
    check((MATRIX, I, J), rows)


def test_at_as_numpy_refuses() -> None:
    check((MATRIX, I, J), ["np.add.at(a, (b, c + 3), 1)", "np.add.at(a, [5], 1)", "np.add.at(a, (b, c), np.ones(3))",
                           "np.add.at(a, b, np.ones((2, 4, 4)))", "np.add.at(a, (0, 0, 0), 1)"])  # fmt: skip


def test_known_positions_are_compared_by_the_call() -> None:
    rows = ["a[[7]]", "a[[0, -4]]", "a[:, [5, 0]]", "a[[]]", "a[[0, -1]]", "np.take(a, [9], axis=1)", "a[[0, 1], [0, 7]]",
            "a[[7]] = 1\nreturn a", "a[[0, 5]] += 1\nreturn a", "a[[[0, -1], [1, 0]]]"]  # fmt: skip
    for array in (MATRIX, "np.zeros((3, 0))", "np.zeros((0, 4))"):
        check((array,), rows)


def test_positions_of_sides_that_are_not_taken() -> None:
    body = "for i in range(b):\n    if i > 3:\n        a[[9]] = 1\n    a[[0, -1]] += 1\nreturn a"
    check(("np.arange(5.0)", "3"), [body])


@pytest.mark.parametrize("b", ["np.array([1.5, 2.5])", "np.array([[1.5], [2.5]])", "np.array([[1, 2], [3, 4]])",
    "np.array([7])",
                               "np.zeros(3)", "np.zeros((1, 2, 2))", "np.zeros((4, 4))"])  # fmt: skip
def test_borders_of_values_in_an_array(b: str) -> None:
    check((MATRIX, b), ["np.pad(a, 1, constant_values=b)", "np.pad(a, (0, 2), constant_values=b)"])
    check(("np.arange(3, dtype=np.int8)", b), ["np.pad(a, (1, 2), constant_values=b)"])


def test_values_for_nothing() -> None:
    rows = ["np.put(a, [0, 1], b)\nreturn a", "np.put(a[:0], [0], 1)", "np.put(a[0, 0], [0], 1)", "a.put(c, b[:, 0])\nreturn a"]
    for values in ("np.ones((2, 3))", "np.ones((0, 3))"):
        check((MATRIX, values, I), rows)


def test_sums_of_rows_of_coefficients() -> None:
    for other in ("np.ones((3, 4))", "np.ones((2, 4))", "np.ones(3)"):
        check((MATRIX, other), ["np.polyadd(a, b)", "np.polysub(b, a)"])


def test_sentences() -> None:
    rows = ["np.inner(a, np.ones((3, 4, 2)))", "np.choose([0, 1, 0], [a, a])", "np.linalg.lstsq(a, np.ones(2))",
            "np.concatenate((a, 3.0))", "np.concatenate((3.0, a))"]  # fmt: skip
    check((MATRIX,), rows)


def test_leading_axes_of_length_1_are_left_out_of_sentences() -> None:
    for values in ("np.ones((1, 5))", "np.ones((1, 1, 5))", "np.ones((1, 1, 4))", "np.ones((1, 2, 4))", "np.ones((2, 2, 4))"):
        check((MATRIX, values), ["a[:] = b\nreturn a", "a[0] = b\nreturn a", "np.copyto(a, b)\nreturn a"])
