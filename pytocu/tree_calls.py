"""Calls whose arguments hold arrays, where arguments came that hold theirs in the same way.

For each way a function is written that sees that arguments hold what they held before, and calls the function of the parts.
It looks at what :func:`pytocu.trees.take_apart` would look at, and leaves every other call to whoever makes calls without it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pytocu.errors import CompileError
from pytocu.trees import Changed, Tree, Trees, is_apart, is_tree, settle

_KEYS = (str, int, bool, bytes)
"""Classes of keys that are equal where their values are."""


def write_call(
    trees: Trees,
    values: Sequence[Any],
    static: frozenset[str],
    call: Callable[..., Any],
    other: Callable[..., Any],
    reword: Callable[[CompileError], None],
) -> Callable[..., Any] | None:
    """The function for arguments that hold others as these do; None where what they hold is not told apart by classes and keys.

    Parameters
    ----------
    trees : Trees
        How `values` hold others.
    values : sequence
        The arguments.
    static : set of str
        Parameters that are not taken apart.
    call : callable
        The function of the parts.
    other : callable
        Makes the other calls, of arguments of the same classes.
    reword : callable
        Changes an error, so that it names what the caller wrote.

    Examples
    --------
    >>> from pytocu.trees import take_apart
    >>> import numpy as np
    >>> pair = ([np.ones(2), 3.0],)
    >>> trees, _ = take_apart(("p",), pair, frozenset())
    >>> made = write_call(trees, pair, frozenset(), lambda x, k: x * k, lambda p: "another list", str)
    >>> made(*pair), made([np.ones(2)])
    (array([3., 3.]), 'another list')
    """
    writer = _Writer(len(values))
    for number, ((name, tree), value) in enumerate(zip(trees, values, strict=True)):
        if isinstance(tree, Tree):
            if not writer.holder(f"a{number}", tree, value):
                return None
        else:
            writer.parts.append(f"a{number}")
            if is_tree(value) and name not in static:
                writer.need(f"not is_apart(a{number})")
    names = writer.names | {
        "call": call, "other": other, "reword": reword, "trees": trees, "is_apart": is_apart, "settle": settle,
        "Changed": Changed, "Error": CompileError,
    }  # fmt: skip
    exec(compile(writer.text(), "<pytocu arguments>", "exec"), names)
    return names["way"]


class _Writer:
    def __init__(self, count: int):
        self.listed = ", ".join(f"a{n}" for n in range(count))
        self.lines: list[str] = []
        self.parts: list[str] = []
        self.names: dict[str, Any] = {}
        self.holders: list[tuple[str, type]] = []

    def need(self, *conditions: str) -> None:
        if conditions:
            self.lines.append(f"    if not ({' and '.join(conditions)}): return other({self.listed})")

    def known(self, value: Any) -> str:
        name = f"c{len(self.names)}"
        self.names[name] = value
        return name

    def holder(self, at: str, tree: Tree, value: Any) -> bool:
        """Look at one that holds others, and take it apart."""
        kind = tree.kind
        if tree.same is not None:
            return False
        members = [f"{at}_{n}" for n in range(len(tree.keys))]
        listed = f"[{', '.join(members)}]"
        # Two are two objects: what is changed in one is not changed in the other.
        self.need(f"type({at}) is {self.known(kind)}", *(f"{at} is not {h}" for h, k in self.holders if k is kind))
        if kind is dict:
            if not all(c in _KEYS for c in tree.classes):
                return False
            self.need(f"len({at}) == {len(members)}")
            keys = [f"{m}k" for m in members]
            self.lines += [f"    [{', '.join(keys)}] = {at}", f"    {listed} = {at}.values()"]
            self.need(*self._equal(keys, tree))
        elif kind is list or issubclass(kind, tuple):
            self.need(f"len({at}) == {len(members)}")
            self.lines.append(f"    {listed} = {at}")
        elif {*getattr(value, "__dict__", ())} == {*tree.keys} and {*tree.keys} <= kind.__dataclass_fields__.keys():
            self.need(f"{at}.__dict__.keys() == {self.known(frozenset(tree.keys))}")
            self.lines += [f"    {member} = {at}.{name}" for member, name in zip(members, tree.keys, strict=True)]
        elif not hasattr(value, "__dict__") and tree.keys == tuple(field.name for field in dataclasses.fields(value)):
            read = "; ".join(f"{member} = {at}.{name}" for member, name in zip(members, tree.keys, strict=True))
            self.lines += ["    try:", f"        {read}", f"    except AttributeError: return other({self.listed})"]
        else:
            return False
        for member, inside, held in zip(members, tree.members, _members(tree, value), strict=True):
            if isinstance(inside, Tree):
                if not self.holder(member, inside, held):
                    return False
                continue
            self.parts.append(member)
            self.need(f"not is_apart({member})" if is_tree(held) else f"type({member}) is {self.known(type(held))}")
        self.holders.append((at, kind))
        return True

    def _equal(self, keys: Sequence[str], tree: Tree) -> Iterator[str]:
        for key, wanted, kind in zip(keys, tree.keys, tree.classes, strict=True):
            known = self.known(wanted)
            yield f"({key} is {known} or (type({key}) is {self.known(kind)} and {key} == {known}))"

    def text(self) -> str:
        return "\n".join([
            f"def way({self.listed}):",
            *self.lines,
            "    try:",
            f"        found = call({', '.join(self.parts)})",
            "    except Error as error:",
            "        reword(error)",
            "        raise",
            f"    return settle(found, trees, [{self.listed}]) if type(found) is Changed else found",
        ])  # fmt: skip


def _members(tree: Tree, value: Any) -> Sequence[Any]:
    if tree.kind is dict:
        return tuple(value.values())
    return tuple(value) if issubclass(tree.kind, (tuple, list)) else [getattr(value, name) for name in tree.keys]


__all__ = ["write_call"]
