"""Conditions: comparisons, ``and``, ``or``, ``not`` and conditional expressions."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np

from pytocu.deferred import Deferred
from pytocu.errors import UnsupportedError
from pytocu.frontend.aliases import is_shared
from pytocu.frontend.choices import both_sides, choose, connect, is_choice, negate
from pytocu.frontend.control import choice, connected
from pytocu.frontend.expressions import evaluate
from pytocu.frontend.flags import both, condition, either, negated
from pytocu.frontend.frames import Flag, Frame
from pytocu.frontend.objects import NO_METHOD, is_object, may_have_methods, note_compared
from pytocu.frontend.operators import BINARY, as_queue, attempt, binary, check_plain, compute, is_queue, truth
from pytocu.frontend.reading import read_bool
from pytocu.frontend.state import State
from pytocu.frontend.type_texts import by_number
from pytocu.frontend.values import (
    AsBranch,
    Context,
    Grown,
    NeedsBranch,
    Perhaps,
    Steps,
    contains_dynamic,
    decides,
    describe,
    is_array,
    is_dynamic,
    is_numpy_scalar,
)
from pytocu.ir.core import Value
from pytocu.ir.ops import OPS
from pytocu.ir.types import WEAK_BOOL, ScalarType, WeakType, type_text

_binary_of_objects = Deferred("pytocu.frontend.special_methods", "binary_of_objects")
_method_of_object = Deferred("pytocu.frontend.special_methods", "method_of_object")
_contains_counted = Deferred("pytocu.frontend.list_methods", "contains")
_in_range = Deferred("pytocu.frontend.range_parts", "contains")
_of_range = Deferred("pytocu.frontend.range_parts", "of_range")
_definite = Deferred("pytocu.frontend.perhaps", "definite")
_length_of = Deferred("pytocu.frontend.grown", "length_of")


def evaluate_condition(frame: Frame, node: ast.expr) -> Any:
    """The value of an expression that asks or decides something."""
    context = frame.context
    match node:
        case ast.UnaryOp(operand=operand):
            found = evaluate(frame, operand, perhaps=True)
            found = _truth_of(context, found, ast.unparse(operand)) if isinstance(found, Perhaps) else found
            return negate(context, _length_of(context, found) if isinstance(found, Grown) else found)
        case ast.Compare(left=left, ops=ops, comparators=others):
            found = evaluate(frame, left, perhaps=isinstance(ops[0], ast.Is | ast.IsNot))
            if isinstance(found, Perhaps):
                return _asked_for_none(frame, found, left, ops, others)
            return _compare(frame, found, left, list(zip(ops, others, strict=True)))
        case ast.BoolOp(op=op, values=values):
            return _bool_op(frame, op, values)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            tested = evaluate_test(frame, test)
            if is_choice(tested):
                what = "the conditional expression"

                def both() -> Any:
                    with both_sides(context, what):
                        sides = evaluate(frame, body, perhaps=True), evaluate(frame, orelse, perhaps=True)
                    return choose(context, tested, *sides, what)

                yes, no = (lambda node=node: evaluate(frame, node, perhaps=True) for node in (body, orelse))
                return _or_branch(frame, both, tested, yes, no, what)
            return evaluate(frame, body if truth(context, tested, "the conditional expression") else orelse, perhaps=True)
    raise AssertionError(f"{type(node).__name__} is no condition")


def _asked_for_none(
    frame: Frame, found: Perhaps, node: ast.expr, ops: list[ast.cmpop], others: list[ast.expr]
) -> Any:
    """``x is None`` of what only a run knows to be one or None."""
    context = frame.context
    (right, *rest) = [evaluate(frame, other) for other in others]
    if right is not None or rest:
        text = f"{ast.unparse(node)} may be None or a value, and it is compared by 'is' with something else than None"
        raise UnsupportedError(text, context.loc, "ask for None alone: x is None")
    return found.given if isinstance(ops[0], ast.IsNot) else negated(context, found.given)


def _truth_of(context: Context, found: Perhaps, text: str) -> Any:
    """The truth of a value, or of None."""
    if not isinstance(found.value, Value) or is_array(found.value):
        return truth(context, _definite(context, found, text), "the condition")
    return both(context, found.given, condition(context, found.value))


def _compare(frame: Frame, left: Any, left_node: ast.expr, parts: list[tuple[ast.cmpop, ast.expr]]) -> Any:
    context = frame.context
    (op, right_node), *rest = parts
    right = evaluate(frame, right_node)
    result = _compare_one(frame, op, left, right)
    if not rest:
        return result
    if is_choice(result):
        others = lambda: _compare(frame, right, right_node, rest)  # noqa: E731
        return _or_branch(frame, lambda: connect(context, "and", result, others), result, others, lambda: result, "'and'")
    if is_dynamic(result):
        raise UnsupportedError(
            f"a chained comparison of run-time values ({type_text(result.type)}) asks for the truth of its first part",
            context.loc,
            f"write {_pairs(left_node, parts)}",
        )
    return _compare(frame, right, right_node, rest) if truth(context, result, "the comparison") else result


def _pairs(left: ast.expr, parts: list[tuple[ast.cmpop, ast.expr]]) -> str:
    """A chain of comparisons as NumPy has it: each pair, joined by ``&``."""
    nodes = [left, *(node for _, node in parts)]
    pairs: list[ast.expr] = [ast.Compare(a, [op], [b]) for a, b, (op, _) in zip(nodes, nodes[1:], parts, strict=False)]
    return _short(_as_numpy(ast.BoolOp(ast.And(), pairs)), "(a < x) & (x < b)")


def _elementwise(op: ast.boolop, nodes: list[ast.expr]) -> str:
    """What to write in the place of ``and`` and ``or`` of arrays."""
    word, symbol = _WORDS[type(op)]
    return f"write {_short(_as_numpy(ast.BoolOp(op, nodes)), f'(a) {symbol} (b)')}, or np.logical_{word}(a, b)"


def _as_numpy(node: ast.expr) -> str:
    """A condition with NumPy's operators in the place of Python's words."""
    match node:
        case ast.BoolOp(op=op, values=values):
            texts = [(_as_numpy(value), isinstance(value, _WHOLE)) for value in values]
            return f" {_WORDS[type(op)][1]} ".join(text if whole else f"({text})" for text, whole in texts)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            return f"np.logical_not({_as_numpy(operand)})"
    return ast.unparse(node)


def _short(text: str, instead: str) -> str:
    return text if len(text) < 80 else instead


_WHOLE = (ast.Name, ast.Constant, ast.Call, ast.Attribute, ast.Subscript, ast.UnaryOp)
"""Expressions that bind more tightly than ``&`` and ``|``; ``not`` is written as a call."""

_WORDS: dict[type[ast.boolop], tuple[str, str]] = {ast.And: ("and", "&"), ast.Or: ("or", "|")}


def _compare_one(frame: Frame, op: ast.cmpop, left: Any, right: Any) -> Any:
    context = frame.context
    match op:
        case ast.Is():
            return _identical(frame, left, right)
        case ast.IsNot():
            return not _identical(frame, left, right)
        case ast.In():
            return _contains(frame, left, right)
        case ast.NotIn():
            found = _contains(frame, left, right)
            return negated(context, found) if isinstance(found, Value) else not found
    if may_have_methods(left) or may_have_methods(right):
        found = _binary_of_objects(frame, BINARY[type(op)], left, right)
        if found is not NO_METHOD:
            return found
    queues = [is_queue(context, side) for side in (left, right)]
    if any(queues) and not all(queues) and all(isinstance(side, Grown | list | tuple) for side in (left, right)):
        # A queue is no list, whatever both hold.
        python = OPS[BINARY[type(op)]].python
        assert python is not None
        return attempt(context, python, as_queue(context, left), as_queue(context, right))
    containers = (tuple, list, dict)
    pair = [s for s in (left, right) if not (is_array(s) or is_numpy_scalar(s))]
    with_array = len(pair) == 1 and isinstance(pair[0], (tuple, list))
    if contains_dynamic((left, right)) and any(isinstance(s, containers) for s in pair) and not with_array:
        if isinstance(op, (ast.Eq, ast.NotEq)) and type(left) is type(right) and isinstance(left, (tuple, list)):
            same = _same_members(frame, left, right)
            return same if isinstance(op, ast.Eq) else negated(context, same)
        if type(left) is type(right) and isinstance(left, (tuple, list)):
            return _ordered(frame, op, left, right)
        raise UnsupportedError(
            f"a comparison of {type(left).__name__} and {type(right).__name__} holding run-time values is not compiled",
            context.loc,
            "compare the members you need; shapes that must agree are checked where the arrays meet",
        )
    return binary(context, BINARY[type(op)], left, right)


def _same_members(frame: Frame, left: Any, right: Any) -> Any:
    """Whether two tuples or lists have the same numbers, as Python's own bool."""
    context = frame.context
    if len(left) != len(right):
        return False
    same: Any = True
    for a, b in zip(left, right, strict=True):
        one = a is b or _compare_one(frame, ast.Eq(), a, b)
        if isinstance(one, Value) and isinstance(one.type, ScalarType):
            # What two scalars of NumPy's are compared to is asked for its truth.
            one = read_bool(context, one)
        if isinstance(one, Value) and one.type != WEAK_BOOL:
            raise UnsupportedError(
                f"a comparison of a {type(left).__name__} that holds {describe(a if is_dynamic(a) else b)}",
                context.loc,
                "compare the members you need, or arrays with np.array_equal",
            )
        same = both(context, same, one if isinstance(one, Value) else bool(one))
    return same


def _ordered(frame: Frame, op: ast.cmpop, left: Sequence[Any], right: Sequence[Any]) -> Any:
    """A comparison of tuples or lists: that of the first members that are not equal, or else of their lengths."""
    context = frame.context
    differ: Any
    found: Any = compute(context, _ORDERS[type(op)], len(left), len(right))
    for a, b in reversed([*zip(left, right, strict=False)]):
        differ = False if a is b else _compare_one(frame, ast.NotEq(), a, b)
        if not is_choice(differ):
            found = _compare_one(frame, op, a, b) if truth(context, differ, "the comparison") else found
            continue
        found = choose(context, differ, _compare_one(frame, op, a, b), found, "the comparison of tuples")
    return found


_ORDERS: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
}  # fmt: skip


def _contains(frame: Frame, member: Any, container: Any) -> Any:
    if may_have_methods(container) and (
        answer := _method_of_object(frame, container, "__contains__", member)
    ) is not NO_METHOD:
        return frame.context.hooks.call(frame, bool, (answer,), {})
    if isinstance(container, Grown):
        return _contains_counted(frame, container, member)
    if isinstance(container, Steps) or (isinstance(container, range) and contains_dynamic(member)):
        return _in_range(frame.context, member, _of_range(container))
    numbers = isinstance(container, (list, tuple, set, frozenset)) and all(map(_is_number, (member, *container)))
    if numbers and contains_dynamic((member, container)):
        return _equals_one(frame.context, member, container)
    if contains_dynamic(member) or (contains_dynamic(container) and not isinstance(container, dict)):
        help = by_number(container) or "compare with == and combine with |"
        raise UnsupportedError("'in' with values known only at run time is not compiled", frame.context.loc, help)
    for value in (member, container):
        check_plain(frame.context, value, "'in'")
    if isinstance(container, dict):
        return compute(frame.context, lambda m, keys: m in dict.fromkeys(keys), member, list(container))
    return compute(frame.context, lambda m, c: m in c, member, container)


def _is_number(value: Any) -> bool:
    return (isinstance(value, Value) and not is_array(value)) or isinstance(value, (bool, int, float, complex, np.generic))


def _equals_one(context: Context, member: Any, container: Collection[Any]) -> Flag:
    """``member in container`` of numbers."""
    found: Flag = any(one is member for one in container)
    for one in container:
        same = binary(context, "equal", member, one)
        if isinstance(same, Value) and not isinstance(same.type, WeakType):
            # Python's bool.
            same = read_bool(context, same)
        found = either(context, found, same if isinstance(same, Value) else bool(same))
    return found


def _identical(frame: Frame, left: Any, right: Any) -> bool:
    note_compared(frame.context, left, right)
    if left is None or right is None or left is right:
        return left is right
    if any(is_dynamic(side) or isinstance(side, Grown) for side in (left, right)):
        raise UnsupportedError(
            "'is' with values known only at run time, other than None, is not compiled", frame.context.loc, "compare with =="
        )
    if left is True or left is False or right is True or right is False:
        return left is right
    context = frame.context
    for side in (left, right):
        if is_shared(context, side):
            text = f"'is' with a {type(side).__name__} that may be one that has other names, too, is not compiled"
            raise UnsupportedError(text, context.loc, "ask what decided: a loop or branch of run time")
        if not is_object(context, side):
            check_plain(context, side, "'is'")
    return left is right


def evaluate_test(frame: Frame, node: ast.expr) -> Any:
    """A value of which only the truth is wanted."""
    context = frame.context
    match node:
        case ast.BoolOp(op=op, values=[first, *rest]):
            word = "and" if isinstance(op, ast.And) else "or"
            result = evaluate_test(frame, first)
            if not rest:
                return result
            others = lambda: evaluate_test(frame, rest[0] if len(rest) == 1 else ast.BoolOp(op, rest))  # noqa: E731
            with context.builder.at(frame.loc(node)):
                if decides(result):
                    return connected(frame, word, result, others)
                written = lambda: _elementwise(op, [first, *rest])  # noqa: E731
                if truth(context, result, f"'{word}'", elementwise=written) == (word == "or"):
                    return result
            return others()
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            result = evaluate_test(frame, operand)
            with context.builder.at(frame.loc(node)):
                return negated(context, condition(context, result)) if decides(result) else negate(context, result)
    found = evaluate(frame, node, perhaps=True)
    if isinstance(found, Perhaps):
        return _truth_of(context, found, ast.unparse(node))
    # A list is true where it has a member.
    return _length_of(context, found) if isinstance(found, Grown) else found


def _bool_op(frame: Frame, op: ast.boolop, values: list[ast.expr]) -> Any:
    word, _ = _WORDS[type(op)]
    first, *rest = values
    result = evaluate(frame, first)
    if not rest:
        return result
    others = lambda: _bool_op(frame, op, rest)  # noqa: E731
    if isinstance(result, Grown):
        # A list is true where it has a member.
        sides = (others, lambda: result) if word == "and" else (lambda: result, others)
        return choice(frame, condition(frame.context, _length_of(frame.context, result)), *sides, f"'{word}'")
    if is_choice(result):
        sides = (others, lambda: result) if word == "and" else (lambda: result, others)
        return _or_branch(frame, lambda: connect(frame.context, word, result, others), result, *sides, f"'{word}'")
    written = lambda: _elementwise(op, values)  # noqa: E731
    if truth(frame.context, result, f"'{word}'", elementwise=written) == (word == "or"):
        return result
    return _bool_op(frame, op, rest)


def _or_branch(
    frame: Frame, both: Callable[[], Any], test: Value, yes: Callable[[], Any], no: Callable[[], Any], what: str
) -> Any:
    """Both sides and a choice, or a branch where computing what Python leaves out may raise; `what` names it."""
    context = frame.context
    loc = context.loc
    if context.elements is not None or loc in context.branching or AsBranch(loc) in context.handed:
        return choice(frame, test, yes, no, what)
    state = State(frame)
    try:
        with context.builder.nested() as insts:
            chosen = both()
    except NeedsBranch:
        # Read again with what is around it, both sides are not tried again.
        context.branching.add(loc)
        state.go_back()
        return choice(frame, test, yes, no, what)
    context.builder.insts.extend(insts)
    context.both_computed.setdefault(loc, set()).update(inst.loc for inst in insts)
    return chosen
