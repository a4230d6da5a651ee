"""Lists whose length a run decides and whose members are tuples of numbers of several types: ``(distance, node)`` in a heap.

A member is a row of 64-bit words.  Each number of the tuple has one: an integer of 64 bits, or the bits of a float64, which the
same memory is viewed as.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pytocu.deferred import Deferred
from pytocu.errors import UnsupportedError
from pytocu.frontend.grown_members import Held, note_member, perhaps_numpys
from pytocu.frontend.literals import listed
from pytocu.frontend.numbers import common_type
from pytocu.frontend.operators import binary
from pytocu.frontend.reading import read_number
from pytocu.frontend.reshaping import copied
from pytocu.frontend.storage import HandOn
from pytocu.frontend.values import Context, Counted, Grown, as_value, cast, dimensions, flattened
from pytocu.ir import regions
from pytocu.ir.core import Value
from pytocu.ir.types import BOOL, F64, I64, WEAK_INT, ArrayType, DType, ScalarType, Type, WeakType, element

_as_numpys = Deferred("pytocu.frontend.counted", "as_numpys")
_assign_member = Deferred("pytocu.frontend.subscripts", "assign_member")
_member = Deferred("pytocu.frontend.subscripts", "member")
_path_of_class = Deferred("pytocu.frontend.records", "path_of_class")
_type_of = Deferred("pytocu.frontend.grown", "type_of")
_unlike = Deferred("pytocu.frontend.grown", "unlike")

_FOR_WEAK = {"bool": BOOL, "int": I64, "float": F64}


def form_in(value: tuple[Any, ...]) -> tuple[Any, ...] | None:
    """How tuples stand in a tuple; None where there are none."""
    return None if flattened(value) is value else _form(value)


def is_uneven(value: tuple[Any, ...]) -> bool:
    """Whether tuples stand in a tuple beside numbers, or beside tuples of another form: it is no row of an array."""
    forms = _form(value)
    return any(one != forms[0] for one in forms) or any(is_uneven(one) for one in value if isinstance(one, tuple))


def _form(value: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple((type(one), _form(one)) if isinstance(one, tuple) else None for one in value)


def rebuilt(held: Held, numbers: Sequence[Any]) -> Any:
    """The tuple that has these numbers, in tuples as these stood."""
    return _rebuilt(held.kind, held.form or (None,) * len(numbers), iter(numbers))


def _rebuilt(kind: type, form: tuple[Any, ...], numbers: Iterator[Any]) -> Any:
    members = [next(numbers) if one is None else _rebuilt(one[0], one[1], numbers) for one in form]
    return getattr(kind, "_make", tuple)(members)


def numbers_in(context: Context, value: Any) -> tuple[Type, ...] | None:
    """The types of the numbers that a tuple has, if a row of words holds them; those of tuples in it are among them."""
    value = flattened(value)
    if not isinstance(value, tuple) or not value:
        return None
    with context.builder.nested():
        types = [regions.bare(as_value(context, v).type) for v in value if not isinstance(v, (tuple, list, Grown))]
    if len(types) != len(value) or any(_dtype(one) is None for one in types):
        return None
    return tuple(types)


def joined(context: Context, members: Sequence[Any]) -> Held | None:
    """What tuples are whose numbers differ in type: NumPy's where some are Python's; None if they are no such tuples."""
    kinds = {(type(value), form_in(value)) if isinstance(value, tuple) else None for value in members}
    found = [numbers_in(context, value) for value in members]
    if len(kinds) != 1 or len({0 if types is None else len(types) for types in found}) != 1 or None in found:
        return None
    columns: Sequence[Any] = found[0] or ()
    for types in found[1:]:
        pairs = zip(columns, types or (), strict=True)
        columns = [None if one is None else common_type(context, one, other) for one, other in pairs]
    kind = kinds.pop()
    return None if None in columns or kind is None else Held(kind[0], None, None, tuple(columns), kind[1])


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
    own = types_of(counted) if len(shape) > 1 else ()
    types = numbers_in(context, value) or ()
    columns: list[Type] = []
    form = form_in(value) if types else None
    if len(types) == len(own) and type(value) is old.kind and old.inner is None and form == old.form:
        common = [common_type(context, *pair) for pair in zip(own, types, strict=True)]
        columns = [one for one in common if one is not None]
    if len(columns) < len(own) or not own:
        if form != old.form:
            text = f"{counted.text} holds tuples with tuples in them beside others"
            raise UnsupportedError(text, context.loc, "append tuples of one form")
        raise _unlike(context, counted.name, [counted.type, _type_of(context, value)])
    if tuple(columns) != old.columns:
        held = old._replace(type=None, columns=tuple(columns))
        pairs = [(one, c) for ones in (own, types) for one, c in zip(ones, columns, strict=True)]
        ints = counted.ints or any(one == WEAK_INT and element(c).kind == "f" for one, c in pairs if one != c)
        mixed = [counted.kinds._replace(ints=ints)] if any(one != c for one, c in pairs) else []
        raise HandOn(counted.wanted._replace(type=row_type(held), inner=held), *mixed)
    made: list[Any] = []
    for number, found, column in zip(flattened(value), types, columns, strict=True):
        if found != column:
            number = _as_numpys(context, counted, number, column)
        made.append(number)
    return noted(context, counted, rebuilt(old, made), counted.kinds)


def noted(context: Context, grown: Grown, value: Any, key: Any) -> Any:
    """A tuple that becomes a member; where the list is of one kind of numbers, those of NumPy's may be Python's."""
    if grown.mixed or key is None:
        return value
    numbers = flattened(value)
    made = [note_member(context, n, key) if isinstance(n, Value) and isinstance(n.type, ScalarType) else n for n in numbers]
    return _rebuilt(type(value), _form(value), iter(made))


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
    for column, (number, type) in enumerate(zip(flattened(numbers), held.columns, strict=True)):
        words = _words(context, rows, _dtype(type) or I64)
        _assign_member(frame, words, (place, column), cast(context, as_value(context, number), element(words.type)), name)


def read(frame: Any, row: Value, held: Held, grown: Grown, marks: Value | None = None) -> Any:
    """The tuple in a row of words; `marks` say which numbers are NumPy's."""
    numbers: list[Any] = []
    for column, type in enumerate(held.columns):
        dtype = _dtype(type) or I64
        word = _member(frame, _words(frame.context, row, dtype), column)
        number = _of_word(frame.context, word, dtype)
        if isinstance(type, WeakType):
            number = read_number(frame.context, number)
        if grown.mixed and isinstance(type, ScalarType):
            number = perhaps_numpys(frame, number, grown, None if marks is None else _member(frame, marks, column))
        numbers.append(number)
    return rebuilt(held, numbers)


def _of_word(context: Context, word: Value, dtype: DType) -> Value:
    return binary(context, "not_equal", word, 0) if dtype is BOOL else cast(context, word, dtype)


def columns_of(frame: Any, rows: Value, held: Held) -> tuple[Value, ...]:
    """What all rows have in each column."""
    return tuple(_column(frame.context, rows, k, _dtype(type) or I64) for k, type in enumerate(held.columns))


def _column(context: Context, rows: Value, number: int, dtype: DType) -> Value:
    column = context.builder.emit("index", (_words(context, rows, dtype),), {"axis": 1, "at": number})
    return _of_word(context, column, dtype)


def types_of(grown: Grown) -> tuple[Any, ...]:
    """The types of the numbers in each tuple of a list."""
    held = grown.inner
    # The rows of tuples of one type are as long as these are, which is known.
    return held.columns or (held.type,) * int(str(dimensions(grown.rows)[1]))


def form_of(context: Context, rows: Value, grown: Grown, leaf: Callable[[Value], int]) -> Any:
    """The form of each member of a list that is returned, with columns in place of numbers; `leaf` is the number of one."""
    held = grown.inner
    columns: list[Any] = []
    for number, type in enumerate(types_of(grown)):
        if held.columns:
            column = _column(context, rows, number, _dtype(type) or I64)
        else:
            column = context.builder.emit("index", (rows,), {"axis": 1, "at": number})
        made = leaf(copied(context, column))
        if isinstance(type, WeakType):
            columns.append(("members", made, "numbers"))
        elif grown.marks is None:
            columns.append(("members", made, "elements"))
        else:
            mark = context.builder.emit("index", (grown.marks,), {"axis": 1, "at": number})
            columns.append(("either", made, leaf(copied(context, mark))))
    return _form_of(context, held.kind, held.form or (None,) * len(columns), iter(columns))


def _form_of(context: Context, kind: type, form: tuple[Any, ...], columns: Iterator[Any]) -> Any:
    members = [next(columns) if one is None else ("zip", _form_of(context, one[0], one[1], columns)) for one in form]
    return ("tuple", *members) if kind is tuple else ("named", _path_of_class(context, kind), *members)


def as_rows(context: Context, rows: Value, held: Held) -> Value:
    """The rows as ``np.array`` makes them of a list of the tuples: of one dtype.

    Raises
    ------
    UnsupportedError
        There are tuples in the tuples.
    """
    builder = context.builder
    if held.form is not None:
        text = "an array of tuples that hold tuples and numbers is not compiled"
        raise UnsupportedError(text, context.loc, "make one of each part: np.array([a for a, _ in x])")
    with builder.nested():
        common = element(listed(context, [builder.const(0, type) for type in held.columns]).type)
    made: list[Value] = []
    for number, type in enumerate(held.columns):
        dtype = _dtype(type) or I64
        column = cast(context, _column(context, rows, number, dtype), common)
        made.append(builder.emit("newaxis", (column,), {"axis": 1}))
    return builder.emit("concatenate", made, {"axis": 1})


__all__ = [
    "as_rows", "columns_of", "form_in", "form_of", "is_uneven", "joined", "noted", "numbers_in", "of_counted", "read",
    "rebuilt", "row_type", "store", "types_of",
]  # fmt: skip
