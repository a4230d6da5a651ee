"""Products, quotients and zeros of polynomials, whose lengths may depend on the data."""

from __future__ import annotations

import numpy as np
import pytest
from function_tools import agree, refused

from pytocu.errors import UnsupportedError
from pytocu.testing.cases import call_jit
from pytocu.testing.operands import make_function

A, B, C, D = np.array([0, 0, 1.5, -2, 3]), np.array([2.0, 1]), np.array([0, 3, -1, 2]), np.zeros(3)


def test_products() -> None:
    agree(
        [
            "np.polymul(a, b)", "np.polymul(b, [0, 0, 2])", "np.polymul(c, c)", "np.polymul(d, a)", "np.polymul(-d, b)",
            "np.polymul(a.astype('f4'), c.astype('i2'))", "np.polymul(3, a)", "np.polymul(a[:0], b)", "np.polymul(d, d)",
            "np.polymul([], b)", "np.polymul(a > 1, c > 0)", "np.polymul(a * 1j, b)",
        ],
        A, B, C, D,
    )  # fmt: skip


def test_quotients() -> None:
    agree(
        [
            "np.polydiv(a[2:], b)", "np.polydiv(a, b)", "np.polydiv(b, a[2:])", "np.polydiv(c, b)",
            "np.polydiv([1, -3, 2], [1, -1])", "np.polydiv(a.astype('f4'), b.astype('f4'))", "np.polydiv(b, 2)",
            "np.polydiv(np.polymul(a, b), b)", "np.polydiv(d, b)", "np.polydiv(a.astype('f2'), v=b.astype('f2'))",
            "np.polydiv(a * 1j, b)",
        ],
        A, B, C, D, ulp=2,
    )  # fmt: skip


def test_products_of_zeros() -> None:
    agree(
        ["np.poly(a)", "np.poly(c)", "np.poly((1, 2, 3))", "np.poly(a.astype('f4'))", "np.poly(c.astype('i1'))",
         "np.poly(a.astype('f2'))", "np.poly(a > 0)", "np.poly([])"],
        A, B, C,
    )  # fmt: skip


@pytest.mark.parametrize(
    "text",
    ["np.polymul(a.reshape(1, 5), b)", "np.polymul(a=a, a1=b)", "np.poly(2)", "np.poly(np.ones((2, 2, 2)) + a[0])",
     "np.polydiv(a[:0], b)"],
)  # fmt: skip
def test_errors_of_polynomials(text: str) -> None:
    agree(text, A, B)


def test_what_depends_on_the_data_is_refused() -> None:
    refused("np.poly(a * 1j)", "depends on the data", A)
    refused("np.poly(np.outer(a, a))", "depends on the data", A)
    with pytest.raises(UnsupportedError, match="which is a Python float and no array"):
        call_jit(make_function("a", ["np.poly(a[a > 9])"], {"np": np}), A)
