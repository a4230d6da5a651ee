"""Formulas of rows, in modules that are imported when one of them is written.

The op table names more than two hundred formulas, and a program uses few of its rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytocu.deferred import Deferred


class Formula(Deferred):
    """A formula, or what a function makes of arguments.

    Parameters
    ----------
    module : str
        In the package of this one.
    name : str
        Of the formula; or of a function that makes it, where arguments for that are given.
    given : tuple, optional
        Those arguments.

    Examples
    --------
    >>> from pytocu.ir.builder import Builder
    >>> from pytocu.ir.core import Value
    >>> from pytocu.ir.expander import Expander
    >>> from pytocu.ir.types import F32, scalar
    >>> x, builder = Value(scalar(F32), "x"), Builder()
    >>> Formula("expand", "square")(Expander(builder), x.type, x).inst.op.name
    'multiply'
    """

    def __init__(self, module: str, name: str, given: tuple[Any, ...] | None = None):
        super().__init__(f"{__package__}.{module}", name)
        self.given = given

    # It has __getitem__, but is no sequence.
    __iter__ = None

    def __getitem__(self, given: Any) -> Formula:
        """What the function makes of arguments: ``componentwise["add"]`` for ``componentwise("add")``."""
        return Formula(self.module.rpartition(".")[2], self.name, given if isinstance(given, tuple) else (given,))

    @property
    def function(self) -> Callable[..., Any]:
        """The formula itself."""
        if self.given is None:
            return super().function
        return super().function(*(g.function if isinstance(g, Formula) else g for g in self.given))


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
