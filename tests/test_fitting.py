"""``np.polyfit``: coefficients, what it gives besides, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from edge_tools import check
from function_tools import agree

X = np.linspace(-1, 2, 9)
Y = np.sin(3 * X)


@pytest.mark.parametrize("text", [
    "np.polyfit(a, b, 1)", "np.polyfit(a, b, 3)", "np.polyfit(a, b, 0)", "np.polyfit(a, b, 2, rcond=1e-6)",
    "np.polyfit(a, b, 2, w=1 / (1 + a * a))", "np.polyfit(a, b, 2, cov=True)", "np.polyfit(a, b, 2, cov='unscaled')",
    "np.polyfit(a, b, 3, full=True)", "np.polyval(np.polyfit(a, b, 2), a)",
    "np.polyfit(a, np.stack((b * a, b), 1), 2, cov=True)",
    "np.polyfit(a.astype('f4'), b, 2)", "np.polyfit((a * 4).astype(int), b, 1)", "np.polyfit(a, b + 1j * b * a, 2)",
])  # fmt: skip
def test_coefficients(text: str) -> None:
    agree(text, X, Y, ulp=2**24 if "f4" in text else 2**16)


def test_as_numpy_refuses() -> None:
    rows = ["np.polyfit(a, b, -1)", "np.polyfit(a, b[1:], 1)", "np.polyfit(a[:0], b[:0], 1)", "np.polyfit(a[0], b, 1)",
            "np.polyfit(a, b[0], 1)", "np.polyfit(a, b, 1, w=b[1:])", "np.polyfit(a, b, 1, w=b[:, None])",
            "np.polyfit(a, b, 8, cov=True)", "np.polyfit(a.astype('f2'), b.astype('f2'), 1)",
            "np.polyfit(a.astype('f4'), b.astype('f4'), 1, w=b + 1j)"]  # fmt: skip
    check(("np.linspace(-1, 2, 9)", "np.cos(np.linspace(0, 1, 9))"), rows)
