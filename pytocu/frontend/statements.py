"""Statements: the reader walks them in order."""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Iterable, Sequence
from typing import Any

from pytocu.deferred import Deferred
from pytocu.errors import CompileError, Loc, UnsupportedError, raised
from pytocu.frontend.expressions import assign, evaluate, local_defaults
from pytocu.frontend.frames import BREAK, CONTINUE, Failing, Frame, LocalFunction, Raised, Returned, flow_of, owner_of, scope_of
from pytocu.frontend.source import FunctionNode
from pytocu.frontend.values import Context
from pytocu.ir.core import Value

_compound = Deferred("pytocu.frontend.compound", "run")
_augmented = Deferred("pytocu.frontend.augmented", "augment")
_get_attribute = Deferred("pytocu.frontend.attribute_lookup", "get_attribute")
_always = Deferred("pytocu.frontend.raising", "always")
_behind_others = Deferred("pytocu.frontend.raising", "behind_others")
_kind_text = Deferred("pytocu.frontend.type_texts", "kind_text")

_REFUSED: dict[type[ast.stmt], tuple[str, str | None]] = {
    ast.AsyncWith: ("an async with statement", "use it around the call"),
    ast.AsyncFor: ("an async for loop", "use a for loop over known values"),
    ast.AsyncFunctionDef: ("a coroutine", "define a plain function"),
    ast.Try: ("a try statement", "check the inputs before the call, or catch the error around it"),
    ast.TryStar: ("a try statement", "check the inputs before the call, or catch the error around it"),
    ast.ClassDef: ("a class definition", "define the class outside the function"),
    ast.Match: ("a match statement", "use if and elif"),
}


def run_function(context: Context, function: Any, node: FunctionNode, arguments: dict[str, Any], caller: Loc | None) -> Any:
    """The abstract value a function returns for abstract arguments."""
    name = getattr(node, "name", "<lambda>")
    if isinstance(function, LocalFunction):
        outer = function.frame
        frame = Frame(context, outer.function, scope_of(node), arguments, outer.file, name, caller, outer)
    else:
        frame = Frame(context, function, scope_of(node), arguments, function.__code__.co_filename, name, caller)
    context.active.append(function)
    try:
        if isinstance(node, ast.Lambda):
            return evaluate(frame, node.body)
        flow = flow_of((_run_all if len(context.active) == 1 else run_block)(frame, node.body))
        if isinstance(flow.value, Failing):
            return _always(context, name, flow)
        if isinstance(flow.returned, Value):
            # The ways that do not come to a return statement return None.
            raise UnsupportedError(
                f"{name} returns {_kind_text(flow.value)} or nothing, and which of them is known only at run time",
                context.loc,
                "end every path with a return statement",
            )
        return flow.value if flow.returned else None
    finally:
        context.active.pop()


def run_block(frame: Frame, body: Sequence[ast.stmt], rest: tuple[ast.stmt, ...] = ()) -> Any:
    """Statements in order; returns a signal when one leaves the block, else None.

    `rest` are the statements behind the block, to the end of the loop's body or of the function: they belong to
    the side that goes on where a branch of run time leaves on the other one.
    """
    for number, statement in enumerate(body):
        frame.context.builder.loc = frame.loc(statement)
        signal = _statement(frame, statement, (*body[number + 1 :], *rest))
        if signal is not None:
            return signal
    return None


_MOST_ERRORS = 10


def _run_all(frame: Frame, body: Sequence[ast.stmt]) -> Any:
    """As :func:`run_block` for the body of the function itself, with all that is wrong in it.

    A statement behind an error is read where it does not depend on what the error left out.

    Raises
    ------
    CompileError
        The first error, with the others.
    Raised
        The program raises for certain, but may have raised something else before.
    """
    errors: list[CompileError] = []
    lost: set[str] = set()
    own = {name for statement in body for name in names_in(statement, ast.Store)}
    signal = None
    for number, statement in enumerate(body):
        frame.context.builder.loc = frame.loc(statement)
        if not lost.isdisjoint(names_in(statement, ast.Load)):
            errors += _unknown_names(frame, statement, own)
            lost |= names_in(statement, ast.Store)
            if _may_end(statement):
                break
            continue
        try:
            signal = _statement(frame, statement, tuple(body[number + 1 :]))
        except CompileError as error:
            if not errors and (last := _behind_others(frame.context, error)) is not None:
                raise last from None
            follows = isinstance(error, NameError) and any(f"'{name}'" in error.message for name in lost)
            if not follows:
                errors.append(error)
            errors += [e for e in _unknown_names(frame, statement, own) if e.loc != error.loc]
            lost |= names_in(statement, ast.Store)
            # What the program raises itself ends it.
            if _may_end(statement) or len(errors) == _MOST_ERRORS:
                break
        except Raised as found:
            if found.written and not errors:
                raise
            if not errors and (last := _behind_others(frame.context, found)) is not None:
                raise last from None
            errors.append(found.error)
            break
        if signal is not None:
            break
    if errors:
        raise errors[0].with_others(errors[1:_MOST_ERRORS])
    return signal


def _unknown_names(frame: Frame, statement: ast.stmt, own: set[str]) -> list[CompileError]:
    """What is wrong with the names of a statement that is not read: those that nothing binds, and that a module has not.

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
        name = node.value if isinstance(node, ast.Attribute) else node
        if not (isinstance(name, ast.Name) and isinstance(name.ctx, ast.Load)) or name.id in own:
            stack.extend(reversed(list(ast.iter_child_nodes(node))))
            continue
        try:
            owner = evaluate(frame, name)
            if isinstance(node, ast.Attribute) and isinstance(owner, types.ModuleType):
                evaluate(frame, node)
        except CompileError as error:
            if isinstance(error, NameError | AttributeError):
                found.append(error)
    return found


def names_in(statement: ast.AST, context: type[ast.expr_context]) -> set[str]:
    """The names that a statement reads, or binds."""
    return {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, context)}


def _may_end(statement: ast.stmt) -> bool:
    return any(isinstance(n, ast.Return | ast.Raise | ast.Assert) for n in ast.walk(statement))


def _statement(frame: Frame, node: ast.stmt, rest: tuple[ast.stmt, ...]) -> Any:
    context = frame.context
    match node:
        case ast.Return(value=value):
            loc = context.loc
            return Returned(None if value is None else evaluate(frame, value), loc)
        case ast.Assign(targets=targets, value=value):
            result = evaluate(frame, value)
            for target in targets:
                assign_at(frame, target, result)
        case ast.AnnAssign(target=target, value=value):
            if value is not None:
                assign_at(frame, target, evaluate(frame, value))
        case ast.AugAssign():
            _augmented(frame, node)
        case ast.Expr(value=ast.Constant()) | ast.Pass() | ast.Global() | ast.Nonlocal():
            pass
        case ast.Expr(value=value):
            evaluate(frame, value)
        case ast.If() | ast.For() | ast.While() | ast.With() | ast.Assert() | ast.Raise():
            return _compound(frame, node, rest)
        case ast.Break():
            return BREAK
        case ast.Continue():
            return CONTINUE
        case ast.FunctionDef():
            _define(frame, node)
        case ast.Delete(targets=targets):
            for target in targets:
                _delete(frame, target)
        case ast.Import(names=names):
            for alias in names:
                module = _module(frame, alias.name)
                name = alias.asname or alias.name.split(".")[0]
                _bind(frame, name, module if alias.asname else _module(frame, name))
        case ast.ImportFrom(module=module_name, names=names, level=0) if module_name and names[0].name != "*":
            module = _module(frame, module_name)
            for alias in names:
                _bind(frame, alias.asname or alias.name, _get_attribute(frame, module, alias.name))
        case ast.ImportFrom():
            raise UnsupportedError(
                "a relative import or an import of * is not compiled", context.loc, "import at the top of the module"
            )
        case _:
            what, help = _REFUSED.get(type(node), (f"the statement {type(node).__name__}", None))
            raise UnsupportedError(f"{what} is not supported", context.loc, help)
    return None


def _bind(frame: Frame, name: str, value: Any) -> None:
    owner_of(frame, name).locals[name] = value


def assign_at(frame: Frame, target: ast.expr, value: Any) -> None:
    """Assign, with the target as the place of what may be wrong."""
    with frame.context.builder.at(frame.loc(target)):
        assign(frame, target, value)


def _module(frame: Frame, name: str) -> types.ModuleType:
    """A module that is loaded already: loading one would run its code."""
    found = sys.modules.get(name)
    if found is None:
        raise UnsupportedError(
            f"the import of {name}, which is not loaded yet, would run its code while compiling",
            frame.context.loc,
            "import it at the top of the module",
        )
    return found


def _define(frame: Frame, node: ast.FunctionDef) -> None:
    if node.decorator_list:
        raise UnsupportedError(
            f"the nested function {node.name} has a decorator, which is not compiled",
            frame.loc(node.decorator_list[0]),
            "leave it out: functions called by a compiled function are compiled with it",
        )
    if any(isinstance(n, (ast.Yield, ast.YieldFrom)) for n in own_nodes(node)):
        raise UnsupportedError(
            f"{node.name} is a generator, which is not compiled", frame.context.loc, "return a list or a tuple"
        )
    _bind(frame, node.name, LocalFunction(node, frame, local_defaults(frame, node)))


def own_nodes(node: ast.FunctionDef) -> Iterable[ast.AST]:
    """The nodes of a function's body without those of functions inside it."""
    stack: list[ast.AST] = list(node.body)
    while stack:
        child = stack.pop()
        yield child
        if not isinstance(child, (ast.FunctionDef, ast.Lambda, ast.ClassDef, ast.AsyncFunctionDef)):
            stack.extend(ast.iter_child_nodes(child))


def _delete(frame: Frame, target: ast.expr) -> None:
    loc = frame.context.loc
    match target:
        case ast.Name(id=name):
            if owner_of(frame, name).locals.pop(name, frame) is frame:
                raise raised(NameError(f"cannot access local variable '{name}' where it is not associated with a value"), loc)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for part in parts:
                _delete(frame, part)
        case _:
            raise UnsupportedError(
                f"del {ast.unparse(target)} is not compiled", loc, "leave it out, or build a new list or dict"
            )
