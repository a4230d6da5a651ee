"""``np.i0``, the modified Bessel function of order 0, by NumPy's formula with NumPy's coefficients."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from pytocu.errors import UnsupportedError, raised
from pytocu.frontend.operators import elementwise, is_beyond
from pytocu.frontend.reshaping import array_of
from pytocu.frontend.tables import Handler
from pytocu.frontend.values import Context, as_strong, cast, is_array
from pytocu.ir.core import Value
from pytocu.ir.types import F64, element


@lru_cache
def _coefficients() -> tuple[list[float], list[float]] | None:
    """Those of ``exp(-x) i0(x)`` up to 8 and of ``exp(-x) sqrt(x) i0(x)`` behind it, as sums of Chebyshev's polynomials."""
    from numpy.lib import _function_base_impl as functions

    found = getattr(functions, "_i0A", None), getattr(functions, "_i0B", None)
    return None if found[0] is None or found[1] is None else (list(found[0]), list(found[1]))


def order_0(context: Context, x: Value) -> Value:
    """The function of real numbers, in their dtype where that is a floating one.

    Raises
    ------
    UnsupportedError
        The installed NumPy keeps its coefficients somewhere else.
    """
    known = _coefficients()
    if known is None:
        text = f"np.i0 of NumPy {np.__version__} is not compiled"
        raise UnsupportedError(text, context.loc, "compute it outside the function")

    def apply(name: str, *operands: Any) -> Value:
        return elementwise(context, name, *operands)

    size = apply("absolute", x if element(x.type).kind == "f" else cast(context, x, F64))
    grown = apply("exp", size)
    near = apply("subtract", apply("divide", size, 2.0), 2)
    far = apply("subtract", apply("divide", 32.0, size), 2.0)
    below = apply("multiply", grown, _chebyshev(context, near, known[0]))
    above = apply("divide", apply("multiply", grown, _chebyshev(context, far, known[1])), apply("sqrt", size))
    return apply("where", apply("less_equal", size, 8.0), below, above)


def _chebyshev(context: Context, x: Value, factors: Sequence[float]) -> Value:
    """Clenshaw's sum, the highest polynomial first."""
    before: Any = 0.0
    last: Any = factors[0]
    previous: Any = 0.0
    for factor in factors[1:]:
        before, previous = previous, last
        scaled = elementwise(context, "multiply", x, previous)
        last = elementwise(context, "add", elementwise(context, "subtract", scaled, before), factor)
    return elementwise(context, "multiply", 0.5, elementwise(context, "subtract", last, before))


def i0(context: Context, x: Any) -> Value:
    """The modified Bessel function of order 0"""
    value = as_strong(context, x, F64) if is_beyond(x, 2**64) else array_of(context, x)
    if element(value.type).kind == "c":
        raise raised(TypeError("i0 not supported for complex values"), context.loc)
    made = order_0(context, value)
    return made if is_array(made) else context.builder.emit("as_array", (made,))


FUNCTIONS: dict[str, Handler] = {"i0": i0}
"""By NumPy's name; parameters are called as NumPy calls them."""
