"""Statements: the reader walks them in order, with loops and branches that are known now."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterable
from typing import Any

from pytocu.errors import CompileError, Loc, UnsupportedError, located
from pytocu.frontend.expressions import BREAK, CONTINUE, Frame, LocalFunction, Returned, evaluate, iterate, local_defaults
from pytocu.frontend.operators import BINARY, binary, truth
from pytocu.frontend.source import FunctionNode, node_loc
from pytocu.frontend.values import Context, describe, is_array
from pytocu.ir.core import Value

_MAX_STATIC_STEPS = 100_000

_REFUSED: dict[type[ast.stmt], tuple[str, str | None]] = {
    ast.With: ("a with statement", None),
    ast.AsyncWith: ("an async with statement", None),
    ast.AsyncFor: ("an async for loop", None),
    ast.AsyncFunctionDef: ("a coroutine", None),
    ast.Try: ("try and except", "check the inputs before the call"),
    ast.ClassDef: ("a class definition", "define the class outside the function"),
    ast.Global: ("a global statement", "return the value instead of assigning a global"),
    ast.Nonlocal: ("a nonlocal statement", "return the value instead of assigning an outer variable"),
    ast.Delete: ("a del statement", "leave it out; memory is freed when it is no longer used"),
}


def run_function(
    context: Context, function: Any, node: FunctionNode, arguments: dict[str, Any], caller: Loc | None
) -> Any:
    """The abstract value a function returns for abstract arguments."""
    file = function.frame.file if isinstance(function, LocalFunction) else function.__code__.co_filename
    frame = Frame(context, function, arguments, file, getattr(node, "name", "<lambda>"), caller)
    context.active.append(node)
    try:
        if isinstance(node, ast.Lambda):
            return evaluate(frame, node.body)
        outcome = run_block(frame, node.body)
        return outcome.value if isinstance(outcome, Returned) else None
    finally:
        context.active.pop()


def run_block(frame: Frame, body: Iterable[ast.stmt]) -> Any:
    """Statements in order; returns a signal when one leaves the block, else None."""
    for statement in body:
        frame.context.builder.loc = node_loc(statement, frame.file, frame.name, frame.caller)
        signal = _statement(frame, statement)
        if signal is not None:
            return signal
    return None


def _statement(frame: Frame, node: ast.stmt) -> Any:
    context = frame.context
    match node:
        case ast.Return(value=value):
            return Returned(None if value is None else evaluate(frame, value))
        case ast.Assign(targets=targets, value=value):
            result = evaluate(frame, value)
            for target in targets:
                assign(frame, target, result)
        case ast.AnnAssign(target=target, value=value):
            if value is not None:
                assign(frame, target, evaluate(frame, value))
        case ast.AugAssign():
            _augmented(frame, node)
        case ast.Expr(value=ast.Constant()) | ast.Pass():
            pass
        case ast.Expr(value=value):
            evaluate(frame, value)
        case ast.If(test=test, body=body, orelse=orelse):
            return run_block(frame, body if truth(context, evaluate(frame, test), "the branch") else orelse)
        case ast.For():
            return _for(frame, node)
        case ast.While():
            return _while(frame, node)
        case ast.Break():
            return BREAK
        case ast.Continue():
            return CONTINUE
        case ast.FunctionDef():
            if node.decorator_list:
                raise UnsupportedError("a decorated nested function", context.loc, "decorate it outside")
            frame.locals[node.name] = LocalFunction(node, frame, local_defaults(frame, node))
        case ast.Assert(test=test, msg=message):
            if not truth(context, evaluate(frame, test), "the assertion"):
                text = "" if message is None else str(evaluate(frame, message))
                raise CompileError(f"AssertionError: {text}" if text else "AssertionError", context.loc)
        case ast.Raise(exc=exception):
            _raise(frame, exception)
        case ast.Import(names=names):
            for alias in names:
                module = importlib.import_module(alias.name)
                root = module if alias.asname else importlib.import_module(alias.name.split(".")[0])
                frame.locals[alias.asname or alias.name.split(".")[0]] = root
        case ast.ImportFrom(module=module_name, names=names, level=0) if module_name:
            module = importlib.import_module(module_name)
            for alias in names:
                frame.locals[alias.asname or alias.name] = getattr(module, alias.name)
        case _:
            what, help = _REFUSED.get(type(node), (f"the statement {type(node).__name__}", None))
            raise UnsupportedError(f"{what} is not supported", context.loc, help)
    return None


def assign(frame: Frame, target: ast.expr, value: Any) -> None:
    """Bind a name, or several by unpacking."""
    context = frame.context
    match target:
        case ast.Name(id=name):
            if isinstance(value, Value) and not value.name and value.inst is not None:
                value.name = name
            frame.locals[name] = value
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            items = list(iterate(frame, value, "unpacking"))
            starred = [n for n, p in enumerate(parts) if isinstance(p, ast.Starred)]
            if starred:
                _unpack_starred(frame, parts, items, starred[0])
                return
            if len(items) != len(parts):
                problem = "too many" if len(items) > len(parts) else "not enough"
                count = "" if len(items) > len(parts) else f", got {len(items)}"
                raise located(ValueError(f"{problem} values to unpack (expected {len(parts)}{count})"), context.loc)
            for part, item in zip(parts, items, strict=True):
                assign(frame, part, item)
        case ast.Subscript():
            raise UnsupportedError(
                "assignment into an array", context.loc, "build the new array with np.where(condition, new, old)"
            )
        case ast.Attribute():
            raise UnsupportedError("assignment to an attribute", context.loc, "return the value instead")
        case _:
            raise UnsupportedError(f"assignment to {ast.unparse(target)}", context.loc)


def _unpack_starred(frame: Frame, parts: list[ast.expr], items: list[Any], place: int) -> None:
    behind = len(parts) - place - 1
    if len(items) < len(parts) - 1:
        problem = f"not enough values to unpack (expected at least {len(parts) - 1}, got {len(items)})"
        raise located(ValueError(problem), frame.context.loc)
    for part, item in zip(parts[:place], items[:place], strict=True):
        assign(frame, part, item)
    star = parts[place]
    assert isinstance(star, ast.Starred)
    assign(frame, star.value, items[place : len(items) - behind])
    if behind:
        for part, item in zip(parts[place + 1 :], items[-behind:], strict=True):
            assign(frame, part, item)


def _augmented(frame: Frame, node: ast.AugAssign) -> None:
    context = frame.context
    if not isinstance(node.target, ast.Name):
        raise UnsupportedError(
            f"{ast.unparse(node.target)} changed in place", context.loc, "build the new array with np.where(condition, new, old)"
        )
    name = node.target.id
    old = evaluate(frame, ast.copy_location(ast.Name(name, ast.Load()), node.target))
    operator = BINARY.get(type(node.op), None)
    if operator is None:
        raise UnsupportedError("the operator @", context.loc)
    if is_array(old):
        symbol = ast.unparse(node).split("=")[0].split()[-1]
        raise UnsupportedError(
            f"an array changed in place: {name} {symbol}= ... writes into the array {name} refers to",
            context.loc,
            f"write {name} = {name} {symbol} ... , which makes a new array",
        )
    value = evaluate(frame, node.value)
    if isinstance(old, list):
        if operator != "add":
            raise UnsupportedError("a list changed in place", context.loc)
        old.extend(iterate(frame, value, "+="))
        return
    assign(frame, node.target, binary(context, operator, old, value))


def _for(frame: Frame, node: ast.For) -> Any:
    items = iterate(frame, evaluate(frame, node.iter), "the loop")
    for count, item in enumerate(items):
        if count > _MAX_STATIC_STEPS:
            raise UnsupportedError(
                f"a loop of more than {_MAX_STATIC_STEPS} steps is not unrolled", node_loc(node, frame.file, frame.name, frame.caller)
            )
        assign(frame, node.target, item)
        signal = run_block(frame, node.body)
        if signal is BREAK:
            return None
        if isinstance(signal, Returned):
            return signal
    return run_block(frame, node.orelse)


def _while(frame: Frame, node: ast.While) -> Any:
    for _ in range(_MAX_STATIC_STEPS):
        frame.context.builder.loc = node_loc(node.test, frame.file, frame.name, frame.caller)
        if not truth(frame.context, evaluate(frame, node.test), "the loop"):
            return run_block(frame, node.orelse)
        signal = run_block(frame, node.body)
        if signal is BREAK:
            return None
        if isinstance(signal, Returned):
            return signal
    raise UnsupportedError(
        f"a loop of more than {_MAX_STATIC_STEPS} steps is not unrolled", node_loc(node, frame.file, frame.name, frame.caller)
    )


def _raise(frame: Frame, exception: ast.expr | None) -> None:
    context = frame.context
    if exception is None:
        raise UnsupportedError("a bare raise", context.loc)
    value = evaluate(frame, exception)
    if inspect.isclass(value) and issubclass(value, Exception):
        value = value()
    if not isinstance(value, Exception):
        raise UnsupportedError(f"raising {describe(value)}", context.loc)
    raise located(value, context.loc)
