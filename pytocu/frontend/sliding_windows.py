"""Windows that slide along axes: ``np.lib.stride_tricks.sliding_window_view``.

A window is a view of the array, and what is computed of it reads the elements where they are.  A result that is windows
is a new array, as every result that repeats elements.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pytocu.errors import UnsupportedError
from pytocu.frontend.operators import attempt, known_option
from pytocu.frontend.ranges import known_here, most
from pytocu.frontend.reductions import stand_in
from pytocu.frontend.requirements import require_equal
from pytocu.frontend.reshaping import array_of, as_length
from pytocu.frontend.tables import Handler
from pytocu.frontend.values import Context, contains_dynamic, dimensions, is_number, several
from pytocu.ir.core import Value
from pytocu.ir.dims import dim_max

_NEGATIVE = "`window_shape` cannot contain negative values"
_TOO_LARGE = "window shape cannot be larger than input array shape"


def sliding_window_view(
    context: Context, x: Any, window_shape: Any, axis: Any = None, *, subok: Any = False, writeable: Any = False
) -> Value:
    """The windows of a shape around each position, as new last axes, read in place; a result is a new array"""
    if known_option(context, writeable, "writeable="):
        text = "sliding_window_view with writeable=True: each element stands in several windows"
        raise UnsupportedError(text, context.loc, "leave it out, and assign to the array itself")
    value = array_of(context, x)
    axis = known_option(context, axis, "axis=")
    given = several(window_shape)
    if isinstance(window_shape, Value) and dimensions(window_shape):
        text = "the lengths of windows are an array, whose numbers are known only at run time"
        raise UnsupportedError(text, context.loc, "write them as a tuple of ints or lengths")
    # NumPy says what is wrong with numbers of windows and axes, of an array that holds one window.
    large = [is_number(w) and not np.iscomplexobj(w) and w > 1 for w in given]
    short = tuple(1 if contains_dynamic(w) else type(w)(1) if many else w for w, many in zip(given, large, strict=True))
    attempt(context, np.lib.stride_tricks.sliding_window_view, stand_in(value), short, axis)
    ndim = len(dimensions(value))
    named = range(ndim) if axis is None else several(axis)
    for place, window in zip(named, given, strict=True):
        place = int(place) % ndim
        length, size = as_length(context, window, _NEGATIVE, beyond=ValueError(_TOO_LARGE)), dimensions(value)[place]
        require_equal(context, dim_max(length - size, 0), 0, "ValueError", _TOO_LARGE)
        count = context.length(most(size - length + 1, 0, known_here(context)))
        value = context.builder.emit("windows", (value,), {"axis": place, "size": count, "length": context.length(length)})
    return value


FUNCTIONS: dict[str, Handler] = {"lib.stride_tricks.sliding_window_view": sliding_window_view}
"""By NumPy's name; parameters are called as NumPy calls them."""
