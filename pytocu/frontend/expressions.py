"""Expressions: names, literals, attributes, subscripts and everything built of them."""

from __future__ import annotations

import ast
import difflib
import types
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from pytocu.errors import Loc, MissingAttributeError, UndefinedNameError, UnsupportedError, located
from pytocu.frontend.attributes import attribute
from pytocu.frontend.calls import call
from pytocu.frontend.guards import MISSING, Guard, read_attribute, read_closure, read_global, static_key
from pytocu.frontend.indexing import subscript
from pytocu.frontend.numpy_calls import NAMESPACES, namespace_attribute
from pytocu.frontend.operators import BINARY, UNARY, binary, compute, truth, unary
from pytocu.frontend.source import FunctionNode, node_loc
from pytocu.frontend.values import Context, as_value, contains_dynamic, describe, dimensions, is_dynamic
from pytocu.ir.core import Value
from pytocu.ir.types import WeakType

BREAK = object()
CONTINUE = object()


@dataclass(frozen=True, slots=True)
class Returned:
    """A return statement was reached."""

    value: Any


@dataclass(slots=True)
class Frame:
    """The names of one function while it is read."""

    context: Context
    function: Any
    locals: dict[str, Any]
    file: str
    name: str
    caller: Loc | None


@dataclass(frozen=True, slots=True, eq=False)
class LocalFunction:
    """A function or lambda defined inside the function being read."""

    node: FunctionNode
    frame: Frame
    defaults: dict[str, Any]

    @property
    def __name__(self) -> str:
        return getattr(self.node, "name", "<lambda>")


_REFUSED: dict[type[ast.expr], str] = {
    ast.Await: "await",
    ast.Yield: "yield",
    ast.YieldFrom: "yield from",
    ast.Set: "a set",
    ast.SetComp: "a set comprehension",
}


def evaluate(frame: Frame, node: ast.expr) -> Any:
    """The abstract value of an expression.

    Raises
    ------
    CompileError
        At the expression's place.
    """
    context = frame.context
    saved = context.builder.loc
    context.builder.loc = node_loc(node, frame.file, frame.name, frame.caller)
    try:
        return _evaluate(frame, node)
    finally:
        context.builder.loc = saved


def _evaluate(frame: Frame, node: ast.expr) -> Any:
    context = frame.context
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return lookup(frame, name)
        case ast.BinOp(op=op):
            return _binary_chain(frame, node, op)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return not truth(context, evaluate(frame, operand), "not")
        case ast.UnaryOp(op=op, operand=operand):
            return unary(context, UNARY[type(op)], evaluate(frame, operand))
        case ast.Compare():
            return _compare(frame, node)
        case ast.BoolOp(op=op, values=values):
            return _bool_op(frame, op, values)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            chosen = body if truth(context, evaluate(frame, test), "the conditional expression") else orelse
            return evaluate(frame, chosen)
        case ast.Call():
            return _call(frame, node)
        case ast.Attribute(value=base, attr=name):
            return get_attribute(frame, evaluate(frame, base), name)
        case ast.Subscript(value=base, slice=key):
            return _subscript(frame, evaluate(frame, base), evaluate(frame, key))
        case ast.Slice(lower=lower, upper=upper, step=step):
            return slice(*(None if part is None else evaluate(frame, part) for part in (lower, upper, step)))
        case ast.Tuple(elts=parts):
            return tuple(_elements(frame, parts))
        case ast.List(elts=parts):
            return _elements(frame, parts)
        case ast.Dict(keys=keys, values=values):
            if any(k is None for k in keys):
                raise UnsupportedError("** in a dict display", context.loc)
            return {evaluate(frame, k): evaluate(frame, v) for k, v in zip(keys, values, strict=True) if k is not None}
        case ast.JoinedStr(values=parts):
            return "".join(str(evaluate(frame, p)) for p in parts)
        case ast.FormattedValue(value=value, conversion=conversion):
            return _format(evaluate(frame, value), conversion)
        case ast.Lambda():
            return LocalFunction(node, frame, local_defaults(frame, node))
        case ast.NamedExpr(target=ast.Name(id=name), value=value):
            frame.locals[name] = evaluate(frame, value)
            return frame.locals[name]
        case ast.ListComp(elt=element, generators=generators) | ast.GeneratorExp(elt=element, generators=generators):
            return list(_comprehension(frame, generators, lambda: evaluate(frame, element)))
        case ast.DictComp(key=key, value=value, generators=generators):
            return dict(_comprehension(frame, generators, lambda: (evaluate(frame, key), evaluate(frame, value))))
        case ast.Starred():
            raise UnsupportedError("* outside a call or a display", context.loc)
    what = _REFUSED.get(type(node), f"the expression {type(node).__name__}")
    raise UnsupportedError(f"{what} is not supported", context.loc)


def _binary_chain(frame: Frame, node: ast.BinOp, op: ast.operator) -> Any:
    # Left-leaning chains (a + b + c + ...) are walked, so that their length does not recurse.
    context = frame.context
    chain: list[ast.BinOp] = []
    left: ast.expr = node
    while isinstance(left, ast.BinOp):
        chain.append(left)
        left = left.left
    result = evaluate(frame, left)
    for part in reversed(chain):
        right = evaluate(frame, part.right)
        context.builder.loc = node_loc(part, frame.file, frame.name, frame.caller)
        name = BINARY.get(type(part.op))
        if name is None:
            raise UnsupportedError("the operator @ is not supported", context.loc)
        result = binary(context, name, result, right)
    return result


def _compare(frame: Frame, node: ast.Compare) -> Any:
    context = frame.context
    left = evaluate(frame, node.left)
    result: Any = True
    for number, (op, right_node) in enumerate(zip(node.ops, node.comparators, strict=True)):
        right = evaluate(frame, right_node)
        one = _compare_one(frame, op, left, right)
        if number and is_dynamic(result):
            _refuse_chain(context, result)
        if not is_dynamic(result) and not result:
            return result
        result, left = one, right
        if number + 1 < len(node.ops) and is_dynamic(result):
            _refuse_chain(context, result)
    return result


def _refuse_chain(context: Context, value: Value) -> None:
    raise UnsupportedError(
        f"a chained comparison of run-time values ({value.type}) asks for the truth of the first",
        context.loc,
        "write (a < x) & (x < b)",
    )


def _compare_one(frame: Frame, op: ast.cmpop, left: Any, right: Any) -> Any:
    context = frame.context
    match op:
        case ast.Is() | ast.IsNot():
            same = _identical(context, left, right)
            return same if isinstance(op, ast.Is) else not same
        case ast.In() | ast.NotIn():
            if contains_dynamic(left) or contains_dynamic(right):
                raise UnsupportedError("'in' with run-time values", context.loc)
            found = compute(context, lambda: left in right)
            return found if isinstance(op, ast.In) else not found
    if isinstance(left, (tuple, list)) and isinstance(right, (tuple, list)) and contains_dynamic((left, right)):
        if len(left) != len(right):
            return isinstance(op, ast.NotEq)
        raise UnsupportedError("a comparison of tuples of run-time values", context.loc, "compare the members you need")
    return binary(context, BINARY[type(op)], left, right)


def _identical(context: Context, left: Any, right: Any) -> bool:
    if is_dynamic(left) or is_dynamic(right):
        if left is None or right is None or left is right:
            return left is right
        raise UnsupportedError("'is' with run-time values other than None", context.loc)
    return left is right


def _bool_op(frame: Frame, op: ast.boolop, values: list[ast.expr]) -> Any:
    result: Any = None
    word = "and" if isinstance(op, ast.And) else "or"
    for number, value in enumerate(values):
        result = evaluate(frame, value)
        if number == len(values) - 1:
            return result
        if is_dynamic(result) and dimensions(result):
            raise UnsupportedError(
                f"'{word}' asks for the truth of an array ({result.type})",
                frame.context.loc,
                f"write (a) {'&' if word == 'and' else '|'} (b), or np.logical_{word}(a, b)",
            )
        known = truth(frame.context, result, f"'{word}'")
        if known == isinstance(op, ast.Or):
            return result
    return result


def _elements(frame: Frame, parts: Iterable[ast.expr]) -> list[Any]:
    out: list[Any] = []
    for part in parts:
        if isinstance(part, ast.Starred):
            out.extend(iterate(frame, evaluate(frame, part.value), "*"))
        else:
            out.append(evaluate(frame, part))
    return out


def _format(value: Any, conversion: int) -> str:
    if is_dynamic(value):
        return f"<{value.type}>"
    return repr(value) if conversion == ord("r") else str(value)


def _comprehension(frame: Frame, generators: list[ast.comprehension], emit: Callable[[], Any]) -> Iterator[Any]:
    if not generators:
        yield emit()
        return
    first, *rest = generators
    saved = dict(frame.locals)
    for item in iterate(frame, evaluate(frame, first.iter), "the comprehension"):
        frame.context.hooks.assign(frame, first.target, item)
        if all(truth(frame.context, evaluate(frame, test), "the comprehension's condition") for test in first.ifs):
            yield from _comprehension(frame, rest, emit)
    bound = {n.id for n in ast.walk(first.target) if isinstance(n, ast.Name)}
    for name in bound:
        if name in saved:
            frame.locals[name] = saved[name]
        else:
            frame.locals.pop(name, None)


def local_defaults(frame: Frame, node: FunctionNode) -> dict[str, Any]:
    """The default values of a nested function, evaluated where it is defined."""
    positional = (*node.args.posonlyargs, *node.args.args)
    with_default = positional[len(positional) - len(node.args.defaults) :]
    out = {a.arg: evaluate(frame, d) for a, d in zip(with_default, node.args.defaults, strict=True)}
    for parameter, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
        if default is not None:
            out[parameter.arg] = evaluate(frame, default)
    return out


def iterate(frame: Frame, value: Any, what: str) -> Iterable[Any]:
    """The members of something whose length is known now.

    Raises
    ------
    UnsupportedError
        The length is only known at run time.
    """
    context = frame.context
    if isinstance(value, Value):
        if isinstance(value.type, WeakType) or not dimensions(value):
            raise located(TypeError(f"{what}: '{value.type}' object is not iterable"), context.loc)
        length = dimensions(value)[0]
        if not isinstance(length, int):
            raise UnsupportedError(
                f"{what} goes over an array whose length is known only at run time ({value.type})",
                context.loc,
                "compute on the whole array, or index the rows you need",
            )
        return [subscript(context, value, i) for i in range(length)]
    if isinstance(value, (range, tuple, list, str)):
        return value
    if isinstance(value, dict):
        return list(value)
    if isinstance(value, (enumerate, zip, reversed)):
        return value
    if isinstance(value, np.ndarray):
        as_value(context, value)
    raise UnsupportedError(f"{what} goes over {describe(value)}", context.loc)


def lookup(frame: Frame, name: str) -> Any:
    """A name: local, of an enclosing function, captured, global or builtin.

    Raises
    ------
    UndefinedNameError
        With the closest known name.
    """
    context = frame.context
    scope: Any = frame
    while True:
        if name in scope.locals:
            return scope.locals[name]
        if isinstance(scope.function, LocalFunction):
            scope = scope.function.frame
            continue
        break
    function: types.FunctionType = scope.function
    free = function.__code__.co_freevars
    if name in free:
        position = free.index(name)
        value = read_closure(function, position)
        if value is not MISSING:
            return _captured(context, name, value, (function, name), lambda _: read_closure(function, position))
    else:
        if name in function.__code__.co_varnames[: function.__code__.co_nlocals]:
            raise UndefinedNameError(
                f"cannot access local variable '{name}' where it is not associated with a value", context.loc
            )
        value = read_global(function, name)
        if value is not MISSING:
            return _captured(context, name, value, (function, name), lambda _: read_global(function, name))
    known = {*frame.locals, *free, *function.__globals__, *dir(__builtins__)}
    close = difflib.get_close_matches(name, known, 1)
    raise UndefinedNameError(
        f"name '{name}' is not defined", context.loc, f"did you mean {close[0]}?" if close else None
    )


def _captured(context: Context, name: str, value: Any, place: Any, read: Callable[[Any], Any]) -> Any:
    """Remember that compiled code depends on a captured value."""
    if isinstance(value, np.ndarray):
        as_value(context, value)
    if place not in context.guarded:
        context.guarded.add(place)
        context.guards.append(Guard(name, read, static_key(value)))
    return value


def get_attribute(frame: Frame, base: Any, name: str) -> Any:
    """``base.name``: of IR values, NumPy-like modules, and captured objects (guarded)."""
    context = frame.context
    if isinstance(base, Value):
        return attribute(context, base, name)
    if isinstance(base, types.ModuleType) and base.__name__ in NAMESPACES:
        try:
            return namespace_attribute(base, name)
        except AttributeError:
            close = difflib.get_close_matches(name, dir(np), 1)
            raise MissingAttributeError(
                f"module '{base.__name__}' has no attribute '{name}'",
                context.loc,
                f"did you mean {base.__name__}.{close[0]}?" if close else None,
            ) from None
    if isinstance(base, LocalFunction):
        raise UnsupportedError("an attribute of a nested function", context.loc)
    if isinstance(base, (tuple, list, dict)) and contains_dynamic(base):
        return _container_method(frame, base, name)
    value = compute(context, getattr, base, name)
    if _changeable(base):
        _guard_attribute(context, base, name, value)
    return value


def _container_method(frame: Frame, base: Any, name: str) -> Any:
    if isinstance(base, list) and name in ("append", "extend", "pop", "insert", "reverse", "copy"):
        return getattr(base, name)
    if isinstance(base, dict) and name in ("keys", "values", "items", "get", "copy"):
        method = getattr(base, name)
        return method if name in ("get", "copy") else (lambda: list(method()))
    raise UnsupportedError(f"the attribute {name} of a {type(base).__name__}", frame.context.loc)


_FIXED = (bool, int, float, complex, str, bytes, tuple, list, dict, range, slice, np.generic, np.dtype, np.finfo, np.iinfo)


def _changeable(base: Any) -> bool:
    """Whether another read of an attribute may give something else."""
    if isinstance(base, types.ModuleType):
        return base.__name__ != "math"
    return not isinstance(base, _FIXED)


def _guard_attribute(context: Context, base: Any, name: str, value: Any) -> None:
    place = (id(base), name)
    if place in context.guarded:
        return
    context.guarded.add(place)
    owner = context.readers.get(id(base))
    reader: Callable[[Any], Any]
    if owner is None:
        reader = lambda _: read_attribute(base, name)  # noqa: E731
    else:
        reader = lambda arguments: read_attribute(owner(arguments), name)  # noqa: E731
        context.readers[id(value)] = reader
    if isinstance(value, types.MethodType) and value.__self__ is base:
        # The object itself may be another one next time; its class's function must not.
        context.guards.append(
            Guard(name, lambda arguments: getattr(reader(arguments), "__func__", None), static_key(value.__func__))
        )
        return
    if owner is not None and _changeable(value) and not isinstance(value, (types.FunctionType, type)):
        context.guards.append(Guard(name, lambda arguments: type(reader(arguments)), static_key(type(value))))
        return
    context.guards.append(Guard(f"{getattr(base, '__name__', type(base).__name__)}.{name}", reader, static_key(value)))


def _subscript(frame: Frame, base: Any, key: Any) -> Any:
    context = frame.context
    if isinstance(base, Value):
        return subscript(context, base, key)
    if isinstance(base, np.ndarray):
        as_value(context, base)
    if contains_dynamic(key):
        raise UnsupportedError(f"a {type(base).__name__} indexed by a run-time value", context.loc)
    return compute(context, lambda: base[key])


def _call(frame: Frame, node: ast.Call) -> Any:
    function = evaluate(frame, node.func)
    args = _elements(frame, node.args)
    kwargs: dict[str, Any] = {}
    for keyword in node.keywords:
        value = evaluate(frame, keyword.value)
        if keyword.arg is None:
            if not isinstance(value, dict):
                raise UnsupportedError("** of something that is not a dict", frame.context.loc)
            kwargs.update(value)
        else:
            kwargs[keyword.arg] = value
    return call(frame, function, tuple(args), kwargs)
