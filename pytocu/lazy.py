"""Attributes that are computed when they are first asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class lazy(Generic[T]):
    """As :func:`functools.cached_property`, without a lock.

    That of Python 3.11 holds one lock for all instances while it computes: other functions could not
    be compiled meanwhile, and a process forked meanwhile would wait for it without end.  Two
    threads may compute one attribute at once; both get what was stored first.
    """

    def __init__(self, function: Callable[[Any], T]):
        self.function = function
        self.__doc__ = function.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> lazy[T]: ...
    @overload
    def __get__(self, instance: object, owner: type | None = None) -> T: ...
    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        return instance.__dict__.setdefault(self.name, self.function(instance))
