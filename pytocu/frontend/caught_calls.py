"""Library calls in a ``try`` whose clause catches what they may raise, as ``except np.linalg.LinAlgError``.

Such a call says besides whether it did its matrices.  It is read in front of its statement, then a ``raise`` where it did not,
which is a side that leaves as any other, and then the statement with what the call gave.
"""

from __future__ import annotations

import ast
import copy
import functools
from typing import Any

import numpy as np

from pytocu.errors import failure
from pytocu.frontend.expressions import evaluate
from pytocu.frontend.flags import both
from pytocu.frontend.frames import Frame
from pytocu.frontend.trying import catching
from pytocu.frontend.values import Context

_SAID = {
    "solve": "Singular matrix",
    "inv": "Singular matrix",
    "cholesky": "Matrix is not positive definite",
}
"""NumPy's sentences where these functions raise."""

_MADE, _DONE, _ERROR = "what {} gives", "whether {} did it", "what {} raises"
"""What no name of the program is called."""

_LATER = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.IfExp, ast.BoolOp, ast.NamedExpr)
"""Expressions that are computed in part, or more than once."""


def apart(frame: Frame, node: ast.stmt) -> list[ast.stmt] | None:
    """The statements in place of one that has such a call, which is read here; None of others."""
    match node:
        case ast.Assign(value=value) | ast.AugAssign(value=value) | ast.Expr(value=value) | ast.Return(value=value):
            pass
        case ast.AnnAssign(value=value):
            pass
        case _:
            return None
    context = frame.context
    call = None if value is None else _first(frame, value)
    if call is None:
        return None
    name = _name(frame, call)
    trying = catching(context, failure("LinAlgError", "", (), context.loc), context.loc)
    if name is None or trying is None or trying.frame is not frame or context.elements is not None:
        return None
    known, context.catching = context.catching, (context.builder.depth, flags := [])
    try:
        frame.locals[_MADE.format(name)] = evaluate(frame, call)
    finally:
        context.catching = known
    frame.locals[_DONE.format(name)] = functools.reduce(functools.partial(both, context), flags)
    frame.locals[_ERROR.format(name)] = np.linalg.LinAlgError
    raises = ast.Raise(ast.Call(_read(_ERROR, name), [ast.Constant(_SAID[name])], []))
    checked = ast.If(ast.UnaryOp(ast.Not(), _read(_DONE, name)), [raises], [])
    for part in ast.walk(checked):
        ast.copy_location(part, call)
    return [checked, _with(node, call, ast.copy_location(_read(_MADE, name), call))]


def _read(form: str, name: str) -> ast.Name:
    return ast.Name(form.format(name), ast.Load())


def _with(node: ast.stmt, call: ast.Call, other: ast.expr) -> ast.stmt:
    """A statement with another expression in the place of a call."""
    return copy.deepcopy(node, {id(call): other})


def _first(frame: Frame, node: ast.expr) -> ast.Call | None:
    """The call of such a function before which nothing else is called than its operands, and functions of NumPy."""
    for part in _in_order(frame, node):
        if isinstance(part, ast.Call):
            if _name(frame, part) is not None:
                return part
            if not _is_numpys(frame.context, frame, part):
                return None
        elif isinstance(part, _LATER):
            return None
    return None


def _in_order(frame: Frame, node: ast.AST) -> list[ast.AST]:
    """The parts of an expression, each behind those that it is computed of, but for the operands of such a call."""
    if isinstance(node, _LATER) or (isinstance(node, ast.Call) and _name(frame, node) is not None):
        return [node]
    return [*(inner for part in ast.iter_child_nodes(node) for inner in _in_order(frame, part)), node]


def _name(frame: Frame, call: ast.Call) -> str | None:
    """The function's name, if a call is one of these."""
    match call.func:
        case ast.Attribute(attr=name) | ast.Name(id=name) if name in _SAID:
            found = _called(frame.context, frame, call)
            return name if found is getattr(np.linalg, name) else None
    return None


def _is_numpys(context: Context, frame: Frame, call: ast.Call) -> bool:
    """Whether a function is NumPy's, which changes nothing unless it is given an output."""
    if not isinstance(call.func, ast.Attribute | ast.Name) or any(word.arg in (None, "out") for word in call.keywords):
        return False
    found = _called(context, frame, call)
    module = getattr(found, "__module__", None) or type(found).__module__
    return callable(found) and str(module).partition(".")[0] == "numpy"


def _called(context: Context, frame: Frame, call: ast.Call) -> Any:
    with context.builder.nested():
        return evaluate(frame, call.func)


__all__ = ["apart"]
