"""Compaction: the elements that a mask chooses, one after the other."""

from __future__ import annotations

from pytocu.errors import UnsupportedError
from pytocu.frontend.values import Context, Masked
from pytocu.ir.core import Value


def compact(context: Context, value: Masked) -> Value:
    """The chosen elements as an array, in order."""
    raise UnsupportedError(
        "indexing with a mask has a length known only at run time", context.loc, "choose with np.where(mask, x, other)"
    )
