"""Functions of modules that are imported when one of theirs is called.

A first call waits for what is imported, and a program needs few of the compiler's modules. A function that is needed
now and then stands at the head of its caller's module as a `Deferred`; where a whole module is needed (its classes,
constants or several functions), one function imports it.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


class Deferred:
    """A function of a module that is imported when the function is called.

    Parameters
    ----------
    module : str
        Its full name.
    name : str
        Of the function.

    Examples
    --------
    >>> Deferred("textwrap", "dedent")("  as it would be")
    'as it would be'
    """

    def __init__(self, module: str, name: str):
        self.module = module
        self.name = name

    @property
    def function(self) -> Callable[..., Any]:
        """The function itself."""
        return getattr(import_module(self.module), self.name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)
