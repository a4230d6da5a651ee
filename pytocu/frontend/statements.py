"""Statements: the reader walks them in order."""

from __future__ import annotations

import ast
import sys
import types
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from pytocu.deferred import Deferred
from pytocu.errors import CompileError, Loc, UnsupportedError
from pytocu.frontend.expressions import assign, evaluate, local_defaults
from pytocu.frontend.frames import (
    BREAK,
    CONTINUE,
    Failing,
    Flow,
    Frame,
    LocalFunction,
    Raised,
    Returned,
    flow_of,
    lookup,
    owner_of,
    scope_of,
)
from pytocu.frontend.source import FunctionNode
from pytocu.frontend.values import Context, Grown
from pytocu.ir.core import Value

_compound = Deferred("pytocu.frontend.compound", "run")
_warn = Deferred("pytocu.frontend.compound", "warn")
_try = Deferred("pytocu.frontend.trying", "run")
_finish = Deferred("pytocu.frontend.trying", "finish")
_apart = Deferred("pytocu.frontend.caught_calls", "apart")
_augmented = Deferred("pytocu.frontend.augmented", "augment")
_sentence = Deferred("pytocu.frontend.formatting", "sentence")
_may_be_unbound = Deferred("pytocu.frontend.unbound", "may_be_unbound")
_get_attribute = Deferred("pytocu.frontend.attribute_lookup", "get_attribute")
_always = Deferred("pytocu.frontend.raising", "always")
_behind_others = Deferred("pytocu.frontend.raising", "behind_others")
_note_behind = Deferred("pytocu.frontend.reading_on", "note_behind")
_with_all = Deferred("pytocu.frontend.reading_on", "with_all")
_refuse_part = Deferred("pytocu.frontend.subscripts", "refuse_part")
_by_place = Deferred("pytocu.frontend.counted", "by_place")
_delete_member = Deferred("pytocu.frontend.counted", "delete")
_refuse_outside = Deferred("pytocu.frontend.objects", "refuse_outside")
_attempt = Deferred("pytocu.frontend.operators", "attempt")
_contains_dynamic = Deferred("pytocu.frontend.values", "contains_dynamic")
_note_unnamed = Deferred("pytocu.frontend.aliases", "note_unnamed")
_unnamed = Deferred("pytocu.frontend.aliases", "unnamed")
_alone_in = Deferred("pytocu.frontend.extending", "alone_in")
_with_members = Deferred("pytocu.frontend.extending", "with_members")
_take_over = Deferred("pytocu.frontend.taken_over", "take_over")
_kind_text = Deferred("pytocu.frontend.type_texts", "kind_text")
_is_result = Deferred("pytocu.frontend.merging", "is_result")

_REFUSED: dict[type[ast.stmt], tuple[str, str | None]] = {
    ast.AsyncWith: ("an async with statement", "use it around the call"),
    ast.AsyncFor: ("an async for loop", "use a for loop over known values"),
    ast.AsyncFunctionDef: ("a coroutine", "define a plain function"),
    ast.TryStar: ("an except* clause", "use except"),
    ast.ClassDef: ("a class definition", "define the class outside the function"),
    ast.Match: ("a match statement with a mapping, or with names in alternatives or places of a class", "use if and elif"),
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
    context.frames.append(frame)
    try:
        alone = node.body if isinstance(node, ast.Lambda) else None
        if isinstance(alone, ast.IfExp) and _is_result(context):
            alone = None
        of_block = lambda: run_block(frame, _whole_body(context, node))  # noqa: E731
        run = of_block if alone is None else lambda: evaluate(frame, alone)
        made = _run_whole(context, run) if len(context.active) == 1 else run()
        if alone is not None:
            return made
        flow = flow_of(made)
        if isinstance(flow.value, Failing):
            return _always(context, name, flow)
        if isinstance(flow.returned, Value) and flow.value is not None:
            # The ways that do not come to a return statement return None.
            raise UnsupportedError(
                f"{name} returns {_kind_text(flow.value)} or nothing, and which of them is known only at run time",
                context.loc,
                "end every path with a return statement",
            )
        return flow.value if flow.returned is True else None
    finally:
        context.active.pop()
        context.frames.pop()


def _whole_body(context: Context, node: FunctionNode) -> Sequence[ast.stmt]:
    """The statements of a function, with the one that Python runs at the end of a function that returns a value before."""
    if isinstance(node, ast.Lambda):
        return [ast.copy_location(ast.Return(node.body), node.body)]
    assert isinstance(node, ast.FunctionDef)
    last = node.body[-1]
    returns = any(isinstance(inner, ast.Return) and inner.value is not None for inner in own_nodes(node))
    if context.elements is not None or not returns or isinstance(last, ast.Return | ast.Raise):
        return node.body
    return [*node.body, ast.copy_location(ast.Return(None), last)]


def _branches(value: ast.IfExp) -> ast.If:
    """``return a if test else b`` as a branch with two return statements."""
    sides = [ast.copy_location(ast.Return(side), side) for side in (value.body, value.orelse)]
    return ast.copy_location(ast.If(value.test, [sides[0]], [sides[1]]), value)


def run_block(frame: Frame, body: Sequence[ast.stmt], rest: tuple[ast.stmt, ...] = ()) -> Any:
    """Statements in order; returns a signal when one leaves the block, else None.

    `rest` are the statements behind the block, to the end of the loop's body or of the function: they belong to
    the side that goes on where a branch of run time leaves on the other one.
    """
    for number, statement in enumerate(body):
        frame.context.builder.loc = frame.loc(statement)
        try:
            with _unnamed(frame.context):
                signal = run_statement(frame, statement, (*body[number + 1 :], *rest))
        except CompileError as error:
            _note_behind(error, frame, statement, body[number + 1 :])
            raise
        if signal is not None:
            if isinstance(signal, (Returned, Flow)):
                _note_unnamed(frame.context, signal.value)
            return signal
    return None


def _run_whole(context: Context, run: Callable[[], Any]) -> Any:
    """Read the function that is compiled, with all that is wrong in it.

    Raises
    ------
    CompileError
        The first error, with the others.
    Raised
        The program raises for certain, but may have raised something else before.
    """
    try:
        return run()
    except CompileError as error:
        if (last := _behind_others(context, error)) is not None:
            raise last from None
        raise _with_all(error) from None
    except Raised as found:
        if found.written:
            raise
        if (last := _behind_others(context, found)) is not None:
            raise last from None
        raise found.error from None


def names_in(statement: ast.AST, context: type[ast.expr_context]) -> set[str]:
    """The names that a statement reads, or binds."""
    return {n.id for n in ast.walk(statement) if isinstance(n, ast.Name) and isinstance(n.ctx, context)}


def _is_text(node: ast.expr) -> bool:
    """Whether an expression is written as a text that shows something."""
    match node:
        case ast.JoinedStr() | ast.Call(func=ast.Attribute(attr="format") | ast.Name(id="str" | "repr" | "format")):
            return True
        case ast.BinOp(op=ast.Mod() | ast.Add(), left=left, right=right):
            first = _is_text(left) or (isinstance(left, ast.Constant) and isinstance(left.value, str))
            return first or (isinstance(node.op, ast.Add) and _is_text(right))
    return False


def run_statement(frame: Frame, node: ast.stmt, rest: tuple[ast.stmt, ...]) -> Any:
    """Run one statement; `rest` and the result are those of :func:`run_block`."""
    context = frame.context
    if context.tries and (apart := _apart(frame, node)) is not None:
        return run_block(frame, apart, rest)
    match node:
        case ast.Return(value=ast.IfExp() as value) if _is_result(context):
            # Each way returns its own number, which goes to the results.
            return run_statement(frame, _branches(value), rest)
        case ast.Return(value=value):
            loc = context.loc
            returned = Returned(None if value is None else evaluate(frame, value, perhaps=True), loc)
            if context.tries:
                _finish(frame, node)
            return returned
        case ast.Assign(targets=[ast.Name() as target], value=value) if _is_text(value):
            assign(frame, target, _sentence(frame, value))
        case ast.Assign(targets=[ast.Name() as target], value=ast.BinOp(op=ast.Add()) as value) if (
            held := _alone_in(frame, target.id, value)
        ) is not None:
            if (result := _with_members(frame, held, value)) is not held:
                assign(frame, target, result)
        case ast.Assign(targets=targets, value=value):
            result = evaluate(frame, value, perhaps=True)
            if isinstance(result, Grown | list | tuple) and _take_over(frame, node, result):
                return None
            for target in targets:
                assign_at(frame, target, result)
        case ast.AnnAssign(target=target, value=value):
            if value is not None:
                assign_at(frame, target, evaluate(frame, value, perhaps=True))
        case ast.AugAssign():
            _augmented(frame, node)
        case ast.Expr(value=ast.Constant()) | ast.Pass() | ast.Global() | ast.Nonlocal():
            pass
        case ast.Expr(value=ast.Call(func=ast.Attribute(attr="warn") | ast.Name(id="warn") as called) as call) if (
            evaluate(frame, called) is warnings.warn
        ):
            _warn(frame, call)
        case ast.Expr(value=value):
            evaluate(frame, value)
        case ast.If() | ast.For() | ast.While() | ast.With() | ast.Assert() | ast.Raise():
            return _compound(frame, node, rest)
        case ast.Try():
            return _try(frame, node, rest)
        case ast.Break() | ast.Continue():
            if context.tries:
                _finish(frame, node)
            return BREAK if isinstance(node, ast.Break) else CONTINUE
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


_NOTHING = object()


def _delete(frame: Frame, target: ast.expr) -> None:
    loc = frame.context.loc
    match target:
        case ast.Name(id=name):
            held = owner_of(frame, name).locals.get(name, _NOTHING)
            if held is _NOTHING or _may_be_unbound(held):
                lookup(frame, name)
            del owner_of(frame, name).locals[name]
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for part in parts:
                _delete(frame, part)
        case ast.Subscript(value=base, slice=key) if isinstance(held := evaluate(frame, base), Grown | list | dict):
            key = evaluate(frame, key)
            _refuse_part(frame.context, held, key)
            if isinstance(held, Grown):
                _delete_member(frame, held, key)
            else:
                text = f"del {ast.unparse(target)}"
                _refuse_outside(frame.context, held, text)
                if isinstance(held, list) and _contains_dynamic(key) and (counted := _by_place(frame, held)) is not None:
                    _delete_member(frame, counted, key)
                    return
                if _contains_dynamic(key):
                    text = f"{text} takes a member out at a place known only at run time, which is not compiled"
                    raise UnsupportedError(text, loc, "use an array in its place, and a mask: x[kept]")
                _attempt(frame.context, held.__delitem__, key)
        case _:
            raise UnsupportedError(
                f"del {ast.unparse(target)} is not compiled", loc, "leave it out, or build a new list or dict"
            )
