"""All that is wrong in a function: what an error left unread is read behind it, where it does not depend on the error.

Comes in the first error that is said for certain, with the pieces of the program that were not read because of it
(`Unread`, noted by :func:`pytocu.frontend.statements.run_block` and where a branch has another side).  Goes out the same error,
with the others.  Nothing is made of what is read here.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Iterable, Sequence
from typing import Any

from pytocu.errors import CompileError, Loc
from pytocu.frontend.expressions import evaluate
from pytocu.frontend.frames import Frame, Raised, Unset
from pytocu.frontend.state import State
from pytocu.frontend.statements import names_in, run_statement
from pytocu.frontend.storage import HandOn
from pytocu.ir.core import Value
from pytocu.record import Record

_MOST_ERRORS = 10


class Unread(Record):
    """Statements that an error kept from being read, and what was known before them.

    Attributes
    ----------
    frame : Frame
    failed : ast.stmt or None
        The statement that the error is in, where the others follow it.
    lost : frozenset
        Names that are not known because of it.
    statements : tuple of ast.stmt
    state : State
    elements : tuple or None
        As `Context.elements` was.
    tries, handling : tuple
        The ``try`` statements and clauses around them.
    active : tuple
        The functions that were being read.
    """

    frame: Frame
    failed: ast.stmt | None
    lost: frozenset[str]
    statements: tuple[ast.stmt, ...]
    state: State
    elements: Any
    tries: tuple[Any, ...]
    handling: tuple[Any, ...]
    active: tuple[Any, ...]


def note_behind(error: CompileError, frame: Frame, failed: ast.stmt, statements: Sequence[ast.stmt]) -> None:
    """Note what follows the statement that an error is in."""
    _note(error, frame, failed, [failed], statements)


def note_beside(error: CompileError, frame: Frame, begun: Sequence[ast.stmt], statements: Sequence[ast.stmt]) -> None:
    """Note what stands on another way through the program than the statements that were `begun`, of which one has the error."""
    _note(error, frame, None, begun, statements)


def _note(
    error: CompileError, frame: Frame, failed: ast.stmt | None, begun: Sequence[ast.stmt], statements: Sequence[ast.stmt]
) -> None:
    lost = frozenset(name for statement in begun for name in _bound(statement))
    context = frame.context
    around = (tuple(context.tries), tuple(context.handling), tuple(context.active))
    error.unread.append(Unread(frame, failed, lost, tuple(statements), State(frame), context.elements, *around))


def with_all(error: CompileError, refused: Sequence[CompileError] = ()) -> CompileError:
    """The error, with what else is wrong in the function; `refused` stand on ways that a run may not come to."""
    found = [error]
    _read_on(error, found)
    for one in [*refused]:
        _add(found, [one])
        _read_on(one, found)
    return error.with_others(found[1:])


def also_wrong(errors: Sequence[CompileError]) -> dict[tuple[Loc | None, str], tuple[CompileError, ...]]:
    """What else is wrong where errors of run time stand, by their places and texts; those without are left out."""
    found: dict[tuple[Loc | None, str], list[CompileError]] = {}
    for error in [*errors]:
        # A statement may have been read in several ways, as the first step of a loop and as any.
        _read_on(error, found.setdefault((error.loc, error.message), [error]))
    return {key: tuple(others) for key, (_, *others) in found.items() if others}


def _read_on(error: CompileError, found: list[CompileError]) -> None:
    """Add what is wrong in the pieces that an error left unread, the innermost first."""
    pieces, error.unread = error.unread, []
    for piece in pieces:
        context = piece.frame.context
        piece.state.go_back()
        context.elements = piece.elements
        context.tries, context.handling, context.active = list(piece.tries), list(piece.handling), list(piece.active)
        insts, written = context.builder.insts, len(context.builder.insts)
        # What a piece ends with says nothing: the program in front of it is not whole.
        try:
            _read_piece(piece, found)
        except (CompileError, Raised, HandOn, RecursionError):
            continue
        finally:
            # The call that asks makes the checks that stand before the error.
            del insts[written:]


def _read_piece(piece: Unread, found: list[CompileError]) -> None:
    frame = piece.frame
    own = {*frame.scope.names, *(name for statement in piece.statements for name in _bound(statement))}
    _lose(frame, piece.lost)
    if piece.failed is not None:
        _add(found, _unknown_names(frame, piece.failed, own))
        if _may_end(piece.failed):
            return
    for number, statement in enumerate(piece.statements):
        if len(found) >= _MOST_ERRORS:
            return
        frame.context.builder.loc = frame.loc(statement)
        signal, error = None, None
        refused = frame.context.refused = []
        try:
            signal = run_statement(frame, statement, piece.statements[number + 1 :])
        except CompileError as one:
            error = one
        except Raised as raised:
            error = raised.error
            if raised.stated:
                # What the program raises itself ends it.
                _add(found, [error])
                return
        # Of branches and loops in the statement that a run may not come to, and what ended it.
        for one in [*refused, *([] if error is None else [error])]:
            if one.message != _LOST.message:
                _add(found, [one])
            _read_on(one, found)
        if error is not None:
            _add(found, _unknown_names(frame, statement, own))
            _lose(frame, _bound(statement))
        if signal is not None or (error is not None and _may_end(statement)):
            return


def _bound(statement: ast.stmt) -> set[str]:
    """The names that a statement binds, also by a definition, an import, a pattern or an except clause."""
    names = names_in(statement, ast.Store)
    for node in ast.walk(statement):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                names.add(name)
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.ExceptHandler(name=str(name)):
                names.add(name)
            case ast.alias(name=name, asname=other):
                names.add(other or name.partition(".")[0])
    return names


_LOST = Unset("not known because of an error before", "")
"""What a name holds that an error would have bound: what needs it is not read, and not said."""


def _lose(frame: Frame, names: Iterable[str]) -> None:
    for name in names:
        if name in frame.scope.names:
            frame.locals[name] = _LOST


def _add(found: list[CompileError], errors: Sequence[CompileError]) -> None:
    """Add errors, each once: a name that does not exist is found in a statement, and when the statement is read."""
    for error in errors:
        said = any((other.loc, other.message) == (error.loc, error.message) for other in found)
        if not said and len(found) < _MOST_ERRORS:
            found.append(error)


def _unknown_names(frame: Frame, statement: ast.stmt, own: set[str]) -> list[CompileError]:
    """What is wrong with the names of a statement that is not read to its end: nothing binds them, or what they name has no
    such attribute.

    `own` are the names that the function binds.
    """
    found: list[CompileError] = []
    if not isinstance(statement, ast.Return | ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr):
        return found
    stack: list[ast.AST] = [statement]
    while stack:
        node = stack.pop()
        # What runs perhaps, or binds names of its own, is left out.
        if isinstance(node, ast.Lambda | ast.IfExp | ast.BoolOp | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            continue
        name = node.value if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) else node
        lost = isinstance(name, ast.Name) and name.id in own and isinstance(frame.locals.get(name.id, _LOST), Unset)
        if not (isinstance(name, ast.Name) and isinstance(name.ctx, ast.Load)) or lost or (name is node and name.id in own):
            stack.extend(reversed(list(ast.iter_child_nodes(node))))
            continue
        try:
            owner = evaluate(frame, name)
            if isinstance(node, ast.Attribute) and isinstance(owner, types.ModuleType | Value):
                evaluate(frame, node)
        except CompileError as error:
            if isinstance(error, NameError | AttributeError):
                found.append(error)
    return found


def _may_end(statement: ast.stmt) -> bool:
    """Whether what follows a statement may be meant for other arguments; a loop goes on where it does not leave."""
    if isinstance(statement, ast.For | ast.While):
        return False
    return any(isinstance(n, ast.Return | ast.Raise | ast.Assert) for n in ast.walk(statement))
