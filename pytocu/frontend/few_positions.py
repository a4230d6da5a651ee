"""Assignment at a few positions that stand in a list: ``a[[i, j]] = a[[j, i]]``, ``a[[i, j], k:] = e``.

Each position is a part of its own, and the parts are changed one after the other, so the last of several values for one
element counts, as in NumPy.  All positions are compared before the first part is changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pytocu.frontend import scattering
from pytocu.frontend.gathering import subscript
from pytocu.frontend.inplace import assign_elements, element_view
from pytocu.frontend.layouts import laid_out
from pytocu.frontend.reductions import repeated
from pytocu.frontend.reshaping import copied
from pytocu.frontend.values import Context, Masked, dimensions, is_array
from pytocu.ir.axis_orders import Ranks, ranks_of
from pytocu.ir.core import Value
from pytocu.ir.dims import DimLike
from pytocu.ir.layouts import slowest_first
from pytocu.ir.types import WEAK_INT, ScalarType, element

MOST = 4
"""Positions of a list that are parts of their own; more are looked up."""


def place_of(context: Context, base: Value | Masked, key: Any) -> int | None:
    """Where in a key a list of few positions stands beside slices, or None."""
    if context.elements is not None or not isinstance(base, Value) or not is_array(base):
        return None
    items = key if isinstance(key, tuple) else (key,)
    lists = [number for number, item in enumerate(items) if isinstance(item, list)]
    if len(lists) != 1 or not 0 < len(items[lists[0]]) <= MOST or not all(map(_is_position, items[lists[0]])):
        return None
    rest = [item for item in items if not isinstance(item, list)]
    plain = all(item is None or item is Ellipsis or isinstance(item, slice) for item in rest)
    used = sum(item is not None and item is not Ellipsis for item in items)
    fits = used <= len(dimensions(base)) and sum(item is Ellipsis for item in rest) <= 1
    return lists[0] if plain and fits else None


def _is_position(item: Any) -> bool:
    if not isinstance(item, Value):
        return type(item) is int
    if isinstance(item.type, ScalarType):
        return element(item.type).is_integer
    return item.type == WEAK_INT


def read(context: Context, base: Value, key: Any, place: int) -> Value:
    """``base[key]``, where the list is at that place of the key: its parts, joined.

    Raises
    ------
    IndexingError
        As for other arrays of positions.
    """
    items = key if isinstance(key, tuple) else (key,)
    axis = axis_of(base, items, place)
    rest = items[place + 1 :] if Ellipsis in items else (*items[place + 1 :], Ellipsis)
    parts = [subscript(context, base, (*items[:place], position, *rest)) for position in items[place]]
    joined = [context.builder.emit("newaxis", (part,), {"axis": axis}) for part in parts]
    made = context.builder.emit("concatenate", joined, {"axis": axis})
    shape = dimensions(made)

    def positions_first(known: Mapping[Value, Ranks | None]) -> Ranks | None:
        others = [a for a in range(len(shape)) if a != axis]
        ranks = known[parts[0]]
        return None if ranks is None else ranks_of([axis, *(others[a] for a in slowest_first(ranks))], shape)

    return laid_out(context, made, parts[:1], positions_first) if len(shape) > 1 else made


def axis_of(base: Value, items: tuple[Any, ...], place: int) -> int:
    """The axis of the result along which the positions of a list are."""
    used = sum(item is not None and item is not Ellipsis for item in items)
    return sum(len(dimensions(base)) - used if item is Ellipsis else 1 for item in items[:place])


def assign(context: Context, base: Value, key: Any, place: int, value: Any) -> None:
    """``base[key] = value``, where the list is at that place of the key.

    Raises
    ------
    IndexingError, ShapeError
        As for other arrays of positions.
    """
    items = key if isinstance(key, tuple) else (key,)
    axis = axis_of(base, items, place)
    # The shapes first, as NumPy does.
    whole = dimensions(element_view(context, base, (*items[:place], slice(None), *items[place + 1 :]), 0))
    target = (*whole[:axis], len(items[place]), *whole[axis + 1 :])
    given = scattering.given(context, base, value, target)
    parts = [element_view(context, base, (*items[:place], p, *items[place + 1 :]), 0) for p in items[place]]
    # What the first change writes is not what the second one takes.
    rows = [copied(context, row) for row in _rows(context, given, target, axis)]
    for part, row in zip(parts, rows, strict=True):
        assign_elements(context, part, row)


def _rows(context: Context, given: Value, target: tuple[DimLike, ...], axis: int) -> list[Value]:
    """What each position is given: the parts that :func:`read` has joined are there already."""
    count = target[axis]
    assert isinstance(count, int)
    if not dimensions(given):
        return [given] * count
    # What has been joined may have been changed since, as `+=` does, and so may the array that it was read of.
    contents = context.builder.contents
    same = dimensions(given) == target and contents(given) is given
    joined = given.inst if same else None
    if joined is not None and joined.op.name == "concatenate" and joined.attr("axis") == axis:
        made = [part.inst for part in joined.args]
        if len(made) == count and all(i is not None and i.op.name == "newaxis" and i.attr("axis") == axis for i in made):
            parts = [i.args[0] for i in made if i is not None]
            if all(contents(part) is part for part in parts):
                return parts
    spread = repeated(context, given, target)
    return [context.builder.emit("index", (spread,), {"axis": axis, "at": number}) for number in range(count)]


__all__ = ["assign", "place_of", "read"]
