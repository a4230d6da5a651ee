"""Arguments that hold arrays: tuples, named tuples, lists, dicts and dataclass objects, taken apart and put together.

A function that is called with one is a function of what these hold, for each way in which they hold it.  Where it returns one
of them, or changes what one holds, its result says so (`Given`, `Changed`), and `settle` does it.
"""

from __future__ import annotations

import ast
import dataclasses
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

from pytocu.errors import PytocuError, UnsupportedError
from pytocu.guards import is_array_like
from pytocu.record import Record

_DEEPEST = 30
"""How deep arguments hold others at most."""


class Tree(Record):
    """How an argument holds others.

    Attributes
    ----------
    kind : type
        ``tuple``, ``list``, ``dict``, or a class of named tuples or dataclass objects.
    keys : tuple
        Positions, keys or names of fields.
    classes : tuple of type
        Those of the keys: 1 and True are equal.
    members : tuple of Tree or str
        What is an argument of its own by its name.
    same : int or None
        Which of `holders` it is again, if it is one: then it states no members.
    """

    kind: type
    keys: tuple[Any, ...]
    classes: tuple[type, ...]
    members: tuple[Tree | str, ...]
    same: int | None = None


Layout: TypeAlias = "tuple[tuple[str, str], ...]"
"""Arguments that hold others by name, and how, as text."""

Trees: TypeAlias = "tuple[tuple[str, Tree | str], ...]"
"""The parameters of a function by name, each as a tree or as it is."""


def take_apart(names: Sequence[str], values: Sequence[Any], static: frozenset[str]) -> tuple[Trees, tuple[Any, ...]] | None:
    """How arguments hold others, and these; None where no argument holds an array, beside those that are `static`.

    Raises
    ------
    UnsupportedError
        One holds itself, or others too deep.

    Examples
    --------
    >>> import numpy as np
    >>> trees, values = take_apart(("p", "n"), ({"x": np.ones(2), "k": 2.0}, 3), frozenset())
    >>> list(part_names(trees)), values
    (['p_x', 'p_k', 'n'], (array([1., 1.]), 2.0, 3))
    """
    free = [name not in static for name in names]
    if not any(one and _holds_array(value) for one, value in zip(free, values, strict=True)):
        return None
    apart = [one and is_apart(value) for one, value in zip(free, values, strict=True)]
    parts: list[Any] = []
    taken = set(names)
    seen: dict[int, int] = {}
    trees: list[tuple[str, Tree | str]] = []
    for name, value, held in zip(names, values, apart, strict=True):
        trees.append((name, _apart(name, value, parts, taken, seen) if held else name))
        if not held:
            parts.append(value)
    return tuple(trees), tuple(parts)


def by_name(values: Mapping[str, Any], static: frozenset[str] = frozenset()) -> tuple[Trees, dict[str, Any]]:
    """How arguments hold others, and all that hold none by name; see :func:`take_apart`."""
    apart = take_apart(tuple(values), tuple(values.values()), static)
    trees, parts = apart or (tuple((name, name) for name in values), tuple(values.values()))
    return trees, dict(zip(part_names(trees), parts, strict=True))


def part_names(trees: Trees) -> Iterator[str]:
    """The names of what arguments hold, in order."""
    for _, tree in trees:
        yield from [tree] if isinstance(tree, str) else part_names(tuple(("", member) for member in tree.members))


def shown(trees: Trees) -> Layout:
    """The arguments that hold others, and how, for people.

    Examples
    --------
    >>> import numpy as np
    >>> shown(by_name({"p": {"x": np.ones(2), "k": (np.ones(2),)}, "n": 3})[0])
    (('p', "{'x': _, 'k': (_,)}"),)
    """
    return tuple((name, written(tree, lambda part: "_")) for name, tree in trees if not isinstance(tree, str))


def layout(trees: Trees) -> Layout:
    """What tells ways to hold arguments apart where the classes are not there: the names of the parts and of the classes.

    Examples
    --------
    >>> import numpy as np
    >>> layout(by_name({"p": [np.ones(2), 3], "n": 3})[0])
    (('p', '[p_0, p_1]'),)
    """
    return tuple((name, written(tree, str)) for name, tree in trees if not isinstance(tree, str))


def written(
    tree: Tree | str,
    leaf: Callable[[str], str],
    key: Callable[[Any], str] = repr,
    name: Callable[[type], str] = lambda kind: kind.__name__,
) -> str:
    """How an argument holds others, as Python writes it, with a text for each part, key and class."""
    if isinstance(tree, str):
        return leaf(tree)
    members = [written(member, leaf, key, name) for member in tree.members]
    if tree.same is not None:
        return f"again {tree.same}"
    if tree.kind is tuple:
        return f"({', '.join(members)}{',' if len(members) == 1 else ''})"
    if tree.kind is list:
        return f"[{', '.join(members)}]"
    if tree.kind is dict:
        return f"{{{', '.join(f'{key(k)}: {text}' for k, text in zip(tree.keys, members, strict=True))}}}"
    return f"{name(tree.kind)}({', '.join(f'{k}={text}' for k, text in zip(tree.keys, members, strict=True))})"


def as_written(text: str, trees: Trees) -> str:
    """A text in which what arguments hold is said as the function writes it, and not by the names of the parts.

    Examples
    --------
    >>> import numpy as np
    >>> as_written("argument p_x_0 is p_x_00", by_name({"p": {"x": [np.ones(2)]}})[0])
    "argument p['x'][0] is p_x_00"
    """
    places = dict(places_of(trees))
    return re.sub(r"\w+", lambda match: places.get(match[0], match[0]), text)


def places_of(trees: Trees) -> tuple[tuple[str, str], ...]:
    """The parts of arguments by name, and how the function writes each.

    Examples
    --------
    >>> import numpy as np
    >>> places_of(by_name({"p": {"x": [np.ones(2)]}, "n": 3})[0])
    (('p_x_0', "p['x'][0]"), ('n', 'n'))
    """
    return tuple(pair for name, tree in trees for pair in _places(name, tree))


def _places(place: str, tree: Tree | str) -> Iterator[tuple[str, str]]:
    if isinstance(tree, str):
        yield tree, place
        return
    for key, member in zip(tree.keys, tree.members, strict=True):
        inside = f"{place}[{key!r}]" if tree.kind in (tuple, list, dict) else f"{place}.{key}"
        yield from _places(inside, member)


def owner_of(trees: Trees, part: str) -> str:
    """The argument that holds a part."""
    return next(name for name, tree in trees if part in part_names(((name, tree),)))


def put_together(trees: Trees, parts: Mapping[str, Any], note: Callable[[Any], None]) -> dict[str, Any]:
    """The arguments made of their parts by name; `note` is called with each tuple, list, dict or object that is made."""
    made: list[Any] = []
    found = {name: _together(tree, parts, made) for name, tree in trees}
    for one in made:
        note(one)
    return found


def _apart(name: str, value: Any, parts: list[Any], taken: set[str], seen: dict[int, int], depth: int = 0) -> Tree:
    if depth > _DEEPEST:
        raise UnsupportedError(
            f"an argument holds itself, or others more than {_DEEPEST} deep", None, "pass the arrays as arguments of their own"
        )
    if id(value) in seen:
        return Tree(type(value), (), (), (), seen[id(value)])
    keys, members = members_of(value)
    inside: list[Tree | str] = []
    for key, member in zip(keys, members, strict=True):
        text = part = re.sub(r"\W", "_", f"{name}_{key}", flags=re.ASCII)
        number = 1
        while part in taken:
            number += 1
            part = f"{text}_{number}"
        taken.add(part)
        if is_apart(member):
            inside.append(_apart(part, member, parts, taken, seen, depth + 1))
        else:
            inside.append(part)
            parts.append(member)
    seen[id(value)] = len(seen)
    return Tree(type(value), keys, tuple(map(type, keys)), tuple(inside))


def _together(tree: Tree | str, parts: Mapping[str, Any], found: list[Any]) -> Any:
    if isinstance(tree, str):
        return parts[tree]
    if tree.same is not None:
        return found[tree.same]
    one = made(tree.kind, tree.keys, [_together(member, parts, found) for member in tree.members])
    found.append(one)
    return one


def holders(trees: Trees, values: Iterable[Any]) -> Iterator[Any]:
    """The tuples, lists, dicts and objects of arguments as :func:`put_together` makes them, inner ones before outer ones."""
    for (_, tree), value in zip(trees, values, strict=True):
        yield from _holders(tree, value)


def _holders(tree: Tree | str, value: Any) -> Iterator[Any]:
    if isinstance(tree, str) or tree.same is not None:
        return
    for member, inside in zip(tree.members, members_of(value)[1], strict=True):
        yield from _holders(member, inside)
    yield value


def _parts(trees: Trees, values: Iterable[Any]) -> Iterator[Any]:
    """What arguments hold, as :func:`take_apart` gives it."""
    for (_, tree), value in zip(trees, values, strict=True):
        if isinstance(tree, str):
            yield value
        elif tree.same is None:
            yield from _parts(tuple(("", member) for member in tree.members), members_of(value)[1])


def made(kind: type, keys: Sequence[Any], members: Sequence[Any]) -> Any:
    """A tuple, list, dict or object that holds members; what the class does when objects are made does not run."""
    if kind is list or kind is tuple:
        return kind(members)
    if kind is dict:
        return dict(zip(keys, members, strict=True))
    if issubclass(kind, tuple):
        return tuple.__new__(kind, members)
    found = object.__new__(kind)
    for name, member in zip(keys, members, strict=True):
        object.__setattr__(found, name, member)
    return found


class Made(tuple[Any, ...]):
    """An object of a class that a function returns, by the path of the class, the names of attributes and what these are."""

    _fields = ()

    @classmethod
    def _make(cls, members: Iterable[Any]) -> Any:
        path, names, *values = members
        module, _, rest = path.partition(":")
        kind: Any = sys.modules.get(module)
        for name in rest.split("."):
            kind = getattr(kind, name, None)
        if kind is None:
            raise PytocuError(f"results are of the class {path}, which is not loaded: import its module first")
        return made(kind, names, values)


class Given(tuple[Any, ...]):
    """One of the `holders`, by its number, as a function returns it.

    Or what a part holds that is known while compiling, or the part itself: by the number of the part and positions in it.
    """

    _fields = ()
    _make = classmethod(tuple.__new__)


class Placed(tuple[Any, ...]):
    """A number, and the list, dict or object that stands in a result under it for the first time."""

    _fields = ()
    _make = classmethod(tuple.__new__)


class Again(tuple[Any, ...]):
    """A list, dict or object that stands in a result before, by its number there."""

    _fields = ()
    _make = classmethod(tuple.__new__)


class After(tuple[Any, ...]):
    """Lists, dicts and objects that may stand in a result in several places, as a run decides, and then the result."""

    _fields = ()
    _make = classmethod(tuple.__new__)


class Shared(tuple[Any, ...]):
    """A result in which there are such."""

    _fields = ()

    @classmethod
    def _make(cls, members: Iterable[Any]) -> Any:
        (result,) = members
        return _settled(result, str, {})


class Changed(tuple[Any, ...]):
    """What a function returns, and then how `holders` change."""

    _fields = ()
    _make = classmethod(tuple.__new__)


class Change(tuple[Any, ...]):
    """The number of one of the `holders`, which members change or go (`spec_of`), and what is there in the end."""

    _fields = ()
    _make = classmethod(tuple.__new__)


def spec_of(changed: Sequence[Any], gone: Sequence[Any]) -> str:
    """Keys of members as text."""
    return repr((tuple(changed), tuple(gone)))


_read_spec = lru_cache(maxsize=256)(ast.literal_eval)


def settle(found: Any, trees: Trees, values: Sequence[Any]) -> Any:
    """What a function returns; what it changes among its arguments that hold others is changed.

    Examples
    --------
    >>> import numpy as np
    >>> p = {"k": 1, "x": np.ones(2)}
    >>> trees, _ = take_apart(("p",), (p,), frozenset())
    >>> found = Changed(((Given("0"), 5), Change(("0", spec_of(["k"], []), 2))))
    >>> settle(found, trees, (p,))[0] is p, p["k"]
    (True, 2)
    """
    if type(found) is not Changed:
        return found
    whole = [*holders(trees, values)]
    placed: dict[str, Any] = {}

    def given(place: str) -> Any:
        if place.isdigit():
            return whole[int(place)]
        number, *positions = _read_spec(place)
        one = [*_parts(trees, values)][number]
        for position in positions:
            one = members_of(one)[1][position]
        return one

    result, *changes = [_settled(part, given, placed) for part in found]
    for number, spec, *members in changes:
        owner: Any = whole[int(number)]
        changed, gone = _read_spec(spec)
        if isinstance(owner, dict):
            for key in gone:
                del owner[key]
            owner.update(zip(changed, members, strict=True))
        elif isinstance(owner, list):
            del owner[len(owner) - len(gone) :]
            for position, member in zip(changed, members, strict=True):
                owner[position : position + 1] = [member]
        else:
            for key in gone:
                object.__delattr__(owner, key)
            for key, member in zip(changed, members, strict=True):
                object.__setattr__(owner, key, member)
    return result


def _settled(value: Any, given: Callable[[str], Any], placed: dict[str, Any]) -> Any:
    kind = type(value)
    if kind is Given:
        return given(value[0])
    if kind is Again:
        return placed[value[0]]
    if kind is Placed:
        number, value = value
        placed[number] = value
    if kind is After:
        return [_settled(member, given, placed) for member in value][-1]
    if isinstance(value, list):
        value[:] = [_settled(member, given, placed) for member in value]
    elif isinstance(value, dict):
        value.update((key, _settled(member, given, placed)) for key, member in value.items())
    elif isinstance(value, tuple):
        return tuple.__new__(kind, [_settled(member, given, placed) for member in value])
    elif not is_array_like(value) and hasattr(value, "__dict__"):
        for name, member in vars(value).items():
            object.__setattr__(value, name, _settled(member, given, placed))
    return value


def members_of(value: Any) -> tuple[tuple[Any, ...], Sequence[Any]]:
    """The keys and members of a tuple, list, dict or dataclass object."""
    if isinstance(value, dict):
        return tuple(value), tuple(value.values())
    if isinstance(value, (tuple, list)):
        return getattr(type(value), "_fields", None) or tuple(range(len(value))), value
    # Beside the fields what `__post_init__` has set.
    fields = (field.name for field in dataclasses.fields(value) if hasattr(value, field.name))
    names = tuple(dict.fromkeys((*fields, *getattr(value, "__dict__", ()))))
    return names, [getattr(value, name) for name in names]


def is_tree(value: Any) -> bool:
    """Whether a value is a tuple, list, dict or dataclass object."""
    kind = type(value)
    if kind in (tuple, list, dict):
        return True
    return hasattr(kind, "_fields") if isinstance(value, tuple) else hasattr(kind, "__dataclass_fields__")


def is_apart(value: Any) -> bool:
    """Whether a value is taken apart beside others: what holds no array yet may do so in the end."""
    return _holds_array(value) or (type(value) in (list, dict) and not value)


def _holds_array(value: Any, depth: int = 0) -> bool:
    if depth > _DEEPEST or not is_tree(value) or is_array_like(value):
        return False
    return any(is_array_like(member) or _holds_array(member, depth + 1) for member in members_of(value)[1])
