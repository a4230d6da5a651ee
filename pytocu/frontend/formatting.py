"""Texts: formatted strings, ``%`` and ``str.format``, of values known now, and of values of run time in an exception's words.

A text of an exception is Python's own when the exception is made.  While the program is read it has a mark for each value of
run time (`Shown`), which becomes a field of the sentence that the run fills in (`pytocu.sentences`).
"""

from __future__ import annotations

import ast
import operator
import re
import string
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from math import prod
from typing import Any

from pytocu.errors import UnsupportedError, raised
from pytocu.frontend.attribute_lookup import get_attribute
from pytocu.frontend.expressions import evaluate
from pytocu.frontend.frames import Frame, Shown, Text, is_marked, mark
from pytocu.frontend.indexing import subscript
from pytocu.frontend.operators import attempt, check_plain, compute
from pytocu.frontend.reshaping import ravel
from pytocu.frontend.values import Context, contains_dynamic, describe
from pytocu.ir.core import Value
from pytocu.ir.types import ArrayType, WeakType, element, scalar, shape_of, type_text


def formatted(frame: Frame, node: ast.JoinedStr) -> str:
    """The text of an f-string."""
    # The places of the parts differ between versions of Python; the whole text's does not.
    parts = node.values
    return "".join(_format(frame, p) if isinstance(p, ast.FormattedValue) else evaluate(frame, p) for p in parts)


@contextmanager
def showing(context: Context) -> Iterator[list[Shown]]:
    """Read the text of an exception; gives what it shows of a run."""
    shown: list[Shown] = []
    saved, context.in_message = context.in_message, shown
    try:
        yield shown
    finally:
        context.in_message = saved


def sentence(frame: Frame, node: ast.expr) -> Any:
    """A text that a name is given, which may show values of run time as long as only exceptions say it."""
    with showing(frame.context) as shown:
        made = evaluate(frame, node)
    if not isinstance(made, str) or not is_marked(made):
        return made
    return Text(made, shown, UnsupportedError(_NO_TEXT, frame.loc(node), _WAY_OUT))


_NO_TEXT = "a string cannot show a value known only at run time"
_WAY_OUT = "return the value itself, or format it outside"
_SHOWN = f"{_WAY_OUT}; an exception shows the shape, or elements: x[0]"


def percent(frame: Frame, text: Any, values: Any) -> Any:
    """``text % values``."""
    context = frame.context
    if not contains_dynamic(values) or not isinstance(text, str):
        if contains_dynamic(values):
            raise UnsupportedError(_NO_TEXT, context.loc, "format it outside")
        return compute(context, lambda text, values: text % values, text, values)
    if context.in_message is None:
        raise UnsupportedError(_NO_TEXT, context.loc, "format it outside")
    members = iter(values if isinstance(values, tuple) else (values,))

    def following() -> Any:
        try:
            return next(members)
        except StopIteration:
            raise raised(TypeError("not enough arguments for format string"), context.loc) from None

    def conversion(found: re.Match[str]) -> str:
        name, start, kind = found["name"], found["start"], found["kind"]
        if kind == "%":
            return "%"
        for _ in range(start.count("*")):
            start = start.replace("*", str(_known(context, following())), 1)
        value = following() if name is None else attempt(context, operator.getitem, values, name)
        if contains_dynamic(value):
            short = kind in "di" and start == "" and isinstance(value, Value) and value.type == WeakType("int")
            return _marked(context, value, "" if short else f" %{start}{kind}")
        _refuse_cut(context, value, start)
        check_plain(context, value, "the text")
        return attempt(context, lambda: f"%{start}{kind}" % (value,))

    made = _CONVERSION.sub(conversion, text)
    if not isinstance(values, dict) and next(members, members) is not members:
        raise raised(TypeError("not all arguments converted during string formatting"), context.loc)
    return made


_CONVERSION = re.compile(
    r"%(?:\((?P<name>[^)]*)\))?(?P<start>[#0\- +]*(?:\*|\d+)?(?:\.(?:\*|\d*))?)[hlL]?(?P<kind>.)", re.DOTALL
)


def text_of(frame: Frame, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """What ``str.format``, ``format``, ``str`` and ``repr`` make of run-time values in an exception's sentence.

    Raises
    ------
    UnsupportedError
        It is no such sentence.
    """
    context = frame.context
    if context.in_message is None:
        raise UnsupportedError(_NO_TEXT, context.loc, _WAY_OUT)
    if function in (str, repr, format):
        value, *specs = args
        if kwargs or len(specs) > (function is format):
            raise UnsupportedError(_NO_TEXT, context.loc, _WAY_OUT)
        if function is format:
            spec = _known(context, specs[0]) if specs else ""
            return _marked(context, value, f":{spec}" if spec else "")
        return _marked(context, value, "!s" if function is str else "!r")
    given = [_Given(frame, v) if contains_dynamic(v) else v for v in args]
    named = {key: _Given(frame, v) if contains_dynamic(v) else v for key, v in kwargs.items()}
    count = len(context.in_message)
    # Where a field is wrong, str.format says so in other words than string.Formatter.
    attempt(context, function, *given, **named)
    del context.in_message[count:]
    return attempt(context, _Fields(context).vformat, function.__self__, given, named)


def exception_of(context: Context, kind: type[Exception], args: Sequence[Any]) -> Exception:
    """An exception that is raised, of values of run time.

    Raises
    ------
    UnsupportedError
        It is not raised where it is made.
    """
    if context.in_message is None:
        text = f"a {kind.__name__} that shows a value known only at run time is made, and not raised where it is made"
        raise UnsupportedError(text, context.loc, "write it in the raise statement")
    return attempt(context, kind, *(_Marks(context, a) if contains_dynamic(a) else a for a in args))


class _Marks:
    """A run-time value that an exception is given, by its texts."""

    def __init__(self, context: Context, value: Any):
        self._str, self._repr = _marked(context, value, "!s"), _marked(context, value, "!r")

    def __str__(self) -> str:
        return self._str

    def __repr__(self) -> str:
        return self._repr


class _Given:
    """A run-time value that ``str.format`` is given, and how it is converted; parts of it may be asked for."""

    def __init__(self, frame: Frame, value: Any, how: str = ""):
        self._frame, self._value, self._how = frame, value, how

    def __getattr__(self, name: str) -> Any:
        return self._part(get_attribute(self._frame, self._value, name))

    def __getitem__(self, key: Any) -> Any:
        value = self._value
        return self._part(subscript(self._frame.context, value, key) if isinstance(value, Value) else value[key])

    def _part(self, value: Any) -> Any:
        return _Given(self._frame, value) if contains_dynamic(value) else value

    def converted(self, how: str) -> Any:
        """The value behind ``!r``."""
        return _Given(self._frame, self._value, f"!{how}")

    def __format__(self, spec: str) -> str:
        return _marked(self._frame.context, self._value, f"{self._how}:{spec}" if spec else self._how)


class _Fields(string.Formatter):
    """``str.format`` with marks for values of run time."""

    def __init__(self, context: Context):
        self._context = context

    def convert_field(self, value: Any, conversion: Any) -> Any:
        if conversion and isinstance(value, _Given):
            return value.converted(conversion)
        return super().convert_field(value, conversion)

    def format_field(self, value: Any, format_spec: str) -> str:
        if not isinstance(value, _Given):
            check_plain(self._context, value, "the text")
            _refuse_cut(self._context, value, format_spec)
        return super().format_field(value, format_spec)


def _format(frame: Frame, node: ast.FormattedValue) -> str:
    context = frame.context
    value = evaluate(frame, node.value)
    spec = "" if node.format_spec is None else evaluate(frame, node.format_spec)
    if contains_dynamic(value):
        if context.in_message is None:
            raise UnsupportedError(
                f"a string cannot show {describe(value)}, which is known only at run time",
                context.loc,
                _WAY_OUT,
            )
        conversion = f"!{chr(node.conversion)}" if node.conversion > 0 else ""
        return _marked(context, value, conversion + (f":{spec}" if spec else ""))
    check_plain(context, value, "the text")
    _refuse_cut(context, value, spec)
    convert: Callable[..., Any] = {ord("r"): repr, ord("s"): str, ord("a"): ascii}.get(node.conversion, lambda v: v)
    return compute(context, lambda v, spec: format(convert(v), spec), value, spec)


def _known(context: Context, value: Any) -> Any:
    """How a value is shown, which a field of a sentence states."""
    if contains_dynamic(value):
        raise UnsupportedError("how a text shows a value is known only at run time", context.loc, "write the format as text")
    return value


def _refuse_cut(context: Context, value: Any, spec: str) -> None:
    """A text with marks is as long as it is when the exception is made."""
    if spec and isinstance(value, str) and is_marked(value):
        text = "a text that shows a value known only at run time is brought to a length"
        raise UnsupportedError(text, context.loc, "give the format to the value itself: f'{x:>10}'")


def _marked(context: Context, value: Any, how: str) -> str:
    """The mark of a run-time value in the text of an exception."""
    assert context.in_message is not None
    if how.partition(":")[2].count("{") or "}" in how:
        raise UnsupportedError("a text is filled with braces", context.loc, "use another character")
    values: list[Value] = []
    try:
        shown = Shown(_form(context, value, values), tuple(values), how)
    except UnsupportedError as error:
        shown = Shown("", (value,) if isinstance(value, Value) else (), how, error)
    context.in_message.append(shown)
    return mark(len(context.in_message) - 1)


_LARGEST = 16
"""Elements of an array that a text shows."""


def _form(context: Context, value: Any, values: list[Value]) -> str:
    """How a value is made of scalars, which are added to `values`.

    Raises
    ------
    UnsupportedError
        It is an array whose length is known only at run time, or of many elements, or something else that no text shows.
    """
    if isinstance(value, Value) and isinstance(value.type, WeakType):
        values.append(value)
        return "@"
    if isinstance(value, Value):
        if not isinstance(value.type, ArrayType):
            values.append(value)
            return "@"
        lengths, dtype = shape_of(value.type), element(value.type)
        known = [n for n in lengths if isinstance(n, int)]
        if len(known) == len(lengths) and prod(known) <= _LARGEST:
            flat = ravel(context, value)
            for k in range(prod(known)):
                member = context.builder.emit("index", (flat,), {"axis": 0, "at": k})
                values.append(context.builder.emit("cast", (member,), {}, (scalar(dtype),)))
            return f"array/{','.join(map(str, known))} {dtype.numpy.name}{' @' * prod(known)}"
        text = f"a string cannot show an array ({type_text(value.type)}) that is known only at run time"
        raise UnsupportedError(text, context.loc, _SHOWN)
    if type(value) in (tuple, list):
        return " ".join([f"{type(value).__name__}/{len(value)}", *(_form(context, v, values) for v in value)])
    if type(value) is dict:
        parts = [_form(context, part, values) for item in value.items() for part in item]
        return " ".join([f"dict/{len(value)}", *parts])
    if contains_dynamic(value):
        text = f"a string cannot show {describe(value)}, which is known only at run time"
        raise UnsupportedError(text, context.loc, _SHOWN)
    check_plain(context, value, "the text")
    return f"known/{repr(value).encode().hex()}"
