"""Pieces of program in Python's own words that stand for functions and methods, in names that no program has."""

from __future__ import annotations

import ast
import copy
import functools
from typing import Any

from pytocu.frontend.frames import Frame, lookup
from pytocu.frontend.statements import run_block

_BUILTINS = {f.__name__: f for f in (len, range, IndexError, ValueError)}


@functools.lru_cache(maxsize=64)
def _parsed(source: str) -> tuple[tuple[ast.stmt, ...], frozenset[str]]:
    """The statements, whose names are none of a program's, and these names."""
    tree = ast.parse(source)
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    for node in names:
        node.id = _hidden(node.id)
    return tuple(tree.body), frozenset(node.id for node in names)


def _hidden(name: str) -> str:
    return f"the {name}"


def run_piece(frame: Frame, source: str, **given: Any) -> Any:
    """Read a piece of program where the program stands; what `found` is then, if it is bound."""
    loc = frame.context.loc
    parsed, names = _parsed(source)
    # Other threads may read the same piece for another place of another program.
    body = copy.deepcopy(parsed)
    for statement in body:
        for part in ast.walk(statement):
            if isinstance(part, ast.expr | ast.stmt):
                part.lineno = part.end_lineno = loc.line
                part.col_offset, part.end_col_offset = loc.column - 1, max(loc.end_column, 1) - 1
    inner = frame.inside(names)
    inner.locals.update((_hidden(k), v) for k, v in {**_BUILTINS, **given}.items() if _hidden(k) in names)
    run_block(inner, list(body))
    frame.context.builder.loc = loc
    return lookup(inner, _hidden("found")) if _hidden("found") in inner.locals else None


__all__ = ["run_piece"]
