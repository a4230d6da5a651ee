"""Formulas of rows, in modules that are imported when one of them is written.

The op table names more than two hundred formulas, and a program uses few of its rows.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


class Formula:
    """A function of a module that is imported when the function is called.

    Parameters
    ----------
    module : str
        In the package of this one.
    name : str
        Of the function; or of one that makes the function, where arguments for that one are given.
    given : tuple, optional
        Those arguments.

    Examples
    --------
    >>> from pytocu.ir.builder import Builder
    >>> from pytocu.ir.expander import Expander
    >>> from pytocu.ir.core import Value
    >>> from pytocu.ir.types import F32, scalar
    >>> x, builder = Value(scalar(F32), "x"), Builder()
    >>> Formula("expand", "square")(Expander(builder), x.type, x).inst.op.name
    'multiply'
    """

    def __init__(self, module: str, name: str, given: tuple[Any, ...] | None = None):
        self.module = module
        self.name = name
        self.given = given

    __iter__ = None
    # It has __getitem__, but is no sequence.

    def __getitem__(self, given: Any) -> Formula:
        """What the function makes of arguments: ``componentwise["add"]`` for ``componentwise("add")``."""
        return Formula(self.module, self.name, given if isinstance(given, tuple) else (given,))

    @property
    def function(self) -> Callable[..., Any]:
        """The function itself."""
        found = getattr(import_module(f"{__package__}.{self.module}"), self.name)
        if self.given is None:
            return found
        return found(*(g.function if isinstance(g, Formula) else g for g in self.given))

    def __call__(self, *args: Any) -> Any:
        return self.function(*args)


class Formulas:
    """The functions of a module as attributes, each a :class:`Formula`.

    Examples
    --------
    >>> expand = Formulas("expand")
    >>> expand.square.name
    'square'
    """

    def __init__(self, module: str):
        self._module = module

    def __getattr__(self, name: str) -> Formula:
        if name.startswith("__"):
            raise AttributeError(name)
        return Formula(self._module, name)
