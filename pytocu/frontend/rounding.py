"""Rounding to a number of decimals, with NumPy's own algorithm."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from pytocu.deferred import Deferred
from pytocu.errors import UnsupportedError
from pytocu.frontend.inplace import NO_OUTPUT, out_array, prepare_outputs, write_outputs
from pytocu.frontend.layouts import laid_out_as
from pytocu.frontend.operators import attempt, constant_or_static, elementwise, index_of
from pytocu.frontend.requirements import require_equal
from pytocu.frontend.tables import on_array
from pytocu.frontend.ufunc_calls import without_axes
from pytocu.frontend.values import Context, as_value, cast, dimensions, is_array
from pytocu.ir.core import Value
from pytocu.ir.dims import product
from pytocu.ir.types import BOOL, F64, element

_contiguous_as = Deferred("pytocu.frontend.reshaping", "contiguous_as")


@lru_cache
def _keeps_integers() -> bool:
    """Whether rounded integers are the array itself, as in older versions of NumPy."""
    integers = np.zeros(1, int)
    return np.shares_memory(integers.round(), integers)


def around(context: Context, value: Value, decimals: Any = 0, out: Any = None) -> Value:
    """``np.round`` and ``x.round``: times a power of ten, to the nearest even integer, and back.

    Raises
    ------
    UnsupportedError
        The number of decimals is known only at run time, or `out` has another dtype.
    """
    if out is not None:
        return _around_into(context, value, decimals, out)
    if isinstance(decimals, Value):
        raise UnsupportedError(
            "the number of decimals is known only at run time", context.loc, constant_or_static(context, decimals)
        )
    places = index_of(context, decimals)
    # NumPy takes it for an int of C.
    attempt(context, np.around, np.zeros(1), places)
    dtype = element(value.type)
    if places >= 0 and dtype.is_integer:
        if not is_array(value) or (dimensions(value) and _keeps_integers()):
            return value
        return laid_out_as(context, without_axes(context, context.builder.emit("copy", (value,))), value, "K")
    if places == 0:
        return elementwise(context, "rint", value)
    if dtype.kind == "c":
        return by_parts(context, value, lambda part: around(context, part, places))
    scale = power_of_ten(abs(places))
    there, back = ("multiply", "divide") if places > 0 else ("divide", "multiply")
    wide = cast(context, value, F64) if dtype.is_integer else value
    if dtype is BOOL:
        # NumPy writes the scaled values where the bools are.
        attempt(context, np.around, np.zeros(1, bool), places)
    scaled = elementwise(context, there, wide, scale)
    made = elementwise(context, back, elementwise(context, "rint", scaled), scale)
    made = cast(context, made, dtype) if dtype.is_integer else made
    return _contiguous_as(context, made, value) if is_array(made) else made


def _around_into(context: Context, value: Value, decimals: Any, out: Any) -> Value:
    """The rounded values in an array."""
    outs = out_array(context, out, NO_OUTPUT)
    (target,) = outs
    if target is None:
        return around(context, value, decimals)
    size, wanted = product(dimensions(value)), product(dimensions(target))
    require_equal(context, size, wanted, "ValueError", "invalid output shape")
    if element(target.type) is not element(value.type):
        raise UnsupportedError(
            f"np.round of {element(value.type).numpy} with out= of {element(target.type).numpy}: every step of NumPy's rounds",
            context.loc,
            "write out[...] = np.round(x, decimals)",
        )
    if not element(value.type).is_integer:
        prepare_outputs(context, "rint", (value,), outs)
    elif not isinstance(decimals, Value) and index_of(context, decimals) < 0:
        # The quotient is what does not fit.
        prepare_outputs(context, "divide", (value, as_value(context, 10.0)), outs)
    else:
        prepare_outputs(context, "positive", (value,), outs)
    return write_outputs(context, (around(context, value, decimals),), outs)[0]


def by_parts(context: Context, value: Value, function: Callable[[Value], Value]) -> Value:
    """A function of real numbers on the real and on the imaginary parts."""
    parts = (context.builder.emit(name, (value,)) for name in ("real", "imag"))
    made = without_axes(context, context.builder.emit("compose", tuple(map(function, parts))))
    return laid_out_as(context, made, value, "K") if is_array(made) else made


def power_of_ten(exponent: int) -> float:
    """The factor NumPy rounds with: exact up to 1e9, then one product after the other."""
    scale = 10.0 ** min(exponent, 9)
    for _ in range(9, min(exponent, 400)):
        scale *= 10.0
    return scale


FUNCTIONS = {"around": on_array(around), "round": on_array(around)}
"""By NumPy's name; parameters are called as NumPy calls them."""

METHODS = {"round": around}
"""Those that are methods of arrays and NumPy scalars."""
