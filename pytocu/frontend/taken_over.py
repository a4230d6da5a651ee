"""Names of lists from before a loop that a step binds to other lists: ``frontier = following``, ``a, b = b, []``.

No step knows how long the other list is, so its members become those of the list from before the loop.  Nobody sees that it is
another object, since neither has other names: a list that the step has made is called by both names then, and the name of one
from before the loop is bound to a new list next.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from pytocu.frontend.counted import ask_grown
from pytocu.frontend.frames import Frame
from pytocu.frontend.source import function_node
from pytocu.frontend.state import State, holder
from pytocu.frontend.statements import assign_at, run_block
from pytocu.frontend.values import Counted, Grown, Steps
from pytocu.ir.core import named
from pytocu.ir.dims import is_number
from pytocu.ir.types import shape_of

_OTHER = "the other list"
"""What no name of the program is called; more of them end in a number."""


def take_over(frame: Frame, node: ast.Assign, value: Any) -> bool:
    """Whether the lists of an assignment in a step have taken over the members of those that their names are bound to."""
    match node.targets:
        case [ast.Name(id=name)]:
            names, values, sources = [name], [value], [node.value]
        case [ast.Tuple(elts=targets)] if type(value) is tuple and isinstance(node.value, ast.Tuple):
            names = [target.id for target in targets if isinstance(target, ast.Name)]
            values, sources = value, node.value.elts
            if not len(names) == len(set(names)) == len(values) == len(targets):
                return False
        case _:
            return False
    lists = [
        (name, one, source.id if isinstance(source, ast.Name) else "")
        for name, one, source in zip(names, values, sources, strict=True)
        if isinstance(one, Grown) or type(one) is list
    ]
    # Lists that change places are all of one sort.
    moves = [move for move in lists if _is_of_run(frame, *move[:2])] and lists
    called = [source for _, _, source in moves if source]
    if not moves or len(set(called)) < len(called) or any(name == source for name, _, source in moves):
        return False
    if not all(_may_take(frame, node, move, names) for move in moves):
        return False
    _move(frame, node, moves, names)
    moved = {name for name, _, _ in moves}
    targets = node.targets[0].elts if isinstance(node.targets[0], ast.Tuple) else node.targets
    for target, name, one in zip(targets, names, values, strict=True):
        if name not in moved:
            assign_at(frame, target, one)
    return True


def _is_of_run(frame: Frame, name: str, value: Any) -> bool:
    """Whether a run decides how long the list is that a name holds, or is bound to in a step."""
    loops = [loop for loop in frame.context.growing if not loop.written_out]
    if isinstance(value, Counted):
        return True
    owner = holder(frame, name)
    old = None if owner is None else owner.locals[name]
    at = old.at if isinstance(old, Counted) and old.depth < len(frame.context.counting) else None
    inside = any(at == loop.place for loop in loops)
    if not isinstance(value, Grown):
        return type(value) is list and inside
    if not loops or value.place is not None or value.shared or value.frozen or value.nones:
        return False
    names = named(shape_of(value.rows.type))
    if inside or any(is_number(name) and name not in loops[-1].state.numbers for name in names):
        return True
    # Of what the list holds it is a part, as all but the first, or more.
    before = shape_of(old.rows.type) if type(old) is Grown and old.place is None else ()
    return bool(before) and shape_of(value.rows.type) != before and names <= named(before)


def _may_take(frame: Frame, node: ast.Assign, move: tuple[str, Any, str], names: Sequence[str]) -> bool:
    """Whether the list of a name may take over the members of another, called by a name or by none."""
    context = frame.context
    target, value, source = move
    owner, other = holder(frame, target), holder(frame, source) if source else frame
    if owner is None or other is None or context.elements is not None:
        return False
    old: Any = owner.locals[target]
    loops = [loop for loop in context.growing if not loop.written_out]
    if type(old) is Grown and old.place is None and loops and _is_of_run(frame, target, value) and not source:
        # One from before the loop becomes a list that a run counts.
        ask_grown(context, old)
    of_loop = id(old) in loops[-1].known if loops and type(old) is list else isinstance(old, Counted)
    if not of_loop or _is_gone_over(frame, node, target):
        return False
    if isinstance(old, Counted) and old.depth >= len(context.counting) and not _may_join(frame, node, old, value, source):
        return False
    if any(one.queue is not None or one.arrays is not None for one in (old, value) if isinstance(one, Grown)):
        return False
    if isinstance(value, Counted) and value.depth < len(context.counting):
        # It is another list in the next step, too, if its name is bound to one by then.
        if not source or (source not in names and not _is_left(frame, node, source)):
            return False
    elif isinstance(value, Counted) and value.depth > len(context.counting):
        return False
    state = State(frame)
    if not isinstance(value, Counted) and (source not in ("", *names) or not state.is_own(value)):
        return False
    return state.uses(old) == 1 and state.uses(value) == bool(source) and (type(old) is not list or state.is_own(old))


def _note_named(frame: Frame, name: str, named: bool) -> None:
    """Note whether the list that a name holds from now on may have another one: the name has left the list from before."""
    owner = holder(frame, name)
    if owner is not None and isinstance(held := owner.locals.get(name), Grown):
        held.named = named


def _move(frame: Frame, node: ast.Assign, moves: list[tuple[str, Any, str]], names: Sequence[str]) -> None:
    """Let each list hold the members of the other; one that would be gone by then is kept in a copy."""
    hidden: list[str] = []
    calls: list[ast.stmt] = []
    of_step = len(frame.context.counting)
    for place, (target, value, source) in enumerate(moves):
        if not source:
            source = _OTHER if not place else f"{_OTHER} {place}"
            frame.locals[source] = value
            hidden.append(source)
        calls += [_called(target, "clear"), _called(target, "extend", ast.Name(source, ast.Load()))]
        for number, (_, _, other) in enumerate(moves[place + 1 :]):
            if other == target:
                kept = f"{_OTHER} of {place}"
                whole = ast.Subscript(ast.Name(other, ast.Load()), ast.Slice(), ast.Load())
                calls.insert(0, ast.Assign([ast.Name(kept, ast.Store())], whole))
                hidden.append(kept)
                moves[place + 1 + number] = (*moves[place + 1 + number][:2], kept)
    for part in (part for call in calls for part in ast.walk(call)):
        ast.copy_location(part, node)
    for target, _, _ in moves:
        _note_named(frame, target, False)
    run_block(frame, calls)
    for target, value, _ in moves:
        _note_named(frame, target, isinstance(value, Grown) and value.named)
    for name in hidden:
        del frame.locals[name]
    for target, value, source in moves:
        if source and isinstance(value, Counted) and value.depth == of_step and source not in (*names, *hidden):
            owner, other = holder(frame, target), holder(frame, source)
            assert owner is not None
            assert other is not None
            other.locals[source] = owner.locals[target]


def _may_join(frame: Frame, node: ast.stmt, old: Counted, value: Any, source: str) -> bool:
    """Whether a list that no loop around has made may get the members of another one, as in a branch behind loops."""
    alike = isinstance(value, Counted) and value.depth == old.depth == len(frame.context.counting)
    if not alike or not source or holder(frame, source) is not frame:
        return False
    kinds = [(one.type, one.inner, one.mixed, one.ints, one.marks is None) for one in (old, value)]
    return kinds[0] == kinds[1] and _is_left(frame, node, source)


def _is_left(frame: Frame, node: ast.stmt, name: str) -> bool:
    """Whether a name is bound to a new list, or its function ends, before anything else is done with it behind a statement."""
    function = function_node(frame.function)
    nodes = list(ast.walk(function))
    if any(isinstance(n, ast.FunctionDef | ast.Lambda) and _mentions(n, name) for n in nodes[1:]):
        return False
    behind, in_step = _behind(getattr(function, "body", None), node) or ((), True)
    for statement in behind:
        match statement:
            case ast.Assign(targets=[ast.Name(id=target)], value=ast.List() as value) if target == name:
                return not _mentions(value, name)
        leaves = in_step and any(isinstance(n, _LEAVES) for n in ast.walk(statement))
        if leaves or _mentions(statement, name) or isinstance(statement, ast.Try):
            return False
    return not in_step


def _behind(body: Any, node: ast.stmt) -> tuple[list[ast.stmt], bool] | None:
    """The statements behind one to the end of the step or function that it is in, and whether that is a step.

    None where it is not in a block.
    """
    for number, statement in enumerate(body if isinstance(body, list) else ()):
        if statement is node:
            return body[number + 1 :], False
        blocks = [getattr(statement, field, None) for field in ("body", "orelse", "finalbody")]
        blocks += [handler.body for handler in getattr(statement, "handlers", ())]
        for found in (_behind(block, node) for block in blocks):
            if found is not None and isinstance(statement, ast.Try):
                # Its other blocks may come next.
                return [statement], True
            if found is not None and (found[1] or isinstance(statement, _LOOPS)):
                return found[0], True
            if found is not None:
                return found if isinstance(statement, ast.FunctionDef) else ([*found[0], *body[number + 1 :]], False)
    return None


_LOOPS = ast.For | ast.While
_LEAVES = ast.Break | ast.Continue | ast.Raise


def _mentions(node: ast.AST, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name for n in ast.walk(node))


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


def _called(target: str, method: str, *args: ast.expr) -> ast.stmt:
    return ast.Expr(ast.Call(ast.Attribute(ast.Name(target, ast.Load()), method, ast.Load()), [*args], []))
