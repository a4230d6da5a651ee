"""Parts of an array at positions that numbers computed of data state, as what is changed: ``x[i[k]] += v[k]``.

Such a part is a view (``pick``).  In a loop that goes through its steps in one thread each change is a store
(see `pytocu.passes.sweeps`); elsewhere the elements are chosen by their positions (`pytocu.passes.picks`).
"""

from __future__ import annotations

from typing import Any

from pytocu.errors import IndexingError
from pytocu.frontend.gathering import as_position, checked, look_at, none_left
from pytocu.frontend.indexing import is_computed, subscript
from pytocu.frontend.values import Context, as_strong, dimensions
from pytocu.ir.core import Value


def picked(context: Context, base: Value, key: Any) -> Value:
    """The view ``base[key]``.

    Raises
    ------
    IndexingError
        As for reading; a position outside of its axis raises when the code has run.
    """
    items = key if isinstance(key, tuple) else (key,)
    shape = dimensions(base)
    used = sum(k is not None and k is not Ellipsis for k in items)
    if used > len(shape):
        text = f"too many indices for array: array is {len(shape)}-dimensional, but {used} were indexed"
        raise IndexingError(text, context.loc)
    axis = 0
    found: list[tuple[int, Value]] = []
    rest: list[Any] = []
    for item in items:
        if is_computed(context, item):
            found.append((axis, checked(context, as_position(context, as_strong(context, item)), shape[axis], axis)))
        else:
            rest.append(item)
        axis += len(shape) - used if item is Ellipsis else item is not None
    view = base
    if none_left(context, [d for axis, d in enumerate(shape) if axis not in dict(found)]):
        for _, position in found:
            look_at(context, position)
    for axis, position in reversed(found):
        view = context.builder.emit("pick", (view, position), {"axis": axis}, name=base.name)
    return subscript(context, view, (*rest,) if Ellipsis in rest else (*rest, Ellipsis))
