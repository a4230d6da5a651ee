"""Numbers from one to another: ``np.linspace``, ``logspace``, ``geomspace``.

As with all new arrays, elements are computed where they are used: numbers in an expression take no memory.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pytocu.errors import UnsupportedError, raised
from pytocu.frontend.attributes import expand_dims, moveaxis, target_dtype
from pytocu.frontend.creation import dtype_or
from pytocu.frontend.devices import check_device
from pytocu.frontend.gathering import along
from pytocu.frontend.literals import known_array
from pytocu.frontend.operators import elementwise
from pytocu.frontend.reductions import reduce
from pytocu.frontend.requirements import require_equal
from pytocu.frontend.reshaping import (
    SIZE,
    array_of,
    as_length,
)
from pytocu.frontend.tables import Handler
from pytocu.frontend.values import (
    Context,
    as_strong,
    as_value,
    cast,
    dim_value,
    dimensions,
    is_number,
)
from pytocu.ir import promote
from pytocu.ir.core import Value
from pytocu.ir.dims import dim_max, dim_min


def linspace(
    context: Context,
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: Any = True,
    retstep: Any = False,
    dtype: Any = None,
    axis: Any = 0,
    *,
    device: Any = None,
) -> Any:
    """Numbers at equal distances, NumPy's formula; the end is exact.

    Raises
    ------
    UnsupportedError
        `num` is computed of data.
    """
    check_device(context, device)
    sentence = "Number of samples, {0}, must be non-negative."
    count = as_length(context, num, sentence, beyond=SIZE)
    if isinstance(count, int) and count < 0:
        raise raised(ValueError(sentence.format(count)), context.loc)
    ends = [array_of(context, e) if isinstance(e, (list, tuple)) else as_value(context, e) for e in (start, stop)]
    found = promote.result_dtype((*(promote.operand(v.type) for v in ends), "float"))
    target = dtype_or(context, dtype, found)
    low, high = (cast(context, as_strong(context, v), found) for v in ends)
    gaps = count - 1 if endpoint else count
    ndim = max(len(dimensions(low)), len(dimensions(high)))
    place = along(context, count, 0, ndim + 1)
    position = cast(context, place, found)
    delta = elementwise(context, "subtract", high, low)
    divisor = dim_value(context, dim_max(gaps, 1))
    step = elementwise(context, "divide", delta, divisor)
    if isinstance(gaps, int) and gaps <= 0:
        made = elementwise(context, "multiply", position, delta)
    else:
        scaled = elementwise(context, "multiply", elementwise(context, "divide", position, divisor), delta)
        zero = elementwise(context, "equal", step, 0)
        axes = tuple(range(len(dimensions(zero))))
        if axes:
            zero = reduce(context, "logical_or", zero, axes)
        made = elementwise(context, "where", zero, scaled, elementwise(context, "multiply", position, step))
    made = cast(context, elementwise(context, "add", made, low), found)
    if endpoint and not (isinstance(count, int) and count <= 1):
        last = elementwise(context, "equal", place, dim_value(context, count - 1))
        last = elementwise(context, "bitwise_and", last, elementwise(context, "greater", place, 0))
        made = elementwise(context, "where", last, high, made)
    if target.is_integer:
        made = elementwise(context, "floor", made)
    made = cast(context, made, target)
    if axis != 0:
        made = moveaxis(context, made, 0, axis)
    if not retstep:
        return made
    if isinstance(gaps, int):
        return made, (step if gaps > 0 else math.nan)
    # NumPy's step is Python's NaN where there is none.
    refused = "np.linspace with retstep=True has no step, as there is no more than one number"
    require_equal(context, dim_min(gaps, 1), 1, "UnsupportedError", refused)
    return made, step


def logspace(
    context: Context,
    start: Any,
    stop: Any,
    num: Any = 50,
    endpoint: Any = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: Any = 0,
) -> Value:
    """A base to the power of numbers at equal distances."""
    below: Any = array_of(context, base) if isinstance(base, (list, tuple)) else base
    if isinstance(below, Value) and dimensions(below):
        ends = [as_strong(context, v) for v in (start, stop)]
        ndim = max(len(dimensions(v)) for v in (*ends, below))
        start, stop, below = (_with_axes(context, v, ndim) for v in (*ends, below))
        below = expand_dims(context, below, axis)
    powers = linspace(context, start, stop, num, endpoint, axis=axis)
    made = elementwise(context, "power", below, powers)
    return made if dtype is None else cast(context, made, target_dtype(context, dtype))


def _with_axes(context: Context, value: Value, ndim: int) -> Value:
    """As ``np.array`` with `ndmin`."""
    made = array_of(context, value)
    while len(dimensions(made)) < ndim:
        made = context.builder.emit("newaxis", (made,), {"axis": 0})
    return made


def geomspace(
    context: Context, start: Any, stop: Any, num: Any = 50, endpoint: Any = True, dtype: Any = None, axis: Any = 0
) -> Value:
    """Numbers of equal ratios, for real ends known now; the ends are exact.

    Raises
    ------
    UnsupportedError
        Ends known only at run time, or complex ones.
    """
    if not is_number(start) or not is_number(stop) or np.iscomplexobj(start) or np.iscomplexobj(stop):
        help = "use np.logspace of the logarithms"
        raise UnsupportedError("np.geomspace of ends that are no real numbers known now", context.loc, help)
    if start == 0 or stop == 0:
        raise raised(ValueError("Geometric sequence cannot include zero"), context.loc)
    first, last = np.float64(start), np.float64(stop)
    sign = np.sign(first)
    if sign != np.sign(last):
        raise UnsupportedError("np.geomspace between numbers of two signs", context.loc, "its elements are complex or NaN")
    if axis != 0:
        # There is one.
        moveaxis(context, known_array(context, np.zeros(1)), 0, axis)
    made = logspace(context, np.log10(first / sign), np.log10(last / sign), num, endpoint)
    (count,) = dimensions(made)
    place = along(context, count, 0, 1)
    made = elementwise(context, "where", elementwise(context, "equal", place, 0), np.float64(first / sign), made)
    if endpoint:
        end = elementwise(context, "equal", place, dim_value(context, count - 1))
        end = elementwise(context, "bitwise_and", end, elementwise(context, "greater", place, 0))
        made = elementwise(context, "where", end, np.float64(last / sign), made)
    made = elementwise(context, "multiply", made, np.float64(sign))
    return made if dtype is None else cast(context, made, target_dtype(context, dtype))


FUNCTIONS: dict[str, Handler] = {
    "linspace": linspace,
    "logspace": logspace,
    "geomspace": geomspace,
}
"""By NumPy's name; parameters are called as NumPy calls them."""
