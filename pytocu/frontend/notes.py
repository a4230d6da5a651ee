"""What the operands of an expression are, told where the expression is refused."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from pytocu.errors import CompileError, Note, UnsupportedError
from pytocu.frontend.frames import Frame
from pytocu.ir.core import Value
from pytocu.ir.types import type_text
from pytocu.operands import origin


def note_operands(frame: Frame, error: CompileError, operands: Iterable[tuple[ast.expr, Any]]) -> None:
    """Let an error about the expression that is being read say of each array in it what it is and where it comes from.

    Parameters
    ----------
    frame : Frame
    error : CompileError
        One about a part of the expression, one that says it already, and one about what is not compiled stay as they are.
    operands : iterable of (syntax node, value)
    """
    loc = frame.context.loc
    if error.notes or error.loc != loc or isinstance(error, UnsupportedError):
        return
    notes: list[Note] = []
    for node, value in operands:
        parts = [(node, value)]
        if isinstance(node, ast.List | ast.Tuple) and isinstance(value, list | tuple) and len(node.elts) == len(value):
            parts = list(zip(node.elts, value, strict=True))
        for part, held in parts:
            place = frame.loc(part)
            if isinstance(held, Value) and place.line == loc.line and place.end_column > place.column:
                name = part.id if isinstance(part, ast.Name) else ""
                notes.append(Note(place, f"{type_text(held.type)}{origin(place, name)}"))
    error.notes = tuple(notes)
