"""Lists whose length a run decides and whose members are tuples of numbers of several types: ``(distance, node)`` in a heap.

A member is a row of 64-bit words.  Each number of the tuple has one: an integer of 64 bits, or the bits of a float64, which the
same memory is viewed as.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pytocu.deferred import Deferred
from pytocu.frontend.grown_members import Held, note_member, perhaps_numpys
from pytocu.frontend.literals import listed
from pytocu.frontend.numbers import common_type
from pytocu.frontend.operators import binary
from pytocu.frontend.reading import read_number
from pytocu.frontend.storage import HandOn
from pytocu.frontend.values import Context, Counted, Grown, as_value, cast, dimensions
from pytocu.ir import regions
from pytocu.ir.core import Value
from pytocu.ir.types import BOOL, F64, I64, WEAK_INT, ArrayType, DType, ScalarType, Type, WeakType, element

_as_numpys = Deferred("pytocu.frontend.counted", "as_numpys")
_assign_member = Deferred("pytocu.frontend.subscripts", "assign_member")
_member = Deferred("pytocu.frontend.subscripts", "member")
_type_of = Deferred("pytocu.frontend.grown", "type_of")
_unlike = Deferred("pytocu.frontend.grown", "unlike")

_FOR_WEAK = {"bool": BOOL, "int": I64, "float": F64}


def numbers_in(context: Context, value: Any) -> tuple[Type, ...] | None:
    """The types of the numbers that a tuple has, if a row of words holds them."""
    if not isinstance(value, tuple) or not value:
        return None
    with context.builder.nested():
        types = [regions.bare(as_value(context, v).type) for v in value if not isinstance(v, (tuple, list, Grown))]
    if len(types) != len(value) or any(_dtype(one) is None for one in types):
        return None
    return tuple(types)


def joined(context: Context, members: Sequence[Any]) -> Held | None:
    """What tuples are whose numbers differ in type: NumPy's where some are Python's; None if they are no such tuples."""
    kinds = {type(value) for value in members}
    found = [numbers_in(context, value) for value in members]
    if len(kinds) != 1 or len({0 if types is None else len(types) for types in found}) != 1 or None in found:
        return None
    columns: Sequence[Any] = found[0] or ()
    for types in found[1:]:
        pairs = zip(columns, types or (), strict=True)
        columns = [None if one is None else common_type(context, one, other) for one, other in pairs]
    return None if None in columns else Held(kinds.pop(), None, None, tuple(columns))


def of_counted(context: Context, counted: Counted, value: Any) -> tuple[Any, ...]:
    """A tuple that becomes a member, of numbers that have the types of the columns.

    Raises
    ------
    UnsupportedError
        It has not as many numbers, or others.
    HandOn
        The list is of other types than was known.
    """
    old = counted.inner
    shape = dimensions(counted.rows)
    # The rows of tuples of one type are as long as these are, which is known.
    own: tuple[Any, ...] = old.columns or (old.type,) * int(str(shape[1]) if len(shape) > 1 else 0)
    types = numbers_in(context, value) or ()
    columns: list[Type] = []
    if len(types) == len(own) and type(value) is old.kind and old.inner is None:
        common = [common_type(context, *pair) for pair in zip(own, types, strict=True)]
        columns = [one for one in common if one is not None]
    if len(columns) < len(own) or not own:
        raise _unlike(context, counted.name, [counted.type, _type_of(context, value)])
    if tuple(columns) != old.columns:
        held = Held(old.kind, None, None, tuple(columns))
        pairs = [(one, c) for ones in (own, types) for one, c in zip(ones, columns, strict=True)]
        ints = counted.ints or any(one == WEAK_INT and element(c).kind == "f" for one, c in pairs if one != c)
        mixed = [counted.kinds._replace(ints=ints)] if any(one != c for one, c in pairs) else []
        raise HandOn(counted.wanted._replace(type=row_type(held), inner=held), *mixed)
    made: list[Any] = []
    for number, found, column in zip(value, types, columns, strict=True):
        if found != column:
            number = _as_numpys(context, counted, number, column)
        elif isinstance(number, Value) and isinstance(column, ScalarType) and not counted.mixed:
            number = note_member(context, number, counted.kinds)
        made.append(number)
    return getattr(old.kind, "_make", tuple)(made)


def row_type(held: Held) -> ArrayType:
    """The type of a member's words."""
    return ArrayType(I64, (len(held.columns),))


def _dtype(type: Any) -> DType | None:
    if isinstance(type, WeakType):
        return _FOR_WEAK.get(type.kind)
    return type.dtype if isinstance(type, ScalarType) and type.dtype.kind in "biuf" else None


def _words(context: Context, rows: Value, dtype: DType) -> Value:
    """The rows as words of floats, or of integers."""
    if dtype.kind != "f":
        return rows
    return context.builder.emit("view", (rows,), {}, (ArrayType(F64, dimensions(rows)),))


def store(frame: Any, rows: Value, place: Any, numbers: Sequence[Any], held: Held, name: str) -> None:
    """Write the numbers of a tuple, which have the types of the columns, into a row."""
    context = frame.context
    for column, (number, type) in enumerate(zip(numbers, held.columns, strict=True)):
        words = _words(context, rows, _dtype(type) or I64)
        _assign_member(frame, words, (place, column), cast(context, as_value(context, number), element(words.type)), name)


def read(frame: Any, row: Value, held: Held, grown: Grown) -> Any:
    """The tuple in a row of words."""
    numbers: list[Any] = []
    for column, type in enumerate(held.columns):
        dtype = _dtype(type) or I64
        word = _member(frame, _words(frame.context, row, dtype), column)
        number = _of_word(frame.context, word, dtype)
        if isinstance(type, WeakType):
            number = read_number(frame.context, number)
        numbers.append(perhaps_numpys(frame, number, grown) if grown.mixed and isinstance(type, ScalarType) else number)
    return getattr(held.kind, "_make", tuple)(numbers)


def _of_word(context: Context, word: Value, dtype: DType) -> Value:
    return binary(context, "not_equal", word, 0) if dtype is BOOL else cast(context, word, dtype)


def columns_of(frame: Any, rows: Value, held: Held) -> tuple[Value, ...]:
    """What all rows have in each column."""
    dtypes = [_dtype(type) or I64 for type in held.columns]
    every = [_member(frame, _words(frame.context, rows, d), (slice(None), k)) for k, d in enumerate(dtypes)]
    return tuple(_of_word(frame.context, column, d) for column, d in zip(every, dtypes, strict=True))


def as_rows(context: Context, rows: Value, held: Held) -> Value:
    """The rows as ``np.array`` makes them of a list of the tuples: of one dtype."""
    builder = context.builder
    with builder.nested():
        common = element(listed(context, [builder.const(0, type) for type in held.columns]).type)
    made: list[Value] = []
    for number, type in enumerate(held.columns):
        dtype = _dtype(type) or I64
        column = builder.emit("index", (_words(context, rows, dtype),), {"axis": 1, "at": number})
        column = cast(context, _of_word(context, column, dtype), common)
        made.append(builder.emit("newaxis", (column,), {"axis": 1}))
    return builder.emit("concatenate", made, {"axis": 1})


__all__ = ["as_rows", "columns_of", "joined", "numbers_in", "of_counted", "read", "row_type", "store"]
