"""A name of a list from before a loop that each step binds to a list which the step made: ``frontier = following``.

No step knows how long the other list is, so its members become those of the list from before the loop, and both names hold
that one.  Nobody sees that it is another object, since neither has other names.
"""

from __future__ import annotations

import ast
from typing import Any

from pytocu.frontend.frames import Frame
from pytocu.frontend.source import function_node
from pytocu.frontend.state import State, holder
from pytocu.frontend.statements import run_block
from pytocu.frontend.values import Counted, Steps

_OTHER = "the other list"
"""What no name of the program is called."""


def take_over(frame: Frame, node: ast.Assign, target: str, value: Counted) -> bool:
    """Whether a list has taken over the members of another, whose name, if it has one, is bound to it then."""
    context = frame.context
    source = node.value.id if isinstance(node.value, ast.Name) else _OTHER
    owner, other = holder(frame, target), holder(frame, source) if source != _OTHER else frame
    if owner is None or other is None or context.elements is not None or value.depth != len(context.counting):
        return False
    old: Any = owner.locals[target]
    loops = [loop for loop in context.growing if not loop.written_out]
    of_loop = id(old) in loops[-1].known if loops and type(old) is list else isinstance(old, Counted)
    if not of_loop or (isinstance(old, Counted) and old.depth >= value.depth) or _is_gone_over(frame, node, target):
        return False
    if any(one.queue is not None or one.arrays is not None for one in (old, value) if isinstance(one, Counted)):
        return False
    state = State(frame)
    if state.uses(old) != 1 or state.uses(value) != (source != _OTHER) or (type(old) is list and not state.is_own(old)):
        return False
    other.locals[source] = value
    calls = [_called(target, "clear"), _called(target, "extend", ast.Name(source, ast.Load()))]
    for part in (part for call in calls for part in ast.walk(call)):
        ast.copy_location(part, node)
    run_block(frame, calls)
    if source == _OTHER:
        del frame.locals[_OTHER]
    else:
        other.locals[source] = owner.locals[target]
    return True


def _is_gone_over(frame: Frame, node: ast.Assign, name: str) -> bool:
    """Whether a loop around a statement goes over what a name held before it, which Python does on with."""
    if any(isinstance(value, Steps) and not value.plain for value in frame.locals.values()):
        return True
    for loop in ast.walk(function_node(frame.function)):
        if not isinstance(loop, ast.For) or all(n is not node for statement in loop.body for n in ast.walk(statement)):
            continue
        if any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(loop.iter)):
            return True
    return False


def _called(name: str, method: str, *args: ast.expr) -> ast.stmt:
    return ast.Expr(ast.Call(ast.Attribute(ast.Name(name, ast.Load()), method, ast.Load()), [*args], []))
