"""What a piece of the user's program may change while it is read, so that it can be read again.

The two sides of a branch begin with the same state, and so does every reading of a loop's body.  Names are
taken from the function that is read and from those around it.
"""

from __future__ import annotations

from typing import Any

from pytocu.errors import UnsupportedError
from pytocu.frontend.frames import Frame
from pytocu.frontend.values import Masked, is_number
from pytocu.ir.core import Value

LEAF = "leaf"


class State:
    """The names of a function and of those around it, and what memories hold, at one moment."""

    def __init__(self, frame: Frame):
        self.frames: list[Frame] = []
        scope: Frame | None = frame
        while scope is not None:
            self.frames.append(scope)
            scope = scope.parent
        self.context = frame.context
        self.builder = frame.context.builder
        self.locals = [dict(f.locals) for f in self.frames]
        self.storage = self.builder.state()
        self.loc = self.builder.loc
        self.compacted, self.positions = list(frame.context.compacted), dict(frame.context.positions)
        self.read = list(frame.context.read)
        self.containers: list[tuple[Any, Any]] = []
        self.masked: list[tuple[Masked, Value]] = []
        seen: set[int] = set()
        for names in self.locals:
            for value in names.values():
                self._note(value, seen)

    def _note(self, value: Any, seen: set[int]) -> None:
        if id(value) in seen or not isinstance(value, (list, tuple, dict, Masked)):
            return
        seen.add(id(value))
        if isinstance(value, Masked):
            if value.elements is None:
                self.masked.append((value, value.array))
            return
        if not isinstance(value, tuple):
            self.containers.append((value, value.copy()))
        for member in value.values() if isinstance(value, dict) else value:
            self._note(member, seen)

    def go_back(self) -> None:
        """Everything is again as it was at that moment."""
        for frame, names in zip(self.frames, self.locals, strict=True):
            frame.locals.clear()
            frame.locals.update(names)
        self.builder.go_back(self.storage)
        self.builder.loc = self.loc
        # What a region computed is known in it only.
        self.context.compacted, self.context.positions = list(self.compacted), dict(self.positions)
        self.context.read = list(self.read)
        for value, array in self.masked:
            value.array, value.elements = array, None

    def asked(self) -> list[Masked]:
        """The masked values of that moment whose elements were asked for or changed since.

        They have to be arrays before the region: it cannot compute what stands before it, and it changes memory only.
        """
        return [value for value, array in self.masked if value.elements is not None or value.array is not array]

    def refuse_changed_containers(self, what: str) -> None:
        """Lists and dicts are known while compiling, so they cannot depend on what happens at run time.

        Raises
        ------
        UnsupportedError
            One was changed since; it is as it was before then.
        """
        for container, copy in self.containers:
            members = container.values() if isinstance(container, dict) else container
            before = copy.values() if isinstance(copy, dict) else copy
            if len(container) == len(copy) and all(a is b for a, b in zip(members, before, strict=True)):
                continue
            kind = type(container).__name__
            grown = "grows" if len(container) > len(copy) else "is changed"
            container.clear()
            container.update(copy) if isinstance(container, dict) else container.extend(copy)
            raise UnsupportedError(
                f"a {kind} {grown} in {what}, and what it holds then is known only at run time",
                self.builder.loc,
                f"use an array, or names of their own for what the {kind} holds",
            )

    def restore_containers(self) -> None:
        """Lists and dicts are again as they were at that moment."""
        for container, copy in self.containers:
            container.clear()
            container.update(copy) if isinstance(container, dict) else container.extend(copy)

    def names(self) -> list[tuple[Frame, str]]:
        """Every name that is bound now or was bound then, with the function it belongs to."""
        return [
            (frame, name)
            for frame, names in zip(self.frames, self.locals, strict=True)
            for name in dict.fromkeys([*names, *frame.locals])
        ]

    def value(self, frame: Frame, name: str, default: Any = None) -> Any:
        """What a name held then."""
        return self.locals[self.frames.index(frame)].get(name, default)


def flatten(value: Any, leaves: list[Any]) -> Any:
    """The numbers and arrays in a value, and the form in which they stand there."""
    if isinstance(value, Value) or is_number(value):
        leaves.append(value)
        return LEAF
    if isinstance(value, tuple):
        return (type(value), *(flatten(member, leaves) for member in value))
    return value


def same_form(a: Any, b: Any) -> bool:
    """Whether two forms of `flatten` are one."""
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(same_form, a, b))
    if a is b:
        return True
    return type(a) is type(b) and isinstance(a, (str, bool, int, float, type(None))) and a == b


def rebuild(form: Any, leaves: list[Any]) -> Any:
    """The value of a form with these leaves, which are taken from the front of the list."""
    if form is LEAF:
        return leaves.pop(0)
    if isinstance(form, tuple):
        kind, *members = form
        made = [rebuild(member, leaves) for member in members]
        return tuple(made) if kind is tuple else kind._make(made)
    return form
