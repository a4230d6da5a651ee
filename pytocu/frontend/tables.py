"""Tables of functions in modules that are imported when one of theirs is asked for.

A program calls few of the functions, and a first call waits for what is imported.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

import numpy as np

from pytocu.frontend.values import Context, as_strong

Handler = Callable[..., Any]


class Table(Mapping[str, Handler]):
    """Functions by name.

    Parameters
    ----------
    attribute : str
        The table that each module has of its own.
    own : mapping
        Functions that are here already.
    modules : mapping
        The names in the table of each module of this package, with blanks between them.

    Examples
    --------
    >>> table = Table("FUNCTIONS", {}, {"convolutions": "convolve correlate"})
    >>> "convolve" in table, table["convolve"].__name__
    (True, 'convolve')
    """

    def __init__(self, attribute: str, own: Mapping[str, Handler], modules: Mapping[str, str]):
        self._attribute = attribute
        self._own = own
        self.modules = {name: module for module, names in modules.items() for name in names.split()}

    def __getitem__(self, name: str) -> Handler:
        if name in self._own:
            return self._own[name]
        return getattr(import_module(f"{__package__}.{self.modules[name]}"), self._attribute)[name]

    def __contains__(self, name: object) -> bool:
        return name in self._own or name in self.modules

    def __iter__(self) -> Iterator[str]:
        yield from self._own
        yield from self.modules

    def __len__(self) -> int:
        return len(self._own) + len(self.modules)


def _method(function: Handler) -> Handler:
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


def methods(functions: Mapping[str, Handler]) -> dict[str, Handler]:
    """Those functions that are methods of arrays and NumPy scalars too: ``(context, value, *args, **kwargs)``."""
    # NumPy 2.0 has `ptp` only to say that it is gone.
    return {n: _method(f) for n, f in functions.items() if n != "ptp" and hasattr(np.ndarray, n)}


def on_array(function: Handler, name: str = "a") -> Handler:
    """The handler of a method as that of the function of the same name, whose first parameter is called `name`."""

    def call(context: Context, a: Any, *args: Any, **kwargs: Any) -> Any:
        return function(context, as_strong(context, a), *args, **kwargs)

    signature = inspect.signature(function)
    owner, first, *rest = signature.parameters.values()
    signature = signature.replace(parameters=[owner, first.replace(name=name), *rest])
    call.__doc__ = function.__doc__
    call.__signature__ = signature  # pyright: ignore[reportFunctionMemberAccess]
    return call
