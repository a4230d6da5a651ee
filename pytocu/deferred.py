"""Functions of modules, and modules, that are imported when they are needed.

A first call waits for what is imported, and a program needs few of the compiler's modules. A function that is needed
now and then stands at the head of its caller's module as a `Deferred`, a module (its classes, constants or several
functions) as a `DeferredModule`. A fork waits meanwhile: in the child nobody would release Python's lock of the module.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from pytocu.processes import fork_waits


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
        with fork_waits():
            return getattr(import_module(self.module), self.name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)


class DeferredModule:
    """A module that is imported when it is first asked for.

    Parameters
    ----------
    module : str
        Its full name.

    Examples
    --------
    >>> texts = DeferredModule("textwrap")
    >>> texts().dedent("  as it would be")
    'as it would be'
    """

    def __init__(self, module: str):
        self.module = module
        self._found: Any = None

    def __call__(self) -> Any:
        if self._found is None:
            with fork_waits():
                self._found = import_module(self.module)
        return self._found
