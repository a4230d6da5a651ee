"""Methods of lists whose length a run decides that move or look at all members, as the loops that they are.

Each is a piece of program in Python's own words, which is read where the list is used, in names that no program has.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pytocu.deferred import Deferred
from pytocu.errors import UnsupportedError
from pytocu.frontend.frames import Failing, Frame, Raised
from pytocu.frontend.list_kinds import refuse_none
from pytocu.frontend.operators import binary
from pytocu.frontend.pieces import run_piece
from pytocu.frontend.raising import refuse_if
from pytocu.frontend.reading import read_bool
from pytocu.frontend.type_texts import type_text
from pytocu.frontend.values import Context, Counted, Grown, Ranks, as_value, dimensions
from pytocu.ir.core import Value
from pytocu.ir.types import ScalarType, WeakType, element

_columns_of = Deferred("pytocu.frontend.columns", "columns_of")
_member_of = Deferred("pytocu.frontend.grown", "member_of")
_reduce = Deferred("pytocu.frontend.reductions", "reduce")
_rows_of = Deferred("pytocu.frontend.grown", "rows_of")
_settled = Deferred("pytocu.frontend.counted", "settled")

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

_INDEX_IN_TUPLE = (
    _FIND
    + """
if found < 0:
    raise ValueError("tuple.index(x): x not in tuple")
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

_RANKS = "found = [key(member) for member in self]"

_ORDER = (
    "order = lexsort(columns) if isinstance(columns, tuple) else argsort(columns, kind='stable')\n",
    # Of equal members the first comes first in this order, too.
    """
last = len(kept) - 1
turned = tuple([column[::-1] for column in columns]) if isinstance(columns, tuple) else columns[::-1]
order = last - (lexsort(turned) if isinstance(columns, tuple) else argsort(turned, kind='stable'))[::-1]
""",
)

_ORDERS = {"lexsort": np.lexsort, "argsort": np.argsort, "tuple": tuple, "isinstance": isinstance}


def insert(frame: Frame, grown: Grown, index: Any, value: Any, /) -> None:
    """``list.insert``."""
    run_piece(frame, _INSERT, self=grown, index=index, value=value)


def remove(frame: Frame, grown: Grown, value: Any, /) -> None:
    """``list.remove``: the first member that is equal."""
    run_piece(frame, _REMOVE, self=grown, value=value)


def pop_at(frame: Frame, grown: Grown, index: Any) -> Any:
    """``list.pop`` of a place that is not the first or the last."""
    return run_piece(frame, _POP, self=grown, index=index)


def delete_at(frame: Frame, grown: Grown, index: Any) -> None:
    """``del list[index]``."""
    run_piece(frame, _DELETE, self=grown, index=index)


def index(frame: Frame, grown: Grown, value: Any, /) -> Any:
    """``list.index``: where the first member is that is equal."""
    # An int of run time has one text.
    shown = "" if isinstance(value, Value) else "!r"
    return run_piece(frame, _INDEX.format(shown=shown), self=grown, value=value)


def index_in_tuple(frame: Frame, members: tuple[Any, ...], value: Any) -> Any:
    """``tuple.index`` of numbers, of which a run knows some."""
    return run_piece(frame, _INDEX_IN_TUPLE, self=members, value=value)


def contains(frame: Frame, grown: Grown, value: Any) -> Any:
    """``value in list``."""
    return run_piece(frame, _CONTAINS, self=grown, value=value)


def count(frame: Frame, grown: Grown, value: Any, /) -> Any:
    """``list.count``."""
    return run_piece(frame, _COUNT, self=grown, value=value)


def reverse(frame: Frame, grown: Grown) -> None:
    """``list.reverse``."""
    run_piece(frame, _REVERSE, self=grown)


def sort(frame: Frame, grown: Grown, *, key: Any = None, reverse: Any = False) -> None:
    """``list.sort``: of numbers runs of twice the length are made of two each time, of equal ones the first comes first.

    Raises
    ------
    UnsupportedError
        What is compared are no numbers or tuples of numbers. A run is refused in which one of them is NaN: where Python puts
        the others then depends on how it sorts.
    """
    context = frame.context
    refuse_none(context, grown, "to sort")
    ranks = grown if key is None else run_piece(frame, _RANKS, self=grown, key=Ranks(key))
    rows = _rows_of(context, ranks) if isinstance(ranks, Grown) else None
    if rows is None or not _is_ordered(ranks, rows) or not isinstance(reverse, (bool, int)):
        what = "by such a key" if key is not None else f"of {type_text(grown.type)}"
        text = f"{grown.name}.sort() {what} is not compiled for a list whose length a run decides"
        raise UnsupportedError(text, context.loc, "sort an array of it: np.sort(np.array(...))")
    words = ranks.inner is not None and bool(ranks.inner.columns)
    parts = _columns_of(frame, rows, ranks.inner) if words else [rows]
    for part in (part for part in parts if element(part.type).kind == "f"):
        ordered = read_bool(context, _reduce(context, "logical_and", binary(context, "equal", part, part), None))
        text, help = f"{grown.text} is sorted and holds NaN", "sort an array of it: np.sort(np.array(...))"
        failing = Failing("UnsupportedError", text, context.loc, (), (help,))
        refuse_if(context, as_value(context, ordered), False, Raised(UnsupportedError(text, context.loc, help), failing))
    if ranks is grown and grown.inner is None:
        after = "self[i] < self[j]" if reverse else "self[j] < self[i]"
        run_piece(frame, _SORT.format(after=after), self=grown, other=_member_of(frame, grown, slice(None)))
        return
    columns: Any = rows
    if words:
        columns = tuple(reversed(parts))
    elif ranks.inner is not None:
        count = dimensions(rows)[1]
        assert isinstance(count, int)
        columns = tuple(_column(context, rows, number) for number in reversed(range(count)))
    if not isinstance(grown, Counted):
        source = _ORDER[bool(reverse)] + "found = kept[order]"
        rows, marks = grown.rows, grown.marks
        grown.rows = run_piece(frame, source, kept=rows, columns=columns, **_ORDERS)
        if marks is not None:
            source = source.replace("kept[", "marks[")
            grown.marks = run_piece(frame, source, kept=rows, marks=marks, columns=columns, **_ORDERS)
        return
    kept = _settled(context, grown)
    given = {"kept": kept.rows, "rows": grown.rows, "begin": grown.begin}
    given["end"] = binary(context, "add", grown.begin, grown.length)
    source = _ORDER[bool(reverse)] + "rows[begin:end] = kept[order]"
    if grown.marks is not None:
        given |= {"kept_marks": kept.marks, "marks": grown.marks}
        source += "\nmarks[begin:end] = kept_marks[order]"
    run_piece(frame, source, columns=columns, **given, **_ORDERS)


def _is_ordered(ranks: Grown, rows: Value) -> bool:
    """Whether members are numbers, or tuples of as many, that have an order."""
    if element(rows.type).kind == "c" or len(dimensions(rows)) > 2:
        return False
    if ranks.inner is None:
        return len(dimensions(rows)) == 1
    held = ranks.inner
    if held.columns:
        return True
    return held.inner is None and isinstance(held.type, WeakType | ScalarType) and isinstance(dimensions(rows)[1], int)


def _column(context: Context, rows: Value, number: int) -> Any:
    return context.builder.emit("index", (rows,), {"axis": 1, "at": number})


def methods() -> dict[str, Callable[..., Any]]:
    """By their names."""
    return {"insert": insert, "remove": remove, "index": index, "count": count, "reverse": reverse, "sort": sort}


__all__ = ["contains", "delete_at", "insert", "methods", "pop_at", "sort"]
