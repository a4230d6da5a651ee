"""NumPy's functions that are short in Python: text of the compiler's own, read at the place of a call.

What goes in is the text and what each of its names means; nothing else is looked up.  All that is read stands at the
place of the call, so errors show the user's line.
"""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import Any

from pytocu.errors import Loc
from pytocu.frontend.expressions import evaluate
from pytocu.frontend.frames import Frame, Scope, lookup
from pytocu.frontend.statements import run_block
from pytocu.frontend.values import Context


class _AtCall(Frame):
    """The names of such a text."""

    __slots__ = ("place",)

    def loc(self, node: ast.AST) -> Loc:
        """The place of the call, whatever the node."""
        return self.place

    def inside(self, names: frozenset[str]) -> Frame:
        """The frame of a comprehension, at the same place."""
        made = _AtCall(self.context, self.function, Scope(names), {}, self.file, self.name, self.caller, self, True)
        made.place = self.place
        return made


def _frame(context: Context, names: dict[str, Any]) -> Frame:
    place = context.loc
    made = _AtCall(
        context, context.active[-1], Scope(frozenset(names)), dict(names), place.file, place.function, place.caller
    )
    made.place = place
    return made


@lru_cache
def _expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


@lru_cache
def _statements(text: str) -> list[ast.stmt]:
    return ast.parse(text).body


def evaluated(context: Context, text: str, names: dict[str, Any]) -> Any:
    """The abstract value of an expression; `names` says what each of its names means."""
    return evaluate(_frame(context, names), _expression(text))


def after(context: Context, text: str, names: dict[str, Any], name: str) -> Any:
    """What a name holds behind statements, none of which returns."""
    frame = _frame(context, names)
    with context.builder.at(context.loc):
        run_block(frame, _statements(text))
        return lookup(frame, name)
