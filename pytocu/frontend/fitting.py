"""``np.polyfit``: polynomials fitted to points by least squares."""

from __future__ import annotations

from typing import Any

import numpy as np

from pytocu.errors import UnsupportedError, raised
from pytocu.frontend.creation import vander
from pytocu.frontend.least_squares import solved
from pytocu.frontend.library_calls import LINALG
from pytocu.frontend.matrix_products import dot, outer
from pytocu.frontend.operators import attempt, elementwise, known_int, known_option
from pytocu.frontend.reductions import reduce
from pytocu.frontend.requirements import require, require_equal
from pytocu.frontend.reshaping import array_of
from pytocu.frontend.values import Context, cast, dim_value, dimensions
from pytocu.ir.core import Value
from pytocu.ir.dims import dim_max, dim_min
from pytocu.ir.types import element


def polyfit(
    context: Context, x: Any, y: Any, deg: Any, rcond: Any = None, full: Any = False, w: Any = None, cov: Any = False
) -> Any:
    """The coefficients of the polynomial of a degree that is closest to points, the highest power first"""
    degree = known_int(context, deg, "deg=")
    order = degree + 1
    at, rhs = (elementwise(context, "add", array_of(context, v), 0.0) for v in (x, y))
    _check(context, at, rhs, degree)
    (points,) = dimensions(at)
    covariance = known_option(context, cov, "cov=")
    lhs = vander(context, at, order)
    if w is not None:
        lhs, rhs = _weighted(context, lhs, rhs, elementwise(context, "add", array_of(context, w), 0.0))
    scale = elementwise(context, "sqrt", reduce(context, "add", elementwise(context, "multiply", lhs, lhs), 0))
    lhs = cast(context, elementwise(context, "divide", lhs, scale), element(lhs.type))
    # LAPACK has no other dtypes.
    attempt(context, np.linalg.lstsq, *(np.ones((2,) * len(dimensions(v)), element(v.type).numpy) for v in (lhs, rhs)))
    share = rcond
    if isinstance(rcond, (list, tuple)):
        raise UnsupportedError("np.polyfit with a list as rcond=", context.loc, "name one number")
    if rcond is None:
        share = elementwise(context, "multiply", dim_value(context, points), np.finfo(element(at.type).numpy).eps)
    found, residuals, rank, values, sums = solved(context, lhs, rhs, share)
    column = context.builder.emit("newaxis", (scale,), {"axis": 1}) if len(dimensions(found)) == 2 else scale
    made = elementwise(context, "divide", found, column)
    if full:
        return made, residuals, rank, values, share
    if not covariance:
        return made
    base = LINALG["inv"](context, dot(context, context.builder.emit("transpose", (lhs,), {"axes": (1, 0)}), lhs))
    base = elementwise(context, "divide", base, outer(context, scale, scale))
    factor: Any = 1
    if covariance != "unscaled":
        sentence = "the number of data points must exceed order to scale the covariance matrix"
        require_equal(context, dim_max(points, order + 1), points, "ValueError", sentence)
        # Where the rank is not full NumPy has no residuals.
        fine = elementwise(context, "equal", rank, order)
        sentence = f"operands could not be broadcast together with shapes ({order},{order}) (0,) "
        sums = require(context, sums, fine, "ValueError", sentence)
        factor = elementwise(context, "divide", sums, dim_value(context, points - order))
    if len(dimensions(rhs)) == 2:
        base = context.builder.emit("newaxis", (base,), {"axis": 2})
    return made, elementwise(context, "multiply", base, factor)


def _check(context: Context, x: Value, y: Value, degree: int) -> None:
    """NumPy's errors about points."""
    if degree < 0:
        raise raised(ValueError("expected deg >= 0"), context.loc)
    if len(dimensions(x)) != 1:
        raise raised(TypeError("expected 1D vector for x"), context.loc)
    require_equal(context, dim_min(dimensions(x)[0], 1), 1, "TypeError", "expected non-empty vector for x")
    if len(dimensions(y)) not in (1, 2):
        raise raised(TypeError("expected 1D or 2D array for y"), context.loc)
    require_equal(context, dimensions(x)[0], dimensions(y)[0], "TypeError", "expected x and y to have same length")


def _weighted(context: Context, lhs: Value, rhs: Value, weights: Value) -> tuple[Value, Value]:
    """Both sides with a weight for each point, in their own dtypes."""
    if len(dimensions(weights)) != 1:
        raise raised(TypeError("expected a 1-d array for weights"), context.loc)
    sentence = "expected w and y to have the same length"
    require_equal(context, dimensions(weights)[0], dimensions(rhs)[0], "TypeError", sentence)
    column = context.builder.emit("newaxis", (weights,), {"axis": 1})
    made: list[Value] = []
    for side in (lhs, rhs):
        of_points = column if len(dimensions(side)) == 2 else weights
        example = np.ones(1, element(side.type).numpy)
        attempt(context, np.multiply, example, np.ones(1, element(weights.type).numpy), out=example)
        made.append(cast(context, elementwise(context, "multiply", side, of_points), element(side.type)))
    return made[0], made[1]


FUNCTIONS = {"polyfit": polyfit}
"""By NumPy's name; parameters are called as NumPy calls them."""
