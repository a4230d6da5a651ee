"""Texts: formatted strings, ``%`` and ``str.format``, of values known now, and of ints of run time in an exception's words."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from pytocu.errors import UnsupportedError
from pytocu.frontend.expressions import evaluate
from pytocu.frontend.frames import Frame, Text, mark
from pytocu.frontend.operators import attempt, check_plain, compute
from pytocu.frontend.values import Context, contains_dynamic, describe
from pytocu.ir.core import Value
from pytocu.ir.types import WEAK_INT


def formatted(frame: Frame, node: ast.JoinedStr) -> str:
    """The text of an f-string."""
    # The places of the parts differ between versions of Python; the whole text's does not.
    parts = node.values
    return "".join(_format(frame, p) if isinstance(p, ast.FormattedValue) else evaluate(frame, p) for p in parts)


def sentence(frame: Frame, node: ast.expr) -> Any:
    """A text that a name is given, which may show ints of run time as long as only exceptions say it."""
    context = frame.context
    shown = _Showing()
    saved, context.in_message = context.in_message, shown
    try:
        made = evaluate(frame, node)
    finally:
        context.in_message = saved
    if not isinstance(made, str) or not (shown or shown.types):
        return made
    return Text(made, shown, UnsupportedError(_NO_TEXT, frame.loc(node), _WAY_OUT))


class _Showing(list[Value]):
    """The ints of run time that a text shows; `types` where it shows something else by its type."""

    types = False


_NO_TEXT = "a string cannot show a value known only at run time"
_WAY_OUT = "return the value itself, or format it outside"


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


def text_of(context: Context, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """What ``str.format``, ``str`` and ``repr`` make of run-time values in an exception's sentence.

    Raises
    ------
    UnsupportedError
        It is no such sentence, or a field asks for a part of a run-time value.
    """
    if context.in_message is None:
        raise UnsupportedError(_NO_TEXT, context.loc, _WAY_OUT)
    if function in (str, repr):
        return _shown(context, args[0], True)
    given = [_Shown(context, v) if contains_dynamic(v) else v for v in args]
    named = {key: _Shown(context, v) if contains_dynamic(v) else v for key, v in kwargs.items()}
    for value in (*given, *named.values()):
        check_plain(context, None if isinstance(value, _Shown) else value, "the text")
    return attempt(context, function, *given, **named)


class _Shown:
    """A run-time value where ``str.format`` asks for its text."""

    def __init__(self, context: Context, value: Any):
        self._context, self._value = context, value

    def __format__(self, spec: str) -> str:
        return _shown(self._context, self._value, spec in ("", "d"))

    def __str__(self) -> str:
        return _shown(self._context, self._value, True)

    __repr__ = __str__

    def __getattr__(self, name: str) -> str:
        """The part of a value that a field asks for."""
        return "<run-time value>"

    def __getitem__(self, key: Any) -> str:
        return "<run-time value>"


def _format(frame: Frame, node: ast.FormattedValue) -> str:
    context = frame.context
    value = evaluate(frame, node.value)
    if contains_dynamic(value):
        if context.in_message is None:
            raise UnsupportedError(
                f"a string cannot show {describe(value)}, which is known only at run time",
                context.loc,
                _WAY_OUT,
            )
        return _shown(context, value, node.conversion < 0 and (node.format_spec is None or _spec(frame, node) == "d"))
    check_plain(context, value, "the text")
    spec = _spec(frame, node)
    convert: Callable[..., Any] = {ord("r"): repr, ord("s"): str, ord("a"): ascii}.get(node.conversion, lambda v: v)
    return compute(context, lambda v, spec: format(convert(v), spec), value, spec)


def _spec(frame: Frame, node: ast.FormattedValue) -> str:
    return "" if node.format_spec is None else evaluate(frame, node.format_spec)


def _shown(context: Context, value: Any, plain: bool) -> str:
    """A run-time value in the text of an exception."""
    if isinstance(value, Value) and value.type == WEAK_INT and context.in_message is not None and plain:
        context.in_message.append(value)
        return mark(len(context.in_message) - 1)
    if type(value) is tuple and plain:
        members = [_shown(context, v, True) if contains_dynamic(v) else repr(v) for v in value]
        return f"({', '.join(members)}{',' * (len(members) == 1)})"
    if isinstance(context.in_message, _Showing):
        context.in_message.types = True
    return f"<{value.type}>" if isinstance(value, Value) else "<run-time values>"
