"""Texts: formatted strings and ``%``, of values known now, and of ints of run time in an exception's sentence."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from pytocu.errors import UnsupportedError
from pytocu.frontend.expressions import evaluate
from pytocu.frontend.frames import Frame
from pytocu.frontend.operators import check_plain, compute
from pytocu.frontend.raising import mark
from pytocu.frontend.values import Context, contains_dynamic, describe
from pytocu.ir.core import Value
from pytocu.ir.types import WEAK_INT


def formatted(frame: Frame, node: ast.JoinedStr) -> str:
    """The text of an f-string."""
    # The places of the parts differ between versions of Python; the whole text's does not.
    parts = node.values
    return "".join(_format(frame, p) if isinstance(p, ast.FormattedValue) else evaluate(frame, p) for p in parts)


def percent(frame: Frame, text: Any, values: Any) -> Any:
    """``text % values``."""
    context = frame.context
    if contains_dynamic(values) and context.in_message is not None and isinstance(text, str):
        # A run-time value is a text here.
        members = values if isinstance(values, tuple) else (values,)
        values = tuple(_shown(context, v, True) if contains_dynamic(v) else v for v in members)
        text = text.replace("%d", "%s").replace("%i", "%s")
    elif contains_dynamic(values):
        raise UnsupportedError("a string cannot show a value known only at run time", frame.context.loc, "format it outside")
    return compute(frame.context, lambda text, values: text % values, text, values)


def _format(frame: Frame, node: ast.FormattedValue) -> str:
    context = frame.context
    value = evaluate(frame, node.value)
    if contains_dynamic(value):
        if context.in_message is None:
            raise UnsupportedError(
                f"a string cannot show {describe(value)}, which is known only at run time",
                context.loc,
                "return the value itself, or format it outside",
            )
        return _shown(context, value, node.conversion < 0 and node.format_spec is None)
    check_plain(context, value, "the text")
    spec = "" if node.format_spec is None else evaluate(frame, node.format_spec)
    convert: Callable[..., Any] = {ord("r"): repr, ord("s"): str, ord("a"): ascii}.get(node.conversion, lambda v: v)
    return compute(context, lambda v, spec: format(convert(v), spec), value, spec)


def _shown(context: Context, value: Any, plain: bool) -> str:
    """A run-time value in the text of an exception."""
    if isinstance(value, Value) and value.type == WEAK_INT and context.in_message is not None and plain:
        context.in_message.append(value)
        return mark(len(context.in_message) - 1)
    if type(value) is tuple and plain:
        members = [_shown(context, v, True) if contains_dynamic(v) else repr(v) for v in value]
        return f"({', '.join(members)}{',' * (len(members) == 1)})"
    return f"<{value.type}>" if isinstance(value, Value) else "<run-time values>"
