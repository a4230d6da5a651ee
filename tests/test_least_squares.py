"""``np.linalg.lstsq`` and ``np.linalg.multi_dot``."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from edge_tools import check
from mask_tools import everywhere

import pytocu
from pytocu.errors import UnsupportedError
from pytocu.ir.types import shape_of

_RANDOM = np.random.default_rng(3)
A, B = _RANDOM.random((5, 3)), _RANDOM.random((5, 2))
DEPENDENT = np.c_[A[:, :2], A[:, 0] + A[:, 1]]
GIVEN = ["A.copy()", "B[:, 0].copy()", "B.copy()", "D.copy()", "A.astype('f4')", "B[:, 0].astype('f4')"]
SCOPE = {"A": A, "B": B, "D": DEPENDENT}


def solved(a: Any, b: Any) -> Any:
    return np.linalg.lstsq(a, b)


CASES = {
    "vector": (A, B[:, 0]),
    "several": (A, B),
    "square": (A[:3], B[:3]),
    "wide": (A.T.copy(), B[:3, 0].copy()),
    "complex": (A * (1 + 2j), B[:, 0]),
    "integers": (np.arange(15).reshape(5, 3) % 4, B[:, 0]),
    "one column": (A[:, :1], B),
}


@pytest.mark.parametrize("name", CASES)
def test_solutions(name: str) -> None:
    """A bound in units of the last place: NumPy's library takes another way to the same numbers."""
    everywhere(solved, *CASES[name], ulp=4096)


def test_a_matrix_of_lower_rank_has_no_residuals() -> None:
    jitted = pytocu.jit(solved)
    for a, b in ((DEPENDENT, B), (A * 0, B), (A, B)):
        (x, residuals, rank, values), (wanted, left, number, numbers) = jitted(a, b), solved(a, b)
        np.testing.assert_allclose(x, wanted, rtol=1e-9)
        assert residuals.shape == left.shape and type(rank) is type(number) and rank == number
        np.testing.assert_allclose(values, numbers, atol=1e-15)


def test_options_of_least_squares() -> None:
    check(GIVEN, ["np.linalg.lstsq(a, b, 0.5)[0]", "np.linalg.lstsq(a, b, -1)[2]", "np.linalg.lstsq(d, b, 1e-3)[2]",
                  "np.linalg.lstsq(a, b, 0)[2]", "np.linalg.lstsq(a, b, 1.5)[0]", "np.linalg.lstsq(a, b, np.nan)[0]"], ulp=4096,
          scope=SCOPE)  # fmt: skip
    check(GIVEN, ["np.linalg.lstsq(a, b[:4])", "np.linalg.lstsq(b, b)", "np.linalg.lstsq(a, 1.0)", "np.linalg.lstsq(a, b, 'a')",
                  "np.linalg.lstsq(a.astype('f2'), b)"], scope=SCOPE)  # fmt: skip
    with pytest.raises(UnsupportedError, match="of an empty matrix"):
        pytocu.jit(solved)(A[:0], B[:0])


def test_products_of_several_matrices() -> None:
    check(
        GIVEN,
        ["np.linalg.multi_dot([a.T, a, a.T])", "np.linalg.multi_dot([a.T, b])", "np.linalg.multi_dot([b, a, a.T, b])",
         "np.linalg.multi_dot([b, a])", "np.linalg.multi_dot([b, a, a.T])", "np.linalg.multi_dot((a.T, a, a.T, b))",
         "np.linalg.multi_dot([b, b])", "np.linalg.multi_dot([a, a.T, a])", "np.linalg.multi_dot([np.ones((2, 30)), "
         "np.ones((30, 3)), np.ones((3, 4)), np.eye(4)])"],
        ulp=64,
        scope=SCOPE,
    )  # fmt: skip
    check(GIVEN, ["np.linalg.multi_dot([a])", "np.linalg.multi_dot([])", "np.linalg.multi_dot([a, a])",
                  "np.linalg.multi_dot([a.T, b, a])", "np.linalg.multi_dot([3, a, a])"], scope=SCOPE)  # fmt: skip


@pytest.mark.parametrize(("sizes", "made"), [((30, 20, 5, 40), [(30, 5), (30, 40)]), ((30, 20, 25, 40), [(20, 40), (30, 40)])])
def test_lengths_that_are_known_choose_the_order(sizes: tuple[int, ...], made: list[tuple[int, int]]) -> None:
    n, m, k, p = sizes

    def chain(a: Any, b: Any, c: Any) -> Any:
        return np.linalg.multi_dot([a.reshape(n, m), b.reshape(m, k), c.reshape(k, p)])

    body = pytocu.jit(chain).lower(np.ones(n * m), np.ones(m * k), np.ones(k * p)).function.body
    assert [shape_of(inst.results[0].type) for inst in body.insts if inst.op.name == "library"] == made
