"""Immutable records: what :class:`typing.NamedTuple` makes, in a tenth of the time.

A first call imports some sixty of them.  ``NamedTuple`` compiles the text of every annotation and a
constructor, which together take longer than reading the module that it stands in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # The same to a type checker.
    from typing import NamedTuple as Record
else:
    from operator import itemgetter

    _GETTERS: list[property] = []

    class _Made(type):
        """Annotations of the class body become fields, in their order."""

        def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> type:
            if any(getattr(base, "_fields", ()) for base in bases):
                # A class derived from a record has its fields.
                return super().__new__(cls, name, bases, namespace)
            fields = tuple(namespace.get("__annotations__", ()))
            defaults = tuple([namespace[field] for field in fields if field in namespace])
            while len(_GETTERS) < len(fields):
                _GETTERS.append(property(itemgetter(len(_GETTERS))))
            namespace |= dict(zip(fields, _GETTERS, strict=False))
            namespace |= {"__slots__": (), "__match_args__": fields, "_fields": fields, "_defaults": defaults}
            return super().__new__(cls, name, bases, namespace)

    class Record(tuple, metaclass=_Made):
        """A tuple whose members have names.

        Examples
        --------
        >>> class Span(Record):
        ...     start: int
        ...     end: int = 0
        >>> Span(3), Span(3, end=4)._replace(start=1)
        (Span(start=3, end=0), Span(start=1, end=4))
        """

        def __new__(cls, *values: Any, **named: Any) -> Any:
            if len(values) != len(cls._fields) or named:
                values = cls._complete(values, named)
            return tuple.__new__(cls, values)

        @classmethod
        def _complete(cls, values: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
            """Values for all fields, in their order, with what was given by name and with defaults."""
            rest = cls._fields[len(values) :]
            given = dict(zip(cls._fields[len(cls._fields) - len(cls._defaults) :], cls._defaults, strict=True)) | named
            missing = [field for field in rest if field not in given]
            unknown = [name for name in named if name not in rest]
            if missing or unknown or len(values) > len(cls._fields):
                wrong = [f"no {name}" for name in missing] + [f"an unexpected {name}" for name in unknown]
                reason = ", ".join(wrong) or f"{len(values)} values"
                raise TypeError(f"{cls.__name__} has the fields ({', '.join(cls._fields)}) and was given {reason}")
            return (*values, *[given[field] for field in rest])

        _make = classmethod(tuple.__new__)

        def _replace(self, **changes: Any) -> Any:
            return type(self)(**(self._asdict() | changes))

        def _asdict(self) -> dict[str, Any]:
            return dict(zip(self._fields, self, strict=True))

        def __getnewargs__(self) -> tuple[Any, ...]:
            return tuple(self)

        def __repr__(self) -> str:
            shown = (f"{name}={value!r}" for name, value in self._asdict().items())
            return f"{type(self).__name__}({', '.join(shown)})"


__all__ = ["Record"]
