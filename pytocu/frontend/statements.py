"""Statements: the reader walks them in order, with loops and branches that are known now."""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from pytocu.errors import CompileError, Loc, UnsupportedError, raised
from pytocu.frontend.builtin_calls import iterate, steps_over
from pytocu.frontend.control import Flow, branch, decides, flow_of
from pytocu.frontend.expressions import assign, assign_member, changed_member, evaluate, evaluate_test, local_defaults
from pytocu.frontend.frames import BREAK, CONTINUE, Failing, Frame, LocalFunction, Raised, Returned, lookup, owner_of, scope_of
from pytocu.frontend.gathering import has_positions
from pytocu.frontend.indexing import has_bool
from pytocu.frontend.inplace import augmented
from pytocu.frontend.leaving import for_loop, while_loop
from pytocu.frontend.loops import Again, Steps
from pytocu.frontend.masked import values
from pytocu.frontend.masked_work import change
from pytocu.frontend.numpy_calls import ErrorState
from pytocu.frontend.objects import get_attribute, refuse_outside
from pytocu.frontend.operators import BINARY, binary, truth
from pytocu.frontend.raising import always, failing
from pytocu.frontend.source import FunctionNode
from pytocu.frontend.state import State
from pytocu.frontend.type_texts import kind_text
from pytocu.frontend.values import Context, Masked, is_array
from pytocu.ir.core import Value
from pytocu.ir.types import DType, element

_MAX_STATIC_STEPS = 10_000
_LONGEST_UNROLLED = 32
"""Steps of a loop over numbers known now that are written out; longer ones are loops of run time, but see `_written_out`."""
_LONGEST_LEFT = 4
"""Steps that are written out of a loop that a branch of run time leaves: each stands inside of the one before."""

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
            return always(context, name, flow)
        if isinstance(flow.returned, Value):
            # The ways that do not come to a return statement return None.
            raise UnsupportedError(
                f"{name} returns {kind_text(flow.value)} or nothing, and which of them is known only at run time",
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
    """
    errors: list[CompileError] = []
    lost: set[str] = set()
    signal = None
    for number, statement in enumerate(body):
        frame.context.builder.loc = frame.loc(statement)
        if not lost.isdisjoint(_names(statement, ast.Load)):
            lost |= _names(statement, ast.Store)
            if _may_end(statement):
                break
            continue
        try:
            signal = _statement(frame, statement, tuple(body[number + 1 :]))
        except CompileError as error:
            follows = isinstance(error, NameError) and any(f"'{name}'" in error.message for name in lost)
            if not follows:
                errors.append(error)
            lost |= _names(statement, ast.Store)
            # What the program raises itself ends it.
            if _may_end(statement) or len(errors) == _MOST_ERRORS:
                break
        except Raised as found:
            errors.append(found.error)
            break
        if signal is not None:
            break
    if errors:
        raise errors[0].with_others(errors[1:])
    return signal


def _names(statement: ast.AST, context: type[ast.expr_context]) -> set[str]:
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
            context.stored = _stored_dtype(frame, targets, value)
            try:
                result = evaluate(frame, value)
            finally:
                context.stored = None
            for target in targets:
                _assign_at(frame, target, result)
        case ast.AnnAssign(target=target, value=value):
            if value is not None:
                _assign_at(frame, target, evaluate(frame, value))
        case ast.AugAssign():
            _augmented(frame, node)
        case ast.Expr(value=ast.Constant()) | ast.Pass() | ast.Global() | ast.Nonlocal():
            pass
        case ast.Expr(value=value):
            evaluate(frame, value)
        case ast.If():
            return _if(frame, node, rest)
        case ast.For():
            return _for(frame, node, rest)
        case ast.While():
            return _while(frame, node, rest)
        case ast.With(items=items, body=body):
            for item in items:
                _enter(frame, item)
            return run_block(frame, body, rest)
        case ast.Break():
            return BREAK
        case ast.Continue():
            return CONTINUE
        case ast.FunctionDef():
            _define(frame, node)
        case ast.Delete(targets=targets):
            for target in targets:
                _delete(frame, target)
        case ast.Assert() if context.elements is not None:
            return _assert_element(frame, node, rest)
        case ast.Assert():
            _assert(frame, node)
        case ast.Raise(exc=exception):
            return _raise(frame, exception)
        case ast.Import(names=names):
            for alias in names:
                module = _module(frame, alias.name)
                name = alias.asname or alias.name.split(".")[0]
                _bind(frame, name, module if alias.asname else _module(frame, name))
        case ast.ImportFrom(module=module_name, names=names, level=0) if module_name and names[0].name != "*":
            module = _module(frame, module_name)
            for alias in names:
                _bind(frame, alias.asname or alias.name, get_attribute(frame, module, alias.name))
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


def _stored_dtype(frame: Frame, targets: list[ast.expr], value: ast.expr) -> DType | None:
    """The dtype of the array that the smallest or largest of some numbers is stored in, and nothing else is done with it."""
    match targets, value:
        case [ast.Subscript(value=ast.Name(id=name))], ast.Call(func=ast.Name(id="min" | "max"), args=args):
            held = frame.locals.get(name)
            plain = not any(isinstance(n, ast.Call) for arg in args for n in ast.walk(arg))
            if plain and isinstance(held, Value) and is_array(held):
                return element(held.type)
    return None


def _assign_at(frame: Frame, target: ast.expr, value: Any) -> None:
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


def _augmented(frame: Frame, node: ast.AugAssign) -> None:
    context = frame.context
    operator = BINARY.get(type(node.op))
    if operator is None:
        raise UnsupportedError("the operator @= is not supported", context.loc, "write x[...] = x @ y")
    if isinstance(node.target, ast.Attribute):
        raise UnsupportedError(
            f"{ast.unparse(node.target)} {_symbol(node)} ... changes an attribute, which is not compiled",
            context.loc,
            "return the value and assign it outside",
        )
    if isinstance(node.target, ast.Subscript):
        # The container and the key are evaluated once, for reading and for writing.
        base, key = evaluate(frame, node.target.value), evaluate(frame, node.target.slice)
        with context.builder.at(frame.loc(node.target)):
            old = changed_member(frame, base, key)
        new = _changed(frame, node, operator, old)
        # Elements at positions are a copy, which is changed and then put back.
        if new is not old or not is_array(old) or has_positions(base, key) or has_bool(key):
            with context.builder.at(frame.loc(node.target)):
                assign_member(frame, base, key, new, ast.unparse(node.target))
        return
    old = _old(frame, node.target)
    new = _changed(frame, node, operator, old)
    if new is not old:
        assign(frame, node.target, new)


def _old(frame: Frame, target: ast.expr) -> Any:
    """What a name that is assigned to stands for now."""
    assert isinstance(target, ast.Name)
    with frame.context.builder.at(frame.loc(target)):
        return lookup(frame, target.id)


def _changed(frame: Frame, node: ast.AugAssign, operator: str, old: Any) -> Any:
    """What the target holds after the operation: `old` itself where it is changed in place."""
    context = frame.context
    value = evaluate(frame, node.value)
    if isinstance(old, Masked):
        return change(context, operator, old, value)
    value = values(context, value)
    if is_array(old):
        return augmented(context, operator, old, value)
    if isinstance(old, (list, dict, set)):
        text = ast.unparse(node.target)
        symbol = _symbol(node)
        refuse_outside(context, old, f"{text} {symbol} ...")
        if not (isinstance(old, list) and operator == "add"):
            raise UnsupportedError(
                f"a {type(old).__name__} changed by {symbol} is not compiled", context.loc, "build a new one"
            )
        old.extend(iterate(frame, value, symbol))
        return old
    return binary(context, operator, old, value)


def _symbol(node: ast.AugAssign) -> str:
    return ast.unparse(ast.AugAssign(ast.Name("a"), node.op, ast.Name("b"))).split()[1]


def _too_many(frame: Frame, node: ast.For | ast.While) -> UnsupportedError:
    return UnsupportedError(
        f"a loop of more than {_MAX_STATIC_STEPS} steps is not written out", frame.loc(node), "compute on whole arrays"
    )


def _if(frame: Frame, node: ast.If, rest: tuple[ast.stmt, ...]) -> Any:
    value = evaluate_test(frame, node.test)
    with frame.context.builder.at(frame.loc(node.test)):
        if not decides(value):
            chosen = node.body if truth(frame.context, value, "the branch") else node.orelse
        elif _is_read_too_often(node, rest):
            # A flag says whether the function was left, so what follows is read once.
            sides = [lambda body=body: run_block(frame, body) for body in (node.body, node.orelse)]
            signal = branch(frame, value, *sides)
            flow = flow_of(signal)
            return signal if flow.static else _behind(frame, flow, lambda: run_block(frame, rest), (), True)
        elif _leaves(node.body) or _leaves(node.orelse):
            sides = [lambda body=body: _to_the_end(frame, body, rest) for body in (node.body, node.orelse)]
            # Nothing is left to do behind it.
            return flow_of(branch(frame, value, *sides)).signal() or Flow()
        else:
            sides = [lambda body=body: run_block(frame, body) for body in (node.body, node.orelse)]
            return branch(frame, value, *sides)
    return run_block(frame, chosen, rest)


def _to_the_end(frame: Frame, body: Sequence[ast.stmt], rest: tuple[ast.stmt, ...]) -> Any:
    """A side of a branch and what follows it, unless it leaves."""
    signal = run_block(frame, body, rest)
    return run_block(frame, rest) if signal is None else signal


_MOST_WAYS = 8
"""How often what follows branches may be read, once for each way on which it is reached."""


def _ways(body: Sequence[ast.stmt]) -> int:
    """On how many ways statements come to their end where what follows a branch that may leave is read for each side."""
    ways = 1
    for node in body:
        match node:
            case ast.Return() | ast.Raise() | ast.Break() | ast.Continue():
                return 0
            case ast.If(body=inner, orelse=other) if _leaves(inner) or _leaves(other):
                ways *= _ways(inner) + _ways(other)
            case ast.With(body=inner):
                ways *= _ways(inner)
    return ways


def _is_read_too_often(node: ast.If, rest: Sequence[ast.stmt]) -> bool:
    """Whether what follows a branch that may leave the function, and no loop, would be read on too many ways."""
    several = _ways([node]) > 1 and _ways([n for n in (node, *rest) if isinstance(n, ast.If)]) > _MOST_WAYS
    return several and not _leaves_loop([node])


def _leaves_loop(body: Sequence[ast.stmt]) -> bool:
    """Whether statements may leave the loop around them, or this step of it."""
    for node in body:
        match node:
            case ast.Break() | ast.Continue():
                return True
            case ast.If(body=inner, orelse=other) if _leaves_loop(inner) or _leaves_loop(other):
                return True
            case ast.For(orelse=other) | ast.While(orelse=other) if _leaves_loop(other):
                return True
            case ast.With(body=inner) if _leaves_loop(inner):
                return True
    return False


def _leaves(body: Sequence[ast.stmt], loop: bool = False) -> bool:
    """Whether statements may leave the function, or the loop around them."""
    for node in body:
        match node:
            case ast.Return() | ast.Raise() | ast.Assert():
                return True
            case ast.Break() | ast.Continue():
                if not loop:
                    return True
            case ast.For(body=inner, orelse=other) | ast.While(body=inner, orelse=other):
                if _leaves(inner, True) or _leaves(other, loop):
                    return True
            case ast.If(body=inner, orelse=other):
                if _leaves(inner, loop) or _leaves(other, loop):
                    return True
            case ast.With(body=inner):
                if _leaves(inner, loop):
                    return True
    return False


def _for(frame: Frame, node: ast.For, rest: tuple[ast.stmt, ...]) -> Any:
    context = frame.context
    values = evaluate(frame, node.iter)
    with context.builder.at(frame.loc(node.iter)):
        values = steps_over(frame, values)
        items = [] if isinstance(values, Steps) else iterate(frame, values, "the loop")
    if isinstance(values, Steps):
        return _run_time_for(frame, node, values, rest)
    if isinstance(values, range) and values[: 2**62] != values:
        text = "a loop over more numbers than int64 holds"
        raise UnsupportedError(text, frame.loc(node.iter), "count with while True: and an int")
    if isinstance(values, range) and len(values) > _LONGEST_UNROLLED and not _written_out(frame, node):
        return _run_time_for(frame, node, Steps(values.start, values.stop, values.step), rest)
    if len(items) > _MAX_STATIC_STEPS:
        raise _too_many(frame, node)
    if not isinstance(values, range) or len(values) <= _LONGEST_LEFT:
        return _unrolled(frame, node, items, rest)
    state = State(frame)
    try:
        with context.builder.nested() as insts:
            signal = _unrolled(frame, node, items, rest, may_leave=False)
        context.builder.insts.extend(insts)
        return signal
    except Again:
        state.go_back()
    return _run_time_for(frame, node, Steps(values.start, values.stop, values.step), rest)


_GROW = frozenset({"append", "extend", "insert", "pop", "remove", "clear", "update", "add", "setdefault"})
"""Methods of lists, dicts and sets that change how many members these have."""


def _written_out(frame: Frame, node: ast.For) -> bool:
    """Whether each step is code of its own, however many there are.

    It is where a step decides, indexes or calls something by its number, and where a list grows.
    """
    numbers = _names(node.target, ast.Store)

    def by_number(part: ast.AST) -> bool:
        return not numbers.isdisjoint(_names(part, ast.Load))

    for part in (inner for statement in node.body for inner in ast.walk(statement)):
        match part:
            case ast.Subscript(slice=place) if by_number(place):
                return True
            case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test) | ast.Assert(test=test) if by_number(test):
                return True
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) if method in _GROW:
                if isinstance(owner_of(frame, name).locals.get(name), (list, dict, set)):
                    return True
            case ast.Call() if by_number(part):
                return True
    return False


def _unrolled(
    frame: Frame, node: ast.For, items: Sequence[Any], rest: tuple[ast.stmt, ...], may_leave: bool = True
) -> Any:
    """The steps one after the other; behind a branch of run time that leaves come the other steps.

    Raises
    ------
    Again
        There is such a branch, and `may_leave` is false.
    """
    for number, item in enumerate(items):
        _assign_at(frame, node.target, item)
        signal = run_block(frame, node.body)
        if signal is BREAK:
            return None
        if isinstance(signal, Returned):
            return signal
        if isinstance(signal, Flow) and not signal.static:
            if not may_leave:
                raise Again
            onward = lambda number=number: _unrolled(frame, node, items[number + 1 :], rest)  # noqa: E731
            return _behind(frame, signal, onward, rest, _leaves(node.body, True) or _leaves(node.orelse))
    return run_block(frame, node.orelse, rest)


def _run_time_for(frame: Frame, node: ast.For, steps: Steps, rest: tuple[ast.stmt, ...]) -> Any:
    assign = lambda item: _assign_at(frame, node.target, item)  # noqa: E731
    bounds = (steps.start, steps.stop, steps.step)
    if frame.context.elements is not None and all(type(b) is int for b in bounds) and range(*bounds):
        # There is a step, so the number of the last one is known behind the loop.
        assign(steps.start)
    flow = for_loop(frame, node, steps, assign, lambda: run_block(frame, node.body))
    return _behind(frame, flow, lambda: run_block(frame, node.orelse, rest), rest, _leaves(node.orelse))


def _behind(frame: Frame, flow: Flow, onward: Callable[[], Any], rest: tuple[ast.stmt, ...], leaves: bool) -> Any:
    """What follows a loop, by how it ended: `onward` where it came to its end, which may itself leave."""
    if flow.returned is True:
        return Returned(flow.value, flow.loc)
    if flow.broke is True:
        return None

    def to_the_end(run: Callable[[], Any]) -> Any:
        signal = run()
        return run_block(frame, rest) if signal is None else signal

    def came_to_end() -> Any:
        if isinstance(flow.broke, bool):
            return onward()
        if not leaves:
            return branch(frame, flow.broke, lambda: None, onward)
        sides = (lambda: to_the_end(lambda: None), lambda: to_the_end(onward))
        return flow_of(branch(frame, flow.broke, *sides)).signal() or Flow()

    if isinstance(flow.returned, bool):
        return came_to_end()
    sides = (lambda: Returned(flow.value, flow.loc), lambda: to_the_end(came_to_end))
    return flow_of(branch(frame, flow.returned, *sides)).signal() or Flow()


def _while(frame: Frame, node: ast.While, rest: tuple[ast.stmt, ...]) -> Any:
    context = frame.context

    def test() -> Any:
        with context.builder.at(frame.loc(node.test)):
            value = evaluate_test(frame, node.test)
            return value if decides(value) else truth(context, value, "the loop")

    for _ in range(_MAX_STATIC_STEPS):
        state = State(frame)
        value = test()
        if not decides(value):
            if not value:
                return run_block(frame, node.orelse, rest)
            signal = run_block(frame, node.body)
            if signal is BREAK:
                return None
            if isinstance(signal, Returned):
                return signal
            if not isinstance(signal, Flow) or signal.static:
                continue
            state.go_back()
        context.builder.loc = frame.loc(node)
        flow = while_loop(frame, node, value, test, lambda: run_block(frame, node.body))
        return _behind(frame, flow, lambda: run_block(frame, node.orelse, rest), rest, _leaves(node.orelse))
    raise _too_many(frame, node)


def _enter(frame: Frame, item: ast.withitem) -> None:
    """Only ``np.errstate`` has a meaning: compiled code gives no floating-point warnings."""
    context = frame.context
    if item.optional_vars is not None or not isinstance(evaluate(frame, item.context_expr), ErrorState):
        raise UnsupportedError(
            "a with statement is not supported, but for 'with np.errstate(...):'", context.loc, "use it around the call"
        )


def _message(frame: Frame, node: ast.expr) -> tuple[Any, list[Value]]:
    """Part of an exception, and the ints of run time that it shows; other run-time values show as their types."""
    context = frame.context
    shown: list[Value] = []
    saved, context.in_message = context.in_message, shown
    try:
        return evaluate(frame, node), shown
    finally:
        context.in_message = saved


def _raise(frame: Frame, exception: ast.expr | None) -> Returned:
    context = frame.context
    if exception is None:
        raise raised(RuntimeError("No active exception to reraise"), context.loc)
    value, shown = _message(frame, exception)
    if isinstance(value, type) and issubclass(value, Exception):
        value = value()
    if not isinstance(value, Exception):
        raise raised(TypeError("exceptions must derive from BaseException"), context.loc)
    return failing(context, value, shown)


def _assert(frame: Frame, node: ast.Assert) -> None:
    context = frame.context
    value = evaluate_test(frame, node.test)

    def refused() -> Returned:
        text, shown = ([], []) if node.msg is None else _message(frame, node.msg)
        return failing(context, AssertionError(*(() if node.msg is None else (text,))), shown)

    if decides(value):
        branch(frame, value, lambda: None, refused)
        return
    with context.builder.at(frame.loc(node.test)):
        holds = truth(context, value, "the assertion", "check it outside the function, or leave it out")
    if not holds:
        refused()


def _assert_element(frame: Frame, node: ast.Assert, rest: tuple[ast.stmt, ...]) -> Any:
    context = frame.context
    value = evaluate_test(frame, node.test)
    text = () if node.msg is None else (_message(frame, node.msg)[0],)
    onward = lambda: _to_the_end(frame, (), rest)  # noqa: E731
    refused = lambda: failing(context, AssertionError(*text))  # noqa: E731
    if decides(value):
        return flow_of(branch(frame, value, onward, refused)).signal() or Flow()
    return None if truth(context, value, "the assertion") else refused()
