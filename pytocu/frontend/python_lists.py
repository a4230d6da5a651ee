"""``x.tolist()``: the elements of an array as Python's numbers in lists."""

from __future__ import annotations

from pytocu.frontend.reading import read_number
from pytocu.frontend.tables import Handler
from pytocu.frontend.values import Context, dimensions
from pytocu.frontend.worded import evaluated
from pytocu.ir.core import Value


def tolist(context: Context, value: Value) -> object:
    """The elements as Python's numbers, in a list for each axis"""
    axes = len(dimensions(value))
    if not axes:
        return read_number(context, value)
    text = f"part{axes}.item()"
    for axis in reversed(range(axes)):
        text = f"[{text} for part{axis + 1} in part{axis}]"
    return evaluated(context, text, {"part0": value})


METHODS: dict[str, Handler] = {"tolist": tolist}

__all__ = ["METHODS", "tolist"]
