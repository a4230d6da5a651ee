"""Reductions into an output of another dtype than they compute in, as NumPy's iterator converts between the two.

NumPy keeps what it has so far in the output, and computes with a copy of a part of that in the dtype of the computation:
what a reduction begins with (``initial=``, the ufunc's identity, or else the first element of each position) is converted
to the output's dtype and back, and the result at the end.  Of more elements than the copies hold it converts in between,
too, where depends on their layout and on ``np.setbufsize``.  So those are refused, unless it makes no difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np

from pytocu.frontend.layouts import certain_layout
from pytocu.frontend.operators import elementwise
from pytocu.frontend.requirements import require_equal
from pytocu.frontend.values import Context, cast, dimensions
from pytocu.ir import promote
from pytocu.ir.core import Value
from pytocu.ir.dims import DimLike, dim_max, product
from pytocu.ir.types import DType, axes_of, element, scalar

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


def require_one_part(
    context: Context, name: str, value: Value, axes: Sequence[int], dtype: DType, out: DType, masked: bool
) -> None:
    """State that NumPy converts what it has so far at the end alone, because of the lengths.

    Raises
    ------
    UnsupportedError
        They are known to be others.
    """
    whole = element(value.type).kind in "biu" and name in ("add", "subtract") and out.bits == 64
    if dtype.kind == "f" and out.kind == "i" and (whole or (name in _EXTREMES and out.bits >= 32)):
        # Casts change no whole number that an integer holds, and keep the order of others; these hold nearly every number.
        return
    held, outside = _together(context, value, axes, masked)
    text = f"np.{name}.reduce in {dtype} with out= of {out}: {{2}} elements do not fit NumPy's buffer of {MOST}, and where it "
    text += f"converts to {out} in between depends on the layout"
    help = f"name an out= of {dtype}, or write out[...] = and the call without out="
    # Nothing is in between of one element.
    several = dim_max(product([dimensions(value)[a] for a in axes]) - 1, 0)
    require_equal(context, outside * several, 0, "UnsupportedError", text, held, help=help)


def _together(context: Context, value: Value, axes: Sequence[int], masked: bool) -> tuple[DimLike, DimLike]:
    """How many elements NumPy's buffer must hold, and a length that is 0 where it does.

    These are all of them, or, if the reduced axes are neighbours in memory, those of the axes that vary fastest, up to the
    first of the other kind: then a position's part of the output stays in the buffer until all of its elements are read.
    """
    shape = dimensions(value)
    whole = product(shape)
    layout = None if masked else certain_layout(context, value)
    order = () if layout is None else axes_of(layout, len(shape))
    runs = [(reduced, product([shape[a] for a in run])) for reduced, run in groupby(order, lambda a: a in axes)]
    if len(runs) < 2 or sum(reduced for reduced, _ in runs) != 1:
        return whole, dim_max(whole - MOST, 0)
    reduced, fastest = runs[-1]
    if reduced:
        return fastest, dim_max(fastest - MOST, 0)
    # Kept axes of length 1 are none.  Those that fill the buffer are read again for each element.
    return whole, dim_max(fastest - (MOST - 1), 0) + dim_max(runs[-2][1] - MOST, 0) * dim_max(2 - fastest, 0)


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
