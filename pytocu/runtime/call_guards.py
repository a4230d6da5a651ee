"""Captured values, as operations that leave a call for which one of them is another.

In: the guards of a specialisation, in the order in which its function met the values.  Out: operations in the words of a
:class:`pytocu.runtime.call_words.Compiler`.

Where a value stands is read off the guard's path: in a dictionary, in a cell, or as an attribute of what an earlier
guard has compared.  Python looks at guards on other ways (members of lists, attributes that a user's class computes).
"""

from __future__ import annotations

from collections.abc import Sequence
from types import FunctionType, ModuleType
from typing import Any

from pytocu.guards import MISSING, Guard, class_alone
from pytocu.runtime.call_frames import Known, NotNative, Value, bits
from pytocu.runtime.call_words import Compiler


def write_guards(compiler: Compiler, guards: Sequence[Guard], function: Any) -> None:
    """Leave a call for which a captured value of a function is another one.

    Raises
    ------
    NotNative
        The guards need an argument that the call leaves out.
    """
    written = _Guards(compiler, function)
    for guard in guards:
        written.guard(guard)


class _Guards:
    """What guards of one specialisation have compared.

    Attributes
    ----------
    compared : dict
        From the path of a value that was compared to where it is and to its class.
    """

    def __init__(self, compiler: Compiler, function: Any):
        self.compiler = compiler
        self.words = compiler.words
        self.function = function
        passed = enumerate(compiler.classes[: self.words.count])
        self.compared = {("argument", n): (Value(n, "object"), kind) for n, kind in passed}

    def guard(self, guard: Guard) -> None:
        path = _hashable(guard.path)
        fixed = guard.same is not MISSING
        place = _dictionary(guard, self.function) if fixed else None
        if place is not None:
            values, name = place
            self.words.emit("global", *map(self.words.constant, (values, name, guard.same)))
            self.compared[path] = Value(self.words.constant(guard.same), "object"), type(guard.same)
            return
        # An object that counts as its class only: what is read of it has guards of its own.
        kind = class_alone(guard.key)
        found = self.found(path) if fixed or kind is not None else None
        if found is not None and kind is not None:
            self.words.emit("type", found.at, self.words.constant(kind))
            self.compared[path] = found, kind
        elif found is not None:
            self.unchanged(found, guard.same)
            self.compared[path] = found, type(guard.same)
        else:
            self.by_python(guard)

    def found(self, path: Any) -> Value | None:
        """What stands at a path now, if no code of the user is run to see it."""
        match path:
            case ("closure", ("function",), int(position)):
                cell = self.function.__closure__[position]
                return self.compiler.made("attribute", self.words.constant(cell), self.words.constant("cell_contents"))
            case ("attribute", base, str(name)) if base in self.compared:
                value, kind = self.compared[base]
                if _looks_up_plainly(kind):
                    return self.compiler.made("attribute", value.at, self.words.constant(name))
        return None

    def by_python(self, guard: Guard) -> None:
        if self.words.count < len(self.compiler.classes):
            raise NotNative("a captured value that is read of all arguments")
        given = [Value(n, "object") for n in range(self.words.count)]
        listed = self.compiler.made("tuple", self.compiler.passed(given), len(given))
        self.words.emit("true", self.compiler.call(Known(guard.watch()), [listed]).at)

    def unchanged(self, found: Value, wanted: Any) -> None:
        """Leave a call where an object is another one, or another number or text."""
        match wanted:
            case float() | int() | str() | bytes() if type(wanted) in (float, int, str, bytes):
                self.words.emit("type", found.at, self.words.constant(type(wanted)))
                if isinstance(wanted, float):
                    # Zeros with another sign are equal.
                    made = self.words.word(0)
                    self.words.emit("float", made, found.at)
                    self.words.emit("same", made, self.words.word(bits(wanted)))
                else:
                    self.words.emit("equal", found.at, self.words.constant(wanted))
            case _:
                self.words.emit("same", found.at, self.words.constant(wanted))


def _hashable(path: Any) -> Any:
    """A path with tuples for the lists that JSON has."""
    return tuple(map(_hashable, path)) if isinstance(path, (list, tuple)) else path


def _looks_up_plainly(kind: type) -> bool:
    """Whether attributes of the objects of a class are found without code of the user."""
    if kind is FunctionType:
        return True
    return kind.__getattribute__ is object.__getattribute__ and not hasattr(kind, "__getattr__")


def _dictionary(guard: Guard, function: Any) -> tuple[dict[str, Any], str] | None:
    """The dictionary in which a captured value stands, and its name there; None for one that is elsewhere."""
    match guard.path:
        case ("global", ("function",), str(name)):
            values = getattr(function, "__globals__", {})
        case ("attribute", ("global", ("function",), str(module)), str(name)):
            # Which module it is is a captured value too.
            found = getattr(function, "__globals__", {}).get(module)
            values = vars(found) if isinstance(found, ModuleType) else {}
        case _:
            return None
    return (values, name) if values.get(name, MISSING) is guard.same else None


__all__ = ["write_guards"]
