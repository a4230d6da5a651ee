"""Arguments that hold arrays, as text: ``(f32[n], [f32, f32[n]], {'w': f32[n, m]}, State(u=f32[n], v=f32[n]))``.

It is Python's notation, with a type or whatever else the caller reads in place of each value.  A class is named
as in the module of the function, or as ``module:Class``.
"""

from __future__ import annotations

import ast
import dataclasses
import functools
import re
import sys
from collections.abc import Callable, Iterator
from typing import Any

from pytocu.errors import closest
from pytocu.trees import Tree, made, take_apart, written

Leaf = Callable[[str, str], Any]
"""What a text that holds no other stands for; the second text is its place, as ``p['w'][0]``."""

Named = Callable[[str], Any]
"""What a name of the module of a function is bound to.

Raises
------
LookupError
    To nothing; the message is the nearest name, or empty.
"""

_CALL = re.compile(r"(?P<name>[A-Za-z_][\w.:]*)\s*\(")
_CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}


class TreeTextError(ValueError):
    """A text is no argument; the message begins with the place."""


def is_tree_text(text: str) -> bool:
    """Whether a text is one of an argument that holds others.

    Examples
    --------
    >>> [is_tree_text(t) for t in ("(f32[n],)", "State(u=f32)", "f32[n]", "weak int")]
    [True, True, False, False]
    """
    return text.lstrip()[:1] in ("(", "[", "{") or _CALL.match(text.lstrip()) is not None


def read_tree(text: str, place: str, leaf: Leaf, named: Named) -> Any:
    """The argument that a text states.

    Parameters
    ----------
    text : str
    place : str
        The name of the argument, for messages.
    leaf : callable
        Reads what is no tuple, list, dict, object, string or None; a ValueError of it lets the module's name be looked for.
    named : callable
        Finds classes and functions.

    Raises
    ------
    TreeTextError
        It states none.

    Examples
    --------
    >>> read_tree("(one, {'k': [two]})", "p", lambda text, place: (text, place), vars)
    (('one', 'p[0]'), {'k': [('two', "p[1]['k'][0]")]})
    """
    text = text.strip()
    call = _CALL.match(text)
    if call is None and text[:1] not in ("(", "[", "{"):
        return _value(text, place, leaf, named)
    start = 0 if call is None else call.end() - 1
    inner = _inside(text, start, place)
    items = [] if not inner.strip() else split_items(inner)
    if items and not items[-1]:
        items.pop()
    if not all(items):
        raise TreeTextError(f"{place}: in {text!r} nothing stands before a comma")
    if call is not None:
        return _object(call["name"], items, place, leaf, named)
    if text[0] == "{":
        return dict(_items_of_dict(items, place, leaf, named))
    if text[0] == "(" and len(items) == 1 and not inner.rstrip().endswith(","):
        raise TreeTextError(f"{place}: {text!r} is no tuple: a tuple of one is written ({items[0]},)")
    members = [read_tree(item, f"{place}[{number}]", leaf, named) for number, item in enumerate(items)]
    return tuple(members) if text[0] == "(" else members


def read_argument(text: str, place: str, leaf: Leaf, named: Named) -> Any:
    """The types of an argument that holds arrays; see :func:`read_tree`.

    Raises
    ------
    TreeTextError
        It holds none, or a part of it that holds none states types: such a part is known while compiling.
    """
    types: list[Any] = []

    def read(text: str, place: str) -> Any:
        types.append(leaf(text, place))
        return types[-1]

    tree = read_tree(text, place, read, named)
    apart = take_apart((place,), (tree,), frozenset())
    if apart is None:
        known = "known while compiling: give its value as a static argument, --static on a command line"
        raise TreeTextError(f"{place}: {text} holds no array, so it is {known}")
    parts = sum(any(part is type for type in types) for part in apart[1])
    if parts < len(types):
        raise TreeTextError(f"{place}: in {text} a part that holds no array is known while compiling, and has no type")
    return tree


def names_in(function: Any) -> Named:
    """What names stand for in the module of a function, and in functions around it."""

    def named(name: str) -> Any:
        free = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        known = {**function.__globals__, **{n: cell.cell_contents for n, cell in free if _is_filled(cell)}}
        if name not in known:
            raise LookupError(closest(name, [n for n, v in known.items() if callable(v) and not n.startswith("__")]))
        return known[name]

    return named


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False


def name_of(found: Any, named: Named) -> str:
    """The name by which :func:`class_named` finds a class or a function.

    Raises
    ------
    TreeTextError
        There is none.
    """
    name = getattr(found, "__qualname__", "")
    for text in (name, f"{getattr(found, '__module__', '')}:{name}"):
        try:
            if class_named(text, named) is found:
                return text
        except LookupError:
            continue
    raise TreeTextError(f"{found!r} has no name")


def _value(text: str, place: str, leaf: Leaf, named: Named) -> Any:
    """What the caller reads, a text in quotes, None, or what a name of the module is bound to."""
    if text[:1] in ("'", '"') or text == "None":
        try:
            return ast.literal_eval(text)
        except (ValueError, SyntaxError):
            raise TreeTextError(f"{place}: {text} is no text in quotes") from None
    try:
        return leaf(text, place)
    except ValueError:
        if not re.fullmatch(r"[A-Za-z_][\w.]*(:\w[\w.]*)?", text):
            raise
        try:
            return class_named(text, named)
        except LookupError:
            pass
        raise


def _inside(text: str, start: int, place: str) -> str:
    """What stands between a bracket and the one that closes it, which ends the text."""
    open_ones: list[str] = []
    for position, char in _unquoted(text, place):
        if position < start:
            continue
        if char in _CLOSING:
            open_ones.append(_CLOSING[char])
        elif char in ")]}>":
            if char != open_ones.pop():
                raise TreeTextError(f"{place}: in {text!r} a bracket is closed by {char!r} that is none of its kind")
            if not open_ones:
                if rest := text[position + 1 :].strip():
                    raise TreeTextError(f"{place}: {rest!r} stands behind {text[: position + 1]!r}")
                return text[start + 1 : position]
    raise TreeTextError(f"{place}: in {text!r} the bracket {text[start]!r} is not closed")


def _unquoted(text: str, place: str = "") -> Iterator[tuple[int, str]]:
    """The characters outside strings, with their positions."""
    quote = ""
    skipped = False
    for position, char in enumerate(text):
        if not quote:
            quote = char if char in "'\"" else ""
            if not quote:
                yield position, char
        elif skipped:
            skipped = False
        else:
            skipped = char == "\\"
            quote = "" if char == quote else quote
    if quote and place:
        raise TreeTextError(f"{place}: in {text!r} a text in quotes has no end")


def split_items(text: str, separator: str = ",") -> list[str]:
    """The parts between separators that stand in no bracket and no string.

    Examples
    --------
    >>> split_items("f32[n, 3], {'a, b': f32}")
    ['f32[n, 3]', "{'a, b': f32}"]
    """
    depth = start = 0
    parts: list[str] = []
    for position, char in _unquoted(text):
        depth += (char in _CLOSING) - (char in ")]}>")
        if char == separator and not depth:
            parts.append(text[start:position].strip())
            start = position + 1
    return [*parts, text[start:].strip()]


def _items_of_dict(items: list[str], place: str, leaf: Leaf, named: Named) -> Iterator[tuple[Any, Any]]:
    seen: set[Any] = set()
    for item in items:
        text, *value = split_items(item, ":")
        if not value:
            raise TreeTextError(f"{place}: {item!r} is no item of a dict: write {{'name': f32[n]}}")
        try:
            key = ast.literal_eval(text)
            known = key in seen
        except (ValueError, SyntaxError, TypeError):
            quoted = f": write {text!r}" if text.isidentifier() else ""
            raise TreeTextError(f"{place}: {text} is no key of a dict that is written as a literal{quoted}") from None
        if known:
            raise TreeTextError(f"{place}: the key {text} stands twice")
        seen.add(key)
        yield key, read_tree(":".join(value), f"{place}[{key!r}]", leaf, named)


def _object(name: str, items: list[str], place: str, leaf: Leaf, named: Named) -> Any:
    kind = _class(name, place, named)
    fields = fields_of(kind)
    # What `__post_init__` sets has to be stated too, because it does not run.
    free = hasattr(kind, "__post_init__")
    values: dict[str, Any] = {}
    for number, item in enumerate(items):
        match = re.match(r"(\w+)\s*=(?!=)", item)
        if match is None and number >= len(fields):
            raise TreeTextError(f"{place}: {name} has {len(fields)} fields, {', '.join(fields)}, and {item!r} is one more")
        field, text = (list(fields)[number], item) if match is None else (match[1], item[match.end() :])
        if field in values:
            raise TreeTextError(f"{place}: {name} is given {field} twice")
        if field not in fields and not free:
            close = closest(field, fields)
            hint = f"did you mean {close}?" if close else f"it has {', '.join(fields)}"
            raise TreeTextError(f"{place}: {name} has no field {field!r}: {hint}")
        values[field] = read_tree(text, f"{place}.{field}", leaf, named)
    missing = [field for field, default in fields.items() if field not in values and default is None]
    if missing:
        raise TreeTextError(f"{place}: {name} needs {', '.join(missing)}: write {name}({missing[0]}=f32[n], ...)")
    values = {field: values[field] if field in values else fields[field]() for field in dict.fromkeys((*fields, *values))}
    return made(kind, tuple(values), list(values.values()))


def _class(name: str, place: str, named: Named) -> type:
    try:
        found = class_named(name, named)
    except LookupError as error:
        hint = f": did you mean {error.args[0]}?" if error.args and error.args[0] else ""
        raise TreeTextError(f"{place}: the module of the function has no class {name!r}{hint}") from None
    if not isinstance(found, type) or fields_of(found) is None:
        raise TreeTextError(f"{place}: {name} is no class of named tuples or dataclass objects")
    return found


def class_named(name: str, named: Named) -> Any:
    """What a name stands for: of the function's module, or ``module:Class``."""
    module, colon, inside = name.rpartition(":")
    first, *rest = (inside if colon else name).split(".")
    try:
        # Nothing is imported because a text names it.
        found = getattr(sys.modules[module], first) if colon else named(first)
        for part in rest:
            found = getattr(found, part)
    except (AttributeError, KeyError):
        raise LookupError("") from None
    return found


def fields_of(kind: type) -> Any:
    """What a class of named tuples or dataclass objects holds: what makes the default of each field, or None.

    None of another class.
    """
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        defaults = kind._field_defaults  # pyright: ignore[reportAttributeAccessIssue]
        names = kind._fields  # pyright: ignore[reportAttributeAccessIssue]
        return {n: functools.partial(defaults.get, n) if n in defaults else None for n in names}
    if not dataclasses.is_dataclass(kind):
        return None
    found: dict[str, Callable[[], Any] | None] = {}
    for field in dataclasses.fields(kind):
        makes = None if field.default_factory is dataclasses.MISSING else field.default_factory
        if field.default is not dataclasses.MISSING:
            found[field.name] = functools.partial(getattr, field, "default")
        elif makes is not None or field.init:
            found[field.name] = makes
    return found


def tree_text(tree: Tree | str, leaf: Callable[[str], str], name_of: Callable[[type], str]) -> str:
    """The text that :func:`read_tree` reads, with a text for each part.

    Parameters
    ----------
    tree : Tree or str
    leaf : callable
        The text of a part by its name.
    name_of : callable
        The name of a class.

    Raises
    ------
    TreeTextError
        A key of a dict has no literal.
    """
    return written(tree, leaf, _key, name_of)


def _key(key: Any) -> str:
    return literal_text(key, f"the key {key!r} of a dict")


def literal_text(value: Any, what: str = "") -> str:
    """The literal of a value.

    Raises
    ------
    TreeTextError
        It has none; the message begins with `what` it is, or with the value.

    Examples
    --------
    >>> literal_text(("a", 1))
    "('a', 1)"
    """
    text = repr(value)
    try:
        same = ast.literal_eval(text) == value
    except (ValueError, SyntaxError):
        same = False
    if not same:
        raise TreeTextError(f"{what or text} has no literal")
    return text


__all__ = [
    "Leaf", "Named", "TreeTextError", "is_tree_text", "literal_text", "name_of", "names_in", "read_argument", "read_tree",
    "split_items", "tree_text",
]  # fmt: skip
