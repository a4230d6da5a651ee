"""Augmented assignment: arrays and lists are changed in place, other values are bound again."""

from __future__ import annotations

import ast
import operator as python
from collections.abc import Callable
from typing import Any

import numpy as np

from pytocu.deferred import Deferred
from pytocu.errors import CompileError, UnsupportedError
from pytocu.frontend.builtin_calls import iterate, refuse_keys
from pytocu.frontend.calls import call
from pytocu.frontend.expressions import assign, evaluate, key_of
from pytocu.frontend.frames import Frame, lookup
from pytocu.frontend.inplace import augmented
from pytocu.frontend.masked import values
from pytocu.frontend.masked_work import change
from pytocu.frontend.notes import with_numbers
from pytocu.frontend.objects import NO_METHOD, may_have_methods, refuse_outside
from pytocu.frontend.operators import BINARY, attempt, binary, check_plain, example, is_queue
from pytocu.frontend.parts import assign_attribute, part_to_change
from pytocu.frontend.reductions import stand_in
from pytocu.frontend.reshaping import array_of
from pytocu.frontend.subscripts import assign_member, changed_member, index_arrays
from pytocu.frontend.values import Context, Flat, Grown, Masked, as_value, contains_dynamic, is_array
from pytocu.ir.core import Value

_binary_of_objects = Deferred("pytocu.frontend.special_methods", "binary_of_objects")
_in_own_words = Deferred("pytocu.frontend.own_words", "in_own_words")
_extend = Deferred("pytocu.frontend.extending", "extend")
_definite = Deferred("pytocu.frontend.perhaps", "definite")

_IN_PLACE: dict[type[ast.AST], Callable[[Any, Any], Any]] = {
    ast.Add: python.iadd,
    ast.Sub: python.isub,
    ast.Mult: python.imul,
    ast.Div: python.itruediv,
    ast.FloorDiv: python.ifloordiv,
    ast.Mod: python.imod,
    ast.Pow: python.ipow,
    ast.BitAnd: python.iand,
    ast.BitOr: python.ior,
    ast.BitXor: python.ixor,
    ast.LShift: python.ilshift,
    ast.RShift: python.irshift,
    ast.MatMult: python.imatmul,
}


def augment(frame: Frame, node: ast.AugAssign) -> None:
    """Run the statement."""
    context = frame.context
    operator = BINARY.get(type(node.op), "matmul")
    if isinstance(node.target, ast.Attribute):
        base = evaluate(frame, node.target.value)
        with context.builder.at(frame.loc(node.target)):
            old = part_to_change(frame, node.target, base, _symbol(node))
        assign_attribute(frame, node.target, base, _changed(frame, node, operator, old))
        return
    if isinstance(node.target, ast.Subscript):
        # The container and the key are evaluated once, for reading and for writing.
        base = evaluate(frame, node.target.value)
        place = key_of(frame, node.target.slice)
        with with_numbers(context, place):
            key = index_arrays(context, base, place)
        with context.builder.at(frame.loc(node.target)), with_numbers(context, place):
            old = changed_member(frame, base, key)
        new = _changed(frame, node, operator, _definite(context, old, ast.unparse(node.target)))
        if isinstance(base, Flat) or new is not old or not is_array(old) or _is_copy(context, base, old):
            with context.builder.at(frame.loc(node.target)):
                assign_member(frame, base, place, new, ast.unparse(node.target))
        return
    old = _old(frame, node.target)
    new = _changed(frame, node, operator, old)
    if new is not old:
        assign(frame, node.target, new)


def _is_copy(context: Context, base: Any, part: Value) -> bool:
    """Whether a part that was changed is to be put back: what positions and masks choose is a copy, and any of a scalar.

    So is a member of a tuple, which Python then refuses.
    """
    base = as_value(context, base) if isinstance(base, Masked | np.generic) else base
    if not isinstance(base, Value):
        return type(base) is tuple
    return not is_array(base) or context.builder.root(part) is not context.builder.root(base)


def _old(frame: Frame, target: ast.expr) -> Any:
    """What a name that is assigned to stands for now."""
    assert isinstance(target, ast.Name)
    with frame.context.builder.at(frame.loc(target)):
        return _definite(frame.context, lookup(frame, target.id), target.id)


def _changed(frame: Frame, node: ast.AugAssign, operator: str, old: Any) -> Any:
    """What the target holds after the operation: `old` itself where it is changed in place."""
    context = frame.context
    value = evaluate(frame, node.value)
    if isinstance(old, Masked):
        if operator != "matmul":
            return change(context, operator, old, value)
        old = as_value(context, old)
    value = values(context, value)
    if may_have_methods(old) or may_have_methods(value):
        found = _binary_of_objects(frame, operator, old, value, in_place=True)
        if found is not NO_METHOD:
            return found
    if operator == "matmul":
        return _product(frame, old, value)
    if is_array(old):
        try:
            return augmented(context, operator, old, value)
        except CompileError as error:
            if error.own_words:
                raise _in_own_words(context, error, _IN_PLACE[type(node.op)], (old, value), {}) from None
            raise
    if isinstance(old, Grown) and operator == "add":
        _extend(frame, old, value, "+=")
        return old
    if isinstance(old, (list, dict, set)):
        text = ast.unparse(node.target)
        symbol = _symbol(node)
        refuse_outside(context, old, f"{text} {symbol} ...")
        if not (isinstance(old, list) and operator == "add"):
            return _changed_by_python(context, _IN_PLACE[type(node.op)], old, value, symbol)
        if contains_dynamic(value):
            _extend(frame, old, value, symbol)
        else:
            old.extend(iterate(frame, value, symbol))
        return old
    try:
        return binary(context, operator, old, value)
    except CompileError as error:
        if isinstance(error, TypeError):
            # Python names the statement's own operator.
            raise _in_own_words(context, error, _IN_PLACE[type(node.op)], (old, value), {}) from None
        raise


def _changed_by_python(context: Context, function: Callable[..., Any], old: Any, value: Any, symbol: str) -> Any:
    """A list, dict or set that Python's operator changes.

    The members of a list and the values of a dict may be known only at run time: they are not compared.
    """
    plain = isinstance(value, (list, dict, set, frozenset, tuple)) or type(value) in (int, bool)
    compared = {list: value, dict: (), set: (old, value)}.get(type(old), value)
    if not plain or contains_dynamic(compared) or is_queue(context, old):
        raise UnsupportedError(f"a {type(old).__name__} changed by {symbol} is not compiled", context.loc, "build a new one")
    check_plain(context, value, symbol)
    attempt(context, function, old, value)
    if isinstance(old, dict):
        refuse_keys(context, old)
    return old


def _product(frame: Frame, old: Any, value: Any) -> Any:
    """``old @= value``; an array takes the product in place."""
    if not is_array(old):
        if not is_array(value) and not isinstance(value, (list, tuple)):
            # No number has this operator.
            attempt(frame.context, python.imatmul, *(example(v) if isinstance(v, Value) else v for v in (old, value)))
        return call(frame, np.matmul, (old, value), {})
    # With which dtypes and numbers of axes that is possible, NumPy says.
    attempt(frame.context, python.imatmul, stand_in(old), stand_in(array_of(frame.context, value)))
    return call(frame, np.matmul, (old, value), {"out": old})


def _symbol(node: ast.AugAssign) -> str:
    return ast.unparse(ast.AugAssign(ast.Name("a"), node.op, ast.Name("b"))).split()[1]
