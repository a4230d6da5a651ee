"""Expressions: names, literals, attributes, subscripts, and assignment to them."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

import numpy as np

from pytocu.deferred import Deferred
from pytocu.errors import CompileError, UnsupportedError, raised
from pytocu.frontend.frames import Frame, LocalFunction, lookup, mangled, owner_of
from pytocu.frontend.objects import NO_METHOD, may_have_methods
from pytocu.frontend.operators import BINARY, UNARY, binary, unary
from pytocu.frontend.source import FunctionNode
from pytocu.frontend.values import Context, Grown, Members, NeedsBranch, Perhaps, Steps, is_array, is_number, type_name
from pytocu.ir.core import Value
from pytocu.ir.types import WEAK_INT, shape_of

_binary_of_objects = Deferred("pytocu.frontend.special_methods", "binary_of_objects")
_unary_of_object = Deferred("pytocu.frontend.special_methods", "unary_of_object")
_condition = Deferred("pytocu.frontend.conditions", "evaluate_condition")
_known = Deferred("pytocu.frontend.perhaps", "known")
_definite = Deferred("pytocu.frontend.perhaps", "definite")
_subscript = Deferred("pytocu.frontend.subscripts", "read")
_slice = Deferred("pytocu.frontend.subscripts", "slice_of")
_assign_member = Deferred("pytocu.frontend.subscripts", "assign_member")
_assign_attribute = Deferred("pytocu.frontend.parts", "assign_attribute")
_unpack = Deferred("pytocu.frontend.subscripts", "unpack")
_display = Deferred("pytocu.frontend.displays", "evaluate_display")
_text = Deferred("pytocu.frontend.formatting", "formatted")
_repeated = Deferred("pytocu.frontend.grown", "repeated")
_percent = Deferred("pytocu.frontend.formatting", "percent")
_call = Deferred("pytocu.frontend.calls", "call")
_call_text = Deferred("pytocu.frontend.call_expressions", "call_text")
_call_expression = Deferred("pytocu.frontend.call_expressions", "evaluate_call")
_note_operands = Deferred("pytocu.frontend.notes", "note_operands")
_with_numbers = Deferred("pytocu.frontend.notes", "with_numbers")
_iterate = Deferred("pytocu.frontend.builtin_calls", "iterate")
_get_attribute = Deferred("pytocu.frontend.attribute_lookup", "get_attribute")
_refuse_held_again = Deferred("pytocu.frontend.once", "refuse_held_again")

_REFUSED: dict[type[ast.expr], tuple[str, str | None]] = {
    ast.Await: ("await", "call the coroutine outside the function"),
    ast.Yield: ("yield", "return the arrays as a tuple"),
    ast.YieldFrom: ("yield from", "return the arrays as a tuple"),
}


def evaluate(frame: Frame, node: ast.expr, perhaps: bool = False) -> Any:
    """The abstract value of an expression, which only where that is asked for may be one or None by what a run does.

    Raises
    ------
    CompileError
        At the expression's place.
    """
    builder = frame.context.builder
    saved = builder.loc
    builder.loc = frame.loc(node)
    try:
        found = _evaluate(frame, node)
        if isinstance(found, Perhaps):
            return _known(frame.context, found) if perhaps else _definite(frame.context, found, ast.unparse(node))
        return found
    finally:
        builder.loc = saved


def _evaluate(frame: Frame, node: ast.expr) -> Any:
    context = frame.context
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name):
            return lookup(frame, name)
        case ast.BinOp():
            return _binary_chain(frame, node)
        case ast.UnaryOp(op=ast.Not()) | ast.Compare() | ast.BoolOp() | ast.IfExp():
            return _condition(frame, node)
        case ast.UnaryOp(op=op, operand=operand):
            value = evaluate(frame, operand)
            if may_have_methods(value) and (made := _unary_of_object(frame, UNARY[type(op)], value)) is not NO_METHOD:
                return made
            return unary(context, UNARY[type(op)], value)
        case ast.Call():
            return _call_expression(frame, node)
        case ast.Attribute(value=base, attr=name):
            return _held(context, _get_attribute(frame, evaluate(frame, base), mangled(frame, name)))
        case ast.Subscript():
            return _held(context, _subscript(frame, node))
        case ast.Slice():
            return _slice(frame, node)
        case ast.Tuple(elts=parts):
            return tuple(elements(frame, parts, perhaps=True))
        case ast.List(elts=parts):
            return elements(frame, parts, perhaps=True)
        case ast.Set() | ast.Dict() | ast.ListComp() | ast.GeneratorExp() | ast.SetComp() | ast.DictComp():
            return _display(frame, node)
        case ast.JoinedStr():
            return _text(frame, node)
        case ast.Lambda():
            return LocalFunction(node, frame, local_defaults(frame, node))
        case ast.NamedExpr(target=ast.Name() as target, value=value):
            result = evaluate(frame, value, perhaps=True)
            if context.choosing:
                raise NeedsBranch(":= in a part that Python may leave out", context.loc)
            assign(frame, target, result, through_comprehensions=True)
            return result
    what, help = _REFUSED.get(type(node), (f"the expression {type(node).__name__}", None))
    raise UnsupportedError(f"{what} is not supported", context.loc, help)


def _held(context: Context, value: Any) -> Any:
    """What a list, dict or object holds; an iterator gives its members once."""
    if isinstance(value, Members | Steps):
        _refuse_held_again(context, value)
    return value


def _multiplies_matrices(value: Any) -> bool:
    """Whether a value has the operator ``@``, or may have."""
    if isinstance(value, Value):
        return is_array(value)
    return not is_number(value) and not isinstance(value, (list, tuple, range, str, Steps, Grown))


def _binary_chain(frame: Frame, node: ast.BinOp) -> Any:
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
        context.builder.loc = frame.loc(part)
        name = BINARY.get(type(part.op))
        if may_have_methods(result) or may_have_methods(right):
            found = _binary_of_objects(frame, name or "matmul", result, right)
            if found is not NO_METHOD:
                result = found
                continue
        if name is None and not any(map(_multiplies_matrices, (result, right))):
            # No number or list has this operator, where np.matmul has words of its own.
            types = " and ".join(f"'{type_name(v)}'" for v in (result, right))
            raise raised(TypeError(f"unsupported operand type(s) for @: {types}"), context.loc)
        if name is None:
            result = _call(frame, np.matmul, (result, right), {})
        elif name == "remainder" and isinstance(result, (str, bytes)):
            result = _percent(frame, result, right)
        elif name == "multiply" and _is_repeated(result, right):
            result = _repeated(frame, result[0], right)
        elif name == "multiply" and _is_repeated(right, result):
            result = _repeated(frame, right[0], result)
        else:
            try:
                result = binary(context, name, result, right)
            except CompileError as error:
                _note_operands(frame, error, [(part.left, result), (part.right, right)])
                raise
    return result


def _is_repeated(value: Any, count: Any) -> bool:
    """Whether a list of one number, or of None, is repeated by an int of run time."""
    if type(value) is not list or len(value) != 1 or not isinstance(count, Value) or count.type != WEAK_INT:
        return False
    if isinstance(value[0], Value):
        return not shape_of(value[0].type)
    return value[0] is None or isinstance(value[0], (bool, int, float, complex, np.generic))


def elements(frame: Frame, parts: Sequence[ast.expr], perhaps: bool = False, called: Any = None) -> list[Any]:
    """The values of expressions, some with a star; they may be the arguments of what is `called`."""
    out: list[Any] = []
    for part in parts:
        if isinstance(part, ast.Starred):
            value = evaluate(frame, part.value)
            if value is None or is_number(value) or (isinstance(value, Value) and not is_array(value)):
                # Python makes a list of several arguments before it looks at what is called.
                what = "Value" if called is None or len(parts) > 1 else f"{_call_text(called)} argument"
                text = f"{what} after * must be an iterable, not {type_name(value)}"
                raise raised(TypeError(text), frame.context.loc)
            out.extend(_iterate(frame, value, "*"))
        else:
            out.append(evaluate(frame, part, perhaps))
    return out


def key_of(frame: Frame, node: ast.expr) -> Any:
    """The value of what stands between brackets, of which no part is None by what a run does."""
    return tuple(elements(frame, node.elts)) if isinstance(node, ast.Tuple) else evaluate(frame, node)


def local_defaults(frame: Frame, node: FunctionNode) -> dict[str, Any]:
    """The default values of a nested function, evaluated where it is defined."""
    positional = (*node.args.posonlyargs, *node.args.args)
    with_default = positional[len(positional) - len(node.args.defaults) :]
    out = {a.arg: evaluate(frame, d) for a, d in zip(with_default, node.args.defaults, strict=True)}
    for parameter, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
        if default is not None:
            out[parameter.arg] = evaluate(frame, default)
    return out


# Assignment.


def assign(frame: Frame, target: ast.expr, value: Any, through_comprehensions: bool = False) -> None:
    """Bind a name, or several by unpacking, or change a member of a local list or dict or elements of an array.

    Raises
    ------
    UnsupportedError
        The target is an attribute or a name outside the function.
    """
    context = frame.context
    match target:
        case ast.Name(id=name):
            if isinstance(value, Value) and not value.name and value.inst is not None:
                value.name = name
            owner_of(frame, name, through_comprehensions).locals[name] = value
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            _unpack(frame, parts, value)
        case ast.Subscript(value=base_node, slice=key_node):
            base, key = evaluate(frame, base_node), key_of(frame, key_node)
            with _with_numbers(context, key):
                _assign_member(frame, base, key, value, ast.unparse(target))
        case ast.Attribute():
            _assign_attribute(frame, target, evaluate(frame, target.value), value)
        case ast.Starred():
            raise raised(SyntaxError("starred assignment target must be in a list or tuple"), context.loc)
