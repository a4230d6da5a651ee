"""Tables of functions in modules that are imported when one of theirs is asked for.

A program calls few of the functions, and a first call waits for what is imported: a fifth of it were modules of others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from importlib import import_module
from typing import Any

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
