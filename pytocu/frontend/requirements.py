"""What the data must be, as a condition on values: an exception where it does not hold."""

from __future__ import annotations

from collections.abc import Sequence

from pytocu.frontend.values import Context
from pytocu.ir.core import Value
from pytocu.ir.dims import DimLike


def require(
    context: Context,
    value: Value,
    condition: Value,
    error: str,
    sentence: str,
    shown: Value | None = None,
    dims: Sequence[DimLike] = (),
) -> Value:
    """The value, whose every element that is computed demands that the condition holds.

    Elements that nobody reads are not computed, and what they demand is not looked at.

    Parameters
    ----------
    value, condition : Value
        Anything, and bool; they broadcast.
    error, sentence : str
        The class of the exception, by Python's name, and what it says: ``{0}`` stands for `shown`
        and ``{1}``, ``{2}`` for the lengths.
    shown : Value, optional
        int64; the smallest one that breaks the condition is shown.
    dims : sequence of lengths
    """
    args = (value, condition) if shown is None else (value, condition, shown)
    attrs = {"error": error, "sentence": sentence, "dims": tuple(dims)}
    return context.builder.emit("require", args, attrs, name=value.name)
