"""Methods of lists whose length a run decides that move or look at all members, as the loops that they are.

Each is a piece of program in Python's own words, which is read where the list is used, in names that no program has.
"""

from __future__ import annotations

import ast
import copy
import functools
from collections.abc import Callable
from typing import Any

from pytocu.deferred import Deferred
from pytocu.errors import UnsupportedError
from pytocu.frontend.frames import Failing, Frame, Raised, lookup
from pytocu.frontend.operators import binary
from pytocu.frontend.raising import refuse_if
from pytocu.frontend.statements import run_block
from pytocu.frontend.type_texts import type_text
from pytocu.frontend.values import Grown, as_value
from pytocu.ir.core import Value
from pytocu.ir.types import ScalarType, WeakType, element

_member_of = Deferred("pytocu.frontend.grown", "member_of")

_INSERT = """
last = len(self)
place = index + last if index < 0 else index
place = 0 if place < 0 else last if place > last else place
self.append(value)
for k in range(last, place, -1):
    self[k] = self[k - 1]
self[place] = value
"""

_POP = """
if len(self) == 0:
    raise IndexError("pop from empty list")
place = index + len(self) if index < 0 else index
if place < 0 or place >= len(self):
    raise IndexError("pop index out of range")
found = self[place]
for k in range(place, len(self) - 1):
    self[k] = self[k + 1]
self.pop()
"""

_DELETE = """
place = index + len(self) if index < 0 else index
if place < 0 or place >= len(self):
    raise IndexError("list assignment index out of range")
for k in range(place, len(self) - 1):
    self[k] = self[k + 1]
self.pop()
"""

_FIND = """
found = -1
for k in range(len(self)):
    if found < 0 and self[k] == value:
        found = k
"""

_REMOVE = (
    _FIND
    + """
if found < 0:
    raise ValueError("list.remove(x): x not in list")
for k in range(found, len(self) - 1):
    self[k] = self[k + 1]
self.pop()
"""
)

_INDEX = (
    _FIND
    + """
if found < 0:
    raise ValueError(f"{{value{shown}}} is not in list")
"""
)

_CONTAINS = _FIND + "found = found >= 0"

_COUNT = """
found = 0
for k in range(len(self)):
    if self[k] == value:
        found += 1
"""

_REVERSE = """
for k in range(len(self) // 2):
    kept = self[k]
    self[k] = self[len(self) - 1 - k]
    self[len(self) - 1 - k] = kept
"""

_SORT = """
count = len(self)
width = 1
while width < count:
    for low in range(0, count, 2 * width):
        middle = low + width if low + width < count else count
        high = low + 2 * width if low + 2 * width < count else count
        i = low
        j = middle
        for k in range(low, high):
            if j >= high or (i < middle and not {after}):
                other[k] = self[i]
                i += 1
            else:
                other[k] = self[j]
                j += 1
    for k in range(count):
        self[k] = other[k]
    width = 2 * width
"""

_UNORDERED = """
found = 0
for k in range(len(self)):
    if self[k] != self[k]:
        found += 1
"""

_BUILTINS = {f.__name__: f for f in (len, range, IndexError, ValueError)}


@functools.lru_cache(maxsize=64)
def _parsed(source: str) -> tuple[tuple[ast.stmt, ...], frozenset[str]]:
    """The statements, whose names are none of a program's, and these names."""
    tree = ast.parse(source)
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    for node in names:
        node.id = _hidden(node.id)
    return tuple(tree.body), frozenset(node.id for node in names)


def _hidden(name: str) -> str:
    return f"the {name}"


def _run(frame: Frame, source: str, **given: Any) -> Any:
    """Read such a piece where the program stands; what `found` is then, if it is bound."""
    loc = frame.context.loc
    parsed, names = _parsed(source)
    # Other threads may read the same piece for another place of another program.
    body = copy.deepcopy(parsed)
    for statement in body:
        for part in ast.walk(statement):
            if isinstance(part, ast.expr | ast.stmt):
                part.lineno = part.end_lineno = loc.line
                part.col_offset, part.end_col_offset = loc.column - 1, max(loc.end_column, 1) - 1
    inner = frame.inside(names)
    inner.locals.update((_hidden(k), v) for k, v in {**_BUILTINS, **given}.items() if _hidden(k) in names)
    run_block(inner, list(body))
    frame.context.builder.loc = loc
    return lookup(inner, _hidden("found")) if _hidden("found") in inner.locals else None


def insert(frame: Frame, grown: Grown, index: Any, value: Any, /) -> None:
    """``list.insert``."""
    _run(frame, _INSERT, self=grown, index=index, value=value)


def remove(frame: Frame, grown: Grown, value: Any, /) -> None:
    """``list.remove``: the first member that is equal."""
    _run(frame, _REMOVE, self=grown, value=value)


def pop_at(frame: Frame, grown: Grown, index: Any) -> Any:
    """``list.pop`` of a place that is not the first or the last."""
    return _run(frame, _POP, self=grown, index=index)


def delete_at(frame: Frame, grown: Grown, index: Any) -> None:
    """``del list[index]``."""
    _run(frame, _DELETE, self=grown, index=index)


def index(frame: Frame, grown: Grown, value: Any, /) -> Any:
    """``list.index``: where the first member is that is equal."""
    # An int of run time has one text.
    shown = "" if isinstance(value, Value) else "!r"
    return _run(frame, _INDEX.format(shown=shown), self=grown, value=value)


def contains(frame: Frame, grown: Grown, value: Any) -> Any:
    """``value in list``."""
    return _run(frame, _CONTAINS, self=grown, value=value)


def count(frame: Frame, grown: Grown, value: Any, /) -> Any:
    """``list.count``."""
    return _run(frame, _COUNT, self=grown, value=value)


def reverse(frame: Frame, grown: Grown) -> None:
    """``list.reverse``."""
    _run(frame, _REVERSE, self=grown)


def sort(frame: Frame, grown: Grown, *, key: Any = None, reverse: Any = False) -> None:
    """``list.sort`` of numbers: runs of twice the length are made of two each time, of equal ones the first comes first.

    Raises
    ------
    UnsupportedError
        A function says by what members are sorted, or they are no numbers. A run is refused in which one of them is NaN:
        where Python puts the others then depends on how it sorts.
    """
    context = frame.context
    real = isinstance(grown.type, WeakType | ScalarType) and element(grown.rows.type).kind != "c"
    if key is not None or not real or grown.inner is not None or not isinstance(reverse, (bool, int)):
        what = "by a key" if key is not None else f"of {type_text(grown.type)}"
        text = f"{grown.name}.sort() {what} is not compiled for a list whose length a run decides"
        raise UnsupportedError(text, context.loc, "sort an array of it: np.sort(np.array(...))")
    if element(grown.rows.type).kind == "f":
        ordered = binary(context, "equal", _run(frame, _UNORDERED, self=grown), 0)
        text, help = f"{grown.text} is sorted and holds NaN", "sort an array of it: np.sort(np.array(...))"
        failing = Failing("UnsupportedError", text, context.loc, (), (help,))
        refuse_if(context, as_value(context, ordered), False, Raised(UnsupportedError(text, context.loc, help), failing))
    after = "self[i] < self[j]" if reverse else "self[j] < self[i]"
    _run(frame, _SORT.format(after=after), self=grown, other=_member_of(frame, grown, slice(None)))


def methods() -> dict[str, Callable[..., Any]]:
    """By their names."""
    return {"insert": insert, "remove": remove, "index": index, "count": count, "reverse": reverse, "sort": sort}


__all__ = ["contains", "delete_at", "methods", "pop_at"]
