"""Windows for Fourier transforms, by NumPy's formulas, in float64."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pytocu.errors import UnsupportedError, raised
from pytocu.frontend.bessel import order_0
from pytocu.frontend.operators import elementwise
from pytocu.frontend.reductions import length
from pytocu.frontend.reshaping import SIZE, as_length
from pytocu.frontend.tables import Handler
from pytocu.frontend.values import Context, as_strong, cast, dimensions
from pytocu.ir.core import Value
from pytocu.ir.dims import dim_max
from pytocu.ir.types import F64, WEAK_FLOAT, WeakType, element


def _window(shape: Any, doc: str) -> Handler:
    def handler(context: Context, M: Any) -> Value:
        return _made(context, M, shape)

    handler.__doc__ = doc
    return handler


def _made(context: Context, M: Any, shape: Any) -> Value:
    if isinstance(M, (float, np.floating)) or (isinstance(M, Value) and _is_float(M)):
        text = "a window of a length that is a float is not compiled"
        raise UnsupportedError(text, context.loc, "pass an int, as np.hanning(int(n))")
    # Less than nothing is nothing.
    size = context.length(dim_max(as_length(context, M, beyond=SIZE, elements=0), 0))

    def apply(name: str, *operands: Any) -> Value:
        return elementwise(context, name, *operands)

    place = context.builder.emit("iota", (), {"axis": 0, "shape": (size,)})
    # 1 - M, 3 - M and so on to M - 1.
    number = cast(context, apply("add", apply("multiply", place, 2), length(context, 1 - size)), F64)
    gaps = cast(context, length(context, size - 1), F64)
    made = shape(apply, number, gaps)
    return made if isinstance(size, int) and size > 1 else apply("where", apply("equal", gaps, 0), np.float64(1), made)


def _is_float(value: Value) -> bool:
    return value.type == WEAK_FLOAT if isinstance(value.type, WeakType) else element(value.type).kind == "f"


def kaiser(context: Context, M: Any, beta: Any) -> Value:
    """A window of Bessel functions, narrower the larger `beta` is"""
    value = as_strong(context, beta)
    if dimensions(value):
        raise raised(ValueError(_NOT_A_NUMBER), context.loc)
    if element(value.type).kind == "c":
        raise raised(TypeError("i0 not supported for complex values"), context.loc)
    wide = cast(context, value, F64)

    def shape(apply: Any, number: Value, gaps: Value) -> Value:
        half = apply("divide", gaps, 2.0)
        place = apply("divide", apply("divide", number, 2.0), half)
        root = apply("sqrt", apply("subtract", 1, apply("square", place)))
        return apply("divide", order_0(context, apply("multiply", wide, root)), order_0(context, wide))

    return _made(context, M, shape)


_NOT_A_NUMBER = (
    "setting an array element with a sequence. The requested array has an inhomogeneous shape after 1 dimensions. "
    "The detected shape was (3,) + inhomogeneous part."
)


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
    "kaiser": kaiser,
    "hanning": _window(_cosines(0.5, 0.5), "A window of a raised cosine"),
}
"""By NumPy's name; parameters are called as NumPy calls them."""
