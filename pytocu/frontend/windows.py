"""Windows for Fourier transforms, by NumPy's formulas, in float64."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pytocu.frontend.operators import elementwise
from pytocu.frontend.reductions import length
from pytocu.frontend.reshaping import SIZE, as_length
from pytocu.frontend.tables import Handler
from pytocu.frontend.values import Context, cast
from pytocu.ir.core import Value
from pytocu.ir.dims import dim_max
from pytocu.ir.types import F64


def _window(shape: Any, doc: str) -> Handler:
    def handler(context: Context, M: Any) -> Value:
        M = max(M, 0) if type(M) is int else M
        size = context.length(dim_max(as_length(context, M, beyond=SIZE), 0))

        def apply(name: str, *operands: Any) -> Value:
            return elementwise(context, name, *operands)

        place = context.builder.emit("iota", (), {"axis": 0, "shape": (size,)})
        # 1 - M, 3 - M and so on to M - 1.
        number = cast(context, apply("add", apply("multiply", place, 2), length(context, 1 - size)), F64)
        gaps = cast(context, length(context, size - 1), F64)
        made = shape(apply, number, gaps)
        return made if isinstance(size, int) and size > 1 else apply("where", apply("equal", gaps, 0), np.float64(1), made)

    handler.__doc__ = doc
    return handler


def _cosines(*factors: float) -> Any:
    """``factors[0] + factors[1] * cos(pi n / (M - 1)) + factors[2] * cos(2 pi n / (M - 1))``."""

    def shape(apply: Any, number: Value, gaps: Value) -> Value:
        made: Any = factors[0]
        for times, factor in enumerate(factors[1:], 1):
            angle = apply("divide", apply("multiply", math.pi * times, number), gaps)
            made = apply("add", made, apply("multiply", factor, apply("cos", angle)))
        return made

    return shape


def _triangle(apply: Any, number: Value, gaps: Value) -> Value:
    share = apply("divide", number, gaps)
    return apply("where", apply("less_equal", number, 0), apply("add", 1, share), apply("subtract", 1, share))


FUNCTIONS: dict[str, Handler] = {
    "bartlett": _window(_triangle, "A window of two straight lines"),
    "blackman": _window(_cosines(0.42, 0.5, 0.08), "A window of two cosines"),
    "hamming": _window(_cosines(0.54, 0.46), "A window of a raised cosine that does not reach 0"),
    "hanning": _window(_cosines(0.5, 0.5), "A window of a raised cosine"),
}
"""By NumPy's name; parameters are called as NumPy calls them."""
