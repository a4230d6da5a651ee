"""Records: what :class:`typing.NamedTuple` and ``dataclass`` make, in a tenth of the time.

A first call imports some seventy of them.  ``NamedTuple`` compiles the text of every annotation and both
write constructors, which takes longer than reading the module that they stand in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

if TYPE_CHECKING:
    # The same to a type checker.
    from typing import NamedTuple as Record
    from typing import TypeVar, dataclass_transform

    T = TypeVar("T")

    def fresh(*, default_factory: Callable[[], T]) -> T: ...

    @dataclass_transform(eq_default=False, field_specifiers=(fresh,))
    class Mutable:
        def _replace(self, **changes: Any) -> Any: ...

else:
    from operator import itemgetter

    _GETTERS: list[property] = []

    def _refuse(cls: Any, missing: list[str], unknown: list[str], count: int) -> NoReturn:
        wrong = [f"no {name}" for name in missing] + [f"an unexpected {name}" for name in unknown]
        reason = ", ".join(wrong) or f"{count} values"
        raise TypeError(f"{cls.__name__} has the fields ({', '.join(cls._fields)}) and was given {reason}")

    class _Made(type):
        """Annotations of the class body become fields, in their order."""

        def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> type:
            if any(getattr(base, "_fields", ()) for base in bases):
                # A class derived from a record has its fields.
                return super().__new__(cls, name, bases, namespace)
            fields = tuple(namespace.get("__annotations__", ()))
            defaults = {field: namespace[field] for field in fields if field in namespace}
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
            fields, defaults, names = cls._fields, cls._defaults, tuple(named)
            rest = fields[len(values) :]
            try:
                made = (*values, *[named.pop(field) if field in named else defaults[field] for field in rest])
                if not named and len(made) == len(fields):
                    return made
            except KeyError:
                # A field without a value.
                pass
            given = {*fields[: len(values)], *names, *defaults}
            unknown = [name for name in names if name not in rest]
            _refuse(cls, [field for field in fields if field not in given], unknown, len(values))

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

    class fresh:
        """A default of a :class:`Mutable` that is made for each object: ``fresh(default_factory=dict)``."""

        def __init__(self, *, default_factory: Callable[[], Any]):
            self.make = default_factory

    class Mutable:
        """An object whose attributes have names and may change; equal to itself alone.

        Examples
        --------
        >>> class Pile(Mutable):
        ...     name: str
        ...     height: int = 0
        ...     cards: list = fresh(default_factory=list)
        >>> one = Pile("left", height=1)
        >>> one.cards.append(7)
        >>> one.name, one.height, one.cards, Pile("right").cards, one._replace(height=2).height
        ('left', 1, [7], [], 2)
        """

        _fields = ()
        _required = _known = frozenset()
        _fresh = ()

        def __init_subclass__(cls) -> None:
            own = tuple(cls.__annotations__)
            defaults = {name: cls.__dict__[name] for name in own if name in cls.__dict__}
            cls._fields = (*cls._fields, *own)
            cls._known = frozenset(cls._fields)
            cls._required |= set(own) - defaults.keys()
            cls._fresh = (*cls._fresh, *[(name, value.make) for name, value in defaults.items() if isinstance(value, fresh)])

        def __init__(self, *values: Any, **named: Any):
            fields = self._fields
            given = dict(zip(fields, values, strict=False)) | named
            if len(given) != len(values) + len(named) or not self._required <= given.keys() <= self._known:
                missing = [name for name in fields if name in self._required and name not in given]
                unknown = [name for name in named if name not in fields[len(values) :]]
                _refuse(type(self), missing, unknown, len(values))
            for name, make in self._fresh:
                if name not in given:
                    given[name] = make()
            # Other defaults are attributes of the class.
            self.__dict__ = given

        def _replace(self, **changes: Any) -> Any:
            """A copy with other attributes; what the rest refer to is shared."""
            made = object.__new__(type(self))
            made.__dict__ = self.__dict__ | changes
            return made


__all__ = ["Mutable", "Record", "fresh"]
