"""Python's ``next``, and ``any`` and ``all`` of generators: loops that end with the first member that decides."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from pytocu.errors import raised
from pytocu.frontend.frames import Frame, lookup
from pytocu.frontend.pieces import run_piece
from pytocu.frontend.statements import run_block
from pytocu.frontend.values import Generated, Members, Steps, type_name

_ANSWER, _STEPS, _DECIDED = "the answer", "the steps", "whether it is decided"
"""What no name of the program is called."""

_NOTHING: Any = object()

_OR_RAISE = """
if not decided:
    raise StopIteration
"""

_OF_STEPS = """
found = default
decided = False
for member in self:
    found = member
    decided = True
    break
"""

_OF_STEPS_ALONE = """
decided = False
for member in self:
    found = member
    decided = True
    break
""" + _OR_RAISE


def any_generated(generated: Generated, function: Callable[..., Any]) -> Any:
    """``any`` or ``all`` of a generator."""
    member = generated.node.elt
    decides: ast.expr = member if function is any else ast.UnaryOp(ast.Not(), member)
    inner = _loop(generated, {_ANSWER: function is all}, decides, ast.Constant(function is any))
    return lookup(inner, _ANSWER)


def next_of(frame: Frame, iterator: Any, default: Any = _NOTHING, /) -> Any:
    """The first member that an iterator gives, or a default where it gives none.

    Raises
    ------
    StopIteration
        It gives none, and there is no default.
    TypeError
        What is given is no iterator.
    """
    if isinstance(iterator, Generated):
        begins = {} if default is _NOTHING else {_ANSWER: default}
        inner = _loop(iterator, begins, None, iterator.node.elt)
        if default is _NOTHING:
            run_piece(inner, _OR_RAISE, decided=lookup(inner, _DECIDED), StopIteration=StopIteration)
        return lookup(inner, _ANSWER)
    if isinstance(iterator, Members) and not iterator.sized:
        members = iterator.now(frame.context)
        if members:
            return members[0]
        if default is _NOTHING:
            raise raised(StopIteration(), frame.context.loc)
        return default
    if isinstance(iterator, Steps) and not iterator.plain:
        if default is _NOTHING:
            return run_piece(frame, _OF_STEPS_ALONE, self=iterator, StopIteration=StopIteration)
        return run_piece(frame, _OF_STEPS, self=iterator, default=default)
    kind = "range" if isinstance(iterator, Steps) else type_name(iterator)
    raise raised(TypeError(f"'{kind}' object is not an iterator"), frame.context.loc, "write next(iter(...))")


def _loop(generated: Generated, begins: dict[str, Any], decides: ast.expr | None, found: ast.expr) -> Frame:
    """Go over a generator until a member decides, the first one where nothing is asked: what is found is the answer."""
    frame, node = generated.frame, generated.node
    names = {n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)}
    inner = frame.inside(frozenset({*names, _ANSWER, _STEPS, _DECIDED}))
    inner.locals.update(begins)
    inner.locals[_STEPS], inner.locals[_DECIDED] = generated.steps, False
    step: list[ast.stmt] = [
        ast.Assign([ast.Name(_ANSWER, ast.Store())], found),
        ast.Assign([ast.Name(_DECIDED, ast.Store())], ast.Constant(True)),
        ast.Break(),
    ]
    if decides is not None:
        step = [ast.If(decides, step, [])]
    for number, generator in reversed(list(enumerate(node.generators))):
        for test in reversed(generator.ifs):
            step = [ast.If(test, step, [])]
        loop = ast.For(generator.target, generator.iter if number else ast.Name(_STEPS, ast.Load()), step, [])
        step = [loop]
        if number:
            # Loops are told apart by where they stand.
            ast.copy_location(loop, generator.target)
            step.append(ast.If(ast.Name(_DECIDED, ast.Load()), [ast.Break()], []))
    for statement in step:
        for part in ast.walk(statement):
            if not hasattr(part, "lineno"):
                ast.copy_location(part, node)
    run_block(inner, step)
    return inner


__all__ = ["any_generated", "next_of"]
