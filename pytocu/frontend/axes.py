"""Axes that are known while compiling."""

from __future__ import annotations

from typing import Any

import numpy as np

from pytocu.errors import UnsupportedError, raised
from pytocu.frontend.operators import c_long, constant_or_static
from pytocu.frontend.values import Context, no_int
from pytocu.ir.core import Value


def normal_axis(context: Context, axis: Any, ndim: int, name: str = "") -> int:
    """A constant axis counted from 0.

    Raises
    ------
    AxisError
        NumPy's sentence.
    """
    if isinstance(axis, Value) or not isinstance(axis, (int, np.integer)) or isinstance(axis, bool):
        sentence = "an axis must be an integer known while compiling"
        if not isinstance(axis, Value):
            # NumPy says what is wrong; some of its functions take truth values, and others do not.
            kind = type(axis).__name__
            raise no_int(context, sentence if kind == "bool" else f"'{kind}' object cannot be interpreted as an integer")
        raise UnsupportedError(sentence, context.loc, constant_or_static(context, axis))
    if not -ndim <= axis < ndim:
        c_long(context, int(axis))
        prefix = f"{name}: " if name else ""
        several = f"its axes are 0 to {ndim - 1}, or -{ndim} to -1"
        has = several if ndim > 1 else "its only axis is 0" if ndim else "it has no axes"
        text = f"{prefix}axis {int(axis)} is out of bounds for array of dimension {ndim}"
        raise raised(np.exceptions.AxisError(text), context.loc, has)
    return int(axis) % ndim
