"""The functions and methods of arrays that reduce or scan, by NumPy's names."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from pytocu.frontend import averages, nan_statistics, positions, products, reductions, scans, statistics

FUNCTIONS: dict[str, Callable[..., Any]] = {
    **reductions.FUNCTIONS,
    **statistics.FUNCTIONS,
    **nan_statistics.FUNCTIONS,
    **averages.FUNCTIONS,
    **positions.FUNCTIONS,
    **products.FUNCTIONS,
    **{f"linalg.{name}": handler for name, handler in products.LINALG.items()},
    **scans.FUNCTIONS,
}
"""By NumPy's name; parameters are called as NumPy calls them."""


def _method(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function as the method, which lacks the array API's name of ``ddof=``."""
    # A first call imports this: a look at the names is a hundredth of a signature.
    if "correction" not in function.__code__.co_varnames:  # pyright: ignore[reportFunctionMemberAccess]
        return function
    signature = inspect.signature(function)

    def method(context: Any, a: Any, *args: Any, **kwargs: Any) -> Any:
        return function(context, a, *args, **kwargs)

    kept = [p for p in signature.parameters.values() if p.name != "correction"]
    method.__signature__ = signature.replace(parameters=kept)  # pyright: ignore[reportFunctionMemberAccess]
    method.__doc__ = function.__doc__
    return method


METHODS: dict[str, Callable[..., Any]] = {
    # NumPy 2.0 has `ptp` only to say that it is gone.
    n: _method(f) for n, f in FUNCTIONS.items() if n != "ptp" and hasattr(np.ndarray, n)
}
"""Methods of arrays and NumPy scalars: ``(context, value, *args, **kwargs)``."""
