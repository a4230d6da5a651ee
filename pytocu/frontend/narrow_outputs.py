"""Reductions into an output of another dtype than they compute in, as NumPy's iterator converts between the two.

NumPy keeps what it has so far in the output, and computes with a copy of a part of that in the dtype of the computation:
what a reduction begins with (``initial=``, the ufunc's identity, or else the first element of each position) is converted
to the output's dtype and back, and the result at the end.  Of more elements than the copies hold it converts in between,
too, where depends on their layout and on ``np.setbufsize``.  So those are refused, unless it makes no difference.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pytocu.frontend.operators import elementwise
from pytocu.frontend.requirements import require_equal
from pytocu.frontend.values import Context, cast, dimensions
from pytocu.ir import promote
from pytocu.ir.core import Value
from pytocu.ir.dims import dim_max, product
from pytocu.ir.types import DType, element, scalar

MOST = 8192
"""Elements that NumPy's buffer holds."""

_EXTREMES = ("minimum", "maximum", "fmin", "fmax")
_OF_LOW_BITS = ("add", "subtract", "multiply", "bitwise_and", "bitwise_or", "bitwise_xor")
"""The low bits of the result are those of the elements' low bits."""


def converts_last(name: str, dtype: DType, out: DType, rounded: bool) -> bool:
    """Whether a reduction in `dtype` is the same where what it has so far is converted to `out` and back.

    A `rounded` one is a sum or product whose order is not NumPy's anyway.
    """
    if np.can_cast(dtype.numpy, out.numpy):
        return True
    if dtype.is_integer and out.is_integer:
        return out.numpy.itemsize >= dtype.numpy.itemsize or name in _OF_LOW_BITS
    if dtype.kind == "c":
        return (name == "add" and out.kind == "f") or (name in ("add", "multiply") and out.kind == "c")
    # Rounding keeps the order of numbers.
    return (rounded or name in _EXTREMES) and dtype.kind == "f" and out.kind in "fc"


def require_one_part(context: Context, name: str, value: Value, dtype: DType, out: Value) -> None:
    """State that NumPy's buffer holds all elements.

    Raises
    ------
    UnsupportedError
        They are known to be more.
    """
    to = element(out.type)
    if name in _EXTREMES and dtype.kind == "f" and to.is_integer:
        # Casts keep the order of the numbers that an integer holds.
        return
    count = product(dimensions(value))
    what = f"np.{name}.reduce in {dtype} of {{2}} elements with out= of {to}"
    text = f"{what}: of more than {MOST} NumPy converts to {to} in between, where depends on the layout"
    help = f"name an out= of {dtype}, or write out[...] = and the call without out="
    require_equal(context, dim_max(count - MOST, 0), 0, "UnsupportedError", text, count, help=help)


def first_converted(context: Context, elements: Value, value: Value, axes: Sequence[int], out: DType) -> Value:
    """The elements of a reduction that begins with the first one: that as the output holds it."""
    first = cast(context, cast(context, value, out), element(elements.type))
    is_first: Value | None = None
    for axis in axes:
        shape = tuple(length if a == axis else 1 for a, length in enumerate(dimensions(value)))
        here = elementwise(context, "equal", context.builder.emit("iota", (), {"axis": axis, "shape": shape}), 0)
        is_first = here if is_first is None else elementwise(context, "bitwise_and", is_first, here)
    return first if is_first is None else elementwise(context, "where", is_first, first, elements)


def identity_converted(context: Context, name: str, dtype: DType, kept: DType, out: DType) -> Value | None:
    """What a reduction begins with that has an identity, in the dtype `kept`; None where that is the identity itself."""
    with np.errstate(all="ignore"):
        own = np.asarray(promote.numpy_function(name).identity).astype(dtype.numpy)
        begun = own.astype(out.numpy).astype(dtype.numpy)
    return None if begun == own else context.builder.const(begun.item(), scalar(kept))
