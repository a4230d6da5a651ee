"""What goes around Fourier transforms: the frequencies, and the halves of an axis exchanged."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from pytocu.errors import raised
from pytocu.frontend.axes import normal_axis
from pytocu.frontend.devices import check_device
from pytocu.frontend.joining import roll
from pytocu.frontend.operators import attempt, binary, elementwise, known_option
from pytocu.frontend.reductions import length
from pytocu.frontend.reshaping import array_of, as_length
from pytocu.frontend.tables import Handler
from pytocu.frontend.values import Context, dim_value, dimensions, is_numpy_scalar
from pytocu.ir.core import Value
from pytocu.ir.dims import DimLike, dim_max, floordiv
from pytocu.ir.types import WEAK_BOOL, WEAK_INT, element


def _is_int(n: Value) -> bool:
    return n.type in (WEAK_INT, WEAK_BOOL) or (is_numpy_scalar(n) and element(n.type).is_integer)


def _places(context: Context, n: Any, d: Any, half: bool) -> tuple[DimLike, Value, Any]:
    """How many samples there are, the numbers of the frequencies, and the distance of two of these."""
    if not (_is_int(n) if isinstance(n, Value) else isinstance(n, (int, np.integer))):
        raise raised(ValueError("n should be an integer"), context.loc)
    if half and isinstance(n, bool):
        n = int(n)
    # Half of less than nothing is nothing.
    count = as_length(context, n) if isinstance(n, Value) or n >= 0 or not half else int(n)
    if isinstance(count, int) and count < 0 and not half:
        raise raised(ValueError("negative dimensions are not allowed"), context.loc)
    factor = binary(context, "divide", 1.0, binary(context, "multiply", n, d))
    shape = (dim_max(floordiv(count, 2) + 1, 0) if half else context.length(count),)
    return count, context.builder.emit("iota", (), {"axis": 0, "shape": shape}), factor


def fftfreq(context: Context, n: Any, d: Any = 1.0, device: Any = None) -> Value:
    """The frequencies of ``np.fft.fft`` of n samples at distances d"""
    check_device(context, device)
    count, place, factor = _places(context, n, d, False)
    below = elementwise(context, "less", place, length(context, floordiv(count + 1, 2)))
    numbers = elementwise(context, "where", below, place, elementwise(context, "subtract", place, length(context, count)))
    return elementwise(context, "multiply", numbers, factor)


def rfftfreq(context: Context, n: Any, d: Any = 1.0, device: Any = None) -> Value:
    """The frequencies of ``np.fft.rfft`` of n samples at distances d"""
    check_device(context, device)
    _, place, factor = _places(context, n, d, True)
    return elementwise(context, "multiply", place, factor)


def _shifted(back: bool, doc: str) -> Handler:
    def handler(context: Context, x: Any, axes: Any = None) -> Value:
        value = array_of(context, x)
        ndim = len(dimensions(value))
        given = known_option(context, axes, "axes=")
        named = range(ndim) if given is None else given if isinstance(given, (tuple, list)) else (given,)
        for axis in named:
            # NumPy asks the shape.
            attempt(context, operator.getitem, (1,) * ndim, axis)
        chosen = tuple(normal_axis(context, a, ndim) for a in named)
        halves = [floordiv(dimensions(value)[a], 2) for a in chosen]
        return roll(context, value, tuple(dim_value(context, 0 - h if back else h) for h in halves), chosen)

    handler.__doc__ = doc
    return handler


FUNCTIONS: dict[str, Handler] = {
    "fft.fftfreq": fftfreq,
    "fft.rfftfreq": rfftfreq,
    "fft.fftshift": _shifted(False, "The frequency 0 in the middle of axes"),
    "fft.ifftshift": _shifted(True, "The inverse of ``fftshift``"),
}
"""By NumPy's name; parameters are called as NumPy calls them."""
