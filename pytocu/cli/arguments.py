"""Functions and types as commands take them: ``FILE.py:FUNCTION``, ``--args``, ``--static``, ``--fastmath``."""

from __future__ import annotations

import argparse
import ast
import inspect
import re
from collections.abc import Sequence
from typing import Any

from pytocu.cli.load import load
from pytocu.cli.terminal import CommandError, nearest, suggestion
from pytocu.config import FASTMATH_FLAGS
from pytocu.ir.types import ALL_DTYPES, WEAK_ORDER, ArrayType, ScalarType, Type, WeakType, parse_type
from pytocu.jitted import JitFunction, jit
from pytocu.tree_text import Named, TreeTextError, is_tree_text, names_in, read_argument, split_items

Values = dict[str, Any]
"""Arguments by name."""

TYPES_HELP = "in order or by name: \"f32[n, 3], dt=weak float, p={'w': f32[n, m]}\""
TYPES = """\
types:
  bool i8 .. i64 u8 .. u64 f16 f32 f64 c64 c128, arrays of them as f32[n, 3] (append "; F" for column-major,
  "; S" for strided), and weak bool, weak int, weak float, weak complex for Python's scalars; tuples, lists and
  dicts of them as Python writes these, (f32[n], f32), {'w': f32[n, m], 'mode': 'sum'}, and named tuples and
  dataclass objects by their class, State(u=f32[n], v=f32[n])
"""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Declare what changes how the function is read."""
    parser.add_argument("--static", action="append", default=[], metavar="NAME=VALUE", help="a parameter known while compiling")
    parser.add_argument("--fastmath", nargs="?", const="all", metavar="FLAGS", help=f"of {','.join(FASTMATH_FLAGS)}; or all")


def prepared(place: str, static: Sequence[str], fastmath: str | None) -> tuple[JitFunction[..., Any], Values]:
    """The function at a place, jitted, and what is known of its arguments already.

    Raises
    ------
    CommandError
        There is no such function, parameter or flag.
    """
    found, bound = load(place)
    function = found if isinstance(found, JitFunction) else jit(found)
    values: Values = {}
    for name, value in map(_static, static):
        if name in values:
            raise CommandError(f"--static gives {name} twice")
        values[name] = value
    names = tuple(inspect.signature(function.__wrapped__).parameters)
    for name in values:
        if name not in names:
            raise CommandError(f"--static {name}: {function.__name__} has no such parameter{suggestion(name, names, 'it has')}")
    function = function._with(tuple(values), fastmath_of(fastmath))
    return function, {**dict(zip(names, bound, strict=False)), **values}


def arguments(function: JitFunction[..., Any], known: Values, text: str) -> tuple[tuple[Any, ...], Values]:
    """Positional and keyword arguments from what is known and the types in a text.

    Raises
    ------
    CommandError
        The text names no types, or too few or too many.
    """
    signature = inspect.signature(function.__wrapped__)
    names = tuple(signature.parameters)
    many = next((p for p in signature.parameters.values() if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD)), None)
    if many is not None:
        raise CommandError(f"{function.__name__}{signature} takes any number of arguments ({many}): name each parameter")
    values = {**_types(text, tuple(n for n in names if n not in known), names_in(function._function)), **known}
    missing = [p.name for p in signature.parameters.values() if p.name not in values and p.default is p.empty]
    if missing:
        shown = f"{function.__name__}({', '.join(names)})"
        raise CommandError(f'{shown} needs a type for {", ".join(missing)}: write --args "f32[n], ..."')
    # In the order of the signature, because some parameters take no keyword.
    bound = signature.bind_partial()
    bound.arguments.update({n: values[n] for n in names if n in values})
    return bound.args, bound.kwargs


def _types(text: str, names: tuple[str, ...], named: Named) -> Values:
    """Types by parameter from ``f32[n, 3], dt=weak float``, and tuples, lists, dicts and objects of them."""
    positional = 0
    found: Values = {}
    for part in split_items(text) if text.strip() else []:
        match = re.match(r"(\w+)\s*=\s*", part)
        if match is None and positional >= len(names):
            raise CommandError(f"--args has more types than parameters, which are {', '.join(names) or 'none'}")
        name = names[positional] if match is None else match[1]
        positional += match is None
        if name not in names:
            raise CommandError(f"--args: there is no parameter {name!r}{suggestion(name, names)}")
        if name in found:
            raise CommandError(f"--args gives {name} twice")
        try:
            found[name] = _stated(part[match.end() if match else 0 :], name, named)
        except TreeTextError as error:
            raise CommandError(f"--args, {error}") from None
    return found


def _stated(text: str, name: str, named: Named) -> Any:
    """A type, or what holds some; None is itself, as in a call."""
    if text.strip() == "None":
        return None
    if not is_tree_text(text) or _is_literal(text):
        return _type(text, name)
    return read_argument(text, name, _type, named)


def _is_literal(text: str) -> bool:
    try:
        ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return False
    return True


_TYPE_NAMES = (
    *(d.name for d in ALL_DTYPES),
    *(d.numpy.name for d in ALL_DTYPES),
    *(f"weak {kind}" for kind in WEAK_ORDER),
)


def _type(text: str, place: str) -> Type:
    try:
        found = parse_type(text)
    except ValueError as error:
        raise TreeTextError(f"{place}: {_no_type(text, place) or error}") from None
    if not isinstance(found, ArrayType | ScalarType | WeakType):
        raise TreeTextError(f"{place}: {text!r} is a type inside kernels: arguments are arrays, f32[n], or scalars, f32")
    return found


def _no_type(text: str, place: str) -> str:
    """What a text is that is no type, where that can be told: a value, or a misspelled dtype."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        word, bracket, rest = text.partition("[")
        known = word.strip() in _TYPE_NAMES or not re.fullmatch(r"[\w. ]+", word)
        close = "" if known else nearest(word.strip(), _TYPE_NAMES)
        return f"{text!r} is not a type{close[:-1]}{bracket}{rest}?" if close else ""
    weak = f"write its type, weak {type(value).__name__}" if type(value).__name__ in WEAK_ORDER else ""
    if not place.isidentifier():
        return f"{text} is a value: {weak or 'write the types of what it holds'}"
    known = f"--static {place}={text} where it is known while compiling"
    return f"{text} is a value: {weak}, or {known}" if weak else f"{text} is a value: write {known}"


def _static(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals or not name.strip().isidentifier():
        raise CommandError(f"--static {text!r}: write NAME=VALUE")
    try:
        return name.strip(), ast.literal_eval(value.strip())
    except (ValueError, SyntaxError):
        quoted = f"{name}=\"'text'\""
        raise CommandError(f"--static {text!r}: the value is no Python literal; strings are quoted: {quoted}") from None


def fastmath_of(text: str | None) -> tuple[str, ...] | None:
    """The flags of ``--fastmath``; None where it is not given.

    Raises
    ------
    CommandError
        There is no such flag.
    """
    if text is None or text == "all":
        return None if text is None else FASTMATH_FLAGS
    flags = tuple(f.strip() for f in text.split(","))
    if "" in flags:
        raise CommandError(f"--fastmath {text!r} has an empty flag: choose from {', '.join(FASTMATH_FLAGS)}")
    for flag in flags:
        if flag not in FASTMATH_FLAGS:
            raise CommandError(f"--fastmath {flag}{suggestion(flag, FASTMATH_FLAGS)}")
    return flags
