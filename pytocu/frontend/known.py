"""NumPy's operations on numbers that are known while compiling.

NumPy computes them.  Where its answer depends on the layout, the length or the processor, the formula of the row is
taken instead, so that a number written in the source gives what the element of an array gives, on every machine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pytocu.frontend.operators import compute
from pytocu.frontend.ufunc_calls import rows_of
from pytocu.frontend.values import Context
from pytocu.ir import interp_rows
from pytocu.ir.types import dtype_of


def known_ufunc(
    context: Context, name: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """A ufunc of numbers.

    Raises
    ------
    CompileError
        What NumPy raises.
    """
    made = compute(context, function, *args, **kwargs)
    rows = rows_of(name)
    if len(rows) != 1 or not isinstance(made, np.generic) or rows[0].name == "power":
        # NumPy's power of one exponent is the same everywhere; the row's own formula is that of many exponents.
        return made
    return interp_rows.settled(rows[0], args[: rows[0].arity], made)


def known_cast(context: Context, function: Callable[..., Any], value: Any, *args: Any, **kwargs: Any) -> Any:
    """A conversion of a number: ``np.uint8(x)``, ``x.astype(np.uint8)``.

    Raises
    ------
    CompileError
        What NumPy raises.
    """
    made = compute(context, function, *args, **kwargs)
    dtype = dtype_of(made.dtype) if isinstance(made, np.generic) else None
    if dtype is None or not isinstance(value, np.generic):
        # NumPy looks at a Python number itself, and has an error for one that does not fit.
        return made
    return interp_rows.cast(value, dtype)


__all__ = ["known_cast", "known_ufunc"]
